"""`python -m research NAME [OPTIONS]`: simulations and measurements whose results are data, or figures of the docs."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

NAMES: Final = (
    "attribution",
    "claims",
    "coverage",
    "effects",
    "engine",
    "engine_figures",
    "label_stop",
    "methods",
    "null",
    "real",
    "statements",
    "unfound",
)
"""Modules of this folder with a `main(arguments)`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the one that is named; its own `--help` lists its options."""
    parser = argparse.ArgumentParser(prog="python -m research", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("options", nargs=argparse.REMAINDER, help="see `python -m research NAME --help`")
    asked = parser.parse_args(arguments)
    code: int = import_module(f"research.{asked.name}").main(asked.options)
    return code


if __name__ == "__main__":
    sys.exit(main())
