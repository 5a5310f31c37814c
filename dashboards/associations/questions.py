"""What the page Effects asks, one report each: how it is drawn, and which of its columns a table shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from dashboards.associations.drawn import ability_figure, correlation_figure, effect_figure, mediation_figure, transition_figure
from dashboards.associations.lines import power_figure, survival_figure
from dashboards.tables import GridColumn

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

__all__ = ["QUESTIONS", "EffectsSection"]


class EffectsSection(NamedTuple):
    """One report."""

    title: str
    report: str
    asks: str
    """What it answers, and what not."""
    draw: Callable[[pl.DataFrame], go.Figure | None]
    """From the report, or from `curves` where it has some; None where there is nothing to draw."""
    columns: Mapping[str, GridColumn]
    curves: str = ""
    """The report with the curves."""
    options: tuple[str, ...] = ("benchmark",)


def _ends(heading: str, low: str = "low", high: str = "high") -> GridColumn:
    return GridColumn(heading=heading, kind="number", low=low, high=high)


_SAYS: Final = {"advice": GridColumn(heading="What follows", kind="words")}
_P: Final = {"p_holm": GridColumn(heading="p, corrected", kind="p")}
_TASKS: Final = {"tasks": GridColumn(heading="Tasks", kind="count")}

QUESTIONS: Final[Mapping[str, EffectsSection]] = {
    "transitions": EffectsSection(
        "What follows on what",
        "transitions",
        "From one turn to the next, compared with the same games if their turns came in any order.",
        transition_figure,
        {
            "team": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "after": GridColumn(heading="After", kind="name"),
            "next": GridColumn(heading="Comes", kind="name"),
            "turns": GridColumn(heading="Turns", kind="count"),
            "games": GridColumn(heading="Games", kind="count"),
            "share": GridColumn(heading="Share (95 %)", kind="share", low="low", high="high"),
            "share_expected": GridColumn(heading="In any order", kind="share"),
            "difference": GridColumn(heading="Difference (95 %)", kind="score", low="difference_low", high="difference_high"),
            **_P,
            **_SAYS,
        },
    ),
    "survival": EffectsSection(
        "How long until",
        "survival",
        "Turns to the first refused action, to completion, to the first spiral; a game that ended before counts as long as it was seen.",
        survival_figure,
        {
            "event": GridColumn(heading="Until"),
            "team": GridColumn(heading="Team"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "games": GridColumn(heading="Games", kind="count"),
            "events": GridColumn(heading="Happened in", kind="count"),
            "median": GridColumn(heading="Median turn", kind="number"),
            "hazard_ratio": _ends("Hazard ratio (95 %)"),
            "log_rank_p": GridColumn(heading="p, log-rank", kind="p"),
            **_P,
            **_SAYS,
        },
        curves="survival-curves",
    ),
    "ability": EffectsSection(
        "Teams and tasks on one scale",
        "ability",
        "The further right a team, the more it can; the further right a task, the harder. Teams on different tasks can be "
        "compared where games link them.",
        ability_figure,
        {
            "kind": GridColumn(heading="What"),
            "name": GridColumn(heading="Name"),
            "condition": GridColumn(heading="Condition", kind="condition"),
            "games": GridColumn(heading="Games", kind="count"),
            "observed": GridColumn(heading="Mean", kind="number"),
            "value": _ends("On the scale (95 %)"),
            "island": GridColumn(heading="Island", kind="count"),
            **_SAYS,
        },
    ),
    "power": EffectsSection(
        "How many tasks are enough",
        "power",
        "The chance to see a difference of that size, by how much the store's own teams differ from task to task.",
        power_figure,
        {
            "design": GridColumn(heading="Tasks are"),
            "difference": GridColumn(heading="Difference", kind="number"),
            "power": GridColumn(heading="Chance wished", kind="share"),
            "tasks": GridColumn(heading="Tasks needed", kind="number", low="tasks_low", high="tasks_high"),
            "tasks_now": GridColumn(heading="Tasks now", kind="count"),
            "power_now": GridColumn(heading="Chance now", kind="share"),
            **_SAYS,
        },
        curves="power-curves",
    ),
    "effects": EffectsSection(
        "What goes with the outcome",
        "effects",
        "With the same team, task and turn: does more of one thing go with more of the other? A cause only where an experiment set it.",
        effect_figure,
        {
            "predictor": GridColumn(heading="More of", kind="name"),
            "outcome": GridColumn(heading="Outcome", kind="name"),
            "unit": GridColumn(heading="Over"),
            "coefficient": _ends("Coefficient (95 %)"),
            "scale": GridColumn(heading="Scale"),
            "odds_ratio": GridColumn(heading="Odds ratio", kind="number"),
            **_TASKS,
            **_P,
            "formula": GridColumn(heading="Formula", kind="words"),
            **_SAYS,
        },
    ),
    "correlations": EffectsSection(
        "What goes together, and where",
        "correlations",
        "Over all units, inside teams, between teams, and with team and task taken out: kinds can contradict each other.",
        correlation_figure,
        {
            "x": GridColumn(heading="This", kind="name"),
            "y": GridColumn(heading="With", kind="name"),
            "unit": GridColumn(heading="Over"),
            "kind": GridColumn(heading="Kind"),
            "pearson": _ends("r (95 %)", "pearson_low", "pearson_high"),
            "spearman": _ends("rho (95 %)", "spearman_low", "spearman_high"),
            "n": GridColumn(heading="Units", kind="count"),
            **_TASKS,
            **_P,
            **_SAYS,
        },
    ),
    "mediation": EffectsSection(
        "Does it go by the messages?",
        "mediation",
        "How much of the difference of two teams goes along with how they talk. Nobody set the messages at random: no proof.",
        mediation_figure,
        {
            "mediator": GridColumn(heading="By", kind="name"),
            "team_a": GridColumn(heading="Ahead"),
            "team_b": GridColumn(heading="Of"),
            "total": GridColumn(heading="Difference", kind="number"),
            "indirect": _ends("Goes along (95 %)"),
            "rho_zero": GridColumn(heading="Undone by a hidden r of", kind="number"),
            **_TASKS,
            **_P,
            **_SAYS,
        },
    ),
}
"""By the name in addresses, in order of the page: what happened first, what goes with what last, which takes longest on large stores."""
