"""Settings of a family's games: one model a family is the source of options, keys of experiment files, log headers and conditions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import orjson
from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from schemas.common.errors import BadInputError
from schemas.common.text import near, quoted

MOST = 1_000_000
"""The most of anything that can be played; more is a slip of the finger, and would fill the memory first."""

_LONGEST_GIVEN = 60
"""Characters of a wrong value that a message repeats."""


class Settings(BaseModel):
    """Named values with defaults, ranges and help; an unknown key is a mistake.

    A field's key in experiment files, and its option on the command line (`same_turn_messages`, `--same-turn-messages`), is its name, or
    the first of its `AliasChoices`; the others are older keys, which work, too. Its `serialization_alias`, where it has one, is its key in
    `runs.condition`. Its `description` is its help.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @classmethod
    def by_key(cls) -> dict[str, FieldInfo]:
        """Key -> field."""
        return {key_of(name, field): field for name, field in cls.model_fields.items()}

    def logged(self) -> dict[str, Any]:
        """The settings as `runs.condition` holds them."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def of_log(cls, condition: Any, older: Mapping[str, Any] | None = None) -> Self:
        """The settings of a logged game.

        Args:
            condition: `runs.condition`.
            older: condition key -> what holds for logs that do not have it.

        Raises:
            BadInputError: a value is missing or cannot be.
        """
        where = "run.condition"
        keys = {name: field.serialization_alias or name for name, field in cls.model_fields.items()}
        found: dict[str, Any] = {**(older or {}), **(condition if isinstance(condition, dict) else {})}
        for key in keys.values():
            if key not in found:
                raise BadInputError(f"{key} is missing", locator=f"{where}.{key}")
        try:
            return cls.model_validate_json(orjson.dumps({name: found[key] for name, key in keys.items()}), strict=True)
        except ValidationError as error:
            wrong = error.errors()[0]
            key = keys.get(str(wrong["loc"][0]), str(wrong["loc"][0])) if wrong["loc"] else ""
            raise BadInputError(explained(wrong, [key] if key else [], keys), locator=f"{where}.{key}" if key else where) from error


def key_of(name: str, field: FieldInfo) -> str:
    """The key of a field: its name, or the first of its aliases."""
    alias = field.validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else name


def folder_of(name: str, field: FieldInfo) -> str:
    """How folders of logs name a setting: by its key, or an older one, so that games that were begun are found again."""
    extra = field.json_schema_extra
    return str(extra["folder"]) if isinstance(extra, dict) and "folder" in extra else key_of(name, field)


def explained(error: Any, name: Sequence[str], known: Iterable[str]) -> str:
    """One line about what is wrong by an error of pydantic, of which `name` has the name's parts, among the names that are known there."""
    full = ".".join(name)
    if error["type"] == "extra_forbidden":
        return f"unknown key {full}{near(name[-1], known)}"
    if error["type"] == "missing":
        return f"{full} is missing: add it"
    reason = str(error["msg"]).removeprefix("Value error, ")
    reason = reason[0].lower() + reason[1:]
    return f"{full} is {quoted(error['input'], _LONGEST_GIVEN)}: {reason}" if full else reason
