"""Stores with a judge that has no merit, for `python -m research null`: what reports about judges claim of it is false.

Games of two models, one of which is the judge's own; three people label half of the units, drawn at random; the judge answers each unit
twice in each of two jobs. Nothing differs between models, jobs, or long and short messages. True answers come by game.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.estimates.design import number_of
from schemas.records import Action, Agent, Episode, Json, JudgeRun, Label, Run, Turn, Utterance, Verdict
from schemas.store import batches
from schemas.store.store import Store

_STARTED: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - stored without a zone
_RUBRIC, _QUESTIONS, _JUDGE = "drawn", ("Q1", "Q2", "Q3"), "llm:local/m0"
_GAMES, _TURNS, _PEOPLE = 24, 6, 3
_SURE: Final = 0.05
_RISK: Final = 0.05


class Judging(NamedTuple):
    """How often judge and people are right, whatever the truth."""

    judge: float
    people: float = 0.85


WORLDS: Final[dict[str, Judging]] = {
    "a judge by chance": Judging(0.5),
    "a judge worse by epsilon": Judging(0.6357),  # (people - judge) * (2 people - 1) = .15: as much worse as the alt-test allows
    "a judge of kappa .6": Judging(0.8, people=1.0),
}
"""On the border of what a sentence may say: `beyond chance`, `may take the place of a person`, `good`."""


def fill(store: Store, world: Judging, random: np.random.Generator) -> None:
    """Put one such store in the place of what is there."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("runs", "episodes", "agents", "turns", "actions", "utterances", "judge_runs", "verdicts", "labels")
    }
    jobs = [_STARTED + timedelta(days=30 * job) for job in range(2)]
    for job, at in enumerate(jobs):
        model = _JUDGE.removeprefix("llm:")
        run = JudgeRun(f"j{job}", _RUBRIC, "h", None, _JUDGE, model, Json("{}"), at, at, _GAMES * _TURNS, 1, 1, 1, 0.0, "finished")
        rows["judge_runs"].append(run)
    for number in range(2):
        rows["runs"].append(Run(f"m{number}", "board", "c", Json("{}"), _STARTED))
    games = [f"g{number}" for number in random.permutation(_GAMES * _TURNS)[:_GAMES]]
    units = sorted((f"{name}/{turn}/A" for name in games for turn in range(1, _TURNS + 1)), key=lambda unit: number_of(f"{_RUBRIC}/{unit}"))
    labelled = frozenset(units[: len(units) // 2])  # as `labels template` draws them
    for game, name in enumerate(games):
        author = f"m{game % 2}"
        score = float(random.beta(3, 3))
        rows["agents"].append(Agent(name, "A", "Director", author, None, None, None, None))
        rows["episodes"].append(
            Episode(name, author, "drawn", "board", f"t{game // 2}", None, author, Json(f'{{"A": "{author}"}}'), 1, 20, _TURNS, score > 0.5,
                    score, None, None, None, Json("{}"), f"{name}.json", _STARTED)
        )  # fmt: skip
        level = random.beta(2, 2, len(_QUESTIONS))
        for turn in range(1, _TURNS + 1):
            state = Json(f'"{random.integers(6)}"')
            rows["turns"].append(
                Turn(name, turn, state, state, oracle_available=False, oracle_followed=None, progress=turn / _TURNS, goal_reached=False,
                     error=None, at=None)
            )  # fmt: skip
            rows["actions"].append(
                Action(name, turn, 1, "A", "place", Json("{}"), None, accepted=True, undoes=False, error_code=None, error_text=None)
            )
            message = " ".join(["word"] * int(random.integers(3, 30)))
            rows["utterances"].append(Utterance(name, turn, 1, "A", "public", ["A"], message, None, superseded=False))
            for place, question in enumerate(_QUESTIONS):
                about = (name, turn, question)
                truth = random.random() < level[place]
                rows["verdicts"] += _verdicts(about, bool(truth), world.judge, random)
                if f"{name}/{turn}/A" in labelled:
                    rows["labels"] += _labels(about, bool(truth), world.people, random)
    with store.writing() as connection:
        for table in rows:
            connection.execute(f"DELETE FROM {table}")
        batches.insert(connection, batches.to_arrow(rows))


def _given(truth: bool, right: bool) -> tuple[str, float]:  # noqa: FBT001 - drawn, no switches
    return ("yes", 1.0) if truth == right else ("no", 0.0)


def _verdicts(about: tuple[str, int, str], truth: bool, right: float, random: np.random.Generator) -> list[Verdict]:  # noqa: FBT001 - drawn
    """The judge's own answer of a unit, from which single answers differ in a tenth."""
    game, turn, question = about
    errs = random.random() >= right
    found = []
    for job in range(2):
        for repeat in (1, 2):
            answer, score = _given(truth, bool(errs == (random.random() < 0.1)))
            found.append(
                Verdict(f"j{job}", _RUBRIC, "h", None, question, f"{game}/{turn}/A", "u", game, turn, "A", _JUDGE, repeat, answer, score,
                        None, "answered")
            )  # fmt: skip
    return found


def _labels(about: tuple[str, int, str], truth: bool, right: float, random: np.random.Generator) -> list[Label]:  # noqa: FBT001 - drawn
    game, turn, question = about
    given = [_given(truth, bool(random.random() < right)) for _ in range(_PEOPLE)]
    return [
        Label("people", f"p{person}", _RUBRIC, question, f"{game}/{turn}/A", game, turn, "A", answer, score, sampling_probability=0.5)
        for person, (answer, score) in enumerate(given)
    ]


def _agreement(rows: pl.DataFrame, world: Judging) -> bool:
    own = rows.filter(kind="judge_people").filter(pl.col("question") != "ALL")
    is_chance = world.judge == 0.5
    return bool((own["kappa_all_low"] > 0).any() if is_chance else own["advice"].str.contains("good: use it", literal=True).any())


def _selective(rows: pl.DataFrame, world: Judging) -> bool:
    """A threshold is chosen at which more than the wished risk of all units is wrong."""
    right = world.judge * 0.9 + (1 - world.judge) * 0.1
    return bool((rows.filter("is_chosen")["coverage"] * (1 - right) > _RISK).any())


def _at(column: str) -> Callable[[pl.DataFrame, Judging], bool]:
    return lambda rows, _: bool((rows[column].drop_nulls() < _SURE).any())


CLAIMED: Final[Mapping[str, Callable[[pl.DataFrame, Judging], bool]]] = {
    "agreement": _agreement,
    "calibration": lambda rows, world: world.judge == 0.5 and bool(rows["informative"].any()),
    "alt-test": lambda rows, _: bool(rows["passes"].any()),
    "selective": _selective,
    "drift": _at("p_corrected"),
    "self-preference": _at("p_corrected"),
    "judged-effects": _at("p_holm"),
    "corrected-rates": lambda rows, _: bool(
        (rows["advice"].str.contains("use the corrected one", literal=True) & ((rows["rate_low"] > 0.5) | (rows["rate_high"] < 0.5))).any()
    ),
}
"""Report about judges -> whether it states in such a store what is false."""
