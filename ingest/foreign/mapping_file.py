"""The mapping file of `cotrace ingest --map`: its entries, and which of them a file of rows did not meet (docs/formats/chat_lines.md)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingest.conversation.messages import AGENTS, SPEAKERS, WORDS, is_item, keys_with_content
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt, near, printable, quoted
from schemas.common.yaml_lines import read_yaml


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


FILE: Final = "file"
"""As `conversation.id`: the file is one conversation."""


class ConversationColumns(_Part):
    """What tells conversations apart, and the column with the list of messages; without one, each row is a message."""

    id: str | None = None
    messages: str | None = None
    """With `id: file` the lists of all rows are one conversation."""
    rows: str | None = None
    """Where the rows are in a document that is an object."""
    reply: str | None = None
    """Where a row has the reply that ends its messages."""
    before: str | None = None
    """Where the first row, a model's reply as all rows are, has the request with the messages before it."""
    inner: str | None = None
    """Where a row has objects like itself, of agents that its own agent called."""


class MessageColumns(_Part):
    """Keys of a message, or columns of a row that is one; a name with points leads into objects."""

    speaker: str = "name"
    text: str = "content"
    role: str = "role"
    to: str | None = None
    turn: str | None = None
    order: str | None = None
    thought: str | None = None
    time: str | None = None
    tool: str | None = None
    """The name of a tool that the message calls, or a list of calls."""
    action: str | None = None
    """The arguments of that call; without `tool` an action by itself."""
    success: str | None = None
    """Whether these calls succeeded."""
    observation: str | None = None
    """What came of the calls."""
    prompt: str | None = None
    """What its author was asked by a user, in the same row."""
    returns: str | None = None
    """Not a column: the role whose messages, behind the first of a model, are what came of its calls."""
    within: str | None = None
    """The object in the message that holds it."""
    where: dict[str, list[str]] = Field(default_factory=dict)
    """Column -> its values in what is a message; other entries of the list are facts about the conversation, by that value."""
    needs: list[str] = Field(default_factory=list)
    """Columns of which an entry has one if it is a message."""
    id: str | None = None
    """What tells entries apart: one that is repeated word for word counts once."""
    agent: str | None = None
    """Who wrote what has the role assistant."""
    usage: str | None = None
    """In an entry that is not a message: the tokens of the message before it."""
    scores: dict[str, str] = Field(default_factory=dict)
    """Name -> column of a number of the message's turn."""


class OutcomeColumns(_Part):
    """Columns of the conversation's row; of rows that are messages, of any of them."""

    success: str | None = None
    score: str | None = None
    task: str | list[str] | None = None
    """Several are joined; `file`: the file's name."""
    level: str | None = None
    run: str | None = None
    model: str | None = None
    team: str | None = None
    """Who plays: an object of role and model, or the team's name."""
    error: str | None = None
    attempt: str | None = None
    seed: str | None = None
    stop: str | None = None
    """Why it ended."""
    scores: dict[str, str] = Field(default_factory=dict)
    """Name -> column of a further number."""
    details: list[str] | None = None
    """The columns that `episodes.details` retains; None: all that no other entry names."""


class ChatMapping(_Part):
    """A whole mapping."""

    benchmark: str = Field(default="chat", min_length=1)
    run: str | None = None
    """Name of the experiment where no column has it; None: the file's name."""
    conversation: ConversationColumns = ConversationColumns()
    message: MessageColumns = MessageColumns()
    outcome: OutcomeColumns = OutcomeColumns()


DEFAULT: Final = ChatMapping(conversation=ConversationColumns(messages="messages"))
"""OpenAI's chat form: `messages` of objects with role, content, name and tool_calls."""
MESSAGES: Final = ChatMapping()
"""Rows that are such messages."""

_PARTS: Final[dict[str, type[_Part]]] = {
    "": ChatMapping,
    "conversation": ConversationColumns,
    "message": MessageColumns,
    "outcome": OutcomeColumns,
}


def mapping_of(path: Path) -> ChatMapping:
    """The mapping that a file holds.

    Raises:
        UsageError: it cannot be read, or is not a mapping; one line states what and the fix.
    """
    try:
        given = read_yaml(path, "--map")
        if given is None and not path.read_text(encoding="utf-8").strip():
            raise UsageError(f"--map {path} is empty: `cotrace ingest --guess FILE` prints a mapping, or why it has none")
        return ChatMapping.model_validate(given or {})
    except ValidationError as error:
        raise UsageError(f"--map {path}: {_problem(error)}; see docs/formats/chat_lines.md") from error


def _problem(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "model_type":
        where = ".".join(map(str, first["loc"])) or "the file"
        return f"{where} holds {quoted(first['input'])}, not entries: write them as `key: column`"
    *around, name = [str(part) for part in first["loc"]] or [""]
    if first["type"] != "extra_forbidden":
        return f"{'.'.join([*around, name]) or 'the file'}: {first['msg']}"
    known = list(_PARTS[".".join(around)].model_fields)
    return f"{'.'.join([*around, name])} is not an entry of a mapping{near(name, known)}"


_EVER: Final = frozenset({"conversation.id", "message.speaker", "message.text", "message.order"})
"""Entries without which not even one conversation can be read as it was meant."""
_REPORTED_ELSEWHERE: Final = frozenset({"conversation.messages", "conversation.rows", "message.returns"})
"""Entries that name no column of a row."""
OUTER: Final = "file."
"""What a column begins with that is in the document around the rows."""
_WHOLE_FILE: Final = ("conversation.id", FILE)
_RARE: Final = frozenset({"outcome.error"})
"""Entries whose column only some conversations have, by what they mean."""
_OUTCOMES: Final = {"success": "not yes or no, true or false, 1 or 0", "score": "no number"}
MESSAGE_KEYS: Final = frozenset({
    *AGENTS,
    "tool_calls", "tool_call_id", "tool_call_ids", "function_call", "metadata", "error", "id", "type", "call_id", "arguments", "input",
    "output", "summary", "refusal", "parts", "agent", "models_usage", "reasoning_content", "reasoning", "data", "kwargs", "source",
    "additional_kwargs", "audio", "thinking", "thinking_blocks", "reasoning_details", "tool_responses",
    "tool_messages", *SPEAKERS, *WORDS,
})  # fmt: skip
"""Keys of a message, of whatever dialect; other columns of a row that is a message are facts about the conversation."""
_READ: Final = MESSAGE_KEYS | {"content", "args", "observation"}
"""Keys of messages that are read in whatever form they are in."""
_LISTED: Final = 12
_MOST_COLUMNS: Final = 1_000
"""Columns; a file whose objects have names for keys has any number of them."""


_ACTS: Final = re.compile(
    r"tools?|(?:tool|action)_?(?:name|input|args|arguments|output|result|params)|actions?_taken|action|observation|move", re.IGNORECASE
)


class Unmet:
    """The entries of a mapping whose columns have not been met yet, in any conversation of a file."""

    def __init__(self, mapping: ChatMapping) -> None:
        self._left = {"row": _named(mapping, ("conversation", "outcome")), "message": _named(mapping, ("message",))}
        self._columns: dict[str, dict[str, None]] = {"row": {}, "message": {}}
        """What there is, in the order in which it was met."""
        self._conversations = 0
        named = columns_of(mapping.conversation, mapping.message, mapping.outcome)
        self._read = _READ | {column.partition(".")[0] for column in named} | named
        self._unread_keys: Counter[str] = Counter()
        self._unread: dict[tuple[str, str], list[Any]] = {}
        """Entry and column of an outcome -> the value that cannot be read."""

    def look(self, rows: Iterable[Any], messages: Iterable[Any]) -> None:
        """Take note of the columns that the rows and the messages of a conversation have."""
        self._conversations += 1
        messages = list(messages)
        for message in messages:
            if isinstance(message, Mapping) and not is_item(message):
                self._unread_keys.update(key for key in keys_with_content(message) if key not in self._read)
        for whose, found in (("row", rows), ("message", messages)):
            for values in found:
                if not self._left[whose]:
                    break
                if isinstance(values, Mapping):
                    self._left[whose] = {entry: column for entry, column in self._left[whose].items() if _is_missing(values, column)}
                    if self._left[whose] and len(self._columns[whose]) < _MOST_COLUMNS:
                        self._columns[whose] |= dict.fromkeys(_reached(values))

    def unread(self, entry: str, column: str, value: Any) -> None:
        """Take note of a success or score of a conversation's row, if it has a value."""
        if value is not None:
            self._unread.setdefault((entry, column), []).append(value)

    def notes(self) -> Iterator[str]:
        """Keys of messages that hold something and are not read."""
        if self._unread_keys:
            listed = ", ".join(f"{excerpt(key, 40)} ({count})" for key, count in self._unread_keys.most_common(_LISTED))
            yield f"keys of messages that are not read, and in how many: {listed}; a mapping can name them (docs/formats/chat_lines.md)"

    def acts(self) -> list[BadInputError]:
        """That messages name tools, actions or results under keys that no mapping names: they would be lost."""
        found = [key for key in self._unread_keys if _ACTS.fullmatch(key)]
        reason = (
            f"messages have {', '.join(map(printable, found))}, which are not read: `cotrace ingest --guess FILE` writes a mapping for them"
        )
        return [BadInputError(reason)] if found else []

    def rejects(self) -> list[BadInputError]:
        """What to tell of the file; that one conversation alone lacks an outcome is not a mistake of the mapping."""
        return [
            self._missing(whose, entry, column)
            for whose, left in self._left.items()
            for entry, column in left.items()
            if self._columns[whose] and (entry in _EVER or self._conversations > 1)
        ] + [_not_read(entry, column, values) for (entry, column), values in self._unread.items()]

    def _missing(self, whose: str, entry: str, column: str) -> BadInputError:
        columns = list(self._columns[whose])
        fix = near(column, columns, f"there are {', '.join(columns[:_LISTED])}; fix the mapping, or leave the entry out")
        return BadInputError(f"no {whose} has {column}, which the mapping names as {entry}{fix}")


def _not_read(entry: str, column: str, values: list[Any]) -> BadInputError:
    whose = "1 conversation has" if len(values) == 1 else f"{len(values)} conversations have"
    return BadInputError(
        f"{whose} a {column} that is {_OUTCOMES[entry]} (such as {excerpt(repr(values[0]), 40)}), which the mapping names as "
        f"outcome.{entry}: it is not known there"
    )


def columns_of(*parts: _Part) -> set[str]:
    """Every column that parts of a mapping name."""
    found: set[str] = set()
    for part in parts:
        for entry in part.model_dump().values():
            held = [entry] if isinstance(entry, str) else entry.values() if isinstance(entry, dict) else entry or ()
            found.update(column for column in held if isinstance(column, str))
    return found | {key for part in parts for key in getattr(part, "where", ())}


def _named(mapping: ChatMapping, parts: tuple[str, ...]) -> dict[str, str]:
    """Entry, such as `message.text` -> the column that the file itself names for it."""
    named = {
        f"{part}.{entry}": getattr(getattr(mapping, part), entry) for part in parts for entry in getattr(mapping, part).model_fields_set
    }
    return {
        entry: column
        for entry, column in named.items()
        if column
        and isinstance(column, str)
        and not column.startswith(OUTER)
        and entry not in _REPORTED_ELSEWHERE | _RARE
        and (entry, column) != _WHOLE_FILE
    }


def _reached(values: Mapping[str, Any]) -> Iterator[str]:
    """The columns, and with a point the keys of those that are objects."""
    for key, value in values.items():
        yield str(key)
        yield from (f"{key}.{inner}" for inner in value) if isinstance(value, Mapping) else ()


def _is_missing(values: Mapping[str, Any], column: str) -> bool:
    """Whether there is neither such a column nor one that a name with points leads to; one without a value is there."""
    if column in values:
        return False
    here: Any = values
    for part in column.split("."):
        if not isinstance(here, Mapping) or part not in here:
            return True
        here = here[part]
    return False
