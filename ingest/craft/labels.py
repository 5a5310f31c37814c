"""Label files of CRAFT: the answers of its human validation, and the truth that was planted in games played on the published engine."""

import re
from collections import Counter
from typing import Final

from ingest.labels.files import GameReference, LabelForm, LabelLine, Record, given, plain_answer, score, whole
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt

_RUBRICS: Final = {"SG": "spatial_grounding", "MM": "mind_modeling", "PS": "pragmatic_sufficiency"}
_KEY: Final = re.compile(r"(?P<model>.+)_(?P<task>structure_\d+)_(?P<turn>\d{1,18})")


def _planted(record: Record, _: Counter[str]) -> LabelLine:
    answer, group = given(record, "truth"), record["director"] in {"", "GROUP"}
    game = GameReference(model=given(record, "model"), builder=record.get("builder") or None, task_id=given(record, "structure_id"))
    turn = whole(record, "turn", least=1)
    names = [game.model, game.builder, game.task_id, record.get("run"), record["turn"], "" if group else record["director"]]
    return LabelLine(
        annotator=given(record, "model"),
        rubric=_rubric(record, "judge"),
        question=given(record, "question"),
        unit_key="/".join(name for name in names if name),
        game=game._replace(seed=whole(record, "run")),
        turn=turn,
        agent=None if group else record["director"],
        answer=answer,
        score=score(answer, ""),
    )


def _validation(record: Record, repeats: Counter[str]) -> LabelLine:
    answer, key, question = given(record, "Response"), given(record, "Key"), given(record, "Question")
    if record["UserType"] not in {"human", "llm"}:
        raise BadInputError(f"UserType {excerpt(record['UserType'], 30)!r}: it is human or llm")
    annotator = given(record, "User")
    if record["UserType"] == "llm":  # User then names the judged model; the judge has no name and answers several times
        repeats[f"{key}\0{question}"] += 1
        annotator = f"llm:published#{repeats[f'{key}{chr(0)}{question}']}"
    number = score(answer, "")
    stated = record.get("ResponseScore", "")
    if stated and plain_answer(answer) != "na" and score(answer, stated) != number:
        raise BadInputError(f"Response {answer} with ResponseScore {stated}: one of them is wrong")
    game = _KEY.fullmatch(key)
    return LabelLine(
        annotator=annotator,
        rubric=_rubric(record, "Judge"),
        question=question,
        unit_key=key,
        game=GameReference(model=game["model"], task_id=game["task"]) if game else GameReference(),
        turn=int(game["turn"]) if game else None,
        agent=None,
        answer=answer,
        score=number,
    )


def _rubric(record: Record, name: str) -> str:
    code = given(record, name)
    if code not in _RUBRICS:
        raise BadInputError(f"{name} {excerpt(code, 30)!r}: it is {', '.join(_RUBRICS)}")
    return _RUBRICS[code]


FORMS: Final = (
    LabelForm("craft human validation", frozenset({"Key", "Judge", "Question", "User", "UserType", "Response"}), _validation),
    LabelForm(
        "planted truth", frozenset({"model", "structure_id", "turn", "director", "judge", "question", "truth"}), _planted, planted=True
    ),
)
