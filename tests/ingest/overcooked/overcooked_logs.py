"""Games of scripts as the published code writes its logs, with one more field, `cotrace` (docs/overcooked.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from games.overcooked.engine.actions import normalised
from games.overcooked.engine.layout import Layout, kitchen
from games.overcooked.engine.tasks import Task, task_of
from games.overcooked.engine.tasks import orders_of as orders_in
from games.overcooked.engine.world import Rules
from games.overcooked.game import Game, document
from games.overcooked.players.scripts import FAULTLESS, PlantedAnswer, scripted_pair
from games.players.running import RunReport
from games.players.setup import DEFAULT_START
from tests.games.overcooked.driven import timesteps


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """Every policy on every order, so many times."""

    out: Path
    orders: Sequence[str] = ()
    levels: Sequence[int] = (1, 2, 3, 4, 5, 6)
    policies: Sequence[str] = (FAULTLESS,)
    partners: Sequence[str] = ()
    """Of the Assistant, each with every one of ``policies`` as Chef; empty: both have the same."""
    games: int = 1
    seed: int = 3
    horizon: int | None = None
    rules: Rules = "published"
    layout: Layout = field(default_factory=kitchen)


class _Job(NamedTuple):
    task: Task
    policies: tuple[str, str]
    seed: int
    horizon: int
    rules: Rules


def play(asked: PlayRequest) -> RunReport:
    """Write such logs, ``<policy>/<order>/experiment_<time>_<order>.json``, as published."""
    report = RunReport()
    known = {order: task_of(order, asked.layout) for order in asked.orders or orders_in(asked.layout)}
    orders = asked.orders or [order for order, task in known.items() if task.level in asked.levels]
    for team in [(chef, assistant) for chef in asked.policies for assistant in asked.partners or (chef,)]:
        for task in (known[order] for order in orders):
            for game in range(asked.games):
                *_, log = play_order(task, team, seed=asked.seed + game, horizon=asked.horizon, rules=asked.rules)
                name = f"experiment_{DEFAULT_START + timedelta(seconds=game):%Y-%m-%d_%H-%M-%S}_{task.order}.json"
                path = asked.out / "+".join(dict.fromkeys(team)) / task.task_id / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(orjson.dumps(log, option=orjson.OPT_INDENT_2))
                report.paths = [*report.paths, path]
                report.turns += len(log["content"])
                report.played += 1
    return report


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
    game = Game(task, horizon=limit, rules=rules)
    holder.append(game)
    steps: list[dict[str, Any]] = []
    for entry in timesteps(game, (chef, assistant)):
        steps.append(entry)
        yield _log(game, steps, planted, _Job(task, policies, seed, limit, rules))


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
