"""Messages that stand in a span's events, one in each, as the semantic conventions had it before 1.37.

Up to 1.27 a span has two events, `gen_ai.content.prompt` and `gen_ai.content.completion`, with all messages as JSON text. From 1.28 to
1.36 each message is an event: `gen_ai.system.message`, `gen_ai.user.message`, `gen_ai.assistant.message`, `gen_ai.tool.message`, and
`gen_ai.choice` for what the model wrote. Its fields are attributes of the event, or JSON text in one (`gen_ai.event.content`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ingest.reading.json_text import loads
from schemas.errors import BadInputError

__all__ = ["as_content", "told_by"]

_ROLES: Final = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_CHOICE: Final = "gen_ai.choice"
_WHOLE: Final = {"gen_ai.content.prompt": ("input", "user"), "gen_ai.content.completion": ("output", "assistant")}
_BEDROCK: Final = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video", "cachePoint"})
"""Keys of parts without a type."""
_BODY: Final = "gen_ai.event.content"

Side = str
"""`input` or `output`."""


def told_by(event: str, told: Mapping[str, Any]) -> tuple[Side, list[dict[str, Any]]] | None:
    """The messages of an event by its name and attributes; None if it is no event of messages. Those recorded without content are none."""
    if event in _WHOLE:
        side, role = _WHOLE[event]
        given = _read(told.get("gen_ai.prompt" if side == "input" else "gen_ai.completion"))
        found = [_message(one, role) for one in (given if isinstance(given, list) else [given])]
    elif event == _CHOICE or event in _ROLES:
        body = _read(told.get(_BODY))
        fields = {**told, **(body if isinstance(body, Mapping) else {"content": body} if body is not None else {})}
        side = "output" if event == _CHOICE else "input"
        found = [_message(_chosen(fields), "assistant") if event == _CHOICE else _message(fields, _ROLES[event])]
    else:
        return None
    return side, [one for one in found if one.get("content") or one.get("tool_calls") or one.get("refusal")]


def _chosen(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a choice; tools that it calls may stand beside it."""
    message = _read(fields.get("message"))
    chosen = message if isinstance(message, Mapping) else {"content": fields.get("content") if message is None else message}
    return {"tool_calls": fields.get("tool_calls")} | dict(chosen)


def _message(fields: Any, role: str) -> dict[str, Any]:
    if not isinstance(fields, Mapping):
        return {"role": role, "content": fields}
    message: dict[str, Any] = {"role": str(fields.get("role") or role), "content": as_content(fields.get("content"))}
    calls = _read(fields.get("tool_calls"))
    if isinstance(calls, list) and calls:
        message["tool_calls"] = calls
    if message["role"] == "tool" and fields.get("id") is not None:
        message["tool_call_id"] = str(fields["id"])
    return message | {key: fields[key] for key in ("name", "refusal", "reasoning_content") if fields.get(key)}


def as_content(given: Any) -> Any:
    """Parts, where the text is a JSON list of objects; a text that happens to be other JSON is what was said."""
    read = _read(given)
    return read if isinstance(read, list) and read and all(_is_part(part) for part in read) else given


def _is_part(part: Any) -> bool:
    return isinstance(part, Mapping) and ("type" in part or set(part) <= _BEDROCK)


def _read(given: Any) -> Any:
    """What JSON text holds; any other value as it is."""
    if not isinstance(given, str) or not given.lstrip().startswith(("{", "[")):
        return given
    try:
        return loads(given.encode(errors="replace"))
    except BadInputError:
        return given
