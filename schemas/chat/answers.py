"""What counts as an answer: one rule for judges, readers, players, attribution, CoordinationQA and optimisation, in every protocol.

A protocol gives a `Completion`: final text, thoughts, tool calls, and how the reply ended. `read_answer` decides. A finished reply
that holds exactly one form counts, after a closed list of unwrappings. A cut or interrupted reply never counts, nor does a text in
thoughts, nor do forms that contradict each other, nor one that the text after it takes back. Thoughts count only where the reply ended
by itself, the final text is empty, and the thoughts as a whole are the form: some servers take all that a model writes for its thoughts.
Where no form is asked for, a text that the model itself left empty is its answer.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from json import JSONDecoder
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import BaseModel, ValidationError

from schemas.chat.messages import Completion
from schemas.common.text import excerpt
from schemas.replies import Read, read_of_rule

_WORDS: Final = r"think|thought|reasoning|reflect|scratch_?pad|monologue|ponder|deliberat"
_NAMES: Final = rf"(?:(?:\w{{1,20}}[:_-])?(?:\w{{0,20}}(?:{_WORDS})\w{{0,20}})|cot|analysis|draft|plan(?:ning)?|critique)"
"""Tags for thoughts, by what their names hold: each model has its own."""
_ATTRIBUTES: Final = r"(?:\s[^<>{}]{0,80})?"
_OPENS: Final = (
    rf"(?:<|&lt;){_NAMES}{_ATTRIBUTES}(?:>|&gt;)|<details type=[^<>]{{0,40}}reasoning[^<>]{{0,40}}>|\[THINK(?:ING)?\]|◁think▷"
    r"|<\|(?:think(?:ing)?|start_thinking|begin_of_thought|inner_prefix)\|>|<\|channel>thought|<unused94>"
)
_CLOSES: Final = (
    rf"(?:<|&lt;)/(?:{_NAMES}|details)\s*(?:>|&gt;)|\[/THINK(?:ING)?\]|◁/think▷"
    r"|<\|(?:/think(?:ing)?|end_thinking|end_of_thought|inner_suffix)\|>|<channel\|>|<unused95>"
)
_MARK: Final = re.compile(rf"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<object>\{{)", re.IGNORECASE)
_CLOSING: Final = re.compile(_CLOSES, re.IGNORECASE)
_ASKED_FOR: Final = "<think"
"""How the games that ask for thoughts in tags write the tag."""

_REVOKES: Final = re.compile(
    r"(?:^|[.,;:!?\n`]|\b(?:but|oh|no))\s*(?:wait|hmm+)\b"
    r"|\bon second thoughts?\b|\blet me (?:re|think|check|look)|\bnot sure (?:about|if|that|whether)\b"
    r"|\b(?:that|this|it|which|draft|above|answer|object) (?:is|was|seems|looks)"
    r" (?:(?:only )?a draft|incorrect|not (?:correct|right|true)|wrong)\b"
    r"|\b(?:answer|verdict) (?:should|must|ought to) (?:actually |instead |rather |really )?be\b"
    r"|\bcorrection\s*:|\bI meant\b|\bmy mistake\b|\btake (?:it|that) back\b",
    re.IGNORECASE,
)
"""What a model writes after a form that it doubts: a draft, not its answer."""

STATED: Final = re.compile(
    r"\b(?:answer|verdict)\b\W{0,3}(?:(?:is|would be|should be|must be|:)\W{0,4})(\w+)\b(?=\W{0,3}(?:$|[.,;:!?)]|because\b|since\b|as\b))",
    re.IGNORECASE,
)
"""`the answer is yes`, `Answer: "yes".`: what is stated is at the end of a clause, so that `is yes to both` does not count."""

_CHANNEL: Final = re.compile(
    r"(?:<\|start\|>(?P<to>[^<]*))?<\|channel\|>(?P<head>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>"
    r"(?P<body>.*?)(?:<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)|\Z)",
    re.DOTALL,
)
_BARE_CHANNEL: Final = re.compile(r"\s*(?:assistant)?analysis(?=[A-Z])")
_BARE_FINAL: Final = "assistantfinal"
"""What is left of the channels where a server drops their marks."""


def _agreeing(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise ValueError(f"the key {key[:40]} is written twice, with different values")
    return found


DECODER: Final = JSONDecoder(strict=False, object_pairs_hook=_agreeing)
"""Reads what models write: line breaks in strings pass; a key with two different values does not, since neither is the answer."""


class Parted(NamedTuple):
    """What a model wrote, in two parts."""

    thought: str
    """Without its marks; empty if there is none."""
    text: str
    """The final text; empty if the model wrote none."""
    finished: bool = True
    """Whether the thoughts came to their end."""


def parted(written: str, *, asks_for_thoughts: bool = False) -> Parted:
    """Separate thoughts from the final text.

    Args:
        written: what the model wrote.
        asks_for_thoughts: whether the prompt asks for thoughts in tags and the caller reads these itself. Then only thoughts that come
            before the tags asked for, or in other marks, are separated.
    """
    if "<|channel|>" in written:
        return _channels(written)
    bare = _BARE_CHANNEL.match(written)
    if bare is not None:
        thought, ended, text = written[bare.end() :].partition(_BARE_FINAL)
        return Parted(thought.strip(), text.strip(), finished=bool(ended))
    found = _tags(written, first=asks_for_thoughts)
    if asks_for_thoughts and _starts_with_asked_tag(written) and _ASKED_FOR not in found.text.lower():
        return Parted("", written)
    return found


def _starts_with_asked_tag(written: str) -> bool:
    first = _MARK.search(written)
    return first is None or first["closes"] is not None or first[0].lower().startswith(_ASKED_FOR)


def _channels(written: str) -> Parted:
    """gpt-oss: the channel `final`, and calls of tools, are text; the rest is thoughts."""
    text, thoughts, finished = [], [written.partition("<|channel|>")[0].partition("<|")[0]], True
    for message in _CHANNEL.finditer(written):
        if message["head"].strip().startswith("final") or " to=" in f"{message['to']}{message['head']}":
            text.append(message["body"])
        else:
            thoughts.append(message["body"])
            finished = message.end("body") < len(written)
    return Parted("\n".join(filter(None, map(str.strip, thoughts))), "\n".join(text).strip(), finished)


def _tags(written: str, *, first: bool) -> Parted:
    """Thoughts between tags; some models leave out the opening tag, since their template writes it."""
    text: list[str] = []
    thoughts: list[str] = []
    begins, at, objects = 0, 0, 0
    while (mark := _MARK.search(written, at)) is not None:
        if mark["object"]:
            objects += 1
            found = object_at(written, mark.start()) if objects <= _MOST_OBJECTS else None
            at = mark.end() if found is None else found[1]
            continue
        if mark["closes"]:
            thoughts += [*text, written[begins : mark.start()]]
            text, begins, at = [], mark.end(), mark.end()
        else:
            text.append(written[begins : mark.start()])
            closing = _CLOSING.search(written, mark.end())
            if closing is None:
                return Parted(_joined([*thoughts, written[mark.end() :]]), "".join(text).strip(), finished=False)
            thoughts.append(written[mark.end() : closing.start()])
            begins = at = closing.end()
        if first:
            break
    text.append(written[begins:])
    return Parted(_joined(thoughts), "".join(text).lstrip() if thoughts else written)


def _joined(thoughts: list[str]) -> str:
    return "\n".join(filter(None, map(str.strip, thoughts)))


def object_at(text: str, at: int) -> tuple[object, int] | None:
    """The JSON object that begins there, and where it ends; None if there is none."""
    try:
        return DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


CONTRADICTION: Final = "contradiction"
"""Why a reply is refused that contradicts itself; also the type of a form's own validation errors that say so."""
PLACEHOLDER: Final = re.compile(r"<<.*>>", re.DOTALL)
"""How an example form marks what is to be written in a place; such a text is never an answer."""

_UNWRAPPED: Final = "unwrapped: "
_MOST_MISTAKES: Final = 10
_LONGEST_REASON: Final = 1_000
_MOST_OBJECTS: Final = 200
"""Of a text that are read."""
_DEEPEST: Final = 6
"""Wrappings of one form that are taken off."""

_ARGUMENTS: Final = ("arguments", "parameters", "input", "args")
_OF_A_CALL: Final = frozenset({*_ARGUMENTS, "function", "id", "index", "name", "recipient_name", "tool", "tool_name", "type"})
_OF_A_SCHEMA: Final = frozenset({"$defs", "$schema", "additionalProperties", "description", "properties", "required", "title", "type"})
_MEMBER: Final = re.compile(r'"\s*:\s*\Z')
"""What comes before an object that is a value inside another one, which itself cannot be read."""
_TAGGED: Final = re.compile(
    r"<(tool_call|function_calls?|function=[^>]*|invoke [^>]*)>|\[TOOL_CALLS\]|<\|(?:tool_call|python_tag)|<.tool", re.IGNORECASE
)
_CALL: Final = re.compile(r"<(?:function|invoke|tool_call)\b[^>]*>")
_PARAMETER: Final = re.compile(r"<parameter(?:=|\s+name=)\"?([^>\"]+)\"?>|<arg_key>([^<]*)</arg_key>\s*<arg_value>")
_END_OF_PARAMETER: Final = re.compile(r"</(?:parameter|arg_value)>")
_LONGEST_GAP: Final = 40

_Form: TypeAlias = type[BaseModel]


class Answer(NamedTuple):
    """What a reply comes to."""

    text: str
    """The final text, without thoughts; empty if there is none."""
    thoughts: str
    """What the model thought, as far as it is shown; empty if nothing is."""
    filled: BaseModel | None
    """The form; None unless one was asked for and the reply counts."""
    read_as: str
    """By which rule it was read, as in the column `calls.read_as`."""
    why_not: str | None = None
    """Why the reply does not count, as a model is shown it; None if it counts."""

    @property
    def counts(self) -> bool:
        """Whether it is an answer."""
        return self.why_not is None

    @property
    def read(self) -> Read | None:
        """The kind of that rule, as in the column `calls.read`."""
        return read_of_rule(self.read_as)

    @property
    def is_declined(self) -> bool:
        """Whether the model or a filter declined to answer."""
        return self.read_as == "refused: declined"


class _Refused(Exception):  # noqa: N818 - not an error of the program
    def __init__(self, kind: str, why: str) -> None:
        self.kind, self.why = kind, why


class _Opened(NamedTuple):
    """A JSON value with its wrappings taken off."""

    value: Any
    wrapped: tuple[str, ...]
    """What was around it, as `calls.read_as` names it."""
    form: BaseModel | None
    """The form that the value is; None if it is not one."""


def read_answer(completion: Completion, form: _Form | None = None, *, asks_for_thoughts: bool = False) -> Answer:
    """Decide whether a reply is an answer, and give it.

    Args:
        completion: the reply, as a protocol hands it over.
        form: what the reply must fill in; None: it is text, or calls of tools.
        asks_for_thoughts: whether the prompt asks for thoughts in tags that the caller reads itself.
    """
    parts = parted(completion.text, asks_for_thoughts=asks_for_thoughts)
    thoughts = "\n".join(filter(None, [completion.reasoning, parts.thought]))
    try:
        filled, read_as = _read(completion, form, parts, thoughts)
    except _Refused as refused:
        return Answer(parts.text, thoughts, None, f"refused: {refused.kind}", refused.why)
    return Answer(parts.text, thoughts, filled, read_as)


def _read(completion: Completion, form: _Form | None, parts: Parted, thoughts: str) -> tuple[BaseModel | None, str]:
    """The form and the rule by which it was read."""
    _see_that_it_ended(completion)
    calls = [call.arguments for call in completion.tool_calls if form is None or not _is_empty(call.arguments)]
    if not parts.finished and not calls:
        raise _Refused("only thoughts", "its thoughts have no end")
    if form is None:
        return None, "as asked" if parts.text.strip() or calls else "only thoughts" if thoughts.strip() else "empty"
    if not parts.text.strip() and not calls:
        return _from_thoughts(form, thoughts, ended=completion.finish_reason is not None)
    in_calls = [[_opened(form, *value) for value in _values(call)] for call in calls]
    in_text = [_opened(form, *value) for value in _values(parts.text)]
    broken = [call for call, values in zip(calls, in_calls, strict=True) if not values]
    if broken or not (in_text or in_calls):
        raise _Refused("wrong form", _no_object([*broken, parts.text]))
    filled, read_as = _form_in([*chain.from_iterable(in_calls), *in_text], form)
    after = parts.text.rpartition("}")[2] if in_text else ""
    if _REVOKES.search(after) or _states_another(filled, after):
        raise _Refused(CONTRADICTION, "the text after the form takes it back")
    if _holds_broken(form, parts.text):
        raise _Refused(CONTRADICTION, "it holds two objects of the form, one of which cannot be read")
    return filled, read_as


def _states_another(filled: BaseModel, text: str) -> bool:
    """Whether a text states another possible answer of the form than those that it has."""
    stated = {word.casefold() for word in STATED.findall(text)}
    if not stated or not stated.isdisjoint(_folded(filled.model_dump())):
        return False
    return not stated.isdisjoint(_folded(filled.model_json_schema()))  # takes longer than all that is before


def _folded(content: Any) -> Iterator[str]:
    return map(str.casefold, _texts(content))


def _see_that_it_ended(completion: Completion) -> None:
    match completion.ending:
        case "declined":
            raise _Refused("declined", completion.refusal or "the provider's content filter stopped the reply")
        case "cut":
            raise _Refused("cut", "it was cut at its longest length (max_tokens)")
        case "interrupted":
            raise _Refused("interrupted", f"it was interrupted before its end ({completion.finish_reason})")


def _from_thoughts(form: _Form, thoughts: str, *, ended: bool) -> tuple[BaseModel, str]:
    if not thoughts.strip():
        raise _Refused("empty", "it is empty")
    whole = _filled(form, _parsed(thoughts)) if ended else None
    if whole is None:
        raise _Refused("only thoughts", "it has thoughts and no final answer")
    return whole, "from thoughts"


def _form_in(values: Sequence[_Opened], form: _Form) -> tuple[BaseModel, str]:
    """The one form in the values of a reply."""
    whole = [value.form for value in values if value.form is not None]
    if not whole:
        raise _mistakes(form, [value.value for value in values])
    if any(one != whole[0] for one in whole) or any(value.form is None and _denies(value, whole[0]) for value in values):
        raise _Refused(CONTRADICTION, "it holds several answers that differ")
    wrapped = min((value.wrapped for value in values if value.form is not None), key=len)
    return whole[0], _UNWRAPPED + " + ".join(wrapped) if wrapped else "as asked"


# -- the JSON values of a reply ---------------------------------------------------------------------------


def _values(text: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The values in a text or in the arguments of a call, and what is around each: one if the whole is JSON, else the objects in it."""
    value = _parsed(text)
    if isinstance(value, dict | str):
        yield value, ()
        return
    tagged = _TAGGED.search(text) is not None
    in_parameters = [found for call in _CALL.split(text) if (found := _parameters(call))]
    for found in in_parameters or _objects(text):
        yield found, ("tagged call" if tagged else "text around",)


def _parameters(call: str) -> dict[str, Any]:
    """The arguments of a call that is written with a tag for each of them."""
    _, *parts = _PARAMETER.split(call)
    written = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    named = (((name or key).strip(), _END_OF_PARAMETER.split(text, 1)[0].strip()) for name, key, text in written)
    return {name: text if (value := _parsed(text)) is None else value for name, text in named}


def _objects(text: str) -> Iterator[Any]:
    """JSON objects in a text, one after the other, without those inside a larger object that cannot be read."""
    at = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        found = object_at(text, at)
        if found is None:
            at += 1
            continue
        if not _MEMBER.search(text, max(0, at - _LONGEST_GAP), at):
            yield found[0]
        at = found[1]


def _holds_broken(form: _Form, text: str) -> bool:
    """Whether a form begins in the text that cannot be read: it may hold another answer than one that can."""
    if _parsed(text) is not None:
        return False
    begun = re.finditer(rf"\{{\s*[\"']?(?:{'|'.join(map(re.escape, form.model_fields))})[\"']?\s*:", text)
    return any(object_at(text, one.start()) is None for one in islice(begun, _MOST_OBJECTS))


def _is_empty(arguments: str) -> bool:
    return arguments.strip() in {"", "null"} or _parsed(arguments) in ("", {}, [])


def _parsed(text: str) -> Any:
    """The JSON value that the text is as a whole; None if it is not JSON."""
    try:
        return DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


# -- the form in a value ----------------------------------------------------------------------------------


def _opened(form: _Form, value: Any, wrapped: tuple[str, ...]) -> _Opened:
    """Take the wrappings off a value, one by one, until it is the form or has none left."""
    for _ in range(_DEEPEST):
        filled = _filled(form, value)
        inner = _inner(form, value) if filled is None else None
        if inner is None:
            return _Opened(value, wrapped, filled)
        value, rule = inner
        wrapped = (*wrapped, *([rule] if rule not in wrapped else []))
    return _Opened(value, wrapped, None)


def _inner(form: _Form, value: Any) -> tuple[Any, str] | None:
    """What is inside one wrapping, and which that is; the closed list."""
    if isinstance(value, str):
        return None if (inner := _parsed(value)) is None else (inner, "encoded twice")
    if not isinstance(value, dict) or not value:
        return None
    (key, only), *more = value.items()
    if not more and key.replace("_", "").casefold() == form.__name__.casefold():
        return only, "own name"
    if (arguments := _arguments(value)) is not None:
        return arguments, "call object"
    if isinstance(value.get("properties"), dict) and value.keys() <= _OF_A_SCHEMA:
        return value["properties"], "properties"
    return _inner_fields(form, value)


def _arguments(value: Mapping[str, Any]) -> Any:
    """What an object that describes one call of a tool calls it with; None if it describes none."""
    if len(value) == 1 and (call := value.get("tool_calls") or value.get("tool_call") or value.get("function_call")):
        return call if isinstance(call, dict) else call[0] if isinstance(call, list) and len(call) == 1 else None
    if not value.keys() <= _OF_A_CALL:
        return None
    given = [value[name] for name in _ARGUMENTS if isinstance(value.get(name), dict | str)]
    nested = [value["function"]] if isinstance(value.get("function"), dict) else []
    return (given + nested)[0] if len(given + nested) == 1 else None


def _inner_fields(form: _Form, value: Mapping[str, Any]) -> tuple[Any, str] | None:
    """As `_inner`, where it is the form's fields that are wrapped."""
    own = {name: part for name, part in value.items() if name in form.model_fields}
    written = {name: inner for name, part in own.items() if isinstance(part, str) and isinstance(inner := _parsed(part), dict)}
    if written:
        return {**value, **written}, "inner strings"
    bare = {
        name: {"reason": "", "answer": part} for name, part in own.items() if _takes_answer(form, name) and isinstance(part, str | list)
    }
    bare |= {
        name: {"reason": "", **part}
        for name, part in own.items()
        if _takes_answer(form, name) and isinstance(part, dict) and "answer" in part and "reason" not in part
    }
    if bare:
        return {**value, **bare}, "no reason"
    (first, *others) = form.model_fields
    if not others and _takes_answer(form, first) and "answer" in value:
        return {first: value}, "only question"
    return None


def _takes_answer(form: _Form, name: str) -> bool:
    """Whether the field takes an answer with its reason: a judge's, of which the reason may be missing."""
    kind = form.model_fields[name].annotation
    return isinstance(kind, type) and issubclass(kind, BaseModel) and kind.model_fields.keys() == {"reason", "answer"}


def _filled(form: _Form, value: Any) -> BaseModel | None:
    """The form, if the value is it: an object with at least one of its fields, and no placeholder of an example."""
    if not isinstance(value, dict) or form.model_fields.keys().isdisjoint(value):
        return None
    try:
        filled = form.model_validate_json(_written(value))
    except ValidationError:
        return None
    return None if any(map(PLACEHOLDER.fullmatch, _texts(filled.model_dump()))) else filled


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _denies(opened: _Opened, form: BaseModel) -> bool:
    """Whether a value that is not the whole form, nor its schema, holds some of its fields with another content."""
    value, content = opened.value, form.model_dump(mode="json")
    if not isinstance(value, dict) or "properties" in opened.wrapped:
        return False
    if "answer" in value and _takes_answer(type(form), next(iter(content))):  # to one question, without its name
        return all(_differs({"answer": value["answer"]}, part) for part in content.values())
    return any(_differs(value[name], content[name]) for name in value.keys() & content.keys())


def _differs(part: Any, content: Any) -> bool:
    """Whether a part has another content; an empty part, and a place of the example, has none."""
    if isinstance(part, dict) and isinstance(content, dict):
        return any(_differs(value, content.get(name)) for name, value in part.items())
    return part not in ("", None, [], {}) and part != content and not (isinstance(part, str) and PLACEHOLDER.fullmatch(part.strip()))


def _mistakes(form: _Form, values: Sequence[Any]) -> _Refused:
    objects = [value for value in values if isinstance(value, dict)]
    if any(PLACEHOLDER.fullmatch(text) for value in values for text in _texts(value)):
        return _Refused("echo", "it repeats the example form, whose places are to be filled in")
    closest = max(objects, key=lambda value: len(value.keys() & form.model_fields.keys()), default={})
    try:
        form.model_validate_json(_written(closest))
    except ValidationError as error:
        found = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors(include_url=False)[:_MOST_MISTAKES]]
        contradicts = all(e["type"] == CONTRADICTION for e in error.errors(include_url=False))
        return _Refused(CONTRADICTION if contradicts else "wrong form", excerpt("; ".join(found), _LONGEST_REASON))
    raise AssertionError("a form that can be read was not found")


def _no_object(texts: Sequence[str]) -> str:
    begun = next((text for text in texts if "{" in text), None)
    if begun is None:
        return "there is no JSON object in it"
    try:
        DECODER.raw_decode(begun, begun.index("{"))
    except ValueError as error:
        return f"Invalid JSON: {error}"
    except RecursionError:
        return "Invalid JSON: it is nested too deeply"
    return "there is no JSON object of the form in it"


def _written(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
