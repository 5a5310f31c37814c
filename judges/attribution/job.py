"""Attributes the games of a store: rows of `attributions` and `requests`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from judges.attribution.findings import Attribute, Attributed, Lost
from judges.evidence.transcript import Transcript, load
from schemas.batches import insert, to_arrow
from schemas.families import modules
from schemas.records import Attribution, Request
from schemas.store import Store
from schemas.text import excerpt

if TYPE_CHECKING:
    import duckdb

__all__ = ["ENGINE", "AttributionReport", "attribute_games"]

ENGINE: Final = "engine"
_GAMES_A_TRANSACTION: Final = 200
_LONGEST: Final = 600
"""Of an evidence, in characters."""


@dataclass(slots=True)
class AttributionReport:
    """What came of it."""

    games: int = 0
    """Games whose family can be attributed and that have values."""

    findings: int = 0
    requests: int = 0
    without: Counter[str] = field(default_factory=Counter)
    """Benchmark -> games that could not be attributed, for want of values or of a way to do it."""


class _Way(NamedTuple):
    measures: Sequence[str]
    attribute: Attribute


def attribute_games(store: Store, where: str = "true", on_progress: Callable[[int, int], None] | None = None) -> AttributionReport:
    """Put the cost of every turn down to a link, and replace what was said about the same games before.

    Args:
        store: its games have values.
        where: one SQL condition on `episodes`.
        on_progress: told after every game how many are through, and of how many.

    Raises:
        UsageError: the condition is none.
        StoreError: the store cannot be read or written.
    """
    ways = {family: _Way(found.MEASURES, found.attribute) for family, found in modules("judges", "attribution")}
    report = AttributionReport()
    lost, benchmarks = _lost(store, where, ways)
    report.without.update(benchmark for episode, benchmark in benchmarks.items() if episode not in lost)
    waiting: list[tuple[Transcript, Attributed]] = []
    for transcript in load(store, list(lost)):
        waiting.append((transcript, ways[transcript.benchmark].attribute(transcript, lost[transcript.episode_id])))
        report.games += 1
        if len(waiting) == _GAMES_A_TRANSACTION:
            _save(store, waiting, report)
            waiting = []
        if on_progress is not None:
            on_progress(report.games, len(lost))
    _save(store, waiting, report)
    return report


def _lost(store: Store, where: str, ways: Mapping[str, _Way]) -> tuple[dict[str, dict[int, Lost]], dict[str, str]]:
    """Game -> turn -> what it cost, of games that can be attributed; and game -> benchmark, of all that were asked for."""
    with store.reading() as connection:
        benchmarks = dict(_rows(connection, f"SELECT episode_id, benchmark FROM episodes WHERE {where}", []))
        wanted = [episode for episode, benchmark in benchmarks.items() if benchmark in ways]
        rows = _rows(
            connection,
            """
            SELECT valued.episode_id, turn, value_before, value_after, coalesce(cost, 0), max_turns - turn + 1
            FROM turn_values AS valued INNER JOIN episodes USING (episode_id)
            WHERE valued.episode_id IN (SELECT unnest($1::VARCHAR[])) AND measure IN (SELECT unnest($2::VARCHAR[])) ORDER BY 1, 2
            """,
            [wanted, [measure for way in ways.values() for measure in way.measures]],
        )
    lost: dict[str, dict[int, Lost]] = {}
    for episode, turn, *values in rows:
        lost.setdefault(episode, {})[turn] = Lost(*values)
    return lost, benchmarks


def _rows(connection: duckdb.DuckDBPyConnection, sql: str, parameters: list[object]) -> list[tuple[object, ...]]:
    return connection.execute(sql, parameters).fetchall()


def _save(store: Store, done: Sequence[tuple[Transcript, Attributed]], report: AttributionReport) -> None:
    attributions = [row for transcript, found in done for row in _attributions(transcript.episode_id, found)]
    requests = [row for transcript, found in done for row in _requests(transcript.episode_id, found)]
    with store.writing() as connection:
        episodes = [transcript.episode_id for transcript, _ in done]
        connection.execute("DELETE FROM attributions WHERE judge = ? AND episode_id IN (SELECT unnest(?::VARCHAR[]))", [ENGINE, episodes])
        connection.execute("DELETE FROM requests WHERE episode_id IN (SELECT unnest(?::VARCHAR[]))", [episodes])
        insert(connection, to_arrow({"attributions": attributions, "requests": requests}))
    report.findings += len(attributions)
    report.requests += len(requests)


def _attributions(episode: str, found: Attributed) -> Iterator[Attribution]:
    for finding in found.findings:
        yield Attribution(
            episode_id=episode,
            turn=finding.turn,
            agent=finding.agent,
            link=finding.link,
            cost=finding.cost,
            regained=finding.regained,
            evidence=excerpt(finding.evidence, _LONGEST),
            judge=ENGINE,
            status=finding.status,
        )


def _requests(episode: str, found: Attributed) -> Iterator[Request]:
    places: Counter[tuple[int, int]] = Counter()
    for follow in found.follows:
        places[follow.turn, follow.seq] += 1
        yield Request(
            episode_id=episode,
            turn=follow.turn,
            seq=follow.seq,
            place=places[follow.turn, follow.seq],
            agent=follow.agent,
            actor=follow.actor,
            request=excerpt(follow.request, _LONGEST),
            followed=follow.how,
            right=follow.right,
        )
