"""Attributes the games of a store: rows of `attributions` and `requests`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from judges.attribution.findings import Attribute, Attributed, Lost
from judges.evidence.transcript import BY_RULES, Reader, Transcript, load
from judges.runs.engine_run import in_portions
from schemas.common.cluster import cores, is_used
from schemas.common.errors import UsageError
from schemas.common.text import excerpt
from schemas.families import modules
from schemas.records import Attribution, Request
from schemas.store.batches import check, to_arrow
from schemas.store.read_only_sql import as_condition, reason_of
from schemas.store.store import Store, Transaction

if TYPE_CHECKING:
    import duckdb


_GAMES_A_TRANSACTION: Final = 200
_LONGEST: Final = 600
"""Of an evidence, in characters."""


@dataclass(slots=True)
class AttributionReport:
    """Counts of a run of attribution."""

    games: int = 0
    """Games whose family can be attributed and that have values."""

    findings: int = 0
    requests: int = 0
    without: Counter[str] = field(default_factory=Counter)
    """Benchmark -> games that were not attributed: they have no values, or their family has no attribution."""


class _Way(NamedTuple):
    measures: Sequence[str]
    attribute: Attribute


def attribute_games(
    store: Store, where: str = "true", reader: Reader = BY_RULES, on_progress: Callable[[int, int], None] | None = None
) -> AttributionReport:
    """Attribute the cost of every turn to failure points; replaces earlier attributions of the same games, which have values.

    Raises:
        UsageError: the condition is none.
        StoreError: the store cannot be read or written.
    """
    report = AttributionReport()
    lost, benchmarks = _lost(store, where, _ways())
    report.without.update(benchmark for episode, benchmark in benchmarks.items() if episode not in lost)
    waiting: list[_Rows] = []
    for rows in in_portions(partial(_of_portion, store, reader), lost, cores()) if is_used() else _of_games(store, reader, lost):
        waiting.append(rows)
        report.games += 1
        if len(waiting) == _GAMES_A_TRANSACTION:
            _save(store, waiting, report)
            waiting = []
        if on_progress is not None:
            on_progress(report.games, len(lost))
    _save(store, waiting, report)
    store.come_to_rest()
    return report


class _Rows(NamedTuple):
    """The rows of a game."""

    episode: str
    attributions: list[Attribution]
    requests: list[Request]


def _of_portion(store: Store, reader: Reader, lost: Mapping[str, dict[int, Lost]]) -> list[_Rows]:
    return list(_of_games(store, reader, lost))


def _of_games(store: Store, reader: Reader, lost: Mapping[str, dict[int, Lost]]) -> Iterator[_Rows]:
    ways = _ways()
    for transcript in load(store, list(lost), reader):
        episode = transcript.episode_id
        found = ways[transcript.benchmark].attribute(transcript, lost[episode])
        yield _Rows(episode, list(_attributions(episode, reader.judge, found)), list(_requests(episode, found)))


def attributed_games(store: Store, where: str = "true") -> Iterator[tuple[Transcript, Attributed]]:
    """The games with their findings, ideals included, attributed anew; the store is not changed.

    Raises:
        UsageError: the condition is none.
        StoreError: the store cannot be read.
    """
    ways = _ways()
    lost, _ = _lost(store, where, ways)
    for transcript in load(store, list(lost), BY_RULES):
        yield transcript, ways[transcript.benchmark].attribute(transcript, lost[transcript.episode_id])


def _ways() -> dict[str, _Way]:
    return {family: _Way(found.MEASURES, found.attribute) for family, found in modules("judges", "attribution")}


def _lost(store: Store, where: str, ways: Mapping[str, _Way]) -> tuple[dict[str, dict[int, Lost]], dict[str, str]]:
    """Game -> turn -> its regret, of games that can be attributed; and game -> benchmark, of all selected games."""
    with store.reading() as connection:
        benchmarks = _selected(connection, where)
        wanted = [episode for episode, benchmark in benchmarks.items() if benchmark in ways]
        rows = connection.execute(
            """
            SELECT valued.episode_id, turn, value_before, value_after, coalesce(cost, 0), max_turns - turn + 1
            FROM turn_values AS valued INNER JOIN episodes USING (episode_id)
            WHERE valued.episode_id IN (SELECT unnest($1::VARCHAR[])) AND measure IN (SELECT unnest($2::VARCHAR[]))
                AND kind <> 'none'
            ORDER BY 1, 2
            """,
            [wanted, [measure for way in ways.values() for measure in way.measures]],
        ).fetchall()
    lost: dict[str, dict[int, Lost]] = {}
    for episode, turn, *values in rows:
        lost.setdefault(episode, {})[turn] = Lost(*values)
    return lost, benchmarks


def selected_games(store: Store, where: str) -> list[str]:
    """The games that meet an SQL condition on `episodes`.

    Raises:
        UsageError: it is none.
        StoreError: the store cannot be read.
    """
    with store.reading() as connection:
        return list(_selected(connection, where))


def _selected(connection: duckdb.DuckDBPyConnection, where: str) -> dict[str, str]:
    import duckdb

    try:
        chosen = as_condition(where, connection)
        return dict(connection.execute(f"SELECT episode_id, benchmark FROM episodes WHERE {chosen} ORDER BY 1").fetchall())
    except (UsageError, duckdb.Error) as error:
        raise UsageError(f"--where {where!r} does not work: {reason_of(error)}; give one SQL condition on `episodes`") from error


def _save(store: Store, done: Sequence[_Rows], report: AttributionReport) -> None:
    attributions = [row for game in done for row in game.attributions]
    requests = [row for game in done for row in game.requests]
    episodes = [game.episode for game in done]
    arrow = to_arrow({"attributions": attributions, "requests": requests})
    check(arrow)

    def write(transaction: Transaction) -> None:
        transaction.delete("attributions", "starts_with(judge, 'engine') AND episode_id IN (SELECT unnest(?::VARCHAR[]))", [episodes])
        transaction.delete("requests", "episode_id IN (SELECT unnest(?::VARCHAR[]))", [episodes])
        transaction.insert(arrow)

    store.transact(write)
    report.findings += len(attributions)
    report.requests += len(requests)


def _attributions(episode: str, judge: str, found: Attributed) -> Iterator[Attribution]:
    for finding in found.findings:
        yield Attribution(
            episode_id=episode,
            turn=finding.turn,
            agent=finding.agent,
            link=finding.link,
            cost=finding.cost,
            regained=finding.regained,
            evidence=excerpt(finding.evidence, _LONGEST),
            judge=judge,
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
