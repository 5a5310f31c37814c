"""Who sits where: `ROLE=PLAYER`, a role in the plural naming all its seats and `all` every seat."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from schemas.errors import UsageError
from schemas.text import near

__all__ = ["PERSON", "SCRIPT", "Seats", "evaluated", "is_model", "seated", "team_name"]

SCRIPT = "script:"
PERSON = "human"


class Seats(NamedTuple):
    """Who can sit where."""

    roles: Mapping[str, str]
    """Agent -> role, in the order of the game."""
    scripts: Mapping[str, Mapping[str, Callable[[Any], str]]]
    """Role -> script -> policy; a forecast plays with the first."""


def is_model(player: str) -> bool:
    """Whether a player is a language model."""
    return player != PERSON and not player.startswith(SCRIPT)


def seated(
    asked: Sequence[str], seats: Mapping[str, str], scripts: Mapping[str, Sequence[str]], *, said: str = "--seat "
) -> dict[str, str]:
    """Agent -> player.

    Args:
        asked: texts such as `builder=script:plain` or `directors=openai/gpt-4o-mini`.
        seats: agent -> role, in the order of the game.
        scripts: role -> names of the scripts that can take it.
        said: what stands before each text where it was written, for messages.

    Raises:
        UsageError: a seat or script is unknown, a seat is taken twice or by nobody, or a player is written wrongly.
    """
    taken: dict[str, str] = {}
    for text in asked:
        name, equals, player = text.partition("=")
        if not equals or not player:
            raise UsageError(f"{said}{text}: write ROLE=PLAYER, such as {next(iter(seats))}=openai/gpt-4o-mini")
        for agent in _agents(name.strip(), seats, said):
            if agent in taken:
                raise UsageError(f"{said}{text}: {agent} is taken by {taken[agent]} already: give each seat once")
            _check(player.strip(), seats[agent], scripts, f"{said}{text}")
            taken[agent] = player.strip()
    empty = [agent for agent in seats if agent not in taken]
    if empty:
        raise UsageError(f"nobody sits at {', '.join(empty)}: add {said}{empty[0]}=provider/model, {SCRIPT}NAME or {PERSON}")
    return {agent: taken[agent] for agent in seats}


def _agents(name: str, seats: Mapping[str, str], said: str) -> list[str]:
    found = [agent for agent, role in seats.items() if name.lower() in ("all", agent.lower(), role, f"{role}s")]
    if not found:
        known = list(dict.fromkeys([*seats, *(f"{role}s" for role in seats.values()), "all"]))
        near = difflib.get_close_matches(name, known, n=1)
        raise UsageError(f"{said}{name}: no such seat{f', did you mean {near[0]}?' if near else ''} (there are {', '.join(known)})")
    return found


def _check(player: str, role: str, scripts: Mapping[str, Sequence[str]], text: str) -> None:
    if player == PERSON:
        return
    if player.startswith(SCRIPT):
        known = scripts.get(role, ())
        if player.removeprefix(SCRIPT) not in known:
            raise UsageError(f"{text}: no script of that name for a {role}{near(player.removeprefix(SCRIPT), known)}")
        return
    provider, said, model = player.partition("/")
    if not said or not provider or not model:
        raise UsageError(f"{text}: a player is provider/model, {SCRIPT}NAME or {PERSON}")


def team_name(taken: Mapping[str, str]) -> str:
    """Name a team as a folder is named: its players in the order of their seats, neighbours of one name once."""
    names = [player for player, before in zip(taken.values(), [None, *taken.values()], strict=False) if player != before]
    return "_".join(names).replace("/", "-").replace(":", "-")


def evaluated(taken: Mapping[str, str]) -> str:
    """The evaluated model of a game: its players, joined by + if they differ."""
    return "+".join(dict.fromkeys(taken.values()))
