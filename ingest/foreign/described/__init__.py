"""Formats that a description tells wholly: how to recognise a file, and a mapping of its keys over the layers of containers and dialects.

Each `.yaml` file next to this module is one format. Its mapping has the same entries as that of `cotrace ingest --map`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from glob import escape
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from ingest.foreign.chat_lines import read_mapped
from ingest.foreign.mapping_file import ChatMapping
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import dumps, read_json
from schemas.common.errors import BadInputError
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
    """Files of one conversation: those of sub-agents are read with that of the agent which called them.

    In lines, parent and child tell it by a key; a document refers to its children by their paths (`refers`).
    """

    children: list[str] = Field(default_factory=list)
    """Patterns of paths from the folder of the parent; `{stem}` is the parent's name without its ending."""
    by: str = ""
    """Key of the parent's first lines whose value tells it from others."""
    parent: str | None = None
    """Key of a child's first lines that has that value; None: the same key, and the name tells that it is a child."""
    name: str = ""
    """Regular expression of a child's file name; its group is the name of the agent."""
    agent: str = ""
    """Key of a child's lines that names the agent, where they have it."""
    called: list[str] = Field(default_factory=list)
    """Keys of a child's first lines that name the agent better than the file."""
    refers: str | None = None
    """Key of a document, at any depth, with the path of a child from the folder of the parent."""
    under: str = ""
    """Where the document holds children that have no file of their own."""
    host: str | None = None
    """Name of the document in whose folder the children are, and with which they are read."""
    earlier: str | None = None
    """Regular expression of the name of a file with earlier lines: the stem of the last file, the number of the part, the ending."""


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

    def __init__(self, described: Description) -> None:
        self.__doc__ = described.about
        self.FORMAT: str = described.format
        self.VERSION: int = described.version
        self.KEYS = tuple(frozenset(keys) for keys in described.recognise.keys)
        self.MARKS = tuple(re.compile(mark.encode()) for mark in described.recognise.marks)
        self._begins = tuple(re.compile(mark.encode()) for mark in described.recognise.begins)
        self._joined = described.joined
        self.mapping = described.mapping
        self.READS_COMPANIONS: bool = described.joined is not None

    def sniff(self, head: bytes) -> bool:
        """Tell from a file's first bytes whether it is of this format."""
        return bool(self._begins) and head.lstrip()[:1] in {b"{", b"["} and all(mark.search(head) for mark in self._begins)

    def companions(self, path: Path) -> tuple[Path, ...]:
        """The files of sub-agents, which are read with this one."""
        joined = self._joined
        if joined is None or not path.is_file():
            return ()
        if joined.earlier is not None:
            *earlier, last = _parts(path, joined.earlier)
            return tuple(earlier) if path == last else ()
        if joined.host is not None:
            return tuple(sorted(path.parent.glob(joined.children[0]))) if path.name == joined.host else ()
        if joined.refers is not None:
            return tuple(dict.fromkeys(_referred(path, joined.refers).values()))
        own = _head(path, joined.by)
        if own is None or self._called_by(path) is not None:
            return ()
        found = {one for part in joined.children for one in path.parent.glob(part.replace("{stem}", path.stem)) if one.is_file()}
        return tuple(sorted(one for one in found - {path} if self._called_by(one) == own))

    def read(self, data: bytes, place: Place) -> Reading:
        """Read a file, and what belongs to it.

        Raises:
            BadInputError: it is damaged as a whole.
        """
        path = Path(place.path)
        parent = self._parent(path)
        if parent is not None:
            what = "a part" if self._joined and (self._joined.earlier or self._joined.host) else "of a sub-agent"
            return Reading(note=f"{what}, read with {parent.name}")
        children = self.companions(path)
        damaged: list[str] = []
        if children and self._joined is not None and (self._joined.refers or self._joined.host):
            referred = _referred(path, self._joined.refers) if self._joined.refers else {one.stem: one for one in children}
            held = {name: read_json(one.read_bytes().decode(errors="replace")) for name, one in referred.items()}
            damaged = [referred[name].name for name, one in held.items() if not isinstance(one, dict)]
            data = _with_documents(data, held, self._joined.under)
        elif children and self._joined is not None and self._joined.earlier is not None:
            data = b"\n".join([*(one.read_bytes() for one in children), data])
        elif children:
            own = set(data.split(b"\n"))  # a child may begin with a copy of what its parent wrote
            data = b"\n".join([data, *(line for one in children for line in self._lines_of_child(one, own))])
        reading = read_mapped(data, place, self.mapping, is_of_format=True)
        reading.rejects += [
            BadInputError(f"{name}, to which it refers, holds no JSON object: copy that file again; all else was read") for name in damaged
        ]
        return reading

    def _called_by(self, path: Path) -> str | None:
        """What tells the parent of a file of a sub-agent; None of any other file."""
        joined = self._joined
        if joined is None or re.fullmatch(joined.name, path.name) is None:
            return None
        return _head(path, joined.parent or joined.by)

    def _lines_of_child(self, path: Path, own: set[bytes]) -> Iterator[bytes]:
        """The lines, each with the name of the agent, but for those that the parent has."""
        if self._joined is None:
            return
        named = re.fullmatch(self._joined.name, path.name)
        name = next((found for key in self._joined.called if (found := _head(path, key))), named[1] if named else None)
        for line in path.read_bytes().split(b"\n"):
            found = None if line in own else read_json(line.decode(errors="replace"))
            if isinstance(found, dict):
                yield dumps({self._joined.agent: name, **found}).encode(errors="surrogatepass")
            elif line.strip() and line not in own:
                yield line

    def _parent(self, path: Path) -> Path | None:
        joined = self._joined
        if joined is not None and joined.earlier is not None:
            *_, last = (path, *_parts(path, joined.earlier))
            return None if last == path else last
        if joined is not None and joined.host is not None:
            host = path.parent.parent / joined.host
            return host if path in self.companions(host) else None
        if joined is not None and joined.refers is not None:
            around = {*path.parent.glob("*.json"), *path.parent.parent.glob("*.json")} - {path} if path.is_file() else set()
            known = tuple(sorted((one, one.stat().st_mtime_ns, one.stat().st_size) for one in around if one.is_file()))
            return next((one for one in _referring(known, joined.refers).get(path.name, []) if path in self.companions(one)), None)
        called_by = self._called_by(path)
        if joined is None or called_by is None:
            return None
        near = [path.parent] if joined.parent is None else [path.parent, *sorted(path.parent.parent.glob("*/"))]
        named = [one for folder in near for one in folder.glob(f"*{escape(called_by)}*{path.suffix}")]
        above = [one for folder in path.parents[:-1] for one in (folder / f"{called_by}{path.suffix}", folder.with_suffix(path.suffix))]
        return next((one for one in (*above, *named) if one != path and one.is_file() and _head(one, joined.by) == called_by), None)


def _parts(path: Path, name: str) -> tuple[Path, ...]:
    """The files of the run that a file is of, in order; the last one is that without a number, where it is there."""
    found = re.fullmatch(name, path.name)
    stem, ending = (found[1], found[3]) if found else (path.stem, path.suffix)
    near = {one: re.fullmatch(name, one.name) for one in path.parent.glob(f"{escape(stem)}.*") if one.is_file()}
    earlier = sorted((int(part[2]), one) for one, part in near.items() if part and (part[1], part[3]) == (stem, ending))
    whole = path.parent / f"{stem}{ending}"
    return (*(one for _, one in earlier), *([whole] if whole.is_file() else []))


def _head(path: Path, key: str) -> str | None:
    """The value of a key in the first lines of a file."""
    return _read_head(path, path.stat().st_mtime_ns, path.stat().st_size).get(key) if path.is_file() else None


@lru_cache(maxsize=10_000)
def _read_head(path: Path, changed: int, size: int) -> Mapping[str, str]:  # noqa: ARG001 - keys of the cache
    """Path of each text in the first lines of a file -> the text, the first one."""
    found: dict[str, str] = {}
    with path.open("rb") as file:
        for _, line in zip(range(_FIRST_LINES), file, strict=False):
            for key, text in _texts(read_json(line.decode(errors="replace")), ""):
                found.setdefault(key, text)
    return found


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, str) and len(value) <= _LONGEST_NAME:
        yield path, value


def _referred(path: Path, key: str) -> dict[str, Path]:
    """The paths by which a document refers to others, and these: in its folder, wherever paths and links lead."""
    named = [Path(name) for name in _names(path, key, path.stat().st_mtime_ns, path.stat().st_size)]
    near = [(str(name), [path.parent / one for one in (name, name.name) if ".." not in Path(one).parts]) for name in named]
    found = {name: next((one for one in places if one.is_file()), path) for name, places in near}
    return {
        name: one
        for name, one in found.items()
        if path.parent in one.parents and path.parent.resolve() in one.resolve().parents and one != path
    }


@lru_cache(maxsize=10_000)
def _names(path: Path, key: str, changed: int, size: int) -> list[str]:  # noqa: ARG001 - keys of the cache
    mark = re.compile(rb'"%s"\s*:\s*("(?:[^"\\\0]|\\.)+")' % re.escape(key.encode()))
    names = (read_json(found.decode(errors="replace")) for found in dict.fromkeys(mark.findall(path.read_bytes())))
    return [name for name in names if isinstance(name, str) and "\0" not in name]


@lru_cache(maxsize=100)
def _referring(files: tuple[tuple[Path, int, int], ...], key: str) -> Mapping[str, list[Path]]:
    """Name of a file -> the documents that refer to a file of this name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path, changed, size in files:
        for name in _names(path, key, changed, size):
            found[Path(name).name].append(path)
    return found


def _with_documents(data: bytes, held: Mapping[str, Any], under: str) -> bytes:
    """A document with those that it refers to, each by the path that it is called by."""
    whole = read_json(data.decode(errors="replace"))
    if not isinstance(whole, dict):
        return data
    named = [{**one, "trajectory_id": name} for name, one in held.items() if isinstance(one, dict)]
    return dumps({**whole, under: [*(whole.get(under) or []), *named]}).encode(errors="surrogatepass")


_LONGEST_NAME: Final = 200
_FIRST_LINES: Final = 20
"""So many lines are looked at for what files share: sessions begin with entries of other kinds."""


@cache
def _described() -> list[Described]:
    return [Described(Description.model_validate(read_yaml(path, "description"))) for path in sorted(_FOLDER.glob("*.yaml"))]


ADAPTERS: Final = _described()
