"""What is mutated, and the tests that have to notice: the quick ones of its own directory."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["SUBJECTS", "Subject"]


class Subject(NamedTuple):
    """A part of cotrace that decides numbers."""

    name: str
    files: tuple[str, ...]
    """Patterns from the project's folder."""
    tests: tuple[str, ...]
    """As pytest takes them, the likeliest to notice first."""


SUBJECTS: Final = (
    Subject(
        "statistics",
        ("analytics/statistics/*.py", "analytics/agreement/measures.py", "analytics/comparison/differences.py"),
        (
            "tests/analytics/test_agreement_measures.py",
            "tests/analytics/test_regressions.py",
            "tests/analytics/courses/test_courses.py",
            "tests/analytics/comparison/test_compare.py",
            "tests/analytics/test_cluster_intervals.py",
            "tests/analytics/test_sequential.py",
            "tests/analytics/associations/test_effects.py",
            "tests/analytics/test_drift.py",
            "tests/analytics/test_rate_correction.py",
            "tests/analytics/test_statistic_reports.py",
            "tests/analytics/planning/test_planning.py",
            "tests/analytics/test_views_statistics.py",
        ),
    ),
    Subject(
        "main views",
        (
            "analytics/common/game_*.sql",
            "analytics/common/failure_*.sql",
            "analytics/common/leaderboard.sql",
            "analytics/common/turn_outcomes.sql",
            "analytics/common/intervals.sql",
            "analytics/craft/remove_gap.sql",
            "analytics/craft/craft_turn_states.sql",
            "analytics/judging/verdicts_latest.sql",
            "analytics/judging/judge_scores.sql",
            "analytics/judging/answer_*.sql",
            "analytics/judging/panel.sql",
        ),
        (
            "tests/analytics/test_views_spirals.py",
            "tests/analytics/test_leaderboard.py",
            "tests/analytics/test_failure_map.py",
            "tests/analytics/test_views_following.py",
            "tests/analytics/test_views_judges.py",
            "tests/analytics/test_views_statistics.py",
            "tests/analytics/test_views_losses.py",
            "tests/analytics/test_views_values.py",
            "tests/analytics/test_views_teams.py",
            "tests/analytics/test_drift.py",
            "tests/analytics/test_agreement_report.py",
            "tests/judges/test_judge_panels.py",
            "tests/judges/test_probes.py",
        ),
    ),
    Subject(
        "journals",
        ("providers/journal.py", "providers/journal_folder.py", "judges/runs/journal.py", "judges/runs/recorder.py"),
        ("tests/providers/test_asker.py", "tests/judges/test_judge_resume.py"),
    ),
    Subject(
        "row writers",
        (
            "schemas/contract.py",
            "schemas/batches.py",
            "schemas/tables.py",
            "judges/runs/verdict_store.py",
            "ingest/files/load.py",
            "ingest/files/writer.py",
        ),
        (
            "tests/judges/test_judge_memory.py",
            "tests/schemas/test_schemas.py",
            "tests/judges/test_judge_resume.py",
            "tests/ingest/test_ingest_store.py",
        ),
    ),
    Subject(
        "engine of CRAFT",
        ("games/craft/engine/*.py",),
        (
            "tests/games/craft/test_craft_engine_rules.py",
            "tests/games/craft/test_craft_engine_boards.py",
            "tests/games/craft/test_craft_engine_game.py",
            "tests/games/craft/test_craft_engine_properties.py",
        ),
    ),
    Subject(
        "engine of Einstein Puzzles",
        ("games/einstein/engine/*.py",),
        (
            "tests/games/einstein/test_einstein_engine_rules.py",
            "tests/games/einstein/test_einstein_engine_game.py",
            "tests/games/einstein/test_einstein_engine_planner.py",
        ),
    ),
    Subject(
        "engine of AsymPuzl",
        ("games/asympuzl/puzzle.py", "games/asympuzl/game.py", "games/asympuzl/feedback.py"),
        ("tests/games/asympuzl/test_asympuzl_engine.py",),
    ),
    Subject(
        "engine of Collab-Overcooked",
        (
            "games/overcooked/engine/actions.py",
            "games/overcooked/engine/execution.py",
            "games/overcooked/engine/layout.py",
            "games/overcooked/engine/references.py",
            "games/overcooked/engine/sequences.py",
            "games/overcooked/engine/timing.py",
            "games/overcooked/engine/validator.py",
            "games/overcooked/engine/w*.py",
        ),
        (
            "tests/games/overcooked/test_overcooked_kitchen.py",
            "tests/games/overcooked/test_overcooked_own_kitchen.py",
            "tests/games/overcooked/test_overcooked_reference.py",
        ),
    ),
    Subject(
        "engines of LLM-Coordination",
        ("games/coordination/*/rules.py", "games/coordination/kitchen/macros.py"),
        ("tests/games/coordination/test_coordination_games.py",),
    ),
    Subject(
        "values of CRAFT",
        (
            "games/craft/value/[f-s]*.py",  # not its bounds: a looser one makes the search longer and finds the same
            "ingest/craft/values.py",
            "analytics/craft/values_*.sql",
        ),
        ("tests/games/craft/test_craft_value.py", "tests/analytics/test_views_values.py"),
    ),
    Subject(
        "values of the other games",
        (
            "games/asympuzl/value.py",
            "games/coordination/value/*.py",
            "games/einstein/value/*.py",
            "games/overcooked/value/*.py",
            "ingest/asympuzl/values.py",
            "ingest/coordination/values.py",
            "ingest/einstein/values.py",
            "ingest/overcooked/values.py",
            "analytics/asympuzl/values_*.sql",
            "analytics/coordination/values_*.sql",
            "analytics/einstein/values_*.sql",
            "analytics/overcooked/values_*.sql",
        ),
        (
            "tests/games/asympuzl/test_asympuzl_value.py",
            "tests/games/coordination/test_coordination_value.py",
            "tests/games/einstein/test_einstein_value.py",
            "tests/games/overcooked/test_overcooked_value.py",
            "tests/analytics/test_views_values.py",
        ),
    ),
    Subject(
        "attribution",
        ("judges/attribution/*.py", "judges/*/attribution.py", "judges/*/attribution/*.py"),
        (
            "tests/judges/attribution/test_craft_links.py",
            "tests/judges/attribution/test_asympuzl_links.py",
            "tests/judges/attribution/test_einstein_links.py",
            "tests/judges/attribution/test_coordination_links.py",
            "tests/judges/attribution/test_overcooked_links.py",
            "tests/judges/attribution/test_two_player_attribution.py",
            "tests/judges/attribution/test_craft_attribution.py",
            "tests/judges/attribution/test_coordination_attribution.py",
            "tests/judges/attribution/test_attribution_accuracy.py",
        ),
    ),
    Subject(
        "losses",
        ("analytics/losses/*.py", "analytics/losses/*.sql"),
        (
            "tests/analytics/test_views_losses.py",
            "tests/analytics/test_mended_report.py",
            "tests/analytics/test_lost_report.py",
            "tests/judges/attribution/test_two_player_attribution.py",
            "tests/judges/attribution/test_craft_attribution.py",
            "tests/judges/attribution/test_attribution_accuracy.py",
        ),
    ),
)
