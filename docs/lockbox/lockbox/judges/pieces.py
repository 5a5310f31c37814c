"""Evidence that only Lockbox has."""

from judges.evidence.frame import Entry, Frame
from judges.evidence.pieces import AGENT_UNITS, Piece, UnitContext

__all__ = ["PIECES"]


def _known_digits(context: UnitContext) -> list[Entry]:
    agent = context.game.agents.get(context.agent_name)
    return [] if agent is None or not agent.private_view else [Entry(Frame("Digits that only the speaker knows:"), str(agent.private_view))]


PIECES = (Piece("known_digits", "the half of the code that the judged agent knows", AGENT_UNITS, ("lockbox",), _known_digits),)
