"""Games as logs of Inspect AI, one log per run: messages with their speakers, actions as tool calls, verdicts as scores.

`cotrace ingest` reads them back: `metadata.cotrace` of a sample holds what Inspect has no place for.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analytics.exports.games import AgentMessage, GameOut, Row, games, messages_of
from schemas.common.errors import UsageError
from schemas.store.store import Store

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample
    from inspect_ai.model import ChatMessage, ModelUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedScore:
    """One score of a game."""

    name: str
    value: float | str
    """A number; the answer where a question has one unit and its answer no number."""
    answer: str | None = None
    explanation: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


def scores_of(game: GameOut) -> Iterator[NamedScore]:
    """Outcome first, then metrics, then judges."""
    if game.facts["success"] is not None:
        yield NamedScore(name="success", value="C" if game.facts["success"] else "I", details={"stop_reason": game.facts["stop_reason"]})
    if game.facts["score"] is not None:
        yield NamedScore(name="score", value=game.facts["score"])
    for row in game.metrics:
        yield NamedScore(name=row["metric"], value=row["value"])
    keys = ("rubric", "question", "judge", "variant")
    for (rubric, question, judge, variant), rows in itertools.groupby(game.verdicts, key=lambda row: tuple(row[key] for key in keys)):
        name = f"{rubric}.{question} ({judge}{f', {variant}' if variant else ''})"
        found = _judged(name, list(rows))
        if found is not None:
            yield found


def _judged(name: str, verdicts: Sequence[Row]) -> NamedScore | None:
    """The mean over the units that have a number, with every verdict; None where nothing was answered."""
    answered = [row for row in verdicts if row["status"] == "answered"]
    if not answered:
        return None
    numbers = [row["score"] for row in answered if row["score"] is not None]
    counts = Counter(row["status"] for row in verdicts) | {"not_applicable": len(answered) - len(numbers)}
    only = answered[0] if len(answered) == 1 else None
    below = [row for row in answered if row["score"] is not None and row["score"] < 1]
    value = sum(numbers) / len(numbers) if numbers else ", ".join(sorted({row["answer"] for row in answered}))
    columns = ("turn", "agent", "repeat", "status", "answer", "score", "reason", "unit_id", "unit_hash", "rubric_hash", "judge_run_id")
    return NamedScore(
        name=name,
        value=value,
        answer=only["answer"] if only else None,
        explanation=only["reason"] if only else "; ".join(map(_line, below)) or None,
        details={"units": dict(counts), "scored": len(numbers), "verdicts": [{key: row[key] for key in columns} for row in verdicts]},
    )


def _line(row: Row) -> str:
    where = " ".join(str(part) for part in ("turn", row["turn"], row["agent"]) if part is not None) if row["turn"] is not None else "game"
    return f"{where}: {row['answer']}"


_LONGEST: Final = 100


def export_inspect(store: Store, folder: Path, where: str = "true") -> Iterator[tuple[Path, int]]:
    """Write a log a run; gives each with its number of samples.

    Raises:
        UsageError: inspect_ai is not installed, or the condition is none.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError as error:
        raise UsageError("logs of Inspect need inspect_ai: pip install 'cotrace[inspect]'") from error
    folder.mkdir(parents=True, exist_ok=True)
    for run, found in itertools.groupby(games(store, where), key=lambda game: game.run["run_id"]):
        log = _log(list(found))
        path = folder / f"{_for_a_file(log.eval.task)}_{_for_a_file(run)}.eval"
        write_eval_log(log, str(path))
        yield path, len(log.samples or [])


def _for_a_file(name: str) -> str:
    """A name out of a log, which may hold anything, as a part of a file's: its end tells apart."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[-_LONGEST:]


def _log(found: Sequence[GameOut]) -> EvalLog:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, EvalStats

    first = found[0]
    samples = list(_samples(found))
    created = (first.run["started_at"] or datetime(1970, 1, 1, tzinfo=UTC)).replace(tzinfo=UTC).isoformat()
    condition = first.run["condition"] or {}
    tasks, epochs = {sample.id for sample in samples}, {sample.epoch for sample in samples}
    spec = EvalSpec(
        created=created,
        task=first.run["name"] or first.facts["benchmark"],
        task_args=condition,
        eval_id=first.run["run_id"],
        run_id=first.run["run_id"],
        dataset=EvalDataset(name=first.facts["benchmark"], samples=len(tasks)),
        model=first.facts["model"],
        config=EvalConfig(epochs=len(epochs) if len(tasks) * len(epochs) == len(samples) else None),
        metadata={"cotrace": {"benchmark": first.facts["benchmark"], "team": first.facts["team"]}},
    )
    times = EvalStats(started_at=created, completed_at=created)  # a log tells when its games began, not how long they took
    return EvalLog(status="success", eval=spec, samples=samples, results=_results(samples), stats=times)


def _samples(found: Sequence[GameOut]) -> Iterator[EvalSample]:
    """Repetitions of a task are epochs: by seed where that tells them apart, else in order."""
    by_task: dict[str, list[GameOut]] = defaultdict(list)
    for game in found:
        by_task[game.facts["task_id"]].append(game)
    for task, played in by_task.items():
        seeds = [game.facts["seed"] for game in played]
        are_epochs = len(set(seeds)) == len(seeds) and all(seed is not None and seed > 0 for seed in seeds)
        for number, game in enumerate(played, start=1):
            yield _sample(game, task, game.facts["seed"] if are_epochs else number)


def _sample(game: GameOut, task: str, epoch: int) -> EvalSample:
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.scorer import Score

    facts = game.facts
    messages = messages_of(game)
    goal = facts["goal"] if isinstance(facts["goal"], dict) else {}
    named = ("episode_id", "benchmark", "level", "seed", "max_turns", "success", "score", "stop_reason", "file")
    own = {key: facts[key] for key in named} | {
        "agents": [{key: agent[key] for key in ("agent", "role", "model", "persona", "private_view")} for agent in game.agents]
    }
    original = facts["details"].get("scores") if facts["benchmark"] == "inspect" else None
    scores = {score.name: _score(score) for score in scores_of(game)}
    if isinstance(original, dict):
        scores = {name: Score.model_validate(value) for name, value in original.items()} | scores
    return EvalSample(
        id=task,
        epoch=epoch,
        input=str(goal.get("input") or goal.get("question") or f"{facts['benchmark']}: {task}"),
        target=goal.get("target") or "",
        messages=[_chat(message, number, facts["benchmark"]) for number, message in enumerate(messages, start=1)],
        scores=scores,
        metadata={"cotrace": own},
        model_usage=_usage(game),
        error=None if facts["error"] is None else EvalError(message=facts["error"], traceback="", traceback_ansi=""),
    )


def _score(score: NamedScore) -> Any:
    from inspect_ai.scorer import Score

    return Score(value=score.value, answer=score.answer, explanation=score.explanation, metadata=score.details or None)


def _chat(message: AgentMessage, number: int, benchmark: str) -> ChatMessage:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    common: dict[str, Any] = {
        "metadata": {"speaker": message.agent, "channel": message.channel, "audience": message.audience, "turn": message.turn},
        "id": f"m{number}",
    }
    if benchmark == "inspect" and not message.actions and message.thought is None:
        match message.agent:
            case "user":
                return ChatMessageUser(content=message.text, **common)
            case "system":
                return ChatMessageSystem(content=message.text, **common)
            case "tool":
                return ChatMessageTool(content=message.text, **common)
    calls = [
        ToolCall(
            id=f"m{number}-{index}",
            function=action["verb"],
            arguments=action["arguments"] or {},
            parse_error=action["error_text"] or action["error_code"] if action["accepted"] is False else None,
        )
        for index, action in enumerate(message.actions, start=1)
    ]
    return ChatMessageAssistant(content=_content(message), tool_calls=calls or None, source="generate", **common)


def _content(message: AgentMessage) -> Any:
    from inspect_ai.model import ContentReasoning, ContentText

    if message.thought is None:
        return message.text
    return [ContentReasoning(reasoning=message.thought), ContentText(text=message.text)]


def _usage(game: GameOut) -> dict[str, ModelUsage]:
    from inspect_ai.model import ModelUsage

    found: dict[str, ModelUsage] = {}
    uncounted = {call["model"] for call in game.calls if None in (call["tokens_in"], call["tokens_out"])}
    for call in game.calls:
        if call["model"] in uncounted:  # its usage cannot be unknown
            continue
        used = found.setdefault(call["model"], ModelUsage())
        given, written = call["tokens_in"], call["tokens_out"]
        used.input_tokens += given
        used.output_tokens += written
        used.total_tokens += given + written
    return found


def _results(samples: Sequence[EvalSample]) -> EvalResults:
    """The mean of each score over the samples that have a number."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore
    from inspect_ai.scorer import value_to_float

    number = value_to_float()
    values: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        for name, score in (sample.scores or {}).items():
            if isinstance(score.value, int | float) or score.value in ("C", "I", "P", "N"):
                values[name].append(number(score.value))
    scores = [
        EvalScore(
            name=name,
            scorer=name,
            scored_samples=len(found),
            unscored_samples=len(samples) - len(found),
            metrics={"mean": EvalMetric(name="mean", value=math.fsum(found) / len(found))},
        )
        for name, found in values.items()
    ]
    return EvalResults(total_samples=len(samples), completed_samples=len(samples), scores=scores)
