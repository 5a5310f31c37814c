"""The tables and figures of the CRAFT paper, and what does not add up in them."""

from __future__ import annotations

from typing import Final

from analytics.papers import Note, PaperItem, TableCell, units
from analytics.query import query
from schemas.store.store import Store

_TEAM: Final = (
    "CASE WHEN condition LIKE '%oracle5_no_tools' AND condition NOT LIKE '%no_oracle5%' THEN model ELSE model || ' (' || "
    "condition || ')' END"
)
_TEAM_OF_GAME: Final = _TEAM.replace("condition", "games.condition").replace("model", "games.model")
_GAMES: Final = "craft_games of the standard condition, 20 structures a model"
_JUDGED: Final = "judge spatial_grounding, mind_modeling and pragmatic_sufficiency with a model, unclear counting 0.5"
_RUBRICS: Final = "CASE rubric WHEN 'spatial_grounding' THEN 'SG' WHEN 'mind_modeling' THEN 'MM' WHEN 'pragmatic_sufficiency' THEN 'PS' END"


def _of_games(**columns: str) -> str:
    return " UNION ALL ".join(
        f'SELECT {_TEAM} AS "row", \'{name.replace("_", " ")}\' AS col, structure_id AS "cluster", {sql}::DOUBLE AS value FROM '
        "craft_game_facts"
        for name, sql in columns.items()
    )


def _of_turns(where: str = "true", **columns: str) -> str:
    return " UNION ALL ".join(
        f'SELECT {_TEAM} AS "row", \'{name.replace("_", " ")}\' AS col, structure_id AS "cluster", ({sql})::INT::DOUBLE AS value '
        f"FROM craft_turn_facts WHERE {where}"
        for name, sql in columns.items()
    )


_VERDICTS: Final = f"""
    SELECT {_TEAM_OF_GAME} AS "row", {_RUBRICS} AS rubric_name, question, judge, games.task_id AS "cluster",
        coalesce(verdicts_latest.score, 0.5) AS value, outcome
    FROM verdicts_latest INNER JOIN games USING (episode_id) LEFT JOIN outcomes USING (episode_id, turn)
    WHERE games.benchmark = 'craft' AND variant IS NULL AND status = 'answered' AND {_RUBRICS} IS NOT NULL
        AND (verdicts_latest.score IS NOT NULL OR lower(answer) = 'unclear' OR {_RUBRICS} IN ('SG', 'MM'))
"""
# The papers' reading: in SG and MM whatever is neither yes nor no counts 0.5, N/A too; in PS only `unclear` does, and N/A, which PS6 alone
# offers, is left out (a stray N/A of another question is missing there as well).


def _features(store: Store) -> list[TableCell]:
    """Table 7: features of a model against its progress, one point a model."""
    from scipy import stats

    table = query(
        store,
        f"""
        SELECT "row", avg(value) FILTER (name = 'progress') AS progress, name, avg(value) AS value FROM (
            SELECT {_TEAM} AS "row", 'remove gap' AS name, remove_gap_share AS value FROM craft_game_facts
            UNION ALL SELECT {_TEAM}, 'progress', overall_progress FROM craft_game_facts
            UNION ALL SELECT "row", question, value FROM ({_VERDICTS}) WHERE question IN ('MM1', 'MM5', 'MM6', 'MM7', 'SG3', 'SG5')
            UNION ALL SELECT "row", rubric_name, value FROM ({_VERDICTS}) WHERE rubric_name IN ('MM', 'SG')
            UNION ALL SELECT {_TEAM_OF_GAME}, 'message length',
                len(regexp_extract_all(text, '\\S+')) FROM utterances INNER JOIN games USING (episode_id)
                WHERE games.benchmark = 'craft' AND channel = 'public' AND NOT superseded
        ) WHERE value IS NOT NULL GROUP BY "row", name ORDER BY ALL
        """,
    )
    values: dict[str, dict[str, float]] = {}
    for row, _, name, value in table.iter_rows():
        values.setdefault(name, {})[row] = value
    progress, cells = values.pop("progress", {}), []
    for name, by_team in values.items():
        teams = sorted(by_team.keys() & progress.keys())
        x, y = [by_team[team] for team in teams], [progress[team] for team in teams]
        if len(teams) < 4 or len(set(x)) == 1 or len(set(y)) == 1:  # noqa: PLR2004 - an interval needs four points
            continue
        pearson, rho = stats.pearsonr(x, y), float(stats.spearmanr(x, y).statistic)
        ends = pearson.confidence_interval(0.95)
        cells.append(TableCell(name, "Pearson r", float(pearson.statistic), None, float(ends.low), float(ends.high), len(teams)))
        cells.append(TableCell(name, "Spearman rho", rho, None, None, None, len(teams)))
    return cells


_TAXONOMY: Final = {
    "correct": "taxonomy_code = 'correct'",
    "layer": "taxonomy_code = 'engine_layer_error'",
    "span": "taxonomy_code = 'engine_span_error'",
    "other": "taxonomy_code = 'engine_other_error'",
    "wrong_color": "taxonomy_code = 'wrong_block_color'",
    "wrong_position": "taxonomy_code = 'wrong_position'",
}
_COUNTED: Final = "oracle_available AND taxonomy_code <> 'no_oracle_or_attempt'"
_BY_TURN: Final = (
    f"SELECT {_TEAM} AS \"row\", 'turn ' || lpad(turn::VARCHAR, 2, '0') || ' oracle' AS col, structure_id AS \"cluster\", "
    "oracle_remove_any::INT::DOUBLE AS value FROM craft_turn_facts WHERE oracle_available UNION ALL "
    f"SELECT {_TEAM}, 'turn ' || lpad(turn::VARCHAR, 2, '0') || ' attempted', structure_id, attempted_remove::INT::DOUBLE FROM "
    "craft_turn_facts "
    "WHERE attempted_remove IS NOT NULL"
)
_PERSONAS: Final = (
    'SELECT persona AS "row", agent AS col, count(*)::DOUBLE AS value, NULL::DOUBLE AS sem, NULL::DOUBLE AS low, NULL::DOUBLE AS high, '
    "count(*) AS n FROM agents INNER JOIN games USING (episode_id) WHERE benchmark = 'craft' AND role = 'director' AND persona IS "
    "NOT NULL GROUP BY ALL"
)


def _personas(store: Store) -> list[TableCell]:
    return [TableCell(str(row), str(agent), float(n), n=int(n)) for row, agent, n, *_ in query(store, _PERSONAS).iter_rows()]


_PEOPLE: Final = (
    "WITH pairs AS (SELECT one.rubric, one.question, lower(one.answer) AS first, lower(other.answer) AS second FROM labels AS one "
    "INNER JOIN labels AS other ON one.unit_key = other.unit_key AND one.rubric = other.rubric AND one.question = other.question "
    "AND one.annotator < other.annotator WHERE NOT starts_with(one.annotator, 'llm:') AND NOT starts_with(other.annotator, 'llm:')"
    " AND one.rubric IN ('spatial_grounding', 'mind_modeling', 'pragmatic_sufficiency')), equal AS (SELECT rubric, question, "
    "count(*) AS n, avg((first = second)::INT) AS agreement FROM pairs GROUP BY ALL), chance AS (SELECT one.rubric, one.question, "
    "sum(one.n * other.n) AS products FROM (SELECT rubric, question, first AS answer, count(*) AS n FROM pairs GROUP BY ALL) AS "
    "one INNER JOIN (SELECT rubric, question, second AS answer, count(*) AS n FROM pairs GROUP BY ALL) AS other USING (rubric, "
    "question, answer) GROUP BY ALL) SELECT rubric, count(*) AS questions, avg(agreement) AS mean_agreement, min(kappa) AS "
    "least_kappa, median(kappa) AS median_kappa, max(kappa) AS largest_kappa FROM (SELECT rubric, question, agreement, (agreement "
    "- coalesce(products, 0) / n ** 2) / nullif(1 - coalesce(products, 0) / n ** 2, 0) AS kappa FROM equal LEFT JOIN chance USING "
    "(rubric, question)) GROUP BY rubric ORDER BY rubric"
)
"""Kappa between two people, of every question, over all pairs of people who answered about the same unit."""

ITEMS: Final = (
    PaperItem(
        kind="table",
        number="1",
        title="Progress of each model at the last turn, mean and standard error over structures",
        needs=_GAMES,
        cells=units(
            _of_games(
                progress="overall_progress",
                completion="completion_percentage",
                position_accuracy="position_accuracy",
                distance="distance_score",
                failed="failed_turn_20",
                remove_rate="attempted_remove_rate",
                remove_gap="remove_gap_share",
            )
        ),
    ),
    PaperItem(kind="table", number="2", title="Picked failures", needs="it is a choice of cases; read them on the page Games"),
    PaperItem(
        kind="table", number="3", title="Archetypes of the directors, games", needs="logs with personas of directors", cells=_personas
    ),
    PaperItem(
        kind="table",
        number="4",
        title="Share of turns with candidates in each category",
        needs=_GAMES,
        cells=units(_of_turns(_COUNTED, **_TAXONOMY), with_sem=False),
    ),
    PaperItem(kind="table", number="5", title="Excerpt of people in a sister task", needs="other people's data, not published"),
    PaperItem(
        kind="table",
        number="6",
        title="Judges' means of each model next to its progress",
        needs=_JUDGED,
        cells=units(
            f'SELECT "row", rubric_name AS col, "cluster", value FROM ({_VERDICTS}) UNION ALL {_of_games(progress="overall_progress")}'
        ),
    ),
    PaperItem(kind="table", number="7", title="Features of models against progress, one point a model", needs=_JUDGED, cells=_features),
    PaperItem(
        kind="table",
        number="8",
        title="Oracle and attempted remove rate over turns, and their gap (reading `any`)",
        needs=_GAMES,
        cells=units(
            _of_turns("oracle_available", oracle_remove_rate="oracle_remove_any")
            + " UNION ALL "
            + _of_turns("attempted_remove IS NOT NULL", attempted_remove_rate="attempted_remove")
            + " UNION ALL "
            + _of_games(gap="remove_gap_any"),
            with_sem=False,
        ),
    ),
    PaperItem(kind="table", number="9", title="Picked failures of directors", needs="it is a choice of cases; read them on the page Games"),
    PaperItem(kind="table", number="10", title="Trace of a game (tables 10 to 14)", needs="it is one game; read it on its page"),
    PaperItem(kind="figure", number="2", title="Views of the directors (figures 2 and 7)", needs="they are pictures (a game's page)"),
    PaperItem(kind="figure", number="6", title="Picked failures (figures 6 and 18)", needs="they are pictures of cases"),
    PaperItem(
        kind="figure",
        number="3",
        title="Categories as bars, with wrong span",
        needs=_GAMES,
        cells=units(_of_turns(_COUNTED, **_TAXONOMY, wrong_span="taxonomy_code = 'wrong_span'"), with_sem=False),
    ),
    PaperItem(
        kind="figure",
        number="4",
        title="Judges' means by question, and by whether a candidate was followed",
        needs=_JUDGED,
        cells=units(
            f"SELECT judge || ': ' || question AS \"row\", coalesce(outcome, 'no turn') AS col, \"cluster\", value FROM ({_VERDICTS})"
        ),
    ),
    *(
        PaperItem(
            kind="figure",
            number=number,
            title="Oracle and attempted remove rate by turn",
            needs=_GAMES,
            cells=units(_BY_TURN, with_sem=False),
        )
        for number in ("5", "16", "17")
    ),
    PaperItem(
        kind="figure",
        number="8",
        title="Share of all turns: candidates available, followed, executed, none",
        needs=_GAMES,
        cells=units(
            _of_turns(
                oracle_available="oracle_available",
                followed="coalesce(followed_logged, false)",
                executed="coalesce(move_executed, false)",
                no_candidates="NOT oracle_available",
            ),
            with_sem=False,
        ),
    ),
    PaperItem(
        kind="figure",
        number="15",
        title="Judges' means of each model by question",
        needs=_JUDGED,
        cells=units(f'SELECT "row", question AS col, "cluster", value FROM ({_VERDICTS})'),
    ),
)

NOTES: Final = (
    Note(
        title="Most targets cannot be completed",
        text="The engine cannot build what 14 of the 20 published targets need, and the highest mean progress that any team could reach is "
        ".748: read a score against its target's ceiling.",
        sql="SELECT count(*) AS targets, count(*) FILTER (NOT completable) AS cannot_be_completed, avg(ceiling_overall_progress) AS "
        "highest_mean_progress FROM craft_structures",
    ),
    Note(
        title="Distance is not a measure of its own",
        text="distance = 2 IoU / (1 + IoU) in every game: it ranks games exactly as IoU does, and progress counts the same thing twice.",
        sql="SELECT count(*) AS games, max(abs(distance_score - 2 * iou_score / (1 + iou_score))) AS largest_deviation FROM "
        "craft_game_facts",
    ),
    Note(
        title="Two directors saw mirrored targets",
        text="The walls of two directors (D2 and D3) are drawn from behind: what one calls left the target has on the right. "
        "Messages that are "
        "right for the view are wrong for the board.",
        sql="SELECT agent, count(*) AS games, any_value(private_view::VARCHAR)[1:120] AS view FROM agents INNER JOIN games USING "
        "(episode_id) "
        "WHERE benchmark = 'craft' AND role = 'director' GROUP BY ALL ORDER BY ALL",
    ),
    Note(
        title="People agree on most of the judges' questions hardly better than chance",
        text="Four people validated the judges. Cohen's kappa between two of them, of a question in the middle, is .12 in mind modeling "
        "and .03 in pragmatic sufficiency; in spatial grounding, where things can be seen, .49. That a judge agrees with such labels "
        "means little (cotrace labels import of the human validation file, then cotrace report agreement).",
        sql=_PEOPLE,
    ),
    Note(
        title="Printed gaps are not the difference of the printed rates",
        text="In Table 8 the gap equals attempted minus oracle rate for one model of fifteen; with that difference the correlation "
        "with progress falls from r = -.78 to -.69.",
        sql="SELECT count(*) AS models, count(*) FILTER (abs(gap - (attempted - oracle)) < 0.0006) AS gaps_that_fit, "
        "corr(gap, progress) AS r_of_printed_gap, corr(attempted - oracle, progress) AS r_of_difference FROM ("
        "SELECT lower(replace(\"row\", 'Son.', 'Sonnet')) AS model, max(value) FILTER (\"column\" = 'gap') AS gap, "
        "max(value) FILTER (\"column\" = 'attempted remove rate') AS attempted, "
        "max(value) FILTER (\"column\" = 'oracle remove rate') AS oracle, max(value) FILTER (\"column\" = 'progress') AS progress "
        "FROM printed WHERE \"row\" <> 'Overall' GROUP BY ALL) WHERE gap IS NOT NULL",
        printed=("table 1", "table 8"),
    ),
)
