"""Which target view a director was really shown.

The released code shows ``spans`` views. Some published runs were played with targets mirrored for D2 and D3 and without large blocks; only
the prompt tells. Where a log has the full prompt the view is read out of it, otherwise the view that the log states is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from games.craft.engine.blocks import DIRECTORS, Director
from games.craft.engine.board import Board
from games.craft.engine.views import VIEW_KINDS, ViewKind, all_views, views_json
from schemas.text import without_half_pairs

__all__ = ["OTHER_VIEW", "ShownView", "shown_in_prompt", "shown_views"]

OTHER_VIEW: Final = "other"
"""A view that is no reading of the target."""

_HEADING: Final = re.compile(r"^[ \t]*#+[ \t]*YOUR TARGET VIEW\b[^\n]*\n\s*(?=\{)", re.MULTILINE)


class ShownView(NamedTuple):
    """A director's target view."""

    view: object
    """Rows of colours and sizes, as found."""

    kind: str
    """One of ``games.craft.views.VIEW_KINDS`` or ``OTHER_VIEW``."""

    source: str
    """``prompt``, ``log`` or ``derived``."""


def shown_in_prompt(prompt: str) -> object | None:
    """The target view that a director's prompt holds; None if the prompt was shortened or has none."""
    heading = _HEADING.search(prompt)
    if heading is None:
        return None
    try:
        view, _ = json.JSONDecoder().raw_decode(prompt, heading.end())
    except ValueError:  # the prompt was cut inside the view
        return None
    return without_half_pairs(view) if isinstance(view, dict) else None


def shown_views(target: Board, prompts: Mapping[str, object], logged: Mapping[str, object]) -> dict[Director, ShownView]:
    """What each director was shown.

    Args:
        target: the target.
        prompts: views found in prompts, by director.
        logged: views that the log states, by director.

    A view can fit several kinds (D1 is never mirrored; a wall without whole large blocks looks the same with and without spans). The
    kind that fits most directors wins, in the engine's order.
    """
    variants = {kind: views_json(all_views(target, kind)) for kind in VIEW_KINDS}
    found = {director: _found(director, prompts, logged, variants["spans"]) for director in DIRECTORS}
    order = sorted(VIEW_KINDS, key=lambda kind: -sum(view == variants[kind][director] for director, (view, _) in found.items()))
    return {
        director: ShownView(view, _kind(kind for kind in order if variants[kind][director] == view), source)
        for director, (view, source) in found.items()
    }


def _found(
    director: Director,
    prompts: Mapping[str, object],
    logged: Mapping[str, object],
    spans: Mapping[str, dict[str, list[dict[str, str | int]]]],
) -> tuple[object, str]:
    if director in prompts:
        return prompts[director], "prompt"
    if director in logged:
        return logged[director], "log"
    return spans[director], "derived"


def _kind(fitting: Iterable[ViewKind]) -> str:
    return next(iter(fitting), OTHER_VIEW)
