"""`cotrace dash`: the dashboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cotrace.options.models import named, tell_models
from cotrace.options.players import refuse_contradictions
from cotrace.options.shared import Number, say, store_option
from cotrace.terminal import echo
from schemas.common.errors import UsageError
from schemas.common.text import in_shell, near
from schemas.store.store import Store

if TYPE_CHECKING:
    from dashboards.server import ServedAt


_SHORTEST_TOKEN = 16
_OF_TABLES = {
    "partners": "--partner",
    "base_url": "--base-url",
    "key_variable": "--key-env",
    "max_cost": "--max-cost",
    "prices": "--prices",
}
"""Parameters that go with `--play` alone, and their options."""


def _long_enough(_: click.Context, __: click.Parameter, token: str | None) -> str | None:
    if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isalnum()):
        raise click.BadParameter(f"it could be guessed, or cannot be part of a link: use {_SHORTEST_TOKEN} letters and digits or more")
    return token


def _as_path(_: click.Context, __: click.Parameter, path: str) -> str:
    if path.strip("/") and not re.fullmatch(r"/?[\w.~-]+(/[\w.~-]+)*/?", path, re.ASCII):
        raise click.BadParameter(f"{path!r} is not a path of letters, digits and - . _ ~, such as /cotrace")
    return f"/{path.strip('/')}" if path.strip("/") else ""


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on.")
@click.option(
    "--token",
    envvar="COTRACE_TOKEN",
    callback=_long_enough,
    help="What a browser must bring (or set COTRACE_TOKEN) [default: nothing on this machine, a new one each time elsewhere].",
)
@click.option(
    "--base-path",
    default="",
    metavar="PATH",
    callback=_as_path,
    help="Path under which a reverse proxy serves the dashboard, such as /cotrace; a token is needed then.",
)
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own, to label by.")
@click.option(
    "--play", is_flag=True, help="Serve tables at which people play, in place of the dashboard: nothing of the store can be reached."
)
@click.option("--page", "page", metavar="ADDRESS", help="Print this page as one self-contained HTML file, and serve nothing.")
@click.option("--partner", "partners", multiple=True, metavar="MODEL", help="With --play: a provider/model that may play; repeat.")
@click.option("--base-url", help="With --play: address of an OpenAI-compatible server for the partners.")
@click.option("--key-env", "key_variable", help="With --play: environment variable with the partners' key.")
@click.option("--max-cost", type=Number(min=0), help="With --play: USD that the models of all games may cost, until the server ends.")
@click.option("--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="With --play: price file of your own (YAML).")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("played"),
    show_default=True,
    help="With --play: folder for the logs.",
)
def command(
    store: Store,
    host: str,
    port: int,
    token: str | None,
    base_path: str,
    folders: tuple[Path, ...],
    out: Path,
    page: str | None,
    *,
    play: bool,
    **of_tables: Any,
) -> None:
    """Serve the dashboard until Ctrl-C, or with --play the tables at which people play.

    Pages read the store afresh each time, so a scoring run under way shows up. The dashboard answers to this machine only; with another
    --host, to whoever opens the link with the token: they see all of the store, and can save labels.

    \b
    Example:
      cotrace dash --port 8051
      cotrace dash --base-path /cotrace
      cotrace dash --page "/failures?benchmark=craft&by=level" > failures.html
      cotrace dash --play --partner openai/gpt-4o-mini
    """
    from dashboards.server import ServedAt, serve

    if play:
        if base_path:
            raise UsageError("--base-path is for the dashboard: leave it or --play out")
        _serve_tables(ServedAt(host, port, token), out, **of_tables)
        return
    for name, option in _OF_TABLES.items():
        if of_tables[name] not in {None, ()}:
            raise UsageError(f"{option} is for tables: add --play")
    from judges.rubric_files.load import clashes

    store.check()
    if page is not None:
        _print_page(store, page, folders)
        return
    for clash in clashes(folders):
        say(f"left out: {clash}")
    serve(store, ServedAt(host, port, token, base_path), folders, on_ready=lambda link: announce(store, link))


def _print_page(store: Store, address: str, folders: tuple[Path, ...]) -> None:
    from dashboards.address import Address
    from dashboards.page_file import page_file
    from dashboards.pages import pages

    path, _, search = address.partition("?")
    paths = [page.PATH for page in pages()]
    if path not in paths:
        raise UsageError(f"--page {address}: there is no page {path}{near(path, paths)}")
    echo(page_file(store, Address.parse(path, search), folders, raises=True))
    say(f"{address} of {store.path} as one self-contained page; open it in a browser")


def _serve_tables(
    place: ServedAt,
    out: Path,
    *,
    partners: tuple[str, ...],
    base_url: str | None,
    key_variable: str | None,
    max_cost: float | None,
    prices: Path | None,
) -> None:
    from dashboards.playing.tables import Tables
    from dashboards.server import serve_tables
    from games.players.running import RunTerms
    from providers.provider import ModelSettings

    settings = ModelSettings(model="", base_url=base_url, key_variable=key_variable, temperature=0.7, max_tokens=2000)
    terms = RunTerms(settings=settings, max_cost=max_cost, prices=prices)
    models = [terms.of(named(partner, "--partner")) for partner in partners]
    refuse_contradictions(models, prices, max_cost)
    tell_models(models, prices, max_cost)
    serve_tables(
        Tables(out, partners, terms),
        place,
        on_ready=lambda link: say(f"tables: {link}   (Ctrl-C ends them); logs in {out}, next: cotrace ingest {in_shell(out)}"),
    )


def announce(store: Store, link: str) -> None:
    """Tell where the dashboard is, and what its address is worth."""
    if "token=" in link:
        say("whoever has this link sees the whole store and can save labels; nothing on the way is encrypted: prefer an SSH tunnel")
    say(f"dashboard over {store.path}: {link}   (Ctrl-C ends it)")
