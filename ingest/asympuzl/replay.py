"""Replays logged AsymPuzl games: what each turn did, what the rules find, and where log and rules differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from games.asympuzl.game import AgentTurn, answer_turn
from games.asympuzl.hypothesis import Applied, apply
from games.asympuzl.labels import DoneTurn, FoundLabel, Move, labels_of
from games.asympuzl.prompts import Heard
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle
from ingest.asympuzl.differences import answer_differences, effect_differences, game_differences, shown_differences
from ingest.asympuzl.lines import LoggedGame
from ingest.asympuzl.records import TurnRecord, entries
from ingest.reading.difference import Difference

__all__ = ["ReplayedGame", "ReplayedTurn", "replay"]


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

    labels: tuple[FoundLabel, ...]
    differences: tuple[Difference, ...]

    ok_after: bool
    """The agent's part is right, by the logged hypothesis."""

    parse_ok: bool
    """The answer has a JSON object: by the log, or as read where the log does not say."""

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
    history: list[DoneTurn] = []
    turns: list[ReplayedTurn] = []
    for record in game.turns:
        agent = record.agent
        made = answer_turn(puzzle, turn=record.turn, agent=agent, before=current[agent], raw=record.raw_output)
        _, applied = apply(current[agent], [action.request() for action in record.actions], puzzle.truth)
        undoes = tuple(_undoing(applied, touched[agent]))
        after = entries(record.hypothesis_after)
        parse_ok = made.answer.parse_ok if record.parse_ok is None else record.parse_ok
        history.append(_done(record, applied, current[agent], after, parse_ok=parse_ok))
        said = [Heard(done.agent, done.turn, done.message) for done in history[:-1]]
        shown = shown_differences(game, record, at_end, puzzle, said)
        turns.append(
            ReplayedTurn(
                record=record,
                before=current[agent],
                after=after,
                made=made,
                ok_after=after == puzzle.truth,
                parse_ok=parse_ok,
                applied=applied,
                undoes=undoes,
                labels=tuple(labels_of(history, puzzle)),
                differences=(
                    *answer_differences(record, made, game.record.tokenizer),
                    *effect_differences(record, applied),
                    *shown,
                ),
            )
        )
        current[agent] = after
        if agent == AGENTS[-1]:
            at_end = dict(current)
    replayed = tuple(turns)
    return ReplayedGame(puzzle, replayed, tuple(game_differences(game, puzzle, replayed)))


def _undoing(applied: Iterable[Applied], touched: set[int]) -> Iterator[bool]:
    for action in applied:
        place = action.request.replace
        yield action.takes_back or (action.changed and place in touched)
        if action.changed and place is not None:
            touched.add(place)


def _done(
    record: TurnRecord, applied: Iterable[Applied], before: tuple[Entry, ...], after: tuple[Entry, ...], *, parse_ok: bool
) -> DoneTurn:
    moves = tuple(
        Move(position=action.request.replace, fault=action.request.fault, changed=action.changed, takes_back=action.takes_back)
        for action in applied
    )
    return DoneTurn(
        agent=record.agent,
        turn=record.turn,
        parse_ok=parse_ok,
        message=record.message,
        moves=moves,
        before=before,
        after=after,
    )
