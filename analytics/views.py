"""The named views: commented ``.sql`` files, one folder per subject, put into order by what each view reads.

What a family adds to a view of all benchmarks is a view of its own, `<family>_<piece>`; `every_family('<piece>')` in the view of all means
the rows of all families that have one, `list_of_families()` the list itself, `rows_of('<name>.csv')` the rows of a file next to it.
Families from other distributions bring their views in `<package>/analytics`.

A file has one or more views. The header of each view documents it, and is data: ``docs/views.md`` and the checks are made from it.
What columns mean is in `columns.csv` of its folder or of `common` (name, unit, meaning); a name `<view>.<column>` is what the column means
in this view alone, or a macro of it. The grammar of the header::

    -- <name>: <what it is>
    -- One row is <grain>
    -- Materialized: by game                      (its rows are stored, see below; or: by judged game)
    -- Read by game:                              (it is read by such a view; or: Read by judged game)
    -- Parameters: <name: what it is>            (table macros)
    -- Columns as in: <view or table>.           (what they mean there, before `columns.csv` is looked into)
    -- Report: <name>, ordered by <columns>      (of one that `cotrace report` prints)
    -- Listed: <text>; needs <what, as in SOURCES>   (of a family's report: its line in `cotrace report list`)
    -- Shows: <columns>                          (those of a report that fit a terminal)

`Materialized: by game`: what follows from the logs of a game alone is computed once, after ingestion, and not by every reader. The rows are
in a table of the schema `materialized`. They are valid for games that did not change: same source, read by the same version of its adapter
at the same time. The rows of all other games, such as those of a log that was read again, are computed by the same SQL at every query:
`unmaterialized('<table or view>')` in it means the rows of such games. So no writer has to update anything, and a store that was never
materialized (a lake is not) gives the same numbers. Where a view, or what it reads, is not as it was when its rows were stored, these are
computed anew, of this view alone.

`Materialized: by judged game`: the same of what also follows from verdicts, labels and attributions, in the schema `judged`. Whoever writes
or deletes such rows removes the marks of their games in the same transaction (`schemas.store.store.Transaction`). `Read by game` and
`Read by judged game`: rows are not stored, but materialized views that read this view read those of the games that are due.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.common.text import in_sql
from schemas.families import families
from schemas.store.store import SCHEMA_VERSION, SCHEMAS
from schemas.tables import TABLES

if TYPE_CHECKING:
    import duckdb

DUE: Final = """
create or replace view {schema}.due as
    select episode_id from episodes where episode_id not in (select episode_id from {schema}.unchanged);
comment on view {schema}.due is 'Games without valid stored rows: queries compute them.';
"""
"""Made anew where a part of the games was due for a while."""
_BASIS: Final = """
create schema if not exists {schema};
create table if not exists {schema}.games as
    select episode_id, source_id, adapter_version, ingested_at from episodes inner join sources using (source_id) limit 0;
alter table {schema}.games add column if not exists lacks varchar[];
create or replace view {schema}.marked as
    select episode_id, games.lacks
    from {schema}.games
    inner join episodes using (episode_id, source_id)
    inner join sources using (source_id, ingested_at)
    where sources.adapter_version is not distinct from games.adapter_version;
create or replace view {schema}.unchanged as select episode_id from {schema}.marked where lacks is null;
comment on table {schema}.games is 'Games whose rows are stored, as they were when these were computed.';
comment on column {schema}.games.lacks is 'Views that changed since: of these the game has no rows. Null: it has those of all.';
comment on view {schema}.marked is 'Games that did not change since, and the views whose rows they lack.';
comment on view {schema}.unchanged is 'Games whose stored rows are valid: they did not change since.';
"""
BASIS: Final = "".join(_BASIS.format(schema=schema) + DUE.format(schema=schema) for schema in SCHEMAS)
"""Which games are materialized, and which are due; made before the views."""

_DUE: Final = re.compile(r"unmaterialized\((?:'(\w+)'|(\([^()]*\)))\)")
_PIECE: Final = re.compile(r"\bfrom (\w+)")
_HEAD: Final = re.compile(r"create or replace view (\w+) as\n")
_BY_GAME: Final = re.compile(r"\n-- (Materialized|Read)(?::)? by (judged )?game")


def expanded(sql: str, by_game: Mapping[str, tuple[str, bool]], version: str) -> str:
    """The statements that make a view that is computed by game, out of the one that computes its rows.

    Args:
        sql: its statement.
        by_game: all such views: the schema of their stored rows, and whether they have any.
        version: of its stored rows, in the comment on their table.
    """
    name = _HEAD.search(sql)[1]  # type: ignore[index]  # the loader has looked
    schema, is_stored = by_game[name]
    due = _of_due(sql, schema, {read: f"{schema}.due_{read}" for read, (of, _) in by_game.items() if of == schema})
    due = due.replace(f"create or replace view {name} as", f"create or replace view {schema}.due_{name} as")
    due += f"comment on view {schema}.due_{name} is 'Rows of {name} for games without valid stored rows.';\n"
    if not is_stored:
        return _DUE.sub(lambda found: found[1] or found[2], sql) + due
    return (
        f"{due}create table if not exists {schema}.{name} as select * from {schema}.due_{name} limit 0;\n"
        f"create or replace view {name} as\n"
        f"select * from {schema}.{name} where episode_id in (select episode_id from {schema}.unchanged)\n"
        f"union all by name select * from {schema}.due_{name};\n"
        f"comment on table {schema}.{name} is 'Rows of {name}, version {version}; those of games in {schema}.unchanged are valid.';\n"
    )


def filling(sql: str, by_game: Mapping[str, tuple[str, bool]]) -> str:
    """The statement that stores the rows of the games that are due: it reads what of other views has been stored of these games before."""
    name = _HEAD.search(sql)[1]  # type: ignore[index]  # the loader has looked
    schema, _ = by_game[name]
    read = {read: f"{schema}.due_{read}" for read, (of, is_stored) in by_game.items() if of == schema and not is_stored}
    stored = {read: f"{schema}.{read}" for read, (of, is_stored) in by_game.items() if of == schema and is_stored}
    filtered = {
        read: f"(select * from {table} where episode_id in (select episode_id from {schema}.due))" for read, table in stored.items()
    }
    return f"insert into {schema}.{name} by name\n{_of_due(sql, schema, read | filtered).partition(_HEAD.search(sql)[0])[2]}"  # type: ignore[index]


def _of_due(sql: str, schema: str, known: Mapping[str, str]) -> str:
    """The statement with the rows of games that are due in the place of `unmaterialized`; of `known` views they are found there."""

    def rows(read: str) -> str:
        return known.get(read) or f"(select * from {read} where episode_id in (select episode_id from {schema}.due))"

    return _DUE.sub(lambda found: _PIECE.sub(lambda piece: f"from {rows(piece[1])}", found[2]) if found[2] else rows(found[1]), sql)


def read_stored(connection: duckdb.DuckDBPyConnection) -> None:
    """Let a connection read stored rows alone where all games have them: planning what no game needs takes longer than most queries.

    For connections to stores with current views, closed before anything is written.
    """
    for schema in SCHEMAS:
        if connection.execute(f"select count(*) from {schema}.due").fetchall() == [(0,)]:
            for name in [spec.name for spec in VIEWS if spec.schema == schema]:
                connection.execute(f"create or replace temp view {name} as from {schema}.{name} semi join episodes using (episode_id)")


_SECTION = re.compile(
    r"^-- (One row is|Materialized:|Read by(?: judged)? game:|Parameters:|Macros:|Columns as in:|Report:|Listed:|Shows:|Reads:) ?(.*)$"
)
_EVERY = re.compile(r"every_family\('(\w+)'\)")
_FROM = re.compile(r"\b(?:from|join)\s+(?!unmaterialized\b)(\w+)|unmaterialized\('(\w+)'\)")
_COMMENT = re.compile(r"('[^']*')|--[^\n]*")
"""Or a text, which stays: it may hold two hyphens."""
_MACRO = re.compile(r"create or replace macro (\w+)")
_CALL = re.compile(r"(\w+)\(")
_NAME = re.compile(r"-- ([a-z]\w*): ")
_ROWS = re.compile(r"rows_of\('([\w.]+)'\)")
_LIST = "list_of_families()"
_NEXT_VIEW = re.compile(r"(?m)(?<=;\n)\n+(?=-- [a-z]\w*: )")


class Meaning(NamedTuple):
    """What a column (or a scalar macro of ``intervals``) is."""

    unit: str
    """Unit, range or type: ``count``, ``0..1``, ``-1..1``, ``turns``, ``flag``, ``text``, ``number``, ..."""
    doc: str
    """What it is, and what null means where it can be null."""


@dataclass(frozen=True, kw_only=True)
class ViewFile:
    """One view, table macro or set of macros."""

    name: str
    file: str
    """The ``.sql`` file that has it, such as ``craft/turns.sql``."""
    kind: str
    """``view``, ``table macro`` or ``macros``."""
    summary: str
    """What it is and what one row is."""
    special: Mapping[str, Meaning]
    """Of its columns with a meaning of their own, or of its macros."""
    meanings: Mapping[str, Meaning]
    """Column -> meaning, of all its columns and more: its own, those of the view that the header points to, and those of all views."""
    shows: tuple[str, ...]
    """Columns of the report that fit a terminal; empty: all do."""
    parameters: str
    """What a table macro takes; empty elsewhere."""
    report: tuple[str, str] | None
    """Name of the report that prints it and the order of its rows; None of a view that no report prints."""
    listed: str
    """Its line in `cotrace report list`; empty where `analytics.reports.GROUPS` does."""
    sql: str
    schema: str
    """Of its stored rows (`schemas.store.store.SCHEMAS`); empty of a view without any."""
    version: str
    """Changes with its statement and those of all views and macros that it reads, and with `SCHEMA_VERSION`: a hash."""
    fill: str
    """The statement that stores its rows of games that are due; empty as `schema`."""


class _Statement(NamedTuple):
    file: Path
    sql: str


def _load(
    name: str,
    statement: _Statement,
    known: Mapping[str, Mapping[str, Meaning]],
    by_game: Mapping[str, tuple[str, bool]],
    version: str,
) -> ViewFile:
    file, sql = statement
    sections, meanings = _sections(_header(sql)), dictionary(file.parent)
    special = {column: found for key, found in meanings.items() if (column := key.removeprefix(f"{name}.")) != key}
    inherited = known[sections["Columns as in:"].rstrip(".")] if "Columns as in:" in sections else {}
    schema = by_game[name][0] if by_game.get(name, ("", False))[1] else ""
    grain = f"One row is {sections['One row is']}" if "One row is" in sections else ""
    return ViewFile(
        name=name,
        file=f"{file.parent.name}/{file.name}",
        kind=_kind(sql, grain),
        summary=f"{sections['summary']} {grain}".strip(),
        special=special,
        meanings={**meanings, **inherited, **special},
        parameters=sections.get("Parameters:", ""),
        shows=_names(sections.get("Shows:", "")),
        report=_report(name, sections["Report:"]) if "Report:" in sections else None,
        listed=sections.get("Listed:", "").rstrip("."),
        sql=expanded(sql, by_game, version) if name in by_game else sql,
        schema=schema,
        version=version,
        fill=filling(sql, by_game) if schema else "",
    )


def _sections(header: list[str]) -> dict[str, str]:
    """Sections of a header's lines, by their first words."""
    sections: dict[str, str] = {"summary": header[0].partition(": ")[2]}
    current = "summary"
    for line in header[1:]:
        if found := _SECTION.match(line):
            current = found[1]
            sections[current] = found[2]
        else:
            sections[current] += " " + line.removeprefix("-- ")
    return sections


@cache
def dictionary(folder: Path) -> Mapping[str, Meaning]:
    """Column -> meaning, of the views of a folder: those of all folders, and its own."""
    found: dict[str, Meaning] = {}
    for path in (Path(__file__).parent / "common" / "columns.csv", folder / "columns.csv"):
        if path.exists():
            with path.open(encoding="utf-8", newline="") as lines:
                found |= {name: Meaning(unit, doc) for name, unit, doc in csv.reader(lines)}
    return found


def _kind(sql: str, grain: str) -> str:
    if not grain:
        return "macros"
    return "table macro" if "\ncreate or replace macro " in sql else "view"


def _header(sql: str) -> list[str]:
    return [line for line in sql.split("create or replace", 1)[0].split("\n") if line]


def _names(section: str) -> tuple[str, ...]:
    return tuple(name for part in section.split(",") if (name := part.strip(" .")))


def _families_as_rows() -> str:
    """The list of families as a relation: benchmark, title, score, score_unit, spirals, in their order."""
    rows = ", ".join(f"('{known.name}', '{known.title}', '{known.score}', '{known.score_unit}', {known.spirals})" for known in families())
    return f"(values {rows}) as list_of_families (benchmark, title, score, score_unit, spirals)"


def _report(name: str, section: str) -> tuple[str, str]:
    report, separator, order = section.partition(", ordered by ")
    if not separator:
        raise ValueError(f"{name}.sql: write `-- Report: <name>, ordered by <columns>`")
    return report, order


def _statements() -> dict[str, _Statement]:
    """The views of each ``.sql`` file below the folders, by name.

    Raises:
        ValueError: two views have one name, or a header does not begin with the name.
    """
    found: dict[str, _Statement] = {}
    for path in files_of("*.sql"):
        for sql in _NEXT_VIEW.split(path.read_text(encoding="utf-8")):
            name = _NAME.match(sql)
            if name is None:
                raise ValueError(f"{path}: a view must begin with `-- <name>: ` and its meaning")
            if name[1] in found:
                raise ValueError(f"two views are named {name[1]} ({found[name[1]].file} and {path}): rename one")
            found[name[1]] = _Statement(path, sql)
    return {name: _Statement(file, _united(_with_rows(sql, file.parent), found)) for name, (file, sql) in found.items()}


def _with_rows(sql: str, folder: Path) -> str:
    """The statement with the rows of a CSV file, all of them texts, in the place of `rows_of`."""

    def values(found: re.Match[str]) -> str:
        with (folder / found[1]).open(encoding="utf-8", newline="") as lines:
            columns, *rows = csv.reader(lines)
        listed = ", ".join(f"({', '.join(map(in_sql, row))})" for row in rows)
        return f"(values {listed}) as rows ({', '.join(columns)})"

    return _ROWS.sub(values, sql)


def files_of(pattern: str) -> list[Path]:
    """Files of that name in all folders with views: ours, and those of families from other distributions."""
    others = (Path(str(files(known.package))) / "analytics" for known in families() if known.package)
    return [path for folder in (Path(__file__).parent, *others) for path in sorted(folder.rglob(pattern))]


def _united(sql: str, names: Collection[str]) -> str:
    """The statement with the rows of every family's piece in the place of `every_family`."""

    def pieces(piece: str) -> list[str]:
        return [name for known in families() if (name := f"{known.name}_{piece}") in names]

    sql = sql.replace(_LIST, _families_as_rows())
    return _EVERY.sub(lambda found: f"({' union all by name '.join(f'from {name}' for name in pieces(found[1]))})", sql)


def _read_by(sql: str) -> Iterator[str]:
    """What a statement reads: tables, views and common table expressions."""
    for found in _FROM.finditer(_COMMENT.sub(r"\1", sql)):
        yield found[1] or found[2]


def _in_order(statements: Mapping[str, _Statement]) -> list[str]:
    """Names in such an order that each is after the macros and after what it reads."""
    sections = {name: _sections(_header(found.sql)) for name, found in statements.items()}
    macros = [name for name, found in sections.items() if "One row is" not in found]
    after = {
        name: {*macros, *_read_by(statements[name].sql), found.get("Columns as in:", "").rstrip(".")} & statements.keys() - {name}
        for name, found in sections.items()
    }
    return list(TopologicalSorter({name: [] if name in macros else sorted(wanted) for name, wanted in after.items()}).static_order())


def reads(statements: Mapping[str, str]) -> dict[str, set[str]]:
    """Which other statements each reads, of those of all views and macros by name."""
    made = {macro: name for name, sql in statements.items() for macro in _MACRO.findall(sql)}
    called = {name: {made[word] for word in _CALL.findall(_COMMENT.sub(r"\1", sql)) if word in made} for name, sql in statements.items()}
    return {name: (called[name].union(_read_by(sql)) & statements.keys()) - {name} for name, sql in statements.items()}


def _versions(statements: Mapping[str, str]) -> dict[str, str]:
    """Of each view: a hash over its statement and over those of all that it reads, directly or not.

    A column that tables have more changes no rows: who reads it is another statement.
    """
    read = reads(statements)

    def version(name: str) -> str:
        found = {name}
        while more := {other for one in found for other in read[one]} - found:
            found |= more
        texts = [_COMMENT.sub(r"\1", statements[one]) for one in sorted(found)]
        return sha256("\0".join([str(SCHEMA_VERSION), *texts]).encode()).hexdigest()[:16]

    return {name: version(name) for name in statements}


def _load_all() -> tuple[ViewFile, ...]:
    known: dict[str, Mapping[str, Meaning]] = {spec.name: {c.name: Meaning(c.unit, c.doc) for c in spec.columns} for spec in TABLES}
    statements = _statements()
    marked = {name: _BY_GAME.search(found.sql) for name, found in statements.items()}
    by_game = {name: (SCHEMAS[bool(found[2])], found[1] == "Materialized") for name, found in marked.items() if found}
    versions = _versions({name: found.sql for name, found in statements.items()})
    loaded: list[ViewFile] = []
    for name in _in_order(statements):
        loaded.append(_load(name, statements[name], known, by_game, versions[name]))
        known[name] = loaded[-1].meanings
    return tuple(loaded)


VIEWS: tuple[ViewFile, ...] = _load_all()
"""All views, each after those it reads."""
NAMES: Final = frozenset(name for spec in VIEWS for name in (spec.name, *_MACRO.findall(spec.sql)))
"""What a query calls them by."""
