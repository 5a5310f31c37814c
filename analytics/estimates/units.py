"""The units that a judge was asked about, each with its answer, its label, and the chance with which it came to have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import polars as pl

from analytics.agreement.answers import counted_answers, numbers_of_answers
from analytics.query import condition, frame, one_reading, query
from schemas.store.store import Store

ANSWERS_BY: Final = {"turn": "place", "length": "long", "score": "reached", "agent": "agent", "task": "task"}
"""On what it can depend whether a judge answers -> column of `asked_units`."""
_STRATA: Final = 3
_WAYS: Final = """,
lines AS (
    SELECT rubric, question, way, is_detail, string_split(unnest(string_split(given, chr(30))), chr(31)) AS line
    FROM (
        SELECT rubric, question, hash(answers, details) AS way, unnest([answers, details]) AS given, unnest([FALSE, TRUE]) AS is_detail
        FROM (SELECT DISTINCT rubric, question, answers, details FROM counted)
    )
    WHERE given != ''
),

numbers AS (SELECT unnest($rubrics) AS rubric, unnest($answers) AS answer, unnest($numbers) AS number),

given AS (
    SELECT rubric, question, way, is_detail, line[1] AS rater, nullif(line[2], '') AS answer, nullif(line[3], '')::DOUBLE AS score,
        line[4] AS member, nullif(line[5], '')::DOUBLE AS probability, line[6] AS chosen,
        CASE rater WHEN 'people' THEN 'people' WHEN 'planted truth' THEN 'truth' ELSE 'judge' END AS role
    FROM lines
),

-- a label file knows yes and no, the rubric their numbers (of some the failure is the yes): what verdicts say of an answer goes first
known AS (
    SELECT rubric, question, answer, any_value(score) AS known_score FROM given WHERE role = 'judge' AND answer IS NOT NULL GROUP BY ALL
),

scored AS (
    SELECT given.* EXCLUDE (score), CASE
        WHEN numbers.answer IS NOT NULL THEN number WHEN known.answer IS NOT NULL THEN known_score ELSE score
    END AS score
    FROM given
    LEFT JOIN numbers USING (rubric, answer)
    LEFT JOIN known USING (rubric, question, answer)
),

asked AS (
    SELECT rubric, question, rater AS judge, way, avg(score) FILTER (NOT is_detail) AS score,
        coalesce(stddev_pop(score) FILTER (NOT is_detail), 0) AS unsteady, bool_or(answer IS NOT NULL) AS is_answered,
        avg(CASE WHEN score IN (0, 1) THEN probability * score + (1 - probability) * (1 - score) END) AS p_yes
    FROM scored WHERE role = 'judge' GROUP BY ALL
),

labelled AS (
    SELECT rubric, question, way, role, avg(score) AS label, count(*) AS labels, 2 * var_samp(score) AS differ, max(probability) AS drawn,
        bool_or(role = 'truth' OR chosen = 'sample') AS is_sample,
        list(struct_pack(rater := member, given := score) ORDER BY member) FILTER (role = 'people') AS people
    FROM scored
    WHERE (role = 'truth' OR (role = 'people' AND is_detail AND chosen != 'disagreement')) AND score IS NOT NULL
    GROUP BY ALL
)

SELECT hash(rubric, question) AS asked, asked.*, role, label, labels, differ, drawn, is_sample, people
FROM asked
LEFT JOIN labelled USING (rubric, question, way)
WHERE asked.score IS NOT NULL OR NOT is_answered
ORDER BY rubric, question, judge, way, role
"""
_COUNTS: Final = """
SELECT hash(rubric, question) AS asked, hash(answers, details) AS way, hash(episode_id) AS game, units AS n,
    turns, squared_turns, last_turn, lengths, map_entries(agents) AS agents, {single}
FROM counted
"""
_GAMES: Final = """
SELECT episode_id, hash(episode_id) AS game, game AS cluster, e.model, e.task_id AS task, games.benchmark, games.score AS game_score
FROM (SELECT episode_id FROM episodes UNION SELECT episode_id FROM counted WHERE unit_id IS NOT NULL)
LEFT JOIN episodes AS e USING (episode_id) LEFT JOIN games USING (episode_id)
"""
NEGLIGIBLE: Final = 0.02
"""Share of the units without an answer of the judge up to which a rate of the others is used for all: it is off by so much at most."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """All units that one judge was asked one question about."""

    rubric: str
    question: str
    judge: str
    reference: str
    """Whose labels correct: people, where there are any, else planted truth."""
    units: pl.DataFrame
    """Rows of `asked_units`."""
    by_name: Callable[[], pl.DataFrame] | None = None
    """Reads the same units one a row; None: `units` are so."""

    def with_units(self, units: pl.DataFrame) -> Asked:
        """The same question and judge about other units."""
        return replace(self, units=units, by_name=None)


def asked_units(
    store: Store, rubric: str | None = None, families: str | None = None, *, question: str | None = None, by_name: bool = False
) -> Iterator[Asked]:
    """Of each question and judge, by name, the units that it was asked about; those that the judge answered with N/A are left out.

    A row is n units of a game that all raters answered alike, or one where its chance to be drawn or the probability of an answer is its
    own: what the estimates take are sums over units. Columns: rubric, question, judge; unit: name of the one unit, else a number;
    n; episode_id; game: hash of episode_id; model, task: null for games outside the
    store; score: mean number of the judge's answers, 0 to 1, null without one; unsteady: their standard deviation over repeats;
    is_answered; p_yes: probability of yes by the answers' tokens, null where the server gave none; label: mean number of the labels, null
    without one; labels: how many; differ: share of pairs of labels that differ (of numbers, their mean squared difference), null below two;
    drawn: chance with which the unit was drawn to be labelled, null if that was not recorded; is_sample: whether it is known that it was
    drawn, by a recorded chance or in the random order of the page Labelling; people: who labelled it, and with what
    number, null where the truth was planted; agents: how many of the units are of which agent; agent: of the one unit; reached: the game's
    score, 0 to 1 over the question's games of its benchmark. Means over the n units: place, of turn over the question's last turn of all;
    squared_place; long, of the length of the agent's messages on the turn, 0 to 1 (`unit_answers` of docs/views.md).

    Labels drawn because raters disagree are left out. Where some labels have a recorded chance, only these count, else where some are in
    random order, these: of the others it is not known how they relate to them.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.
        families: SQL expression over `episodes`: its values stand in the place of games and tasks, as clusters; None: games and tasks do.
        question: only this one; None: all.
        by_name: one unit a row.

    Raises:
        UsageError: the expression is none.
        StoreError: the store cannot be read.
    """
    single = "unit_id AS unit, agent" if by_name else "row_number() OVER () AS unit"
    with one_reading(store) as connection:
        counted = f"WITH counted AS ({counted_answers(connection, rubric, question, by_name=by_name)})"
        names = [rubric] if rubric is not None else frame(connection, f"{counted} SELECT DISTINCT rubric FROM counted")["rubric"]
        known = [(name, answer, number) for name in names for answer, number in numbers_of_answers(name).items()]
        columns = map(list, zip(*known, strict=True)) if known else ([], [], [])
        ways = frame(connection, counted + _WAYS, dict(zip(("rubrics", "answers", "numbers"), columns, strict=True)))
        counts = frame(connection, counted + _COUNTS.format(single=single))
        games = frame(connection, counted + _GAMES)
    if families is not None:
        of_games = query(store, f"SELECT episode_id, ({condition(families)})::VARCHAR AS family FROM episodes")
        games = games.join(of_games, on="episode_id", how="left").with_columns(
            cluster=pl.coalesce(pl.col("family").hash(), "game"), task=pl.coalesce("family", "task")
        )
    games = games.sort("model", "cluster", nulls_last=True).with_row_index("order")
    of_questions = counts.partition_by("asked", as_dict=True, include_key=False)
    for (asked,), own in ways.group_by("asked", maintain_order=True):
        yield from _of_question(own.drop("asked"), of_questions[(asked,)], games, None if by_name else partial(_by_name, store, families))


def _by_name(store: Store, families: str | None, rubric: str, question: str, judge: str) -> pl.DataFrame:
    asked = asked_units(store, rubric, families, question=question, by_name=True)
    return next(found.units for found in asked if found.judge == judge)


def _of_question(
    ways: pl.DataFrame, counts: pl.DataFrame, games: pl.DataFrame, by_name: Callable[[str, str, str], pl.DataFrame] | None
) -> Iterator[Asked]:
    reference = "people" if (ways["role"] == "people").any() else "truth"
    is_used = pl.col("role").eq_missing(reference)
    for is_known in (pl.col("drawn").is_not_null(), pl.col("is_sample")):
        if not ways.filter(is_used & is_known).is_empty():
            is_used = is_used & is_known
            break
    own = ("label", "labels", "differ", "drawn", "is_sample", "people")
    ways = ways.with_columns(pl.when(is_used).then(pl.col(own)).otherwise(None)).with_columns(has=pl.col("label").is_not_null())
    ways = ways.sort("has", descending=True, maintain_order=True).unique(["judge", "way"], keep="first", maintain_order=True)
    about = counts.join(ways.select("way").unique(), on="way", how="semi").join(games, on="game", how="left")
    score, turn = pl.col("game_score"), pl.col("n") * pl.col("last_turn").max()
    least, most = (end.over("benchmark") for end in (score.min(), score.max()))
    about = about.with_columns(
        place=pl.col("turns") / turn,
        squared_place=pl.col("squared_turns") / turn / pl.col("last_turn").max(),
        long=pl.col("lengths") / pl.col("n"),
        reached=pl.when(most > least).then((score - least) / (most - least)),
        game="cluster",
    ).sort("order", "unit")
    about = about.drop("order", "turns", "squared_turns", "last_turn", "lengths", "game_score", "benchmark", "cluster")
    for key, of_judge in ways.drop("has", "role").group_by("rubric", "question", "judge", maintain_order=True):
        rubric, question, judge = map(str, key)
        yield Asked(
            rubric=rubric,
            question=question,
            judge=judge,
            reference="people" if reference == "people" else "planted truth",
            units=about.join(of_judge, on="way", how="inner", maintain_order="left"),
            by_name=by_name and partial(by_name, rubric, question, judge),
        )


def population(units: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The units that labels can speak for, with what the judge answers of them; and whether units without an answer are left out.

    A unit without an answer of the judge counts with the judge's mean: any value would do, since labels correct it, as long as some of them
    are of such units. Where none is, and they are more than 2 %, nothing is known of them. Columns added: predicted, the judge's number of
    it; weight: 1 over the chance with which it was drawn, so scaled that the weights of all labels add up to as many labels of equal
    weight as would tell as much (Kish 1965, Survey Sampling); 0 without a label.

    Args:
        units: rows of `asked_units`, of one judge, question and group of games.
    """
    abstained, n, predicted = units.filter(~pl.col("is_answered")), pl.col("n"), pl.coalesce("p_yes", "score")
    is_many = size_of(abstained) > NEGLIGIBLE * size_of(units)
    is_unknown = is_many and not abstained["label"].is_not_null().any()
    found = (units if is_many and not is_unknown else units.filter("is_answered")).with_columns(
        predicted=predicted.fill_null((predicted * n).sum() / (predicted.is_not_null() * n).sum()),
        weight=pl.when(pl.col("label").is_not_null()).then(1 / pl.col("drawn").fill_null(1.0)).otherwise(0.0),
    )
    total, squares = found.select((pl.col("weight") ** power * n).sum().alias(f"{power}") for power in (1, 2)).row(0)
    return found.with_columns(pl.col("weight") * (total / squares if squares else 0.0)), is_unknown


def size_of(rows: pl.DataFrame) -> int:
    """How many units they are."""
    return int(rows["n"].sum())


def weighted_by_answers(units: pl.DataFrame, trait: str) -> pl.DataFrame | None:
    """The units as `population`, labels weighted by 1 over the share answered among units like theirs, too.

    None where no unit of some kind is answered, or the trait of one is not known.
    Right if whether the judge answers depends on the trait alone: inverse probability weighting (Horvitz and Thompson 1952, Journal of the
    American Statistical Association 47; Seaman and White 2013, Statistical Methods in Medical Research 22). Numbers are cut into thirds.

    Args:
        units: rows of `asked_units` by name, of one judge, question and group of games.
        trait: a key of `ANSWERS_BY`.
    """
    column = ANSWERS_BY[trait]
    like = pl.col(column) if units.schema[column] == pl.String else ((pl.col(column).rank() - 1) * _STRATA / pl.len()).floor()
    answered = pl.col("is_answered").mean().over("like")
    found = units.with_columns(like=like).with_columns(
        drawn=pl.col("drawn").fill_null(1.0) * answered,
        is_answered=pl.lit(value=True),
        score=pl.col("score").fill_null(pl.col("score").mean().over("like")),
    )
    return None if found["score"].has_nulls() or found["like"].has_nulls() else population(found)[0]
