"""A dataset folder: a card and Parquet files, which the library `datasets` loads (`load_dataset("FOLDER", "games")`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from analytics.exports.games import GameOut, games, messages_of
from analytics.exports.tables import write_rows
from analytics.query import condition, query
from schemas.store import Store
from schemas.tables import table
from schemas.text import in_markdown

__all__ = ["export_dataset"]

_TABLES: Final = ("turns", "utterances", "actions", "verdicts", "labels", "failures", "turn_values", "episode_metrics", "agents")
_DOCS: Final = {
    "games": "One game a row, its conversation a list of messages (turn, agent, channel, audience, text, thought).",
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
    yield from written
    (folder / "README.md").write_text(_card(store, written), encoding="utf-8")
    yield folder / "README.md", 0


def _games(store: Store, path: Path, where: str) -> tuple[Path, int]:
    import polars as pl

    rows = [_row(game) for game in games(store, where)]
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, schema=_schema()).write_parquet(path, compression="zstd")
    return path, len(rows)


def _schema() -> dict[str, Any]:
    import polars as pl

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
    said = [{key: getattr(one, key) for key in ("turn", "agent", "channel", "audience", "text", "thought")} for one in messages_of(game)]
    return {key: facts[key] for key in same} | {
        "run": game.run["name"],
        "condition": json.dumps(game.run["condition"]),
        "team": json.dumps(facts["team"]),
        "messages": said,
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
