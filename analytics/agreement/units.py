"""Answers about the same units, matched and counted by game where the answers are: a unit's answers are the digits of a number.

A rater's answers about a unit are one row. It has a field of a few bits for every question and answer of the rubric, which counts how
often the answer was given. So millions of answers are numbers that DuckDB sums, joins and groups faster than texts. The result is one row
for each way in which units of a game were answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from analytics.agreement.answers import ORDER, Answered, Layout, Pair, Rater, layout_for, numbers_of_answers
from analytics.query import frame, query
from schemas.store.store import Store

if TYPE_CHECKING:
    import duckdb


_RUBRICS: Final = "SELECT rubric FROM labels UNION SELECT rubric FROM verdicts ORDER BY rubric"
_ANSWER: Final = "replace(lower(answer), '/', '')"
_LABEL_RATER: Final = """CASE
    WHEN starts_with(annotator, 'llm:') THEN split_part(annotator, '#', 1)
    WHEN source = 'planted' OR starts_with(source, 'planted:') THEN 'planted truth'
    ELSE 'people'
END"""
# N/A as planted truth: the truth is not determined (docs/labels.md); PS6 alone has N/A as a true answer
_IS_KNOWN: Final = f"({_ANSWER} != 'na' OR question = 'PS6' OR {_LABEL_RATER} != 'planted truth')"
_LABELS: Final = f"""
FROM labels
WHERE rubric = $rubric AND {_IS_KNOWN}
"""
_LABELLED: Final = f"""
WITH counted AS (
    SELECT source, annotator, question, answer, max(score) AS score,
        bool_and(episode_id IS NULL OR starts_with(unit_key, episode_id)) AS has_own_key
    FROM labels
    WHERE rubric = $rubric
    GROUP BY ALL
)

SELECT {_LABEL_RATER} AS rater, annotator, question, {_ANSWER} AS answer, max(score) AS score, min(source) AS first_source,
    max(source) AS last_source, bool_and(has_own_key) AS has_own_key
FROM counted
WHERE {_IS_KNOWN}
GROUP BY ALL
"""
_VERDICT_RATER: Final = "CASE WHEN variant IS NULL THEN judge ELSE judge || ' (' || variant || ')' END"
_JUDGED: Final = f"""
WITH counted AS (
    SELECT judge, variant, question, status, answer, max(score) AS score, max(repeat) AS repeats
    FROM verdicts_newest
    WHERE rubric = $rubric
    GROUP BY ALL
)

SELECT {_VERDICT_RATER} AS rater, question, CASE WHEN status = 'answered' THEN {_ANSWER} END AS answer, score, repeats
FROM counted
"""

_SLOT: Final = "(list_position($questions, question) - 1) * $stride + coalesce(list_position($answers, {answer}), $most) - 1 AS slot"
_UNIT: Final = """CASE
    WHEN episode_id IS NULL OR starts_with(unit_key, episode_id) THEN hash(unit_key)
    ELSE hash(concat_ws('/', episode_id, turn, agent))
END"""
_GAME: Final = "CASE WHEN episode_id IS NULL THEN hash(regexp_replace(unit_key, '(/.*|_[0-9]+)$', '')) ELSE hash(episode_id) END"
_OF_LABELS: Final = f"""
    SELECT list_position($raters, {_LABEL_RATER}) - 1 AS rater, {_UNIT} AS unit, {_GAME} AS game, {_SLOT.format(answer=_ANSWER)}
    {_LABELS}"""
# one person's answer that came from two sources, such as a page and its export, is one answer: the one that came last
_OF_SEVERAL: Final = f"""
    UNION ALL
    {_OF_LABELS} AND list_contains($several, annotator)
    QUALIFY row_number() OVER (
        PARTITION BY question, {_LABEL_RATER}, annotator, {_UNIT} ORDER BY imported_at DESC NULLS LAST, source
    ) = 1"""
_COUNTED: Final = "coalesce(try_cast(sum(1::BIGINT << (slot % $a_word * $width)){of_word} AS BIGINT), 0) AS w{word}"
# verdicts whose turn is not in the store any more do not count (`verdicts_latest`); a unit's are looked for once
_MATCHED: Final = f"""
WITH judged AS (
    SELECT list_position($raters, {_VERDICT_RATER}) - 1 AS rater, hash(unit_id) AS unit, hash(episode_id) AS game, turn,
        {_SLOT.format(answer=f"CASE WHEN status = 'answered' THEN {_ANSWER} END")}
    FROM verdicts_newest
    WHERE rubric = $rubric
),

judged_units AS (SELECT rater, unit, game, turn, {{counted}}, count(*) AS answered FROM judged GROUP BY rater, unit, game, turn),

labelled AS ({_OF_LABELS} AND NOT list_contains($several, annotator) {{of_several}}),

found AS (
    SELECT rater, unit, game, {{words}}, answered
    FROM judged_units
    WHERE game IN (SELECT hash(episode_id) FROM episodes)
        AND (turn IS NULL OR hash(game, turn) IN (SELECT hash(hash(episode_id), turn) FROM turns))
    UNION ALL
    SELECT rater, unit, game, {{counted}}, count(*) FROM labelled GROUP BY rater, unit, game
),

units AS ({{units}})

SELECT NULL AS game, rater AS first, rater AS second, {{any_first}}, {{any_second}}, count(*) FILTER (answered != {{digits}}) AS units
FROM units
GROUP BY rater
UNION ALL
SELECT game, rater, rater, {{words}}, {{words}}, count(*)
FROM units
WHERE list_contains($alone, rater)
GROUP BY game, rater, {{words}}
UNION ALL
SELECT a.game, a.rater, b.rater, {{first}}, {{second}}, count(*)
FROM units AS a
INNER JOIN units AS b ON a.unit = b.unit AND a.rater < b.rater
GROUP BY a.game, a.rater, b.rater, {{first}}, {{second}}
"""


class _Given(NamedTuple):
    """Which answers there are: rater, question, answer, score, and more of each."""

    labelled: pl.DataFrame
    judged: pl.DataFrame

    def all(self) -> pl.DataFrame:
        """Both."""
        return pl.concat([rows.select("rater", "question", "answer", "score") for rows in self])

    def shared(self) -> set[str]:
        """Judges whose answers stand among the labels as well."""
        return set(self.labelled["rater"]) & set(self.judged["rater"])

    def twice(self) -> set[str]:
        """Who may have answered a unit more than once."""
        several = self.labelled.group_by("rater").agg(pl.col("annotator").n_unique()).filter(pl.col("annotator") > 1)
        return {*several["rater"], *self.judged.filter(pl.col("repeats") > 1)["rater"], *self.shared()}

    def from_several_sources(self) -> list[str]:
        """Annotators whose answers may have come from two sources; of others each is the only one of its unit."""
        is_several = (pl.col("first_source").min() != pl.col("last_source").max()) | ~pl.col("has_own_key").all()
        return self.labelled.group_by("annotator").agg(is_several=is_several).filter("is_several")["annotator"].to_list()

    def people(self) -> int:
        """Most annotators that are one rater, as people are."""
        raters = self.labelled.partition_by("rater")
        return max((rows["annotator"].n_unique() for rows in raters), default=1)

    def repeats(self) -> int:
        """Most often that a judge was asked about a unit."""
        return max((int(times) for times in self.judged["repeats"]), default=1)


def answered(store: Store, rubric: str | None = None) -> Iterator[Answered]:
    """What was answered about each rubric, by name, as `analytics.agreement.answers.answers` has it, matched by unit.

    Everybody is matched with everybody, by the reference's game, and those who may have answered a unit twice with themselves. `hash`
    of DuckDB distinguishes units and games: two units of a rubric have one value by chance in one of ten million stores of a million units.

    Args:
        store: a store with the views.
        rubric: only this one; None: all.

    Raises:
        StoreError: the store cannot be read.
    """
    for name in query(store, _RUBRICS)["rubric"].to_list() if rubric is None else [rubric]:
        with store.reading() as connection:
            given = _Given(*(frame(connection, sql, {"rubric": name}) for sql in (_LABELLED, _JUDGED)))
            found = _matched(connection, name, given) if len(given.all()) else None
        if found is not None:
            yield found


def _matched(connection: duckdb.DuckDBPyConnection, rubric: str, given: _Given) -> Answered | None:
    """None where there is no other rater, as of a rubric with planted truth alone."""
    raters = sorted(((_role(name), name) for name in given.all()["rater"].unique()), key=lambda rater: (ORDER.index(rater[0]), rater[1]))
    alone = [place for place, (role, name) in enumerate(raters) if name in given.twice() and role in {"people", "judge"}]
    if not alone and len(raters) < len(("a reference", "another")):
        return None
    questions, answers = (given.all()[column].drop_nulls().unique().sort().to_list() for column in ("question", "answer"))
    asked = {
        "rubric": rubric,
        "alone": alone,
        "raters": [name for _, name in raters],
        "questions": questions,
        "answers": answers,
        "most": len(answers) + 1,
        "several": given.from_several_sources(),
    }
    width = given.repeats().bit_length()
    while True:
        layout = layout_for(len(questions), len(answers) + 1, width)
        fields = {"stride": layout.stride, "a_word": layout.a_word, "width": width}
        rows = frame(connection, _sql(layout, given, asked), asked | fields)
        of_raters = rows.filter(rows["game"].is_null())
        if not of_raters["units"].sum():
            break
        # a field was too small for its count; most often each unit has but one of the people who labelled
        width = max(2 * width, given.people().bit_length())
    return _read(Answered(rubric, tuple(questions), tuple(answers), layout), raters, rows, of_raters, given)


def _role(rater: str) -> Any:
    if rater == "engine" or rater.startswith("engine ("):
        return "engine"
    return {"planted truth": "truth", "people": "people"}.get(rater, "judge")


def _sql(layout: Layout, given: _Given, asked: Mapping[str, Any]) -> str:
    words = [f"w{word}" for word in range(layout.words)]
    of_word = " FILTER (slot // $a_word = {word})" if layout.words > 1 else ""
    counted = ", ".join(_COUNTED.format(word=word, of_word=of_word.format(word=word)) for word in range(layout.words))
    sums = ", ".join(f"sum({word})::BIGINT AS {word}" for word in [*words, "answered"])
    mask = (1 << layout.width) - 1
    bits = range(0, layout.a_word * layout.width, layout.width)
    digits = (f"bit_count({word})" if layout.width == 1 else " + ".join(f"({word} >> {bit} & {mask})" for bit in bits) for word in words)
    return _MATCHED.format(
        counted=counted,
        words=", ".join(words),
        of_several=_OF_SEVERAL if asked["several"] else "",
        units=f"SELECT rater, unit, game, {sums} FROM found GROUP BY rater, unit, game" if given.shared() else "FROM found",
        any_first=", ".join(f"bit_or({word}) AS first_{word}" for word in words),
        any_second=", ".join(f"0 AS second_{word}" for word in words),
        digits=f"({' + '.join(digits)})",
        first=", ".join(f"a.{word}" for word in words),
        second=", ".join(f"b.{word}" for word in words),
    )


def _read(empty: Answered, raters: Sequence[Rater], rows: pl.DataFrame, of_raters: pl.DataFrame, given: _Given) -> Answered:
    words = [[f"{side}_w{word}" for word in range(empty.layout.words)] for side in ("first", "second")]
    used = [
        (question, raters[row["first"]], answer)
        for row in of_raters.iter_rows(named=True)
        for question, answer in empty.given([row[word] for word in words[0]])
    ]
    rows = rows.filter(pl.col("game").is_not_null()).with_columns(place=pl.col("game").rank("dense").cast(pl.Int64) - 1)
    pairs = {}
    for (first, second), part in rows.partition_by("first", "second", as_dict=True).items():
        first_words, second_words = ([part[word].to_numpy() for word in side] for side in words)
        pairs[raters[first], raters[second]] = Pair(
            part["place"].to_numpy(), first_words, second_words, part["units"].cast(pl.Float64).to_numpy()
        )
    return replace(empty, scores=_scores(empty.rubric, used, given), games=rows["game"].unique().sort().to_numpy(), pairs=pairs)


def _scores(rubric: str, used: Sequence[tuple[str, Rater, str | None]], given: _Given) -> dict[tuple[str, Rater, str | None], float | None]:
    """The number of each answer: the rubric's own, where it comes with cotrace, else what verdicts say, else what labels say."""
    own: dict[tuple[str, str, str | None], float | None] = {}
    for rater, question, answer, score in given.all().iter_rows():
        own[question, rater, answer] = _larger(own.get((question, rater, answer)), score)
    judged: dict[tuple[str, str | None], float | None] = {}
    for question, (role, name), answer in used:
        if role in {"engine", "judge"} and answer is not None:
            judged[question, answer] = _larger(judged.get((question, answer)), own[question, name, answer])
    built_in = numbers_of_answers(rubric)
    return {
        (question, rater, answer): built_in[answer]
        if answer in built_in
        else judged.get((question, answer), own[question, rater[1], answer])
        for question, rater, answer in used
    }


def _larger(first: float | None, second: float | None) -> float | None:
    known = [number for number in (first, second) if number is not None]
    return max(known, default=None)
