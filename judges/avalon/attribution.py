"""Whose vote or proposal lost an Avalon game for good, as far as the record proves it.

The cost of a turn is by the model of `games.avalon.value`. A good leader who proposes, and each good player who approves, a team that was
proven bad for that player could know better: they share the cost. The same holds for good players who reject a team that was proven clean
for them. What no good player could prove is not anyone's fault. Merlin may do it as cover.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from judges.attribution.findings import NOTHING, Attributed, Finding, Lost
from judges.evidence.transcript import Transcript, TurnView

MEASURES: Final = ("avalon.good_wins",)


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Find who could know better on each turn; see `judges.attribution.findings.Attribute`."""
    return Attributed([finding for turn in transcript.turns for finding in _of_turn(transcript, turn, lost.get(turn.turn))])


def _of_turn(game: Transcript, turn: TurnView, lost: Lost | None) -> Iterator[Finding]:
    stage, cost = turn.state_before.get("stage"), 0.0 if lost is None else max(lost.cost, 0.0)
    if lost is None or (stage != "proposal" and cost <= NOTHING):
        return
    if stage == "assassination":
        yield Finding(turn.turn, None, "luck", cost, "the assassin named Merlin; by the model a guess at random")
        return
    placed: Mapping[str, Any] = turn.state_after.get("on_table") or {}
    proven = dict(_proven(game, placed)) if stage == "proposal" else {}
    for agent, evidence in proven.items():
        yield Finding(turn.turn, agent, "acted_wrong", cost / len(proven), evidence, cost if len(proven) == 1 else None)
    if not proven and cost > NOTHING:
        yield Finding(turn.turn, None, "not_seen", cost, "no good player could prove what the team was")


def _proven(game: Transcript, placed: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Good players who could know better, and by what."""
    good = [name for name, agent in game.agents.items() if (agent.private_view or {}).get("side") == "good"]
    for name in good:
        found, vote = (placed.get("verdicts") or {}).get(name), (placed.get("votes") or {}).get(name)
        if found is None or found["open_teams"] == 0:
            continue
        done = [word for word, holds in (("proposed", placed["leader"] == name), ("approved", vote == "approve")) if holds]
        if found["bad"] and done:
            yield name, f"{' and '.join(done)} {', '.join(placed['team'])}, proven to have evil by {found['basis']}"
        elif found["clean"] and vote == "reject":
            yield name, f"rejected {', '.join(placed['team'])}, proven to have no evil"
