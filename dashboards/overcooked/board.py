"""Collab-Overcooked: the kitchen, what was planned, requested and refused, and both trajectories against the best matching reference."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dashboards.parts import Part, data, html
from games.overcooked.engine.layout import AGENTS, Cell, Layout, kitchen
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.measures import history, score
from games.overcooked.text.replies import AgentInput, requests_meant
from games.players.player import Observation
from judges.evidence.transcript import JsonObject, Transcript, TurnView
from judges.overcooked.checks import action_call, layout_in, references_of, task_in
from schemas.common.text import printable
from schemas.common.wording import score as score_in_words

_ARROWS: Final = {"north": "▲", "south": "▼", "east": "▶", "west": "◀"}
_NAMES: Final = {
    "pot0": "pot",
    "oven0": "oven",
    "chopping_board0": "board",
    "blender0": "blender",
    "ingredient_dispenser": "ingre\u00addients",
    "dish_dispenser": "dishes",
    "delivery": "delivery",
}
_ACTS: Final = {
    "pickup": "pick up {0} ({1})",
    "place_obj_on_counter": "put it on the counter",
    "put_obj_in_utensil": "bring it to the {0}",
    "fill_dish_with_food": "fill the dish at the {0}",
    "cut": "cut at the {0}",
    "stir": "stir at the {0}",
    "bake": "bake in the {0}",
    "cook": "cook in the {0}",
    "deliver_soup": "deliver",
    "wait": "wait {0}",
}
"""Action -> in words, with its arguments."""
_CALL: Final = re.compile(rf"\b({'|'.join(_ACTS)})\(([^()]*)\)")
_CODED: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)+\d?\b")
_FLOOR: Final = "#f7f3ea"
_COUNTER: Final = "#e3dccd"
_FIXTURE: Final = "#d5dfec"
_BODIES: Final = ("#f3c9a5", "#bfe0cf")


class OvercookedDrawing:
    """Draws the kitchen before and after a timestep."""

    STILL = "No agent finished an action: they walked, waited or planned."

    def about(self, game: Transcript) -> str:  # noqa: ARG002 - one game for all logs
        """Who knows what."""
        return (
            "A Chef, who alone has the recipe, and an Assistant, who alone reaches the ingredients, cook one order before the time "
            "is up. Things pass between them over the shared counters in the middle; the Chef asks for what it needs."
        )

    def prose(self, text: str) -> str:
        """`pickup(egg,ingredient_dispenser)` as `pick up egg (ingredients)`."""
        return _CODED.sub(lambda found: _plain(found[0]), _CALL.sub(lambda found: _act(found[1], found[2].split(",")), text))

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """Both pictures; requests and refusals of the timestep; both trajectories so far."""
        layout = layout_in(game) or kitchen()
        kitchens = html.Div(
            [
                html.Div([html.H3("Kitchen before the timestep"), _kitchen(turn.state_before, layout)], className="picture"),
                html.Div([html.H3("Kitchen after"), _kitchen(turn.state_after, layout)], className="picture"),
            ],
            className="boards",
        )
        return html.Div([kitchens, *_requests(turn), *_refusals(turn), *_trajectories(game, turn)])

    def goal(self, game: Transcript) -> Part:
        """The order and its recipe."""
        task = task_in(game)
        if task is None:
            return html.P(printable(game.task_id))
        level = "" if task.level is None else f"Level {task.level}; "
        limits = f"{level}time limit {task.time_limit} timesteps, the fastest reference takes {task.time_shortest + 1}."
        return html.Div([html.H3("Order and recipe"), html.Pre(recipe_text(task.order, task.layout)), html.P(limits)])

    def seat(self, seen: Observation) -> Part:
        """The kitchen, which both agents see alike."""
        if seen.scene is None:
            return html.Div()
        shown: AgentInput = seen.data
        return html.Div([html.Div([html.H3("The kitchen"), _kitchen(seen.scene(), shown.layout)], className="picture")], className="boards")

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """`pick up egg (counter)`, and of a verified action whose it is: `Chef: pick up egg (counter)`."""
        given = [str(value) for name, value in arguments.items() if name != "agent"]
        whose = f"{arguments['agent']}: " if "agent" in arguments else ""
        return whose + _act(verb, given)


def _act(verb: str, given: Sequence[str]) -> str:
    """An action in words; one that the kitchen does not know, or with too few arguments, as its log has it."""
    named = [_NAMES.get(value.strip(), _plain(value.strip())).replace("\u00ad", "") for value in given]
    form = _ACTS.get(verb, "")
    if not form or form.count("{") > len(named):
        return f"{verb}({', '.join(given)})"
    return form.format(*named).strip()


def _kitchen(state: JsonObject, layout: Layout) -> Part:
    cells = [_cell(state, (x, y), layout) for y in range(layout.height) for x in range(layout.width)]
    return html.Div(cells, className="kitchen", style={"gridTemplateColumns": f"repeat({layout.width}, minmax(0, 1fr))"})


def _cell(state: JsonObject, at: Cell, layout: Layout) -> Part:
    for index, body in enumerate(state["agents"]):
        if tuple(body["at"]) == at:
            held = body["held"] or "nothing"
            words: list[Part] = [html.B(f"{AGENTS[index]} {_ARROWS.get(body['facing'], '')}"), html.Br(), _plain(held)]
            return html.Div(words, style={"background": _BODIES[index]}, title=f"{AGENTS[index]} faces {body['facing']}, holds {held}")
    fixture = layout.fixtures.get(at)
    if fixture is not None:
        return html.Div(
            [html.B(_NAMES.get(fixture, _plain(fixture))), html.Br(), _contents(state, fixture, layout)],
            style={"background": _FIXTURE},
            title=fixture,
        )
    if at in layout.counters:
        item = state["counters"].get(f"({at[0]},{at[1]})")
        shared = "outset 1px #b9ae98" if at in layout.shared_counters else "none"
        return html.Div(_plain(item) if item else "", style={"background": _COUNTER, "border": shared}, title=f"counter {at}")
    return html.Div(style={"background": _FLOOR})


def _contents(state: JsonObject, fixture: str, layout: Layout) -> str:
    pot = state["utensils"].get(fixture)
    if pot is None:
        return ""
    if pot["product"] is None:
        return ", ".join(map(_plain, pot["contents"]))
    ready = pot["timer"] >= layout.cook_time
    return f"{_plain(pot['product'])} {'✓ ready' if ready else str(pot['timer']) + ' of ' + str(layout.cook_time)}"


def _plain(item: str) -> str:
    return printable(str(item)).replace("_", " ")


def _requests(turn: TurnView) -> list[Part]:
    asked = [
        html.Li([html.B(f"{printable(said.agent)}: "), "; ".join(map(printable, requests_meant(said.text)))])
        for said in turn.by_channel("private")
        if requests_meant(said.text)
    ]
    return [html.H3("Requested of the partner"), html.Ul(asked)] if asked else []


def _refusals(turn: TurnView) -> list[Part]:
    refused = [
        html.Li([html.B(f"{printable(a.agent)} {a.error_code}: "), printable(a.error_text or "")])
        for a in turn.actions
        if a.accepted is False
    ]
    return [html.H3("Refused by the engine"), html.Ul(refused)] if refused else []


def _trajectories(game: Transcript, turn: TurnView) -> list[Part]:
    """What each has done up to here beside the reference that fits best; what was followed is marked."""
    if task_in(game) is None:
        return []
    told, columns = zip(*(_trajectory(game, turn, index) for index in range(len(AGENTS))), strict=True)
    fold = html.Details([html.Summary("; ".join(told)), html.Div(columns)], className="trajectories", **data(fold="trajectories"))
    return [html.H3("Steps of the best matching published reference that were followed"), fold]


def _trajectory(game: Transcript, turn: TurnView, index: int) -> tuple[str, Part]:
    """In words how far one agent came, and what it did beside what the reference does."""
    raw = [
        action_call(action)
        for t in game.turns
        if t.turn <= turn.turn
        for action in t.actions
        if action.agent == AGENTS[index] and action.accepted
    ]
    done = history(raw, layout_in(game))
    references = references_of(game, index)
    found = score(done, references)
    reference = references[found.reference]
    followed = _followed(done, reference)
    told = f"{AGENTS[index]} {found.d_max} of {len(reference)}"
    title = f"{AGENTS[index]}: trajectory score {score_in_words(found.tes)}, {found.d_max} of {len(reference)} followed"
    mine = [html.Li(printable(action), className="pill good" if place in followed else "pill quiet") for place, action in enumerate(done)]
    theirs = [html.Li(action, className="pill good" if place < found.d_max else "pill quiet") for place, action in enumerate(reference)]
    lines = [html.Dt("done"), html.Dd(html.Ol(mine or [html.Li("nothing")])), html.Dt("reference"), html.Dd(html.Ol(theirs))]
    return told, html.Div([html.H3(title), html.Dl(lines)])


def _followed(done: Sequence[str], reference: Sequence[str]) -> set[int]:
    """Places in what was done that carry the reference on."""
    found: set[int] = set()
    for place, action in enumerate(done):
        if len(found) < len(reference) and action == reference[len(found)]:
            found.add(place)
    return found


DRAWING = OvercookedDrawing()
