"""Data that lies in a package beside the code that uses it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

__all__ = ["packaged_yaml"]


def packaged_yaml(package: str, name: str) -> Any:
    """What a YAML file of a package holds, read by libyaml where PyYAML has it: in a twentieth of the time."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(files(package).joinpath(name).read_text(encoding="utf-8"), loader)  # noqa: S506 - both are safe
