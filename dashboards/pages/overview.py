"""Overview: what is in the store, a card a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from analytics.findings import headlines
from dashboards.address import GAME, game_at
from dashboards.filters import in_order, narrowed, thing_of
from dashboards.grid import Grid, GridColumn, TableRows, few, fold
from dashboards.parts import Later, Part, card, figure, html, note, stat
from dashboards.playback.facts import Measure, cost_in_words, measure_of
from dashboards.reader import Reader, TeamName, kept, team_names
from dashboards.team_figures import drawn_twice, overview_figure, turns_figure
from dashboards.teams import FEW, TEAMS_SQL, Teams, regret_by_agent, teams_of
from schemas.common import wording
from schemas.common.text import printable
from schemas.families import family, games_apart, title_of

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class StripLine:
    """One line."""

    name: str
    detail: str = ""
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    """Games."""
    href: str


def strip(lines: Sequence[StripLine], *, least: float = 0, most: float = 1, is_share: bool = False) -> Part:
    """The lines on one scale.

    Args:
        lines: in their order.
        least: left end of the scale.
        most: right end.
        is_share: values are written in percent.
    """
    write = wording.share if is_share else wording.score if most == 1 else wording.number

    def at(value: float) -> float:
        return round(100 * (min(max(value, least), most) - least) / ((most - least) or 1), 1)

    def line(entry: StripLine) -> Part:
        marks: list[Part] = []
        if entry.low is not None and entry.high is not None:
            left = at(entry.low)
            marks.append(html.Span(className="strip-range", style={"left": f"{left}%", "width": f"{max(0.6, at(entry.high) - left)}%"}))
        if entry.value is not None:
            marks.append(html.Span(className="strip-dot", style={"left": f"{at(entry.value)}%"}))
        said = write(entry.value)
        name = [html.Span(entry.name, className="strip-model"), html.Span(entry.detail, className="strip-detail") if entry.detail else None]
        return html.A(
            [
                html.Span(name, className="strip-name"),
                html.Span(marks, className="strip-track"),
                html.Span(said, className="strip-value"),
                html.Span(f"n {wording.count(entry.n)}", className="strip-n"),
            ],
            href=entry.href,
            className="strip-line",
        )

    return html.Div([line(entry) for entry in lines], className="strips")


LEAST_GAMES: Final = 2
"""Games from which on a team has an interval; single games stand in the table alone."""

_LEADERBOARD = """
    SELECT * FROM leaderboard_by(levels := $levels) WHERE {filters}
    ORDER BY benchmark, score_mean DESC NULLS LAST, model, condition
"""


def leaderboard_rows(read: Reader) -> pl.DataFrame:
    """The leaderboard view under the filters; with a tier filter, means over the games of these tiers."""
    return read.rows(_LEADERBOARD, {"levels": list(read.address.all("level")) or None}, filter_on=("benchmark", "condition", "model"))


def _leaderboard(read: Reader, benchmark: str) -> TableRows:
    return TableRows(
        sql=_LEADERBOARD.replace("{filters}", "{filters} AND benchmark = $benchmark"),
        parameters={"levels": list(read.address.all("level")) or None, "benchmark": benchmark},
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


_IN_CARD: Final = 6
"""Teams that a card shows, and sentences."""
_BY_GAME = """
    SELECT game, count(*) AS games, count(success) AS n, count(*) FILTER (success) AS won, wilson_low(won, n) AS low,
        wilson_high(won, n) AS high, avg(score) AS mean
    FROM (SELECT episode_id, success, score FROM games WHERE {filters} AND ending = 'ended')
    INNER JOIN (SELECT episode_id, run_id FROM episodes) USING (episode_id)
    INNER JOIN (SELECT run_id, condition ->> 'game' AS game FROM runs) USING (run_id)
    GROUP BY ALL ORDER BY games DESC, game
"""
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
        FROM turn_values INNER JOIN games USING (episode_id) WHERE {filters} AND measure = $measure AND cost > 0
    ),
    by_place AS (SELECT place, sum(cost) AS lost FROM costs GROUP BY place),
    running AS (SELECT place, sum(lost) OVER (ORDER BY place) / sum(lost) OVER () AS share FROM by_place)
    SELECT
        (SELECT min(place) FROM running WHERE share >= 0.5) AS turns,
        (SELECT sum(cost) FROM costs) / (SELECT count(*) FROM games WHERE {filters} AND ending = 'ended') AS lost
"""


def family_card(read: Reader, benchmark: str) -> Part:
    """The card, under the filters of the page; teams stand on it where there are several families."""
    is_alone = bool(read.address.all("benchmark"))
    read = narrowed(read, benchmark)
    row = _summary(read, benchmark)
    if row is None:
        return None
    is_foreign = family(benchmark) is None
    address = read.address
    links = [(f"all {_things(benchmark).lower()}", GAME), ("teams", "/")][: 1 if is_alone else 2]
    menu = html.Span([html.A(text, href=address.narrowed(path, benchmark=benchmark)) for text, path in links], className="table-links")
    return card(
        title_of(benchmark),
        html.Div(_headlines(read, benchmark, row), className="headlines"),
        *([] if is_foreign else (html.P(printable(sentence), className="card-lead") for sentence in _behind(read, benchmark)[:_IN_CARD])),
        html.P((_what_is_known if is_foreign else _what_goes_wrong)(read, benchmark, row), className="card-lead"),
        None if is_alone else _strip(read, benchmark),
        menu=menu,
    )


def _behind(read: Reader, benchmark: str) -> list[str]:
    """What the report `compare` shows of its teams; nothing under a filter, since it is about all games."""
    if any(read.address.all(key) for key in ("condition", "model", "level")):
        return []
    found = kept(
        read.store.path, ("headlines",), lambda: headlines(read.store), size_of=lambda of: sum(len(str(one)) for one in of.values())
    )
    return list(found.get(benchmark, []))


def _headlines(read: Reader, benchmark: str, row: Mapping[str, Any]) -> list[Part]:
    known = family(benchmark)
    if known and known.game_scores:
        return [_of_game(game, known.game_scores) for game in read.rows(_BY_GAME).iter_rows(named=True)]
    reached = f"{wording.count(row['successes'])} of {wording.count(row['success_n'])} {_things(benchmark).lower()}"
    heads = [_headline(wording.share(row["success_rate"]), "reached the goal", reached)] if row["success_rate"] is not None else []
    if row["score_mean"] not in {None, row["success_rate"]} and row["main_metric"] != "success":
        words = (known.score_words or wording.in_words(known.score)) if known else wording.in_words(row["main_metric"] or "mean score")
        heads.append(_headline(wording.score(row["score_mean"]), words, wording.interval(row["score_low"], row["score_high"])))
    return heads


def _of_game(row: Mapping[str, Any], scores: Mapping[str, str]) -> Part:
    """A game's share of successes, or its mean score where its paper knows no success."""
    label = f"{wording.condition_in_words({'game': row['game']})}: {scores.get(row['game'] or '', 'score')}"
    if not row["n"]:
        return _headline(wording.score(row["mean"]), label, f"mean of {wording.counted(row['games'], 'game')}")
    return _headline(wording.share(row["won"] / row["n"]), label, f"{wording.count(row['won'])} of {wording.counted(row['n'], 'game')}")


def _headline(value: str, label: str, detail: str) -> Part:
    return html.Div([html.Span(value, className="headline"), html.Span([label, html.Small(detail)], className="headline-label")])


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
    if not lost["turns"] or words == "nothing":
        return ""
    turns = "1 turn accounts" if lost["turns"] == 1 else f"{lost['turns']} turns account"
    return f"Mean loss per game: {words}; {turns} for half of it. "


def _strip(read: Reader, benchmark: str) -> Part:
    known = family(benchmark)
    if known is None or not known.score_unit.startswith("0"):
        return None
    return _strip_of_games(read, benchmark) if games_apart(benchmark) else _strip_of_teams(read, benchmark)


def _strip_of_games(read: Reader, benchmark: str) -> Part | None:
    lines = [
        StripLine(
            name=wording.condition_in_words({"game": row["game"]}),
            value=row["won"] / row["n"],
            low=row["low"],
            high=row["high"],
            n=row["n"],
            href=read.address.narrowed(GAME, benchmark=benchmark),
        )
        for row in read.rows(_BY_GAME).iter_rows(named=True)
        if row["n"]
    ]
    if not lines:
        return None
    return html.Div([strip(lines[:_IN_CARD], is_share=True), html.P("share of games that reached the goal", className="strip-note")])


def _strip_of_teams(read: Reader, benchmark: str) -> Part:
    import polars as pl

    board = leaderboard_rows(read).filter(pl.col("benchmark") == benchmark)
    shown = list(board.filter((pl.col("n") >= LEAST_GAMES) & pl.col("score_mean").is_not_null()).iter_rows(named=True))
    if not shown:
        return None
    lines = [
        StripLine(
            name=name.model,
            detail=name.detail,
            value=row["score_mean"],
            low=row["score_low"],
            high=row["score_high"],
            n=row["n"],
            href=games_of_team(read, row),
        )
        for name, row in zip(team_names(read, shown), shown, strict=True)
    ][:_IN_CARD]
    left = len(board) - len(lines)
    more = html.A(f"{left} more teams", href=read.address.narrowed("/", benchmark=benchmark))
    return html.Div([strip(lines), html.P(more, className="strip-note") if left else None])


PATH = "/"
TITLE = "Overview"
IN_MENU = True
ORDER = 10

_GAMES_APART = "SELECT DISTINCT game FROM compared_games WHERE {filters} AND game IS NOT NULL ORDER BY game"
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
        SELECT
            games.benchmark, games.model, games.condition, metric, value,
            CASE WHEN min(task_id) OVER row = max(task_id) OVER row THEN episode_id ELSE task_id END AS cluster
        FROM games INNER JOIN episode_metrics USING (episode_id)
        WHERE {filters} AND games.benchmark = $benchmark AND metric NOT LIKE '%.structure.%' AND metric NOT LIKE '%\\_t0' ESCAPE '\\'
        WINDOW row AS (PARTITION BY games.model, games.condition, metric)
    ),

    clusters AS (
        SELECT benchmark, model, condition, metric, cluster, sum(value) AS k, count(*) AS n, min(value) AS least, max(value) AS most
        FROM measured GROUP BY ALL
    )

    SELECT
        metric, model, condition, benchmark, sum(k) / sum(n) AS mean, sum(n)::BIGINT AS n, min(least) AS lowest, max(most) AS highest,
        CASE WHEN lowest >= 0 AND highest <= 1 THEN clustered_low(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) END AS low,
        CASE WHEN lowest >= 0 AND highest <= 1 THEN clustered_high(sum(k), sum(n), count(*), sum(k * k), sum(k * n), sum(n * n)) END AS high
    FROM clusters GROUP BY ALL ORDER BY metric, mean DESC, model, condition
"""


def content(read: Reader) -> Part:
    """The families in view, a card each; of a single one the figure of its teams."""
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
    games = read.rows(_GAMES_APART)["game"].to_list() if games_apart(benchmark) else [None]
    parts: list[Part] = []
    for game in games:
        teams = teams_of(read, benchmark, game)
        name = f"overview-{benchmark}{f'-{game}' if game else ''}"
        label = "teams: score, success, process, spirals, failures and regret"
        if drawn := drawn_twice(name, read, teams, label=label):
            parts += [html.H3(wording.condition_in_words({"game": game})) if game else None, answers(read, teams), *drawn]
    known = _counts_of_transcripts(read) if family(benchmark) is None else None
    if parts and games_apart(benchmark):
        parts = [_sure(read, benchmark), *parts]
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
    text = "Rows: teams as above. Grey: the other teams. A game that has ended keeps its score; other rates are of games that go on."
    return card(
        "Turn by turn", html.Div(figure("overview-turns", drawn, label="teams turn by turn", caption=text), className="wide-figure")
    )


def answers(read: Reader, teams: Teams) -> Part:
    """Who is best, what goes wrong most and where, each with its interval: what the figure shows, in words."""
    pairs = list(zip(teams.names, teams.rows, strict=True))
    several = next((enough for least in (FEW, LEAST_GAMES, 0) if (enough := [pair for pair in pairs if pair[1]["games"] >= least])), [])
    found: list[tuple[str, str, str]] = []

    def best(key: str, sign: int = -1) -> tuple[TeamName, Mapping[str, Any]] | None:
        known = [pair for pair in several if pair[1][key] is not None]
        return min(known, key=lambda pair: sign * pair[1][key]) if known else None

    if first := best("score_mean"):
        name, row = first
        alike = sum(other["score_mean"] == row["score_mean"] for _, other in several) - 1
        best_name = f"{name} and {wording.counted(alike, 'other')}" if alike else str(name)
        found.append(("Highest score", best_name, f"{wording.score(row['score_mean'])} {_ends(row, 'score', wording.score)}, n {row['n']}"))
    process = teams.process
    if process and (worst := best("process_mean", 1 if process.least_is_worst else -1)):
        name, row = worst
        detail = (
            f"{process.title.lower()} {process.write(row['process_mean'])} {_ends(row, 'process', process.write)}, n {row['process_n']}"
        )
        if is_faultless := process.is_faultless(row["process_mean"]):
            detail = f"{process.title.lower()} {process.write(row['process_mean'])} at worst"
        found.append((process.worst.capitalize(), "no team" if is_faultless else str(name), detail))
    if worst := best("spiral_share"):
        name, row = worst
        detail = (
            f"{wording.share(row['spiral_share'])} of turns {_ends(row, 'spiral', wording.share)}, n {wording.count(row['spiral_turns'])}"
        )
        found.append(
            (
                "Most correction spirals",
                str(name) if row["spiral_share"] else "no team",
                detail if row["spiral_share"] else "no turn is in one",
            )
        )
    regrets = [(name, teams.at(teams.regrets, row)) for name, row in several]
    lost = [(cost, agent, name, own) for name, own in regrets for agent, cost in regret_by_agent(own).items()]
    if lost:
        cost, agent, name, own = max(lost, key=lambda one: one[0])
        whole = sum(row["cost_a_game"] for row in own)
        unread = sum(row["cost_a_game"] for row in own if row["status"] != "answered")
        detail = f"{wording.share(cost / whole)} of the regret of {name.model}; {wording.share(unread / whole)} is not attributed"
        found.append(("Loses most", f"{agent} in {name}", detail))
    tiles = [html.Div([html.Dt(label), html.Dd([html.B(printable(name)), html.Small(printable(detail))])]) for label, name, detail in found]
    sure = None if games_apart(teams.benchmark) else _sure(read, teams.benchmark)
    return html.Div([html.Dl(tiles, className="answers"), sure])


def _sure(read: Reader, benchmark: str) -> Part:
    """Which differences are shown; of transcripts they would repeat the figure."""
    sentences = _behind(read, benchmark)[:_IN_CARD] if family(benchmark) else []
    return html.Div([html.P(printable(sentence), className="card-lead") for sentence in sentences])


def _ends(row: Mapping[str, Any], key: str, write: Callable[[float | None], str]) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return "(no interval)" if low is None or high is None else f"[{write(low)}, {write(high)}]"


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


def _figure_of(draw: Callable[[Reader, Teams], go.Figure | None]) -> Callable[[Reader], go.Figure | None]:
    def drawn(read: Reader) -> go.Figure | None:
        names = in_order(read.rows(_TOTALS)["benchmark"].to_list())
        return draw(narrowed(read, names[0]), teams_of(narrowed(read, names[0]), names[0])) if names else None

    return drawn


FIGURES: Final = {"overview": _figure_of(overview_figure), "leaderboard": _figure_of(overview_figure), "turns": _figure_of(turns_figure)}
"""Of the first family in view."""


def _things(benchmark: str) -> str:
    return "Games" if family(benchmark) else "Transcripts"


def _numbers_card(read: Reader, benchmark: str) -> Part:
    read = narrowed(read, benchmark)
    rows = leaderboard_rows(read)
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


_FAMILY: Final = Later("overview-family", family_card, 300)
_TEAMS_FIGURE: Final = Later("overview-teams", _teams_card, 560)
_TURN_BY_TURN: Final = Later("overview-turns", _turns_card, 420)
_NUMBERS: Final = Later("overview-numbers", _numbers_card, 160)
LATER = (_FAMILY, _TEAMS_FIGURE, _TURN_BY_TURN, _NUMBERS)
TEAMS: Final = Grid("teams", _team_rows, "Teams in numbers")
METRICS: Final = Grid("metrics", _metrics, "Metrics of every team")
TABLES = (TEAMS, LEADERBOARD, METRICS)
