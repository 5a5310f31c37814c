"""LLM-Coordination: hands and knowledge in Hanabi, kitchens, rooms with doors and the adversary, and single questions."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dashboards.parts import Part, html
from games.coordination import capture, escape
from games.coordination.hanabi import COLOR_NAMES, COLORS
from games.coordination.kitchen import COOKING_TICKS, LAYOUTS, ONIONS, Layout, Spot
from games.coordination.players import PLAYERS
from games.players.player import Observation
from judges.coordination.situation import QUESTIONS, game_of
from judges.evidence.transcript import JsonObject, Transcript, TurnView
from schemas.common.text import printable

_WIDE: Final = 7
"""Tiles in a row."""
_TO_ROOM: Final = {"move": "move to", "fix": "repair in", "stay": "stay in"}
_SOUP: Final = re.compile(r"soup (\d+)/(\d+)")
_RULES: Final = {
    QUESTIONS: "A question about a moment of one of the games, with options of which one is right.",
    "hanabi": (
        "Five colored stacks grow from 1 to 5, a point for each card that fits: 25 is all. Each player sees the other's hand "
        "and not its own, and knows of its own what hints told. A hint costs a token, a discard gives one back, a card that "
        "does not fit costs a life; without lives all is lost."
    ),
    "overcooked": (
        "Two cooks deliver as many onion soups as they can, 20 points each: three onions into a pot, twenty timesteps to cook, "
        "onto a plate, to the delivery. Each holds one thing at a time."
    ),
    "collab_capture": (
        "Alice and Bob catch the thief by being in its room or meeting it on the way; it flees from whoever is nearest. All "
        "move at once, one room a turn. A closed door is a dead end, and is opened from the room with its button."
    ),
    "collab_escape": (
        "Alice and Bob repair the generators in rooms 1 and 6, two turns in a row each; then the exit in room 7 opens, and one "
        "of them has to reach it. The killer goes for whom it sees next door; whoever shares its room has lost the game for "
        "both. All act at once."
    ),
}
"""Game -> what somebody who has never seen it has to know."""

_CARD_COLORS: Final = {"R": "#e9a3a3", "Y": "#f2dc8c", "G": "#a9d6b0", "W": "#f4f4f4", "B": "#a9c4ea"}
_TILES: Final = {
    "X": ("#e3dccd", ""),
    "O": ("#f2dc8c", "onions"),
    "D": ("#d5dfec", "plates"),
    "P": ("#c9c2d8", "pot"),
    "S": ("#bfe0cf", "delivery"),
    " ": ("#f7f3ea", ""),
}
_ARROWS: Final = {"north": "▲", "south": "▼", "east": "▶", "west": "◀"}
_CAPTURE_PLACES: Final = {2: (1, 1), 3: (1, 2), 4: (1, 3), 1: (2, 1), 6: (2, 2), 5: (2, 3), 9: (3, 2), 7: (3, 3), 8: (3, 4)}
_ESCAPE_PLACES: Final = {1: (1, 1), 2: (1, 2), 3: (1, 3), 4: (1, 4), 10: (2, 1), 8: (2, 3), 5: (2, 4), 9: (3, 2), 7: (3, 3), 6: (3, 4)}
"""Room -> row and column of its box."""


class CoordinationDrawing:
    """Draws the state before and after a turn of any of the games, or a question with its options."""

    CARRIED_OUT = frozenset({"misplay", "deadly"})
    """Errors of plays that the engine objects to and that are carried out: a life is lost."""

    def about(self, game: Transcript) -> str:
        """The rules, and who knows what."""
        return _RULES[game_of(game)]

    def prose(self, text: str) -> str:
        """Who is called Adversary in logs is the killer."""
        return text.replace("Adversary", "killer")

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """Both states side by side."""
        kind = game_of(game)
        if kind == QUESTIONS:
            return _question(game, turn)
        draw = _PICTURES[kind]
        looks = f"picture{' wide' if _is_wide(turn.state_before) else ''}"
        return html.Div(
            [
                html.Div([html.H3("Before"), draw(turn.state_before)], className=looks),
                html.Div([html.H3("After"), draw(turn.state_after)], className=looks),
            ],
            className="boards",
        )

    def goal(self, game: Transcript) -> Part:
        """The key of a question; what a game is about is said above."""
        goal = game.goal or {}
        if game_of(game) != QUESTIONS:
            return None
        right = ", ".join(str(place + 1) for place in goal.get("correct_options", ()))
        return html.P(printable(f"Key {goal.get('key')}; in words: {goal.get('answer')}; right by the corrected key: option {right}"))

    def seat(self, seen: Observation) -> Part:
        """The state as far as the player sees it: of Hanabi without its own cards."""
        if seen.scene is None:
            return html.Div()
        drawn = _PICTURES[seen.data.game](seen.scene())
        return html.Div([html.Div([html.H3("What you see"), drawn], className="picture")], className="boards")

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """`play card 1 (B1)`, `north, for: pick up onion from o0.`, `move to room 3`."""
        if verb == "answer":
            return f"answered {arguments.get('letter') or 'with no letter'}; the published scoring read {arguments.get('published_letter')}"
        if "card" in arguments:
            return f"{verb} card {arguments['card']} ({arguments.get('was')})"
        if "value" in arguments:
            return f"{verb.replace('_', ' ')} {arguments['value']}, cards {arguments.get('touched')}"
        if "macro" in arguments:
            return f"{verb}, for: {printable(str(arguments['macro']))}"
        return f"{_TO_ROOM.get(verb, verb)} room {arguments['room']}" if arguments.get("room") else verb


def _question(game: Transcript, turn: TurnView) -> Part:
    right = set((game.goal or {}).get("correct_options", ()))
    read = turn.state_after.get("read_option")
    lines = [
        html.Li(
            [
                f"{option['letter']}. {printable(option['text'])} ",
                html.Span("right", className="pill good") if place in right else None,
                html.Span("chosen", className="pill warn") if place == read else None,
            ]
        )
        for place, option in enumerate(turn.state_before.get("options", ()))
    ]
    text = str(turn.state_before.get("question"))
    return html.Div([html.Pre(text, style={"whiteSpace": "pre-wrap"}), html.H3("Options"), html.Ul(lines)])


def _table(state: JsonObject) -> Part:
    stacks = [_card(f"{color}{state['fireworks'][color]}", f"{COLOR_NAMES[color]} stack") for color in COLORS]
    lives = "1 life" if state["life_tokens"] == 1 else f"{state['life_tokens']} lives"
    facts = f"{state['information_tokens']} tokens, {lives}, {state['deck_size']} cards left"
    hands = [_hand(player, state) for player in PLAYERS]
    discards = html.P(f"Discarded: {printable(', '.join(state['discard_pile']) or 'nothing')}", className="hint")
    return html.Div([html.Div(stacks, className="hand"), html.P(facts), *hands, discards])


def _hand(player: str, state: JsonObject) -> Part:
    cards = [
        html.Div([_card(card, f"{player}'s card {place}"), html.Div(_known(known), className="layer-title")])
        for place, (card, known) in enumerate(zip(state["hands"][player], state["knowledge"][player], strict=True))
    ]
    return html.Div([html.H3(f"{player}'s hand; below, what hints told"), html.Div(cards, className="hand")])


def _known(known: JsonObject) -> str:
    colors = "" if known["colors"] == COLORS else str(known["colors"])
    ranks = "" if known["ranks"] == "12345" else str(known["ranks"])
    return ", ".join(filter(None, [colors, ranks])) or "–"


def _card(card: str | None, title: str) -> Part:
    """A card; one that no log says is a question mark."""
    card = card or "?"
    return html.Div(printable(card), className="hanabi-card", style={"background": _CARD_COLORS.get(card[:1], "#fff")}, title=title)


def _kitchen(state: JsonObject) -> Part:
    layout = LAYOUTS[state["layout"]]
    if "cooks" not in state:
        return _told_kitchen(layout, state)
    points = [html.P(f"{state['score']} points", className="hint")] if "score" in state else []
    return html.Div([_grid(layout, state), *points])


def _told_kitchen(layout: Layout, state: JsonObject) -> Part:
    """What a player's own file tells: contents of cookers and shared counters, hands, ways; nobody's place."""
    if state["cookers"] is None:
        return html.P("The log ends here: what this decision led to is not in it.", className="hint")
    full = {name: f"{cooker['onions']}/3 {cooker['soup']}" for name, cooker in state["cookers"].items() if cooker["onions"]}
    full |= {name: item for name, item in state["counters"].items() if item != "empty"}
    shown = {"cooks": {}, "objects": [{"position": list(layout.names[name]), "item": item} for name, item in full.items()]}
    held = ", ".join(f"{player} holds {item}" for player, item in state["held"].items())
    ways = [
        html.P(printable(f"{player}'s steps: {', '.join(f'{name} {steps}' for name, steps in found.items())}"), className="hint")
        for player, found in state["distances"].items()
    ]
    return html.Div(
        [_grid(layout, shown), html.P(printable(held)), *ways, html.P("Places and points are not in this log.", className="hint")]
    )


def _is_wide(state: JsonObject) -> bool:
    """A kitchen whose tiles have no room for their words when two stand side by side."""
    return "layout" in state and max(map(len, LAYOUTS[state["layout"]].grid)) > _WIDE


def _grid(layout: Layout, state: JsonObject) -> Part:
    width = max(len(row) for row in layout.grid)
    cells = [_tile(layout, spot, state) for spot in layout.spots]
    return html.Div(cells, className="kitchen", style={"gridTemplateColumns": f"repeat({width}, minmax(0, 1fr))"})


def _tile(layout: Layout, spot: Spot, state: JsonObject) -> Part:
    color, name = _TILES[layout.tile(spot)]
    here = [f"{player[0]} {_ARROWS[cook['facing']]}" for player, cook in state["cooks"].items() if cook["position"] == list(spot)]
    held = [_item(str(cook["held"])) for cook in state["cooks"].values() if cook["position"] == list(spot) and cook["held"]]
    lying = [_item(str(found["item"])) for found in state["objects"] if found["position"] == list(spot)]
    style = {"background": color, "textAlign": "center"}
    if here:
        style |= {"background": "#f3c9a5" if here[0].startswith("A") else "#bfe0cf", "fontWeight": "600"}
    lines = [*here, *held, *lying] or [name]
    return html.Div([html.Div(printable(line)) for line in lines], style=style, title=name)


def _item(name: str) -> str:
    """`soup 3/14` is three onions that have cooked for 14 timesteps; a dish is what the rules call a plate."""
    found = _SOUP.fullmatch(name)
    if found is None:
        return "plate" if name == "dish" else name
    onions, ticks = int(found[1]), int(found[2])
    if onions < ONIONS:
        return f"{onions} onion{'s' if onions > 1 else ''}"
    return "soup, ready" if ticks >= COOKING_TICKS else f"soup, {ticks} of {COOKING_TICKS}"


def _capture(state: JsonObject) -> Part:
    doors = [f"door {name} {'open' if is_open else 'closed'}" for name, is_open in state["doors"].items()]
    extra = {room: [f"button {door}"] for room, door in capture.BUTTONS.items()}
    return html.Div([_rooms(state["rooms"], _CAPTURE_PLACES, capture.ROOMS, extra), html.P(", ".join(doors), className="hint")])


def _escape(state: JsonObject) -> Part:
    extra = {
        int(room): [f"generator {'repaired' if count >= escape.FIXES_NEEDED else f'{count} of {escape.FIXES_NEEDED}'}"]
        for room, count in state["generators"].items()
    }
    extra[escape.EXIT] = ["exit open" if state["exit_gate"] else "exit closed"]
    target = state.get("adversary_target")
    goal = f"The killer goes for {target}." if target else "Nobody knows where the killer goes next."
    shown = [html.P(goal, className="hint")] if "adversary_target" in state else []
    return html.Div([_rooms(state["rooms"], _ESCAPE_PLACES, escape.ROOMS, extra), *shown])


def _rooms(
    who: JsonObject, places: Mapping[int, tuple[int, int]], ways: Mapping[int, tuple[int, ...]], extra: Mapping[int, list[str]]
) -> Part:
    boxes = []
    for room, (row, column) in places.items():
        inside = [name for name, where in who.items() if where == room]
        hunted = any(name in {"Thief", "Adversary"} for name in inside)
        style = {
            "gridArea": f"{row} / {column}",
            "background": "#f3b8b8" if hunted else "#dbe8f7" if inside else "#f3f5f9",
        }
        lines = [html.B(f"Room {room}"), html.Div(", ".join(map(DRAWING.prose, inside))), *map(html.Div, extra.get(room, ()))]
        boxes.append(html.Div(lines, style=style, title=f"ways to {', '.join(map(str, ways[room]))}"))
    return html.Div(boxes, className="rooms")


_PICTURES: Final[Mapping[str, Callable[[JsonObject], Part]]] = {
    "hanabi": _table,
    "overcooked": _kitchen,
    "collab_capture": _capture,
    "collab_escape": _escape,
}
"""Game -> how a state of it is drawn."""

DRAWING = CoordinationDrawing()
