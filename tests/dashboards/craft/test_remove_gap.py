"""The remove gap of many teams, on the page of reports and over the targets of one tier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from analytics.reports import report
from dashboards.address import Address
from dashboards.craft import page
from dashboards.page_file import document
from dashboards.reader import reader
from games.craft.targets import StructureRules
from ingest.files.run import ingest_paths
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from tests.dashboards.test_overview import figures_of
from tests.masters import held_open
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play

PERSONAS = ("clear", "vague", "over_remover", "layer_confused", "span_omitting")
BUILDERS = ("oracle_follower", "literal", "sloppy")


def played(folder: Path, name: str, request: PlayRequest) -> Store:
    play(request)
    store = Store(folder / f"{name}.duckdb")
    ingest_paths([request.out], store, workers=1)
    ensure_installed(store)
    Store.settle(store)
    return store


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Four teams, judged: three of one director, and one with two limits of turns."""
    folder = tmp_path_factory.mktemp("teams")
    for number, (persona, builders, turns) in enumerate(
        [("vague", ("format_breaker", "literal", "oracle_follower"), 4), ("clear", ("literal",), 3), ("clear", ("literal",), 4)]
    ):
        out = folder / "logs" / str(number)
        play(PlayRequest(out=out, personas=(persona,), builders=builders, structures=1, turns=turns, processes=1))
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    for name in ("spatial_grounding", "mind_modeling"):
        run(JudgeRequest(rubric=find(name)), store)
    Store.settle(store)
    yield from held_open(store)


def test_every_team_has_a_panel(teams: Store) -> None:
    """With a title of its own."""
    written = document(teams, {"remove-gap": report(teams, "remove-gap")})
    assert written.count('"name":"attempted"') == 4
    assert [panels_of(written, builder) for builder in ("format_breaker", "literal", "oracle_follower")] == [1, 1, 1]


@pytest.mark.long
def test_each_of_many_teams_has_a_panel(tmp_path: Path) -> None:
    """Fifteen teams are fifteen panels, each with a title of its own."""
    request = PlayRequest(out=tmp_path / "logs", personas=PERSONAS, builders=BUILDERS, structures=1, turns=3, processes=1)
    store = played(tmp_path, "s", request)
    with store.reading():
        written = document(store, {"remove-gap": report(store, "remove-gap")})
    assert written.count('"name":"attempted"') == len(PERSONAS) * len(BUILDERS)
    assert all(panels_of(written, builder) == len(PERSONAS) for builder in BUILDERS)


def panels_of(written: str, builder: str) -> int:
    """In how many titles of panels a builder stands."""
    broken = written.replace("\\u003c\\u002fsup\\u003e\\u003cbr\\u003e\\u003csup\\u003e", " ")  # a title of several lines
    return broken.count(f"\\u003cbr\\u003e\\u003csup\\u003ebuilder {builder}\\u003c")


def test_every_team_has_a_bar_of_why_directors_fail(teams: Store) -> None:
    """Bars of one name were drawn upon each other, to more than 100 %; the team of the highest score stands first, as elsewhere."""
    drawn = next(
        figure for figure in figures_of(teams, page.PATH, "?model=vague") if "flawed pragmatics" in {trace.name for trace in figure.data}
    )
    scores = "SELECT any_value(builder) FROM games WHERE model = 'vague' GROUP BY builder ORDER BY avg(score) DESC"
    ranked = [builder for (builder,) in query(teams, scores).rows()]
    labels = [label.replace("</sup><br><sup>", " ") for label in drawn.layout.yaxis.ticktext]
    assert len(set(labels)) == len(labels)
    shown = [next(builder for builder in ranked if f"builder {builder}" in label) for label in labels]
    assert list(dict.fromkeys(shown)) == ranked
    assert shown == sorted(shown, key=ranked.index)
    assert all(sorted(trace.y) == list(drawn.layout.yaxis.tickvals) for trace in drawn.data)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("tier", ["simple", "complex"])
def test_only_the_targets_of_the_chosen_tiers_count(tmp_path: Path, tier: str) -> None:
    """The numbers of a tier are those of a store that holds its games alone."""

    def request(name: str) -> PlayRequest:
        rules = StructureRules(complexity="simple" if name == "simple" else "complex")
        out = tmp_path / "logs" / name
        return PlayRequest(out=out, personas=("over_remover",), builders=("literal",), structures=1, turns=6, rules=rules, processes=1)

    store, _ = played(tmp_path, tier, request(tier)), play(request("complex" if tier == "simple" else "simple"))
    both = Store(tmp_path / "both.duckdb")
    ingest_paths([tmp_path / "logs"], both, workers=1)
    Store.settle(both)
    columns = "reading, games, n_attempted, n_attempted_remove, n_oracle_turns, gap, gap_mean_of_games from"
    alone = query(store, f"select {columns} remove_gap_models order by reading").rows()
    assert query(both, f"select {columns} remove_gap_models_by(levels := ['{tier}']) order by reading").rows() == alone
    assert query(both, f"select {columns} remove_gap_models order by reading").rows() != alone
    kept = [column for column, *_ in query(both, "describe craft_removals").rows()]
    assert "oracle_remove_share" in kept
    turns = [f"select {', '.join(kept)} from {view} order by episode_id, turn" for view in ("craft_removals", "craft_turn_facts")]
    assert query(both, turns[0]).rows() == query(both, turns[1]).rows() != []


def test_a_panel_that_pools_turn_limits_says_so(teams: Store) -> None:
    """Panels by turn hold games of all limits of a team, while the rows of the front page are one limit each."""
    said = {}
    for model in ("", "clear", "vague"):
        with reader(teams, Address.parse("/remove-gap", f"?model={model}" if model else "")) as read:
            said[model] = str(page.content(read))
    assert "Some panels pool games with limits of 3, 4 turns." in said[""]
    assert "Each panel pools games with limits of 3, 4 turns." in said["clear"]
    assert "turns." not in said["vague"].split("The shaded area is the gap.")[1]
