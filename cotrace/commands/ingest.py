"""`cotrace ingest`: logs into the store."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cotrace.next_steps import after_ingest
from cotrace.options.shared import on_option, say, store_option
from cotrace.terminal import echo
from schemas.common.errors import UsageError
from schemas.common.text import in_shell
from schemas.store.store import Store

if TYPE_CHECKING:
    from ingest.files.writer import RejectedPart, Report

_LISTED = 8
_LISTED_FOR_A_REASON = 3
"""Of files that are left alone: a folder of logs has many beside them."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@store_option
@click.option("--format", "log_format", help="Name of the only log format to read; by default formats are recognised by content.")
@click.option(
    "--map",
    "mapping",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML file that states which column of chat lines (CSV, JSON Lines, Parquet) is what; docs/formats/chat_lines.md.",
)
@click.option(
    "--guess",
    "guessed",
    is_flag=True,
    help="Read nothing in; print a mapping for one file, with comments: its first messages as they would be read, and what would be lost.",
)
@click.option(
    "--list", "in_full", is_flag=True, help="Name every file that is left alone, a duplicate or refused, not the first ones alone."
)
@on_option
@click.option("--workers", type=click.IntRange(min=1), help="Processes that read; by default one for each core.")
def command(
    paths: tuple[Path, ...],
    store: Store,
    log_format: str | None,
    mapping: Path | None,
    workers: int | None,
    *,
    in_full: bool,
    guessed: bool,
) -> int:
    """Read game logs into the store; folders are searched.

    Doing it twice changes nothing; a file that has grown or changed replaces its games. What cannot be read is reported, one line for each
    kind of problem, and does not stop the rest; the exit code is then 1. A file with rejected parts is read again at every ingest.

    \b
    Example:
      cotrace ingest logs/ more/craft_structure_001_3.json
      cotrace ingest --guess negotiations.jsonl > map.yaml
      cotrace ingest negotiations.jsonl --map map.yaml
    """
    if guessed:
        return _guess(paths)
    from analytics.installation import ensure_installed, materialize
    from cotrace.progress import progress_bar
    from ingest.files.run import ingest_paths
    from ingest.foreign.chat_lines import reader_for

    reader = reader_for(log_format, mapping)
    with progress_bar("reading logs") as show:
        report = ingest_paths(paths, store, log_format=reader, workers=workers, on_progress=lambda p: show(p.files_done, p.files_total))
    ensure_installed(store)
    if report.episodes:
        materialize(store)
    tell(report, store, in_full=in_full)
    return 0 if report.is_clean else 1


def _guess(paths: tuple[Path, ...]) -> int:
    """Print the mapping of a file; 1 if something of the file would be lost."""
    from ingest.guess import guess
    from ingest.receipts import losses

    if len(paths) != 1 or paths[0].is_dir():
        raise UsageError("--guess takes one file: name one of those that are alike")
    found = guess(paths[0])
    for line in found.lines(paths[0]):
        echo(line)
    return 1 if found.reading.rejects or any(True for _ in losses(found.receipt)) else 0


def tell(report: Report, store: Store, *, in_full: bool = False) -> None:
    """Say what became of the files, and what to do next."""
    tell_parts(report, store, in_full=in_full)
    fitting = after_ingest(store)
    if fitting is not None:
        say(fitting)


def tell_parts(report: Report, store: Store, *, in_full: bool = False) -> None:
    """Say what went in, what was replaced, what was left and what was refused, and how to see it; of many files the first."""
    most, most_for_a_reason = (None, None) if in_full else (_LISTED, _LISTED_FOR_A_REASON)
    say(
        f"{report.found} files: {report.ingested} read, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{len(report.duplicates)} duplicates, {len(report.others)} other files, {report.refused} refused"
    )
    say(f"{report.episodes} games with {report.turns} turns added to {store.path}")
    for reason, files in _by_reason(report.others).items():
        named = files[:most_for_a_reason]
        for path in named:
            say(f"  left alone: {path}: {reason}")
        if len(files) > len(named):
            say(f"  left alone: {len(files) - len(named)} more: {reason} (all: --list)")
    for note, paths in _by_reason(report.notes).items():
        say(f"  note: {paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {note}")
    _tell_refused(report, store, most)


def _tell_refused(report: Report, store: Store, most: int | None) -> None:
    for path in report.missing:
        say(f"  missing: no file or folder {path}: check the path, the others were read")
    for path, same in report.duplicates[:most]:
        say(f"  duplicate: {path} has the bytes of {same}")
    if len(report.duplicates) > len(report.duplicates[:most]):
        say(f"  duplicate: {len(report.duplicates) - _LISTED} more (all: --list)")
    kinds = _by_kind(report.rejected) if most is not None else [[part] for part in report.rejected]
    for parts in kinds[:most]:
        part, like_it = parts[0], f" ({len(parts) - 1} more like it)" if len(parts) > 1 else ""
        say(f"  rejected: {part.path}{f' at {part.locator}' if part.locator else ''}: {part.reason}{like_it}")
    if report.rejected:
        more = f", {len(kinds) - most} more kinds" if most is not None and len(kinds) > most else ""
        say(f"{len(report.rejected)} parts rejected{more}: cotrace report rejects --store {in_shell(store.path)}")
    for path in report.without_logs:
        say(f"  no log: {path} holds no file of a format that cotrace knows (`cotrace formats` lists them; --map reads rows of your own)")


def _by_kind(rejected: list[RejectedPart]) -> list[list[RejectedPart]]:
    """Parts with the same reason but for numbers and what is quoted, in the order in which each kind was met."""
    kinds: dict[str, list[RejectedPart]] = {}
    for part in rejected:
        kinds.setdefault(re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "?", part.reason), []).append(part)
    return list(kinds.values())


def _by_reason(others: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, reason in others:
        found.setdefault(reason, []).append(path)
    return found
