"""Single messages of CRAFT: read by rules or, where people have written down what they claim, made games of a store.

So readers are measured on them as on any game; see `judges.claims.readers`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from games.craft.claims import TYPES, CraftClaim, Remark, Request
from judges.claims.extraction import READ
from judges.claims.readers import AnnotatedMessages
from judges.craft.language.reader import checked_record, claims_of
from judges.evidence.transcript import PLANTED
from schemas.claims import kind_of, read_claim, written
from schemas.common.errors import BadInputError, CotraceError, UsageError
from schemas.common.text import text_hash
from schemas.records import Claim, Episode, Json, Run, Turn, Utterance
from schemas.store.batches import checked
from schemas.store.store import Store

__all__ = ["annotated_messages", "claims_of", "put_messages"]

_RUN: Final = "annotated messages"
_UNKNOWN: Final = "unknown author"
_ABOUT_BLOCKS: Final[tuple[type[Request | Remark], ...]] = (Request, Remark)
"""The kinds of claim that annotations vouch for."""
_ASKING: Final = frozenset({"place", "remove", "replace"})
_SAME: Final = ("verb", "color", "size", "layer")


class _Message(NamedTuple):
    author: str
    game: str
    """Messages of one game are not independent."""
    speaker: str
    text: str
    board: Mapping[str, Any]
    claims: tuple[CraftClaim, ...]


def annotated_messages(messages: Path, annotations: Path) -> AnnotatedMessages:
    """Read messages and what they claim; both may be the same file.

    Args:
        messages: JSON lines `{"id", "speaker", "utterance", "board_before"}`, with `model` or `author` (who wrote), and `structure_id` and
            `model` (the game) where they are known; without, each message is a game of its own.
        annotations: JSON lines `{"id", "claims"}`, claims as `cotrace claims FILE` prints them; with `"ambiguous": true` left out.

    Raises:
        UsageError: a file cannot be read, or nothing of it can be used.
    """
    refused: list[str] = []
    texts = {str(record["id"]): (where, record) for where, record in _records(messages, refused) if "id" in record}
    found: list[_Message] = []
    seen: set[str] = set()
    ambiguous = 0
    for where, record in _records(annotations, refused):
        try:
            name = _id(record, seen)
            if name not in texts:
                raise BadInputError(f"id {name!r} is not a message of {messages.name}: leave it out, or add the message")
            if record.get("ambiguous"):
                ambiguous += 1
                continue
            found.append(_message(texts[name][1], tuple(_claims(record))))
        except CotraceError as error:
            refused.append(f"{where}: {' '.join(str(error).split())}")
    if not found:
        why = f"; first: {refused[0]}" if refused else ""
        raise UsageError(f"--against {annotations}: no annotation of a message of {messages} can be used{why}")
    return AnnotatedMessages(found, refused, ambiguous, len(texts.keys() - seen))


def _records(path: Path, refused: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            refused.append(f"{where}: no JSON ({error})")
            continue
        if isinstance(record, dict):
            yield where, record
        else:
            refused.append(f"{where}: is {type(record).__name__}, not a JSON object")


def _id(record: Mapping[str, Any], seen: set[str]) -> str:
    if "id" not in record:
        raise BadInputError("id is missing; give the id of the message")
    name = str(record["id"])
    if name in seen:
        raise BadInputError(f"id {name!r} is annotated twice; keep one of the two")
    seen.add(name)
    return name


def _claims(record: Mapping[str, Any]) -> Iterator[CraftClaim]:
    claims = record.get("claims")
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
        raise BadInputError(f"record {record['id']!r}: claims must be a list of objects, empty if the message claims nothing")
    for number, claim in enumerate(claims):
        try:
            yield _claim(claim)
        except BadInputError as error:
            raise BadInputError(f"record {record['id']!r}, claims[{number}]: {error}") from error


def _claim(record: Mapping[str, Any]) -> CraftClaim:
    messages: dict[str, Any] = {name: record[name] for name in _SAME if record.get(name) is not None}
    cells, old = record.get("cells") or [], record.get("old") or {}
    if not isinstance(cells, list) or not isinstance(old, dict):
        raise BadInputError("cells must be a list such as ['(0,0)'] or null, and old an object {color, size}")
    messages["cells"] = tuple(cells)
    if record.get("verb") in _ASKING:
        messages |= {f"old_{name}": old[name] for name in ("color", "size") if old.get(name) is not None} | {
            "first": bool(record.get("first"))
        }
        return read_claim(_ABOUT_BLOCKS, {"kind": kind_of(Request), **messages})
    return read_claim(_ABOUT_BLOCKS, {"kind": kind_of(Remark), **messages})


def _message(record: Mapping[str, Any], claims: tuple[CraftClaim, ...]) -> _Message:
    name, speaker, text, board = checked_record(record)
    author = str(record.get("model") or record.get("author") or _UNKNOWN)
    structure = record.get("structure_id")
    return _Message(author, f"{author} {structure or name}", speaker, text, board, claims)


def put_messages(found: AnnotatedMessages, store: Store) -> None:
    """Make a store of the messages: a turn each, in a game for each author and structure; nothing if it is one already.

    Raises:
        StoreError: it cannot be written.
    """
    if store.exists():
        return
    store.path.parent.mkdir(parents=True, exist_ok=True)
    store.create()
    games: dict[str, list[_Message]] = {}
    for one in found.messages:
        games.setdefault(one.game, []).append(one)
    rows: dict[str, list[Any]] = {"runs": [Run(_RUN, "craft", _RUN, Json("{}"), None)], "episodes": [], "turns": []}
    rows |= {"utterances": [], "claims": []}
    for game, messages in games.items():
        rows["episodes"].append(_episode(game, messages))
        for turn, one in enumerate(messages, start=1):
            board = Json(json.dumps({"stacks": dict(one.board)}))
            rows["turns"].append(Turn(game, turn, board))
            rows["utterances"].append(Utterance(game, turn, 1, one.speaker, "public", [one.speaker], one.text))
            rows["claims"] += _claim_rows(game, turn, one)
    columns = checked(rows)
    store.transact(lambda transaction: transaction.insert_columns(columns))


def _episode(game: str, messages: list[_Message]) -> Episode:
    taken = len(messages)
    return Episode(
        episode_id=game, run_id=_RUN, source_id=_RUN, benchmark="craft", task_id=game, level=None, model=messages[0].author,
        team=Json("{}"), seed=None, max_turns=None, turns_taken=taken, success=None, score=None, stop_reason=None, error=None,
        goal=None, details=Json("{}"), file="", started_at=None,
    )  # fmt: skip


def _claim_rows(game: str, turn: int, one: _Message) -> Iterator[Claim]:
    vouched = {"kind": READ, "kinds": [kind_of(kind) for kind in TYPES if kind in _ABOUT_BLOCKS]}
    for number, message in enumerate([vouched, *map(written, one.claims)]):
        yield Claim(
            game, turn, 1, one.speaker, PLANTED, number, str(message["kind"]), Json(json.dumps(message)), None, None, None,
            certain=True, reason=None, text_hash=text_hash(one.text), prompt_hash=None,
        )  # fmt: skip
