"""The Einstein page and the drawing of its tables, over played games."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.einstein.board import EinsteinDrawing
from dashboards.pages.failures import counts
from dashboards.parts import compact
from dashboards.playback.facts import facts_of
from dashboards.playback.turn_outcome import tried, what_went_wrong
from dashboards.reader import reader
from games.einstein.game import GameSettings
from ingest.files.run import ingest_paths
from judges.evidence.transcript import load
from schemas.common import wording
from schemas.store.store import Store
from tests.masters import held_open
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

CONDITIONS = (GameSettings(), GameSettings(modes=("none", "none"), verifier="reasoning"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Six puzzles under two conditions."""
    folder = tmp_path_factory.mktemp("pages")
    play(PlayRequest(out=folder / "logs", personas=("mixed",), partners=("sensible",), games=6, conditions=CONDITIONS))
    store = Store(folder / "test.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    Store.settle(store)
    yield from held_open(store)


def drawn(store: Store, path: str, search: str = "") -> str:
    """The page of an address as JSON text, the HTML in it as it is."""
    parts = draw_page(store, Address.parse(path, search))
    return json.dumps(compact(parts[2]), default=lambda part: part.to_plotly_json()).replace('\\"', '"')


def test_page_shows_what_the_views_have(store: Store) -> None:
    """Games, solved games and the counts of the error table."""
    games, wins, steps = query(store, "select count(*), sum(success)::int, sum(step_count)::int from einstein_games").row(0)
    wrong = query(store, "select sum(wrong_guess)::int from einstein_games").item()
    page = drawn(store, "/einstein")

    assert f"{wins} of {games}<" in page
    assert f"{steps} steps" in page
    assert wrong > 0
    assert "wrong_guess" in page
    assert f">{wrong}<" in page


def test_objects_in_their_bins_are_written_as_on_the_overview(store: Store) -> None:
    """They were 89 % here and .89 there, where the interval stands beside them."""
    mean = wording.score(query(store, "select avg(sub_r) from einstein_games").item())
    assert f">{mean}<" in drawn(store, "/einstein")
    assert f">{mean}<" in drawn(store, "/", "?benchmark=einstein")


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("by", ["action_mode", "verifier", "num_objects", "model", "use_cot", "run"])
def test_every_grouping_draws(store: Store, by: str) -> None:
    """Each dimension on the axis, and as colours."""
    for search in (f"?by={by}", f"?by={by}&split={by}&per=relevant"):
        page = drawn(store, "/einstein", search)
        assert "could not be drawn" not in page
        assert "Step ratio" in page


def test_filters_narrow_the_page(store: Store) -> None:
    """The size is a filter of every page; a filter without games says how to get some."""
    assert "of 4<" in drawn(store, "/einstein", "?level=4+objects")
    assert "cotrace play einstein" in drawn(store, "/einstein", "?model=nobody")


def test_game_page_draws_bins_knowledge_and_answer(store: Store) -> None:
    """Every object stands in its bin, both players' items and inferences are listed, with what is unknown to whom."""
    episode = query(store, "select episode_id from episodes where level = '5 objects' order by 1 limit 1").item()
    (game,) = load(store, [episode])
    state = game.turns[0].state_before
    page = drawn(store, "/game", f"?episode={episode}&turn=1")

    for name, blocks in state["bins"].items():
        assert name.removesuffix("bin").strip("_").replace("_", " ") in page
        assert all(f'title="{block}"' in page for block in blocks)
    for agent, known in state["knowledge"].items():
        assert f"{agent} knew" in page
        assert all(EinsteinDrawing().prose(item) in page for item in known["items"])
    assert "_bin" not in page
    unknown = {f"block{n}: unknown" for n in range(5) for known in state["knowledge"].values() if f"block{n}" not in known["infers"]}
    assert unknown
    assert all(text in page for text in unknown)


@pytest.mark.parametrize(
    ("verb", "arguments", "text"),
    [
        ("move", {"block": "block1", "from": "player1_bin", "to": "commonbin"}, "move block1 from the player1 bin to the common bin"),
        ("share", {"block": "block0", "in": "top_left_bin"}, "share: block0 belongs in the top left bin"),
        ("share", {"blocks": ["block0", "block2"], "same": "row"}, "share: block0 and block2 belong in one row"),
        ("ask", {"block": "block3"}, "ask about block3"),
        ("pass", {}, "pass"),
        ("invalid", {"text": "jump\x1b"}, "unreadable: jump"),
    ],
)
def test_actions_in_words(verb: str, arguments: dict[str, object], text: str) -> None:
    """In words, without the marks of their code; what could not be read is quoted without control characters."""
    assert EinsteinDrawing().action(verb, arguments).startswith(text)
    assert EinsteinDrawing().action(verb, arguments).isprintable()


def test_shares_on_the_failure_page_are_of_turns(store: Store) -> None:
    """A step with two errors is one step of the denominator."""
    with reader(store, Address("/failures")) as read:
        found = counts(read, "einstein_published", "model")
    steps = query(store, "select sum(step_count)::int from einstein_games").item()
    assert set(found["denominator"]) == {steps}
    assert found["turns"].sum() > steps


def test_a_refusal_is_told_by_its_meaning_not_by_its_code(store: Store) -> None:
    """A newcomer read "refused: same source dest" and did not know what was wrong."""
    episode, turn, meaning = query(
        store,
        """
        select episode_id, turn, meaning from actions
        join failures using (episode_id, turn) join failure_map using (taxonomy, category)
        where not accepted and category = error_code and not list_contains($carried_out, error_code) order by all limit 1
        """,
        {"carried_out": sorted(EinsteinDrawing.CARRIED_OUT)},
    ).row(0)
    (game,) = load(store, [episode])
    with reader(store, Address.parse("/game", "")) as read:
        facts = facts_of(read, episode)
    assert f"'s action was refused: {meaning}." in what_went_wrong(game.turn(turn), facts, EinsteinDrawing())
    assert f"refused: {meaning}" in str(tried(game.turn(turn), facts.at(turn), EinsteinDrawing()))
