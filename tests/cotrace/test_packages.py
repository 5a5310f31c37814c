"""Another distribution's package of a package's name is found, whichever came first; `make test-install` shows it with real ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cotrace
from cotrace.packages import PACKAGES
from tests.places import ROOT


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """As much of an installation as `import cotrace` looks at."""
    for name in ("cotrace", *PACKAGES):
        (tmp_path / name).mkdir()
        for source in (ROOT / name).glob("*.py") if name == "cotrace" else [ROOT / name / "__init__.py"]:
            shutil.copy2(source, tmp_path / name)
    record = tmp_path / f"cotrace-{cotrace.__version__}.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("".join(f"{path.relative_to(tmp_path)},sha256=x,1\n" for path in tmp_path.rglob("*.py")))
    return tmp_path


def imported(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Python, where nothing of cotrace is found but what lies there."""
    env = os.environ | {"PYTHONPATH": str(home)}
    return subprocess.run([sys.executable, *command], cwd=home, env=env, capture_output=True, text=True, check=False)


def test_packages_of_our_own_are_left_alone(home: Path) -> None:
    """Compiled files beside them are no strangers."""
    (home / "judges" / "__pycache__").mkdir()
    assert imported(home, "-c", "import cotrace").returncode == 0


@pytest.mark.parametrize(
    ("foreign", "text", "message"),
    [
        ("judges/base.py", "", "another distribution has a package 'judges' too, and both lie in {home}/judges (base.py is not cotrace's)"),
        (
            "judges/__init__.py",
            "VERSION = 1\n",
            "another distribution has put a package 'judges' in the place of cotrace's ({home}/judges)",
        ),
    ],
)
def test_a_package_that_lies_in_the_same_folder_is_told(home: Path, foreign: str, text: str, message: str) -> None:
    """It was there before ours, or has been written over it; the command says it in one line."""
    (home / foreign).write_text(text)
    told = f"{message.format(home=home)}; install cotrace into an environment of its own"

    raised = imported(home, "-c", "import cotrace")
    assert raised.stderr.splitlines()[-1] == f"ImportError: {told}"
    command = imported(home, "-m", "cotrace", "--version")
    assert (command.returncode, command.stderr) == (2, f"cotrace: {told}\n")


def test_a_package_that_python_finds_first_is_told(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """From a folder that comes before."""
    other = tmp_path_factory.mktemp("other")
    (other / "judges").mkdir()
    (other / "judges" / "__init__.py").write_text("")
    raised = imported(home, "-c", f"import sys; sys.path.insert(0, {str(other)!r}); import cotrace")
    assert (
        f"cotrace needs its own package 'judges' ({home}/judges) but Python finds {other}/judges; install" in raised.stderr.splitlines()[-1]
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_the_command_says_it_in_one_line(home: Path, tmp_path_factory: pytest.TempPathFactory, package: str) -> None:
    """As pip installs it; whichever of the packages another distribution brings too."""
    other, script = tmp_path_factory.mktemp("other"), tmp_path_factory.mktemp("bin") / "cotrace"
    (other / package).mkdir()
    (other / package / "__init__.py").write_text("")
    script.write_text(f"import sys; sys.path.insert(0, {str(other)!r})\nfrom cotrace.cli import main\nmain()\n")
    told = imported(home, str(script), "--version")
    found = f"cotrace needs its own package '{package}' ({home}/{package}) but Python finds {other}/{package}"
    assert (told.returncode, told.stderr) == (2, f"cotrace: {found}; install cotrace into an environment of its own\n")


@pytest.mark.parametrize("package", ["cotrace", *PACKAGES])
def test_each_package_tells_type_checkers_that_it_is_typed(package: str) -> None:
    """By the file that an installation brings along."""
    assert (ROOT / package / "py.typed").is_file()
