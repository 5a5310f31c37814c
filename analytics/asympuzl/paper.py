"""The tables and figures of the AsymPuzl paper, and what does not add up in them."""

from __future__ import annotations

from typing import Final

from analytics.papers import Note, PaperItem, TableCell, given, ratios, units
from schemas.store.store import Store

_MODEL: Final = "CASE WHEN model_a = model_b THEN model_a ELSE model_a || ' + ' || model_b END"
_FEEDBACK: Final = (
    "CASE feedback_mode WHEN 'none' THEN 'No feedback' WHEN 'own' THEN 'Own' WHEN 'own_detailed' THEN 'Own Detailed' WHEN 'joint' "
    "THEN 'Joint' "
    "WHEN 'both' THEN 'Both' WHEN 'both_detailed' THEN 'Both detailed' ELSE feedback_mode END"
)
_CONFIGURATION: Final = "FROM asympuzl_configurations"
_RUNS: Final = "games of size 5 in the six feedback modes, 30 seeds each"


def _solved(column: str, where: str) -> str:
    return (
        f'SELECT {_MODEL} AS "row", {column} AS col, success_pct AS value, NULL AS sem, ci95_low AS low, ci95_high AS high, games AS n '
        f"{_CONFIGURATION} WHERE {where}"
    )


def _by_turn(mode: str) -> str:
    return (
        f"SELECT {_MODEL} AS \"row\", 'turn ' || lpad(k::VARCHAR, 2, '0') AS col, success_pct AS value, NULL AS sem, "
        "100 * wilson_low(solved, games) AS low, 100 * wilson_high(solved, games) AS high, games AS n "
        f"FROM asympuzl_success_by_turn WHERE size = 5 AND feedback_mode = '{mode}' AND k <= 10"
    )


_OWN, _JOINT = "'none', 'own', 'own_detailed'", "'joint', 'both', 'both_detailed'"
_ANSWERS: Final = (
    "FROM asympuzl_turns INNER JOIN asympuzl_games USING (episode_id) "
    "WHERE asympuzl_games.feedback_mode = 'both' AND asympuzl_games.size = 5 AND complete AND agent ="
)
"""Answers of an agent, one row each: long games weigh more, as in the paper."""
_CLUSTER: Final = 'asympuzl_games.seed::VARCHAR AS "cluster"'
_TOKENS: Final = " UNION ALL ".join(
    f"SELECT {_MODEL} AS \"row\", '{agent} {name} tokens' AS col, {_CLUSTER}, {name}_tokens AS value {_ANSWERS} '{agent}'"
    for agent in "AB"
    for name in ("output", "message")
)
_SHARES: Final = " UNION ALL ".join(
    f"SELECT {_MODEL} AS \"row\", '{agent} message share' AS col, {_CLUSTER}, message_tokens AS hits, output_tokens AS n "
    f"{_ANSWERS} '{agent}' AND message_tokens IS NOT NULL"
    for agent in "AB"
)
"""Ratio of the means, in percent: all 14 printed ratios are that."""


def _tokens(store: Store) -> list[TableCell]:
    means = units(_TOKENS, with_sem=False)(store)
    answers = {(cell.row, cell.column[0]): cell.n for cell in means}
    shares = ratios(_SHARES, percent=("message share",))(store)
    return means + [cell._replace(n=answers[cell.row, cell.column[0]]) for cell in shares]


ITEMS: Final = (
    PaperItem(
        kind="table",
        number="1",
        title="Success by feedback mode, size 5, percent",
        needs=_RUNS,
        cells=given(_solved(_FEEDBACK, "size = 5")),
    ),
    PaperItem(
        kind="table",
        number="2",
        title="Success by size, feedback to both, percent",
        needs="games of sizes 3, 5, 10 and 20 with feedback mode both",
        cells=given(_solved("'size ' || size", "feedback_mode = 'both'")),
    ),
    PaperItem(
        kind="table",
        number="3",
        title="Tokens a turn, of the whole output and of the message",
        needs="logged tokens, feedback mode both",
        cells=_tokens,
    ),
    PaperItem(
        kind="table",
        number="4",
        title="One agent with all clues: success by size, percent",
        needs="games of one agent (cotrace play asympuzl --solo)",
        cells=given(
            "SELECT model AS \"row\", 'size ' || size AS col, success_pct AS value, NULL AS sem, ci95_low AS low, ci95_high AS "
            "high, games AS n FROM asympuzl_solo"
        ),
    ),
    PaperItem(
        kind="table",
        number="5",
        title="Table 1 with Wilson's intervals, own feedback",
        needs=_RUNS,
        cells=given(_solved(_FEEDBACK, f"size = 5 AND feedback_mode IN ({_OWN})")),
    ),
    PaperItem(
        kind="table",
        number="6",
        title="Table 1 with Wilson's intervals, joint feedback",
        needs=_RUNS,
        cells=given(_solved(_FEEDBACK, f"size = 5 AND feedback_mode IN ({_JOINT})")),
    ),
    PaperItem(
        kind="figure",
        number="2",
        title="Actions for each position",
        needs="games of the published sizes and modes",
        cells=units(
            f'SELECT {_MODEL} AS "row", \'actions a position\' AS col, seed::VARCHAR AS "cluster", writes_per_position AS value '
            "FROM asympuzl_games WHERE complete",
            with_sem=False,
        ),
    ),
    PaperItem(
        kind="figure", number="3a", title="Success at turn k, no feedback, size 5, percent", needs=_RUNS, cells=given(_by_turn("none"))
    ),
    PaperItem(
        kind="figure", number="3b", title="Success at turn k, feedback to both, size 5, percent", needs=_RUNS, cells=given(_by_turn("both"))
    ),
    PaperItem(
        kind="figure", number="4", title="Three conversations (figures 4 to 6)", needs="they are single games; read them on their pages"
    ),
)

NOTES: Final = (
    Note(
        title="Thirty seeds tell little apart",
        text="With 30 games 50 % has a Wilson interval from 33 to 67 %; the paper makes no test between modes. Use cotrace report "
        "compare, which pairs the seeds.",
        sql="SELECT model_a, size, feedback_mode, games, success_pct, ci95_low, ci95_high FROM asympuzl_configurations ORDER BY ALL",
    ),
)
