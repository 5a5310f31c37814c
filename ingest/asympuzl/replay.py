"""Replays logged AsymPuzl games: what each turn did, what it lost, where log and rules differ, and the rows that follow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from games.asympuzl.answer import DEFAULT_TOKENIZER, FAULTS, Applied, RequestedAction, answer_reading, apply, tokenizer
from games.asympuzl.game import AgentTurn, Heard, answer_turn, conversation, feedback
from games.asympuzl.labels import FAILURES, DoneTurn, FoundLabel, Move, labels_of
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle, generate, wrong_positions
from games.asympuzl.record import Played, action_json, summary
from games.asympuzl.value import Standing, concluded, turns_left, understood
from ingest.asympuzl.records import EntryRecord, LoggedGame, TurnRecord, entries
from ingest.reading.adapter_types import Difference
from ingest.reading.text import dumps
from schemas.records import Action, EpisodeMetric, Failure, Json, OracleAction, TurnMetric, TurnValue


def answer_differences(record: TurnRecord, made: AgentTurn, counted_by: str | None) -> Iterator[Difference]:
    """What the log makes of an answer against what the rules make of it; `counted_by` is the tokenizer that the log names."""
    answer = made.answer
    count = tokenizer(DEFAULT_TOKENIZER) if counted_by == DEFAULT_TOKENIZER else None
    logged, read = [_facts(action.request()) for action in record.actions], [_facts(request) for request in answer.requests]
    for action, logged_facts, found in zip(record.actions, logged, read, strict=False):
        if not action.valid:
            logged_facts[:] = [due if fact is None else fact for fact, due in zip(logged_facts, found, strict=True)]
    pairs: dict[str, tuple[Any, Any]] = {
        "parse_ok": (record.parse_ok, answer.parse_ok),
        "parse_strict": (record.parse_strict, answer.parse_strict),
        "message_ok": (record.message_ok, answer.message_ok),
        "actions_ok": (record.actions_ok, answer.actions_ok),
        "message": (record.message, answer.message),
        "actions": (logged, read),
        "hypothesis_after": (_listed(entries(record.hypothesis_after)), _listed(made.after)),
        "own_ok_after": (record.own_ok_after, made.ok_after),
        "wrong_after": (record.wrong_after, list(made.wrong_after)),
        "output_tokens": (record.output_tokens, count(record.raw_output) if count else record.output_tokens),
        "message_tokens": (record.message_tokens, count(record.message) if count else record.message_tokens),
    }
    yield from _differing(pairs, f"{record.agent}.")


def effect_differences(record: TurnRecord, applied: Sequence[Applied]) -> Iterator[Difference]:
    """What the log states that its actions did, as far as it states it."""
    for place, (logged, done) in enumerate(zip(record.actions, applied, strict=True)):
        due = {name: value for name, value in action_json(done).items() if name in _EFFECTS & logged.model_fields_set}
        if not logged.valid:  # what a skipped action leaves out is not a difference
            due = {name: value for name, value in due.items() if getattr(logged, name) is not None}
        logged_facts = {name: _spelt(getattr(logged, name)) for name in due}
        yield from _differing({name: (logged_facts[name], value) for name, value in due.items()}, f"{record.agent}.actions[{place}].")


def _spelt(value: Any) -> Any:
    """An entry in the spelling that the rules compare; anything else as it is."""
    return entries([value])[0]._asdict() if isinstance(value, EntryRecord) else value


def _facts(request: RequestedAction) -> list[object]:
    return [request.replace, request.shape, request.color, request.fault]


def _listed(hypothesis: Sequence[Entry]) -> list[list[str | None]]:
    return [list(entry) for entry in hypothesis]


def shown_differences(
    game: LoggedGame, record: TurnRecord, at_end: Mapping[Agent, Sequence[Entry]], puzzle: Puzzle, exchanged: Sequence[Heard]
) -> Iterator[Difference]:
    """What the agent was shown: feedback and conversation."""
    shown_feedback = feedback(game.record.feedback_mode, record.agent, at_end, puzzle) if record.turn > 1 else None
    expected = None if shown_feedback is None else shown_feedback.to_json()
    if "feedback" in record.model_fields_set and record.feedback != expected:
        yield Difference(f"{record.agent}.feedback", dumps(record.feedback), dumps(expected))
    length = game.record.history_length
    if record.received is not None and length is not None:
        heard = [{"from": one.agent, "turn": one.turn, "text": one.text} for one in conversation(exchanged, length)]
        yield from _differing({"received": (record.received, heard)}, f"{record.agent}.")


def game_differences(game: LoggedGame, puzzle: Puzzle, turns: Sequence[Played]) -> Iterator[Difference]:
    """What the log states of the game as a whole against its turns, its seed and the rules."""
    if game.record.temperature is not None and game.record.temperature < 0:
        yield Difference("temperature", dumps(game.record.temperature), None)
    yield from _puzzle_differences(game, puzzle)
    both_ok = [a.ok_after and b.ok_after for a, b in zip(turns[::2], turns[1::2], strict=False)]
    limit = game.record.max_turns or 2 * game.record.size
    due = min(limit, both_ok.index(True) + 1) if True in both_ok else limit
    played = (len(turns) + 1) // 2
    if game.reject is None and (played > due or (game.result is not None and played < due)):
        yield Difference("last_turn", dumps(played), dumps(due))
    yield from _result_differences(game, turns)


def _puzzle_differences(game: LoggedGame, puzzle: Puzzle) -> Iterator[Difference]:
    """The logged puzzle against the one that its seed gives."""
    if game.record.seed is None:
        return
    drawn = generate(size=puzzle.size, seed=game.record.seed)
    names = ("truth", "clues_a", "clues_b")
    yield from _differing({name: (_listed(getattr(puzzle, name)), _listed(getattr(drawn, name))) for name in names})


def _result_differences(game: LoggedGame, turns: Sequence[Played]) -> Iterator[Difference]:
    """The logged result against what the logged turns give; nothing where turns were lost."""
    if game.result is None or game.reject is not None:
        return
    found = summary(turns, game.record.size)
    given = game.result.model_fields_set
    logged = {name: list(value) if isinstance(value := getattr(game.result, name), list | tuple) else value for name in found}
    yield from _differing({name: (logged[name], value) for name, value in found.items() if name in given})


_MAY_BE_NULL: Final = frozenset(("solved_turn", "solved_turn_a", "solved_turn_b", "before", "after", "right_before", "right_after"))
_EFFECTS: Final = frozenset(("index", "before", "after", "changed", "right_before", "right_after"))


def _differing(pairs: Mapping[str, tuple[Any, Any]], prefix: str = "") -> Iterator[Difference]:
    for name, (logged, found) in pairs.items():
        if logged != found and (logged is not None or name in _MAY_BE_NULL):
            yield Difference(prefix + name, dumps(logged), dumps(found))


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
        exchanged = [Heard(done.agent, done.turn, done.message) for done in history[:-1]]
        shown = shown_differences(game, record, at_end, puzzle, exchanged)
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
                arguments=Json(dumps({"position": logged.replace, "shape": logged.shape, "color": logged.color})),
                accepted=logged.valid,
                undoes=undoes,
                error_code=fault,
                error_text=next((text for name, text in FAULTS.items() if name == fault), None),
                read=reading and reading.read,
                used=reading and reading.used,
            )


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


def turn_values(episode: str, game: ReplayedGame, history_length: int | None) -> Iterator[TurnValue]:
    """Value the turns of a game; a turn that does all it could costs 0, since the turn itself is spent.

    Where a message was not understood, turns left are the least that they can be, and positions known are those that are certain: what was
    lost of these is unknown.

    Args:
        episode: its id.
        game: the game.
        history_length: messages of each agent that are shown; None: all of them.
    """
    puzzle = game.puzzle
    for number, (before, after) in enumerate(pairwise(_standings(game, history_length)), start=1):
        was, now = turns_left(puzzle, before), turns_left(puzzle, after)
        kind = "exact" if was.exact and now.exact else "bound"
        yield TurnValue(episode, number, "asympuzl.hands", was.hands, now.hands, 1 + now.hands - was.hands, "turns", "exact")
        yield TurnValue(episode, number, "asympuzl.know", was.know, now.know, 1 + now.know - was.know, "turns", kind)
        for agent in AGENTS:
            had, has = len(concluded(puzzle, before, agent)), len(concluded(puzzle, after, agent))
            is_whole = understood(puzzle, before, agent) and understood(puzzle, after, agent)
            cost = had - has if is_whole else None
            yield TurnValue(
                episode, number, f"asympuzl.known_{agent.lower()}", had, has, cost, "positions", "exact" if is_whole else "bound"
            )


def _standings(game: ReplayedGame, history_length: int | None) -> Iterator[Standing]:
    """The game before its first turn and after each."""
    hypotheses: dict[Agent, tuple[Entry, ...]] = {agent: game.puzzle.clues(agent) for agent in AGENTS}
    sent: dict[Agent, list[str]] = {agent: [] for agent in AGENTS}
    yield Standing(dict(hypotheses), dict.fromkeys(AGENTS, ()))
    for start in range(0, len(game.turns), len(AGENTS)):
        for answer in game.turns[start : start + len(AGENTS)]:
            hypotheses[answer.agent] = answer.after
            sent[answer.agent].append(answer.record.message)
        shown = {agent: tuple(sent[agent][_first_shown(sent[agent], history_length) :]) for agent in AGENTS}
        yield Standing(dict(hypotheses), shown)


def _first_shown(sent: Sequence[str], history_length: int | None) -> int:
    return 0 if history_length is None else max(0, len(sent) - history_length)
