"""Model judges over LLM-Coordination and Collab-Overcooked: from the command line to stored answers, and nothing hidden in a prompt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.query import query
from games.coordination.hanabi import DECK
from ingest.files.run import ingest_paths
from judges.evidence.prompt import PromptMaker
from judges.evidence.transcript import load
from judges.evidence.units import select, units
from judges.rubric_files.load import find
from schemas.store.store import Store
from tests.ingest.coordination.coordination_logs import PlayRequest as CoordinationRequest
from tests.ingest.coordination.coordination_logs import play as play_coordination
from tests.ingest.overcooked.overcooked_logs import PlayRequest as OvercookedRequest
from tests.ingest.overcooked.overcooked_logs import play as play_overcooked
from tests.judges.judged_games import counted
from tests.servers.stub_server import stub_server

_COORDINATION = ("coordination_environment", "coordination_theory_of_mind", "coordination_joint_planning")
_OVERCOOKED = ("overcooked_initiating", "overcooked_responding")
_LEAK = "zqLEAKqz"


def _filled(folder: Path, shared: Path) -> Store:
    """A few turns of each kind of game, and answers to questions."""
    play_overcooked(OvercookedRequest(out=folder / "logs", orders=("boiled_egg",), policies=("premature-request",)))
    for game in ("overcooked", "collab_capture", "collab_escape"):
        play_coordination(CoordinationRequest(game=game, out=folder / "logs", policies=("random",), variants=(), seeds=(1,), ticks=12))
    data = shared / "data" / "coordination"
    lines = (data / "hanabi" / "hanabi_steps.jsonl").read_text(encoding="utf-8").splitlines()[:12]
    (folder / "logs" / "hanabi.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs", data / "coordqa" / "native_logs" / "all_openai_cot_no_marker0.json"], store, workers=1)
    with store.writing() as connection:
        connection.execute(
            "DELETE FROM turns WHERE episode_id IN (SELECT episode_id FROM episodes WHERE task_id NOT LIKE '% 5') AND turn > 6"
        )
    return store


@pytest.fixture(scope="module")
def store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Filled once; only read."""
    return _filled(tmp_path_factory.mktemp("judged"), shared)


@pytest.mark.long
def test_rubrics_run_from_the_command_line_to_stored_answers(store: Store, tmp_path: Path) -> None:
    """Every unit about which there is something to judge is asked once, each question answered with one of its answers."""
    copy = Store(tmp_path / "s.duckdb")
    copy.path.write_bytes(store.path.read_bytes())
    named = [word for rubric in (*_COORDINATION, *_OVERCOOKED) for word in ("--rubric", rubric)]
    env = {**os.environ, "NO_COLOR": "1", "COTRACE_STORE": str(copy.path)}
    with stub_server("--fault", "500:0.2", "--fault", "not-allowed:0.1") as url:
        command = [
            sys.executable,
            "-c",
            "from cotrace.cli import main; main()",
            "judge",
            *named,
            "--model",
            "local/fake",
            "--base-url",
            url,
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=300, check=False)
        answers = counted(url)["answers"]
    assert done.returncode == 0, done.stderr
    rows = query(
        copy, "select rubric, status, count(*) as n, count(distinct (unit_id, question)) as units from verdicts group by all"
    ).to_dicts()
    assert {row["rubric"] for row in rows} == {*_COORDINATION, *_OVERCOOKED}
    assert {row["status"] for row in rows} <= {"answered", "skipped"}
    assert all(row["n"] == row["units"] for row in rows)
    assert answers > 0
    games = query(copy, "select distinct level from verdicts inner join episodes using (episode_id) where status = 'answered'")[
        "level"
    ].to_list()
    assert {"hanabi", "overcooked", "collab_capture", "collab_escape", "EC", "TOM", "JP", "1"} <= set(games)
    for rubric in (*_COORDINATION, *_OVERCOOKED):
        given = query(
            copy, "select distinct question, answer from verdicts where status = 'answered' and rubric = $name", {"name": rubric}
        ).rows()
        allowed = {question.id: set(question.answers) for question in find(rubric).questions.values()}
        assert all(answer in allowed[question] for question, answer in given)


def _prompts(store: Store, rubric: str, agent: str) -> dict[str, str]:
    found = find(rubric)
    maker = PromptMaker(found)
    games = load(store, list(select(store, found, None)))
    judged = (unit for game in games for unit in units(found, game, None) if unit.agent == agent)
    return {unit.unit_id: "\n".join(m["content"] for prompt in maker.prompts(unit) for m in maker.messages(prompt)) for unit in judged}


def _spoilt(store: Store, path: Path, agent: str) -> Store:
    """The same store with everything changed that a judge of this agent must not be led by."""
    copy = Store(path)
    copy.path.write_bytes(store.path.read_bytes())
    leak, text = json.dumps({"leak": _LEAK}), _LEAK
    with copy.writing() as connection:
        connection.execute("UPDATE turns SET state_after = $1, goal_reached = NOT goal_reached, progress = 0.123", [leak])
        connection.execute("UPDATE failures SET category = $1, evidence = $1", [text])
        connection.execute(
            "UPDATE episodes SET success = NOT success, score = 0.123, stop_reason = $1, goal = $2, model = $1", [text, leak]
        )
        connection.execute("UPDATE labels SET answer = $1", [text])
        connection.execute("UPDATE oracle_actions SET arguments = $1", [leak])
        connection.execute("UPDATE turn_metrics SET value = 0.123")
        connection.execute("UPDATE episode_metrics SET value = 0.123")
        connection.execute("UPDATE actions SET raw = $1, error_text = $1, error_code = $1", [text])
        connection.execute("UPDATE agents SET persona = $1, model = $1, private_view = NULL", [text])
        connection.execute(
            "UPDATE utterances SET text = $1 WHERE channel = 'private' AND agent <> $2 AND text NOT LIKE '% plan%'", [text, agent]
        )
        for episode, turn, state in _hands(connection.execute("SELECT episode_id, turn, state_before FROM turns").fetchall(), agent):
            connection.execute("UPDATE turns SET state_before = $1 WHERE episode_id = $2 AND turn = $3", [json.dumps(state), episode, turn])
    return copy


def _hands(rows: list[tuple[str, int, str]], agent: str) -> Iterator[tuple[str, int, object]]:
    """States of Hanabi with other cards in the agent's own hand, and of the escape with another, untold choice of the killer."""
    for episode, turn, text in rows:
        state = json.loads(text)
        if "hands" in state and agent in state["hands"]:
            state["hands"][agent] = [DECK[(DECK.index(card) + 17) % len(DECK)] for card in state["hands"][agent]]
            yield episode, turn, state
        elif "adversary_choice" in state:
            yield episode, turn, state | {"adversary_choice": _LEAK}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("rubric", "agent"),
    [
        *((rubric, agent) for rubric in _COORDINATION for agent in ("Alice", "Bob", "respondent")),
        *((rubric, agent) for rubric in _OVERCOOKED for agent in ("Chef", "Assistant")),
    ],
)
def test_prompts_do_not_depend_on_what_is_hidden(rubric: str, agent: str, store: Store, tmp_path: Path) -> None:
    """Outcomes, own cards, the killer's untold choice, keys, categories, partner's thoughts: whatever they are, prompts are the same."""
    shown = _prompts(store, rubric, agent)
    assert agent == "Assistant" or shown
    assert _prompts(_spoilt(store, tmp_path / "s.duckdb", agent), rubric, agent) == shown
    assert not any(_LEAK in text for text in shown.values())


def test_own_cards_are_shown_by_hints_only(store: Store) -> None:
    """Of Hanabi's cards a prompt names the partner's and the discarded ones; the own ones as what they can be."""
    shown = _prompts(store, "coordination_joint_planning", "Bob")
    hanabi = {unit: text for unit, text in shown.items() if "own card 0 by hints" in text}
    assert hanabi
    sql = "select episode_id || '/' || turn || '/Bob', state_before from turns where state_before ->> 'player' = 'Bob'"
    states = {unit: json.loads(state) for unit, state in query(store, sql).rows()}
    for unit, text in hanabi.items():
        view = text.split("sees before this turn")[1].split("Bob wrote")[0]
        assert set(re.findall(r"\b[RYGWB][1-5]\b", view)) <= {*states[unit]["hands"]["Alice"], *states[unit]["discard_pile"]}
