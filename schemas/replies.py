"""How a reply was read: one closed vocabulary for players and judges (columns `actions.read` and `calls.read`)."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

Read = Literal["as asked", "repaired", "guessed", "random", "cut", "unreadable"]

READS: Final[Mapping[Read, str]] = {
    "as asked": "the reply has the form that was asked for",
    "repaired": "the answer was taken out of what is around it, or read after the model was asked again; its content is unchanged",
    "guessed": "the reply names no possible answer exactly, and the most similar one was taken",
    "random": "nothing in the reply could be read, and an answer was drawn by lot",
    "cut": "the reply ended early, at its token limit or with the connection",
    "unreadable": "nothing in the reply could be read, or it repeats an example of its prompt",
}
"""Kind -> what it means."""

AUTHORED: Final[tuple[Read, ...]] = ("as asked", "repaired")
"""Kinds whose answer is its author's own. No verdict is about what came of another kind, and no agent acted wrongly by it."""

NOT_READ: Final[tuple[Read, ...]] = ("random", "cut", "unreadable")
"""Kinds of replies in which nothing was read."""

_RULES: Final[Mapping[str, Read]] = {
    "as asked": "as asked",
    "from thoughts": "repaired",
    "empty": "unreadable",
    "only thoughts": "unreadable",
    "refused: cut": "cut",
    "refused: interrupted": "cut",
}
_FEWEST_WORDS: Final = 4
"""A shorter text can be the same as an example by chance."""
_MOSTLY: Final = (6, 0.75)
"""An example of so many words, and that share of a text's, makes the text a copy of it."""
_SURELY: Final = 10
"""So many words of an example are in no text by chance."""


_FRAME: Final = r"^[\W_]+|[\W_]+$"
_BLANK: Final = re.compile(
    r"(?:(?:insert|enter|write|put|add|type) )?(?:(?:your|the|a|my|own) )*(?:(?:short|public|private|actual) )?"
    r"(?:message|question|answer|plan|actions?|reasons?|reasoning|thoughts?|analysis|instructions?|text|words?|reply)"
    r"(?: (?:to|for) (?:the |your |all )?(?:builder|partner|team|players?|others?))?(?: (?:goes )?here)?",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """What was made of a reply."""

    read: Read
    used: str | None = None
    """The part of the reply that was read; None where nothing was."""


ReadReply: TypeAlias = Callable[[str], Reading]
"""How a game reads a reply; it does not depend on anything but the text."""


def read_of_rule(rule: str | None) -> Read | None:
    """Give the kind of a rule of `calls.read_as`; None without one."""
    if rule is None:
        return None
    return _RULES.get(rule, "unreadable" if rule.startswith("refused: ") else "repaired")


def is_blank(text: str) -> bool:
    """Whether a text is the name of a place that was to be filled in, whatever marks are around it, or holds no word at all.

    `<your message>`, `[question here]` and `...` are blank, and so is an empty text.
    """
    plain = re.sub(_FRAME, "", text)
    return not plain or _BLANK.fullmatch(" ".join(plain.split())) is not None


def is_echo(text: str, examples: Iterable[str]) -> bool:
    """Whether a text repeats one of a prompt's examples, case, white space and punctuation aside.

    It does if it is the example or a long part of it, consists of the example for the most part, or holds a long one among other words.

    Args:
        text: what was read of a reply: a message, a reason, a whole form.
        examples: as the prompt has them; those of fewer than 4 words are not compared.
    """
    words = _words(text)
    return any(_repeats(words, _words(example)) for example in examples)


def _repeats(words: tuple[str, ...], example: tuple[str, ...]) -> bool:
    size = len(example)
    if size > len(words) >= _SURELY:
        words, example, size = example, words, len(words)
    if size < _FEWEST_WORDS or size > len(words):
        return False
    fewest, share = _MOSTLY
    if size < len(words) and size < _SURELY and not (size >= fewest and size >= share * len(words)):
        return False
    return any(words[start : start + size] == example for start in range(len(words) - size + 1))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))
