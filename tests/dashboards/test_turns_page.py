"""The page Turns: a few at a time, in one order."""

from __future__ import annotations

import html
import re

from dashboards.address import Address
from dashboards.drawing import draw_page
from dashboards.parts import compact
from schemas.store.store import Store


def _shown(store: Store, start: int) -> list[tuple[str, int]]:
    drawn = draw_page(store, Address.parse("/turns", f"outcome=not_followed&from={start}"), (), is_whole=False)
    found = re.findall(r'href="\./game\?episode=([^&"]+)&turn=(\d+)"', html.unescape(str(compact(drawn.content))))
    return [(episode, int(turn)) for episode, turn in found]


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
