"""A query with its parameters written into it, so that a person can run it as it stands."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence

from schemas.text import in_sql

__all__ = ["literal", "with_literals"]

_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")


def with_literals(sql: str, parameters: Mapping[str, object]) -> str:
    """The query with `$name` replaced by the SQL literal of its value, without the indentation it had in our code.

    Raises:
        KeyError: a parameter has no value.
    """
    return _PARAMETER.sub(lambda found: literal(parameters[found[1]]), textwrap.dedent(sql).strip())


def literal(value: object) -> str:
    """A value as DuckDB reads it: `'it''s'`, `1.5`, `['a', 'b']`, `NULL`."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{value}'::DOUBLE"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(literal, value))}]"
    return in_sql(str(value))
