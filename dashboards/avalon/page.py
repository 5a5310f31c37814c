"""Avalon: who wins, whom leaders trust, whose votes are right, and the proposals that lost most."""

from __future__ import annotations

from typing import Final

from dashboards.address import GAME
from dashboards.charts import Chart, FamilyPage, Links, Number, Table
from dashboards.figures import Axis
from dashboards.grid import GridColumn

PATH = "/avalon"
TITLE = "Avalon"
IN_MENU = True
BENCHMARK = "avalon"
ORDER = 85

_GAMES: Final = "(SELECT list(episode_id) FROM avalon_games WHERE {filters})"
_WINS: Final = f"""
    SELECT * REPLACE (trim(value) AS value),
        CASE WHEN split IN ('all', 'memory') THEN trim(value) ELSE split || ' ' || trim(value) END AS line,
        model AS series, good_win_rate AS rate, games AS n
    FROM avalon_win_rates_by({_GAMES}) WHERE games > 0 ORDER BY model, split, try_cast(value AS INTEGER), value
"""
_TRUST: Final = f"""
    SELECT 'mission ' || mission AS line, side || ' leaders, ' || model AS series, model, evil_rate AS value, low, high, chosen AS n
    FROM avalon_trust_by({_GAMES}) WHERE chosen > 0 ORDER BY model, side, mission
"""
_VOTES: Final = f"""
    SELECT format('{{}} ({{}})', role, side) AS line, model AS series, model, sum(right_votes) / sum(votes) AS value,
        wilson_low(sum(right_votes), sum(votes)) AS low, wilson_high(sum(right_votes), sum(votes)) AS high, sum(votes)::BIGINT AS n
    FROM avalon_suspicion_by({_GAMES}) GROUP BY model, side, role ORDER BY model, side, role
"""
_TURNING: Final = """
    SELECT * FROM avalon_turning_points WHERE regret > 0 AND episode_id IN (SELECT episode_id FROM avalon_games WHERE {filters})
    ORDER BY regret DESC, game, turn LIMIT 200
"""

PAGE: Final = FamilyPage(
    title=TITLE,
    benchmark=BENCHMARK,
    lead="Five to ten players with hidden roles: good wins by missions, evil by fails or by naming Merlin.",
    numbers_sql=f"""
        WITH won AS (
            SELECT coalesce(sum(games), 0)::BIGINT AS games, sum(good_wins)::BIGINT AS wins, sum(good_wins) / sum(games) AS rate,
                sum(guesses)::BIGINT AS guesses, sum(guesses_right)::BIGINT AS named,
                format('; by drawing {{:.0f}} %', 100 * sum(guess_chance * guesses) / nullif(sum(guesses), 0)) AS drawn
            FROM ({_WINS}) WHERE split = 'all'
        ),
        proven AS (
            SELECT sum(proven_mistake_votes)::BIGINT AS wrong, sum(good_votes_on_proven_bad)::BIGINT AS votes,
                wrong / nullif(votes, 0) AS wrong_share,
                count(*) - count(winner) AS cut
            FROM avalon_games WHERE {{filters}}
        )
        SELECT * FROM won CROSS JOIN proven
    """,
    numbers=(
        Number(label="good wins", column="rate", kind="share", detail="{wins} of {games} games, {cut} without an end left out"),
        Number(label="Merlin named", column="named", kind="count", detail="of {guesses} guesses{drawn}"),
        Number(label="proven mistakes", column="wrong_share", kind="share", detail="{wrong} of {votes}"),
    ),
    charts=(
        Chart(
            name="avalon-wins",
            title="Games that good wins",
            kind="dots",
            sql=f"SELECT * REPLACE (rate AS value) FROM ({_WINS}) WHERE split <> 'players and memory'",
            axis=Axis(title="good wins", is_share=True),
            hint="Share of games, with 95 % Wilson intervals over games. Games of one session are not independent where players "
            "remember earlier ones.",
            table=Table(
                name="avalon-wins-table",
                title="Wins and guesses",
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
            ),
        ),
        Chart(
            name="avalon-trust",
            title="Whom leaders choose",
            kind="dots",
            sql=_TRUST,
            axis=Axis(title="evil among the chosen", is_share=True),
            n_of="choice",
            hint="Evil players among those whom leaders put on their teams next to themselves, by mission. What drawing "
            "gives is evil_chance of the view avalon_trust.",
            is_wide=False,
        ),
        Chart(
            name="avalon-votes",
            title="Right votes",
            kind="dots",
            sql=_VOTES,
            axis=Axis(title="right votes", is_share=True),
            n_of="vote",
            hint="Good votes right for a team without evil or against one with it; evil the reverse.",
            is_wide=False,
        ),
        Chart(
            name="avalon-turning-points",
            title="The proposals that lost most",
            kind="table",
            sql=_TURNING,
            hint="What the vote cost good's chance to win, by a model: later leaders draw their teams, all are approved, evil always "
            "fails, the assassin names a random good player. A row leads to its turn.",
            table=Table(
                title="Proposals by what their vote cost",
                links=Links(keys={"episode": "episode_id", "turn": "turn"}, to=GAME),
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
            ),
        ),
    ),
)
content = PAGE.content
TABLES = PAGE.tables
