"""Asks a model for the decisive error of games: what `cotrace judge --rubric decisive_error` and `cotrace attribute --model` do."""

from __future__ import annotations

from typing import Any

from cotrace.next_steps import next_line
from cotrace.options.models import endpoints_of, named, tell_models
from cotrace.options.shared import requested, say, spent, tokens
from schemas.store import Store


def ask_decisive(store: Store, where: str, model: str, manner: str, options: dict[str, Any]) -> int:
    """Ask, and tell what came of it; 1 if calls failed, or no game was selected."""
    from analytics.installation import ensure_installed
    from cotrace.progress import progress_bar
    from judges.attribution.model_job import AskingRequest, ask_games

    (first, *others), concurrency = endpoints_of(named(model), options)
    tell_models([first], options["prices"], options["max_cost"])
    limits = {name: options[name] for name in ("cache", "max_cost", "prices")}
    request = AskingRequest(settings=first, more_endpoints=tuple(others), manner=manner, where=where, concurrency=concurrency, **limits)
    ensure_installed(store)
    with progress_bar(f"{manner} by {model}") as show:
        report = ask_games(request, store, show)
    say(f"{report.games} games: {report.answered} answered, {report.undecided} without a decisive error, {report.failed} failed")
    say(f"  {requested(report.requests, report.timed_out)}, {tokens(report.tokens_in, report.tokens_out)}, {spent(report.cost)}")
    if report.first_error:
        say(f"  first failure: {report.first_error}")
    if report.not_asked:
        say(f"  stopped before --max-cost would be exceeded: {report.not_asked} games not asked about; start again with a higher one")
    say(next_line(store, "cotrace report attribution-accuracy") or "")
    return int(report.failed > 0 or report.not_asked > 0 or report.games == 0)
