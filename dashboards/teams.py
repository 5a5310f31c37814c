"""How teams are told apart: by model, and by whatever else differs between those that are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from schemas.text import printable
from schemas.wording import in_words

if TYPE_CHECKING:
    from dashboards.reader import Reader

__all__ = ["TeamName", "team_names"]


_UNKNOWN = "unknown"
"""The model where a log does not name it: what tells such teams apart is then their name."""


class TeamName(NamedTuple):
    """How a team is called beside others."""

    model: str
    detail: str
    """What tells it from others of the same model here; empty where nothing has to."""

    @property
    def key(self) -> str:
        """One text for both, different for different teams: the label of a line."""
        return f"{self.model}\0{self.detail}"

    def __str__(self) -> str:
        return f"{self.model} ({self.detail})" if self.detail else self.model


def team_names(read: Reader, rows: Sequence[Mapping[str, Any]]) -> list[TeamName]:
    """A name for each row.

    Args:
        read: for conditions in words.
        rows: with model, condition and, where they have it, team (JSON role -> model), builder or max_turns.
    """
    phrases = [_phrases(read, row) for row in rows]
    models = [printable(str(row["model"])) for row in rows]
    names: list[TeamName] = []
    for model, said in zip(models, phrases, strict=True):
        namesakes = [set(others) for other, others in zip(models, phrases, strict=True) if other == model]
        common = set.intersection(*namesakes)
        own = [phrase for phrase in said if phrase not in common] if len(namesakes) > 1 else []
        is_named = model != _UNKNOWN or not own
        names.append(TeamName(model, ", ".join(own)) if is_named else TeamName(", ".join(own), ""))
    return names


def _phrases(read: Reader, row: Mapping[str, Any]) -> list[str]:
    said = read.condition_in_words(row.get("condition")).split(", ")
    model = row["model"]
    team = row.get("team")
    seats = orjson.loads(team) if isinstance(team, str) else team or {}
    seats = seats or ({"builder": row["builder"]} if row.get("builder") else {})
    said += [f"{in_words(role)} {printable(str(player))}" for role, player in seats.items() if player and player != model]
    if row.get("max_turns") and not any(phrase.endswith(" turns") for phrase in said):
        said.append(f"{row['max_turns']} turns")
    return [phrase for phrase in said if phrase and phrase != model]
