"""The formats that can be read: found, not listed.

A format is a module with `FORMAT`, `VERSION`, `sniff` and `read` (`ingest.reading.adapter_types.Adapter`): those of other
people's logs are in `ingest.foreign`, that of cotrace's own log and those of families are the module `adapter` of their folder. A family
that has several formats offers them as `ADAPTERS`. Families from other distributions bring theirs as `<package>.ingest.adapter`, other
packages through the entry point group `cotrace.formats`.

A reader takes each game or row of a file with `Reading.take`, so that one that fails is a reject with its place and costs no other. Where a
reader of lines does not, the lines on which it fails are looked for (`ingest.files.worker`).
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import ingest
import ingest.foreign
from ingest.reading.adapter_types import Adapter
from ingest.reading.text import top_keys
from schemas.common.errors import UsageError
from schemas.common.packages import loaded
from schemas.common.text import near
from schemas.families import modules

_OWN_LOG = "ingest.cotrace_log.adapter"
"""Asked first: its first bytes cannot be mistaken, and most games come in it."""

_LAST = "ingest.foreign.chat_lines"
"""Asked last: chat messages stand in the logs of others too."""

LAST_FORMAT = "chat_lines"
"""Its name: what its messages stand in may be another's."""

_NEEDED = ("FORMAT", "VERSION", "sniff", "read")


@cache
def adapters() -> tuple[Adapter, ...]:
    """Every adapter, ours first.

    Raises:
        UsageError: a format is offered twice, or an entry point names no adapter.
    """
    found: dict[str, tuple[str, Adapter]] = {}
    for home, offered in (*_ours(), *_of_families(), *_of_packages()):
        for reader in offered:
            if reader.FORMAT in found:
                raise UsageError(f"log format {reader.FORMAT} is in {found[reader.FORMAT][0]} and in {home}: rename one of them")
            found[reader.FORMAT] = (home, reader)
    return tuple(reader for _, reader in found.values())


def _ours() -> Iterable[tuple[str, Iterable[Adapter]]]:
    names = [f"ingest.{folder.name}.adapter" for folder in pkgutil.iter_modules(ingest.__path__) if folder.ispkg]
    names = [name for name in names if find_spec(name) is not None]
    names += [f"ingest.foreign.{one.name}" for one in pkgutil.iter_modules(ingest.foreign.__path__)]
    names.sort(key=lambda name: (name != _OWN_LOG, name == _LAST, name.removesuffix(".adapter").rpartition(".")[2]))
    for name in names:
        found = importlib.import_module(name)
        if hasattr(found, "FORMAT") or hasattr(found, "ADAPTERS"):
            yield name, _offered(found)


def _of_families() -> Iterable[tuple[str, Iterable[Adapter]]]:
    for name, module in modules("ingest", "adapter"):
        if not module.__name__.startswith("ingest."):
            yield f"family {name}", _offered(module)


def _of_packages() -> Iterable[tuple[str, Iterable[Adapter]]]:
    for home, value in loaded("cotrace.formats").items():
        missing = [name for name in _NEEDED if not hasattr(value, name)]
        if missing:
            raise UsageError(
                f"{home} is not a log format: {', '.join(missing)} missing; add them as ingest/adapters.py states, or uninstall the package"
            )
        yield home, [value]


def _offered(module: ModuleType) -> Iterable[Adapter]:
    several: Iterable[Adapter] | None = getattr(module, "ADAPTERS", None)
    one: Any = module
    return [one] if several is None else several


def formats() -> list[tuple[str, str]]:
    """Name of each format, and what it is in a line."""
    return [(known.FORMAT, (known.__doc__ or "").strip().split("\n")[0]) for known in adapters()]


def adapter(name: str) -> Adapter:
    """The adapter of a format.

    Raises:
        UsageError: there is none; suggests the nearest name.
    """
    known = {reader.FORMAT: reader for reader in adapters()}
    if name in known:
        return known[name]
    hint = near(name, known, f"give one of {', '.join(known)}, or leave it out")
    raise UsageError(f"no log format {name!r}{hint} (`cotrace formats` lists them)")


def companions(reader: Adapter, path: Path) -> tuple[Path, ...]:
    """Files next to a log without which it cannot be read whole: when they change, it is read again."""
    find = getattr(reader, "companions", None)
    found: tuple[Path, ...] = () if find is None else find(path)
    return found


def resembled(head: bytes, name: str) -> Adapter | None:
    """The adapter whose log a file that none reads seems to be, damaged; None if there is none."""
    return next((known for known in adapters() if getattr(known, "resembles", lambda *_: False)(head, name)), None)


def recognise_by_keys(data: bytes) -> Adapter | None:
    """The adapter one of whose sets of top-level keys (`KEYS`) a JSON document has, and all of whose `MARKS`; None where there is none."""
    keys = top_keys(data)
    return next((known for known in adapters() if _has(known, keys, data)), None)


def _has(known: Adapter, keys: frozenset[str], data: bytes) -> bool:
    named = any(needed <= keys for needed in getattr(known, "KEYS", ()))
    return named and all(mark.search(data) for mark in getattr(known, "MARKS", ()))


def recognise(head: bytes) -> Adapter | None:
    """The adapter that reads files with these first bytes; None if no format is known to begin so.

    cotrace's own log is asked before the others are imported, which takes longer than reading fifty games.
    """
    own: Any = importlib.import_module(_OWN_LOG)
    return own if own.sniff(head) else next((known for known in adapters() if known.sniff(head)), None)
