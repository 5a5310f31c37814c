"""Which files make up a lake at one moment, and how DuckDB reads them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from schemas.common.text import in_sql
from schemas.records import StoreInfo
from schemas.tables import TABLES, Table

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable


TABLE: Final = "table"
BENCHMARK: Final = "part_benchmark"
RUN: Final = "part_run"
PARTITION: Final = (TABLE, BENCHMARK, RUN)

LAKE_TABLES: Final[tuple[Table, ...]] = tuple(spec for spec in TABLES if spec.record is not StoreInfo)
"""What the store knows of itself is in the Delta table's own metadata."""


def is_partitioned(spec: Table) -> bool:
    """Whether the rows of a table belong to games."""
    return "episode_id" in spec.column_names


@cache
def layout_of(spec: Table) -> str:
    """Eight digits that stand for the columns of a table; every file of it begins with them, so that older and foreign ones are known."""
    return hashlib.blake2b(spec.ddl().encode(), digest_size=4).hexdigest()


def lake_schema() -> pa.Schema:
    """The columns of the Delta table.

    Raises:
        TypeError: two tables have a column of one name and different types.
    """
    import pyarrow as pa

    found = {name: pa.field(name, pa.string()) for name in PARTITION}
    for spec in LAKE_TABLES:
        for one in spec.arrow_schema():
            plain = one.type.value_type if pa.types.is_dictionary(one.type) else one.type
            if found.setdefault(one.name, pa.field(one.name, plain)).type != plain:
                raise TypeError(f"column {one.name} of {spec.name} has another type than in an earlier table: a lake needs one")
    return pa.schema(list(found.values()))


class DataFile(NamedTuple):
    """A Parquet file of the lake."""

    path: str
    """Absolute, or an address."""
    logged: str
    """From the lake's place; the log has it escaped."""
    benchmark: str | None
    run: str | None
    bytes: int


@dataclass(frozen=True)
class Snapshot:
    """What a lake holds at one version of it."""

    version: int
    files: Mapping[str, Sequence[DataFile]] = field(default_factory=dict)
    """By table."""

    def paths(self, table: str) -> list[str]:
        """The files of a table."""
        return [file.path for file in self.files.get(table, ())]


def snapshot_of(delta: DeltaTable, uri: str, *, benchmark: str | None = None, run: str | None = None) -> Snapshot:
    """What the lake holds now; where a benchmark or a run is asked for, without the files that can hold none of it."""
    import pyarrow as pa

    rows = pa.table(delta.get_add_actions(flatten=True)).select(
        ["path", "size_bytes", f"partition.{TABLE}", f"partition.{BENCHMARK}", f"partition.{RUN}"]
    )
    files: dict[str, list[DataFile]] = {}
    for written, size, table, of_benchmark, of_run in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        logged = unquote(written)  # deltalake escapes what it is given, and gives it back as it is in the log
        if _fits(of_benchmark, benchmark) and _fits(of_run, run):
            files.setdefault(table, []).append(DataFile(f"{uri}/{logged}", logged, of_benchmark, of_run, size))
    for found in files.values():  # they are named by when they were written: in their order, rows come as they came
        found.sort(key=lambda file: Path(file.path).name)
    return Snapshot(delta.version(), files)


def _fits(part: str | None, wanted: str | None) -> bool:
    return part is None or wanted is None or part == wanted


def selection(spec: Table, paths: Sequence[str], *, more: str = "") -> str:
    """A query for the rows of a table out of files, in its documented columns and types.

    Files that were written with other columns (by an older cotrace, or by another program that compacted them) are read by name.
    """
    own = [path for path in paths if Path(path).name.startswith(f"{layout_of(spec)}-")]
    others = [path for path in paths if path not in set(own)]
    columns = ", ".join(f'"{column.name}"' for column in spec.columns)
    nothing = ", ".join(f'NULL::{column.sql_type} AS "{column.name}"' for column in spec.columns)
    parts = [f"SELECT {columns}{more} FROM read_parquet({_listed(own)}, hive_partitioning = false)"] if own else []
    if others:
        cast = ", ".join(f'"{column.name}"::{column.sql_type} AS "{column.name}"' for column in spec.columns)
        read = f"SELECT *{more} FROM read_parquet({_listed(others)}, hive_partitioning = false, union_by_name = true)"
        parts.append(f"SELECT {cast}{more} FROM ((SELECT {nothing} WHERE false) UNION ALL BY NAME ({read}))")
    return " UNION ALL ".join(parts) or f"SELECT {nothing} WHERE false"


def _listed(paths: Iterable[str]) -> str:
    return "[" + ", ".join(in_sql(literal(path)) for path in paths) + "]"


def literal(path: str) -> str:
    """A path that DuckDB takes for no pattern, which might fit a file of the same name in another lake; addresses hold nothing of it."""
    return path if "://" in path else re.sub(r"([*?\[])", r"[\1]", path)
