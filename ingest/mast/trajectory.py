"""A trajectory of MAST-Data as messages: a list of messages where it is one, else the system's console text, cut where somebody begins.

Every character of a text is in some message; what stands before the first speaker is said by the system itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Final

from ingest.conversation.chat import ParsedMessage, said_by
from ingest.conversation.rows import LoggedMessage
from ingest.reading.json_text import loads
from schemas.errors import BadInputError
from schemas.text import without_half_pairs

__all__ = ["said_in"]

_LISTS: Final = ("trajectory", "messages", "history", "conversation", "steps", "logs")
_BEGINNINGS: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?P<who>[\w .-]{1,60}) \(to (?P<to>[\w .-]{1,60})\):",  # AG2, AutoGen
        r"^\[?[\d: ,.-]*\]?\s*\[?FROM: (?P<who>[\w .-]+?) TO: (?P<to>[^\n\]]+)\]?",  # MetaGPT
        r"^\[[\d: ,.-]+ INFO\] (?P<who>[A-Z][\w ]+?): \*\*",  # ChatDev
        r"^(?:[\w-]+ - \w+ - )?(?P<who>[A-Z][\w ]{1,40}?)'s (?:Response|Answer):",  # HyperAgent
        r"^-{5,} (?P<who>[\w .-]{1,60}) -{5,}",  # MagenticOne, AutoGen 0.4
        r"^(?:Response from|Message to|Reply from) (?P<who>[\w .-]{1,60}?)(?: Agent)?\s*$",  # AppWorld
        r"^[\d: ,.-]+ \| \w+\s+\| [\w.]*?(?P<who>\w+):\w+:\d+ - ",  # OpenManus
    )
)
_FEWEST: Final = 2


def said_in(trajectory: Any, system: str) -> list[LoggedMessage]:
    """The messages of a trajectory.

    Raises:
        BadInputError: it holds nothing.
    """
    listed = _listed(trajectory)
    if listed is not None:
        return said_by([ParsedMessage(raw=entry if isinstance(entry, Mapping) else {"role": system, "content": entry}) for entry in listed])
    if not isinstance(trajectory, str) or not trajectory.strip():
        raise BadInputError("its trajectory holds nothing", locator=".trace")
    return _cut(trajectory, system)


def _listed(trajectory: Any) -> list[Any] | None:
    """The list of messages, as it stands, or as JSON or Python text; None if the trajectory is no list."""
    if isinstance(trajectory, str) and trajectory.lstrip()[:1] in {"[", "{"}:
        trajectory = _parsed(trajectory)
    if isinstance(trajectory, Mapping):
        trajectory = next((trajectory[name] for name in _LISTS if isinstance(trajectory.get(name), list)), None)
    return trajectory if isinstance(trajectory, list) and trajectory else None


def _parsed(text: str) -> Any:
    try:
        return loads(text.encode(errors="replace"))
    except BadInputError:
        pass
    try:
        return without_half_pairs(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _cut(text: str, system: str) -> list[LoggedMessage]:
    """By the way of writing speakers that is found most often."""
    found = max((list(pattern.finditer(text)) for pattern in _BEGINNINGS), key=len)
    if len(found) < _FEWEST:
        return [LoggedMessage(agent=system, text=text)]
    ends = [*(match.start() for match in found[1:]), len(text)]
    before = text[: found[0].start()]
    said = [LoggedMessage(agent=system, text=before)] if before.strip() else []
    for match, end in zip(found, ends, strict=True):
        to = match.groupdict().get("to")
        name = match["who"].strip()
        heard = [name, to.strip()] if to and re.fullmatch(r"[\w .-]+", to.strip()) else None
        said.append(LoggedMessage(agent=name, text=text[match.start() : end].rstrip("\n"), audience=heard))
    return said
