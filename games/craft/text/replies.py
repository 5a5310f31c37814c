"""Reads what directors and builders reply: by cotrace's own rules, and as the released parsers do, whose results published logs hold.

Cotrace's rules: thoughts come off first, whatever tag they stand in: with an opening tag, with a closing one alone, or with an opening one
alone (a reply that breaks off inside them). The builder's action may follow a sentence and stand in markdown. What cannot be read is
unreadable, and never a question; so is a reply that repeats an example of its prompt.

Directors are asked for ``<think>...</think><message>...</message>``. The released parser's readers of answers that keep to it only in part
are tried in order (`parse_director`); tags are matched in any case.

The builder's grammar, and what becomes of lines that do not keep to it (`parse_line`), are those of the released parser::

    PLACE:<block>:<position>:<layer>:CONFIRM:<text>
    PLACE:<block>:<position>:<layer>:<span_to>:CONFIRM:<text>
    REMOVE:<position>:<layer>:CONFIRM:<text>
    REMOVE:<position>:<layer>:<span_to>:CONFIRM:<text>
    CLARIFY:<question>

Parts are not trimmed. Whatever cannot be read becomes a clarification; `is_complaint` tells it from a question.

The builder's tool tries moves on a copy of the board (agents of CRAFT, section 1.6). The builder calls it by lines that begin with
`SIMULATE:` and go on with a JSON object; so it works with every model, and with people. The answer reveals how near the target the move
would come: as published, that leaks the target.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NamedTuple

from games.craft.engine.board import Board
from games.craft.engine.rules import Move, execute, placement_flags
from games.craft.measures import progress
from games.players.player import texts_of
from schemas.chat.messages import Tool, ToolCall
from schemas.common.packages import packaged_yaml
from schemas.common.text import replace_lone_surrogates
from schemas.replies import Reading, ReadReply, is_blank, is_echo

FAILED_CALL: Final = "Error in move generation:"
"""Begins the text that replaces a failed call."""
_NO_REPLY: Final = (FAILED_CALL, "No response from API")
_COMPLAINTS: Final = (
    *_NO_REPLY,
    "Could not parse response:",
    "Parse error:",
    "Builder produced no final text",
    "Builder loop did not execute",
)
"""How texts of the released code begin that its logs hold in the place of a question."""

_LONGEST_CODE: Final = 3
"""Longer text behind REMOVE is not taken for a block code."""


@dataclass(frozen=True, slots=True)
class ParsedMove:
    """A line that was read as a move."""

    move: Move
    confirmation: str
    """Text after CONFIRM; generated where the line had none."""


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question of the builder, or the parser's complaint about a line it could not read."""

    text: str


def parse_answer(answer: str) -> ParsedMove | Clarification:
    """Read a model's answer: its first line counts."""
    return parse_line(answer.strip().split("\n")[0].strip())


def parse_line(line: str) -> ParsedMove | Clarification:
    """Read one line."""
    text = line.strip().strip("[]")
    try:
        if text.startswith("PLACE:"):
            return _place(text)
        if text.startswith("REMOVE:"):
            # drop a block code that the grammar does not ask for: ``REMOVE:bl:(0,0):...``
            verb, first, *rest = text.split(":")
            code = first.strip()
            is_code = len(code) <= _LONGEST_CODE and not code.startswith("(")
            return _remove(":".join([verb, *rest]) if is_code else text)
        if text.startswith("CLARIFY:"):
            return Clarification(text.removeprefix("CLARIFY:"))
        return _unreadable(text)
    except ValueError as error:  # the layer is not an integer; the log holds Python's own words
        return Clarification(f"Parse error: {error}")


def is_complaint(clarification: str) -> bool:
    """Whether the released code wrote this itself, as no reply came or it could not be read: the builder asked nothing."""
    return clarification.lstrip().startswith(_COMPLAINTS)


def no_reply_came(text: str) -> bool:
    """Whether a complaint, or the reason why a reply is unreadable, is that the call failed: nothing that an agent wrote was at fault."""
    return text.lstrip().startswith(_NO_REPLY)


def builder_line(move: Move, confirmation: str) -> str:
    """Write a move in the builder's grammar; removals leave the block out."""
    parts = ["PLACE", move.block or ""] if move.action == "place" else ["REMOVE"]
    parts += [move.position, str(move.layer)]
    if move.span_to is not None:
        parts.append(move.span_to)
    return ":".join([*parts, "CONFIRM", confirmation])


def _place(text: str) -> ParsedMove | Clarification:
    match text.split(":", 6):
        case [_, block, position, layer, span_to, "CONFIRM", confirmation]:
            return ParsedMove(Move("place", block, position, int(layer), span_to), confirmation)
        case [_, block, position, layer, "CONFIRM", confirmation, *_]:  # cut at its first colon
            return ParsedMove(Move("place", block, position, int(layer)), confirmation)
        case [_, block, position, layer, *_]:
            return ParsedMove(Move("place", block, position, int(layer)), f"Placing {block} at {position}")
    return _unreadable(text)


def _remove(text: str) -> ParsedMove | Clarification:
    match text.split(":", 5):
        case [_, position, layer, span_to, "CONFIRM", confirmation]:
            return ParsedMove(Move("remove", None, position, int(layer), span_to), confirmation)
    match text.split(":", 4):
        case [_, position, layer, "CONFIRM", confirmation]:
            return ParsedMove(Move("remove", None, position, int(layer)), confirmation)
    return _unreadable(text)


def _unreadable(text: str) -> Clarification:
    return Clarification(f"Could not parse response: {text}")


NO_THINKING: Final = "No thinking provided"
NO_MESSAGE: Final = "No message provided"
"""Replaces a missing message; the builder is not shown it."""

FAILED_CALL_MESSAGE: Final = "I need a moment to analyze the situation."
"""The message that published logs hold where the model call failed."""

_SHORTEST_INSTRUCTION: Final = 5
"""Words a line of unclosed reasoning needs to be taken for the message."""

_FLAGS: Final = re.DOTALL | re.IGNORECASE
_THINK: Final = re.compile(r"<think>\s*(.*?)\s*</think>", _FLAGS)
_DIRECTOR_MESSAGE: Final = re.compile(r"<message>\s*(.*?)\s*</message>", _FLAGS)
_OPEN_THINK: Final = re.compile(r"<think>\s*(.*?)(?=<message>|$)", re.IGNORECASE | re.DOTALL)
_OPEN_MESSAGE: Final = re.compile(r"<message>\s*(.*)", _FLAGS)
_THINK_TAG: Final = re.compile(r"<think>", re.IGNORECASE)
_DIRECTOR_MESSAGE_TAG: Final = re.compile(r"<message>", re.IGNORECASE)
_CUT_TAG: Final = re.compile(r"<[^>]*$")
_BRACKETED: Final = re.compile(r"\[.*?\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DirectorAnswer:
    """Thought and message of a director."""

    thinking: str
    """Private reasoning; ``NO_THINKING`` where there is none."""
    message: str
    """Public message; ``NO_MESSAGE`` where there is none, empty where its tags are empty."""


def parse_director(raw: str) -> DirectorAnswer:
    """Read a raw answer."""
    return next(_director_answers(raw), DirectorAnswer(NO_THINKING, NO_MESSAGE))


def director_text(thinking: str, message: str) -> str:
    """Write an answer as directors are asked to."""
    return f"<think>\n{thinking}\n</think>\n\n<message>\n{message}\n</message>"


def _director_answers(raw: str) -> Iterator[DirectorAnswer]:
    """By each of the released parser's readers that can read the answer, in the order in which it tries them."""
    think, message, opened = _THINK.search(raw), _DIRECTOR_MESSAGE.search(raw), _OPEN_MESSAGE.search(raw)
    thinking = think[1].strip() if think else NO_THINKING
    if think and message:
        yield DirectorAnswer(thinking, message[1].strip())
    if think and not message and (rest := raw[think.end() :].strip()):
        yield DirectorAnswer(thinking, _DIRECTOR_MESSAGE_TAG.sub("", rest).strip())
    if opened and not message:
        yield DirectorAnswer(thinking, opened[1].strip())
    if opened and opened[1].strip():  # the message retains its closing tag here, as in the logs
        unclosed = _OPEN_THINK.search(raw)
        yield DirectorAnswer(unclosed[1].strip() if unclosed else NO_THINKING, opened[1].strip())
    if _THINK_TAG.search(raw) and "</think>" not in raw.lower():
        thinking = _THINK_TAG.sub("", raw).strip()
        lines = [line.strip() for line in thinking.split("\n") if len(line.split()) >= _SHORTEST_INSTRUCTION]
        yield DirectorAnswer(thinking, _CUT_TAG.sub("", lines[-1] if lines else NO_MESSAGE).strip())
    paragraphs = (paragraph.strip() for paragraph in _BRACKETED.sub("", raw).strip().split("\n\n"))
    if text := "\n\n".join(dict.fromkeys(filter(None, paragraphs))):
        yield DirectorAnswer(NO_THINKING, text)


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
_SENTENCE: Final = re.compile(r"[.;!?]\s")
_CLAUSE: Final = re.compile(r",(?=[^,]*\w)")
_SUPPOSED: Final = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
"""Anywhere before an action in its sentence: its author only supposes it."""
_NOT_DONE: Final = re.compile(r"\b(?:not|never|cannot|instead of|rather than|sa(?:ys?|id))\b|n['’]t\b", re.IGNORECASE)
"""Before an action in its clause: its author does not do it, or only reports it."""
_CONFIRM: Final = re.compile(r"(?:\s*:\s*|\s+)[*`_]*CONFIRM[*`_]*\s*(?::|\Z)\s*", re.IGNORECASE)
_NAME: Final = re.compile(r"(?:block|position|cell|layer|span_to|span)\s*[=\s]\s*", re.IGNORECASE)
_LAYER: Final = re.compile(r"(\d+)(?:\s.*)?", re.DOTALL)
_NO_SPAN: Final = frozenset(("", "none", "null", "-"))
_CODE: Final = re.compile(r"[A-Za-z]{1,3}")
_SHOWN: Final = 120
"""Characters of an unreadable reply that its reason quotes."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply of the builder that is neither a move nor a question."""

    reason: str


Answer = ParsedMove | Clarification | Unreadable


def read_director(raw: str) -> DirectorAnswer:
    """Read a director's reply: the last message in tags, else what is left when the thoughts are off.

    A message inside thoughts counts only where their closing tag is missing and the reply ends with the message.
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
    if is_blank(message) or is_echo(message, _example_messages()):
        message = NO_MESSAGE
    return DirectorAnswer(thoughts or NO_THINKING, message.strip())


def _director_reading(read: Callable[[str], DirectorAnswer], raw: str) -> Reading:
    """How a director's reply is read: as asked if its thoughts and its message stand in their tags, and nothing else does."""
    message = read(raw).message
    if message in ("", NO_MESSAGE):
        return Reading("unreadable")
    return Reading("as asked") if _AS_ASKED.fullmatch(raw) else Reading("repaired", message)


def read_answer(raw: str) -> Answer:
    """Read the builder's reply. A first line that is an action counts; after other words, all actions must be the same."""
    answer = _read_lines(raw)
    return Unreadable("it repeats an example of the prompt") if _is_example(answer) else answer


def _answer_reading(raw: str) -> Reading:
    """How the builder's reply is read: as asked if it is the line of the action, and nothing else."""
    answer = read_answer(raw)
    if isinstance(answer, Unreadable):
        return Reading("unreadable")
    if isinstance(answer, ParsedMove):
        plain = parse_line(raw)
        return Reading("as asked") if plain == answer else Reading("repaired", builder_line(answer.move, answer.confirmation))
    return Reading("as asked") if raw.strip() == f"CLARIFY:{answer.text}".strip() else Reading("repaired", answer.text.strip())


def _published_answer_reading(raw: str) -> Reading:
    """The same by the released parser: what it complains about is unreadable."""
    parsed = parse_answer(raw)
    if isinstance(parsed, Clarification) and is_complaint(parsed.text):
        return Reading("unreadable")
    first = raw.strip().split("\n")[0].strip()
    return Reading("as asked") if first == raw.strip() else Reading("repaired", first)


READERS: Final[Mapping[str, Mapping[str, ReadReply]]] = {
    "sane": {"director": partial(_director_reading, read_director), "builder": _answer_reading},
    "published": {"director": partial(_director_reading, parse_director), "builder": _published_answer_reading},
}
"""Rules -> role -> how its replies are read."""


@cache
def _example_messages() -> tuple[str, ...]:
    """The messages in the examples of a director's prompt."""
    parts = [part["sane"] for part in texts_of(__package__)["director"] if isinstance(part, dict) and "sane" in part]
    return tuple(quoted or tagged for part in parts for quoted, tagged in _EXAMPLE.findall(part))


def _is_example(answer: Answer) -> bool:
    """Whether the answer is an action in the example lines of the builder's prompt, whatever its confirmation is."""
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
    # what makes two answers different: a move, whatever its confirmation is
    if begins or len({(answer.move if isinstance(answer, ParsedMove) else answer) for answer in readable}) == 1:
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
    """Thoughts, and the rest. What is before a closing tag alone, or after an opening one alone, is thought."""
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
    """Verb and rest of each action in a line; the rest of a line that begins with one belongs to it."""
    first = _ANY_CASE.match(line)
    if first:
        yield first[1].upper(), line[first.end() :]
        return
    found = [verb for verb in _VERB.finditer(line) if _is_done(line[: verb.start()])]
    for number, verb in enumerate(found):
        yield verb[1], line[verb.end() : found[number + 1].start() if number + 1 < len(found) else None]


def _is_done(before: str) -> bool:
    """Whether the author of a line does the action after these words."""
    sentence = _SENTENCE.split(before)[-1]
    return not (_SUPPOSED.search(sentence) or _NOT_DONE.search(_CLAUSE.split(sentence)[-1]))


def _read(action: tuple[str, str]) -> Answer:
    verb, rest = action
    if verb == "CLARIFY":
        question = rest.lstrip("*`_")
        return Unreadable("CLARIFY without a question") if is_blank(question) else Clarification(question)
    # fields, whether there is a CONFIRM, and all words after it, colons among them
    found = _CONFIRM.search(rest)
    head, confirmed, confirmation = (*((rest, False, "") if found is None else (rest[: found.start()], True, rest[found.end() :].strip())),)
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


CALL: Final = "SIMULATE:"
_HEAD: Final = re.compile(rf"^\s*{CALL}\s*", re.MULTILINE)
_SPAN: Final = re.compile(r"must also specify span_to=(\S+)|expected (\(\d,\d\))$")


TOOL: Final = Tool(**packaged_yaml(__package__, "tool.yaml"))
"""The same for models that call tools in their provider's protocol."""


def written_call(call: ToolCall) -> str:
    """A call of the tool as a line."""
    return f"{CALL} {call.arguments}"


class SimulationCall(NamedTuple):
    """A call of the tool."""

    written: str
    """What stood behind the mark."""
    move: Move | None
    """None if it is not a move."""


def asked_for(answer: str) -> tuple[SimulationCall, ...]:
    """Give the calls in an answer."""
    found = []
    for head in _HEAD.finditer(answer):
        rest = answer[head.end() :]
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except (ValueError, RecursionError):
            found.append(SimulationCall(rest.split("\n", 1)[0], None))
            continue
        found.append(SimulationCall(rest[:end], _move(replace_lone_surrogates(value))))
    return tuple(found)


def _move(value: Any) -> Move | None:
    facts: Mapping[str, Any] = value.get("move", value) if isinstance(value, dict) else {}
    try:
        return Move.from_log(facts)
    except (KeyError, TypeError):
        return None


def simulated(asked: SimulationCall, board: Board, target: Board) -> str:
    """Give the tool's answer, as JSON: every call begins with the real board."""
    if asked.move is None or asked.move.action not in ("place", "remove"):
        return json.dumps({"ok": False, "error": "no move that can be tried", "hint": "give action place or remove, position and layer"})
    outcome = execute(board, asked.move)
    if outcome.error is not None:
        partner = _SPAN.search(outcome.error.message)
        named = next((cell for cell in partner.groups() if cell), None) if partner else None
        hint = f"fix this move: span_to is {named}" if named else "fix this move"
        return json.dumps({"ok": False, "error": outcome.error.message, "hint": hint})
    scores, flags = progress(outcome.board, target), placement_flags(outcome, target)
    correct = {"structurePlacement": flags.correct_structure_placement, "sidePlacement": flags.correct_side_placement}
    result = {
        "ok": True,
        "blocks_correct": scores.blocks_placed_correctly,
        "blocks_total": scores.blocks_total_target,
        "overall_progress": scores.overall_progress,
        "correctness": correct,
    }
    return json.dumps(result)
