"""What pages list is what there is: fields, columns, names, numbers; and what pages point at exists."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Set as AbstractSet
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from analytics.comparison.game_values import METRICS
from cotrace.commands.export import command as export
from cotrace.commands.optimize import command as optimize
from games.craft.players.builders import BUILDERS
from games.craft.players.directors import PERSONAS
from ingest.adapters import formats
from ingest.foreign.mapping_file import ConversationColumns, MessageColumns, OutcomeColumns
from ingest.labels.files import COLUMNS
from judges.evidence.perturbations import kinds
from judges.rubric import Question, Rubric
from schemas.families import FAMILIES
from schemas.game import End, Header, Turn
from schemas.store.lake.files import LAKE_TABLES
from tests.places import DOCS, ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def part(page: str, beginning: str, end: str = "\n#") -> str:
    """A page's text from some words of it to the next heading, or other words."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert beginning in text, f"{page} has no {beginning!r}"
    return text.partition(beginning)[2].partition(end)[0]


def first_cells(text: str) -> set[str]:
    """Names in the first column of tables, or before the colon of list items; several with commas apart; code marks left out."""
    cells = re.findall(r"^(?:\| |- )([^|:\n]+?)(?: \||: )", text, re.MULTILINE)
    return {name.strip(" `") for cell in cells for name in cell.split(", ")} - {""}


def coded(text: str) -> set[str]:
    """Whatever stands in code marks."""
    return set(re.findall(r"`([^`]+)`", text))


def names_of(kind: Any) -> set[str]:
    """Fields of a dataclass or a model."""
    return {field.name for field in fields(kind)} if hasattr(kind, "__dataclass_fields__") else set(kind.model_fields)


def choices(command: Any, option: str) -> set[str]:
    """What an option of a command takes."""
    return {choice for found in command.params if option in found.opts for choice in found.type.choices}


def entries() -> set[str]:
    """The mapping's entries as the page of chat lines spells them: `message.speaker, text` are two."""
    rows = re.findall(r"^- (\w+)\.([\w, ]+?): ", part("formats/chat_lines.md", "Entries:"), re.MULTILINE)
    return {f"{room}.{name}" for room, names in rows for name in names.split(", ")}


MAPPING = {"conversation": ConversationColumns, "message": MessageColumns, "outcome": OutcomeColumns}
OF_FAMILIES = {"cotrace", *(name for name, _ in formats() for family in FAMILIES if name.startswith(family.name)), "coordqa"}

LISTED: dict[str, tuple[AbstractSet[str], AbstractSet[str]]] = {
    "header of a log": (
        first_cells(part("formats/cotrace_log.md", "## Line 1: the header")) - {"field"},
        {"cotrace_log", *names_of(Header)},
    ),
    "turn of a log": (first_cells(part("formats/cotrace_log.md", "## One line a turn")) - {"field"}, names_of(Turn)),
    "personas of CRAFT": (first_cells(part("dev/planted_labels.md", "| persona |", "\n\n")), set(PERSONAS)),
    "builders of CRAFT": (first_cells(part("dev/planted_labels.md", "| builder |", "\n\n")), set(BUILDERS)),
    "entries of a mapping": (entries(), {f"{room}.{name}" for room, kind in MAPPING.items() for name in names_of(kind)}),
    "formats of others": (first_cells(part("formats/foreign.md", "Formats:\n\n", "\n\n")), {name for name, _ in formats()} - OF_FAMILIES),
    "forms of export": (first_cells(part("formats/foreign.md", "Forms:\n\n", "\n\n")), choices(export, "--format")),
    "extras": (first_cells(part("index.md", "| extra |", "\n\n")) - {"(none)"}, set(EXTRAS) - {"docs", "dev", "mutants"}),
    "keys of a rubric": (first_cells(part("rubric_files.md", "Keys:\n\n", "\n\n")), names_of(Rubric)),
    "columns of labels": (
        first_cells(part("labels.md", "## cotrace's own columns")) - {"column"},
        {*COLUMNS, "score", "sampling_probability"},
    ),
    "optimisers": (first_cells(part("optimize.md", "| optimiser |", "\n\n")), choices(optimize, "--optimizer")),
    "papers": (coded(part("papers.md", "Families: ", ".")), {path.parent.name for path in ROOT.glob("analytics/*/paper.yaml")}),
}
"""What -> the names that a page lists, and those that there are."""

NAMED: dict[str, tuple[str, AbstractSet[str]]] = {
    "last line of a log": (part("formats/cotrace_log.md", "## Last line"), names_of(End)),
    "keys of a question": (part("rubric_files.md", "\n- questions: ", "\n- "), names_of(Question)),
    "metrics": (part("compare.md", "Any number will do", "\n##"), {name.replace("remove_gap_", "_") for name in METRICS} - {"_share"}),
    "kinds of probes": (
        part("judges.md", "`cotrace probe NAME --kind list` lists the kinds:", "Verdicts on perturbed"),
        {kind.partition("=")[0] for kind in kinds()},
    ),
}
"""What -> the words of a page, and names that must stand in them in code marks."""


@pytest.mark.parametrize("what", LISTED)
def test_a_page_lists_what_there_is(what: str) -> None:
    """Nothing that is gone, and nothing left out."""
    listed, there = LISTED[what]
    assert listed == there


@pytest.mark.parametrize("what", NAMED)
def test_a_page_names_what_there_is(what: str) -> None:
    """Each in code marks; `model=NAME` names `model`."""
    text, there = NAMED[what]
    named = {name for found in coded(text) for name in re.split(r"[=: ]", found)[:1]}
    assert there - named == set()


@pytest.mark.parametrize("family", [family.name for family in FAMILIES])
def test_the_page_of_players_names_tasks_and_conditions_of_experiments(family: str) -> None:
    """Each key that an experiment file may have, and no other."""
    room = importlib.import_module(f"games.{family}.experiment")
    listed = part("dev/benchmark_rules.md", "Keys of `tasks` and `conditions`:", "\n# ")
    (row,) = re.findall(rf"^- {family}\n  tasks: (.*?)\n  conditions: (.*?)(?=\n- |\n*\Z)", listed, re.MULTILINE | re.DOTALL)
    assert [coded(row[0]), coded(row[1])] == [set(room.Tasks.by_key()), set(room.Condition.by_key())]


def test_numbers_of_things_are_counted() -> None:
    """Questions in SQL, tables of a lake."""
    questions = len(re.findall(r"^-- \d+\. ", (DOCS / "sql.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert f"[{questions} questions and their SQL]" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (questions, len(LAKE_TABLES)) == (22, 23)
    assert "# Twenty-two questions in SQL" in (DOCS / "sql.md").read_text(encoding="utf-8")
    assert "One table and not twenty-three" in (DOCS / "dev/scale.md").read_text(encoding="utf-8")


def pointed_at(page: Path) -> set[str]:
    """Files that a page links, or names in code marks by their path; headings of other pages too."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = {link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")}
    rooms = "analytics|benchmarks|cotrace|dashboards|docs|games|ingest|judges|providers|research|schemas|tests|tools"
    return links | set(re.findall(rf"`((?:{rooms}|formats)/[\w./-]+)`", text))


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_what_a_page_points_at_is_there(page: Path) -> None:
    """Links stand beside the page, code at the root; a link to a heading finds it."""
    for pointed in pointed_at(page):
        path, _, heading = pointed.partition("#")
        found = [place for place in (page.parent / path, ROOT / path) if place.exists()] if path else [page]
        assert found, f"{page.name} points at {pointed}"
        if heading:
            headings = re.findall(r"^#+ (.*)$", found[0].read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}, f"{page.name}: {pointed}"


def test_the_readme_leads_users_to_every_page_and_contributing_leads_developers() -> None:
    """Pages of `docs/dev` are linked in CONTRIBUTING.md, all others in README.md."""
    pages = {page.relative_to(ROOT) for page in DOCS.rglob("*.md") if page != DOCS / "index.md"}
    for_developers = {page for page in pages if page.is_relative_to("docs/dev")}
    for document, linked in (("README.md", pages - for_developers), ("CONTRIBUTING.md", for_developers)):
        text = (ROOT / document).read_text(encoding="utf-8")
        assert [str(page) for page in sorted(linked) if f"({page})" not in text] == [], document


def test_what_users_read_is_short() -> None:
    """Hand-written pages of docs/ for users have 2,500 lines at most, README 90; no line has more than 160 characters."""
    pages = [path for folder in ("docs", "docs/formats") for path in sorted((ROOT / folder).glob("*.md"))]
    written = {path: path.read_text(encoding="utf-8").splitlines() for path in pages}
    marks = ("<!-- Made by `make docs` from the source. Do not edit. -->", "Written by `python -m benchmarks.real_models --write`;")
    written = {path: lines for path, lines in written.items() if not any(line.startswith(marks) for line in lines)}
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert sum(map(len, written.values())) <= 2500
    assert len(readme) <= 90
    long = [(path.name, line) for path, lines in [*written.items(), (ROOT / "README.md", readme)] for line in lines if len(line) > 160]
    assert long == []
