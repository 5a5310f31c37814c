"""Puts plans and moves into words, in the speaker's own frame: left, middle, right; bottom, middle, top."""

import random
from collections.abc import Mapping
from typing import Final

from games.craft.blocks import COLORS, DIRECTORS, SEEN_BY, WALLS, Cell, Director, is_large
from games.craft.director_output import FAILED_CALL_MESSAGE, DirectorAnswer, director_text
from games.craft.move import Move
from games.craft.players.grammar import wording
from games.craft.players.instruction import Instruction
from games.craft.players.plan import OutputFault, Plan
from games.craft.players.sight import Sight

__all__ = ["confirmation", "director_raw", "message", "thinking"]

_UNKNOWN_CELL: Final = "that spot"


def director_raw(plan: Plan, sight: Sight, rng: random.Random) -> str:
    """Write a director's raw answer, output faults included."""
    answer = DirectorAnswer(thinking(plan, sight, rng), message(plan, sight, rng))
    whole = director_text(answer.thinking, answer.message)
    if plan.fault is None:
        return whole
    faulty: dict[OutputFault, str] = {
        "output_empty_message": director_text(answer.thinking, ""),
        "output_no_close": whole.removesuffix("</message>"),
        "output_no_tags": answer.message,
        "output_unclosed_think": whole.replace("</think>", ""),
        "output_blank": "",
        "output_api_error": director_text("Error in generation: no reply", FAILED_CALL_MESSAGE),
    }
    return faulty[plan.fault]


def message(plan: Plan, sight: Sight, rng: random.Random) -> str:
    """Write the public message."""
    frame = "bare" if plan.perspective == "bare" else "own"
    if plan.said is None:
        return wording().sentence(f"{plan.kind}.{frame}", {}, rng)
    slots = _spot_slots(plan.said, sight.director, rng) | {
        "block": _block_phrase(plan.said, rng),
        "opener": wording().expand(f"opener.{frame}", {}, rng) if plan.disputes is None and plan.endorses is None else _lead(plan, rng),
        "tail": wording().expand(f"tail.{frame}", {}, rng),
    }
    slots["spot"] = _spot(plan, sight.director, frame, slots, rng)
    slots["request"] = wording().expand(f"request.{plan.said.verb}.{frame}", slots, rng)
    slots["remark"] = _remark(plan, sight.director, rng)
    layout = "message.explicit" if plan.perspective == "explicit" else "message"
    if plan.disputes is not None or plan.endorses is not None:
        return wording().sentence("message.lead", slots, rng)
    return wording().sentence(layout, slots, rng)


def thinking(plan: Plan, sight: Sight, rng: random.Random) -> str:
    """Write the private reasoning: complete, by coordinates, naming no cells but those of the plan and the own wall."""
    slots = {"wall": ", ".join(sight.wall), "aside": _aside(plan, rng)}
    if plan.thought is None:
        return wording().sentence("think.done", slots, rng)
    thought = plan.thought
    slots |= _thought_slots(thought, rng)
    slots["stack"] = ""
    if thought.cell is not None and thought.verb == "place" and sight.height(thought.cell) == thought.layer:
        slots["stack"] = wording().expand("stack.next", slots | {"h": slots["n"]}, rng)
    count = "two" if thought.span_to else "one"
    slots["finding"] = wording().expand(f"finding.{thought.verb}.{count}", slots, rng)
    return wording().sentence("think", slots, rng)


def confirmation(move: Move, followed: Director | None, rng: random.Random) -> str:
    """Write what the builder says about its move; it holds no colon."""
    block = move.block or "  "
    slots = {
        "doing": wording().expand(f"doing.{move.action}", {}, rng),
        "size": {"s": "small", "l": "large"}.get(block[1:], ""),
        "color": COLORS.get(block[:1], ""),
        "cell": move.position,
        "n": str(move.layer),
        "who": followed or "",
    }
    count = "two" if move.span_to and is_large(block) else "one"
    slots["where"] = wording().expand(f"where.{count}", slots | {"span": move.span_to or ""}, rng)
    return wording().sentence("confirm.guess" if followed is None else "confirm.follow", slots, rng)


def _lead(plan: Plan, rng: random.Random) -> str:
    symbol, who = ("dispute", plan.disputes) if plan.disputes else ("endorse", plan.endorses)
    return wording().expand(symbol, {"who": who or ""}, rng)


def _block_phrase(said: Instruction, rng: random.Random) -> str:
    known = "".join(("c" if said.color else "", "s" if said.size else "")) or "none"
    slots = {"det": "a", "color": COLORS.get(said.color or "", "")}
    if said.size:
        slots["size"] = wording().expand(f"size.{said.size}", {}, rng)
    return wording().expand(f"{'block' if said.verb == 'place' else 'removed'}.{known}", slots, rng)


def _owner(cells: frozenset[Cell], speaker: Director) -> Director:
    """Give the director in whose words a place is named: the speaker if it lies on the own wall."""
    return next(director for director in (speaker, *DIRECTORS) if cells <= set(WALLS[director]))


def _spot_slots(said: Instruction, speaker: Director, rng: random.Random) -> dict[str, str]:
    slots: dict[str, str] = {}
    if said.cell is not None:
        owner = _owner(said.cells, speaker)
        slots |= {"owner": owner, "col": _column(said.cell, owner, rng), "colnoun": _column_noun(said.cell, owner, rng)}
        if said.span_to is not None:
            slots["col2"] = _column(said.span_to, owner, rng)
    if said.layer is not None:
        slots |= {"lay": wording().expand(f"lay.{said.layer}", {}, rng), "n": str(said.layer)}
    return slots


def _column(cell: Cell, owner: Director, rng: random.Random) -> str:
    return wording().expand(f"col.{WALLS[owner].index(cell)}", {}, rng)


def _column_noun(cell: Cell, owner: Director, rng: random.Random) -> str:
    return wording().expand(f"colnoun.{WALLS[owner].index(cell)}", {}, rng)


def _spot(plan: Plan, speaker: Director, frame: str, slots: Mapping[str, str], rng: random.Random) -> str:
    said = plan.said
    if said is None or said.cell is None:
        return wording().expand(f"spot.{'vague' if plan.vague_place else 'none'}.{frame}", slots, rng)
    foreign = _owner(said.cells, speaker) != speaker
    count = "two" if said.span_to else "one"
    return wording().expand(f"spot.{count}.layer.{'other' if foreign else frame}", slots, rng)


def _remark(plan: Plan, speaker: Director, rng: random.Random) -> str:
    if plan.perspective != "explicit" or plan.said is None:
        return ""
    others = sorted({director for cell in plan.said.cells for director in SEEN_BY[cell]} - {speaker})
    return wording().expand("remark.shared", {"sharer": others[0]}, rng) if others else wording().expand("remark.unique", {}, rng)


def _aside(plan: Plan, rng: random.Random) -> str:
    if plan.right_block is not None:
        cell, layer, color = plan.right_block
        return wording().expand("aside.right", {"cell3": cell, "n3": str(layer), "color3": COLORS[color]}, rng)
    if plan.other_wall is not None:
        return wording().expand("aside.other", {"cell4": plan.other_wall, "owner": SEEN_BY[plan.other_wall][0]}, rng)
    return ""


def _thought_slots(thought: Instruction, rng: random.Random) -> dict[str, str]:
    return {
        "cell": thought.cell or _UNKNOWN_CELL,
        "span": thought.span_to or "",
        "n": str(thought.layer),
        "color": COLORS.get(thought.color or "", ""),
        "size": wording().expand(f"size.{thought.size}", {}, rng),
    }
