"""What a person can write, as forms to fill in: a family's grammar, cut to what its role can do now. The text counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
