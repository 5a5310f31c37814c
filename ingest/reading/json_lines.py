"""Files that should hold one JSON object a line, and do not."""

from __future__ import annotations

import json

from ingest.reading.json_text import loads
from schemas.errors import BadInputError
from schemas.text import excerpt

__all__ = ["refuse_spread_objects"]


def refuse_spread_objects(data: bytes) -> None:
    """Refuse a file whose first object is whole, but spread over several lines: one fault, not one a line.

    Raises:
        BadInputError: it is so; says how to write the file again.
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest or _is_whole(first):
        return
    text = data.decode(errors="replace").lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):  # cut or damaged: told line by line
        return
    if "\n" in text[:end]:
        raise BadInputError(
            "not JSON Lines: an object is spread over several lines, so the file is lost; write one object a line (jq -c . FILE > NEW)",
            locator="line 1",
            excerpt=excerpt(text[:200]),
        )


def _is_whole(line: bytes) -> bool:
    try:
        loads(line)
    except BadInputError:
        return False
    return True
