"""Why a request or an answer went wrong, by rule (docs/overcooked.md; formats/overcooked.md, section 10).

``paper_category`` gives the paper's three kinds of wrong initiation exactly by the rule of section 10. ``initiating_category`` and
``responding_category`` look closer: they also tell requests that cannot be carried out, wrong parameters and missing steps apart, and
look into requests that the increment of TES calls right. They take a request for what it means: double quotes are read, too, and where
no plan holds a request, what the opening message asks for in plain words. A message that was not understood in every clause
has no category: what it does not ask for is not known.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from games.overcooked.engine.actions import Trajectory, WrittenAction, parse_call
from games.overcooked.engine.layout import DELIVER, DISH, Layout, kitchen, known_actions
from games.overcooked.measures import Event, TimestepOutput, best_tes, d_max, tes
from games.overcooked.text.replies import NOTHING, Heard, calls_in, heard, requests_meant

INITIATING: Final = (
    "correct",
    "missing_step",
    "next_step",
    "premature",
    "repetitive",
    "irrelevant",
    "infeasible",
    "wrong_parameter",
    "no_request",
)
RESPONDING: Final = (
    "correct",
    "missing_step",
    "wrong_parameter",
    "infeasible",
    "premature",
    "repetitive",
    "irrelevant",
    "refused",
    "followed_wrong_request",
    "excessive",
)


def not_understood(event: Event, messages: Sequence[TimestepOutput], layout: Layout | None = None) -> tuple[str, ...]:
    """Give the clauses of the opening message that were not understood; none where a plan holds the request, whose grammar is known."""
    return () if _written(event, messages) else _spoken(event, messages, layout).unread


def _written(event: Event, messages: Sequence[TimestepOutput]) -> tuple[str, ...]:
    """What the opener's plans request, known actions or not."""
    return tuple(action for message in messages if message.agent == event.opener for action in requests_meant(message.plan))


def _spoken(event: Event, messages: Sequence[TimestepOutput], layout: Layout | None) -> Heard:
    opening = next((message.say for message in messages if message.agent == event.opener and message.say not in ("", NOTHING)), "")
    return heard(opening, event.responder, event.offered, layout)


def asked_for(
    event: Event, messages: Sequence[TimestepOutput], references: Sequence[Trajectory], layout: Layout | None = None
) -> tuple[str, ...]:
    """Give what the opener asks for, by its plans or, where they hold no request, in plain words; known actions or not.

    "Deliver" alone means what is left to deliver: taking the finished product, on a dish where the order needs one.
    """
    asked = _written(event, messages) or _spoken(event, messages, layout).actions
    if asked == (DELIVER,):
        reference = _best(event.done, references)
        left = tuple(reference[d_max(event.done, reference) :])
        if left[-1:] == asked and all(action.startswith(_COLLECTING) for action in left[:-1]):
            return left
    return asked


_COLLECTING: Final = ("pickup(", "fill_dish_with_food(")


def paper_category(event: Event, references: Sequence[Trajectory]) -> str:
    """Give the paper's category of an initiation: correct, next_step, premature, repetitive or irrelevant.

    Source: section 10. The first pickup of the request is looked up in the reference that fits best what the responder has done.
    """
    if event.initiated:
        return "correct"
    return _position(event.request, event.done, references)


def as_meant(event: Event, messages: Sequence[TimestepOutput], references: Sequence[Trajectory], layout: Layout | None = None) -> Event:
    """Give a conversation with what its opener meant to request; the published evaluation reads neither double quotes nor plain words."""
    known = known_actions(event.responder, layout)
    request = tuple(action for action in asked_for(event, messages, references, layout) if action in known)
    if request == event.request:
        return event
    return replace(event, request=request, initiating=best_tes((*event.done, *request), references) - best_tes(event.done, references))


def initiating_category(
    event: Event, messages: Sequence[TimestepOutput], references: Sequence[Trajectory], layout: Layout | None = None
) -> str | None:
    """Give the category of an initiation: one of ``INITIATING``, or None where the message was not understood in every clause."""
    return None if not_understood(event, messages, layout) else _initiation(event, messages, references, layout)


def _initiation(event: Event, messages: Sequence[TimestepOutput], references: Sequence[Trajectory], layout: Layout | None) -> str:
    event, asked = as_meant(event, messages, references, layout), asked_for(event, messages, references, layout)
    if not asked:
        return "no_request"
    impossible = [action for action in asked if action not in known_actions(event.responder, layout)]
    if impossible:
        return "infeasible" if impossible[0] in known_actions(event.opener, layout) else _unknown(parse_call(impossible[0]), layout)
    found = _position(event.request, event.done, references)
    if event.initiated:
        paying = [max(references, key=lambda reference: tes((*event.done, *event.request), reference))]
        if any(_continues(event.request, event.done, those, begun=len(event.request) - 1) for those in (references, paying)):
            return "correct"
        if found == "next_step" or any(_continues(event.request[:1], event.done, those) for those in (references, paying)):
            return "missing_step"
    if found == "irrelevant" and _same_place(event.request, event.done, references):
        return "wrong_parameter"
    return found


def responding_category(
    event: Event, messages: Sequence[TimestepOutput], references: Sequence[Trajectory], layout: Layout | None = None
) -> str | None:
    """Give the category of an answer: one of ``RESPONDING``; what a right request would have had is the yardstick where there was one.

    None where the answer is not right and the message that it answers was not understood in every clause.
    """
    found = _answer(event, messages, references, layout)
    return None if found != "correct" and not_understood(event, messages, layout) else found


def _answer(event: Event, messages: Sequence[TimestepOutput], references: Sequence[Trajectory], layout: Layout | None) -> str:
    event = as_meant(event, messages, references, layout)
    answers = (calls_in(message.plan) for message in messages if message.agent == event.responder)
    planned = next((answer for answer in answers if answer is not None), ())
    asked = asked_for(event, messages, references, layout)
    misled = initiating_category(event, messages, references, layout) not in ("correct", "missing_step")
    if planned and misled and planned == asked[: len(planned)] and (planned == asked or not event.responded):
        return "followed_wrong_request"
    wrong = [action for action in planned if action not in known_actions(event.responder, layout)]
    if wrong:
        return "infeasible" if wrong[0] in known_actions(event.opener, layout) else "wrong_parameter"
    if event.responded:
        whole = event.plan == event.request or _continues(event.plan, event.done, references)
        return "correct" if whole and (event.plan == event.request or not event.plan[-1].startswith("pickup(")) else "missing_step"
    return _wrong_answer(event, references) if planned else "refused"


def _wrong_answer(event: Event, references: Sequence[Trajectory]) -> str:
    """The category of an answer that does not help, though the responder could act on it."""
    if event.initiated and (len(event.plan) < len(event.request) and d_max(event.request, event.plan) == len(event.plan)):
        return "missing_step"
    found = _position(event.plan, event.done, references)
    if found == "irrelevant" and _same_place(event.plan, event.done, references):
        return "wrong_parameter"
    return "excessive" if found == "next_step" else found


def _best(done: Trajectory, references: Sequence[Trajectory]) -> Trajectory:
    return max(references, key=lambda reference: tes(done, reference))


def _position(actions: Trajectory, done: Trajectory, references: Sequence[Trajectory]) -> str:
    """Where the first pickup of some actions is in the reference, seen from what has been done."""
    reference = _best(done, references)
    reached = d_max(done, reference)
    first = next((action for action in actions if action.startswith("pickup(")), actions[0] if actions else None)
    if first is None or first not in reference:
        return "irrelevant"
    if reached < len(reference) and first == reference[reached]:
        return "next_step"
    return "premature" if first in reference[reached:] else "repetitive"


def _continues(actions: Trajectory, done: Trajectory, references: Sequence[Trajectory], *, begun: int = 0) -> bool:
    """Whether the actions are, without gaps, what comes next in a reference that fits best; at most so many of them may be done already."""
    most = max(d_max(done, reference) for reference in references)
    fitting = [reference for reference in references if d_max(done, reference) == most]
    starts = range(max(0, most - begun), most + 1)
    return any(tuple(reference[start : start + len(actions)]) == tuple(actions) for reference in fitting for start in starts)


def _same_place(actions: Trajectory, done: Trajectory, references: Sequence[Trajectory]) -> bool:
    """Whether the first pickup is the expected one but for the object."""
    reference = _best(done, references)
    reached = d_max(done, reference)
    expected = next((parse_call(action) for action in reference[reached:] if action.startswith("pickup(")), None)
    found = next((parse_call(action) for action in actions if action.startswith("pickup(")), None)
    return expected is not None and found is not None and expected.arguments[1:] == found.arguments[1:]


def _unknown(call: WrittenAction | None, layout: Layout | None) -> str:
    """The category of a request that no agent could carry out as written: known objects at a wrong place are parameters gone wrong."""
    if call is None or not call.arguments:
        return "infeasible"
    return "wrong_parameter" if call.name == "pickup" and call.arguments[0] in (*(layout or kitchen()).items, DISH) else "infeasible"
