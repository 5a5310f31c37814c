"""Asides: words that only soften or comment a sentence, and the quoted words of others; both are blanked out, offsets stay."""

from __future__ import annotations

import re

__all__ = ["without_asides"]

_HEDGE = (
    r"(?:at least |or so |again |if )?(?:i (?:think|suppose|guess|believe|reckon|assume|imagine|hope|feel|know|admit|am afraid"
    r"|am (?:fairly |pretty )?sure|would say|must say|would guess|would argue)|i'd (?:say|guess|argue)"
    r"|i'm (?:afraid|(?:fairly |pretty )?sure|guessing)|it seems(?: to me)?"
    r"|as (?:far as )?i (?:can )?(?:tell|see|see it|said|mentioned|know|understand it)"
    r"|(?:if|unless) (?:i am|i'm) (?:not )?(?:mistaken|wrong|right|correct)|unless i misread(?: \w+ \w+)?|if anything"
    r"|if i (?:count|see|read|remember|understand)(?: it| this)?(?: correctly| right| rightly)|i (?:gather|suspect|presume|fear)"
    r"|if i may|if possible|in my (?:view|opinion|eyes)|to my mind|to be (?:honest|clear|sure|precise|exact)"
    r"|you know|for what it is worth|more or less|of course|mind you|so to speak|as it were|as always|as usual|once more|if you will"
    r"|(?:if|when) you (?:can|could|would|please|get the chance|get a chance|have a moment|do not mind|don't mind)"
    r"|if (?:that is|that's|it is|it's) (?:ok|okay|fine|alright|all right)(?: with (?:you|everybody|everyone|you all))?"
    r"|perhaps|maybe|possibly|probably|apparently|honestly|frankly|really|actually|basically|ideally|clearly|obviously|certainly|surely"
    r"|naturally|admittedly|preferably)"
)
_BETWEEN = re.compile(rf",\s*{_HEDGE}\s*,")
_CLOSING = re.compile(rf"(?<=\w)(?:,\s*|\s+){_HEDGE}(?=\s*[,;.)!?]|\s*$)")
_OPENING = re.compile(rf"(?:^|(?<=[.!?;]\s))\s*{_HEDGE}\s*,")
_BRACKETED = re.compile(r"\((?![0-9]\s*,)[^()\n]*[!?.][^()\n]*\)")
_SOFTENER = re.compile(
    r"\b(?:really|actually|probably|perhaps|maybe|possibly|definitely|certainly|ideally|obviously|surely|simply|kindly)\b(?=\s+\w)"
)
_QUOTED = r"""(?:"[^"\n]*"|(?<!\w)'[^'\n]*'(?!\w))"""
_TELLER = r"\b(?:director\s*)?(?:d[123]|he|she|they|you|somebody|someone|the others?|the builder|(?:the )?(?:left|right|back) director)\b"
_TELLING = (
    r"(?:said|says|wrote|writes|asked|asks|told|suggested|suggests|proposed|proposes|claimed|claims|called|put it|request(?:ed|s)?|message"
    r"|words?|idea)"
)
_QUOTATION = re.compile(
    rf"""(?:{_TELLER}|\b(?:i|my (?:last|previous|earlier) \w+))(?:'s)?[^.!?"\n]{{0,30}}?{_TELLING}[^.!?"\n]{{0,20}}?({_QUOTED})"""
    rf"""|({_QUOTED}),?\s+(?:{_TELLING}\s+{_TELLER}|(?:as\s+)?{_TELLER}\s+{_TELLING})"""
)


def without_asides(plain: str) -> str:
    """Blank out hedges between commas, exclamations in brackets, and quotations of what someone said."""
    if '"' in plain or "'" in plain:
        plain = _QUOTATION.sub(_without_quote, plain)
    if "(" in plain:
        plain = _BRACKETED.sub(_blank, plain)
    for pattern in (_BETWEEN, _OPENING, _CLOSING, _SOFTENER):
        plain = pattern.sub(_blank, plain)
    return plain


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _without_quote(match: re.Match[str]) -> str:
    whole, quote = match.group(), match.group(1) or match.group(2)
    return whole.replace(quote, " " * len(quote))
