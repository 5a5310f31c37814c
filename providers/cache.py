"""The reply cache: replies by content, in a file that runs share."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from schemas.chat.messages import Completion
from schemas.common.errors import StoreError

_FILE_IN_FOLDER: Final = "answers.sqlite"
_WAIT_FOR_OTHERS_S: Final = 30.0
_REPLIES: Final = msgspec.json.Decoder(Completion)


class ReplyCache:
    """Replies by content: the same prompt, model, parameters and repeat are paid once. Several runs, also at once, can share the file.

    Raises:
        StoreError: the file cannot be opened, or is not such a file.
    """

    def __init__(self, place: Path) -> None:
        self._path = place / _FILE_IN_FOLDER if place.is_dir() else place
        self._asking: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        try:
            self._connection = sqlite3.connect(self._path, timeout=_WAIT_FOR_OTHERS_S, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, reply BLOB NOT NULL) WITHOUT ROWID")
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def asking(self, key: bytes) -> asyncio.Lock:
        """Held while the reply is looked up or asked for, so that two that ask the same do not both pay."""
        return self._asking.setdefault(key, asyncio.Lock())

    def get(self, key: bytes) -> Completion | None:
        """The stored reply, if there is one.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            with closing(self._connection.execute("SELECT reply FROM replies WHERE key = ?", [key])) as found:
                row = found.fetchone()
            return None if row is None else _REPLIES.decode(row[0])
        except (sqlite3.Error, msgspec.DecodeError) as error:
            raise self._broken(error) from error

    def put(self, key: bytes, reply: Completion, *, replaces: bool = False) -> None:
        """Store a reply; an earlier one stays, unless it is to be replaced.

        Raises:
            StoreError: the file cannot be written.
        """
        try:
            what = "REPLACE" if replaces else "IGNORE"
            self._connection.execute(f"INSERT OR {what} INTO replies VALUES (?, ?)", [key, msgspec.json.encode(reply)])
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> StoreError:
        return StoreError(f"cache {self._path} cannot be used: {error}; name another file or folder with --cache")
