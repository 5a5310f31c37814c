"""Overcooked-AI played by models, scripts and people; each scripted cook chooses a listed macro action and gives a reason."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from games.coordination import kitchen as rules
from games.coordination.courses.agent import Decided, GameSetup, Situation, Table, decide, earlier, rules_of, voices
from games.coordination.players import PLAYERS, Player, ScriptDecision, graded, ground
from games.players.course import Course
from games.players.player import texts_of
from schemas.game import ActionEntry, End, Turn


def course(at: GameSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its ticks as the step log has them.

    A cook is asked again when its macro action is finished.
    """
    layout, score = rules.LAYOUTS[at.variant], 0
    state, steps = rules.start(layout), table.steps
    macros: dict[int, str] = {}
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    most = layout.pots * rules.TICKS / rules.COOKING_TICKS
    stuck = False
    while len(steps) < at.turns:
        table.state = state
        asked: dict[int, Decided] = {}
        for cook, player in enumerate(PLAYERS):
            if cook not in macros:
                asked[cook] = yield from decide(_situation(at, (layout, state), cook, done, len(steps) + 1), at.switches)
                done[player].append(asked[cook].action)
        current = macros | {cook: decided.action for cook, decided in asked.items()}
        moves = {cook: rules.low_level(layout, state, cook, macro) for cook, macro in current.items()}
        if stuck:  # Bob makes room when he could not go on, as in the published game; Alice does not
            moves[1] = rules.low_level(layout, state, 1, rules.MOVE_AWAY)
        lows = [moves[cook][0] for cook in range(len(PLAYERS))]
        after, reward = rules.step(layout, state, lows)
        shown = rules.shown_state(state, score, layout)
        score += reward
        steps.append(
            {
                "schema": "overcooked_step/1",
                "game": "overcooked",
                "episode": at.episode,
                "layout": at.variant,
                "tick": len(steps),
                **rules.shown_kitchen(state),
                "actions": [
                    {
                        "player": player,
                        "policy": at.taken[player],
                        "current_macro": current[cook],
                        "new_macro": cook in asked,
                        "low_level": lows[cook],
                        **({"selected": current[cook], **asked[cook].reading} if cook in asked else {}),
                    }
                    for cook, player in enumerate(PLAYERS)
                ],
                "sparse_reward": reward,
                "score": score,
                "terminal": len(steps) + 1 == at.turns,
            }
        )
        yield Turn(
            turn=len(steps),
            state_before=shown,
            state_after=rules.shown_state(after, score, layout),
            utterances=[utterance for cook, decided in asked.items() for utterance in voices(PLAYERS[cook], decided)],
            actions=[_action(cook, (state, after), lows[cook], current[cook], asked.get(cook)) for cook in range(len(PLAYERS))],
            goal_reached=False,
            progress=min(1.0, score / rules.DELIVERY / most),
        )
        macros = {cook: macro for cook, macro in current.items() if not moves[cook][1]}
        stuck = lows[1] not in {"interact", "stay"} and state.cooks[1] == after.cooks[1]  # Alice took his tile in this very tick
        state = after
    return End(score=float(score), stop_reason="out_of_time", turns_taken=len(steps))


def _situation(
    at: GameSetup, seen: tuple[rules.Layout, rules.KitchenState], cook: int, done: dict[Player, list[str]], turn: int
) -> Situation:
    layout, state = seen
    player, partner = PLAYERS[cook], PLAYERS[1 - cook]
    texts = texts_of(__package__)["games"]["overcooked"]
    return Situation(
        game="overcooked",
        player=player,
        turn=turn,
        rules=rules_of("overcooked", player, partner, layout=texts["layouts"][layout.name]),
        state=earlier(done[player], at.switches) + rules.state_text(layout, state, cook, partner=at.switches.partner_information),
        actions=rules.listed(layout, state, cook),
        layout=texts["layout"],
        joint=", ",
        ground=ground,
        otherwise=lambda left: rules.WAIT if rules.WAIT in left else left[0],
        scene=lambda: _scene(layout, state, player, at),
    )


def _scene(layout: rules.Layout, state: rules.KitchenState, player: Player, at: GameSetup) -> dict[str, Any]:
    """The kitchen for a player; without information about the partner that one is not in it."""
    shown = rules.shown_state(state, 0, layout)
    if not at.switches.partner_information:
        shown["cooks"] = {player: shown["cooks"][player]}
    return {name: value for name, value in shown.items() if name != "score"}


def _action(cook: int, states: tuple[rules.KitchenState, rules.KitchenState], low: str, macro: str, decided: Decided | None) -> ActionEntry:
    fault = _fault(cook, states, low)
    return ActionEntry(
        agent=PLAYERS[cook],
        verb=low,
        arguments={"macro": macro, "asked": decided is not None},
        raw=None if decided is None else decided.response,
        accepted=fault is None,
        error_code=None if fault is None else fault[0],
        error_text=None if fault is None else fault[1],
        read=None if decided is None else decided.kind,
    )


def _fault(cook: int, states: tuple[rules.KitchenState, rules.KitchenState], low: str) -> tuple[str, str] | None:
    """Why a tick's action came to nothing."""
    (before, after), number = states, 1 - cook
    was, now = before.cooks[cook], after.cooks[cook]
    if (
        low in rules.DIRECTIONS
        and now.spot == was.spot
        and was._replace(facing=low).front in (before.cooks[number].spot, after.cooks[number].spot)
    ):
        return "collision", "the partner is in the way: nobody moves"
    if low == "interact" and now.held == was.held and before.objects.get(was.front) == after.objects.get(was.front):
        return "no_effect", "nothing to take, put or deliver there"
    return None


Policy = Callable[[rules.Layout, rules.KitchenState, int, tuple[str, ...], Random], ScriptDecision]
"""(kitchen, state, which cook, listed actions, random numbers) -> decision."""

_STEP_ASIDE: Final = 0.25
"""Share of otherwise idle decisions in which a cook makes way, so that two cooks cannot block one another for good."""

_MAKE_ROOM: Final = 0.5
"""The same where the partner blocks the way."""

_HAND_OVER: Final = "I cannot bring it there myself, so I hand it over."
_SOON: Final = rules.COOKING_TICKS // 2


class Pots(NamedTuple):
    """Cookers by what they need."""

    wanting: list[str]
    """Onions."""
    cooked: list[str]
    soon: list[str]
    """Cooked, or half way there."""


class Wish(NamedTuple):
    """Something that would help: how the action begins, where it helps (anywhere if empty), and why."""

    begins: str
    places: list[str]
    reason: str


def _greedy(layout: rules.Layout, state: rules.KitchenState, cook: int, actions: tuple[str, ...], rng: Random) -> ScriptDecision:
    """Takes the first of what moves a soup on; where the partner blocks the way, now and then makes room."""
    pots = {name: state.objects.get(spot) for name, spot in layout.cookers.items()}
    wanting = [name for name, soup in pots.items() if soup is None or soup.onions < rules.ONIONS]
    cooked = [name for name, soup in pots.items() if rules.is_cooked(soup)]
    cooking = [name for name, soup in pots.items() if soup and soup.onions == rules.ONIONS and soup.ticks >= _SOON]
    shared = [state.objects.get(spot) for name, spot in layout.names.items() if name.startswith("s")]
    lies = any(item is not None and item.name == "dish" for item in shared)
    wished = wishes(state, cook, Pots(wanting, cooked, cooked or cooking), plate_lies=lies)
    idle = "There is nothing to do at once, so I leave the way free."
    return first_wish(wished, actions, lambda text: rules.low_level(layout, state, cook, text) == ("stay", True), rng, idle)


def first_wish(
    wished: Sequence[Wish], actions: Sequence[str], is_blocked: Callable[[str], object], rng: Random, idle: str
) -> ScriptDecision:
    """The first listed action that is wished for, or else, with ``idle`` as the reason, waiting or stepping aside."""
    for wish in wished:
        found = [text for text in actions if text.startswith(wish.begins) and (not wish.places or rules.place_of(text) in wish.places)]
        if not found:
            continue
        if is_blocked(found[0]) and rng.random() < _MAKE_ROOM:
            return ScriptDecision(intended=rules.MOVE_AWAY, explanation="My partner is in the way, so I make room.")
        return ScriptDecision(intended=found[0], explanation=wish.reason)
    return ScriptDecision(intended=rules.MOVE_AWAY if rng.random() < _STEP_ASIDE else rules.WAIT, explanation=idle)


def wishes(state: rules.KitchenState, cook: int, pots: Pots, *, plate_lies: bool) -> list[Wish]:
    """What would help, best first.

    A plate that lies on a shared counter is enough: plates on all of them leave no room for onions, and both cooks wait for ever.
    """
    held = state.cooks[cook].held
    if held is None:
        wishes = [Wish("pick up cooked soup", [], "A cooked soup waits to be delivered.")]
        if pots.soon and not _partner_has_plate(state, cook):
            for begins in ("pick up a plate",) if plate_lies else ("pick up plate", "pick up a plate"):
                wishes += [Wish(begins, [], "A soup is nearly ready and needs a plate.")]
        if pots.wanting:
            wishes += [Wish(begins, [], "A cooker wants more onions.") for begins in ("pick up onion from s", "pick up onion")]
        return wishes
    if held.name == "onion":
        put_down = bool(pots.soon) and not pots.wanting and not _partner_has_plate(state, cook)
        aside = [Wish("place onion on k", [], "A plate is wanted more than this onion.")] if put_down else []
        placed = [Wish("place onion in c", pots.wanting, "This cooker wants more onions.")] if pots.wanting else []
        return [*placed, Wish("place onion in s", [], _HAND_OVER), *aside]
    if held.name == "dish":
        aside = [] if pots.soon else [Wish("place plate on k", [], "No soup is near its end, so I need my hands.")]
        loads = [Wish("load soup", pots.cooked, "The soup is cooked.")] if pots.cooked else []
        return [*loads, Wish("place plate in s", [], _HAND_OVER), *aside]
    return [Wish("place soup for delivery", [], "The soup is ready to be delivered."), Wish("place cooked soup in s", [], _HAND_OVER)]


def _partner_has_plate(state: rules.KitchenState, cook: int) -> bool:
    held = state.cooks[1 - cook].held
    return held is not None and held.name == "dish"


def _waiter(_layout: rules.Layout, _state: rules.KitchenState, _cook: int, _actions: tuple[str, ...], _rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=rules.WAIT, explanation="My partner will do it.", injected=("idle",))


def _random(_layout: rules.Layout, _state: rules.KitchenState, _cook: int, actions: tuple[str, ...], rng: Random) -> ScriptDecision:
    return ScriptDecision(intended=rng.choice(actions), explanation="Any action is fine.")


def _contrary(layout: rules.Layout, state: rules.KitchenState, cook: int, actions: tuple[str, ...], rng: Random) -> ScriptDecision:
    """Acts as the greedy cook, but now and then states the opposite about the first cooker."""
    decision = _greedy(layout, state, cook, actions, rng)
    if rng.random() >= _STEP_ASIDE:
        return decision
    soup = state.objects.get(layout.names["c0"])
    statement = "c0 is empty." if soup is not None else "c0 holds a cooked soup."
    return ScriptDecision(intended=decision.intended, explanation=statement, injected=("misgrounded_state",))


POLICIES: Final[Mapping[str, Policy]] = {
    "greedy": _greedy,
    "waiter": _waiter,
    "random": _random,
    "contrary": _contrary,
    **graded(_greedy, _random),
}
