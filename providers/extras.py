"""Packages that not everybody needs."""

from __future__ import annotations

from importlib.util import find_spec

from schemas.errors import UsageError

__all__ = ["needed"]


def needed(package: str, extra: str, what: str) -> None:
    """See that a package is there.

    Args:
        package: as it is imported.
        extra: of cotrace, that brings it.
        what: needs it.

    Raises:
        UsageError: it is not installed.
    """
    if find_spec(package) is None:
        raise UsageError(f'{what} needs the package {package}: pip install "cotrace[{extra}]"')
