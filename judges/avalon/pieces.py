"""Evidence that only Avalon has: what the speaker knew, what everybody saw of the missions, and the true roles."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from judges.evidence.frame import Entry, Frame
from judges.evidence.pieces import AGENT_UNITS, Pieces, UnitContext

PIECES: Final = Pieces("avalon")


@PIECES.add("own_role", "the role of the judged player, and whom it is shown", AGENT_UNITS)
def _own_role(context: UnitContext) -> list[Entry]:
    agent = context.game.agents.get(context.agent_name)
    view = (agent.private_view if agent else None) or {}
    if not view:
        return []
    sees = ", ".join(view.get("sees") or ()) or "no one"
    return [
        Entry(Frame("Role of {}, and whom that role is shown:", context.agent_name), f"{view.get('role')} ({view.get('side')}); {sees}")
    ]


@PIECES.add("provable", "whom the judged player could prove good or evil before the turn", AGENT_UNITS)
def _proofs(context: UnitContext) -> list[Entry]:
    known = (context.now.state_before.get("knowledge") or {}).get(context.agent_name)
    if known is None:
        return []
    good, evil = (", ".join(known[of_side]) or "no one" for of_side in ("good", "evil"))
    text = f"good: {good}\nevil: {evil}\nevil sets possible: {known['evil_worlds']}"
    return [Entry(Frame("What {} could prove before this turn, by role and missions:", context.agent_name), text)]


@PIECES.add("missions", "finished missions: leader, team, fails, result", AGENT_UNITS)
def _missions(context: UnitContext) -> list[Entry]:
    lines = [
        f"mission {one['mission']}: leader {one['leader']}, team {', '.join(one['team'])}, {one['fails']} fails, {one['result']}"
        for one in context.now.state_before.get("missions", ())
    ]
    return [Entry(Frame("Finished missions, as all players know them:"), "\n".join(lines) or "none")]


@PIECES.add("mission_talk", "earlier messages of this mission that the judged player had received", AGENT_UNITS)
def _this_mission(context: UnitContext) -> list[Entry]:
    earlier: Iterable[tuple[int, Any]] = (
        (turn.turn, message)
        for turn in context.game.turns
        if turn.turn <= context.now.turn and turn.state_before.get("mission") == context.now.state_before.get("mission")
        for message in turn.by_channel("public")
    )
    found = []
    for turn, message in earlier:
        if turn == context.now.turn and message.agent == context.agent_name:
            break
        if context.agent_name in message.audience:
            found.append(Entry(Frame("{} wrote in this mission:", message.agent), message.text))
    return found


@PIECES.add("true_roles", "the role of each player", AGENT_UNITS)
def _true_roles(context: UnitContext) -> list[Entry]:
    roles: Mapping[str, Any] = (context.game.goal or {}).get("roles") or {}
    return (
        [Entry(Frame("True roles, which no player knows all of:"), "\n".join(f"{name}: {role}" for name, role in roles.items()))]
        if roles
        else []
    )
