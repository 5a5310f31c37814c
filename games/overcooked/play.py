"""Plays scripted games and writes them as the published code writes its logs, with one more field, `cotrace` (docs/overcooked.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from games.overcooked.engine.actions import normalised
from games.overcooked.engine.layout import Layout, kitchen
from games.overcooked.engine.tasks import Task, task_of
from games.overcooked.engine.tasks import orders_of as orders_in
from games.overcooked.engine.world import Rules
from games.overcooked.entry import document
from games.overcooked.game import AgentPlayer, Game
from games.overcooked.players.scripts import FAULTLESS, PlantedAnswer, policy_of, scripted_pair
from games.players.running import RunReport, report_of
from games.playing import DEFAULT_START, OnProgress, another_game, check_seeds
from schemas.errors import UsageError

__all__ = ["PlayRequest", "orders_of", "play", "play_order"]


_LEVELS: Final = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """What to play: every policy on every order, so many times."""

    out: Path
    """Folder for ``<policy>/<order>/experiment_<time>_<order>.json``, as published."""

    orders: tuple[str, ...] = ()
    """Names of orders; empty: those of ``levels``."""

    levels: tuple[int, ...] = _LEVELS
    policies: tuple[str, ...] = (FAULTLESS,)
    """Each `policy` or, from that turn on, `policy@turn`."""

    partners: tuple[str, ...] = ()
    """Policies of the Assistant, each with every one of ``policies`` as Chef; empty: both have the same."""

    games: int = 1
    """Games of each policy and order; they differ in their seed."""

    seed: int = 3
    horizon: int | None = None
    """Steps after which a game is cut; None: the order's time limit."""

    rules: Rules = "published"
    started_at: datetime = DEFAULT_START
    layout: Layout = field(default_factory=kitchen)


class _Job(NamedTuple):
    path: Path
    task: Task
    policies: tuple[str, str]
    """Of Chef and Assistant."""

    seed: int
    horizon: int
    rules: Rules


def play(request: PlayRequest, on_progress: OnProgress | None = None) -> RunReport:
    """Play what is not there yet; a log that was cut is played again from the start.

    Args:
        request: what to play.
        on_progress: called with the games finished and the games in all.

    Raises:
        UsageError: an order, level or policy does not exist, a number is below 1, or a log of that name holds another game.
        OSError: a file cannot be read or written.
    """
    jobs = list(_jobs(request))
    return report_of([job.path for job in jobs], len(jobs), map(_play_job, jobs), on_progress)


def play_order(
    order: str | Task,
    policy: str | tuple[str, str],
    *,
    seed: int = 3,
    horizon: int | None = None,
    rules: Rules = "published",
) -> Iterator[dict[str, Any]]:
    """Play one game and give its whole log after every timestep, the last one complete; one policy for both, or Chef's and Assistant's.

    Raises:
        UsageError: there is no such order or policy.
    """
    task = order if isinstance(order, Task) else task_of(order)
    limit = horizon or task.time_limit
    holder: list[Game] = []

    def recorded(agent: int) -> Sequence[str]:
        return [normalised(str(entry["action"])) for entry in holder[0].recorded[agent]]

    policies = (policy, policy) if isinstance(policy, str) else policy
    chef, assistant, planted = scripted_pair(policies, task.order, recorded, seed, task.layout)
    players: tuple[AgentPlayer, AgentPlayer] = (chef, assistant)
    game = Game(task, players, horizon=limit, rules=rules)
    holder.append(game)
    steps: list[dict[str, Any]] = []
    for entry in game.play():
        steps.append(entry)
        yield _log(game, steps, planted, _Job(Path(), task, policies, seed, limit, rules))


def _log(game: Game, steps: Sequence[dict[str, Any]], planted: Sequence[PlantedAnswer], job: _Job) -> dict[str, Any]:
    own = {
        "version": 1,
        "players": [{"model": policy, "persona": policy} for policy in job.policies],
        "seed": job.seed,
        "horizon": job.horizon,
        "rules": job.rules,
        "order": job.task.order,
        "complete": game.over,
        "labels": [
            {
                "timestep": label.timestep,
                "agent": label.agent,
                "rubric": label.rubric,
                "question": label.question,
                "answer": label.answer,
            }
            for label in planted
        ],
        **({} if job.task.layout.source is None else {"kitchen": job.task.layout.source}),
    }
    return document(game.world, game.recorded, steps, own)


def _jobs(request: PlayRequest) -> Iterator[_Job]:
    for policy in (*request.policies, *request.partners):
        policy_of(policy)
    orders = orders_of(request)
    teams = [(chef, assistant) for chef in request.policies for assistant in request.partners or (chef,)]
    for team in teams:
        for order in orders:
            task = task_of(order, request.layout)
            for game in range(request.games):
                at = request.started_at + timedelta(seconds=game)
                name = f"experiment_{at:%Y-%m-%d_%H-%M-%S}_{order}.json"
                path = request.out / "+".join(dict.fromkeys(team)) / task.task_id / name
                yield _Job(path, task, team, request.seed + game, request.horizon or task.time_limit, request.rules)


def orders_of(request: PlayRequest) -> tuple[str, ...]:
    """Give the orders of a request.

    Raises:
        UsageError: an order or level does not exist, or a number is below 1.
    """
    check_seeds((request.seed, request.seed + request.games))
    if request.games < 1 or (request.horizon is not None and request.horizon < 1):
        raise UsageError(f"games and horizon must be at least 1, got {request.games} and {request.horizon}")
    found = {order: task_of(order, request.layout) for order in request.orders or orders_in(request.layout)}
    if request.orders:
        return request.orders
    levels = set(request.levels)
    strange = sorted(levels - {*_LEVELS, *(task.level for task in found.values())})
    if strange:
        raise UsageError(f"there is no overcooked level {strange[0]}: there are 1 to 6")
    every = levels >= set(_LEVELS)  # an order of one's own need have none
    chosen = tuple(order for order, task in found.items() if task.level in levels or (every and request.layout.source is not None))
    if not chosen:
        raise UsageError(f"kitchen {request.layout.name} has no order of level {', '.join(map(str, sorted(levels)))}: name orders")
    return chosen


def _play_job(job: _Job) -> int | None:
    """Play a game; give its timesteps, or None if its log is there."""
    if job.path.exists() and _is_there(job):
        return None
    job.path.parent.mkdir(parents=True, exist_ok=True)
    log: dict[str, Any] = {}
    for log in play_order(job.task, job.policies, seed=job.seed, horizon=job.horizon, rules=job.rules):
        if len(log["content"]) % _WRITE_EVERY == 0:
            _write(job.path, log)
    _write(job.path, log)
    return len(log["content"])


_WRITE_EVERY: Final = 10
"""Timesteps between two writings of a running game; each replaces the file in one go, so that a killed game leaves a shorter log."""


def _write(path: Path, log: dict[str, Any]) -> None:
    beside = path.with_suffix(".tmp")
    beside.write_bytes(orjson.dumps(log, option=orjson.OPT_INDENT_2))
    beside.replace(path)


def _is_there(job: _Job) -> bool:
    """Tell whether the file holds this very game, complete; a cut one is played again.

    Raises:
        UsageError: it holds another game.
    """
    try:
        own = orjson.loads(job.path.read_bytes())["cotrace"]
        players = tuple(player["model"] for player in own["players"])
        found = (own["order"], players, own["seed"], own["horizon"], own["rules"], own.get("kitchen"))
        complete = own["complete"]
    except (orjson.JSONDecodeError, KeyError, TypeError, IndexError):
        found, complete = None, False
    if found != (job.task.order, job.policies, job.seed, job.horizon, job.rules, job.task.layout.source):
        raise another_game(job.path)
    return bool(complete)
