"""Answers by content: the same prompt, model, parameters and repeat are paid once, in whichever store they are asked for."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import orjson

from judges.evidence.prompt import Message
from judges.rubric.answer_types import Given
from providers.provider import ModelSettings
from schemas.errors import StoreError

__all__ = ["AnswerCache", "CacheKey"]

_FILE_IN_FOLDER: Final = "answers.sqlite"
_WAIT_FOR_OTHERS_S: Final = 30.0

CacheKey = bytes


class AnswerCache:
    """A file of answers that several runs, also at once, can share.

    Raises:
        StoreError: the file cannot be opened, or is no such file.
    """

    def __init__(self, place: Path, settings: ModelSettings) -> None:
        self._path = place / _FILE_IN_FOLDER if place.is_dir() else place
        self._of_model = orjson.dumps([settings.model, settings.answering()], option=orjson.OPT_SORT_KEYS)
        self._asking: dict[CacheKey, asyncio.Lock] = {}
        try:
            self._connection = sqlite3.connect(self._path, timeout=_WAIT_FOR_OTHERS_S, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answers BLOB NOT NULL) WITHOUT ROWID")
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def key(self, messages: Sequence[Message], repeat: int) -> CacheKey:
        """What an answer is kept under; the messages hold questions and possible answers too."""
        content = orjson.dumps([messages, repeat])
        return hashlib.blake2b(self._of_model + content, digest_size=16).digest()

    def asking(self, key: CacheKey) -> asyncio.Lock:
        """Held while the answer is looked up or asked for, so that two units that look the same do not both pay."""
        return self._asking.setdefault(key, asyncio.Lock())

    def get(self, key: CacheKey) -> list[Given] | None:
        """The answers on record, if there are any.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            with closing(self._connection.execute("SELECT answers FROM answers WHERE key = ?", [key])) as found:
                row = found.fetchone()
        except sqlite3.Error as error:
            raise self._broken(error) from error
        return None if row is None else [Given(*one) for one in orjson.loads(row[0])]

    def put(self, key: CacheKey, answers: Sequence[Given]) -> None:
        """Put answers on record; those that are there already stay.

        Raises:
            StoreError: the file cannot be written.
        """
        try:
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", [key, orjson.dumps([list(one) for one in answers])])
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _broken(self, error: sqlite3.Error) -> StoreError:
        return StoreError(f"cache {self._path} cannot be used: {error}; name another file or folder with --cache")
