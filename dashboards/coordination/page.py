"""LLM-Coordination: CoordinationQA beside chance, where letters get lost, agentic scores, and how the two go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics.statistics.intervals import pearson
from dashboards.figures.theme import MODEL_COLORS, plain, styled
from dashboards.parts import Part, card, figure, note, number, table
from dashboards.reader import Reader

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["BENCHMARK", "IN_MENU", "ORDER", "PATH", "TITLE", "content"]

PATH = "/coordination"
TITLE = "Coordination"
IN_MENU = True
BENCHMARK = "coordination"
ORDER = 83

_TYPES: Final = {"EC": "environment comprehension", "TOM": "theory of mind", "JP": "joint planning"}
_LEAST: Final = 3
"""Models below which no correlation is given."""


def content(read: Reader) -> Part:
    """All cards; a line instead where the store has no such games."""
    accuracy = read.rows(
        "SELECT * FROM coordqa_accuracy WHERE grouping = 'upstream' AND game = 'all' ORDER BY respondent, type",
    )
    games = _agentic(read)
    if accuracy.is_empty() and games.is_empty():
        return note("The store has no games of LLM-Coordination: read its logs with `cotrace ingest`, or play some.")
    parts = [] if accuracy.is_empty() else [_accuracy(accuracy), _lost(read)]
    return [*parts, *([] if games.is_empty() else [_games(games)]), _correlation(read)]


def _accuracy(rows: pl.DataFrame) -> Part:
    columns = {
        "respondent": "Respondent",
        "type": "Type",
        "trials": "Trials",
        "accuracy": "As published",
        "accuracy_se": "± SE (ddof 0)",
        "accuracy_se_sample": "± SE (ddof 1)",
        "accuracy_read": "Read with care",
        "accuracy_corrected": "and corrected key",
        "chance": "Chance",
        "chance_upstream": "Chance, published model",
    }
    return card(
        "CoordinationQA by type",
        figure("coordqa", _accuracy_chart(rows)),
        table(rows, columns),
        hint="Bars: published scoring with its 95 % interval over questions; diamonds: careful reading and corrected key; lines: guessing.",
    )


def _accuracy_chart(rows: pl.DataFrame) -> go.Figure:
    import plotly.graph_objects as go
    import polars as pl

    drawn = go.Figure()
    for place, (kind, name) in enumerate(_TYPES.items()):
        part = rows.filter(pl.col("type") == kind)
        if part.is_empty():
            continue
        who = [plain(respondent) for respondent in part["respondent"]]
        color = MODEL_COLORS[place]
        up, down = part["accuracy_high"] - part["accuracy"], part["accuracy"] - part["accuracy_low"]
        error = {"type": "data", "symmetric": False, "array": up.to_list(), "arrayminus": down.to_list()}
        drawn.add_bar(name=name, x=who, y=part["accuracy"].to_list(), error_y=error, marker_color=color, offsetgroup=kind)
        careful = {"mode": "markers", "marker": {"symbol": "diamond", "color": color, "line": {"color": "white", "width": 1}}}
        read = part["accuracy_corrected"].to_list()
        drawn.add_scatter(name=f"{name}, read with care", x=who, y=read, showlegend=False, offsetgroup=kind, **careful)
        chance = part["chance"].to_list()[0]
        drawn.add_hline(y=chance, line={"color": color, "dash": "dot", "width": 1})
    drawn.update_layout(barmode="group", scattermode="group")  # each diamond over its own bar
    drawn.update_yaxes(title="accuracy", range=[0, 1.05], tickformat=".0%")
    return styled(drawn, height=430)


def _lost(read: Reader) -> Part:
    rows = read.rows(
        """
        SELECT
            respondent,
            read_kind,
            count(*) AS answers,
            count(*) FILTER (WHERE read_letter = published_letter) AS same,
            count(*) FILTER (WHERE read_letter <> published_letter) AS misread,
            count(*) FILTER (WHERE read_letter IS NULL) AS guessed,
            count(*) FILTER (WHERE read_letter IS NULL AND correct) AS credited
        FROM coordqa_answers
        GROUP BY ALL
        ORDER BY respondent, answers DESC
        """
    )
    columns = {
        "respondent": "Respondent",
        "read_kind": "The response is",
        "answers": "Answers",
        "same": "Published scoring reads the same",
        "misread": "reads another letter",
        "guessed": "guesses where none is named",
        "credited": "and credits the guess",
    }
    hint = "What careful reading finds, against the letter that the published scoring takes."
    return card("Where letters get lost", table(rows, columns), hint=hint)


def _agentic(read: Reader) -> pl.DataFrame:
    return read.rows(
        """
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
        FROM coordination_games
        GROUP BY ALL
        ORDER BY game, variant, score DESC
        """
    )


def _games(rows: pl.DataFrame) -> Part:
    columns = {
        "game": "Game",
        "variant": "Layout or scenario",
        "model": "Players",
        "n": "Games",
        "score": "Score or rate",
        "se": "± SE (ddof 0)",
        "se_sample": "± SE (ddof 1)",
        "bombed": "Bomb rate",
        "turns_of_successes": "Turns, successes",
        "turns": "Turns, all",
    }
    return card(
        "The four games",
        table(rows, columns),
        hint="Hanabi: sum of the stacks; Overcooked: points; the others: share captured or escaped. The paper mixes both standard errors.",
    )


def _correlation(read: Reader) -> Part:
    rows = read.rows(
        """
        WITH agentic AS (SELECT game, model, avg(score) AS score FROM coordination_games GROUP BY ALL),
        pairs AS (
            SELECT agentic.game, qa.type, agentic.score, qa.accuracy
            FROM agentic INNER JOIN coordqa_accuracy AS qa ON agentic.model = qa.respondent
            WHERE qa.grouping = 'upstream' AND qa.game = 'all'
        )
        SELECT game, type, list(score) AS scores, list(accuracy) AS accuracies, count(*) AS n FROM pairs GROUP BY ALL ORDER BY ALL
        """
    )
    if rows.is_empty():
        return card("Agentic scores and CoordinationQA", note("No model has both answered the questions and played a game."))
    import polars as pl

    found = [pearson(row["scores"], row["accuracies"]) if row["n"] >= _LEAST else None for row in rows.iter_rows(named=True)]
    shown = rows.with_columns(
        r=pl.Series([number(None if estimate is None else estimate.value, 2) for estimate in found], dtype=pl.String),
        interval=pl.Series(
            ["–" if estimate is None else f"{number(estimate.low, 2)} to {number(estimate.high, 2)}" for estimate in found], dtype=pl.String
        ),
    )
    columns = {"game": "Game", "type": "Questions", "n": "Models", "r": "Pearson r", "interval": "95 % interval"}
    hint = f"Over models; fewer than {_LEAST} give none, and with four only |r| above 0.95 tells anything."
    return card("Agentic scores and CoordinationQA", table(shown, columns), hint=hint)
