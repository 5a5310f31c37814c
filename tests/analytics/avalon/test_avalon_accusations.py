"""Accusations against the truth: what judges and people read, never what no one read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from analytics.findings import findings
from analytics.papers import paper_table
from analytics.query import query
from cotrace.cli import cli
from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.parts import to_html
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.dashboards.test_overview import figures_of
from tests.masters import begun, held_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Three scripts, two games each; the engine judged the first two, a person labelled four messages of the third."""
    folder = tmp_path_factory.mktemp("accusations")
    played = begun(folder / "s.duckdb")
    for script in ("open", "lying", "trusting"):
        play("avalon", folder / script, players=[f"all=script:{script}"], games=2, size=5, seeds=[0])
        ingest_paths([folder / script], played, workers=1)
        if script == "lying":
            done = CliRunner().invoke(cli, ["judge", "--rubric", "avalon_minds", "--judge", "engine", "--store", str(played.path)])
            assert done.exit_code == 0, done.output
    spoken = query(
        played,
        "select episode_id, turn, agent, channel from utterances join episodes using (episode_id) where model like '%trusting' "
        "and turn = 1 and channel = 'public' order by episode_id, agent limit 4",
    )
    lines = ["rubric,question,annotator,episode_id,turn,agent,answer"]
    for row, answer in zip(spoken.iter_rows(named=True), ("yes", "no", "unclear", "na"), strict=True):
        lines.append(f"avalon_minds,accusation_right,ann,{row['episode_id']},{row['turn']},{row['agent']},{answer}")
    (folder / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    done = CliRunner().invoke(cli, ["labels", "import", str(folder / "labels.csv"), "--store", str(played.path)])
    assert done.exit_code == 0, done.output
    Store.settle(played)
    yield from held_open(played)


@pytest.fixture(scope="module")
def overview(store: Store) -> list[str]:
    """The texts on the first figure of the page Overview."""
    (figure, *_) = figures_of(store, "/")
    return [annotation.text for annotation in figure.layout.annotations]


def rows(store: Store, script: str, where: str = "true") -> list[dict[str, Any]]:
    return query(store, f"select * from avalon_accusations where model like '%{script}' and {where} order by role, judge").to_dicts()


def test_accusations_are_counted_against_the_truth_and_the_base_rate(store: Store) -> None:
    """Merlin's open words are right, lies are wrong; two of five are evil, so a good player has 2 of 4, an evil one 1 of 4."""
    (merlin,) = rows(store, "open", "role = 'merlin'")
    assert (merlin["judge"], merlin["right_rate"], merlin["wrong_accusations"], merlin["chance"]) == ("engine", 1.0, 0, 0.5)
    assert merlin["right_accusations"] > 0
    for evil in rows(store, "lying", "side = 'evil'"):
        assert (evil["right_rate"], evil["right_accusations"], evil["chance"]) == (0.0, 0, 0.25)
        assert evil["low"] == 0 < evil["high"]
    for row in rows(store, "open") + rows(store, "lying"):
        assert (row["accusing"] or 0) + row["silent"] + row["unknown"] == row["messages"]
    cells = {(row["row"], row["column"]): row["value"] for row in paper_table(store, "avalon", "table", "5").cells.to_dicts()}
    assert cells["script:open, engine", "merlin"] == 100
    assert cells["script:open, engine", "merlin, by drawing"] == 50


def test_what_no_one_decided_is_unknown_and_no_rate(store: Store) -> None:
    """Nothing plain was read of a role: no rate, not 0. A game without answers has its messages, and null for all else."""
    undecided = rows(store, "lying", "right_rate is null")
    assert undecided
    assert all(row["unknown"] > 0 for row in undecided)
    numbers = ("accusing", "right_accusations", "wrong_accusations", "low", "high", "chance")
    assert {row[name] for row in undecided for name in numbers} == {None}
    unread = rows(store, "trusting", "judge is null")
    assert unread
    facts = ("accusing", "silent", "unknown", "right_accusations", "wrong_accusations", "right_rate", "low", "high", "chance")
    assert all(row["messages"] > 0 and all(row[name] is None for name in facts) for row in unread)


def test_labels_of_people_count_in_the_same_way(store: Store) -> None:
    """Four messages of one game have an answer; the others of that game are unknown, and the other game is no part."""
    labelled = rows(store, "trusting", "judge = 'label: ann'")
    sums = [sum(row[name] or 0 for row in labelled) for name in ("accusing", "silent", "right_accusations", "wrong_accusations", "unknown")]
    total = sum(row["messages"] for row in labelled)
    assert sums == [3, 1, 1, 1, total - 4]
    assert total > 4


def test_pages_show_the_measure_of_the_family_and_missions_in_order(store: Store, overview: list[str]) -> None:
    """Overview had no panel of proven mistakes; missions had the order in which some leader had a choice, and unknown chances were "0"."""
    assert "Proven mistakes" in overview
    _, trust, _ = figures_of(store, "/avalon")
    missions = [text.partition("<")[0] for text in trust.layout.yaxis.ticktext]
    assert missions == sorted(missions)
    assert {text[:-1] for text in missions} == {"evil leaders, mission ", "good leaders, mission "}
    assert not re.search(r"guesses\d", to_html(draw_page(store, Address.parse("/avalon", "model=script:lying&success=no")).content))


def test_the_commonest_failure_is_one_that_went_wrong(store: Store) -> None:
    """It was "vote not refuted": what is known to be right was a list of words that left out Avalon's."""
    failures = [found.sentence for found in findings(store) if found.report == "failures"]
    right = query(store, "SELECT DISTINCT replace(category, '_', ' ') AS words FROM failure_map WHERE common = 'none'")["words"]
    assert failures
    assert not any(f" {words}" in sentence for sentence in failures for words in right)


def test_avalon_has_no_correction_spirals(store: Store, overview: list[str]) -> None:
    """Every turn makes a new state, so that 0 % of turns in spirals was no result of a team; refusals and questions are known."""
    assert query(store, "SELECT count(*) FROM spiral_games").item() == 0
    assert query(store, "SELECT count(*) FROM recorded_games").item() == query(store, "SELECT count(*) FROM games").item()
    assert query(store, "SELECT DISTINCT spiral_share FROM families UNION SELECT spiral_share FROM team_overview").rows() == [(None,)]
    assert query(store, "SELECT DISTINCT clarify FROM leaderboard").rows() == [(0,)]
    assert "Turns in spirals" not in overview
    shown = {path: to_html(draw_page(store, Address.parse(path, "")).content) for path in ("/", "/spirals", "/compare")}
    assert "Most correction spirals" not in shown["/"]
    assert "No correction spirals: every turn makes a new state." in shown["/"]
    assert "Avalon has no correction spirals: every turn makes a new state" in shown["/spirals"]
    assert "turns wasted" not in shown["/compare"]


def test_answers_about_turns_without_candidates_are_not_parted_by_what_became_of_candidates(store: Store) -> None:
    """Page Judges had them as "no move" and "no oracle", words of CRAFT."""
    parted = query(store, "SELECT outcome, sum(units) AS units FROM judge_scores GROUP BY ALL")
    assert parted.rows() == [("not_classified", query(store, "SELECT sum(units) FROM judge_scores_models").item())]
