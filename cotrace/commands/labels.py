"""`cotrace labels`: people's answers in and out."""

from pathlib import Path

import click

from cotrace.next_steps import after_labels
from cotrace.options.shared import format_option, say, store_option
from schemas.common.errors import UsageError
from schemas.store.store import Store


@click.group()
def command() -> None:
    """Import and export people's answers, to hold judges against.

    \b
    Example:
      cotrace labels import craftValidationOutputs.csv
    """


@command.command("import", short_help="Read labels from a CSV or JSON file.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own, to check against."
)
@store_option
def import_(file: Path, folders: tuple[Path, ...], store: Store) -> int:
    """Read labels from CSV or JSON: cotrace's own columns, a planted-truth file, or CRAFT's human validation file.

    Reading a file again replaces what it gave before. docs/labels.md explains the columns.

    \b
    Example:
      cotrace labels import labels.csv
    """
    from analytics.installation import ensure_installed
    from ingest.labels.load import import_labels
    from judges.rubric_files.load import known_answers

    report = import_labels(file, store, known_answers(folders))
    ensure_installed(store)
    replaced = f" (in place of {report.replaced} that it had given before)" if report.replaced else ""
    say(
        f"{report.labels} labels from {file}{replaced}, {report.joined} of them about games in {store.path}, "
        f"{report.judged} about judged units"
    )
    if report.unanswered:
        say(f"  without an answer yet: {report.unanswered} rows")
    for line in report.notes:
        say(f"  note: {line}")
    for line in report.refused[:8]:
        say(f"  refused: {line}")
    if report.refused:
        say(f"{len(report.refused)} lines refused")
    fitting = after_labels(store)
    if fitting is not None:
        say(fitting)
    return 1 if report.refused else 0


@command.command("template", short_help="Print the units of a rubric as a table to fill in.")
@click.argument("rubric")
@click.option("--annotator", default="", help="Your name, written into every row.")
@click.option("--where", help="SQL condition over episodes and turns.")
@click.option("--budget", "--units", "budget", type=click.IntRange(min=1), help="So many units, the same each time; by default all.")
@click.option(
    "--design",
    type=click.Choice(("random", "active", "stratified")),
    default="random",
    show_default=True,
    help="How they are drawn: all alike, mostly those judges are unsure of, or as many of each model and answer of the judges.",
)
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own.")
@store_option
@format_option("csv", "json")
def template(
    rubric: str,
    annotator: str,
    where: str | None,
    budget: int | None,
    design: str,
    folders: tuple[Path, ...],
    store: Store,
    output_format: str,
) -> None:
    """Print the units of a rubric as a table to fill in: write an answer into each row and import it.

    Each row has the chance with which its unit was drawn; reports weigh labels by it.

    \b
    Example:
      cotrace labels template pragmatic_sufficiency --budget 120 --design active --annotator ann > todo.csv
    """
    from analytics.estimates.design import drawn_units
    from cotrace.output import emit
    from judges.evidence.labelling import label_template
    from judges.rubric_files.load import find

    if design != "random" and budget is None:
        raise UsageError(f"--design {design} needs --budget: how many units will be labelled")
    draw = budget if design == "random" else drawn_units(store, rubric, budget or 0, design)
    rows = label_template(store, find(rubric, folders), annotator=annotator, where=where, draw=draw)
    emit(rows, output_format)
    say(f"{len(rows)} rows about {rows['unit_key'].n_unique()} units; fill in the column answer, then: cotrace labels import FILE")


@command.command("export")
@click.option("--annotator", help="Only this person's labels.")
@click.option("--source", help="Only labels of this source, such as dashboard [default: all that people gave].")
@store_option
@format_option("csv", "json", "table")
def export(annotator: str | None, source: str | None, store: Store, output_format: str) -> None:
    """Print labels in the columns that `cotrace labels import` reads.

    \b
    Example:
      cotrace labels export --annotator ann > ann.csv
    """
    from analytics.exports.games import exported
    from cotrace.output import emit

    rows = exported(store, annotator=annotator, source=source)
    emit(rows, output_format)
    say(f"{len(rows)} labels from {store.path}")
