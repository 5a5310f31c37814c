"""The palette, measured: every pair of colours as people with each kind of colour vision see it."""

from __future__ import annotations

from itertools import combinations

import pytest
from coloraide import Color

from dashboards.address import Address
from dashboards.figures import DARK_PAPER, LIGHT_PAPER, OUTCOMES, SERIES, SYMBOLS
from dashboards.pages import failures, overview
from dashboards.reader import reader
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


def test_a_category_has_one_colour_on_every_page_and_under_every_filter(played: Store) -> None:
    """Each page ranked the categories that it showed, so that a filter gave another colour to the same failure."""
    colors: dict[str, set[str]] = {}
    for search in ("", "model=clear", "model=over_remover", "level=simple"):
        for page, name in ((overview, "overview"), (failures, "failures")):
            with reader(played, Address.parse(page.PATH, search)) as read:
                drawn = page.FIGURES[name](read)
            for bar in drawn.data if drawn else ():
                if bar.type == "bar" and isinstance(bar.marker.color, str):
                    colors.setdefault(bar.name, set()).add(bar.marker.color)
    shared = {name: found for name, found in colors.items() if found & {*SERIES}}
    assert len(shared) > 2
    assert all(len(found) == 1 for found in shared.values()), shared
