"""Avalon's games: deals by seed, the switches of a game, and the forms that people fill in."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from games.avalon.game import Game
from games.avalon.game import GameSettings as Condition
from games.avalon.players import FAULTLESS
from games.avalon.setup import course_of, played_header, setup_of
from games.experiments.family import Match, ShortForm, Task, job_of
from games.players.player import Form, Observation, Slot
from games.players.running import Job
from games.players.setup import PlayerSetup
from games.settings import MOST, Settings


def forms(seen: Observation) -> Sequence[Form]:
    """What can be written."""
    view = seen.data
    reason = Slot("reason", "why")
    if seen.purpose == "propose":
        name = Form("Player", "$name", (Slot("name", "player", view.names),))
        return (Form("Team", "$reason\nTEAM: $team", (Slot("team", "team", pieces=(name,), joined=", "), reason)),)
    if seen.purpose == "vote":
        return (Form("Vote", "$reason\nVOTE: $vote", (Slot("vote", "vote", ("approve", "reject")), reason)),)
    if seen.purpose == "quest":
        return (Form("Card", "CARD: $card", (Slot("card", "card", ("success", "fail")),)),)
    if seen.purpose == "guess":
        return (Form("Guess", "$reason\nGUESS: $name", (Slot("name", "Merlin", view.names), reason)),)
    return (Form("Message", "$message", (Slot("message", "message"),)),)


class Tasks(Settings):
    """Deals, by the seeds that they are drawn from."""

    generate: int = Field(default=10, ge=1, le=MOST, description="How many.")
    first: int = Field(default=0, ge=0, description="The seed of the first.")
    size: int = Field(default=5, ge=5, le=10, description="Players at the table.")


SHORT: Final[ShortForm] = ShortForm(
    games=10,
    counted="deals, by the seeds from --seed on",
    seeds=(0,),
    team=lambda _: (f"all=script:{FAULTLESS}",),
    drawn=lambda games, seed, given: (given | {"generate": SHORT.games if games is None else games, "first": seed}, (seed,)),
    one=lambda number, _: Tasks(generate=1, first=number),
    examples=(
        "avalon --player all=script:careful --size 5 --games 10 --out logs/",
        "avalon --player all=openai/gpt-4o --size 7 --games 3 --max-cost 1 --out logs/",
    ),
)


def player_setup(asked: Tasks) -> PlayerSetup:
    """Five to ten players; roles are dealt by the seed."""
    return setup_of(asked.size)


def tasks(asked: Tasks, _: Path) -> Sequence[Task]:
    """The deals."""
    return [
        Task(f"deal_{asked.size}_{number}", (asked.size, number), place)
        for place, number in enumerate(range(asked.first, asked.first + asked.generate))
    ]


def job(match: Match) -> Job:
    """A game of the deal; an experiment's seed distinguishes repetitions."""
    size, seed = match.task.content
    settings: Condition = match.condition
    dealt = partial(Game.drawn, size=size, seed=seed, settings=settings)
    header = played_header(dealt(), seed=seed, taken=match.players)
    return job_of(match, header, lambda: course_of(dealt()), repetition=match.seed)
