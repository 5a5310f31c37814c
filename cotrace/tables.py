"""Rows as a table: one that fits a terminal, or, into a file or a pipe, one that is complete."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cotrace.terminal import echo, is_terminal
from schemas.common import wording
from schemas.common.text import printable, strike

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

SCREEN: Final = 0
"""As many rows as fit a screen or two."""

_WIDEST_CELL: Final = 60
_WIDEST_PADDING: Final = 40
"""In a file: cells that are longer stand out of their column, so that one long text does not make all rows as long."""
_NARROWEST_TEXT: Final = 10
"""Characters to which a text column may be folded."""
_GRID_ROWS: Final = 40
_BLOCK_LINES: Final = 80
_GAP: Final = 3
_NARROW_GAP: Final = 1
"""Between columns that would not fit otherwise."""
_SHARES: Final = ("_rate", "share", "_share")
"""Ends of the names of shares of counts, which are written in percent."""
_WORDS: Final = frozenset({"condition", "category", "outcome", "kind"})

_Ends = Mapping[str, tuple[str, str]]


def draw(rows: pl.DataFrame, columns: Sequence[str], units: Mapping[str, str], most: int | None = None) -> int:
    """Print these columns as a table; gives how many rows.

    On a terminal numbers stand as in print, an interval in the cell of its number, long texts folded and headings broken; what is wider
    all the same stands as a block of lines a row. Into a file or a pipe every row is one line with every letter of its cells.

    Args:
        rows: what to print; control characters of texts are dropped.
        columns: of them, in this order.
        units: column -> unit, where known.
        most: rows; None: all; `SCREEN`: a screen or two.
    """
    from rich.console import Console

    console = Console()
    if not is_terminal():
        shown = rows if most is None else rows.head(most or _GRID_ROWS)
        _print_lines(columns, [[_cell(row, name, units, {}, in_print=False) for name in columns] for row in shown.iter_rows(named=True)])
        return shown.height
    ends = {name: pair for name, pair in _ends(rows.columns).items() if not set(pair) & set(columns)}
    limit = rows.height if most is None else most or _GRID_ROWS
    cells = _cut([[_cell(row, name, units, ends, in_print=True) for name in columns] for row in rows.head(limit).iter_rows(named=True)])
    numeric = [rows.schema[name].is_numeric() for name in columns]
    if not cells:
        return 0
    if _width(_least_widths(columns, cells, numeric), _NARROW_GAP) <= console.width:
        _print_grid(console, columns, cells, numeric)
        return len(cells)
    if most == SCREEN:
        cells = cells[: max(_BLOCK_LINES // (len(columns) + 1), 1)]
    _print_blocks(columns, cells)
    return len(cells)


def _cut(cells: list[list[str]]) -> list[list[str]]:
    """The cells with long ones cut, but for columns in which that would make different texts the same."""
    found = []
    for column in zip(*cells, strict=True):
        cut = [text if len(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…" for text in column]
        found.append(column if len(set(cut)) < len(set(column)) else cut)
    return [list(line) for line in zip(*found, strict=True)]


def without_ends(columns: Sequence[str], every: Sequence[str]) -> list[str]:
    """The columns but those of an interval whose number is among them: a terminal shows it in the number's cell.

    Args:
        columns: chosen ones.
        every: all of the rows, in their order.
    """
    bounds = {end for name, pair in _ends(every).items() if name in columns for end in pair}
    return [name for name in columns if name not in bounds]


def with_ends(columns: Sequence[str], every: Sequence[str]) -> list[str]:
    """The columns with those of their intervals, each after its number: a pipe has a column for every number."""
    ends = _ends(every)
    return list(dict.fromkeys(one for name in columns for one in (name, *ends.get(name, ()))))


def _ends(every: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Column -> the two that hold its interval: `X_low` and `X_high`, or `low` and `high` right after it."""
    found = {}
    for name in every:
        stem = name.removesuffix("_mean").removesuffix("_rate")
        if {f"{stem}_low", f"{stem}_high"} <= set(every):
            found[name] = (f"{stem}_low", f"{stem}_high")
    if {"low", "high"} <= set(every) and (before := every.index("low")) > 0:
        found.setdefault(every[before - 1], ("low", "high"))
    return found


def _width(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _least_widths(columns: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[int]:
    """How narrow each column can be: numbers are not folded, texts are, but not into columns of a few letters; headings only at words."""
    found = []
    for index, name in enumerate(columns):
        longest = max((len(line[index]) for line in cells), default=0)
        found.append(max(longest if numeric[index] else min(longest, _NARROWEST_TEXT), *map(len, name.split("_"))))
    return found


def _print_grid(console: Console, columns: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    whole = [max(len(name), *(len(line[index]) for line in cells)) for index, name in enumerate(columns)]
    least = _least_widths(columns, cells, numeric)
    between = " " if _width(whole, _GAP) <= console.width else "\n"
    table = Table(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    table.padding = (0, 1 if _width(least, _GAP) <= console.width else 0)
    for name, right, width in zip(columns, numeric, least, strict=True):
        heading = Text(printable(strike(name)).replace("_", between if right else " "))
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=right, min_width=width)
    for line in cells:
        table.add_row(*map(Text, line))
    console.print(table)


def _print_lines(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    widths = [min(max(len(name), *(len(line[index]) for line in cells), 0), _WIDEST_PADDING) for index, name in enumerate(columns)]
    lines = (columns, ["-" * width for width in widths], *cells)
    padded = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
    echo("\n".join(padded))  # at once: a disk that is full is told once, and not again when Python ends


def _print_blocks(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """One row a block, a line a column: for rows that are wider than the terminal."""
    width = max(map(len, columns))
    for number, line in enumerate(cells, start=1):
        echo(f"-- {number}")
        for name, cell in zip(columns, line, strict=True):
            echo(f"{name.replace('_', ' '):<{width}}  {cell}")


def _cell(row: Mapping[str, object], name: str, units: Mapping[str, str], ends: _Ends, *, in_print: bool) -> str:
    value, unit = row[name], units.get(name, "")
    if value is None:
        return ""
    if isinstance(value, bool):
        return wording.truth(value)
    if isinstance(value, float):
        return f"{_number(value, name, unit, in_print=in_print)} {_interval(row, name, unit, ends)}".strip()
    return printable(strike(wording.in_words(value) if in_print and name in _WORDS else str(value)))


def _number(value: float, name: str, unit: str, *, in_print: bool) -> str:
    if unit == "0..1" and name.endswith(_SHARES):
        return wording.share(value)
    if not unit and 0 <= value <= 1 and (name == "p" or name.startswith("p_") or name.endswith("_p")):
        return wording.p_value(value)
    if unit in {"0..1", "-1..1"} or (unit == "number" and abs(value) <= 1):
        return wording.score(value)
    if unit == "USD":
        return wording.money(value)
    return _two_digits(value) if in_print and not unit and 0 < abs(value) < 1 else wording.number(value)


def _two_digits(value: float) -> str:
    """Of a number below one whose unit is not known: `.33`, `.033`."""
    return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}".replace("0.", ".", 1).replace("-", "−")


def _interval(row: Mapping[str, Any], name: str, unit: str, ends: _Ends) -> str:
    """The 95 % interval that stands in two more columns of the row, if there is one."""
    if name not in ends:
        return ""
    low, high = (row[end] for end in ends[name])
    if not isinstance(low, float) or not isinstance(high, float):
        return ""
    return f"[{_number(low, name, unit, in_print=True)}, {_number(high, name, unit, in_print=True)}]".replace(" %", "")
