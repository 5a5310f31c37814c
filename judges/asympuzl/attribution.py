"""Who lost what in an AsymPuzl game, turn by turn, and what became of each message.

What a turn had to bring about is a list of positions: that both hypotheses are right at its end or, while A cannot conclude a color, that
it can. Each position that is missing has its causes: the agent was informed of it, or knew by feedback or its own clues, and did not set it
right; its partner did not report it, or reported it wrong; the harness lost an answer. Several causes share a position, since no single
repair is enough, and positions share the cost. Where a message that bears on a position was not understood, no agent is at fault for it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from games.asympuzl.facts import Facts, read_facts
from games.asympuzl.labels import DoneTurn, contradicts
from games.asympuzl.puzzle import AGENTS, Agent, Entry, Puzzle, other
from games.asympuzl.value import Standing, concluded
from judges.asympuzl.checks import history_of
from judges.attribution.findings import NOTHING, Attributed, Finding, Follow, How, Link, Lost, not_understood, undecided
from judges.evidence.transcript import Transcript


def facts_and_answers(game: Transcript) -> Iterator[Follow]:
    """Each fact when it is first reported, and whether the partner's next answer has it: B's of the same turn, A's of the next one."""
    history = history_of(game)
    for agent in AGENTS:
        known: set[object] = set()
        for view in game.turns:
            reply = next((one for one in view.by_channel("public", agent) if not one.superseded), None)
            heard_in = view.turn if agent == "A" else view.turn + 1
            heard = history.until(heard_in, other(agent))
            if reply is None or not heard:
                continue
            for text, how, right in _stated_facts(history.puzzle, reply.text, agent, heard[-1]):
                if text not in known:
                    known.add(text)
                    yield Follow(view.turn, reply.seq, agent, other(agent), text, how, right)


def _stated_facts(puzzle: Puzzle, message: str, agent: Agent, hearer: DoneTurn) -> Iterator[tuple[str, How, bool]]:
    """Each fact of a message, what the hearer made of it, and whether it is true."""
    facts = read_facts(message, puzzle.spoken, agent)
    if facts.unread:  # another clause may take back or change what this one tells
        return
    for place, shape in sorted(facts.order):
        is_own_list = agent == "B" and puzzle.clues_b[place - 1 : place] and puzzle.clues_b[place - 1].shape == shape
        if 1 <= place <= puzzle.size and not is_own_list:
            was, has = hearer.before[place - 1].shape, hearer.after[place - 1].shape
            yield f"{shape} at position {place}", _how({has}, {was}, shape), puzzle.truth[place - 1].shape == shape
    for shape, color in sorted(facts.colors):
        before, after = _colors(hearer.before, shape), _colors(hearer.after, shape)
        yield f"{shape} is {color}", _how(after, before, color), color in _colors(puzzle.truth, shape)


def _how(after: AbstractSet[str], before: AbstractSet[str], reported: str) -> How:
    if reported in after:
        return "fully"
    return "no" if after == before else "differs"


def _colors(entries: Sequence[Entry], shape: str) -> set[str]:
    return {entry.color for entry in entries if entry.shape == shape and entry.color is not None}


MEASURES: Final = ("asympuzl.know",)

_SHOWN: Final = 1
"""Messages that are shown where the log does not say how many, as in the paper."""
_DETAILED: Final = {"own_detailed", "both_detailed"}
_SOLVED_OR_NOT: Final = {"own", "both"}


class _Cause(NamedTuple):
    """Why a position is missing."""

    agent: Agent | None
    """None: the harness, or what was not understood."""
    link: Link
    evidence: str


class _Turn(NamedTuple):
    """A turn with what came before it."""

    puzzle: Puzzle
    number: int
    done: Mapping[Agent, DoneTurn]
    earlier: Mapping[Agent, Sequence[DoneTurn]]
    """Agent -> what it did in the turns before."""
    shown: int | None
    """How many messages of its partner an agent is shown; None: all."""
    feedback: str | None
    """Its mode; None if the log does not say."""
    lost: Mapping[tuple[int, str], str]
    """(turn, agent) -> why its answer may be lost by no fault of its own."""

    def heard(self, agent: Agent, *, after: bool = False) -> Sequence[DoneTurn]:
        """The partner's answers whose messages the agent is shown in this turn or, ``after`` it, in the next one."""
        partner = other(agent)
        messages = [*self.earlier[partner], *([self.done[partner]] if after or agent == "B" else [])]
        return messages if self.shown is None else messages[max(0, len(messages) - self.shown) :]

    def facts(self, reply: DoneTurn) -> Facts:
        return read_facts(reply.message, self.puzzle.spoken, reply.agent)


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Find what was missing after each turn, and whose it was; see `judges.attribution.findings.Attribute`."""
    history = history_of(transcript)
    shown, feedback = transcript.details.get("history_length", _SHOWN), transcript.details.get("feedback_mode")
    replies = transcript.details.get("lost_replies", {})
    lost_replies = {(int(turn), agent): str(why) for turn, found in replies.items() for agent, why in found.items()}
    earlier: dict[Agent, list[DoneTurn]] = {agent: [] for agent in AGENTS}
    findings: list[Finding] = []
    for view in transcript.turns:
        played = {agent: found[-1] for agent in AGENTS if (found := history.until(view.turn, agent))}
        value = lost.get(view.turn)
        if value is not None and len(played) < len(AGENTS) and value.cost > NOTHING:
            findings.append(undecided(view.turn, value.cost, "the turn is incomplete: only one agent has answered"))
        elif value is not None and len(played) == len(AGENTS):
            before = {agent: tuple(done) for agent, done in earlier.items()}
            findings += _of_turn(_Turn(history.puzzle, view.turn, played, before, shown, feedback, lost_replies), value)
        for agent, done in played.items():
            earlier[agent].append(done)
    return Attributed(findings, [*facts_and_answers(transcript)])


def _of_turn(turn: _Turn, lost: Lost) -> Iterator[Finding]:
    if lost.cost <= NOTHING:
        return
    missing = list(_unreported(turn) if lost.before > 1 else _unwritten(turn))
    if not missing:
        yield undecided(turn.number, lost.cost, "nothing that was missing could be read from the messages")
        return
    shares: defaultdict[tuple[Agent | None, Link], list[float]] = defaultdict(list)
    reported: dict[tuple[Agent | None, Link], str] = {}
    for causes in missing:
        for cause in causes:
            shares[cause.agent, cause.link].append(1 / len(causes))
            reported.setdefault((cause.agent, cause.link), cause.evidence)
    alone = len({agent for agent, _ in shares}) == 1
    for (agent, link), parts in shares.items():
        cost, evidence = lost.cost * sum(parts) / len(missing), f"{reported[agent, link]}; {_count(len(parts))} missing"
        if link == "not_understood":
            yield not_understood(turn.number, cost, evidence)
        else:
            yield Finding(turn.number, agent, link, cost, evidence, cost if alone and agent is not None else None)


def _count(positions: int) -> str:
    return "1 position was" if positions == 1 else f"{positions} positions were"


def _unwritten(turn: _Turn) -> Iterator[Sequence[_Cause]]:
    """The causes of each position that is wrong after a turn in which it could be right."""
    for agent in AGENTS:
        done, heard = turn.done[agent], turn.heard(agent)
        for position, (has, belongs) in enumerate(zip(done.after, turn.puzzle.truth, strict=True), start=1):
            if has != belongs:
                yield _causes(turn, agent, position, heard)


def _unreported(turn: _Turn) -> Iterator[Sequence[_Cause]]:
    """The causes of each position whose color A cannot conclude after a turn in which B could tell it."""
    heard = turn.heard("A", after=True)
    shown = {agent: [message.message for message in turn.heard(other(agent), after=True)] for agent in AGENTS}
    after = Standing({agent: done.after for agent, done in turn.done.items()}, shown)
    known, before = concluded(turn.puzzle, after, "A"), turn.heard("A")
    for position in range(1, turn.puzzle.size + 1):
        if position not in known:
            had = _is_informed(turn, "A", position, before) or _was_right(turn, "A", position)
            yield _causes(turn, "A", position, before if had else heard)


def _causes(turn: _Turn, agent: Agent, position: int, heard: Sequence[DoneTurn]) -> Sequence[_Cause]:
    own = _own_fault(turn, agent, position, heard)
    if _is_informed(turn, agent, position, heard) or (own and own.link == "acted_wrong" and _was_right(turn, agent, position)):
        unread = _unread(turn, heard)
        return [own] if own and (own.link in ("format", "harness") or not unread) else [_Cause(None, "not_understood", unread)]
    partners = _partners_fault(turn, agent, position, heard)
    return [partners, own] if own else [partners]


def _own_fault(turn: _Turn, agent: Agent, position: int, heard: Sequence[DoneTurn]) -> _Cause | None:
    """What the agent itself did wrong by what it had seen and been informed of; None: it could not know better."""
    done, belongs = turn.done[agent], turn.puzzle.truth[position - 1]
    was, has = done.before[position - 1], done.after[position - 1]
    if not done.parse_ok:
        return _unreadable(turn, done, f"position {position}: its answer cannot be read")
    if any(move.fault for move in done.moves if move.position in (None, position)):
        return _Cause(agent, "format", f"position {position}: its answer, or an action in it, cannot be read")
    found_entry = (
        f"position {position} has {has.shape} {has.color or 'without color'}, and {belongs.shape} {belongs.color} could be concluded"
    )
    is_informed = _is_informed(turn, agent, position, heard)
    if is_informed and was != belongs:
        return _Cause(agent, "misread" if has != was else "not_heard", f"{found_entry} from what {other(agent)} had reported")
    why = "" if was != belongs else f"and {other(agent)} had reported it" if is_informed else _knew(turn, agent, position)
    if why:
        return _Cause(agent, "acted_wrong", f"{found_entry}: it was right before, {why}")
    clues = turn.puzzle.clues(agent)
    is_against = has.shape != clues[position - 1].shape if agent == "A" else has not in clues
    found_entry = f"position {position} has {has.shape} {has.color or 'without color'}, against its own clues"
    return _Cause(agent, "acted_wrong", found_entry) if is_against else None


def _was_right(turn: _Turn, agent: Agent, position: int) -> bool:
    return turn.done[agent].before[position - 1] == turn.puzzle.truth[position - 1] and bool(_knew(turn, agent, position))


def _knew(turn: _Turn, agent: Agent, position: int) -> str:
    """By what an agent knew that its right entry was right; empty: it could not know."""
    if turn.number > 1 and turn.feedback in _DETAILED:
        return "and the feedback confirmed it"
    if turn.number > 1 and turn.feedback in _SOLVED_OR_NOT and turn.done[agent].before == turn.puzzle.truth:
        return "and the feedback confirmed all its positions"
    reported = next((message for message in reversed(turn.earlier[other(agent)]) if _is_informed(turn, agent, position, [message])), None)
    return "" if reported is None else f"and {other(agent)} had reported it in turn {reported.turn}"


def _is_informed(turn: _Turn, agent: Agent, position: int, heard: Sequence[DoneTurn]) -> bool:
    """Whether the partner's messages informed an agent of what it lacks of a position, and nothing else of it."""
    belongs, facts = turn.puzzle.truth[position - 1], [turn.facts(message) for message in heard]
    if agent == "B":
        return {shape for found in facts for place, shape in found.order if place == position} == {belongs.shape}
    reported = {color for found in facts for shape, color in found.colors if shape == belongs.shape}
    return reported | {color for found in facts for place, color in found.places if place == position} == {belongs.color}


def _partners_fault(turn: _Turn, agent: Agent, position: int, heard: Sequence[DoneTurn]) -> _Cause:
    partner, belongs = other(agent), turn.puzzle.truth[position - 1]
    known = f"{belongs.shape} at position {position}" if partner == "A" else f"{belongs.shape} is {belongs.color}"
    unread = _unread(turn, heard)
    if unread:
        return _Cause(None, "not_understood", unread)
    if not heard:
        return _Cause(partner, "not_said", f"its clues have {known}; it had written nothing yet")
    wrong = next((message for message in reversed(heard) if contradicts(turn.facts(message), position, turn.puzzle, partner)), None)
    if wrong is not None:
        return _Cause(partner, "wrong_instruction", f'its clues have {known}; it wrote "{wrong.message}"')
    if not heard[-1].parse_ok:
        return _unreadable(turn, heard[-1], f"its clues have {known}, and its answer cannot be read")
    return _Cause(partner, "not_said", f'its clues have {known}; it wrote "{heard[-1].message}"')


def _unreadable(turn: _Turn, done: DoneTurn, evidence: str) -> _Cause:
    why = turn.lost.get((done.turn, done.agent))
    return _Cause(None, "harness", f"{done.agent}: {why}") if why else _Cause(done.agent, "format", evidence)


def _unread(turn: _Turn, heard: Sequence[DoneTurn]) -> str:
    """Whose message was not understood, and which words of it; empty if all were."""
    found = ((message, unread) for message in heard if (unread := turn.facts(message).unread))
    return next(
        (f"{message.agent}'s message of turn {message.turn} was not understood: {'; '.join(unread)}" for message, unread in found), ""
    )
