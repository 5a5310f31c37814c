"""Mind modelling (MM1 to MM8): a public message against the other directors' messages, the history and the own reasoning.

How truth is fixed: formats, section 12.2. MM3 (what the builder knows) is never decided: no rule of the game settles it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from games.craft.engine.blocks import SEEN_BY, WALLS, Director
from judges.craft.checks.evidence import Game, Scene, Speech, game_of, undecided
from judges.craft.checks.requests import Request, compatible, same_place
from judges.craft.checks.vocabulary import (
    claims_exclusive_view,
    claims_shared_view,
    has_perspective,
    mentions_director,
    names_disagreement,
    names_place,
    text_colors,
    text_sizes,
    without_sides,
    without_view_remarks,
)
from judges.engine.checks import Check, Decision
from judges.evidence.transcript import Transcript

__all__ = ["CHECKS"]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A director's message with all it is checked against."""

    game: Game
    scene: Scene
    director: Director
    message: Speech | None
    """None if it is empty or a placeholder."""

    def others(self) -> list[Speech]:
        """Other directors' messages of this turn."""
        return [m for m in self.scene.messages if m.agent != self.director]

    def earlier(self) -> tuple[Scene, ...]:
        return self.game.before(self.scene.view.turn)


def adds_something(subject: _Subject) -> Decision:
    """MM1: the message is about something that no other director spoke of on this turn or the one before."""
    message = subject.message
    if message is None or _is_empty(message):
        return Decision("no", "the message names no action, block or place")
    if not message.requests or not all(r.cells for r in message.requests):
        return undecided("what the message asks for, and where, could not be read wholly")
    before = subject.earlier()[-1:]
    others = subject.others() + [m for scene in before for m in scene.messages if m.agent != subject.director]
    echoed = [(r, o) for r in message.requests for m in others if not m.superseded for o in m.requests if _repeats(r, o)]
    if echoed:
        return _if_all_repeat(message, others, echoed[0])
    return _unless_touched(message, others)


def _unless_touched(message: Speech, others: list[Speech]) -> Decision:
    blurred = [m for m in others if _has_hidden_place(m)]
    if blurred:
        return undecided(f"{blurred[0].agent}'s message could not be read wholly")
    touched = [m for m in others if not m.cells.isdisjoint(cell for r in message.requests for cell in r.cells)]
    if touched:
        return undecided(f"{touched[0].agent} speaks of the same cell, without saying the same")
    if mentions_director(without_sides(without_view_remarks(message.text))):
        return undecided("the message refers to another director, whose message may not be in the log")
    return Decision("yes", f"{message.requests[0]}: no other director names a cell of it on this turn or the one before")


def _if_all_repeat(message: Speech, others: list[Speech], example: tuple[Request, Request]) -> Decision:
    said = [o for m in others for o in m.requests]
    if all(any(_repeats(r, o) for o in said) for r in message.requests):
        return Decision("no", f"{example[0]}: another director says the same: {example[1]}")
    return undecided("a part of the message repeats another director, a part does not")


def asks_for_new(subject: _Subject) -> Decision:
    """MM2: the message does not ask again for something that was asked for and done."""
    message = subject.message
    if message is None or not message.requests or not all(r.cells and r.color for r in message.requests):
        return undecided("what the message asks for, and where, could not be read wholly")
    standing = [r for r in message.requests if _stands(subject, r)]
    if standing and len(standing) == len(message.requests):
        return Decision("no", f"{standing[0]}: was carried out on an earlier turn and still stands")
    if standing:
        return undecided(f"{standing[0]}: stands already, but the message asks for more")
    return _unless_known(subject, message)


def _unless_known(subject: _Subject, message: Speech) -> Decision:
    past = [(scene, o) for scene in subject.earlier() for m in scene.messages for o in m.requests]
    asked = next((scene for r in message.requests for scene, o in past if _might_repeat(r, o)), None)
    if asked is not None:
        return undecided(f"was, or might have been, asked for on turn {asked.view.turn}, and does not stand")
    done = next((scene for r in message.requests for scene in subject.earlier() if _did(scene, r)), None)
    if done is not None:
        return undecided(f"was tried or done on turn {done.view.turn}, and does not stand")
    if any(_has_hidden_place(m) for scene in subject.earlier()[-1:] for m in scene.messages):
        return undecided("the messages of the turn before could not be read wholly")
    return Decision("yes", f"{message.requests[0]}: never asked for or carried out before")


def carries_reasoning_over(subject: _Subject) -> Decision:
    """MM4: the message says what the reasoning arrived at, with all its attributes."""
    thought, message = subject.scene.thought(subject.director), subject.message
    if thought is None or message is None:
        return undecided("there is no reasoning, or no message, to compare")
    if len(thought.main) != 1 or not thought.main[0].cells:
        return undecided("the reasoning's request could not be read, or there are several")
    return _carried(thought.main[0], message)


def _carried(wanted: Request, message: Speech) -> Decision:
    if _is_empty(message):
        return Decision("no", f"{wanted}: the message names nothing of it")
    if len(message.requests) != 1:
        return undecided("no request could be read from the message, or there are several")
    said = message.requests[0]
    if said.stated:
        return _compared(wanted, said)
    if said.cells or names_place(message.text):
        return undecided(f"{said}: its place is not said in so many words")
    return Decision("no", f"{wanted}: the message names no place")


def _compared(wanted: Request, said: Request) -> Decision:
    if set(said.cells) < set(wanted.cells):
        return Decision("no", f"{wanted}: the message leaves out a cell: {said}")
    pairs = {name: (_of(wanted, name), _of(said, name)) for name in ("verb", "color", "size", "layer")}
    differing = [name for name, pair in pairs.items() if None not in pair and pair[0] != pair[1]]
    if set(wanted.cells).isdisjoint(said.cells):
        differing.append("cells")
    if differing:
        return Decision("no", f"{wanted}: the message contradicts it in {', '.join(differing)}: {said}")
    if set(said.cells) != set(wanted.cells):
        return undecided(f"{wanted}: the message names more cells: {said}")
    if None in pairs["verb"]:
        return undecided(f"{wanted}: the action is not clear")
    lost = [name for name, (thought, told) in pairs.items() if thought is not None and told is None]
    if lost:
        return undecided(f"{wanted}: the message leaves out {', '.join(lost)}")
    return Decision("yes", f"{wanted}: the message says the same: {said}")


def speaks_of_own_cells(subject: _Subject) -> Decision:
    """MM5: the message is about cells that only this director sees."""
    message = subject.message
    if message is None or not message.requests or not all(r.cells for r in message.requests):
        return undecided("the places of the message could not be read wholly")
    cells = sorted({cell for r in message.requests for cell in r.cells})
    own = [cell for cell in cells if SEEN_BY[cell] == (subject.director,)]
    if len(own) == len(cells):
        return Decision("yes", f"{message.requests[0]}: only {subject.director} sees {', '.join(cells)}")
    if own:
        return undecided(f"{', '.join(cells)}: some only {subject.director} sees, some not")
    return Decision("no", f"{message.requests[0]}: others see {', '.join(cells)} too, or {subject.director} does not")


def can_be_executed(subject: _Subject) -> Decision:
    """MM6: action, block and place are given, with the second cell of a large block."""
    message = subject.message
    if message is None or _is_empty(message):
        return Decision("no", "the message names no action, block or place")
    if len(message.requests) != 1:
        return undecided("the message has no request that could be read, or several")
    request = message.requests[0]
    if request.complete:
        if request.verb == "remove" and not _stands_on_top(subject.scene, request):
            return undecided(f"{request}: all is given, but that block is not there to be removed")
        return Decision("yes", f"{request}: all is given")
    missing = _certainly_missing(message, request)
    if missing:
        return Decision("no", f"{request}: {missing} is not given")
    return undecided(f"{request}: not all of it could be read")


def settles_conflict(subject: _Subject) -> Decision:
    """MM7: a contradiction by another director on this turn is acknowledged; N/A if nobody speaks of these cells."""
    message = subject.message
    if message is None or not message.requests or not all(r.cells for r in message.requests):
        return undecided("what the message asks for, and where, could not be read wholly")
    others = [m for m in subject.others() if not m.superseded]
    cells = {cell for r in message.requests for cell in r.cells}
    if not any(_has_hidden_place(m) for m in others) and all(m.cells.isdisjoint(cells) for m in others):
        return Decision("na", "no other message of this turn is about these cells")
    against = [(m, r, o) for m in others for r in message.requests for o in m.requests if _contradicts(r, o)]
    if not against:
        return undecided("another message may be about these cells, without a contradiction that could be read")
    other, request, opposed = against[0]
    text = without_view_remarks(message.text)
    words, named = names_disagreement(text), mentions_director(text, other.agent)
    if words is not None and named:
        return Decision("yes", f'{request}: {other.agent} says otherwise ({opposed}), which the message takes up: "{words}"')
    if words is None and not mentions_director(without_sides(text), other.agent):
        return Decision("no", f"{request}: {other.agent} says otherwise ({opposed}), which the message passes over")
    return undecided(f"{request}: {other.agent} says otherwise, and it is not clear whether the message takes that up")


def knows_who_sees(subject: _Subject) -> Decision:
    """MM8: the message tells which part only this director sees, or which is shared."""
    message = subject.message
    if message is None:
        return undecided("the message is empty")
    words = claims_exclusive_view(message.text) or claims_shared_view(message.text)
    if words is not None:
        return Decision("yes", f'says who sees the place: "{words}"')
    if not has_perspective(message.text):
        return Decision("no", "no word of the message ties the place to anybody's view")
    return undecided("the message speaks from a seat without saying who else sees the place")


def _repeats(request: Request, other: Request) -> bool:
    colors = request.color is not None and request.color == other.color
    return (
        colors
        and bool(other.cells)
        and None is not request.verb == other.verb
        and same_place(request, other)
        and compatible(request, other)
    )


def _might_repeat(request: Request, other: Request) -> bool:
    if not compatible(request, other, ignoring=("cells",)):
        return False
    return not other.cells or not set(request.cells).isdisjoint(other.cells)


def _stands(subject: _Subject, request: Request) -> bool:
    """Whether a requested placement was carried out on an earlier turn and the block is still there."""
    if request.verb != "place" or request.layer is None:
        return False
    board = subject.scene.board
    there = [board.stack(cell)[request.layer : request.layer + 1] for cell in request.cells]
    if not all(blocks and blocks[0][0] == request.color and request.size in (None, blocks[0][1:]) for blocks in there):
        return False
    return any(scene.accepted and _did(scene, request) for scene in subject.earlier())


def _did(scene: Scene, request: Request) -> bool:
    """Whether a turn's attempted move is what is requested, as far as named; a block of the other size may have been meant."""
    move = scene.attempted
    if move is None or move.action != request.verb or move.covered().isdisjoint(request.cells):
        return False
    if request.layer not in (None, move.layer):
        return False
    return move.block is None or move.block[:1] == request.color


def _stands_on_top(scene: Scene, request: Request) -> bool:
    stacks = [scene.board.stack(cell) for cell in request.cells]
    return all(stack and stack[-1][0] == request.color and request.layer == len(stack) - 1 for stack in stacks)


def _contradicts(request: Request, other: Request) -> bool:
    if not request.cells or not other.cells or not same_place(request, other) or None in (request.layer, other.layer):
        return False
    pairs = ((request.verb, other.verb), (request.color, other.color), (request.size, other.size))
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def _certainly_missing(message: Speech, request: Request) -> str:
    """Give what no word of the message could name; empty if nothing is surely missing.

    A removal needs no more than its cell: the block that stands on top there is the one to go.
    """
    if request.verb != "place":
        return "" if request.cells or names_place(message.text) else "a place"
    if request.color is None and not text_colors(message.text):
        return "a colour"
    if request.size is None and not text_sizes(message.text):
        return "a size"
    if not request.cells and not names_place(message.text):
        return "a place"
    if request.size == "l" and len(request.cells) == 1:
        return "the second cell of a large block"
    return ""


def _is_empty(message: Speech) -> bool:
    return not message.requests and not message.mentions and not text_colors(message.text) and not names_place(message.text)


def _has_hidden_place(message: Speech) -> bool:
    """Whether a message may name cells that were not read."""
    if message.requests:
        return not all(r.cells for r in message.requests) and names_place(message.text)
    return bool(text_colors(message.text)) and names_place(message.text)


def _of(request: Request, name: str) -> str | int | None:
    values: dict[str, str | int | None] = {"verb": request.verb, "color": request.color, "size": request.size, "layer": request.layer}
    return values[name]


def _check(answer: Callable[[_Subject], Decision]) -> Check:
    def check(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        director = next((name for name in WALLS if name == agent), None)
        if director is None:
            return undecided(f"{agent or 'nobody'} is no director")
        game = game_of(transcript)
        scene = game.scene(turn)
        if not any(u.agent == director for u in scene.view.utterances):
            return undecided(f"{director} did not speak on this turn")
        return answer(_Subject(game, scene, director, scene.message(director)))

    return check


def considers_builder(subject: _Subject) -> Decision:
    """MM3: the message takes into account what the builder knows. Never decided."""
    return undecided(f"no rule of the game settles what the builder knows of {subject.director}'s wall")


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

CHECKS: Final[dict[str, Check]] = {f"craft.MM{number}": _check(answer) for number, answer in enumerate(_QUESTIONS, start=1)}
