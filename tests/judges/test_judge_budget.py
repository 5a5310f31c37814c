"""Cost: counted from what the server says, never above the limit, and told before anything is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from judges.runs.job import RunProgress, plan
from judges.runs.runner import run
from providers.prices import Price, price_of
from providers.provider import ModelSettings
from schemas.common.errors import UsageError
from tests.judges.judged_games import ask_model, counted, store_of, verdict_counts
from tests.servers.stub_server import stub_server

TURNS = 30
QUESTIONS = 6
CALL_COST = (1000 * 3.0 + 100 * 15.0) / 1e6  # the server bills 1,000 and 100 tokens a call


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """A price file: 3 and 15 USD a million tokens."""
    path = tmp_path / "prices.yaml"
    path.write_text("local/*: {input: 3, output: 15}\n")
    return path


def test_tokens_and_cost_are_those_that_the_server_billed(tmp_path: Path, prices: Path) -> None:
    """In the report and in the store, refused replies included."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    with stub_server("--fault", "refusal:0.3:9") as url:
        report = run(ask_model(url, prices=prices), store)

    assert (report.tokens_in, report.tokens_out) == (TURNS * 1000, TURNS * 100)
    assert report.cost == pytest.approx(TURNS * CALL_COST)
    with store.reading() as connection:
        stored = connection.execute("SELECT calls, tokens_in, tokens_out, cost, units FROM judge_runs").fetchone()
    assert stored == (TURNS, TURNS * 1000, TURNS * 100, pytest.approx(TURNS * CALL_COST), TURNS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("concurrency", [16, 1])
def test_a_run_stops_before_its_budget_is_exceeded_and_goes_on_later(tmp_path: Path, prices: Path, concurrency: int) -> None:
    """The budget holds whatever is in flight; most of it is used; the rest is asked with a new budget."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    limit = 20.5 * CALL_COST
    with stub_server("--latency-ms", "5") as url:
        first = run(ask_model(url, prices=prices, max_cost=limit, concurrency=concurrency, max_tokens=100), store)
        stored = verdict_counts(store)
        second = run(ask_model(url, prices=prices, max_cost=1.0, max_tokens=100), store)

    assert first.status == "stopped_by_budget"
    assert 0.75 * limit <= (first.cost or 0.0) <= limit
    assert stored == {"answered": first.requests * QUESTIONS}
    assert (second.status, second.requests) == ("finished", TURNS - first.requests)
    assert verdict_counts(store) == {"answered": TURNS * QUESTIONS}


def test_a_budget_too_small_for_one_call_asks_nothing(tmp_path: Path, prices: Path) -> None:
    """Not even one request is sent."""
    store = store_of(tmp_path / "s.duckdb", turns=3)
    with stub_server() as url:
        report = run(ask_model(url, prices=prices, max_cost=0.0001), store)
        assert counted(url)["requests"] == 0
    assert (report.status, report.answered, report.cost) == ("stopped_by_budget", 0, 0.0)


def test_a_budget_for_a_model_without_a_price_is_refused(tmp_path: Path) -> None:
    """A limit that cannot be kept is no limit; the error says how to give a price."""
    store = store_of(tmp_path / "s.duckdb", turns=1)
    with pytest.raises(UsageError, match=r"needs a price for house/fake: give one with --prices"):
        run(ask_model("https://models.example.org/v1", model="house/fake", max_cost=1.0), store)


def test_a_plan_says_what_a_run_would_do_and_does_nothing(tmp_path: Path, prices: Path) -> None:
    """Units, calls, tokens, cost and one full prompt; a run then makes exactly those calls, and a second plan none."""
    store = store_of(tmp_path / "s.duckdb", turns=8)
    with stub_server() as url:
        request = ask_model(url, "mind_modeling", prices=prices)
        before = plan(request, store)
        assert counted(url)["requests"] == 0
        report = run(request, store)
        after = plan(request, store)

    assert (before.units, before.calls, before.skipped) == (8 * 3, 8 * 3 * 3, 0)
    assert before.tokens_in > 1000 < before.tokens_out
    assert before.cost == pytest.approx(Price(3, 15).cost(before.tokens_in, before.tokens_out), rel=1e-3)
    assert [message["role"] for message in before.example] == ["system", "user"]
    assert report.requests == before.calls
    assert (after.calls, after.answered_before, after.example) == (0, before.calls, [])


def test_progress_is_told_up_to_the_end(tmp_path: Path, prices: Path) -> None:
    """Never backwards, and the last word is that all is done."""
    store = store_of(tmp_path / "s.duckdb", turns=TURNS)
    told: list[RunProgress] = []
    with stub_server("--latency-ms", "20") as url:
        run(ask_model(url, prices=prices, concurrency=2), store, told.append)

    assert [p.done for p in told] == sorted(p.done for p in told)
    assert (told[-1].done, told[-1].total, told[-1].failed) == (TURNS, TURNS, 0)
    assert told[-1].cost == pytest.approx(TURNS * CALL_COST)
    assert len(told) > 1


def test_the_users_price_comes_first_and_ours_is_the_fallback(tmp_path: Path) -> None:
    """The first pattern that fits counts, so the longer name must not be caught by the shorter one."""
    own = tmp_path / "own.yaml"
    own.write_text("openai/gpt-4o-mini: {input: 9, output: 9}\n")

    assert price_of(ModelSettings(model="openai/gpt-4o-mini"), own) == Price(9, 9)
    assert price_of(ModelSettings(model="openai/gpt-4o-mini")) == Price(0.15, 0.60, cached=0.075)
    assert price_of(ModelSettings(model="openai/gpt-4o")) == Price(2.50, 10.00, cached=1.25)
    assert price_of(ModelSettings(model="house/unheard-of")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a/b: {input: -1, output: 1}", r"a/b\.input: "),
        ("a/b: cheap", "a/b: "),
        ("a: [", "is not YAML"),
        ("a: 2024-13-45", "is not YAML"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_price_file_is_named_with_the_place(tmp_path: Path, text: str | None, message: str) -> None:
    """File, key, and how a line should look."""
    path = tmp_path / "prices.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=rf"price file .*prices\.yaml.*{message}"):
        price_of(ModelSettings(model="a/b"), path)
