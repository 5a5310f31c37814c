"""The published agent: memory, theory of mind, choice, verification; each part a switch (LLM-Coordination, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, NamedTuple

from games.coordination.players import Player, partner_of
from games.players.course import Said, Step, ask
from games.players.player import Observation
from games.players.texts import texts_of
from providers.messages import Message
from schemas.errors import BadInputError

__all__ = ["ACKNOWLEDGEMENT", "PUBLISHED", "Decided", "ScriptView", "Situation", "Switches", "decide", "switches_of"]

ACKNOWLEDGEMENT: Final = "Got it!"
_APPROVED: Final = "verification: okay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Parts of the agent; all of them are conditions of a run."""

    theory_of_mind: bool = False
    """Before choosing, the agent says what the partner's last action means, or what it intends."""

    verification: bool = False
    """A second look at each choice; a rejected one is made again."""

    verification_limit: int = 3
    """Rejections after which a choice counts as it is; the published loop has no end."""

    memory: bool = True
    """Episodic memory: the own earlier actions are shown."""

    explanation: bool = True
    """An explanation is asked for before the action."""

    partner_information: bool = True
    """What the partner holds and how far it has to go; kitchens alone."""

    conventions: bool = False
    """Conventions of good play stand with the rules."""

    def to_json(self) -> dict[str, Any]:
        """As conditions hold it."""
        return asdict(self)


PUBLISHED: Final[Mapping[str, Switches]] = {
    "hanabi": Switches(theory_of_mind=True, verification=True),
    "overcooked": Switches(explanation=False, partner_information=False, conventions=True),
    "collab_capture": Switches(memory=False),
    "collab_escape": Switches(theory_of_mind=True),
}
"""Game -> the switches as the released code has them."""


def switches_of(condition: Mapping[str, Any]) -> Switches:
    """Give the switches back from a run's condition.

    Raises:
        BadInputError: one is missing or is none.
    """
    found = {field.name: condition.get(field.name) for field in fields(Switches)}
    limit = found.pop("verification_limit")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0 or not all(isinstance(value, bool) for value in found.values()):
        raise BadInputError(f"{', '.join(found)} must be true or false, verification_limit a count", locator="line 1.run.condition")
    return Switches(verification_limit=limit, **{name: bool(value) for name, value in found.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a player has before it in a decision."""

    game: str
    player: Player
    turn: int
    rules: str
    """Long-term memory, its name and its partner's included."""

    state: str
    """Working memory: the state in words, own history included, without actions."""

    actions: Sequence[str]
    """As they are listed."""

    layout: str
    """How state, interpretation and actions are put together: `{state}`, `{tom}` and `{actions}`."""

    joint: str = "\n"
    """Between two actions."""

    partner_did: str | None = None
    """The partner's last action in words; None if it has not acted, or nobody tells."""

    interprets: bool = True
    """There is something to interpret."""

    ground: Callable[[str, Sequence[str]], str]
    """Reply and listed actions -> the listed action that it means."""

    scene: Callable[[], Any] | None = None
    """What can be drawn of the state for this player."""


class ScriptView(NamedTuple):
    """For a script: what is wanted, and what stands there."""

    game: str
    player: Player
    purpose: str
    """tom, generate or verify."""

    text: str
    """The situation in words, as the first message after the acknowledgement has it."""


class Decided(NamedTuple):
    """A decision and how it came about."""

    action: str
    """As it is listed."""

    said: Sequence[tuple[str, Said]]
    """Stage (tom, generator, verifier) and reply, in order."""

    rejections: int

    @property
    def response(self) -> str:
        """The reply that counted."""
        return next(said.text for stage, said in reversed(self.said) if stage == "generator")


def decide(now: Situation, switches: Switches) -> Generator[Step, tuple[Said, ...], Decided]:
    """Ask a player until it has decided."""
    texts = texts_of(__package__)
    said: list[tuple[str, Said]] = []
    frame = ""
    if switches.theory_of_mind and now.interprets:
        told = yield from _ask(now, "tom", _tom_messages(now, texts))
        said.append(("tom", told))
        frame = texts["games"][now.game]["tom_frame"].format(tom=told.text.strip()) if told.text.strip() else ""
    elif now.partner_did is not None and now.interprets:
        frame = texts["partner_line"].format(action=now.partner_did)
    messages = _messages(texts["games"][now.game]["system"], now, switches, _situation(now, now.actions, frame))
    actions, rejections = list(now.actions), 0
    while True:
        reply = yield from _ask(now, "generate", messages, actions)
        said.append(("generator", reply))
        action = now.ground(reply.text, actions)
        if not switches.verification or rejections >= switches.verification_limit:
            break
        verdict = yield from _ask(now, "verify", _verifier_messages(now, texts, action))
        said.append(("verifier", verdict))
        if _APPROVED in verdict.text.lower():
            break
        rejections += 1
        actions = [other for other in now.actions if other != action] or list(now.actions)
        again = texts["rejected"].format(verdict=verdict.text.strip(), actions=now.joint.join(actions)).strip()
        messages = [*messages, {"role": "assistant", "content": reply.text}, {"role": "user", "content": again}]
    return Decided(action, said, rejections)


def _ask(
    now: Situation, purpose: str, messages: Sequence[Message], left: Sequence[str] | None = None
) -> Generator[Step, tuple[Said, ...], Said]:
    place = next(number for number, message in enumerate(messages) if message["role"] == "assistant")
    shown = ScriptView(now.game, now.player, purpose, messages[place + 1]["content"])
    options = now.actions if left is None else left
    seen = Observation(
        agent=now.player, role="player", turn=now.turn, purpose=purpose, messages=messages, data=shown, options=options, scene=now.scene
    )
    return (yield from ask(seen))


def _situation(now: Situation, actions: Sequence[str], frame: str) -> str:
    return now.layout.format(state=now.state, tom=f"{frame.strip()}\n" if frame.strip() else "", actions=now.joint.join(actions)).strip()


def _messages(system: str, now: Situation, switches: Switches, situation: str) -> list[Message]:
    texts = texts_of(__package__)
    game = texts["games"][now.game]
    parts = [now.rules, game["conventions"] if switches.conventions else "", game["form"]["explained" if switches.explanation else "bare"]]
    return [
        {"role": "system", "content": system.strip()},
        {"role": "user", "content": "\n\n".join(part.strip() for part in parts if part.strip())},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": situation},
    ]


def _tom_messages(now: Situation, texts: Mapping[str, Any]) -> list[Message]:
    """As published without a system message."""
    game, names = texts["games"][now.game], {"player": now.player, "partner": partner_of(now.player)}
    did = texts["partner_line"].format(action=now.partner_did).strip() if now.partner_did is not None else ""
    parts = [did, _situation(now, now.actions, ""), game["tom_ask"].format(**names).strip()]
    return [
        {"role": "user", "content": f"{now.rules.strip()}\n\n{game['tom_role'].format(**names).strip()}"},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": "\n\n".join(part for part in parts if part)},
    ]


def _verifier_messages(now: Situation, texts: Mapping[str, Any], action: str) -> list[Message]:
    """The rules and the state without the interpretation, and the choice; earlier verdicts are not shown."""
    return [
        {"role": "system", "content": texts["verifier"]["system"].strip()},
        {"role": "user", "content": now.rules.strip()},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": f"{_situation(now, now.actions, '')}\n\n{texts['verifier']['ask'].format(action=action).strip()}"},
    ]
