"""Recorded readings of a strong model, through form, resolution and checks: the same verdicts as ever, and no false blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.real import (
    DATA,
    FAULTS_RATED,
    READERS,
    RECORDED,
    TURNS_RATED,
    Rated,
    annotated_faults,
    faults,
    rated_faults,
    rated_verdicts,
    readings_of,
)

RATINGS = DATA / "real_verdicts" / "verdicts.csv"
OLD_FORM = DATA / "readings" / "readings.jsonl"

pytestmark = pytest.mark.skipif(not RATINGS.exists(), reason="the rated turns lie beside the project")


def judged(folder: Path, reader: str, readings: Path) -> dict[str, list[Rated]]:
    """The answered questions of a reader, by question, and all of them as `all`."""
    rated = rated_verdicts(DATA / "craft_results", RATINGS, folder, READERS[reader], readings)
    answered = [one for one in rated if one.engine is not None]
    return {"every": rated, "all": answered} | {
        name: [one for one in answered if one.question == name] for name in {r.question for r in rated}
    }


def precision(answered: list[Rated]) -> float:
    return sum(one.engine == one.both for one in answered) / len(answered)


@pytest.mark.parametrize(("reader", "coverage"), [pytest.param("model", 0.70, marks=pytest.mark.long), ("both", 0.70)])
def test_a_strong_reading_gives_the_answers_of_both_raters(reader: str, coverage: float, tmp_path: Path) -> None:
    """On turns of published games; no question with ten answers falls below .93."""
    answered = judged(tmp_path, reader, RECORDED)
    assert len(answered["all"]) / len(answered["every"]) >= coverage
    assert precision(answered["all"]) >= 0.98
    assert [name for name, rated in answered.items() if len(rated) >= 10 and precision(rated) < 0.93 and name != "every"] == []


@pytest.mark.long  # games are read in that form in `make test`, too: no director is blamed
def test_readings_in_the_form_before_can_still_be_used(tmp_path: Path) -> None:
    """They have no relations between blocks, so fewer of them say where; what is concluded is right nearly as often."""
    answered = judged(tmp_path, "model", OLD_FORM)
    assert len(answered["all"]) / len(answered["every"]) >= 0.35
    assert precision(answered["all"]) >= 0.95


@pytest.mark.parametrize("reader", [pytest.param(name, marks=() if name == "both" else pytest.mark.long) for name in READERS])
def test_no_director_is_blamed_for_what_a_strong_reader_finds_said(reader: str, tmp_path: Path) -> None:
    """In games in which a language model held every seat."""
    found, lost = faults(DATA / "llm_games", readings_of(OLD_FORM), tmp_path, READERS[reader])
    assert [fault for fault in found if fault.key == "false"] == []
    assert sum(lost.values()) == pytest.approx(0.357, abs=0.001)


@pytest.mark.parametrize("reader", [pytest.param("model", marks=pytest.mark.long), "both"])
def test_directors_of_published_games_are_blamed_for_real_faults(reader: str, tmp_path: Path) -> None:
    """As a rater found them: with a model's readings there are some, and nine in ten are right."""
    found = [fault.key for fault in rated_faults(DATA / "craft_results", FAULTS_RATED, tmp_path, READERS[reader])]
    right, false = found.count("right"), found.count("false")
    assert right >= 5
    assert right / (right + false) >= 0.9


def test_directors_of_many_models_are_blamed_for_what_blind_annotators_found(tmp_path: Path) -> None:
    """On single turns of 14 models, by rules and by annotations: faults whose message somebody judged who knew of no verdict."""
    for faults_found in annotated_faults(DATA, tmp_path, TURNS_RATED).values():
        found = [fault.key for fault in faults_found]
        assert found.count("right") >= 20
        assert found.count("false") <= found.count("right") / 9
