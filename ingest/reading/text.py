"""JSON, CSV and time stamps as other people's programs write them, read without trust."""

import codecs
import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from schemas.common.errors import BadInputError
from schemas.common.text import excerpt, replace_lone_surrogates

_BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def utf8(data: bytes) -> bytes:
    """The same text as UTF-8 without a byte order mark; UTF-16 and UTF-32 are recognised and converted.

    Raises:
        BadInputError: the bytes look like UTF-16 or UTF-32 but are not whole.
    """
    if not data.startswith(_BYTE_ORDER_MARKS) and b"\0" not in data[:4]:
        return data
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding).encode()
    except UnicodeError as error:
        raise BadInputError(f"the bytes look like {encoding} but do not decode ({error}): write the file again as UTF-8") from error


def loads(data: bytes, *, exact: bool = True) -> Any:
    """The value that the bytes hold; half surrogate pairs become U+FFFD.

    Args:
        data: JSON.
        exact: whole numbers beyond 64 bits as they are, such as ids; else as floats, which no count can be.

    Raises:
        BadInputError: they are not JSON or UTF-8, or nested too deeply; the reason names the place.
    """
    try:
        return _loads_slowly(data) if exact and _LONG_NUMBER.search(data) else orjson.loads(data)  # which rounds them
    except orjson.JSONDecodeError:
        return _loads_slowly(data)


_LONG_NUMBER: Final = re.compile(rb"[0-9]{20}")


def read_json(text: str) -> Any:
    """What a text holds that is JSON; None where it is not."""
    try:
        return loads(text.encode(errors="replace"))
    except BadInputError:
        return None


def parsed(value: Any) -> Any:
    """What JSON text of an object or a list holds; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    found = read_json(value)
    return value if found is None else found


def dumps(value: object, *, finite: bool = False) -> str:
    """JSON text of a value that `loads` gave; ``NaN`` and ``Infinity``, which JSON has not, become strings.

    ``finite``: there are none in it, and it is not checked.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # an integer beyond 64 bits, or half a surrogate pair
        text = json.dumps(_finite(value), ensure_ascii=False)
        return str(replace_lone_surrogates(text))
    return text if finite or "null" not in text or _is_surely_finite(value) or _is_finite(value) else orjson.dumps(_finite(value)).decode()


def _loads_slowly(data: bytes) -> Any:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"byte {error.start} is not UTF-8: convert the file first (iconv -f latin1 -t utf-8)",
            locator=f"byte {error.start}",
            excerpt=excerpt(data[max(0, error.start - 40) : error.start + 40].decode(errors="replace")),
        ) from error
    try:
        return replace_lone_surrogates(json.loads(text))
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            reason = f"the JSON breaks off at character {len(text)}: the file was cut, copy it again"
        else:
            place = f"line {error.lineno}, column {error.colno}" if "\n" in text else f"column {error.colno}"
            reason = f"no JSON ({error.msg.removesuffix(' at')} at {place}): the file is damaged, copy it again"
        raise BadInputError(
            reason, locator=f"line {error.lineno}, column {error.colno}", excerpt=excerpt(text[max(0, error.pos - 40) : error.pos + 160])
        ) from error
    except RecursionError:
        raise BadInputError("nested deeper than any game log: this is not a log, or it is damaged", excerpt=excerpt(text)) from None
    except ValueError as error:
        raise BadInputError(f"no usable JSON ({error}): write the file again", excerpt=excerpt(text)) from error


def _is_surely_finite(value: Any) -> bool:
    """Whether nothing in it reads like NaN or an infinity: one search is faster than a look at every value."""
    shown = repr(value)
    return "nan" not in shown and "inf" not in shown


def _is_finite(value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
    for one in inside:
        if isinstance(one, float) and not math.isfinite(one):
            return False
        if isinstance(one, (dict, list)) and not _is_finite(one):
            return False
    return True


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return value


class Line(NamedTuple):
    """A line, and the value on it, or why there is none."""

    locator: str
    value: Any


def lines_of(data: bytes) -> Iterator[Line]:
    """Each line that is not blank, in order; of one that is not JSON the value is a `BadInputError`."""
    for number, text in enumerate(data.split(b"\n"), start=1):
        if not text.strip():
            continue
        locator = f"line {number}"
        try:
            yield Line(locator, loads(text))
        except BadInputError as error:
            yield Line(locator, BadInputError(error.reason, locator=locator, excerpt=error.excerpt))


def documents_of(data: bytes) -> list[Any]:
    """The values of a file: one, or several one after the other, over any number of lines.

    Raises:
        BadInputError: what begins it is not JSON.
    """
    try:
        return [loads(data)]
    except BadInputError as error:
        text, place, found = data.decode(errors="replace"), 0, []
        decoder = json.JSONDecoder()
        try:
            while (rest := len(text) - len(text[place:].lstrip())) < len(text):
                value, place = decoder.raw_decode(text, rest)
                found.append(_finite(value))
        except (ValueError, RecursionError):
            raise error from None
        return found


def refuse_spread_objects(data: bytes) -> None:
    """Refuse a file whose first object is whole, but spread over several lines: one fault, not one a line.

    Raises:
        BadInputError: it is so; the message states how to write the file again.
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest or is_whole(first):
        return
    text = data.decode(errors="replace").lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):  # truncated or damaged: reported line by line
        return
    if "\n" in text[:end]:
        raise BadInputError(
            "not JSON Lines: an object is spread over several lines, so the file is lost; write one object a line (jq -c . FILE > NEW)",
            locator="line 1",
            excerpt=excerpt(text[:200]),
        )


def is_whole(line: bytes) -> bool:
    """Tell whether the bytes are one JSON value."""
    try:
        loads(line)
    except BadInputError:
        return False
    return True


_MOST_BYTES: Final = 1 << 26
"""Larger documents are recognised by their beginning alone."""


def top_keys(data: bytes) -> frozenset[str]:
    """Keys of the object, of the first of a list, or of the first line of JSON Lines; none where it is not JSON, or large."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return frozenset()
    for part in (data.lstrip().split(b"\n", 1)[0], data):
        if len(part) <= _MOST_BYTES:
            try:
                value = loads(part)
                first = value[0] if isinstance(value, list) and value else value
                return frozenset(first) if isinstance(first, dict) else frozenset()
            except BadInputError:
                continue
    return frozenset()


_DELIMITERS: Final = ",;\t"


def header_of(text: str) -> list[str]:
    """The names of the columns in a text's first line; one alone where no delimiter is there."""
    first = _first_line(text)
    try:
        return [name.strip() for name in next(csv.reader([first], delimiter=_delimiter(first)), [])]
    except csv.Error:
        return []


def csv_rows(text: str) -> Iterator[tuple[int, dict[str, str] | BadInputError]]:
    """Number of its last line and fields of each row below the header that is not blank, or why it cannot be used."""
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=_delimiter(_first_line(text)), strict=True)
    names: list[str] | None = None
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield rows.line_num, BadInputError(f"no CSV ({error}): quote fields that hold the delimiter or a line break")
            continue
        if row is None:
            return
        if not any(field.strip() for field in row):
            continue
        if names is None:
            names = [name.strip() for name in row]
        elif len(row) != len(names):
            yield rows.line_num, BadInputError(f"{len(row)} fields where the header has {len(names)}: quote fields that hold the delimiter")
        else:
            yield rows.line_num, dict(zip(names, row, strict=True))


def _first_line(text: str) -> str:
    return text.removeprefix("\ufeff").lstrip().partition("\n")[0].rstrip("\r")


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


_SECONDS = (1e8, 1e11)
"""From 1973 on; numbers above are milliseconds, smaller ones count something else."""


def read_time(logged: object) -> datetime | None:
    """A logged time as the clock stood, ISO or ``YYYYMMDD_HHMMSS``; None if there is none, or it is not a time."""
    return _read(logged) if isinstance(logged, str) else None


def read_any_time(logged: object) -> datetime | None:
    """The same, or Unix time in seconds or milliseconds, a number or digits: as UTC has it."""
    text = str(logged)
    found = _read(text)
    if found is not None:
        return found
    try:
        number = float(text)
        seconds = number if number < _SECONDS[1] else number / 1000
        return datetime.fromtimestamp(seconds, tz=UTC).replace(tzinfo=None) if seconds >= _SECONDS[0] else None
    except (ValueError, OverflowError, OSError):
        return None


@lru_cache(maxsize=256)  # a turn's time is asked for with the turn, and with the one after it
def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("_", "T")).replace(tzinfo=None)
    except ValueError:
        return None


WORDS_OF_SCORES: Final[Mapping[str, float]] = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def number(value: Any) -> float | None:
    """A value as Inspect's metrics count it; None for what is not a number, or a larger one than a float can be."""
    if not isinstance(value, bool | int | float | str):
        return None
    if isinstance(value, str) and (value in WORDS_OF_SCORES or value.lower() in WORDS_OF_SCORES):
        return WORDS_OF_SCORES.get(value, WORDS_OF_SCORES.get(value.lower()))
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None
