"""Packages that not everybody needs, and the extras of cotrace that bring them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from schemas.common.errors import UsageError

__all__ = ["EXTRAS", "mend", "needed"]

EXTRAS: Final[Mapping[str, str]] = {
    "aiohttp": "judge",
    "certifi": "judge",
    "genai_prices": "judge",
    "httpx": "judge",
    "instructor": "judge",
    "openai": "judge",
    "yarl": "judge",
    "dspy": "optimize",
    "optuna": "optimize",
    "dash": "dash",
    "dash_ag_grid": "dash",
    "flask": "dash",
    "plotly": "dash",
    "waitress": "dash",
    "werkzeug": "dash",
    "inspect_ai": "inspect",
    "pyspiel": "hanabi",
    "pandas": "notebook",
    "litellm": "litellm",
    "aiobotocore": "bedrock",
    "botocore": "bedrock",
    "anthropic": "anthropic",
    "google": "google",
    "deltalake": "lake",
    "fsspec": "s3",
    "s3fs": "s3",
    "gcsfs": "gcs",
    "ray": "ray",
}
"""Package as it is imported -> extra."""


def needed(package: str, what: str) -> None:
    """See that a package is there.

    Args:
        package: as it is imported, one of `EXTRAS`.
        what: needs it.

    Raises:
        UsageError: it is not installed.
    """
    try:
        found = find_spec(package)
    except ModuleNotFoundError:  # not even the package that it is in
        found = None
    if found is None:
        raise UsageError(f"{what} needs the package {mend(package)}")


def mend(package: str | None) -> str | None:
    """The package and the command that installs it; None for one that no extra brings."""
    root = (package or "").partition(".")[0]
    return f'{root}: pip install "cotrace[{EXTRAS[root]}]"' if root in EXTRAS else None
