"""The pieces of evidence that a rubric can list under `shows`, and the conditions that it can name under `na_if`.

A prompt is built from the pieces that the rubric lists and from nothing else. Pieces of all benchmarks stand here, those of one benchmark
in a module of its family (`judges.craft.pieces`).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from judges.evidence.frame import LONGEST_TEXT, Entry, Frame, Renaming, one_line, with_plain_names
from judges.evidence.transcript import ActionView, JsonObject, Transcript, TurnView, UtteranceView
from judges.rubric import WINDOW_TOKENS, Question, UnitKind
from schemas.families import offered

AGENT_UNITS: tuple[UnitKind, ...] = ("utterance", "agent_turn", "action", "event")
TURN_UNITS: tuple[UnitKind, ...] = (*AGENT_UNITS, "turn")


_Render = Callable[["UnitContext"], list[Entry]]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitContext:
    """The unit that is judged, inside its game."""

    game: Transcript
    roles: tuple[str, ...]
    """Roles that the rubric is about; empty: all."""
    turn: TurnView | None = None
    """None for a whole game."""
    agent: str | None = None
    """None for a group."""
    seq: int | None = None
    """Which utterance of the turn; None unless the unit is one utterance."""
    action: ActionView | None = None
    """None unless the unit is one action."""
    other: Transcript | None = None
    """The second game of a pair, `game` being the first; None for other units."""
    row: Mapping[str, object] | None = None
    """Column -> value of a row of the rubric's own query; None for other units."""
    window: range | None = None
    """Places of the messages and actions of a window; None for other units."""
    window_tokens: int = WINDOW_TOKENS
    """Of the rubric."""
    renaming: Renaming | None = None
    """None: names as in the log."""

    @property
    def now(self) -> TurnView:
        """The turn of a unit that has one; rubric validation lets turn-bound pieces stand only in such rubrics."""
        assert self.turn is not None
        return self.turn

    @property
    def agent_name(self) -> str:
        """The agent of a unit that has one; guarded like `now`."""
        assert self.agent is not None
        return self.agent

    def is_judged_role(self, agent: str) -> bool:
        """Whether the agent has one of the roles that the rubric is about; without roles, whether it is more than a tool."""
        known = self.game.agents.get(agent)
        return known is not None and known.role in self.roles if self.roles else not is_tool(self.game, agent)


class Piece(NamedTuple):
    """A named piece of evidence."""

    doc: str
    """What it shows, for the documentation."""
    units: tuple[UnitKind, ...]
    """Kinds of unit it makes sense for."""
    benchmarks: tuple[str, ...]
    """Benchmarks it exists for; empty: all."""
    render: Callable[[UnitContext], list[Entry]]
    """The evidence; an empty list where there is none in this unit."""


class Pieces(dict[str, Piece]):
    """Name -> piece, all for the same benchmarks; without any for all."""

    def __init__(self, *benchmarks: str) -> None:
        super().__init__()
        self._benchmarks = benchmarks

    def add(self, name: str, doc: str, units: tuple[UnitKind, ...]) -> Callable[[_Render], _Render]:
        """Make a function a piece of evidence; the arguments are the piece's."""

        def taken(render: _Render) -> _Render:
            self[name] = Piece(doc, units, self._benchmarks, render)
            return render

        return taken


PIECES: Final = Pieces()
"""Of all benchmarks; those of a family are in `judges.<family>.pieces`."""


def action_text(verb: str, arguments: JsonObject) -> str:
    """An action on one line: ``place: block=gs, position=(0,1), layer=0, span_to=none``; other arguments without a value are left out."""
    reported = {name: "none" if value is None and name == "span_to" and verb == "place" else value for name, value in arguments.items()}
    given = ", ".join(f"{name}={value}" for name, value in reported.items() if value is not None)
    return f"{verb}: {given}" if given else verb


HISTORY_TURNS = 5
"""Turns before the judged one that `history` reaches back: a little more than the 12 lines of the published judge (formats section 8.5)."""


class Viewer:
    """Shows pieces of one context; a piece that several groups of questions see is made once."""

    def __init__(self, context: UnitContext) -> None:
        self._scene = context
        self._made: dict[str, list[Entry]] = {}

    def show(self, names: Sequence[str]) -> dict[str, list[Entry]]:
        """The listed pieces, in that order; nothing else can be in the result."""
        for name in names:
            if name not in self._made:
                context = self._scene
                shown = None if context.row is not None else piece(name, [context.game.benchmark])
                entries = shown.render(context) if shown else _column(context.row or {}, name)
                renamed = entries if context.renaming is None else [context.renaming.entry(entry) for entry in entries]
                self._made[name] = with_plain_names(renamed, [*context.game.agents, *(context.other.agents if context.other else ())])
        return {name: self._made[name] for name in names}


def doc(name: str, tokens: int | str, benchmarks: Iterable[str] = ()) -> str:
    """What a piece shows: one of `pieces`, which takes so many tokens if it can be long, or a column of the rubric's own query."""
    found = piece(name, benchmarks)
    return found.doc.replace("{tokens}", str(tokens)) if found else "a column of the record that is judged"


def _column(row: Mapping[str, object], name: str) -> list[Entry]:
    value = row[name]
    return [] if value is None or value == "" else [Entry(Frame.own(f"{name}:"), str(value))]


@PIECES.add("judged_agent", "who is judged: name and role", AGENT_UNITS)
def _judged_agent(context: UnitContext) -> list[Entry]:
    name = context.agent_name
    agent = context.game.agents.get(name)
    return [Entry(Frame("The agent that is judged:"), f"{one_line(name)} ({one_line(agent.role) if agent else 'role unknown'})")]


def _quoted(messages: Iterable[UtteranceView]) -> list[Entry]:
    return [Entry(Frame("{} said:", u.agent), u.text) for u in messages if u.text.strip()]


@PIECES.add("utterance", "the one public message that is judged", ("utterance",))
def _utterance(context: UnitContext) -> list[Entry]:
    return _quoted(u for u in context.now.utterances if u.seq == context.seq)


@PIECES.add("action", "the one action that is judged; not whether it worked", ("action", "event"))
def _action(context: UnitContext) -> list[Entry]:
    done = context.action
    return [] if done is None else [Entry(Frame("{} tried:", done.agent), action_text(done.verb, done.arguments))]


@PIECES.add("action_outcome", "whether the judged action was carried out", ("action", "event"))
def _action_outcome(context: UnitContext) -> list[Entry]:
    done = context.action
    if done is None or done.accepted is None:
        return []
    outcome = "carried out" if done.accepted else "refused"
    return [Entry(Frame("What came of the action:"), outcome + (f": {done.error_text}" if done.error_text else ""))]


@PIECES.add("event", "the one thing that is judged: something said, thought or tried", ("event",))
def _event(context: UnitContext) -> list[Entry]:
    spoken = (u for u in context.now.utterances if u.seq == context.seq)
    messages = [Entry(Frame("{} {}:", u.agent, "thought" if u.channel == "private" else "said"), u.text) for u in spoken if u.text.strip()]
    return messages or _action(context)


@PIECES.add("first_dialogue", "public messages and actions of the first game", ("pair",))
def _first_dialogue(context: UnitContext) -> list[Entry]:
    return _record(context.game, context.game.turns)


@PIECES.add("second_dialogue", "public messages and actions of the second game", ("pair",))
def _second_dialogue(context: UnitContext) -> list[Entry]:
    return [] if context.other is None else _record(context.other, context.other.turns)


@PIECES.add("public_message", "what the judged agent said to others this turn", AGENT_UNITS)
def _public_message(context: UnitContext) -> list[Entry]:
    return _quoted(context.now.received(context.agent_name))


@PIECES.add("private_reasoning", "what the judged agent thought this turn", AGENT_UNITS)
def _private_reasoning(context: UnitContext) -> list[Entry]:
    thoughts = (u for u in context.now.by_channel("private", context.agent_name) if not u.superseded and u.text.strip())
    return [Entry(Frame("{} thought:", u.agent), u.text) for u in thoughts]


@PIECES.add("public_messages", "what the agents of the judged roles said this turn", TURN_UNITS)
def _public_messages(context: UnitContext) -> list[Entry]:
    return _quoted(u for u in context.now.received() if context.is_judged_role(u.agent) and _reaches_others(context, u))


def _reaches_others(context: UnitContext, message: UtteranceView) -> bool:
    """Whether an agent outside the judged roles, who acts on the messages, could read it; where all agents are judged, always."""
    others = {name for name in context.game.agents if not context.is_judged_role(name)}
    return not others or not others.isdisjoint(message.audience)


@PIECES.add("other_messages", "what the other agents of the judged roles said this turn", AGENT_UNITS)
def _other_messages(context: UnitContext) -> list[Entry]:
    messages = context.now.received()
    return _quoted(u for u in messages if u.agent != context.agent_name and context.is_judged_role(u.agent))


@PIECES.add("history", f"public messages and actions of up to {HISTORY_TURNS} turns strictly before this one", TURN_UNITS)
def _history(context: UnitContext) -> list[Entry]:
    turn = context.now.turn
    return _record(context.game, (t for t in context.game.turns if turn - HISTORY_TURNS <= t.turn < turn))


@PIECES.add("dialogue", "public messages and actions of the whole game", ("episode",))
def _dialogue(context: UnitContext) -> list[Entry]:
    return _record(context.game, context.game.turns)


def _record(game: Transcript, turns: Iterable[TurnView]) -> list[Entry]:
    """Public messages, each with who of the agents did not receive it, and actions; not the state, which not everybody could see."""
    entries: list[Entry] = []
    for turn in turns:
        entries += [
            Entry(Frame("turn {}, {} said{}:", turn.turn, u.agent, _not_received(game, u)), u.text)
            for u in turn.by_channel("public")
            if u.text.strip()
        ]
        entries += [_acted(turn.turn, action) for action in turn.actions if action.accepted is not None]
    return entries


def _not_received(game: Transcript, message: UtteranceView) -> Frame:
    """Words for the head of a message: which agents were not in its audience; empty if that is none or not known."""
    absent = [name for name in game.agents if name != message.agent and name not in message.audience]
    return Frame(" ({} did not receive this)", Frame.joined(", ", absent)) if absent and message.audience else Frame()


@PIECES.add("world_before", "the whole world before this turn, as JSON, also what an agent could not see", TURN_UNITS)
def _world_before(context: UnitContext) -> list[Entry]:
    return _as_json(Frame("The world before this turn:"), context.now.state_before)


@PIECES.add("goal", "the goal, as JSON, also where no agent was shown it", (*TURN_UNITS, "episode"))
def _goal(context: UnitContext) -> list[Entry]:
    return _as_json(Frame("The goal:"), context.game.goal or {})


def _as_json(head: Frame, value: JsonObject) -> list[Entry]:
    return [Entry(head, json.dumps(value, ensure_ascii=False))] if value else []


@PIECES.add("oracle_actions", "the candidate actions that the log lists for this turn", TURN_UNITS)
def _oracle_actions(context: UnitContext) -> list[Entry]:
    listed = [action_text(o.verb, o.arguments) for o in context.now.oracle if o.listed]
    return [Entry(Frame("Candidate actions of this turn, each verified to make progress:"), "\n".join(listed))] if listed else []


# -- dialogues: order is that of the log, turn, then place inside the turn; actions follow the messages of their turn ------------------


_CHARACTERS_A_TOKEN: Final = 4
"""Of English text; the budget of a piece is a bound on its size, not on what a server counts."""
_OVERLAP: Final = 5
"""The last one in so many tokens of a window is shown again at the beginning of the next."""


def windows(game: Transcript, budget: int) -> list[range]:
    """Places in the list of messages and actions of a conversation, one range for each window, the first of them 0.

    Args:
        game: the conversation.
        budget: tokens of a window, estimated; a longer message is a window of its own.

    Returns:
        Windows that together hold everything. Each begins before the end of the one before, if its last messages take no more than a
        fifth of the budget.
    """
    sizes = [_tokens(entry) for entry in _everything(game)]
    found: list[range] = []
    start = 0
    while start < len(sizes):
        end = start + _fitting(sizes[start:], budget)
        found.append(range(start, end))
        if end == len(sizes):
            break
        back = end
        while back > start + 1 and sum(sizes[back - 1 : end]) <= budget // _OVERLAP:
            back -= 1
        # a step back must leave space for a message that the last window had not
        start = back if back < end and end - back < _fitting(sizes[back:], budget) else end
    return found


def _fitting(sizes: Sequence[int], budget: int) -> int:
    """How many of the first fit; at least one."""
    used = 0
    for count, size in enumerate(sizes):
        used += size
        if used > budget and count:
            return count
    return len(sizes)


def _tokens(entry: Entry) -> int:
    return -(-(len(entry.head) + min(len(entry.text), LONGEST_TEXT)) // _CHARACTERS_A_TOKEN)


def _within(entries: list[Entry], budget: int) -> list[Entry]:
    fitting = _fitting([_tokens(entry) for entry in reversed(entries)], budget)
    left_out = len(entries) - fitting
    return [*([_left_out(left_out, "earlier", budget)] if left_out else []), *entries[left_out:]]


def _left_out(count: int, where: str, budget: int) -> Entry:
    are = Frame("message or action is") if count == 1 else Frame("messages and actions are")
    return Entry(Frame("({} {} {} not shown: this piece has room for about {} tokens)", count, where, are, budget), "")


def _heard_before(context: UnitContext) -> Iterator[tuple[int, UtteranceView]]:
    """Messages before the judged one that its agent wrote or could read, in order, each after the number of its turn."""
    now, agent = context.now, context.agent_name
    for turn in context.game.turns:
        if turn.turn > now.turn:
            return
        for message in turn.utterances:
            if turn.turn == now.turn and (_is_judged_or_later(context, message) or _arrives_later(context, message)):
                continue
            is_own = message.agent == agent
            readable = message.channel == "public" or not is_own  # an own private text is a thought
            if readable and (is_own or (agent in message.audience and not message.superseded)) and message.text.strip():
                yield turn.turn, message


def _is_judged_or_later(context: UnitContext, message: UtteranceView) -> bool:
    """Whether a message of the judged turn is not before what is judged; of a whole turn of an agent, before its first text."""
    if context.seq is not None:
        return message.seq >= context.seq
    own = [utterance.seq for utterance in context.now.utterances if utterance.agent == context.agent_name]
    if own:
        return message.seq >= own[0]
    return is_tool(context.game, message.agent)  # results of what the agent does in this turn


def _arrives_later(context: UnitContext, message: UtteranceView) -> bool:
    """Whether agents of the judged one's role receive each other's messages only after the turn, as the log states."""
    if message.agent == context.agent_name or context.game.details.get("same_turn_messages") is not False:
        return False
    roles = [known.role for name in (message.agent, context.agent_name) if (known := context.game.agents.get(name)) is not None]
    return len(set(roles)) == 1


def is_tool(game: Transcript, agent: str) -> bool:
    """Whether an agent represents the tools, whose messages are results."""
    known = game.agents.get(agent)
    return agent == "tool" or (known is not None and known.role == "tool")


@PIECES.add(
    "said_before",
    "messages before the judged one that its agent wrote or could read, in order, and its actions of earlier turns; the last "
    "{tokens} tokens of them",
    AGENT_UNITS,
)
def _earlier_messages(context: UnitContext) -> list[Entry]:
    agent, now = context.agent_name, context.now.turn
    messages: dict[int, list[Entry]] = {}
    for turn, message in _heard_before(context):
        messages.setdefault(turn, []).append(Entry(Frame("turn {}, {} said:", turn, message.agent), message.text))
    for before in context.game.turns:
        if before.turn < now:
            messages.setdefault(before.turn, []).extend(_acted(before.turn, one) for one in before.actions if one.agent == agent)
    return _within([entry for turn in sorted(messages) for entry in messages[turn]], context.window_tokens)


def _acted(turn: int, action: ActionView) -> Entry:
    outcome = {True: ": carried out", False: ": refused", None: ""}[action.accepted]
    return Entry(Frame("turn {}, {} tried:", turn, action.agent), action_text(action.verb, action.arguments) + outcome)


@PIECES.add("reply_to", "the last message of another agent, no tool, that the judged agent could read before its own", AGENT_UNITS)
def _reply_to(context: UnitContext) -> list[Entry]:
    others = [(turn, message) for turn, message in _heard_before(context) if not _is_own_or_tool(context, message)]
    return [Entry(Frame("turn {}, {} said:", turn, message.agent), message.text) for turn, message in others[-1:]]


def _is_own_or_tool(context: UnitContext, message: UtteranceView) -> bool:
    return message.agent == context.agent_name or is_tool(context.game, message.agent)


@PIECES.add("tool_calls", "the tools that the judged agent called in this turn, with arguments; not what came of it", AGENT_UNITS)
def _tool_calls(context: UnitContext) -> list[Entry]:
    done = [action for action in context.now.actions if action.agent == context.agent_name]
    return [Entry(Frame("{} called:", action.agent), action_text(action.verb, action.arguments)) for action in done]


@PIECES.add(
    "tool_results", "what tools returned to the judged agent before the judged message, since another agent last spoke", AGENT_UNITS
)
def _tool_results(context: UnitContext) -> list[Entry]:
    """Results since another agent last spoke."""
    results: list[Entry] = []
    for turn, message in _heard_before(context):
        if is_tool(context.game, message.agent):
            results.append(Entry(Frame("turn {}, {} returned:", turn, message.agent), message.text))
        elif message.agent != context.agent_name:
            results.clear()
    return _within(results, context.window_tokens)


def _everything(game: Transcript) -> list[Entry]:
    """Messages that count, each with who of the agents did not receive it, and actions, in order."""
    entries: list[Entry] = []
    for turn in game.turns:
        heard = [message for message in turn.received() if message.text.strip()]
        entries += [
            Entry(Frame("turn {}, {} said{}:", turn.turn, message.agent, _not_received(game, message)), message.text) for message in heard
        ]
        entries += [_acted(turn.turn, action) for action in turn.actions]
    return entries


@PIECES.add(
    "conversation_window",
    "public messages and actions of a stretch of the conversation of about {tokens} tokens, with the number of messages before and after",
    ("window",),
)
def _conversation_window(context: UnitContext) -> list[Entry]:
    shown, entries = context.window, _everything(context.game)
    if shown is None:
        return []
    before, after = shown.start, len(entries) - shown.stop
    return [
        *([_left_out(before, "earlier", context.window_tokens)] if before else []),
        *entries[shown.start : shown.stop],
        *([_left_out(after, "later", context.window_tokens)] if after else []),
    ]


def piece(name: str, benchmarks: Iterable[str]) -> Piece | None:
    """The piece of a name, of all benchmarks or of these; another name loads all families. None: there is none."""
    return pieces(*benchmarks).get(name) or pieces().get(name)


@cache
def pieces(*benchmarks: str) -> Mapping[str, Piece]:
    """Name -> piece: everything that a rubric for these benchmarks can show, for any without them. The first call loads their families."""
    of_families = offered("judges", "pieces", "PIECES", benchmarks or None)
    return {name: one for found in (PIECES, *(found for _, found in of_families)) for name, one in found.items()}


class Condition(NamedTuple):
    """Something that a log shows or does not."""

    doc: str
    """As the reason of a verdict has it."""
    units: tuple[UnitKind, ...]
    """Kinds of unit it makes sense for."""
    holds: Callable[[UnitContext], bool]


def settled(questions: Iterable[Question], context: UnitContext) -> dict[str, str]:
    """Question -> the first of its conditions that holds; questions that a judge has to be asked are left out."""
    found = {question.id: next((name for name in question.na_if if CONDITIONS[name].holds(context)), None) for question in questions}
    return {question: name for question, name in found.items() if name is not None}


def _empty(piece: str) -> Callable[[UnitContext], bool]:
    return lambda context: not PIECES[piece].render(context)


def _did_not(*verbs: str) -> Callable[[UnitContext], bool]:
    """Whether the judged agent acted in the turn, and all that it did is something else."""

    def holds(context: UnitContext) -> bool:
        done = [action.verb for action in context.now.actions if action.agent == context.agent_name]
        return bool(done) and not {*verbs} & {*done}

    return holds


def _candidate_taken(context: UnitContext) -> bool:
    listed = [(one.verb, one.arguments) for one in context.now.oracle if one.listed]
    return any(action.accepted and (action.verb, action.arguments) in listed for action in context.now.actions)


def _question_asked(context: UnitContext) -> bool:
    done = context.now.actions
    return bool(done) and all(action.verb == "clarify" and action.accepted is None for action in done)


def _is_first_message(context: UnitContext) -> bool:
    before = (turn for turn in context.game.turns if turn.turn < context.now.turn)
    return not any(turn.by_channel("public", context.agent_name) for turn in before)


def _not_asked_before(context: UnitContext) -> bool:
    before = [turn for turn in context.game.turns if turn.turn == context.now.turn - 1]
    if context.now.turn > 1 and not before:
        return False  # a turn that the log lacks states nothing
    return not any(action.verb == "ask" and action.agent != context.agent_name for turn in before for action in turn.actions)


def _are_not_heard(context: UnitContext) -> bool:
    return context.game.details.get("same_turn_messages") is False


CONDITIONS: Final[Mapping[str, Condition]] = {
    "no_candidate": Condition("no candidate is listed for this turn", TURN_UNITS, _empty("oracle_actions")),
    "candidate_taken": Condition("an action that was carried out is one of the listed candidates", TURN_UNITS, _candidate_taken),
    "question_asked": Condition("the turn has a question in place of an action", TURN_UNITS, _question_asked),
    "first_turn": Condition("it is the first turn", TURN_UNITS, lambda context: context.now.turn == 1),
    "first_message": Condition("it is the first message of the judged agent", AGENT_UNITS, _is_first_message),
    "no_message": Condition("the judged agent sent no message in this turn", AGENT_UNITS, _empty("public_message")),
    "no_other_message": Condition("no other agent of the judged roles sent a message in this turn", AGENT_UNITS, _empty("other_messages")),
    "messages_not_heard": Condition("agents do not receive messages of the turn that they speak in", TURN_UNITS, _are_not_heard),
    "no_reasoning": Condition("the log has no reasoning of the judged agent in this turn", AGENT_UNITS, _empty("private_reasoning")),
    "nothing_shared": Condition("the judged agent shared nothing in this turn", AGENT_UNITS, _did_not("share")),
    "nothing_moved": Condition("the judged agent moved nothing in this turn", AGENT_UNITS, _did_not("move")),
    "no_clue": Condition("the judged agent gave no clue in this turn", AGENT_UNITS, _did_not("reveal_color", "reveal_rank")),
    "not_asked": Condition("the partner asked nothing in the turn before", AGENT_UNITS, _not_asked_before),
}
"""Name, as `na_if` has it -> the condition. What a log does not say meets none of them."""
