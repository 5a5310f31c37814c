"""Who plays which agent: `ROLE=PLAYER`; a role in the plural means all its agents, `all` every agent.

A script can play well up to a turn and then fall into a fault: `vague@8` is `vague` from turn 8 on, and `vague@8!12` not in turn 12. In
`vague!12=bold` another script plays turn 12.
"""

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from schemas.common.errors import UsageError
from schemas.common.text import near

_FROM: Final = "@"
_NOT_IN: Final = "!"


class Onset(NamedTuple):
    """A script, and when it plays."""

    script: str
    turn: int
    """From 1; before it the family's faultless script plays."""
    fixed: int | None = None
    """The one turn from then on in which the faultless script plays all the same; None: there is none."""
    instead: str | None = None
    """Who plays in that turn in place of the faultless script."""

    def at(self, turn: int, faultless: str) -> str:
        """Who plays in a turn."""
        if turn == self.fixed and self.instead is not None:
            return self.instead
        return self.script if turn >= self.turn and turn != self.fixed else faultless


def onset_of(name: str, known: Collection[str], what: str) -> Onset:
    """Read `script`, `script@turn`, `script!turn`, `script@turn!turn` or either of the last with `=script` behind.

    Raises:
        UsageError: no such script, or a turn is none.
    """
    rest, not_in, fixed = name.partition(_NOT_IN)
    script, begins, turn = rest.partition(_FROM)
    fixed, _, instead = fixed.partition("=")
    for one in (script, *([instead] if instead else [])):
        if one not in known:
            raise UsageError(f"unknown {what} {one!r}{near(one, known)}")
    for mark, number in ((begins, turn), (not_in, fixed)):
        if mark and (not number.isdecimal() or int(number) < 1):
            raise UsageError(
                f"{what} {name!r}: write {script}{_FROM}8 for one who plays so from turn 8 on, {script}{_NOT_IN}12 for all but turn 12"
            )
    return Onset(script, int(turn) if begins else 1, int(fixed) if not_in else None, instead or None)


def fixed_in(name: str, turn: int, instead: str | None = None) -> str:
    """The same player, but faultless in one turn, or another script."""
    return f"{unmended(name)}{_NOT_IN}{turn}" + (f"={instead}" if instead else "")


def unmended(name: str) -> str:
    """A script's name, or several, as they seed random numbers: a fixed game is the same up to the turn that is fixed."""
    return re.sub(rf"{_NOT_IN}\d+(=[\w-]+)?", "", name)


def script_of(name: str) -> str:
    """The script alone, without turns."""
    return unmended(name).partition(_FROM)[0]


SCRIPT = "script:"
PERSON = "human"

DEFAULT_START: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - logs hold local times without zone
"""Start of every game, so that the same request gives the same bytes."""


class PlayerSetup(NamedTuple):
    """Who can play which agent of a game."""

    roles: Mapping[str, str]
    """Agent -> role, in the order of the game."""
    scripts: Mapping[str, Mapping[str, Callable[[Any], str]]]
    """Role -> script -> policy; a forecast plays with the first."""
    casts: Mapping[str, Collection[str]] = {}
    """Role -> scripts that remember, and play where all players are such scripts: `script`, or from a turn on `script@turn`."""

    def is_cast(self, taken: Mapping[str, str]) -> bool:
        """Whether the players are scripts that remember."""
        return bool(taken) and all(
            player.startswith(SCRIPT) and script_of(player.removeprefix(SCRIPT)) in self.casts.get(self.roles[agent], ())
            for agent, player in taken.items()
        )

    def taken(self, asked: Sequence[str], source: str = "--player ") -> dict[str, str]:
        """Agent -> player.

        Args:
            asked: texts such as `builder=script:plain` or `directors=openai/gpt-4o-mini`; `directors=script:clear+vague+clear` names one
                script for each agent of a role.
            source: the words before each text where it was written, for messages.

        Raises:
            UsageError: a role or script is unknown, an agent has two players or none, or a player is written wrongly.
        """
        taken: dict[str, str] = {}
        for text in asked:
            name, equals, player = text.partition("=")
            player = player.strip()
            if not equals or not player:
                raise UsageError(f"{source}{text}: write ROLE=PLAYER, such as {next(iter(self.roles))}=openai/gpt-4o-mini")
            agents = self.agents(name.strip())
            if not agents:
                known = list(dict.fromkeys([*self.roles, *(f"{role}s" for role in self.roles.values()), "all"]))
                close = difflib.get_close_matches(name.strip(), known, n=1)
                meant = f", did you mean {close[0]}?" if close else ""
                raise UsageError(f"{source}{name.strip()}: no such role{meant} (there are {', '.join(known)})")
            for agent, one in zip(agents, _spread(player, len(agents), f"{source}{text}"), strict=True):
                if agent in taken:
                    raise UsageError(f"{source}{text}: {agent} is played by {taken[agent]} already: name each agent once")
                self._check(one, self.roles[agent], f"{source}{text}")
                taken[agent] = one
        empty = [agent for agent in self.roles if agent not in taken]
        if empty:
            raise UsageError(f"no one plays {', '.join(empty)}: add {source}{empty[0]}=provider/model, {SCRIPT}NAME or {PERSON}")
        if not self.is_cast(taken):
            for agent, player in taken.items():
                script = player.removeprefix(SCRIPT)
                if player.startswith(SCRIPT) and script not in self.scripts.get(self.roles[agent], ()):
                    alone = ", ".join(self.scripts.get(self.roles[agent], ())) or "none"
                    raise UsageError(f"{source}{agent}={player}: it plays only among scripts of its kind; with others can play: {alone}")
        return {agent: taken[agent] for agent in self.roles}

    def agents(self, name: str) -> list[str]:
        """The agents that a name covers: one, all of a role, or `all`."""
        return [agent for agent, role in self.roles.items() if name.lower() in ("all", agent.lower(), role, f"{role}s")]

    def _check(self, player: str, role: str, text: str) -> None:
        if player == PERSON:
            return
        if player.startswith(SCRIPT):
            name, scripts, casts = player.removeprefix(SCRIPT), self.scripts.get(role, ()), self.casts.get(role, ())
            if name in scripts:
                return
            if script_of(name) in casts:
                onset_of(name, casts, "script")
                return
            raise UsageError(f"{text}: no script of that name for a {role}{near(name, dict.fromkeys((*scripts, *casts)))}")
        provider, slash, model = player.partition("/")
        if not slash or not provider or not model:
            raise UsageError(f"{text}: a player is provider/model, {SCRIPT}NAME or {PERSON}")


def _spread(player: str, count: int, text: str) -> list[str]:
    """The player of each agent; scripts that are joined by + are shared out."""
    names = player.removeprefix(SCRIPT).split("+")
    if not player.startswith(SCRIPT) or len(names) == 1:
        return [player] * count
    if len(names) != count:
        raise UsageError(f"{text} names {len(names)} scripts for {count} agents: give one for all, or one for each")
    return [f"{SCRIPT}{name}" for name in names]


def named(taken: Mapping[str, str]) -> dict[str, str]:
    """Agent -> player as logs of scripts name them."""
    return {agent: player.removeprefix(SCRIPT) for agent, player in taken.items()}


def is_model(player: str) -> bool:
    """Whether a player is a language model."""
    return player != PERSON and not player.startswith(SCRIPT)


def team_name(taken: Mapping[str, str]) -> str:
    """Name a team as a folder is named: its players in the order of their agents, neighbours of one name once."""
    names = [player for player, before in zip(taken.values(), [None, *taken.values()], strict=False) if player != before]
    return "_".join(names).replace("/", "-").replace(":", "-")


def evaluated(taken: Mapping[str, str]) -> str:
    """The evaluated model of a game: its players, joined by + if they differ."""
    return "+".join(dict.fromkeys(taken.values()))
