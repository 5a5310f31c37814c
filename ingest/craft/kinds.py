"""JSON files that belong to CRAFT and are no logs."""

from __future__ import annotations

from typing import Final

from ingest.reading.file_kinds import FileKind

__all__ = ["KINDS"]

KINDS: Final = (
    FileKind("a file of CRAFT target structures", (b'"structure"', b'"complexity"', b'"spans"')),
    FileKind("a file of CRAFT target structures", (b'"id"', b'"complexity"', b'"structure"')),
    FileKind("messages for `cotrace claims`", (b'"id"', b'"speaker"', b'"utterance"', b'"board_before"')),
    FileKind("claims as `cotrace claims` writes them", (rb'\A\s*\[?\s*\{\s*"(?:id|claims)"\s*:', b'"id"', b'"claims"')),
)
