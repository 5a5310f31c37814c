"""What probes found out: does a judge's answer change when it should not, and does it when it should?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from analytics.query import query
from analytics.statistics import Interval, clustered_bootstrap, wilson
from judges.probes import DEFECTS_OF
from judges.rubric import PROBE
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUMMARY", "probe_report"]

SUMMARY: Final = ("rubric", "question", "judge", "probe", "expects", "pairs", "games", "rate", "low", "high", "repeats_differ", "shift")
"""The columns that fit a terminal, beside the advice."""

_FIRM = 5
"""Games below which the advice says only that there are few."""

_PAIRS = """
with runs as (select judge_run_id, row_number() over (order by started_at, judge_run_id) as run_order from judge_runs),

latest as (
    select verdicts.*
    from verdicts
    inner join runs using (judge_run_id)
    qualify row_number() over (partition by rubric, question, judge, variant, unit_id, repeat order by run_order desc) = 1
),

noise as (
    select rubric, question, judge, avg((a.answer <> b.answer)::double) as repeats_differ, count(*) as repeat_pairs
    from latest as a
    inner join latest as b using (rubric, question, judge, unit_id)
    where a.variant is null and b.variant is null and a.repeat < b.repeat and a.answer is not null and b.answer is not null
    group by all
)

select
    told.rubric,
    told.question,
    told.judge,
    told.variant as probe,
    told.episode_id as game,
    plain.answer as plain_answer,
    told.answer as told_answer,
    told.score - plain.score as shift,
    noise.repeats_differ,
    noise.repeat_pairs
from latest as told
inner join latest as plain using (rubric, question, judge, unit_id, repeat)
left join noise using (rubric, question, judge)
where plain.variant is null and told.variant is not null and 'skipped' not in (plain.status, told.status)
order by told.rubric, told.question, told.judge, told.variant, told.episode_id, told.unit_id, told.repeat
"""


def probe_report(store: Store) -> pl.DataFrame:
    """One row for every rubric, question, judge and probe, or variant with other walls, that has verdicts beside the plain ones.

    Columns, in order:

    - rubric, question, judge, probe: the probe's kind, or `variant <name>`. expects: `same` where the right answer stays what it was
      (of a variant: where a judge that keeps to the evidence need not change it), `changed` where a planted defect turns it to no.
    - pairs: plain answer and answer on the unit told anew, of the same repeat; of `changed` only where the plain answer was yes, that is
      where the judge, too, found the message clean. games: how many. unanswered: further pairs in which one side has no answer.
    - rate: of `same` the share of pairs whose answers differ (0 is best); of `changed` the share in which the judge now says no, 0 to 1
      (1 is best). low, high: 95 % percentile interval over resampled games; where all pairs are alike, Wilson's over games, which is wide
      on purpose. Null without pairs.
    - repeats_differ: share of pairs of repeats of the same plain unit that differ: what chance alone does; null with one repeat.
    - shift: mean change of the answers' numbers, -1 to 1: above 0, the telling is to the liking of the judge. Null where none has a number.
    - advice: what to make of it, in words.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    pairs = query(store, _PAIRS)
    keys = ["rubric", "question", "judge", "probe"]
    rows = [row for key, group in pairs.group_by(keys, maintain_order=True) if (row := _row([str(part) for part in key], group))]
    texts = ("rubric", "question", "judge", "probe", "expects")
    schema: dict[str, pl.DataType] = dict.fromkeys(texts, pl.String()) | dict.fromkeys(("pairs", "games", "unanswered"), pl.Int64())
    schema |= dict.fromkeys(("rate", "low", "high", "repeats_differ", "shift"), pl.Float64()) | {"advice": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row")


class _Counted(NamedTuple):
    hits: list[float]
    games: list[str]
    unanswered: int


def _row(key: Sequence[str], group: pl.DataFrame) -> dict[str, object] | None:
    """None where the probe says nothing about the question: what a planted defect does to other questions is not known."""
    rubric, question, judge, variant = key
    kind = variant.removeprefix(PROBE)
    target = DEFECTS_OF.get(rubric, {}).get(kind)
    is_defect = variant.startswith(PROBE) and any(kind in known for known in DEFECTS_OF.values())
    if is_defect and target != question:
        return None
    counted = _counted(group, is_defect=is_defect)
    interval = _interval(counted)
    rate = sum(counted.hits) / len(counted.hits) if counted.hits else None
    row: dict[str, object] = {
        "rubric": rubric,
        "question": question,
        "judge": judge,
        "probe": kind if variant.startswith(PROBE) else f"variant {variant}",
        "expects": "changed" if is_defect else "same",
        "pairs": len(counted.hits),
        "games": len(set(counted.games)),
        "unanswered": counted.unanswered,
        "rate": rate,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "repeats_differ": group["repeats_differ"][0],
        "shift": group["shift"].mean(),
    }
    row["advice"] = f"{question} by {judge}, {row['probe']}: {_advice(row, interval, group['repeat_pairs'][0])}"
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


def _interval(counted: _Counted) -> Interval | None:
    """A bootstrap of pairs that are all alike has no width, which would be false certainty."""
    found = clustered_bootstrap(counted.hits, counted.games)
    if found is None:
        return None
    games = len(set(counted.games))
    if found.value in (0.0, 1.0) or games == 1:
        return wilson(round(found.value * games), games)
    return Interval(found.low, found.high)


def _advice(row: dict[str, object], interval: Interval | None, repeat_pairs: int | None) -> str:
    rate, games, noise = row["rate"], row["games"], row["repeats_differ"]
    if interval is None:
        return "no pair of answers: nothing is known"
    if isinstance(games, int) and games < _FIRM:
        return f"only {games} games: judge more before you make anything of it"
    if row["expects"] == "changed":
        found = f"finds {rate:.0%} of the planted defects ({interval.low:.0%} to {interval.high:.0%})"
        return found if interval.low > 0.5 else f"{found}: it does not see what it is asked about, do not use"  # noqa: PLR2004 - worse than a coin
    by_chance = wilson(round(float(str(noise)) * repeat_pairs), repeat_pairs) if repeat_pairs else None
    return _of_same(float(str(rate)), interval, by_chance)


def _of_same(rate: float, interval: Interval, by_chance: Interval | None) -> str:
    """Swayed only if the two intervals do not meet: how often repeats differ is an estimate, too."""
    if rate == 0:
        return f"changes none of its answers (95 %: fewer than {interval.high:.0%})"
    told = f"changes {rate:.0%} of its answers ({interval.low:.0%} to {interval.high:.0%}) though nothing that matters changed"
    if by_chance is None:
        return f"{told}; ask with --repeats 2 to know how many chance alone changes"
    if interval.low > by_chance.high:
        return f"{told}, more than chance alone (at most {by_chance.high:.0%}): it can be swayed"
    return f"{told}, no more than chance alone is known to do (at most {by_chance.high:.0%})"
