"""Reads MAST-Data (arXiv 2503.13657): traces of multi-agent systems; the failure modes found in them become labels of the rubric `mast`."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from ingest.conversation.chat import ParsedMessage, logged_messages
from ingest.conversation.rows import Conversation, LoggedMessage, reading_of
from ingest.foreign.chat_lines import rows_of
from ingest.reading.adapter_types import Place, Reading, begins
from ingest.reading.text import dumps, loads
from schemas.common.errors import BadInputError
from schemas.common.text import replace_lone_surrogates
from schemas.records import Label

_MODES: Final = {
    "1.1": ("disobeys_task", "disobey task|task specification"),
    "1.2": ("disobeys_role", "disobey role|role specification"),
    "1.3": ("repeats_steps", "step repetition|repeat"),
    "1.4": ("loses_history", "loss of conversation|conversation history"),
    "1.5": ("unaware_of_end", "unaware of|termination condition|stopping condition"),
    "2.1": ("resets_conversation", "conversation reset"),
    "2.2": ("does_not_ask", "clarification"),
    "2.3": ("derails", "derail"),
    "2.4": ("withholds_information", "withh"),
    "2.5": ("ignores_others", "ignored other|ignor"),
    "2.6": ("acts_against_reasoning", "reasoning.action|action.reasoning"),
    "3.1": ("ends_early", "premature termination"),
    "3.2": ("no_verification", "(?:no|incomplete|lack of|weak|without).*verification"),
    "3.3": ("wrong_verification", "incorrect verification|wrong verification"),
}
"""Number in the final taxonomy -> question of the rubric, and words of its name."""

_ANSWERS: Final[Mapping[bool, tuple[str, float]]] = {True: ("yes", 0.0), False: ("no", 1.0)}
_RUBRIC: Final = "mast"


class _Mode(NamedTuple):
    rubric: str
    question: str


def labels(row: Mapping[str, Any], source: str, episode: str) -> Iterator[Label]:
    """The labels of one trace."""
    for mode, annotator, present in _found(row):
        if present is not None:
            answer, score = _ANSWERS[present]
            scored = score if mode.rubric == _RUBRIC else None
            yield Label(source, annotator, mode.rubric, mode.question, episode, episode, None, None, answer, scored)


def _found(row: Mapping[str, Any]) -> Iterator[tuple[_Mode, str, bool | None]]:
    published = row.get("mast_annotation")
    for name, present in published.items() if isinstance(published, Mapping) else ():
        yield _mode(str(name), None), "mast", _present(present)
    people = row.get("annotations")
    for entry in people if isinstance(people, list) else ():
        if isinstance(entry, Mapping):
            mode = _mode(str(entry.get("failure mode") or entry.get("failure_mode") or dumps(entry)), str(row.get("round") or ""))
            for key, present in entry.items():
                if str(key).startswith("annotator"):
                    yield mode, str(key), _present(present)


def _present(value: Any) -> bool | None:
    if isinstance(value, bool | int | float):
        return bool(value)
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}.get(str(value).lower())


def _mode(name: str, round_: str | None) -> _Mode:
    """By its words; by its number where it has no words."""
    words = re.sub(r"^\s*(?:FM-)?[\d.]+\s*", "", name).strip()
    numbered = re.match(r"\s*(?:FM-)?(\d\.\d)", name)
    if words:
        found = next((question for question, pattern in _MODES.values() if re.search(pattern, words, re.IGNORECASE)), None)
    else:
        found = _MODES[numbered[1]][0] if numbered and numbered[1] in _MODES else None
    if found is not None:
        return _Mode(_RUBRIC, found)
    return _Mode(f"{_RUBRIC}_{re.sub(r'[^a-z0-9]+', '_', (round_ or 'other').lower())}", name)


_LISTS: Final = ("trajectory", "messages", "history", "conversation", "steps", "logs")
_BEGINNINGS: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?P<who>[\w .-]{1,60}) \(to (?P<to>[\w .-]{1,60})\):",  # AG2, AutoGen
        r"^\[?[\d: ,.-]*\]?\s*\[?FROM: (?P<who>[\w .-]+?) TO: (?P<to>[^\n\]]+)\]?",  # MetaGPT
        r"^\[[\d: ,.-]+ INFO\] (?P<who>[A-Z][\w ]+?): \*\*",  # ChatDev
        r"^(?:[\w-]+ - \w+ - )?(?P<who>[A-Z][\w ]{1,40}?)'s (?:Response|Answer):",  # HyperAgent
        r"^-{5,} (?P<who>[\w .-]{1,60}) -{5,}",  # MagenticOne, AutoGen 0.4
        r"^(?:Response from|Message to|Reply from) (?P<who>[\w .-]{1,60}?)(?: Agent)?\s*$",  # AppWorld
        r"^[\d: ,.-]+ \| \w+\s+\| [\w.]*?(?P<who>\w+):\w+:\d+ - ",  # OpenManus
    )
)
_FEWEST: Final = 2


def messages_in(trajectory: Any, system: str) -> list[LoggedMessage]:
    """The messages of a trajectory.

    Raises:
        BadInputError: it holds nothing.
    """
    listed = _listed(trajectory)
    if listed is not None:
        return logged_messages(
            [ParsedMessage(raw=entry if isinstance(entry, Mapping) else {"role": system, "content": entry}) for entry in listed]
        )
    if not isinstance(trajectory, str) or not trajectory.strip():
        raise BadInputError("its trajectory holds nothing", locator=".trace")
    found = max((list(pattern.finditer(trajectory)) for pattern in _BEGINNINGS), key=len)
    if len(found) < _FEWEST:
        return [LoggedMessage(agent=system, text=trajectory)]
    ends = [*(match.start() for match in found[1:]), len(trajectory)]
    before = trajectory[: found[0].start()]
    messages = [LoggedMessage(agent=system, text=before)] if before.strip() else []
    for match, end in zip(found, ends, strict=True):
        to = match.groupdict().get("to")
        name = match["who"].strip()
        heard = [name, to.strip()] if to and re.fullmatch(r"[\w .-]+", to.strip()) else None
        messages.append(LoggedMessage(agent=name, text=trajectory[match.start() : end].rstrip("\n"), audience=heard))
    return messages


def _listed(trajectory: Any) -> list[Any] | None:
    """The list of messages, as it is, or as JSON or Python text; None if the trajectory is not a list."""
    if isinstance(trajectory, str) and trajectory.lstrip()[:1] in {"[", "{"}:
        trajectory = _parsed(trajectory)
    if isinstance(trajectory, Mapping):
        trajectory = next((trajectory[name] for name in _LISTS if isinstance(trajectory.get(name), list)), None)
    return trajectory if isinstance(trajectory, list) and trajectory else None


def _parsed(text: str) -> Any:
    try:
        return loads(text.encode(errors="replace"))
    except BadInputError:
        pass
    try:
        return replace_lone_surrogates(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


FORMAT: Final = "mast"
VERSION: Final = 3

BENCHMARK: Final = "mast"


KEYS: Final = (frozenset({"mas_name", "trace"}),)
"""Of a document whose beginning does not say what it is."""


sniff: Final = begins(
    rb'\A\s*(?:\[\s*)?\{\s*"(?:mas_name|llm_name|round|benchmark_name|trace_id|trace|mast_annotation|annotations)"\s*:',
    rb'"mas_name"\s*:',
)


def read(data: bytes, place: Place) -> Reading:
    """Read a file of traces: a list of objects, one object, or one a line.

    Raises:
        BadInputError: it is damaged as a whole.
    """
    reading = Reading()
    for index, row in enumerate(rows_of(data, reading.rejects)):
        reading.take(row.locator, partial(_trace, row.values, index, place))
    return reading


def _trace(row: Mapping[str, Any], index: int, place: Place) -> Reading:
    found = reading_of(_conversation(row, index), place, index)
    found.rows["labels"] += labels(row, place.path, found.episodes[0])
    return found


def _conversation(row: Mapping[str, Any], index: int) -> Conversation:
    system = str(row.get("mas_name") or BENCHMARK)
    trace = row.get("trace")
    inner = trace if isinstance(trace, Mapping) else {}
    model = row.get("llm_name")
    messages = messages_in(inner.get("trajectory", trace), system)
    task = "/".join(str(part) for part in (row.get("benchmark_name"), row.get("trace_id", inner.get("index", index))) if part is not None)
    return Conversation(
        benchmark=BENCHMARK,
        run=system,
        task=task,
        messages=messages,
        models={one.agent: str(model) for one in messages} if model else {},
        model=str(model) if model else None,
        level=None if row.get("round") is None else str(row["round"]),
        details={"key": inner.get("key"), "mas_name": system, "mast_annotation": row.get("mast_annotation")},
    )
