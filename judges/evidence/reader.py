"""Who reads a text: by rules, as its author meant it, by a model, or by rules and one of these together.

======================== ============================================================================================
``rules``                the family's own reader of plain language, on the spot
``planted``              what the author of a scripted text knows it to claim, out of the log (table `claims`)
``llm:<model>``          rules and model together, in columns ``both:llm:<model>``: what one does not read the other may, and where
                         they differ nothing is certain
``llm-only:<model>``     what the model made of it alone, out of the table `claims`, where `judges.claims.extraction` put it
``both:planted``         rules and author together
======================== ============================================================================================
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.errors import UsageError

RULES: Final = "rules"
PLANTED: Final = "planted"
_LLM: Final = "llm:"
_ALONE: Final = "llm-only:"
_BOTH: Final = "both:"


class Reader(NamedTuple):
    """A reader by name."""

    name: str
    """As in the column `claims.reader`, but for a model alone, whose claims stand under `stored`."""

    rules: bool
    """Whether the rules read along."""

    stored: str | None
    """The reader whose claims stand in the table `claims`; None if none is needed."""

    @property
    def model(self) -> str | None:
        """The model that reads, if one does."""
        return self.stored.removeprefix(_LLM) if self.stored is not None and self.stored.startswith(_LLM) else None

    @property
    def judge(self) -> str:
        """The engine with this reader, as in the column `verdicts.judge`."""
        return "engine" if self.name == RULES else f"engine:{self.name}"


BY_RULES: Final = Reader(RULES, rules=True, stored=None)
"""The reader that needs nothing but the text."""


def reader_named(name: str) -> Reader:
    """The reader of that name.

    Raises:
        UsageError: there is none.
    """
    if name == RULES:
        return BY_RULES
    other = name.removeprefix(_BOTH)
    alone = other.removeprefix(_ALONE) if name == other else other
    if other == PLANTED:
        return Reader(name, rules=name != other, stored=PLANTED)
    if alone not in ("", other):
        return Reader(name, rules=False, stored=_LLM + alone)
    if other.startswith(_LLM) and len(other) > len(_LLM):
        return Reader(_BOTH + other, rules=True, stored=other)
    raise UsageError(f"there is no reader {name}: give rules, planted, llm:<provider/model>, llm-only:<provider/model> or both:planted")
