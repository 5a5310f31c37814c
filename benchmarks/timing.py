"""Clocks: medians over rounds that take turns, so that a busy machine is busy for the base too."""

import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["Measured", "forget", "held_mb", "measured", "medians", "peak_mb"]

_STATUS: Final = Path("/proc/self/status")


class Measured(NamedTuple):
    """What an action took, in seconds."""

    wall_s: float
    cpu_s: float
    """User and system time of this process and of the processes it started and waited for."""


def measured(action: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> Measured:
    """Run an action once, and before the clocks start what prepares it."""
    prepare()
    gc.collect()
    wall, cpu = time.perf_counter(), _cpu()
    action()
    return Measured(time.perf_counter() - wall, _cpu() - cpu)


def forget(*packages: str) -> None:
    """Empty every cache of functions in these packages' modules: what a round before it has worked out does not count in the next."""
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def medians(rounds: int, actions: Mapping[str, Callable[[], object]], prepare: Callable[[], object] = lambda: None) -> dict[str, Measured]:
    """Run all actions one after the other, several rounds, and give each one's median wall and CPU time; each is prepared first."""
    taken: dict[str, list[Measured]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            taken[name].append(measured(action, prepare))
    return {
        name: Measured(statistics.median(found.wall_s for found in all_), statistics.median(found.cpu_s for found in all_))
        for name, all_ in taken.items()
    }


def peak_mb(action: Callable[[Path], object], argument: Path) -> float | None:
    """The most memory that a fresh process held while it ran the action, imports included; None where the system does not tell."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak_of, action, argument).result()


def _peak_of(action: Callable[[Path], object], argument: Path) -> float | None:
    action(argument)
    return held_mb()


def held_mb() -> float | None:
    """The most memory that this process has held; None where the system does not tell."""
    if not _STATUS.exists():
        return None
    # not ru_maxrss: a process inherits that from the one it was started by
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def _cpu() -> float:
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
