"""The report `attribution-accuracy`: how often judges, rules of thumb and the engine name the decisive error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.losses.truths import RUBRIC, LossTruth, truths
from analytics.query import query
from analytics.statistics.intervals import wilson
from judges.attribution.thumb import RULES, Guess, chance
from judges.evidence.transcript import load
from schemas.store import Store

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SUMMARY", "accuracy_report"]

SUMMARY: Final = (
    "truth",
    "benchmark",
    "length",
    "judge",
    "games",
    "answered",
    "agent",
    "agent_low",
    "agent_high",
    "step",
    "within_1",
    "within_5",
)
"""The columns that fit a terminal."""

_WITHIN: Final = (1, 3, 5)
_LENGTHS: Final = {"up to 10 turns": (1, 10), "11 to 30 turns": (11, 30), "more than 30 turns": (31, 10**9)}
_ENGINE: Final = """
    WITH agents AS (
        SELECT episode_id, judge, agent, sum(cost) AS cost, arg_max(turn, cost) AS turn FROM attributions
        WHERE agent IS NOT NULL AND cost > 0 AND isfinite(cost) GROUP BY ALL
    )
    SELECT judge, episode_id, arg_max(agent, cost) AS agent, arg_max(turn, cost) AS turn FROM agents GROUP BY ALL ORDER BY ALL
    """
_MODELS: Final = """
    SELECT judge || coalesce(' (' || replace(variant, '_', ' ') || ')', '') AS judge, episode_id,
        max(answer) FILTER (question = 'agent') AS agent, max(answer) FILTER (question = 'step') AS turn
    FROM verdicts WHERE rubric = $rubric AND status = 'answered' GROUP BY ALL ORDER BY ALL
    """


class _Hit(NamedTuple):
    """How far one guess was right: shares, since a draw is right in part."""

    answered: float
    agent: float
    off: float | None
    """Turns between guess and truth; None without a guess, or without a known step."""

    step: float


def accuracy_report(store: Store) -> pl.DataFrame:
    """One row a judge, for each benchmark and truth, for all its games and by their length.

    Columns, in order:

    - truth: `people` (labels of the rubric decisive_error) or `planted` (games with exactly one faulty player, docs/attribution.md).
    - benchmark; length: all, or games of so many turns.
    - judge: `engine` (`cotrace attribute`), `llm:<model>` with its manner, `rule: <name>` of `judges.attribution.thumb`, `chance`: a draw
      among the agents and among the turns, whose shares are expected ones.
    - games: with a known decisive error; of a model those that it was asked about. answered: share of them with an answer, 0 to 1.
    - agent: share of all games in which the right agent is named; agent_low, agent_high: its 95 % interval over games (Wilson).
    - step: share of the games with a known step in which the very turn is named; step_low, step_high. within_1, within_3, within_5: so many
      turns off at most. No answer counts as wrong.

    Args:
        store: a store.

    Raises:
        StoreError: the store cannot be read.
    """
    import polars as pl

    known = truths(store)
    lengths = dict(query(store, "SELECT episode_id, turns_taken FROM episodes").rows())
    judges = _judges(store, known)
    rows = []
    for source, benchmark in sorted({(one.source, one.benchmark) for one in known}):
        part = [one for one in known if (one.source, one.benchmark) == (source, benchmark)]
        for length, (least, most) in {"all": (0, 10**9), **_LENGTHS}.items():
            chosen = [one for one in part if least <= lengths[one.episode_id] <= most]
            about = {"truth": source, "benchmark": benchmark, "length": length}
            rows += [about | row for row in _rows(chosen, judges)]
    return pl.DataFrame([{column: row.get(column) for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, Any]:
    import polars as pl

    numbers = ("answered", "agent", "agent_low", "agent_high", "step", "step_low", "step_high", *(f"within_{turns}" for turns in _WITHIN))
    texts = dict.fromkeys(("truth", "benchmark", "length", "judge"), pl.String())
    return texts | {"games": pl.Int64()} | dict.fromkeys(numbers, pl.Float64())


class _Judge(NamedTuple):
    name: str
    hits: Mapping[str, _Hit]
    """Game -> how far it was right, of games that it was asked about."""


def _judges(store: Store, known: Sequence[LossTruth]) -> list[_Judge]:
    by_game = {one.episode_id: one for one in known}
    found = [*_asked(store, by_game)]
    ruled: dict[str, dict[str, _Hit]] = {f"rule: {name}": {} for name in RULES}
    drawn: dict[str, _Hit] = {}
    for game in load(store, list(by_game)):
        truth = by_game[game.episode_id]
        for name, rule in RULES.items():
            ruled[f"rule: {name}"][game.episode_id] = _hit(truth, rule(game))
        agent, step = chance(game)
        drawn[game.episode_id] = _Hit(1.0, agent, None, step)
    return [*found, *(_Judge(name, hits) for name, hits in ruled.items()), _Judge("chance", drawn)]


def _asked(store: Store, by_game: Mapping[str, LossTruth]) -> Iterator[_Judge]:
    """The engine, about the games that it attributed, and models, about those that they answered."""
    attributed = {episode for (episode,) in query(store, "SELECT DISTINCT episode_id FROM attributions").rows()}
    for sql, parameters, all_asked in ((_ENGINE, {}, True), (_MODELS, {"rubric": RUBRIC}, False)):
        guesses: dict[str, dict[str, Guess]] = {}
        for judge, episode, agent, turn in query(store, sql, parameters).rows():
            guesses.setdefault(judge, {})[episode] = Guess(agent, int(turn) if str(turn).isdecimal() else 0)
        for judge, made in guesses.items():
            asked = attributed if all_asked else made.keys()
            yield _Judge(judge, {episode: _hit(truth, made.get(episode)) for episode, truth in by_game.items() if episode in asked})


def _hit(truth: LossTruth, guess: Guess | None) -> _Hit:
    if guess is None:
        return _Hit(0.0, 0.0, None, 0.0)
    off = None if truth.turn is None or not guess.turn else float(abs(guess.turn - truth.turn))
    return _Hit(1.0, float(guess.agent == truth.agent), off, float(off == 0))


def _rows(chosen: Sequence[LossTruth], judges: Sequence[_Judge]) -> Iterator[dict[str, Any]]:
    for judge in judges:
        hits = [judge.hits[one.episode_id] for one in chosen if one.episode_id in judge.hits]
        stepped = [judge.hits[one.episode_id] for one in chosen if one.episode_id in judge.hits and one.turn is not None]
        if not hits:
            continue
        row = {"judge": judge.name, "games": len(hits), "answered": _mean([hit.answered for hit in hits])}
        row |= _share("agent", [hit.agent for hit in hits]) | _share("step", [hit.step for hit in stepped])
        if judge.name != "chance":
            row |= {f"within_{turns}": _mean([float(hit.off is not None and hit.off <= turns) for hit in stepped]) for turns in _WITHIN}
        yield row


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """A share with its interval; an expected one has none."""
    whole = all(value in (0.0, 1.0) for value in values)
    ends = wilson(round(sum(values)), len(values)) if whole else None
    return {name: _mean(values), f"{name}_low": ends.low if ends else None, f"{name}_high": ends.high if ends else None}
