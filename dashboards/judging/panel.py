"""Panels of judges, and what judging costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dashboards.address import game_at
from dashboards.figures import OUTCOMES, QUIET, plain, styled
from dashboards.grid import Grid, TableRows, columns_of, fold
from dashboards.judging.scores import WHOLE_STORE, Section
from dashboards.parts import Part, card, figure, html, note, stat
from dashboards.reader import Reader
from schemas.common.wording import NOTHING, count, money, of_unknown_cost, spent

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

_SHOWN = 100
_SPLITS = {
    "judges": ("models differ from one another", OUTCOMES["refused"].color),
    "repeats": ("a model differs from itself", OUTCOMES["not_followed"].color),
    "none": ("all the same", QUIET),
}
"""How votes on a unit split, in words, and its colour: what is right is pale and last."""
_IN_FILTERS = "episode_id IN (SELECT episode_id FROM games WHERE {filters})"

_UNITS = f"""
WITH asked AS MATERIALIZED (
    SELECT question, coalesce(variant, '') AS variant, unit_id, judge, repeat, replace(lower(answer), '/', '') AS answer, episode_id, turn
    FROM verdicts_latest
    WHERE rubric = $rubric AND status = 'answered' AND starts_with(judge, 'llm:') AND {_IN_FILTERS}
),

by_judge AS (
    SELECT question, variant, hash(unit_id) AS unit, judge, count(*) AS votes, min(answer) AS least, max(answer) AS most
    FROM asked GROUP BY question, variant, unit, judge
),

units AS MATERIALIZED (
    SELECT question, variant, unit, min(least) <> max(most) AS differ, bool_and(least = most) AS steady
    FROM by_judge GROUP BY question, variant, unit HAVING sum(votes) > 1
)
"""
"""As in the view `panel`, in the few columns that the page needs: at 100,000 turns that view takes many times as long."""

_SPLIT = "CASE WHEN NOT differ THEN 'none' WHEN steady THEN 'judges' ELSE 'repeats' END"

_MOST_SPLIT = f"""
{_UNITS},

counted AS (
    SELECT by_judge.question, by_judge.variant, by_judge.unit, asked.answer, round(sum(1 / by_judge.votes), 6) AS n
    FROM asked
    INNER JOIN by_judge
        ON asked.question = by_judge.question AND asked.variant = by_judge.variant AND hash(asked.unit_id) = by_judge.unit
        AND asked.judge = by_judge.judge
    SEMI JOIN (FROM units WHERE differ) AS split
        ON by_judge.question = split.question AND by_judge.variant = split.variant AND by_judge.unit = split.unit
    GROUP BY ALL
),

voted AS (
    SELECT question, variant, unit, sum(n) AS total, log2(sum(n)) - sum(n * log2(n)) / sum(n) AS entropy
    FROM counted GROUP BY ALL ORDER BY entropy DESC, question, unit LIMIT {_SHOWN}
),

told AS MATERIALIZED (
    SELECT asked.*, voted.unit, voted.entropy
    FROM asked INNER JOIN voted ON asked.question = voted.question AND asked.variant = voted.variant AND hash(asked.unit_id) = voted.unit
),

votes AS (
    SELECT question, variant, unit, string_agg(answer || ' ' || printf('%g', round(n, 2)), ', ' ORDER BY n DESC, answer) AS votes
    FROM counted SEMI JOIN voted USING (question, variant, unit) GROUP BY ALL
),

by_rater AS (
    SELECT question, variant, unit, judge, string_agg(answer, ' ' ORDER BY repeat) AS own FROM told GROUP BY question, variant, unit, judge
),

said AS (SELECT question, variant, unit, string_agg(judge || ': ' || own, ' | ' ORDER BY judge) AS said FROM by_rater GROUP BY ALL)

SELECT DISTINCT told.question, told.unit_id, told.episode_id, told.turn, told.entropy, votes.votes, said.said, games.task_id, games.model
FROM told INNER JOIN votes USING (question, variant, unit) INNER JOIN said USING (question, variant, unit)
INNER JOIN games USING (episode_id)
ORDER BY told.entropy DESC, told.question, told.unit_id
"""

_FLAGS = f"""
WITH shown AS MATERIALIZED (SELECT judge, flagged, unit_id, score FROM verdicts_latest WHERE rubric = $rubric AND {_IN_FILTERS}),

flags AS (
    SELECT judge, unnest(string_split(flagged, '|')) AS flag, unit_id, score FROM shown WHERE flagged IS NOT NULL
    UNION ALL
    SELECT judge, 'none', unit_id, score FROM shown WHERE flagged IS NULL AND judge IN (SELECT judge FROM shown WHERE flagged IS NOT NULL)
)

SELECT judge, flag, count(DISTINCT unit_id) AS units, count(*) AS verdicts, avg(score) AS score_mean
FROM flags GROUP BY judge, flag ORDER BY judge, flag = 'none', flag
"""


_FLAGGED = f"""
    SELECT DISTINCT unit_id, episode_id, turn, agent, flagged FROM verdicts_latest
    WHERE rubric = $rubric AND flagged IS NOT NULL AND {_IN_FILTERS} ORDER BY ALL
"""


def _disagreement_section(read: Reader, rubric: str) -> Part:
    """How often votes split, by question; the most split units; flags."""
    asked = {"rubric": rubric}
    splits = read.rows(
        f"{_UNITS} SELECT question, {_SPLIT} AS split, count(*) AS units FROM units GROUP BY question, split ORDER BY question, split",
        asked,
    )
    return html.Div([_votes(read, splits, asked), _flags_card(read, asked)])


def _votes(read: Reader, splits: pl.DataFrame, asked: dict[str, Any]) -> Part:
    if splits.is_empty():
        return note(
            "No unit has two votes of models under these filters. Ask several times, or a second model:",
            html.Pre(f"cotrace judge --rubric {asked['rubric']} --model openai/gpt-4o-mini --model openai/gpt-4.1-mini --repeats 2"),
        )
    return card(
        "Where votes split",
        figure("judge-splits", _chart(splits), label="share of units on which votes split"),
        fold(read, SPLIT, asked["rubric"], is_open=True),
        hint=f"Every repeat of every model is a vote. Below, the {_SHOWN} units that split most; a click on the turn opens the game.",
    )


def _split(_: Reader, rubric: str) -> TableRows:
    return TableRows(
        sql=_MOST_SPLIT,
        parameters={"rubric": rubric},
        columns=columns_of("panel", "split"),
        link=_game_address,
    )


def _game_address(row: Mapping[str, Any]) -> str:
    return game_at(row["episode_id"], row["turn"] or 1)


def _chart(splits: pl.DataFrame) -> go.Figure:
    import plotly.graph_objects as go
    import polars as pl

    totals = splits.group_by("question").agg(total=pl.col("units").sum())
    rows = splits.join(totals, on="question").with_columns(share=pl.col("units") / pl.col("total")).sort("question")
    drawn = go.Figure()
    for split, (text, color) in _SPLITS.items():
        part = rows.filter(pl.col("split") == split)
        drawn.add_bar(
            x=[f"{plain(question)}<br>n {count(total)}" for question, total in part.select("question", "total").rows()],
            y=part["share"].to_list(),
            name=text,
            marker={"color": color},
            customdata=part.select("units", "total").rows(),
            hovertemplate="%{fullData.name}: %{y:.0%} (%{customdata[0]} of %{customdata[1]} units)<extra></extra>",
        )
    drawn.update_layout(barmode="stack")
    drawn.update_xaxes(type="category", categoryorder="category ascending")
    drawn.update_yaxes(title="share of units", tickformat=".0%", range=[0, 1])
    return styled(drawn, height=300)


def _flags_card(read: Reader, asked: dict[str, Any]) -> Part:
    if read.rows(_FLAGS, asked).is_empty():
        return card("Text that speaks to the judge", hint="None was found in what was judged under these filters.")
    return card(
        "Text that speaks to the judge",
        fold(read, FLAGS, asked["rubric"], is_open=True),
        fold(read, FLAGGED, asked["rubric"], is_open=True),
        hint="Attempts to steer the judge, flagged and counted; a flag changes no verdict. Their mean score beside that of units without.",
    )


def _flags(_: Reader, rubric: str) -> TableRows:
    return TableRows(
        sql=_FLAGS,
        parameters={"rubric": rubric},
        columns=columns_of("panel", "flags"),
    )


def _flagged(_: Reader, rubric: str) -> TableRows:
    return TableRows(
        sql=_FLAGGED,
        parameters={"rubric": rubric},
        columns=columns_of("panel", "flagged"),
        link=_game_address,
    )


SPLIT: Final = Grid("split-units", _split, "Units that split most")
FLAGS: Final = Grid("flags", _flags, "By flag")
FLAGGED: Final = Grid("flagged-units", _flagged, "Where")
DISAGREEMENT: Final = Section("disagreement", "Disagreement", _disagreement_section, (SPLIT, FLAGS, FLAGGED))


_JOBS = """
WITH counted AS (
    SELECT judge_run_id, count(*) AS verdicts, count(*) FILTER (status = 'failed') AS failed
    FROM verdicts WHERE rubric = $rubric GROUP BY judge_run_id
),

jobs AS (
    SELECT
        judge, coalesce(variant, 'as written') AS variant, started_at, status, units, calls, tokens_in, tokens_out, cost,
        coalesce(verdicts, 0) AS verdicts, coalesce(failed, 0) AS failed, epoch(finished_at - started_at) AS seconds
    FROM judge_runs LEFT JOIN counted USING (judge_run_id)
    WHERE rubric = $rubric
)
"""
_SUMS = """
    sum(units)::BIGINT AS units, sum(calls)::BIGINT AS calls, sum(verdicts)::BIGINT AS verdicts, sum(failed)::BIGINT AS failed,
    CASE WHEN count(tokens_in) = count(*) THEN sum(tokens_in)::BIGINT END AS tokens_in,
    CASE WHEN count(tokens_out) = count(*) THEN sum(tokens_out)::BIGINT END AS tokens_out,
    sum(seconds) AS seconds, sum(cost) AS cost, coalesce(sum(calls) FILTER (cost IS NULL), 0)::BIGINT AS unpriced,
    1000 * sum(tokens_in + tokens_out) / nullif(sum(verdicts) FILTER (tokens_in + tokens_out IS NOT NULL), 0) AS tokens_per_1000,
    1000 * sum(cost) / nullif(sum(verdicts) FILTER (cost IS NOT NULL), 0) AS cost_per_1000
"""
_NUMBERS: Final = columns_of("panel", "numbers")
_BY_JUDGE = f"{_JOBS} SELECT judge, variant, count(*) AS jobs, {_SUMS} FROM jobs GROUP BY ALL ORDER BY judge, variant"
_BY_JOB = f"""
{_JOBS} SELECT strftime(started_at, '%Y-%m-%d %H:%M') AS at, judge, variant, status, {_SUMS}
FROM jobs GROUP BY judge, variant, started_at, status ORDER BY started_at DESC
"""


def _cost_section(read: Reader, rubric: str) -> Part:
    """By judge and by job, probes included."""
    by_judge = read.rows(_BY_JUDGE, {"rubric": rubric})
    return html.Div(
        [
            _tiles(by_judge),
            card("By judge", fold(read, BY_JUDGE, rubric, is_open=True), hint=WHOLE_STORE),
            card("By job", fold(read, BY_JOB, rubric, is_open=True)),
        ]
    )


def _tiles(by_judge: pl.DataFrame) -> Part:
    calls, verdicts = (int(sum(by_judge[name])) for name in ("calls", "verdicts"))
    tokens = by_judge["tokens_in"] + by_judge["tokens_out"]
    priced = by_judge["cost"].drop_nulls()
    known = int(sum(by_judge.filter(by_judge["cost"].is_not_null())["verdicts"]))
    total, unknown = float(priced.sum()) if len(priced) else None, int(by_judge["unpriced"].sum())
    return html.Div(
        [
            stat("calls", count(calls), "retries included"),
            stat("verdicts", count(verdicts)),
            stat("tokens", NOTHING, "a server did not count all") if tokens.has_nulls() else stat("tokens", count(int(tokens.sum()))),
            stat(
                "spent", spent(total, unknown), of_unknown_cost(unknown) or ("by the price file" if len(priced) else "no model has a price")
            ),
            stat("per 1000 verdicts", money(1000 * total / known if total is not None and known else None)),
        ],
        className="stats",
    )


def _by_judge(_: Reader, rubric: str) -> TableRows:
    heads = columns_of("panel", "by_judge")
    return TableRows(sql=_BY_JUDGE, parameters={"rubric": rubric}, columns=heads | _NUMBERS)


def _by_job(_: Reader, rubric: str) -> TableRows:
    heads = columns_of("panel", "by_job")
    return TableRows(sql=_BY_JOB, parameters={"rubric": rubric}, columns=heads | _NUMBERS)


BY_JUDGE: Final = Grid("cost-by-judge", _by_judge, "Judges")
BY_JOB: Final = Grid("cost-by-job", _by_job, "Jobs")
COST: Final = Section("cost", "Cost", _cost_section, (BY_JUDGE, BY_JOB))
