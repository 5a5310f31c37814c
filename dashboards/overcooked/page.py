"""Collab-Overcooked: success and progress by level, initiating and responding, what goes wrong and where in the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dash import html

from dashboards.figures import FULLER, Axis, Dot, color_of, dot_plot, styled
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.pages import game
from dashboards.parts import Part, card, figure, link_choices, note, stat
from dashboards.reader import Reader
from games.overcooked.taxonomy import INITIATING, RESPONDING
from schemas.common.wording import count, in_words, share, share_interval, share_of

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


PATH = "/overcooked"
TITLE = "Collab-Overcooked"
IN_MENU = True
BENCHMARK = "overcooked"
ORDER = 82
FILTERS = ("condition", "model", "level")

_LEVELS = """
    WITH numbers AS (
        SELECT
            episode_id,
            max(value) FILTER (metric = 'overcooked.pc') AS pc,
            max(value) FILTER (metric = 'overcooked.pc_all_references') AS pc_fair,
            max(value) FILTER (metric = 'overcooked.n_communications') AS communications,
            max(value) FILTER (metric = 'overcooked.n_initiate_ok') AS initiated,
            max(value) FILTER (metric = 'overcooked.n_respond_ok') AS responded,
            max(value) FILTER (metric = 'overcooked.initiate_collaboration') AS ic,
            max(value) FILTER (metric = 'overcooked.respond_collaboration') AS rc
        FROM episode_metrics WHERE starts_with(metric, 'overcooked.') GROUP BY episode_id
    )
    SELECT
        model, level, count(*) AS n_games, count(*) FILTER (success) AS wins,
        wins / n_games AS sr, wilson_low(wins, n_games) AS sr_low, wilson_high(wins, n_games) AS sr_high,
        avg(pc) AS pc_mean,
        clustered_low(sum(pc), n_games, n_games, sum(pc * pc), sum(pc), n_games) AS pc_low,
        clustered_high(sum(pc), n_games, n_games, sum(pc * pc), sum(pc), n_games) AS pc_high,
        avg(pc_fair) AS pc_fair_mean,
        count(*) FILTER (communications > 0) AS talked,
        sum(communications)::BIGINT AS conversations, sum(initiated)::BIGINT AS initiated_n, sum(responded)::BIGINT AS responded_n,
        initiated_n / nullif(conversations, 0) AS ic_code,
        clustered_low(initiated_n, nullif(conversations, 0), talked,
            sum(initiated ** 2), sum(initiated * communications), sum(communications ** 2)) AS ic_low,
        clustered_high(initiated_n, nullif(conversations, 0), talked,
            sum(initiated ** 2), sum(initiated * communications), sum(communications ** 2)) AS ic_high,
        responded_n / nullif(conversations, 0) AS rc_code,
        clustered_low(responded_n, nullif(conversations, 0), talked,
            sum(responded ** 2), sum(responded * communications), sum(communications ** 2)) AS rc_low,
        clustered_high(responded_n, nullif(conversations, 0), talked,
            sum(responded ** 2), sum(responded * communications), sum(communications ** 2)) AS rc_high,
        avg(ic) AS ic_paper, avg(rc) AS rc_paper
    FROM games INNER JOIN numbers USING (episode_id)
    WHERE {filters} AND benchmark = 'overcooked' AND ending = 'ended' GROUP BY model, level ORDER BY model, level
"""
_CONFUSION = """
    SELECT initiate_ok, respond_ok, count(*) AS n FROM overcooked_collaborations
    WHERE {filters} AND opener = 'Chef' GROUP BY ALL
"""
_MIX = """
    SELECT position, {category} AS category, count(*) AS n FROM overcooked_collaborations
    WHERE {filters} AND opener = 'Chef' AND {category} IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
_DECLINE = "SELECT * FROM overcooked_decline WHERE {filters} ORDER BY model, condition, capability, scale"
_COLLABORATION_FILTERS = ("condition", "model", "level")


def content(read: Reader) -> Part:
    """Everything under the filters: `?measure=` is drawn by level, `?talk=` is shown of requests and answers."""
    rows = read.rows(_LEVELS)
    if rows.is_empty():
        return note("No Collab-Overcooked game under these filters.", html.Pre("cotrace play overcooked --out logs/\ncotrace ingest logs/"))
    return html.Div(
        [
            html.H1("Collab-Overcooked"),
            html.P(
                "A Chef with the recipe and an Assistant at the ingredients cook one order over three shared counters.", className="lead"
            ),
            _stats(rows),
            _levels_card(read, rows),
            _talk_card(read),
            card("Decline", fold(read, DECLINE), hint=_SLOPE),
        ]
    )


def _levels_card(read: Reader, rows: pl.DataFrame) -> Part:
    measure = read.address.one("measure") if read.address.one("measure") in MEASURES else "sr"
    shown = MEASURES[measure]
    choices = [(found.title, read.address.to(measure=key), key == measure) for key, found in MEASURES.items()]
    return card(
        "By level",
        link_choices("Measure", choices),
        figure("overcooked-levels", rates(read, rows, shown), label=f"{shown.title} by level"),
        fold(read, LEVELS),
        hint=shown.hint,
    )


def _talk_card(read: Reader) -> Part:
    talk = read.address.one("talk") if read.address.one("talk") in _TALK else "confusion"
    drawn = confusion(read.rows(_CONFUSION, filter_on=_COLLABORATION_FILTERS))
    if talk != "confusion":
        order = INITIATING if talk == "initiating" else RESPONDING
        drawn = mix(read.rows(_MIX.replace("{category}", talk), filter_on=_COLLABORATION_FILTERS), order)
    choices = [(text, read.address.to(talk=key), key == talk) for key, text in _TALK.items()]
    hint = "Conversations that the Chef opened." if talk == "confusion" else _POSITION
    return card("Requests and answers", link_choices("Show", choices), figure("overcooked-talk", drawn, label=_TALK[talk]), hint=hint)


class _Measure(NamedTuple):
    title: str
    value: str
    low: str
    high: str
    hint: str


MEASURES: Final = {
    "sr": _Measure(
        "delivered in time",
        "sr",
        "sr_low",
        "sr_high",
        "Share of games whose order is delivered within 1.5 times the published optimal time; 95 % Wilson intervals.",
    ),
    "pc": _Measure(
        "progress completeness",
        "pc_mean",
        "pc_low",
        "pc_high",
        "Mean trajectory score of both agents against the published references; 95 % intervals over games, none for one. "
        "The table has it against all references too: the published ones leave legal orders out.",
    ),
    "ic": _Measure(
        "right requests",
        "ic_code",
        "ic_low",
        "ic_high",
        "Right requests of all conversations that the Chef opened, as the published code counts; 95 % intervals over games.",
    ),
    "rc": _Measure("right answers", "rc_code", "rc_low", "rc_high", "Right answers of the same conversations; 95 % intervals over games."),
}
_TALK: Final = {"confusion": "request and answer", "initiating": "requests by position", "responding": "answers by position"}
_FEW: Final = 4
"""Teams whose dots and intervals fit beside one another on each level."""
_POSITION: Final = "Quarters of the task by the progress before the conversation; the numbers are conversations."
_SLOPE: Final = (
    "Change of the share that goes right over the whole task (course) or with each level; below zero is a decline. "
    "Small groups swing widely: read the counts first."
)


def report_figure(read: Reader) -> go.Figure | None:
    """Success by level; None without games."""
    rows = read.rows(_LEVELS)
    return None if rows.is_empty() else rates(read, rows, MEASURES["sr"])


def rates(read: Reader, rows: pl.DataFrame, measure: _Measure) -> go.Figure:
    """A share by level: dots with 95 % intervals on a line a level; many teams are rows of a grid, with intervals in the table."""
    if rows["model"].n_unique() > _FEW:
        return _level_grid(read, rows, measure)
    dots = [
        Dot(
            line=f"level {row['level']}",
            series=row["model"],
            value=row[measure.value],
            low=row[measure.low],
            high=row[measure.high],
            n=row["n_games"],
            link=_games_of(read, row),
        )
        for row in rows.sort("level", "model").iter_rows(named=True)
    ]
    return dot_plot(dots, Axis(title=measure.title, is_share=True))


def _level_grid(read: Reader, rows: pl.DataFrame, measure: _Measure) -> go.Figure:
    import plotly.graph_objects as go

    teams, levels = sorted(set(rows["model"])), sorted(set(rows["level"]))
    shown = rows.filter(rows[measure.value].is_not_null())
    values = {(row["model"], row["level"]): row[measure.value] for row in shown.iter_rows(named=True)}
    drawn = go.Figure(
        go.Heatmap(
            z=[[values.get((team, level)) for level in levels] for team in teams],
            x=levels,
            y=teams,
            zmin=0,
            zmax=1,
            colorscale=FULLER,
            showscale=False,
            xgap=3,
            ygap=3,
            hoverinfo="skip",
        )
    )
    drawn.add_scatter(  # a heat map's clicks carry no customdata
        x=shown["level"].to_list(),
        y=shown["model"].to_list(),
        mode="markers+text",
        marker={"symbol": "square", "size": 30, "color": "rgba(0,0,0,0)"},
        text=[
            f"{share(row[measure.value])}<br><span style='font-size: 9.5px'>n {row['n_games']}</span>"
            for row in shown.iter_rows(named=True)
        ],
        textfont={"size": 11},
        customdata=[
            [_games_of(read, row), share(row[measure.value]), share_interval(row[measure.low], row[measure.high]), count(row["n_games"])]
            for row in shown.iter_rows(named=True)
        ],
        hovertemplate="%{y}, level %{x}: %{customdata[1]} %{customdata[2]}, %{customdata[3]} games<extra></extra>",
    )
    drawn.update_xaxes(title="level", type="category", showgrid=False)
    drawn.update_yaxes(type="category", autorange="reversed", showgrid=False, zeroline=False, tickfont={"size": 11.5})
    figure = styled(drawn, height=74 + 38 * len(teams), legend=False)
    figure.update_layout(margin={"l": 4, "r": 4, "t": 8})
    return figure


def confusion(rows: pl.DataFrame) -> go.Figure:
    """Conversations by whether request and answer were right."""
    import plotly.graph_objects as go

    counts = {(row["initiate_ok"], row["respond_ok"]): row["n"] for row in rows.iter_rows(named=True)}
    total = sum(counts.values()) or 1
    cells = [[counts.get((asked, answered), 0) for answered in (True, False)] for asked in (False, True)]
    answers, requests = ["answer right", "answer wrong"], ["request wrong", "request right"]
    drawn = go.Figure(go.Heatmap(z=cells, x=answers, y=requests, colorscale=FULLER, showscale=False, xgap=3, ygap=3, hoverinfo="skip"))
    drawn.add_scatter(  # texts of a heat map have colours of their own
        x=answers * 2,
        y=[request for request in requests for _ in answers],
        mode="text",
        text=[share_of(count, total) for row in cells for count in row],
        hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
    )
    drawn.update_xaxes(showgrid=False)  # lines would run through the counts
    drawn.update_yaxes(showgrid=False)
    return styled(drawn, height=280, legend=False)


def mix(rows: pl.DataFrame, order: tuple[str, ...]) -> go.Figure:
    """Shares of categories in each quarter of the task, stacked; the counts stand on the bars."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    totals = dict.fromkeys(range(1, 5), 0)
    for row in rows.iter_rows(named=True):
        totals[row["position"]] += row["n"]
    for category in order:
        part = {row["position"]: row["n"] for row in rows.iter_rows(named=True) if row["category"] == category}
        if not part:
            continue
        drawn.add_bar(
            x=list(totals),
            y=[part.get(position, 0) / total if total else 0 for position, total in totals.items()],
            text=[str(part.get(position) or "") for position in totals],
            name=in_words(category),
            marker={"color": color_of(category, order)},
            hovertemplate="quarter %{x}: %{y:.0%}<extra>%{fullData.name}</extra>",
        )
    drawn.update_layout(barmode="stack")
    drawn.update_xaxes(title="quarter of the task", dtick=1)
    drawn.update_yaxes(title="share", range=[0, 1.03], tickformat=".0%")
    return styled(drawn, height=380)


def _stats(rows: pl.DataFrame) -> Part:
    games, wins = int(rows["n_games"].sum()), int(rows["wins"].sum())
    talks = int(rows["conversations"].sum())
    asked, answered = int(rows["initiated_n"].sum()), int(rows["responded_n"].sum())
    return html.Div(
        [
            stat("delivered in time", share(wins / games), f"{count(wins)} of {count(games)} games"),
            stat("right requests", share(asked / talks if talks else None), f"{count(asked)} of {count(talks)} conversations"),
            stat("right answers", share(answered / talks if talks else None), f"{count(answered)} of {count(talks)}"),
        ],
        className="stats",
    )


def _games_of(read: Reader, row: Mapping[str, Any]) -> str:
    return read.address.narrowed(game.PATH, benchmark="overcooked", model=row["model"], level=row.get("level"))


def _levels(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_LEVELS,
        columns={
            "model": GridColumn(heading="Team"),
            "level": GridColumn(heading="Level"),
            "sr": GridColumn(heading="Delivered in time", kind="share", part="wins", whole="n_games"),
            "pc_mean": GridColumn(heading="PC", kind="share", low="pc_low", high="pc_high"),
            "pc_fair_mean": GridColumn(heading="PC, all references", kind="share"),
            "conversations": GridColumn(heading="Conversations", kind="count"),
            "ic_code": GridColumn(heading="Right requests, code", kind="share"),
            "ic_paper": GridColumn(heading="Right requests, paper", kind="share"),
            "rc_code": GridColumn(heading="Right answers, code", kind="share"),
            "rc_paper": GridColumn(heading="Right answers, paper", kind="share"),
        },
        link=lambda row: _games_of(read, row),
    )


def _decline(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_DECLINE,
        filter_on=("condition", "model"),
        columns={
            "model": GridColumn(heading="Team"),
            "capability": GridColumn(heading="Capability", kind="name"),
            "scale": GridColumn(heading="Over", kind="name"),
            "n": GridColumn(heading="Conversations", kind="count"),
            "rate": GridColumn(heading="Right", kind="share"),
            "n_first": GridColumn(heading="First", kind="count"),
            "rate_first": GridColumn(heading="Right", kind="share"),
            "n_last": GridColumn(heading="Last", kind="count"),
            "rate_last": GridColumn(heading="Right", kind="share"),
            "slope": GridColumn(heading="Slope", kind="score"),
        },
        link=lambda row: _games_of(read, row),
    )


LEVELS: Final = Grid("overcooked-levels", _levels, "In numbers")
DECLINE: Final = Grid("overcooked-decline", _decline, "Decline of every team")
TABLES = (LEVELS, DECLINE)
