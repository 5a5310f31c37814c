"""AsymPuzl's games: puzzles by seed, the switches of a game, and the form that people fill in."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from games.asympuzl import players
from games.asympuzl.answer import tokenizer
from games.asympuzl.game import GameSettings as Condition
from games.asympuzl.puzzle import AGENTS, COLORS, SHAPES
from games.asympuzl.setup import CASTS, ROLES, SCRIPTS, SOLO_ROLES, GameSetup, course_of, header_of, scripted_course
from games.experiments.family import Match, ShortForm, Task, job_of
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked
from games.players.player import Form, Observation, Slot
from games.players.running import Job, RunReport
from games.players.setup import PlayerSetup
from games.settings import MOST, Settings


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written: shapes and colors that the player was shown come first."""
    shown = seen.data
    clues = (*shown.clues_a, *shown.clues_b) if seen.role == "solo" else shown.clues
    shapes = tuple(dict.fromkeys([*(entry.shape for entry in clues), *SHAPES]))
    colors = tuple(dict.fromkeys([*(entry.color for entry in clues if entry.color), *COLORS]))
    size = len({entry.shape for entry in clues})
    replace = Form(
        "Overwrite",
        '{"replace": $position, "by": {"shape": "$shape", "color": "$color"}}',
        (
            Slot("position", "position", tuple(str(number + 1) for number in range(size))),
            Slot("shape", "shape", shapes),
            Slot("color", "color", colors),
        ),
    )
    return (
        Form(
            "Answer",
            '{"message": $message, "actions": [$actions]}',
            (Slot("message", "message to your partner", is_json=True), Slot("actions", "your table", pieces=(replace,), joined=", ")),
        ),
    )


class Tasks(Settings):
    """Puzzles, by the seeds that they are drawn from in every size."""

    generate: int = Field(default=30, ge=1, le=MOST, description="How many; the paper plays 30 seeds a configuration.")
    first: int = Field(default=0, ge=0, description="The seed of the first.")
    solo: bool = Field(default=False, description="The control experiment: one agent, A, with the clues of both, and one attempt.")


SHORT: Final[ShortForm] = ShortForm(
    games=30,
    counted="puzzles of each size, by the seeds from --seed on",
    seeds=(0,),
    team=lambda asked: ("A=script:solver",) if asked and asked.solo else (f"all=script:{players.FAULTLESS}",),
    drawn=lambda games, seed, given: (given | {"generate": SHORT.games if games is None else games, "first": seed}, (seed,)),
    one=lambda number, _: Tasks(generate=1, first=number),
    examples=(
        "asympuzl --player all=script:sharing --player all=script:ignoring --size 3 --size 5 --games 10 --out logs/",
        "asympuzl --player A=openai/gpt-4o --player B=script:sharing --feedback own --games 5 --temperature 0 --out logs/",
        "asympuzl --planted 100 --out logs/planted",
    ),
    renamed={"--seeds": "--games", "--mode": "--feedback"},
    scripts={"--persona": ("A", "all"), "--partner": ("B", "B")},
)


def player_setup(asked: Tasks) -> PlayerSetup:
    """Two players, or one."""
    return PlayerSetup(SOLO_ROLES, SCRIPTS) if asked.solo else PlayerSetup(ROLES, SCRIPTS, CASTS)


def tasks(asked: Tasks, _: Path) -> Sequence[Task]:
    """The puzzles."""
    return [Task(f"puzzle_{number}", number, place) for place, number in enumerate(range(asked.first, asked.first + asked.generate))]


def job(match: Match) -> Job:
    """A game of the puzzle; an experiment's seed tells repetitions apart."""
    settings: Condition = match.condition
    tokenizer(settings.tokenizer)("")  # one without its tables fails here, before anything is played
    game = GameSetup(settings=settings, taken=match.players, seed=match.task.content, solo=set(match.taken) == set(SOLO_ROLES))
    return job_of(match, header_of(game), partial(scripted_course if match.cast else course_of, game), repetition=match.seed)


FAULTLESS: Final = frozenset((players.FAULTLESS, "rewriting"))
"""Players who tell and write all they know; one of them writes it again and again, which costs no turn."""

_SIZES: Final = (3, 4, 5, 6)


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    team: dict[str, str] = dict.fromkeys(AGENTS, players.FAULTLESS)
    team |= case.faulty
    size = case.rng.choice(_SIZES)
    return play("asympuzl", out / f"{case.place}", players=as_asked(team), games=1, seeds=[seed + case.place], size=size)


_FAULTS: Final = tuple(name for name in players.PERSONAS if name not in FAULTLESS)
play_planted: Final = PlantedGames(dict.fromkeys(AGENTS, _FAULTS), lambda _: players.FAULTLESS, _played, latest=2)
"""A game without a fault takes two turns."""
