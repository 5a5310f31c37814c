"""A disk of a test's own, as small as it likes: a file system in memory that only the processes of one command see."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

_MOUNT = 'mount -t tmpfs -o size=$1 tmpfs "$2" && shift 2 || exit 77\n"$@"'


def on_a_small_disk(
    folder: Path, size: int, *command: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command for which the folder is an empty disk; skips the test where no process may mount one.

    Args:
        folder: made, if missing.
        size: of the disk, in bytes.
        command: program and arguments.
        environment: what is set beside this process's own.
    """
    folder.mkdir(exist_ok=True)
    own = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh", str(size), str(folder))
    try:
        done = subprocess.run(
            [*own, *command], env=os.environ | (environment or {}), capture_output=True, text=True, timeout=120, check=False
        )
    except FileNotFoundError:
        pytest.skip("needs util-linux")
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no disk of its own here: {done.stderr.strip()}")
    return done
