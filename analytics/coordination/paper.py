"""The tables and figures of the LLM-Coordination paper, and what does not add up in them."""

from __future__ import annotations

from typing import Final

from analytics.papers import Note, PaperItem, TableCell, given, units
from analytics.query import query
from schemas.store.store import Store

_LAYOUT: Final = (
    "CASE variant WHEN 'cramped_room' THEN 'CR' WHEN 'asymmetric_advantages' THEN 'AA' WHEN 'coordination_ring' THEN 'Ring' "
    "WHEN 'forced_coordination' THEN 'FC' WHEN 'counter_circuit_o_1order' THEN 'CC' ELSE variant END"
)
_GRADED: Final = "coalesce(' with ' || nullif(regexp_extract(model, 'graded_[0-9]+'), ''), '')"
_SELF: Final = "model NOT LIKE '%+%'"
_RATES: Final = " UNION ALL ".join(
    f'SELECT model AS "row", \'{title} rate\' AS col, variant AS "cluster", success::INT::DOUBLE AS value FROM coordination_games '
    f"WHERE game = '{game}' "
    f"UNION ALL SELECT model, '{title} turns', variant, turns::DOUBLE FROM coordination_games WHERE game = '{game}' AND success"
    for game, title in (("collab_escape", "CollabEscape"), ("collab_capture", "CollabCapture"))
)
_HANABI: Final = (
    'SELECT model AS "row", {} AS col, episode_id AS "cluster", {} AS value FROM coordination_games WHERE game = \'hanabi\' AND {}'
)


def _against_answers(store: Store) -> list[TableCell]:
    """Figure 2: score in a game against accuracy by type, one point a model that has both."""
    from scipy import stats

    pairs = query(
        store,
        "SELECT games.game, answers.type, games.model, games.score, answers.accuracy FROM (SELECT game, model, avg(score) AS score "
        f"FROM coordination_games WHERE complete AND {_SELF} GROUP BY ALL) AS games INNER JOIN (SELECT respondent, type, accuracy "
        "FROM coordqa_accuracy "
        "WHERE \"grouping\" = 'upstream' AND game = 'all') AS answers ON games.model = answers.respondent ORDER BY ALL",
    )
    cells = []
    for (game, kind), part in pairs.group_by("game", "type", maintain_order=True):
        x, y = part["score"].to_numpy(), part["accuracy"].to_numpy()
        if len(part) >= 4 and x.std() > 0 and y.std() > 0:  # noqa: PLR2004 - an interval needs four points
            found = stats.pearsonr(x, y)
            ends = found.confidence_interval(0.95)
            cells.append(TableCell(str(game), str(kind), float(found.statistic), None, float(ends.low), float(ends.high), len(part)))
    return cells


ITEMS: Final = (
    PaperItem(
        kind="table",
        number="1",
        title="Overcooked: score in self-play by layout",
        needs="three games a layout in self-play",
        cells=units(
            f'SELECT model AS "row", {_LAYOUT} AS col, episode_id AS "cluster", score::DOUBLE AS value FROM coordination_games '
            f"WHERE game = 'overcooked' AND {_SELF}"
        ),
    ),
    PaperItem(
        kind="table",
        number="2",
        title="CollabEscape and CollabCapture: rate of success, and turns of successes",
        needs="six games of CollabEscape, twelve of CollabCapture",
        cells=units(_RATES, with_sem=False),
    ),
    PaperItem(
        kind="table",
        number="3",
        title="Hanabi: score in self-play",
        needs="three games of Hanabi",
        cells=units(_HANABI.format("'score'", "score::DOUBLE", _SELF)),
    ),
    PaperItem(
        kind="table",
        number="4",
        title="Overcooked: score with a partner by behaviour cloning, by side; graded scripts instead of it are named",
        needs="games with that partner, which is not published, or with script:graded_N",
        cells=units(
            f'SELECT model AS "row", {_LAYOUT} || {_GRADED} AS col, episode_id AS "cluster", score::DOUBLE AS value '
            "FROM coordination_games WHERE game = 'overcooked' AND model LIKE '%+%'",
            with_sem=False,
        ),
    ),
    PaperItem(
        kind="table",
        number="5",
        title="Hanabi: score with itself and with other partners",
        needs="games of Hanabi with two different players",
        cells=units(
            _HANABI.format("'Self-Play'", "score::DOUBLE", _SELF)
            + " UNION ALL SELECT split_part(model, '+', 1), 'Cross-Play w/ ' || split_part(model, '+', 2), episode_id, score::DOUBLE "
            "FROM coordination_games WHERE game = 'hanabi' AND model LIKE '%+%'",
            ddof=0,
        ),
    ),
    PaperItem(
        kind="table",
        number="6",
        title="Hanabi: score and share of games that ended with no life left",
        needs="three games of Hanabi for each ablation",
        cells=units(
            _HANABI.format("'score'", "score::DOUBLE", _SELF) + " UNION ALL " + _HANABI.format("'bomb rate'", "bombed::INT::DOUBLE", _SELF)
        ),
    ),
    PaperItem(kind="figure", number="1", title="Overview and maps (figures 1, 4 to 6)", needs="they hold no result"),
    PaperItem(
        kind="figure",
        number="2",
        title="Score in a game against accuracy in CoordinationQA, Pearson's r over models",
        needs="both games and answers of four models or more",
        cells=_against_answers,
    ),
    PaperItem(
        kind="figure",
        number="3",
        title="Accuracy in CoordinationQA by type of question, and chance",
        needs="answers to CoordinationQA in three trials",
        cells=given(
            'SELECT respondent AS "row", type AS col, accuracy AS value, accuracy_se AS sem, accuracy_low AS low, accuracy_high AS '
            "high, questions AS n "
            "FROM coordqa_accuracy WHERE \"grouping\" = 'upstream' AND game = 'all' UNION ALL SELECT 'chance', type, "
            "any_value(chance), NULL, NULL, NULL, "
            "any_value(questions) FROM coordqa_accuracy WHERE \"grouping\" = 'upstream' AND game = 'all' GROUP BY type"
        ),
    ),
)

NOTES: Final = (
    Note(
        title="Some keys of CoordinationQA are wrong",
        text="Accuracy by the published key and by the corrected one, side by side: what wrong keys change for each respondent and type.",
        sql="SELECT respondent, type, questions, accuracy, accuracy_corrected, accuracy_corrected - accuracy AS change FROM "
        "coordqa_accuracy "
        "WHERE \"grouping\" = 'upstream' AND game = 'all' ORDER BY abs(accuracy_corrected - accuracy) DESC, respondent, type",
    ),
    Note(
        title="The headers of Table 2 are exchanged",
        text="'Capture Rate' is under CollabEscape and 'Escape Rate' under CollabCapture; the columns here are by game. The "
        "query has both readings side by side: with the printed headers, escape would be as certain as capture is.",
        sql='SELECT "row", max(value) FILTER ("column" = \'CollabEscape rate\') AS rate_in_the_column_of_escape, max(value) FILTER ('
        "\"column\" = 'CollabCapture rate') AS rate_in_the_column_of_capture FROM printed GROUP BY ALL ORDER BY ALL",
        printed=("table 2",),
    ),
    Note(
        title="Two formulas of the standard error in one table",
        text="Rows of GPT-4-turbo and GPT-4o divide by n - 1, the other rows by n; with three games that is a factor of 1.22. One "
        "ablation is 4.33 +- 0.88 in Table 3 and 4.33 +- 0.67 in Table 6. The query looks for three whole scores with the printed mean and "
        "error, by either formula.",
        sql='SELECT item, printed."row", value, sem, coalesce(bool_or(abs(sqrt(spread / 2 / 3) - sem) < 0.006), false) AS by_n_minus_1, '
        "coalesce(bool_or(abs(sqrt(spread / 3 / 3) - sem) < 0.006), false) AS by_n FROM printed LEFT JOIN ("
        "SELECT (a + b + c) / 3.0 AS mean, a * a + b * b + c * c - (a + b + c) ** 2 / 3.0 AS spread "
        "FROM range(26) AS x(a), range(26) AS y(b), range(26) AS z(c) WHERE a <= b AND b <= c) AS scores ON abs(mean - value) < 0.006 "
        "WHERE \"column\" = 'score' AND sem > 0.1 GROUP BY ALL ORDER BY ALL",
        printed=("table 3", "table 6"),
    ),
    Note(
        title="Figure 2 has four points",
        text="A correlation over four models has an interval from about -.9 to +1 whatever it is; below four models with games and "
        "answers there is none here.",
        sql="SELECT count(DISTINCT respondent) AS respondents FROM coordqa_accuracy",
    ),
)
