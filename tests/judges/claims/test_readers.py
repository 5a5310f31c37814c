"""Who reads a text: rules, its author, a model, or two of them, through one interface; the checks see claims only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from click.testing import CliRunner

import cotrace
from cotrace.cli import main
from games.craft.claims import TYPES, Named, Request
from ingest.files.run import ingest_paths
from judges.claims import texts
from judges.claims.extraction import form_of, read_reply
from judges.claims.readers import agreed, family_reading
from judges.claims.reading import Read, ReadClaim, Unread
from judges.claims.texts import ReadingRequest, open_texts, put, stored_claims
from judges.evidence.transcript import PLANTED, load, reader_named
from providers.provider import ModelSettings
from research.engine_score import ANSWERS, Judged, score_decisions, total
from schemas.store.store import Store
from tests.masters import held_open
from tests.played import played_store
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play
from tests.servers.simulated_reader import SimulatedReader, simulated_reader

MODEL = "openai/stub"
RUBRICS = ("mind_modeling", "pragmatic_sufficiency", "spatial_grounding")
TEXT = "Please put a small red block on the left."
RED = Request(verb="place", color="r", size="s", cells=("(0,0)",), words=TEXT)


TEAMS = ("clear", "over_remover", "redundant+conflicting+mixed")


@pytest.fixture(scope="module", params=[TEAMS, pytest.param((*TEAMS, "vague"), marks=pytest.mark.long)], ids=["three", "four"])
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of clear and clumsy teams, and of a vague one."""
    folder = tmp_path_factory.mktemp("logs")
    play(PlayRequest(out=folder, personas=request.param, builders=("sloppy",), structures=1, seed=5, turns=6, processes=1))
    return folder


@pytest.fixture(scope="module")
def read_store(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The games with claims and verdicts by every reader; the model makes no mistake."""
    store = Store(tmp_path_factory.mktemp("store") / "s.duckdb")
    ingest_paths([logs], store, workers=1)
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with simulated_reader(SimulatedReader(store=store.path)) as url:
        for reader, rubrics in ((PLANTED, RUBRICS), (f"llm-only:{MODEL}", RUBRICS), (f"llm:{MODEL}", RUBRICS[:1])):
            for rubric in rubrics:
                cotrace.open(store.path).judge(rubric, judge="engine", reader=reader, base_url=url)
    yield from held_open(store)


def test_columns_that_early_claims_lack_are_shown(tmp_path: Path) -> None:
    """Why a stretch was not understood stands in few rows, after many that were."""
    store = played_store(tmp_path, judged=False)
    rows = stored_claims(store, reader_named("rules"), None)
    assert rows["reason"].null_count() not in {0, rows.height}


def answers(store: Store, judge: str) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Question and unit -> status and answer."""
    with store.reading() as connection:
        rows = connection.execute("SELECT question, unit_id, status, answer FROM verdicts WHERE judge = ?", [judge]).fetchall()
    return {(question, unit): (status, answer) for question, unit, status, answer in rows}


def asked(store: Store, **options: Any) -> int:
    """Calls that a model would have to make."""
    return len(open_texts(ReadingRequest(settings=ModelSettings(model=MODEL), **options), store).questions)


class Ran(NamedTuple):
    """What came of a command."""

    exit_code: int
    stdout: str
    stderr: str


def command(*arguments: object) -> Ran:
    """Run `cotrace`."""
    with CliRunner().isolation() as (out, err, _):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            return Ran(int(ended.code or 0), out.getvalue().decode(), err.getvalue().decode())
    raise AssertionError("the command did not end")


def test_with_the_planted_reader_the_checks_are_right(read_store: Store) -> None:
    """What the players know they said proves what the labels say; what falls short would be a fault of a check or of a label."""
    with read_store.reading() as connection:
        rows = connection.execute(
            "SELECT labels.question, labels.answer, verdicts.answer FROM labels JOIN verdicts USING (rubric, question, episode_id, turn) "
            "WHERE source = 'planted' AND judge = 'engine:planted' AND labels.agent IS NOT DISTINCT FROM verdicts.agent"
        ).fetchall()
    scores = score_decisions(Judged(question, ANSWERS[label], answer) for question, label, answer in rows)
    whole = total(scores)
    assert whole.decided > 500
    assert (whole.precision or 0) >= 0.995
    assert (whole.coverage or 0) >= 0.95
    assert {name: score.precision for name, score in scores.items() if (score.precision or 0) < 0.99} == {}


def test_a_model_that_reads_well_gives_the_verdicts_of_the_planted_claims(read_store: Store) -> None:
    """Who reads does not matter to the checks, only what was read."""
    assert answers(read_store, f"engine:llm-only:{MODEL}") == answers(read_store, "engine:planted")


def test_rules_and_model_together_never_decide_otherwise(read_store: Store) -> None:
    """Where the two differ nothing is concluded, and what rules do not read the model may."""
    both, model = answers(read_store, f"engine:both:llm:{MODEL}"), answers(read_store, f"engine:llm-only:{MODEL}")
    assert both.keys() <= model.keys()
    decided = {key for key, (status, _) in both.items() if status == "answered"}
    assert len(decided) > len(both) / 3
    assert {key for key in decided if model[key][0] == "answered" and model[key] != both[key]} == set()


def test_one_reading_serves_all_rubrics_and_is_kept_when_games_are_read_again(read_store: Store, logs: Path, tmp_path: Path) -> None:
    """Each text was asked about once for three rubrics; a log that has grown loses the readings of its new texts only."""
    with read_store.reading() as connection:
        calls, different = connection.execute(
            "SELECT (SELECT count(*) FROM calls WHERE purpose = 'reader' AND status = 'answered'), "
            "(SELECT count(DISTINCT prompt_hash) FROM claims WHERE prompt_hash IS NOT NULL)"
        ).fetchall()[0]
    assert calls == different > 100
    assert asked(read_store) == 0
    copy = Store(tmp_path / "copy.duckdb")
    copy.path.write_bytes(read_store.path.read_bytes())
    changed = next(log for log in sorted(logs.rglob("*.jsonl")))
    lines = [orjson.loads(line) for line in changed.read_bytes().splitlines()]
    said = next(said for line in lines for said in line.get("utterances", ()) if said["agent"] == "D1" and said["channel"] == "public")
    before, said["text"] = changed.read_bytes(), TEXT
    changed.write_bytes(b"\n".join(map(orjson.dumps, lines)) + b"\n")
    try:
        ingest_paths([logs], copy, workers=1)
    finally:
        changed.write_bytes(before)
    assert asked(copy) == 1


def test_a_model_sees_the_text_the_seat_and_the_board_before_and_nothing_else(read_store: Store) -> None:
    """Target, outcome and other texts of a game may be anything: what is asked about a text stays the same."""
    with read_store.reading() as connection:
        episodes = [episode for (episode,) in connection.execute("SELECT episode_id FROM episodes").fetchall()]
    shown = {one.key for one in open_texts(ReadingRequest(settings=ModelSettings(model="openai/other")), read_store).questions}
    for game in load(read_store, episodes):
        canary = {"stacks": {}, "canary": "CANARY"}
        turns = tuple(replace(turn, state_after=canary, oracle=(), actions=()) for turn in game.turns)
        agents = {name: replace(agent, private_view=canary) for name, agent in game.agents.items()}
        odd = replace(game, goal=canary, details=canary, turns=turns, agents=agents)
        family = family_reading(game.benchmark)
        for turn in odd.turns:
            for said in turn.utterances:
                if family.reads(said):
                    one = texts.question_of(texts.Text(odd, turn.turn, said, family), texts.PromptParts())
                    assert one.key in shown
                    assert "CANARY" not in str(one.messages)


def test_claims_are_shown_and_counted_by_reader(read_store: Store, tmp_path: Path) -> None:
    """`cotrace claims` reads, prints and stores; a dry run asks nothing; who is no reader is named."""
    store = Store(tmp_path / "copy.duckdb")
    store.path.write_bytes(read_store.path.read_bytes())
    shown = command("claims", "--store", store.path, "--where", "turn = 1", "--format", "json")
    rows = orjson.loads(shown.stdout)
    assert shown.exit_code == 0
    assert {row["reader"] for row in rows} == {"rules"}
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM claims WHERE reader = 'rules'").fetchall() == [(len(rows),)]
    planned = command("claims", "--store", store.path, "--reader", "llm:openai/dear", "--dry-run")
    assert planned.exit_code == 0
    assert "calls to make" in planned.stderr
    for name in ("both", "oracle", "llm:", "both:rules"):
        refused = command("claims", "--store", store.path, "--reader", name)
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
        assert "there is no reader" in refused.stderr
    for words in (("claims",), ("judge", "--rubric", "mind_modeling", "--judge", "engine")):
        early = command(*words, "--store", store.path, "--batch")
        assert (early.exit_code, early.stderr.count("\n")) == (2, 1)
        assert "answers at once" in early.stderr


@pytest.mark.long
def test_recorded_answers_to_an_older_prompt_are_readings_of_the_same_text(read_store: Store, tmp_path: Path) -> None:
    """By who speaks and what is written, whatever else was asked; the reader that has them asks no model, and knows no other text."""
    store = Store(tmp_path / "copy.duckdb")
    store.path.write_bytes(read_store.path.read_bytes())
    reader, requests, replies = ("--reader", "llm-only:recorded/strong", "--store", store.path), tmp_path / "requests", tmp_path / "replies"
    assert command("claims", *reader, "--where", "turn = 1", "--record", requests).exit_code == 0
    prompts = [orjson.loads(line)["messages"][-1]["content"] for line in requests.read_bytes().splitlines()]
    first, text = prompts[0].partition(". ")[0], prompts[0].partition("[BEGIN")[2].partition("[END")[0]
    older = f"{first}. Older frame.\n\n[BEGIN{text}[END text 0]\n\nSay what it claims."
    another = older.replace(first, first.replace("public message", "private message"))
    lines = [
        {"user": another, "reading": {"claims": [], "not_understood": []}},
        {"user": older, "reading": {"claims": [], "not_understood": []}},
    ]
    replies.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    taken = command("claims", *reader, "--where", "turn = 1", "--replies", replies)
    same = sum(prompt.partition("[BEGIN")[2].partition("\n")[2].partition("[END")[0] == text.partition("\n")[2] for prompt in prompts)
    assert f"read by recorded/strong: {same} of" in taken.stderr
    assert "no reading of them" in taken.stderr
    judged = command("judge", "--rubric", "mind_modeling", "--judge", "engine", *reader, "--where", "turn = 1")
    assert judged.exit_code == 0, judged.stderr


@pytest.mark.long
@pytest.mark.parametrize("logs", [(*TEAMS, "vague")], ids=["four"], indirect=True)
def test_the_report_finds_how_well_a_reader_of_known_quality_reads(logs: Path, tmp_path: Path) -> None:
    """A model that leaves out a tenth of the claims and mistakes a field of a fifth: the report says so; with the rules it is safe."""
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([logs], store, workers=1)
    with simulated_reader(SimulatedReader(store=store.path, misses=0.1, mistakes=0.2)) as url:
        assert command("claims", "--store", store.path, "--reader", "llm:openai/poor", "--base-url", url).exit_code == 0
    rows = cotrace.open(store.path).report("readers", where="author = 'ALL' AND kind = 'request' AND field = '(whole)'").pl().to_dicts()
    found = {row["reader"]: row for row in rows}
    assert found.keys() == {"rules", "llm-only:openai/poor", "both:llm:openai/poor"}
    poor, both = found["llm-only:openai/poor"], found["both:llm:openai/poor"]
    assert poor["precision_low"] < 0.8 < poor["precision_high"]
    assert poor["recall_low"] < 0.72 < poor["recall_high"]
    assert (poor["precision"], poor["recall"]) == pytest.approx((0.8, 0.72), abs=0.08)
    assert found["rules"]["precision"] > 0.98
    assert both["precision"] > poor["precision"] + 0.05  # not more: what rules do not read is the model's alone
    authors = set(cotrace.open(store.path).report("readers").pl()["author"])
    assert authors == {"ALL", "clear", "vague", "over_remover", "redundant", "conflicting", "mixed"}


def test_what_no_reader_has_read_stays_undecided(logs: Path, tmp_path: Path) -> None:
    """Without its claims in the store, a text is not understood; nothing is concluded from its silence."""
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([logs], store, workers=1)
    with store.writing() as connection:
        connection.execute("DELETE FROM claims")
    cotrace.open(store.path).judge("mind_modeling", judge="engine", reader=PLANTED)
    told = answers(store, "engine:planted")
    assert {status for status, _ in told.values()} <= {"undecided", "skipped", "answered"}
    assert {key: value for key, value in told.items() if value[1] == "no"} == {}


@pytest.mark.parametrize(
    ("words", "certain"), [(TEXT, True), ("a SMALL  red block", True), ("a large red block", False), ("", False)]
)  # fmt: skip
def test_an_answer_counts_as_far_as_it_quotes(words: str, certain: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A claim whose words do not stand in the text is not certain, and what it might have been stays open."""
    said = {"kind": "request", "verb": "place", "color": "r", "size": "s", "cells": ["(0,0)"], "words": words}
    read = read_reply(form_of(TYPES).model_validate({"claims": [said], "not_understood": []}), TEXT, TYPES)
    assert [told.certain for told in read.claims] == [certain]
    assert [Request in clause.may_hold for clause in read.unread] == ([] if certain else [True])


def test_where_two_readers_differ_both_readings_are_the_reason() -> None:
    """What only one says is open, with what each has read; what both say counts, however it was told."""
    blue = replace(RED, color="b")
    joined = agreed(
        Read((ReadClaim(RED, 0, 5), ReadClaim(Named(cell="(0,0)"), 0, 5))),
        Read((ReadClaim(blue, 0, 5), ReadClaim(Named(cell="(0,0)"), 9, 12))),
        ("rules", "llm:m"),
    )
    assert [told.claim for told in joined.claims] == [Named(cell="(0,0)")]
    assert [clause.may_hold for clause in joined.unread] == [(Request,), (Request,)]
    assert "rules: place small red" in joined.unread[0].why
    assert "llm:m: place small blue" in joined.unread[1].why


def test_what_the_model_did_not_understand_stays_open_and_what_rules_did_not_it_may_read() -> None:
    """Rules abstain from most of what models write: there the model's reading counts, for claims and for silence."""
    hm = Unread("hm", "unclear", (Request,), 0, 2)
    assert agreed(Read(()), Read((), (hm,)), ("rules", "llm:m")).unread == (hm,)
    assert agreed(Read((), (hm,)), Read(()), ("rules", "llm:m")) == Read(())
    joined = agreed(Read((), (hm,)), Read((ReadClaim(RED, 0, 5),)), ("rules", "llm:m"))
    assert ([told.claim for told in joined.claims], joined.unread) == ([RED], ())


def test_rules_add_fields_that_the_model_leaves_out() -> None:
    """Field by field: a value that only one of the two gives counts, two different values do not."""
    layered = replace(RED, layer=0)
    joined = agreed(Read((ReadClaim(layered, 0, 5),)), Read((ReadClaim(RED, 0, 5),)), ("rules", "llm:m"))
    assert [told.claim for told in joined.claims] == [layered]
    other = agreed(Read((ReadClaim(layered, 0, 5),)), Read((ReadClaim(replace(RED, layer=1), 0, 5),)), ("rules", "llm:m"))
    assert other.claims == ()


@pytest.mark.long
def test_rows_of_a_reader_take_the_place_of_its_earlier_ones(read_store: Store, tmp_path: Path) -> None:
    """Reading a text again leaves one reading of it, and other readers' as they were."""
    store = Store(tmp_path / "copy.duckdb")
    store.path.write_bytes(read_store.path.read_bytes())
    with store.reading() as connection:
        of_model = connection.execute("SELECT count(*) FROM claims WHERE reader LIKE 'llm:%'").fetchall()
        of_planted = connection.execute("SELECT count(*) FROM claims WHERE reader = 'planted'").fetchall()
    for _ in range(2):
        assert command("claims", "--store", store.path, "--where", "turn = 2").exit_code == 0
    put(store, "rules", [])
    with store.reading() as connection:
        rows = connection.execute(
            "SELECT count(*), count(DISTINCT (episode_id, turn, seq, number)) FROM claims WHERE reader = 'rules'"
        ).fetchall()
        assert connection.execute("SELECT count(*) FROM claims WHERE reader LIKE 'llm:%'").fetchall() == of_model
        assert connection.execute("SELECT count(*) FROM claims WHERE reader = 'planted'").fetchall() == of_planted
    assert rows[0][0] == rows[0][1] > 0
