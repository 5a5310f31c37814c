"""Sharing and asking gone wrong."""

import random

from games.einstein.engine.actions import Ask, Share
from games.einstein.engine.bins import RelationKind
from games.einstein.engine.items import Grounding, mentions, relation
from games.einstein.players.intent import Intent, StatedThought
from games.einstein.players.mind import Mind
from games.einstein.players.sense import useful_move

_KINDS: tuple[RelationKind, ...] = ("bin", "row", "column", "diagonal")


def repeat_news(mind: Mind, rng: random.Random) -> Intent | None:
    """Share again what one of the two has shared before."""
    if not mind.told or not mind.verbs.share:
        return None
    return Intent("repeat_news", Share(rng.choice(sorted(mind.told, key=lambda item: item.text))), "tell")


def share_all(mind: Mind, rng: random.Random) -> Intent | None:
    """Share while there is anything left to share, whatever could be placed."""
    return Intent("share_all", Share(rng.choice(mind.news)), "tell") if mind.news and mind.verbs.share else None


def dodge(mind: Mind, rng: random.Random) -> Intent | None:
    """Leave a question unanswered."""
    if mind.asked is None:
        return None
    other = useful_move(mind, rng)
    return other._replace(habit="dodge") if other else None


def miss_the_point(mind: Mind, rng: random.Random) -> Intent | None:
    """Answer a question with an item about other objects."""
    if mind.asked is None:
        return None
    others = [item for item in mind.seen.items if not mentions(item, mind.asked)]
    return Intent("miss_the_point", Share(rng.choice(others)), "answer") if others else None


def ask_known(mind: Mind, rng: random.Random) -> Intent | None:
    """Ask about an object whose place can be worked out, claiming that it cannot."""
    if not mind.verbs.ask or not mind.goals:
        return None
    block = rng.choice(sorted(mind.goals))
    return Intent("ask_known", Ask(block), "ask", (StatedThought(block, None),))


def ask_again(mind: Mind, rng: random.Random) -> Intent | None:
    """Ask once more about an object asked for before."""
    again = [block for block in mind.unknown if block in mind.own_asks]
    if not again or not mind.verbs.ask:
        return None
    block = rng.choice(again)
    return Intent("ask_again", Ask(block), "ask", (StatedThought(block, None),))


def invent(mind: Mind, rng: random.Random) -> Intent | None:
    """Share a relation that the player does not hold."""
    if not mind.verbs.share and mind.asked is None:
        return None
    one, other = rng.sample(mind.blocks, 2)
    made_up = relation(one, other, rng.choice(_KINDS))
    return None if made_up in mind.seen.items else Intent("invent", Share(made_up), "tell")


def tell_inferred(mind: Mind, rng: random.Random) -> Intent | None:
    """Share a goal that was worked out: true, but not an item."""
    worked_out = [Grounding(block, goal) for block, goal in mind.goals.items() if Grounding(block, goal) not in mind.seen.items]
    if not worked_out or not mind.verbs.share:
        return None
    item = rng.choice(worked_out)
    return Intent("tell_inferred", Share(item), "tell", (StatedThought(item.block, item.goal),))


def tell_stale(mind: Mind, rng: random.Random) -> Intent | None:
    """Share an item all of whose objects are placed."""
    stale = [item for item in mind.seen.items if item not in mind.told and mind.obsolete(item)]
    return Intent("tell_stale", Share(rng.choice(stale)), "tell") if stale and mind.verbs.share else None


def speak_out_of_turn(mind: Mind, rng: random.Random) -> Intent | None:
    """Share or ask where the action space does not allow it."""
    if not mind.verbs.ask and rng.random() < 1 / 2:
        block = rng.choice(mind.blocks)
        return Intent("speak_out_of_turn", Ask(block), "ask")
    if mind.verbs.share or mind.asked is not None:
        return None
    return Intent("speak_out_of_turn", Share(rng.choice(mind.seen.items)), "tell")
