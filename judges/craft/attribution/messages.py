"""What a turn's messages leave to be desired, by what their authors could see."""

from __future__ import annotations

from collections.abc import Iterator

from games.craft.engine.board import DIRECTORS, Director
from games.craft.engine.rules import Move
from games.craft.measures import followed_physical
from games.craft.text.replies import FAILED_CALL_MESSAGE
from judges.craft.attribution.case import BrokenLink, TurnCase
from judges.craft.attribution.wishes import Wish, entailed
from judges.craft.checks.prepared import move_text

__all__ = ["faulty_messages", "left_open"]


def faulty_messages(case: TurnCase) -> Iterator[BrokenLink]:
    """What in a turn's messages was wrong, unclear or left unsaid, whether anything came of it or not.

    All messages of a director that the builder received in the turn count as one: each of them may complete or correct the others.
    """
    spoke = dict.fromkeys(speech.agent for speech in case.prepared.current)
    called = {u.agent for u in case.prepared.view.received() if u.text != FAILED_CALL_MESSAGE}
    faults = (
        *(_of_messages(case, name) for name in spoke if name not in case.unread_of),
        *(_unsaid(case, name, "says nothing") for name in DIRECTORS if name in called - spoke.keys()),
    )
    yield from (fault for fault in faults if fault is not None)


def left_open(wish: Wish) -> str:
    """What a request leaves to guess, in words."""
    return f"{' and '.join(wish.missing) or 'what is to be done'} left open"


def _of_messages(case: TurnCase, director: Director) -> BrokenLink | None:
    """What is to be desired in the messages of a director, all of which were understood."""
    wishes = [wish for wish in case.wishes if wish.author == director]
    if any(wish.is_good for wish in wishes):
        return None
    for wish in sorted(wishes, key=lambda wish: not wish.wrong):
        if wish.wrong:
            return BrokenLink(director, "wrong_instruction", f"{wish.request}: {wish.wrong}")
        if wish.missing:
            return BrokenLink(director, "said_unclear", f"{wish.request}: {left_open(wish)}")
    return _unsaid(case, director, "asks for nothing")


def _unsaid(case: TurnCase, director: Director, how: str) -> BrokenLink | None:
    asked = [move for author, move in case.earlier if author == director]
    need = next((move for move in entailed(case.game, case.prepared, director) if not followed_physical(asked, move)), None)
    if need is None or (need.action == "remove" and not _surely_wrong(case, director, need)):
        return None
    return BrokenLink(director, "not_said", f"{how}, and its view asks for: {move_text(need)}")


def _surely_wrong(case: TurnCase, director: Director, removal: Move) -> bool:
    """Whether the colour is wrong, not only the size (what is half on another wall looks small), and nobody put it back after a removal."""
    wanted = case.game.shown(director, removal.position, removal.layer)
    foreign = wanted is None or wanted[0] != case.prepared.board.stack(removal.position)[-1][0]
    return foreign and (removal.position, removal.layer) not in case.removed
