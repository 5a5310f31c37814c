"""Formats that a description tells wholly: how to recognise a file, and a mapping of its keys over the layers of containers and dialects.

Each `.yaml` file next to this module is one format. Its mapping has the same entries as that of `cotrace ingest --map`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from ingest.foreign.chat_lines import read_mapped
from ingest.foreign.mapping_file import ChatMapping
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import dumps, read_json
from schemas.common.yaml_lines import read_yaml

_FOLDER: Final = Path(__file__).parent


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Marks(_Part):
    """How a file is recognised: its beginning has all the marks; or its top-level keys are there, and all the marks."""

    begins: list[str] = Field(default_factory=list)
    """Regular expressions that the first bytes match, somewhere."""
    keys: list[list[str]] = Field(default_factory=list)
    marks: list[str] = Field(default_factory=list)


class Joined(_Part):
    """Files of one conversation: those of sub-agents are read with that of the agent which called them."""

    children: list[str]
    """Patterns of paths from the folder of the parent; `{stem}` is the parent's name without its ending.

    The parent of a child is in a folder above it, and has the name of a folder between them, or the value of `by` for a name.
    """
    by: str
    """Key of the first line that parent and child share."""
    name: str
    """Regular expression of a child's file name; its group is the name of the agent."""
    agent: str
    """Key of a child's lines that names the agent, where they have it."""


class Description(_Part):
    """A whole format."""

    format: str
    about: str
    version: int
    recognise: Marks
    joined: Joined | None = None
    mapping: ChatMapping


class Described:
    """The adapter of a description."""

    PATH_PARTS: Final = 0

    def __init__(self, described: Description) -> None:
        self.__doc__ = described.about
        self.FORMAT: str = described.format
        self.VERSION: int = described.version
        self.KEYS = tuple(frozenset(keys) for keys in described.recognise.keys)
        self.MARKS = tuple(re.compile(mark.encode()) for mark in described.recognise.marks)
        self._begins = tuple(re.compile(mark.encode()) for mark in described.recognise.begins)
        self._joined = described.joined
        self.mapping = described.mapping

    def sniff(self, head: bytes) -> bool:
        """Tell from a file's first bytes whether it is of this format."""
        return bool(self._begins) and head.lstrip()[:1] in {b"{", b"["} and all(mark.search(head) for mark in self._begins)

    def companions(self, path: Path) -> tuple[Path, ...]:
        """The files of sub-agents, which are read with this one."""
        if self._joined is None or self._is_child(path):
            return ()
        found = {
            one for pattern in self._joined.children for one in path.parent.glob(pattern.replace("{stem}", path.stem)) if one.is_file()
        }
        shared = self._shared(path)
        return tuple(sorted(one for one in found - {path} if self._is_child(one) and shared is not None and self._shared(one) == shared))

    def read(self, data: bytes, place: Place) -> Reading:
        """Read a file, and what belongs to it.

        Raises:
            BadInputError: it is damaged as a whole.
        """
        path = Path(place.path)
        parent = self._parent(path)
        if parent is not None:
            return Reading(note=f"of a sub-agent, read with {parent.name}")
        parts = [data, *(line for one in self.companions(path) for line in self._lines_of_child(one))]
        return read_mapped(b"\n".join(parts) if len(parts) > 1 else data, place, self.mapping, is_of_format=True)

    def _is_child(self, path: Path) -> bool:
        return self._joined is not None and re.fullmatch(self._joined.name, path.name) is not None

    def _lines_of_child(self, path: Path) -> Iterator[bytes]:
        """The lines, each with the name of the agent."""
        if self._joined is None:
            return
        named = re.fullmatch(self._joined.name, path.name)
        for line in path.read_bytes().split(b"\n"):
            found = read_json(line.decode(errors="replace"))
            if named is not None and isinstance(found, dict):
                yield dumps({self._joined.agent: named[1], **found}).encode(errors="surrogatepass")
            elif line.strip():
                yield line

    def _parent(self, path: Path) -> Path | None:
        if self._joined is None or not self._is_child(path):
            return None
        shared = self._shared(path)
        places = (one for folder in path.parents[:-1] for one in (folder / f"{shared}{path.suffix}", folder.with_suffix(path.suffix)))
        return next((one for one in places if shared is not None and one.is_file() and self._shared(one) == shared), None)

    def _shared(self, path: Path) -> str | None:
        """The value that files of one conversation share."""
        if self._joined is None or not path.is_file():
            return None
        with path.open("rb") as file:
            for _, line in zip(range(_FIRST_LINES), file, strict=False):
                found: Any = read_json(line.decode(errors="replace"))
                if isinstance(found, dict) and isinstance(found.get(self._joined.by), str):
                    return str(found[self._joined.by])
        return None


_FIRST_LINES: Final = 20
"""So many lines are looked at for what files share: sessions begin with entries of other kinds."""


@cache
def _described() -> list[Described]:
    return [Described(Description.model_validate(read_yaml(path, "description"))) for path in sorted(_FOLDER.glob("*.yaml"))]


ADAPTERS: Final = _described()
