"""Layout to words: tables, forms, lists of changes and labelled fields read as one sentence a record; every offset stays.

A record's labels are blanked out where the values speak for themselves. Where they do not (a bare ``2`` in the column ``layer``), the word
that is missing is given apart, with the offset of the value it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judges.craft.language.text.patterns import any_of

__all__ = ["laid_out"]

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
        plain = _as_one_sentence(lines)
    return plain, words


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


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


def _as_one_sentence(lines: list[str]) -> str:
    """Read the lines of a form (``Block: small red``, ``Position: left``) as one sentence."""
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
        lines[number] = _without_label(lines[number], label)
        ends.append("," if goes_on else "\n")
        if goes_on and lines[number].rstrip().endswith("."):
            lines[number] = lines[number].rstrip()[:-1].ljust(len(lines[number]))
        seen = seen if goes_on else set()
    return "".join(line + end for line, end in zip(lines, ends, strict=True))[:-1]


def _without_label(line: str, label: re.Match[str]) -> str:
    name = label.group(1) if label.group(1) in _SPEAKING else " " * len(label.group(1))
    return " " * label.start(1) + name + " " * (label.end() - label.end(1)) + line[label.end() :]
