"""Engine checks that answer with the category which a rule gave (table `failures`), so that rule and judge can be compared.

A rubric whose answers are the categories of a taxonomy names `failures.<taxonomy>`; the answers must be spelt as the taxonomy spells them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from judges.engine.checks import Check, Decision
from judges.evidence.transcript import Transcript
from schemas.families import offered

__all__ = ["failure_checks"]


def failure_checks() -> Mapping[str, Check]:
    """Check name -> check, one for each taxonomy that a family names in `judges.<family>.checks.TAXONOMIES`."""
    return {
        f"failures.{taxonomy}": partial(_category, taxonomy, nothing)
        for _, taxonomies in offered("judges", "checks", "TAXONOMIES")
        for taxonomy, nothing in taxonomies.items()
    }


def _category(taxonomy: str, nothing: str | None, game: Transcript, turn: int, agent: str | None) -> Decision:
    """The categories of the agent's turn, joined by |: its own, else those of the turn as a whole; undecided where the rules give none.

    `nothing` is the category of a turn in which several could hold and none does; None: every judged turn has exactly one.
    """
    ruled = [found for found in game.turn(turn).failures if found.taxonomy == taxonomy]
    given = [found for found in ruled if found.agent == agent] or [found for found in ruled if found.agent is None]
    if not given:
        return Decision(None, f"the rules of {taxonomy} have no category for this agent on this turn")
    categories = list(dict.fromkeys(found.category for found in given))
    evidence = "; ".join(dict.fromkeys(found.evidence for found in given if found.evidence)) or "the rule gives no evidence"
    if nothing is None and len(categories) > 1:
        return Decision(None, f"the rules gave {' and '.join(categories)}: the agent did several such things on this turn")
    return Decision("|".join("none" if category == nothing else category for category in categories), evidence)
