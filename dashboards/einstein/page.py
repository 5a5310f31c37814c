"""Einstein puzzles: success and step ratio by action space, model, verifier and size, and the errors over both denominators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import html

from dashboards.address import Address
from dashboards.figures.theme import MODEL_COLORS, plain, styled
from dashboards.pages import game
from dashboards.pages import turns as turns_page
from dashboards.parts import Part, card, figure, link_choices, note, number, rate, stat, table
from dashboards.reader import Reader
from games.einstein.measures.labels import CATEGORIES, NO_ERROR

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["BENCHMARK", "IN_MENU", "ORDER", "PATH", "REPORT", "TITLE", "content", "errors", "report_figure", "step_ratio", "success"]

PATH = "/einstein"
TITLE = "Einstein"
IN_MENU = True
BENCHMARK = "einstein"
ORDER = 81
REPORT = "einstein"

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
    by = address.one("by") if address.one("by") in _GROUPS else "action_mode"
    split = address.one("split") if address.one("split") in _GROUPS else "verifier"
    per = address.one("per") if address.one("per") in _PER else "steps"
    rows = measured(read, by, split)
    if rows.is_empty():
        return note("No Einstein game under these filters.", html.Pre("cotrace play einstein --out logs/\ncotrace ingest logs/"))
    columns = {
        by: _GROUPS[by],
        **({split: _GROUPS[split]} if split != by else {}),
        "games": "Games",
        "wins": "Solved",
        "success_rate": "SR",
        "success_low": "95 % from",
        "success_high": "to",
        "sub_r": "Sub.R",
        "step_ratio": "StepR",
        "ratio_half": "±",
        "corrected": "Corr.R",
        "at_limit": "Solved in the last step",
    }
    show = dict.fromkeys(("step_ratio", "ratio_half", "corrected"), number)
    choices = [
        link_choices("By", [(label, address.to(by=key), key == by) for key, label in _GROUPS.items()]),
        link_choices("Colours", [(label, address.to(split=key), key == split) for key, label in _GROUPS.items()]),
    ]
    return html.Div(
        [
            html.H1("Einstein puzzles"),
            _stats(read),
            *choices,
            card("Success", figure("einstein-success", success(rows, by, split, address)), hint="Bars are 95 % Wilson intervals."),
            card(
                "Step ratio",
                figure("einstein-steps", step_ratio(rows, by, split)),
                hint="Steps over the optimum of the action space, solved games only; bars are 95 % t intervals.",
            ),
            card("Numbers", table(rows.select(*columns), columns, show=show)),
            _errors_card(read, per),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """Success by action space and verifier; None without Einstein games."""
    rows = measured(read, "action_mode", "verifier")
    return None if rows.is_empty() else success(rows, "action_mode", "verifier", read.address)


def measured(read: Reader, by: str, split: str) -> pl.DataFrame:
    """Games, success, subgoals, step ratio and corrections of each group, with intervals."""
    groups = f'"{by}"' if split == by else f'"{by}", "{split}"'
    return read.rows(f"{_KNOWN} SELECT {groups}, {_MEASURES} FROM known GROUP BY {groups} ORDER BY {groups}")


def _stats(read: Reader) -> Part:
    whole = read.rows(f"{_KNOWN} SELECT {_MEASURES} FROM known").row(0, named=True)
    return html.Div(
        [
            stat("games", str(whole["games"]), f"{whole['steps']} steps"),
            stat("solved in time", rate(whole["wins"], whole["games"])),
            stat("objects in their bins", "–" if whole["sub_r"] is None else f"{100 * whole['sub_r']:.0f} %"),
            stat("steps over optimum", number(whole["step_ratio"], 2), "solved games"),
        ],
        className="stats",
    )


def success(rows: pl.DataFrame, by: str, split: str, address: Address) -> go.Figure:
    """Share of solved games, a group on the axis, a colour for each value of the other; a click lists the games of a model."""
    drawn = _figure()
    for name, part, color in _parts(rows, split):
        low, high = part["success_rate"] - part["success_low"], part["success_high"] - part["success_rate"]
        drawn.add_bar(
            name=name,
            x=[plain(value) for value in part[by]],
            y=part["success_rate"].to_list(),
            marker={"color": color},
            error_y={"type": "data", "symmetric": False, "array": high.to_list(), "arrayminus": low.to_list(), "color": "#4d5a73"},
            customdata=[[_games_address(address, by, value), wins, n] for value, wins, n in part.select(by, "wins", "games").rows()],
            hovertemplate="%{x}, %{fullData.name}: %{y:.0%} (%{customdata[1]} of %{customdata[2]})<extra></extra>",
        )
    drawn.update_yaxes(title="solved in time", tickformat=".0%", range=[0, 1])
    drawn.update_xaxes(title=_GROUPS[by].lower(), type="category")
    return styled(drawn, height=380)


def step_ratio(rows: pl.DataFrame, by: str, split: str) -> go.Figure:
    """Mean step ratio of the solved games with its interval."""
    drawn = _figure()
    for name, part, color in _parts(rows.filter(rows["n_ratio"] > 0), split):
        drawn.add_scatter(
            name=name,
            x=[plain(value) for value in part[by]],
            y=part["step_ratio"].to_list(),
            mode="markers",
            marker={"color": color, "size": 11, "line": {"color": "white", "width": 1}},
            error_y={"type": "data", "array": part["ratio_half"].fill_null(0).to_list(), "color": color},
            customdata=part["n_ratio"].to_list(),
            hovertemplate="%{x}, %{fullData.name}: %{y:.2f} (%{customdata} games)<extra></extra>",
        )
    drawn.add_hline(y=1, line={"color": "#9aa3b2", "width": 1, "dash": "dot"})
    drawn.update_layout(scattermode="group")
    drawn.update_yaxes(title="steps over optimum", range=[0, None])
    drawn.update_xaxes(title=_GROUPS[by].lower(), type="category")
    return styled(drawn, height=340)


def _figure() -> Any:
    import plotly.graph_objects as go

    return go.Figure()


def _parts(rows: pl.DataFrame, split: str) -> list[tuple[str, pl.DataFrame, str]]:
    values = sorted(rows[split].unique().to_list())
    return [
        (plain(value), rows.filter(rows[split] == value), MODEL_COLORS[place % len(MODEL_COLORS)]) for place, value in enumerate(values)
    ]


def _games_address(address: Address, by: str, value: object) -> str:
    """The list of games, narrowed where the group is one of the filters of every page."""
    narrowed = {"model": {"model": str(value)}, "num_objects": {"level": f"{value} objects"}, "run": {"condition": str(value)}}.get(by, {})
    return address.filters().to(game.PATH, benchmark="einstein", **narrowed)


# -- errors -------------------------------------------------------------------------------------------------------------------------------


def _errors_card(read: Reader, per: str) -> Part:
    rows = _categories(read)
    columns = {
        "category": "Category",
        "count": "Steps",
        "total": "of",
        "steps": "% of steps",
        "concerned": "Actions concerned",
        "number": "their number",
        "relevant": "% of them",
    }
    choices = link_choices("Rate over", [(label, read.address.to(per=key), key == per) for key, label in _PER.items()])
    return card(
        "Errors",
        choices,
        figure("einstein-errors", errors(rows, per, read.address)),
        table(rows, columns),
        hint="By rule; a step can have several errors. Click a bar to read the steps behind it.",
    )


def _categories(read: Reader) -> pl.DataFrame:
    """Both rates of every category of the paper's Table 2, in percent; the second is null where it concerns no action or there was none."""
    import polars as pl

    totals = read.rows(_TOTALS).row(0, named=True)
    relevant = {category.key: category.relevant for category in CATEGORIES} | {NO_ERROR: None}
    rows = [
        {"category": key, "count": totals[key], "total": totals["steps"], "concerned": action, "number": totals[action] if action else None}
        for key, action in relevant.items()
    ]
    counts = {"count": pl.Int64, "total": pl.Int64, "number": pl.Int64}
    return pl.DataFrame(rows, schema_overrides={**counts, "concerned": pl.String}).with_columns(
        steps=pl.when(pl.col("total") > 0).then(100 * pl.col("count") / pl.col("total")),
        relevant=pl.when(pl.col("number") > 0).then(100 * pl.col("count") / pl.col("number")),
    )


def errors(rows: pl.DataFrame, per: str, address: Address) -> go.Figure:
    """A bar a category: its share of all steps, or of the actions it concerns."""
    drawn = _figure()
    part = rows.filter((rows["category"] != NO_ERROR) & rows[per].is_not_null()).sort(per)
    links = [
        address.filters().to(turns_page.PATH, benchmark="einstein", taxonomy="einstein_published", category=c) for c in part["category"]
    ]
    drawn.add_bar(
        x=part[per].to_list(),
        y=[plain(category.replace("_", " ")) for category in part["category"]],
        orientation="h",
        marker={"color": MODEL_COLORS[1]},
        customdata=[[link, count] for link, count in zip(links, part["count"], strict=True)],
        hovertemplate="%{y}: %{x:.1f} % (%{customdata[1]} steps)<extra></extra>",
    )
    drawn.update_xaxes(title=f"% of {_PER[per]}", rangemode="tozero")
    return styled(drawn, height=400, legend=False)
