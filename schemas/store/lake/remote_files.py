"""The data files of a lake in a bucket, as DuckDB may see them: those that a version of the lake names, to be read and not written."""

import io
import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from fsspec.spec import AbstractFileSystem

_WHOLE_BYTES: Final = 8 << 20
"""Files up to this size are fetched whole, by one request; of larger ones only the parts that are read."""
_CACHED_BYTES: Final = 256 << 20
_BLOCK_BYTES: Final = 1 << 20
_WRITTEN: Final = datetime(2000, 1, 1, tzinfo=UTC)


class LakeFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Answers what DuckDB asks of files out of what the lake's log states, so that only their contents are fetched.

    A data file never changes, so what was fetched is cached in memory, the latest 256 MB of it.

    Args:
        scheme: how names begin that DuckDB brings here.
        remote: fsspec's file system of the object store.
        known: the lake's files, by full name, and their sizes in bytes; others cannot be opened.
    """

    cachable = False

    def __init__(self, scheme: str, remote: Any, known: Mapping[str, int]) -> None:
        super().__init__()
        self.protocol = scheme
        self._remote = remote
        self._known = known
        self._cached: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Any:
        """A file for reading.

        Raises:
            PermissionError: the lake has no such file, or it is to be written.
            FileNotFoundError: it is gone.
        """
        if mode != "rb" or path not in self._known:
            raise PermissionError(f"{path} is not a data file of this lake that could be opened as {mode}")
        if self._known[path] > _WHOLE_BYTES:
            return self._remote.open(path, "rb", block_size=_BLOCK_BYTES, cache_type="readahead")
        return io.BytesIO(self._content(path))

    def _content(self, path: str) -> bytes:
        with self._lock:
            if path in self._cached:
                self._cached.move_to_end(path)
                return self._cached[path]
        content: bytes = self._remote.cat_file(path)
        with self._lock:
            self._cached[path] = content
            while sum(map(len, self._cached.values())) > _CACHED_BYTES:
                self._cached.popitem(last=False)
        return content

    def glob(self, path: str, *_: Any, **__: Any) -> list[str]:
        """The file of that name, whether or not it can be opened; there are no patterns."""
        return [path]

    def exists(self, path: str, **_: Any) -> bool:
        """Whether the lake has it."""
        return path in self._known

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Its size."""
        return {"name": path, "size": self._known[path], "type": "file"}

    def modified(self, path: str) -> datetime:  # noqa: ARG002 - fsspec's signature
        """Always the same: files of a lake are written once."""
        return _WRITTEN
