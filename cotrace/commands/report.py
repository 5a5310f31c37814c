"""`cotrace report`: the named reports, in the terminal, as data, or as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from cotrace.options.shared import COUNT, format_option, say, store_option
from cotrace.terminal import echo
from schemas.common.text import printable, where_option
from schemas.common.wording import count, counted
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl
_SENTENCES: Final = 8
"""Under each of several headings in a terminal: what fits one screen or two."""

F = TypeVar("F", bound=Callable[..., Any])


def _report_options(command: F) -> F:
    """Those that the computed reports take, each with their names in its help."""
    from analytics.reports import OPTIONS, options_of, report_names

    for name, option in reversed(OPTIONS.items()):
        takers = ", ".join(report for report in report_names() if name in options_of(report))
        bounds = {"min": option.low, "max": option.high}
        kinds: dict[type, Callable[[], click.ParamType[Any]]] = {
            str: lambda: click.STRING,
            int: lambda bounds=bounds: click.IntRange(**bounds),  # type: ignore[misc]
            float: lambda bounds=bounds: click.FloatRange(**bounds),  # type: ignore[misc]
        }
        kind = kinds[option.kind]()
        command = click.option(f"--{name.replace('_', '-')}", type=kind, help=f"{takers}: {option.doc}")(command)
    return command


@click.command()
@click.argument("name", required=False)
@store_option
@format_option("table", "csv", "json", "html")
@click.option("--where", default="true", show_default=True, help="SQL condition on the report's columns; of macros on those of games.")
@click.option("--wide", is_flag=True, help="All columns in the terminal; where they do not fit, each row is a block of lines.")
@click.option("--columns", help="These columns, joined by commas.")
@click.option("--rows", "most", type=COUNT, help="So many rows.  [default: of a table a screen or two, of data all]")
@click.option("--all", "has_all", is_flag=True, help="All rows and columns of a table.")
@_report_options
def command(
    name: str | None,
    store: Store,
    output_format: str,
    where: str,
    columns: str | None,
    most: int | None,
    *,
    wide: bool,
    has_all: bool,
    **options: Any,
) -> None:
    """Print one of the named reports (`cotrace report list` names them).

    `all` prints what was found and which reports have rows; with --rows or --all the tables too, with --format html the figures.

    \b
    Example:
      cotrace report failures --format csv --where "model = 'gpt-4o'" > failures.csv
    """
    from analytics.installation import ensure_installed
    from analytics.reports import COMPUTED, all_reports, prose_of, report, shown_columns, units_of
    from analytics.statistics.few_games import few_games
    from cotrace.output import SCREEN, emit, tell
    from cotrace.output import chosen as chosen_columns
    from schemas.common.errors import UsageError

    options = {option: value for option, value in options.items() if value is not None}
    if name is None:
        raise UsageError("name a report: `cotrace report list` says which there are")
    if name == "list":
        _list()
        return
    ensure_installed(store)
    if output_format == "html":
        _page(store, name, where, options, has_table_options=columns is not None or most is not None or wide or has_all)
        return
    if name == "all":
        if output_format != "table" or columns is not None or wide or where != "true":
            raise UsageError(
                "report all: each report has columns of its own; name one, or leave out --where, --columns, --wide and --format"
            )
        tell_all(store, all_reports(store, **options), most, has_tables=has_all or most is not None)
        return
    rows = report(store, name, where, **options)
    _say_why_empty(rows, name, where)
    prose = prose_of(name) if output_format == "table" and columns is None and not wide else ""
    if prose:
        is_one = rows[rows.columns[0]].n_unique() <= 1
        _tell(rows, prose, most or (None if has_all or is_one else _SENTENCES))
        say(f"{len(rows)} sentences of {name} from {store.path}; --wide and --format csv show numbers, {COMPUTED[name].page} explains them")
        return
    shown = chosen_columns(rows, columns, shown_columns(name, rows), wide=wide or has_all)
    known = rows if columns is None or output_format == "table" else rows.select(shown)
    printed = emit(known, output_format, columns=shown, units=units_of(name), most=most or (None if has_all else SCREEN))
    if output_format == "table" and "advice" in rows.columns and "advice" not in shown:
        for line in rows["advice"].head(printed):
            tell(line)
    doubt = few_games(rows, name)
    if doubt:
        say(doubt)
    page = COMPUTED[name].page if name in COMPUTED else "docs/views.md"
    count = f"{len(rows)} rows" if printed == len(rows) else f"the first {printed} of {len(rows)} rows"
    more = "" if printed == len(rows) or most else "--all shows all, "
    more += "" if len(shown) == rows.width else f"--all or --format csv show all {rows.width} columns, "
    say(f"{count} of {name} from {store.path}; {more}{page} explains them")


def _list() -> None:
    """The reports under their headings, each with what it answers and what it needs."""
    from analytics.reports import SOURCES, grouped

    for heading, reports in grouped().items():
        echo(f"\n{heading}")
        for name, (text, needs) in reports.items():
            echo(f"  {name:<24}{printable(text)}{f' [needs {needs}]' if needs else ''}")
    echo("\nWhat reports need, and where it comes from")
    for word, source in SOURCES.items():
        echo(f"  {word:<24}{source}")


def tell_all(store: Store, tables: Mapping[str, pl.DataFrame], most: int | None, *, has_tables: bool) -> None:
    """Print the findings, then under their headings the reports that have rows: how many, or with `has_tables` the first `most` of them."""
    from analytics.findings import findings
    from analytics.reports import grouped, prose_of, shown_columns, units_of
    from analytics.statistics.few_games import are_few
    from cotrace.output import tell_findings
    from cotrace.tables import draw

    tell_findings(findings(store, tables), store)
    doubtful = []
    for heading, reports in grouped().items():
        filled = {name: tables[name] for name in reports if name in tables and not tables[name].is_empty()}
        if filled:
            echo(f"\n{heading}")
        for name, rows in filled.items():
            if not has_tables:
                echo(f"  {name:<24}{counted(len(rows), 'row'):<12}{printable(reports[name].text)}")
                continue
            echo(f"\n{name}: {printable(reports[name].text)}")
            if prose_of(name):
                _tell(rows, prose_of(name), most)
            else:
                draw(rows, shown_columns(name, rows), units_of(name), most)
            if most and len(rows) > most and not prose_of(name):
                echo(f"  {most} of {count(len(rows))} rows: cotrace report {name}")
        doubtful += [name for name, rows in filled.items() if are_few(rows)]
    if doubtful:
        say(f"intervals that rest on few tasks or games are in {', '.join(doubtful)}; each of these reports says what they are worth")
    empty = [name for name, rows in tables.items() if rows.is_empty()]
    if empty:
        say(f"without rows: {', '.join(empty)}; `cotrace report list` says what they need")
    if not has_tables:
        say("--rows 5 shows so many rows of each, --all all, --format html everything on one page with figures")


def _page(store: Store, name: str, where: str, options: dict[str, Any], *, has_table_options: bool) -> None:
    from analytics.reports import all_reports, report
    from dashboards.page_file import document
    from schemas.common.errors import UsageError

    if has_table_options:
        raise UsageError("--all, --columns, --rows and --wide choose what a table shows: leave them out, an HTML page folds what is long")
    if name == "all" and where != "true":
        raise UsageError("report all: each report has columns of its own, so no --where fits all of them; name one")
    tables = all_reports(store, **options) if name == "all" else {name: report(store, name, where, **options)}
    echo(document(store, tables))
    say(f"one self-contained page with {len(tables)} reports from {store.path}; open it in a browser")


def _say_why_empty(rows: pl.DataFrame, name: str, where: str) -> None:
    from analytics.reports import NEEDS

    if rows.is_empty() and where == "true" and name in NEEDS:
        say(f"no row of {name}: it takes {NEEDS[name]}")


def _tell(rows: pl.DataFrame, prose: str, most: int | None) -> None:
    """Sentences under headings, the values of the first column; of each heading the first `most`.

    What comes before a sentence's colon, but for a count in brackets, is what it is about; where that is the same of several rows, it gets
    what they differ in.
    """
    import polars as pl

    from analytics.reports import with_identity
    from cotrace.output import tell

    about = rows.select(rows.columns[0], _about=pl.col(prose).str.split(": ").list.first().str.replace(r" \(.*\)$", ""))
    more = with_identity(pl.concat([about, rows.drop(prose, rows.columns[0])], how="horizontal"), about.columns)[len(about.columns) :]
    is_alike = about.is_duplicated()
    sentences = [
        _with_identity(row[prose], [f"{name} {row[name]}".replace(": ", " ") for name in more if row[name] is not None])
        if alike
        else row[prose]
        for row, alike in zip(rows.iter_rows(named=True), is_alike, strict=True)
    ]
    parts = rows.with_columns(pl.Series(prose, sentences, dtype=pl.String)).partition_by(rows.columns[0], maintain_order=True)
    for part in parts:
        heading = printable(str(part.item(0, 0)))
        echo(f"\n{heading}")
        shown = part[prose] if most is None else part[prose].head(most)
        for sentence in shown:
            tell(sentence, indent="  ")
        if len(part) > len(shown):
            echo(f"  {len(part) - len(shown)} more: {where_option(rows.columns[0], heading)}")


def _with_identity(sentence: str, more: list[str]) -> str:
    head, colon, rest = sentence.partition(": ")
    return f"{head} ({', '.join(more)}){colon}{rest}" if more and colon else sentence
