"""Reads a director's raw answer: private reasoning and public message.

Directors are asked for ``<think>...</think><message>...</message>``. What becomes of answers that keep
to it only in part is that of the released parser, oddities included, because logs hold its results.
The readers below are tried in order; tags are matched in any case.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

NO_THINKING: Final = "No thinking provided"
NO_MESSAGE: Final = "No message provided"
"""Stands in for a missing message; the builder is not shown it."""

FAILED_CALL_MESSAGE: Final = "I need a moment to analyze the situation."
"""The message that published logs hold where the model call failed."""

_SHORTEST_INSTRUCTION: Final = 5
"""Words a line of unclosed reasoning needs to be taken for the message."""

_FLAGS: Final = re.DOTALL | re.IGNORECASE
_THINK: Final = re.compile(r"<think>\s*(.*?)\s*</think>", _FLAGS)
_MESSAGE: Final = re.compile(r"<message>\s*(.*?)\s*</message>", _FLAGS)
_OPEN_THINK: Final = re.compile(r"<think>\s*(.*?)(?=<message>|$)", re.IGNORECASE | re.DOTALL)
_OPEN_MESSAGE: Final = re.compile(r"<message>\s*(.*)", _FLAGS)
_THINK_TAG: Final = re.compile(r"<think>", re.IGNORECASE)
_MESSAGE_TAG: Final = re.compile(r"<message>", re.IGNORECASE)
_CUT_TAG: Final = re.compile(r"<[^>]*$")
_BRACKETED: Final = re.compile(r"\[.*?\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DirectorAnswer:
    """What a director thought and said."""

    thinking: str
    """Private reasoning; ``NO_THINKING`` where there is none."""

    message: str
    """Public message; ``NO_MESSAGE`` where there is none, empty where its tags are empty."""


def parse_director(raw: str) -> DirectorAnswer:
    """Read a raw answer."""
    answers = (reader(raw) for reader in _READERS)
    return next((answer for answer in answers if answer is not None), DirectorAnswer(NO_THINKING, NO_MESSAGE))


def director_text(thinking: str, message: str) -> str:
    """Write an answer as directors are asked to."""
    return f"<think>\n{thinking}\n</think>\n\n<message>\n{message}\n</message>"


def _well_formed(raw: str) -> DirectorAnswer | None:
    think, message = _THINK.search(raw), _MESSAGE.search(raw)
    return DirectorAnswer(think[1].strip(), message[1].strip()) if think and message else None


def _text_after_thinking(raw: str) -> DirectorAnswer | None:
    think = _THINK.search(raw)
    if think is None or _MESSAGE.search(raw):
        return None
    rest = raw[think.end() :].strip()
    return DirectorAnswer(think[1].strip(), _MESSAGE_TAG.sub("", rest).strip()) if rest else None


def _message_never_closed(raw: str) -> DirectorAnswer | None:
    think, message = _THINK.search(raw), _OPEN_MESSAGE.search(raw)
    if message is None or _MESSAGE.search(raw):
        return None
    return DirectorAnswer(think[1].strip() if think else NO_THINKING, message[1].strip())


def _thinking_never_closed(raw: str) -> DirectorAnswer | None:
    """The message keeps its closing tag here, as in the logs."""
    think, message = _OPEN_THINK.search(raw), _OPEN_MESSAGE.search(raw)
    if message is None or not message[1].strip():
        return None
    return DirectorAnswer(think[1].strip() if think else NO_THINKING, message[1].strip())


def _thinking_only(raw: str) -> DirectorAnswer | None:
    if not _THINK_TAG.search(raw) or "</think>" in raw.lower():
        return None
    thinking = _THINK_TAG.sub("", raw).strip()
    lines = [line.strip() for line in thinking.split("\n") if len(line.split()) >= _SHORTEST_INSTRUCTION]
    return DirectorAnswer(thinking, _CUT_TAG.sub("", lines[-1] if lines else NO_MESSAGE).strip())


def _plain_text(raw: str) -> DirectorAnswer | None:
    paragraphs = (paragraph.strip() for paragraph in _BRACKETED.sub("", raw).strip().split("\n\n"))
    text = "\n\n".join(dict.fromkeys(filter(None, paragraphs)))
    return DirectorAnswer(NO_THINKING, text) if text else None


_READERS: Final[tuple[Callable[[str], DirectorAnswer | None], ...]] = (
    _well_formed,
    _text_after_thinking,
    _message_never_closed,
    _thinking_never_closed,
    _thinking_only,
    _plain_text,
)
