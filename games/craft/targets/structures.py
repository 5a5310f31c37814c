"""Target structures: what one is, and reading published structure files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from games.craft.engine.board import Board
from schemas.errors import BadInputError

Complexity = Literal["simple", "medium", "complex"]
COMPLEXITIES: Final[tuple[Complexity, ...]] = get_args(Complexity)

_SIMPLE_MOST: Final = 22
_MEDIUM_MOST: Final = 24


@dataclass(frozen=True, slots=True)
class Structure:
    """One target."""

    structure_id: str
    complexity: str
    """Tier; one of ``COMPLEXITIES`` in published files."""

    target: Board
    """Goal stacks, with a span record for every large block."""

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Structure":
        """Read one entry of a structure file.

        Stored director views are ignored: the 20-structure file computed them without spans.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the entry is not a structure.
        """
        return cls(str(entry["id"]), str(entry["complexity"]), Board.from_json(entry["structure"], entry["spans"]))

    def to_json(self) -> dict[str, Any]:
        """Give the entry of a structure file, without views and metadata."""
        return {
            "id": self.structure_id,
            "complexity": self.complexity,
            "structure": self.target.structure_json(),
            "spans": self.target.spans_json(),
        }


def complexity_of(blocks_total: int) -> Complexity:
    """Give the tier of a target by its cell entries (a large block counts twice): up to 22, up to 24, more."""
    if blocks_total <= _SIMPLE_MOST:
        return "simple"
    return "medium" if blocks_total <= _MEDIUM_MOST else "complex"


def load_structures(path: Path) -> tuple[Structure, ...]:
    """Read a structure file: a JSON list of entries.

    Raises:
        OSError: the file cannot be read.
        BadInputError: the file is no such list, or an entry is no structure.
    """
    try:
        entries = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadInputError(f"{path} is not JSON ({error}); give a CRAFT structure file", locator=str(path)) from error
    if not isinstance(entries, list):
        raise BadInputError(f"{path} holds no list of structures; give a CRAFT structure file", locator=str(path))
    return tuple(_structure(entry, f"{path}[{index}]") for index, entry in enumerate(entries))


def _structure(entry: Any, locator: str) -> Structure:
    try:
        return Structure.from_json(entry)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"{locator} is not a structure ({type(error).__name__}: {error}); it needs id, complexity, structure and spans"
        raise BadInputError(reason, locator=locator, excerpt=repr(entry)[:200]) from error
