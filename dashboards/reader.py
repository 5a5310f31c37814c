"""Reads for pages: rows under the filters of an address, stored results of heavy queries, names of teams."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import orjson

from analytics.comparison.game_values import short_names
from analytics.query import frame, one_reading
from dashboards.address import FILTERS, Address, where
from dashboards.figures import look
from judges.evidence.transcript import Transcript, read_games
from schemas.common.text import printable
from schemas.common.wording import condition_in_words, in_words
from schemas.store.stores import state_of

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from schemas.store.store import Store

T = TypeVar("T")

_MOST_BYTES: Final = 256 * 2**20
_LOCK: Final = Lock()
_FOUND: Final[OrderedDict[Hashable, tuple[Any, int]]] = OrderedDict()
"""What was found, and its size in bytes."""
_UNDER_WAY: Final[dict[Hashable, Lock]] = {}


def computed(store: Store, compute: Callable[..., pl.DataFrame], *, rubric: str) -> pl.DataFrame:
    """What `compute(store, rubric=rubric)` gives: the very numbers of `cotrace report`.

    Args:
        store: whose report.
        compute: a report.
        rubric: which rubric's rows.
    """
    return kept(store.path, (compute.__module__, compute.__qualname__, rubric), lambda: compute(store, rubric=rubric))


def _size_of_rows(rows: Any) -> int:
    return int(rows.estimated_size())


def kept(path: Path, asked: Hashable, make: Callable[[], T], *, size_of: Callable[[T], int] = _size_of_rows) -> T:
    """What `make` gives, or gave since the store last changed. Two that ask for the same at once do not compute twice: the second waits.

    Args:
        path: of the store.
        asked: what the rows are.
        make: gives them.
        size_of: bytes of what is no table.
    """
    key = (asked, *state_of(path))
    with _LOCK:
        if key in _FOUND:
            _FOUND.move_to_end(key)
            return cast("T", _FOUND[key][0])
        mine = _UNDER_WAY.setdefault(key, Lock())
    with mine:
        with _LOCK:
            if key in _FOUND:
                return cast("T", _FOUND[key][0])
        try:
            found = make()
        finally:
            with _LOCK:
                _UNDER_WAY.pop(key, None)
        with _LOCK:
            _FOUND[key] = found, size_of(found)
            while len(_FOUND) > 1 and sum(size for _, size in _FOUND.values()) > _MOST_BYTES:
                _FOUND.popitem(last=False)
    return found


def kept_already(path: Path, asked: Hashable) -> pl.DataFrame | None:
    """What `kept` gives without making anything; None where it would have to."""
    with _LOCK:
        found: pl.DataFrame | None = _FOUND.get((asked, *state_of(path)), (None, 0))[0]
        return found


def forget_kept() -> None:
    """Let everything go, as a change of the store does: for measuring what the first visit takes."""
    with _LOCK:
        _FOUND.clear()


_FAILURES: Final = """
    SELECT category, any_value(meaning)
    FROM game_categories INNER JOIN failure_kinds USING (taxonomy, category) LEFT JOIN failure_map USING (taxonomy, category)
    WHERE taxonomy = $taxonomy AND wrong GROUP BY category ORDER BY sum(turns) DESC, category
"""
_TURN_BYTES: Final = 2**16
"""Of a turn with its states and what was said: twice that of a large one."""


class Reader:
    """Queries under the filters of an address."""

    def __init__(
        self,
        store: Store,
        opened: Callable[[], duckdb.DuckDBPyConnection],
        address: Address,
        rubric_folders: Sequence[Path] = (),
        *,
        is_whole: bool = True,
    ) -> None:
        self.store = store
        """For reports that open it themselves."""
        self._opened = opened
        self.address = address
        self.rubric_folders = rubric_folders
        """Folders with rubrics of the user's own."""
        self.is_whole = is_whole
        """Cards that take long are drawn with the page; a browser asks for them one by one."""
        self.raises = False
        """An error in what a user wrote is raised; otherwise the page shows it."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """To the store, opened on the first use: that takes longer than what most steps in a game do.

        Raises:
            StoreError: the store cannot be read.
        """
        return self._opened()

    def game(self, episode_id: str) -> Transcript | None:
        """A game with all its turns, kept until the store changes; None where it is not in the store."""
        return kept(
            self.store.path,
            ("game", episode_id),
            lambda: read_games(self.connection, [episode_id]).get(episode_id),
            size_of=lambda game: len(game.turns) * _TURN_BYTES if game is not None else 0,
        )

    def at(self, address: Address) -> Reader:
        """The same store under another address."""
        other = copy(self)
        other.address = address
        return other

    def rows(
        self, sql: str, parameters: Mapping[str, object] | None = None, *, filter_on: Sequence[str] = FILTERS, at_hand: Sequence[str] = ()
    ) -> pl.DataFrame:
        """The rows of a query; they are kept until the store changes.

        Args:
            sql: `{filters}` stands for the condition that the address sets, `$name` for a parameter.
            parameters: values of the parameters.
            filter_on: the filters whose columns the query has.
            at_hand: views that this and other queries of the page read: they are computed once on its connection.
        """
        query, values = self.bound(sql, parameters, filter_on=filter_on)

        def found() -> pl.DataFrame:
            for name in at_hand:
                self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS FROM main.{name}")
            return frame(self.connection, query, values)

        return kept(self.store.path, (query, repr(values)), found)

    def bound(
        self, sql: str, parameters: Mapping[str, object] | None = None, *, filter_on: Sequence[str] = FILTERS
    ) -> tuple[str, dict[str, object]]:
        """The query under the filters of the address, and the values of all its parameters."""
        condition, filter_values = where(self.address, filter_on)
        values = {**(parameters or {}), **(filter_values if "{filters}" in sql else {})}
        return sql.replace("{filters}", condition), values

    def failures(self, taxonomy: str) -> dict[str, str]:
        """A taxonomy's categories of failure, in words, the whole store's commonest first: `figures.color_of` goes by their order."""
        rows = self.rows(_FAILURES, {"taxonomy": taxonomy}, filter_on=()).rows()
        return {category: meaning if meaning and category.isupper() else in_words(category) for category, meaning in rows}

    def condition_in_words(self, condition: str | None) -> str:
        """What a condition's code stands for: `oracle shown, 20 turns, run 7`."""
        return self._conditions.get(condition or "") or in_words(condition)

    def team_in_words(self, model: str, condition: str | None) -> str:
        """The evaluated model; where a log does not name it, the experiment."""
        return printable(model) if model != UNKNOWN else self.condition_in_words(condition)

    @cached_property
    def _conditions(self) -> dict[str, str]:
        rows = self.rows(
            """
            SELECT run_conditions.condition, any_value(runs.condition)::VARCHAR
            FROM runs INNER JOIN run_conditions USING (run_id) GROUP BY 1
            """
        ).rows()
        return {code: condition_in_words(said, code) for code, said in rows}


@contextmanager
def reader(
    store: Store, address: Address, rubric_folders: Sequence[Path] = (), *, is_whole: bool = True, raises: bool = False
) -> Iterator[Reader]:
    """What one page, or one of its cards, reads the store with; closed on leaving."""
    with ExitStack() as stack:

        def opened() -> duckdb.DuckDBPyConnection:
            return stack.enter_context(one_reading(store))

        read = Reader(store, cache(opened), address, rubric_folders, is_whole=is_whole)
        read.raises = raises
        yield read


UNKNOWN = "unknown"
"""The model where a log does not name it: what tells such teams apart is then their name."""


class TeamName(NamedTuple):
    """How a team is called beside others."""

    model: str
    detail: str
    """What tells it from others of the same model here; empty where nothing has to."""

    @property
    def key(self) -> str:
        """One text for both, different for different teams: the label of a line."""
        return f"{self.model}\0{self.detail}"

    def __str__(self) -> str:
        return f"{self.model} ({self.detail})" if self.detail else self.model


def team_names(read: Reader, rows: Sequence[Mapping[str, Any]]) -> list[TeamName]:
    """A name for each row.

    Args:
        read: for conditions in words.
        rows: with model, condition and, where they have it, team (JSON role -> model), builder or max_turns.
    """
    phrases = [_phrases(read, row) for row in rows]
    models = [printable(str(row["model"])) for row in rows]
    played = {((model, *said), row.get("condition")) for model, said, row in zip(models, phrases, rows, strict=True)}
    same = Counter(alike for alike, _ in played)
    for model, said, row in zip(models, phrases, rows, strict=True):
        if same[model, *said] > 1:  # settings do not tell them apart
            said.append(in_words(row.get("condition")))
    names: list[TeamName] = []
    for model, said in zip(models, phrases, strict=True):
        own = _telling(said, [others for other, others in zip(models, phrases, strict=True) if other == model and others != said])
        is_named = model != UNKNOWN or not own
        names.append(TeamName(model, ", ".join(own)) if is_named else TeamName(", ".join(own), ""))
    return names


_TEAMS: Final = """
    SELECT benchmark, team_name, any_value(model) AS model, count(*) AS games FROM compared_games
    GROUP BY ALL ORDER BY games DESC, benchmark, team_name
"""


def names_of_teams(read: Reader, names: Sequence[str]) -> dict[str, str]:
    """Name as in the view `team_names` -> as the front page has it: the evaluated model, and partners where two teams have the same."""
    models = dict(read.rows(_TEAMS, filter_on=()).select("team_name", "model").rows())
    first = {name: models.get(name, UNKNOWN) for name in names}
    alone = Counter(model for model in first.values() if model != UNKNOWN)
    return {name: first[name] if alone[first[name]] == 1 else other for name, other in short_names(names).items()}


def looks_of_teams(read: Reader, benchmark: str | None = None) -> dict[str, tuple[str, str]]:
    """Name of a team (as in the view `team_names`, as on pages, or its model) -> colour and shape: the same on all pages under all filters.

    They go by its place among all teams of its family in the store, those with most games first. A model of several teams has a place after
    all of them.

    Args:
        read: the store; its filters change nothing.
        benchmark: the family; None: all of them, where a name of two families has the look of the one with more games.
    """
    rows = [row for row in read.rows(_TEAMS, filter_on=()).iter_rows(named=True) if benchmark in (None, row["benchmark"])]
    found: dict[str, tuple[str, str]] = {}
    for family in dict.fromkeys(row["benchmark"] for row in rows):
        own = [row for row in rows if row["benchmark"] == family]
        called = names_of_teams(read, [row["team_name"] for row in own])
        several = Counter(row["model"] for row in own)
        places = dict.fromkeys([*(row["team_name"] for row in own), *(model for model in several if several[model] > 1)])
        looks = {name: look(place) for place, name in enumerate(places)}
        names = [*((called[row["team_name"]], row) for row in own), *((row["model"], row) for row in own)]
        found = looks | {name: looks[row["team_name"]] for name, row in reversed(names) if name not in looks} | found
    return found


def _telling(said: Sequence[str], others: Sequence[Sequence[str]]) -> list[str]:
    """The fewest phrases that tell a team from each of the others, in their order: labels have little room."""
    told: set[str] = set()
    while said and others:
        best = max(said, key=lambda phrase: sum(phrase not in other for other in others))
        if all(best in other for other in others):
            break
        told.add(best)
        others = [other for other in others if best in other]
    return [phrase for phrase in said if phrase in told]


def _phrases(read: Reader, row: Mapping[str, Any]) -> list[str]:
    said = read.condition_in_words(row.get("condition")).split(", ")
    model = row["model"]
    team = row.get("team")
    seats = orjson.loads(team) if isinstance(team, str) else team or {}
    seats = seats or ({"builder": row["builder"]} if row.get("builder") else {})
    said += [f"{in_words(role)} {printable(str(player))}" for role, player in seats.items() if player and player != model]
    if row.get("max_turns") and not any(phrase.endswith(" turns") for phrase in said):
        said.append(f"{row['max_turns']} turns")
    return [phrase for phrase in said if phrase and phrase != model]
