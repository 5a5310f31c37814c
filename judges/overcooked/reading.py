"""How cooks' texts are read: what they ask of the partner, what they plan, and what they report."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from games.overcooked.engine.layout import AGENTS
from games.overcooked.text.replies import TYPES, Asked, Clause, OvercookedClaim, Planned, Reported, calls_in, heard, requests_meant
from judges.claims.generic import any_of
from judges.claims.reading import SENTENCE, FamilyReading, Read, ReadClaim, Unread
from judges.evidence.frame import Frame, in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from judges.overcooked.checks import layout_in
from schemas.common.packages import packaged_yaml

_TABLES: Final[dict[str, Any]] = packaged_yaml(__package__, "reading.yaml")
_PLAN: Final = re.compile(r"\s*\w+ plan\s*:", re.IGNORECASE)
_STANCES: Final = {stance: any_of(words) for stance, words in _TABLES["stances"].items()}


def reads(message: UtteranceView) -> bool:
    """Whether a text can make claims: whether there is one."""
    return bool(message.text.strip())


def _frame(_game: Transcript, _turn: int, message: UtteranceView) -> Frame:
    """Who wrote it, and for whom."""
    kind = "a message" if message.channel == "public" else "a plan" if _PLAN.match(message.text) else "private analysis"
    return Frame(_TABLES["frame"], kind=kind, speaker=in_frame(message.agent))


def _read(game: Transcript, _turn: int, message: UtteranceView) -> Read[OvercookedClaim]:
    """Read a text by rules: plans by their grammar; of a message what it asks for, and whether it agrees, refuses or reports."""
    if _PLAN.match(message.text):
        return Read(tuple(_planned(message.text)))
    reported: list[ReadClaim[OvercookedClaim]] = []
    unread: list[Unread] = []
    for sentence in SENTENCE.finditer(message.text) if message.channel == "public" else ():
        words, place = sentence[0].strip(), (sentence.start(), sentence.end())
        stance: Any = next((name for name, pattern in _STANCES.items() if pattern.search(words)), None)
        if stance is not None:
            reported.append(ReadClaim(Reported(stance=stance, words=words), *place))
    at = 0
    for clause in _spoken(game, message):
        start = max(message.text.find(clause.text, at), 0)
        place, at = (start, start + len(clause.text)), start
        reported += [ReadClaim(Asked(action=action), *place) for action in clause.actions if clause.is_read]
        if not clause.is_read:
            unread.append(Unread(clause.text, "a clause with words that the rules do not know", (Asked,), *place))
    return Read(tuple(reported), tuple(unread))


def _spoken(game: Transcript, message: UtteranceView) -> Sequence[Clause]:
    if message.channel != "public" or message.agent not in AGENTS:
        return ()
    return heard(message.text, 1 - AGENTS.index(message.agent), layout=layout_in(game)).clauses


def _planned(plan: str) -> Iterator[ReadClaim[OvercookedClaim]]:
    for action in requests_meant(plan):
        yield ReadClaim(Asked(action=action), None, None)
    for action in calls_in(plan) or ():
        yield ReadClaim(Planned(action=action), None, None)


READING: Final = FamilyReading(types=TYPES, prompt=_TABLES, reads=reads, frame=_frame, read=_read)
