"""From an experiment file to its games."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import AliasChoices, ValidationError

from games.experiments.family import ExperimentGame, Match, Task, game_of
from games.experiments.file import DEFAULT, ExperimentFile, ModelEntry, Source, read_experiment
from games.players.limits import contradiction
from games.players.progress import OnProgress
from games.players.running import CALLS, Job, RunReport, RunSetup, RunTerms, run_games
from games.players.sampling import with_sampling
from games.players.setup import PlayerSetup, is_model
from games.playing import check_seeds
from games.settings import Settings, explained, folder_of
from providers.profile import fitted
from providers.provider import ModelSettings
from schemas.errors import BadInputError, UsageError
from schemas.text import near

P = TypeVar("P", bound=Settings)

_TEMPERATURE: Final = 0.7
_MAX_TOKENS: Final = 2000
_LONGEST_NAME: Final = 100
"""Characters of a folder's name; what is longer is cut, with a hash of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a start of the experiment does otherwise than the file says."""

    out: Path | None = None
    take: int | None = None
    """Only so many tasks."""
    base_url: str | None = None
    """For all models."""
    max_cost: float | None = None
    concurrency: int | None = None
    prices: Path | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment, ready to be played."""

    name: str
    out: Path
    jobs: Sequence[Job]
    """Team after team within a condition, condition after condition within a task: stopped early, all of them have been played alike."""
    table: RunSetup
    counts: Mapping[str, int]
    """tasks, seeds, conditions, teams -> how many."""

    @property
    def models(self) -> list[str]:
        """The models that play."""
        return sorted({player for job in self.jobs for player in job.taken.values() if is_model(player)})


def load(path: Path, changes: Changes = Changes()) -> Experiment:
    """Read an experiment file and make its games, without playing or writing anything.

    Raises:
        UsageError: something in it is wrong; one line that says where.
        BadInputError: a file of tasks is none.
    """
    content, source = read_experiment(path)
    check_seeds(content.seeds)
    game = _at(source, ("game",), lambda: game_of(content.game))
    asked = source.part(game.Tasks, content.tasks, ("tasks",))
    seats = game.seats(asked)
    teams = list(_teams(content, seats, source))
    conditions = list(_conditions(content, game, source))
    tasks = _at(source, ("tasks",), lambda: game.tasks(asked, path.parent))[: changes.take]
    terms = _terms(content, changes, source, teams)
    out = changes.out or content.out or Path("logs") / content.name
    table = RunSetup(scripts=seats.scripts, seats=seats.roles, terms=terms, journal=out / ".journal")
    matches = [_match(content.name, out, table, seats, one) for one in product(content.seeds, tasks, conditions, teams)]
    jobs = [_at(source, ("conditions",), lambda match=match: game.job(match)) for match in matches]
    jobs = [job._replace(header=with_sampling(job.header, job.taken, terms.of)) for job in jobs]
    counts = {"tasks": len(tasks), "seeds": len(content.seeds), "conditions": len(conditions), "teams": len(teams)}
    return Experiment(content.name, out, jobs, table, counts)


def short_form(  # noqa: PLR0913 - as the options of the command
    name: str,
    out: Path,
    *,
    players: Sequence[str] = (),
    games: int | None = None,
    seeds: Sequence[int] = (),
    terms: RunTerms | None = None,
    **settings: Any,
) -> Experiment:
    """The games of `cotrace play GAME`, without playing or writing anything.

    Args:
        name: the family's name.
        out: folder for the logs.
        players: `ROLE=PLAYER`; of a role that is named again, each in turn; none: scripts.
        games: how many of each team.
        seeds: fix all that is drawn; several: the games of each.
        terms: how models are asked; None: as by default.
        settings: keys of the family's tasks and conditions; of a condition also a list, which means every combination.

    Raises:
        UsageError: something of it cannot be.
        BadInputError: a file of tasks is none.
    """
    game = game_of(name)
    check_seeds(seeds)
    of_tasks, of_games = _accepted(game.Tasks), _accepted(game.Condition)
    for key in settings:
        if key not in of_tasks | of_games:
            raise UsageError(f"{name} has no setting {key!r}{near(key, [*game.Tasks.by_key(), *game.Condition.by_key()])}")
    given = {key: value for key, value in settings.items() if key in of_tasks}
    switches = {key: list(value) if isinstance(value, list | tuple) else [value] for key, value in settings.items() if key not in given}
    conditions = [_of(game.Condition, dict(zip(switches, values, strict=True))) for values in product(*switches.values())]
    drawn = [game.SHORT.drawn(games, seed, given) for seed in seeds or game.SHORT.seeds]
    asked = [(_of(game.Tasks, tasks), numbers) for tasks, numbers in drawn]
    seats = game.seats(asked[0][0])
    teams = [seats.taken(team) for team in _alternatives(players or game.SHORT.team(asked[0][0]))]
    jobs = [
        game.job(Match(task, condition, taken, seed, out, seats.is_cast(taken)))
        for tasks, numbers in asked
        for seed, task, condition, taken in product(numbers, game.tasks(tasks, Path()), conditions, teams)
    ]
    terms = terms or RunTerms(settings=ModelSettings(model=""))
    jobs = [job._replace(header=with_sampling(job.header, job.taken, terms.of)) for job in {job.path: job for job in jobs}.values()]
    table = RunSetup(scripts=seats.scripts, seats=seats.roles, terms=terms, journal=out / ".journal")
    return Experiment(name, out, jobs, table, {"games": len(jobs)})


def play(name: str, out: Path, *, on_progress: OnProgress | None = None, **asked: Any) -> RunReport:
    """Play what `short_form` gives and is not there yet.

    Raises:
        UsageError, BadInputError: as `short_form`, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be read or written.
    """
    found = short_form(name, out, **asked)
    return run_games(found.jobs, found.table, on_progress)


def _alternatives(players: Sequence[str]) -> Iterator[list[str]]:
    """Every team; a role that is named again has each of its players in turn."""
    of_role: dict[str, list[str]] = {}
    for text in players:
        of_role.setdefault(text.partition("=")[0].strip(), []).append(text)
    yield from map(list, product(*of_role.values()))


def _of(kind: type[P], given: Mapping[str, Any]) -> P:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise UsageError(explained(wrong, [str(part) for part in wrong["loc"][:1]], kind.by_key())) from error


def _accepted(kind: type[Settings]) -> set[str]:
    """The keys of settings, older ones and those of a field's own name included."""
    aliases = (field.validation_alias for field in kind.model_fields.values())
    return {*kind.by_key(), *(str(key) for alias in aliases if isinstance(alias, AliasChoices) for key in alias.choices)}


def _at(source: Source, where: tuple[str | int, ...], find: Any) -> Any:
    """What is found; what is wrong with it is told with its place in the file."""
    try:
        return find()
    except (UsageError, BadInputError) as error:
        raise source.wrong(where, str(error)) from error


def _teams(content: ExperimentFile, seats: PlayerSetup, source: Source) -> Iterator[dict[str, str]]:
    """Every team; a list means every player in it."""
    seen: list[dict[str, str]] = []
    for index, team in enumerate(content.teams):
        choices = [[player] if isinstance(player, str) else player for player in team.values()]
        for players in product(*choices):
            asked = [f"{seat}={player}" for seat, player in zip(team, players, strict=True)]
            taken = _at(source, ("teams", index), lambda asked=asked: seats.taken(asked, said=""))
            if taken in seen:
                raise source.wrong(("teams", index), f"the team {', '.join(asked)} is there already: give each team once")
            seen.append(taken)
            yield taken


def _conditions(content: ExperimentFile, game: ExperimentGame, source: Source) -> Iterator[Settings]:
    """Every combination of the switches."""
    values = {name: value if isinstance(value, list) else [value] for name, value in content.conditions.items()}
    for name, choices in values.items():
        if not choices or any(choices.count(choice) > 1 for choice in choices):
            raise source.wrong(("conditions", name), f"{name} is {choices}: give at least one value, and each once")
    for combination in product(*values.values()):
        yield source.part(game.Condition, dict(zip(values, combination, strict=True)), ("conditions",))


# -- how models are asked -------------------------------------------------------------------------


def _terms(content: ExperimentFile, changes: Changes, source: Source, teams: Sequence[Mapping[str, str]]) -> RunTerms:
    limits = content.limits
    default = content.models.get(DEFAULT, ModelEntry())
    used = sorted({player for team in teams for player in team.values() if is_model(player)})
    for name in content.models:
        if name not in (DEFAULT, *used):
            raise source.wrong(("models", name), f"{name} plays in no team: {', '.join([DEFAULT, *used])} can stand here")
    base = ModelSettings(
        model="",
        usual_temperature=_TEMPERATURE,
        max_tokens=_MAX_TOKENS,
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
    )
    base = _with(base, default)
    models = {name: _with(replace(base, model=name), content.models.get(name, ModelEntry())) for name in used}
    if changes.base_url is not None:
        models = {name: replace(settings, base_url=changes.base_url) for name, settings in models.items()}
    calls: dict[str, int] = {}
    for name, settings in models.items():
        given = {"mode", *content.models.get(name, default).model_fields_set, *default.model_fields_set}
        [models[name]], calls[name] = fitted([settings], given, concurrency=None, usual=CALLS)
    terms = RunTerms(
        settings=base,
        models=models,
        calls=calls,
        concurrency=changes.concurrency or limits.concurrency,
        max_cost=limits.max_cost if changes.max_cost is None else changes.max_cost,
        prices=changes.prices or (None if limits.prices is None else source.path.parent / limits.prices),
    )
    for settings in models.values():
        _check_limits(settings, terms, source)
    return terms


def _with(settings: ModelSettings, entry: ModelEntry) -> ModelSettings:
    given = entry.model_dump(exclude_unset=True)
    if "key_env" in given:
        given["key_variable"] = given.pop("key_env")
    return replace(settings, **given)


def _check_limits(settings: ModelSettings, terms: RunTerms, source: Source) -> None:
    found = contradiction(settings, terms.max_cost, terms.prices)
    if found is not None:
        raise source.wrong(("limits", found.limit), found.message)


# -- names ----------------------------------------------------------------------------------------


def _match(run: str, out: Path, table: RunSetup, seats: PlayerSetup, game: tuple[int, Task, Settings, Mapping[str, str]]) -> Match:
    seed, task, condition, taken = game
    episode = f"{_condition_name(condition)}/{_team_name(taken, table.seats)}/{task.name}_{seed}"
    asked = {name: table.terms.of(name).answering() for name in sorted(set(taken.values())) if is_model(name)}
    return Match(task, condition, taken, seed, out, seats.is_cast(taken), run, episode, {"models": asked} if asked else {})


def _condition_name(condition: Settings) -> str:
    """The switches that are not as by default: adding a switch to the file changes no other game's name."""
    fields = type(condition).model_fields
    changed = {folder_of(name, fields[name]): value for name, value in condition if value != fields[name].get_default()}
    shown = {name: "+".join(dict.fromkeys(value)) if isinstance(value, tuple) else value for name, value in changed.items()}
    return _plain("_".join(f"{name}-{value}" for name, value in shown.items())) or "default"


def _team_name(taken: Mapping[str, str], roles: Mapping[str, str]) -> str:
    of_role = {role: [player for agent, player in taken.items() if roles[agent] == role] for role in roles.values()}
    return _plain("_".join(players[0] if len(set(players)) == 1 else "+".join(players) for players in of_role.values()))


def _plain(name: str) -> str:
    short = re.sub(r"[^A-Za-z0-9_.+-]+", "-", name)
    if len(short) <= _LONGEST_NAME:
        return short
    return f"{short[: _LONGEST_NAME - 9]}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
