"""What a store shows, in sentences: which team failed, where, why, and how sure that is; each with the report that has the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from analytics.comparison.team_names import unlike_names
from analytics.query import query
from schemas.families import family, title_of
from schemas.store import Store
from schemas.wording import count, counted, in_words, interval, number, score, share, share_interval

__all__ = ["TOPICS", "Finding", "findings", "told_apart"]

TOPICS: Final[Mapping[str, str]] = {"who": "Which team failed", "where": "Where", "why": "Why", "sure": "How sure"}
"""Topic of a finding -> as people read it, in order."""

Row = Mapping[str, Any]
_Losses = Mapping[tuple[str, str, str | None], str]

_WENT_RIGHT: Final = ("correct", "no_error", "none_of_these", "accepted", "right")


class Finding(NamedTuple):
    """A sentence."""

    topic: str
    """One of `TOPICS`."""
    benchmark: str
    sentence: str
    report: str
    """The report that has the numbers."""


def findings(store: Store) -> list[Finding]:
    """The sentences of each benchmark with games that ended, in order: who, where, why, how sure.

    Raises:
        StoreError: the store cannot be read.
    """
    board = query(store, "SELECT * FROM leaderboard WHERE n > 0 ORDER BY benchmark, score_mean DESC, team_name").to_dicts()
    boards: dict[tuple[str, str | None], list[Row]] = {}
    for row in board:
        boards.setdefault(_comparable(row), []).append(row)
    losses = _losses(store)
    found = [finding for (benchmark, _), rows in boards.items() for finding in _of_benchmark(store, benchmark, rows, losses)]
    return [*found, *_of_judges(store)]


def _comparable(row: Row) -> tuple[str, str | None]:
    """Teams of one game are compared; of logs of other programs, those of one experiment, since each can be about something else."""
    return row["benchmark"], None if family(row["benchmark"]) else row["condition"]


def _of_benchmark(store: Store, benchmark: str, rows: Sequence[Row], losses: _Losses) -> Iterator[Finding]:
    told = told_apart(rows)
    about = told[0] if told else rows[-1]
    yield Finding("who", benchmark, _who(benchmark, rows), "leaderboard")
    sentences = (
        ("where", _where(store, about), "decisive-turns"),
        ("why", losses.get((benchmark, about["model"], about["condition"])), "lost"),
        ("why", _failures(store, about), "failures"),
        ("why", _spirals(store, about), "spirals"),
    )
    for topic, sentence, report in sentences:
        if sentence is not None:
            yield Finding(topic, benchmark, sentence, report)
    yield Finding("sure", benchmark, _how_sure(rows), "compare")


def told_apart(rows: Sequence[Row]) -> tuple[Row, Row] | None:
    """The team that is shown to be behind, and one it is behind: their 95 % intervals over tasks do not overlap; None if no two are.

    Args:
        rows: of the leaderboard that can be compared, the highest mean first.
    """
    best = max((row for row in rows if row["score_low"] is not None), key=lambda row: row["score_low"], default=None)
    if best is None:
        return None
    behind = [row for row in rows if row["score_high"] is not None and row["score_high"] < best["score_low"]]
    return (behind[-1], best) if behind else None


def _who(benchmark: str, rows: Sequence[Row]) -> str:
    last, first = rows[-1], rows[0]
    known = family(benchmark)
    main = in_words((known.score_words or known.score) if known else "score")
    title = title_of(benchmark) if known else f"{title_of(benchmark)} {first['condition']}"
    games = sum(row["n"] for row in rows)
    opening = f"{title}, {counted(games, 'game')} of {counted(len(rows), 'team')} ({main})"
    if len(rows) == 1:
        return f"{opening}: {_team(first)} reaches {_mean(first)} on average."
    names = dict(zip(map(id, rows), unlike_names([(_team(row), row["condition"], row["max_turns"]) for row in rows]), strict=True))
    told = told_apart(rows)
    if told is None:
        return (
            f"{opening}: not enough games to say which team gets least far; {names[id(last)]} has the lowest mean, "
            f"{_over(last)}, and {names[id(first)]} the highest, {_over(first)}."
        )
    behind, ahead = told
    shown = f"{names[id(behind)]} gets least far, {_over(behind)}, and {names[id(ahead)]} further, {_over(ahead)}"
    if behind is last:
        return f"{opening}: {shown}."
    return f"{opening}: {shown}; not enough games to place {names[id(last)]}, {_over(last)}."


def _over(row: Row) -> str:
    return f"{_mean(row)} over {counted(row['n'], 'game')}"


def _mean(row: Row) -> str:
    is_share = row["score_mean"] is not None and 0 <= row["score_mean"] <= 1
    mean = score(row["score_mean"]) if is_share else number(row["score_mean"])
    return mean if row["score_low"] is None else f"{mean} {interval(row['score_low'], row['score_high'])}"


def _team(row: Row) -> str:
    return str(row["team_name"] or row["model"])


def _games(row: Row) -> dict[str, Any]:
    return {"benchmark": row["benchmark"], "model": row["model"], "condition": row["condition"]}


_OF_TEAM: Final = "benchmark = $benchmark AND model = $model AND condition IS NOT DISTINCT FROM $condition"


def _losses(store: Store) -> _Losses:
    """Benchmark, model and condition -> who lost its games and by what, where that was attributed."""
    if query(store, "SELECT 1 FROM attributions LIMIT 1").is_empty():
        return {}
    from analytics.losses.lost import lost_report

    models = lost_report(store).filter(what="model").remove(lost=0).iter_rows(named=True)
    return {(row["benchmark"], row["model"], row["condition"]): row["sentence"] for row in models}


def _where(store: Store, worst: Row) -> str | None:
    decisive = query(store, f"SELECT turn, share, why FROM decisive_turns WHERE {_OF_TEAM}", _games(worst)).to_dicts()
    if not decisive:
        return None
    shares = [row["share"] for row in decisive if row["share"] is not None]
    carried = f", which carries {share(sum(shares) / len(shares))} of what a game loses" if shares else ""
    out = sum(row["why"] == "out_of_reach" for row in decisive)
    lost = f" After it the goal could no more be reached in {count(out)} of {count(len(decisive))} games." if out else ""
    middle = number(median(row["turn"] for row in decisive))
    return f"The turn that decides a game of {_team(worst)} is turn {middle} at the median{carried}.{lost}"


def _failures(store: Store, worst: Row) -> str | None:
    sql = (
        f"SELECT category, sum(turns) AS turns, sum(denominator) AS denominator, min(share_low) AS low, max(share_high) AS high, "
        f"count(*) AS parts FROM failure_breakdown WHERE is_default AND share IS NOT NULL AND {_OF_TEAM} GROUP BY category "
        "ORDER BY turns DESC, category"
    )
    wrong = [row for row in query(store, sql, _games(worst)).to_dicts() if row["category"] not in _WENT_RIGHT and row["turns"]]
    if not wrong:
        return None
    first = wrong[0]
    sure = f" {share_interval(first['low'], first['high'])}" if first["parts"] == 1 and first["low"] is not None else ""
    more = f"; next comes {in_words(wrong[1]['category'])}, {share(wrong[1]['turns'] / wrong[1]['denominator'])}" if len(wrong) > 1 else ""
    return (
        f"The commonest failure of {_team(worst)} is {in_words(first['category'])}: {share(first['turns'] / first['denominator'])} "
        f"of {count(first['denominator'])} turns{sure}{more}."
    )


def _spirals(store: Store, worst: Row) -> str | None:
    sql = f"SELECT count(*) AS n, count(DISTINCT episode_id) AS games, mode(kind) AS kind FROM correction_spirals WHERE {_OF_TEAM}"
    found = query(store, sql, _games(worst)).to_dicts()[0]
    if not found["n"]:
        return None
    games = query(store, f"SELECT sum(games) AS n FROM leaderboard WHERE {_OF_TEAM}", _games(worst))["n"][0]
    where = f"in {count(found['games'])} of {count(games)} games"
    stretches = "1 stretch" if found["n"] == 1 else f"{count(found['n'])} stretches"
    return f"{_team(worst)} spends {stretches} {where} on correcting without getting anywhere, mostly {in_words(found['kind'])}."


def _how_sure(rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return f"With one team there is nothing to compare; {_interval_over(rows[0])}"
    if told_apart(rows):
        return (
            "The 95 % intervals over tasks of these two do not overlap; cotrace report compare has all pairs, corrected for their number."
        )
    if all(row["score_low"] is None for row in rows):
        return "Too few games for intervals: what the teams differ by may be chance."
    return "The intervals of all teams overlap: more games would tell whether they differ (cotrace report power)."


def _interval_over(only: Row) -> str:
    if only["score_low"] is None:
        return "of a single task there is no interval."
    return f"the interval is over {counted(only['tasks'], 'task')}."


def _of_judges(store: Store) -> Iterator[Finding]:
    sql = (
        "SELECT rater_b AS judge, sum(pairs) AS pairs, sum(n) AS n, sum(agreed) AS agreed FROM agreement WHERE kind = 'label_judge' "
        "GROUP BY ALL HAVING sum(n) > 0 ORDER BY ALL"
    )
    for row in query(store, sql).to_dicts():
        yield Finding(
            "sure",
            "",
            f"The judge {row['judge']} answers {share(row['n'] / row['pairs'])} of {count(row['pairs'])} labelled questions, "
            f"and {count(row['agreed'])} of those {count(row['n'])} as the label does.",
            "agreement",
        )
