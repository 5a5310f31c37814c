"""Reads what players of cotrace's own games reply; published logs hold what `builder` and `director_output` make of a reply.

Thoughts come off first, whatever tag they stand in: with an opening tag, with a closing one alone, or with an opening one alone (a reply
that breaks off inside them). The builder's action may follow a sentence and stand in markdown. What cannot be read is unreadable, and
never a question; so is a reply that repeats an example of its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from games.craft.engine.move import Move
from games.craft.text.builder import Clarification, ParsedMove, builder_line, is_complaint, parse_answer, parse_line
from games.craft.text.director_output import NO_MESSAGE, NO_THINKING, DirectorAnswer, parse_director
from games.players.texts import texts_of
from schemas.replies import Reading, is_echo

_TAGS: Final = r"(?:think|thinking|thoughts?|reasoning|analysis|reflection|scratchpad)"
_OPEN: Final = re.compile(rf"[<\[◁]\|?{_TAGS}\|?[>\]▷]", re.IGNORECASE)
_CLOSE: Final = re.compile(rf"[<\[◁]\|?\s*/\s*{_TAGS}\s*\|?[>\]▷]", re.IGNORECASE)
_THOUGHTS: Final = re.compile(rf"{_OPEN.pattern}(.*?){_CLOSE.pattern}", re.IGNORECASE | re.DOTALL)
_MESSAGE: Final = re.compile(r"<message>(.*?)</message>", re.IGNORECASE | re.DOTALL)
_LAST_MESSAGE: Final = re.compile(r"<message>((?:(?!<message>).)*)</message>\s*\Z", re.IGNORECASE | re.DOTALL)
_MESSAGE_OPEN: Final = re.compile(r"<message>", re.IGNORECASE)
_MESSAGE_TAG: Final = re.compile(r"</?message>", re.IGNORECASE)

_AS_ASKED: Final = re.compile(r"\s*<think>.*?</think>\s*<message>(?:(?!</?message>).)*</message>\s*", re.IGNORECASE | re.DOTALL)
_EXAMPLE: Final = re.compile(r'"([^"{}]*[.,!?][^"{}]*)"|<message>(.*?)</message>')

_LEAD: Final = re.compile(r"(?:[\s>*#\-+•`_~\"'“(\[]|\d+[.)]\s|</?\w+>)*")
"""Marks of markdown, numbering, quotes and tags before an action."""
_TRAIL: Final = re.compile(r"(?:\s|[*`_~\]]|</\w+>)*\Z")
_VERB: Final = re.compile(r"(?<![A-Za-z])(PLACE|REMOVE|CLARIFY)[*`_]*\s*:")
_ANY_CASE: Final = re.compile(_VERB.pattern, re.IGNORECASE)
_CONFIRM: Final = re.compile(r"(?:\s*:\s*|\s+)[*`_]*CONFIRM[*`_]*\s*(?::|\Z)\s*", re.IGNORECASE)
_NAME: Final = re.compile(r"(?:block|position|cell|layer|span_to|span)\s*[=\s]\s*", re.IGNORECASE)
_LAYER: Final = re.compile(r"(\d+)(?:\s.*)?", re.DOTALL)
_NO_SPAN: Final = frozenset(("", "none", "null", "-"))
_CODE: Final = re.compile(r"[A-Za-z]{1,3}")
_BLANK_FORM: Final = frozenset(("", "question", "your question", "..."))
"""What stands for a question where the form is shown."""
_SHOWN: Final = 120
"""Characters of an unreadable reply that its reason quotes."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply of the builder that is neither a move nor a question."""

    reason: str


Answer = ParsedMove | Clarification | Unreadable


def read_director(raw: str) -> DirectorAnswer:
    """Read a director's reply: the last message in tags, else what is left when the thoughts are off.

    A message that stands inside thoughts counts only where their closing tag is missing and the reply ends with the message.
    """
    thoughts, rest = _apart(raw)
    found = _MESSAGE.findall(rest)
    opened = _MESSAGE_OPEN.search(rest)
    if opened:
        message = found[-1] if found else rest[opened.end() :]
        thoughts = "\n".join(filter(None, (thoughts, _MESSAGE_TAG.sub("", rest[: opened.start()]).strip())))
    elif rest.strip():
        untagged = not thoughts and not _MESSAGE_TAG.search(rest)
        message = parse_director(rest).message if untagged else _MESSAGE_TAG.sub("", rest)
    elif last := _LAST_MESSAGE.search(thoughts):
        thoughts, message = thoughts[: last.start()].strip(), last[1]
    else:
        message = NO_MESSAGE
    if is_echo(message, _example_messages()):
        message = NO_MESSAGE
    return DirectorAnswer(thoughts or NO_THINKING, message.strip())


def director_reading(raw: str) -> Reading:
    """How a director's reply is read: as asked if its thoughts and its message stand in their tags, and nothing else does."""
    return _of_message(raw, read_director(raw).message)


def _of_message(raw: str, message: str) -> Reading:
    if message in ("", NO_MESSAGE):
        return Reading("unreadable")
    return Reading("as asked") if _AS_ASKED.fullmatch(raw) else Reading("repaired", message)


def read_answer(raw: str) -> Answer:
    """Read the builder's reply. A first line that is an action counts; after other words, all actions must be the same."""
    answer = _read_lines(raw)
    return Unreadable("it repeats an example of the prompt") if _is_example(answer) else answer


def answer_reading(raw: str) -> Reading:
    """How the builder's reply is read: as asked if it is the line of the action, and nothing else."""
    answer = read_answer(raw)
    if isinstance(answer, Unreadable):
        return Reading("unreadable")
    if isinstance(answer, ParsedMove):
        plain = parse_line(raw)
        return Reading("as asked") if plain == answer else Reading("repaired", builder_line(answer.move, answer.confirmation))
    return Reading("as asked") if raw.strip() == f"CLARIFY:{answer.text}".strip() else Reading("repaired", answer.text.strip())


def published_director_reading(raw: str) -> Reading:
    """As `director_reading`, by the released parser."""
    return _of_message(raw, parse_director(raw).message)


def published_answer_reading(raw: str) -> Reading:
    """As `answer_reading`, by the released parser: what it complains about is unreadable."""
    parsed = parse_answer(raw)
    if isinstance(parsed, Clarification) and is_complaint(parsed.text):
        return Reading("unreadable")
    first = raw.strip().split("\n")[0].strip()
    return Reading("as asked") if first == raw.strip() else Reading("repaired", first)


@cache
def _example_messages() -> tuple[str, ...]:
    """The messages in the examples of a director's prompt."""
    parts = [part["sane"] for part in texts_of(__package__)["director"] if isinstance(part, dict) and "sane" in part]
    return tuple(quoted or tagged for part in parts for quoted, tagged in _EXAMPLE.findall(part))


def _is_example(answer: Answer) -> bool:
    """Whether the answer is an action in the example lines of the builder's prompt, whatever its confirmation says."""
    if isinstance(answer, Clarification):
        return is_echo(answer.text, (example.text for example in _example_answers() if isinstance(example, Clarification)))
    return isinstance(answer, ParsedMove) and any(isinstance(one, ParsedMove) and one.move == answer.move for one in _example_answers())


@cache
def _example_answers() -> tuple[Answer, ...]:
    lines = texts_of(__package__)["builder"][-1]["sane"].splitlines()
    return tuple(_read_lines(line) for line in lines if _VERB.match(line))


def _read_lines(raw: str) -> Answer:
    _, rest = _apart(raw)
    lines = [line for line in map(_bare, rest.splitlines()) if line]
    answers = [_read(action) for line in lines for action in _actions(line)]
    readable = [answer for answer in answers if not isinstance(answer, Unreadable)]
    begins = bool(lines) and _ANY_CASE.match(lines[0]) is not None and not isinstance(answers[0], Unreadable)
    if begins or len({_core(answer) for answer in readable}) == 1:
        return readable[0]
    if readable:
        return Unreadable("several different actions, and none of them on the first line")
    if answers:
        return answers[0]
    if not lines:
        return Unreadable("no words after the thoughts" if raw.strip() else "an empty reply")
    return Unreadable(f'no PLACE, REMOVE or CLARIFY: "{" ".join(rest.split())[:_SHOWN]}"')


def without_tags(thoughts: str) -> str:
    """Thoughts that a provider gives apart, without tags by which a reader would take a part of them for the reply."""
    return _MESSAGE_TAG.sub("", _CLOSE.sub("", _OPEN.sub("", thoughts)))


def _apart(raw: str) -> tuple[str, str]:
    """Thoughts, and the rest. What stands before a closing tag alone, or after an opening one alone, is thought."""
    thoughts = [found[1] for found in _THOUGHTS.finditer(raw)]
    rest = _THOUGHTS.sub("", raw)
    closed = [*_CLOSE.finditer(rest)]
    if closed:
        thoughts.append(rest[: closed[-1].start()])
        rest = rest[closed[-1].end() :]
    if opened := _OPEN.search(rest):
        thoughts.append(rest[opened.end() :])
        rest = rest[: opened.start()]
    return "\n".join(filter(None, (part.strip() for part in thoughts))), rest


def _bare(line: str) -> str:
    """The line without markdown around it."""
    lead = _LEAD.match(line)
    body = line[lead.end() :] if lead else line
    body = body[: found.start()] if (found := _TRAIL.search(body)) else body
    return body.rstrip("\"'”") if lead and set(lead[0]) & set("\"'“") else body


def _actions(line: str) -> Iterator[tuple[str, str]]:
    """Verb and rest of each action in a line; what a line that begins with one says later belongs to it."""
    first = _ANY_CASE.match(line)
    if first:
        yield first[1].upper(), line[first.end() :]
        return
    found = [*_VERB.finditer(line)]
    for number, verb in enumerate(found):
        yield verb[1], line[verb.end() : found[number + 1].start() if number + 1 < len(found) else None]


def _read(action: tuple[str, str]) -> Answer:
    verb, rest = action
    if verb == "CLARIFY":
        question = rest.lstrip("*`_")
        blank = question.strip().lower() in _BLANK_FORM
        return Unreadable("CLARIFY without a question") if blank else Clarification(question)
    head, confirmed, confirmation = (*_split(rest),)
    parts = [_NAME.sub("", part.strip().strip("*`_"), count=1).strip() for part in head.split(":")]
    if verb == "REMOVE" and len(parts) > 2 and _CODE.fullmatch(parts[0]):  # noqa: PLR2004 - a block code that the form does not ask for
        parts = parts[1:]
    block = parts.pop(0) if verb == "PLACE" and parts else None
    match parts:
        case [position, layer] if position and (level := _LAYER.fullmatch(layer)):
            span = None
        case [position, layer, second] if position and (level := _LAYER.fullmatch(layer)):
            span = None if second.lower() in _NO_SPAN else second
        case _:
            return Unreadable(f'{verb} needs {"block, " if verb == "PLACE" else ""}position and layer: "{head.strip()[:_SHOWN]}"')
    if block == "":
        return Unreadable("PLACE without a block")
    move = Move(verb.lower(), block, position, int(level[1]), span)
    return ParsedMove(move, confirmation if confirmed else f"{'Placing' if block else 'Removing'} {block or 'the top'} at {position}")


def _split(rest: str) -> tuple[str, bool, str]:
    """Fields, whether there is a CONFIRM, and all words after it, colons among them."""
    found = _CONFIRM.search(rest)
    return (rest, False, "") if found is None else (rest[: found.start()], True, rest[found.end() :].strip())


def _core(answer: ParsedMove | Clarification) -> object:
    """What makes two answers different: a move, whatever its confirmation says."""
    return answer.move if isinstance(answer, ParsedMove) else answer
