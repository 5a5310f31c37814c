"""The broken link of an agent that could have done better in a step: its own, or its partner's who asked wrongly or for nothing.

The Chef alone has the recipe, so its own part is its own. What the Assistant can know it was asked for: while it does that, what was asked
for is the Chef's; with nothing asked for, it is the Chef's if the Chef could have asked since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import AGENTS, Layout
from games.overcooked.engine.tasks import Task
from games.overcooked.engine.validator import refusal
from games.overcooked.text.replies import heard
from judges.attribution.findings import Link
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView
from judges.overcooked.attribution.moves import needless, stood, world_of
from judges.overcooked.attribution.requests import TrackedRequest, asked_of, note_done, own_turns
from judges.overcooked.conversations import action_call

__all__ = ["ANSWERS", "REQUESTS", "BrokenLink", "History"]

REQUESTS: Final[Mapping[str, Link]] = {
    "missing_step": "not_said",
    "premature": "wrong_instruction",
    "repetitive": "wrong_instruction",
    "irrelevant": "wrong_instruction",
    "infeasible": "wrong_instruction",
    "wrong_parameter": "wrong_instruction",
}
"""Category of a wrong request -> link."""

ANSWERS: Final[Mapping[str, Link]] = {
    "missing_step": "misread",
    "wrong_parameter": "misread",
    "premature": "misread",
    "repetitive": "misread",
    "irrelevant": "misread",
    "excessive": "misread",
    "infeasible": "rule_forgotten",
    "refused": "not_heard",
}
"""Category of a wrong answer -> link."""

_CHEF: Final = 0
_SEEN_LATE: Final = 2
"""Steps after which at the latest the partner sees that somebody is free: it decides before it, and once a step."""


class BrokenLink(NamedTuple):
    """A broken link."""

    agent: int | None
    """Whose; None: no agent's, where the rules of the loop or an unread message stand in the way."""

    link: Link
    evidence: str


@dataclass
class History:
    """A game up to the step that is looked at."""

    game: Transcript
    task: Task
    asked: list[TrackedRequest] = field(init=False)
    open: dict[int, TrackedRequest] = field(default_factory=dict)
    """Responder -> the last request to it."""

    _free: dict[int, int] = field(default_factory=dict)
    """Agent -> the last turn in which it did something."""

    _rid: dict[int, BrokenLink | None] = field(default_factory=dict)
    """Agent -> through whom it came to hold what nothing takes."""

    _doing: list[tuple[int, int, str]] = field(init=False)
    """Turn, agent and action of all that was done."""

    def __post_init__(self) -> None:
        self.asked = asked_of(self.game)
        self._own = {agent: [*own_turns(self.game, agent)] for agent in range(len(AGENTS))}
        self._doing = [
            (view.turn, AGENTS.index(action.agent), action_call(action))
            for view in self.game.turns
            for action in view.actions
            if action.accepted and action.agent in AGENTS
        ]

    def enter(self, turn: int) -> None:
        """Hear what was asked for in a turn."""
        for asked in self.asked:
            if asked.turn == turn:
                self.open[asked.responder] = asked

    def leave(self, turn: int) -> None:
        """See what was done in a turn."""
        view = self.game.turn(turn)
        for agent in range(len(AGENTS)):
            was, now = (needless(self.task, state, agent) for state in (view.state_before, view.state_after))
            if now is not None and now != was:
                self._rid[agent] = self._fetched(view, agent, now)
            if any(action.accepted and action.agent == AGENTS[agent] for action in view.actions):
                self._free[agent] = turn
        for asked in self.open.values():
            note_done(asked, self.game, turn)

    def broken_link(self, turn: int, agent: int) -> BrokenLink | None:
        """Why an agent did not do better in a turn; None if by what it knew and was asked for it could not."""
        view = self.game.turn(turn)
        rid = needless(self.task, view.state_before, agent)
        if rid is not None:
            found = self._rid.get(agent)
            return found and found._replace(evidence=f"{AGENTS[agent]} holds {rid}, which nothing takes: {found.evidence}")
        unread = _unread(view, agent)
        if unread is not None and stood(view, agent):
            return unread
        return _dropped_wait(view, agent) or (self._cook(view) if agent == _CHEF else self._helper(view, agent))

    # -- the Chef ---------------------------------------------------------------------------------

    def _cook(self, view: TurnView) -> BrokenLink | None:
        refused = _refused(view, _CHEF)
        if refused is not None:
            return BrokenLink(_CHEF, "rule_forgotten", f"{action_call(refused)}: {refused.error_text or refused.error_code}")
        verified = _verified(view, _CHEF)
        if not verified:
            return None
        if stood(view, _CHEF):
            useful = next((call for call in verified if not self._is_stated_wait(view, call)), None)
            return None if useful is None else BrokenLink(_CHEF, "idle", f"waited; it could {useful}")
        turn, action = self._next(view.turn, _CHEF)
        if action is None or action in _verified(self.game.turn(turn), _CHEF):
            return None
        return BrokenLink(_CHEF, "acted_wrong", f"went to {action}, which does not bring the order on; it could {verified[0]}")

    def _is_stated_wait(self, view: TurnView, call: str) -> bool:
        """Whether a product can be taken early: the prompt states the cooking time, and who waits as long has done what it was told.

        The step of `cook` counts for the kitchen's clock, so that the product is there one step before the stated time has passed.
        """
        action = parse_call(call)
        utensil = action.arguments[1] if action is not None and action.name == "pickup" and len(action.arguments) > 1 else None
        began = [
            before.turn
            for before in self.game.turns
            if before.turn < view.turn
            and utensil is not None
            and _timer(before.state_after, utensil)
            and not _timer(before.state_before, utensil)
        ]
        return bool(began) and view.turn - began[-1] <= self.task.layout.cook_time

    # -- the Assistant ----------------------------------------------------------------------------

    def _helper(self, view: TurnView, agent: int) -> BrokenLink | None:
        asked = self.open.get(agent)
        if asked is None or (asked.next is None and not asked.unread):
            return self._unasked(view, agent)
        if asked.unread:
            return BrokenLink(None, "not_understood", f"of {AGENTS[asked.opener]}'s message in turn {asked.turn}: {asked.unread}")
        return self._answering(view, agent, asked)

    def _answering(self, view: TurnView, agent: int, asked: TrackedRequest) -> BrokenLink | None:
        """It was asked for something, in words that are understood, and has not done it yet."""
        if not asked.right:
            link = REQUESTS.get(asked.request or "")
            return None if link is None else BrokenLink(asked.opener, link, f"{asked.words} ({asked.request})")
        refused = _refused(view, agent)
        if refused is not None:
            answer = ANSWERS.get(asked.answer or "", "rule_forgotten")
            return BrokenLink(agent, answer, f"{AGENTS[asked.opener]} {asked.words}; it tried {action_call(refused)}, which was refused")
        if stood(view, agent):
            could = refusal(world_of(self.task, view.state_before), agent, asked.next or "") is None
            return BrokenLink(agent, "not_heard", f"{AGENTS[asked.opener]} {asked.words}; it waited") if could else None
        turn, action = self._next(view.turn, agent)
        if action in (None, asked.next) or action in _verified(self.game.turn(turn), agent):
            return None
        return BrokenLink(agent, "misread", f"{AGENTS[asked.opener]} {asked.words}; it went to {action}")

    def _unasked(self, view: TurnView, agent: int) -> BrokenLink | None:
        """Nothing is open that it was asked for: the Chef's if both wait, it could have asked, and nothing of its own cooks."""
        free = self._free.get(agent, 1 - _SEEN_LATE)
        could_ask = [turn for turn in self._own[_CHEF] if free + _SEEN_LATE <= turn <= view.turn]
        verified = _verified(view, agent)
        both_wait = stood(view, agent) and stood(view, _CHEF) and not _cooks(view, self.task.layout)
        if not (both_wait and could_ask and verified):
            return None
        for turn in range(could_ask[0], view.turn + 1):
            for said in self.game.turn(turn).said("public", AGENTS[_CHEF]):
                message = heard(said.text, agent, layout=self.task.layout)
                if message.unread:
                    words = "; ".join(map(repr, message.unread))
                    return BrokenLink(None, "not_understood", f"of {AGENTS[_CHEF]}'s message in turn {turn}: {words}")
                if message.actions:
                    return None
        return BrokenLink(
            _CHEF, "not_said", f"the Assistant waited and could {verified[0]}; the Chef did not ask for it in turn {could_ask[-1]}"
        )

    # -- what came of it --------------------------------------------------------------------------

    def _next(self, turn: int, agent: int) -> tuple[int, str | None]:
        """The next thing that an agent did: in hindsight, what it was on its way to."""
        return next(((when, action) for when, who, action in self._doing if who == agent and when >= turn), (turn, None))

    def _fetched(self, view: TurnView, agent: int, item: str) -> BrokenLink | None:
        """Whose fault it is that an agent took what nothing takes."""
        asked = self.open.get(agent)
        done = f"took {item} in turn {view.turn}"
        if agent == _CHEF:
            return BrokenLink(_CHEF, "acted_wrong", done)
        if asked is None:
            return None
        if any(f"({item}," in action for action in asked.actions):
            link = REQUESTS.get(asked.request or "")
            return None if link is None else BrokenLink(asked.opener, link, f"{asked.words} ({asked.request})")
        return BrokenLink(agent, "misread", f"{done}; {AGENTS[asked.opener]} {asked.words}")


def _verified(view: TurnView, agent: int) -> list[str]:
    """What an agent could do next to bring the order on, by the references and the kitchen."""
    name = AGENTS[agent]
    found = []
    for action in view.oracle:
        arguments = dict(action.arguments)
        if arguments.pop("agent", None) == name:
            found.append(f"{action.verb}({','.join(map(str, arguments.values()))})")
    return found


def _cooks(view: TurnView, layout: Layout) -> bool:
    """Whether something of the Chef's is being made, after which it may have planned to ask."""
    own = layout.reach(_CHEF)
    return any(name in own and 0 < pot["timer"] < layout.cook_time for name, pot in view.state_before["utensils"].items())


def _refused(view: TurnView, agent: int) -> ActionView | None:
    return next((action for action in view.actions if action.accepted is False and action.agent == AGENTS[agent]), None)


def _timer(state: JsonObject, utensil: str) -> int:
    pot = state.get("utensils", {}).get(utensil)
    return int(pot["timer"]) if pot else 0


def _dropped_wait(view: TurnView, agent: int) -> BrokenLink | None:
    """The rules of the loop dropped the wait with which the plan began: no rule was forgotten."""
    by_rule = (found for found in view.failures if found.agent == AGENTS[agent] and found.category == "dropped_wait")
    found = next(by_rule, None)
    return None if found is None else BrokenLink(None, "harness", f"{AGENTS[agent]}: {found.evidence}")


def _unread(view: TurnView, agent: int) -> BrokenLink | None:
    unread = any(found.agent == AGENTS[agent] and found.category == "format" for found in view.failures)
    return BrokenLink(agent, "format", "its answer could not be read") if unread else None
