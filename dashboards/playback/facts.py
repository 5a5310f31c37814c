"""What is known of a game's turns: outcome, regret, spirals; and the timeline that shows them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dashboards.figures import OUTCOMES, SPIRALS, Mark, mark_of
from dashboards.parts import Part, aria, data, html
from schemas.common.wording import in_words, number, share, without_zero

if TYPE_CHECKING:
    from dashboards.reader import Reader

_PREFERRED: Final = ("reachable", "know", "solved", "upper_bound", "time")
"""Last parts of measures that count what a team can act on, before those that assume more; others follow by name."""


class Measure(NamedTuple):
    """A measure of `turn_values`."""

    name: str
    unit: str


def measure_of(read: Reader, benchmark: str) -> Measure | None:
    """The measure that pages show for a benchmark; None if no turn of it has a value."""
    found = read.rows(
        "SELECT DISTINCT measure, unit FROM turn_values WHERE starts_with(measure, $benchmark || '.') AND cost IS NOT NULL ORDER BY ALL",
        {"benchmark": benchmark},
    ).rows()
    by_preference = sorted(found, key=lambda row: (_rank(row[0].rpartition(".")[2]), row[0]))
    return Measure(*by_preference[0]) if by_preference else None


def cost_in_words(cost: float | None, unit: str) -> str:
    """`.042 of progress`, `2 steps`; what is next to nothing is nothing."""
    if cost is None:
        return "–"
    if unit == "probability":
        return "nothing" if abs(cost) < 0.0005 else f"{share(cost)} of the chance to win"  # noqa: PLR2004 - half of the last digit
    if unit == "progress":
        told = without_zero(f"{cost:.3f}").replace("-", "−")
        return f"{told} of progress" if abs(cost) >= 0.0005 else "nothing"  # noqa: PLR2004 - half of the last digit
    whole = f"{cost:.0f}" if abs(cost - round(cost)) < 0.05 else f"{cost:.1f}"  # noqa: PLR2004 - a tenth is shown
    return "nothing" if float(whole) == 0 else f"{whole} {unit.removesuffix('s') if whole == '1' else unit}"


def _rank(last: str) -> int:
    return _PREFERRED.index(last) if last in _PREFERRED else len(_PREFERRED)


_FREE: Final = 1e-9
"""Costs below are rounding."""
_FAILING: Final = frozenset({"refused", "not_followed", "wrong"})

_TURNS: Final = """
    SELECT outcomes.turn, outcome, outcomes.accepted, outcomes.progress, cost, unit, coalesce(acted, []) AS acted
    FROM outcomes LEFT JOIN turn_costs USING (episode_id, turn)
    LEFT JOIN (SELECT turn, list(DISTINCT agent) AS acted FROM actions WHERE episode_id = $id GROUP BY turn) AS acting USING (turn)
    WHERE outcomes.episode_id = $id ORDER BY outcomes.turn
"""
_FAILURES: Final = """
    SELECT turn, agent, taxonomy, category, evidence, meaning
    FROM (
        SELECT episode_id, turn, agent, taxonomy, category, evidence FROM failures UNION ALL BY NAME
        SELECT episode_id, turn, agent, 'dialogue' AS taxonomy, category, evidence FROM dialogue_failures UNION ALL BY NAME
        SELECT episode_id, turn, agent, 'contradictions' AS taxonomy, 'contradicts_itself' AS category, evidence
        FROM contradictions_read WHERE contradicts
    ) INNER JOIN failure_map USING (taxonomy, category)
    WHERE episode_id = $id AND common <> 'none' ORDER BY turn, taxonomy, category, agent
"""
_SPIRALS: Final = "SELECT start_turn, end_turn, kind, turns_wasted, evidence FROM correction_spirals WHERE episode_id = $id ORDER BY ALL"
_LINKS: Final = """
    SELECT turn, agent, link, status, cost, unit, evidence, judge FROM attributed_costs
    WHERE episode_id = $id AND cost > 0 AND starts_with(judge, 'engine') ORDER BY turn, cost DESC, agent NULLS LAST
"""
_NOTES: Final = "SELECT note_id, turn, author, note, written_at FROM turn_notes WHERE episode_id = $id ORDER BY written_at, note_id"
_BLAMED: Final = """
    SELECT DISTINCT agents.answer, try_cast(steps.answer AS BIGINT) AS at_turn
    FROM labels AS agents INNER JOIN labels AS steps USING (source, annotator, rubric, unit_key, episode_id)
    WHERE agents.rubric = 'decisive_error' AND agents.question = 'agent' AND steps.question = 'step' AND episode_id = $id
        AND NOT starts_with(source, 'planted') AND NOT starts_with(annotator, 'llm:') AND at_turn IS NOT NULL
    ORDER BY ALL
"""
_ENDED: Final = "SELECT benchmark, success, score, stop_reason, error FROM episodes WHERE episode_id = $id"
_DECISIVE: Final = "SELECT turn, why, cost, unit, lost_in_game, share, equal_turns FROM decisive_turns WHERE episode_id = $id"


@dataclass(frozen=True, kw_only=True)
class Spiral:
    """A stretch of turns without getting anywhere."""

    start_turn: int
    end_turn: int
    kind: str
    turns_wasted: int
    evidence: str | None


@dataclass(frozen=True, kw_only=True)
class Decisive:
    """The turn that decided the game."""

    turn: int
    why: str
    cost: float
    unit: str
    lost_in_game: float
    share: float | None
    equal_turns: Sequence[int] = ()
    """All turns that decided it equally, this one included."""


@dataclass(frozen=True, kw_only=True)
class TurnFacts:
    """One turn."""

    turn: int
    outcome: str
    accepted: bool | None
    progress: float | None
    cost: float | None
    unit: str | None
    failures: Sequence[Mapping[str, Any]]
    """Categories of rules that something went wrong: agent, taxonomy, category, evidence, meaning."""
    links: Sequence[Mapping[str, Any]] = ()
    """Whose its cost was, through which broken link, the largest part first: agent, link, status, cost, unit, evidence, judge."""
    acted: Sequence[str] = ()
    """Agents who did something on it."""
    actors: frozenset[str] = frozenset()
    """Agents who act in the game, on whatever turn."""

    @property
    def has_cost(self) -> bool:
        """It lost something."""
        return self.cost is not None and self.cost > _FREE

    @property
    def name(self) -> str:
        """What became of it, as the palette names it; what was carried out and yet lost something, or a rule finds wrong, is wrong.

        Where the exact cost is known to be nothing, no rule makes it wrong. Where no rule does, and its loss is attributed to no agent, as
        of a play that was right by what the agents could know, it is lost.
        """
        if self.outcome in {"clarify", "no_move"}:
            return self.outcome
        if self.accepted is False:
            return "refused"
        if self.outcome == "not_followed":
            return "not_followed"
        if (self.has_cost or (self.failures and self.cost is None)) and not self._is_anothers:
            return "lost" if self.links and not self.failures and not any(one["agent"] for one in self.links) else "wrong"
        return "accepted" if self.outcome == "no_oracle" and self.accepted else self.outcome

    @property
    def _is_anothers(self) -> bool:
        """What went wrong is that an agent did nothing, or not enough; what the other one did was right."""
        at_fault = {one["agent"] for one in (*self.failures, *self.links) if one["agent"]}
        return bool(at_fault) and at_fault <= self.actors and at_fault.isdisjoint(self.acted)

    @property
    def mark(self) -> Mark:
        """How it is shown."""
        return mark_of(self.name)

    @property
    def is_failure(self) -> bool:
        """Where `n` stops."""
        return self.name in _FAILING or self.has_cost


@dataclass(frozen=True, kw_only=True)
class GameFacts:
    """A game."""

    turns: Sequence[TurnFacts]
    spirals: Sequence[Spiral]
    decisive: Decisive | None
    notes: Sequence[Mapping[str, Any]] = ()
    """What people wrote: note_id, turn, author, note, written_at."""
    blamed: Sequence[tuple[str, int]] = ()
    """Whose mistake decided the game by people's labels, and on which turn."""
    acts: bool = True
    """Its log holds actions."""
    episode_id: str = ""
    benchmark: str = ""
    success: bool | None = None
    """Whether it reached its goal, as far as its log says."""
    score: float | None = None
    stop_reason: str = ""
    """Why it ended, where its log says so."""
    error: str = ""
    """What broke it off, where its log says so."""

    @property
    def is_lost(self) -> bool:
        """It ended without its goal."""
        return self.success is False

    def noted(self, turn: int) -> list[Mapping[str, Any]]:
        """The notes on a turn."""
        return [note for note in self.notes if note["turn"] == turn]

    def at(self, turn: int) -> TurnFacts:
        """The facts of a turn that the game has."""
        return next(facts for facts in self.turns if facts.turn == turn)

    def around(self, turn: int) -> list[Spiral]:
        """The spirals that a turn is in."""
        return [spiral for spiral in self.spirals if spiral.start_turn <= turn <= spiral.end_turn]

    def failure_after(self, turn: int) -> int | None:
        """The next turn on which something went wrong."""
        return next((facts.turn for facts in self.turns if facts.turn > turn and self._has_failed(facts)), None)

    def failure_before(self, turn: int) -> int | None:
        """The last turn before on which something went wrong."""
        return next((facts.turn for facts in reversed(self.turns) if facts.turn < turn and self._has_failed(facts)), None)

    def _has_failed(self, facts: TurnFacts) -> bool:
        return facts.is_failure or any(turn == facts.turn for _, turn in self.blamed)


def facts_of(read: Reader, episode_id: str) -> GameFacts:
    """What the store knows of a game's turns; kept until the store changes, so that a step asks nothing again."""
    asked = {"id": episode_id}
    failures: dict[int, list[Mapping[str, Any]]] = {}
    for row in read.rows(_FAILURES, asked).iter_rows(named=True):
        failures.setdefault(row["turn"], []).append(row)
    links: dict[int, list[Mapping[str, Any]]] = {}
    for row in read.rows(_LINKS, asked).iter_rows(named=True):
        links.setdefault(row["turn"], []).append(row)
    rows = list(read.rows(_TURNS, asked).iter_rows(named=True))
    actors = frozenset(agent for row in rows for agent in row["acted"])
    turns = [TurnFacts(**row, failures=failures.get(row["turn"], ()), links=links.get(row["turn"], ()), actors=actors) for row in rows]
    decisive = [Decisive(**row) for row in read.rows(_DECISIVE, asked).iter_rows(named=True)]
    spirals = [Spiral(**row) for row in read.rows(_SPIRALS, asked).iter_rows(named=True)]
    notes = list(read.rows(_NOTES, asked).iter_rows(named=True))
    ended = next(read.rows(_ENDED, asked).iter_rows(named=True), {})
    return GameFacts(
        turns=turns,
        spirals=spirals,
        decisive=decisive[0] if decisive else None,
        notes=notes,
        blamed=read.rows(_BLAMED, asked).rows(),
        acts=not read.rows("SELECT 1 FROM actions WHERE episode_id = $id LIMIT 1", asked).is_empty(),
        episode_id=episode_id,
        benchmark=ended.get("benchmark", ""),
        success=ended.get("success"),
        score=ended.get("score"),
        stop_reason=ended.get("stop_reason") or "",
        error=ended.get("error") or "",
    )


TONES: Final = {
    "followed": "good",
    "accepted": "good",
    "not_followed": "lost",
    "wrong": "lost",
    "lost": "lost",
    "refused": "bad",
    "clarify": "ask",
    "no_move": "still",
    "no_oracle": "still",
}
"""What became of a turn -> its colour in the style sheet."""

_HIGHEST: Final = 22
"""Pixels of the largest cost."""


def timeline(facts: GameFacts, turn: int, href: Callable[[int], str], found: Collection[int] = ()) -> Part:
    """All turns in a row.

    Args:
        facts: of the game.
        turn: the one that is shown.
        href: the address of a turn.
        found: turns with a hit of the search inside the game.
    """
    most = max((one.cost or 0 for one in facts.turns if isfinite(one.cost or 0)), default=0)
    ticks = [_tick(facts, one, href(one.turn), most, _marks(one, turn, found)) for one in facts.turns]
    return html.Nav(ticks, className="timeline", **aria(label="Turns of the game"))


def _tick(facts: GameFacts, one: TurnFacts, href: str, most: float, marks: Sequence[str]) -> Part:
    decisive = facts.decisive is not None and one.turn in facts.decisive.equal_turns
    spirals = facts.around(one.turn)
    height = round(_HIGHEST * min((one.cost or 0) / most, 1)) if most and one.has_cost else 0
    lines = [html.Span(className=f"tick-line {kind}" if any(s.kind == kind for s in spirals) else "tick-line") for kind in _kinds(facts)]
    return html.A(
        [
            html.Span("▼" if decisive else "", className="tick-decisive", **aria(hidden="true")),
            html.Span(html.Span(className="tick-cost", style={"height": f"{height}px"}), className="tick-bar"),
            html.Span(one.mark.shape, className="tick-mark", **aria(hidden="true")),
            html.Span([str(one.turn), html.Sup("✎") if facts.noted(one.turn) else None], className="tick-turn"),
            *lines,
        ],
        href=href,
        className=" ".join(marks),
        title=_title(one, spirals, len(facts.noted(one.turn)), decisive=decisive),
        **(aria(current="true") if "current" in marks else {}),
    )


def _marks(one: TurnFacts, turn: int, found: Collection[int]) -> list[str]:
    """Its classes of the style sheet."""
    marks = ["tick", TONES.get(one.name, "still")]
    return marks + ["current"] * (one.turn == turn) + ["hit"] * (one.turn in found)


def _kinds(facts: GameFacts) -> list[str]:
    """The kinds of spiral that the game has: a line each."""
    return [kind for kind in SPIRALS if any(spiral.kind == kind for spiral in facts.spirals)]


def _title(one: TurnFacts, spirals: Sequence[Spiral], notes: int, *, decisive: bool) -> str:
    said = [f"turn {one.turn}: {one.mark.words or in_words(one.outcome)}"]
    if one.has_cost:
        said.append(f"cost {cost_in_words(one.cost, one.unit or '')}")
    if one.progress is not None:
        said.append(f"progress {number(one.progress)}")
    said += [f"{notes} notes" if notes > 1 else "a note"] if notes else []
    said += [f"in a {in_words(spiral.kind)}" for spiral in spirals]
    return "; ".join([*said, *(["the decisive turn"] if decisive else [])])


def legend(facts: GameFacts) -> Part:
    """What the signs of this game's timeline stand for, and the keys."""
    by_shape = groupby(sorted(OUTCOMES.items(), key=lambda entry: list(OUTCOMES).index(entry[0])), key=lambda entry: entry[1].shape)
    shown = {one.mark.shape for one in facts.turns}
    signs = [
        html.Li([html.Span(shape, className=f"sign {TONES[group[0][0]]}"), " or ".join(mark.words for _, mark in group)])
        for shape, group in ((shape, list(group)) for shape, group in by_shape)
        if shape in shown
    ]
    kinds = [html.Li([html.Span(className=f"sign-line {kind}"), f"{in_words(kind)}: {mark_of(kind).words}"]) for kind in _kinds(facts)]
    keys = [html.Li([html.Kbd(key), f" {what}"]) for key, what in _KEYS.items()]
    drawn = [html.Li("bar: what the turn cost; ▼ the turn that decided the game; ✎ a note")]
    return html.Details(
        [html.Summary("legend and keys"), html.Div([html.Ul([*signs, *kinds, *drawn]), html.Ul(keys)], className="legend-box")],
        className="menu legend",
        **data(fold="legend"),
    )


_KEYS: Final = {
    "← →": "turn before, turn after",
    "n  p": "next failure, failure before",
    "/": "search",
    "f": "find a message",
    "c": "write a note",
}
