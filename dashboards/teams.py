"""What is known of a family's teams: how far each got and how it worked, for the figures of the front page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl

from dashboards.reader import Reader, TeamName, team_names
from schemas.common import wording

Row = Mapping[str, Any]

FEW: Final = 5
"""Games below which a team's marks are faint and its bars hatched."""
MOST_TEAMS: Final = 10
"""Teams that are drawn, those with the most games; the table has all."""
_TEAM: Final = ("benchmark", "condition", "model", "team", "team_name", "max_turns")

TEAMS_SQL: Final = """
    SELECT * FROM team_overview_by(levels := $levels, measure := $measure)
    WHERE {filters} AND benchmark = coalesce($benchmark, benchmark) AND games > 0
    ORDER BY score_mean DESC NULLS LAST, success_rate DESC NULLS LAST, team_name, condition, max_turns
"""
_FAILURES = """
    SELECT * FROM team_failures_by(levels := $levels) WHERE {filters} AND benchmark = coalesce($benchmark, benchmark)
    ORDER BY turns DESC, category
"""
_REGRETS = """
    SELECT * FROM team_regret_by(levels := $levels) WHERE {filters} AND benchmark = coalesce($benchmark, benchmark)
    ORDER BY cost DESC, agent, link, status
"""
_TURNS = """
    SELECT * FROM team_turns_by(levels := $levels) WHERE {filters} AND benchmark = coalesce($benchmark, benchmark) ORDER BY turn
"""


@dataclass(frozen=True, kw_only=True)
class Process:
    """How a family measures the way a game was played."""

    title: str
    meaning: str
    worst: str
    """What the team with the worst value does."""
    is_share: bool = False
    least_is_worst: bool = False
    line_at: float | None = None

    def is_faultless(self, value: float) -> bool:
        """Whether no team can do better, so that no team is the worst one."""
        return value >= 1 if self.least_is_worst else value <= (self.line_at or 0)

    def write(self, value: float | None) -> str:
        """A value of it, as texts have it."""
        if self.is_share:
            return wording.share(value)
        return wording.coefficient(value) if self.line_at == 0 else wording.number(value)


PROCESSES: Final[Mapping[str, Process]] = {
    "remove_gap": Process(
        title="Remove gap",
        meaning="share of attempted moves that remove, less that of verified moves",
        worst="removes too much",
        line_at=0,
    ),
    "step_ratio": Process(
        title="Steps over optimum", meaning="steps over the optimum, solved games", worst="takes most detours", line_at=1
    ),
    "right_requests": Process(
        title="Right requests", meaning="share of requests that were right", worst="asks worst", is_share=True, least_is_worst=True
    ),
    "repeated_messages": Process(
        title="Repeated messages", meaning="share of answers that repeat an earlier message", worst="repeats itself most", is_share=True
    ),
    "proven_mistakes": Process(
        title="Proven mistakes",
        meaning="share of good players' votes on teams they could prove to have evil that approve them",
        worst="votes most against proof",
        is_share=True,
    ),
}


def _process(name: str | None) -> Process | None:
    """Of a measure; those that begin alike are readings of one."""
    return next((found for key, found in PROCESSES.items() if (name or "").startswith(key)), None)


@dataclass(frozen=True, kw_only=True)
class Teams:
    """What the figures of one family draw, all under the filters of a page."""

    benchmark: str
    rows: Sequence[Row]
    """Of `team_overview_by`, the highest score first."""
    names: Sequence[TeamName]
    ask: Callable[[str], list[Row]]
    """The rows of a query that are about these teams; what no figure draws is not asked for."""

    @cached_property
    def failures(self) -> list[Row]:
        """Of `team_failures_by`."""
        return self.ask(_FAILURES)

    @cached_property
    def regrets(self) -> list[Row]:
        """Of `team_regret_by`."""
        return self.ask(_REGRETS)

    @cached_property
    def turns(self) -> list[Row]:
        """Of `team_turns_by`."""
        return self.ask(_TURNS)

    def drawn(self, most: int, *, turns: int = 0) -> list[tuple[Row, TeamName]]:
        """The teams with the most games, of those with a game of so many turns, the highest score first."""
        pairs = list(zip(self.rows, self.names, strict=True))
        if turns:
            lasting = {tuple(row[key] for key in _TEAM) for row in self.turns if row["turn"] >= turns}
            pairs = [pair for pair in pairs if tuple(pair[0][key] for key in _TEAM) in lasting]
        ranked = sorted(pairs, key=lambda pair: -pair[0]["games"])[:most]
        return [pair for pair in pairs if pair in ranked]

    @property
    def process(self) -> Process | None:
        """The family's own measure, where some game has it."""
        return next((found for row in self.rows if row["process_n"] and (found := _process(row["process"]))), None)

    def at(self, rows: Sequence[Row], team: Row) -> list[Row]:
        """Those of the rows that are about a team."""
        return [row for row in rows if all(row[key] == team[key] for key in _TEAM)]


def teams_of(read: Reader, benchmark: str, game: str | None = None, *, measure: str | None = None, is_one_of_many: bool = False) -> Teams:
    """What is known of a family's teams under the filters of the address.

    Args:
        read: the page.
        benchmark: the family.
        game: only its teams of this game, where scores of its games have different units.
        measure: of how games were played; None: the one that is shown first.
        is_one_of_many: the page shows many families: their teams are asked for together: planning the query is most of its cost.
    """
    asked = {"levels": list(read.address.all("level")) or None, "benchmark": None if is_one_of_many else benchmark}

    def rows(sql: str, **more: object) -> list[Row]:
        found = read.rows(sql, asked | more, filter_on=("condition", "model"), at_hand=("compared_games", "default_taxonomies"))
        return list(found.filter(pl.col("benchmark") == benchmark).iter_rows(named=True))

    def ask(sql: str) -> list[Row]:
        return [row for row in rows(sql) if tuple(row[key] for key in _TEAM) in own]

    teams = [row for row in rows(TEAMS_SQL, measure=measure) if game is None or row["game"] == game]
    own = {tuple(row[key] for key in _TEAM) for row in teams}
    return Teams(benchmark=benchmark, rows=teams, names=team_names(read, teams), ask=ask)


def regret_by_agent(rows: Sequence[Row]) -> dict[str, float]:
    """What each agent lost in a game by rows of `team_regret_by`, the most first; over several teams, the sum of their means."""
    sums: dict[str, float] = {}
    for row in rows:
        if row["agent"]:
            sums[row["agent"]] = sums.get(row["agent"], 0) + row["cost_a_game"]
    return dict(sorted(sums.items(), key=lambda found: (-found[1], found[0])))
