"""The frame of a prompt: our own words to judges and readers, around text of logs that cannot pass for it.

Every line that comes from a log starts with ``| ``; no line of the frame does. So no log text can close its fence, open another one, or
pass for a turn border, whatever it is. The names of agents are the one exception: a head such as ``D1 said:`` needs them. A name that
could say something to the judge is replaced there by a neutral one (``A1``), and quoted like any other text.

`Frame` is the type of what passes for the frame, and `chat` the one way from a frame to a request: no other module of the judges writes
a message, and neither takes a plain `str`.
"""

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from schemas.chat.messages import Message
from schemas.common.text import Escaped

LONGEST_TEXT: Final = 20_000
"""Characters of one text that a judge is shown; what is longer is cut, and the cut is stated."""

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_UNUSUAL = re.compile("[^\t\n\x20-\x7e]")
_LONGEST_NAME = 60
_LONGEST_PLAIN_NAME = 32
_MOST_WORDS = 3
_LONGEST_WITHOUT_CASE = 8
"""Of a name in a script without small letters, such as Chinese, whose words have no blanks between them."""
_PLAIN_NAME = re.compile(r"[^\W_]+(?:[ _.'-][^\W_]+)*(?: ?\([\w ]+\))?")
_LETTERS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")
_SPEAKS = re.compile(
    r"all|always|answers?|begin|correct|end(?:ed)?|evidence|every|false|give|good|grade|ignore|instructions?|judge|mark|must|never|no"
    r"|note|pass|perfect|please|questions?|rate|reply|right|rubric|say|score|should|true|verdict|wrong|yes",
    re.IGNORECASE,
)
"""Words with which a name of several words could ask for an answer."""
_OPEN, _CLOSE = "\x02", "\x03"
"""Around a name that is not plain. `clean` removes such characters from every text, so no log can contain them."""
_MARKED = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")


class Frame(Escaped):
    """Our own words in a prompt for a judge or a reader; what is put into them becomes a short line (`one_line`)."""

    __slots__ = ()

    @classmethod
    def escape(cls, text: str) -> str:
        """A name from a log for a head."""
        return one_line(text)


class Entry(NamedTuple):
    """A part of a piece of evidence."""

    head: Frame
    """A line of the frame, such as ``D1 said:``; `with_plain_names` has passed over it before it is shown."""
    text: str
    """Verbatim log text, or data rendered from the log: it is quoted."""


def clean(text: str) -> str:
    """The text without control, format, surrogate and private-use characters, every kind of line break a ``\\n``, cut at `LONGEST_TEXT`."""
    cut = text[:LONGEST_TEXT]
    plain = _UNUSUAL.sub(lambda found: _shown(found[0]), _BREAKS.sub("\n", cut))
    return plain if len(text) <= LONGEST_TEXT else f"{plain}\n(cut here: {len(text) - LONGEST_TEXT} more characters)"


@lru_cache(maxsize=4096)
def one_line(text: str) -> str:
    """A name from a log for a head: one short line without brackets; one that is not plain is marked for `with_plain_names`."""
    name = clean(text[:_LONGEST_NAME]).replace("\n", " ").replace("[", "(").replace("]", ")").strip() or "(no name)"
    return name if _is_plain(text) else f"{_OPEN}{name}{_CLOSE}"


def in_frame(name: str) -> str:
    """A speaker's name where nothing else is stated of the speaker: as it is if it is plain."""
    return name if _is_plain(name) else "an agent"


def _is_plain(name: str) -> bool:
    """Whether a name is only a name: short, of at most three words, none of which could ask for an answer next to another."""
    words = _LETTERS.findall(name)
    return (
        len(name) <= _LONGEST_PLAIN_NAME
        and _PLAIN_NAME.fullmatch(name) is not None
        and len(words) <= _MOST_WORDS
        and (len(name) <= _LONGEST_WITHOUT_CASE or not any(unicodedata.category(letter) == "Lo" for letter in name))
        and not (len(words) > 1 and any(map(_SPEAKS.fullmatch, words)))
    )


def plain_names(names: Sequence[str]) -> dict[str, str]:
    """Agent -> neutral name, for those of a game whose own name is not plain: A1, A2, in the order of the agents."""
    free = (name for place in itertools.count(1) if (name := f"A{place}") not in names)
    return {name: next(free) for name in names if not _is_plain(name)}


def with_plain_names(entries: Sequence[Entry], agents: Sequence[str]) -> list[Entry]:
    """The entries with a neutral name, by its place among the agents, for each marked one; a first entry quotes what they stand for."""
    found = dict.fromkeys(name for entry in entries for text in entry for name in _MARKED.findall(text))
    if not found:
        return list(entries)
    own = {one_line(name)[1:-1]: name for name in agents if not _is_plain(name)}
    neutral = plain_names([*agents, *(name for name in found if name not in own)])
    shown = {name: name if _is_plain(name) else neutral[own.get(name, name)] for name in found}

    def plain(match: re.Match[str]) -> str:
        return shown[match[1]]

    legend = "\n".join(f"{shown[name]}: {own.get(name, name)}" for name in found if shown[name] != name)
    named = [Entry(Frame("Names of agents, as the log writes them:"), legend)] if legend else []
    return [*named, *(Entry(head.replaced(_MARKED, plain), _MARKED.sub(plain, text)) for head, text in entries)]


def fenced(piece: str, entries: Sequence[Entry], nonce: str) -> Frame:
    """A piece of evidence, each line of its texts quoted, between two border lines.

    Raises:
        TypeError: a head is a plain text.
    """
    lines = [f"[BEGIN {piece} {nonce}]"]
    for head, text in entries:
        lines.append(Frame.taken(head))
        lines += [f"| {line}" for line in clean(text).split("\n")] if text else []
    if not entries:
        lines.append("(nothing)")
    lines.append(f"[END {piece} {nonce}]")
    return Frame.own("\n".join(lines))


def chat(system: Frame, user: Frame) -> list[Message]:
    """The two messages of a request.

    Raises:
        TypeError: one is a plain text.
    """
    return [{"role": "system", "content": Frame.taken(system)}, {"role": "user", "content": Frame.taken(user)}]


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    return "" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} else character


class Renaming(NamedTuple):
    """Other names under which agents appear in the evidence, for a probe."""

    names: Mapping[str, str]
    """Agent -> how it is called: no text of a log, but the agent's own name as the head has it."""
    also_in_texts: bool
    """Whether what agents say changes too, or only the heads above it."""

    def entry(self, entry: Entry) -> Entry:
        """The entry with the other names."""
        return Entry(Frame.own(self.of(entry.head)), self.of(entry.text) if self.also_in_texts else entry.text)

    def of(self, text: str) -> str:
        """The text with the other names."""
        if not self.names:
            return text
        pattern = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        return re.sub(rf"(?<!\w)({pattern})(?!\w)", lambda found: self.names[found[1]], text)
