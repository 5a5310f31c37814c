"""How numbers, categories and conditions are written for people: one form a kind, in terminal reports and on pages alike.

| kind | form |
|---|---|
| share of a count | `44 %`, below one `.4 %` |
| mean of scores from 0 to 1, coefficients | `.52`, `1.00`, `−.07` |
| count | `11 047`, with thin no-break spaces |
| other number | three significant digits: `3.59`, `148`, `0.036` |
| difference, coefficient | the same with its sign: `+0.160`, `−1.24` |
| p-value | `.043`, `.0004`, `< .0001` |
| money | `$1.20`, below a cent two digits that count: `$0.0034` |
| interval | `[.35, .47]` |
| nothing | `–` |
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

NOTHING: Final = "–"
"""Written where there is no value."""

_THIN: Final = "\u202f"
_MINUS: Final = "−"
_CENT: Final = 0.01
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


def share(value: float | None) -> str:
    """A part of a whole, 0..1, in percent: `44 %`; what is neither nothing nor all is never rounded to it."""
    if not _is_number(value):
        return NOTHING
    percent = 100 * value
    if 0 < percent < 1:
        return "< .1 %" if percent < 0.05 else f"{percent:.1f} %".removeprefix("0")  # noqa: PLR2004 - half of the last digit
    if 99.5 <= percent < 100:  # noqa: PLR2004 - would be rounded to all
        return "> 99 %"
    return _signed(f"{percent:.0f} %")


def share_of(part: float | None, whole: float | None, of: str = "") -> str:
    """`12 % (6 of 50)`, or `12 % of turns (6 of 50)`: a share with its counts."""
    if part is None or not whole:
        return f"{NOTHING} (0)"
    return f"{share(part / whole)}{of and f' of {of}'} ({count(part)} of {count(whole)})"


def score(value: float | None) -> str:
    """A mean of scores from 0 to 1, or a coefficient from -1 to 1: `.52`, `1.00`, `−.07`; points beyond are any other number."""
    if not _is_number(value):
        return NOTHING
    if abs(value) > 1:
        return number(value)
    text = f"{value:.2f}"
    if float(text) == 0:
        return ".00"
    return _signed(without_zero(text))


def without_zero(text: str) -> str:
    """A number's text without the zero before its point: `0.47` is `.47`, and `20.35` stays."""
    return re.sub(r"^(-?)0\.", r"\1.", text)


def count(value: float | None) -> str:
    """A whole number with thin spaces: `11 047`; four digits stay together, as in print."""
    if not _is_number(value):
        return NOTHING
    whole = round(value)
    return _signed(str(whole) if abs(whole) < 10_000 else f"{whole:,}".replace(",", _THIN))  # noqa: PLR2004 - five digits


def counted(number: int, thing: str) -> str:
    """`1 game`, `11 047 games`."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def number(value: float | None) -> str:
    """Any other number, with three digits that count: `3.59`, `148`, `0.036`."""
    if not _is_number(value):
        return NOTHING
    if value == round(value) or abs(value) >= 100:  # noqa: PLR2004 - three digits before the point
        return count(value)
    digits = 2 - math.floor(math.log10(abs(value)))
    return _signed(f"{value:.{min(max(digits, 0), 6)}f}")


def money(value: float | None) -> str:
    """US dollars: `$1.20`; below a cent, two digits that count."""
    if not _is_number(value):
        return NOTHING
    if 0 < value < _CENT:
        return f"${value:.{1 - math.floor(math.log10(value))}f}"
    return f"${value:,.2f}".replace(",", _THIN)


def spent(value: float | None, unknown: int) -> str:
    """A sum of money of which some parts may not be known: `$1.20`, `at least $1.20`, and nothing where no part is known.

    Args:
        value: sum of the known costs in US dollars; None: none is known.
        unknown: how many calls have a cost that is not known.
    """
    return f"at least {money(value)}" if unknown and _is_number(value) else money(value)


def of_unknown_cost(unknown: int) -> str:
    """`3 calls of unknown cost`; empty where there are none."""
    return f"{counted(unknown, 'call')} of unknown cost" if unknown else ""


def seconds(value: float | None) -> str:
    """A span of time: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if not _is_number(value):
        return NOTHING
    if value < 10:  # noqa: PLR2004 - one digit
        return f"{value:.1f} s"
    whole = round(value)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S} s"
    return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S} min"


def interval(low: float | None, high: float | None) -> str:
    """A 95 % interval of scores: `[.35, .47]`; empty where there is none."""
    return f"[{score(low)}, {score(high)}]" if _is_number(low) and _is_number(high) else ""


def share_interval(low: float | None, high: float | None) -> str:
    """A 95 % interval of shares: `[15 %, 25 %]`; empty where there is none."""
    return f"[{share(low)}, {share(high)}]" if _is_number(low) and _is_number(high) else ""


def p_value(value: float | None) -> str:
    """`.043`, below a thousandth one digit, `.0004`; below that, digits mean nothing: `< .0001`."""
    if not _is_number(value):
        return NOTHING
    if value < 0.0001:  # noqa: PLR2004 - the last digit that is written
        return "< .0001"
    return without_zero(f"{value:.3f}" if value >= 0.001 else f"{value:.4f}")  # noqa: PLR2004 - the last of three digits


def p_is(value: float | None) -> str:
    """`p = .043`, `p < .0001`: as it is in a sentence."""
    reply = p_value(value)
    return f"p {reply}" if reply.startswith("<") else f"p = {reply}"


def chance(p: float, corrected: float, tests: int, what: str = "row") -> str:
    """`p = .004, .020 corrected for 25 rows`: with how many others a p-value was corrected, never one without the other."""
    return f"{p_is(p)}, {p_value(corrected)} corrected for {counted(tests, what)}"


def signed(value: float | None) -> str:
    """A difference or a coefficient, with its sign and three digits that count: `+0.160`, `−1.24`, `0`."""
    if not _is_number(value):
        return NOTHING
    text = number(abs(value))
    return "0" if not float(text.replace(_THIN, "")) else f"{'+' if value > 0 else _MINUS}{text}"


def coefficient(value: float | None) -> str:
    """A correlation, with its sign: `+.30`, `−.07`, `.00`, `+1.00`."""
    text = score(value)
    return f"+{text}" if _is_number(value) and value > 0 and text != ".00" else text


def from_to(low: float | None, high: float | None) -> str:
    """The 95 % interval of such a number, as it is in a sentence: `+0.106 to +0.213`."""
    return f"{signed(low)} to {signed(high)}"


def truth(value: object) -> str:
    """`yes`, `no`, or that nothing is known."""
    return NOTHING if value is None else "yes" if value else "no"


def in_words(name: object) -> str:
    """A category, metric or outcome without its code's marks: `wrong_block_color` -> `wrong block color`."""
    return NOTHING if name is None else str(name).replace("_", " ").strip()


def condition_in_words(condition: Mapping[str, Any] | str | None, name: str = "") -> str:
    """What a run's condition states, in words: `oracle shown, 20 turns, run 7`.

    Args:
        condition: `runs.condition`, parsed or as JSON text; switches at their usual value go without saying.
        name: what is shown where the condition states nothing, such as the run's name.
    """
    found = json.loads(condition) if isinstance(condition, str) else condition
    if not isinstance(found, Mapping):
        return in_words(name)
    phrases = [phrase for key, value in found.items() if (phrase := _phrase(key, value, found))]
    return ", ".join(phrases) or in_words(name)


_USUAL: Final[Mapping[str, object]] = {
    "start_board": "empty",
    "rules": "published",
    "builder_tool_use": False,
    "harness": "strict",
    "prompt": "full",
}
"""Switch -> the value that goes without saying."""

_UNSAID: Final = frozenset({"num_oracle", "max_tokens", "samples_per_step", "modes", "family"})
"""Switches that distinguish conditions only together with others, or that another switch implies."""

_PHRASES: Final[Mapping[str, Mapping[object, str]]] = {
    "use_oracle": {True: "oracle shown", False: "no oracle"},
    "builder_tool_use": {True: "builder has tools"},
    "provider_group": {"api": "API models", "local": "local models"},
    "action_mode": {"none": "may not talk", "provide": "may tell", "seek": "may ask", "provide_seek": "may tell and ask"},
    "reasoning": {True: "reasons first", False: "no reasoning"},
    "verifier": {"none": "no verifier"},
    "game": {
        "coordqa": "single questions",
        "collab_capture": "CollabCapture",
        "collab_escape": "CollabEscape",
        "hanabi": "Hanabi",
        "overcooked": "Overcooked-AI",
    },
}
"""Switch -> value -> words; others are written by `_FORMS`, or as they are."""

_FORMS: Final[Mapping[str, str]] = {
    "max_turns": "{} turns",
    "step_limit": "{} steps",
    "horizon": "{} timesteps",
    "run": "run {}",
    "start_board": "starts from {}",
    "verifier": "{} verifier",
    "scenario": "{}",
    "layout": "{}",
    "record": "{}",
    "game": "{}",
    "rules": "{} rules",
}


_LONGEST: Final = 60
"""Characters of a setting's value; `runs.condition` has it whole."""


def _phrase(key: str, value: object, others: Mapping[str, Any]) -> str:
    if value is None or key in _UNSAID or (key in _USUAL and _USUAL[key] == value) or (key == "game" and "layout" in others):
        return ""
    words = _PHRASES.get(key, {})
    if isinstance(value, str | int) and value in words:
        return words[value]
    if isinstance(value, bool):
        return in_words(key) if value else f"no {in_words(key)}"
    if isinstance(value, Mapping):
        return condition_in_words(value)
    parts = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    text = ("/" if all(isinstance(part, int) for part in parts) else " and ").join(map(in_words, parts))  # team sizes: 2/3/3/4/4
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"  # a prompt or a grammar that requests held
    form = _FORMS.get(key)  # a key comes from a log: it is never a format string
    return f"{in_words(key)} {text}" if form is None else form.format(text)


def _is_number(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _signed(text: str) -> str:
    """A minus sign where the hyphen stood; none before zero."""
    return (_MINUS + text[1:] if text.strip("-0.% ") else text[1:]) if text.startswith("-") else text
