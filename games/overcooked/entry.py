"""The log entry of a timestep, as the published code writes it (formats/overcooked.md, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.overcooked.engine.drawing import map_text
from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.world import World


def new_entry(world: World) -> dict[str, Any]:
    """The log entry of a timestep before anything has happened in it (section 8)."""
    return {
        "timestamp": world.timestep,
        "order_list": [world.order],
        "actions": [],
        "map": map_text(world),
        "statistical_data": {
            "score": 0,
            "communication": [{"call": 0, "turn": [], "token": []} for _ in AGENTS],
            "error": [{kind: {"error_num": 0, "error_message": []} for kind in ("format_error", "validator_error")} for _ in AGENTS],
            "error_correction": [
                {
                    "format_correction": {"correction_num": 0, "correction_tokens": []},
                    "validator_correction": {"correction_num": 0, "reflection_obtain": [], "correction_tokens": []},
                }
                for _ in AGENTS
            ],
        },
        "content": {
            "observation": [[], []],
            "reflection": [[], []],
            "content": [[], []],
            "action_list": [[], []],
            "original_log": "",
        },
    }


def document(world: World, recorded: Sequence[Any], entries: Sequence[dict[str, Any]], own: Mapping[str, Any]) -> dict[str, Any]:
    """The whole log of a game so far; ``own``: what cotrace adds to it."""
    return {
        "total_timestamp": list(range(len(entries))),
        "total_order_finished": [world.order] if world.delivered else [],
        "total_score": world.score,
        "total_action_list": recorded,
        "content": entries,
        "cotrace": own,
    }
