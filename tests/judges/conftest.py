"""What tests of judges share: stores that have no views where none are asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Final

import pytest

from tests.masters import beginning_without_views, with_views

__all__ = ["with_views"]

WITHOUT_VIEWS: Final = (
    "test_judge_batch",
    "test_judge_budget",
    "test_judge_engine",
    "test_judge_faults",
    "test_judge_memory",
    "test_judge_pacing",
    "test_judge_resume",
    "test_judge_units",
    "test_optimize",
    "test_reading_jobs",
    "test_visible_evidence",
)
"""Files whose tests ask tables alone, and call no commands, which make the views."""


@pytest.fixture(scope="module", autouse=True)
def _begun(request: pytest.FixtureRequest) -> Iterator[None]:
    with beginning_without_views() if request.module.__name__.endswith(WITHOUT_VIEWS) else nullcontext():
        yield
