"""Rows of a game of LLM-Coordination; of what turns have many of, as plain tuples in the order of the table's columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from games.coordination.players import PLAYERS, Player
from ingest.coordination.parts import BENCHMARK, GameParts, planted
from ingest.reading.adapter_types import Place, Reading, run_id
from ingest.reading.json_text import dumps
from schemas.records import (
    Agent,
    Episode,
    EpisodeMetric,
    Json,
    Label,
    LogDisagreement,
    Run,
    TurnMetric,
)

__all__ = ["game_rows"]

_UNKNOWN: Final = "unknown"
"""`episodes.model` of a game whose log names neither player; of two, the known one alone names the game."""


def game_rows(identity: str, parts: GameParts, place: Place, logged: Mapping[str, object]) -> Reading:
    """The rows of one game.

    Args:
        identity: its episode_id.
        parts: the game.
        place: where the log lies.
        logged: details: `episode`, what the log calls the game; `complete`, its last turn is the last of the game; `console`, it comes from
            a text of the published game, which may tell again what a step log tells.
    """
    reading = Reading(episodes=[identity], turns=len(parts.turns))
    run, rows = _run(parts), reading.rows
    details: dict[str, object] = {"game": parts.game, **logged, "fingerprint": _fingerprint(parts)}
    rows["runs"].append(run)
    rows["episodes"].append(_episode(identity, parts, run, place, details))
    rows["agents"] += [
        Agent(identity, player, "player", parts.policies[player], _persona(parts, player), None, None, None) for player in PLAYERS
    ]
    rows["episode_metrics"] += [
        EpisodeMetric(identity, f"{BENCHMARK}.{parts.game}_{metric}", float(value)) for metric, value in parts.metrics.items()
    ]
    numbered = list(enumerate(parts.turns, start=1))
    rows["turns"] += [
        (identity, number, turn.before, turn.after, False, None, turn.progress, turn.goal_reached, None, None) for number, turn in numbered
    ]
    rows["utterances"] += [
        (identity, number, seq, said.agent, "private", [said.agent], said.text, None, said.superseded)
        for number, turn in numbered
        for seq, said in enumerate(turn.said, start=1)
    ]
    rows["actions"] += [
        (identity, number, seq, *act[:-1], turn.read_of(act.agent), None)
        for number, turn in numbered
        for seq, act in enumerate(turn.acts, start=1)
    ]
    rows["turn_metrics"] += [
        TurnMetric(identity, number, f"{BENCHMARK}.{metric}", float(v)) for number, turn in numbered for metric, v in turn.metrics.items()
    ]
    rows["turn_values"] += [(identity, number, *value) for number, turn in numbered for value in turn.values]
    rows["failures"] += [(identity, number, *category) for number, turn in numbered for category in turn.categories]
    rows["labels"] += [
        label
        for number, turn in numbered
        for player, faults in turn.injected.items()
        if faults
        for label in _labels(identity, number, player, faults, parts)
    ]
    rows["log_disagreements"] += [
        LogDisagreement(identity, number, *difference) for number, turn in numbered for difference in turn.differences
    ]
    return reading


def _fingerprint(parts: GameParts) -> str:
    """Hash of what was done: the same game in another log has the same, also where that log does not know the seed."""
    done = [act.told for turn in parts.turns for act in turn.acts]
    text = f"({sorted(parts.condition.items())!r}, [{', '.join(done)}])"
    return hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=8).hexdigest()


def _persona(parts: GameParts, player: Player) -> str | None:
    return ", ".join(filter(None, (parts.policies[player], parts.styles.get(player)))) or None


def _run(parts: GameParts) -> Run:
    return _run_of(parts.game, tuple(parts.condition.items()), tuple(parts.policies.items()))


@lru_cache(maxsize=256)
def _run_of(game: str, condition: tuple[tuple[str, object], ...], policies: tuple[tuple[Player, str | None], ...]) -> Run:
    name = "/".join([game, *(str(value) for key, value in condition if key != "game")])
    team = {player.lower(): policy for player, policy in policies}
    return Run(run_id(BENCHMARK, name, team, dict(condition)), BENCHMARK, name, Json(dumps(dict(condition))), None)


def _episode(identity: str, parts: GameParts, run: Run, place: Place, details: dict[str, object]) -> Episode:
    named = filter(None, dict.fromkeys(parts.policies[player] for player in PLAYERS))
    return Episode(
        episode_id=identity,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark=BENCHMARK,
        task_id=parts.task_id,
        level=parts.game,
        model="+".join(named) or _UNKNOWN,
        team=Json(dumps({player.lower(): policy for player, policy in parts.policies.items()})),
        seed=parts.seed,
        max_turns=parts.max_turns,
        turns_taken=len(parts.turns),
        success=parts.success if details["complete"] else None,
        score=parts.score if details["complete"] else None,
        stop_reason=parts.stop_reason,
        error=None,
        goal=Json(dumps(dict(parts.goal))),
        details=Json(dumps(details)),
        file=place.file,
        started_at=parts.started_at,
    )


def _labels(identity: str, number: int, player: Player, faults: Sequence[str], parts: GameParts) -> list[Label]:
    unit = f"{identity}/{number}/{player}"
    annotator = parts.policies[player] or _UNKNOWN
    return [
        Label("planted", annotator, truth.rubric, truth.question, unit, identity, number, player, truth.answer, 0.0)
        for truth in planted(faults, player)
    ]
