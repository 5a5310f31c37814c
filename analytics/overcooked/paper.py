"""The tables and figures of the Collab-Overcooked paper, and what does not add up in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analytics.papers import Note, PaperItem, TableCell, units
from games.overcooked.engine.references import published_references
from games.overcooked.engine.tasks import tasks
from schemas.store.store import Store

_RUNS: Final = "ten runs of each of the 30 orders"
_CUT: Final = "(variant = 'truncated_1_5' OR file NOT IN (SELECT file FROM overcooked_games WHERE variant = 'truncated_1_5'))"


def _by_level(where: str = "true", **columns: str) -> str:
    return " UNION ALL ".join(
        f'SELECT policy AS "row", \'level \' || level || \' {name}\' AS col, "order" AS "cluster", ({sql})::DOUBLE AS value '
        f"FROM overcooked_games WHERE {where} AND ({sql}) IS NOT NULL"
        for name, sql in columns.items()
    )


_GAMMAS: Final = " UNION ALL ".join(
    f'SELECT policy || \', level \' || level AS "row", \'gamma {gamma:g}\' AS col, "order" AS "cluster", '
    f"(success = 1 AND last_timestamp <= {gamma} * time_limit_1_5 / 1.5)::INT::DOUBLE AS value FROM overcooked_games WHERE variant = 'raw'"
    for gamma in (1, 1.2, 1.5, 2)
)
_ERRORS: Final = (
    'SELECT model AS "row", category AS col, episode_id AS "cluster", 1.0::DOUBLE AS value FROM failure_turns WHERE false'
    " UNION ALL SELECT turns.model, names.category, turns.episode_id, (turns.category = names.category)::INT::DOUBLE "
    "FROM failure_turns AS turns, (SELECT DISTINCT category FROM failure_turns WHERE taxonomy = 'overcooked_paper') AS names "
    "WHERE turns.taxonomy = 'overcooked_paper'"
)

_PROBES: Final = (
    "SELECT respondent || ': ' || CASE type WHEN 'NR' THEN 'initiation' ELSE 'response' END || ', ' || game_upstream[12] AS \"row\", "
    "'k = ' || game_upstream[13] AS col, scenario AS \"cluster\", correct_read::INT::DOUBLE AS value FROM coordqa_answers "
    "WHERE regexp_full_match(game_upstream, 'Overcooked [A-C][1-5]') AND type IN ('NR', 'JP')"
)


def _levels(_: Store) -> list[TableCell]:
    """Table 3: what the Assistant does in an order's first reference, and how often both fill a utensil; a level's orders are alike."""
    found: dict[tuple[str, str], list[int]] = {}
    for order, task in tasks().items():
        chef, assistant = published_references(order)[0]
        for column, count in (
            ("acquiring new ingredients", sum("ingredient_dispenser" in action for action in assistant)),
            ("processing by Alice", _fillings(assistant)),
            ("acquiring a new dish", sum("dish_dispenser" in action for action in assistant)),
            ("processing by Bob", _fillings(chef)),
            ("collaborative actions", len(assistant)),
        ):
            found.setdefault((f"level {task.level}", column), []).append(count)
    return [TableCell(row, column, sum(counts) / len(counts), n=len(counts)) for (row, column), counts in found.items()]


def _fillings(actions: Sequence[str]) -> int:
    return sum(action.startswith("put_obj_in_utensil") for action in actions)


ITEMS: Final = (
    PaperItem(kind="table", number="1", title="Benchmarks of the literature", needs="it compares papers"),
    PaperItem(
        kind="table",
        number="2",
        title="Success within 1.5 times the reference's time and progress of collaboration by level, percent",
        needs=_RUNS,
        cells=units(_by_level(_CUT, SR="within_limit", PC="pc"), percent=("",), with_sem=False, by_cluster=True),
    ),
    PaperItem(
        kind="figure", number="2", title="Drawings of game, levels and prompts (figures 1, 2, 6, 7, 10 to 14)", needs="they hold no result"
    ),
    PaperItem(
        kind="table", number="3", title="Collaborative actions of each level, counted in the references", needs="nothing", cells=_levels
    ),
    PaperItem(kind="table", number="4", title="The thirty orders", needs="it lists the tasks (cotrace play overcooked --help has them)"),
    PaperItem(
        kind="figure",
        number="3",
        title="Initiating and responding collaboration by level, percent",
        needs=_RUNS,
        cells=units(
            _by_level(_CUT, IC="initiate_collaboration", RC="respond_collaboration"), percent=("",), with_sem=False, by_cluster=True
        ),
    ),
    PaperItem(
        kind="figure",
        number="4",
        title="People against a model, by level, percent",
        needs="games with a human player (cotrace play overcooked --player ...=human)",
        cells=units(
            _by_level(f"{_CUT} AND policy LIKE '%human%'", SR="within_limit", PC="pc"), percent=("",), with_sem=False, by_cluster=True
        ),
    ),
    PaperItem(
        kind="figure",
        number="5",
        title="Accuracy in the probes over k (5a, 5b, 5c), with options in place of free text",
        needs="answers to cotrace probe-states overcooked",
        cells=units(_PROBES, with_sem=False),
    ),
    PaperItem(
        kind="figure",
        number="8",
        title="Success by level and time limit, percent",
        needs=_RUNS,
        cells=units(_GAMMAS, percent=("",), with_sem=False, by_cluster=True),
    ),
    PaperItem(
        kind="figure",
        number="9",
        title="Share of each error among requests, percent",
        needs=_RUNS,
        cells=units(_ERRORS, percent=("",), with_sem=False),
    ),
)

NOTES: Final = (
    Note(
        title="The references are not exhaustive",
        text="The process score compares with listed action sequences; a legal, successful way that is not listed is scored down. A "
        "perfect game can stay below 1, in the published "
        "references at .92 where the shortest way is not among them.",
        sql='SELECT "order", count(*) AS successes, max(pc) AS best_pc FROM overcooked_games WHERE success = 1 AND variant = '
        "'raw' GROUP BY ALL ORDER BY best_pc",
    ),
    Note(
        title="The mean time counts failures as 0",
        text="The conversion script enters orders without success as 0 seconds, so a model that fails more looks quicker.",
        sql="SELECT model, level, success_rate, time_avg FROM overcooked_levels ORDER BY ALL",
    ),
    Note(
        title="Which time limits",
        text="The text names limits of 1, 1.5 and 2 times the reference's time, the code has 1, 1.2, 1.5 and 2. The query counts how many "
        "successes of these logs fall between the limits, so what the choice changes.",
        sql="SELECT policy, count(*) FILTER (last_timestamp <= time_limit_1_5 / 1.5) AS within_1, count(*) FILTER (last_timestamp <= 1.2 * "
        "time_limit_1_5 / 1.5) AS within_1_2, count(*) FILTER (last_timestamp <= time_limit_1_5) AS within_1_5, count(*) FILTER ("
        "last_timestamp <= 2 * time_limit_1_5 / 1.5) AS within_2 FROM overcooked_games WHERE variant = 'raw' AND success = 1 "
        "GROUP BY ALL ORDER BY ALL",
    ),
)
