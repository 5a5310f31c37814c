"""Forms filled in as the page at which people play fills them in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from string import Template
from typing import Any

from games.players.player import Form, Slot


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
