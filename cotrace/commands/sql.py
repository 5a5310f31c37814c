"""`cotrace sql`: any query, read-only."""

import click

from cotrace.options.shared import format_option, say, store_option
from schemas.store.store import Store


@click.command()
@click.argument("statement")
@store_option
@format_option("table", "csv", "json", "parquet")
def command(statement: str, store: Store, output_format: str) -> None:
    """Run one SQL query on the store; it can read tables and views and nothing else.

    \b
    Example:
      cotrace sql "SELECT outcome, count(*) AS turns FROM outcomes GROUP BY ALL"
    """
    from analytics.installation import ensure_installed
    from analytics.query import query
    from cotrace.output import emit

    ensure_installed(store)
    rows = query(store, statement)
    emit(rows, output_format)
    say(f"{len(rows)} rows from {store.path}")
