"""Whether the packages that Python finds are cotrace's own: their names are plain, and other distributions ship packages of the same."""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Final

PACKAGES: Final = ("schemas", "providers", "games", "ingest", "judges", "analytics", "dashboards")
MARKER: Final = 'PACKAGE_OF = "cotrace"'
"""A line of each package's `__init__.py`, which would be gone if another distribution's were written over it."""

_FIX: Final = "install cotrace into an environment of its own"


def check(version: str) -> None:
    """Stop where a package is not ours: with one line if this is the command, else with an ImportError.

    Raises:
        ImportError: another package was found.
        SystemExit: the same, in the command.
    """
    found = trouble(Path(__file__).resolve().parent.parent, version)
    if found is None:
        return
    if Path(sys.argv[0]).name in {"cotrace", "-m"}:
        sys.stderr.write(f"cotrace: {found}; {_FIX}\n")
        raise SystemExit(2)
    raise ImportError(f"{found}; {_FIX}")


def trouble(home: Path, version: str) -> str | None:
    """The first package that is not ours, or not ours alone, in words; None if all are."""
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        found = [Path(place).resolve() for place in (spec.submodule_search_locations or [])] if spec else []
        if home / name not in found:
            return f"cotrace needs its own package '{name}' ({home / name}) but Python finds {', '.join(map(str, found)) or 'none'}"
        if MARKER not in _start_of(home / name):
            return f"another distribution has put a package '{name}' in the place of cotrace's ({home / name})"
    record = home / f"cotrace-{version}.dist-info" / "RECORD"
    return _strange(home, record.read_text("utf-8")) if record.is_file() else None


def _start_of(name: Path) -> str:
    try:
        return (name / "__init__.py").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _strange(home: Path, record: str) -> str | None:
    """A file in a package of an installation and was not installed with it: another distribution's package that was there before."""
    ours = {tuple(line.partition(",")[0].split("/")[:2]) for line in record.splitlines()}
    for name in PACKAGES:
        for entry in os.scandir(home / name):
            if entry.name != "__pycache__" and (name, entry.name) not in ours:
                return f"another distribution has a package '{name}' too, and both lie in {home / name} ({entry.name} is not cotrace's)"
    return None
