"""Rubrics: files of data from which prompt, answer type, documentation and validation are made.

`judges.rubric.files` reads and checks them; the files in `judges/<family>/rubrics` show every key in use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import orjson

from schemas.errors import UsageError

__all__ = ["ANY_BENCHMARK", "NONE_CHOSEN", "PROBE", "Demonstration", "Group", "Question", "Rubric", "UnitKind", "Variant", "joined"]

UnitKind = Literal["utterance", "agent_turn", "turn", "episode", "action", "event", "pair", "row"]

ANY_BENCHMARK = "any"
"""Stands for all benchmarks in a rubric's `benchmarks`."""

PROBE = "probe:"
"""Begins the name of the variant under which perturbed units are judged (`judges.perturbation.perturbations`)."""

NONE_CHOSEN = "none"
"""How a choice of none of several answers is written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One question of a rubric."""

    id: str
    """Such as PS2."""
    ask: str
    na_when: str | None
    """When the question does not apply; None: it always applies, and N/A is no possible answer."""
    examples: Mapping[str, str]
    """Answer -> a case in which it is right; one for each possible answer."""
    engine: str | None
    """Name of the deterministic check that knows the truth (`judges.engine.checks`); None if there is none."""
    also_shows: tuple[str, ...]
    """Pieces that this question needs beyond the rubric's: it is then asked in a call of its own."""
    answers: tuple[str, ...]
    """Possible answers: those of the rubric, without the score-less ones unless `na_when` is given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """Visible evidence that is changed on purpose, so that the effect can be measured."""

    name: str
    why: str
    shows_add: tuple[str, ...]
    shows_remove: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Demonstration:
    """A case with its right answers, which the judge is shown before the one it has to judge."""

    shown: Mapping[str, Sequence[tuple[str, str]]]
    """Piece -> its entries, each a line of the frame and the text under it; only visible evidence reaches the prompt."""
    answers: Mapping[str, str]
    """Question -> the right answer, as a verdict would have it."""
    reasons: Mapping[str, str]
    """Question -> why; questions may be missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Questions of a rubric that may see the same pieces, and so share one call."""

    shows: tuple[str, ...]
    questions: tuple[Question, ...]
    several: bool = False
    """Whether a question takes any number of its answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rubric:
    """A set of questions about one kind of unit, and what the judge can see."""

    name: str
    version: int
    """Raised when an answer could change."""
    source: str
    """Where the questions come from."""
    unit: UnitKind
    benchmarks: tuple[str, ...]
    roles: tuple[str, ...]
    """Roles whose utterances and turns are judged; empty: all."""
    about: str | None
    """The piece that is judged: a unit in which it is empty is `skipped`, not asked. None: every unit is asked."""
    shows: tuple[str, ...]
    """All that the judge may see."""
    answers: Mapping[str, float | None]
    """Answer -> score, 0 to 1; None: an answer without a score. Categories have none; ordinal answers have rising ones."""
    repeats: int
    """How often each unit is asked unless the caller says otherwise."""
    instructions: str
    questions: tuple[Question, ...]
    variants: tuple[Variant, ...]
    demonstrations: tuple[Demonstration, ...] = ()
    """In the order in which they are shown."""
    choice: Literal["one", "several"] = "one"
    """Whether a question takes one of its answers or any number of them."""
    unit_sql: str | None = None
    """Query whose rows are the units; None unless `unit` is row."""
    variant: str | None = None
    """Name of the variant in force; None: the rubric as written."""

    @property
    def hash(self) -> str:
        """16 hex digits over everything that could change an answer: not over `repeats`, `source` or variants not in force."""
        content: dict[str, object] = {
            "name": self.name,
            "version": self.version,
            "unit": self.unit,
            "roles": self.roles,
            "about": self.about,
            "shows": self.shows,
            "answers": list(self.answers.items()),
            "instructions": self.instructions,
            "questions": self.questions,
        }
        if self.choice != "one":
            content["choice"] = self.choice
        if self.unit_sql is not None:
            content["unit_sql"] = self.unit_sql
        if self.demonstrations:
            content["demonstrations"] = self.demonstrations
        return hashlib.blake2b(orjson.dumps(content), digest_size=8).hexdigest()

    def score(self, answer: str | None) -> float | None:
        """The answer's number; None for N/A, categories, several answers at once, and where there is no answer."""
        return None if answer is None else self.answers.get(answer)

    def allows(self, answer: str) -> bool:
        """Whether that could be a verdict's answer: one of the rubric's, or a choice of several as `joined` writes it."""
        if self.choice == "one":
            return answer in self.answers
        return answer == NONE_CHOSEN or set(answer.split("|")) <= set(self.answers)

    def groups(self) -> tuple[Group, ...]:
        """The questions by what they may see, in the order of their first question."""
        found: dict[tuple[str, ...], list[Question]] = {}
        for question in self.questions:
            extra = tuple(piece for piece in question.also_shows if piece not in self.shows)
            found.setdefault(self.shows + extra, []).append(question)
        return tuple(Group(shows=shows, questions=tuple(questions), several=self.choice == "several") for shows, questions in found.items())

    def with_variant(self, name: str | None) -> Rubric:
        """The rubric with that variant in force.

        Raises:
            UsageError: the rubric declares no such variant.
        """
        if name is None:
            return self
        for variant in self.variants:
            if variant.name == name:
                kept = tuple(piece for piece in self.shows if piece not in variant.shows_remove)
                return replace(self, shows=kept + variant.shows_add, variant=name)
        known = ", ".join(v.name for v in self.variants) or "none"
        raise UsageError(f"rubric {self.name} has no variant {name}: it declares {known}")


def joined(chosen: Collection[str], answers: Sequence[str]) -> str:
    """Several answers as one text: in the order of the rubric, with | between them; `none` if none was chosen."""
    return "|".join(answer for answer in answers if answer in chosen) or NONE_CHOSEN
