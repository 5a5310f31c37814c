"""Engine checks."""

from judges.checks import Decision
from judges.evidence.transcript import Transcript

__all__ = ["CHECKS"]


def _tells(game: Transcript, turn: int, agent: str | None) -> Decision:
    view = game.agents[agent or "Keeper"].private_view or {}
    digits = str(view.get("first", ""))
    said = " ".join(message.text for message in game.turn(turn).said("public", agent))
    if not digits or not said:
        return Decision(None, "nothing was said, or nothing is known")
    return Decision("yes" if digits in said else "no", f"the message {'has' if digits in said else 'lacks'} {digits}")


CHECKS = {"lockbox.tells_digits": _tells}
