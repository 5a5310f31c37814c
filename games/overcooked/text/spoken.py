"""What a cook's message asks of its partner in plain words, clause by clause, so that it is known what was not understood.

A clause is understood if every word of it is in the tables of spoken.yaml, an item or a place of the kitchen. Conditions and negations are
not in them on purpose: what such a clause asks for is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from games.overcooked.engine.actions import normalised
from games.overcooked.engine.layout import DISH, DISH_DISPENSER, INGREDIENT_DISPENSER, Layout, kitchen
from games.overcooked.engine.vocabulary import DELIVER, PLACE
from games.overcooked.text.grammar import NOTHING
from schemas.packaged import packaged_yaml

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
    """Understand a message.

    Args:
        say: what the partner said.
        responder: who is spoken to: 0 Chef, 1 Assistant.
        offered: the item that the speaker put on a counter last, which "it" means where the message names none; empty: none.
        layout: the kitchen; None: the published one.
    """
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
        words = _WORD.findall(self._marked(_plain(text)))
        verb = next((_VERBS[word] for word in words if word in _VERBS), None)
        is_known = all(word in _KNOWN or word in self._names.values() for word in words)
        of_itself = bool({*words} & _WORDS["speaker"]) and not {*words} & _WORDS["addressed"]
        if not is_known or (not of_itself and self._is_open(words, verb, is_question=is_question)):
            self._note(words)
            return Clause(text, is_read=False)
        if of_itself:
            return self._of_itself(text, words)
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
        said = [word for word in words if word not in _SIGNS and word not in _WORDS["openings"]]
        first = said[0] if said else ""
        if is_question and first in _WORDS["checks"] and (verb is not None or self._item(words)):
            return True
        if verb is None:
            asks = "please" in words and bool(said)
            is_bare = self._item(words) is not None and not {*words} & _WORDS["states"] and (self._wanted or not self._own)
            return asks or is_bare
        of_both = {*words} & _WORDS["speaker"] and sum(word in _VERBS for word in words) > 1
        return bool(of_both) or (first == "you" and said[1] in _WORDS["past"])

    def _of_itself(self, text: str, words: Sequence[str]) -> Clause:
        """What the speaker does, or needs."""
        self._own = "plans" if _WORDS["plans"] & {*words} else "did"
        wants = _WORDS["wants"] & {*words} and not any(word in _VERBS for word in words) and self._item(words)
        self._wanted = bool(wants)
        self._note([word for word in words if not wants or word != _COUNTER])
        return self._asked(text, "bring", words) if wants else Clause(text, is_read=True)

    def _marked(self, text: str) -> str:
        """The text with items and places as single words."""
        return _named(self._layout).sub(lambda found: self._names[found[0]], text)

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
        own = {work.operation: name for name, work in self._layout.utensils.items() if name in self._layout.reach(self._responder)}
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
        """Where the one who is asked takes an item from if nothing else was said."""
        mine = self._layout.reach(self._responder)
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
