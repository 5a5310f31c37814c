"""Reads AsymPuzl logs, record `asympuzl/1`: JSON Lines, one file a run, many games in it.

Format: docs/asympuzl.md. A game without a `result` line is one that still runs or was cut: what is there is the episode, and the
next ingest replaces it.
"""

import time
from collections.abc import Iterator
from typing import Final

from games.asympuzl.puzzle import AGENTS, wrong_positions
from ingest.asympuzl import replay as replays
from ingest.asympuzl.records import EntryRecord, LoggedGame, sort_lines
from ingest.reading.adapter_types import Place, Reading, begins, episode_id, run_id
from ingest.reading.text import dumps, refuse_spread_objects
from schemas.common.errors import BadInputError
from schemas.records import Agent, Episode, Json, LogDisagreement, Run, Turn, Utterance

FORMAT: Final = "asympuzl"
VERSION: Final = 3

_ROLES: Final = {"A": "alice", "B": "bob"}


sniff: Final = begins(rb"\A\s*\{", rb'"schema"\s*:\s*"asympuzl/|"type"\s*:\s*"turn"[^\n]*"hypothesis_after"')


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is not JSON Lines, or no game of it can be used, and no line gives the reason.
    """
    refuse_spread_objects(data)
    lines = sort_lines(data)
    found = Reading(rejects=lines.rejects)
    for game in lines.games:
        found.add(_game(game, place))
    if not found.episodes and not found.rejects:
        raise BadInputError("no `game` line: this is not a whole AsymPuzl log")
    return found


def _game(game: LoggedGame, place: Place) -> Reading:
    episode = episode_id("asympuzl", place.path, game.index)
    started = time.perf_counter()
    replayed = replays.replay(game)
    reading = Reading(episodes=[episode], turns=(len(game.turns) + 1) // 2, replay_s=time.perf_counter() - started)
    record = game.record
    condition = {name: getattr(record, name) for name in _CONDITION}
    name = f"{record.run_id}/{record.size}_{record.feedback_mode}"
    run, rows = Run(run_id("asympuzl", name, _team(game), condition), "asympuzl", name, Json(dumps(condition)), None), reading.rows
    rows["runs"].append(run)
    rows["episodes"].append(_episode(episode, game, replayed, place, run))
    rows["agents"] += _agents(episode, game)
    rows["episode_metrics"] += replays.episode_metrics(episode, replayed, complete=_solved(game, replayed) is not None)
    rows["turn_metrics"] += replays.turn_metrics(episode, replayed)
    rows["turn_values"] += replays.turn_values(episode, replayed, game.record.history_length)
    rows["log_disagreements"] += [LogDisagreement(episode, None, *found) for found in replayed.differences]
    logged = {"A": game.record.clues_a, "B": game.record.clues_b}
    for number, start in enumerate(range(0, len(replayed.turns), 2), start=1):
        answers = replayed.turns[start : start + 2]  # one where the log ends in the middle
        before = _state(logged)
        rows["oracle_actions"] += replays.oracle_actions(episode, number, answers, replayed)
        logged |= {answer.agent: answer.record.hypothesis_after for answer in answers}
        rows["turns"].append(_turn(episode, number, answers, (before, _state(logged)), replayed))
        rows["utterances"] += _utterances(episode, number, answers)
        rows["actions"] += replays.actions(episode, number, answers)
        rows["failures"] += [row for answer in answers for row in replays.failures(episode, answer)]
        rows["log_disagreements"] += [LogDisagreement(episode, number, *found) for answer in answers for found in answer.differences]
    return reading


def _state(hypotheses: dict[str, list[EntryRecord]]) -> str:
    return dumps({agent: [entry.model_dump() for entry in hypotheses[agent]] for agent in AGENTS})


_CONDITION: Final = ("size", "feedback_mode", "max_turns", "history_length", "temperature", "max_output_tokens", "tokenizer")
"""Fields of a game's first line that tell runs apart."""


def _team(game: LoggedGame) -> dict[str, str]:
    return {_ROLES["A"]: game.record.model_a, _ROLES["B"]: game.record.model_b}


def _episode(episode: str, game: LoggedGame, replayed: replays.ReplayedGame, place: Place, run: Run) -> Episode:
    record, result, solved = game.record, game.result, _solved(game, replayed)
    played = (len(game.turns) + 1) // 2
    reason = None
    if result is not None and solved is not None:
        reason = "solved" if solved else "max_turns" if record.max_turns is not None and played >= record.max_turns else None
    return Episode(
        episode_id=episode,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark="asympuzl",
        task_id=f"{record.size}:{record.seed if record.seed is not None else record.game_id}",
        level=str(record.size),
        model=record.model_a if record.model_a == record.model_b else f"{record.model_a}+{record.model_b}",
        team=Json(dumps(_team(game))),
        seed=record.seed,
        max_turns=record.max_turns,
        turns_taken=played,
        success=solved,
        score=None if solved is None else replays.progress_of(replayed, len(replayed.turns)),
        stop_reason=reason,
        error=None,
        goal=Json(dumps({"truth": [entry.model_dump() for entry in record.truth]})),
        details=Json(dumps(_details(game, complete=solved is not None))),
        file=place.file,
        started_at=None,
    )


def _solved(game: LoggedGame, replayed: replays.ReplayedGame) -> bool | None:
    """As the result states or, without one, as the rules ended the game; None if turns are lost, or the end is not known."""
    if game.reject is not None:
        return None
    return game.result.solved if game.result else replays.solved_by_rules(replayed, game.record.max_turns)


def _details(game: LoggedGame, *, complete: bool) -> dict[str, object]:
    """What else the log states; ``result_solved``, ``agent_turns_lost`` and ``unfinished_line_bytes`` only where they are needed."""
    details: dict[str, object] = {
        "game_id": game.record.game_id,
        "complete": complete,
        "feedback_mode": game.record.feedback_mode,
        "scripted": game.record.scripted,
        "history_length": game.record.history_length,
        **(game.record.model_extra or {}),
    }
    details.pop("type", None)
    if game.result is not None and not complete:
        details["result_solved"] = game.result.solved
    if game.lost:
        details["agent_turns_lost"] = len(game.lost)
    if game.unfinished_bytes:
        details["unfinished_line_bytes"] = game.unfinished_bytes
    return details


def _agents(episode: str, game: LoggedGame) -> Iterator[Agent]:
    record = game.record
    for agent, model, clues in (("A", record.model_a, record.clues_a), ("B", record.model_b, record.clues_b)):
        view = Json(dumps({"clues": [entry.model_dump() for entry in clues]}))
        persona = model if record.scripted else None
        yield Agent(episode, agent, _ROLES[agent], model, persona, view, "shapes" if agent == "A" else "shuffled_pairs", "log")


def _turn(
    episode: str, number: int, answers: tuple[replays.ReplayedTurn, ...], states: tuple[str, str], replayed: replays.ReplayedGame
) -> Turn:
    whole = len(answers) == len(AGENTS)
    return Turn(
        episode_id=episode,
        turn=number,
        state_before=Json(states[0]),
        state_after=Json(states[1]),
        oracle_available=False,
        progress=replays.progress_of(replayed, 2 * (number - 1) + len(answers)),
        goal_reached=all(not wrong_positions(answer.after, replayed.puzzle.truth) for answer in answers) if whole else None,
    )


def _utterances(episode: str, number: int, answers: tuple[replays.ReplayedTurn, ...]) -> Iterator[Utterance]:
    """What an agent wrote around its JSON, for itself; then its message, for both, empty ones included."""
    seq = 0
    for answer in answers:
        agent, record = answer.agent, answer.record
        if answer.made.answer.preamble:
            seq += 1
            yield Utterance(episode, number, seq, agent, "private", [agent], answer.made.answer.preamble)
        seq += 1
        yield Utterance(episode, number, seq, agent, "public", list(AGENTS), record.message, record.message_tokens)
