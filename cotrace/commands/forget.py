"""`cotrace forget`: takes mistakes out of a store."""

import click

from cotrace.options.shared import say, store_option
from schemas.common.errors import UsageError
from schemas.store.store import Store


@click.command()
@click.option("--judge", help="All verdicts of this judge, such as llm:openai/gpt-4o-mini.")
@click.option("--judge-run", "judge_run", help="The verdicts of one scoring job, by its id.")
@click.option("--rubric", help="All verdicts on this rubric.")
@click.option("--run", help="An experiment with its games, by id or name.")
@click.option("--source", help="What came from a log file, by its path.")
@click.option("--labels", help="The labels of a source, such as a file's path.")
@click.option("--annotator", help="All labels of a person.")
@click.option("--notes", help="All notes that a person wrote.")
@click.option("--yes", is_flag=True, help="Remove them; without it the command only lists what would go.")
@store_option
def command(store: Store, *, yes: bool, **named: str | None) -> int:
    """Remove verdicts, games, labels or notes from the store; the command first lists what would go.

    Logs stay where they are: `cotrace ingest` reads them again.

    \b
    Example:
      cotrace forget --judge llm:openai/gpt-4o-mini
      cotrace forget --source logs/broken.json --yes
    """
    from analytics.forgetting import forget

    given = [(kind, name) for kind, name in named.items() if name is not None]
    if len(given) != 1:
        raise UsageError("say what to forget: one of --judge, --judge-run, --rubric, --run, --source, --labels, --annotator, --notes")
    ((kind, name),) = given
    gone = forget(store, kind, name, really=yes)
    for table, rows in gone.rows.items():
        say(f"{rows:>9} rows of {table}")
    if yes:
        say(f"forgotten: {kind.replace('_', ' ')} {name}, {gone.total} rows of {store.path}")
        return 0
    say(f"nothing was changed: the same command with --yes takes these {gone.total} rows out of {store.path}")
    return 0
