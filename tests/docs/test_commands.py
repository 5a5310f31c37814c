"""Commands that the README and the docs show: each exists with its options, and those of the README's four jobs are run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import groupby, takewhile
from pathlib import Path

import click
import pytest

from cotrace.cli import cli
from cotrace.commands.demo import command as demo
from tests.command_line import called
from tests.places import DOCS, ROOT
from tests.played import played_store

_BLOCK = re.compile(r"^```(?:sh|bash|console|shell)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_BETWEEN = frozenset({"&&", "||", "|", ";", "&"})
_SHOWN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def commands(text: str) -> Iterator[list[str]]:
    """The words of every call of `cotrace` in the shell blocks of a page."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            for _, call in groupby(words, key=lambda word: word in _BETWEEN):
                first, *rest = call
                if first == "cotrace" and rest:
                    yield list(takewhile(lambda word: not word.startswith((">", "2>")), rest))


def parsed(words: list[str]) -> None:
    """Hold the words against the command line's own description; no command is run, and no value is looked at."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            break
        command, words = found, words[1:]
        context = click.Context(command, parent=context)
    assert command is not cli or words[0].startswith("-"), f"there is no command {words[0]}"
    command.make_parser(context).parse_args(args=list(words))


SHOWN = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)[:70]}")
    for page in _SHOWN
    for words in commands(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("words", SHOWN)
def test_every_command_that_is_shown_exists(words: list[str]) -> None:
    """With all of its options, spelt as they are there."""
    parsed(words)


def test_commands_are_found() -> None:
    """The pages have some, in blocks of several lines and behind others."""
    assert len(SHOWN) > 60
    assert list(commands("```sh\n$ cotrace sql 'a; b' && cotrace dash --port 1 > x\n```\n"))[-1] == ["dash", "--port", "1"]


@pytest.mark.parametrize("words", [["reprot"], ["report", "--wher", "true"], ["judge", "--rubrik", "x"]])
def test_a_slip_would_be_seen(words: list[str]) -> None:
    """What is no command, and what is no option."""
    with pytest.raises((AssertionError, click.UsageError)):
        parsed(words)


@pytest.mark.long
def test_the_four_jobs_of_the_readme_run_in_their_order(tmp_path: Path) -> None:
    """As they stand there, on games that were played. What asks a model only says what it would ask; pages are not made."""
    played_store(tmp_path / "played", judged=False)
    shutil.copytree(tmp_path / "played" / "logs", tmp_path / "logs", ignore=shutil.ignore_patterns("*_00[2-9]*"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.partition("## The four jobs")[2].partition("No logs at hand?")[0]
    jobs = [words for words in commands(block) if words[0] != "dash" and words[:2] != ["report", "all"]]
    assert len(jobs) >= 9
    for words in jobs:
        asked = [word.replace("path/to/logs/", "logs") for word in words if word != "--dry-run"]
        done = called(*asked, *(["--dry-run"] if "--model" in words else []), store=tmp_path / "cotrace.duckdb", cwd=tmp_path)
        assert done.returncode == 0, f"cotrace {' '.join(words)}: {done.stderr}"


def test_the_demo_plays_what_the_readme_says(tmp_path: Path) -> None:
    """Its number of games is that of personas times targets; of one target each persona plays one. Games of real models are beside them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    said = re.search(r"plays (\d+) games of six personas.*?serves the dashboard on http://([\d.]+):(\d+)", text, re.DOTALL)
    assert said is not None
    defaults = {option.name: option.default for option in demo.params}
    assert (defaults["games"], defaults["host"], defaults["port"]) == (int(said[1]) / 6, said[2], int(said[3]))
    done = called("demo", "--no-serve", "--games", "1", "--dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "6 games of CRAFT on 1 targets played" in done.stderr + done.stdout
    asked = (
        "SELECT count(DISTINCT episode_id) FILTER (is_real) AS real, count(DISTINCT episode_id) FILTER (NOT is_real) AS games, "
        "count(DISTINCT persona) FILTER (NOT is_real AND role = 'director') AS personas, "
        "count(DISTINCT episode_id) FILTER (is_real AND episode_id IN (SELECT episode_id FROM attributions)) AS attributed, "
        "count(DISTINCT episode_id) FILTER (is_real AND episode_id IN (SELECT episode_id FROM verdicts)) AS judged "
        "FROM (SELECT *, model LIKE '%qwen%' AS is_real FROM agents)"
    )
    rows = called("sql", asked, "--format", "json", store=tmp_path / "cotrace.duckdb")
    shipped = len(list((ROOT / "cotrace" / "demo_games").glob("*/*.jsonl.gz")))
    assert json.loads(rows.stdout) == [{"real": shipped, "games": 6, "personas": 6, "attributed": shipped, "judged": shipped}]
    assert "games of small real models" in done.stderr
    assert done.stdout.index("  CRAFT, ") < done.stdout.index("  Avalon, ") < done.stdout.index("  Avalon: The commonest failure of ")
