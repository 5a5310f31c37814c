"""`cotrace play overcooked`."""

from __future__ import annotations

from pathlib import Path

import click

from cotrace.commands.options import COUNT, say, writing_to

__all__ = ["command"]


@click.command()
@click.option("--order", "orders", multiple=True, help="Dish to cook, such as boiled_egg; repeat for several. By default all of --level.")
@click.option(
    "--level", "levels", multiple=True, type=click.IntRange(1, 6), default=(1, 2, 3, 4, 5, 6), show_default=True, help="Levels; repeat."
)
@click.option("--policy", "policies", multiple=True, default=("optimal",), show_default=True, help="Scripted team; repeat for several.")
@click.option("--games", default=1, show_default=True, type=COUNT, help="Games of each policy and order.")
@click.option("--horizon", type=COUNT, help="Timesteps after which a game is cut; by default the order's time limit.")
@click.option("--seed", default=3, show_default=True, help="The same seed gives the same games, byte for byte.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    orders: tuple[str, ...], levels: tuple[int, ...], policies: tuple[str, ...], games: int, horizon: int | None, seed: int, out: Path
) -> None:
    """Play Collab-Overcooked: every policy on every order, so many times; logs as the published engine writes them.

    A complete log is not played again, so an interrupted command can be repeated.

    \b
    Example:
      cotrace play overcooked --order boiled_egg --policy optimal --out logs/
    """
    from cotrace.progress import progress_bar
    from games.overcooked.play import PlayRequest, play

    request = PlayRequest(out=out, orders=orders, levels=levels, policies=policies, games=games, seed=seed, horizon=horizon)
    with writing_to(out), progress_bar("playing") as show:
        report = play(request, show)
    say(f"{report.played} games with {report.turns} timesteps played, {report.kept} were there already; logs in {out}")
    say(f"next: cotrace ingest {out}")
