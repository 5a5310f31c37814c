"""What agents write: the plan's actions and requests, and the three labelled fields (formats/overcooked.md, section 5)."""

import re
from typing import Final, NamedTuple

from games.overcooked.engine.actions import normalised

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
    """``NOTHING`` if it is missing or says so."""


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
    said = say[1].strip() if say else NOTHING
    return Fields(
        analysis=analysis[1].strip() if analysis else "",
        plan=f"{role} plan{plan[1]}".strip() if plan and _well_formed(plan[1]) else "",
        say=NOTHING if not said or NOTHING in said else said,
    )


def _well_formed(plan: str) -> bool:
    """Whether the first item has exactly one colon before a short, non-empty function name."""
    first = plan.split(";", 1)[0]
    if first.count(":") != 1:
        return False
    name = first.partition(":")[2].partition("(")[0].replace(" ", "")
    return 0 < len(name) < _LONGEST_NAME


def said_parts(fields: Fields) -> list[tuple[str, str]]:
    """Give what of an output is not empty: analysis and plan, which only its author sees, and the say."""
    said = "" if fields.say == NOTHING else fields.say
    return [(part, text) for part, text in (("analysis", fields.analysis), ("plan", fields.plan), ("say", said)) if text]
