"""Bodies of replies, unpacked as they come, and of bounded size however they are packed."""

from __future__ import annotations

import zlib
from typing import Final

from providers.faults import DamagedError, OversizeError

__all__ = ["Counted"]

_UNPACKED: Final = frozenset({"", "identity"})
_PACKED: Final = frozenset({"gzip", "deflate"})
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32


class Counted:
    """Unpacks a body as it comes, and stops where it grows too large.

    Args:
        most_bytes: of the body, packed and unpacked.
        encoding: what the header `Content-Encoding` says; empty if there is none.

    Raises:
        OversizeError: it is packed in a way that was not asked for.
    """

    def __init__(self, most_bytes: int, encoding: str) -> None:
        encoding = encoding.strip().lower()
        if encoding not in _UNPACKED | _PACKED:
            raise OversizeError(f"the reply is packed as {encoding[:20]!r}, which was not asked for")
        self._most = most_bytes
        self._came = self._gave = 0
        self._unpack = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in _PACKED else None

    def take(self, chunk: bytes) -> bytes:
        """The chunk's content.

        Raises:
            OversizeError: with it, there is too much.
            DamagedError: it is not packed as was said.
        """
        self._came += len(chunk)
        content = self._unpacked(chunk)
        self._gave += len(content)
        if max(self._came, self._gave) > self._most:
            raise OversizeError(f"the reply has more than {self._most:,} bytes, which no answer takes")
        return content

    def _unpacked(self, chunk: bytes) -> bytes:
        if self._unpack is None:
            return chunk
        try:
            return self._unpack.decompress(chunk, self._most - self._gave + 1)  # one more than allowed shows that there is more
        except zlib.error as error:
            raise DamagedError(f"the reply cannot be unpacked ({error})") from error
