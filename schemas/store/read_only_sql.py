"""The gate for SQL that comes from outside (a user, a rubric, a page): one query, or one condition, that only reads.

DuckDB's own parser decides what a text is; nothing here matches patterns in SQL. Statement types do not suffice: since DuckDB 2.0 the body
of a WITH may be a COPY, an INSERT, an UPDATE or a DELETE, and EXPLAIN ANALYZE runs what it explains. So the tree is looked through as
well. The second line of defence is the connection (`Store.reading`): its file system is switched off, so what came through could still
write nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from schemas.common.errors import UsageError
from schemas.store.store import sealed_memory

if TYPE_CHECKING:
    import duckdb

_READING_NODES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE"})
_GIVES_ROWS: Final = frozenset(
    (
        *("glob", "icu_calendar_names", "json_each", "json_tree", "pg_timezone_names", "query_table", "range", "repeat", "repeat_row"),
        *("generate_series", "sniff_csv", "summary", "test_all_types", "test_vector_types", "unnest"),
    )
)
_GIVE_ROWS: Final = ("duckdb_", "pragma_", "read_", "parquet_")
"""DuckDB's functions in FROM that do no more, by name or by how the name begins; those of files find none: the file system is off."""
_DOES_MORE: Final = frozenset({"write_log"})
"""Functions elsewhere in a query that keep what they are given."""
_EXPLAIN_WORDS: Final = frozenset({"explain", "analyze", "verbose", "format", "text", "json", "html", "graphviz", "mermaid", *"(),"})
_KINDS: Final = "SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE, PIVOT, UNPIVOT or EXPLAIN"
_PARAMETER: Final = "VALUE_PARAMETER"

_CHECKED: Final[dict[str, str]] = {}
"""What `as_query` was given -> what it gave: reports and pages ask the same again and again, and the answer follows from the text alone."""
_MOST_CHECKED: Final = 1000


def as_query(sql: str, connection: duckdb.DuckDBPyConnection) -> str:
    """The one query that the text holds, in words that can be run as they are.

    Args:
        sql: what was given; parameters (`$name`) may stand in it.
        connection: asked to parse; nothing of the text is run.

    Raises:
        UsageError: it is not SQL, not one statement, or no query; or it could do more than read.
    """
    if (checked := _CHECKED.get(sql)) is not None:  # asked once: another thread may clear it
        return checked
    text, sql = sql, _with_columns_quoted(_as_utf8(sql), connection)
    statements = _statements(sql, connection)
    if len(statements) != 1:
        raise UsageError(f"it has to be one statement, and here are {len(statements)}")
    kind = _kind_of(statements[0])
    if kind == "SELECT":
        _check(_parsed(sql, connection))
        if len(_CHECKED) >= _MOST_CHECKED:
            _CHECKED.clear()
        _CHECKED[text] = sql
        return sql
    if kind == "MULTI" and _is_table(without_end(sql), connection):
        _check_called(sql)
        return f"FROM (\n{without_end(sql)}\n)"
    if kind == "EXPLAIN" and _explains_query(sql, connection):
        return sql
    raise UsageError(f"{kind} is not a query, and the store is read-only here: begin with {_KINDS}")


def query_mistake(sql: str) -> str | None:
    """What is wrong with the query, as far as can be determined without a store: that it is not SQL, or not one SELECT."""
    import duckdb

    with sealed_memory() as connection:
        try:
            kinds = [statement.type for statement in connection.extract_statements(sql)]
            if kinds == [duckdb.StatementType.SELECT]:
                as_query(sql, connection)
                return None
        except UsageError as error:
            return str(error)
        except duckdb.Error as error:
            return reason_of(error)
    return "it has to be one SELECT statement"


def as_condition(text: str, connection: duckdb.DuckDBPyConnection) -> str:
    """The one expression that the text holds, in brackets, to be put behind WHERE or AND.

    It has to parse as all of a WHERE, with and without brackets around it: so none of its own can close ours, and nothing can follow it.

    Raises:
        UsageError: it is not an expression, more than one, or it could do more than read.
    """
    text = _as_utf8(text)
    if not text.strip():
        raise UsageError("it is empty")
    text = _with_columns_quoted(f"SELECT 1 WHERE {text}", connection).removeprefix("SELECT 1 WHERE ")
    bracketed = f"(\n{text}\n)"  # lines of its own: a comment in it ends there
    rest = [_besides_where(f"SELECT 1 WHERE {condition}", connection) for condition in (f"\n{text}\n", bracketed, "true")]
    if rest[0] != rest[2] or rest[1] != rest[2]:
        raise UsageError("it has to be one condition and nothing besides")
    return bracketed


_COLUMN_THAT_IS_A_KEYWORD: Final = b"at"
"""Of `turns`; DuckDB 2 reads it as the beginning of `AT (VERSION => ...)`."""


def _with_columns_quoted(sql: str, connection: duckdb.DuckDBPyConnection) -> str:
    """The SQL with the column `at` in quotation marks, where it parses only so; else as it is."""
    import duckdb

    try:
        connection.extract_statements(sql)
    except duckdb.ParserException:
        text, quoted = sql.encode(), b""
        words = duckdb.tokenize(sql)
        for (start, kind), (end, _) in pairwise([*words, (len(text), None)]):
            word = text[start:end]
            is_column = (
                kind in {duckdb.token_type.keyword, duckdb.token_type.identifier} and word.strip().lower() == _COLUMN_THAT_IS_A_KEYWORD
            )
            quoted += word.replace(word.strip(), b'"at"') if is_column else word
        try:
            connection.extract_statements(quoted.decode())
        except (duckdb.Error, UnicodeDecodeError):
            return sql
        return quoted.decode()
    except duckdb.Error:
        pass
    return sql


def _statements(sql: str, connection: duckdb.DuckDBPyConnection) -> list[duckdb.Statement]:
    import duckdb

    try:
        return connection.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(reason_of(error)) from error


def _kind_of(statement: duckdb.Statement) -> str:
    try:
        return str(statement.type.name)
    except ValueError:  # DuckDB's parser knows statements that its Python package has no name for
        return statement.query.split(None, 1)[0].upper()


def without_end(sql: str) -> str:
    """The query without semicolons and comments after it, so that it can be put into another one."""
    import duckdb

    text = sql.encode()
    for start, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and text[start : start + 1] != b";":
            break
        text = text[:start]
    return text.decode()


def _besides_where(sql: str, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The tree of the query without its condition; the condition is checked."""
    count = len(_statements(sql, connection))
    if count != 1:
        raise UsageError(f"it has to be one condition, and here are {count} statements")
    statements = _parsed(sql, connection)
    _check(statements)
    if any(node.get("type") == _PARAMETER for node in _nodes(statements)):
        raise UsageError("a parameter (?, $name) has no value here: write the value itself")
    return {key: value for key, value in statements[0]["node"].items() if key != "where_clause"}


def _as_utf8(sql: str) -> str:
    """What came through a terminal whose locale is not UTF-8 holds bytes instead of letters."""
    try:
        return sql.encode(errors="surrogateescape").decode()
    except UnicodeError:
        raise UsageError("it holds letters that are no UTF-8: set LC_ALL=C.UTF-8") from None


def _is_table(sql: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the text can stand in brackets behind FROM: a PIVOT that looks up its columns can, a COPY of one cannot."""
    import duckdb

    try:
        return len(connection.extract_statements(f"FROM (\n{sql}\n)")) == 1
    except duckdb.Error:
        return False


def _check_called(sql: str) -> None:
    """Refuse functions that run more in a query of which DuckDB gives no tree: a PIVOT that looks up its columns is several statements."""
    for name, behind in pairwise(_words(sql)):
        if behind.startswith("(") and name.strip('"').lower() in _refused():
            raise UsageError(f"{name}() does more than read: it cannot be used here")


@cache
def _refused() -> frozenset[str]:
    """Functions that run SQL which the parser has not seen, or do more than give rows: all in FROM that are not known to do no more.

    So a function that a newer DuckDB brings, as 2.0 did some that run a text as SQL, is refused before somebody has looked at it.
    """
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table'").fetchall()
    return _DOES_MORE | {name for (name,) in found if name not in _GIVES_ROWS and not name.startswith(_GIVE_ROWS)}


def _words(sql: str) -> list[str]:
    """The tokens of the text, comments left out."""
    import duckdb

    text = sql.encode()
    tokens = [*duckdb.tokenize(sql), (len(text), duckdb.token_type.operator)]
    return [text[begin:end].decode().strip() for (begin, kind), (end, _) in pairwise(tokens) if kind != duckdb.token_type.comment]


def _explains_query(sql: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the text is EXPLAIN with its options, and then a query that could be run itself."""
    import duckdb

    text = sql.encode()
    starts = [start for start, _ in duckdb.tokenize(sql)]
    for begin, end in pairwise(starts):
        if text[begin:end].decode().strip().lower() not in _EXPLAIN_WORDS:
            return False
        if _is_query(text[end:].decode(), connection):
            return True
    return False


def _is_query(sql: str, connection: duckdb.DuckDBPyConnection) -> bool:
    answer = _serialized(sql, connection)
    _check(answer)
    return not answer["error"]


def _parsed(sql: str, connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """The trees of the statements, all of them SELECTs (which to DuckDB's parser FROM, VALUES, DESCRIBE, SHOW and SUMMARIZE are too)."""
    answer = _serialized(sql, connection)
    if answer["error"]:
        raise UsageError(" ".join(answer["error_message"].split()))
    statements: list[dict[str, Any]] = answer["statements"]
    return statements


def _serialized(sql: str, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    ((text,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()
    try:
        answer: dict[str, Any] = json.loads(text)
    except RecursionError as error:
        raise UsageError("it is nested too deeply") from error
    return answer


def _check(tree: object) -> None:
    for node in _nodes(tree):
        kind = node.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _READING_NODES:
            raise UsageError(f"{kind.partition('_')[0]} inside a query writes, and the store is read-only here")
        name = node.get("function_name")
        if isinstance(name, str) and name.lower() in _refused():
            raise UsageError(f"{name}() does more than read: it cannot be used here")


def _nodes(tree: object) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def reason_of(error: Exception) -> str:
    """What DuckDB reports is wrong with a query, in one line, without the query itself."""
    return " ".join(str(error).partition("LINE ")[0].split())
