"""Einstein Puzzles with anybody at the table: models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from games.einstein.engine.actions import answer_reading
from games.einstein.engine.puzzle import Puzzle
from games.einstein.game import AGENTS, Game, GameSettings
from games.einstein.game import PlayerView as EinsteinObservation
from games.einstein.match import Pair
from games.einstein.match_log import condition_name, end_entry, header_of, turn_entry, turn_time
from games.einstein.play import PlayRequest, puzzles_of
from games.einstein.players.personas import PERSONAS, PLANNER
from games.einstein.players.player import ScriptedPlayer
from games.einstein.text.prompts import form_last
from games.players.course import Course
from games.players.player import Observation
from games.players.progress import OnProgress
from games.players.running import Job, RunReport, RunTerms, Seating, run_games
from games.players.seats import seated
from providers.messages import Message
from schemas.game import Header

__all__ = ["SCRIPTS", "SEATS", "SeatedGame", "course_of", "job", "play_request", "script_answer", "seated_header"]

SEATS: Final[Mapping[str, str]] = dict.fromkeys(AGENTS, "player")
"""Agent -> role."""


def script_answer(persona: str, seen: EinsteinObservation) -> str:
    """What a persona says to what it sees; the same situation always gets the same answer, for nothing else is remembered."""
    rng = random.Random(f"einstein-seat:{persona}:{seen.user}")
    return ScriptedPlayer(persona, rng).answers(seen, samples=1, reasoning="<THINK>" in seen.system)[0].text


SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {
    "player": {name: partial(script_answer, name) for name in PERSONAS if name != PLANNER}
}
"""Role -> script -> policy over the role's observation; the planner knows the whole puzzle and can take no seat."""


class SeatedGame(NamedTuple):
    """One game to be played."""

    puzzle: Puzzle
    settings: GameSettings
    seats: Mapping[str, str]
    """Agent -> player."""
    header: Header
    path: Path


def play_request(request: PlayRequest, asked: Sequence[str], terms: RunTerms, *, on_progress: OnProgress | None = None) -> RunReport:
    """Play the puzzles and conditions of a request with whoever takes the seats; its personas are not looked at.

    Raises:
        UsageError: a seat, player or puzzle is wrong, or a log of a game's name holds another game.
        BadInputError: a game id cannot be read.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be written.
    """
    taken = seated(asked, SEATS, {role: tuple(scripts) for role, scripts in SCRIPTS.items()})
    table = Seating(scripts=SCRIPTS, seats=SEATS, terms=terms, journal=request.out / ".journal")
    jobs = [_job(request, taken, settings, puzzle) for settings in request.conditions for puzzle in puzzles_of(request)]
    return run_games(jobs, table, on_progress)


def _job(request: PlayRequest, taken: Mapping[str, str], settings: GameSettings, puzzle: Puzzle) -> Job:
    header = seated_header(puzzle, settings, taken, seed=request.seed, started_at=request.started_at)
    path = request.out / condition_name(settings) / _pair(taken).name / f"{puzzle.game_id}_{request.seed}.jsonl"
    return job(SeatedGame(puzzle, settings, taken, header, path))


def job(game: SeatedGame) -> Job:
    """A game, ready to be played."""
    started_at = datetime.fromisoformat(game.header.started_at)
    return Job(game.path, game.header, game.seats, partial(course_of, game.puzzle, game.settings, started_at))


def seated_header(puzzle: Puzzle, settings: GameSettings, taken: Mapping[str, str], *, seed: int, started_at: datetime) -> Header:
    """Give the first line of a game's log."""
    header = header_of(puzzle, settings, _pair(taken), seed=seed, started_at=started_at)
    agents = [replace(agent, model=taken[agent.agent], persona=None) for agent in header.agents]
    return replace(
        header, agents=agents, team=dict(taken), model="+".join(dict.fromkeys(taken.values())), details={"modes": list(settings.modes)}
    )


def _pair(taken: Mapping[str, str]) -> Pair:
    return Pair(*(name.replace("/", "-").replace(":", "-") for name in taken.values()))


def course_of(puzzle: Puzzle, settings: GameSettings, started_at: datetime) -> Course:
    """Give the course of a game."""
    game = Game(puzzle, settings)
    count = 1 if settings.verifier is None else settings.samples
    while (agent := game.next_agent) is not None:
        seen = _observation(game, agent)
        said = yield tuple(replace(seen, sample=sample) for sample in range(1, count + 1))
        texts = tuple(one.text for one in said)
        step = game.act(agent, texts)
        yield turn_entry(game, step, texts, at=turn_time(started_at, step))
    return end_entry(game)


def _observation(game: Game, agent: Any) -> Observation:
    seen = game.observe(agent)
    settings = game.settings
    messages: list[Message] = [{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}]
    if settings.rules == "sane":
        messages = form_last(seen.user, seen.mode, style=settings.style)
    return Observation(
        agent=agent,
        role="player",
        turn=seen.step + 1,
        messages=messages,
        data=seen,
        wants_thoughts=settings.reasoning,
        reads=answer_reading,
    )
