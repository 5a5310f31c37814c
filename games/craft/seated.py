"""CRAFT with anybody in its seats: models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from games.craft.engine.blocks import DIRECTORS, Director
from games.craft.engine.views import all_views, views_json
from games.craft.game import Agent, Game, GameSettings, Rules
from games.craft.match_log import state_json, turn_entry
from games.craft.measures.metrics import COMPLETION_THRESHOLD
from games.craft.play import PlayRequest, structures_of
from games.craft.players import plain
from games.craft.targets.structures import Structure
from games.craft.text.archetypes import Archetype, archetypes
from games.craft.text.builder import FAILED_CALL
from games.craft.text.director_output import FAILED_CALL_MESSAGE, director_text
from games.craft.text.observations import BuilderObservation
from games.craft.text.prompts import builder_messages, director_messages, simulated_note
from games.craft.text.replies import (
    answer_reading,
    director_reading,
    published_answer_reading,
    published_director_reading,
    without_tags,
)
from games.craft.text.simulation import TOOL, asked_for, simulated, written_call
from games.players.course import Course, Said, Step, ask
from games.players.player import Observation
from games.players.progress import OnProgress
from games.players.running import Job, RunReport, RunTerms, Seating, run_games
from games.players.seats import seated
from games.players.tools import Round, ToolUse
from providers.messages import Message
from schemas.game import AgentEntry, End, Header
from schemas.replies import ReadReply

__all__ = ["SCRIPTS", "SEATS", "SeatedGame", "course_of", "header_of", "play_request"]

SEATS: Final[Mapping[str, str]] = {**dict.fromkeys(DIRECTORS, "director"), "Builder": "builder"}
"""Agent -> role."""

SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {"director": plain.DIRECTORS_BY_NAME, "builder": plain.BUILDERS}
"""Role -> script -> policy over the role's observation."""

_READERS: Final[Mapping[Rules, Mapping[str, ReadReply]]] = {
    "sane": {"director": director_reading, "builder": answer_reading},
    "published": {"director": published_director_reading, "builder": published_answer_reading},
}
"""Rules -> role -> how its replies are read."""

_TURN_TIME: Final = timedelta(seconds=30)
"""Pretended length of a turn, so that the same game has the same log wherever and whenever it is played on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedGame:
    """One game to be played."""

    structure: Structure
    characters: Mapping[Director, Archetype]
    settings: GameSettings
    seats: Mapping[str, str]
    """Agent -> player, as in `games.players.seats.seated`."""
    seed: int
    started_at: datetime

    @property
    def episode(self) -> str:
        """A name of the game that no other of the experiment has."""
        return f"{self.team}/{self.structure.structure_id}_{self.seed}"

    @property
    def directors(self) -> str:
        """Who directs: one name, or several joined by +."""
        return "+".join(dict.fromkeys(self.seats[director] for director in DIRECTORS))

    @property
    def team(self) -> str:
        """The team as a name of a folder."""
        return f"{self.directors}_{self.seats['Builder']}".replace("/", "-").replace(":", "-")


def header_of(game: SeatedGame) -> Header:
    """Give the first line of a game's log; every switch that changes what a player is told is in its condition."""
    settings, directors = game.settings, game.directors
    condition = {
        "use_oracle": settings.oracle,
        "num_oracle": settings.num_oracle,
        "builder_tool_use": settings.simulations > 0,
        "simulations": settings.simulations,
        "provider_tool": settings.provider_tool,
        "speakers": settings.speakers,
        "history_limit": settings.history_limit,
        "max_turns": settings.max_turns,
        "start_board": settings.start,
        "same_turn_messages": settings.same_turn_messages,
        "rules": settings.rules,
        "archetypes": True,
        "run": game.seed,
    }
    views = views_json(all_views(game.structure.target))
    agents = [
        AgentEntry(
            agent=director,
            role="director",
            model=game.seats[director],
            persona=game.characters[director],
            private_view=views[director],
            view_kind="spans",
        )
        for director in DIRECTORS
    ]
    builder = game.seats["Builder"]
    return Header(
        benchmark="craft",
        episode=game.episode,
        run={"name": game.team, "condition": condition},
        task={"id": game.structure.structure_id, "level": game.structure.complexity, "goal": state_json(game.structure.target)},
        team={"director": directors, "builder": builder},
        agents=[*agents, AgentEntry(agent="Builder", role="builder", model=builder)],
        model=directors,
        seed=game.seed,
        max_turns=settings.max_turns,
        started_at=game.started_at.isoformat(),
        details={"same_turn_messages": settings.same_turn_messages},
    )


def play_request(
    request: PlayRequest, asked: Sequence[str], terms: RunTerms, settings: GameSettings, *, on_progress: OnProgress | None = None
) -> RunReport:
    """Play the structures of a request with whoever takes the seats; of the request, personas, builders and conditions are not looked at.

    Raises:
        UsageError: a seat, player or structure is wrong, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be read or written.
    """
    taken = seated(asked, SEATS, {role: tuple(scripts) for role, scripts in SCRIPTS.items()})
    games = [
        SeatedGame(
            structure=structure,
            characters=archetypes(index, request.seed),
            settings=settings,
            seats=taken,
            seed=request.seed,
            started_at=request.started_at,
        )
        for index, structure in enumerate(structures_of(request))
    ]
    table = Seating(scripts=SCRIPTS, seats=SEATS, terms=terms, journal=request.out / ".journal")
    jobs = [_job(game, request.out / f"{game.episode}.jsonl") for game in games]
    return run_games(jobs, table, on_progress)


def _job(game: SeatedGame, path: Path) -> Job:
    header = header_of(game)
    return Job(path, header, game.seats, partial(course_of, game))


def course_of(asked: SeatedGame, speakers: Sequence[tuple[Director, ...]] = ()) -> Course:
    """Give the course of a game.

    Args:
        asked: the game.
        speakers: the directors of the first turns, in place of those drawn.
    """
    game = Game(asked.structure, asked.settings, seed=asked.seed, speakers=speakers)
    while not game.done:
        if not asked.settings.same_turn_messages:
            yield from _asked_at_once(game, asked)
        record = None
        while record is None:
            agent = game.next_agent
            assert agent is not None
            said = yield from (_decided(game, asked) if agent == "builder" else ask(_observation(game, agent, asked)))
            record = game.act(agent, _text(agent, said), failed=agent == "builder" and said.lost)
        yield turn_entry(record, asked.settings, asked.started_at + record.turn * _TURN_TIME)
    score = game.state().metrics.overall_progress
    return End(success=score >= COMPLETION_THRESHOLD, score=score, stop_reason=str(game.stop_reason), turns_taken=len(game.turns))


def _asked_at_once(game: Game, asked: SeatedGame) -> Generator[Step, tuple[Said, ...], None]:
    """Ask the directors, none of whom hears the others: all at once, but a director who was drawn again after its earlier replies.

    Under the published rules no director knows that it has spoken, so all are asked at once.
    """
    speakers = game.speakers
    texts: dict[int, str] = {}
    while len(texts) < len(speakers):
        left = [place for place in range(len(speakers)) if place not in texts]
        firsts = {speakers[place]: place for place in reversed(left)}
        due = left if asked.settings.rules == "published" else sorted(firsts.values())
        own = {place: [texts[before] for before in texts if speakers[before] == speakers[place]] for place in due}
        answers = yield tuple(_observation(game, speakers[place], asked, own[place]) for place in due)
        texts |= {place: _text(speakers[place], answer) for place, answer in zip(due, answers, strict=True)}
    for place, director in enumerate(speakers):
        game.act(director, texts[place])


def _decided(game: Game, asked: SeatedGame) -> Generator[Step, tuple[Said, ...], Said]:
    """What the builder says in the end, after the moves that it tried."""
    seen, left = _observation(game, "builder", asked), asked.settings.simulations
    while True:
        said = yield from ask(seen)
        calls = asked_for(said.text) if left else ()
        if not calls:
            return said
        state = game.state()
        results = [simulated(call, state.board, asked.structure.target) for call in calls] if len(calls) <= left else []
        left = left - len(calls) if results else 0
        note = simulated_note(results, left)
        answered: list[Message] = [{"role": "assistant", "content": said.text}, {"role": "user", "content": "\n".join([*results, note])}]
        data = replace(seen.data, simulated=(*seen.data.simulated, *results))
        tool = seen.tool and seen.tool._replace(tools=(TOOL,) if left else (), rounds=(*seen.tool.rounds, Round(said.text, results, note)))
        seen = replace(seen, purpose="simulated", messages=[*seen.messages, *answered], data=data, tool=tool)


def _observation(game: Game, agent: Agent, asked: SeatedGame, own: Sequence[str] | None = None) -> Observation:
    seen = game.observe_builder() if agent == "builder" else game.observe_director(agent, own)
    rules = asked.settings.rules
    seat = "Builder" if agent == "builder" else agent
    tool: ToolUse | None = None
    if isinstance(seen, BuilderObservation):
        oracle, simulations = asked.settings.oracle, asked.settings.simulations
        messages = builder_messages(seen, oracle=oracle, simulations=simulations, rules=rules)
        if simulations and asked.settings.provider_tool:
            tool = ToolUse(
                builder_messages(seen, oracle=oracle, simulations=simulations, provider_tool=True, rules=rules), (TOOL,), written_call
            )
    else:
        messages = director_messages(seen, asked.characters[seen.director], rules)
    return Observation(
        agent=seat,
        role=SEATS[seat],
        turn=seen.turn,
        messages=messages,
        data=seen,
        wants_thoughts=agent != "builder",
        tool=tool,
        reads=_READERS[rules]["builder" if agent == "builder" else "director"],
    )


def _text(agent: Agent, said: Said) -> str:
    """What the game reads: a failed call becomes what the published loop makes of it; reasoning that came apart is private."""
    if said.lost:
        return (
            f"{FAILED_CALL} {said.error}"
            if agent == "builder"
            else director_text(f"Error in generation: {said.error}", FAILED_CALL_MESSAGE)
        )
    if agent != "builder" and said.reasoning and "<think>" not in said.text.lower():
        message = said.text if "<message>" in said.text.lower() else f"<message>{said.text}</message>"
        return f"<think>\n{without_tags(said.reasoning)}\n</think>\n\n{message}"
    return said.text
