"""A record that is not laid out as its format says, told in one line."""

from __future__ import annotations

from pydantic import ValidationError

from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["malformed"]


def malformed(error: ValidationError, where: str, consequence: str = "") -> BadInputError:
    """The first fault of a record, and what is lost by it.

    Args:
        error: what Pydantic found.
        where: locator of the record.
        consequence: what the reader does about it; empty where the caller adds that.
    """
    first, *others = error.errors(include_url=False, include_context=False)
    locator = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    more = f" (and {len(others)} more faults)" if others else ""
    missing = first["type"] == "missing"
    return BadInputError(
        "; ".join(filter(None, (first["msg"] + more, consequence))),
        locator=excerpt(locator),
        excerpt="" if missing else excerpt(repr(first["input"])[:400]),
    )
