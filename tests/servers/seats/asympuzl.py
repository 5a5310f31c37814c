"""What a script would say at AsymPuzl's table, out of a prompt alone."""

from __future__ import annotations

import re

from games.asympuzl.game import Heard, PuzzleView, SoloObservation, solver
from games.asympuzl.players import script_answer
from games.asympuzl.puzzle import AGENTS, Entry


def answer(messages: list[dict[str, str]]) -> str | None:
    """What the sharing player, or the solver, says to what a prompt of AsymPuzl holds; None for another game's."""
    system, text = messages[0]["content"], messages[-1]["content"]
    if "symbolic puzzle" not in system:
        return None
    parts = {part.split("\n", 1)[0]: part.split("\n")[1:] for part in ("\n\n" + text).split("\n\n## ")[1:]}
    if "First clues" in parts:
        first, second = (entries(parts[name]) for name in ("First clues", "Second clues"))
        return solver(SoloObservation(clues_a=first, clues_b=second, system=system, user=text))
    (agent,) = (name for name in AGENTS if f"You are Agent {name}." in system)
    said = [line.split(": ", 1) for line in parts["Recent conversation"] if re.match(r"[AB]: ", line)]
    seen = PuzzleView(
        agent=agent,
        turn=0,
        clues=entries(parts["Your clues"]),
        hypothesis=entries(parts["Your working hypothesis"]),
        received=None,
        conversation=tuple(Heard(name, 0, words) for who, words in said for name in AGENTS if name == who),
        system=system,
        user=text,
    )
    return script_answer("sharing", seen)


def entries(lines: list[str]) -> tuple[Entry, ...]:
    """Positions out of their lines."""
    found = [re.fullmatch(r"Position \d+: shape (\w+), color (\w+)", line) for line in lines]
    return tuple(Entry(line[1], None if line[2] == "unknown" else line[2]) for line in found if line)
