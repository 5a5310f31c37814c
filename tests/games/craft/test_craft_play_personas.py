"""What scripted teams do to a game: each persona fails in its own way, and all kinds of failure occur."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import get_args

import pytest

from games.craft.game import GameSettings
from games.craft.measures import PublishedCategory, RepairedCategory, published_category, repaired_category
from games.craft.players.builders import BUILDERS
from games.craft.players.directors import PERSONAS
from games.craft.players.truths import TurnFacts
from games.craft.targets import generate_structures
from tests.scripted import craft_turns

SETTINGS = GameSettings(same_turn_messages=True)
STRUCTURES = tuple(generate_structures(8, seed=11))

Games = list[list[TurnFacts]]


@cache
def play_all(persona: str, builder: str) -> Games:
    return [list(craft_turns(structure, SETTINGS, persona, builder, seed=1)) for structure in STRUCTURES]


@pytest.fixture(scope="module")
def by_literal() -> dict[str, Games]:
    """Games of the personas that the claims are about, with the builder that hides nothing."""
    return {persona: play_all(persona, "literal") for persona in ("clear", "vague", "over_remover", "redundant")}


def mean_progress(games: Games) -> float:
    return sum(game[-1].record.metrics.overall_progress for game in games) / len(games)


def remove_gap(games: Games) -> float:
    """Attempted minus oracle remove rate over turns with candidates and an attempt (formats, section 7, reading ``any``)."""
    turns = [facts.record for game in games for facts in game if facts.record.listed and facts.record.outcome]
    attempted = sum(record.outcome is not None and record.outcome.move.action == "remove" for record in turns)
    return (attempted - sum(any(move.action == "remove" for move in record.listed) for record in turns)) / len(turns)


@dataclass
class Spirals:
    """Walks through a game and notes the kinds of correction spirals of design.md, section 3."""

    unchanged: int = 0
    needless_removals: int = 0

    def kinds(self, game: list[TurnFacts]) -> set[str]:
        """Give the kinds that occur in a game."""
        found: set[str] = set()
        left = [game[0].record.board_before.stacks]
        refused: set[object] = set()
        for facts in game:
            record = facts.record
            changed = record.board_after.stacks != record.board_before.stacks
            self.unchanged = 0 if changed else self.unchanged + 1
            move = record.outcome.move if record.outcome else None
            undone = changed and move is not None and move.action == "remove"
            needless = undone and not any(candidate.action == "remove" for candidate in record.candidates)
            self.needless_removals = self.needless_removals + 1 if needless else 0
            if move is not None and not changed and move in refused:
                found.add("repeated_failure")
            if changed and record.board_after.stacks in left:
                found.add("undo_loop")
            refused = set() if changed else refused | {move}
            left += [record.board_after.stacks] if changed else []
            found |= {"over_removal"} if self.needless_removals >= 2 else set()
            found |= {"stall"} if self.unchanged >= 3 else set()
        return found


def spiral_shares(games: Games) -> dict[str, float]:
    counts = Counter(kind for game in games for kind in Spirals().kinds(game))
    return defaultdict(float, {kind: count / len(games) for kind, count in counts.items()})


def test_progress_falls_from_clear_to_over_remover(by_literal: dict[str, Games]) -> None:
    """A clear team gets furthest, an over-removing one least far."""
    means = {persona: mean_progress(games) for persona, games in by_literal.items()}
    assert means["clear"] > max(means["vague"], means["redundant"]) + 0.2
    assert min(means["vague"], means["redundant"]) > means["over_remover"]


def test_only_the_over_remover_removes_more_than_the_oracle(by_literal: dict[str, Games]) -> None:
    """The remove gap is clearly positive for the over-remover and not for the clear team."""
    assert remove_gap(by_literal["over_remover"]) > 0.25
    assert remove_gap(by_literal["clear"]) <= 0


def test_over_remover_gap_survives_a_builder_that_follows_candidates() -> None:
    """Even a builder that prefers candidates is led to more removals than verified."""
    assert remove_gap(play_all("over_remover", "oracle_follower")) > 0.05


def test_over_remover_spirals_in_all_four_ways(by_literal: dict[str, Games]) -> None:
    """Repeated failures, undo loops, over-removal and stalls all occur in its games."""
    shares = spiral_shares(by_literal["over_remover"])
    assert all(shares[kind] > 0 for kind in ("repeated_failure", "undo_loop", "over_removal", "stall"))


@pytest.mark.long
def test_clear_team_hardly_spirals() -> None:
    """With a sane builder at most one game in ten shows any spiral of a kind."""
    shares = spiral_shares(play_all("clear", "oracle_follower"))
    assert all(share <= 0.1 for share in shares.values())


def test_clear_games_are_all_different() -> None:
    """Messages are varied: no public message of 240 turns occurs often."""
    voices = (voice for game in play_all("clear", "oracle_follower") for facts in game for voice in facts.voices)
    texts = Counter(voice.answer.message for voice in voices if voice.request)
    assert len(texts) > 0.95 * texts.total()


@pytest.mark.long
def test_every_failure_category_occurs() -> None:
    """All published and all repaired categories occur among the teams."""
    published, repaired = set[str](), set[str]()
    for persona in PERSONAS:
        for builder in BUILDERS:
            for structure in STRUCTURES[:4]:
                for facts in craft_turns(structure, SETTINGS, persona, builder, seed=2):
                    outcome = facts.record.outcome
                    move, error = (outcome.move, outcome.error) if outcome else (None, None)
                    published.add(published_category(facts.record.listed, move, error.message if error else None))
                    repaired.add(repaired_category(facts.record.listed, move, error, unreadable=facts.record.unreadable is not None))
    assert published == set(get_args(PublishedCategory))
    assert repaired == set(get_args(RepairedCategory))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("persona", "defects"),
    [
        ("vague", {"missing_location", "vague_location", "missing_color", "missing_size", "filler_only"}),
        (
            "over_remover",
            {"false_removal_correct_block", "empty_cell_removal", "unreachable_removal", "large_removal_without_span", "correction_spiral"},
        ),
        ("layer_confused", {"layer_skipped", "layer_miscounted"}),
        ("span_omitting", {"missing_second_cell"}),
        ("redundant", {"redundant_already_done", "redundant_echo", "redundant_endorse"}),
        ("cross_wall", {"cross_wall", "think_other_wall"}),
        ("conflicting", {"conflict_color", "conflict_size", "conflict_action", "conflict_unacknowledged"}),
        ("misreading", {"color_misread", "size_misread"}),
        (
            "format_breaking",
            {f"output_{fault}" for fault in ("empty_message", "no_close", "no_tags", "unclosed_think", "blank", "api_error")},
        ),
    ],
)
def test_personas_plant_their_defects_and_clear_plants_none(persona: str, defects: set[str]) -> None:
    """What a persona is for occurs in its games and never in those of a clear team, other walls in passing excepted."""
    planted = {defect for game in play_all(persona, "literal") for facts in game for voice in facts.voices for defect in voice.plan.defects}
    assert defects <= planted
    clear = {defect for game in play_all("clear", "literal") for facts in game for voice in facts.voices for defect in voice.plan.defects}
    assert clear <= {"think_other_wall", "view_complete"}


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("builder", ["sloppy", "format_breaker"])
def test_builders_make_the_slips_they_are_for(builder: str) -> None:
    """Every slip of a builder comes up."""
    games = [*play_all("clear", builder), *play_all("over_remover", builder)]
    made = {slip for game in games for facts in game for slip in facts.decision.slips}
    assert made == set(BUILDERS[builder].slips)


@pytest.mark.long
def test_clarifier_asks_when_it_is_told_little() -> None:
    """A builder that asks back does so far more often with a vague team."""

    def asked(persona: str) -> float:
        turns = [facts for game in play_all(persona, "clarifier") for facts in game]
        return sum(facts.record.clarification is not None for facts in turns) / len(turns)

    assert asked("vague") > 2 * asked("clear") > 0
