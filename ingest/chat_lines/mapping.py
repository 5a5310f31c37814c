"""The mapping file of `cotrace ingest --map`: which column of chat lines is what (docs/formats/chat_lines.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import UsageError
from schemas.text import near, quoted
from schemas.yaml_lines import read_yaml

__all__ = ["DEFAULT", "FILE", "MESSAGES", "ConversationColumns", "Mapping", "MessageColumns", "OutcomeColumns", "mapping_of"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


FILE: Final = "file"
"""As `conversation.id`: the file is one conversation."""


class ConversationColumns(_Part):
    """What tells conversations apart, and the column with the list of messages; without one, each row is a message."""

    id: str | None = None
    messages: str | None = None
    rows: str | None = None
    """Where the rows are in a document that is an object."""


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
    observation: str | None = None
    """What came of the calls."""


class OutcomeColumns(_Part):
    """Columns of the conversation's row; of rows that are messages, of any of them."""

    success: str | None = None
    score: str | None = None
    task: str | None = None
    level: str | None = None
    run: str | None = None
    model: str | None = None
    error: str | None = None
    attempt: str | None = None
    seed: str | None = None


class Mapping(_Part):
    """A whole mapping."""

    benchmark: str = Field(default="chat", min_length=1)
    conversation: ConversationColumns = ConversationColumns()
    message: MessageColumns = MessageColumns()
    outcome: OutcomeColumns = OutcomeColumns()


DEFAULT: Final = Mapping(conversation=ConversationColumns(messages="messages"))
"""OpenAI's chat form: `messages` of objects with role, content, name and tool_calls."""
MESSAGES: Final = Mapping()
"""Rows that are such messages."""

_PARTS: Final[dict[str, type[_Part]]] = {
    "": Mapping,
    "conversation": ConversationColumns,
    "message": MessageColumns,
    "outcome": OutcomeColumns,
}


def mapping_of(path: Path) -> Mapping:
    """The mapping that a file holds.

    Raises:
        UsageError: it cannot be read, or is no mapping; one line says what and the mend.
    """
    try:
        return Mapping.model_validate(read_yaml(path, "--map") or {})
    except ValidationError as error:
        raise UsageError(f"--map {path}: {_told(error)}; see docs/formats/chat_lines.md") from error


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "model_type":
        where = ".".join(map(str, first["loc"])) or "the file"
        return f"{where} holds {quoted(first['input'])}, not entries: write them as `key: column`"
    *around, name = [str(part) for part in first["loc"]] or [""]
    if first["type"] != "extra_forbidden":
        return f"{'.'.join([*around, name]) or 'the file'}: {first['msg']}"
    known = list(_PARTS[".".join(around)].model_fields)
    return f"{'.'.join([*around, name])} is no entry of a mapping{near(name, known)}"
