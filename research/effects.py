"""How far effects name planted faults: games with faulty players are played on with and without each agent's part of a turn.

`python -m research effects --games N` plays N games of every family, takes the turn of each for which agents are blamed most, and puts what
it counts into planted_effects.csv, a row a family, world and seed; other seeds add to it. Without `--games` it shows the tables of
docs/dev/planted_effects.md from that file. Worlds: one player is faulty and the others play as well as they can; or all players are faulty,
and the turn is the one for which they are blamed most, or (small) least.
"""

import argparse
import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from analytics.installation import ensure_installed
from analytics.losses.accuracy import planted_faults
from analytics.losses.effects import Effect
from analytics.statistics.intervals import wilson
from benchmarks.marked import written
from cotrace.effects import EffectRequest, measured
from games.players.planted import with_faults
from games.players.running import RunTerms
from ingest.files.run import ingest_paths
from providers.provider import ModelSettings
from schemas.common.errors import UsageError
from schemas.common.text import in_sql
from schemas.families import title_of
from schemas.store.store import Store

PAGE: Final = Path("docs/dev/planted_effects.md")
RESULTS: Final = Path(__file__).parent / "planted_effects.csv"
WORLDS: Final[Mapping[str, str]] = {"one": "planted effects", "all": "effects where all are faulty", "small": "small effects"}
"""Which players are faulty -> the name of its table in the page."""
_KEYS: Final = ("family", "world", "seed")
_SHARES: Final[Mapping[str, tuple[str, str]]] = {
    "with an effect": ("shown", "games"),
    "named": ("named", "shown"),
    "named, a near second": ("named_near", "near"),
    "sign right": ("sign", "shown"),
    "a gain": ("gain", "shown"),
    "price names it": ("price", "priced"),
    "blamed, none shown": ("unshown", "blamed"),
}
"""Head of a column -> the count, and of how many."""
COUNTS: Final = tuple(dict.fromkeys(name for pair in _SHARES.values() for name in (pair[1], pair[0])))
_NEAR: Final = 0.5


class Measured(NamedTuple):
    """The effects of one world's games."""

    effects: Sequence[Effect]
    again: Sequence[Effect]
    """By other repeats, of games in which some effect is shown."""
    faulty: Mapping[str, str]
    """Game -> its faulty agent, where it has one alone."""


def measured_games(family: ModuleType, folder: Path, options: argparse.Namespace) -> Measured:
    """Play games and their arms."""
    family.play_planted(folder / "planted", options.games, options.seed, all_faulty=options.world != "one")
    store = Store(folder / "planted.duckdb")
    ingest_paths([folder / "planted"], store, receipts=False)
    ensure_installed(store)
    terms = RunTerms(settings=ModelSettings(model="none/none"))
    arms = partial(measured, store, folder=folder / "arms", terms=lambda: terms, say=lambda _: None)
    first = EffectRequest("true", None, (), "ideal", options.repeats, None, joint=False, cheapest=options.world == "small")
    try:
        effects = arms(first)
    except UsageError:  # no turn lost anything
        effects = []
    shown = ", ".join(sorted({in_sql(one.episode_id) for one in effects if one.sign}))
    more = first._replace(where=f"episode_id IN ({shown})", repeats=options.repeats + options.check, skipped=options.repeats)
    return Measured(effects, arms(more) if shown else [], {episode: fault.agent for episode, (_, fault) in planted_faults(store).items()})


def counted(found: Measured) -> Counter[str]:
    """Name -> count, as `COUNTS`.

    `games` in which a turn is blamed on somebody; `shown`: some agent's interval leaves 0 out. Of those, `named`: the agent with the
    largest shown effect is the faulty one, or where all are faulty the one with the largest effect by the further repeats; `near`: another
    agent's effect is at least half of the largest by those; `sign`: they have the same sign. `priced`: somebody was blamed; `price`: that
    agent has the largest effect. `blamed` agents, `unshown`: those without a shown effect.
    """
    games: dict[str, list[Effect]] = {}
    for one in found.effects:
        games.setdefault(one.episode_id, []).append(one)
    again: dict[str, dict[str, float]] = {}
    for one in found.again:
        again.setdefault(one.episode_id, {})[one.agent] = one.effect
    counts: Counter[str] = Counter(games=len(games))
    for episode, agents in games.items():
        blamed = [one for one in agents if one.price > 0]
        counts.update(blamed=len(blamed), unshown=sum(not one.sign for one in blamed))
        if not any(one.sign for one in agents):
            continue
        best = max(agents, key=lambda one: abs(one.effect) * abs(one.sign))
        truth = again[episode]
        sizes = sorted(map(abs, truth.values()), reverse=True)
        due = found.faulty.get(episode) or max(truth, key=lambda agent: abs(truth[agent]))
        near = len(sizes) > 1 and sizes[1] >= _NEAR * sizes[0] > 0
        counts.update(shown=1, named=best.agent == due, near=near, named_near=near and best.agent == due)
        counts.update(sign=best.sign * truth[best.agent] > 0, gain=best.sign > 0, priced=bool(blamed))
        counts.update(price=bool(blamed) and max(agents, key=lambda one: one.price).agent == max(agents, key=lambda one: one.effect).agent)
    return counts


def stored(key: Sequence[str], counts: Mapping[str, int]) -> None:
    """Put a row into the results, in place of one with the same key."""
    rows = {tuple(row[name] for name in _KEYS): row for row in results()}
    rows[*key] = dict(zip(_KEYS, key, strict=True)) | {name: str(counts[name]) for name in COUNTS}
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, (*_KEYS, *COUNTS), lineterminator="\n")
        table.writeheader()
        table.writerows(rows[one] for one in sorted(rows))


def results() -> list[dict[str, str]]:
    """The rows of the file."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(world: str) -> str:
    """The table of a world: a row a family, seeds added up, and one of all."""
    sums: dict[str, Counter[str]] = {"all": Counter()}
    for row in results():
        if row["world"] == world:
            for family in (title_of(row["family"]), "all"):
                sums.setdefault(family, Counter()).update({name: int(row[name]) for name in COUNTS})
    heads = [head for head, (_, of) in _SHARES.items() if sums["all"][of]]
    lines = [f"| family | games | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 2)}"]
    for family in sorted(sums, key=lambda family: (family == "all", family)):
        counts = sums[family]
        lines.append(f"| {family} | {counts['games']} | {' | '.join(_cells(counts, heads))} |")
    return "\n".join(lines)


def _cells(counts: Counter[str], heads: Sequence[str]) -> Iterator[str]:
    for head in heads:
        hits, n = (counts[name] for name in _SHARES[head])
        ends = wilson(hits, n) if n else None
        yield "–" if ends is None else f"{100 * hits / n:.0f} % of {n} [{100 * ends.low:.0f}, {100 * ends.high:.0f}]"


def main(arguments: Sequence[str]) -> int:
    """Measure, and print or write the tables."""
    parser = argparse.ArgumentParser(prog="python -m research effects", description=__doc__)
    parser.add_argument("--games", type=int, help="games of each family that are played; without: what was counted is shown")
    parser.add_argument("--world", choices=WORLDS, default="one", help="who is faulty")
    parser.add_argument("--seed", type=int, default=2026, help="of those games")
    parser.add_argument("--repeats", type=int, default=5, help="of each arm")
    parser.add_argument("--check", type=int, default=15, help="further repeats, of games with an effect")
    parser.add_argument("--family", action="append", help="only this one")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE}")
    options = parser.parse_args(arguments)
    for name, family in with_faults().items() if options.games else ():
        if not options.family or name in options.family:
            with tempfile.TemporaryDirectory() as folder:
                stored((name, options.world, str(options.seed)), counted(measured_games(family, Path(folder), options)))
    for world, mark in WORLDS.items():
        if options.write:
            written(PAGE, mark, table(world))
        else:
            sys.stdout.write(f"{mark}\n\n{table(world)}\n\n")
    return 0
