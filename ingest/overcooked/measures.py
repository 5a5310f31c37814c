"""The numbers and categories of a Collab-Overcooked game, as rows."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from games.overcooked.engine.actions import normalised, verb_of
from games.overcooked.engine.layout import AGENTS, DISH, Layout
from games.overcooked.engine.references import START, OwnSequences, SearchedReferences, published_references, searched_references
from games.overcooked.engine.tasks import Task
from games.overcooked.engine.validator import code_of
from games.overcooked.engine.world import Rules, WorldChange
from games.overcooked.measures import Evaluation, Event, GameRecord, Repair, TimestepOutput, confusion, finished_in_time, history
from games.overcooked.players.scripts import PLANTED_FAULT
from games.overcooked.replay import ReplayedStep, Verified
from games.overcooked.taxonomy import as_meant, initiating_category, not_understood, paper_category, responding_category
from games.overcooked.text.replies import Fields, message_parts, plan_items, requests_meant
from games.overcooked.value import steps_left_of_json
from ingest.overcooked.records import LogRecord, MessageRecord, StepRecord
from ingest.reading.text import dumps
from schemas.common.text import excerpt
from schemas.records import Action, EpisodeMetric, Failure, Json, Label, LogDisagreement, OracleAction, TurnMetric, TurnValue, Utterance


def utterances_of(episode: str, step: StepRecord) -> Iterator[Utterance]:
    """Each message as up to three rows: analysis and plan, which only its author sees, and its message to the partner.

    The tokens of a message, where the log has as many counts as messages, stand at its say.
    """
    turn, seq = step.timestamp + 1, 0
    for owner, messages in enumerate(step.content.content):
        counts = step.statistical_data.communication[owner].token
        for index, message in enumerate(messages):
            agent = AGENTS[message.agent]
            tokens = counts[index] if len(counts) == len(messages) else None
            for part, text in _parts(message):
                seq += 1
                if part == "say":
                    yield Utterance(episode, turn, seq, agent, "public", list(AGENTS), text, tokens)
                else:
                    yield Utterance(episode, turn, seq, agent, "private", [agent], text)


def conversations_of(step: StepRecord) -> Iterator[dict[str, object]]:
    """Which utterances of a turn make up a conversation, and who opened it."""
    if not any(counted.call for counted in step.statistical_data.communication):
        return
    last = 0
    for owner, messages in enumerate(step.content.content):
        first, last = last + 1, last + sum(len(_parts(message)) for message in messages)
        if step.statistical_data.communication[owner].call:
            yield {"turn": step.timestamp + 1, "opener": AGENTS[owner], "first_seq": first, "last_seq": last}


def _parts(message: MessageRecord) -> list[tuple[str, str]]:
    """What of a message is not empty."""
    return message_parts(Fields(message.analysis, message.plan, message.say))


def actions_of(episode: str, step: StepRecord, result: ReplayedStep) -> Iterator[Action]:
    """First the actions that the validator refused, then those that changed the world; walking and waiting leave no row."""
    turn, seq = step.timestamp + 1, 0
    for agent, errors in enumerate(step.statistical_data.error):
        for message in errors.validator_error.error_message:
            seq += 1
            verb, arguments, raw = _refused(step, agent, message)
            yield Action(
                episode_id=episode,
                turn=turn,
                seq=seq,
                agent=AGENTS[agent],
                verb=verb,
                arguments=arguments,
                raw=raw,
                accepted=False,
                error_code=code_of(message),
                error_text=message.strip(),
            )
    for done, undoes in zip(result.done, result.undoes, strict=True):
        seq += 1
        verb, arguments = _parsed(done.text)
        raw = step.actions[done.agent].strip()
        yield Action(episode, turn, seq, AGENTS[done.agent], verb, arguments, raw, accepted=True, undoes=undoes)


def oracle_actions_of(episode: str, step: StepRecord, result: ReplayedStep) -> Iterator[OracleAction]:
    """The next actions that would have brought the order on, the Chef's first; the log lists none. None of them undoes."""
    turn = step.timestamp + 1
    for rank, verb, arguments in _ranked(result.verified):
        yield OracleAction(episode, turn, rank, verb, arguments, undoes=False, listed=False, verified=True)


@lru_cache(maxsize=1024)  # they stay the same while agents walk
def _ranked(verified: Verified) -> list[tuple[int, str, Json]]:
    """Rank, verb and arguments of verified actions."""
    tried = [(agent, action) for agent, actions in zip(AGENTS, verified, strict=True) for action in actions]
    return [(rank, *_parsed(action, agent)) for rank, (agent, action) in enumerate(tried, start=1)]


@lru_cache(maxsize=16384)
def _parsed(text: str, agent: str | None = None) -> tuple[str, Json]:
    """Verb and arguments of an action; among them who would do it, where that is asked for."""
    verb, arguments = verb_of(text)
    return verb, Json(dumps(arguments if agent is None or verb == "unreadable" else {"agent": agent, **arguments}))


def _refused(step: StepRecord, agent: int, message: str) -> tuple[str, Json, str | None]:
    """The refused action, as the prompt of the correction quotes it before the error."""
    observation = step.content.observation[agent] if agent < len(step.content.observation) else None
    if isinstance(observation, str):
        head, found, _ = observation.rpartition(f" raised an error: {message.strip()[:40]}")
        if found:
            text = head.rpartition("Your action ")[2]
            return *_parsed(text), text
    return "unknown", Json("{}"), None


_SCORES = {"yes": 1.0, "no": 0.0}


class Measured(NamedTuple):
    """A game, or what of it lies within its time limit, and its numbers."""

    record: GameRecord
    evaluation: Evaluation


class Advance(NamedTuple):
    """How far along its references an agent is, by what was recorded of it until a step."""

    share: float
    """Of its best reference that is done."""
    following: tuple[str, ...]
    """What it would have to do next by any reference."""


def advances(game: GameRecord) -> list[list[Advance]]:
    """Per agent where it is before the first step, after each, and by all that was recorded whenever.

    All references count, and the recording's defects are repaired, so that every legal way of playing advances.
    """
    every = searched_references(game.task.order, game.task.layout)
    return [list(_advances(game, agent, every)) for agent in range(len(AGENTS))]


def _advances(game: GameRecord, agent: int, every: SearchedReferences) -> Iterator[Advance]:
    own, recorded = every.own[agent], game.recorded[agent]
    times = sorted(entry.timestamp for entry in recorded)
    count, walk = 0, _Walk(own, game.task.layout)
    known = Advance(0.0, own.next_actions(START))
    for step in (*range(len(game.messages) + 1), math.inf):
        if bisect_right(times, step) != count:
            count = bisect_right(times, step)
            done = [entry.action for entry in recorded if entry.timestamp <= step]
            walk = walk if walk.begins(done) else _Walk(own, game.task.layout)
            reached = walk.on(done)
            known = Advance(own.longest(reached) / every.lengths[agent], own.next_actions(reached))
        yield known


class _Walk:
    """An agent on its way along its references."""

    def __init__(self, own: OwnSequences, layout: Layout) -> None:
        self._own = own
        self._layout = layout
        self._done: list[str] = []
        self._repair = Repair()
        self._reached = START

    def begins(self, done: Sequence[str]) -> bool:
        """Whether what it has done until now is the beginning of this: it is, unless the log is out of order."""
        return done[: len(self._done)] == self._done

    def on(self, done: list[str]) -> int:
        """Go on until this is done, and give where it is."""
        more = self._repair.repaired(done[len(self._done) :])
        self._done, self._reached = done, self._own.after_all(history(tuple(more), self._layout), self._reached)
        return self._reached


def following(known: Sequence[Sequence[Advance]]) -> list[tuple[tuple[str, ...], ...]]:
    """Of each step what either agent would have to do next."""
    return [tuple(advance.following for advance in step) for step in list(zip(*known, strict=True))[:-2]]


def progress(game: GameRecord, known: Sequence[Sequence[Advance]]) -> list[float]:
    """Progress before the first step and after each, the mean over both agents; at the end of a whole game by all that was recorded."""
    *found, whole = [sum(advance.share for advance in step) / len(step) for step in zip(*known, strict=True)]
    end = len(game.timestamps)
    if game.finished and end < len(found):
        found[end] = whole
    return found


def episode_metrics(episode: str, game: Measured, cut: Measured | None) -> Iterator[EpisodeMetric]:
    """The numbers of a game up to its time limit, and behind names in `_uncut` those of the whole game where it went on behind that."""
    once: dict[str, float] = {
        "horizon": game.record.horizon,
        "time_limit_1_5": game.record.task.time_limit,
        "success": finished_in_time(game.record),
        "success_upstream": game.record.finished,
        "total_score": game.record.score,
    }
    yield from (EpisodeMetric(episode, f"overcooked.{name}", float(value)) for name, value in once.items())
    yield from _numbers(episode, cut or game, "")
    if cut:
        yield from _numbers(episode, game, "_uncut")


def _numbers(episode: str, measured: Measured, suffix: str) -> Iterator[EpisodeMetric]:
    game, found = measured
    calls = [sum(pair[agent] for pair in game.calls) for agent in (0, 1)]
    numbers: dict[str, float] = {
        "n_timesteps": len(game.timestamps),
        "last_timestamp": game.timestamps[-1] if game.timestamps else 0,
        "pc": found.pc,
        "pc_all_references": found.fair_pc,
        "overall_mean_f1": found.overall_f1_upstream,
        "n_communications": len(found.events),
        "n_initiate_ok": found.initiated,
        "n_respond_ok": found.responded,
        "n_required_collaborations": found.required,
        "n_hand_overs_asked": found.hand_overs_asked,
        "n_hand_overs_answered": found.hand_overs_answered,
        "initiate_collaboration": found.initiating_capability,
        "respond_collaboration": found.responding_capability,
        "initiate_collaboration_upstream": found.initiating_upstream,
        "respond_collaboration_upstream": found.responding_upstream,
    }
    for agent, (score, fair) in enumerate(zip(found.scores, found.fair_tes, strict=True)):
        numbers |= {
            f"n_actions_agent_{agent}": found.action_counts[agent],
            f"tes_agent_{agent}": score.tes,
            f"tes_all_references_agent_{agent}": fair,
            f"similarity_agent_{agent}": score.similarity,
            f"redundancy_agent_{agent}": score.redundancy,
            f"redundancy_agent_{agent}_upstream": score.precision,
            f"best_reference_agent_{agent}": score.reference,
            f"calls_agent_{agent}": calls[agent],
            f"encoding_warnings_agent_{agent}": len(game.recorded[agent]) - found.action_counts[agent],
        }
    yield from (EpisodeMetric(episode, f"overcooked.{name}{suffix}", float(value)) for name, value in numbers.items())
    for kind, counts in game.errors.items():
        for agent in (0, 1):
            total = float(sum(pair[agent] for pair in counts))
            yield EpisodeMetric(episode, f"overcooked.{kind}_errors_agent_{agent}{suffix}", total)


def turn_metrics(episode: str, steps: Sequence[StepRecord], found: Evaluation, replayed: Sequence[ReplayedStep]) -> Iterator[TurnMetric]:
    """Per turn the increments of TES of its conversations, by opener, both kinds of errors, and whether what was done was verified."""
    for step, result in zip(steps, replayed, strict=True):
        if result.done and any(result.verified):
            yield TurnMetric(
                episode, step.timestamp + 1, "overcooked.followed_verified", float(all(_is_verified(result, done) for done in result.done))
            )
    for opener, events in zip(AGENTS, (found.events, found.assistant_events), strict=True):
        for event in events:
            who = opener.lower()
            turn = event.timestep + 1
            yield TurnMetric(episode, turn, f"overcooked.ites_initiate_{who}", event.initiating)
            yield TurnMetric(episode, turn, f"overcooked.ites_respond_{who}", event.responding)
    for step in steps:
        errors = step.statistical_data.error
        wrong = sum(entry.validator_error.error_num for entry in errors)
        unread = sum(entry.format_error.error_num for entry in errors)
        if wrong:
            yield TurnMetric(episode, step.timestamp + 1, "overcooked.validator_errors", float(wrong))
        if unread:
            yield TurnMetric(episode, step.timestamp + 1, "overcooked.format_errors", float(unread))


def _is_verified(result: ReplayedStep, done: WorldChange) -> bool:
    """The engine records a filling at the oven as putting in (docs/dev/benchmark_rules.md)."""
    text = normalised(done.text)
    filling = result.before["agents"][done.agent]["held"] == DISH
    return (text.replace("put_obj_in_utensil", "fill_dish_with_food") if filling else text) in result.verified[done.agent]


def failures(
    episode: str, game: tuple[Task, Rules], steps: Sequence[StepRecord], found: Evaluation, replayed: Sequence[ReplayedStep]
) -> Iterator[Failure]:
    """Categories of each conversation (three taxonomies), of refused and unreadable actions, of contents that made nothing.

    What the rules of the loop drop or misread is in a taxonomy of its own, `overcooked_harness`; messages that were not understood in
    `overcooked_read`.
    """
    task, rules = game
    waits = _waits_dropped(steps, rules)
    for event in (*found.events, *found.assistant_events):
        yield from _of_event(episode, task, event, steps[event.timestep])
    for step in steps:
        for owner, messages in enumerate(step.content.content):
            partner = 1 - owner
            plans = [
                [item.strip() for item in plan_items(entry.plan) if "request" not in item] for entry in messages if entry.agent == partner
            ]
            queue = [item.strip() for item in step.content.action_list[partner]] if len(step.content.action_list) > partner else []
            for plan in plans[1:]:
                if plan and plan != plans[0] and queue[-len(plan) :] != plan:
                    evidence = f"planned {'; '.join(plan)}; the first plan of the conversation counts: {'; '.join(plans[0]) or 'none'}"
                    yield Failure(episode, step.timestamp + 1, AGENTS[partner], "overcooked_harness", "dropped_plan", evidence)
                    break
    for step, result in zip(steps, replayed, strict=True):
        wrong = any(one.format_error.error_num or one.validator_error.error_message for one in step.statistical_data.error)
        if result.done or result.notices or wrong:
            yield from _of_step(episode, step, result, {name: wait for (at, name), wait in waits.items() if at == step.timestamp})


def _of_event(episode: str, task: Task, event: Event, step: StepRecord) -> Iterator[Failure]:
    turn = event.timestep + 1
    owner = event.opener if step.content.content[event.opener] else 1 - event.opener  # nearly always the one who spoke first
    messages = [TimestepOutput(entry.agent, entry.analysis, entry.plan, entry.say) for entry in step.content.content[owner]]
    own = [(pair.chef, pair.assistant)[event.responder] for pair in published_references(task.order, task.layout)]
    opener, responder = AGENTS[event.opener], AGENTS[event.responder]
    unread = not_understood(event, messages, task.layout)
    if unread:
        words = "; ".join(repr(excerpt(clause)) for clause in unread)
        yield Failure(episode, turn, opener, "overcooked_read", "not_understood", f"message not understood: {words}")
    meant = as_meant(event, messages, own, task.layout)
    by_plan = any(requests_meant(message.plan) for message in messages if message.agent == event.opener)
    measured = event if by_plan else meant
    asked, read = ("; ".join(request) or "nothing that the partner can do" for request in (meant.request, measured.request))
    planned = "; ".join(event.plan) or "nothing that counts"
    if not unread:
        yield Failure(episode, turn, opener, "overcooked_paper", paper_category(measured, own), f"requested: {read}")
    found = {
        "initiating": (opener, initiating_category(event, messages, own, task.layout), f"requested: {asked}"),
        "responding": (responder, responding_category(event, messages, own, task.layout), f"requested: {asked}; planned: {planned}"),
    }
    for name, (agent, category, evidence) in found.items():
        if category is not None:
            yield Failure(episode, turn, agent, f"overcooked_{name}", category, evidence)


def _waits_dropped(steps: Sequence[StepRecord], rules: Rules) -> dict[tuple[int, str], str]:
    """Timestep and agent -> the wait with which its plan began, where the published rules dropped it and tried the next action at once."""
    found: dict[tuple[int, str], str] = {}
    answered = ""
    for step in steps if rules == "published" else ():
        for agent, name in enumerate(AGENTS):
            own = [entry.plan for entry in step.content.content[agent] if entry.agent == agent]
            corrections = step.statistical_data.error[agent].validator_error.error_num
            planned = own[: max(0, len(own) - corrections)]
            to_partner = [entry.plan for entry in step.content.content[1 - agent] if entry.agent == agent][:1]
            plan = planned[-1] if planned else answered if agent == 0 else (*to_partner, "")[0]
            items = [item.strip() for item in plan_items(plan)]
            if len(items) > 1 and items[0].startswith("wait("):
                found[step.timestamp, name] = items[0]
            if agent == 0:
                answered = (*to_partner, "")[0]  # the Chef decides first, so what it answers is tried in the next step
    return found


def _of_step(episode: str, step: StepRecord, result: ReplayedStep, waits: Mapping[str, str]) -> Iterator[Failure]:
    turn = step.timestamp + 1
    acted = {AGENTS[change.agent] for change in result.done}
    for agent, errors in zip(AGENTS, step.statistical_data.error, strict=True):
        codes = dict.fromkeys(map(code_of, errors.validator_error.error_message))
        if errors.format_error.error_num:
            yield Failure(episode, turn, agent, "overcooked_engine", "format", None)
        if agent in acted and not codes and not errors.format_error.error_num:
            yield Failure(episode, turn, agent, "overcooked_engine", "accepted", None)
        message = "; ".join(errors.validator_error.error_message).strip()
        for place, code in enumerate(codes):
            if place == 0 and agent in waits:
                evidence = f"the plan began with {waits[agent]}, which these rules drop, so the next action was tried at once: {message}"
                yield Failure(episode, turn, agent, "overcooked_harness", "dropped_wait", evidence)
            else:
                yield Failure(episode, turn, agent, "overcooked_engine", code, message)
    for notice in result.notices:
        yield Failure(episode, turn, None, "overcooked_engine", "wrong_synthesis", notice)


def details_of(record: LogRecord, steps: Sequence[StepRecord], found: Evaluation, cut: Evaluation | None) -> dict[str, object]:
    """What else a game has: its conversations as they were measured, whole and cut to the time limit, and what the log states in sum."""
    known = {"raw": _events_json(found.events)} | ({"truncated_1_5": _events_json(cut.events)} if cut else {})
    own = record.cotrace
    return {
        "total_order_finished": record.total_order_finished,
        "total_score": record.total_score,
        "events": known,
        "confusion_matrix": {name: confusion(one.events) for name, one in (("raw", found), ("truncated_1_5", cut)) if one},
        "conversations": [conversation for step in steps for conversation in conversations_of(step)],
        "complete": bool(record.total_order_finished) if own is None else own.complete,
    }


def _events_json(events: Sequence[Event]) -> list[dict[str, object]]:
    return [
        {
            "timestamp": event.timestep,
            "begin_agent": event.opener,
            "history": event.logged,
            "request_action": event.request,
            "plan_action": event.plan,
            "c_1": event.initiating,
            "c_2": event.gap,
            "c_3": event.responding,
            "process_code": event.process_code,
        }
        for event in events
    ]


def labels(episode: str, record: LogRecord) -> Iterator[Label]:
    """Planted answers of cotrace's own games."""
    own = record.cotrace
    if own is None:
        return
    for label in own.labels:
        agent, player = AGENTS[label.agent], own.players[label.agent]
        unit = f"{episode}/{label.timestep + 1}/{agent}"
        annotator = player.persona or player.model
        yield Label(
            "planted",
            annotator,
            label.rubric,
            label.question,
            unit,
            episode,
            label.timestep + 1,
            agent,
            label.answer,
            _SCORES.get(label.answer),
            planted=label.answer if label.rubric == PLANTED_FAULT else None,
        )


def differences(
    episode: str, record: LogRecord, steps: Sequence[StepRecord], replayed: Sequence[ReplayedStep]
) -> Iterator[LogDisagreement]:
    """Where playing the logged macro actions again gives another picture, other recorded actions or another score; the first of each."""
    for step, result in zip(steps, replayed, strict=True):
        if step.map and step.map != result.map_before:
            yield LogDisagreement(episode, step.timestamp + 1, "map", step.map, result.map_before)
            break
    for agent, actions in enumerate(record.total_action_list):
        expected = _recorded(replayed, agent)
        logged = [(entry.timestamp, entry.action) for entry in actions]
        if len(steps) == len(record.content) and logged != expected:
            yield LogDisagreement(episode, None, f"total_action_list[{agent}]", str(logged), str(expected))
    for index, (before, after) in enumerate(pairwise(record.total_timestamp)):
        if after != before + 1:
            yield LogDisagreement(episode, index + 2, "total_timestamp", str(after), str(before + 1))
            break
    score = replayed[-1].score if replayed else 0
    if len(steps) == len(record.content) and record.total_score != score:
        yield LogDisagreement(episode, None, "total_score", str(record.total_score), str(score))


def _recorded(replayed: Sequence[ReplayedStep], agent: int) -> list[tuple[int, str]]:
    """What the engine records of a replay (section 2.1): one step late, the last step not at all, the last delivery at once."""
    found = []
    last = len(replayed) - 1
    for index, step in enumerate(replayed):
        for done in step.done:
            final = done.text == "deliver_soup()" and step.delivered
            if done.agent == agent and (index < last or final):
                found.append((index if final else index + 1, done.text))
    return found


def turn_values(episode: str, task: Task, steps: Sequence[ReplayedStep]) -> Iterator[TurnValue]:
    """Value the steps of a game; a step that does all it could costs 0, since the step itself is spent."""
    if not steps:
        return
    left = [
        steps_left_of_json(task.order, steps[0].before_json, task.layout),
        *(0 if step.delivered else steps_left_of_json(task.order, step.after_json, task.layout) for step in steps),
    ]
    for turn, (before, after) in enumerate(pairwise(left), start=1):
        yield TurnValue(episode, turn, "overcooked.time_left", before, after, 1 + after - before, "steps", "bound")
