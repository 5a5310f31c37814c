"""`python -m benchmarks [NAME ...]`: runs all benchmarks, or those named, and prints their figures."""

import argparse
import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.figures import Figure, markdown, table

__all__ = ["main"]

NAMES: Final = (
    "ingest",
    "replay",
    "values",
    "pages",
    "browser",
    "changed",
    "users",
    "growth",
    "engines",
    "kitchens",
    "judge_run",
    "play",
    "scale",
)
"""Modules of this folder, each what a user does; `run() -> list[Figure]`, or `main()` where it prints its figures itself."""

_SIZED: Final = ("browser", "changed")
_REAL: Final = "real"
"""Not one of them: `python -m research real`, whose numbers have no base. It is found under this name too."""

_PAGE: Final = "docs/dev/benchmarks.md"
_SECTION: Final = "\n\n## "
_PREFACE: Final = """# Benchmarks

Written by `python -m benchmarks --write`; `make bench` prints the same, `python -m benchmarks ingest` runs one benchmark. Every figure is a
ratio to a base that was measured in the same run, on the same machine, in turns with it: medians over a few rounds. Times by themselves
say little: other machines give others, and so does this one when others work on it. The load average before each benchmark stands below
it; above the number of cores, what works in parallel, such as ingest, is held back more than its base. A goal that was not met says
**no**."""


class Result(NamedTuple):
    """What came of one benchmark."""

    name: str
    about: str
    """The module's own account of what it measures."""
    figures: list[Figure]
    lines: str
    """What it printed itself."""
    machine: str
    """On what, and how busy that was before."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks; 0, whether or not goals are met: figures are for reading, tests are for failing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Every figure is a ratio to a base measured in the same run.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"which to run: {', '.join(NAMES)}; all by default; {_REAL} is `python -m research {_REAL}`",
    )
    parser.add_argument("--write", action="store_true", help=f"put the figures into {_PAGE}, each benchmark as soon as it is through")
    parser.add_argument("--turns", type=int, action="append", help="size of the store of `browser` and `changed`; may be given again")
    parser.add_argument("--store", type=Path, help="a store that is there, for `changed`; some games come into it")
    asked = parser.parse_args(arguments)
    if asked.names == [_REAL]:
        code: int = import_module("research.real").main(["--write"] if asked.write else [])
        return code
    unknown = sorted(set(asked.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}: there are {', '.join(NAMES)}")
    for name in asked.names or NAMES:
        given = {"sizes": asked.turns} if asked.turns and name in _SIZED else {}
        result = _run(name, given | ({"store": asked.store} if name == "changed" else {}))
        if asked.write:
            _write(Path(_PAGE), result)
    return 0


def _run(name: str, given: Mapping[str, object]) -> Result:
    module = import_module(f"benchmarks.{name}")
    about = (module.__doc__ or "").strip()
    print(f"\n{about.splitlines()[0]}\n", flush=True)
    machine, began = _machine(), time.perf_counter()
    figures: list[Figure] = module.run(**given) if "run" in module.__all__ else []
    result = Result(name, about, figures, "" if figures else _printed(module.main), machine)
    print(table(figures) if figures else result.lines.rstrip())
    print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    return result


def _printed(action: Callable[[], object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        action()
    return printed.getvalue()


def _write(page: Path, result: Result) -> None:
    """Put one benchmark's section into the page in place of its older one; the others stay."""
    _, *old = page.read_text(encoding="utf-8").split(_SECTION) if page.exists() else [""]
    sections = {text.partition("\n")[0]: text.strip() for text in old}
    shown = markdown(result.figures) if result.figures else f"```text\n{result.lines.rstrip()}\n```"
    title = _title(result.name)
    sections[title] = f"{title}\n\n{result.about}\n\n{shown}\n\n({result.machine})"
    ordered = [sections[_title(name)] for name in NAMES if _title(name) in sections]
    page.write_text(_SECTION.join([_PREFACE, *ordered]) + "\n", encoding="utf-8")


def _title(name: str) -> str:
    return name.replace("_", " ")


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory, Python {python}, load average {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
