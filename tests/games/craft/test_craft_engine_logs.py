"""The engine against published logs: what it recomputes must be what they hold."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from games.craft.engine.board import Board, ViewKind, all_views, views_json
from games.craft.engine.rules import Move, code_of, execute, same_message, sample
from games.craft.game import ReplayedTurn, replay
from games.craft.measures import METRICS, followed_action_position_layer, followed_full, followed_physical, published_category
from games.craft.targets import load_structures, structure_facts
from games.craft.text.prompts import archetypes, discussion, result_line
from games.craft.text.replies import parse_director

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.shared


@dataclass(frozen=True)
class LoggedGame:
    """A log beside its replay."""

    key: tuple[str, ...]
    """Condition (empty for engine games), director model, structure, run: as in the reference files."""
    info: dict[str, Any]
    record: dict[str, Any]
    target: Board
    replayed: list[ReplayedTurn]

    def turns(self) -> Iterator[tuple[dict[str, Any], ReplayedTurn]]:
        """Pair every logged turn with its replay."""
        return zip(self.record.get("turns", []), self.replayed, strict=True)

    def listed(self, turn: ReplayedTurn) -> Sequence[Move]:
        """The candidates that the builder was shown: of an oracle game, a sample of all."""
        return sample(turn.candidates, self.info["num_oracle"], turn.turn) if self.info["use_oracle"] else ()


@pytest.fixture(scope="module")
def games(shared: Path) -> list[LoggedGame]:
    """All games played on the published engine, and the published real logs."""
    paths = sorted(shared.glob("data/craft/engine_games/*/*.json")) + sorted(shared.glob("data/craft/craft_results/**/*.json"))
    found = [_logged_game(path) for path in paths]
    assert len(found) == 95
    return found


def _logged_game(path: Path) -> LoggedGame:
    log = json.loads(path.read_bytes())
    info, record = log["experiment_info"], log["games"][0]
    condition = () if "engine_games" in path.parts else ("/".join(path.parts[-4:-2]),)
    key = (*condition, path.parent.name.split("_")[0], record["structure_id"], str(info["run"]))
    turns = record.get("turns")
    if not turns:
        return LoggedGame(key, info, record, Board(), [])
    start = Board.from_json(turns[0]["structure_before"], turns[0]["spans_before"])
    target = Board.from_json(record["target_structure"], record["target_spans"])
    moves = [Move.from_log(turn["builder_move_raw"]) if "builder_move_raw" in turn else None for turn in turns]
    return LoggedGame(key, info, record, target, list(replay(start, target, moves)))


def _where(game: LoggedGame, turn: ReplayedTurn) -> str:
    return f"{'/'.join(game.key)} turn {turn.turn}"


def test_every_board_is_reproduced_ghost_cells_and_spans_included(games: list[LoggedGame]) -> None:
    """Replaying the written moves from the start board gives every logged board to the letter."""
    wrong = [
        _where(game, turn)
        for game in games
        for logged, turn in game.turns()
        if turn.board_before.structure_json(ghosts=True) != logged["structure_before"]
        or turn.board_before.spans_json() != logged["spans_before"]
    ]
    assert wrong == []


def test_logs_with_ghost_cells_are_among_them(games: list[LoggedGame]) -> None:
    """The comparison above covers boards with a tenth key."""
    assert sum(bool(turn.board_before.ghosts) for game in games for turn in game.replayed) > 20


def test_every_candidate_list_is_reproduced_in_order(games: list[LoggedGame]) -> None:
    """Wherever the builder was shown candidates, replay and sampling give the same list."""
    shown = [(game, logged, turn) for game in games for logged, turn in game.turns() if "oracle_moves" in logged]
    wrong = [_where(game, turn) for game, logged, turn in shown if [move.to_log() for move in game.listed(turn)] != logged["oracle_moves"]]
    assert wrong == []
    assert len(shown) > 1500


def test_no_candidates_are_found_where_an_oracle_game_shows_none(games: list[LoggedGame]) -> None:
    """A turn with a move and an oracle but without a list is a turn without candidates."""
    found = [
        _where(game, turn)
        for game in games
        if game.info["use_oracle"]
        for logged, turn in game.turns()
        if "move_attempted" in logged and "oracle_moves" not in logged and turn.candidates
    ]
    assert found == []


def test_every_move_is_accepted_or_refused_with_the_logged_message(games: list[LoggedGame]) -> None:
    """Verdict and error text agree on every attempted move."""
    attempts = [(game, logged, turn) for game in games for logged, turn in game.turns() if "move_attempted" in logged]
    wrong = [
        _where(game, turn)
        for game, logged, turn in attempts
        if turn.accepted != logged["move_executed"]
        or not same_message(turn.error.message if turn.error else "", logged["progress_data"].get("error", ""))
    ]
    assert wrong == []


def test_logged_messages_are_recognised_as_the_code_that_made_them(games: list[LoggedGame]) -> None:
    """Reading a logged text gives the code of the check that refuses the move in replay."""
    refused = [(logged, turn) for game in games for logged, turn in game.turns() if logged.get("failed_move")]
    assert [turn.error.code for _, turn in refused if turn.error] == [code_of(logged["progress_data"]["error"]) for logged, _ in refused]


def test_moves_are_tidied_as_the_engine_logs_them(games: list[LoggedGame]) -> None:
    """Coordinates lose their blanks and removals gain their block exactly where the log says so."""
    wrong = [
        _where(game, turn)
        for game in games
        for logged, turn in game.turns()
        if "move_attempted" in logged and turn.attempted != Move.from_log(logged["move_attempted"])
    ]
    assert wrong == []


def test_every_logged_metric_and_flag_is_reproduced(games: list[LoggedGame]) -> None:
    """All numbers of progress_data and the three flags agree on every accepted move."""
    for game in games:
        for logged, turn in game.turns():
            if not logged.get("move_executed"):
                assert turn.flags is None
                continue
            assert turn.flags is not None
            for flag in ("correct_structure_placement", "correct_side_placement", "overall_structure_correctness"):
                assert getattr(turn.flags, flag) is logged[flag], (_where(game, turn), flag)
            for name, value in logged["progress_data"]["metrics"].items():
                assert getattr(turn.metrics, name) == pytest.approx(value, abs=1e-12), (_where(game, turn), name)


def test_target_views_and_archetypes_are_those_of_the_logs(games: list[LoggedGame]) -> None:
    """Span-aware views of the target, and the personalities drawn for the structure and run."""
    for game in games:
        if "turns" not in game.record:
            continue
        assert views_json(all_views(game.target)) == game.record["target_director_views"]
        logged = {director: game.record[f"{director} Archetype"] for director in ("D1", "D2", "D3")}
        assert archetypes(game.info["structure_index"], game.info["run"]) == logged


def test_every_director_answer_is_read_as_the_logs_have_it(games: list[LoggedGame]) -> None:
    """Reasoning and message come out of the raw text; failed calls have no raw text to read."""
    for game in games:
        for logged, turn in game.turns():
            for director, response in logged["director_responses"].items():
                if response["internal_thinking"].startswith("Error in generation"):
                    continue
                answer = parse_director(response["raw_response"])
                assert (answer.thinking, answer.message) == (response["internal_thinking"], response["public_message"]), (
                    _where(game, turn),
                    director,
                )


def test_history_lines_are_written_as_in_the_snapshots(games: list[LoggedGame]) -> None:
    """The last line of a snapshot is what result_line writes for the move, board included."""
    for game in games:
        for logged, turn in game.turns():
            if "builder_move_raw" not in logged or "conversation_snapshot" not in logged:
                continue
            line = result_line(execute(turn.board_before, Move.from_log(logged["builder_move_raw"])))
            assert same_message(line, logged["conversation_snapshot"][-1]), _where(game, turn)


def test_discussion_of_single_calls_is_what_the_builder_saw(games: list[LoggedGame]) -> None:
    """Where every director spoke once, the messages joined line by line are the logged discussion."""
    compared = 0
    for game in games:
        for logged, turn in game.turns():
            if len(logged["director_responses"]) < 3 or "director_discussion_full" not in logged:
                continue
            answers = [
                (director, parse_director(response["raw_response"]))
                for director, response in logged["director_responses"].items()
                if response["raw_response"]
            ]
            if len(answers) == 3:
                compared += 1
                assert discussion(answers) == logged["director_discussion_full"], _where(game, turn)
    assert compared > 100


# -- the reference tables -------------------------------------------------------------------------


def _row(game: LoggedGame, turn: ReplayedTurn, logged: dict[str, Any]) -> dict[str, object]:
    """Give the columns of the reference turn tables that follow from the replay."""
    move = turn.attempted
    listed = game.listed(turn) if move is not None else ()
    readings = {"logged": followed_action_position_layer, "full": followed_full, "physical": followed_physical}
    flags = turn.flags
    return {
        "clarify": "clarification" in logged,
        "action": move and move.action,
        "block": move and move.block,
        "position": move and move.position,
        "layer": move and move.layer,
        "span_to": move and move.span_to,
        "move_executed": turn.accepted if "move_executed" in logged else None,
        "failed_move": None if move is None else turn.error is not None,
        "error_category": turn.error and turn.error.category,
        "oracle_available": bool(listed),
        "n_oracle": len(listed),
        "n_oracle_replayed": len(turn.candidates),
        "attempted_remove": move and move.action == "remove",
        **{f"followed_{name}": followed(listed, move) if listed and move else None for name, followed in readings.items()},
        "taxonomy_code": published_category(listed, move, turn.error.message if turn.error else None),
        "correct_structure_placement": flags and flags.correct_structure_placement,
        "correct_side_placement": flags and flags.correct_side_placement,
        "overall_structure_correctness": flags and flags.overall_structure_correctness,
        "target_achieved": turn.target_achieved if "target_achieved" in logged else None,
        "board_changed": turn.accepted,
    } | {name: getattr(turn.metrics, name) for name in METRICS}


def _same(expected: str, got: object) -> bool:
    if isinstance(got, float):
        return abs(float(expected) - got) <= 1e-6
    return expected == ("" if got is None else str(got))


@pytest.mark.parametrize(
    ("table", "keys", "turns"),
    [
        ("craft_engine_turns_expected.csv", ("model", "structure_id", "run", "turn"), 1724),
        ("craft_real_logs_turns_expected.csv", ("condition", "model", "structure_id", "run", "turn"), 15),
    ],
)
def test_every_reference_turn_equals_the_replay(games: list[LoggedGame], shared: Path, table: str, keys: Sequence[str], turns: int) -> None:
    """Every engine-derived column of every row of the reference turn tables."""
    replayed = {(*game.key, str(turn.turn)): _row(game, turn, logged) for game in games for logged, turn in game.turns()}
    with (shared / "reference" / table).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    wrong = []
    for row in rows:
        key = tuple(row[name] for name in keys)
        wrong += [(key, name, row[name], got) for name, got in replayed[key].items() if not _same(row[name], got)]
    assert wrong == []
    assert len(rows) == turns


def test_every_fact_of_the_published_targets_is_reproduced(shared: Path) -> None:
    """All columns of the structure table: counts, forbidden dominoes, views, ceilings."""
    structures = load_structures(shared / "data/craft/structures_dataset_20.json")
    with (shared / "reference/craft_structures_expected.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    facts = [structure_facts(structure) for structure in structures]
    wrong = [
        (fact.structure_id, name, expected, getattr(fact, name))
        for row, fact in zip(rows, facts, strict=True)
        for name, expected in row.items()
        if not _same(expected, getattr(fact, name))
    ]
    assert wrong == []


def test_stored_views_are_of_the_kind_each_dataset_was_made_with(shared: Path) -> None:
    """The 20 structures store flat views, the 100 structures span-aware ones."""
    kinds: dict[str, ViewKind] = {"structures_dataset_20.json": "flat", "structures_dataset_v2.json": "spans"}
    for name, kind in kinds.items():
        path = shared / "data/craft" / name
        stored = [entry["director_views"] for entry in json.loads(path.read_bytes())]
        views = [views_json(all_views(structure.target, kind)) for structure in load_structures(path)]
        assert views == stored
