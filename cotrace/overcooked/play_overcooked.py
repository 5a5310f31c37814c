"""`cotrace play overcooked`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cotrace.options.seats import planted_option, seat_options, terms_of
from cotrace.options.shared import COUNT
from cotrace.play_runs import play_planted, play_scripts, play_seats
from schemas.errors import UsageError

if TYPE_CHECKING:
    from games.overcooked.engine.world import Rules

__all__ = ["command"]


@click.command()
@click.option("--order", "orders", multiple=True, help="Dish to cook, such as boiled_egg; repeat for several. By default all of --level.")
@click.option(
    "--level", "levels", multiple=True, type=click.IntRange(1, 6), default=(1, 2, 3, 4, 5, 6), show_default=True, help="Levels; repeat."
)
@click.option("--policy", "policies", multiple=True, default=("optimal",), show_default=True, help="Scripted team; repeat for several.")
@click.option("--games", default=1, show_default=True, type=COUNT, help="Games of each policy and order.")
@click.option(
    "--kitchen",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A kitchen of your own: grid, utensils, recipes, orders, times (docs/overcooked.md); by default the published one.",
)
@click.option("--time-limit", type=COUNT, help="Timesteps in which an order must be delivered; by default 1.5 times a reference's.")
@click.option("--horizon", type=COUNT, help="Timesteps after which a game is cut; by default the order's time limit.")
@click.option(
    "--rules",
    type=click.Choice(["published", "paper"]),
    default="published",
    show_default=True,
    help="As the released code plays, defects included, or as the paper describes it.",
)
@click.option(
    "--corrections", type=click.IntRange(min=0), help="Corrections of a refused action before the agent waits; published 1, paper 3."
)
@click.option("--rounds", type=click.IntRange(min=0), help="Answers in a conversation, 0: nobody is heard; published without end, paper 5.")
@click.option("--memory", type=click.Choice(["last", "all", "none"]), help="Own actions that are shown; published last, paper all.")
@click.option("--reflection/--no-reflection", default=None, help="Lessons of corrected refusals; published off, paper on.")
@click.option(
    "--recipe", default="plain", show_default=True, help="plain, steps: a cut at the beginning action by action, or steps:1 to steps:5."
)
@click.option(
    "--prompt",
    type=click.Choice(["full", "published"]),
    default="full",
    show_default=True,
    help="full: with names of products, walking time, what the loop drops, and the form of the answer last; published: without.",
)
@click.option("--seed", default=3, show_default=True, help="The same seed gives the same games, byte for byte.")
@planted_option
@seat_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs.")
def command(
    orders: tuple[str, ...],
    levels: tuple[int, ...],
    policies: tuple[str, ...],
    games: int,
    horizon: int | None,
    rules: str,
    recipe: str,
    kitchen: Path | None,
    time_limit: int | None,
    seed: int,
    out: Path,
    *,
    planted: int | None,
    seats: tuple[str, ...],
    **options: Any,
) -> int:
    """Play Collab-Overcooked: every policy on every order, logs as the published engine writes them, or whoever takes the seats.

    Seats are Chef and Assistant; script for both: plain. --corrections, --rounds, --memory, --reflection, --recipe, --prompt are for seats.
    A complete log is not played again, and a model's reply that had arrived is not paid again, so an interrupted command can be repeated.
    Exit code 1 if calls of models failed.

    \b
    Example:
      cotrace play overcooked --order boiled_egg --policy optimal --out logs/
      cotrace play overcooked --seat all=openai/gpt-4o --level 3 --rules paper --no-reflection --out logs/
      cotrace play overcooked --kitchen mine.yaml --seat all=openai/gpt-4o --out logs/
      cotrace play overcooked --planted 100 --out logs/planted
    """
    if planted is not None:
        if kitchen is not None or time_limit is not None:
            raise UsageError("--planted plays in the published kitchen with its times: leave --kitchen and --time-limit out")
        return play_planted("overcooked", planted, seed, out)
    from games.overcooked.engine.own_kitchen import asked_kitchen
    from games.overcooked.play import PlayRequest, play

    engine: Rules = "published" if rules == "published" else "sane"
    request = PlayRequest(
        out=out,
        orders=orders,
        levels=levels,
        policies=policies,
        games=games,
        seed=seed,
        horizon=horizon,
        rules=engine,
        layout=asked_kitchen(kitchen, time_limit),
    )
    if seats:
        from games.overcooked.agents import AGENT_RULES
        from games.overcooked.seated import Switches, play_request

        asked = {name: options[name] for name in ("corrections", "rounds", "memory", "reflection") if options[name] is not None}
        agents = replace(AGENT_RULES[rules], **asked)
        switches = Switches(name=rules, agents=agents, recipe=recipe, prompt=options["prompt"])
        terms = terms_of(options)
        return play_seats(out, lambda watch: play_request(request, seats, terms, switches, on_progress=watch))
    return play_scripts(out, lambda show: play(request, show), "timesteps")
