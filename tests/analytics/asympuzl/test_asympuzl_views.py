"""AsymPuzl views, judges and pages over games small enough to count by hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from dashboards.address import Address
from dashboards.asympuzl import page
from dashboards.boards import drawing_of
from dashboards.pages import pages
from dashboards.reader import reader
from games.asympuzl.game import GameSettings
from games.asympuzl.labels import FAILURES
from games.asympuzl.players import PERSONAS
from ingest.files.run import ingest_paths
from judges.evidence.pieces import Viewer
from judges.evidence.transcript import Transcript, load
from judges.evidence.units import units
from judges.rubric_files.load import check, find, names
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest, answer, log_of, play, replace, write
from tests.masters import held_open

SOLVED = (
    answer("1 crescent, 2 cross, 3 triangle"),
    answer("crescent brown, cross maroon, triangle navy", replace(2, "cross", "maroon"), replace(3, "triangle", "navy")),
    answer("", replace(1, "crescent", "brown"), replace(2, "cross", "maroon"), replace(3, "triangle", "navy")),
    answer(),
)
"""Two turns."""

COMPLETE = "select episode_id from asympuzl_games where complete"

SPOILED = ("Well. " + answer("hm"), answer("hm", replace(1, "cross", "navy")))
"""One turn: B makes its right entry wrong."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One game solved, one lost within its limit of one turn, one cut."""
    folder = tmp_path_factory.mktemp("views")
    logs = [
        *log_of(SOLVED, run_id="one"),
        *log_of(SPOILED, run_id="two", settings=GameSettings(max_turns=1)),
        *log_of(SOLVED[:3], run_id="three"),
    ]
    store = Store(folder / "store.duckdb")
    ingest_paths([write(folder / "logs.jsonl", logs)], store, workers=1)
    ensure_installed(store)
    yield from held_open(store)


def row(store: Store, sql: str) -> dict[str, Any]:
    return query(store, sql).row(0, named=True)


# --- views -------------------------------------------------------------------------------------------------------------------------------


def test_a_configuration_counts_its_finished_games(store: Store) -> None:
    """One of two solved: 50 %, Wilson 9.45 to 90.55; the cut game is in no other number."""
    found = row(store, "select * from asympuzl_configurations")
    assert (found["model_a"], found["model_b"], found["size"], found["feedback_mode"], found["tokenizer"]) == (
        "m",
        "m",
        3,
        "both",
        "regex-v1",
    )
    assert (found["games"], found["games_cut"], found["solved"], found["success_pct"], found["mean_solved_turn"]) == (2, 1, 1, 50.0, 2.0)
    assert (found["ci95_low"], found["ci95_high"]) == (pytest.approx(9.453, abs=0.001), pytest.approx(90.547, abs=0.001))
    assert (found["answers"], found["no_json"], found["invalid_actions"], found["overcorrections"], found["undoing_actions"]) == (
        6,
        0,
        0,
        1,
        1,
    )
    assert found["repeated_messages"] == 0


def test_a_game_that_lost_turns_is_cut(tmp_path: Path) -> None:
    """The same solved game with its turn lines in another order: its result is kept, but no rate takes it in."""
    first, *turns, result = log_of(SOLVED)
    whole, shuffled = [first, *turns, result], [{**line, "game_id": "shuffled"} for line in (first, *reversed(turns), result)]
    other = Store(tmp_path / "store.duckdb")
    report = ingest_paths([write(tmp_path / "logs.jsonl", [*whole, *shuffled])], other, workers=1)
    ensure_installed(other)
    assert [reject.reason.rpartition(", ")[2] for reject in report.rejected] == ["4 lines of game shuffled are lost"]
    found = row(other, "select games, games_cut, solved, success_pct, writes_per_position from asympuzl_configurations")
    alone = row(other, "select writes_per_position from asympuzl_games where complete")
    assert found == {"games": 1, "games_cut": 1, "solved": 1, "success_pct": 100.0, **alone}
    assert query(other, "select success, score, details ->> 'result_solved' from episodes where turns_taken = 0").rows() == [
        (None, None, "true")
    ]
    assert query(other, "select max(games), max(solved) from asympuzl_success_by_turn").rows() == [(1, 1)]


def test_actions_per_position_are_means_over_positions_and_games(store: Store) -> None:
    """A wrote 3 of 3 and 0 of 3, B 2 of 3 and 1 of 3; B can do with 2 of 3."""
    found = row(store, "select * from asympuzl_configurations")
    assert found["writes_per_position_a"] == found["changes_per_position_a"] == 0.5
    assert found["writes_per_position_b"] == found["changes_per_position_b"] == 0.5
    assert found["writes_per_position"] == 0.5
    assert found["optimal_changes_per_position_b"] == pytest.approx(2 / 3)


def test_token_means_weigh_turns_or_games(store: Store) -> None:
    """A's messages have 8, 0 and 1 tokens: 3 a turn, and (4 + 1) / 2 a game; the share is the ratio of the means."""
    found = row(store, "select * from asympuzl_configurations")
    assert (found["message_tokens_a"], found["message_tokens_per_game_a"]) == (3.0, 2.5)
    assert found["message_share_a"] == pytest.approx(100 * 3 / found["output_tokens_a"])
    outputs = query(store, "select output_tokens from asympuzl_turns where agent = 'A' and file = 'logs.jsonl' order by episode_id, turn")
    assert len(outputs) == 5


def test_success_by_turn_keeps_lost_games_in_the_denominator(store: Store) -> None:
    """Solved on turn 2, up to the longest limit."""
    found = query(store, "select k, games, solved, success_pct from asympuzl_success_by_turn order by k").rows()
    assert found == [(1, 2, 0, 0.0), *((k, 2, 1, 50.0) for k in range(2, 7))]


def test_writes_are_placed_by_turn_and_position(store: Store) -> None:
    """All of B's, of the two finished games and the cut one."""
    found = query(
        store,
        "select turn, position, sum(writes)::int, sum(undoing_actions)::int from asympuzl_positions "
        "where agent = 'B' group by all order by all",
    ).rows()
    assert found == [(1, 1, 1, 1), (1, 2, 2, 0), (1, 3, 2, 0)]


def test_turns_show_each_agent(store: Store) -> None:
    """The lost game: A says little, B spoils its one right entry."""
    found = query(
        store,
        "select agent, message, writes, overcorrections, wrong_positions, sufficient_message, parse_strict, progress from asympuzl_turns "
        "where condition = 'two/3_both' order by agent",
    ).rows()
    assert found == [("A", "hm", 0, 0, 3, False, True, 0.0), ("B", "hm", 1, 1, 3, False, True, 0.0)]


# --- judges ------------------------------------------------------------------------------------------------------------------------------


def test_the_rubric_is_sound_and_asks_for_every_label() -> None:
    """A question is called as its category; all but the one that needs a judge name their check."""
    rubric = find("asympuzl_failures")
    assert check(names()["asympuzl_failures"]) == []
    assert set(rubric.questions) == {*FAILURES, "sufficient_message", "assumes_shared_view"}
    assert {q.engine for q in rubric.questions.values()} == {f"asympuzl.{label}" for label in (*FAILURES, "sufficient_message")} | {None}


def test_engine_verdicts_agree_with_the_categories_by_rule(tmp_path: Path) -> None:
    """Over every persona: a yes where the taxonomy has the label, and nowhere else; the verdicts come out of the store alone."""
    play(PlayRequest(out=tmp_path / "logs", personas=tuple(PERSONAS), sizes=(4,), seeds=(1,)))
    store = Store(tmp_path / "store.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    run(JudgeRequest(rubric=find("asympuzl_failures")), store)
    same = "select episode_id, turn, agent, {} from {} where {}"
    said = query(store, same.format("question", "verdicts", "answer = 'yes' and question <> 'sufficient_message'"))
    ruled = query(store, same.format("category", "failures", "category <> 'correct'"))
    assert sorted(said.rows()) == sorted(ruled.rows())
    assert {question for *_, question in said.rows()} == set(FAILURES)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        ("repeated_message", (answer("x"),), "na"),
        ("ignored_partner", (answer("x"), answer("y")), "na"),
        ("ignored_partner", (answer("the cross comes somewhere before the triangle"), answer("y")), None),
        ("ignored_partner", (answer("Is the cross second?"), SOLVED[1]), "no"),
        ("out_of_knowledge_claim", (answer("Could the cross be navy?"),), None),
        ("out_of_knowledge_claim", (answer("Which color has the cross?"),), "no"),
        ("out_of_knowledge_claim", (answer("x"), answer("The cross is maroon.")), "no"),
        ("out_of_knowledge_claim", (answer("x"), answer("Is the cross first?")), None),
        ("sufficient_message", (answer("1 cross"),), "no"),
        ("sufficient_message", (answer("the cross stands between crescent and triangle"),), None),
        ("no_json", ("prose",), "yes"),
    ],
)
def test_the_engine_answers_only_what_it_can_prove(tmp_path: Path, question: str, texts: tuple[str, ...], expected: str | None) -> None:
    """For the last answer; None: undecided, since the message has words that could mean it."""
    store = Store(tmp_path / "store.duckdb")
    ingest_paths([write(tmp_path / "logs.jsonl", log_of(texts))], store, workers=1)
    run(JudgeRequest(rubric=find("asympuzl_failures")), store)
    agent = "AB"[(len(texts) + 1) % 2]
    found = query(
        store, f"select answer, status from verdicts where question = '{question}' and agent = '{agent}' order by turn desc limit 1"
    ).rows()
    assert found == [(expected, "undecided" if expected is None else "answered")]


def games(store: Store) -> list[Transcript]:
    ids = [row[0] for row in query(store, "select episode_id from episodes order by file, task_id, turns_taken, success").rows()]
    return list(load(store, ids))


def test_a_judge_sees_what_the_agent_had_and_no_more(store: Store) -> None:
    """B is judged with A's message of the same turn, A with B's of the turn before; the truth only where a question needs it."""
    rubric = find("asympuzl_failures")
    game = next(game for game in games(store) if len(game.turns) == 2 and game.turns[1].goal_reached)
    shown = {
        unit.unit_id.partition("/")[2]: {
            piece: [entry.text for entry in found] for piece, found in Viewer(unit.context).show(rubric.shows).items()
        }
        for unit in units(rubric, game, None)
    }
    assert list(shown) == ["1/A", "1/B", "2/A", "2/B"]
    assert shown["1/A"]["partner_message"] == []
    assert shown["1/B"]["partner_message"] == ["1 crescent, 2 cross, 3 triangle"]
    assert shown["2/A"]["partner_message"] == ["crescent brown, cross maroon, triangle navy"]
    assert shown["2/A"]["previous_message"] == ["1 crescent, 2 cross, 3 triangle"]
    assert shown["1/A"]["own_clues"] == ["1: crescent (color unknown)\n2: cross (color unknown)\n3: triangle (color unknown)"]
    assert "maroon" not in str(shown["1/A"])
    assert "puzzle_truth" not in rubric.shows


# --- pages -------------------------------------------------------------------------------------------------------------------------------


def drawn(store: Store, address: str = "") -> str:
    with reader(store, Address.parse("/asympuzl", address)) as read:
        return str(page.content(read))


def test_the_page_is_in_the_menu() -> None:
    """Where readers look for it."""
    assert page in pages()
    assert page.IN_MENU


def test_the_page_shows_counts_beside_rates(store: Store) -> None:
    """One of two, with the cut game named."""
    text = drawn(store)
    assert "1 of 2, 1 without an end left out" in text
    assert "0 of 6" in text


def test_an_empty_selection_says_how_to_get_games(store: Store) -> None:
    """Instead of empty figures."""
    assert "cotrace play asympuzl" in drawn(store, "?model=nobody")


def test_figures_show_the_views_numbers(store: Store) -> None:
    """The point is the rate, its bars are the Wilson interval; the heat map is writes a game."""
    with reader(store, Address.parse("/asympuzl", "")) as read:
        chart = page.PAGE.figure_of("asympuzl-success", read)
        written = page.PAGE.figure_of("asympuzl-writes", read)
    assert chart is not None
    (points,) = chart.data
    assert points.x == (0.5,)
    assert (points.error_x.array[0], points.error_x.arrayminus[0]) == (pytest.approx(0.40547, abs=1e-5), pytest.approx(0.40547, abs=1e-5))

    assert written is not None
    placed = "select position, turn, sum(writes) / 2 from asympuzl_positions where agent = 'B' and episode_id in ({}) group by all"
    counted = {(position, turn): writes for position, turn, writes in query(store, placed.format(COMPLETE)).rows()}
    of_a, _, of_b, _ = written.data
    assert (of_a.type, of_b.type, [len(line) for line in of_b.z]) == ("heatmap", "heatmap", [2, 2, 2])
    assert {(y, x): of_b.z[y - 1][x - 1] for y, x in product((1, 2, 3), (1, 2))} == {
        place: counted.get(place, 0) for place in product((1, 2, 3), (1, 2))
    }
    assert sum(counted.values()) == 3 / 2, "three actions in two games"


def test_the_drawing_marks_right_wrong_and_changed(store: Store) -> None:
    """Truth beside both hypotheses, before and after; the feedback by its mode."""
    draw = drawing_of("asympuzl")
    game = next(game for game in games(store) if len(game.turns) == 2 and game.turns[1].goal_reached)
    first, second = (str(draw.turn(game, turn)) for turn in game.turns)
    assert (first.count("pill good"), first.count("pill bad"), first.count("changed")) == (1 + 3, 3 + 3 + 2, 2)
    assert "nothing: the first turn has none" in first
    assert second.count("Agent A's part of the puzzle is unsolved, and Agent B's part of the puzzle is solved.") == 2
    assert draw.action("replace", {"position": 2, "shape": "cross", "color": "navy"}) == "position 2: navy cross"
    assert draw.action("answer", {}) == "answered without a JSON object"
    assert "Clues of B (bob)" in str(draw.goal(game))
