"""Answers matched by unit in the store: the same counts as where every unit is looked at by name."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from analytics.agreement.answers import Rater, answers
from analytics.agreement.units import answered
from schemas.records import Label, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.analytics.test_views_judges import job, verdict
from tests.masters import held_open

GAMES, TURNS = 6, 5
FEW, MANY = ("yes", "no", "na"), tuple(f"answer {number:02}" for number in range(40))
Way = tuple[str, tuple[int, ...], tuple[int, ...]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two rubrics, of few and of many answers, and who answered some of the units.

    A judge asked three times, one once, whom labels name as well, the engine, five people and planted truth; and verdicts on turns that are
    not there.
    """
    random = np.random.default_rng(5)
    steps = [Step(f'"{turn}"', (Move("place"),)) for turn in range(TURNS)]
    made = store_with(tmp_path_factory.mktemp("units"), [Game(steps, name=f"g{number}") for number in range(GAMES)])
    runs, verdicts, labels = [], list[Verdict](), list[Label]()
    for rubric, choice in (("few", FEW), ("many", MANY)):
        asked = [(f"g{game}", turn, question) for game in range(GAMES) for turn in range(1, TURNS + 2) for question in ("Q1", "Q2", "Q3")]
        for judge, repeats in (("engine", 1), ("llm:x", 3), ("llm:y", 1)):
            runs.append(job(f"{rubric} {judge}", judge=judge)._replace(rubric=rubric))
            for (game, turn, question), repeat in itertools.product(asked, range(1, repeats + 1)):
                if random.random() < 0.7:
                    said = str(random.choice(choice)) if random.random() < 0.9 else None
                    status = "answered" if said else "undecided"
                    row = verdict(runs[-1], (game, turn), said, repeat=repeat, status=status)
                    verdicts.append(row._replace(rubric=rubric, question=question, score=None))
        for who, source in [(f"p{number}", "people") for number in range(5)] + [("llm:y#1", "file"), ("truth", "planted")]:
            for game, turn, question in asked:
                if random.random() < 0.8:
                    said = choice[0] if random.random() < 0.5 else str(random.choice(choice))
                    labels.append(Label(source, who, rubric, question, f"{game}/{turn}", game, turn, None, said.title(), None))
        # whose games were not in the store when the labels came, or are not now
        labels += [row._replace(episode_id=None, annotator="p9") for row in labels[-400:] if row.episode_id == "g2"]
        labels += [row._replace(episode_id=None, unit_key=f"z/{row.turn}") for row in labels[-400:] if row.episode_id == "g3"]
    labels += [row._replace(source="export") for row in labels if row.annotator == "p1"]
    with made.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": runs, "verdicts": verdicts, "labels": labels}))
    yield from held_open(made)


def by_name(store: Store, rubric: str) -> dict[tuple[str, Rater, Rater], Counter[Way]]:
    """Of each question and pair of raters, or rater alone, the units of each game that were answered in each way."""
    found = answers(store, rubric)
    names = found["answer"].drop_nulls().unique().sort().to_list()
    said: dict[tuple[str, Rater], dict[tuple[str, str], Counter[str | None]]] = defaultdict(lambda: defaultdict(Counter))
    for row in found.iter_rows(named=True):
        said[row["question"], (row["role"], row["rater"])][row["unit"], row["game"]][row["answer"]] += row["n"]
    ways: dict[tuple[str, Rater, Rater], Counter[Way]] = defaultdict(Counter)
    for (question, first), (other, second) in itertools.product(said, said):
        if question == other:
            units, others = said[question, first], said[question, second]
            for unit, game in units.keys() & others.keys():
                a, b = (tuple(counts[unit, game][name] for name in [*names, None]) for counts in (units, others))
                ways[question, first, second][game, a, b] += 1
    return ways


@pytest.mark.parametrize("rubric", ["few", "many"])
def test_units_are_matched_and_counted_as_if_by_name(store: Store, rubric: str) -> None:
    expected = by_name(store, rubric)
    with store.reading() as connection:
        games = dict(
            connection.execute("SELECT hash(name), name FROM (SELECT episode_id AS name FROM episodes UNION SELECT 'z')").fetchall()
        )
    (found,) = answered(store, rubric)
    alone = {first for first, second in found.pairs() if first == second}
    assert alone == {("people", "people"), ("judge", "llm:x"), ("judge", "llm:y")}
    assert len(list(found.pairs())) == 13
    for (first, second), question in itertools.product(found.pairs(), found.questions):
        matched = found.matched(first, second, question)
        ways: Counter[Way] = Counter()
        for game, way, units in zip(matched.games, matched.ways, matched.units, strict=True):
            sides = matched.counts_first[way], matched.counts_second[way]
            if all(side.sum() for side in sides):
                ways[games[found.games[game]], *(tuple(map(int, side)) for side in sides)] += int(units)
        assert ways == expected[question, first, second]


def test_an_answer_may_have_any_character(tmp_path: Path) -> None:
    """What a file of labels says of an answer is a text from outside, with the characters that part counted answers too."""
    store = store_with(tmp_path, [Game([Step('"1"', (Move("place"),))], name="g")])
    said = ["a\x1fb\x1ec", "a\x1f\x1f1", "\x1e"]
    labels = [
        Label("file", who, "own", f"Q{number}", "g/1", "g", 1, None, answer, None)
        for who in ("p1", "p2\x1f3")
        for number, answer in enumerate(said)
    ]
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": labels}))
    (found,) = answered(store)
    assert len(found.answers) == len(said)
    for question in found.questions:
        (units,) = found.matched(("people", "people"), ("people", "people"), question).units
        assert units == 1
