"""Decisions in words: the thoughts of a player, and why a step of a solution is taken.

A solution is found by looking at the whole puzzle. Its thoughts use nothing that the player did not receive: where it acts on more, it
states that it guesses.
"""

import random
from functools import cache
from typing import Final

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.puzzle import COMMON, Bin, Grounding, Item, Relation, infer_goals, mentions
from games.einstein.players.mind import Intent, Mind, StatedThought
from schemas.common.packages import packaged_yaml


def thoughts(intent: Intent, rng: random.Random) -> str:
    """Say what is claimed of objects, then why the action is taken."""
    if intent.thought is not None:
        return intent.thought
    wording, claimed = _texts("wording.yaml"), []
    for claim in intent.claims:
        form = rng.choice(wording["unknown" if claim.goal is None else "goal"])
        claimed.append(form.format(block=f"block{claim.block}", bin=spoken(claim.goal)))
    return " ".join((*claimed, rng.choice(wording[intent.reason])))


def spoken(name: Bin | None) -> str:
    """``top_left_bin`` as ``top-left bin``."""
    return "" if name is None else name.removesuffix("_bin").replace("_", "-") + " bin"


@cache
def _texts(name: str) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = packaged_yaml(__package__, name)
    return texts


_SHARED: Final = {
    "bin": "belong into one bin",
    "row": "share a row",
    "column": "share a column",
    "diagonal": "belong into opposite corners",
}


def traced(mind: Mind, action: Action, rng: random.Random) -> Intent:
    """Give the action with its reason."""
    if isinstance(action, Move):
        goal = mind.goals.get(action.block)
        if goal is None:
            text = f"{_dark(mind, action.block, rng)} {_guess(mind, action, rng)}"
            return Intent("plan", action, "guess", (StatedThought(action.block, None),), thought=text)
        reason = "pass_on" if action.target == COMMON else "place"
        text = f"{_known(mind, action.block, goal, rng)} {_say(reason, rng)}"
        return Intent("plan", action, reason, (StatedThought(action.block, goal),), thought=text)
    if isinstance(action, Share):
        asked = mind.asked is not None and mentions(action.item, mind.asked)
        text = _say("answer" if asked else "tell", rng, item=_item(action.item), asked=f"block{mind.asked}")
        return Intent("plan", action, "answer" if asked else "tell", thought=text)
    if isinstance(action, Ask):
        text = f"{_dark(mind, action.block, rng)} {_say('ask', rng)}"
        return Intent("plan", action, "ask", (StatedThought(action.block, None),), thought=text)
    return Intent("plan", Pass(), "pass", thought=_say("wait_on" if mind.useful_moves else "wait", rng))


def _guess(mind: Mind, move: Move, rng: random.Random) -> str:
    if move.target == COMMON:
        return _say("guess_away", rng)
    failed = [known.target for known in mind.own_failures if known.block == move.block]
    if failed:
        return _say("guess_on", rng, failed=spoken(failed[-1]), bin=spoken(move.target))
    return _say("guess", rng, bin=spoken(move.target))


def _known(mind: Mind, block: int, goal: Bin, rng: random.Random) -> str:
    """How the place of a block is known: received, seen, or by its last relation to one that is known without it."""
    place = {"block": f"block{block}", "bin": spoken(goal)}
    if block in mind.placed:
        return _say("lies", rng, **place)
    if Grounding(block, goal) in mind.seen.items:
        return _say("is_told", rng, **place)
    items = [item for item in mind.seen.items if not mentions(item, block)]
    before = infer_goals([*items, *(Grounding(seen, at) for seen, at in mind.placed.items())])
    for item in _relations(mind, block):
        other = item.second if item.first == block else item.first
        if other in before:
            return _say("follows", rng, relation=_item(item), other=f"block{other}", other_bin=spoken(before[other]), **place)
    return _say("is_told", rng, **place)


def _dark(mind: Mind, block: int, rng: random.Random) -> str:
    """What is not known of a block."""
    for item in _relations(mind, block):
        other = item.second if item.first == block else item.first
        return _say("half_known", rng, block=f"block{block}", relation=_item(item), other=f"block{other}")
    return _say("in_the_dark", rng, block=f"block{block}")


def _relations(mind: Mind, block: int) -> list[Relation]:
    return [item for item in mind.seen.items if isinstance(item, Relation) and mentions(item, block)]


def _item(item: Item) -> str:
    if isinstance(item, Grounding):
        return f"block{item.block} belongs into the {spoken(item.goal)}"
    return f"block{item.first} and block{item.second} {_SHARED[item.kind]}"


def _say(symbol: str, rng: random.Random, **slots: str) -> str:
    text = rng.choice(_texts("traces.yaml")[symbol]).format(**slots)
    return text if text.startswith("block") else text[0].upper() + text[1:]
