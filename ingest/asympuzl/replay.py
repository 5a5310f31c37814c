"""Replays logged AsymPuzl games: what each turn did, what the rules find, and where log and rules differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from games.asympuzl.feedback import feedback
from games.asympuzl.game import AgentTurn, answer_turn, conversation
from games.asympuzl.hypothesis import Applied, apply
from games.asympuzl.labels import Done, Found, Move, labels_of
from games.asympuzl.prompts import Heard
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle, generate
from games.asympuzl.record import summary
from games.asympuzl.tokens import DEFAULT_TOKENIZER, tokenizer
from ingest.asympuzl.lines import LoggedGame
from ingest.asympuzl.records import TurnRecord, entries
from ingest.reading.json_text import dumps

__all__ = ["Difference", "ReplayedGame", "ReplayedTurn", "replay"]

Difference = tuple[str, str | None, str | None]
"""Field, what the log says, what the rules give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTurn:
    """An agent's turn."""

    record: TurnRecord
    before: tuple[Entry, ...]
    """The agent's hypothesis as logged before the turn."""

    after: tuple[Entry, ...]
    """As logged after it."""

    made: AgentTurn
    """What the rules make of the raw answer."""

    applied: tuple[Applied, ...]
    """The logged actions, and what they did."""

    undoes: tuple[bool, ...]
    """For each of them: it takes back a right entry, or changes a position that this agent had changed before."""

    labels: tuple[Found, ...]
    differences: tuple[Difference, ...]

    ok_after: bool
    """The agent's part is right, by the logged hypothesis."""

    @property
    def agent(self) -> Agent:
        """Whose turn it is."""
        return self.record.agent


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """A whole game."""

    puzzle: Puzzle
    turns: tuple[ReplayedTurn, ...]
    differences: tuple[Difference, ...]
    """Those of the game as a whole."""


def replay(game: LoggedGame) -> ReplayedGame:
    """Replay every turn from the hypothesis that was logged before it, so that a difference does not breed others."""
    puzzle = game.record.puzzle()
    current: dict[Agent, tuple[Entry, ...]] = {agent: puzzle.clues(agent) for agent in AGENTS}
    at_end = dict(current)
    touched: dict[Agent, set[int]] = {agent: set() for agent in AGENTS}
    history: list[Done] = []
    turns: list[ReplayedTurn] = []
    for record in game.turns:
        agent = record.agent
        made = answer_turn(puzzle, turn=record.turn, agent=agent, before=current[agent], raw=record.raw_output)
        _, applied = apply(current[agent], [action.request() for action in record.actions], puzzle.truth)
        undoes = tuple(_undoing(applied, touched[agent]))
        after = entries(record.hypothesis_after)
        history.append(_done(record, made, applied, current[agent], after))
        said = [Heard(done.agent, done.turn, done.message) for done in history[:-1]]
        shown = _shown(game, record, at_end, puzzle, said)
        turns.append(
            ReplayedTurn(
                record=record,
                before=current[agent],
                after=after,
                made=made,
                ok_after=after == puzzle.truth,
                applied=applied,
                undoes=undoes,
                labels=tuple(labels_of(history, puzzle)),
                differences=(*_answer_differences(record, made, game.record.tokenizer), *shown),
            )
        )
        current[agent] = after
        if agent == AGENTS[-1]:
            at_end = dict(current)
    replayed = tuple(turns)
    return ReplayedGame(
        puzzle, replayed, (*_puzzle_differences(game, puzzle), *_end_differences(game, replayed), *_result_differences(game, replayed))
    )


def _undoing(applied: Iterable[Applied], touched: set[int]) -> Iterator[bool]:
    for action in applied:
        place = action.request.replace
        yield action.takes_back or (action.changed and place in touched)
        if action.changed and place is not None:
            touched.add(place)


def _done(record: TurnRecord, made: AgentTurn, applied: Iterable[Applied], before: tuple[Entry, ...], after: tuple[Entry, ...]) -> Done:
    moves = tuple(
        Move(position=action.request.replace, fault=action.request.fault, changed=action.changed, takes_back=action.takes_back)
        for action in applied
    )
    return Done(
        agent=record.agent,
        turn=record.turn,
        parse_ok=made.answer.parse_ok if record.parse_ok is None else record.parse_ok,
        message=record.message,
        moves=moves,
        before=before,
        after=after,
    )


# -- where log and rules differ -----------------------------------------------------------------------------------------------------------


def _answer_differences(record: TurnRecord, made: AgentTurn, counted_by: str | None) -> Iterator[Difference]:
    answer = made.answer
    count = tokenizer(DEFAULT_TOKENIZER) if counted_by == DEFAULT_TOKENIZER else None
    pairs: dict[str, tuple[Any, Any]] = {
        "parse_ok": (record.parse_ok, answer.parse_ok),
        "parse_strict": (record.parse_strict, answer.parse_strict),
        "message_ok": (record.message_ok, answer.message_ok),
        "actions_ok": (record.actions_ok, answer.actions_ok),
        "message": (record.message, answer.message),
        "actions": ([_facts(action.request()) for action in record.actions], [_facts(request) for request in answer.requests]),
        "hypothesis_after": (_listed(entries(record.hypothesis_after)), _listed(made.after)),
        "own_ok_after": (record.own_ok_after, made.ok_after),
        "wrong_after": (record.wrong_after, list(made.wrong_after)),
        "output_tokens": (record.output_tokens, count(record.raw_output) if count else record.output_tokens),
        "message_tokens": (record.message_tokens, count(record.message) if count else record.message_tokens),
    }
    yield from _differing(pairs, f"{record.agent}.")


def _facts(request: Any) -> list[object]:
    return [request.replace, request.shape, request.color, request.fault]


def _listed(hypothesis: Sequence[Entry]) -> list[list[str | None]]:
    return [list(entry) for entry in hypothesis]


def _shown(
    game: LoggedGame, record: TurnRecord, at_end: Mapping[Agent, Sequence[Entry]], puzzle: Puzzle, said: Sequence[Heard]
) -> Iterator[Difference]:
    """What the agent was shown: feedback and conversation."""
    told = feedback(game.record.feedback_mode, record.agent, at_end, puzzle) if record.turn > 1 else None
    expected = None if told is None else told.to_json()
    if "feedback" in record.model_fields_set and record.feedback != expected:
        yield f"{record.agent}.feedback", dumps(record.feedback), dumps(expected)
    length = game.record.history_length
    if record.received is not None and length is not None:
        heard = [{"from": one.agent, "turn": one.turn, "text": one.text} for one in conversation(said, length)]
        yield from _differing({"received": (record.received, heard)}, f"{record.agent}.")


def _puzzle_differences(game: LoggedGame, puzzle: Puzzle) -> Iterator[Difference]:
    """The logged puzzle against the one that its seed gives."""
    if game.record.seed is None:
        return
    drawn = generate(size=puzzle.size, seed=game.record.seed)
    for name in ("truth", "clues_a", "clues_b"):
        yield from _differing({name: (_listed(getattr(puzzle, name)), _listed(getattr(drawn, name)))})


def _end_differences(game: LoggedGame, turns: Sequence[ReplayedTurn]) -> Iterator[Difference]:
    """The turn on which the logged game ended against the one on which the rules end it; nothing where turns were lost."""
    both_ok = [a.ok_after and b.ok_after for a, b in zip(turns[::2], turns[1::2], strict=False)]
    limit = game.record.max_turns or 2 * game.record.size
    due = min(limit, both_ok.index(True) + 1) if True in both_ok else limit
    played = (len(turns) + 1) // 2
    if game.reject is None and (played > due or (game.result is not None and played < due)):
        yield "last_turn", dumps(played), dumps(due)


def _result_differences(game: LoggedGame, turns: Sequence[ReplayedTurn]) -> Iterator[Difference]:
    """The logged result against what the logged turns give; nothing where turns were lost."""
    if game.result is None or game.reject is not None:
        return
    found = summary(turns, game.record.size)
    yield from _differing({name: (_plain(getattr(game.result, name)), value) for name, value in found.items()})


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value


_MAY_BE_NULL: Final = frozenset(("solved_turn", "solved_turn_a", "solved_turn_b"))


def _differing(pairs: Mapping[str, tuple[Any, Any]], prefix: str = "") -> Iterator[Difference]:
    for name, (logged, found) in pairs.items():
        if logged != found and (logged is not None or name in _MAY_BE_NULL):
            yield prefix + name, dumps(logged), dumps(found)
