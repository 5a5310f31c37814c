"""Published Einstein dialogs become rows: whole, with and without manifest, and one clear line for whatever is bad."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analytics.installation import ensure_installed
from games.einstein.engine.actions import Pass, write_answer
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.game import Game, GameSettings
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.ingest.asked import rows
from tests.masters import held_open, published_store

Log = dict[str, Any]
GAME = "4_0022_2130_0010_120"
MANIFEST = "run,action_mode,use_cot,verifier,step_limit\nmine,provide_seek,1,none,30\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run called `mine`."""
    folder = tmp_path / "logs" / "mine"
    (folder / "json").mkdir(parents=True)
    return folder


def dialog(answers: list[str] | None = None, **changes: Any) -> Log:
    """A dialog file as the published script would write it, of a game in which the players give these answers."""
    game = Game(parse_game_id(GAME), GameSettings(rules="published"))
    entries = []
    for number, answer in enumerate(answers or ["<THINK>hm</THINK>" + write_answer(Pass().text)] * 3):
        agent = game.next_agent
        assert agent is not None
        seen = game.observe(agent)
        messages = [{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}]
        entries.append({"player": seen.player, "dialog": messages, "response": answer, "step": number})
        game.act(agent, answer)
    state = game.state()
    correct = state.table.correct(game.puzzle)
    ends = {"step_count": len(entries), "terminated": game.stop_reason == "solved", "truncated": len(entries) >= 30}
    whole = {"file_id": GAME, "pkl_path": GAME, "num_objects": 4, **ends, "dialog": entries, "success": state.success}
    return {**whole, "partial_success_rate": correct, "num_obj": 4, **changes}


def write(run: Path, log: Log | bytes, name: str = f"dialog_{GAME}.json") -> Path:
    path = run / "json" / name
    path.write_bytes(log if isinstance(log, bytes) else json.dumps(log, indent=4).encode())
    return path


def test_a_sound_dialog_gives_all_rows_and_no_difference(store: Store, run: Path) -> None:
    """States, thoughts, actions and what the manifest knows; prompts of this project and of the published script read alike."""
    write(
        run, dialog(["<THINK>a guess</THINK><ACTION>move block1 from player1_bin to bottom_left_bin</ACTION>", "<ACTION>share (</ACTION>"])
    )
    (run.parent / "manifest.csv").write_text(MANIFEST)
    report = ingest_paths([run.parent], store, workers=1)

    assert (report.episodes, report.turns, report.rejected) == (1, 2, [])
    assert rows(store, "FROM log_disagreements") == []
    assert rows(store, "SELECT task_id, level, model, turns_taken, success, score, stop_reason, max_turns FROM episodes") == [
        (GAME, "4 objects", "unknown", 2, False, 0.25, None, 30)
    ]
    assert rows(store, "SELECT turn, agent, verb, accepted, error_code FROM actions ORDER BY turn") == [
        (1, "Player1", "move", True, None),
        (2, "Player2", "invalid", False, "format_following"),
    ]
    assert rows(store, "SELECT turn, channel, audience, text FROM utterances") == [(1, "private", ["Player1"], "a guess")]
    assert rows(store, "SELECT condition ->> 'verifier', condition ->> 'reasoning', name FROM runs") == [("none", "true", "mine")]


def test_what_only_a_manifest_knows_is_null_without_one(store: Store, run: Path) -> None:
    """Verifier, model and names of players; the run keeps the name of its folder."""
    write(run, dialog())
    ingest_paths([run.parent], store, workers=1)

    assert rows(store, "SELECT condition ->> 'verifier', name FROM runs") == [(None, "mine")]
    assert rows(store, "SELECT DISTINCT model, persona FROM agents") == [(None, None)]


def test_names_of_models_and_players_come_from_the_manifest(store: Store, run: Path) -> None:
    """Columns that a manifest may have."""
    write(run, dialog())
    (run / "manifest.csv").write_text("run,model,policy_p1,policy_p2,verifier\nother,x,y,z,none\nmine,llama,greedy,noisy,none\n")
    ingest_paths([run.parent], store, workers=1)

    assert rows(store, "SELECT model, team ->> 'Player2' FROM episodes") == [("llama", "llama")]
    assert rows(store, "SELECT agent, model, persona FROM agents ORDER BY agent") == [
        ("Player1", "llama", "greedy"),
        ("Player2", "llama", "noisy"),
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (MANIFEST.replace("none", "wise_verifier"), "wise"),
        (MANIFEST.replace(",30", ",soon"), "step_limit 'soon' is not a count"),
        ("name,verifier\nmine,none\n", "no column `run`"),
        ("run\n\udcff".encode("utf-8", "surrogateescape"), "write it again as CSV"),
    ],
)
def test_a_bad_manifest_is_told_and_the_game_kept(store: Store, run: Path, manifest: str | bytes, reason: str) -> None:
    """The line names the manifest; what it would know is null."""
    write(run, dialog())
    (run.parent / "manifest.csv").write_bytes(manifest if isinstance(manifest, bytes) else manifest.encode())
    report = ingest_paths([run.parent], store, workers=1)

    assert report.episodes == 1
    (reject,) = report.rejected
    assert reason in reject.reason
    assert reject.locator.startswith("manifest.csv")
    assert rows(store, "SELECT condition ->> 'verifier' FROM runs") == [(None,)]


def test_a_manifest_that_changes_has_its_games_read_again(store: Store, run: Path) -> None:
    """One that comes after the games, says something else, or goes away; games that are read with no manifest are left alone."""
    write(run, dialog())
    (run.parent.parent / "elsewhere" / "json").mkdir(parents=True)
    write(run.parent.parent / "elsewhere", dialog(), f"dialog_1_{GAME}.json")

    def known(manifest: str | None) -> tuple[int, int, list[tuple[Any, ...]]]:
        beside = run / "manifest.csv"
        beside.unlink(missing_ok=True) if manifest is None else beside.write_text(manifest)
        report = ingest_paths([run.parent.parent], store, workers=1)
        return report.episodes, report.unchanged, rows(store, "SELECT condition ->> 'verifier', name FROM runs ORDER BY name")

    assert known(None)[0] == 2
    assert known(MANIFEST) == (1, 1, [(None, "elsewhere"), ("none", "mine")])
    assert known(MANIFEST) == (0, 2, [(None, "elsewhere"), ("none", "mine")])
    assert known(MANIFEST.replace("none", "reasoning")) == (1, 1, [(None, "elsewhere"), ("reasoning", "mine")])
    assert known(None) == (1, 1, [(None, "elsewhere"), (None, "mine")])


def test_a_manifest_that_says_something_else_is_a_disagreement(store: Store, run: Path) -> None:
    """Mode and prompt kind stand in the prompts, and those count."""
    write(run, dialog())
    (run.parent / "manifest.csv").write_text(MANIFEST.replace("provide_seek,1", "none,0"))
    ingest_paths([run.parent], store, workers=1)

    assert rows(store, "SELECT field, logged, recomputed FROM log_disagreements ORDER BY field") == [
        ("manifest.action_mode", '"none"', '"provide_seek"'),
        ("manifest.use_cot", '"0"', '"1"'),
    ]


@pytest.mark.usefixtures("with_views")
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("prompts", "manifest", "use_cot"),
    [
        ({0: "Play well.", 1: "Play well.", 2: "Play well."}, "", None),
        ({0: "Play well.", 1: "Play well.", 2: "Play well."}, MANIFEST, 1),
        ({1: "Play well."}, "", None),
        ({0: "Write <ACTION>action</ACTION>.", 1: "Write <ACTION>action</ACTION>.", 2: "Write <ACTION>action</ACTION>."}, "", 0),
    ],
)
def test_what_no_prompt_tells_of_reasoning_is_unknown(
    store: Store, run: Path, prompts: dict[int, str], manifest: str, use_cot: int | None
) -> None:
    """Prompts of another runner: null, or what the manifest says; never a silent "no"."""
    log = dialog()
    for step, text in prompts.items():
        log["dialog"][step]["dialog"][0]["content"] = text
    write(run, log)
    if manifest:
        (run.parent / "manifest.csv").write_text(manifest.replace("provide_seek", "none"))
    ingest_paths([run.parent], store, workers=1)
    ensure_installed(store)

    assert rows(store, "SELECT use_cot FROM einstein_games") == [(use_cot,)]
    assert rows(store, "SELECT field FROM log_disagreements") == []


def change_step(number: int, **changes: Any) -> Callable[[Log], None]:
    def apply(log: Log) -> None:
        log["dialog"][number] |= changes

    return apply


def change_game(**changes: Any) -> Callable[[Log], None]:
    return lambda log: log.update(changes)


BAD_STEPS = {
    "player": (change_step(1, player=7), "dialog[1].player"),
    "response is a number": (change_step(1, response=7), "dialog[1].response"),
    "no answers": (change_step(1, response=[]), "dialog[1].response"),
    "two answers, no costs": (change_step(1, response=["a", "b"]), "dialog[1]"),
    "costs of other answers": (change_step(1, response=["a", "b"], actions_err=[0]), "dialog[1].actions_err"),
    "no messages": (change_step(1, dialog=None), "dialog[1].dialog"),
    "empty prompt": (change_step(1, dialog=[{"role": "system", "content": ""}, {"role": "user", "content": ""}]), "dialog[1].dialog.user"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BAD_STEPS)
def test_a_bad_step_costs_itself_and_what_follows(store: Store, run: Path, name: str) -> None:
    """The game is kept up to the step before, and the reject counts what is lost."""
    spoil, locator = BAD_STEPS[name]
    log = dialog()
    spoil(log)
    write(run, log)
    report = ingest_paths([run.parent], store, workers=1)

    assert (report.episodes, report.turns) == (1, 1)
    (reject,) = report.rejected
    assert reject.locator == locator
    assert "2 of 3 steps are lost" in reject.reason
    assert rows(store, "FROM log_disagreements") == []


def test_steps_after_the_end_are_told(store: Store, run: Path) -> None:
    """A game of 30 steps has no 31st."""
    log = dialog(["<ACTION>pass</ACTION>"] * 30)
    log["dialog"].append(log["dialog"][0])
    write(run, log)
    report = ingest_paths([run.parent], store, workers=1)

    assert report.turns == 30
    assert "after the end" in report.rejected[0].reason


BAD_GAMES: dict[str, tuple[Callable[[Log], Any], str]] = {
    "no id": (change_game(pkl_path=None), "pkl_path must be a text"),
    "no game": (change_game(pkl_path="9_zzz"), "not a game id"),
    "anchor of a later object": (change_game(pkl_path="4_0022_2130_0310_120"), "anchor"),
    "no steps": (change_game(dialog=[]), "without steps"),
    "steps are no list": (change_game(dialog=3), "must be a list"),
    "first step bad": (change_step(0, player="x"), "player must be 0 or 1"),
    "no file id": (change_game(file_id=3), "file_id must be a text"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BAD_GAMES)
def test_a_bad_game_is_rejected_and_the_good_one_goes_in(store: Store, run: Path, name: str) -> None:
    """One line each, and nothing else is lost."""
    spoil, reason = BAD_GAMES[name]
    log = dialog()
    spoil(log)
    write(run, log, "dialog_bad.json")
    write(run, dialog())
    report = ingest_paths([run.parent], store, workers=1)

    assert (report.episodes, report.refused) == (1, 1)
    (reject,) = report.rejected
    assert reason in reject.reason
    assert (reject.reason + reject.locator).isprintable()


def test_a_cut_file_is_rejected(store: Store, run: Path) -> None:
    """JSON that breaks off says so."""
    write(run, json.dumps(dialog()).encode()[:-500])
    report = ingest_paths([run.parent], store, workers=1)

    assert "breaks off" in report.rejected[0].reason


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        (change_game(success=True), "success"),
        (change_game(partial_success_rate=4), "partial_success_rate"),
        (change_step(2, step=5), "step"),
        (change_step(2, player=1), "player"),
    ],
)
def test_what_the_log_says_otherwise_is_a_disagreement(store: Store, run: Path, change: Callable[[Log], None], field: str) -> None:
    """The replay counts; the difference is told."""
    log = dialog()
    change(log)
    write(run, log)
    ingest_paths([run.parent], store, workers=1)

    assert rows(store, "SELECT field FROM log_disagreements") == [(field,)]
    assert rows(store, "SELECT success FROM episodes") == [(False,)]


def test_other_files_of_the_folder_are_no_rejects(store: Store, run: Path) -> None:
    """Metrics, summary, printed summary, list of games and manifest hold nothing that the dialogs have not."""
    write(run, dialog())
    (run / "all_metrics.json").write_text(json.dumps([{"file_id": GAME, "pkl_path": GAME, "num_objects": 4, "step_count": 3}]))
    (run / "summary.json").write_text(json.dumps({"total_files": 1, "successful_files": 0, "success_rate": 0.0}))
    (run / "eval_game_ids.json").write_text(json.dumps([f"data/{GAME}_01.pkl"], indent=1))
    (run / "result.txt").write_text("Evaluation Complete")
    (run.parent / "manifest.csv").write_text(MANIFEST)
    report = ingest_paths([run.parent], store, workers=1)

    assert (report.ingested, len(report.others), report.rejected) == (1, 5, [])


# -- the published data -------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with all published Einstein games."""
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("einstein"), "einstein"))


@pytest.mark.shared
def test_all_published_games_go_in_and_agree_with_their_replay(published: Store, shared: Path) -> None:
    """125 games, 2,477 steps, nothing rejected, no difference; the other files are told, and reading all again changes nothing."""
    store = published
    with (shared / "reference" / "einstein_expected_steps.csv").open(newline="") as lines:
        steps = len(list(csv.DictReader(lines)))
    assert rows(store, "SELECT (SELECT count(*) FROM episodes), (SELECT count(*) FROM turns)") == [(125, steps)]
    assert rows(store, "FROM rejects") == []
    report = ingest_paths([shared / "data" / "einstein"], store, workers=1)
    assert (report.unchanged, report.ingested, report.rejected) == (125, 0, [])
    assert len(report.others) == 20 * 4 + 1
    assert rows(store, "FROM log_disagreements") == []


@pytest.mark.shared
def test_candidates_are_proven_by_what_comes_of_them(published: Store) -> None:
    """Whoever takes a verified move or share is accepted, and the state changes."""
    taken = rows(
        published,
        "SELECT actions.accepted, state_before <> state_after, count(*) FROM actions JOIN turns USING (episode_id, turn) "
        "JOIN oracle_actions o USING (episode_id, turn) WHERE o.verb = actions.verb AND o.arguments = actions.arguments GROUP BY ALL",
    )
    assert [(accepted, changed) for accepted, changed, _ in taken] == [(True, True)]
    assert taken[0][2] > 500


@pytest.mark.shared
def test_without_manifest_the_same_games_are_read(published: Store, shared: Path, tmp_path: Path) -> None:
    """Steps of a verified run are the same with and without the verifier's name."""
    shutil.copytree(shared / "data" / "einstein" / "cot_seek_reasoning", tmp_path / "cot_seek_reasoning")
    store = Store(tmp_path / "test.duckdb")
    ingest_paths([tmp_path / "cot_seek_reasoning"], store, workers=1)
    query = (
        "SELECT task_id, turn, agent, verb, arguments, accepted, raw "
        "FROM actions JOIN episodes USING (episode_id) JOIN runs USING (run_id) WHERE name = 'cot_seek_reasoning' ORDER BY ALL"
    )

    assert rows(store, query) == rows(published, query)
    assert rows(store, "SELECT DISTINCT condition ->> 'verifier' FROM runs") == [(None,)]
