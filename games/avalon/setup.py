"""Avalon's place in cotrace's own log: the header of a game, and the game of a header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from games.avalon.rules import ROLES, Beliefs, side
from games.avalon.table import Table
from schemas.common.errors import BadInputError
from schemas.game import AgentEntry, Header

UNKNOWN: Final = "player"
"""`agents.role` where the log does not say the role."""


def view_of(role: str | None, of_side: str | None, shown: Sequence[str] | None) -> dict[str, Any] | None:
    """What a player knew at the start; None where nothing is known of it."""
    return None if role is None and of_side is None and shown is None else {"role": role, "side": of_side, "sees": shown}


def header_of_game(
    table: Table, *, models: Mapping[str, str | None], run: str, condition: Mapping[str, Any], task: str, **more: Any
) -> Header:
    """The first line of a game's log; ``more`` are further fields of it."""
    beliefs = table.beliefs
    agents = []
    for position, name in enumerate(table.names):
        role, shown = beliefs.roles[position], beliefs.shown[position]
        seen = None if shown is None else [table.names[other] for other in sorted(shown)]
        agents.append(AgentEntry(agent=name, role=role or UNKNOWN, model=models[name], private_view=view_of(role, side(role), seen)))
    return Header(
        benchmark="avalon",
        run={"name": run, "condition": dict(condition)},
        task={"id": task, "level": f"{len(table.names)} players", "goal": {"roles": dict(zip(table.names, beliefs.roles, strict=True))}},
        agents=agents,
        **more,
    )


def table_of(header: Header) -> Table:
    """The table of a header, before the first turn.

    Raises:
        BadInputError: a role is none of Avalon, or the team sizes are missing.
    """
    names = [agent.agent for agent in header.agents]
    positions = {name: position for position, name in enumerate(names)}
    condition = header.run.get("condition") or {}
    sizes = condition.get("sizes") if isinstance(condition, Mapping) else None
    if not isinstance(sizes, list) or not all(isinstance(size, int) for size in sizes):
        raise BadInputError("give the team size of each mission as a list of numbers", locator="line 1.run.condition.sizes")
    roles, shown = [], []
    for number, agent in enumerate(header.agents):
        if agent.role not in (*ROLES, UNKNOWN):
            raise BadInputError(f"the role must be one of {', '.join(ROLES)}", locator=f"line 1.agents[{number}].role", excerpt=agent.role)
        view = agent.private_view if isinstance(agent.private_view, Mapping) else {}
        sees = view.get("sees")
        roles.append(None if agent.role == UNKNOWN else agent.role)
        shown.append(frozenset(positions[name] for name in sees if name in positions) if isinstance(sees, list) else None)
    return Table(names, Beliefs(tuple(roles), tuple(shown)), sizes, (header.task.get("goal") or {}).get("leader"))
