"""Text to words: asides and layout taken out, quotes and dashes unified, contractions expanded, typing errors corrected; offsets stay.

A record's labels are blanked out where the values speak for themselves. Where they do not (a bare ``2`` in the column ``layer``), the word
that is missing is given apart, with the offset of the value it belongs to.

Layers are counted from zero in the game's own notation, so that is what a bare ``layer 1`` means; a ``layer 3``, or ``counting
from 1``, shows that a text counts from one. Columns have no notation of their own: they stay unread, but for the squares of a chess board.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final

from judges.craft.language.vocabulary import BLOCK_NOUNS, CELL_NOUNS, COLORS, LAYER_NOUNS, PHRASES, SIZES, TYPO_TARGETS, Token, word_set
from schemas.common.packages import packaged_yaml

_PATTERNS: Final[Mapping[str, Sequence[str]]] = packaged_yaml(__package__, "patterns.yaml")


def any_of(name: str) -> str:
    """The alternatives of that name as one part of a regular expression, without a group around it."""
    return "|".join(_PATTERNS[name])


_HEDGE = rf"(?:at least |or so |again |if )?(?:{any_of('hedge')})"
_BETWEEN = re.compile(rf",\s*{_HEDGE}\s*,")
_CLOSING = re.compile(rf"(?<=\w)(?:,\s*|\s+){_HEDGE}(?=\s*[,;.)!?]|\s*$)")
_OPENING = re.compile(rf"(?:^|(?<=[.!?;]\s))\s*{_HEDGE}\s*,")
_BRACKETED = re.compile(r"\((?![0-9]\s*,)[^()\n]*[!?.][^()\n]*\)")
_SOFTENER = re.compile(
    r"\b(?:really|actually|probably|perhaps|maybe|possibly|definitely|certainly|ideally|obviously|surely|simply|kindly)\b(?=\s+\w)"
)
_SUPPORTING = re.compile(
    r"(?<!not)(?<!need)(?<!needs)(?<!has)(?<!have)(?<!had)(?<!is)(?<!are)(?<!ought)(?<!supposed)(?<!meant) "
    r"(?:in order )?to (?:support|brace|underpin|carry|bear|hold up|prop up) (?:\w+ ){0,3}?(?:layers?|levels?|rows?|tiers?)\b"
)
"""What a block is for: the layers that it is to bear are not its own."""

_QUOTED = r"""(?:"[^"\n]*"|(?<!\w)'[^'\n]*'(?!\w))"""
_TELLER = r"\b(?:director\s*)?(?:d[123]|he|she|they|you|somebody|someone|the others?|the builder|(?:the )?(?:left|right|back) director)\b"
_TELLING = rf"(?:{any_of('telling')})"
_QUOTATION = re.compile(
    rf"""(?:{_TELLER}|\b(?:i|my (?:last|previous|earlier) \w+))(?:'s)?[^.!?"\n]{{0,30}}?{_TELLING}[^.!?"\n]{{0,20}}?({_QUOTED})"""
    rf"""|({_QUOTED}),?\s+(?:{_TELLING}\s+{_TELLER}|(?:as\s+)?{_TELLER}\s+{_TELLING})"""
)


def without_asides(plain: str) -> str:
    """Blank out hedges between commas, exclamations in brackets, quotations of what someone stated, and which layers a block is to bear."""
    if '"' in plain or "'" in plain:
        plain = _QUOTATION.sub(_without_quote, plain)
    if "(" in plain:
        plain = _BRACKETED.sub(_blank, plain)
    for pattern in (_BETWEEN, _OPENING, _CLOSING, _SOFTENER, _SUPPORTING):
        plain = pattern.sub(_blank, plain)
    return plain


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _without_quote(match: re.Match[str]) -> str:
    whole, quote = match.group(), match.group(1) or match.group(2)
    return whole.replace(quote, " " * len(quote))


_LAYER = ("layer", "row", "level", "tier", "lvl", "lyr")
_COLUMN = ("column", "slot")
_SIZE = ("size", "sz")
_SPEAKING = frozenset((*_SIZE, "span", "spans", "spanning", *_LAYER))
"""Labels that are needed to understand what follows; the others are left out."""

_NAMES = any_of("labels")
_FORM_LINE = re.compile(rf"\s*(?:[-•]\s+)?({_NAMES})\s*:")
_FIELD = re.compile(rf"""["']?\b({_NAMES})\b["']?\s*[:=]\s*(?=\S)""")
_HEADER = re.compile(rf"(?:{_NAMES}|#|no|step|priority)s?")
_RULE = re.compile(r"[\s|:=+-]*-[\s|:=+-]*")
_WALL = re.compile(r"\b(?:wall|view)\s*=\s*\w+")
_OLD = re.compile(r"\b(old|was|now|current|currently|before)\s*[:=]\s*")
_NEW = re.compile(r"\b(new|target|goal|want|wanted|needed|after)\s*[:=]\s*")
_CHANGE = re.compile(r"\s*([+-])\s+(?=\w)")
_CSV_COMMA = re.compile(r",(?![^(]*\))")
_CSV_ROW = re.compile(r"[^\s,]+(?:,(?:\([0-9],\s?[0-9]\)|[^\s,]+)){3,}")
_PLACE = re.compile(r"\([0-2],\s*[0-2]\)|\b(?:left|right|mid|middle|cent(?:er|re))\b")
_SEVERAL = 2
"""Labels in one line that make it a record."""

_REPLACING = re.compile(r"\b(?:replace|swap|change|exchange|switch)\b")

Words = dict[int, tuple[str, ...]]
"""Words to be read before the one that begins at an offset."""


def laid_out(plain: str) -> tuple[str, Words]:
    """Give a text of the same length in which every record is one sentence, and the words that its values lack."""
    words: Words = {}
    if "|" in plain or "=" in plain or ":" in plain or "," in plain:
        lines = _without_tables(_WALL.sub(_blank, plain).split("\n"), words)
        changes = {match.group(1) for line in lines if (match := _CHANGE.match(line))}
        begin = 0
        for number, line in enumerate(lines):
            changed = _as_change(line, begin, words) if len(changes) > 1 else line
            lines[number] = _without_fields(_compared(changed, begin, words), begin, words)
            begin += len(line) + 1
        labels = [_FORM_LINE.match(line) for line in lines]
        ends: list[str] = []
        seen: set[str] = set()
        for number, label in enumerate(labels):
            follower = labels[number + 1] if number + 1 < len(labels) else None
            if label is None or (follower is None and not seen):
                ends.append("\n")
                seen = set()
                continue
            seen.add(label.group(1))
            goes_on = follower is not None and follower.group(1) not in seen
            name = label.group(1) if label.group(1) in _SPEAKING else " " * len(label.group(1))
            lines[number] = " " * label.start(1) + name + " " * (label.end() - label.end(1)) + lines[number][label.end() :]
            ends.append("," if goes_on else "\n")
            if goes_on and lines[number].rstrip().endswith("."):
                lines[number] = lines[number].rstrip()[:-1].ljust(len(lines[number]))
            seen = seen if goes_on else set()
        plain = "".join(line + end for line, end in zip(lines, ends, strict=True))[:-1]
    return plain, words


def _without_tables(lines: list[str], words: Words) -> list[str]:
    """Blank out headings and rules of tables, and name the values that are only numbers."""
    header: list[str] = []
    begin = 0
    for number, line in enumerate(lines):
        fields = _fields(line)
        names = [text for _, text in fields if text]
        if "|" in line and _RULE.fullmatch(line):
            lines[number] = " " * len(line)
        elif len(names) > 1 and all(_HEADER.fullmatch(name) for name in names):
            header, lines[number] = [text for _, text in fields], " " * len(line)
        elif fields:
            _name_numbers(fields, header if len(header) == len(fields) else [], begin, words)
            lines[number] = line.replace("|", ",")
        elif line.strip():
            header = []
        begin += len(line) + 1
    return lines


def _fields(line: str) -> list[tuple[int, str]]:
    """Give offset and text of the fields of a table's row, nothing for other lines."""
    if "|" in line:
        cuts = [match.start() for match in re.finditer(r"\|", line)]
    elif _CSV_ROW.fullmatch(line.strip()):
        cuts = [match.start() for match in _CSV_COMMA.finditer(line)]
    else:
        return []
    bounds = zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(line)], strict=True)
    return [(begin + len(line[begin:end]) - len(line[begin:end].lstrip()), line[begin:end].strip()) for begin, end in bounds]


def _name_numbers(fields: Sequence[tuple[int, str]], header: Sequence[str], begin: int, words: Words) -> None:
    """Say of a number whether it is a layer: its heading does, or another field names the cell."""
    placed = any(_PLACE.search(text) for _, text in fields)
    for number, (offset, text) in enumerate(fields):
        label = header[number].removesuffix("s") if header else "layer" if placed and number > 0 else ""
        if not (len(text) == 1 and text.isdigit()) and not (header and label in _LAYER and text.isalpha()):
            continue
        if label in _LAYER or label in _COLUMN:
            words[begin + offset] = ("layer" if label in _LAYER else "column",)


def _as_change(line: str, begin: int, words: Words) -> str:
    """Read the ``-`` and ``+`` of a list of changes as remove and place."""
    mark = _CHANGE.match(line)
    if mark is None:
        return line
    words[begin + mark.end()] = ("remove",) if mark.group(1) == "-" else ("place",)
    return " " * mark.end() + line[mark.end() :]


def _compared(line: str, begin: int, words: Words) -> str:
    """Read ``old: A, new: B`` as ``A with B`` behind a verb of replacing."""
    old, new = _OLD.search(line), _NEW.search(line)
    if old is None or new is None or not _REPLACING.search(line[: old.start()]):
        return line
    words[begin + new.end()] = ("with",)
    for match in (old, new):
        line = line[: match.start()] + _blank(match) + line[match.end() :]
    return line


def _without_fields(line: str, begin: int, words: Words) -> str:
    """Blank out the labels of a line with several ones: ``cell=left; colour=red``."""
    found = list(_FIELD.finditer(line))
    if len(found) < _SEVERAL:
        return line
    for match in found:
        if match.group(1) in _SPEAKING:
            name = match.group(1)
            words.setdefault(begin + match.end(), ("layer" if name in _LAYER else "size" if name in _SIZE else name,))
        before = line[: match.start()].rstrip()
        before = before[:-1] + "," if before.endswith(".") else before
        parted = before + "," if before and before[-1] not in ",;:([{" else before
        line = parted.ljust(match.end())[: match.end()] + line[match.end() :]
    return line


_ALIKE = str.maketrans({"\u2019": "'", "\u2018": "'", "`": " ", "“": '"', "”": '"', "—": ";", "–": "-", "\u00a0": " ", "*": " ", "…": ".",
                        "↔": "-", "→": ">", "⇒": ">", "➜": ">", "⟶": ">"})  # fmt: skip
_TOKEN = re.compile(rf"\bd[123](?:'s)?\b|{any_of('token')}")
_MEASURE = re.compile(r"(?=.*\s|.*=).*(?:cell|stud|unit|square|space|slot|block|place|position|spot|size).*")
_LIST_MARK = re.compile(r"(?m)^[ \t]*(?:[-•]|\(?\d{1,2}[.)])[ \t]+")
_DIRECTOR = re.compile(r"\b(?:director\s*)?d([123])\b")
_HEIGHTS = ("top", "bottom", "north", "south", "upper", "lower")
_SIDES = ("left", "right", "middle", "center", "centre", "west", "east")
_RUN_TOGETHER = {high + side: (high, side) for high in _HEIGHTS for side in _SIDES}
_SHORTEST_TYPED = 4
_SHORTEST_MEANT = 5
"""Letters of words in which typing errors are corrected; shorter ones are too like each other."""

_LONG = 6
"""Letters of words in which a wrong letter is corrected, too, unless it is the first or the last."""

_PRONOUNS = word_set("tokens", "pronouns")
_ENDINGS = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_END_OF_SENTENCE = frozenset(".!?\n")
_INTERJECTIONS = word_set("tokens", "interjections")


@lru_cache(maxsize=16)
def sentences(text: str) -> list[list[Token]]:
    """Give the words of a text, sentence by sentence; a line end closes a sentence, marks of enumerations are left out.

    Cached, since two steps of reading a text ask for them: nobody changes the lists.
    """
    plain = text.translate(_ALIKE).lower().replace("(s)", "   ")
    plain, added = laid_out(without_asides(plain))
    plain = plain.replace("+", "&")
    plain = _LIST_MARK.sub(lambda mark: "\n" + " " * (len(mark.group()) - 1), plain)
    plain = plain.replace(" - ", " ; ")
    plain = _DIRECTOR.sub(lambda match: f"d{match.group(1)}".ljust(len(match.group())), plain)
    result: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(plain):
        words = [*added.get(match.start(), ()), *_words(match.group())] if added else _words(match.group())
        result[-1].extend(Token(word, match.start(), match.end()) for word in words)
        if words[-1] in _END_OF_SENTENCE:
            result.append([])
    return [_without_interjection(sentence) for sentence in result if sentence]


def _without_interjection(sentence: list[Token]) -> list[Token]:
    """Leave out what only opens a sentence: ``ok so yeah, ...``, ``Great, ...``; a sentence that is nothing else stays."""
    begin = next((at for at, token in enumerate(sentence) if token.word not in _INTERJECTIONS), 0)
    opens = 0 < begin < len(sentence) - 1 and sentence[begin].word == ","
    return sentence[begin + 1 :] if opens else sentence


def _words(raw: str) -> list[str]:
    """Expand a contraction, join the parts of a cell, correct a typing error, give a measure as a size."""
    if _MEASURE.fullmatch(raw):
        return ["size", "two" if "two" in raw or "2" in raw else "one"]
    if raw.isalpha():
        return list(_RUN_TOGETHER[raw]) if raw in _RUN_TOGETHER else [corrected(raw)]
    if raw[0] in "([" or re.fullmatch(r"[0-9]\s?,\s?[0-9]", raw):
        row, column, *layers = re.findall("[0-9]", raw)
        return [f"({row},{column})", *(f"l{layer}" for layer in layers)]
    if "'" in raw:
        return _expand(raw)
    if re.fullmatch(r"[12]\s?x\s?[12]", raw):
        return [raw.replace(" ", "")]
    return [raw]


def _expand(raw: str) -> list[str]:
    stem, _, ending = raw.partition("'")
    if raw.endswith("n't"):
        return [{"ca": "can", "wo": "will"}.get(raw[:-3], raw[:-3]), "not"]
    if ending == "s":
        return [stem, "is"] if stem in _PRONOUNS else (["lets"] if stem == "let" else [stem])
    word = _ENDINGS.get("'" + ending)
    return [stem, word] if word else [stem]


@cache
def _known_words() -> frozenset[str]:
    phrase_words = {word for phrase in PHRASES for word in phrase}
    return frozenset(phrase_words | set(COLORS) | set(SIZES) | set(BLOCK_NOUNS) | CELL_NOUNS | LAYER_NOUNS | _ORDINARY)


_ORDINARY = word_set("tokens", "ordinary")


@cache
def corrected(word: str) -> str:
    """Give the word that was meant if one letter was lost, doubled or swapped with its neighbour; else the word itself."""
    if len(word) < _SHORTEST_TYPED or word in _known_words() or word in TYPO_TARGETS:
        return word
    return next((target for target in TYPO_TARGETS if _is_slip(word, target)), word)


def _is_slip(typed: str, meant: str) -> bool:
    if typed[0] != meant[0] or abs(len(typed) - len(meant)) > 1 or len(meant) < _SHORTEST_MEANT:
        return False
    if len(typed) == len(meant):
        pairs = (meant[:i] + meant[i + 1] + meant[i] + meant[i + 2 :] for i in range(len(meant) - 1))
        return typed in pairs or (len(meant) >= _LONG and typed[-1] == meant[-1] and _differing(typed, meant) == 1)
    longer, shorter = (typed, meant) if len(typed) > len(meant) else (meant, typed)
    drops = (i for i in range(len(longer)) if longer[:i] + longer[i + 1 :] == shorter)
    # A lost letter may be any one; a letter too many only counts when it doubles its neighbour.
    return any(longer is meant or longer[i] == longer[i - 1] for i in drops)


def _differing(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


_LAYERS = LAYER_NOUNS - {"line"}
_NUMBERS = {"0": 0, "zero": 0, "1": 1, "one": 1, "2": 2, "two": 2, "3": 3, "three": 3}
_ORDINALS = ("first", "second", "third")
_CODES = ("l0", "l1", "l2", "l3")
_LAYER_NUMBERS = frozenset((*_NUMBERS, *_CODES, "ground"))
"""Words without which there is nothing to count."""

_SHORT = 2
_COUNTING = frozenset(("counting", "counted", "numbered", "starting", "count", "indexed", "index"))
_WIDTH = 3
_SQUARE = re.compile("[abc][0-3]")
_FILES = {"a": "left", "b": "middle", "c": "right"}
_STOREYS = frozenset(("floor", "storey", "story"))
_HIGHER = {"first": "second", "second": "third"}


Sentence = list[Token]


def counted(sentences: list[Sentence]) -> list[Sentence]:
    """Give the sentences with ordinals in place of the numbers of layers that count from one."""
    present = {token.word for sentence in sentences for token in sentence}
    if present.isdisjoint(_LAYER_NUMBERS) and not any(_SQUARE.fullmatch(word) for word in present if len(word) == _SHORT):
        return sentences
    if "ground" in present and "third" not in present:
        sentences = [_above_ground(sentence) for sentence in sentences]
    sentences = _without_squares(sentences)
    layers = {number for sentence in sentences for _, _, number in _numbered(sentence)}
    reported = next((base for sentence in sentences if (base := _counting_base(sentence)) is not None), None)
    from_one = reported == 1 or (reported is None and _WIDTH in layers and 0 not in layers)
    return [_rewritten(sentence) for sentence in sentences] if from_one else sentences


def _above_ground(sentence: Sentence) -> Sentence:
    """Count the first floor from above the ground floor where a text has both."""
    pairs = itertools.pairwise([*sentence, sentence[-1]])
    return [replace(one, word=_HIGHER.get(one.word, one.word)) if other.word in _STOREYS else one for one, other in pairs]


def _without_squares(sentences: list[Sentence]) -> list[Sentence]:
    """Read ``b3`` as on a chess board: letters from the left, numbers from the bottom; not next to a layer of its own."""
    squares = [token.word for sentence in sentences for token in sentence if _SQUARE.fullmatch(token.word)]
    base = 0 if any(word[1] == "0" for word in squares) else 1
    return [_expanded_squares(sentence, base) for sentence in sentences] if squares else sentences


def _expanded_squares(sentence: Sentence, base: int) -> Sentence:
    if any(token.word in LAYER_NOUNS or token.word in _CODES for token in sentence):
        return sentence
    result: Sentence = []
    for token in sentence:
        number = int(token.word[1]) - base if _SQUARE.fullmatch(token.word) else -1
        if number in range(_WIDTH):
            words = (_FILES[token.word[0]], "cell", _ORDINALS[number], "layer")
            result += [replace(token, word=word) for word in words]
        else:
            result.append(token)
    return result


def _numbered(sentence: Sentence) -> Iterator[tuple[int, int, int]]:
    """Give begin, length and number of ``layer 2``, ``row number two``, ``L2``."""
    for index, token in enumerate(sentence):
        if token.word in _CODES:
            yield index, 1, int(token.word[1])
        if token.word not in _LAYERS:
            continue
        skipped = 1 + (index + 1 < len(sentence) and sentence[index + 1].word in ("number", "no", "index"))
        number = _NUMBERS.get(sentence[index + skipped].word) if index + skipped < len(sentence) else None
        if number is not None:
            yield index, skipped + 1, number


def _counting_base(sentence: Sentence) -> int | None:
    """Read ``counting from 1``, ``numbered from zero``."""
    words = [token.word for token in sentence]
    for index, word in enumerate(words):
        if word in _COUNTING and index + 2 < len(words) and words[index + 1] in ("from", "at", "with"):
            base = _NUMBERS.get(words[index + 2])
            return base if base in (0, 1) else None
    return None


def _rewritten(sentence: Sentence) -> Sentence:
    """Put ordinals in place of numbers that count from one."""
    result = list(sentence)
    for index, length, number in reversed(list(_numbered(sentence))):
        if number - 1 in range(_WIDTH):
            begin, end = sentence[index].start, sentence[index + length - 1].end
            result[index : index + length] = [Token(_ORDINALS[number - 1], begin, end), Token("layer", begin, end)]
    return result
