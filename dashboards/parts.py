"""Parts that pages are made of, and their HTML."""

from __future__ import annotations

import html as escape_html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import dash
from dash import dcc
from dash.development.base_component import Component

from schemas.common.text import Escaped, without_control
from schemas.common.wording import NOTHING, count, share

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from dashboards.address import Address
    from dashboards.reader import Reader

_VOID: Final = frozenset({"br", "hr", "img", "input", "wbr"})
_ATTRIBUTES: Final = {"className": "class", "tabIndex": "tabindex", "colSpan": "colspan", "rowSpan": "rowspan", "htmlFor": "for"}
_ADDRESSES: Final = frozenset({"href", "action"})
_LENGTH: Final = re.compile(r"(?<!^)(?=[A-Z])")
_TAG: Final = re.compile(r"[a-z][a-z0-9]*")
_TEXT: Final = (str, int, float)
_BOUND: Final = frozenset({"summary", "legend"})
"""Elements that must stand right inside their parent."""


class Html(Escaped):
    """HTML; what is put into it stands there as text, in elements and in quoted attributes."""

    __slots__ = ()

    @classmethod
    def escape(cls, text: str) -> str:
        """The text without control characters, its signs as entities."""
        return escape_html.escape(without_control(text))


Static = Any
"""Text, a number, None, an element without a live part, a fragment, or a list of these."""


class Fragment(Component):
    """HTML that is put into the page as it is; everything in it has been escaped.

    Raises:
        TypeError: it is a plain text.
    """

    _children_props: ClassVar[list[str]] = []  # type: ignore[misc]
    _base_nodes: ClassVar[list[str]] = ["children"]  # type: ignore[misc]
    _namespace = "cotrace"
    _type = "Fragment"
    _prop_names: ClassVar[list[str]] = ["id", "html"]  # type: ignore[misc]
    _valid_wildcard_attributes: ClassVar[list[str]] = []  # type: ignore[misc]
    available_properties: ClassVar[list[str]] = ["id", "html"]
    available_wildcard_properties: ClassVar[list[str]] = []  # type: ignore[misc]

    def __init__(self, html: Html) -> None:
        super().__init__(html=Html.taken(html))  # type: ignore[no-untyped-call]
        self.html = html


class Element:
    """An element of a page, written as HTML here: of the thousand on a page only live ones become components of Dash, which cost more."""

    __slots__ = ("attributes", "children", "is_live", "tag")

    def __init__(self, tag: str, children: Static = None, /, **attributes: Any) -> None:
        self.tag = tag
        self.children = children
        self.attributes = attributes
        self.is_live = "id" in attributes or _is_live(children)
        """A callback needs it, or something in it."""

    def __repr__(self) -> str:
        return f"{self.tag}({self.children!r}, {self.attributes})"


class _Html:
    """`html.Div(children, className="a")`: the elements of HTML, with the attributes as Dash writes them."""

    def __getattr__(self, name: str) -> Callable[..., Part]:
        made = partial(Element, name.lower())
        setattr(self, name, made)
        return made


html: Final = _Html()


def svg(tag: str, *children: Static, **attributes: str | float | None) -> Element:
    """An element of a drawing: `svg("circle", cx=3, cy=4, r=2)`; underscores in names stand for hyphens, and an id makes nothing live.

    Raises:
        ValueError: that does not name an element.
    """
    if not _TAG.fullmatch(tag.lower()):
        raise ValueError(f"no element is called {tag!r}")
    drawn = Element(tag, children, **{name.replace("_", "-"): value for name, value in attributes.items()})
    drawn.is_live = False
    return drawn


def _is_live(part: Static) -> bool:
    if part is None or isinstance(part, _TEXT):
        return False
    if isinstance(part, Element):
        return part.is_live
    if isinstance(part, list | tuple):
        return any(map(_is_live, part))
    return not isinstance(part, Fragment)


def compact(part: Static) -> Any:
    """The same page as Dash can send it, the largest possible parts without anything live as fragments."""
    if isinstance(part, list | tuple):
        return list(_grouped(part))
    if part is None or isinstance(part, _TEXT):
        return part
    if not _is_live(part):
        return part if isinstance(part, Fragment) else Fragment(to_html(part))
    return _component(part) if isinstance(part, Element) else part


def _component(element: Element) -> Component:
    attributes = {name: _relative(value) if name in _ADDRESSES else value for name, value in element.attributes.items()}
    made: Component = getattr(dash.html, element.tag.capitalize())(compact(element.children), **attributes)
    return made


def _grouped(parts: Sequence[Static]) -> Iterator[Any]:
    waiting: list[Static] = []
    for part in parts:
        is_bound = isinstance(part, Element) and part.tag in _BOUND
        if not is_bound and not _is_live(part):
            waiting.append(part)
            continue
        if waiting:
            yield Fragment(to_html(waiting))
            waiting = []
        yield _component(part) if is_bound else compact(part)
    if waiting:
        yield Fragment(to_html(waiting))


def to_html(part: Static) -> Html:
    """Escaped HTML of a part; a component of Dash's is an element of its name, as it is in the page before it lives.

    Raises:
        TypeError: something in it is not a part.
    """
    pieces: list[str] = []
    _write(part, pieces)
    return Html.own("".join(pieces))


def _write(part: Static, pieces: list[str]) -> None:
    if part is None:
        return
    if isinstance(part, Element):
        pieces.append(_opening(part))
        if part.tag not in _VOID:
            _write(part.children, pieces)
            pieces.append(f"</{part.tag}>")
    elif isinstance(part, _TEXT):
        pieces.append(escape_html.escape(without_control(str(part)), quote=False))
    elif isinstance(part, list | tuple):
        for child in part:
            _write(child, pieces)
    elif isinstance(part, Fragment):
        pieces.append(part.html)
    elif isinstance(part, Component):
        attributes = {name: value for name, value in vars(part).items() if name in part._prop_names and name != "children"}  # noqa: SLF001
        _write(Element(str(part._type).lower(), getattr(part, "children", None), **attributes), pieces)  # noqa: SLF001 - Dash has no other name
    else:
        raise TypeError(f"{type(part).__name__} is not a part")


def _opening(element: Element) -> str:
    attributes = [
        _attribute(name, _style(value) if name == "style" else "" if value is True else str(value))
        for name, value in element.attributes.items()
        if value is not None and value is not False
    ]
    return f"<{element.tag}{''.join(attributes)}>"


@lru_cache(4096)
def _attribute(name: str, value: str) -> str:
    """Pages repeat most of theirs."""
    value = _relative(value) if name in _ADDRESSES else value
    return f' {_ATTRIBUTES.get(name, name)}="{escape_html.escape(without_control(value))}"'


def _relative(address: str) -> str:
    """All pages are one level deep: so written, links hold under whatever path a proxy serves them."""
    return f".{address}" if address.startswith("/") else address


def _style(style: Mapping[str, Any] | str) -> str:
    if isinstance(style, str):
        return style
    return ";".join(f"{name if name.startswith('--') else _LENGTH.sub('-', name).lower()}:{value}" for name, value in style.items())


Part = Any
"""Whatever a page can hold: static parts, elements, Dash's components."""


def aria(**values: str) -> Any:
    """Attributes for people who do not see the page: `html.Nav(..., **aria(label="Pages"))`."""
    return {f"aria-{name}": value for name, value in values.items()}


def data(**values: str) -> Any:
    """Attributes that scripts and style sheets read: `html.Li(..., **data(turn="3"))`."""
    return {f"data-{name}": value for name, value in values.items()}


def card(title: str, *children: Part, hint: str = "", lead: Part = None, menu: Part = None, wide: bool = False) -> Part:
    """A titled box.

    Args:
        title: what it is about.
        children: its content.
        hint: how to read it.
        lead: what it says, in a sentence.
        menu: what stands at the right of the title, such as files of its table.
        wide: over the whole width, where cards stand side by side.
    """
    head = [html.Div([html.H2(title), menu], className="card-head")] if title else []
    said = [html.P(lead, className="card-lead")] if lead else []
    read = [html.P(hint, className="hint")] if hint else []
    return html.Section([*head, *said, *read, *children], className="card wide" if wide else "card")


_LEGEND_ROOM, _LEGEND_LINE = 3, 20
"""Names of a legend for which a figure has room, and pixels of a line: on a narrow screen each has its own."""


def figure(name: str, chart: go.Figure, *, label: str = "", caption: str = "") -> Part:
    """A figure; points whose customdata has an address lead there when clicked, as do the links of its list of marks (`assets/marks.js`).

    Args:
        name: its id.
        chart: what is drawn.
        label: what screen readers call it, beside the table that says the same.
        caption: what stands below it, on the page and in its files: what it shows, of how many, by which method.
    """
    config: Any = {"displayModeBar": False, "responsive": True, "showTips": False}
    return html.Div(
        [
            dcc.Graph(
                id={"type": "figure", "name": name},
                figure=chart,
                config=config,
                responsive=True,
                style={"height": f"calc({chart.layout.height or 380}px + var(--narrow) * {_legend_lines(chart) * _LEGEND_LINE}px)"},
            ),
            html.Div(
                [
                    html.Details(
                        [html.Summary("marks", **aria(label=f"marks of the figure {label or name} as links")), html.Div()],
                        className="menu",
                        **data(marks=""),
                    )
                    if _leads(chart)
                    else None,
                    *(
                        html.Button(
                            kind.upper(),
                            className="quiet",
                            **data(picture=kind),
                            **aria(label=f"save the figure {label or name} as {kind.upper()}"),
                        )
                        for kind in ("svg", "pdf", "png")
                    ),
                ],
                className="figure-files",
            ),
            html.P(caption, className="caption") if caption else None,
        ],
        className="figure",
        role="group",
        **aria(label=label or name.replace("-", " ")),
    )


def _leads(chart: go.Figure) -> bool:
    """Whether a mark leads somewhere."""
    points = (point if isinstance(point, list | tuple) else [point] for trace in chart.data for point in trace.customdata or ())
    return any(isinstance(one, str) and one.startswith("/") for point in points for one in point)


def _legend_lines(chart: go.Figure) -> int:
    """Lines that the legend takes where each name has one of its own, beyond those that any figure has room for."""
    named = sum(trace.showlegend is not False and bool(trace.name) for trace in chart.data) if chart.layout.showlegend else 0
    return max(0, named - _LEGEND_ROOM)


class Later(NamedTuple):
    """A card that is drawn on its own, so that it holds nothing else up and its failure is its own; a page lists its own in `LATER`."""

    name: str
    draw: Callable[[Reader, str], Part]
    """From the reader, and the part of the page where it stands, empty where there is one."""
    height: int = 240
    """What it will be about, in pixels, so that nothing jumps."""

    def __call__(self, read: Reader, part: str = "") -> Part:
        """The card, where the page is drawn as a whole; else its place."""
        if read.is_whole:
            return self.draw(read, part)
        place = {"name": self.name, "part": part}
        waiting = html.Div(className="card waiting", style={"minHeight": f"{self.height}px"})
        return html.Div(
            [dcc.Store(id={"type": "ask", **place}, data=read.address.to()), waiting], id={"type": "later", **place}, className="later"
        )


def note(text: str, *children: Part) -> Part:
    """A helpful line in place of content; commands in it stand between backticks, as in the terminal."""
    said = [html.Code(part) if place % 2 else part for place, part in enumerate(text.split("`"))] if text.count("`") % 2 == 0 else text
    return html.Div([html.P(said), *children], className="note")


def stat(label: str, value: str, detail: Part = "") -> Part:
    """One number with its label."""
    return html.Div(
        [html.Div(value, className="stat-value"), html.Div(label, className="stat-label"), html.Div(detail, className="stat-detail")],
        className="stat",
    )


def stat_of(label: str, part: int, whole: int) -> Part:
    """A share with its label and, below, what it is made of."""
    return stat(label, share(part / whole) if whole else NOTHING, f"{count(part)} of {count(whole)}")


def pager(address: Address, start: int, size: int, total: int, what: str) -> Part:
    """Where one is in a long list, and the ways to the pages before and after: `?from=`."""
    steps = [("← before", start - size), ("after →", start + size)]
    links = [html.A(text, href=address.to(**{"from": at or None}), className="choice") for text, at in steps if 0 <= at < total]
    shown = f"{what} {count(min(start + 1, total))} to {count(min(start + size, total))} of {count(total)}"
    return html.Div([html.Span(shown, className="choices-label"), *links], className="choices")


_MANY = 7
"""Alternatives from which on a row of them would be a wall: they are folded behind the chosen one."""


def link_choices(label: str, choices: Sequence[tuple[str, str, bool]]) -> Part:
    """A row of alternatives, or of many a list behind the chosen one: (text, address, chosen)."""
    links = [
        html.A(text, href=href, className="choice chosen" if chosen else "choice", **(aria(current="true") if chosen else {}))
        for text, href, chosen in choices
    ]
    said = html.Span(label, className="choices-label")
    if len(choices) <= _MANY:
        return html.Div([said, *links], className="choices", role="group", **aria(label=label))
    now = next((text for text, _, chosen in choices if chosen), "choose")
    return html.Div([said, html.Details([html.Summary(now, className="choice"), html.Div(links)], className="menu")], className="choices")
