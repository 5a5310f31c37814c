"""AsymPuzl with anybody at the table: models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from games.asympuzl.answer import answer_reading
from games.asympuzl.feedback import FEEDBACK_MODES
from games.asympuzl.game import AgentTurn, Game, GameSettings
from games.asympuzl.game import PuzzleView as Seen
from games.asympuzl.play import PlayRequest
from games.asympuzl.players.personas import PERSONAS, script_answer
from games.asympuzl.puzzle import AGENTS, MAX_SIZE, Agent, Puzzle, generate, wrong_positions
from games.asympuzl.solo import SoloObservation, attempt, observe, solver
from games.asympuzl.tokens import Tokenizer, tokenizer
from games.asympuzl.turn_entry import Answered, entries_json, turn_entry
from games.players.course import Course, Said, Step, ask
from games.players.player import Observation
from games.players.progress import OnProgress
from games.players.running import Job, RunReport, RunTerms, Seating, run_games
from games.players.seats import Seats, evaluated, team_name
from games.playing import DEFAULT_START, check_seeds
from schemas.errors import BadInputError
from schemas.game import AgentEntry, End, Header

__all__ = ["SCRIPTS", "SEATS", "SOLO_SEATS", "SeatedGame", "course_of", "game_of", "header_of", "jobs_of", "play_request"]

SEATS: Final[Mapping[str, str]] = {"A": "alice", "B": "bob"}
"""Agent -> role."""

SOLO_SEATS: Final[Mapping[str, str]] = {"A": "solo"}
"""Seats of the control experiment: one agent with the clues of both."""

_PERSONAS: Final = {name: partial(script_answer, name) for name in PERSONAS}
SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {"alice": _PERSONAS, "bob": _PERSONAS, "solo": {"solver": solver}}
"""Role -> script -> policy over the role's observation."""

_VIEWS: Final = {"A": "shapes", "B": "shuffled_pairs"}
_TURN: Final = timedelta(seconds=1)
"""Pretended length of a turn, so that the same game has the same log wherever and whenever it is played on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedGame:
    """One game to be played."""

    settings: GameSettings
    taken: Mapping[str, str]
    """Agent -> player."""
    size: int
    seed: int
    tokenizer: str
    solo: bool
    started_at: datetime

    @property
    def turns(self) -> int:
        """The turn limit."""
        return 1 if self.solo else self.settings.max_turns or 2 * self.size

    @property
    def condition(self) -> dict[str, Any]:
        """Every switch."""
        return {
            "size": self.size,
            "feedback_mode": "none" if self.solo else self.settings.mode,
            "history_length": self.settings.history_length,
            "max_turns": self.turns,
            "tokenizer": self.tokenizer,
            "solo": self.solo,
        }


def header_of(game: SeatedGame) -> Header:
    """Give the first line of a game's log."""
    puzzle, taken, condition = generate(size=game.size, seed=game.seed), game.taken, game.condition
    kind = "solo" if game.solo else f"{game.settings.mode}_history{game.settings.history_length}_turns{game.turns}"
    seats = SOLO_SEATS if game.solo else SEATS
    agents = [
        AgentEntry(
            agent=agent,
            role=role,
            model=taken[agent],
            private_view=_private_view(puzzle, agent, solo=game.solo),
            view_kind=_VIEWS[agent],
        )
        for agent, role in seats.items()
    ]
    return Header(
        benchmark="asympuzl",
        episode=f"{team_name(taken)}/{kind}/{game.size}_{game.seed}",
        run={"name": f"{team_name(taken)}/{game.size}_{kind}", "condition": condition},
        task={"id": f"{game.size}:{game.seed}", "level": str(game.size), "goal": {"truth": entries_json(puzzle.truth)}},
        team={role: taken[agent] for agent, role in seats.items()},
        agents=agents,
        model=evaluated(taken),
        seed=game.seed,
        max_turns=game.turns,
        started_at=game.started_at.isoformat(),
        details={"feedback_mode": condition["feedback_mode"], "scripted": False},
    )


def _private_view(puzzle: Puzzle, agent: str, *, solo: bool) -> dict[str, Any]:
    view = {"clues": entries_json(puzzle.clues_a if agent == "A" else puzzle.clues_b)}
    return {**view, "clues_b": entries_json(puzzle.clues_b)} if solo else view


def game_of(header: Header) -> SeatedGame:
    """Give the game that a header describes.

    Raises:
        BadInputError: task or condition are none of AsymPuzl.
    """
    condition = header.run.get("condition")
    facts: Mapping[str, Any] = condition if isinstance(condition, dict) else {}
    size, mode, history, turns = (facts.get(name) for name in ("size", "feedback_mode", "history_length", "max_turns"))
    if not isinstance(size, int) or not 1 <= size <= MAX_SIZE or not isinstance(header.seed, int):
        raise BadInputError(f"size must be 1 to {MAX_SIZE} and the seed a number", locator="line 1.run.condition")
    if mode not in FEEDBACK_MODES or not isinstance(history, int) or history < 1 or not isinstance(turns, int) or turns < 1:
        raise BadInputError("feedback_mode, history_length and max_turns are needed", locator="line 1.run.condition")
    solo = bool(facts.get("solo"))
    taken = {agent.agent: agent.model or "" for agent in header.agents}
    if set(taken) != set(SOLO_SEATS if solo else SEATS):
        raise BadInputError(f"agents are {', '.join(taken)}, not those of the game", locator="line 1.agents")
    return SeatedGame(
        settings=GameSettings(mode=mode, history_length=history, max_turns=turns),
        taken=taken,
        size=size,
        seed=header.seed,
        tokenizer=str(facts.get("tokenizer")),
        solo=solo,
        started_at=datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START,
    )


def course_of(game: SeatedGame, count: Tokenizer | None = None) -> Course:
    """Give the course of a game.

    Args:
        game: the game.
        count: counts tokens; None: the tokenizer that the game names.

    Raises:
        UsageError: the tokenizer's tables cannot be had.
    """
    count = count or tokenizer(game.tokenizer)
    puzzle = generate(size=game.size, seed=game.seed)
    if game.solo:
        return _solo_course(puzzle, count, game.started_at)
    return _pair_course(Game(puzzle, game.settings), count, game.started_at)


def _pair_course(game: Game, count: Tokenizer, started_at: datetime) -> Course:
    touched: dict[Agent, frozenset[int]] = dict.fromkeys(AGENTS, frozenset())
    while not game.done:
        turn, before = game.turn, game.state().hypotheses
        answers = []
        for agent in AGENTS:
            said = yield from ask(_observation(game.observe(agent)))
            answers.append(Answered(game.act(agent, said.text), said.reasoning, AGENTS, touched[agent]))
        for answer in answers:
            touched[answer.made.agent] |= _changed(answer.made)
        state = game.state()
        at = (started_at + turn * _TURN).isoformat()
        yield turn_entry(answers, before, count, at=at, progress=state.progress)
    return End(success=game.state().success, score=game.state().progress, stop_reason=game.stop_reason, turns_taken=game.turn)


def _changed(made: AgentTurn) -> frozenset[int]:
    return frozenset(applied.request.replace for applied in made.applied if applied.changed and applied.request.replace is not None)


def _observation(seen: Seen) -> Observation:
    return Observation(
        agent=seen.agent,
        role=SEATS[seen.agent],
        turn=seen.turn,
        messages=[{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}],
        data=seen,
        reads=answer_reading,
    )


def _solo_course(puzzle: Puzzle, count: Tokenizer, started_at: datetime) -> Course:
    said = yield from _ask_solo(observe(puzzle))
    made = attempt(puzzle, said.text)
    progress = 1 - len(wrong_positions(made.after, puzzle.truth)) / puzzle.size
    answer = Answered(made, said.reasoning, ("A",), frozenset())
    at = (started_at + _TURN).isoformat()
    yield turn_entry([answer], {"A": puzzle.clues_a}, count, at=at, progress=progress)
    return End(success=made.ok_after, score=progress, stop_reason="solved" if made.ok_after else "max_turns", turns_taken=1)


def _ask_solo(seen: SoloObservation) -> Generator[Step, tuple[Said, ...], Said]:
    messages: Any = [{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}]
    return (yield from ask(Observation(agent="A", role="solo", turn=1, messages=messages, data=seen, reads=answer_reading)))


def jobs_of(request: PlayRequest, taken: Mapping[str, str], *, solo: bool = False) -> Iterator[Job]:
    """Give the games of a request with these players; its personas are not looked at.

    Raises:
        UsageError: a size does not exist, or a seed fits no log.
    """
    check_seeds(request.seeds)
    for size in request.sizes:
        for mode in request.modes[:1] if solo else request.modes:
            settings = GameSettings(mode=mode, history_length=request.history_length, max_turns=request.max_turns)
            for seed in request.seeds:
                game = SeatedGame(
                    settings=settings,
                    taken=taken,
                    size=size,
                    seed=seed,
                    tokenizer=request.tokenizer,
                    solo=solo,
                    started_at=request.started_at,
                )
                header = header_of(game)
                path = request.out / f"{header.episode}.jsonl"
                yield Job(path, header, taken, partial(course_of, game))


def play_request(
    request: PlayRequest, asked: Sequence[str], terms: RunTerms, *, solo: bool = False, on_progress: OnProgress | None = None
) -> RunReport:
    """Play the puzzles of a request with whoever takes the seats.

    Raises:
        UsageError: a seat, player, size or tokenizer is wrong, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be written.
    """
    seats = SOLO_SEATS if solo else SEATS
    taken = Seats(seats, SCRIPTS).taken(asked)
    tokenizer(request.tokenizer)("")  # one without its tables fails here, before anything is written
    table = Seating(scripts=SCRIPTS, seats=seats, terms=terms, journal=request.out / ".journal")
    return run_games(list(jobs_of(request, taken, solo=solo)), table, on_progress)
