"""Claims of games in the store: read where they are not there yet, and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judges.claims.readers import read_by
from judges.claims.rows import rows_of
from judges.claims.texts import texts
from judges.evidence.reader import Reader
from schemas.batches import checked
from schemas.records import Call, Claim
from schemas.store import Store
from schemas.transaction import Transaction

if TYPE_CHECKING:
    import polars as pl


_EARLIER = "reader = ? AND (episode_id, turn, seq) IN (SELECT (unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::BIGINT[])))"


def stored_claims(store: Store, reader: Reader, where: str | None) -> pl.DataFrame:
    """The rows of the table `claims` by a reader on the selected turns; what the rules read is read anew, for they get better.

    Raises:
        StoreError: the store cannot be read or written.
        UsageError: the condition is no SQL.
    """
    import polars as pl

    store.create()  # one that an older cotrace has made may lack the table
    rows = list(_rows(store, reader, where))
    if reader.rules:
        put(store, reader.name, rows)
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(Claim._fields, pl.String))
    return pl.DataFrame(rows, schema=Claim._fields, orient="row", infer_schema_length=None)  # the first hundred may all lack a column


def _rows(store: Store, reader: Reader, where: str | None) -> Iterator[Claim]:
    for text in texts(store, where, reader):
        found = read_by(text.game, text.turn, text.said, reader)
        if found is not None:
            yield from rows_of(found, text.place, reader.name if reader.rules else reader.stored or reader.name)


def put(store: Store, reader: str, rows: Sequence[Claim], calls: Sequence[Call] = ()) -> None:
    """Write a reader's claims of some texts in place of what it had said of them, and what was asked for them.

    Raises:
        StoreError: the store cannot be written.
    """
    places = sorted({(row.episode_id, row.turn, row.seq) for row in rows})
    columns = checked({"claims": rows, "calls": calls})

    def write(transaction: Transaction) -> None:
        transaction.delete("claims", _EARLIER, [reader, *([place[at] for place in places] for at in range(3))])
        transaction.delete("calls", "call_id IN (SELECT unnest(?::VARCHAR[]))", [[call.call_id for call in calls]])
        transaction.insert_columns(columns)

    store.transact(write)
