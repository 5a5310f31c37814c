"""Panels of several models, shared caches, several servers: who is asked, what is paid, and what the views say of the votes."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analytics.installation import ensure_installed
from analytics.query import query
from cotrace.cli import cli
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from providers.faults import HopelessError
from providers.provider import ModelSettings, endpoints
from schemas.common.errors import StoreError, UsageError
from schemas.records import JudgeRun, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.test_views_judges import job
from tests.judges.judged_games import ask_model, counted, store_of, verdict_counts
from tests.servers.stub_server import stub_server


def voted(store: Store, votes: dict[str, dict[str, list[str]]]) -> None:
    """Put votes into the store: unit -> model -> answers by repeat."""
    runs: dict[str, JudgeRun] = {}
    rows = []
    for unit, models in votes.items():
        for model, answers in models.items():
            made = runs.setdefault(model, job(model, judge=model))
            score = {"yes": 1.0, "no": 0.0}
            rows += [
                Verdict(model, "ps", "h", None, "PS1", unit, "u", "game-0", 1, None, model, n, answer, score[answer], None, "answered")
                for n, answer in enumerate(answers, start=1)
            ]
            assert made.judge == model
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": list(runs.values()), "verdicts": rows}))
    ensure_installed(store)


def test_majority_mean_entropy_and_kind_of_split(tmp_path: Path) -> None:
    """Hand-worked votes: unanimous, 3 to 1 within a model, models against each other; the engine has no vote."""
    store = store_of(tmp_path / "s.duckdb")
    voted(
        store,
        {
            "a": {"llm:x": ["yes", "yes"], "llm:y": ["yes", "yes"], "engine": ["no"]},
            "b": {"llm:x": ["yes", "no"], "llm:y": ["yes", "yes"]},
            "c": {"llm:x": ["yes", "yes"], "llm:y": ["no", "no"]},
        },
    )

    rows = query(
        store, "select unit_id, judges, answers, votes, majority, majority_share, score_mean, entropy, split from panel order by 1"
    )
    split = query(store, "select unit_id, said from panel_disagreements order by 1").rows()

    three_to_one = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert rows.rows() == [
        ("a", 2, 4, "yes 2", "yes", 1.0, 1.0, 0.0, "none"),
        ("b", 2, 4, "yes 1.5, no 0.5", "yes", 0.75, 0.75, pytest.approx(three_to_one), "repeats"),
        ("c", 2, 4, "no 1, yes 1", None, 0.5, 0.5, 1.0, "judges"),
    ]
    assert split == [("b", "llm:x: yes no | llm:y: yes yes"), ("c", "llm:x: yes yes | llm:y: no no")]


def test_a_model_that_is_asked_oftener_has_no_more_votes(tmp_path: Path) -> None:
    """Five times yes of one model against one no each of two: no has two of three votes."""
    store = store_of(tmp_path / "s.duckdb")
    voted(store, {"a": {"llm:x": ["yes"] * 5, "llm:y": ["no"], "llm:z": ["no"]}})
    found = query(store, "select judges, answers, votes, majority, majority_share, score_mean from panel").row(0)
    assert found == (3, 7, "no 2, yes 1", "no", pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_a_pair_is_preferred_by_both_orders_or_by_its_place(tmp_path: Path) -> None:
    """A judge that always takes the first is told from one that prefers a game."""
    store = store_of(tmp_path / "s.duckdb", games=2)
    voted(store, {})
    for judge, other in (("llm:placed", "yes"), ("llm:fair", "no")):
        rows = [
            Verdict(
                judge, "p", "h", None, "Q", f"{a} vs {b}", "u", a, None, None, judge, 1, answer, float(answer == "yes"), None, "answered"
            )
            for a, b, answer in (("game-0", "game-1", "yes"), ("game-1", "game-0", other))
        ]
        with store.writing() as connection:
            batches.insert(connection, batches.to_arrow({"judge_runs": [job(judge, judge=judge)], "verdicts": rows}))

    found = query(store, "select judge, episode_a, score_a, consistent, leans_first from pair_preferences order by judge").rows()

    assert found == [("llm:fair", "game-0", 1.0, True, 0.0), ("llm:placed", "game-0", 0.5, False, 0.5)]


def test_a_panel_is_one_command(tmp_path: Path) -> None:
    """Every model answers every unit as often as asked, and the panel has a row a unit and question."""
    store = store_of(tmp_path / "s.duckdb", turns=2)
    with stub_server() as url:
        arguments = ["judge", "--rubric", "pragmatic_sufficiency", "--model", "local/a", "--model", "local/b", "--repeats", "2"]
        done = CliRunner().invoke(cli, [*arguments, "--base-url", url, "--store", str(store.path)])

    assert done.exit_code == 0, done.output
    assert query(store, "select distinct judges, answers from panel").rows() == [(2, 4)]
    assert query(store, "select count(*) from panel").rows() == [(12,)]


def test_a_shared_cache_pays_nothing_twice_across_stores(tmp_path: Path) -> None:
    """Two stores with the same games: the second run sends nothing and stores the same answers; another repeat is asked for."""
    first, second = (store_of(tmp_path / f"{name}.duckdb", games=2, turns=2) for name in ("a", "b"))
    with stub_server("--latency-ms", "5") as url:
        one = run(ask_model(url, cache=tmp_path), first)
        sent = counted(url)["requests"]
        two = run(ask_model(url, cache=tmp_path), second)
        three = run(ask_model(url, cache=tmp_path, repeats=2), second)

        assert (one.requests, one.from_cache) == (2, 2)  # both games are alike, also while the first is being asked about
        assert sent == 2
        assert (two.requests, two.from_cache, two.tokens_in) == (0, 4, 0)
        assert (three.answered_before, three.requests, three.from_cache) == (4, 2, 2)
    assert verdict_counts(second) == {"answered": 48}
    same = "select unit_id, question, answer, reason from verdicts where repeat = 1 order by all"
    assert query(first, same).rows() == query(second, same).rows()


@pytest.mark.long
def test_other_models_and_parameters_are_not_in_the_cache(tmp_path: Path) -> None:
    """What could change an answer is part of what it is kept under."""
    variants: list[dict[str, Any]] = [{}, {"model": "local/other"}, {"temperature": 0.7}]
    with stub_server() as url:
        for number, changes in enumerate(variants):
            report = run(ask_model(url, cache=tmp_path / "c", **changes), store_of(tmp_path / f"{number}.duckdb", turns=1))
            assert (report.requests, report.from_cache) == (1, 0)


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    """Before anything is asked."""
    (tmp_path / "notes.txt").write_text("no database, but long enough to be looked at " * 10)
    with pytest.raises(StoreError, match="name another file or folder with --cache"):
        run(ask_model("http://127.0.0.1:9/v1", cache=tmp_path / "notes.txt"), store_of(tmp_path / "s.duckdb"))


def request_to(urls: list[str], **changes: Any) -> JudgeRequest:
    """One model behind several servers."""
    request = ask_model(urls[0], **changes)
    assert request.settings is not None
    return replace(request, more_endpoints=tuple(replace(request.settings, base_url=url) for url in urls[1:]))


@pytest.mark.long
def test_calls_are_shared_out_among_servers_and_the_faster_gets_more(tmp_path: Path) -> None:
    """Each answers some; together each unit is asked about once."""
    store = store_of(tmp_path / "s.duckdb", games=10, turns=4)
    with ExitStack() as servers:
        urls = [servers.enter_context(stub_server("--latency-ms", latency)) for latency in ("20", "200")]
        report = run(request_to(urls, concurrency=4), store)
        fast, slow = (counted(url)["requests"] for url in urls)

    assert (report.answered, report.requests) == (240, 40)
    assert fast + slow == 40
    assert fast > 2 * slow > 0


def test_limits_hold_for_each_server(tmp_path: Path) -> None:
    """A limiter that says 429 at one server does not hold up the other, and a server that fails for good is left out."""
    store = store_of(tmp_path / "s.duckdb", games=5, turns=4)
    with ExitStack() as servers:
        urls = [servers.enter_context(stub_server(*fault)) for fault in ((), ("--fault", "401:1:99"))]
        report = run(request_to(urls), store)
        assert (report.answered, report.failed) == (120, 0)
        assert counted(urls[0])["answers"] == 20

        with pytest.raises(HopelessError):
            run(request_to([urls[1], urls[1]], repeats=2, rubric="mind_modeling"), store)


def test_keys_and_servers_are_put_together() -> None:
    """One key for all servers, one server with several keys, or one each."""
    base = ModelSettings(model="local/m")

    def made(urls: list[str], keys: list[str]) -> list[tuple[str | None, str | None]]:
        return [(one.base_url, one.key_variable) for one in endpoints(base, urls, keys)]

    assert made([], []) == [(None, None)]
    assert made(["u", "v"], ["K"]) == [("u", "K"), ("v", "K")]
    assert made(["u"], ["K", "L"]) == [("u", "K"), ("u", "L")]
    assert made(["u", "v"], ["K", "L"]) == [("u", "K"), ("v", "L")]
    with pytest.raises(UsageError, match="3 times --base-url but 2 times --key-env"):
        made(["u", "v", "w"], ["K", "L"])


def test_a_key_that_is_not_set_is_named(tmp_path: Path) -> None:
    """By the variable that should hold it."""
    with pytest.raises(UsageError, match="set NO_SUCH_KEY"):
        run(ask_model("http://127.0.0.1:9/v1", key_variable="NO_SUCH_KEY"), store_of(tmp_path / "s.duckdb"))
