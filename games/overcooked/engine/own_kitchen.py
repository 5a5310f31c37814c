"""Kitchens of one's own: reading them, and one line about what is wrong and how to fix it (docs/overcooked.md).

What a kitchen leaves out is as in the published one. The roles stay: the Assistant alone fetches, the Chef alone delivers, and each utensil
is one agent's; all else (grid, utensils, recipes, times) is free.
"""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from games.overcooked.engine.layout import (
    AGENTS,
    DELIVERY,
    DISH,
    DISH_DISPENSER,
    FIXTURES,
    INGREDIENT_DISPENSER,
    Layout,
    kitchen,
    layout_of,
    published,
)
from games.overcooked.engine.tasks import tasks
from schemas.common.errors import BadInputError
from schemas.common.text import near
from schemas.common.yaml_lines import parse_yaml

_PLAIN: Final = {"X": "counter", ".": "floor", "0": "start of the Chef", "1": "start of the Assistant"}
_LARGEST: Final = 30
"""Rows and columns."""

_VERBS: Final = ("pickup", "put_obj_in_utensil", "place_obj_on_counter", "fill_dish_with_food", "deliver_soup", "wait", "request")
_READ_OTHERWISE: Final = ("request", "accept", "deny", "clarify", "wait", DISH, "counter", "dispenser")
"""Parts of names that the engine's grammar takes for something else."""


def check_grid(rows: Sequence[str], utensils: Mapping[str, Mapping[str, Any]]) -> None:
    """See that the rows are a grid.

    Raises:
        BadInputError: rows differ in length, a symbol is unknown, or something is there twice or nowhere.
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


def check_recipes(utensils: Mapping[str, Mapping[str, Any]], capacity: int) -> list[str]:
    """Give the raw ingredients of the recipes, in the order in which they are named.

    Raises:
        BadInputError: a name cannot be used, something is made in two places, of too much, or of itself.
    """
    makes = {product: (name, items) for name, entry in utensils.items() for product, items in entry["makes"].items()}
    for name, entry in utensils.items():
        _refuse(entry["operation"] in _VERBS, f"utensil {name}: operation {entry['operation']} is an action already: call it otherwise")
        for product, items in entry["makes"].items():
            other = makes[product][0]
            _refuse(other != name, f"{product} is made in {name} and in {other}: in one of them only, or give the two products two names")
            _refuse(not items, f"{product}: it is made of nothing: name its items")
            _refuse(len(items) > capacity, f"{product}: {len(items)} items do not go into {name}: utensil_capacity is {capacity}")
    raw = dict.fromkeys(item for _, items in makes.values() for item in items if item not in makes)
    for name in (*utensils, *makes, *raw, *(entry["operation"] for entry in utensils.values())):
        part = next((word for word in _READ_OTHERWISE if word in name), None)
        _refuse(part is not None, f"the name {name} holds {part!r}, which plans are read by: call it otherwise")
    twice = next((name for name in (*makes, *raw) if name in utensils), None)
    _refuse(twice is not None, f"{twice} is an item and a utensil: call one otherwise")
    for product in makes:
        _check_depth(product, makes)
    return list(raw)


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
    """See that two agents can cook together: two halves with counters between, and everything in reach of the agent whose role needs it.

    Raises:
        BadInputError: they cannot.
    """
    chef, assistant = AGENTS
    _refuse(
        not layout.regions[0].isdisjoint(layout.regions[1]), f"grid: {chef} and {assistant} stand in one room: part it with counters (X)"
    )
    _refuse(not layout.shared_counters, "grid: no counter (X) is in reach of both agents: nothing could be handed over")
    for name in layout.fixtures.values():
        reached = [agent for agent in AGENTS if name in layout.reaches[AGENTS.index(agent)]]
        _refuse(not reached, f"grid: nobody reaches {name}: put floor (.) that is connected to an agent's beside it")
        _refuse(len(reached) > 1, f"grid: both agents reach {name}: put it where one alone does")
    for name, due in ((INGREDIENT_DISPENSER, assistant), (DISH_DISPENSER, assistant), (DELIVERY, chef)):
        _refuse(name not in layout.reaches[AGENTS.index(due)], f"grid: {name} is the {due}'s, who does not reach it: put it in its room")
    for order in layout.needs_dish:
        utensil = next(utensil for utensil in layout.utensils.values() if order in utensil.makes)
        _refuse(
            utensil.name not in layout.reaches[0],
            f"order {order} is made in {utensil.name}, which the Chef does not reach: orders are finished and delivered by the Chef",
        )


def _refuse(wrong: object, message: str) -> None:
    if wrong:
        raise BadInputError(f"kitchen: {message}")


_Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
"""Plans are read in lower case."""

_NAME: Final = "[A-Za-z0-9][A-Za-z0-9_.-]*"
_LONGEST_NAME: Final = 40
_STARTS: Final = ("01", "12")
"""How grids write where Chef and Assistant start: ours, and the published file's."""

_PUBLISHED_FILE: Final = "start_order_list"
"""A key that the published layout file has and ours has not."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _UtensilPart(_Part):
    symbol: str = Field(pattern=r"^[A-Z]$")
    operation: _Word
    makes: dict[_Word, list[_Word]] = Field(min_length=1)


class _OrderPart(_Part):
    dish: bool = False
    time_limit: int | None = Field(default=None, ge=1, le=1000)
    level: int | None = Field(default=None, ge=1)


class _Kitchen(_Part):
    """A kitchen as it is written."""

    name: str | None = Field(default=None, pattern=f"^{_NAME}$", max_length=_LONGEST_NAME)
    grid: str | list[str] | None = None
    utensil_capacity: int = Field(default_factory=lambda: published()["utensil_capacity"], ge=1, le=10)
    cook_time: int = Field(default_factory=lambda: published()["cook_time"], ge=1, le=50)
    reward: int = Field(default_factory=lambda: published()["reward"], ge=1)
    wait_limit: int = Field(default_factory=lambda: published()["wait_limit"], ge=1, le=20)
    utensils: dict[_Word, _UtensilPart] | None = None
    orders: dict[_Word, _OrderPart] | None = None


def read_kitchen(path: Path) -> Layout:
    """Read a kitchen of one's own: YAML as docs/overcooked.md has it, or the layout file of the published code.

    Raises:
        BadInputError: it cannot be read, or no one could cook in it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}): give a kitchen file") from error
    try:
        data = _from_published(ast.literal_eval(text)) if _PUBLISHED_FILE in text else parse_yaml(text)
    except (yaml.YAMLError, SyntaxError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInputError(f"{path.name} is no kitchen: {' '.join(str(error).split())[:120]}; docs/overcooked.md has one") from error
    if not isinstance(data, dict):
        raise BadInputError(f"{path.name} is no kitchen: it holds no keys with values; docs/overcooked.md has one")
    try:
        return own_kitchen({"name": path.stem, **data} if len(path.stem) <= _LONGEST_NAME and re.fullmatch(_NAME, path.stem) else data)
    except BadInputError as error:
        raise BadInputError(f"{path.name}: {error}") from error


def own_kitchen(data: Mapping[str, Any]) -> Layout:
    """Make a kitchen of its description in a file, an experiment or a log; the same content is the same object.

    Raises:
        BadInputError: a key is unknown, or no one could cook there.
    """
    try:
        asked = _Kitchen.model_validate(data)
    except ValidationError as error:
        raise BadInputError(f"kitchen: {_explained(error)}") from error
    source = asked.model_dump(exclude_none=True)
    if asked.grid is not None:
        # rows from north to south, with our symbols for floor and starts
        rows = [row.strip() for row in asked.grid.strip("\n").splitlines()] if isinstance(asked.grid, str) else asked.grid
        ours, theirs = _STARTS
        table = str.maketrans({" ": ".", **(dict(zip(theirs, ours, strict=True)) if "2" in "".join(rows) else {})})
        source["grid"] = [row.translate(table) for row in rows]
    return _made(orjson.dumps(source))


def asked_kitchen(asked: Path | Mapping[str, Any] | None, time_limit: int | None = None) -> Layout:
    """The kitchen that somebody asks for: a file, one written out, or the published one; each with a time limit of its own for all orders.

    Raises:
        BadInputError: it is not a kitchen, or the time limit is of no use in it.
    """
    layout = read_kitchen(asked) if isinstance(asked, Path) else own_kitchen(asked) if asked is not None else kitchen()
    if time_limit is None:
        return layout
    source, usual = layout.source or {"name": f"limit-{time_limit}"}, published()
    known = source.get("orders") or {name: {"dish": usual["needs_dish"][name]} for name in tasks()}
    return own_kitchen({**source, "orders": {name: {**order, "time_limit": time_limit} for name, order in known.items()}})


def kitchen_of(goal: Any) -> Layout:
    """The kitchen of a game, from its goal; the published one where it names none.

    Raises:
        BadInputError: what it names is not a kitchen.
    """
    found = goal.get("kitchen") if isinstance(goal, Mapping) else None
    if found is None:
        return kitchen()
    if not isinstance(found, Mapping):
        raise BadInputError("kitchen: it is no object", locator="goal.kitchen")
    return own_kitchen(found)


@cache
def _made(text: bytes) -> Layout:
    source: dict[str, Any] = orjson.loads(text)
    source.setdefault("name", f"kitchen-{hashlib.blake2b(text, digest_size=3).hexdigest()}")
    usual = published()
    utensils = source.get("utensils") or usual["utensils"]
    grid = source.get("grid") or usual["grid"]
    check_grid(grid, utensils)
    ingredients = check_recipes(utensils, source["utensil_capacity"])
    usual_orders = {} if "utensils" in source else {name: {"dish": usual["needs_dish"][name]} for name in tasks()}
    orders = source.get("orders") or usual_orders
    if not orders:
        raise BadInputError("kitchen: it has recipes of its own and no orders: say under `orders` what can be ordered")
    check_orders(orders, utensils)
    data = {
        **{name: source[name] for name in ("utensil_capacity", "cook_time", "reward", "wait_limit")},
        "grid": grid,
        "utensils": utensils,
        "ingredients": ingredients,
        "needs_dish": {name: order.get("dish", False) for name, order in orders.items()},
    }
    usual_levels = {name: tasks()[name].level for name in usual_orders}  # of orders that are made as in the published kitchen
    layout = layout_of(
        data,
        name=source["name"],
        source=source,
        time_limits={name: order["time_limit"] for name, order in orders.items() if "time_limit" in order},
        levels={name: level for name, order in orders.items() if (level := order.get("level", usual_levels.get(name)))},
    )
    check_reach(layout)
    return layout


def _explained(error: ValidationError) -> str:
    first = error.errors()[0]
    loc = [str(part) for part in first["loc"] if not str(part).startswith(("str", "list[", "[key]"))]
    if first["type"] == "extra_forbidden":
        parts: dict[str, type[_Part]] = {"utensils": _UtensilPart, "orders": _OrderPart}
        inside = parts.get(loc[0], _Kitchen) if len(loc) > 1 else _Kitchen
        return f"unknown key {'.'.join(loc)}{near(loc[-1], inside.model_fields)}"
    if "[key]" in first["loc"] or first["type"] == "string_pattern_mismatch":
        return f"{'.'.join(loc)}: {first['input']!r} is no name for it: {first['msg'].lower()}"
    if first["type"] == "missing":
        return f"{'.'.join(loc)} is missing: add it"
    return f"{'.'.join(loc)} is {str(first['input'])[:60]!r}: {first['msg'].lower()}"


def _from_published(data: Mapping[str, Any]) -> dict[str, Any]:
    """The layout file of the published code in our words; what its engine never reads is left out."""
    utensils = {
        f"{name}0": {**entry, "makes": {made: facts["recipe"] for made, facts in data["recipes"].get(name, {}).items()}}
        for name, entry in data["utensils"].items()
        if data["recipes"].get(name) and name != "none"
    }
    makes = {made for entry in utensils.values() for made in entry["makes"]}
    return {
        "grid": data["grid"],
        "utensils": utensils,
        "cook_time": data["cook_time"],
        "utensil_capacity": data["num_items_for_soup"],
        "reward": data["delivery_reward"],
        "orders": {name: {"dish": bool(dish)} for name, dish in data["need_dish"].items() if name in makes},
    }
