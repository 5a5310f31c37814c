"""The small changes: of Python through its syntax tree, of SQL through its tokens."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

__all__ = ["Mutant", "as_it_is", "mutant", "number_of_mutants"]


class Mutant(NamedTuple):
    """A file with one change."""

    path: str
    line: int
    change: str
    """What was changed, such as `< -> <=`."""
    source: str
    """The whole changed file."""


def number_of_mutants(path: str, source: str) -> int:
    """How many changes can be made to the file."""
    return sum(1 for _ in (_sql_changes(source) if path.endswith(".sql") else _changes(ast.parse(source))))


def as_it_is(path: str, source: str) -> str:
    """The file as a mutant's text would be if nothing were changed in it."""
    return source if path.endswith(".sql") else ast.unparse(ast.parse(source))


def mutant(path: str, source: str, number: int) -> Mutant | None:
    """The file with its change of that number, from 0; None if that is no SQL any more, which anybody would notice."""
    if path.endswith(".sql"):
        found = next(islice(_sql_changes(source), number, None))
        return _of_sql(path, source, found)
    tree = ast.parse(source)
    line, told = next(islice(_changes(tree), number, None))()
    return Mutant(path, line, told, ast.unparse(ast.fix_missing_locations(tree)))


_COMPARED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
_CALLED: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}


_Change = Callable[[], tuple[int, str]]
"""Makes the change in the tree it was found in; gives line and description."""


def _changes(tree: ast.AST) -> Iterator[_Change]:
    for node in _executed(tree):
        yield from _at(node)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run and decide something: no annotations, no names of errors, no `__all__`."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases"} or isinstance(node, ast.Raise | ast.Import | ast.ImportFrom):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.AST):
                yield child
                yield from _executed(child)


def _at(node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.Compare(ops=[compared, *_]) if type(compared) in _COMPARED:
            yield lambda: _put(node, "ops", [_COMPARED[type(compared)](), *node.ops[1:]], _shown(compared, _COMPARED))
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in _COMPUTED:
            yield lambda: _put(node, "op", _COMPUTED[type(operator)](), _shown(operator, _COMPUTED))
        case ast.BoolOp(op=ast.And()):
            yield lambda: _put(node, "op", ast.Or(), "and -> or")
        case ast.BoolOp(op=ast.Or()):
            yield lambda: _put(node, "op", ast.And(), "or -> and")
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield lambda: _put(node, "test", ast.UnaryOp(ast.Not(), test), "condition turned round")
        case ast.Constant(value=bool(value)):
            yield lambda: _put(node, "value", not value, f"{value} -> {not value}")
        case ast.Constant(value=int(value) | float(value)):
            yield lambda: _put(node, "value", value + 1, f"{value} -> {value + 1}")
        case ast.Return(value=ast.expr()):
            yield lambda: _put(node, "value", ast.Constant(None), "returns None")
        case ast.Call(func=ast.Name(id=name)) if name in _CALLED:
            yield lambda: _put(node, "func", ast.Name(_CALLED[name], ast.Load()), f"{name} -> {_CALLED[name]}")


def _shown(operator: ast.AST, pairs: Mapping[type, type]) -> str:
    return f"{type(operator).__name__} -> {pairs[type(operator)].__name__}"


def _put(node: ast.AST, field: str, value: object, told: str) -> tuple[int, str]:
    setattr(node, field, value)
    return getattr(node, "lineno", 0), told


_APART: Final = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|\$\$.*?\$\$"  # left alone
    r"|<>|!=|<=|>=|::|->>?|:=|[<>=+*/-]|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\bIS NOT NULL\b|\bIS NULL\b|\b\w+\b",
    re.DOTALL | re.IGNORECASE,
)
_SQL: Final = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "=": "<>",
    "<>": "=",
    "!=": "=",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "AND": "OR",
    "OR": "AND",
    "NOT": "",
    "LEFT": "",
    "DESC": "",
    "SUM": "max",
    "AVG": "min",
    "MIN": "max",
    "MAX": "min",
    "BOOL_OR": "bool_and",
    "BOOL_AND": "bool_or",
    "LAG": "lead",
    "LEAD": "lag",
    "IS NULL": "IS NOT NULL",
    "IS NOT NULL": "IS NULL",
    "TRUE": "false",
    "FALSE": "true",
}


def _sql_changes(source: str) -> Iterator[re.Match[str]]:
    return (found for found in _APART.finditer(source) if found[0][0].isdigit() or found[0].upper() in _SQL)


def _of_sql(path: str, source: str, found: re.Match[str]) -> Mutant | None:
    token = found[0]
    new = f"{float(token) + 1:g}" if token[0].isdigit() else _SQL[token.upper()]
    changed = source[: found.start()] + new + source[found.end() :]
    line = source.count("\n", 0, found.start()) + 1
    return Mutant(path, line, f"{token} -> {new or 'nothing'}", changed) if _is_sql(changed) else None


def _is_sql(text: str) -> bool:
    """Whether it can still be read; a view that cannot would be noticed by anybody."""
    import duckdb

    try:
        return bool(duckdb.extract_statements(text))
    except duckdb.Error:
        return False
