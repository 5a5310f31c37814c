"""Why: which step failed, seeing, saying, understanding or acting, and what was lost by it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from analytics.losses.lost import amount, of_link, of_unit, reader_of
from dashboards.address import game_at
from dashboards.figures import NO_LOOKS, OTHER, SERIES, Axis, Dot, Looks, dot_plot, look, numbered, plain, short, styled
from dashboards.filters import OTHER_FILTERS, benchmark_choices, in_order, narrowed, shown_benchmark, thing_of
from dashboards.grid import CUT, Grid, TableRows, columns_of, fold
from dashboards.parts import Later, Part, card, figure, html, note
from dashboards.reader import looks_of_teams, names_of_teams
from schemas.common.wording import counted, in_words, share
from schemas.families import can_spiral

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from dashboards.reader import Reader


PATH = "/why"
TITLE = "Why"
IN_MENU = True
ORDER = 15

_NO_ROLE: Final = ("no one at fault", "harness", "unattributed", "undecided")
"""What stands in the place of a role where a loss is no agent's, or nothing shows whose it is."""
_MOST_LINES: Final = 12
"""Roles or failure modes in a figure."""
_MOST_TEAMS: Final = 10
"""Teams with a bar, those that lost most in a game."""
_LETTERS: Final = 26
"""Of a line of a team's name."""

_STEPS: Final[Mapping[str, str]] = {
    "seeing": "seeing: no agent could see it",
    "saying": "saying: no message, or a wrong one",
    "understanding": "understanding: the message was misread",
    "acting": "acting: the action was wrong",
    "harness": "harness: the game program lost it",
    "not_understood": "unattributed: message not understood",
    "undecided": "undecided: nothing can be proven",
}
"""Step that failed (view `failure_steps`) -> its words; the last three are no agent's."""
_FAILED: Final = 4
"""Steps of an agent; what follows is no failed step, but a part of the picture."""

_BY_STEP: Final = "FROM regret_by_step({filters}) ORDER BY share DESC, step"
_FLOWS: Final = "FROM regret_by_team({filters}) ORDER BY cost DESC, team_name, link, role"
_COUNT: Final = """
    SELECT coalesce(sum(turns), 0)::BIGINT AS turns, count(*) AS games FROM step_regrets
    WHERE step IS NULL AND episode_id IN (SELECT episode_id FROM games WHERE {filters})
    """
_READERS: Final = """
    SELECT judge, count(DISTINCT episode_id) AS games FROM attributions
    WHERE cost > 0 AND isfinite(cost) AND episode_id IN (SELECT episode_id FROM games WHERE {filters})
    GROUP BY judge ORDER BY games DESC, judge
    """
_BENCHMARKS: Final = """
    SELECT DISTINCT benchmark FROM games WHERE {filters} AND (
        episode_id IN (SELECT episode_id FROM attributions) OR episode_id IN (SELECT episode_id FROM game_blames)
        OR episode_id IN (SELECT episode_id FROM labels WHERE rubric = 'mast')
    )
    """
_BLAMED: Final = "FROM blamed_roles({filters}) ORDER BY source <> 'people', source <> 'rules', judge, share DESC, role"
_MODES: Final = "FROM failure_modes({filters}) ORDER BY judge <> 'people', judge, share DESC, question"
_NAMED: Final = """
    SELECT team_name, task_id, source, judge, agent, turn, episode_id FROM blamed_agents
    WHERE {filters} AND benchmark = $benchmark ORDER BY task_id, episode_id, source, judge, agent
    """
_CURVE: Final = "FROM regret_curve({filters}) ORDER BY team_name, turn"
_PARTS: Final = """
    SELECT *, coalesce(agent, if(status = 'answered', 'no one at fault', status)) AS whose FROM attributions
    WHERE cost > 0 AND isfinite(cost) AND episode_id IN (SELECT episode_id FROM games WHERE {filters} AND benchmark = $benchmark)
    """
_TURNS: Final = f"""
    SELECT team_name, task_id, turn, whose, agents.model AS agent_model, link, cost, evidence, found.episode_id
    FROM ({_PARTS} ORDER BY cost DESC, episode_id, turn, whose {CUT}) AS found
    INNER JOIN episodes USING (episode_id) INNER JOIN team_names USING (episode_id)
    LEFT JOIN agents ON found.episode_id = agents.episode_id AND found.agent = agents.agent
    ORDER BY cost DESC, found.episode_id, turn, whose
    """
_CATEGORIES: Final = """
    SELECT team_name, condition, taxonomy, category, turns, cost_a_turn, share FROM cost_by_category
    WHERE {filters} AND benchmark = $benchmark AND share IS NOT NULL ORDER BY share DESC, team_name, condition, taxonomy, category
    """
_SPIRALS: Final = """
    SELECT team_name, condition, turns_inside, turns_outside, cost_inside, cost_expected, share_inside FROM cost_in_spirals
    WHERE {filters} AND benchmark = $benchmark AND share_inside IS NOT NULL ORDER BY share_inside DESC, team_name, condition
    """


def content(read: Reader) -> Part:
    """Who lost it, through what: one benchmark at a time."""
    return html.Div([html.H1(TITLE), _BODY(read)])


def _body(read: Reader, _: str) -> Part:
    played = _benchmarks(read)
    benchmark = shown_benchmark(read, played)
    if benchmark is None:
        return note("No attribution yet: run `cotrace attribute` or `cotrace labels import`, or choose other filters.")
    choices = benchmark_choices(read, played, benchmark)
    read = narrowed(read, benchmark)
    flows = read.rows(_FLOWS)
    blame = _blame(read, benchmark)
    if flows.is_empty():
        return html.Div([*choices, *(blame or [note("No turn under these filters lost anything.")])])
    unit, curve = str(flows["unit"][0]), read.rows(_CURVE)
    and_inside = ", and inside correction spirals" if can_spiral(benchmark) else ""
    return html.Div(
        [
            html.P(_lead(flows, unit, read.rows(_COUNT).row(0)), className="lead"),
            html.P(f"Messages as read by {_readers(read.rows(_READERS))}.", className="hint"),
            *choices,
            card(
                "Which step failed: seeing, saying, understanding, acting",
                figure("why-steps", steps_figure(read, read.rows(_BY_STEP)), label="share of the regret by the step that failed"),
                hint="Share of all that was lost, with 95 % intervals over games. Rings: not attributed. Click a dot "
                "to read the turns behind it.",
            ),
            *blame,
            card(
                "What each team lost, by step",
                figure("why", teams_figure(read, flows, unit), label="what a game of each team lost, by the step that failed"),
                hint=f"Mean {unit} lost in a game. Hatched: no agent's, or not attributed. Click a part of a bar to read its turns.",
            ),
            card(
                "At which failure points",
                figure("why-points", points_figure(read, flows), label="share of the regret by failure point"),
                fold(read, TURNS, benchmark, is_open=True),
                hint="Share of all that was lost, coloured by step. Below, the costliest turns with their evidence; a click opens one.",
            ),
            card(
                "When it was lost",
                figure(
                    "why-curve",
                    _curve(curve, names_of_teams(read, curve["team_name"].unique().to_list()), _teams(flows), unit, looks_of_teams(read)),
                    label="what was lost up to each turn",
                ),
                hint=f"What a game of each team had lost up to each turn, on the average, in {unit}; what has ended stays.",
            ),
            card(
                "Which failures carry it",
                fold(read, CATEGORIES, benchmark),
                fold(read, SPIRALS, benchmark) if can_spiral(benchmark) else None,
                hint=f"Part of a team's losses in the turns of each failure category{and_inside}.",
            ),
        ]
    )


def _blame(read: Reader, benchmark: str) -> list[Part]:
    """Who is at fault, by people beside rules and judges; empty where none of them names an agent and no failure mode is labelled."""
    named, modes = read.rows(_BLAMED), read.rows(_MODES)
    thing, found = thing_of([benchmark]), list[Part]()
    if not named.is_empty():
        drawn = figure("why-blame", blame_figure(named, "role", thing), label=f"share of {thing}s by who decided them")
        hint = f"By {_by(named)}: share of the {thing}s they answered in which they name this role, with 95 % intervals over {thing}s."
        found.append(card(f"Whose mistake decided the {thing}", drawn, fold(read, NAMED, benchmark), hint=hint))
    if not modes.is_empty():
        drawn = figure("why-modes", blame_figure(modes, "question", thing), label=f"share of {thing}s with each failure mode")
        hint = f"MAST failure modes, by {_by(modes)}: share of {thing}s with each, with 95 % intervals over {thing}s."
        found.append(card("Failure modes", drawn, hint=hint))
    return found


def _by(rows: pl.DataFrame) -> str:
    return ", ".join(rows["judge"].unique(maintain_order=True).to_list())


def blame_figure(rows: pl.DataFrame, line: str, thing: str = "game") -> go.Figure:
    """Share of games on each line, a series for each who judges, people's first.

    Args:
        rows: of `_BLAMED` or `_MODES`.
        line: the column whose values are the lines; the commonest are drawn.
        thing: what was judged, a game or a transcript.
    """
    import polars as pl

    common = rows.group_by(line).agg(pl.col("share").sum()).sort("share", line, descending=[True, False])[line].to_list()[:_MOST_LINES]
    judges = rows["judge"].unique(maintain_order=True).to_list()
    found = {(row[line], row["judge"]): row for row in rows.iter_rows(named=True)}
    dots = [
        Dot(line=in_words(name), value=row["share"], low=row["share_low"], high=row["share_high"], n=row["games"], series=judge)
        for name in common
        for judge in judges
        if (row := found.get((name, judge))) is not None
    ]
    return dot_plot(dots, Axis(title=f"share of {thing}s", is_share=True, high=None), n_of=f"{thing}s")


def report_figure(read: Reader) -> go.Figure | None:
    """What the teams of the first benchmark that was attributed lost; None without one."""
    benchmark = shown_benchmark(read, _benchmarks(read))
    if benchmark is None:
        return None
    read = narrowed(read, benchmark)
    flows = read.rows(_FLOWS)
    return None if flows.is_empty() else teams_figure(read, flows, str(flows["unit"][0]))


def _steps_of_first(read: Reader) -> go.Figure | None:
    benchmark = shown_benchmark(read, _benchmarks(read))
    if benchmark is None:
        return None
    read = narrowed(read, benchmark)
    rows = read.rows(_BY_STEP)
    return None if rows.is_empty() else steps_figure(read, rows)


def _benchmarks(read: Reader) -> list[str]:
    found = read.rows(_BENCHMARKS, filter_on=OTHER_FILTERS)
    return in_order(found["benchmark"].to_list())


def _lead(flows: pl.DataFrame, unit: str, counts: tuple[int, int]) -> str:
    """`14.2 steps were lost in 40 turns of 12 games; 61 % of it is attributed to agents, most to ...`."""
    import polars as pl

    total = float(flows["cost"].sum())
    owned = flows.filter(~pl.col("role").is_in(_NO_ROLE))
    unread = float(flows.filter(pl.col("role") == "unattributed")["cost"].sum())
    open_part = f"; {share(unread / total)} is unattributed: message not understood" if unread else ""
    were = "was" if unit in ("progress", "probability") else "were"
    where = f"{counted(counts[0], 'turn')} of {counted(counts[1], 'game')}"
    said = f"{of_unit(amount(total, unit), unit)} {were} lost in {where}"
    if owned.is_empty():
        known = flows.filter(pl.col("role") == "no one at fault")
        free = (
            "; no agent could have done better with what it saw and heard" if len(known) == len(flows) else "; no part of it is an agent's"
        )
        return f"{said}{free}{open_part}."
    first = owned.group_by("role", "link").agg(pl.col("cost").sum()).sort("cost", "role", "link", descending=[True, False, False])
    role, link, cost = first.row(0)
    whose = share(float(owned["cost"].sum()) / total)
    return f"{said}; {whose} of it is attributed to agents, most to {role}: {of_link(link)} ({share(cost / total)}){open_part}."


def _readers(rows: pl.DataFrame) -> str:
    """`the rules`, or who read in how many games."""
    if len(rows) == 1:
        return reader_of(rows["judge"].item())
    return ", ".join(f"{reader_of(judge)} in {counted(games, 'game')}" for judge, games in rows.iter_rows())


# -- figures ----------------------------------------------------------------------------------------------


def steps_figure(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """Share of the regret by the step that failed, in the order of play, with what is not attributed below.

    Args:
        read: for addresses.
        rows: of `_BY_STEP`.
    """
    found = {row["step"]: row for row in rows.iter_rows(named=True)}
    order = [*list(_STEPS)[:_FAILED], *(step for step in list(_STEPS)[_FAILED:] if step in found)]
    nothing = {"share": 0.0, "share_low": None, "share_high": None, "turns": 0}
    dots = [
        Dot(
            line=_STEPS[step].partition(":")[0],
            detail=_STEPS[step].partition(": ")[2],
            value=row["share"],
            low=row["share_low"],
            high=row["share_high"],
            n=row["turns"],
            is_hollow=place >= _FAILED,
            series="" if place < _FAILED else "not attributed",
            link=read.address.narrowed("/turns", only="lost", step=step),
        )
        for place, step in enumerate(order)
        for row in [found.get(step, nothing)]
    ]
    return dot_plot(dots, Axis(title="share of the regret", is_share=True), n_of="turns")


def _teams(flows: pl.DataFrame) -> list[str]:
    """Those that lost most first: the order of the colours of the curve."""
    import polars as pl

    return flows.group_by("team_name").agg(pl.col("cost").sum()).sort("cost", "team_name", descending=[True, False])["team_name"].to_list()


def teams_figure(read: Reader, flows: pl.DataFrame, unit: str) -> go.Figure:
    """A bar a team: the mean loss of a game, in parts by the step that failed.

    Args:
        read: for addresses.
        flows: of `_FLOWS`.
        unit: of the losses.
    """
    import plotly.graph_objects as go

    games = dict(flows.select("team_name", "games").unique().iter_rows())
    model = dict(flows.select("team_name", "model").unique().iter_rows())
    lost: dict[tuple[str, str], float] = {}
    for row in flows.iter_rows(named=True):
        at = row["team_name"], row["step"]
        lost[at] = lost.get(at, 0) + row["cost_a_game"]
    names = names_of_teams(read, _teams(flows))
    whole = {team: sum(cost for (of, _), cost in lost.items() if of == team) for team in names}
    teams = sorted(names, key=lambda team: -whole[team])[:_MOST_TEAMS]
    drawn = go.Figure()
    for step in (step for step in _STEPS if any((team, step) in lost for team in teams)):
        costs = [lost.get((team, step), 0.0) for team in teams]
        links = [read.address.narrowed("/turns", model=model[team], only="lost", step=step) for team in teams]
        hover = [f"{amount(cost, unit)}, {share(cost / whole[team])}" for team, cost in zip(teams, costs, strict=True)]
        drawn.add_bar(
            x=costs,
            y=list(range(len(teams))),
            orientation="h",
            name=plain(_STEPS[step]),
            marker=_bar_of(step),
            customdata=[list(pair) for pair in zip(links, hover, strict=True)],
            hovertemplate="%{y}, %{fullData.name}: %{customdata[1]}<extra></extra>",
        )
    lines = [textwrap.wrap(names[team], _LETTERS, max_lines=2, placeholder=" …") or [names[team]] for team in teams]
    labels = [
        f"{'<br>'.join(map(plain, said))}<br><span style='font-size: 11px'>{counted(games[team], 'game')}</span>"
        for team, said in zip(teams, lines, strict=True)
    ]
    drawn.update_yaxes(tickvals=list(range(len(teams))), ticktext=labels, range=[len(teams) - 0.45, -0.55], ticklabelstandoff=6)
    drawn.update_xaxes(title=f"{unit} lost in a game")
    drawn.update_layout(barmode="stack")
    return styled(drawn, height=150 + (24 + 16 * max(map(len, lines), default=1)) * len(teams))


def points_figure(read: Reader, flows: pl.DataFrame) -> go.Figure:
    """A bar a failure point and role: its share of the regret, in the colour of its step.

    Args:
        read: for addresses.
        flows: of `_FLOWS`; the points with the largest shares are drawn.
    """
    import plotly.graph_objects as go
    import polars as pl

    ends = flows.group_by("link", "step", "role").agg(pl.col("cost", "turns").sum())
    ends = ends.sort("cost", "link", "role", descending=[True, False, False]).head(_MOST_LINES)
    whole = float(flows["cost"].sum())
    shares = [float(cost) / whole for cost in ends["cost"]]
    drawn = go.Figure()
    for step in (step for step in _STEPS if step in ends["step"]):
        own = [(place, row) for place, row in enumerate(ends.iter_rows(named=True)) if row["step"] == step]
        drawn.add_bar(
            x=[shares[place] for place, _ in own],
            y=[place for place, _ in own],
            orientation="h",
            name=plain(_STEPS[step]),
            marker=_bar_of(step),
            text=[share(shares[place]) for place, _ in own],
            textposition="outside",
            cliponaxis=False,
            customdata=[[read.address.narrowed("/turns", only="lost", link=row["link"])] for _, row in own],
            hovertemplate="%{y}: %{text}<extra>%{fullData.name}</extra>",
        )
    labels = [
        f"{plain(in_words(row['link']))}<br><span style='font-size: 11px'>"
        f"{'' if row['role'] in _NO_ROLE else plain(short(row['role'], 30)) + ', '}{counted(row['turns'], 'turn')}</span>"
        for row in ends.iter_rows(named=True)
    ]
    drawn.update_yaxes(tickvals=list(range(len(ends))), ticktext=labels, range=[len(ends) - 0.45, -0.55], ticklabelstandoff=6)
    drawn.update_xaxes(title="share of the regret", tickformat=".0%", range=[0, 1.12 * shares[0]])
    return styled(drawn, height=150 + 38 * len(ends))


def _bar_of(step: str) -> dict[str, object]:
    place = [*_STEPS].index(step)
    is_agents = 0 < place < _FAILED
    return {"color": SERIES[place] if place < _FAILED else OTHER, "pattern": {"shape": "" if is_agents else "/", "solidity": 0.35}}


def _curve(rows: pl.DataFrame, names: Mapping[str, str], teams: list[str], unit: str, looks: Looks = NO_LOOKS) -> go.Figure:
    import plotly.graph_objects as go

    drawn = go.Figure()
    order = [*teams, *sorted({*rows["team_name"].to_list()} - {*teams})]
    for place, team in enumerate(order):
        part = rows.filter(team_name=team)
        is_other = place >= len(SERIES)
        color, symbol = (OTHER, "circle") if is_other else looks.get(team, look(place))
        drawn.add_scatter(
            x=part["turn"].to_list(),
            y=part["lost_a_game"].to_list(),
            mode="lines+markers",
            line={"shape": "hv", "color": color},
            marker={"size": 5, "symbol": symbol},
            name="other" if is_other else plain(names[team]),
            legendgroup="other" if is_other else plain(names[team]),
            showlegend=place <= len(SERIES),
            meta=plain(names[team]),
            hovertemplate="turn %{x}: %{y:.3g}<extra>%{meta}</extra>",
        )
    drawn.update_xaxes(title="turn", **numbered(max(rows["turn"].to_list(), default=1)))
    drawn.update_yaxes(title=f"lost so far, {unit}", rangemode="tozero")
    return styled(drawn, height=320)


# -- tables -----------------------------------------------------------------------------------------------


def _turns(_: Reader, benchmark: str) -> TableRows:
    columns = columns_of("why", "turns")
    return TableRows(
        columns=columns,
        sql=_TURNS,
        counted=_PARTS,
        parameters={"benchmark": benchmark},
        filter_on=OTHER_FILTERS,
        link=lambda row: game_at(row["episode_id"], row["turn"]),
    )


def _categories(_: Reader, benchmark: str) -> TableRows:
    columns = columns_of("why", "categories")
    return TableRows(columns=columns, sql=_CATEGORIES, parameters={"benchmark": benchmark}, filter_on=("model", "condition"))


def _named(_: Reader, benchmark: str) -> TableRows:
    columns = columns_of("why", "named")
    return TableRows(
        columns=columns,
        sql=_NAMED,
        parameters={"benchmark": benchmark},
        filter_on=("model", "condition"),
        link=lambda row: game_at(row["episode_id"], row["turn"] or 1),
    )


def _spirals(_: Reader, benchmark: str) -> TableRows:
    columns = columns_of("why", "spirals")
    return TableRows(columns=columns, sql=_SPIRALS, parameters={"benchmark": benchmark}, filter_on=("model", "condition"))


_BODY: Final = Later("why-body", _body, 900)
LATER = (_BODY,)
TURNS: Final = Grid("why-turns", _turns, "The costliest turns, with evidence")
CATEGORIES: Final = Grid("why-categories", _categories, "By failure category")
SPIRALS: Final = Grid("why-spirals", _spirals, "Inside and outside of spirals")
NAMED: Final = Grid("why-blamed", _named, "Whose mistake, one by one")
TABLES = (NAMED, TURNS, CATEGORIES, SPIRALS)
FIGURES: Final = {"lost": report_figure, "steps": _steps_of_first}
