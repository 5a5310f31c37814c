"""The table of an Avalon game: what happened, and the turn of a log that each stage makes. Played games and logged ones go through it.

A turn is a stage: ``discussion`` (a message of each player), ``proposal`` (a team and the votes on it), ``quest`` (the cards),
``assassination`` (evil's talk and the guess), ``reflection`` (what players note for their next game). A log may say otherwise than the
rules, or nothing: then the game goes on as logged, what differs is in `Table.differences`, and what follows from nothing is None.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from games.avalon import rules
from schemas.common.errors import BadInputError
from schemas.game import ActionEntry, End, Turn, UtteranceEntry

LIMIT: Final = 5
"""Missions of a game."""

WORDS: Final[Mapping[str, str]] = {
    "missions": "three failed missions",
    "assassination": "the assassin named Merlin",
    "merlin_survived": "three successful missions, and the assassin missed Merlin",
}
"""How a game was won, in words."""


class Message(NamedTuple):
    """A text of a player."""

    agent: str
    text: str
    thought: str = ""
    """What a model thought apart from it."""


class Difference(NamedTuple):
    """Where a log does otherwise than the rules."""

    turn: int | None
    field: str
    logged: Any
    recomputed: Any


class Table:
    """A game so far: names in the order in which they speak, vote and lead, team sizes by mission, the first leader, where known."""

    def __init__(self, names: Sequence[str], beliefs: rules.Beliefs, sizes: Sequence[int], leader: str | None = None) -> None:
        self.names: Final = tuple(names)
        self.beliefs: Final = beliefs
        self.sizes: Final = tuple(sizes)
        self.leader = leader
        self.stage: str | None = "discussion"
        self.attempt = 0
        self.rejected = 0
        self.missions: list[dict[str, Any]] = []
        self.quests: list[rules.Quest] | None = []
        """The finished quests; None from one on whose fails are not known."""
        self.on_table: dict[str, Any] | None = None
        self.guess: dict[str, Any] | None = None
        self.won_by: str | None = None
        self.differences: list[Difference] = []
        self.turns = 0
        """Turns so far."""
        self._places = {name: position for position, name in enumerate(self.names)}
        self._knowledge = self._everybodys()

    @property
    def mission(self) -> int:
        """The mission that is played, from 1; after the end the last one."""
        return min(len(self.missions) + 1, LIMIT) if self.stage in ("discussion", "proposal", "quest") else max(1, len(self.missions))

    @property
    def size(self) -> int | None:
        """The team size of this mission; None where it is not known."""
        return self.sizes[self.mission - 1] if self.mission <= len(self.sizes) else None

    @property
    def forced(self) -> bool:
        """Whether the next proposal goes through without a vote."""
        return self.attempt == rules.MOST_PROPOSALS - 1

    @property
    def winner(self) -> str | None:
        """``good`` or ``evil``; None while the game runs."""
        return None if self.won_by is None else "good" if self.won_by == "merlin_survived" else "evil"

    @property
    def successes(self) -> int:
        """Missions that succeeded."""
        return sum(mission["result"] == "success" for mission in self.missions)

    @property
    def assassin(self) -> str | None:
        """Who names Merlin by the rules; None where roles are not known."""
        wanted = rules.assassin_role(len(self.names))
        return next((name for name in self.names if self.role(name) == ("assassin" if "assassin" in self.beliefs.roles else wanted)), None)

    def role(self, name: str) -> str | None:
        """The role of a player; None where it is not known."""
        return self.beliefs.roles[self._places[name]] if name in self._places else None

    def evil(self) -> list[str]:
        """The evil players, as far as roles are known."""
        return [name for name in self.names if self.role(name) in rules.EVIL]

    def team(self, names: Sequence[str]) -> int:
        """A team as a bit mask.

        Raises:
            BadInputError: a name is not a player's.
        """
        strangers = [name for name in names if name not in self._places]
        if strangers:
            raise BadInputError(f"{strangers[0]!r} is not a player of this game: the players are {', '.join(self.names)}")
        return rules.mask({self._places[name] for name in names})

    def state(self) -> dict[str, Any]:
        """The game as logs hold it, with what everybody can prove."""
        return {
            "stage": self.stage,
            "mission": self.mission,
            "proposal": self.attempt,
            "leader": self.leader,
            "missions": list(self.missions),
            "on_table": self.on_table,
            "guess": self.guess,
            "won_by": self.won_by,
            **self._knowledge,
        }

    def _everybodys(self) -> dict[str, Any]:
        return {"public": self._known(None), "knowledge": {name: self._known(position) for position, name in enumerate(self.names)}}

    def _known(self, position: int | None) -> dict[str, Any] | None:
        known = None if self.quests is None else self.beliefs.knowledge(position, self.quests)
        return None if known is None else (known._asdict() | {"good": self._names(known.good), "evil": self._names(known.evil)})

    def _names(self, positions: int) -> list[str]:
        return [self.names[position] for position in rules.positions_of(positions)]

    # -- stages ---------------------------------------------------------------------------------------------------------------------------

    def discuss(self, messages: Sequence[Message], metrics: Mapping[str, float] | None = None) -> Turn:
        """The talk before the first proposal of a mission."""
        before = self._begin("discussion")
        self.stage = "proposal"
        return self._turn(before, self._utterances(messages), (), metrics)

    def propose(  # noqa: PLR0913 - what a log has of a proposal
        self,
        reason: Message,
        team: Sequence[str],
        votes: Mapping[str, str | None],
        *,
        comments: Sequence[Message] = (),
        actions: Sequence[ActionEntry] = (),
        logged: str | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> Turn:
        """A proposal and the votes on it.

        Args:
            reason: the leader, and what is messages of the team.
            team: as proposed.
            votes: player -> approve, reject, or None of a vote that cannot be read, which counts as reject; empty: there was no vote.
            comments: what voters wrote for themselves.
            actions: as the log holds them.
            logged: approved or rejected, where it is logged.
            metrics: further numbers of the turn.

        Raises:
            BadInputError: leader or team are no players.
        """
        before = self._begin("proposal")
        masked, _ = self.team(team), self.team([reason.agent, *votes])
        approve = sum(vote == "approve" for vote in votes.values())
        forced = self.forced and not votes
        due = "approved" if forced or approve > len(self.names) // 2 else "rejected"
        whole = forced or len(votes) == len(self.names)
        result = logged or (due if whole else None)
        if whole and result != due:
            self._differs("vote_result", logged, due)
        if self.leader is not None and self.leader != reason.agent:
            self._differs("leader", reason.agent, self.leader)
        if self.size is not None and len(team) != self.size:
            self._differs("team_size", len(team), self.size)
        verdicts = {name: self._verdict(position, masked) for position, name in enumerate(self.names)}
        sides = [rules.side(self.role(name)) for name in team]
        self.on_table = {
            "leader": reason.agent,
            "team": list(team),
            "votes": dict(votes),
            "approve": approve,
            "reject": len(votes) - approve,
            "auto": forced,
            "result": result,
            "rejected_before": self.rejected,
            "team_evil": (None if None in sides else sides.count("evil")),
            "public": self._verdict(None, masked),
            "verdicts": verdicts,
        }
        self.on_table["sole_reject"] = self._sole_reject(self.on_table)
        self.attempt += 1
        self.rejected += result == "rejected"
        self.leader = self.names[(self._places[reason.agent] + 1) % len(self.names)]
        self.stage = "quest" if result == "approved" else "proposal" if result else None
        spoken = [*self._utterances([reason]), *self._utterances(comments, private=True)]
        return self._turn(before, spoken, actions, metrics)

    def _sole_reject(self, placed: Mapping[str, Any]) -> bool | None:
        """Whether Merlin alone of the good rejects a team with evil in Merlin's sight, proven bad for no other good player."""
        good = [name for name in self.names if rules.side(self.role(name)) == "good"]
        merlin = next((name for name in good if self.role(name) == "merlin"), None)
        votes, verdicts = placed["votes"], placed["verdicts"]
        if placed["auto"]:
            return False
        if merlin is None or any(votes.get(name) is None or verdicts[name] is None for name in good):
            return None
        seen = {self.names[position] for position in self.beliefs.shown[self._places[merlin]] or ()}
        alone = [name for name in good if votes[name] == "reject"] == [merlin]
        return alone and not seen.isdisjoint(placed["team"]) and not any(verdicts[name]["bad"] for name in good if name != merlin)

    def _verdict(self, position: int | None, team: int) -> dict[str, Any] | None:
        if self.quests is None:
            return None
        found: rules.Verdict | None = self.beliefs.verdict(position, self.quests, team, self.mission)
        return None if found is None else found._asdict() | {"bad": found.bad, "clean": found.clean}

    def quest(
        self,
        cards: Mapping[str, str],
        *,
        fails: int | None = None,
        logged: str | None = None,
        actions: Sequence[ActionEntry] = (),
        metrics: Mapping[str, float] | None = None,
    ) -> Turn:
        """The cards of the team that was approved; ``fails`` and ``logged`` (success or fail) as logged."""
        before = self._begin("quest")
        team = self.on_table["team"] if self.on_table else list(cards)
        masked, whole = self.team(team), set(cards) == set(team)
        counted = sum(card == "fail" for card in cards.values()) if whole else None
        count = counted if fails is None else fails
        if None not in (counted, fails) and counted != fails:
            self._differs("fail_count", fails, counted)
        due = None if count is None else "fail" if count else "success"
        if None not in (due, logged) and due != logged:
            self._differs("mission_result", logged, due)
        for name in (name for name, card in cards.items() if card == "fail" and rules.side(self.role(name)) == "good"):
            self._differs(f"quest_actions.{name}", "fail", "success")
        self.missions.append({
            "mission": self.mission,
            "leader": self.on_table["leader"] if self.on_table else None,
            "team": team,
            "fails": count,
            "result": logged or due,
            "rejected": self.rejected,
            "auto": bool(self.on_table and self.on_table["auto"]),
            "votes": [self.on_table["approve"], self.on_table["reject"]] if self.on_table else None,
            "cards": dict(cards),
        })  # fmt: skip
        if count is None or self.quests is None:
            self.quests = None
        else:
            self.quests.append(rules.Quest(masked, count, self.team([n for n, card in cards.items() if card == "fail"]) if whole else None))
        self.attempt = self.rejected = 0
        self.on_table = None
        self._knowledge = self._everybodys()
        self._after_quest()
        return self._turn(before, (), actions, metrics)

    def _after_quest(self) -> None:
        failed = sum(mission["result"] == "fail" for mission in self.missions)
        if self.successes == rules.MISSIONS_TO_WIN:
            self.stage = "assassination"
        elif failed == rules.MISSIONS_TO_WIN:
            self.stage, self.won_by = "reflection", "missions"
        else:
            self.stage = "discussion" if len(self.missions) < LIMIT and self.missions[-1]["result"] else None

    def assassinate(  # noqa: PLR0913 - what a log has of it
        self,
        messages: Sequence[Message],
        reason: Message,
        guess: str | None,
        *,
        logged: bool | None = None,
        actions: Sequence[ActionEntry] = (),
        metrics: Mapping[str, float] | None = None,
    ) -> Turn:
        """Evil's talk, and the guess; None: no player was named. ``logged``: whether it was right, where it is logged."""
        before = self._begin("assassination")
        role = None if guess is None else self.role(guess)
        due = False if guess is None else None if role is None else role == "merlin"
        right = due if logged is None else logged
        if None not in (due, logged) and due != logged:
            self._differs("assassin_phase.correct", logged, due)
        self.guess = {"assassin": reason.agent, "guess": guess, "role": role, "right": right}
        self.won_by = None if right is None else "assassination" if right else "merlin_survived"
        self.stage = "reflection"
        spoken = [*self._utterances(messages, audience=[*dict.fromkeys([*self.evil(), *(one.agent for one in messages)])])]
        return self._turn(before, [*spoken, *self._utterances([reason], private=True)], actions, metrics)

    def reflect(
        self, messages: Sequence[Message], *, actions: Sequence[ActionEntry] = (), metrics: Mapping[str, float] | None = None
    ) -> Turn:
        """What players note for themselves after the game."""
        before = self._begin("reflection")
        self.stage = None
        return self._turn(before, self._utterances(messages, private=True), actions, metrics)

    def end(self) -> End | None:
        """How the game ended; None while the game runs."""
        if self.winner is None:
            return None
        won = self.winner == "good"
        return End(success=won, score=float(won), stop_reason=self.won_by, turns_taken=self.turns)

    # -- turns ----------------------------------------------------------------------------------------------------------------------------

    def _begin(self, stage: str) -> dict[str, Any]:
        """The state before a turn of this stage, whatever stage the rules would have."""
        self.turns += 1
        if self.stage != stage:
            self._differs("stage", stage, self.stage)
            self.stage = stage
        if stage == "proposal":
            self.on_table = None
        return self.state()

    def _differs(self, field: str, logged: Any, due: Any) -> None:
        self.differences.append(Difference(self.turns, field, logged, due))

    def _utterances(
        self, messages: Sequence[Message], *, private: bool = False, audience: Sequence[str] | None = None
    ) -> list[UtteranceEntry]:
        found = []
        for agent, text, thought in messages:
            if thought:
                found.append(UtteranceEntry(agent=agent, channel="private", text=thought))
            if text:
                channel: Any = "private" if private else "public"
                found.append(UtteranceEntry(agent=agent, channel=channel, audience=None if private else audience, text=text))
        return found

    def _turn(
        self,
        before: Mapping[str, Any],
        spoken: Sequence[UtteranceEntry],
        actions: Sequence[ActionEntry],
        metrics: Mapping[str, float] | None,
    ) -> Turn:
        return Turn(
            turn=self.turns,
            state_before=before,
            utterances=spoken,
            actions=actions,
            state_after=self.state(),
            goal_reached=self.winner == "good",
            progress=min(1.0, self.successes / rules.MISSIONS_TO_WIN),
            metrics=metrics or {},
        )


def again(table: Table, turns: Sequence[Turn]) -> list[Turn]:
    """The turns of a log made once more out of their texts, actions and outcomes, from the table before its first turn to the end.

    Raises:
        BadInputError: a turn names somebody who is not a player; the locator is relative to its line.
    """
    return [_again(table, turn) for turn in turns]


def _again(table: Table, turn: Turn) -> Turn:
    done = {verb: [action for action in turn.actions if action.verb == verb] for verb in ("propose", "vote", "quest", "guess", "reflect")}
    after: Mapping[str, Any] = turn.state_after if isinstance(turn.state_after, Mapping) else {}
    made: Turn
    if done["propose"]:
        (proposal, *_), placed = done["propose"], after.get("on_table") or {}
        votes = {vote.agent: vote.arguments.get("vote") for vote in done["vote"]}
        made = table.propose(
            Message(proposal.agent, ""), proposal.arguments.get("team") or [], votes, actions=turn.actions, logged=placed.get("result")
        )
    elif done["quest"] or (after.get("missions") and len(after["missions"]) > len(table.missions)):
        cards = {card.agent: str(card.arguments.get("card")) for card in done["quest"]}
        last = (after.get("missions") or [{}])[-1]
        made = table.quest(cards, fails=last.get("fails"), logged=last.get("result"), actions=turn.actions)
    elif done["guess"]:
        (guess, *_) = done["guess"]
        right = (after.get("guess") or {}).get("right")
        made = table.assassinate([], Message(guess.agent, ""), guess.arguments.get("guess"), logged=right, actions=turn.actions)
    elif done["reflect"]:
        made = table.reflect([], actions=turn.actions)
    else:
        made = table.discuss([])
    return replace(made, utterances=turn.utterances, metrics=turn.metrics)
