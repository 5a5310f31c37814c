"""Thoughts that a model writes among its text, where its server does not separate the two.

Models mark thoughts in many ways: in tags (`<think>`, `[THINK]`, `◁think▷` and others) or in the channels of gpt-oss. A mark inside a
whole JSON object is content of that object.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import JSONDecoder
from typing import Any, Final, NamedTuple

__all__ = ["DECODER", "Parted", "object_at", "parted"]

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

_CHANNEL: Final = re.compile(
    r"(?:<\|start\|>(?P<to>[^<]*))?<\|channel\|>(?P<head>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>"
    r"(?P<body>.*?)(?:<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)|\Z)",
    re.DOTALL,
)
_BARE_CHANNEL: Final = re.compile(r"\s*(?:assistant)?analysis(?=[A-Z])")
_BARE_FINAL: Final = "assistantfinal"
"""What is left of the channels where a server drops their marks."""

_MOST_OBJECTS: Final = 200
"""Of a text that are looked at."""


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
    """Thoughts between tags; some models leave out the opening tag, since their template writes it.

    Args:
        written: what the model wrote.
        first: whether only the first thoughts are separated.
    """
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
