"""The CRAFT environment: order of acting, what agents see, how a game ends, the same seed twice."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pydantic import ValidationError

from games.craft.engine.board import Board, director_view
from games.craft.game import AGENTS, Game, GameSettings, TurnRecord, replay
from games.craft.measures import progress
from games.craft.targets import Structure, StructureRules, generate_structures
from games.craft.text.prompts import trimmed
from games.craft.text.replies import NO_MESSAGE, builder_line, director_text
from schemas.common.errors import UsageError

TARGET = Board.from_json({"(0,0)": ["gl", "bs"], "(0,1)": ["gl"], "(1,1)": ["os"]}, {"0": [["(0,1)", "(0,0)"]]})
SMALL_TARGET = Structure("structure_007", "simple", TARGET)
REACHABLE = next(generate_structures(1, seed=5, rules=StructureRules(reachable=True)))


def play_turn(game: Game, line: str) -> TurnRecord:
    """Let the turn's directors speak, then the builder."""
    for director in game.state().speakers:
        game.act(director, director_text("secret", f"hello from {director}"))
    record = game.act("builder", line)
    assert record is not None
    return record


def follow_first(game: Game) -> TurnRecord:
    """Play a turn in which the builder takes the first candidate it is shown."""
    listed = game.state().listed
    return play_turn(game, builder_line(listed[0], "ok") if listed else "CLARIFY: what now?")


def play_out(game: Game) -> list[TurnRecord]:
    """Follow the candidates to the end."""
    while not game.done:
        follow_first(game)
    return game.turns


def test_following_the_oracle_completes_a_reachable_target() -> None:
    """The game stops in the turn that reaches a progress of 0.95, with that reason."""
    game = Game(REACHABLE, GameSettings(max_turns=40))
    play_out(game)

    assert game.stop_reason == "target_achieved"
    assert game.turns[-1].metrics.overall_progress >= 0.95 > game.turns[-2].metrics.overall_progress
    assert (game.next_agent, game.state().speakers) == (None, ())


def test_a_game_ends_after_max_turns() -> None:
    """Questions count as turns."""
    game = Game(SMALL_TARGET, GameSettings(max_turns=3))
    turns = [play_turn(game, "CLARIFY: where?") for _ in range(3)]

    assert game.stop_reason == "max_turns_reached"
    assert [(turn.turn, turn.clarification, turn.outcome) for turn in turns] == [(number, " where?", None) for number in (1, 2, 3)]


def test_a_board_that_starts_complete_does_not_end_the_game() -> None:
    """As in the published loop, completion is tested after accepted moves, not on start boards."""
    structure = Structure("s", "simple", Board.from_json({"(0,0)": ["gs"]}))
    game = Game(structure, GameSettings(start="firstLayer", max_turns=4))
    assert progress(game.state().board, structure.target).overall_progress == 1

    play_turn(game, "PLACE:gs:(0,0):0:CONFIRM:refused")
    assert not game.done


def test_nobody_acts_after_the_end() -> None:
    """Acting on a finished game is an error that says when and why it ended."""
    game = Game(SMALL_TARGET, GameSettings(max_turns=1))
    play_turn(game, "CLARIFY: where?")
    with pytest.raises(UsageError, match=r"the game ended after turn 1 \(max_turns_reached\)"):
        game.act("builder", "CLARIFY: where?")


def test_agents_act_in_the_drawn_order_only() -> None:
    """Out of turn is an error that names whose turn it is; the game is not changed by it."""
    game = Game(SMALL_TARGET)
    before = game.state()
    with pytest.raises(UsageError, match=f"it is for {before.speakers[0]} to act"):
        game.act("builder", "CLARIFY: where?")
    assert game.state() == before


def test_three_slots_are_drawn_with_replacement() -> None:
    """One, two or three different directors speak with probabilities 1/9, 6/9, 2/9."""
    counts: Counter[int] = Counter()
    for seed in range(1800):
        counts[len(set(Game(SMALL_TARGET, seed=seed).state().speakers))] += 1
    assert [counts[number] / 1800 for number in (1, 2, 3)] == pytest.approx([1 / 9, 6 / 9, 2 / 9], abs=0.04)


def test_the_same_seed_gives_the_same_game() -> None:
    """Every record is equal, texts and speakers included; another seed draws other speakers."""
    first, second, other = (play_out(Game(REACHABLE, seed=seed)) for seed in (3, 3, 4))
    assert first == second
    assert [turn.answers for turn in first] != [turn.answers for turn in other]


def test_a_game_replays_to_itself() -> None:
    """Replaying the written moves gives the boards, candidates and scores of the records."""
    game = Game(REACHABLE, seed=8)
    lines = ["PLACE:gs:(0, 0):0:CONFIRM:ghost", "REMOVE:(2,2):0:CONFIRM:empty", "CLARIFY: hm"]
    for line in lines:
        play_turn(game, line)
    records = play_out(game)
    replayed = list(replay(Board(), REACHABLE.target, [record.written for record in records]))

    assert [turn.board_after for turn in replayed] == [record.board_after for record in records]
    assert [turn.candidates for turn in replayed] == [record.candidates for record in records]
    assert [turn.metrics for turn in replayed] == [record.metrics for record in records]
    assert [turn.flags for turn in replayed] == [record.flags for record in records]


class TestObservations:
    """What reaches an agent, and what does not."""

    def test_a_director_sees_one_target_wall_and_three_board_walls(self) -> None:
        """The orange block on the cell nobody sees is in none of the views, neither of the target nor of the board."""
        game = Game(SMALL_TARGET)
        board = play_turn(game, "PLACE:os:(1,1):0:CONFIRM:hidden").board_after
        seen = game.observe_director("D2")

        assert seen.target_view == director_view(TARGET, "D2")
        assert seen.board_views == {name: director_view(board, name) for name in ("D1", "D2", "D3")}
        assert board.stack("(1,1)") == ("os",)
        assert "orange" not in repr((seen.target_view, seen.board_views))

    def test_directors_hear_earlier_turns_only(self) -> None:
        """By default nobody sees the messages of the turn under way."""
        game = Game(SMALL_TARGET)
        game.act(game.state().speakers[0], director_text("secret", "early bird"))
        assert game.observe_director("D1").history == ()

    def test_directors_can_be_let_hear_the_turn_under_way(self) -> None:
        """The paper's variant; private reasoning stays private."""
        game = Game(SMALL_TARGET, GameSettings(same_turn_messages=True))
        first = game.state().speakers[0]
        game.act(first, director_text("secret", "early bird"))
        assert game.observe_director("D1").history == (f"{first}: early bird",)

    def test_the_kind_of_target_view_is_a_setting(self) -> None:
        """Mirrored flat targets beside span-aware boards, as some published runs showed them."""
        game = Game(SMALL_TARGET, target_views="flat_mirrored")
        assert game.observe_director("D2").target_view == director_view(TARGET, "D2", "flat_mirrored")

    def test_the_builder_hears_this_turns_messages_only(self) -> None:
        """Missing messages are left out, reasoning and earlier turns never arrive."""
        game = Game(SMALL_TARGET)
        follow_first(game)
        speakers = game.state().speakers
        for director, text in zip(speakers, ("", director_text("secret", "one"), director_text("secret", "two")), strict=True):
            game.act(director, text)
        seen = game.observe_builder()

        assert seen.discussion == f"{speakers[1]}: one\n{speakers[2]}: two"
        assert seen.listed == game.state().listed
        assert seen.board == game.state().board

    def test_without_oracle_the_builder_is_shown_no_candidates(self) -> None:
        """They are recorded all the same."""
        game = Game(SMALL_TARGET, GameSettings(oracle=False))
        assert (game.observe_builder().listed, len(game.state().candidates)) == ((), 2)

    def test_every_agent_can_observe(self) -> None:
        """One entry point for all agents gives what the special ones give."""
        game = Game(SMALL_TARGET)
        seen = [game.observe(agent) for agent in AGENTS]
        assert seen == [*(game.observe_director(name) for name in ("D1", "D2", "D3")), game.observe_builder()]


def test_history_has_messages_confirmation_and_result() -> None:
    """One line a call, also for a missing message, then what the builder said and what the engine did."""
    game = Game(SMALL_TARGET)
    speakers = game.state().speakers
    for director in speakers:
        game.act(director, "")
    record = game.act("builder", "PLACE:gl:(0,0):0:(0,1):CONFIRM:sure")
    assert record is not None
    board = json.dumps(record.board_after.structure_json())

    assert record.history == (
        *(f"{director}: {NO_MESSAGE}" for director in speakers),
        "Builder: sure",
        f"Builder: Placed gl at (0,0)↔(0,1) layer 0. Current board: {board}",
    )


def test_long_histories_are_cut_between_turns() -> None:
    """More than 50 lines become the last 40; the record of the turn still has them all."""
    game = Game(SMALL_TARGET)
    lengths = [len(play_turn(game, "REMOVE:(0,0):0:CONFIRM:x").history) for _ in range(12)]

    assert lengths == [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 45]
    assert trimmed([str(number) for number in range(51)]) == tuple(str(number) for number in range(11, 51))


@pytest.mark.parametrize("wrong", ["max_turns", "num_oracle"])
def test_impossible_settings_are_refused(wrong: str) -> None:
    """A game needs a turn and, with the oracle, a candidate to show."""
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        GameSettings.model_validate({wrong: 0})
