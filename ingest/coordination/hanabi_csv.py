"""The published Hanabi players' own CSV files, one a player, put together to one game.

Each file has what its player saw, so a hand is in the partner's file only. Merged in turn, beginning with Bob, and replayed from the
first deal, the two give the whole game. Of a game that was cut they lack the card that was drawn after its last turn. Format:
docs/dev/benchmark_rules.md.
"""

import ast
import csv
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from games.coordination import hanabi as rules
from games.coordination.players import PLAYERS, Player
from ingest.coordination.game import GameParts, state_text
from ingest.coordination.hanabi import hanabi_game
from ingest.coordination.records import HanabiStep
from ingest.reading.adapter_types import Difference, checked
from ingest.reading.text import loads, utf8
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt, replace_lone_surrogates


class TextTable(NamedTuple):
    """A table of text."""

    names: tuple[str, ...]
    """Of its columns; the first one, which numbers the rows, is empty."""
    rows: list[dict[str, str]]
    """Whole rows, numbered from 0 without a gap."""
    cut: BadInputError | None
    """Why the table ends before the file does; None if it does not."""


def read_rows(data: bytes) -> TextTable:
    """Read a file up to the first row that is cut or missing.

    Raises:
        BadInputError: it has no row.
    """
    csv.field_size_limit(sys.maxsize)
    data = utf8(data)
    reader = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
    names = tuple(next(reader, ()))
    if data and not names:
        raise BadInputError("no heading in the first line: the file is damaged")
    rows: list[dict[str, str]] = []
    cut = None
    for fields in reader:
        cut = _fault(names, fields, len(rows))
        if cut is not None:
            break
        rows.append(dict(zip(names, fields, strict=True)))
    if cut is None and rows and not data.endswith((b"\n", b"\r")):
        rows.pop()
        cut = BadInputError("the last row breaks off: the record ends before it", locator=f"row {len(rows)}")
    if not rows:
        raise cut or BadInputError("no row: the game ended at once, or the file was cut")
    return TextTable(names, rows, cut)


def _fault(names: tuple[str, ...], fields: list[str], expected: int) -> BadInputError | None:
    place = f"row {expected}"
    if len(fields) != len(names):
        reason = f"{len(fields)} fields where the heading has {len(names)}: the record ends before it"
        return BadInputError(reason, locator=place, excerpt=excerpt(",".join(fields)))
    if fields[0] != str(expected):
        return BadInputError(f"row {excerpt(fields[0])!r} comes where {expected} belongs: the record ends there", locator=place)
    return None


_QUOTED: Final = ("My Card Knowledge", "Partner Card Knowledge", "Soft Constraints", "Prev Actions", "Epistemic Information")
"""Columns whose text is in the state verbatim."""

_NUMBERED_CARD: Final = re.compile(r"\[Card \d: (\w+ \d)\]")
_BOARD: Final = re.compile(
    r"We have (\d{1,9}) reveal tokens, (\d{1,9}) life tokens\. The discard pile consists (\[.*?\]) and the deck size is (\d{1,9})"
)
_TABLE: Final = re.compile(
    r"Remaining Reveal Tokens: (\d{1,9})\s+Remaining Lives: (\d{1,9})\s+Deck Size: (\d{1,9})\s+The discard pile is: (\[.*?\])"
)
_NOTHING_DONE: Final = "My Action History:"
_COUNT_WORDS: Final = {
    "_num_onions": "{name} contains {value} out of 3 onions",
    "_soup_in_cooker_status": "soup in {name} is {value}",
    "_cooker_status": "{name} is {value}",
    " object": "{name} contains {value}",
}
"""End of a column's name -> how the text states it, longer ends first."""

_OTHERWISE: Final = {"infinite": "{name} is inaccessible", "empty": "{name} is empty"}
"""Values that the text states in words of its own."""


def hanabi_row_differences(fields: Mapping[str, str]) -> Iterator[Difference]:
    """The columns of a Hanabi player's row against its column `State`."""
    state = fields.get("State", "")
    for name in _QUOTED:
        text = fields.get(name, "").strip()
        if text not in state and text != _NOTHING_DONE:
            yield Difference(name, repr(text), repr(None))
    if "Partner Cards" in fields and _NUMBERED_CARD.findall(fields["Partner Cards"]) != _NUMBERED_CARD.findall(state):
        yield Difference("Partner Cards", repr(_NUMBERED_CARD.findall(fields["Partner Cards"])), repr(_NUMBERED_CARD.findall(state)))
    board, table = _BOARD.search(fields.get("Board Information", "")), _TABLE.search(state)
    if "Board Information" in fields and table is not None:
        tokens, lives, deck, discards = table.groups()
        if board is None or board.groups() != (tokens, lives, discards, deck):
            yield Difference("Board Information", repr(board and board.groups()), repr((tokens, lives, discards, deck)))
    chosen, listed = fields.get("Selected Action", "").lower(), fields.get("Available Actions", "").lower()
    if listed and chosen not in listed:
        yield Difference("Selected Action", repr(chosen), repr(None))
    if "Message" in fields and state.strip() not in "\n".join(_contents(fields["Message"])):
        yield Difference("Message", repr(fields["Message"][:200]), repr(None))


def kitchen_row_differences(fields: Mapping[str, str], chosen: Sequence[str]) -> Iterator[Difference]:
    """The columns of an Overcooked player's row against its column `full_state_description`, and against what was chosen in all rows."""
    text = fields["full_state_description"]
    for name, value in fields.items():
        words = _as_words(name, value)
        if words is not None and words.lower() not in text.lower():
            yield Difference(name, repr(value), repr(None))
    partner_is_shown = any(f"{player} is holding" in text for player in PLAYERS)
    if partner_is_shown and f" is holding {fields['other_player_held_object']}." not in text:
        yield Difference("other_player_held_object", repr(fields["other_player_held_object"]), repr(None))
    if fields["selected_action"] not in fields["available_actions"]:
        yield Difference("selected_action", repr(fields["selected_action"]), repr(fields["available_actions"]))
    done = _literal(fields["action_history"])
    if not isinstance(done, list) or done != list(chosen[: len(done)]):
        yield Difference("action_history", fields["action_history"], repr(chosen))


def _as_words(name: str, value: str) -> str | None:
    """How the text writes the value of a column; None for columns of another kind."""
    if name == "player_held_object":
        return f"I am holding {value}."
    if "_distance_from_" in name:
        wording = _OTHERWISE.get(value, "{name} is {value} units away" if value.isdecimal() else "{name} is {value}")
        return wording.format(name=name.partition("_")[0], value=value)
    end = next((end for end in _COUNT_WORDS if name.endswith(end)), None)
    return None if end is None else _OTHERWISE.get(value, _COUNT_WORDS[end]).format(name=name.removesuffix(end), value=value)


def _contents(message: str) -> list[str]:
    """The texts of a list of messages as Python writes it."""
    found = _literal(message)
    return [str(entry.get("content")) for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _literal(text: str) -> object:
    try:
        return replace_lone_surrogates(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


HEADING: Final = b",Stack,My Card Knowledge,Partner Cards,"
"""How such a file begins."""

_TURN: Final = re.compile(r"currently My \((Alice|Bob)\) turn\. Current Stacks: ([^\n]*)")
_OWN: Final = re.compile(r"^Card \d could be: \[([^\]]*)\] \[([^\]]*)\]", re.MULTILINE)
_PARTNERS: Final = re.compile(r"^\w+ believes (?:his|her) Card \d could be: \[([^\]]*)\] \[([^\]]*)\]", re.MULTILINE)
_CARD: Final = re.compile(r"^\[Card \d: (Red|Yellow|Green|White|Blue) ([1-5])\]", re.MULTILINE)
_COUNTS: Final = re.compile(
    r"^Remaining Reveal Tokens: (\d)\s+Remaining Lives: (\d)\s+Deck Size: (\d{1,9})\s+The discard pile is: \[([^\]]*)\]", re.MULTILINE
)
_MOVE: Final = re.compile(r"\((Play|Discard) (\d)\)|\(Reveal player \+1 (color|rank) ([RYGWB1-5])\)")
_THOUGHT: Final = re.compile(r"^Interpretation of \w+'s Last Action: (.*?)\.? ?\n You can use the clue suggestion", re.DOTALL)
_VERDICTS: Final = " ***** "
_ACKNOWLEDGED: Final = 1
"""Replies in a message list that are no answers: the acknowledgement of the rules."""


class _View(NamedTuple):
    """What a player sees of the table."""

    stacks: Mapping[str, int]
    tokens: int
    lives: int
    deck: int
    discards: tuple[str, ...]
    partner_cards: tuple[str, ...]
    own_knowledge: tuple[tuple[str, str], ...]
    """Of each card the possible colours and ranks, by hints."""
    partner_knowledge: tuple[tuple[str, str], ...]


class _Row(NamedTuple):
    """What a player saw before its turn, and what it did."""

    player: Player
    place: str
    """Where it is."""
    view: _View
    move: rules.Move
    fields: Mapping[str, str]


def player_of(rows: TextTable) -> Player:
    """Whose file it is.

    Raises:
        BadInputError: it does not say.
    """
    found = _TURN.search(rows.rows[0].get("State", ""))
    if found is None:
        raise BadInputError(
            "no 'It is currently My (Alice|Bob) turn' in the first state: this is not a Hanabi player's file", locator="row 0"
        )
    return "Alice" if found[1] == "Alice" else "Bob"


def hanabi_record(
    name: str, files: Mapping[Player, TextTable], models: Mapping[Player, str | None]
) -> tuple[GameParts, list[BadInputError]]:
    """The game of two files, and why it ends before they do, if it does.

    Args:
        name: of the game.
        files: both players' rows.
        models: both players' models; None where unknown.

    Raises:
        BadInputError: the files are not of one game, or a row of the first two cannot be read.
    """
    rejects: list[BadInputError] = [
        BadInputError(rows.cut.reason, locator=f"{player}'s file, {rows.cut.locator}", excerpt=rows.cut.excerpt)
        for player, rows in files.items()
        if rows.cut
    ]
    rows = _merged(files, rejects)
    states = _replayed(rows, rejects)
    steps = [_step(name, rows, states, turn, models) for turn in range(len(states) - 1)]
    parts = hanabi_game(steps)
    for turn, row in zip(parts.turns, rows, strict=False):
        turn.differences = [*turn.differences, *hanabi_row_differences(row.fields)]
    if not steps[-1].terminal and rows[len(steps) - 1].move.card is not None and steps[-1].state_after.deck_size:
        _forget_the_drawn_card(parts, steps[-1].player)
    return parts, rejects


def _merged(files: Mapping[Player, TextTable], rejects: list[BadInputError]) -> list[_Row]:
    """The rows of both in turn, up to the first that is missing or cannot be read."""
    first, second = (files[player].rows for player in rules.PLAYERS_IN_ORDER)
    merged: list[_Row] = []
    for number, pair in enumerate(zip_longest(first, second)):
        for player, fields in zip(rules.PLAYERS_IN_ORDER, pair, strict=True):
            place = f"{player}'s file, row {number}"
            if fields is None:
                if number < max(len(first), len(second)) - (player == rules.PLAYERS_IN_ORDER[1]):
                    rejects.append(BadInputError("missing, though the partner's file goes on: the game ends there", locator=place))
                return merged
            try:
                merged.append(_row(player, place, fields))
            except BadInputError as error:
                rejects.append(error)
                return merged
    return merged


def _row(player: Player, place: str, fields: Mapping[str, str]) -> _Row:
    text = fields.get("State", "")
    turn, counts, move = _TURN.search(text), _COUNTS.search(text), _MOVE.fullmatch(fields.get("Selected Action in Hanabi Space", ""))
    if turn is None or counts is None or move is None or turn[1] != player:
        what = "the move" if move is None and turn and counts else "the state"
        raise BadInputError(f"{what} cannot be read: the game ends there", locator=place, excerpt=excerpt(text))
    view = _View(
        stacks={
            rules.COLOR_LETTERS[color]: int(rank) for color, rank in re.findall(r"(\w+) (\d)", turn[2]) if color in rules.COLOR_LETTERS
        },
        tokens=int(counts[1]),
        lives=int(counts[2]),
        deck=int(counts[3]),
        discards=tuple(card.strip() for card in counts[4].split(",") if card.strip()),
        partner_cards=tuple(f"{rules.COLOR_LETTERS[color]}{rank}" for color, rank in _CARD.findall(text)),
        own_knowledge=_known(_OWN.findall(text)),
        partner_knowledge=_known(_PARTNERS.findall(text)),
    )
    return _Row(player, place, view, _moved(move), fields)


def _known(found: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(
        ("".join(rules.COLOR_LETTERS.get(name, "?") for name in colors.split(", ") if name), ranks.replace(", ", ""))
        for colors, ranks in found
    )


def _moved(found: re.Match[str]) -> rules.Move:
    if found[1]:
        return rules.Move("play" if found[1] == "Play" else "discard", card=int(found[2]))
    return rules.Move("reveal_color" if found[3] == "color" else "reveal_rank", value=found[4])


def _replayed(rows: Sequence[_Row], rejects: list[BadInputError]) -> list[rules.HanabiState]:
    """The table before each turn that agrees with the files, and after the last, without the card that was drawn then."""
    if len(rows) <= 1:
        raise rejects[-1] if rejects else BadInputError("fewer than two turns: the hands cannot be known")
    first, after = rows[0], rows[1].view
    own = list(after.partner_cards)
    if first.move.card is not None:
        gone = [*after.discards, *(f"{color}{rank}" for color, rank in after.stacks.items() if rank)]
        own = [*own[: first.move.card], *gone[:1], *own[first.move.card : -1]]
    if len(own) != rules.HAND or len(first.view.partner_cards) != rules.HAND:
        raise BadInputError("the first two states do not show five cards each: the first deal cannot be known", locator=first.place)
    state, states = rules.deal([*own, *first.view.partner_cards]), list[rules.HanabiState]()
    for turn, row in enumerate(rows):
        seat = turn % 2
        here = zip(_View._fields, row.view, _view(state, seat), strict=True)
        differing = [name.replace("_", " ") for name, logged, expected in here if logged != expected]
        if differing or not rules.is_legal(state, seat, row.move):
            what = f"{', '.join(differing)} do not follow from what was played before" if differing else "the move is against the rules"
            if turn <= 1:
                raise BadInputError(f"{what}: the two files are not of one game", locator=row.place)
            rejects.append(BadInputError(f"{what}: a row is missing, or the files are not of one game; it ends there", locator=row.place))
            break
        states.append(state)
        following = rows[turn + 1] if turn + 1 < len(rows) else None
        state, _ = rules.apply(state, seat, row.move, _drawn(state, following))
    return [*states, state]


def _drawn(state: rules.HanabiState, following: _Row | None) -> str | None:
    """The card that was taken up before the next row; a row that shows no card is found out by its own comparison."""
    took_one = following is not None and following.view.deck < state.deck
    return following.view.partner_cards[-1] if following is not None and took_one and following.view.partner_cards else None


def _view(state: rules.HanabiState, seat: int) -> _View:
    """What a player sees by the rules."""
    return _View(
        stacks=dict(state.fireworks),
        tokens=state.tokens,
        lives=state.lives,
        deck=state.deck,
        discards=state.discards,
        partner_cards=state.hands[1 - seat],
        own_knowledge=_possible(state.knowledge[seat]),
        partner_knowledge=_possible(state.knowledge[1 - seat]),
    )


def _possible(known: Sequence[rules.Known]) -> tuple[tuple[str, str], ...]:
    return tuple(("".join(color for color in rules.COLORS if color in card.colors), card.ranks) for card in known)


def _step(
    name: str, rows: Sequence[_Row], states: Sequence[rules.HanabiState], turn: int, models: Mapping[Player, str | None]
) -> HanabiStep:
    row, state = rows[turn], states[turn]
    after = states[turn + 1]
    drawn = after.hands[turn % 2][-1] if after.deck < state.deck else None
    _, effect = rules.apply(state, turn % 2, row.move, drawn)
    calls = _calls(row.fields)
    return checked(
        HanabiStep,
        {
            "episode": name,
            "turn": turn + 1,
            "player": row.player,
            "seat": turn % 2,
            "policy": models[row.player],
            "state_before": _plain(rules.shown_table(state)),
            "state_after": _plain(rules.shown_table(after)),
            "calls": calls,
            "n_rejections": max(0, sum(call["stage"] == "verifier" for call in calls) - 1),
            "legal_actions": row.fields.get("Available Actions", "").splitlines()[1:],
            "selected_action": row.fields.get("Selected Action", ""),
            "engine_move": rules.shown_move(row.move),
            "effect": _plain(rules.shown_effect(effect)),
            "terminal": turn == len(states) - 2 and _is_over(states),
        },
    )


def _is_over(states: Sequence[rules.HanabiState]) -> bool:
    """No life, all stacks, or both have moved since the last card was drawn."""
    last = states[-1]
    return last.lives == 0 or last.stacked == rules.MAX_SCORE or [state.deck for state in states[-3:-1]] == [0, 0]


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Tuples as lists, as JSON has them."""
    return {name: _listed(value) for name, value in record.items()}


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain(value)
    return [_listed(entry) for entry in value] if isinstance(value, tuple | list) else value


def _calls(fields: Mapping[str, str]) -> list[dict[str, str]]:
    """The replies in order; what the verifier rejected is in the message list only."""
    thought = fields.get("Epistemic Information", "")
    found = _THOUGHT.search(thought)
    calls = [{"stage": "tom", "text": found[1] if found else thought}] if thought.strip() else []
    choices = [*_rejected(fields.get("Message", "")), fields.get("Generator Response", "")]
    verdicts = [text for text in fields.get("VERIFICATION Response", "").split(_VERDICTS) if text.strip()]
    for choice, verdict in zip_longest(choices, verdicts):
        calls += [{"stage": "generator", "text": choice}] if choice else []
        calls += [{"stage": "verifier", "text": verdict}] if verdict else []
    return calls


def _rejected(message: str) -> list[str]:
    try:
        entries = replace_lone_surrogates(ast.literal_eval(message))
        replies = [str(entry["content"]) for entry in entries if entry["role"] == "assistant"]
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        return []
    return replies[_ACKNOWLEDGED:]


def _forget_the_drawn_card(parts: GameParts, player: Player) -> None:
    """The game went on, so a card was drawn, and no file states which: its place in the hand is null."""
    last = parts.turns[-1]
    after = loads(last.after.encode())
    after["deck_size"] -= 1
    after["hands"][player].append(None)
    after["knowledge"][player].append(rules.Known()._asdict())
    last.after = state_text(after)
