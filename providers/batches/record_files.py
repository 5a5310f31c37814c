"""What is remembered of a batch between submitting and collecting it: `<run>.batch.json`, a file each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from schemas.errors import StoreError

__all__ = ["remember", "remembered"]

T = TypeVar("T")

_ENDING = ".batch.json"


def remember(folder: Path, run_id: str, record: tuple[Any, ...]) -> Path:
    """Put a record into a folder, made if it is missing, replacing an earlier one of the same run at once or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    path = folder / f"{run_id}{_ENDING}"
    unfinished = path.with_suffix(".new")
    try:
        folder.mkdir(exist_ok=True)
        unfinished.write_bytes(orjson.dumps(record, default=_content))
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(f"batch record {path} cannot be written: {error.strerror}; free some space and start again") from error
    return path


def _content(part: Any) -> Any:
    return part.model_dump(mode="json") if isinstance(part, BaseModel) else tuple(part)


def remembered(folder: Path, kind: TypeAdapter[T]) -> Iterator[tuple[Path, T]]:
    """The records of batches that were submitted and not collected.

    Raises:
        StoreError: a record is damaged.
    """
    for path in sorted(folder.glob(f"*{_ENDING}")):
        try:
            yield path, kind.validate_json(path.read_bytes())
        except ValidationError as error:
            raise StoreError(f"batch record {path} is damaged: move it away to go on without it") from error
