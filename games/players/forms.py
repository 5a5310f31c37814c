"""What a person can write, as forms to fill in: a family's grammar, cut to what its role can do now. The text counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any, NamedTuple

__all__ = ["Form", "Slot", "written"]


class Slot(NamedTuple):
    """A place in a form that is filled in."""

    name: str
    label: str
    choices: Sequence[str] = ()
    """One of these; empty: free text."""
    pieces: Sequence[Form] = ()
    """Any number of texts, each by one of these forms; empty: a single value."""
    joined: str = ""
    """Between two pieces."""
    is_json: bool = False
    """Free text that stands as a JSON string."""
    default: str = ""
    """What stands there if nothing is filled in."""


class Form(NamedTuple):
    """A kind of answer."""

    title: str
    text: str
    """`$name` stands for what is filled in at the slot of that name."""
    slots: Sequence[Slot] = ()


def written(form: Form, filled: Mapping[str, Any]) -> str:
    """The text of a form; of a slot with pieces the value is a list of texts.

    Raises:
        KeyError: a slot without a default is not filled in.
    """
    values = {slot.name: _value(slot, filled) for slot in form.slots}
    return Template(form.text).substitute(values)


def _value(slot: Slot, filled: Mapping[str, Any]) -> str:
    value = filled.get(slot.name)
    if slot.pieces:
        return slot.joined.join(value or ()) or slot.default
    if value is None and not slot.default and slot.choices:
        raise KeyError(slot.name)
    text = str(value or slot.default)
    return json.dumps(text, ensure_ascii=False) if slot.is_json else text
