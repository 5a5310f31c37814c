"""`cotrace claims FILE --against ANNOTATIONS`: how well a reader reads messages whose claims people have written down."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from cotrace.judging.reading import have_read, refuse_batch_of_rules, tell_collected
from cotrace.options.shared import say
from schemas.errors import UsageError
from schemas.store import Store
from schemas.text import in_shell

if TYPE_CHECKING:
    from judges.claims.messages import AnnotatedMessages, FamilyMessages
    from judges.evidence.reader import Reader


class Asked(NamedTuple):
    """What is to be read and how, as the command's options say."""

    benchmark: str | None
    prompt: Path | None
    dry_run: bool
    batch: bool
    collect: bool


def measured(
    file: TextIO | None,
    against: Path,
    reader: Reader,
    store: Store,
    output_format: str,
    options: dict[str, Any],
    asked: Asked,
) -> int:
    """Have the reader read the messages, and print precision and recall of each field; 1 if a line or a text could not be used.

    What a model has read is kept beside the store, so that it is asked nothing twice.

    Raises:
        UsageError: there is nothing to measure, or nobody to be measured.
    """
    from judges.claims.messages import messages_of
    from judges.evidence.reader import PLANTED

    if file is None or file.name == "<stdin>":
        command = f"cotrace claims MESSAGES.jsonl --against {in_shell(against)}"
        raise UsageError(f"--against {against}: give the file of the messages, too: {command}")
    if reader.stored == PLANTED:
        raise UsageError(
            f"--reader {reader.name}: what was planted is what is written in {against}; measure rules, llm:... or llm-only:..."
        )
    refuse_batch_of_rules(reader, batch=asked.batch)
    family = messages_of(asked.benchmark)
    found = family.annotated_messages(Path(file.name), against)
    for line in found.refused:
        say(line)
    say(
        f"annotated messages: {len(found.messages)}; left out: {found.ambiguous} ambiguous, {len(found.refused)} refused, "
        f"{found.not_annotated} without annotation"
    )
    code = int(bool(found.refused))
    with _store_of(family, found, reader, store) as messages:
        if asked.collect:
            tell_collected(messages)
        else:
            code = max(code, have_read(reader, messages, options, prompt=asked.prompt, dry_run=asked.dry_run, batch=asked.batch))
        return code if asked.dry_run or asked.batch else max(code, _show(messages, reader, output_format))


@contextmanager
def _store_of(family: FamilyMessages, found: AnnotatedMessages, reader: Reader, store: Store) -> Iterator[Store]:
    """A store of the messages: one that stays where a model reads, with its readings; else one for the moment."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if reader.model is None else store.journals / "annotated"
        messages = Store(folder / f"{found.key}.duckdb")
        family.put_messages(found, messages)
        yield messages


def _show(messages: Store, reader: Reader, output_format: str) -> int:
    import polars as pl

    from analytics.readers import readers_report
    from analytics.reports import columns_of
    from cotrace.output import emit

    rows = readers_report(messages).filter(pl.col("reader") == reader.name)
    if rows.is_empty():
        raise UsageError(f"{reader.name} has read none of the messages yet: ask again once its batch is done, with --collect")
    emit(rows, output_format, columns=columns_of("readers"))
    return 0
