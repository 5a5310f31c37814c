"""The rubric file that an optimisation leaves: a new one, with where it comes from."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from judges.rubric.model import Rubric
from judges.rubric_files.reading import check, shipped
from schemas.errors import StoreError, UsageError

_HEAD = """\
# Made by `cotrace optimize` from the rubric {parent}; how, and what came of it on held-out games, stands under `provenance`.
# Read instructions and demonstrations before you use it: a model wrote or chose them.
"""


def refuse_if_taken(path: Path) -> None:
    """Say at the start what would only be noticed at the end.

    Raises:
        UsageError: the file exists, its folder does not, or its name cannot be a rubric's.
    """
    if path.exists():
        raise UsageError(f"--out {path} exists already, and a rubric is never replaced: choose another name")
    if path.suffix != ".yaml" or not path.stem.isidentifier() or path.stem != path.stem.lower() or path.stem.startswith("_"):
        raise UsageError(f"--out {path}: a rubric file is called by small letters, digits and _, and ends in .yaml")
    if shipped(path.stem) is not None:
        raise UsageError(f"--out {path}: {path.stem} is a rubric that is there already: choose another name")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}: make it first")


def write_new_rubric(path: Path, rubric: Rubric, parent: str, provenance: Mapping[str, Any]) -> None:
    """Write the rubric under the name of the file; it passes `cotrace rubric check`.

    Raises:
        StoreError: the file cannot be written.
        UsageError: it exists meanwhile, or the rubric contradicts itself.
    """
    content = rubric.model_dump(exclude_defaults=True) | {"name": path.stem, "version": 1, "provenance": dict(provenance)}
    text = _HEAD.format(parent=parent) + yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=140)
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / path.name
        trial.write_text(text, encoding="utf-8")
        problems = check(trial)
    if problems:
        raise UsageError(f"the rubric that was found is no sound one ({problems[0].message}): nothing was written")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(
            f"{path} exists meanwhile, and a rubric is never replaced: start again with another --out; nothing is paid again"
        ) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}; start again with another --out; nothing is paid again") from error


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)
