"""The broken links of an Einstein game, step by step.

Every step is one player's alone, so it is that player's or nobody's. Its ideal is the best of what a careful player would choose from who
knows no more: an answer to a question just asked, else a known object placed or passed on, else news, a question, a guess. Which of these
is best nobody can know; so whoever chose one of them is not at fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from games.einstein.engine.actions import Action, Ask, Share
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, Ideal, Lost, shared_out, undecided
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
    broken = broken_link_of(played)
    if lost.cost <= NOTHING:
        if broken is not None:
            yield Finding(played.turn, played.agent, broken.link, 0.0, broken.evidence)
        return
    done = played.action.text if played.action else "an answer that cannot be read"
    nobody = f"{done}: by what {played.agent} knew nothing better could be told"
    causes = [] if broken is None else [_cause(played, lost, broken)]
    yield from shared_out(played.turn, lost.cost, causes, ("not_seen", nobody))


def _cause(played: Played, lost: Lost, broken: BrokenLink) -> Cause:
    turned_down = [action for action in played.turned_down if action in played.careful]
    if turned_down:
        kept, better = _best(played, lost, turned_down)
        if kept > NOTHING:
            evidence = f"{broken.evidence}; {better.text} had been sampled, and was turned down{_instead(kept, better)}"
            return Cause(played.agent, "verifier", evidence, kept, Ideal("do", better.text))
    kept, better = _best(played, lost, played.careful)
    return Cause(played.agent, broken.link, f"{broken.evidence}{_instead(kept, better)}", kept, Ideal("do", better.text))


def _best(played: Played, lost: Lost, actions: Sequence[Action]) -> tuple[float, Action]:
    return max(((lost.after - played.steps_left(action), action) for action in actions), key=lambda pair: pair[0])


def _instead(kept: float, better: Action) -> str:
    return f"; {better.text} would have kept {kept:.0f} {'step' if kept == 1 else 'steps'}" if kept > NOTHING else ""
