"""Remove gap: how often teams take blocks away, against how often a verified action does."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from dashboards.address import GAME
from dashboards.figures import OUTCOMES, QUIET, SERIES, numbered, plain, styled
from dashboards.grid import Grid, TableRows, columns_of, fold
from dashboards.parts import Later, Part, card, figure, html, link_choices, note
from dashboards.reader import Reader, TeamName, team_names
from dashboards.team_figures import drawn_twice
from dashboards.teams import teams_of
from schemas.common import wording

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


PATH = "/remove-gap"
TITLE = "Remove gap"
IN_MENU = True
IN_MAIN_MENU = True
BENCHMARK = "craft"
ORDER = 45
FILTERS = ("condition", "model", "level")

_READINGS: Final = {"share": "share of listed removals", "any": "any listed removal", "first": "first listed is a removal"}
_MEASURES: Final = {"share": "remove_gap", "any": "remove_gap_any", "first": "remove_gap_first"}
"""Reading -> process measure of the front page."""
_PANEL_LETTERS: Final = 15
"""Of a line over a panel."""
_LABEL_LETTERS: Final = 24
"""Of a line of small print beside a bar."""
_PANELS: Final = 6
"""Teams whose turns are drawn at first: those with most moves."""

_TURNS = """
    SELECT * FROM remove_gap_by($reading, levels := $levels) WHERE {filters}
    QUALIFY sum(n) OVER (PARTITION BY model, condition, builder) > 0 ORDER BY model, condition, builder, turn
"""
_TEAMS = """
    WITH progress AS (
        SELECT model, condition, builder, avg(score) AS progress
        FROM games WHERE {filters} AND benchmark = 'craft' AND ($levels IS NULL OR list_contains($levels, level)) GROUP BY ALL
    )
    SELECT gaps.*, progress.progress
    FROM (SELECT * FROM remove_gap_models_by(levels := $levels) WHERE {filters} AND reading = $reading) AS gaps
    LEFT JOIN progress
        ON gaps.model = progress.model AND gaps.condition = progress.condition AND gaps.builder IS NOT DISTINCT FROM progress.builder
    ORDER BY progress.progress DESC NULLS LAST, gaps.model, gaps.condition
"""
_LIMITS = """
    SELECT list_sort(list(DISTINCT max_turns)) AS limits
    FROM (SELECT episode_id, model, condition, builder FROM games WHERE {filters} AND benchmark = 'craft') AS shown
    INNER JOIN (SELECT episode_id, max_turns FROM episodes) AS played USING (episode_id) GROUP BY model, condition, builder
"""
_PROFILES = """
    SELECT profiles.* FROM (SELECT * FROM bps_profiles WHERE {filters} AND unit = 'director turn' AND decided > 0) AS profiles
    LEFT JOIN (
        SELECT model, condition, builder, avg(score) AS progress FROM games WHERE {filters} AND benchmark = 'craft' GROUP BY ALL
    ) AS scored
        ON profiles.model = scored.model AND profiles.condition = scored.condition
        AND profiles.builder IS NOT DISTINCT FROM scored.builder
    ORDER BY progress DESC NULLS LAST, profiles.model, profiles.condition, profiles.builder, judge, mode
"""
_MODES: Final = {"limited_search": SERIES[3], "inefficient_inference": SERIES[1], "flawed_pragmatics": SERIES[0], "none": QUIET}


def content(read: Reader) -> Part:
    """The gap of each team, its turns, and the gap against progress: `?reading=share|any|first`, `?teams=all`."""
    return html.Div([html.H1(TITLE), _BODY(read), _SPEAKER(read)])


def _body(read: Reader, _: str) -> Part:
    address = read.address
    turns = read.rows(_TURNS, _asked(read), filter_on=("condition", "model"))
    choices = link_choices(
        "Verified removals", [(label, address.to(reading=key), key == _reading(read)) for key, label in _READINGS.items()]
    )
    if turns.is_empty():
        said = note("No turn with verified moves under these filters (conditions without oracle list none).")
        return html.Div([choices, said])
    teams = read.rows(_TEAMS, _asked(read), filter_on=("condition", "model"))
    return html.Div(
        [
            html.P(_answer(read, teams), className="lead"),
            choices,
            card(
                "Score and gap of each team",
                *drawn_twice(
                    "gap-teams",
                    read,
                    teams_of(read, "craft", measure=_MEASURES[_reading(read)]),
                    label="score and remove gap by team",
                    only=("score", "process"),
                ),
                fold(read, GAPS),
                hint="Gap: removals that were attempted, less removals that would have helped, mean of games with 95 % intervals. "
                "Right of zero: the team takes away what it should keep.",
            ),
            _turns_card(read, teams, turns),
        ]
    )


def _speaker_card(read: Reader, _: str) -> Part:
    rows = read.rows(_PROFILES, filter_on=("condition", "model"))
    if rows.is_empty():
        return note("Failures of the directors: none is decided. Judge spatial_grounding and mind_modeling first.")
    return card(
        "Why directors fail",
        figure("bps", by_mode(read, rows), label="failures of director turns by team"),
        hint="Limited search: the reasoning names no missing block. Inefficient inference: the message drops what the reasoning came to. "
        "Flawed pragmatics: it does not fit what the others know. Shares of director turns that are decided (cotrace report bps).",
    )


def by_mode(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """A bar a team and judge, shared out among the failures of the bounded pragmatic speaker."""
    import plotly.graph_objects as go

    keys = ["model", "condition", "builder", "judge"]
    teams = rows.select(*keys, "decided").unique(keys, maintain_order=True)
    names, judges = team_names(read, teams.to_dicts()), teams["judge"].to_list()
    said = [
        ", ".join(filter(None, (name.detail, judge, wording.counted(n, "turn"))))
        for name, judge, n in zip(names, judges, teams["decided"], strict=True)
    ]
    small = [textwrap.wrap(text, _LABEL_LETTERS) for text in said]
    labels = [
        "<br>".join([plain(name.model), *(f"<span style='font-size: 11px'>{plain(line)}</span>" for line in lines)])
        for name, lines in zip(names, small, strict=True)
    ]
    places = list(range(len(names)))  # labels can be alike
    drawn = go.Figure()
    for mode, color in _MODES.items():
        found = teams.join(rows.filter(mode=mode), on=keys, how="left", nulls_equal=True, maintain_order="left")
        drawn.add_bar(
            x=found["share"].to_list(),
            y=places,
            orientation="h",
            name=mode.replace("_", " "),
            marker={"color": color},
            customdata=found.select("turns", "decided", "undecided").rows(),
            hovertemplate="%{x:.0%}: %{customdata[0]} of %{customdata[1]}, %{customdata[2]} undecided<extra>%{fullData.name}</extra>",
        )
    drawn.update_layout(barmode="stack")
    drawn.update_xaxes(range=[0, 1], tickformat=".0%", title="director turns")
    drawn.update_yaxes(autorange="reversed", tickvals=places, ticktext=labels)
    return styled(drawn, height=130 + len(names) * (24 + 15 * max(map(len, small))))


def _reading(read: Reader) -> str:
    return read.address.one("reading") if read.address.one("reading") in _READINGS else "share"


def _asked(read: Reader) -> dict[str, object]:
    return {"reading": _reading(read), "levels": list(read.address.all("level")) or None}


def _answer(read: Reader, teams: pl.DataFrame) -> str:
    """The team that takes away most, in a sentence."""
    known = sorted((row for row in teams.iter_rows(named=True) if row["gap_low"] is not None), key=lambda row: -row["gap_mean_of_games"])
    if not known:
        return "No team has two games with both moves and listed candidates."
    name, row = team_names(read, known)[0], known[0]
    return (
        f"{name} takes away most: {wording.share(row['attempted_rate'])} of its moves are removals, where "
        f"{wording.share(row['oracle_rate'])} of the verified ones are."
    )


def _turns_card(read: Reader, teams: pl.DataFrame, turns: pl.DataFrame) -> Part:
    import polars as pl

    keys = ["model", "condition", "builder"]
    most = turns.group_by(keys).agg(pl.col("n_attempted").sum()).sort(["n_attempted", *keys], descending=[True, False, False, False])
    is_cut = len(most) > _PANELS and read.address.one("teams") != "all"
    shown = turns.join(most.head(_PANELS), on=keys, how="semi", nulls_equal=True) if is_cut else turns
    shown = teams.select(keys).join(shown, on=keys, how="inner", nulls_equal=True, maintain_order="left_right")  # the highest score first
    more = html.P(html.A(f"all {len(most)} teams", href=read.address.to(teams="all")), className="hint") if is_cut else None
    return card(
        "Turn by turn",
        figure("remove-gap", by_turn(read, shown), label="removals by turn"),
        more,
        hint=f"The shaded area is the gap.{_pooled(read)}",
    )


def _pooled(read: Reader) -> str:
    """Which turn limits the games of one team have; the rows of the front page are one limit each."""
    teams = read.rows(_LIMITS)["limits"].to_list()
    pooled = [limits for limits in teams if len(limits) > 1]
    limits = ", ".join(map(str, sorted({limit for own in pooled for limit in own})))
    which = "Each panel pools" if len(pooled) == len(teams) else "Some panels pool"
    return f" {which} games with limits of {limits} turns." if pooled else ""


def report_figure(read: Reader) -> go.Figure | None:
    """Attempted and oracle removal per turn in the default reading; None without candidates."""
    rows = read.rows("SELECT * FROM remove_gap ORDER BY model, condition, builder, turn")
    return by_turn(read, rows) if rows["n"].sum() else None


def by_turn(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """A panel a team: attempted and oracle removal rate over the turns, the area between them shaded."""
    from plotly.subplots import make_subplots

    teams = list(rows.group_by("model", "condition", "builder", maintain_order=True))
    names = team_names(read, [dict(zip(("model", "condition", "builder"), key, strict=True)) for key, _ in teams])
    width = min(3, len(teams))
    height = -(-len(teams) // width)
    drawn = make_subplots(
        rows=height,
        cols=width,
        shared_yaxes=True,
        subplot_titles=[_title(name) for name in names],
        vertical_spacing=0.32 / height,
        horizontal_spacing=0.06,
    )
    oracle, attempted = OUTCOMES["followed"].color, OUTCOMES["not_followed"].color
    for place, (_, team) in enumerate(teams):
        at = {"row": place // width + 1, "col": place % width + 1}
        common = {"x": team["turn"].to_list(), "mode": "lines", "showlegend": place == 0}
        counts = team.select("n", "n_attempted", "n_attempted_remove").rows()
        drawn.add_scatter(
            **common,
            **at,
            y=team["oracle_rate"].to_list(),
            name="verified",
            line={"color": oracle, "dash": "dot", "width": 2},
            customdata=counts,
            hovertemplate="turn %{x}: verified %{y:.0%}, n %{customdata[0]}<extra></extra>",
        )
        drawn.add_scatter(
            **common,
            **at,
            y=team["attempted_rate"].to_list(),
            name="attempted",
            line={"color": attempted, "width": 2},
            fill="tonexty",
            fillcolor="rgba(230,115,57,.18)",
            customdata=counts,
            hovertemplate="turn %{x}: attempted %{y:.0%} (%{customdata[2]} of %{customdata[1]} moves)<extra></extra>",
        )
    drawn.update_yaxes(range=[0, 1], tickformat=".0%")
    drawn.update_yaxes(title="removals", col=1)
    drawn.update_xaxes(title="turn", row=height)
    drawn.update_xaxes(**numbered(max(rows["turn"].to_list(), default=1)))
    styled(drawn, height=110 + 190 * height)
    drawn.update_annotations(font_size=13)
    drawn.update_layout(margin={"t": 80}, legend={"y": 1 + 45 / (190 * height)})
    return drawn


def _title(name: TeamName) -> str:
    """Lines so short that those of neighbours do not touch on a narrow screen."""
    lines = textwrap.wrap(name.detail, _PANEL_LETTERS, max_lines=2, placeholder=" …") if name.detail else []
    return "<br>".join([plain(name.model), *(f"<sup>{plain(line)}</sup>" for line in lines)])


def _gaps(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_TEAMS,
        parameters=_asked(read),
        filter_on=("condition", "model"),
        columns=columns_of("craft", "gaps"),
        link=lambda row: read.address.narrowed(GAME, benchmark="craft", model=row["model"], condition=row["condition"]),
    )


_BODY: Final = Later("gap-body", _body, 900)
_SPEAKER: Final = Later("gap-speaker", _speaker_card, 300)
LATER = (_BODY, _SPEAKER)
GAPS: Final = Grid("remove-gap", _gaps, "Every team in numbers")
TABLES = (GAPS,)
FIGURES: Final = {"remove-gap": report_figure}
