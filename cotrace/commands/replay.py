"""`cotrace replay`: a logged game goes on otherwise from one of its turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cotrace.options.players import player_options
from cotrace.options.shared import COUNT, say, store_option, writing_to
from schemas.errors import UsageError
from schemas.store import Store
from schemas.text import in_sql


@click.command()
@click.argument("episode", required=False)
@click.option("--turn", type=click.IntRange(min=1), help="From which turn on.")
@player_options
@click.option("--say", "said", multiple=True, metavar="ROLE=TEXT", help="What an agent says at its first call in that turn.")
@click.option("--do", "done", multiple=True, metavar="ROLE=TEXT", help="What it does there, in the game's grammar.")
@click.option("--repeats", default=1, show_default=True, type=COUNT, help="How often.")
@click.option("--turns", type=COUNT, help="How many turns are played on; by default all to the end (--to-end).")
@click.option("--to-end", is_flag=True, help="Play to the end, which is the default.")
@click.option("--mend", type=COUNT, metavar="N", help="Without EPISODE: mend the N costliest broken links, and see what comes back.")
@click.option("--where", default="true", show_default=True, help="--mend: SQL condition on `episodes`.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the logs [default: replays/EPISODE or replays/mended]."
)
@store_option
def command(
    episode: str | None,
    turn: int | None,
    seats: tuple[str, ...],
    said: tuple[str, ...],
    done: tuple[str, ...],
    repeats: int,
    turns: int | None,
    mend: int | None,
    where: str,
    out: Path | None,
    store: Store,
    *,
    to_end: bool,
    **options: Any,
) -> int:
    """Take up a logged game at a turn, with another player, another message or another action, and play on.

    Until the changed seat is asked in that turn, all goes as it went; from there on the players play, those who sat there where nobody
    else is named. The continuations go into the store, know where they come from, and are compared with what happened
    (`cotrace report continuations`). With --mend, the links that most was lost through are mended one by one, whoever has no player is
    played by the game's first script, one turn is played unless --turns or --to-end says otherwise, and what was lost is compared
    (docs/attribution.md). EPISODE is a game's id in the store, or its beginning. Exit code 1 if calls failed.

    \b
    Example:
      cotrace replay craft-0f6ad207c604 --turn 3 --player builder=openai/gpt-4o --player directors=script:plain --repeats 20 --turns 1
      cotrace replay craft-0f6ad207c604 --turn 3 --do 'builder=PLACE:gs:(0,0):0:CONFIRM:try' --player all=script:plain
      cotrace replay --mend 50 --where "benchmark = 'craft'" --player builder=openai/gpt-4o
    """
    if to_end and turns is not None:
        raise UsageError("--turns and --to-end contradict each other: give one of them")
    if mend is not None:
        from cotrace.judging.mending import mend as mended
        from cotrace.options.players import terms_of

        if episode or turn or said or done:
            raise UsageError("--mend chooses games, turns and words itself: leave out EPISODE, --turn, --say and --do")
        store.check()
        played = None if to_end else turns or 1
        return mended(store, where, mend, seats, played, out or Path("replays") / "mended", lambda: terms_of(options))
    if episode is None or turn is None:
        raise UsageError("give the game and the turn, as in: cotrace replay craft-0f6ad207c604 --turn 3 ..., or --mend N")
    from cotrace.options.players import terms_of
    from cotrace.progress import playing_bar, tell
    from games.continuations.play import Change, Logged, continuations
    from games.players.running import RunSetup, run_games
    from ingest.cotrace_log.logged_game import logged_game

    store.check()
    found = Logged(*logged_game(store, episode))
    given = {**_given(said, "say"), **_given(done, "do")}
    change = Change(turn=turn, seats=seats, given=given, turns=turns, repeats=repeats)
    folder = out or Path("replays") / found.episode
    sitting, jobs = continuations(found, change, folder)
    table = RunSetup(scripts=sitting.scripts, seats=sitting.roles, terms=terms_of(options), journal=folder / ".journal")
    with writing_to(folder), playing_bar() as show:
        report = run_games(jobs, table, show)
    code = tell(report, folder, next_step=False)
    return max(code, _compare(store, found.episode, change, [job.path for job in jobs]))


def _given(texts: tuple[str, ...], kind: str) -> dict[str, tuple[str, str]]:
    given: dict[str, tuple[str, str]] = {}
    for text in texts:
        seat, equals, words = text.partition("=")
        if not equals or not words or not seat:
            raise UsageError(f"--{kind} {text}: write ROLE=TEXT")
        given[seat.strip()] = (kind, words)
    return given


def _compare(store: Store, episode: str, change: Any, paths: list[Path]) -> int:
    from analytics.installation import ensure_installed
    from analytics.reports import report
    from cotrace.output import emit
    from ingest.files.run import ingest_paths

    taken = ingest_paths(paths, store, workers=1)
    ensure_installed(store)
    where = f"episode_id = {in_sql(episode)} AND turn = {change.turn} AND changed = {in_sql(change.words)}"
    frame = report(store, "continuations", where)
    emit(frame.select("turn", "changed", "turns", "measure", "games", "happened", "mean", "low", "high"), "table")
    say("all continuations: cotrace report continuations")
    return 0 if taken.is_clean else 1
