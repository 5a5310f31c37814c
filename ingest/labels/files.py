"""Label files as people and programs write them: each usable line as one `LabelLine`, each other one as a reason.

Forms are distinguished by their columns (docs/labels.md): those that game families bring, and cotrace's own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, NamedTuple

from ingest.reading.text import csv_rows, loads, utf8
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt
from schemas.families import offered

PLANTED_PREFIX: Final = "planted:"
"""`labels.source` of planted truth out of a file begins with it."""

COLUMNS: Final = ("rubric", "question", "annotator", "unit_key", "episode_id", "turn", "agent", "answer")
"""The columns with which each label file that cotrace writes begins, an export or a template: so it is known again."""

SCORES: Final[Mapping[str, float | None]] = {"yes": 1.0, "no": 0.0, "unclear": 0.5, "na": None}
"""The numbers of the answers that every rubric of ours has; other answers bring theirs in the column `score`."""

_MOST_DIGITS: Final = 18
"""Of a number that a table can hold."""

_GUARD: Final = re.compile(r"^'(?='*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n])")
"""The apostrophe with which files that cotrace writes keep a spreadsheet from running a text; in another's file it is a text's own."""

Record = Mapping[str, str]
"""Column -> text; empty where there is nothing."""


class GameReference(NamedTuple):
    """What a line states about the game it means; None: it does not say."""

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
    """As stated, or that of an answer every rubric has."""
    is_stated: bool = False
    """The line gives its score itself."""
    sampling_probability: float | None = None
    """Chance with which the unit was drawn to be labelled, above 0; None: not recorded."""


class LabelForm(NamedTuple):
    """A form of label files."""

    name: str
    columns: frozenset[str]
    """Columns that it must have."""
    line: Callable[[Record, Counter[str]], LabelLine]
    """Reads a record; the counter counts what the form numbers itself. Raises `BadInputError`."""
    planted: bool = False


def records(data: bytes) -> Iterator[tuple[int, Record | BadInputError]]:
    """The records of a CSV, JSON Lines or JSON file with their numbers (of lines; of entries in a JSON list), or why there is none.

    Raises:
        UsageError: the file is empty or no text.
    """
    try:
        text = utf8(data).decode().lstrip("\ufeff")
    except (BadInputError, UnicodeDecodeError) as error:
        raise UsageError(f"the labels are no UTF-8 text ({error}): save the file as UTF-8") from error
    if not text.strip():
        raise UsageError("the label file is empty: docs/labels.md shows what it should hold")
    beginning = text.lstrip()[0]
    return _from_list(text) if beginning == "[" else _from_json(text) if beginning == "{" else _from_csv(text)


def _from_list(text: str) -> Iterator[tuple[int, Record | BadInputError]]:
    try:
        entries = loads(text.encode())
    except BadInputError as error:
        raise UsageError(f"the labels are no JSON list ({error.reason})") from error
    for number, entry in enumerate(entries, start=1):
        try:
            yield number, _texts(entry)
        except BadInputError as error:
            yield number, error


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
        raise BadInputError("no JSON object: each label must be one")
    nested = [key for key, entry in value.items() if isinstance(entry, dict | list)]
    if nested:
        raise BadInputError(f"{nested[0]} holds a list or an object: labels are plain values")
    return {key: "" if entry is None else str(entry).strip() for key, entry in value.items()}


def _from_csv(text: str) -> Iterator[tuple[int, Record | BadInputError]]:
    for number, row in csv_rows(text):
        if isinstance(row, BadInputError):
            yield number, row
            continue
        plain = partial(_GUARD.sub, "") if tuple(row)[: len(COLUMNS)] == COLUMNS else str
        yield number, {name: plain(field.strip()) for name, field in row.items()}


def form_of(columns: Iterable[str]) -> LabelForm:
    """The form of a file with these columns.

    Raises:
        UsageError: none has them.
    """
    found, forms = set(columns), _forms()
    for form in forms:
        if form.columns <= found:
            return form
    nearest = min(forms, key=lambda form: len(form.columns - found))
    others = {name.lower(): name for name in found - nearest.columns}
    missing = [
        name + "".join(f" (is it {others[other]}?)" for other in get_close_matches(name, others, n=1))
        for name in sorted(nearest.columns - found)
    ]
    raise UsageError(
        f"labels need the columns {', '.join(sorted(nearest.columns))}; this file lacks {', '.join(missing)} (docs/labels.md has all forms)"
    )


def _forms() -> list[LabelForm]:
    """What families bring goes first: cotrace's own form asks for least."""
    brought = [form for _, found in offered("ingest", "labels", "FORMS") for form in found]
    return [*brought, LabelForm("labels", frozenset({"rubric", "question", "annotator", "answer"}), _own)]


def _own(record: Record, _: Counter[str]) -> LabelLine:
    turn = whole(record, "turn", least=1)
    episode, agent = record.get("episode_id") or None, record.get("agent") or None
    unit_key = record.get("unit_key") or "/".join(str(part) for part in (episode, turn, agent) if part is not None)
    if not unit_key:
        raise BadInputError("it does not say what was labelled: give unit_key, or episode_id with turn and agent")
    if episode is None:
        episode, turn, agent = _from_unit_key(unit_key, turn, agent)
    answer = given(record, "answer")
    return LabelLine(
        annotator=given(record, "annotator"),
        rubric=given(record, "rubric"),
        question=given(record, "question"),
        unit_key=unit_key,
        game=GameReference(episode_id=episode),
        turn=turn,
        agent=agent,
        answer=answer,
        score=score(answer, record.get("score", "")),
        is_stated=bool(record.get("score")),
        sampling_probability=_chance(record.get("sampling_probability", "")),
    )


def _chance(stated: str) -> float | None:
    if not stated:
        return None
    try:
        number = float(stated)
    except ValueError:
        number = 0.0
    if not _LEAST_CHANCE <= number <= 1:
        raise BadInputError(
            f"sampling_probability {excerpt(stated, 30)!r}: give a number from {_LEAST_CHANCE:g}, up to 1, as the template has it"
        )
    return number


_LEAST_CHANCE: Final = 1e-9
"""One unit in more than any store has; labels are weighted by 1 over it."""


def _from_unit_key(unit_key: str, turn: int | None, agent: str | None) -> tuple[str, int | None, str | None]:
    """`<episode>/<turn>/<agent>` taken apart; what the line states itself goes first."""
    episode, _, rest = unit_key.partition("/")
    number, _, name = rest.partition("/")
    if turn is None and number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS:
        turn = int(number)
        agent = agent or name.partition("/")[0] or None
    return episode, turn, agent


def given(record: Record, name: str) -> str:
    """What a record must have.

    Raises:
        BadInputError: it has not.
    """
    value = record.get(name, "")
    if not value:
        raise BadInputError(f"no {name}: fill it in")
    return value


def whole(record: Record, name: str, *, least: int = 0) -> int | None:
    """A whole number, None where there is nothing.

    Raises:
        BadInputError: it is none, or below the least.
    """
    text = record.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS) or int(text) < least:
        raise BadInputError(f"{name} {excerpt(text, 30)!r}: give a whole number from {least}")
    return int(text)


def score(answer: str, stated: str) -> float | None:
    """The stated number, or that of an answer every rubric has; None for N/A and for answers without a stated number.

    Raises:
        BadInputError: it is not a number from 0 to 1.
    """
    if plain_answer(answer) == "na":
        return None
    if not stated:
        return SCORES.get(plain_answer(answer))
    try:
        number = float(stated)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise BadInputError(f"score {excerpt(stated, 30)!r}: give a number from 0 to 1, or leave it out")
    return number


def plain_answer(answer: str) -> str:
    """The answer without case, N/A as `na`."""
    return answer.casefold().replace("/", "")
