"""Kitchens of one's own: reading them, and telling in one line what is wrong with one (docs/overcooked.md).

What a kitchen leaves out is as in the published one. The roles stay: the Assistant alone fetches, the Chef alone delivers, and each utensil
is one agent's; all else (grid, utensils, recipes, times) is free.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from games.overcooked.engine.layout import Layout, kitchen, layout_of, published
from games.overcooked.engine.sound import check_grid, check_orders, check_reach, check_recipes
from games.overcooked.engine.tasks import tasks
from schemas.errors import BadInputError
from schemas.text import near
from schemas.yaml_lines import parse_yaml

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
        BadInputError: it cannot be read, or is no kitchen in which anybody could cook.
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
        return own_kitchen({"name": path.stem, **data} if _is_name(path.stem) else data)
    except BadInputError as error:
        raise BadInputError(f"{path.name}: {error}") from error


def own_kitchen(data: Mapping[str, Any]) -> Layout:
    """Make a kitchen of what a file, an experiment or a log says of it; the same content is the same object.

    Raises:
        BadInputError: a key is unknown, or nobody could cook there.
    """
    try:
        asked = _Kitchen.model_validate(data)
    except ValidationError as error:
        raise BadInputError(f"kitchen: {_explained(error)}") from error
    source = asked.model_dump(exclude_none=True)
    if asked.grid is not None:
        source["grid"] = _rows(asked.grid)
    return _made(orjson.dumps(source))


def asked_kitchen(asked: Path | Mapping[str, Any] | None, time_limit: int | None = None) -> Layout:
    """The kitchen that somebody asks for: a file, one written out, or the published one; each with a time limit of its own for all orders.

    Raises:
        BadInputError: it is no kitchen, or the time limit is of no use in it.
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
        BadInputError: what it names is no kitchen.
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
    grid = check_grid(source.get("grid") or usual["grid"], utensils)
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
    layout = layout_of(
        data,
        name=source["name"],
        source=source,
        time_limits={name: order["time_limit"] for name, order in orders.items() if "time_limit" in order},
        levels={name: level for name, order in orders.items() if (level := order.get("level", _usual_level(name, usual_orders)))},
    )
    check_reach(layout)
    return layout


def _usual_level(order: str, usual_orders: Mapping[str, Any]) -> int | None:
    """Of an order that is made as in the published kitchen."""
    return tasks()[order].level if order in usual_orders else None


def _rows(grid: str | list[str]) -> list[str]:
    """Rows from north to south, with our symbols for floor and starts."""
    rows = [row.strip() for row in grid.strip("\n").splitlines()] if isinstance(grid, str) else grid
    ours, theirs = _STARTS
    table = str.maketrans({" ": ".", **(dict(zip(theirs, ours, strict=True)) if "2" in "".join(rows) else {})})
    return [row.translate(table) for row in rows]


def _is_name(stem: str) -> bool:
    return (
        stem[:1].isalnum() and stem.isascii() and all(letter.isalnum() or letter in "_.-" for letter in stem) and len(stem) <= _LONGEST_NAME
    )


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
