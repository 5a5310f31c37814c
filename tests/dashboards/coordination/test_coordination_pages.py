"""Pages and drawings of LLM-Coordination: every state can be drawn, the page shows what the views say, correlations keep their caution."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import plotly.utils
import pytest

from analytics.query import query
from analytics.statistics.intervals import pearson
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.parts import compact
from dashboards.reader import reader
from dashboards.team_figures import overview_figure
from dashboards.teams import teams_of
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.coordination.coordination_logs import PlayRequest, play
from tests.masters import held_open, published_store


def _drawn(store: Store, path: str, search: str = "") -> str:
    return json.dumps(compact(draw_page(store, Address.parse(path, search))[2]), cls=plotly.utils.PlotlyJSONEncoder)


@pytest.fixture(scope="module")
def store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The recorded games and two respondents."""
    found = published_store(
        shared, tmp_path_factory.mktemp("pages"), "coordination/hanabi", "coordination/overcooked", "coordination/collab_games"
    )
    answers = shared / "data/coordination/coordqa/native_logs"
    ingest_paths([answers / f"all_openai_{who}0.json" for who in ("refusal", "bare_letter")], found, workers=1)
    Store.settle(found)
    yield from held_open(found)


def test_the_page_shows_every_card(store: Store) -> None:
    """Questions beside chance, lost letters, the games, and that no model has both."""
    shown = _drawn(store, "/coordination")
    for text in ("CoordinationQA by type", "Where letters get lost", "The four games", "No model has both answered", "bare_letter"):
        assert text in shown


@pytest.mark.parametrize(
    ("level", "mark"),
    [
        ("hanabi", "what hints told"),
        pytest.param("overcooked", "points", marks=pytest.mark.long),
        pytest.param("collab_capture", "door 1-2", marks=pytest.mark.long),
        ("collab_escape", "generator 0 of 2"),
        ("JP", "Options"),
    ],
)
def test_every_kind_of_game_has_its_drawing(store: Store, level: str, mark: str) -> None:
    """One game of each kind, and a question: what is particular to it stands on the game page."""
    episode = query(store, f"select episode_id from episodes where level = '{level}' order by episode_id limit 1").item()
    shown = _drawn(store, "/game", f"?episode={episode}&turn=1")
    assert "could not be drawn" not in shown
    assert mark in shown
    assert "captured True" not in shown  # what is to be reached is said in words, not as a program writes it


@pytest.mark.parametrize(("costs", "words"), [pytest.param(True, "and wrong", marks=pytest.mark.long), (False, "against a rule")])
def test_a_card_that_does_not_fit_was_played(costs: bool, words: str, store: Store) -> None:  # noqa: FBT001
    """The page said that the engine refused it, below a board on which the life was gone; by its exact cost a lucky guess is not wrong."""
    found = """
        SELECT episode_id, turn FROM actions INNER JOIN turn_costs USING (episode_id, turn)
        WHERE error_code = 'misplay' AND (cost > 1e-6) = $costs ORDER BY ALL LIMIT 1
    """
    episode, turn = query(store, found, {"costs": costs}).row(0)
    shown = _drawn(store, "/game", f"?episode={episode}&turn={turn}")
    assert f"action was carried out {words}" in shown
    assert f"carried out, {words}" in shown
    assert "was refused" not in shown


@pytest.mark.long
def test_a_store_without_such_games_says_so(tmp_path: Path) -> None:
    """The page names what to do."""
    play(PlayRequest(game="collab_escape", out=tmp_path / "logs", policies=("camper",), seeds=(1,)))
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    shown = _drawn(store, "/coordination")
    assert "The four games" in shown
    assert "CoordinationQA by type" not in shown


def test_correlation_of_few_models_says_little() -> None:
    """Two pairs give none; three give an interval of everything; four on a line with noise are compared with a hand-worked value."""
    assert pearson([1, 2], [1, 2]) is None
    assert pearson([1, 1, 1], [1, 2, 3]) is None
    three = pearson([1, 2, 3], [1, 3, 2])
    assert three is not None
    assert three.value == pytest.approx(0.5)
    assert (three.low, three.high) == (-1, 1)
    four = pearson([1, 2, 3, 4], [1, 3, 2, 4])
    assert four is not None
    assert four.value == pytest.approx(0.8)
    assert four.low < 0 < four.high


def test_the_filters_narrow_every_card(store: Store) -> None:
    """The page ignored them all: a respondent, a type of question and a game alone leave nothing of the others."""
    one = _drawn(store, "/coordination", "?model=bare_letter")
    assert "bare_letter" in one
    assert "refusal" not in one
    assert "The four games" not in one
    games = _drawn(store, "/coordination", "?condition=hanabi")
    assert "The four games" in games
    assert "CoordinationQA by type" not in games
    assert "collab capture" not in games
    assert "theory of mind" not in _drawn(store, "/coordination", "?level=EC&level=JP")
    assert "No LLM-Coordination game under these filters" in _drawn(store, "/coordination", "?model=nobody")


def test_each_game_of_the_front_page_has_its_own_score_and_losses(store: Store) -> None:
    """Points of Hanabi were called right answers to CoordinationQA, and what was lost in all games stood at each."""
    with reader(store, Address.parse("/", "?benchmark=coordination")) as read:
        hanabi, escape = (teams_of(read, "coordination", game) for game in ("hanabi", "collab_escape"))
        titles = [figure.layout.annotations[0].text for teams in (hanabi, escape) if (figure := overview_figure(read, teams))]
        turns, failures = hanabi.turns, hanabi.failures
        escaped = escape.turns
    assert titles == ["Points of 25", "Escaped"]
    assert {row["team"] for row in (*turns, *failures)} <= {row["team"] for row in hanabi.rows}
    assert len(turns) + len(escaped) > 0
    assert not {(row["team"], row["condition"]) for row in turns} & {(row["team"], row["condition"]) for row in escaped}
