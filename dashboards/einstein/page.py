"""Einstein puzzles: success and step ratio by action space, model, verifier and size, and the errors over both denominators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from dashboards.address import Address
from dashboards.figures import OUTCOMES, Axis, Dot, dot_plot, plain, styled
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.pages import game
from dashboards.pages import turns as turns_page
from dashboards.parts import Part, card, figure, link_choices, note, stat, stat_of
from dashboards.reader import Reader
from games.einstein.labels import CATEGORIES, NO_ERROR
from schemas.common.wording import count, counted, in_words, number, score, share

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


PATH = "/einstein"
TITLE = "Einstein Puzzles"
IN_MENU = True
BENCHMARK = "einstein"
ORDER = 81

_GROUPS = {
    "action_mode": "Action space",
    "verifier": "Verifier",
    "num_objects": "Objects",
    "model": "Model",
    "use_cot": "Reasoning",
    "run": "Run",
}
_PER = {"steps": "all steps", "relevant": "actions concerned"}

_KNOWN = """
    WITH known AS (
        SELECT
            * REPLACE (
                coalesce(verifier, 'unknown') AS verifier,
                num_objects::VARCHAR AS num_objects,
                CASE use_cot WHEN 1 THEN 'with' WHEN 0 THEN 'without' ELSE 'unknown' END AS use_cot
            )
        FROM einstein_game_facts WHERE {filters}
    )
"""
_MEASURES = """
    count(success) AS games,
    coalesce(sum(success), 0)::BIGINT AS wins,
    wins / nullif(games, 0) AS success_rate,
    wilson_low(wins, games) AS success_low,
    wilson_high(wins, games) AS success_high,
    avg(sub_r) AS sub_r,
    count(step_ratio) AS n_ratio,
    avg(step_ratio) AS step_ratio,
    t_critical(n_ratio - 1) * stddev_samp(step_ratio) / sqrt(n_ratio) AS ratio_half,
    avg(avg_corrected) AS corrected,
    sum(solved_at_limit)::BIGINT AS at_limit,
    coalesce(sum(step_count) FILTER (success IS NOT NULL), 0)::BIGINT AS steps
"""
_TOTALS = f"""
    SELECT
        sum(step_count)::BIGINT AS steps, sum(n_move)::BIGINT AS move, sum(n_share)::BIGINT AS share, sum(n_ask)::BIGINT AS ask,
        sum(no_error_steps)::BIGINT AS no_error,
        {", ".join(f"sum({category.key})::BIGINT AS {category.key}" for category in CATEGORIES)}
    FROM einstein_game_facts WHERE {{filters}}
"""


def content(read: Reader) -> Part:
    """The games under the filters: `?by=` is the axis, `?split=` the colours, `?per=` the denominator of the error rates."""
    address = read.address
    by, split = _axes(read)
    per = address.one("per") if address.one("per") in _PER else "steps"
    rows = measured(read, by, split)
    if rows.is_empty():
        return note("No Einstein game under these filters.", html.Pre("cotrace play einstein --out logs/\ncotrace ingest logs/"))
    choices = [
        link_choices("By", [(label, address.to(by=key), key == by) for key, label in _GROUPS.items()]),
        link_choices("Colours", [(label, address.to(split=key), key == split) for key, label in _GROUPS.items()]),
    ]
    return html.Div(
        [
            html.H1("Einstein Puzzles"),
            _stats(read),
            *choices,
            html.Div(
                [
                    card(
                        "Success",
                        figure("einstein-success", success(rows, by, split, address), label="share of games solved"),
                        hint="Bars are 95 % Wilson intervals.",
                    ),
                    card(
                        "Step ratio",
                        figure("einstein-steps", step_ratio(rows, by, split, address), label="steps over optimum"),
                        hint="Steps over the optimum of the action space, solved games only; bars are 95 % t intervals.",
                    ),
                    card("Numbers", fold(read, NUMBERS), wide=True),
                ],
                className="columns",
            ),
            _errors_card(read, per),
        ]
    )


def _axes(read: Reader) -> tuple[str, str]:
    by = read.address.one("by") if read.address.one("by") in _GROUPS else "action_mode"
    return by, read.address.one("split") if read.address.one("split") in _GROUPS else "verifier"


def report_figure(read: Reader) -> go.Figure | None:
    """Success by action space and verifier; None without Einstein games."""
    rows = measured(read, "action_mode", "verifier")
    return None if rows.is_empty() else success(rows, "action_mode", "verifier", read.address)


def measured(read: Reader, by: str, split: str) -> pl.DataFrame:
    """Games, success, subgoals, step ratio and corrections of each group, with intervals."""
    return read.rows(_measured(by, split))


def _measured(by: str, split: str) -> str:
    groups = f'"{by}"' if split == by else f'"{by}", "{split}"'
    return f"{_KNOWN} SELECT {groups}, {_MEASURES} FROM known GROUP BY {groups} ORDER BY {groups}"


def _stats(read: Reader) -> Part:
    whole = read.rows(f"{_KNOWN} SELECT {_MEASURES} FROM known").row(0, named=True)
    return html.Div(
        [
            stat("games", count(whole["games"]), counted(whole["steps"], "step")),
            stat_of("solved in time", int(whole["wins"]), int(whole["games"])),
            stat("objects in their bins", score(whole["sub_r"]), "mean of games"),
            stat("times the optimal steps", number(whole["step_ratio"]), "mean of solved games"),
        ],
        className="stats",
    )


def success(rows: pl.DataFrame, by: str, split: str, address: Address) -> go.Figure:
    """Share of solved games, a line a group, a colour for each value of the other; a click lists the games of a model."""
    dots = [
        Dot(
            line=in_words(row[by]),
            series=str(row[split]),
            value=row["success_rate"],
            low=row["success_low"],
            high=row["success_high"],
            n=row["games"],
            link=_games_address(address, by, row[by]),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(dots, Axis(title="solved in time", is_share=True))


def step_ratio(rows: pl.DataFrame, by: str, split: str, address: Address) -> go.Figure:
    """Mean step ratio of the solved games with its 95 % interval; a ratio below one is not possible."""
    dots = [
        Dot(
            line=in_words(row[by]),
            series=str(row[split]),
            value=row["step_ratio"],
            low=None if row["ratio_half"] is None else row["step_ratio"] - row["ratio_half"],
            high=None if row["ratio_half"] is None else row["step_ratio"] + row["ratio_half"],
            n=row["n_ratio"],
            link=_games_address(address, by, row[by]),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(dots, Axis(title="steps over optimum", low=1, high=None, lines_at=(1,)), n_of="solved games")


def _games_address(address: Address, by: str, value: object) -> str:
    """The list of games, narrowed where the group is one of the filters of every page."""
    narrowed = {"model": {"model": str(value)}, "num_objects": {"level": f"{value} objects"}, "run": {"condition": str(value)}}.get(by, {})
    return address.narrowed(game.PATH, benchmark="einstein", **narrowed)


# -- errors -------------------------------------------------------------------------------------------------------------------------------


def _errors_card(read: Reader, per: str) -> Part:
    rows = _categories(read)
    choices = link_choices("Rate over", [(label, read.address.to(per=key), key == per) for key, label in _PER.items()])
    return card(
        "Errors",
        choices,
        figure("einstein-errors", errors(rows, per, read.address), label="share of steps by error"),
        fold(read, ERRORS),
        hint="By rule; a step can have several errors. Click a bar to read the steps behind it.",
    )


def _categories(read: Reader) -> pl.DataFrame:
    """Both rates of every category of the paper's Table 2; the second is null where it concerns no action or there was none."""
    import polars as pl

    totals = read.rows(_TOTALS).row(0, named=True)
    relevant = {category.key: category.relevant for category in CATEGORIES} | {NO_ERROR: None}
    rows = [
        {"category": key, "count": totals[key], "total": totals["steps"], "concerned": action, "number": totals[action] if action else None}
        for key, action in relevant.items()
    ]
    counts = {"count": pl.Int64, "total": pl.Int64, "number": pl.Int64}
    return pl.DataFrame(rows, schema_overrides={**counts, "concerned": pl.String}).with_columns(
        steps=pl.when(pl.col("total") > 0).then(pl.col("count") / pl.col("total")),
        relevant=pl.when(pl.col("number") > 0).then(pl.col("count") / pl.col("number")),
    )


def errors(rows: pl.DataFrame, per: str, address: Address) -> go.Figure:
    """A bar a category: its share of all steps, or of the actions it concerns."""
    import plotly.graph_objects as go

    part = rows.filter((rows["category"] != NO_ERROR) & rows[per].is_not_null()).sort(per)
    links = [address.narrowed(turns_page.PATH, benchmark="einstein", taxonomy="einstein_published", category=c) for c in part["category"]]
    shares = part[per].to_list()
    drawn = go.Figure(
        go.Bar(
            x=shares,
            y=[plain(in_words(category)) for category in part["category"]],
            orientation="h",
            marker={"color": OUTCOMES["not_followed"].color},
            customdata=[
                [link, f"{share(value)} ({counted(n, 'step')})"] for link, value, n in zip(links, part[per], part["count"], strict=True)
            ],
            hovertemplate="%{y}: %{customdata[1]}<extra></extra>",
        )
    )
    drawn.update_xaxes(title=f"share of {_PER[per]}", rangemode="tozero", tickformat=".0%")
    return styled(drawn, height=400, legend=False)


def _numbers(read: Reader, _: str) -> TableRows:
    by, split = _axes(read)
    heads = {
        name: GridColumn(heading=_GROUPS[name], kind="text" if name in {"model", "run"} else "name") for name in dict.fromkeys((by, split))
    }
    return TableRows(
        sql=_measured(by, split),
        columns=heads
        | {
            "success_rate": GridColumn(heading="Solved", kind="share", part="wins", whole="games"),
            "success_low": GridColumn(heading="95 % from", kind="share"),
            "success_high": GridColumn(heading="to", kind="share"),
            "sub_r": GridColumn(heading="Objects in bins", kind="score"),
            "step_ratio": GridColumn(heading="Steps over optimum", kind="number"),
            "ratio_half": GridColumn(heading="±", kind="number"),
            "corrected": GridColumn(heading="Corrections", kind="number"),
            "at_limit": GridColumn(heading="Solved in the last step", kind="count"),
        },
        link=lambda row: _games_address(read.address, by, row[by]),
    )


def _error_rows(read: Reader, _: str) -> TableRows:
    address = read.address
    return TableRows(
        frame=_categories(read),
        source="cotrace report einstein-errors",
        columns={
            "category": GridColumn(heading="Category", kind="name"),
            "count": GridColumn(heading="Steps", kind="count"),
            "total": GridColumn(heading="of", kind="count"),
            "steps": GridColumn(heading="Share of steps", kind="share"),
            "concerned": GridColumn(heading="Actions concerned"),
            "number": GridColumn(heading="their number", kind="count"),
            "relevant": GridColumn(heading="Share of them", kind="share"),
        },
        link=lambda row: address.narrowed(turns_page.PATH, benchmark="einstein", taxonomy="einstein_published", category=row["category"]),
    )


NUMBERS: Final = Grid("einstein", _numbers, "Groups in numbers")
ERRORS: Final = Grid("einstein-errors", _error_rows, "Errors in numbers")
TABLES = (NUMBERS, ERRORS)
FIGURES: Final = {"einstein": report_figure}
