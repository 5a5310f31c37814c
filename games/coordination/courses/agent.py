"""The published agent: memory, theory of mind, choice, verification; each part a switch (LLM-Coordination, section 3)."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from random import Random
from typing import Any, Final, Literal, NamedTuple, get_args

from pydantic import Field

from games.coordination.capture import TURN_LIMIT
from games.coordination.escape import PUBLISHED as PUBLISHED_ROOMS
from games.coordination.escape import TURN_CAP
from games.coordination.hanabi import MAX_TURNS
from games.coordination.kitchen import TICKS
from games.coordination.players import KINDS, Player, Read, named_action, partner_of, read_of
from games.players.course import Reply, Step, ask
from games.players.player import Observation, texts_of
from games.players.setup import DEFAULT_START, team_name
from games.settings import Settings
from schemas.chat.messages import Message
from schemas.game import UtteranceEntry
from schemas.replies import Read as ReadKind
from schemas.replies import Reading, is_echo

Harness = Literal["strict", "published"]
"""``strict``: a reply counts if it names a listed action exactly, else the player is asked again; the prompt holds all rules of the game
and ends with the form of the reply. ``published``: as the released code, which takes the most similar action and leaves rules out."""

ACKNOWLEDGEMENT: Final = "Got it!"
_APPROVED: Final = "verification: okay"
_REMEMBERED: Final = 5
"""Own earlier actions that are shown, as in the published kitchen."""

_ASKED_AGAIN: Final = 2
"""How often the strict harness asks again after a reply that names no listed action."""


class Switches(Settings):
    """Parts of the agent; all of them are conditions of a run."""

    theory_of_mind: bool = False
    """Before choosing, the agent states what the partner's last action means, or what it intends."""
    verification: bool = False
    """The agent checks each choice; a rejected one is made again."""
    verification_limit: int = Field(default=3, ge=0)
    """Rejections after which a choice counts as it is; the published loop has no end."""
    memory: bool = True
    """Episodic memory: the own earlier actions are shown."""
    explanation: bool = True
    """An explanation is asked for before the action."""
    partner_information: bool = True
    """What the partner holds and how far it has to go; kitchens alone."""
    conventions: bool = False
    """Conventions of good play follow the rules."""
    harness: Harness = "strict"
    """How replies are read, and what prompts leave out."""


PUBLISHED: Final[Mapping[str, Switches]] = {
    "hanabi": Switches(theory_of_mind=True, verification=True),
    "overcooked": Switches(explanation=False, partner_information=False, conventions=True),
    "collab_capture": Switches(memory=False),
    "collab_escape": Switches(theory_of_mind=True),
}
"""Game -> the parts of the agent as the released code has them; the harness is not the released one, unless asked for."""


CoordinationGame = Literal["hanabi", "overcooked", "collab_capture", "collab_escape"]
GAMES: Final[tuple[CoordinationGame, ...]] = get_args(CoordinationGame)

LONGEST: Final[Mapping[CoordinationGame, int]] = {
    "hanabi": MAX_TURNS,
    "overcooked": TICKS,
    "collab_capture": TURN_LIMIT,
    "collab_escape": TURN_CAP,
}
"""Game -> turns after which it ends, unless fewer are asked for; of a kitchen also more."""

VARIANT_NAMES: Final[Mapping[CoordinationGame, str]] = {"overcooked": "layout", "collab_capture": "scenario", "collab_escape": "scenario"}
"""Game -> what its variants are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSetup:
    """One game to be played."""

    game: CoordinationGame
    variant: str
    """Layout or scenario; empty in Hanabi."""
    taken: Mapping[str, str]
    """Agent -> player."""
    switches: Switches
    seed: int
    turns: int
    """The most turns; the length of a kitchen game in ticks."""
    deck: Sequence[str] | None = None
    """Of Hanabi, in the order of dealing; None: shuffled by the seed."""
    started_at: datetime = DEFAULT_START

    @property
    def condition(self) -> dict[str, Any]:
        """Every switch."""
        variant = {VARIANT_NAMES[self.game]: self.variant} if self.variant else {}
        shorter = {"turns": self.turns} if self.turns != LONGEST[self.game] else {}
        return {"game": self.game, **variant, **({"ticks": self.turns} if self.game == "overcooked" else shorter), **self.switches.logged()}

    @property
    def task(self) -> str:
        """Name of what is played, as in published logs."""
        names = {"hanabi": f"hanabi seed {self.seed}", "collab_escape": "escape" + f" {self.variant}" * (self.variant != PUBLISHED_ROOMS)}
        return names.get(self.game, self.variant)

    @property
    def episode(self) -> str:
        """A name of the game that no other of the experiment has."""
        marks = {"theory_of_mind": "tom", "verification": "ver", "memory": "mem", "explanation": "exp", "partner_information": "part"}
        parts = [mark for name, mark in marks.items() if getattr(self.switches, name)]
        parts += ["conv"] * self.switches.conventions + [str(self.switches.verification_limit)] * self.switches.verification
        parts += ["published"] * (self.switches.harness == "published")
        length = str(self.turns) if self.game == "overcooked" or self.turns != LONGEST[self.game] else ""
        variant = "_".join(filter(None, (self.variant, length, f"s{self.seed}")))
        return f"{self.game}/{team_name(self.taken)}/{'-'.join(parts) or 'bare'}/{variant}"


@dataclass(slots=True)
class Table:
    """A game while it is played: the course writes here what its scripts and its readers see."""

    seed: int
    steps: list[dict[str, Any]] = field(default_factory=list)
    """Its turns as the step logs have them."""
    state: Any = None
    """Before the current turn; the game's own."""
    rng: Random = field(init=False)
    """Random numbers of the game, which scripts that remember share."""
    killer: Iterator[int] = field(default_factory=lambda: iter(()))
    """Rooms to which the killer of CollabEscape went in a logged game; it draws once there are no more."""

    def __post_init__(self) -> None:
        """Start the random numbers."""
        self.rng = Random(self.seed)


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
    """The partner's last action in words; None if it has not acted, or it is not shown."""
    interprets: bool = True
    """There is something to interpret."""
    ground: Callable[[str, Sequence[str]], str | None]
    """Reply and listed actions -> what the published harness takes; None where the reply has no marker."""
    otherwise: Callable[[Sequence[str]], str]
    """Listed actions -> what is done where a reply names none."""
    at_random: bool = False
    """What is done then is a draw; else it is the action that does nothing."""
    scene: Callable[[], Any] | None = None
    """What can be drawn of the state for this player."""


class ScriptView(NamedTuple):
    """For a script: what is wanted, and the text."""

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
    replies: Sequence[tuple[str, Reply]]
    """Stage (tom, generator, verifier) and reply, in order."""
    rejections: int
    read: Read | None
    """How the last reply became the action; None where nothing came back."""
    slips: Sequence[str] = ()
    """Replies that named no listed action exactly."""

    @property
    def response(self) -> str:
        """The reply that counted."""
        return next(reply.text for stage, reply in reversed(self.replies) if stage == "generator")

    @property
    def reading(self) -> dict[str, Any]:
        """How the reply was read, as the step logs hold it."""
        return {"read": self.read, "slips": list(self.slips)}

    @property
    def kind(self) -> ReadKind | None:
        """How the reply was read, as logs of all games hold it."""
        return None if self.read is None else KINDS[self.read]


def decide(now: Situation, switches: Switches) -> Generator[Step, tuple[Reply, ...], Decided]:
    """Ask a player until it has decided."""
    texts = texts_of(__package__)
    replies: list[tuple[str, Reply]] = []
    frame = ""
    if switches.theory_of_mind and now.interprets:
        interpretation = yield from _ask(now, switches, "tom", _tom_messages(now, texts, switches))
        replies.append(("tom", interpretation))
        understood = interpretation.text.strip() and _interpretation_reading(now, (), switches, interpretation.text).read == "as asked"
        frame = texts["games"][now.game]["tom_frame"].format(tom=interpretation.text.strip()) if understood else ""
    elif now.partner_did is not None and now.interprets:
        frame = texts["partner_line"].format(action=now.partner_did)
    messages = _messages(texts["games"][now.game]["system"], now, switches, _situation(now, now.actions, frame))
    actions, rejections, slips = list(now.actions), 0, list[str]()
    while True:
        reply = yield from _choice(now, switches, messages, actions, slips)
        replies += [("generator", each) for each in reply.replies]
        if not switches.verification or rejections >= switches.verification_limit:
            break
        verdict = yield from _ask(now, switches, "verify", _verifier_messages(now, texts, switches, reply.action))
        replies.append(("verifier", verdict))
        if _APPROVED in verdict.text.lower():
            break
        rejections += 1
        actions = [other for other in now.actions if other != reply.action] or list(now.actions)
        again = texts["rejected"].format(verdict=verdict.text.strip(), actions=now.joint.join(actions)).strip()
        messages = [*reply.messages, {"role": "assistant", "content": reply.replies[-1].text}, {"role": "user", "content": again}]
    return Decided(reply.action, replies, rejections, reply.read, slips)


class _Choice(NamedTuple):
    """A choice before it is verified."""

    action: str
    read: Read | None
    replies: Sequence[Reply]
    messages: list[Message]
    """The conversation before the last reply."""


def _choice(
    now: Situation, switches: Switches, messages: list[Message], actions: Sequence[str], slips: list[str]
) -> Generator[Step, tuple[Reply, ...], _Choice]:
    """Ask for an action; the strict harness asks again while the reply names none. Such replies are noted in ``slips``."""
    reply = yield from _ask(now, switches, "generate", messages, actions)
    replies = [reply]
    if switches.harness == "published":
        action = now.ground(reply.text, actions) or now.otherwise(actions)
        read = "lost" if reply.lost else read_of(reply.text, action, at_random=now.at_random)
        slips += [] if read in (None, "exact") else [reply.text]
        return _Choice(action, read, replies, messages)
    again = texts_of(__package__)["unlisted"].format(actions=now.joint.join(actions), form=_form(now.game, switches)).strip()
    named = named_action(reply.text, actions)
    while named is None and not reply.lost and len(replies) <= _ASKED_AGAIN:
        slips.append(reply.text)
        messages = [*messages, {"role": "assistant", "content": reply.text or "(no text)"}, {"role": "user", "content": again}]
        reply = yield from _ask(now, switches, "generate", messages, actions)
        replies.append(reply)
        named = named_action(reply.text, actions)
    if named is None:
        slips.append(reply.text)
        is_lost = reply.lost and not any(slips)  # a whole one that named none is the player's own
        return _Choice(now.otherwise(actions), "lost" if is_lost else "random" if now.at_random else "default", replies, messages)
    return _Choice(named, "asked_again" if replies[1:] else "exact", replies, messages)


def _form(game: str, switches: Switches) -> str:
    form = texts_of(__package__)["games"][game]["form"][switches.harness]
    return str(form["explained" if switches.explanation else "bare"]).strip()


def _ask(
    now: Situation, switches: Switches, purpose: str, messages: Sequence[Message], left: Sequence[str] | None = None
) -> Generator[Step, tuple[Reply, ...], Reply]:
    place = next(number for number, message in enumerate(messages) if message["role"] == "assistant")
    shown = ScriptView(now.game, now.player, purpose, messages[place + 1]["content"])
    options = now.actions if left is None else left
    seen = Observation(
        agent=now.player,
        role="player",
        turn=now.turn,
        purpose=purpose,
        messages=messages,
        data=shown,
        options=options,
        scene=now.scene,
        reads=partial(_READERS[purpose], now, options, switches),
    )
    return (yield from ask(seen))


def _choice_reading(now: Situation, actions: Sequence[str], switches: Switches, reply: str) -> Reading:
    if switches.harness == "strict":
        named = named_action(reply, actions)
        return Reading("unreadable") if named is None else Reading("as asked", named)
    action = now.ground(reply, actions)
    read = read_of(reply, action or "", at_random=now.at_random)
    return Reading("unreadable" if read is None else KINDS[read], action)


def _interpretation_reading(now: Situation, _: Sequence[str], switches: Switches, reply: str) -> Reading:
    """Any words are an interpretation, but those of the prompt's example."""
    shown = _tom_ask(now, switches).splitlines()
    lines = [line for line in reply.splitlines() if line.strip()]
    return Reading("unreadable" if lines and all(is_echo(line, shown) for line in lines) else "as asked")


def _verdict_reading(_: Situation, __: Sequence[str], ___: Switches, reply: str) -> Reading:
    return Reading("as asked" if len(set(_VERDICT.findall(reply.lower()))) == 1 else "unreadable")


_VERDICT: Final = re.compile(r"verification: (okay|not okay)")
_READERS: Final = {"generate": _choice_reading, "tom": _interpretation_reading, "verify": _verdict_reading}
"""What is asked for -> how a reply to it is read."""


def _situation(now: Situation, actions: Sequence[str], frame: str) -> str:
    return now.layout.format(state=now.state, tom=f"{frame.strip()}\n" if frame.strip() else "", actions=now.joint.join(actions)).strip()


def _messages(system: str, now: Situation, switches: Switches, situation: str) -> list[Message]:
    """As published the form of the reply comes with the rules; the strict harness states it last."""
    form, strict = _form(now.game, switches), switches.harness == "strict"
    parts = [_rules(now, switches), *([] if strict else [form])]
    return [
        {"role": "system", "content": system.strip()},
        {"role": "user", "content": "\n\n".join(parts)},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": f"{situation}\n\n{form}" if strict else situation},
    ]


def _rules(now: Situation, switches: Switches) -> str:
    """Long-term memory: the rules, those that the published code only gives with its conventions, and the conventions."""
    game, conventions = texts_of(__package__)["games"][now.game], switches.conventions
    parts = [
        now.rules,
        game.get("left_out", "") if conventions or switches.harness == "strict" else "",
        game["conventions"] if conventions else "",
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _tom_messages(now: Situation, texts: Mapping[str, Any], switches: Switches) -> list[Message]:
    """As published without a system message."""
    rules = _rules(now, switches) if switches.harness == "strict" else now.rules.strip()
    game, names = texts["games"][now.game], {"player": now.player, "partner": partner_of(now.player)}
    did = texts["partner_line"].format(action=now.partner_did).strip() if now.partner_did is not None else ""
    parts = [did, _situation(now, now.actions, ""), _tom_ask(now, switches).strip()]
    return [
        {"role": "user", "content": f"{rules}\n\n{game['tom_role'].format(**names).strip()}"},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": "\n\n".join(part for part in parts if part)},
    ]


def _tom_ask(now: Situation, switches: Switches) -> str:
    asked: str | Mapping[str, str] = texts_of(__package__)["games"][now.game]["tom_ask"]
    text = asked if isinstance(asked, str) else asked[switches.harness]
    return text.format(player=now.player, partner=partner_of(now.player))


def _verifier_messages(now: Situation, texts: Mapping[str, Any], switches: Switches, action: str) -> list[Message]:
    """The rules and the state without the interpretation, and the choice; earlier verdicts are not shown.

    The strict verifier is asked about conventions only where it is given them; the published one in any case, and it never is.
    """
    strict = switches.harness == "strict"
    asked = texts["verifier"]["ask" if not strict or switches.conventions else "ask_without_conventions"].format(action=action).strip()
    return [
        {"role": "system", "content": texts["verifier"]["system"].strip()},
        {"role": "user", "content": _rules(now, switches) if strict else now.rules.strip()},
        {"role": "assistant", "content": ACKNOWLEDGEMENT},
        {"role": "user", "content": f"{_situation(now, now.actions, '')}\n\n{asked}"},
    ]


# -- what the turns of the four games have in common ----------------------------------------------


def rules_of(game: str, player: Player, partner: Player, **more: str) -> str:
    """Long-term memory of a player."""
    texts: dict[str, Any] = texts_of(__package__)["games"][game]
    return str(texts["rules"].format(player=player, partner=partner, **more)).strip()


def earlier(actions: Sequence[str], switches: Switches) -> str:
    """The own last actions as a line; nothing where there are none, or they are not remembered."""
    if not switches.memory or not actions:
        return ""
    return f"My last actions: {', '.join(actions[-_REMEMBERED:])}\n"


def voices(player: Player, decided: Decided) -> Iterator[UtteranceEntry]:
    """The replies of a decision, for their author alone; a choice that was rejected is superseded by the next one, if that has words."""
    last = max((place for place, (stage, reply) in enumerate(decided.replies) if stage == "generator" and reply.text), default=-1)
    for place, (stage, reply) in enumerate(decided.replies):
        if reply.reasoning:
            yield UtteranceEntry(agent=player, channel="private", audience=[player], text=reply.reasoning)
        if reply.text:
            superseded = stage == "generator" and place < last
            yield UtteranceEntry(agent=player, channel="private", audience=[player], text=reply.text, superseded=superseded)
