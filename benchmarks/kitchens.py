"""Kitchens and rooms: steps per second of Collab-Overcooked and the games of LLM-Coordination, reference search, ingest of their logs.

A step is both players' actions, carried out by the rules; its base is `json.loads` of the same games' logs. Hanabi is refereed by OpenSpiel
and left out where that is not installed. The search finds all reference trajectories of an order, its base is the first level. Ingest
is one process, checks, replay and writing included, against `json.loads` of the same files. Caches are emptied before every round, as if
no game had been played or read.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.figures import Figure, seconds
from benchmarks.timing import forget, medians
from benchmarks.workload import fresh, scratch
from games.coordination import capture, escape, kitchen
from games.coordination.courses.agent import GAMES, CoordinationGame, Table
from games.coordination.courses.scripts import POLICIES as COORDINATION
from games.coordination.courses.scripts import ScriptedTeam
from games.coordination.hanabi import HanabiTable, Move, deck_of_seed
from games.coordination.kitchen import LAYOUTS
from games.coordination.setup import course_of
from games.coordination.setup import game_of as coordination_of
from games.experiments.plan import short_form
from games.overcooked.engine.references import searched_references
from games.overcooked.engine.tasks import tasks
from games.overcooked.players.scripts import POLICIES
from games.overcooked.replay import replay
from games.overcooked.setup import Kitchen, game_of, scripted_course
from games.players.course import played_by
from games.players.running import Job, run_games
from ingest.files.run import ingest_paths
from schemas.store.store import Store

__all__ = ["run"]

_ROUNDS: Final = 3
_SEEDS: Final[dict[CoordinationGame, int]] = {"hanabi": 5, "overcooked": 3, "collab_capture": 40, "collab_escape": 200}
"""Games of each pair of players; a kitchen's has 400 ticks. So many that opening a store, a sixth of a second, is not what is measured: so
Collab-Overcooked has all its orders."""

_MOST: Final = 10.0

_OVERCOOKED: Final = "Collab-Overcooked"

_Step = dict[str, Any]


class _Logs(NamedTuple):
    """Games that cotrace played itself."""

    name: str
    paths: Sequence[Path]
    games: Sequence[list[_Step]]
    """Of each game the lines, or the steps, of its log."""

    play: Callable[[list[_Step]], None]
    """Carries out what was done in a game."""


def run() -> list[Figure]:
    """Measure."""
    logs = [_overcooked(), *(_coordination(game) for game in GAMES if game != "hanabi" or find_spec("pyspiel"))]
    return [*map(_steps, logs), *_search(), *map(_ingest, logs)]


def _overcooked() -> _Logs:
    orders = [task.order for task in tasks().values()]
    found = short_form("overcooked", scratch() / "overcooked", players=[f"all=script:{name}" for name in POLICIES], task=orders)
    report = run_games(found.jobs, found.table)
    return _Logs(_OVERCOOKED, report.paths, [_entries(job) for job in found.jobs], _replay_overcooked)


def _entries(job: Job) -> list[_Step]:
    """The timesteps of a game as the published code logs them."""
    game = game_of(job.header)
    opened = Kitchen.of(game)
    for _ in scripted_course(game, opened):
        pass
    return opened.entries


def _coordination(game: CoordinationGame) -> _Logs:
    players = [f"all=script:{name}" for name in COORDINATION[game]]
    found = short_form("coordination", scratch() / "coordination", players=players, seeds=range(_SEEDS[game]), game=game)
    report = run_games(found.jobs, found.table)
    return _Logs(game, report.paths, [_step_log(job) for job in found.jobs], _REPLAYS[game])


def _step_log(job: Job) -> list[_Step]:
    """The turns of a game as the published code logs them."""
    asked = coordination_of(job.header)
    table = Table(asked.seed)
    for _ in played_by(course_of(asked, table), ScriptedTeam(asked, table)):
        pass
    steps: list[_Step] = json.loads(json.dumps(table.steps))
    return steps


def _replay_overcooked(steps: list[_Step]) -> None:
    for _ in replay(steps[0]["order_list"][0], [step["actions"] for step in steps]):
        pass


def _replay_kitchen(steps: list[_Step]) -> None:
    layout = LAYOUTS[steps[0]["layout"]]
    state = kitchen.start(layout)
    for step in steps:
        state, _ = kitchen.step(layout, state, [action["low_level"] for action in step["actions"]])


def _replay_capture(steps: list[_Step]) -> None:
    state = capture.start(steps[0]["scenario"])
    for step in steps:
        texts = {player["player"]: player["executed"] for player in step["players"]}
        chosen = {name: next(action for action in state.actions(name) if action.text == text) for name, text in texts.items()}
        state = capture.step(state, chosen, first=step["turn"] == 1).state


def _replay_escape(steps: list[_Step]) -> None:
    state = escape.START
    for step in steps:
        choice = next(option for option in escape.killer_options(state) if option.room == escape.room_in(step["adversary_choice"]))
        state, _ = escape.step(state, choice, {player["player"]: player["executed"] for player in step["players"]})


def _replay_hanabi(steps: list[_Step]) -> None:
    table = HanabiTable(deck_of_seed(steps[0]["seed"]))
    for step in steps:
        move = step["engine_move"]
        value = move.get("color") or move.get("rank")
        table.play(Move(move["type"].lower(), move.get("card_index"), None if value is None else str(value)))


_REPLAYS: Final[dict[CoordinationGame, Callable[[list[_Step]], None]]] = {
    "hanabi": _replay_hanabi,
    "overcooked": _replay_kitchen,
    "collab_capture": _replay_capture,
    "collab_escape": _replay_escape,
}


def _steps(logs: _Logs) -> Figure:
    taken = medians(_ROUNDS, {"base": partial(_load, logs.paths), "ours": partial(_play_all, logs)}, _forget)
    ours, base = taken["ours"].wall_s, taken["base"].wall_s
    steps = sum(map(len, logs.games))
    return Figure(
        f"{logs.name}: {steps / ours:,.0f} steps/s, {steps:,} steps of {len(logs.games)} games",
        seconds(ours),
        f"{seconds(base)}: json.loads of their logs, {_megabytes(logs):.1f} MB",
        ours / base,
    )


def _forget() -> None:
    forget("games.", "ingest.")


def _play_all(logs: _Logs) -> None:
    for game in logs.games:
        logs.play(game)


def _load(paths: Sequence[Path]) -> None:
    for path in paths:
        texts = [path.read_bytes()] if path.suffix == ".json" else path.read_bytes().splitlines()
        for text in texts:
            json.loads(text)


def _megabytes(logs: _Logs) -> float:
    return sum(path.stat().st_size for path in logs.paths) / 1e6


def _search() -> list[Figure]:
    """One order of each level: those of a level differ in their ingredients only."""
    orders = _orders()
    taken = medians(
        _ROUNDS, {level: partial(searched_references, order) for level, order in orders.items()}, searched_references.cache_clear
    )
    first = taken["1"].wall_s
    return [
        Figure(
            f"reference search, level {level}, {len(searched_references(orders[level]).edges):,} states",
            seconds(found.wall_s),
            f"{seconds(first)}: level 1",
            found.wall_s / first,
        )
        for level, found in taken.items()
    ]


def _orders() -> dict[str, str]:
    """Level -> an order."""
    return {str(task.level): task.order for task in tasks().values()}


def _ingest(logs: _Logs) -> Figure:
    taken = medians(_ROUNDS, {"base": partial(_load, logs.paths), "ours": partial(_ingest_alone, logs)}, _forget)
    ours, base = taken["ours"].wall_s, taken["base"].wall_s
    return Figure(
        f"ingest of {logs.name}, {len(logs.games)} games, one process",
        seconds(ours),
        f"{seconds(base)}: json.loads of their logs, {_megabytes(logs):.1f} MB",
        ours / base,
        f"<= {_MOST:g}",
        ours / base <= _MOST,
    )


def _ingest_alone(logs: _Logs) -> None:
    report = ingest_paths(logs.paths, Store(fresh("kitchens.duckdb")), workers=1)
    assert report.is_clean, report.rejected[:3]
