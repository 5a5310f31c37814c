"""`cotrace claims`: what the texts of games claim, as a reader understands them; and how well it reads annotated messages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from cotrace.model_readers import ask_reader, read_elsewhere, refuse_batch_of_rules, tell_collected
from cotrace.options.models import model_options
from cotrace.options.shared import format_option, say, store_option
from cotrace.terminal import echo
from schemas.common.errors import CotraceError, UsageError
from schemas.common.text import in_json, in_shell
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl

    from judges.claims.readers import AnnotatedMessages, FamilyMessages
    from judges.evidence.transcript import Reader


def measured(file: TextIO | None, reader: Reader, store: Store, output_format: str, options: dict[str, Any]) -> int:
    """Have the reader read the messages, and print precision and recall of each field; 1 if a line or a text could not be used.

    What a model has read is kept beside the store, so that it is asked nothing twice.

    Raises:
        UsageError: there is nothing to measure, or nobody to be measured.
    """
    from judges.claims.readers import messages_of
    from judges.evidence.transcript import PLANTED

    against, batch, dry_run = options["against"], options["batch"], options["dry_run"]
    if file is None or file.name == "<stdin>":
        command = f"cotrace claims MESSAGES.jsonl --against {in_shell(against)}"
        raise UsageError(f"--against {against}: give the file of the messages, too: {command}")
    if reader.stored == PLANTED:
        raise UsageError(f"--reader {reader.name}: its claims are those of {against}; measure rules, llm:... or llm-only:...")
    refuse_batch_of_rules(reader, batch=batch)
    family = messages_of(options["benchmark"])
    found = family.annotated_messages(Path(file.name), against)
    for line in found.refused:
        say(line)
    say(
        f"annotated messages: {len(found.messages)}; left out: {found.ambiguous} ambiguous, {len(found.refused)} refused, "
        f"{found.not_annotated} without annotation"
    )
    code = int(bool(found.refused))
    with _store_of(family, found, reader, store) as messages:
        if options["collect"]:
            tell_collected(messages)
        else:
            code = max(code, ask_reader(reader, messages, options, prompt=options["prompt"], dry_run=dry_run, batch=batch))
        return code if dry_run or batch else max(code, _show_accuracy(messages, reader, output_format))


@contextmanager
def _store_of(family: FamilyMessages, found: AnnotatedMessages, reader: Reader, store: Store) -> Iterator[Store]:
    """A store of the messages: one that stays where a model reads, with its readings; else one for the moment."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if reader.model is None else store.journals / "annotated"
        messages = Store(folder / f"{found.key}.duckdb")
        family.put_messages(found, messages)
        yield messages


def _show_accuracy(messages: Store, reader: Reader, output_format: str) -> int:
    import polars as pl

    from analytics.readers import readers_report
    from analytics.reports import columns_of
    from cotrace.output import emit

    rows = readers_report(messages).filter(pl.col("reader") == reader.name)
    if rows.is_empty():
        raise UsageError(f"{reader.name} has read none of the messages yet: ask again once its batch is done, with --collect")
    emit(rows, output_format, columns=columns_of("readers"))
    return 0


_COLUMNS = ("turn", "agent", "kind", "claim", "words", "certain", "reason")


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8"), required=False)
@click.option(
    "--reader", "reader_name", default="rules", show_default=True, help="rules, planted, llm:<model> (with the rules) or llm-only:<model>."
)
@click.option("--benchmark", help="Whose messages FILE holds, where several games' messages can be read.")
@click.option("--where", help="SQL condition over episodes and turns, such as \"model = 'gpt-4o' AND turn <= 5\".")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="ANNOTATIONS",
    help="Measure the reader on the messages of FILE, whose claims people have written into this one.",
)
@click.option("--prompt", type=click.Path(path_type=Path), help="File with a prompt of your own for the model that reads (docs/claims.md).")
@click.option(
    "--batch", is_flag=True, help="Have the model read in the provider's batch (cheaper, within a day); get the readings with --collect."
)
@click.option("--collect", is_flag=True, help="Store the readings of batches that are done; goes alone.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Only write the requests of a model into this file.")
@click.option(
    "--replies",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Store a model's readings out of this file of JSON lines, each with the id of its request and the reply.",
)
@click.option("--dry-run", is_flag=True, help="Only say what a model would be asked and what it would cost.")
@model_options
@store_option
@format_option("table", "csv", "json")
def command(
    file: TextIO | None,
    reader_name: str,
    benchmark: str | None,
    against: Path | None,
    prompt: Path | None,
    record: Path | None,
    replies: Path | None,
    store: Store,
    output_format: str,
    *,
    dry_run: bool,
    batch: bool,
    collect: bool,
    **options: Any,
) -> int:
    """Show what texts claim: those of the games in the store, or messages of a file; or how well a reader reads them.

    The table `claims` has what the reader understood, text by text. A model reads what it has not read yet, one call a text;
    `cotrace report readers` measures how well.

    FILE holds JSON lines, in CRAFT {"id", "speaker", "utterance", "board_before"}; its messages are read by rules and printed as JSON
    lines {"id", "claims"}. A line that cannot be used is named on stderr and left out; the exit code is then 1. `-` reads from standard
    input. With --against, any reader reads them, and is compared with what people wrote that they claim: the table of
    `cotrace report readers`.

    \b
    Example:
      cotrace claims --where "turn <= 3"
      cotrace claims --reader llm:openai/gpt-4o-mini --max-cost 2 --format csv > claims.csv
      cotrace claims --reader llm:openai/gpt-4o-mini --batch && cotrace claims --collect
      cotrace claims --reader llm:mine/model --record requests.jsonl
      cotrace claims --reader llm:mine/model --replies replies.jsonl
      cotrace claims utterances.jsonl > claims.jsonl
      cotrace claims utterances.jsonl --against annotated.jsonl --reader llm:openai/gpt-4o-mini --max-cost 2
    """
    from judges.evidence.transcript import reader_named

    if against is not None:
        options |= {"against": against, "benchmark": benchmark, "prompt": prompt, "dry_run": dry_run, "batch": batch, "collect": collect}
        return measured(file, reader_named(reader_name), store, output_format, options)
    if file is not None:
        return _of_file(file, benchmark)
    store.check()
    if collect:
        return _collect(store)
    reader = reader_named(reader_name)
    refuse_batch_of_rules(reader, batch=batch)
    if record is not None or replies is not None:
        return read_elsewhere(reader, store, options, prompt=prompt, record=record, replies=replies)
    code = ask_reader(reader, store, options, prompt=prompt, dry_run=dry_run, batch=batch)
    return code if dry_run or batch else max(code, _show(store, reader, options["where"], output_format, failed=code > 0))


def _collect(store: Store) -> int:
    found = tell_collected(store)
    if not found:
        say("no batch of texts is waiting: submit one with cotrace claims --reader llm:provider/model --batch")
    return int(any(one.failed for one in found))


def _show(store: Store, reader: Reader, where: str | None, output_format: str, *, failed: bool) -> int:
    from cotrace.output import emit
    from judges.claims.texts import stored_claims

    rows: pl.DataFrame = stored_claims(store, reader, where)
    if rows.is_empty() and failed:  # what failed, and why, has been printed
        say(f"no text was read by {reader.name}")
        return 1
    if rows.is_empty():
        raise UsageError(f"no text of {store.path} has claims by {reader.name}: ingest games first, or widen --where")
    emit(rows, output_format, columns=_COLUMNS)
    unread = rows.filter(rows["kind"] == "unread").height
    say(f"{rows.height} rows by {reader.name}, {unread} of them stretches that were not understood; table claims in {store.path}")
    return 0


def _of_file(file: TextIO, benchmark: str | None) -> int:
    from judges.claims.readers import messages_of

    family = messages_of(benchmark)
    read = refused = 0
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            found = family.claims_of(json.loads(line))
        except (CotraceError, ValueError, RecursionError) as error:
            say(f"{file.name}, line {number}: {' '.join(str(error).split())}")
            refused += 1
            continue
        echo(in_json(json.dumps(found, ensure_ascii=False)))
        read += 1
    say(f"{read} messages read, {refused} lines refused")
    return 1 if refused else 0
