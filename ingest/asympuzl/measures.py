"""The rows that rules give for an AsymPuzl game: actions, verified actions, metrics, derived failure labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from games.asympuzl.answer import FAULTS, answer_reading
from games.asympuzl.labels import FAILURES
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle, wrong_positions
from games.asympuzl.record import summary
from ingest.asympuzl.replay import ReplayedGame, ReplayedTurn
from ingest.reading.json_text import dumps
from schemas.records import Action, EpisodeMetric, Failure, Json, OracleAction, TurnMetric

__all__ = ["TAXONOMY", "actions", "episode_metrics", "failures", "oracle_actions", "progress_of", "solved_by_rules", "turn_metrics"]

TAXONOMY: Final = "asympuzl_derived"
_NOTHING_FOUND: Final = "correct"
_NO_JSON: Final = "no_json"


def progress_of(game: ReplayedGame, answers: int) -> float:
    """Share of right entries in both hypotheses after that many answers, 0 to 1."""
    hypotheses: dict[Agent, tuple[Entry, ...]] = {agent: game.puzzle.clues(agent) for agent in AGENTS}
    hypotheses |= {turn.agent: turn.after for turn in game.turns[max(0, answers - 2) : answers]}
    wrong = sum(len(wrong_positions(hypotheses[agent], game.puzzle.truth)) for agent in AGENTS)
    return 1 - wrong / (2 * game.puzzle.size)


def solved_by_rules(game: ReplayedGame, max_turns: int | None) -> bool | None:
    """Whether both were right after the last turn of both; None if the rules have not ended the game with it."""
    whole = len(game.turns) // 2
    solved = whole > 0 and all(turn.ok_after for turn in game.turns[2 * whole - 2 : 2 * whole])
    return solved if solved or whole >= (max_turns or 2 * game.puzzle.size) else None


def actions(episode: str, number: int, answers: Sequence[ReplayedTurn]) -> Iterator[Action]:
    """Each logged action; an answer without JSON is one refused action of its own, so that trying it again shows."""
    seq = 0
    for answer in answers:
        agent, record = answer.agent, answer.record
        reading = answer_reading(record.raw_output) if record.raw_output else None
        if not answer.parse_ok:
            seq += 1
            text = "no JSON object with message or actions"
            yield Action(episode, number, seq, agent, "answer", Json("{}"), record.raw_output, False, False, _NO_JSON, text, "unreadable")  # noqa: FBT003
        for logged, undoes in zip(record.actions, answer.undoes, strict=True):
            seq += 1
            fault = None if logged.valid else (logged.reason or "bad_structure")
            yield Action(
                episode_id=episode,
                turn=number,
                seq=seq,
                agent=agent,
                verb="replace",
                arguments=_arguments(logged.replace, logged.shape, logged.color),
                raw=None,
                accepted=logged.valid,
                undoes=undoes,
                error_code=fault,
                error_text=next((text for name, text in FAULTS.items() if name == fault), None),
                read=reading and reading.read,
                used=reading and reading.used,
            )


def _arguments(place: object, shape: str | None, color: str | None) -> Json:
    return Json(dumps({"position": place, "shape": shape, "color": color}))


def oracle_actions(episode: str, number: int, answers: Sequence[ReplayedTurn], game: ReplayedGame) -> Iterator[OracleAction]:
    """The writes that would put a wrong entry right at the start of the turn; no agent is shown them.

    One that changes a position which that agent had changed before undoes, as the same action of the agent would.
    """
    rank = 0
    for answer in answers:
        earlier = {place for turn in game.turns[: 2 * (number - 1)] if turn.agent == answer.agent for place in _changed(turn)}
        for place in wrong_positions(answer.before, game.puzzle.truth):
            rank += 1
            right = game.puzzle.truth[place - 1]
            what = Json(dumps({"agent": answer.agent, "position": place, "shape": right.shape, "color": right.color}))
            yield OracleAction(episode, number, rank, "replace", what, place in earlier, listed=False, verified=True)


def _changed(turn: ReplayedTurn) -> set[int]:
    return {action.request.replace for action in turn.applied if action.changed and action.request.replace is not None}


def failures(episode: str, answer: ReplayedTurn) -> Iterator[Failure]:
    """The derived labels of an agent's turn that mean a failure, each by rule; `correct` where there is none."""
    found = [label for label in answer.labels if label.label in FAILURES]
    for label, evidence in found:
        yield Failure(episode, answer.record.turn, answer.agent, TAXONOMY, label, f"method rule: {evidence}")
    if not found:
        yield Failure(episode, answer.record.turn, answer.agent, TAXONOMY, _NOTHING_FOUND, "method rule")


def turn_metrics(episode: str, game: ReplayedGame) -> Iterator[TurnMetric]:
    """Progress from turn 0 on, and the numbers of each agent's turn, their names ending in `_a` or `_b`."""
    yield TurnMetric(episode, 0, "asympuzl.overall_progress", progress_of(game, 0))
    for index, turn in enumerate(game.turns, start=1):
        if turn.agent == AGENTS[-1] or index == len(game.turns):
            yield TurnMetric(episode, turn.record.turn, "asympuzl.overall_progress", progress_of(game, index))
        for name, value in _numbers(turn, game.puzzle):
            yield TurnMetric(episode, turn.record.turn, f"asympuzl.{name}_{turn.agent.lower()}", float(value))


def _numbers(turn: ReplayedTurn, puzzle: Puzzle) -> Iterator[tuple[str, float]]:
    record, valid = turn.record, [action for action in turn.applied if action.valid]
    labels = {label for label, _ in turn.labels}
    logged = {
        "output_tokens": record.output_tokens,
        "message_tokens": record.message_tokens,
        "parse_ok": turn.parse_ok,
        "parse_strict": record.parse_strict,
    }
    yield from ((name, value) for name, value in logged.items() if value is not None)
    yield "wrong_positions", len(wrong_positions(turn.after, puzzle.truth))
    yield "writes", len(valid)
    yield "changes", sum(action.changed for action in valid)
    yield "invalid_actions", len(turn.applied) - len(valid)
    yield "overcorrections", sum(action.takes_back for action in valid)
    yield "sufficient_message", "sufficient_message" in labels
    yield "repeated_message", "repeated_message" in labels


def episode_metrics(episode: str, game: ReplayedGame, *, complete: bool) -> Iterator[EpisodeMetric]:
    """When the parts were solved, how often positions were written, and the fewest changes that B could have done with.

    Of a game that is not complete only the last is known.
    """
    size = game.puzzle.size
    facts = summary(game.turns, size)
    played: dict[str, float | None] = {
        "overall_progress": progress_of(game, len(game.turns)),
        "solved": facts["solved"],
        **{name: facts[name] for name in ("solved_turn", "solved_turn_a", "solved_turn_b")},
        **{f"{kind}_per_position_{agent}": sum(facts[f"{kind}_{agent}"]) / size for kind in ("writes", "changes") for agent in ("a", "b")},
    }
    values: dict[str, float | None] = {
        **(played if complete else {}),
        "optimal_changes_per_position_a": 1.0,
        "optimal_changes_per_position_b": len(wrong_positions(game.puzzle.clues_b, game.puzzle.truth)) / size,
    }
    for name, value in values.items():
        if value is not None:
            yield EpisodeMetric(episode, f"asympuzl.{name}", float(value))
