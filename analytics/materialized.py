"""Views whose rows are kept: what follows from the logs of a game alone is found out once, when the game has come, and not by every reader.

A view whose header says `Materialized: by game` has its rows in a table of the schema `materialized`. They count for games that are as
they were then: same source, read by the same version of its adapter at the same time. All others, such as those of a log that has been
read again, are computed by whoever asks, by the same SQL: `unmaterialized('<table or view>')` in it stands for the rows of such games.
So no writer has to keep anything up to date, and a store that was never materialized (a lake is not) gives the same numbers.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

from schemas.errors import StoreError
from schemas.store import Store

__all__ = ["BASIS", "expanded", "materialize"]

BASIS: Final = """
create schema if not exists materialized;
create or replace table materialized.games as
    select episode_id, source_id, adapter_version, ingested_at from episodes inner join sources using (source_id) limit 0;
create or replace view materialized.unchanged as
    select episode_id
    from materialized.games
    inner join episodes using (episode_id, source_id)
    inner join sources using (source_id, ingested_at)
    where sources.adapter_version is not distinct from games.adapter_version;
create or replace view materialized.due as
    select episode_id from episodes where episode_id not in (select episode_id from materialized.unchanged);
comment on table materialized.games is 'Games whose rows are kept, as they were when these were found out.';
comment on view materialized.unchanged is 'Games whose kept rows count: they are as they were then.';
comment on view materialized.due is 'Games of which nothing is kept, or nothing that counts: whoever asks for their rows computes them.';
"""
"""Which games are materialized, and which are due; made before the views, for no game."""

_DUE: Final = re.compile(r"unmaterialized\((?:'(\w+)'|(\([^()]*\)))\)")
_HEAD: Final = re.compile(r"create or replace view (\w+) as\n")


def expanded(sql: str) -> str:
    """The statements that make a materialized view, out of the one that says how its rows are computed."""
    sql = _DUE.sub(_rows_due, sql)
    name = _HEAD.search(sql)[1]  # type: ignore[index]  # the loader has looked
    return (
        f"{sql.replace(f'create or replace view {name} as', f'create or replace view materialized.due_{name} as')}"
        f"create or replace table materialized.{name} as select * from materialized.due_{name} limit 0;\n"
        f"create or replace view {name} as\n"
        f"select * from materialized.{name} where episode_id in (select episode_id from materialized.unchanged)\n"
        f"union all by name select * from materialized.due_{name};\n"
        f"comment on table materialized.{name} is 'Rows of {name} that are kept; those of games in materialized.unchanged count.';\n"
        f"comment on view materialized.due_{name} is 'Rows of {name} for games of which nothing is kept.';\n"
    )


def _rows_due(found: re.Match[str]) -> str:
    return f"(select * from {found[1] or found[2]} where episode_id in (select episode_id from materialized.due))"


def materialize(store: Store) -> None:
    """Find out and keep the rows of materialized views for the games that are due, in one transaction.

    A store that cannot be written now (held by others, on a full disk, a lake) is left as it is: its readers compute what is due.
    """
    import duckdb

    with suppress(StoreError, duckdb.Error), store.writing() as connection:
        names = [name for (name,) in connection.execute(_NAMES).fetchall()]
        for name in names:
            connection.execute(f"delete from materialized.{name} where episode_id not in (select episode_id from materialized.unchanged)")
            connection.execute(f"insert into materialized.{name} by name select * from materialized.due_{name}")
        if names:  # none has a store whose views are those of an older cotrace
            connection.execute("create temp table due as select episode_id from materialized.due")
            connection.execute("delete from materialized.games where episode_id not in (select episode_id from materialized.unchanged)")
            connection.execute(_MARK)


_NAMES: Final = "select table_name from duckdb_tables() where schema_name = 'materialized' and table_name <> 'games'"
_MARK: Final = """
insert into materialized.games by name
select episode_id, source_id, adapter_version, ingested_at
from due
inner join episodes using (episode_id)
inner join sources using (source_id)
"""
