"""`cotrace attribute`: whose cost each turn was, by the engine; or who made the decisive error, by a model."""

from typing import Any, Final

import click

from cotrace.next_steps import next_line
from cotrace.options.models import endpoints_of, model_options, named, tell_models
from cotrace.options.shared import on_option, requested, say, spent, store_option, tokens
from schemas.store.store import Store

_QUESTIONS: Final = 8
"""The longest form lists suspects, which take about as many tokens as so many answers."""


def ask_decisive(store: Store, where: str, model: str, manner: str, options: dict[str, Any]) -> int:
    """Ask, and tell what came of it; 1 if calls failed, or no game was selected."""
    from analytics.installation import ensure_installed
    from cotrace.progress import progress_bar
    from judges.attribution.asking import AskingRequest, ask_games

    (first, *others), concurrency = endpoints_of(named(model), options, _QUESTIONS)
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


@click.command()
@click.option("--where", default="true", show_default=True, help="SQL condition on `episodes`, such as \"model = 'gpt-4o'\".")
@click.option(
    "--reader",
    "reader_name",
    default="rules",
    show_default=True,
    help="Who reads the messages for the engine: rules, planted, llm:<model> (by `cotrace claims`; with the rules), or llm-only:<model>.",
)
@click.option("--model", help="Ask this model, provider/model, for the decisive error of each game in place of the engine.")
@click.option(
    "--manner",
    type=click.Choice(["all_at_once", "step_by_step", "halving", "search"]),
    default="all_at_once",
    show_default=True,
    help="How the model is asked: the three published manners, or a search with evidence.",
)
@model_options
@on_option
@store_option
def command(store: Store, where: str, reader_name: str, model: str | None, manner: str, **options: Any) -> int:
    """Attribute the loss of each turn to an agent and a failure point, by the rules of the game (docs/attribution.md).

    The engine reads messages and boards, and asks no model; earlier attributions of the same games are replaced. With --model, the model
    names the decisive error of each game or conversation, and `cotrace report attribution-accuracy` reports how often it is right. Exit
    code 1 if no game could be attributed, or calls failed.

    \b
    Example:
      cotrace attribute && cotrace report lost
      cotrace attribute --model openai/gpt-4o-mini --manner search --where "benchmark = 'whoandwhen'" --max-cost 2
    """
    if model is None:
        return attribute_all(store, where, reader_name)
    return ask_decisive(store, where, model, manner, options)


def attribute_all(store: Store, where: str = "true", reader_name: str = "rules") -> int:
    """Attribute the games and tell what came of it; 1 if none could be."""
    from analytics.installation import ensure_installed
    from cotrace.next_steps import next_line
    from cotrace.progress import progress_bar
    from judges.attribution.job import attribute_games
    from judges.evidence.transcript import reader_named

    reader = reader_named(reader_name)
    ensure_installed(store)
    with progress_bar("attributing") as show:
        report = attribute_games(store, where, reader, show)
    say(f"{report.games} games attributed: {report.findings} findings, {report.requests} requests compared with what was done")
    for benchmark, games in report.without.items():
        say(f"  {games} games of {benchmark} left out: they have no values, or no loss that can be attributed (docs/attribution.md)")
    say(next_line(store, "cotrace report lost", "cotrace report attributions", "cotrace dash") or "")
    return int(report.games == 0)
