"""A page as one self-contained HTML file: its sentences, figures that draw themselves without a network, its tables written out."""

from __future__ import annotations

import html as escape_html
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from dash import dcc, html
from dash.development.base_component import Component

from dashboards.address import Address
from dashboards.document import drawn_place, packed_plotly, script_of_figures, style_sheet
from dashboards.drawing import draw_page
from dashboards.markup import Fragment, Static, svg, to_html
from dashboards.parts import Part
from schemas.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from schemas.store import Store

__all__ = ["page_file"]

_LEFT_OUT: Final = frozenset(
    {"Button", "Checklist", "Download", "Dropdown", "Form", "Input", "Location", "RadioItems", "Store", "Textarea"}
)
"""What a file has no use for: it answers to nobody."""


_PRINT: Final = """
const places = [...document.querySelectorAll('.plotly-graph-div')];
const drawn = setInterval(() => {
  if (!places.every(place => place.querySelector('.main-svg'))) return;
  clearInterval(drawn);
  window.print();
}, 100);
"""


def page_file(store: Store, address: Address, rubric_folders: Sequence[Path] = (), *, prints: bool = False, raises: bool = False) -> str:
    """The page of an address as a document. Links to other pages become text: a file has no store beside it.

    Args:
        store: what to show.
        address: of the page.
        rubric_folders: folders with rubrics of the user's own.
        prints: it opens the browser's dialogue for printing as soon as its figures are drawn.
        raises: what fails while the page is drawn is raised; otherwise the page shows it.

    Raises:
        StoreError: the store cannot be read.
    """
    drawn = draw_page(store, address, rubric_folders, raises=raises)
    frozen = _Frozen()
    content = to_html(frozen(drawn.content))
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    title = escape_html.escape(printable(drawn.title))
    told = escape_html.escape(printable(f"cotrace, {store.path.name}, {address.to()}, {made}"))
    script = f"{packed_plotly()}<script>{script_of_figures()}</script>" if frozen.figures else ""
    script += f"<script>{_PRINT}</script>" if prints else ""
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{title} – cotrace</title><style>{style_sheet()}</style></head>"
        f"<body><main id='page'><p class='hint'>{told}</p>{content}</main>{script}</body></html>"
    )


class _Frozen:
    """Turns a page into static parts."""

    def __init__(self) -> None:
        self.figures = 0

    def __call__(self, part: Part) -> Static:
        if isinstance(part, list | tuple):
            return [self(child) for child in part]
        if isinstance(part, svg):
            return None if part.tag in {"input", "textarea"} else svg(part.tag, *map(self, part.children), **part.attributes)
        if isinstance(part, dcc.Graph):
            self.figures += 1
            graph: Any = part
            return Fragment(drawn_place(f"figure-{self.figures}", graph.figure))
        if isinstance(part, Component) and not isinstance(part, Fragment):
            return self._component(part)
        return part

    def _component(self, part: Component) -> Static:
        kind = str(part._type)  # noqa: SLF001 - Dash has no other name for it
        if kind in _LEFT_OUT:
            return None
        known: dict[str, Any] = part.to_plotly_json()["props"]  # type: ignore[no-untyped-call]
        properties = {name: value for name, value in known.items() if name not in {"children", "id"}}
        if kind in {"A", "Link"}:
            kind, properties = "Span", {name: value for name, value in properties.items() if name not in {"href", "target", "refresh"}}
        if kind == "Loading":
            kind, properties = "Div", {}
        return getattr(html, kind)(self(getattr(part, "children", None)), **properties)
