"""`cotrace export`: a store as Parquet tables, Inspect logs, a dataset folder, or OpenTelemetry spans."""

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Final

import click

from cotrace.help import LazyGroup
from cotrace.options.shared import say, store_option, writing_to
from schemas.common.errors import UsageError
from schemas.common.text import in_shell
from schemas.store.store import Store

_HOW_TO_READ: Final = {
    "parquet": "read them back with: cd {in_shell} && duckdb -c \"SELECT * FROM 'turns/*.parquet'\"",
    "inspect": "see them with: inspect view start --log-dir {in_shell}; verdicts are scores, cotrace ingest reads them back",
    "dataset": 'load it with: datasets.load_dataset({in_python}, "games")',
    "otlp": "send it line by line to any collector that takes OTLP over HTTP (POST /v1/traces)",
}


@click.command(
    cls=LazyGroup,
    sections=lambda: {
        "Other exports": {"chats": ("cotrace.commands.export_chats", "Prompts and replies of agents, as lines for fine-tuning.")}
    },
    invoke_without_command=True,
)
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="Folder to write to; made if missing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_HOW_TO_READ)),
    default="parquet",
    show_default=True,
    help="parquet: every table; inspect: logs with verdicts as scores; dataset: a card and Parquet; otlp: spans with evaluations.",
)
@click.option("--views", is_flag=True, help="Parquet: every view too.")
@click.option("--where", default="true", help="SQL condition on episodes: only these games (not for parquet).")
@store_option
@click.pass_context
def command(context: click.Context, folder: Path | None, form: str, where: str, store: Store, *, views: bool) -> None:
    """Write the store's games for other programs.

    \b
    Example:
      cotrace export --to parquet/ --views
      cotrace export --to logs/ --format inspect --where "benchmark = 'craft'"
      cotrace export chats --to tuning/ --keep successful
    """
    if context.invoked_subcommand is not None:
        return
    if folder is None:
        raise UsageError("say where to: --to FOLDER")
    with writing_to(folder, "--to"):
        for path, count in exported(store, folder, form, where, views=views):
            say(f"{count:>9} rows  {path}" if form == "parquet" else f"{count:>9}  {path}")
    say(_HOW_TO_READ[form].format(in_shell=in_shell(folder), in_python=dumps(str(folder), ensure_ascii=False)))


def exported(store: Store, folder: Path, form: str, where: str = "true", *, views: bool = False) -> Iterator[tuple[Path, int]]:
    """Write a store in a form; gives each file with what it holds: rows, games or samples.

    Raises:
        UsageError: there is no such form, what it needs is not installed, or the condition is none, or fits no game.
    """
    from analytics.exports.games import ensure_some_game, export_dataset, export_tables
    from analytics.exports.inspect_log import export_inspect
    from analytics.exports.otlp import export_otlp
    from analytics.installation import ensure_installed

    ensure_installed(store)
    others = {"inspect": export_inspect, "dataset": export_dataset, "otlp": export_otlp}
    if form == "parquet":
        if where != "true":
            raise UsageError("--where chooses games, and Parquet has every table whole: give --format dataset, or filter with cotrace sql")
        return export_tables(store, folder, views=views)
    if form not in others:
        raise UsageError(f"no form {form!r}: there are {', '.join(_HOW_TO_READ)}")
    ensure_some_game(store, where)
    return others[form](store, folder, where)
