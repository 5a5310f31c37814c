"""The error taxonomy: what is wrong with a step, by rule (formats/einstein.md section 10).

All rules use the situation before the step. A step has any number of labels; one without a label of the paper's has ``no_error``.
The published code has no taxonomy; these are the definitions of the specification.
"""

from typing import Final, Literal, NamedTuple

from games.einstein.engine.actions import Action, ActionType, Ask, Move, Share
from games.einstein.engine.puzzle import ALLOWED, COMMON, DESTINATIONS, REACH, Grounding, Item, mentions
from games.einstein.engine.table import Outcome, Setting, Table
from schemas.common.packages import packaged_yaml

Group = Literal["format", "physical", "communication", "reasoning"]

NO_ERROR: Final = "no_error"
_TABLES: Final = packaged_yaml(__package__, "labels.yaml")


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


def labels_of(step: Situation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the paper's categories of a step, in the order of its table (none: no error), and its additional labels.

    The latter do not enter the paper's rates.
    """
    action, asked = step.action, step.asked
    found = {"format_following": action is None}
    if asked is not None:
        found |= {
            "no_share_after_seek": not isinstance(action, Share),
            "unanswerable_seek": not any(mentions(item, asked) for item in step.outcome.options.shares),
            "refused_seek_pending": not step.table.previous_ok,
        }
    match action:
        case Move():
            found |= _of_move(step, action)
        case Share():
            found |= _of_share(step, action.item)
        case Ask():
            there, may_ask = step.has(action.block), ALLOWED[step.setting.modes[step.table.player]].ask
            found |= {
                "seek_known_object": may_ask and there and step.knows(action.block),
                "out_of_mode": not may_ask,
                "unknown_object": not there,
            }
    return tuple(one.key for one in CATEGORIES if found.get(one.key)), tuple(key for key in EXTENSIONS if found.get(key))


def _of_move(step: Situation, move: Move) -> dict[str, bool]:
    reach, there, changed = REACH[step.table.player], step.has(move.block), step.outcome.state_changed
    known = there and step.knows(move.block)
    goal = step.setting.puzzle.goals[move.block] if there else None
    return {
        "object_not_in_source_bin": not there or step.table.positions[move.block] != move.source,
        "source_bin_not_reachable": move.source not in reach,
        "dest_bin_not_reachable": move.target not in reach,
        "same_source_dest": move.source == move.target,
        "wrong_rule": known and move.target != (goal if goal in reach else COMMON),
        "wrong_guess": there and not known and move.target not in (COMMON, goal),
        "unknown_object": not there,
        "repeated_refused_move": not changed and (move.block, move.target) in step.stuck,
        "lucky_guess": changed and not known and move.target in DESTINATIONS,
    }


def _of_share(step: Situation, item: Item) -> dict[str, bool]:
    table, verbs = step.table, ALLOWED[step.setting.modes[step.table.player]]
    index = step.setting.puzzle.item_index.get(item)
    held = index is not None and index in table.held[table.player]
    shared_before = index is not None and bool(table.shared >> index & 1)
    blocks = (item.block,) if isinstance(item, Grounding) else (item.first, item.second)
    idle = held and not shared_before and not step.outcome.accepted
    return {
        "redundant_sharing": shared_before,
        "wrong_share_after_seek": step.asked is not None and not (held and mentions(item, step.asked)),
        "share_not_owned": not held,
        "obsolete_share": idle and all(table.positions[block] in DESTINATIONS for block in blocks),
        "out_of_mode": not verbs.share and not (verbs.reply and isinstance(table.previous, Ask)),
    }


CATEGORIES: Final = tuple(Category(*row) for row in _TABLES["categories"])
"""The paper's categories in the order of its table."""

EXTENSIONS: Final = tuple(_TABLES["extensions"])
"""Labels of this project, in addition to the paper's."""
