"""Records of a JSON log: msgspec reads them, and of those that it refuses Pydantic names the fault.

One declaration serves both: msgspec goes by the metadata `Meta`, Pydantic by all other. msgspec reads in a fifth of the time, but names
faults less well and refuses a few things that logs hold: ``NaN``, halves of surrogate pairs, large numbers.

    read_fast(_DECODER, data) or checked(LogRecord, loads(data))
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_type_hints

import msgspec
from msgspec import Meta, UnsetType
from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError, create_model
from pydantic_core import CoreSchema, core_schema

from schemas.errors import BadInputError
from schemas.text import excerpt

_T = TypeVar("_T")

Pair = Annotated[list[_T], Field(min_length=2, max_length=2), Meta(min_length=2, max_length=2)]
"""Two entries."""

Int = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number; of one that no table holds Pydantic decides."""

_STRICT: Final = ConfigDict(strict=True, extra="ignore")


class Record(msgspec.Struct, gc=False):
    """What a part of a log holds, which is never part of itself; types are strict, other fields are ignored."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Pydantic's way to the same record: through a model of its own, which names the faults."""
        hints = get_type_hints(cls, include_extras=True)
        fields: dict[str, Any] = {
            field.encode_name: (_without_unset(hints[field.name]), ... if field.required else None) for field in msgspec.structs.fields(cls)
        }
        model = create_model(cls.__name__, __config__=_STRICT, **fields)
        return core_schema.no_info_after_validator_function(
            lambda found: cls(**{name: getattr(found, name) for name in found.model_fields_set}), handler(model)
        )


def _without_unset(hint: Any) -> Any:
    """What may stand where a field may be missing."""
    kinds = get_args(hint)
    return Union[tuple(kind for kind in kinds if kind is not UnsetType)] if UnsetType in kinds else hint  # noqa: UP007 - of kinds found out


_Kind = TypeVar("_Kind", bound=Record)


def read_fast(decoder: msgspec.json.Decoder[_T], data: bytes) -> _T | None:
    """The record that the bytes hold; None: Pydantic has to look."""
    try:
        if not data.isascii():
            data.decode()  # msgspec skips the texts of other fields
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def checked(kind: type[_Kind], value: object) -> _Kind:
    """A record of a value that is not JSON text, or was refused as such.

    Raises:
        pydantic.ValidationError: it is none; the message names what is wrong.
    """
    found: _Kind = _adapter(kind).validate_python(value)
    return found


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_Model = TypeVar("_Model", bound=BaseModel)

_FIXES: Final[Mapping[str, str]] = {
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

_OTHER_FIX: Final = "correct it where the log is written"


def malformed(error: ValidationError, where: str, consequence: str = "") -> BadInputError:
    """The first fault of a record, its fix, and what is lost by it.

    Args:
        error: what Pydantic found.
        where: locator of the record.
        consequence: what the reader does about it; empty where the caller adds that.
    """
    first, *others = error.errors(include_url=False, include_context=False)
    locator = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    reason = f"{first['msg'].removeprefix('Value error, ')}: {_FIXES.get(first['type'], _OTHER_FIX)}"
    more = f" (and {len(others)} more faults)" if others else ""
    missing = first["type"] == "missing"
    return BadInputError(
        "; ".join(filter(None, (reason + more, consequence))),
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
        BadInputError: it is not laid out as its format states.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise malformed(error, where, consequence) from error
