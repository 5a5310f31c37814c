"""The four communicative action spaces: which verbs a player may use (formats/einstein.md section 4)."""

from typing import Final, Literal, NamedTuple, get_args

ActionMode = Literal["provide_seek", "provide", "seek", "none"]
ACTION_MODES: Final[tuple[ActionMode, ...]] = get_args(ActionMode)

Modes = tuple[ActionMode, ActionMode]
"""The action space of player 0 and of player 1; the same twice except in mixed pairs (paper, Table 3)."""


class Verbs(NamedTuple):
    """What an action space allows besides moving and passing."""

    share: bool
    """Sharing on one's own account."""

    reply: bool
    """Sharing as the answer to an ask in the step before."""

    ask: bool


ALLOWED: Final[dict[ActionMode, Verbs]] = {
    "provide_seek": Verbs(share=True, reply=True, ask=True),
    "provide": Verbs(share=True, reply=True, ask=False),
    "seek": Verbs(share=False, reply=True, ask=True),
    "none": Verbs(share=False, reply=False, ask=False),
}


def optimum_mode(modes: Modes) -> ActionMode:
    """Give the action space whose optimum is the yardstick of a pair.

    For mixed pairs the paper names none; by the decision of section 9 it is ``provide_seek``.
    """
    return modes[0] if modes[0] == modes[1] else "provide_seek"
