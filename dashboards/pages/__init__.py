"""The pages, one module each: PATH, TITLE, IN_MENU and `content(read)`; one with buttons of its own has `register` too.

A page about one benchmark names it (BENCHMARK): the menu shows it where the store has games of it.

To add one, write its module and list it here.
"""

from __future__ import annotations

from types import ModuleType

from dashboards.asympuzl import page as asympuzl
from dashboards.coordination import page as coordination
from dashboards.craft import remove_gap
from dashboards.einstein import page as einstein
from dashboards.overcooked import page as overcooked
from dashboards.pages import failures, game, judges, labelling, overview, spirals, turns

__all__ = ["PAGES"]

PAGES: tuple[ModuleType, ...] = (
    overview,
    failures,
    remove_gap,
    spirals,
    judges,
    labelling,
    turns,
    asympuzl,
    einstein,
    overcooked,
    coordination,
    game,
)
"""In the order of the menu."""
