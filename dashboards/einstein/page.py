"""Einstein puzzles: success and step ratio by action space, model, verifier and size, and the errors over both denominators."""

from __future__ import annotations

from typing import Final

from dashboards.charts import Chart, Choice, FamilyPage, Links, Number, Table
from dashboards.figures import Axis
from dashboards.grid import GridColumn
from games.einstein.labels import CATEGORIES, NO_ERROR

PATH = "/einstein"
TITLE = "Einstein Puzzles"
IN_MENU = True
BENCHMARK = "einstein"
ORDER = 81

_GROUPS: Final = {
    "action_mode": "Action space",
    "verifier": "Verifier",
    "num_objects": "Objects",
    "model": "Model",
    "use_cot": "Reasoning",
    "run": "Run",
}
_KNOWN = """
    WITH known AS (
        SELECT
            * REPLACE (
                coalesce(verifier, 'unknown') AS verifier,
                num_objects::VARCHAR AS num_objects,
                CASE use_cot WHEN 1 THEN 'with' WHEN 0 THEN 'without' ELSE 'unknown' END AS use_cot
            )
        FROM einstein_game_facts WHERE {filters}
    )
"""
_MEASURES = """
    count(success) AS games,
    coalesce(sum(success), 0)::BIGINT AS wins,
    wins / nullif(games, 0) AS success_rate,
    wilson_low(wins, games) AS success_low,
    wilson_high(wins, games) AS success_high,
    avg(sub_r) AS sub_r,
    count(step_ratio) AS n_ratio,
    avg(step_ratio) AS step_ratio,
    t_critical(n_ratio - 1) * stddev_samp(step_ratio) / sqrt(n_ratio) AS ratio_half,
    avg(avg_corrected) AS corrected,
    sum(solved_at_limit)::BIGINT AS at_limit,
    coalesce(sum(step_count) FILTER (success IS NOT NULL), 0)::BIGINT AS steps
"""
_BY = f"""
    {_KNOWN}
    SELECT
        "{{by}}", "{{split}}", {_MEASURES},
        CASE '{{by}}' WHEN 'model' THEN any_value(model) END AS of_model,
        CASE '{{by}}' WHEN 'num_objects' THEN any_value(level) END AS of_level,
        CASE '{{by}}' WHEN 'run' THEN any_value(run) END AS of_condition
    FROM known GROUP BY "{{by}}", "{{split}}" ORDER BY "{{by}}", "{{split}}"
"""
_GAMES: Final = Links(keys={"model": "of_model", "level": "of_level", "condition": "of_condition"})
_ERRORS = " UNION ALL ".join(
    f"""
    SELECT
        '{key}' AS category, 'einstein_published' AS taxonomy, sum({counted})::BIGINT AS count, sum(step_count)::BIGINT AS total,
        {f"'{action}'" if action else "NULL::VARCHAR"} AS concerned, {f"sum(n_{action})::BIGINT" if action else "NULL::BIGINT"} AS number,
        sum({counted}) / nullif(sum(step_count), 0) AS steps,
        {f"sum({counted}) / nullif(sum(n_{action}), 0)" if action else "NULL"} AS relevant
    FROM einstein_game_facts WHERE {{filters}}
    """
    for key, counted, action in [(one.key, one.key, one.relevant) for one in CATEGORIES] + [(NO_ERROR, "no_error_steps", None)]
)
_TURNS: Final = Links(keys={"taxonomy": "taxonomy", "category": "category"}, to="/turns")

PAGE: Final = FamilyPage(
    title=TITLE,
    benchmark=BENCHMARK,
    numbers_sql=f"{_KNOWN} SELECT {_MEASURES} FROM known",
    numbers=(
        Number(label="games", column="games", kind="count", detail="{steps} steps"),
        Number(label="solved in time", column="success_rate", kind="share", detail="{wins} of {games}"),
        Number(label="objects in their bins", column="sub_r", kind="score", detail="mean of games"),
        Number(label="times the optimal steps", column="step_ratio", kind="number", detail="mean of {n_ratio} solved games"),
    ),
    choices=(
        Choice(key="by", label="By", options=_GROUPS),
        Choice(key="split", label="Colours", options=_GROUPS, default="verifier"),
    ),
    charts=(
        Chart(
            name="einstein-success",
            title="Success",
            kind="dots",
            sql=f"""
                SELECT *, "{{by}}" AS line, "{{split}}" AS series,
                    success_rate AS value, success_low AS low, success_high AS high, games AS n
                FROM ({_BY})
            """,
            axis=Axis(title="solved in time", is_share=True),
            hint="Bars are 95 % Wilson intervals.",
            links=_GAMES,
            is_wide=False,
        ),
        Chart(
            name="einstein-steps",
            title="Step ratio",
            kind="dots",
            sql=f"""
                SELECT *, "{{by}}" AS line, "{{split}}" AS series, step_ratio AS value,
                    step_ratio - ratio_half AS low, step_ratio + ratio_half AS high, n_ratio AS n
                FROM ({_BY})
            """,
            axis=Axis(title="steps over optimum", low=1, high=None, lines_at=(1,)),
            hint="Steps over the optimum of the action space, solved games only; bars are 95 % t intervals.",
            n_of="solved game",
            links=_GAMES,
            is_wide=False,
        ),
        Chart(
            name="einstein-groups",
            title="Numbers",
            kind="table",
            sql=_BY,
            table=Table(
                name="einstein",
                title="Groups in numbers",
                columns={
                    "{by}": GridColumn(heading=""),
                    "{split}": GridColumn(heading=""),
                    "success_rate": GridColumn(heading="Solved", kind="share", part="wins", whole="games"),
                    "success_low": GridColumn(heading="95 % from", kind="share"),
                    "success_high": GridColumn(heading="to", kind="share"),
                    "sub_r": GridColumn(heading="Objects in bins", kind="score"),
                    "step_ratio": GridColumn(heading="Steps over optimum", kind="number"),
                    "ratio_half": GridColumn(heading="±", kind="number"),
                    "corrected": GridColumn(heading="Corrections", kind="number"),
                    "at_limit": GridColumn(heading="Solved in the last step", kind="count"),
                },
                links=_GAMES,
            ),
        ),
        Chart(
            name="einstein-errors",
            title="Errors",
            kind="bars",
            sql=f"""
                SELECT *, category AS line, '' AS series, {{per}} AS value, count AS n FROM ({_ERRORS})
                WHERE category <> '{NO_ERROR}' AND {{per}} IS NOT NULL ORDER BY {{per}} DESC
            """,
            axis=Axis(title="share of {per}"),
            choices=(Choice(key="per", label="Rate over", options={"steps": "all steps", "relevant": "actions concerned"}),),
            n_of="step",
            hint="By rule; a step can have several errors. Click a bar to read the steps behind it.",
            links=_TURNS,
            table=Table(
                title="Errors in numbers",
                sql=_ERRORS,
                columns={
                    "category": GridColumn(heading="Category", kind="name"),
                    "count": GridColumn(heading="Steps", kind="count"),
                    "total": GridColumn(heading="of", kind="count"),
                    "steps": GridColumn(heading="Share of steps", kind="share"),
                    "concerned": GridColumn(heading="Actions concerned"),
                    "number": GridColumn(heading="their number", kind="count"),
                    "relevant": GridColumn(heading="Share of them", kind="share"),
                },
                links=_TURNS,
            ),
        ),
    ),
)
content = PAGE.content
TABLES = PAGE.tables
FIGURES: Final = PAGE.figures | {"einstein": PAGE.figures["einstein-success"]}
