"""Where an AsymPuzl log and the rules differ: answers, their effects, what was shown, the puzzle, the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from games.asympuzl.answer import RequestedAction
from games.asympuzl.feedback import feedback
from games.asympuzl.game import AgentTurn, conversation
from games.asympuzl.hypothesis import Applied
from games.asympuzl.prompts import Heard
from games.asympuzl.puzzle import Agent, Entry, Puzzle, generate
from games.asympuzl.record import Played, action_json, summary
from games.asympuzl.tokens import DEFAULT_TOKENIZER, tokenizer
from ingest.asympuzl.lines import LoggedGame
from ingest.asympuzl.records import EntryRecord, GameRecord, TurnRecord, entries
from ingest.reading.difference import Difference
from ingest.reading.json_text import dumps

__all__ = ["answer_differences", "effect_differences", "game_differences", "shown_differences"]


def answer_differences(record: TurnRecord, made: AgentTurn, counted_by: str | None) -> Iterator[Difference]:
    """What the log makes of an answer against what the rules make of it; `counted_by` is the tokenizer that the log names."""
    answer = made.answer
    count = tokenizer(DEFAULT_TOKENIZER) if counted_by == DEFAULT_TOKENIZER else None
    pairs: dict[str, tuple[Any, Any]] = {
        "parse_ok": (record.parse_ok, answer.parse_ok),
        "parse_strict": (record.parse_strict, answer.parse_strict),
        "message_ok": (record.message_ok, answer.message_ok),
        "actions_ok": (record.actions_ok, answer.actions_ok),
        "message": (record.message, answer.message),
        "actions": _facts_of_actions(record, answer.requests),
        "hypothesis_after": (_listed(entries(record.hypothesis_after)), _listed(made.after)),
        "own_ok_after": (record.own_ok_after, made.ok_after),
        "wrong_after": (record.wrong_after, list(made.wrong_after)),
        "output_tokens": (record.output_tokens, count(record.raw_output) if count else record.output_tokens),
        "message_tokens": (record.message_tokens, count(record.message) if count else record.message_tokens),
    }
    yield from _differing(pairs, f"{record.agent}.")


def effect_differences(record: TurnRecord, applied: Sequence[Applied]) -> Iterator[Difference]:
    """What the log says that its actions did, as far as it says it."""
    for place, (logged, done) in enumerate(zip(record.actions, applied, strict=True)):
        due = {name: value for name, value in action_json(done).items() if name in _EFFECTS & logged.model_fields_set}
        if not logged.valid:  # what a skipped action says nothing of is no difference
            due = {name: value for name, value in due.items() if getattr(logged, name) is not None}
        said = {name: _spelt(getattr(logged, name)) for name in due}
        yield from _differing({name: (said[name], value) for name, value in due.items()}, f"{record.agent}.actions[{place}].")


def _spelt(value: Any) -> Any:
    """An entry in the spelling that the rules compare; anything else as it is."""
    return entries([value])[0]._asdict() if isinstance(value, EntryRecord) else value


def _facts_of_actions(record: TurnRecord, requests: Sequence[RequestedAction]) -> tuple[list[list[object]], list[list[object]]]:
    """The actions as logged and as read; a field that the log leaves empty in an action it skipped counts as read."""
    logged, read = [_facts(action.request()) for action in record.actions], [_facts(request) for request in requests]
    for action, said, found in zip(record.actions, logged, read, strict=False):
        if not action.valid:
            said[:] = [due if fact is None else fact for fact, due in zip(said, found, strict=True)]
    return logged, read


def _facts(request: RequestedAction) -> list[object]:
    return [request.replace, request.shape, request.color, request.fault]


def _listed(hypothesis: Sequence[Entry]) -> list[list[str | None]]:
    return [list(entry) for entry in hypothesis]


def shown_differences(
    game: LoggedGame, record: TurnRecord, at_end: Mapping[Agent, Sequence[Entry]], puzzle: Puzzle, said: Sequence[Heard]
) -> Iterator[Difference]:
    """What the agent was shown: feedback and conversation."""
    told = feedback(game.record.feedback_mode, record.agent, at_end, puzzle) if record.turn > 1 else None
    expected = None if told is None else told.to_json()
    if "feedback" in record.model_fields_set and record.feedback != expected:
        yield Difference(f"{record.agent}.feedback", dumps(record.feedback), dumps(expected))
    length = game.record.history_length
    if record.received is not None and length is not None:
        heard = [{"from": one.agent, "turn": one.turn, "text": one.text} for one in conversation(said, length)]
        yield from _differing({"received": (record.received, heard)}, f"{record.agent}.")


def game_differences(game: LoggedGame, puzzle: Puzzle, turns: Sequence[Played]) -> Iterator[Difference]:
    """What the log says of the game as a whole against its turns, its seed and the rules."""
    yield from _impossible(game.record)
    yield from _puzzle_differences(game, puzzle)
    yield from _end_differences(game, turns)
    yield from _result_differences(game, turns)


def _impossible(record: GameRecord) -> Iterator[Difference]:
    if record.temperature is not None and record.temperature < 0:
        yield Difference("temperature", dumps(record.temperature), None)


def _puzzle_differences(game: LoggedGame, puzzle: Puzzle) -> Iterator[Difference]:
    """The logged puzzle against the one that its seed gives."""
    if game.record.seed is None:
        return
    drawn = generate(size=puzzle.size, seed=game.record.seed)
    for name in ("truth", "clues_a", "clues_b"):
        yield from _differing({name: (_listed(getattr(puzzle, name)), _listed(getattr(drawn, name)))})


def _end_differences(game: LoggedGame, turns: Sequence[Played]) -> Iterator[Difference]:
    """The turn on which the logged game ended against the one on which the rules end it; nothing where turns were lost."""
    both_ok = [a.ok_after and b.ok_after for a, b in zip(turns[::2], turns[1::2], strict=False)]
    limit = game.record.max_turns or 2 * game.record.size
    due = min(limit, both_ok.index(True) + 1) if True in both_ok else limit
    played = (len(turns) + 1) // 2
    if game.reject is None and (played > due or (game.result is not None and played < due)):
        yield Difference("last_turn", dumps(played), dumps(due))


def _result_differences(game: LoggedGame, turns: Sequence[Played]) -> Iterator[Difference]:
    """The logged result against what the logged turns give; nothing where turns were lost."""
    if game.result is None or game.reject is not None:
        return
    found = summary(turns, game.record.size)
    said = game.result.model_fields_set
    yield from _differing({name: (_plain(getattr(game.result, name)), value) for name, value in found.items() if name in said})


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value


_MAY_BE_NULL: Final = frozenset(("solved_turn", "solved_turn_a", "solved_turn_b", "before", "after", "right_before", "right_after"))
_EFFECTS: Final = frozenset(("index", "before", "after", "changed", "right_before", "right_after"))


def _differing(pairs: Mapping[str, tuple[Any, Any]], prefix: str = "") -> Iterator[Difference]:
    for name, (logged, found) in pairs.items():
        if logged != found and (logged is not None or name in _MAY_BE_NULL):
            yield Difference(prefix + name, dumps(logged), dumps(found))
