"""The page Turns: a few at a time, in one order."""

from __future__ import annotations

import re
from typing import Any

from dash.development.base_component import Component

from dashboards.address import Address
from dashboards.drawing import draw_page
from schemas.store.store import Store


def _links(part: Any) -> list[str]:
    if isinstance(part, list | tuple):
        return [link for child in part for link in _links(child)]
    return [getattr(part, "href", ""), *_links(getattr(part, "children", None))] if isinstance(part, Component) else []


def _shown(store: Store, start: int) -> list[tuple[str, int]]:
    drawn = draw_page(store, Address.parse("/turns", f"outcome=not_followed&from={start}"), (), is_whole=False)
    found = (re.fullmatch(r"/game\?episode=([^&]+)&turn=(\d+)", link) for link in _links(drawn.content))
    return [(match[1], int(match[2])) for match in found if match]


def test_each_turn_stands_on_its_page(played: Store) -> None:
    """As ordered by name, of all turns with that outcome; beyond the end stands the last."""
    with played.reading() as connection:
        expected = connection.execute(
            "SELECT episode_id, turn FROM outcomes WHERE outcome = 'not_followed' ORDER BY model, task_id, episode_id, turn"
        ).fetchall()
    assert len(expected) > 12
    assert _shown(played, 0) + _shown(played, 6) == expected[:12]
    assert _shown(played, len(expected) - 2) == expected[-2:]
    assert _shown(played, 10**6) == expected[-1:]
