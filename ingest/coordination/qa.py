"""Reads answers to CoordinationQA: the published logs (one trial a file) and JSON Lines with one answer a line.

A log holds responses only, so the question file (`single_turn_trials.csv`) must lie next to it or in a folder above. An answer is an
episode of one turn. Format: docs/coordination.md.
"""

import hashlib
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from games.coordination.qa import questions as coordqa
from ingest.cotrace_log.adapter import call_row
from ingest.reading.adapter_types import Place, Reading, episode_id, malformed, run_id
from ingest.reading.text import dumps, loads
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.game import CallEntry
from schemas.records import Action, Agent, Episode, EpisodeMetric, Failure, Json, LogDisagreement, Run, Turn, TurnMetric, Utterance

_FILE_NAME: Final = re.compile(r"^(?P<test>[^_]+)_(?P<family>[^_]+)_(?P<model>.+?)(?P<trial>\d)\.json$")
"""The trial is the last digit: three trials were published, and model names end in digits too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response to one question."""

    scenario: int
    type: coordqa.QuestionType
    response: str | None
    """None: the call came to nothing."""
    intended: str | None
    """The letter that a scripted respondent meant; None where it meant none or it is not known."""
    locator: str
    index: int
    """Place in the file, from 0."""
    call: CallEntry | None = None
    """What the request took, where the log reports it."""
    claims: Mapping[str, object] = field(default_factory=dict)
    """What else the line states of question and answer, all of which can be checked; empty for published logs."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The answers of one respondent in one trial, in the order of the log."""

    respondent: str
    family: str | None
    """Prompt template from the file's name: openai, mistral, vicuna, ...; None if it does not."""
    trial: int | None
    answers: tuple[Response, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all responses: the same trial logged twice has the same, whichever way failed calls are written."""
        responses = sorted(
            (answer.scenario, answer.type, "" if answer.response in (None, coordqa.PLACEHOLDER) else answer.response)
            for answer in self.answers
        )
        return hashlib.blake2b(repr(responses).encode(errors="surrogateescape"), digest_size=8).hexdigest()


def from_arrays(log: Mapping[str, Any], file_name: str) -> tuple[Trial, ...]:
    """The trial of a published log; who answered is in the file's name only.

    Raises:
        BadInputError: an entry is not text.
    """
    named = _FILE_NAME.match(file_name)
    answers: list[Response] = []
    for kind in coordqa.PUBLISHED_TYPES:
        responses = log.get(f"{kind}_ANSWERS", [])
        if not isinstance(responses, list) or not all(response is None or isinstance(response, str) for response in responses):
            raise BadInputError(f"{kind}_ANSWERS is not a list of texts: write the file again", locator=f"{kind}_ANSWERS")
        answers += [_logged(kind, scenario, response) for scenario, response in enumerate(responses)]
    return (
        Trial(
            respondent=named["model"] if named else file_name.removesuffix(".json"),
            family=named["family"] if named else None,
            trial=int(named["trial"]) if named else None,
            answers=tuple(answers),
        ),
    )


def _logged(kind: coordqa.QuestionType, scenario: int, response: str | None) -> Response:
    return Response(
        scenario=scenario,
        type=kind,
        response=response,
        intended=None,
        locator=f"{kind}_ANSWERS[{scenario}]",
        index=len(coordqa.PUBLISHED_TYPES) * scenario + coordqa.PUBLISHED_TYPES.index(kind),  # ids of games stay, whatever types are added
    )


_CLAIMS: Final = ("game", "paper_game", "n_options", "key", "extracted", "correct", "intended_correct")


_CALL: Final = TypeAdapter(CallEntry)


def _call(value: object) -> object:
    """A strict record takes no object for a dataclass: it is read before."""
    return _CALL.validate_python(value, strict=False) if isinstance(value, dict) else value


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    respondent: str
    trial: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    scenario: Annotated[int, Field(ge=0, lt=2**31)]
    type: coordqa.QuestionType
    response: str | None
    intended: str | None = None
    call: Annotated[CallEntry | None, BeforeValidator(_call)] = None
    api_error: bool = False
    game: str | None = None
    paper_game: str | None = None
    n_options: int | None = None
    key: str | None = None
    extracted: str | None = None
    correct: bool | int | None = None
    intended_correct: bool | int | None = None

    @property
    def claims(self) -> dict[str, object]:
        """What the line states that question and response say too."""
        return {name: getattr(self, name) for name in _CLAIMS if name in self.model_fields_set}


def from_lines(data: bytes, found: Reading) -> tuple[Trial, ...]:
    """The trials in a file with one answer a line; lines that cannot be used become rejects."""
    answers: dict[tuple[str, int | None], dict[tuple[int, coordqa.QuestionType], Response]] = defaultdict(dict)
    for index, text in enumerate(data.split(b"\n")):
        where = f"line {index + 1}"
        if not text.strip():
            continue
        try:
            line = _Line.model_validate(loads(text))
        except ValidationError as error:
            found.rejects.append(malformed(error, where, "the answer is left out"))
        except BadInputError as error:
            found.rejects.append(BadInputError(error.reason, locator=where, excerpt=excerpt(text[:200].decode(errors="replace"))))
        else:
            answer = Response(
                scenario=line.scenario,
                type=line.type,
                response=None if line.api_error else line.response,
                intended=line.intended,
                locator=where,
                index=index,
                call=line.call,
                claims=line.claims,
            )
            answers[line.respondent, line.trial][line.scenario, line.type] = answer  # a question asked again: the last answer counts
    return tuple(
        Trial(respondent=respondent, family=None, trial=trial, answers=_sorted(given)) for (respondent, trial), given in answers.items()
    )


def _sorted(given: Mapping[tuple[int, coordqa.QuestionType], Response]) -> tuple[Response, ...]:
    return tuple(given[key] for key in sorted(given, key=lambda key: (key[0], coordqa.QUESTION_TYPES.index(key[1]))))


RESPONDENT: Final = "respondent"

_RUN_NAME: Final = "coordqa"

Rows = dict[str, list[tuple[object, ...]]]
"""Table name -> records."""


def run_row(trial: Trial) -> Run:
    """The run of a respondent: all its trials."""
    condition = {"game": "coordqa", "family": trial.family}
    team = {RESPONDENT: trial.respondent}
    return Run(run_id("coordination", _RUN_NAME, team, condition), "coordination", _RUN_NAME, Json(dumps(condition)), None)


def answer_rows(trial: Trial, answer: Response, question: coordqa.QaQuestion, run: Run, place: Place) -> tuple[Episode, Rows]:
    """The episode that an answer is, and its rows in the other tables; the run's is not among them."""
    extracted, read = coordqa.extract(question, answer.response), coordqa.read_answer(question, answer.response)
    correct = coordqa.correct_upstream(question, extracted.letter)
    identity = episode_id("coordination", place.path, answer.index)
    episode = _episode(identity, trial, question, run, place)._replace(
        success=correct,
        score=float(correct),
        stop_reason=read.kind,
        error="the call failed" if read.kind == "failed_call" else None,
        details=Json(dumps(_details(trial, answer, question, extracted, read))),
    )
    arguments = Json(dumps({"letter": read.letter, "published_letter": extracted.letter}))
    named = read.option is not None
    code, text = (None, None) if named else (read.kind, f"no option named: {read.kind.replace('_', ' ')}")
    given = read.kind if read.option is None else "correct" if read.option in question.correct_options else "wrong_option"
    taken = "correct" if read.letter == extracted.letter else "guessed" if read.letter is None else "misread"
    similarity = "" if extracted.similarity is None else f", similarity {extracted.similarity}"
    evidence = f"published: {extracted.letter} ({extracted.way}{similarity}); read: {read.letter or 'no letter'} ({read.kind})"
    rows: Rows = {
        "agents": [Agent(identity, RESPONDENT, RESPONDENT, trial.respondent)],
        "turns": [_turn(identity, question, extracted, read, correct=correct)],
        "actions": [Action(identity, 1, 1, RESPONDENT, "answer", arguments, None, named, error_code=code, error_text=text)],
        "episode_metrics": [
            EpisodeMetric(identity, f"coordination.{name}", float(value))
            for name, value in _metrics(answer, question, extracted, read, correct=correct).items()
        ],
        "turn_metrics": [TurnMetric(identity, 1, "coordination.accuracy", float(correct))],
        "failures": [
            Failure(identity, 1, RESPONDENT, "coordqa_answer", given, None),
            Failure(identity, 1, RESPONDENT, "coordqa_extraction", taken, evidence),
        ],
        "log_disagreements": list(_differences(identity, answer, question, extracted, correct=correct)),
    }
    if answer.call is not None:
        rows["calls"] = [call_row(answer.call, "coordqa", run=run.run_id, episode=identity, turn=1)]
    if answer.response is not None:
        rows["utterances"] = [Utterance(identity, 1, 1, RESPONDENT, "public", [RESPONDENT], answer.response)]
    return episode, rows


def _differences(
    identity: str, answer: Response, question: coordqa.QaQuestion, extracted: coordqa.Extraction, *, correct: bool
) -> Iterator[LogDisagreement]:
    """What the line states of its question and its score against the question file and the published rule."""
    due = {
        "game": question.game_upstream,
        "paper_game": question.game,
        "n_options": len(question.options),
        "key": question.key,
        "extracted": extracted.letter,
        "correct": correct,
        "intended_correct": answer.intended in question.keyed_letters,
    }
    for name, claimed in answer.claims.items():
        unknown = name == "intended_correct" and answer.intended is None
        if claimed != due[name] and not (unknown and claimed is None):
            yield LogDisagreement(identity, 1, name, dumps(claimed), dumps(due[name]))


def _details(
    trial: Trial, answer: Response, question: coordqa.QaQuestion, extracted: coordqa.Extraction, read: coordqa.ReadAnswer
) -> dict[str, object]:
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


def _episode(identity: str, trial: Trial, question: coordqa.QaQuestion, run: Run, place: Place) -> Episode:
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


def _turn(identity: str, question: coordqa.QaQuestion, extracted: coordqa.Extraction, read: coordqa.ReadAnswer, *, correct: bool) -> Turn:
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
        progress=float(correct),
        goal_reached=correct,
    )


def _metrics(
    answer: Response, question: coordqa.QaQuestion, extracted: coordqa.Extraction, read: coordqa.ReadAnswer, *, correct: bool
) -> dict[str, float]:
    found = {
        "accuracy": correct,
        "accuracy_read": read.letter is not None and read.letter in question.keyed_letters,
        "accuracy_corrected": read.option in question.correct_options,
        "chance": coordqa.chance(question),
        "chance_upstream": coordqa.chance_upstream(question),
        "chance_corrected": coordqa.chance_corrected(question),
    }
    if answer.intended is not None:
        found["intended_accuracy"] = answer.intended in question.keyed_letters
        found["extraction_agreement"] = answer.intended == extracted.letter
        found["reading_agreement"] = answer.intended == read.letter
    return found


FORMAT: Final = "coordqa"
VERSION: Final = 3
PATH_PARTS: Final = 1
"""Respondent and trial stand in the name only, and a respondent may answer alike in two trials."""

_ARRAYS: Final = re.compile(rb'"(?:EC|TOM|JP)_ANSWERS"\s*:\s*\[')
_ARRAY: Final = b'_ANSWERS"'
"""In each of them, and found in half the time that the pattern takes."""

_LINE: Final = (b'"respondent"', b'"scenario"', b'"response"')


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether these are answers to CoordinationQA."""
    first_line = head.lstrip().split(b"\n", 1)[0]
    if first_line[:1] != b"{":
        return False
    return all(mark in first_line for mark in _LINE) or (_ARRAY in head and bool(_ARRAYS.search(head)))


def read(data: bytes, place: Place) -> Reading:
    """Read a file of answers.

    Raises:
        BadInputError: there is no question file, the file holds no answers, or it is damaged as a whole.
    """
    questions = {(question.scenario, question.type): question for question in _questions(Path(place.path))}
    found = Reading()
    trials = from_arrays(_object(data), Path(place.path).name) if _ARRAYS.search(data[:4096]) else from_lines(data, found)
    started = time.perf_counter()
    for trial in trials:
        _read_trial(trial, questions, place, found)
    found.replay_s = time.perf_counter() - started
    if not found.episodes and not found.rejects:
        raise BadInputError("no answers: the random model logs none, and a run that was cut at once has none either")
    return found


def _object(data: bytes) -> Mapping[str, Any]:
    value = loads(data)
    if not isinstance(value, dict):
        raise BadInputError("no JSON object with answers: write the file again")
    return value


def companions(path: Path) -> tuple[Path, ...]:
    """The question file that answers are read with: next to them, or in the nearest folder above."""
    return tuple(found for folder in path.parents if (found := folder / coordqa.QUESTION_FILE).is_file())[:1]


def _questions(log: Path) -> tuple[coordqa.QaQuestion, ...]:
    for path in companions(log):
        return coordqa.load_questions(path)
    raise BadInputError(f"answers without questions: put {coordqa.QUESTION_FILE} of the benchmark next to the log or in a folder above")


def _read_trial(
    trial: Trial, questions: Mapping[tuple[int, coordqa.QuestionType], coordqa.QaQuestion], place: Place, found: Reading
) -> None:
    run = run_row(trial)
    episodes: dict[int, dict[coordqa.QuestionType, Episode]] = defaultdict(dict)
    for answer in trial.answers:
        question = questions.get((answer.scenario, answer.type))
        if question is None:
            reason = f"an answer to question {answer.type} {answer.scenario}, which {coordqa.QUESTION_FILE} does not have"
            found.rejects.append(BadInputError(reason, locator=answer.locator))
            continue
        episode, rows = answer_rows(trial, answer, question, run, place)
        found.add(Reading(rows={**rows, "episodes": [episode]}, episodes=[episode.episode_id], turns=1))
        episodes[answer.scenario][answer.type] = episode
    if episodes:
        found.rows["runs"].append(run)
    found.rows["failures"] += [_joint_planning(asked) for asked in episodes.values() if asked.keys() >= set(coordqa.PUBLISHED_TYPES)]


def _joint_planning(asked: Mapping[coordqa.QuestionType, Episode]) -> Failure:
    """Tell wrong joint plans apart: the scenario's other two questions are right (synthesis), or not (component)."""
    parts_right = bool(asked["EC"].success and asked["TOM"].success)
    category = "correct" if asked["JP"].success else "synthesis" if parts_right else "component"
    return Failure(asked["JP"].episode_id, 1, RESPONDENT, "coordqa_joint_planning", category, None)
