"""CRAFT boards: three layers seen from above, and the walls that directors see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html

from dashboards.parts import Part
from games.craft.engine.blocks import CELLS, COLORS, HIDDEN_CELLS, SIZES, WALLS, is_large
from judges.evidence.transcript import ActionView, AgentView, JsonObject, Transcript, TurnView

__all__ = ["DRAWING", "CraftDrawing"]

_LAYERS = (0, 1, 2)
_LAYER_NAMES = ("bottom", "middle", "top")
_LETTER = {name: letter for letter, name in COLORS.items()}


class CraftDrawing:
    """Draws the boards of a turn and the target."""

    def turn(self, game: Transcript, turn: TurnView) -> Part:  # noqa: ARG002 - the same face for every benchmark
        """The board before and after, the attempted place marked before the move."""
        touched = _touched(turn.actions)
        return html.Div(
            [
                html.Div(
                    [html.H3("Before", title="The far row is on top, the attempted place outlined"), _layers(turn.state_before, touched)]
                ),
                html.Div([html.H3("After"), _layers(turn.state_after, set())]),
            ],
            className="boards",
        )

    def goal(self, game: Transcript) -> Part:
        """The target layers, and each director's wall as it was shown."""
        target = [html.Div([html.H3("Target"), _layers(game.goal, set())])] if game.goal else []
        walls = [_wall(agent) for agent in game.agents.values() if agent.private_view]
        return html.Div([*target, *walls], className="boards")

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """`place large blue at (0,1)–(0,2), middle layer`."""
        if verb == "clarify":
            return "asked for clarification"
        block = str(arguments.get("block") or "block")
        names = f"{SIZES[block[1]]} {COLORS[block[0]]}" if block[:1] in COLORS and block[1:] in SIZES else block
        place = str(arguments.get("position"))
        if arguments.get("span_to"):
            place += f"–{arguments['span_to']}"
        return f"{verb} {names} at {place}, layer {arguments.get('layer')}"


def _touched(actions: Sequence[ActionView]) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for action in actions:
        layer = action.arguments.get("layer")
        if isinstance(layer, int):
            found |= {(str(action.arguments.get(key)), layer) for key in ("position", "span_to")}
    return found


def _layers(state: JsonObject | None, marked: set[tuple[str, int]]) -> Part:
    stacks = (state or {}).get("stacks", {})
    spans = (state or {}).get("spans", {})
    return html.Div([_layer(stacks, spans.get(str(layer), []), layer, marked) for layer in _LAYERS], className="layers")


def _layer(stacks: JsonObject, spans: Sequence[Sequence[str]], layer: int, marked: set[tuple[str, int]]) -> Part:
    dominoes = {cell: tuple(sorted(pair)) for pair in spans for cell in pair}
    drawn: list[Part] = []
    done: set[str] = set()
    for cell in CELLS:
        stack = stacks.get(cell, [])
        block = stack[layer] if len(stack) > layer else None
        if cell in done:
            continue
        domino = dominoes.get(cell)
        cells = domino if block and domino and is_large(block) and all(part in CELLS for part in domino) else (cell,)
        done.update(cells)
        drawn.append(_piece(block, cells, mark=any((part, layer) in marked for part in cells)))
    return html.Div([html.Div(drawn, className="grid"), html.Div(_LAYER_NAMES[layer], className="layer-title")])


def _piece(block: str | None, cells: Sequence[str], *, mark: bool) -> Part:
    rows = [int(cell[1]) + 1 for cell in cells]
    columns = [int(cell[3]) + 1 for cell in cells]
    area = {"gridArea": f"{min(rows)} / {min(columns)} / {max(rows) + 1} / {max(columns) + 1}"}
    ring = " mark" if mark else ""
    if block is None:
        hidden = " hidden" if cells[0] in HIDDEN_CELLS else ""
        return html.Div(className=f"cell block{ring}{hidden}" if mark else f"cell{hidden}", style=area, title=cells[0])
    return html.Div(block, className=f"block {block[:1]}{ring}", style=area, title=f"{block} at {' and '.join(cells)}")


def _wall(agent: AgentView) -> Part:
    view = agent.private_view or {}
    rows = [view.get(f"row_{layer}", []) for layer in reversed(_LAYERS)]
    cells: list[Part] = []
    for line, row in enumerate(rows, start=1):
        cells.extend(_wall_row(row, line))
    kind = f" ({agent.view_kind.replace('_', ' ')} view)" if agent.view_kind else ""
    named = " ".join(WALLS[agent.name]) if agent.name in WALLS else ""
    return html.Div(
        [
            html.H3(f"{agent.name}'s wall", title=f"Of the target, as shown{kind}"),
            html.Div(cells, className="wall"),
            html.Div(named, className="layer-title", title="from left to right"),
        ]
    )


def _wall_row(row: Sequence[JsonObject], line: int) -> list[Part]:
    pieces: list[Part] = []
    column = 0
    while column < len(row):
        color, size = str(row[column].get("color")), row[column].get("size")
        joined = size == 2 and column + 1 < len(row) and row[column + 1] == row[column]  # noqa: PLR2004 - size 2 is a large block in the log's own code
        width = 2 if joined else 1
        area = {"gridArea": f"{line} / {column + 1} / {line + 1} / {column + 1 + width}"}
        letter = _LETTER.get(color)
        pieces.append(html.Div(style=area, className=f"block {letter}" if letter else "cell", title=f"{color}, size {size}"))
        column += width
    return pieces


DRAWING = CraftDrawing()
