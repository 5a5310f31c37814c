"""Evidence that only Lockbox has."""

from judges.evidence.frame import Entry, Frame
from judges.evidence.pieces import AGENT_UNITS, Pieces, UnitContext

PIECES = Pieces("lockbox")


@PIECES.add("known_digits", "the half of the code that the judged agent knows", AGENT_UNITS)
def _known_digits(context: UnitContext) -> list[Entry]:
    agent = context.game.agents.get(context.agent_name)
    return [] if agent is None or not agent.private_view else [Entry(Frame("Digits that only the speaker knows:"), str(agent.private_view))]
