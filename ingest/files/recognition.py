"""What a file is, by its contents: which adapter reads it, which part of it, or why none does."""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from ingest.adapters import LAST_FORMAT, adapter, adapters, recognise_by_keys, resembled
from ingest.reading.adapter_types import Adapter, FileKind
from ingest.reading.text import documents_of, dumps, is_whole, lines_of, read_json, utf8
from schemas.common.errors import BadInputError

HEAD_BYTES: Final = 1 << 16
"""So many bytes tell most formats."""
MOST_BYTES: Final = 1 << 30
"""Larger files are rejected: they would not fit into memory several times over."""

_OTHER: Final = "not a game log"
_ROWS: Final = "rows of your own take --map FILE (docs/formats/chat_lines.md)"
_JSON_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
_PACKERS: Final = (
    (b"\x1f\x8b", "gunzip -k"),
    (b"\x28\xb5\x2f\xfd", "unzstd"),
    (b"BZh", "bunzip2 -k"),
    (b"\xfd7zXZ\x00", "unxz -k"),
)
"""First bytes of a compressed file, and what unpacks it."""


class Judgement(NamedTuple):
    """What to do with a file."""

    is_log: bool
    """It could be a game log, so it must be a reject."""
    reason: str


def _is_json(head: bytes, name: str) -> bool:
    """Tell whether a file begins like JSON or is called so; settings begin with a name in brackets."""
    return _BEGINS.match(head) is not None or name.lower().endswith(_JSON_SUFFIXES)


_BEGINS: Final = re.compile(rb"\s*(?:\{|\[(?!\s*[A-Za-z_]))")


def judge_unknown(data: bytes, name: str, *, is_all: bool) -> Judgement:
    """What a file is that no adapter recognised, by its bytes (UTF-8): all of them, or the first of a large one."""
    head = data[:HEAD_BYTES]
    damaged = resembled(head, PurePath(name).name)
    if not head.strip():
        reason = "empty: the game was not written, copy the file again" if not head else "holds nothing but blanks where a log would begin"
        return Judgement(damaged is not None or _is_json(head, name), reason)
    unpack = next((command for mark, command in _PACKERS if head.startswith(mark)), None)
    if unpack is not None:
        return Judgement(_is_json(head, name), f"compressed: if it holds a game log, unpack it ({unpack} FILE) and ingest what comes out")
    if damaged is not None:
        return Judgement(is_log=True, reason=f"a log of format {damaged.FORMAT} whose beginning is damaged: copy the file again")
    is_chat = len(_CHAT_LINE.findall(head)) > 1
    if is_chat or not _is_json(head, name):
        return Judgement(is_log=False, reason=_CHAT if is_chat else _OTHER)
    for kind in _kinds():
        if all(re.search(mark, head) for mark in kind.marks):
            return Judgement(is_log=False, reason=f"{_OTHER}: {kind.name}")
    return Judgement(is_log=True, reason=_why_unknown(data, is_all=is_all))


_CHAT_LINE: Final = re.compile(rb"(?m)^(?:\xe2\x80\x8e)?\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? [^\n]{4,20}?(?:\]| -) [^:\n]{1,60}: ")
"""A message of a chat as WhatsApp exports it: date, time, who, words."""
_CHAT: Final = f"a chat as text: write it as CSV with the columns time, name and content, a message a row; {_ROWS}"


def _why_unknown(data: bytes, *, is_all: bool) -> str:
    """What is wrong with the JSON, with line and column; else that no format is like it."""
    try:
        if is_all:
            data.decode()
            documents_of(data)
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8: convert the file first (iconv -f latin1 -t utf-8)"
    except BadInputError as error:
        first, _, rest = data.lstrip().partition(b"\n")
        if rest.strip() and is_whole(first):
            bad = [one for one in lines_of(data) if isinstance(one.value, BadInputError)]
            if bad:
                return f"{bad[0].locator} is not JSON ({bad[0].value.reason}); no format that cotrace knows has the other lines: {_ROWS}"
        elif _PYTHON.match(data):
            return "Python's notation, not JSON: write it again with json.dump"
        return error.reason
    return f"JSON, but no log format that cotrace knows (`cotrace formats`): {_ROWS}"


_PYTHON: Final = re.compile(rb"\s*\[?\s*\{\s*'")


def why_no_log(reason: str, name: str) -> str:
    """Why a file that was asked for by its name is refused, where it is judged to be of no format for a reason."""
    return f"{reason}: {_ROWS}" if reason == _OTHER and name.lower().endswith((".csv", ".tsv")) else reason


def _kinds() -> Iterator[FileKind]:
    for known in adapters():
        yield from getattr(known, "KINDS", ())


_GZIP: Final = b"\x1f\x8b"
_TIMES: Final = 100
"""A packed file may unpack to 256 MiB, or to so many times its size: a few kilobytes can stand for more than any memory holds."""


def unpacked(data: bytes) -> bytes:
    """What gzip packed; the bytes themselves where it did not, or they are damaged, or unpack to too much."""
    if not data.startswith(_GZIP):
        return data
    most = min(MOST_BYTES, max(1 << 28, _TIMES * len(data)))
    try:
        with gzip.open(BytesIO(data)) as packed:
            found = packed.read(most + 1)
    except (EOFError, OSError, zlib.error):
        return data
    return found if len(found) <= most else data


def by_contents(data: bytes) -> tuple[Adapter | None, bytes | None]:
    """The reader of a JSON file by its keys, by those of a part of it, which is given too, or by messages that it holds somewhere."""
    known = recognise_by_keys(data)
    if (known is None or known.FORMAT == LAST_FORMAT) and (found := _within(data)) is not None:
        return found
    return known or _by_messages(data), None


def _within(data: bytes) -> tuple[Adapter, bytes] | None:
    """The part of a document, or of each line, that a format other than messages recognises by its keys in the first of them."""
    if not _is_json(data, ""):
        return None
    line = data.lstrip().partition(b"\n")[0]
    is_lines = is_whole(line)
    first = read_json((line if is_lines else data).decode(errors="replace"))
    for keys in _paths(first, _DEEP):
        known = recognise_by_keys(dumps(_part(first, keys)).encode(errors="surrogatepass"))
        if known is not None and known.FORMAT != LAST_FORMAT:
            documents = [one.value for one in lines_of(data)] if is_lines else [first]
            parts = [part for one in documents if (part := _part(one, keys)) is not None]
            return known, b"\n".join(dumps(part).encode(errors="surrogatepass") for part in parts)
    return None


_DEEP: Final = 3
_VALUES: Final = ""
"""In a path: all values of an object, as a list."""


def _paths(value: Any, depth: int) -> Iterator[tuple[str, ...]]:
    """Paths of the objects and lists in an object, the outer ones first."""
    held = {key: one for key, one in value.items() if isinstance(one, dict | list)} if isinstance(value, dict) else {}
    first, *others = held.values() or ([],)
    if isinstance(first, dict) and others and all(isinstance(one, dict) and 2 * len(set(first) & set(one)) > len(first) for one in others):
        yield (_VALUES,)
    yield from ((key,) for key in held)
    for key, one in held.items() if depth > 1 else ():
        yield from ((key, *path) for path in _paths(one, depth - 1))


def _part(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = (list(value.values()) if key == _VALUES else value.get(key)) if isinstance(value, dict) else None
    return value


def _by_messages(data: bytes) -> Adapter | None:
    """The reader of messages in any JSON, where a file has some and is none of the other kinds that are known."""
    from ingest.foreign.chat_lines import holds_messages

    is_other = any(all(re.search(mark, data[:HEAD_BYTES]) for mark in kind.marks) for kind in _kinds())
    return adapter(LAST_FORMAT) if _is_json(data, "") and not is_other and holds_messages(data) else None


def readable(head: bytes) -> bytes:
    """The bytes, or the first of them, as UTF-8; a character that was cut at the end does not matter."""
    for shorter in range(4):
        try:
            return utf8(head[: len(head) - shorter])
        except BadInputError:
            continue
    return head
