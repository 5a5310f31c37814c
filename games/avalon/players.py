"""Scripted players of Avalon: what each does differently from the one that plays by what can be proven.

============ ==========================================================================================================
careful      good: proposes and approves the teams with the fewest worlds that have evil on them; evil: gets one evil
             player on a team, approves such teams, plays one fail, and speaks like good
trusting     approves every team
stubborn     rejects every team without itself
contrary     votes against what it can prove
open         tells all it knows; Merlin names the evil players
lying        accuses players that it knows to be good
sparing      never plays a fail
============ ==========================================================================================================
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Final

from games.avalon.game import View
from games.avalon.rules import side

FAULTLESS: Final = "careful"


def answer(script: str, seen: View) -> str:
    """What a script answers; the same view, the same answer."""
    rng = random.Random(f"avalon:{script}:{seen.system}:{seen.user}")
    return _ASKS[seen.purpose](script, seen, rng)


def _propose(_: str, seen: View, rng: random.Random) -> str:
    team = rng.choice(_best(seen))
    return f"These {len(team)} are my best team.\nTEAM: {', '.join(team)}"


def _best(seen: View) -> list[tuple[str, ...]]:
    """Teams of the size with the leader: for good those with the fewest worlds that have evil on them, for evil those with one of them."""
    others = [name for name in seen.names if name != seen.agent]
    teams = [(seen.agent, *rest) for rest in combinations(others, (seen.size or 1) - 1)]
    if side(seen.role) == "evil":
        alone = [team for team in teams if not set(team) & set(seen.sees)]
        return alone or teams
    worst = [_bad(seen, team) for team in teams]
    return [team for team, bad in zip(teams, worst, strict=True) if bad == min(worst)]


def _bad(seen: View, team: Sequence[str]) -> float:
    found = seen.proves(team)
    return 1.0 if found is None else found.bad_worlds / found.worlds


def _vote(script: str, seen: View, _: random.Random) -> str:
    bad = _bad(seen, seen.team)
    if side(seen.role) == "evil":
        yes = bool(set(seen.team) & {seen.agent, *seen.sees})
    else:
        yes = bad < 1 and bad <= min(_bad(seen, team) for team in _best(seen)) + _TOLERANCE
    if script == "trusting":
        yes = True
    elif script == "stubborn":
        yes = seen.agent in seen.team
    elif script == "contrary":
        yes = not yes
    return f"I have looked at the missions.\nVOTE: {'approve' if yes else 'reject'}"


_TOLERANCE: Final = 0.35
"""So much more of the worlds may have evil on a team than on the best one: else no team but one's own is approved at the start."""


def _quest(script: str, seen: View, _: random.Random) -> str:
    partners = [name for name in seen.team if name in seen.sees]
    spares = script == "sparing" or (partners and min([seen.agent, *partners]) != seen.agent)
    return f"CARD: {'success' if spares else 'fail'}"


def _discuss(script: str, seen: View, rng: random.Random) -> str:
    others = [name for name in seen.names if name != seen.agent]
    if script == "open" and seen.sees:
        if seen.role == "merlin":
            return f"{' and '.join(seen.sees)} are evil. Do not put them on a team."
        return f"I am {seen.role}. I know about {' and '.join(seen.sees)}."
    if script == "lying" and side(seen.role) == "evil":
        good = [name for name in others if name not in seen.sees]
        return f"{rng.choice(good)} is evil, I am sure."
    failed = [mission for mission in seen.missions if mission["result"] == "fail"]
    if failed:
        last = failed[-1]
        return f"Mission {last['mission']} failed: somebody of {', '.join(last['team'])} is evil."
    return "I have no reads yet."


def _conspire(_: str, seen: View, rng: random.Random) -> str:
    good = [name for name in seen.names if name not in (seen.agent, *seen.sees)]
    return f"I think that {rng.choice(good)} is Merlin."


def _guess(_: str, seen: View, rng: random.Random) -> str:
    named = [message.agent for message in seen.messages if "are evil" in message.text or "is evil" in message.text]
    good = [name for name in seen.names if name not in (seen.agent, *seen.sees)]
    knowing = [name for name in good if name in named]
    return f"They spoke as if they knew.\nGUESS: {rng.choice(knowing or good)}"


_ASKS: Final[dict[str, Callable[[str, View, random.Random], str]]] = {
    "discuss": _discuss,
    "propose": _propose,
    "vote": _vote,
    "quest": _quest,
    "conspire": _conspire,
    "guess": _guess,
}

SCRIPTS: Final = {name: partial(answer, name) for name in (FAULTLESS, "trusting", "stubborn", "contrary", "open", "lying", "sparing")}
"""Script -> policy over the player's view."""
