"""What a text claims, as data: typed records of a family's own, written as JSON objects and read back.

A family's claim types are frozen dataclasses; the kind is the class name in lower case. `words`, the words of a claim, is stored separately
(column `claims.words`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from schemas.common.errors import BadInputError

_Claim = TypeVar("_Claim")


def kind_of(claim_type: type) -> str:
    """The kind under which claims of a type are written."""
    return claim_type.__name__.lower()


def written(claim: object) -> dict[str, Any]:
    """A claim as a JSON object: its kind and every field that states something."""
    messages = {
        field.name: getattr(claim, field.name)
        for field in fields(claim)  # type: ignore[arg-type]  # claims are dataclasses
        if field.name != "words" and (field.default is MISSING or getattr(claim, field.name) != field.default)
    }
    return {"kind": kind_of(type(claim)), **messages}


def read_claim(types: Iterable[type[_Claim]], record: Mapping[str, Any], words: str = "") -> _Claim:
    """The claim that a JSON object writes.

    Raises:
        BadInputError: its kind is none of the types, or a field is missing, unknown or of the wrong form.
    """
    known = {kind_of(one): one for one in types}
    kind = record.get("kind")
    if kind not in known:
        raise BadInputError(f"a claim of kind {kind!r}: give one of {', '.join(known)}", locator="kind")
    messages = {name: value for name, value in record.items() if name != "kind"}
    if any(field.name == "words" for field in fields(known[kind])):  # type: ignore[arg-type]
        messages["words"] = words
    try:
        return _adapter(known[kind]).validate_python(messages)  # type: ignore[arg-type, no-any-return]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInputError(f"a claim of kind {kind}: {where}: {first['msg'].lower()}", locator=where) from error


@cache
def _adapter(claim_type: type) -> TypeAdapter[Any]:
    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(claim_type))
