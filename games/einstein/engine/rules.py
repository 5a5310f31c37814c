"""Which reading of the rules is played: the sane one, or the published code with its defects.

Each field is one point where the paper's words and the published code differ (docs/dev/benchmark_rules.md has a line for each).
Source: formats/einstein.md section 13.
"""

from dataclasses import dataclass
from typing import Final, Literal

RulesName = Literal["sane", "published"]

STEP_LIMIT: Final = 30
"""Steps in a game, both players together (section 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One reading. True is always what the paper says."""

    solved_at_limit_succeeds: bool
    """A game solved in the very last step is a success."""

    right_guesses_accepted: bool
    """A move of an unknown object that the table carries out is accepted, not shown as failed."""

    passes_accepted: bool
    """Passing is a regular action, not shown as failed."""

    replies_in_mixed_pairs: bool
    """A seek-only player may reply also when its partner plays another mode."""

    unreadable_is_infeasible: bool
    """The affordance verifier rejects answers that the grammar does not read."""

    useless_talk_rejected: bool
    """The communication verifier rejects asks about placed objects, items that have just become obsolete, and what the mode does not
    allow; it also works in mode none."""

    replies_are_reasonable: bool
    """The reasoning verifier counts replies of a seek-only player among the expected actions."""

    history_is_clear: bool
    """The history tells an answer that could not be read from a pass, and does not give the partner what a failed share says."""


def _reading(*, sane: bool) -> Rules:
    return Rules(
        solved_at_limit_succeeds=sane,
        right_guesses_accepted=sane,
        passes_accepted=sane,
        replies_in_mixed_pairs=sane,
        unreadable_is_infeasible=sane,
        useless_talk_rejected=sane,
        replies_are_reasonable=sane,
        history_is_clear=sane,
    )


RULES: Final[dict[RulesName, Rules]] = {"sane": _reading(sane=True), "published": _reading(sane=False)}
