"""Failure breakdown: which category of failure, by model, tier or turn; a click leads to the turns behind a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from dashboards.address import Address
from dashboards.figures.theme import MODEL_COLORS, color_of, plain, styled
from dashboards.one_benchmark import OTHER_FILTERS, benchmark_choices, in_order, narrowed, shown_benchmark
from dashboards.pages import turns
from dashboards.parts import Part, card, figure, link_choices, note, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["IN_MENU", "ORDER", "PATH", "REPORT", "TITLE", "chart", "content", "report_figure"]

PATH = "/failures"
TITLE = "Failures"
IN_MENU = True
ORDER = 20
REPORT = "failures"

_RIGHT = ("correct", "no_error", "none_of_these")
"""Categories of turns that went right; they stand at the bottom of the bars."""

_COUNTED = {"craft": "the turns that count: those with verified actions and a recorded attempt; what is left out stands below"}

_GROUPS = {"model": "Model", "level": "Tier", "turn": "Turn"}


def content(read: Reader) -> Part:
    """Stacked shares of the categories of one taxonomy: `?taxonomy=...&by=model|level|turn`."""
    known = _taxonomies(read)
    asked = read.address.one("taxonomy")
    benchmark = next((name for name, taxonomies in known.items() if asked in taxonomies), None) or shown_benchmark(read, known)
    if benchmark is None:
        return note("No rule has classified a turn of these games: choose other filters, or read more logs with `cotrace ingest`.")
    taxonomy = asked if asked in known[benchmark] else known[benchmark][0]
    by = read.address.one("by") if read.address.one("by") in _GROUPS else "model"
    benchmarks = benchmark_choices(read, known, benchmark, "taxonomy")
    read = narrowed(read, benchmark)
    address = read.address
    rows = counts(read, taxonomy, by)
    choices = html.Div(
        [
            *benchmarks,
            link_choices("Taxonomy", [(name.replace("_", " "), address.to(taxonomy=name), name == taxonomy) for name in known[benchmark]]),
            link_choices("By", [(label, address.to(by=key), key == by) for key, label in _GROUPS.items()]),
        ]
    )
    if rows.is_empty():
        return html.Div([html.H1("Failure breakdown"), choices, note("No turn that counts under these filters.")])
    hint = (
        f"Share of {_COUNTED.get(benchmark, 'the turns that the rules could classify')}. Click a part of a bar to read the turns behind it."
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
            card("Counts", table(rows.select(*columns), columns), hint="Intervals are over games: turns of one game are not independent."),
        ]
    )


def _taxonomies(read: Reader) -> dict[str, list[str]]:
    """The taxonomies of each benchmark in view: the published one first, then those that classify most turns."""
    found = read.rows(
        "SELECT benchmark, taxonomy, count(*) AS turns FROM failure_turns WHERE {filters} GROUP BY ALL", filter_on=OTHER_FILTERS
    ).rows()
    return {
        benchmark: [
            name
            for _, name, _ in sorted(
                (row for row in found if row[0] == benchmark), key=lambda row: (not row[1].endswith("published"), -row[2], row[1])
            )
        ]
        for benchmark in in_order({row[0] for row in found})
    }


def report_figure(read: Reader) -> go.Figure | None:
    """The breakdown by model of the first taxonomy; None without classified turns."""
    known = _taxonomies(read)
    benchmark = shown_benchmark(read, known)
    if benchmark is None:
        return None
    taxonomy = known[benchmark][0]
    return chart(counts(narrowed(read, benchmark), taxonomy, "model"), "model", taxonomy, read.address)


def counts(read: Reader, taxonomy: str, by: str) -> pl.DataFrame:
    """Turns of each category in each group, of all turns of the group, with intervals over games; a turn can have several categories."""
    return read.rows(
        f"""
        WITH in_view AS (
            SELECT "{by}", category, episode_id, turn, agent FROM failure_turns WHERE {{filters}} AND taxonomy = $taxonomy AND counted
        ),
        sizes AS (SELECT "{by}", episode_id, count(DISTINCT (turn, agent)) AS size FROM in_view GROUP BY ALL),
        whole AS (
            SELECT "{by}", sum(size)::BIGINT AS denominator, count(*) AS games, sum(size * size) AS sizes_squared FROM sizes GROUP BY ALL
        ),
        hits AS (SELECT "{by}", category, episode_id, count(*) AS hits FROM in_view GROUP BY ALL),
        counted AS (
            SELECT hits."{by}", category, sum(hits)::BIGINT AS turns, sum(hits * hits) AS turns_squared, sum(hits * size) AS turns_by_sizes
            FROM hits INNER JOIN sizes ON hits.episode_id = sizes.episode_id AND hits."{by}" IS NOT DISTINCT FROM sizes."{by}" GROUP BY ALL
        )
        SELECT
            counted."{by}",
            category,
            turns,
            denominator,
            turns / denominator AS share,
            clustered_low(turns, denominator, games, turns_squared, turns_by_sizes, sizes_squared) AS share_low,
            clustered_high(turns, denominator, games, turns_squared, turns_by_sizes, sizes_squared) AS share_high
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
