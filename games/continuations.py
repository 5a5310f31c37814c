"""Logged games that are continued with changes, and their prompts made again.

Up to the first call of an agent with another player in the chosen turn, everything is as it was; from there on the new players play. What
one of them writes or does at that call can be given. A family brings functions in its module `games.<family>.setup`, found by its name.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import orjson

from games.players.course import Course, Reply, Step, Takeover, play_again
from games.players.player import Observation, Player, PlayerReply
from games.players.running import Job
from games.players.setup import PERSON, SCRIPT, PlayerSetup, fixed_in, named, script_of
from schemas.common.errors import UsageError
from schemas.families import modules
from schemas.game import STOPPED, End, Header, ReplyEntry, Turn


class ContinuedGame(Protocol):
    """A module of this form, `games.<family>.setup`, makes a family's logged games continue with changes.

    It can have functions in place of `replies` and `written` of this module, which are those of cotrace's own log.
    """

    player_setup: Callable[[Header], PlayerSetup]
    """Who can play which agent in the game of a log."""
    course: Callable[[Header, Sequence[Turn]], Course]
    """The game of a log from its beginning; the turns are those that will be played as they were.

    Raises BadInputError where the header is none of the family's.
    """
    scripted: Callable[[Header, Mapping[str, str], Takeover | None], Course]
    """The same, played by scripts that remember (agent -> script), who draw from other random numbers from some step on."""


def continued_game(benchmark: str) -> ContinuedGame:
    """The family's module.

    Raises:
        UsageError: games of this benchmark cannot be continued.
    """
    found: dict[str, Any] = {name: setup for name, setup in modules("games", "setup") if hasattr(setup, "course")}
    if benchmark not in found:
        raise UsageError(f"games of {benchmark} cannot be continued: possible for {', '.join(found)}")
    game: ContinuedGame = found[benchmark]
    return game


class Exchange(NamedTuple):
    """A call of an agent."""

    seen: Observation
    """Its messages are those of a model that plays this agent."""
    reply: ReplyEntry


def exchanges(header: Header, turns: Sequence[Turn]) -> Iterator[tuple[Exchange, ...]]:
    """Every step of a game in order: the calls of the agents that are asked together; stops where the log has no more replies.

    Raises:
        UsageError: games of this benchmark cannot be played again, or the log does not have what the agents wrote.
        BadInputError: the log is none of such a game.
    """
    game = continued_game(header.benchmark)
    turns = [_with_replies(game, header, turn) for turn in turns]
    by_agent: dict[str, list[ReplyEntry]] = defaultdict(list)  # between agents the order depends on who was asked together
    for one in (reply for turn in turns for reply in turn.replies):
        by_agent[one.agent].append(one)
    waiting = {agent: iter(found) for agent, found in by_agent.items()}
    course = game.course(header, turns)
    try:
        step = next(course)
        while True:
            if isinstance(step, Turn):
                step = course.send(())
                continue
            replies = [reply for seen in step if (reply := next(waiting.get(seen.agent, iter(())), None)) is not None]
            if len(replies) < len(step):
                return
            yield tuple(map(Exchange, step, replies))
            step = course.send(tuple(Reply(reply.text, reply.reasoning, reply.error) for reply in replies))
    except StopIteration:
        return


def replies(_: Header, turn: Turn) -> list[ReplyEntry]:
    """What the agents wrote in a turn, word for word or so that the game reads the same, where the log does not have it: nothing does.

    Raises:
        UsageError: always.
    """
    raise UsageError(f"turn {turn.turn} cannot be played again: its log does not have what the agents wrote")


def written(_: str, __: str, text: str) -> str:
    """A reply of an agent from what a person wants it to `say` or to `do` (agent, which of the two, text): word for word."""
    return text


_VERBS: Final = {"say": "says", "do": "does"}


class Logged(NamedTuple):
    """A game as its log holds it."""

    episode: str
    """Its id in the store."""
    header: Header
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The changes."""

    turn: int
    """From which turn on, from 1."""
    players: Sequence[str] = ()
    """`ROLE=PLAYER`, as everywhere."""
    given: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Agent or role -> (`say` or `do`, text) of its first call in that turn."""
    kept: Sequence[str] = ()
    """Agents whose first answer in that turn stays the same, whoever plays."""
    turns: int | None = None
    """How many turns are played; None: to the end."""
    repeats: int = 1
    scripts: Mapping[str, str] = field(default_factory=dict)
    """Agent -> the script that plays its first call in that turn; of scripts that remember the whole turn, empty: the faultless one."""
    step: int | None = None
    """Of an arm of an experiment: how many steps of the turn are as they were but for the agents replaced by `given` and `scripts`.

    Behind them all reply anew, and chance is drawn anew, by repeat. None: not an arm.
    """

    @property
    def last(self) -> int | None:
        """The last turn that is played; None: the game goes to its end."""
        return None if self.turns is None else self.turn + self.turns - 1

    @property
    def words(self) -> str:
        """The changes in words."""
        if self.step is not None:
            replaced = [f"{agent} replaced" for agent in (*self.given, *self.scripts)]
            return f"{' and '.join(replaced) or 'as it was'}, anew from step {self.step + 1}"
        given = (f"{agent} {_VERBS[kind]} {text!r}" for agent, (kind, text) in self.given.items())
        return "; ".join([*self.players, *given])


def continuations(logged: Logged, change: Change, out: Path) -> tuple[PlayerSetup, list[Job]]:
    """Give the continued games, and who can play in them.

    Args:
        logged: the game.
        change: the changes.
        out: folder for `turn<N>/<the changes>/<repeat>.jsonl`.

    Raises:
        UsageError: the game has no such turn or role, cannot be played again up to there, or nothing is changed.
        BadInputError: its log is none of a game that can be played.
    """
    game = continued_game(logged.header.benchmark)
    if not 1 <= change.turn <= len(logged.turns):
        raise _no_such_turn(logged, change.turn)
    if not change.players and not change.given and change.step is None:
        raise UsageError("nothing to change: give --player ROLE=PLAYER, --say ROLE=TEXT or --do ROLE=TEXT")
    setup = game.player_setup(logged.header)
    taken, changed, cast = _taken(logged.header, change, setup)
    turns = [_with_replies(game, logged.header, turn) for turn in logged.turns[: change.turn]]
    plain = re.sub(r"[^A-Za-z0-9=.+-]+", "-", change.words)[:60].strip("-")
    slug = f"{plain}-{hashlib.blake2b(change.words.encode(), digest_size=4).hexdigest()}"
    paths = [out / f"turn{change.turn}" / slug / f"{repeat:03d}.jsonl" for repeat in range(1, change.repeats + 1)]
    if cast:
        if change.given:
            raise UsageError("scripts that remember read no texts: name other players with --player")
        plan = _Plan(logged.header, game, turns, change, frozenset(), {})
        before = turns[:-1] if changed or change.step is None else ()
        course = plan.game.scripted(plan.header, named(taken), Takeover(change.turn, before=before))
        for turn in plan.turns[:-1]:
            now = next(course)
            if not isinstance(now, Turn) or (turn.state_after is not None and _plain(turn.state_after) != _plain(now.state_after)):
                raise UsageError(f"the game cannot be continued: its scripts play turn {turn.turn} otherwise than its log")
        plan = plan._replace(before=before, cast=True)
        return setup, [_job(plan, logged, taken, path) for path in paths]
    _check(game, logged.header, turns[:-1])
    given: dict[str, str | Callable[[Any], str]] = {
        reply.agent: reply.text for reply in reversed(turns[-1].replies or ()) if reply.agent in change.kept
    }
    reply_of = getattr(game, "written", written)
    given |= {agent: reply_of(agent, *words) for name, words in change.given.items() for agent in _found(name, setup)}
    calls = 0 if change.step is None else sum(map(len, asked_in(logged, change.turn)[: change.step]))
    given |= {agent: setup.scripts[setup.roles[agent]][script] for agent, script in change.scripts.items()}
    plan = _Plan(logged.header, game, turns, change, frozenset({*changed, *given}), given, calls=calls)
    return setup, [_job(plan, logged, taken, path) for path in paths]


def with_scripts(asked: Sequence[str], setup: PlayerSetup) -> list[str]:
    """What was asked for, and for every other agent the first script that can play it.

    Raises:
        UsageError: an agent has no player and no script can play it.
    """
    taken = {agent for text in asked for agent in setup.agents(text.partition("=")[0].strip())}
    rest = [agent for agent in setup.roles if agent not in taken]
    for agent in rest:
        if not setup.scripts.get(setup.roles[agent]):
            raise UsageError(f"no script can play {agent}: add --player {agent}=provider/model")
    return [*asked, *(f"{agent}={SCRIPT}{next(iter(setup.scripts[setup.roles[agent]]))}" for agent in rest)]


class _Plan(NamedTuple):
    header: Header
    game: ContinuedGame
    turns: Sequence[Turn]
    change: Change
    changed: frozenset[str]
    given: Mapping[str, str | Callable[[Any], str]]
    """Agent -> text, or who makes it of what the agent sees."""
    before: Sequence[Turn] = ()
    """Turns whose replies were not those of the scripts that play on."""
    cast: bool = False
    """Scripts that remember play."""
    calls: int = 0
    """Of an arm: how many calls of the turn are as they were."""


def asked_in(logged: Logged, turn: int) -> list[tuple[str, ...]]:
    """The agents of a turn, step by step: those of one step are asked together, and hear nothing of each other before they reply.

    Raises:
        UsageError: the game cannot be played again up to there.
        BadInputError: the log is none of such a game.
    """
    if turn > len(logged.turns):
        raise _no_such_turn(logged, turn)
    steps = [step for step in exchanges(logged.header, logged.turns[:turn]) if step[0].seen.turn == turn]
    if logged.turns[turn - 1].replies and sum(map(len, steps)) < len(logged.turns[turn - 1].replies):
        raise UsageError(f"turn {turn} cannot be played again: its log lacks replies")
    return [tuple(one.seen.agent for one in step) for step in steps]


def _no_such_turn(logged: Logged, turn: int) -> UsageError:
    return UsageError(f"--turn {turn}: the game has turns 1 to {len(logged.turns)}")


def remember(header: Header, players: Sequence[str]) -> bool:
    """Whether the game would be continued by scripts that remember: those of the log, with others as `players` has them.

    Raises:
        UsageError: there is no such role or player.
    """
    return _taken(header, Change(turn=1, players=players, step=0), continued_game(header.benchmark).player_setup(header))[2]


def _taken(header: Header, change: Change, setup: PlayerSetup) -> tuple[dict[str, str], set[str], bool]:
    """Who plays which agent, which agents have another player, and whether all are scripts that remember.

    The others are played as before, if that can be.
    """
    changed = {agent for text in change.players for agent in setup.agents(text.partition("=")[0].strip())}
    before = {agent.agent: _again(agent.model or agent.persona or "", setup.scripts.get(agent.role, ())) for agent in header.agents}
    rest = [f"{agent}={before.get(agent, '')}" for agent in setup.roles if agent not in changed]
    cast = _cast(header, change, setup, changed)
    if cast is not None and change.step is not None and not change.players:
        return cast, changed, True
    try:
        return setup._replace(casts={}).taken([*change.players, *rest]), changed, False
    except UsageError as error:
        unknown = next((text for text in rest if text in str(error)), None)
        if cast is not None:
            return cast, changed, True
        if unknown is None:
            raise
        agent, _, player = unknown.partition("=")
        who = f"{player!r}, who cannot be called again" if player else "an unknown player"
        raise UsageError(f"{agent} was {who}: add --player {agent}=provider/model, {SCRIPT}NAME or {PERSON}") from error


def _cast(header: Header, change: Change, setup: PlayerSetup, changed: Collection[str]) -> dict[str, str] | None:
    """The players if all are scripts that remember, those of the log included; None if they are not."""
    scripts = [f"{agent.agent}={SCRIPT}{agent.persona}" for agent in header.agents if agent.agent not in changed]
    if scripts and not header.details.get("scripted"):
        return None
    with suppress(UsageError):
        taken = setup.taken([*change.players, *scripts])
        return taken if setup.is_cast(taken) else None
    return None


def _again(player: str, scripts: Collection[str]) -> str:
    """A player as it is called again; logs of scripts among themselves name them alone."""
    return f"{SCRIPT}{script_of(player)}" if script_of(player) in scripts else player


def _found(name: str, setup: PlayerSetup) -> list[str]:
    found = setup.agents(name)
    if not found:
        raise UsageError(f"{name}: no such role (there are {', '.join(setup.roles)})")
    return found


def _with_replies(game: ContinuedGame, header: Header, turn: Turn) -> Turn:
    return turn if turn.replies else replace(turn, replies=tuple(getattr(game, "replies", replies)(header, turn)))


def _check(game: ContinuedGame, header: Header, turns: Sequence[Turn]) -> None:
    """Play the beginning again: the states must be those of the log."""
    again = play_again(game.course(header, turns), turns)
    if again.fault is not None:
        raise UsageError(f"the game cannot be played again: turn {len(again.turns) + 1} {again.fault.reason}")
    for turn, now in zip(turns, again.turns, strict=False):
        if turn.state_after is not None and _plain(turn.state_after) != _plain(now.state_after):
            raise UsageError(f"the game cannot be continued after turn {turn.turn}: its log holds another state than the rules give")


def _plain(state: Any) -> Any:
    return orjson.loads(orjson.dumps(state, option=orjson.OPT_SORT_KEYS))


def _job(plan: _Plan, logged: Logged, taken: Mapping[str, str], path: Path) -> Job:
    header, change = plan.header, plan.change
    redraw = {} if change.step is None else {"redraw": int(path.stem)}
    origin = {"episode": logged.episode, "turn": change.turn, "changed": change.words, "turns": change.turns}
    condition = {**header.run.get("condition", {}), "continued": {"episode": logged.episode, "turn": change.turn, "changed": change.words}}
    roles = {agent.agent: agent.role for agent in header.agents}
    team = {
        name: _joined(taken, [agent for agent in taken if name in (agent, agent.lower(), roles.get(agent))]) or was
        for name, was in header.team.items()
    }
    same = next((name for name, was in header.team.items() if was == header.model), None)
    header = replace(
        header,
        episode=f"{logged.episode}/turn{change.turn}/{path.parent.name}/{path.stem}",
        run={"name": f"continuations of {logged.episode}", "condition": condition},
        agents=[replace(agent, model=taken.get(agent.agent, agent.model)) for agent in header.agents],
        team=team,
        model=team[same] if same else _joined(taken, list(taken)),
        details={**header.details, "origin": origin, **redraw},
    )
    if plan.cast:
        change = plan.change
        players = named(taken)
        players |= {agent: fixed_in(players[agent], change.turn, instead) for agent, instead in change.scripts.items()}
        seed = f"{change.turn}:{path.stem}" if change.step is not None or change.repeats > 1 else None
        takeover = Takeover(change.turn, change.step or 0, seed, plan.before)
        begin = partial(plan.game.scripted, plan.header, players, takeover)
        return Job(path, header, taken, partial(_stopped, begin, change.last), alone=True)
    begin = partial(plan.game.course, header, plan.turns)
    return Job(path, header, taken, partial(_stopped, begin, change.last), partial(_players_of, plan))


def _joined(taken: Mapping[str, str], agents: Sequence[str]) -> str:
    return "+".join(dict.fromkeys(taken[agent] for agent in agents))


def _players_of(plan: _Plan, players: Mapping[str, Player]) -> Mapping[str, Player]:
    tape = _Tape(plan)
    return {agent: _TapedPlayer(agent, player, tape) for agent, player in players.items()}


def _stopped(begin: Callable[[], Course], last: int | None) -> Course:
    """The course up to that turn."""
    course = begin()
    if last is None:
        return (yield from course)
    try:
        step: Step = next(course)
        while True:
            said = yield step
            if isinstance(step, Turn) and step.turn >= last:
                course.send(said)  # a game that is over after this turn ends as it does
                return End(stop_reason=STOPPED, turns_taken=last)
            step = course.send(said)
    except StopIteration as ended:
        over: End = ended.value
        return over


class _Tape:
    """The replies of the logged game, up to the moment of the change."""

    def __init__(self, plan: _Plan) -> None:
        self._plan = plan
        self._waiting: dict[tuple[int, str], Iterator[ReplyEntry]] = {}
        replies: dict[tuple[int, str], list[ReplyEntry]] = defaultdict(list)
        for turn in plan.turns:
            for reply in turn.replies:
                replies[turn.turn, reply.agent].append(reply)
        self._waiting = {place: iter(found) for place, found in replies.items()}
        self._over, self._calls = False, 0
        self._given = dict(plan.given)
        self._now: dict[str, str | Callable[[Any], str] | None] = {}

    def reply(self, seen: Observation) -> PlayerReply | None:
        """The logged reply, or the one that is given now; None: the player replies."""
        change = self._plan.change
        if seen.turn >= change.turn:
            self._calls += 1
            self._over |= seen.agent in self._plan.changed if change.step is None else self._calls > self._plan.calls
        if not self._over:
            logged = next(self._waiting.get((seen.turn, seen.agent), iter(())), None)
            replaced = self._given_reply(seen) if change.step is not None and seen.turn == change.turn else None
            return replaced or (None if logged is None else PlayerReply(logged.text, logged.reasoning))
        return self._given_reply(seen)

    def _given_reply(self, seen: Observation) -> PlayerReply | None:
        """What is given, at the agent's first call behind the moment, for every sample of it."""
        if seen.sample == 1:
            self._now[seen.agent] = self._given.pop(seen.agent, None)
        given = self._now.get(seen.agent)
        return None if given is None else PlayerReply(given(seen.data) if callable(given) else given)


class _TapedPlayer:
    def __init__(self, agent: str, player: Player, tape: _Tape) -> None:
        self.name = player.name
        self._agent, self._player, self._tape = agent, player, tape

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """The reply of the log or, behind it, of the player."""
        return self._tape.reply(seen) or await self._player.reply(seen, episode=episode)
