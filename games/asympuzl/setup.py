"""AsymPuzl played by models, scripts and people, in any mixture; the log is cotrace's own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from games.asympuzl.answer import Tokenizer, answer_reading, tokenizer
from games.asympuzl.game import AgentTurn, FeedbackMode, Game, GameSettings, SoloObservation, attempt, observe, solver
from games.asympuzl.game import PuzzleView as Seen
from games.asympuzl.players import PERSONAS, PersonaPlayer, script_answer
from games.asympuzl.puzzle import AGENTS, Agent, Puzzle, generate, wrong_positions
from games.asympuzl.record import Answered, entries_json, turn_entry
from games.players.course import Course, Takeover, ask, played_by
from games.players.player import Observation
from games.players.setup import DEFAULT_START, PlayerSetup, evaluated, team_name
from schemas.common.errors import BadInputError
from schemas.game import AgentEntry, End, Header, Turn

ROLES: Final[Mapping[str, str]] = {"A": "alice", "B": "bob"}
"""Agent -> role."""

SOLO_ROLES: Final[Mapping[str, str]] = {"A": "solo"}
"""Players of the control experiment: one agent with the clues of both."""

_PERSONAS: Final = {name: partial(script_answer, name) for name in PERSONAS}
SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {"alice": _PERSONAS, "bob": _PERSONAS, "solo": {"solver": solver}}
"""Role -> script -> policy over the role's observation."""

CASTS: Final[Mapping[str, Collection[str]]] = {"alice": PERSONAS, "bob": PERSONAS}
"""Role -> scripts that remember."""

_VIEWS: Final = {"A": "shapes", "B": "shuffled_pairs"}
_TURN: Final = timedelta(seconds=1)
"""Pretended length of a turn, so that the same game has the same log wherever and whenever it is played on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSetup:
    """One game to be played."""

    settings: GameSettings
    taken: Mapping[str, str]
    """Agent -> player."""
    seed: int
    solo: bool = False
    started_at: datetime = DEFAULT_START

    @property
    def puzzle(self) -> Puzzle:
        """What is to be solved."""
        return generate(size=self.settings.size, seed=self.seed)

    @property
    def turns(self) -> int:
        """The turn limit."""
        return 1 if self.solo else self.settings.max_turns or 2 * self.settings.size


def header_of(game: GameSetup) -> Header:
    """Give the first line of a game's log."""
    puzzle, players, settings = game.puzzle, game.taken, game.settings
    mode: FeedbackMode = "none" if game.solo else settings.mode
    condition = {**settings.model_copy(update={"max_turns": game.turns, "mode": mode}).logged(), "solo": game.solo}
    kind = "solo" if game.solo else f"{mode}_history{settings.history_length}_turns{game.turns}"
    agents = [
        AgentEntry(
            agent=agent,
            role=role,
            model=players[agent],
            private_view=_private_view(puzzle, agent, solo=game.solo),
            view_kind=_VIEWS[agent],
        )
        for agent, role in (SOLO_ROLES if game.solo else ROLES).items()
    ]
    return Header(
        benchmark="asympuzl",
        episode=f"{team_name(players)}/{kind}/{puzzle.size}_{game.seed}",
        run={"name": f"{team_name(players)}/{puzzle.size}_{kind}", "condition": condition},
        task={"id": f"{puzzle.size}:{game.seed}", "level": str(puzzle.size), "goal": {"truth": entries_json(puzzle.truth)}},
        team={agent.role: players[agent.agent] for agent in agents},
        agents=agents,
        model=evaluated(players),
        seed=game.seed,
        max_turns=game.turns,
        started_at=game.started_at.isoformat(),
        details={"feedback_mode": mode, "scripted": False},
    )


def _private_view(puzzle: Puzzle, agent: str, *, solo: bool) -> dict[str, Any]:
    view = {"clues": entries_json(puzzle.clues_a if agent == "A" else puzzle.clues_b)}
    return {**view, "clues_b": entries_json(puzzle.clues_b)} if solo else view


def game_of(header: Header) -> GameSetup:
    """Give the game that a header describes.

    Raises:
        BadInputError: task or condition are none of AsymPuzl.
    """
    condition = header.run.get("condition")
    settings = GameSettings.of_log(condition, {"tokenizer": "None"})
    if not isinstance(header.seed, int):
        raise BadInputError("the seed must be a number", locator="line 1.seed")
    solo = isinstance(condition, dict) and bool(condition.get("solo"))
    taken = {agent.agent: agent.model or "" for agent in header.agents}
    if set(taken) != set(SOLO_ROLES if solo else ROLES):
        raise BadInputError(f"agents are {', '.join(taken)}, not those of the game", locator="line 1.agents")
    started_at = datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START
    return GameSetup(settings=settings, taken=taken, seed=header.seed, solo=solo, started_at=started_at)


def course_of(game: GameSetup, count: Tokenizer | None = None) -> Course:
    """Give the course of a game; `count` counts tokens, by default with the tokenizer that the game names.

    Raises:
        UsageError: the tokenizer's tables cannot be had.
    """
    count = count or tokenizer(game.settings.tokenizer)
    if game.solo:
        return _solo_course(game.puzzle, count, game.started_at)
    return _pair_course(Game(game.puzzle, game.settings), count, game.started_at)


def scripted_course(game: GameSetup, takeover: Takeover | None = None) -> Course:
    """The course of a game that scripts play which remember."""
    return played_by(course_of(game), ScriptedTeam(game.puzzle, game.taken, game.seed), takeover)


class ScriptedTeam:
    """Two players; the same seed, the same players."""

    stores_replies = True

    def __init__(self, puzzle: Puzzle, players: Mapping[str, str], seed: int) -> None:
        self._players = {agent: PersonaPlayer(players[agent], agent, puzzle.clues(agent), seed=seed) for agent in AGENTS}

    def answer(self, seen: Observation) -> str:
        """What the agent writes."""
        return self._players[seen.data.agent].answer(seen.data)

    def known(self, turn: Turn) -> Turn:
        """The rules alone say what went wrong: nothing is planted."""
        return turn

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        for player in self._players.values():
            player.redraw(seed)


def _pair_course(game: Game, count: Tokenizer, started_at: datetime) -> Course:
    touched: dict[Agent, frozenset[int]] = dict.fromkeys(AGENTS, frozenset())
    while not game.done:
        turn, before = game.turn, game.state().hypotheses
        answers = []
        for agent in AGENTS:
            reply = yield from ask(_observation(agent, ROLES[agent], turn, game.observe(agent)))
            answers.append(Answered(game.act(agent, reply.text), reply.reasoning, AGENTS, touched[agent]))
        for answer in answers:
            touched[answer.made.agent] |= _changed(answer.made)
        state = game.state()
        at = (started_at + turn * _TURN).isoformat()
        yield turn_entry(answers, before, count, at=at, progress=state.progress)
    return End(success=game.state().success, score=game.state().progress, stop_reason=game.stop_reason, turns_taken=game.turn)


def _changed(made: AgentTurn) -> frozenset[int]:
    return frozenset(applied.request.replace for applied in made.applied if applied.changed and applied.request.replace is not None)


def _observation(agent: str, role: str, turn: int, seen: Seen | SoloObservation) -> Observation:
    return Observation(
        agent=agent,
        role=role,
        turn=turn,
        messages=[{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}],
        data=seen,
        reads=answer_reading,
    )


def _solo_course(puzzle: Puzzle, count: Tokenizer, started_at: datetime) -> Course:
    reply = yield from ask(_observation("A", "solo", 1, observe(puzzle)))
    made = attempt(puzzle, reply.text)
    progress = 1 - len(wrong_positions(made.after, puzzle.truth)) / puzzle.size
    answer = Answered(made, reply.reasoning, ("A",), frozenset())
    at = (started_at + _TURN).isoformat()
    yield turn_entry([answer], {"A": puzzle.clues_a}, count, at=at, progress=progress)
    return End(success=made.ok_after, score=progress, stop_reason="solved" if made.ok_after else "max_turns", turns_taken=1)


def player_setup(header: Header) -> PlayerSetup:
    """Two players, or one."""
    return PlayerSetup(SOLO_ROLES, SCRIPTS) if game_of(header).solo else PlayerSetup(ROLES, SCRIPTS, CASTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    return scripted_course(replace(game_of(header), taken=taken), takeover=takeover)
