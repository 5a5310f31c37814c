"""The tables and figures of the CRAFT paper, and what does not add up in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from analytics.papers import Note, PaperItem, TableCell, given, units
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


def _of_games(row: str = _TEAM, **columns: str) -> str:
    return " UNION ALL ".join(
        f'SELECT {row} AS "row", \'{name.replace("_", " ")}\' AS col, structure_id AS "cluster", {sql}::DOUBLE AS value FROM '
        "craft_game_facts"
        for name, sql in columns.items()
    )


def _of_turns(where: str = "true", row: str = _TEAM, **columns: str) -> str:
    return " UNION ALL ".join(
        f'SELECT {row} AS "row", \'{name.replace("_", " ")}\' AS col, structure_id AS "cluster", ({sql})::INT::DOUBLE AS value '
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
    """Table 7: features of a model against its progress, one point a model, and unique perspective (MM5) by way of the remove gap."""
    from scipy import stats

    table = query(
        store,
        f"""
        SELECT "row", name, avg(value) AS value FROM (
            SELECT {_TEAM} AS "row", 'remove gap' AS name, remove_gap_any AS value FROM craft_game_facts
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
    for row, name, value in table.iter_rows():
        values.setdefault(name, {})[row] = value
    progress, cells = values.pop("progress", {}), []
    for name, by_team in values.items():
        x, y = _paired(by_team, progress)
        if len(x) < _POINTS or len(set(x)) == 1 or len(set(y)) == 1:
            continue
        pearson, rho = stats.pearsonr(x, y), float(stats.spearmanr(x, y).statistic)
        ends = pearson.confidence_interval(0.95)
        cells.append(TableCell(name, "Pearson r", float(pearson.statistic), None, float(ends.low), float(ends.high), len(x)))
        cells.append(TableCell(name, "Spearman rho", rho, None, None, None, len(x)))
    return cells + list(_mediation(*_paired(values.get("MM5", {}), values.get("remove gap", {}), progress)))


_POINTS: Final = 4
"""Models of which a correlation is given: an interval needs four."""


def _paired(*features: Mapping[str, float]) -> list[list[float]]:
    teams = sorted(set.intersection(*map(set, features)))
    return [[feature[team] for team in teams] for feature in features]


def _mediation(x: Sequence[float], mediator: Sequence[float], y: Sequence[float]) -> Iterator[TableCell]:
    """R2 of either and both, partial correlation, and the standardised paths of x over the mediator to y (Baron and Kenny 1986).

    The interval of the partial correlation is Fisher's with n - 4 degrees of freedom; a model is a point, so few models show little.
    """
    n = len(x)
    if n < _POINTS + 1 or any(len(set(one)) == 1 for one in (x, mediator, y)):
        return
    (_, xm, xy), (_, _, my), _ = np.corrcoef([x, mediator, y])
    if 1 - abs(xm) < 1e-9 or 1 - abs(my) < 1e-9:  # noqa: PLR2004 - one is the other: no part of it is left over
        return
    direct, by_mediator = (xy - xm * my) / (1 - xm**2), (my - xm * xy) / (1 - xm**2)
    both, partial = direct * xy + by_mediator * my, (xy - xm * my) / ((1 - xm**2) * (1 - my**2)) ** 0.5
    half = 1.959964 / (n - _POINTS) ** 0.5
    low, high = np.tanh(np.arctanh(np.clip(partial, -1 + 1e-12, 1 - 1e-12)) + np.array([-half, half]))
    for row, column, value in (
        ("MM5", "R2", xy**2),
        ("remove gap", "R2", my**2),
        ("MM5 + remove gap", "R2", both),
        ("MM5 + remove gap", "R2 added by MM5", both - my**2),
        ("MM5 -> remove gap -> progress", "path to the mediator", xm),
        ("MM5 -> remove gap -> progress", "path from the mediator", by_mediator),
        ("MM5 -> remove gap -> progress", "indirect", xm * by_mediator),
        ("MM5 -> remove gap -> progress", "direct", direct),
    ):
        yield TableCell(row, column, float(value), n=n)
    yield TableCell("MM5 | remove gap", "partial r", float(partial), None, float(low), float(high), n)


_GROUP: Final = "CASE model_group WHEN 'frontier' THEN 'Frontier Avg' ELSE 'Open-Weight Avg' END"


def _judged_means(store: Store) -> list[TableCell]:
    """Table 6: means of each model, then of the models of a group, with the paper's standard error (ddof 0) over models."""
    teams = units(
        f'SELECT "row", rubric_name AS col, "cluster", value FROM ({_VERDICTS}) UNION ALL {_of_games(progress="overall_progress")}'
    )(store)
    known = query(store, f"SELECT model, {_GROUP} AS model_group, reasoning FROM craft_model_groups").rows()
    names = {model: (group, *(["Reasoning Avg"] if reasons else ["Not reasoning Avg"])) for model, group, reasons in known}
    by_group: dict[tuple[str, str], list[float]] = {}
    for cell in teams:
        for group in names.get(re.sub(r"[^a-z0-9]", "", cell.row.rpartition("/")[2].lower()), ()):
            if cell.value is not None:
                by_group.setdefault((group, cell.column), []).append(cell.value)
    return teams + [
        TableCell(
            group, column, float(np.mean(values)), float(np.std(values) / len(values) ** 0.5) if len(values) > 1 else None, n=len(values)
        )
        for (group, column), values in by_group.items()
    ]


_ADHERENCE: Final = "Turn-level Spearman with full adherence"


def _remove_rates(store: Store) -> list[TableCell]:
    """Table 8: rates and gap of each model, what its directors instruct, all models together, and the tests over turns."""
    from scipy import stats

    oracle, attempted = "oracle_available", "attempted_remove IS NOT NULL"
    cells = units(
        " UNION ALL ".join(
            [
                *(_of_turns(oracle, row, oracle_remove_rate="oracle_remove_any") for row in (_TEAM, "'Overall'")),
                *(_of_turns(attempted, row, attempted_remove_rate="attempted_remove") for row in (_TEAM, "'Overall'")),
                *(_of_games(row, gap="remove_gap_any") for row in (_TEAM, "'Overall'")),
            ]
        ),
        with_sem=False,
    )(store)
    instructed = f"""
        SELECT {_TEAM} AS "row", name || ' (' || reader || ')' AS col, value, NULL AS sem, low, high, turns AS n FROM remove_gap_instructed,
        LATERAL (VALUES ('instructed remove rate', instructed_rate, NULL, NULL), ('gap as instructed', gap, gap_low, gap_high))
            AS kinds (name, value, low, high)
        WHERE value IS NOT NULL
    """
    turns = query(
        store,
        "SELECT attempted_remove::INT, attempted_remove::INT - oracle_remove_any::INT, followed_full::INT FROM craft_turn_facts "
        "WHERE oracle_available AND attempted_remove IS NOT NULL AND oracle_remove_any IS NOT NULL ORDER BY episode_id, turn",
    ).to_numpy()
    tests = [
        TableCell(_ADHERENCE, column, float(stats.spearmanr(turns[:, place], turns[:, 2]).statistic), n=len(turns))
        for place, column in enumerate(("attempted remove rate", "gap"))
        if len(turns) >= _POINTS and turns[:, place].std() and turns[:, 2].std()
    ]
    return cells + given(instructed)(store) + tests


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
    "SELECT coalesce(persona, 'total') AS \"row\", coalesce(agent, 'all directors') AS col, count(*)::DOUBLE AS value, "
    "NULL AS sem, NULL AS low, NULL AS high, count(*) AS n FROM agents INNER JOIN games USING (episode_id) WHERE benchmark = 'craft' "
    "AND role = 'director' AND persona IS NOT NULL GROUP BY CUBE (persona, agent)"
)


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
    PaperItem(kind="table", number="2", title="Picked failures", needs="it is a choice of cases: --notes has one of each failure"),
    PaperItem(
        kind="table",
        number="3",
        title="Archetypes of the directors, games",
        needs="logs with personas of directors",
        cells=given(_PERSONAS),
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
        cells=_judged_means,
    ),
    PaperItem(kind="table", number="7", title="Features of models against progress, one point a model", needs=_JUDGED, cells=_features),
    PaperItem(
        kind="table",
        number="8",
        title="Oracle and attempted remove rate over turns, and their gap (reading `any`), executed and as instructed",
        needs=f"{_GAMES}; for what directors instruct cotrace claims",
        cells=_remove_rates,
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
            f"SELECT judge || ': ' || question AS \"row\", coalesce(outcome, 'no turn') AS col, \"cluster\", value FROM ({_VERDICTS}) "
            f"UNION ALL SELECT judge || ': ' || question, model_group, \"cluster\", value FROM ({_VERDICTS}) AS one INNER JOIN "
            'craft_model_groups AS groups ON model_key(one."row") = groups.model'
        ),
    ),
    *(
        PaperItem(
            kind="figure",
            number=number,
            title=f"Oracle and attempted remove rate by turn{of}",
            needs=_GAMES,
            cells=units(
                f'SELECT one.* FROM ({_BY_TURN}) AS one LEFT JOIN craft_model_groups AS groups ON model_key(one."row") = groups.model '
                f"WHERE {where}",
                with_sem=False,
            ),
        )
        for number, of, where in (
            ("5", "", "true"),
            ("16", ", open-weight models", "model_group = 'open-weight'"),
            ("17", ", frontier models", "model_group = 'frontier'"),
        )
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
        title="A case of each failure (Table 2)",
        text="The first director turn of each failure of the bounded pragmatic speaker, with the message; the truth table is in "
        "docs/remove_gap.md, all cases are in bps_failures.",
        sql="SELECT mode, judge, model, structure_id, turn, agent, text[:160] AS message FROM (SELECT * FROM bps_failures WHERE mode NOT "
        "IN ('none', 'undecided') QUALIFY row_number() OVER (PARTITION BY mode ORDER BY judge, episode_id, turn, agent) = 1) INNER JOIN "
        "utterances USING (episode_id, turn, agent) WHERE channel = 'public' AND NOT superseded ORDER BY mode",
    ),
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
        "FROM printed WHERE \"row\" <> 'Overall' AND \"row\" NOT LIKE 'Turn-level%' GROUP BY ALL) WHERE gap IS NOT NULL",
        printed=("table 1", "table 8"),
    ),
)
