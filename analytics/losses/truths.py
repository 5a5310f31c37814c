"""Who made the decisive error, and when, where that is known: people's labels, and games with one planted fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from analytics.query import query
from games.players.planted import FaultyPlayer
from schemas.families import module
from schemas.store import Store

__all__ = ["RUBRIC", "LossTruth", "planted_faults", "truths", "turns_at_work"]

RUBRIC: Final = "decisive_error"
"""Rubric of labels and verdicts: question `agent` has a name, question `step` a turn, from 1."""

_LABELS: Final = """
    SELECT episode_id, benchmark, max(answer) FILTER (question = 'agent'), max(answer) FILTER (question = 'step')
    FROM labels INNER JOIN episodes USING (episode_id) WHERE rubric = $rubric GROUP BY ALL ORDER BY ALL
    """
_SCRIPTS: Final = "SELECT episode_id, benchmark, agent, persona FROM agents INNER JOIN episodes USING (episode_id) ORDER BY ALL"
_PLANTED: Final = """
    SELECT DISTINCT episode_id, turn, agent, planted FROM labels
    WHERE source = 'planted' AND turn IS NOT NULL AND coalesce(planted, '') <> ''
    """
_COSTS: Final = "SELECT episode_id, turn, cost FROM turn_costs WHERE cost > 1e-9 AND isfinite(cost) ORDER BY episode_id, cost DESC, turn"


class LossTruth(NamedTuple):
    """The decisive error of a game."""

    episode_id: str
    benchmark: str
    agent: str
    turn: int | None
    """None where people named no step that is one."""

    source: str
    """`people` or `planted`."""


def truths(store: Store) -> list[LossTruth]:
    """All that are known, people's first.

    Of a game with one planted fault the agent is the faulty one, and the turn the costliest of those in which its fault is known to be at
    work (or, where logs of the benchmark do not tell turn by turn, of those from its beginning on). Games in which no such turn cost
    anything have no decisive error, and are left out.

    Raises:
        StoreError: the store cannot be read.
    """
    return [*_of_people(store), *_of_planted(store)]


def _of_people(store: Store) -> Iterator[LossTruth]:
    for episode, benchmark, agent, step in query(store, _LABELS, {"rubric": RUBRIC}).rows():
        if agent is not None:
            yield LossTruth(episode, benchmark, agent, int(step) if step is not None and step.isdecimal() else None, "people")


def _of_planted(store: Store) -> Iterator[LossTruth]:
    faults = planted_faults(store)
    at_work = turns_at_work(store, faults)
    telling = {faults[episode][0] for episode in at_work}
    found: set[str] = set()
    for episode, turn, _ in query(store, _COSTS).rows():
        if episode in faults and episode not in found:
            benchmark, fault = faults[episode]
            if turn >= fault.turn and (benchmark not in telling or turn in at_work.get(episode, ())):
                found.add(episode)
                yield LossTruth(episode, benchmark, fault.agent, turn, "planted")


def turns_at_work(store: Store, faults: Mapping[str, tuple[str, FaultyPlayer]]) -> dict[str, set[int]]:
    """Game -> the turns in which its planted fault shows, of games whose log tells that turn by turn."""
    at_work: dict[str, set[int]] = {}
    for episode, turn, agent, planted in query(store, _PLANTED).rows():
        if episode in faults and _is_of(faults[episode][1], agent, planted):
            at_work.setdefault(episode, set()).add(turn)
    return at_work


def planted_faults(store: Store) -> dict[str, tuple[str, FaultyPlayer]]:
    """Game -> its benchmark and its one faulty player."""
    scripts: dict[tuple[str, str], dict[str, str | None]] = {}
    for episode, benchmark, agent, script in query(store, _SCRIPTS).rows():
        scripts.setdefault((episode, benchmark), {})[agent] = script
    faults: dict[str, tuple[str, FaultyPlayer]] = {}
    for (episode, benchmark), team in scripts.items():
        family = module(benchmark, "games", "planted")
        fault = None if family is None else family.fault_in(team)
        if fault is not None:
            faults[episode] = benchmark, fault
    return faults


_TRUTHFUL: Final = frozenset(("none", "sense", "apparent_size", "think_other_wall", "view_complete", "clarify"))
"""Marks of planted truth that are no faults."""
_SLIP: Final = "builder_slip:"


def _is_of(fault: FaultyPlayer, agent: str | None, planted: str) -> bool:
    marks = [mark for mark in planted.split("|") if mark not in _TRUTHFUL]
    if agent is None:  # of the group: only the builder's slips are told there alone
        return fault.agent == "Builder" and any(mark.startswith(_SLIP) for mark in marks)
    return agent == fault.agent and any(not mark.startswith(_SLIP) for mark in marks)
