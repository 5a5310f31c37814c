"""Einstein Puzzles played by models, scripts and people, in any mixture; the log is cotrace's own."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from games.einstein.engine.actions import answer_reading, write_answer
from games.einstein.engine.puzzle import Puzzle, optimum_mode, parse_game_id
from games.einstein.engine.table import goal_json, private_view_json
from games.einstein.game import AGENTS, Game, GameSettings, end_entry, turn_entry
from games.einstein.game import PlayerView as EinsteinObservation
from games.einstein.measures import trajectories
from games.einstein.players.personas import PERSONAS, PLANNER
from games.einstein.players.team import CASTS, ScriptedPlayer, ScriptedTeam
from games.einstein.prompts import form_last
from games.players.course import Course, Takeover, played_by
from games.players.player import Observation
from games.players.setup import DEFAULT_START, PlayerSetup
from schemas.chat.messages import Message
from schemas.common.errors import BadInputError
from schemas.game import AgentEntry, Header, ReplyEntry, Turn

_STEP: Final = timedelta(seconds=1)
"""Between the logged times of steps: games that are played by rule have no clock worth logging."""
ROLES: Final[Mapping[str, str]] = dict.fromkeys(AGENTS, "player")
"""Agent -> role."""


def script_answer(persona: str, seen: EinsteinObservation) -> str:
    """A persona's answer to what it sees; the same situation always gets the same answer, for nothing else is remembered."""
    rng = random.Random(f"einstein-seat:{persona}:{seen.user}")
    return ScriptedPlayer(persona, rng).answers(seen, samples=1, reasoning="<THINK>" in seen.system)[0].text


SCRIPTS: Final[Mapping[str, Mapping[str, Callable[[Any], str]]]] = {
    "player": {name: partial(script_answer, name) for name in PERSONAS if name != PLANNER}
}
"""Role -> script -> policy over the role's observation; the planner knows the whole puzzle and plays only among its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSetup:
    """One game to be played."""

    puzzle: Puzzle
    settings: GameSettings
    taken: Mapping[str, str]
    """Agent -> player."""
    seed: int
    started_at: datetime = DEFAULT_START
    cast: bool = False
    """All players are scripts that remember."""
    solution: tuple[int, int] | None = None
    """Planners play the puzzle's solution of this number, from 1, out of how many; None: a shortest one."""


def condition_name(settings: GameSettings) -> str:
    """Name a condition as the published run folders are named: ``cot_provide_seek_raw``."""
    modes = settings.modes[0] if settings.modes[0] == settings.modes[1] else "+".join(settings.modes)
    return f"{'guided_' if settings.guidance else ''}{'cot' if settings.reasoning else 'nocot'}_{modes}_{settings.verifier or 'raw'}"


def header_of(game: GameSetup) -> Header:
    """Give the first line of a game's log."""
    puzzle, settings, players = game.puzzle, game.settings, game.taken
    name = f"{condition_name(settings)}/{'_'.join(players.values()).replace('/', '-').replace(':', '-')}"
    episode = f"{name}/{puzzle.game_id}_{game.seed}"
    return Header(
        benchmark="einstein",
        episode=episode if game.solution is None else f"{episode}_{game.solution[0]}",
        run={"name": name, "condition": settings.logged()},
        task={"id": puzzle.game_id, "level": f"{puzzle.num_objects} objects", "goal": goal_json(puzzle)},
        team=dict(players),
        agents=[
            AgentEntry(
                agent=agent, role="player", model=players[agent], private_view=private_view_json(puzzle, 0 if agent == AGENTS[0] else 1)
            )
            for agent in AGENTS
        ],
        model=("_" if game.cast else "+").join(dict.fromkeys(players.values())),
        seed=game.seed,
        max_turns=settings.step_limit,
        started_at=game.started_at.isoformat(),
        details={"modes": list(settings.modes), **({} if game.solution is None else {"solution": game.solution[0]})},
    )


def settings_of(header: Header) -> GameSettings:
    """The settings of a logged game; logs that are older than guidance had none.

    Raises:
        BadInputError: a part is missing or has a value that does not exist.
    """
    return GameSettings.of_log(header.run.get("condition"), {"guidance": False})


def course_of(asked: GameSetup, game: Game | None = None) -> Course:
    """Give the course of a game; ``game``: its environment, None: a new one."""
    settings = asked.settings
    game = game or Game(asked.puzzle, settings)
    count = 1 if settings.verifier is None else settings.samples
    while (agent := game.next_agent) is not None:
        seen = _observation(game, agent)
        replies = yield tuple(replace(seen, sample=sample) for sample in range(1, count + 1))
        texts = tuple(one.text for one in replies)
        step = game.act(agent, texts)
        yield turn_entry(game, step, texts, at=asked.started_at + step.number * _STEP)
    return end_entry(game)


def scripted_course(asked: GameSetup, takeover: Takeover | None = None) -> Course | None:
    """The course of a game that scripts play which remember; None: the puzzle has no such solution."""
    actions = None
    if asked.solution is not None:
        number, most = asked.solution
        known = trajectories(asked.puzzle, optimum_mode(asked.settings.modes), most)
        if number > len(known):
            return None
        actions = known[number - 1].actions
    game = Game(asked.puzzle, asked.settings)
    return played_by(course_of(asked, game), ScriptedTeam(game, asked.taken, asked.seed, actions), takeover)


def _observation(game: Game, agent: Any) -> Observation:
    seen, settings = game.observe(agent), game.settings
    messages: list[Message] = [{"role": "system", "content": seen.system}, {"role": "user", "content": seen.user}]
    if settings.rules == "sane":
        messages = form_last(seen.user, seen.mode, style=settings.style)
    return Observation(
        agent=agent,
        role="player",
        turn=seen.step + 1,
        messages=messages,
        data=seen,
        wants_thoughts=settings.reasoning,
        reads=answer_reading,
    )


def player_setup(_: Header) -> PlayerSetup:
    """Two players."""
    return PlayerSetup(ROLES, SCRIPTS, CASTS)


def course(header: Header, _: Sequence[Turn]) -> Course:
    """The game of a log."""
    return course_of(_game(header, {}))


def scripted(header: Header, taken: Mapping[str, str], takeover: Takeover | None) -> Course:
    """The game of a log, played by scripts that remember."""
    course = scripted_course(_game(header, taken), takeover)
    assert course is not None  # no number of a solution is asked for
    return course


def _game(header: Header, taken: Mapping[str, str]) -> GameSetup:
    started_at = datetime.fromisoformat(header.started_at) if header.started_at else DEFAULT_START
    puzzle = parse_game_id(str(header.task.get("id")))
    return GameSetup(puzzle=puzzle, settings=settings_of(header), taken=taken, seed=header.seed or 0, started_at=started_at)


def replies(header: Header, turn: Turn) -> list[ReplyEntry]:
    """The answers of the step; if the log has only the executed one of several, that one for all."""
    if not turn.actions or turn.actions[0].raw is None:
        raise BadInputError(f"turn {turn.turn} holds no answer", locator=".actions")
    settings = settings_of(header)
    count = 1 if settings.verifier is None else settings.samples
    texts = turn.samples.texts if turn.samples else [turn.actions[0].raw] * count
    return [ReplyEntry(agent=turn.actions[0].agent, text=text) for text in texts]


def written(_: str, __: str, text: str) -> str:
    """An action in its tag; sharing and asking are actions too."""
    return text if "<ACTION>" in text else write_answer(text, "")
