"""CRAFT boards: three layers seen from above, and the walls that directors see."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dashboards.parts import Part, html
from games.craft.engine.board import CELLS, COLOR_LETTERS, COLORS, HIDDEN_CELLS, SIZES, WALLS, is_large, views_json
from games.craft.setup import state_json
from games.craft.text.prompts import BuilderObservation, DirectorObservation
from games.players.player import Observation
from judges.evidence.transcript import ActionView, AgentView, JsonObject, Transcript, TurnView
from schemas.common.text import printable

_LAYERS = (0, 1, 2)
_LAYER_NAMES = ("bottom", "middle", "top")
_WALLS: Mapping[str, Sequence[str]] = {str(name): cells for name, cells in WALLS.items()}
_LAST_LINES = 8
"""Of the conversation, beside the board; all of it stands in the words below."""
_BLOCK: Final = re.compile(r"\b(place|remove) ([gbryo])([sl])\b")


class CraftDrawing:
    """Draws the boards of a turn and the target."""

    def about(self, game: Transcript) -> str:  # noqa: ARG002 - one game for all logs
        """Who knows what."""
        return (
            "Directors, who each see one wall of a target, tell a builder, who sees none of it, what to place. Cells are (row, "
            "column), the far row on top; a large block (l) covers two; the striped cells are on no wall."
        )

    def prose(self, text: str) -> str:
        """`place os` as `place small orange`."""
        return _BLOCK.sub(lambda found: f"{found[1]} {SIZES[found[3]]} {COLORS[found[2]]}", text)

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

    def seat(self, seen: Observation) -> Part:
        """A director's own wall of the target beside the three walls of the board; the builder's board from above."""
        if isinstance(seen.data, BuilderObservation):
            board = html.Div([html.H3("The board, the far row on top"), _layers(state_json(seen.data.board), set())])
            return html.Div([html.Div(board, className="boards"), *_talk("What the directors say", seen.data.discussion.splitlines())])
        mine: DirectorObservation = seen.data
        target = views_json({mine.director: mine.target_view})[mine.director]
        walls = [_wall_of(f"{name}'s side now", view, name) for name, view in views_json(mine.board_views).items()]
        boards = html.Div([_wall_of("Your wall of the target", target, mine.director), *walls], className="boards")
        own = _talk("Your messages of this turn, which the builder reads: say what is missing in them", mine.earlier)
        return html.Div([boards, *_talk("What was said and done last", mine.history[-_LAST_LINES:]), *own])

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """`place large blue at (0,1)–(0,2), middle layer`."""
        if verb == "clarify":
            return "asked for clarification"
        if verb == "unreadable":
            return "sent a reply that could not be read"
        block = str(arguments.get("block") or "block")
        names = f"{SIZES[block[1]]} {COLORS[block[0]]}" if block[:1] in COLORS and block[1:] in SIZES else block
        place = str(arguments.get("position"))
        if arguments.get("span_to"):
            place += f"–{arguments['span_to']}"
        return f"{verb} {names} at {place}, layer {arguments.get('layer')}"


def _talk(title: str, lines: Sequence[str]) -> list[Part]:
    said = [html.Li(printable(line)) for line in lines if line.strip()]
    return [html.H3(title), html.Ul(said, className="plain")] if said else []


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
    return html.Div(
        [html.Div(drawn, className="grid"), html.Div(f"{layer} {_LAYER_NAMES[layer]}", className="layer-title", title=f"layer {layer}")]
    )


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
    kind = f" ({agent.view_kind.replace('_', ' ')} view)" if agent.view_kind else ""
    return _wall_of(f"{agent.name}'s wall", agent.private_view or {}, agent.name, f"Of the target, as shown{kind}")


def _wall_of(heading: str, view: Mapping[str, Any], director: str, title: str | None = None) -> Part:
    rows = [view.get(f"row_{layer}", []) for layer in reversed(_LAYERS)]
    cells: list[Part] = []
    for line, row in enumerate(rows, start=1):
        cells.extend(_wall_row(row, line))
    named = " ".join(cells_of) if (cells_of := _WALLS.get(director)) else ""
    return html.Div(
        [
            html.H3(heading, title=title),
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
        letter = COLOR_LETTERS.get(color)
        pieces.append(html.Div(style=area, className=f"block {letter}" if letter else "cell", title=f"{color}, size {size}"))
        column += width
    return pieces


DRAWING = CraftDrawing()
