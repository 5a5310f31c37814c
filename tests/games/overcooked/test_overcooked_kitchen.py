"""The kitchen: reach, synthesis, timing, validators, references; hand-worked, and against the published files where they lie beside."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from games.overcooked.engine.actions import Trajectory, is_over, next_move
from games.overcooked.engine.layout import kitchen
from games.overcooked.engine.references import ReferencePair, SearchedReferences, published_references, searched_references
from games.overcooked.engine.tasks import recipe_text, task_of, tasks, time_of
from games.overcooked.engine.validator import OTHER, VALIDATOR_CODES, code_of, refusal
from games.overcooked.engine.world import Pot, Rules, World, map_text, start_world
from games.overcooked.measures import d_max, searched_tes
from games.overcooked.replay import replay, scenes_of
from schemas.common.errors import UsageError


def world_of(order: str = "boiled_egg", rules: Rules = "published") -> World:
    return start_world(kitchen(), order, rules)


def sequences(references: SearchedReferences, agent: int) -> Iterator[Trajectory]:
    """Give every action sequence of one agent that occurs in a reference, each once."""
    following = references.own[agent].following
    unvisited: list[tuple[tuple[str, ...], int]] = [((), 0)]
    while unvisited:
        done, state = unvisited.pop()
        if not following[state]:
            yield done
        unvisited += [((*done, action), target) for action, target in sorted(following[state].items())]


def run(world: World, *pairs: tuple[str, str]) -> list[str]:
    """Hold each pair of actions in force until both have changed the world or two dozen steps are over; gives what was recorded."""
    recorded: list[str] = []
    for pair in pairs:
        wanted = sum(not action.startswith("wait") for action in pair)
        found: list[str] = []
        for _ in range(24):
            if len(found) >= wanted:
                break
            done = world.step([next_move(world, agent, action) for agent, action in enumerate(pair)])
            found += [entry.text for entry in done]
        recorded += found
    return recorded


def test_reach() -> None:
    """Three shared counters are the only passage; each half has its own utensils (section 1)."""
    layout = kitchen()
    assert layout.reaches[0] == {"pot0", "oven0", "delivery"}
    assert layout.reaches[1] == {"chopping_board0", "blender0", "ingredient_dispenser", "dish_dispenser"}
    assert layout.shared_counters == {(2, 1), (2, 2), (2, 3)}
    assert layout.counters_of[0] - layout.shared_counters == {(4, 1), (4, 2)}
    assert layout.counters_of[1] - layout.shared_counters == {(1, 0)}


@pytest.mark.shared
def test_the_kitchen_is_the_published_one(shared: Path) -> None:
    """Tables, ingredients and dishes of the published layout file."""
    published = ast.literal_eval((shared / "data/overcooked/new_env.layout").read_text(encoding="utf-8"))
    layout = kitchen()
    for name, table in published["recipes"].items():
        if name != "none":
            made = layout.utensils[f"{name}0"].makes
            assert {product: list(inputs) for product, inputs in made.items()} == {key: entry["recipe"] for key, entry in table.items()}
    assert list(layout.ingredients) == published["ingredients"]
    assert layout.needs_dish == {order: bool(needed) for order, needed in published["need_dish"].items()}
    assert (layout.cook_time, layout.utensil_capacity, layout.reward) == (3, 3, 20)


@pytest.mark.shared
def test_tasks_and_references_are_the_published_ones(shared: Path) -> None:
    """Thirty orders; the published references are made by the rule, and each of them is among all that the search finds, as a pair."""
    folder = shared / "data/overcooked/reference"
    assert {f"{task.level}_{order}_ref.txt" for order, task in tasks().items()} == {path.name for path in folder.iterdir()}
    for order, task in tasks().items():
        files = json.loads((folder / f"{task.level}_{order}_ref.txt").read_text(encoding="utf-8"))
        published = {
            tuple(tuple(action.replace(" ", "") for action in entry[agent]) for agent in ("agent_0", "agent_1")) for entry in files.values()
        }
        assert {tuple(pair) for pair in published_references(order)} == published
        found = searched_references(order)
        assert all(found.has_pair(pair) for pair in published_references(order))
        assert all(found.is_reference(0, pair.chef) and found.is_reference(1, pair.assistant) for pair in published_references(order))


@pytest.mark.parametrize("order", [order for order, task in tasks().items() if task.level in (2, 4, 5)])
def test_the_first_reference_is_one(order: str) -> None:
    """Both agents' actions belong together, and as many as each has to do."""
    found = searched_references(order)
    chef, assistant = found.first
    assert found.has_pair(found.first)
    assert not any(
        map(found.has_pair, (ReferencePair(chef[1:], assistant), ReferencePair(chef, assistant[:-1]), ReferencePair(assistant, chef)))
    )
    assert tuple(map(len, found.first)) == found.lengths


def test_all_references_of_a_soup() -> None:
    """The dish goes beside five units in a row in four places: before, and behind each of the three units of the Assistant."""
    found = searched_references("baked_carrot_soup")
    assert (found.count(0), found.count(1)) == (1, 4)
    assert len(list(sequences(found, 1))) == 4
    chef, assistant = published_references("baked_carrot_soup")[0]
    dish_first = (*assistant[5:], *assistant[:5])
    assert found.is_reference(1, dish_first)
    assert not found.is_reference(1, assistant[1:])
    assert searched_tes(dish_first, found, 1) == pytest.approx(1.0)
    assert searched_tes(chef[:4], found, 0) == pytest.approx(1.9025 * 4 / (9 + 0.9025 * 4))


@pytest.mark.parametrize(("order", "agent"), [("mashed_potato_and_pea_patty", 1), ("taro_bean_and_bell_pepper_patty", 0)])
def test_what_was_done_is_held_against_every_sequence(order: str, agent: int) -> None:
    """The longest match and what would make it longer are those of one sequence after the other, whatever was done in between."""
    found = searched_references(order)
    every, own = list(sequences(found, agent)), found.own[agent]
    actions = sorted({*every[0], "wait(1)"})
    draw = random.Random(3)
    for _ in range(60):
        done = [draw.choice((action, action, draw.choice(actions))) for action in draw.choice(every) for _ in range(draw.randint(1, 2))]
        matches = {sequence: d_max(done, sequence) for sequence in every}
        best = max(matches.values())
        due = {sequence[best] for sequence, matched in matches.items() if matched == best < len(sequence)}
        reached = own.after_all(done)
        assert (own.longest(reached), own.next_actions(reached)) == (best, tuple(sorted(due)))


@pytest.mark.parametrize("order", [order for order, task in tasks().items() if task.level in (1, 3, 6)])
def test_published_constants_come_out(order: str) -> None:
    """Following the first reference takes the published optimal time; level 1 is a step shorter with the pot (section 3)."""
    expected = task_of(order).time_optimal - (order.startswith("boiled"))
    assert time_of(order, published_references(order)[0]) == (expected if task_of(order).level == 1 else task_of(order).time_optimal)


def shortest_pair(order: str) -> tuple[int, ReferencePair]:
    """Try all pairs of sequences and give the shortest time (index of the last step) with the first pair that reaches it.

    Level 6 has some 70 000 pairs and takes minutes.
    """
    references = searched_references(order)
    best: tuple[int, ReferencePair] | None = None
    assistants = list(sequences(references, 1))
    for chef in sequences(references, 0):
        for assistant in assistants:
            pair = ReferencePair(chef, assistant)
            found = time_of(order, pair, within=best[0] - 1 if best else 200)
            if found is not None:
                best = found, pair
    if best is None:
        raise ValueError(f"no reference of {order} ends with its delivery")
    return best


@pytest.mark.parametrize(
    "order",
    [
        "baked_bell_pepper",
        "boiled_egg",
        "boiled_corn_slices",
        "baked_carrot_soup",
        "sliced_bell_pepper_and_corn_stew",
        "mashed_potato_and_pea_patty",
    ],
)
def test_the_shortest_time_comes_out(order: str) -> None:
    """The time in the tasks' file is that of the fastest of all pairs, and none of the published ones is faster."""
    shortest, pair = shortest_pair(order)
    assert shortest == task_of(order).time_shortest == time_of(order, pair)
    published = [time_of(order, known) for known in published_references(order)]
    assert all(time is not None and time >= shortest for time in published)


def test_the_shortest_time_of_level_6() -> None:
    """A published reference reaches it; that no pair is faster was found by trying all 69 300, which takes minutes."""
    order = "taro_bean_and_bell_pepper_patty"
    assert min(time_of(order, pair) or 99 for pair in published_references(order)) == task_of(order).time_shortest
    assert [searched_references(order).count(agent) for agent in (0, 1)] == [30, 2310]


def test_cooking_takes_three_steps() -> None:
    """Started in one step, the product can be taken three steps later and not before (section 1.1)."""
    world = world_of()
    run(world, ("wait(1)", "pickup(egg,ingredient_dispenser)"), ("wait(1)", "place_obj_on_counter()"))
    run(world, ("pickup(egg,counter)", "wait(1)"), ("put_obj_in_utensil(pot0)", "wait(1)"))
    assert run(world, ("cook(pot0)", "wait(1)")) == ["cook(pot0)"]
    started = world.timestep - 1
    assert run(world, ("pickup(boiled_egg,pot0)", "wait(1)")) == ["pickup(boiled_egg, pot0)"]
    assert world.timestep - 1 == started + 3
    assert run(world, ("deliver_soup()", "wait(1)")) == ["deliver_soup()"]
    assert (world.delivered, world.score) == (True, 20)


def test_what_makes_nothing_is_deleted() -> None:
    """The operation is recorded, the contents are gone, and both are told so in the next step."""
    world = world_of()
    run(world, ("wait(1)", "pickup(egg,ingredient_dispenser)"), ("wait(1)", "put_obj_in_utensil(chopping_board0)"))
    assert run(world, ("wait(1)", "cut(chopping_board0)")) == ["cut(chopping_board0)"]
    assert "chopping_board0" not in world.utensils
    assert world.notices[0].startswith(f"TIMESTEP {world.timestep}: Due to the items in chopping_board0 not matching any recipe")


@pytest.mark.parametrize("held", [512, 3])
@pytest.mark.parametrize("rules", ["published", "sane"])
def test_a_replay_is_as_a_kitchen_stepped_on(rules: Rules, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a game comes to kitchens that it, or another before it, has been in, and where few of them are held."""
    monkeypatch.setattr("games.overcooked.replay._MOST", held)
    scenes_of.cache_clear()
    draw = random.Random(3)
    order = "baked_potato_slices"
    likely = sorted({action for pair in published_references(order) for action in (*pair.chef, *pair.assistant)})
    acted = [*likely, "wait(1)", "wait(1)", "cut(chopping_board0)", "pickup(potato,counter)"]
    spoiled = 0
    for game in range(60):
        world = world_of(order, rules)
        pairs = [pair for _ in range(12) for pair in [(draw.choice(acted), draw.choice(acted))] * draw.randint(1, 9)]
        for step, pair in zip(replay(order, pairs, rules), pairs, strict=True):
            assert (step.before, json.loads(step.before_json), step.map_before) == (world.to_json(), world.to_json(), map_text(world)), game
            done = world.step([next_move(world, agent, action) for agent, action in enumerate(pair)])
            assert (step.done, step.after, json.loads(step.after_json)) == (done, world.to_json(), world.to_json()), game
            assert (step.delivered, step.score, step.notices) == (world.delivered, world.score, world.notices), game
            spoiled += len(step.notices)
    assert spoiled


@pytest.mark.parametrize(
    ("rules", "recorded"), [("published", ["put_obj_in_utensil(oven0)"] * 2), ("sane", ["fill_dish_with_food(oven0)"])]
)
def test_filling_at_the_oven(rules: Rules, recorded: list[str]) -> None:
    """As published it is recorded as a put, once more for each step of waiting (section 2.1)."""
    world = world_of("baked_carrot_soup", rules)
    chef = world.bodies[0]
    chef.at, chef.facing = (3, 3), "east"
    chef.held = "carrot_slices"
    run(world, ("put_obj_in_utensil(oven0)", "wait(1)"), ("bake(oven0)", "wait(1)"))
    world.step([next_move(world, agent, "wait(1)") for agent in (0, 1)])
    chef.held = "dish"
    found = [
        done.text for _ in range(2) for done in world.step([next_move(world, 0, "fill_dish_with_food(oven0)"), next_move(world, 1, "")])
    ]
    assert found == recorded
    assert chef.held == "baked_carrot_slices"


@pytest.mark.parametrize(("rules", "timer"), [("published", 1), ("sane", 2)])
def test_a_start_holds_up_what_was_filled_later(rules: Rules, timer: int) -> None:
    """The engine's defect: a utensil that comes later in the table does not advance in the step in which another is started."""
    world = world_of(rules=rules)
    chef, assistant = world.bodies
    chef.at, chef.facing, chef.held = (3, 1), "north", "egg"
    assistant.at, assistant.facing, assistant.held = (1, 2), "west", "potato"
    run(
        world,
        ("put_obj_in_utensil(pot0)", "wait(1)"),
        ("wait(1)", "put_obj_in_utensil(chopping_board0)"),
        ("wait(1)", "cut(chopping_board0)"),
    )
    world.step([next_move(world, 0, "cook(pot0)"), next_move(world, 1, "wait(1)")])
    assert world.utensils["chopping_board0"].timer == timer


REFUSALS = [
    (0, "nonsense", "P_FORMAT"),
    (0, "fly(pot0)", "P_FORMAT"),
    (0, " deliver_soup()", "P_FORMAT"),
    (1, "pickup(egg)", "P_PICKUP_ARITY"),
    (1, "pickup(knife,counter)", "P_PICKUP_OBJ"),
    (1, "pickup(egg,table)", "P_PICKUP_PLACE"),
    (1, "pickup(egg,dispenser)", "V_REACH"),
    (1, "pickup(boiled_egg,ingredient_dispenser)", "P_DISP_COOKED"),
    (1, "pickup(dish,ingredient_dispenser)", "P_DISH_SRC"),
    (1, "pickup(egg,dish_dispenser)", "P_INGR_SRC"),
    (0, "pickup(egg,ingredient_dispenser)", "V_CHEF_DISP"),
    (0, "pickup(egg,counter)", "V_NO_COUNTER_ITEM"),
    (1, "pickup(boiled_egg,pot0)", "V_REACH"),
    (0, "pickup(boiled_egg,pot0)", "V_NOT_IN_UTENSIL"),
    (0, "put_obj_in_utensil()", "P_PUT"),
    (0, "put_obj_in_utensil(table)", "P_PUT"),
    (0, "put_obj_in_utensil(pot0)", "V_PUT_EMPTY"),
    (0, "put_obj_in_utensil(blender0)", "V_REACH"),
    (0, "fill_dish_with_food()", "P_FILL"),
    (0, "fill_dish_with_food(table)", "P_FILL"),
    (0, "fill_dish_with_food(pot0)", "V_FILL_NO_DISH"),
    (0, "cook(oven0)", "P_OP_UTENSIL"),
    (1, "cook(pot0)", "V_REACH"),
    (0, "cook(pot0)", "V_OP_EMPTY"),
    (0, "place_obj_on_counter()", "V_PLACE_EMPTY"),
    (0, "deliver_soup()", "V_DELIVER_EMPTY"),
    (0, "wait(6)", "P_WAIT"),
    (0, f"wait({'0' * 5000}6)", "P_WAIT"),
    (0, f"wait({'9' * 5000})", "P_WAIT"),
]


@pytest.mark.parametrize(("agent", "action", "code"), REFUSALS)
def test_refusals_in_an_empty_kitchen(agent: int, action: str, code: str) -> None:
    """Each message carries the fragment of its code."""
    message = refusal(world_of(), agent, action)
    assert message is not None
    assert code_of(message) == code


@pytest.mark.parametrize(
    ("held", "action", "code"),
    [
        ("dish", "put_obj_in_utensil(pot0)", "V_PUT_DISH"),
        ("dish", "fill_dish_with_food(pot0)", "V_FILL_NOT_NEEDED"),
        ("egg", "deliver_soup()", "V_DELIVER_ITEM"),
        ("egg", "put_obj_in_utensil(oven0)", None),
        ("potato", "deliver_soup()", None),
        ("boiled_egg", "deliver_soup()", None),
    ],
)
def test_refusals_with_something_in_the_hand(held: str, action: str, code: str | None) -> None:
    """What is held decides; anything whose name contains an order's can be delivered."""
    world = world_of()
    world.bodies[0].held = held
    message = refusal(world, 0, action)
    assert (message and code_of(message)) == code


@pytest.mark.parametrize(("held", "code"), [("potato", "V_HAND_FULL"), ("egg", None), (None, None)])
def test_a_hand_takes_one_thing(held: str | None, code: str | None) -> None:
    """Who holds something else picks up nothing, neither from a dispenser nor from a counter."""
    world = world_of()
    assistant = world.bodies[1]
    assistant.held = held
    world.counters[min(world.layout.counters_of[1])] = "egg"
    for place in ("ingredient_dispenser", "counter"):
        message = refusal(world, 1, f"pickup(egg,{place})")
        assert (message and code_of(message)) == code


@pytest.mark.parametrize(("order", "code"), [("baked_bell_pepper_soup", "V_NEED_DISH"), ("boiled_egg", None)])
def test_what_is_served_on_a_dish_is_not_taken_by_hand(order: str, code: str | None) -> None:
    """Of the orders those that need one; a ready egg can be carried as it is."""
    world = world_of(order)
    world.utensils["pot0"] = Pot((), order, world.layout.cook_time)
    message = refusal(world, 0, f"pickup({order},pot0)")
    assert (message and code_of(message)) == code


def test_who_picks_up_leaves_to_the_partner_what_only_it_can_reach() -> None:
    """Of two counters with the same item the Chef goes to the one that the Assistant does not reach, the Assistant to the shared one."""
    for agent, taken in ((0, (4, 1)), (1, (2, 2))):
        world = world_of()
        world.counters |= {(2, 2): "egg", (4, 1): "egg"}
        run(world, *[("pickup(egg,counter)", "wait(1)") if agent == 0 else ("wait(1)", "pickup(egg,counter)")])
        assert world.bodies[agent].held == "egg"
        assert taken not in world.counters


def test_a_utensil_is_started_with_an_empty_hand() -> None:
    """The refusal names the hand, not the utensil, which is filled and idle."""
    world = world_of()
    world.bodies[0].held = "egg"
    run(world, ("put_obj_in_utensil(pot0)", "wait(1)"))
    assert refusal(world, 0, "cook(pot0)") is None
    world.bodies[0].held = "dish"
    assert code_of(refusal(world, 0, "cook(pot0)") or "") == "V_OP_HAND"


def test_what_is_no_action_is_over_at_once() -> None:
    """The agent stays for that step, and is asked again."""
    world = world_of()
    assert next_move(world, 0, "nonsense").direction is None
    assert is_over(world, 0, "nonsense", 0)


def test_refusals_while_cooking() -> None:
    """A running utensil gives nothing, takes nothing and is not started again; a ready one has to be emptied first."""
    world = world_of()
    world.bodies[0].held = "egg"
    run(world, ("put_obj_in_utensil(pot0)", "wait(1)"), ("cook(pot0)", "wait(1)"))
    codes = [code_of(refusal(world, 0, action) or "") for action in ("pickup(boiled_egg,pot0)", "cook(pot0)")]
    world.bodies[0].held = "egg"
    codes.append(code_of(refusal(world, 0, "put_obj_in_utensil(pot0)") or ""))
    for _ in range(2):
        world.step([next_move(world, agent, "wait(1)") for agent in (0, 1)])
    codes.append(code_of(refusal(world, 0, "put_obj_in_utensil(pot0)") or ""))
    assert codes == ["V_COOKING", "V_OP_BUSY", "V_COOKING", "V_READY_PUT"]


def test_an_unknown_message_has_no_code() -> None:
    """A message of another engine is not guessed at."""
    assert code_of("something else went wrong") == OTHER
    assert len({code for code, _ in VALIDATOR_CODES}) == 31


def test_the_picture() -> None:
    """Cells of eight characters, rows with a blank line between; pot, arrows, held object."""
    world = world_of()
    world.bodies[1].held = "egg"
    rows = map_text(world).split("\n\n")
    assert rows[0] == "X       X       X       P       X       "
    assert rows[2].split() == ["C", "\N{UPWARDS ARROW}1e", "X", "X"]


def test_a_recipe_is_written_from_the_tables() -> None:
    """Ingredients and steps follow from what is made of what."""
    text = recipe_text("mashed_potato_and_pea_patty")
    assert "INGREDIENTS: potato (1), pea (1)" in text
    assert "5. Serve it on a dish." in text


def test_an_unknown_order() -> None:
    """A slip of the pen is told what was meant."""
    with pytest.raises(UsageError, match="did you mean boiled_egg"):
        task_of("boild_egg")
