"""Prompts of model readers as files, as `--prompt` takes them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from judges.claims.extraction import Example
from judges.claims.questions import PromptParts
from schemas.errors import UsageError
from schemas.yaml_lines import read_yaml


class PromptFile(BaseModel):
    """What stands in the file."""

    model_config = ConfigDict(extra="forbid")

    benchmark: str
    instructions: str
    examples: list[Example] = []


def prompt_in(path: Path | None) -> PromptParts:
    """The prompt of a file; None: the one that is built in.

    Raises:
        UsageError: the file cannot be read, or is no such prompt.
    """
    if path is None:
        return PromptParts()
    try:
        found = PromptFile.model_validate(read_yaml(path, "--prompt"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"--prompt {path}: {where}: {first['msg'].lower()} (docs/claims.md)") from error
    return PromptParts({found.benchmark: found.instructions}, {found.benchmark: found.examples})
