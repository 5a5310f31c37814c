"""JSON files that belong to LLM-Coordination and are no logs."""

from __future__ import annotations

from typing import Final

from ingest.reading.file_kinds import FileKind

__all__ = ["KINDS"]

KINDS: Final = (FileKind("answers of models to older CoordinationQA questions", (b'"source_file"', b'"source_column"', b'"key_reduced"')),)
