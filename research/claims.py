"""How often what reports claim is false: corrected rates where labels are no random sample or the judge abstains, headlines of equal teams.

`python -m research claims` draws data sets with a known truth and makes of each the row of `corrected-rates`, or the rows of `compare`,
by the code of the reports. `corrected`: share of the data sets in which a rate is called corrected; `false`: in which its 95 % interval
misses the truth, of all data sets; `used`: in which the advice is to use it, and `false use`: to use it though its interval misses the
truth; `bounds`: share of the refusals whose bounds hold the truth. Labels that depend on the truth itself are found by the judge's answers,
if these follow the truth; of a judge that is hardly better than chance they are not. So nothing is corrected by labels that people chose
(`chosen`); those of the other rows came with a statement that they are a random sample, in some a false one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analytics.comparison.compare import behind, compare
from analytics.estimates.corrected import Judged, judged_units, rate_row
from analytics.estimates.design import number_of
from analytics.estimates.units import Asked, Counted
from research.pages import put
from schemas.store.store import Store

Floats = NDArray[np.float64]
_TURNS: Final = 12


class Labelling(NamedTuple):
    """A judge that errs, asked about all turns of some games, and how units come to have labels and answers."""

    games: int = 60
    labels: int = 200
    rate: float = 0.45
    """True share of yes."""
    clustering: float = 0.1
    """Intraclass correlation of the truth inside a game."""
    accuracy: float = 0.85
    """Sensitivity and specificity of what the judge answers."""
    answers_yes: float = 1.0
    """Share of the true yes that the judge answers at all."""
    answers_no: float = 1.0
    weight_said: float = 1.0
    """How many times as likely a unit has a label where the judge says yes."""
    weight_yes: float = 1.0
    """The same where the truth is yes, whatever the judge says: nothing that is known of all units shows that directly."""
    weight_wrong: float = 1.0
    """The same where the judge errs."""
    weight_early: float = 1.0
    """The same of the first third of a game; there a true yes is half as frequent again."""
    is_recorded: bool = True
    """Whether labels come with a statement that they are a random sample, be it true or not."""
    decided_only: bool = False
    """Whether only units that the judge answered have labels."""
    in_file: bool = False
    """Whether labels come in a file that states their chance: of the first units that `labels template` draws, or with weights of those
    that were chosen."""


class Claimed(NamedTuple):
    """Shares of the data sets."""

    corrected: float
    false: float
    used: float
    false_use: float
    warned: float
    """With a warning that units are not those of a template."""
    bounds: float
    """Of the refusals; NaN where there is none."""


WORLDS: Final[dict[str, Labelling]] = {
    "random labels": Labelling(),
    "random labels, 10 games": Labelling(games=10, labels=60),
    "random labels, a good judge": Labelling(accuracy=0.98),
    "labels where the judge says yes, 3 to 1": Labelling(weight_said=3.0),
    "labels where the judge says yes, 10 to 1": Labelling(weight_said=10.0),
    "labels where the judge says yes, a good judge": Labelling(weight_said=10.0, accuracy=0.98),
    "labels where the judge says yes, 1.3 to 1": Labelling(weight_said=1.3),
    "labels where the truth is yes, 3 to 1": Labelling(weight_yes=3.0),
    "the same, accuracy .6: a false statement": Labelling(weight_yes=3.0, accuracy=0.6, in_file=True),
    "the file of a template, accuracy .6": Labelling(accuracy=0.6, in_file=True),
    "chosen where the truth is yes, accuracy .6": Labelling(weight_yes=3.0, accuracy=0.6, is_recorded=False),
    "chosen where the judge errs, 5 to 1": Labelling(weight_wrong=5.0, is_recorded=False),
    "labels on early turns, 4 to 1": Labelling(weight_early=4.0),
    "answers 90 % of true yes and 50 % of true no": Labelling(games=100, answers_yes=0.9, answers_no=0.5),
    "the same, labels where the judge answered": Labelling(games=100, answers_yes=0.9, answers_no=0.5, decided_only=True),
}


def claimed(world: Labelling, data_sets: int, seed: int = 2026) -> Claimed:
    """What the report makes of data sets of a world."""
    random = np.random.default_rng(seed)
    rows = [rate_row(drawn(world, random)) for _ in range(data_sets)]
    given = np.array([row["rate"] is not None for row in rows])
    false = np.array([row["rate"] is not None and not _holds(row, "rate_low", "rate_high", world.rate) for row in rows])
    used = np.array(["use the corrected one" in str(row["advice"]) for row in rows])
    bounds = [_holds(row, "least_possible", "most_possible", world.rate) for row in rows if row["least_possible"] is not None]
    warned = np.array(["cotrace labels template draws first" in str(row["advice"]) for row in rows])
    corrected, missed, advised, wrong, doubted = (float(share.mean()) for share in (given, false, used, used & false, warned))
    return Claimed(corrected, missed, advised, wrong, doubted, float(np.mean(bounds)) if bounds else np.nan)


def _holds(row: dict[str, object], low: str, high: str, truth: float) -> bool:
    return float(row[low]) - 1e-9 <= truth <= float(row[high]) + 1e-9  # type: ignore[arg-type]


def drawn(world: Labelling, random: np.random.Generator) -> Judged:
    """A data set of a world."""
    shape = (world.games, _TURNS)
    strength = (1 - world.clustering) / world.clustering
    early = np.arange(_TURNS) < _TURNS // 3
    course = np.where(early, 1.5, 0.75) if world.weight_early != 1 else np.ones(_TURNS)  # mean 1, so that the rate is the world's
    levels = random.beta(world.rate * strength, (1 - world.rate) * strength, (world.games, 1))
    if world.weight_early != 1:
        levels = np.clip(levels, 0, 1 / 1.5) * world.rate / np.clip(levels, 0, 1 / 1.5).mean()
    truth = random.random(shape) < levels * course
    said = np.where(random.random(shape) < world.accuracy, truth, ~truth)
    answered = random.random(shape) < np.where(truth, world.answers_yes, world.answers_no)
    weights = (
        np.where(said & answered, world.weight_said, 1.0)
        * np.where(truth, world.weight_yes, 1.0)
        * np.where(said != truth, world.weight_wrong, 1.0)
        * np.where(early, world.weight_early, 1.0)
    )
    weights = weights * (answered if world.decided_only else 1)
    labelled = np.zeros(truth.size, dtype=bool)
    if world.in_file and (weights == 1).all():
        labelled[np.argsort([number_of(f"r/{unit}") for unit in range(truth.size)])[: world.labels]] = True
    else:
        labelled[random.choice(truth.size, world.labels, replace=False, p=(weights / weights.sum()).ravel())] = True
    game, turn = (index.ravel() for index in np.indices(shape))
    units = pl.DataFrame(
        {
            "game": game,
            "label": np.where(labelled, truth.ravel(), np.nan),
            "is_answered": answered.ravel(),
            "score": np.where(answered, said, np.nan).ravel(),
            "drawn": np.where(labelled & world.in_file, world.labels / truth.size, np.nan),
            "is_sample": labelled & world.is_recorded,
            "place": (turn + 1) / _TURNS,
        }
    )
    return judged_of(units.with_columns(pl.col("label", "score", "drawn").fill_nan(None)))


def judged_of(units: pl.DataFrame) -> Judged:
    """What the engine makes of units of one model; columns that they lack are null."""
    numbers, texts = ("p_yes", "differ", "long", "drawn"), ("task", "agent")
    none = {name: pl.lit(None, kind) for names, kind in ((numbers, pl.Float64), (texts, pl.String), (("people",), None)) for name in names}
    same = {"unit": pl.int_range(pl.len()), "model": pl.lit("m"), "reached": pl.lit(0.0), "unsteady": pl.lit(0.0), "n": pl.lit(1)}
    asked = units.with_columns(**same, **{name: value for name, value in none.items() if name not in units.columns})
    (found,) = judged_units(Asked(rubric="r", question="q", judge="llm:j", reference="people", units=Counted.of(asked)))
    return found


def headlines(teams: int, tasks: int, boards: int, seed: int = 2026) -> float:
    """Share of boards of equal teams on shared tasks of unlike difficulty on which one is said to be behind."""
    random = np.random.default_rng(seed)
    columns = ("benchmark", "game", "condition", "max_turns", "team_name", "task", "episode_id", "value", "low", "high")
    named = 0
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "none.duckdb")
        for _ in range(boards):
            scores = np.clip(random.beta(2, 3, tasks) + random.normal(0, 0.1, (teams, tasks)), 0, 1)
            rows = [
                ("craft", None, "c", 20, f"t{team}", f"{task}", f"{team}.{task}", float(one), 0.0, 1.0)
                for (team, task), one in np.ndenumerate(scores)
            ]
            named += behind(compare(store, games=pl.DataFrame(rows, schema=columns, orient="row")).iter_rows(named=True)) is not None
    return named / boards


def main(arguments: Sequence[str]) -> int:
    """Print both tables, or write them into the page."""
    return put("claims", lines(), arguments)


def lines() -> Iterator[str]:
    """Both tables, line by line."""
    yield f"{'labels and answers':<48}{'corrected':>10}{'false':>8}{'used':>8}{'false use':>11}{'warned':>8}{'bounds':>8}"
    for name, world in WORLDS.items():
        found = claimed(world, 400)
        yield f"{name:<48}" + "".join(f"{value:>{width}.3f}" for value, width in zip(found, (10, 8, 8, 11, 8, 8), strict=True))
    yield f"\n{'equal teams on shared tasks':<48}{'one is said to be behind':>25}"
    for teams, tasks, boards in ((6, 10, 1000), (20, 14, 200), (40, 16, 60)):
        yield f"{f'{teams} teams, {tasks} tasks, {boards} boards':<48}{headlines(teams, tasks, boards):>25.3f}"
