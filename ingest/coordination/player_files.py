"""Reads the CSV files that the published players of Hanabi and Overcooked write, one a player."""

import re
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from games.coordination.hanabi import PLAYERS_IN_ORDER
from games.coordination.kitchen import COOKING_TICKS, LAYOUTS, Item, Layout, macro_category
from games.coordination.players import PLAYERS, Player, partner_of, read_of
from ingest.coordination import hanabi_csv
from ingest.coordination.game import Category, GameParts, PrivateReply, TurnParts, act, game_rows, own_moves, reading, state_text
from ingest.coordination.hanabi_csv import TextTable, kitchen_row_differences, read_rows
from ingest.reading.adapter_types import Place, Reading, episode_id
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

_TIME: Final = "%Y-%m-%d_%H-%M-%S"
_STAMP: Final = r"_(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)\.csv"
_HANABI: Final = re.compile(rf"(Alice|Bob)_(.+){_STAMP}")
_KITCHEN: Final = re.compile(rf"(?:.+)_ai_(.+)_player_([01]){_STAMP}")


class PlayerFile(NamedTuple):
    """What a name contains."""

    player: Player
    model: str
    started_at: datetime


def player_file(name: str) -> PlayerFile | None:
    """`Bob_gpt-4_2024-03-28_16-39-54.csv` or `cramped_room_ai_gpt-4_player_0_2024-03-28_16-39-54.csv`; None for other names."""
    if found := _HANABI.fullmatch(name):
        return _parsed(found[1], found[2], found[3])
    if found := _KITCHEN.fullmatch(name):
        return _parsed(PLAYERS[int(found[2])], found[1], found[3])
    return None


def _parsed(player: str, model: str, stamp: str) -> PlayerFile | None:
    try:
        started_at = datetime.strptime(stamp, _TIME)  # noqa: DTZ007  # local time of the log, as everywhere in the store
    except ValueError:
        return None
    return PlayerFile("Alice" if player == "Alice" else "Bob", model, started_at)


def other_half(path: Path) -> Path | None:
    """The partner's Hanabi file of the same game: in the same folder, nearest in time, and this one is nearest to it.

    The two players of a game take their time stamps one after the other, so the stamps may differ by seconds.
    """
    found = _nearest(path)
    return found if found is not None and _nearest(found) == path else None


def _nearest(path: Path) -> Path | None:
    own = player_file(path.name)
    if own is None:
        return None
    candidates = {
        other: named
        for other in path.parent.glob(f"{partner_of(own.player)}_*.csv")
        if (named := player_file(other.name)) is not None and named.player != own.player
    }

    def distance(other: Path) -> tuple[float, bool, str]:
        named = candidates[other]
        return abs((named.started_at - own.started_at).total_seconds()), named.model != own.model, other.name

    return min(candidates, key=distance, default=None)


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
    return head.startswith((hanabi_csv.HEADING, _KITCHEN_HEADING))


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
    if data.startswith(hanabi_csv.HEADING):
        found = _hanabi(rows, place)
    else:
        path = Path(place.path)
        parts = kitchen_record(player_of(rows), rows, _model(path))
        found = _added(path.stem, parts, [rows.cut] if rows.cut else [], place)
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
            f"put {partner_of(player)}_<model>_<time>.csv of the same game next to it, under the published names"
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
        raise BadInputError(f"half a game: {path.name} next to it is damaged ({error.reason}): copy it again") from error
    if not is_that_players:
        raise BadInputError(f"half a game: {path.name} next to it is not {player}'s, though it is called so")
    return rows


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


_KITCHEN_HEADING: Final = b",action_history,player_held_object,other_player_held_object,"
"""How such a file begins."""

_DISTANCE: Final = re.compile(r"([opcds]\d+)_distance_from_(Alice|Bob)")
_NO_REPLY: Final = ("failed_call", "no reply: the published harness waits instead")
_MOST_DIGITS: Final = 9
_TICKS: Final = {"not cooking": 0, "still cooking": 1, "cooked": COOKING_TICKS}
"""Words for a soup -> ticks that mean the same to the rules."""


def player_of(rows: TextTable) -> Player:
    """Whose file it is: the own distances come first.

    Raises:
        BadInputError: it does not say.
    """
    found = next(filter(None, map(_DISTANCE.fullmatch, rows.names)), None)
    if found is None:
        raise BadInputError("no column such as o0_distance_from_Alice: this is not an Overcooked player's file")
    return "Alice" if found[2] == "Alice" else "Bob"


def kitchen_record(player: Player, rows: TextTable, model: str | None) -> GameParts:
    """The decisions of one player.

    Raises:
        BadInputError: no kitchen has the places that the columns name, or a cooker's contents cannot be read.
    """
    layout = _layout(rows)
    states = [_state(layout, player, row, place) for place, row in enumerate(rows.rows)]
    unknown = dict.fromkeys(states[0]) | {"layout": layout.name, "player": player}
    turns = [_turn(player, row, before, after) for row, before, after in zip(rows.rows, states, [*states[1:], unknown], strict=True)]
    chosen = [row["selected_action"] for row in rows.rows]
    for turn, row in zip(turns, rows.rows, strict=True):
        turn.differences = list(kitchen_row_differences(row, chosen))
    return GameParts(
        game="overcooked",
        task_id=layout.name,
        condition={"game": "overcooked", "layout": layout.name, "record": "one player"},
        policies={name: model if name == player else None for name in PLAYERS},
        styles=dict.fromkeys(PLAYERS),
        score=None,
        stop_reason=None,
        metrics={"decisions": len(turns), "deliveries_seen": sum(map(_delivered, chosen, states, [*states[1:], unknown]))},
        turns=turns,
        goal={"soups": "as many as possible"},
    )


def _layout(rows: TextTable) -> Layout:
    """The kitchen that has just the places of the columns; kitchen counters have none."""
    named = {found[1] for found in map(_DISTANCE.fullmatch, rows.names) if found}
    for layout in LAYOUTS.values():
        if {name for name in layout.names if not name.startswith("k")} == named:
            return layout
    raise BadInputError(f"no known kitchen has just the places {', '.join(sorted(named))}: there are {', '.join(LAYOUTS)}")


def _state(layout: Layout, player: Player, row: Mapping[str, str], place: int) -> dict[str, Any]:
    """The kitchen by the row, and whose hands and paths the player was shown."""
    cookers = {name: _cooker(name, row, place) for name in layout.names if name.startswith("c")}
    partner = partner_of(player)
    partner_known = f"{partner} is holding" in row["full_state_description"]
    distances = {who: {name: row[column] for name in layout.names if (column := f"{name}_distance_from_{who}") in row} for who in PLAYERS}
    return {
        "layout": layout.name,
        "player": player,
        "held": {player: row["player_held_object"]} | ({partner: row["other_player_held_object"]} if partner_known else {}),
        "cookers": cookers,
        "counters": {name: row[f"{name} object"] for name in layout.names if f"{name} object" in row},
        "distances": {who: found for who, found in distances.items() if found},
    }


def _cooker(name: str, row: Mapping[str, str], place: int) -> dict[str, object]:
    onions, soup = row.get(f"{name}_num_onions", ""), row.get(f"{name}_soup_in_cooker_status", "")
    if not onions.isdecimal() or len(onions) > _MOST_DIGITS or soup not in _TICKS:
        raise BadInputError(
            f"the contents of cooker {name} cannot be read ({excerpt(onions, 20)!r} onions, soup {excerpt(soup, 20)!r})",
            locator=f"row {place}",
        )
    return {"onions": int(onions), "soup": soup}


def _turn(player: Player, row: Mapping[str, str], before: Mapping[str, Any], after: Mapping[str, Any]) -> TurnParts:
    macro, reply = row["selected_action"], row["llm_response"]
    pots = {
        name: Item("soup", cooker["onions"], _TICKS[cooker["soup"]]) if cooker["onions"] else None
        for name, cooker in before["cookers"].items()
    }
    fault = None if reply.strip() else _NO_REPLY
    first, _, rest = macro.rstrip(".").partition(" ")
    done = act(
        (player, (f"{first}_{rest.split(' ', 1)[0]}" if first in {"pick", "move"} else first)), {"macro": macro, "asked": True}, None, fault
    )
    return TurnParts(
        before=state_text(before),
        after=state_text(after),
        progress=None,
        goal_reached=None,
        replies=[PrivateReply(player, reply)] if reply.strip() else [],
        acts=[done if fault else done._replace(accepted=None)],  # the file does not say what came of it
        categories=own_moves(
            [
                Category(player, "overcooked_macro", *macro_category(pots, macro)),
                *reading(player, read_of(reply, macro, at_random=True), reply),
            ]
        ),
    )


def _delivered(macro: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """A soup was meant for delivery, and at the next decision it is not in the hand any more."""
    held = None if after["held"] is None else after["held"][before["player"]]
    return macro.startswith("place soup for delivery") and held == "nothing"
