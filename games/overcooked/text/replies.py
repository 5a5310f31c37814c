"""What agents write: the three fields, actions and requests of the plan, and requests in plain words (formats/overcooked.md, 4 and 5).

`heard` reads a message clause by clause. A clause is understood if every word of it is in the tables of spoken.yaml, an item or a place of
the kitchen. Conditions and negations are not in them on purpose: what such a clause asks for is unknown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from games.overcooked.engine.actions import WrittenAction, normalised, parse_call
from games.overcooked.engine.layout import AGENTS, DELIVER, DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, PLACE, Layout, kitchen
from schemas.common.packages import packaged_yaml

Action = Annotated[str, Field(pattern=r"^\w+\([^()]*\)$")]
"""Without blanks, such as ``pickup(egg,ingredient_dispenser)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The partner is asked for an action."""

    action: Action
    """Without blanks, such as ``pickup(egg,ingredient_dispenser)``."""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The speaker means to do an action, now or next."""

    action: Action
    """Without blanks."""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The speaker agrees to what it was asked, refuses it, or says that something is done."""

    stance: Literal["agrees", "refuses", "done"]
    words: str = ""


OvercookedClaim = Asked | Planned | Reported

TYPES: Final[tuple[type, ...]] = (Asked, Planned, Reported)
"""All kinds of claim that cooks' texts can make."""


NOTHING: Final = "[NOTHING]"
"""The say of an agent that does not speak."""

_ANY_CALL: Final = re.compile(r"\w+\(.*?\)")
_REQUEST: Final = re.compile(r"request\((.+?)\)")
_LONGEST_NAME: Final = 30


class Fields(NamedTuple):
    """The three fields of an answer."""

    analysis: str
    """Empty if it is missing."""
    plan: str
    """With its label, as logs store it; empty if it is missing or malformed."""
    say: str
    """``NOTHING`` if it is missing or states so."""


def plan_items(plan: str) -> tuple[str, ...]:
    """Split a plan with its label at semicolons, in lower case; items are not trimmed, empty ones are left out (section 5)."""
    body = plan.partition(":")[2].strip().lower()
    return tuple(item for item in body.split(";") if item.strip())


def requests_in(plan: str) -> tuple[str, ...]:
    """Give the actions that a plan requests of the partner, as the published evaluation reads them: double quotes are not understood.

    Source: section 5.2, the accepted spellings.
    """
    return tuple(normalised(found.strip(" '") + ")") for found in _REQUEST.findall(plan))


def requests_meant(plan: str) -> tuple[str, ...]:
    """Give the actions that a plan requests of the partner, whichever quotes stand around them."""
    return requests_in(plan.replace('"', "'"))


def calls_in(plan: str) -> tuple[str, ...] | None:
    """Give the actions of a plan that are neither requests nor waits; None if it has no action of any kind.

    Source: section 7.4, point 4.
    """
    found = _ANY_CALL.findall(plan)
    if not found:
        return None
    return tuple(normalised(call) for call in found if "request" not in call and "wait" not in call)


def fields_of(text: str, role: str) -> Fields:
    """Take the fields out of an answer of the agent with that role.

    Source: section 5, extraction.
    """
    analysis = re.search(rf"{role} analysis\s*:?(.*?){role} plan:", text, re.DOTALL | re.IGNORECASE)
    plan = re.search(rf"{role} plan(.*?)(?=\s+{role} say:|\s*$)", text)
    say = re.search(rf"{role} say\s*:?(.*)", text, re.DOTALL)
    spoken = say[1].strip() if say else NOTHING
    return Fields(
        analysis=analysis[1].strip() if analysis else "",
        plan=f"{role} plan{plan[1]}".strip() if plan and _well_formed(plan[1]) else "",
        say=NOTHING if not spoken or NOTHING in spoken else spoken,
    )


def _well_formed(plan: str) -> bool:
    """Whether the first item has exactly one colon before a short, non-empty function name."""
    first = plan.split(";", 1)[0]
    if first.count(":") != 1:
        return False
    name = first.partition(":")[2].partition("(")[0].replace(" ", "")
    return 0 < len(name) < _LONGEST_NAME


def message_parts(fields: Fields) -> list[tuple[str, str]]:
    """Give what of an output is not empty: analysis and plan, which only its author sees, and the say."""
    spoken = "" if fields.say == NOTHING else fields.say
    return [(part, text) for part, text in (("analysis", fields.analysis), ("plan", fields.plan), ("say", spoken)) if text]


_HANDS: Final = re.compile(
    r"<(\w+)> holds (nothing|one [^.]+|a dish with \S+ and needs to deliver it)\. "
    r"The planned sequence of actions \(yet to be performed\) for \w+ is \[(.*?)\](?= <| Kitchen)"
)
_UTENSIL: Final = re.compile(r"<(\w+)> (is empty|has [^;]*|starts [^;]*);")
_COUNTERS: Final = re.compile(r"(\d+) counters have (\w+) which")
_MESSAGE: Final = re.compile(r"(\w+) say history turn \d+ : (.*)")
_CALLS: Final = re.compile(r"\w+\([^()]*\)")


@dataclass(frozen=True, slots=True)
class AgentInput:
    """What an agent has before it: what is wanted, and the state text with conversation and error."""

    agent: int
    kind: str
    text: str
    layout: Layout = field(default_factory=kitchen)
    """The kitchen, whose tables scripts know by heart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KitchenView:
    """A kitchen as far as an agent knows it."""

    order: str
    holds: tuple[str | None, str | None]
    """Of Chef and Assistant."""
    planned: tuple[str, str]
    """What either is going to do, as text."""
    raw: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Utensil -> what has been put into it and not been started."""
    ready: Mapping[str, str] = field(default_factory=dict)
    """Utensil -> what can be taken from it."""
    running: frozenset[str] = frozenset()
    """Utensils that are processing."""
    counters: tuple[str, ...] = ()
    """What lies on the shared counters."""
    messages: tuple[tuple[str, str], ...] = ()
    """The conversation: role and say."""


def calls_of(text: str) -> list[WrittenAction]:
    """All actions that are written out in a text."""
    return [call for found in _CALLS.findall(text) if (call := parse_call(found)) is not None]


def read_scene(text: str) -> KitchenView:
    """Read a state text."""
    order = re.search(r"^Order:(\w+)$", text, re.MULTILINE)
    hands = {name: (held, planned) for name, held, planned in _HANDS.findall(text)}
    utensils = dict(_UTENSIL.findall(text))
    return KitchenView(
        order=order[1] if order else "",
        holds=(_held(hands["Chef"][0]), _held(hands["Assistant"][0])),
        planned=(hands["Chef"][1], hands["Assistant"][1]),
        raw={name: _contents(state) for name, state in utensils.items() if state.startswith("has ") and ",which" in state.replace(" ", "")},
        ready={
            name: state.removeprefix("has ").strip()
            for name, state in utensils.items()
            if state.startswith("has ") and "which" not in state
        },
        running=frozenset(name for name, state in utensils.items() if state.startswith("starts ")),
        counters=tuple(item for count, item in _COUNTERS.findall(text) for _ in range(int(count))),
        messages=tuple((who, say) for who, say in _MESSAGE.findall(text) if who in AGENTS),
    )


def _held(words: str) -> str | None:
    if words == "nothing":
        return None
    return words.split()[3] if words.startswith("a dish with") else words.removeprefix("one ").strip()


def _contents(state: str) -> tuple[str, ...]:
    return tuple(state.removeprefix("has ").partition(",")[0].split())


_COUNTER: Final = "counter"
_TAG: Final = re.compile(r"\[\w+\]")
_SENTENCE: Final = re.compile(r"[^.!?;\n]+[.!?;]*")
_JOINT: Final = re.compile(r"(\s*[,:]\s*(?:and |then |so |but )*|\s+(?:and then|and|then|but|so|-)\s+)", re.IGNORECASE)
_CALL: Final = re.compile(r"\b\w+\([^()]*\)")
_WORD: Final = re.compile(r"[a-z_]+(?:'[a-z]+)?\d?|\d+|[^\s\w]")
_SIGNS: Final = frozenset("!?.;,\"'()-*`")
_TABLES: Final[dict[str, Any]] = packaged_yaml(__package__, "spoken.yaml")
_WORDS: Final[dict[str, frozenset[str]]] = {kind: frozenset(words.split()) for kind, words in _TABLES["words"].items()}
_VERBS: Final[dict[str, str]] = {word: verb for verb, words in _TABLES["verbs"].items() for word in words.split()}
_KNOWN: Final = frozenset[str]().union(*_WORDS.values(), _VERBS, _SIGNS)


class Clause(NamedTuple):
    """A clause of a message."""

    text: str
    is_read: bool
    """Every word of it was understood, and what it asks for is one action."""
    actions: tuple[str, ...] = ()
    """What it asks the partner for, as trajectories have it."""


class Heard(NamedTuple):
    """A message as it was understood."""

    clauses: Sequence[Clause]

    @property
    def actions(self) -> tuple[str, ...]:
        """What it asks for, in order."""
        return tuple(action for clause in self.clauses for action in clause.actions)

    @property
    def unread(self) -> tuple[str, ...]:
        """Clauses that were not understood; with one, it is not known what the message does not ask for."""
        return tuple(clause.text for clause in self.clauses if not clause.is_read)


def heard(say: str, responder: int, offered: str = "", layout: Layout | None = None) -> Heard:
    """Understand a message to the Chef (0) or the Assistant (1); "it" may be the offered item: what the speaker put on a counter last."""
    if say.strip() in ("", NOTHING):
        return Heard(())
    return Heard(tuple(_Listener(responder, offered, layout or kitchen()).clauses(_TAG.sub(" ", say))))


class _Listener:
    """Reads clauses in order: what "it" is, and where, follows from what was named before."""

    def __init__(self, responder: int, offered: str, layout: Layout) -> None:
        self._responder, self._layout = responder, layout
        self._names = _names(layout)
        self._it = offered
        self._at = {offered: _COUNTER} if offered else {}
        self._own = ""
        """Of the sentence so far: `plans` or `did` where the speaker speaks of itself."""
        self._wanted = False
        """The sentence so far has asked for an item."""

    def clauses(self, say: str) -> Iterator[Clause]:
        for sentence in _SENTENCE.findall(say):
            self._own, self._wanted = "", False
            joint = ""
            for piece in _apart(sentence):
                for part in _JOINT.split(piece) if _CALL.search(piece) is None else [piece]:
                    if _JOINT.fullmatch(part):
                        joint = part
                    elif part.strip(" .!?,;"):
                        yield self._clause(part.strip(), joint, is_question=sentence.rstrip().endswith("?"))

    def _clause(self, text: str, joint: str, *, is_question: bool) -> Clause:
        call = _CALL.fullmatch(text)
        if call is not None:
            return Clause(text, is_read=True, actions=() if self._own else (normalised(text),))
        # the text with items and places as single words
        words = _WORD.findall(_named(self._layout).sub(lambda found: self._names[found[0]], _plain(text)))
        verb = next((_VERBS[word] for word in words if word in _VERBS), None)
        is_known = all(word in _KNOWN or word in self._names.values() for word in words)
        of_itself = bool({*words} & _WORDS["speaker"]) and not {*words} & _WORDS["addressed"]
        if not is_known or (not of_itself and self._is_open(words, verb, is_question=is_question)):
            self._note(words)
            return Clause(text, is_read=False)
        if of_itself:
            self._own = "plans" if _WORDS["plans"] & {*words} else "did"
            wants = _WORDS["wants"] & {*words} and not any(word in _VERBS for word in words) and self._item(words)
            self._wanted = bool(wants)
            self._note([word for word in words if not wants or word != _COUNTER])
            return self._asked(text, "bring", words) if wants else Clause(text, is_read=True)
        if verb is None or (is_question and _WORDS["questions"] & {*words}):
            self._note(words)
            return Clause(text, is_read=True)
        begins = next((word for word in words if word not in _WORDS["openings"] and word not in _SIGNS), "") in _VERBS
        if {*words} & _WORDS["addressed"] or (begins and not self._own):
            self._own = ""
            return self._asked(text, verb, words)
        self._note(words)  # the speaker may go on to speak of itself, or of what is
        return Clause(text, is_read=begins and self._own == "plans" and "," not in joint)

    def _is_open(self, words: Sequence[str], verb: str | None, *, is_question: bool) -> bool:
        """Whether every word is known, and what the clause asks for is not."""
        rest = [word for word in words if word not in _SIGNS and word not in _WORDS["openings"]]
        first = rest[0] if rest else ""
        if is_question and first in _WORDS["checks"] and (verb is not None or self._item(words)):
            return True
        if verb is None:
            asks = "please" in words and bool(rest)
            is_bare = self._item(words) is not None and not {*words} & _WORDS["states"] and (self._wanted or not self._own)
            return asks or is_bare
        of_both = {*words} & _WORDS["speaker"] and sum(word in _VERBS for word in words) > 1
        return bool(of_both) or (first == "you" and rest[1] in _WORDS["past"])

    def _item(self, words: Sequence[str]) -> str | None:
        return next((word for word in words if word in self._layout.items or word == DISH), None)

    def _place(self, words: Sequence[str]) -> str | None:
        places = {_COUNTER, INGREDIENT_DISPENSER, DISH_DISPENSER, *self._layout.utensils}
        return next((word for word in words if word in places), None)

    def _note(self, words: Sequence[str]) -> None:
        item, place = self._item(words), self._place(words)
        self._it = item or self._it
        if place is not None and self._it:
            self._at[self._it] = place

    def _asked(self, text: str, verb: str, words: Sequence[str]) -> Clause:
        """A request: its action, if that is certain."""
        item, place = self._item(words) or self._it, self._place(words)
        self._it = item
        own = {work.operation: name for name, work in self._layout.utensils.items() if name in self._layout.reaches[self._responder]}
        actions: tuple[str, ...] | None = None
        if verb == "wait":
            actions = ()
        elif verb == "serve":
            actions = (DELIVER,)
        elif verb == "pick" and item:
            actions = (f"pickup({item},{place or self._at.pop(item, None) or self._source(item)})",)
        elif verb == "bring" and item:
            actions = (f"pickup({item},{place if place not in (None, _COUNTER) else self._source(item)})", PLACE)
        elif verb == "put" and place == _COUNTER:
            actions = (PLACE,)
        elif verb in ("put", "fill", "start") and place is not None and place in self._layout.utensils:
            named = {"put": "put_obj_in_utensil", "fill": "fill_dish_with_food"}
            actions = (f"{named.get(verb) or self._layout.utensils[place].operation}({place})",)
        elif verb in own:
            actions = (f"{verb}({own[verb]})",)
        return Clause(text, is_read=actions is not None, actions=actions or ())

    def _source(self, item: str) -> str:
        """Where the one who is asked takes an item from unless a message states otherwise."""
        mine = self._layout.reaches[self._responder]
        made = next((name for name, utensil in self._layout.utensils.items() if name in mine and item in utensil.makes), None)
        dispenser = DISH_DISPENSER if item == DISH else INGREDIENT_DISPENSER if item in self._layout.ingredients else None
        return dispenser if dispenser in mine and dispenser is not None else made or _COUNTER


def _plain(text: str) -> str:
    """In lower case, without phrases that ask for nothing and would read as if they did."""
    text = text.lower().replace("\u2019", "'")
    for phrase in _TABLES["phrases"]:
        text = re.sub(rf"\b{phrase}\b", " ", text)
    return re.sub(r"(?<=\w)'s\b", " is", re.sub(r"\blet's\b", "lets", text))


def _apart(sentence: str) -> Iterator[str]:
    """A sentence with written-out calls, cut around them."""
    end = 0
    for call in _CALL.finditer(sentence):
        yield sentence[end : call.start()]
        yield call[0]
        end = call.end()
    yield sentence[end:]


@cache
def _named(layout: Layout) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _names(layout)))})(?!\w)")


@cache
def _names(layout: Layout) -> dict[str, str]:
    """Item or place as people write it -> its name, the longest first."""
    found = {spoken: name for name in (*layout.items, DISH) for spoken in (name, name.replace("_", " "), f"{name.replace('_', ' ')}s")}
    found |= {"dishes": DISH, "plate": DISH, "counters": _COUNTER, "counter": _COUNTER, "dispenser": INGREDIENT_DISPENSER}
    for place in (INGREDIENT_DISPENSER, DISH_DISPENSER, *layout.utensils):
        plain = place.rstrip("0123456789")
        found |= {spoken: place for spoken in (place, plain, plain.replace("_", " "), plain.rpartition("_")[2]) if spoken not in found}
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))
