"""Judges' answers and labels of many tests in one store: each test has a rubric of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from schemas.records import JudgeRun, Label, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, store_with

Test = TypeVar("Test", bound=Callable[..., None])


class Given:
    """Collects what decorators of tests give, while a file is imported."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Any]] = {"judge_runs": [], "verdicts": [], "labels": []}

    def __call__(
        self, runs: Sequence[JudgeRun], verdicts: Iterable[Verdict], labels: Iterable[Label] = (), *, rubric: str | None = None
    ) -> Callable[[Test], Test]:
        """The test looks at these rows, which get the test's name as their rubric where no other is named."""

        def register(test: Test) -> Test:
            name = test.__name__
            own = {run.judge_run_id: f"{run.judge_run_id} of {name}" for run in runs}
            self._rows["judge_runs"] += [run._replace(judge_run_id=own[run.judge_run_id], rubric=rubric or name) for run in runs]
            self._rows["verdicts"] += [one._replace(judge_run_id=own[one.judge_run_id], rubric=rubric or name) for one in verdicts]
            self._rows["labels"] += [one._replace(rubric=rubric or name) for one in labels]
            return test

        return register

    def store_in(self, folder: Path, games: Iterable[Game]) -> Store:
        """A new store with these games and all that was given."""
        store = store_with(folder, games)
        with store.writing() as connection:
            batches.insert(connection, batches.to_arrow(self._rows))
        return store
