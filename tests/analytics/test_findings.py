"""Sentences name the team that is behind only where the report `compare` shows it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import stats

from analytics.comparison.compare import behind, compare
from analytics.comparison.game_values import unlike_names
from analytics.findings import LEADERBOARD, Finding, findings, headlines
from analytics.query import query
from dashboards.address import Address
from dashboards.pages.failures import Bars, chart
from schemas.common.wording import score
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.analytics.test_views_judges import job, judged, label, verdict

Floats = NDArray[np.float64]
_FAILING = (Step("{}", (Move("place", accepted=False),), progress=0.0, categories=(("craft_published", "wrong_position"),)),)


def games_of(team: str, scores: Floats, tasks: list[str]) -> list[Game]:
    """A game a task, with a turn that failed."""
    named = zip(tasks, scores.tolist(), strict=True)
    return [Game(_FAILING, name=f"{team}{task}", model=team, task=task, benchmark="craft", score=score) for task, score in named]


def drawn_boards(teams: int, tasks: int, *, deficit: float, seed: int) -> Floats:
    """Scores of teams on shared tasks of unlike difficulty, shape (teams, tasks); the first team's are lower by `deficit`."""
    random = np.random.default_rng(seed)
    scores = random.beta(2, 3, tasks) + random.normal(0, 0.05, (teams, tasks))
    scores[0] -= deficit
    return np.clip(scores, 0, 1)


def headline(store: Store) -> str:
    """The sentence of the topic `who`, alone."""
    (board,) = headlines(store, query(store, LEADERBOARD))["craft"]
    return str(board)


def who(found: list[Finding]) -> Finding:
    return next(one for one in found if one.topic == "who")


def test_a_deficit_that_compare_shows_is_the_headline_with_the_numbers_of_compare(tmp_path: Path) -> None:
    """Six teams, ten shared tasks, one team .15 behind: intervals of means overlap, since tasks are of unlike difficulty."""
    scores = drawn_boards(6, 10, deficit=0.15, seed=1)
    store = store_with(
        tmp_path, [game for place in range(6) for game in games_of(f"team{place}", scores[place], [f"t{k}" for k in range(10)])]
    )
    Store.settle(store)
    shown = [row for row in compare(store).to_dicts() if row["paired"] and row["p_holm"] < 0.05]
    assert {row["team_b"] for row in shown} == {"team0"}
    found = findings(store)
    sentence = who(found).sentence
    assert sentence == headline(store)
    most = max(shown, key=lambda row: row["difference"])
    assert f"team0 is behind {most['team_a']} by {score(most['difference'])} [" in sentence
    assert "on 10 shared tasks" in sentence
    assert f"corrected for {most['tests']} comparisons" in sentence
    assert who(found).report == "compare"
    why = [one.sentence for one in found if one.topic == "why"]
    assert why
    assert all("team0" in one for one in why)


def test_teams_on_tasks_of_their_own_are_not_told_behind(tmp_path: Path) -> None:
    """Equal teams on tasks of unlike levels: their intervals do not overlap, and that they played other tasks comes before everything."""
    random = np.random.default_rng(2)
    easy, hard = random.uniform(0.7, 0.9, 12), random.uniform(0.1, 0.3, 12)
    games = [*games_of("one", easy, [f"e{k}" for k in range(12)]), *games_of("other", hard, [f"h{k}" for k in range(12)])]
    store = store_with(tmp_path, games)
    sentence = headline(store)
    assert " is behind " not in sentence
    assert sentence.index("not all teams played the same tasks") < sentence.index("teams and tasks cannot be distinguished")
    (row,) = compare(store).to_dicts()
    assert "a difference on tasks like these" not in row["advice"]
    assert row["advice"].index("teams and tasks cannot be distinguished") < row["advice"].index("p ")


def test_teams_that_share_their_only_task_played_the_same(tmp_path: Path) -> None:
    """Below two shared tasks `compare` has no pairs, but that is no sign of other tasks."""
    games = [game for team, score in (("one", 0.2), ("other", 0.9)) for game in games_of(team, np.array([score]), ["t"])]
    sentence = headline(store_with(tmp_path, games))
    assert "same tasks" not in sentence
    assert "a single shared task can show no difference" in sentence


@pytest.mark.parametrize("tasks", [pytest.param(1, marks=pytest.mark.long), 3])
def test_equal_means_have_no_lowest(tmp_path: Path, tasks: int) -> None:
    """One of them was the lowest and another the highest, both 1.00."""
    games = [game for team in ("one", "other") for game in games_of(team, np.ones(tasks), [f"{team}{k}" for k in range(tasks)])]
    sentence = headline(store_with(tmp_path, games))
    assert "all have the same mean" in sentence
    assert "lowest" not in sentence


def test_too_few_tasks_are_said_with_how_many_are_needed(tmp_path: Path) -> None:
    """Six teams on six tasks: even a team that wins all has p = .031, so that among 15 comparisons nothing can be shown."""
    tasks = [f"t{k}" for k in range(6)]
    scores = np.linspace(0.1, 0.9, 6)[:, None] + np.linspace(0, 0.05, 6)[None, :]
    store = store_with(tmp_path, [game for place in range(6) for game in games_of(f"team{place}", scores[place], tasks)])
    assert "no difference between teams can be shown with 6 shared tasks, for so many teams at least 10 are needed" in headline(store)
    rows = compare(store).to_dicts()
    assert {(row["p"], row["tasks_needed"]) for row in rows} == {(0.03125, 10)}
    assert all("6 shared tasks cannot show a difference among 15 comparisons" in row["advice"] for row in rows)
    assert all("one this large comes up by chance" not in row["advice"] for row in rows)
    assert 2.0 ** (1 - 10) * 15 < 0.05 < 2.0 ** (1 - 9) * 15


def test_without_a_team_shown_to_be_behind_where_and_why_are_about_all(tmp_path: Path) -> None:
    """It explained why the team with the lowest mean failed, of which nothing is shown."""
    scores = drawn_boards(3, 8, deficit=0.0, seed=5)
    store = store_with(
        tmp_path, [game for place in range(3) for game in games_of(f"team{place}", scores[place], [f"t{k}" for k in range(8)])]
    )
    Store.settle(store)
    found = findings(store)
    assert " is behind " not in who(found).sentence
    explained = [one.sentence for one in found if one.topic in {"where", "why"}]
    assert "The commonest failure of all teams is wrong position: > 99 % of 24 turns." in [
        one.replace("100 %", "> 99 %") for one in explained
    ]
    assert not any("team0" in one or "team1" in one or "team2" in one for one in explained)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("teams", "tasks", "boards"), [(6, 10, 40), (6, 10, 150), (20, 14, 15), (40, 16, 4)])
def test_boards_of_equal_teams_have_a_headline_as_seldom_as_promised(tmp_path: Path, teams: int, tasks: int, boards: int) -> None:
    """In 5 % of boards at most, however many teams there are; by intervals that do not overlap it was 16 to 37 % of boards of 40."""
    columns = ("benchmark", "game", "condition", "max_turns", "team_name", "task", "episode_id", "value", "low", "high")
    store = store_with(tmp_path, [])
    false = 0
    for board in range(boards):
        scores = drawn_boards(teams, tasks, deficit=0.0, seed=100 + board)
        rows = [
            ("craft", None, "c", 20, f"team{place}", f"t{task}", f"{place}.{task}", float(scores[place, task]), 0.0, 1.0)
            for place in range(teams)
            for task in range(tasks)
        ]
        false += behind(compare(store, games=pl.DataFrame(rows, schema=columns, orient="row")).iter_rows(named=True)) is not None
    assert stats.binomtest(false, boards, 0.05, alternative="greater").pvalue > 0.01


def test_teams_that_differ_in_their_turn_limit_alone_have_names_of_their_own() -> None:
    """And in their condition; a name that stands alone stays short."""
    sides = [("a", "x", 8), ("a", "x", 16), ("a", "y", 8), ("b", "x", 8), ("c", "x", None), ("c", "x", 8)]
    assert unlike_names(sides) == [
        "a under x with 8 turns",
        "a under x with 16 turns",
        "a under y",
        "b",
        "c with unknown turns",
        "c with 8 turns",
    ]


def test_a_question_that_was_labelled_and_asked_twice_is_one_labelled_question(tmp_path: Path) -> None:
    """Every answer of the judge was paired with every label: 3 units with two labels and two repeats were 12 labelled questions."""
    run = job("a", judge="llm:x/y")
    units: list[tuple[str, int | None]] = [("g1", 1), ("g1", 2), ("g2", 1)]
    verdicts = [verdict(run, unit, "yes" if unit != ("g2", 1) else "no", repeat=repeat) for unit in units for repeat in (1, 2)]
    labels = [label(unit, "yes", annotator) for unit in units for annotator in ("p", "q")]
    (sure,) = [found.sentence for found in findings(judged(tmp_path, [run], verdicts, labels)) if found.report == "agreement"]
    assert sure == "The judge llm:x/y answers 100 % of 3 labelled questions, and 2 of those 3 as the label does."


def test_bars_of_few_turns_are_crossed_and_every_bar_has_its_number() -> None:
    """A full bar of 5 turns looked as sure as one of 394."""
    rows = pl.DataFrame(
        {"model": ["a", "b", "b"], "category": ["correct", "correct", "wrong_color"], "turns": [5, 300, 94], "denominator": [5, 394, 394]}
    ).with_columns(share=pl.col("turns") / pl.col("denominator"))
    drawn = chart(rows, Bars("model", "craft_published", {"wrong_color": "wrong color"}), Address.parse("/failures", ""), {})
    right = next(bar for bar in drawn.data if bar.type == "bar" and bar.name == "correct")
    assert list(right.marker.pattern.shape) == ["x", ""]
    assert [end in text for text, end in zip(drawn.layout.yaxis.ticktext, ("5 turns", "394 turns"), strict=True)] == [True, True]
