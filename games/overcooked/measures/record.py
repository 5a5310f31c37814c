"""A game that was played here as the metrics need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.overcooked.engine.tasks import task_of
from games.overcooked.game import Game
from games.overcooked.measures.collaboration import TimestepOutput
from games.overcooked.measures.truncation import GameRecord, Recorded


def game_record(game: Game, entries: Sequence[Mapping[str, Any]]) -> GameRecord:
    """Give the record of a game with the log entries of its timesteps."""
    first, second = ([Recorded(int(str(done["timestamp"])), str(done["action"])) for done in actions] for actions in game.recorded)
    statistics = [entry["statistical_data"] for entry in entries]
    return GameRecord(
        task=task_of(game.world.order, game.world.layout),
        finished=game.world.delivered,
        timestamps=range(len(entries)),
        recorded=(first, second),
        messages=[(_messages(entry, 0), _messages(entry, 1)) for entry in entries],
        calls=[(bool(counted["communication"][0]["call"]), bool(counted["communication"][1]["call"])) for counted in statistics],
        errors={kind: [_errors(counted, kind) for counted in statistics] for kind in ("validator", "format")},
        score=game.world.score,
        horizon=game.horizon,
    )


def _messages(entry: Mapping[str, Any], agent: int) -> list[TimestepOutput]:
    return [TimestepOutput(said["agent"], said["analysis"], said["plan"], said["say"]) for said in entry["content"]["content"][agent]]


def _errors(counted: Mapping[str, Any], kind: str) -> tuple[int, int]:
    chef, assistant = (counted["error"][agent][f"{kind}_error"]["error_num"] for agent in (0, 1))
    return chef, assistant
