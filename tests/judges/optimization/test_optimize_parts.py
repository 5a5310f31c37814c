"""What an optimiser is given: games dealt into parts, and a score per case that takes chance out."""

from __future__ import annotations

import random
from collections import Counter

import dspy
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.evidence.prompt import Prompt
from judges.optimization.cases import Case, split
from judges.optimization.optimizers import OPTIMIZERS, Sizes
from judges.optimization.program import TrainingMetric


def case(number: int, game: str, labels: dict[str, dict[str, int]]) -> Case:
    return Case(number=number, episode_id=game, prompt=Prompt(0, {}, "0" * 16, applies=True, settled={}, asks=()), labels=labels)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=60), st.floats(0.05, 0.9), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_no_game_is_in_two_parts_and_the_seed_decides(units: list[int], held_out: float, seed: int) -> None:
    """Every case is in one part; the held-out share is that of the games; the order of the cases does not matter."""
    cases = [case(10 * game + unit, f"g{game}", {}) for game, number in enumerate(units) for unit in range(number)]
    parts = split(cases, held_out=held_out, seed=seed)
    games = [{one.episode_id for one in part} for part in parts]
    assert sorted(one.number for part in parts for one in part) == [one.number for one in cases]
    assert sum(len(part) for part in games) == len(units)
    assert len(games[2]) == round(held_out * len(units))
    assert 0 <= len(games[1]) - len(games[0]) <= 1
    again = split(cases[::-1], held_out=held_out, seed=seed)
    assert [{one.episode_id for one in part} for part in again] == games


def score(metric: TrainingMetric, cases: list[Case], say: dict[str, str]) -> float:
    """The mean over the cases of a judge that maps labels to answers."""
    said = [orjson.dumps({"Q": {"answer": say[next(iter(one.labels["Q"]))]}}).decode() for one in cases]
    found = [metric({"case": str(one.number)}, {"answers": answer}) for one, answer in zip(cases, said, strict=True)]
    return sum(found) / len(found)


@pytest.mark.parametrize(("yes", "no"), [(50, 50), (90, 10), (3, 200)])
def test_the_balanced_score_ranks_judges_by_balanced_accuracy(yes: int, no: int) -> None:
    """Both judges that say always the same are equal, below any that hits both answers more often than not, and above its opposite."""
    cases = [case(number, f"g{number}", {"Q": {"yes" if number < yes else "no": 1}}) for number in range(yes + no)]
    metric = TrainingMetric({one.number: one for one in cases}, cases, balanced=True)
    always_yes, always_no = (score(metric, cases, {"yes": answer, "no": answer}) for answer in ("yes", "no"))
    assert always_yes == pytest.approx(always_no)
    assert score(metric, cases, {"yes": "yes", "no": "no"}) == 1
    assert score(metric, cases, {"yes": "no", "no": "yes"}) == pytest.approx(2 * always_yes - 1)
    rng = random.Random(0)
    for _ in range(20):
        said = {one.number: rng.choice(("yes", "no")) for one in cases}
        right = Counter(next(iter(one.labels["Q"])) for one in cases if said[one.number] in one.labels["Q"])
        balanced_accuracy = (right["yes"] / yes + right["no"] / no) / 2
        answers = {one.number: orjson.dumps({"Q": {"answer": said[one.number]}}).decode() for one in cases}
        mean = sum(metric({"case": str(n)}, {"answers": answer}) for n, answer in answers.items()) / len(cases)
        assert mean == pytest.approx(1 - (1 - balanced_accuracy) * (1 - always_yes) * 2)


def test_without_balance_the_score_is_the_accuracy_and_people_who_differ_share_a_case() -> None:
    """A unit that two of three people call yes counts 2/3 to a judge that says yes; no answer counts nothing."""
    cases = {1: case(1, "g", {"Q": {"yes": 2, "no": 1}}), 2: case(2, "g", {"Q": {"no": 1}})}
    metric = TrainingMetric(cases, list(cases.values()), balanced=False)
    assert metric({"case": "1"}, {"answers": '{"Q": {"answer": "yes"}}'}) == pytest.approx(2 / 3)
    assert metric({"case": "2"}, {"answers": '{"Q": {"answer": "yes"}}'}) == 0
    assert metric({"case": "2"}, {"answers": "{}"}) == 0
    told = metric.with_feedback(dspy.Example(case="1"), dspy.Prediction(answers='{"Q": {"answer": "unclear"}}'))
    assert told.feedback == 'Q: "unclear" is wrong: the labels say "yes" (2 times), "no" (1 times).'


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_most_that_is_asked_grows_with_what_there_is(name: str) -> None:
    """More candidates or cases never cost less; only optimisers that write need a model that writes."""
    calls = OPTIMIZERS[name].calls
    for more in (Sizes(20, 10, 3, 2), Sizes(10, 20, 3, 2), Sizes(10, 10, 6, 2)):
        assert calls(more).judge >= calls(Sizes(10, 10, 3, 2)).judge
    assert (calls(Sizes(10, 10, 3, 2)).writer > 0) == OPTIMIZERS[name].writes
