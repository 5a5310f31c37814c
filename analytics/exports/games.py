"""Games with messages, actions, scores and verdicts for other formats, as dataset folders and Parquet tables; labels as CSV."""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from analytics.ledger import claims
from analytics.query import condition, query
from analytics.views import VIEWS
from ingest.labels.files import COLUMNS
from schemas.common.errors import UsageError
from schemas.common.text import in_markdown
from schemas.store.store import Store
from schemas.tables import TABLES, table

Row = Mapping[str, Any]

_AT_ONCE: Final = 100
"""Games that are in memory at the same time."""

_PARTS: Final = {
    "agents": "SELECT * FROM agents WHERE {these}",
    "turns": "SELECT * FROM turns WHERE {these} ORDER BY turn",
    "utterances": "SELECT * FROM utterances WHERE {these} ORDER BY turn, seq",
    "actions": "SELECT * FROM actions WHERE {these} ORDER BY turn, seq",
    "metrics": "SELECT * FROM episode_metrics WHERE {these} ORDER BY metric",
    "verdicts": "SELECT * FROM verdicts_latest WHERE {these} ORDER BY rubric, question, judge, variant, turn, agent, repeat",
    "calls": "SELECT * FROM calls WHERE {these} AND purpose = 'player' ORDER BY turn",
}


@dataclass(frozen=True, slots=True)
class GameOut:
    """A game and its rows, as the tables have them; JSON columns are values."""

    facts: Row
    run: Row
    agents: Sequence[Row]
    turns: Sequence[Row]
    utterances: Sequence[Row]
    actions: Sequence[Row]
    metrics: Sequence[Row]
    verdicts: Sequence[Row]
    calls: Sequence[Row]


@dataclass(slots=True)
class AgentMessage:
    """An agent's message in a turn, with the thought before it and its actions."""

    turn: int
    agent: str
    channel: str
    audience: Sequence[str]
    text: str
    thought: str | None
    actions: list[Row]


def games(store: Store, where: str = "true") -> Iterator[GameOut]:
    """The games for which a condition on `episodes` holds, by run.

    Raises:
        UsageError: it is not such a condition.
    """
    chosen = f"SELECT episode_id FROM episodes WHERE {condition(where)} ORDER BY run_id, task_id, seed, episode_id"
    ids = [episode for (episode,) in query(store, chosen).rows()]
    runs = {row["run_id"]: row for row in _rows(store, "SELECT * FROM runs", [])}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        facts = {row["episode_id"]: row for row in _rows(store, "SELECT * FROM episodes WHERE {these}", some)}
        parts = {name: _by_game(_rows(store, sql, some)) for name, sql in _PARTS.items()}
        for episode in some:
            yield GameOut(facts[episode], runs[facts[episode]["run_id"]], **{name: found.get(episode, []) for name, found in parts.items()})


def ensure_some_game(store: Store, where: str) -> None:
    """Refuse a condition that no game fits: what is written then is empty.

    Raises:
        UsageError: no game fits, or it is not a condition on `episodes`.
    """
    if where == "true" or query(store, f"SELECT 1 FROM episodes WHERE {condition(where)} LIMIT 1").rows():
        return
    there = ", ".join(name for (name,) in query(store, "SELECT DISTINCT benchmark FROM episodes ORDER BY 1").rows()) or "nothing"
    raise UsageError(f"--where {where}: no game fits; the store has games of {there}")


def _rows(store: Store, sql: str, these: Sequence[str]) -> list[dict[str, Any]]:
    found = query(store, sql.format(these="list_contains($these, episode_id)"), {"these": these} if "{these}" in sql else None)
    return [
        {key: json.loads(value) if key in _JSON and isinstance(value, str) else value for key, value in row.items()}
        for row in found.to_dicts()
    ]


_JSON: Final = frozenset({"condition", "team", "goal", "details", "private_view", "state_before", "state_after", "arguments"})


def _by_game(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["episode_id"]].append(row)
    return found


def messages_of(game: GameOut) -> list[AgentMessage]:
    """The messages in order: a thought goes with the message of the same agent that follows it, an action with its agent's last message."""
    found: list[AgentMessage] = []
    for turn, spoken in itertools.groupby(game.utterances, key=lambda row: row["turn"]):
        found += _with_thoughts(turn, list(spoken))
    for action in game.actions:
        found = _placed(found, action)
    return found


def _with_thoughts(turn: int, spoken: Sequence[Row]) -> Iterator[AgentMessage]:
    thought: Row | None = None
    for row in spoken:
        if thought is not None and (row["agent"] != thought["agent"] or row["channel"] == "private"):
            yield _message(turn, thought, None)
            thought = None
        if row["channel"] == "private" and list(row["audience"]) == [row["agent"]]:
            thought = row
        else:
            yield _message(turn, row, None if thought is None else thought["text"])
            thought = None
    if thought is not None:
        yield _message(turn, thought, None)


def _message(turn: int, row: Row, thought: str | None) -> AgentMessage:
    return AgentMessage(turn, row["agent"], row["channel"], list(row["audience"]), row["text"], thought, [])


def _placed(found: list[AgentMessage], action: Row) -> list[AgentMessage]:
    own = [message for message in found if message.turn == action["turn"] and message.agent == action["agent"]]
    if own:
        own[-1].actions.append(action)
        return found
    before = sum(message.turn <= action["turn"] for message in found)
    return [*found[:before], AgentMessage(action["turn"], action["agent"], "public", [], "", None, [action]), *found[before:]]


def export_tables(store: Store, folder: Path, *, views: bool = False) -> Iterator[tuple[Path, int]]:
    """Write each table, and on demand each view, into a folder of its own, as zstd Parquet; gives each file with its rows when written.

    Raises:
        StoreError: the store cannot be read.
        OSError: a file cannot be written.
    """
    store.check()
    names = [spec.name for spec in TABLES] + ([spec.name for spec in VIEWS if spec.kind == "view"] if views else [])
    for name in names:
        yield write_rows(store, f"SELECT * FROM {name}", folder / name / "part-0.parquet")


def write_rows(store: Store, sql: str, path: Path) -> tuple[Path, int]:
    """Write the rows of a query as zstd Parquet; gives the file and its rows.

    Raises:
        StoreError: the store cannot be read.
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = query(store, sql)
    rows.write_parquet(path, compression="zstd")
    return path, len(rows)


_TABLES: Final = ("turns", "utterances", "actions", "verdicts", "labels", "failures", "turn_values", "episode_metrics", "agents")
_DOCS: Final = {
    "games": "One game a row, its conversation a list of messages (turn, agent, channel, audience, text, thought).",
    "claims": "One statistical statement of the reports a row, with its test and one error rate over all of them.",
}


def export_dataset(store: Store, folder: Path, where: str = "true") -> Iterator[tuple[Path, int]]:
    """Write the files, then the card; gives each with its rows.

    Raises:
        UsageError: the condition is none.
        OSError: a file cannot be written.
    """
    written = [_games(store, folder / "data" / "games.parquet", where)]
    chosen = f"SELECT episode_id FROM episodes WHERE {condition(where)}"
    for name in _TABLES:
        source = "verdicts_latest" if name == "verdicts" else name
        count = query(store, f"SELECT count(*) AS n FROM {source} WHERE episode_id IN ({chosen})")["n"][0]
        if count:
            written.append(write_rows(store, f"SELECT * FROM {source} WHERE episode_id IN ({chosen})", folder / "data" / f"{name}.parquet"))
    if where == "true" and len(statements := claims(store)):
        path = folder / "data" / "claims.parquet"
        statements.write_parquet(path, compression="zstd")
        written.append((path, len(statements)))
    yield from written
    (folder / "README.md").write_text(_card(store, written), encoding="utf-8")
    yield folder / "README.md", 0


def _games(store: Store, path: Path, where: str) -> tuple[Path, int]:
    rows = [_row(game) for game in games(store, where)]
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, schema=_schema()).write_parquet(path, compression="zstd")
    return path, len(rows)


def _schema() -> dict[str, Any]:
    texts = dict.fromkeys(("agent", "channel", "text", "thought"), pl.String)
    message: dict[str, Any] = {"turn": pl.Int64, **texts, "audience": pl.List(pl.String)}
    named = ("episode_id", "benchmark", "run", "condition", "task_id", "level", "model", "team")
    return {
        **dict.fromkeys(named, pl.String),
        "seed": pl.Int64,
        "turns_taken": pl.Int64,
        "success": pl.Boolean,
        "score": pl.Float64,
        "messages": pl.List(pl.Struct(message)),
    }


def _row(game: GameOut) -> dict[str, Any]:
    facts = game.facts
    same = ("episode_id", "benchmark", "task_id", "level", "model", "seed", "turns_taken", "success", "score")
    messages = [
        {key: getattr(one, key) for key in ("turn", "agent", "channel", "audience", "text", "thought")} for one in messages_of(game)
    ]
    return {key: facts[key] for key in same} | {
        "run": game.run["name"],
        "condition": json.dumps(game.run["condition"]),
        "team": json.dumps(facts["team"]),
        "messages": messages,
    }


def _card(store: Store, written: list[tuple[Path, int]]) -> str:
    """The card that hubs show: which files there are, what they hold, where they come from."""
    benchmarks = query(store, "SELECT benchmark, count(*) AS games FROM episodes GROUP BY ALL ORDER BY ALL").rows()
    configs = "".join(_config(path) for path, _ in written)
    lines = "".join(f"| `{path.stem}` | {count} | {_DOCS.get(path.stem) or table(path.stem).grain} |\n" for path, count in written)
    counted = ", ".join(f"{in_markdown(name)} ({count})" for name, count in benchmarks)
    return (
        f"---\nconfigs:\n{configs}tags:\n- multi-agent\n- llm-evaluation\n- cotrace\n---\n\n"
        "# Games of teams of LLM agents\n\n"
        f"Written by `cotrace export --format dataset` from a store of cotrace: {counted}.\n\n"
        "| configuration | rows | one row is |\n|---|---|---|\n"
        f"{lines}\n"
        "`episode_id` joins them. Verdicts have a `judge` (`engine` or `llm:<model>`) and a `status`: only answered ones have an answer,\n"
        "and N/A is an answer without a score. JSON columns are text.\n\n"
        "Licence and terms are those of the logs that were read: add them here before you share this folder.\n"
    )


def _config(path: Path) -> str:
    default = "  default: true\n" if path.stem == "games" else ""
    return f"- config_name: {path.stem}\n  data_files: data/{path.name}\n{default}"


_LABELS = f"""
SELECT {", ".join(COLUMNS)}, score, sampling_probability, source
FROM labels
WHERE
    ($annotator IS NULL OR annotator = $annotator)
    AND CASE
        WHEN $source IS NULL THEN source != 'planted' AND NOT starts_with(source, 'planted:') AND NOT starts_with(annotator, 'llm:')
        ELSE source = $source
    END
ORDER BY ALL
"""


def exported(store: Store, *, annotator: str | None = None, source: str | None = None) -> pl.DataFrame:
    """One row a label.

    Args:
        store: where to read.
        annotator: only this person's; None: everybody's.
        source: only labels of this source; None: all that people gave.

    Raises:
        StoreError: the store cannot be read.
    """
    return query(store, _LABELS, {"annotator": annotator, "source": source})
