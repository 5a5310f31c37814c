"""The page Why and the sentence about a turn, over attributed games."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from plotly.io.json import to_json_plotly as to_plotly_json

from analytics.losses.lost import amount
from analytics.query import query
from dashboards.address import Address
from dashboards.boards import drawing_of
from dashboards.page_file import document
from dashboards.pages import failures, game, why
from dashboards.parts import compact, to_html
from dashboards.playback import turn_outcome
from dashboards.playback.facts import GameFacts, TurnFacts, facts_of
from dashboards.playback.turn_outcome import unexplained, what_went_wrong
from dashboards.reader import reader
from games.einstein.experiment import play_planted
from judges.attribution.job import attribute_games
from judges.evidence.transcript import TurnView, reader_named
from schemas.records import Label
from schemas.store import batches
from schemas.store.store import Store
from tests.ingest.asked import ingested, written
from tests.judges.attribution.test_craft_attribution import attributed
from tests.masters import held_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("why")
    play_planted(folder / "logs", 12, seed=4)
    found = attributed(folder / "logs", folder)
    Store.settle(found)
    yield from held_open(found)


def test_of_many_teams_six_have_a_colour_of_their_own() -> None:
    """The others are grey, and have one name in the legend."""
    teams = [f"m{place}" for place in range(9)]
    rows = pl.DataFrame([{"team_name": team, "turn": turn, "lost_a_game": float(turn)} for team in teams for turn in (1, 2)])
    drawn = why._curve(rows, {team: team for team in teams}, teams, "steps")
    assert [trace.name for trace in drawn.data if trace.showlegend] == [*teams[:6], "other"]
    assert len({trace.line.color for trace in drawn.data}) == 7
    assert [trace.meta for trace in drawn.data] == teams


@pytest.mark.parametrize("filters", ["", "level=simple", "level=none"])
def test_turns_and_benchmarks_are_those_of_attributed_costs(store: Store, filters: str) -> None:
    """The page asks the rows for them, not the view with all its columns."""
    with reader(store, Address.parse("/why", filters)) as read:
        whole = read.rows("SELECT * FROM attributed_costs WHERE {filters}")
        costly = whole.filter((pl.col("cost") > 0) & pl.col("cost").is_finite())
        assert read.rows(why._COUNT)["turns"].item() == costly.select("episode_id", "turn").n_unique()
        assert set(read.rows(why._BENCHMARKS)["benchmark"]) == set(whole["benchmark"])


def test_the_page_says_which_step_failed(store: Store) -> None:
    """The bars of the teams and those of the failure points each hold all that was lost, and lead to the turns."""
    with reader(store, Address(why.PATH)) as read:
        text, drawn = str(why.content(read)), why.report_figure(read)
        flows = read.rows(why._FLOWS)
        points = why.points_figure(read, flows)
        games = dict(read.rows(why._CURVE).select("team_name", "games").unique().iter_rows())
    lost = query(store, "select sum(cost) from attributions").item()
    turns, n = query(store, "select count(distinct (episode_id, turn)), count(distinct episode_id) from attributions where cost > 0").row(0)
    assert f"{lost:.0f} steps were lost in {turns} turns of {n} games" in text
    assert "as read by the rules." in text
    assert "by what it knew" in text
    assert drawn is not None
    by_team = sorted(
        flows.with_columns(pl.col("cost") / pl.col("team_name").replace_strict(games))
        .group_by("team_name")
        .agg(pl.col("cost").sum())["cost"]
    )
    assert sum(sum(bar.x) for bar in drawn.data) == pytest.approx(sum(by_team[-why._MOST_TEAMS :]))
    assert "seeing: no agent could see it" in {bar.name for bar in drawn.data}
    assert sum(sum(bar.x) for bar in points.data) == pytest.approx(1)
    for address in (entry[0] for figure in (drawn, points) for bar in figure.data for entry in bar.customdata):
        assert re.match(r"/turns\?.*only=lost&(step|link)=", address), address


@pytest.mark.long
def test_pages_say_whose_reading_of_the_messages_it_is(store: Store, tmp_path: Path) -> None:
    """A game has one attribution; games can have been attributed by several readers, which a mean over them must not hide."""
    own = Store(shutil.copy(store.path, tmp_path / "own.duckdb"))
    first, *rest = query(store, "select episode_id, count(*) from attributions where cost > 0 group by all order by all")[
        "episode_id"
    ].to_list()

    def shown(store: Store) -> tuple[str, str]:
        with reader(store, Address(why.PATH)) as read:
            facts = facts_of(read, first)
            costly = next(one for one in facts.turns if one.links)
            return str(why.content(read)), str(turn_outcome._links(costly, drawing_of(facts.benchmark)))

    assert all("as read by the rules." in page for page in shown(store))
    attribute_games(own, f"episode_id = '{first}'", reader_named("planted"))
    Store.settle(own)
    of_all, of_game = shown(own)
    assert f"the rules in {len(rest)} game" in of_all
    assert "planted in 1 game" in of_all
    assert "as read by planted." in of_game


@pytest.mark.parametrize(
    ("cost", "words"), [(20.35, "20.35"), (10.04, "10.04"), (0.47, ".47"), (0.042, ".042"), (100.5, "100.50"), (0.0, "0")]
)
def test_only_the_first_zero_of_progress_is_left_out(cost: float, words: str) -> None:
    assert amount(cost, "progress") == words


def test_a_filter_that_leaves_nothing_says_so(store: Store) -> None:
    with reader(store, Address(why.PATH, {"model": ("nobody",)})) as read:
        assert "code('cotrace attribute'" in str(why.content(read))
        assert why.report_figure(read) is None


def test_the_report_in_a_file_has_the_steps_that_failed(store: Store) -> None:
    assert "acting: the action was wrong" in document(store, {"lost": query(store, "select 1 as one")})


def test_the_game_page_draws_what_was_lost_so_far(store: Store) -> None:
    episode, turn = query(
        store, "select episode_id, turn from decisive_turns where isfinite(lost_in_game) order by lost_in_game desc, episode_id limit 1"
    ).row(0)
    with reader(store, Address("/game", {"episode": (episode,), "turn": (str(turn),)})) as read:
        shown = to_html(game.content(read))
    assert "<polyline" in shown
    assert "marked: the turn shown, and the decisive one" in shown


def test_the_last_turn_of_a_lost_game_says_that_it_was_lost(store: Store) -> None:
    """Many logs say of no turn that it failed, and a reader who opens the end was told that the turn was carried out."""
    episode, turns = query(store, "select episode_id, turns_taken from games where not success order by episode_id limit 1").row(0)
    with reader(store, Address("/game", {"episode": (episode,)})) as read:
        facts, shown = facts_of(read, episode), read.game(episode)
    assert shown is not None
    draw = drawing_of(shown.benchmark)
    assert "Here the game ended, its goal not reached (step limit)." in what_went_wrong(shown.turn(turns), facts, draw)
    assert "Here the game ended" not in what_went_wrong(shown.turn(1), facts, draw)


def test_evidence_in_the_sentence_ends_at_a_word(store: Store) -> None:
    """It was cut in the middle of one, and began with the name of the rule."""
    episode = query(store, "select min(episode_id) from games").item()
    with reader(store, Address("/game", {"episode": (episode,)})) as read:
        facts, shown = facts_of(read, episode), read.game(episode)
    assert shown is not None
    rule = {"agent": "B", "meaning": "a true fact of the partner changes nothing", "evidence": f"method rule: was told: {'position ' * 40}"}
    first = dataclasses.replace(facts.turns[0], failures=[rule], accepted=True, outcome="no_oracle", links=())
    turn = dataclasses.replace(shown.turn(1), actions=(), oracle=())
    told = what_went_wrong(turn, dataclasses.replace(facts, turns=[first, *facts.turns[1:]]), drawing_of(shown.benchmark))
    assert told.startswith("B: a true fact of the partner changes nothing (was told: position")
    assert "position …)" in told


@pytest.mark.long
def test_a_category_keeps_its_colour_whatever_weighs_it(store: Store) -> None:
    """Also where another one lost most."""
    taxonomy = query(store, "select taxonomy from failure_turns group by taxonomy order by count(*) desc, taxonomy limit 1").item()
    colors = []
    for weight in ("turns", "cost"):
        with reader(store, Address(failures.PATH, {"weight": (weight,), "taxonomy": (taxonomy,)})) as read:
            page = json.loads(to_plotly_json(compact(failures.content(read))))
        bars = next(figure["data"] for figure in values_of(page, "figure"))
        colors.append({bar["name"]: bar["marker"]["color"] for bar in bars if bar["type"] == "bar"})
    assert len(colors[0]) > 2
    assert colors[0] == colors[0] | colors[1]


def values_of(node: Any, key: str) -> Iterator[Any]:
    """All values under a key, wherever they are."""
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == key)
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from values_of(part, key)


def test_failures_weighted_by_what_their_turns_lost(store: Store) -> None:
    """A category's bar is its turns' part of what was lost in all turns that count."""
    taxonomy = query(store, "select taxonomy from failure_turns group by taxonomy order by count(*) desc, taxonomy limit 1").item()
    with reader(store, Address(failures.PATH, {"weight": ("cost",), "taxonomy": (taxonomy,)})) as read:
        rows = failures.counts(read, taxonomy, "model", "cost")
        shown = str(failures.content(read))
    expected = query(
        store,
        "select sum(cost) from (select distinct episode_id, turn, category, greatest(cost, 0) as cost from failure_turns "
        "inner join turn_costs using (episode_id, turn) where counted and isfinite(cost) and failure_turns.taxonomy = $taxonomy)",
        {"taxonomy": taxonomy},
    ).item()
    assert rows["turns"].sum() == pytest.approx(expected)
    assert expected > 0
    assert "of all that was lost" in shown
    assert "share of what was lost" in shown


def test_a_game_whose_loss_nobody_is_charged_for_says_so_and_what_comes_next() -> None:
    """Where turns have values, attribution has not run; where none has, the page says what the log itself knows, its error included."""
    turn = TurnFacts(turn=3, outcome="no_move", accepted=None, progress=None, cost=None, unit=None, failures=())
    lost = GameFacts(turns=[turn], spirals=(), decisive=None, success=False, score=0.25, stop_reason="token_limit", benchmark="craft")
    seen = TurnView(3, {}, {}, (), (), (), None, None, "the tool broke", None)
    valued = dataclasses.replace(lost, turns=[dataclasses.replace(turn, cost=0.0)])
    (craft, kitchen, foreign) = (
        to_html(unexplained(seen, dataclasses.replace(facts, benchmark=name)))
        for name, facts in (("craft", valued), ("coordination", lost), ("inspect", lost))
    )
    assert "attribution has not run. Next: <code>cotrace attribute</code>" in craft
    assert "The log says: its goal was not reached, the score is .25, it ended because of token limit, its last turn is 3." in foreign
    assert "--model" in foreign
    assert "Not attributed to an agent: its turns have no values." in kitchen
    assert unexplained(seen, dataclasses.replace(lost, success=True)) is None
    assert "The turn broke off: the tool broke." in what_went_wrong(seen, dataclasses.replace(lost, acts=False), drawing_of("inspect"))


def test_people_s_blame_is_shown_without_any_attribution(tmp_path: Path) -> None:
    """Logs without states have no regret, but people may have named who erred, and in what way."""
    history = [
        {"role": role, "name": name, "content": "x"} for role, name in (("user", "human"), ("assistant", "Coder"), ("assistant", "Critic"))
    ]
    for number, (agent, step) in enumerate([("Coder", 1), ("Coder", 1), ("Critic", 2)]):
        told = {"history": history, "question": "q", "ground_truth": "1", "is_correct": False, "question_ID": str(number)}
        written(tmp_path / "logs" / f"{number}.json", told | {"mistake_agent": agent, "mistake_step": str(step), "mistake_reason": "r"})
    found = ingested(tmp_path, tmp_path / "logs")
    episodes = [episode for (episode,) in found.rows("SELECT episode_id FROM episodes ORDER BY task_id")]
    marked = [
        Label("people", "ann", "mast", "no_verification", episode, episode, None, None, "yes" if place else "no", None)
        for place, episode in enumerate(episodes)
    ]
    with found.store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"labels": marked}))

    with reader(found.store, Address(why.PATH)) as read:
        text = str(why.content(read))
        shares = {row["role"]: row["share"] for row in read.rows(why._BLAMED).iter_rows(named=True)}
        modes = read.rows(why._MODES)

    assert shares == {"Coder": pytest.approx(2 / 3), "Critic": pytest.approx(1 / 3)}
    assert modes.select("judge", "question", "games").rows() == [("people", "no_verification", 3)]
    assert modes["share"].item() == pytest.approx(2 / 3)
    assert "Whose mistake decided the transcript" in text
    assert found.rows("SELECT agent, turn, source FROM blamed_agents ORDER BY task_id") == [
        ("Coder", 2, "people"), ("Coder", 2, "people"), ("Critic", 3, "people"),
    ]  # fmt: skip
