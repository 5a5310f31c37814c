"""Small published CRAFT logs, made by the engine, for tests that then damage them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from games.craft.engine.board import EMPTY_BOARD, Board, all_views, views_json
from games.craft.engine.rules import Move, candidates, execute, placement_flags, sample
from games.craft.measures import followed_action_position_layer, progress
from games.craft.text.prompts import result_line
from games.craft.text.replies import director_text

Json = dict[str, Any]

TARGET = Board.from_json(
    {
        "(0,0)": ["gs", "bl"],
        "(0,1)": ["rs", "bl"],
        "(0,2)": ["ys"],
        "(1,0)": ["ol"],
        "(1,1)": [],
        "(1,2)": ["rs"],
        "(2,0)": ["ol"],
        "(2,1)": ["gs"],
        "(2,2)": ["bs"],
    },
    {"0": [["(1,0)", "(2,0)"]], "1": [["(0,0)", "(0,1)"]]},
)
"""A small target with one large block on D1's wall and one on D2's."""

MOVES: tuple[Move | None, ...] = (
    Move("place", "gs", "(0,0)", 0),
    Move("place", "rs", "(0,0)", 0),  # refused: the layer is taken
    None,  # a question
    Move("place", "rs", "(0,1)", 0),
    Move("remove", None, "(0,1)", 0),
)


def published(moves: tuple[Move | None, ...] = MOVES, **experiment: object) -> Json:
    """A log as the published code writes it, of a game in the oracle condition."""
    info: Json = {
        "timestamp": "20260406_134840",
        "dataset_path": "data/structures_dataset_20.json",
        "structure_index": 0,
        "max_turns": 5,
        "models": {"director": "some-model", "builder": "other-model"},
        "use_oracle": True,
        "num_oracle": 5,
        "builder_tool_use": False,
        "use_common_ground": False,
        "run": 3,
        "max_tokens": 2000,
        "partial_completion": "empty",
    }
    return {"experiment_info": info | experiment, "games": [_game(moves)]}


def write(path: Path, log: Json) -> Path:
    """Write a log; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(log, indent=2))
    return path


def _game(moves: tuple[Move | None, ...]) -> Json:
    board = EMPTY_BOARD
    history: list[str] = []
    turns: list[Json] = []
    for number, move in enumerate(moves, start=1):
        turn, board = _turn(number, move, board, history)
        _add_delta(turn, turns)
        turns.append(turn)
    end = progress(board, TARGET)
    return {
        "structure_id": "structure_001",
        "structure_idx": 0,
        "complexity": "simple",
        "target_structure": TARGET.structure_json(),
        "target_spans": TARGET.spans_json(),
        "target_director_views": views_json(all_views(TARGET)),
        "completed": False,
        "turns_taken": len(turns),
        "final_progress": end.overall_progress,
        "final_structure": board.structure_json(ghosts=True),
        "stopping_reason": "max_turns_reached",
        "partialCompletion": True,
        "partialCompletionCategory": "empty",
        "D1 Archetype": "synthesizer",
        "D2 Archetype": "assertive",
        "D3 Archetype": "skeptical",
        "turns": turns,
        "final_spans": board.spans_json(),
        "progress_summary": {"message": "No progress tracked yet"},
        "an_odd_number": float("inf"),
    }


def _turn(number: int, move: Move | None, board: Board, history: list[str]) -> tuple[Json, Board]:
    history += [f"D2: words {number}a", f"D1: words {number}", f"D2: words {number}b"]
    answers = {"D2": f"words {number}b", "D1": f"words {number}"}
    turn: Json = {
        "turn_number": number,
        "timestamp": "2026-04-06 13:48:40",
        "structure_before": board.structure_json(ghosts=True),
        "spans_before": board.spans_json(),
        "director_responses": {
            director: {
                "internal_thinking": f"thoughts of {director}",
                "public_message": text,
                "raw_response": director_text(f"thoughts of {director}", text),
            }
            for director, text in answers.items()
        },
        "move_executed": False,
        "target_achieved": False,
    }
    if move is None:
        turn["clarification"] = " which one?"
        history.append("Builder:  which one?")
        return turn | {"conversation_snapshot": list(history)}, board
    outcome = execute(board, move)
    listed = sample(candidates(board, TARGET), 5, number)
    turn |= {
        "builder_confirmation": "done",
        "builder_move_raw": move.to_log(),
        "move_attempted": outcome.move.to_log(),
        "move_executed": outcome.accepted,
        "failed_move": not outcome.accepted,
        "oracle_moves": [candidate.to_log() for candidate in listed],
        "builder_followed_oracle": followed_action_position_layer(listed, outcome.move),
        "progress_data": {"error": outcome.error.message} if outcome.error else _progress(outcome.board),
    }
    if outcome.accepted:
        turn |= asdict(placement_flags(outcome, TARGET))
    history += ["Builder: done", result_line(outcome)]
    return turn | {"conversation_snapshot": list(history)}, outcome.board


def _progress(board: Board) -> Json:
    return {"metrics": asdict(progress(board, TARGET)), "progress_delta": 0, "structure_snapshot": board.structure_json(ghosts=True)}


def _add_delta(turn: Json, before: list[Json]) -> None:
    """Progress since the accepted move before."""
    reached = [past["progress_data"]["metrics"]["overall_progress"] for past in before if past["move_executed"]]
    if turn["move_executed"] and reached:
        turn["progress_data"]["progress_delta"] = turn["progress_data"]["metrics"]["overall_progress"] - reached[-1]
