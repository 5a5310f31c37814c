"""What the sections share: one way to write an estimate, one way to draw it, and which judge is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dash import html

from dashboards.figures.theme import MODEL_COLORS, plain, styled
from dashboards.parts import Part, link_choices, note

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from dashboards.address import Address

__all__ = ["WHOLE_STORE", "choices", "chosen", "dots", "estimates", "nothing_yet", "two_digits", "words_of"]

WHOLE_STORE = "Over all games of the store: the filters above do not narrow this section."


def two_digits(value: float | None) -> str:
    """A share or a coefficient in a table cell; a dash where there is none."""
    return "–" if value is None else f"{value:.2f}"


def estimates(rows: pl.DataFrame, stems: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    """The rows with each estimate as one text, `0.62 (0.55 to 0.70)`; without an interval the number alone.

    Args:
        rows: with the estimates and their ends as columns.
        stems: column of the estimate -> columns of the two ends.
    """
    import polars as pl

    texts = [
        pl.Series(name, [_estimate(*values) for values in rows.select(name, low, high).iter_rows()], dtype=pl.String)
        for name, (low, high) in stems.items()
    ]
    return rows.with_columns(texts)


def _estimate(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return two_digits(value)
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def words_of(rows: pl.DataFrame, *leave_out: str) -> pl.Series:
    """The column `words`: the advice without what it is about and without numbers that stand in columns of their own.

    Args:
        rows: with the column advice: `what it is about: words`.
        leave_out: regular expressions; what the words begin with is cut if it matches one of them.
    """
    import polars as pl

    told = (advice.partition(": ")[2] for advice in rows["advice"])
    return pl.Series("words", [re.sub(f"^(?:{'|'.join(leave_out)})", "", text) if leave_out else text for text in told], dtype=pl.String)


def chosen(asked: str, known: Sequence[str]) -> str:
    """What the address asks for, if there is such a thing, else the first."""
    return asked if asked in known else known[0]


def choices(address: Address, label: str, key: str, known: Mapping[str, str], now: str) -> Part:
    """Links that set one key of the address.

    Args:
        address: of this page.
        label: what is chosen.
        key: of the address.
        known: value -> its text.
        now: the chosen value.
    """
    return link_choices(label, [(text, address.to(**{key: value}), value == now) for value, text in known.items()])


def nothing_yet(text: str, *commands: str) -> Part:
    """What a section says before there is anything to show, with the commands that change that."""
    return note(text, html.Pre("\n".join(commands)) if commands else None)


def dots(rows: pl.DataFrame, *, title: str, span: tuple[float, float] = (0, 1)) -> go.Figure:
    """A dot with its interval for each row that has an estimate, side by side where rows share their place.

    Args:
        rows: at: the place on the x axis; series: what gets a colour of its own; value, low, high: the estimate, null where there is none.
            If they are there, link: where a click leads; hollow: dots are rings in the colour of the series before.
        title: of the y axis.
        span: of the y axis.
    """
    import plotly.graph_objects as go

    drawn = go.Figure()
    known = rows.filter(rows["value"].is_not_null())
    place = -1
    for name in rows["series"].unique(maintain_order=True):
        part = known.filter(known["series"] == name)
        hollow = "hollow" in part.columns and part["hollow"].any()
        place += not hollow
        if part.is_empty():
            continue
        color = MODEL_COLORS[place % len(MODEL_COLORS)]
        ends = {"array": part["high"] - part["value"], "arrayminus": part["value"] - part["low"]}
        links = part["link"] if "link" in part.columns else [""] * len(part)
        told = [_estimate(*values) for values in part.select("value", "low", "high").iter_rows()]
        drawn.add_scatter(
            x=[plain(at) for at in part["at"]],
            y=part["value"].to_list(),
            name=plain(name),
            mode="markers",
            marker={"size": 9, "color": "white" if hollow else color, "line": {"color": color if hollow else "white", "width": 1.5}},
            error_y={"type": "data", "symmetric": False, "color": color, "thickness": 1.5, "width": 3}
            | {key: values.fill_null(0).clip(0).to_list() for key, values in ends.items()},
            customdata=[list(pair) for pair in zip(links, told, strict=True)],
            hovertemplate="%{x}, %{fullData.name}: %{customdata[1]}<extra></extra>",
        )
    drawn.update_layout(scattermode="group", scattergap=0.5)
    drawn.update_xaxes(type="category", categoryorder="array", categoryarray=[plain(at) for at in rows["at"].unique(maintain_order=True)])
    drawn.update_yaxes(title=title, range=[span[0] - 0.03, span[1] + 0.03])
    return styled(drawn, height=340)
