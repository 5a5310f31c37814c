"""Changed: CPU seconds of the heaviest pages right after one game has come, and again with nothing changed; and of a search.

The store is that of the benchmark `browser`: 250 CRAFT games, judged and attributed by the engine, under other ids so often that the turns
are reached: 100,000, or as many as `--turns`. Each page is drawn once, as a server that runs has drawn it; then one more game is ingested,
judged and attributed, and the page is drawn again, which is what is measured. A page is the whole answer of the server, all of its cards
drawn; user and system time of the process are counted, with as many threads of DuckDB as there are cores. The ratio is to the goal: 2 s a
page right after the change, 0.3 s for a million utterances searched.
"""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.browser import filled
from benchmarks.figures import Figure, seconds, table
from benchmarks.pages import draw
from benchmarks.timing import Measured, measured
from benchmarks.workload import RUBRICS, craft_games, scratch
from dashboards.address import Address
from dashboards.reader import forget_kept
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run as judge
from schemas.store.store import Store

__all__ = ["run"]

_PLAYED: Final = 250
_PAGE_S: Final = 2.0
_SEARCH_S: Final = 0.3
_PAGES: Final = {
    "Overview": "/",
    "Why": "/why",
    "Remove gap": "/remove-gap",
    "Effects": "/effects",
    "Judges, agreement": "/judges?rubric={rubric}&show=agreement",
    "Judges, corrected": "/judges?rubric={rubric}&show=corrected",
}
_WORDS: Final = ("layer", "orange corner", "zzzz")
"""Of a search: a common word, two that are rarer together, and one that is nowhere."""
_COUNTS: Final = """
    SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM utterances),
        (SELECT rubric FROM judge_runs GROUP BY rubric ORDER BY count(DISTINCT judge) DESC, rubric LIMIT 1)
"""
"""Turns, utterances, and the rubric that most judges have answered."""


def run(sizes: Sequence[int] = (100_000,), store: Path | None = None) -> list[Figure]:
    """Measure, at each number of turns, or in a store that is there: the games that change it stay in it.

    Each figure is printed as soon as it is there, to the second output; of a page that fails its error stands in its place.
    """
    stores = [Store(store)] if store else [filled(craft_games(_PLAYED), size) for size in sizes]
    figures = []
    for one in stores:
        for figure in _measured(one):
            print(table([figure]).splitlines()[-1], file=sys.stderr, flush=True)
            figures.append(figure)
    return figures


def _measured(store: Store) -> Iterator[Figure]:
    turns, utterances, rubric = _row(store, _COUNTS)
    for name, address in _PAGES.items():
        page = partial(draw, store, Address.parse(*address.format(rubric=rubric).partition("?")[::2]))
        before = partial(_drawn_and_changed, page, store)
        yield _tried(f"{name}, {turns:,} turns, right after a change", page, _PAGE_S, before, again=True)
    for words in _WORDS:
        search = partial(draw, store, Address("/search", {"q": (words,)}))
        search()  # what follows from a change alone
        yield _tried(f"search for {words}, {utterances:,} utterances", search, _SEARCH_S * utterances / 1e6, forget_kept)


def _tried(
    name: str, page: Callable[[], object], goal: float, prepare: Callable[[], object] = lambda: None, *, again: bool = False
) -> Figure:
    try:
        taken = measured(page, prepare)
        return _held(f"{name}; again in {_in_words(measured(page))}" if again else name, taken, goal)
    except Exception as error:  # noqa: BLE001 - the other pages are measured all the same
        return Figure(name, f"failed: {type(error).__name__}: {str(error)[-200:]}", seconds(goal), math.inf, "<= 1", met=False)


def _held(name: str, taken: Measured, goal: float) -> Figure:
    return Figure(name, _in_words(taken), seconds(goal), taken.cpu_s / goal, "<= 1", taken.cpu_s <= goal)


def _in_words(taken: Measured) -> str:
    return f"{seconds(taken.cpu_s)} of CPU ({seconds(taken.wall_s)} by the clock)"


def _drawn_and_changed(page: Callable[[], object], store: Store) -> None:
    page()
    change(store)


def change(store: Store) -> None:
    """One more game comes, and is judged and attributed."""
    (episodes,) = _row(store, "SELECT count(*) FROM episodes")
    log = scratch() / f"change-{episodes}.json"
    log.write_bytes(craft_games(1)[0].read_bytes() + b"\n" * episodes)  # the same bytes again would be left out
    assert ingest_paths([log], store, workers=1).ingested == 1
    (episode,) = _row(store, f"SELECT episode_id FROM episodes INNER JOIN sources USING (source_id) WHERE path = '{log.resolve()}'")
    for rubric in RUBRICS:
        judge(JudgeRequest(rubric=find(rubric), where=f"episode_id = '{episode}'"), store)
    attribute_games(store, where=f"episode_id = '{episode}'")


def _row(store: Store, sql: str) -> tuple[Any, ...]:
    with store.reading() as connection:
        (row,) = connection.execute(sql).fetchall()
    return tuple(row)
