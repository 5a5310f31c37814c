"""LLM-Coordination: CoordinationQA next to chance, where letters get lost, agentic scores, and how the two go together."""

from typing import Final

from dashboards.charts import family_page

PATH = "/coordination"
IN_MENU = True
ORDER = 83
FILTERS = ("condition", "model", "level")

PAGE: Final = family_page(__package__)
TITLE, BENCHMARK = PAGE.title, PAGE.benchmark
content = PAGE.content
TABLES = PAGE.tables
FIGURES = PAGE.figures
