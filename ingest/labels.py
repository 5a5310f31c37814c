"""Labels: answers of people, and planted truth, out of files into the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ingest.json_text import loads
from ingest.label_files import PLANTED_PREFIX, Game, Line, Record, form_of, records
from schemas.batches import check, insert, to_arrow
from schemas.errors import BadInputError, UsageError
from schemas.records import Label
from schemas.store import Store
from schemas.text import excerpt, printable

if TYPE_CHECKING:
    import duckdb

__all__ = ["LabelReport", "add_labels", "import_labels"]


@dataclass(frozen=True, kw_only=True)
class LabelReport:
    """What came of an import."""

    labels: int
    """Labels in the store from this file."""
    joined: int
    """Those whose game is in the store."""
    refused: list[str]
    """A line of text for each line that could not be used: where, why, and the mend."""


def import_labels(file: Path, store: Store) -> LabelReport:
    """Read a file of labels into the store, in one transaction; it replaces what the same file gave before.

    The file may have any of the forms of docs/labels.md. A label whose game is not in the store is kept, without the game: import the
    file again once the game is there.

    Raises:
        UsageError: the file cannot be read, or has none of the forms.
        StoreError: the store cannot be written.
    """
    lines, refused, planted = _read(file)
    source = _source(file, planted=planted)
    store.create()
    with store.writing() as connection:
        known = _KnownGames(connection)
        labels = []
        for number, line in lines:
            try:
                labels.append(_label(source, line, known, str(file.resolve().parent)))
            except BadInputError as error:
                refused.append((number, error))
        batch = to_arrow({"labels": labels})
        check(batch)
        connection.execute("DELETE FROM labels WHERE source = ?", [source])
        insert(connection, batch)
    told = [f"line {number}: {printable(error.reason)}" for number, error in sorted(refused, key=lambda entry: entry[0])]
    return LabelReport(labels=len(labels), joined=sum(label.episode_id is not None for label in labels), refused=told)


def add_labels(store: Store, labels: list[Label]) -> None:
    """Put single labels into the store, in one short transaction; each replaces the one that the same annotator gave from the same source.

    Raises:
        StoreError: the store cannot be written, or a label breaks its contract.
    """
    batch = to_arrow({"labels": labels})
    check(batch)
    with store.writing() as connection:
        for label in labels:
            connection.execute(
                "DELETE FROM labels WHERE source = ? AND annotator = ? AND rubric = ? AND question = ? AND unit_key = ?",
                [label.source, label.annotator, label.rubric, label.question, label.unit_key],
            )
        insert(connection, batch)


_Refused = list[tuple[int, BadInputError]]


def _read(file: Path) -> tuple[list[tuple[int, Line]], _Refused, bool]:
    """Usable lines, refused ones, and whether the file holds planted truth."""
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
    lines: list[tuple[int, Line]] = []
    refused: _Refused = []
    seen: dict[tuple[str, ...], int] = {}
    for number, record in found:
        try:
            line = form.line(_whole(record, form.columns), numbering)
            _refuse_second(line, number, seen)
            lines.append((number, line))
        except BadInputError as error:
            refused.append((number, error))
    return lines, refused, form.planted


def _whole(record: Record | BadInputError, columns: frozenset[str]) -> Record:
    """The record, if it is one and has all columns of its form."""
    if isinstance(record, BadInputError):
        raise record
    if missing := columns - record.keys():
        raise BadInputError(f"{', '.join(sorted(missing))} missing: every line needs the same keys")
    return record


def _refuse_second(line: Line, number: int, seen: dict[tuple[str, ...], int]) -> None:
    key = (line.annotator, line.rubric, line.question, line.unit_key)
    if key in seen:
        what = f"{excerpt(line.annotator, 40)} answered {line.question} about {excerpt(line.unit_key, 60)}"
        raise BadInputError(f"{what} in line {seen[key]} already: keep one")
    seen[key] = number


def _source(file: Path, *, planted: bool) -> str:
    """Folder and name: persona folders all call their file `labels.csv`."""
    path = file.resolve()
    name = printable(f"{path.parent.name}/{path.name}" if path.parent.name else path.name)
    return f"{PLANTED_PREFIX}{name}" if planted else name


def _label(source: str, line: Line, known: _KnownGames, folder: str) -> Label:
    game = known.find(line.game, folder)
    if game is not None and line.turn is not None and line.turn > game.turns:
        raise BadInputError(f"turn {line.turn}: the game {game.episode_id} has {game.turns}")
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
    )


class _Known(NamedTuple):
    episode_id: str
    model: str
    builder: str | None
    seed: int | None
    turns: int
    folder: str


class _KnownGames:
    """The games of a store, to be found by what a label says of them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._by_id: dict[str, _Known] = {}
        self._by_task: dict[tuple[str, str], list[_Known]] = {}
        for game, task_id in _games(connection):
            self._by_id[game.episode_id] = game
            self._by_task.setdefault((_name(game.model), task_id), []).append(game)

    def find(self, said: Game, folder: str) -> _Known | None:
        """The one game that is meant; None if there is none, or several and not exactly one of them lies in the labels' folder."""
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
            fitting = [game for game in fitting if game.folder == folder]
        return fitting[0] if len(fitting) == 1 else None


_QUERY: Final = """
SELECT episode_id, model, team, seed, turns_taken, sources.path, task_id
FROM episodes LEFT JOIN sources USING (source_id)
"""


def _games(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[_Known, str]]:
    for episode_id, model, team, seed, turns, path, task_id in connection.execute(_QUERY).fetchall():
        roles: Mapping[str, str] = loads(team.encode())
        yield _Known(episode_id, model, roles.get("builder"), seed, turns, str(Path(path or "").parent)), task_id


def _name(model: str) -> str:
    """A model's name without case and punctuation: files of one experiment write `GPT-4o` and `gpt-4o`."""
    return re.sub(r"[\W_]", "", model.casefold())
