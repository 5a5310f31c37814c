"""The reports `probes` and `self-preference`: whether a judge reacts to what should not matter.

`probes`: does an answer change when it should not, and does it change when it should?

`self-preference`: does a judge score texts of its own model higher than equally good texts of others? Units are compared with units of
the same label. The mean of score minus label would not do: a judge that errs in one of five, whoever wrote, is too hard where most is
right and too kind where most is wrong, so it would seem to prefer the worse author. Given the truth, such a judge scores both alike (equal
error rates; Hardt, Price and Srebro 2016, Advances in Neural Information Processing Systems 29).
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from analytics.agreement.answers import answers, labels_of
from analytics.query import query
from analytics.report_columns import framed
from analytics.statistics.intervals import Estimate, clustered_share
from analytics.statistics.shifts import FEWEST_GAMES, Cells, Shift, group_shift, holm
from judges.evidence.perturbations import INJECTED, can_change, defects, defects_of
from judges.rubric import PROBE
from schemas.store.store import Store

_FIRM = 5
"""Games below which the advice is only that there are few."""

_LATEST = """
with runs as (select judge_run_id, row_number() over (order by started_at, judge_run_id) as run_order from judge_runs),

latest as (
    select verdicts.*
    from verdicts
    inner join runs using (judge_run_id)
    qualify row_number() over (partition by rubric, question, judge, variant, unit_id, repeat order by run_order desc) = 1
)
"""

_PAIRS = f"""{_LATEST}
select
    probed.rubric, probed.question, probed.judge,
    probed.variant as probe,
    probed.episode_id as game,
    probed.unit_id,
    plain.score as plain_score,
    plain.answer as plain_answer,
    probed.answer as probed_answer,
    probed.score - plain.score as shift
from latest as probed
inner join latest as plain using (rubric, question, judge, unit_id, repeat)
where plain.variant is null and probed.variant is not null and 'skipped' not in (plain.status, probed.status)
order by probed.rubric, probed.question, probed.judge, probed.variant, probed.episode_id, probed.unit_id, probed.repeat
"""

_REPEATS = f"""{_LATEST}
select a.rubric, a.question, a.judge, a.episode_id as game, (a.answer <> b.answer)::double as differ
from latest as a
inner join latest as b using (rubric, question, judge, unit_id)
where a.variant is null and b.variant is null and a.repeat < b.repeat and a.answer is not null and b.answer is not null
order by all
"""


def probe_report(store: Store) -> pl.DataFrame:
    """One row for every rubric, question, judge and probe, or variant with other visible evidence, with verdicts next to the plain ones.

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    pairs = query(store, _PAIRS)
    keys = ["rubric", "question", "judge", "probe"]
    chance = {key: clustered_share(list(group["differ"]), list(group["game"])) for key, group in query(store, _REPEATS).group_by(keys[:3])}
    groups = pairs.group_by(keys, maintain_order=True)
    rows = [row for key, group in groups if (row := _row([str(part) for part in key], group, chance.get(key[:3])))]
    return framed("probes", rows)


class _Counted(NamedTuple):
    hits: list[float]
    games: list[str]
    unanswered: int


def _row(key: Sequence[str], group: pl.DataFrame, chance: Estimate | None) -> dict[str, object] | None:
    """None where the probe shows nothing about the question: what a planted defect does to other questions is not known."""
    rubric, question, judge, variant = key
    kind = variant.removeprefix(PROBE)
    target = defects_of(rubric).get(kind)
    is_defect = variant.startswith(PROBE) and kind in defects()
    if is_defect and target != question:
        return None
    if kind.startswith(INJECTED) and variant.startswith(PROBE):
        group = group.filter([can_change(*unit) for unit in group.select("unit_id", "plain_score").iter_rows()])
    counted = _counted(group, is_defect=is_defect)
    found = clustered_share(counted.hits, counted.games)
    row: dict[str, object] = {
        "rubric": rubric,
        "question": question,
        "judge": judge,
        "probe": kind if variant.startswith(PROBE) else f"variant {variant}",
        "expects": "changed" if is_defect else "same",
        "pairs": len(counted.hits),
        "games": len(set(counted.games)),
        "unanswered": counted.unanswered,
        "rate": found.value if found else None,
        "low": found.low if found else None,
        "high": found.high if found else None,
        "repeats_differ": chance.value if chance else None,
        "shift": group["shift"].mean(),
    }
    row["advice"] = f"{question} by {judge}, {row['probe']}: {_advice(row, found, chance)}"
    return row


def _counted(group: pl.DataFrame, *, is_defect: bool) -> _Counted:
    hits, games, unanswered = [], [], 0
    for game, plain, probed in group.select("game", "plain_answer", "probed_answer").iter_rows():
        if plain is None or probed is None:
            unanswered += 1
        elif not is_defect:
            hits.append(float(plain != probed))
            games.append(game)
        elif plain == "yes":
            hits.append(float(probed == "no"))
            games.append(game)
    return _Counted(hits, games, unanswered)


def _advice(row: dict[str, object], found: Estimate | None, chance: Estimate | None) -> str:
    games = row["games"]
    if found is None:
        return "no pair of answers: nothing is known"
    if isinstance(games, int) and games < _FIRM:
        return f"only {games} games: judge more before you draw a conclusion"
    if row["expects"] == "changed":
        text = f"finds {found.value:.0%} of the planted defects ({found.low:.0%} to {found.high:.0%})"
        return text if found.low > 0.5 else f"{text}: it does not see what it is asked about, do not use"  # noqa: PLR2004 - worse than a coin
    return _of_same(found, chance)


def _of_same(found: Estimate, chance: Estimate | None) -> str:
    """Swayed only if the two intervals do not meet: how often repeats differ is an estimate, too."""
    if found.value == 0:
        return f"changes none of its answers (95 %: fewer than {found.high:.0%})"
    text = f"changes {found.value:.0%} of its answers ({found.low:.0%} to {found.high:.0%}) though nothing that matters changed"
    if chance is None:
        return f"{text}; ask with --repeats 2 to know how many chance alone changes"
    if found.low > chance.high:
        return f"{text}, more than chance alone (at most {chance.high:.0%}): it can be swayed"
    return f"{text}, no more than chance alone does (at most {chance.high:.0%})"


_AUTHORS = """
select distinct
    v.unit_id as unit,
    v.judge as rater,
    e.benchmark,
    split_part(lower(v.judge), '/', -1) = split_part(lower(coalesce(a.model, e.model)), '/', -1) as own
from verdicts_latest as v
inner join episodes as e on v.episode_id = e.episode_id
left join agents as a on v.episode_id = a.episode_id and v.agent = a.agent
where starts_with(v.judge, 'llm:') and v.variant is null and ($rubric is null or v.rubric = $rubric)
qualify bool_or(own) over (partition by v.judge) and not bool_and(own) over (partition by v.judge)
"""

_SURE = 0.05
_MIDDLE = 0.5

_Row = dict[str, Any]


def self_preference_report(store: Store, *, rubric: str | None = None) -> pl.DataFrame:
    """One row for every rubric, question and model judge that judged what its own model wrote and what others wrote.

    The author is the model of the unit's agent, where the store knows it, else the evaluated model of the game. Own are authors of the same
    name, whatever provider is before the last slash.

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    authors = query(store, _AUTHORS, {"rubric": rubric})
    rows = [] if authors.is_empty() else list(_rows(authors, _scored(store, rubric)))
    for name in {row["rubric"] for row in rows}:
        family = [row for row in rows if row["rubric"] == name]
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_corrected"] = p
            row["advice"] = _self_preference_advice(row)
    return framed("self-preference", rows)


def _scored(store: Store, rubric: str | None) -> pl.DataFrame:
    """Mean score of each judge about each unit, and the mean label where there is one."""
    given = answers(store, rubric, random_only=True).drop_nulls("score")
    unit = ["rubric", "question", "unit"]
    means = given.filter(pl.col("role") == "judge").group_by(*unit, "game", "rater", maintain_order=True)
    scores = means.agg(score=(pl.col("score") * pl.col("n")).sum() / pl.col("n").sum())
    return scores.join(labels_of(given), on=unit, how="left", maintain_order="left")


def _rows(authors: pl.DataFrame, scored: pl.DataFrame) -> Iterator[_Row]:
    joined = scored.join(authors, on=["unit", "rater"], how="inner", maintain_order="left")
    for (rubric, question, judge), part in joined.group_by("rubric", "question", "rater", maintain_order=True):
        own, other = part.filter(pl.col("own")), part.filter(~pl.col("own"))
        if own.is_empty() or other.is_empty():
            continue
        labelled = part.drop_nulls("label")
        preference = preference_shift(labelled)
        yield {
            "rubric": rubric,
            "question": question,
            "judge": judge,
            "own_units": len(own),
            "own_games": own["game"].n_unique(),
            "other_units": len(other),
            "other_games": other["game"].n_unique(),
            "own_rate": own["score"].mean(),
            "other_rate": other["score"].mean(),
            **_named("rate", _shift(part, "score", ["benchmark"])),
            "own_labels": len(labelled.filter("own")),
            "other_labels": len(labelled.filter(~pl.col("own"))),
            **_error_rates(labelled),
            **dict(zip(("preference", "preference_low", "preference_high", "p"), preference or (None,) * 4, strict=True)),
        }


def preference_shift(labelled: pl.DataFrame) -> Shift | None:
    """Score of the judge's own model minus that of others, among units with the same label.

    Args:
        labelled: one row a unit: benchmark, game, own (bool), score and label, 0 to 1.
    """
    return _shift(labelled, "score", ["benchmark", "label"])


_SIDES: Final = ("sensitivity", "specificity")


def _error_rates(labelled: pl.DataFrame) -> _Row:
    yes = labelled.filter(pl.col("label") > _MIDDLE).with_columns(right=pl.col("score"))
    no = labelled.filter(pl.col("label") < _MIDDLE).with_columns(right=1 - pl.col("score"))
    row: _Row = {}
    for name, part in zip(_SIDES, (yes, no), strict=True):
        row[f"own_{name}"] = part.filter("own")["right"].mean()
        row[f"other_{name}"] = part.filter(~pl.col("own"))["right"].mean()
        row |= _named(name, _shift(part, "right", ["benchmark", "label"]))
    return row


def _named(name: str, shift: Shift | None) -> _Row:
    keys = (f"{name}_difference", f"{name}_low", f"{name}_high")
    return dict(zip(keys, (None, None, None) if shift is None else shift[:3], strict=True))


def _shift(part: pl.DataFrame, value: str, strata: list[str]) -> Shift | None:
    """Own minus other mean of a value inside strata."""
    import numpy as np

    sums = part.group_by(*strata, "game", "own", maintain_order=True).agg(pl.len().alias("units"), pl.col(value).sum())
    if sums.is_empty():
        return None
    stratum, games = (
        sums.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(np.int64) - 1 for names in (strata, ["game"])
    )
    return group_shift(Cells(stratum, games, sums["own"].to_numpy(), sums["units"].cast(pl.Float64).to_numpy(), sums[value].to_numpy()))


def _self_preference_advice(row: _Row) -> str:
    about = f"{row['question']}: {row['judge']} scores its own model {row['own_rate']:.2f} and others {row['other_rate']:.2f}"
    if row["p_corrected"] is None:
        return f"{about}; only labels show whether that is a preference, with labels of {FEWEST_GAMES} games or more on either side"
    equal = f"where the label is the same {row['preference']:+.2f}"
    interval = f"{row['preference_low']:+.2f} to {row['preference_high']:+.2f}"
    if row["p_corrected"] >= _SURE:
        return f"{about}, {equal}; no preference for itself shown (beyond {interval} it is unlikely)"
    if row["preference"] > 0:
        return f"{about}, {equal}; it favours itself ({interval}): do not let it rank its own model"
    return f"{about}, {equal}; it is harder on itself ({interval}): do not let it rank its own model"
