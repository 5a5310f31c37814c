"""Judge run: 1,000 calls, 64 at once, 50 ms simulated latency, everything persisted; ratios to two bare instructor loops.

The judge run asks through instructor's client, too. Base 1 is a loop of instructor as installed (OpenAI client with its own transport, a
plain Pydantic model); base 2 the same loop with the model wrapped once and the aiohttp transport. Both only ask and throw the answers away;
the judge run also plans, renders prompts from the store, journals, validates and writes every verdict, counts tokens and cost, and reports
progress. All three send the same prompts and get the same answers from the same server. Imports are done before the clocks start. Goals: at
least 250 calls a second, at most 4 CPU-ms a call and 1.5 times the CPU seconds of base 2. Memory is the most that a fresh process held from
its start, imports included, beside base 2 in a process of its own; goal: no more than 1.5 times that, and no more for five times the units.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.timing import peak_mb
from judges.evidence.prompt import PromptMaker
from judges.evidence.transcript import load
from judges.evidence.units import select, units
from judges.rubric import answer_model
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.records import Agent, Episode, Json, Run, Turn, Utterance
from schemas.store import batches
from schemas.store.store import Store

__all__ = ["fill", "main"]

CALLS = 1_000
AT_ONCE = 64
LATENCY_MS = 50
_TURNS_A_GAME = 20
_MANY = 5
_DIRECTORS = ("D1", "D2")


class Measured(NamedTuple):
    """What one run took."""

    wall_s: float
    cpu_s: float


def main() -> None:
    """Measure and print one line a figure."""
    with tempfile.TemporaryDirectory() as folder, _server() as base_url:
        store = Store(Path(folder) / "bench.duckdb")
        fill(store, CALLS)
        prompts = _prompts(store)
        _judge(store, base_url, model="local/warm-up", where="episode_id = 'game-0'")  # what only the first run pays: imports, schemas
        bare = _measured(lambda: asyncio.run(_loop(prompts, _plain_client(base_url), _plain_model())))
        tuned = _measured(lambda: asyncio.run(_loop(prompts, _tuned_client(base_url), _wrapped_model())))
        ours = _measured(lambda: _judge(store, base_url, model="local/fake", where=None))
        memory = _memory(Path(folder), base_url)
    print(f"judge run, {CALLS} calls, {AT_ONCE} at once, {LATENCY_MS} ms: {CALLS / ours.wall_s:.0f} calls/s, {ours.cpu_s:.2f} CPU s")
    print(f"  throughput (goal >= 250 calls/s) against instructor as installed: {bare.wall_s / ours.wall_s:.2f} (base {bare.wall_s:.2f} s)")
    print(f"  CPU against wrapped once + aiohttp: {ours.cpu_s / tuned.cpu_s:.2f} (goal <= 1.5; base {tuned.cpu_s:.2f} s)")
    print(f"  CPU a call: {1000 * ours.cpu_s / CALLS:.2f} ms (goal <= 4)")
    print(memory)


def _memory(folder: Path, base_url: str) -> str:
    """A line on what fresh processes held."""
    for name, calls in (("few", CALLS), ("many", _MANY * CALLS)):
        (folder / name).mkdir()
        (folder / name / "url").write_text(base_url)
        fill(Store(folder / name / "bench.duckdb"), calls)
    bare, few, many = peak_mb(_loop_alone, folder / "few"), peak_mb(_judge_alone, folder / "few"), peak_mb(_judge_alone, folder / "many")
    if bare is None or few is None or many is None:
        return "  memory: this system does not tell"
    times = f"{few / bare:.2f} times the {bare:.0f} MB of wrapped once + aiohttp"
    return f"  memory: {few:.0f} MB (goal <= 1.5 times), {times}; {many:.0f} MB for {_MANY} times the calls"


def _judge_alone(folder: Path) -> None:
    _judge(Store(folder / "bench.duckdb"), (folder / "url").read_text(), model="local/fake", where=None)


def _loop_alone(folder: Path) -> None:
    prompts = _prompts(Store(folder / "bench.duckdb"))
    asyncio.run(_loop(prompts, _tuned_client((folder / "url").read_text()), _wrapped_model()))


@contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.servers.stub_server", "--latency-ms", str(LATENCY_MS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _measured(action: Callable[[], object]) -> Measured:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return Measured(time.perf_counter() - wall, time.process_time() - cpu)


def _judge(store: Store, base_url: str, *, model: str, where: str | None) -> None:
    settings = ModelSettings(model=model, base_url=base_url)
    report = run(
        JudgeRequest(rubric=find("spatial_grounding"), settings=settings, repeats=1, where=where, concurrency=AT_ONCE),
        store,
        lambda _: None,
    )
    assert report.failed == 0, report


async def _loop(prompts: list[list[Message]], client: Any, model: Any) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(messages: list[Message]) -> None:
        async with gate:
            await client.create(model="fake", messages=messages, response_model=model, max_tokens=1500, temperature=0.0, max_retries=2)

    tasks: list[Awaitable[None]] = [one(messages) for messages in prompts]
    await asyncio.gather(*tasks)
    await client.client.close()


def _plain_client(base_url: str) -> Any:
    import instructor
    import openai

    return instructor.from_openai(openai.AsyncOpenAI(base_url=base_url, api_key="none"))


def _tuned_client(base_url: str) -> Any:
    import instructor
    import openai

    return instructor.from_openai(openai.AsyncOpenAI(base_url=base_url, api_key="none", http_client=openai.DefaultAioHttpClient()))


def _plain_model() -> Any:
    return answer_model(find("spatial_grounding").groups()[0])


def _wrapped_model() -> Any:
    from instructor import openai_schema

    return openai_schema(_plain_model())


def _prompts(store: Store) -> list[list[Message]]:
    rubric = find("spatial_grounding")
    maker, selection = PromptMaker(rubric), select(store, rubric, None)
    games = load(store, list(selection))
    return [maker.messages(prompt) for game in games for unit in units(rubric, game, None) for prompt in maker.prompts(unit)]


def fill(store: Store, calls: int) -> None:
    """Games of twenty turns with two directors each, as many as the calls need."""
    games = [f"game-{number}" for number in range(calls // (_TURNS_A_GAME * len(_DIRECTORS)))]
    view = Json(
        '{"row_0": [{"color": "red", "size": 1}, {"color": "blue", "size": 2}, {"color": "blue", "size": 2}], "row_1": [], "row_2": []}'
    )
    state = Json('{"stacks": {"(0,0)": ["rs"], "(0,1)": ["gs", "bs"]}, "spans": {}}')
    text = "My target has a red block at the left of the bottom layer, the stack there is empty, so that is what should come next. " * 8
    turns = range(1, _TURNS_A_GAME + 1)
    rows: dict[str, Sequence[tuple[object, ...]]] = {
        "runs": [Run("run", "craft", "bench", Json("{}"), None)],
        "episodes": [_episode(game) for game in games],
        "agents": [Agent(game, name, "director", "m", None, view, "spans", "log") for game in games for name in _DIRECTORS],
        "turns": [_turn(game, turn, state) for game in games for turn in turns],
        "utterances": [
            Utterance(game, turn, seq, name, "private", [name], f"{game}, turn {turn}: {text}", tokens=None, superseded=False)
            for game in games
            for turn in turns
            for seq, name in enumerate(_DIRECTORS, start=1)
        ],
    }
    store.create()
    arrow = batches.to_arrow(rows)
    batches.check(arrow)
    with store.writing() as connection:
        batches.insert(connection, arrow)


def _turn(game: str, turn: int, state: Json) -> Turn:
    return Turn(
        episode_id=game,
        turn=turn,
        state_before=state,
        state_after=state,
        oracle_available=False,
        oracle_followed=None,
        progress=0.5,
        goal_reached=False,
        error=None,
        at=None,
    )


def _episode(game: str) -> Episode:
    return Episode(
        episode_id=game,
        run_id="run",
        source_id="none",
        benchmark="craft",
        task_id="structure_001",
        level=None,
        model="m",
        team=Json("{}"),
        seed=None,
        max_turns=_TURNS_A_GAME,
        turns_taken=_TURNS_A_GAME,
        success=False,
        score=0.5,
        stop_reason=None,
        error=None,
        goal=None,
        details=Json("{}"),
        file=game,
        started_at=None,
    )


if __name__ == "__main__":
    main()
