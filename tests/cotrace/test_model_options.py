"""The options that say how a model is asked, through the command, and what is told of a model before it costs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from analytics.query import query
from cotrace.cli import main
from schemas.store.store import Store
from tests.judges.judged_games import counted, store_of
from tests.servers.stub_server import stub_server


def judge(store: Store, url: str | None, *options: str, model: str = "openai/gpt-4o-mini") -> Result:
    """`cotrace judge` with one question a turn."""
    server = ("--base-url", url) if url else ()
    arguments = ["judge", "--rubric", "pragmatic_sufficiency", "--repeats", "1", "--model", model, *server, "--store", str(store.path)]
    return CliRunner().invoke(whole, [*arguments, *options], catch_exceptions=False)


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.pass_context
def whole(context: click.Context) -> None:
    """The command as it is installed, its exit codes and error lines included."""
    main(context.args)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("model", "options", "sent"),
    [
        ("openai/gpt-4o-mini", (), {"temperature": 0.0, "max_tokens": 1500, "reasoning_effort": None}),
        ("openai/gpt-4o-mini", ("--temperature", "0.3", "--max-tokens", "700"), {"temperature": 0.3, "max_tokens": 700}),
        ("openai/gpt-4o-mini", ("--temperature", "none"), {"temperature": None}),
        ("openai/o3", (), {"temperature": None, "max_tokens": None, "max_completion_tokens": 1500 + 8192}),
        (
            "openai/o3",
            ("--reasoning-effort", "low"),
            {"temperature": None, "reasoning_effort": "low", "max_completion_tokens": 1500 + 2048},
        ),
    ],
)
def test_what_is_asked_for_is_sent(tmp_path: Path, model: str, options: tuple[str, ...], sent: dict[str, Any]) -> None:
    """A model that reasons gets no temperature and room for its reasoning, unless told otherwise; the stub refuses what OpenAI does."""
    with stub_server("--bills", "1000", "100", "400", "60") as url:
        done = judge(store := store_of(tmp_path / "s.duckdb", turns=1), url, *options, model=model)
        body = counted(url)["last_bodies"][-1]

    assert done.exit_code == 0, done.output
    assert {name: body.get(name) for name in sent} == sent
    calls = query(store, "SELECT tokens_cached, tokens_reasoning FROM calls").rows()
    assert set(calls) == {(400, 60)}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("mode", "field"), [("tools", "tool_choice"), ("json", "response_format"), ("json_schema", "response_format")])
def test_typed_answers_are_asked_for_as_the_mode_says(tmp_path: Path, mode: str, field: str) -> None:
    """And come in each."""
    with stub_server() as url:
        done = judge(store_of(tmp_path / "s.duckdb", turns=1), url, "--mode", mode)
        body = counted(url)["last_bodies"][-1]

    assert done.exit_code == 0, done.output
    assert field in body
    assert field == "tool_choice" or body["response_format"]["type"] == {"json": "json_object", "json_schema": "json_schema"}[mode]


def test_an_answer_has_its_probability_where_the_server_tells(tmp_path: Path) -> None:
    """`yes` and `na` are one token each for the stub, at a log probability of -0.25; without --logprobs it is null."""
    with stub_server("--says", "yes") as url:
        judge(plain := store_of(tmp_path / "plain.duckdb", turns=1), url)
        done = judge(store := store_of(tmp_path / "s.duckdb", turns=1), url, "--logprobs")

    assert done.exit_code == 0, done.output
    found = query(store, "SELECT DISTINCT answer, score, probability FROM verdicts").rows()
    assert found == [("yes", 1.0, pytest.approx(math.exp(-0.25)))]
    assert query(plain, "SELECT DISTINCT probability FROM verdicts").rows() == [(None,)]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("opnai/gpt-4o", (), "there is no provider opnai; did you mean openai?"),
        ("gpt-4o", (), "write provider/model, such as openai/gpt-4o"),
        ("openai/gpt-4o-mini", ("--temperature", "warm"), "'warm' is not a valid"),
        ("openai/gpt-4o-mini", ("--temperature", "nan"), "is not a usable number"),
    ],
)
def test_a_slip_is_told_before_anything_is_asked(tmp_path: Path, model: str, options: tuple[str, ...], message: str) -> None:
    """In one line, also by --dry-run."""
    for extra in ((), ("--dry-run",)):
        done = judge(store_of(tmp_path / f"{len(extra)}.duckdb", turns=1), None, *options, *extra, model=model)
        assert done.exit_code == 2
        assert message in done.stderr


def test_the_price_that_counts_is_named_and_a_name_that_no_list_has_is_doubted(tmp_path: Path) -> None:
    """The line of the user's file or of the kept list; a wildcard that catches an unknown name is no proof that there is such a model."""
    own = tmp_path / "own.yaml"
    own.write_text("openai/*: {input: 9, output: 18}\n")
    store = store_of(tmp_path / "s.duckdb", turns=1)
    listed = judge(store, None, "--dry-run", "--max-cost", "1").stderr
    wild = judge(store, None, "--dry-run", "--max-cost", "1", "--prices", str(own), model="openai/gpt-4o-mnii").stderr
    unknown = judge(store, None, "--dry-run", model="openai/gpt-4o-mnii").stderr

    assert "openai/gpt-4o-mini: 0.15 USD a million tokens in, 0.6 out (openai/gpt-4o-mini in genai-prices" in listed
    assert "warning" not in listed
    assert f"openai/gpt-4o-mnii: 9 USD a million tokens in, 18 out ({own}: openai/*)" in wild
    for told in (wild, unknown):
        assert "warning: openai/gpt-4o-mnii is on no price list: its name may be wrong; did you mean openai/gpt-4o-mini" in told


def test_players_that_reason_get_no_temperature_either(tmp_path: Path) -> None:
    """The default of `play` is 0.7, for models that take one."""
    arguments = ["play", "craft", "--player", "directors=script:plain", "--games", "1", "--turns", "1"]
    for model, temperature in (("openai/gpt-4o-mini", 0.7), ("openai/gpt-5-mini", None)):
        with stub_server() as url:
            seat = ["--player", f"builder={model}", "--base-url", url, "--out", str(tmp_path / model)]
            done = CliRunner().invoke(whole, [*arguments, *seat], catch_exceptions=False)
            assert "1 reply: 0 read, 1 unreadable" in done.output  # what the stub says is no move of CRAFT
            assert counted(url)["last_bodies"][-1].get("temperature") == temperature


def test_tokens_that_the_server_does_not_count_are_not_known(tmp_path: Path) -> None:
    """They were printed and stored as 0 + 0: by a judge's run and by one that plays, in the report and on the page."""
    store, log = store_of(tmp_path / "s.duckdb", turns=2), tmp_path / "played"
    with stub_server("--bills", "0", "0") as url:
        done = judge(store, url)
        player = [part for player in "AB" for part in ("--player", f"{player}=openai/gpt-4o-mini")]
        play = ["play", "asympuzl", *player, "--base-url", url, "--games", "1", "--turns", "1", "--feedback", "own", "--out", str(log)]
        played = CliRunner().invoke(whole, play, catch_exceptions=False)

    assert "2 requests, tokens not counted by the server, cost not known" in done.output
    assert "calls; tokens not counted by the server, cost not known" in played.output
    assert query(store, "SELECT tokens_in, tokens_out, cost FROM judge_runs").rows() == [(None, None, None)]
    assert query(store, "SELECT calls, tokens_in, tokens_out, cost_usd FROM cost").rows() == [(2, None, None, None)]
    shown = CliRunner().invoke(whole, ["dash", "--page", "/judges?show=cost&rubric=pragmatic_sufficiency", "--store", str(store.path)])
    assert "a server did not count all" in shown.output
