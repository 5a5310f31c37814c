"""The lines of cotrace's own log, typed: `schemas.game` says what they hold, here they are read back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ingest.cotrace_log.kept import read_turn, read_turn_keeping
from ingest.reading.json_lines import refuse_spread_objects
from ingest.reading.json_text import loads
from ingest.reading.malformed import malformed
from schemas.errors import BadInputError
from schemas.game import LOG_VERSION, End, Header, Turn
from schemas.text import excerpt

__all__ = ["LogLines", "header_line", "lost", "read_lines"]

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


def read_lines(data: bytes, keeps: Callable[[Header], bool] = lambda _: False) -> LogLines:
    """Read the lines up to the first that cannot be read; a last one that breaks off without a line break is no fault.

    Blank lines carry nothing, before the header either.

    Args:
        data: the file.
        keeps: whether parts of turns may be kept as they stand in the file (`ingest.cotrace_log.kept`), by the header.

    Raises:
        BadInputError: the header is not whole, or of a newer version; its locator calls the header `line 1`, wherever it stands.
    """
    refuse_spread_objects(data)
    lines = data.split(b"\n")
    last = len(lines)
    header = header_line(data)
    log = LogLines(_header(lines[header - 1]), [], [], last - (not lines[-1]))
    reader = read_turn_keeping if keeps(log.header) else read_turn
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
        raise BadInputError("stands behind the line that ends the game", excerpt=excerpt(line[:200].decode(errors="replace")))
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
    reason = f"{error.reason}; the game is kept up to the line before, {line_count - number + 1} lines are lost"
    return BadInputError(reason, locator=f"line {number}{error.locator.removeprefix('line 1')}", excerpt=error.excerpt)
