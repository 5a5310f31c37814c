"""A game of the store as cotrace's own log would hold it: out of its file where that is such a log, else out of the store's tables."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ingest.cotrace_log import adapter
from ingest.cotrace_log.lines import read_lines
from ingest.reading.text import loads
from schemas.common.errors import UsageError
from schemas.game import ActionEntry, AgentEntry, Header, Turn, UtteranceEntry
from schemas.store.store import Store

Rows = list[dict[str, Any]]


def logged_game(store: Store, name: str) -> tuple[str, Header, Sequence[Turn]]:
    """Give a game's id, header and turns.

    Args:
        store: the store.
        name: the game's id, or its beginning.

    Raises:
        UsageError: no game or several are called so.
        StoreError: the store cannot be read.
    """
    with store.reading():  # opened once: that takes longer than each of these queries
        episode = _episode(store, name)
        source = _rows(
            store, "SELECT path, format FROM sources JOIN episodes USING (source_id) WHERE episode_id = ?", episode["episode_id"]
        )
        if not (source and source[0]["format"] == adapter.FORMAT and Path(source[0]["path"]).is_file()):
            return episode["episode_id"], _header(store, episode), _turns(store, episode["episode_id"])
    log = read_lines(Path(source[0]["path"]).read_bytes())
    return episode["episode_id"], log.header, log.turns


def _episode(store: Store, name: str) -> dict[str, Any]:
    query = "SELECT episodes.*, runs.name, runs.condition FROM episodes JOIN runs USING (run_id) WHERE starts_with(episode_id, ?) LIMIT 2"
    found = _rows(store, query, name)
    exact = [row for row in found if row["episode_id"] == name] or found
    if len(exact) == 1:
        return exact[0]
    if exact:
        raise UsageError(f"several games are called {name}...: write more of the id")
    raise UsageError(f'no game {name} in {store.path}: cotrace sql "SELECT episode_id, benchmark, model, task_id FROM episodes" lists them')


def _rows(store: Store, query: str, value: str) -> Rows:
    with store.reading() as connection:
        found = connection.execute(query, [value])
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _json(text: str | None) -> Any:
    return None if text is None else loads(text.encode())


def _header(store: Store, episode: Mapping[str, Any]) -> Header:
    agents = _rows(store, "SELECT * FROM agents WHERE episode_id = ? ORDER BY agent", episode["episode_id"])
    return Header(
        benchmark=episode["benchmark"],
        episode=episode["episode_id"],
        run={"name": episode["name"], "condition": _json(episode["condition"]) or {}},
        task={"id": episode["task_id"], "level": episode["level"], "goal": _json(episode["goal"])},
        team=_json(episode["team"]) or {},
        agents=[
            AgentEntry(
                agent=row["agent"],
                role=row["role"],
                model=row["model"],
                persona=row["persona"],
                private_view=_json(row["private_view"]),
                view_kind=row["view_kind"],
            )
            for row in agents
        ],
        model=episode["model"],
        seed=episode["seed"],
        max_turns=episode["max_turns"],
        started_at=episode["started_at"].isoformat() if episode["started_at"] else "",
    )


def _turns(store: Store, episode: str) -> list[Turn]:
    turns = _rows(store, "SELECT * FROM turns WHERE episode_id = ? ORDER BY turn", episode)
    spoken, done = (_by_turn(store, table, episode) for table in ("utterances", "actions"))
    return [
        Turn(
            turn=row["turn"],
            state_before=_json(row["state_before"]),
            state_after=_json(row["state_after"]),
            utterances=[UtteranceEntry(**{name: one[name] for name in _UTTERED}) for one in spoken[row["turn"]]],
            actions=[
                ActionEntry(**{name: one[name] for name in _DONE}, arguments=_json(one["arguments"]) or {}) for one in done[row["turn"]]
            ],
            progress=row["progress"],
        )
        for row in turns
    ]


def _by_turn(store: Store, table: str, episode: str) -> Mapping[int, Rows]:
    found: defaultdict[int, Rows] = defaultdict(list)
    for row in _rows(store, f"SELECT * FROM {table} WHERE episode_id = ? ORDER BY turn, seq", episode):
        found[row["turn"]].append(row)
    return found


_UTTERED: Final = ("agent", "channel", "text", "superseded")
_DONE: Final = ("agent", "verb", "raw", "accepted")
