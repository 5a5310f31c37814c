"""Puts plans and moves into words, in the speaker's own frame: left, middle, right; bottom, middle, top."""

import random
from typing import Final

from games.craft.engine.blocks import COLORS, DIRECTORS, SEEN_BY, WALLS, Cell, Director, is_large
from games.craft.engine.move import Move
from games.craft.players.grammar import wording
from games.craft.players.instruction import Instruction
from games.craft.players.plan import OutputFault, Plan
from games.craft.players.sight import Sight
from games.craft.text.director_output import FAILED_CALL_MESSAGE, DirectorAnswer, director_text

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
    quoting = plan.disputes is not None or plan.endorses is not None
    slots = _spot_slots(plan.said, sight.director, rng) | {
        "block": _block_phrase(plan.said, rng),
        "opener": _lead(plan, rng) if quoting else wording().expand(f"opener.{frame}", {}, rng),
        "tail": _tail(plan.said, sight, frame, rng),
        "remark": _remark(plan, sight.director, rng),
    }
    abroad = plan.said.cell is not None and _owner(plan.said.cells, sight.director) != sight.director
    slots["spot"] = wording().expand(_spot_symbol(plan, "other" if abroad else frame), slots, rng)
    manner = "terse" if slots["spot"] and rng.random() < _TERSE else "bare" if abroad else frame
    slots["request"] = wording().expand(f"request.{plan.said.verb}.{manner}", slots, rng)
    layout = "message.lead" if quoting else "message.explicit" if plan.perspective == "explicit" else "message"
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


def _spot_symbol(plan: Plan, frame: str) -> str:
    if plan.said is None or plan.said.cell is None:
        return f"spot.{'vague' if plan.vague_place else 'none'}.{frame}"
    return f"spot.{'two' if plan.said.span_to else 'one'}.layer.{frame}"


def _tail(said: Instruction, sight: Sight, frame: str, rng: random.Random) -> str:
    under = None
    if said.verb == "place" and said.cell in sight.wall and said.layer and sight.height(said.cell) == said.layer:
        under = sight.seen(said.cell, said.layer - 1)
    if under is not None and rng.random() < _NAMES_BLOCK_BELOW:
        return wording().expand("tail.on_top", {"under": under.color}, rng)
    return wording().expand(f"tail.{frame}", {}, rng)


_TERSE: Final = 0.15
"""Chance to leave out everything but the block and its place."""

_NAMES_BLOCK_BELOW: Final = 0.2
"""Chance to say what the block goes on, where that is true."""


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
