"""`cotrace play asympuzl`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from cotrace.commands.options import COUNT, say, writing_to

__all__ = ["command"]


@click.command()
@click.option("--persona", "personas", multiple=True, default=("sharing",), show_default=True, help="Who plays A; repeat for several.")
@click.option("--partner", "partners", multiple=True, help="Who plays B; repeat for several. By default each persona plays with itself.")
@click.option(
    "--size", "sizes", multiple=True, type=click.IntRange(1, 24), default=(5,), show_default=True, help="Positions; repeat for several."
)
@click.option("--mode", "modes", multiple=True, default=("both",), show_default=True, help="Feedback mode; repeat for several.")
@click.option("--seeds", default=30, show_default=True, type=COUNT, help="How many puzzles of each size: seeds 0, 1, ...")
@click.option("--history", default=1, show_default=True, type=COUNT, help="Last messages of each agent that are shown.")
@click.option("--turns", type=COUNT, help="Turn limit; by default twice the number of positions.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    personas: tuple[str, ...],
    partners: tuple[str, ...],
    sizes: tuple[int, ...],
    modes: tuple[str, ...],
    seeds: int,
    history: int,
    turns: int | None,
    out: Path,
) -> None:
    """Play AsymPuzl: every persona with every partner, on every size, mode and seed; one file a pair.

    Whole games are not played again, so an interrupted command can be repeated.

    \b
    Example:
      cotrace play asympuzl --persona sharing --persona ignoring --size 3 --size 5 --seeds 10 --out logs/
    """
    from cotrace.progress import progress_bar
    from games.asympuzl.feedback import FEEDBACK_MODES, FeedbackMode
    from games.asympuzl.play import PlayRequest, play
    from schemas.errors import UsageError

    unknown = [mode for mode in modes if mode not in FEEDBACK_MODES]
    if unknown:
        raise UsageError(f"--mode {unknown[0]}: choose from {', '.join(FEEDBACK_MODES)}")
    request = PlayRequest(
        out=out,
        personas=personas,
        partners=partners or None,
        sizes=sizes,
        modes=cast("tuple[FeedbackMode, ...]", modes),
        seeds=tuple(range(seeds)),
        history_length=history,
        max_turns=turns,
    )
    with writing_to(out), progress_bar("playing") as show:
        report = play(request, show)
    say(f"{report.played} games with {report.turns} turns played, {report.kept} were there already; logs in {out}")
    say(f"next: cotrace ingest {out}")
