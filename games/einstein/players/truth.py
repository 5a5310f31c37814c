"""What is true of a scripted step: answers to the rubrics' questions, by construction and by the engine, never by reading the text."""

from typing import Literal, NamedTuple

from games.einstein.engine.actions import Move, Share
from games.einstein.engine.items import mentions
from games.einstein.engine.step import Setting
from games.einstein.engine.table import bits
from games.einstein.players.intent import Intent, StatedThought
from games.einstein.replay import Step

TruthAnswer = Literal["Yes", "No", "N/A"]


class Truth(NamedTuple):
    """The answer to one question about one step."""

    rubric: str
    question: str
    answer: TruthAnswer
    basis: str


def truths(setting: Setting, step: Step, intent: Intent, *, reasoning: bool) -> list[Truth]:
    """Answer every question about a step.

    ``knowledge_sharing``: KS1 the shared item was not shared before; KS2 the player holds it; KS3 the step answers the partner's question.
    ``rule_understanding``: RU1 what the thoughts claim follows from what the player knows; RU2 the move agrees with what follows from it.
    """
    share = step.answer.action if isinstance(step.answer.action, Share) else None
    return [
        Truth("knowledge_sharing", "KS1", _yes_no(share and "redundant_sharing" not in step.labels), "items shared so far"),
        Truth("knowledge_sharing", "KS2", _yes_no(share and "share_not_owned" not in step.ext_labels), "the player's items"),
        Truth("knowledge_sharing", "KS3", _answers_question(setting, step), "the step before"),
        Truth(
            "rule_understanding",
            "RU1",
            _claims_follow(setting, step, intent.claims if reasoning else ()),
            "intended claims, closure of the player's items",
        ),
        Truth("rule_understanding", "RU2", _move_follows(step), "closure of the player's items"),
    ]


def _yes_no(holds: object) -> TruthAnswer:
    if holds is None:
        return "N/A"
    return "Yes" if holds else "No"


def _answers_question(setting: Setting, step: Step) -> TruthAnswer:
    asked = step.before.asked(setting.modes)
    if asked is None:
        return "N/A"
    action = step.answer.action
    if not isinstance(action, Share) or "share_not_owned" in step.ext_labels:
        return "No"
    return _yes_no(mentions(action.item, asked))


def _claims_follow(setting: Setting, step: Step, claims: tuple[StatedThought, ...]) -> TruthAnswer:
    if not claims:
        return "N/A"
    known = set(bits(step.outcome.options.known))
    goals = setting.puzzle.goals
    return _yes_no(all(claim.goal == (goals[claim.block] if claim.block in known else None) for claim in claims))


def _move_follows(step: Step) -> TruthAnswer:
    action = step.answer.action
    if not isinstance(action, Move) or not step.outcome.options.known >> action.block & 1:
        return "N/A"
    return _yes_no("wrong_rule" not in step.labels)
