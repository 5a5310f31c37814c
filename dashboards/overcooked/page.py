"""Collab-Overcooked: success and progress by level, initiating and responding, what goes wrong and where in the task."""

from typing import Final

from dashboards.charts import family_page

PATH = "/overcooked"
IN_MENU = True
ORDER = 82
FILTERS = ("condition", "model", "level")

PAGE: Final = family_page(__package__)
TITLE, BENCHMARK = PAGE.title, PAGE.benchmark
content = PAGE.content
TABLES = PAGE.tables
FIGURES = PAGE.figures
