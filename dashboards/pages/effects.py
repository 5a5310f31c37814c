"""Effects: what goes with what, each question with its figure and its table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.reports import report
from dashboards.figures import SERIES, Axis, Dot, dot_plot, look, numbered, plain, styled
from dashboards.filters import benchmark_choices, shown_benchmark
from dashboards.grid import Grid, GridColumn, TableRows, columns_of, fold
from dashboards.parts import Later, Part, card, figure, html, link_choices, note
from dashboards.reader import Reader, kept, looks_of_teams, names_of_teams
from schemas.common.text import in_shell, printable
from schemas.common.wording import count, counted, in_words, number
from schemas.families import family

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line; all of its columns have the same length."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    """0 to 1."""
    low: Sequence[float | None] = field(default_factory=tuple)
    """Empty: no band."""
    high: Sequence[float | None] = field(default_factory=tuple)
    is_step: bool = False
    """Whether it holds its height until the next point."""
    is_dashed: bool = False
    look: tuple[str, str] | None = None
    """Colour and shape; None: those of its place."""


def curves(drawn: Sequence[Curve], *, across: str, up: str, line_at: float | None = None) -> go.Figure:
    """The curves over one axis, each with its colour and its sign; a band behind each that has one.

    Args:
        drawn: what is drawn, in order of the legend.
        across: title of the axis across.
        up: title of the axis up, a share.
        line_at: height that matters, such as the power wished for.
    """
    import plotly.graph_objects as go

    found = go.Figure()
    for place, one in enumerate(drawn):
        color, symbol = one.look or look(place)
        shape = "hv" if one.is_step else "linear"
        if one.low:
            _band(found, one, color, shape)
        found.add_scatter(
            x=list(one.x),
            y=list(one.y),
            mode="lines+markers",
            name=plain(one.name),
            line={"color": color, "width": 2, "shape": shape, "dash": "dash" if one.is_dashed else "solid"},
            marker={"size": 6, "symbol": symbol, "color": color},
            hovertemplate="%{x}: %{y:.0%}<extra>%{fullData.name}</extra>",
        )
    if line_at is not None:
        found.add_hline(y=line_at, line={"color": "#8a8f9c", "width": 1, "dash": "dot"})
    found.update_xaxes(title=across, rangemode="tozero")
    found.update_yaxes(title=up, range=[-0.02, 1.02], tickformat=".0%")
    styled(found, height=390, legend=True)
    return found


def _band(found: go.Figure, one: Curve, color: str, shape: str) -> None:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5)) if color in SERIES else (138, 143, 156)
    for ends, fill in ((one.low, None), (one.high, "tonexty")):
        found.add_scatter(
            x=list(one.x),
            y=list(ends),
            mode="lines",
            line={"width": 0, "shape": shape},
            fill=fill,
            fillcolor=f"rgba({red}, {green}, {blue}, 0.13)",
            showlegend=False,
            hoverinfo="skip",
        )


_MOST: Final = 16
"""Lines of a figure; the table beside it has all."""
_FAILURES: Final = ("refused", "not_followed", "no_move", "clarify")


def effect_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Coefficients, the surest first: differences, and log odds where an outcome is yes or no."""
    dots = [
        Dot(
            line=f"{in_words(row['predictor'].removeprefix('judge:'))}: {in_words(row['outcome'])}",
            detail=f"{row['scale']}, {count(row['n'])} {row['unit']}, {counted(row['tasks'], 'task')}",
            value=row["coefficient"],
            low=row["low"],
            high=row["high"],
            n=row["tasks"],
            series=in_words(row["scale"]),
            told=row["formula"],
        )
        for row in _first(rows.sort("p_holm", nulls_last=True, maintain_order=True))
    ]
    return _plot(dots, Axis(title="coefficient", low=None, high=None, lines_at=(0.0,)), n_of="tasks")


def correlation_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Pearson's coefficients, the kinds of a pair on one line."""
    dots = [
        Dot(
            line=f"{in_words(row['x'])}, {in_words(row['y'])}\0{row['game']}",
            detail=", ".join(filter(None, (row["game"] and printable(in_words(row["game"])), row["unit"]))),
            value=row["pearson"],
            low=row["pearson_low"],
            high=row["pearson_high"],
            n=row["n"],
            series=in_words(row["kind"]),
        )
        for row in rows.iter_rows(named=True)
    ]
    kept = list(dict.fromkeys(dot.line for dot in dots))[: _MOST // 2]
    return _plot([dot for dot in dots if dot.line in kept], Axis(title="r", low=-1, high=1, lines_at=(0.0,)), n_of="units")


def mediation_figure(rows: pl.DataFrame) -> go.Figure | None:
    """What of a difference goes along with each mediator."""
    dots = [
        Dot(
            line=f"{in_words(row['mediator'])}\0{row['team_a']} {row['team_b']}",
            detail=f"{printable(row['team_a'])} ahead of {printable(row['team_b'])}",
            value=row["indirect"],
            low=row["low"],
            high=row["high"],
            n=row["tasks"],
        )
        for row in _first(rows)
    ]
    return _plot(dots, Axis(title="of the difference", low=None, high=None, lines_at=(0.0,)), n_of="tasks")


def transition_figure(rows: pl.DataFrame) -> go.Figure | None:
    """What comes after a failure, over all teams, and how often it would come in any order of turns, the surest first."""
    import polars as pl

    dots = []
    shown = rows.filter(pl.col("team") == "any", pl.col("condition") == "any", pl.col("after").is_in(_FAILURES))
    for row in shown.sort("p_holm", "p", nulls_last=True, maintain_order=True).iter_rows(named=True):
        line = f"{in_words(row['after'])}, then {in_words(row['next'])}"
        n = f"{counted(row['turns'], 'turn')} of {counted(row['games'], 'game')}"
        dots += [
            Dot(line=line, detail=n, value=row["share"], low=row["low"], high=row["high"], n=row["games"], series="after it"),
            Dot(line=line, value=row["share_expected"], series="in any order"),
        ]
    return _plot(dots[: 2 * _MOST], Axis(title="share of turns", is_share=True))


def attempts_figure(rows: pl.DataFrame) -> go.Figure | None:
    """The chance that one of k attempts succeeds, and that all do, by team and k."""
    dots = [
        Dot(
            line=f"{printable(row['team'])}, k = {row['k']}\0{row['game']} {row['condition']} {row['max_turns']}",
            detail=counted(row["tasks"], "task") + (f", {row['condition']}" if row["condition"] else ""),
            value=row[name],
            low=row[low],
            high=row[high],
            n=row["tasks"],
            series=series,
        )
        for row in rows.iter_rows(named=True)
        for name, low, high, series in (("pass_at_k", "low", "high", "pass@k"), ("pass_hat_k", "hat_low", "hat_high", "pass^k"))
    ]
    return _plot(dots[: 2 * _MOST], Axis(title="share of tasks", is_share=True), n_of="tasks")


def ability_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Teams and tasks by their place on the scale: a person-item figure."""
    import polars as pl

    dots = []
    for kind in ("team", "task"):
        own = rows.filter(pl.col("kind") == kind, pl.col("value").is_not_null()).sort("value", descending=True)
        dots += [
            Dot(
                line=f"{printable(row['name'])}\0{kind} {row['game']} {row['condition']} {row['max_turns']}",
                detail=f"{kind}, {printable(in_words(row['game'])) + ', ' if row['game'] else ''}{counted(row['games'], 'game')}"
                + (f", {row['condition']}" if row["condition"] else ""),
                value=row["value"],
                low=row["low"],
                high=row["high"],
                n=row["games"],
                series=f"{kind}s",
            )
            for row in _spread(own, _MOST // 2)
        ]
    scales = [str(scale) for scale in rows["scale"].unique()]
    return _plot(dots, Axis(title=" or ".join(scales), low=None, high=None, lines_at=(0.0,)))


def _first(rows: pl.DataFrame) -> Iterable[dict[str, Any]]:
    return rows.head(_MOST).iter_rows(named=True)


def _spread(rows: pl.DataFrame, most: int) -> Iterable[dict[str, Any]]:
    """All rows, or as many as fit from the whole range."""
    step = max(1, -(-len(rows) // most))
    return rows.gather_every(step).iter_rows(named=True)


def _plot(dots: Sequence[Dot], axis: Axis, n_of: str = "games") -> go.Figure | None:
    return dot_plot(dots, axis, n_of=n_of) if any(dot.value is not None for dot in dots) else None


_MOST_CURVES: Final = 6
"""Curves that can be told apart."""
_WISHED: Final = 0.8


def survival_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Of `survival-curves`, the rows of one event: the share of games without it, turn by turn."""
    if rows.is_empty():
        return None
    drawn = []
    for (condition, team), part in rows.group_by("condition", "team", maintain_order=True):
        alone = part["condition"].n_unique() == rows["condition"].n_unique()
        drawn.append(
            Curve(
                name=printable(str(team) + ("" if alone else f" ({condition})")),
                x=[0, *part["turn"]],
                y=[1.0, *part["free"]],
                low=[1.0, *part["free_low"]],
                high=[1.0, *part["free_high"]],
                is_step=True,
                look=tuple(part["look"][0]) if alone and "look" in part.columns else None,
            )
        )
    found = curves(drawn[:_MOST_CURVES], across="turn", up=f"games without {rows['event'][0]}")
    return found.update_xaxes(**numbered(max(rows["turn"])))


def power_figure(rows: pl.DataFrame) -> go.Figure | None:
    """Of `power-curves`: the chance to see each difference, by tasks; dashed where the teams play different ones."""
    drawn = [
        Curve(
            name=", ".join(filter(None, (game and printable(in_words(game)), number(float(str(difference))), str(design)))),
            x=part["tasks"].to_list(),
            y=part["power"].to_list(),
            low=part["power_low"].to_list(),
            high=part["power_high"].to_list(),
            is_dashed=design != "paired",
        )
        for (game, design, difference), part in rows.group_by("game", "design", "difference", maintain_order=True)
    ]
    return curves(drawn[:_MOST_CURVES], across="tasks", up="chance to see it", line_at=_WISHED) if drawn else None


class EffectsSection(NamedTuple):
    """One report."""

    title: str
    report: str
    asks: str
    """What it answers, and what not."""
    draw: Callable[[pl.DataFrame], go.Figure | None]
    """From the report, or from `curves` where it has some; None where there is nothing to draw."""
    columns: Mapping[str, GridColumn]
    curves: str = ""
    """The report with the curves."""
    options: tuple[str, ...] = ("benchmark",)


QUESTIONS: Final[Mapping[str, EffectsSection]] = {
    "transitions": EffectsSection(
        "What follows on what",
        "transitions",
        "From one turn to the next, compared with the same games if their turns came in any order.",
        transition_figure,
        columns_of("effects", "transitions"),
    ),
    "survival": EffectsSection(
        "How long until",
        "survival",
        "Turns to the first refused action, to completion, to the first spiral; a game that ended before counts as long as it was seen.",
        survival_figure,
        columns_of("effects", "survival"),
        curves="survival-curves",
    ),
    "attempts": EffectsSection(
        "How sure a team is",
        "attempts",
        "The chance that one of k attempts at a task succeeds (pass@k), and that all do (pass^k), over tasks.",
        attempts_figure,
        columns_of("effects", "attempts"),
    ),
    "ability": EffectsSection(
        "Teams and tasks on one scale",
        "ability",
        "The further right a team, the more it can; the further right a task, the harder. Teams on different tasks can be "
        "compared where games link them.",
        ability_figure,
        columns_of("effects", "ability"),
    ),
    "power": EffectsSection(
        "How many tasks are enough",
        "power",
        "The chance to see a difference of that size, by how much the store's own teams differ from task to task.",
        power_figure,
        columns_of("effects", "power"),
        curves="power-curves",
    ),
    "effects": EffectsSection(
        "What goes with the outcome",
        "effects",
        "With the same team, task and turn: does more of one thing go with more of the other? A cause only where an experiment set it.",
        effect_figure,
        columns_of("effects", "effects"),
    ),
    "correlations": EffectsSection(
        "What goes together, and where",
        "correlations",
        "Over all units, inside teams, between teams, and with team and task taken out: kinds can contradict each other.",
        correlation_figure,
        columns_of("effects", "correlations"),
    ),
    "mediation": EffectsSection(
        "Is the effect mediated by messages?",
        "mediation",
        "How much of the difference of two teams goes along with how they talk. Nobody set the messages at random: no proof.",
        mediation_figure,
        columns_of("effects", "mediation"),
    ),
}
"""By the name in addresses, in order of the page: what happened first, what goes with what last, which takes longest on large stores."""


PATH = "/effects"
TITLE = "Effects"
IN_MENU = True
ORDER = 56
FILTERS: Final = ("benchmark",)

_MOST_SENTENCES: Final = 6


def content(read: Reader) -> Part:
    """One question at a time, `?ask=`, of one family; of survival one event, `?event=`."""
    names = read.rows("SELECT DISTINCT benchmark FROM compared_games WHERE ending = 'ended'", filter_on=())["benchmark"].to_list()
    benchmark = shown_benchmark(read, names)
    if benchmark is None:
        return html.Div([html.H1(TITLE), note("No games that ended under these filters: nothing to learn from.")])
    asked, _ = _asked(read, benchmark)
    questions = _questions(benchmark).items()
    choices = [
        *benchmark_choices(read, names, benchmark, "event"),
        link_choices("Ask", [(one.title, read.address.to(ask=name, event=None), name == asked) for name, one in questions]),
    ]
    return html.Div([html.H1(TITLE), html.Div(choices), _CARD(read, benchmark)])


def _questions(benchmark: str) -> Mapping[str, EffectsSection]:
    """Those that make sense: turns of transcripts have no outcome, so that none follows on another."""
    return QUESTIONS if family(benchmark) else {name: one for name, one in QUESTIONS.items() if name != "transitions"}


def _asked(read: Reader, benchmark: str) -> tuple[str, EffectsSection]:
    name, questions = read.address.one("ask"), _questions(benchmark)
    return (name, questions[name]) if name in questions else next(iter(questions.items()))


def _report(read: Reader, name: str, benchmark: str) -> pl.DataFrame:
    """The report, with teams called as on the other pages: in their columns, and in sentences."""
    import polars as pl

    rows = kept(read.store.path, ("report", name, benchmark), lambda: report(read.store, name, benchmark=benchmark))
    columns = [column for column in ("team", "team_a", "team_b", "name") if column in rows.columns]
    known = read.rows("SELECT DISTINCT team_name FROM compared_games", filter_on=())["team_name"].to_list()
    found = {team for column in columns for team in rows[column]}
    called = names_of_teams(read, [team for team in known if team in found])
    called = {team: called[team] for team in sorted(called, key=len, reverse=True) if called[team] != team}
    if not called:
        return rows
    renamed = rows.with_columns(pl.col(column).replace(called) for column in columns)
    if "advice" not in rows.columns:
        return renamed
    return renamed.with_columns(pl.col("advice").str.replace_many(called, leftmost=True))


def _card(read: Reader, benchmark: str) -> Part:
    _, question = _asked(read, benchmark)
    rows = _report(read, question.report, benchmark)
    if rows.is_empty():
        return card(
            question.title, note(f"Too few games for this question: cotrace report {question.report} has no rows."), hint=question.asks
        )
    events = _events(read, question, benchmark)
    chart = question.draw(_drawn(read, question, rows, benchmark))
    surest = rows.sort("p_holm", "p", nulls_last=True, maintain_order=True) if "p_holm" in rows.columns else rows
    if "event" in surest.columns and (event := _event(read, surest)):
        surest = surest.filter(surest["event"] == event)
    sentences = surest["advice"].drop_nulls().head(_MOST_SENTENCES).to_list() if "advice" in surest.columns else []
    more = f"The surest {len(sentences)} of {len(surest)}; the table has all." if 0 < len(sentences) < len(surest) else None
    return card(
        question.title,
        events,
        *([html.H3("What follows, and what does not"), html.Ul([html.Li(printable(one)) for one in sentences])] if sentences else []),
        html.P(more, className="hint") if more else None,
        figure(f"effects-{question.report}", chart, label=question.title) if chart is not None else None,
        fold(read, ROWS, f"{question.report}/{benchmark}"),
        hint=question.asks,
    )


def _drawn(read: Reader, question: EffectsSection, rows: pl.DataFrame, benchmark: str) -> pl.DataFrame:
    """What the figure shows: the report, or its curves, of survival those of one event."""
    import polars as pl

    drawn = _report(read, question.curves, benchmark) if question.curves else rows
    if question.curves and "event" in drawn.columns:
        looks = looks_of_teams(read, benchmark)
        drawn = drawn.filter(pl.col("event") == _event(read, drawn))
        drawn = drawn.with_columns(look=pl.Series([looks.get(team) for team in drawn["team"]], dtype=pl.List(pl.String)))
    if "condition" in drawn.columns:
        drawn = drawn.with_columns(pl.col("condition").map_elements(read.condition_in_words, return_dtype=pl.String))
    return drawn


def _event(read: Reader, curves: pl.DataFrame) -> str | None:
    """The event that the address names, else completion or the first there is."""
    found = curves["event"].unique(maintain_order=True).to_list()
    wanted = (read.address.one("event"), "completion")
    return next((event for event in (*wanted, *found) if event in found), None)


def _events(read: Reader, question: EffectsSection, benchmark: str) -> Part:
    if not question.curves:
        return None
    curves = _report(read, question.curves, benchmark)
    if "event" not in curves.columns:
        return None
    shown = _event(read, curves)
    found = curves["event"].unique(maintain_order=True).to_list()
    return link_choices("Until", [(str(event), read.address.to(event=event), event == shown) for event in found])


def _rows(read: Reader, part: str) -> TableRows:
    name, _, benchmark = part.partition("/")
    question = next((one for one in QUESTIONS.values() if one.report == name), next(iter(QUESTIONS.values())))
    return TableRows(
        frame=_report(read, question.report, benchmark),
        source=f"cotrace report {question.report} --benchmark {in_shell(benchmark)}",
        columns=question.columns,
    )


_CARD: Final = Later("effects-card", _card, 700)
LATER = (_CARD,)
ROWS: Final = Grid("effects-rows", _rows, "All rows")
TABLES = (ROWS,)
