"""Puts plans and moves into words (templates of `wording.yaml`), in the speaker's own frame: left, middle, right; bottom, middle, top.

Slips are what can go wrong between a builder's intention and its line: misreadings of the move, and broken lines.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from msgspec.structs import replace

from games.craft.engine.board import CELLS, COLORS, DIRECTORS, MAX_HEIGHT, NEIGHBORS, SEEN_BY, WALLS, Board, Cell, Director, is_large
from games.craft.engine.rules import Move
from games.craft.players.sight import Instruction, OutputFault, Plan, Sight
from games.craft.text.replies import FAILED_CALL_MESSAGE, DirectorAnswer, director_text
from schemas.common.packages import packaged_yaml

_NAME: Final = re.compile(r"\{([\w.]+)\}")
_BLANKS: Final = re.compile(r"\s+")
_WEAK_BEFORE_MARK: Final = re.compile(r"[,\s]+([,.;:!?])")
_ARTICLE: Final = re.compile(r"\b([Aa]) (?=[aeio](?!ne\b|ne-))")
_SENTENCE_START: Final = re.compile(r"(^|[.!?] )([a-z])")


class Grammar:
    """Symbols, each with alternatives; an alternative refers to symbols and slots as ``{name}``."""

    def __init__(self, rules: Mapping[str, Sequence[str]]) -> None:
        """Cut the alternatives into texts and names: the odd pieces are names."""
        self._rules = {symbol: tuple(_NAME.split(text) for text in alternatives) for symbol, alternatives in rules.items()}

    def sentence(self, symbol: str, slots: Mapping[str, str], rng: random.Random) -> str:
        """Expand a symbol; slots go before symbols of the same name. Tidies blanks, articles and capitals.

        Raises:
            KeyError: a template names neither a slot nor a symbol.
        """
        text = _BLANKS.sub(" ", self.expand(symbol, slots, rng)).strip()
        text = _ARTICLE.sub(r"\1n ", _WEAK_BEFORE_MARK.sub(r"\1", text))
        return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)

    def expand(self, symbol: str, slots: Mapping[str, str], rng: random.Random) -> str:
        """Expand a symbol unchanged."""
        pieces = rng.choice(self._rules[symbol])
        return "".join(self._fill(piece, slots, rng) if index % 2 else piece for index, piece in enumerate(pieces))

    def _fill(self, name: str, slots: Mapping[str, str], rng: random.Random) -> str:
        value = slots.get(name)
        return self.expand(name, slots, rng) if value is None else value


@cache
def wording() -> Grammar:
    """Give the players' own wording."""
    return Grammar(packaged_yaml(__package__, "wording.yaml"))


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
    if plan.request is None:
        return wording().sentence(f"{plan.kind}.{frame}", {}, rng)
    quoting = plan.disputes is not None or plan.endorses is not None
    lead = ("dispute" if plan.disputes else "endorse", {"who": plan.disputes or plan.endorses or ""})
    slots = _spot_slots(plan.request, sight.director, rng) | {
        "block": _block_phrase(plan.request, rng),
        "opener": wording().expand(*(lead if quoting else (f"opener.{frame}", {})), rng),
        "tail": _tail(plan.request, sight, frame, rng),
        "remark": _remark(plan, sight.director, rng),
    }
    abroad = plan.request.cell is not None and _owner(plan.request.cells, sight.director) != sight.director
    slots["spot"] = wording().expand(_spot_symbol(plan, "other" if abroad else frame), slots, rng)
    manner = "terse" if slots["spot"] and rng.random() < _TERSE else "bare" if abroad else frame
    slots["request"] = wording().expand(f"request.{plan.request.verb}.{manner}", slots, rng)
    layout = "message.lead" if quoting else "message.explicit" if plan.perspective == "explicit" else "message"
    return wording().sentence(layout, slots, rng)


def thinking(plan: Plan, sight: Sight, rng: random.Random) -> str:
    """Write the private reasoning: complete, by coordinates, naming no cells but those of the plan and the own wall."""
    slots = {"wall": ", ".join(sight.wall), "aside": _aside(plan, rng)}
    if plan.thought is None:
        return wording().sentence("think.done", slots, rng)
    thought = plan.thought
    slots |= {
        "cell": thought.cell or _UNKNOWN_CELL,
        "span": thought.span_to or "",
        "n": str(thought.layer),
        "color": COLORS.get(thought.color or "", ""),
        "size": wording().expand(f"size.{thought.size}", {}, rng),
        "stack": "",
    }
    if thought.cell is not None and thought.verb == "place" and sight.height(thought.cell) == thought.layer:
        slots["stack"] = wording().expand("stack.next", slots | {"h": slots["n"]}, rng)
    count = "two" if thought.span_to else "one"
    slots["finding"] = wording().expand(f"finding.{thought.verb}.{count}", slots, rng)
    return wording().sentence("think", slots, rng)


def confirmation(move: Move, followed: Director | None, rng: random.Random) -> str:
    """Write the builder's words about its move; it holds no colon."""
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


def _block_phrase(request: Instruction, rng: random.Random) -> str:
    known = "".join(("c" if request.color else "", "s" if request.size else "")) or "none"
    slots = {"det": "a", "color": COLORS.get(request.color or "", "")}
    if request.size:
        slots["size"] = wording().expand(f"size.{request.size}", {}, rng)
    return wording().expand(f"{'block' if request.verb == 'place' else 'removed'}.{known}", slots, rng)


def _owner(cells: frozenset[Cell], speaker: Director) -> Director:
    """Give the director in whose words a place is named: the speaker if it lies on the own wall."""
    return next(director for director in (speaker, *DIRECTORS) if cells <= set(WALLS[director]))


def _spot_slots(request: Instruction, speaker: Director, rng: random.Random) -> dict[str, str]:
    slots: dict[str, str] = {}
    if request.cell is not None:
        owner = _owner(request.cells, speaker)
        slots |= {"owner": owner, "col": _column("col", request.cell, owner, rng), "colnoun": _column("colnoun", request.cell, owner, rng)}
        if request.span_to is not None:
            slots["col2"] = _column("col", request.span_to, owner, rng)
    if request.layer is not None:
        slots |= {"lay": wording().expand(f"lay.{request.layer}", {}, rng), "n": str(request.layer)}
    return slots


def _column(symbol: str, cell: Cell, owner: Director, rng: random.Random) -> str:
    return wording().expand(f"{symbol}.{WALLS[owner].index(cell)}", {}, rng)


def _spot_symbol(plan: Plan, frame: str) -> str:
    if plan.request is None or plan.request.cell is None:
        return f"spot.{'vague' if plan.vague_place else 'none'}.{frame}"
    return f"spot.{'two' if plan.request.span_to else 'one'}.layer.{frame}"


def _tail(request: Instruction, sight: Sight, frame: str, rng: random.Random) -> str:
    under = None
    if request.verb == "place" and request.cell in sight.wall and request.layer and sight.height(request.cell) == request.layer:
        under = sight.seen(request.cell, request.layer - 1)
    if under is not None and rng.random() < _NAMES_BLOCK_BELOW:
        return wording().expand("tail.on_top", {"under": under.color}, rng)
    return wording().expand(f"tail.{frame}", {}, rng)


_TERSE: Final = 0.15
"""Chance to leave out everything but the block and its place."""

_NAMES_BLOCK_BELOW: Final = 0.2
"""Chance to say what the block goes on, where that is true."""


def _remark(plan: Plan, speaker: Director, rng: random.Random) -> str:
    if plan.perspective != "explicit" or plan.request is None:
        return ""
    others = sorted({director for cell in plan.request.cells for director in SEEN_BY[cell]} - {speaker})
    return wording().expand("remark.shared", {"sharer": others[0]}, rng) if others else wording().expand("remark.unique", {}, rng)


def _aside(plan: Plan, rng: random.Random) -> str:
    if plan.right_block is not None:
        cell, layer, color = plan.right_block
        return wording().expand("aside.right", {"cell3": cell, "n3": str(layer), "color3": COLORS[color]}, rng)
    if plan.other_wall is not None:
        return wording().expand("aside.other", {"cell4": plan.other_wall, "owner": SEEN_BY[plan.other_wall][0]}, rng)
    return ""


@dataclass(frozen=True, slots=True)
class SlipScene:
    """What a slip can depend on."""

    board: Board
    followed: Director | None
    rng: random.Random


MoveSlip = Callable[[Move, SlipScene], Move | None]
"""Gives the move that is written instead, or None where this slip cannot happen."""

LineSlip = Callable[[str, Move, SlipScene], str | None]
"""Gives the line that is written instead, or None where this slip cannot happen."""


def _span_extra(move: Move, scene: SlipScene) -> Move | None:
    if move.span_to or is_large(move.block or "") or move.action != "place":
        return None
    return replace(move, span_to=scene.rng.choice(NEIGHBORS[move.position]))


def _frame_flip(move: Move, scene: SlipScene) -> Move | None:
    """Left and right of the director's wall are swapped."""
    wall = WALLS[scene.followed] if scene.followed else ()
    flipped = dict(zip(wall, wall[::-1], strict=True))
    position = flipped.get(move.position)
    if position is None or position == move.position:
        return None
    layer = min(scene.board.height(position), MAX_HEIGHT - 1)
    return replace(move, position=position, layer=layer, span_to=flipped.get(move.span_to or ""))


def _color(move: Move, scene: SlipScene) -> Move | None:
    if move.action != "place" or not move.block:
        return None
    return replace(move, block=scene.rng.choice([letter for letter in COLORS if letter != move.block[0]]) + move.block[1])


def _place_on_full(move: Move, scene: SlipScene) -> Move | None:
    full = [cell for cell in CELLS if scene.board.height(cell) == MAX_HEIGHT]
    if move.action != "place" or not full:
        return None
    return replace(move, position=scene.rng.choice(full), layer=MAX_HEIGHT)


def _other_than(scene: SlipScene, every: Sequence[Any], *right: object) -> Any:
    return scene.rng.choice([one for one in every if one not in right])


MOVE_SLIPS: Final[dict[str, MoveSlip]] = {
    "layer_slip": lambda move, scene: replace(move, layer=_other_than(scene, range(MAX_HEIGHT), move.layer)),
    "span_omitted": lambda move, _: replace(move, span_to=None) if move.span_to else None,
    "span_wrong": lambda move, scene: (
        replace(move, span_to=_other_than(scene, CELLS, move.position, move.span_to)) if move.span_to else None
    ),
    "span_none_text": lambda move, _: None if move.span_to else replace(move, span_to="None"),
    "span_extra": _span_extra,
    "endpoint_reversed": lambda move, _: replace(move, position=move.span_to, span_to=move.position) if move.span_to else None,
    "frame_flip": _frame_flip,
    "color_slip": _color,
    "bad_block_code": lambda move, scene: (
        replace(move, block=scene.rng.choice(["p", "w", "x"]) + (move.block or "s")[-1]) if move.action == "place" else None
    ),
    "bad_coordinate": lambda move, scene: replace(move, position=scene.rng.choice(["(3,1)", "(1,4)", "(0)", "0,2", "A1"])),
    "space_in_coordinate": lambda move, _: replace(move, position=move.position.replace(",", ", ")),
    "place_on_full": _place_on_full,
}

LINE_SLIPS: Final[dict[str, LineSlip]] = {
    "malformed_line": lambda _, move, scene: scene.rng.choice(
        [f"I will {move.action} it at {move.position} now.", f"{move.action.title()} {move.position}", "OK"]
    ),
    "layer_not_a_number": lambda line, move, scene: line.replace(f":{move.layer}:", f":{scene.rng.choice(['bottom', 'top', '1st'])}:", 1),
    "remove_with_code": lambda line, move, _: (
        line.replace("REMOVE:", f"REMOVE:{move.block}:", 1) if move.action == "remove" and move.block else None
    ),
    "brackets": lambda line, *_: f"[{line}]",
    "colon_in_confirmation": lambda line, *_: line.replace("CONFIRM:", "CONFIRM:Here goes: ", 1),
    "extra_line": lambda line, *_: f"{line}\nLet me know what comes next.",
}

MISREADINGS: Final = frozenset(("frame_flip", "color_slip"))
"""Slips that show the builder did not understand side or colour."""

HARMLESS_SLIPS: Final = frozenset(
    (
        "layer_slip", "span_omitted", "span_wrong", "span_none_text", "span_extra", "endpoint_reversed",
        "remove_with_code", "brackets", "extra_line",
    )
)  # fmt: skip
"""Slips of layer, second cell or form: what was asked for was understood."""
