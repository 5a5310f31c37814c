"""What one text was read to state, and the only ways in which a check can ask for it.

A check never sees a text, nor a list of claims that it could find empty. It asks `Reading.find` or `Reading.whole`. The answers distinguish
that something is claimed (`Shown`), that it is not claimed (`Absent`), and that this is unknown (`Open`), because a clause of the text was
not understood. A conclusion from something *not* being claimed needs `Absent` or a whole reading, and neither is ever given for a text with
a clause that might have made the claim.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from judges.evidence.frame import Frame
from judges.evidence.transcript import Transcript, UtteranceView

SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
"""A sentence of a text, as far as marks and line ends tell."""
Claim_co = TypeVar("Claim_co", covariant=True)
Kind = TypeVar("Kind")


class Unread(NamedTuple):
    """A stretch of the text that was not understood."""

    words: str
    why: str
    may_hold: tuple[type, ...]
    """Kinds of claim that it may hold."""
    start: int | None = None
    end: int | None = None
    states: bool = False
    """Whether it only states how something is or should be: it may say what is wanted, and asks for no step to be taken."""


class ReadClaim(NamedTuple, Generic[Claim_co]):
    """A claim with its place in the text."""

    claim: Claim_co
    start: int | None
    """Character offset in the text where its words begin; None if the reader does not say."""
    end: int | None
    doubt: str | None = None
    """Why the reader is not sure of it; None if it is."""

    @property
    def certain(self) -> bool:
        """Whether the reader is sure of it."""
        return self.doubt is None


class Read(NamedTuple, Generic[Claim_co]):
    """All that a reader made of a text."""

    claims: tuple[ReadClaim[Claim_co], ...]
    unread: tuple[Unread, ...] = ()
    vouched: tuple[type, ...] | None = None
    """Kinds of claim of which it tells all that the text makes, by accident of wording too; None: of every kind."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FamilyReading:
    """How the texts of a benchmark are read: `READING` of `judges.<family>.reading`, for any other game of `judges.claims.generic`."""

    types: tuple[type, ...]
    """Its kinds of claim."""
    prompt: Mapping[str, Any]
    """What a model receives: ``instructions`` about the game, whoever speaks, and ``form``, shown after the text."""
    reads: Callable[[UtteranceView], bool]
    """Whether a text is one that makes claims."""
    frame: Callable[[Transcript, int, UtteranceView], Frame]
    """(game, turn, text) -> what its words refer to: all that a model receives about the speaker."""
    read: Callable[[Transcript, int, UtteranceView], Read[Any]]
    """(game, turn, text) -> what the rules make of it."""
    resolve: Callable[[Read[Any], Transcript, int, UtteranceView], Read[Any]] | None = None
    """Works out what a model's reading leaves to the program."""
    weak: Collection[tuple[str, str, Any]] = ()
    """Kind, field and value (None: any) that contradict nothing where two readers differ: other values say more."""


class _Finding:
    """What came of looking for a claim: to be distinguished with ``match``, never by truth."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise TypeError(f"{type(self).__name__} is not a truth value: match Shown, Absent and Open apart")


@dataclass(frozen=True, slots=True)
class Shown(_Finding, Generic[Claim_co]):
    """Claims of that kind were made."""

    claims: tuple[Claim_co, ...]
    """At least one, in text order."""

    @property
    def first(self) -> Claim_co:
        """The first of them."""
        return self.claims[0]


@dataclass(frozen=True, slots=True)
class Absent(_Finding):
    """Every clause was understood, and none makes such a claim."""


@dataclass(frozen=True, slots=True)
class Open(_Finding):
    """Whether such a claim is made cannot be determined."""

    why: str


Found = Shown[Claim_co] | Absent | Open


class TextClaims(Generic[Claim_co]):
    """The claims of a text, and what of it was not understood."""

    def __init__(self, read: Read[Claim_co]) -> None:
        self._certain = tuple(one.claim for one in read.claims if one.certain)
        self._unread = read.unread

    def find(self, kind: type[Kind], where: Callable[[Kind], bool] = lambda _: True) -> Found[Kind]:
        """Look for claims of a kind that fit a condition."""
        fits = tuple(claim for claim in self._certain if isinstance(claim, kind) and where(claim))
        if fits:
            return Shown(fits)
        why = self._not_understood(kind)
        return Absent() if why is None else Open(why)

    def whole(self, *kinds: type[Kind]) -> tuple[Kind, ...] | Open:
        """Give all claims of some kinds, provided that no other one could have been made."""
        why = next((why for kind in kinds if (why := self._not_understood(kind)) is not None), None)
        return tuple(claim for claim in self._certain if isinstance(claim, kinds)) if why is None else Open(why)

    def arrived_at(self, kind: type[Kind]) -> tuple[Kind, ...] | Open:
        """Give all claims of a kind, provided that no clause that was not understood could be a step; it may be a mere statement."""
        why = next((_why(clause) for clause in self._unread if kind in clause.may_hold and not clause.states), None)
        return tuple(claim for claim in self._certain if isinstance(claim, kind)) if why is None else Open(why)

    def _not_understood(self, kind: type) -> str | None:
        clause = next((clause for clause in self._unread if kind in clause.may_hold), None)
        return None if clause is None else _why(clause)


def _why(clause: Unread) -> str:
    return f'"{clause.words}" was not understood ({clause.why})'


def find_in(readings: Iterable[TextClaims[Claim_co]], kind: type[Kind], where: Callable[[Kind], bool] = lambda _: True) -> Found[Kind]:
    """Look for claims in several texts: absent only if absent from each."""
    found = [reading.find(kind, where) for reading in readings]
    shown = tuple(claim for one in found if isinstance(one, Shown) for claim in one.claims)
    if shown:
        return Shown(shown)
    return next((one for one in found if isinstance(one, Open)), Absent())


def all_certain(readings: Iterable[TextClaims[Claim_co]], kind: type[Kind]) -> tuple[Kind, ...]:
    """Give what several texts certainly claim, of one kind; others of it may have been made, too: nothing may rest on their absence."""
    found = find_in(readings, kind)
    return found.claims if isinstance(found, Shown) else ()


def all_whole(readings: Iterable[TextClaims[Claim_co]], *kinds: type[Kind]) -> tuple[Kind, ...] | Open:
    """Give all claims of several texts, provided that no other one could have been made in any of them."""
    wholes = (reading.whole(*kinds) for reading in readings)
    claims: list[Kind] = []
    for whole in wholes:
        if isinstance(whole, Open):
            return whole
        claims += whole
    return tuple(claims)
