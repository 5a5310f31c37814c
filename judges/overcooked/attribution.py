"""Who lost what in a Collab-Overcooked game, step by step.

Each agent's move is replaced by its best one, with the partner's as it was, by the bound of `games.overcooked.value`. Whose fault it is
that it did not make that move follows from what it had been asked for; where no one could know better, or both had to do better at once,
no one is at fault.

The Chef alone has the recipe, so its own part is its own. What the Assistant can know it was asked for: while it does that, what was asked
for is the Chef's; with nothing asked for, it is the Chef's if the Chef could have asked since.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from games.overcooked.engine.actions import parse_call
from games.overcooked.engine.layout import AGENTS, INGREDIENT_DISPENSER, STEPS, Layout
from games.overcooked.engine.references import workflow
from games.overcooked.engine.tasks import Task
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.world import Body, Move, Pot, World
from games.overcooked.taxonomy import asked_for, initiating_category, not_understood, responding_category
from games.overcooked.text.replies import heard
from games.overcooked.value import left_of, steps_left
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, How, Link, Lost, shared_out
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView
from judges.overcooked.checks import action_call, event_at, layout_in, messages_of, references_of, task_in


@dataclass(slots=True)
class TrackedRequest:
    """A request, and what has become of it."""

    turn: int
    seq: int
    """The opener's message, as in `utterances`."""
    opener: int
    actions: Sequence[str]
    """What was asked for, in order."""
    request: str | None
    """Its category, one of `games.overcooked.taxonomy.INITIATING`; None where the message was not understood."""
    answer: str | None
    """Category of the answer, one of `RESPONDING`; None where it is not known."""
    unread: str = ""
    """Clauses of the message that were not understood."""
    done: int = 0
    """How many of the actions the responder has done since."""

    @property
    def responder(self) -> int:
        """Who was asked."""
        return 1 - self.opener

    @property
    def right(self) -> bool:
        """Whether the order needs what was asked for, and that now."""
        return self.request == "correct"

    @property
    def next(self) -> str | None:
        """The next of the actions; None if all have been done."""
        return self.actions[self.done] if self.done < len(self.actions) else None

    @property
    def words(self) -> str:
        """What was asked for and when, in words."""
        return f"asked for {'; '.join(self.actions)} in turn {self.turn}"


def asked_of(game: Transcript) -> list[TrackedRequest]:
    """All requests of a game in order; none where the order is not one of the benchmark's."""
    if task_in(game) is None:
        return []
    found = (_asked(game, entry["turn"], entry["opener"]) for entry in game.details.get("conversations", ()))
    return [asked for asked in found if asked is not None]


def _asked(game: Transcript, turn: int, opener: str) -> TrackedRequest | None:
    event = event_at(game, turn, opener)
    if event is None or AGENTS[event.opener] != opener:
        return None
    messages, references = messages_of(game, game.turn(turn), opener), references_of(game, event.responder)
    layout = layout_in(game)
    actions, unread = asked_for(event, messages, references, layout), not_understood(event, messages, layout)
    if not actions and not unread:
        return None
    message = next((message.seq for message in game.turn(turn).by_channel("public", opener)), 0)
    kinds = initiating_category(event, messages, references, layout), responding_category(event, messages, references, layout)
    return TrackedRequest(turn, message, event.opener, actions, *kinds, unread="; ".join(map(repr, unread)))


def own_turns(game: Transcript, agent: int) -> Iterator[int]:
    """Turns in which an agent could open a conversation: those in which it wrote a plan that is not an answer."""
    name = AGENTS[agent]
    asked_by_partner = {
        (entry["turn"], seq)
        for entry in game.details.get("conversations", ())
        if entry["opener"] != name
        for seq in range(entry["first_seq"], entry["last_seq"] + 1)
    }
    for turn in game.turns:
        if any(message.agent == name and (turn.turn, message.seq) not in asked_by_partner for message in turn.utterances):
            yield turn.turn


def note_done(asked: TrackedRequest, game: Transcript, turn: int) -> None:
    """Count what the responder did in a turn."""
    for action in game.turn(turn).actions:
        if action.accepted and action.agent == AGENTS[asked.responder] and action_call(action) == asked.next:
            asked.done += 1


def world_of(task: Task, state: JsonObject) -> World:
    """The kitchen of a stored state, to be played on from."""
    bodies = [Body((body["at"][0], body["at"][1]), body["facing"], body["held"]) for body in state["agents"]]
    world = World(task.layout, task.order, "published", (bodies[0], bodies[1]))
    world.utensils = {name: Pot(tuple(pot["contents"]), pot["product"], pot["timer"]) for name, pot in state["utensils"].items()}
    for name, item in state["counters"].items():
        x, y = name.strip("()").split(",")
        world.counters[int(x), int(y)] = item
    return world


def moves_of(view: TurnView) -> list[Move]:
    """Both agents' moves in a step, from what it changed."""
    found = []
    for agent, (before, after) in enumerate(zip(view.state_before["agents"], view.state_after["agents"], strict=True)):
        done = next((action for action in view.actions if action.accepted and action.agent == AGENTS[agent]), None)
        if done is not None:
            found.append(Move(interact=True, item=done.arguments.get("object")))
        else:
            found.append(Move() if before == after else Move(after["facing"]))
    return found


def stood(view: TurnView, agent: int) -> bool:
    """Whether an agent neither walked nor turned nor did anything."""
    return moves_of(view)[agent] == Move()


def needless(task: Task, state: JsonObject, agent: int) -> str | None:
    """What an agent holds that nothing left to do takes."""
    held: str | None = state["agents"][agent]["held"]
    if held is None:
        return None
    left = left_of(task.order, state, task.layout)
    begun = any(found.begun and found.unit.agent == agent for found in left.values())
    return None if begun else held


def gains(task: Task, view: TurnView, after: float) -> Sequence[float]:
    """For each agent how many steps its best move in the place of its own would have retained; 0 where none would.

    Hands that hold what nothing takes are emptied first: what was picked up wrongly holds up until it is put down.
    """
    logged = moves_of(view)
    return [max((after - left for left in _others(task, view, agent, logged)), default=0.0) for agent in range(len(AGENTS))]


def _others(task: Task, view: TurnView, agent: int, logged: Sequence[Move]) -> Iterator[float]:
    rid = needless(task, view.state_before, agent) is not None
    for move in _moves(task, view.state_before, agent, free=rid):
        world = world_of(task, view.state_before)
        if rid:
            world.bodies[agent].held = None
        world.step([move if who == agent else made for who, made in enumerate(logged)])
        yield float(steps_left(task.order, world.to_json(), delivered=world.delivered, layout=task.layout))


def _moves(task: Task, state: JsonObject, agent: int, *, free: bool) -> Iterator[Move]:
    """What an agent could do in a step: stay, walk or turn, use what it faces."""
    yield Move()
    yield from (Move(direction) for direction in STEPS)
    yield Move(interact=True)
    if free or state["agents"][agent]["held"] is None:
        yield from (Move(interact=True, item=item) for item in _raw_items(task, agent))


def _raw_items(task: Task, agent: int) -> Iterator[str]:
    for unit in workflow(task.order, task.layout).of(agent):
        call = parse_call(unit.actions[0])
        if call is not None and call.arguments[1:] == (INGREDIENT_DISPENSER,):
            yield call.arguments[0]


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


class FailurePoint(NamedTuple):
    """A failure point."""

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
    _rid: dict[int, FailurePoint | None] = field(default_factory=dict)
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

    def failure_point(self, turn: int, agent: int) -> FailurePoint | None:
        """Why an agent did not do better in a turn; None if by what it knew and was asked for it could not."""
        view = self.game.turn(turn)
        rid = needless(self.task, view.state_before, agent)
        if rid is not None:
            found = self._rid.get(agent)
            return found and found._replace(evidence=f"{AGENTS[agent]} holds {rid}, which nothing takes: {found.evidence}")
        is_unread = any(found.agent == AGENTS[agent] and found.category == "format" for found in view.failures)
        unread = FailurePoint(agent, "format", "its answer could not be read") if is_unread else None
        if unread is not None and stood(view, agent):
            return unread
        return _dropped_wait(view, agent) or (self._cook(view) if agent == _CHEF else self._helper(view, agent))

    # -- the Chef ---------------------------------------------------------------------------------

    def _cook(self, view: TurnView) -> FailurePoint | None:
        refused = _refused(view, _CHEF)
        if refused is not None:
            return FailurePoint(_CHEF, "rule_forgotten", f"{action_call(refused)}: {refused.error_text or refused.error_code}")
        verified = _verified(view, _CHEF)
        if not verified:
            return None
        if stood(view, _CHEF):
            useful = next((call for call in verified if not self._is_stated_wait(view, call)), None)
            return None if useful is None else FailurePoint(_CHEF, "idle", f"waited; it could {useful}")
        turn, action = self._next(view.turn, _CHEF)
        if action is None or action in _verified(self.game.turn(turn), _CHEF):
            return None
        return FailurePoint(_CHEF, "acted_wrong", f"went to {action}, which does not bring the order on; it could {verified[0]}")

    def _is_stated_wait(self, view: TurnView, call: str) -> bool:
        """Whether a product can be taken early: the prompt states the cooking time, and who waits as long has done what it was informed.

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

    def _helper(self, view: TurnView, agent: int) -> FailurePoint | None:
        asked = self.open.get(agent)
        if asked is None or (asked.next is None and not asked.unread):
            free = self._free.get(agent, 1 - _SEEN_LATE)
            could_ask = [turn for turn in self._own[_CHEF] if free + _SEEN_LATE <= turn <= view.turn]
            verified = _verified(view, agent)
            both_wait = stood(view, agent) and stood(view, _CHEF) and not _cooks(view, self.task.layout)
            if not (both_wait and could_ask and verified):
                return None
            for turn in range(could_ask[0], view.turn + 1):
                for utterance in self.game.turn(turn).by_channel("public", AGENTS[_CHEF]):
                    message = heard(utterance.text, agent, layout=self.task.layout)
                    if message.unread:
                        words = "; ".join(map(repr, message.unread))
                        return FailurePoint(None, "not_understood", f"of {AGENTS[_CHEF]}'s message in turn {turn}: {words}")
                    if message.actions:
                        return None
            return FailurePoint(
                _CHEF, "not_said", f"the Assistant waited and could {verified[0]}; the Chef did not ask for it in turn {could_ask[-1]}"
            )
        if asked.unread:
            return FailurePoint(None, "not_understood", f"of {AGENTS[asked.opener]}'s message in turn {asked.turn}: {asked.unread}")
        return self._answering(view, agent, asked)

    def _answering(self, view: TurnView, agent: int, asked: TrackedRequest) -> FailurePoint | None:
        """It was asked for something, in words that are understood, and has not done it yet."""
        if not asked.right:
            link = REQUESTS.get(asked.request or "")
            return None if link is None else FailurePoint(asked.opener, link, f"{asked.words} ({asked.request})")
        refused = _refused(view, agent)
        if refused is not None:
            answer = ANSWERS.get(asked.answer or "", "rule_forgotten")
            return FailurePoint(agent, answer, f"{AGENTS[asked.opener]} {asked.words}; it tried {action_call(refused)}, which was refused")
        if stood(view, agent):
            could = refusal(world_of(self.task, view.state_before), agent, asked.next or "") is None
            return FailurePoint(agent, "not_heard", f"{AGENTS[asked.opener]} {asked.words}; it waited") if could else None
        turn, action = self._next(view.turn, agent)
        if action in (None, asked.next) or action in _verified(self.game.turn(turn), agent):
            return None
        return FailurePoint(agent, "misread", f"{AGENTS[asked.opener]} {asked.words}; it went to {action}")

    # -- what came of it --------------------------------------------------------------------------

    def _next(self, turn: int, agent: int) -> tuple[int, str | None]:
        """The next thing that an agent did: in hindsight, what it was on its way to."""
        return next(((when, action) for when, who, action in self._doing if who == agent and when >= turn), (turn, None))

    def _fetched(self, view: TurnView, agent: int, item: str) -> FailurePoint | None:
        asked = self.open.get(agent)
        done = f"took {item} in turn {view.turn}"
        if agent == _CHEF:
            return FailurePoint(_CHEF, "acted_wrong", done)
        if asked is None:
            return None
        if any(f"({item}," in action for action in asked.actions):
            link = REQUESTS.get(asked.request or "")
            return None if link is None else FailurePoint(asked.opener, link, f"{asked.words} ({asked.request})")
        return FailurePoint(agent, "misread", f"{done}; {AGENTS[asked.opener]} {asked.words}")


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
    own = layout.reaches[_CHEF]
    return any(name in own and 0 < pot["timer"] < layout.cook_time for name, pot in view.state_before["utensils"].items())


def _refused(view: TurnView, agent: int) -> ActionView | None:
    return next((action for action in view.actions if action.accepted is False and action.agent == AGENTS[agent]), None)


def _timer(state: JsonObject, utensil: str) -> int:
    pot = state.get("utensils", {}).get(utensil)
    return int(pot["timer"]) if pot else 0


def _dropped_wait(view: TurnView, agent: int) -> FailurePoint | None:
    """The rules of the loop dropped the wait with which the plan began: no rule was forgotten."""
    by_rule = (found for found in view.failures if found.agent == AGENTS[agent] and found.category == "dropped_wait")
    found = next(by_rule, None)
    return None if found is None else FailurePoint(None, "harness", f"{AGENTS[agent]}: {found.evidence}")


MEASURES: Final = ("overcooked.time_left",)

_NO_FAULT: Final = "neither could know better and do better alone"


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Hold every step against what either agent could have done; see `judges.attribution.findings.Attribute`."""
    task = task_in(transcript)
    if task is None:
        return Attributed([], [])
    history = History(transcript, task)
    findings: list[Finding] = []
    for view in transcript.turns:
        history.enter(view.turn)
        value = lost.get(view.turn)
        if value is not None and value.cost > NOTHING:
            findings += _of_step(history, view.turn, value)
        history.leave(view.turn)
    costly = {(found.turn, found.agent) for found in findings}
    findings += [found for found in _without_cost(history) if (found.turn, found.agent) not in costly]
    return Attributed(sorted(findings, key=lambda found: found.turn), [*_follows(history)])


def _of_step(history: History, turn: int, lost: Lost) -> Iterator[Finding]:
    game = history.game
    retained = gains(history.task, game.turn(turn), lost.after)
    causes: list[Cause] = []
    otherwise: tuple[Link, str] = ("not_seen", _NO_FAULT)
    for agent, gain in enumerate(retained):
        broken = history.failure_point(turn, agent) if gain > NOTHING else None
        if broken is None:
            continue
        if broken.agent is None:
            otherwise = (broken.link, broken.evidence)
        else:
            causes.append(Cause(AGENTS[broken.agent], broken.link, broken.evidence, gain))
    yield from shared_out(turn, lost.cost, causes, otherwise)


def _without_cost(history: History) -> Iterator[Finding]:
    """Wrong requests and answers, and unreadable ones, without regard to what they cost."""
    for asked in history.asked:
        link = REQUESTS.get(asked.request or "")
        if link is not None:
            yield Finding(asked.turn, AGENTS[asked.opener], link, 0.0, f"{asked.words} ({asked.request})")
        answer = ANSWERS.get(asked.answer or "") if asked.right else None
        if answer is not None:
            yield Finding(asked.turn, AGENTS[asked.responder], answer, 0.0, f"{AGENTS[asked.opener]} {asked.words}: {asked.answer}")
    for view in history.game.turns:
        for failure in view.failures:
            if failure.category == "format" and failure.agent in AGENTS:
                yield Finding(view.turn, failure.agent, "format", 0.0, "its answer could not be read")


def _follows(history: History) -> Iterator[Follow]:
    """Each action that was asked for, and whether it was done before something else was asked for."""
    for asked in history.asked:
        for place, action in enumerate(() if asked.unread else asked.actions):
            yield Follow(
                asked.turn, asked.seq, AGENTS[asked.opener], AGENTS[asked.responder], action, _how(asked, place), right=asked.right
            )


def _how(asked: TrackedRequest, place: int) -> How:
    if place < asked.done:
        return "fully"
    return "differs" if asked.answer == "wrong_parameter" else "no"
