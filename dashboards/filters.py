"""The filters of a page, and the choice of a family where figures make no sense across families."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from dashboards.address import FILTERS, Address
from dashboards.parts import Part, aria, data, html, link_choices
from dashboards.reader import Reader
from schemas.common import wording
from schemas.common.text import printable
from schemas.families import families, family, title_of

if TYPE_CHECKING:
    import polars as pl

OTHER_FILTERS: tuple[str, ...] = tuple(name for name in FILTERS if name != "benchmark")
"""The filters under which the choice of a benchmark stands."""


def in_order(names: Collection[str]) -> list[str]:
    """The benchmarks in the order of the pages; ones that cotrace does not know last."""
    order = [family.name for family in families()]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def shown_benchmark(read: Reader, names: Collection[str]) -> str | None:
    """The one that the address asks for, else the first; None if what the address asks for is not among them."""
    asked = read.address.all("benchmark")
    return next((name for name in in_order(names) if name in asked or not asked), None)


def narrowed(read: Reader, benchmark: str) -> Reader:
    """The same page under the filter of this one benchmark."""
    return read.at(Address(read.address.path, {**read.address.values, "benchmark": (benchmark,)}))


def benchmark_choices(read: Reader, names: Collection[str], shown: str, *drop: str) -> list[Part]:
    """Links to the other benchmarks, if there are any. What only the shown one understands is dropped from the address."""
    gone = dict.fromkeys(drop)
    choices = [(title_of(name), read.address.to(benchmark=name, **gone), name == shown) for name in in_order(names)]
    return [link_choices("Family", choices)] if len(choices) > 1 else []


LABELS: Final[Mapping[str, str]] = {"benchmark": "Family", "model": "Team", "condition": "Condition", "level": "Tier"}
"""Filter -> its heading, in the order of the box."""

_MANY: Final = 12
"""Values from which on a facet gets a box to narrow it."""


def bar(read: Reader, found: pl.DataFrame, used: Sequence[str] = FILTERS) -> Part:
    """Chips, and the box behind "+ filter".

    Args:
        read: the page's reader.
        found: games by every filter's value, with their number in `games`.
        used: the filters that do something on this page; others that are set are shown as such.
    """
    chips = [_chip(read, key, key in used) for key in LABELS if read.address.all(key)]
    keys = [key for key in LABELS if key in used]
    if not keys:
        return html.Div(chips, className="filters") if chips else None
    facets = [_facet(read, found, key) for key in keys]
    box = html.Details([html.Summary("+ filter"), html.Div(facets, className="facets")], className="facet-box")
    under = _under(found, read, "")
    counted = wording.counted(int(under.get_column("games").sum()), thing_of(under.get_column("benchmark").drop_nulls().unique().to_list()))
    return html.Div([*chips, box, html.Span(counted, className="filters-count")], className="filters")


def thing_of(benchmarks: Collection[str]) -> str:
    """What the episodes of these benchmarks are called: games, or transcripts where no family of ours has played them."""
    return "game" if not benchmarks or any(map(family, benchmarks)) else "transcript"


def group_of(benchmark: str) -> str:
    """What its games are grouped by: teams; of transcripts the experiments."""
    return "team" if family(benchmark) else "experiment"


def in_words(read: Reader) -> str:
    """The filters that are set, for a title: `CRAFT, vague`."""
    return ", ".join(value_in_words(read, key, value) for key in LABELS for value in read.address.all(key))


def value_in_words(read: Reader, key: str, value: str) -> str:
    """A filter's value as people read it."""
    if key == "benchmark":
        return title_of(value)
    return read.condition_in_words(value) if key == "condition" else printable(value)


def _chip(read: Reader, key: str, is_used: bool) -> Part:  # noqa: FBT001 - a chip is one or the other
    values = read.address.all(key)
    text = ", ".join(value_in_words(read, key, value) for value in values)
    return html.Span(
        [
            html.Span(f"{LABELS[key]} ", className="chip-label"),
            text,
            html.A(
                "×", href=read.address.to(**{key: None, "from": None}), className="chip-x", **aria(label=f"remove filter {LABELS[key]}")
            ),
        ],
        className="chip" if is_used else "chip unused",
        title=None if is_used else "This page does not use this filter",
    )


def _facet(read: Reader, found: pl.DataFrame, key: str) -> Part:
    chosen = read.address.all(key)
    counted = (
        _under(found, read, key)
        .drop_nulls(key)
        .group_by(key)
        .agg(games=_sum("games"))
        .sort(["games", key], descending=[True, False])
        .rows()
    )
    known = {value for value, _ in counted}
    values = [*((value, 0) for value in chosen if value not in known), *counted]
    narrow = html.Div(html.Span("", className="narrow", **data(narrow=LABELS[key].lower()))) if len(values) > _MANY else None
    lines = [_line(read, key, value, games, value in chosen) for value, games in values]
    return html.Section([html.H3(LABELS[key]), narrow, html.Ul(lines)], className="facet")


def _line(read: Reader, key: str, value: str, games: int, is_chosen: bool) -> Part:  # noqa: FBT001 - chosen or not
    text = value_in_words(read, key, value)
    mark = html.Span("✓" if is_chosen else "", className="facet-mark", **aria(hidden="true"))
    link = html.A(
        [mark, html.Span(text, className="facet-text"), html.Span(wording.count(games), className="facet-count")],
        href=read.address.toggled(key, value),
        title=printable(value) if text != value else None,
        className="facet-line chosen" if is_chosen else "facet-line",
        **(aria(current="true") if is_chosen else {}),
    )
    return html.Li(link)


def _under(found: pl.DataFrame, read: Reader, but: str) -> pl.DataFrame:
    """The games under all filters but one: facets narrow one another, not themselves."""
    import polars as pl

    for key in FILTERS:
        if key != but and read.address.all(key):
            found = found.filter(pl.col(key).is_in(list(read.address.all(key))))
    return found


def _sum(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).sum()
