"""Parts that pages are made of, and their HTML."""

from __future__ import annotations

import html as escape_html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from dash import dcc, html
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
_LEFT_OUT: Final = frozenset({"children", "key", "n_clicks", "n_clicks_timestamp", "disable_n_clicks", "refresh"})
_LENGTH: Final = re.compile(r"(?<!^)(?=[A-Z])")
_TAG: Final = re.compile(r"[a-z][a-z0-9]*")

_TEXT: Final = (str, int, float)
_PLAIN: Final = "dash_html_components"
"""What Dash calls the elements of HTML."""

_BOUND: Final = (html.Summary, html.Legend)
"""Elements that must stand right inside their parent."""


class Html(Escaped):
    """HTML; what is put into it stands there as text, in elements and in quoted attributes."""

    __slots__ = ()

    @classmethod
    def escape(cls, text: str) -> str:
        """The text without control characters, its signs as entities."""
        return escape_html.escape(without_control(text))


Static = Any
"""Text, a number, None, a static component, an `svg` element, or a list of these."""


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


class svg:  # noqa: N801 - reads as `html.Div` does
    """An element of a drawing: `svg("circle", cx=3, cy=4, r=2)`; underscores in names stand for hyphens."""

    def __init__(self, tag: str, *children: Static, **attributes: str | float | None) -> None:
        if not _TAG.fullmatch(tag.lower()):
            raise ValueError(f"no element is called {tag!r}")
        self.tag = tag
        self.children = children
        self.attributes = attributes


def is_static(part: Static, known: dict[int, bool] | None = None) -> bool:
    """Whether nothing in it needs a component of its own; `known`: what has been found of components already, by id."""
    if isinstance(part, _TEXT):
        return True
    known = {} if known is None else known
    if isinstance(part, list | tuple):
        return all(is_static(child, known) for child in part)
    if not isinstance(part, Component):
        return True
    if id(part) not in known:
        children = is_static(vars(part).get("children"), known)
        is_plain = part._namespace == _PLAIN or isinstance(part, dcc.Link)  # noqa: SLF001 - Dash has no other name for it
        known[id(part)] = children and is_plain and "id" not in vars(part)
    return known[id(part)]


def compact(part: Static, known: dict[int, bool] | None = None) -> Any:
    """The same page with the largest possible static parts as fragments; `known` as in `is_static`."""
    known = {} if known is None else known
    if isinstance(part, list | tuple):
        return list(_grouped(part, known))
    if part is None or isinstance(part, _TEXT):
        return part
    if is_static(part, known):
        return Fragment(to_html(part))
    for name in _ADDRESSES & vars(part).keys():
        setattr(part, name, _relative(getattr(part, name)))
    if part._namespace == _PLAIN and not isinstance(getattr(part, "children", None), (*_TEXT, type(None))):  # noqa: SLF001
        part.children = compact(part.children, known)
    return part


def _grouped(parts: Sequence[Static], known: dict[int, bool]) -> Iterator[Any]:
    waiting: list[Static] = []
    for part in parts:
        is_whole = is_static(part, known)
        if is_whole and not isinstance(part, _BOUND):
            waiting.append(part)
            continue
        if waiting:
            yield Fragment(to_html(waiting))
            waiting = []
        yield part if is_whole else compact(part, known)
    if waiting:
        yield Fragment(to_html(waiting))


def to_html(part: Static) -> Html:
    """Escaped HTML of a static part.

    Raises:
        TypeError: something in it is no static part.
    """
    pieces: list[str] = []
    _write(part, pieces)
    return Html.own("".join(pieces))


def _write(part: Static, pieces: list[str]) -> None:
    """Lists in place of generators, and no account of Dash's own: a page has some thousand parts, and each step of each reader one page."""
    if part is None:
        return
    if isinstance(part, _TEXT):
        pieces.append(escape_html.escape(without_control(str(part)), quote=False))
    elif isinstance(part, list | tuple):
        for child in part:
            _write(child, pieces)
    elif isinstance(part, svg):
        _write_element(part.tag, {name.replace("_", "-"): value for name, value in part.attributes.items()}, part.children, pieces)
    elif isinstance(part, Fragment):
        pieces.append(part.html)
    elif isinstance(part, Component):
        tag = "a" if isinstance(part, dcc.Link) else str(part._type).lower()  # noqa: SLF001 - Dash has no other name for it
        known = part._prop_names  # noqa: SLF001 - it is set by each class
        given = {name: value for name, value in vars(part).items() if name in known or name.startswith(("data-", "aria-"))}
        _write_element(tag, given, given.get("children"), pieces)
    else:
        raise TypeError(f"{type(part).__name__} is no static part")


def _write_element(tag: str, properties: Mapping[str, Any], children: Static, pieces: list[str]) -> None:
    pieces.append(f"<{tag}")
    for name, value in properties.items():
        if value is None or value is False or name in _LEFT_OUT:
            continue
        text = "" if value is True else _style(value) if name == "style" else str(value)
        text = _relative(text) if name in _ADDRESSES else text
        pieces.append(f' {_ATTRIBUTES.get(name, name)}="{escape_html.escape(without_control(text))}"')
    pieces.append(">")
    if tag not in _VOID:
        _write(children, pieces)
        pieces.append(f"</{tag}>")


def _relative(address: str) -> str:
    """All pages are one level deep: so written, links hold under whatever path a proxy serves them."""
    return f".{address}" if address.startswith("/") else address


def _style(style: Mapping[str, Any] | str) -> str:
    if isinstance(style, str):
        return style
    return ";".join(f"{name if name.startswith('--') else _LENGTH.sub('-', name).lower()}:{value}" for name, value in style.items())


Part = Any
"""A Dash component; Dash ships no types."""


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
    """A figure; points whose customdata begins with an address lead there when clicked.

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
                    html.Button(
                        kind.upper(),
                        className="quiet",
                        **data(picture=kind),
                        **aria(label=f"save the figure {label or name} as {kind.upper()}"),
                    )
                    for kind in ("svg", "pdf", "png")
                ],
                className="figure-files",
            ),
            html.P(caption, className="caption") if caption else None,
        ],
        className="figure",
        role="group",
        **aria(label=label or name.replace("-", " ")),
    )


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
    links = [dcc.Link(text, href=address.to(**{"from": at or None}), className="choice") for text, at in steps if 0 <= at < total]
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
