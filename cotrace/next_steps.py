"""What to do next: commands that fit what is in the store now, or nothing."""

import os

from schemas.common.text import in_shell
from schemas.store.store import DEFAULT_STORE, Store

_FOR_ANY_GAME = "mast"
"""The rubric that fits conversations of every kind."""


def next_line(store: Store, *commands: str) -> str | None:
    """`next: ...` with the store where it is not the default one; None without commands."""
    is_default = store.path.resolve() == Store(os.environ.get("COTRACE_STORE", DEFAULT_STORE)).path.resolve()
    where = "" if is_default else f" --store {in_shell(store.path)}"
    return f"next: {', '.join(command + where for command in commands)}" if commands else None


def after_ingest(store: Store) -> str | None:
    """Reports, a judge for the games that are there, the pages; None while there is no game."""
    from judges.rubric_files.load import of_engine

    benchmarks = [name for (name,) in _rows(store, "SELECT benchmark FROM episodes GROUP BY ALL ORDER BY count(*) DESC, 1")]
    if not benchmarks:
        return None
    judged = {rubric for (rubric,) in _rows(store, "SELECT DISTINCT rubric FROM verdicts")}
    engine = next((rubric for benchmark in benchmarks for rubric in of_engine(benchmark) if rubric.name not in judged), None)
    commands = ["cotrace report leaderboard"]
    if engine is not None:
        commands.append(f"cotrace judge --rubric {engine.name} --judge engine")
    elif not judged:
        commands.append(f"cotrace judge --rubric {_FOR_ANY_GAME} --model openai/gpt-4o-mini --dry-run")
    return next_line(store, *commands, "cotrace dash")


def after_judging(store: Store) -> str | None:
    """Reports that have rows now; None while nothing was answered."""
    judges = [judge for (judge,) in _rows(store, "SELECT DISTINCT judge FROM verdicts WHERE status = 'answered'")]
    if not judges:
        return None
    labelled = _rows(store, "SELECT 1 FROM labels INNER JOIN verdicts USING (rubric, question) LIMIT 1")
    commands = ["cotrace report judges"]
    commands += ["cotrace report panel"] if len(judges) > 1 else []
    commands += ["cotrace report agreement"] if labelled or len(judges) > 1 else []
    return next_line(store, *commands, "cotrace dash")


def after_labels(store: Store) -> str | None:
    """The agreement where labels meet verdicts, else the judge that is missing."""
    rubrics = [name for (name,) in _rows(store, "SELECT rubric FROM labels GROUP BY 1 ORDER BY count(*) DESC, 1")]
    judged = {rubric for (rubric,) in _rows(store, "SELECT DISTINCT rubric FROM verdicts")}
    if judged & set(rubrics):
        return next_line(store, "cotrace report agreement")
    return next_line(store, *(f"cotrace judge --rubric {name} --model openai/gpt-4o-mini --dry-run" for name in rubrics[:1]))


def _rows(store: Store, sql: str) -> list[tuple[str, ...]]:
    with store.reading() as connection:
        return connection.execute(sql).fetchall()
