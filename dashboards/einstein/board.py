"""Einstein tables: seven bins with their objects, and what each player holds and can infer."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dashboards.parts import Part, html
from games.einstein.engine.puzzle import REACH, SHOWN_BINS
from games.einstein.game import AGENTS
from games.einstein.game import PlayerView as Seen
from games.players.player import Observation
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView
from schemas.common.text import printable

_PLACES: Final[Mapping[str, tuple[int, int]]] = {
    "top_left_bin": (1, 1),
    "player2_bin": (1, 2),
    "top_right_bin": (1, 3),
    "commonbin": (2, 2),
    "bottom_left_bin": (3, 1),
    "player1_bin": (3, 2),
    "bottom_right_bin": (3, 3),
}
"""Bin -> row and column of the table as seen from above, Player2 at the top."""

_IN: Final = re.compile(r"\((\w+), in, (\w+)\)")
_SAME: Final = re.compile(r"\((\w+), (\w+), same, (\w+)\)")
_BIN: Final = re.compile(r"\b(top_left|top_right|bottom_left|bottom_right|player1|player2)_bin\b|\bcommonbin\b")

_COLORS: Final = ("g", "b", "r", "y", "o")


class EinsteinDrawing:
    """Draws table and knowledge of a step, and the solved table."""

    CARRIED_OUT = frozenset({"wrong_rule", "lucky_guess", "not_expected"})
    """Errors of moves that were carried out all the same."""

    REFUSALS = {"pass": "a pass counts as a failed step here"}  # noqa: RUF012 - a constant

    def about(self, game: Transcript) -> str:  # noqa: ARG002 - one game for all logs
        """Who knows what."""
        return (
            "Two players bring every block to the corner bin where it belongs. Each holds a part of the rules that say where that "
            "is, and reaches only its own side of the table and the common bin; they act by turns."
        )

    def prose(self, text: str) -> str:
        """`(block1, in, top_left_bin)` as `block1 belongs in the top left bin`."""
        told = _SAME.sub(r"\1 and \2 belong in one \3", _IN.sub(r"\1 belongs in \2", text))
        return _BIN.sub(lambda found: f"the {(found[1] or 'common').replace('_', ' ')} bin", told)

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """The table before and after, the object that was acted on outlined; below, what each player knew before the step."""
        touched = _touched(turn.actions)
        tables = [
            html.Div([html.H3("Table before (Player2 sits at the top)"), _table(turn.state_before, touched)], className="picture"),
            html.Div([html.H3("Table after"), _table(turn.state_after, set())], className="picture"),
        ]
        acting = {action.agent for action in turn.actions}
        known = [_knowledge(game, turn, agent, acts=agent in acting) for agent in AGENTS]
        return html.Div([html.Div(tables, className="boards"), html.Div(known, className="boards")])

    def goal(self, game: Transcript) -> Part:
        """The solved table, and the items that each player was given."""
        solved = [html.Div([html.H3("Solved"), _table(game.goal, set())], className="picture")] if game.goal else []
        given = [
            html.Div([html.H3(f"{agent.name} was given"), _items((agent.private_view or {}).get("items", ()), set())])
            for agent in game.agents.values()
        ]
        return html.Div([*solved, *given], className="boards")

    def seat(self, seen: Observation) -> Part:
        """The table, and the items that the player has."""
        mine: Seen = seen.data
        bins: dict[str, list[str]] = {name: [] for name in SHOWN_BINS}
        for number, place in enumerate(mine.positions):
            bins.setdefault(place, []).append(f"block{number}")
        side = "top" if mine.player else "bottom"
        table = html.Div([html.H3(f"The table; you sit at the {side}"), _table({"bins": bins}, set())], className="picture")
        items = html.Div([html.H3("What you know"), _items([item.text for item in mine.items], set())], className="knows")
        return html.Div([table, items], className="boards")

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """`move block1 from the player1 bin to the common bin`."""
        block = arguments.get("block")
        if verb == "move":
            return self.prose(f"move {block} from {arguments.get('from')} to {arguments.get('to')}")
        if verb == "share":
            return self.prose(f"share: {_shared(arguments)}")
        if verb == "ask":
            return f"ask about {block}"
        return f"unreadable: {printable(str(arguments.get('text')))}" if verb == "invalid" else verb


def _shared(arguments: Mapping[str, Any]) -> str:
    """The item of a share as states write it."""
    if "in" in arguments:
        return f"({arguments.get('block')}, in, {arguments['in']})"
    return f"({', '.join(map(str, arguments.get('blocks', ())))}, same, {arguments.get('same')})"


def _touched(actions: Sequence[ActionView]) -> set[str]:
    return {str(block) for action in actions for block in (action.arguments.get("block"), *action.arguments.get("blocks", ())) if block}


def _table(state: JsonObject | None, marked: set[str]) -> Part:
    bins = (state or {}).get("bins", {})
    return html.Div([_bin(name, bins.get(name, ()), marked) for name in SHOWN_BINS], className="table-bins")


def _bin(name: str, blocks: Sequence[str], marked: set[str]) -> Part:
    row, column = _PLACES[name]
    objects = [_object(block, mark=block in marked) for block in blocks]
    label = html.Div(name.removesuffix("bin").strip("_").replace("_", " "), className="layer-title")
    reach = " and ".join(agent for agent, bins in zip(AGENTS, REACH, strict=True) if name in bins)
    return html.Div(
        [html.Div(objects, className="objects"), label],
        className="bin",
        style={"gridArea": f"{row} / {column}"},
        title=f"in reach of {reach}",
    )


def _object(block: str, *, mark: bool) -> Part:
    digits = block.removeprefix("block")
    color = _COLORS[int(digits) % len(_COLORS)] if digits.isdecimal() else ""
    return html.Span(digits, className=f"block {color}{' mark' if mark else ''}", title=block)


def _knowledge(game: Transcript, turn: TurnView, agent: str, *, acts: bool) -> Part:
    known = turn.state_before.get("knowledge", {}).get(agent, {})
    items, infers = known.get("items", ()), known.get("infers", {})
    shared = {_shared(action.arguments) for action in turn.actions if action.verb == "share"}
    given = set((game.agents[agent].private_view or {}).get("items", ())) if agent in game.agents else set()
    everything = sorted({block for blocks in turn.state_before.get("bins", {}).values() for block in blocks})
    lines = [
        html.Li(f"{block}: {infers[block].removesuffix('_bin').replace('_', ' ')}" if block in infers else f"{block}: unknown")
        for block in everything
    ]
    told = {item for item in items if item not in given}
    return html.Div(
        [
            html.H3(f"{agent} knew{' (acts now)' if acts else ''}"),
            _items(items, shared, told),
            html.Div("and could infer", className="layer-title"),
            html.Ul(lines),
        ],
        className="knows",
    )


def _items(items: Sequence[str], marked: set[str], told: set[str] | None = None) -> Part:
    """Knowledge items; those shared on this step stand out, those that the partner told say so."""
    return html.Ul(
        [
            html.Li([html.B(DRAWING.prose(item)) if item in marked else DRAWING.prose(item), " (told)" if item in (told or ()) else ""])
            for item in items
        ]
    )


DRAWING = EinsteinDrawing()
