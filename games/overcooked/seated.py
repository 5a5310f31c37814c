"""Collab-Overcooked with anybody in the kitchen: models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from games.overcooked.agents import AgentRules, agent_rules_of
from games.overcooked.engine.layout import AGENTS, Layout, kitchen
from games.overcooked.engine.own_kitchen import kitchen_of
from games.overcooked.engine.tasks import Task, recipe_text, task_of
from games.overcooked.engine.world import Rules
from games.overcooked.game import Game, Query
from games.overcooked.measures.evaluation import evaluate
from games.overcooked.measures.record import game_record
from games.overcooked.measures.truncation import cut_to_limit
from games.overcooked.play import PlayRequest, orders_of
from games.overcooked.players.plain import SCRIPTS
from games.overcooked.replay import replay
from games.overcooked.text.prompts import PlayerPrompt, PromptKind, prompt_for, reply_reading
from games.overcooked.text.reading import AgentInput
from games.overcooked.turn_entry import turn_entry
from games.players.course import Course
from games.players.player import Observation
from games.players.progress import OnProgress
from games.players.running import Job, RunReport, RunTerms, Seating, run_games
from games.players.seats import Seats, evaluated, team_name
from games.playing import DEFAULT_START
from schemas.errors import BadInputError, UsageError
from schemas.game import AgentEntry, End, Header

__all__ = ["SCRIPTS", "SEATS", "Kitchen", "SeatedGame", "Switches", "course_of", "game_of", "header_of", "jobs_of", "play_request"]

SEATS: Final[Mapping[str, str]] = {"Chef": "chef", "Assistant": "assistant"}
"""Agent -> role."""

_TURN: Final = timedelta(seconds=1)
"""Pretended length of a timestep, so that the same game has the same log wherever and whenever it is played on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """How the agents of a game are asked."""

    name: str = "published"
    """Of the rule set; the switches of which it is made follow."""
    agents: AgentRules = field(default_factory=AgentRules)
    recipe: str = "plain"
    """How the Chef's recipe is written, see `recipe_text`."""
    prompt: PromptKind = "full"
    """Which form of the prompt is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedGame:
    """One game to be played."""

    order: str
    taken: Mapping[str, str]
    """Agent -> player."""
    rules: Rules
    horizon: int
    switches: Switches
    seed: int
    """Tells repetitions apart; the kitchen has no chance in it."""
    started_at: datetime
    layout: Layout = field(default_factory=kitchen)

    @property
    def task(self) -> Task:
        """The order in this kitchen."""
        return task_of(self.order, self.layout)

    @property
    def recipe(self) -> str:
        """What the Chef reads."""
        return recipe_text(self.order, self.layout, self.switches.recipe)

    @property
    def condition(self) -> dict[str, Any]:
        """Every switch."""
        return {
            "horizon": self.horizon,
            "rules": self.rules,
            "agents": self.switches.name,
            **self.switches.agents.to_json(),
            "recipe": self.switches.recipe,
            "prompt": self.switches.prompt,
            **({} if self.layout.name is None else {"kitchen": self.layout.name}),
        }


@dataclass(slots=True)
class Kitchen:
    """A game as it is played: its course fills in the log entries."""

    game: Game
    entries: list[dict[str, Any]]

    @classmethod
    def of(cls, asked: SeatedGame) -> Kitchen:
        """Open the kitchen of a game."""
        return cls(Game(asked.task, horizon=asked.horizon, rules=asked.rules, agents=asked.switches.agents), [])


def header_of(game: SeatedGame) -> Header:
    """Give the first line of a game's log."""
    taken, task = game.taken, game.task
    switches = game.switches
    kind = f"{switches.name}_{switches.recipe.replace(':', '')}_{game.horizon}"
    if switches.prompt == "published":
        kind += "_published-prompt"
    if game.layout.name is not None:
        kind += f"_{game.layout.name}"
    agents = [
        AgentEntry(
            agent=agent,
            role=role,
            model=taken[agent],
            private_view={"recipe": game.recipe} if agent == AGENTS[0] else None,
            view_kind="recipe" if agent == AGENTS[0] else None,
        )
        for agent, role in SEATS.items()
    ]
    return Header(
        benchmark="overcooked",
        episode=f"{team_name(taken)}/{kind}/{game.order}_{game.seed}",
        run={"name": f"{team_name(taken)}/{kind}", "condition": game.condition},
        task={"id": task.task_id, "level": None if task.level is None else str(task.level), "goal": task.goal},
        team={role: taken[agent] for agent, role in SEATS.items()},
        agents=agents,
        model=evaluated(taken),
        seed=game.seed,
        max_turns=game.horizon,
        started_at=game.started_at.isoformat(),
    )


def game_of(header: Header) -> SeatedGame:
    """Give the game that a header describes.

    Raises:
        BadInputError: task or condition are none of Collab-Overcooked.
    """
    condition = header.run.get("condition")
    facts: Mapping[str, Any] = condition if isinstance(condition, dict) else {}
    goal, horizon, rules = header.task.get("goal"), facts.get("horizon"), facts.get("rules")
    layout = kitchen_of(goal)
    order = str(goal["order"] if isinstance(goal, dict) and "order" in goal else header.task.get("id"))
    try:
        task_of(order, layout)
    except UsageError as error:
        raise BadInputError(str(error), locator="line 1.task.goal") from error
    if not isinstance(horizon, int) or horizon < 1 or rules not in ("sane", "published") or not isinstance(header.seed, int):
        raise BadInputError("horizon, rules and seed are needed", locator="line 1.run.condition")
    taken = {agent.agent: agent.model or "" for agent in header.agents}
    if set(taken) != set(SEATS):
        raise BadInputError(f"agents are {', '.join(taken)}, not {', '.join(SEATS)}", locator="line 1.agents")
    switches = Switches(
        name=str(facts.get("agents")), agents=agent_rules_of(facts), recipe=str(facts.get("recipe")), prompt=_prompt_of(facts)
    )
    try:
        recipe_text(order, layout, switches.recipe)
    except UsageError as error:
        raise BadInputError(str(error), locator="line 1.run.condition.recipe") from error
    return SeatedGame(
        order=order,
        taken=taken,
        rules="sane" if rules == "sane" else "published",
        horizon=horizon,
        switches=switches,
        seed=header.seed,
        started_at=datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START,
        layout=layout,
    )


def _prompt_of(condition: Mapping[str, Any]) -> PromptKind:
    """Older logs name no form of the prompt: theirs was the published one."""
    named = condition.get("prompt", "published")
    if named not in ("full", "published"):
        raise BadInputError("prompt must be full or published", locator="line 1.run.condition.prompt")
    return "full" if named == "full" else "published"


def course_of(asked: SeatedGame, kitchen: Kitchen | None = None) -> Course:
    """Give the course of a game; the kitchen, if one is given, holds what was played."""
    kitchen = kitchen or Kitchen.of(asked)
    game, entries = kitchen.game, kitchen.entries
    results = replay(asked.order, _last_actions(entries), asked.rules, layout=asked.layout)
    recipe, prompt = asked.recipe, asked.switches.prompt
    while not game.over:
        thoughts: list[tuple[int, str]] = []
        timestep = game.timestep()
        try:
            query = next(timestep)
            while True:
                (said,) = yield (_observation(query, prompt_for(query, recipe, prompt)),)
                if said.reasoning:
                    thoughts.append((query.agent, said.reasoning))
                query = timestep.send(said.text)
        except StopIteration as over:
            entries.append(over.value)
        at = (asked.started_at + len(entries) * _TURN).isoformat()
        yield turn_entry(entries[-1], next(results), game.refused, thoughts, at=at)
    record = game_record(game, entries)
    found = evaluate(cut_to_limit(record) or record)
    reason = "delivered" if game.world.delivered else "horizon"
    return End(success=found.in_time, score=found.pc, stop_reason=reason, turns_taken=len(entries))


def _last_actions(entries: Sequence[dict[str, Any]]) -> Iterator[Sequence[str]]:
    """The actions of the timestep that has just ended, whenever they are asked for."""
    while True:
        yield entries[-1]["actions"]


def _observation(query: Query, prompt: PlayerPrompt) -> Observation:
    agent = AGENTS[query.agent]
    return Observation(
        agent=agent,
        role=SEATS[agent],
        turn=query.world.timestep + 1,
        purpose=query.kind,
        messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        data=AgentInput(query.agent, query.kind, query.text, query.world.layout),
        scene=query.world.to_json,
        reads=partial(reply_reading, query.kind, agent),
    )


def jobs_of(request: PlayRequest, taken: Mapping[str, str], switches: Switches) -> Iterator[Job]:
    """Give the games of a request with these players; its policies are not looked at.

    Raises:
        UsageError: an order, level or recipe does not exist.
    """
    for order in orders_of(request):
        for number in range(request.games):
            game = SeatedGame(
                order=order,
                taken=taken,
                rules=request.rules,
                horizon=request.horizon or task_of(order, request.layout).time_limit,
                switches=switches,
                seed=request.seed + number,
                started_at=request.started_at,
                layout=request.layout,
            )
            header = header_of(game)
            path = request.out / f"{header.episode}.jsonl"
            yield Job(path, header, taken, partial(course_of, game))


def play_request(
    request: PlayRequest, asked: Sequence[str], terms: RunTerms, switches: Switches = Switches(), *, on_progress: OnProgress | None = None
) -> RunReport:
    """Play the orders of a request with whoever takes the seats.

    Raises:
        UsageError: a seat, player, order or recipe is wrong, or a log of a game's name holds another game.
        HopelessError: a model turns every request down; what was played is kept.
        OSError: a file cannot be written.
    """
    taken = Seats(SEATS, SCRIPTS).taken(asked)
    table = Seating(scripts=SCRIPTS, seats=SEATS, terms=terms, journal=request.out / ".journal")
    return run_games(list(jobs_of(request, taken, switches)), table, on_progress)
