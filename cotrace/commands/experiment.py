"""`cotrace play experiment.yaml`: whole experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cotrace.options.shared import Number, on_option, say, store_option, writing_to
from schemas.errors import UsageError
from schemas.store import Store
from schemas.wording import count, money

if TYPE_CHECKING:
    from games.experiments.forecast import Expected, Forecast
    from games.experiments.plan import Changes, Experiment


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what it will take: games, calls, tokens and cost. Nothing is asked or written.")
@click.option("--take", type=click.IntRange(min=1), help="Only the first so many tasks, to try it.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the logs, in place of the file's.")
@click.option("--base-url", help="Address of an OpenAI-compatible server for all models.")
@click.option("--max-cost", type=Number(min=0), help="USD for the whole experiment, in place of the file's.")
@click.option(
    "--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Price file of your own (YAML), in place of the file's."
)
@click.option("--concurrency", type=click.IntRange(min=1), help="Games under way at once, in place of the file's.")
@click.option(
    "--stop-when",
    type=click.FloatRange(0, 0.5, min_open=True),
    metavar="LEVEL",
    help="Play task after task and stop once every pair of teams is told apart at this level, such as 0.05; it may be looked at any time.",
)
@click.option("--ingest", "ingesting", is_flag=True, help="Read the logs into the store while games are played.")
@click.option("--judge", "rubrics", multiple=True, metavar="RUBRIC", help="Have ended games judged; repeat for several. Means --ingest.")
@click.option("--judge-model", help="provider/model that judges; by default the engine.")
@on_option
@store_option
def command(
    file: Path,
    take: int | None,
    out: Path | None,
    base_url: str | None,
    max_cost: float | None,
    prices: Path | None,
    concurrency: int | None,
    stop_when: float | None,
    rubrics: tuple[str, ...],
    judge_model: str | None,
    store: Store,
    *,
    dry_run: bool,
    ingesting: bool,
) -> int:
    """Play an experiment: its games, by whom, under which conditions, and what that may take stand in a file (docs/experiments).

    Games are played side by side. Kill it at any moment and start it again: games that are there are kept, no reply that had arrived is
    asked again, and the games end as they would have ended. Exit code 1 if calls failed or the budget ended.

    \b
    Example:
      cotrace play craft.yaml --dry-run
      cotrace play craft.yaml --judge spatial_grounding --store craft.duckdb
    """
    from games.experiments.plan import Changes, load

    if judge_model and not rubrics:
        raise UsageError("--judge-model says who judges; say by what: --judge RUBRIC")
    changes = Changes(out=out, take=take, base_url=base_url, max_cost=max_cost, prices=prices, concurrency=concurrency)
    experiment = load(file, changes)
    if dry_run:
        _tell_forecast(file, experiment, changes)
        return 0
    return _play(experiment, store if ingesting or rubrics else None, (rubrics, judge_model), stop_when)


def _play(experiment: Experiment, store: Store | None, judging: tuple[tuple[str, ...], str | None], stop_when: float | None) -> int:
    from contextlib import nullcontext

    from cotrace.following import following, judge_requests
    from cotrace.progress import playing_bar, tell
    from cotrace.stopping import play_until
    from games.players.running import run_games

    requests = judge_requests(*judging)
    say(_described(experiment))
    follow = nullcontext() if store is None else following(experiment.out, store, requests)
    with writing_to(experiment.out), follow, playing_bar() as show:
        report = run_games(experiment.jobs, experiment.table, show) if stop_when is None else play_until(experiment, stop_when, say, show)
    code = tell(report, experiment.out, next_step=store is None)
    if store is not None:
        code = max(code, _finish(experiment.out, store, *judging))
    return code


def _finish(out: Path, store: Store, rubrics: tuple[str, ...], judge_model: str | None) -> int:
    """Take in what came last, judge it, and tell of the whole."""
    from analytics.installation import ensure_installed
    from cotrace.commands.ingest import tell
    from cotrace.commands.judge import judge_all
    from cotrace.following import judge_requests
    from ingest.files.run import ingest_paths

    report = ingest_paths([out], store)
    ensure_installed(store)
    tell(report, store)
    judged = judge_all(judge_requests(rubrics, judge_model), store) if rubrics else 0
    return max(judged, 0 if report.is_clean else 1)


def _described(experiment: Experiment) -> str:
    counts = " x ".join(f"{number} {name if number != 1 else name.removesuffix('s')}" for name, number in experiment.counts.items())
    return f"{experiment.name}: {counts} = {len(experiment.jobs)} games, logs in {experiment.out}"


def _tell_forecast(file: Path, experiment: Experiment, changes: Changes) -> None:
    from dataclasses import replace

    from games.experiments.forecast import forecast
    from games.experiments.plan import load

    found = forecast(experiment, lambda folder: load(file, replace(changes, out=folder)))
    say(f"{_described(experiment)}; {found.kept} are there already, {found.games} to play")
    for line in _forecast_lines(found):
        say(line)
    limit = experiment.table.terms.max_cost
    say(f"  limits: {experiment.table.terms.concurrency} games at once, {'no budget' if limit is None else f'{limit:g} USD'}")
    costs = [expected.most_cost for expected in found.models.values()]
    if limit is not None and sum(cost or 0.0 for cost in costs) > limit:
        say("  the budget may end before the games do: those that wait are played on when it is started again with a higher one")
    say("  counted on games in which scripts played for the models; a model that talks longer or plays worse takes more")


def _forecast_lines(found: Forecast) -> list[str]:
    return [_expected(name, expected) for name, expected in found.models.items()] or ["  no model plays: nothing is to be paid"]


def _expected(name: str, expected: Expected) -> str:
    calls = f"about {count(expected.calls)} calls (at most {count(expected.most_calls)})"
    tokens = f"about {count(expected.tokens_in)} tokens in, at most {count(expected.most_tokens_out)} out"
    if expected.cost is None:
        return f"  {name}: {calls}, {tokens}; no price known"
    return f"  {name}: {calls}, {tokens}; at most {money(expected.cost)} ({money(expected.most_cost)} if all games last to their limit)"
