"""The shared gate after 429: it holds everybody back, and it never collapses."""

from __future__ import annotations

import asyncio
import time

from providers.pacing import Gate, MinuteLimit


def waited(gate: Gate) -> float:
    """Seconds until the gate lets a call through."""
    began = time.monotonic()
    asyncio.run(gate.wait())
    return time.monotonic() - began


def test_an_open_gate_lets_through_at_once() -> None:
    """Nothing said 429."""
    assert waited(Gate()) < 0.05


def test_everybody_waits_for_as_long_as_the_server_asks() -> None:
    """Also calls that were never limited themselves; the longest wish counts."""
    gate = Gate()
    gate.limited(time.monotonic(), 0.4)
    gate.limited(time.monotonic(), 0.1)

    assert 0.35 <= waited(gate) < 0.8


def test_many_429_of_one_moment_lengthen_the_pause_once() -> None:
    """Sixty-four calls that were under way together are one cut, not sixty-four doublings."""
    gate = Gate()
    sent_at = time.monotonic()
    for _ in range(64):
        gate.limited(sent_at, None)

    assert waited(gate) < 0.4


def test_pauses_grow_while_nothing_gets_through_and_shrink_with_answers() -> None:
    """Four cuts in a row: 0.1, 0.2, 0.4, 0.8 s; two hundred answers later it is 0.1 s again."""
    gate = Gate()
    for _ in range(4):
        gate.limited(time.monotonic(), None)
    assert 0.7 <= waited(gate) < 1.2

    for _ in range(200):
        gate.succeeded()
    gate.limited(time.monotonic(), None)
    assert waited(gate) < 0.4


def test_a_limit_a_minute_spreads_what_it_lets_through() -> None:
    """Five at 600 a minute: the last may go after 0.4 s."""

    async def five() -> float:
        limit = MinuteLimit(600)
        began = time.monotonic()
        await asyncio.gather(*(limit.take(1) for _ in range(5)))
        return time.monotonic() - began

    assert 0.39 <= asyncio.run(five()) < 0.8


def test_a_late_reply_closes_an_open_gate_only_for_a_longer_pause() -> None:
    """Both requests were sent before the gate closed: the pause counts from then."""
    gate = Gate()
    sent_at = time.monotonic()
    gate.limited(sent_at, 0.1)
    time.sleep(0.15)
    gate.limited(sent_at, 0.1)
    assert waited(gate) < 0.05

    gate.limited(sent_at, 0.5)
    assert 0.2 <= waited(gate) < 0.6
