"""What a Hanabi player is told, and the listed actions. Source: formats description of LLM-Coordination, section 3.2."""

from __future__ import annotations

from typing import Final

from games.coordination.hanabi.rules import COLORS, HanabiState, Known, Move
from games.coordination.players import Player, partner_of

COLOR_NAMES: Final = {"R": "Red", "Y": "Yellow", "G": "Green", "W": "White", "B": "Blue"}
COLOR_LETTERS: Final = {name: letter for letter, name in COLOR_NAMES.items()}


def action_text(move: Move, player: Player) -> str:
    """A move without its letter."""
    if move.card is not None:
        return f"{move.verb.title()} My Card {move.card}."
    partner = partner_of(player)
    if move.verb == "reveal_color":
        return f"Reveal {partner}'s {COLOR_NAMES[move.value or 'R']} color cards."
    return f"Reveal {partner}'s rank {move.value} cards."


def listed(moves: tuple[Move, ...], player: Player) -> tuple[str, ...]:
    """Moves as listed: letters number the list of this very turn."""
    return tuple(f"{chr(ord('A') + place)}. {action_text(move, player)}" for place, move in enumerate(moves))


def observation(state: HanabiState, player: Player, seat: int, actions: tuple[str, ...]) -> str:
    """What the player sees: everything but its own cards."""
    partner = partner_of(player)
    stacks = " ".join(f"{COLOR_NAMES[color]} - {COLOR_NAMES[color]} {state.fireworks[color]}" for color in COLORS)
    lines = [
        f"It is currently My ({player}) turn. Current Stacks: {stacks} ",
        "My cards based on my knowledge: ",
        *(f"Card {place} could be: {_known(known)}" for place, known in enumerate(state.knowledge[seat])),
        f"I can see {partner}s Cards are: ",
        *(f"[Card {place}: {COLOR_NAMES[card[0]]} {card[1]}]" for place, card in enumerate(state.hands[1 - seat])),
        f"{partner}s Knowledge about his cards: ",
        *(f"{partner} believes his Card {place} could be: {_known(known)}" for place, known in enumerate(state.knowledge[1 - seat])),
        f"Remaining Reveal Tokens: {state.tokens}",
        f"Remaining Lives: {state.lives}",
        f"Deck Size: {state.deck}",
        f"The discard pile is: [{', '.join(state.discards)}]",
        "Available Legal Actions: ",
        *actions,
    ]
    return "\n".join(lines) + "\n"


def _known(known: Known) -> str:
    colors = ", ".join(COLOR_NAMES[color] for color in COLORS if color in known.colors)
    return f"[{colors}] [{', '.join(known.ranks)}]"
