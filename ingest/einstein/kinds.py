"""JSON files that belong to Einstein Puzzles and are no logs."""

from __future__ import annotations

from typing import Final

from ingest.reading.file_kinds import FileKind

__all__ = ["KINDS"]

KINDS: Final = (
    FileKind("metrics of a run of Einstein games", (rb"\A\s*\[", b'"file_id"', b'"pkl_path"', b'"step_count"')),
    FileKind("the summary of a run of Einstein games", (b'"total_files"', b'"successful_files"', b'"success_rate"')),
    FileKind("a list of Einstein game ids", (rb'\A\s*\[\s*"(?:[^"]*/)?[456]_[02]+_[0-3]+_[0-5]+_[0-2]+[^"]*"\s*[\],]',)),
)
