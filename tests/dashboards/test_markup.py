"""Static parts as HTML: what is written is escaped, what a callback needs stays a component."""

from __future__ import annotations

import dash
import pytest
from dash import dcc

from dashboards.parts import Fragment, compact, html, svg, to_html
from tests.played import HOSTILE_TEXT


def test_texts_and_attributes_are_escaped() -> None:
    """Markup in a text, a title or a style stays text."""
    part = html.Div(HOSTILE_TEXT, title='"><script>', style={"gridArea": "1 / 2", "--x": '"'}, className="a")
    text = to_html(part)
    assert "<img" not in text
    assert "<script" not in text
    assert text.startswith('<div title="&quot;&gt;&lt;script&gt;" style="grid-area:1 / 2;--x:&quot;" class="a">') or 'class="a"' in text
    assert 'style="grid-area:1 / 2;--x:&quot;"' in text


def test_elements_of_every_kind() -> None:
    """Links (written so that they hold under any path), drawings, void elements, lists and nothing."""
    part = [
        html.A("go", href="/a?b=1&c=2"),
        html.Br(),
        None,
        3,
        svg("circle", cx=1, stroke_width=2),
        html.Details([html.Summary("s")], open=True),
    ]
    assert to_html(part) == (
        '<a href="./a?b=1&amp;c=2">go</a><br>3<circle cx="1" stroke-width="2"></circle><details open=""><summary>s</summary></details>'
    )


def test_what_is_live_stays_a_component() -> None:
    """An id, a graph or an input keep their parents alive; their neighbours travel as one text."""
    live = html.Div([html.P("a"), html.P("b"), html.Div([html.P("c"), dcc.Input(id="x")]), html.P("d")])
    compacted = compact(live)
    kinds = [type(child) for child in compacted.children]
    assert kinds == [Fragment, dash.html.Div, Fragment]
    assert compacted.children[0].html == "<p>a</p><p>b</p>"
    assert type(compacted.children[1].children[1]) is dcc.Input


def test_what_is_no_part_is_refused() -> None:
    """A dictionary, or an element whose name is not one."""
    with pytest.raises(TypeError, match="dict is not a part"):
        to_html({"a": 1})
    with pytest.raises(ValueError, match="no element is called"):
        svg("b onload=x")
