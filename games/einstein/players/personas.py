"""Players as data: which habits each has, and how often it follows them."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from games.einstein.players import talk_habits as talk
from games.einstein.players.format_habits import misspell
from games.einstein.players.intent import Habit, Intent
from games.einstein.players.mind import Mind
from games.einstein.players.sense import sensible
from games.einstein.players.table_habits import (
    detour,
    idle,
    insist,
    lose_track,
    misread,
    mix_up_sides,
    name_phantom,
    overreach,
    random_move,
    reach_across,
    stand_still,
    take_back,
    throw,
)

FAULTLESS: Final = "sensible"
"""Who plays before the step from which `persona@step` falls into its habits."""

PLANNER: Final = "planner"
"""The persona that follows a shortest solution, which no player could know; it plays sensibly once the partner leaves the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A scripted player: sensible, save for its habits."""

    habits: Mapping[Habit, float]
    """Relative weights."""

    rate: float
    """Chance per step of following a habit, 0 to 1."""

    def decide(self, mind: Mind, rng: random.Random) -> Intent:
        """Follow a habit if the draw says so and there is an occasion; else play sensibly."""
        if self.habits and rng.random() < self.rate:
            left = dict(self.habits)
            while left:
                habit = rng.choices(list(left), list(left.values()))[0]
                intent = habit(mind, rng)
                if intent is not None:
                    return intent
                del left[habit]
        return sensible(mind, rng)


def _one(*habits: Habit, rate: float = 0.5) -> Persona:
    return Persona(habits=dict.fromkeys(habits, 1.0), rate=rate)


_MIXED: Final[tuple[Habit, ...]] = (
    misspell,
    lose_track,
    reach_across,
    overreach,
    stand_still,
    name_phantom,
    misread,
    throw,
    detour,
    take_back,
    insist,
    idle,
    talk.repeat_news,
    talk.dodge,
    talk.miss_the_point,
    talk.ask_known,
    talk.invent,
    talk.tell_inferred,
    talk.tell_stale,
    talk.speak_out_of_turn,
)

PERSONAS: Final[dict[str, Persona]] = {
    "sensible": _one(rate=0),
    PLANNER: _one(rate=0),
    "misspeller": _one(misspell),
    "forgetful": _one(lose_track),
    "grabber": _one(reach_across, overreach),
    "dawdler": _one(stand_still, detour),
    "dreamer": _one(name_phantom),
    "misreader": _one(misread),
    "mirrorer": _one(mix_up_sides),
    "gambler": _one(throw, rate=0.8),
    "undoer": _one(take_back, detour, rate=0.4),
    "stubborn": Persona(habits={insist: 3.0, throw: 1.0, overreach: 1.0}, rate=0.8),
    "idler": _one(idle, rate=0.7),
    "chatterbox": _one(talk.share_all, rate=0.9),
    "parrot": _one(talk.repeat_news),
    "dodger": _one(talk.dodge, idle, rate=0.6),
    "rambler": _one(talk.miss_the_point, rate=0.9),
    "inquirer": _one(talk.ask_known, talk.ask_again),
    "inventor": _one(talk.invent, talk.tell_inferred),
    "latecomer": _one(talk.tell_stale, rate=0.8),
    "interrupter": _one(talk.speak_out_of_turn),
    "whimsical": _one(random_move, rate=1),
    "mixed": _one(*_MIXED),
}
"""All scripted players by name."""
