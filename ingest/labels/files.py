"""Label files as people and programs write them: each usable line as one `LabelLine`, each other one as a reason.

Three forms, told apart by their columns (docs/labels.md): cotrace's own, planted truth, and CRAFT's human validation.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ingest.reading.json_text import loads, utf8
from schemas.errors import BadInputError, UsageError
from schemas.text import excerpt

__all__ = ["PLANTED_PREFIX", "GameReference", "LabelForm", "LabelLine", "Record", "form_of", "plain_answer", "records"]

PLANTED_PREFIX: Final = "planted:"
"""`labels.source` of planted truth out of a file begins with it."""

SCORES: Final[Mapping[str, float | None]] = {"yes": 1.0, "no": 0.0, "unclear": 0.5, "na": None}
"""The numbers of the answers that every rubric of ours has; other answers bring theirs in the column `score`."""

_RUBRICS: Final = {"SG": "spatial_grounding", "MM": "mind_modeling", "PS": "pragmatic_sufficiency"}
_CRAFT_KEY: Final = re.compile(r"(?P<model>.+)_(?P<task>structure_\d+)_(?P<turn>\d+)")

Record = Mapping[str, str]
"""Column -> text; empty where there is nothing."""


class GameReference(NamedTuple):
    """What a line says about the game it means; None: it does not say."""

    episode_id: str | None = None
    model: str | None = None
    builder: str | None = None
    task_id: str | None = None
    seed: int | None = None


class LabelLine(NamedTuple):
    """One label."""

    annotator: str
    rubric: str
    question: str
    unit_key: str
    game: GameReference
    turn: int | None
    agent: str | None
    answer: str
    score: float | None


class LabelForm(NamedTuple):
    """A form of label files."""

    name: str
    columns: frozenset[str]
    """Columns that it must have."""
    line: Callable[[Record, Counter[str]], LabelLine]
    """Reads a record; the counter counts what the form numbers itself. Raises `BadInputError`."""
    planted: bool = False


def records(data: bytes) -> Iterator[tuple[int, Record | BadInputError]]:
    """The records of a CSV or JSON Lines file with their line numbers, or why a line holds none.

    CSV has a header; the delimiter is the one of comma, semicolon and tab that the header has most of.

    Raises:
        UsageError: the file is empty or no text.
    """
    try:
        text = utf8(data).decode().lstrip("\ufeff")
    except (BadInputError, UnicodeDecodeError) as error:
        raise UsageError(f"the labels are no UTF-8 text ({error}): save the file as UTF-8") from error
    if not text.strip():
        raise UsageError("the label file is empty: docs/labels.md shows what it should hold")
    return _from_json(text) if text.lstrip().startswith("{") else _from_csv(text)


def _from_json(text: str) -> Iterator[tuple[int, Record | BadInputError]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = loads(line.encode())
            yield number, _texts(value)
        except BadInputError as error:
            yield number, error


def _texts(value: Any) -> Record:
    if not isinstance(value, dict):
        raise BadInputError("no JSON object: each line must be one")
    nested = [key for key, entry in value.items() if isinstance(entry, dict | list)]
    if nested:
        raise BadInputError(f"{nested[0]} holds a list or an object: labels are plain values")
    return {key: "" if entry is None else str(entry).strip() for key, entry in value.items()}


def _from_csv(text: str) -> Iterator[tuple[int, Record | BadInputError]]:
    header = text.lstrip("\n").partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=True)
    names: list[str] | None = None
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield rows.line_num, BadInputError(f"no CSV ({error}): quote fields that hold the delimiter or a line break")
            continue
        if row is None:
            return
        if not any(field.strip() for field in row):
            continue
        if names is None:
            names = [name.strip() for name in row]
            continue
        if len(row) != len(names):
            yield rows.line_num, BadInputError(f"{len(row)} fields where the header has {len(names)}: quote fields that hold the delimiter")
        else:
            yield rows.line_num, {name: field.strip() for name, field in zip(names, row, strict=True)}


def form_of(columns: Iterable[str]) -> LabelForm:
    """The form of a file with these columns.

    Raises:
        UsageError: none has them.
    """
    found = set(columns)
    for form in FORMS:
        if form.columns <= found:
            return form
    nearest = min(FORMS, key=lambda form: len(form.columns - found))
    missing = ", ".join(sorted(nearest.columns - found))
    raise UsageError(
        f"labels need the columns {', '.join(sorted(nearest.columns))}; this file lacks {missing} (docs/labels.md has all forms)"
    )


def _own(record: Record, _: Counter[str]) -> LabelLine:
    turn = _whole(record, "turn", least=1)
    episode, agent = record.get("episode_id") or None, record.get("agent") or None
    unit_key = record.get("unit_key") or "/".join(str(part) for part in (episode, turn, agent) if part is not None)
    if not unit_key:
        raise BadInputError("it does not say what was labelled: give unit_key, or episode_id with turn and agent")
    if episode is None:
        episode, turn, agent = _from_unit_key(unit_key, turn, agent)
    answer = _given(record, "answer")
    return LabelLine(
        annotator=_given(record, "annotator"),
        rubric=_given(record, "rubric"),
        question=_given(record, "question"),
        unit_key=unit_key,
        game=GameReference(episode_id=episode),
        turn=turn,
        agent=agent,
        answer=answer,
        score=_score(answer, record.get("score", "")),
    )


def _from_unit_key(unit_key: str, turn: int | None, agent: str | None) -> tuple[str, int | None, str | None]:
    """`<episode>/<turn>/<agent>` taken apart; what the line says itself goes first."""
    episode, _, rest = unit_key.partition("/")
    number, _, name = rest.partition("/")
    if turn is None and number.isascii() and number.isdecimal():
        turn = int(number)
        agent = agent or name.partition("/")[0] or None
    return episode, turn, agent


def _planted(record: Record, _: Counter[str]) -> LabelLine:
    answer, group = _given(record, "truth"), record["director"] in {"", "GROUP"}
    game = GameReference(model=_given(record, "model"), builder=record.get("builder") or None, task_id=_given(record, "structure_id"))
    turn = _whole(record, "turn", least=1)
    names = [game.model, game.builder, game.task_id, record.get("run"), record["turn"], "" if group else record["director"]]
    return LabelLine(
        annotator=_given(record, "model"),
        rubric=_rubric(record, "judge"),
        question=_given(record, "question"),
        unit_key="/".join(name for name in names if name),
        game=game._replace(seed=_whole(record, "run")),
        turn=turn,
        agent=None if group else record["director"],
        answer=answer,
        score=_score(answer, ""),
    )


def _validation(record: Record, repeats: Counter[str]) -> LabelLine:
    answer, key, question = _given(record, "Response"), _given(record, "Key"), _given(record, "Question")
    if record["UserType"] not in {"human", "llm"}:
        raise BadInputError(f"UserType {excerpt(record['UserType'], 30)!r}: it is human or llm")
    annotator = _given(record, "User")
    if record["UserType"] == "llm":  # User then names the judged model; the judge has no name and answers several times
        repeats[f"{key}\0{question}"] += 1
        annotator = f"llm:published#{repeats[f'{key}{chr(0)}{question}']}"
    score = _score(answer, "")
    stated = record.get("ResponseScore", "")
    if stated and plain_answer(answer) != "na" and _score(answer, stated) != score:
        raise BadInputError(f"Response {answer} with ResponseScore {stated}: one of them is wrong")
    game = _CRAFT_KEY.fullmatch(key)
    return LabelLine(
        annotator=annotator,
        rubric=_rubric(record, "Judge"),
        question=question,
        unit_key=key,
        game=GameReference(model=game["model"], task_id=game["task"]) if game else GameReference(),
        turn=int(game["turn"]) if game else None,
        agent=None,
        answer=answer,
        score=score,
    )


FORMS: Final = (
    LabelForm("craft human validation", frozenset({"Key", "Judge", "Question", "User", "UserType", "Response"}), _validation),
    LabelForm(
        "planted truth", frozenset({"model", "structure_id", "turn", "director", "judge", "question", "truth"}), _planted, planted=True
    ),
    LabelForm("labels", frozenset({"rubric", "question", "annotator", "answer"}), _own),
)


def _given(record: Record, name: str) -> str:
    value = record.get(name, "")
    if not value:
        raise BadInputError(f"no {name}: fill it in")
    return value


def _rubric(record: Record, name: str) -> str:
    code = _given(record, name)
    if code not in _RUBRICS:
        raise BadInputError(f"{name} {excerpt(code, 30)!r}: it is {', '.join(_RUBRICS)}")
    return _RUBRICS[code]


def _whole(record: Record, name: str, *, least: int = 0) -> int | None:
    text = record.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or int(text) < least:
        raise BadInputError(f"{name} {excerpt(text, 30)!r}: give a whole number from {least}")
    return int(text)


def _score(answer: str, stated: str) -> float | None:
    """The stated number, or that of an answer every rubric has; None for N/A and for answers whose number nobody said."""
    if plain_answer(answer) == "na":
        return None
    if not stated:
        return SCORES.get(plain_answer(answer))
    try:
        score = float(stated)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise BadInputError(f"score {excerpt(stated, 30)!r}: give a number from 0 to 1, or leave it out")
    return score


def plain_answer(answer: str) -> str:
    """The answer without case, N/A as `na`."""
    return answer.casefold().replace("/", "")
