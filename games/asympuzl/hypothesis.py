"""Working hypotheses: what the actions of an answer do to them (format description, sections 5 and 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.asympuzl.answer import RequestedAction
from games.asympuzl.puzzle import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """An action and its effect; an invalid one has none."""

    index: int
    """From 0, place in the list of actions."""

    request: RequestedAction
    before: Entry | None
    """What stood at the position; None where there is no such position."""

    after: Entry | None
    changed: bool
    right_before: bool | None
    """Whether the entry was right; None where there is no such position."""

    right_after: bool | None

    @property
    def valid(self) -> bool:
        """Whether it was carried out."""
        return self.request.fault is None

    @property
    def takes_back(self) -> bool:
        """Whether it makes a right entry wrong."""
        return bool(self.right_before) and not self.right_after


def apply(
    hypothesis: Sequence[Entry], requests: Sequence[RequestedAction], truth: Sequence[Entry]
) -> tuple[tuple[Entry, ...], tuple[Applied, ...]]:
    """Carry out actions in order; gives the new hypothesis and what each action did."""
    entries = list(hypothesis)
    done: list[Applied] = []
    for index, request in enumerate(requests):
        place = request.replace - 1 if request.replace is not None and 1 <= request.replace <= len(entries) else None
        before = None if place is None else entries[place]
        written = request.entry
        if place is not None and written is not None:
            entries[place] = written
        after = None if place is None else entries[place]
        done.append(
            Applied(
                index=index,
                request=request,
                before=before,
                after=after,
                changed=before != after,
                right_before=None if place is None else before == truth[place],
                right_after=None if place is None else after == truth[place],
            )
        )
    return tuple(entries), tuple(done)
