"""`cotrace export chats`: games as lines for fine-tuning."""

from pathlib import Path

import click

from cotrace.options.shared import say, store_option, writing_to
from schemas.common.errors import UsageError
from schemas.store.store import Store


@click.command("chats")
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to write to; made if missing."
)
@click.option("--where", default="true", help="SQL condition on episodes: only these games.")
@click.option("--role", "roles", multiple=True, help="Only agents of this role; repeat for several.")
@click.option(
    "--keep",
    type=click.Choice(["all", "successful", "lossless"]),
    default="all",
    show_default=True,
    help="successful: games that reached their goal; lossless: turns that cost nothing by the benchmark's main measure.",
)
@click.option("--reasoning/--no-reasoning", default=True, show_default=True, help="Whether thoughts stay in the answers.")
@click.option("--pairs", is_flag=True, help="Pairs of a better and a worse answer to the same prompt, by what their turns cost.")
@click.option("--splits", default="0.8,0.1,0.1", show_default=True, help="Shares of puzzles for train, validation and test.")
@store_option
def command(folder: Path, where: str, roles: tuple[str, ...], keep: str, splits: str, store: Store, *, reasoning: bool, pairs: bool) -> int:
    """Write what agents were shown and what they answered, one chat a call, as each of them saw it.

    Games are played again from their logs, so that the prompts are those of the game. No puzzle is in two splits. Exit code 1 if games had
    to be left out.

    \b
    Example:
      cotrace export chats --to tuning/ --keep successful --role builder
      cotrace export chats --to pairs/ --pairs --where "success"
    """
    from typing import cast

    from analytics.exports.chats import Keep, Wanted, export_chats
    from analytics.exports.games import ensure_some_game
    from analytics.installation import ensure_installed

    store.check()
    ensure_installed(store)
    try:
        shares = tuple(float(share) for share in splits.split(","))
    except ValueError as error:
        raise UsageError(f"--splits {splits}: write three shares such as 0.8,0.1,0.1") from error
    ensure_some_game(store, where)
    wanted = Wanted(where=where, roles=roles, keep=cast("Keep", keep), reasoning=reasoning, pairs=pairs, shares=shares)
    with writing_to(folder, "--to"):
        report = export_chats(store, folder, wanted)
    what = "pairs" if pairs else "chats"
    by_split = ", ".join(f"{count} {split}" for split, count in report.lines.items()) or "none"
    say(f"{report.lines.total()} {what} of {report.games} games: {by_split}")
    for reason, count in report.left_out.most_common():
        say(f"  left out: {count} games: {reason}")
    say(f'load them with: datasets.load_dataset("{folder}")')
    return 1 if report.left_out else 0
