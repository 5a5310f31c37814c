"""The palette, measured: every pair of colours as people with each kind of colour vision see it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import plotly.graph_objects as go
import pytest
from coloraide import Color

from dashboards.address import Address
from dashboards.figures import DARK_PAPER, LIGHT_PAPER, OUTCOMES, SERIES, SYMBOLS
from dashboards.pages import effects, failures, overview, why
from dashboards.reader import Reader, looks_of_teams, names_of_teams, reader
from schemas.store.store import Store

VISIONS = ("full", "protan", "deutan", "tritan")
SETS = {"series": SERIES, "outcomes": tuple(dict.fromkeys(mark.color for mark in OUTCOMES.values()))}


def seen(color: str, vision: str) -> Color:
    """The colour as it looks; Machado's simulation of the full loss of one kind of cone."""
    shown = Color(color)
    return shown if vision == "full" else shown.filter(vision, 1, space="srgb-linear").clip()


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("name", SETS)
def test_colours_of_a_set_are_told_apart(name: str, vision: str) -> None:
    """CIEDE2000 of at least 12 between any two: side by side they differ at a glance."""
    found = {(a, b): seen(a, vision).delta_e(seen(b, vision), method="2000") for a, b in combinations(SETS[name], 2)}
    assert min(found.values()) >= 12, min(found, key=lambda pair: found[pair])


@pytest.mark.parametrize("paper", [LIGHT_PAPER, DARK_PAPER])
def test_colours_stand_out_from_both_papers(paper: str) -> None:
    """WCAG 1.4.11: a contrast of 3 to 1."""
    for color in {*SERIES, *(mark.color for mark in OUTCOMES.values())}:
        assert Color(color).contrast(paper) >= 3, color


def test_every_meaning_has_a_shape_beside_its_colour() -> None:
    """Where two outcomes share a colour, the shape differs; each series has a symbol of its own."""
    assert len({(mark.color, mark.shape) for name, mark in OUTCOMES.items() if name not in {"accepted", "wrong"}}) == len(OUTCOMES) - 2
    assert len(set(SYMBOLS)) == len(SERIES)


@pytest.mark.parametrize(
    "searches", [("", "model=over_remover"), pytest.param(("", "model=clear", "level=simple"), marks=pytest.mark.long)], ids="-".join
)
def test_a_category_has_one_colour_on_every_page_and_under_every_filter(searches: tuple[str, ...], played: Store) -> None:
    """Each page ranked the categories that it showed, so that a filter gave another colour to the same failure."""
    colors: dict[str, set[str]] = {}
    for search in searches:
        for page, name in ((overview, "overview"), (failures, "failures")):
            with reader(played, Address.parse(page.PATH, search)) as read:
                drawn = page.FIGURES[name](read)
            for bar in drawn.data if drawn else ():
                if bar.type == "bar" and isinstance(bar.marker.color, str):
                    colors.setdefault(bar.name, set()).add(bar.marker.color)
    shared = {name: found for name, found in colors.items() if found & {*SERIES}}
    assert len(shared) > 2
    assert all(len(found) == 1 for found in shared.values()), shared


def test_a_team_has_one_colour_and_shape_on_all_pages_under_all_filters(played: Store) -> None:
    """They went by the order in which a figure had its teams: by loss on Why, by name in survival curves, by units in corrected rates."""

    def looks_on(draw: Callable[[Reader], go.Figure | None], search: str = "") -> dict[str, tuple[str, str]]:
        with reader(played, Address.parse("/", search)) as read:
            drawn = draw(read)
            assert drawn is not None
            return {
                trace.name: (trace.marker.color or trace.line.color, trace.marker.symbol)
                for trace in drawn.data
                if trace.name in looks_of_teams(read) and trace.x
            }

    def curve(read: Reader) -> go.Figure:
        rows, teams = read.rows(why._CURVE), why._teams(read.rows(why._FLOWS))
        return why._curve(rows, names_of_teams(read, rows["team_name"].unique().to_list()), teams, "progress", looks_of_teams(read))

    def survival(read: Reader) -> go.Figure | None:
        question = effects.QUESTIONS["survival"]
        return question.draw(effects._drawn(read, question, effects._report(read, question.report, "craft"), "craft"))

    with reader(played, Address("/")) as read:
        known = {
            name: look for name, look in looks_of_teams(read).items() if name in names_of_teams(read, list(looks_of_teams(read))).values()
        }
    every = looks_on(curve)
    assert len(every) == 3
    assert every.items() <= known.items()
    survived = looks_on(survival, "ask=survival")
    assert len(survived) > 1
    assert survived.items() <= every.items()
    (last,) = looks_on(curve, f"model={list(every)[-1]}").items()
    assert last in every.items()
