"""Reads results of MARBLE (MultiAgentBench): a line is a game, an iteration a turn of assignments, replies, talk and a summary."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from ingest.conversation.rows import Conversation, LoggedMessage, completed, numbers, reading_of
from ingest.foreign.chat_lines import rows_of
from ingest.reading.adapter_types import Place, Reading, begins
from ingest.reading.text import dumps, number
from schemas.common.errors import BadInputError

FORMAT: Final = "marble"
VERSION: Final = 3
KEYS: Final = (frozenset({"task", "coordination_mode", "iterations"}),)

_PLANNER: Final = "planner"
_SENT: Final = re.compile(r"^From (\S+) to (\S+): ", re.MULTILINE)
"""How the writer joins the messages of a session into one text."""
_AGENTS: Final = ("agent_id", "agent", "sender", "from")
_WORDS: Final = ("result", "content", "message", "text")
_SCORES: Final = ("planning_scores", "communication_scores")


sniff: Final = begins(rb'\A\s*\{\s*"task"\s*:', rb'"coordination_mode"\s*:')


def read(data: bytes, place: Place) -> Reading:
    """Read a file of results, one a line.

    Raises:
        BadInputError: it is damaged as a whole.
    """
    reading = Reading()
    for index, row in enumerate(rows_of(data, reading.rejects)):
        reading.take(row.locator, partial(_game, row.values, index, place))
    return completed(reading)


def _game(row: Mapping[str, Any], index: int, place: Place) -> Reading:
    iterations = row.get("iterations")
    if not isinstance(iterations, list):
        raise BadInputError("iterations is not a list: not a result of MARBLE, or damaged", locator=".iterations")
    messages = [one for turn, entry in enumerate(iterations, start=1) if isinstance(entry, Mapping) for one in _turn(entry, turn)]
    task, quality = row.get("task"), row.get("task_evaluation")
    scores = {name: found for name in _SCORES if (found := _mean(row.get(name))) is not None}
    scores |= numbers({key: value for key, value in row.items() if key not in {*_SCORES, "task", "iterations", "task_evaluation"}})
    scores |= numbers(quality if isinstance(quality, Mapping) else {"task_evaluation": quality})
    model = row.get("llm") or row.get("model")
    game = Conversation(
        benchmark=FORMAT,
        run=str(row.get("coordination_mode") or FORMAT),
        task=str(row.get("task_id") or index + 1),
        messages=messages,
        goal=task if isinstance(task, str | Mapping) else dumps(task),
        model=model if isinstance(model, str) else None,
        metrics=scores,
        details={key: value for key, value in row.items() if key not in {"iterations", "task"}},
    )
    return reading_of(game, place, index)


def _turn(entry: Mapping[str, Any], turn: int) -> Iterator[LoggedMessage]:
    """What one iteration holds, in its order; an assignment is of the planner, and to its agent."""
    for agent, words in _by_agent(entry.get("task_assignments")):
        yield LoggedMessage(agent=_PLANNER, text=words, turn=turn, audience=[_PLANNER, agent])
    for agent, words in _by_agent(entry.get("task_results")):
        yield LoggedMessage(agent=agent, text=words, turn=turn)
    for agent, words in _by_agent(entry.get("communications")):
        sent = list(_SENT.finditer(words))
        ends = [one.start() for one in sent] + [len(words)]
        if words[: ends[0]].strip():
            yield LoggedMessage(agent=agent, text=words[: ends[0]], turn=turn)
        for one, end in zip(sent, ends[1:], strict=True):
            yield LoggedMessage(agent=one[1], text=words[one.start() : end].strip(), turn=turn, audience=[one[1], one[2]])
    for agent in ("current_agent", "root_agent"):  # of a chain and of a tree
        if entry.get(agent) and entry.get("result"):
            yield LoggedMessage(agent=str(entry[agent]), text=_text(entry["result"]), turn=turn)
    summary = entry.get("summary")
    if summary:
        yield LoggedMessage(agent=_PLANNER, text=_text(summary), turn=turn)


def _by_agent(given: Any) -> Iterator[tuple[str, str]]:
    """Agent and words: of an object by agent, of objects that name theirs, or of texts."""
    if isinstance(given, Mapping):
        agent = next((given[key] for key in _AGENTS if isinstance(given.get(key), str)), None)
        words = next((given[key] for key in _WORDS if given.get(key) is not None), None)
        if agent is not None and words is not None:
            yield agent, _text(words)
        else:
            yield from ((str(name), _text(held)) for name, held in given.items() if held not in (None, "", [], {}))
    elif isinstance(given, list):
        for one in given:
            yield from _by_agent(one)
    elif given:
        yield _PLANNER, _text(given)


def _text(given: Any) -> str:
    return given if isinstance(given, str) else dumps(given)


def _mean(values: Any) -> float | None:
    """-1 means not scored."""
    found = [one for value in (values if isinstance(values, list) else []) if (one := number(value)) is not None and one >= 0]
    return sum(found) / len(found) if found else None
