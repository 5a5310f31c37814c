"""LLM-Coordination's games, played by models, scripts and people, in any mixture; the log is cotrace's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from games.coordination.capture import SCENARIOS
from games.coordination.courses import capture, escape, hanabi, kitchen
from games.coordination.courses.agent import GAMES, LONGEST, VARIANT_NAMES, CoordinationGame, GameSetup, Switches, Table
from games.coordination.courses.scripts import POLICIES, SCRIPTS, ScriptedTeam
from games.coordination.escape import EXIT, GENERATORS, room_in
from games.coordination.escape import SCENARIOS as ESCAPES
from games.coordination.hanabi import DECK, MAX_SCORE, MAX_TURNS
from games.coordination.kitchen import DELIVERY, LAYOUTS
from games.coordination.players import PLAYERS
from games.players.course import Course, Takeover, played_by
from games.players.setup import DEFAULT_START, PlayerSetup, evaluated
from schemas.common.errors import BadInputError
from schemas.game import AgentEntry, Header, Turn

ROLES: Final[Mapping[str, str]] = dict.fromkeys(PLAYERS, "player")
"""Agent -> role."""

_COURSES: Final[Mapping[CoordinationGame, Callable[[GameSetup, Table], Course]]] = {
    "hanabi": hanabi.course,
    "overcooked": kitchen.course,
    "collab_capture": capture.course,
    "collab_escape": escape.course,
}
VARIANTS: Final[Mapping[CoordinationGame, Sequence[str]]] = {
    "hanabi": (),
    "overcooked": tuple(LAYOUTS),
    "collab_capture": SCENARIOS,
    "collab_escape": tuple(ESCAPES),
}
"""Game -> its layouts or scenarios."""

_GOALS: Final[Mapping[CoordinationGame, dict[str, Any]]] = {
    "hanabi": {"score": MAX_SCORE},
    "overcooked": {"soups": "as many as possible", "points_each": DELIVERY},
    "collab_capture": {"captured": True},
    "collab_escape": {"generators": list(GENERATORS), "exit": EXIT},
}


def setup_of(game: CoordinationGame) -> PlayerSetup:
    """Alice and Bob, with the scripts of a game."""
    return PlayerSetup(ROLES, {"player": SCRIPTS[game]}, {"player": POLICIES[game]})


def header_of(game: GameSetup) -> Header:
    """Give the first line of a game's log."""
    of_older = game.game == "hanabi" and game.switches.harness == "published"  # older logs, which are of this harness, name no limit
    return Header(
        benchmark="coordination",
        episode=game.episode,
        run={"name": game.episode.rpartition("/")[0], "condition": game.condition},
        task={"id": game.task, "level": game.game, "goal": _GOALS[game.game]},
        team={player.lower(): game.taken[player] for player in PLAYERS},
        agents=[AgentEntry(agent=player, role="player", model=game.taken[player]) for player in PLAYERS],
        model=evaluated(game.taken),
        seed=game.seed,
        max_turns=None if of_older and game.turns == MAX_TURNS else game.turns,
        started_at=game.started_at.isoformat(),
        details={"game": game.game, "console": False, "deck": None if game.deck is None else list(game.deck)},
    )


def game_of(header: Header) -> GameSetup:
    """Give the game that a header describes.

    Raises:
        BadInputError: task or condition are none of LLM-Coordination.
    """
    condition = header.run.get("condition")
    facts: Mapping[str, Any] = condition if isinstance(condition, dict) else {}
    game = next((known for known in GAMES if known == facts.get("game")), None)
    if game is None or not isinstance(header.seed, int):
        raise BadInputError(f"game must be one of {', '.join(GAMES)}, and the seed a number", locator="line 1.run.condition")
    variant, deck = facts.get(VARIANT_NAMES.get(game, ""), ""), header.details.get("deck")
    turns = facts.get("ticks", 1) if game == "overcooked" else facts.get("turns", LONGEST[game])
    if (VARIANTS[game] and variant not in VARIANTS[game]) or not isinstance(turns, int) or turns < 1:
        raise BadInputError(f"there is no {variant!r} of {turns!r} turns in {game}", locator="line 1.run.condition")
    if deck is not None and (not isinstance(deck, list) or sorted(map(str, deck)) != sorted(DECK)):
        raise BadInputError("the deck is not the 50 cards of Hanabi", locator="line 1.details.deck")
    taken = {agent.agent: agent.model or "" for agent in header.agents}
    if set(taken) != set(PLAYERS):
        raise BadInputError(f"agents are {', '.join(taken)}, not {', '.join(PLAYERS)}", locator="line 1.agents")
    return GameSetup(
        game=game,
        variant=str(variant),
        taken=taken,
        switches=Switches.of_log({key: facts[key] for key in Switches.model_fields if key in facts}, {"harness": "published"}),
        seed=header.seed,
        turns=turns,
        deck=deck,
        started_at=datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START,
    )


def table_of(header: Header, states: Sequence[Any]) -> Table:
    """The table at which a logged game is played again.

    Args:
        header: of the log.
        states: of its turns, before each. Scripts that remember drew from the killer's random numbers, so it goes where it went.
    """
    game = game_of(header)
    logged = game.game == "collab_escape" and header.details.get("scripted")
    return Table(game.seed, killer=map(_killer_room, states) if logged else iter(()))


def _killer_room(state: Any) -> int:
    room = room_in(str(state.get("adversary_choice"))) if isinstance(state, dict) else None
    if room is None:
        raise BadInputError("it does not say where the killer goes", locator=".state_before.adversary_choice")
    return room


def course_of(game: GameSetup, table: Table | None = None) -> Course:
    """Give the course of a game; the table, if one is given, holds what was played."""
    return _COURSES[game.game](game, table or Table(game.seed))


def scripted_course(game: GameSetup, takeover: Takeover | None = None) -> Course:
    """The course of a game that scripts play which remember."""
    table = Table(game.seed)
    return played_by(course_of(game, table), ScriptedTeam(game, table), takeover)


def player_setup(header: Header) -> PlayerSetup:
    """Alice and Bob, with the scripts of their game."""
    return setup_of(game_of(header).game)


def course(header: Header, turns: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header), table_of(header, [turn.state_before for turn in turns]))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    return scripted_course(replace(game_of(header), taken=taken), takeover=takeover)
