"""A conversation put together from requests to models, each of which repeats what was said so far.

A message of a request that is there already is not taken twice. It is told by its id; by its role, its words and its tools, as often as one
request holds them; and where it is somebody's answer, by its words alone, since others read it in another role.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ingest.conversation.chat import ParsedMessage
from ingest.conversation.parts import called_tool, parts_of
from ingest.conversation.rows import ModelCall
from ingest.reading.json_text import dumps

__all__ = ["ModelRequest", "thread_of"]

_READER: Final = "assistant"
"""Who reads what a model is sent, where the log names no agent."""

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to a model, in the order of time."""

    inputs: Sequence[Raw]
    answers: Sequence[Raw]
    """What the model wrote; empty where it failed."""
    agent: str | None
    """The agent that asked; None: the log does not say."""
    call: ModelCall | None = None
    at: datetime | None = None


@dataclass(slots=True, eq=False)
class _Entry:
    """A message, and what the requests tell of it."""

    raw: Raw
    agent: str | None = None
    readers: dict[str, None] = field(default_factory=dict)
    is_answer: bool = False
    at: datetime | None = None
    call: ModelCall | None = None


def thread_of(messages: Sequence[Raw], requests: Sequence[ModelRequest]) -> list[ParsedMessage]:
    """All messages in order: those of the conversation as it is logged, and those that only requests hold, where they came up."""
    thread = _Thread(messages)
    for request in requests:
        thread.add(request)
    is_team = len({request.agent for request in requests}) > 1
    return [
        ParsedMessage(
            raw=entry.raw,
            agent=entry.agent,
            audience=list(entry.readers) if is_team and entry.readers else None,
            at=entry.at,
            call=entry.call,
        )
        for entry in thread.entries()
    ]


class _Thread:
    def __init__(self, messages: Sequence[Raw]) -> None:
        self._main = [_Entry(raw) for raw in messages]
        self._place = {id(entry): index for index, entry in enumerate(self._main)}
        self._after: dict[int, list[_Entry]] = defaultdict(list)
        self._by_id: dict[str, _Entry] = {}
        self._by_words: dict[str, list[_Entry]] = defaultdict(list)
        self._by_text: dict[str, list[_Entry]] = defaultdict(list)
        self._here = -1
        for entry in self._main:
            self._know(entry)

    def entries(self) -> Iterator[_Entry]:
        """All messages in order."""
        yield from self._after[-1]
        for index, entry in enumerate(self._main):
            yield entry
            yield from self._after[index]

    def add(self, request: ModelRequest) -> None:
        """Take what a request holds that is not there yet, and what it tells of the rest."""
        times: Counter[str] = Counter()
        taken: set[int] = set()
        for raw in request.inputs:
            words = _words(raw)
            times[words] += 1
            entry = self._at(raw, self._named(raw) or self._nth(words, times[words]) or self._answered(raw, taken))
            entry.readers[request.agent or _READER] = None
            taken.add(id(entry))
        for raw in request.answers:
            free = (entry for entry in self._by_words[_words(raw)] if not entry.is_answer)
            entry = self._at(raw, self._named(raw) or next(free, None))
            entry.agent, entry.call, entry.at, entry.is_answer = request.agent, request.call, request.at, True
            self._by_text[parts_of(raw.get("content")).text.strip()].append(entry)

    def _at(self, raw: Raw, known: _Entry | None) -> _Entry:
        """The message, which is put here where it is new; the next new one stands behind it."""
        entry = known
        if entry is None:
            entry = _Entry(raw)
            self._after[self._here].append(entry)
            self._know(entry)
        self._here = self._place.get(id(entry), self._here)
        return entry

    def _named(self, raw: Raw) -> _Entry | None:
        return self._by_id.get(str(raw.get("id") or ""))

    def _nth(self, words: str, times: int) -> _Entry | None:
        same = self._by_words[words]
        return same[times - 1] if times <= len(same) else None

    def _answered(self, raw: Raw, taken: set[int]) -> _Entry | None:
        """What another agent wrote, read by this one as a user's words."""
        text = parts_of(raw.get("content")).text.strip()
        if raw.get("role") not in ("user", "assistant") or not text:
            return None
        return next((entry for entry in self._by_text[text] if id(entry) not in taken), None)

    def _know(self, entry: _Entry) -> None:
        named = entry.raw.get("id")
        if named:
            self._by_id.setdefault(str(named), entry)
        self._by_words[_words(entry.raw)].append(entry)


def _words(raw: Raw) -> str:
    """What makes two messages the same; thoughts are cut out of some requests."""
    parts = parts_of(raw.get("content"))
    calls = [*parts.tools, *(called_tool(call) for call in raw.get("tool_calls") or [] if isinstance(call, Mapping))]
    used = [[call.use.name, call.use.arguments, call.id] for call in calls]
    return dumps([raw.get("role"), parts.text.strip(), used, raw.get("tool_call_id"), sorted(parts.results)])
