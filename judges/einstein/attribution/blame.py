"""The broken link of a step: what a careful player with the same knowledge would have done instead."""

from __future__ import annotations

from typing import NamedTuple

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from games.einstein.engine.puzzle import COMMON, DESTINATIONS, REACH, START_BINS
from judges.attribution.findings import Link
from judges.einstein.attribution.steps import Played

__all__ = ["BrokenLink", "broken_link_of"]


class BrokenLink(NamedTuple):
    """What was wrong with a step by what its player knew: a broken link of that player."""

    link: Link
    evidence: str


def broken_link_of(played: Played) -> BrokenLink | None:
    """What was wrong with a step; None if a careful player could have done the same."""
    action = played.action
    if action is None:
        return BrokenLink("format", "the answer cannot be read")
    if action in played.careful:
        return None
    if isinstance(action, Pass):
        return BrokenLink("idle", f"passed; by what it knew it could {played.careful[0].text}")
    return _KINDS[type(action)](played, action)


def _move(played: Played, action: Action) -> BrokenLink | None:
    assert isinstance(action, Move)
    mind, positions, reach = played.mind, played.table.positions, REACH[played.table.player]
    if action.block >= mind.seen.num_objects:
        return BrokenLink("rule_forgotten", f"{action.text}: there is no such object")
    lies, goal = positions[action.block], mind.goals.get(action.block)
    far = next((name for name in (action.source, action.target) if name not in reach), None)
    reasons: tuple[tuple[bool, Link, str], ...] = (
        (lies != action.source, "rule_forgotten", f"it lies in {lies}, for both to see"),
        (far is not None, "rule_forgotten", f"{far} is out of reach"),
        (lies in DESTINATIONS, "acted_wrong", "it lay in its goal bin, where only right objects stay"),
        (goal is not None and action.target not in (goal, COMMON), "acted_wrong", f"by what it knew the object belongs to {goal}"),
        (action.source == action.target, "acted_wrong", "that moves nothing"),
        (action.target in START_BINS, "acted_wrong", "no object belongs into a start bin"),
        (
            action.target in DESTINATIONS and action.target not in played.possible(action.block),
            "acted_wrong",
            "by what it had seen the object cannot belong there",
        ),
    )
    found = next(((link, why) for is_so, link, why in reasons if is_so), None)
    return _unasked(played, action) if found is None else BrokenLink(found[0], f"{action.text}: {found[1]}")


def _share(played: Played, action: Action) -> BrokenLink | None:
    assert isinstance(action, Share)
    mind = played.mind
    if not (mind.verbs.share or (mind.verbs.reply and mind.asked is not None)):
        return BrokenLink("rule_forgotten", f"{action.text}: nothing may be shared here")
    if action.item not in mind.seen.items:
        return BrokenLink("wrong_instruction", f"{action.text}: it does not hold this item")
    if played.answers:
        return _unanswered(played, action)
    if action.item in mind.told:
        return BrokenLink("acted_wrong", f"{action.text}: that had been told before")
    if mind.obsolete(action.item):
        return BrokenLink("said_too_late", f"{action.text}: all its objects are placed")
    return _unasked(played, action)


def _ask(played: Played, action: Action) -> BrokenLink | None:
    assert isinstance(action, Ask)
    mind = played.mind
    if action.block >= mind.seen.num_objects:
        return BrokenLink("rule_forgotten", f"{action.text}: there is no such object")
    if not mind.verbs.ask:
        return BrokenLink("rule_forgotten", f"{action.text}: nothing may be asked here")
    if action.block in mind.goals:
        return BrokenLink("needless_question", f"{action.text}: by what it knew the object belongs to {mind.goals[action.block]}")
    if action.block in mind.own_asks:
        return BrokenLink("needless_question", f"{action.text}: it had asked that before")
    return _unasked(played, action)


def _unasked(played: Played, action: Action) -> BrokenLink:
    """Nothing is wrong with it by itself, but something else stood before it."""
    if played.answers:
        return _unanswered(played, action)
    return BrokenLink("acted_wrong", f"{action.text}: by what it knew it could {played.careful[0].text}")


def _unanswered(played: Played, action: Action) -> BrokenLink:
    held = played.answers[0].text
    return BrokenLink("not_said", f"{action.text}: the partner had asked about block{played.mind.asked}, and it holds {held}")


_KINDS = {Move: _move, Share: _share, Ask: _ask}
