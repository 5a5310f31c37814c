"""What an Avalon message states in plain words about roles; hedged, negated and conditional sentences state nothing here.

A negative answer needs a whole reading: `is_silent` is true only of a text that has none of the words such a statement would take.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from games.avalon.rules import ROLES, side

Kind = Literal["side", "role"]

_SENTENCE: Final = re.compile(r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s|,? (?:but|because|since|so|while|although|which|who) ")
_HEDGE: Final = re.compile(
    r"\b(?:if|unless|would|could|may|might|maybe|perhaps|possibl[ey]|probabl[ey]|likely|seems?|looks?|appears?|think|believe|suspect|guess"
    r"|feels?|lean(?:ing)?|either|or|not|never|no|cannot|whether|suppose|assum\w+|should|want\w*|claim\w*|at least|almost|where|when"
    r"|unlikely|worlds?|case|potential\w*|reads?|both|one of|everyone|anyone|no one|convinced|worried)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_SIDES: Final = {"evil": "evil", "a spy": "evil", "good": "good", "a loyal servant": "good", "innocent": "good"}
_OPENING: Final = r"^(?:(?:so|and|also|now|then|clearly|that means|this means|we know|i know|note|remember)[, ]+(?:that )?)*"
_END: Final = r"(?=\s*(?:by elimination\b|for (?:sure|certain)\b|[.,;!)]|$|and\b))"
_ROLE_WORDS: Final = re.compile(
    r"\b(?:evil|bad|spy|spies|good|loyal|clean|innocent|trust\w*|sus\w*|servant|minion|" + "|".join(ROLES) + r")\b", re.IGNORECASE
)


class Statement(NamedTuple):
    """Something that a message states for certain."""

    kind: Kind
    subject: str
    """A player."""
    value: str
    """good or evil, or a role."""
    words: str


def statements(text: str, speaker: str, names: Sequence[str]) -> Iterator[Statement]:
    """What a message states; `I` is the speaker."""
    for sentence in filter(None, (part.strip() for part in _SENTENCE.split(text))):
        if not _HEDGE.search(sentence):
            # at the beginning of a sentence only: what somebody is convinced of, or others are quoted with, is not stated
            either = "|".join(map(re.escape, names))
            what = "|".join([*_SIDES, *(role for role in ROLES if role not in _SIDES)])
            sure = r"(?:definitely |clearly |certainly |surely |confirmed |proven |the |100% )*"
            others = rf"{_OPENING}((?:\b(?:{either})\b(?:, and |, | and | & )?)+)\s+(?:is|are)\s+{sure}({what})\b{_END}"
            found = re.search(others, sentence, re.IGNORECASE)
            if found is not None:
                for name in re.findall(rf"\b(?:{either})\b", found[1]):
                    yield _of_player(name, found[2].lower(), found[0])
            own = re.search(rf"(\bI know (?:that )?)?\bI(?:['’]m| am)\s+{sure}((?i:{what}))\b{_END}", sentence)
            if own is not None and (own[1] or own[2] != "good"):  # "I'm good" may mean that nothing is lacking
                yield _of_player(speaker, own[2].lower(), own[0])


def _of_player(name: str, value: str, words: str) -> Statement:
    return Statement("side" if value in _SIDES else "role", name, _SIDES.get(value, value), words)


def names_no_one(text: str, names: Sequence[str]) -> bool:
    """Whether a text has none of the words that a statement about players would take."""
    return _ROLE_WORDS.search(text) is None and not any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def side_of(statement: Statement) -> str | None:
    """The side that a statement gives a player."""
    return statement.value if statement.kind == "side" else side(statement.value)
