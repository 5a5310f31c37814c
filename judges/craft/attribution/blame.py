"""Through which link a CRAFT turn lost what it lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from games.craft.claims import same_place
from games.craft.engine.blocks import Director
from games.craft.engine.flags import suits_target
from games.craft.engine.move import Move
from games.craft.engine.rules import accepts, execute
from judges.attribution.findings import How, Link
from judges.claims.reading import Open
from judges.craft.attribution.following import following
from judges.craft.attribution.wishes import Wish, asked_in, unmet_need, wishes_of
from judges.craft.checks.evidence import Game, Scene, Speech

__all__ = ["BUILDER", "Case", "Culprit", "culprits", "faults"]

BUILDER: Final = "Builder"
_UNREADABLE: Final = (
    "Could not parse response:",
    "Parse error:",
    "Error in move generation:",
    "No response from API",
    "Builder produced no final text",
    "Builder loop did not execute",
)
"""How the parser's complaints begin that logs hold in the place of a question."""


class Culprit(NamedTuple):
    """A broken link and whose it is; None: nobody's."""

    agent: str | None
    link: Link
    evidence: str


class _Followed(NamedTuple):
    wish: Wish
    how: How
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A turn as it is looked into."""

    game: Game
    scene: Scene
    earlier: frozenset[tuple[Director, Move]] = field(default_factory=frozenset)
    """What directors asked for in the turns before."""

    @cached_property
    def wishes(self) -> list[Wish]:
        """What was asked for, as far as it was read with certainty."""
        return wishes_of(self.game, self.scene)

    @cached_property
    def unread(self) -> list[Speech]:
        """Messages that may ask for more."""
        return [speech for speech in self.scene.current if isinstance(asked_in(speech), Open)]

    @cached_property
    def followed(self) -> list[_Followed]:
        """What the move has to do with each request; empty without a move."""
        move = self.scene.attempted
        return [] if move is None else [_Followed(wish, *following(wish.request, move)) for wish in self.wishes]

    @property
    def same(self) -> list[Wish]:
        """The requests that the move does not contradict."""
        return [found.wish for found in self.followed if found.how in ("fully", "partly")]

    @property
    def doable(self) -> list[Wish]:
        """Clear requests, right by their authors' views, that the engine would have carried out."""
        return [wish for wish in self.wishes if wish.is_good and wish.move is not None and accepts(self.scene.board, wish.move)]

    @property
    def is_right(self) -> bool:
        """Whether the target has this block there or, of a removal, has another one."""
        move, target = self.scene.attempted, self.game.target
        if move is None or target is None:
            return False
        block = move.block or next(iter(self.scene.board.stack(move.position)[-1:]), None)
        return suits_target(target, action=move.action, cell=move.position, layer=move.layer, block=block)


def culprits(case: Case) -> list[Culprit]:
    """Give the broken links that explain the turn, several if it takes more than one."""
    if case.scene.view.error is not None:
        return [Culprit(None, "undecided", f"the turn broke off: {case.scene.view.error}")]
    if case.scene.attempted is None:
        return _without_move(case)
    return _accepted(case) if case.scene.accepted else _refused(case)


# -- no move ------------------------------------------------------------------------------------------


def _without_move(case: Case) -> list[Culprit]:
    asked = next((action for action in case.scene.view.actions if action.verb == "clarify"), None)
    question = str(asked.arguments.get("question", "")).strip() if asked else ""
    if asked is None or not question or question.startswith(_UNREADABLE):
        return [Culprit(BUILDER, "format", f'no move can be read: "{question}"')]
    clash = _clash(case.wishes)
    if clash:
        return _of_conflict(clash)
    if case.doable:
        return [Culprit(BUILDER, "needless_question", f'asked "{question}", and had been told: {case.doable[0].request}')]
    return _of_speakers(case) or [Culprit(None, "not_seen", f'nobody who spoke saw a block that was missing; the builder asked "{question}"')]


def _clash(wishes: Sequence[Wish]) -> list[Wish]:
    """Requests of different authors for different things at one place."""
    for index, one in enumerate(wishes):
        for other in wishes[index + 1 :]:
            asks = [(wish.request.verb, wish.request.color, wish.request.size) for wish in (one, other)]
            if one.author != other.author and same_place(one.request, other.request) and asks[0] != asks[1]:
                return [one, other]
    return []


def _of_conflict(clash: Sequence[Wish]) -> list[Culprit]:
    wrong = [Culprit(wish.author, "said_wrong", f"{wish.request}: {wish.wrong}") for wish in clash if wish.wrong]
    both = " against ".join(f"{wish.author}: {wish.request}" for wish in clash)
    return wrong if 0 < len(wrong) < len(clash) else [Culprit(None, "conflict", both)] if not wrong else wrong


def _of_speakers(case: Case) -> list[Culprit]:
    """What the turn's messages leave to be desired, message by message; undecided where one was not understood."""
    if case.unread:
        return [Culprit(None, "undecided", f"{case.unread[0].agent}'s message was not understood whole")]
    return [culprit for speech in case.scene.current if (culprit := _of_message(case, speech)) is not None] + _of_silent(case)


def _of_message(case: Case, speech: Speech) -> Culprit | None:
    wishes = [wish for wish in case.wishes if wish.seq == speech.seq]
    wrong = next((wish for wish in wishes if wish.wrong), None)
    unclear = next((wish for wish in wishes if wish.missing and not wish.wrong), None)
    if any(wish.is_good for wish in wishes):
        return None
    if wrong is not None:
        return Culprit(speech.agent, "said_wrong", f"{wrong.request}: {wrong.wrong}")
    if unclear is not None:
        return Culprit(speech.agent, "said_unclear", f"{unclear.request}: {' and '.join(unclear.missing)} left open")
    if isinstance(asked_in(speech), Open):
        return None
    return _unsaid(case, speech.agent, "asks for nothing")


def _of_silent(case: Case) -> list[Culprit]:
    """Directors who were called and whose message holds nothing."""
    called = {u.agent for u in case.scene.view.said("public") if not u.superseded and u.agent in ("D1", "D2", "D3")}
    spoke = {speech.agent for speech in case.scene.current}
    empty: list[Director] = [name for name in ("D1", "D2", "D3") if name in called - spoke]
    return [culprit for name in empty if (culprit := _unsaid(case, name, "says nothing")) is not None]


def _unsaid(case: Case, director: Director, how: str) -> Culprit | None:
    need = unmet_need(case.game, case.scene, director)
    if need is None or (director, need) in case.earlier:
        return None
    return Culprit(director, "not_said", f"{how}, and its view lacks {written(need)}")


# -- a refused move -----------------------------------------------------------------------------------


def _refused(case: Case) -> list[Culprit]:
    move, board = case.scene.attempted, case.scene.board
    assert move is not None
    error = next((action for action in case.scene.view.actions if action.verb == move.action), None)
    why = f"{written(move)} was refused: {error.error_text if error else ''}"
    same = case.same
    if any(wish.move is not None and accepts(board, wish.move) for wish in same):
        return [Culprit(BUILDER, "rule_forgotten", f"{why}; asked for was {same[0].request}")]
    literal = [wish for wish in same if wish.move is not None]
    if literal:
        told = literal[0]
        refused = execute(board, told.move).error if told.move else None
        return [Culprit(told.author, "said_wrong", f"{told.request}: {told.wrong or (refused.message if refused else why)}")]
    if same:
        return _of_followed_in_part(case, same, why)
    near = [found for found in case.followed if found.how == "differs" and found.wish in case.doable]
    if near:
        return [Culprit(BUILDER, "misread", f"{why}; {near[0].wish.request} asks for another {' and '.join(near[0].differs)}")]
    if case.unread:
        return [Culprit(None, "undecided", f"{why}; {case.unread[0].agent}'s message was not understood whole")]
    return [Culprit(BUILDER, "rule_forgotten", f"{why}; nobody asked for it")]


def _of_followed_in_part(case: Case, same: Sequence[Wish], why: str) -> list[Culprit]:
    wrong = [wish for wish in same if wish.wrong]
    if wrong:
        return [Culprit(wrong[0].author, "said_wrong", f"{wrong[0].request}: {wrong[0].wrong}")]
    unclear = same[0]
    return [Culprit(unclear.author, "said_unclear", f"{unclear.request}: {' and '.join(unclear.missing) or 'what is to be done'} left open; {why}")]


# -- an accepted move ---------------------------------------------------------------------------------


def _accepted(case: Case) -> list[Culprit]:
    move = case.scene.attempted
    assert move is not None
    if case.is_right:
        return [Culprit(None, "better_existed", f"{written(move)} is right, another move was worth more")]
    same = case.same
    good = next((wish for wish in same if wish.is_good), None)
    if good is not None:
        return [Culprit(None, "not_seen", f"{good.author} asked {good.request}, as its view shows; the target has something else there")]
    if same:
        return _of_followed_in_part(case, same, f"the builder made it {written(move)}")
    near = next((found for found in case.followed if found.how == "differs" and found.wish in case.doable), None)
    if near is not None:
        return [Culprit(BUILDER, "misread", f"{written(move)}; {near.wish.author} asked for another {' and '.join(near.differs)}: {near.wish.request}")]
    if case.doable:
        return [Culprit(BUILDER, "not_heard", f"{written(move)}; {case.doable[0].author} asked for {case.doable[0].request}")]
    if move in case.scene.candidates:
        return [Culprit(None, "not_seen", f"{written(move)} was listed as a verified move")]
    return _of_speakers(case) or [Culprit(BUILDER, "acted_alone", f"{written(move)}; nobody asked for it")]


# -- faults without consequence -------------------------------------------------------------------------


def faults(case: Case, but: Sequence[Culprit]) -> Iterator[Culprit]:
    """What else in a turn's messages was wrong, unclear or left unsaid, though nothing came of it."""
    named = {culprit.agent for culprit in but}
    for speech in case.scene.current:
        culprit = None if speech.agent in named else _of_message(case, speech)
        if culprit is not None:
            yield culprit
    yield from (culprit for culprit in _of_silent(case) if culprit.agent not in named)


def written(move: Move) -> str:
    """A move in words."""
    to = f" to {move.span_to}" if move.span_to else ""
    return f"{move.action} {move.block or 'the top'} at {move.position}{to}, layer {move.layer}"
