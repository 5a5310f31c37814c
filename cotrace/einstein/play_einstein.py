"""`cotrace play einstein`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cotrace.options.seats import planted_option, seat_options, terms_of
from cotrace.options.shared import COUNT
from cotrace.play_runs import play_planted, play_scripts, play_seats

__all__ = ["command"]


@click.command()
@click.option("--persona", "personas", multiple=True, default=("sensible",), show_default=True, help="Who is Player1; repeat for several.")
@click.option("--partner", "partners", multiple=True, default=("sensible",), show_default=True, help="Who is Player2; repeat for several.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    default=("provide_seek",),
    show_default=True,
    help="Action space: provide_seek, provide, seek or none; two joined by + for a mixed pair; repeat for several.",
)
@click.option(
    "--verifier", "verifiers", multiple=True, default=("none",), show_default=True, help="none, affordance, communication or reasoning."
)
@click.option("--samples", default=4, show_default=True, type=COUNT, help="Answers a step that a verifier chooses from.")
@click.option("--reasoning/--no-reasoning", default=True, show_default=True, help="Whether players write their thoughts before the action.")
@click.option("--guidance/--no-guidance", default=False, show_default=True, help="Tell players besides what the paper tells GPT-4o.")
@click.option("--rules", default="sane", show_default=True, help="sane, or published: with the defects of the released code.")
@click.option("--games", default=12, show_default=True, type=COUNT, help="How many puzzles to generate.")
@click.option("--objects", multiple=True, type=int, default=(4, 5, 6), show_default=True, help="Numbers of objects, taken in turn.")
@click.option("--game-id", "game_ids", multiple=True, help="A puzzle by its id, in place of generated ones; repeat for several.")
@click.option("--step-limit", default=30, show_default=True, type=COUNT, help="Steps of both players together.")
@click.option("--seed", default=3, show_default=True, help="The same seed gives the same games, byte for byte.")
@click.option(
    "--trajectories",
    type=COUNT,
    help="Solutions of each puzzle, the shortest and near-shortest, played with thoughts by planners: training data for `export chats`.",
)
@planted_option
@seat_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    personas: tuple[str, ...],
    partners: tuple[str, ...],
    modes: tuple[str, ...],
    verifiers: tuple[str, ...],
    samples: int,
    rules: str,
    games: int,
    objects: tuple[int, ...],
    game_ids: tuple[str, ...],
    step_limit: int,
    seed: int,
    out: Path,
    *,
    trajectories: int | None,
    planted: int | None,
    reasoning: bool,
    guidance: bool,
    seats: tuple[str, ...],
    **options: Any,
) -> int:
    """Play Einstein puzzles in every mode, with every verifier: every persona with every partner, or whoever takes the seats.

    Seats are Player1 and Player2 (players); scripts are the personas but the planner. A complete log is not played again, and a model's
    reply that had arrived is not paid again, so an interrupted command can be repeated. Exit code 1 if calls of models failed.

    \b
    Example:
      cotrace play einstein --persona misreader --mode provide --mode none --verifier reasoning --games 6 --out logs/
      cotrace play einstein --trajectories 5 --games 250 --mode provide_seek --out logs/tuning
      cotrace play einstein --planted 100 --out logs/planted
      cotrace play einstein --seat player1=openai/gpt-4o --seat player2=script:sensible --games 3 --max-cost 1 --out logs/
    """
    from games.einstein.game import GameSettings
    from games.einstein.match_log import settings_of
    from games.einstein.play import PlayRequest, play
    from schemas.errors import BadInputError, UsageError

    if planted is not None:
        return play_planted("einstein", planted, seed, out)

    if trajectories is not None and (seats or {*personas, *partners} != {"sensible"}):
        raise UsageError("--trajectories are played by planners on both sides: leave --seat, --persona and --partner out")

    def settings(mode: str, verifier: str) -> GameSettings:
        pair = mode.split("+") if "+" in mode else [mode, mode]
        condition = {
            "modes": pair,
            "reasoning": reasoning,
            "guidance": guidance,
            "verifier": verifier,
            "samples_per_step": samples,
            "rules": rules,
        }
        try:
            return settings_of(condition | {"step_limit": step_limit})
        except BadInputError as error:
            raise UsageError(str(error)) from error

    request = PlayRequest(
        out=out,
        personas=personas,
        partners=partners,
        games=games,
        num_objects=objects,
        game_ids=game_ids,
        seed=seed,
        conditions=tuple(settings(mode, verifier) for mode in modes for verifier in verifiers),
        trajectories=trajectories or 0,
    )
    if seats:
        from games.einstein.seated import play_request

        terms = terms_of(options)
        return play_seats(out, lambda watch: play_request(request, seats, terms, on_progress=watch))
    return play_scripts(out, lambda show: play(request, show), "steps")
