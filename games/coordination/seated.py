"""LLM-Coordination's games with anybody at the table: models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from games.coordination.capture.rules import TURN_LIMIT
from games.coordination.escape.rules import EXIT, GENERATORS, PUBLISHED
from games.coordination.hanabi.rules import DECK, MAX_SCORE, MAX_TURNS
from games.coordination.kitchen.rules import DELIVERY
from games.coordination.matches.escape import TURN_CAP
from games.coordination.play import GAMES, VARIANTS, CoordinationGame, PlayRequest, checked
from games.coordination.players import PLAYERS, Player
from games.coordination.seats import capture, escape, hanabi, kitchen
from games.coordination.seats.agent import Switches, switches_of
from games.coordination.seats.log import CourseSetup
from games.coordination.seats.scripts import SCRIPTS
from games.players.course import Course
from games.players.progress import OnProgress
from games.players.running import Job, RunReport, RunTerms, Seating, run_games
from games.players.seats import Seats, evaluated, team_name
from games.playing import DEFAULT_START
from schemas.errors import BadInputError
from schemas.game import AgentEntry, Header

__all__ = ["SCRIPTS", "SEATS", "SeatedGame", "course_of", "game_of", "header_of", "jobs_of", "play_request"]

SEATS: Final[Mapping[str, str]] = dict.fromkeys(PLAYERS, "player")
"""Agent -> role."""

_COURSES: Final[Mapping[CoordinationGame, Callable[[CourseSetup, list[dict[str, Any]]], Course]]] = {
    "hanabi": hanabi.course,
    "overcooked": kitchen.course,
    "collab_capture": capture.course,
    "collab_escape": escape.course,
}
_GOALS: Final[Mapping[CoordinationGame, dict[str, Any]]] = {
    "hanabi": {"score": MAX_SCORE},
    "overcooked": {"soups": "as many as possible", "points_each": DELIVERY},
    "collab_capture": {"captured": True},
    "collab_escape": {"generators": list(GENERATORS), "exit": EXIT},
}
_VARIANT_NAMES: Final[Mapping[CoordinationGame, str]] = {"overcooked": "layout", "collab_capture": "scenario", "collab_escape": "scenario"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedGame:
    """One game to be played."""

    game: CoordinationGame
    variant: str
    """Layout or scenario; empty in Hanabi."""
    taken: Mapping[str, str]
    """Agent -> player."""
    switches: Switches
    seed: int
    ticks: int
    """Length of a kitchen game."""
    deck: Sequence[str] | None
    """Of Hanabi, in the order of dealing; None: shuffled by the seed."""
    started_at: datetime

    @property
    def condition(self) -> dict[str, Any]:
        """Every switch."""
        variant = {_VARIANT_NAMES[self.game]: self.variant} if self.variant else {}
        ticks = {"ticks": self.ticks} if self.game == "overcooked" else {}
        return {"game": self.game, **variant, **ticks, **self.switches.to_json()}

    @property
    def place(self) -> CourseSetup:
        """What the course needs."""
        taken: dict[Player, str] = {player: self.taken[player] for player in PLAYERS}
        return CourseSetup(self.game, self.episode, self.variant, self.seed, self.ticks, self.deck, taken, self.switches)

    @property
    def task(self) -> str:
        """Name of what is played, as in published logs."""
        names = {"hanabi": f"hanabi seed {self.seed}", "collab_escape": "escape" + f" {self.variant}" * (self.variant != PUBLISHED)}
        return names.get(self.game, self.variant)

    @property
    def episode(self) -> str:
        """A name of the game that no other of the experiment has."""
        marks = {"theory_of_mind": "tom", "verification": "ver", "memory": "mem", "explanation": "exp", "partner_information": "part"}
        parts = [mark for name, mark in marks.items() if getattr(self.switches, name)]
        parts += ["conv"] * self.switches.conventions + [str(self.switches.verification_limit)] * self.switches.verification
        parts += ["published"] * (self.switches.harness == "published")
        variant = "_".join(filter(None, (self.variant, str(self.ticks) if self.game == "overcooked" else "", f"s{self.seed}")))
        return f"{self.game}/{team_name(self.taken)}/{'-'.join(parts) or 'bare'}/{variant}"


def header_of(game: SeatedGame) -> Header:
    """Give the first line of a game's log."""
    most = {"overcooked": game.ticks, "collab_capture": TURN_LIMIT, "collab_escape": TURN_CAP, "hanabi": MAX_TURNS}
    if game.switches.harness == "published":
        most.pop("hanabi")  # older logs, which are of this harness, name none
    return Header(
        benchmark="coordination",
        episode=game.episode,
        run={"name": game.episode.rpartition("/")[0], "condition": game.condition},
        task={"id": game.task, "level": game.game, "goal": _GOALS[game.game]},
        team={player.lower(): game.taken[player] for player in PLAYERS},
        agents=[AgentEntry(agent=player, role="player", model=game.taken[player]) for player in PLAYERS],
        model=evaluated(game.taken),
        seed=game.seed,
        max_turns=most.get(game.game),
        started_at=game.started_at.isoformat(),
        details={"game": game.game, "console": False, "deck": None if game.deck is None else list(game.deck)},
    )


def game_of(header: Header) -> SeatedGame:
    """Give the game that a header describes.

    Raises:
        BadInputError: task or condition are none of LLM-Coordination.
    """
    condition = header.run.get("condition")
    facts: Mapping[str, Any] = condition if isinstance(condition, dict) else {}
    game = next((known for known in GAMES if known == facts.get("game")), None)
    if game is None or not isinstance(header.seed, int):
        raise BadInputError(f"game must be one of {', '.join(GAMES)}, and the seed a number", locator="line 1.run.condition")
    variant, ticks, deck = facts.get(_VARIANT_NAMES.get(game, ""), ""), facts.get("ticks", 1), header.details.get("deck")
    if (VARIANTS[game] and variant not in VARIANTS[game]) or not isinstance(ticks, int) or ticks < 1:
        raise BadInputError(f"there is no {variant!r} of {ticks!r} ticks in {game}", locator="line 1.run.condition")
    if deck is not None and (not isinstance(deck, list) or sorted(map(str, deck)) != sorted(DECK)):
        raise BadInputError("the deck is not the 50 cards of Hanabi", locator="line 1.details.deck")
    taken = {agent.agent: agent.model or "" for agent in header.agents}
    if set(taken) != set(PLAYERS):
        raise BadInputError(f"agents are {', '.join(taken)}, not {', '.join(PLAYERS)}", locator="line 1.agents")
    return SeatedGame(
        game=game,
        variant=str(variant),
        taken=taken,
        switches=switches_of(facts),
        seed=header.seed,
        ticks=ticks,
        deck=deck,
        started_at=datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START,
    )


def course_of(game: SeatedGame, steps: list[dict[str, Any]] | None = None) -> Course:
    """Give the course of a game; ``steps`` fills with its turns as the step logs have them."""
    return _COURSES[game.game](game.place, [] if steps is None else steps)


def jobs_of(request: PlayRequest, taken: Mapping[str, str], switches: Switches) -> Iterator[Job]:
    """Give the games of a request with these players; its policies are not looked at.

    Raises:
        UsageError: a layout, scenario or deck does not exist, or a number is out of range.
    """
    request = checked(request)
    for variant in request.variants or ("",):
        for seed in request.seeds:
            game = SeatedGame(
                game=request.game,
                variant=variant,
                taken=taken,
                switches=switches,
                seed=seed,
                ticks=request.ticks,
                deck=(request.decks or {}).get(seed),
                started_at=request.started_at,
            )
            path = request.out / f"{game.episode}.jsonl"
            yield Job(path, header_of(game), taken, partial(course_of, game))


def play_request(
    request: PlayRequest, asked: Sequence[str], terms: RunTerms, switches: Switches, *, on_progress: OnProgress | None = None
) -> RunReport:
    """Play the games of a request with whoever takes the seats.

    Raises:
        UsageError: a seat, player, layout, scenario or deck is wrong, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be written.
    """
    scripts = {"player": SCRIPTS[request.game]} if request.game in SCRIPTS else {}
    taken = Seats(SEATS, scripts).taken(asked)
    table = Seating(scripts=scripts, seats=SEATS, terms=terms, journal=request.out / ".journal")
    return run_games(list(jobs_of(request, taken, switches)), table, on_progress)
