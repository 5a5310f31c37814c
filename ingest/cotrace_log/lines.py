"""The lines of cotrace's own log, typed: `schemas.game` defines what they hold, here they are read back."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from types import GenericAlias
from typing import Any, Final, NamedTuple, TypeVar, get_type_hints

import msgspec
import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ingest.reading.adapter_types import malformed
from ingest.reading.text import dumps, loads, refuse_spread_objects
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.game import LOG_VERSION, ActionEntry, End, Header, OracleEntry, PlantedLabel, Turn, UtteranceEntry

_READ: Final = {"kind": "read"}


class PlannedClaim(NamedTuple):
    """A claim of a text, as its author planned it."""

    kind: str
    text: str
    """Its JSON text."""


def _fast(kind: type[Any], **replaced: Any) -> Any:
    """The record as a Struct, which msgspec reads in half the time of a dataclass; ``replaced``: fields that are of another type in it."""
    hints = get_type_hints(kind) | replaced
    columns = [(entry.name, hints[entry.name], _default(entry)) for entry in fields(kind)]
    return msgspec.defstruct(kind.__name__, columns, kw_only=True, gc=False, eq=False)


def _default(entry: Field[Any]) -> Any:
    if entry.default is not MISSING:
        return entry.default
    return msgspec.field() if entry.default_factory is MISSING else msgspec.field(default_factory=entry.default_factory)


def _several(kind: Any) -> Any:
    return GenericAlias(list, (kind,))


_FAST_TURN: Final = msgspec.json.Decoder(Turn)
_KEEPING: Final = msgspec.json.Decoder(
    _fast(
        Turn,
        state_before=msgspec.Raw,
        state_after=msgspec.Raw,
        utterances=_several(_fast(UtteranceEntry, claims=msgspec.Raw)),
        oracle=_several(_fast(OracleEntry)) | None,
        actions=_several(_fast(ActionEntry)),
        labels=_several(msgspec.Raw),
    )
)
_LABEL: Final = msgspec.json.Decoder(_fast(PlantedLabel))
_CLAIMS: Final = msgspec.json.Decoder(list[dict[str, Any]] | None)


def read_turn(line: bytes) -> Turn | None:
    """The turn on a line; None where another reader has to look, and to say what is wrong."""
    try:
        return _FAST_TURN.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def read_turn_keeping(line: bytes) -> Turn | None:
    """The same, its states and claims as in the file; equal labels are one object."""
    try:
        if not line.isascii():
            line.decode()  # what is stored is not looked into
        turn = _KEEPING.decode(line)
        turn.labels = list(map(_label, map(bytes, turn.labels)))
        for uttered in turn.utterances:
            claims_in(uttered.claims)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    read: Turn = turn
    return read


_label: Final = lru_cache(maxsize=65536)(_LABEL.decode)
"""Scripted players make the same mistakes again and again."""


def json_of(value: object) -> str | None:
    """JSON text of a part of a turn; None where there is nothing."""
    if isinstance(value, msgspec.Raw):
        return _text(bytes(value))
    return None if value is None else dumps(value)


@lru_cache(maxsize=4096)  # a turn begins with the state that the one before left
def _text(written: bytes) -> str | None:
    value = _value(written)
    return None if value is None else dumps(value)


def _value(written: bytes) -> Any:
    try:
        return msgspec.json.decode(written)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # halves of surrogate pairs
        return loads(written)


def claims_in(claims: object) -> tuple[PlannedClaim, ...] | None:
    """The claims of a text, before them the one that lists the kinds of which all are reported; None where nothing is known.

    Raises:
        msgspec.ValidationError: they are no list of objects.
    """
    if isinstance(claims, msgspec.Raw):
        return _claims(bytes(claims))
    return None if claims is None else _planned(claims)  # type: ignore[arg-type]  # read by the other reader, which has checked them


@lru_cache(maxsize=65536)  # scripted players have few things to say
def _claims(written: bytes) -> tuple[PlannedClaim, ...] | None:
    claims = _CLAIMS.decode(written)
    return None if claims is None else _planned(claims)


def _planned(claims: Sequence[Mapping[str, Any]]) -> tuple[PlannedClaim, ...]:
    is_complete = claims and claims[0].get("kind") == "read"
    return tuple(PlannedClaim(str(claim.get("kind")), dumps(claim)) for claim in (claims if is_complete else (_READ, *claims)))


_END: Final = re.compile(rb'\s*\{\s*"end"\s*:')

_Entry = TypeVar("_Entry")


class _Version(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    cotrace_log: int


class _EndLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    end: End


_VERSION: Final = TypeAdapter(_Version)
_HEADER: Final = TypeAdapter(Header)
_TURN: Final = TypeAdapter(Turn)
_END_LINE: Final = TypeAdapter(_EndLine)


@dataclass(slots=True)
class LogLines:
    """A file's lines, typed."""

    header: Header
    turns: list[Turn]
    lines: list[int]
    """Line number of each turn."""
    line_count: int
    """Lines of the file, an unfinished one included."""
    end: End | None = None
    unfinished_bytes: int = 0
    """Length of a last line that is still being written."""
    reject: BadInputError | None = None
    """Why the rest could not be read."""


def read_lines(data: bytes, leaves_text: Callable[[Header], bool] = lambda _: False) -> LogLines:
    """Read the lines up to the first that cannot be read; a last one without a line break is not a fault.

    Blank lines carry nothing, before the header either.

    Args:
        data: the file.
        leaves_text: whether parts of turns may stay as they are in the file (`ingest.cotrace_log.lines`), by the header.

    Raises:
        BadInputError: the header is not whole, or of a newer version; its locator calls the header `line 1`, wherever it is.
    """
    refuse_spread_objects(data)
    lines = data.split(b"\n")
    last = len(lines)
    header = header_line(data)
    log = LogLines(_header(lines[header - 1]), [], [], last - (not lines[-1]))
    reader = read_turn_keeping if leaves_text(log.header) else read_turn
    for number, line in enumerate(lines[header:], start=header + 1):
        if not line or line.isspace():
            continue
        try:
            _take(log, line, number, reader)
        except BadInputError as error:
            if number == last and _breaks_off(line):
                log.unfinished_bytes = len(line)
            else:
                log.reject = lost(error, number, log.line_count)
            break
    return log


def header_line(data: bytes) -> int:
    """The number of the first line that is not blank, from 1; of the first one where all are."""
    return 1 + data[: len(data) - len(data.lstrip())].count(b"\n") if data.strip() else 1


def _header(line: bytes) -> Header:
    version = _entry(_VERSION, line, "line 1").cotrace_log
    if version < 1:
        raise BadInputError(f"log version {version} does not exist: the first one is 1", locator="line 1.cotrace_log")
    if version > LOG_VERSION:
        raise BadInputError(f"log version {version} is newer than this cotrace reads ({LOG_VERSION}): upgrade cotrace", locator="line 1")
    return _entry(_HEADER, line, "line 1")


def _breaks_off(line: bytes) -> bool:
    try:
        loads(line)
    except BadInputError:
        return True
    return False


def _take(log: LogLines, line: bytes, number: int, reader: Callable[[bytes], Turn | None]) -> None:
    if log.end is not None:
        raise BadInputError("comes after the line that ends the game", excerpt=excerpt(line[:200].decode(errors="replace")))
    if _END.match(line):
        log.end = _entry(_END_LINE, line, "").end
        return
    turn = reader(line) or _entry(_TURN, line, "")  # msgspec reads in a third of the time, but tells less of faults and knows no ``NaN``
    before = log.turns[-1].turn if log.turns else 0
    if turn.turn <= before:
        raise BadInputError(f"turn {turn.turn} follows turn {before}", locator=".turn", excerpt=str(turn.turn))
    log.turns.append(turn)
    log.lines.append(number)


def _entry(kind: TypeAdapter[_Entry], line: bytes, where: str) -> _Entry:
    try:
        return kind.validate_json(line, strict=True)
    except ValidationError as error:
        if error.errors(include_url=False, include_context=False, include_input=False)[0]["type"] != "json_invalid":
            raise malformed(error, where) from error
    try:
        return kind.validate_json(orjson.dumps(loads(line)), strict=True)  # half surrogate pairs
    except ValidationError as error:
        raise malformed(error, where) from error


def lost(error: BadInputError, number: int, line_count: int) -> BadInputError:
    """A fault inside the file: what follows it is lost."""
    reason = f"{error.reason}; the game is stored up to the line before, {line_count - number + 1} lines are lost"
    return BadInputError(reason, locator=f"line {number}{error.locator.removeprefix('line 1')}", excerpt=error.excerpt)
