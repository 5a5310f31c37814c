"""A record that is not laid out as its format says, told in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["malformed", "validated"]

_Model = TypeVar("_Model", bound=BaseModel)

_MENDS: Final[Mapping[str, str]] = {
    "missing": "add it where the log is written",
    "int_type": "write a whole number, without quotes",
    "int_from_float": "write a whole number",
    "float_type": "write a number, without quotes",
    "bool_type": "write true or false, without quotes",
    "string_type": "write it in quotes",
    "list_type": "write a list, [...]",
    "dict_type": "write an object, {...}",
    "model_type": "write an object, {...}",
    "dataclass_type": "write an object, {...}",
    "value_error": "make them fit where the log is written",
}
"""Pydantic's name of a fault -> what to do about it. Other messages name the allowed values themselves."""

_OTHER_MEND: Final = "correct it where the log is written"


def malformed(error: ValidationError, where: str, consequence: str = "") -> BadInputError:
    """The first fault of a record, its mend, and what is lost by it.

    Args:
        error: what Pydantic found.
        where: locator of the record.
        consequence: what the reader does about it; empty where the caller adds that.
    """
    first, *others = error.errors(include_url=False, include_context=False)
    locator = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    told = f"{first['msg'].removeprefix('Value error, ')}: {_MENDS.get(first['type'], _OTHER_MEND)}"
    more = f" (and {len(others)} more faults)" if others else ""
    missing = first["type"] == "missing"
    return BadInputError(
        "; ".join(filter(None, (told + more, consequence))),
        locator=excerpt(locator),
        excerpt="" if missing else excerpt(repr(first["input"])[:400]),
    )


def validated(kind: type[_Model], value: object, where: str = "", consequence: str = "") -> _Model:
    """A record of a parsed value.

    Args:
        kind: what it has to be.
        value: from the log.
        where: locator of the record.
        consequence: as `malformed` has it.

    Raises:
        BadInputError: it is not laid out as its format says.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise malformed(error, where, consequence) from error
