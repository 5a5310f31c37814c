"""How the tables of the store lie in the one Delta table of a lake.

Its columns are those of all tables (no two of them differ in type), and three more, by which it is partitioned: `table`,
`part_benchmark` and `part_run`. A file holds rows of one table only, and only that table's columns; the others are null in it. Rows that
belong to a game lie in the part of its benchmark and run, all others in the part without one.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Final

from schemas.records import StoreInfo
from schemas.tables import TABLES, Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BENCHMARK", "LAKE_TABLES", "PARTITION", "RUN", "TABLE", "is_partitioned", "lake_schema", "layout_of"]

TABLE: Final = "table"
BENCHMARK: Final = "part_benchmark"
RUN: Final = "part_run"
PARTITION: Final = (TABLE, BENCHMARK, RUN)

LAKE_TABLES: Final[tuple[Table, ...]] = tuple(spec for spec in TABLES if spec.record is not StoreInfo)
"""What the store knows of itself stands in the Delta table's own metadata."""


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
        for field in spec.arrow_schema():
            plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if found.setdefault(field.name, pa.field(field.name, plain)).type != plain:
                raise TypeError(f"column {field.name} of {spec.name} has another type than in an earlier table: a lake needs one")
    return pa.schema(list(found.values()))
