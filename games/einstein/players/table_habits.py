"""Moves that the table refuses, and moves that follow no rule."""

import random

from games.einstein.engine.actions import Ask, Move, Pass
from games.einstein.engine.bins import BINS, COMMON, DESTINATIONS, START_BINS, Bin, bin_at_offset
from games.einstein.players.intent import Intent, StatedThought
from games.einstein.players.mind import Mind


def lose_track(mind: Mind, rng: random.Random) -> Intent | None:
    """Name a bin in which the object is not."""
    block = rng.choice(mind.blocks)
    wrong = [name for name in mind.seen.reach if name != mind.seen.positions[block]]
    source = rng.choice(wrong)
    target = rng.choice([name for name in mind.seen.reach if name != source])
    return Intent("lose_track", Move(block, source, target), "stale")


def reach_across(mind: Mind, rng: random.Random) -> Intent | None:
    """Take an object that lies on the partner's side."""
    far = [block for block in mind.blocks if mind.seen.positions[block] not in mind.seen.reach]
    if not far:
        return None
    block = rng.choice(far)
    return Intent("reach_across", Move(block, mind.seen.positions[block], COMMON), "grab")


def overreach(mind: Mind, rng: random.Random) -> Intent | None:
    """Put an object straight into a bin on the partner's side."""
    if not mind.in_hand:
        return None
    block = rng.choice(mind.in_hand)
    far = [name for name in DESTINATIONS if name not in mind.own_bins]
    known = mind.goals.get(block)
    target = known if known in far else rng.choice(far)
    claims = (StatedThought(block, target),) if block in mind.goals else ()
    return Intent("overreach", Move(block, mind.seen.positions[block], target), "far", claims)


def stand_still(mind: Mind, rng: random.Random) -> Intent | None:
    """Move an object to where it lies."""
    if not mind.in_hand:
        return None
    block = rng.choice(mind.in_hand)
    place = mind.seen.positions[block]
    return Intent("stand_still", Move(block, place, place), "still")


def name_phantom(mind: Mind, rng: random.Random) -> Intent | None:
    """Speak of an object that the game does not have."""
    block = rng.randint(mind.seen.num_objects, 9)
    action = Ask(block) if mind.verbs.ask and rng.random() < 1 / 2 else Move(block, mind.start_bin, COMMON)
    return Intent("name_phantom", action, "phantom")


def misread(mind: Mind, rng: random.Random) -> Intent | None:
    """Take a relation for another: a known object goes into the wrong bin, and the thoughts say why."""
    return _wrong_bin(mind, rng, "misread")


def mix_up_sides(mind: Mind, rng: random.Random) -> Intent | None:
    """Take left for right."""
    return _wrong_bin(mind, rng, "mix_up_sides")


def _wrong_bin(mind: Mind, rng: random.Random, habit: str) -> Intent | None:
    known = [block for block in mind.in_hand if block in mind.goals]
    if not known:
        return None
    block = rng.choice(known)
    goal = mind.goals[block]
    believed = bin_at_offset(goal, "row" if habit == "mix_up_sides" else rng.choice(("row", "column", "diagonal")))
    place = mind.seen.positions[block]
    target: Bin = believed if believed in mind.own_bins else COMMON
    if target in (place, goal if goal in mind.own_bins else COMMON):
        return None
    return Intent(habit, Move(block, place, target), "place" if target == believed else "pass_on", (StatedThought(block, believed),))


def throw(mind: Mind, rng: random.Random) -> Intent | None:
    """Guess where an unknown object belongs, without asking."""
    unknown = [block for block in mind.in_hand if block not in mind.goals]
    if not unknown:
        return None
    block = rng.choice(unknown)
    return Intent(
        "throw", Move(block, mind.seen.positions[block], rng.choice(sorted(mind.own_bins))), "guess", (StatedThought(block, None),)
    )


def detour(mind: Mind, rng: random.Random) -> Intent | None:
    """Lay a known object that could be placed into the common bin."""
    placeable = [move for move in mind.useful_moves if COMMON not in (move.source, move.target)]
    if not placeable:
        return None
    move = rng.choice(placeable)
    return Intent("detour", Move(move.block, move.source, COMMON), "detour")


def take_back(mind: Mind, rng: random.Random) -> Intent | None:
    """Take a right object out of its bin."""
    own = [block for block in mind.blocks if mind.seen.positions[block] in mind.own_bins]
    if not own:
        return None
    block = rng.choice(own)
    return Intent("take_back", Move(block, mind.seen.positions[block], COMMON), "doubt")


def insist(mind: Mind, _: random.Random) -> Intent | None:
    """Repeat the last move that failed."""
    return Intent("insist", mind.own_failures[-1], "insist") if mind.own_failures else None


def idle(_mind: Mind, _rng: random.Random) -> Intent | None:
    """Pass although there may be something to do."""
    return Intent("idle", Pass(), "pass")


def random_move(mind: Mind, rng: random.Random) -> Intent | None:
    """Name any object and any two bins."""
    return Intent("random_move", Move(rng.choice(mind.blocks), rng.choice(BINS), rng.choice((*DESTINATIONS, *START_BINS))), "whim")
