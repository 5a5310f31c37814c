"""How far effects name planted faults: games with exactly one faulty player are played on with and without each agent's part of a turn.

`python -m research effects` plays games of every family, takes the turn of each for which agents are blamed most, and prints the table of
docs/effects.md; `--write` puts it there. `--games N` plays N games a family instead of 60, `--repeats N` each arm N times instead of 5, and
`--check N` N times more (20), which show whether the sign of the first ones is right. It takes some fifteen minutes on two free cores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

from analytics.installation import ensure_installed
from analytics.losses.accuracy import planted_faults
from analytics.losses.effects import Effect, effects_report
from analytics.statistics.intervals import wilson
from benchmarks.marked import written
from cotrace.effects import EffectRequest, measured
from games.players.running import RunTerms
from ingest.files.run import ingest_paths
from providers.provider import ModelSettings
from schemas.families import modules, title_of
from schemas.store.store import Store

PAGE: Final = Path("docs/effects.md")
MARK: Final = "planted effects"
_HEADS: Final = (
    "family",
    "games",
    "with an effect",
    "faulty player named",
    "sign right",
    "a gain",
    "price names it",
    "blamed, no effect shown",
)


def measured_games(family: ModuleType, folder: Path, options: argparse.Namespace) -> tuple[list[Effect], list[Effect], dict[str, str]]:
    """The effects in games with one planted fault each, the same from other repeats, and the faulty agent of each game."""
    family.play_planted(folder / "planted", options.games, options.seed)
    store = Store(folder / "planted.duckdb")
    ingest_paths([folder / "planted"], store)
    ensure_installed(store)
    found = []
    for repeats, skipped in ((options.repeats + options.check, options.repeats), (options.repeats, 0)):
        request = EffectRequest("true", None, (), "ideal", repeats, None, joint=False, skipped=skipped)
        found.append(measured(store, request, folder / "arms", lambda: RunTerms(settings=ModelSettings(model="none/none")), lambda _: None))
    return found[1], found[0], {episode: fault.agent for episode, (_, fault) in planted_faults(store).items()}


def row(effects: Sequence[Effect], others: Sequence[Effect], planted: dict[str, str]) -> Iterator[str]:
    """The cells of a family, behind its title."""
    games: dict[str, list[Effect]] = {}
    for one in effects:
        games.setdefault(one.episode_id, []).append(one)
    again = {(one.episode_id, one.agent): one.effect for one in others}
    shown = [max(own, key=lambda one: abs(one.effect) * abs(one.sign)) for own in games.values() if any(one.sign for one in own)]
    yield from (str(len(games)), str(len(shown)))
    yield _share([one.agent == planted[one.episode_id] for one in shown])
    yield _share([one.sign * again[one.episode_id, one.agent] > 0 for one in shown])
    yield _share([one.sign > 0 for one in shown])
    (whole,) = effects_report(effects).filter(link="ALL").to_dicts()
    for name in ("blamed_is_largest", "no_effect"):
        hits, n = round((whole[name] or 0) * whole[f"{name}_n"]), whole[f"{name}_n"]
        yield _share([True] * hits + [False] * (n - hits))


def _share(right: Sequence[bool]) -> str:
    hits, n = sum(right), len(right)
    ends = wilson(hits, n) if n else None
    return "–" if ends is None else f"{100 * hits / n:.0f} % of {n} [{100 * ends.low:.0f}, {100 * ends.high:.0f}]"


def main(arguments: Sequence[str]) -> int:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(prog="python -m research effects", description=__doc__)
    parser.add_argument("--games", type=int, default=60, help="games with a planted fault of each family")
    parser.add_argument("--seed", type=int, default=2026, help="of those games")
    parser.add_argument("--repeats", type=int, default=5, help="of each arm")
    parser.add_argument("--check", type=int, default=20, help="further repeats that say which sign is right")
    parser.add_argument("--family", action="append", help="only this one")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE}")
    options = parser.parse_args(arguments)
    lines = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    with tempfile.TemporaryDirectory() as folder:
        for name, family in modules("games", "planted"):
            if not options.family or name in options.family:
                cells = row(*measured_games(family, Path(folder) / name, options))
                lines.append(f"| {title_of(name)} | {' | '.join(cells)} |")
                sys.stderr.write(f"{lines[-1]}\n")
    text = "\n".join(lines)
    if options.write:
        written(PAGE, MARK, text)
    else:
        sys.stdout.write(f"{text}\n")
    return 0
