"""Answers about the same units, matched and counted by game where the answers are: `game_answers` of the store has the counts."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from analytics.agreement.answers import ORDER, Answered, Rater, answers, numbers_of_answers
from analytics.query import frame, one_reading, query
from schemas.store.store import Store

_RUBRICS: Final = "SELECT rubric FROM labels UNION SELECT rubric FROM verdicts ORDER BY rubric"
_OUTSIDE: Final = """
SELECT DISTINCT coalesce(episode_id, regexp_replace(unit_key, '(/.*|_[0-9]+)$', '')) AS name, hash(name) AS game
FROM labels
WHERE rubric = $rubric AND (episode_id IS NULL OR episode_id NOT IN (SELECT episode_id FROM episodes))
"""
"""Games some of whose labels do not stand at a game of the store: the stored counts are without them."""
_WAYS: Final = "SELECT DISTINCT answers FROM game_answers WHERE rubric = $rubric ORDER BY answers"
_COUNTS: Final = """
WITH games AS (SELECT episode_id, hash(episode_id) AS game FROM episodes WHERE episode_id NOT IN (SELECT unnest($outside::VARCHAR[]))),

ways AS (SELECT unnest($ways::VARCHAR[]) AS answers, unnest(range(len($ways::VARCHAR[]))) AS way)

SELECT game, question, way, units
FROM game_answers
INNER JOIN games USING (episode_id)
INNER JOIN ways USING (answers)
WHERE rubric = $rubric
"""
_APART, _BETWEEN = "\x1e", "\x1f"
"""Of answers in a way, and of a rater, its answer and the answer's number in an answer."""


def answered(store: Store, rubric: str | None = None) -> Iterator[Answered]:
    """What was answered about each rubric, by name, as `analytics.agreement.answers.answers` has it, matched by unit.

    `hash` of DuckDB distinguishes units and games: two units of a game have one value by chance in one of ten million stores of a million
    games.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    for name in query(store, _RUBRICS)["rubric"].to_list() if rubric is None else [rubric]:
        with one_reading(store) as connection:
            outside = frame(connection, _OUTSIDE, {"rubric": name})
            ways = frame(connection, _WAYS, {"rubric": name})["answers"].to_list()
            rows = frame(connection, _COUNTS, {"rubric": name, "outside": outside["name"].to_list(), "ways": ways})
        if len(outside):
            rows = pl.concat([rows, _counted(answers(store, name, games=outside["name"].to_list()), outside, ways)], how="vertical_relaxed")
        found = _read(name, ways, rows)
        if found is not None:
            yield found


def _counted(given: pl.DataFrame, outside: pl.DataFrame, ways: list[str]) -> pl.DataFrame:
    """The same counts of answers that are there by unit; ways that are new are added."""
    texts = pl.col("rater", "answer").str.replace_all(f"[{_APART}{_BETWEEN}]", " ")
    one = pl.concat_str(texts, pl.col("score").cast(pl.String), separator=_BETWEEN, ignore_nulls=True)
    of_units = given.select("question", "unit", name="game", one=one.repeat_by("n")).explode("one").group_by("name", "question", "unit")
    counted = of_units.agg(pl.col("one").sort().str.join(_APART)).group_by("name", "question", "one").agg(units=pl.len())
    ways += sorted(set(counted["one"]) - set(ways))
    place = counted["one"].replace_strict(ways, range(len(ways)), return_dtype=pl.Int64)
    return counted.with_columns(way=place).join(outside, on="name").select("game", "question", "way", "units")


def _read(rubric: str, ways: list[str], rows: pl.DataFrame) -> Answered | None:
    """None where there is no other rater, as of a rubric with planted truth alone."""
    parsed = [[line.split(_BETWEEN) for line in way.split(_APART)] for way in ways]
    given = sorted({line[1] for way in parsed for line in way if len(line) > 1})
    raters = sorted({(_role(line[0]), line[0]) for way in parsed for line in way}, key=lambda rater: (ORDER.index(rater[0]), rater[1]))
    counts = {rater: np.zeros((len(ways), len(given) + 1)) for rater in raters}
    for number, lines in enumerate(parsed):
        for name, *answer in lines:
            counts[_role(name), name][number, given.index(answer[0]) if answer else -1] += 1
    several = [rater for rater in raters if rater[0] in {"people", "judge"} and (counts[rater].sum(axis=1) > 1).any()]
    if not several and len(raters) < len(("a reference", "another")):
        return None
    games = rows["game"].unique().sort().to_numpy()
    rows = rows.with_columns(pl.col("game").rank("dense").cast(pl.Int64) - 1, pl.col("units").cast(pl.Float64))
    questions = {
        str(question): (own["game"].to_numpy(), own["way"].to_numpy(), own["units"].to_numpy())
        for (question,), own in sorted(rows.partition_by("question", as_dict=True).items())
    }
    return Answered(
        rubric=rubric, answers=tuple(given), scores=_scores(rubric, parsed, questions), games=games, questions=questions, counts=counts
    )


def _role(rater: str) -> Any:
    if rater == "engine" or rater.startswith("engine ("):
        return "engine"
    return {"planted truth": "truth", "people": "people"}.get(rater, "judge")


def _scores(
    rubric: str, parsed: list[list[list[str]]], questions: Mapping[str, tuple[Any, ...]]
) -> dict[tuple[str, Rater, str | None], float | None]:
    """The number of each answer: the rubric's own, where it comes with cotrace, else what verdicts say, else what labels say."""
    own: dict[tuple[str, Rater, str | None], float | None] = {}
    judged: dict[tuple[str, str | None], float | None] = {}
    for question, (_, ways, _) in questions.items():
        for line in {tuple(line) for way in np.unique(ways) for line in parsed[way]}:
            name, answer, score = (*line, None, None)[:3]
            role, number = _role(name), None if score is None else float(score)
            own[question, (role, name), answer] = _larger(own.get((question, (role, name), answer)), number)
            if role in {"engine", "judge"} and answer is not None:
                judged[question, answer] = _larger(judged.get((question, answer)), number)
    built_in = numbers_of_answers(rubric)
    return {
        (question, rater, answer): built_in[answer] if answer in built_in else judged.get((question, answer), number)
        for (question, rater, answer), number in own.items()
    }


def _larger(first: float | None, second: float | None) -> float | None:
    known = [number for number in (first, second) if number is not None]
    return max(known, default=None)
