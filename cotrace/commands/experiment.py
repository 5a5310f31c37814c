"""`cotrace play experiment.yaml`: whole experiments, judged while they are played, and ended once the teams differ."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click
import orjson

from cotrace.options.shared import Number, on_option, say, store_option, writing_to
from schemas.common.errors import CotraceError, UsageError
from schemas.common.wording import count, interval, money, number
from schemas.store.store import Store

if TYPE_CHECKING:
    from games.experiments.plan import Changes, Expected, Experiment
    from games.players.running import Job, OnProgress, RunReport
    from judges.runs.job import JudgeRequest


class PairLook(NamedTuple):
    """What a pair of sides shows by now; a side is a team under a condition."""

    ahead: str
    behind: str
    tasks: int
    """On which both have ended games."""
    difference: float
    low: float
    high: float
    differs: bool


def play_until(experiment: Experiment, level: float, tell: Callable[[str], None], on_progress: OnProgress | None = None) -> RunReport:
    """Play task after task until every pair of sides differs, or no task is left.

    A pair differs in the team or in the condition alone. A task counts once, with the mean of its seeds. The level is shared out over the
    pairs (Bonferroni), so that the chance of a single false claim, at any look, is at most `level`. Started again, it goes on from the
    games that are there.

    Args:
        experiment: its jobs.
        level: 0 to 1, such as 0.05.
        tell: is told a line after each look.
        on_progress: as `run_games` takes it.

    Raises:
        UsageError: there is only one side; and what `run_games` raises.
    """
    from games.players.running import RunReport, run_games

    tasks = _by_task(experiment.jobs)
    if len({job.path.parent for job in experiment.jobs}) < 2:  # noqa: PLR2004
        raise UsageError("--stop-when needs two teams or conditions: give a second one, or leave it out")
    at_once = max(1, -(-experiment.table.terms.concurrency // max(len(jobs) for jobs in tasks.values())))
    names, total = list(tasks), RunReport()
    for start in range(0, len(names), at_once):
        report = run_games([job for name in names[start : start + at_once] for job in tasks[name]], experiment.table, on_progress)
        total = _added(total, report)
        pairs = look([tasks[name] for name in names[: start + at_once]], level, experiment.out)
        apart = sum(pair.differs for pair in pairs)
        played = f"{count(min(start + at_once, len(names)))} of {count(len(names))} tasks"
        tell(f"after {played} {count(apart)} of {count(len(pairs))} pairs differ")
        if apart == len(pairs) or report.stopped:
            break
    for pair in pairs:
        tell(_sentence(pair, level))
    return total


def look(tasks: Sequence[Sequence[Job]], level: float, out: Path) -> list[PairLook]:
    """What each pair shows after these tasks.

    Args:
        tasks: the games of each task, in the order played.
        level: for all pairs together.
        out: folder of the logs; below it stands condition/team.
    """
    by_task = [_means(jobs) for jobs in tasks]
    sides = sorted({side for means in by_task for side in means})
    pairs = [(a, b) for a, b in combinations(sides, 2) if a.parent == b.parent or a.name == b.name]
    return [_pair(a, b, by_task, level / max(1, len(pairs)), out) for a, b in pairs]


def _pair(a: Path, b: Path, by_task: Sequence[Mapping[Path, float]], level: float, out: Path) -> PairLook:
    import numpy as np

    from analytics.statistics.shifts import always_valid_p, confidence_sequence

    differences = np.array([means[a] - means[b] for means in by_task if a in means and b in means])
    if differences.sum() < 0:
        a, b, differences = b, a, -differences
    low, high = confidence_sequence(differences, level)
    apart = bool(len(differences)) and bool(always_valid_p(differences)[-1] <= level)
    mean = float(differences.mean()) if len(differences) else 0.0
    return PairLook(a.relative_to(out).as_posix(), b.relative_to(out).as_posix(), len(differences), mean, low, high, apart)


def _sentence(pair: PairLook, level: float) -> str:
    about = f"{pair.ahead} is {number(pair.difference)} {interval(pair.low, pair.high)} ahead of {pair.behind} on {count(pair.tasks)} tasks"
    if pair.differs:
        return f"{about}: they differ at level {level:g}, however often one looks"
    return f"{about}: no difference shown; more tasks may show one"


def _by_task(jobs: Sequence[Job]) -> dict[str, list[Job]]:
    """All games of a task together, in the order of the file: a log is named `<task>_<seed>`."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(job.path.stem.rpartition("_")[0], []).append(job)
    return found


def _means(jobs: Sequence[Job]) -> dict[Path, float]:
    """Of the sides whose games of the task have all ended."""
    found: dict[Path, list[float | None]] = {}
    for job in jobs:
        found.setdefault(job.path.parent, []).append(_value(job.path))
    return dict(_complete(found))


def _complete(found: Mapping[Path, Sequence[float | None]]) -> Iterator[tuple[Path, float]]:
    for side, values in found.items():
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            yield side, sum(known) / len(known)


def _value(path: Path) -> float | None:
    """The game's score where it is a share, else 1 or 0 for success, or the progress of a game without success; None before its end."""
    if not path.exists():
        return None
    before, _, last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
    end = orjson.loads(last).get("end")
    if not end:
        return None
    score, success = end.get("score"), end.get("success")
    if score is None and success is None:
        return None
    if success is None:  # the score is in points
        progress = orjson.loads(before.rpartition(b"\n")[2]).get("progress")
        return None if progress is None else float(progress)
    if score is not None and 0 <= score <= 1:
        return float(score)
    return float(success)


def _added(total: RunReport, report: RunReport) -> RunReport:
    """Both runs as one."""
    for field in fields(report):
        ours, theirs = getattr(total, field.name), getattr(report, field.name)
        if field.name == "paths":
            total.paths = [*ours, *theirs]
        elif field.name in ("cost_before", "first_error"):
            setattr(total, field.name, ours if ours is not None else theirs)
        elif None in (ours, theirs):
            setattr(total, field.name, None)  # a cost that is not known
        else:
            setattr(total, field.name, ours + theirs)
    return total


_SLEEP_S: Final = 5.0
_SLEEP_FACTOR: Final = 4.0
"""Rests this many times as long as a round took, so that playing keeps the machine."""

_ENDED: Final = "stop_reason IS NOT NULL"


def judge_requests(rubrics: Sequence[str], model: str | None) -> list[JudgeRequest]:
    """What is asked of the judge: the engine, or a model.

    Raises:
        UsageError: there is no such rubric, or the model's name is incomplete.
    """
    if not rubrics:
        return []
    from judges.rubric_files.load import find
    from judges.runs.job import JudgeRequest
    from providers.provider import ModelSettings

    settings = None if model is None else ModelSettings(model=model)
    return [JudgeRequest(rubric=find(name), settings=settings) for name in rubrics]


@contextmanager
def following(logs: Path, store: Store, requests: Sequence[JudgeRequest]) -> Iterator[None]:
    """Take in what the logs hold, again and again, until the block is left; what comes last is left to the caller."""
    over = threading.Event()
    thread = threading.Thread(target=_follow, args=(logs, store, requests, over), name="following")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _follow(logs: Path, store: Store, requests: Sequence[JudgeRequest], over: threading.Event) -> None:
    rest = _SLEEP_S
    while not over.wait(rest):
        began = time.monotonic()
        with suppress(CotraceError):  # the store is held elsewhere, or there is no log yet: the next round or the caller's last one tells
            _round(logs, store, requests, over)
        rest = max(_SLEEP_S, _SLEEP_FACTOR * (time.monotonic() - began))


def _round(logs: Path, store: Store, requests: Sequence[JudgeRequest], over: threading.Event) -> None:
    from analytics.installation import ensure_installed
    from ingest.files.run import ingest_paths
    from judges.runs.runner import run

    ingest_paths([logs], store, workers=1)
    ensure_installed(store)
    for request in requests:
        if not over.is_set():
            run(replace(request, where=_ENDED), store)


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
    help="Play task after task and stop once every pair of teams differs at this level, such as 0.05; it may be looked at any time.",
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

    from cotrace.progress import playing_bar, tell
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

    from games.experiments.plan import forecast, load

    found = forecast(experiment, lambda folder: load(file, replace(changes, out=folder)))
    say(f"{_described(experiment)}; {found.stored} are there already, {found.games} to play")
    for line in [_expected(name, expected) for name, expected in found.models.items()] or ["  no model plays: nothing is to be paid"]:
        say(line)
    limit = experiment.table.terms.max_cost
    say(f"  limits: {experiment.table.terms.concurrency} games at once, {'no budget' if limit is None else f'{limit:g} USD'}")
    costs = [expected.most_cost for expected in found.models.values()]
    if limit is not None and sum(cost or 0.0 for cost in costs) > limit:
        say("  the budget may end before the games do: those that wait are played on when it is started again with a higher one")
    say("  counted on games in which scripts played for the models; a model that talks longer or plays worse takes more")


def _expected(name: str, expected: Expected) -> str:
    calls = f"about {count(expected.calls)} calls (at most {count(expected.most_calls)})"
    tokens = f"about {count(expected.tokens_in)} tokens in, at most {count(expected.most_tokens_out)} out"
    if expected.cost is None:
        return f"  {name}: {calls}, {tokens}; no price known"
    return f"  {name}: {calls}, {tokens}; at most {money(expected.cost)} ({money(expected.most_cost)} if all games last to their limit)"
