"""Games as OpenTelemetry spans in OTLP JSON, one game per line: a span per message, verdicts as `gen_ai.evaluation.result` events.

Attributes follow the semantic conventions for generative AI 1.39 (in development there). Where a log has no times, messages are one second
apart.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from analytics.exports.games import AgentMessage, GameOut, Row, games, messages_of
from schemas.store.store import Store

_SECOND: Final = 1_000_000_000


def export_otlp(store: Store, folder: Path, where: str = "true") -> Iterator[tuple[Path, int]]:
    """Write `spans.jsonl`; gives it with its number of games.

    Raises:
        UsageError: the condition is none.
        OSError: the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "spans.jsonl"
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for game in games(store, where):
            file.write(json.dumps(_document(game), ensure_ascii=False) + "\n")
            count += 1
    yield path, count


def _document(game: GameOut) -> dict[str, Any]:
    resource = {"attributes": _attributes({"service.name": game.run["name"] or game.facts["benchmark"]})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "cotrace"}, "spans": list(_spans(game))}]}]}


def _spans(game: GameOut) -> Iterator[dict[str, Any]]:
    """The game's span, then one a message; a verdict is an event of the message it is about, else of the game."""
    messages = messages_of(game)
    times = _times(game, messages)
    verdicts = _placed(game.verdicts, messages)
    models = {agent["agent"]: agent["model"] for agent in game.agents}
    trace = _id(game.facts["episode_id"], 16)
    root = _id(f"{game.facts['episode_id']} game", 8)
    facts = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.conversation.id": game.facts["episode_id"],
        "cotrace.benchmark": game.facts["benchmark"],
        "cotrace.task": game.facts["task_id"],
    }
    failed = {"status": {"code": 2, "message": game.facts["error"]}} if game.facts["error"] else {}
    yield (
        _span(trace, root, "game", times[0], times[-1], facts)
        | failed
        | {"events": [*_outcome(game, times[-1]), *(_event(row, times[-1]) for row in verdicts[None])]}
    )
    for index, message in enumerate(messages):
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": game.facts["episode_id"],
            "gen_ai.agent.name": message.agent,
            "gen_ai.request.model": models.get(message.agent),
            "gen_ai.output.messages": json.dumps([_chat(message)], ensure_ascii=False),
            "cotrace.turn": message.turn,
            "cotrace.audience": json.dumps(message.audience),
        }
        span = _span(
            trace, _id(f"{game.facts['episode_id']} {index}", 8), f"chat {message.agent}", times[index], times[index + 1], attributes
        )
        yield span | {"parentSpanId": root, "events": [_event(row, times[index]) for row in verdicts[index]]}


def _times(game: GameOut, messages: Sequence[AgentMessage]) -> list[int]:
    """Nanoseconds of the beginning of each message, and of the end; never backwards."""
    logged = {row["turn"]: row["at"] for row in game.turns if row["at"] is not None}
    started = game.facts["started_at"] or min(logged.values(), default=datetime(1970, 1, 1, tzinfo=UTC))
    times = [_nanoseconds(started)]
    for message in messages:
        at = logged.get(message.turn)
        times.append(max(times[-1] + _SECOND, 0 if at is None else _nanoseconds(at)))
    return times


def _nanoseconds(time: datetime) -> int:
    return int(time.replace(tzinfo=UTC).timestamp()) * _SECOND


def _placed(verdicts: Sequence[Row], messages: Sequence[AgentMessage]) -> dict[int | None, list[Row]]:
    """Message -> the verdicts about its turn and agent, at the agent's last message of the turn; None: about more than a message."""
    last = {(message.turn, message.agent): index for index, message in enumerate(messages)}
    found: dict[int | None, list[Row]] = defaultdict(list)
    for row in verdicts:
        found[last.get((row["turn"], row["agent"]))].append(row)
    return found


def _chat(message: AgentMessage) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "reasoning", "content": message.thought}] if message.thought is not None else []
    parts.append({"type": "text", "content": message.text})
    parts += [{"type": "tool_call", "name": action["verb"], "arguments": action["arguments"]} for action in message.actions]
    return {"role": "assistant", "name": message.agent, "parts": parts}


def _outcome(game: GameOut, at: int) -> Iterator[dict[str, Any]]:
    facts = game.facts
    if facts["success"] is not None:
        yield _evaluation({"gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.value": float(facts["success"])}, at)
    if facts["score"] is not None:
        yield _evaluation({"gen_ai.evaluation.name": "score", "gen_ai.evaluation.score.value": facts["score"]}, at)


def _event(row: Row, at: int) -> dict[str, Any]:
    attributes = {
        "gen_ai.evaluation.name": f"{row['rubric']}.{row['question']}",
        "gen_ai.evaluation.score.value": row["score"],
        "gen_ai.evaluation.score.label": row["answer"],
        "gen_ai.evaluation.explanation": row["reason"],
        "error.type": row["status"] if row["status"] == "failed" else None,
        "cotrace.judge": row["judge"],
        "cotrace.status": row["status"],
        "cotrace.unit": row["unit_id"],
    }
    return _evaluation(attributes, at)


def _evaluation(attributes: Mapping[str, Any], at: int) -> dict[str, Any]:
    return {"name": "gen_ai.evaluation.result", "timeUnixNano": str(at), "attributes": _attributes(attributes)}


def _span(trace: str, span: str, name: str, start: int, end: int, attributes: Mapping[str, Any]) -> dict[str, Any]:  # noqa: PLR0913, PLR0917
    return {
        "traceId": trace,
        "spanId": span,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": _attributes(attributes),
    }


def _attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}


def _id(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()
