"""Questions about what can be proven in games of Avalon, whose keys are the engine's."""

import random
from itertools import combinations
from typing import Final

from games.avalon.rules import EVIL, LINEUPS, SIZES, Beliefs, Quest, after_quests, mask, sees
from games.probes import RULES, Probe, Scenario, Scene

_RULES: Final = RULES["avalon"]


def scenario(scene: Scene, rng: random.Random) -> Scenario | None:
    """What missions showed, what a good player can prove, the team with the least risk for it, and whom it should want off the team."""
    roles, missions = scene.goal["roles"], scene.state["missions"]
    names, size = list(roles), (SIZES.get(len(roles)) or ())[len(missions) : len(missions) + 1]
    if not missions or not size or sorted(map(str, roles.values())) != sorted(LINEUPS[len(roles)]):
        return None
    dealt = tuple(roles.values())
    beliefs = Beliefs(dealt, tuple(sees(dealt, place) for place in range(len(names))))
    quests = [Quest(mask(map(names.index, one["team"])), one["fails"]) for one in missions if one["fails"] is not None]
    me = rng.choice([place for place, role in enumerate(dealt) if role not in EVIL])
    worlds = after_quests(beliefs.start(me) or {}, quests)
    total = sum(worlds.values())
    if len(quests) < len(missions) or not total:
        return None
    share = {name: sum(ways for evil, ways in worlds.items() if evil >> place & 1) / total for place, name in enumerate(names)}
    others = [name for name in names if name != names[me]]
    risk = {
        ", ".join(team): -sum(ways for evil, ways in worlds.items() if evil & mask(map(names.index, team))) / total
        for team in combinations(names, size[0])
    }
    shown = [names[place] for place in sorted(beliefs.shown[me] or ())]
    last = rng.choice(missions)
    record = "\n".join(f"Mission {one['mission']}: {', '.join(one['team'])}; {one['fails']} fails" for one in missions)
    return Scenario(
        "Avalon states",
        f"{_RULES}\nPlayers: {', '.join(names)}. Roles in play: {', '.join(sorted(dealt))}.\n{record}\n"
        f"{names[me]} is {dealt[me]} and is shown: {', '.join(shown) or 'no one'}.",
        {
            "EC": Probe.of(f"Who was on the team of mission {last['mission']}?", {name: name in last["team"] for name in names}),
            "TOM": Probe.of(
                f"Which of these can {names[me]} prove, from its role, what it is shown, and the missions alone?",
                {f"{name} is {word}": share[name] == (word == "evil") for name in others for word in ("good", "evil")},
            ),
            "JP": Probe.best(f"Which team of {size[0]} is least likely to have an evil player, as far as {names[me]} knows?", risk),
            "NR": Probe.best(
                f"Whom should {names[me]} ask most of all to leave off the team, as far as it knows?",
                {name: share[name] for name in others},
            ),
        },
    )
