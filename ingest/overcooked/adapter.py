"""Reads the game logs that the published Collab-Overcooked code writes, and cotrace's own games in the same format: one JSON object a game.

Format: docs/overcooked.md. The log names neither model nor horizon nor file version: the model is the folder above the order's.
"""

import hashlib
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Final

from pydantic import ValidationError

from games.overcooked.engine.layout import AGENTS, kitchen, published
from games.overcooked.engine.own_kitchen import kitchen_of, own_kitchen, read_kitchen
from games.overcooked.engine.tasks import Task, orders_of, recipe_text, task_of, tasks
from games.overcooked.engine.world import WIDTH, Rules, map_text, start_world
from games.overcooked.measures import Evaluation, GameRecord, Recorded, TimestepOutput, cut_to_limit, evaluate
from games.overcooked.replay import ReplayedStep, replay
from ingest.overcooked import measures
from ingest.overcooked.records import LogRecord, StepRecord, contradictions, read_log, read_step
from ingest.reading.adapter_types import FileKind, Place, Reading, begins, episode_id, malformed, run_id
from ingest.reading.text import dumps
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt
from schemas.records import Agent, Episode, Json, Run, Turn

KINDS: Final = (
    FileKind("a result of the Collab-Overcooked evaluation", (b'"similarity_and_redundancy_result"',)),
    FileKind("conversations as the Collab-Overcooked evaluation lists them", (b'"statistic_data"', b'"history_agent_action"')),
    FileKind("a Collab-Overcooked reference file", (b'"reference_1"', b'"agent_0"', b'"agent_1"')),
    FileKind("a Collab-Overcooked kitchen", (b'"grid"', b'"start_order_list"', b'"utensils"')),
)


_NAMES: Final = ("kitchen.yaml", "kitchen.layout")
_FOLDERS: Final = 3
"""Of the log, the order's and the model's."""


def kitchen_file(path: Path) -> Path | None:
    """The kitchen file that a log is read with: the nearest one in its folder or one of the two above."""
    found = (folder / name for folder in list(path.parents)[:_FOLDERS] for name in _NAMES)
    return next((file for file in found if file.is_file()), None)


def task_played(order: str, record: LogRecord, steps: Sequence[StepRecord], path: Path) -> Task:
    """The order in the kitchen in which it was cooked.

    Raises:
        BadInputError: nothing states how the order is made.
    """
    own = record.cotrace
    if own is not None:
        try:
            return task_of(order, kitchen_of({} if own.kitchen is None else {"kitchen": own.kitchen}))
        except UsageError as error:
            raise BadInputError(str(error), locator="content[0].order_list") from error
    given = kitchen_file(path)
    picture = steps[0].map if steps else ""
    is_published = order in tasks() and picture in ("", map_text(start_world(kitchen(), order)))
    if given is not None and not (is_published and picture and not _shows(picture, order, given)):
        layout = read_kitchen(given)
        if order not in orders_of(layout):
            known = ", ".join(orders_of(layout))
            raise BadInputError(f"order {order!r} is none of {given.name} next to the log: it has {known}", locator="content[0].order_list")
        return task_of(order, layout)
    return tasks()[order] if is_published else _pictured(order, picture)


def _shows(picture: str, order: str, file: Path) -> bool:
    """Whether a game in the kitchen of a file begins with this picture; a folder may hold logs of the published kitchen next to them."""
    layout = read_kitchen(file)
    return order in orders_of(layout) and picture == map_text(start_world(layout, order))


def _pictured(order: str, picture: str) -> Task:
    """The published recipes in the kitchen of the log's first picture."""
    dish = published()["needs_dish"].get(order)
    if dish is None or order not in kitchen().products:
        raise BadInputError(
            f"order {order!r} is not one of the benchmark's thirty: put its kitchen next to the log, as {_NAMES[0]} or the "
            f"published code's layout file as {_NAMES[1]}",
            locator="content[0].order_list",
        )
    rows = _grid(picture) or published()["grid"]
    name = f"grid-{hashlib.blake2b(repr(rows).encode(), digest_size=3).hexdigest()}"
    orders = {} if order in tasks() else {"orders": {order: {"dish": dish}}}
    return task_of(order, own_kitchen({"name": name, "grid": rows, **orders}))


def _grid(picture: str) -> list[str]:
    """Rows of a picture of cells with eight characters: symbols, and arrows with an agent's number where it is."""
    rows = [line for line in picture.split("\n") if line.strip()]
    return ["".join(_symbol(row[at : at + WIDTH].strip()) for at in range(0, len(row.rstrip()), WIDTH)) for row in rows]


def _symbol(cell: str) -> str:
    if not cell:
        return "."
    return cell[1] if len(cell) > 1 and cell[1] in "01"[: len(AGENTS)] and not cell[0].isalnum() else cell[0]


FORMAT: Final = "overcooked"
VERSION: Final = 7

_FILE_TIME: Final = re.compile(r"experiment_(\d{4}-\d\d-\d\d)_(\d\d-\d\d-\d\d)_")
_DEFAULT_HORIZON: Final = 120
"""Steps the published engine plays by default; logs do not state what it was given."""

_UNKNOWN_MODEL: Final = "unknown"


sniff: Final = begins(rb"\A\s*\{", b'"total_timestamp"')


def companions(path: Path) -> tuple[Path, ...]:
    """The file of a kitchen of one's own that lies by a log; it is not asked of cotrace's own logs, which hold theirs."""
    found = kitchen_file(path)
    return () if found is None else (found,)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Log:
    """A file, typed."""

    record: LogRecord
    steps: Sequence[StepRecord]
    task: Task
    reject: BadInputError | None
    """Why later steps could not be read."""


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is not JSON, not laid out as such a log, or its order is not one of the benchmark's.
    """
    try:
        record = read_log(data)
    except ValidationError as error:
        raise malformed(error, "", "the game is lost") from error
    steps, reject = _steps(record)
    task = task_played(_order(record, steps, place), record, steps, Path(place.path))
    log = _Log(record=record, steps=steps, task=task, reject=reject)
    started = time.perf_counter()
    game = _game(log)
    whole = measures.Measured(game, evaluate(game))
    limited = cut_to_limit(game)
    cut = measures.Measured(limited, evaluate(limited)) if limited else None
    actions = [step.actions for step in log.steps]
    known = measures.advances(game)
    replayed = list(replay(log.task.order, actions, _rules(log.record), following=measures.following(known), layout=log.task.layout))
    advance = measures.progress(game, known)
    replay_s = time.perf_counter() - started
    episode = episode_id("overcooked", place.path)
    reading = Reading(episodes=[episode], turns=len(log.steps), replay_s=replay_s, rejects=[log.reject] if log.reject else [])
    chef, assistant = _models(log, place)
    team = {"chef": chef, "assistant": assistant}
    own = log.record.cotrace
    condition: dict[str, object] = {"horizon": own.horizon if own else None, "rules": own.rules if own else "published"}
    if log.task.layout.name is not None:
        condition["kitchen"] = log.task.layout.name
    name = chef if chef == assistant else f"{chef}_{assistant}"
    run = Run(run_id("overcooked", name, team, condition), "overcooked", name, Json(dumps(condition)), _started(place))
    rows = reading.rows
    rows["runs"].append(run)
    details = measures.details_of(log.record, log.steps, whole.evaluation, cut.evaluation if cut else None)
    rows["episodes"].append(_episode(log, place, run, (cut or whole).evaluation, details))
    rows["agents"] += _agents(episode, log, run)
    rows["turns"] += _turns(episode, log, replayed, advance)
    for step, result in zip(log.steps, replayed, strict=True):
        rows["utterances"] += measures.utterances_of(episode, step)
        rows["actions"] += measures.actions_of(episode, step, result)
        rows["oracle_actions"] += measures.oracle_actions_of(episode, step, result)
    rows["turn_values"] += measures.turn_values(episode, log.task, replayed)
    rows["episode_metrics"] += measures.episode_metrics(episode, whole, cut)
    rows["turn_metrics"] += measures.turn_metrics(episode, log.steps, whole.evaluation, replayed)
    rows["failures"] += measures.failures(episode, (log.task, _rules(log.record)), log.steps, whole.evaluation, replayed)
    rows["labels"] += measures.labels(episode, log.record)
    rows["log_disagreements"] += measures.differences(episode, log.record, log.steps, replayed)
    rows["log_disagreements"] += contradictions(episode, log.task.order, log.record, log.steps, replayed)
    return reading


def _rules(record: LogRecord) -> Rules:
    """By which rules a game was played: published logs and names that do not exist mean the published ones."""
    return "sane" if record.cotrace and record.cotrace.rules == "sane" else "published"


def _steps(record: LogRecord) -> tuple[list[StepRecord], BadInputError | None]:
    """The steps up to the first that cannot be read."""
    steps: list[StepRecord] = []
    for index, raw in enumerate(record.content):
        lost = f"the game is stored up to the step before, {len(record.content) - index} of {len(record.content)} steps are lost"
        try:
            step = read_step(raw)
        except ValidationError as error:
            return steps, malformed(error, f"content[{index}]", lost)
        if step.timestamp != index:
            reason = f"timestep {step.timestamp} is out of order, {index} is due; {lost}"
            return steps, BadInputError(reason, locator=f"content[{index}].timestamp", excerpt=excerpt(str(step.timestamp)))
        steps.append(step)
    return steps, None


def _order(record: LogRecord, steps: Sequence[StepRecord], place: Place) -> str:
    """The order as the first step lists it; of a log without steps, as the end or the folder names it."""
    listed = next((step.order_list[0] for step in steps if step.order_list), None)
    if listed is not None:
        return listed
    return record.total_order_finished[0] if record.total_order_finished else PurePath(place.path).parent.name


def _game(log: _Log) -> GameRecord:
    """What the metrics need; of a log with unreadable steps, what came before them."""
    record, steps = log.record, log.steps
    whole = log.reject is None
    first, second = (
        [Recorded(entry.timestamp, entry.action) for entry in actions if whole or entry.timestamp <= len(steps)]
        for actions in record.total_action_list
    )
    own, limit = record.cotrace, log.task.time_limit
    timestamps = record.total_timestamp if whole else range(len(steps))
    errors = [[step.statistical_data.error[agent] for agent in (0, 1)] for step in steps]
    return GameRecord(
        task=log.task,
        finished=bool(record.total_order_finished) and whole,
        timestamps=timestamps,
        recorded=(first, second),
        messages=[(_messages(step, 0), _messages(step, 1)) for step in steps],
        calls=[(step.statistical_data.communication[0].call != 0, step.statistical_data.communication[1].call != 0) for step in steps],
        errors={
            "validator": [(chef.validator_error.error_num, assistant.validator_error.error_num) for chef, assistant in errors],
            "format": [(chef.format_error.error_num, assistant.format_error.error_num) for chef, assistant in errors],
        },
        score=record.total_score,
        horizon=own.horizon if own else limit if len(timestamps) <= limit else _DEFAULT_HORIZON,
    )


def _messages(step: StepRecord, agent: int) -> list[TimestepOutput]:
    return [TimestepOutput(entry.agent, entry.analysis, entry.plan, entry.say) for entry in step.content.content[agent]]


# -- rows -----------------------------------------------------------------------------------------


def _models(log: _Log, place: Place) -> tuple[str, str]:
    """Models of Chef and Assistant: the published layout has them, both the same, in the folder above the order's."""
    if log.record.cotrace:
        chef, assistant = log.record.cotrace.players
        return chef.model, assistant.model
    *_, above, folder, _ = ("", "", *PurePath(place.path).parts)
    model = (above if folder in (log.task.order, log.task.task_id) else folder) or _UNKNOWN_MODEL
    return model, model


def _started(place: Place) -> datetime | None:
    found = _FILE_TIME.search(PurePath(place.file).name)
    try:
        return datetime.strptime(f"{found[1]} {found[2]}", "%Y-%m-%d %H-%M-%S") if found else None  # noqa: DTZ007 - logs hold local times without zone
    except ValueError:
        return None


def _has_ended(log: _Log) -> bool:
    """Whether the log holds its game's end: delivered, at the time limit, or logged as complete; that of a killed run is shorter."""
    own = log.record.cotrace
    is_complete = bool(log.record.total_order_finished) or (own is not None and own.complete)
    return log.reject is None and (is_complete or len(log.steps) >= log.task.time_limit)


def _episode(log: _Log, place: Place, run: Run, evaluation: Evaluation, details: dict[str, object]) -> Episode:
    own = log.record.cotrace
    chef, assistant = _models(log, place)
    ended = _has_ended(log)
    return Episode(
        episode_id=episode_id("overcooked", place.path),
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark="overcooked",
        task_id=log.task.task_id,
        level=None if log.task.level is None else str(log.task.level),
        model=run.name,
        team=Json(dumps({"chef": chef, "assistant": assistant})),
        seed=own.seed if own else None,
        max_turns=own.horizon if own else None,
        turns_taken=len(log.steps),
        success=evaluation.in_time if ended else None,
        score=evaluation.pc if ended else None,
        stop_reason="delivered" if log.record.total_order_finished else None,
        error=None,
        goal=Json(dumps(log.task.goal)),
        details=Json(dumps(details)),
        file=place.file,
        started_at=_started(place),
    )


def _agents(episode: str, log: _Log, run: Run) -> Iterator[Agent]:
    own = log.record.cotrace
    for index, agent in enumerate(AGENTS):
        player = own.players[index] if own else None
        view = Json(dumps({"recipe": recipe_text(log.task.order, log.task.layout)})) if index == 0 else None
        kind = None if view is None else "recipe"
        model, persona = (player.model, player.persona) if player else (run.name, None)
        yield Agent(episode, agent, agent.lower(), model, persona, view, kind, None if view is None else "derived")


def _turns(episode: str, log: _Log, replayed: Sequence[ReplayedStep], advance: Sequence[float]) -> Iterator[Turn]:
    for step, result, done in zip(log.steps, replayed, advance[1:], strict=True):
        yield Turn(
            episode_id=episode,
            turn=step.timestamp + 1,
            state_before=Json(result.before_json),
            state_after=Json(result.after_json),
            oracle_available=False,
            progress=done,
            goal_reached=step.statistical_data.score > 0,
        )
