"""Labels: answers of people, and planted truth, out of files into the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ingest.labels.files import PLANTED_PREFIX, GameReference, LabelLine, Record, form_of, plain_answer, records
from ingest.reading.json_text import loads
from schemas.batches import check, to_arrow
from schemas.errors import BadInputError, UsageError
from schemas.records import Label
from schemas.store import Store
from schemas.text import excerpt, near, printable
from schemas.transaction import Transaction

if TYPE_CHECKING:
    import duckdb

__all__ = ["Answers", "LabelReport", "add_labels", "import_labels"]


@dataclass(frozen=True, kw_only=True)
class LabelReport:
    """What came of an import."""

    labels: int
    """Labels in the store from this file."""
    joined: int
    """Those whose game is in the store."""
    refused: list[str]
    """A line of text for each line that could not be used: where, why, and the mend."""
    judged: int = 0
    """Those about a unit and question that a judge has answered."""
    unanswered: int = 0
    """Rows of a template (`cotrace labels template`) without an answer yet."""
    replaced: int = 0
    """Labels that the same file had given before."""
    notes: list[str] = field(default_factory=list)
    """What is kept but may not mean what its author thinks: unknown rubrics, labels without an agent, people who contradict themselves."""


Answers = Mapping[str, Mapping[str, frozenset[str]]]
"""Rubric -> question -> the answers it may have, without case; of a choice of several, those that can be joined by `|`."""


def import_labels(file: Path, store: Store, known: Answers | None = None) -> LabelReport:
    """Read a file of labels into the store, in one transaction; it replaces what the same file gave before.

    The file may have any of the forms of docs/labels.md. A label whose game is not in the store is kept, without the game: import the
    file again once the game is there. A label of a rubric that is not known is kept as it is, and told.

    Args:
        file: CSV, JSON Lines or a JSON list.
        store: made where there is none.
        known: the rubrics whose questions and answers are checked, such as `judges.rubric_files.known_answers.known_answers` gives.

    Raises:
        UsageError: the file cannot be read, or has none of the forms.
        StoreError: the store cannot be written.
    """
    lines = _read(file)
    refused, source = lines.refused, _source(file, planted=lines.planted)
    imported_at = datetime.now(UTC).replace(tzinfo=None)
    store.create()

    def write(transaction: Transaction) -> tuple[list[Label], list[tuple[int, BadInputError]], int, list[str], int]:
        games = _KnownGames(transaction.connection)
        labels, impossible = [], []
        for number, line in lines.usable:
            try:
                _refuse_impossible(line, known or {})
                labels.append(_label(source, line, games, str(file.resolve().parent), imported_at))
            except BadInputError as error:
                impossible.append((number, error))
        batch = to_arrow({"labels": labels})
        check(batch)
        replaced = _one(transaction.execute("SELECT count(*) FROM labels WHERE source = ?", [source]).fetchone())
        transaction.delete("labels", "source = ?", [source])
        transaction.insert(batch)
        notes = [*_unknown_rubrics(labels, known), *_contradictions(transaction.connection, source)]
        return labels, impossible, replaced, notes, _one(transaction.execute(_JUDGED, [source]).fetchone())

    labels, impossible, replaced, notes, judged = store.transact(write)
    refused += impossible
    told = [f"{lines.counted} {number}: {printable(error.reason)}" for number, error in sorted(refused, key=lambda entry: entry[0])]
    joined = sum(label.episode_id is not None for label in labels)
    return LabelReport(
        labels=len(labels), joined=joined, judged=judged, refused=told, replaced=replaced, notes=notes, unanswered=lines.unanswered
    )


def _refuse_impossible(line: LabelLine, known: Answers) -> None:
    """Refuse what the line's rubric, where it is known, does not ask or cannot have for an answer.

    N/A passes everywhere: in planted truth it says that the truth is not determined.
    """
    questions = known.get(line.rubric)
    if questions is None:
        return
    if line.question not in questions:
        raise BadInputError(f"{line.rubric} has no question {excerpt(line.question, 40)}: it has {', '.join(questions)}")
    possible = questions[line.question]
    if not set(plain_answer(line.answer).split("|")) <= possible | {"na"}:
        raise BadInputError(f"{line.question} cannot be answered {excerpt(line.answer, 40)!r}: give one of {', '.join(sorted(possible))}")


def _unknown_rubrics(labels: list[Label], known: Answers | None) -> Iterator[str]:
    for rubric, count in sorted(Counter(label.rubric for label in labels if known is not None and label.rubric not in known).items()):
        hint = near(rubric, known or (), "name its folder with --rubrics to have questions and answers checked")
        yield f"{count} labels of a rubric that is not known, {excerpt(rubric, 60)}, are kept unchecked{hint}"


def _contradictions(connection: duckdb.DuckDBPyConnection, source: str) -> Iterator[str]:
    """What annotators of this source said otherwise in another one."""
    found = connection.execute(_CONTRADICTIONS, [source]).fetchall()
    for annotator, other, count in found:
        yield f"{excerpt(annotator, 40)} answered {count} questions otherwise in {excerpt(other, 200)}: reports use what was imported last"


_JUDGED: Final = """
SELECT count(*)
FROM labels
WHERE source = ? AND EXISTS (
    SELECT 1 FROM verdicts
    WHERE verdicts.rubric = labels.rubric AND verdicts.question = labels.question AND verdicts.status = 'answered'
        AND verdicts.episode_id = labels.episode_id
        AND verdicts.turn IS NOT DISTINCT FROM labels.turn AND verdicts.agent IS NOT DISTINCT FROM labels.agent
)
"""

_CONTRADICTIONS: Final = """
SELECT labels.annotator, others.source, count(*)
FROM labels
INNER JOIN labels AS others USING (annotator, rubric, question, unit_key)
WHERE
    labels.source = ? AND others.source <> labels.source AND NOT starts_with(others.source, 'planted')
    AND replace(lower(labels.answer), '/', '') <> replace(lower(others.answer), '/', '')
GROUP BY ALL
ORDER BY ALL
"""


def _one(row: tuple[int, ...] | None) -> int:
    assert row is not None
    return row[0]


def add_labels(store: Store, labels: list[Label]) -> None:
    """Put single labels into the store, in one short transaction; each replaces the one that the same annotator gave from the same source.

    Raises:
        StoreError: the store cannot be written, or a label breaks its contract.
    """
    batch = to_arrow({"labels": labels})
    check(batch)

    def write(transaction: Transaction) -> None:
        for label in labels:
            transaction.delete(
                "labels",
                "source = ? AND annotator = ? AND rubric = ? AND question = ? AND unit_key = ?",
                [label.source, label.annotator, label.rubric, label.question, label.unit_key],
            )
        transaction.insert(batch)

    store.transact(write)


_Refused = list[tuple[int, BadInputError]]


class _Lines(NamedTuple):
    """What a file of labels holds."""

    usable: list[tuple[int, LabelLine]]
    refused: _Refused
    planted: bool
    """They are planted truth."""
    unanswered: int
    """Rows of a template that wait for an answer."""
    counted: str
    """What their numbers count: lines, or entries of a list."""


def _read(file: Path) -> _Lines:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"labels {file} cannot be read: {error.strerror}") from error
    found = list(records(data))
    first = next((record for _, record in found if not isinstance(record, BadInputError)), None)
    if first is None:
        raise UsageError(f"{file} holds no label that can be read: docs/labels.md shows what it should hold")
    form = form_of(first)
    numbering: Counter[str] = Counter()
    lines: list[tuple[int, LabelLine]] = []
    refused: _Refused = []
    seen: dict[tuple[str, ...], str] = {}
    unanswered = 0
    counted = "entry" if data.lstrip().startswith(b"[") else "line"
    for number, record in found:
        if _is_open(record):
            unanswered += 1
            continue
        try:
            line = form.line(_whole(record, form.columns), numbering)
            _refuse_second(line, f"{counted} {number}", seen)
            lines.append((number, line))
        except BadInputError as error:
            refused.append((number, error))
    return _Lines(lines, refused, form.planted, unanswered, counted)


def _is_open(record: Record | BadInputError) -> bool:
    return not isinstance(record, BadInputError) and "possible" in record and not record.get("answer", "x").strip()


def _whole(record: Record | BadInputError, columns: frozenset[str]) -> Record:
    """The record, if it is one and has all columns of its form."""
    if isinstance(record, BadInputError):
        raise record
    if missing := columns - record.keys():
        raise BadInputError(f"{', '.join(sorted(missing))} missing: every line needs the same keys")
    return record


def _refuse_second(line: LabelLine, place: str, seen: dict[tuple[str, ...], str]) -> None:
    key = (line.annotator, line.rubric, line.question, line.unit_key)
    if key in seen:
        what = f"{excerpt(line.annotator, 40)} answered {line.question} about {excerpt(line.unit_key, 60)}"
        raise BadInputError(f"{what} in {seen[key]} already: keep one")
    seen[key] = place


def _source(file: Path, *, planted: bool) -> str:
    """The whole path: files of one experiment and of the next are called alike, down to their folders."""
    name = printable(str(file.resolve()))
    return f"{PLANTED_PREFIX}{name}" if planted else name


def _label(source: str, line: LabelLine, games: _KnownGames, folder: str, imported_at: datetime) -> Label:
    game = games.find(line.game, folder)
    if game is not None and line.turn is not None and line.turn > game.turns:
        raise BadInputError(f"turn {line.turn}: the game {game.episode_id} has {game.turns}")
    if game is not None and line.agent is not None and line.agent not in game.agents:
        raise BadInputError(f"agent {excerpt(line.agent, 30)}: the game {game.episode_id} has {', '.join(game.agents)}")
    episode_id = None if game is None else game.episode_id
    return Label(
        source=source,
        annotator=line.annotator,
        rubric=line.rubric,
        question=line.question,
        unit_key=line.unit_key,
        episode_id=episode_id,
        turn=line.turn,
        agent=line.agent,
        answer=line.answer,
        score=line.score,
        imported_at=imported_at,
    )


class _Known(NamedTuple):
    episode_id: str
    model: str
    builder: str | None
    seed: int | None
    turns: int
    folder: str
    agents: tuple[str, ...]


class _KnownGames:
    """The games of a store, to be found by what a label says of them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._by_id: dict[str, _Known] = {}
        self._by_task: dict[tuple[str, str], list[_Known]] = {}
        for game, task_id in _games(connection):
            self._by_id[game.episode_id] = game
            self._by_task.setdefault((_name(game.model), task_id), []).append(game)

    def find(self, said: GameReference, folder: str) -> _Known | None:
        """The one game that is meant, of several the one in the labels' folder; None if there is none.

        Raises:
            BadInputError: several fit.
        """
        if said.episode_id is not None:
            return self._by_id.get(said.episode_id)
        if said.model is None or said.task_id is None:
            return None
        fitting = [
            game
            for game in self._by_task.get((_name(said.model), said.task_id), [])
            if said.builder in {None, game.builder} and said.seed in {None, game.seed}
        ]
        if len(fitting) > 1:
            fitting = [game for game in fitting if game.folder == folder] or fitting
        if len(fitting) > 1:
            named = ", ".join(game.episode_id for game in fitting[:3])
            raise BadInputError(
                f"{said.model}, {said.task_id} fits {len(fitting)} games ({named}, ...): give episode_id, or the run and builder"
            )
        return fitting[0] if fitting else None


_QUERY: Final = """
SELECT episode_id, model, team, seed, turns_taken, sources.path, names.agents, task_id
FROM episodes
LEFT JOIN sources USING (source_id)
LEFT JOIN (SELECT episode_id, list(agent ORDER BY agent) AS agents FROM agents GROUP BY ALL) AS names USING (episode_id)
"""


def _games(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[_Known, str]]:
    for episode_id, model, team, seed, turns, path, agents, task_id in connection.execute(_QUERY).fetchall():
        roles: Mapping[str, str] = loads(team.encode())
        yield _Known(episode_id, model, roles.get("builder"), seed, turns, str(Path(path or "").parent), tuple(agents or ())), task_id


def _name(model: str) -> str:
    """A model's name without case and punctuation: files of one experiment write `GPT-4o` and `gpt-4o`."""
    return re.sub(r"[\W_]", "", model.casefold())
