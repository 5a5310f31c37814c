"""Avalon: who wins, whom leaders trust, whose votes are right, and the proposals that lost most."""

from typing import Final

from dashboards.charts import family_page

PATH = "/avalon"
IN_MENU = True
ORDER = 85

PAGE: Final = family_page(__package__)
TITLE, BENCHMARK = PAGE.title, PAGE.benchmark
content = PAGE.content
TABLES = PAGE.tables
