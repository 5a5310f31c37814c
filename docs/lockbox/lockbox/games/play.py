"""Plays Lockbox with scripted players and writes cotrace's own log."""

import random
from collections.abc import Sequence
from pathlib import Path

from lockbox.games.rules import code_of, right_digits
from schemas.game_log import GameLog

__all__ = ["KEEPERS", "play"]

KEEPERS = {"clear": 1.0, "mumbling": 0.3}
"""Keeper -> how often it names its digits."""

_TURNS = 4


def play(out: Path, keepers: Sequence[str], seeds: Sequence[int]) -> int:
    """Play every keeper on every lock; gives the number of games."""
    for keeper in keepers:
        for seed in seeds:
            _play_one(out / f"{keeper}_{seed}.jsonl", keeper, seed)
    return len(keepers) * len(seeds)


def _play_one(path: Path, keeper: str, seed: int) -> None:
    code, dice, told, best = code_of(seed), random.Random(f"{keeper} {seed}"), "??", 0.0
    agents = [
        {"agent": "Keeper", "role": "keeper", "model": keeper, "private_view": {"first": code[:2]}},
        {"agent": "Opener", "role": "opener", "model": "script", "private_view": {"last": code[2:]}},
    ]
    with GameLog(
        path, benchmark="lockbox", agents=agents, task=f"lock_{seed}", goal={"code": code}, model=keeper, seed=seed, max_turns=_TURNS
    ) as log:
        for _ in range(_TURNS):
            names_it = dice.random() < KEEPERS[keeper]
            told = code[:2] if names_it else told
            guess = "".join(str(dice.randrange(10)) if digit == "?" else digit for digit in told) + code[2:]
            best = right_digits(code, guess)
            says = f"It begins with {code[:2]}." if names_it else "Just try something."
            action = {"agent": "Opener", "verb": "try", "arguments": {"code": guess}, "raw": f"try {guess}", "accepted": guess == code}
            log.turn(messages=[("Keeper", says)], actions=[action], state_after={"tried": guess}, goal_reached=guess == code)
            if guess == code:
                break
        log.end(success=best == 1, score=best, reason="open" if best == 1 else "turns")
