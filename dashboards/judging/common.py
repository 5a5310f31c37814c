"""What the sections share: which judge is looked at, the words of an advice, and dots of estimates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dash import html

from dashboards.figures.dots import Axis, Dot, dot_plot
from dashboards.parts import Part, link_choices, note
from schemas.text import printable, where_option
from schemas.wording import in_words

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from dashboards.address import Address

__all__ = ["WHOLE_STORE", "choices", "chosen", "command_about", "dots", "nothing_yet", "words_of"]

WHOLE_STORE = "Over all games of the store: the filters above do not narrow this section."


def words_of(rows: pl.DataFrame, *leave_out: str) -> pl.Series:
    """The column `words`: the advice without what it is about and without numbers that stand in columns of their own.

    Args:
        rows: with the column advice: `what it is about: words`.
        leave_out: regular expressions; what the words begin with is cut if it matches one of them.
    """
    import polars as pl

    told = (advice.partition(": ")[2] for advice in rows["advice"])
    return pl.Series("words", [re.sub(f"^(?:{'|'.join(leave_out)})", "", text) if leave_out else text for text in told], dtype=pl.String)


def command_about(report: str, rubric: str) -> str:
    """The command of a report's rows about a rubric."""
    return f"cotrace report {report} {where_option('rubric', rubric)}"


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


def dots(rows: pl.DataFrame, axis: Axis, *, n_of: str = "units") -> go.Figure:
    """A line for each place, a dot for each of its series, with intervals.

    Args:
        rows: at: the line, shown in words; series: what gets a colour of its own; value, low, high: the estimate, null where there is none.
            If they are there, link: where a click leads; hollow: rings in the colour of the series before; n: how many it rests on.
        axis: what is measured.
        n_of: what `n` counts.
    """
    drawn = [
        Dot(
            line=in_words(printable(str(row["at"]))),
            series=printable(str(row["series"])),
            value=row["value"],
            low=row["low"],
            high=row["high"],
            link=row.get("link") or "",
            is_hollow=bool(row.get("hollow")),
            n=row.get("n"),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(drawn, axis, n_of=n_of)
