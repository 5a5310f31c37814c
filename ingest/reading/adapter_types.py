"""What every adapter takes and gives; and records of a JSON log: msgspec reads them, and of those that it refuses Pydantic names the fault.

One declaration of a record serves both: msgspec goes by the metadata `Meta`, Pydantic by all other. msgspec reads in a fifth of the time,
but names faults less well and refuses a few things that logs hold: ``NaN``, halves of surrogate pairs, large numbers.

    read_fast(_DECODER, data) or checked(LogRecord, loads(data))
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, Protocol, TypeVar, Union, get_args, get_type_hints

import msgspec
from msgspec import Meta, UnsetType
from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError, create_model
from pydantic_core import CoreSchema, core_schema

from ingest.reading.text import dumps
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.store.batches import Coded

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a log lies."""

    path: str
    """Absolute path."""
    file: str
    """Path relative to the folder given to `cotrace ingest`."""
    source_id: str
    """sha256 of the bytes."""


@dataclass(slots=True)
class Reading:
    """What an adapter took from one file. An episode is in ``rows``, or its loss is in ``rejects``, or both where a part was lost."""

    rows: dict[str, list[tuple[object, ...]]] = field(default_factory=lambda: defaultdict(list))
    """Table name -> records of that table's class (`schemas.records`)."""
    episodes: list[str] = field(default_factory=list)
    """Ids of the episodes in ``rows``."""
    turns: int = 0
    """Turns in ``rows``."""
    rejects: list[BadInputError] = field(default_factory=list)
    """What could not be used, and where it stood."""
    replay_s: float = 0.0
    """Time spent on replaying, in seconds."""
    note: str = ""
    """What else the file is, where it holds no episode of its own and nothing is lost."""
    notes: list[str] = field(default_factory=list)
    """What is reported of the file though nothing is lost."""
    messages: int = 0
    """Messages of conversations in ``rows``."""
    empty: int = 0
    """Those of them that have no text, no thought and no call."""
    unread: Counter[str] = field(default_factory=Counter)
    """Keys of empty messages that hold something in the log -> in how many."""
    by_number: set[str] = field(default_factory=set)
    """Ids of the episodes whose success is only that their score is 0 or 1 (`ingest.conversation.rows.completed`)."""
    coded: dict[str, list[Coded]] = field(default_factory=lambda: defaultdict(list))
    """Table name -> more rows of it, where a format has so many alike that records would take too long."""
    places: dict[str, str] = field(default_factory=dict)
    """Id of an episode -> where in the file it is, such as ``line 7``, where the file has several."""

    def add(self, episode: Reading) -> None:
        """Take over what was read of one episode."""
        for table, records in episode.rows.items():
            self.rows[table].extend(records)
        for table, parts in episode.coded.items():
            self.coded[table].extend(parts)
        self.episodes += episode.episodes
        self.turns += episode.turns
        self.rejects += episode.rejects
        self.by_number |= episode.by_number
        self.replay_s += episode.replay_s
        self.notes += episode.notes
        self.messages += episode.messages
        self.empty += episode.empty
        self.unread += episode.unread
        self.places |= episode.places

    def take(self, locator: str, read: Callable[[], Reading]) -> None:
        """Take over one game or row of a file; whatever goes wrong in reading it is a reject of this row and costs no other.

        Args:
            locator: where it is in the file, such as ``line 7``.
            read: reads it; `BadInputError` gives the reason it cannot be used, and any other exception is reported with its name.
        """
        try:
            found = read()
            self.add(found)
            self.places |= dict.fromkeys(found.episodes, locator)
        except BadInputError as error:
            where = locator if error.locator == locator else f"{locator}{error.locator}"
            self.rejects.append(BadInputError(error.reason, locator=where, excerpt=error.excerpt))
        except (RecursionError, OverflowError) as error:
            self.rejects.append(BadInputError(f"nested too deeply, or a number too large ({error}): the log is damaged", locator=locator))
        except Exception as error:  # noqa: BLE001 - one row's surprise must not cost the others
            self.rejects.append(unexpected(error, locator))


class Adapter(Protocol):
    """A module of this package that reads one format."""

    @property
    def FORMAT(self) -> str:  # noqa: N802
        """Name of the format, as `--format` takes it and `sources.format` holds it."""
        ...

    @property
    def VERSION(self) -> int:  # noqa: N802
        """Raised when the same bytes would give other rows; files read by an older version are then read again."""
        ...

    def sniff(self, head: bytes) -> bool:
        """Tell from a file's first bytes (UTF-8) whether this adapter reads it."""
        ...

    # An adapter may have `PATH_PARTS: int`, how many last parts of a path distinguish games of the same bytes: 1 where the name has
    # the trial, 2 where the folder is the run. Beyond them, and where a log names its game (by time, say), equal bytes are a duplicate.
    # An adapter may have `KEYS: tuple[frozenset[str], ...]`: a JSON document with all top-level keys of one of them is its log, in whatever
    # order they stand. It is asked where beginnings tell nothing. Where another program could have the same keys, `MARKS`, a tuple of
    # patterns of bytes, are what its logs hold besides, all of them.
    # An adapter may have `resembles(head: bytes, name: str) -> bool` too: a file that no adapter reads is one of its logs, damaged. Texts
    # need it; what begins or is named like JSON is taken for a damaged log anyway.

    def read(self, data: bytes, place: Place) -> Reading:
        """Read a whole file.

        Raises:
            BadInputError: nothing in it can be used.
        """
        ...


def unexpected(error: Exception, locator: str = "") -> BadInputError:
    """What a reader did not foresee in a row, as a reject with its place."""
    what = f"the key {error} is missing" if isinstance(error, KeyError) else excerpt(f"{type(error).__name__}: {error}")
    reason = f"this format's reader fails here ({what}): correct the row, or report it to the author of the reader"
    return BadInputError(reason, locator=locator)


def episode_id(benchmark: str, path: str, index: int | str = 0) -> str:
    """Id of the game at a place: it stays when the file grows or changes. `index` tells the games of a file apart: a number, or a name."""
    place = f"{path}\0{index}".encode(errors="surrogateescape")
    return f"{benchmark}-{hashlib.blake2b(place, digest_size=6).hexdigest()}"


def run_id(benchmark: str, name: str, team: Mapping[str, str | None], condition: Mapping[str, object]) -> str:
    """Id of an experiment: the same models under the same conditions with the same name are one run, wherever the files lie."""
    facts = dumps([benchmark, name, sorted(team.items()), sorted(condition.items())])
    return f"{benchmark}-{hashlib.blake2b(facts.encode(), digest_size=5).hexdigest()}"


def begins(*marks: bytes) -> Callable[[bytes], bool]:
    r"""A test of a file's first bytes, `Adapter.sniff`: all of these regular expressions are found, those with ``\A`` at the beginning."""
    patterns = [re.compile(mark) for mark in marks]
    return lambda head: all(pattern.search(head) for pattern in patterns)


class Difference(NamedTuple):
    """One difference: a row of `log_disagreements` without its game and turn."""

    field: str
    logged: str | None
    recomputed: str | None
    """None if nothing could stand there."""


class FileKind(NamedTuple):
    """A kind of JSON file that belongs to the games and is not a log."""

    name: str
    marks: tuple[bytes, ...]
    """Regular expressions; all of them are found near the beginning."""
