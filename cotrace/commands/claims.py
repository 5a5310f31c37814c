"""`cotrace claims`: what the engine judge understood."""

from __future__ import annotations

import json
from typing import TextIO

import click

from cotrace.commands.options import say
from schemas.errors import CotraceError

__all__ = ["command"]


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
def command(file: TextIO) -> int:
    """Read CRAFT messages and print the claims found in each, as JSON lines.

    Input: {"id", "speaker", "utterance", "board_before"}; output: {"id", "claims"}. A line that cannot be used is named on stderr
    and left out; the exit code is then 1. `-` reads from standard input.

    \b
    Example:
      cotrace claims utterances.jsonl > claims.jsonl
    """
    from judges.craft.language.records import claims_of

    read = refused = 0
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            found = claims_of(json.loads(line))
        except (CotraceError, ValueError, RecursionError) as error:
            say(f"{file.name}, line {number}: {' '.join(str(error).split())}")
            refused += 1
            continue
        click.echo(json.dumps(found, ensure_ascii=False))
        read += 1
    say(f"{read} messages read, {refused} lines refused")
    return 1 if refused else 0
