"""Randomised counterfactuals: what a turn's outcome is with and without one agent's message or action replaced, by agent.

What attribution charges is a price: value under perfect continuation. An effect is what real players make of it: the same turn is played on
many times in two arms that differ in the replacement alone, paired by random numbers. Both are in the units of `turn_costs`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import factorial
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.losses.accuracy import ALL
from analytics.statistics.intervals import t_interval, wilson

_NOTHING: Final = 1e-9


class Arm(NamedTuple):
    """A way to play a turn on."""

    replaced: frozenset[str]
    step: int
    """How many steps of the turn are as they were but for the replaced agents; behind them all reply anew."""


class Numbers(NamedTuple):
    """What an agent's replacement changed; fields as in `Effect`."""

    lost: float
    effect: float
    low: float | None
    high: float | None
    shapley: float | None = None
    shapley_low: float | None = None
    shapley_high: float | None = None


class Effect(NamedTuple):
    """What an agent's replacement made of a turn."""

    benchmark: str
    episode_id: str
    turn: int
    agent: str
    link: str | None
    price: float
    instead: str
    """What it was replaced with."""
    repeats: int
    lost: float
    """Mean loss from the turn on in the arm that was left as it was."""
    effect: float
    """What is lost less with the replacement, mean over repeats: above 0, the replacement is better than what the agent did."""
    low: float | None
    """95 % interval over repeats (Student's t); equal to the effect where all repeats are alike; None with one repeat."""
    high: float | None
    shapley: float | None
    """The agent's share of what all replacements together gain, averaged over the orders in which they can be made; None: not asked for."""
    shapley_low: float | None
    shapley_high: float | None
    back: float | None = None
    """What `--mend` calls came back: what the logged game lost from the turn on, less the mean of the arm with the replacement; None where
    the former is unknown. Unlike the effect it counts what the chosen turn lost by bad luck, and that others reply anew."""

    @property
    def sign(self) -> int:
        """1 a gain and -1 a harm, where the interval leaves 0 out; else 0."""
        return 0 if self.low is None or self.high is None else int(self.low > _NOTHING) - int(self.high < -_NOTHING)


def arms(steps: Sequence[Sequence[str]], *, joint: bool) -> list[Arm]:
    """The arms that a turn needs.

    An agent's effect compares two arms in which all steps up to its own are as they were, and whoever could hear of it replies anew. The
    Shapley effects need every set of agents replaced; then who comes after the first step replies anew unless it is replaced.
    """
    first = _first_steps(steps)
    singles = [arm for agent, step in first.items() for arm in (Arm(frozenset(), step + 1), Arm(frozenset({agent}), step + 1))]
    sets = [Arm(frozenset(some), 1) for size in range(len(first) + 1) for some in combinations(first, size)] if joint else []
    return list(dict.fromkeys([*singles, *sets]))


def _first_steps(steps: Sequence[Sequence[str]]) -> dict[str, int]:
    first: dict[str, int] = {}
    for place, agents in enumerate(steps):
        for agent in agents:
            first.setdefault(agent, place)
    return first


def effects_of(steps: Sequence[Sequence[str]], lost: Mapping[Arm, Sequence[float]]) -> dict[str, Numbers]:
    """Agent -> its numbers, from what each arm lost, repeat by repeat.

    Args:
        steps: who is asked in the turn, step by step.
        lost: all arms of `arms`, or all without the joint ones; as many repeats in each, in the order of their random numbers.
    """
    first = _first_steps(steps)
    found: dict[str, Numbers] = {}
    for agent, step in first.items():
        control, treated = lost[Arm(frozenset(), step + 1)], lost[Arm(frozenset({agent}), step + 1)]
        gains, shares = np.subtract(control, treated), _shapley(agent, list(first), lost)
        joint = () if shares is None else (float(shares.mean()), *_ends(shares))
        found[agent] = Numbers(float(np.mean(control)), float(gains.mean()), *_ends(gains), *joint)
    return found


def _shapley(agent: str, agents: Sequence[str], lost: Mapping[Arm, Sequence[float]]) -> np.ndarray[Any, Any] | None:
    """An agent's Shapley value of what replacements gain, for each repeat (Shapley 1953)."""
    if Arm(frozenset(agents), 1) not in lost:
        return None
    others = [one for one in agents if one != agent]
    total = np.zeros(len(lost[Arm(frozenset(), 1)]))
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(agents))
        for some in combinations(others, size):
            total += weight * np.subtract(lost[Arm(frozenset(some), 1)], lost[Arm(frozenset({*some, agent}), 1)])
    return total


def _ends(gains: np.ndarray[Any, Any]) -> tuple[float | None, float | None]:
    if len(gains) > 1 and np.ptp(gains) <= _NOTHING:
        return float(gains[0]), float(gains[0])
    ends = t_interval(gains.tolist()) if len(gains) > 1 else None
    return (None, None) if ends is None else (float(ends.low), float(ends.high))


_MEANS: Final = ("price", "back", "effect")
EFFECTS_SUMMARY: Final = ("benchmark", "link", "turns", "with_effect", *_MEANS, "blamed_is_largest", "no_effect", "harm", "unblamed_gain")
_SHARES: Final = ("blamed_is_largest", "no_effect", "harm", "unblamed_gain")


def effects_report(found: Sequence[Effect]) -> pl.DataFrame:
    """How far prices and effects agree: one row a benchmark and failure point, `ALL` first.

    Columns, in order:

    - benchmark; link: the failure point that most of the turn was blamed to, null where no agent was blamed.
    - turns: turns that were played again, each of another game; with_effect: those in which some agent's replacement has a shown effect.
    - price, back, effect: of blamed agents, means of what they were blamed with, of what the replacement gains on the logged game (as
      `--mend` has it), and on the unchanged arm.
    - blamed_is_largest: of those with an effect in which an agent was blamed, share in which the agent with the highest price has the
      largest effect, ties included.
    - no_effect: of blamed agents, share whose effect is not shown; harm: share whose replacement makes it worse.
    - unblamed_gain: of agents that were not blamed, share whose replacement is a shown gain.
    - `_low`, `_high`: 95 % Wilson intervals of these shares, over turns or agents; `_n`: of how many.
    """
    rows = []
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        turns: dict[tuple[str, int], list[Effect]] = {}
        for one in found:
            if one.benchmark == benchmark:
                turns.setdefault((one.episode_id, one.turn), []).append(one)
        rows.append(_row(benchmark, ALL, list(turns.values())))
        links = {key: max(agents, key=lambda one: one.price).link for key, agents in turns.items()}
        rows += [_row(benchmark, link, [turns[key] for key in turns if links[key] == link]) for link in sorted({*links.values()}, key=str)]
    numbers = [*_MEANS, *(f"{name}{end}" for name in _SHARES for end in ("", "_low", "_high"))]
    counts = ["turns", "with_effect", *(f"{name}_n" for name in _SHARES)]
    schema = dict.fromkeys(("benchmark", "link"), pl.String()) | dict.fromkeys(counts, pl.Int64()) | dict.fromkeys(numbers, pl.Float64())
    return pl.DataFrame(rows, schema=schema)


def _row(benchmark: str, link: str | None, turns: Sequence[Sequence[Effect]]) -> dict[str, Any]:
    shown = [agents for agents in turns if any(one.sign for one in agents)]
    compared = [agents for agents in shown if any(one.price > _NOTHING for one in agents)]
    blamed = [one for agents in turns for one in agents if one.price > _NOTHING]
    others = [one for agents in turns for one in agents if one.price <= _NOTHING]
    row: dict[str, Any] = {"benchmark": benchmark, "link": link, "turns": len(turns), "with_effect": len(shown)}
    for name in _MEANS:
        values = [value for one in blamed if (value := getattr(one, name)) is not None]
        row[name] = sum(values) / len(values) if values else None
    for name, hits, n in (
        ("blamed_is_largest", sum(_agrees(agents) for agents in compared), len(compared)),
        ("no_effect", sum(one.sign == 0 for one in blamed), len(blamed)),
        ("harm", sum(one.sign < 0 for one in blamed), len(blamed)),
        ("unblamed_gain", sum(one.sign > 0 for one in others), len(others)),
    ):
        ends = wilson(hits, n) if n else None
        row |= {name: hits / n if n else None, f"{name}_n": n}
        row |= {f"{name}_low": ends.low if ends else None, f"{name}_high": ends.high if ends else None}
    return row


def _agrees(agents: Sequence[Effect]) -> bool:
    largest = max(one.effect for one in agents)
    return max(agents, key=lambda one: one.price).effect >= largest - _NOTHING


def disagreements(found: Sequence[Effect]) -> Iterator[str]:
    """A sentence for each turn in which the agent with the highest price has not the largest effect, or none is shown."""
    turns: dict[tuple[str, int], list[Effect]] = {}
    for one in found:
        turns.setdefault((one.episode_id, one.turn), []).append(one)
    for (episode, turn), agents in turns.items():
        dearest, largest = max(agents, key=lambda one: one.price), max(agents, key=lambda one: one.effect)
        if dearest.price > _NOTHING and dearest.sign < 1:
            other = f", {largest.agent}'s {_numbers(largest)}" if largest.sign > 0 else ""
            charge = f"{dearest.agent} is blamed for {dearest.price:.3g} ({dearest.link})"
            yield f"{episode} turn {turn}: {charge}; its effect is {_numbers(dearest)}{other}"


def _numbers(one: Effect) -> str:
    return f"{one.effect:+.3g}" + ("" if one.low is None else f" [{one.low:+.3g}, {one.high:+.3g}]")
