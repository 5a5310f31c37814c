"""What a game had lost up to each turn, as a small drawing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from dash import html

from analytics.losses.lost import amount
from dashboards.figures.palette import OTHER, SERIES
from dashboards.markup import svg
from dashboards.parts import Part

if TYPE_CHECKING:
    from dashboards.reader import Reader

__all__ = ["loss_curve"]

_CURVE = """
    SELECT turn, sum(greatest(cost, 0)) OVER (ORDER BY turn) AS lost_so_far, unit FROM turn_costs
    WHERE episode_id = $episode AND isfinite(cost) ORDER BY turn
    """
_WIDTH, _HEIGHT = 300, 90
_DECISIVE = "SELECT turn FROM decisive_turns WHERE episode_id = $episode"


def loss_curve(read: Reader, episode: str, turn: int) -> Part:
    """What the game had lost up to each turn, with the turn that is shown and the decisive one marked; None where nothing was lost."""
    rows = read.rows(_CURVE, {"episode": episode})
    if rows.is_empty() or not rows["lost_so_far"][-1]:
        return None
    decisive = {found for (found,) in read.rows(_DECISIVE, {"episode": episode}).rows()}
    return html.Details(
        [html.Summary("When it was lost"), _steps(rows["turn"].to_list(), rows["lost_so_far"].to_list(), rows["unit"][0], turn, decisive)],
        className="loss-curve",
    )


def _steps(turns: Sequence[int], lost: Sequence[float], unit: str, shown: int, decisive: Collection[int]) -> Part:
    """Stairs, one a turn; what stands in the column of a turn is marked."""
    across, up = _WIDTH / len(turns), _HEIGHT / lost[-1]
    tops = [_HEIGHT - value * up for value in lost]
    points = [f"{place * across:.1f},{top:.1f} {(place + 1) * across:.1f},{top:.1f}" for place, top in enumerate(tops)]
    marks = [
        svg("rect", x=place * across, y=0, width=across, height=_HEIGHT, fill=color, opacity=0.35)
        for place, number in enumerate(turns)
        for color, is_marked in ((SERIES[1], number in decisive), (OTHER, number == shown))
        if is_marked
    ]
    said = f"{amount(lost[-1], unit)} were lost over {len(turns)} turns; marked: the turn shown, and the decisive one"
    line = svg("polyline", points=f"0,{_HEIGHT} {' '.join(points)}", fill="none", stroke=SERIES[0], stroke_width=2)
    box = f"0 0 {_WIDTH} {_HEIGHT + 4}"
    drawn: Part = svg("svg", *marks, line, viewBox=box, role="img", aria_label=said, width="100%")
    return html.Div([drawn, html.P(f"{said}.", className="hint")])
