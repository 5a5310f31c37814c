"""CRAFT in experiments: targets from a file or by the generator, the switches of a game, and the forms that people fill in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import Field, model_validator

from games.craft.engine.board import BLOCKS, CELLS, DIRECTORS, MAX_HEIGHT, is_large
from games.craft.game import GameSettings as Condition
from games.craft.players.builders import BUILDERS
from games.craft.players.directors import PERSONAS
from games.craft.players.team import CASTS, FAULTLESS_BUILDER, FAULTLESS_DIRECTOR
from games.craft.setup import ROLES, SCRIPTS, GameSetup, course_of, header_of, scripted_course
from games.craft.targets import Complexity, Structure, StructureRules, generate_structures, load_structures
from games.craft.text.prompts import BuilderObservation, archetypes
from games.craft.text.replies import builder_line
from games.experiments.family import Match, ShortForm, Task, job_of
from games.experiments.plan import play
from games.players.planted import PlantedGame, PlantedGames, as_asked
from games.players.player import Form, Observation, Slot
from games.players.running import Job, RunReport
from games.players.setup import PlayerSetup
from games.settings import Settings
from schemas.common.errors import UsageError

_LAYERS: Final = tuple(map(str, range(MAX_HEIGHT)))
_CELL: Final = Slot("cell", "cell", CELLS)
_SPAN: Final = Slot("span", "second cell", CELLS)
_LAYER: Final = Slot("layer", "layer", _LAYERS)
_WHY: Final = Slot("why", "why", default="as asked")
_SMALL: Final = Slot("block", "block", tuple(block for block in BLOCKS if not is_large(block)))
_LARGE: Final = Slot("block", "block", tuple(block for block in BLOCKS if is_large(block)))

_OF_DIRECTOR: Final = (
    Form(
        "Say something",
        "<think>$thought</think>\n<message>$message</message>",  # without thoughts the published reader takes the closing tag for text
        (Slot("message", "your message, one or two sentences"), Slot("thought", "your thoughts; nobody else reads them")),
    ),
)
_OF_BUILDER: Final = (
    Form("Place a small block", "PLACE:$block:$cell:$layer:CONFIRM:$why", (_SMALL, _CELL, _LAYER, _WHY)),
    Form("Place a large block", "PLACE:$block:$cell:$layer:$span:CONFIRM:$why", (_LARGE, _CELL, _SPAN, _LAYER, _WHY)),
    Form("Remove a small block", "REMOVE:$cell:$layer:CONFIRM:$why", (_CELL, _LAYER, _WHY)),
    Form("Remove a large block", "REMOVE:$cell:$layer:$span:CONFIRM:$why", (_CELL, _SPAN, _LAYER, _WHY)),
    Form("Ask back", "CLARIFY:$question", (Slot("question", "your question"),)),
)


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written: of the builder the verified moves first, if it is shown any."""
    if not isinstance(seen.data, BuilderObservation):
        return _OF_DIRECTOR
    listed = seen.data.listed
    lines = tuple(builder_line(move, "$why") for move in listed)
    verified = tuple(Form(line.partition(":CONFIRM")[0], line, (_WHY,)) for line in lines)
    return (*verified, *_OF_BUILDER)


class Tasks(Settings):
    """Structures out of a published file, or generated ones."""

    file: Path | None = Field(default=None, description="Published structures file, in place of generated targets.")
    take: int | None = Field(default=None, ge=1, description="The first so many of the file.")
    generate: int | None = Field(default=None, ge=1, le=1_000_000, description="How many to generate.")
    seed: int = Field(default=3, description="Fixes the targets.")
    tier: Complexity | None = Field(default=None, description="Generate only targets of this tier.")
    reachable: bool = Field(default=False, description="Generate only targets that can be completed.")
    distinct_layers: bool = Field(default=False, description="Generate no equal blocks on consecutive layers of a cell.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Tasks:
        if (self.file is None) == (self.generate is None):
            raise ValueError("say either `file` (a published structures file) or `generate` (how many), one of both")
        only = {"take"} if self.file is None else {"seed", "tier", "reachable", "distinct_layers"}
        for name in sorted(only & self.model_fields_set):
            raise ValueError(f"{name} goes with {'file' if self.file is None else 'generate'}: delete it")
        return self


def _drawn(games: int | None, seed: int, given: dict[str, Any]) -> tuple[dict[str, Any], Sequence[int]]:
    if "file" in given:
        return given | ({} if games is None else {"take": games}), (seed,)
    return given | {"generate": SHORT.games if games is None else games, "seed": seed}, (seed,)


SHORT: Final[ShortForm] = ShortForm(
    games=20,
    counted="targets to generate, or to take from --file",
    seeds=(3,),
    team=lambda _: ("directors=script:clear", "builder=script:oracle_follower"),
    drawn=_drawn,
    one=lambda number, _: Tasks(generate=1, seed=number, reachable=True),
    examples=(
        "craft --player directors=script:clear --player builder=script:literal --games 5 --out logs/",
        "craft --player directors=openai/gpt-4o --player builder=openai/gpt-4o-mini --games 2 --max-cost 1 --out logs/",
        "craft --planted 100 --out logs/planted",
    ),
    renamed={"--structures": "--games|--file", "--history": "--history-limit"},
    scripts={"--persona": ("directors", "directors"), "--builder": ("builder", "builder")},
)


def player_setup(_: Tasks) -> PlayerSetup:
    """Three directors and a builder."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


def tasks(asked: Tasks, home: Path) -> Sequence[Task]:
    """The structures."""
    if asked.file is None:
        rules = StructureRules(complexity=asked.tier, reachable=asked.reachable, distinct_layers=asked.distinct_layers)
        found = tuple(generate_structures(asked.generate or 0, asked.seed, rules))
    else:
        found = _in_file(home / asked.file, asked.take)
    return [Task(structure.structure_id, structure, place) for place, structure in enumerate(found)]


def job(match: Match) -> Job:
    """A game of the structure."""
    settings: Condition = match.condition
    game = GameSetup(
        structure=match.task.content,
        characters=archetypes(match.task.place, match.seed),
        settings=settings.model_copy(update={"same_turn_messages": True}) if match.cast else settings,
        taken=match.players,
        seed=match.seed,
        cast=match.cast,
    )
    return job_of(match, header_of(game), partial(scripted_course if match.cast else course_of, game))


def _in_file(path: Path, take: int | None) -> tuple[Structure, ...]:
    try:
        found = load_structures(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a published structures file, or how many to generate") from error
    if take is not None and take > len(found):
        raise UsageError(f"{path} holds {len(found)} structures, not {take}: take fewer")
    return found[:take]


_BUILDER: Final = "Builder"
_FAULTLESS_BUILDERS: Final = (FAULTLESS_BUILDER, "literal", "clarifier")
FAULTLESS: Final = frozenset((FAULTLESS_DIRECTOR, *_FAULTLESS_BUILDERS))
"""Directors who ask for what their view shows; builders who do what they are asked to do, or ask back."""

_MANY: Final = "mixed"
"""A persona of all faults: it cannot be distinguished from any."""

_FAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    **{director: tuple(name for name in PERSONAS if name not in (*FAULTLESS, _MANY)) for director in DIRECTORS},
    _BUILDER: tuple(name for name in BUILDERS if name not in FAULTLESS),
}


def _faultless(case: PlantedGame) -> str:
    return FAULTLESS_BUILDER if case.agent == _BUILDER else FAULTLESS_DIRECTOR


def _played(out: Path, case: PlantedGame, seed: int) -> RunReport:
    builder = FAULTLESS_BUILDER if case.agent == _BUILDER else case.rng.choice(_FAULTLESS_BUILDERS)
    team: dict[str, str] = dict.fromkeys(DIRECTORS, FAULTLESS_DIRECTOR)
    team |= {_BUILDER: builder, **case.faulty}
    oracle = case.agent == _BUILDER or case.rng.random() < 1 / 2
    return play(
        "craft", out / ("listed" if oracle else "unlisted"), players=as_asked(team), games=1, seeds=[seed + case.place], oracle=oracle
    )


play_planted: Final = PlantedGames(_FAULTS, _faultless, _played)
