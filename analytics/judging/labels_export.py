"""Labels on their way out of a store, in the columns that `cotrace labels import` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.query import query
from ingest.labels.files import COLUMNS
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["exported"]

_LABELS = f"""
SELECT {", ".join(COLUMNS)}, score, source
FROM labels
WHERE
    ($annotator IS NULL OR annotator = $annotator)
    AND CASE
        WHEN $source IS NULL THEN source != 'planted' AND NOT starts_with(source, 'planted:') AND NOT starts_with(annotator, 'llm:')
        ELSE source = $source
    END
ORDER BY ALL
"""


def exported(store: Store, *, annotator: str | None = None, source: str | None = None) -> pl.DataFrame:
    """One row a label.

    Args:
        store: where to read.
        annotator: only this person's; None: everybody's.
        source: only labels of this source; None: all that people gave.

    Raises:
        StoreError: the store cannot be read.
    """
    return query(store, _LABELS, {"annotator": annotator, "source": source})
