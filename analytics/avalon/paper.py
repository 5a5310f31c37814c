"""What published Avalon games show, as the tables and figures of a paper, each number with its interval and its number of games."""

from __future__ import annotations

from typing import Final

from analytics.papers import Note, PaperItem, given

_NEEDS: Final = "Avalon games with known roles"
_GOOD: Final = (
    'SELECT model AS "row", {column} AS col, 100 * good_win_rate AS value, NULL AS sem, 100 * low AS low, 100 * high AS high, games AS n '
    "FROM avalon_win_rates WHERE games > 0 AND {where}"
)
_VOTES: Final = """
    SELECT
        model AS "row", {column} AS col, 100.0 * sum(right_votes) / sum(votes) AS value, NULL AS sem,
        100 * wilson_low(sum(right_votes), sum(votes)) AS low, 100 * wilson_high(sum(right_votes), sum(votes)) AS high,
        sum(votes)::BIGINT AS n
    FROM avalon_suspicion WHERE {where} GROUP BY ALL
"""
_PROVEN: Final = """
    SELECT
        model AS "row", coalesce(basis, 'none') || ', ' || votes.role AS col,
        100.0 * count(*) FILTER (vote = 'approve') / count(*) AS value, NULL AS sem,
        100 * wilson_low(count(*) FILTER (vote = 'approve'), count(*)) AS low,
        100 * wilson_high(count(*) FILTER (vote = 'approve'), count(*)) AS high, count(*) AS n
    FROM avalon_votes AS votes INNER JOIN avalon_games USING (episode_id)
    WHERE votes.side = 'good' AND proven_bad = 1 AND vote IS NOT NULL GROUP BY ALL
"""
_TRUST: Final = """
    SELECT
        model AS "row", 'mission ' || mission AS col, 100 * evil_rate AS value, NULL AS sem, 100 * low AS low, 100 * high AS high,
        chosen AS n
    FROM avalon_trust WHERE side = 'good' AND chosen > 0
    UNION ALL
    SELECT model, 'by drawing', 100 * sum(evil_chance * chosen) / sum(chosen), NULL, NULL, NULL, sum(chosen)::BIGINT
    FROM avalon_trust WHERE side = 'good' GROUP BY model
"""
_ACCUSED: Final = """
    SELECT
        model || ', ' || judge AS "row", role AS col, 100 * right_rate AS value, NULL AS sem, 100 * low AS low, 100 * high AS high,
        right_accusations + wrong_accusations AS n
    FROM avalon_accusations WHERE right_rate IS NOT NULL
    UNION ALL
    SELECT model || ', ' || judge, role || ', by drawing', 100 * chance, NULL, NULL, NULL, right_accusations + wrong_accusations
    FROM avalon_accusations WHERE right_rate IS NOT NULL
"""
_SPLIT: Final = "CASE split WHEN 'all' THEN 'all' WHEN 'memory' THEN trim(value) ELSE split || ' ' || trim(value) END"
_GUESSES: Final = f"""
    SELECT
        model AS "row", {_SPLIT} AS col, 100 * guess_rate AS value, NULL AS sem, 100 * guess_low AS low, 100 * guess_high AS high,
        guesses AS n
    FROM avalon_win_rates WHERE split IN ('all', 'players', 'reasoning', 'memory') AND guesses > 0
    UNION ALL
    SELECT model, 'by drawing', 100 * guess_chance, NULL, NULL, NULL, guesses FROM avalon_win_rates WHERE split = 'all' AND guesses > 0
"""


def _good(where: str, column: str) -> str:
    return _GOOD.replace("{column}", column).replace("{where}", where)


def _votes(where: str, column: str) -> str:
    return _VOTES.replace("{column}", column).replace("{where}", where)


ITEMS: Final = (
    PaperItem(
        kind="table",
        number="1",
        title="Games that good wins, percent",
        needs=_NEEDS,
        cells=given(_good("split IN ('all', 'players', 'reasoning')", _SPLIT)),
    ),
    PaperItem(kind="table", number="2", title="Guesses that name Merlin, percent", needs=_NEEDS, cells=given(_GUESSES)),
    PaperItem(
        kind="table",
        number="3",
        title="Votes of the right side, by role, percent: good for teams without evil, evil for teams with it",
        needs=_NEEDS,
        cells=given(_votes("TRUE", "role")),
    ),
    PaperItem(
        kind="table",
        number="4",
        title="Votes for a team that was proven bad for the voter, percent of votes on such teams, by what proves it and role",
        needs=_NEEDS,
        cells=given(_PROVEN),
    ),
    PaperItem(
        kind="table",
        number="5",
        title="Messages that accuse evil players alone, percent of accusing messages that a judge or person decided, by role",
        needs="answers to accusation_right of the rubric avalon_minds, by a judge or people",
        cells=given(_ACCUSED),
    ),
    PaperItem(
        kind="figure", number="1", title="Evil players among those whom good leaders choose, percent", needs=_NEEDS, cells=given(_TRUST)
    ),
    PaperItem(
        kind="figure",
        number="2",
        title="Right votes of good players, by mission, percent",
        needs=_NEEDS,
        cells=given(_votes("side = 'good'", "'mission ' || mission")),
    ),
    PaperItem(
        kind="figure",
        number="3",
        title="Games that good wins with memory of earlier games and without, percent",
        needs="games with and without memory",
        cells=given(_good("split IN ('memory', 'players and memory')", "trim(value)")),
    ),
)

NOTES: Final = (
    Note(
        title="Percentages of the source rest on three games",
        text="The source prints right guesses of 67, 75 and 100 % by reasoning effort: 2 of 3, 3 of 4 and 3 of 3 games.",
        sql="SELECT value AS effort, guesses_right, guesses, guess_low, guess_high "
        "FROM avalon_win_rates WHERE split = 'reasoning' ORDER BY ALL",
    ),
    Note(
        title="One fail is enough in mission 4",
        text="The printed rules want two fails in mission 4 from 7 players on; the engine takes one. These missions would have succeeded.",
        sql="SELECT players, count(*) AS games, sum(m4_one_fail)::BIGINT AS failed_by_one "
        "FROM avalon_games WHERE players >= 7 GROUP BY ALL ORDER BY ALL",
    ),
    Note(
        title="The proposal that lost it",
        text="By stated play (docs/avalon.md, a model), the votes that cost good most. Most are rejections of a team without evil.",
        sql="SELECT game, mission, leader, team, team_evil, result, round(chance_after, 2) AS chance, round(chance_best, 2) AS best, wrong "
        "FROM avalon_turning_points ORDER BY regret DESC, game, turn LIMIT 5",
    ),
    Note(
        title="Games of a session are not independent",
        text="Players remember earlier games of their session, so intervals that count games are too narrow where there is memory.",
        sql="SELECT run, count(*) AS games, max(memory) AS memory FROM avalon_games GROUP BY ALL ORDER BY ALL",
    ),
)
