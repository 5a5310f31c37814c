"""Rows of chat lines as conversations, by the mapping file of `cotrace ingest --map` (docs/formats/chat_lines.md)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Final, NamedTuple

from ingest.conversation.rows import Conversation, LoggedMessage, numbers, outcome, whole_number
from ingest.conversation.usage import UNKNOWN_MODEL
from ingest.foreign.mapped_messages import MAIN, THOUGHTS, get, mapped_messages
from ingest.foreign.mapping_file import FILE, MESSAGE_KEYS, OUTER, ChatMapping, OutcomeColumns, Unmet, columns_of
from ingest.reading.text import dumps, loads, number, parsed
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

IDS: Final = ("conversation_id", "id", "trace_id", "session_id", "uuid")
_IDS_OF_ROWS: Final = ("conversation_id", "session_id", "thread_id", "trace_id")
"""Columns that tell conversations apart where a row is a message, which may have an `id` of its own."""
_IDS_OF_GAMES: Final = (
    *(f"{name}_id" for name in ("dialogue", "dialog", "chat", "game", "episode", "match", "channel")),
    *("conversation", "dialogue", "dialog", "game", "episode", "match"),
)
"""Other names of such columns, which count where nearly all rows have one and its values repeat: in other logs they name something else."""
_OF_MESSAGES: Final = ("run_id", "task_id")
"""The last of them: a run may be that of one message, and a task have several conversations."""
_TASKS: Final = ("task_id", "instance_id", "problem_id", "question_id", "sample_id")
_TASKS_OR_KINDS: Final = ("task", "task_name")
"""Names of tasks where conversations are numbered as repeats; elsewhere they may name a kind of task, such as `math`."""
_LONGEST_TASK: Final = 200
"""Characters of a task's name; a longer text is the task itself."""
_ATTEMPTS: Final = ("attempt", "trial", "epoch")
_REPEATS: Final = (*_ATTEMPTS, "run", "run_id", "repeat", "repetition", "rollout", "seed")
TELL_APART: Final = (
    *(*_IDS_OF_ROWS[:-1], *_IDS_OF_GAMES, *_TASKS, *_TASKS_OR_KINDS),
    *(*(name for name in _REPEATS if name != "run_id"), "model"),
)
"""Columns whose values differ only between games; ids of rows, and of runs, may be those of requests, or of traces of parts."""


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
        found = get(self.facts, column)
        return get(self.outer, column.removeprefix(OUTER)) if found is None and column.startswith(OUTER) else found


def grouped(rows: Iterable[Row], mapping: ChatMapping, file: str) -> Iterator[Group]:
    """The conversations of a file, in order of their first rows."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    rows = chain([first], rows)
    columns = mapping.conversation
    messages = columns.messages
    name = None if columns.id == FILE and FILE not in first.values and messages is None else columns.id
    within = None
    if columns.id is None and messages is None:
        messages = "messages" if isinstance(first.values.get("messages"), list) else None
        name = None if messages else next((column for column in _IDS_OF_ROWS if first.values.get(column) is not None), None)
        if name is None and messages is None:
            rows = list(rows)
            name = next((column for column in (*_IDS_OF_GAMES, *_OF_MESSAGES) if _repeats(column, rows)), None)
            within = None if name is None else _numbered_within(name, rows)
    mapping = mapping.model_copy(update={"conversation": columns.model_copy(update={"id": name, "messages": messages})})
    if mapping.conversation.messages and mapping.conversation.id == FILE:
        yield _joined(list(rows), mapping, file)
    elif mapping.conversation.messages:
        column = mapping.conversation.messages or ""
        seen: Counter[str] = Counter()
        for index, row in enumerate(rows):
            task = _name(row.values, mapping) or str(index)
            seen[task] += 1
            name = task if seen[task] == 1 else f"{task} ({seen[task]})"
            task = task if row.locator or _name(row.values, mapping) else _stem(file)
            yield Group(name, task, row.locator, row.values, get(row.values, column), mapping, row.outer)
    else:
        yield from _by_id(rows, mapping, file, within)


def _repeats(column: str, rows: Sequence[Row]) -> bool:
    """Whether rows that are messages have a column whose values gather them: several values, each in two rows or more on average."""
    values = [str(value) for row in rows if (value := row.values.get(column)) is not None]
    return 1 < len(set(values)) <= len(values) / 2 and len(values) >= _NEARLY_ALL * len(rows)


_NEARLY_ALL: Final = 0.9


def _numbered_within(name: str, rows: Sequence[Row]) -> str | None:
    """The column of what games are numbered in, such as a run: its value changes wherever a number comes back, and only there."""
    numbers = [str(row.values.get(name)) for row in rows]
    for column in (*_TASKS, *_TASKS_OR_KINDS, *_REPEATS, "model"):
        games = [(number, str(row.values.get(column))) for number, row in zip(numbers, rows, strict=True)]
        stretches = [sum(1 for _ in groupby(one)) for one in (numbers, games)]
        if column != name and stretches == [len(set(games))] * 2 and len(set(games)) > len(set(numbers)):
            return column
    return None


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
    success, score = mapping.outcome.success, mapping.outcome.score
    if success and outcome({"success": (values := group.get(success))}).success is None:
        unmet.unread("success", success, values)
    if score and number(values := group.get(score)) is None:
        unmet.unread("score", score, values)
    return found


def _messages(group: Group) -> list[Any]:
    column = group.mapping.conversation.messages or ""
    given = group.messages
    if isinstance(given, str):
        given = loads(given.encode(errors="replace"))
    if isinstance(given, Mapping) and len(given) == 1:
        (given,) = given.values()
    if (
        isinstance(given, list)
        and group.mapping.conversation.messages
        and isinstance(agent := group.facts.get("agent") or group.facts.get("agent_name"), str)
    ):
        given = [{"agent": agent, **one} if isinstance(one, Mapping) else one for one in given]
    reply = get(group.facts, group.mapping.conversation.reply) if group.mapping.conversation.reply else None
    if isinstance(given, list) and reply and not any(isinstance(one, Mapping) and one.get("content") == reply for one in given):
        given = [*given, {"role": "assistant", "content": reply, "agent": group.facts.get("agent")}]
    if isinstance(given, list):
        return list(_with_inner(given, group.facts, group.mapping)) if group.mapping.conversation.inner else given
    raise BadInputError(
        f"{column} is not a list of messages, and there are {excerpt(', '.join(map(str, group.facts)))}: say in a mapping which column "
        "has them (--map, docs/formats/chat_lines.md)",
        locator=f".{column}",
    )


def _with_inner(raw: list[Any], row: Mapping[str, Any], mapping: ChatMapping, caller: str = "agent") -> Iterator[Any]:
    """The messages of a row, and after the one that refers to them those of the agents that were called; they are by these agents."""
    column, speaker = mapping.conversation.inner or "", mapping.message.speaker
    left = {str(one.get("trajectory_id") or index): one for index, one in enumerate(get(row, column) or []) if isinstance(one, Mapping)}
    for entry in [*raw, None]:
        yield from () if entry is None else (entry,)
        named = [name for name in left if entry is None or f'"{name}"' in dumps(entry)]
        for name, one in [(name, left.pop(name)) for name in named]:
            steps = get(one, mapping.conversation.messages or "")
            for step in _with_inner(steps if isinstance(steps, list) else [], one, mapping, name):
                who = {"agent": name, "user": caller}.get(str(get(step, mapping.message.role)))
                yield {speaker: who, **step} if who is not None and isinstance(step, Mapping) else step


def _joined(rows: Sequence[Row], mapping: ChatMapping, file: str) -> Group:
    """All rows as one conversation: the messages of each, by the agent of the row, and its last reply where no message has it."""
    messages: list[Any] = []
    for row in rows:
        given = get(row.values, mapping.conversation.messages or "")
        held = list(_messages(Group("", "", row.locator, row.values, [] if given is None else given, mapping)))
        done = mapping.message.action
        if done and row.values.get(done):
            thought = {} if held else {key: row.values[key] for key in THOUGHTS if row.values.get(key)}
            held.append({"role": "assistant", done: row.values[done], **thought})
        messages += held
    return Group(_stem(file), _stem(file), "", {**rows[0].outer} or _facts(list(rows)), messages, mapping, rows[0].outer)


def _by_id(rows: Iterable[Row], mapping: ChatMapping, file: str, within: str | None) -> Iterator[Group]:
    """One message a row; ids count only `within` the values of a column."""
    groups: dict[str, list[Row]] = {}
    whole = None if mapping.conversation.id else _stem(file)
    for row in rows:
        name = _name(row.values, mapping) if whole is None else whole
        name = name if name is None or within is None else f"{row.values.get(within)} {name}"
        groups.setdefault("" if name is None else name, []).append(row)
    for name, group in groups.items():
        locator = group[0].locator if whole is None else ""
        messages = [dict(row.values) for row in group]
        if mapping.conversation.before:
            asked = _messages_before(get(group[0].values, mapping.conversation.before))
            messages = [*asked, *({"role": "assistant", **one} for one in messages)]
        yield Group(name, name, locator, _facts(group), messages, mapping, group[0].outer)


def _messages_before(request: Any) -> list[Any]:
    """The messages of a request to any provider, with its system prompt; none where the log does not hold it."""
    request = parsed(request)
    if not isinstance(request, Mapping):
        return []
    system = next((found for key in ("system", "instructions", "systemInstruction") if (found := request.get(key))), None)
    held: Any = next((found for key in ("messages", "input", "contents", "prompt") if (found := request.get(key))), [])
    held = held if isinstance(held, list) else [{"role": "user", "content": held}]
    return held if system is None else [{"role": "system", **(system if isinstance(system, Mapping) else {"content": system})}, *held]


def _stem(file: str) -> str:
    return file.rpartition("/")[2].partition(".")[0] or file


def _facts(group: list[Row]) -> dict[str, Any]:
    """What the rows of a conversation state of it: the last value of each column."""
    return {key: value for row in group for key, value in row.values.items() if value is not None}


def _name(values: Mapping[str, Any], mapping: ChatMapping) -> str | None:
    columns = [mapping.conversation.id] if mapping.conversation.id else IDS
    found = next((value for column in columns if column and (value := get(values, column)) is not None), None)
    return None if found is None else str(found)


def _conversation(group: Group, raw: list[Any], file: str) -> Conversation:
    mapping = group.mapping
    raw, facts = _split_facts(raw, group)
    group = group._replace(facts=facts)
    messages, scores_of_turns = mapped_messages(raw, mapping)
    if not messages:
        raise BadInputError("no messages")
    columns = mapping.outcome
    asked = {name: [column] if (column := getattr(columns, name)) else names for name, names in _OUTCOME_NAMES.items()}
    values = {name: next((value for one in names if (value := group.get(one)) is not None), None) for name, names in asked.items()}
    has_success = columns.success is not None or values["success"] is not None
    ended = outcome({"success": values["success"]} if has_success else {"score": values["score"]})
    score = number(values["score"])
    attempts = [columns.attempt] if columns.attempt else _ATTEMPTS
    attempt = next((whole_number(group.get(column)) for column in attempts if column in facts), None)
    model = values["model"]
    found = {one.agent: one.call.model for one in messages if one.call is not None and one.call.model != UNKNOWN_MODEL}
    agents = {one.agent: model for one in messages if isinstance(model, str) and not {one.agent, one.role} & _NO_MODEL}
    models = (agents | found) | _models_in_order(messages, values["model"])
    main = models.get(MAIN) if mapping.message.agent else None  # sub-agents have names of their own in each session
    read = {mapping.conversation.messages, *([] if mapping.conversation.messages else MESSAGE_KEYS | columns_of(mapping.message))}
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
        metrics=numbers({name: group.get(column) for name, column in (columns.scores or _scores(facts, columns)).items()}),
        turn_metrics=scores_of_turns,
        stop_reason=None if values["stop"] is None else str(values["stop"]),
        error=_text(group, columns.error),
        attempt=attempt,
        seed=whole_number(group.get(columns.seed)) if columns.seed else attempt,
        details={key: value for key in wanted if key not in read and (value := group.get(key)) is not None},
    )


_OUTCOME_NAMES: Final = {
    "success": ("success", "resolved", "passed"),
    "score": ("score", "reward"),
    "model": ("model", "model_name", "model_name_or_path", "model_path"),
    "stop": ("stop_reason", "exit_status", "termination_reason"),
}
"""Facts of a conversation -> what programs call them, where no mapping names the column."""


_SCORE: Final = re.compile(r"(?:.*[_ ])?(?:score|reward|rating|utility)s?|(?:metric|evaluation)s?", re.IGNORECASE)


def _scores(facts: Mapping[str, Any], columns: OutcomeColumns) -> dict[str, str]:
    """Columns that are scores by their names, where a mapping names none."""
    return {key: key for key in facts if _SCORE.fullmatch(key) and key not in {columns.score, *_OUTCOME_NAMES["score"]}}


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
    given = parsed(given)
    if isinstance(given, Mapping):
        return {str(role): None if model is None else str(model) for role, model in given.items()}
    return None if given is None else {"team": str(given)}


def _split_facts(raw: list[Any], group: Group) -> tuple[list[Any], Mapping[str, Any]]:
    """The messages, and the facts, with those that entries of the list hold which are not messages."""
    columns = group.mapping.message
    if not columns.where and not columns.needs:
        return raw, group.facts
    messages: list[Any] = []
    facts = dict(group.facts)
    seen: dict[Any, Any] = {}
    for entry in raw:
        if (
            isinstance(entry, Mapping)
            and all(str(get(entry, key)) in values for key, values in columns.where.items())
            and (not columns.needs or any(get(entry, key) for key in columns.needs))
        ):
            name = get(entry, columns.id) if columns.id else None
            if name is None or seen.setdefault(str(name), entry) is entry or seen[str(name)] != entry:
                messages.append(entry)
            continue
        used = get(entry, columns.usage) if columns.usage and isinstance(entry, Mapping) else None
        if used and messages:
            messages[-1] = {**messages[-1], "usage": used}
        facts |= {str(get(entry, key)): entry for key in columns.where} if isinstance(entry, Mapping) else {}
    return messages, facts


def _models_in_order(messages: list[LoggedMessage], given: Any) -> dict[str, str]:
    """Agent -> model, where a list has one for each agent in the order in which they speak or are spoken to."""
    agents = dict.fromkeys(name for one in messages for name in (one.agent, *(one.audience or ())))
    models = [str(one) for one in given] if isinstance(given, list) else []
    return dict(zip(agents, models, strict=True)) if len(models) == len(agents) else {}


_NO_MODEL: Final = frozenset({"user", "system", "developer", "tool", "human"})


def _text(group: Group, column: str | None) -> str | None:
    value = None if column is None else group.get(column)
    return None if value is None else str(value)
