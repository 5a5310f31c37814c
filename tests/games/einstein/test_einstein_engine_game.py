"""The Einstein environment: turn order, walls around the players, prompts, ends, the two readings of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from games.einstein.engine.actions import Ask, Move, Pass, Share
from games.einstein.engine.puzzle import ACTION_MODES, ActionMode, Grounding, Relation, parse_game_id
from games.einstein.engine.table import RulesName, bin_contents, goal_json, items_of, table_json
from games.einstein.game import AGENTS, Game, GameSettings
from games.einstein.measures import plan
from games.einstein.prompts import HistoryEntry, history_line, read_system_prompt, read_user_prompt, system_prompt
from schemas.common.errors import UsageError
from tests.games.einstein.einstein_data import published_games

PUZZLE = parse_game_id("4_0022_2130_0010_120")
"""Goals: top right, bottom left, bottom right, top left; Player1 holds block0 and block1, Player2 the others."""


def game(rules: RulesName = "sane", mode: ActionMode = "provide_seek", step_limit: int = 30) -> Game:
    return Game(PUZZLE, GameSettings(modes=(mode, mode), rules=rules, step_limit=step_limit))


@pytest.mark.shared
def test_every_published_prompt_shows_the_replayed_state(shared: Path) -> None:
    """Positions, items and history lines of every user message, mode and prompt kind of every system message."""
    for published in published_games(shared):
        puzzle, entries = published.setting.puzzle, published.log["dialog"]
        for step, entry in zip(published.steps, entries, strict=True):
            system, user = (message["content"] for message in entry["dialog"])
            player, table = step.before.player, step.before
            past = [HistoryEntry(old.before.player, old.answer.action, old.outcome.history_ok) for old in published.steps[: step.number]]

            shown = read_user_prompt(user)

            assert (published.setting.modes[0], published.manifest["use_cot"] == "1") == read_system_prompt(system)
            assert player == shown.player
            assert tuple(item.text for item in items_of(puzzle, table, player)) == shown.items
            assert bin_contents(table) == shown.bins
            assert tuple(history_line(old, player, clear=False) for old in past) == shown.history


@pytest.mark.parametrize("mode", ACTION_MODES)
@pytest.mark.parametrize("reasoning", [True, False])
def test_own_system_prompt_tells_its_mode(mode: ActionMode, reasoning: bool) -> None:  # noqa: FBT001
    """The reader of published prompts reads cotrace's own."""
    assert (mode, reasoning) == read_system_prompt(system_prompt(mode, reasoning=reasoning))


def test_own_user_prompt_is_read_back() -> None:
    """What the message shows is what the player may see."""
    played = game()
    played.act("Player1", Move(1, "player1_bin", "commonbin"))
    played.act("Player2", "no tags at all")

    shown = read_user_prompt(played.observe("Player1").user)

    assert shown.player == 0
    assert shown.items == ("(block0, in, top_right_bin)", "(block0, block1, same, diagonal)", "(block0, block3, same, row)")
    assert shown.bins["commonbin"] == ("block1",)
    assert shown.history == (
        "You: move block1 from player1_bin to commonbin, but failed.",
        "Partner: failed, because the form of its answer was wrong",
    )


@pytest.mark.parametrize(
    ("answer", "own", "partners"),
    [
        ("no tags at all", "failed, because the form of your answer was wrong", "failed, because the form of its answer was wrong"),
        ("<ACTION>Pass.</ACTION>", "write one action between <ACTION> and </ACTION>", "failed, because the form of its answer was wrong"),
        (
            "<ACTION>share (block1, block3, same, column)</ACTION>",
            "share (block1, block3, same, column), but failed.",
            "share, but failed.",
        ),
        ("<ACTION>share (block0, block3, same, row)</ACTION>", "share (block0, block3, same, row)", "share (block0, block3, same, row)"),
        ("<ACTION>pass</ACTION>", "pass the turn", "pass the turn"),
    ],
)
def test_the_history_says_what_was_wrong_and_keeps_a_failed_share_from_the_partner(answer: str, own: str, partners: str) -> None:
    """Of the sane rules; the published ones show an unreadable answer as a pass and what a failed share says, as the released code does."""
    played = game()
    played.act("Player1", answer)
    mine, theirs = (read_user_prompt(played.observe(agent).user).history[-1] for agent in AGENTS)
    assert own in mine
    assert theirs.startswith(f"Partner: {partners}")
    if partners == "share, but failed.":
        assert "same, column" not in theirs
    published = game(rules="published")
    published.act("Player1", answer)
    step = published.steps[-1]
    entry = HistoryEntry(0, step.answer.action, step.outcome.history_ok)
    assert read_user_prompt(published.observe("Player2").user).history[-1] == history_line(entry, 1, clear=False)


def test_players_do_not_see_the_partners_items() -> None:
    """The wall: the relation of block1 and block2 is Player2's alone until it is shared."""
    secret = Relation(1, 2, "row")
    played = game()
    assert secret not in played.observe("Player1").items
    assert secret.text not in played.observe("Player1").user

    played.act("Player1", "<THINK>hush</THINK><ACTION>ask block2</ACTION>")
    assert "hush" not in played.observe("Player2").user
    played.act("Player2", Share(secret))

    assert secret == played.observe("Player1").items[-1]


def test_only_the_player_to_move_may_act() -> None:
    """Strict alternation, Player1 first."""
    played = game()
    with pytest.raises(UsageError, match="for Player1 to act"):
        played.act("Player2", Pass())
    played.act("Player1", Pass())
    with pytest.raises(UsageError, match="for Player2 to act"):
        played.act("Player1", Pass())


def test_no_one_acts_after_the_end() -> None:
    """A game at its limit takes no further answer."""
    played = game(step_limit=2)
    played.act("Player1", Pass())
    played.act("Player2", Pass())
    assert (played.done, played.next_agent, played.stop_reason) == (True, None, "step_limit")
    with pytest.raises(UsageError, match="ended after step 2"):
        played.act("Player1", Pass())


@pytest.mark.parametrize(("rules", "success"), [("sane", True), ("published", False)])
def test_solved_in_the_last_step(rules: RulesName, success: bool) -> None:  # noqa: FBT001
    """The paper counts it as solved, the published code does not; one step earlier both do."""
    solution = plan(PUZZLE, "provide_seek").actions
    for limit, wanted in ((len(solution), success), (len(solution) + 1, True)):
        played = game(rules, step_limit=limit)
        for number, action in enumerate(solution):
            played.act(AGENTS[number % 2], action)

        assert (played.stop_reason, played.state().success) == ("solved", wanted)


@pytest.mark.parametrize("rules", ["sane", "published"])
def test_expected_actions_are_accepted_and_shown_as_done(rules: RulesName) -> None:
    """Both readings agree on what follows from knowledge."""
    step = game(rules).act("Player1", Move(0, "player1_bin", "commonbin"))

    assert (step.outcome.accepted, step.outcome.state_changed, step.outcome.history_ok, step.labels) == (True, True, True, ())


@pytest.mark.parametrize(("rules", "accepted"), [("sane", True), ("published", False)])
def test_right_guess_and_pass(rules: RulesName, accepted: bool) -> None:  # noqa: FBT001
    """The table carries a right guess out under both readings; only the published one calls it, and a pass, failed."""
    played = game(rules)
    passed = played.act("Player1", Pass())
    guess = played.act("Player2", Move(3, "player2_bin", "top_left_bin"))

    assert (passed.outcome.accepted, passed.labels) == (accepted, ())
    assert (guess.outcome.accepted, guess.outcome.history_ok, guess.outcome.state_changed) == (accepted, accepted, True)
    assert guess.ext_labels == ("lucky_guess",)


@pytest.mark.parametrize("rules", ["sane", "published"])
def test_wrong_guess_costs_a_step_and_nothing_else(rules: RulesName) -> None:
    """A wrong destination never changes the state."""
    played = game(rules)
    played.act("Player1", Pass())
    step = played.act("Player2", Move(3, "player2_bin", "top_right_bin"))

    assert (step.outcome.accepted, step.outcome.state_changed, step.labels) == (False, False, ("wrong_guess",))


@pytest.mark.parametrize(("mode", "unasked", "reply"), [("provide_seek", True, True), ("provide", True, None), ("seek", False, True)])
def test_who_may_share_when(mode: ActionMode, unasked: bool, reply: bool | None) -> None:  # noqa: FBT001
    """A seek-only player shares only right after an ask, and only about the object asked for."""
    assert game(mode=mode).act("Player1", Share(Relation(0, 3, "row"))).outcome.accepted is unasked
    if reply is None:
        return
    played = game(mode=mode)
    played.act("Player1", Ask(2))
    assert played.act("Player2", Share(Relation(1, 2, "row"))).outcome.accepted is reply
    played = game(mode=mode)
    played.act("Player1", Ask(3))
    beside = played.act("Player2", Share(Relation(1, 2, "row")))
    assert (beside.outcome.accepted, beside.labels) == (mode == "provide_seek", ("wrong_share_after_seek",))


@pytest.mark.parametrize(("mode", "may"), [("provide_seek", True), ("provide", False), ("seek", True), ("none", False)])
def test_who_may_ask(mode: ActionMode, may: bool) -> None:  # noqa: FBT001
    """Only where the action space has seeking."""
    assert game(mode=mode).act("Player1", Ask(2)).outcome.accepted is may


@pytest.mark.parametrize(("rules", "accepted"), [("sane", True), ("published", False)])
def test_reply_of_a_seek_only_player_in_a_mixed_pair(rules: RulesName, accepted: bool) -> None:  # noqa: FBT001
    """The published class for mixed pairs refuses such replies."""
    played = Game(PUZZLE, GameSettings(modes=("provide_seek", "seek"), rules=rules))
    played.act("Player1", Ask(2))

    assert played.act("Player2", Share(Relation(1, 2, "row"))).outcome.accepted is accepted


def test_sharing_twice_is_refused_and_named() -> None:
    """A shared item is flagged for both, whoever repeats it."""
    item = Relation(0, 3, "row")
    played = game()
    assert played.act("Player1", Share(item)).labels == ()

    again = played.act("Player2", Share(item))

    assert (again.outcome.accepted, again.labels) == (False, ("redundant_sharing",))


def test_true_but_inferred_items_cannot_be_shared() -> None:
    """Only explicit items can: the goal of block1 follows for Player1, but was never given."""
    step = game().act("Player1", Share(Grounding(1, "bottom_left_bin")))

    assert (step.outcome.accepted, step.ext_labels) == (False, ("share_not_owned",))


def test_seeded_game_is_the_same_twice() -> None:
    """Same seed, same puzzle; another seed, another one."""
    one, two, other = (Game.drawn(seed=seed, num_objects=6).puzzle.game_id for seed in (3, 3, 4))

    assert one == two != other


def test_several_answers_need_a_verifier() -> None:
    """Without one nobody chooses."""
    with pytest.raises(UsageError, match="no verifier to choose"):
        game().act("Player1", ["<ACTION>pass</ACTION>"] * 2)


def test_state_and_goal_as_logs_and_pages_have_them() -> None:
    """Bins by name, and of each player what it was given or told and what follows from it."""
    bins = dict.fromkeys(
        ("top_left_bin", "player2_bin", "top_right_bin", "commonbin", "bottom_left_bin", "player1_bin", "bottom_right_bin")
    )
    solved = {"top_left_bin": ["block3"], "top_right_bin": ["block0"], "bottom_left_bin": ["block1"], "bottom_right_bin": ["block2"]}
    assert goal_json(PUZZLE) == {"bins": {name: solved.get(name, []) for name in bins}}
    played = game()
    played.act("Player1", Share(Relation(0, 3, "row")))
    given = ["(block0, in, top_right_bin)", "(block0, block1, same, diagonal)"]
    goals = {"block0": "top_right_bin", "block1": "bottom_left_bin"}
    assert table_json(PUZZLE, played.state().table) == {
        "bins": {name: {"player1_bin": ["block0", "block1"], "player2_bin": ["block2", "block3"]}.get(name, []) for name in bins},
        "knowledge": {
            "Player1": {"items": [*given, "(block0, block3, same, row)"], "infers": {**goals, "block3": "top_left_bin"}},
            "Player2": {
                "items": [*given, "(block1, block2, same, row)", "(block0, block3, same, row)"],
                "infers": {**goals, "block2": "bottom_right_bin", "block3": "top_left_bin"},
            },
        },
    }
