"""Puts a decision into words: the thoughts of a player."""

import random
from functools import cache
from pathlib import Path

from games.einstein.engine.actions import write_answer
from games.einstein.engine.bins import Bin
from games.einstein.players.intent import Intent, StatedThought


def raw_answer(intent: Intent, rng: random.Random, *, reasoning: bool) -> str:
    """Write a whole answer, with thoughts if they are asked for."""
    return write_answer(intent.action_text, thoughts(intent, rng) if reasoning else None)


def thoughts(intent: Intent, rng: random.Random) -> str:
    """Say what is claimed of objects, then why the action is taken."""
    if intent.thought is not None:
        return intent.thought
    return " ".join((*(_claim(claim, rng) for claim in intent.claims), rng.choice(_wording()[intent.reason])))


def _claim(claim: StatedThought, rng: random.Random) -> str:
    symbol = "unknown" if claim.goal is None else "goal"
    return rng.choice(_wording()[symbol]).format(block=f"block{claim.block}", bin=spoken(claim.goal))


def spoken(name: Bin | None) -> str:
    """``top_left_bin`` as ``top-left bin``."""
    return "" if name is None else name.removesuffix("_bin").replace("_", "-") + " bin"


@cache
def _wording() -> dict[str, tuple[str, ...]]:
    import yaml

    text = Path(__file__).with_name("wording.yaml").read_text(encoding="utf-8")
    return {symbol: tuple(alternatives) for symbol, alternatives in yaml.safe_load(text).items()}
