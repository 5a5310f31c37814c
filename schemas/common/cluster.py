"""Where this process has its work done: here, or on a Ray cluster.

Pools of processes (`schemas.common.processes`) and connections to models (`providers.wire`) ask this module. Budget, limits,
journal and all writing to the store stay in the process that was started. So a job on a cluster is the same job; only reading, replaying,
checking and asking is done elsewhere.
"""

import atexit
import logging
import os
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from schemas.common.errors import CotraceError, UsageError
from schemas.common.packages import needed

T = TypeVar("T")

_RAY: Final = "ray"
_TOKEN: Final = ".ray/auth_token"  # noqa: S105 - where it lies
_REMEMBERED: Final = "ray/ray_current_cluster"
_ANSWERS_S: Final = 5.0
_TRIES: Final = 5
"""How often Ray gives a piece of work to another node when one is lost with it."""

_used: list[str] = []
"""The address, while there is one."""


def is_used() -> bool:
    """Whether work goes to a cluster."""
    return bool(_used)


@contextmanager
def using(on: str | None) -> Iterator[None]:
    """Have the work of the block done on a cluster.

    Args:
        on: `ray` for the cluster of this machine (RAY_ADDRESS, or one that is running, or one of its own), `ray://HOST:PORT` for another;
            None: here.

    Raises:
        CotraceError: there is no cluster at the address.
        UsageError: it is not such an address, or Ray is not installed.
    """
    if on is None:
        yield
        return
    if on != _RAY and not on.startswith("ray://"):
        raise UsageError(f"--on {on}: write ray, or ray://HOST:PORT for the cluster at another address")
    _connect(on)
    _used.append(on)
    try:
        yield
    finally:
        _used.pop()


def _connect(on: str) -> None:
    needed("ray", f"--on {on}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports are sent
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if on != _RAY and _has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    import ray

    if ray.is_initialized():
        return
    reported: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": "cotrace"}
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # what they say, the line below does
            if on == _RAY:
                _own(reported)
            else:
                ray.init(on, **reported)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise CotraceError(
            f"--on {on}: no Ray cluster can be reached there ({first}): start one with `ray start --head`; "
            f"one that asks for a token wants it here in RAY_AUTH_TOKEN or ~/{_TOKEN}"
        ) from error
    atexit.register(ray.shutdown)


def _has_token() -> bool:
    """Whether this machine has a token: clusters of Ray 2.59 and later ask for one that exists, their client sends it only on request."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return True
    return Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / _TOKEN).is_file()


def _own(reported: dict[str, Any]) -> None:
    import ray

    if _is_gone():
        ray.init("local", include_dashboard=False, **reported)
        return
    try:
        ray.init("auto", **reported)
    except ConnectionError:
        ray.init(include_dashboard=False, **reported)


def _is_gone() -> bool:
    """Whether the cluster that Ray remembers as this machine's was killed: Ray would wait for it for minutes."""
    if os.environ.get("RAY_ADDRESS"):
        return False
    folder = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    try:
        host, _, port = (Path(folder) / _REMEMBERED).read_text(encoding="utf-8").strip().rpartition(":")
    except OSError:
        return False
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWERS_S).close()
    except (OSError, ValueError):
        return True
    return False


def connected() -> Any:
    """The `ray` module, connected to the cluster in use."""
    import ray

    return ray


def cores() -> int:
    """Cores of the cluster in use, those of this machine where there is none; at least 1."""
    if not is_used():
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(connected().cluster_resources().get("CPU", 1)))


class ClusterPool:
    """Does what a `ProcessPoolExecutor` does, on the cluster in use; work that a node is lost with is done again elsewhere."""

    def __init__(self) -> None:
        self._ray = connected()
        self._open: dict[Any, None] = {}
        self._task = self._ray.remote(num_cpus=1, max_retries=_TRIES)(_do)

    def submit(self, work: Callable[..., T], *arguments: object) -> Future[T]:
        """Have a piece of work done."""
        asked = self._task.remote(work, *arguments)
        self._open[asked] = None
        reported: Future[T] = Future()
        asked.future().add_done_callback(lambda found: self._tell(asked, found, reported))
        return reported

    def _tell(self, asked: Any, found: Future[T], reported: Future[T]) -> None:
        self._open.pop(asked, None)
        error = found.exception()
        if error is None:
            reported.set_result(found.result())
        elif isinstance(error, self._ray.exceptions.TaskCancelledError):
            reported.cancel()
        elif isinstance(error, self._ray.exceptions.RayTaskError):
            reported.set_exception(getattr(error, "cause", None) or error)
        else:
            reported.set_exception(
                CotraceError(f"the cluster has lost a piece of work {_TRIES} times ({type(error).__name__}): is it full?")
            )

    def cancel(self) -> None:
        """Give up what has not been done yet."""
        for asked in list(self._open):
            self._ray.cancel(asked, force=True)


def _do(work: Callable[..., T], *arguments: object) -> T:
    return work(*arguments)
