"""Single messages that stand without their game: what a family brings as `judges.<family>.messages`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from schemas.common.errors import UsageError
from schemas.families import modules
from schemas.store.store import Store


class AnnotatedMessages(NamedTuple):
    """Messages and what people wrote that they claim."""

    messages: Sequence[Any]
    """Of the family's own type."""
    refused: Sequence[str]
    """Lines that cannot be used: where, what, why, the fix."""
    ambiguous: int
    """Annotations left out because a careful reader could decide otherwise."""
    not_annotated: int

    @property
    def key(self) -> str:
        """Made from the contents: the same messages have the same key."""
        return hashlib.blake2b(repr(self.messages).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class FamilyMessages(Protocol):
    """A module of this face reads a family's messages."""

    @property
    def claims_of(self) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        """A record of a file, read by rules: `{id, claims}`. Raises BadInputError."""
        ...

    @property
    def annotated_messages(self) -> Callable[[Path, Path], AnnotatedMessages]:
        """The messages of a file and what another says that they claim. Raises UsageError."""
        ...

    @property
    def put_messages(self) -> Callable[[AnnotatedMessages, Store], None]:
        """Makes a store of them, if it is none already. Raises StoreError."""
        ...


def messages_of(benchmark: str | None) -> FamilyMessages:
    """The family's module; without a name, that of the only family that has one.

    Raises:
        UsageError: the family has none, or several have one and none is named.
    """
    found = dict(modules("judges", "messages"))
    if benchmark is None and len(found) > 1:
        raise UsageError(f"whose messages are they? add --benchmark {' or --benchmark '.join(found)}")
    name = benchmark or next(iter(found), "")
    if name not in found:
        raise UsageError(f"--benchmark {name}: single messages are read of {', '.join(found)}")
    return cast("FamilyMessages", found[name])
