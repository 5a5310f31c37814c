"""`cotrace play coordination`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from cotrace.commands.options import say, writing_to

__all__ = ["command"]


@click.command()
@click.argument("game")
@click.option("--policy", "policies", multiple=True, help="Who is the first player; repeat for several. By default all there are.")
@click.option("--partner", "partners", multiple=True, help="Who is the second; repeat. By default each policy plays with itself.")
@click.option("--variant", "variants", multiple=True, help="Layout of a kitchen or scenario of a capture; repeat. By default all.")
@click.option("--seed", "seeds", multiple=True, type=int, default=(1, 2, 3), show_default=True, help="Seeds; repeat for several.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    game: str, policies: tuple[str, ...], partners: tuple[str, ...], variants: tuple[str, ...], seeds: tuple[int, ...], out: Path
) -> None:
    """Play one of LLM-Coordination's games with scripted policies: hanabi, overcooked, collab_capture or collab_escape.

    Hanabi needs OpenSpiel (pip install open_spiel); without it the command says so. A complete log is not played again.

    \b
    Example:
      cotrace play coordination collab_capture --seed 1 --out logs/
    """
    from typing import get_args

    from cotrace.progress import progress_bar
    from games.coordination.play import CoordinationGame, PlayRequest, play
    from schemas.errors import UsageError

    if game not in get_args(CoordinationGame):
        raise UsageError(f"no game {game!r}: choose from {', '.join(get_args(CoordinationGame))}")
    request = PlayRequest(
        game=cast("CoordinationGame", game), out=out, policies=policies, partners=partners or None, variants=variants, seeds=seeds
    )
    with writing_to(out), progress_bar("playing") as show:
        report = play(request, show)
    say(f"{report.played} games with {report.turns} turns played, {report.kept} were there already; logs in {out}")
    say(f"next: cotrace ingest {out}")
