"""Evidence for dialogues: what came before the judged message, what it replies to, tools, windows; nothing that came after it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from judges.evidence.pieces import Viewer, windows
from judges.evidence.prompt import system_message
from judges.evidence.selection import selected_units
from judges.evidence.transcript import load as load_games
from judges.evidence.units import Unit, later_pieces, select
from judges.rubric import Rubric
from judges.rubric_files.load import draft, load, template, warnings_of
from schemas.records import Action, Agent, Episode, Json, Run, Turn, Utterance
from schemas.store import batches
from schemas.store.store import Store
from tests.command_line import called
from tests.masters import begun, held_open

_ALL = ["user", "ann", "bob", "tool"]
_TALK: list[list[tuple[str, str, list[str]]]] = [
    [("user", "u1", _ALL), ("ann", "a1", _ALL), ("bob", "b1", _ALL)],
    [("user", "u2 for ann", ["user", "ann"]), ("ann", "a2", _ALL), ("bob", "b2", _ALL), ("ann", "a2 again", _ALL)],
    [("tool", "r3", _ALL)],
    [("ann", "a4", _ALL)],
    [("tool", "r5", _ALL)],
    [("ann", "a6", _ALL), ("bob", "b6", _ALL)],
]
"""Turn by turn: who, what, who could read it. Ann calls a tool on turns 2 and 4."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The talk, and a long one of 60 messages."""
    found = begun(tmp_path_factory.mktemp("dialogue") / "s.duckdb")
    long_talk = [[("ann" if number % 2 else "bob", f"message {number} " + "word " * 150, _ALL)] for number in range(1, 61)]
    rows: dict[str, list[tuple[object, ...]]] = {"runs": [Run("run", "chat", "run", Json("{}"), None)]}
    for game, talk in (("short", _TALK), ("long", long_talk)):
        for name, records in _rows(game, talk).items():
            rows.setdefault(name, []).extend(records)
    arrow = batches.to_arrow(rows)
    batches.check(arrow)
    with found.writing() as connection:
        batches.insert(connection, arrow)
    yield from held_open(found)


def _rows(game: str, talk: list[list[tuple[str, str, list[str]]]]) -> dict[str, list[tuple[object, ...]]]:
    called = [turn for turn in (2, 4) if game == "short"]
    episode = Episode(
        episode_id=game, run_id="run", source_id="source", benchmark="chat", task_id=game, level=None, model="m", team=Json("{}"), seed=1,
        max_turns=None, turns_taken=len(talk), success=None, score=None, stop_reason=None, error=None, goal=None, details=Json("{}"),
        file="f", started_at=datetime(2026, 1, 1),  # noqa: DTZ001 - stored without a zone
    )  # fmt: skip
    return {
        "episodes": [episode],
        "agents": [Agent(game, name, name, None, None, None, None, None) for name in _ALL],
        "turns": [Turn(game, turn, None, None, None, None, None, None, None, None) for turn in range(1, len(talk) + 1)],
        "utterances": [
            Utterance(game, turn, seq, agent, "public", audience, text, None, superseded=False)
            for turn, said in enumerate(talk, start=1)
            for seq, (agent, text, audience) in enumerate(said, start=1)
        ],
        "actions": [
            Action(game, turn, 1, "ann", "search", Json(json.dumps({"q": f"c{turn}"})), None, None, undoes=False, error_code=None,
                   error_text=None)
            for turn in called
        ],
    }  # fmt: skip


def _rubric(folder: Path, unit: str, *shows: str, more: str = "") -> Path:
    path = folder / "mine.yaml"
    path.write_text(
        f'name: mine\nversion: 1\nunit: {unit}\nbenchmarks: [any]\nshows: [{", ".join(shows)}]\nanswers: {{"yes": 1, "no": 0}}\n{more}'
        'instructions: Judge.\nquestions:\n  Q1:\n    ask: Is it so?\n    examples: {"yes": a, "no": b}\n'
    )
    return path


def _units(store: Store, rubric: Rubric) -> dict[str, Unit]:
    return {unit.unit_id: unit for unit in selected_units(store, rubric, select(store, rubric, None))}


def _shown(store: Store, rubric: Rubric, unit: str) -> dict[str, str]:
    shown = Viewer(_units(store, rubric)[unit].context).show(rubric.shows)
    return {name: " | ".join(entry.text for entry in entries) for name, entries in shown.items()}


_PIECES = ("said_before", "reply_to", "tool_calls", "tool_results")


@pytest.mark.parametrize(
    ("unit", "evidence"),
    [
        ("short/2/bob/3", ("u1 | a1 | b1 | a2", "a2", "", "")),  # not what the user wrote to Ann alone
        ("short/2/ann/2", ("u1 | a1 | b1 | u2 for ann", "u2 for ann", "search: q=c2", "")),
        (
            "short/6/ann/1",
            ("u1 | a1 | b1 | u2 for ann | a2 | b2 | a2 again | search: q=c2 | r3 | a4 | search: q=c4 | r5", "b2", "", "r3 | r5"),
        ),
        ("short/1/user/1", ("", "", "", "")),
    ],
)
def test_what_an_agent_could_see_before_its_message(store: Store, tmp_path: Path, unit: str, evidence: tuple[str, ...]) -> None:
    """By order, inside the turn too; tools are no one to reply to."""
    found = _shown(store, load(_rubric(tmp_path, "utterance", *_PIECES)), unit)

    assert found == dict(zip(_PIECES, evidence, strict=True))


def test_what_is_left_out_of_a_long_conversation_is_counted(store: Store, tmp_path: Path) -> None:
    """The budget bounds the evidence, and the prompt states how many messages it leaves out."""
    rubric = load(_rubric(tmp_path, "utterance", "said_before", more="window_tokens: 1000\n"))

    (head, *entries) = Viewer(_units(store, rubric)["long/60/bob/1"].context).show(rubric.shows)["said_before"]

    left_out = re.match(r"\((\d+) earlier messages and actions are not shown: this piece has room for about 1000 tokens\)", head.head)
    assert left_out is not None
    assert int(left_out[1]) + len(entries) == 59
    assert sum(len(entry.head) + len(entry.text) for entry in entries) <= 4000


@pytest.mark.parametrize(("unit", "piece"), [("utterance", "said_before"), ("window", "conversation_window")])
def test_the_prompt_states_the_length_that_the_rubric_sets(tmp_path: Path, unit: str, piece: str) -> None:
    rubric = load(_rubric(tmp_path, unit, piece, more="window_tokens: 6000\n"))
    stated = str(system_message(rubric, rubric.groups()[0]))
    assert "6000 tokens" in stated
    assert "4000" not in stated


@pytest.mark.parametrize("budget", [200, 1000, 4000, 100_000])
def test_windows_hold_everything_and_overlap(store: Store, budget: int) -> None:
    """A message longer than the budget is a window of its own."""
    (game,) = load_games(store, ["long"])

    found = windows(game, budget)

    assert sorted({place for window in found for place in window}) == list(range(60))
    assert all(before.start < after.start <= before.stop < after.stop for before, after in itertools.pairwise(found))
    if budget in {1000, 4000}:
        assert all(after.start < before.stop for before, after in itertools.pairwise(found))


def test_a_window_is_a_unit_that_states_what_is_around_it(store: Store, tmp_path: Path) -> None:
    """Every message is in a window, and every window counts the others."""
    rubric = load(_rubric(tmp_path, "window", "conversation_window", more="window_tokens: 2000\n"))
    found = {name: unit for name, unit in _units(store, rubric).items() if name.startswith("long/")}

    assert list(found) == [f"long/window{number}" for number in range(1, len(found) + 1)]
    for unit in found.values():
        entries = Viewer(unit.context).show(rubric.shows)["conversation_window"]
        counted = sum(int(number) for entry in entries for number in re.findall(r"^\((\d+) (?:earlier|later)", entry.head))
        assert counted + sum(bool(entry.text) for entry in entries) == 60


@pytest.mark.parametrize(
    ("unit", "shows", "later"),
    [
        ("utterance", ("judged_agent", "history", "utterance", *_PIECES), []),
        ("utterance", ("other_messages", "public_messages", "public_message"), ["other_messages", "public_messages", "public_message"]),
        ("agent_turn", ("history", "public_message", "other_messages", *_PIECES), ["other_messages"]),
        ("action", ("history", "action", "action_outcome", "said_before"), []),
        ("turn", ("history", "public_messages"), []),
        ("event", ("event", "public_messages"), ["public_messages"]),
        ("episode", ("dialogue",), []),
    ],
)
def test_evidence_after_the_judged_unit_is_a_warning(
    store: Store, tmp_path: Path, unit: str, shows: tuple[str, ...], later: list[str]
) -> None:
    """`rubric check` warns of what can come after the unit; a plan counts the units in which it does."""
    path = _rubric(tmp_path, unit, *shows)
    rubric = load(path)

    assert [message.message.split()[0] for message in warnings_of(path)] == later
    assert list(later_pieces(rubric, (one.context for one in _units(store, rubric).values()))) == later


def test_check_and_dry_run_tell_of_later_evidence(store: Store, tmp_path: Path) -> None:
    """In the words of a user, with the way out."""
    path = _rubric(tmp_path, "utterance", "utterance", "other_messages")
    checked = called("rubric", "check", str(path))
    asked = called(
        "judge", "--rubric", str(path), "--model", "openai/gpt-4o-mini", "--dry-run", "--where", "task_id = 'short'", store=store
    )

    assert checked.returncode == 0
    assert "mine.yaml, line 5: other_messages can show what comes after the judged utterance" in checked.stderr
    assert "other_messages shows what comes after the judged utterance in 6 of 10 units" in asked.stderr
    assert "said_before" in asked.stderr


def test_new_rubrics_show_nothing_after_their_unit(tmp_path: Path) -> None:
    """What `rubric new` writes is no trap."""
    texts = {"plain": template("plain"), **{f"of_{unit}": draft(f"of_{unit}", unit, "any") for unit in ("utterance", "agent_turn", "turn")}}
    for name, text in texts.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(text.replace("TODO", "done"))
        assert warnings_of(path) == []
