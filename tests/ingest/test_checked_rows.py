"""What the tables' schemas refuse is a row of `rejects` with its column, and costs no more than it has to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.query import query
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from ingest.foreign.chat_lines import MappedChat
from ingest.labels.load import import_labels
from judges.rubric_files.load import known_answers
from schemas.common.errors import StoreError
from schemas.store.batches import faults, to_arrow
from schemas.store.store import Store
from schemas.tables import TABLES, polars_type, table
from tests.fuzz.specimens import own_specimens
from tests.judges.judged_games import store_of

CALL: Final = {
    "call_id": "c1", "model": "openai/x", "prompt_hash": "p", "reply": "so", "reasoning": None, "finish_reason": "stop",
    "tokens_in": 3, "tokens_out": 2, "tokens_cached": 0, "tokens_reasoning": 0, "cost": 0.5, "latency_s": 1.0, "attempts": 1,
    "status": "answered", "error": None, "asked_at": "2026-01-01T00:00:00",
}  # fmt: skip
FAMILIES: Final[dict[str, dict[str, Any]]] = {
    "craft": {"turns": 3},
    "einstein": {"players": ["all=script:sensible"], "objects": [4]},
    "asympuzl": {"players": ["all=script:overcorrecting"], "turns": 4},
    "overcooked": {"players": ["all=script:optimal"], "task": ["boiled_egg"], "turns": 12},
    "coordination": {"game": "collab_escape", "turns": 6},
}
"""Family -> what is played of it."""


Turns = list[dict[str, Any]]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """A game of each family in cotrace's own log, and the same of no family: its lines."""
    out = tmp_path_factory.mktemp("played")
    found = {}
    for family, asked in FAMILIES.items():
        play(family, out / family, games=1, seeds=(1,), **asked)
        found[family] = lines_of(min((out / family).rglob("*.jsonl"), key=lambda log: (log.stat().st_size, log)))
    return found | {"of no family": [found["einstein"][0] | {"benchmark": "tea"}, *found["einstein"][1:]]}


def lines_of(log: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def first(turns: Turns, entries: str) -> dict[str, Any]:
    """The first utterance or action of the game."""
    return next(turn[entries][0] for turn in turns if turn.get(entries))


def backwards(turns: Turns) -> None:
    """Its time stamps go back, by a year."""
    turns[0]["at"], turns[1]["at"] = "2026-01-01T10:00:00", "2025-01-01T10:00:00"


def calling(**changes: object) -> Callable[[Turns], None]:
    """A call in the first turn, by the agent that acts first."""
    return lambda turns: turns[0].update(calls=[CALL | {"agent": first(turns, "actions")["agent"]} | changes])


def labelled(turns: Turns) -> None:
    """Planted truth about an agent that the game does not have."""
    turns[0]["labels"] = [{"rubric": "r", "question": "Q1", "agent": "Nobody", "answer": "yes", "basis": "b", "planted": ""}]


GAME, ROW, VALUE = "the game is lost", "the row is left out", "without this value"
PLANTED: Final[dict[str, tuple[Callable[[Turns], object], str, str]]] = {
    "an utterance of an unknown agent": (
        lambda turns: first(turns, "utterances").update(agent="Nobody"), "utterances, column agent: Nobody must be in table agents", GAME,
    ),
    "an unknown listener": (
        lambda turns: first(turns, "utterances").update(audience=["Nobody"]), "utterances, column audience: ['Nobody'] must be in", GAME,
    ),
    "time goes back": (backwards, "turns, column at: 2025-01-01 10:00:00 must fit the rule", VALUE),
    "a negative count": (calling(tokens_in=-3), "calls, column tokens_in: -3 must be at least 0", VALUE),
    "a negative cost": (calling(cost=-0.5), "calls, column cost: -0.5 must be at least 0", VALUE),
    "negative time": (calling(latency_s=-1.0), "calls, column latency_s: -1.0 must be at least 0", VALUE),
    "no attempts": (calling(attempts=-1), "calls, column attempts: -1 must be at least 0", ROW),
    "an unknown status": (calling(status="so-so"), "calls, column status: so-so must be one of answered, failed, unasked", ROW),
    "an answer that failed": (calling(error="boom"), "calls, column error: boom must fit the rule", ROW),
    "a call of an unknown agent": (calling(agent="Nobody"), "calls, column agent: Nobody must be in table agents of the same game", ROW),
    "a label about an unknown agent": (labelled, "labels, column agent: Nobody must be in table agents of the same game", ROW),
}  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", [*FAMILIES, "of no family"])
def test_a_wrong_row_of_a_log_is_rejected_with_its_reason_and_costs_nothing_else(
    tmp_path: Path, logs: dict[str, list[dict[str, Any]]], family: str
) -> None:
    """Each kind of wrong row in a log of its own, beside a sound one: told with place and column; a second ingest changes nothing."""
    lines = logs[family]
    folder = tmp_path / "logs"
    folder.mkdir()
    written(folder / "sound.jsonl", lines)
    for number, (plant, _, _) in enumerate(PLANTED.values()):
        changed = json.loads(json.dumps(lines))
        changed[0]["started_at"] = f"2026-01-01T00:00:{number:02d}"
        plant([line for line in changed if "turn" in line])
        written(folder / f"{number}.jsonl", changed)
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([folder], store)
    games = dict(query(store, "SELECT file, episode_id FROM episodes").rows())
    assert "sound.jsonl" in games
    for number, (name, (_, reason, cost)) in enumerate(PLANTED.items()):
        told = query(store, f"SELECT locator, reason FROM rejects WHERE path LIKE '%/{number}.jsonl'").rows()
        if reason.startswith("utterances") and cost == GAME and f"{number}.jsonl" not in games:
            assert len(told) == 1, name  # one reason a game, whichever of its rows is met first
            assert "column agent" in told[0][1] or "column audience" in told[0][1], (name, told)
            continue
        assert [reason in why and cost in why for _, why in told] == [True], (name, told)
        assert told[0][0].startswith("turn "), name
        assert f"{number}.jsonl" in games, name
    left = query(store, "SELECT count(*) FILTER (tokens_in IS NULL), count(*) FILTER (cost IS NULL), count(*) FROM calls").rows()
    assert left == [(1, 1, 3)]
    again = ingest_paths([folder], store)
    assert (again.unchanged, again.replaced, again.ingested) == (len(PLANTED) + 1, 0, 0)
    assert sorted((part.path, part.reason) for part in again.rejected) == sorted((part.path, part.reason) for part in report.rejected)


def negative_score(text: str) -> str:
    """A kitchen's log whose first tick has a score below 0."""
    first, _, rest = text.partition("\n")
    return json.dumps(json.loads(first) | {"score": -5}) + "\n" + rest


def unreadable_step(text: str) -> str:
    """A log of Collab-Overcooked whose first timestep is none, though the player's script has told what it did there."""
    log = json.loads(text)
    log["content"][0]["timestamp"] = "soon"
    return json.dumps(log)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("specimen", "plant", "reason"),
    [
        ("coordination, kitchen, own log", negative_score, "table turns, column progress: -0.0125 must be from 0 to 1"),
        ("overcooked, own log", unreadable_step, "table labels, column turn: 1 must be in table turns of the same game"),
    ],
)
def test_a_wrong_row_of_a_published_format_is_rejected_with_the_schemas_reason(
    tmp_path: Path, specimen: str, plant: Callable[[str], str], reason: str
) -> None:
    """Where the format's own reader takes a value, the table's schema still refuses it."""
    [game] = [game for game in own_specimens() if game.name == specimen]
    game.write(tmp_path, plant(game.data.decode()).encode())
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    told = [why for (why,) in query(store, "SELECT reason FROM rejects").rows()]
    assert [why.startswith(reason) for why in told].count(True) == 1, told


def written(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write lines of JSON."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_a_wrong_row_of_a_file_of_many_games_is_told_with_the_place_of_its_game(tmp_path: Path) -> None:
    """Conversations by a mapping: a time stamp that goes back is unknown, in its conversation alone."""
    (tmp_path / "map.yaml").write_text(
        "benchmark: negotiation\nconversation: {id: deal, messages: talk}\nmessage: {speaker: who, text: words, time: when}\n"
    )
    times = [("10:00", "10:01"), ("10:00", "09:59"), ("10:00", "10:00")]
    talks = [
        {
            "deal": f"d{number}",
            "talk": [{"who": who, "words": "Ten?", "when": f"2026-01-01T{at}:00"} for who, at in zip("ab", pair, strict=True)],
        }
        for number, pair in enumerate(times)
    ]
    written(tmp_path / "talks.jsonl", talks)
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([tmp_path / "talks.jsonl"], store, log_format=MappedChat.of(tmp_path / "map.yaml"))
    assert report.episodes == 3
    [part] = report.rejected
    assert part.locator == "line 2, turn 2"
    assert part.reason.startswith("table turns, column at: 2026-01-01 09:59:00 must fit the rule")
    assert query(store, 'SELECT count("at"), count(*) FROM turns').rows() == [(5, 6)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("spatial_grounding,SG1,kim,game-0,1,D1,yes,0.25", "column score: 0.25 must be the score of its answer; yes has 1.0"),
        ("spatial_grounding,SG1,kim,game-0,1,D1,no,1", "column score: 1.0 must be the score of its answer; no has 0.0"),
        ("spatial_grounding,SG99,kim,game-0,1,D1,yes,", "column question: SG99 must be a question of its rubric"),
        ("spatial_grounding,SG1,kim,game-0,4,D1,yes,", "column turn: 4 must be in table turns of the same game"),
        ("spatial_grounding,SG1,kim,game-0,1,Nobody,yes,", "column agent: Nobody must be in table agents of the same game"),
    ],
)
def test_a_wrong_label_of_a_file_is_rejected_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    """The other labels come in; a corrected file takes the reason away."""
    file, store = tmp_path / "people.csv", store_of(tmp_path / "s.duckdb")
    head = "rubric,question,annotator,episode_id,turn,agent,answer,score\nspatial_grounding,SG1,kim,game-0,2,D1,yes,1\n"
    file.write_text(f"{head}{line}\n")
    report = import_labels(file, store, known_answers())
    assert report.labels == 1
    [(path, locator, told)] = query(store, "SELECT path, locator, reason FROM rejects").rows()
    assert (path, locator) == (str(file), "line 3")
    assert f"table labels, {reason}" in told
    assert report.refused == [f"line 3: {told}"]
    file.write_text(head)
    import_labels(file, store, known_answers())
    assert query(store, "SELECT count(*) FROM rejects").item() == 0


def test_a_label_without_a_score_has_that_of_its_rubric(tmp_path: Path) -> None:
    """The rubric's number counts where it is known, before the usual one of such an answer."""
    file, store = tmp_path / "people.csv", store_of(tmp_path / "s.duckdb")
    file.write_text("rubric,question,annotator,episode_id,turn,agent,answer\nr,Q1,kim,game-0,1,D1,yes\nr,Q1,kim,game-0,2,D1,no\n")
    import_labels(file, store, {"r": {"Q1": {"yes": 0.0, "no": 1.0}}})
    assert query(store, "SELECT answer, score FROM labels WHERE rubric = 'r' ORDER BY 1").rows() == [("no", 1.0), ("yes", 0.0)]


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    """The rows of two games that hold every table of a log."""
    store = store_of(tmp_path_factory.mktemp("batch") / "s.duckdb", games=2)
    with store.reading():
        return {
            spec.name: pl.DataFrame(to_arrow({spec.name: found})[spec.name])
            for spec in TABLES
            if "episode_id" in spec.column_names or spec.name == "runs"
            for found in [query(store, f"FROM {spec.name}").rows()]
            if found
        }


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_corrupted_cell_is_harmless_by_the_contract_or_refused_by_its_column(batch: dict[str, pl.DataFrame], data: st.DataObject) -> None:
    """Null, a number out of bounds, an unknown word, agent, turn or game: the schema names table, column and row."""
    _corrupted(batch, data)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_many_corrupted_cells_are_harmless_by_the_contract_or_refused_by_their_columns(
    batch: dict[str, pl.DataFrame], data: st.DataObject
) -> None:
    _corrupted(batch, data)


def _corrupted(batch: dict[str, pl.DataFrame], data: st.DataObject) -> None:
    """Put one wrong value into one cell."""
    name = data.draw(st.sampled_from(sorted(batch)))
    column = data.draw(st.sampled_from(table(name).columns))
    place = data.draw(st.integers(0, len(batch[name]) - 1))
    numbers = [-1, -0.5, 2.5, float("nan")] if column.python_type is float else [-1, 10**6]
    words: dict[object, list[Any]] = {int: numbers, float: numbers, bool: [], list[str]: [["Nobody"]]}
    value = data.draw(st.sampled_from([None, *words.get(column.python_type, ["\u00e9 nobody"])]))
    values = batch[name][column.name].to_list()
    try:
        cells = pl.Series(column.name, [*values[:place], value, *values[place + 1 :]], polars_type(column.python_type))
    except (TypeError, pl.exceptions.PolarsError):
        return
    changed = {name: batch[name].with_columns(cells)}
    found = [fault for fault in faults(changed, batch | changed) if fault.column == column.name]
    if not _is_wrong(column, value):
        return
    assert place in {row for fault in found for row in fault.rows["row"]}, (name, column.name, value)
    assert all(f"table {name}, column {column.name}" in fault.reason for fault in found)


def test_a_nan_where_a_number_must_be_is_refused(batch: dict[str, pl.DataFrame]) -> None:
    """In each column of numbers that needs one, whether it has bounds or not."""
    needed = [
        (name, column.name) for name in batch for column in table(name).columns if column.python_type is float and not column.nullable
    ]
    assert ("turn_metrics", "value") in needed
    for name, column in needed:
        found = faults({name: batch[name].with_columns(pl.lit(float("nan")).alias(column))}, batch)
        assert column in {fault.column for fault in found}


def _is_wrong(column: Any, value: Any) -> bool:
    """By the words of docs/tables.md."""
    if value is None:
        return not column.nullable
    if column.refers:
        return True
    if column.bounds is not None:
        return not column.bounds[0] <= value <= column.bounds[1]
    return bool(column.one_of or column.matches) or (value != value and not column.nullable)  # noqa: PLR0124 - a NaN


def test_rows_of_a_game_that_no_file_brings_are_a_bug_that_is_told(batch: dict[str, pl.DataFrame]) -> None:
    """They have no file whose reject they could be."""
    assert faults(batch, batch) == []
    with pytest.raises(StoreError, match="table turns"):
        faults({"turns": batch["turns"].rename({"turn": "number"})})
