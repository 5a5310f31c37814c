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
_SPLIT_UNITS: Final = "FROM panel_splits(chosen := {filters}, about := $rubric) ORDER BY question, split"
_MOST_SPLIT: Final = f"""
    SELECT question, unit_id, episode_id, panel.turn, entropy, votes, said, games.task_id, games.model
    FROM panel_of(about := $rubric, chosen := {{filters}}, most := {_SHOWN}) AS panel INNER JOIN games USING (episode_id)
    ORDER BY entropy DESC, question, unit_id
"""
_FLAGS: Final = "FROM judge_flags({filters}) WHERE rubric = $rubric ORDER BY judge, flag = 'none', flag"
_FLAGGED: Final = """
    SELECT DISTINCT unit_id, episode_id, turn, agent, flagged FROM verdicts_latest
    WHERE rubric = $rubric AND flagged IS NOT NULL AND episode_id IN (SELECT episode_id FROM games WHERE {filters})
    ORDER BY ALL
"""


def _disagreement_section(read: Reader, rubric: str) -> Part:
    """How often votes split, by question; the most split units; flags."""
    asked = {"rubric": rubric}
    splits = read.rows(_SPLIT_UNITS, asked)
    return html.Div([_votes(read, splits, asked), _flags_card(read, asked)])


def _votes(read: Reader, splits: pl.DataFrame, asked: dict[str, Any]) -> Part:
    if splits.is_empty():
        return note(
            "No unit has two answers of models under these filters. Ask several times, or a second model:",
            html.Pre(f"cotrace judge --rubric {asked['rubric']} --model openai/gpt-4o-mini --model openai/gpt-4.1-mini --repeats 2"),
        )
    return card(
        "Where votes split",
        figure("judge-splits", splits_figure(splits), label="share of units on which votes split"),
        fold(read, SPLIT, asked["rubric"], is_open=True),
        hint=f"Each model has one vote, which its repeats share. Below, the {_SHOWN} units that split most; a click on a turn opens it.",
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


def splits_figure(splits: pl.DataFrame) -> go.Figure:
    """Bars of the report `panel-splits`, a question each."""
    import plotly.graph_objects as go
    import polars as pl

    rows = splits.with_columns(total=pl.col("units").sum().over("question"))
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


_NUMBERS: Final = columns_of("panel", "numbers")
_BY_JUDGE: Final = """
    SELECT *, coalesce(variant, 'as written') AS evidence FROM cost WHERE rubric = $rubric ORDER BY judge, variant NULLS FIRST
"""
_BY_JOB: Final = """
    SELECT *, coalesce(variant, 'as written') AS evidence, strftime(started_at, '%Y-%m-%d %H:%M') AS at FROM scoring_jobs
    WHERE rubric = $rubric ORDER BY started_at DESC, judge_run_id
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
    priced = by_judge["cost_usd"].drop_nulls()
    known = int(sum(by_judge.filter(by_judge["cost_usd"].is_not_null())["verdicts"]))
    total, unknown = float(priced.sum()) if len(priced) else None, int(by_judge["calls_unpriced"].sum())
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
    columns = columns_of("panel", "by_judge") | {{"cost": "cost_usd"}.get(name, name): column for name, column in _NUMBERS.items()}
    return TableRows(sql=_BY_JUDGE, parameters={"rubric": rubric}, columns=columns)


def _by_job(_: Reader, rubric: str) -> TableRows:
    return TableRows(sql=_BY_JOB, parameters={"rubric": rubric}, columns=columns_of("panel", "by_job") | _NUMBERS)


BY_JUDGE: Final = Grid("cost-by-judge", _by_judge, "Judges")
BY_JOB: Final = Grid("cost-by-job", _by_job, "Jobs")
COST: Final = Section("cost", "Cost", _cost_section, (BY_JUDGE, BY_JOB))
