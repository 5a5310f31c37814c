"""The course of a game: it asks, it is answered, it gives each finished turn. Players answer it, or the replies of a log.

A course knows nothing of who answers. So the game that a log holds is the game that its replies give, and reading a log is playing again.
A team of scripts alone (`Cast`) remembers and knows what it means: its games have planted labels.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from games.players.player import Observation, Player, PlayerReply, all_replies, call_entry, reading_of
from schemas.common.errors import BadInputError
from schemas.common.text import replace_lone_surrogates
from schemas.game import ActionEntry, CallEntry, End, Header, LogWriter, ReplyEntry, Turn
from schemas.replies import Read, Reading


class Reply(NamedTuple):
    """What came back when somebody was asked."""

    text: str
    """Empty if nothing came."""
    reasoning: str = ""
    """What a model thought apart from its text."""
    error: str | None = None
    """Why nothing usable came; None if something did."""

    @property
    def lost(self) -> bool:
        """Nothing came: the game does what the published loop does after a failed call."""
        return self.error is not None and not self.text


Step: TypeAlias = tuple[Observation, ...] | Turn
"""Observations that are to be answered at the same time, or a finished turn."""

Course: TypeAlias = Generator[Step, tuple[Reply, ...], End]
"""Answers are sent in the order of the observations; to a turn, nothing is answered."""


def ask(seen: Observation) -> Generator[Step, tuple[Reply, ...], Reply]:
    """Ask one agent."""
    (said,) = yield (seen,)
    return said


async def play_course(path: Path, header: Header, course: Course, players: Mapping[str, Player]) -> int:
    """Play a game into its file, a line a turn; give the number of turns.

    Raises:
        HopelessError: a model turns every request down.
        OSError: the file cannot be written.
    """
    episode = header.episode or path.stem
    places: Counter[str] = Counter()
    calls: list[CallEntry] = []
    replies: list[ReplyEntry] = []
    readings: dict[str, Reading] = {}
    """Agent -> how its last reply was read."""
    turns = 0
    with LogWriter(path, header) as log:
        try:
            step = next(course)
            while True:
                if isinstance(step, Turn):
                    answered = {reply.agent for reply in replies}
                    actions = [
                        _with_reading(action, readings) if action.raw is not None or action.agent in answered else action
                        for action in step.actions
                    ]  # one without a text of an agent that was not asked, such as a card without a choice, comes from no reply
                    log.turn(replace(step, actions=actions, calls=tuple(calls), replies=(*step.replies, *replies)))
                    calls, replies, turns = [], [], turns + 1
                    step = course.send(())
                    continue
                asked = []
                for seen in step:
                    places[seen.agent] += 1
                    asked.append(replace(seen, place=places[seen.agent]))
                got = [
                    reply._replace(text=replace_lone_surrogates(reply.text), reasoning=replace_lone_surrogates(reply.reasoning))
                    for reply in await all_replies(players[seen.agent].reply(seen, episode=episode) for seen in asked)
                ]  # what the log will hold of it: the game goes by the same
                for seen, reply in zip(asked, got, strict=True):
                    reading = reading_of(seen, reply)
                    if reading is not None:
                        readings[seen.agent] = reading
                    calls += [] if reply.call is None else [call_entry(reply.call, seen.agent, reading and reading.read)]
                    replies.append(_entry(seen, reply, reading and reading.read))
                step = course.send(tuple(Reply(reply.text, reply.reasoning, reply.error) for reply in got))
        except StopIteration as ended:
            log.end(ended.value)
    return turns


def play_alone(path: Path, header: Header, course: Course) -> int:
    """Play a game that asks no player into its file; give the number of turns.

    Raises:
        OSError: the file cannot be written.
    """
    turns = 0
    with LogWriter(path, header) as log:
        try:
            while True:
                step = next(course)
                assert isinstance(step, Turn)
                log.turn(step)
                turns += 1
        except StopIteration as ended:
            log.end(ended.value)
    return turns


def _with_reading(action: ActionEntry, readings: Mapping[str, Reading]) -> ActionEntry:
    """The action with how the reply was read that it comes from: its agent's last one, unless the game knows better."""
    reading = readings.get(action.agent) if action.read is None else None
    return action if reading is None else replace(action, read=reading.read, used=reading.used)


def _entry(seen: Observation, reply: PlayerReply, read: Read | None) -> ReplyEntry:
    return ReplyEntry(agent=seen.agent, purpose=seen.purpose, text=reply.text, reasoning=reply.reasoning, error=reply.error, read=read)


class PlayedAgain(NamedTuple):
    """What the replies of a log give."""

    turns: Sequence[Turn]
    """As many as could be played."""
    end: End | None
    """None if the game goes on behind the last reply."""
    fault: BadInputError | None
    """Why the turn behind them could not be played; None if all could."""


def play_again(course: Course, logged: Sequence[Turn]) -> PlayedAgain:
    """Play a game from the replies of its log."""
    turns: list[Turn] = []
    try:
        step = next(course)
        for turn in logged:
            waiting = iter(turn.replies)
            while not isinstance(step, Turn):
                step = course.send(tuple(_logged(seen, waiting) for seen in step))
            if next(waiting, None) is not None:
                return PlayedAgain(turns, None, BadInputError("has more replies than the game asks for", locator=".replies"))
            turns.append(step)
            step = course.send(())
    except StopIteration as ended:
        over: Final[End] = ended.value
        behind = len(logged) > len(turns)
        return PlayedAgain(turns, over, BadInputError("stands behind the end of the game", locator=".turn") if behind else None)
    except BadInputError as fault:
        return PlayedAgain(turns, None, fault)
    return PlayedAgain(turns, None, None)


def _logged(seen: Observation, waiting: Iterator[ReplyEntry]) -> Reply:
    reply = next(waiting, None)
    if reply is None:
        raise BadInputError(f"has no reply of {seen.agent} ({seen.purpose})", locator=".replies")
    if (reply.agent, reply.purpose) != (seen.agent, seen.purpose):
        due = f"{seen.agent} ({seen.purpose})"
        raise BadInputError(f"a reply of {reply.agent} ({reply.purpose}) stands where one of {due} is due", locator=".replies")
    return Reply(reply.text, reply.reasoning, reply.error)


class Cast(Protocol):
    """The scripts of one game."""

    stores_replies: bool
    """Whether the log holds their replies; not where its turns hold all that is needed to play the game again."""

    def answer(self, seen: Observation) -> str:
        """What the agent that is asked replies."""
        ...

    def known(self, turn: Turn) -> Turn:
        """A finished turn with what its players know: labels, and the claims of their texts."""
        ...

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        ...


class Takeover(NamedTuple):
    """From when on a logged game is played by scripts that remember."""

    turn: int
    step: int = 0
    """How many steps of the turn are played as they were."""
    seed: str | None = None
    """Of the random numbers that they draw from then on; None: as before."""
    before: Sequence[Turn] = ()
    """The turns before, whose replies were given by others; scripts remember what they would have replied. Empty: they played them."""


def played_by(course: Course, cast: Cast, takeover: Takeover | None = None) -> Course:
    """The same course, played by scripts: it asks no player."""
    replies: list[ReplyEntry] = []
    steps: Counter[int] = Counter()
    takeover = takeover or Takeover(1)
    seed, logged = takeover.seed, iter([reply for turn in takeover.before for reply in turn.replies])
    try:
        step = next(course)
        while True:
            if isinstance(step, Turn):
                yield replace(cast.known(step), replies=tuple(replies))
                replies.clear()
                step = course.send(())
                continue
            if seed is not None and (step[0].turn, steps[step[0].turn]) >= (takeover.turn, takeover.step):
                cast.redraw(seed)
                seed = None
            steps[step[0].turn] += 1
            texts = [cast.answer(seen) for seen in step]
            texts = [text if (given := next(logged, None)) is None else given.text for text in texts]
            if cast.stores_replies:
                replies += [ReplyEntry(agent=seen.agent, purpose=seen.purpose, text=text) for seen, text in zip(step, texts, strict=True)]
            step = course.send(tuple(map(Reply, texts)))
    except StopIteration as ended:
        over: End = ended.value
        return over
