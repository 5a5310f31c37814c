"""LLM-Coordination in experiments: one of its four games, layouts or scenarios, the parts of the agent as switches, and people's forms."""

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pydantic import AliasChoices, Field

from games.coordination.courses.agent import GAMES, LONGEST, PUBLISHED, CoordinationGame, GameSetup, Harness, Switches
from games.coordination.courses.scripts import BEFORE_ONSET
from games.coordination.hanabi import DECK
from games.coordination.players import PLAYERS
from games.coordination.setup import VARIANTS, course_of, header_of, scripted_course, setup_of
from games.experiments.family import Match, ShortForm, Task, job_of
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked
from games.players.player import Form, Observation, Slot
from games.players.running import Job, RunReport
from games.players.setup import PlayerSetup
from games.settings import MOST, Settings
from schemas.common.errors import UsageError
from schemas.common.text import near

_VERDICTS: Final = (
    Form("It can stay", "Verification: Okay"),
    Form("Choose again", "$why\nVerification: Not Okay", (Slot("why", "why"),)),
)


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written to what is wanted: an action, a verdict, or free text."""
    if seen.purpose == "verify":
        return _VERDICTS
    if seen.purpose == "tom":
        return (Form("Write", "$text", (Slot("text", "in your own words"),)),)
    return tuple(Form(option, f"Action: {option.replace('$', '$$')}") for option in seen.options)


class Tasks(Settings):
    """A game and its variants; what is drawn in it is drawn by the experiment's seeds."""

    game: CoordinationGame
    variants: list[str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("task", "variants", "variant", "layout", "scenario"),
        description="Layout of the kitchen, scenario of the capture or the escape; else all, of the escape the published one.",
    )
    decks: Path | None = Field(default=None, description="Hanabi: a CSV with seed, deal_index and card.")


class Condition(Settings):
    """The switches of a game; those of the agent are by default as the released code has them, but for the harness."""

    turns: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        validation_alias=AliasChoices("turns", "ticks"),
        description="Turns after which a game ends, in the kitchen ticks (400); the other games' own limits cannot be raised.",
        json_schema_extra={"folder": "ticks"},
    )
    theory_of_mind: bool | None = Field(
        default=None, description="Say what the partner means before choosing; on in hanabi and collab_escape."
    )
    verification: bool | None = Field(default=None, description="A check of each choice; on in hanabi.")
    verification_limit: int | None = Field(default=None, ge=0, description="Rejections after which a choice counts; by default 3.")
    memory: bool | None = Field(default=None, description="Show the own earlier actions; off in collab_capture.")
    explanation: bool | None = Field(default=None, description="Ask for reasons before the action; off in overcooked.")
    partner_information: bool | None = Field(default=None, description="overcooked: show what the partner holds; off as published.")
    conventions: bool | None = Field(default=None, description="Show conventions of good play; on in overcooked.")
    harness: Harness | None = Field(
        default=None,
        description="strict (the default): a reply counts if it names a listed action exactly, else the player is asked again; "
        "published: as the released code, which takes the most similar action and leaves rules out of the prompt.",
    )


class _Place(NamedTuple):
    game: CoordinationGame
    variant: str
    decks: Mapping[int, Sequence[str]] | None


SHORT: Final[ShortForm] = ShortForm(
    games=1,
    counted="games of each task, from --seed on",
    seeds=(1, 2, 3),
    team=lambda asked: (f"all=script:{BEFORE_ONSET[asked.game]}",),
    drawn=lambda games, seed, given: (given, range(seed, seed + (games or 1))),
    one=lambda _, kind: Tasks(game=kind),
    examples=(
        "coordination collab_capture --player all=script:ideal --seed 1 --out logs/",
        "coordination hanabi --player alice=openai/gpt-4o --player bob=script:cautious --no-verification --out logs/",
        "coordination hanabi --planted 100 --out logs/planted",
    ),
    kinds=GAMES,
    offered=("collab_escape", "collab_capture", "hanabi", "overcooked"),
    renamed={
        "--variant": "--task",
        "--layout": "--task",
        "--scenario": "--task",
        "--ticks": "--turns",
        "--rejections": "--verification-limit",
        "--tom": "--theory-of-mind",
        "--no-tom": "--no-theory-of-mind",
        "--partner-info": "--partner-information",
        "--no-partner-info": "--no-partner-information",
    },
    scripts={"--policy": ("alice", "all"), "--partner": ("bob", "bob")},
)


def player_setup(asked: Tasks) -> PlayerSetup:
    """Alice and Bob."""
    return setup_of(asked.game)


def tasks(asked: Tasks, home: Path) -> Sequence[Task]:
    """The layouts or scenarios; of Hanabi the game itself."""
    known = VARIANTS[asked.game]
    for variant in asked.variants:
        if variant not in known:
            raise UsageError(f"{asked.game} has no task {variant!r}{near(variant, known)}")
    decks = None if asked.decks is None else read_decks(home / asked.decks)
    variants = asked.variants or known[: 1 if asked.game == "collab_escape" else None] or ("",)
    return [Task(variant or asked.game, _Place(asked.game, variant, decks), place) for place, variant in enumerate(variants)]


def job(match: Match) -> Job:
    """A game of the variant; scripts that remember know none of the agent's switches.

    Raises:
        UsageError: the seed has no deck, or the game ends sooner by its rules.
    """
    asked: Condition = match.condition
    place: _Place = match.task.content
    longest = LONGEST[place.game]
    if asked.turns is not None and asked.turns > longest and place.game != "overcooked":
        raise UsageError(f"turns is {asked.turns}: {place.game} ends after {longest} at the latest; give fewer, or leave it out")
    if place.decks is not None and match.seed not in place.decks:
        raise UsageError(f"there is no deck of seed {match.seed}{near(str(match.seed), map(str, place.decks))}")
    given: dict[str, Any] = {name: value for name in Switches.model_fields if (value := getattr(asked, name)) is not None}
    game = GameSetup(
        game=place.game,
        variant=place.variant,
        taken=match.players,
        switches=Switches(memory=False) if match.cast else PUBLISHED[place.game].model_copy(update=given),
        seed=match.seed,
        turns=asked.turns or longest,
        deck=(place.decks or {}).get(match.seed),
    )
    return job_of(match, header_of(game), partial(scripted_course if match.cast else course_of, game))


def read_decks(path: Path) -> dict[int, tuple[str, ...]]:
    """Orders of decks from a CSV with the columns seed, deal_index, card.

    Raises:
        UsageError: it cannot be read, lacks a column, or a deck is not the 50 cards.
    """
    decks: dict[int, dict[int, str]] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                decks.setdefault(int(row["seed"]), {})[int(row["deal_index"])] = row["card"]
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a CSV of decks") from error
    except (KeyError, ValueError) as error:
        raise UsageError(f"{path}: no decks in it ({error}): it needs the columns seed, deal_index and card") from error
    found = {seed: tuple(cards[place] for place in sorted(cards)) for seed, cards in decks.items()}
    for seed, deck in found.items():
        if sorted(deck) != sorted(DECK):
            raise UsageError(f"{path}: the deck of seed {seed} is not the 50 cards of Hanabi")
    return found


TITLES: Final[Mapping[str, str]] = {"collab_capture": "CollabCapture", "collab_escape": "CollabEscape", "hanabi": "Hanabi"}
"""Game, as `games.level` has it -> its title; a log of the family is of one of several games."""

_FAULTS: Final[Mapping[CoordinationGame, tuple[str, ...]]] = {
    "collab_capture": ("stayer", "confused", "greedy", "random"),
    "collab_escape": ("camper", "reckless", "random"),
    "hanabi": ("bomber", "sloppy", "random"),
}
"""Game -> scripts that fall short of the best; who only names a wrong room, and goes on as the best would, costs nothing."""

FAULTLESS: Final = frozenset(BEFORE_ONSET[game] for game in _FAULTS)


def _game_of(case: PlantedGame) -> CoordinationGame:
    return cast("CoordinationGame", case.agent.partition(" ")[0])


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    game = _game_of(case)
    team = dict.fromkeys(PLAYERS, BEFORE_ONSET[game]) | {agent.partition(" ")[2]: script for agent, script in case.faulty.items()}
    variants = VARIANTS[game]
    chosen: dict[str, Any] = {"task": [case.rng.choice(variants)]} if variants else {}
    return play("coordination", out / f"{case.place}", players=as_asked(team), game=game, seeds=[seed + case.place], **chosen)


def _planted(faults: Mapping[CoordinationGame, Sequence[str]]) -> PlantedGames:
    agents = {f"{game} {player}": scripts for game, scripts in faults.items() for player in PLAYERS}
    return PlantedGames(agents, lambda case: BEFORE_ONSET[_game_of(case)], _played)


play_planted: Final = _planted(_FAULTS)
"""The three games by turns."""


def of_game(game: str) -> PlantedGames:
    """The same with one of the games alone.

    Raises:
        UsageError: it has no scripts to plant faults in.
    """
    found = next((known for known in _FAULTS if known == game), None)
    if found is None:
        raise UsageError(f"--planted {game}: there are {', '.join(_FAULTS)}; the kitchen has no values, so nothing could be found in it")
    return _planted({found: _FAULTS[found]})
