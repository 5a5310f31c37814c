"""Experiments in Python: `cotrace.play("experiment.yaml")`."""

from pathlib import Path
from typing import Any

from games.players.running import OnProgress, RunReport
from providers.asker import outside_event_loop


def play(experiment: str | Path, *, on_progress: OnProgress | None = None, **changes: Any) -> RunReport:
    """Play an experiment; the same as `cotrace play experiment.yaml`, in a running event loop too.

    Args:
        experiment: the file.
        on_progress: told now and then how far it is.
        changes: what this start does otherwise than the file says: `out`, `take`, `base_url`, `max_cost`, `prices`, `concurrency`.

    Raises:
        UsageError: something in the file is wrong, or a model's key is missing.
        HopelessError: a model turns every request down; what was played is kept.
    """
    from games.experiments.plan import Changes, load
    from games.players.running import run_games

    if "out" in changes:
        changes["out"] = Path(changes["out"])
    found = load(Path(experiment), Changes(**changes))
    return outside_event_loop(lambda: run_games(found.jobs, found.table, on_progress))
