"""Tables of docs/dev/research.md."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from benchmarks.marked import written

_PAGE: Final = Path("docs/dev/research.md")


def put(name: str, lines: Iterable[str], arguments: Sequence[str]) -> int:
    """Print lines as they come; with `--write` among the arguments, replace the page's section of that name."""
    parser = argparse.ArgumentParser(prog=f"python -m research {name}")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {_PAGE}, too")
    write = parser.parse_args(arguments).write
    printed = []
    for line in lines:
        sys.stdout.write(f"{line}\n")
        printed.append(line)
    if write:
        written(_PAGE, name, "\n".join(["```text", *printed, "```"]))
    return 0
