"""Playing with models: 64 games of CRAFT at once against a server that answers after 50 ms, everything logged.

The base is a bare loop over aiohttp that sends as many prompts of the same games, 64 at once, reads the replies and throws them away.
Playing renders every prompt, journals every reply, reads it, carries it out, looks for verified moves and writes the log. Goals: at
least 85 % of the base's calls a second, at most 5 CPU milliseconds a call.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import aiohttp
import orjson

from benchmarks.figures import Figure, seconds
from benchmarks.timing import medians
from benchmarks.workload import scratch
from games.experiments.plan import Changes, Experiment, load
from games.players.player import Observation, Player, PlayerReply, ScriptPlayer
from games.players.running import Job, run_games
from schemas.chat.messages import Message

__all__ = ["run"]

_GAMES: Final = 64
_TURNS: Final = 10
_ROUNDS: Final = 3
_GOAL_SHARE: Final = 0.85
_GOAL_CPU_S: Final = 0.005
_FILE: Final = f"""
name: bench
game: craft
tasks: {{generate: {_GAMES}}}
conditions: {{turns: {_TURNS}}}
teams: [{{all: local/stub}}]
limits: {{concurrency: {_GAMES}}}
"""


def run() -> list[Figure]:
    """Measure."""
    file = scratch() / "play.yaml"
    file.write_text(_FILE, encoding="utf-8")
    prompts = _prompts(load(file, Changes(out=scratch() / "prompts")))
    rounds = iter(range(1_000))
    with _server() as address:
        url = f"{address}/v1"
        _play(load(file, Changes(out=scratch() / "warm-up", base_url=url, take=2)))  # what only the first run pays: imports
        taken = medians(
            _ROUNDS,
            {
                "bare": lambda: asyncio.run(_ask_all(f"{url}/chat/completions", prompts)),
                "played": lambda: _play(load(file, Changes(out=scratch() / f"round{next(rounds)}", base_url=url))),
            },
        )
    calls, bare, played = len(prompts), taken["bare"], taken["played"]
    share = bare.wall_s / played.wall_s
    cpu = played.cpu_s / calls
    return [
        Figure(
            f"{_GAMES} games, {calls} calls, calls a second",
            f"{calls / played.wall_s:.0f}",
            f"{calls / bare.wall_s:.0f} (bare loop)",
            share,
            f">= {_GOAL_SHARE}",
            share >= _GOAL_SHARE,
        ),
        Figure(
            "CPU a call",
            seconds(cpu),
            f"{seconds(bare.cpu_s / calls)} (bare loop)",
            played.cpu_s / bare.cpu_s,
            f"{seconds(_GOAL_CPU_S)} a call",
            cpu <= _GOAL_CPU_S,
        ),
    ]


def _play(experiment: Experiment) -> None:
    report = run_games(experiment.jobs, experiment.table, lambda _: None)
    assert (report.failed, report.stopped) == (0, 0), report


@contextmanager
def _server() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-m", "tests.servers.seat_server"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/steady"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _ask_all(url: str, prompts: Sequence[Sequence[Message]]) -> None:
    waiting = iter(prompts)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def worker() -> None:
            for messages in waiting:
                body = orjson.dumps({"model": "stub", "messages": messages, "temperature": 0.7, "max_tokens": 2000})
                async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as response:
                    orjson.loads(await response.read())

        await asyncio.gather(*(worker() for _ in range(_GAMES)))


def _prompts(experiment: Experiment) -> list[Sequence[Message]]:
    """What the models of the games are asked, if scripts play."""
    found: list[Sequence[Message]] = []

    async def play_all() -> None:
        for job in experiment.jobs:
            await job.play(_listened(job, experiment, found))

    asyncio.run(play_all())
    return found


def _listened(job: Job, experiment: Experiment, found: list[Sequence[Message]]) -> Mapping[str, Player]:
    scripts, roles = experiment.table.scripts, experiment.table.roles
    return {agent: _Listened(ScriptPlayer("plain", scripts[roles[agent]]["plain"]), found) for agent in job.taken}


class _Listened:
    def __init__(self, player: Any, found: list[Sequence[Message]]) -> None:
        self.name = player.name
        self._player, self._found = player, found

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """The script's reply; the prompt is kept."""
        self._found.append(seen.messages)
        reply: PlayerReply = await self._player.reply(seen, episode=episode)
        return reply
