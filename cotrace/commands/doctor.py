"""`cotrace doctor`: what is installed, what the store holds, which keys are set, and what a server can do for a model."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from cotrace import __version__
from cotrace.options.models import named
from cotrace.options.shared import Number, say, store_option
from cotrace.terminal import echo
from providers.provider import PROVIDERS
from schemas.common import wording
from schemas.common.errors import CotraceError, UsageError
from schemas.common.packages import EXTRAS
from schemas.store.store import Store

if TYPE_CHECKING:
    from cotrace.measure_server import Measured
    from providers.profile import Profile
    from providers.provider import ModelSettings

_NEEDED: Final = ("duckdb", "polars", "pyarrow", "pandera", "pydantic", "orjson")
_COUNTS: Final = """
SELECT
    (SELECT count(*) FROM episodes), (SELECT count(*) FROM turns), (SELECT count(*) FROM verdicts), (SELECT count(*) FROM labels),
    (SELECT count(*) FROM rejects), (SELECT count(*) FROM judge_runs WHERE status = 'running')
"""

_FREE_BYTES: Final = 1 << 30
_NAMES: Final = 8
_RUBRICS: Final = 4
_QUESTIONS: Final = 7
"""Of a call, in the longest rubrics that are shipped."""


class Diagnosis(NamedTuple):
    """One line."""

    mark: str
    """`ok`, `-` (absent, needed only for what the line says) or `!` (to be mended)."""
    what: str
    text: str


@click.command()
@click.option("--model", help="provider/model: measure what its server can do, and store that for other commands.")
@click.option("--base-url", help="Its server, such as http://localhost:8000/v1.")
@click.option("--key-env", "key_variable", help="Environment variable with the key.")
@click.option("--timeout", "timeout_s", default=600.0, show_default=True, type=Number(min=0, min_open=True), help="Seconds for one call.")
@click.option(
    "--rubric", "rubrics", multiple=True, help="What to estimate the time for; by default the rubrics that fit the store's games."
)
@store_option
def command(
    model: str | None, base_url: str | None, key_variable: str | None, timeout_s: float, rubrics: tuple[str, ...], store: Store
) -> int:
    """Say what is installed, what the store holds, which keys are set (never shown), and what a run would need.

    With --model, ask its server with some ten small calls: context, slots, tokens a second, which ways of asking for typed answers work,
    and probabilities of tokens. The result goes into a profile file, which judge, claims, play, replay, probe, optimize and coordqa use
    when they ask the same model at the same address; their own options count before it. Exit code 1 where something has to be repaired.

    \b
    Example:
      cotrace doctor
      cotrace doctor --model openai/qwen --base-url http://localhost:8080/v1 --store games.duckdb
    """
    if model is None:
        if base_url or key_variable or rubrics:
            raise UsageError("--base-url, --key-env and --rubric describe a model: name it with --model")
        found = list(findings(store))
    else:
        from providers.provider import ModelSettings

        settings = ModelSettings(model=named(model), base_url=base_url, key_variable=key_variable, timeout_s=timeout_s)
        found = list(of_server(settings, store, rubrics))
    width = max(len(finding.what) for finding in found)
    for finding in found:
        echo(f"{finding.mark:>2}  {finding.what:<{width}}  {finding.text}")
    wrong = sum(finding.mark == "!" for finding in found)
    say(f"{wrong} to be repaired" if wrong else "nothing to be repaired")
    return 1 if wrong else 0


def findings(store: Store) -> Iterator[Diagnosis]:
    """What there is, from the ground up."""
    yield Diagnosis("ok", "cotrace", f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    for package in _NEEDED:
        found = _version(package)
        yield Diagnosis("ok" if found else "!", package, found or f"missing: pip install {package}")
    for extra in dict.fromkeys(EXTRAS.values()):
        missing = [package for package, brings in EXTRAS.items() if brings == extra and find_spec(package) is None]
        text = f"{', '.join(missing)} missing: pip install 'cotrace[{extra}]'" if missing else "all there"
        yield Diagnosis("-" if missing else "ok", f"[{extra}]", text)
    yield from _keys()
    yield _disk(store)
    yield from _store(store)


def of_server(settings: ModelSettings, store: Store, rubrics: tuple[str, ...]) -> Iterator[Diagnosis]:
    """Measure a server, store its profile, and say what it can do and what that means for runs."""
    import asyncio

    from cotrace.measure_server import measure
    from providers import profile
    from providers.faults import HopelessError

    try:
        measured = asyncio.run(measure(settings, lambda step: say(f"asking: {step}")))
    except HopelessError as error:
        yield Diagnosis("!", "server", str(error))
        return
    path = profile.write(measured.profile)
    yield from _of_measured(measured)
    yield from _estimates(settings, measured.profile, store, rubrics)
    yield Diagnosis("ok", "profile", str(path))


def _of_measured(measured: Measured) -> Iterator[Diagnosis]:
    found = measured.profile
    name = found.model.partition("/")[2]
    listed = f"; it lists {', '.join(found.models[:_NAMES])}" if found.models else ""
    is_listed = not found.models or name in found.models
    yield Diagnosis("ok", "server", f"{found.server or 'unknown kind'} at {found.base_url}, measured in {measured.seconds:.0f} s")
    yield Diagnosis("ok" if is_listed else "-", "model", f"{name}{listed}{'' if is_listed else ': this name is not among them'}")
    context = f"{found.context} tokens for prompt and reply of one call" if found.context else "not stated: prompts that are too long fail"
    yield Diagnosis("ok" if found.context else "-", "context", context)
    slots = f"{found.slots} calls at once" if found.slots else "not stated: give --concurrency"
    yield Diagnosis("ok" if found.slots else "-", "slots", slots)
    speeds = (("prompt", found.prompt_speed, "of a prompt"), ("reply", found.reply_speed, "of each reply with all slots in use"))
    for what, speed, of in speeds:
        text = f"{speed:.1f} tokens/s {of}" if speed else "not known: the server counts no tokens"
        yield Diagnosis("ok" if speed else "-", what, text)
    for one in measured.tried:
        text = one.failed or ("filled in, both answers right" if one.is_right else "filled in, but not both answers right: a weak judge")
        yield Diagnosis("-" if one.failed else "ok", f"--mode {one.mode}", text)
    if found.mode is None:
        yield Diagnosis("!", "modes", "none of them brought a form filled in: this model cannot judge at this server")
        return
    yield Diagnosis("ok", "mode", f"{found.mode} is used")
    yield Diagnosis("ok" if found.logprobs else "-", "--logprobs", "come" if found.logprobs else "do not come")
    limit = found.reply_limit(_QUESTIONS)
    timeout = found.timeout_s(limit, found.slots or 1)
    longest = found.largest_prompt(limit)
    yield Diagnosis(
        "ok",
        "runs",
        f"for {_QUESTIONS} questions a call: --max-tokens {limit}, prompts of up to {longest or 'unknown'} tokens"
        + (f", --timeout {timeout:.0f}" if timeout else "")
        + (f", --concurrency {found.slots}" if found.slots else ""),
    )


def _estimates(settings: ModelSettings, found: Profile, store: Store, rubrics: tuple[str, ...]) -> Iterator[Diagnosis]:
    """What a rubric would take, by the tokens of the prompts that are still to be asked and the measured speeds."""
    if not store.exists():
        if rubrics:
            yield Diagnosis("-", "rubrics", f"no store at {store.path}: --store names one with games")
        return
    from judges.rubric_files.load import find
    from judges.runs.job import JudgeRequest, plan

    for name in rubrics or _fitting(store):
        planned = plan(JudgeRequest(rubric=find(name), settings=settings), store)
        seconds = found.run_s(planned.calls, planned.tokens_in, planned.tokens_out)
        calls = f"{planned.calls} calls, about {planned.tokens_in} + {planned.tokens_out} tokens"
        if seconds is None:
            yield Diagnosis("-", name, f"{calls}; how long is not known")
        else:
            yield Diagnosis("ok", name, f"{calls}: about {wording.seconds(seconds)} with all slots in use, prompts out of no cache")


def _fitting(store: Store) -> list[str]:
    """The rubrics of cotrace for the benchmarks that the store has."""
    from judges.rubric_files.load import find, names

    with store.reading() as connection:
        there = {benchmark for (benchmark,) in connection.execute("SELECT DISTINCT benchmark FROM episodes").fetchall()}
    return [name for name in names() if there & set(find(name).benchmarks)][:_RUBRICS]


def _keys() -> Iterator[Diagnosis]:
    present = {name: [key for key in one.keys if os.environ.get(key)] for name, one in PROVIDERS.items()}
    for provider, keys in present.items():
        if keys:
            yield Diagnosis("ok", f"{provider}/", f"{keys[0]} is set")
    if not any(present.values()):
        yield Diagnosis("-", "keys", f"none set of {', '.join(key for one in PROVIDERS.values() for key in one.keys)}")
        yield Diagnosis("-", "models", "need a key, or --base-url of a local server; engine judges need neither")


def _disk(store: Store) -> Diagnosis:
    folder = next((place for place in (store.folder, Path.cwd()) if place.is_dir()), Path("/"))
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 30):.1f} GB free in {folder}"
    if not os.access(folder, os.W_OK):
        return Diagnosis("!", "disk", f"{folder} cannot be written: choose another --store")
    return Diagnosis("ok" if free > _FREE_BYTES else "!", "disk", text)


def _store(store: Store) -> Iterator[Diagnosis]:
    if not store.exists():
        yield Diagnosis("-", "store", f"none at {store.path}: cotrace ingest PATH makes it, cotrace demo plays games first")
        return
    try:
        with store.reading() as connection:
            counts = connection.execute(_COUNTS).fetchone()
    except CotraceError as error:
        yield Diagnosis("!", "store", str(error))
        return
    games, turns, verdicts, labels, rejects, running = counts or (0,) * 6
    size = store.size() / (1 << 20)
    yield Diagnosis("ok", "store", f"{store.path}, {size:.1f} MB: {games} games, {turns} turns, {verdicts} verdicts, {labels} labels")
    if rejects:
        yield Diagnosis("-", "rejects", f"{rejects} parts of logs could not be used: cotrace report rejects")
    if running:
        yield Diagnosis(
            "-", "judge runs", f"{running} marked as running: under way, or killed; the same command again goes on where it stopped"
        )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
