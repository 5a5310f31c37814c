"""Players as data: habits (unreadable answers, refused or aimless moves, sharing and asking gone wrong), and how often each is followed."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from games.einstein.engine import puzzle as puzzles
from games.einstein.engine.actions import Ask, Move, Pass, Share
from games.einstein.players.mind import Habit, Intent, Mind, StatedThought, sensible, useful_move

FAULTS: Final[dict[str, Callable[[str], str]]] = {
    "capitals": str.upper,
    "first_letter": str.capitalize,
    "full_stop": lambda text: f"{text}.",
    "quoted": lambda text: f'"{text}"',
    "politeness": lambda text: f"please {text}",
    "two_at_once": lambda text: f"{text}; pass",
    "semicolon": lambda text: f"{text};",
    "json": lambda text: f'{{"action": "{text}"}}',
    "list_mark": lambda text: f"- {text}",
    "empty": lambda _: "",
    "wordy_pass": lambda _: "skip this turn",
    "underscores": lambda text: text.replace(" ", "_") + "_",
    "gerund": lambda text: f"now {text}ing",
    "nested_tag": lambda text: f"<b>{text}</b>",
}
"""Name of a fault, and what it makes of an action."""


T = TypeVar("T")


def _of_one(choices: Sequence[T], rng: random.Random, intent: Callable[[T], Intent | None]) -> Intent | None:
    """What comes of one of the choices; None where there are none."""
    return intent(rng.choice(choices)) if choices else None


def misspell(mind: Mind, rng: random.Random) -> Intent:
    """Spoil the writing of a sensible action."""
    meant = sensible(mind, rng)
    fault = rng.choice(list(FAULTS))
    return meant._replace(habit="misspell", action=None, written=FAULTS[fault](meant.action_text))


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
    return _of_one(far, rng, lambda block: Intent("reach_across", Move(block, mind.seen.positions[block], puzzles.COMMON), "grab"))


def overreach(mind: Mind, rng: random.Random) -> Intent | None:
    """Put an object straight into a bin on the partner's side."""
    if not mind.in_hand:
        return None
    block = rng.choice(mind.in_hand)
    far = [name for name in puzzles.DESTINATIONS if name not in mind.own_bins]
    known = mind.goals.get(block)
    target = known if known in far else rng.choice(far)
    claims = (StatedThought(block, target),) if block in mind.goals else ()
    return Intent("overreach", Move(block, mind.seen.positions[block], target), "far", claims)


def stand_still(mind: Mind, rng: random.Random) -> Intent | None:
    """Move an object to where it lies."""
    places = mind.seen.positions
    return _of_one(mind.in_hand, rng, lambda block: Intent("stand_still", Move(block, places[block], places[block]), "still"))


def name_phantom(mind: Mind, rng: random.Random) -> Intent | None:
    """Speak of an object that the game does not have."""
    block = rng.randint(mind.seen.num_objects, 9)
    action = Ask(block) if mind.verbs.ask and rng.random() < 1 / 2 else Move(block, mind.start_bin, puzzles.COMMON)
    return Intent("name_phantom", action, "phantom")


def _wrong_bin(habit: str, mistaken: Sequence[puzzles.RelationKind], mind: Mind, rng: random.Random) -> Intent | None:
    """A known object goes into the wrong bin, and the thoughts say why."""
    known = [block for block in mind.in_hand if block in mind.goals]
    if not known:
        return None
    block = rng.choice(known)
    goal = mind.goals[block]
    believed = puzzles.bin_at_offset(goal, mistaken[0] if len(mistaken) == 1 else rng.choice(mistaken))
    place = mind.seen.positions[block]
    target: puzzles.Bin = believed if believed in mind.own_bins else puzzles.COMMON
    if target in (place, goal if goal in mind.own_bins else puzzles.COMMON):
        return None
    return Intent(habit, Move(block, place, target), "place" if target == believed else "pass_on", (StatedThought(block, believed),))


misread = partial(_wrong_bin, "misread", ("row", "column", "diagonal"))
"""Take a relation for another."""
mix_up_sides = partial(_wrong_bin, "mix_up_sides", ("row",))
"""Take left for right."""


def throw(mind: Mind, rng: random.Random) -> Intent | None:
    """Guess where an unknown object belongs, without asking."""
    unknown, bins = [block for block in mind.in_hand if block not in mind.goals], sorted(mind.own_bins)

    def thrown(block: int) -> Intent:
        return Intent("throw", Move(block, mind.seen.positions[block], rng.choice(bins)), "guess", (StatedThought(block, None),))

    return _of_one(unknown, rng, thrown)


def detour(mind: Mind, rng: random.Random) -> Intent | None:
    """Lay a known object that could be placed into the common bin."""
    placeable = [move for move in mind.useful_moves if puzzles.COMMON not in (move.source, move.target)]
    return _of_one(placeable, rng, lambda move: Intent("detour", Move(move.block, move.source, puzzles.COMMON), "detour"))


def take_back(mind: Mind, rng: random.Random) -> Intent | None:
    """Take a right object out of its bin."""
    own = [block for block in mind.blocks if mind.seen.positions[block] in mind.own_bins]
    return _of_one(own, rng, lambda block: Intent("take_back", Move(block, mind.seen.positions[block], puzzles.COMMON), "doubt"))


def insist(mind: Mind, _: random.Random) -> Intent | None:
    """Repeat the last move that failed."""
    return Intent("insist", mind.own_failures[-1], "insist") if mind.own_failures else None


def idle(_mind: Mind, _rng: random.Random) -> Intent | None:
    """Pass although there may be something to do."""
    return Intent("idle", Pass(), "pass")


def random_move(mind: Mind, rng: random.Random) -> Intent | None:
    """Name any object and any two bins."""
    return Intent(
        "random_move",
        Move(rng.choice(mind.blocks), rng.choice(puzzles.BINS), rng.choice((*puzzles.DESTINATIONS, *puzzles.START_BINS))),
        "whim",
    )


_KINDS: tuple[puzzles.RelationKind, ...] = ("bin", "row", "column", "diagonal")


def repeat_news(mind: Mind, rng: random.Random) -> Intent | None:
    """Share again what one of the two has shared before."""
    told = sorted(mind.shared, key=lambda item: item.text) if mind.verbs.share else []
    return _of_one(told, rng, lambda item: Intent("repeat_news", Share(item), "tell"))


def share_all(mind: Mind, rng: random.Random) -> Intent | None:
    """Share while there is anything left to share, whatever could be placed."""
    return _of_one(mind.news if mind.verbs.share else [], rng, lambda item: Intent("share_all", Share(item), "tell"))


def dodge(mind: Mind, rng: random.Random) -> Intent | None:
    """Leave a question unanswered."""
    if mind.asked is None:
        return None
    other = useful_move(mind, rng)
    return other._replace(habit="dodge") if other else None


def miss_the_point(mind: Mind, rng: random.Random) -> Intent | None:
    """Answer a question with an item about other objects."""
    others = [] if mind.asked is None else [item for item in mind.seen.items if not puzzles.mentions(item, mind.asked)]
    return _of_one(others, rng, lambda item: Intent("miss_the_point", Share(item), "answer"))


def ask_known(mind: Mind, rng: random.Random) -> Intent | None:
    """Ask about an object whose place can be worked out, claiming that it cannot."""
    known = sorted(mind.goals) if mind.verbs.ask else []
    return _of_one(known, rng, lambda block: Intent("ask_known", Ask(block), "ask", (StatedThought(block, None),)))


def ask_again(mind: Mind, rng: random.Random) -> Intent | None:
    """Ask once more about an object asked for before."""
    again = [block for block in mind.unknown if block in mind.own_asks and mind.verbs.ask]
    return _of_one(again, rng, lambda block: Intent("ask_again", Ask(block), "ask", (StatedThought(block, None),)))


def invent(mind: Mind, rng: random.Random) -> Intent | None:
    """Share a relation that the player does not hold."""
    if not mind.verbs.share and mind.asked is None:
        return None
    one, other = rng.sample(mind.blocks, 2)
    made_up = puzzles.relation(one, other, rng.choice(_KINDS))
    return None if made_up in mind.seen.items else Intent("invent", Share(made_up), "tell")


def tell_inferred(mind: Mind, rng: random.Random) -> Intent | None:
    """Share a goal that was worked out: true, but not an item."""
    known = [puzzles.Grounding(block, goal) for block, goal in mind.goals.items() if mind.verbs.share]
    worked_out = [item for item in known if item not in mind.seen.items]
    return _of_one(worked_out, rng, lambda item: Intent("tell_inferred", Share(item), "tell", (StatedThought(item.block, item.goal),)))


def tell_stale(mind: Mind, rng: random.Random) -> Intent | None:
    """Share an item all of whose objects are placed."""
    stale = [item for item in mind.seen.items if mind.verbs.share and item not in mind.shared and mind.obsolete(item)]
    return _of_one(stale, rng, lambda item: Intent("tell_stale", Share(item), "tell"))


def speak_out_of_turn(mind: Mind, rng: random.Random) -> Intent | None:
    """Share or ask where the action space does not allow it."""
    if not mind.verbs.ask and rng.random() < 1 / 2:
        block = rng.choice(mind.blocks)
        return Intent("speak_out_of_turn", Ask(block), "ask")
    if mind.verbs.share or mind.asked is not None:
        return None
    return Intent("speak_out_of_turn", Share(rng.choice(mind.seen.items)), "tell")


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
        """Follow a habit if the draw is due and an occasion exists; else play sensibly."""
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
    repeat_news,
    dodge,
    miss_the_point,
    ask_known,
    invent,
    tell_inferred,
    tell_stale,
    speak_out_of_turn,
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
    "chatterbox": _one(share_all, rate=0.9),
    "parrot": _one(repeat_news),
    "dodger": _one(dodge, idle, rate=0.6),
    "rambler": _one(miss_the_point, rate=0.9),
    "inquirer": _one(ask_known, ask_again),
    "inventor": _one(invent, tell_inferred),
    "latecomer": _one(tell_stale, rate=0.8),
    "interrupter": _one(speak_out_of_turn),
    "whimsical": _one(random_move, rate=1),
    "mixed": _one(*_MIXED),
}
"""All scripted players by name."""
