"""Rows of a game of LLM-Coordination."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final

from games.coordination.players import PLAYERS, Player
from ingest.coordination.parts import Act, GameParts, TurnParts, planted
from ingest.reading.adapter_types import Place, Reading, run_id
from ingest.reading.json_text import dumps
from schemas.records import (
    Action,
    Agent,
    Episode,
    EpisodeMetric,
    Failure,
    Json,
    Label,
    LogDisagreement,
    Run,
    Turn,
    TurnMetric,
    TurnValue,
    Utterance,
)

__all__ = ["game_rows"]

_BENCHMARK: Final = "coordination"

_NAME: Final = itemgetter(0)

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
        EpisodeMetric(identity, f"{_BENCHMARK}.{parts.game}_{metric}", float(value)) for metric, value in parts.metrics.items()
    ]
    rows["turns"] += _turns(identity, parts.turns)
    numbered = list(enumerate(parts.turns, start=1))
    rows["utterances"] += [
        Utterance(identity, number, seq, said.agent, "private", [said.agent], said.text, None, said.superseded)
        for number, turn in numbered
        for seq, said in enumerate(turn.said, start=1)
    ]
    rows["actions"] += [_action(identity, number, seq, act) for number, turn in numbered for seq, act in enumerate(turn.acts, start=1)]
    rows["turn_metrics"] += [
        TurnMetric(identity, number, f"{_BENCHMARK}.{metric}", float(v)) for number, turn in numbered for metric, v in turn.metrics.items()
    ]
    rows["turn_values"] += [
        TurnValue(identity, number, f"{_BENCHMARK}.{v.measure}", v.before, v.after, v.cost, v.unit, v.kind)
        for number, turn in numbered
        for v in turn.values
    ]
    rows["failures"] += [
        Failure(identity, number, c.agent, c.taxonomy, c.category, c.evidence) for number, turn in numbered for c in turn.categories
    ]
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
    done = [_told(act.agent, act.verb, tuple(act.arguments.items())) for turn in parts.turns for act in turn.acts]
    text = f"({sorted(parts.condition.items())!r}, [{', '.join(done)}])"
    return hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=8).hexdigest()


@lru_cache(maxsize=4096)
def _told(agent: Player, verb: str, arguments: tuple[tuple[str, object], ...]) -> str:
    """What was done, without its wording, which differs between logs of one game."""
    return repr((agent, verb, sorted(((name, _listed(value)) for name, value in arguments if name != "text"), key=_NAME)))


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@lru_cache(maxsize=4096)
def _written(arguments: tuple[tuple[str, object], ...]) -> Json:
    return Json(dumps(dict(arguments)))


def _persona(parts: GameParts, player: Player) -> str | None:
    return ", ".join(filter(None, (parts.policies[player], parts.styles.get(player)))) or None


def _run(parts: GameParts) -> Run:
    name = "/".join([parts.game, *(str(value) for key, value in parts.condition.items() if key != "game")])
    team = {player.lower(): policy for player, policy in parts.policies.items()}
    return Run(run_id(_BENCHMARK, name, team, parts.condition), _BENCHMARK, name, Json(dumps(dict(parts.condition))), None)


def _episode(identity: str, parts: GameParts, run: Run, place: Place, details: dict[str, object]) -> Episode:
    named = filter(None, dict.fromkeys(parts.policies[player] for player in PLAYERS))
    return Episode(
        episode_id=identity,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark=_BENCHMARK,
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


def _turns(identity: str, turns: Sequence[TurnParts]) -> Iterator[Turn]:
    left, text = None, ""
    for number, turn in enumerate(turns, start=1):
        before = text if turn.before is left else dumps(turn.before, finite=True)
        left, text = turn.after, dumps(turn.after, finite=True)
        yield Turn(
            episode_id=identity,
            turn=number,
            state_before=Json(before),
            state_after=Json(text),
            oracle_available=False,
            oracle_followed=None,
            progress=turn.progress,
            goal_reached=turn.goal_reached,
            error=None,
            at=None,
        )


def _action(identity: str, number: int, seq: int, act: Act) -> Action:
    code, text = act.fault or (None, None)
    arguments = _written(tuple(act.arguments.items()))
    accepted = False if act.fault else act.accepted
    return Action(identity, number, seq, act.agent, act.verb, arguments, act.raw, accepted, act.undoes, code, text)


def _labels(identity: str, number: int, player: Player, faults: Sequence[str], parts: GameParts) -> list[Label]:
    unit = f"{identity}/{number}/{player}"
    annotator = parts.policies[player] or _UNKNOWN
    return [
        Label("planted", annotator, truth.rubric, truth.question, unit, identity, number, player, truth.answer, 0.0)
        for truth in planted(faults, player)
    ]
