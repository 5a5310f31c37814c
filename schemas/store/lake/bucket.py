"""A lake in a bucket: deltalake writes its log there, fsspec takes data files to and fro, DuckDB reads them through `LakeFiles`.

What changes is small and lies on this machine: the views, which are made anew wherever they are missing, and the journals of scoring runs.
"""

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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.common.errors import StoreError, UsageError
from schemas.common.extras import needed
from schemas.store.lake.place import Place, Seen, in_one_line, version_file

if TYPE_CHECKING:
    import duckdb

    from schemas.store.lake.files import DataFile
    from schemas.store.lake.remote_files import LakeFiles

__all__ = ["KINDS", "Bucket", "bucket_at"]


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

    def __init__(self, uri: str) -> None:  # a bucket is no folder: nothing of Place's is wanted
        self.uri = uri
        self.scheme = uri.partition(":")[0]
        self.kind = KINDS[self.scheme]
        self.options = dict(self.kind.options)
        self.own = self.disk = _state_folder() / _name_of(uri)
        self._known: dict[str, int] = {}
        self._files: LakeFiles | None = None
        self._lock = threading.Lock()
        self._newest: Seen | None = None
        self._looked = -float("inf")

    def __reduce__(self) -> tuple[Any, ...]:
        return bucket_at, (self.uri,)

    @contextmanager
    def told(self) -> Iterator[None]:
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
            StoreError: the folder for temporary files has no room, or the bucket does not take them.
        """
        with self._room_told(), tempfile.TemporaryDirectory(prefix="cotrace-lake-") as name:
            yield Path(name)
            paths = [str(path) for path in Path(name).rglob("*") if path.is_file()]
            if paths:
                with self.told():
                    self._remote().put(paths, [f"{self.uri}/{Path(path).relative_to(name).as_posix()}" for path in paths])

    @contextmanager
    def _room_told(self) -> Iterator[None]:
        import duckdb

        full = os.strerror(errno.ENOSPC)
        try:
            yield
        except (OSError, duckdb.IOException) as error:
            if full not in str(error):
                raise
            raise StoreError(
                f"lake:{self.uri}: {full.lower()} for temporary files in {tempfile.gettempdir()}: "
                "make room there, or set TMPDIR to another folder, and start the same command again"
            ) from error

    def drop(self, logged: str) -> None:
        """Delete a file that no version of the lake names."""
        with self.told():
            self._remote().rm_file(f"{self.uri}/{logged}")

    def serve(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection read the lake's files; threads of a process that open the same database share what is registered."""
        from schemas.store.lake.remote_files import LakeFiles

        if self._files is None:
            with self.told():
                self._files = LakeFiles(self.scheme, self._remote(), self._known)
        if not connection.filesystem_is_registered(self.scheme):
            connection.register_filesystem(self._files)

    def know(self, files: Iterable[DataFile]) -> None:
        """Be told of files of the lake."""
        self._known.update((file.path, file.bytes) for file in files)

    def committed(self) -> None:
        """Be told that this process has committed: whoever asks for the state looks at once."""
        self._looked = -float("inf")

    def state(self) -> tuple[object, ...]:
        """The lake's newest version, asked for at most once a second: by three requests, and two more for each commit since."""
        from deltalake.exceptions import TableNotFoundError

        with self._lock, self.told():
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
            told: dict[str, Any] = self._remote().info(f"{self.uri}/{version_file(version)}")
        except FileNotFoundError:
            return None
        return told.get("ETag") or told.get("etag")

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
    """Where programs keep what must outlive them and is no setting: journals are paid for, so no cache."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "cotrace" / "lakes"


def _name_of(uri: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', uri)[:60]}-{hashlib.blake2b(uri.encode(), digest_size=6).hexdigest()}"
