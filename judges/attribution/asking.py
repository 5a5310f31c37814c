"""Has a model name the decisive error of games: in the three published manners, and by a search with evidence.

Source of the first three: Who&When (arXiv 2505.00212), section 4. Prompts are in `decisive_error.yaml`, in our own words. Answers become
verdicts of the rubric `decisive_error`: question `agent` has a name, question `step` a turn, from 1; the manner is the variant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from judges.attribution.decisive import decisive_error
from judges.evidence.pieces import action_text
from judges.evidence.text import Entry, fenced, one_line, plain_names, with_plain_names
from judges.evidence.transcript import Transcript, TurnView
from judges.rubric.forms import asked_in, own_words
from providers.messages import Message

_WINDOW: Final = 30
"""Turns of a long game that are searched at once."""
_AROUND: Final = 6
"""Turns before and after a suspect that are shown with it."""

Form = TypeVar("Form", bound=BaseModel)


class Answered(NamedTuple):
    """What a model names, and why."""

    agent: str
    """As the model gives it, in the spelling of the log where the log has that name."""
    turn: int | None
    """From 1; None if the log has no such turn."""
    reason: str
    agent_spoke: bool | None
    """Whether that agent said or did something in that turn; None if there is no such turn."""
    form: BaseModel | None
    """The model's answer that names them; None if the model was asked nothing."""


class _Asked(BaseModel):
    """What a model is asked to fill in."""

    _own = own_words()


class Whole(_Asked):
    """The decisive error."""

    reason: str = Field(description="why it is the decisive error, in one sentence")
    agent: str = Field(description="name of the agent who made it, as it stands in the log")
    turn: int = Field(description="number of the turn, as it stands in the log")


class Step(_Asked):
    """Whether the last turn shown is the decisive error."""

    reason: str = Field(description="why, in one sentence")
    decisive: bool = Field(description="whether it is the decisive error")
    agent: str = Field(description="name of the agent who made it, or who acted in this turn")


class Half(_Asked):
    """Which part holds the decisive error."""

    reason: str = Field(description="why, in one sentence")
    part: Literal["first", "second"]


class Suspect(BaseModel):
    """A turn that could be the decisive error."""

    turn: int = Field(description="its number, as it stands in the log")
    agent: str = Field(description="name of the agent who acted in it, as it stands in the log")
    words: str = Field(description="words of that turn that show the error, copied word for word")


class Suspects(_Asked):
    """Turns that could be the decisive error."""

    suspects: list[Suspect] = Field(description="the likeliest first; empty if there is none")


class Examined(_Asked):
    """How likely a turn is the decisive error."""

    reason: str = Field(description="why, in one sentence")
    likelihood: int = Field(ge=0, le=100, description="a whole number from 0 to 100")


class Ask(NamedTuple):
    """How a manner asks: messages and form in, the form filled in out; None if no usable answer came."""

    put: Callable[[list[Message], type[BaseModel]], Awaitable[BaseModel | None]]

    async def __call__(self, prompt: str, evidence: str, form: type[Form]) -> Form | None:
        """Ask one question about one piece of evidence; the form comes last."""
        system, user = decisive_error().prompt(prompt), f"{evidence}\n\n{asked_in(form)}"
        found: Any = await self.put([{"role": "system", "content": system}, {"role": "user", "content": user}], form)
        return found if isinstance(found, form) else None


Manner = Callable[[Transcript, Ask], Coroutine[Any, Any, Answered | None]]


# -- what is shown ----------------------------------------------------------------------------------------


def _shown(game: Transcript, turns: Sequence[TurnView]) -> str:
    """Public messages and actions, turn by turn: no views, no goal, no names of models."""
    entries = with_plain_names([entry for turn in turns for entry in _entries(turn)], [*game.agents])
    nonce = hashlib.blake2b("\0".join(entry.text for entry in entries).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return fenced("log", entries, nonce)


def _entries(turn: TurnView) -> list[Entry]:
    said = [Entry(f"turn {turn.turn}, {one_line(one.agent)} said:", one.text) for one in turn.received()]
    outcome = {True: "carried out", False: "refused", None: "nothing to carry out"}
    return said + [
        Entry(f"turn {turn.turn}, {one_line(done.agent)} tried ({outcome[done.accepted]}):", action_text(done.verb, done.arguments))
        for done in turn.actions
    ]


def _acting(turn: TurnView) -> list[str]:
    """Who says or does something in a turn, in order."""
    return [one.agent for one in turn.said("public")] + [done.agent for done in turn.actions]


def _named(game: Transcript, agent: str, turn: int, form: BaseModel, reason: str) -> Answered:
    """The agent and the turn that a model names."""
    own = {neutral.casefold(): name for name, neutral in plain_names([*game.agents]).items()}
    own |= {name.casefold(): name for one in game.turns for name in _acting(one)}
    agent = own.get(agent.strip().casefold(), agent.strip())
    if not 1 <= turn <= len(game.turns):
        return Answered(agent, None, f"turn {turn} is not in the log, which has {len(game.turns)} turns: {reason}", None, form)
    return Answered(agent, turn, reason, agent in _acting(game.turn(turn)), form)


# -- the manners ------------------------------------------------------------------------------------------


async def _all_at_once(game: Transcript, ask: Ask) -> Answered | None:
    said = await ask("all_at_once", _shown(game, game.turns), Whole)
    return None if said is None else _named(game, said.agent, said.turn, said, said.reason)


async def _step_by_step(game: Transcript, ask: Ask) -> Answered | None:
    for turn in game.turns:
        said = await ask("step_by_step", _shown(game, game.turns[: turn.turn]), Step)
        if said is None:
            return None
        if said.decisive:
            return _named(game, said.agent, turn.turn, said, said.reason)
    return None


async def _halving(game: Transcript, ask: Ask) -> Answered | None:
    turns = game.turns
    said: Half | None = None
    while len(turns) > 1:
        middle = len(turns) // 2
        parts = f"first: turns {turns[0].turn} to {turns[middle - 1].turn}; second: turns {turns[middle].turn} to {turns[-1].turn}"
        said = await ask("halving", f"{_shown(game, turns)}\n\nThe parts: {parts}", Half)
        if said is None:
            return None
        turns = turns[:middle] if said.part == "first" else turns[middle:]
    if not turns or not (acting := _acting(turns[0])):
        return None
    return Answered(acting[-1], turns[0].turn, said.reason if said else "", agent_spoke=True, form=said)


async def _search(game: Transcript, ask: Ask) -> Answered | None:
    """Suspects window by window, only those whose words stand in their turn; then each on its own, with what led up to it."""
    suspects: dict[int, Suspect] = {}
    for start in range(0, len(game.turns), _WINDOW):
        found = await ask("suspects", _shown(game, game.turns[start : start + _WINDOW]), Suspects)
        for suspect in found.suspects if found else ():
            if 1 <= suspect.turn <= len(game.turns) and _quotes(game.turn(suspect.turn), suspect.words):
                suspects.setdefault(suspect.turn, suspect)
    best: tuple[Examined, Suspect] | None = None
    for turn, suspect in sorted(suspects.items()):
        around = game.turns[max(0, turn - 1 - _AROUND) : turn + _AROUND]
        said = await ask("examine", f"{_shown(game, around)}\n\nThe turn to be judged: turn {turn}", Examined)
        if said is not None and (best is None or said.likelihood > best[0].likelihood):
            best = said, suspect
    if best is None:
        return None
    said, suspect = best
    return _named(game, suspect.agent, suspect.turn, said, f'{said.reason} ("{suspect.words}")')


def _quotes(turn: TurnView, words: str) -> bool:
    """Whether the words stand in the turn, blanks and case aside."""
    texts = " ".join([*(one.text for one in turn.said("public")), *(action_text(done.verb, done.arguments) for done in turn.actions)])
    wanted = " ".join(words.split()).casefold()
    return bool(wanted) and wanted in " ".join(texts.split()).casefold()


MANNERS: Final[Mapping[str, Manner]] = {
    "all_at_once": _all_at_once,
    "step_by_step": _step_by_step,
    "halving": _halving,
    "search": _search,
}
"""Name -> manner."""
