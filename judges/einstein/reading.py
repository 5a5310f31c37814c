"""How texts of Einstein puzzles are read: where players think that objects belong, or that this is unknown.

Clause by clause. A clause that names an object or a corner bin is a claim, or visibly none (a plan, a relation between objects, a place
outside the corners, a question of the partner), or not understood; the last is recorded, so that nothing is called right by mistake.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, cast

from games.einstein.claims import TYPES, Belongs, Corner, EinsteinClaim, Lies
from judges.claims.reading import FamilyReading, Read, ReadClaim, Unread
from judges.evidence.frame import Frame, in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.common.packages import packaged_yaml

_CLAUSE: Final = re.compile(
    r"[.!?;:\n]+|,\s*(?:and |so |but |which means that |therefore )?|\b(?:so|because|but|therefore|which means that)\b", re.IGNORECASE
)
_BLOCK: Final = re.compile(r"\bblock[ _]?(\d{1,9})\b", re.IGNORECASE)
_CORNER: Final = re.compile(r"\b(top|bottom|upper|lower)[-_ ](left|right)(?:[-_ ]bin)?(?![a-z])", re.IGNORECASE)
_ROWS: Final = {"top": "top", "upper": "top", "bottom": "bottom", "lower": "bottom"}

_BELONGS: Final = re.compile(
    r"\b(?:go(?:es)? (?:in)?to|goes in|belongs?|ends? up|(?:has|have|needs?|ought) to (?:be|go)|(?:must|should|will) (?:be|go)"
    r"|(?:place|bin|goal|target|home) (?:for|of)|(?:goal|target|place|home)(?: bin)? is|work(?:ed)? out|follows)\b",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    r"\b(?:(?:don't|do not|cannot|can't|can not|could not|couldn't) (?:yet )?(?:know|work out|tell|infer|figure|deduce|derive|say)"
    r"|unknown|not known|no idea|no (?:knowledge|information)|nothing\b.*\b(?:tells?|says?|fixes)|still open|(?:do|does) not reach"
    r"|not sure (?:where|about))\b",
    re.IGNORECASE,
)
_HEDGED: Final = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|if|unless|maybe|perhaps|may|might|could|would|try|guess|either|or|except|partner|wrong"
    r"|(?:same|opposite|other) \w+ (?:as|of|from|to)|false|tempted|thought|believed|glance|looks like|seems|was|were"
    r"|earlier|before|previously)\b|n't",
    re.IGNORECASE,
)
_NOT_NOW_OR_OWN: Final = re.compile(r"\b(?:partner|player ?[12]|they|them|was|were|earlier|before|previously)\b", re.IGNORECASE)
"""Whoever or whenever else it may be to whom something is unknown."""
_CONDITION: Final = re.compile(r"\b(?:if|unless|without|whether|suppose|assuming)\b", re.IGNORECASE)
_SUPPOSED: Final = re.compile(
    r"\b(?:suppos(?:e|ing)|assum(?:e|ing|ption)|hypothe\w+|imagine|option|case|scenario|alternatively)\b", re.IGNORECASE
)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:wait[,.!]|(?:no|oh|but|hmm),? wait\b|(?:actually|hold on|scratch that|correction|on second thoughts?|mistaken?"
    r"|that(?:'s| is| was) (?:wrong|not)|(?:was|were) refused)\b)",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?\n]")
_SEEN: Final = re.compile(r"\b(?:is|lies|sits)(?: already| still| now)?(?: placed| lying)? (?:in|at)\b", re.IGNORECASE)
_MIND: Final = re.compile(
    r"\b(?:know|believe|think|work|infer|conclude|deduce|derive|see|suppose|guess|remember|hold|assume)\b|" + _BELONGS.pattern,
    re.IGNORECASE,
)
_PLAN: Final = re.compile(
    r"\s*(?:(?:and|then|now|first) )*(?:(?:i|we|let me|let us)\b|i'll\b|(?:the fastest way is to )?"
    r"(?:placing|moving|putting|passing|sharing|asking|place|move|put|pass|share|ask)\b)",
    re.IGNORECASE,
)
_OTHER_PLACE: Final = re.compile(r"\b(?:common|player ?[12])", re.IGNORECASE)
_PARTNER_ASKS: Final = re.compile(r"\s*my partner (?:asked|asks|wants to know|has asked|needs to know)\b", re.IGNORECASE)
_REACH: Final = re.compile(
    r"\b(?:reach|(?:is|lies) (?:on|at) (?:my|our|the other|my partner's|the partner's) (?:own )?side)\b", re.IGNORECASE
)


def read_thoughts(text: str) -> Read[EinsteinClaim]:
    """Read a text clause by clause."""
    reported: list[ReadClaim[EinsteinClaim]] = []
    unread: list[Unread] = []
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for start, end in _clauses(plain):
        clause = plain[start:end]
        blocks = {f"block{int(number)}" for number in _BLOCK.findall(clause)}
        corners = {cast("Corner", f"{_ROWS[row.lower()]}_{column.lower()}_bin") for row, column in _CORNER.findall(clause)}
        if not (blocks or corners):
            continue
        claim = _claim(clause, blocks, corners)
        doubt = None if claim is None else _doubt(plain, start, end)
        if doubt is not None:
            unread.append(Unread(text[start:end].strip(), doubt, TYPES, start, end))
        elif claim is not None:
            reported.append(ReadClaim(replace(claim, words=text[start:end].strip()), start, end))
        elif not _claims_nothing(clause, blocks, corners):
            unread.append(Unread(text[start:end].strip(), "of objects or corner bins, and no plain claim", TYPES, start, end))
    return Read(tuple(reported), tuple(unread))


def _doubt(text: str, start: int, end: int) -> str | None:
    """Why a claim may not be one by what is written around it."""
    if text[end : end + 1] == "?":
        return "it is asked"
    sentence = max((found.end() for found in _SENTENCE_END.finditer(text, 0, start)), default=0)
    if _SUPPOSED.search(text, 0, end) or _CONDITION.search(text, sentence, end):
        return "it may only be supposed"
    return "it may be taken back" if _TAKEN_BACK.search(text, end) else None


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for border in _CLAUSE.finditer(text):
        yield start, border.start()
        start = border.end()
    yield start, len(text)


def _claim(clause: str, blocks: set[str], corners: set[Corner]) -> EinsteinClaim | None:
    if len(blocks) != 1 or len(corners) > 1:
        return None
    (block,) = blocks
    if not corners:
        return Belongs(block=block, goal=None) if _UNKNOWN.search(clause) and not _NOT_NOW_OR_OWN.search(clause) else None
    (corner,) = corners
    if _HEDGED.search(clause):
        return None
    if _BELONGS.search(clause):
        return Belongs(block=block, goal=corner)
    is_seen = _SEEN.search(clause) and not _OTHER_PLACE.search(clause) and not _claims_nothing(clause, blocks, corners)
    return Lies(block=block, corner=corner) if is_seen else None


def _claims_nothing(clause: str, blocks: set[str], corners: set[Corner]) -> bool:
    """Whether a clause assigns no object to a corner, nor that this is unknown."""
    if _PARTNER_ASKS.match(clause) or (_PLAN.match(clause) and not _MIND.search(clause)):
        return True
    if not blocks:
        return _REACH.search(clause) is not None
    if corners or _UNKNOWN.search(clause):
        return False
    return len(blocks) > 1 or _OTHER_PLACE.search(clause) is not None


_PROMPT: Final[dict[str, Any]] = packaged_yaml(__package__, "reading.yaml")


def reads(message: UtteranceView) -> bool:
    """Whether a text can make claims: private reasoning does; a message is an action in its own form."""
    return message.channel == "private" and bool(message.text.strip())


def _frame(_game: Transcript, _turn: int, message: UtteranceView) -> Frame:
    """Whose thoughts they are."""
    return Frame(_PROMPT["frame"], kind="private reasoning", speaker=in_frame(message.agent))


def _read(_game: Transcript, _turn: int, message: UtteranceView) -> Read[EinsteinClaim]:
    """Read a player's thoughts by rules."""
    return read_thoughts(message.text)


READING: Final = FamilyReading(types=TYPES, prompt=_PROMPT, reads=reads, frame=_frame, read=_read)
