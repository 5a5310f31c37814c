"""Pages whose figures make no sense across benchmarks show one at a time."""

from __future__ import annotations

from collections.abc import Collection

from dashboards.address import FILTERS, Address
from dashboards.parts import Part, link_choices
from dashboards.reader import Reader

__all__ = ["HOUSE_ORDER", "benchmark_choices", "house_order", "narrowed", "shown_benchmark"]

HOUSE_ORDER: tuple[str, ...] = ("craft", "einstein", "asympuzl", "overcooked", "coordination")
"""The order in which pages list the benchmarks."""

OTHER_FILTERS: tuple[str, ...] = tuple(name for name in FILTERS if name != "benchmark")
"""The filters under which the choice of a benchmark stands."""


def house_order(names: Collection[str]) -> list[str]:
    """The benchmarks in the order of the pages; ones that cotrace does not know last."""
    return sorted(names, key=lambda name: (HOUSE_ORDER.index(name) if name in HOUSE_ORDER else len(HOUSE_ORDER), name))


def shown_benchmark(read: Reader, names: Collection[str]) -> str | None:
    """The one that the address asks for, else the first; None if what the address asks for is not among them."""
    asked = read.address.all("benchmark")
    return next((name for name in house_order(names) if name in asked or not asked), None)


def narrowed(read: Reader, benchmark: str) -> Reader:
    """The same page under the filter of this one benchmark."""
    return read.at(Address(read.address.path, {**read.address.values, "benchmark": (benchmark,)}))


def benchmark_choices(read: Reader, names: Collection[str], shown: str, *drop: str) -> list[Part]:
    """Links to the other benchmarks, if there are any. What only the shown one understands is dropped from the address."""
    gone = dict.fromkeys(drop)
    choices = [(name, read.address.to(benchmark=name, **gone), name == shown) for name in house_order(names)]
    return [link_choices("Benchmark", choices)] if len(choices) > 1 else []
