"""Steps as cotrace's own log holds them (docs/formats/cotrace_log.md)."""

from datetime import datetime, timedelta
from typing import Any, Final

from games.einstein.engine.actions import Action, Ask, Move, Share, action_type, answer_reading
from games.einstein.engine.bins import COMMON, DESTINATIONS, START_BINS
from games.einstein.engine.items import Grounding
from games.einstein.engine.table_json import table_json
from games.einstein.game import AGENTS, Game
from games.einstein.replay import Step
from schemas.game import ActionEntry, End, SampleEntry, Turn, UtteranceEntry

_STEP: Final = timedelta(seconds=1)


def turn_time(started_at: datetime, step: Step) -> datetime:
    """Give the time that a step is logged with: games that are played by rule have no clock worth logging."""
    return started_at + step.number * _STEP


def end_entry(game: Game) -> End:
    """Give the last line of a game that is over."""
    correct = game.state().table.correct(game.puzzle)
    return End(
        success=game.state().success,
        score=correct / game.puzzle.num_objects,
        stop_reason=str(game.stop_reason),
        turns_taken=len(game.steps),
    )


def action_arguments(action: Action | None, written: str) -> dict[str, Any]:
    """Give an action's arguments as JSON; of an unreadable answer the text that stood in its tag."""
    if isinstance(action, Move):
        return {"block": f"block{action.block}", "from": action.source, "to": action.target}
    if isinstance(action, Ask):
        return {"block": f"block{action.block}"}
    if isinstance(action, Share):
        return _item_json(action)
    return {"text": written} if action is None else {}


def is_undo(step: Step) -> bool:
    """Tell whether a step moves an object back, carried out or not: out of a corner bin, or from the common bin to a start bin.

    The object must lie where the move takes it from: otherwise there is nothing that could be taken back.
    """
    action = step.answer.action
    if not isinstance(action, Move) or action.block >= len(step.before.positions) or step.before.positions[action.block] != action.source:
        return False
    if action.source in DESTINATIONS:
        return action.target != action.source
    return action.source == COMMON and action.target in START_BINS


def refusal(step: Step) -> str | None:
    """Give the code under which a step was refused: its first label, ``pass``, or ``not_expected``; None if it was accepted."""
    if step.outcome.accepted:
        return None
    kind = action_type(step.answer.action)
    return next(iter((*step.labels, *step.ext_labels)), "pass" if kind == "pass" else "not_expected")


def refusal_text(code: str | None) -> str | None:
    """Give a refusal's code in words."""
    return code and code.replace("_", " ")


def _item_json(action: Share) -> dict[str, Any]:
    item = action.item
    if isinstance(item, Grounding):
        return {"block": f"block{item.block}", "in": item.goal}
    return {"blocks": [f"block{item.first}", f"block{item.second}"], "same": item.kind}


def turn_entry(game: Game, step: Step, texts: tuple[str, ...], *, at: datetime) -> Turn:
    """Give a finished step as a line of the log, without labels and calls; ``texts``: all answers in sampling order."""
    agent = AGENTS[step.before.player]
    outcome, choice = step.outcome, step.choice
    executed = choice.executed if choice else 0
    return Turn(
        turn=step.number + 1,
        at=at.isoformat(),
        state_before=table_json(game.puzzle, step.before),
        utterances=utterances_of(agent, step),
        oracle=None,
        oracle_followed=None,
        actions=[_action(agent, step, texts[executed])],
        state_after=table_json(game.puzzle, outcome.table),
        goal_reached=outcome.terminated,
        samples=SampleEntry(texts=texts, costs=choice.costs, executed=executed) if choice else None,
    )


def utterances_of(agent: str, step: Step) -> list[UtteranceEntry]:
    """Give what a step said: thoughts for their author alone, shares and asks for both players."""
    said = []
    if step.answer.reasoning is not None:
        said.append(UtteranceEntry(agent=agent, channel="private", audience=[agent], text=step.answer.reasoning))
    if isinstance(step.answer.action, Share | Ask):
        said.append(UtteranceEntry(agent=agent, channel="public", audience=AGENTS, text=step.answer.action.text))
    return said


def _action(agent: str, step: Step, raw: str) -> ActionEntry:
    code = refusal(step)
    reading = answer_reading(raw) if step.choice else None  # of one reply, whoever asked for it says how it was read
    return ActionEntry(
        agent=agent,
        read=reading and reading.read,
        used=reading and reading.used,
        verb=action_type(step.answer.action),
        arguments=action_arguments(step.answer.action, step.answer.action_text),
        raw=raw,
        accepted=step.outcome.accepted,
        error_code=code,
        error_text=refusal_text(code),
        undoes=is_undo(step),
    )
