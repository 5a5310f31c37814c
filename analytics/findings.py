"""The findings of a store in sentences: which team failed, where, why, and how sure that is; each names the report with the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from analytics.comparison.compare import behind, compare, is_shown
from analytics.comparison.game_values import short_names, unlike_names
from analytics.query import one_reading, query
from schemas.common.wording import (
    chance,
    condition_in_words,
    count,
    counted,
    in_words,
    interval,
    number,
    score,
    share,
    share_interval,
)
from schemas.families import family, games_apart, title_of
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl

TOPICS: Final[Mapping[str, str]] = {"who": "Which team failed", "where": "Where", "why": "Why", "sure": "How sure"}
"""Topic of a finding -> as people read it, in order."""

FRONT_PAGE: Final = "front page: "
"""Before the title of its topic it is the estimand of a finding in the report `claims`."""

Row = Mapping[str, Any]
_Losses = Mapping[tuple[str, str | None, str | None], str]
_Side = tuple[str, str | None, int | None]
"""Team, condition, turn limit."""

_MOST_CONDITIONS: Final = 3


class Finding(NamedTuple):
    """A sentence."""

    topic: str
    """One of `TOPICS`."""
    benchmark: str
    sentence: str
    report: str
    """The report that has the numbers."""


class Headline(NamedTuple):
    """Which team of a benchmark, or of one of its games, is shown to be behind."""

    game: str | None
    """Of a benchmark whose games have scores of different units."""
    about: str
    """`CRAFT, 60 games of 6 teams (overall progress)`."""
    caveat: str
    """Empty, or that not all teams played the same tasks."""
    short: str
    """`vague is behind clear`; empty where no difference is shown."""
    because: str
    """What shows it: difference, interval, shared tasks, p; or why no difference is shown."""
    means: str = ""
    """The lowest and the highest mean, where no difference is shown."""
    brief: str = ""
    """As `short`, the two teams named by what distinguishes them from each other alone."""

    def __str__(self) -> str:
        return f"{self.about}: {'; '.join(filter(None, (self.caveat, f'{self.short} {self.because}'.strip(), self.means)))}."


class _Board(NamedTuple):
    """Teams that can be compared."""

    benchmark: str
    rows: Sequence[Row]
    """Of the leaderboard, the highest mean first."""
    pairs: Sequence[Row]
    """Of the report `compare`, those that played two tasks or more in common."""
    has_other_pairs: bool
    """Whether some pair of the teams has not played the same tasks."""

    def shown(self) -> tuple[Row, Row] | None:
        """The team that is behind most others, and the pair in which it is behind by most; None where `compare` shows none."""
        most = behind(self.pairs)
        return None if most is None else (self.row(_side(most, "_b")), most)

    def row(self, side: _Side) -> Row:
        """Of the leaderboard."""
        return next(row for row in self.rows if _side(row) == side)


def findings(store: Store, known: Mapping[str, pl.DataFrame] | None = None) -> list[Finding]:
    """The sentences of each benchmark with games that ended, that with most games first, in order: who, where, why, how sure.

    Which team is behind is what the report `compare` shows of it: on shared tasks, corrected for all pairs. Where and why are about that
    team; where none is shown to be behind, about all teams together.

    Args:
        store: a store with the views.
        known: reports that were computed already, by name; of use are `compare` and `lost`, and `claims`, which has the sentences.

    Raises:
        StoreError: the store cannot be read.
    """
    known = known or {}
    if "claims" in known:
        topics = {FRONT_PAGE + title: topic for topic, title in TOPICS.items()}
        columns = known["claims"].select("estimand", "population", "sentence", "report").rows()
        return [Finding(topics[estimand], *others) for estimand, *others in columns if estimand in topics]
    with one_reading(store):
        rows = _Rows(*(query(store, sql) for sql in _ROWS))
        losses = _losses(store, known.get("lost"))
        boards = sorted(_boards(store, rows.leaderboard, known.get("compare")), key=lambda board: -sum(row["n"] for row in board.rows))
        about = [finding for board in boards for finding in _of_board(rows, board, losses)]
        judges = [*_of_judges(store)]
    if len({finding.benchmark for finding in about}) > 1:  # the sentences on who failed name their benchmark anyway
        about = [one if one.topic == "who" else one._replace(sentence=f"{title_of(one.benchmark)}: {one.sentence}") for one in about]
    return [*about, *judges]


def headlines(store: Store, leaderboard: pl.DataFrame) -> dict[str, list[Headline]]:
    """Benchmark -> which of its teams is shown to be behind, as in `findings`; of logs of other programs, one an experiment.

    Args:
        store: a store with the views.
        leaderboard: of `LEADERBOARD`.

    Raises:
        StoreError: the store cannot be read.
    """
    found: dict[str, list[Headline]] = {}
    for board in _boards(store, leaderboard):
        found.setdefault(board.benchmark, []).append(_who(board))
    return found


LEADERBOARD: Final = "SELECT * FROM leaderboard ORDER BY benchmark, score_mean DESC, team_name"
_ROWS: Final = (
    LEADERBOARD,
    "SELECT benchmark, model, condition, turn, share, why FROM decisive_turns",
    """SELECT benchmark, model, condition, category, turns, denominator, share_low, share_high
    FROM failure_breakdown LEFT JOIN failure_map USING (taxonomy, category)
    WHERE is_default AND share IS NOT NULL AND is_wrong(common, category)""",
    "SELECT benchmark, model, condition, kind, episode_id, count(*) AS stretches FROM correction_spirals GROUP BY ALL",
)


class _Rows(NamedTuple):
    """What the sentences are made of, of all teams."""

    leaderboard: pl.DataFrame
    decisive: pl.DataFrame
    failures: pl.DataFrame
    spirals: pl.DataFrame


def _boards(store: Store, leaderboard: pl.DataFrame, compared: pl.DataFrame | None = None) -> list[_Board]:
    rows = [row for row in leaderboard.to_dicts() if row["n"] > 0]
    pairs = (compare(store, bounded=False) if compared is None else compared).to_dicts()
    boards: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        boards.setdefault(_comparable(row), []).append(row)
    return [_board(benchmark, own, [pair for pair in pairs if pair["benchmark"] == benchmark]) for (benchmark, _), own in boards.items()]


def _board(benchmark: str, rows: Sequence[Row], pairs: Sequence[Row]) -> _Board:
    sides = {_side(row) for row in rows}
    own = [pair for pair in pairs if {_side(pair, "_a"), _side(pair, "_b")} <= sides]
    paired = [pair for pair in own if pair["paired"]]
    return _Board(benchmark, rows, paired, any(pair["tasks"] > 1 for pair in own if not pair["paired"]))


def _side(row: Row, end: str = "") -> _Side:
    return row[f"team{end}" if end else "team_name"], row[f"condition{end}"], row[f"max_turns{end}"]


def _comparable(row: Row) -> tuple[str, str | None]:
    """Teams of one game are compared; of logs of other programs, those of one experiment, since each can be about something else."""
    return row["benchmark"], row["game"] if family(row["benchmark"]) else row["condition"]


def _of_board(rows: _Rows, board: _Board, losses: _Losses) -> Iterator[Finding]:
    about = _about(board)
    yield Finding("who", board.benchmark, str(_who(board)), "leaderboard" if len(board.rows) == 1 else "compare")
    sentences = (
        ("where", _where(rows, about), "decisive-turns"),
        *(
            ("why", losses.get((board.benchmark, about.name if about.is_team else None, condition)), "lost")
            for condition in _conditions(board, about)
        ),
        ("why", _failures(rows, about), "failures"),
        ("why", _spirals(rows, about), "spirals"),
    )
    for topic, sentence, report in sentences:
        if sentence is not None:
            yield Finding(topic, board.benchmark, sentence, report)
    yield Finding("sure", board.benchmark, _how_sure(board), "compare")


class _About(NamedTuple):
    """Whose games the sentences are about."""

    benchmark: str
    name: str
    """Of the team, or `all teams`."""
    model: str | None
    """Of the team."""
    condition: str | None
    """None: all conditions, or the one of games without a condition."""
    is_team: bool

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Those with its `benchmark`, `model` and `condition`."""
        import polars as pl

        is_its = pl.col("benchmark") == self.benchmark
        if self.is_team:
            return rows.filter(is_its, pl.col("model") == self.model, pl.col("condition").eq_missing(self.condition))
        return rows.filter(is_its, *(pl.col("condition") == condition for condition in [self.condition] if condition is not None))


def _about(board: _Board) -> _About:
    """The team that is shown to be behind, or the only one; else all teams of the board."""
    shown = board.shown()
    if shown or len(board.rows) == 1:
        row = shown[0] if shown else board.rows[0]
        return _About(board.benchmark, _team(row), row["model"], row["condition"], is_team=True)
    conditions = {row["condition"] for row in board.rows}
    return _About(board.benchmark, "all teams", None, conditions.pop() if len(conditions) == 1 else None, is_team=False)


def _conditions(board: _Board, about: _About) -> list[str | None]:
    """Those that are spoken of one by one: the team's, or of all teams those with most games."""
    if about.is_team:
        return [about.condition]
    games = Counter[str | None]()
    for row in board.rows:
        games[row["condition"]] += row["n"]
    return [condition for condition, _ in games.most_common(_MOST_CONDITIONS)]


def _who(board: _Board) -> Headline:
    rows, benchmark = board.rows, board.benchmark
    last, first = rows[-1], rows[0]
    known = family(benchmark)
    title = title_of(benchmark) if known else f"{title_of(benchmark)} {first['condition']}"
    main = in_words((known.score_words or known.score) if known else "score")
    if games_apart(benchmark):
        title = f"{title}, {condition_in_words({'game': first['game']})}"
        main = known.game_scores.get(first["game"] or "", "score") if known else "score"
    games = sum(row["n"] for row in rows)
    opening = f"{title}, {counted(games, 'game' if known else 'transcript')} of {counted(len(rows), 'team')} ({main})"
    game = first["game"] if games_apart(benchmark) else None
    if len(rows) == 1:
        return Headline(game, opening, "", _team(first), f"reaches {_mean(first)} on average")
    names = _names(rows)
    unlike = "not all teams played the same tasks" if board.has_other_pairs or len({row["tasks"] for row in rows}) > 1 else ""
    shown = board.shown()
    if shown is None:
        means = f"{names[_side(last)]} has the lowest mean, {_over(last)}, {names[_side(first)]} the highest, {_over(first)}"
        if last["score_mean"] == first["score_mean"]:
            means = f"all have the same mean, {_mean({**first, 'score_low': None})}"
        return Headline(game, opening, unlike, "", _nothing_shown(board), means)
    last, pair = shown
    difference = f"{score(pair['difference'])} {interval(pair['low'], pair['high'])}"
    sure = chance(pair["p"], pair["p_holm"], pair["tests"], "comparison")
    sides = _side(last), _side(pair, "_a")
    short, brief = (" is behind ".join(of[side] for side in sides) for of in (names, _names([board.row(side) for side in sides])))
    return Headline(game, opening, unlike, short, f"by {difference} on {counted(pair['tasks'], 'shared task')} ({sure})", brief=brief)


def _names(rows: Sequence[Row]) -> dict[_Side, str]:
    """What distinguishes each of the teams from the others."""
    short = short_names([_team(row) for row in rows])
    names = unlike_names([(short[_team(row)], row["condition"], row["max_turns"]) for row in rows])
    return dict(zip(map(_side, rows), names, strict=True))


def _nothing_shown(board: _Board) -> str:
    if not board.pairs and not board.has_other_pairs:
        return "a single shared task can show no difference between teams"
    if not board.pairs:
        return "teams and tasks cannot be distinguished, so no difference between teams is shown"
    most = max(pair["tasks"] for pair in board.pairs)
    needed = min(pair["tasks_needed"] for pair in board.pairs)
    if most < needed:
        return (
            f"no difference between teams can be shown with {counted(most, 'shared task')}, for so many teams at least {needed} are needed"
        )
    return f"no difference is shown between {counted(len(board.pairs), 'pair')} of teams, which share up to {counted(most, 'task')}"


def _over(row: Row) -> str:
    return f"{_mean(row)} over {counted(row['n'], 'game')}"


def _mean(row: Row) -> str:
    is_share = row["score_mean"] is not None and 0 <= row["score_mean"] <= 1
    mean = score(row["score_mean"]) if is_share else number(row["score_mean"])
    return mean if row["score_low"] is None else f"{mean} {interval(row['score_low'], row['score_high'])}"


def _team(row: Row) -> str:
    return str(row["team_name"] or row["model"])


def _losses(store: Store, lost: pl.DataFrame | None) -> _Losses:
    """Benchmark, team and condition -> who lost its games and by what, where that was attributed; team None: all of a condition."""
    if query(store, "SELECT 1 FROM attributions LIMIT 1").is_empty():
        return {}
    import polars as pl

    from analytics.losses.lost import lost_report

    found = (lost_report(store) if lost is None else lost).filter(pl.col("what").is_in(["model", "condition"]), pl.col("lost") > 0)
    return {(row["benchmark"], row["team"], row["condition"]): row["sentence"] for row in found.iter_rows(named=True)}


def _where(rows: _Rows, about: _About) -> str | None:
    decisive = about.of(rows.decisive)
    if decisive.is_empty():
        return None
    mean_share, turn = cast("tuple[float | None, float]", (decisive["share"].mean(), decisive["turn"].median()))
    carried = "" if mean_share is None else f", which carries {share(mean_share)} of what a game loses"
    out = decisive["why"].to_list().count("out_of_reach")
    lost = f" After it the goal was out of reach in {count(out)} of {count(len(decisive))} games." if out else ""
    return f"The turn that decides a game of {about.name} is turn {turn:g} at the median{carried}.{lost}"


def _failures(rows: _Rows, about: _About) -> str | None:
    import polars as pl

    turns, of = pl.sum("turns"), pl.sum("denominator")
    wrong = (
        about.of(rows.failures)
        .group_by("category")
        .agg(turns, of, low=pl.min("share_low"), high=pl.max("share_high"), parts=pl.len())
        .filter(pl.col("turns") > 0)
        .sort(-pl.col("turns"), "category")
        .head(2)
        .to_dicts()
    )
    if not wrong:
        return None
    first = wrong[0]
    sure = f" {share_interval(first['low'], first['high'])}" if first["parts"] == 1 and first["low"] is not None else ""
    more = f"; next comes {in_words(wrong[1]['category'])}, {share(wrong[1]['turns'] / wrong[1]['denominator'])}" if len(wrong) > 1 else ""
    return (
        f"The commonest failure of {about.name} is {in_words(first['category'])}: {share(first['turns'] / first['denominator'])} "
        f"of {count(first['denominator'])} turns{sure}{more}."
    )


def _spirals(rows: _Rows, about: _About) -> str | None:
    import polars as pl

    found = about.of(rows.spirals)
    if found.is_empty():
        return None
    kinds = found.group_by("kind").agg(pl.sum("stretches")).sort(-pl.col("stretches"), "kind")
    where = f"in {count(found['episode_id'].n_unique())} of {count(sum(about.of(rows.leaderboard)['games']))} games"
    n = sum(found["stretches"])
    stretches = "1 stretch" if n == 1 else f"{count(n)} stretches"
    verb = "spends" if about.is_team else "spend"
    whose = about.name if about.is_team else about.name.capitalize()
    return f"{whose} {verb} {stretches} {where} on correcting without getting anywhere, mostly {in_words(kinds['kind'][0])}."


def _how_sure(board: _Board) -> str:
    if len(board.rows) == 1:
        return f"With one team there is nothing to compare; {_interval_over(board.rows[0])}"
    shown = sum(map(is_shown, board.pairs))
    if shown:
        return (
            f"{count(shown)} of {counted(len(board.pairs), 'pair')} of teams with shared tasks differ; the chance of a single false claim "
            "among them is 5 % (Holm)."
        )
    return "cotrace report power states how many tasks show a difference of a given size."


def _interval_over(only: Row) -> str:
    if only["score_low"] is None:
        return "a single task gives no interval."
    return f"the interval is over {counted(only['tasks'], 'task')}."


_LABELLED: Final = """
    WITH asked AS (
        SELECT rater_b AS judge, rubric, question, episode_id, turn, agent,
            avg((answer_a = answer_b)::INT) FILTER (answer_a IS NOT NULL AND answer_b IS NOT NULL) AS agreed
        FROM answer_pairs WHERE kind = 'label_judge' AND variant_b IS NULL
        GROUP BY ALL
    )
    SELECT judge, count(*) AS pairs, count(agreed) AS n, count(*) FILTER (agreed > 0.5) AS agreed
    FROM asked GROUP BY judge HAVING n > 0 ORDER BY judge
"""
"""Judge -> questions about units that have labels; one counts once, however often it was labelled or the judge was asked it."""


def _of_judges(store: Store) -> Iterator[Finding]:
    for row in query(store, _LABELLED).to_dicts():
        yield Finding(
            "sure",
            "",
            f"The judge {row['judge']} answers {share(row['n'] / row['pairs'])} of {count(row['pairs'])} labelled questions, "
            f"and {count(row['agreed'])} of those {count(row['n'])} as the label does.",
            "agreement",
        )
