"""Collab-Overcooked played by models, scripts and people, in any mixture; the log is cotrace's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import repeat
from typing import Any, Final

from games.overcooked.engine.actions import normalised
from games.overcooked.engine.layout import AGENTS, Layout, kitchen
from games.overcooked.engine.own_kitchen import kitchen_of
from games.overcooked.engine.tasks import Task, recipe_text, task_of
from games.overcooked.engine.world import Rules
from games.overcooked.game import Game
from games.overcooked.measures import GameRecord, Recorded, TimestepOutput, cut_to_limit, evaluate
from games.overcooked.players.plain import SCRIPTS
from games.overcooked.players.scripts import PLANTED_FAULT, POLICIES, scripted_pair
from games.overcooked.replay import replay, turn_entry
from games.overcooked.text.prompts import AgentRules, PlayerPrompt, PromptKind, Query, prompt_for, reply_reading
from games.overcooked.text.replies import AgentInput
from games.players.course import Course, Takeover, played_by
from games.players.player import Observation
from games.players.setup import DEFAULT_START, PlayerSetup, evaluated, team_name
from schemas.common.errors import BadInputError, UsageError
from schemas.game import AgentEntry, End, Header, PlantedLabel, Turn


def game_record(game: Game, entries: Sequence[Mapping[str, Any]]) -> GameRecord:
    """Give the record of a game with the log entries of its timesteps."""
    first, second = ([Recorded(int(str(done["timestamp"])), str(done["action"])) for done in actions] for actions in game.recorded)
    statistics = [entry["statistical_data"] for entry in entries]
    messages = [
        [[TimestepOutput(one["agent"], one["analysis"], one["plan"], one["say"]) for one in own] for own in entry["content"]["content"]]
        for entry in entries
    ]
    calls = [[bool(own["call"]) for own in counted["communication"]] for counted in statistics]
    errors: dict[str, list[list[int]]] = {
        kind: [[own[f"{kind}_error"]["error_num"] for own in counted["error"]] for counted in statistics]
        for kind in ("validator", "format")
    }
    return GameRecord(
        task=task_of(game.world.order, game.world.layout),
        finished=game.world.delivered,
        timestamps=range(len(entries)),
        recorded=(first, second),
        messages=[(chef, assistant) for chef, assistant in messages],
        calls=[(chef, assistant) for chef, assistant in calls],
        errors={kind: [(chef, assistant) for chef, assistant in counted] for kind, counted in errors.items()},
        score=game.world.score,
        horizon=game.horizon,
    )


ROLES: Final[Mapping[str, str]] = {"Chef": "chef", "Assistant": "assistant"}
"""Agent -> role."""

CASTS: Final[Mapping[str, Collection[str]]] = {"chef": POLICIES, "assistant": POLICIES}
"""Role -> scripts that remember."""

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
class GameSetup:
    """One game to be played."""

    order: str
    taken: Mapping[str, str]
    """Agent -> player."""
    rules: Rules
    horizon: int
    switches: Switches
    seed: int
    """Tells repetitions apart; the kitchen has no chance in it."""
    started_at: datetime = DEFAULT_START
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
            **self.switches.agents.logged(),
            "recipe": self.switches.recipe,
            "prompt": self.switches.prompt,
            **({} if self.layout.name is None else {"kitchen": self.layout.name}),
        }


@dataclass(slots=True)
class Kitchen:
    """A game as it is played: its course fills in the log entries."""

    game: Game
    entries: list[dict[str, Any]]
    query: Query | None = None
    """What is asked now."""

    @classmethod
    def of(cls, asked: GameSetup) -> Kitchen:
        """Open the kitchen of a game."""
        return cls(Game(asked.task, horizon=asked.horizon, rules=asked.rules, agents=asked.switches.agents), [])


class ScriptedTeam:
    """A Chef and an Assistant who share a script."""

    stores_replies = True

    def __init__(self, asked: GameSetup, kitchen: Kitchen) -> None:
        self._kitchen = kitchen
        pair = (asked.taken["Chef"], asked.taken["Assistant"])
        *self._players, self._planted = scripted_pair(pair, asked.order, self._recorded, asked.seed, asked.layout)

    def _recorded(self, agent: int) -> Sequence[str]:
        return [normalised(str(entry["action"])) for entry in self._kitchen.game.recorded[agent]]

    def answer(self, seen: Observation) -> str:  # noqa: ARG002 - the kitchen has more of the query
        """An output with its three fields."""
        query = self._kitchen.query
        assert query is not None
        return self._players[query.agent].answer(query)

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        for player in self._players:
            player.rng.seed(seed)

    def known(self, turn: Turn) -> Turn:
        """The timestep with the faults that were planted in it."""
        labels = [
            PlantedLabel(
                rubric=label.rubric,
                question=label.question,
                agent=AGENTS[label.agent],
                answer=label.answer,
                planted=label.answer if label.rubric == PLANTED_FAULT else None,
            )
            for label in self._planted
            if label.timestep == turn.turn - 1
        ]
        return replace(turn, labels=labels)


def header_of(game: GameSetup) -> Header:
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
        for agent, role in ROLES.items()
    ]
    return Header(
        benchmark="overcooked",
        episode=f"{team_name(taken)}/{kind}/{game.order}_{game.seed}",
        run={"name": f"{team_name(taken)}/{kind}", "condition": game.condition},
        task={"id": task.task_id, "level": None if task.level is None else str(task.level), "goal": task.goal},
        team={role: taken[agent] for agent, role in ROLES.items()},
        agents=agents,
        model=evaluated(taken),
        seed=game.seed,
        max_turns=game.horizon,
        started_at=game.started_at.isoformat(),
    )


def game_of(header: Header) -> GameSetup:
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
    if set(taken) != set(ROLES):
        raise BadInputError(f"agents are {', '.join(taken)}, not {', '.join(ROLES)}", locator="line 1.agents")
    agents = AgentRules.of_log(facts)
    named = facts.get("prompt", "published")
    if named not in ("full", "published"):
        raise BadInputError("prompt must be full or published", locator="line 1.run.condition.prompt")
    switches = Switches(
        name=str(facts.get("agents")), agents=agents, recipe=str(facts.get("recipe")), prompt="full" if named == "full" else "published"
    )
    try:
        recipe_text(order, layout, switches.recipe)
    except UsageError as error:
        raise BadInputError(str(error), locator="line 1.run.condition.recipe") from error
    return GameSetup(
        order=order,
        taken=taken,
        rules="sane" if rules == "sane" else "published",
        horizon=horizon,
        switches=switches,
        seed=header.seed,
        started_at=datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START,
        layout=layout,
    )


def course_of(asked: GameSetup, kitchen: Kitchen | None = None) -> Course:
    """Give the course of a game; the kitchen, if one is given, holds what was played."""
    kitchen = kitchen or Kitchen.of(asked)
    game, entries = kitchen.game, kitchen.entries
    results = replay(asked.order, (entries[-1]["actions"] for _ in repeat(None)), asked.rules, layout=asked.layout)
    recipe, prompt = asked.recipe, asked.switches.prompt
    while not game.over:
        thoughts: list[tuple[int, str]] = []
        timestep = game.timestep()
        try:
            query = next(timestep)
            while True:
                kitchen.query = query
                (reply,) = yield (_observation(query, prompt_for(query, recipe, prompt)),)
                if reply.reasoning:
                    thoughts.append((query.agent, reply.reasoning))
                query = timestep.send(reply.text)
        except StopIteration as over:
            entries.append(over.value)
        at = (asked.started_at + len(entries) * _TURN).isoformat()
        yield turn_entry(entries[-1], next(results), game.refused, thoughts, at=at)
    record = game_record(game, entries)
    found = evaluate(cut_to_limit(record) or record)
    reason = "delivered" if game.world.delivered else "horizon"
    return End(success=found.in_time, score=found.pc, stop_reason=reason, turns_taken=len(entries))


def scripted_course(asked: GameSetup, kitchen: Kitchen | None = None, takeover: Takeover | None = None) -> Course:
    """The course of a game that scripts play which remember."""
    kitchen = kitchen or Kitchen.of(asked)
    return played_by(course_of(asked, kitchen), ScriptedTeam(asked, kitchen), takeover)


def _observation(query: Query, prompt: PlayerPrompt) -> Observation:
    agent = AGENTS[query.agent]
    return Observation(
        agent=agent,
        role=ROLES[agent],
        turn=query.world.timestep + 1,
        purpose=query.kind,
        messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        data=AgentInput(query.agent, query.kind, query.text, query.world.layout),
        scene=query.world.to_json,
        reads=partial(reply_reading, query.kind, agent),
    )


def player_setup(_: Header) -> PlayerSetup:
    """A chef and an assistant."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(game_of(header))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    return scripted_course(replace(game_of(header), taken=taken), takeover=takeover)
