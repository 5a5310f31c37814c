"""Rows of an answer to CoordinationQA: scored as published and as read with care."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from games.coordination.qa.chance import chance, chance_corrected, chance_upstream
from games.coordination.qa.extraction import Extraction, correct_upstream, extract
from games.coordination.qa.questions import QaQuestion
from games.coordination.qa.reading import ReadAnswer, read_answer
from ingest.coordination.qa.records import Response, Trial
from ingest.cotrace_log.calls import call_row
from ingest.reading.adapter_types import Place, episode_id, run_id
from ingest.reading.json_text import dumps
from schemas.records import Action, Agent, Episode, EpisodeMetric, Failure, Json, LogDisagreement, Run, Turn, TurnMetric, Utterance

__all__ = ["RESPONDENT", "Rows", "answer_rows", "run_row"]

RESPONDENT: Final = "respondent"

_RUN_NAME: Final = "coordqa"

Rows = dict[str, list[tuple[object, ...]]]
"""Table name -> records."""


def run_row(trial: Trial) -> Run:
    """The run of a respondent: all its trials."""
    condition = {"game": "coordqa", "family": trial.family}
    team = {RESPONDENT: trial.respondent}
    return Run(run_id("coordination", _RUN_NAME, team, condition), "coordination", _RUN_NAME, Json(dumps(condition)), None)


def answer_rows(trial: Trial, answer: Response, question: QaQuestion, run: Run, place: Place) -> tuple[Episode, Rows]:
    """The episode that an answer is, and its rows in the other tables; the run's is not among them."""
    extracted, read = extract(question, answer.response), read_answer(question, answer.response)
    correct = correct_upstream(question, extracted.letter)
    identity = episode_id("coordination", place.path, answer.index)
    episode = _episode(identity, trial, question, run, place)._replace(
        success=correct,
        score=float(correct),
        stop_reason=read.kind,
        error="the call failed" if read.kind == "failed_call" else None,
        details=Json(dumps(_details(trial, answer, question, extracted, read))),
    )
    rows: Rows = {
        "agents": [Agent(identity, RESPONDENT, RESPONDENT, trial.respondent, None, None, None, None)],
        "turns": [_turn(identity, question, extracted, read, correct=correct)],
        "actions": [_action(identity, extracted, read)],
        "episode_metrics": [
            EpisodeMetric(identity, f"coordination.{name}", float(value))
            for name, value in _metrics(answer, question, extracted, read, correct=correct).items()
        ],
        "turn_metrics": [TurnMetric(identity, 1, "coordination.accuracy", float(correct))],
        "failures": _failures(identity, question, extracted, read),
        "log_disagreements": list(_differences(identity, answer, question, extracted, correct=correct)),
    }
    if answer.call is not None:
        rows["calls"] = [call_row(answer.call, "coordqa", run=run.run_id, episode=identity, turn=1)]
    if answer.response is not None:
        rows["utterances"] = [Utterance(identity, 1, 1, RESPONDENT, "public", [RESPONDENT], answer.response, None, superseded=False)]
    return episode, rows


def _differences(
    identity: str, answer: Response, question: QaQuestion, extracted: Extraction, *, correct: bool
) -> Iterator[LogDisagreement]:
    """What the line says of its question and its score against the question file and the published rule."""
    due = {
        "game": question.game_upstream,
        "paper_game": question.game,
        "n_options": len(question.options),
        "key": question.key,
        "extracted": extracted.letter,
        "correct": correct,
        "intended_correct": answer.intended in question.keyed_letters,
    }
    for name, said in answer.claims.items():
        unknown = name == "intended_correct" and answer.intended is None
        if said != due[name] and not (unknown and said is None):
            yield LogDisagreement(identity, 1, name, dumps(said), dumps(due[name]))


def _details(trial: Trial, answer: Response, question: QaQuestion, extracted: Extraction, read: ReadAnswer) -> dict[str, object]:
    details: dict[str, object] = {
        "game": question.game,
        "game_upstream": question.game_upstream,
        "type": question.type,
        "scenario": question.scenario,
        "trial_fingerprint": trial.fingerprint,
        "published_letter": extracted.letter,
        "published_way": extracted.way,
        "published_similarity": extracted.similarity,
        "read_letter": read.letter,
        "read_kind": read.kind,
    }
    return details if answer.intended is None else details | {"intended": answer.intended}


def _episode(identity: str, trial: Trial, question: QaQuestion, run: Run, place: Place) -> Episode:
    goal = {"key": question.key, "answer": question.answer, "correct_options": sorted(question.correct_options)}
    return Episode(
        episode_id=identity,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark="coordination",
        task_id=question.name,
        level=question.type,
        model=trial.respondent,
        team=Json(dumps({RESPONDENT: trial.respondent})),
        seed=trial.trial,
        max_turns=1,
        turns_taken=1,
        success=None,
        score=None,
        stop_reason=None,
        error=None,
        goal=Json(dumps(goal)),
        details=Json("{}"),
        file=place.file,
        started_at=None,
    )


def _turn(identity: str, question: QaQuestion, extracted: Extraction, read: ReadAnswer, *, correct: bool) -> Turn:
    before = {
        "type": question.type,
        "game": question.game,
        "question": question.text,
        "options": [{"letter": option.letter, "text": option.text} for option in question.options],
    }
    after = {"published_letter": extracted.letter, "read_letter": read.letter, "read_option": read.option}
    return Turn(
        episode_id=identity,
        turn=1,
        state_before=Json(dumps(before)),
        state_after=Json(dumps(after)),
        oracle_available=False,
        oracle_followed=None,
        progress=float(correct),
        goal_reached=correct,
        error=None,
        at=None,
    )


def _action(identity: str, extracted: Extraction, read: ReadAnswer) -> Action:
    arguments = Json(dumps({"letter": read.letter, "published_letter": extracted.letter}))
    named = read.option is not None
    code, text = (None, None) if named else (read.kind, f"no option named: {read.kind.replace('_', ' ')}")
    return Action(identity, 1, 1, RESPONDENT, "answer", arguments, None, named, undoes=False, error_code=code, error_text=text)


def _metrics(answer: Response, question: QaQuestion, extracted: Extraction, read: ReadAnswer, *, correct: bool) -> dict[str, float]:
    found = {
        "accuracy": correct,
        "accuracy_read": read.letter is not None and read.letter in question.keyed_letters,
        "accuracy_corrected": read.option in question.correct_options,
        "chance": chance(question),
        "chance_upstream": chance_upstream(question),
        "chance_corrected": chance_corrected(question),
    }
    if answer.intended is not None:
        found["intended_accuracy"] = answer.intended in question.keyed_letters
        found["extraction_agreement"] = answer.intended == extracted.letter
        found["reading_agreement"] = answer.intended == read.letter
    return found


def _failures(identity: str, question: QaQuestion, extracted: Extraction, read: ReadAnswer) -> list[tuple[object, ...]]:
    """What the respondent did (by the corrected key), and what the published scoring made of it."""
    given = read.kind if read.option is None else "correct" if read.option in question.correct_options else "wrong_option"
    taken = "correct" if read.letter == extracted.letter else "guessed" if read.letter is None else "misread"
    similarity = "" if extracted.similarity is None else f", similarity {extracted.similarity}"
    evidence = f"published: {extracted.letter} ({extracted.way}{similarity}); read: {read.letter or 'no letter'} ({read.kind})"
    return [
        Failure(identity, 1, RESPONDENT, "coordqa_answer", given, None),
        Failure(identity, 1, RESPONDENT, "coordqa_extraction", taken, evidence),
    ]
