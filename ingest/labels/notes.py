"""Notes: what people write about turns, into the store and out of it again."""

from __future__ import annotations

from datetime import UTC, datetime
from secrets import token_hex
from typing import Final

from schemas.batches import check, to_arrow
from schemas.errors import UsageError
from schemas.records import Note
from schemas.store import Store
from schemas.transaction import Transaction

__all__ = ["LONGEST_NAME", "LONGEST_NOTE", "add_note", "remove_note"]

LONGEST_NOTE: Final = 4_000
LONGEST_NAME: Final = 60
"""Characters."""


def add_note(store: Store, episode_id: str, turn: int, *, author: str, text: str) -> Note:
    """Write a note about a turn, in one short transaction.

    Args:
        store: where.
        episode_id: the game.
        turn: from 1.
        author: who writes.
        text: what; blanks around it go.

    Raises:
        UsageError: author or text is empty or too long, or the store has no such turn.
        StoreError: the store cannot be written.
    """
    note = Note(token_hex(8), episode_id, turn, author.strip(), text.strip(), datetime.now(UTC).replace(tzinfo=None))
    if not note.author or not note.text:
        raise UsageError("a note needs a text and its author's name")
    if len(note.author) > LONGEST_NAME or len(note.text) > LONGEST_NOTE:
        raise UsageError(f"a name has at most {LONGEST_NAME} characters, a note {LONGEST_NOTE}: shorten it")
    batch = to_arrow({"notes": [note]})
    check(batch)

    def write(transaction: Transaction) -> None:
        if not transaction.execute("SELECT 1 FROM turns WHERE episode_id = ? AND turn = ?", [episode_id, turn]).fetchall():
            raise UsageError(f"the store has no turn {turn} of {episode_id} any more")
        transaction.insert(batch)

    store.transact(write)
    return note


def remove_note(store: Store, note_id: str) -> None:
    """Take a note out of the store; nothing happens where it is gone already.

    Raises:
        StoreError: the store cannot be written.
    """
    store.transact(lambda transaction: transaction.delete("notes", "note_id = ?", [note_id]))
