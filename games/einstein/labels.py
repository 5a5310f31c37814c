"""The error taxonomy: what is wrong with a step, by rule (formats/einstein.md section 10).

All rules use the situation before the step. A step has any number of labels; one without a label of the paper's has ``no_error``.
The published code has no taxonomy; these are the definitions of the specification.
"""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from games.einstein.engine.actions import Action, ActionType, Ask, Move, Share
from games.einstein.engine.puzzle import ALLOWED, COMMON, DESTINATIONS, REACH, Grounding, mentions
from games.einstein.engine.table import Outcome, Setting, Table

Group = Literal["format", "physical", "communication", "reasoning"]

NO_ERROR: Final = "no_error"


class Situation(NamedTuple):
    """A step with all that the rules may look at."""

    setting: Setting
    table: Table
    """Before the step."""

    action: Action | None
    outcome: Outcome

    stuck: frozenset[tuple[int, str]]
    """Object and destination of the moves without effect that this player made before."""

    def knows(self, block: int) -> bool:
        """Tell whether the player can infer the goal of an object of the game."""
        return bool(self.outcome.options.known >> block & 1)

    def has(self, block: int) -> bool:
        """Tell whether the game has an object."""
        return block < self.setting.puzzle.num_objects

    @property
    def asked(self) -> int | None:
        """The object that the partner has just asked for."""
        return self.table.asked(self.setting.modes)


class Category(NamedTuple):
    """A category of the paper's Table 2."""

    key: str
    name: str
    """As the paper prints it."""

    group: Group
    relevant: ActionType | None
    """The actions that the second rate is taken over; None: over all steps only."""

    holds: Callable[[Situation], bool]


def categories(step: Situation) -> tuple[str, ...]:
    """Give the keys of the paper's categories that a step falls into, in the order of its table; empty for no error."""
    return tuple(category.key for category in CATEGORIES if category.holds(step))


def extensions(step: Situation) -> tuple[str, ...]:
    """Give the keys of the additional labels of a step; they do not enter the paper's rates."""
    return tuple(key for key, holds in EXTENSIONS.items() if holds(step))


# -- format and physics --------------------------------------------------------------------------


def _not_in_source(step: Situation) -> bool:
    move = step.action
    return isinstance(move, Move) and (not step.has(move.block) or step.table.positions[move.block] != move.source)


def _source_out_of_reach(step: Situation) -> bool:
    return isinstance(step.action, Move) and step.action.source not in REACH[step.table.player]


def _destination_out_of_reach(step: Situation) -> bool:
    return isinstance(step.action, Move) and step.action.target not in REACH[step.table.player]


def _same_bins(step: Situation) -> bool:
    return isinstance(step.action, Move) and step.action.source == step.action.target


# -- communication -------------------------------------------------------------------------------


def _held_index(step: Situation) -> int | None:
    """Place of the shared item among the game's, if the player holds it."""
    if not isinstance(step.action, Share):
        return None
    index = step.setting.puzzle.item_index.get(step.action.item)
    return index if index in step.table.held[step.table.player] else None


def _was_shared(step: Situation) -> bool:
    index = step.setting.puzzle.item_index.get(step.action.item) if isinstance(step.action, Share) else None
    return index is not None and bool(step.table.shared >> index & 1)


def _not_a_share(step: Situation) -> bool:
    return step.asked is not None and not isinstance(step.action, Share)


def _beside_the_question(step: Situation) -> bool:
    if step.asked is None or not isinstance(step.action, Share):
        return False
    return not mentions(step.action.item, step.asked) or _held_index(step) is None


def _asks_for_known(step: Situation) -> bool:
    may_ask = ALLOWED[step.setting.modes[step.table.player]].ask
    return may_ask and isinstance(step.action, Ask) and step.has(step.action.block) and step.knows(step.action.block)


# -- reasoning -----------------------------------------------------------------------------------


def _against_rules(step: Situation) -> bool:
    move = step.action
    if not isinstance(move, Move) or not step.has(move.block) or not step.knows(move.block):
        return False
    goal = step.setting.puzzle.goals[move.block]
    return move.target != (goal if goal in REACH[step.table.player] else COMMON)


def _bad_guess(step: Situation) -> bool:
    move = step.action
    if not isinstance(move, Move) or not step.has(move.block) or step.knows(move.block):
        return False
    return move.target not in (COMMON, step.setting.puzzle.goals[move.block])


# -- additional ----------------------------------------------------------------------------------


def _unanswerable(step: Situation) -> bool:
    asked = step.asked
    return asked is not None and not any(mentions(item, asked) for item in step.outcome.options.shares)


def _obsolete(step: Situation) -> bool:
    if not isinstance(step.action, Share) or step.outcome.accepted or _held_index(step) is None or _was_shared(step):
        return False
    item = step.action.item
    blocks = (item.block,) if isinstance(item, Grounding) else (item.first, item.second)
    return all(step.table.positions[block] in DESTINATIONS for block in blocks)


def _out_of_mode(step: Situation) -> bool:
    verbs = ALLOWED[step.setting.modes[step.table.player]]
    if isinstance(step.action, Ask):
        return not verbs.ask
    if not isinstance(step.action, Share) or verbs.share:
        return False
    return not verbs.reply or not isinstance(step.table.previous, Ask)


def _stuck_again(step: Situation) -> bool:
    if not isinstance(step.action, Move) or step.outcome.state_changed:
        return False
    return (step.action.block, step.action.target) in step.stuck


def _lucky(step: Situation) -> bool:
    move = step.action
    return isinstance(move, Move) and step.outcome.state_changed and not step.knows(move.block) and move.target in DESTINATIONS


CATEGORIES: Final[tuple[Category, ...]] = (
    Category("format_following", "Format following", "format", None, lambda step: step.action is None),
    Category("object_not_in_source_bin", "Object not in source bin", "physical", "move", _not_in_source),
    Category("source_bin_not_reachable", "Source bin not reachable", "physical", "move", _source_out_of_reach),
    Category("dest_bin_not_reachable", "Dest. bin not reachable", "physical", "move", _destination_out_of_reach),
    Category("same_source_dest", "Source & destination same", "physical", "move", _same_bins),
    Category("redundant_sharing", "Redundant knowledge sharing", "communication", "share", _was_shared),
    Category("no_share_after_seek", "No share after seek", "communication", "ask", _not_a_share),
    Category("wrong_share_after_seek", "Wrong share after seek", "communication", "share", _beside_the_question),
    Category("seek_known_object", "Seek known object", "communication", "ask", _asks_for_known),
    Category("wrong_rule", "Wrong rule understanding", "reasoning", "move", _against_rules),
    Category("wrong_guess", "Wrong random guessing", "reasoning", "move", _bad_guess),
)
"""The paper's categories in the order of its table."""

EXTENSIONS: Final[dict[str, Callable[[Situation], bool]]] = {
    "unanswerable_seek": _unanswerable,
    "refused_seek_pending": lambda step: step.asked is not None and not step.table.previous_ok,
    "share_not_owned": lambda step: isinstance(step.action, Share) and _held_index(step) is None,
    "obsolete_share": _obsolete,
    "out_of_mode": _out_of_mode,
    "unknown_object": lambda step: isinstance(step.action, Move | Ask) and not step.has(step.action.block),
    "repeated_refused_move": _stuck_again,
    "lucky_guess": _lucky,
}
"""Labels of this project, in addition to the paper's."""
