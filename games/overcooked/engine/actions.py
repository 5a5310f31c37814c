"""Macro actions as they are written: name and arguments, and the blanks that do not count (formats/overcooked.md, sections 5 and 7.2)."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

Trajectory = Sequence[str]
"""Actions of one agent in order, without blanks."""

_CALL: Final = re.compile(r"(\w+)\s*\(([^()]*)\)")
_PARAMETERS: Final = {"pickup": ("object", "place"), "wait": ("steps",)}


class WrittenAction(NamedTuple):
    """An action as written: name and arguments without blanks around them."""

    name: str
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The action without blanks, as trajectories are compared."""
        return f"{self.name}({','.join(self.arguments)})"


def normalised(action: str) -> str:
    """Give an action without any blank: the only normalisation of the published evaluation (section 7.2)."""
    return action.replace(" ", "")


@lru_cache(maxsize=16384)
def parse_call(text: str) -> WrittenAction | None:
    """Read the first action in a text, whatever stands around it (logs have `1. wait(4)`); None if there is none."""
    found = _CALL.search(text)
    if found is None:
        return None
    arguments = tuple(part.strip() for part in found[2].split(",")) if found[2].strip() else ()
    return WrittenAction(found[1], arguments)


def verb_of(text: str) -> tuple[str, dict[str, Any]]:
    """Give an action as verb and named arguments; what is no action is ``unreadable``."""
    call = parse_call(text)
    if call is None:
        return "unreadable", {"text": text.strip()}
    names = _PARAMETERS.get(call.name, ("utensil",))
    extra = call.arguments[len(names) :]
    return call.name.lower(), {**dict(zip(names, call.arguments, strict=False)), **({"more": list(extra)} if extra else {})}
