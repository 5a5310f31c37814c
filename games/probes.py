"""Questions about states of games, with answers that the game's engine knows: a benchmark file of any size, with its key.

The file has the form of CoordinationQA's (`games.coordination.qa`), so whatever asks and scores those asks and scores these. A family
brings a module `games.<family>.probes`, found by its name. The same states and seed give the same file.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.common.errors import UsageError
from schemas.common.packages import packaged_yaml
from schemas.families import modules

KINDS: Final[Mapping[str, str]] = {
    "EC": "what is on the board",
    "TOM": "what a partner knows or can do",
    "JP": "which joint action is best",
    "NR": "what should be requested next",
}
"""Kind of question -> what it asks; as the column prefixes of the file."""

RULES: Final[Mapping[str, str]] = packaged_yaml(__package__, "probes.yaml")
"""Game -> its rules in words."""

MOST_OPTIONS: Final = 6
_MOST_RIGHT: Final = 2
"""Of them: more would make guessing pay."""
_SAME: Final = 1e-9
_DIRECTIVE: Final = (
    "Answer with one of the listed options. Reason first if you like; the last line of your answer is `Answer: X`, X being its letter."
)


class Scene(NamedTuple):
    """A state of a logged game."""

    level: str
    goal: Any
    state: Any
    """As the log holds it, before a turn."""
    turn: int
    turns_left: int | None
    """That turn included; None: the log has no limit."""


class Probe(NamedTuple):
    """A question with its options."""

    text: str
    right: Sequence[str]
    """Options that are right, by the engine."""
    wrong: Sequence[str]
    """Options that are not, by the engine."""

    @classmethod
    def of(cls, text: str, options: Mapping[str, bool]) -> Probe:
        """The question with each option and whether it is right."""
        return cls(text, [one for one, is_right in options.items() if is_right], [one for one, is_right in options.items() if not is_right])

    @classmethod
    def best(cls, text: str, worth: Mapping[str, float]) -> Probe:
        """The question whose right options are those worth most."""
        most = max(worth.values(), default=0.0)
        return cls.of(text, {one: value >= most - _SAME for one, value in worth.items()})


class Scenario(NamedTuple):
    """The questions about one state."""

    game: str
    description: str
    """Rules and state, in words."""
    probes: Mapping[str, Probe]
    """Kind -> question; of a family all scenarios have the same kinds."""


def probed_game(family: str) -> Any:
    """The family's module `games.<family>.probes`; it has one of two functions.

    `scenario(scene, rng)`: the questions about a state; None where there are none. `fixed()`: scenarios that need no logged games.

    Raises:
        UsageError: no questions can be made about its states.
    """
    found = dict(modules("games", "probes"))
    if family not in found:
        raise UsageError(f"no questions are known about states of {family}: possible for {', '.join(found)}")
    return found[family]


def scenarios(family: str, scenes: Iterable[Scene], states: int, seed: int) -> list[Scenario]:
    """Questions about so many states, or the family's fixed ones.

    Raises:
        UsageError: the family has none.
    """
    game = probed_game(family)
    if hasattr(game, "fixed"):
        return list(game.fixed())
    found: list[Scenario] = []
    for place, scene in enumerate(scenes):
        if states <= 0:
            break
        made = game.scenario(scene, random.Random(f"probes:{family}:{seed}:{place}"))
        if made is not None and all(probe.right and probe.wrong for probe in made.probes.values()):
            found.append(made)
            states -= 1
    return found


def question_file(found: Sequence[Scenario], seed: int) -> str:
    """The benchmark file: a row a state, per kind question, answer, letters of the right options, and instruction.

    Raises:
        UsageError: there is none.
    """
    if not found:
        raise UsageError("no state gives questions: play or ingest games of this family first")
    kinds = [kind for kind in KINDS if all(kind in one.probes for one in found)]
    text = io.StringIO()
    heads = [
        "Game",
        "Game Description",
        *(f"{kind} {part}" for kind in kinds for part in ("Question", "Answer", "Answer Ordinal", "Directive")),
    ]
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(heads)
    for number, one in enumerate(found):
        cells = (cell for kind in kinds for cell in _cells(one.probes[kind], random.Random(f"options:{seed}:{number}:{kind}")))
        rows.writerow([one.game, one.description, *cells])
    return text.getvalue()


def _cells(probe: Probe, rng: random.Random) -> Iterator[str]:
    """Options in a drawn order, at most `MOST_OPTIONS`, of which one or two are right and at least one is wrong."""
    right = rng.sample(list(probe.right), min(len(probe.right), _MOST_RIGHT))
    options = [*right, *rng.sample(list(probe.wrong), min(len(probe.wrong), MOST_OPTIONS - len(right)))]
    rng.shuffle(options)
    letters = {option: chr(ord("A") + place) for place, option in enumerate(options)}
    yield "\n".join([probe.text, "Available Answers:", *(f"{letter}. {option}" for option, letter in letters.items())])
    yield " / ".join(right)
    yield ",".join(sorted(letters[option] for option in right))
    yield _DIRECTIVE
