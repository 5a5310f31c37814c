"""JSON files that belong to Collab-Overcooked and are no logs."""

from __future__ import annotations

from typing import Final

from ingest.reading.file_kinds import FileKind

__all__ = ["KINDS"]

KINDS: Final = (
    FileKind("a result of the Collab-Overcooked evaluation", (b'"similarity_and_redundancy_result"',)),
    FileKind("conversations as the Collab-Overcooked evaluation lists them", (b'"statistic_data"', b'"history_agent_action"')),
    FileKind("a Collab-Overcooked reference file", (b'"reference_1"', b'"agent_0"', b'"agent_1"')),
    FileKind("a Collab-Overcooked kitchen", (b'"grid"', b'"start_order_list"', b'"utensils"')),
)
