"""Words that decide what geometry cannot: perspective, acknowledgement, praise, confirmation; as data.

Each table is a sequence of regular expression fragments, matched as whole words without regard to case.
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "COLOR_WORDS",
    "SIZE_WORDS",
    "claims_exclusive_view",
    "claims_shared_view",
    "has_perspective",
    "mentions_director",
    "names_disagreement",
    "names_done",
    "names_other_side",
    "names_place",
    "speaks_of_removal",
    "text_colors",
    "text_sizes",
    "without_sides",
    "without_view_remarks",
]


def _any_of(fragments: Iterable[str]) -> re.Pattern[str]:
    return re.compile(r"(?<![\w])(?:" + "|".join(fragments) + r")(?![\w])", re.IGNORECASE)


COLOR_WORDS: Final[dict[str, str]] = {
    "g": r"greens?|greenish|g[sl]",
    "b": r"blues?|bluish|b[sl]",
    "r": r"reds?|reddish|r[sl]",
    "y": r"yellows?|yellowish|y[sl]",
    "o": r"oranges?|o[sl]",
}
"""Colour letter -> the words for it, block codes included."""

SIZE_WORDS: Final[dict[str, str]] = {
    "s": r"small(?:er)?|little|tiny|short|single|one[- ]cell|unit|1\s?x\s?1|size[- ]?(?:1|one)|[gbryo]s",
    "l": r"large(?:r)?|big(?:ger)?|long|wide|double|(?:two|both)[- ]cells?|dominos?|1\s?x\s?2|2\s?x\s?[12]|size[- ]?(?:2|two)|[gbryo]l",
}
"""Size letter -> the words for it, block codes included."""

_PLACE: Final = _any_of(
    (
        r"left(?:most|[- ]hand)?|rightmost|right[- ]hand|(?:the|my|our|far|top|bottom|upper|lower|and|d[123]'s|to|on|at|in)[ -]right",
        r"right(?= (?:of|end|edge|cell|corner|side|spot|slot|position|part|half|most|column|stack|on my|in my|bottom|middle|top|one))",
        r"right(?=[,;:] ?(?:my|the|on|in|top|bottom|middle|lowest|base|first|second|third|1st|2nd|3rd|upper)\b)",
        r", right(?=[,.;:]|$)|right \+|\+ right|squares?|entry",
        r"middle|mid|cent(?:er|re|ral)|corners?|ends?|edges?|columns?|slots?|near(?:est)?|far(?:thest)?|back|front",
        r"(?<!one[- ])(?<!two[- ])(?<!single[- ])cells?|positions?(?! (?:an?|the|another|one|that)\b)",
        r"next to|beside|adjacent|on top of|above|below|under(?:neath)?|beneath|between|over the|atop",
        r"(?:first|second|third|1st|2nd|3rd|last) (?:(?:and|to|through) \w+ )?(?:cell|spot|slot|position|column|stack|one|place)",
    )
)
_LAYER_ONLY: Final = re.compile(
    r"\b(?:middle|mid|center|centre|second|top|bottom)[- ](?:layer|row|level|tier|floor|stor(?:e)?y)\b", re.IGNORECASE
)
_COORDINATE: Final = re.compile(r"\(\s*\d\s*,\s*\d\s*\)|\b[0-2]\s*,\s*[0-2]\b")

_DIRECTOR: Final = {
    name: _any_of((rf"{name}(?:'s)?", rf"(?:director|player|agent) ?(?:#|no\.? ?)?{name[1]}")) for name in ("D1", "D2", "D3")
}

_SIDE_WORD: Final = (
    r"(?:own |very )?(?:left|right|middle|mid|cent(?:er|re|ral)|bottom|top|upper(?:most)?|lower|lowest|ground|base|foundation"
    r"|first|second|third|far|near|side|wall|layer|row|column|corner|cell|edge|end|slot|spot|stack|leftmost|rightmost|topmost)"
)
_POSSESSIVE: Final = re.compile(rf"\b(?:d|director )[123](?:'s|’s) {_SIDE_WORD}[\w-]*", re.IGNORECASE)
_OTHER_SIDE: Final = {
    name: re.compile(
        rf"\b(?:d|director ){name[1]}(?:'s|’s) {_SIDE_WORD}|\b(?:side|wall|layer|row|column) of (?:d|director ){name[1]}\b", re.IGNORECASE
    )
    for name in ("D1", "D2", "D3")
}
_OWN_SIDE: Final = re.compile(rf"\b(?:my|our) {_SIDE_WORD}", re.IGNORECASE)
_REMOVAL: Final = _any_of(
    (
        r"remov\w+|taken?|gone|off|away|out|clear(?:ed|ing)?|get rid|rid of",
        r"lift(?:ed)?|pull(?:ed)?|delet\w+|strip\w*|eliminat\w+",
    )
)
_SEE: Final = (
    r"(?:see|sees|seen|views?|viewed|spots?|looks? at|knows?|checks?|tell|observe|witness|make out|verify"
    r"|(?:have|has|having|get|gets) (?:a )?(?:sight|view|eyes|clear view) (?:of|on)|(?:is|are|am) looking at|eyes on)"
)
_D: Final = r"(?:d[123]|director [123])"
_ME: Final = r"(?:me|my|mine)"
_NOBODY: Final = (
    r"(?:nobody|no one|no-one|none of (?:you|the (?:other|rest)\w*)|neither of (?:you|the other\w*)"
    r"|no other (?:director|wall|view|seat|side)\w*)"
)
_OTHERS: Final = (
    r"(?:the others?|other directors?|others|you (?:two|both|all|others)|the rest of you|the other (?:two|walls|sides|seats)"
    rf"|either of you|anyone else|anybody else|{_D}(?: (?:and|or|nor) {_D})?)"
)
_REST: Final = (
    r"(?:(?:both )?others?|other (?:two )?(?:directors?|players?|walls?|seats?)|two others?"
    rf"|rest|everyone else|anyone else|you|{_D}|both of you|all of you)"
)
_CANNOT: Final = (
    r"(?:can(?:'t|not| not)|can ?t|do(?:es)?(?:n't| not)|won't|will not|couldn't|(?:are|is) unable to|have no way to|never|have no view)"
)

_EXCLUSIVE: Final = _any_of(
    (
        rf"only i (?:can |could |am able to |get to |do )?{_SEE}",
        r"(?:i am|i'm|i alone am) the only (?:one|director|person|player|pair of eyes)",
        r"i alone|just me|only me|no one but me|nobody (?:but|except) me|mine alone|me alone|(?:my|for my) eyes(?: only)?",
        r"unique to (?:me|my)|exclusive(?:ly)? (?:to |for )?(?:me|my|mine)|my (?:own )?private (?:cell|part|view|spot|area|corner)",
        rf"only (?:on|from|to|by|in|within|for) {_ME}\b[\w ]*",
        rf"(?:visible|seen|in view|shows?|showing|appears?) (?:to|from|by|on|in) {_ME}\b[\w ]{{0,20}} (?:only|alone)",
        rf"(?:visible|seen|in view|shows?|showing|appears?) (?:only|just|solely|exclusively) (?:to|from|by|on|in) {_ME}",
        rf"{_NOBODY}(?: else)?(?: of you)?(?: \w+){{0,2}}? (?:can |could |will |is able to |has (?:a )?)?{_SEE}",
        rf"{_NOBODY} else[\w' ]{{0,30}}",
        rf"{_OTHERS}(?: \w+){{0,2}}? {_CANNOT}(?: \w+){{0,2}}? {_SEE}",
        rf"(?:i|my wall|my seat|my side) alone (?:can |could )?{_SEE}|known only to {_ME}",
        rf"(?:available|known|visible) to {_ME} (?:alone|only)",
        rf"(?:hidden|concealed|invisible|out of (?:sight|view)|not visible|can(?:no|')t be seen) (?:from|to|for|by) (?:the )?{_REST}[\w ]*",
    )
)
_SHARED: Final = _any_of(
    (
        r"shared? (?:by|with|between|corner|cell|edge|column|spot|stack|place|view)[\w ]*",
        r"(?:shares?|sharing) (?:it|this|that|the|a|our)[\w ]*",
        r"same (?:corner|cell|column|edge|stack|spot)[\w ]*",
        rf"both {_D}[\w ]*|belongs? to {_D}[\w' ]*(?:as well|too|also)[\w ]*",
        rf"(?:{_D}|you|others?) (?:can |could |should |may |might |will |does |do )?(?:also|too|as well) (?:can |could )?{_SEE}",
        rf"{_D}(?: \w+){{0,2}}? {_SEE}(?: \w+){{0,4}}? (?:too|as well|also)",
        rf"both (?:of us )?(?:can |could )?{_SEE}|we both|both of our|both our walls|two of us (?:can )?{_SEE}",
        rf"(?:common to|shared between|visible for) (?:both )?{_D} and {_ME}|{_D} and (?:i|me)(?: both| each)? {_SEE}[\w ]*",
        r"in common|common (?:corner|cell|edge|column|stack)|overlap(?:s|ping)? (?:corner|cell|with)|on both (?:our |of our )?walls",
        rf"visible (?:to|from|for) (?:{_D}|both)[\w ]*|also (?:visible|seen|on) (?:to |by |from |for )?{_D}[\w' ]*|also {_D}'s",
    )
)
_PERSPECTIVE: Final = _any_of(
    (
        r"my|mine|me|i|i'm|i've|i'd|i'll|myself|our|ours|us|we|here|you|your|yours",
        r"d[123](?:'s)?|directors?|others?|everyone|everybody|anyone|nobody",
        r"see|sees|seen|views?|visible|look|looks|looking|sides?|walls?|perspective|angle|vantage|seat|chair|sit|faces?|facing",
    )
)
_OPINES: Final = (
    r"(?:said|says|saying|ask(?:s|ed|ing)|wants?|wanted|call(?:s|ed)|thinks?|thought|describe[sd]?|claim(?:s|ed)|suggest(?:s|ed)"
    r"|request(?:s|ed)?|message|instruction|idea|suggestion|proposal|reading|version|sees)"
)
_DISAGREEMENT: Final = _any_of(
    (
        r"clash(?:es|ing)?|conflict(?:s|ing|ed)?|contradict\w*|disagree\w*|at odds|mismatch(?:es)?|discrepancy|inconsisten\w+",
        r"differ(?:s|ent|ently|ence|ing)?|another way|other way|otherwise|opposite|contrary|unlike|versus|vs|in contrast",
        r"(?:instead of|rather than|against|not) what|regardless of|no matter what|even though|even if|despite|with respect to d[123]",
        r"(?:however|but|although|though|while|whereas|heard|know),? d[123]|(?:sorry|respectfully|apologies|not so),? d[123]",
        rf"{_D}(?:'s| has| just| had)?(?: \w+){{0,2}}? {_OPINES}",
        r"let's settle|to settle|resolve|reconcile|sort (?:this|that|it) out|agree on",
    )
)
_DONE: Final = _any_of(
    (
        r"already|match(?:es|ed|ing)?|(?:is|are|looks?|all|be) correct(?:ly)?|as (?:it|they) should|as (?:intended|planned|wanted)",
        r"done|fine|good|perfect|completed?|finished|settled|in place|(?:is|are|all) set|okay|ok|agrees?|equals?|identical|same as",
    )
)


def text_colors(text: str) -> frozenset[str]:
    """Give the letters of all colours that a text names."""
    return frozenset(letter for letter, pattern in _COLOR_PATTERNS.items() if pattern.search(text))


def text_sizes(text: str) -> frozenset[str]:
    """Give the letters of all sizes that a text names."""
    return frozenset(letter for letter, pattern in _SIZE_PATTERNS.items() if pattern.search(text))


def names_place(text: str) -> bool:
    """Tell whether a text has any word or coordinate that could name a cell; layers alone do not."""
    return bool(_COORDINATE.search(text) or _PLACE.search(_LAYER_ONLY.sub(" ", text)))


def mentions_director(text: str, name: str | None = None) -> bool:
    """Tell whether a text names a director, or that director."""
    if name is not None:
        return bool(_DIRECTOR[name].search(text))
    return any(pattern.search(text) for pattern in _DIRECTOR.values())


def names_disagreement(text: str) -> str | None:
    """Give the words by which a text takes notice of another opinion; None if there are none."""
    return _found(_DISAGREEMENT, text)


def claims_exclusive_view(text: str) -> str | None:
    """Give the words that say only the speaker sees a place; None if there are none."""
    return _found(_EXCLUSIVE, text)


def claims_shared_view(text: str) -> str | None:
    """Give the words that say another director sees a place too; None if there are none."""
    return _found(_SHARED, text)


def without_view_remarks(text: str) -> str:
    """Give the text without its remarks about who sees a place, so that a director named only there does not count."""
    return _SHARED.sub(" ", _EXCLUSIVE.sub(" ", text))


def speaks_of_removal(text: str) -> bool:
    """Tell whether a text has a word for taking something away."""
    return bool(_REMOVAL.search(text))


def names_other_side(text: str, name: str) -> bool:
    """Tell whether a text speaks of a place on that director's side, and of none on the speaker's own."""
    return bool(_OTHER_SIDE[name].search(text)) and not _OWN_SIDE.search(text)


def without_sides(text: str) -> str:
    """Give the text without the director names that only tell whose side a place is on."""
    return _POSSESSIVE.sub(" ", text)


def has_perspective(text: str) -> bool:
    """Tell whether a text has any word that ties it to somebody's seat: persons, sides, seeing."""
    return bool(_PERSPECTIVE.search(text))


def names_done(text: str) -> bool:
    """Tell whether a text has a word by which something could be called right or finished."""
    return bool(_DONE.search(text))


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match.group(0) if match else None


_COLOR_PATTERNS: Final = {letter: _any_of((words,)) for letter, words in COLOR_WORDS.items()}
_SIZE_PATTERNS: Final = {letter: _any_of((words,)) for letter, words in SIZE_WORDS.items()}
