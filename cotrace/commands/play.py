"""`cotrace play`: each game is a command whose options are the settings of its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin

import click

from cotrace.help import HelpContext, LazyGroup, with_examples_that_fit
from cotrace.options.players import player_options, terms_of
from cotrace.options.shared import COUNT, say, writing_to
from schemas.common.errors import UsageError
from schemas.common.text import in_shell
from schemas.families import Family, families, module

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from games.experiments.family import ExperimentGame, ShortForm
    from games.players.setup import PlayerSetup

_EXPERIMENT: Final = "EXPERIMENT.yaml"
"""Stands in the help for any experiment file."""

_COUNTED: Final = ("take", "generate", "first", "seed", "game")
"""Keys of tasks that --games, --seed and the game's name stand for."""


class _Play(LazyGroup):
    """Takes an experiment file, too."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a game, or that of experiments for a file, which is its argument."""
        if args[0].endswith((".yaml", ".yml")):
            return _EXPERIMENT, self.get_command(ctx, _EXPERIMENT), args
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a game: made of its settings, or one of its family's own."""
        known = next((family for family in families() if cmd_name in family.plays), None)
        if known is None or _has_own(known, cmd_name):
            return super().get_command(ctx, cmd_name)
        return with_examples_that_fit(_game_command(known))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """One example of each game."""
        with formatter.section("One example of each game"):
            examples = [*(example for known in families() for example in known.examples), "experiment.yaml --dry-run"]
            formatter.write_text("\b\n" + "\n".join(f"cotrace play {text}" for text in examples))


def _has_own(known: Family, verb: str) -> bool:
    try:
        return find_spec(known.path("cotrace", f"play_{verb}")) is not None
    except ModuleNotFoundError:
        return False


def _games() -> dict[str, dict[str, tuple[str, str]]]:
    games = {verb: (known.path("cotrace", f"play_{verb}"), text) for known in families() for verb, text in known.plays.items()}
    return {
        "Games": games | {_EXPERIMENT: ("cotrace.commands.experiment", "Whole experiments of models, scripts and people, from a file.")}
    }


@click.command(cls=_Play, sections=_games)
def command() -> None:
    """Play games with models, scripts or people, and write their logs.

    \b
    Example:
      cotrace play craft --player directors=script:vague --player builder=script:literal --games 5 --out logs/
    """


# -- the command of a game ------------------------------------------------------------------------


class _GameCommand(click.Command):
    """Lists its options in groups, and takes the names that options had before."""

    context_class = HelpContext

    def __init__(self, short: ShortForm, groups: Mapping[str, Sequence[click.Parameter]], **more: Any) -> None:
        params = [param for found in groups.values() for param in found]
        arguments = [click.Argument(["kind"], metavar="GAME", type=click.Choice(list(short.kinds)))] if short.kinds else []
        super().__init__("play", params=[*arguments, *params], **more)
        self._short, self._groups = short, groups

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; old names count as the ones that took their place."""
        return super().parse_args(ctx, _renamed(args, self._short))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups."""
        for title, params in self._groups.items():
            with formatter.section(title):
                formatter.write_dl([record for param in params if (record := param.get_help_record(ctx)) is not None])


def _renamed(args: Sequence[str], short: ShortForm) -> list[str]:
    """The arguments by today's names; each old name is reported once."""
    given = {name for word in args if (name := word.partition("=")[0]) in short.scripts}
    found: list[str] = []
    taken: set[str] = set()
    newer: dict[str, str] = {}
    words = iter(args)
    for word in words:
        name, equals, value = word.partition("=")
        if name in short.scripts:
            value = value if equals else next(words, "")
            seat = short.scripts[name][len(given) < len(short.scripts) and len(short.scripts) > 1]
            taken.add(seat)
            newer[name] = f"--player {seat}=script:{value}"
            found += ["--player", f"{seat}=script:{value}"]
        elif name == "--seat":
            newer[name] = "--player"
            found.append("--player" + equals + value)
        elif name in short.renamed:
            of_number, both, of_file = short.renamed[name].partition("|")
            value = next(words, "") if both and not equals else value
            newer[name] = of_file if both and not value.removeprefix("-").isdecimal() else of_number
            found += [newer[name], value] if both else [newer[name] + equals + value]
        else:
            found.append(word)
    for seat, other in short.scripts.values():
        if taken and "all" not in taken and other != "all" and seat not in taken:
            found += [
                "--player",
                next(text for text in short.team(None) if text.startswith((f"{seat}=", "all="))).replace("all=", f"{seat}="),
            ]
            taken.add(seat)
    if newer:
        say("; ".join(f"{old} is now {new}" for old, new in newer.items()) + " (old names work until the next release)")
    return found


def _game_command(known: Family) -> click.Command:
    from games.experiments.family import game_of

    game = game_of(known.name)
    short = game.SHORT
    switches = {key: _option(key, field, repeated=True) for key, field in game.Condition.by_key().items()}
    tasks = [_option(key, field) for key, field in game.Tasks.by_key().items() if key not in _COUNTED]
    seeds = ", ".join(map(str, short.seeds))
    first = [
        click.Option(["--games"], type=COUNT, help=f"How many: {short.counted}. [default: {short.games}]"),
        *([switches.pop("turns")] if "turns" in switches else []),
        click.Option(
            ["--seed", "seeds"], type=int, multiple=True, help=f"The same seed gives the same games; repeat for several. [default: {seeds}]"
        ),
        *tasks,
        click.Option(["--out"], type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the logs."),
    ]
    if hasattr(module(known.name, "games", "experiment"), "play_planted"):
        text = "Play so many games with exactly one faulty player each; with --seed and --out alone."
        first.insert(-1, click.Option(["--planted"], type=COUNT, help=text))
    players = click.command()(player_options(lambda **_: None)).params
    groups: dict[str, Sequence[click.Parameter]] = {
        "Games": first,
        "Players and models": players,
        "Rules of the game (repeat for every combination)": list(switches.values()),
    }
    keys = {*game.Tasks.by_key(), *game.Condition.by_key()}
    return _GameCommand(short, groups, callback=lambda **options: _play(known, game, keys, options), help=_help(known, game))


def _help(known: Family, game: ExperimentGame) -> str:
    short = game.SHORT
    seats = game.player_setup(short.one(0, short.offered[0]))
    roles: dict[str, list[str]] = {}
    for agent, role in seats.roles.items():
        roles.setdefault(role, []).append(agent)
    names = "; ".join(f"{', '.join(agents)} ({role}s)" if len(agents) > 1 else agents[0] for role, agents in roles.items())
    of_kind = {kind: _scripts_in_words(game.player_setup(short.one(0, kind))) for kind in short.offered}
    scripts = ". ".join(f"Scripts of {kind}: {words}" if kind else f"Scripts: {words}" for kind, words in of_kind.items())
    remember = (
        " Scripts among themselves remember, `script@8` plays so from turn 8 on, and the log has planted labels." if seats.casts else ""
    )
    examples = "\n".join(f"  cotrace play {text}" for text in short.examples)
    return (
        f"Play {known.title}. A complete log is not played again, and a reply that arrived is not paid again.\n\n"
        f"Agents: {names}. {scripts}.{remember} Without --player scripts play. "
        f"Exit code 1 if calls of models failed.\n\n\b\nExample:\n{examples}"
    )


def _scripts_in_words(seats: PlayerSetup) -> str:
    alone = list(dict.fromkeys(name for scripts in seats.scripts.values() for name in scripts))
    only = dict.fromkeys(name for scripts in seats.casts.values() for name in scripts if name not in alone)
    return ", ".join(alone) + (f"; only among themselves: {', '.join(only)}" if only else "")


def _option(key: str, field: FieldInfo, *, repeated: bool = False) -> click.Option:
    """The option of a setting. What is given is checked by the setting itself."""
    kinds = [kind for kind in (get_args(field.annotation) if _is_union(field.annotation) else (field.annotation,)) if kind is not NoneType]
    name, usual = f"--{key.replace('_', '-')}", field.get_default(call_default_factory=True)
    if kinds == [bool]:
        usual = None if usual is None else name.removeprefix("--") if usual else f"no-{name.removeprefix('--')}"
        name = f"{name}/--no-{name.removeprefix('--')}"
    shown = ", ".join(map(str, dict.fromkeys(usual))) if isinstance(usual, list | tuple) else "" if usual is None else usual
    text = f"{field.description} [default: {shown}]" if shown != "" else field.description
    if kinds == [bool]:
        return click.Option([name, key], default=None, help=text)
    is_list = get_origin(kinds[0]) is list
    kind = click.STRING if usual is None and get_origin(kinds[0]) is Literal else _type(get_args(kinds[0])[0] if is_list else kinds[0])
    return click.Option([name, key], type=kind, multiple=is_list or repeated, help=text)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, UnionType)


def _type(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(list(map(str, get_args(kind))))
    return {int: click.INT, Path: click.Path(dir_okay=False, path_type=Path)}.get(kind, click.STRING)


def _play(known: Family, game: ExperimentGame, keys: set[str], options: dict[str, Any]) -> int:
    from cotrace.progress import playing_bar, tell
    from games.experiments.plan import short_form
    from games.players.running import run_games

    out, seeds, kind = options["out"], options["seeds"], options.get("kind")
    given = {key: options[key] for key in keys if options.get(key) not in (None, ())}
    given |= {} if kind is None else {"game": kind}
    if options.get("planted") is not None:
        extra = sorted((given.keys() - {"game"}) | {name for name, key in (("games", "games"), ("players", "seats")) if options[key]})
        if extra:
            raise UsageError(f"--planted plays by itself: leave --{extra[0].removesuffix('s').replace('_', '-')} out")
        return _play_planted(known.name, options["planted"], seeds[0] if seeds else _PLANTED_SEED, out, kind)
    terms = terms_of({name: value for name, value in options.items() if name not in keys})  # --mode of a game is not that of a model
    found = short_form(known.name, out, players=options["seats"], games=options["games"], seeds=seeds, terms=terms, **given)
    with writing_to(out), playing_bar() as watch:
        report = run_games(found.jobs, found.table, watch)
    return tell(report, out, turns=game.SHORT.turns)


_PLANTED_SEED: Final = 3


def _play_planted(family: str, games: int, seed: int, out: Path, kind: str | None) -> int:
    from cotrace.progress import progress_bar

    found: Any = module(family, "games", "experiment")
    play: Callable[..., Any] = found.play_planted if kind is None else found.of_game(kind)
    with writing_to(out), progress_bar("playing") as show:
        report = play(out, games, seed, show)
    say(f"{report.played} games with {report.turns} turns played, {report.stored} were there already; logs in {out}")
    say(f"next: cotrace ingest {in_shell(out)} && cotrace attribute && cotrace report attribution-accuracy")
    return 0
