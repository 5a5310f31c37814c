"""`cotrace replay --effect`: a turn is played on in arms that differ in one agent's message or action, and what that makes is compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from analytics.losses.effects import Arm, Effect, Numbers, arms, disagreements, effects_of, effects_report
from analytics.query import as_csv, query
from games.continuations import Change, Logged, asked_in, continuations, continued_game, remember
from games.players.planted import with_faults
from games.players.running import RunSetup, RunTerms, run_games
from schemas.common.errors import CotraceError, UsageError
from schemas.store.store import Store

if TYPE_CHECKING:
    import polars as pl

    from games.players.running import Job
    from games.players.setup import PlayerSetup
    from judges.attribution.findings import Finding

IDEAL: Final = "ideal"
SILENT: Final = "silent"
_NOTHING: Final = 1e-9
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

    ensure_installed(store)
    left_out: dict[str, list[str]] = {}
    trials = list(_trials(store, request, folder, left_out))
    if not trials:
        why = next((reasons[0] for reasons in left_out.values()), "no game with a cost, and with the replies of its agents in its log")
        raise UsageError(f"no turn can be played again: {why}")
    for benchmark, reasons in left_out.items():
        say(f"  {len(reasons)} turns of {benchmark} left out, which cannot be played again, such as {reasons[0]}")
    tables = [(trial.benchmark, trial.setup, [job for jobs in trial.jobs.values() for job in jobs]) for trial in trials]
    _, costs = play_on(tables, terms(), folder, "effects")
    logged, found = costs_by_turn(store, finite=False), []
    unknown: list[str] = []
    for trial in trials:
        since = (trial.turn, request.turns)
        before = lost_since(logged.get(trial.episode), *since)
        by_arm = [[lost_since(costs.get(job.path.resolve()), *since) for job in jobs[request.skipped :]] for jobs in trial.jobs.values()]
        known = [lost for repeat in zip(*by_arm, strict=True) if len(lost := [one for one in repeat if one is not None]) == len(repeat)]
        if not known:
            unknown.append(f"{trial.episode} turn {trial.turn}")
            continue
        numbers = effects_of(trial.steps, dict(zip(trial.jobs, zip(*known, strict=True), strict=True)))
        same = Numbers(fmean(repeat[0] for repeat in known), 0.0, 0.0, 0.0)
        for agent, one in [*numbers.items(), *((agent, same) for agent in trial.fixed)]:
            own = [finding for finding in trial.findings if finding.agent == agent]
            dearest = max(own, key=lambda finding: finding.cost, default=None)
            found.append(
                Effect(
                    trial.benchmark,
                    trial.episode,
                    trial.turn,
                    agent,
                    dearest.link if dearest else None,
                    sum(finding.cost for finding in own),
                    _words(trial, agent, request),
                    len(known),
                    *one,
                    back=None if before is None else before - one.lost + one.effect,
                )
            )
    if unknown:
        say(f"  {len(unknown)} turns left out, whose continuations have no values, such as {unknown[0]}")
    return found


def play_on(
    tables: Iterable[tuple[str, PlayerSetup, Sequence[Job]]], terms: RunTerms, folder: Path, name: str
) -> tuple[int, dict[Path, dict[int, float]]]:
    """Play games on, with those of the same family and players at once, and read their logs into a store of the folder.

    Args:
        tables: family, players, and the games.
        terms: of the players.
        folder: of the logs.
        name: of the store.

    Returns:
        The exit code, and log -> turn -> its cost; a game that was not played, or has no values, has none.
    """
    from analytics.installation import ensure_installed
    from analytics.losses.accuracy import costs_by_turn
    from cotrace.progress import playing_bar, tell
    from ingest.files.run import ingest_paths

    alike: dict[object, tuple[PlayerSetup, list[Job]]] = {}
    for benchmark, setup, jobs in tables:
        scripts = tuple((role, *known) for role, known in setup.scripts.items())
        alike.setdefault((benchmark, tuple(setup.roles), scripts), (setup, []))[1].extend(jobs)
    code = 0
    for setup, jobs in alike.values():
        table = RunSetup(scripts=setup.scripts, roles=setup.roles, terms=terms, journal=folder / ".journal")
        with playing_bar() as show:
            code = max(code, tell(run_games(jobs, table, show), folder, next_step=False))
    again = Store(folder / f"{name}.duckdb")
    ingest_paths([job.path for _, jobs in alike.values() for job in jobs], again, workers=1, receipts=False)
    ensure_installed(again)
    files = query(again, "SELECT path, episode_id FROM sources JOIN episodes USING (source_id)").rows()
    costs = costs_by_turn(again, finite=False)
    return code, {Path(path).resolve(): costs.get(episode, {}) for path, episode in files}


def _trials(store: Store, request: EffectRequest, folder: Path, left_out: dict[str, list[str]]) -> Iterator[_Trial]:
    """The turns; what cannot be played again is put into `left_out`, family -> reasons."""
    from ingest.cotrace_log.logged_game import logged_game
    from judges.attribution.job import attributed_games

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
            replaced = _replaceable(logged, request)
            steps = [tuple(agent for agent in step if agent in replaced and agent not in fixed) for step in steps]
            for arm in arms(steps, joint=request.joint):
                change = _change(logged, turn, arm, findings, request)
                setup, jobs[arm] = continuations(logged, change, folder / game.episode_id)
        except CotraceError as error:
            left_out.setdefault(game.benchmark, []).append(f"{game.episode_id} turn {turn}: {error}")
            continue
        if jobs:
            yield _Trial(game.benchmark, game.episode_id, turn, steps, fixed, findings, jobs, setup)


def _own_ideals(logged: Logged, request: EffectRequest) -> list[str]:
    """Agents that play as a faultless script: what they did is their ideal, so nothing of theirs is replaced."""
    planted = with_faults().get(logged.header.benchmark)
    if planted is None or request.players or request.instead != IDEAL or not logged.header.details.get("scripted"):
        return []
    return [one.agent for one in logged.header.agents if (one.persona or "").partition(",")[0] in planted.FAULTLESS]


def _replaceable(logged: Logged, request: EffectRequest) -> Collection[str]:
    """Agents whose part of the turn can be replaced: with `--instead NAME`, those whose role has that script.

    Raises:
        UsageError: no role has it.
    """
    setup = continued_game(logged.header.benchmark).player_setup(logged.header)
    if request.instead in (IDEAL, SILENT):
        return setup.roles
    alone = logged.header.details.get("scripted") and remember(logged.header, request.players)
    known = {role: list((setup.casts if alone else setup.scripts).get(role, ())) for role in setup.roles.values()}
    if not any(request.instead in names for names in known.values()):
        there = "; ".join(f"{role}: {', '.join(names)}" for role, names in known.items())
        raise UsageError(f"--instead {request.instead}: no script of that name can play here ({there})")
    return [agent for agent, role in setup.roles.items() if request.instead in known[role]]


def _chosen(findings: Sequence[Finding], *, cheapest: bool) -> int | None:
    """The turn for which agents are blamed most (or least); where none is blamed, the one that lost most; None: none lost anything."""
    blamed, lost = defaultdict[int, float](float), defaultdict[int, float](float)
    for one in findings:
        if _NOTHING < one.cost < float("inf"):
            lost[one.turn] += one.cost
            blamed[one.turn] += one.cost if one.agent is not None else 0
    if cheapest and any(blamed.values()):
        return min((turn for turn in lost if blamed[turn]), key=lambda turn: (blamed[turn], turn))
    return max(lost, key=lambda turn: (blamed[turn], lost[turn], -turn), default=None)


def _change(logged: Logged, turn: int, arm: Arm, findings: Sequence[Finding], request: EffectRequest) -> Change:
    change = Change(turn=turn, players=request.players, turns=request.turns, repeats=request.repeats, step=arm.step)
    replaced = sorted(arm.replaced)
    if logged.header.details.get("scripted") and remember(logged.header, request.players):
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
        else:
            scripts[agent] = next(iter(known)) if request.instead == IDEAL else request.instead
    return replace(change, given=given, scripts=scripts)


def _words(trial: _Trial, agent: str, request: EffectRequest) -> str:
    ideal = next((one.ideal for one in trial.findings if one.agent == agent and one.ideal is not None), None)
    if agent in trial.fixed:
        return "(it plays as a faultless script)"
    remember = next(iter(trial.jobs.values()))[0].alone
    return request.instead if request.instead != IDEAL else _FAULTLESS if ideal is None or remember else ideal.text


def summarised(found: Sequence[Effect], folder: Path) -> tuple[pl.DataFrame, list[str]]:
    """The report, and sentences on where price and effect disagree; all effects are in `effects.csv`."""
    import polars as pl

    texts: dict[str, Any] = dict.fromkeys(("benchmark", "episode_id", "agent", "link", "instead"), pl.String())
    kinds = {name: texts.get(name, pl.Int64() if name in ("turn", "repeats") else pl.Float64()) for name in Effect._fields}
    (folder / "effects.csv").write_text(as_csv(pl.DataFrame(found, schema=kinds, orient="row")), encoding="utf-8")
    return effects_report(found), list(disagreements(found))
