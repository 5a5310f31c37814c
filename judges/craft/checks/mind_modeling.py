"""Mind modelling (MM1 to MM8): a public message against the other directors' messages, the history and the own reasoning.

How truth is fixed: formats, section 12.2. MM3 (what the builder knows) is never decided: no rule of the game settles it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from games.craft.claims import CraftClaim, Named, Remark, Request, Stance, View, compatible, same_place
from games.craft.engine.board import MAX_HEIGHT, SEEN_BY, WALLS, Director
from judges.checks import Check, Decision
from judges.claims.reading import Absent, Open, Shown, TextClaims, all_whole, find_in
from judges.craft.checks.prepared import PreparedGame, PreparedTurn, Speech, agreed, game_of, undecided, wanted_now
from judges.craft.language.typed import Detail
from judges.evidence.transcript import Transcript


@dataclass(frozen=True, slots=True)
class _Subject:
    """A director's message with all it is checked against."""

    game: PreparedGame
    prepared: PreparedTurn
    director: Director
    thought: Speech | None
    message: Speech

    def others(self) -> list[Speech]:
        return [m for m in self.prepared.messages if m.agent != self.director and not m.superseded]

    def earlier(self) -> tuple[PreparedTurn, ...]:
        return self.game.before(self.prepared.view.turn)


def adds_something(subject: _Subject) -> Decision:
    """MM1: the message is about something that no other director spoke of on this turn or the one before."""
    reading = subject.message.reading
    asked = reading.whole(Request)
    if isinstance(asked, Open):
        return undecided(asked.why)
    if not asked:
        for kind in (Remark, Named):
            if not isinstance(reading.find(kind), Absent):
                return undecided("nothing is asked for, but the message may speak of a block or a place")
        return Decision("no", "the message names no action, block or place")
    if not all(request.cells for request in asked):
        return undecided("not everything that is asked for has a place")
    before = [m for prepared in subject.earlier()[-1:] for m in prepared.messages if m.agent != subject.director and not m.superseded]
    return _compared_with_others(asked, reading, [m.reading for m in (*subject.others(), *before)])


def _compared_with_others(asked: tuple[Request, ...], reading: TextClaims[CraftClaim], others: list[TextClaims[CraftClaim]]) -> Decision:
    echoes = [find_in(others, Request, partial(_repeats, request)) for request in asked]
    shown = [echo.first for echo in echoes if isinstance(echo, Shown)]
    if len(shown) == len(asked):
        return Decision("no", f"{asked[0]}: another director states the same: {shown[0]}")
    messages: tuple[Request | Remark, ...] | Open = all_whole(others, Request, Remark)
    if isinstance(messages, Open):
        return undecided("not every message of the other directors was understood")
    if not isinstance(reading.find(Stance), Absent):
        return undecided("the message refers, or may refer, to another director, whose message may not be in the log")
    new = next((request for request in asked if not any(_may_repeat(request, claim) for claim in messages)), None)
    if new is not None:
        return Decision("yes", f"{new}: no other director states this on this turn or the one before")
    return undecided(f"{asked[0]}: another director may state the same")


def _may_repeat(request: Request, other: Request | Remark) -> bool:
    """Whether another director's claim may be about the very block, as far as both are known."""
    return compatible(request, other, ignoring=() if isinstance(other, Request) else ("verb",))


def asks_for_new(subject: _Subject) -> Decision:
    """MM2: the message does not ask again for something that was asked for and done."""
    standing = subject.message.asks(lambda request: _is_still_there(subject, request))
    asked = subject.message.reading.whole(Request)
    if isinstance(asked, Open):
        return undecided(asked.why)
    if isinstance(standing, Shown):
        return Decision("no", f"{standing.first}: was carried out on an earlier turn and is there")
    if not asked:
        return undecided("nothing is asked for")
    done = next((prepared for request in asked for prepared in subject.earlier() if prepared.accepted and _did(prepared, request)), None)
    if done is not None:
        return undecided(f"may have been done on turn {done.view.turn}")
    return Decision("yes", f"{asked[0]}: no earlier move did this")


def carries_reasoning_over(subject: _Subject) -> Decision:
    """MM4: the message states what the reasoning arrived at, with all its attributes."""
    thought = subject.thought
    if thought is None:
        return undecided("the log has no reasoning to compare")
    for speech in (thought, subject.message):
        if isinstance(whole := speech.reading.whole(Request, Remark, Named), Open):
            return undecided(whole.why)
    meant, asked = thought.reading.whole(Request), subject.message.reading.whole(Request)
    if not isinstance(meant, Open) and not isinstance(asked, Open) and meant and all(one.cells and one.color for one in meant):
        twins = {request: next((one for one in asked if _covers(subject, request, one)), None) for request in meant}
        lost = [
            one for one, twin in twins.items() if twin is None and (one.when == "now" or any(compatible(one, message) for message in asked))
        ]
        if not lost:
            return Decision("yes", f"{meant[0]}: the message states the same: {twins[meant[0]]}")
    wanted, message = thought.only(), subject.message.only()
    if not isinstance(wanted, Request) or not wanted.cells:
        return undecided("the reasoning asks for nothing that has a place, or for several things")
    if isinstance(message, Request) and message.cells and not message.stated:
        return undecided(f"{message}: its place is not stated in so many words")
    return _lost(wanted, subject.message)


def _covers(subject: _Subject, wanted: Request, reply: Request) -> bool:
    """Whether a message states all that a reasoning arrived at; it may add the next free layer, and the size that the view shows there."""
    parts = ((wanted.verb, reply.verb), (wanted.color, reply.color))
    heights = {subject.prepared.board.height(cell) for cell in wanted.cells}
    layers = {wanted.layer} if wanted.layer is not None else {None, *heights}
    return (
        reply.stated
        and set(reply.cells) == set(wanted.cells)
        and all(meant == claimed for meant, claimed in parts)
        and reply.layer in layers
        and (wanted.size == reply.size or (wanted.size is None and _shows_size(subject, reply)))
    )


def _shows_size(subject: _Subject, reply: Request) -> bool:
    """Whether the director's view has a block of this colour and size there, on the layer that is named or the next one."""
    if not reply.one_block or not reply.on_wall(subject.director) or not subject.game.has_view(subject.director):
        return False
    layer = reply.layer if reply.layer is not None else max(map(subject.prepared.board.height, reply.cells))
    return all(
        layer < MAX_HEIGHT and subject.game.shown(subject.director, cell, layer) == (reply.color, reply.size) for cell in reply.cells
    )


def _lost(wanted: Request, message: Speech) -> Decision:
    reply = message.only()
    if isinstance(reply, Open):
        return undecided(reply.why)
    if isinstance(reply, Request) and reply.place_open:
        return undecided(f"{reply}: where that is, is not clear")
    if isinstance(reply, Absent) or not reply.cells:
        return Decision("no", f"{wanted}: the message names no place")
    if set(reply.cells) < set(wanted.cells):
        return Decision("no", f"{wanted}: the message leaves out a cell: {reply}")
    pairs = {"verb": (wanted.verb, reply.verb), "color": (wanted.color, reply.color), "size": (wanted.size, reply.size)}
    pairs["layer"] = (wanted.layer, reply.layer)  # type: ignore[assignment]
    differing = [name for name, pair in pairs.items() if None not in pair and pair[0] != pair[1]]
    if differing or set(wanted.cells).isdisjoint(reply.cells):
        return Decision("no", f"{wanted}: the message contradicts it in {', '.join(differing) or 'cells'}: {reply}")
    return undecided(f"{wanted}: the message leaves something out, or names more cells: {reply}")


def speaks_of_own_cells(subject: _Subject) -> Decision:
    """MM5: the message is about cells that only this director sees."""
    named: tuple[Named | Request | Remark, ...] | Open = subject.message.reading.whole(Named, Request, Remark)
    if isinstance(named, Open):
        return undecided(named.why)
    cells = sorted({cell for one in named for cell in ((one.cell,) if isinstance(one, Named) else one.cells)})
    if not cells:
        return undecided("the message names no cell")
    own = [cell for cell in cells if SEEN_BY[cell] == (subject.director,)]
    if not own:
        return Decision("no", f'"{named[0].words}": others see {", ".join(cells)} too, or {subject.director} does not')
    large = [one for one in named if not isinstance(one, Named) and one.size == "l"]
    if len(own) == len(cells) or (2 * len(own) > len(cells) and not large):
        return Decision("yes", f'"{named[0].words}": only {subject.director} sees {", ".join(own)} of {", ".join(cells)}')
    if any({*cells} == {*one.cells} for one in large) or 2 * len(own) == len(cells):
        return Decision("unclear", f"{', '.join(cells)}: as many that only {subject.director} sees as others")
    return undecided(f"{', '.join(cells)}: some only {subject.director} sees, some not")


def only_own_cells(subject: _Subject) -> Decision:
    """MM5 since version 2: as before, and unclear if the message speaks of places of both kinds."""
    named = subject.message.reading.whole(Named)
    if isinstance(named, Open) or not isinstance(asked := subject.message.reading.whole(Request, Remark), tuple):
        return speaks_of_own_cells(subject)
    kinds = {SEEN_BY[cell] == (subject.director,) for cell in (*(one.cell for one in named), *(c for one in asked for c in one.cells))}
    if len(kinds) != 1:
        return Decision("unclear", "the message speaks of places of both kinds" if kinds else "the message names no place")
    return speaks_of_own_cells(subject)


def can_be_executed(subject: _Subject) -> Decision:
    """MM6: action, block and place are given, with the second cell of a large block, for all that the message wants now."""
    asked = subject.message.reading.whole(Request)
    if isinstance(asked, Open):
        return undecided(asked.why)
    now = wanted_now(asked)
    gone = next((one for one in now if one.verb == "remove" and one.complete and not _is_on_top(subject.prepared, one)), None)
    if gone is not None:
        return undecided(f"{gone}: all is given, but that block is not there to be removed")
    if now and all(request.complete or (request.verb == "place" and replace(request, layer=0).complete) for request in now):
        return Decision("yes", f"{now[0]}: all is given")
    if not now:
        whole = subject.message.reading.whole(Request, Remark, Named)
        empty = not isinstance(whole, Open) and not whole
        return Decision("no", "the message names no action, block or place") if empty else undecided("nothing is asked for now")
    missing = [_missing(request) for request in now]
    if any(missing) and isinstance(detail := subject.message.reading.whole(Detail), Open):
        return undecided(detail.why)
    return Decision("no", f"{now[0]}: {missing[0]} is not given") if all(missing) else undecided(f"{now[0]}: not all of it is given")


def _missing(request: Request) -> str:
    """Give what a request lacks; a removal needs no more than its cell: the top block there is the one to go."""
    if request.verb == "place" and request.color is None:
        return "a colour"
    if request.verb == "place" and request.size is None:
        return "a size"
    if not request.cells and not request.place_open:
        return "a place"
    return "the second cell of a large block" if request.verb == "place" and request.size == "l" and len(request.cells) == 1 else ""


def settles_conflict(subject: _Subject, others: Sequence[Speech] | None = None) -> Decision:
    """MM7: a contradiction by another director on this turn is acknowledged; N/A if no one speaks of these cells."""
    asked = subject.message.reading.whole(Request)
    if isinstance(asked, Open) or not asked or not all(request.cells for request in asked):
        return undecided(asked.why if isinstance(asked, Open) else "not everything that is asked for has a place")
    others = subject.others() if others is None else others
    cells = {cell for request in asked for cell in request.cells}
    if isinstance(find_in([m.reading for m in others], Named, lambda named: named.cell in cells), Absent):
        return Decision("na", "no other message of this turn is about these cells")
    for other in others:
        for request in asked:
            against = other.asks(partial(_contradicts, request))
            if isinstance(against, Shown):
                return _settled(subject.message, other, f"{request}: {other.agent} contradicts it ({against.first})")
    messages: tuple[Request | Remark, ...] | Open = all_whole([m.reading for m in others], Request, Remark)
    if not isinstance(messages, Open) and not any(_may_contradict(request, claim) for request in asked for claim in messages):
        return Decision("na", "no other message of this turn wants another block there")
    return undecided("another message may be about these cells, without a contradiction that could be read")


def _may_contradict(request: Request, other: Request | Remark) -> bool:
    """Whether two claims may want different blocks in one place; one that gives no place may be about any."""
    apart = {*request.cells}.isdisjoint(other.cells) if other.cells else isinstance(other, Remark)
    layers = None not in (request.layer, other.layer) and request.layer != other.layer
    agree = request.color == other.color and request.size == other.size and (isinstance(other, Remark) or request.verb == other.verb)
    return not (apart or layers or agree)


def _settled(message: Speech, other: Speech, conflict: str) -> Decision:
    match message.reading.find(Stance, lambda stance: stance.director in (other.agent, None)):
        case Shown((stance, *_)) if stance.director == other.agent and stance.attitude == "disputes":
            return Decision("yes", f'{conflict}, which the message takes up: "{stance.words}"')
        case Absent():
            return Decision("no", f"{conflict}, which the message passes over")
    return undecided(f"{conflict}, and it is not clear whether the message takes that up")


def knows_who_sees(subject: _Subject) -> Decision:
    """MM8: the message tells which part only this director sees, or which is shared."""
    match subject.message.reading.find(View):
        case Shown((view, *_)) if view.seen_by != "seat":
            return Decision("yes", f'states who sees the place: "{view.words}"')
        case Shown((view, *_)):
            whole = subject.message.reading.whole(View, Stance)
            if isinstance(whole, Open):
                return undecided(whole.why)
            return Decision("unclear", f'speaks from its own side ("{view.words}") without saying who else sees the place')
        case Open(why):
            return undecided(why)
    return Decision("no", "no word of the message ties the place to anybody's view")


def states_who_sees(subject: _Subject) -> Decision:
    """MM8 since version 2: as before, but a message that only states "my" is left open.

    Version 2 calls that a "no", while people who rated version 1 called it unclear; no one has rated version 2 yet.
    """
    found = knows_who_sees(subject)
    return undecided(found.reason) if found.answer == "unclear" else found


def settles_what_it_heard(subject: _Subject) -> Decision:
    """MM7 since version 2: as before, but of a contradiction that the director could not hear nothing is asked.

    Undecided where there may be one that it could not hear, or the log does not say whether directors of a turn hear one another.
    """
    heard = subject.game.transcript.details.get("same_turn_messages") is True
    others = [m for m in subject.others() if m.seq < subject.message.seq] if heard else subject.others()
    found = settles_conflict(subject, others)
    return found if heard or found.answer == "na" else undecided(f"not known to have been heard: {found.reason}")


def _repeats(request: Request, other: Request) -> bool:
    same = request.color is not None and request.color == other.color and request.verb == other.verb
    return same and bool(other.cells) and same_place(request, other) and compatible(request, other)


def _is_still_there(subject: _Subject, request: Request) -> bool:
    """Whether a requested placement was carried out on an earlier turn and the block is still there."""
    if request.verb != "place" or request.layer is None or not request.cells:
        return False
    board = subject.prepared.board
    there = [board.stack(cell)[request.layer : request.layer + 1] for cell in request.cells]
    if not all(blocks and blocks[0][0] == request.color and request.size in (None, blocks[0][1:]) for blocks in there):
        return False
    return any(prepared.accepted and _did(prepared, request) for prepared in subject.earlier())


def _did(prepared: PreparedTurn, request: Request) -> bool:
    """Whether a turn's attempted move may be what is requested: nothing that is named of it differs."""
    move = prepared.attempted
    if move is None or move.action != request.verb or (request.cells and move.covered().isdisjoint(request.cells)):
        return False
    if request.layer not in (None, move.layer):
        return False
    return move.block is None or (request.color in (None, move.block[:1]) and request.size in (None, move.block[1:]))


def _is_on_top(prepared: PreparedTurn, request: Request) -> bool:
    stacks = [prepared.board.stack(cell) for cell in request.cells]
    return all(stack and stack[-1][0] == request.color and request.layer == len(stack) - 1 for stack in stacks)


def _contradicts(request: Request, other: Request) -> bool:
    if not request.cells or not other.cells or not same_place(request, other) or None in (request.layer, other.layer):
        return False
    pairs = ((request.verb, other.verb), (request.color, other.color), (request.size, other.size))
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def considers_builder(subject: _Subject) -> Decision:
    """MM3: the message takes into account what the builder knows. Never decided."""
    return undecided(f"no rule of the game settles what the builder knows of {subject.director}'s wall")


def _check(answer: Callable[[_Subject], Decision]) -> Check:
    def check(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        director = next((name for name in WALLS if name == agent), None)
        if director is None:
            return undecided(f"{agent or 'no agent'} is not a director")
        game = game_of(transcript)
        prepared = game.prepared(turn)
        if not any(u.agent == director for u in prepared.view.utterances):
            return undecided(f"{director} did not speak on this turn")
        messages = [_answered(answer, game, prepared, director, one) for one in prepared.spoken(director)]
        return agreed(messages, "the director spoke more than once in this turn")

    return check


def _answered(
    answer: Callable[[_Subject], Decision],
    game: PreparedGame,
    prepared: PreparedTurn,
    director: Director,
    messages: tuple[Speech | None, Speech | None],
) -> Decision:
    thought, message = messages
    if message is None and answer is carries_reasoning_over and thought is None:
        return undecided("there is neither reasoning nor message to compare")
    if message is None:
        return Decision("no", "the message is empty") if answer in _EMPTY_FAILS else undecided("the message is empty")
    return answer(_Subject(game, prepared, director, thought, message))


_QUESTIONS: Final[Iterable[Callable[[_Subject], Decision]]] = (
    adds_something,
    asks_for_new,
    considers_builder,
    carries_reasoning_over,
    speaks_of_own_cells,
    can_be_executed,
    settles_conflict,
    knows_who_sees,
)

_EMPTY_FAILS: Final = (adds_something, carries_reasoning_over, can_be_executed)
"""What an empty message, or a placeholder, does not do."""

CHECKS: Final[dict[str, Check]] = {
    **{f"craft.MM{number}": _check(answer) for number, answer in enumerate(_QUESTIONS, start=1)},
    "craft.MM5_places": _check(only_own_cells),
    "craft.MM7_heard": _check(settles_what_it_heard),
    "craft.MM8_said": _check(states_who_sees),
}
