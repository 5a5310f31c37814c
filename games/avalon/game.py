"""The Avalon environment: who is asked what, what a player may know then, and what an answer does.

======================= ===============================================================================================
discuss                 each player in turn speaks once (or as often as `messages`)
propose                 the leader names a team; one that cannot be read is the leader and the next players
vote                    all at once; not on the fifth proposal; an answer that cannot be read counts as reject
quest                   the evil players of the team, all at once; the good ones play success
conspire, guess         after three successes: the evil players speak, then the assassin names Merlin
======================= ===============================================================================================

Players see what those of the published games saw: of finished missions leader, team, numbers of votes and of fails, never who voted how.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from pydantic import Field

from games.avalon.prompts import ask_for, mission_line, system_prompt
from games.avalon.rules import LINEUPS, SIZES, Beliefs, Verdict, checked_players, sees, side
from games.avalon.table import Message, Table
from games.settings import Settings
from schemas.common.errors import UsageError
from schemas.game import ActionEntry, Turn
from schemas.replies import Reading, is_echo

NAMES: Final = ("Alice", "Bob", "Charlie", "Diana", "Eve", "Frank", "Grace", "Henry", "Iris", "Jack")

_LINE: Final = re.compile(r"^\W*(TEAM|VOTE|CARD|GUESS)\W*?[:=]\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_WORD: Final = {"vote": ("approve", "reject"), "quest": ("success", "fail")}
_AROUND: Final = " .,:;*_`[]()\"'"
"""Marks around what is written in a line."""
_HEADS: Final = {"propose": "TEAM", "vote": "VOTE", "quest": "CARD", "guess": "GUESS"}


class GameSettings(Settings):
    """The switches of a game."""

    messages: int = Field(default=1, ge=1, le=5, description="Messages of each player before the first proposal of a mission.")


class Answer(NamedTuple):
    """A reply as it was read."""

    value: Any
    """Names of a team, a word, or a name; None where it cannot be read."""
    words: str
    """What is around it: the reason or the comment."""
    reading: Reading


def read_answer(purpose: str, text: str, names: Sequence[str], question: str = "") -> Answer:
    """Read a reply to one of the questions that ask for a line of a form; a message is taken as it is, unless it repeats the question."""
    if purpose not in _HEADS:
        message = "" if is_echo(text, question.splitlines()) else text.strip()
        return Answer(message, "", Reading("as asked" if message else "unreadable"))
    lines = [found for found in _LINE.finditer(text) if found[1].upper() == _HEADS[purpose]]
    written = lines[-1][2] if lines else text.strip()
    plain = written.strip(_AROUND)
    value = _value(purpose, plain, names, headed=bool(lines))
    is_plain = purpose == "propose" or value is None or plain.lower() == value.lower()
    after = "" if is_plain else written[written.lower().index(value.lower()) + len(value) :].strip(_AROUND)
    words = text if value is None else f"{text[: lines[-1].start()]}{after}{text[lines[-1].end() :]}" if lines else ""
    words = "" if is_echo(words, question.splitlines()) else words.strip()
    if value is None:
        return Answer(None, words, Reading("unreadable"))
    return Answer(value, words, Reading("as asked") if lines and is_plain else Reading("repaired", written if is_plain else value))


def _value(purpose: str, written: str, names: Sequence[str], *, headed: bool) -> Any:
    known = {name.lower(): name for name in names}
    if purpose != "propose":
        words = known if purpose == "guess" else {word: word for word in _WORD[purpose]}
        found = re.findall(r"\w+", written.lower()) if headed else [written.lower()]  # in a line of the form a reason may follow
        return words[found[0]] if found and words.keys() & {*found} == {found[0]} else None
    parts = [known.get(part.strip(" .*_`").lower()) for part in re.split(r",|;|\band\b|&", written) if part.strip()]
    return None if None in parts or not parts else list(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that a player may know when asked."""

    agent: str
    purpose: str
    role: str
    sees: tuple[str, ...]
    names: tuple[str, ...]
    mission: int
    size: int | None
    leader: str | None
    missions: tuple[Mapping[str, Any], ...]
    """Finished ones: leader, team, fails, result, and number of proposals."""
    messages: tuple[Message, ...]
    """Of this mission; of all missions where Merlin is to be named."""
    team: tuple[str, ...] = ()
    """What is voted on, or who is on the quest."""
    system: str
    user: str
    proves: Callable[[Sequence[str]], Verdict | None] = field(compare=False)
    """What the player can prove of a team."""


class Made(NamedTuple):
    """What an answer did."""

    accepted: bool | None
    """None of messages, which do nothing."""
    fault: str | None
    """Why it was refused; None if it was not."""
    turns: tuple[Turn, ...]
    """The stages that it finished: none while others are still asked, two where no one has a card to choose."""


_Asked = tuple[str, tuple[str, ...]]
_Replies = tuple[tuple[str, str], ...]


class Game:
    """One game of Avalon: roles by position at the table, and the position of the first leader."""

    def __init__(self, roles: Sequence[str], leader: int = 0, settings: GameSettings | None = None) -> None:
        self.agents: Final = NAMES[: checked_players(len(roles))]
        self.settings: Final = settings or GameSettings()
        beliefs = Beliefs(tuple(roles), tuple(sees(roles, position) for position in range(len(roles))))
        self.table: Final = Table(self.agents, beliefs, SIZES[len(roles)], self.agents[leader])
        self._messages: list[Message] = []
        self._all_messages: list[Message] = []
        self._faults: list[str | None] = []
        self._placed: tuple[Sequence[str], str] = ((), "")
        self._finished: list[Turn] = []
        self._answers: list[tuple[str, str]] = []
        self._stages = self._run()
        self.purpose, self.waiting = next(self._stages)

    @classmethod
    def drawn(cls, *, size: int, seed: int, settings: GameSettings | None = None) -> Game:
        """Deal the roles of so many players and draw the first leader: the same arguments, the same game.

        Raises:
            UsageError: there are no games of that size.
        """
        rng = random.Random(f"avalon:{checked_players(size)}:{seed}")
        roles = rng.sample(LINEUPS[size], size)
        return cls(roles, rng.randrange(size), settings)

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return not self.waiting

    @property
    def turn(self) -> int:
        """The turn that is being played, from 1."""
        return self.table.turns + 1

    @property
    def next_agent(self) -> str | None:
        """Who answers next; None after the end."""
        return self.waiting[len(self._answers)] if self.waiting else None

    def state(self) -> dict[str, Any]:
        """Everything about the game as it is, with what was answered in the stage that runs."""
        pending = {"purpose": self.purpose, "waiting": self.waiting, "answers": tuple(self._answers), "messages": len(self._messages)}
        return self.table.state() | pending

    def act(self, agent: str, text: str, thought: str = "") -> Made:
        """Let a player answer.

        Raises:
            UsageError: the game is over, or another player is to answer.
        """
        if agent != self.next_agent:
            due = f"{self.next_agent} is to answer ({self.purpose})" if self.waiting else "the game is over: start a new one"
            raise UsageError(f"{agent} cannot act now: {due}")
        fault = self._fault(agent, text)
        purpose = self.purpose
        self._answers.append((text, thought))
        self._finished = []
        if len(self._answers) == len(self.waiting):
            answers, self._answers = tuple(self._answers), []
            self.purpose, self.waiting = self._stages.send(answers)
        return Made(None if purpose not in _HEADS else fault is None, fault, tuple(self._finished))

    def _read(self, text: str) -> Answer:
        """An answer to what is asked now."""
        return read_answer(self.purpose, text, self.agents, ask_for(self.purpose, self.table, *self._placed))

    def _fault(self, agent: str, text: str) -> str | None:
        """Why the next answer is refused; None if it is not."""
        if self.purpose not in _HEADS:
            return None
        value = self._read(text).value
        if value is None:
            return (
                f"no line {_HEADS[self.purpose]}: with {'names of players' if self.purpose in ('propose', 'guess') else 'one of its words'}"
            )
        if self.purpose == "propose" and len(value) != self.table.size:
            return f"the team has {len(value)} players, and this mission needs {self.table.size}"
        if self.purpose == "guess" and value == agent:
            return "the assassin is not Merlin"
        return None

    # -- the course of a game -------------------------------------------------------------------------------------------------------------

    def _run(self) -> Generator[_Asked, _Replies, None]:
        table = self.table
        while table.winner is None and table.stage != "assassination":
            self._messages = []
            for agent in self.agents * self.settings.messages:
                ((text, thought),) = yield "discuss", (agent,)
                self._messages.append(Message(agent, self._read(text).value, thought))
            self._all_messages += self._messages
            self._finished.append(self.table.discuss(self._messages))
            while table.stage == "proposal":
                yield from self._proposal()
            yield from self._quest()
        if table.stage == "assassination":
            table = self.table
            messages = []
            for agent in table.evil():
                ((text, thought),) = yield "conspire", (agent,)
                messages.append(Message(agent, self._read(text).value, thought))
                self._all_messages.append(messages[-1])
            assassin = str(table.assassin)
            ((text, thought),) = yield "guess", (assassin,)
            found = self._read(text)
            guess = None if found.value == assassin else found.value
            action = _action(assassin, "guess", {"guess": guess}, text, None if guess else "unreadable")
            self._finished.append(table.assassinate(messages, Message(assassin, found.words, thought), guess, actions=[action]))
        while True:
            yield "over", ()

    def _proposal(self) -> Generator[_Asked, _Replies, None]:
        table, leader = self.table, str(self.table.leader)
        ((text, thought),) = yield "propose", (leader,)
        found, fault = self._read(text), None
        team = found.value or []
        if len(team) != table.size:
            fault = "unreadable" if found.value is None else "team_size"
            start = self.agents.index(leader)
            team = [self.agents[(start + step) % len(self.agents)] for step in range(table.size or 0)]
        arguments = {"team": team, "mission": table.mission, "proposal": table.attempt}
        proposed = _action(leader, "propose", arguments, text, fault)
        actions = [replace(proposed, read=found.reading.read, used=found.reading.used)]
        reason = Message(leader, found.words, thought)
        votes: dict[str, str | None] = {}
        comments = []
        if not table.forced:
            self._placed = (team, reason.text)
            for agent, (reply, thoughts) in zip(self.agents, (yield "vote", self.agents), strict=True):
                answer = self._read(reply)
                votes[agent] = answer.value
                comments.append(Message(agent, answer.words, thoughts))
                actions.append(_action(agent, "vote", {"vote": answer.value}, reply, None if answer.value else "unreadable"))
        self._finished.append(table.propose(reason, team, votes, comments=comments, actions=actions))

    def _quest(self) -> Generator[_Asked, _Replies, None]:
        assert self.table.on_table is not None
        team = list(self.table.on_table["team"])
        cards, actions = dict.fromkeys(team, "success"), {}
        asked = tuple(name for name in team if side(self.table.role(name)) == "evil")
        self._placed = (team, "")
        replies = (yield "quest", asked) if asked else ()
        for agent, (text, _) in zip(asked, replies, strict=True):
            answer = self._read(text)
            cards[agent] = answer.value or "success"
            actions[agent] = _action(agent, "quest", {"card": cards[agent]}, text, None if answer.value else "unreadable")
        played = [actions.get(name) or ActionEntry(agent=name, verb="quest", arguments={"card": "success"}, accepted=True) for name in team]
        self._finished.append(self.table.quest(cards, actions=played))

    # -- what a player may know ------------------------------------------------------------------------------------------------------------

    def observe(self, agent: str) -> View:
        """What a player may know now.

        Raises:
            UsageError: the name is not a player's.
        """
        if agent not in self.agents:
            raise UsageError(f"avalon: no player is called {agent!r}; the players are {', '.join(self.agents)}")
        table, position = self.table, self.agents.index(agent)
        role = str(table.beliefs.roles[position])
        shown = tuple(self.agents[other] for other in sorted(table.beliefs.shown[position] or ()))
        at_end = self.purpose in ("conspire", "guess")
        team = tuple(self._placed[0]) if self.purpose in ("vote", "quest") else ()
        quests = list(table.quests or ())
        mission = table.mission
        return View(
            agent=agent,
            purpose=self.purpose,
            role=role,
            sees=shown,
            names=self.agents,
            mission=mission,
            size=table.size,
            leader=table.leader,
            missions=() if at_end else tuple(_public(finished) for finished in table.missions),
            messages=tuple(self._all_messages if at_end else self._messages),
            team=team,
            system=system_prompt(table, agent, role, shown),
            user=self._user(team, at_end=at_end),
            proves=lambda names: table.beliefs.verdict(position, quests, table.team(names), mission),
        )

    def _user(self, team: Sequence[str], *, at_end: bool) -> str:
        table = self.table
        parts = [] if at_end else [mission_line(finished) for finished in table.missions]
        messages = self._all_messages if at_end else self._messages
        if not at_end:
            parts.append(f"Mission {table.mission} needs a team of {table.size}; proposals rejected so far: {table.rejected}.")
        parts += [f"{one.agent}: {one.text}" for one in messages if one.text]
        return "\n".join([*parts, "", ask_for(self.purpose, table, team, self._placed[1])])


def _action(agent: str, verb: str, arguments: Mapping[str, Any], raw: str, fault: str | None) -> ActionEntry:
    texts = {"unreadable": "the answer could not be read", "team_size": "the team has the wrong number of players"}
    return ActionEntry(
        agent=agent,
        verb=verb,
        arguments=arguments,
        raw=raw,
        accepted=fault is None,
        error_code=fault,
        error_text=None if fault is None else texts[fault],
    )


def _public(finished: Mapping[str, Any]) -> dict[str, Any]:
    return {name: finished[name] for name in ("mission", "leader", "team", "fails", "result", "rejected", "votes")}
