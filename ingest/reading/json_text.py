"""JSON bytes as other people's programs write them, read without trust.

Logs are mostly written by Python's ``json``: the bare tokens ``NaN`` and ``Infinity`` occur, and half surrogate pairs. The fast parser
refuses both, so it is tried first and Python's own second.
"""

from __future__ import annotations

import codecs
import json
import math
from typing import Any, Final

import orjson

from schemas.errors import BadInputError
from schemas.text import excerpt, without_half_pairs

__all__ = ["dumps", "loads", "utf8"]

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


def loads(data: bytes) -> Any:
    """The value that the bytes hold; half surrogate pairs become U+FFFD.

    Raises:
        BadInputError: they are no JSON, no UTF-8, or nested too deeply; the reason says where.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _loads_slowly(data)


def dumps(value: object, *, finite: bool = False) -> str:
    """JSON text of a value that `loads` gave; ``NaN`` and ``Infinity``, which JSON has not, become strings.

    ``finite`` says that there are none in it, which is then not looked after.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # an integer beyond 64 bits, or half a surrogate pair
        text = json.dumps(_finite(value), ensure_ascii=False)
        return str(without_half_pairs(text))
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
        return without_half_pairs(json.loads(text))
    except json.JSONDecodeError as error:
        raise _not_json(text, error) from error
    except RecursionError:
        raise BadInputError("nested deeper than any game log: this is no log, or it is damaged", excerpt=excerpt(text)) from None
    except ValueError as error:
        raise BadInputError(f"no usable JSON ({error}): write the file again", excerpt=excerpt(text)) from error


def _not_json(text: str, error: json.JSONDecodeError) -> BadInputError:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        reason = f"the JSON breaks off at character {len(text)}: the file was cut, copy it again"
    else:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text else f"column {error.colno}"
        reason = f"no JSON ({error.msg.removesuffix(' at')} at {place}): the file is damaged, copy it again"
    return BadInputError(
        reason, locator=f"line {error.lineno}, column {error.colno}", excerpt=excerpt(text[max(0, error.pos - 40) : error.pos + 160])
    )


def _is_surely_finite(value: Any) -> bool:
    """Whether nothing in it reads like NaN or an infinity: told in one go, where looking at every value takes longer than writing it."""
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
