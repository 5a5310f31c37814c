"""`cotrace dash`: the dashboard."""

from __future__ import annotations

from pathlib import Path

import click

from cotrace.commands.options import say, store_option
from schemas.store import Store

__all__ = ["command"]


@click.command()
@store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on.")
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own, to label by.")
def command(store: Store, host: str, port: int, folders: tuple[Path, ...]) -> None:
    """Serve the dashboard until Ctrl-C.

    Pages read the store afresh each time, so a scoring run under way shows up.

    \b
    Example:
      cotrace dash --port 8051
    """
    from dashboards.app import serve
    from judges.rubric.files import clashes

    store.check()
    for clash in clashes(folders):
        say(f"left out: {clash}")
    say(f"dashboard over {store.path}: http://{host}:{port}/   (Ctrl-C ends it)")
    serve(store, host=host, port=port, rubric_folders=folders)
