"""How messages of AsymPuzl are read: what they state of the puzzle, and what they ask for."""

import re
from collections.abc import Iterator
from typing import Any, Final

from games.asympuzl.facts import TYPES, AsymPuzlClaim, Fact, Question, read_facts
from games.asympuzl.puzzle import AGENTS, COLORS, Vocabulary
from judges.claims.reading import FamilyReading, Read, ReadClaim, Unread
from judges.evidence.frame import Frame, in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.common.packages import packaged_yaml

_PROMPT: Final[dict[str, Any]] = packaged_yaml(__package__, "reading.yaml")
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\.(?=\d)[^.!?\n]*)*[.!?]*")
_ASKS: Final = re.compile(r"\?|\b(?:please|tell me|can you|could you|i need)\b", re.IGNORECASE)
_ABOUT: Final = {
    "colors": re.compile(r"\bcolou?rs?\b", re.IGNORECASE),
    "order": re.compile(r"\b(?:order|positions?|shapes?)\b", re.IGNORECASE),
}


def reads(message: UtteranceView) -> bool:
    """Whether a text can make claims: a message to the partner."""
    return message.channel == "public" and message.agent in AGENTS and bool(message.text.strip())


def _frame(_game: Transcript, _turn: int, message: UtteranceView) -> Frame:
    """Whose message it is."""
    return Frame(_PROMPT["frame"], speaker=in_frame(message.agent))


def _read(game: Transcript, _turn: int, message: UtteranceView) -> Read[AsymPuzlClaim]:
    """Read a message by rules: its facts, and what each sentence asks; a clause with a word of no known pattern is not understood."""
    # words of this puzzle's shapes, and of all colors: A does not know which are in play
    truth = (game.goal or {}).get("truth", ())
    shapes = frozenset(str(one["shape"]).strip().lower() for one in truth)
    words = Vocabulary(shapes, frozenset(COLORS), len(truth))
    facts = read_facts(message.text, words, next(agent for agent in AGENTS if agent == message.agent))
    reported: list[ReadClaim[AsymPuzlClaim]] = [
        *(ReadClaim(Fact(position=place, shape=shape), None, None) for place, shape in sorted(facts.order)),
        *(ReadClaim(Fact(shape=shape, color=color), None, None) for shape, color in sorted(facts.colors)),
        *(ReadClaim(Fact(position=place, color=color), None, None) for place, color in sorted(facts.places)),
    ]
    reported += _questions(message.text)
    unread = [Unread(clause, "not understood in every word", (Fact,)) for clause in facts.unread]
    return Read(tuple(reported), tuple(unread))


def _questions(text: str) -> Iterator[ReadClaim[AsymPuzlClaim]]:
    for sentence in _SENTENCE.finditer(text):
        words = sentence[0].strip()
        if _ASKS.search(words):
            about: Any = next((name for name, pattern in _ABOUT.items() if pattern.search(words)), "other")
            yield ReadClaim(Question(about=about, words=words), sentence.start(), sentence.end())


READING: Final = FamilyReading(types=TYPES, prompt=_PROMPT, reads=reads, frame=_frame, read=_read)
