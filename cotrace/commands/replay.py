"""`cotrace replay`: a logged game is replayed from a chosen turn with changes; or the costliest turns are played again with an ideal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from cotrace.options.players import player_options
from cotrace.options.shared import COUNT, say, store_option, writing_to
from schemas.common.errors import CotraceError, UsageError
from schemas.common.text import in_sql
from schemas.store.store import Store

if TYPE_CHECKING:
    from analytics.losses.accuracy import Counterfactual
    from games.players.running import Job, RunTerms
    from games.players.setup import PlayerSetup
    from judges.attribution.findings import Finding
    from schemas.game import Header, Turn


_NOTHING: Final = 1e-9
_PLAYED: Final = "(as that player plays it)"
_SUMMARY: Final = ("benchmark", "link", "turns", "games", "came_back", "little")


class _Charge(NamedTuple):
    benchmark: str
    episode: str
    finding: Finding


class _Trial(NamedTuple):
    charge: _Charge
    job: Job
    seats: PlayerSetup


def play_mended(
    store: Store, where: str, most: int, seats: Sequence[str], turns: int | None, folder: Path, terms: Callable[[], RunTerms]
) -> int:
    """Play the costliest turns again with the ideal message or action in place of the broken link, and print what comes back.

    Args:
        store: its games have values and are attributed anew by the engine.
        where: one SQL condition on `episodes`.
        most: turns.
        seats: who plays on; in the other seats the first script of the game.
        turns: how many are played on, the mended one included; None: to the end.
        folder: for the logs, a store of them, and `mended.csv` with a row a turn.
        terms: of the players.

    Raises:
        UsageError: the condition is none, or no turn can be mended.
    """
    from analytics.losses.accuracy import counterfactual_report
    from cotrace.effects import play_on
    from cotrace.output import emit

    charges = _charges(store, where, most)
    with writing_to(folder):
        trials = list(_trials(store, charges, seats, turns, folder))
        if not trials:
            raise UsageError("no turn can be corrected: no game with a cost that an agent's ideal would have kept can be played again")
        tables = [(trial.charge.benchmark, trial.seats, [trial.job]) for trial in trials]
        code, costs = play_on(tables, terms(), folder, "mended")
        found = list(_held_against(store, trials, costs, turns))
        _write(found, folder / "mended.csv")
    emit(counterfactual_report(found), "table", columns=_SUMMARY)
    say("came_back: share of what the ideals would have kept; little: share of the turns of which less than half came back,")
    say("  whose cost was attributed wrongly, or could not be regained by messages")
    say(f"turn by turn: {folder / 'mended.csv'}")
    return code


def _charges(store: Store, where: str, most: int) -> list[_Charge]:
    """Every game's costliest charge first, then the second of each."""
    from analytics.installation import ensure_installed
    from judges.attribution.job import attributed_games

    ensure_installed(store)
    ranked: list[tuple[int, float, _Charge]] = []
    for game, found in attributed_games(store, f"({where}) AND origin IS NULL"):
        charged = [one for one in found.findings if one.agent is not None and _NOTHING < one.cost < float("inf")]
        costliest = sorted(charged, key=lambda one: -one.cost)
        ranked += [(rank, -one.cost, _Charge(game.benchmark, game.episode_id, one)) for rank, one in enumerate(costliest)]
    return [charge for _, _, charge in sorted(ranked, key=lambda one: one[:2])[:most]]


def _trials(store: Store, charges: Sequence[_Charge], seats: Sequence[str], turns: int | None, folder: Path) -> Iterator[_Trial]:
    from games.continuations import Change, Logged, continuations, continued_game, with_scripts
    from ingest.cotrace_log.logged_game import logged_game

    left_out: dict[str, list[str]] = {}
    for charge in charges:
        finding = charge.finding
        try:
            logged = Logged(*logged_game(store, charge.episode))
            taken = with_scripts(seats, continued_game(charge.benchmark).player_setup(logged.header))
            _refuse_same(finding, logged.header, taken)
            change = Change(turn=finding.turn, players=taken, turns=turns, **_instead(finding, logged.turns))
            setup, jobs = continuations(logged, change, folder / charge.episode)
        except CotraceError as error:
            left_out.setdefault(charge.benchmark, []).append(f"{charge.episode} turn {finding.turn}: {error}")
            continue
        yield _Trial(charge, jobs[0], setup)
    for benchmark, why in left_out.items():
        say(f"  {len(why)} turns of {benchmark} left out, which cannot be played again, such as {why[0]}")


def _refuse_same(finding: Finding, header: Header, taken: Sequence[str]) -> None:
    """Where the game has no words for an ideal, another player has to play the turn."""
    now = [seat.partition("=") for seat in taken]
    for agent in header.agents:
        if finding.ideal is None and agent.agent == finding.agent and (agent.agent, agent.model) in {(name, who) for name, _, who in now}:
            raise UsageError(f"{agent.agent} was {agent.model} then: name another player with --player {agent.agent}=...")


def _instead(finding: Finding, turns: Sequence[Turn]) -> dict[str, Any]:
    """What the agent gives, where the game has words for its ideal, else nothing: its player plays; and who stays as they were."""
    agent, ideal = finding.agent or "", finding.ideal
    if ideal is not None:
        return {"given": {agent: (ideal.kind, ideal.text)}, "kept": ideal.kept}
    order = [reply.agent for reply in turns[finding.turn - 1].replies]
    return {"kept": order[: order.index(agent)] if agent in order else ()}


def _held_against(
    store: Store, trials: Sequence[_Trial], costs: Mapping[Path, Mapping[int, float]], turns: int | None
) -> Iterator[Counterfactual]:
    from analytics.losses.accuracy import Counterfactual, costs_by_turn, lost_since

    logged, unknown = costs_by_turn(store, finite=False), 0
    for (benchmark, episode, finding), job, _ in trials:
        before, now = (lost_since(one, finding.turn, turns) for one in (logged.get(episode), costs.get(job.path.resolve())))
        if before is None or now is None:
            unknown += 1
            continue
        promised = finding.cost if finding.regained is None else finding.regained
        ideal, agent = finding.ideal.text if finding.ideal else _PLAYED, finding.agent or ""
        yield Counterfactual(benchmark, episode, finding.turn, agent, finding.link, ideal, finding.cost, promised, before - now)
    if unknown:
        say(f"  {unknown} turns left out: they were not played again, or what was lost before or after is not known")


def _write(found: Sequence[Counterfactual], path: Path) -> None:
    import polars as pl

    from analytics.losses.accuracy import Counterfactual
    from analytics.query import as_csv

    path.write_text(as_csv(pl.DataFrame(found, schema=list(Counterfactual._fields), orient="row")), encoding="utf-8")


@click.command()
@click.argument("episode", required=False)
@click.option("--turn", type=click.IntRange(min=1), help="From which turn on.")
@player_options
@click.option("--say", "messages", multiple=True, metavar="ROLE=TEXT", help="What an agent says at its first call in that turn.")
@click.option("--do", "done", multiple=True, metavar="ROLE=TEXT", help="What it does there, in the game's grammar.")
@click.option("--repeats", default=1, show_default=True, type=COUNT, help="How often.")
@click.option("--turns", type=COUNT, help="How many turns are played on; by default all to the end (--to-end).")
@click.option("--to-end", is_flag=True, help="Play to the end, which is the default.")
@click.option(
    "--mend", type=COUNT, metavar="N", help="Without EPISODE: correct the N costliest failure points, and measure what comes back."
)
@click.option("--effect", is_flag=True, help="Play a turn on with and without each agent's part replaced, --repeats times, and compare.")
@click.option("--instead", default="ideal", show_default=True, help="--effect: the ideal, `silent`, or a script that plays the part.")
@click.option("--shapley", is_flag=True, help="--effect: replace every set of agents too, and share out what they gain together.")
@click.option("--where", default="true", show_default=True, help="--mend, --effect: SQL condition on `episodes`.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the logs [default: replays/EPISODE or replays/mended]."
)
@store_option
def command(
    episode: str | None,
    turn: int | None,
    seats: tuple[str, ...],
    messages: tuple[str, ...],
    done: tuple[str, ...],
    repeats: int,
    turns: int | None,
    mend: int | None,
    instead: str,
    where: str,
    out: Path | None,
    store: Store,
    *,
    effect: bool,
    shapley: bool,
    to_end: bool,
    **options: Any,
) -> int:
    """Continue a logged game from a turn with another player, another message or another action.

    The game is repeated as logged up to the changed agent's part of that turn. From there the players act; agents without a new player
    play as before. The continuations are stored and compared with the logged game (`cotrace report continuations`). --mend fixes the
    costliest failure points one by one and compares what is lost (docs/attribution.md); it plays one turn unless --turns or --to-end is
    given, and the game's first script acts for agents without a player. --effect continues a turn (--turn, else the costliest of each
    game) --repeats times with and without each agent's part replaced; the difference is the agent's effect (docs/effects.md). EPISODE is
    a game's id in the store, or its beginning. Exit code 1 if calls failed.

    \b
    Example:
      cotrace replay craft-0f6ad207c604 --turn 3 --player builder=openai/gpt-4o --player directors=script:plain --repeats 20 --turns 1
      cotrace replay craft-0f6ad207c604 --turn 3 --do 'builder=PLACE:gs:(0,0):0:CONFIRM:try' --player all=script:plain
      cotrace replay --effect craft-0f6ad207c604 --turn 3 --repeats 10 --shapley
      cotrace replay --mend 50 --where "benchmark = 'craft'" --player builder=openai/gpt-4o
    """
    if to_end and turns is not None:
        raise UsageError("--turns and --to-end contradict each other: give one of them")
    if mend is not None:
        from cotrace.options.players import terms_of

        if effect:
            raise UsageError("--effect shows in its column `back` what comes back, next to the effect: leave out --mend")
        if episode or turn or messages or done:
            raise UsageError("--mend chooses games, turns and words itself: leave out EPISODE, --turn, --say and --do")
        store.check()
        played = None if to_end else turns or 1
        return play_mended(store, where, mend, seats, played, out or Path("replays") / "mended", lambda: terms_of(options))
    if effect:
        if messages or done:
            raise UsageError("--effect replaces each agent's part itself: leave out --say and --do")
        from ingest.cotrace_log.logged_game import logged_game

        store.check()
        chosen = f"episode_id = {in_sql(logged_game(store, episode)[0])}" if episode else where
        request = (chosen, turn, seats, instead, repeats, turns, shapley)
        return _effects(store, request, out or Path("replays") / "effects", options)
    if episode is None or turn is None:
        raise UsageError("give the game and the turn, as in: cotrace replay craft-0f6ad207c604 --turn 3 ..., or --mend N")
    from cotrace.options.players import terms_of
    from cotrace.progress import playing_bar, tell
    from games.continuations import Change, Logged, continuations
    from games.players.running import RunSetup, run_games
    from ingest.cotrace_log.logged_game import logged_game

    store.check()
    found = Logged(*logged_game(store, episode))
    given = {**_given(messages, "say"), **_given(done, "do")}
    change = Change(turn=turn, players=seats, given=given, turns=turns, repeats=repeats)
    folder = out or Path("replays") / found.episode
    setup, jobs = continuations(found, change, folder)
    table = RunSetup(scripts=setup.scripts, roles=setup.roles, terms=terms_of(options), journal=folder / ".journal")
    with writing_to(folder), playing_bar() as show:
        report = run_games(jobs, table, show)
    code = tell(report, folder, next_step=False)
    return max(code, _compare(store, found.episode, change, [job.path for job in jobs]))


def _effects(store: Store, request: tuple[Any, ...], folder: Path, options: dict[str, Any]) -> int:
    from analytics.losses.effects import EFFECTS_SUMMARY
    from cotrace.effects import EffectRequest, measured, summarised
    from cotrace.options.players import terms_of
    from cotrace.output import emit

    with writing_to(folder):
        found = measured(store, EffectRequest(*request), folder, lambda: terms_of(options), say)
        frame, sentences = summarised(found, folder)
    emit(frame, "table", columns=EFFECTS_SUMMARY)
    for sentence in sentences[:20]:
        say(f"  {sentence}")
    say(f"price and effect disagree in {len(sentences)} turns; agent by agent: {folder / 'effects.csv'} (docs/effects.md)")
    return 0


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
