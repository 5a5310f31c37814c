"""Claims of games that no family of ours knows: what each sentence does, to whom, in what words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from judges.claims.reading import SENTENCE, FamilyReading, Read, ReadClaim
from judges.evidence.frame import Frame, in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.common.packages import packaged_yaml


def any_of(words: str) -> re.Pattern[str]:
    """A pattern for any of the phrases, which stand between bars, as whole words in any case."""
    phrases = (re.escape(" ".join(phrase.split())) for phrase in words.split("|"))
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


_TABLES: Final[Mapping[str, Any]] = packaged_yaml(__package__, "generic.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a sentence does."""

    act: Literal["asks", "states", "denies", "acknowledges"]
    """Wants something done or told; says that something is so; says that it is not; takes note of what another has said."""
    to: str | None = None
    """The agent it speaks to or of by name; None if it names none."""
    words: str = ""
    """The sentence."""


_ASKS: Final = any_of(_TABLES["asks"])
_DENIES: Final = any_of(_TABLES["denies"])
_ACKNOWLEDGES: Final = any_of(_TABLES["acknowledges"])
_HEDGES: Final = any_of(_TABLES["hedges"])


def _reads(message: UtteranceView) -> bool:
    """Whether a text can make claims: whether there is one."""
    return bool(message.text.strip())


def _frame(game: Transcript, _turn: int, message: UtteranceView) -> Frame:
    """Who speaks, and who there is to speak to."""
    kind = "a message" if message.channel == "public" else "private reasoning"
    others = Frame.joined(", ", [in_frame(name) for name in game.agents if name != message.agent])
    return Frame(_TABLES["frame"], kind=kind, speaker=in_frame(message.agent), others=others or "nobody else")


def _read(game: Transcript, _turn: int, message: UtteranceView) -> Read[Said]:
    """Read a text sentence by sentence."""
    return Read(tuple(_sentences(message, [name for name in game.agents if name != message.agent])))


def _sentences(message: UtteranceView, others: list[str]) -> Iterator[ReadClaim[Said]]:
    for match in SENTENCE.finditer(message.text):
        words = match[0].strip()
        if words:
            hedge = _HEDGES.search(words)
            named = next((name for name in others if re.search(rf"\b{re.escape(name)}\b", words, re.IGNORECASE)), None)
            doubt = None if hedge is None else f'hedged: "{hedge[0]}"'
            begin = match.start() + len(match[0]) - len(match[0].lstrip())
            yield ReadClaim(Said(act=_act(words), to=named, words=words), begin, begin + len(words), doubt)


def _act(words: str) -> Literal["asks", "states", "denies", "acknowledges"]:
    if words.endswith("?") or _ASKS.search(words):
        return "asks"
    if _ACKNOWLEDGES.match(words):
        return "acknowledges"
    return "denies" if _DENIES.search(words) else "states"


READING: Final = FamilyReading(types=(Said,), prompt=_TABLES, reads=_reads, frame=_frame, read=_read)
