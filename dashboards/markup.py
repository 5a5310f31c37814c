"""Static parts of a page as HTML text: a browser takes one string much faster than thousands of components.

Pages are written with Dash's own `html` components. What is static in them (without an id no callback reads or writes it) travels as
one `Fragment` of escaped HTML. The same text makes reports as files and games in notebooks.
"""

from __future__ import annotations

import html as escape_html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from dash import dcc, html
from dash.development.base_component import Component

from schemas.text import without_control

__all__ = ["Fragment", "compact", "is_static", "svg", "to_html"]

_VOID: Final = frozenset({"br", "hr", "img", "input", "wbr"})
_ATTRIBUTES: Final = {"className": "class", "tabIndex": "tabindex", "colSpan": "colspan", "rowSpan": "rowspan", "htmlFor": "for"}
_LEFT_OUT: Final = frozenset({"children", "key", "n_clicks", "n_clicks_timestamp", "disable_n_clicks", "refresh"})
_LENGTH: Final = re.compile(r"(?<!^)(?=[A-Z])")
_TAG: Final = re.compile(r"[a-z][a-z0-9]*")

_BOUND: Final = (html.Summary, html.Legend)
"""Elements that must stand right inside their parent."""

Static = Any
"""Text, a number, None, a static component, an `svg` element, or a list of these."""


class Fragment(Component):
    """HTML that is put into the page as it is; everything in it has been escaped by `to_html`."""

    _children_props: ClassVar[list[str]] = []  # type: ignore[misc]
    _base_nodes: ClassVar[list[str]] = ["children"]  # type: ignore[misc]
    _namespace = "cotrace"
    _type = "Fragment"
    _prop_names: ClassVar[list[str]] = ["id", "html"]  # type: ignore[misc]
    _valid_wildcard_attributes: ClassVar[list[str]] = []  # type: ignore[misc]
    available_properties: ClassVar[list[str]] = ["id", "html"]
    available_wildcard_properties: ClassVar[list[str]] = []  # type: ignore[misc]

    def __init__(self, html: str) -> None:
        super().__init__(html=html)  # type: ignore[no-untyped-call]
        self.html = html


class svg:  # noqa: N801 - reads as `html.Div` does
    """An element of a drawing: `svg("circle", cx=3, cy=4, r=2)`; underscores in names stand for hyphens."""

    def __init__(self, tag: str, *children: Static, **attributes: str | float | None) -> None:
        if not _TAG.fullmatch(tag.lower()):
            raise ValueError(f"no element is called {tag!r}")
        self.tag = tag
        self.children = children
        self.attributes = attributes


def is_static(part: Static) -> bool:
    """Whether nothing in it needs a component of its own."""
    if isinstance(part, list | tuple):
        return all(map(is_static, part))
    if isinstance(part, Component):
        is_plain = type(part).__module__.startswith("dash.html") or isinstance(part, dcc.Link)
        return is_plain and not hasattr(part, "id") and is_static(getattr(part, "children", None))
    return True


def compact(part: Static) -> Any:
    """The same page with the largest possible static parts as fragments."""
    if isinstance(part, list | tuple):
        return list(_grouped(part))
    if part is None or isinstance(part, str | int | float):
        return part
    if is_static(part):
        return Fragment(to_html(part))
    if type(part).__module__.startswith("dash.html") and not isinstance(getattr(part, "children", None), str | int | float | None):
        part.children = compact(part.children)
    return part


def _grouped(parts: Sequence[Static]) -> Iterator[Any]:
    waiting: list[Static] = []
    for part in parts:
        if is_static(part) and not isinstance(part, _BOUND):
            waiting.append(part)
            continue
        if waiting:
            yield Fragment(to_html(waiting))
            waiting = []
        yield part if is_static(part) else compact(part)
    if waiting:
        yield Fragment(to_html(waiting))


def to_html(part: Static) -> str:
    """Escaped HTML of a static part.

    Raises:
        TypeError: something in it is no static part.
    """
    return "".join(_pieces(part))


def _pieces(part: Static) -> Iterator[str]:
    if part is None:
        return
    if isinstance(part, str | int | float):
        yield escape_html.escape(without_control(str(part)), quote=False)
    elif isinstance(part, list | tuple):
        for child in part:
            yield from _pieces(child)
    elif isinstance(part, svg):
        yield from _element(part.tag, {name.replace("_", "-"): value for name, value in part.attributes.items()}, part.children)
    elif isinstance(part, Fragment):
        yield part.html
    elif isinstance(part, Component):
        tag = "a" if isinstance(part, dcc.Link) else str(part._type).lower()  # noqa: SLF001 - Dash has no other name for it
        properties = {name: value for name, value in _properties(part).items() if name not in _LEFT_OUT}
        yield from _element(tag, properties, getattr(part, "children", None))
    else:
        raise TypeError(f"{type(part).__name__} is no static part")


def _element(tag: str, properties: Mapping[str, Any], children: Static) -> Iterator[str]:
    yield f"<{tag}"
    for name, value in properties.items():
        if value is None or value is False:
            continue
        text = "" if value is True else _style(value) if name == "style" else str(value)
        yield f' {_ATTRIBUTES.get(name, name)}="{escape_html.escape(without_control(text))}"'
    yield ">"
    if tag not in _VOID:
        yield from _pieces(children)
        yield f"</{tag}>"


def _properties(part: Component) -> dict[str, Any]:
    found: dict[str, Any] = part.to_plotly_json()["props"]  # type: ignore[no-untyped-call]
    return found


def _style(style: Mapping[str, Any] | str) -> str:
    if isinstance(style, str):
        return style
    return ";".join(f"{name if name.startswith('--') else _LENGTH.sub('-', name).lower()}:{value}" for name, value in style.items())
