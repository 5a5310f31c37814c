"""A game as the checks look at it: boards with spans, candidates, the view really shown, texts read once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from games.craft.claims import CraftClaim, Request
from games.craft.engine.board import COLOR_LETTERS, DIRECTORS, WALLS, Board, Cell, Director
from games.craft.engine.rules import Move
from games.craft.text.replies import is_complaint
from judges.checks import Check, Decision, cached_for_recent
from judges.claims.readers import reading_of
from judges.claims.reading import Absent, Found, Open, Shown, TextClaims
from judges.craft.reading import board_of, reads
from judges.evidence.transcript import AgentView, Transcript, TurnView, UtteranceView

ViewedBlock = tuple[str, str]
"""Colour letter and apparent size letter."""


def agreed(decisions: Sequence[Decision], of: str) -> Decision:
    """Give the answer that holds for all of several things; undecided where they differ."""
    if len({decision.answer for decision in decisions}) == 1:
        return decisions[0]
    return undecided(f"{of}, and the answer is not the same for all: {'; '.join(decision.reason for decision in decisions)}")


def if_candidates(check: Check) -> Check:
    """Make a check N/A on turns without listed candidates, whatever was stated."""

    def checked(transcript: Transcript, turn: int, agent: str | None) -> Decision:
        if not game_of(transcript).prepared(turn).candidates:
            return Decision("na", "no candidates were listed on this turn")
        return check(transcript, turn, agent)

    return checked


def wanted_now(asked: Sequence[Request]) -> list[Request]:
    """What a text wants done first; all that it asks for if it sets no order."""
    return [request for request in asked if request.when == "now"]


def undecided(reason: str) -> Decision:
    """Give the decision that nothing is proved, with what is missing."""
    return Decision(None, reason)


def move_text(move: Move) -> str:
    """A move in words."""
    to = f" to {move.span_to}" if move.span_to else ""
    return f"{move.action} {move.block or 'the top'} at {move.position}{to}, layer {move.layer}"


@dataclass(frozen=True)
class Speech:
    """What a director's text was read to say."""

    agent: Director
    superseded: bool
    reading: TextClaims[CraftClaim]
    seq: int = 0
    """The utterance, as in the table `utterances`."""

    def asks(self, where: Callable[[Request], bool] = lambda _: True) -> Found[Request]:
        """Look for requests."""
        return self.reading.find(Request, where)

    def main(self) -> Found[Request]:
        """Look for the requests that count: those on the speaker's own wall, or all if none is."""
        own = self.asks(lambda request: request.on_wall(self.agent))
        return own if isinstance(own, Shown) else self.asks()

    def only(self) -> Request | Absent | Open:
        """The one thing that the text asks for; open if it asks, or may ask, for more."""
        whole = self.reading.whole(Request)
        if isinstance(whole, Open):
            return whole
        if len(whole) > 1:
            return Open("several things are asked for")
        return whole[0] if whole else Absent()


class PreparedTurn:
    """One turn: board, candidates, texts, attempted move."""

    def __init__(self, transcript: Transcript, view: TurnView) -> None:
        self.transcript = transcript
        self.view = view

    @cached_property
    def board(self) -> Board:
        """The board before the builder's move, nine canonical cells."""
        return board_of(self.view.state_before)

    @cached_property
    def messages(self) -> tuple[Speech, ...]:
        """Public messages of the directors in order, superseded ones included, empty and placeholder ones left out."""
        messages = self.view.by_channel("public")
        return tuple(self._speeches(u) for u in messages if reads(u))

    @cached_property
    def current(self) -> tuple[Speech, ...]:
        """The messages that the builder received."""
        return tuple(message for message in self.messages if not message.superseded)

    @cached_property
    def readings(self) -> tuple[TextClaims[CraftClaim], ...]:
        """What the current messages were read to say."""
        return tuple(message.reading for message in self.current)

    @cached_property
    def candidates(self) -> tuple[Move, ...]:
        """The candidates as listed; empty if the log lists none."""
        return tuple(_move(o.verb, o.arguments) for o in self.view.oracle if o.listed)

    @cached_property
    def attempted(self) -> Move | None:
        """The builder's move as the engine understood it; None on clarifications and broken turns."""
        action = next((a for a in self.view.actions if a.verb in ("place", "remove")), None)
        if action is None or not isinstance(action.arguments.get("layer"), int):
            return None
        return _move(action.verb, action.arguments)

    @cached_property
    def accepted(self) -> bool:
        """Whether the attempted move was carried out."""
        return any(a.accepted for a in self.view.actions)

    @property
    def clarified(self) -> bool:
        """Whether the builder asked instead of moving; published logs have their parser's complaints in the place of questions."""
        return any(a.verb == "clarify" and not is_complaint(str(a.arguments.get("question"))) for a in self.view.actions)

    @cached_property
    def builder_words(self) -> frozenset[str]:
        """The words of the builder's public messages, in lower case, without marks."""
        messages = [u.text for u in self.view.received() if u.agent not in WALLS]
        return frozenset(word.strip(".,;:!?()").lower() for text in messages for word in text.split())

    def spoken(self, agent: Director) -> list[tuple[Speech | None, Speech | None]]:
        """Reasoning and message of each time that the director spoke and the builder received it; None for one that is empty or missing.

        Without any: one pair of nothing.
        """
        pairs: list[tuple[Speech | None, Speech | None]] = []
        thought: Speech | None = None
        received = self.view.received(agent)
        for message in self.view.utterances:
            if message.agent != agent or message.superseded:
                continue
            speech = self._speeches(message) if reads(message) else None
            if message.channel == "private":
                thought = speech
            elif message in received:
                pairs.append((thought, speech))
                thought = None
        return pairs if pairs and thought is None else [*pairs, (thought, None)]

    def _speeches(self, utterance: UtteranceView) -> Speech:
        key = utterance.seq
        if key not in self._read:
            agent = next(name for name in DIRECTORS if name == utterance.agent)
            self._read[key] = Speech(agent, utterance.superseded, reading_of(self.transcript, self.view.turn, utterance), utterance.seq)
        return self._read[key]

    @cached_property
    def _read(self) -> dict[int, Speech]:
        return {}


class PreparedGame:
    """One transcript with its target and its turns, each prepared once."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._scenes: dict[int, PreparedTurn] = {}

    @cached_property
    def target(self) -> Board | None:
        """The goal; None if the log has none."""
        return None if self.transcript.goal is None else board_of(self.transcript.goal)

    def prepared(self, turn: int) -> PreparedTurn:
        """Give one turn, from 1."""
        if turn not in self._scenes:
            self._scenes[turn] = PreparedTurn(self.transcript, self.transcript.turn(turn))
        return self._scenes[turn]

    def before(self, turn: int) -> tuple[PreparedTurn, ...]:
        """Give all turns before one, oldest first."""
        return tuple(self.prepared(number) for number in range(1, turn))

    def shown(self, agent: Director, cell: Cell, layer: int) -> ViewedBlock | None:
        """Give the target block that this director was really shown where she reads this cell; None where nothing.

        The column of a view counts from the director's left like the words left, middle, right, so a view that was shown
        mirrored is checked in the director's own reading of it (see `agents.view_kind`).

        Raises:
            LookupError: the store has no view for this director, or the cell is not on her wall.
        """
        if not self.has_view(agent):
            raise LookupError(f"no target view of {agent} in episode {self.transcript.episode_id}")
        entry = (self.transcript.agents[agent].private_view or {})[f"row_{layer}"][WALLS[agent].index(cell)]
        color = COLOR_LETTERS.get(entry["color"])
        return None if color is None else (color, "s" if entry["size"] == 1 else "l")

    def has_view(self, agent: Director) -> bool:
        """Whether the store knows what this director was shown."""
        view = self.transcript.agents.get(agent)
        return view is not None and _is_whole_view(view)


@cached_for_recent
def game_of(transcript: Transcript) -> PreparedGame:
    """Give the prepared game of a transcript."""
    return PreparedGame(transcript)


def _move(verb: str, arguments: Mapping[str, Any]) -> Move:
    return Move.from_log({"action": verb, "position": "", "layer": 0} | dict(arguments))


def _is_whole_view(agent: AgentView) -> bool:
    view = agent.private_view
    return view is not None and all(len(view.get(f"row_{layer}", ())) == len(WALLS["D1"]) for layer in range(3))
