"""`cotrace play coordination`."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import click

from cotrace.options.seats import planted_option, seat_options, terms_of
from cotrace.options.shared import COUNT
from cotrace.play_runs import play_planted, play_scripts, play_seats

__all__ = ["command"]


@click.command()
@click.argument("game")
@click.option("--policy", "policies", multiple=True, help="Who is the first player; repeat for several. By default all there are.")
@click.option("--partner", "partners", multiple=True, help="Who is the second; repeat. By default each policy plays with itself.")
@click.option("--variant", "variants", multiple=True, help="Layout of a kitchen or scenario of a capture; repeat. By default all.")
@click.option("--seed", "seeds", multiple=True, type=int, default=(1, 2, 3), show_default=True, help="Seeds; repeat for several.")
@click.option("--ticks", default=400, show_default=True, type=COUNT, help="Length of a kitchen game.")
@click.option("--decks", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Hanabi: a CSV with seed, deal_index and card.")
@click.option("--tom/--no-tom", "theory_of_mind", default=None, help="Say what the partner means before choosing; on in hanabi and escape.")
@click.option("--verification/--no-verification", default=None, help="A second look at each choice; on in hanabi.")
@click.option(
    "--rejections", "verification_limit", type=click.IntRange(min=0), help="Rejections after which a choice counts; by default 3."
)
@click.option("--memory/--no-memory", default=None, help="Show the own earlier actions; off in the capture.")
@click.option("--explanation/--no-explanation", default=None, help="Ask for reasons before the action; off in the kitchen.")
@click.option(
    "--partner-info/--no-partner-info", "partner_information", default=None, help="Kitchen: tell of the partner; off as published."
)
@click.option("--conventions/--no-conventions", default=None, help="Tell conventions of good play; on in the kitchen.")
@click.option(
    "--harness",
    type=click.Choice(("strict", "published")),
    default=None,
    help="strict (the default): a reply counts if it names a listed action exactly, else the player is asked again; published: as the "
    "released code, which takes the most similar action and leaves rules out of the prompt.",
)
@planted_option
@seat_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    game: str,
    policies: tuple[str, ...],
    partners: tuple[str, ...],
    variants: tuple[str, ...],
    seeds: tuple[int, ...],
    ticks: int,
    decks: Path | None,
    out: Path,
    *,
    planted: int | None,
    seats: tuple[str, ...],
    **options: Any,
) -> int:
    """Play one of LLM-Coordination's games: hanabi, overcooked, collab_capture or collab_escape; by policies, or whoever takes the seats.

    Seats are Alice and Bob (players); scripts are the policies, in the kitchen greedy. The switches --tom to --harness are for seats;
    but for --harness they are by default as in the released code. Where OpenSpiel is installed (pip install open_spiel) it referees Hanabi.
    A complete log is not played again, and a model's reply that had arrived is not paid again. Exit code 1 if calls of models failed.

    \b
    Example:
      cotrace play coordination collab_capture --seed 1 --out logs/
      cotrace play coordination hanabi --planted 100 --out logs/planted
      cotrace play coordination hanabi --seat alice=openai/gpt-4o --seat bob=script:cautious --no-verification --out logs/
    """
    from typing import get_args

    from games.coordination.play import CoordinationGame, PlayRequest, play, read_decks
    from schemas.errors import UsageError

    if game not in get_args(CoordinationGame):
        raise UsageError(f"no game {game!r}: choose from {', '.join(get_args(CoordinationGame))}")
    if planted is not None:
        return play_planted("coordination", planted, seeds[0], out, game)
    request = PlayRequest(
        game=cast("CoordinationGame", game),
        out=out,
        policies=policies,
        partners=partners or None,
        variants=variants,
        seeds=seeds,
        ticks=ticks,
        decks=None if decks is None else read_decks(decks),
    )
    if seats:
        from games.coordination.seated import play_request
        from games.coordination.seats.agent import PUBLISHED, Switches

        asked = {field.name: options[field.name] for field in fields(Switches) if options[field.name] is not None}
        terms = terms_of(options)
        return play_seats(out, lambda watch: play_request(request, seats, terms, replace(PUBLISHED[game], **asked), on_progress=watch))
    return play_scripts(out, lambda show: play(request, show))
