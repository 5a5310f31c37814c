"""Sensible play: answer, place, pass on, tell, ask, and only then guess."""

import random
from typing import Final

from games.einstein.engine.actions import Ask, Move, Pass, Share
from games.einstein.engine.bins import COMMON
from games.einstein.engine.items import Item, mentions
from games.einstein.players.intent import Habit, Intent, StatedThought
from games.einstein.players.mind import Mind

SENSE: Final = "sense"


def sensible(mind: Mind, rng: random.Random) -> Intent:
    """Decide as a careful player would. Always finds something to do."""
    for try_it in _ORDER:
        intent = try_it(mind, rng)
        if intent is not None:
            return intent
    return Intent(SENSE, Pass(), "pass")


def useful_move(mind: Mind, rng: random.Random) -> Intent | None:
    """Place a known object; if there is none to place, pass one on."""
    if not mind.useful_moves:
        return None
    placing = [move for move in mind.useful_moves if move.target != COMMON]
    move = rng.choice(placing or mind.useful_moves)
    return Intent(SENSE, move, "place" if placing else "pass_on", (StatedThought(move.block, mind.goals[move.block]),))


def _answer(mind: Mind, rng: random.Random) -> Intent | None:
    if not mind.answers or not mind.verbs.reply:
        return None
    return Intent(SENSE, Share(rng.choice(mind.answers)), "answer")


def _tell(mind: Mind, rng: random.Random) -> Intent | None:
    if not mind.verbs.share or not mind.news:
        return None
    open_items = [item for item in mind.news if _is_open(mind, item)]
    return Intent(SENSE, Share(rng.choice(open_items or mind.news)), "tell")


def _is_open(mind: Mind, item: Item) -> bool:
    """Whether the item is about an object that lies out of the player's hands."""
    return any(mentions(item, block) and block not in mind.in_hand and block not in mind.placed for block in mind.blocks)


def _ask(mind: Mind, rng: random.Random) -> Intent | None:
    fresh = [block for block in mind.unknown if block not in mind.own_asks]
    if not fresh or not mind.verbs.ask or not mind.partner_replies:
        return None
    block = rng.choice(fresh)
    return Intent(SENSE, Ask(block), "ask", (StatedThought(block, None),))


def _guess(mind: Mind, rng: random.Random) -> Intent | None:
    tried = {(move.block, move.target) for move in mind.own_failures}
    ideas = [
        Move(block, mind.seen.positions[block], target)
        for block in mind.in_hand
        if block not in mind.goals
        for target in sorted(mind.own_bins)
        if (block, target) not in tried
    ]
    if not ideas:
        ideas = [Move(block, mind.start_bin, COMMON) for block in mind.in_hand if block not in mind.goals and block in _at_start(mind)]
    if not ideas:
        return None
    move = rng.choice(ideas)
    return Intent(SENSE, move, "guess", (StatedThought(move.block, None),))


def _at_start(mind: Mind) -> list[int]:
    return [block for block in mind.blocks if mind.seen.positions[block] == mind.start_bin]


_ORDER: Final[tuple[Habit, ...]] = (_answer, useful_move, _tell, _ask, _guess)
