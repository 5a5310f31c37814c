"""What earlier starts of a run have paid: a budget is one of the run, however often it is started."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson

from providers.asker import JournalEntry


def spent_before(logs: Iterable[Path], replies: Iterable[JournalEntry]) -> float:
    """USD that the calls in the logs and the replies of a journal have cost, each call once; a call without price costs nothing.

    Raises:
        OSError: a log cannot be read.
    """
    costs = {entry.call.call_id: entry.call.cost or 0.0 for entry in replies}
    for log in logs:
        costs |= dict(_calls(log))
    return sum(costs.values())


def _calls(log: Path) -> Iterable[tuple[str, float]]:
    for line in log.read_bytes().split(b"\n")[:-1]:  # a last line that was cut off has its calls in the journal
        if b'"call_id"' in line:
            for call in orjson.loads(line).get("calls", ()):
                yield call["call_id"], call["cost"] or 0.0
