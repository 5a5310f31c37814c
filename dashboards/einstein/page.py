"""Einstein puzzles: success and step ratio by action space, model, verifier and size, and the errors over both denominators."""

from typing import Final

from dashboards.charts import family_page
from games.einstein.labels import CATEGORIES, NO_ERROR

PATH = "/einstein"
IN_MENU = True
ORDER = 81

_ERRORS: Final = " UNION ALL ".join(
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

PAGE: Final = family_page(__package__, errors=_ERRORS)
TITLE, BENCHMARK = PAGE.title, PAGE.benchmark
content = PAGE.content
TABLES = PAGE.tables
FIGURES: Final = PAGE.figures | {"einstein": PAGE.figures["einstein-success"]}
