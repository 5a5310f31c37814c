"""What a file is that no adapter reads: something else, or a log that is damaged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from ingest.adapters import adapters, resembled
from ingest.reading.file_kinds import FileKind
from schemas.families import offered

__all__ = ["Judgement", "judge_unknown", "why_no_log"]

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
    """Tell whether a file begins like JSON or is called so."""
    return head.lstrip()[:1] in (b"{", b"[") or name.lower().endswith(_JSON_SUFFIXES)


_UNKNOWN: Final = f"JSON, but no log format that cotrace knows (`cotrace formats`): {_ROWS}, or the log is damaged"


def judge_unknown(head: bytes, name: str) -> Judgement:
    """What a file is that no adapter recognised, by its first bytes (UTF-8)."""
    damaged = resembled(head, PurePath(name).name)
    if not head.strip():
        reason = "empty: the game was not written, copy the file again" if not head else "holds nothing but blanks where a log would begin"
        return Judgement(damaged is not None or _is_json(head, name), reason)
    unpack = next((command for mark, command in _PACKERS if head.startswith(mark)), None)
    if unpack is not None:
        return Judgement(_is_json(head, name), f"compressed: if it holds a game log, unpack it ({unpack} FILE) and ingest what comes out")
    if damaged is not None:
        return Judgement(is_log=True, reason=f"a log of format {damaged.FORMAT} whose beginning is damaged: copy the file again")
    if not _is_json(head, name):
        return Judgement(is_log=False, reason=_OTHER)
    for kind in _kinds():
        if all(re.search(mark, head) for mark in kind.marks):
            return Judgement(is_log=False, reason=f"{_OTHER}: {kind.name}")
    return Judgement(is_log=True, reason=_UNKNOWN)


def why_no_log(head: bytes, name: str) -> str:
    """Why a file that was asked for by its name is refused."""
    reason = judge_unknown(head, name).reason
    return f"{reason}: {_ROWS}" if reason == _OTHER and name.lower().endswith((".csv", ".tsv")) else reason


def _kinds() -> Iterator[FileKind]:
    """Of families, and of adapters of other formats."""
    for _, kinds in offered("ingest", "kinds", "KINDS"):
        yield from kinds
    for known in adapters():
        yield from getattr(known, "KINDS", ())
