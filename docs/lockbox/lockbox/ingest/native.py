"""Replays a logged game: what each try was worth, and where the log says otherwise."""

from collections.abc import Sequence

from ingest.cotrace_log.derivation import BadTurnError, Derived
from lockbox.games.rules import DIGITS, right_digits
from schemas.common.errors import BadInputError
from schemas.game import End, Header, Turn
from schemas.records import Failure, LogDisagreement

__all__ = ["derive"]


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Give progress, success, score, failures and disagreements of a game."""
    code = str((header.task.get("goal") or {}).get("code", ""))
    if len(code) != DIGITS:
        raise BadInputError("goal.code must have four digits", locator="line 1.task.goal.code")
    tried = [_tried(turn, index) for index, turn in enumerate(turns)]
    progress = [right_digits(code, guess) for guess in tried]
    opened = bool(progress) and progress[-1] == 1
    failures = [
        Failure(episode, turn.turn, "Opener", "lockbox_try", "right" if share == 1 else "wrong_digits", f"{share:.0%} of the digits")
        for turn, share in zip(turns, progress, strict=True)
    ]
    wrong = [
        LogDisagreement(episode, turn.turn, "goal_reached", str(turn.goal_reached), str(share == 1))
        for turn, share in zip(turns, progress, strict=True)
        if turn.goal_reached is not (share == 1)
    ]
    known = end is not None or opened
    score = progress[-1] if known and progress else None
    return Derived(
        progress=progress, success=opened if known else None, score=score, rows={"failures": failures, "log_disagreements": wrong}
    )


def _tried(turn: Turn, index: int) -> str:
    if len(turn.actions) != 1 or "code" not in turn.actions[0].arguments:
        raise BadTurnError(BadInputError("a turn has one action, with a code", locator=".actions"), index)
    return str(turn.actions[0].arguments["code"])
