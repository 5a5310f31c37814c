"""Failure breakdown: which category of failure, by model, tier or turn; a click leads to the turns behind a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.address import Address
from dashboards.pages import turns
from dashboards.parts import Part, card, figure, link_choices, note, table
from dashboards.reader import Reader
from dashboards.theme import MODEL_COLORS, color_of, plain, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["IN_MENU", "PATH", "TITLE", "chart", "content", "report_figure"]

PATH = "/failures"
TITLE = "Failures"
IN_MENU = True

_RIGHT = ("correct", "no_error", "none_of_these")
"""Categories of turns that went right; they stand at the bottom of the bars."""

_GROUPS = {"model": "Model", "level": "Tier", "turn": "Turn"}


def content(read: Reader) -> Part:
    """Stacked shares of the categories of one taxonomy: `?taxonomy=...&by=model|level|turn`."""
    address = read.address
    known = read.rows("SELECT DISTINCT taxonomy FROM failure_turns WHERE {filters} ORDER BY taxonomy")["taxonomy"].to_list()
    if not known:
        return note("No rule has classified a turn of these games: choose other filters, or read more logs with `cotrace ingest`.")
    taxonomy = address.one("taxonomy") if address.one("taxonomy") in known else known[0]
    by = address.one("by") if address.one("by") in _GROUPS else "model"
    rows = counts(read, taxonomy, by)
    choices = html.Div(
        [
            link_choices("Taxonomy", [(name.replace("_", " "), address.to(taxonomy=name), name == taxonomy) for name in known]),
            link_choices("By", [(label, address.to(by=key), key == by) for key, label in _GROUPS.items()]),
        ]
    )
    if rows.is_empty():
        return html.Div([html.H1("Failure breakdown"), choices, note("No turn that counts under these filters.")])
    hint = (
        "Share of the turns that count: those with verified actions and a recorded attempt. "
        "Click a part of a bar to read the turns behind it. "
        "Turns left out of the denominator stand in the table."
    )
    outside = read.rows(
        """
        SELECT category, count(*) AS turns FROM failure_turns
        WHERE {filters} AND taxonomy = $taxonomy AND NOT counted GROUP BY ALL ORDER BY ALL
        """,
        {"taxonomy": taxonomy},
    )
    left_out = [
        html.P(f"Left out: {row['turns']} turns {row['category'].replace('_', ' ')}.", className="hint")
        for row in outside.iter_rows(named=True)
    ]
    columns = {
        by: _GROUPS[by],
        "category": "Category",
        "turns": "Turns",
        "denominator": "of",
        "share": "Share",
        "share_low": "95 % from",
        "share_high": "to",
    }
    return html.Div(
        [
            html.H1("Failure breakdown"),
            choices,
            card("", figure("failures", chart(rows, by, taxonomy, address)), *left_out, hint=hint),
            card("Counts", table(rows.select(*columns), columns), hint="Intervals are Wilson's."),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """The breakdown by model of the first taxonomy; None without classified turns."""
    known = read.rows("SELECT DISTINCT taxonomy FROM failures ORDER BY taxonomy")["taxonomy"].to_list()
    return chart(counts(read, known[0], "model"), "model", known[0], read.address) if known else None


def counts(read: Reader, taxonomy: str, by: str) -> pl.DataFrame:
    """Turns of each category in each group, of all turns of the group, with Wilson intervals; a turn can have several categories."""
    return read.rows(
        f"""
        WITH counted AS (
            SELECT "{by}", category, count(*) AS turns FROM failure_turns
            WHERE {{filters}} AND taxonomy = $taxonomy AND counted GROUP BY ALL
        ),
        whole AS (
            SELECT "{by}", count(DISTINCT (episode_id, turn, agent)) AS denominator FROM failure_turns
            WHERE {{filters}} AND taxonomy = $taxonomy AND counted GROUP BY ALL
        )
        SELECT
            counted.*,
            denominator,
            turns / denominator AS share,
            wilson_low(turns, denominator) AS share_low,
            wilson_high(turns, denominator) AS share_high
        FROM counted INNER JOIN whole ON counted."{by}" IS NOT DISTINCT FROM whole."{by}"
        ORDER BY counted."{by}", category
        """,
        {"taxonomy": taxonomy},
    )


def chart(rows: pl.DataFrame, by: str, taxonomy: str, address: Address) -> go.Figure:
    """Stacked bars of shares, a bar a group; the category of turns that went right at the bottom."""
    import plotly.graph_objects as go
    import polars as pl

    order = sorted(rows["category"].unique(), key=lambda name: (name not in _RIGHT, name))
    drawn = go.Figure()
    for category in order:
        part = rows.filter(pl.col("category") == category)
        groups = part[by].to_list()
        links = [address.filters().to(turns.PATH, taxonomy=taxonomy, category=category, **{by: str(group)}) for group in groups]
        drawn.add_bar(
            name=plain(category.replace("_", " ")),
            x=[plain(group) for group in groups],
            y=part["share"].to_list(),
            customdata=[[link, turns_, whole] for link, turns_, whole in zip(links, part["turns"], part["denominator"], strict=True)],
            hovertemplate="%{x}<br>%{fullData.name}: %{y:.1%} (%{customdata[1]} of %{customdata[2]})<extra></extra>",
            marker={
                "color": color_of(category, order) if category in order[: len(MODEL_COLORS)] else None,
                "line": {"color": "white", "width": 1},
            },
        )
    drawn.update_layout(barmode="stack")
    drawn.update_yaxes(title="share of turns", tickformat=".0%", rangemode="tozero")
    drawn.update_xaxes(title=_GROUPS[by].lower(), type="category")
    return styled(drawn, height=430)
