"""Experiments that stop once their teams are told apart: tasks are played one after another, and looked at as they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from schemas.errors import UsageError
from schemas.wording import count, interval, number

if TYPE_CHECKING:
    from games.experiments.plan import Experiment
    from games.players.progress import OnProgress
    from games.players.running import Job, RunReport


class PairLook(NamedTuple):
    """What a pair of sides shows by now; a side is a team under a condition."""

    ahead: str
    behind: str
    tasks: int
    """On which both have ended games."""
    difference: float
    low: float
    high: float
    is_told_apart: bool


def play_until(experiment: Experiment, level: float, tell: Callable[[str], None], on_progress: OnProgress | None = None) -> RunReport:
    """Play task after task until every pair of sides is told apart, or no task is left.

    A pair differs in the team or in the condition alone. A task counts once, with the mean of its seeds. The level is shared out over the
    pairs (Bonferroni), so that the chance of a single false claim, at any look, is at most `level`. Started again, it goes on from the
    games that are there.

    Args:
        experiment: its jobs.
        level: 0 to 1, such as 0.05.
        tell: is told a line after each look.
        on_progress: as `run_games` takes it.

    Raises:
        UsageError: there is only one side, so nothing to tell apart; and what `run_games` raises.
    """
    from games.players.running import RunReport, run_games

    tasks = _by_task(experiment.jobs)
    if len({job.path.parent for job in experiment.jobs}) < 2:  # noqa: PLR2004
        raise UsageError("--stop-when: one team under one condition has nobody to be told apart from; give a second, or leave it out")
    at_once = max(1, -(-experiment.table.terms.concurrency // max(len(jobs) for jobs in tasks.values())))
    names, total = list(tasks), RunReport()
    for start in range(0, len(names), at_once):
        report = run_games([job for name in names[start : start + at_once] for job in tasks[name]], experiment.table, on_progress)
        total = _added(total, report)
        pairs = look([tasks[name] for name in names[: start + at_once]], level, experiment.out)
        apart = sum(pair.is_told_apart for pair in pairs)
        played = f"{count(min(start + at_once, len(names)))} of {count(len(names))} tasks"
        tell(f"after {played} {count(apart)} of {count(len(pairs))} pairs are told apart")
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
    if pair.is_told_apart:
        return f"{about}: told apart at {level:g}, at whichever look"
    return f"{about}: not told apart, so nothing follows; more tasks may show it"


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
