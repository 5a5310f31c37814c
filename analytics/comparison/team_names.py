"""Teams in few words, where a sentence or a figure has no room for all seats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["names_under", "short_names", "unlike_names"]


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Team name, as in the view `team_names` -> the seats in which it differs from the other teams.

    Where one seat of several is left, its role is left out. A name stays as it is where shortening would make two teams the same.
    """
    seats = {name: name.split(", ") for name in dict.fromkeys(names)}
    common = set.intersection(*map(set, seats.values())) if len(seats) > 1 else set()
    short = {name: _told(of_name, common) or name for name, of_name in seats.items()}
    return {name: told if list(short.values()).count(told) == 1 else name for name, told in short.items()}


def names_under(rows: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str | None], str]:
    """Team and condition -> the team in few words, with its condition where the same team stands under another one too."""
    sides = list(dict.fromkeys(rows))
    short = short_names([team for team, _ in sides])
    return dict(zip(sides, unlike_names([(short[team], condition, None) for team, condition in sides]), strict=True))


def unlike_names(sides: Sequence[tuple[str, str | None, int | None]]) -> list[str]:
    """Names of teams, each with its condition and turn limit where another one has the same name without.

    Args:
        sides: team's name, condition, turn limit; no two alike.
    """
    return [_unlike(side, sides) for side in sides]


def _unlike(side: tuple[str, str | None, int | None], sides: Sequence[tuple[str, str | None, int | None]]) -> str:
    name, condition, turns = side
    namesakes = [other for other in sides if other[0] == name and other != side]
    told = [f"under {condition}"] if any(other[1] != condition for other in namesakes) else []
    told += [f"with {turns or 'unknown'} turns"] if any(other[1] == condition for other in namesakes) else []
    return " ".join([name, *told])


def _told(seats: list[str], common: set[str]) -> str:
    """A lone seat is a model's name, which may be of several words: `GPT 4o`."""
    left = [seat for seat in seats if seat not in common]
    return left[0].split(" ", 1)[-1] if len(left) == 1 < len(seats) else ", ".join(left)
