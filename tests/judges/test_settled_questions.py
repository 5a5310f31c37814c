"""Questions that the log itself settles are not put to a judge, and reasons that state another answer are flagged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from ingest.files.run import ingest_paths
from judges.evidence.pieces import settled
from judges.evidence.selection import selected_units
from judges.evidence.units import select
from judges.rubric import contradicts
from judges.rubric_files.load import load, names
from judges.runs.job import JudgeRequest, plan
from judges.runs.runner import run
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, store_of
from tests.played import played_store
from tests.scripted import EinsteinRequest
from tests.scripted import play as play_einstein
from tests.servers.stub_server import stub_server

FIRST_TURN = """\
name: first
version: 1
unit: turn
benchmarks: [craft]
shows: [public_messages]
answers: {"yes": 1, "no": 0, na: null}
instructions: Judge.
questions:
  Q1:
    ask: Does a message answer an earlier one?
    na_when: it is the first turn
    na_if: [first_turn]
    examples: {"yes": it does, "no": it does not, na: nothing was said before}
"""


FEW = "turn <= 6 AND episode_id IN (SELECT min(episode_id) FROM episodes GROUP BY model)"
"""A game of each team, as far as conditions hold there."""
ONE = "episode_id IN (SELECT min(episode_id) FROM episodes)"
"""A game."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games of two families, judged by the engine where it can."""
    folder = tmp_path_factory.mktemp("settled")
    store = played_store(folder, judged=False)
    play_einstein(EinsteinRequest(out=folder / "einstein", games=2))
    ingest_paths([folder / "einstein"], store, workers=1)
    ensure_installed(store)
    return store


@pytest.mark.long
def test_what_is_settled_is_not_applicable_by_proof_too(played: Store) -> None:
    """Over all rubrics: wherever a condition holds, the engine answers N/A, or leaves it open."""
    seen = set[str]()
    for path in names().values():
        rubric = load(path)
        if not any(question.na_if and question.engine for question in rubric.questions.values()):
            continue
        run(JudgeRequest(rubric=rubric, where=FEW), played)
        answers = {
            (unit, question): answer
            for unit, question, answer in query(
                played, "SELECT unit_id, question, answer FROM verdicts WHERE rubric = $name", {"name": rubric.name}
            ).rows()
        }
        for unit in selected_units(played, rubric, select(played, rubric, FEW)):
            known = settled(rubric.questions.values(), unit.context)
            seen |= {*known.values()}
            assert {answers.get((unit.unit_id, question)) for question in known} <= {"na", None}, (unit.unit_id, known)
    assert {"candidate_taken", "nothing_shared", "nothing_moved", "not_asked"} <= seen


def test_a_settled_question_is_not_asked_and_says_so(tmp_path: Path) -> None:
    """The call asks for the rest; the verdict names the condition and no call; a second start asks nothing."""
    store, request = played_store(tmp_path, judged=False), "pragmatic_sufficiency"
    with stub_server() as url:
        report = run(ask_model(url, request, where=ONE), store)
        again = run(ask_model(url, request, where=ONE), store)
    assert again.requests == 0
    asked = query(store, "SELECT call_id, question, rule, answer, reason, status FROM verdicts").rows(named=True)
    by_rule = [row for row in asked if row["rule"] is not None]
    assert {(row["answer"], row["status"], row["call_id"]) for row in by_rule} == {("na", "answered", None)}
    assert {row["rule"] for row in by_rule} >= {"candidate_taken"}
    assert all("candidate" in row["reason"] or "question" in row["reason"] for row in by_rule)
    replies = dict(query(store, "SELECT call_id, reply FROM calls").rows())
    questions = {call: {row["question"] for row in asked if row["call_id"] == call} for call in replies}
    assert {call: {*json.loads(reply)} for call, reply in replies.items()} == questions
    assert report.answered == len(asked)
    ensure_installed(store)
    counts = query(store, "SELECT sum(na_by_rule) AS rules, sum(na) AS na, sum(reasons) AS reasons FROM judge_scores_models").to_dicts()[0]
    assert counts["rules"] == len(by_rule) <= counts["na"]
    assert counts["reasons"] == len(asked) - len(by_rule)


@pytest.mark.long
def test_where_no_question_is_left_nothing_is_asked(tmp_path: Path) -> None:
    """One call less a game; the plan counts it."""
    path, store = tmp_path / "first.yaml", store_of(tmp_path / "s.duckdb", games=2, turns=3)
    path.write_text(FIRST_TURN)
    with stub_server() as url:
        request = ask_model(url, rubric=str(path))
        planned = plan(request, store)
        report = run(request, store)
    assert (planned.calls, planned.settled) == (report.requests, 2) == (4, 2)
    assert (report.answered, report.from_cache) == (6, 0)


@pytest.mark.long
def test_a_failed_call_is_asked_again_and_nothing_stands_twice(tmp_path: Path) -> None:
    """Its settled questions are known all the while."""
    store, request = played_store(tmp_path, judged=False), "pragmatic_sufficiency"
    with stub_server("--fault", "refusal:1:9") as url:
        run(ask_model(url, request, where=ONE), store)
    assert {*query(store, "SELECT DISTINCT status FROM verdicts WHERE rule IS NULL")["status"]} == {"failed"}
    assert {*query(store, "SELECT DISTINCT status FROM verdicts WHERE rule IS NOT NULL")["status"]} == {"answered"}
    with stub_server() as url:
        run(ask_model(url, request, where=ONE), store)
    assert query(store, "SELECT DISTINCT status FROM verdicts").rows() == [("answered",)]
    assert query(store, "SELECT count(*) = count(DISTINCT (unit_id, question, repeat)) FROM verdicts").item()


YES_NO = ("yes", "no", "unclear", "na")


@pytest.mark.parametrize(
    ("reason", "answer", "found"),
    [
        ("no", "yes", True),
        ("No, the layer is another one.", "yes", True),
        ("It names a cell, so the answer is yes.", "no", True),
        ("Answer: 'no', because nothing is named", "yes", True),
        ("The verdict is **unclear**.", "yes", True),
        ("Yes, it names a cell", "yes", False),
        ("The answer is no longer open: a cell is named.", "yes", False),
        ("No candidate is listed.", "yes", False),
        ("The answer is not yes.", "no", False),
        ("D1 says yes, please, and the place is clear", "no", False),
        ("No, it is N/A here", "na", False),
    ],
)
def test_a_reason_that_states_another_answer_is_found(reason: str, answer: str, *, found: bool) -> None:
    """Only what is stated in so many words."""
    assert contradicts(reason, answer, YES_NO) is found
