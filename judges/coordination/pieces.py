"""Pieces of evidence that only LLM-Coordination has: what the player could see, what it replied, and what it did."""

from typing import Final

from games.coordination.players import partner_of
from judges.coordination.situation import QUESTIONS, game_of, harness_choice, player_named
from judges.evidence.frame import Entry, Frame, one_line
from judges.evidence.pieces import AGENT_UNITS, Pieces, UnitContext, action_text
from judges.evidence.transcript import JsonObject

PIECES: Final = Pieces("coordination")

_HIDDEN: Final = frozenset({"hands", "knowledge", "player", "adversary_choice", "layout"})
"""Parts of a state that are not shown as they stand: own cards and the killer's decision are not known, the rest is written out."""


@PIECES.add("coordination_view", "what the player sees before the turn (not its own cards), or the question", AGENT_UNITS)
def _view(context: UnitContext) -> list[Entry]:
    state = context.now.state_before
    if game_of(context.game) == QUESTIONS:
        return [Entry(Frame("The question:"), str(state.get("question")))]
    lines = [f"{name.replace('_', ' ')}: {_plain(value)}" for name, value in state.items() if name not in _HIDDEN]
    return [Entry(Frame("What {} sees before this turn:", context.agent_name), "\n".join([*lines, *_cards(context, state)]))]


def _cards(context: UnitContext, state: JsonObject) -> list[str]:
    player = player_named(context.agent_name)
    if player is None or "hands" not in state:
        return []
    partner = partner_of(player)
    own = [f"own card {place} by hints: {_known(card)}" for place, card in enumerate(state["knowledge"][player])]
    others = [
        f"{partner}'s card {place} is {card}; {partner} knows by hints: {_known(known)}"
        for place, (card, known) in enumerate(zip(state["hands"][partner], state["knowledge"][partner], strict=True))
    ]
    return [*own, *others]


def _known(card: JsonObject) -> str:
    return f"colours {card['colors']}, ranks {card['ranks']}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    return one_line(str(value))


@PIECES.add("coordination_reply", "what the player's or respondent's model replied on this turn", AGENT_UNITS)
def _reply(context: UnitContext) -> list[Entry]:
    """The replies of the judged agent's model that stand: of a player they are private, of a respondent they are the answer."""
    retained = [
        message
        for message in context.now.utterances
        if message.agent == context.agent_name and not message.superseded and message.text.strip()
    ]
    return [Entry(Frame("{} wrote:", message.agent), message.text) for message in retained]


@PIECES.add("coordination_move", "what the player did on this turn, not what came of it", AGENT_UNITS)
def _move(context: UnitContext) -> list[Entry]:
    action = context.now.action_of(context.agent_name)
    if action is None or game_of(context.game) == QUESTIONS:
        return []
    if harness_choice(context.now, context.agent_name) is not None:
        return [Entry(Frame("{} did:", context.agent_name), "nothing of its own: its reply names no listed action, and the game chose one")]
    given = {name: value for name, value in action.arguments.items() if name not in {"was", "asked"}}
    return [Entry(Frame("{} did:", context.agent_name), action_text(action.verb, given))]
