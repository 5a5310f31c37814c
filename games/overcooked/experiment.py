"""Collab-Overcooked in experiments: orders, the switches of kitchen and agents, and the forms that people fill in."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import AliasChoices, Field

from games.experiments.family import Match, ShortForm, Task, job_of
from games.experiments.plan import play
from games.overcooked.engine.layout import AGENTS, DELIVER, DELIVERY, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, PLACE, Layout, kitchen
from games.overcooked.engine.own_kitchen import asked_kitchen
from games.overcooked.engine.tasks import Task as KitchenTask
from games.overcooked.engine.tasks import orders_of, recipe_text, task_of
from games.overcooked.engine.tasks import tasks as published_tasks
from games.overcooked.game import SANE
from games.overcooked.players import scripts
from games.overcooked.players.plain import SCRIPTS
from games.overcooked.setup import CASTS, ROLES, GameSetup, Switches, course_of, header_of, scripted_course
from games.overcooked.text.prompts import AGENT_RULES, AgentRules, Memory, PromptKind
from games.overcooked.text.replies import NOTHING, AgentInput
from games.players.planted import PlantedGame, PlantedGames, as_asked
from games.players.player import Form, Observation, Slot
from games.players.running import Job, RunReport
from games.players.setup import PlayerSetup
from games.settings import MOST, Settings
from schemas.common.errors import UsageError

_COUNTER: Final = "counter"


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written to what is wanted: a lesson, or an answer with its three fields."""
    if seen.purpose == "reflect":
        return (Form("Write down the lesson", "Rethink: $lesson", (Slot("lesson", "at most 50 words, with a full stop"),)),)
    shown: AgentInput = seen.data
    return _answers(AGENTS.index(seen.agent), shown.layout, is_silent=seen.purpose == "validator")


@cache
def _answers(agent: int, layout: Layout, *, is_silent: bool) -> Sequence[Form]:
    role = AGENTS[agent]
    own = tuple(_actions(layout, agent))
    requests = _actions(layout, 1 - agent) if agent == 0 and not is_silent else ()
    asked = (form._replace(title=f"Request: {form.title.lower()}", text=f"request('{form.text}')") for form in requests)
    plan = Slot("plan", "plan", pieces=(*own, *asked), joined="; ", default="wait(1)")
    say = Slot("say", "say to your partner", default=NOTHING)
    thought = Slot("thought", "analysis; your partner does not read it", default=NOTHING)
    text = f"{role} analysis: $thought\n{role} plan: $plan\n{role} say: "
    return (Form("Answer", text + (NOTHING if is_silent else "$say"), (plan, thought) if is_silent else (plan, say, thought)),)


def _actions(layout: Layout, agent: int) -> Iterator[Form]:
    reach = layout.reaches[agent]
    utensils = tuple(name for name in layout.utensils if name in reach)
    items = (*layout.items, DISH)
    places = (_COUNTER, *(name for name in (INGREDIENT_DISPENSER, DISH_DISPENSER, *layout.utensils) if name in reach))
    yield Form("Pick up", "pickup($item, $place)", (Slot("item", "what", items), Slot("place", "where", places)))
    yield Form("Put on a counter", PLACE)
    if utensils:
        yield Form("Put in a utensil", "put_obj_in_utensil($utensil)", (Slot("utensil", "utensil", utensils),))
    for name in utensils:
        operation = layout.utensils[name].operation
        yield Form(f"{operation.capitalize()}", f"{operation}({name})")
    if DELIVERY in reach:
        yield Form("Fill a dish", "fill_dish_with_food($utensil)", (Slot("utensil", "utensil", utensils),))
        yield Form("Deliver", DELIVER)
    yield Form("Wait", "wait($steps)", (Slot("steps", "timesteps", tuple(str(n) for n in range(1, layout.wait_limit + 1))),))


_LEVELS: Final = (1, 2, 3, 4, 5, 6)


class Tasks(Settings):
    """Orders by their names, or all of some levels."""

    orders: list[str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("task", "orders"),
        description="Dish, such as boiled_egg; else all of --level.",
    )
    levels: list[int] = Field(
        default=list(_LEVELS), min_length=1, validation_alias=AliasChoices("level", "levels"), description="Levels of the orders."
    )
    kitchen: str | dict[str, Any] | None = Field(
        default=None,
        description="A kitchen of your own: grid, recipes, times (docs/overcooked.md); else the published one.",
    )
    time_limit: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        description="Timesteps to deliver in; else as the kitchen says, or 1.5 times a reference's.",
    )


class Condition(Settings):
    """The switches of a game; those of the agents are by default as the rules have them."""

    rules: Literal["published", "paper"] = Field(default="published", description="As the released code, or as the paper describes it.")
    horizon: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        validation_alias=AliasChoices("turns", "horizon"),
        description="Timesteps after which a game is cut; by default the order's time limit.",
        json_schema_extra={"folder": "horizon"},
    )
    corrections: int | None = Field(
        default=None, ge=0, description="Corrections of a refused action before the agent waits; published 1, paper 3."
    )
    rounds: int | None = Field(
        default=None, ge=0, description="Answers in a conversation, 0: nobody is heard; published without end, paper 5."
    )
    memory: Memory | None = Field(default=None, description="Own actions that are shown: last, all or none; published last, paper all.")
    reflection: bool | None = Field(default=None, description="Lessons of corrected refusals; published off, paper on.")
    recipe: str = Field(default="plain", description="plain, steps: a cut at the beginning action by action, or steps:1 to steps:5.")
    prompt: PromptKind = Field(
        default="full", description="full: with product names, walking time and the form of the answer last; published: without."
    )


def _one(number: int, _: str) -> Tasks:
    orders = sorted(_orders(Tasks(levels=[1, 2]), kitchen()))
    return Tasks(orders=[orders[number % len(orders)]])


SHORT: Final[ShortForm] = ShortForm(
    games=1,
    counted="games of each order, from --seed on",
    seeds=(3,),
    team=lambda _: (f"all=script:{scripts.FAULTLESS}",),
    drawn=lambda games, seed, given: (given, range(seed, seed + (SHORT.games if games is None else games))),
    one=_one,
    examples=(
        "overcooked --player all=script:optimal --task boiled_egg --out logs/",
        "overcooked --player all=openai/gpt-4o --level 3 --rules paper --no-reflection --out logs/",
        "overcooked --player all=openai/gpt-4o --kitchen mine.yaml --out logs/",
        "overcooked --planted 100 --out logs/planted",
    ),
    renamed={"--order": "--task", "--horizon": "--turns"},
    scripts={"--policy": ("all", "all")},
    turns="timesteps",
)


def player_setup(_: Tasks) -> PlayerSetup:
    """A chef and an assistant."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


def tasks(asked: Tasks, home: Path) -> Sequence[Task]:
    """The orders."""
    layout = asked_kitchen(home / asked.kitchen if isinstance(asked.kitchen, str) else asked.kitchen, asked.time_limit)
    known = [task_of(order, layout) for order in _orders(asked, layout)]
    return [Task(task.task_id, task, place) for place, task in enumerate(known)]


def _orders(asked: Tasks, layout: Layout) -> Sequence[str]:
    """The orders that are named, or those of the levels.

    Raises:
        UsageError: an order or level does not exist.
    """
    found = {order: task_of(order, layout) for order in asked.orders or orders_of(layout)}
    if asked.orders:
        return asked.orders
    levels = set(asked.levels)
    strange = sorted(levels - {*_LEVELS, *(task.level for task in found.values())})
    if strange:
        raise UsageError(f"there is no overcooked level {strange[0]}: there are 1 to 6")
    every = levels >= set(_LEVELS)  # an order of one's own need have none
    chosen = [order for order, task in found.items() if task.level in levels or (every and layout.source is not None)]
    if not chosen:
        raise UsageError(f"kitchen {layout.name} has no order of level {', '.join(map(str, sorted(levels)))}: name orders")
    return chosen


def job(match: Match) -> Job:
    """A game of the order; scripts that remember know none of the agents' switches."""
    asked: Condition = match.condition
    given = {name: value for name in ("corrections", "rounds", "memory", "reflection") if (value := getattr(asked, name)) is not None}
    task: KitchenTask = match.task.content
    recipe_text(task.order, task.layout, asked.recipe)  # an order without such a recipe is reported before anything is played
    agents = AGENT_RULES[asked.rules].model_copy(update=given)
    if match.cast:
        agents = AgentRules() if asked.rules == "published" else SANE
    game = GameSetup(
        order=task.order,
        taken=match.players,
        rules="published" if asked.rules == "published" else "sane",
        horizon=asked.horizon or task.time_limit,
        switches=Switches(name=asked.rules, agents=agents, recipe=asked.recipe, prompt=asked.prompt),
        seed=match.seed,
        layout=task.layout,
    )
    return job_of(match, header_of(game), partial(scripted_course if match.cast else course_of, game))


FAULTLESS: Final = frozenset((scripts.FAULTLESS,))

_CHEF, _ASSISTANT = AGENTS
_FAULTS: Final = {
    _CHEF: tuple(
        name for name, policy in scripts.POLICIES.items() if policy.request or policy.pauses or policy.silent or policy.breaks_format
    ),
    _ASSISTANT: tuple(name for name, policy in scripts.POLICIES.items() if policy.reply or policy.breaks_format),
}
_HORIZON: Final = 120
"""Steps: more than any fault costs."""


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team = {**dict.fromkeys(AGENTS, scripts.FAULTLESS), **case.faulty}
    order = case.rng.choice(sorted(published_tasks()))
    return play("overcooked", out / f"{case.place}", players=as_asked(team), task=[order], seeds=[seed + case.place], turns=_HORIZON)


play_planted: Final = PlantedGames(_FAULTS, lambda _: scripts.FAULTLESS, _played, latest=12)
"""Conversations with a fault come at their own time: a later beginning only leaves faults out."""
