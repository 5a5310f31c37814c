"""Collab-Overcooked games in cotrace's own log: played again from their replies, and measured as the published logs are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from games.overcooked.engine.layout import AGENTS
from games.overcooked.game import document
from games.overcooked.setup import GameSetup, Kitchen, course_of, game_of, header_of
from ingest.cotrace_log.derivation import Derived, derived, played_again, without_lost_replies
from ingest.overcooked.adapter import read
from ingest.reading.adapter_types import Place
from schemas.game import End, Header, Turn

_TABLES: Final = ("episode_metrics", "turn_metrics", "turn_values", "oracle_actions", "failures")
"""What the rules give; the rest is taken from the log. Playing again tells what differs, not a look at what was played again."""


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Play a game again; see `ingest.cotrace_log.derivation.Derivation`."""
    game = game_of(header)
    kitchen = Kitchen.of(game)
    again = played_again(course_of(game, kitchen), turns)
    published = read(_document(game, kitchen, len(turns)), Place(path=episode, file=episode, source_id=""))
    rows = {table: [row._replace(episode_id=episode) for row in _rows(published.rows[table])] for table in _TABLES}
    rows["failures"] = without_lost_replies(_rows(rows["failures"]), turns, "format")
    (measured,) = _rows(published.rows["episodes"])
    details = {name: value for name, value in orjson.loads(measured.details).items() if name != "complete"}
    found = derived((header, turns, end), header_of(game), again, episode, rows)
    return replace(found, progress=[row.progress for row in _rows(published.rows["turns"])], details=details)


def _rows(records: Sequence[Any]) -> Sequence[Any]:
    """Records of any table."""
    return records


def _document(game: GameSetup, kitchen: Kitchen, steps: int) -> bytes:
    """The game as the published code would have logged it."""
    own = {
        "version": 1,
        "players": [{"model": game.taken[agent]} for agent in AGENTS],
        "seed": game.seed,
        "horizon": game.horizon,
        "rules": game.rules,
        "order": game.order,
        "complete": kitchen.game.over,
        **({} if game.layout.source is None else {"kitchen": game.layout.source}),
    }
    return orjson.dumps(document(kitchen.game.world, kitchen.game.recorded, kitchen.entries[:steps], own))
