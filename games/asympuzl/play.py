"""Plays whole runs of scripted AsymPuzl games and writes them as the specified record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from games.asympuzl.feedback import FeedbackMode
from games.asympuzl.game import Game, GameSettings
from games.asympuzl.players.personas import PERSONAS, PersonaPlayer
from games.asympuzl.puzzle import AGENTS, Agent
from games.asympuzl.record import RunFacts, game_id, game_line, line, result_line, turn_line
from games.asympuzl.tokens import DEFAULT_TOKENIZER, tokenizer
from games.players.onset import onset_of
from games.players.running import RunReport, report_of
from games.playing import DEFAULT_START, OnProgress, check_seeds
from schemas.errors import UsageError

__all__ = ["PAPER_SEEDS", "PlayRequest", "play"]

PAPER_SEEDS: Final = tuple(range(30))
"""The paper plays 30 seeds a configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """What to play: every persona with every partner, on every size, mode and seed."""

    out: Path
    """Folder for ``<persona>_<partner>.jsonl``, one file a run."""

    personas: tuple[str, ...] = ("sharing",)
    """Who plays A: names of ``PERSONAS``."""

    partners: tuple[str, ...] | None = None
    """Who plays B; None: each persona plays with itself, as in the paper."""

    sizes: tuple[int, ...] = (5,)
    modes: tuple[FeedbackMode, ...] = ("both",)
    seeds: tuple[int, ...] = PAPER_SEEDS
    history_length: int = 1
    max_turns: int | None = None
    """None: twice the number of positions."""

    tokenizer: str = DEFAULT_TOKENIZER
    started_at: datetime = DEFAULT_START
    """Of games with seats; the record of scripted ones has no times."""


def play(request: PlayRequest, on_progress: OnProgress | None = None) -> RunReport:
    """Play what is not there yet. The same request gives the same bytes, interrupted or not.

    Args:
        request: what to play.
        on_progress: called with the games finished and the games in all.

    Raises:
        UsageError: a name is unknown, a number is out of range, or a log of that name holds other games.
        OSError: a file cannot be read or written.
    """
    pairs = _pairs(request)
    count = tokenizer(request.tokenizer)
    if not request.seeds or not request.sizes or not request.modes:
        raise UsageError("asympuzl: give at least one seed, one size and one feedback mode")
    check_seeds(request.seeds)
    total = len(pairs) * len(request.sizes) * len(request.modes) * len(request.seeds)
    count("")  # a tokenizer without its tables fails here, before anything is written
    runs = [
        RunFacts(run_id=f"{first}_{second}", model_a=first, model_b=second, tokenizer=request.tokenizer, scripted=True)
        for first, second in pairs
    ]
    paths = [request.out / f"{run.run_id}.jsonl" for run in runs]
    taken = (turns or None for path, run in zip(paths, runs, strict=True) for turns in _play_run(path, run, request))
    return report_of(paths, total, taken, on_progress)


def _pairs(request: PlayRequest) -> list[tuple[str, str]]:
    for name in (*request.personas, *(request.partners or ())):
        onset_of(name, PERSONAS, "asympuzl persona")
    if request.partners is None:
        return [(name, name) for name in request.personas]
    return [(first, second) for first in request.personas for second in request.partners]


def _play_run(path: Path, run: RunFacts, request: PlayRequest) -> Iterator[int]:
    """Bring a file up to the request; gives the turns played of each game, 0 where it was there."""
    games = list(_games(request))
    whole = _whole_games(path, run, games)
    yield from (0 for _ in whole)
    if len(whole) == len(games) and path.stat().st_size == (whole[-1] if whole else 0):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if path.exists() else "wb") as file:
        file.truncate(whole[-1] if whole else 0)
        file.seek(0, 2)
        for game, seed in games[len(whole) :]:
            yield _play_game(file, run, game, seed)


def _games(request: PlayRequest) -> Iterator[tuple[Game, int]]:
    for size in request.sizes:
        for mode in request.modes:
            settings = GameSettings(mode=mode, history_length=request.history_length, max_turns=request.max_turns)
            for seed in request.seeds:
                yield Game.drawn(size=size, seed=seed, settings=settings), seed


def _whole_games(path: Path, run: RunFacts, games: Sequence[tuple[Game, int]]) -> list[int]:
    """The ends, in bytes, of the games that stand whole at the beginning of the file, in the order of the request.

    Raises:
        UsageError: the file begins with something else.
    """
    if not path.exists():
        return []
    ends: list[int] = []
    place, begins = 0, True
    for text in path.read_bytes().splitlines(keepends=True):
        expected = line(game_line(run, *games[len(ends)])) if len(ends) < len(games) else b""
        if begins and not (expected and expected.startswith(text)):
            raise UsageError(f"{path} holds other games than those asked for; choose another folder or remove the file")
        place += len(text)
        begins = text.endswith(b"\n") and _is_result(text)
        if begins:
            ends.append(place)
    return ends


def _is_result(text: bytes) -> bool:
    return text.startswith(b'{"type":"result"') and orjson.loads(text)["type"] == "result"


def _play_game(file: BinaryIO, run: RunFacts, game: Game, seed: int) -> int:
    name = game_id(run, game, seed)
    personas: dict[Agent, str] = {"A": run.model_a, "B": run.model_b}
    players = {agent: PersonaPlayer(personas[agent], agent, game.puzzle.clues(agent), seed=seed) for agent in AGENTS}
    _put(file, line(game_line(run, game, seed)))
    while (agent := game.next_agent) is not None:
        seen = game.observe(agent)
        made = game.act(agent, players[agent].answer(seen))
        _put(file, line(turn_line(run, name, seen, made)))
    _put(file, line(result_line(name, game.answers, game.puzzle.size)))
    return game.turn


def _put(file: BinaryIO, text: bytes) -> None:
    """Write a whole line at once, so that whoever reads the file meanwhile sees whole lines."""
    file.write(text)
    file.flush()
