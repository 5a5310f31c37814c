"""How often reports claim a difference where there is none: stores of equal teams in several worlds, read by the reports themselves.

`python -m research null --stores N` draws stores in which nothing differs and nothing goes together, until research/null.csv has N of each
world, and prints the tables of that file; each part is appended when it is done, so that it can be stopped and goes on. It asks the code of
`cotrace report all` for every statement that has a p-value (`analytics.ledger`), and for headlines. A store is one benchmark among those of
a file that is read at once: reports, corrections of p and headlines are by benchmark.

Teams are equal on each task; tasks differ in score, and apart from that in how often an action is refused; messages, progress and actions
are drawn independently, but in one world a refusal follows a refusal: there transitions count by their rows of late turns. A statement is
false if its corrected p is below .05. `a report`: share of the stores in which at least one
sentence of that report is false, by the p-value that it prints, corrected for the report's own rows. `ledger`: the same of all statements
together, by `p_all`. An interval covers if it holds the true value. In `PLANTED` worlds something differs: the share of the stores in which
the report shows anything is its power.

Options: `--stores N` a world (default: what there is), `--world NAME` only this one, `--only REPORT` further stores for
this report alone, `--write` the tables into docs/dev/research.md.
"""

import argparse
import csv
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.comparison.compare import behind
from analytics.courses import LATE
from analytics.installation import ensure_installed
from analytics.ledger import statements
from analytics.reports import report
from analytics.statistics.few_games import all_kinds, held_of
from research import judged
from research.pages import put
from schemas.records import Action, Episode, Json, Run, Source, Turn, Utterance
from schemas.store import batches
from schemas.store.store import Store

Floats = NDArray[np.float64]
Rows = dict[str, list[tuple[object, ...]]]
_STARTED: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - stored without a zone
_TABLES: Final = ("sources", "runs", "episodes", "turns", "actions", "utterances")
_SURE: Final = 0.05
_LOW, _HIGH = 0.93, 0.97
CSV: Final = Path(__file__).with_suffix(".csv")
_QUANTILE: Final = 2.4
"""Of Student's t with six degrees of freedom: seven parts a world."""
AT_ONCE: Final = 10
"""Stores of a part: they lie in one file, since a query of ten takes hardly longer than of one."""
ALONE: Final = 1000
"""Number of the first part in which the first of `_ALONE` alone was asked for, of the second twice that, and so on."""
_REPORTS: Final = ("compare", "effects", "correlations", "mediation", "transitions", "survival")
_ALONE: Final = (*_REPORTS, "leaderboard", *judged.CLAIMED)
COUNTED: Final = (*_REPORTS, "headline", "ledger")


class World(NamedTuple):
    """Equal teams on tasks of unlike difficulty, but for what is planted."""

    teams: int = 6
    tasks: int = 12
    turns: int = 8
    shared: float = 1.0
    """Chance that a team has played a task."""
    ceiling: bool = False
    """Whether most scores are 1."""
    crashes: float = 0.0
    """Share of the games with a score of 0."""
    heavy: bool = False
    """Whether a few tasks decide: errors of a t distribution with two degrees of freedom."""
    refused: tuple[float, float] = (2.0, 6.0)
    """Beta distribution of the tasks' shares of refused actions."""
    deficit: float = 0.0
    """Planted: by how much the first team is worse."""
    refusals: float = 1.0
    """Planted: how many times as often the first team's actions are refused."""
    again: float = 0.0
    """Planted: by how much more likely an action is refused after a refused one."""
    slope: float = 0.0
    """Planted: by how much more often progress rises after the longest messages than after middling ones."""
    carried: float = 0.0
    """Planted: score that each word more in the mean message brings; the first team's messages are four words longer."""


WORLDS: Final[dict[str, World]] = {
    "plain": World(),
    "3 teams, unequal tasks": World(teams=3, shared=0.7),
    "15 teams, unequal tasks": World(teams=15, shared=0.7),
    "40 teams": World(teams=40, tasks=16, turns=4),
    "ceilings": World(ceiling=True),
    "crashes": World(crashes=0.1),
    "heavy tails": World(heavy=True),
    "refusals by task level": World(refused=(0.4, 0.6), turns=12),
    "refused again, +.3": World(again=0.3),
}
PLANTED: Final[dict[str, tuple[str, World]]] = {
    "one of 6 teams worse by .1": ("compare", World(deficit=0.1)),
    "one of 6 teams worse by .2": ("compare", World(deficit=0.2)),
    "one of 6 teams worse by .3": ("compare", World(deficit=0.3)),
    "one of 3 teams refused twice as often": ("survival", World(teams=3, tasks=24, refused=(2, 10), refusals=2)),
    "one of 3 teams refused four times as often": ("survival", World(teams=3, tasks=24, refused=(2, 10), refusals=4)),
    "refused in +.15 after a refused turn": ("transitions", World(again=0.15)),
    "refused in +.3 after a refused turn": ("transitions", World(again=0.3)),
    "progress in .3 to .5 of turns by length": ("effects", World(slope=0.1)),
    "progress in .2 to .6 of turns by length": ("effects", World(slope=0.2)),
    "the same, as a correlation": ("correlations", World(slope=0.2)),
    "4 words longer, .03 a word": ("mediation", World(teams=2, tasks=24, carried=0.03)),
}
"""What is planted -> the report that should show it, and the world."""


class Cell(NamedTuple):
    """What was counted in one world."""

    n: int
    hits: int
    reported: float | None
    """Least coverage that the report names."""
    error: float | None
    """Standard error of the share, between parts of ten stores."""


class Interval(NamedTuple):
    """A kind of 95 % interval of a report."""

    report: str
    low: str
    truth: str | float
    """A number, or a name of `truths`."""
    where: Mapping[str, str] = {}
    """Value of a column -> only these rows."""


INTERVALS: Final[dict[str, Interval]] = {
    "difference": Interval("compare", "low", 0),
    "bounded": Interval("compare", "bounded_low", 0),
    "effect": Interval("effects", "low", 0),
    "mixed": Interval("effects", "mixed_low", 0),
    "r pooled": Interval("correlations", "pearson_low", 0, {"kind": "pooled"}),
    "r within": Interval("correlations", "pearson_low", 0, {"kind": "within teams"}),
    "r between": Interval("correlations", "pearson_low", 0, {"kind": "between teams"}),
    "r partial": Interval("correlations", "pearson_low", 0, {"kind": "partial"}),
    "rho pooled": Interval("correlations", "spearman_low", 0, {"kind": "pooled"}),
    "rho within": Interval("correlations", "spearman_low", 0, {"kind": "within teams"}),
    "rho between": Interval("correlations", "spearman_low", 0, {"kind": "between teams"}),
    "rho partial": Interval("correlations", "spearman_low", 0, {"kind": "partial"}),
    "indirect": Interval("mediation", "low", 0),
    "transition": Interval("transitions", "difference_low", 0),
    "share after": Interval("transitions", "low", "refused again", {"after": "refused", "next": "refused"}),
    "hazard ratio": Interval("survival", "low", 1),
    "survival": Interval("survival-curves", "free_low", "free", {"event": "first refused action"}),
    "mean score": Interval("leaderboard", "score_low", "score"),
    "success": Interval("leaderboard", "success_low", "success"),
}

JUDGED_INTERVALS: Final[dict[str, Interval]] = {
    "rate": Interval("corrected-rates", "rate_low", 0.5),
    "judged slope": Interval("judged-effects", "low", 0),
    "judged correlation": Interval("judged-effects", "correlation_low", 0),
    "drift": Interval("drift", "low", 0),
    "self-preference": Interval("self-preference", "preference_low", 0),
}


def _scores(world: World, level: Floats, random: np.random.Generator) -> Floats:
    """One game on each task of these levels."""
    error = random.standard_t(2, len(level)) * 0.08 if world.heavy else random.normal(0, 0.15, len(level))
    score = np.clip(level + error, 0, 1)
    score = np.where(world.ceiling & (score > 0.8), 1.0, score)
    return np.where(random.random(len(level)) < world.crashes, 0.0, score)


def _levels(world: World, tasks: int, random: np.random.Generator) -> Floats:
    return random.beta(8, 1, tasks) if world.ceiling else random.beta(3, 3, tasks)


def truths(world: World) -> dict[str, Floats]:
    """Over all tasks that there could be: mean score, share of successes, of refusals after one, and of games free of any by turn."""
    random = np.random.default_rng(1)
    scores, refused = _scores(world, _levels(world, 400_000, random), random), random.beta(*world.refused, 400_000)
    free = np.array([((1 - refused) ** turn).mean() for turn in range(world.turns + 1)])
    again = (refused**2).mean() / refused.mean()
    return {"score": scores.mean(), "success": (scores > 0.5).mean(), "refused again": again, "free": free}


def fill(store: Store, world: World, random: np.random.Generator, boards: int = 1) -> None:
    """Put the games of a world in the place of those that are there, of so many boards: each a benchmark, `board0` and on."""
    rows: Rows = {name: [] for name in _TABLES}
    rows["sources"].append(source())
    for board in range(boards):
        _draw_board(rows, f"board{board}", world, random)
    checked = batches.to_arrow(rows)
    with store.writing() as connection:
        for name in _TABLES:
            connection.execute(f"DELETE FROM {name}")
        batches.insert(connection, checked)
    ensure_installed(store)


def source() -> Source:
    """Where drawn games come from, now: rows that were stored of others before are none of theirs."""
    return Source("drawn", "/drawn", "drawn", None, None, None, 0, 0, datetime.now(UTC).replace(tzinfo=None))


def _draw_board(rows: Rows, board: str, world: World, random: np.random.Generator) -> None:
    level = _levels(world, world.tasks, random)
    refused = random.beta(*world.refused, world.tasks)
    for team in range(world.teams):
        rows["runs"].append(Run(f"{board}.{team}", board, "c", Json("{}"), _STARTED))
        words = random.integers(3, 30, (world.tasks, world.turns)) + (4 if world.carried and team == 0 else 0)
        scores = _scores(world, level, random) - (world.deficit if team == 0 else 0) + world.carried * (words.mean(axis=1) - 16)
        for task in np.flatnonzero(random.random(world.tasks) < world.shared).tolist():
            chance = min(refused[task] * (world.refusals if team == 0 else 1), 1)
            game = _Game((board, team, task), float(np.clip(scores[task], 0, 1)), words[task], chance)
            _draw_game(rows, game, world, random)


class _Game(NamedTuple):
    """What a game is drawn by."""

    at: tuple[str, int, int]
    """Board, team, task."""
    score: float
    words: NDArray[np.int64]
    """Of the message of each turn."""
    refused: float
    """Chance that an action is refused."""


def _draw_game(rows: Rows, game: _Game, world: World, random: np.random.Generator) -> None:
    (board, team, task), score, words, refused = game
    name = f"{board}.{team}.{task}"
    players = Json(f'{{"director": "m{team}", "builder": "b"}}')
    rows["episodes"].append(
        Episode(name, f"{board}.{team}", "drawn", board, f"t{task}", None, f"m{team}", players, 1, 20, world.turns, score > 0.5, score,
                None, None, None, Json("{}"), f"{name}.json", _STARTED)
    )  # fmt: skip
    rises, accepted = random.random(world.turns) < 0.4 + world.slope * (words - 16) / 13, True
    for turn, progress in enumerate(np.cumsum(rises) / world.turns, start=1):
        state = Json(f'"{random.integers(6)}"')
        accepted = bool(random.random() >= refused + (0 if accepted else world.again))
        rows["turns"].append(
            Turn(name, turn, state, state, oracle_available=False, oracle_followed=None, progress=float(progress), goal_reached=False,
                 error=None, at=None)
        )  # fmt: skip
        rows["actions"].append(
            Action(name, turn, 1, "Builder", "place", Json("{}"), None, accepted, undoes=False, error_code=None if accepted else "E",
                   error_text=None)
        )  # fmt: skip
        message = " ".join(["word"] * int(words[turn - 1]))
        rows["utterances"].append(Utterance(name, turn, 1, "Director", "public", ["Director"], message, None, superseded=False))


def asked(store: Store, names: Sequence[str] = (*_REPORTS, "survival-curves", "leaderboard")) -> dict[str, pl.DataFrame]:
    """The reports that make statements about such stores, and those with other intervals."""
    with store.reading():
        return {name: report(store, name) for name in names}


def false_in(tables: Mapping[str, pl.DataFrame]) -> dict[str, bool]:
    """Report, `headline` or `ledger` -> whether something differs by the reports of one store."""
    rows = [row for row in statements(tables) if row["p"] is not None]
    false = {name: any(row["p_family"] < _SURE for row in rows if row["report"] == name) for name in _REPORTS}
    front = behind(tables["compare"].filter("paired").iter_rows(named=True)) if "compare" in tables else None
    return false | {"headline": front is not None, "ledger": any(row["shown"] for row in rows)}


def held_by(kind: Interval, rows: pl.DataFrame, true: Mapping[str, Floats]) -> tuple[int, int, float | None]:
    """Intervals that hold the truth, all of that kind, and the least coverage that the report itself names for them."""
    rows = (rows.filter(**kind.where) if kind.where else rows).drop_nulls(kind.low)
    truth = np.asarray(true[kind.truth] if isinstance(kind.truth, str) else kind.truth)
    truth = truth[rows["turn"].to_numpy()] if truth.ndim else np.full(len(rows), truth)
    low, high = (rows[name].to_numpy() for name in (kind.low, kind.low.replace("low", "high")))
    reported = rows["held_least"].min() if "held_least" in rows.columns else None
    return int(((low <= truth + 1e-9) & (truth <= high + 1e-9)).sum()), len(rows), reported  # type: ignore[return-value]


def _judged_part(name: str, number: int, store: Store, only: str | None) -> Iterator[tuple[str, int, str, int, int, float | None]]:
    world, claimed = judged.WORLDS[name], {only: judged.CLAIMED[only]} if only else judged.CLAIMED
    kinds = {f"interval: {counted}": kind for counted, kind in JUDGED_INTERVALS.items() if kind.report in claimed}
    counts = {counted: [0, 0] for counted in (*claimed, *kinds)}
    reported: dict[str, float | None] = {}
    for place in range(AT_ONCE):
        judged.fill(store, world, np.random.default_rng([2026, zlib.crc32(name.encode()), number, place]))
        ensure_installed(store)
        tables = asked(store, tuple(claimed))
        found = {counted: (1, int(is_false(tables[counted], world))) for counted, is_false in claimed.items()}
        for counted, kind in kinds.items():
            held, n, reported[counted] = held_by(kind, tables[kind.report], {})
            found[counted] = n, held
        for counted, (n, hits) in found.items():
            counts[counted][0] += n
            counts[counted][1] += hits
    yield from ((name, number, counted, n, hits, reported.get(counted)) for counted, (n, hits) in counts.items())


def part(name: str, number: int, store: Store, only: str | None = None) -> Iterator[tuple[str, int, str, int, int, float | None]]:
    """Rows of the CSV file: world, part, what is counted, of how many, how many; `only`: of this report alone."""
    if name in judged.WORLDS:
        yield from _judged_part(name, number, store, only)
        return
    world = WORLDS[name] if name in WORLDS else PLANTED[name][1]
    fill(store, world, np.random.default_rng([2026, zlib.crc32(name.encode()), number]), AT_ONCE)
    looked_at = only or (PLANTED[name][0] if name in PLANTED else None)
    tables = asked(store, [looked_at]) if looked_at else asked(store)
    if world.again and name in WORLDS and "transitions" in tables:  # what follows what is true there
        tables["transitions"] = tables["transitions"].filter(after=LATE)
    boards = [
        false_in({key: rows.filter(pl.col("benchmark") == f"board{board}") for key, rows in tables.items()}) for board in range(AT_ONCE)
    ]
    counts = tuple(name for name in COUNTED if name == only or (name == "headline" and only == "compare"))
    for counted in counts if only else COUNTED if name in WORLDS else PLANTED[name][:1]:
        yield name, number, counted, AT_ONCE, sum(board[counted] for board in boards), None
    true = truths(world) if name in WORLDS else {}
    kinds = {counted: kind for counted, kind in INTERVALS.items() if kind.report in tables and name in WORLDS}
    if world.again:
        kinds = {counted: kind for counted, kind in kinds.items() if kind.report not in ("transitions", "survival-curves")}
    for counted, kind in kinds.items():
        held, n, reported = held_by(kind, tables[kind.report], true)
        yield name, number, f"interval: {counted}", n, held, reported


def found() -> pl.DataFrame:
    """The file."""
    if not CSV.exists():
        return pl.DataFrame(
            schema={"world": pl.String, "part": pl.Int64, "counted": pl.String, "n": pl.Int64, "hits": pl.Int64, "reported": pl.Float64}
        )
    return pl.read_csv(CSV, schema_overrides={"reported": pl.Float64})


def extend(stores: int, worlds: Sequence[str], only: str | None = None) -> None:
    """Draw what is missing, and append each part; of one report alone, parts with numbers of their own."""
    there = found()
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "null.duckdb")
        store.create()
        first = ALONE * (1 + _ALONE.index(only)) if only else 0
        for number in range(first, first - (-stores // AT_ONCE)):
            for name in worlds:
                if there.filter(world=name, part=number).is_empty():
                    rows = list(part(name, number, store, only))
                    with CSV.open("a", newline="") as file:
                        writer = csv.writer(file, lineterminator="\n")
                        if file.tell() == 0:
                            writer.writerow(("world", "part", "counted", "n", "hits", "reported"))
                        writer.writerows(rows)


def lines() -> Iterator[str]:
    """Tables of false statements, coverage and power."""
    share = pl.col("hits") / pl.col("n")
    error = share.filter(pl.col("n") > 0).std() / (pl.col("n") > 0).sum().sqrt()
    rows = found().group_by("world", "counted").agg(pl.col("n", "hits").sum(), pl.col("reported").min(), error=error)
    cells = {(world, counted): Cell(*counts) for world, counted, *counts in rows.iter_rows()}
    if worlds := [name for name in WORLDS if (name, "ledger") in cells]:
        yield from _of_worlds(worlds, cells)
    if worlds := [name for name in judged.WORLDS if (name, "drift") in cells]:
        yield from _of_judges(worlds, cells)
    yield f"\n{'power':<46}{'report':>14}{'stores':>8}{'shown':>8}"
    for name, (of, _) in PLANTED.items():
        if (name, of) in cells:
            n, hits, *_ = cells[name, of]
            yield f"{name:<46}{of:>14}{n:>8}{hits / n:>8.3f}"


def _of_worlds(worlds: Sequence[str], cells: Mapping[tuple[str, str], Cell]) -> Iterator[str]:
    from scipy import stats

    total = {name: (sum(cells[world, name][0] for world in worlds), sum(cells[world, name][1] for world in worlds)) for name in COUNTED}
    drawn = f"{total['survival'][0]} stores in all, {total['ledger'][0]} for transitions and ledger"
    yield f"share of stores with a false statement, and its 95 % interval by Clopper and Pearson; {drawn}"
    yield f"{'':<26}{'stores':>7}" + "".join(f"{name:>14}" for name in COUNTED)
    for world in worlds:
        yield f"{world:<26}{cells[world, 'survival'][0]:>7}" + "".join(
            f"{cells[world, name][1] / cells[world, name][0]:>14.3f}" for name in COUNTED
        )
    yield f"{'all':<26}{total['survival'][0]:>7}" + "".join(f"{hits / n:>14.3f}" for n, hits in total.values())
    ends = [stats.binomtest(hits, n).proportion_ci() for n, hits in total.values()]
    yield f"{'':<33}" + "".join(f"{f'{end.low:.3f}-{end.high:.3f}':>14}" for end in ends)
    short = [name.partition(",")[0] for name in worlds]
    yield "\ncoverage of 95 % intervals; * outside .93 to .97, as the report states; if it does not: ! surely, ? perhaps by chance"
    yield f"{'':<14}" + "".join(f"{name:>24}" for name in short)
    for name, kind in INTERVALS.items():
        yield f"{name:<14}" + "".join(f"{_share(cells.get((world, f'interval: {name}')), kind):>24}" for world in worlds)


def _of_judges(worlds: Sequence[str], cells: Mapping[tuple[str, str], Cell]) -> Iterator[str]:
    yield "\nshare of stores in which a report about judges states what is false; coverage of its intervals"
    yield f"{'':<18}" + "".join(f"{name:>26}" for name in worlds)
    for counted in judged.CLAIMED:
        yield f"{counted:<18}" + "".join(
            f"{f'{cells[world, counted][1] / cells[world, counted][0]:.3f} of {cells[world, counted][0]} ':>26}" for world in worlds
        )
    for name, kind in JUDGED_INTERVALS.items():
        yield f"{name:<18}" + "".join(f"{_share(cells.get((world, f'interval: {name}')), kind):>26}" for world in worlds)


def _share(cell: Cell | None, kind: Interval) -> str:
    if cell is None or not cell.n:
        return "-"
    share, least = cell.hits / cell.n, min(_LOW, _LOW if cell.reported is None else cell.reported)
    beyond = max(least - share, 0.0 if _is_wide(kind) else share - _HIGH)
    is_sure = cell.error is not None and beyond > _QUANTILE * cell.error
    mark = ("!" if is_sure else "?") if beyond > 0 else "*" if not _LOW <= share <= _HIGH else " "
    return f"{share:.3f} of {cell.n}{mark}"


def _is_wide(kind: Interval) -> bool:
    """Whether the report states of such intervals that their coverage is above .97 in some scenes."""
    lines = [line for line in all_kinds() if (line.report, line.low) == (kind.report, kind.low)]
    return any(one.above for line in lines if kind.where.get(line.column, line.value) == line.value for one in held_of(line.method))


def main(arguments: Sequence[str]) -> int:
    """Draw what is asked for, and print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--stores", type=int, default=0)
    parser.add_argument("--world", action="append", choices=(*WORLDS, *judged.WORLDS, *PLANTED))
    parser.add_argument("--only", choices=_ALONE)
    chosen, left = parser.parse_known_args(arguments)
    if "--help" not in left:
        extend(chosen.stores, chosen.world or (*WORLDS, *judged.WORLDS, *PLANTED), chosen.only)
    return put("null", lines(), left)
