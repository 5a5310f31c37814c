"""The report `corrected-rates`: a judge's rates corrected by labels, by model and question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.estimates.balance import Balance, balance_of, is_unrecorded, is_untested
from analytics.estimates.design import drawing_doubt
from analytics.estimates.raters import over_people
from analytics.estimates.rates import (
    Corrected,
    ErrorCounts,
    Labelled,
    Units,
    influences,
    judge_weight,
    possible_truth,
    prediction_powered,
    rogan_gladen,
)
from analytics.estimates.units import ANSWERS_BY, NEGLIGIBLE, Asked, Counted, asked_units, population, size_of, weighted_by_answers
from analytics.report_columns import framed
from analytics.statistics.intervals import Floats, Interval, mean_interval, share_interval
from schemas.common.errors import UsageError
from schemas.common.wording import counted, p_is, share
from schemas.store.store import Store

_MIDDLE: Final = 0.5
_FEW_ERROR_GAMES: Final = 10
"""Games with labels below which `rogan_gladen` fell to 0.76 in simulation where the judge's errors cluster."""
_FEW_GAMES: Final = 5
"""Labelled games with the rarer answer below which its clustering cannot be seen."""
_FEWEST_SHARED: Final = 10
_USELESS: Final = 0.15
"""Half-width above which an interval is of little use."""
_FEWEST_TWICE, _FEWEST_GAMES_TWICE = 20, 5
"""Units with two labels, and their games, below which nothing follows from how often labels differ."""
_OF_RATE: Final = ("rate", "rate_low", "rate_high", "judge_weight", "label_rate", "effective_labels")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One judge's units of one question and one group of games, such as those of a model."""

    asked: Asked
    model: str | None
    """The group."""
    population: Counted
    """Of `population`: the units that labels can speak for."""
    abstained: int
    """Units without an answer of the judge."""
    is_unknown: bool
    """Whether these are many and no label is of one of them."""
    own: Mapping[str, Floats]
    """`by_game` of the population."""
    errors: Mapping[str, Floats]
    """`by_game` of the labelled units of all groups that the judge answered."""
    doubt: Doubt


class Doubt(NamedTuple):
    """What speaks against the labels of a question as a sample."""

    own: Balance
    """Of this group's units."""
    is_general: bool
    """Whether the labels of some group are no random sample of its units, or those of all together cannot be tested."""
    drawing: str
    """`drawing_doubt` of all groups."""


def judged_units(asked: Asked, groups: pl.DataFrame | None = None) -> Iterator[Judged]:
    """Each group of games of a judge and question, by name.

    Args:
        asked: all of its units.
        groups: one row a game: episode_id, and model, the group; None: by model.
    """
    cells = asked.units.cells if groups is None else asked.units.cells.grouped(groups)
    units = asked.units.of_cells(cells)
    everything, _ = population(units)
    labelled = everything.ways.filter(pl.col("is_answered"), pl.col("weight") > 0)
    errors = by_game(replace(everything, ways=labelled))
    found = {}
    for model, of_model in cells.of_models.items():
        own = units.of_cells(of_model)
        known, is_unknown = population(own)
        if known.ways["is_answered"].any():
            found[model] = known, is_unknown, balance_of(known), size_of(own.ways.filter(~pl.col("is_answered")))
    balances = [balance for known, _, balance, _ in found.values() if (known.ways["weight"] > 0).any()]
    is_general = any(balance.trait for balance in balances) or (bool(balances) and (is_unrecorded(everything) or is_untested(everything)))
    drawing = drawing_doubt(asked)
    for model, (known, is_unknown, balance, abstained) in found.items():
        yield Judged(
            asked=asked,
            model=model,
            population=known,
            abstained=abstained,
            is_unknown=is_unknown,
            own=by_game(known),
            errors=errors,
            doubt=Doubt(balance, is_general, drawing),
        )


def by_game(units: Counted) -> dict[str, Floats]:
    """What the estimates take, summed over the units of each game, shape (games,), 0 in those that the judge was not asked about.

    game: its hash; units: how many; judged: of what the judge answers; labels: of the weights; over labelled units, weighted: label_sum,
    labelled_score, label_squares, score_squares, products; yes, yes_found, no, no_found: labels by truth, and those of them that the judge
    found. How many units: answered, by the judge; labelled, found: with a label, and the sum of these; twice, differ: with two, and the sum
    of `differ`.

    Args:
        units: as `analytics.estimates.units.population` gives them.
    """
    labels, predicted, w, differ = (units.ways[name].to_numpy() for name in ("label", "predicted", "weight", "differ"))
    label, is_labelled = np.nan_to_num(labels), ~np.isnan(labels)
    yes, no = w * (label > _MIDDLE), w * (label < _MIDDLE)
    of_unit = {
        "units": np.ones_like(w), "judged": predicted, "labels": w, "label_sum": w * label, "labelled_score": w * predicted,
        "label_squares": w * label**2, "score_squares": w * predicted**2, "products": w * label * predicted, "yes": yes,
        "yes_found": yes * predicted, "no": no, "no_found": no * (1 - predicted), "answered": units.ways["is_answered"].to_numpy(),
        "labelled": is_labelled, "found": label, "twice": ~np.isnan(differ), "differ": np.nan_to_num(differ),
    }  # fmt: skip
    sums = units.sums(np.array(list(of_unit.values()), dtype=float))
    return {"game": units.cells.clusters[0], **dict(zip(of_unit, sums, strict=True))}


def corrected_rates(store: Store, *, rubric: str | None = None, families: str | None = None, answers_by: str | None = None) -> pl.DataFrame:
    """One row for every question, judge and model (null: games outside the store): the judge's own rate and the corrected ones.

    Columns: `report_columns.csv`. Null where there is too little.

    Rates are means of the answers' numbers (yes 1, unclear 0.5, no 0), N/A left out; of answers whose tokens have a probability, of these.
    Labels must be a random sample of the judged units, or one with recorded chances, and it must be recorded that they are: by the page
    Labelling, or the column sampling_probability of a label file. Those that the labelling page drew by disagreement
    (source `dashboard:disagreements`) are left out. Units that the judge left without an answer are in the estimate if some of them have
    labels. Where labelled and other units differ, where fewer than four games leave that untested, where it is not recorded how units
    were chosen, or the judge left more than 2 % of the
    units unanswered and none of these is labelled, nothing is corrected: rate and rogan_gladen are null, and the bounds count what is
    unknown once as no and once as yes, with the 95 % interval of either over games. Unknown is each unit without a label, and where labels
    can be a random sample of what was answered, each unit without an answer. From three people on, whose labels need not be of the same
    units, rater_low and rater_high are the interval if these are a sample of all people who could label.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        families: SQL expression over `episodes`, such as `task_id`, whose values are the clusters; None: games are.
        answers_by: a key of `ANSWERS_BY`: where no unit without an answer is labelled, give a rate as well as bounds, which is right if
            whether the judge answers depends on that alone; nothing in the data shows whether it does.

    Raises:
        UsageError: families is no expression, or answers_by no such key.
        StoreError: the store cannot be read.
    """
    if answers_by not in (None, *ANSWERS_BY):
        raise UsageError(f"--answers-by {answers_by}: give one of {', '.join(ANSWERS_BY)}")
    asked = asked_units(store, rubric, families, by_name=answers_by is not None)
    return framed("corrected-rates", (row for one in asked for row in rate_rows(one, answers_by)))


def rate_rows(asked: Asked, answers_by: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of `corrected_rates` about one judge and question; answers_by as there."""
    return (rate_row(judged, answers_by) for judged in judged_units(asked))


def shared_correlation(first: Judged, second: Judged) -> float:
    """Of the estimates of two groups of games on tasks that both have played: least that it is, 0 below ten shared tasks."""
    of_task = []
    for judged in (first, second):
        changes = pl.DataFrame({"game": judged.own["game"], "change": influences(units_of(judged.own), labelled_of(judged.own))})
        tasks = judged.population.cells.games.select("game", "task").unique("game")
        of_task.append(changes.join(tasks, on="game").group_by("task").agg(pl.col("change").sum()))
    both = of_task[0].join(of_task[1], on="task")
    one, other = (part["change"].to_numpy() for part in of_task)
    squares = float((one**2).sum() * (other**2).sum())
    if len(both) < _FEWEST_SHARED or not squares > 0:
        return 0.0
    found = float((both["change"] * both["change_right"]).sum()) / math.sqrt(squares)
    return min(max(found - 1 / math.sqrt(len(both)), 0.0), 0.95)


def rate_row(judged: Judged, answers_by: str | None = None) -> dict[str, Any]:
    """The row of `corrected_rates` about one judge, question and group of games; answers_by as there."""
    asked, own, errors, balance = judged.asked, judged.own, judged.errors, judged.doubt.own
    labels = judged.population.ways.filter(pl.col("weight") > 0)
    n, score, is_answered = (judged.population.ways[name].to_numpy() for name in ("n", "score", "is_answered"))
    powered, weight = prediction_powered(units_of(own), labelled_of(own)), float(judge_weight(units_of(own), labelled_of(own)))
    is_untested = balance.is_untested and not math.isnan(float(powered.rate))
    is_refused = len(labels) > 0 and (balance.trait is not None or is_untested or balance.is_unrecorded or judged.is_unknown)
    weights, yes, no = float(own["labels"].sum()), float(errors["yes"].sum()), float(errors["no"].sum())
    row: dict[str, Any] = {
        "rubric": asked.rubric,
        "question": asked.question,
        "judge": asked.judge,
        "model": judged.model,
        "reference": asked.reference,
        "units": int(n[is_answered].sum()),
        "games": int((own["answered"] > 0).sum()),
        "labels": size_of(labels),
        "labelled_games": int((own["labels"] > 0).sum()),
        "effective_labels": weights,
        "judge_rate": float(score[is_answered] @ n[is_answered]) / int(n[is_answered].sum()),
        "label_rate": float(own["label_sum"].sum()) / weights if weights else None,
        **(dict.fromkeys(("rate", "rate_low", "rate_high")) if is_refused else _named("rate", powered)),
        "judge_weight": weight if len(labels) and not is_refused else None,
        "sensitivity": float(errors["yes_found"].sum()) / yes if yes else None,
        "specificity": float(errors["no_found"].sum()) / no if no else None,
        "error_labels": round(yes + no),
        **_named("rogan_gladen", rogan_gladen(*_with_errors(own, errors))),
        "abstained": judged.abstained,
        "unbalanced": balance.trait,
        "unbalanced_p": balance.p,
        **_of_double_labels(own, powered),
        **_of_raters(labels, powered, weight),
    }
    if is_refused:
        row |= dict(zip(("least_possible", "most_possible"), _bounds(judged, powered, is_untested=is_untested), strict=True))
    if is_refused or judged.abstained > NEGLIGIBLE * (row["units"] + judged.abstained) or judged.doubt.is_general:
        row |= dict.fromkeys(("rogan_gladen", "rogan_gladen_low", "rogan_gladen_high"))
    if is_refused:
        row |= {"advice": _refusal(row, judged, is_untested=is_untested), "rater_low": None, "rater_high": None}
        is_weighted = answers_by and judged.is_unknown and not (balance.trait or is_untested or balance.is_unrecorded)
        return row | _if_answers_depend_on(answers_by, judged, row["advice"]) if is_weighted and answers_by else row
    return row | {
        "advice": _rate_advice(row, judged.doubt.drawing) + _if_other_people(row) + _rare(row, own) + _few_games_with_errors(row, errors)
    }


def _if_answers_depend_on(trait: str, judged: Judged, advice: str) -> dict[str, Any]:
    """The rate of all units if whether the judge answers depends on the trait alone; nothing where no unit of some kind is answered."""
    rows = judged.asked.units.rows()
    weighted = weighted_by_answers(rows if judged.model is None else rows.filter(model=judged.model), trait)
    if weighted is None:
        return {}
    found = rate_row(replace(judged, population=weighted, own=by_game(weighted), is_unknown=False))
    if found["rate"] is None:
        return {}
    stated = f"if whether it answers depends on the {trait} alone, which nothing shows, the rate is {_interval(found, 'rate')}"
    return {name: found[name] for name in _OF_RATE} | {"advice": f"{advice}; {stated}"}


def _of_raters(labels: pl.DataFrame, powered: Corrected, weight: float) -> dict[str, Any]:
    """How many people labelled, and the interval of the rate if they are a sample of people."""
    given = labels.drop_nulls("people")
    if given.is_empty():
        return {"raters": None}
    of_unit = given.select("people", w=pl.col("weight") * pl.col("n") / pl.col("people").list.len(), of_judge=weight * pl.col("predicted"))
    adds = pl.col("w") * (pl.col("given") - pl.col("of_judge"))
    by_rater = of_unit.explode("people").unnest("people").group_by("rater").agg(adds.sum().alias("sum"), pl.col("w").sum())
    sums, sizes = (by_rater[name].to_numpy() for name in ("sum", "w"))
    rate, low, high = map(float, powered)
    ends = over_people(Interval(low, high), rate, sums, sizes) or (None, None)
    return {"raters": len(by_rater), "rater_low": ends[0], "rater_high": ends[1]}


def _of_double_labels(own: Mapping[str, Floats], powered: Corrected) -> dict[str, float | None]:
    """How often labels of one unit differ, and where the rate can lie if they are wrong as often as that shows."""
    twice, differences = own["twice"], own["differ"]
    n = int(twice.sum())
    found: dict[str, float | None] = {"doubly_labelled": n, "label_disagreement": None, "least_possible": None, "most_possible": None}
    if not n:
        return found
    differ = float(differences.sum()) / n
    found["label_disagreement"] = differ
    if n < _FEWEST_TWICE or (twice > 0).sum() < _FEWEST_GAMES_TWICE or math.isnan(float(powered.rate)):
        return found
    most = float(share_interval(differences, twice).high)
    low, high = possible_truth(float(powered.low), most).low, possible_truth(float(powered.high), most).high
    return found | {"least_possible": low, "most_possible": high}


def _bounds(judged: Judged, powered: Corrected, *, is_untested: bool) -> tuple[float | None, float | None]:
    """Where the rate over all units that were asked about can lie."""
    left_out = judged.abstained if judged.is_unknown else 0
    decided = size_of(judged.population.ways) / (size_of(judged.population.ways) + left_out)
    balance = judged.doubt.own
    if balance.trait is None and not is_untested and not balance.is_unrecorded and not math.isnan(float(powered.rate)):
        return decided * float(powered.low), decided * float(powered.high) + 1 - decided
    sizes, labels, found = (judged.own[name] for name in ("units", "labelled", "found"))
    least, most = mean_interval(found, sizes).low, mean_interval(found + sizes - labels, sizes).high
    low, high = found.sum() / sizes.sum(), (found + sizes - labels).sum() / sizes.sum()
    least, most = (plain if np.isnan(end) else end for end, plain in ((least, low), (most, high)))
    return decided * float(least), decided * float(most) + 1 - decided


def _refusal(row: dict[str, Any], judged: Judged, *, is_untested: bool) -> str:
    """Why nothing is corrected, in one sentence, and what is known instead."""
    balance = judged.doubt.own
    text = f"{_about(row)}: {row['judge']} reports {row['judge_rate']:.2f}; not corrected, because "
    why = []
    if judged.is_unknown:
        left = f"the judge left {judged.abstained} of {row['units'] + judged.abstained} units without an answer"
        why.append(f"{left}, none of which is labelled, and these may be of one kind")
    if balance.trait is not None:
        differ = f"{balance.trait} is {balance.labelled:.2f} on them and {balance.others:.2f} on the other units"
        why.append(f"the labelled units are no random sample ({differ}, {p_is(balance.p or 0.0)})")
    if is_untested:
        games = counted(row["labelled_games"], "labelled game")
        why.append(f"{games} cannot show whether the labelled units are a random sample")
    if balance.is_unrecorded:
        why.append("it is not recorded how the labelled units were chosen")
    unknown, do = "without an answer", "label some of these units too, drawn in random order"
    if balance.trait is not None or is_untested or balance.is_unrecorded:
        unknown, do = "without a label", f"label units {'of more games ' if is_untested else ''}in random order"
    if balance.is_unrecorded:
        do += ", or, if these were drawn so, write the chance of each into the column sampling_probability (1 if all had the same)"
    bounds = (
        f"if all units {unknown} were no or all were yes, the rate would be in {row['least_possible']:.2f} to {row['most_possible']:.2f}"
    )
    return f"{text}{', and '.join(why)}; {bounds}; {do}"


def _with_errors(own: Mapping[str, Floats], errors: Mapping[str, Floats]) -> tuple[Units, ErrorCounts]:
    """Both by the same games: those of the model and those with labels."""
    judged, units = np.zeros((2, len(errors["game"])))
    of_model = np.searchsorted(errors["game"], own["game"])
    judged[of_model], units[of_model] = own["judged"], own["units"]
    used = (units > 0) | (errors["yes"] + errors["no"] > 0)
    return Units(judged[used], units[used]), ErrorCounts(*(errors[name][used] for name in ("yes", "yes_found", "no", "no_found")))


def _named(name: str, found: Corrected) -> dict[str, float | None]:
    numbers = (None if math.isnan(float(value)) else float(value) for value in found)
    return dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))


def _about(row: dict[str, Any]) -> str:
    return f"{row['question']}, {row['model'] or 'games outside the store'}"


def _rate_advice(row: dict[str, Any], drawing: str) -> str:
    text = f"{_about(row)}: {row['judge']} reports {row['judge_rate']:.2f}"
    if row["rate"] is None:
        if row["rogan_gladen"] is None:
            return f"{text}; too few labels to correct it: cotrace report labels-needed"
        alike = f"corrected by what labels of other models show {_interval(row, 'rogan_gladen')}, if the judge errs alike here"
        return f"{text}; {alike}{drawing}"
    return f"{text}, corrected {_interval(row, 'rate')}{_what_to_use(row, drawing)}"


def _what_to_use(row: dict[str, Any], drawing: str) -> str:
    if (row["rate_high"] - row["rate_low"]) / 2 > _USELESS:
        more = "label more (cotrace report labels-needed)" if row["labels"] < row["units"] else "all is labelled: have more games judged"
        return f": too wide for a conclusion, {more}{drawing}"
    if row["rogan_gladen"] is not None and (row["rogan_gladen_high"] < row["rate_low"] or row["rate_high"] < row["rogan_gladen_low"]):
        return (
            f"; the correction by error rates contradicts it, {_interval(row, 'rogan_gladen')}: the judge errs differently in other "
            "models, or labels are no random sample; use neither before more units are labelled in random order"
        )
    if row["least_possible"] is not None:
        differ = f"{share(row['label_disagreement'])} of {row['doubly_labelled']} units labelled twice have labels that differ"
        return f"; {differ}: if labels are wrong as often, it is in {row['least_possible']:.2f} to {row['most_possible']:.2f}{drawing}"
    if drawing:
        return drawing
    if not row["rate_low"] <= row["judge_rate"] <= row["rate_high"]:
        return ": the judge's own rate is wrong, use the corrected one, if labels are right and were drawn in random order"
    return ": the judge's own rate agrees with it"


def _if_other_people(row: dict[str, Any]) -> str:
    """What the interval would be if others had labelled: three or more people show how much people differ."""
    if row["rate"] is None or row.get("rater_low") is None:
        return ""
    return f"; if {row['raters']} people who labelled are a sample of people, it is in {row['rater_low']:.2f} to {row['rater_high']:.2f}"


def _rare(row: dict[str, Any], own: Mapping[str, Floats]) -> str:
    """A warning where few games show the rarer answer: if it clusters, that cannot be seen."""
    seen, answer = min((int((own[name] > 0).sum()), name) for name in ("yes", "no"))
    if row["rate"] is None or seen >= _FEW_GAMES:
        return ""
    shown = {0: "no labelled game shows", 1: "only 1 labelled game shows"}.get(seen, f"only {seen} labelled games show")
    return f"; {shown} a {answer}: if that clusters in games, the interval may still be too narrow"


def _few_games_with_errors(row: dict[str, Any], errors: Mapping[str, Floats]) -> str:
    """A warning where `rogan_gladen` rests on few games: if the judge's errors cluster, that cannot be seen (docs/dev/coverage.md)."""
    games = int(((errors["yes"] + errors["no"]) > 0).sum())
    if row["rogan_gladen"] is None or games >= _FEW_ERROR_GAMES:
        return ""
    return f"; its error rates come from {games} games: if it errs often in some games and hardly in others, rogan_gladen is too narrow"


def _interval(row: dict[str, Any], name: str) -> str:
    return f"{row[name]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"


def units_of(own: Mapping[str, Floats]) -> Units:
    """From sums as `by_game` gives them."""
    return Units(own["judged"], own["units"])


def labelled_of(own: Mapping[str, Floats]) -> Labelled:
    """From sums as `by_game` gives them."""
    return Labelled(own["label_sum"], own["labelled_score"], own["labels"])
