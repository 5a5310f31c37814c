"""Games with a planted fault in which attribution does not name the faulty player: what they lost, and whether the fault was in it.

`python -m research unfound FAMILY ...` plays the games of `research.attribution` of these families and prints the table of
docs/dev/attribution.md, "What the other games are"; `--games N` and `--seed S` as there.
It takes about half a minute a family on a free core.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from analytics.losses.accuracy import costs_by_turn, planted_faults, turns_at_work
from analytics.query import query
from games.players.planted import with_faults
from research.attribution import Played, planted_games
from schemas.families import title_of

_NOTHING: Final = 1e-9
_HEADS: Final = (
    "family",
    "with a cost",
    "not found",
    "another agent has most",
    "nobody charged; the fault never worked",
    "worked in costless turns only",
    "worked in a costly turn",
    "the log does not tell",
    "nobody's, through",
    "lost a game",
    "their twins",
)


def unfound(played: Played, family: str) -> Iterator[str]:
    """The cells of a family's row."""
    store, costs = played.store, costs_by_turn(played.store)
    faults = planted_faults(store)
    working = turns_at_work(store, faults)
    charged: dict[str, Counter[str]] = {}
    links: dict[str, Counter[str]] = {}
    for episode, agent, link, cost in query(store, "SELECT episode_id, agent, link, cost FROM attributions WHERE cost > 0").rows():
        (links if agent is None else charged).setdefault(episode, Counter())[link if agent is None else agent] += cost
    lost = {episode: loss for episode in faults if (loss := sum(costs.get(episode, {}).values())) > _NOTHING}
    rest = [episode for episode in lost if not _is_found(charged.get(episode), faults[episode][1].agent)]
    kinds = Counter(_kind(charged.get(e), working.get(e, set()), costs.get(e, {}), told=bool(working)) for e in rest)
    through = sum((links.get(episode, Counter()) for episode in rest), Counter[str]())
    yield from (title_of(family), str(len(lost)), str(len(rest)))
    yield from (str(kinds[kind]) for kind in ("another", "never", "costless", "costly", "unreported"))
    yield ", ".join(f"{link} {share / through.total():.0%}".replace("%", " %") for link, share in through.most_common(3))
    yield from (f"{sum(found[episode] for episode in rest) / max(len(rest), 1):.3g}" for found in (lost, played.twins))


def _is_found(charged: Counter[str] | None, planted: str) -> bool:
    return bool(charged) and charged is not None and max(charged, key=lambda agent: charged[agent]) == planted


def _kind(charged: Counter[str] | None, working: set[int], costs: dict[int, float], *, told: bool) -> str:
    if charged:
        return "another"
    if not told:
        return "unreported"
    if not working:
        return "never"
    return "costly" if any(costs.get(turn, 0.0) > _NOTHING for turn in working) else "costless"


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m research unfound", description=__doc__)
    known = with_faults()
    parser.add_argument("families", nargs="*", choices=[[], *known], help="none: all")
    parser.add_argument("--games", type=int, default=120, help="games with a planted fault of each family")
    parser.add_argument("--seed", type=int, default=2026, help="of those games")
    options = parser.parse_args(arguments)
    sys.stdout.write(f"| {' | '.join(_HEADS)} |\n|{'---|' * len(_HEADS)}\n")
    with tempfile.TemporaryDirectory() as folder:
        for family in options.families or known:
            played = planted_games(known[family], Path(folder) / family, options.games, options.seed)
            sys.stdout.write(f"| {' | '.join(unfound(played, family))} |\n")
            sys.stdout.flush()
    return 0
