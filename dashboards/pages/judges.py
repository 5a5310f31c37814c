"""Judges: what they say, and what that is worth; one rubric at a time, a section for each way to look at it.

A section computes only when it is opened; reports that take longer than a page should are kept until the store changes.
"""

from collections.abc import Iterator
from typing import Final

from dashboards.address import Address
from dashboards.filters import thing_of
from dashboards.judging.panel import COST, DISAGREEMENT
from dashboards.judging.reliability import AGREEMENT, CORRECTED, DRIFT, PROBING
from dashboards.judging.scores import SCORES, Section, chosen, report_figure
from dashboards.parts import Later, Part, html, link_choices, note
from dashboards.reader import Reader
from judges.rubric_files.load import of_engine
from schemas.common.wording import in_words

PATH = "/judges"
TITLE = "Judges"
IN_MENU = True
ORDER = 50

SECTIONS: Final[tuple[Section, ...]] = (SCORES, AGREEMENT, CORRECTED, PROBING, DRIFT, DISAGREEMENT, COST)
"""In the order of the page; the first is shown unless the address says otherwise."""

_RUBRICS: Final = "SELECT DISTINCT rubric FROM judge_runs ORDER BY rubric"
_BENCHMARKS: Final = "SELECT DISTINCT benchmark FROM games ORDER BY benchmark"
_AHEAD: Final = "SELECT rubric FROM verdicts GROUP BY rubric HAVING count(*) <= $most ORDER BY rubric"
_MOST_AHEAD: Final = 20_000_000
"""Verdicts of a rubric whose sections are found out ahead: with so many they take some 1.5 GB while they are."""
_KEPT: Final = ("rubric", "judge", "variant")
"""What stays chosen from section to section."""


def content(read: Reader) -> Part:
    """A section, `?show=`, about a rubric, `?rubric=`."""
    address = read.address
    known = read.rows(_RUBRICS)["rubric"].to_list()
    if not known:
        return _nothing_yet(read)
    rubric = chosen(address.one("rubric"), known)
    section = next((found for found in SECTIONS if address.one("show") == found.name), SECTIONS[0])
    stays = address.filters()
    tabs = [(found.title, stays.to(**{key: address.one(key) for key in _KEPT}, show=found.name), found is section) for found in SECTIONS]
    return html.Div(
        [
            html.H1("Judges"),
            link_choices("Rubric", [(in_words(name), stays.to(rubric=name, show=section.name), name == rubric) for name in known]),
            link_choices("Show", tabs),
            _SECTION(read, f"{section.name}/{rubric}"),
        ]
    )


def _nothing_yet(read: Reader) -> Part:
    """The judge that these games can have at once: the engine where it follows them, else a model."""
    played = read.rows(_BENCHMARKS)["benchmark"].to_list()
    thing = thing_of(played)
    rubrics = [f"--rubric {rubric.name}" for benchmark in played for rubric in of_engine(benchmark)]
    if rubrics:
        engine = html.Pre(" ".join(["cotrace judge", *rubrics, "--judge engine"]))
        return note(f"No judge has scored these {thing}s yet. The engine judge needs no model:", engine)
    model = html.Pre("cotrace judge --rubric mast --model openai/gpt-4o-mini --dry-run")
    return note(f"No judge has scored these {thing}s yet, and no engine follows them. What a model would be asked, and cost:", model)


def ahead(read: Reader) -> Iterator[Address]:
    """The sections of each rubric, but of the largest: how far answers agree takes memory to find out, and nobody may ever ask."""
    for rubric in read.rows(_AHEAD, {"most": _MOST_AHEAD})["rubric"]:
        yield from (Address(PATH, {"rubric": (rubric,), "show": (section.name,)}) for section in SECTIONS)


def _section(read: Reader, part: str) -> Part:
    name, _, rubric = part.partition("/")
    return next(found for found in SECTIONS if name == found.name).content(read, rubric)


_SECTION: Final = Later("judges-section", _section, 520)
LATER = (_SECTION,)
TABLES = tuple(table for section in SECTIONS for table in section.tables)
FIGURES: Final = {"judges": report_figure}
