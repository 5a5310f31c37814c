"""From an experiment file (YAML) to its games, and what they will take.

The file is read first; one line states an error in it. For a forecast, scripts play some of its games, and their prompts are counted.
"""

import hashlib
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import yaml
from pydantic import AliasChoices, Field, ValidationError, field_validator

from games.experiments.family import ExperimentGame, Match, Task, game_of
from games.players.player import Observation, Player, PlayerReply, ScriptPlayer
from games.players.running import CALLS, Job, OnProgress, RunReport, RunSetup, RunTerms, contradiction, run_games, with_sampling
from games.players.setup import SCRIPT, PlayerSetup, is_model
from games.settings import Settings, explained, folder_of
from providers.asker import run_to_end
from providers.prices import price_of
from providers.profile import fitted
from providers.provider import Effort, ModelSettings
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import near
from schemas.common.yaml_lines import NodePath, YamlLines, read_with_lines
from schemas.game import state_of_file

DEFAULT: Final = "default"
"""Under `models`: what goes for all models that do not say otherwise."""

P = TypeVar("P", bound=Settings)


class ModelEntry(Settings):
    """How a model is asked."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """null: none is sent; left out: .7, and none to models that reason."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    reasoning_effort: Effort | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    base_url: str | None = None
    key_env: str | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    tries: int | None = Field(default=None, ge=1)
    request_fields: dict[str, Any] = Field(default_factory=dict)
    """More fields of each request."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)


class Limits(Settings):
    """What the experiment may take."""

    max_cost: float | None = Field(default=None, ge=0)
    concurrency: int = Field(default=32, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    prices: Path | None = None


class ExperimentFile(Settings):
    """The file as it is written."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    game: str
    tasks: dict[str, Any]
    seeds: list[int] = Field(default=[1], min_length=1)
    conditions: dict[str, Any] = Field(default_factory=dict)
    teams: list[dict[str, str | list[str]]] = Field(min_length=1)
    models: dict[str, ModelEntry] = Field(default_factory=dict)
    limits: Limits = Limits()
    out: Path | None = None

    @field_validator("seeds")
    @classmethod
    def _once(cls, seeds: list[int]) -> list[int]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is given twice")
        return seeds


class Source(NamedTuple):
    """A file that is being read, for messages that name the place."""

    path: Path
    lines: YamlLines

    def wrong(self, where: NodePath, message: str) -> UsageError:
        """The error for what is there."""
        return UsageError(f"{self.path}, line {self.lines.of(where)}: {message}")

    def part(self, kind: type[P], content: Mapping[str, Any], where: NodePath) -> P:
        """A part of the file, checked.

        Raises:
            UsageError: a key is unknown or missing, or a value cannot be.
        """
        try:
            return kind.model_validate(content)
        except ValidationError as error:
            first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")  # a slip of the pen is a missing key, too
            name = [str(part) for part in (*where, *first["loc"]) if not str(part).startswith(("str", "list[", "dict["))]
            loc = first["loc"]
            inner: dict[str, type[Settings]] = {"models": ModelEntry, "limits": Limits}
            found = inner.get(str(loc[0]), kind) if kind is ExperimentFile and len(loc) > 1 else kind
            raise self.wrong((*where, *first["loc"]), explained(first, name, list(found.by_key()))) from error


def read_experiment(path: Path) -> tuple[ExperimentFile, Source]:
    """Read an experiment file.

    Raises:
        UsageError: it cannot be read, or something in it is wrong; with the place.
    """
    try:
        data, lines = read_with_lines(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give an experiment file, such as those of docs/experiments") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}{_line_of(error)}: it is not YAML ({' '.join(str(getattr(error, 'problem', error)).split())})") from error
    source = Source(path, lines)
    for line, message in lines.mistakes:
        raise UsageError(f"{path}, line {line}: {message}")
    if not isinstance(data, dict):
        raise UsageError(f"{path}: it holds no keys with values; a file of docs/experiments is a start")
    return source.part(ExperimentFile, data, ()), source


def _line_of(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f", line {mark.line + 1}" if mark else ""


_TEMPERATURE: Final = 0.7
_MAX_TOKENS: Final = 2000
_LONGEST_NAME: Final = 100
"""Characters of a folder's name; what is longer is cut, with a hash of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a start of the experiment does otherwise than the file states."""

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
        UsageError: something in it is wrong; one line with the place.
        BadInputError: a file of tasks is none.
    """
    content, source = read_experiment(path)
    _check_seeds(content.seeds)
    game = _at(source, ("game",), lambda: game_of(content.game))
    asked = source.part(game.Tasks, content.tasks, ("tasks",))
    setup = game.player_setup(asked)
    teams = list(_teams(content, setup, source))
    conditions = list(_conditions(content, game, source))
    tasks = _at(source, ("tasks",), lambda: game.tasks(asked, path.parent))[: changes.take]
    terms = _terms(content, changes, source, teams)
    out = changes.out or content.out or Path("logs") / content.name
    table = RunSetup(scripts=setup.scripts, roles=setup.roles, terms=terms, journal=out / ".journal")
    matches = [_match(content.name, out, table, setup, one) for one in product(content.seeds, tasks, conditions, teams)]
    jobs = [_at(source, ("conditions",), lambda match=match: game.job(match)) for match in matches]
    jobs = [job._replace(header=with_sampling(job.header, job.taken, terms.of)) for job in jobs]
    counts = {"tasks": len(tasks), "seeds": len(content.seeds), "conditions": len(conditions), "teams": len(teams)}
    return Experiment(content.name, out, jobs, table, counts)


def _check_seeds(seeds: Iterable[int]) -> None:
    for seed in seeds:
        if not -(2**63) <= seed < 2**63:
            raise UsageError(f"seed {seed} does not fit a log: choose one from -2^63 to 2^63 - 1")


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
    _check_seeds(seeds)
    of_tasks, of_games = _accepted(game.Tasks), _accepted(game.Condition)
    for key in settings:
        if key not in of_tasks | of_games:
            raise UsageError(f"{name} has no setting {key!r}{near(key, [*game.Tasks.by_key(), *game.Condition.by_key()])}")
    given = {key: value for key, value in settings.items() if key in of_tasks}
    switches = {key: list(value) if isinstance(value, list | tuple) else [value] for key, value in settings.items() if key not in given}
    conditions = [_of(game.Condition, dict(zip(switches, values, strict=True))) for values in product(*switches.values())]
    drawn = [game.SHORT.drawn(games, seed, given) for seed in seeds or game.SHORT.seeds[: 1 if games else None]]
    asked = [(_of(game.Tasks, tasks), numbers) for tasks, numbers in drawn]
    setup = game.player_setup(asked[0][0])
    teams = [setup.taken(team) for team in _alternatives(players or game.SHORT.team(asked[0][0]))]
    jobs = [
        game.job(Match(task, condition, taken, seed, out, setup.is_cast(taken)))
        for tasks, numbers in asked
        for seed, task, condition, taken in product(numbers, game.tasks(tasks, Path()), conditions, teams)
    ]
    terms = terms or RunTerms(settings=ModelSettings(model=""))
    jobs = [job._replace(header=with_sampling(job.header, job.taken, terms.of)) for job in {job.path: job for job in jobs}.values()]
    table = RunSetup(scripts=setup.scripts, roles=setup.roles, terms=terms, journal=out / ".journal")
    return Experiment(name, out, jobs, table, {"games": len(jobs)})


def play(name: str, out: Path, *, on_progress: OnProgress | None = None, **asked: Any) -> RunReport:
    """Play what `short_form` gives and is not there yet.

    Raises:
        UsageError, BadInputError: as `short_form`, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is stored.
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
    """What is found; errors are reported with their place in the file."""
    try:
        return find()
    except (UsageError, BadInputError) as error:
        raise source.wrong(where, str(error)) from error


def _teams(content: ExperimentFile, setup: PlayerSetup, source: Source) -> Iterator[dict[str, str]]:
    """Every team; a list means every player in it."""
    seen: list[dict[str, str]] = []
    for index, team in enumerate(content.teams):
        choices = [[player] if isinstance(player, str) else player for player in team.values()]
        for players in product(*choices):
            asked = [f"{role}={player}" for role, player in zip(team, players, strict=True)]
            taken = _at(source, ("teams", index), lambda asked=asked: setup.taken(asked, source=""))
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
        found = contradiction(settings, terms.max_cost, terms.prices)
        if found is not None:
            raise source.wrong(("limits", found.limit), found.message)
    return terms


def _with(settings: ModelSettings, entry: ModelEntry) -> ModelSettings:
    given = entry.model_dump(exclude_unset=True)
    if "key_env" in given:
        given["key_variable"] = given.pop("key_env")
    if "request_fields" in given:
        given["request_fields"] = tuple(given["request_fields"].items())
    return replace(settings, **given)


# -- names ----------------------------------------------------------------------------------------


def _match(run: str, out: Path, table: RunSetup, setup: PlayerSetup, game: tuple[int, Task, Settings, Mapping[str, str]]) -> Match:
    seed, task, condition, taken = game
    episode = f"{_condition_name(condition)}/{_team_name(taken, table.roles)}/{task.name}_{seed}"
    asked = {name: table.terms.of(name).answering() for name in sorted(set(taken.values())) if is_model(name)}
    return Match(task, condition, taken, seed, out, setup.is_cast(taken), run, episode, {"models": asked} if asked else {})


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


_GAMES_A_TEAM: Final = 3
"""So many games of each team are played by scripts."""
_CHARACTERS_A_TOKEN: Final = 4.0
"""Of English."""


@dataclass(slots=True)
class Expected:
    """What the games of a model will take."""

    calls: float = 0.0
    """If the games go as scripts play them."""
    most_calls: float = 0.0
    """If every game lasts to its turn limit."""
    tokens_in: float = 0.0
    """Of the prompts of `calls`."""
    most_tokens_out: float = 0.0
    """If every reply of `calls` is as long as it may be."""
    cost: float | None = None
    """USD at most, of `calls`; None: no price is known."""
    most_cost: float | None = None
    """USD at most, if every game lasts to its turn limit."""


@dataclass(slots=True)
class Forecast:
    """What is left to be done, and what it will take."""

    games: int = 0
    stored: int = 0
    """Games whose whole log is there."""
    models: dict[str, Expected] = field(default_factory=dict)


def forecast(experiment: Experiment, scratch: Callable[[Path], Experiment]) -> Forecast:
    """Estimate what the games that are not there yet will take.

    Args:
        experiment: the experiment.
        scratch: gives the same experiment with another folder for its logs, where scripts can play.

    Raises:
        OSError: a log cannot be read, or no temporary file written.
    """
    left = [number for number, job in enumerate(experiment.jobs) if state_of_file(job.path, job.header) != "complete"]
    found = Forecast(games=len(left), stored=len(experiment.jobs) - len(left), models={name: Expected() for name in experiment.models})
    teams: dict[tuple[tuple[str, str], ...], list[int]] = defaultdict(list)
    for number in left:
        teams[tuple(experiment.jobs[number].taken.items())].append(number)
    with tempfile.TemporaryDirectory() as folder:
        games = scratch(Path(folder)).jobs
        for numbers in teams.values():
            chosen = random.Random(0).sample(numbers, min(_GAMES_A_TEAM, len(numbers)))
            for job in (games[number] for number in chosen):
                _add(job, len(numbers) / len(chosen), experiment, found)
    terms = experiment.table.terms
    for name, expected in found.models.items():
        expected.most_tokens_out = expected.calls * terms.of(name).max_tokens
        price = price_of(terms.of(name), terms.prices)
        if price is not None:
            expected.cost = price.cost(expected.tokens_in, expected.most_tokens_out)
            expected.most_cost = expected.cost * (expected.most_calls / expected.calls if expected.calls else 1.0)
    return found


def _add(job: Job, weight: float, experiment: Experiment, found: Forecast) -> None:
    counts: dict[str, Expected] = defaultdict(Expected)
    turns = run_to_end(job.play(_players(job, experiment, counts)))
    longer = (job.header.max_turns or turns) / max(turns, 1)
    for name, counted in counts.items():
        expected = found.models[name]
        expected.calls += weight * counted.calls
        expected.most_calls += weight * counted.calls * max(longer, 1.0)
        expected.tokens_in += weight * counted.tokens_in


def _players(job: Job, experiment: Experiment, counts: dict[str, Expected]) -> Mapping[str, Player]:
    scripts, roles = experiment.table.scripts, experiment.table.roles
    players: dict[str, Player] = {}
    for agent, name in job.taken.items():
        known = scripts[roles[agent]]
        script = name.removeprefix(SCRIPT) if name.startswith(SCRIPT) else next(iter(known))
        player = ScriptPlayer(script, known[script])
        players[agent] = _CountingPlayer(player, counts[name]) if is_model(name) else player
    return players


class _CountingPlayer:
    """A script in place of a model: what it reads is counted as the model's."""

    def __init__(self, player: Player, counted: Expected) -> None:
        self.name = player.name
        self._player, self._counted = player, counted

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Let the script answer."""
        self._counted.calls += 1
        self._counted.tokens_in += sum(len(message["content"]) for message in seen.messages) / _CHARACTERS_A_TOKEN
        return await self._player.reply(seen, episode=episode)
