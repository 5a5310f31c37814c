"""Units of every kind, and answers of every kind, from the rubric file to rows in the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from judges.checks import Decision
from judges.evidence.labelling import label_template
from judges.evidence.prompt import PromptMaker
from judges.evidence.selection import selected_units
from judges.evidence.units import select
from judges.rubric import Rubric
from judges.rubric_files.load import load
from judges.runs.engine_run import run_engine
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, counted, mark, store_of
from tests.judges.test_visible_evidence import marks
from tests.servers.stub_server import stub_server

YES_NO = '{"yes": 1, "no": 0}'


def rubric_of(
    tmp_path: Path, unit: str, shows: str, *, answers: str = YES_NO, examples: str = '{"yes": a, "no": b}', more: str = ""
) -> Rubric:
    """A rubric with one question."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"name: mine\nversion: 1\nunit: {unit}\nbenchmarks: [any]\nshows: {shows}\nanswers: {answers}\n{more}"
        f"instructions: Judge.\nquestions:\n  Q1:\n    ask: Is it so?\n    examples: {examples}\n"
    )
    return load(path)


def prompts(store: Store, rubric: Rubric) -> Mapping[str, str]:
    """Unit id -> everything that the judge is told."""
    maker = PromptMaker(rubric)
    found = {}
    for unit in selected_units(store, rubric, select(store, rubric, None)):
        (prompt,) = maker.prompts(unit)
        found[unit.unit_id] = "\n".join(m["content"] for m in maker.messages(prompt))
    return found


def verdict_rows(store: Store, columns: str) -> list[Any]:
    """Verdicts by unit."""
    with store.reading() as connection:
        return connection.execute(f"SELECT {columns} FROM verdicts ORDER BY unit_id").fetchall()


def with_models(store: Store, models: Mapping[str, str]) -> None:
    """Give games other models."""
    with store.writing() as connection:
        for episode, model in models.items():
            connection.execute("UPDATE episodes SET model = ? WHERE episode_id = ?", [model, episode])


def test_an_action_is_a_unit_and_its_outcome_a_piece_of_its_own(tmp_path: Path) -> None:
    """One unit an action, with an id that says whose and which; the refusal is shown only where the rubric lists it."""
    store = store_of(tmp_path / "s.duckdb", turns=2)

    blind = prompts(store, rubric_of(tmp_path, "action", "[action]"))
    told = prompts(store, rubric_of(tmp_path, "action", "[action, action_outcome]"))

    assert list(blind) == ["game-0/1/Builder/action1", "game-0/2/Builder/action1"]
    assert marks([blind["game-0/2/Builder/action1"]]) == {mark("tried", 2)}
    assert marks([told["game-0/2/Builder/action1"]]) == {mark("tried", 2), mark("refusal", 2)}


def test_an_event_is_anything_said_thought_or_tried(tmp_path: Path) -> None:
    """Each shows itself and nothing else."""
    found = prompts(store_of(tmp_path / "s.duckdb", turns=1), rubric_of(tmp_path, "event", "[event]"))

    assert len(found) == 10  # 3 directors think and speak, one spoke twice, the builder thinks, speaks and acts
    assert marks([found["game-0/1/D1/2"]]) == {mark("private", "D1", 1)}
    assert marks([found["game-0/1/Builder/action1"]]) == {mark("tried", 1)}


def test_pairs_are_games_of_one_task_by_different_models_in_both_orders(tmp_path: Path) -> None:
    """Of three games, two of them by one model, the two mixed pairs are asked twice; the score belongs to the game shown first."""
    store = store_of(tmp_path / "s.duckdb", games=3, turns=1)
    with_models(store, {"game-0": "a", "game-1": "b", "game-2": "b"})
    rubric = rubric_of(
        tmp_path, "pair", "[first_dialogue, second_dialogue]", answers="{first: 1, second: 0}", examples="{first: it is, second: it is not}"
    )

    found = prompts(store, rubric)

    assert sorted(found) == ["game-0 vs game-1", "game-0 vs game-2", "game-1 vs game-0", "game-2 vs game-0"]
    with stub_server() as url:
        request = ask_model(url)
        report = run(JudgeRequest(rubric=rubric, settings=request.settings), store)
    assert (report.units, report.answered) == (4, 4)
    for unit, episode, answer, score in verdict_rows(store, "unit_id, episode_id, answer, score"):
        assert unit.startswith(f"{episode} vs ")
        assert score == {"first": 1.0, "second": 0.0}[answer]


ROWS = """\
unit_sql: |
  SELECT episode_id || '/' || turn AS unit_id, episode_id, turn, text AS said, 'never shown' AS secret
  FROM utterances WHERE agent = 'D2' AND channel = 'public'
"""


def test_rows_of_a_users_own_query_are_units_and_their_columns_the_pieces(tmp_path: Path) -> None:
    """Only listed columns are shown, a selection of turns holds, and rows end up as verdicts of their game and turn."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=2)
    rubric = rubric_of(tmp_path, "row", "[said]", more=ROWS)

    found = prompts(store, rubric)

    assert list(found) == ["game-0/1", "game-0/2", "game-1/1", "game-1/2"]
    assert marks([found["game-1/2"]]) == {mark("public", "D2", 2)}
    assert "never shown" not in found["game-1/2"]
    with stub_server() as url:
        run(JudgeRequest(rubric=rubric, settings=ask_model(url).settings, where="turn = 2"), store)
    assert verdict_rows(store, "unit_id, episode_id, turn, status") == [
        ("game-0/2", "game-0", 2, "answered"),
        ("game-1/2", "game-1", 2, "answered"),
    ]


def test_a_template_of_labels_shows_what_is_judged_where_no_piece_is_said_to_be_it(tmp_path: Path) -> None:
    """Without `about` all that the judge sees; whoever fills it in would else see nothing."""
    store = store_of(tmp_path / "s.duckdb", games=1, turns=1)
    rubric = rubric_of(tmp_path, "row", "[said]", more=ROWS)
    assert rubric.about is None
    assert marks(label_template(store, rubric)["shown"].to_list()) == {mark("public", "D2", 1)}


def test_an_engine_check_answers_rows(tmp_path: Path) -> None:
    """The check is given game, turn and agent of the row."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=1)
    path = tmp_path / "mine.yaml"
    rubric_of(tmp_path, "row", "[said]", more=ROWS)
    path.write_text(path.read_text().replace("    ask:", "    engine: mine.odd\n    ask:"))

    run_engine(
        JudgeRequest(rubric=load(path)), store, checks={"mine.odd": lambda game, turn, _: Decision("yes", f"{game.episode_id} {turn}")}
    )

    assert verdict_rows(store, "answer, reason") == [("yes", "game-0 1"), ("yes", "game-1 1")]


def placed(columns: str) -> str:
    """A query of one row at that place."""
    return (
        f"SELECT 1 AS unit_id, {columns.replace(',', ' AS episode_id,', 1) if ',' in columns else columns + ' AS episode_id'}, 'x' AS said"
    )


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT episode_id, turn FROM turns", "gives no column unit_id"),
        ("SELECT episode_id AS unit_id, episode_id FROM turns", "gives no column said"),
        ("SELECT episode_id AS unit_id, episode_id, 'x' AS said FROM turns", "two rows with unit_id 'game-0'"),
        ("SELECT nonsense FROM turns", "unit_sql does not work"),
        ("DELETE FROM turns", "unit_sql does not work"),
        ("SELECT * FROM read_text('/etc/hostname')", "unit_sql does not work"),
        ("SELECT 1; SELECT 2", "one SELECT statement"),
        (placed("'game-7'"), "row 1 the episode_id 'game-7', and no game"),
        (placed("NULL"), "row 1 the episode_id None, and no game"),
        (placed("7"), r"gives episode_id as INTEGER: write CAST\(... AS VARCHAR\)"),
        (placed("'game-0', 'three' AS turn"), r"gives turn as VARCHAR: write CAST\(... AS INTEGER\) AS turn"),
        (placed("'game-0', 1.5 AS turn"), "gives turn as DECIMAL"),
        (placed("'game-0', -1 AS turn"), "the turn -1, and game game-0 has turns 1 to 2"),
        (placed("'game-0', 99 AS turn"), "the turn 99, and game game-0 has turns 1 to 2"),
        (placed("'game-0', 1 AS turn, 'director' AS agent"), "the agent 'director', and game game-0 has Builder, D1, D2, D3"),
        (placed("'game-0', 1 AS turn, 7 AS agent"), "gives agent as INTEGER"),
    ],
)
def test_a_query_that_does_not_serve_is_told_in_one_line(tmp_path: Path, sql: str, message: str) -> None:
    """Missing columns, rows that cannot be told apart or stand nowhere, bad SQL, writing and reading files: nothing is asked."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    more = f'unit_sql: "{sql}"\n'

    with stub_server() as url:
        with pytest.raises(UsageError, match=message) as caught:
            run(JudgeRequest(rubric=rubric_of(tmp_path, "row", "[said]", more=more), settings=ask_model(url).settings), store)
        assert counted(url)["requests"] == 0

    assert "\n" not in str(caught.value)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("sql", "units"),
    [
        ("SELECT episode_id AS Unit_ID, Episode_Id, 'x' AS SAID FROM episodes;", ["game-0", "game-1"]),
        ("SELECT episode_id AS unit_id, episode_id, 'ü;' AS said FROM episodes; -- all; of them", ["game-0", "game-1"]),
        ("SELECT episode_id AS unit_id, episode_id, NULL AS turn, NULL AS agent, 'x' AS said FROM episodes", ["game-0", "game-1"]),
        ("SELECT episode_id AS unit_id, episode_id, max(turn) AS turn, now() AS said FROM turns GROUP BY ALL", ["game-0", "game-1"]),
        ("SELECT 1 AS unit_id, 'game-1' AS episode_id, 2::HUGEINT AS turn, 'D1' AS agent, [1, 2] AS said", ["1"]),
    ],
)
def test_a_query_may_be_written_as_sql_is_written(tmp_path: Path, sql: str, units: list[str]) -> None:
    """A semicolon or a comment at the end, any case, whole games, times with a zone, any whole number as turn."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=2)
    rubric = rubric_of(tmp_path, "row", "[said]", more=f'unit_sql: "{sql}"\n')

    assert sorted(prompts(store, rubric)) == units


def test_a_condition_on_games_keeps_rows_that_belong_to_a_whole_game(tmp_path: Path) -> None:
    """A row without a turn is not lost because the condition is met by turns."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=2)
    sql = "SELECT episode_id AS unit_id, episode_id, 'x' AS said FROM episodes"
    rubric = rubric_of(tmp_path, "row", "[said]", more=f'unit_sql: "{sql}"\n')

    selection = select(store, rubric, "episode_id = 'game-1'")

    assert [unit.unit_id for unit in selected_units(store, rubric, selection)] == ["game-1"]


def test_several_categories_out_of_a_closed_set(tmp_path: Path) -> None:
    """The model answers with a list; it is stored in the rubric's order, without a score; anything outside the set is asked again."""
    rubric = rubric_of(
        tmp_path,
        "action",
        "[action]",
        answers="{late: null, wrong: null, rude: null}",
        examples="{late: a, wrong: b, rude: c}",
        more="choice: several\n",
    )
    store = store_of(tmp_path / "s.duckdb", games=1, turns=6)
    allowed = {"none", "late", "wrong", "rude", "late|wrong", "late|rude", "wrong|rude", "late|wrong|rude"}

    with stub_server("--fault", "not-allowed:0.5") as url:
        report = run(JudgeRequest(rubric=rubric, settings=ask_model(url).settings), store)

    rows = verdict_rows(store, "answer, score")
    assert (report.answered, report.failed, len(rows)) == (6, 0, 6)
    assert {answer for answer, _ in rows} <= allowed
    assert len({answer for answer, _ in rows}) > 1
    assert {score for _, score in rows} == {None}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("answer", "status"), [("late|rude", "answered"), ("none", "answered"), ("", "failed"), ("late|odd", "failed")])
def test_a_check_that_answers_outside_the_closed_set_fails(tmp_path: Path, answer: str, status: str) -> None:
    """Also the engine can only choose among the rubric's categories."""
    path = tmp_path / "mine.yaml"
    rubric_of(
        tmp_path, "episode", "[dialogue]", answers="{late: null, rude: null}", examples="{late: a, rude: b}", more="choice: several\n"
    )
    path.write_text(path.read_text().replace("    ask:", "    engine: mine.x\n    ask:"))
    store = store_of(tmp_path / "s.duckdb", turns=1)

    run_engine(JudgeRequest(rubric=load(path)), store, checks={"mine.x": lambda *_: Decision(answer, "")})

    assert verdict_rows(store, "status") == [(status,)]


def test_one_category_and_ordinal_answers(tmp_path: Path) -> None:
    """A category has no score, also none that stands for N/A by accident; a step on a scale has the one of the file."""
    categories = rubric_of(tmp_path, "episode", "[dialogue]", answers="{late: null, rude: null}", examples="{late: a, rude: b}")
    assert next(iter(categories.questions.values())).answers == ("late", "rude")
    scale = rubric_of(tmp_path, "episode", "[dialogue]", answers='{"1": 0, "2": 0.5, "3": 1}', examples='{"1": bad, "2": fair, "3": good}')
    store = store_of(tmp_path / "s.duckdb", games=5, turns=1)

    with stub_server() as url:
        run(JudgeRequest(rubric=scale, settings=ask_model(url).settings), store)

    assert all(score == {"1": 0, "2": 0.5, "3": 1}[answer] for answer, score in verdict_rows(store, "answer, score"))


GRADES = '{"A+": 1, "A": 0.8, "A-": 0.6}'
STEPS = '{"-1": 0, "0": 0.5, "1": 1}'
SIGNS = '{">": 1, "<": 0, "=": 0.5}'
WORDS = '{too_loud: 1, "no": 0}'


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("answers", "says", "stored"),
    [
        (STEPS, "-1", ("answered", "-1", 0.0)),
        (STEPS, " -1. ", ("answered", "-1", 0.0)),
        (STEPS, "+1", ("failed", None, None)),
        (GRADES, "A-", ("answered", "A-", 0.6)),
        (GRADES, "a+", ("answered", "A+", 1.0)),
        (GRADES, "A--", ("failed", None, None)),
        (SIGNS, "<", ("answered", "<", 0.0)),
        (SIGNS, "~", ("failed", None, None)),
        (WORDS, "**Too loud.**", ("answered", "too_loud", 1.0)),
        (WORDS, "no!", ("answered", "no", 0.0)),
        (WORDS, "loud", ("failed", None, None)),
    ],
)
def test_an_answer_is_never_taken_for_another(
    tmp_path: Path, answers: str, says: str, stored: tuple[str, str | None, float | None]
) -> None:
    """Case, quotes, stops and word joints may vary; a sign that tells answers apart is part of them; what fits none is asked again."""
    names = yaml.safe_load(answers)
    rubric = rubric_of(tmp_path, "episode", "[dialogue]", answers=answers, examples=json.dumps(dict.fromkeys(names, "so")))
    store = store_of(tmp_path / "s.duckdb", turns=1)

    with stub_server(f"--says={says}") as url:
        run(JudgeRequest(rubric=rubric, settings=ask_model(url).settings), store)

    assert verdict_rows(store, "status, answer, score") == [stored]
