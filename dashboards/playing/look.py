"""What the pages are made of: two documents, and the few files that they load; nothing of anybody else's."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from flask import Response

__all__ = ["LOOK", "document", "look"]

LOOK: Final = "/look/"
"""Where the files lie; they hold nothing of any game."""

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".woff2": "font/woff2"}
_SHARED: Final = frozenset({"base.css", "parts.css", "boards.css", "theme.js", "inter-latin.woff2"})
"""Out of the dashboard's own files."""
_OWN: Final = frozenset({"play.css", "opening.js", "seat.js"})


@cache
def document(name: str) -> str:
    """A page, whole."""
    return files(__package__).joinpath("web", f"{name}.html").read_text(encoding="utf-8")


def look(name: str) -> Response | None:
    """A file that the pages load; None: they load none of that name."""
    if name not in _SHARED | _OWN:
        return None
    return Response(_content(name), mimetype=next(kind for ending, kind in _TYPES.items() if name.endswith(ending)))


@cache
def _content(name: str) -> bytes:
    place = files(__package__).joinpath("web") if name in _OWN else files("dashboards").joinpath("assets")
    return place.joinpath(name).read_bytes()
