"""Grammar, ids, generator, knowledge and verifiers of the Einstein engine, by hand-worked cases and properties."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share, action_type, parse_action, parse_answer, write_answer
from games.einstein.engine.puzzle import (
    COMMON,
    DESTINATIONS,
    ActionMode,
    ContradictionError,
    Grounding,
    Item,
    Modes,
    Puzzle,
    Relation,
    RelationKind,
    bin_at_offset,
    generate,
    infer_goals,
    optimum_mode,
    parse_game_id,
    relation,
    relation_between,
)
from games.einstein.engine.table import RULES, RulesName, Setting, Table, advance, bits, closure, start_table
from games.einstein.replay import Verifier, choose, is_valid, verify
from schemas.common.errors import BadInputError, UsageError
from tests.places import ROOT

PUZZLE = parse_game_id("4_0022_2130_0010_120")
PUZZLES = tuple(generate(count=30, seed=11))


@pytest.mark.parametrize(
    ("modes", "yardstick"), [(("seek", "seek"), "seek"), (("none", "none"), "none"), (("seek", "provide"), "provide_seek")]
)
def test_a_pair_is_measured_by_its_own_actions(modes: Modes, yardstick: ActionMode) -> None:
    """A mixed one by all actions (formats/einstein.md, section 9)."""
    assert optimum_mode(modes) == yardstick


def setting(mode: ActionMode = "provide_seek", rules: RulesName = "sane") -> Setting:
    return Setting(PUZZLE, (mode, mode), RULES[rules])


def after(where: Setting, *actions: Action | None) -> Table:
    table = start_table(where.puzzle)
    for action in actions:
        table = advance(where, table, action).table
    return table


def test_objects_in_their_goal_bins_are_counted() -> None:
    """None at the start of the example game, all where each lies in its goal, two where two do."""
    start = start_table(PUZZLE)
    halfway = (*PUZZLE.goals[:2], *PUZZLE.starts[2:])
    tables = (start, replace(start, positions=halfway), replace(start, positions=PUZZLE.goals))
    assert [table.correct(PUZZLE) for table in tables] == [0, 2, 4]


# -- grammar -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("pass", Pass()),
        ("ask block3", Ask(3)),
        ("ask   block 3", Ask(3)),
        ("share (block2, block1, same, row)", Share(Relation(1, 2, "row"))),
        ("share  ( block0 ,in,top_left_bin )", Share(Grounding(0, "top_left_bin"))),
        ("move  block30 from\tcommonbin to player2_bin", Move(30, "commonbin", "player2_bin")),
    ],
)
def test_forms_that_are_read(text: str, action: Action) -> None:
    """Spaces are free inside items and between words, the order of two objects has no meaning."""
    assert parse_action(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Pass",
        "pass.",
        "pass the turn",
        "ask",
        "askblock3",
        "ask block31",
        "ask block-1",
        "ask blocks",
        "Ask block1",
        "share block1 block2 row",
        "share (block1, block2, row)",
        "share (block1, block2, same, corner)",
        "share (block1, on, commonbin)",
        "share (block1, in, common_bin)",
        "share (block1, block2, same, row).",
        "move block1 to commonbin",
        "move block 1 from commonbin to top_left_bin",
        "move block1 from common_bin to top_left_bin",
        "move block1 from commonbin to top_left_bin, then pass",
        "Move block1 from commonbin to top_left_bin",
        "take block1 from commonbin to top_left_bin",
    ],
)
def test_forms_that_are_not_read(text: str) -> None:
    """The grammar is strict: case, punctuation and words count."""
    assert parse_action(text) is None
    assert action_type(parse_action(text)) == "invalid"


@pytest.mark.parametrize(
    ("text", "action", "reasoning"),
    [
        ("assistant\n\n<THINK>so\nit is</THINK><ACTION>\npass\n</ACTION><|eot_id|>", Pass(), "so\nit is"),
        ("<ACTION>pass</ACTION><ACTION>ask block1</ACTION>", Pass(), None),
        ("<action>pass</action>", None, None),
        ("<ACTION>pass", None, None),
        ("pass", None, None),
    ],
)
def test_first_tag_pair_counts(text: str, action: Action | None, reasoning: str | None) -> None:
    """Tags are case-sensitive, the first complete pair counts, the rest is ignored."""
    answer = parse_answer(text)

    assert (answer.action, answer.reasoning) == (action, reasoning)


@given(st.text(max_size=80))
def test_any_text_is_an_answer(text: str) -> None:
    """No text stops the parser."""
    assert action_type(parse_answer(text).action) in ("move", "share", "ask", "pass", "invalid")


@given(
    st.one_of(
        st.builds(Move, st.integers(0, 30), st.sampled_from(DESTINATIONS), st.sampled_from(DESTINATIONS)),
        st.builds(Ask, st.integers(0, 30)),
        st.builds(lambda a, b, kind: Share(relation(a, b, kind)), st.integers(0, 30), st.integers(0, 30), st.sampled_from(["row", "bin"])),
        st.builds(Share, st.builds(Grounding, st.integers(0, 30), st.sampled_from(DESTINATIONS))),
        st.just(Pass()),
    )
)
def test_written_actions_are_read_back(action: Action) -> None:
    """What ``text`` writes, the grammar reads."""
    assert parse_answer(write_answer(action.text, "because")).action == action


# -- ids and generator ---------------------------------------------------------------------------


def test_example_id_of_the_specification() -> None:
    """Section 3 spells this game out."""
    assert PUZZLE.starts == ("player1_bin", "player1_bin", "player2_bin", "player2_bin")
    assert PUZZLE.goals == ("top_right_bin", "bottom_left_bin", "bottom_right_bin", "top_left_bin")
    assert PUZZLE.items == (Grounding(0, "top_right_bin"), Relation(0, 1, "diagonal"), Relation(1, 2, "row"), Relation(0, 3, "row"))
    assert PUZZLE.holders == ((0, 1), (0, 1), (1,), (0,))


@pytest.mark.parametrize("written", ["a/b/4_0022_2130_0010_120_07.pkl", "4_0022_2130_0010_120_00", "x/4_0022_2130_0010_120.json"])
def test_folders_suffix_and_ending_do_not_matter(written: str) -> None:
    """The id is the first five parts of the last path part."""
    assert parse_game_id(written) == PUZZLE


@pytest.mark.parametrize(
    "written",
    ["", "4_0022_2130_0010", "7_0_0_0_0", "4_0012_2130_0010_120", "4_0022_213_0010_120", "4_0022_2130_0030_120", "4_0022_2130_1010_120"],
)
def test_bad_ids_are_refused(written: str) -> None:
    """Wrong length, wrong digit, an anchor that is not earlier."""
    with pytest.raises(BadInputError):
        parse_game_id(written)


def test_generated_puzzles_keep_the_promises_of_the_data_set() -> None:
    """Four bins used, at most two objects in each, balanced starts, each of the three ways to give a relation in use."""
    for puzzle in PUZZLES:
        assert {1, 2} >= {puzzle.goals.count(name) for name in DESTINATIONS}
        assert abs(puzzle.starts.count("player1_bin") - puzzle.starts.count("player2_bin")) == puzzle.num_objects % 2
        assert {(0,), (0, 1), (1,)} == set(puzzle.holders[1:])
        assert puzzle.holders[0] == (0, 1)
    assert {puzzle.num_objects for puzzle in PUZZLES} == {4, 5, 6}


@pytest.mark.long
def test_generator_does_not_depend_on_the_hash_seed() -> None:
    """Two processes with different hash seeds draw the same ids and plan the same solution."""
    script = (
        "from games.einstein.engine.puzzle import generate\nfrom games.einstein.measures import plan\n"
        "for p in generate(count=6, seed=5):\n    print(p.game_id, [a.text for a in plan(p, 'provide_seek').actions])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 6


def test_sizes_that_do_not_exist_are_refused() -> None:
    """Puzzles have 4, 5 or 6 objects."""
    with pytest.raises(UsageError, match="4, 5 or 6"):
        next(generate(count=1, seed=0, num_objects=(3,)))


# -- knowledge -----------------------------------------------------------------------------------


def test_composition_table() -> None:
    """The table of section 2, row by row: what holds from A to B, then from B to C, holds from A to C."""
    kinds: tuple[RelationKind, ...] = ("bin", "row", "column", "diagonal")
    table = {
        "bin": ("bin", "row", "column", "diagonal"),
        "row": ("row", "bin", "diagonal", "column"),
        "column": ("column", "diagonal", "bin", "row"),
        "diagonal": ("diagonal", "column", "row", "bin"),
    }
    start = DESTINATIONS[0]
    found = {
        first: tuple(relation_between(start, bin_at_offset(bin_at_offset(start, first), second)) for second in kinds) for first in kinds
    }
    assert found == table


def test_every_pair_of_bins_has_one_relation() -> None:
    """Row means same row and another column, and so on; going along the relation leads back to the bin."""
    assert relation_between("top_left_bin", "top_right_bin") == "row"
    assert relation_between("top_left_bin", "bottom_left_bin") == "column"
    assert relation_between("top_left_bin", "bottom_right_bin") == "diagonal"
    for one, other in combinations(DESTINATIONS, 2):
        assert bin_at_offset(one, relation_between(one, other)) == other


@given(st.sampled_from(PUZZLES), st.integers(0, 63), st.integers(0, 63))
def test_fast_closure_equals_the_general_one(puzzle: Puzzle, items: int, placed: int) -> None:
    """Bit masks and the graph of constraints know the same objects, and never a false goal."""
    everything = (1 << puzzle.num_objects) - 1
    explicit: list[Item] = [puzzle.items[index] for index in bits(items & everything)]
    seen = [Grounding(block, puzzle.goals[block]) for block in bits(placed & everything)]

    goals = infer_goals([*explicit, *seen])

    assert set(goals) == set(bits(closure(puzzle, items & everything, placed & everything)))
    assert all(puzzle.goals[block] == goal for block, goal in goals.items())


def test_contradicting_items_are_noticed() -> None:
    """Invented items can contradict: one object, two bins."""
    with pytest.raises(ContradictionError, match="block1"):
        infer_goals([Grounding(0, "top_left_bin"), Relation(0, 1, "row"), Grounding(1, "top_left_bin")])


# -- verifiers -----------------------------------------------------------------------------------

HERE = Move(1, "player1_bin", "bottom_left_bin")
FAR = Move(1, "player1_bin", "top_left_bin")
STALE = Move(1, "commonbin", "bottom_left_bin")
DETOUR = Move(1, "player1_bin", "commonbin")
OWNED = Share(Relation(0, 3, "row"))
MADE_UP = Share(Relation(2, 3, "bin"))


@pytest.mark.parametrize(
    ("verifier", "rules", "valid", "rejected"),
    [
        ("affordance", "sane", [HERE, DETOUR, OWNED, MADE_UP, Ask(0), Pass()], [FAR, STALE, Move(9, "player1_bin", "commonbin"), None]),
        ("affordance", "published", [HERE, DETOUR, OWNED, MADE_UP, Ask(0), Pass(), None], [FAR, STALE]),
        ("communication", "sane", [HERE, FAR, STALE, OWNED, Ask(2), Pass()], [MADE_UP, None]),
        ("communication", "published", [HERE, FAR, STALE, OWNED, Ask(2), Ask(0), Pass()], [MADE_UP, None]),
        ("reasoning", "sane", [HERE, OWNED, Ask(2)], [FAR, STALE, DETOUR, MADE_UP, Ask(0), Pass(), None]),
        ("reasoning", "published", [HERE, OWNED, Ask(2)], [FAR, STALE, DETOUR, MADE_UP, Ask(0), Pass(), None]),
    ],
)
def test_what_each_verifier_lets_pass(
    verifier: Verifier, rules: RulesName, valid: list[Action | None], rejected: list[Action | None]
) -> None:
    """Player1's first step of the example game, action by action (section 7)."""
    where = setting(rules=rules)
    table = start_table(PUZZLE)

    assert [True] * len(valid) == [is_valid(verifier, where, table, action) for action in valid]
    assert [False] * len(rejected) == [is_valid(verifier, where, table, action) for action in rejected]


@pytest.mark.parametrize(("rules", "valid"), [("sane", False), ("published", True)])
def test_asks_about_placed_objects(rules: RulesName, valid: bool) -> None:  # noqa: FBT001
    """The published communication verifier compares an object with bins and never rejects an ask."""
    where = setting(rules=rules)

    assert is_valid("communication", where, after(where, HERE), Ask(1)) is valid


@pytest.mark.parametrize(("rules", "valid"), [("sane", True), ("published", False)])
def test_replies_of_a_seek_only_player(rules: RulesName, valid: bool) -> None:  # noqa: FBT001
    """The published reasoning verifier rejects every reply in mode seek."""
    where = setting("seek", rules)

    assert is_valid("reasoning", where, after(where, Ask(2)), Share(Relation(1, 2, "row"))) is valid


def test_communication_verifier_without_communication() -> None:
    """In mode none the published one stops; the sane one rejects all communication."""
    table = start_table(PUZZLE)
    with pytest.raises(UsageError, match="mode none"):
        is_valid("communication", setting("none", "published"), table, HERE)
    assert is_valid("communication", setting("none", "published"), table, Pass())
    assert not is_valid("communication", setting("none"), table, OWNED)
    assert is_valid("communication", setting("none"), table, HERE)


@pytest.mark.parametrize(
    ("costs", "actions", "wanted"),
    [
        ((0, 1, 1, 1), (Pass(),) * 4, (0, 0, 0, False)),
        ((2, 1, 0, 0), (Ask(0), FAR, HERE, HERE), (2, 2, 3, True)),
        ((1, 0, 2, 1), (FAR, None, Ask(0), FAR), (1, 1, 4, True)),
        ((2, 1, 2, 1), (Ask(0), FAR, Ask(0), FAR), (1, 3, 6, False)),
    ],
    ids=["first passes", "third passes", "an unreadable one passes", "none passes"],
)
def test_choice_among_candidates(costs: tuple[int, ...], actions: tuple[Action | None, ...], wanted: tuple[int, int, int, bool]) -> None:
    """The four rules at the end of section 7: executed, used trials, costs spent, corrected."""
    found = choose(costs, actions)

    assert (found.executed, found.used_trials, found.sum_err, found.corrected) == wanted


def test_verifier_corrects_the_first_answer() -> None:
    """Two bad candidates, one ask among them, then a good one."""
    found = verify("reasoning", setting(), start_table(PUZZLE), [Ask(0), FAR, HERE, HERE])

    assert (found.executed, found.costs, found.sum_err, found.corrected) == (2, (2, 1, 0, 0), 3, True)


def test_no_candidates_is_an_error() -> None:
    """There is nothing to choose from."""
    with pytest.raises(UsageError, match="at least one"):
        choose((), ())


def test_what_is_no_share_and_no_id_is_refused() -> None:
    """A parenthesis that is missing on one side; an anchor that is the object itself."""
    text = Share(PUZZLE.items[0]).text
    assert parse_action(text) == Share(PUZZLE.items[0])
    assert parse_action(f"{text[:-1]}]") is None
    assert parse_action(text.replace("(", "[", 1)) is None
    with pytest.raises(BadInputError, match="must be an earlier object"):
        parse_game_id("4_0022_2130_0120_120")


def test_each_player_keeps_the_flags_of_its_own_turn_and_both_those_of_what_is_told() -> None:
    """Random play: nobody has seen a placement at the start, and what a step flags is the acting player's."""
    random = Random(5)
    differ = 0
    for puzzle in PUZZLES:
        where, table = Setting(puzzle, ("provide_seek", "provide_seek"), RULES["sane"]), start_table(puzzle)
        assert (table.placed, table.flags) == (0, (0, 0))
        for _ in range(12):
            tried: list[Action] = [Move(b, table.positions[b], to) for b in range(puzzle.num_objects) for to in (COMMON, puzzle.goals[b])]
            found = advance(where, table, random.choice([*tried, *map(Share, puzzle.items)]))
            told = found.table.shared & ~table.shared
            assert found.table.flags[table.player] == found.options.flags | told
            assert found.table.flags[1 - table.player] == table.flags[1 - table.player] | told
            table = found.table
            differ += table.flags[0] != table.flags[1]
    assert differ > 0
