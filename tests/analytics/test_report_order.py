"""Reports come in one order, however the rows of the store lie: in a file they lie as they came, in a lake by run."""

from __future__ import annotations

from pathlib import Path

from analytics.installation import ensure_installed
from analytics.reports import report
from schemas.records import Reject
from schemas.store import batches
from tests.masters import begun


def test_rows_alike_in_what_a_report_is_sorted_by_have_an_order_too(tmp_path: Path) -> None:
    rejects = [Reject(source, "/logs/a.json", "line 7", "no number", "{") for source in "abcdef"]
    found = []
    for name, rows in (("as they came", rejects), ("the other way round", rejects[::-1])):
        store = begun(tmp_path / name)
        with store.writing() as connection:
            batches.insert(connection, batches.to_arrow({"rejects": rows}))
        ensure_installed(store)
        found.append(report(store, "rejects"))
    assert len(found[0]) == 6
    assert found[0].equals(found[1])
