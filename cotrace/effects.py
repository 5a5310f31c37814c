"""`cotrace replay --effect`: a turn is played on in arms that differ in one agent's message or action, and what that makes is compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.losses.effects import Arm, Effect, arms, disagreements, effects_of, effects_report
from analytics.query import as_csv, query
from games.continuations import Change, Logged, asked_in, continuations, continued_game
from games.players.running import RunSetup, RunTerms, run_games
from schemas.common.errors import CotraceError, UsageError
from schemas.families import module
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl

    from games.players.running import Job
    from games.players.setup import PlayerSetup
    from judges.attribution.findings import Finding

IDEAL: Final = "ideal"
SILENT: Final = "silent"
_NOTHING: Final = 1e-9
_NO_SHARE: Final[dict[str, float | None]] = dict.fromkeys(("shapley", "shapley_low", "shapley_high"))
_FAULTLESS: Final = "(as a faultless script plays it)"


class EffectRequest(NamedTuple):
    """What is compared."""

    where: str
    """One SQL condition on `episodes`."""
    turn: int | None
    """None: of each game the turn for which agents are blamed most, else the one that lost most."""
    players: Sequence[str]
    """`ROLE=PLAYER` of who plays on; the others are played as they were."""
    instead: str
    """`ideal`, `silent`, or a script that plays an agent's part of the turn."""
    repeats: int
    turns: int | None
    """How many turns are played, that one included; None: to the end."""
    joint: bool
    """Shapley effects too."""
    skipped: int = 0
    """How many of the repeats, the first ones, do not count."""
    cheapest: bool = False
    """Where no turn is given: of the turns for which agents are blamed, the one that they are blamed for least."""


class _Trial(NamedTuple):
    benchmark: str
    episode: str
    turn: int
    steps: Sequence[Sequence[str]]
    """Who is asked in the turn, without those of whom nothing is replaced."""
    fixed: Sequence[str]
    findings: Sequence[Finding]
    jobs: dict[Arm, list[Job]]
    setup: PlayerSetup


def measured(store: Store, request: EffectRequest, folder: Path, terms: Callable[[], RunTerms], say: Callable[[str], None]) -> list[Effect]:
    """Play every arm of every turn into a folder, with a store of the logs, and give the effects of the agents.

    Args:
        store: its games have values.
        request: what is compared.
        folder: for logs and the store `effects.duckdb`.
        terms: of the players.
        say: gets what is left out.

    Raises:
        UsageError: the condition is none, or no turn can be played again.
    """
    from analytics.installation import ensure_installed
    from analytics.losses.accuracy import costs_by_turn, lost_since
    from ingest.files.run import ingest_paths

    ensure_installed(store)
    trials = list(_trials(store, request, folder, say))
    if not trials:
        raise UsageError("no turn can be played again: no game with a cost, and with the replies of its agents in its log")
    _play(trials, terms(), folder)
    again = Store(folder / "effects.duckdb")
    ingest_paths([job.path for trial in trials for jobs in trial.jobs.values() for job in jobs], again, workers=1, receipts=False)
    ensure_installed(again)
    files = {Path(path).resolve(): episode for path, episode in query(again, _FILES).rows()}
    costs, logged, found = costs_by_turn(again), costs_by_turn(store), []
    for trial in trials:
        before = lost_since(logged.get(trial.episode, {}), trial.turn, request.turns)
        lost = {
            arm: [
                lost_since(costs.get(files.get(job.path.resolve(), ""), {}), trial.turn, request.turns) for job in jobs[request.skipped :]
            ]
            for arm, jobs in trial.jobs.items()
        }
        same: dict[str, float | None] = {"lost": fmean(next(iter(lost.values()))), "effect": 0.0, "low": 0.0, "high": 0.0}
        for agent, numbers in [*effects_of(trial.steps, lost).items(), *((agent, same | _NO_SHARE) for agent in trial.fixed)]:
            own = [one for one in trial.findings if one.agent == agent]
            dearest = max(own, key=lambda one: one.cost, default=None)
            price, link = sum(one.cost for one in own), dearest.link if dearest else None
            about = (
                trial.benchmark,
                trial.episode,
                trial.turn,
                agent,
                link,
                price,
                _words(trial, agent, request),
                request.repeats - request.skipped,
            )
            found.append(Effect(*about, **numbers, back=before - (numbers["lost"] or 0.0) + (numbers["effect"] or 0.0)))  # type: ignore[arg-type]
    return found


_FILES: Final = "SELECT path, episode_id FROM sources JOIN episodes USING (source_id)"


def _trials(store: Store, request: EffectRequest, folder: Path, say: Callable[[str], None]) -> Iterator[_Trial]:
    from ingest.cotrace_log.logged_game import logged_game
    from judges.attribution.job import attributed_games

    left_out: dict[str, list[str]] = {}
    for game, found in attributed_games(store, f"({request.where}) AND origin IS NULL"):
        turn = request.turn or _chosen(found.findings, cheapest=request.cheapest)
        if turn is None:
            continue
        findings = [one for one in found.findings if one.turn == turn]
        try:
            logged = Logged(*logged_game(store, game.episode_id))
            steps = asked_in(logged, turn)
            jobs = {}
            fixed = _own_ideals(logged, request)
            steps = [tuple(agent for agent in step if agent not in fixed) for step in steps]
            for arm in arms(steps, joint=request.joint):
                change = _change(logged, turn, arm, findings, request)
                setup, jobs[arm] = continuations(logged, change, folder / game.episode_id)
        except CotraceError as error:
            left_out.setdefault(game.benchmark, []).append(f"{game.episode_id} turn {turn}: {error}")
            continue
        if jobs:
            yield _Trial(game.benchmark, game.episode_id, turn, steps, fixed, findings, jobs, setup)
    for benchmark, why in left_out.items():
        say(f"  {len(why)} turns of {benchmark} left out, which cannot be played again, such as {why[0]}")


def _own_ideals(logged: Logged, request: EffectRequest) -> list[str]:
    """Agents that play as a faultless script: what they did is their ideal, so nothing of theirs is replaced."""
    planted = module(logged.header.benchmark, "games", "planted")
    if planted is None or request.players or request.instead != IDEAL or not logged.header.details.get("scripted"):
        return []
    return [one.agent for one in logged.header.agents if (one.persona or "").partition(",")[0] in planted.FAULTLESS]


def _chosen(findings: Sequence[Finding], *, cheapest: bool) -> int | None:
    """The turn for which agents are blamed most (or least); where none is blamed, the one that lost most; None: none lost anything."""
    blamed, lost = Counter[int](), Counter[int]()
    for one in findings:
        if _NOTHING < one.cost < float("inf"):
            lost[one.turn] += one.cost  # type: ignore[assignment]
            blamed[one.turn] += one.cost if one.agent is not None else 0  # type: ignore[assignment]
    if cheapest and any(blamed.values()):
        return min((turn for turn in lost if blamed[turn]), key=lambda turn: (blamed[turn], turn))
    return max(lost, key=lambda turn: (blamed[turn], lost[turn], -turn), default=None)


def _change(logged: Logged, turn: int, arm: Arm, findings: Sequence[Finding], request: EffectRequest) -> Change:
    change = Change(turn=turn, players=request.players, turns=request.turns, repeats=request.repeats, step=arm.step)
    replaced = sorted(arm.replaced)
    if logged.header.details.get("scripted") and not request.players:
        if request.instead == SILENT:
            raise UsageError("scripts that remember read no texts: --instead ideal, or a script of theirs")
        return replace(change, scripts=dict.fromkeys(replaced, "" if request.instead == IDEAL else request.instead))
    game = continued_game(logged.header.benchmark)
    setup = game.player_setup(logged.header)
    given: dict[str, tuple[str, str]] = {}
    scripts: dict[str, str] = {}
    for agent in replaced:
        known = setup.scripts.get(setup.roles[agent], {})
        ideal = next((one.ideal for one in findings if one.agent == agent and one.ideal is not None), None)
        if request.instead == SILENT:
            given[agent] = ("say", "")
        elif request.instead == IDEAL and ideal is not None:
            given[agent] = (ideal.kind, ideal.text)
        elif request.instead != IDEAL and request.instead not in known:
            raise UsageError(f"--instead {request.instead}: no script of a {setup.roles[agent]}; there are {', '.join(known)}")
        else:
            scripts[agent] = next(iter(known)) if request.instead == IDEAL else request.instead
    return replace(change, given=given, scripts=scripts)


def _words(trial: _Trial, agent: str, request: EffectRequest) -> str:
    ideal = next((one.ideal for one in trial.findings if one.agent == agent and one.ideal is not None), None)
    if agent in trial.fixed:
        return "(it plays as a faultless script)"
    remember = next(iter(trial.jobs.values()))[0].alone
    return request.instead if request.instead != IDEAL else _FAULTLESS if ideal is None or remember else ideal.text


def _play(trials: Sequence[_Trial], terms: RunTerms, folder: Path) -> None:
    from cotrace.progress import playing_bar, tell

    tables: dict[object, list[_Trial]] = {}
    for trial in trials:
        scripts = tuple((role, *known) for role, known in trial.setup.scripts.items())
        tables.setdefault((trial.benchmark, tuple(trial.setup.roles), scripts), []).append(trial)
    for together in tables.values():
        setup = together[0].setup
        table = RunSetup(scripts=setup.scripts, roles=setup.roles, terms=terms, journal=folder / ".journal")
        jobs = [job for trial in together for jobs in trial.jobs.values() for job in jobs]
        with playing_bar() as show:
            tell(run_games(jobs, table, show), folder, next_step=False)


def summarised(found: Sequence[Effect], folder: Path) -> tuple[pl.DataFrame, list[str]]:
    """The report, and sentences on where price and effect disagree; all effects are in `effects.csv`."""
    import polars as pl

    texts: dict[str, Any] = dict.fromkeys(("benchmark", "episode_id", "agent", "link", "instead"), pl.String())
    kinds = {name: texts.get(name, pl.Int64() if name in ("turn", "repeats") else pl.Float64()) for name in Effect._fields}
    (folder / "effects.csv").write_text(as_csv(pl.DataFrame(found, schema=kinds, orient="row")), encoding="utf-8")
    return effects_report(found), list(disagreements(found))
