"""Questions about working hypotheses of AsymPuzl, whose keys are the engine's."""

import random
from collections.abc import Sequence
from typing import Final

from games.asympuzl.puzzle import AGENTS, Entry, other, wrong_positions
from games.probes import RULES, Probe, Scenario, Scene

_RULES: Final = RULES["asympuzl"]


def scenario(scene: Scene, rng: random.Random) -> Scenario | None:
    """An entry, what the partner was given, a change that makes an entry right, and what to ask for."""
    truth = _entries(scene.goal["truth"])
    written = {agent: _entries(scene.state[agent]) for agent in AGENTS}
    agent = rng.choice([one for one in AGENTS if written[one] != truth] or AGENTS)
    partner = other(agent)
    place, own = rng.randrange(len(truth)), written[agent]
    wrong = wrong_positions(own, truth)
    given = {"A": f"A was given: {', '.join(one.shape for one in truth)}", "B": f"B was given: {'; '.join(sorted(map(_text, truth)))}"}
    tables = [f"{one} has written: {'; '.join(map(_text, written[one]))}" for one in AGENTS]
    asked = {"A": "the color of the", "B": "the position of the"}
    needed = {own[position - 1].shape for position in wrong} | {truth[position - 1].shape for position in wrong}
    return Scenario(
        "AsymPuzl states",
        "\n".join([_RULES, *given.values(), *tables]),
        {
            "EC": Probe.of(f"What has {agent} written at position {place + 1}?", {_text(one): one == own[place] for one in (*truth, *own)}),
            "TOM": Probe.of(
                f"What does {partner} know by what it was given alone?",
                {f"{words} {one.shape}": who != partner for who, words in asked.items() for one in truth},
            ),
            "JP": Probe.of(
                f"Which change makes an entry of {agent} right that is wrong now?",
                {
                    f"position {position}: {_text(one)}": position in wrong and one == truth[position - 1]
                    for position in range(1, len(truth) + 1)
                    for one in truth
                },
            ),
            "NR": Probe.of(
                f"What should {agent} ask {partner} for, to make a wrong entry right?",
                {f"{words} {one.shape}": who == agent and one.shape in needed for who, words in asked.items() for one in truth},
            ),
        },
    )


def _entries(found: Sequence[dict[str, str | None]]) -> tuple[Entry, ...]:
    return tuple(Entry(str(one["shape"]), one["color"]) for one in found)


def _text(entry: Entry) -> str:
    return f"{entry.shape}, {entry.color or 'no color'}"
