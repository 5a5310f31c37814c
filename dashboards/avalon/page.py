"""Avalon: who wins, whom leaders trust, whose votes are right, and the proposals that lost most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dashboards.figures import Axis, Dot, dot_plot
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.pages import game
from dashboards.parts import Part, card, figure, html, note, stat, stat_of
from dashboards.reader import Reader
from schemas.common.wording import count, share

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

PATH = "/avalon"
TITLE = "Avalon"
IN_MENU = True
BENCHMARK = "avalon"
ORDER = 85

_GAMES: Final = "(SELECT list(episode_id) FROM avalon_games WHERE {filters})"
_WINS: Final = f"SELECT * REPLACE (trim(value) AS value) FROM avalon_win_rates_by({_GAMES}) WHERE games > 0 ORDER BY model, split, value"
_TRUST: Final = f"""
    SELECT model, side, mission, evil_rate AS rate, low, high, chosen AS n FROM avalon_trust_by({_GAMES}) WHERE chosen > 0
    ORDER BY model, side, mission
"""
_VOTES: Final = f"""
    SELECT model, side, role, sum(right_votes) / sum(votes) AS rate, wilson_low(sum(right_votes), sum(votes)) AS low,
        wilson_high(sum(right_votes), sum(votes)) AS high, sum(votes)::BIGINT AS n
    FROM avalon_suspicion_by({_GAMES}) GROUP BY ALL ORDER BY ALL
"""
_TURNING: Final = """
    SELECT * FROM avalon_turning_points WHERE regret > 0 AND episode_id IN (SELECT episode_id FROM avalon_games WHERE {filters})
    ORDER BY regret DESC, game, turn LIMIT 200
"""
_PROVEN: Final = """
    SELECT sum(proven_mistake_votes)::BIGINT AS wrong, sum(good_votes_on_proven_bad)::BIGINT AS votes, count(*) - count(winner) AS cut
    FROM avalon_games WHERE {filters}
"""


def content(read: Reader) -> Part:
    """Wins and guesses, trust, votes, and the proposals that cost good most, under the filters."""
    rows = read.rows(_WINS)
    if rows.is_empty():
        return note("No finished Avalon game under these filters.", html.Pre("cotrace play avalon --out logs/\ncotrace ingest logs/"))
    return html.Div(
        [
            html.H1("Avalon"),
            html.P("Five to ten players with hidden roles: good wins by missions, evil by fails or by naming Merlin.", className="lead"),
            _stats(read, rows),
            card(
                "Games that good wins",
                figure("avalon-wins", wins(read, rows), label="share of games that good wins"),
                fold(read, WINS),
                hint="Share of games, with 95 % Wilson intervals over games. Games of one session are not independent where players "
                "remember earlier ones.",
            ),
            html.Div(
                [
                    card(
                        "Whom leaders choose",
                        figure("avalon-trust", trust(read.rows(_TRUST)), label="share of evil players among the chosen"),
                        hint="Evil players among those whom leaders put on their teams next to themselves, by mission. What drawing "
                        "gives is evil_chance of the view avalon_trust.",
                    ),
                    card(
                        "Right votes",
                        figure("avalon-votes", votes(read.rows(_VOTES)), label="share of right votes"),
                        hint="Good votes right for a team without evil or against one with it; evil the reverse.",
                    ),
                ],
                className="columns",
            ),
            card(
                "The proposals that lost most",
                fold(read, TURNING),
                hint="What the vote cost good's chance to win, by a model: later leaders draw their teams, all are approved, evil always "
                "fails, the assassin names a random good player. A row leads to its turn.",
            ),
        ]
    )


def report_figure(read: Reader) -> go.Figure | None:
    """Wins by number of players, effort and memory; None without games."""
    rows = read.rows(_WINS)
    return None if rows.is_empty() else wins(read, rows)


def wins(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """Share of games that good wins, a line a value."""
    return dot_plot(
        [
            Dot(
                line=row["value"] if row["split"] in ("all", "memory") else f"{row['split']} {row['value']}",
                series=row["model"],
                value=row["good_win_rate"],
                low=row["low"],
                high=row["high"],
                n=row["games"],
                link=read.address.narrowed(game.PATH, benchmark=BENCHMARK, model=row["model"]),
            )
            for row in rows.iter_rows(named=True)
            if row["split"] != "players and memory"
        ],
        Axis(title="good wins", is_share=True),
    )


def trust(rows: pl.DataFrame) -> go.Figure:
    """Share of evil players among the chosen, a line a mission, good and evil leaders apart."""
    return _shares(
        rows, lambda row: f"mission {row['mission']}", lambda row: f"{row['side']} leaders, {row['model']}", "evil among the chosen"
    )


def votes(rows: pl.DataFrame) -> go.Figure:
    """Share of right votes, a line a role."""
    return _shares(rows, lambda row: f"{row['role']} ({row['side']})", lambda row: row["model"], "right votes")


def _shares(rows: pl.DataFrame, line: Any, series: Any, title: str) -> go.Figure:
    dots = [
        Dot(line=line(row), series=series(row), value=row["rate"], low=row["low"], high=row["high"], n=row["n"])
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(dots, Axis(title=title, is_share=True), n_of="choices" if "chosen" in title else "votes")


def _stats(read: Reader, rows: pl.DataFrame) -> Part:
    every = [row for row in rows.iter_rows(named=True) if row["split"] == "all"]
    games, good, guesses, right = (sum(row[name] or 0 for row in every) for name in ("games", "good_wins", "guesses", "guesses_right"))
    chance = sum((row["guess_chance"] or 0) * row["guesses"] for row in every) / guesses if guesses else None
    wrong, on_bad, cut = read.rows(_PROVEN).row(0)
    left = f", {cut} without an end left out" if cut else ""
    drawn = f"of {count(guesses)} guesses" + (f"; by drawing {share(chance)}" if chance is not None else "")
    return html.Div(
        [
            stat("good wins", share(good / games), f"{count(good)} of {count(games)} games{left}"),
            stat("Merlin named", count(right), drawn),
            stat_of("proven mistakes", wrong or 0, on_bad or 0),
        ],
        className="stats",
    )


def _wins(_: Reader, __: str) -> TableRows:
    return TableRows(
        sql=_WINS,
        columns={
            "model": GridColumn(heading="Team"),
            "split": GridColumn(heading="By"),
            "value": GridColumn(heading="Value"),
            "good_win_rate": GridColumn(heading="Good wins", kind="share", part="good_wins", whole="games"),
            "low": GridColumn(heading="95 % from", kind="share"),
            "high": GridColumn(heading="to", kind="share"),
            "guess_rate": GridColumn(heading="Merlin named", kind="share", part="guesses_right", whole="guesses"),
            "guess_low": GridColumn(heading="95 % from", kind="share"),
            "guess_high": GridColumn(heading="to", kind="share"),
            "guess_chance": GridColumn(heading="By drawing", kind="share"),
        },
    )


def _turning(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_TURNING,
        columns={
            "game": GridColumn(heading="Game"),
            "mission": GridColumn(heading="Mission", kind="count"),
            "leader": GridColumn(heading="Leader"),
            "team": GridColumn(heading="Team"),
            "team_evil": GridColumn(heading="Evil on it", kind="count"),
            "result": GridColumn(heading="Result"),
            "chance_after": GridColumn(heading="Chance after", kind="share"),
            "chance_best": GridColumn(heading="with the other vote", kind="share"),
            "regret": GridColumn(heading="Lost", kind="share"),
            "wrong": GridColumn(heading="Good votes against it"),
            "proven_wrong": GridColumn(heading="who could prove it"),
        },
        link=lambda row: read.address.narrowed(game.PATH, episode=row["episode_id"], turn=row["turn"]),
    )


WINS: Final = Grid("avalon-wins-table", _wins, "Wins and guesses")
TURNING: Final = Grid("avalon-turning-points", _turning, "Proposals by what their vote cost")
TABLES = (WINS, TURNING)
