"""Whether a kitchen of one's own can be cooked in; what is wrong with it is one line that says the mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from games.overcooked.engine.layout import AGENTS, DELIVERY, DISH, DISH_DISPENSER, FIXTURES, INGREDIENT_DISPENSER, Layout
from schemas.errors import BadInputError
from schemas.text import near

_PLAIN: Final = {"X": "counter", ".": "floor", "0": "start of the Chef", "1": "start of the Assistant"}
_LARGEST: Final = 30
"""Rows and columns."""

_VERBS: Final = ("pickup", "put_obj_in_utensil", "place_obj_on_counter", "fill_dish_with_food", "deliver_soup", "wait", "request")
_READ_OTHERWISE: Final = ("request", "accept", "deny", "clarify", "wait", DISH, "counter", "dispenser")
"""Parts of names that the engine's grammar takes for something else."""


def check_grid(rows: Sequence[str], utensils: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    """Give the rows back if they are a grid.

    Raises:
        BadInputError: rows differ in length, a symbol is unknown, or something stands there twice or nowhere.
    """
    _refuse(not rows or not rows[0] or len(rows) > _LARGEST or len(rows[0]) > _LARGEST, f"grid has no rows, or more than {_LARGEST} a side")
    for number, row in enumerate(rows, start=1):
        _refuse(
            len(row) != len(rows[0]),
            f"grid, row {number}: {row!r} has {len(row)} cells, the first row {len(rows[0])}: make all rows equally long (. is floor)",
        )
    symbols = [entry["symbol"] for entry in utensils.values()]
    taken = next((symbol for symbol, count in Counter([*symbols, *FIXTURES, *_PLAIN]).items() if count > 1), None)
    _refuse(taken is not None, f"symbol {taken} stands for two things: give each utensil a letter of its own, other than X, I, D, S")
    named = _PLAIN | FIXTURES | {entry["symbol"]: name for name, entry in utensils.items()}
    there = Counter("".join(rows))
    for number, row in enumerate(rows, start=1):
        strange = next((symbol for symbol in row if symbol not in named), None)
        known = ", ".join(f"{symbol} {name}" for symbol, name in named.items())
        _refuse(strange is not None, f"grid, row {number}: {strange!r} is no symbol of this kitchen: there are {known}")
    for symbol, name in named.items():
        if symbol not in "X.":
            _refuse(there[symbol] != 1, f"grid: {symbol} ({name}) stands there {there[symbol]} times: put it in once")
    return rows


def check_recipes(utensils: Mapping[str, Mapping[str, Any]], capacity: int) -> list[str]:
    """Give the raw ingredients of the recipes, in the order in which they are named.

    Raises:
        BadInputError: a name cannot be used, something is made in two places, of too much, or of itself.
    """
    makes = {product: (name, items) for name, entry in utensils.items() for product, items in entry["makes"].items()}
    for name, entry in utensils.items():
        _refuse(entry["operation"] in _VERBS, f"utensil {name}: operation {entry['operation']} is an action already: call it otherwise")
        for product, items in entry["makes"].items():
            _check_recipe(name, product, items, capacity, made_in=makes[product][0])
    raw = dict.fromkeys(item for _, items in makes.values() for item in items if item not in makes)
    for name in (*utensils, *makes, *raw, *(entry["operation"] for entry in utensils.values())):
        part = next((word for word in _READ_OTHERWISE if word in name), None)
        _refuse(part is not None, f"the name {name} holds {part!r}, which plans are read by: call it otherwise")
    twice = next((name for name in (*makes, *raw) if name in utensils), None)
    _refuse(twice is not None, f"{twice} is an item and a utensil: call one otherwise")
    for product in makes:
        _check_depth(product, makes)
    return list(raw)


def _check_recipe(utensil: str, product: str, items: Sequence[str], capacity: int, *, made_in: str) -> None:
    _refuse(made_in != utensil, f"{product} is made in {utensil} and in {made_in}: in one of them only, or give the two products two names")
    _refuse(not items, f"{product}: it is made of nothing: name its items")
    _refuse(len(items) > capacity, f"{product}: {len(items)} items do not go into {utensil}: utensil_capacity is {capacity}")


def _check_depth(product: str, makes: Mapping[str, tuple[str, Sequence[str]]], within: tuple[str, ...] = ()) -> None:
    _refuse(product in within, f"{product} is made of itself: {' of '.join((*within, product))}")
    for item in makes[product][1]:
        if item in makes:
            _check_depth(item, makes, (*within, product))


def check_orders(orders: Mapping[str, Any], utensils: Mapping[str, Mapping[str, Any]]) -> None:
    """See that what can be ordered can be made.

    Raises:
        BadInputError: no utensil makes it, or it takes an item twice.
    """
    makes = {product: items for entry in utensils.values() for product, items in entry["makes"].items()}
    for order in orders:
        _refuse(order not in makes, f"order {order}: no utensil makes it{near(order, makes)}")
        twice = next((item for item, count in Counter(_all_of(order, makes)).items() if count > 1), None)
        _refuse(
            twice is not None,
            f"order {order} takes {twice} twice: each is fetched once; give the second another name",
        )


def _all_of(item: str, makes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield item
    for part in makes.get(item, ()):
        yield from _all_of(part, makes)


def check_reach(layout: Layout) -> None:
    """See that two agents can cook together: two rooms with counters between, and everything in reach of whom the roles give it to.

    Raises:
        BadInputError: they cannot.
    """
    chef, assistant = AGENTS
    _refuse(not layout.region(0).isdisjoint(layout.region(1)), f"grid: {chef} and {assistant} stand in one room: part it with counters (X)")
    _refuse(not layout.shared_counters, "grid: no counter (X) is in reach of both agents: nothing could be handed over")
    for name in layout.fixtures.values():
        reached = [agent for agent in AGENTS if name in layout.reach(AGENTS.index(agent))]
        _refuse(not reached, f"grid: nobody reaches {name}: put floor (.) that is connected to an agent's beside it")
        _refuse(len(reached) > 1, f"grid: both agents reach {name}: put it where one alone does")
    for name, due in ((INGREDIENT_DISPENSER, assistant), (DISH_DISPENSER, assistant), (DELIVERY, chef)):
        _refuse(name not in layout.reach(AGENTS.index(due)), f"grid: {name} is the {due}'s, who does not reach it: put it in its room")
    for order in layout.needs_dish:
        utensil = next(utensil for utensil in layout.utensils.values() if order in utensil.makes)
        _refuse(
            utensil.name not in layout.reach(0),
            f"order {order} is made in {utensil.name}, which the Chef does not reach: orders are finished and delivered by the Chef",
        )


def _refuse(wrong: object, message: str) -> None:
    if wrong:
        raise BadInputError(f"kitchen: {message}")
