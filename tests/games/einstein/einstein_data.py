"""The published Einstein games and reference rows, as the engine's tests read them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from games.einstein.dialog import Dialog, read_dialog
from games.einstein.engine.table import Setting
from games.einstein.replay import Step, Verifier, replay

Row = dict[str, str]
"""A row of a CSV file."""


@dataclass(frozen=True)
class PublishedGame:
    """One dialog file, replayed."""

    run: str
    manifest: Row
    log: dict[str, Any]
    dialog: Dialog
    steps: list[Step]

    @property
    def setting(self) -> Setting:
        """What the game was replayed by."""
        return self.dialog.setting

    @property
    def file_id(self) -> str:
        """The game's key inside its run."""
        return str(self.log["file_id"])

    @property
    def verifier(self) -> Verifier | None:
        """The verifier of the run by the manifest."""
        return verifier_of(self.manifest)


def verifier_of(manifest: Row) -> Verifier | None:
    """Give the verifier that a manifest row names."""
    name = manifest["verifier"].removesuffix("_verifier")
    return None if name == "none" else cast("Verifier", name)


def replay_dialog(dialog: Dialog, verifier: Verifier | None = None) -> list[Step]:
    """Recompute every step; with a verifier known from elsewhere the costs are recomputed too, else they are taken from the file."""
    return list(replay(dialog.setting, dialog.samples, verifier))


def published_games(shared: Path) -> Iterator[PublishedGame]:
    """Yield every published game, replayed under the published rules with what the manifest says."""
    folder = shared / "data" / "einstein"
    manifests = {row["run"]: row for row in rows(folder / "manifest.csv")}
    for path in sorted(folder.glob("*/json/dialog_*.json")):
        run = path.parts[-3]
        manifest = manifests[run]
        log = json.loads(path.read_text(encoding="utf-8"))
        dialog = read_dialog(log)
        yield PublishedGame(run, manifest, log, dialog, replay_dialog(dialog, verifier_of(manifest)))


def reference(shared: Path, name: str) -> list[Row]:
    """Give the rows of one reference file."""
    return rows(shared / "reference" / name)


def rows(path: Path) -> list[Row]:
    """Read a CSV file."""
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def cell(value: object) -> str:
    """Write a value as the reference files do: six decimals, 1 and 0 for yes and no, empty for none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:.6f}" if isinstance(value, float) else str(value)
