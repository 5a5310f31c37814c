"""The experiment file (YAML): reading it, and telling in one line what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import yaml
from pydantic import Field, ValidationError, field_validator

from games.settings import Settings, explained
from providers.provider import Effort
from schemas.errors import UsageError
from schemas.yaml_lines import NodePath, YamlLines, read_with_lines

DEFAULT: Final = "default"
"""Under `models`: what goes for all models that do not say otherwise."""

P = TypeVar("P", bound=Settings)


class ModelEntry(Settings):
    """How a model is asked."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """null: none is sent; left out: .7, and none to models that reason."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    reasoning_effort: Effort | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    base_url: str | None = None
    key_env: str | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    tries: int | None = Field(default=None, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)


class Limits(Settings):
    """What the experiment may take."""

    max_cost: float | None = Field(default=None, ge=0)
    concurrency: int = Field(default=32, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    prices: Path | None = None


class ExperimentFile(Settings):
    """The file as it is written."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    game: str
    tasks: dict[str, Any]
    seeds: list[int] = Field(default=[1], min_length=1)
    conditions: dict[str, Any] = Field(default_factory=dict)
    teams: list[dict[str, str | list[str]]] = Field(min_length=1)
    models: dict[str, ModelEntry] = Field(default_factory=dict)
    limits: Limits = Limits()
    out: Path | None = None

    @field_validator("seeds")
    @classmethod
    def _once(cls, seeds: list[int]) -> list[int]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is given twice")
        return seeds


class Source(NamedTuple):
    """A file that is being read, for messages that say where something stands."""

    path: Path
    lines: YamlLines

    def wrong(self, where: NodePath, message: str) -> UsageError:
        """The error for what stands there."""
        return UsageError(f"{self.path}, line {self.lines.of(where)}: {message}")

    def part(self, kind: type[P], content: Mapping[str, Any], where: NodePath) -> P:
        """A part of the file, checked.

        Raises:
            UsageError: a key is unknown or missing, or a value cannot be.
        """
        try:
            return kind.model_validate(content)
        except ValidationError as error:
            first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")  # a slip of the pen is a missing key, too
            name = [str(part) for part in (*where, *first["loc"]) if not str(part).startswith(("str", "list[", "dict["))]
            raise self.wrong((*where, *first["loc"]), explained(first, name, _keys(kind, first["loc"]))) from error


def read_experiment(path: Path) -> tuple[ExperimentFile, Source]:
    """Read an experiment file.

    Raises:
        UsageError: it cannot be read, or something in it is wrong; says where.
    """
    try:
        data, lines = read_with_lines(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give an experiment file, such as those of docs/experiments") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}{_line_of(error)}: it is not YAML ({' '.join(str(getattr(error, 'problem', error)).split())})") from error
    source = Source(path, lines)
    for line, message in lines.mistakes:
        raise UsageError(f"{path}, line {line}: {message}")
    if not isinstance(data, dict):
        raise UsageError(f"{path}: it holds no keys with values; a file of docs/experiments is a start")
    return source.part(ExperimentFile, data, ()), source


def _line_of(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f", line {mark.line + 1}" if mark else ""


def _keys(kind: type[Settings], loc: tuple[str | int, ...]) -> list[str]:
    """The keys that can stand where the last one of a place does."""
    inner: dict[str, type[Settings]] = {"models": ModelEntry, "limits": Limits}
    found = inner.get(str(loc[0]), kind) if kind is ExperimentFile and len(loc) > 1 else kind
    return list(found.by_key())
