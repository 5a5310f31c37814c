"""Questions about tables of Einstein Puzzles, whose keys are the engine's."""

import random
from typing import Final

from games.einstein.engine.puzzle import BINS, COMMON, DESTINATIONS, PLAYERS, REACH
from games.einstein.game import AGENTS
from games.einstein.value import hands_at
from games.probes import RULES, Probe, Scenario, Scene

_REACH: Final = "; ".join(f"{agent} reaches {', '.join(REACH[place])}" for place, agent in enumerate(AGENTS))
_RULES: Final = f"{RULES['einstein']}\n{_REACH}"


def scenario(scene: Scene, rng: random.Random) -> Scenario | None:
    """Where a block is, what the partner can infer, a move on the shortest way, and what to ask about."""
    if "knowledge" not in scene.state:
        return None
    placed = {block: place for place in BINS for block in scene.state["bins"][place]}
    belongs = {block: place for place in DESTINATIONS for block in scene.goal["bins"][place]}
    known = {agent: scene.state["knowledge"][agent] for agent in AGENTS}
    blocks = sorted(belongs)
    mover, other = rng.sample(PLAYERS, 2)
    block, (asker, partner) = rng.choice(blocks), rng.sample(AGENTS, 2)
    goals = [belongs[one] for one in blocks]
    worth = {
        f"move {one} from {placed[one]} to {target}": -hands_at(goals, [{**placed, one: target}[each] for each in blocks], other)
        if target in (COMMON, belongs[one])
        else -len(blocks) * len(BINS)  # not carried out
        for one in blocks
        for target in REACH[mover]
        if placed[one] in REACH[mover] and target != placed[one]
    }
    facts = "\n".join(f"{agent} knows {'; '.join(known[agent]['items'])}" for agent in AGENTS)
    table = "; ".join(f"{one} is in {placed[one]}" for one in blocks)
    useful = {one: one not in known[asker]["infers"] for one in blocks if placed[one] != belongs[one] and one in known[partner]["infers"]}
    return Scenario(
        "Einstein states",
        f"{_RULES}\n{table}.\n{facts}",
        {
            "EC": Probe.of(f"Where is {block}?", {place: place == placed[block] for place in BINS}),
            "TOM": Probe.of(
                f"Of which block can {partner} infer where it belongs, by its facts alone?",
                {one: one in known[partner]["infers"] for one in blocks},
            ),
            "JP": Probe.best(f"{AGENTS[mover]} is to move. Which move leaves the fewest steps to the goal, if both knew all facts?", worth),
            "NR": Probe.of(
                f"About which block should {asker} ask {partner}, so that an answer tells something new?",
                dict.fromkeys(blocks, False) | useful,
            ),
        },
    )
