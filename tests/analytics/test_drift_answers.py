"""What the drift report compares, on stores at random: repeats, variants, rubrics and jobs, against the same sums in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from analytics.drift import compared_answers
from schemas.records import Call, JudgeRun, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.test_views_judges import STARTED, UNITS, job, judged, verdict

Key = tuple[Any, ...]


class Asked(NamedTuple):
    """One unit in one job: where its first answer stands, and its answers."""

    run: JudgeRun
    game: str
    place: int
    answers: list[str]


def at_random(seed: int) -> tuple[list[JudgeRun], list[Verdict]]:
    """Up to seventy jobs (more than a machine word has bits), some of one answer a unit, some with repeats, in any order of answers."""
    random = Random(seed)
    jobs = random.choice((3, 8, 70))
    runs = [
        job(
            f"r{n}",
            judge=random.choice(("engine", "llm:x/y", "llm:x/z")),
            hours=n // 2,
            variant=random.choice((None, None, "v", "probe:p")),
        )
        for n in range(jobs)
    ]
    runs = [run._replace(rubric=random.choice(("ps", "other"))) for run in runs]
    rows = [
        verdict(
            run,
            unit,
            random.choice(("yes", "Yes", "no", "N/A", "na")),
            repeat=repeat,
            status=random.choice(("answered",) * 9 + ("failed",)),
        )._replace(rubric=run.rubric, question=question, unit_hash=random.choice("uuuw"))
        for run in runs
        for most in [random.choice((1, 1, 3))]
        for unit in random.sample(UNITS, random.randint(1, len(UNITS)))
        for question in ("PS1", "PS2")
        for repeat in range(1, random.randint(1, most) + 1)
    ]
    random.shuffle(rows)
    return runs, [row._replace(call_id=f"c{place}") for place, row in enumerate(rows)]


def timed(folder: Path, runs: list[JudgeRun], rows: list[Verdict]) -> Store:
    """A store of them: each answer was asked for a second after the one before, and they lie in it as nobody asked them."""
    store = judged(folder, runs, sorted(rows, key=lambda row: (row.unit_id, row.answer, row.call_id)))
    calls = [
        Call(row.call_id or "", "judge", row.judge_run_id, None, None, None, "x", "p", None, None, None, 0, 0, 0, 0, None, None, 1,
             "answered", None, STARTED + timedelta(seconds=place))
        for place, row in enumerate(rows)
    ]  # fmt: skip
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"calls": calls}))
    return store


def asked(runs: list[JudgeRun], rows: list[Verdict]) -> dict[Key, list[Asked]]:
    """By judge, question and unit: the jobs that answered, the first one first."""
    order = {run.judge_run_id: run for run in sorted(runs, key=lambda run: (run.started_at, run.judge_run_id))}
    found: dict[Key, dict[str, Asked]] = defaultdict(dict)
    for place, row in enumerate(rows):
        run = order[row.judge_run_id]
        if row.status != "answered" or not run.judge.startswith("llm:") or (run.variant or "").startswith("probe:"):
            continue
        judge = run.judge if run.variant is None else f"{run.judge} ({run.variant})"
        of_unit = found[run.rubric, judge, row.question, (row.unit_id, row.unit_hash)]
        one = of_unit.setdefault(row.judge_run_id, Asked(run, row.episode_id, place, []))
        one.answers.append(str(row.answer).lower().replace("/", ""))
    return {key: [of_unit[name] for name in order if name in of_unit] for key, of_unit in found.items()}


def shares(answers: list[str]) -> dict[str, float]:
    """Of each answer."""
    return {answer: n / len(answers) for answer, n in Counter(answers).items()}


def again_by_hand(units: dict[Key, list[Asked]]) -> dict[Key, list[float]]:
    """Units, later, earlier, same by rubric, judge, question, job, game and answer."""
    found: dict[Key, list[float]] = defaultdict(lambda: [0.0] * 4)
    sizes: Counter[Key] = Counter()
    for (*named, _), jobs in units.items():
        for one in jobs[1:]:
            key = (*named, one.run.judge_run_id, one.game)
            sizes[key] += 1
            then, now = shares(jobs[0].answers), shares(one.answers)
            for answer in then | now:
                sums = found[(*key, answer)]
                values = now.get(answer, 0.0), then.get(answer, 0.0)
                sums[1:] = [sums[1] + values[0], sums[2] + values[1], sums[3] + values[0] * values[1]]
    return {key: [sizes[key[:-1]], *sums[1:]] for key, sums in found.items()}


def cells_by_hand(units: dict[Key, list[Asked]]) -> dict[Key, list[float]]:
    """Units and share by rubric, judge, question, job, game, late, new and answer."""
    places: dict[Key, list[int]] = defaultdict(list)
    for (*named, _), jobs in units.items():
        for one in jobs:
            places[(*named, one.run.judge_run_id)].append(one.place)
    middles = {key: sorted(found)[(len(found) - 1) // 2] for key, found in places.items()}
    found: dict[Key, list[float]] = defaultdict(lambda: [0.0, 0.0])
    sizes: Counter[Key] = Counter()
    for (*named, _), jobs in units.items():
        for one in jobs:
            job_key = (*named, one.run.judge_run_id)
            key = (*job_key, one.game, one.place > middles[job_key], one is jobs[0])
            sizes[key] += 1
            for answer, share in shares(one.answers).items():
                found[(*key, answer)][1] += share
    return {key: [sizes[key[:-1]], sums[1]] for key, sums in found.items()}


def repeats_by_hand(units: dict[Key, list[Asked]]) -> dict[Key, list[float]]:
    """Chance that two answers about a unit in one job are equal, by rubric, judge and question."""
    found: dict[Key, list[float]] = defaultdict(list)
    for (*named, _), jobs in units.items():
        for one in jobs:
            n = len(one.answers)
            if n > 1:
                found[tuple(named)].append((sum(k * k for k in Counter(one.answers).values()) - n) / (n * (n - 1)))
    return {key: [sum(values) / len(values)] for key, values in found.items()}


def read(store: Store, rubric: str | None = None) -> list[dict[Key, list[float]]]:
    """The three tables as above; jobs by name, which in `job` tells the hour they began."""
    found = compared_answers(store, rubric)
    named = ["rubric", "judge", "question"]
    keys = [[*named, "run", "game", "answer"], [*named, "run", "game", "is_late", "is_new", "answer"], named]
    values = [["units", "later", "earlier", "same"], ["units", "share"], ["repeats_agree"]]
    return [
        {row[: len(key)]: list(row[len(key) :]) for row in rows.select(*key, *value).rows()}
        for rows, key, value in zip(found, keys, values, strict=True)
    ]


ONE_OF_A_SIZE = (1, 5)
"""Seeds of eight and of seventy jobs."""
MORE = [pytest.param(seed, marks=pytest.mark.long) for seed in range(12) if seed not in ONE_OF_A_SIZE]


@pytest.mark.parametrize("seed", [*ONE_OF_A_SIZE, *MORE])
def test_the_sums_are_those_of_plain_python(tmp_path: Path, seed: int) -> None:
    """Whatever was asked how often, by whom and when."""
    runs, rows = at_random(seed)
    store = timed(tmp_path, runs, rows)
    units = asked(runs, rows)
    models = sorted((run for run in runs if run.judge != "engine"), key=lambda run: (run.started_at, run.judge_run_id))
    order = [run.judge_run_id for run in models if not (run.variant or "").startswith("probe:")]
    for found, by_hand in zip(read(store), (again_by_hand(units), cells_by_hand(units), repeats_by_hand(units)), strict=True):
        expected = {tuple(order.index(part) + 1 if part in order else part for part in key): values for key, values in by_hand.items()}
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(values, abs=1e-12) for key, values in expected.items())


def test_one_rubric_is_read_alone(tmp_path: Path) -> None:
    """As if the others were not there."""
    runs, rows = at_random(1)
    kept = {run.judge_run_id for run in runs if run.rubric == "other"}
    (tmp_path / "all").mkdir()
    (tmp_path / "one").mkdir()
    alone = timed(tmp_path / "one", [run for run in runs if run.judge_run_id in kept], [row for row in rows if row.judge_run_id in kept])
    assert read(timed(tmp_path / "all", runs, rows), "other") == read(alone)
