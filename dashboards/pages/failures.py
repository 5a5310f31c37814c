"""Failure breakdown: which category of failure, by model, tier or turn; a click leads to the turns behind a bar."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dashboards.address import Address
from dashboards.figures import QUIET, SERIES, color_of, plain, styled
from dashboards.filters import OTHER_FILTERS, benchmark_choices, in_order, narrowed, shown_benchmark
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.pages import turns
from dashboards.parts import Later, Part, card, figure, html, link_choices, note
from dashboards.reader import UNKNOWN, Reader
from dashboards.teams import FEW
from schemas.common.wording import counted, in_words, interval, score, share, share_interval, share_of
from schemas.families import family

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


PATH = "/failures"
TITLE = "Failures"
IN_MENU = True
ORDER = 20

_LETTERS: Final = 18
"""Letters of a line of a group's name: on a narrow screen the bars need room."""

Row = Mapping[str, Any]

_COUNTED = "the turns that the rules could classify"

_FEW = 30
"""Turns below which a bar is hatched."""

_GROUPS = {"model": "Team", "condition": "Experiment", "level": "Tier", "turn": "Turn"}
_WEIGHTS = {"turns": "turns", "cost": "what was lost"}
_OTHER = "other"
_HATCHES: Final = "/\\-|+."
"""What tells apart the categories without a colour of their own."""

_COUNTS: Final = """
    FROM failures_by(per := '{by}', chosen := {{filters}})
    WHERE taxonomy = $taxonomy AND ($benchmark = '' OR benchmark = $benchmark) AND turns > 0 AND share IS NOT NULL
    ORDER BY "{by}", category
"""
_COSTS: Final = """
    SELECT * EXCLUDE (turns, cost, whole), cost AS turns, whole AS denominator, NULL::DOUBLE AS share_low, NULL::DOUBLE AS share_high
    FROM category_costs_by(per := '{by}', chosen := {{filters}})
    WHERE taxonomy = $taxonomy AND ($benchmark = '' OR benchmark = $benchmark) AND category <> 'no_oracle_or_attempt' AND share IS NOT NULL
    ORDER BY "{by}", category
"""
"""As `_COUNTS`, with what turns lost in the place of turns: a turn of two categories counts for both, and once in the whole."""
_NOTED: Final = """
    SELECT counted.*, coalesce(noted.notes, 0) AS notes
    FROM ({rows}) AS counted
    LEFT JOIN (
        SELECT "{by}", category, count(DISTINCT note_id) AS notes FROM failure_turns INNER JOIN notes USING (episode_id, turn)
        WHERE {{filters}} AND taxonomy = $taxonomy AND ($benchmark = '' OR benchmark = $benchmark) GROUP BY ALL
    ) AS noted ON counted."{by}" IS NOT DISTINCT FROM noted."{by}" AND counted.category = noted.category
    ORDER BY counted."{by}", counted.category
"""
_LEFT_OUT: Final = """
    SELECT category, sum(turns)::BIGINT AS turns FROM failures_by(chosen := {filters})
    WHERE taxonomy = $taxonomy AND share IS NULL AND turns > 0 GROUP BY ALL ORDER BY ALL
"""
_SCORES: Final = """
    SELECT "{by}" AS part, n, score_mean AS score, score_low AS low, score_high AS high
    FROM leaderboard_by(per := '{by}', chosen := {{filters}}) WHERE benchmark = $benchmark AND n > 0
"""


def content(read: Reader) -> Part:
    """Stacked shares of the categories of one taxonomy: `?taxonomy=...&by=model|level|turn&weight=turns|cost`, `?categories=all`."""
    return html.Div([html.H1("Failures"), _BODY(read)])


def _body(read: Reader, _: str) -> Part:
    known = _taxonomies(read)
    asked = _asked(read, known)
    if asked is None:
        return note("No rule has classified a turn of these games: choose other filters, or read more logs with `cotrace ingest`.")
    benchmark, taxonomy, by = asked
    benchmarks = benchmark_choices(read, known, benchmark, "taxonomy")
    read = narrowed(read, benchmark)
    address = read.address
    weight = _weight(read)
    rows = counts(read, taxonomy, by, weight)
    choices = html.Div(
        [
            *benchmarks,
            link_choices("Taxonomy", [(in_words(name), address.to(taxonomy=name), name == taxonomy) for name in known[benchmark]]),
            link_choices("By", [(label, address.to(by=key), key == by) for key, label in _GROUPS.items() if key in _groups(read)]),
            link_choices("Weighted by", [(label, address.to(weight=key), key == weight) for key, label in _WEIGHTS.items()]),
        ]
    )
    if rows.is_empty():
        without = " whose cost is known" if weight == "cost" else ""
        return html.Div([choices, note(f"No turn that counts{without} under these filters.")])
    is_whole = address.one("categories") == "all"
    wrong = read.failures(taxonomy)
    shown = rows if is_whole else grouped(rows, by, wrong)
    rest = rows["category"].n_unique() - shown["category"].n_unique() + 1
    more = (
        html.P(html.A(f"show the {rest} others", href=address.to(categories="all")), className="hint") if len(shown) < len(rows) else None
    )
    bars = Bars(by, taxonomy, wrong, weight)
    played = family(benchmark)
    counted = (played.counted_turns if played else "") or _COUNTED
    if weight == "cost":
        counted = "all that these games lost"
    few = f" Crossed bars: fewer than {_FEW} turns." if weight == "turns" and (shown["denominator"] < _FEW).any() else ""
    hint = f"Share of {counted}.{few} Click a part of a bar to read the turns behind it."
    return html.Div(
        [
            html.P(_dearest(rows, by) if weight == "cost" else _commonest(rows, by, wrong), className="lead"),
            choices,
            card(
                "What went wrong",
                figure("failures", chart(shown, bars, address, scores(read, by)), label=f"share of {_WEIGHTS[weight]} by category"),
                more,
                *_left_out(read, taxonomy),
                fold(read, COUNTS),
                hint=hint,
            ),
        ]
    )


def _asked(read: Reader, known: Mapping[str, Sequence[str]]) -> tuple[str, str, str] | None:
    """Benchmark, taxonomy and grouping that the address asks for; None where nothing is classified."""
    taxonomy = read.address.one("taxonomy")
    benchmark = shown_benchmark(read, known)
    if benchmark is None:
        return None
    if taxonomy not in known[benchmark]:
        benchmark = next((name for name, taxonomies in known.items() if taxonomy in taxonomies), benchmark)
    groups = _groups(narrowed(read, benchmark))
    by = read.address.one("by") if read.address.one("by") in groups else groups[0]
    return benchmark, taxonomy if taxonomy in known[benchmark] else known[benchmark][0], by


def _groups(read: Reader) -> list[str]:
    """By what turns can be grouped: where logs do not name the model, by experiment."""
    is_named = read.rows("SELECT coalesce(bool_and(model <> $unknown), true) AS named FROM games WHERE {filters}", {"unknown": UNKNOWN})
    return [key for key in _GROUPS if key != ("condition" if is_named["named"].item() else "model")]


def _weight(read: Reader) -> str:
    return "cost" if read.address.one("weight") == "cost" else "turns"


def _dearest(rows: pl.DataFrame, by: str) -> str:
    """The category whose turns lost most, in a sentence."""
    import polars as pl

    totals = rows.group_by("category").agg(pl.col("turns").sum()).sort("turns", "category", descending=[True, False])
    whole = float(rows.unique(by)["denominator"].sum())
    if not whole:
        return "Nothing was lost."
    return f"Most was lost on turns of {in_words(totals.row(0)[0])}: {share(totals.row(0)[1] / whole)} of all that was lost."


def _commonest(rows: pl.DataFrame, by: str, failures: Mapping[str, str]) -> str:
    """The category that is most of all turns, and the group where it is worst, in a sentence."""
    import polars as pl

    wrong = rows.filter(pl.col("category").is_in(list(failures)))
    whole = int(rows.unique(by)["denominator"].sum())
    if wrong.is_empty():
        return f"No failure in {counted(whole, 'turn')}."
    totals = wrong.group_by("category").agg(pl.col("turns").sum()).sort("turns", "category", descending=[True, False])
    category, turns_ = totals.row(0)
    worst = wrong.filter(pl.col("category") == category).sort("share", descending=True).row(0, named=True)
    said = f"Most often: {failures[category]}, on {share_of(turns_, whole, 'turns')}"
    if rows[by].n_unique() == 1:
        return f"{said}."
    ends = share_interval(worst["share_low"], worst["share_high"])
    where = in_words(worst[by]) if by == "condition" else worst[by]
    return f"{said}; worst for {_GROUPS[by].lower()} {where}, {share(worst['share'])}{ends and ' '}{ends}."


def _left_out(read: Reader, taxonomy: str) -> list[Part]:
    outside = read.rows(_LEFT_OUT, {"taxonomy": taxonomy})
    said = [f"{counted(row['turns'], 'turn')} ({in_words(row['category'])})" for row in outside.iter_rows(named=True)]
    return [html.P(f"Left out: {', '.join(said)}.", className="hint")] if said else []


def grouped(rows: pl.DataFrame, by: str, failures: Iterable[str]) -> pl.DataFrame:
    """The store's commonest six failures, the others of each group as one; what went right stays what it is."""
    import polars as pl

    is_rest = pl.col("category").is_in(list(failures)[len(SERIES) :])
    if rows.filter(is_rest).is_empty():
        return rows
    rest = (
        rows.filter(is_rest)
        .group_by(by, maintain_order=True)
        .agg(category=pl.lit(_OTHER), turns=pl.col("turns").sum(), denominator=pl.col("denominator").first(), share=pl.col("share").sum())
    )
    return pl.concat([rows.filter(~is_rest), rest], how="diagonal").sort(by, "category")


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
    read = narrowed(read, benchmark)
    by = _groups(read)[0]
    wrong = read.failures(taxonomy)
    return chart(grouped(counts(read, taxonomy, by), by, wrong), Bars(by, taxonomy, wrong), read.address, scores(read, by))


def counts(read: Reader, taxonomy: str, by: str, weight: str = "turns") -> pl.DataFrame:
    """Turns of each category in each group, of all turns of the group, with intervals over games; a turn can have several categories.

    With the weight `cost` what they lost stands in the place of turns, without intervals.
    """
    benchmark = read.address.one("benchmark")
    return read.rows(_sql(by, weight), {"taxonomy": taxonomy, "benchmark": benchmark}, filter_on=OTHER_FILTERS)


def _sql(by: str, weight: str) -> str:
    return (_COSTS if weight == "cost" else _COUNTS).format(by=by)


class Bars(NamedTuple):
    """What the bars show."""

    by: str
    taxonomy: str
    failures: Mapping[str, str]
    """Categories in which something went wrong, in their order (`Reader.failures`); all others are pale, at the end of the bars."""
    weight: str = "turns"


def scores(read: Reader, by: str) -> dict[str, Row]:
    """Mean score of each group of games, with its interval: the end-to-end metric that stands beside its failures; none by turn."""
    if by == "turn":
        return {}
    asked = {"benchmark": read.address.one("benchmark")}
    rows = read.rows(_SCORES.format(by=by), asked, filter_on=OTHER_FILTERS)
    return {row["part"]: row for row in rows.iter_rows(named=True)}


def chart(rows: pl.DataFrame, bars: Bars, address: Address, beside: Mapping[str, Row]) -> go.Figure:
    """Stacked bars of shares, the commonest failure first, what went right pale and last.

    A row a group with its score beside it, the highest first; by turn, bars side by side.

    Args:
        rows: of `counts`.
        bars: what they are.
        address: of the page.
        beside: of `scores`.
    """
    import polars as pl
    from plotly.subplots import make_subplots

    by, taxonomy, failures, weight = bars
    is_upright = by == "turn"
    wrong = [*failures, _OTHER]
    order = sorted(rows["category"].unique(), key=lambda name: (wrong.index(name) if name in wrong else len(wrong), name))
    groups = sorted(rows[by].unique(), key=lambda group: (-_score(beside.get(group)), group)) if not is_upright else []
    drawn = make_subplots(cols=2 if beside else 1, shared_yaxes=True, column_widths=[1, 3] if beside else None, horizontal_spacing=0.05)
    at = {"row": 1, "col": 2 if beside else 1}
    colors = {category: color_of(category, failures) if category in wrong else QUIET for category in order}
    for category, color in colors.items():  # the legend has colours alone: a bar of few turns, which is hatched, may be the first
        name = plain(failures.get(category, in_words(category)))
        square = {"symbol": "square", "size": 12, "color": color}
        drawn.add_scatter(x=[None], y=[None], mode="markers", name=name, legendgroup=plain(category), marker=square, **at)
    for category, color in colors.items():
        rank = wrong.index(category) if category in failures else len(SERIES) * (category in wrong)
        part = rows.filter(pl.col("category") == category)
        own = part[by].to_list()
        links = [address.narrowed(turns.PATH, taxonomy=taxonomy, category=category, **{by: str(group)}) for group in own]
        told = [
            f"{share(row['share'])} of what was lost" if weight == "cost" else share_of(row["turns"], row["denominator"])
            for row in part.iter_rows(named=True)
        ]
        along, across = part["share"].to_list(), [group if is_upright else groups.index(group) for group in own]
        drawn.add_bar(
            name=plain(failures.get(category, in_words(category))),
            x=across if is_upright else along,
            y=along if is_upright else across,
            orientation="v" if is_upright else "h",
            customdata=[
                ["" if category == _OTHER else link, f"{plain(group)}<br>{plain(failures.get(category, in_words(category)))}: {text}"]
                for link, text, group in zip(links, told, own, strict=True)
            ],
            hovertemplate="%{customdata[1]}<extra></extra>",
            marker={
                "color": color,
                "line": {"width": 0},
                "pattern": {
                    "shape": [_pattern(row, rank, weight) for row in part.iter_rows(named=True)],
                    "solidity": 0.35,
                    "fgcolor": QUIET if color == QUIET else None,
                },
            },
            legendgroup=plain(category),
            showlegend=False,
            **at,
        )
    drawn.update_layout(barmode="stack")
    title, format_ = f"share of {_WEIGHTS[weight]}", {"tickformat": ".0%", "rangemode": "tozero"}
    if is_upright:
        drawn.update_yaxes(title=title, **format_)
        drawn.update_xaxes(title=_GROUPS[by].lower())
        return styled(drawn, height=430)
    drawn.update_xaxes(title=title, **format_, **at)
    sizes = dict(rows.select(by, "denominator").unique(maintain_order=True).iter_rows())
    things = "" if weight == "cost" else "<br><span style='font-size: 10.5px'>{}</span>"
    called = [in_words(group) if by == "condition" else str(group) for group in groups]
    lines = [textwrap.wrap(name, _LETTERS, max_lines=2, placeholder="…") or [name] for name in called]
    labels = [
        f"{'<br>'.join(map(plain, of_group))}{things.format(counted(sizes[group], 'turn'))}"
        for of_group, group in zip(lines, groups, strict=True)
    ]
    drawn.update_yaxes(tickvals=list(range(len(groups))), ticktext=labels, range=[len(groups) - 0.45, -0.55], zeroline=False)
    if beside:
        _beside(drawn, [beside.get(group) for group in groups])
    styled(drawn, height=128 + (30 + 14 * max(map(len, lines), default=1)) * len(groups))
    if beside:  # on a narrow screen there is no room for it in one line
        drawn.layout.xaxis.title.text = drawn.layout.xaxis.title.text.replace("bars: ", "bars:<br>")
    drawn.update_layout(legend={"itemclick": False, "itemdoubleclick": False}, bargap=0.35)
    return drawn


def _score(row: Row | None) -> float:
    return row["score"] if row else -1.0


def _beside(drawn: go.Figure, rows: Sequence[Row | None]) -> None:
    known = [(place, row) for place, row in enumerate(rows) if row]
    ends = [[row["score"] - row["low"] if row["low"] is not None else 0 for _, row in known]]
    ends.append([row["high"] - row["score"] if row["high"] is not None else 0 for _, row in known])
    drawn.add_scatter(
        x=[row["score"] for _, row in known],
        y=[place for place, _ in known],
        mode="markers+text",
        cliponaxis=False,
        text=[score(row["score"]) for _, row in known],
        textposition="top center",
        textfont={"size": 11},
        marker={
            "size": 9,
            "color": SERIES[0],
            "symbol": ["circle-open" if row["n"] < FEW else "circle" for _, row in known],
            "line": {"width": 1.6, "color": SERIES[0]},
        },
        error_x={"type": "data", "symmetric": False, "arrayminus": ends[0], "array": ends[1], "thickness": 1.5, "width": 0},
        customdata=[["", f"score {score(row['score'])} {interval(row['low'], row['high'])}, n {row['n']}"] for _, row in known],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=False,
        row=1,
        col=1,
    )
    least = min((0.0, *(row["score"] - end for (_, row), end in zip(known, ends[0], strict=True))))
    most = max((least, *(row["score"] + end for (_, row), end in zip(known, ends[1], strict=True))))
    beyond = 0.08 * (most - least or 1)  # a value written over a dot at the end has room
    drawn.update_xaxes(title="score", range=[least - beyond, most + beyond], nticks=3, row=1, col=1)


def _pattern(row: Mapping[str, Any], rank: int, weight: str) -> str:
    """Bars of few turns are hatched: a whole bar of five turns would look as sure as one of four hundred."""
    if weight == "turns" and row["denominator"] < _FEW:
        return "x"
    return "" if rank < len(SERIES) else _HATCHES[(rank - len(SERIES)) % len(_HATCHES)]


def _counts(read: Reader, _: str) -> TableRows:
    asked = _asked(read, _taxonomies(read))
    benchmark, taxonomy, by = asked or ("", "", "model")
    return TableRows(
        sql=_NOTED.format(rows=_sql(by, _weight(read)), by=by),
        parameters={"taxonomy": taxonomy, "benchmark": benchmark},
        filter_on=OTHER_FILTERS,
        columns={
            by: GridColumn(heading=_GROUPS[by], kind="count" if by == "turn" else "text"),
            "category": GridColumn(heading="Category", kind="name"),
            "turns": GridColumn(heading="Lost", kind="cost") if _weight(read) == "cost" else GridColumn(heading="Turns", kind="count"),
            "denominator": GridColumn(heading="of", kind="cost" if _weight(read) == "cost" else "count"),
            "share": GridColumn(heading="Share", kind="share"),
            "share_low": GridColumn(heading="95 % from", kind="share", hint="over games: turns of one game are not independent"),
            "share_high": GridColumn(heading="to", kind="share"),
            "notes": GridColumn(heading="Notes", kind="count", hint="what people wrote about these turns"),
        },
        link=lambda row: read.address.narrowed(
            turns.PATH, benchmark=benchmark, taxonomy=taxonomy, category=row["category"], **{by: str(row[by])}
        ),
    )


_BODY: Final = Later("failures-body", _body, 700)
LATER = (_BODY,)
COUNTS: Final = Grid("failures", _counts, "Counts, with intervals")
TABLES = (COUNTS,)
FIGURES: Final = {"failures": report_figure}
