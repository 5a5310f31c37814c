"""The named reports: views with a report in their header, two tables, and reports computed in Python."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from analytics.query import condition, filtered, query
from analytics.statistics.few_games import marked
from analytics.views import VIEWS
from schemas.common.errors import UsageError
from schemas.common.text import near
from schemas.store.store import Store
from schemas.tables import TABLES

if TYPE_CHECKING:
    import polars as pl


class Computed(NamedTuple):
    """A report that needs more than SQL."""

    module: str
    function: str
    """Takes the store, returns a frame; the constant `<FUNCTION>_SUMMARY` next to it names the columns that fit a terminal."""
    options: tuple[str, ...] = ()
    """Keys of `OPTIONS` that it takes in addition to the store."""
    page: str = "docs/judges.md"
    """Where its columns are explained."""
    prose: str = ""
    """Column of whole sentences: a terminal shows it line by line, in the place of a table; empty: a table."""


class Option(NamedTuple):
    """What some computed reports take in addition to the store."""

    kind: type[str | float | int]
    doc: str
    low: float | None = None
    high: float | None = None


OPTIONS: dict[str, Option] = {
    "na_score": Option(float, "the number of N/A in means and correlations [default: none]; CRAFT's use 0.5.", 0, 1),
    "metric": Option(str, "score (the default), success, remove_gap, spirals, tokens, craft.iou_score, judge:RUBRIC.QUESTION, ..."),
    "benchmark": Option(str, "only this benchmark [default: all]"),
    "epsilon": Option(float, "share of units on which a judge may be worse than a person [default: 0.15]", 0, 1),
    "risk": Option(float, "wished share of wrong answers among all units [default: 0.05]", 0, 1),
    "families": Option(str, "SQL expression over episodes that gives the family of a task: families count once [default: tasks count]"),
    "difference": Option(float, "to be seen, in units of the metric [default: shares of the standard deviation between tasks].", 0),
}
"""Name, as in Python and with dashes on the command line -> what it is; the reports that take one are named in front of its help."""


def _statistic(module: str, function: str, *options: str) -> Computed:
    return Computed(module, function, options, "docs/statistics.md")


COMPUTED: dict[str, Computed] = {
    "lost": Computed("analytics.losses.lost", "lost_report", page="docs/attribution.md", prose="sentence"),
    "attribution-accuracy": Computed("analytics.losses.accuracy", "accuracy_report", page="docs/attribution.md"),
    "agreement": Computed("analytics.agreement.report", "agreement_report", ("na_score",)),
    "corrected-rates": Computed("analytics.estimates.corrected", "corrected_rates"),
    "judged-effects": Computed("analytics.estimates.effects", "judged_effects"),
    "latent-rates": Computed("analytics.estimates.raters", "latent_rates"),
    "alt-test": Computed("analytics.estimates.replacement", "alt_test", ("epsilon",)),
    "selective": Computed("analytics.estimates.replacement", "selective", ("risk",)),
    "calibration": Computed("analytics.estimates.calibration", "calibration_report"),
    "calibrated-answers": Computed("analytics.estimates.calibration", "calibrated_answers"),
    "probes": Computed("analytics.judging.probes", "probe_report"),
    "drift": Computed("analytics.drift", "drift_report"),
    "self-preference": Computed("analytics.judging.probes", "self_preference_report"),
    "labels-needed": Computed("analytics.estimates.corrected", "labels_needed_report"),
    "readers": Computed("analytics.readers", "readers_report", page="docs/claims.md"),
    "compare": Computed("analytics.comparison.compare", "compare", ("metric", "benchmark", "families"), "docs/compare.md"),
    "claims": _statistic("analytics.ledger", "claims"),
    "effects": _statistic("analytics.associations", "effects", "benchmark"),
    "correlations": _statistic("analytics.associations", "correlations", "metric", "benchmark"),
    "mediation": _statistic("analytics.mediation", "mediation", "metric", "benchmark"),
    "transitions": _statistic("analytics.courses", "transitions", "benchmark"),
    "survival": _statistic("analytics.courses", "survival", "benchmark"),
    "survival-curves": _statistic("analytics.courses", "survival_curves", "benchmark"),
    "attempts": _statistic("analytics.attempts", "attempts", "benchmark"),
    "ability": _statistic("analytics.scales", "ability", "metric", "benchmark"),
    "preferences": _statistic("analytics.scales", "preferences"),
    "probe-skill": Computed("analytics.probe_skill", "probe_skill", page="docs/probes.md"),
    "profiles": _statistic("analytics.scales", "profiles", "benchmark"),
    "power": _statistic("analytics.planning", "power", "metric", "benchmark", "difference"),
    "power-curves": _statistic("analytics.planning", "power_curves", "metric", "benchmark", "difference"),
    "judges-needed": _statistic("analytics.planning", "judges_needed"),
}
"""Name -> what computes it."""

_LABELLED = "a question to which labels give two answers of five units each, and which a judge was asked"
_EVENT = "games that ended, in some of which the event happened"
_SPREAD = "teams with two tasks or more, on which the metric differs"
NEEDS: dict[str, str] = {
    "lost": "games whose losses were attributed (cotrace attribute)",
    "attribution-accuracy": "games of which the decisive error is known: by labels of decisive_error, or scripted with one faulty player",
    "agreement": "units that two raters answered, or one twice: a judge and labels, two judges, repeats",
    "corrected-rates": "units that a judge has scored",
    "judged-effects": "units that a judge has scored, in games with scores or several turns",
    "latent-rates": "three judges that were asked the same, or two that were asked about two models",
    "alt-test": "units that a judge answered and two people labelled",
    "selective": "labels of five games on units that a judge answered",
    "calibration": _LABELLED,
    "calibrated-answers": _LABELLED,
    "probes": "perturbed units with plain ones (cotrace probe)",
    "drift": "answers of a model judge by two jobs, or on both halves of one",
    "self-preference": "a model judge that judged what its own model wrote, and what others did",
    "labels-needed": "units that a judge has scored",
    "readers": "texts whose authors say what they claim: of scripted players, or logs with claims",
    "compare": "two teams of a benchmark whose games ended and have the metric",
    "claims": "what another report of statistics takes",
    "effects": "twenty units on which outcome and predictor differ, the latter on five tasks",
    "correlations": "eight units on which two numbers differ",
    "mediation": "two teams that share eight tasks, on which outcome and a mediator differ",
    "transitions": "games that ended, with two turns in a row",
    "survival": _EVENT,
    "survival-curves": _EVENT,
    "attempts": "a team that played a task twice, with games whose success is known",
    "ability": "two teams and two tasks that games link, on which the metric differs",
    "preferences": "pairs of games of two teams, judged in both orders",
    "probe-skill": "answers to questions about states (cotrace probe-states) and games by the same models",
    "profiles": "twenty games of a benchmark with failures of one taxonomy, in unlike shares",
    "power": _SPREAD,
    "power-curves": _SPREAD,
    "judges-needed": "ten units that a judge has scored",
}
"""Computed report -> what a store must have for a row: printed where there is none."""


class Listed(NamedTuple):
    """A report in a list of all."""

    text: str
    """What it answers, in a few words."""
    needs: str = ""
    """What it needs apart from logs, in the words of `SOURCES`."""


GROUPS: dict[str, dict[str, Listed]] = {
    "Scores": {
        "overview": Listed("each team: score next to process measure, spirals and regret; the front page's figure"),
        "leaderboard": Listed("score and success of each team, with intervals"),
        "families": Listed("the benchmarks side by side"),
        "asympuzl": Listed("AsymPuzl: the paper's tables"),
        "avalon-wins": Listed("Avalon: how often good wins and the assassin names Merlin"),
        "avalon-trust": Listed("Avalon: whom leaders choose, mission by mission"),
        "avalon-suspicion": Listed("Avalon: votes against the truth"),
        "avalon-accusations": Listed("Avalon: accusations against the truth", "verdicts or labels"),
        "avalon-turning-points": Listed("Avalon: the proposals that cost good most, by a model"),
        "coordination-partners": Listed("LLM-Coordination: scores by the skill of a graded partner"),
        "coordination": Listed("LLM-Coordination: the games"),
        "coordination-qa": Listed("CoordinationQA: accuracy and chance"),
        "einstein": Listed("Einstein Puzzles: success, subgoals and steps of each run"),
        "einstein-errors": Listed("Einstein Puzzles: the error categories of Table 2"),
        "overcooked": Listed("Collab-Overcooked: the statistics of the published script"),
    },
    "Failures and losses": {
        "lost": Listed("who lost how much, when and why, in sentences", "values, attribution"),
        "attributions": Listed("each part of each turn's loss: agent, failure point, evidence", "values, attribution"),
        "attribution-accuracy": Listed("how often attributions name the known faulty agent", "values, attribution, labels"),
        "blamed-agents": Listed("which agent people, rules and judges blame for each failed game", "labels or attribution"),
        "costly-turns": Listed("the turns that lost something", "values"),
        "decisive-turns": Listed("the turn that decided each game", "values"),
        "cost-by-category": Listed("loss by failure category", "values"),
        "cost-in-spirals": Listed("loss of turns inside and outside correction spirals", "values"),
        "continuations": Listed("counterfactual continuations and the original games", "values, replay"),
        "outcomes": Listed("what became of the oracle actions of each turn"),
        "missed": Listed("turns that had oracle actions and took none"),
        "action-follows": Listed("each request and the action that fulfilled it", "attribution"),
        "failures": Listed("how often each failure category occurs"),
        "failures-common": Listed("failure categories in words that all benchmarks share"),
        "bps": Listed("CRAFT: why directors fail, by the paper's three modes", "verdicts or labels"),
        "contradictions": Listed("messages that contradict an earlier one by the same agent", "verdicts or labels"),
        "spirals": Listed("correction spirals"),
        "remove-gap": Listed("remove gap of each team"),
        "remove-gap-turns": Listed("remove gap turn by turn"),
        "remove-gap-instructed": Listed("remove gap of what directors ask for", "claims"),
    },
    "Judges and labels": {
        "judges": Listed("how each judge answered each question", "verdicts"),
        "agreement": Listed("agreement of judges, people and repeats", "verdicts or labels of two raters"),
        "confusion": Listed("how often each pair of answers occurs", "verdicts or labels of two raters"),
        "corrected-rates": Listed("rates corrected for the judge's errors", "verdicts, labels"),
        "judged-effects": Listed("what goes with what a judge measures, corrected by labels", "verdicts, labels"),
        "latent-rates": Listed("rates and judges' errors where there are no labels", "verdicts of several judges"),
        "alt-test": Listed("whether a judge may take the place of people", "verdicts, labels of three people"),
        "selective": Listed("how often a judge is wrong where it is sure", "verdicts, labels"),
        "calibration": Listed("whether a judge's probabilities are right", "verdicts, labels"),
        "calibrated-answers": Listed("how probable each answer is", "verdicts, labels"),
        "labels-needed": Listed("how many labels an interval needs", "verdicts"),
        "judges-needed": Listed("how many judges and repeats a score needs", "verdicts"),
        "panel": Listed("majority and split of several model judges", "verdicts of models"),
        "panel-disagreements": Listed("units on which model judges disagree", "verdicts of models"),
        "pairs": Listed("which of two games a judge prefers", "verdicts of models on pairs"),
        "preferences": Listed("ranking of teams by such preferences", "verdicts of models on pairs"),
        "probes": Listed("how changed texts and planted defects change verdicts", "verdicts, probe"),
        "drift": Listed("whether a judge changed over time", "verdicts of models"),
        "self-preference": Listed("whether a model favours its own texts", "verdicts of models"),
        "probe-skill": Listed("whether models that answer questions about states well play well", "answers to probes, games"),
        "flagged": Listed("texts that try to speak to the judge", "verdicts"),
        "readers": Listed("precision and recall of readers of messages", "claims"),
    },
    "Statistics": {
        "compare": Listed("differences between teams, with corrected p-values"),
        "claims": Listed("every statistical statement, with one error rate over all of them"),
        "effects": Listed("what goes with the outcome in the same team and task"),
        "correlations": Listed("correlations within and between teams"),
        "mediation": Listed("the part of a difference that goes through messages"),
        "transitions": Listed("which step follows which"),
        "survival": Listed("when an event happens in the games of a team"),
        "survival-curves": Listed("the curves of these events"),
        "attempts": Listed("pass@k and pass^k of teams that played tasks repeatedly"),
        "ability": Listed("ability of teams and difficulty of tasks"),
        "profiles": Listed("groups of games with similar failures"),
        "power": Listed("how many tasks show a difference"),
        "power-curves": Listed("power by number of tasks"),
    },
    "Store and spending": {
        "rejects": Listed("parts of logs that could not be used"),
        "receipts": Listed("what files hold, and how much of it is stored"),
        "disagreements": Listed("places where log and replay differ"),
        "notes": Listed("people's comments on turns"),
        "cost": Listed("requests, tokens and cost of judging", "verdicts of models"),
        "verdict-costs": Listed("cost of each verdict", "verdicts of models"),
    },
}
"""Heading -> report; views of families of other distributions are added to the first group."""

SOURCES: dict[str, str] = {
    "values": "a benchmark whose states have values (docs/values.md)",
    "attribution": "cotrace attribute",
    "verdicts": "cotrace judge",
    "labels": "cotrace labels import, or notes and labels on the dashboard",
    "probe": "cotrace probe",
    "replay": "cotrace replay",
    "claims": "cotrace claims, or cotrace judge --judge engine",
    "models": "cotrace judge --model",
}
"""What reports need -> where it comes from."""

_USUAL = {"failures": "is_default"}
"""Report -> the rows that are meant where no condition is given: the same in print, on pages and in the demo."""
_FIRST = "lost"
"""The report that opens `cotrace report all`: why, before how often."""

_IDENTIFYING_NUMBERS = frozenset(("max_turns", "max_turns_a", "max_turns_b", "turn", "start_turn", "end_turn", "repeat", "tasks"))
_SENTENCES = frozenset(("advice", "sentence", "evidence", "reason", "few_games"))

_TABLES: dict[str, tuple[str, str]] = {
    "rejects": ("rejects", "path, locator"),
    "receipts": ("receipts", "path, kind"),
    "disagreements": ("log_disagreements", "episode_id, turn, field"),
}
"""Name -> (table, order)."""


@cache
def _views() -> dict[str, tuple[str, str]]:
    """Name -> (view, order)."""
    return {spec.report[0]: (spec.name, spec.report[1]) for spec in VIEWS if spec.report} | _TABLES


def report_names() -> tuple[str, ...]:
    """All reports: who lost it first, then the views by name, then what is computed."""
    return (_FIRST, *sorted(_views()), *(name for name in COMPUTED if name != _FIRST))


def grouped() -> dict[str, dict[str, Listed]]:
    """Every report of `report_names` under its heading."""
    known = {name for reports in GROUPS.values() for name in reports}
    first, *rest = GROUPS
    others = {name: Listed(described(name).partition(". ")[0]) for name in report_names() if name not in known}
    return {first: GROUPS[first] | others, **{heading: GROUPS[heading] for heading in rest}}


def described(name: str) -> str:
    """What a report's rows are, in one sentence."""
    if name in COMPUTED:
        return (_compute(name).__doc__ or "").partition("\n")[0]
    if name in _TABLES:
        return next(f"One row is {table.grain[:1].lower()}{table.grain[1:]}." for table in TABLES if table.name == _TABLES[name][0])
    return next(spec.summary[:1].upper() + spec.summary[1:] for spec in VIEWS if spec.report and spec.report[0] == name)


def report(store: Store, name: str, where: str = "true", **options: Any) -> pl.DataFrame:
    """The rows of a report that meet an SQL condition on its columns, with all columns.

    Where it has intervals, a last column few_games is true of rows whose interval rests on fewer than ten games or tasks; of reports whose
    intervals were simulated, held_least is the worst coverage that was simulated for so many games (docs/dev/coverage.md).

    Args:
        store: where to read; its views are there (`analytics.installation.ensure_installed`).
        name: one of `report_names()`.
        where: one SQL expression.
        options: what a computed report takes in addition to the store, as in its `Computed.options`.

    Raises:
        UsageError: there is no such report, it takes no such option, or the condition is not one on its columns.
    """
    for option in options:
        if option not in (COMPUTED[name].options if name in COMPUTED else ()):
            takers = [other for other, computed in COMPUTED.items() if option in computed.options]
            raise UsageError(f"--{option.replace('_', '-')} is for the report {', '.join(takers) or '(none)'}: leave it out")
    if (benchmark := options.get("benchmark")) is not None:
        known = query(store, "SELECT DISTINCT benchmark FROM episodes ORDER BY ALL")["benchmark"].to_list()
        if benchmark not in known:
            raise UsageError(f"benchmark {benchmark}: no game of the store is of it{near(benchmark, known)}")
    if name in COMPUTED:
        with store.reading():  # one opening for all its queries, and one state of the store
            rows: pl.DataFrame = _compute(name)(store, **options)
        return marked(filtered(rows, where), name)
    if name not in _views():
        raise UsageError(f"no report {name!r}{near(name, report_names())}")
    source, order = _views()[name]
    if where == "true":
        where = _USUAL.get(name, where)
    return marked(query(store, f"SELECT * FROM {source} WHERE {condition(where)} ORDER BY {order}, COLUMNS(*)"), name)


def all_reports(store: Store, **options: Any) -> dict[str, pl.DataFrame]:
    """Every report as by `report`, each computed once: `claims` is made of the others.

    Raises:
        UsageError: as of `report`.
    """
    found = {name: report(store, name, **options) for name in report_names() if name != "claims"}
    return found | {"claims": marked(_compute("claims")(store, found), "claims")}


def columns_of(name: str) -> list[str]:
    """The columns of a report that fit a terminal; empty: all do."""
    if name in COMPUTED:
        computed = COMPUTED[name]
        shown: str = getattr(importlib.import_module(computed.module), f"{computed.function.upper()}_SUMMARY")
        return shown.split(", ")
    return [column for spec in VIEWS if spec.report and spec.report[0] == name for column in spec.shows]


def shown_columns(name: str, rows: pl.DataFrame) -> list[str]:
    """`columns_of`, and of the other columns that identify a row as many as it takes to distinguish all of these rows."""
    shown = [column for column in columns_of(name) if column in rows.columns]
    return with_identity(rows, shown) if shown else list(rows.columns)


def with_identity(rows: pl.DataFrame, shown: Sequence[str]) -> list[str]:
    """The columns and, behind the last one that identifies a row, those without which rows would look alike: condition, variant, ...

    What identifies a row is text, and numbers such as a turn limit; counts and measures do not, even where they differ.

    Args:
        rows: of a report.
        shown: some of their columns.
    """
    possible = [column for column, kind in rows.schema.items() if identifies(column, kind)]
    keys = [column for column in shown if column in possible]
    added: list[str] = []
    distinct = rows.select(keys).n_unique() if keys else min(rows.height, 1)
    while distinct < rows.height:
        more = {column: rows.select(*keys, *added, column).n_unique() for column in possible if column not in {*keys, *added}}
        best = max(more, key=lambda column: more[column], default=None)
        if best is None or more[best] <= distinct:
            break
        added.append(best)
        distinct = more[best]
    place = shown.index(keys[-1]) + 1 if keys else 0
    return [*shown[:place], *(column for column in rows.columns if column in added), *shown[place:]]


def identifies(column: str, kind: pl.DataType) -> bool:
    """Whether a column of a report names what its rows are about, and not how much or why."""
    return column in _IDENTIFYING_NUMBERS or (str(kind) in {"String", "Boolean"} and column not in _SENTENCES)


def units_of(name: str) -> dict[str, str]:
    """Column -> unit, of a report that is a view; empty for others."""
    found = (spec.meanings for spec in VIEWS if spec.report and spec.report[0] == name)
    return {column: meaning.unit for of_view in found for column, meaning in of_view.items()}


def _compute(name: str) -> Any:
    return getattr(importlib.import_module(COMPUTED[name].module), COMPUTED[name].function)
