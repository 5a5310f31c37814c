"""Replay: the CRAFT engine recomputes published games (state, candidates, metrics, flags), against `json.loads` of the same files.

Caches of the engine are emptied before every round. Where the published games are not beside the project, cotrace's own take their place.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.figures import Figure, seconds
from benchmarks.timing import forget, medians
from benchmarks.workload import craft_games as own_games
from games.craft.engine.board import Board
from games.craft.engine.rules import Move
from games.craft.game import replay

__all__ = ["CraftGame", "craft_games", "replay_craft", "run"]

_PUBLISHED: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "craft"
_OWN_GAMES: Final = 100
_ROUNDS: Final = 5
_MOVES: Final = ("place", "remove")


class CraftGame(NamedTuple):
    """A game to replay."""

    start: Board
    target: Board
    moves: list[Move | None]


def run() -> list[Figure]:
    """Measure."""
    texts, published = _texts()
    games = _games(texts, published=published)
    turns = sum(len(game.moves) for game in games)
    taken = medians(_ROUNDS, {"base": partial(_load, texts), "ours": partial(replay_craft, games)})
    ours, base = taken["ours"].wall_s, taken["base"].wall_s
    name = f"{turns:,} turns of {len(games)} {'published' if published else 'own'} games"
    return [
        Figure(
            f"{name}: {turns / ours:,.0f} turns/s, one process",
            seconds(ours),
            f"{seconds(base)}: json.loads of their {sum(map(len, texts)) / 1e6:.0f} MB",
            ours / base,
        )
    ]


def craft_games() -> list[CraftGame]:
    """The published games or, where they are not beside the project, cotrace's own."""
    texts, published = _texts()
    return _games(texts, published=published)


def _texts() -> tuple[list[str], bool]:
    files = sorted(_PUBLISHED.glob("*_*/**/craft_*.json"))
    return [path.read_text(encoding="utf-8") for path in files or own_games(_OWN_GAMES)], bool(files)


def _games(texts: list[str], *, published: bool) -> list[CraftGame]:
    return [game for text in texts for game in (_published(text) if published else _own(text))]


def _load(texts: list[str]) -> None:
    for text in texts:
        for line in [text] if text.startswith("{\n") or "\n{" not in text else text.splitlines():
            json.loads(line)


def replay_craft(games: list[CraftGame]) -> None:
    """Replay games with empty caches."""
    forget("games.craft")
    for game in games:
        for _ in replay(game.start, game.target, game.moves):
            pass


def _published(text: str) -> Iterator[CraftGame]:
    for game in json.loads(text)["games"]:
        turns = game.get("turns")
        if turns:
            start = Board.from_json(turns[0]["structure_before"], turns[0].get("spans_before"))
            moves = [_move(turn.get("builder_move_raw") or turn.get("move_attempted")) for turn in turns]
            yield CraftGame(start, Board.from_json(game["target_structure"], game["target_spans"]), moves)


def _move(logged: dict[str, Any] | None) -> Move | None:
    return None if logged is None else Move.from_log(logged)


def _own(text: str) -> Iterator[CraftGame]:
    header, *turns = [json.loads(line) for line in text.splitlines()]
    goal, start = header["task"]["goal"], turns[0]["state_before"]
    moves = [_own_move(turn) for turn in turns if "turn" in turn]
    yield CraftGame(Board.from_json(start["stacks"], start["spans"]), Board.from_json(goal["stacks"], goal["spans"]), moves)


def _own_move(turn: dict[str, Any]) -> Move | None:
    action = next((action for action in turn["actions"] if action["verb"] in _MOVES), None)
    return None if action is None else Move.from_log({"action": action["verb"], **action["arguments"]})
