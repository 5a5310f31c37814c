"""Where a lake is: a folder, or a bucket of an object store."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.common.errors import StoreError, UsageError
from schemas.common.packages import needed
from schemas.store.lake.files import TABLE

if TYPE_CHECKING:
    import duckdb
    from deltalake import DeltaTable

    from schemas.store.lake.files import DataFile
    from schemas.store.lake.remote_files import LakeFiles


_OWN: Final = "_cotrace"
"""Folder next to the data for other files; Delta passes over names that begin so."""
_OF_DATA: Final = f"{TABLE}="
"""How names of the folders begin that a lake's data lies in."""
_LOG: Final = "_delta_log"
_LONGEST: Final = 200
_FIX: Final = "make it readable and writable (chmod u+rwX), or name another place with --store"


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
    """Options for deltalake, besides the address."""

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
                f"lake:{self.uri} has lost its log, without which its files mean nothing: put a copy of _delta_log back, "
                "or name a new folder with --store"
            )
        raise StoreError(
            f"lake:{self.uri} is not a lake, and holds other files, such as {names[0]}: name a new or an empty folder with --store"
        )

    def holds_table(self) -> bool:
        """Whether there is a Delta table."""
        from deltalake import DeltaTable

        with self.one_line_errors():
            return DeltaTable.is_deltatable(self.uri, self.options)

    @contextmanager
    def one_line_errors(self) -> Iterator[None]:
        """Say in one line why deltalake or the file system cannot do what it is asked for.

        Raises:
            StoreError: the reason.
        """
        from deltalake.exceptions import DeltaError

        full = os.strerror(errno.ENOSPC)
        try:
            yield
        except (DeltaError, OSError) as error:
            if full in str(error):
                raise StoreError(f"lake {self.uri} cannot be written ({full}): free some space and try again") from error
            raise StoreError(f"lake {self.uri} cannot be used: {_reason(error)}") from error

    @contextmanager
    def receiving(self) -> Iterator[Path]:
        """A folder into which files are written, in the lake's own order; they are in the lake's place on leaving.

        Raises:
            StoreError: they cannot be written.
        """
        import duckdb

        with self.one_line_errors():
            try:
                yield Path(self.uri)
            except duckdb.IOException as error:
                raise OSError(str(error).splitlines()[0].removeprefix("IO Error: ")) from error

    def drop(self, logged: str) -> None:
        """Delete a file that no version of the lake names."""
        with self.one_line_errors():
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
        empty = next((entry for entry in entries if (reported := _state_of(entry)) and reported[-1] == 0), None)
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
        """Be informed of files of the lake: a connection can read no others."""

    def committed(self) -> None:
        """Be informed that this process has committed."""


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
    """What an error reports, without the colours and arrows of deltalake's."""
    return " ".join(re.sub(r"\x1b\[\d+m|↳", " ", str(error)).split())


def _reason(error: Exception) -> str:
    """What the file system reports, or the first line of what deltalake reports, without its stack; with the fix."""
    if isinstance(error, OSError):
        return f"{f'{error.filename}: {error.strerror}' if error.filename else in_one_line(error)}; {_FIX}"
    text = str(error)
    line = text.strip().splitlines()[0][:_LONGEST] if text.strip() else type(error).__name__
    if "Could not create local directory" in line:
        return f"{line}; {_FIX}"
    if "Kernel error" not in line and "log" not in line.lower():
        return line
    return f"{line}; if files in _delta_log are cut or missing, put a copy of them back, or ingest the logs again into another folder"


class Kind(NamedTuple):
    """An object store that lakes can lie in."""

    package: str
    """Gives fsspec's file system."""
    options: Mapping[str, str]
    """For deltalake; keys, region and endpoint it finds in the environment."""
    credentials: str
    """How somebody brings theirs."""


KINDS: Final[Mapping[str, Kind]] = {
    "s3": Kind("s3fs", {"conditional_put": "etag"}, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"),
    "gs": Kind("gcsfs", {}, "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account"),
}
"""By scheme."""

_REASONS: Final = (
    (r"169\.254\.169\.254|metadata\.google|locate credentials|no.{,20}credentials", "no credentials were found: {credentials}"),
    (r"NoSuchBucket|bucket does not exist", "there is no such bucket: make it first, or name another"),
    (r"\b403\b|AccessDenied|Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch", "the object store refuses these credentials"),
    (r"onnect|dns error|resolve", "the object store cannot be reached{endpoint}: is the address right, and the server up?"),
)
"""What is found in the words of deltalake, botocore and fsspec, and what it means; the first that fits counts."""
_LOOKS_EVERY_S: Final = 1.0


class Bucket(Place):
    """A lake's place in an object store."""

    def __init__(self, uri: str) -> None:  # a bucket is not a folder: nothing of Place's is wanted
        self.uri = uri
        self.scheme = uri.partition(":")[0]
        self.kind = KINDS[self.scheme]
        self.options = dict(self.kind.options)
        name = f"{re.sub(r'[^A-Za-z0-9]+', '-', uri)[:60]}-{hashlib.blake2b(uri.encode(), digest_size=6).hexdigest()}"
        self.own = self.disk = _state_folder() / name
        self._known: dict[str, int] = {}
        self._files: LakeFiles | None = None
        self._lock = threading.Lock()
        self._newest: Seen | None = None
        self._looked = -float("inf")

    def __reduce__(self) -> tuple[Any, ...]:
        return bucket_at, (self.uri,)

    @contextmanager
    def one_line_errors(self) -> Iterator[None]:
        """Say in one line why the object store does not do what it is asked for."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # deltalake, botocore, aiohttp and gcsfs have errors of their own, without a common parent
            raise StoreError(f"lake {self.uri}: {self._why(error)}") from error

    def _why(self, error: Exception) -> str:
        words = in_one_line(error)
        for pattern, meaning in _REASONS:
            if re.search(pattern, words):
                endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
                return meaning.format(credentials=self.kind.credentials, endpoint=f" at {endpoint}" if endpoint else "")
        return words[:300] or type(error).__name__

    @contextmanager
    def receiving(self) -> Iterator[Path]:
        """A folder of this machine, whose files are taken to the bucket on leaving, several at once.

        Raises:
            StoreError: the folder for temporary files has no space, or the bucket does not take them.
        """
        with self._explaining_full_disk(), tempfile.TemporaryDirectory(prefix="cotrace-lake-") as name:
            yield Path(name)
            paths = [str(path) for path in Path(name).rglob("*") if path.is_file()]
            if paths:
                with self.one_line_errors():
                    self._remote().put(paths, [f"{self.uri}/{Path(path).relative_to(name).as_posix()}" for path in paths])

    @contextmanager
    def _explaining_full_disk(self) -> Iterator[None]:
        import duckdb

        full = os.strerror(errno.ENOSPC)
        try:
            yield
        except (OSError, duckdb.IOException) as error:
            if full not in str(error):
                raise
            raise StoreError(
                f"lake:{self.uri}: {full.lower()} for temporary files in {tempfile.gettempdir()}: "
                "free some space there, or set TMPDIR to another folder, and start the same command again"
            ) from error

    def drop(self, logged: str) -> None:
        """Delete a file that no version of the lake names."""
        with self.one_line_errors():
            self._remote().rm_file(f"{self.uri}/{logged}")

    def serve(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection read the lake's files; threads of a process that open the same database share what is registered."""
        from schemas.store.lake.remote_files import LakeFiles

        if self._files is None:
            with self.one_line_errors():
                self._files = LakeFiles(self.scheme, self._remote(), self._known)
        if not connection.filesystem_is_registered(self.scheme):
            connection.register_filesystem(self._files)

    def know(self, files: Iterable[DataFile]) -> None:
        """Be informed of files of the lake."""
        self._known.update((file.path, file.bytes) for file in files)

    def committed(self) -> None:
        """Be informed that this process has committed: whoever asks for the state looks at once."""
        self._looked = -float("inf")

    def state(self) -> tuple[object, ...]:
        """The lake's newest version, asked for at most once a second: by three requests, and two more for each commit since."""
        from deltalake.exceptions import TableNotFoundError

        with self._lock, self.one_line_errors():
            if time.monotonic() - self._looked > _LOOKS_EVERY_S:
                try:
                    self._newest = self.newest(self._newest)
                except TableNotFoundError:
                    self._newest = None
                self._looked = time.monotonic()
            return self.uri, (self._newest.version, self._newest.mark) if self._newest else None

    def mark(self, version: int) -> object:
        """What tells a version of this lake from the same version of one that lies here later; None: the version is not there."""
        try:
            reported: dict[str, Any] = self._remote().info(f"{self.uri}/{version_file(version)}")
        except FileNotFoundError:
            return None
        return reported.get("ETag") or reported.get("etag")

    def _remote(self) -> Any:
        import fsspec

        return fsspec.filesystem(self.scheme, use_listings_cache=False)


@cache
def bucket_at(uri: str) -> Bucket:
    """The one of an address.

    Raises:
        UsageError: no such addresses are known, or the package that they need is not installed.
    """
    scheme, _, rest = uri.partition("://")
    if scheme not in KINDS:
        raise UsageError(f"lake:{uri}: a lake lies in a folder, or at {' or '.join(f'{known}://BUCKET/PREFIX' for known in KINDS)}")
    if not all(rest.partition("/")[::2]) or set("*?[]'\"") & set(rest):
        raise UsageError(f"lake:{uri}: write lake:{scheme}://BUCKET/PREFIX")
    needed(KINDS[scheme].package, f"a lake at {scheme}://")
    return Bucket(uri)


def _state_folder() -> Path:
    """Where programs store what must outlive them and is not a setting: journals are paid for, so no cache."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "cotrace" / "lakes"


_REMOTE: Final = re.compile(r"^(\w+):/+(?=[^/])")
_UNUSABLE: Final = re.compile(r"[%\\\x00-\x1f\x7f]")
"""What deltalake takes for an escape or a separator, or refuses."""


def place_of(name: str | Path) -> Place:
    """The place that a folder's name or an address means (`games`, `s3://bucket/games`; `s3:/bucket/games` is the same).

    Raises:
        UsageError: no such addresses are known, the package that they need is not installed, or the folder's name cannot be used.
    """
    if _REMOTE.match(str(name)) is None:
        place = Place(os.path.expanduser(name))  # noqa: PTH111 - no shell does behind `lake:`; pathlib raises where there is no such user
        if found := _UNUSABLE.search(place.uri):
            raise UsageError(
                f"lake:{name}: deltalake cannot write to a path with {found.group()!r} in it: name another folder with --store"
            )
        if Path(place.uri).is_file():
            raise UsageError(f"lake:{name} is a file, and a lake is a folder: name a folder, or leave out lake: for a DuckDB file")
        if place.uri == place.disk.root:
            raise UsageError(f"lake:{name}: the root of all folders cannot be a lake: name a folder in it")
        return place
    return bucket_at(_REMOTE.sub(r"\1://", str(name)).rstrip("/"))
