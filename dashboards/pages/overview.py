"""Overview: what is in the store, a card a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dashboards.address import GAME, game_at
from dashboards.answers import answers
from dashboards.filters import in_order, narrowed, thing_of
from dashboards.grid import Grid, GridColumn, TableRows, few, fold
from dashboards.parts import Later, Part, card, figure, html, note, stat
from dashboards.playback.facts import Measure, cost_in_words, measure_of
from dashboards.reader import Reader
from dashboards.team_figures import caption, captioned, drawn_twice, overview_figure, turns_caption, turns_figure
from dashboards.teams import TEAMS_SQL, Teams, teams_of
from schemas.common import wording
from schemas.families import family, games_apart, title_of

if TYPE_CHECKING:
    import plotly.graph_objects as go


_LEADERBOARD = """
    SELECT * FROM {board} WHERE {filters} AND benchmark = $benchmark
    ORDER BY benchmark, score_mean DESC NULLS LAST, model, condition
"""


def _leaderboard(read: Reader, benchmark: str) -> TableRows:
    levels = list(read.address.all("level"))  # of all levels it was computed for the sentences
    return TableRows(
        sql=_LEADERBOARD.replace("{board}", "leaderboard_by(levels := $levels)" if levels else "leaderboard"),
        parameters={"benchmark": benchmark} | ({"levels": levels} if levels else {}),
        filter_on=("condition", "model"),
        columns={
            "team_name": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "max_turns": GridColumn(heading="Turn limit", kind="count"),
            "n": GridColumn(heading=_things(benchmark), kind="count"),
            "score_mean": GridColumn(heading="Score", kind="score", low="score_low", high="score_high"),
            "ceiling_share_mean": GridColumn(heading="Of ceiling", kind="score", hint="score over what verified moves can reach"),
            "success_rate": GridColumn(heading="Goal reached", kind="share", part="successes", whole="n"),
            "failed_rate": GridColumn(heading="Refused actions", kind="share", part="failed", whole="attempted"),
            "clarify_rate": GridColumn(heading="Asked instead", kind="share", part="clarify", whole="turns"),
            "adherence": GridColumn(heading="Followed the oracle", kind="share", part="followed", whole="oracle_turns"),
        },
        link=lambda row: games_of_team(read, row),
    )


def games_of_team(read: Reader, row: Mapping[str, Any]) -> str:
    """Address of a team's games: of the row's family, model and condition, under the other filters."""
    return read.address.narrowed(GAME, benchmark=row["benchmark"], model=row["model"], condition=row["condition"])


LEADERBOARD: Final = Grid("leaderboard", _leaderboard, "Actions in numbers")


_WORST = """
    SELECT failure_turns.episode_id, failure_turns.turn
    FROM failure_turns INNER JOIN failure_map USING (taxonomy, category)
    LEFT JOIN turn_values
        ON failure_turns.episode_id = turn_values.episode_id AND failure_turns.turn = turn_values.turn AND turn_values.measure = $measure
    WHERE {filters} AND failure_turns.counted AND failure_map.common = $common
    ORDER BY turn_values.cost DESC NULLS LAST, failure_turns.episode_id, failure_turns.turn LIMIT 1
"""
_KNOWN = """
    SELECT
        count(*) FILTER (episode_id IN (SELECT episode_id FROM labels WHERE rubric = 'decisive_error')) AS blamed,
        count(*) FILTER (episode_id IN (SELECT episode_id FROM verdicts_latest)) AS judged,
        count(*) FILTER (ending = 'ended' AND success IS NULL) AS outcome_unknown
    FROM games WHERE {filters}
"""
_JUDGE = "cotrace judge --rubric NAME"
_LOST = """
    WITH costs AS (
        SELECT episode_id, cost, row_number() OVER (PARTITION BY episode_id ORDER BY cost DESC) AS place
        FROM turn_values INNER JOIN games USING (episode_id) WHERE {filters} AND measure = $measure
            AND ending = 'ended' AND cost > 0 AND isfinite(cost)
    ),
    by_place AS (SELECT place, sum(cost) AS lost FROM costs GROUP BY place),
    running AS (SELECT place, sum(lost) OVER (ORDER BY place) / sum(lost) OVER () AS share FROM by_place)
    SELECT
        (SELECT min(place) FROM running WHERE share >= 0.5) AS turns,
        (SELECT sum(cost) FROM costs) / (SELECT nullif(count(*), 0) FROM games WHERE {filters} AND ending = 'ended') AS lost
"""


def family_card(read: Reader, benchmark: str) -> Part:
    """Of a store of several families: the answers about its teams, their figure where families are few, what goes wrong, and links."""
    is_drawn = len(read.rows(_TOTALS)) <= _MOST_FIGURES
    read = narrowed(read, benchmark)
    row = _summary(read, benchmark)
    if row is None:
        return None
    sentence = _what_goes_wrong if family(benchmark) else _what_is_known
    more = "turn by turn" if is_drawn else "figure"
    links = [(f"all {_things(benchmark).lower()}", GAME), (more, PATH)]
    parts: list[Part] = []
    games = _games(read, benchmark)
    for game in games[:_MOST_GAMES]:
        teams = teams_of(read, benchmark, game, is_one_of_many=True)
        parts += [_game_title(game), answers(read, teams, game)]
        if is_drawn:
            parts += drawn_twice(f"overview-{benchmark}{f'-{game}' if game else ''}", read, teams, label=_LABEL)
    if (left := len(games) - _MOST_GAMES) > 0:
        links[1] = (f"{more}, and {wording.counted(left, 'more game')}", PATH)
    anchors = [html.A(text, href=read.address.narrowed(path, benchmark=benchmark)) for text, path in links]
    head = [html.P(sentence(read, benchmark, row), className="hint"), html.Span(anchors, className="table-links")]
    return card(title_of(benchmark), *parts, menu=head)


def _games(read: Reader, benchmark: str) -> list[str | None]:
    """Those whose teams are shown apart, the most played first."""
    return read.rows(_GAMES_APART)["game"].to_list() if games_apart(benchmark) else [None]


def _game_title(game: str | None) -> Part:
    return html.H3(wording.condition_in_words({"game": game})) if game else None


def _summary(read: Reader, benchmark: str) -> dict[str, Any] | None:
    """The row of the view families; under other filters than the family, what it says of those games."""
    rows = read.rows("SELECT * FROM families")  # the same for all cards, so that it is asked for once
    row = next((row for row in rows.iter_rows(named=True) if row["benchmark"] == benchmark), None)
    if row is None:
        return None
    if not any(read.address.all(key) for key in ("condition", "model", "level")):
        return row
    own = read.rows(
        """
        SELECT count(*) AS games, count(*) FILTER (ending = 'not_set_up') AS broken, count(*) FILTER (ending = 'cut') AS cut,
            count(*) FILTER (success AND ending = 'ended') AS successes, count(success) FILTER (ending = 'ended') AS success_n,
            successes / nullif(success_n, 0) AS success_rate, sum(turns_taken)::BIGINT AS turns
        FROM games WHERE {filters}
        """
    ).row(0, named=True)
    unknown = dict.fromkeys(("score_mean", "score_low", "score_high", "spiral_share"))
    return row | unknown | own | _commonest(read)


def _commonest(read: Reader) -> dict[str, Any]:
    rows = read.rows(
        """
        SELECT common AS commonest_failure, count(DISTINCT (episode_id, turn)) AS failing_turns
        FROM failure_turns INNER JOIN failure_map USING (taxonomy, category)
        WHERE {filters} AND counted AND common <> 'none' GROUP BY ALL ORDER BY failing_turns DESC, common LIMIT 1
        """
    )
    return rows.row(0, named=True) if len(rows) else {"commonest_failure": None, "failing_turns": None}


def _what_goes_wrong(read: Reader, benchmark: str, row: Mapping[str, Any]) -> list[Part]:
    """A sentence made of data: what was lost, the commonest failure and one turn that shows it, spirals."""
    address = read.address
    measure = measure_of(read, benchmark)
    said: list[Part] = [_lost(read, measure)] if measure else []
    if row["commonest_failure"]:
        said += [
            "Most often: ",
            html.A(
                wording.in_words(row["commonest_failure"]),
                href=address.narrowed("/turns", benchmark=benchmark, kind=row["commonest_failure"]),
            ),
            f", on {wording.count(row['failing_turns'])} of {wording.count(row['turns'])} turns",
        ]
        worst = read.rows(_WORST, {"measure": measure.name if measure else "", "common": row["commonest_failure"]}).rows()
        said += [part for episode, turn in worst for part in (" (", html.A("see one", href=game_at(episode, turn)), ")")]
        said.append(". ")
    if row["spiral_share"]:
        inside = html.A(f"{wording.share(row['spiral_share'])} of turns", href=address.narrowed("/spirals", benchmark=benchmark))
        said += [inside, " are in correction spirals."]
    if said:
        return said
    classified = read.rows("SELECT 1 FROM failure_turns WHERE {filters} AND counted LIMIT 1")
    return ["No rule classifies the turns of these logs." if classified.is_empty() else "No rule has found a failure."]


def _what_is_known(read: Reader, benchmark: str, row: Mapping[str, Any]) -> list[Part]:
    """Of a log that no engine follows: how much there is of it, what people said of it, and the ways on."""
    address = read.address
    known = read.rows(_KNOWN).row(0, named=True)
    games = wording.counted(row["games"], "transcript")
    broke = [f"; {wording.count(row['broken'] + row['cut'])} without a known end"] if row["broken"] + row["cut"] else []
    said: list[Part] = [f"{games}, {wording.counted(row['turns'], 'turn')}", *broke, ". "]
    if known["outcome_unknown"]:
        said.append(f"Of {wording.count(known['outcome_unknown'])} the log does not say whether a goal was reached. ")
    if known["blamed"]:
        said.append(f"Of {wording.count(known['blamed'])}, people say whose mistake decided it. ")
    if known["judged"]:
        judged = html.A(f"judged {wording.count(known['judged'])}", href=address.narrowed("/judges", benchmark=benchmark))
        return [*said, "Judges have ", judged, " of them."]
    read_one = html.A("Read them", href=address.narrowed(GAME, benchmark=benchmark))
    return [*said, "They are not judged yet; rule checks are not available for this format. ", read_one, ", or ", html.Code(_JUDGE), "."]


def _lost(read: Reader, measure: Measure) -> str:
    lost = read.rows(_LOST, {"measure": measure.name}).row(0, named=True)
    words = cost_in_words(lost["lost"], measure.unit)
    if not lost["turns"] or words == "nothing":  # where no game has ended, no turn of one counts
        return ""
    turns = "1 turn accounts" if lost["turns"] == 1 else f"{lost['turns']} turns account"
    return f"Mean loss per game: {words}; {turns} for half of it. "


PATH = "/"
TITLE = "Overview"
IN_MENU = True
ORDER = 10

_GAMES_APART = "SELECT game FROM compared_games WHERE {filters} AND game IS NOT NULL GROUP BY game ORDER BY count(*) DESC, game"
_MOST_GAMES: Final = 3
"""On the card of a family that is one of several."""
_MOST_FIGURES: Final = 3
"""Families of which each has its figure on the first page; of more it is one click away."""
_LABEL: Final = "teams: score, success, process, spirals, failures and regret"
_TRANSCRIPTS = """
    WITH seen AS (SELECT episode_id, turns_taken, score FROM games WHERE {filters})
    SELECT
        count(*) AS transcripts, sum(turns_taken)::BIGINT AS turns, count(score) AS scored, avg(score) AS mean,
        (SELECT count(*) FROM verdicts_latest SEMI JOIN seen USING (episode_id) WHERE status = 'answered') AS verdicts,
        (SELECT count(DISTINCT judge) FROM verdicts_latest SEMI JOIN seen USING (episode_id)) AS judges,
        (SELECT count(*) FROM labels SEMI JOIN seen USING (episode_id)) AS labels,
        (SELECT count(DISTINCT annotator) FROM labels SEMI JOIN seen USING (episode_id)) AS raters
    FROM seen
"""
_TOTALS = """
    SELECT benchmark, count(*) AS games, sum(turns_taken)::BIGINT AS turns FROM games WHERE {filters} GROUP BY ALL
"""
_METRIC_ROWS = """
    WITH measured AS (
        SELECT games.benchmark, games.model, games.condition, metric, value, task_id, episode_id
        FROM games INNER JOIN episode_metrics USING (episode_id)
        WHERE {filters} AND games.benchmark = $benchmark AND metric NOT LIKE '%.structure.%' AND metric NOT LIKE '%\\_t0' ESCAPE '\\'
    ),

    tasks AS (
        SELECT
            benchmark, model, condition, metric, task_id AS cluster,
            sum(value) AS k, count(*) AS n, min(value) AS least, max(value) AS most
        FROM measured GROUP BY ALL
    ),

    -- of rows with a single task what varies is the game
    single AS (SELECT model, condition, metric FROM tasks GROUP BY ALL HAVING min(cluster) = max(cluster)),

    clusters AS (
        FROM tasks ANTI JOIN single USING (model, condition, metric)
        UNION ALL
        SELECT benchmark, model, condition, metric, episode_id, sum(value), count(*), min(value), max(value)
        FROM measured SEMI JOIN single USING (model, condition, metric) GROUP BY ALL
    )

    SELECT
        metric, model, condition, benchmark, sum(k) / sum(n) AS mean, sum(n)::BIGINT AS n, min(least) AS lowest, max(most) AS highest,
        CASE WHEN lowest >= 0 AND highest <= 1 THEN clustered_low(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) END AS low,
        CASE WHEN lowest >= 0 AND highest <= 1 THEN clustered_high(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) END AS high
    FROM clusters GROUP BY ALL ORDER BY metric, mean DESC, model, condition
"""


def content(read: Reader) -> Part:
    """Of one family the figure of its teams; of several, a card each with the same answers."""
    totals = read.rows(_TOTALS)
    if totals.is_empty():
        return note("No game under these filters.")
    names = in_order(totals["benchmark"].to_list())
    games, turns = int(totals["games"].sum()), int(totals["turns"].sum())
    if len(names) == 1:
        lead = f"{wording.counted(games, thing_of(names))}, {wording.counted(turns, 'turn')}."
        cards = [_TEAMS_FIGURE(read, names[0]), _TURN_BY_TURN(read, names[0]), _NUMBERS(read, names[0])]
        return html.Div([html.H1(title_of(names[0])), html.P(lead, className="lead"), *cards])
    lead = f"{len(names)} families, {wording.counted(games, thing_of(names))}, {wording.counted(turns, 'turn')}."
    groups = ([name for name in names if family(name)], [name for name in names if not family(name)])
    boxes = [html.Div([_FAMILY(read, name) for name in group], className="families") for group in groups if group]
    return html.Div([html.H1("Overview"), html.P(lead, className="lead"), *boxes])


def _teams_card(read: Reader, benchmark: str) -> Part:
    """The figure of the teams, with the answers that it gives; of a family whose games have scores of different units, one a game."""
    read = narrowed(read, benchmark)
    parts: list[Part] = []
    for game in _games(read, benchmark):
        teams = teams_of(read, benchmark, game)
        name = f"overview-{benchmark}{f'-{game}' if game else ''}"
        if drawn := drawn_twice(name, read, teams, label=_LABEL):
            parts += [_game_title(game), answers(read, teams, game), *drawn]
    known = _counts_of_transcripts(read) if family(benchmark) is None else None
    if not parts:
        parts = [note("No score, outcome or action of these logs is known.")]
    return html.Div([known, card("Teams" if family(benchmark) else "Scores", *parts)])


def _turns_card(read: Reader, benchmark: str) -> Part:
    """The same teams turn by turn."""
    read = narrowed(read, benchmark)
    teams = teams_of(read, benchmark)
    drawn = turns_figure(read, teams)
    if drawn is None:
        return None
    shown = figure("overview-turns", drawn, label="teams turn by turn", caption=turns_caption(teams))
    return card("Turn by turn", html.Div(shown, className="wide-figure"))


def _counts_of_transcripts(read: Reader) -> Part:
    """Of logs that no engine follows: how much of them has a score, a verdict, a label."""
    row = read.rows(_TRANSCRIPTS).row(0, named=True)
    judged = read.address.narrowed("/judges")
    return html.Div(
        [
            stat("transcripts", wording.count(row["transcripts"]), wording.counted(int(row["turns"] or 0), "turn")),
            stat(
                "with a score", wording.count(row["scored"]), f"mean {wording.score(row['mean'])}" if row["scored"] else "not in these logs"
            ),
            stat(
                "verdicts",
                wording.count(row["verdicts"]),
                html.A(wording.counted(row["judges"], "judge"), href=judged) if row["judges"] else "",
            ),
            stat("labels", wording.count(row["labels"]), wording.counted(row["raters"], "rater")),
        ],
        className="stats",
    )


def _figure_of(draw: Callable[[Reader, Teams], go.Figure | None], text: Callable[[Teams], str]) -> Callable[[Reader], go.Figure | None]:
    def drawn(read: Reader) -> go.Figure | None:
        names = in_order(read.rows(_TOTALS)["benchmark"].to_list())
        if not names:
            return None
        teams = teams_of(narrowed(read, names[0]), names[0])
        found = draw(narrowed(read, names[0]), teams)
        return found and captioned(found, text(teams))

    return drawn


_OF_TEAMS: Final = _figure_of(overview_figure, caption)
FIGURES: Final = {"overview": _OF_TEAMS, "leaderboard": _OF_TEAMS, "turns": _figure_of(turns_figure, turns_caption)}
"""Of the first family in view."""


def _things(benchmark: str) -> str:
    return "Games" if family(benchmark) else "Transcripts"


def _numbers_card(read: Reader, benchmark: str) -> Part:
    read = narrowed(read, benchmark)
    table = _leaderboard(read, benchmark)
    rows = read.rows(table.sql, table.parameters, filter_on=table.filter_on)  # the very query of the table: it is asked once
    return card(
        "In numbers",
        fold(read, TEAMS, benchmark),
        fold(read, LEADERBOARD, benchmark),
        few(rows, "leaderboard"),
        fold(read, METRICS, benchmark),
    )


def _team_rows(read: Reader, benchmark: str) -> TableRows:
    return TableRows(
        sql=TEAMS_SQL,
        parameters={"levels": list(read.address.all("level")) or None, "benchmark": benchmark, "measure": None},
        filter_on=("condition", "model"),
        columns={
            "team_name": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "max_turns": GridColumn(heading="Turn limit", kind="count"),
            "games": GridColumn(heading=_things(benchmark), kind="count"),
            "score_mean": GridColumn(heading="Score", kind="score", low="score_low", high="score_high"),
            "success_rate": GridColumn(heading="Goal reached", kind="share", part="successes", whole="success_n"),
            "process_mean": GridColumn(heading="Process measure", kind="number", hint="remove gap, or the family's own measure"),
            "spiral_share": GridColumn(heading="Turns in spirals", kind="share", part="spiral_inside", whole="spiral_turns"),
            "regret": GridColumn(heading="Mean regret", kind="number", hint="value lost by the turns"),
        },
        link=lambda row: games_of_team(read, row),
    )


def _metrics(read: Reader, benchmark: str) -> TableRows:
    return TableRows(
        sql=_METRIC_ROWS,
        parameters={"benchmark": benchmark},
        columns={
            "metric": GridColumn(heading="Metric", kind="name"),
            "model": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "mean": GridColumn(heading="Mean", kind="score", low="low", high="high"),
            "n": GridColumn(heading=_things(benchmark), kind="count"),
            "lowest": GridColumn(heading="Least", kind="score"),
            "highest": GridColumn(heading="Most", kind="score"),
        },
        link=lambda row: games_of_team(read, row),
    )


_FAMILY: Final = Later("overview-family", family_card, 130)
_TEAMS_FIGURE: Final = Later("overview-teams", _teams_card, 560)
_TURN_BY_TURN: Final = Later("overview-turns", _turns_card, 420)
_NUMBERS: Final = Later("overview-numbers", _numbers_card, 160)
LATER = (_FAMILY, _TEAMS_FIGURE, _TURN_BY_TURN, _NUMBERS)
TEAMS: Final = Grid("teams", _team_rows, "Scores in numbers")
METRICS: Final = Grid("metrics", _metrics, "Every metric")
TABLES = (TEAMS, LEADERBOARD, METRICS)
