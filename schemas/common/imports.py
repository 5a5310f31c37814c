"""Imports that libraries try and cotrace does not need."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

__all__ = ["arrow_without_pandas", "pandera_without_pandas"]


@cache
def arrow_without_pandas() -> None:
    """Have Arrow make its first array while pandas cannot be found.

    Before its first array Arrow imports pandas if it is there, in case what it is given is a Series: that takes longer than reading fifty
    games. It asks again where it needs pandas, such as in `to_pandas`, so nothing is lost.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    with _hidden("pandas"):
        pa.array([""])


@cache
def pandera_without_pandas() -> None:
    """Import `pandera.polars` as where pandas is not installed, which takes a sixth of the time.

    `pandera.pandas` can be imported all the same; only the names that `pandera` itself had for pandas, out of use now, are not there.
    """
    if {"pandas", "pandera"}.intersection(sys.modules):
        return
    with _hidden("pandas"), _hidden("hypothesis"):  # both are looked for once more at the first check
        import pandera.polars as pa_polars
        import polars as pl

        columns, rows = {"a": pa_polars.Column(checks=pa_polars.Check.ge(0))}, pl.DataFrame({"a": [0]})
        pa_polars.DataFrameSchema(columns, checks=pa_polars.Check(lambda data: data.lazyframe.select(pl.lit(value=True)))).validate(rows)


class _Hiding:
    """A finder that stands before all others and finds, for the thread that made it, that a module is not there."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002 - the protocol's
        if fullname == self._name and get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
        return None


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    finder = _Hiding(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
