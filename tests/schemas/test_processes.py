"""Worker processes do not run the program that asked for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.places import ROOT

PROGRAM = """
from schemas.processes import worker_pool

print("once")
with worker_pool(2) as pool:
    print(sum(pool.map(len, ["a", "bb"])))
"""


def test_a_script_without_a_main_guard_uses_processes(tmp_path: Path) -> None:
    """A researcher's three lines are run once, not again in each worker, where they would start workers of their own."""
    program = tmp_path / "three_lines.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("once\n3\n", 0), done.stderr
