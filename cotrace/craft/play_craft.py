"""`cotrace play craft`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from cotrace.options.seats import planted_option, seat_options, terms_of
from cotrace.options.shared import COUNT, MOST
from cotrace.play_runs import play_planted, play_scripts, play_seats

__all__ = ["command"]


@click.command()
@click.option(
    "--persona",
    "personas",
    multiple=True,
    default=("clear",),
    show_default=True,
    help="Directors' persona; repeat for several teams, join three by + for a mixed one.",
)
@click.option("--builder", "builders", multiple=True, default=("oracle_follower",), show_default=True, help="Builder; repeat for several.")
@click.option("--structures", default="20", show_default=True, help="How many targets to generate, or a published structures file.")
@click.option("--turns", default=20, show_default=True, type=COUNT, help="Turn limit.")
@click.option("--seed", default=3, show_default=True, help="The same seed gives the same games, byte for byte.")
@click.option("--oracle/--no-oracle", default=True, show_default=True, help="Whether the builder is shown verified moves.")
@click.option(
    "--start", default="empty", show_default=True, help="Start board: empty, firstLayer, firstTwoLayers, D1Wall, D2Wall or D3Wall."
)
@click.option("--reachable", is_flag=True, help="Generate only targets that can be completed.")
@click.option(
    "--same-turn-messages/--no-same-turn-messages",
    default=False,
    show_default=True,
    help="With --seat: whether directors hear who spoke earlier in the turn.",
)
@click.option("--speakers", default=3, show_default=True, type=click.IntRange(1, 3), help="With --seat: director calls in a turn.")
@click.option("--history", "history_limit", type=click.IntRange(min=0), help="With --seat: last lines of talk that directors are shown.")
@click.option(
    "--simulations", default=0, show_default=True, type=click.IntRange(min=0), help="With --seat: moves the builder may try; paper 3."
)
@click.option("--provider-tool", is_flag=True, help="With --simulations: models call it as a tool of their provider, not by lines of text.")
@click.option(
    "--rules",
    type=click.Choice(["sane", "published"]),
    default="sane",
    show_default=True,
    help="With --seat: prompts, reading of replies and messages that reach the builder; published: as in the released code.",
)
@planted_option
@seat_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    personas: tuple[str, ...],
    builders: tuple[str, ...],
    structures: str,
    turns: int,
    seed: int,
    start: str,
    out: Path,
    *,
    oracle: bool,
    reachable: bool,
    planted: int | None,
    same_turn_messages: bool,
    speakers: int,
    history_limit: int | None,
    simulations: int,
    provider_tool: bool,
    rules: Literal["sane", "published"],
    seats: tuple[str, ...],
    **options: Any,
) -> int:
    """Play CRAFT, one log a game: every persona with every builder on every structure, or whoever takes the seats.

    Seats are D1, D2, D3 (directors) and Builder; script for both: plain; for the builder also: simulating. A complete log is not played
    again, and a model's reply that had arrived is not paid again, so an interrupted command can be repeated. Exit code 1 if calls failed.

    \b
    Example:
      cotrace play craft --persona clear --persona over_remover --structures 5 --out logs/
      cotrace play craft --planted 100 --out logs/planted
      cotrace play craft --seat directors=openai/gpt-4o --seat builder=openai/gpt-4o-mini --structures 2 --max-cost 1 --out logs/
    """
    from typing import cast, get_args

    if planted is not None:
        return play_planted("craft", planted, seed, out)

    from games.craft.play import PlayRequest, play
    from games.craft.targets.generator import StructureRules
    from games.craft.targets.start_boards import StartBoard
    from schemas.errors import UsageError

    if start not in get_args(StartBoard):
        raise UsageError(f"--start {start!r}: choose one of {', '.join(get_args(StartBoard))}")
    is_count = structures.removeprefix("-").isdecimal()
    if is_count and not 1 <= int(structures) <= MOST:
        raise UsageError(f"--structures {structures}: give 1 to {MOST}, or a published structures file")
    request = PlayRequest(
        out=out,
        personas=personas,
        builders=builders,
        structures=int(structures) if is_count else MOST,
        structures_file=None if is_count else Path(structures),
        rules=StructureRules(reachable=reachable),
        seed=seed,
        turns=turns,
        oracle=oracle,
        start=cast("StartBoard", start),
    )
    if seats:
        from games.craft.game import GameSettings
        from games.craft.seated import play_request

        settings = GameSettings(
            start=request.start,
            oracle=oracle,
            max_turns=turns,
            same_turn_messages=same_turn_messages,
            speakers=speakers,
            history_limit=history_limit,
            simulations=simulations,
            provider_tool=provider_tool,
            rules=rules,
        )
        terms = terms_of(options)
        return play_seats(out, lambda watch: play_request(request, seats, terms, settings, on_progress=watch))
    return play_scripts(out, lambda show: play(request, show))
