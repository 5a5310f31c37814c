"""Events of agents as chat messages: OpenHands, the Agent Data Protocol, AG2 and pydantic-ai, each known by keys of its own."""

from collections.abc import Mapping
from typing import Any, Final

from ingest.reading.text import dumps

Raw = Mapping[str, Any]

_SPOKEN_ACTIONS: Final = frozenset({"message", "system"})
"""Actions of OpenHands that say something."""
_ABOUT_OBSERVATIONS: Final = frozenset({"class_", "reward", "source", "name", "viewport_size"})


def event_messages(raw: Raw) -> list[dict[str, Any]] | None:
    """The chat messages of an event, which may be none; None of what is no event."""
    readers = (_of_openhands, _of_openhands_sdk, _of_protocol, _of_ag2, _of_pydantic_ai)
    return next((found for read in readers if (found := read(raw)) is not None), None)


def _of_openhands(raw: Raw) -> list[dict[str, Any]] | None:
    """OpenHands' events: an action with its arguments, or an observation with the id of its action as `cause`; None of other messages."""
    arguments, extras = raw.get("args"), raw.get("extras")
    if isinstance(raw.get("action"), str) and isinstance(arguments, Mapping) and "role" not in raw:
        role = "assistant" if raw.get("source") == "agent" else str(raw.get("source") or "unknown")
        if raw["action"] in _SPOKEN_ACTIONS:
            return [{"role": "system" if raw["action"] == "system" else role, "content": arguments.get("content")}]
        thought = arguments.get("thought") or None
        given = {key: value for key, value in arguments.items() if key != "thought" and value not in (None, "", [], {})}
        return [{"role": role, "content": thought, "tool_calls": [{"id": str(raw.get("id")), "name": raw["action"], "arguments": given}]}]
    if isinstance(raw.get("observation"), str) and isinstance(extras, Mapping) and "role" not in raw:
        failed = raw["observation"] == "error" or raw.get("success") is False
        return [{"role": "tool", "tool_call_id": str(raw.get("cause")), "content": raw.get("content"), "error": failed or None}]
    return None


_SDK_EVENTS: Final = frozenset({
    "MessageEvent", "ActionEvent", "ObservationEvent", "UserRejectObservation", "AgentErrorEvent", "SystemPromptEvent",
    "CondensationSummaryEvent", "ConversationStateUpdateEvent", "Condensation", "CondensationRequest", "PauseEvent", "TokenEvent",
})  # fmt: skip


def _of_openhands_sdk(raw: Raw) -> list[dict[str, Any]] | None:
    """Events of OpenHands from 1.0 on, known by their kind; nothing of what only its state is, None of other messages."""
    kind, said, seen = raw.get("kind"), raw.get("llm_message"), raw.get("observation")
    if kind not in _SDK_EVENTS or "role" in raw:
        return None
    role = {"agent": "assistant", "environment": "tool"}.get(str(raw.get("source")), str(raw.get("source") or "user"))
    if kind == "MessageEvent":
        return [{"role": role, **(said if isinstance(said, Mapping) else {})}]
    if kind == "ActionEvent":
        call = raw.get("tool_call") or {"name": raw.get("tool_name"), "arguments": raw.get("action")}
        thoughts = {key: raw.get(key) for key in ("reasoning_content", "thinking_blocks")}
        return [{"role": role, "content": raw.get("thought"), **thoughts, "tool_calls": [{**call, "id": raw.get("tool_call_id")}]}]
    if "tool_call_id" in raw:
        content = seen.get("content", dumps(seen)) if isinstance(seen, Mapping) else raw.get("error") or raw.get("rejection_reason")
        failed = kind != "ObservationEvent" or (isinstance(seen, Mapping) and seen.get("is_error")) or None
        return [{"role": "tool", "tool_call_id": raw["tool_call_id"], "content": content, "error": failed}]
    words = [part for key in ("system_prompt", "dynamic_context", "summary") if (part := raw.get(key))]
    return [{"role": "system", "content": words}] if words else []


def _of_protocol(raw: Raw) -> list[dict[str, Any]] | None:
    """Actions and observations of the Agent Data Protocol, known by `class_`; None of other messages."""
    kind = str(raw.get("class_") or "")
    if kind.endswith("_observation"):
        held = {key: value for key, value in raw.items() if key not in _ABOUT_OBSERVATIONS and value not in (None, "", [], {})}
        content = raw["content"] if isinstance(raw.get("content"), str) else dumps(held)
        role = {"user": "user", "agent": "assistant"}.get(str(raw.get("source")), "tool")
        return [{"role": role, "content": content, **({"name": raw["name"]} if raw.get("name") else {})}]
    if not kind.endswith("_action"):
        return None
    thoughts = [raw[key] for key in ("reasoning_content", "description") if isinstance(raw.get(key), str) and raw[key]]
    message: dict[str, Any] = {"role": "assistant", "content": raw.get("content"), "reasoning_content": "\n".join(thoughts) or None}
    if kind == "api_action":
        return [{**message, "tool_calls": [{"name": str(raw.get("function")), "arguments": raw.get("kwargs") or {}}]}]
    if kind == "code_action":
        return [
            {
                **message,
                "content": None,
                "tool_calls": [{"name": str(raw.get("language") or "code"), "arguments": {"code": raw.get("content")}}],
            }
        ]
    return [message]


def _of_pydantic_ai(raw: Raw) -> list[dict[str, Any]] | None:
    """Requests and responses of pydantic-ai, known by the kinds of their parts; None of other messages."""
    parts = raw.get("parts") if raw.get("kind") in {"request", "response"} else None
    if not isinstance(parts, list) or not parts or not all(isinstance(one, Mapping) and "part_kind" in one for one in parts):
        return None
    if raw["kind"] == "response":
        return [{"role": "assistant", "content": [{"type": one["part_kind"], **one} for one in parts]}]
    found: list[dict[str, Any]] = [{"role": "system", "content": raw["instructions"]}] if raw.get("instructions") else []
    for part in parts:
        called, kind, content = part.get("tool_call_id"), part["part_kind"], part.get("content")
        role = "tool" if called else "system" if kind == "system-prompt" else "user"
        content = content if isinstance(content, str | list) else dumps(content)
        found.append({"role": role, "content": content, "tool_call_id": called, "error": kind == "retry-prompt" or None})
    return found


def _of_ag2(raw: Raw) -> list[dict[str, Any]] | None:
    """Events that AG2 logs from 1.0 on, known by the path of their class; None of other messages."""
    held, (package, _, kind) = raw.get("data"), str(raw.get("type")).rpartition(".")
    if not isinstance(held, Mapping) or not package.startswith("ag2."):
        return None
    if kind.startswith("Tool"):
        error, result = held.get("error"), held.get("result")
        inner = result.get("data") if isinstance(result, Mapping) else None
        parts = inner.get("parts") if isinstance(inner, Mapping) else result
        failed = {"type": error.get("__exception__"), "message": error.get("message")} if isinstance(error, Mapping) else None
        return [{"role": "tool", "tool_call_id": held.get("parent_id"), "content": _ag2_parts(parts), "error": failed}]
    if kind != "ModelResponse":
        role = "assistant" if kind == "HumanInputRequest" else "user"
        return [{"role": role, "content": _ag2_parts(held.get("parts") or held.get("content"))}]
    said, called = held.get("message"), held.get("tool_calls")
    calls = called.get("calls") if isinstance(called, Mapping) else None
    return [{"role": "assistant", "content": said.get("content") if isinstance(said, Mapping) else None, "tool_calls": calls or None}]


def _ag2_parts(given: Any) -> Any:
    """Inputs of AG2 without what only their class needs."""
    if not isinstance(given, list):
        return given
    about = {"__event__", "created_at", "metadata", "vendor_metadata"}
    return [{key: value for key, value in one.items() if key not in about} if isinstance(one, Mapping) else one for one in given]
