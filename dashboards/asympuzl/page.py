"""AsymPuzl: success by feedback mode and size, success by turn, where and when positions are written."""

from typing import Final

from dashboards.charts import family_page
from games.asympuzl.game import FEEDBACK_MODES, PAPER_NAMES

PATH = "/asympuzl"
IN_MENU = True
ORDER = 80

_WORDS: Final = " ".join(f"WHEN '{mode}' THEN '{PAPER_NAMES[mode]}'" for mode in FEEDBACK_MODES)

PAGE: Final = family_page(
    __package__, mode=f"CASE feedback_mode {_WORDS} END", place=f"list_position({list(FEEDBACK_MODES)}, feedback_mode)"
)
TITLE, BENCHMARK = PAGE.title, PAGE.benchmark
content = PAGE.content
TABLES = PAGE.tables
FIGURES = PAGE.figures
