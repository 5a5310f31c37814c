"""Where a lake lies: in a folder here; `schemas.store.lake.bucket` has those in an object store."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.common.errors import StoreError
from schemas.store.lake.layout import TABLE

if TYPE_CHECKING:
    import duckdb
    from deltalake import DeltaTable

    from schemas.store.lake.files import DataFile

__all__ = ["Address", "Place", "Seen", "in_one_line", "version_file"]

_OWN: Final = "_cotrace"
"""Folder beside the data for what is no data; Delta passes over names that begin so."""
_OF_DATA: Final = f"{TABLE}="
"""How names of the folders begin that a lake's data lies in."""
_LOG: Final = "_delta_log"
_LONGEST: Final = 200
_MEND: Final = "make it readable and writable (chmod u+rwX), or name another place with --store"


class Address(PosixPath):
    """A path that may hold an address, of which a plain one would take the second slash: `lake:s3://bucket/games`."""

    def __str__(self) -> str:
        return re.sub(r"^(lake:\w+):/(?=[^/])", r"\1://", super().__str__())


class Seen(NamedTuple):
    """A Delta table as it was at a look at it."""

    delta: DeltaTable
    version: int
    mark: object


class Place:
    """A folder of this machine, or of a file system that it has mounted."""

    options: dict[str, str] | None = None
    """What deltalake is told beside the address."""

    def __init__(self, folder: str | Path) -> None:
        path = Path(folder).absolute()
        self.uri = str(path.resolve() if ".." in path.parts else path)
        """What deltalake calls it, and how the names of all its files begin."""
        self.own = Path(self.uri) / _OWN
        """A folder of this machine for views and journals."""
        self.disk = Path(self.uri).parent
        """Where it takes up space on this machine."""

    def delta(self, version: int | None = None) -> DeltaTable:
        """The Delta table as it is now, or as it was.

        Raises:
            TableNotFoundError: there is none.
        """
        from deltalake import DeltaTable

        return DeltaTable(self.uri, version=version, storage_options=self.options)

    def refuse_strangers(self) -> None:
        """Refuse to become a lake where other files lie: a folder of logs that is read again, or a lake that has lost its log.

        Raises:
            StoreError: there are some.
        """
        folder = Path(self.uri)
        names = [found.name for found in (folder.iterdir() if folder.is_dir() else ()) if not found.name.startswith((".", "_"))]
        if not names or self.holds_table():  # another process may have just made it, and written to it
            return
        if any(name.startswith(_OF_DATA) for name in names):
            raise StoreError(
                f"lake:{self.uri} has lost its log, without which its files are nobody's: put a copy of _delta_log back, "
                "or name a new folder with --store"
            )
        raise StoreError(
            f"lake:{self.uri} is no lake, and holds other files, such as {names[0]}: name a new or an empty folder with --store"
        )

    def holds_table(self) -> bool:
        """Whether there is a Delta table."""
        from deltalake import DeltaTable

        with self.told():
            return DeltaTable.is_deltatable(self.uri, self.options)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in one line why deltalake or the file system cannot do what it is asked for.

        Raises:
            StoreError: what it says.
        """
        from deltalake.exceptions import DeltaError

        full = os.strerror(errno.ENOSPC)
        try:
            yield
        except (DeltaError, OSError) as error:
            if full in str(error):
                raise StoreError(f"lake {self.uri} cannot be written ({full}): make room and try again") from error
            raise StoreError(f"lake {self.uri} cannot be used: {_reason(error)}") from error

    @contextmanager
    def receiving(self) -> Iterator[Path]:
        """A folder into which files are written, in the lake's own order; they are in the lake's place on leaving.

        Raises:
            StoreError: they cannot be written.
        """
        import duckdb

        with self.told():
            try:
                yield Path(self.uri)
            except duckdb.IOException as error:
                raise OSError(str(error).splitlines()[0].removeprefix("IO Error: ")) from error

    def drop(self, logged: str) -> None:
        """Delete a file that no version of the lake names."""
        with self.told():
            Path(self.uri, logged).unlink(missing_ok=True)

    def serve(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection read the lake's files by their names."""

    def newest(self, seen: Seen | None) -> Seen:
        """The Delta table as it is now; one that was seen before is brought up to date, unless another lies in its place meanwhile.

        Args:
            seen: what this gave before; not to be used any more.

        Raises:
            TableNotFoundError: there is none.
        """
        from deltalake.exceptions import DeltaError

        if seen is None:
            return self._seen(self.delta())
        delta, version, mark = seen
        try:
            delta.update_incremental()
        except DeltaError:
            if self.mark(version) == mark:
                raise
        if self.mark(version) != mark:
            return self._seen(self.delta())
        return seen if delta.version() == version else self._seen(delta)

    def _seen(self, delta: DeltaTable) -> Seen:
        self._refuse_empty_entries()
        return Seen(delta, delta.version(), self.mark(delta.version()))

    def _refuse_empty_entries(self) -> None:
        """A power cut can leave entries of the log without a byte, which deltalake takes for commits of nothing.

        Raises:
            StoreError: there is one.
        """
        entries = Path(self.uri, _LOG).glob("*.json")
        empty = next((entry for entry in entries if (told := _state_of(entry)) and told[-1] == 0), None)
        if empty is not None:
            raise StoreError(
                f"lake {self.uri} has an empty entry in its log, {empty}: put a copy of it back; where there is none, "
                "delete it if it is the last, and start again what wrote it"
            )

    def mark(self, version: int) -> object:
        """What tells a version of this lake from the same version of one that lies here later; None: the version is not there."""
        return _state_of(Path(self.uri, version_file(version)))

    def state(self) -> tuple[object, ...]:
        """What changes with every commit."""
        return self.uri, _state_of(Path(self.uri, _LOG))

    def know(self, files: Iterable[DataFile]) -> None:
        """Be told of files of the lake: a connection can read no others."""

    def committed(self) -> None:
        """Be told that this process has committed."""


def version_file(version: int) -> str:
    """The entry of the log that made a version, from the lake's place."""
    return f"{_LOG}/{version:020}.json"


def _state_of(path: Path) -> tuple[int, ...] | None:
    """What differs for a file or folder that was written since, or lies in its place; None where none can be seen: reading tells why."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def in_one_line(error: Exception) -> str:
    """What an error says, without the colours and arrows of deltalake's."""
    return " ".join(re.sub(r"\x1b\[\d+m|↳", " ", str(error)).split())


def _reason(error: Exception) -> str:
    """What the file system says, or the first line of what deltalake says, below which stands its own stack; with the mend."""
    if isinstance(error, OSError):
        return f"{f'{error.filename}: {error.strerror}' if error.filename else in_one_line(error)}; {_MEND}"
    text = str(error)
    line = text.strip().splitlines()[0][:_LONGEST] if text.strip() else type(error).__name__
    if "Could not create local directory" in line:
        return f"{line}; {_MEND}"
    if "Kernel error" not in line and "log" not in line.lower():
        return line
    return f"{line}; if files in _delta_log are cut or missing, put a copy of them back, or ingest the logs again into another folder"
