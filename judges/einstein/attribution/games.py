"""The broken links of an Einstein game, step by step.

Every step is one player's alone, so it is that player's, the harness's or no one's. Its ideal is what a careful player would choose who
knows no more: an answer to a question just asked, else a known object placed or passed on, else news or a question. Which of several is
best no player can know, so the ideal is worth their mean, and whoever chose one of them is not at fault. Where all that is left is a guess,
the player cannot know better whatever it does: neither a wrong guess nor a lucky one nor a pass is a fault, unless a rule or a bin that
refused the object before speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, Ideal, Link, Lost, shared_out, undecided
from judges.einstein.attribution.blame import BrokenLink, broken_link_of
from judges.einstein.attribution.steps import Played, played_steps
from judges.evidence.transcript import Transcript
from schemas.errors import CotraceError

__all__ = ["MEASURES", "attribute"]

MEASURES: Final = ("einstein.know",)


def attribute(transcript: Transcript, lost: Mapping[int, Lost]) -> Attributed:
    """Hold every step against what a careful player would have done; see `judges.attribution.findings.Attribute`."""
    try:
        steps = {played.turn: played for played in played_steps(transcript)}
    except CotraceError as error:
        return Attributed([undecided(turn, value.cost, str(error)) for turn, value in lost.items() if value.cost > NOTHING])
    findings = [finding for turn, value in lost.items() if turn in steps for finding in _of_step(steps[turn], value)]
    return Attributed(findings, [*_follows(transcript, [*steps.values()])])


def _follows(game: Transcript, steps: Sequence[Played]) -> Iterator[Follow]:
    """Each question that the partner could answer, and whether its next step did."""
    for asking, then in pairwise(steps):
        action = asking.action
        if not isinstance(action, Ask) or not asking.outcome.history_ok or not then.answers:
            continue
        answered = isinstance(then.action, Share) and then.action.item in then.answers
        seq = next((said.seq for said in game.turn(asking.turn).utterances if said.agent == asking.agent), 0)
        needed = action.block not in asking.mind.goals
        yield Follow(asking.turn, seq, asking.agent, then.agent, action.text, "fully" if answered else "no", right=needed)


def _of_step(played: Played, lost: Lost) -> Iterator[Finding]:
    if played.lost:
        yield from _lost(played, lost)
        return
    broken = broken_link_of(played)
    if lost.cost <= NOTHING:
        if broken is not None and broken.link != "acted_wrong":
            yield Finding(played.turn, played.agent, broken.link, 0.0, broken.evidence)
        return
    causes = [] if broken is None else [*_causes(played, lost, broken)]
    yield from shared_out(played.turn, lost.cost, causes, _not_seen(played))


def _not_seen(played: Played) -> tuple[Link, str]:
    done = played.action.text if played.action else "an answer that cannot be read"
    return "not_seen", f"{done}: by what {played.agent} knew nothing better could be told"


def _lost(played: Played, lost: Lost) -> Iterator[Finding]:
    """An answer that the harness lost: what a careful one would have kept is the harness's."""
    cost = max(lost.cost, 0.0)
    kept = min(_best(played, lost, played.careful).kept, cost)
    yield Finding(played.turn, None, "harness", kept, f"{played.agent}: {played.lost}, so nothing was done")
    if cost - kept > NOTHING:
        link, evidence = _not_seen(played)
        yield Finding(played.turn, None, link, cost - kept, evidence)


def _causes(played: Played, lost: Lost, broken: BrokenLink) -> Iterator[Cause]:
    """What the player did and, where its verifier had a better answer of it to choose, the harness."""
    tries = [action for action in played.careful if not isinstance(action, Pass)]
    best = _best(played, lost, tries if tries and isinstance(played.action, Move) else played.careful)
    if best.kept > NOTHING or broken.link != "acted_wrong":
        yield Cause(played.agent, broken.link, f"{broken.evidence}{_instead(best)}", best.kept, Ideal("do", best.action.text))
    sampled = [action for action in played.turned_down if action in played.careful]
    if sampled and Pass() not in played.careful:
        other = _best(played, lost, sampled)
        if other.kept > NOTHING:
            yield Cause(None, "verifier", f"{other.action.text} had been sampled, and was turned down{_instead(other)}", other.kept)


class _Best(NamedTuple):
    """What a careful player would have kept."""

    kept: float
    """Steps: the mean of several actions of which the player cannot know the best; 0 where all of them are guesses."""

    action: Action
    """One of them, that keeps so much at least."""

    alike: bool = True
    """Whether all of them keep so much."""


def _best(played: Played, lost: Lost, actions: Sequence[Action]) -> _Best:
    gains = [(lost.after - left, action) for action in actions if (left := played.steps_left(action)) is not None]
    if not gains or Pass() in actions:
        return _Best(0.0, actions[0])
    mean = sum(gain for gain, _ in gains) / len(gains)
    alike = all(gain == mean for gain, _ in gains)
    return _Best(max(mean, 0.0), next(action for gain, action in gains if alike or gain > mean), alike)


def _instead(best: _Best) -> str:
    if best.kept <= NOTHING:
        return ""
    steps = f"{best.kept:.2g} {'step' if best.kept == 1 else 'steps'}"
    if best.alike:
        return f"; {best.action.text} would have kept {steps}"
    return f"; what it knew of, such as {best.action.text}, would have kept {steps} on average"
