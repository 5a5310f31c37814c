"""What a turn cost and whose it was, in words, for any page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.losses.words import amount, turn_sentence

if TYPE_CHECKING:
    from dashboards.reader import Reader

__all__ = ["turn_loss"]

_OF_TURN = """
    SELECT agent, link, cost, unit, evidence FROM attributed_costs
    WHERE episode_id = $episode AND turn = $turn AND cost > 0 ORDER BY cost DESC, agent NULLS LAST LIMIT 1
    """
_COST = "SELECT cost, unit FROM turn_costs WHERE episode_id = $episode AND turn = $turn"


def turn_loss(read: Reader, episode: str, turn: int) -> str:
    """What a turn cost and through which link, in one sentence: `Cost .042 of .83, D1's, by ...`; empty where nothing is known of it."""
    about = {"episode": episode, "turn": turn}
    costs = read.rows(_COST, about).rows()
    if not costs or costs[0][0] is None:
        return ""
    cost, unit = costs[0]
    if cost <= 0:
        return "This turn cost nothing."
    found = read.rows(_OF_TURN, about).rows(named=True)
    if not found:
        return f"This turn cost {amount(cost, unit)}; whose it was, `cotrace attribute` works out."
    first = found[0]
    said = turn_sentence(first["agent"], first["link"], first["cost"], first["unit"], first["evidence"])
    return f"This turn {said}."
