"""Why a step of a solution is taken, by what its player knows: short thoughts in the first person.

A solution is found by looking at the whole puzzle. Its thoughts look at nothing that the player was not told: where it acts on more, it
says that it guesses.
"""

import random
from functools import cache
from pathlib import Path
from typing import Final

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.bins import COMMON, Bin
from games.einstein.engine.items import Grounding, Item, Relation, mentions
from games.einstein.engine.knowledge import infer_goals
from games.einstein.players.intent import Intent, StatedThought
from games.einstein.players.mind import Mind
from games.einstein.players.speech import spoken

_SHARED: Final = {
    "bin": "belong into one bin",
    "row": "share a row",
    "column": "share a column",
    "diagonal": "belong into opposite corners",
}


def traced(mind: Mind, action: Action, rng: random.Random) -> Intent:
    """Give the action with its reason."""
    if isinstance(action, Move):
        return _moved(mind, action, rng)
    if isinstance(action, Share):
        asked = mind.asked is not None and mentions(action.item, mind.asked)
        text = _say("answer" if asked else "tell", rng, item=_item(action.item), asked=f"block{mind.asked}")
        return Intent("plan", action, "answer" if asked else "tell", thought=text)
    if isinstance(action, Ask):
        text = f"{_dark(mind, action.block, rng)} {_say('ask', rng)}"
        return Intent("plan", action, "ask", (StatedThought(action.block, None),), thought=text)
    return Intent("plan", Pass(), "pass", thought=_say("wait_on" if mind.useful_moves else "wait", rng))


def _moved(mind: Mind, move: Move, rng: random.Random) -> Intent:
    goal = mind.goals.get(move.block)
    if goal is None:
        text = f"{_dark(mind, move.block, rng)} {_guess(mind, move, rng)}"
        return Intent("plan", move, "guess", (StatedThought(move.block, None),), thought=text)
    reason = "pass_on" if move.target == COMMON else "place"
    text = f"{_known(mind, move.block, goal, rng)} {_say(reason, rng)}"
    return Intent("plan", move, reason, (StatedThought(move.block, goal),), thought=text)


def _guess(mind: Mind, move: Move, rng: random.Random) -> str:
    if move.target == COMMON:
        return _say("guess_away", rng)
    failed = [known.target for known in mind.own_failures if known.block == move.block]
    if failed:
        return _say("guess_on", rng, failed=spoken(failed[-1]), bin=spoken(move.target))
    return _say("guess", rng, bin=spoken(move.target))


def _known(mind: Mind, block: int, goal: Bin, rng: random.Random) -> str:
    """How the place of a block is known: told, seen, or by its last relation to one that is known without it."""
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
    text = rng.choice(_wording()[symbol]).format(**slots)
    return text if text.startswith("block") else text[0].upper() + text[1:]


@cache
def _wording() -> dict[str, tuple[str, ...]]:
    import yaml

    text = Path(__file__).with_name("traces.yaml").read_text(encoding="utf-8")
    return {symbol: tuple(alternatives) for symbol, alternatives in yaml.safe_load(text).items()}
