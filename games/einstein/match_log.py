"""A scripted game as cotrace's own log (docs/formats/cotrace_log.md)."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

from games.einstein.claims import Belongs, Corner
from games.einstein.engine.actions import Action, Ask, Move, Share, action_type, answer_reading
from games.einstein.engine.bins import COMMON, DESTINATIONS, START_BINS
from games.einstein.engine.items import Grounding
from games.einstein.engine.modes import ACTION_MODES
from games.einstein.engine.puzzle import Puzzle
from games.einstein.engine.table_json import goal_json, private_view_json, table_json
from games.einstein.game import AGENTS, Game, GameSettings
from games.einstein.match import Pair, PlayedStep, play_match
from games.einstein.players.truth import truths
from games.einstein.replay import Step
from games.einstein.text.verifiers import VERIFIERS
from schemas.claims import written
from schemas.errors import BadInputError
from schemas.game import ActionEntry, AgentEntry, End, Header, LogWriter, PlantedLabel, SampleEntry, Turn, UtteranceEntry

__all__ = [
    "NO_VERIFIER",
    "action_arguments",
    "condition_name",
    "end_entry",
    "header_of",
    "is_undo",
    "refusal",
    "refusal_text",
    "settings_of",
    "turn_entry",
    "turn_time",
    "utterances_of",
    "write_match",
]

_STEP: Final = timedelta(seconds=1)
NO_VERIFIER: Final = "none"
"""How conditions say that the only answer of a step was executed; null: it is not known."""


def condition_name(settings: GameSettings) -> str:
    """Name a condition as the published run folders are named: ``cot_provide_seek_raw``."""
    modes = settings.modes[0] if settings.modes[0] == settings.modes[1] else "+".join(settings.modes)
    return f"{'guided_' if settings.guidance else ''}{'cot' if settings.reasoning else 'nocot'}_{modes}_{settings.verifier or 'raw'}"


def header_of(puzzle: Puzzle, settings: GameSettings, pair: Pair, *, seed: int, started_at: datetime) -> Header:
    """Give the first line of a game's log."""
    name = f"{condition_name(settings)}/{pair.name}"
    return Header(
        benchmark="einstein",
        episode=f"{name}/{puzzle.game_id}/{seed}",
        run={"name": name, "condition": _condition(settings)},
        task={"id": puzzle.game_id, "level": f"{puzzle.num_objects} objects", "goal": goal_json(puzzle)},
        team=dict(zip(AGENTS, pair, strict=True)),
        agents=[
            AgentEntry(
                agent=agent,
                role="player",
                model=persona,
                persona=persona,
                private_view=private_view_json(puzzle, 0 if agent == AGENTS[0] else 1),
            )
            for agent, persona in zip(AGENTS, pair, strict=True)
        ],
        model=pair.first if pair.first == pair.second else pair.name,
        seed=seed,
        max_turns=settings.step_limit,
        started_at=started_at.isoformat(),
        details={"scripted": True, "modes": list(settings.modes)},
    )


def write_match(path: Path, header: Header, game: Game, pair: Pair, script: tuple[Action, ...] | None = None) -> int:
    """Play a game and write its log step by step; give the number of steps. ``script`` as in `play_match`.

    Raises:
        UsageError: there is no such persona.
        OSError: the file cannot be written.
    """
    started_at = datetime.fromisoformat(header.started_at)
    with LogWriter(path, header) as log:
        for played in play_match(game, pair, seed=header.seed or 0, script=script):
            step = game.steps[-1]
            entry = turn_entry(game, step, played.texts, at=turn_time(started_at, step))
            said = [_with_claims(one, played) for one in entry.utterances]
            log.turn(replace(entry, utterances=said, labels=_labels(game, AGENTS[step.before.player], step, played)))
        log.end(end_entry(game))
    return len(game.steps)


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


def _condition(settings: GameSettings) -> dict[str, Any]:
    facts = asdict(settings)
    modes, samples = facts.pop("modes"), facts.pop("samples")
    mode = modes[0] if modes[0] == modes[1] else None
    verifier = settings.verifier or NO_VERIFIER
    return {
        "action_mode": mode,
        "modes": list(modes),
        **facts,
        "verifier": verifier,
        "samples_per_step": samples if settings.verifier else 1,
    }


def settings_of(condition: Mapping[str, Any]) -> GameSettings:
    """Give the settings of a logged game back from ``run.condition``.

    Raises:
        BadInputError: a part is missing or has a value that does not exist.
    """
    modes, verifier, rules = condition.get("modes"), condition.get("verifier"), condition.get("rules")
    reasoning, samples, step_limit = (condition.get(name) for name in ("reasoning", "samples_per_step", "step_limit"))
    if not isinstance(modes, list) or len(modes) != len(AGENTS) or not set(map(str, modes)) <= set(ACTION_MODES):
        raise BadInputError(f"modes must be two of {', '.join(ACTION_MODES)}, not {modes!r}", locator="run.condition.modes")
    if verifier not in (NO_VERIFIER, *VERIFIERS):
        known = ", ".join((NO_VERIFIER, *VERIFIERS))
        raise BadInputError(f"verifier must be one of {known}, not {verifier!r}", locator="run.condition.verifier")
    if rules not in ("sane", "published"):
        raise BadInputError(f"rules must be sane or published, not {rules!r}", locator="run.condition.rules")
    if not (isinstance(samples, int) and isinstance(step_limit, int) and samples > 0 and step_limit > 0 and isinstance(reasoning, bool)):
        raise BadInputError("samples_per_step and step_limit must be counts, reasoning true or false", locator="run.condition")
    return GameSettings(
        modes=(modes[0], modes[1]),
        reasoning=reasoning,
        guidance=condition.get("guidance") is True,
        verifier=None if verifier == NO_VERIFIER else verifier,
        samples=samples,
        rules=rules,
        step_limit=step_limit,
    )


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


def _with_claims(said: UtteranceEntry, played: PlayedStep) -> UtteranceEntry:
    """What a scripted player's thoughts claim is known from its intent, whatever the wording."""
    if said.channel != "private":
        return said
    vouched = {"kind": "read", "kinds": ["belongs"]}
    claims = [written(Belongs(block=f"block{one.block}", goal=cast("Corner | None", one.goal))) for one in played.intent.claims]
    return replace(said, claims=[vouched, *claims])


def _labels(game: Game, agent: str, step: Step, played: PlayedStep) -> list[PlantedLabel]:
    found = truths(game.setting, step, played.intent, reasoning=game.settings.reasoning)
    return [
        PlantedLabel(
            rubric=truth.rubric, question=truth.question, agent=agent, answer=truth.answer, basis=truth.basis, planted=played.intent.habit
        )
        for truth in found
    ]
