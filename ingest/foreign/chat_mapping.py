"""Rows of chat lines as conversations, by the mapping file of `cotrace ingest --map` (docs/formats/chat_lines.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingest.conversation.chat import ParsedMessage, logged_messages
from ingest.conversation.messages import chat_messages, is_item, keys_with_content, text_of
from ingest.conversation.rows import UNKNOWN_MODEL, Conversation, LoggedMessage, number, outcome
from ingest.reading.text import dumps, loads, read_any_time, read_json
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt, near, quoted
from schemas.common.yaml_lines import read_yaml


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
        return ChatMapping.model_validate(read_yaml(path, "--map") or {})
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
_REPORTED_ELSEWHERE: Final = frozenset({"conversation.messages", "conversation.rows", "message.turn"})
_OUTER: Final = "file."
"""What a column begins with that is in the document around the rows."""
_WHOLE_FILE: Final = ("conversation.id", FILE)
_RARE: Final = frozenset({"outcome.error"})
"""Entries whose column only some conversations have, by what they mean."""
_OUTCOMES: Final = {"success": "not yes or no, true or false, 1 or 0", "score": "no number"}
_READ: Final = frozenset({
    "content", "parts", "refusal", "reasoning", "reasoning_content", "function_call", "error", "arguments", "input", "args", "output",
    "summary", "observation", "kwargs", "data", "additional_kwargs", "audio", "thinking", "thinking_blocks", "reasoning_details",
    "tool_responses",
})  # fmt: skip
"""Keys of messages that are read in whatever form they are in, next to those that hold facts about a message."""
_LISTED: Final = 12
_MOST_COLUMNS: Final = 1_000
"""Columns; a file whose objects have names for keys has any number of them."""


class Unmet:
    """The entries of a mapping whose columns have not been met yet, in any conversation of a file."""

    def __init__(self, mapping: ChatMapping) -> None:
        self._left = {"row": _named(mapping, ("conversation", "outcome")), "message": _named(mapping, ("message",))}
        self._columns: dict[str, dict[str, None]] = {"row": {}, "message": {}}
        """What there is, in the order in which it was met."""
        self._conversations = 0
        named = _columns(mapping.conversation, mapping.message, mapping.outcome)
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
                    self._look_at(whose, values)

    def unread(self, entry: str, column: str, value: Any) -> None:
        """Take note of a success or score of a conversation's row, if it has a value."""
        if value is not None:
            self._unread.setdefault((entry, column), []).append(value)

    def notes(self) -> Iterator[str]:
        """Keys of messages that hold something and are not read."""
        if self._unread_keys:
            listed = ", ".join(f"{excerpt(key, 40)} ({count})" for key, count in self._unread_keys.most_common(_LISTED))
            yield f"keys of messages that are not read, and in how many: {listed}; a mapping can name them (docs/formats/chat_lines.md)"

    def rejects(self) -> list[BadInputError]:
        """What to tell of the file; that one conversation alone lacks an outcome is not a mistake of the mapping."""
        return [
            self._missing(whose, entry, column)
            for whose, left in self._left.items()
            for entry, column in left.items()
            if self._columns[whose] and (entry in _EVER or self._conversations > 1)
        ] + [_not_read(entry, column, values) for (entry, column), values in self._unread.items()]

    def _look_at(self, whose: str, values: Mapping[str, Any]) -> None:
        self._left[whose] = {entry: column for entry, column in self._left[whose].items() if _is_missing(values, column)}
        if self._left[whose] and len(self._columns[whose]) < _MOST_COLUMNS:
            self._columns[whose] |= dict.fromkeys(_reached(values))

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


def _columns(*parts: _Part) -> set[str]:
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
        and not column.startswith(_OUTER)
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


_THOUGHTS: Final = ("reasoning_content", "reasoning")
_IDS: Final = ("conversation_id", "id", "trace_id", "session_id", "uuid")
_IDS_OF_ROWS: Final = ("conversation_id", "session_id", "thread_id", "trace_id")
"""Columns that tell conversations apart where a row is a message, which may have an `id` of its own."""
_TASKS: Final = ("task_id", "instance_id", "problem_id", "question_id", "sample_id")
_TASKS_OR_KINDS: Final = ("task", "task_name")
"""Names of tasks where conversations are numbered as repeats; elsewhere they may name a kind of task, such as `math`."""
_LONGEST_TASK: Final = 200
"""Characters of a task's name; a longer text is the task itself."""
_ATTEMPTS: Final = ("attempt", "trial", "epoch")
_REPEATS: Final = (*_ATTEMPTS, "run", "run_id", "repeat", "repetition", "rollout", "seed")
_MESSAGE_KEYS: Final = frozenset({
    "tool_calls", "tool_call_id", "tool_call_ids", "function_call", "metadata", "error", "id", "type", "call_id", "arguments", "input",
    "output", "summary", "refusal", "parts", "agent", "models_usage", "reasoning_content", "reasoning", "data", "kwargs", "source",
    "additional_kwargs", "audio", "thinking", "thinking_blocks", "reasoning_details", "tool_responses",
    "tool_messages",
})  # fmt: skip
"""Keys of a message, of whatever dialect; other columns of a row that is a message are facts about the conversation."""


class Row(NamedTuple):
    """A row, and its place."""

    locator: str
    values: Mapping[str, Any]
    outer: Mapping[str, Any] = {}
    """The document around the rows."""


class Group(NamedTuple):
    """The rows of one conversation."""

    name: str
    """What tells it from the others of the file."""
    task: str
    """Its id: conversations with the same one are attempts at the same task."""
    locator: str
    facts: Mapping[str, Any]
    messages: Any
    """The list of messages, or its JSON text."""
    mapping: ChatMapping
    outer: Mapping[str, Any] = {}

    def get(self, column: str) -> Any:
        """A fact about the conversation, or with `file.` one of the document around it."""
        found = _get(self.facts, column)
        return _get(self.outer, column.removeprefix(_OUTER)) if found is None and column.startswith(_OUTER) else found


def grouped(rows: Iterable[Row], mapping: ChatMapping, file: str) -> Iterator[Group]:
    """The conversations of a file, in order of their first rows."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    rows = chain([first], rows)
    mapping = _resolved(mapping, first.values)
    if mapping.conversation.messages:
        yield from _by_row(rows, mapping, file)
    else:
        yield from _by_id(rows, mapping, file)


def _resolved(mapping: ChatMapping, row: Mapping[str, Any]) -> ChatMapping:
    """The mapping with what it leaves to the file: `file` is not a column, unless there is one, and rows may be messages or hold them."""
    columns = mapping.conversation
    name = None if columns.id == FILE and FILE not in row else columns.id
    messages = columns.messages
    if columns.id is None and messages is None:
        messages = "messages" if isinstance(row.get("messages"), list) else None
        name = None if messages else next((column for column in _IDS_OF_ROWS if row.get(column) is not None), None)
    return mapping.model_copy(update={"conversation": columns.model_copy(update={"id": name, "messages": messages})})


def conversation_of(group: Group, file: str, unmet: Unmet) -> Conversation:
    """A conversation, which `unmet` has seen.

    Raises:
        BadInputError: it cannot be read; the message names the place in its row.
    """
    mapping = group.mapping
    raw = _messages(group)
    unmet.look([group.facts] if mapping.conversation.messages else raw, raw)  # of rows that are messages `facts` has what holds a value
    if not group.name:
        raise BadInputError(f"no value in {mapping.conversation.id}: the rows do not say to which conversation they belong")
    found = _conversation(group, raw, file)
    _look_at_outcome(group, mapping, unmet)
    return found


def _look_at_outcome(group: Group, mapping: ChatMapping, unmet: Unmet) -> None:
    success, score = mapping.outcome.success, mapping.outcome.score
    if success and outcome({"success": (values := group.get(success))}).success is None:
        unmet.unread("success", success, values)
    if score and number(values := group.get(score)) is None:
        unmet.unread("score", score, values)


def _messages(group: Group) -> list[Any]:
    column = group.mapping.conversation.messages or ""
    given = group.messages
    if isinstance(given, str):
        given = loads(given.encode(errors="replace"))
    if isinstance(given, Mapping) and len(given) == 1:
        (given,) = given.values()
    if isinstance(given, list):
        return list(_with_inner(given, group.facts, group.mapping)) if group.mapping.conversation.inner else given
    entries = next(filter(None, (_entries(key, value) for key, value in group.facts.items())), None)
    if entries is not None:
        raise BadInputError(
            f"no {column} here: {entries[0]}; write conversation: {{{entries[1]}}} into a mapping, and give it with --map "
            "(docs/formats/chat_lines.md)",
        )
    raise BadInputError(
        f"{column} is not a list of messages, and there are {excerpt(', '.join(map(str, group.facts)))}: say in a mapping which column "
        "has them (--map, docs/formats/chat_lines.md)",
        locator=f".{column}",
    )


def _with_inner(raw: list[Any], row: Mapping[str, Any], mapping: ChatMapping, caller: str = "agent") -> Iterator[Any]:
    """The messages of a row, and after the one that refers to them those of the agents that were called; they are by these agents."""
    column, speaker = mapping.conversation.inner or "", mapping.message.speaker
    left = {str(one.get("trajectory_id") or index): one for index, one in enumerate(_get(row, column) or []) if isinstance(one, Mapping)}
    for entry in [*raw, None]:
        yield from () if entry is None else (entry,)
        named = [name for name in left if entry is None or f'"{name}"' in dumps(entry)]
        for name, one in [(name, left.pop(name)) for name in named]:
            steps = _get(one, mapping.conversation.messages or "")
            for step in _with_inner(steps if isinstance(steps, list) else [], one, mapping, name):
                who = {"agent": name, "user": caller}.get(str(_get(step, mapping.message.role)))
                yield {speaker: who, **step} if who is not None and isinstance(step, Mapping) else step


def _entries(key: str, value: Any) -> tuple[str, str] | None:
    """What a key holds, messages or conversations, and the entries of a mapping that name it; None if it holds neither."""
    first = value[0] if _is_list_of_objects(value) else {}
    if {"content", "parts"} & set(first) and {"role", "source", "type"} & set(first):
        return f"messages are under {key}", f"messages: {key}"
    inner = next((name for name, held in first.items() if _is_list_of_objects(held)), None)
    return None if inner is None else (f"the conversations are under {key}", f"rows: {key}, messages: {inner}")


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _by_row(rows: Iterable[Row], mapping: ChatMapping, file: str) -> Iterator[Group]:
    """One conversation a row."""
    column = mapping.conversation.messages or ""
    seen: Counter[str] = Counter()
    for index, row in enumerate(rows):
        task = _name(row.values, mapping) or str(index)
        seen[task] += 1
        name = task if seen[task] == 1 else f"{task} ({seen[task]})"
        task = task if row.locator or _name(row.values, mapping) else _stem(file)
        yield Group(name, task, row.locator, row.values, _get(row.values, column), mapping, row.outer)


def _by_id(rows: Iterable[Row], mapping: ChatMapping, file: str) -> Iterator[Group]:
    """One message a row."""
    groups: dict[str, list[Row]] = {}
    whole = None if mapping.conversation.id else _stem(file)
    for row in rows:
        name = _name(row.values, mapping) if whole is None else whole
        groups.setdefault("" if name is None else name, []).append(row)
    for name, group in groups.items():
        locator = group[0].locator if whole is None else ""
        yield Group(name, name, locator, _facts(group), [dict(row.values) for row in group], mapping, group[0].outer)


def _stem(file: str) -> str:
    return file.rpartition("/")[2].partition(".")[0] or file


def _facts(group: list[Row]) -> dict[str, Any]:
    """What the rows of a conversation state of it: the last value of each column."""
    return {key: value for row in group for key, value in row.values.items() if value is not None}


def _name(values: Mapping[str, Any], mapping: ChatMapping) -> str | None:
    columns = [mapping.conversation.id] if mapping.conversation.id else _IDS
    found = next((value for column in columns if column and (value := _get(values, column)) is not None), None)
    return None if found is None else str(found)


def _conversation(group: Group, raw: list[Any], file: str) -> Conversation:
    mapping = group.mapping
    raw, facts = _split_facts(raw, group)
    group = group._replace(facts=facts)
    messages, scores_of_turns = _mapped_messages(raw, mapping)
    if not messages:
        raise BadInputError("no messages")
    columns = mapping.outcome
    values = {name: _first_fact(group, getattr(columns, name), names) for name, names in _OUTCOME_NAMES.items()}
    has_success = columns.success is not None or values["success"] is not None
    ended = outcome({"success": values["success"]} if has_success else {"score": values["score"]})
    score = number(values["score"])
    attempt = next((_whole(group, column) for column in ([columns.attempt] if columns.attempt else _ATTEMPTS) if column in facts), None)
    models = _models(messages, values["model"])
    main = models.get(_MAIN) if mapping.message.agent else None  # sub-agents have names of their own in each session
    read = {mapping.conversation.messages, *([] if mapping.conversation.messages else _used(mapping))}
    wanted = facts if columns.details is None else columns.details
    return Conversation(
        benchmark=mapping.benchmark,
        run=str(group.get(columns.run) if columns.run else mapping.run or _stem(file)),
        task=_task(group, file) or group.task,
        level=_text(group, columns.level),
        messages=messages,
        models=models,
        model=values["model"] if isinstance(values["model"], str) else main,
        team=_team(group.get(columns.team)) if columns.team else None,
        success=ended.success,
        score=score if score is not None else ended.score,
        by_number=ended.by_number and not has_success,
        metrics={name: found for name, column in columns.scores.items() if (found := number(group.get(column))) is not None},
        turn_metrics=scores_of_turns,
        stop_reason=None if values["stop"] is None else str(values["stop"]),
        error=_text(group, columns.error),
        attempt=attempt,
        seed=_whole(group, columns.seed) if columns.seed else attempt,
        details={key: value for key in wanted if key not in read and (value := group.get(key)) is not None},
    )


_MAIN: Final = "assistant"
"""The agent that a person talks to, in sessions with sub-agents."""
_OUTCOME_NAMES: Final = {
    "success": ("success", "resolved", "passed"),
    "score": ("score", "reward"),
    "model": ("model", "model_name", "model_name_or_path", "model_path"),
    "stop": ("stop_reason", "exit_status", "termination_reason"),
}
"""Facts of a conversation -> what programs call them, where no mapping names the column."""


def _task(group: Group, file: str) -> str | None:
    column = group.mapping.outcome.task
    if column == FILE:
        return _stem(file)
    if isinstance(column, list):
        return "/".join(str(value) for one in column if (value := group.get(one)) is not None) or None
    if column:
        found = group.get(column)
        return None if found is None else str(found)
    repeats = any(group.get(name) is not None for name in _REPEATS)
    given = (group.get(name) for name in (*_TASKS, *(_TASKS_OR_KINDS if repeats else ())))
    return next((str(one) for one in given if isinstance(one, str | int) and len(str(one)) <= _LONGEST_TASK and "\n" not in str(one)), None)


def _team(given: Any) -> dict[str, str | None] | None:
    given = read_json(given) if isinstance(given, str) and given.startswith("{") else given
    if isinstance(given, Mapping):
        return {str(role): None if model is None else str(model) for role, model in given.items()}
    return None if given is None else {"team": str(given)}


def _first_fact(group: Group, column: str | None, names: Sequence[str]) -> Any:
    return next((value for name in ([column] if column else names) if (value := group.get(name)) is not None), None)


def _split_facts(raw: list[Any], group: Group) -> tuple[list[Any], Mapping[str, Any]]:
    """The messages, and the facts, with those that entries of the list hold which are not messages."""
    columns = group.mapping.message
    if not columns.where and not columns.needs:
        return raw, group.facts
    messages: list[Any] = []
    facts = dict(group.facts)
    seen: dict[Any, Any] = {}
    for entry in raw:
        if _is_message(entry, columns):
            name = _get(entry, columns.id) if columns.id else None
            if name is None or seen.setdefault(str(name), entry) is entry or seen[str(name)] != entry:
                messages.append(entry)
            continue
        used = _get(entry, columns.usage) if columns.usage and isinstance(entry, Mapping) else None
        if used and messages:
            messages[-1] = {**messages[-1], "usage": used}
        facts |= {str(_get(entry, key)): entry for key in columns.where} if isinstance(entry, Mapping) else {}
    return messages, facts


def _is_message(entry: Any, columns: MessageColumns) -> bool:
    return (
        isinstance(entry, Mapping)
        and all(str(_get(entry, key)) in values for key, values in columns.where.items())
        and (not columns.needs or any(_get(entry, key) for key in columns.needs))
    )


def _models(messages: list[LoggedMessage], model: Any) -> dict[str, str]:
    """Agent -> model: as its messages tell, else the conversation's."""
    found = {one.agent: one.call.model for one in messages if one.call is not None and one.call.model != UNKNOWN_MODEL}
    agents = {one.agent: model for one in messages if isinstance(model, str) and not {one.agent, one.role} & _NO_MODEL}
    return agents | found


_NO_MODEL: Final = frozenset({"user", "system", "developer", "tool", "human"})


def _used(mapping: ChatMapping) -> frozenset[str]:
    return _MESSAGE_KEYS | _columns(mapping.message)


def _whole(group: Group, column: str) -> int | None:
    """A whole number; None for anything else, which stays in the details."""
    found = number(group.get(column))
    return int(found) if found is not None and found.is_integer() else None


def _text(group: Group, column: str | None) -> str | None:
    value = None if column is None else group.get(column)
    return None if value is None else str(value)


def _mapped_messages(raw: list[Any], mapping: ChatMapping) -> tuple[list[LoggedMessage], dict[int, dict[str, float]]]:
    """The messages, and the scores of turns, from 1."""
    columns = mapping.message
    raw = [_as_object(one) for one in _flat(raw)]
    if columns.order is not None:
        order = columns.order
        raw = sorted(raw, key=lambda message: _order(message, order))
    parsed = [list(_message(message, index, mapping)) for index, message in enumerate(raw)]
    logged = logged_messages([one for found in parsed for one in found])
    if not columns.scores:
        return logged, {}
    shift = 1 if any(one.turn == 0 for one in logged) else 0
    scores: dict[int, dict[str, float]] = {}
    place = 0
    for message, found in zip(raw, parsed, strict=True):
        given = {name: value for name, column in columns.scores.items() if (value := number(_get(message, column))) is not None}
        turn = logged[place].turn if place < len(logged) else None
        if given:
            scores.setdefault(place + 1 if turn is None else turn + shift, {}).update(given)
        place += sum(len(chat_messages(one.raw)) for one in found)
    return logged, scores


def _flat(raw: list[Any]) -> Iterator[Any]:
    """The messages of a list, which may hold a list for each turn; they get its number as `turn`."""
    for index, entry in enumerate(raw):
        if isinstance(entry, list) and entry and all(isinstance(one, list | Mapping) for one in entry):
            yield from ({**_as_object(one), "turn": index} for one in entry)
        else:
            yield entry


def _as_object(entry: Any) -> Any:
    """A message that is a list, with its places as keys."""
    return {str(place): value for place, value in enumerate(entry)} if isinstance(entry, list) else entry


def _message(raw: Any, index: int, mapping: ChatMapping) -> Iterator[ParsedMessage]:
    """A message, and what came of its calls where it holds that too."""
    if not isinstance(raw, Mapping):
        raise BadInputError("a message is not an object", locator=f".messages[{index}]")
    columns = mapping.message
    inner = _get(raw, columns.within) if columns.within else None
    raw = {**{key: value for key, value in raw.items() if key != columns.within}, **inner} if isinstance(inner, Mapping) else raw
    chat = _dialect(raw, mapping)
    role, speaker = _get(raw, columns.role), _get(raw, columns.speaker)
    text = next((found for column in (columns.text, "system_prompt") if (found := _get(raw, column)) is not None), None)
    chat |= {key: value for key, value in (("role", role), ("content", text)) if value is not None}
    if speaker is not None:
        chat["name"] = str(speaker)
        if role == "tool" and columns.speaker not in {"name", columns.role}:
            chat["metadata"] = {"speaker": str(speaker)}
    thought = next((value for column in (columns.thought, *_THOUGHTS) if column and (value := _get(raw, column))), None)
    if thought is not None:
        chat |= {"reasoning_content": thought if isinstance(thought, str) else text_of(thought), "reasoning": None}
    calls = list(_calls(raw, mapping))
    if calls:
        chat["tool_calls"] = [*(chat.get("tool_calls") or []), *calls]
    to = _get(raw, columns.to) if columns.to else None
    at = _get(raw, columns.time) if columns.time else None
    turn = None if columns.turn is None else _turn(raw, index, columns.turn)
    named = {column.partition(".")[0] for column in _columns(columns, mapping.outcome, mapping.conversation)}
    agent = _get(raw, columns.agent) if columns.agent else None
    if agent is not None:  # what a sub-agent is asked, its caller wrote
        chat |= {"agent": str(agent)} | ({"name": _MAIN} if role == "user" else {})
    unnamed = {key: value for key, value in raw.items() if key not in named or key == columns.text}
    yield ParsedMessage(raw=chat, audience=_audience(to), at=read_any_time(at), turn=turn, source=unnamed)
    observed = _observed(raw, columns.observation)
    if observed:
        yield ParsedMessage(raw={"role": "tool", "content": observed}, audience=_audience(to), at=read_any_time(at), turn=turn)


def _dialect(raw: Mapping[str, Any], mapping: ChatMapping) -> dict[str, Any]:
    """What a message holds under the names of its own dialect; columns of other meanings left out."""
    columns = mapping.message
    other = {columns.speaker, columns.to, columns.turn, columns.order, columns.thought, columns.time, columns.tool, columns.action}
    keys = raw if is_item(raw) or columns.within else _MESSAGE_KEYS
    return {key: raw[key] for key in keys if raw.get(key) is not None and key not in other}


def _calls(raw: Mapping[str, Any], mapping: ChatMapping) -> Iterator[Any]:
    """Calls that columns of the mapping hold: a tool with its arguments, calls in a list, or an action, called as its column is."""
    columns = mapping.message
    succeeded = None if columns.success is None else outcome({"success": _get(raw, columns.success)}).success
    for call in _plain_calls(raw, columns):
        yield call if succeeded is None or not isinstance(call, Mapping) else {**call, "succeeded": succeeded}


def _plain_calls(raw: Mapping[str, Any], columns: MessageColumns) -> Iterator[Any]:
    tool = _get(raw, columns.tool) if columns.tool else None
    action = _get(raw, columns.action) if columns.action and not raw.get("tool_calls") else None
    if isinstance(tool, list):
        yield from tool
    elif tool is not None and not isinstance(tool, Mapping):
        yield {"name": str(tool), "arguments": {} if action is None else action}
    elif isinstance(tool, Mapping):
        yield tool
    elif isinstance(action, list):
        yield from (_action(one, columns.action or "") for one in action)
    elif isinstance(action, Mapping):
        yield _action(action, columns.action or "")
    elif action not in (None, ""):
        yield {"name": (columns.action or "").rpartition(".")[2], "arguments": {"value": action}}


def _action(given: Any, column: str) -> Any:
    """A call; an object without a name is a command, or called as its column is."""
    if not isinstance(given, Mapping) or {"name", "function", "function_name", "tool_name"} & set(given):
        return given
    arguments = {key: value for key, value in given.items() if key != "tool_call_id"}
    name = "command" if "command" in given else column.rpartition(".")[2]
    return {"name": name, "arguments": arguments, "id": given.get("tool_call_id")}


def _observed(raw: Mapping[str, Any], column: str | None) -> list[Any]:
    """What came of calls: a text, or results, each with the id of its call. Unless a mapping names it, only what cannot be a mere name."""
    given = _get(raw, column or "observation")
    if isinstance(given, Mapping) and isinstance(given.get("results"), list):
        given = given["results"]
    if given in (None, "") or (column is None and isinstance(given, str)):
        return []
    parts = given if isinstance(given, list) else [given]
    return [
        {"type": "tool_result", **part} if isinstance(part, Mapping) and "type" not in part and "content" in part else part
        for part in parts
    ]


def _audience(to: Any) -> list[str] | None:
    """A name, several with commas between, or a list; `all` is everybody."""
    names = to.split(",") if isinstance(to, str) else to if isinstance(to, list) else []
    found = [str(name).strip() for name in names if str(name).strip()]
    return None if not found or "all" in (name.lower() for name in found) else found


def _turn(message: Mapping[str, Any], index: int, column: str) -> int:
    value = number(_get(message, column))
    if value is None or value != int(value) or value < 0:
        raise BadInputError(f"{column} is {_get(message, column)!r}: a turn is a whole number from 0 or 1", locator=f".messages[{index}]")
    return int(value)


def _order(message: Any, column: str) -> tuple[bool, float, str]:
    """Numbers by size, everything else by its text, what is missing last."""
    value = _get(message, column) if isinstance(message, Mapping) else None
    as_number = number(value)
    return value is None, as_number if as_number is not None else 0.0, "" if as_number is not None else str(value)


def _get(values: Mapping[str, Any], column: str) -> Any:
    """A column, or what a name with points leads to."""
    if column in values:
        return values[column]
    here: Any = values
    for part in column.split("."):
        if isinstance(here, str) and here.lstrip()[:1] in {"{", "["}:
            here = read_json(here)
        if isinstance(here, list) and part.lstrip("-").isdecimal() and -len(here) <= int(part) < len(here):
            here = here[int(part)]
        elif isinstance(here, Mapping) and part in here:
            here = here[part]
        else:
            return None
    return here
