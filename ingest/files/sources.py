"""Which files there are: named ones, and those in named folders."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from schemas.errors import UsageError
from schemas.text import printable

_JOURNAL: Final = ".journal"
"""Next to the logs of a run that was not finished: what players have answered, so that nothing is paid twice."""
_IRREGULAR: Final = "neither a file nor a folder (a pipe, socket or device): name a log file"
_LEADS_OUT: Final = "a link that leads out of the folder, not followed: name the link itself to have it read"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file."""

    path: str
    """Absolute path; links are not resolved."""

    file: str
    """Path relative to the named folder; the name alone where the file itself was named."""

    size: int
    """Bytes."""

    named: bool
    """The user named this very file."""

    @property
    def stored_path(self) -> str:
        """The path as the store holds it: printable, and where that changes it, distinguished from others by a hash."""
        shown = printable(self.path)
        if shown == self.path:
            return shown
        return f"{shown} #{hashlib.sha256(self.path.encode(errors='surrogateescape')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Missed:
    """Something that is there but cannot be read as a log, and why."""

    found: FoundFile
    reason: str


@dataclass(slots=True)
class SourceSearch:
    """What a search found, each list sorted by path."""

    files: list[FoundFile] = field(default_factory=list)
    others: list[Missed] = field(default_factory=list)
    """Not logs: hidden folders, pipes, folders that were already searched under another name."""

    unreadable: list[Missed] = field(default_factory=list)
    """Could hold logs, but cannot be looked at."""

    missing: list[str] = field(default_factory=list)
    """Named paths where nothing is, printable."""


def search(paths: Sequence[str | Path]) -> SourceSearch:
    """Find the files under paths. Named links are followed, and in a named folder those that stay in it; each folder is searched once.

    Raises:
        UsageError: none of the paths exists.
    """
    found = SourceSearch()
    seen_folders: set[tuple[int, int]] = set()
    for path in paths:
        _named(os.path.abspath(path), found, seen_folders)  # noqa: PTH100  # resolve() would follow links
    if found.missing and len(found.missing) == len(paths):
        raise UsageError(f"no file or folder {', '.join(found.missing)}: check the path")
    found.files = list({file.path: file for file in reversed(found.files)}.values())
    found.files.sort(key=lambda file: file.path)
    return found


def _named(path: str, found: SourceSearch, seen_folders: set[tuple[int, int]]) -> None:
    this = FoundFile(path=path, file=Path(path).name, size=0, named=True)
    try:
        status = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        found.missing.append(printable(path))
        return
    except OSError as error:
        found.unreadable.append(Missed(this, cannot_read(error)))
        return
    if stat.S_ISDIR(status.st_mode):
        _folder(path, found, seen_folders)
    elif stat.S_ISREG(status.st_mode):
        found.files.append(replace(this, size=status.st_size))
    else:
        found.unreadable.append(Missed(this, _IRREGULAR))


def _folder(top: str, found: SourceSearch, seen: set[tuple[int, int]]) -> None:
    """Search a folder and those in it; not recursive, since a tree may be deeper than Python's stack."""
    waiting = [FoundFile(path=top, file=".", size=0, named=True)]
    while waiting:
        folder = waiting.pop()
        try:
            status = Path(folder.path).stat()
            entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
        except OSError as error:
            found.unreadable.append(Missed(folder, cannot_read(error)))
            continue
        if (status.st_dev, status.st_ino) in seen:
            found.others.append(Missed(folder, "a folder that was already searched"))
            continue
        seen.add((status.st_dev, status.st_ino))
        waiting.extend(_inner_folders(top, entries, found))


def _inner_folders(top: str, entries: Sequence[os.DirEntry[str]], found: SourceSearch) -> Iterator[FoundFile]:
    inside = os.path.join(os.path.realpath(top), "")  # noqa: PTH118 - with a separator at the end
    for entry in entries:
        this = FoundFile(path=entry.path, file=os.path.relpath(entry.path, top), size=0, named=False)
        try:
            status = entry.stat()
        except OSError as error:
            found.unreadable.append(Missed(this, cannot_read(error)))
            continue
        if entry.is_symlink() and not os.path.join(os.path.realpath(entry.path), "").startswith(inside):  # noqa: PTH118
            found.unreadable.append(Missed(this, _LEADS_OUT))
        elif entry.name == _JOURNAL:
            found.others.append(Missed(this, "replies that cotrace has stored of games that were not finished"))
        elif stat.S_ISREG(status.st_mode):
            found.files.append(replace(this, size=status.st_size))
        elif not stat.S_ISDIR(status.st_mode):
            found.others.append(Missed(this, _IRREGULAR))
        elif entry.name.startswith("."):
            found.others.append(Missed(this, "a hidden folder, not searched: name it to have it searched"))
        else:
            yield this


def cannot_read(error: OSError) -> str:
    """Why a file or folder cannot be read, and the fix."""
    if isinstance(error, FileNotFoundError):
        return "a link that leads nowhere: fix or remove it"
    if error.errno == errno.ELOOP:
        return "a link that leads back to itself: remove it"
    return f"cannot be read ({error.strerror or error}): make it readable (chmod u+r)"
