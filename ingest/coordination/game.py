"""A game of LLM-Coordination and its turns, whichever of the four it is: what their readers hand on, its regrets, its rows."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final, NamedTuple

from games.coordination.hanabi import HanabiState
from games.coordination.players import HARNESS_READS, KINDS, PLANTED_QUESTIONS, PLAYERS, READS, Player, Read
from games.coordination.value import ceilings
from ingest.reading.adapter_types import Difference, Place, Reading, run_id
from ingest.reading.text import dumps
from schemas import records
from schemas.common.text import excerpt
from schemas.replies import Read as ReadKind

BENCHMARK: Final = "coordination"

_READ: Final = "coordination_read"

PRINTED_ON_FAILURE: Final = 35
"""Turns that the published console of the capture prints for a game without one."""

_NAME: Final = itemgetter(0)


class PrivateReply(NamedTuple):
    """A reply of a player's model. Players never exchange messages, so it is private."""

    agent: Player
    text: str
    superseded: bool = False


class Act(NamedTuple):
    """An action and what became of it: a row of `actions` without its game and place, and how it reads in a fingerprint."""

    agent: Player
    verb: str
    arguments: records.Json
    raw: str | None
    """What was meant, as far as the log states."""
    accepted: bool | None
    """None where the log does not say."""
    undoes: bool
    error_code: str | None
    """Where it came to nothing or did harm, as the words."""
    error_text: str | None
    report: str
    """What was done, without its wording, which differs between logs of one game."""


def act(doing: tuple[Player, str], arguments: Mapping[str, Any], raw: str | None, fault: tuple[str, str] | None = None) -> Act:
    """An action.

    Args:
        doing: who does what.
        arguments: few values that come again and again: plain ones, or tuples of them.
        raw: what was meant.
        fault: code and words where it came to nothing or did harm; without one it was carried out.
    """
    pairs = tuple(arguments.items())
    code, text = fault or (None, None)
    return Act(
        *doing, _written(pairs), raw, accepted=fault is None, undoes=False, error_code=code, error_text=text, report=_report(*doing, pairs)
    )


@lru_cache(maxsize=4096)
def _report(agent: Player, verb: str, arguments: tuple[tuple[str, object], ...]) -> str:
    plain = ((name, list(value) if isinstance(value, tuple) else value) for name, value in arguments if name != "text")
    return repr((agent, verb, sorted(plain, key=_NAME)))


@lru_cache(maxsize=4096)
def _written(arguments: tuple[tuple[str, object], ...]) -> records.Json:
    return records.Json(dumps(dict(arguments)))


def state_text(state: object) -> records.Json:
    """A state, in which every number is finite, as turns hold it."""
    return records.Json(dumps(state, finite=True))


class Category(NamedTuple):
    """A category that a rule gives: a row of `failures` without its game and turn."""

    agent: Player
    taxonomy: str
    category: str
    evidence: str | None = None


def reading(agent: Player, read: Read | None, reply: str | None, slips: Sequence[str] = ()) -> list[Category]:
    """How a reply became an action, as a category of `coordination_read`; none where the log does not let it be known."""
    if read is None:
        return []
    shown = () if read == "exact" else slips or (reply or "",)
    replies = "; ".join(f"{excerpt(text[-_REPLY:])!r}" for text in shown)
    return [Category(agent, _READ, read, f"{READS[read]}: {replies}" if shown else None)]


def own_moves(categories: Sequence[Category]) -> list[Category]:
    """Categories of a turn without those that call a move of the harness good or bad, as if it were the player's.

    Where the log states that the player meant the action all the same, the move is its own.
    """
    meant = {found.agent for found in categories if (found.taxonomy, found.category) == ("coordination_grounding", "as_intended")}
    chosen = {found.agent for found in categories if found.taxonomy == _READ and found.category in HARNESS_READS}
    not_own = chosen - meant
    return [found for found in categories if found.agent not in not_own or found.taxonomy.startswith("coordination_")]


_REPLY: Final = 160
"""Characters of a reply's end that evidence holds: the action comes last."""


class Valued(NamedTuple):
    """What the turn cost, by one measure: a row of `turn_values` without its game and turn."""

    measure: str
    before: float
    after: float
    cost: float | None
    unit: str
    kind: str = "exact"


@dataclass(slots=True, kw_only=True)
class TurnParts:
    """A turn or tick."""

    before: records.Json
    after: records.Json
    progress: float | None
    """0..1; None where the log does not let it be computed, as `goal_reached`."""
    goal_reached: bool | None
    replies: Sequence[PrivateReply] = ()
    acts: Sequence[Act] = ()
    categories: Sequence[Category] = ()
    injected: Mapping[Player, Sequence[str]] = field(default_factory=dict)
    """Player who decided in this turn -> what its script did wrong on purpose."""
    differences: Sequence[Difference] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    values: Sequence[Valued] = ()

    def read_of(self, agent: Player) -> ReadKind | None:
        """How the agent's reply was read; None where it gave none, or the log does not let it be known."""
        found = (rule.category for rule in self.categories if rule.taxonomy == _READ and rule.agent == agent)
        return next((kind for read, kind in KINDS.items() if read in found), None)


@dataclass(slots=True, kw_only=True)
class GameParts:
    """A game."""

    game: str
    """hanabi, overcooked, collab_capture or collab_escape."""
    task_id: str
    condition: Mapping[str, Any]
    policies: Mapping[Player, str | None]
    """None where the log does not say who played."""
    styles: Mapping[Player, str | None]
    seed: int | None = None
    max_turns: int | None = None
    success: bool | None = None
    """None where the log does not say, as `score`."""
    score: float | None
    stop_reason: str | None
    metrics: Mapping[str, float]
    turns: Sequence[TurnParts]
    goal: Mapping[str, Any]
    started_at: datetime | None = None
    """As logged."""


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
    run, rows = _run_of(parts.game, tuple(parts.condition.items()), tuple(parts.policies.items())), reading.rows
    details: dict[str, object] = {"game": parts.game, **logged, "fingerprint": _fingerprint(parts)}
    rows["runs"].append(run)
    rows["episodes"].append(_episode(identity, parts, run, place, details))
    for player, policy in ((player, parts.policies[player]) for player in PLAYERS):
        persona = ", ".join(filter(None, (policy, parts.styles.get(player)))) or None
        rows["agents"].append(records.Agent(identity, player, "player", policy, persona))
    rows["episode_metrics"] += [
        records.EpisodeMetric(identity, f"{BENCHMARK}.{parts.game}_{metric}", float(value)) for metric, value in parts.metrics.items()
    ]
    numbered = list(enumerate(parts.turns, start=1))
    rows["turns"] += [
        (identity, number, turn.before, turn.after, False, None, turn.progress, turn.goal_reached, None, None) for number, turn in numbered
    ]
    rows["utterances"] += [
        (identity, number, seq, reply.agent, "private", [reply.agent], reply.text, None, reply.superseded)
        for number, turn in numbered
        for seq, reply in enumerate(turn.replies, start=1)
    ]
    rows["actions"] += [
        (identity, number, seq, *act[:-1], turn.read_of(act.agent), None)
        for number, turn in numbered
        for seq, act in enumerate(turn.acts, start=1)
    ]
    rows["turn_metrics"] += [
        records.TurnMetric(identity, number, f"{BENCHMARK}.{metric}", float(v))
        for number, turn in numbered
        for metric, v in turn.metrics.items()
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
        records.LogDisagreement(identity, number, *difference) for number, turn in numbered for difference in turn.differences
    ]
    return reading


def _fingerprint(parts: GameParts) -> str:
    """Hash of what was done: the same game in another log has the same, also where that log does not know the seed."""
    done = [act.report for turn in parts.turns for act in turn.acts]
    text = f"({sorted(parts.condition.items())!r}, [{', '.join(done)}])"
    return hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=8).hexdigest()


@lru_cache(maxsize=256)
def _run_of(game: str, condition: tuple[tuple[str, object], ...], policies: tuple[tuple[Player, str | None], ...]) -> records.Run:
    name = "/".join([game, *(str(value) for key, value in condition if key != "game")])
    team = {player.lower(): policy for player, policy in policies}
    return records.Run(run_id(BENCHMARK, name, team, dict(condition)), BENCHMARK, name, records.Json(dumps(dict(condition))), None)


def _episode(identity: str, parts: GameParts, run: records.Run, place: Place, details: dict[str, object]) -> records.Episode:
    named = filter(None, dict.fromkeys(parts.policies[player] for player in PLAYERS))
    return records.Episode(
        episode_id=identity,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark=BENCHMARK,
        task_id=parts.task_id,
        level=parts.game,
        model="+".join(named) or _UNKNOWN,
        team=records.Json(dumps({player.lower(): policy for player, policy in parts.policies.items()})),
        seed=parts.seed,
        max_turns=parts.max_turns,
        turns_taken=len(parts.turns),
        success=parts.success if details["complete"] else None,
        score=parts.score if details["complete"] else None,
        stop_reason=parts.stop_reason,
        error=None,
        goal=records.Json(dumps(dict(parts.goal))),
        details=records.Json(dumps(details)),
        file=place.file,
        started_at=parts.started_at,
    )


def _labels(identity: str, number: int, player: Player, faults: Sequence[str], parts: GameParts) -> list[records.Label]:
    """The answers that follow from what a script did wrong on purpose."""
    unit = f"{identity}/{number}/{player}"
    annotator = parts.policies[player] or _UNKNOWN
    return [
        records.Label("planted", annotator, *PLANTED_QUESTIONS[fault], unit, identity, number, player, "no", 0.0)
        for fault in faults
        if fault in PLANTED_QUESTIONS
    ]


def hanabi_values(states: Sequence[HanabiState]) -> Iterator[list[Valued]]:
    """Value the turns between states of a game, in points; all are bounds."""
    for before, after in pairwise(ceilings(states)):
        yield [
            Valued(f"{BENCHMARK}.hanabi_{name}", was, now, was - now, "points", "bound")
            for name, was, now in zip(before._fields, before, after, strict=True)
        ]


def differences(pairs: Mapping[str, tuple[object, object]]) -> tuple[Difference, ...]:
    """Where what is logged is not what the rules give."""
    return tuple(Difference(name, repr(logged), repr(replayed)) for name, (logged, replayed) in pairs.items() if logged != replayed)


def grounding(agent: Player, meant: str | None, done: str, *, slip: bool) -> list[Category]:
    """Whether a player did what it meant; nothing where the log does not say what that was."""
    if meant is None:
        return []
    return [Category(agent, "coordination_grounding", "slip" if slip else "as_intended", f"meant {meant}, did {done}" if slip else None)]
