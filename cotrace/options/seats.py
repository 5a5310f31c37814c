"""The options with which anybody takes a seat in `cotrace play`, the same in every game, and what came of it in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cotrace.options.models import asking, asking_options, tell_models
from cotrace.options.shared import on_option, say
from schemas.errors import UsageError

if TYPE_CHECKING:
    from games.players.running import RunReport, RunTerms

__all__ = ["seat_options", "tell", "terms_of"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def seat_options(command: _Command) -> _Command:
    """Add the options of seats to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--seat",
        "seats",
        multiple=True,
        metavar="ROLE=PLAYER",
        help="Who sits where: provider/model, script:NAME or human; a role in the plural names all its seats, `all` every seat.",
    ),
    click.option("--base-url", help="Server for the models, of the provider's kind, else OpenAI's."),
    asking_options(temperature=0.7, max_tokens=2000, typed=False),
    click.option("--max-cost", type=click.FloatRange(min=0), help="USD that the models may cost."),
    click.option("--concurrency", type=click.IntRange(min=1), default=32, show_default=True, help="Games under way at once."),
    on_option,
)


def terms_of(options: Mapping[str, Any]) -> RunTerms:
    """The terms that the options of seats set; tells what is to be known of the models that take the command's seats."""
    from games.players.limits import contradiction
    from games.players.running import RunTerms
    from providers.provider import ModelSettings

    settings = ModelSettings(model="", base_url=options["base_url"], **asking(options))
    models = {player for _, _, player in (seat.partition("=") for seat in click.get_current_context().params["seats"]) if "/" in player}
    for model in sorted(models):
        wrong = contradiction(replace(settings, model=model), options["max_cost"], options["prices"])
        if wrong is not None:
            raise UsageError(wrong.message)
    tell_models((replace(settings, model=model) for model in sorted(models)), options["prices"], options["max_cost"])
    return RunTerms(settings=settings, prices=options["prices"], concurrency=options["concurrency"], max_cost=options["max_cost"])


def tell(report: RunReport, out: Path, *, next_step: bool = True) -> int:
    """Say what was played and what it took; 1 if calls failed or the budget ended."""
    say(f"{report.played} games with {report.turns} turns played, {report.kept} were there already; logs in {out}")
    if report.calls or report.from_journal:
        before = f", {report.from_journal} replies of an interrupted run used again" if report.from_journal else ""
        say(f"  {report.calls} calls{before}; {report.tokens_in} + {report.tokens_out} tokens, {report.cost:.4f} USD")
    if report.stopped:
        say(f"  the budget allows no further call: {report.stopped} games left waiting; start again with a higher one to play them on")
    if report.failed:
        say(f"  {report.failed} calls failed and were played on as the published loop does; the first: {report.first_error}")
    if next_step:
        say(f"next: cotrace ingest {out}")
    return 1 if report.failed or report.stopped else 0
