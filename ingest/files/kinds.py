"""What a file is that no adapter reads: something else, or a log that is damaged."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final, NamedTuple

from ingest.adapters import resembled

__all__ = ["Judgement", "judge_unknown"]

_JSON_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")


class Judgement(NamedTuple):
    """What to do with a file."""

    is_log: bool
    """It could be a game log, so it must be a reject."""

    reason: str


class _Kind(NamedTuple):
    """A kind of JSON file that belongs to the games and is no log."""

    name: str
    marks: tuple[bytes, ...]
    """Regular expressions; all of them are found near the beginning."""


_KNOWN_KINDS: Final = (
    _Kind("a file of CRAFT target structures", (b'"structure"', b'"complexity"', b'"spans"')),
    _Kind("a file of CRAFT target structures", (b'"id"', b'"complexity"', b'"structure"')),
    _Kind("answers of models to older CoordinationQA questions", (b'"source_file"', b'"source_column"', b'"key_reduced"')),
    _Kind("a result of the Collab-Overcooked evaluation", (b'"similarity_and_redundancy_result"',)),
    _Kind("conversations as the Collab-Overcooked evaluation lists them", (b'"statistic_data"', b'"history_agent_action"')),
    _Kind("a Collab-Overcooked reference file", (b'"reference_1"', b'"agent_0"', b'"agent_1"')),
    _Kind("a Collab-Overcooked kitchen", (b'"grid"', b'"start_order_list"', b'"utensils"')),
    _Kind("messages for `cotrace claims`", (b'"id"', b'"speaker"', b'"utterance"')),
    _Kind("claims as `cotrace claims` writes them", (b'"id"', b'"claims"')),
    _Kind("metrics of a run of Einstein games", (rb"\A\s*\[", b'"file_id"', b'"pkl_path"', b'"step_count"')),
    _Kind("the summary of a run of Einstein games", (b'"total_files"', b'"successful_files"', b'"success_rate"')),
    _Kind("a list of Einstein game ids", (rb'\A\s*\[\s*"(?:[^"]*/)?[456]_[02]+_[0-3]+_[0-5]+_[0-2]+[^"]*"\s*[\],]',)),
)


def _is_json(head: bytes, name: str) -> bool:
    """Tell whether a file begins like JSON or is called so."""
    return head.lstrip()[:1] in (b"{", b"[") or name.lower().endswith(_JSON_SUFFIXES)


def judge_unknown(head: bytes, name: str) -> Judgement:
    """What a file is that no adapter recognised, by its first bytes (UTF-8)."""
    damaged = resembled(head, PurePath(name).name)
    if not head.strip():
        reason = "empty: the game was not written, copy the file again" if not head else "holds nothing but blanks where a log would begin"
        return Judgement(damaged is not None or _is_json(head, name), reason)
    if damaged is not None:
        return Judgement(is_log=True, reason=f"a log of format {damaged.FORMAT} whose beginning is damaged: copy the file again")
    if not _is_json(head, name):
        return Judgement(is_log=False, reason="not a game log")
    for kind in _KNOWN_KINDS:
        if all(re.search(mark, head) for mark in kind.marks):
            return Judgement(is_log=False, reason=f"not a game log: {kind.name}")
    return Judgement(is_log=True, reason="JSON, but no log format that cotrace knows: see `cotrace ingest --help`, or the log is damaged")
