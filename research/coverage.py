"""How often 95 % intervals hold the truth, on simulated games whose truth is known.

`python -m research coverage` prints the tables, `--write` puts them into docs/dev/coverage.md and what reports say of theirs,
`--only "hazard ratios"` or `--only "corrected rates"` (again and again) makes some sections alone, `--table` takes the page as it is into
the reports, `--data-sets N` draws N data sets a scene instead of 200. All takes about twenty minutes; tests run some
scenes with fixed seeds.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from analytics.agreement.pairs import Comparison, gwet_ac1, kappa, krippendorff_alpha, percent_agreement, rate_of_answer
from analytics.agreement.report import COEFFICIENTS, coefficients_with_intervals
from analytics.estimates.rates import (
    Corrected,
    Spread,
    difference_of_rates,
    judge_weight,
    labels_needed,
    prediction_powered,
    rogan_gladen,
    variance_parts,
)
from analytics.statistics.few_games import all_kinds
from analytics.statistics.intervals import cluster_sums
from research.held import METHODS as BY_NAME
from research.held import section
from research.simulation import ANSWERS, SCORES, Data, Floats, Judged, Rated, agreeing_raters, judged_games

_PAGE: Final = "docs/dev/coverage.md"
_TABLE: Final = "analytics/statistics/coverage.csv"
_SEED: Final = 2026
_LOW, _HIGH = 0.93, 0.97
_CORRECTED: Final = "corrected rates"
"""Their sections come of the same data sets."""
_TABLES = 200_000.0
"""Pairs in the table that stands for the population: large, since alpha corrects for a small number."""
_DRAWS = 200
_GAMES, _LABELS, _ICCS, _ACCURACIES = (5, 10, 30, 100), (30, 100, 300), (0.0, 0.1, 0.3), (0.55, 0.7, 0.85, 0.95, 0.99)
_MOST_LABELS: Final = 60
"""Labels a game, on average, above which games would be of no length that occurs."""


class Coverage(NamedTuple):
    """What came of one method in one scene."""

    share: float
    """Of the data sets with an interval, those whose interval holds the truth."""
    width: float
    """Mean width."""
    given: float
    """Share of the data sets that have an interval."""


METHODS: Final[dict[str, Callable[[Data, Judged], Corrected]]] = {
    "rate": lambda data, _: prediction_powered(data.units, data.labelled),
    "difference of two teams' rates": lambda data, world: _of_equal_teams(prediction_powered(data.units, data.labelled), world.rate),
    "rogan_gladen": lambda data, _: rogan_gladen(data.units, data.errors),
}


def _of_equal_teams(found: Corrected, rate: float) -> Corrected:
    """Differences between neighbouring data sets, whose teams have the same rate, plus that rate: it is the truth of these, too."""
    moved = difference_of_rates(found, Corrected(*(np.roll(part, 1) for part in found)))
    return Corrected(*(part + rate for part in moved))


def judged_scenes() -> Iterator[Judged]:
    """The full grid: 3,000 worlds."""
    grid = product(_GAMES, _LABELS, (False, True), _ICCS, (0.02, 0.1, 0.3, 0.5, 0.9), _ACCURACIES, (False, True), (0.0, 0.2))
    worlds = (world for world in map(Judged._make, grid) if world.labels > min(_LABELS) or not world.by_game)
    return (world for world in worlds if world.labels <= _MOST_LABELS * world.games)


def rate_coverage(world: Judged, data_sets: int, seed: int = _SEED) -> dict[str, Coverage]:
    """Of each method, by name."""
    data = judged_games(world, data_sets, np.random.default_rng(seed))
    return {name: _coverage(method(data, world), world.rate) for name, method in METHODS.items()}


def _coverage(found: Corrected, truth: float) -> Coverage:
    given = ~np.isnan(found.rate)
    if not given.any():
        return Coverage(np.nan, np.nan, 0.0)
    held = (found.low <= truth) & (truth <= found.high)
    return Coverage(float(held[given].mean()), float((found.high - found.low)[given].mean()), float(given.mean()))


def agreement_scenes() -> Iterator[Rated]:
    """The full grid: 128 worlds."""
    shares = ((0.4, 0.2, 0.4), (0.08, 0.04, 0.88))
    return map(Rated._make, product((5, 10, 30, 100), shares, (0.5, 0.7, 0.95, 0.99), (0.0, 0.2), (False, True)))


def agreement_coverage(world: Rated, data_sets: int, seed: int = _SEED) -> dict[tuple[str, str], Coverage]:
    """Of each coefficient that has a value, by (coefficient, `games left out` or `bootstrap`)."""
    random = np.random.default_rng(seed)
    truth = _coefficients(_TABLES * world.table())
    held: dict[tuple[str, str], list[tuple[bool, float]]] = {
        (name, method): [] for name in COEFFICIENTS for method in ("games left out", "bootstrap")
    }
    for _ in range(data_sets):
        compared = agreeing_raters(world, random)
        found = coefficients_with_intervals(compared)
        drawn = _bootstrap(compared, random)
        for name in COEFFICIENTS:
            low, high = found[f"{name}_low"], found[f"{name}_high"]
            if low is None or high is None:
                continue
            held[name, "games left out"].append((bool(low <= truth[name] <= high), high - low))
            low, high = np.nanquantile(drawn[name], [0.025, 0.975])
            held[name, "bootstrap"].append((bool(low <= truth[name] <= high), float(high - low)))
    return {
        key: Coverage(float(np.mean([one for one, _ in pairs])), float(np.mean([width for _, width in pairs])), len(pairs) / data_sets)
        for key, pairs in held.items()
        if pairs
    }


def _bootstrap(compared: Comparison, random: np.random.Generator) -> dict[str, Floats]:
    """Coefficients of samples of whole games, to compare with."""
    sums = cluster_sums(compared.tables, compared.clusters)
    times = random.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=_DRAWS).astype(float)
    return _coefficients(np.einsum("dg,gab->dab", times, sums))


def _coefficients(table: Floats) -> dict[str, Floats]:
    """Of tables of two raters, shape (..., answers, answers)."""
    both = table + np.swapaxes(table, -1, -2)
    agreeing = np.stack([np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1))], axis=-1)
    no, yes = ANSWERS.index("no"), ANSWERS.index("yes")
    found = (
        percent_agreement(table),
        kappa(table),
        kappa(table, np.subtract.outer(SCORES, SCORES) ** 2),
        krippendorff_alpha(both, "nominal"),
        krippendorff_alpha(both, "ordinal"),
        krippendorff_alpha(both, "interval", SCORES),
        gwet_ac1(agreeing, both.sum(axis=-1) / 2),
        rate_of_answer(table, yes, no),
        rate_of_answer(table, no, yes),
    )
    return dict(zip(COEFFICIENTS, found, strict=True))


class Wished(NamedTuple):
    """What the number of labels that was foretold brings."""

    wished: float
    needed: int | None
    reached: float
    """Mean half-width with that many labels."""


def labels_reach(world: Judged, wished: float, data_sets: int) -> Wished:
    """From the labels of one pilot, how many are needed; then what that many give, on turns drawn from all games."""
    random = np.random.default_rng(_SEED)
    pilot = judged_games(world._replace(labels=100), 1, random)
    units, labels = int(pilot.units.sizes.sum()), float(pilot.labelled.sizes.sum())
    parts = variance_parts(pilot.units, pilot.labelled)
    weight = float(judge_weight(pilot.units, pilot.labelled)[0])
    said, yes, both = (float(part.sum()) for part in (pilot.labelled.scores, pilot.labelled.labels, pilot.errors.yes_found))
    errors = (yes - 2 * weight * both + weight**2 * said) / labels - ((yes - weight * said) / labels) ** 2
    design = max(1.0, float(parts.errors[0]) / (1 / labels - 1 / units) / errors)
    needed = labels_needed(wished, Spread(units, world.games, errors, float(parts.truth[0]), design))
    if needed is None or needed > units // 2:  # data sets with more would have more units, too
        return Wished(wished, needed, np.nan)
    data = judged_games(world._replace(labels=needed), data_sets, random)
    found = prediction_powered(data.units, data.labelled)
    return Wished(wished, needed, float(np.nanmean(found.high - found.low)) / 2)


def main(arguments: Sequence[str]) -> int:
    """Run the grids."""
    parser = argparse.ArgumentParser(prog="python -m research coverage", description="How often 95 % intervals hold the truth.")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {_PAGE}")
    parser.add_argument("--data-sets", type=int, default=200, help="data sets a scene; agreement takes a fifth of them")
    parser.add_argument("--table", action="store_true", help=f"only take over what {_PAGE} says into {_TABLE}, and the other way")
    parser.add_argument(
        "--only", action="append", choices=[*BY_NAME, _CORRECTED], metavar="METHOD", help="this method's section alone; repeatable"
    )
    asked = parser.parse_args(arguments)
    if asked.table:
        _put(Path(_PAGE).read_text(encoding="utf-8"))
        return 0
    if asked.only:
        return _only(asked.only, 5 * asked.data_sets, write=asked.write)
    text = (
        "\n\n".join(
            [
                _PREFACE,
                which_is_which(),
                _PLAIN,
                *(section(name, 5 * asked.data_sets) for name in BY_NAME),
                *_rates(asked.data_sets),
                *_agreement(max(1, asked.data_sets // 4)),
                _needed(max(1, asked.data_sets // 5)),
            ]
        )
        + "\n"
    )
    if asked.write:
        _put(text)
    else:
        sys.stdout.write(text)
    return 0


_PREFACE: Final = """# How often the intervals hold the truth

Written by `python -m research coverage --write`. Games with a known truth are drawn, intervals are made as the reports make them, and it
is counted how often they hold the truth. A 95 % interval should in 93 to 97 %. Below that it promises too much; above, it is wider than it
need be. One scene's share is itself only known to about plus or minus 0.014 (1,000 data sets), 0.03 (200) or 0.06 (50), so that `least`
of many scenes is lower than any of them is in truth; the mean of a row is known to less than 0.005."""


_PLAIN: Final = """## Shares, means, differences, models

72 scenes a method: every combination of 5, 10, 30 games (of what comes by task: tasks) of equal or unequal length; true share 0.03, 0.1,
0.3, 0.5; intraclass correlation (icc) in a game 0, 0.1, 0.3. Methods that take a fit for every data set have 24 of these scenes: shares
0.1 and 0.5, icc 0 and 0.3. Where there is no share, it stands for what makes the event rare, or for the size of the effect."""

_RATES: Final = """every combination of 5, 10, 30, 100 games of equal or unequal length (a quarter
to more than twice the mean); 30, 100, 300 labels, on turns drawn from all games or on whole games; intraclass correlation (icc) of the
truth in a game 0, 0.1, 0.3; true rate 0.02 to 0.9; sensitivity and specificity 0.55 to 0.99, the same in all games or clustered with
icc 0.2. Only scenes in which at least nine of ten data sets have an interval are counted."""

_AGREEMENT: Final = """5, 10, 30, 100 games; 10 units a game or 1 to 60; three answers, in shares 0.4, 0.2, 0.4 or
0.08, 0.04, 0.88; the second rater gives the same answer in 0.5 to 0.99; intraclass correlation of answers and of errors 0 or 0.2.
Beside the intervals of the reports (games left out) stand those of a bootstrap of games, percentile method, from the same data."""


def _only(names: Sequence[str], data_sets: int, *, write: bool) -> int:
    """Makes some sections; each stands in the page as soon as it is through, so that what is interrupted is not lost."""
    for name in names:
        text = "\n\n".join(_rates(data_sets // 5)) if name == _CORRECTED else section(name, data_sets)
        sys.stdout.write(f"{text}\n\n")
        sys.stdout.flush()
        if write:
            _put(placed(Path(_PAGE).read_text(encoding="utf-8"), name, text))
    return 0


def placed(page: str, name: str, text: str) -> str:
    """The page with one section in the place of its older one, in the order of the methods."""
    before, rest = page.split("\n\n## Corrected rates", 1)
    if name == _CORRECTED:
        return f"{before}\n\n{text}\n\n## Agreement" + rest.split("\n\n## Agreement", 1)[1]
    front, *old = before.split("\n\n### ")
    sections = {one.partition(" (")[0]: f"### {one}" for one in old} | {name: text}
    return "\n\n".join([front, *(sections[key] for key in BY_NAME if key in sections)]) + "\n\n## Corrected rates" + rest


def _rates(data_sets: int) -> Iterator[str]:
    worlds = list(judged_scenes())
    found = [rate_coverage(world, data_sets) for world in worlds]
    yield f"## Corrected rates\n\n{len(worlds):,} scenes of {data_sets:,} data sets: {_RATES}"
    for name in METHODS:
        given = [(world, one[name]) for world, one in zip(worlds, found, strict=True) if one[name].given >= 0.9]
        lines = [
            f"### `{name}`: {len(given):,} scenes\n",
            f"| scenes | least | mean | below {_LOW} | {_LOW} to {_HIGH} | above {_HIGH} | mean width |",
            "|---|---|---|---|---|---|---|",
        ]
        for title, chosen in _groups(given):
            if chosen:
                lines.append(f"| {title} | {_shares(chosen)} |")
        worst = sorted(given, key=lambda pair: pair[1].share)[:5]
        lines.append("\nWorst: " + "; ".join(f"{one.share:.3f} ({_told(world)})" for world, one in worst) + ".")
        yield "\n".join(lines)


def _groups(given: list[tuple[Judged, Coverage]]) -> Iterator[tuple[str, list[Coverage]]]:
    yield "all", [one for _, one in given]
    for games in _GAMES:
        yield f"{games} games", [one for world, one in given if world.games == games]
    for icc in _ICCS:
        yield f"icc {icc:g}", [one for world, one in given if world.clustering == icc]
    for labels in _LABELS:
        yield f"{labels} labels", [one for world, one in given if world.labels == labels]
    for by_game in (False, True):
        yield ("labels on whole games" if by_game else "labels on turns"), [one for world, one in given if world.by_game == by_game]
    for title, rates in (("rate 0.02", (0.02,)), ("rate 0.1, 0.9", (0.1, 0.9)), ("rate 0.3, 0.5", (0.3, 0.5))):
        yield title, [one for world, one in given if world.rate in rates]
    for accuracy in _ACCURACIES:
        yield f"accuracy {accuracy:g}", [one for world, one in given if world.accuracy == accuracy]
    for unequal in (False, True):
        yield f"games of {'unequal' if unequal else 'equal'} length", [one for world, one in given if world.unequal == unequal]
    for clustered in (0.0, 0.2):
        title = "the judge's errors clustered" if clustered else "the judge errs alike in all games"
        yield title, [one for world, one in given if world.error_clustering == clustered]


def _shares(chosen: list[Coverage]) -> str:
    shares = np.array([one.share for one in chosen])
    inside = (shares >= _LOW) & (shares <= _HIGH)
    numbers = (
        shares.min(),
        shares.mean(),
        (shares < _LOW).mean(),
        inside.mean(),
        (shares > _HIGH).mean(),
        np.mean([one.width for one in chosen]),
    )
    return " | ".join(f"{number:.3f}" if place < 2 else f"{number:.2f}" for place, number in enumerate(numbers))


def _told(world: Judged) -> str:
    place = "on whole games" if world.by_game else "on turns"
    more = (", unequal" if world.unequal else "") + (", errors clustered" if world.error_clustering else "")
    about = f"icc {world.clustering:g}, rate {world.rate:g}, accuracy {world.accuracy:g}"
    return f"{world.games} games, {world.labels} labels {place}, {about}{more}"


def _agreement(data_sets: int) -> Iterator[str]:
    worlds = list(agreement_scenes())
    found = [agreement_coverage(world, data_sets) for world in worlds]
    yield f"## Agreement\n\n{len(worlds)} scenes of {data_sets} data sets: {_AGREEMENT}"
    for games in (5, 10, 30, 100):
        lines = [
            f"### {games} games\n",
            "| coefficient | least | mean | below 0.92 | above 0.98 | mean width | bootstrap: least | mean | below 0.92 | mean width |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for name in COEFFICIENTS:
            ours, theirs = (
                [
                    one[name, method]
                    for world, one in zip(worlds, found, strict=True)
                    if world.games == games and one.get((name, method), _NONE).given >= 0.9
                ]
                for method in ("games left out", "bootstrap")
            )
            lines.append(f"| {name} | {_cells(ours, above=True)} | {_cells(theirs, above=False)} |")
        yield "\n".join(lines)
    pairs = [(one["kappa", "games left out"].share, world) for world, one in zip(worlds, found, strict=True)]
    worst = sorted(pairs, key=lambda pair: pair[0])[:5]
    yield "Worst of kappa: " + "; ".join(f"{share:.3f} ({_rated(world)})" for share, world in worst) + "."


def _rated(world: Rated) -> str:
    sizes = "unequal" if world.unequal else "equal"
    return f"{world.games} {sizes} games, shares {world.shares}, same answer in {world.right:g}, icc {world.clustering:g}"


_NONE: Final = Coverage(np.nan, np.nan, 0.0)


def _cells(chosen: list[Coverage], *, above: bool) -> str:
    shares = np.array([one.share for one in chosen])
    numbers = [f"{shares.min():.3f}", f"{shares.mean():.3f}", f"{(shares < 0.92).mean():.2f}"]
    numbers += [f"{(shares > 0.98).mean():.2f}"] if above else []
    return " | ".join([*numbers, f"{np.mean([one.width for one in chosen]):.2f}"])


def _needed(data_sets: int) -> str:
    lines = [
        "## Labels needed\n",
        "A pilot of 100 labels says how many are needed for a half-width; then data sets with that many labels are drawn.\n",
        "| games | icc | rate | accuracy | wished | labels foretold | half-width reached |",
        "|---|---|---|---|---|---|---|",
    ]
    for games, icc, rate, accuracy, wished in product((60, 200), (0.0, 0.2), (0.1, 0.4), (0.7, 0.9), (0.1, 0.05)):
        found = labels_reach(Judged(games, 100, by_game=False, clustering=icc, rate=rate, accuracy=accuracy), wished, data_sets)
        reached = "not tried" if np.isnan(found.reached) else f"{found.reached:.3f}"
        told = f"{found.needed:,} | {reached}" if found.needed else "no number is enough | "
        lines.append(f"| {games} | {icc:g} | {rate:g} | {accuracy:g} | {wished:g} | {told} |")
    return "\n".join(lines)


def _put(page: str) -> None:
    """The page with the table of kinds as it is now, and its numbers for the reports."""
    kinds = which_is_which()
    before, heading, rest = page.partition(kinds.partition("\n")[0])
    if heading:
        page = before + kinds + rest[rest.index("\n\n## ") :]
    Path(_PAGE).write_text(page, encoding="utf-8")
    Path(_TABLE).write_text(measured(page), encoding="utf-8")


def which_is_which() -> str:
    """A table of docs/dev/coverage.md: of which kind each interval of each report is."""
    lines = [
        "## Which interval is of which kind\n",
        "Every interval that `cotrace report` prints, by report and column (the one of the lower end), from",
        "the files `simulated.csv` of `analytics/`. A report says by this table, and the numbers below, what its intervals are worth with",
        "as many games as they rest on: in words, and as `held_least`. A test asks for a line of each.\n",
        "| report | column | of rows with | kind of interval |",
        "|---|---|---|---|",
    ]
    for kind in sorted(all_kinds(), key=lambda one: one.report):
        rows = f"{kind.column} {kind.value}" if kind.column else ""
        lines.append(f"| {kind.report} | {kind.low} | {rows} | {kind.method or 'not simulated'} |")
    return "\n".join(lines)


def measured(page: str) -> str:
    """The rows of docs/dev/coverage.md about numbers of games as CSV: what reports say about their own intervals."""
    lines, method = ["method,games,least,mean,below,above,goal"], ""
    number = r" ([\d.]+) \|"
    for line in page.splitlines():
        if line.startswith("#"):
            method = line.lstrip("# ").replace("`", "").split(" (")[0].split(":")[0]
        found, of_raters = (
            re.match(rf"\| (\d+) games \|{3 * number} [\d.]+ \|{number}", line),
            re.match(rf"\| ([a-z]\w+) \|{4 * number}", line),
        )
        if found:
            lines.append(f'"{method}",{",".join(found.groups())},{_LOW}')
        elif of_raters and re.fullmatch(r"\d+ games", method):  # one table for each number of games, one row for each coefficient
            name, *shares = of_raters.groups()
            lines.append(f'"agreement, {name}",{method.removesuffix(" games")},{",".join(shares)},0.92')
    return "\n".join(lines) + "\n"
