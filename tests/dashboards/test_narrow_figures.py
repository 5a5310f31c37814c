"""Figures on narrow screens: numbers and names that do not touch, room for a legend of many lines."""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl
import pytest
from playwright.sync_api import Page

from dashboards.craft.page import _title
from dashboards.figures import Axis, Dot, dot_plot, numbered, styled
from dashboards.pages.spirals import heat_map
from dashboards.parts import figure, to_html
from dashboards.reader import TeamName


@pytest.mark.parametrize(("turns", "step"), [(1, 1), (10, 1), (11, 5), (20, 5), (60, 5), (61, None)])
def test_turns_are_named_so_that_numbers_do_not_touch_at_420_pixels(turns: int, step: int | None) -> None:
    """The axes of Spirals and AsymPuzl wrote twenty numbers over one another."""
    assert numbered(turns).get("dtick") == step


def test_a_figure_with_many_names_is_taller_where_each_has_a_line_of_its_own() -> None:
    """AsymPuzl's legend was scrolled in half of the figure; a screen that is wide has all names in a line or two."""
    few, many = (go.Figure([go.Scatter(y=[1], name=f"team {one}") for one in range(names)]) for names in (3, 9))
    told = [to_html(figure("f", styled(drawn, height=300))) for drawn in (few, many)]
    assert ["calc(300px + var(--narrow) * 0px)" in told[0], "calc(300px + var(--narrow) * 120px)" in told[1]] == [True, True]


def test_a_panel_of_a_team_has_a_title_of_short_lines() -> None:
    """Three panels share 420 pixels: the conditions of neighbours ran into each other."""
    lines = _title(TeamName("edge", "12 turns, starts from D1's wall, run 3")).split("<br>")
    assert lines[0] == "edge"
    assert max(len(line.removeprefix("<sup>").removesuffix("</sup>")) for line in lines) <= 15


@pytest.mark.parametrize("name", ["a" * 300, "team of many words " * 20])
def test_a_long_name_of_a_line_is_cut_at_its_end(name: str) -> None:
    """It took the whole figure, and where it began was cut off."""
    drawn = dot_plot([Dot(line=name, value=0.5, series=name), Dot(line="b", value=0.5, series="b")], Axis(title="score"))
    lines = drawn.layout.yaxis.ticktext[0].split("<br>")
    assert name.startswith(lines[0])
    assert lines[-1].endswith("…")
    assert max(map(len, lines)) <= 28
    assert len(lines) <= 3
    shown = drawn.data[0].name.split("<br>")
    assert max(map(len, shown)) <= 40
    assert sum(map(len, shown)) <= 64


def test_names_on_figures_keep_the_order_of_their_letters() -> None:
    """A mark for right-to-left in a team's name turned it round, as it does not in tables."""
    episodes = pl.DataFrame({"episode_id": ["a"], "task_id": ["t"], "model": ["x\u202egnp.exe"]})
    cells = pl.DataFrame({"episode_id": ["a"], "turn": [1], "outcome": ["followed"]})
    bars = pl.DataFrame(schema={"episode_id": pl.String, "start_turn": pl.Int64, "end_turn": pl.Int64, "kind": pl.String})
    assert "x�gnp.exe" in heat_map(episodes, cells, bars).layout.yaxis.ticktext[0]


@pytest.mark.browser
def test_the_head_of_a_phone_s_page_is_one_line_under_the_longest_name(page: Page, played_site: str) -> None:
    """The switch of light and dark stood alone on a second line where a page is named after its family."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{played_site}/remove-gap")
    page.wait_for_selector(".nav-open")
    height = "document.querySelector('header').offsetHeight"
    before = page.evaluate(height)
    page.evaluate("document.querySelector('.nav-open').textContent = 'LLM-Coordination'")
    assert page.evaluate(height) == before
