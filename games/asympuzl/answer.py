"""What an agent answered, and what its actions do to its working hypothesis (format description, sections 5 and 10).

An answer is free text that ends with one JSON object. Numbers of different tokenizers must not be compared, so the tokenizer's name goes
into every log (section 8).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NoReturn

from games.asympuzl.puzzle import Entry, Vocabulary
from games.players.player import texts_of
from schemas.common.errors import UsageError
from schemas.common.text import replace_lone_surrogates
from schemas.replies import Reading, is_blank, is_echo

Fault = Literal["bad_structure", "bad_position", "unknown_shape", "unknown_color"]

FAULTS: Final[Mapping[Fault, str]] = {
    "bad_structure": "not of the form {replace, by: {shape, color}}, or a value has the wrong type",
    "bad_position": "the position is not one of this puzzle",
    "unknown_shape": "the shape is not one of this puzzle",
    "unknown_color": "the color is not one of this puzzle",
}
"""Why an action is not valid, in the order of the tests."""

_TAIL: Final = re.compile(r"\s*(?:```\s*)?")


@dataclass(frozen=True, slots=True)
class RequestedAction:
    """One action as asked for."""

    replace: int | None
    """Position from 1; None if none could be read."""
    shape: str | None
    """Lower case and trimmed; None if none could be read."""
    color: str | None
    fault: Fault | None
    """Why it is not valid; None if it is."""

    @property
    def entry(self) -> Entry | None:
        """What a valid action writes; None for another."""
        return Entry(self.shape, self.color) if self.fault is None and self.shape is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as the game understands it."""

    parse_ok: bool = False
    """There is a JSON object with ``message`` or ``actions``."""
    parse_strict: bool = False
    """Nothing but blanks and a closing code fence follows it."""
    message_ok: bool = False
    """``message`` is there and is a text."""
    actions_ok: bool = False
    """``actions`` is a list, or is left out."""
    message: str = ""
    """What the partner gets; may be empty."""
    requests: tuple[RequestedAction, ...] = ()
    preamble: str
    """The text before the object; the whole answer where there is none."""


def parse_answer(text: str, words: Vocabulary) -> Answer:
    """Read an answer; nothing that a model can write is an error. One that repeats its prompt's example is none."""
    found = _last_object(text)
    if found is None or _is_example(found[0]):
        return Answer(preamble=text.strip())
    value, start, end = found
    message, actions = value.get("message"), value.get("actions", [])
    listed = actions if isinstance(actions, list) else []
    return Answer(
        parse_ok=True,
        parse_strict=_TAIL.fullmatch(text, end) is not None,
        message_ok=isinstance(message, str),
        actions_ok=isinstance(actions, list),
        message=message if isinstance(message, str) else "",
        requests=tuple(read_request(action, words) for action in listed),
        preamble=re.sub(r"\s*```\w*\s*$", "", text[:start]).strip(),
    )


def answer_reading(text: str) -> Reading:
    """How an answer is read: free text may come first; nothing may follow."""
    found = _last_object(text)
    if found is None or _is_example(found[0]):
        return Reading("unreadable")
    _, start, end = found
    return Reading("as asked") if _TAIL.fullmatch(text, end) else Reading("repaired", text[start:end])


def _is_example(value: Mapping[str, Any]) -> bool:
    """Whether an object has the form that prompts show, or an equivalent one, or leaves the place of its message unfilled."""
    message = value.get("message")
    if not isinstance(message, str):
        return value in _examples() or not isinstance(value.get("actions"), list)  # such as a copy of the schema
    is_unfilled = message.strip() != "" and is_blank(message)
    return is_unfilled or value in _examples() or is_echo(message, (str(example["message"]) for example in _examples()))


@cache
def _examples() -> tuple[Mapping[str, Any], ...]:
    found = (_last_object(text) for text in texts_of(__package__)["answer"].values())
    return tuple(one[0] for one in found if one is not None)


def read_request(action: Any, words: Vocabulary) -> RequestedAction:
    """Read one element of ``actions``."""
    fields = action if isinstance(action, dict) else {}
    by = fields.get("by")
    by = by if isinstance(by, dict) else {}
    replace = fields.get("replace")
    replace = replace if isinstance(replace, int) and not isinstance(replace, bool) else None
    shape, color = _word(by.get("shape")), _word(by.get("color"))
    return RequestedAction(replace, shape, color, _fault(replace, shape, color, words))


def _fault(replace: int | None, shape: str | None, color: str | None, words: Vocabulary) -> Fault | None:
    if replace is None or shape is None or color is None:
        return "bad_structure"
    if not 1 <= replace <= words.size:
        return "bad_position"
    if shape not in words.shapes:
        return "unknown_shape"
    return None if color in words.colors else "unknown_color"


def _word(value: Any) -> str | None:
    return value.strip().lower() if isinstance(value, str) else None


_SPEAKER: Final = re.compile(r"^\W*(?:partner|user|assistant|human|(?:(?:agent|player) )?[AB])\W*:", re.IGNORECASE | re.MULTILINE)
"""Begins a line of another speaker, where a model goes on with the dialogue."""


def _last_object(text: str) -> tuple[dict[str, Any], int, int] | None:
    """The last object with a key of ours, with its place; objects inside such an object do not count."""
    found: tuple[dict[str, Any], int, int] | None = None
    start = text.find("{")
    while start >= 0:
        after = start + 1
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass  # a brace in the prose, or an object that was cut
        else:
            if "message" in value or "actions" in value:
                if found is not None and _SPEAKER.search(text, found[2], start):
                    return found  # what follows is put into the partner's mouth
                found, after = (replace_lone_surrogates(value), start, end), end
        start = text.find("{", after)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """An action and its effect; an invalid one has none."""

    index: int
    """From 0, place in the list of actions."""
    request: RequestedAction
    before: Entry | None
    """What stood at the position; None if the position does not exist."""
    after: Entry | None
    changed: bool
    right_before: bool | None
    """Whether the entry was right; None if the position does not exist."""
    right_after: bool | None

    @property
    def valid(self) -> bool:
        """Whether it was carried out."""
        return self.request.fault is None

    @property
    def takes_back(self) -> bool:
        """Whether it makes a right entry wrong."""
        return bool(self.right_before) and not self.right_after


def apply(
    hypothesis: Sequence[Entry], requests: Sequence[RequestedAction], truth: Sequence[Entry]
) -> tuple[tuple[Entry, ...], tuple[Applied, ...]]:
    """Carry out actions in order; gives the new hypothesis and what each action did."""
    entries = list(hypothesis)
    done: list[Applied] = []
    for index, request in enumerate(requests):
        place = request.replace - 1 if request.replace is not None and 1 <= request.replace <= len(entries) else None
        before = None if place is None else entries[place]
        written = request.entry
        if place is not None and written is not None:
            entries[place] = written
        after = None if place is None else entries[place]
        done.append(
            Applied(
                index=index,
                request=request,
                before=before,
                after=after,
                changed=before != after,
                right_before=None if place is None else before == truth[place],
                right_after=None if place is None else after == truth[place],
            )
        )
    return tuple(entries), tuple(done)


Tokenizer = Callable[[str], int]
"""Text -> number of tokens."""

DEFAULT_TOKENIZER: Final = "regex-v1"
"""Words and single marks; needs no tables (format description, section 8)."""

_PREFIX: Final = "tiktoken:"
_WORDS: Final = re.compile(r"\w+|[^\w\s]")


@cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of a name: ``regex-v1`` or ``tiktoken:<encoding>``, such as ``tiktoken:o200k_base``.

    Raises:
        UsageError: there is none of that name, or its tables cannot be had.
    """
    if name == DEFAULT_TOKENIZER:
        return lambda text: len(_WORDS.findall(text))
    if name.startswith(_PREFIX):
        return _tiktoken(name.removeprefix(_PREFIX))
    raise UsageError(f"no tokenizer {name!r}: give {DEFAULT_TOKENIZER} or {_PREFIX}<encoding>, such as {_PREFIX}o200k_base")


def _tiktoken(encoding: str) -> Tokenizer:
    try:
        import tiktoken

        found = tiktoken.get_encoding(encoding)
    except ImportError as error:
        raise UsageError(f"tokenizer {_PREFIX}{encoding} needs the package tiktoken: pip install tiktoken") from error
    except ValueError as error:
        raise UsageError(f"tiktoken has no encoding {encoding!r}: {', '.join(tiktoken.list_encoding_names())}") from error
    except OSError as error:  # its tables are downloaded at first use
        raise UsageError(f"the tables of {_PREFIX}{encoding} cannot be fetched ({error}): use {DEFAULT_TOKENIZER}") from error
    return lambda text: len(found.encode(text, disallowed_special=()))
