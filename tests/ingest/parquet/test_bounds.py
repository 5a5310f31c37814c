"""A Parquet file that unpacks to far more than it is."""

from __future__ import annotations

from io import BytesIO

import polars as pl
import pytest

from ingest.foreign import chat_lines
from ingest.foreign.chat_lines import parquet_rows
from schemas.common.errors import BadInputError


@pytest.mark.parametrize(("rows", "always"), [(40, 2**23), pytest.param(1000, 2**28, marks=pytest.mark.long)])
def test_a_small_file_that_unpacks_to_gigabytes_is_refused(rows: int, always: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text of 400,000 letters, 1,000 times: the file holds it once; 4,000 times took 5 GB. In small: a 32nd of what is always read."""
    monkeypatch.setattr(chat_lines, "_ALWAYS_READ", always)
    file = BytesIO()
    pl.DataFrame({"messages": [[{"role": "user", "content": "x" * 400_000}]] * rows}).write_parquet(file)
    with pytest.raises(BadInputError, match="times its size"):
        for _ in parquet_rows(file.getvalue()):
            pass
