"""AsymPuzl games in cotrace's own log: played again from their replies, and measured as those of the record `asympuzl/1` are."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from games.asympuzl.answer import DEFAULT_TOKENIZER, Tokenizer, tokenizer
from games.asympuzl.game import Game, attempt
from games.asympuzl.puzzle import AGENTS
from games.asympuzl.record import RunFacts, game_line, line, result_line, turn_line
from games.asympuzl.setup import GameSetup, course_of, game_of, header_of
from ingest.asympuzl.records import sort_lines
from ingest.asympuzl.replay import episode_metrics, failures, oracle_actions, replay, turn_metrics, turn_values
from ingest.cotrace_log.derivation import Derived, derived, played_again, without_lost_replies
from schemas.common.errors import UsageError
from schemas.game import End, Header, Turn
from schemas.records import EpisodeMetric, TurnMetric

_NAME: Final = "own"
"""The game's id inside the record that it is measured by."""


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Play a game again; see `ingest.cotrace_log.derivation.Derivation`."""
    game = game_of(header)
    count, left_out = _counter(game.settings.tokenizer)
    again = played_again(course_of(game, count), turns)._replace(left_out=left_out)
    known = end is not None or again.end is not None
    rows = _solo_rows(game, turns, episode, known=known) if game.solo else _pair_rows(game, turns, episode, known=known)
    return derived((header, turns, end), header_of(game), again, episode, rows)


def _counter(name: str) -> tuple[Tokenizer, frozenset[str]]:
    """The tokenizer that counted; where its tables cannot be had, the log's own counts stand."""
    try:
        return tokenizer(name), frozenset()
    except UsageError:
        return tokenizer(DEFAULT_TOKENIZER), frozenset(("metrics",))


def _pair_rows(setup: GameSetup, turns: Sequence[Turn], episode: str, *, known: bool) -> dict[str, list[tuple[Any, ...]]]:
    """The rows that the record `asympuzl/1` of the same game would give."""
    game = Game(setup.puzzle, setup.settings)
    run = RunFacts(run_id=_NAME, model_a="a", model_b="b")
    first = game_line(run, game, setup.seed) | {"game_id": _NAME, "tokenizer": setup.settings.tokenizer}
    counts = {turn.turn: turn.metrics for turn in turns}
    lines = []
    for reply in _replies(turns):
        agent = game.next_agent
        assert agent is not None
        seen = game.observe(agent)
        made = game.act(agent, reply)
        counted = {kind: counts[made.turn].get(f"{kind}_{agent.lower()}") for kind in ("output_tokens", "message_tokens")}
        lines.append(turn_line(run, _NAME, seen, made) | {kind: int(value) for kind, value in counted.items() if value is not None})
    ended = [result_line(_NAME, game.answers, game.puzzle.size)] if known else []
    (logged,) = sort_lines(b"".join(line(record) for record in (first, *lines, *ended))).games
    replayed = replay(logged)
    pairs = [replayed.turns[start : start + len(AGENTS)] for start in range(0, len(replayed.turns), len(AGENTS))]
    return {
        "episode_metrics": list(episode_metrics(episode, replayed, complete=known)),
        "turn_metrics": list(turn_metrics(episode, replayed)),
        "turn_values": list(turn_values(episode, replayed, setup.settings.history_length)),
        "oracle_actions": [row for number, pair in enumerate(pairs, start=1) for row in oracle_actions(episode, number, pair, replayed)],
        "failures": [*without_lost_replies((row for answer in replayed.turns for row in failures(episode, answer)), turns, "no_json")],
    }


def _replies(turns: Iterable[Turn]) -> list[str]:
    return [reply.text for turn in turns for reply in turn.replies]


def _solo_rows(game: GameSetup, turns: Sequence[Turn], episode: str, *, known: bool) -> dict[str, list[tuple[Any, ...]]]:
    puzzle = game.puzzle
    made = [attempt(puzzle, text) for text in _replies(turns)]
    numbers = [(name, value) for turn in turns for name, value in turn.metrics.items()]
    right = [1 - len(answer.wrong_after) / puzzle.size for answer in made]
    return {
        "turn_metrics": [TurnMetric(episode, 1, f"asympuzl.{name}", value) for name, value in numbers],
        "episode_metrics": [
            EpisodeMetric(episode, f"asympuzl.{name}", value)
            for answer, progress in zip(made, right, strict=True)
            for name, value in (("overall_progress", progress), ("solved", float(answer.ok_after)))
            if known
        ],
    }
