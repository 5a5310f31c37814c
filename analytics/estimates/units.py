"""The units that a judge was asked about, each with its answer, its label, and the chance with which it came to have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors as cs

from analytics.agreement.answers import counted_answers, numbers_of_answers
from analytics.query import condition, frame, in_table, one_reading, query
from analytics.statistics.intervals import Floats
from schemas.store.store import Store

ANSWERS_BY: Final = {"turn": "place", "length": "long", "score": "reached", "agent": "agent", "task": "task"}
"""On what it can depend whether a judge answers -> column of `Counted.rows`."""
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
    turns, squared_turns, last_turn, lengths, agent{single}
FROM counted
"""
_AGENTS: Final = """
SELECT asked, way, game, entry.key AS agent, entry.value AS n
FROM (
    SELECT hash(rubric, question) AS asked, hash(answers, details) AS way, hash(episode_id) AS game, unnest(map_entries(agents)) AS entry
    FROM counted WHERE agents IS NOT NULL
)
"""
_GAMES: Final = """
SELECT episode_id, hash(episode_id) AS game, game AS cluster, e.model, e.task_id AS task, games.benchmark, games.score AS game_score
FROM (SELECT episode_id FROM episodes UNION SELECT episode_id FROM counted WHERE unit_id IS NOT NULL)
LEFT JOIN episodes AS e USING (episode_id) LEFT JOIN games USING (episode_id)
"""
NEGLIGIBLE: Final = 0.02
"""Share of the units without an answer of the judge up to which a rate of the others is used for all: it is off by so much at most."""
_OF_GAME: Final = ("episode_id", "game", "model", "task")
_OF_COUNT: Final = ("unit", "n", "agent", "reached", "place", "squared_place", "long")


@dataclass(frozen=True, kw_only=True)
class Cells:
    """How many units of each game all raters together answered in which way, of one question."""

    games: pl.DataFrame
    """One row a game, those of a model together: at, its place; episode_id; game: hash of episode_id, or of its family; model, task: null
    for games outside the store."""
    counts: pl.DataFrame
    """One row for n units of a game that were answered in one way, by `at`: at, way, and those columns of `Counted.rows` that follow from
    neither of them."""
    agents: pl.DataFrame
    """How many of them are of which agent, by `at`: at, way, agent, n."""

    @cached_property
    def clusters(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Each `game` that there is, once, and the place of each row of `games` among them."""
        found, places = np.unique(self.games["game"].to_numpy(), return_inverse=True)
        return found, places

    @cached_property
    def of_models(self) -> Mapping[str | None, Cells]:
        """Those of each model's games, in the order of `games`."""
        found = {}
        for (model,), games in self.games.group_by("model", maintain_order=True):
            first, end = games["at"][0], games["at"][-1] + 1
            counts, agents = (
                rows.slice(start := rows["at"].search_sorted(first), rows["at"].search_sorted(end) - start).with_columns(
                    pl.col("at") - first
                )
                for rows in (self.counts, self.agents)
            )
            own = Cells(games=games.with_columns(pl.col("at") - first), counts=counts, agents=agents)
            found[None if model is None else str(model)] = own
        return found

    def grouped(self, groups: pl.DataFrame) -> Cells:
        """Those of the games of `groups`: one row a game, episode_id and the model to take."""
        games = self.games.drop("model").join(groups, on="episode_id", maintain_order="left")
        games = games.sort("model", nulls_last=True, maintain_order=True).rename({"at": "before"}).with_row_index("at")
        places = games.select("at", "before")
        counts, agents = (
            rows.rename({"at": "before"}).join(places, on="before").drop("before").sort("at", maintain_order=True)
            for rows in (self.counts, self.agents)
        )
        return Cells(games=games.drop("before"), counts=counts, agents=agents)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Units that a judge was asked about, with what it answered and their labels.

    What the estimates take are sums over the units of a game of a number that the way decides, such as what the judge answered.
    """

    cells: Cells
    """Those of other ways than `ways` do not count."""
    ways: pl.DataFrame
    """One row a way: way, its place; n: how many units; rubric, question, judge, and what the way decides of the columns of `rows`."""

    @staticmethod
    def of(rows: pl.DataFrame) -> Counted:
        """The units of `rows`, each a way of its own."""
        of_game, of_count = (cs.by_name(*names, require_all=False) for names in (_OF_GAME, _OF_COUNT))
        games = rows.select(of_game).unique(maintain_order=True).sort("model", nulls_last=True, maintain_order=True).with_row_index("at")
        rows = rows.with_row_index("way").join(games, on=games.columns[1:], how="left", nulls_equal=True, maintain_order="left")
        ways, counts = rows.select("way", "n", ~(of_game | of_count | cs.by_name("at", "way"))), rows.select("at", "way", of_count)
        counts = counts.sort("at", maintain_order=True)
        return Counted(cells=Cells(games=games, counts=counts, agents=counts.drop_nulls("agent")), ways=ways)

    def of_cells(self, cells: Cells) -> Counted:
        """The units in these alone."""
        way, n, used = (column.to_numpy() for column in (cells.counts["way"], cells.counts["n"], self.ways["way"]))
        sizes = np.bincount(way, weights=n, minlength=used.max(initial=0) + 1)[used].astype(int)
        return Counted(cells=cells, ways=self.ways.with_columns(n=sizes).filter(sizes > 0))

    def rows(self) -> pl.DataFrame:
        """One row for n units of a game that all raters answered alike.

        n is 1 where the chance to be drawn or the probability of an answer is the unit's own. Columns: rubric, question, judge; unit: name
        of the one unit, else a number; n; episode_id; game; model; task; score: mean number of the judge's answers, 0 to 1, null without
        one; unsteady: their standard deviation over repeats; is_answered; p_yes: probability of yes by the answers' tokens, null where the
        server gave none; label: mean number of the labels, null without one; labels: how many; differ: share of pairs of labels that
        differ (of numbers, their mean squared difference), null below two; drawn: chance with which the unit was drawn to be labelled, null
        if that was not recorded; is_sample: whether it is known that it was drawn, by a recorded chance or in the random order of the page
        Labelling; people: who labelled it, and with what number, null where the truth was planted; agent: of the one unit; reached: the
        game's score, 0 to 1 over the question's games of its benchmark. Means over the n units: place, of turn over the question's last
        turn of all; squared_place; long, of the length of the agent's messages on the turn, 0 to 1 (`unit_answers` of docs/views.md).
        """
        of_ways = self.cells.counts.join(self.ways.drop("n"), on="way", maintain_order="left")
        return of_ways.join(self.cells.games, on="at", maintain_order="left").drop("at", "way")

    def sums(self, of_ways: Floats, rows: pl.DataFrame | None = None, times: Floats | None = None) -> Floats:
        """Numbers of the ways, summed over the units of each of `Cells.clusters`: shape (kinds, ways) -> (kinds, clusters).

        Args:
            of_ways: of each row of `ways`.
            rows: at, way and n, as in `agents`; None: all units.
            times: a number of the units of each row, shape (rows,), to multiply by.
        """
        from scipy.sparse import coo_array

        at, way, n = ((self.cells.counts if rows is None else rows)[name].to_numpy() for name in ("at", "way", "n"))
        (clusters, places), used = self.cells.clusters, self.ways["way"].to_numpy()
        weights = np.zeros((max(used.max(initial=0), way.max(initial=0)) + 1, len(of_ways)))
        weights[used] = of_ways.T
        amounts = n.astype(float) if times is None else n * times
        by_way = coo_array((amounts, (places[at], way)), shape=(len(clusters), len(weights)))
        return np.ascontiguousarray((by_way @ weights).T)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """All units that one judge was asked one question about."""

    rubric: str
    question: str
    judge: str
    reference: str
    """Whose labels correct: people, where there are any, else planted truth."""
    units: Counted
    by_name: Callable[[], pl.DataFrame] | None = None
    """Reads the rows of the same units one a unit; None: `units` are so."""

    def with_units(self, rows: pl.DataFrame) -> Asked:
        """The same question and judge about other units, as `Counted.rows`."""
        return replace(self, units=Counted.of(rows), by_name=None)


def asked_units(
    store: Store, rubric: str | None = None, families: str | None = None, *, question: str | None = None, by_name: bool = False
) -> Iterator[Asked]:
    """Of each question and judge, by name, the units that it was asked about; those that the judge answered with N/A are left out.

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
    single = ", unit_id AS unit" if by_name else ""
    with one_reading(store) as connection:
        every = counted_answers(connection, rubric, question, by_name=by_name)
        with nullcontext() if by_name else in_table(connection, "all_answers", every):  # single units can be millions
            counted = f"WITH counted AS ({every if by_name else 'FROM all_answers'})"
            names = [rubric] if rubric is not None else frame(connection, f"{counted} SELECT DISTINCT rubric FROM counted")["rubric"]
            known = [(name, answer, number) for name in names for answer, number in numbers_of_answers(name).items()]
            columns = map(list, zip(*known, strict=True)) if known else ([], [], [])
            ways = frame(connection, counted + _WAYS, dict(zip(("rubrics", "answers", "numbers"), columns, strict=True)))
            counts, agents = (frame(connection, counted + sql) for sql in (_COUNTS.format(single=single), _AGENTS))
            games = frame(connection, counted + _GAMES)
    if families is not None:
        of_games = query(store, f"SELECT episode_id, ({condition(families)})::VARCHAR AS family FROM episodes")
        games = games.join(of_games, on="episode_id", how="left").with_columns(
            cluster=pl.coalesce(pl.col("family").hash(), "game"), task=pl.coalesce("family", "task")
        )
    games = games.sort("model", "cluster", nulls_last=True).with_row_index("order")
    of_questions = counts.partition_by("asked", as_dict=True, include_key=False)
    for (asked,), own in ways.group_by("asked", maintain_order=True):
        of_agents = agents.filter(asked=asked).drop("asked")
        read = None if by_name else partial(_by_name, store, families)
        yield from _of_question(own.drop("asked"), of_questions[(asked,)], of_agents, games, read)


def _by_name(store: Store, families: str | None, rubric: str, question: str, judge: str) -> pl.DataFrame:
    asked = asked_units(store, rubric, families, question=question, by_name=True)
    return next(found.units.rows() for found in asked if found.judge == judge)


def _of_question(
    ways: pl.DataFrame,
    counts: pl.DataFrame,
    agents: pl.DataFrame,
    games: pl.DataFrame,
    by_name: Callable[[str, str, str], pl.DataFrame] | None,
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
    places = ways.select("way").unique(maintain_order=True).with_row_index("place")
    counts = counts.join(places, on="way")
    games = games.join(counts.select("game"), on="game", how="semi", maintain_order="left").with_row_index("at")
    score = pl.col("game_score")
    least, most = (end.over("benchmark") for end in (score.min(), score.max()))
    games = games.with_columns(reached=pl.when(most > least).then((score - least) / (most - least)))
    counts = counts.join(games.select("game", "at", "reached"), on="game")
    turn = pl.col("n") * pl.col("last_turn").max()
    counts = counts.sort("unit") if "unit" in counts.columns else counts.with_row_index("unit")
    counts = counts.select(
        "at",
        "unit",
        "n",
        "agent",
        "reached",
        way="place",
        place=pl.col("turns") / turn,
        squared_place=pl.col("squared_turns") / turn / pl.col("last_turn").max(),
        long=pl.col("lengths") / pl.col("n"),
    ).sort("at", maintain_order=True)
    agents = agents.join(places, on="way").join(games.select("game", "at"), on="game").select("at", "agent", "n", way="place").sort("at")
    cells = Cells(games=games.select("at", "episode_id", "model", "task", game="cluster"), counts=counts, agents=agents)
    for key, of_judge in ways.drop("has", "role").group_by("rubric", "question", "judge", maintain_order=True):
        rubric, question, judge = map(str, key)
        of_ways = of_judge.join(places, on="way", maintain_order="left").drop("way").rename({"place": "way"})
        yield Asked(
            rubric=rubric,
            question=question,
            judge=judge,
            reference="people" if reference == "people" else "planted truth",
            units=Counted(cells=cells, ways=of_ways).of_cells(cells),
            by_name=by_name and partial(by_name, rubric, question, judge),
        )


def population(units: Counted) -> tuple[Counted, bool]:
    """The units that labels can speak for, with what the judge answers of them; and whether units without an answer are left out.

    A unit without an answer of the judge counts with the judge's mean: any value would do, since labels correct it, as long as some of them
    are of such units. Where none is, and they are more than 2 %, nothing is known of them. Columns added to ways: predicted, the judge's
    number of a unit; weight: 1 over the chance with which it was drawn, so scaled that the weights of all labels add up to as many labels
    of equal weight as would tell as much (Kish 1965, Survey Sampling); 0 without a label.

    Args:
        units: of one judge, question and group of games.
    """
    ways, n, predicted = units.ways, pl.col("n"), pl.coalesce("p_yes", "score")
    abstained = ways.filter(~pl.col("is_answered"))
    is_many = size_of(abstained) > NEGLIGIBLE * size_of(ways)
    is_unknown = is_many and not abstained["label"].is_not_null().any()
    found = (ways if is_many and not is_unknown else ways.filter("is_answered")).with_columns(
        predicted=predicted.fill_null((predicted * n).sum() / (predicted.is_not_null() * n).sum()),
        weight=pl.when(pl.col("label").is_not_null()).then(1 / pl.col("drawn").fill_null(1.0)).otherwise(0.0),
    )
    total, squares = found.select((pl.col("weight") ** power * n).sum().alias(f"{power}") for power in (1, 2)).row(0)
    return replace(units, ways=found.with_columns(pl.col("weight") * (total / squares if squares else 0.0))), is_unknown


def size_of(rows: pl.DataFrame) -> int:
    """How many units they are."""
    return int(rows["n"].sum())


def weighted_by_answers(units: pl.DataFrame, trait: str) -> Counted | None:
    """The units as `population` has them, labels weighted by 1 over the share answered among units like theirs, too.

    None where no unit of some kind is answered, or the trait of one is not known.
    Right if whether the judge answers depends on the trait alone: inverse probability weighting (Horvitz and Thompson 1952, Journal of the
    American Statistical Association 47; Seaman and White 2013, Statistical Methods in Medical Research 22). Numbers are cut into thirds.

    Args:
        units: rows of units by name, of one judge, question and group of games.
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
    return None if found["score"].has_nulls() or found["like"].has_nulls() else population(Counted.of(found.drop("like")))[0]
