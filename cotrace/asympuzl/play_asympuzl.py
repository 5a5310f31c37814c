"""`cotrace play asympuzl`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from cotrace.options.seats import planted_option, seat_options, terms_of
from cotrace.options.shared import COUNT
from cotrace.play_runs import play_planted, play_scripts, play_seats

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
@click.option("--tokenizer", default="regex-v1", show_default=True, help="Who counts tokens: regex-v1, or tiktoken:ENCODING.")
@click.option("--solo", is_flag=True, help="The control experiment: one agent with the clues of both, one attempt; its seat is A.")
@click.option("--seed", default=3, show_default=True, help="With --planted: the same seed gives the same games.")
@planted_option
@seat_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    personas: tuple[str, ...],
    partners: tuple[str, ...],
    sizes: tuple[int, ...],
    modes: tuple[str, ...],
    seeds: int,
    history: int,
    turns: int | None,
    tokenizer: str,
    out: Path,
    seed: int,
    *,
    planted: int | None,
    solo: bool,
    seats: tuple[str, ...],
    **options: Any,
) -> int:
    """Play AsymPuzl on every size, mode and seed: every persona with every partner, one file a pair, or whoever takes the seats.

    Seats are A (alice) and B (bob); scripts are the personas, and `solver` with --solo. Whole games are not played again, and a model's
    reply that had arrived is not paid again, so an interrupted command can be repeated. Exit code 1 if calls of models failed.

    \b
    Example:
      cotrace play asympuzl --persona sharing --persona ignoring --size 3 --size 5 --seeds 10 --out logs/
      cotrace play asympuzl --planted 100 --out logs/planted
      cotrace play asympuzl --seat A=openai/gpt-4o --seat B=script:sharing --mode own --seeds 5 --temperature 0 --out logs/
    """
    if planted is not None:
        return play_planted("asympuzl", planted, seed, out)

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
        tokenizer=tokenizer,
    )
    if solo and not seats:
        raise UsageError("--solo: say who sits there, such as --seat A=openai/gpt-4o or --seat A=script:solver")
    if seats:
        from games.asympuzl.seated import play_request

        terms = terms_of(options)
        return play_seats(out, lambda watch: play_request(request, seats, terms, solo=solo, on_progress=watch))
    return play_scripts(out, lambda show: play(request, show))
