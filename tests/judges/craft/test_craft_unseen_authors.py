"""The engine checks on games written by invented authors: labels come from the plans, not from the words."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from scipy.stats import binomtest

from games.craft.players import speech
from judges.craft.checks import CHECKS
from research.engine import spoken
from research.engine_score import Judged, QuestionScore, score_decisions, total

HERE = Path(__file__).parent
FILES = ("craft_authors.yaml", "craft_voices_dev.yaml", "craft_voices_held.yaml")
"""Those of the last file were written before the reader told what it had understood; their errors were never read."""

AUTHORS = {name: rules for file in FILES for name, rules in yaml.safe_load((HERE / file).read_text("utf-8")).items()}
PLAYERS = yaml.safe_load(Path(speech.__file__).with_name("wording.yaml").read_text("utf-8"))
ENOUGH = 20
"""Decisions from which a question's precision says something."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if number == 0 else pytest.mark.long) for number, name in enumerate(sorted(AUTHORS))],
)
def judged(request: pytest.FixtureRequest) -> list[Judged]:
    """All labelled questions of one author's games, with the answers of the checks."""
    return [row for row, _ in spoken(AUTHORS[request.param], structures=1)]


def test_decisions_are_right_and_not_rare(judged: list[Judged]) -> None:
    """Whoever writes: precision 0.98 in all and 0.95 a question, with more than half of the labelled answers decided."""
    scores = score_decisions(judged)
    whole = total(scores)
    assert whole.precision is not None
    assert whole.coverage is not None
    assert (whole.precision >= 0.98, whole.coverage >= 0.5) == (True, True), whole
    assert not [score for score in scores.values() if _is_poor(score)]


def _is_poor(score: QuestionScore) -> bool:
    """Below 0.95 by more than so few decisions can be by chance: one author's 35 right of 37 is no evidence against 0.95."""
    return score.decided >= ENOUGH and bool(binomtest(score.right, score.decided, 0.95, alternative="less").pvalue < 0.05)


def test_every_author_writes_all_that_a_message_needs() -> None:
    """An author has words for places, requests, remarks, reasonings and confirmations, mostly other ones than the players have."""
    needed = {"spot.one.layer.own", "request.place.bare", "request.remove.own", "remark.unique", "finding.place.one", "confirm.follow"}
    assert len(AUTHORS) >= 18
    for name, rules in AUTHORS.items():
        assert needed <= rules.keys(), name
        assert not any(set(rules[symbol]) <= set(PLAYERS[symbol]) for symbol in needed), name
    assert {f"craft.{question}" for question in ("SG1", "MM1", "PS1")} <= CHECKS.keys()
