"""The page of Collab-Overcooked and the kitchen on the game page, without a browser: what is drawn is what was counted."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl
import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from dashboards.address import Address
from dashboards.figures import OUTCOMES
from dashboards.overcooked import page as overcooked
from dashboards.overcooked.board import OvercookedDrawing
from dashboards.reader import reader
from ingest.files.run import ingest_paths
from judges.evidence.transcript import load
from schemas.store.store import Store
from tests.ingest.overcooked.overcooked_logs import PlayRequest, play
from tests.masters import held_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("overcooked_pages")
    orders = ("boiled_egg", "baked_carrot_soup")
    play(PlayRequest(out=folder / "logs", orders=orders, policies=("optimal", "wrong-ingredient", "bad-responder-param"), games=2))
    filled = Store(folder / "played.duckdb")
    ingest_paths([folder / "logs"], filled, workers=1)
    ensure_installed(filled)
    Store.settle(filled)
    yield from held_open(filled)


def drawn(store: Store, search: str) -> str:
    with reader(store, Address.parse("/overcooked", search)) as read:
        return str(overcooked.content(read))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("key", "title"),
    [("sr", "delivered in time"), ("pc", "progress completeness"), ("ic", "right requests"), ("rc", "right answers")],
)
def test_each_measure_is_drawn_by_level(key: str, title: str, store: Store) -> None:
    """A click away, each by its address."""
    assert f"{title} by level" in drawn(store, f"?measure={key}")


def test_every_part_is_there(store: Store) -> None:
    """The matrix, both mixes and decline: a click away, each by its address."""
    for talk, words in {"initiating": "requests by position", "responding": "answers by position"}.items():
        text = drawn(store, f"?talk={talk}")
        assert "Requests and answers" in text
        assert re.search(rf"a\('{words}', {{[^}}]*'choice chosen'", text)
    assert "Decline of every team" in drawn(store, "")


def test_bars_of_one_answer_say_which_one_it_is(store: Store) -> None:
    """Where all requests were right the bars of "What goes wrong" were orange, as of faults, and without a name."""
    with reader(store, Address.parse("/overcooked", "?model=optimal")) as read:
        figure = overcooked.PAGE.figure_of("overcooked-faults", read)
    assert figure is not None
    (trace,) = figure.data
    assert (trace.name, figure.layout.showlegend) == ("correct", True)
    assert trace.marker.color != OUTCOMES["not_followed"].color


def test_filters_leave_nothing(store: Store) -> None:
    """No game under the filters: the page says so, and how to get some."""
    assert "No Collab-Overcooked game under these filters." in drawn(store, "?model=nobody")


def test_rates_have_their_intervals(store: Store) -> None:
    """Two of two delivered: 100 % with the Wilson interval down to 34.2 %; games that are alike have a PC interval of no width."""
    with reader(store, Address.parse("/overcooked", "?model=optimal&level=1")) as read:
        figure = overcooked.PAGE.figure_of("overcooked-levels", read)
    assert figure is not None
    (trace,) = figure.data
    assert list(trace.x) == [1.0]
    assert trace.error_x.arrayminus[0] == pytest.approx(1 - 0.3424, abs=0.0001)


def test_one_game_has_no_interval_of_progress(store: Store) -> None:
    """A t interval needs two games: with one there is none, and none is drawn."""
    with reader(store, Address.parse("/overcooked", "")) as read:
        one = read.at(Address.parse("/overcooked", "?measure=pc&model=optimal&level=1"))
        chart = overcooked.PAGE.charts[0]
        rows = overcooked.PAGE.rows(one, chart).head(1).with_columns(pl.lit(None, pl.Float64).alias(end) for end in ("low", "high"))
        (trace,) = overcooked.PAGE.draw(one, chart, rows).data
    assert (list(trace.error_x.array), list(trace.error_x.arrayminus)) == ([0.0], [0.0])


def test_the_matrix_counts_conversations(store: Store) -> None:
    """Its cells sum to the Chef's conversations, and are those of the view."""
    with reader(store, Address.parse("/overcooked", "")) as read:
        drawn = overcooked.PAGE.figure_of("overcooked-talk", read)
    assert drawn is not None
    heat, words = drawn.data
    assert list(heat.x) == ["answer right", "answer wrong"]
    assert list(heat.y) == ["request wrong", "request right"]
    assert all("rgba" in color for _, color in drawn.layout.coloraxis.colorscale), "an opaque cell is white on a dark page"
    assert len(words.text) == 4
    assert sum(sum(row) for row in heat.z) == query(store, "select sum(n_communications) from overcooked_games").item()
    wrong_both = query(store, "select count(*) from overcooked_collaborations where not initiate_ok and not respond_ok").item()
    assert heat.z[0][1] == wrong_both > 0


def test_the_kitchen_shows_plans_requests_and_refusals(store: Store) -> None:
    """First turn of a game with a misspelt place: the request, the refusal with its code, and both trajectories against a reference."""
    found = query(store, "select episode_id from episodes where model = 'bad-responder-param' and task_id = 'baked_carrot_soup' limit 1")
    (game,) = load(store, [found.item()])
    drawing = OvercookedDrawing()
    first, last = str(drawing.turn(game, game.turn(1))), str(drawing.turn(game, game.turns[-1]))
    assert "Requested of the partner" in first
    assert "V_REACH" in first
    assert "Assistant: trajectory score 1.00, 7 of 7 followed" in last
    assert "Put carrot slices into the oven0" in str(drawing.goal(game))


def test_decline_is_counted(store: Store) -> None:
    """The wrong request of a soup comes second: all right in the first conversations, none or fewer in the later ones."""
    row = query(
        store,
        "select n, rate_first, rate_last, slope from overcooked_decline "
        "where model = 'wrong-ingredient' and capability = 'initiate' and scale = 'level'",
    ).row(0)
    asked = query(
        store,
        "select level, avg(initiate_ok::int) as rate from overcooked_collaborations where model = 'wrong-ingredient' group by 1 order by 1",
    )
    assert row[1:3] == pytest.approx(tuple(asked["rate"]))
    assert row[3] == pytest.approx((asked["rate"][1] - asked["rate"][0]) / 2)


def test_collaborations_name_their_quarter(store: Store) -> None:
    """The first conversation of every game is in the first quarter, before any progress."""
    rows = query(store, "select position, progress_before from overcooked_collaborations where turn = 1").rows()
    assert rows
    assert set(rows) == {(1, 0.0)}
