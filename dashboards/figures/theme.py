"""How figures look: one palette, one template, intervals and counts drawn the same way everywhere."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["CATEGORY_COLORS", "INK", "MODEL_COLORS", "MUTED", "color_of", "empty_figure", "plain", "styled"]

INK = "#1d2433"
MUTED = "#6b7385"
GRID = "#e7eaf0"

MODEL_COLORS: tuple[str, ...] = (
    "#3b6fb6",
    "#d9822b",
    "#2f9e78",
    "#b84a62",
    "#7a5fb5",
    "#5b8c9c",
    "#a3803d",
    "#4d5a73",
    "#c774b2",
    "#6f8f2f",
    "#8b5e4a",
    "#2aa6c9",
)
"""The first eight are told apart with any common colour vision; after the last they start again."""

CATEGORY_COLORS: dict[str, str] = {
    "correct": "#2f9e78",
    "no_error": "#2f9e78",
    "none_of_these": "#2f9e78",
    "followed": "#2f9e78",
    "not_followed": "#d9822b",
    "wrong_position": "#d9822b",
    "wrong_block_color": "#b84a62",
    "wrong_color": "#b84a62",
    "wrong_size": "#e0a458",
    "wrong_color_and_size": "#8c3a63",
    "wrong_span": "#b39ddb",
    "wrong_layer": "#5b8c9c",
    "engine_layer_error": "#5b8c9c",
    "engine_span_error": "#7a5fb5",
    "engine_other_error": "#4d5a73",
    "engine_format_error": "#4d5a73",
    "engine_empty_cell_error": "#8d6e63",
    "engine_execution_error": "#37474f",
    "engine_block_error": "#a1887f",
    "accepted": "#8fb8a8",
    "refused": "#b84a62",
    "clarify": "#3b6fb6",
    "no_oracle": "#b3bac8",
    "no_oracle_or_attempt": "#b3bac8",
    "no_move": "#8a93a6",
    "repeated_failure": "#b84a62",
    "undo_loop": "#7a5fb5",
    "over_removal": "#d9822b",
    "stall": "#5b8c9c",
}
"""Colours of categories that mean the same on every page; others take the palette's."""


def plain(text: object) -> str:
    """Text from a log for a figure: figures read a small markup, so it is escaped."""
    return html.escape(str(text), quote=False)


def color_of(name: str, order: Sequence[str]) -> str:
    """The colour of a category or model; the same name has the same colour on every page with the same order."""
    if name in CATEGORY_COLORS:
        return CATEGORY_COLORS[name]
    return MODEL_COLORS[list(order).index(name) % len(MODEL_COLORS)] if name in order else MUTED


def styled(figure: go.Figure, *, height: int = 380, legend: bool = True) -> go.Figure:
    """Give a figure the look of the house."""
    figure.update_layout(
        template="plotly_white",
        height=height,
        font={"family": "Inter, 'Segoe UI', system-ui, -apple-system, sans-serif", "size": 13, "color": INK},
        colorway=MODEL_COLORS,
        margin={"l": 60, "r": 20, "t": 30, "b": 50},
        showlegend=legend,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None, "traceorder": "normal"},
        hoverlabel={"bgcolor": "white", "font_size": 12},
        bargap=0.25,
        plot_bgcolor="white",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True)
    return figure


def empty_figure(note: str) -> go.Figure:
    """A figure that says why there is nothing to draw."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_annotation(text=plain(note), showarrow=False, font={"size": 14, "color": MUTED})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return styled(figure, height=220, legend=False)
