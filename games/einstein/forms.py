"""Einstein's grammar as forms: the actions that a player's mode has, with what it can reach and knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from games.einstein.engine.modes import ALLOWED
from games.einstein.game import PlayerView as Seen
from games.players.forms import Form, Slot
from games.players.player import Observation

_THOUGHT: Final = Slot("thought", "why; your partner does not read it")


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written."""
    return tuple(_forms(seen.data))


def _forms(seen: Seen) -> Iterator[Form]:
    verbs = ALLOWED[seen.mode]
    objects = tuple(f"block{number}" for number in range(seen.num_objects))
    moves = tuple(f"{name} from {place}" for name, place in zip(objects, seen.positions, strict=True) if place in seen.reach)
    if moves:
        yield _form("Move an object", "move $block to $bin", Slot("block", "object", moves), Slot("bin", "to", seen.reach))
    if (verbs.share or verbs.reply) and seen.items:
        items = tuple(item.text for item in seen.items)
        yield _form("Share what you know" if verbs.share else "Answer with what you know", "share $item", Slot("item", "item", items))
    if verbs.ask:
        yield _form("Ask about an object", "ask $block", Slot("block", "object", objects))
    yield _form("Pass", "pass")


def _form(title: str, action: str, *slots: Slot) -> Form:
    return Form(title, f"<THINK>$thought</THINK><ACTION>{action}</ACTION>", (*slots, _THOUGHT))
