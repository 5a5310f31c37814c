"""The figures of the front page: a row a team, its end-to-end metric next to how it worked; and the same teams turn by turn."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dashboards.address import GAME
from dashboards.figures import INK, OTHER, OUTCOMES, SERIES, color_of, plain, short
from dashboards.filters import group_of, thing_of
from dashboards.panels import Panels
from dashboards.parts import Part, figure, html
from dashboards.reader import Reader, TeamName
from dashboards.teams import FEW, MOST_TEAMS, Row, Teams, regret_by_agent
from schemas.common import wording
from schemas.families import can_spiral, family

if TYPE_CHECKING:
    import plotly.graph_objects as go

_INK: Final = SERIES[0]
_FAINT: Final = "rgba(138, 143, 156, 0.16)"
_AGENTS: Final = ("#8593c9", "#a5b0d9", "#c3cbe6", "#dde1f1")
"""One hue, as agents are no categories of failure; their names are on the bars."""
_NO_AGENT: Final = "#c9ccd3"
_NOT_ATTRIBUTED: Final = "not attributed"
_UNKNOWN: Final = "not known"
_ROW: Final = 46
_GAP: Final = 56
"""Pixels between panels one below the other: tick labels, the axis title, and the title of the next panel."""
_MANY_TURNS: Final = 40
_NUMBERED: Final = 6
"""Turns that are all named on an axis; a turn has no halves."""
_FADED: Final = 0.62
_NAME, _DETAIL, _NARROW = 26, 34, 18


def _to(read: Reader, path: str, row: Row, **keys: str) -> str:
    return read.address.narrowed(path, benchmark=row["benchmark"], model=row["model"], condition=row["condition"], **keys)


def _turns_at(read: Reader, row: Row, only: str = "", **keys: str) -> str:
    return _to(read, "/turns", row, **({"only": only} if only else {}), **keys)


_VALUES: Final = {"score": "score_mean", "success": "success_rate", "process": "process_mean", "spiral": "spiral_share"}


@dataclass(frozen=True, kw_only=True)
class _Measure:
    """A panel of dots."""

    title: str
    key: str
    n: str
    n_of: str
    write: Callable[[float | None], str]
    span: tuple[float, float] | None = None
    """Range; None: that of the values."""
    line_at: float | None = None
    link: Callable[[Reader, Row], str] = lambda read, row: _to(read, GAME, row)
    is_share: bool = False

    def value(self, row: Row) -> float | None:
        found: float | None = row[_VALUES[self.key]]
        return found

    def ends(self, row: Row) -> tuple[float | None, float | None]:
        return row[f"{self.key}_low"], row[f"{self.key}_high"]


def _measures(teams: Teams) -> list[_Measure]:
    known = family(teams.benchmark)
    bounded = all(row["score_max"] == 1 for row in teams.rows if row["n"])
    score = wording.score if bounded else wording.number
    title = (known.score_words or wording.in_words(known.score)) if known else "score"
    if known and len(games := {row["game"] for row in teams.rows}) == 1:
        title = known.game_scores.get(games.pop() or "", title)
    found = [
        _Measure(
            title=title[:1].upper() + title[1:],
            key="score",
            n="n",
            n_of="games" if known else "transcripts",
            write=score,
            span=(0, 1) if bounded else None,
        ),
        _Measure(
            title="Goal reached",
            key="success",
            n="success_n",
            n_of="games" if known else "transcripts",
            write=wording.share,
            span=(0, 1),
            is_share=True,
        ),
    ]
    process = teams.process
    if process:
        found.append(
            _Measure(
                title=process.title,
                key="process",
                n="process_n",
                n_of="games",
                write=process.write,
                span=(0, 1) if process.is_share else None,
                line_at=process.line_at,
                is_share=process.is_share,
                link=lambda read, row: _turns_at(read, row, "removed") if process.line_at == 0 else _to(read, GAME, row),
            )
        )
    found.append(
        _Measure(
            title="Turns in spirals",
            key="spiral",
            n="spiral_turns",
            n_of="turns",
            write=wording.share,
            span=(0, 1),
            is_share=True,
            link=lambda read, row: _turns_at(read, row, "spiral"),
        )
    )
    same = all(row["success_rate"] == row["score_mean"] for row in teams.rows)
    return [one for one in found if any(one.value(row) is not None for row in teams.rows) and not (one.key == "success" and same)]


def overview_figure(read: Reader, teams: Teams, *, only: Collection[str] = (), is_tall: bool = False) -> go.Figure | None:
    """A row a team and a panel a measure: dots with 95 % intervals, failures and regret as stacked bars; None where nothing is known.

    Args:
        read: for addresses.
        teams: what is drawn, at most `MOST_TEAMS`.
        only: the panels, of score, success, process, spiral, failures and regret; empty: all that are known.
        is_tall: panels one below the other, for narrow screens.
    """
    shown = teams.drawn(MOST_TEAMS)
    rows = [{**row, "called": str(name)} for row, name in shown]
    measures = [one for one in _measures(teams) if not only or one.key in only]
    has_regret = any(row["regret_n"] for row in rows)
    bars = [draw for key, draw in _BARS.items() if (not only or key in only) and (has_regret if key == "regret" else teams.failures)]
    panels = len(measures) + len(bars)
    if not rows or not panels:
        return None
    unit = next((row["unit"] for row in rows if row["unit"]), "")
    titles = [
        *[one.title for one in measures],
        *[("Failures, share of turns" if bar is _failure_bars else f"Regret a game by agent, {unit}") for bar in bars],
    ]
    labels = [(_short_label if is_tall else _label)(name, row, teams) for row, name in shown]
    legend = 26 * (_failure_bars in bars)
    row = _ROW + (14 if is_tall else 12) * max(label.count("<br>") - 1 for label in labels)
    height = (panels * (_GAP + (row - 8) * len(rows)) + 60 if is_tall else 106 + row * len(rows)) + legend
    margin = {"l": 10, "r": 12, "t": 34, "b": 58 + legend}
    drawn = Panels(
        panels if is_tall else 1,
        1 if is_tall else panels,
        shared_yaxes=not is_tall,
        horizontal_spacing=0.034,
        vertical_spacing=_GAP / (height - margin["t"] - margin["b"]) if is_tall else None,
        column_widths=None if is_tall else (*[1.0] * len(measures), *[1.55] * len(bars)),
    )
    for place, measure in enumerate(measures, 1):
        _dots(drawn, read, rows, measure, **_cell(place, is_tall))
    for place, draw in enumerate(bars, len(measures) + 1):
        draw(drawn, read, teams, rows, **_cell(place, is_tall))
    for axis in drawn.axes("y"):
        axis |= {"tickvals": list(range(len(rows))), "ticktext": labels, "range": [len(rows) - 0.45, -0.55]}
        axis |= {"zeroline": False, "ticklabelstandoff": 6}
    for place, title in enumerate(titles, 1):
        at = _cell(place, is_tall)
        axis = drawn.x(**at)
        axis |= {"tickfont": {"size": 11}, "title": axis.get("title", {}) | {"font": {"size": 10.5}, "standoff": 2}}
        drawn.write(plain(title), yanchor="bottom", font={"size": 12.5}, **at)
    return drawn.figure(
        height=height,
        barmode="stack",
        bargap=0.42,
        margin=margin,
        legend={
            "y": 0.005,
            "yanchor": "bottom",
            "yref": "container",
            "x": 0,
            "xref": "container",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        uniformtext={"minsize": 9, "mode": "hide"},
    )


def _cell(place: int, is_tall: bool) -> dict[str, int]:  # noqa: FBT001 - one of two layouts
    return {"row": place, "col": 1} if is_tall else {"row": 1, "col": place}


def _short_label(name: TeamName, row: Row, teams: Teams) -> str:
    """As `_label`, for narrow screens: where all teams are of one model, what tells them apart in its place."""
    few = " few" if row["games"] < FEW else ""
    is_one_model = bool(name.detail) and len({other.model for other in teams.names}) == 1
    tail = name.detail.split(", ")[-1] if name.detail and not is_one_model else ""
    small = f"{plain(short(tail, 14))} " if tail and [other.model for other in teams.names].count(name.model) > 1 else ""
    whole = {other.detail if is_one_model else other.model for other in teams.names}
    own = name.detail if is_one_model else name.model
    is_alone = [_cut(other) for other in whole].count(_cut(own)) == 1
    called = "<br>".join(map(plain, _cut(own) if is_alone else textwrap.wrap(own, _NARROW)))
    return f"<span style='font-size: 11px'>{called}</span><br><span style='font-size: 10px'>{small}n {row['games']}{few}</span>"


def _cut(text: str) -> list[str]:
    return textwrap.wrap(text, _NARROW, max_lines=2, placeholder="…")


def _label(name: TeamName, row: Row, teams: Teams) -> str:
    """The team, what tells it from its namesakes, and its games."""
    small = textwrap.wrap(name.detail, _DETAIL, max_lines=1, placeholder=" …") if name.detail else []
    games = wording.counted(row["games"], thing_of([teams.benchmark]))
    few = ", few" if row["games"] < FEW else ""
    lines = textwrap.wrap(name.model, _NAME, max_lines=1 if name.detail else 3, placeholder=" …") or [name.model]
    first = "<br>".join(plain(short(line, _NAME)) for line in lines)
    return f"{first}<br><span style='font-size: 10.5px'>{plain(', '.join([*small, games]))}{few}</span>"


def _dots(drawn: Panels, read: Reader, rows: Sequence[Row], measure: _Measure, **at: int) -> None:
    """The dots of a panel: of few games as faint rings; what is not known in words."""
    values = [measure.value(row) for row in rows]
    ends = [end for row in rows for end in measure.ends(row) if end is not None] + [value for value in values if value is not None]
    low, high = measure.span or (min([*ends, measure.line_at or 0]), max([*ends, measure.line_at or 0]))
    room = 0.06 * ((high - low) or 1)
    for is_few in (False, True):
        own = [
            (place, row, value)
            for place, (row, value) in enumerate(zip(rows, values, strict=True))
            if value is not None and (row["games"] < FEW) is is_few
        ]
        if not own:
            continue
        lows = [_or(measure.ends(row)[0], value) for _, row, value in own]
        highs = [_or(measure.ends(row)[1], value) for _, row, value in own]
        drawn.add(
            "scatter",
            x=[value for *_, value in own],
            y=[place for place, *_ in own],
            mode="markers+text",
            text=[measure.write(value) for *_, value in own],
            textposition="top center",
            textfont={"size": 11},
            cliponaxis=False,
            opacity=_FADED if is_few else 1,
            marker={"size": 9, "color": _INK, "symbol": "circle-open" if is_few else "circle", "line": {"width": 1.6, "color": _INK}},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [max(0, min(end, high) - value) for end, (*_, value) in zip(highs, own, strict=True)],
                "arrayminus": [max(0, value - max(end, low)) for end, (*_, value) in zip(lows, own, strict=True)],
                "color": _INK,
                "thickness": 1.5,
                "width": 0,
            },
            customdata=[[measure.link(read, row), _said(measure, row)] for _, row, _ in own],
            hovertemplate="%{customdata[1]}<extra></extra>",
            showlegend=False,
            **at,
        )
    _write(drawn, _UNKNOWN, [place for place, value in enumerate(values) if value is None], (low + high) / 2, **at)
    if measure.line_at is not None:
        drawn.add_line(measure.line_at, **at, color=OTHER, width=1, dash="dot")
    axis = drawn.x(**at)
    axis |= {"range": [low - room, high + room], "tickformat": ".0%" if measure.is_share else None, "zeroline": False}
    axis |= {"tickvals": [0, 0.5, 1]} if (low, high) == (0, 1) else {"nticks": 4}


def _or(end: float | None, value: float) -> float:
    return value if end is None else end


def _said(measure: _Measure, row: Row) -> str:
    low, high = measure.ends(row)
    ends = f" [{measure.write(low)}, {measure.write(high)}]" if low is not None and high is not None else ", no interval"
    told = f"{plain(measure.title)}: {measure.write(measure.value(row))}{ends}"
    return f"{plain(row['called'])}<br>{told}<br>n {wording.count(row[measure.n])} {measure.n_of}"


def _failure_bars(drawn: Panels, read: Reader, teams: Teams, rows: Sequence[Row], **at: int) -> None:
    """What went wrong, in strong colours from the left; what went right is the pale rest."""
    known = read.failures(teams.failures[0]["taxonomy"])
    shown = list(known)[: len(SERIES)]
    parts: dict[str, list[tuple[float, int, int, str]]] = {name: [] for name in (*shown, "other")}
    sizes: list[int] = []
    for row in rows:
        own = teams.at(teams.failures, row)
        sizes.append(own[0]["denominator"] if own else 0)
        taxonomy = own[0]["taxonomy"] if own else ""
        turns = {found["category"]: found["turns"] for found in own if found["wrong"]}
        rest = sum(n for name, n in turns.items() if name not in shown)
        size = sizes[-1] or 1
        for name in shown:
            link = _turns_at(read, row, taxonomy=taxonomy, category=name)
            parts[name].append((turns.get(name, 0) / size, turns.get(name, 0), sizes[-1], link))
        parts["other"].append((rest / size, rest, sizes[-1], _turns_at(read, row, "failure")))
    for name, found in parts.items():
        if any(share for share, *_ in found):
            color = color_of(name, shown)
            words = plain(short(known.get(name, name), 28))
            hover = [[link, f"{wording.share_of(n, size)} turns"] for _, n, size, link in found]
            _bar(drawn, rows, [share for share, *_ in found], name=words, marker={"color": color}, customdata=hover, **at)
            drawn.add("bar", x=[None], y=[0], orientation="h", name=words, marker={"color": color}, **at)
    failed = [sum(found[place][0] for found in parts.values()) for place in range(len(rows))]
    right = [max(0.0, 1 - share) if size else 0 for share, size in zip(failed, sizes, strict=True)]
    _bar(drawn, rows, right, marker={"color": _FAINT}, hovertemplate="no failure<extra></extra>", **at)
    _write(drawn, _UNKNOWN, [place for place, size in enumerate(sizes) if not size], 0.5, **at)
    axis = drawn.x(**at)
    axis |= {"range": [0, max(1.0, *failed)], "tickformat": ".0%", "dtick": 0.5, "zeroline": False, "showgrid": False}


def _regret_bars(drawn: Panels, read: Reader, teams: Teams, rows: Sequence[Row], **at: int) -> None:
    """What each agent lost in a game; what no attribution covers is hatched."""
    agents = list(regret_by_agent(teams.regrets))
    own = [teams.at(teams.regrets, row) for row in rows]
    most = max((row["regret"] or 0 for row in rows), default=0) or 1

    def draw(name: str, values: list[float], least: float, marker: dict[str, Any], **narrow: str) -> None:
        text = [plain(name) if value > least * most else "" for value in values]
        hover = [
            [_turns_at(read, row, "lost", **narrow), f"{wording.number(value)} a game"] for row, value in zip(rows, values, strict=True)
        ]
        look = {
            "text": text,
            "textposition": "inside",
            "textangle": 0,
            "insidetextanchor": "middle",
            "textfont": {"size": 10.5, "color": INK},
        }
        _bar(drawn, rows, values, name=plain(name), marker=marker, customdata=hover, **look, **at)

    lost = {name: [sum(one["cost_a_game"] for one in found if one["agent"] == name) for found in own] for name in agents}
    for rank, (name, values) in enumerate(lost.items()):
        draw(name, values, 0.08, {"color": _AGENTS[min(rank, len(_AGENTS) - 1)]}, agent=name)
    free = [sum(one["cost_a_game"] for one in found if not one["agent"] and one["status"] == "answered") for found in own]
    left = [max(0.0, (row["regret"] or 0) - sum(known)) for row, *known in zip(rows, free, *lost.values(), strict=True)]
    draw("no agent", free, 0.2, {"color": _NO_AGENT}, step="seeing")
    crossed = {"shape": "x", "solidity": 0.2, "fgcolor": OTHER}
    draw(_NOT_ATTRIBUTED, left, 0.35, {"color": _NO_AGENT, "pattern": crossed}, step="not_understood")
    _write(drawn, _UNKNOWN, [place for place, row in enumerate(rows) if not row["regret_n"]], most / 2, **at)
    _write(drawn, "0", [place for place, row in enumerate(rows) if row["regret_n"] and not row["regret"]], 0.03 * most, **at)
    axis = drawn.x(**at)
    axis |= {"range": [0, 1.04 * most], "nticks": 4, "zeroline": False, "showgrid": False}


_BARS: Final = {"failures": _failure_bars, "regret": _regret_bars}


def _bar(drawn: Panels, rows: Sequence[Row], values: Sequence[float], *, marker: dict[str, Any], **more: Any) -> None:
    """A part of each team's bar; of few games, hatched."""
    hatched = {"pattern": {"shape": ["/" if row["games"] < FEW else "" for row in rows], "solidity": 0.35}}
    look = {"line": {"width": 0}} | ({} if marker["color"] == _FAINT else hatched) | marker
    shown: dict[str, Any] = {"orientation": "h", "hovertemplate": "%{fullData.name}: %{customdata[1]}<extra></extra>", "showlegend": False}
    drawn.add("bar", x=values, y=list(range(len(rows))), marker=look, **shown | more)


def _write(drawn: Panels, text: str, places: Sequence[int], middle: float, **at: int) -> None:
    drawn.add(
        "scatter",
        x=[middle] * len(places),
        y=list(places),
        mode="text",
        text=[f"<i>{text}</i>"] * len(places),
        textfont={"size": 11, "color": OTHER},
        hoverinfo="skip",
        showlegend=False,
        **at,
    )


def drawn_twice(name: str, read: Reader, teams: Teams, *, label: str, only: Collection[str] = ()) -> list[Part]:
    """The figure for wide and for narrow screens, with its caption; nothing where nothing is known.

    Args:
        name: its id.
        read: for addresses.
        teams: what is drawn.
        label: what screen readers call it.
        only: as in `overview_figure`.
    """
    wide, tall = (overview_figure(read, teams, only=only, is_tall=is_tall) for is_tall in (False, True))
    if wide is None or tall is None:
        return []
    text = caption(teams, only)
    return [
        html.Div(figure(name, wide, label=label, caption=text), className="wide-only"),
        html.Div(figure(f"{name}-tall", tall, label=label, caption=text), className="narrow-only"),
    ]


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line of a panel."""

    key: str
    n: str
    color: str
    only: str = ""
    """Which turns a click leads to."""
    dash: str = "solid"

    def draw(self, drawn: Panels, read: Reader, team: Row, turns: Sequence[Row], **at: int) -> None:
        known = [found for found in turns if found[self.key] is not None]
        write = wording.score if self.key == "score" else wording.share
        drawn.add(
            "scatter",
            x=[found["turn"] for found in known],
            y=[found[self.key] for found in known],
            mode="lines+markers",
            opacity=_FADED if team["games"] < FEW else 1,
            line={"width": 2, "color": self.color, "dash": self.dash},
            marker={"size": 3.5 if len(known) <= _MANY_TURNS else 1.5, "color": self.color},
            customdata=[[_turns_at(read, team, self.only, turn=str(one["turn"])), self._said(team, one, write)] for one in known],
            hovertemplate="%{customdata[1]}<extra></extra>",
            **at,
        )

    def _said(self, row: Row, found: Row, write: Callable[[float | None], str]) -> str:
        return f"{plain(row['called'])}, turn {found['turn']}: {self.key.replace('_', ' ')} {write(found[self.key])}, n {found[self.n]}"


_PANELS: Final[Sequence[tuple[str, Sequence[_Line]]]] = (
    ("Score so far", (_Line(key="score", n="score_n", color=_INK),)),
    (
        "Removals (dotted: verified)",
        (
            _Line(key="removed", n="removed_n", color=OUTCOMES["not_followed"].color, only="removed"),
            _Line(key="verified", n="verified_n", color=OUTCOMES["followed"].color, dash="dot"),
        ),
    ),
    ("In a spiral", (_Line(key="in_spiral", n="spiral_n", color=SERIES[3], only="spiral"),)),
    ("With a failure", (_Line(key="failing", n="failing_n", color=OUTCOMES["refused"].color, only="failure"),)),
)


def turns_figure(read: Reader, teams: Teams, *, most: int = 6) -> go.Figure | None:
    """Small multiples on one turn axis: a row a team, panels for score, removals, spirals and failures; None without turns.

    In each panel the other teams are thin grey lines. A game that has ended keeps its score; the other rates are of games that go on.
    """
    shown = teams.drawn(most, turns=2)
    rows = [{**row, "called": str(name)} for row, name in shown]
    own = [teams.at(teams.turns, row) for row in rows]
    panels = [(title, lines) for title, lines in _PANELS if any(found[lines[-1].key] is not None for turns in own for found in turns)]
    if not rows or not panels:
        return None
    spacing: dict[str, Any] = {"horizontal_spacing": 0.025, "vertical_spacing": 0.32 / (len(rows) + 1)}
    drawn = Panels(len(rows), len(panels), shared_xaxes=True, shared_yaxes=True, **spacing)
    for down, (row, (_, name), turns) in enumerate(zip(rows, shown, own, strict=True), 1):
        others = [found for place, of_team in enumerate(own, 1) if place != down for found in (*of_team, None)]
        for across, (title, lines) in enumerate(panels, 1):
            at = {"row": down, "col": across}
            key = lines[0].key
            grey = {"color": "rgba(138, 143, 156, .38)", "width": 1}
            x, y = ([found and found[column] for found in others] for column in ("turn", key))
            drawn.add("scatter", x=x, y=y, mode="lines", line=grey, hoverinfo="skip", **at)
            for line in lines:
                line.draw(drawn, read, row, turns, **at)
            if not any(found[key] is not None for found in turns):
                drawn.write(_UNKNOWN, x=0.5, y=0.5, xanchor="center", font={"color": OTHER}, **at)
            if down == 1:
                drawn.write(title, yshift=36, font={"size": 12.5}, **at)
            drawn.y(**at).update({"tickvals": [0, 1], "ticktext": ["0", "1"]} if across == 1 else {"tickvals": [0, 0.5, 1]})
            if down == len(rows):
                drawn.x(**at)["title"] = {"text": "turn", "standoff": 2}
        small = f"<span style='font-size: 10.5px'>{plain(short(name.detail, 40))} n {row['games']}</span>"
        called = f"{plain(short(name.model, 30 if name.detail else 62))} {small}"
        drawn.write(called, yanchor="bottom", font={"size": 11.5}, row=down, col=1)
    last = max(found["turn"] for turns in own for found in turns)
    for axis in drawn.axes("y"):
        axis |= {"range": [-0.04, 1.06], "tickfont": {"size": 10.5}, "zeroline": False}
    for axis in drawn.axes("x"):
        axis |= {"range": [1 - 0.03 * last, 1.03 * last], "nticks": 6, "dtick": 1 if last <= _NUMBERED else None}
        axis |= {"tickfont": {"size": 10.5}, "zeroline": False, "showgrid": False}
    margin = {"l": 10, "r": 12, "t": 54, "b": 40}
    return drawn.figure(height=100 + 92 * len(rows), margin=margin)


def caption(teams: Teams, only: Collection[str] = ()) -> str:
    """What the figure shows, of how many games, by which methods: the caption of a paper."""
    shown = teams.drawn(MOST_TEAMS)
    thing, group = thing_of([teams.benchmark]), group_of(teams.benchmark)
    games = sum(row["games"] for row, _ in shown)
    counted = f"{len(shown)} of {wording.counted(len(teams.rows), group)}, {wording.counted(games, thing)}"
    parts = {
        "": f"{counted}; crashed and truncated {thing}s are excluded.",
        "score": "Dots: means with 95 % intervals over tasks; no interval below two.",
    }
    if any(row["spiral_share"] is not None for row, _ in shown):
        parts["spiral"] = f"Spirals: intervals over {thing}s."
    elif not can_spiral(teams.benchmark):
        parts["spiral"] = "No correction spirals: every turn makes a new state."
    if teams.process:
        parts["process"] = f"{teams.process.title}: {teams.process.meaning}."
    if (not only or "failures" in only) and teams.failures:
        named = wording.in_words(teams.failures[0]["taxonomy"])
        parts["failures"] = f"Failures: turns of each category of {named}; pale: no failure."
    if any(row["regret_n"] for row, _ in shown):
        parts["regret"] = (
            "Regret: value lost by the turns of a game, attributed to agents; grey: no agent could see it; crossed: not attributed."
        )
    few = f"Rings and hatched bars: fewer than {FEW} {thing}s. Not known: the logs do not record it."
    return " ".join([*(text for key, text in parts.items() if not key or not only or key in only), few])


def turns_caption(teams: Teams) -> str:
    """What `turns_figure` shows."""
    thing, groups = thing_of([teams.benchmark]), f"{group_of(teams.benchmark)}s"
    ended = f"A {thing} that has ended keeps its score; other rates are of {thing}s that go on."
    return f"Rows: {groups}, the highest score first. Grey: the other {groups}. {ended}"


_LETTERS: Final = 120
"""Characters of a line of a caption inside a figure."""


def captioned(drawn: go.Figure, text: str) -> go.Figure:
    """The figure with its caption below, as a paper prints it: in notebooks and files, where no page shows the caption beside it."""
    lines = textwrap.wrap(text, _LETTERS)
    added = 15 * len(lines) + 8
    layout = drawn.layout
    height = layout.height + added
    drawn.update_layout(
        height=height,
        margin_b=layout.margin.b + added,
        title={
            "text": "<br>".join(map(plain, lines)),
            "font": {"size": 11.5},
            "x": 0,
            "xanchor": "left",
            "y": 4 / height,
            "yanchor": "bottom",
            "yref": "container",
            "pad": {"l": 10},
        },
    )
    if layout.legend.yref == "container":
        drawn.update_layout(legend_y=added / height)
    return drawn
