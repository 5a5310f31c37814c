"""`cotrace dash`: the dashboard."""

from __future__ import annotations

from pathlib import Path

import click

from cotrace.commands.options import say, store_option
from schemas.store import Store

__all__ = ["announce", "command"]


_SHORTEST_TOKEN = 16


def _long_enough(_: click.Context, __: click.Parameter, token: str | None) -> str | None:
    if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isalnum()):
        raise click.BadParameter(f"it could be guessed, or not stand in a link: take {_SHORTEST_TOKEN} letters and digits or more")
    return token


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
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own, to label by.")
def command(store: Store, host: str, port: int, token: str | None, folders: tuple[Path, ...]) -> None:
    """Serve the dashboard until Ctrl-C.

    Pages read the store afresh each time, so a scoring run under way shows up. The dashboard answers to this machine only; with another
    --host, to whoever opens the link with the token: they see all of the store, and can save labels.

    \b
    Example:
      cotrace dash --port 8051
    """
    from dashboards.server import Place, serve
    from judges.rubric.files import clashes

    store.check()
    for clash in clashes(folders):
        say(f"left out: {clash}")
    serve(store, Place(host, port, token), folders, on_ready=lambda link: announce(store, link))


def announce(store: Store, link: str) -> None:
    """Tell where the dashboard is, and what its address is worth."""
    if "token=" in link:
        say("whoever has this link sees the whole store and can save labels; nothing on the way is encrypted: prefer an SSH tunnel")
    say(f"dashboard over {store.path}: {link}   (Ctrl-C ends it)")
