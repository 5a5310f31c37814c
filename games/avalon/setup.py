"""Avalon's place in cotrace's own log: the header of a game, and the game of a header."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from games.avalon.game import NAMES, Game, GameSettings, read_answer
from games.avalon.players import SCRIPTS
from games.avalon.rules import LINEUPS, ROLES, Beliefs, checked_players, side
from games.avalon.table import Table
from games.players.course import Course
from games.players.player import Observation
from games.players.setup import DEFAULT_START, PlayerSetup, evaluated, team_name
from schemas.common.errors import BadInputError
from schemas.game import AgentEntry, Header, Turn

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


ROLE: Final = "player"
"""Role of every agent as far as `--player` is concerned: who is what is dealt anew in every game."""


def setup_of(players: int) -> PlayerSetup:
    """Who can play at a table of so many players."""
    return PlayerSetup(dict.fromkeys(NAMES[: checked_players(players)], ROLE), {ROLE: SCRIPTS})


def played_header(game: Game, *, seed: int, taken: Mapping[str, str], started_at: datetime = DEFAULT_START) -> Header:
    """The first line of the log of a game that is played here, before its first turn."""
    players, team = len(game.agents), team_name(taken)
    header = header_of_game(
        game.table,
        models=taken,
        run=f"{team}/{players}p",
        condition={
            "players": players,
            "reasoning": None,
            "memory": False,
            "messages": game.settings.messages,
            "sizes": list(game.table.sizes),
        },
        task=f"{players}:{seed}",
        episode=f"{team}/{players}p/{seed}",
        model=evaluated(taken),
        seed=seed,
        started_at=started_at.isoformat(),
        details={"scripted": False},
    )
    return replace(header, task={**header.task, "goal": {**header.task["goal"], "leader": game.table.leader}})


def game_of(header: Header) -> Game:
    """The game of a header, before the first answer.

    Raises:
        BadInputError: roles or condition are none of Avalon.
    """
    table, condition = table_of(header), header.run.get("condition") or {}
    roles = [role for role in table.beliefs.roles if role is not None]
    if tuple(table.names) != NAMES[: len(roles)] or sorted(roles) != sorted(LINEUPS.get(len(roles), ())) or table.leader not in table.names:
        raise BadInputError("players, roles or first leader are not those of a game that cotrace plays", locator="line 1.agents")
    settings = GameSettings.of_log(condition)
    return Game(roles, table.names.index(table.leader), settings)


def course_of(game: Game) -> Course:
    """The course of a game."""
    while not game.done:
        seen = tuple(_observation(game, agent) for agent in game.waiting)
        for agent, reply in zip(game.waiting, (yield seen), strict=True):
            made = game.act(agent, reply.text, reply.reasoning)
            for turn in made.turns:  # noqa: UP028 - whoever plays the course sends something to each
                yield turn
    end = game.table.end()
    assert end is not None
    return end


def _observation(game: Game, agent: str) -> Observation:
    seen = game.observe(agent)
    question = seen.user.rpartition("\n\n")[2]
    return Observation(
        agent=agent,
        role=ROLE,
        turn=game.turn,
        purpose=seen.purpose,
        messages=[{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}],
        data=seen,
        reads=lambda text: read_answer(seen.purpose, text, seen.names, question).reading,
    )


def player_setup(header: Header) -> PlayerSetup:
    """The players of the table."""
    return setup_of(len(header.agents))


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))
