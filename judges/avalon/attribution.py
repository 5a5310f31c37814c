"""Whose vote or proposal lost an Avalon game for good, as far as the record proves it.

The cost of a turn is by the model of `games.avalon.value`. A good leader who proposes, and each good player who approves, a team that was
proven bad for that player could know better: they share the cost. The same holds for good players who reject a team that was proven clean
for them. What no good player could prove is not anyone's fault. Merlin may do it as cover. A reply that cannot be read is `format`: a good
leader's in whose place the rules choose a team, and good players' votes on a team without evil that could have passed with them, or that
was proven clean for them.
One that was lost, since its call failed or it was cut, is the harness's.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from judges.attribution.findings import NOTHING, Attributed, Finding, Link, Lost
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
    proven = {agent: (link, evidence) for agent, link, evidence in _proven(game, turn, placed)} if stage == "proposal" and placed else {}
    replies = game.details.get("lost_replies", {}).get(str(turn.turn), {})
    for agent, (link, evidence) in proven.items():
        if link == "format" and agent in replies:
            yield Finding(turn.turn, None, "harness", cost / len(proven), f"{agent}: {replies[agent]}")
            continue
        yield Finding(turn.turn, agent, link, cost / len(proven), evidence, cost if len(proven) == 1 else None)
    if not proven and cost > NOTHING:
        yield Finding(turn.turn, None, "not_seen", cost, "no good player could prove what the team was")


def _proven(game: Transcript, turn: TurnView, placed: Mapping[str, Any]) -> Iterator[tuple[str, Link, str]]:
    """Good players who could know better, or whose reply could not be read, and by what."""
    good = [name for name, agent in game.agents.items() if (agent.private_view or {}).get("side") == "good"]
    team, votes = ", ".join(placed["team"]), placed.get("votes") or {}
    lost = [name for name, vote in votes.items() if vote is None]
    is_wrongly_rejected = placed["result"] == "rejected" and placed["team_evil"] == 0
    is_decided_by_lost = is_wrongly_rejected and placed["approve"] + len(lost) > len(votes) // 2
    substituted = next((action.error_text for action in turn.actions if action.verb == "propose" and action.accepted is False), None)
    for name in good:
        found, vote = (placed.get("verdicts") or {}).get(name), votes.get(name)
        proposed = placed["leader"] == name
        if proposed and substituted is not None:
            yield name, "format", f"{substituted}, so the rules put {team} in its place"
        elif name in lost and (is_decided_by_lost or (found or {}).get("clean")):
            yield name, "format", f"its vote on {team} cannot be read and counts as a rejection"
        if found is None or found["open_teams"] == 0:
            continue
        done = [word for word, holds in (("proposed", proposed and substituted is None), ("approved", vote == "approve")) if holds]
        if found["bad"] and done:
            yield name, "acted_wrong", f"{' and '.join(done)} {team}, proven to have evil by {found['basis']}"
        elif found["clean"] and vote == "reject":
            yield name, "acted_wrong", f"rejected {team}, proven to have no evil"
