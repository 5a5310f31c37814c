"""The pages, one module each: PATH, TITLE, IN_MENU, ORDER and `content(read)`; one with buttons of its own has `register` too.

A page of all benchmarks is a module of this folder, one about a family is `dashboards.<family>.page` and names it (BENCHMARK): the menu
shows it where the store has games of it, beside the pages of all families if it says IN_MAIN_MENU. ORDER is its place in the menu. A page
whose figures are in `cotrace report all` and in `Store.plot` names them (FIGURES: report -> function that draws it from a reader). One
with sections that take long names their addresses (`ahead(read)`), so that they are found out before somebody opens them. To add a page,
write its module.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from schemas.families import modules


@cache
def pages() -> tuple[ModuleType, ...]:
    """All pages in the order of the menu."""
    general = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    of_families = [module for _, module in modules("dashboards", "page")]
    return tuple(sorted((page for page in (*general, *of_families) if hasattr(page, "PATH")), key=lambda page: page.ORDER))
