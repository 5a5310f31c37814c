"""Who lost what in an Einstein game, step by step.

Every step is one player's alone, so it is that player's, the harness's or no one's. Its ideal is what a careful player would choose who
knows no more: an answer to a question just asked, else a known object placed or passed on, else news or a question. Which of several is
best no player can know, so the ideal is worth their mean, and whoever chose one of them is not at fault. Where all that is left is a guess,
the player cannot know better whatever it does: neither a wrong guess nor a lucky one nor a pass is a fault, unless a rule or a bin that
refused the object before speaks against it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple, cast

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share, parse_action
from games.einstein.engine.puzzle import (
    ALLOWED,
    COMMON,
    DESTINATIONS,
    REACH,
    START_BINS,
    Bin,
    Grounding,
    Item,
    Modes,
    infer_goals,
    parse_game_id,
)
from games.einstein.engine.table import RULES, Outcome, Setting, Table, advance, items_of, start_table
from games.einstein.game import AGENTS, PlayerView
from games.einstein.players.mind import Mind
from games.einstein.prompts import HistoryEntry
from games.einstein.value import Search
from judges.attribution.findings import NOTHING, Attributed, Cause, Finding, Follow, Ideal, Link, Lost, shared_out, undecided
from judges.einstein.checks import item_text
from judges.evidence.transcript import ActionView, Transcript
from schemas.common.errors import CotraceError


@dataclass(frozen=True)
class Played:
    """A step with what its player could see."""

    turn: int
    setting: Setting
    table: Table
    action: Action | None
    outcome: Outcome
    mind: Mind
    search: Search
    refused: Mapping[int, frozenset[Bin]]
    """Object -> corner bins that refused it before, for both players to see."""
    turned_down: Sequence[Action] = ()
    """What else had been sampled; the verifier chose `action`."""
    lost: str = ""
    """Why the harness lost the answer: its call failed, or its reply was cut; empty: it did not."""

    @property
    def agent(self) -> str:
        """Who acted."""
        return AGENTS[self.table.player]

    @property
    def answers(self) -> Sequence[Item]:
        """What answers the question just asked: none where the player may not reply, or its partner not ask (then nothing was asked)."""
        mind = self.mind
        return mind.answers if mind.verbs.reply and ALLOWED[mind.seen.partner_mode].ask else ()

    @cached_property
    def careful(self) -> Sequence[Action]:
        """What a careful player would choose from: answers, else known objects to place or pass on, else news or questions.

        Else nothing shows what is better: any guess that nothing contradicts, or a pass.
        """
        mind = self.mind
        reply = [Share(item) for item in self.answers]
        tell = [Share(item) for item in mind.news] if mind.verbs.share else []
        can_ask = mind.verbs.ask and mind.partner_replies
        ask = [Ask(block) for block in mind.unknown if block not in mind.own_asks] if can_ask else []
        levels: tuple[Sequence[Action], ...] = (reply, mind.useful_moves, [*tell, *ask])
        return next((level for level in levels if level), (Pass(), *self._guesses()))

    def steps_left(self, action: Action | None) -> int | None:
        """The fewest steps to the goal after an action in the place of the logged one; None: out of reach."""
        return self.search.steps(advance(self.setting, self.table, action).table)

    def possible(self, block: int) -> frozenset[Bin]:
        """Corner bins into which an object may belong by what the player has and what bins refused before."""
        known = [*self.mind.seen.items, *(Grounding(placed, goal) for placed, goal in self.mind.placed.items())]
        found = ((goal, infer_goals([*known, Grounding(block, goal)])) for goal in DESTINATIONS if self.mind.goals.get(block, goal) == goal)
        return frozenset(goal for goal, all_goals in found if not any(bin_ in self.refused.get(b, ()) for b, bin_ in all_goals.items()))

    def _guesses(self) -> list[Action]:
        mind = self.mind
        ideas = [
            (block, target)
            for block in mind.in_hand
            if block not in mind.goals
            for target in (*sorted(mind.own_bins & self.possible(block)), COMMON)
        ]
        places = mind.seen.positions
        return [Move(block, places[block], target) for block, target in ideas if target != places[block]]


def played_steps(game: Transcript) -> Iterator[Played]:
    """Play a game again, action by action, as far as it can be.

    Raises:
        CotraceError: the log does not say what is played.
    """
    modes = game.details.get("modes")
    if not isinstance(modes, list) or len(modes) != len(AGENTS):
        raise CotraceError("the log does not say in which action spaces the players act")
    played_by = game.details.get("rules", "sane" if game.details.get("scripted") else "published")
    rules = RULES["sane" if played_by == "sane" else "published"]
    setting = Setting(parse_game_id(game.task_id), cast("Modes", tuple(modes)), rules)
    search, table = Search(setting, planner=False), start_table(setting.puzzle)
    history: list[HistoryEntry] = []
    refused: dict[int, frozenset[Bin]] = {}
    lost = game.details.get("lost_replies", {})
    placed: tuple[dict[int, Bin], dict[int, Bin]] = {}, {}
    for turn in game.turns:
        action = _action(turn.actions[0]) if turn.actions else None
        placed[table.player].update({block: place for block, place in enumerate(table.positions) if place in DESTINATIONS})
        mind = Mind(_observation(setting, table, tuple(history)), dict(placed[table.player]))
        outcome = advance(setting, table, action)
        agent = AGENTS[table.player]
        why = "" if action else str(lost.get(str(turn.turn), {}).get(agent, ""))
        yield Played(turn.turn, setting, table, action, outcome, mind, search, dict(refused), _turned_down(game, turn.turn, action), why)
        if isinstance(action, Move) and _is_refused_by_its_bin(action, table, outcome):
            refused[action.block] = refused.get(action.block, frozenset()) | {action.target}
        history.append(HistoryEntry(table.player, action, outcome.history_ok))
        table = outcome.table


def _is_refused_by_its_bin(move: Move, table: Table, outcome: Outcome) -> bool:
    """Whether nothing but the bin it was to go to can have been wrong with a move, as both players see."""
    in_reach = move.block < len(table.positions) and {move.source, move.target} <= set(REACH[table.player])
    tried = in_reach and table.positions[move.block] == move.source and move.source not in DESTINATIONS and move.target in DESTINATIONS
    return tried and not outcome.state_changed


def _turned_down(game: Transcript, turn: int, done: Action | None) -> Sequence[Action]:
    sampled = game.details.get("sampled_actions", {}).get(str(turn), ())
    return [action for text in sampled if text and (action := parse_action(text)) is not None and action != done]


def _action(logged: ActionView) -> Action | None:
    given = logged.arguments
    texts = {
        "move": f"move {given.get('block')} from {given.get('from')} to {given.get('to')}",
        "ask": f"ask {given.get('block')}",
        "share": f"share {item_text(logged)}",
        "pass": "pass",
    }
    return parse_action(texts[logged.verb]) if logged.verb in texts else None


def _observation(setting: Setting, table: Table, history: tuple[HistoryEntry, ...]) -> PlayerView:
    me = table.player
    return PlayerView(
        agent=AGENTS[me],
        player=me,
        step=table.step,
        mode=setting.modes[me],
        partner_mode=setting.modes[1 - me],
        num_objects=setting.puzzle.num_objects,
        items=tuple(items_of(setting.puzzle, table, me)),
        positions=table.positions,
        reach=REACH[me],
        history=history,
        system="",
        user="",
    )


class FailurePoint(NamedTuple):
    """What was wrong with a step by what its player knew: a failure point of that player."""

    link: Link
    evidence: str


def failure_point_of(played: Played) -> FailurePoint | None:
    """What was wrong with a step; None if a careful player could have done the same."""
    action = played.action
    if action is None:
        return FailurePoint("format", "the answer cannot be read")
    if action in played.careful:
        return None
    if isinstance(action, Pass):
        return FailurePoint("idle", f"passed; by what it knew it could {played.careful[0].text}")
    return _KINDS[type(action)](played, action)


def _move(played: Played, action: Action) -> FailurePoint | None:
    assert isinstance(action, Move)
    mind, positions, reach = played.mind, played.table.positions, REACH[played.table.player]
    if action.block >= mind.seen.num_objects:
        return FailurePoint("rule_forgotten", f"{action.text}: there is no such object")
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
    return _unasked(played, action) if found is None else FailurePoint(found[0], f"{action.text}: {found[1]}")


def _share(played: Played, action: Action) -> FailurePoint | None:
    assert isinstance(action, Share)
    mind = played.mind
    if not (mind.verbs.share or (mind.verbs.reply and mind.asked is not None)):
        return FailurePoint("rule_forgotten", f"{action.text}: nothing may be shared here")
    if action.item not in mind.seen.items:
        return FailurePoint("wrong_instruction", f"{action.text}: it does not hold this item")
    if played.answers:
        return _unanswered(played, action)
    if action.item in mind.shared:
        return FailurePoint("acted_wrong", f"{action.text}: that had been shared before")
    if mind.obsolete(action.item):
        return FailurePoint("said_too_late", f"{action.text}: all its objects are placed")
    return _unasked(played, action)


def _ask(played: Played, action: Action) -> FailurePoint | None:
    assert isinstance(action, Ask)
    mind = played.mind
    if action.block >= mind.seen.num_objects:
        return FailurePoint("rule_forgotten", f"{action.text}: there is no such object")
    if not mind.verbs.ask:
        return FailurePoint("rule_forgotten", f"{action.text}: nothing may be asked here")
    if action.block in mind.goals:
        return FailurePoint("needless_question", f"{action.text}: by what it knew the object belongs to {mind.goals[action.block]}")
    if action.block in mind.own_asks:
        return FailurePoint("needless_question", f"{action.text}: it had asked that before")
    return _unasked(played, action)


def _unasked(played: Played, action: Action) -> FailurePoint:
    """Nothing is wrong with it by itself, but something else stood before it."""
    if played.answers:
        return _unanswered(played, action)
    return FailurePoint("acted_wrong", f"{action.text}: by what it knew it could {played.careful[0].text}")


def _unanswered(played: Played, action: Action) -> FailurePoint:
    held = played.answers[0].text
    return FailurePoint("not_said", f"{action.text}: the partner had asked about block{played.mind.asked}, and it holds {held}")


_KINDS = {Move: _move, Share: _share, Ask: _ask}


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
        seq = next((message.seq for message in game.turn(asking.turn).utterances if message.agent == asking.agent), 0)
        needed = action.block not in asking.mind.goals
        yield Follow(asking.turn, seq, asking.agent, then.agent, action.text, "fully" if answered else "no", right=needed)


def _of_step(played: Played, lost: Lost) -> Iterator[Finding]:
    if played.lost:
        cost = max(lost.cost, 0.0)
        retained = min(_best(played, lost, played.careful).saved, cost)
        yield Finding(played.turn, None, "harness", retained, f"{played.agent}: {played.lost}, so nothing was done")
        if cost - retained > NOTHING:
            link, evidence = _not_seen(played)
            yield Finding(played.turn, None, link, cost - retained, evidence)
        return
    broken = failure_point_of(played)
    if lost.cost <= NOTHING:
        if broken is not None and broken.link != "acted_wrong":
            yield Finding(played.turn, played.agent, broken.link, 0.0, broken.evidence)
        return
    causes = [] if broken is None else [*_causes(played, lost, broken)]
    yield from shared_out(played.turn, lost.cost, causes, _not_seen(played))


def _not_seen(played: Played) -> tuple[Link, str]:
    done = played.action.text if played.action else "an answer that cannot be read"
    return "not_seen", f"{done}: by what {played.agent} knew nothing better could be known"


def _causes(played: Played, lost: Lost, broken: FailurePoint) -> Iterator[Cause]:
    """What the player did and, where its verifier had a better answer of it to choose, the harness."""
    tries = [action for action in played.careful if not isinstance(action, Pass)]
    best = _best(played, lost, tries if tries and isinstance(played.action, Move) else played.careful)
    if best.saved > NOTHING or broken.link != "acted_wrong":
        yield Cause(played.agent, broken.link, f"{broken.evidence}{_instead(best)}", best.saved, Ideal("do", best.action.text))
    sampled = [action for action in played.turned_down if action in played.careful]
    if sampled and Pass() not in played.careful:
        other = _best(played, lost, sampled)
        if other.saved > NOTHING:
            yield Cause(None, "verifier", f"{other.action.text} had been sampled, and was turned down{_instead(other)}", other.saved)


class _Best(NamedTuple):
    """What a careful player would have retained."""

    saved: float
    """Steps: the mean of several actions of which the player cannot know the best; 0 where all of them are guesses."""
    action: Action
    """One of them, that retains so much at least."""
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
    if best.saved <= NOTHING:
        return ""
    steps = f"{best.saved:.2g} {'step' if best.saved == 1 else 'steps'}"
    if best.alike:
        return f"; {best.action.text} would have saved {steps}"
    return f"; what it knew of, such as {best.action.text}, would have saved {steps} on average"
