"""LLM-Coordination: CoordinationQA beside chance, where letters get lost, agentic scores, and how the two go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dash import html

from analytics.statistics.intervals import pearson
from dashboards.address import GAME
from dashboards.figures import Axis, Dot, dot_plot
from dashboards.grid import Grid, GridColumn, TableRows, fold
from dashboards.parts import Part, card, figure, link_choices, note
from dashboards.reader import Reader
from schemas.common import wording

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


PATH = "/coordination"
TITLE = "LLM-Coordination"
IN_MENU = True
BENCHMARK = "coordination"
ORDER = 83
FILTERS = ("condition", "model", "level")

_TYPES: Final = {"EC": "environment comprehension", "TOM": "theory of mind", "JP": "joint planning"}
_SCORINGS: Final = {"accuracy": "as published", "accuracy_corrected": "read with care, corrected key"}
_LEAST: Final = 3
"""Models below which no correlation is given."""

_CHOSEN = "SELECT episode_id, model, level FROM games WHERE {filters} AND benchmark = 'coordination'"
_ACCURACY = f"""
    SELECT * FROM coordqa_accuracy
    WHERE grouping = 'upstream' AND game = 'all' AND (respondent, type) IN (SELECT (model, level) FROM ({_CHOSEN}))
    ORDER BY respondent, type
"""
_LOST = f"""
    SELECT
        respondent,
        read_kind,
        count(*) AS answers,
        count(*) FILTER (WHERE read_letter = published_letter) AS same,
        count(*) FILTER (WHERE read_letter <> published_letter) AS misread,
        count(*) FILTER (WHERE read_letter IS NULL) AS guessed,
        count(*) FILTER (WHERE read_letter IS NULL AND correct) AS credited
    FROM coordqa_answers SEMI JOIN ({_CHOSEN}) USING (episode_id)
    GROUP BY ALL ORDER BY respondent, answers DESC
"""
_GAMES = f"""
    SELECT
        game,
        variant,
        model,
        count(*) AS n,
        avg(score) AS score,
        stddev_pop(score) / sqrt(count(*)) AS se,
        stddev_samp(score) / sqrt(count(*)) AS se_sample,
        avg(bombed::INT) AS bombed,
        avg(turns) FILTER (WHERE success) AS turns_of_successes,
        avg(turns) AS turns
    FROM coordination_games SEMI JOIN ({_CHOSEN}) USING (episode_id)
    GROUP BY ALL ORDER BY game, variant, score DESC
"""
_WON = f"""
    SELECT game, count(*) FILTER (success) AS won, count(success) AS n, avg(score) AS mean, count(*) AS games
    FROM coordination_games SEMI JOIN ({_CHOSEN}) USING (episode_id) GROUP BY ALL ORDER BY game
"""
_PAIRS = f"""
    WITH agentic AS (
        SELECT game, model, avg(score) AS score FROM coordination_games SEMI JOIN ({_CHOSEN}) USING (episode_id) GROUP BY ALL
    ),
    pairs AS (
        SELECT agentic.game, qa.type, agentic.score, qa.accuracy
        FROM agentic INNER JOIN coordqa_accuracy AS qa ON agentic.model = qa.respondent
        WHERE qa.grouping = 'upstream' AND qa.game = 'all'
    )
    SELECT game, type, list(score) AS scores, list(accuracy) AS accuracies, count(*) AS n FROM pairs GROUP BY ALL ORDER BY ALL
"""


def content(read: Reader) -> Part:
    """All cards under the filters; a line instead where there are no such games."""
    accuracy = read.rows(_ACCURACY)
    games = read.rows(_GAMES)
    if accuracy.is_empty() and games.is_empty():
        return note("No games of LLM-Coordination under these filters: choose others, read logs with `cotrace ingest`, or play some.")
    known = {"questions": "questions", "letters": "where letters get lost"} if len(accuracy) else {}
    known |= {"games": "the four games"} if len(games) else {}
    known |= {"both": "questions and games together"}
    show = read.address.one("show") if read.address.one("show") in known else next(iter(known))
    draw = {
        "questions": lambda: _accuracy_card(read, accuracy),
        "letters": lambda: _lost_card(read),
        "games": lambda: _games_card(read),
        "both": lambda: _correlation_card(read),
    }
    lead = html.P(" ".join(filter(None, [_answered(accuracy), _played(read)])), className="lead")
    choices = link_choices("Show", [(text, read.address.to(show=name), name == show) for name, text in known.items()])
    shown = [draw[name]() for name in (known if read.is_whole else [show])]
    return html.Div([html.H1(TITLE), lead, choices, *shown])


def _answered(rows: pl.DataFrame) -> str:
    """How many answer better than by guessing, in a sentence."""
    import polars as pl

    if rows.is_empty():
        return ""
    whole = rows.group_by("respondent").agg(_mean("accuracy"), _mean("accuracy_low"), _mean("chance"))
    better = whole.filter(pl.col("accuracy_low") > pl.col("chance"))
    mean = wording.share(rows.select(_mean("accuracy")).item())
    return (
        f"CoordinationQA: {mean} right on the average of {wording.count(len(whole))} respondents; "
        f"{wording.count(len(better))} of them do better than guessing."
    )


def _played(read: Reader) -> str:
    """How each game went, in a sentence: its share of successes, or its mean score where its paper knows no success."""
    found = []
    for row in read.rows(_WON).iter_rows(named=True):
        name = wording.condition_in_words({"game": row["game"]})
        games = wording.counted(row["games"], "game")
        went = wording.share(row["won"] / row["n"]) + " reached the goal" if row["n"] else f"mean score {wording.score(row['mean'])}"
        found.append(f"{name}: {went} ({games})")
    return f"{'; '.join(found)}." if found else ""


def _games_card(read: Reader) -> Part:
    hint = "Hanabi: sum of the stacks; Overcooked: points; the others: share captured or escaped. The paper mixes both standard errors."
    return card("The four games", fold(read, GAMES, is_open=True), hint=hint)


def _accuracy_card(read: Reader, rows: pl.DataFrame) -> Part:
    scoring = read.address.one("scoring") if read.address.one("scoring") in _SCORINGS else "accuracy"
    choices = [(text, read.address.to(scoring=key), key == scoring) for key, text in _SCORINGS.items()]
    return card(
        "CoordinationQA by type",
        link_choices("Scoring", choices),
        figure("coordqa", accuracy_chart(read, rows, scoring), label="accuracy by respondent and type of question"),
        fold(read, ACCURACY),
        lead=_best(rows, scoring),
        hint="Share of right answers; bars are 95 % intervals over questions, dotted lines what guessing gives.",
    )


def _best(rows: pl.DataFrame, scoring: str) -> str:
    """Who answers best, in a sentence."""
    whole = rows.group_by("respondent").agg(_mean(scoring)).sort(scoring, "respondent", descending=[True, False])
    first = whole.row(0, named=True)
    return f"“{wording.in_words(first['respondent'])}” answers best: {wording.share(first[scoring])} on the average of the types."


def _mean(column: str) -> pl.Expr:
    import polars as pl

    return pl.col(column).mean()


def accuracy_chart(read: Reader, rows: pl.DataFrame, scoring: str = "accuracy") -> go.Figure:
    """A line a respondent, a dot a type of question; chance as lines."""
    with_ends = scoring == "accuracy"
    dots = [
        Dot(
            line=wording.in_words(row["respondent"]),
            value=row[scoring],
            low=row["accuracy_low"] if with_ends else None,
            high=row["accuracy_high"] if with_ends else None,
            series=_TYPES.get(row["type"], row["type"]),
            n=row["trials"],
            told=f"chance {wording.share(row['chance'])}",
            link=read.address.narrowed(GAME, benchmark="coordination", model=row["respondent"], level=row["type"]),
        )
        for row in rows.iter_rows(named=True)
    ]
    chance = tuple(rows["chance" if with_ends else "chance_corrected"].drop_nulls().unique().sort())
    return dot_plot(dots, Axis(title="right answers", is_share=True, lines_at=chance), n_of="trials")


def _lost_card(read: Reader) -> Part:
    hint = "What careful reading finds, against the letter that the published scoring takes."
    return card("Where letters get lost", fold(read, LOST, is_open=True), hint=hint)


def _correlation_card(read: Reader) -> Part:
    if read.rows(_PAIRS).is_empty():
        return card("Agentic scores and CoordinationQA", note("No model has both answered the questions and played a game."))
    hint = f"Over models; fewer than {_LEAST} give none, and with four only |r| above 0.95 tells anything."
    return card("Agentic scores and CoordinationQA", fold(read, CORRELATIONS, is_open=True), hint=hint)


def _accuracy(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_ACCURACY,
        columns={
            "respondent": GridColumn(heading="Respondent", kind="name"),
            "type": GridColumn(heading="Type"),
            "trials": GridColumn(heading="Trials", kind="count"),
            "accuracy": GridColumn(heading="As published", kind="share"),
            "accuracy_low": GridColumn(heading="95 % from", kind="share"),
            "accuracy_high": GridColumn(heading="to", kind="share"),
            "accuracy_se": GridColumn(heading="SE (ddof 0)", kind="number"),
            "accuracy_se_sample": GridColumn(heading="SE (ddof 1)", kind="number"),
            "accuracy_read": GridColumn(heading="Read with care", kind="share"),
            "accuracy_corrected": GridColumn(heading="and corrected key", kind="share"),
            "chance": GridColumn(heading="Chance", kind="share"),
            "chance_upstream": GridColumn(heading="Chance, published model", kind="share"),
        },
        link=lambda row: read.address.narrowed(GAME, benchmark="coordination", model=row["respondent"], level=row["type"]),
    )


def _lost(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_LOST,
        columns={
            "respondent": GridColumn(heading="Respondent", kind="name"),
            "read_kind": GridColumn(heading="The response is", kind="name"),
            "answers": GridColumn(heading="Answers", kind="count"),
            "same": GridColumn(heading="Published scoring reads the same", kind="count"),
            "misread": GridColumn(heading="reads another letter", kind="count"),
            "guessed": GridColumn(heading="guesses where none is named", kind="count"),
            "credited": GridColumn(heading="and credits the guess", kind="count"),
        },
        link=lambda row: read.address.narrowed(GAME, benchmark="coordination", model=row["respondent"]),
    )


def _games(read: Reader, _: str) -> TableRows:
    return TableRows(
        sql=_GAMES,
        columns={
            "game": GridColumn(heading="Game", kind="name"),
            "variant": GridColumn(heading="Layout or scenario", kind="name"),
            "model": GridColumn(heading="Players"),
            "n": GridColumn(heading="Games", kind="count"),
            "score": GridColumn(heading="Score or rate", kind="number"),
            "se": GridColumn(heading="SE (ddof 0)", kind="number"),
            "se_sample": GridColumn(heading="SE (ddof 1)", kind="number"),
            "bombed": GridColumn(heading="Bombed", kind="share"),
            "turns_of_successes": GridColumn(heading="Turns, successes", kind="number"),
            "turns": GridColumn(heading="Turns, all", kind="number"),
        },
        link=lambda row: read.address.narrowed(GAME, benchmark="coordination", model=row["model"], level=row["game"]),
    )


def _correlations(read: Reader, _: str) -> TableRows:
    import polars as pl

    rows = read.rows(_PAIRS)
    found = [pearson(row["scores"], row["accuracies"]) if row["n"] >= _LEAST else None for row in rows.iter_rows(named=True)]
    estimates = {end: [getattr(estimate, end, None) for estimate in found] for end in ("value", "low", "high")}
    frame = rows.select("game", "type", "n").with_columns(pl.Series(name, values, dtype=pl.Float64) for name, values in estimates.items())
    return TableRows(
        frame=frame,
        columns={
            "game": GridColumn(heading="Game", kind="name"),
            "type": GridColumn(heading="Questions"),
            "n": GridColumn(heading="Models", kind="count"),
            "value": GridColumn(heading="Pearson r", kind="score", low="low", high="high"),
        },
    )


ACCURACY: Final = Grid("coordqa-accuracy", _accuracy, "In numbers")
LOST: Final = Grid("coordqa-letters", _lost, "Letters")
GAMES: Final = Grid("coordination-games", _games, "Scores")
CORRELATIONS: Final = Grid("coordination-correlations", _correlations, "Correlations")
TABLES = (ACCURACY, LOST, GAMES, CORRELATIONS)
