"""One small sound log of every format and family: cotrace's own, played here, and the published ones where they lie beside the project."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from games.coordination.courses.agent import CoordinationGame
from games.einstein.game import GameSettings
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest as PlayAsympuzl
from tests.ingest.asympuzl.asympuzl_logs import play as play_asympuzl
from tests.ingest.coordination.coordination_logs import PlayRequest as PlayCoordination
from tests.ingest.coordination.coordination_logs import play as play_coordination
from tests.ingest.craft.craft_logs import published as published_craft
from tests.ingest.overcooked.overcooked_logs import PlayRequest as PlayOvercooked
from tests.ingest.overcooked.overcooked_logs import play as play_overcooked
from tests.places import SHARED
from tests.scripted import CraftRequest as PlayCraft
from tests.scripted import EinsteinRequest as PlayEinstein
from tests.scripted import play as play_craft
from tests.scripted import play as play_einstein

ReadAs = Literal["log", "labels", "mapping"]
"""What reads it: `cotrace ingest`, `cotrace labels import`, or `cotrace ingest --map` by it what lies beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A sound log, with the files that it is read with."""

    name: str
    """Says the family and whose log it is, such as `craft, own log`."""

    family: str
    path: str
    """Of the log, relative to the specimen's folder; the folders on it are part of what some formats say."""

    data: bytes
    beside: Mapping[str, bytes] = field(default_factory=dict)
    """Files that the log is read with: relative path -> bytes."""

    above: Mapping[str, bytes] = field(default_factory=dict)
    """The same, of files that may lie in any folder above."""

    mapping: str = ""
    """The mapping file that the log is read by; empty: by none."""

    read_as: ReadAs = "log"

    def write(self, folder: Path, data: bytes | None = None) -> Path:
        """Write the log, or other bytes in its place, and the files beside it into a folder; gives the log's path."""
        for path, content in {**self.beside, self.path: self.data if data is None else data}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return folder / self.path


_PLAYS: Final[Mapping[str, tuple[str, Callable[[Path], object]]]] = {
    "craft, own log": (
        "craft",
        lambda out: play_craft(
            PlayCraft(out=out, personas=("over_remover+vague+clear",), builders=("literal",), structures=1, turns=8, processes=1)
        ),
    ),
    "einstein, own log": ("einstein", lambda out: play_einstein(PlayEinstein(out=out, personas=("misreader",), games=1, num_objects=(4,)))),
    "einstein, own log, with verifier": (
        "einstein",
        lambda out: play_einstein(PlayEinstein(out=out, games=1, num_objects=(4,), conditions=(GameSettings(verifier="reasoning"),))),
    ),
    "asympuzl, own log": (
        "asympuzl",
        lambda out: play_asympuzl(PlayAsympuzl(out=out, personas=("overcorrecting",), sizes=(4,), seeds=(0,), max_turns=4)),
    ),
    "overcooked, own log": (
        "overcooked",
        lambda out: play_overcooked(PlayOvercooked(out=out, orders=("boiled_egg",), policies=("slow",))),
    ),
    "coordination, kitchen, own log": ("coordination", lambda out: _coordination(out, "overcooked", ("cramped_room",))),
    "coordination, capture, own log": ("coordination", lambda out: _coordination(out, "collab_capture", ("closed_closed",))),
    "coordination, escape, own log": ("coordination", lambda out: _coordination(out, "collab_escape", ())),
}
"""Name -> family, and what plays the game into a folder."""

_KITCHEN_TICKS: Final = 60


def _coordination(out: Path, game: CoordinationGame, variants: tuple[str, ...]) -> object:
    return play_coordination(PlayCoordination(game=game, out=out, variants=variants, seeds=(1,), ticks=_KITCHEN_TICKS))


def own_specimens() -> Iterator[Specimen]:
    """Games that cotrace plays itself, and a CRAFT game in the published layout."""
    for name, (family, play) in _PLAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            play(Path(folder))
            log = _shortest(Path(folder))
            yield Specimen(name=name, family=family, path=str(log.relative_to(folder)), data=log.read_bytes())
    yield Specimen(
        name="craft, published layout",
        family="craft",
        path="oracle5_no_tools_run3/m_m/craft_structure_001_3.json",
        data=json.dumps(published_craft()).encode(),
    )


def _shortest(folder: Path) -> Path:
    """The shortest of the logs that hold a game of some length: a game of one turn has few fields."""
    logs = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: (path.stat().st_size, path))
    return logs[len(logs) // 3]


class _Published(NamedTuple):
    family: str
    folder: str
    pattern: str
    """Of the logs; the shortest is taken."""

    lines: int | None = None
    """How many lines to keep of a long one; None: all."""

    beside: str = ""
    """Pattern of the files without which it cannot be read whole."""

    above: str = ""
    """The same, of a file that may lie in any folder above."""


_SHARED: Final[Mapping[str, _Published]] = {
    "craft, published log": _Published("craft", "craft/craft_results/local", "*/*/craft_structure_001_3.json"),
    "craft, published engine": _Published("craft", "craft/engine_games", "edge_scripted-builder/craft_structure_0*.json"),
    "einstein, published dialog": _Published("einstein", "einstein", "nocot_provide_seek_raw/json/dialog_*.json", beside="manifest.csv"),
    "einstein, published dialog, with verifier": _Published(
        "einstein", "einstein", "cot_provide_reasoning/json/dialog_*.json", beside="manifest.csv"
    ),
    "overcooked, published log": _Published("overcooked", "overcooked/runs", "*/boiled_egg/experiment_*.json"),
    "coordination, hanabi, step log": _Published("coordination", "coordination", "hanabi/hanabi_steps.jsonl", 24),
    "coordination, kitchen, step log": _Published("coordination", "coordination", "overcooked/overcooked_steps.jsonl", 60),
    "coordination, capture, step log": _Published("coordination", "coordination", "collab_games/collab_capture_steps.jsonl", 20),
    "coordination, escape, step log": _Published("coordination", "coordination", "collab_games/collab_escape_steps.jsonl", 20),
    "coordination, capture, console": _Published("coordination", "coordination", "collab_games/native/collab_capture_*console.txt"),
    "coordination, escape, state file": _Published("coordination", "coordination", "collab_games/native/collab_escape_*_game_state.txt"),
    "coordination, hanabi, players' files": _Published(
        "coordination", "coordination/hanabi/native/hint_vs_bomber_s212", "Alice_*.csv", beside="Bob_*.csv"
    ),
    "coordination, kitchen, player's file": _Published("coordination", "coordination/overcooked/native", "*/*_player_0_*.csv"),
    "coordination, questions, published answers": _Published(
        "coordination", "coordination", "coordqa/native_logs/all_openai_*.json", above="single_turn_trials.csv"
    ),
    "coordination, questions, lines": _Published(
        "coordination", "coordination", "coordqa/coordqa_trials.jsonl", 40, above="single_turn_trials.csv"
    ),
}


def shared_specimens() -> Iterator[Specimen]:
    """The published logs; none where they do not lie beside the project."""
    for name, log in _SHARED.items():
        root = SHARED / "data" / log.folder
        found = sorted(root.glob(log.pattern), key=lambda path: (path.stat().st_size, path))
        if not found:
            continue
        data = found[0].read_bytes()
        yield Specimen(
            name=name,
            family=log.family,
            path=str(found[0].relative_to(root)),
            data=data if log.lines is None else b"".join(data.splitlines(keepends=True)[: log.lines]),
            beside=_read(root, log.beside),
            above=_read(root, log.above),
        )


def _read(root: Path, pattern: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root.glob(pattern) if pattern else ())}


def all_specimens() -> list[Specimen]:
    """Own and published ones."""
    return [*own_specimens(), *shared_specimens()]
