"""What the page Effects asks, one report each: how it is drawn, and which of its columns a table shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from dashboards.associations.drawn import ability_figure, correlation_figure, effect_figure, mediation_figure, transition_figure
from dashboards.associations.lines import power_figure, survival_figure
from dashboards.tables import Column

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["QUESTIONS", "Question"]


class Question(NamedTuple):
    """One report."""

    title: str
    report: str
    asks: str
    """What it answers, and what not."""
    draw: Callable[[pl.DataFrame], go.Figure | None]
    """From the report, or from `curves` where it has some; None where there is nothing to draw."""
    columns: Mapping[str, Column]
    curves: str = ""
    """The report with the curves."""
    options: tuple[str, ...] = ("benchmark",)


def _ends(heading: str, low: str = "low", high: str = "high") -> Column:
    return Column(heading=heading, kind="number", low=low, high=high)


_SAYS: Final = {"advice": Column(heading="What follows", kind="words")}
_P: Final = {"p_holm": Column(heading="p, corrected", kind="p")}
_TASKS: Final = {"tasks": Column(heading="Tasks", kind="count")}

QUESTIONS: Final[Mapping[str, Question]] = {
    "effects": Question(
        "What goes with the outcome",
        "effects",
        "With the same team, task and turn: does more of one thing go with more of the other? A cause only where an experiment set it.",
        effect_figure,
        {
            "predictor": Column(heading="More of", kind="name"),
            "outcome": Column(heading="Outcome", kind="name"),
            "unit": Column(heading="Over"),
            "coefficient": _ends("Coefficient (95 %)"),
            "scale": Column(heading="Scale"),
            "odds_ratio": Column(heading="Odds ratio", kind="number"),
            **_TASKS,
            **_P,
            "formula": Column(heading="Formula", kind="words"),
            **_SAYS,
        },
    ),
    "correlations": Question(
        "What goes together, and where",
        "correlations",
        "Over all units, inside teams, between teams, and with team and task taken out: kinds can contradict each other.",
        correlation_figure,
        {
            "x": Column(heading="This", kind="name"),
            "y": Column(heading="With", kind="name"),
            "unit": Column(heading="Over"),
            "kind": Column(heading="Kind"),
            "pearson": _ends("r (95 %)", "pearson_low", "pearson_high"),
            "spearman": _ends("rho (95 %)", "spearman_low", "spearman_high"),
            "n": Column(heading="Units", kind="count"),
            **_TASKS,
            **_P,
            **_SAYS,
        },
    ),
    "mediation": Question(
        "Does it go by the messages?",
        "mediation",
        "How much of the difference of two teams goes along with how they talk. Nobody set the messages at random: no proof.",
        mediation_figure,
        {
            "mediator": Column(heading="By", kind="name"),
            "team_a": Column(heading="Ahead"),
            "team_b": Column(heading="Of"),
            "total": Column(heading="Difference", kind="number"),
            "indirect": _ends("Goes along (95 %)"),
            "rho_zero": Column(heading="Undone by a hidden r of", kind="number"),
            **_TASKS,
            **_P,
            **_SAYS,
        },
    ),
    "transitions": Question(
        "What follows on what",
        "transitions",
        "From one turn to the next, after a failure beside after all other turns of the same games.",
        transition_figure,
        {
            "team": Column(heading="Team"),
            "condition": Column(heading="Condition"),
            "after": Column(heading="After", kind="name"),
            "next": Column(heading="Comes", kind="name"),
            "turns": Column(heading="Turns", kind="count"),
            "games": Column(heading="Games", kind="count"),
            "share": Column(heading="Share (95 %)", kind="share", low="low", high="high"),
            "share_else": Column(heading="Else", kind="share"),
            "difference": _ends("Difference (95 %)", "difference_low", "difference_high"),
            **_P,
            **_SAYS,
        },
    ),
    "survival": Question(
        "How long until",
        "survival",
        "Turns to the first refused action, to completion, to the first spiral; a game that ended before counts as long as it was seen.",
        survival_figure,
        {
            "event": Column(heading="Until"),
            "team": Column(heading="Team"),
            "condition": Column(heading="Condition"),
            "games": Column(heading="Games", kind="count"),
            "events": Column(heading="Happened in", kind="count"),
            "median": Column(heading="Median turn", kind="number"),
            "hazard_ratio": _ends("Hazard ratio (95 %)"),
            "log_rank_p": Column(heading="p, log-rank", kind="p"),
            **_P,
            **_SAYS,
        },
        curves="survival-curves",
    ),
    "ability": Question(
        "Teams and tasks on one scale",
        "ability",
        "The further right a team, the more it can; the further right a task, the harder. Teams on different tasks can be "
        "compared where games link them.",
        ability_figure,
        {
            "kind": Column(heading="What"),
            "name": Column(heading="Name"),
            "condition": Column(heading="Condition"),
            "games": Column(heading="Games", kind="count"),
            "observed": Column(heading="Mean", kind="number"),
            "value": _ends("On the scale (95 %)"),
            "island": Column(heading="Island", kind="count"),
            **_SAYS,
        },
    ),
    "power": Question(
        "How many tasks are enough",
        "power",
        "The chance to see a difference of that size, by how much the store's own teams differ from task to task.",
        power_figure,
        {
            "design": Column(heading="Tasks are"),
            "difference": Column(heading="Difference", kind="number"),
            "power": Column(heading="Chance wished", kind="share"),
            "tasks": Column(heading="Tasks needed", kind="number", low="tasks_low", high="tasks_high"),
            "tasks_now": Column(heading="Tasks now", kind="count"),
            "power_now": Column(heading="Chance now", kind="share"),
            **_SAYS,
        },
        curves="power-curves",
    ),
}
"""By the name in addresses, in order of the page."""
