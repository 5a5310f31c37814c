"""LLM-Coordination: CoordinationQA next to chance, where letters get lost, agentic scores, and how the two go together."""

from __future__ import annotations

from typing import Final

from dashboards.charts import Chart, Choice, FamilyPage, Links, Number, Table
from dashboards.figures import Axis
from dashboards.grid import GridColumn

PATH = "/coordination"
TITLE = "LLM-Coordination"
IN_MENU = True
BENCHMARK = "coordination"
ORDER = 83
FILTERS = ("condition", "model", "level")

_CHOSEN = "SELECT episode_id, model, level FROM games WHERE {filters} AND benchmark = 'coordination'"
_ACCURACY = f"""
    SELECT * FROM coordqa_accuracy
    WHERE grouping = 'upstream' AND game = 'all' AND (respondent, type) IN (SELECT (model, level) FROM ({_CHOSEN}))
    ORDER BY respondent, type
"""
_LOST = f"""
    SELECT
        respondent,
        read_kind,
        count(*) AS answers,
        count(*) FILTER (WHERE read_letter = published_letter) AS same,
        count(*) FILTER (WHERE read_letter <> published_letter) AS misread,
        count(*) FILTER (WHERE read_letter IS NULL) AS guessed,
        count(*) FILTER (WHERE read_letter IS NULL AND correct) AS credited
    FROM coordqa_answers SEMI JOIN ({_CHOSEN}) USING (episode_id)
    GROUP BY ALL ORDER BY respondent, answers DESC
"""
_GAMES = f"""
    SELECT
        game,
        variant,
        model,
        count(*) AS n,
        avg(score) AS score,
        stddev_pop(score) / sqrt(count(*)) AS se,
        stddev_samp(score) / sqrt(count(*)) AS se_sample,
        avg(bombed::INT) AS bombed,
        avg(turns) FILTER (WHERE success) AS turns_of_successes,
        avg(turns) AS turns
    FROM coordination_games SEMI JOIN ({_CHOSEN}) USING (episode_id)
    GROUP BY ALL ORDER BY game, variant, score DESC
"""
_PAIRS = f"""
    WITH agentic AS (
        SELECT game, model, avg(score) AS score FROM coordination_games SEMI JOIN ({_CHOSEN}) USING (episode_id) GROUP BY ALL
    ),
    pairs AS (
        SELECT agentic.game, qa.type, agentic.score, qa.accuracy
        FROM agentic INNER JOIN coordqa_accuracy AS qa ON agentic.model = qa.respondent
        WHERE qa.grouping = 'upstream' AND qa.game = 'all'
    )
    SELECT
        game, type, count(*) AS n,
        CASE WHEN n >= 3 THEN corr(score, accuracy) END AS value,
        CASE WHEN n > 3 THEN tanh(atanh(value) - 1.959964 / sqrt(n - 3)) WHEN n = 3 THEN -1 END AS low,
        CASE WHEN n > 3 THEN tanh(atanh(value) + 1.959964 / sqrt(n - 3)) WHEN n = 3 THEN 1 END AS high
    FROM pairs GROUP BY game, type ORDER BY game, type
"""
_OF_MODEL: Final = Links(keys={"model": "respondent", "level": "type"})

PAGE: Final = FamilyPage(
    title=TITLE,
    benchmark=BENCHMARK,
    numbers_sql=f"""
        WITH asked AS (
            SELECT respondent, avg(accuracy) AS accuracy, avg(accuracy_low) AS low, avg(chance) AS chance
            FROM ({_ACCURACY}) GROUP BY respondent
        ),
        answers AS (
            SELECT
                count(*) AS respondents, avg(accuracy) AS accuracy, count(*) FILTER (low > chance) AS better
            FROM asked
        ),
        played AS (
            SELECT count(*) AS n, count(*) FILTER (success) AS won, count(success) AS known
            FROM coordination_games SEMI JOIN ({_CHOSEN}) USING (episode_id)
        )
        SELECT *, respondents + n AS games, won / nullif(known, 0) AS won_share, better / nullif(respondents, 0) AS better_share
        FROM answers CROSS JOIN played
    """,
    numbers=(
        Number(label="right answers", column="accuracy", kind="share", detail="mean of {respondents} respondents and the types"),
        Number(label="better than guessing", column="better_share", kind="share", detail="{better} of {respondents} respondents"),
        Number(label="goals reached", column="won_share", kind="share", detail="{won} of {known} games with a goal; {n} were played"),
    ),
    charts=(
        Chart(
            name="coordqa",
            title="CoordinationQA by type",
            kind="dots",
            sql=f"""
                SELECT
                    *, respondent AS line, {{scoring}} AS value, trials AS n,
                    CASE type WHEN 'EC' THEN 'environment comprehension' WHEN 'TOM' THEN 'theory of mind' WHEN 'JP' THEN 'joint planning'
                        ELSE type END AS series,
                    CASE '{{scoring}}' WHEN 'accuracy' THEN accuracy_low END AS low,
                    CASE '{{scoring}}' WHEN 'accuracy' THEN accuracy_high END AS high,
                    CASE '{{scoring}}' WHEN 'accuracy' THEN chance ELSE chance_corrected END AS line_at,
                    format('chance {{:.0f}} %', 100 * line_at) AS hover
                FROM ({_ACCURACY}) ORDER BY respondent, type
            """,
            axis=Axis(title="right answers", is_share=True),
            n_of="trial",
            links=_OF_MODEL,
            choices=(
                Choice(
                    key="scoring",
                    label="Scoring",
                    options={"accuracy": "as published", "accuracy_corrected": "read with care, corrected key"},
                ),
            ),
            hint="Share of right answers; bars are 95 % intervals over questions, dotted lines what guessing gives.",
            table=Table(
                name="coordqa-accuracy",
                title="In numbers",
                sql=_ACCURACY,
                links=_OF_MODEL,
                columns={
                    "respondent": GridColumn(heading="Respondent", kind="name"),
                    "type": GridColumn(heading="Type"),
                    "trials": GridColumn(heading="Trials", kind="count"),
                    "accuracy": GridColumn(heading="As published", kind="share"),
                    "accuracy_low": GridColumn(heading="95 % from", kind="share"),
                    "accuracy_high": GridColumn(heading="to", kind="share"),
                    "accuracy_se": GridColumn(heading="SE (ddof 0)", kind="number"),
                    "accuracy_se_sample": GridColumn(heading="SE (ddof 1)", kind="number"),
                    "accuracy_read": GridColumn(heading="Read with care", kind="share"),
                    "accuracy_corrected": GridColumn(heading="and corrected key", kind="share"),
                    "chance": GridColumn(heading="Chance", kind="share"),
                    "chance_upstream": GridColumn(heading="Chance, published model", kind="share"),
                },
            ),
        ),
        Chart(
            name="coordqa-letters",
            title="Where letters get lost",
            kind="table",
            sql=_LOST,
            hint="What careful reading finds, against the letter that the published scoring takes.",
            table=Table(
                title="Letters",
                links=_OF_MODEL,
                columns={
                    "respondent": GridColumn(heading="Respondent", kind="name"),
                    "read_kind": GridColumn(heading="The response is", kind="name"),
                    "answers": GridColumn(heading="Answers", kind="count"),
                    "same": GridColumn(heading="Published scoring reads the same", kind="count"),
                    "misread": GridColumn(heading="reads another letter", kind="count"),
                    "guessed": GridColumn(heading="guesses where none is named", kind="count"),
                    "credited": GridColumn(heading="and credits the guess", kind="count"),
                },
            ),
        ),
        Chart(
            name="coordination-games",
            title="The four games",
            kind="table",
            sql=_GAMES,
            hint="Hanabi: sum of the stacks; Overcooked: points; the others: share captured or escaped. "
            "The paper mixes both standard errors.",
            table=Table(
                title="Scores",
                links=Links(keys={"model": "model", "level": "game"}),
                columns={
                    "game": GridColumn(heading="Game", kind="name"),
                    "variant": GridColumn(heading="Layout or scenario", kind="name"),
                    "model": GridColumn(heading="Players"),
                    "n": GridColumn(heading="Games", kind="count"),
                    "score": GridColumn(heading="Score or rate", kind="number"),
                    "se": GridColumn(heading="SE (ddof 0)", kind="number"),
                    "se_sample": GridColumn(heading="SE (ddof 1)", kind="number"),
                    "bombed": GridColumn(heading="Bombed", kind="share"),
                    "turns_of_successes": GridColumn(heading="Turns, successes", kind="number"),
                    "turns": GridColumn(heading="Turns, all", kind="number"),
                },
            ),
        ),
        Chart(
            name="coordination-correlations",
            title="Agentic scores and CoordinationQA",
            kind="table",
            sql=_PAIRS,
            empty="No model has both answered the questions and played a game.",
            hint="Over models; fewer than three give none, and with four only |r| above 0.95 tells anything.",
            table=Table(
                title="Correlations",
                columns={
                    "game": GridColumn(heading="Game", kind="name"),
                    "type": GridColumn(heading="Questions"),
                    "n": GridColumn(heading="Models", kind="count"),
                    "value": GridColumn(heading="Pearson r", kind="score", low="low", high="high"),
                },
            ),
        ),
    ),
)
content = PAGE.content
TABLES = PAGE.tables
FIGURES = PAGE.figures
