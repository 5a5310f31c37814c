"""The engine checks on games written by six invented authors (craft_authors.yaml): labels come from the plans, not from the words."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from games.craft.play import PlayRequest, play
from games.craft.players import grammar, speech
from judges.craft.checks import CHECKS
from judges.craft.measure import Judged, QuestionScore, score_decisions, total
from tools.measure_engine import decisions

HERE = Path(__file__).parent
AUTHORS = yaml.safe_load((HERE / "craft_authors.yaml").read_text("utf-8"))
PLAYERS = yaml.safe_load(Path(grammar.__file__).with_name("wording.yaml").read_text("utf-8"))
TEAMS = ("clear", "vague", "over_remover", "redundant+conflicting+mixed")
ENOUGH = 20
"""Decisions from which a question's precision says something."""


@pytest.fixture(scope="module", params=sorted(AUTHORS))
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    """All labelled questions of one author's games, with the answers of the checks."""
    folder = tmp_path_factory.mktemp(request.param)
    words = grammar.Grammar(PLAYERS | AUTHORS[request.param])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(speech, "wording", lambda: words)
        play(PlayRequest(out=folder, personas=TEAMS, builders=("sloppy",), structures=1, seed=5, turns=10, processes=1))
    return [row for row, _ in decisions(folder)]


def test_decisions_are_right_and_not_rare(judged: list[Judged]) -> None:
    """Whoever writes: precision 0.97 in all and 0.9 a question, with seven of ten labelled answers decided."""
    scores = score_decisions(judged)
    whole = total(scores)
    assert whole.precision is not None
    assert whole.coverage is not None
    assert (whole.precision >= 0.97, whole.coverage >= 0.7) == (True, True), whole
    assert not [score for score in scores.values() if _is_poor(score)]


def _is_poor(score: QuestionScore) -> bool:
    return score.decided >= ENOUGH and score.precision is not None and score.precision < 0.9


def test_every_author_writes_all_that_a_message_needs() -> None:
    """An author has words for places, requests, remarks, reasonings and confirmations, mostly other ones than the players have."""
    needed = {"spot.one.layer.own", "request.place.bare", "request.remove.own", "remark.unique", "finding.place.one", "confirm.follow"}
    assert len(AUTHORS) >= 6
    for name, rules in AUTHORS.items():
        assert needed <= rules.keys(), name
        assert not any(set(rules[symbol]) <= set(PLAYERS[symbol]) for symbol in needed), name
    assert {f"craft.{question}" for question in ("SG1", "MM1", "PS1")} <= CHECKS.keys()
