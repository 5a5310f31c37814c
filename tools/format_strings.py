"""Finds texts that pass for our own words and might come from a log: templates that are filled in, and what is called escaped.

`python tools/format_strings.py` prints each place and exits with 1 if there is one. Three rules:

* A template (`str.format` reads attributes and allocates by what a template says) is a literal, a constant (`_FORM`, `FORMS[key]`), or a
  text of the package's own YAML files, which only the modules in `_FILL_OWN_TEXTS` fill in.
* The same holds for the form of an `Escaped` text: `Frame("turn {}", turn)`.
* `own`, which escapes nothing, and `Struck`, which says that rows hold no secrets, are used in the modules of `_VOUCH` alone.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parent.parent
_PACKAGES: Final = ("schemas", "providers", "games", "ingest", "judges", "analytics", "dashboards", "cotrace")
_FILLS: Final = frozenset({"format", "format_map", "vformat"})
_FILL_OWN_TEXTS: Final = frozenset(
    {
        "analytics/exports/games.py",
        "dashboards/overcooked/board.py",
        "dashboards/pages/failures.py",
        "dashboards/grid.py",
        "games/asympuzl/players.py",
        "games/asympuzl/game.py",
        "games/avalon/prompts.py",
        "games/coordination/kitchen.py",
        "games/coordination/courses/agent.py",
        "games/craft/text/prompts.py",
        "games/einstein/players/speech.py",
        "games/overcooked/text/prompts.py",
        "ingest/coordination/hanabi_csv.py",
        "judges/coordination/situation.py",
        "schemas/store/lake/place.py",
        "schemas/common/text.py",
        "schemas/common/wording.py",
    }
)
_KINDS: Final = frozenset({"Frame", "Html"})
"""Subclasses of `schemas.common.text.Escaped`."""
_VOUCH: Final = frozenset(
    {
        "dashboards/page_file.py",
        "dashboards/parts.py",
        "ingest/files/run.py",
        "ingest/files/writer.py",
        "judges/attribution/asking.py",
        "judges/claims/extraction.py",
        "judges/craft/reading.py",
        "judges/evidence/frame.py",
        "judges/evidence/perturbations.py",
        "judges/evidence/pieces.py",
        "judges/evidence/prompt.py",
        "schemas/common/text.py",
        "schemas/store/batches.py",
        "schemas/store/lake/transaction.py",
    }
)


def vouched_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and expression of what calls texts escaped, or rows free of secrets, without looking at them."""
    for node in nodes:
        is_own = isinstance(node, ast.Attribute) and node.attr == "own" and isinstance(node.value, ast.Name) and node.value.id in _KINDS
        is_struck = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Struck"
        if isinstance(node, ast.expr) and (is_own or is_struck):
            yield node.lineno, ast.unparse(node)


def templates_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and expression of each template, or form of an escaped text, that is neither a literal nor a constant."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        template = None
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
            template = node.func.value
        elif isinstance(node.func, ast.Name) and node.func.id in _KINDS and node.args:
            template = node.args[0]
        if template is not None and not _is_own(template):
            yield node.lineno, ast.unparse(template)


def _is_own(template: ast.expr) -> bool:
    if isinstance(template, ast.Call) and isinstance(template.func, ast.Name) and template.func.id == "str" and len(template.args) == 1:
        return _is_own(template.args[0])
    while isinstance(template, ast.Subscript):
        template = template.value
    is_named = isinstance(template, ast.Name) and (template.id.isupper() or template.id == "self")
    return is_named or isinstance(template, ast.Constant)


def main() -> int:
    """Print every place; 1 if there is one."""
    found = 0
    for package in _PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            name = path.relative_to(_ROOT).as_posix()
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            for line, text in () if name in _VOUCH else vouched_in(nodes):
                found += 1
                print(f"{name}:{line}: {text} takes a text as it is: put it into a form, so that it is escaped")
            for line, text in () if name in _FILL_OWN_TEXTS else templates_in(nodes):
                found += 1
                print(
                    f"{name}:{line}: {text!r} is filled in as a template: use an f-string, or a constant; a text of a log must never be one"
                )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
