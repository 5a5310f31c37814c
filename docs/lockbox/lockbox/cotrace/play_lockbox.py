"""`cotrace play lockbox`."""

from pathlib import Path

import click

__all__ = ["command"]


@click.command()
@click.option("--keeper", "keepers", multiple=True, default=("clear", "mumbling"), show_default=True, help="Who knows the first half.")
@click.option("--games", default=8, show_default=True, type=click.IntRange(1, 10_000), help="Locks of each keeper.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(keepers: tuple[str, ...], games: int, out: Path) -> None:
    """Play Lockbox with scripted players.

    \b
    Example:
      cotrace play lockbox --keeper clear --out logs/
    """
    from cotrace.options.shared import say
    from lockbox.games.play import KEEPERS, play
    from schemas.common.errors import UsageError

    unknown = [keeper for keeper in keepers if keeper not in KEEPERS]
    if unknown:
        raise UsageError(f"--keeper {unknown[0]}: choose from {', '.join(KEEPERS)}")
    say(f"{play(out, keepers, range(games))} games played; logs in {out}")
    say(f"next: cotrace ingest {out}")
