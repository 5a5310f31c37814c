"""The games of Einstein Puzzles: puzzles, the switches of a game, and the forms that people fill in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import AliasChoices, Field, model_validator

from games.einstein.engine.puzzle import ACTION_MODES, ALLOWED, OBJECT_COUNTS, Puzzle, generate, parse_game_id
from games.einstein.game import AGENTS
from games.einstein.game import GameSettings as Condition
from games.einstein.game import PlayerView as Seen
from games.einstein.players import personas
from games.einstein.players.personas import PLANNER
from games.einstein.players.team import CASTS
from games.einstein.setup import ROLES, SCRIPTS, GameSetup, course_of, header_of, scripted_course
from games.experiments.family import Match, ShortForm, Task, job_of
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked
from games.players.player import Form, Observation, Slot
from games.players.running import Job, RunReport
from games.players.setup import PlayerSetup
from games.settings import Settings
from schemas.common.errors import UsageError

_THOUGHT: Final = Slot("thought", "why; your partner does not read it")


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written."""
    return tuple(_forms(seen.data))


def _forms(seen: Seen) -> Iterator[Form]:
    verbs = ALLOWED[seen.mode]
    objects = tuple(f"block{number}" for number in range(seen.num_objects))
    moves = tuple(f"{name} from {place}" for name, place in zip(objects, seen.positions, strict=True) if place in seen.reach)
    if moves:
        yield _form("Move an object", "move $block to $bin", Slot("block", "object", moves), Slot("bin", "to", seen.reach))
    if (verbs.share or verbs.reply) and seen.items:
        items = tuple(item.text for item in seen.items)
        yield _form("Share what you know" if verbs.share else "Answer with what you know", "share $item", Slot("item", "item", items))
    if verbs.ask:
        yield _form("Ask about an object", "ask $block", Slot("block", "object", objects))
    yield _form("Pass", "pass")


def _form(title: str, action: str, *slots: Slot) -> Form:
    return Form(title, f"<THINK>$thought</THINK><ACTION>{action}</ACTION>", (*slots, _THOUGHT))


class Tasks(Settings):
    """Puzzles by their ids, or generated ones."""

    ids: list[str] | None = Field(
        default=None,
        min_length=1,
        validation_alias=AliasChoices("task", "ids"),
        description="A puzzle by its id, in place of generated ones.",
    )
    generate: int | None = Field(default=None, ge=1, le=1_000_000, description="How many to generate.")
    seed: int = Field(default=3, description="Fixes the puzzles.")
    objects: list[int] = Field(default=list(OBJECT_COUNTS), min_length=1, description="Numbers of objects, taken in turn.")
    trajectories: int = Field(
        default=0,
        ge=0,
        description="Have planners on both sides play so many solutions of each puzzle, the shortest and near-shortest, with thoughts: "
        "training data for `export chats`.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Tasks:
        if (self.ids is None) == (self.generate is None):
            raise ValueError("say either `task` (ids of puzzles) or `generate` (how many), one of both")
        return self


class _Puzzle(NamedTuple):
    puzzle: Puzzle
    solution: tuple[int, int] | None


SHORT: Final[ShortForm] = ShortForm(
    games=12,
    counted="puzzles to generate",
    seeds=(3,),
    team=lambda asked: (f"all=script:{PLANNER if asked.trajectories else personas.FAULTLESS}",),
    drawn=lambda games, seed, given: (
        given if given.keys() & {"task", "ids"} else given | {"generate": SHORT.games if games is None else games, "seed": seed},
        (seed,),
    ),
    one=lambda number, _: Tasks(generate=1, seed=number),
    examples=(
        "einstein --player player1=script:misreader --player player2=script:sensible --mode provide --games 6 --out logs/",
        "einstein --player player1=openai/gpt-4o --player player2=script:sensible --games 3 --max-cost 1 --out logs/",
        "einstein --trajectories 5 --games 250 --out logs/tuning",
        "einstein --planted 100 --out logs/planted",
    ),
    renamed={"--step-limit": "--turns", "--game-id": "--task"},
    scripts={"--persona": ("player1", "player1"), "--partner": ("player2", "player2")},
    turns="steps",
)


def player_setup(asked: Tasks) -> PlayerSetup:
    """Two players."""
    return PlayerSetup(ROLES, SCRIPTS, {"player": (PLANNER,)} if asked.trajectories else CASTS)


def tasks(asked: Tasks, _: Path) -> Sequence[Task]:
    """The puzzles."""
    if asked.ids is None:
        found = list(generate(count=asked.generate or 0, seed=asked.seed, num_objects=asked.objects))
    else:
        found = [parse_game_id(name) for name in asked.ids]
    unique = {puzzle.game_id: puzzle for puzzle in found}
    most = asked.trajectories
    if most:
        solutions = [(name, _Puzzle(puzzle, (number, most))) for name, puzzle in unique.items() for number in range(1, most + 1)]
        return [Task(f"{name}_{1 + place % most}", one, place) for place, (name, one) in enumerate(solutions)]
    return [Task(name, _Puzzle(puzzle, None), place) for place, (name, puzzle) in enumerate(unique.items())]


def job(match: Match) -> Job:
    """A game of the puzzle."""
    settings: Condition = match.condition
    asked: _Puzzle = match.task.content
    if asked.solution and not match.cast:
        raise UsageError("trajectories are played by planners on both sides: leave --player out")
    if asked.solution and (settings.modes[0] != settings.modes[1] or settings.verifier):
        raise UsageError("trajectories are those of one action space without a verifier: leave mixed modes and verifiers out")
    game = GameSetup(puzzle=asked.puzzle, settings=settings, taken=match.players, seed=match.seed, cast=match.cast, solution=asked.solution)
    return job_of(match, header_of(game), partial(scripted_course if match.cast else course_of, game))


FAULTLESS: Final = frozenset((personas.FAULTLESS, PLANNER))

_MANY: Final = "mixed"
"""A persona of all faults: it cannot be distinguished from any."""


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team: dict[str, str] = dict.fromkeys(AGENTS, personas.FAULTLESS)
    team |= case.faulty
    return play("einstein", out, players=as_asked(team), games=1, seeds=[seed + case.place], mode=case.rng.choice(ACTION_MODES))


_FAULTS: Final = tuple(name for name in personas.PERSONAS if name not in (*FAULTLESS, _MANY))
play_planted: Final = PlantedGames(dict.fromkeys(AGENTS, _FAULTS), lambda _: personas.FAULTLESS, _played)
