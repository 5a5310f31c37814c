"""The engine judge and the selection of units: the same rows as a model's, undecided where nothing can be proved."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.workload import multiply
from judges.checks import Decision, all_checks, find
from judges.evidence.transcript import Transcript, reader_named
from judges.rubric import PROBE
from judges.rubric_files.load import find as find_rubric
from judges.rubric_files.load import load
from judges.runs.engine_run import run_engine
from judges.runs.job import JudgeRequest, RunProgress
from judges.runs.runner import run, run_together, together
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.judges.judged_games import ask_model, mark, store_of, verdict_counts
from tests.played import played_store
from tests.servers.stub_server import stub_server

PS = find_rubric("pragmatic_sufficiency")


def decide(game: Transcript, turn: int, agent: str | None) -> Decision:
    """Yes on turn 1, unproved on turn 2, broken on turn 3, an answer that the rubric does not have after that."""
    assert agent is None
    assert game.turn(turn).by_channel("public", "D2")[0].text == mark("public", "D2", turn)
    if turn == 3:
        raise ValueError("odd board")
    return Decision({1: "yes", 2: None}.get(turn, "maybe"), f"looked at turn {turn}")


def checked(store: Store, where: str | None = None) -> dict[str, int]:
    """Verdicts by status after a run of one check for all questions."""
    run_engine(JudgeRequest(rubric=PS, where=where), store, checks={f"craft.PS{n}": decide for n in range(1, 7)})
    return verdict_counts(store)


def test_what_cannot_be_proved_is_undecided_and_what_breaks_is_failed(tmp_path: Path) -> None:
    """A check that breaks off, or answers something else, costs only its own verdict, and says why."""
    store = store_of(tmp_path / "s.duckdb", turns=4)

    assert checked(store) == {"answered": 6, "undecided": 6, "failed": 12}
    with store.reading() as connection:
        rows = connection.execute(
            "SELECT turn, status, answer, score, reason FROM verdicts WHERE question = 'PS1' ORDER BY turn"
        ).fetchall()
    assert rows == [
        (1, "answered", "yes", 1.0, "looked at turn 1"),
        (2, "undecided", None, None, "looked at turn 2"),
        (3, "failed", None, None, "the check crashed: ValueError: odd board"),
        (4, "failed", None, None, "the check answered 'maybe', which the rubric does not have"),
    ]


def test_a_second_engine_run_replaces_the_first(tmp_path: Path) -> None:
    """Each unit has one engine verdict a question; units outside the selection keep theirs."""
    store = store_of(tmp_path / "s.duckdb", turns=4)
    checked(store)

    assert checked(store, where="turn = 1") == {"answered": 6, "undecided": 6, "failed": 12}
    with store.reading() as connection:
        units = connection.execute("SELECT units FROM judge_runs ORDER BY started_at").fetchall()
        latest = connection.execute("SELECT count(*) FROM verdicts JOIN judge_runs USING (judge_run_id) WHERE units = 1").fetchone()
    assert units == [(4,), (1,)]
    assert latest == (6,)


def test_engine_and_model_judge_the_same_units(tmp_path: Path) -> None:
    """Agreement is a join on unit, hash and question."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    checked(store)
    with stub_server() as url:
        run(ask_model(url), store)
    with store.reading() as connection:
        pairs = connection.execute(
            "SELECT count(*) FROM verdicts a JOIN verdicts b USING (unit_id, unit_hash, question, episode_id, turn) "
            "WHERE a.judge = 'engine' AND b.judge = 'llm:local/fake' AND a.agent IS NOT DISTINCT FROM b.agent"
        ).fetchone()
    assert pairs == (2 * 6,)


def test_many_games_spread_over_processes_give_the_same_verdicts(tmp_path: Path) -> None:
    """Sixty games at once or thirty at a time: the same rows, in whatever process they were made."""
    at_once, halves = store_of(tmp_path / "a.duckdb", games=60, turns=2), store_of(tmp_path / "b.duckdb", games=60, turns=2)
    run(JudgeRequest(rubric=PS), at_once)
    for half in ("<", ">="):
        run(JudgeRequest(rubric=PS, where=f"substr(episode_id, 6)::int {half} 30"), halves)

    assert len(said(at_once)) == 60 * 2 * 6
    assert said(at_once) == said(halves)


def said(store: Store) -> list[tuple[object, ...]]:
    """All verdicts, but for the run that each is of."""
    columns = "rubric, unit_id, unit_hash, question, status, answer, score, reason"
    with store.reading() as connection:
        return connection.execute(f"SELECT {columns} FROM verdicts ORDER BY ALL").fetchall()


THREE = ("spatial_grounding", "mind_modeling", "pragmatic_sufficiency")


@pytest.mark.usefixtures("with_views")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("copies", [1, 5])
def test_rubrics_judged_at_once_give_what_each_gives_alone(tmp_path: Path, copies: int) -> None:
    """In one process and in several; each run has its own selection, which another's does not widen."""
    alone = played_store(tmp_path, judged=False)
    if copies > 1:
        multiply(alone, copies)
    store = Store(tmp_path / "at_once.duckdb")
    shutil.copy(alone.path, store.path)
    selected = (None, "model = 'clear'", "turn <= 4")
    requests = [JudgeRequest(rubric=find_rubric(name), where=where) for name, where in zip(THREE, selected, strict=True)]
    reports = run_together(requests, store)
    singly = [run(request, alone) for request in requests]
    assert said(store) == said(alone)
    facts = [[(r.status, r.units, r.answered, r.undecided, r.failed, r.skipped) for r in found] for found in (reports, singly)]
    assert facts[0] == facts[1]
    assert len({report.units for report in reports}) == len({report.judge_run_id for report in reports}) == len(THREE)


@pytest.mark.long
@pytest.mark.usefixtures("with_views")
def test_rubrics_interrupted_at_once_keep_the_games_that_were_through(tmp_path: Path) -> None:
    """Of every rubric the same games."""
    store = played_store(tmp_path, judged=False)

    def stop(now: RunProgress) -> None:
        if now.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_together([JudgeRequest(rubric=find_rubric(name)) for name in THREE], store, stop)
    with store.reading() as connection:
        runs = connection.execute("SELECT rubric, status FROM judge_runs ORDER BY rubric").fetchall()
        games = connection.execute("SELECT rubric, list_sort(list(DISTINCT episode_id)) FROM verdicts GROUP BY 1 ORDER BY 1").fetchall()
        first = connection.execute("SELECT list(episode_id) FROM (SELECT episode_id FROM episodes ORDER BY 1 LIMIT 4)").fetchone()
    assert runs == [(name, "interrupted") for name in sorted(THREE)]
    assert first is not None
    assert games == [(name, first[0]) for name in sorted(THREE)]


def test_only_jobs_of_the_engine_with_one_reader_share_games() -> None:
    """A model's job, another reader's, a probe's and one of pairs run by themselves; the order is that of the first of each."""
    engine = [JudgeRequest(rubric=find_rubric(name)) for name in THREE]
    model = ask_model("http://localhost:1/v1")
    planted = JudgeRequest(rubric=PS, reader=reader_named("planted"))
    probe = JudgeRequest(rubric=PS.under(f"{PROBE}names"))
    pair = JudgeRequest(rubric=PS.changed(unit="pair"))
    assert together([engine[0], model, planted, engine[1], probe, pair, engine[2]]) == [engine, [model], [planted], [probe], [pair]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("where", "turns"),
    [
        (None, [1, 2, 3, 4] * 2),
        ("turn <= 2", [1, 2] * 2),
        ("model = 'nobody' -- or true", []),
        ("episode_id = 'game-1' and turn in (1, 4)", [1, 4]),
        ("turns.progress > 0.9", []),
    ],
)
def test_where_selects_turns_of_games(tmp_path: Path, where: str | None, turns: list[int]) -> None:
    """A condition over `episodes` and `turns`; a comment in it cannot swallow the rest of the query."""
    store = store_of(tmp_path / "s.duckdb", games=2, turns=4)
    checked(store, where)

    with store.reading() as connection:
        rows = connection.execute("SELECT turn FROM verdicts WHERE question = 'PS1' ORDER BY episode_id, turn").fetchall()
    assert [turn for (turn,) in rows] == turns


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("turn <=", "syntax error"),
        ("sucess", "Referenced column"),
        ("true); DROP TABLE turns; --", "give one SQL condition"),
        ("turn = (SELECT count(*) FROM read_text('/etc/passwd'))", "disabled"),
        (" ", "give one SQL condition"),
    ],
)
def test_a_bad_condition_is_one_line_and_harms_nothing(tmp_path: Path, where: str, message: str) -> None:
    """The store is open read-only and nothing but the store can be reached."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with pytest.raises(UsageError, match=message) as caught:
        checked(store, where)
    assert "\n" not in str(caught.value)


def test_a_rubric_without_checks_is_refused_and_a_misspelt_check_is_named(tmp_path: Path) -> None:
    """The error says what to do instead."""
    path = tmp_path / "mine.yaml"
    text = (
        'name: mine\nversion: 1\nunit: turn\nbenchmarks: [craft]\nshows: [public_messages]\nanswers: {"yes": 1, "no": 0}\n'
        'instructions: Judge.\nquestions:\n  Q1:\n    ask: Is it clear?\n    examples: {"yes": clear, "no": murky}\n'
    )
    path.write_text(text)
    store = store_of(tmp_path / "s.duckdb", turns=1)

    with pytest.raises(UsageError, match=r"names an engine check .*: ask a model with --model"):
        run(JudgeRequest(rubric=load(path)), store)
    path.write_text(text + "    engine: craft.PS11\n")
    with pytest.raises(UsageError, match=r"no engine check craft.PS11: did you mean craft.PS1\?"):
        run(JudgeRequest(rubric=load(path)), store)


def test_every_check_has_its_name_and_can_be_found() -> None:
    """The names are those of the rubrics' questions."""
    assert {f"craft.SG{n}" for n in range(1, 8)} <= set(all_checks())
    assert find("craft.SG1") is all_checks()["craft.SG1"]


def test_a_transcript_holds_the_game_as_stored(tmp_path: Path) -> None:
    """Typed, parsed, in order; unknown ids are left out and turns that do not exist are an error."""
    from judges.evidence.transcript import load as load_games

    store = store_of(tmp_path / "s.duckdb", games=2, turns=2)
    games = list(load_games(store, ["game-1", "nobody", "game-0"]))

    assert [game.episode_id for game in games] == ["game-1", "game-0"]
    game = games[0]
    assert (game.team, game.goal) == ({"director": mark("team")}, {"stacks": {"(0,0)": [mark("goal")]}})
    assert game.agents["D2"].private_view == {f"row_{n}": [{"color": mark("view", "D2"), "size": 1}] * 3 for n in range(3)}
    assert game.turn(2).state_before["stacks"]["(0,0)"] == [mark("before", 2)]
    assert [(o.listed, o.arguments["block"]) for o in game.turn(1).oracle] == [(True, mark("listed", 1)), (False, mark("unlisted", 1))]
    assert [u.superseded for u in game.turn(1).by_channel("public", "D1")] == [True, False]
    assert (game.turn(2).actions[0].accepted, game.turn(2).actions[0].error_text) == (False, mark("refusal", 2))
    with pytest.raises(IndexError, match="turns 1 to 2, not 3"):
        game.turn(3)
