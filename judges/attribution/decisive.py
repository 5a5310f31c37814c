"""The rubric `decisive_error`: a file like other rubrics, but its answers are an agent and a turn, and a manner may ask more than once."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field

RUBRIC: Final = "decisive_error"
FILE: Final = Path(__file__).with_name("decisive_error.yaml")

_Names = Annotated[tuple[str, ...], Field(strict=False)]  # YAML has lists


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AskedIn(_Part):
    """A manner of asking."""

    why: str
    prompts: Mapping[str, str]
    """By name: what each of its questions adds to the instructions."""


class DecisiveError(_Part):
    """The rubric as its file has it; keys mean what they mean in other rubrics (docs/rubric_files.md)."""

    name: str
    version: int
    source: str
    unit: str
    benchmarks: _Names
    shows: _Names
    questions: Mapping[str, str]
    instructions: str
    variants: Mapping[str, AskedIn]

    @property
    def hash(self) -> str:
        """16 hex digits over everything that could change an answer."""
        content = self.model_dump_json(include={"name", "version", "unit", "instructions", "variants"})
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()

    def prompt(self, name: str) -> str:
        """Instructions, and what a question adds to them."""
        (own,) = (asked.prompts[name] for asked in self.variants.values() if name in asked.prompts)
        return f"{self.instructions.strip()}\n\n{own.strip()}"


@cache
def decisive_error() -> DecisiveError:
    """The shipped rubric."""
    return DecisiveError.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8")))
