"""YAML that others have written: a few lines cannot stand for more than any memory holds, whichever command reads them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from schemas.common.yaml_lines import parse_yaml
from tests.command_line import called

NESTED = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
BOMBS = {
    "lists": NESTED,
    "merged keys": "x0: &x0 {k: 1}\n"
    + "".join(f"x{i}: &x{i}\n  <<: [{', '.join([f'*x{i - 1}'] * 50)}]\n" for i in range(1, 8)),
    "pairs": "k0: &k0 {k: v}\n" + "".join(f"k{i}: &k{i} {{l: *k{i - 1}, r: *k{i - 1}}}\n" for i in range(1, 30)),
    "itself": "a: &a [*a]\n",
    "itself, deeper": "a: &a {b: {c: [1, *a]}}\n",
    "depth": "a: " + "[" * 20_000 + "]" * 20_000 + "\n",
}  # fmt: skip
COMMANDS = {
    "rubric": ["rubric", "check", "FILE"],
    "prices": ["play", "craft", "--player", "all=openai/gpt-4o", "--prices", "FILE", "--max-cost", "1", "--out", "LOGS"],
    "experiment": ["play", "FILE", "--out", "LOGS"],
    "mapping": ["ingest", "LOGS", "--map", "FILE"],
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_document_that_repeats_itself_is_refused_at_once(name: str) -> None:
    """By the numbers that it stands for, before anything is made of it."""
    began = time.monotonic()
    with pytest.raises((yaml.YAMLError, RecursionError), match=r"alias|recursion|deep"):
        parse_yaml(BOMBS[name])
    assert time.monotonic() - began < 5


def test_a_document_that_is_too_long_is_not_read() -> None:
    """Reading 30 million characters took a minute."""
    with pytest.raises(yaml.YAMLError, match="4,000,001 characters"):
        parse_yaml("a" * 4_000_001)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_yaml_says_so_in_one_line(command: str, tmp_path: Path) -> None:
    """Rubrics, prices, experiments and mappings of logs are files that people pass on."""
    bomb = tmp_path / "bomb.yaml"
    bomb.write_text(NESTED)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.jsonl").write_text('{"role": "user", "content": "x"}\n')
    words = [{"FILE": str(bomb), "LOGS": str(tmp_path / "logs")}.get(word, word) for word in COMMANDS[command]]
    done = called(*words, store=tmp_path / "s.duckdb")
    assert done.returncode in {1, 2}
    assert "aliases repeat far more values" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_ordinary_aliases_and_merged_keys_are_read() -> None:
    """What people use them for: the same list twice, defaults with a change."""
    text = "base: &base {a: 1, b: [x, y]}\none: {<<: *base, a: 2}\ntwo: [*base, *base]\n"
    assert parse_yaml(text) == {"base": {"a": 1, "b": ["x", "y"]}, "one": {"a": 2, "b": ["x", "y"]}, "two": [{"a": 1, "b": ["x", "y"]}] * 2}
    long = "names: &names [" + ", ".join(f"n{i}" for i in range(3000)) + "]\n" + "".join(f"u{i}: *names\n" for i in range(8))
    assert len(parse_yaml(long)["u7"]) == 3000
