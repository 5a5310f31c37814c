"""AsymPuzl's grammar as a form: a message, and positions that are overwritten."""

from __future__ import annotations

from collections.abc import Sequence

from games.asympuzl.puzzle import COLORS, SHAPES
from games.players.forms import Form, Slot
from games.players.player import Observation


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written."""
    words = _words(seen)
    replace = Form(
        "Overwrite",
        '{"replace": $position, "by": {"shape": "$shape", "color": "$color"}}',
        (
            Slot("position", "position", tuple(str(number + 1) for number in range(words[2]))),
            Slot("shape", "shape", words[0]),
            Slot("color", "color", words[1]),
        ),
    )
    return (
        Form(
            "Answer",
            '{"message": $message, "actions": [$actions]}',
            (Slot("message", "message to your partner", is_json=True), Slot("actions", "your table", pieces=(replace,), joined=", ")),
        ),
    )


def _words(seen: Observation) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Shapes and colors that can be written, those that the player was shown first, and the number of positions."""
    shown = seen.data
    clues = (*shown.clues_a, *shown.clues_b) if seen.role == "solo" else shown.clues
    shapes = dict.fromkeys([*(entry.shape for entry in clues), *SHAPES])
    colors = dict.fromkeys([*(entry.color for entry in clues if entry.color), *COLORS])
    size = len({entry.shape for entry in clues})
    return tuple(shapes), tuple(colors), size
