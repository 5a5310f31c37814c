"""What probes found out: does a judge's answer change when it should not, and does it when it should?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.query import query
from analytics.statistics.cluster_intervals import clustered_share
from analytics.statistics.intervals import Estimate
from judges.evidence.perturbation.defects import defects, defects_of
from judges.evidence.perturbation.injected import INJECTED, can_change
from judges.rubric.model import PROBE
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUMMARY", "probe_report"]

SUMMARY: Final = ("rubric", "question", "judge", "probe", "expects", "pairs", "games", "rate", "low", "high", "repeats_differ", "shift")
"""The columns that fit a terminal, beside the advice."""

_FIRM = 5
"""Games below which the advice says only that there are few."""

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
    told.rubric,
    told.question,
    told.judge,
    told.variant as probe,
    told.episode_id as game,
    told.unit_id,
    plain.score as plain_score,
    plain.answer as plain_answer,
    told.answer as told_answer,
    told.score - plain.score as shift
from latest as told
inner join latest as plain using (rubric, question, judge, unit_id, repeat)
where plain.variant is null and told.variant is not null and 'skipped' not in (plain.status, told.status)
order by told.rubric, told.question, told.judge, told.variant, told.episode_id, told.unit_id, told.repeat
"""

_REPEATS = f"""{_LATEST}
select a.rubric, a.question, a.judge, a.episode_id as game, (a.answer <> b.answer)::double as differ
from latest as a
inner join latest as b using (rubric, question, judge, unit_id)
where a.variant is null and b.variant is null and a.repeat < b.repeat and a.answer is not null and b.answer is not null
order by all
"""


def probe_report(store: Store) -> pl.DataFrame:
    """One row for every rubric, question, judge and probe, or variant with other visible evidence, that has verdicts beside the plain ones.

    Columns, in order:

    - rubric, question, judge, probe: the probe's kind, or `variant <name>`. expects: `same` where the right answer stays what it was
      (of a variant: where a judge that keeps to the evidence need not change it), `changed` where a planted defect turns it to no.
    - pairs: plain answer and answer on the perturbed unit, of the same repeat; of `changed` only where the plain answer was yes, that is
      where the judge, too, found the message clean; of `injected` only where the planted attack demands another answer than the plain
      one, so that it can change it. games: how many. unanswered: further pairs in which one side has no answer.
    - rate: of `same` the share of pairs whose answers differ (0 is best); of `changed` the share in which the judge now says no, 0 to 1
      (1 is best). low, high: 95 % interval over games (`analytics.statistics.cluster_intervals`). Null without pairs.
    - repeats_differ: share of pairs of repeats of the same plain unit that differ: what chance alone does; null with one repeat.
    - shift: mean change of the answers' numbers, -1 to 1: above 0, the telling is to the liking of the judge. Null where none has a number.
    - advice: what to make of it, in words.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    pairs = query(store, _PAIRS)
    keys = ["rubric", "question", "judge", "probe"]
    chance = {key: clustered_share(list(group["differ"]), list(group["game"])) for key, group in query(store, _REPEATS).group_by(keys[:3])}
    groups = pairs.group_by(keys, maintain_order=True)
    rows = [row for key, group in groups if (row := _row([str(part) for part in key], group, chance.get(key[:3])))]
    texts = ("rubric", "question", "judge", "probe", "expects")
    schema: dict[str, pl.DataType] = dict.fromkeys(texts, pl.String()) | dict.fromkeys(("pairs", "games", "unanswered"), pl.Int64())
    schema |= dict.fromkeys(("rate", "low", "high", "repeats_differ", "shift"), pl.Float64()) | {"advice": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row")


class _Counted(NamedTuple):
    hits: list[float]
    games: list[str]
    unanswered: int


def _row(key: Sequence[str], group: pl.DataFrame, chance: Estimate | None) -> dict[str, object] | None:
    """None where the probe says nothing about the question: what a planted defect does to other questions is not known."""
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
    for game, plain, told in group.select("game", "plain_answer", "told_answer").iter_rows():
        if plain is None or told is None:
            unanswered += 1
        elif not is_defect:
            hits.append(float(plain != told))
            games.append(game)
        elif plain == "yes":
            hits.append(float(told == "no"))
            games.append(game)
    return _Counted(hits, games, unanswered)


def _advice(row: dict[str, object], found: Estimate | None, chance: Estimate | None) -> str:
    games = row["games"]
    if found is None:
        return "no pair of answers: nothing is known"
    if isinstance(games, int) and games < _FIRM:
        return f"only {games} games: judge more before you make anything of it"
    if row["expects"] == "changed":
        text = f"finds {found.value:.0%} of the planted defects ({found.low:.0%} to {found.high:.0%})"
        return text if found.low > 0.5 else f"{text}: it does not see what it is asked about, do not use"  # noqa: PLR2004 - worse than a coin
    return _of_same(found, chance)


def _of_same(found: Estimate, chance: Estimate | None) -> str:
    """Swayed only if the two intervals do not meet: how often repeats differ is an estimate, too."""
    if found.value == 0:
        return f"changes none of its answers (95 %: fewer than {found.high:.0%})"
    told = f"changes {found.value:.0%} of its answers ({found.low:.0%} to {found.high:.0%}) though nothing that matters changed"
    if chance is None:
        return f"{told}; ask with --repeats 2 to know how many chance alone changes"
    if found.low > chance.high:
        return f"{told}, more than chance alone (at most {chance.high:.0%}): it can be swayed"
    return f"{told}, no more than chance alone is known to do (at most {chance.high:.0%})"
