"""Messages of a log by a mapping: each as a chat message with its calls, its observation, its turn and who could read it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ingest.conversation.chat import ParsedMessage, logged_messages
from ingest.conversation.messages import chat_messages, is_item, plain_keys, text_of
from ingest.conversation.rows import LoggedMessage, outcome
from ingest.foreign.mapping_file import MESSAGE_KEYS, ChatMapping, MessageColumns, columns_of
from ingest.reading.text import number, parsed, read_any_time
from schemas.common.errors import BadInputError

MAIN: Final = "assistant"
"""The agent that a person talks to, in sessions with sub-agents."""
THOUGHTS: Final = ("reasoning_content", "reasoning")
_TIMES: Final = ("timestamp", "created_at", "createdAt", "create_time", "time", "ts")


def mapped_messages(raw: list[Any], mapping: ChatMapping) -> tuple[list[LoggedMessage], dict[int, dict[str, float]]]:
    """The messages, and the scores of turns, from 1."""
    columns = mapping.message
    raw = [_as_object(one) for one in _flat(raw)]
    if columns.order is not None:
        order = columns.order
        raw = sorted(raw, key=lambda message: _order(message, order))
    named = frozenset(
        column.partition(".")[0]
        for column in columns_of(columns, mapping.outcome, mapping.conversation) - {columns.text}
        if column != columns.time or "." not in column  # an object that has the time may hold all else
    )
    read = [list(_message(message, index, mapping, named)) for index, message in enumerate(_with_returns(raw, columns))]
    logged = logged_messages([one for found in read for one in found])
    if not columns.scores:
        return logged, {}
    shift = 1 if any(one.turn == 0 for one in logged) else 0
    scores: dict[int, dict[str, float]] = {}
    place = 0
    for message, found in zip(raw, read, strict=True):
        given = {name: value for name, column in columns.scores.items() if (value := number(get(message, column))) is not None}
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


def _with_returns(raw: list[Any], columns: MessageColumns) -> Iterator[Any]:
    """The messages, with the role `tool` for what came of calls, but for what a person says in between (mini-swe-agent)."""
    speaks = False
    for one in raw:
        role = get(one, columns.role) if columns.returns and isinstance(one, Mapping) else None
        is_return = speaks and role == columns.returns and not str(get(one, "extra.interrupt_type")).startswith("User")
        yield {**one, columns.role: "tool"} if role and is_return else one
        speaks = speaks or role in {"assistant", "ai"}


def _as_object(entry: Any) -> Any:
    """A message that is a list, with its places as keys."""
    return {str(place): value for place, value in enumerate(entry)} if isinstance(entry, list) else entry


def _message(raw: Any, index: int, mapping: ChatMapping, named: frozenset[str]) -> Iterator[ParsedMessage]:
    """A message, and what came of its calls where it holds that too."""
    if not isinstance(raw, Mapping):
        raise BadInputError("a message is not an object", locator=f".messages[{index}]")
    raw, columns = plain_keys(raw), mapping.message
    inner = get(raw, columns.within) if columns.within else None
    raw = {**{key: value for key, value in raw.items() if key != columns.within}, **inner} if isinstance(inner, Mapping) else raw
    chat = _dialect(raw, mapping)
    role, speaker = get(raw, columns.role), get(raw, columns.speaker)
    text = next((found for column in (columns.text, "system_prompt") if (found := get(raw, column)) is not None), None)
    chat |= {key: value for key, value in (("role", role), ("content", text)) if value is not None}
    if speaker is not None:
        chat["name"] = str(speaker)
        if role == "tool" and columns.speaker not in {"name", columns.role}:
            chat["metadata"] = {"speaker": str(speaker)}
    thought = next((value for column in (columns.thought, *THOUGHTS) if column and (value := get(raw, column))), None)
    if thought is not None:
        chat |= {"reasoning_content": thought if isinstance(thought, str) else text_of(thought), "reasoning": None}
    calls = list(_calls(raw, mapping))
    if calls:
        chat["tool_calls"] = [*(chat.get("tool_calls") or []), *calls]
    to = get(raw, columns.to) if columns.to else None
    at = next((found for column in ([columns.time] if columns.time else _TIMES) if (found := get(raw, column)) is not None), None)
    turn = None if columns.turn is None else _turn(raw, index, columns.turn)
    agent = get(raw, columns.agent) if columns.agent else None
    if agent is not None:  # what a sub-agent is asked, its caller wrote
        chat |= {"agent": str(agent)} | ({"name": MAIN} if role == "user" else {})
    asked = get(raw, columns.prompt) if columns.prompt else None
    if asked:
        chat = {"role": "assistant", **chat}
        yield ParsedMessage(raw={"role": "user", "content": asked}, audience=_audience(to), at=read_any_time(at), turn=turn)
    yield ParsedMessage(raw=chat, audience=_audience(to), at=read_any_time(at), turn=turn, source=raw, read=named)
    observed = [] if is_item(raw) else _observed(raw, columns.observation)
    if observed:
        yield ParsedMessage(raw={"role": "tool", "content": observed}, audience=_audience(to), at=read_any_time(at), turn=turn)


def _dialect(raw: Mapping[str, Any], mapping: ChatMapping) -> dict[str, Any]:
    """What a message holds under the names of its own dialect; columns of other meanings left out."""
    columns = mapping.message
    other = {columns.speaker, columns.to, columns.turn, columns.order, columns.thought, columns.time, columns.tool, columns.action}
    keys = raw if is_item(raw) or columns.within else MESSAGE_KEYS
    return {key: raw[key] for key in keys if raw.get(key) is not None and key not in other}


def _calls(raw: Mapping[str, Any], mapping: ChatMapping) -> Iterator[Any]:
    """Calls that columns of the mapping hold: a tool with its arguments, calls in a list, or an action, called as its column is."""
    columns = mapping.message
    succeeded = None if columns.success is None else outcome({"success": get(raw, columns.success)}).success
    for call in _plain_calls(raw, columns):
        yield call if succeeded is None or not isinstance(call, Mapping) else {**call, "succeeded": succeeded}


def _plain_calls(raw: Mapping[str, Any], columns: MessageColumns) -> Iterator[Any]:
    tool = get(raw, columns.tool) if columns.tool else None
    action = get(raw, columns.action) if columns.action and not raw.get("tool_calls") else None
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
    given = get(raw, column or "observation")
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


def _turn(message: Mapping[str, Any], index: int, column: str) -> int | None:
    """None where the message does not say."""
    value = number(get(message, column))
    if get(message, column) is None:
        return None
    if value is None or value != int(value) or value < 0:
        raise BadInputError(f"{column} is {get(message, column)!r}: a turn is a whole number from 0 or 1", locator=f".messages[{index}]")
    return int(value)


def _order(message: Any, column: str) -> tuple[bool, float, str]:
    """Numbers by size, everything else by its text, what is missing last."""
    value = get(message, column) if isinstance(message, Mapping) else None
    as_number = number(value)
    return value is None, as_number if as_number is not None else 0.0, "" if as_number is not None else str(value)


def get(values: Mapping[str, Any], column: str) -> Any:
    """A column, or what a name with points leads to."""
    if column in values:
        return values[column]
    here: Any = values
    for part in column.split("."):
        here = parsed(here)
        if isinstance(here, list) and part.lstrip("-").isdecimal() and -len(here) <= int(part) < len(here):
            here = here[int(part)]
        elif isinstance(here, Mapping) and part in here:
            here = here[part]
        else:
            return None
    return here
