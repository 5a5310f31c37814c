"""Pages whose figures make no sense across benchmarks show one at a time."""

from __future__ import annotations

from collections.abc import Collection

from dashboards.address import FILTERS, Address
from dashboards.parts import Part, link_choices
from dashboards.reader import Reader
from schemas.families import families, title_of

__all__ = ["OTHER_FILTERS", "benchmark_choices", "in_order", "narrowed", "shown_benchmark"]

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
