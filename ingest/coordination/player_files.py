"""Reads the CSV files that the published players of Hanabi and Overcooked write, one a player.

Two Hanabi files make a game, told by the starting player's; each Overcooked file is a record of its own. Format: docs/coordination.md.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Final

from games.coordination.hanabi.table import PLAYERS_IN_ORDER
from games.coordination.players import Player, partner_of
from ingest.coordination import hanabi_csv, kitchen_csv
from ingest.coordination.csv_rows import TextTable, read_rows
from ingest.coordination.parts import GameParts
from ingest.coordination.player_names import other_half, player_file
from ingest.coordination.rows import game_rows
from ingest.reading.adapter_types import Place, Reading, episode_id
from schemas.errors import BadInputError

__all__ = ["FORMAT", "PATH_PARTS", "VERSION", "companions", "read", "resembles", "sniff"]

FORMAT: Final = "coordination_players"
VERSION: Final = 7
PATH_PARTS: Final = 1
"""Model and time stand in the name only."""

_HEADING_LEFT: Final = re.compile(
    rb"Partner Card Knowledge,Board Information,|Selected Action,Selected Action in Hanabi Space"
    rb"|_distance_from_(?:Alice|Bob),|,full_state_description,selected_action,llm_response"
)


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether a published player of Hanabi or Overcooked wrote it."""
    return head.startswith((hanabi_csv.HEADING, kitchen_csv.HEADING))


def resembles(head: bytes, name: str) -> bool:
    """Tell whether a file that does not begin so is one whose beginning is damaged: by its name, or by what is left of its heading."""
    return player_file(name) is not None or _HEADING_LEFT.search(head) is not None


def companions(path: Path) -> tuple[Path, ...]:
    """Files that are read together with this one: the other half of a game of Hanabi."""
    other = other_half(path)
    return () if other is None else (other,)


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it has no row, is no such file, or is half a game of Hanabi.
    """
    started = time.perf_counter()
    rows = read_rows(data)
    found = _hanabi(rows, place) if data.startswith(hanabi_csv.HEADING) else _kitchen(rows, place)
    found.replay_s = time.perf_counter() - started
    return found


def _hanabi(rows: TextTable, place: Place) -> Reading:
    path, player = Path(place.path), hanabi_csv.player_of(rows)
    named = player_file(path.name)
    if named is not None and named.player != player:  # the name alone tells the model: it would be the partner's
        raise BadInputError(f"its rows are {player}'s, though it is called {named.player}'s: give both halves of the game their own names")
    other = other_half(path)
    if other is None:
        raise BadInputError(
            f"half a game: {player}'s own cards stand in {partner_of(player)}'s file only; "
            f"put {partner_of(player)}_<model>_<time>.csv of the same game beside it, under the published names"
        )
    partner = partner_of(player)
    files: dict[Player, TextTable] = {player: rows, partner: _half(other, partner)}
    if player != PLAYERS_IN_ORDER[0]:
        return Reading(note=f"the other half of the game in {other.name}")
    models = {player: _model(path), partner: _model(other)}
    name = re.sub(rf"^{player}_|\.csv$", "", path.name)
    parts, rejects = hanabi_csv.hanabi_record(name, files, models)
    return _added(name, parts, rejects, place)


def _half(path: Path, player: Player) -> TextTable:
    """The rows of the other half.

    Raises:
        BadInputError: it is damaged or another player's, so that this half alone is left.
    """
    try:
        rows = read_rows(path.read_bytes())
        is_that_players = hanabi_csv.player_of(rows) == player
    except BadInputError as error:
        raise BadInputError(f"half a game: {path.name} beside it is damaged ({error.reason}): copy it again") from error
    if not is_that_players:
        raise BadInputError(f"half a game: {path.name} beside it is not {player}'s, though it is called so")
    return rows


def _kitchen(rows: TextTable, place: Place) -> Reading:
    path = Path(place.path)
    parts = kitchen_csv.kitchen_record(kitchen_csv.player_of(rows), rows, _model(path))
    return _added(path.stem, parts, [rows.cut] if rows.cut else [], place)


def _added(name: str, parts: GameParts, rejects: list[BadInputError], place: Place) -> Reading:
    named = player_file(Path(place.path).name)
    parts.started_at = None if named is None else named.started_at
    complete = parts.stop_reason is not None
    found = game_rows(episode_id("coordination", place.path), parts, place, {"episode": name, "complete": complete, "console": True})
    found.rejects += rejects
    return found


def _model(path: Path) -> str | None:
    named = player_file(path.name)
    return None if named is None else named.model
