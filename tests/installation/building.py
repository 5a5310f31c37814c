"""Source archive, wheel, and fresh environments to install it into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.places import ROOT

_BACKEND = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"


def build(folder: Path) -> tuple[Path, Path]:
    """The source archive of what git tracks, and the wheel that is built of it and of nothing else."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    source = folder / "source"
    for name in filter(None, tracked):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name)
    archive = _built(source, "build_sdist", folder)
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return archive, _built(unpacked, "build_wheel", folder)


def _built(source: Path, what: str, folder: Path) -> Path:
    told = run([sys.executable, "-c", _BACKEND, what, str(folder)], cwd=source)
    return folder / told.stdout.splitlines()[-1]


def interpreter(version: str) -> str:
    """The path of the Python of this version on this machine; skips where there is none."""
    places = [shutil.which(f"python{version}"), *map(str, sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}*/bin/python")))]
    for place in filter(None, places):
        told = subprocess.run([place, "-c", "import sys, ensurepip; print(sys.version)"], capture_output=True, text=True, check=False)
        if told.stdout.startswith(f"{version}."):
            return place
    pytest.skip(f"no Python {version} here")


def run(command: Sequence[str], *, cwd: Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """Run it away from the source, and see that it ends as expected."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COTRACE", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=cwd, env=kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done


class Environment:
    """A fresh virtual environment, and a folder to work in."""

    def __init__(self, folder: Path, python: str, *, newest_pip: bool = False) -> None:
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self._bin = folder / "venv" / "bin"
        run([python, "-m", "venv", str(folder / "venv")], cwd=self.work)
        if newest_pip:
            self.install("--upgrade", "pip")

    def install(self, *what: str) -> None:
        """`pip install`."""
        self.python("-m", "pip", "install", "--quiet", *what)

    def python(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """The environment's interpreter."""
        return run([str(self._bin / "python"), *arguments], cwd=self.work, expect=expect)

    def cotrace(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """The command that was installed."""
        return run([str(self._bin / "cotrace"), *arguments], cwd=self.work, expect=expect)

    def versions(self) -> dict[str, str]:
        """What is installed, pip and setuptools apart."""
        lines = self.python("-m", "pip", "list", "--format", "freeze").stdout.splitlines()
        found = dict(line.split("==", 1) for line in lines if "==" in line)
        return {name: version for name, version in found.items() if name not in {"pip", "setuptools"}}
