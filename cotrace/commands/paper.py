"""`cotrace paper`: the tables and figures of the papers from the logs of a store, next to the papers' numbers."""

from __future__ import annotations

import click

from cotrace.options.shared import say, store_option
from cotrace.terminal import echo
from schemas.store.store import Store


@click.command()
@click.argument("name", metavar="FAMILY")
@store_option
@click.option("--table", "tables", multiple=True, metavar="N", help="Only this table; may be given several times.")
@click.option("--figure", "figures", multiple=True, metavar="N", help="Only this figure; may be given several times.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "csv", "tex", "html", "svg"]),
    default="text",
    show_default=True,
    help="csv: a row a cell with all numbers; svg: these as a picture; the others in the paper's layout.",
)
@click.option("--notes", is_flag=True, help="What does not add up in the published results, with queries and what they give here.")
def command(name: str, store: Store, tables: tuple[str, ...], figures: tuple[str, ...], output_format: str, *, notes: bool) -> None:
    """Print the tables and figures of a family's paper from the logs in the store.

    Each cell has the store's number with its 95 % interval, and what the paper prints. Cells that the logs cannot fill are named.

    \b
    Example:
      cotrace paper craft --table 1 --format tex > table1.tex
    """
    from analytics.installation import ensure_installed
    from analytics.papers import as_csv, as_html, as_notes, as_svg, as_tex, as_text, items_of, notes_of, paper_table

    items = items_of(name)
    ensure_installed(store)
    if notes:
        echo(as_notes(store, notes_of(name)).rstrip("\n"))
        return
    wanted = [("table", number) for number in tables] + [("figure", number) for number in figures]
    found = [paper_table(store, name, *one) for one in wanted or [(item.kind, item.number) for item in items]]
    formats = {"text": as_text, "csv": as_csv, "tex": as_tex, "html": as_html, "svg": as_svg}
    echo(formats[output_format](name, found).rstrip("\n"))
    for one in found:
        if one.missing:
            say(one.missing)
    say(f"{len(found)} tables and figures of {name} from {store.path}; docs/papers.md explains them, --notes says what does not add up")
