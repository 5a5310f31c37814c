"""Logs of AsymPuzl: the record ``asympuzl/1``, and a turn as cotrace's own log holds it.

The record is JSON Lines, one file a run, with three kinds of line (format description, section 10): a game is a ``game`` line, two
``turn`` lines a turn, and a ``result`` line, which is missing while the game runs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import orjson

from games.asympuzl.answer import DEFAULT_TOKENIZER, FAULTS, Applied, Tokenizer, tokenizer
from games.asympuzl.game import AgentTurn, Game, PuzzleView
from games.asympuzl.puzzle import AGENTS, Agent, Entry
from schemas.game import ActionEntry, Turn, UtteranceEntry

SCHEMA: Final = "asympuzl/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a log states about the run that a game belongs to."""

    run_id: str
    model_a: str
    model_b: str
    temperature: float = 0.0
    max_output_tokens: int = 4096
    tokenizer: str = DEFAULT_TOKENIZER
    scripted: bool = False
    """Both models are scripted players; logged beyond what the format asks for."""


class Played(Protocol):
    """What the summary of a game needs to know of an agent's turn: whose it is, whether its part is right after it, and its actions."""

    @property
    def agent(self) -> Agent: ...  # noqa: D102 - see the class
    @property
    def ok_after(self) -> bool: ...  # noqa: D102
    @property
    def applied(self) -> Sequence[Applied]: ...  # noqa: D102


def game_id(run: RunFacts, game: Game, seed: int) -> str:
    """``{run_id}:{size}:{mode}:{seed}``."""
    return f"{run.run_id}:{game.puzzle.size}:{game.settings.mode}:{seed}"


def game_line(run: RunFacts, game: Game, seed: int) -> dict[str, Any]:
    """The first line of a game."""
    puzzle, settings = game.puzzle, game.settings
    return {
        "type": "game",
        "schema": SCHEMA,
        "run_id": run.run_id,
        "game_id": game_id(run, game, seed),
        "size": puzzle.size,
        "seed": seed,
        "max_turns": game.max_turns,
        "history_length": settings.history_length,
        "feedback_mode": settings.mode,
        "model_a": run.model_a,
        "model_b": run.model_b,
        "temperature": run.temperature,
        "max_output_tokens": run.max_output_tokens,
        "tokenizer": run.tokenizer,
        "truth": entries_json(puzzle.truth),
        "clues_a": entries_json(puzzle.clues_a),
        "clues_b": entries_json(puzzle.clues_b),
        **({"scripted": True} if run.scripted else {}),
    }


def turn_line(run: RunFacts, game: str, seen: PuzzleView, made: AgentTurn, *, latency_s: float | None = None) -> dict[str, Any]:
    """The line of an agent's turn; `latency_s` is how long the model took, in seconds, None if that was not measured."""
    count, answer = tokenizer(run.tokenizer), made.answer
    return {
        "type": "turn",
        "game_id": game,
        "turn": made.turn,
        "agent": made.agent,
        "system_prompt": seen.system,
        "user_prompt": seen.user,
        "feedback": None if seen.received is None else seen.received.to_json(),
        "received": [{"from": heard.agent, "turn": heard.turn, "text": heard.text} for heard in seen.conversation],
        "raw_output": made.raw,
        "parse_ok": answer.parse_ok,
        "parse_strict": answer.parse_strict,
        "message_ok": answer.message_ok,
        "actions_ok": answer.actions_ok,
        "message": answer.message,
        "actions": [action_json(applied) for applied in made.applied],
        "hypothesis_after": entries_json(made.after),
        "own_ok_after": made.ok_after,
        "wrong_after": list(made.wrong_after),
        "output_tokens": count(made.raw),
        "message_tokens": count(answer.message),
        "latency_s": latency_s,
    }


def result_line(game: str, turns: Sequence[Played], size: int) -> dict[str, Any]:
    """The last line of a game."""
    return {"type": "result", "game_id": game, **summary(turns, size)}


def summary(turns: Sequence[Played], size: int) -> dict[str, Any]:
    """What a result line states about a game's turns: whole turns count for its end, all answers for writes and changes."""
    by_agent = {agent: [turn for turn in turns if turn.agent == agent] for agent in AGENTS}
    played = len(by_agent["B"])
    ok = {agent: [turn.ok_after for turn in by_agent[agent][:played]] for agent in AGENTS}
    solved = played > 0 and ok["A"][-1] and ok["B"][-1]
    return {
        "solved": solved,
        "turns": played,
        "solved_turn": played if solved else None,
        "solved_turn_a": solved_turn(ok["A"]),
        "solved_turn_b": solved_turn(ok["B"]),
        "writes_a": _counts(by_agent["A"], size, only_changes=False),
        "writes_b": _counts(by_agent["B"], size, only_changes=False),
        "changes_a": _counts(by_agent["A"], size, only_changes=True),
        "changes_b": _counts(by_agent["B"], size, only_changes=True),
    }


def solved_turn(ok: Sequence[bool]) -> int | None:
    """First turn, from 1, after which a part was right and stayed right; None if it is not right at the end."""
    if not ok or not ok[-1]:
        return None
    wrong = [turn for turn, right in enumerate(ok, start=1) if not right]
    return wrong[-1] + 1 if wrong else 1


def line(record: dict[str, Any]) -> bytes:
    """A record as the log holds it, line end included."""
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def action_json(applied: Applied) -> dict[str, Any]:
    """An action and its effect as the log holds them."""
    request = applied.request
    return {
        "index": applied.index,
        "replace": request.replace,
        "shape": request.shape,
        "color": request.color,
        "valid": applied.valid,
        "reason": request.fault,
        "before": applied.before._asdict() if applied.before else None,
        "after": applied.after._asdict() if applied.after else None,
        "changed": applied.changed,
        "right_before": applied.right_before,
        "right_after": applied.right_after,
    }


def _counts(turns: Iterable[Played], size: int, *, only_changes: bool) -> list[int]:
    counts = [0] * size
    for applied in (applied for turn in turns for applied in turn.applied):
        if applied.before is not None and applied.valid and applied.request.replace and (applied.changed or not only_changes):
            counts[applied.request.replace - 1] += 1
    return counts


NO_JSON: Final = ("no_json", "no JSON object with message or actions")
"""Code and text of an answer that could not be read: one refused action of its own."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An agent's answer in a turn."""

    made: AgentTurn
    reasoning: str
    """What a model thought apart from its text."""
    audience: Sequence[str]
    """Who gets its message."""
    touched: frozenset[int]
    """Positions, from 1, that the agent has changed in earlier turns."""


def entries_json(entries: Sequence[Entry]) -> list[dict[str, str | None]]:
    """A hypothesis, a list of clues or the truth as states hold it."""
    return [entry._asdict() for entry in entries]


def turn_entry(answers: Sequence[Answered], before: Mapping[Agent, Sequence[Entry]], count: Tokenizer, *, at: str, progress: float) -> Turn:
    """Give a finished turn; ``before``: the hypotheses at its start."""
    after = dict(before) | {answer.made.agent: answer.made.after for answer in answers}
    return Turn(
        turn=answers[0].made.turn,
        at=at,
        state_before={agent: entries_json(entries) for agent, entries in before.items()},
        state_after={agent: entries_json(entries) for agent, entries in after.items()},
        utterances=[utterance for answer in answers for utterance in _utterances(answer)],
        actions=[action for answer in answers for action in _actions(answer)],
        goal_reached=progress == 1,
        progress=progress,
        metrics={
            f"{what}_tokens_{answer.made.agent.lower()}": count(text)
            for answer in answers
            for what, text in (("output", answer.made.raw), ("message", answer.made.answer.message))
        },
    )


def _utterances(answer: Answered) -> Iterator[UtteranceEntry]:
    """What an agent thought and what it wrote around its JSON, for itself; then its message, empty ones included."""
    made = answer.made
    for thought in (answer.reasoning, made.answer.preamble):
        if thought:
            yield UtteranceEntry(agent=made.agent, channel="private", audience=[made.agent], text=thought)
    yield UtteranceEntry(agent=made.agent, channel="public", audience=list(answer.audience), text=made.answer.message)


def _actions(answer: Answered) -> Iterator[ActionEntry]:
    made = answer.made
    if not made.answer.parse_ok:
        code, text = NO_JSON
        yield ActionEntry(agent=made.agent, verb="answer", raw=made.raw, accepted=False, error_code=code, error_text=text)
    touched = set(answer.touched)
    for applied in made.applied:
        asked = applied.request
        fault, place = asked.fault, asked.replace
        yield ActionEntry(
            agent=made.agent,
            verb="replace",
            arguments={"position": asked.replace, "shape": asked.shape, "color": asked.color},
            accepted=applied.valid,
            error_code=fault,
            error_text=None if fault is None else FAULTS[fault],
            undoes=applied.takes_back or (applied.changed and place in touched),
        )
        if applied.changed and place is not None:
            touched.add(place)
