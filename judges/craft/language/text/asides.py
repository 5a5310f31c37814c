"""Asides: words that only soften or comment a sentence, and the quoted words of others; both are blanked out, offsets stay."""

from __future__ import annotations

import re

from judges.craft.language.text.patterns import any_of

__all__ = ["without_asides"]

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
    """Blank out hedges between commas, exclamations in brackets, quotations of what someone said, and which layers a block is to bear."""
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
