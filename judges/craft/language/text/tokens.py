"""Text to words: unified quotes and dashes, contractions expanded, slips of the finger mended; offsets stay those of the text."""

from __future__ import annotations

import re
from functools import cache

from judges.craft.language.text.asides import without_asides
from judges.craft.language.text.layout import laid_out
from judges.craft.language.text.patterns import any_of
from judges.craft.language.words.items import Token
from judges.craft.language.words.vocabulary import BLOCK_NOUNS, CELL_NOUNS, COLORS, LAYER_NOUNS, PHRASES, SIZES, TYPO_TARGETS, word_set

__all__ = ["sentences"]

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
"""Letters of words in which slips are mended; shorter ones are too like each other."""

_LONG = 6
"""Letters of words in which a wrong letter is mended, too, unless it is the first or the last."""

_PRONOUNS = word_set("tokens", "pronouns")
_ENDINGS = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_END_OF_SENTENCE = frozenset(".!?\n")
_INTERJECTIONS = word_set("tokens", "interjections")


def sentences(text: str) -> list[list[Token]]:
    """Give the words of a text, sentence by sentence; a line end closes a sentence, marks of enumerations are left out."""
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
    """Expand a contraction, join the parts of a cell, mend a slip, give a measure as a size."""
    if _MEASURE.fullmatch(raw):
        return ["size", "two" if "two" in raw or "2" in raw else "one"]
    if raw.isalpha():
        return list(_RUN_TOGETHER[raw]) if raw in _RUN_TOGETHER else [mend(raw)]
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
def mend(word: str) -> str:
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
