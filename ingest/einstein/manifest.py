"""What the logs of an Einstein run cannot say: `manifest.csv`, one row a run, in the run's folder or up to two folders above.

Format: formats/einstein.md, section 12. Columns that are not there, and runs that are not listed, are unknown, not guessed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Final

from games.einstein.game import NO_VERIFIER
from games.einstein.text.verifiers import VERIFIERS
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["Manifest", "manifest_file", "manifest_of", "run_name"]

_NAME: Final = "manifest.csv"
_DIALOG_FOLDER: Final = "json"
_MOST_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One run's row."""

    verifier: str | None = None
    """``none``, ``affordance``, ``communication`` or ``reasoning``; None if it is not known."""

    step_limit: int | None = None
    model: str | None = None
    players: tuple[str | None, str | None] = (None, None)
    """Names of the two players (`policy_p1`, `policy_p2`)."""

    row: Mapping[str, str] = field(default_factory=dict)
    """The row as it stands; empty if there is none."""


def run_name(path: str) -> str:
    """The run that a dialog file belongs to: its folder, or the one above if that is called ``json``."""
    folder = PurePath(path).parent
    return folder.parent.name if folder.name == _DIALOG_FOLDER else folder.name


def manifest_of(path: str) -> Manifest:
    """What a manifest says of the run that a dialog file belongs to; nothing known where there is no manifest.

    Raises:
        BadInputError: the nearest manifest cannot be read, or has an impossible value in the run's row.
    """
    name, found = run_name(path), manifest_file(Path(path))
    return Manifest() if found is None else _typed(_rows(str(found), found.stat().st_mtime_ns).get(name, {}), name)


def manifest_file(path: Path) -> Path | None:
    """The manifest that a dialog file is read with: the nearest; None where there is none."""
    return next((found for folder in list(path.parents)[:3] if (found := folder / _NAME).is_file()), None)


@lru_cache(maxsize=16)
def _rows(path: str, _changed_ns: int) -> Mapping[str, Mapping[str, str]]:
    """Run -> its row."""
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            raise BadInputError("too large for a manifest", locator=_NAME)
        with Path(path).open(newline="", encoding="utf-8-sig") as lines:
            return dict(_named(csv.DictReader(lines)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInputError(f"cannot be read ({excerpt(str(error))}): write it again as CSV in UTF-8", locator=_NAME) from error


def _named(rows: csv.DictReader[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    if "run" not in (rows.fieldnames or ()):
        raise BadInputError("has no column `run`: add it, one row a run folder", locator=_NAME)
    for row in rows:
        yield row["run"], {name: value for name, value in row.items() if isinstance(name, str) and isinstance(value, str)}


def _typed(row: Mapping[str, str], run: str) -> Manifest:
    where = f"{_NAME}, run {excerpt(run)}"
    verifier = row.get("verifier", "").removesuffix("_verifier") or None
    if verifier not in (None, NO_VERIFIER, *VERIFIERS):
        known = ", ".join((NO_VERIFIER, *VERIFIERS))
        raise BadInputError(f"verifier {excerpt(repr(verifier))} is none of {known}", locator=where)
    limit = row.get("step_limit", "")
    if limit and not (limit.isascii() and limit.isdecimal() and 0 < len(limit) <= 6 and int(limit) > 0):  # noqa: PLR2004 - no game is longer
        raise BadInputError(f"step_limit {excerpt(repr(limit))} is no count", locator=where)
    return Manifest(
        verifier=verifier,
        step_limit=int(limit) if limit else None,
        model=row.get("model") or None,
        players=(row.get("policy_p1") or None, row.get("policy_p2") or None),
        row=row,
    )
