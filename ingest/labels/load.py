"""Labels: answers of people, and planted truth, out of files into the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple

from ingest.labels.files import PLANTED_PREFIX, GameReference, LabelLine, Record, form_of, plain_answer, records
from ingest.reading.text import loads
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt, near, printable
from schemas.records import Label, Note, Reject
from schemas.store.batches import check, faults, refused, to_arrow
from schemas.store.store import Store, Transaction
from schemas.tables import table

if TYPE_CHECKING:
    import duckdb
    import pandera.polars as pa_polars
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class LabelReport:
    """What came of an import."""

    labels: int
    """Labels in the store from this file."""
    joined: int
    """Those whose game is in the store."""
    refused: list[str]
    """A line of text for each line that could not be used: where, why, and the fix."""
    judged: int = 0
    """Those about a unit and question that a judge has answered."""
    unanswered: int = 0
    """Rows of a template (`cotrace labels template`) without an answer yet."""
    replaced: int = 0
    """Labels that the same file had given before."""
    notes: list[str] = field(default_factory=list)
    """Stored labels that may mean something else: unknown rubrics, labels without an agent, people who contradict themselves."""


Answers = Mapping[str, Mapping[str, Mapping[str, float | None]]]
"""Rubric -> question -> the answers it may have, without case, and their scores; of a choice of several, those that `|` can join."""


def import_labels(file: Path, store: Store, known: Answers | None = None) -> LabelReport:
    """Read a file of labels into the store, in one transaction; it replaces what the same file gave before.

    The file may have any of the forms of docs/labels.md. A label whose game is not in the store is stored, without the game: import the
    file again once the game is there. A label of a rubric that is not known is stored as it is, and reported.

    Args:
        file: CSV, JSON Lines or a JSON list.
        store: made where there is none.
        known: the rubrics whose questions and answers are checked, such as `judges.rubric_files.load.known_answers` gives.

    Raises:
        UsageError: the file cannot be read, or has none of the forms.
        StoreError: the store cannot be written.
    """
    lines = _read(file)
    path = file.resolve()
    name = printable(str(path))
    source = f"{PLANTED_PREFIX}{name}" if lines.planted else name
    imported_at = datetime.now(UTC).replace(tzinfo=None)
    store.create()

    def write(transaction: Transaction) -> tuple[list[Label], list[Reject], int, list[str], int]:
        games = _KnownGames(transaction.connection)
        labels: list[Label] = []
        numbers: list[int] = []
        impossible: _Refused = []
        for number, line in lines.usable:
            try:
                game = games.find(line.game, str(path.parent))
                labels.append(_label(line, game, (known or {}).get(line.rubric, {}), source, imported_at))
                numbers.append(number)
            except BadInputError as error:
                impossible.append((number, error))
        wrong = dict(_wrong(labels, games, known or {}))
        impossible += [(numbers[place], error) for place, error in wrong.items()]
        labels = [label for place, label in enumerate(labels) if place not in wrong]
        rejects = [
            Reject(source, str(path), f"{lines.counted} {number}", printable(error.reason), error.excerpt)
            for number, error in sorted([*lines.refused, *impossible], key=lambda entry: entry[0])
        ]
        replaced = _one(transaction.execute("SELECT count(*) FROM labels WHERE source = ?", [source]).fetchone())
        transaction.delete("labels", "source = ?", [source])
        transaction.delete("rejects", "source_id = ?", [source])
        transaction.insert(to_arrow({"labels": labels, "rejects": rejects}))
        notes = [*_unknown_rubrics(labels, known), *_contradictions(transaction.connection, source)]
        return labels, rejects, replaced, notes, _one(transaction.execute(_JUDGED, [source]).fetchone())

    labels, rejects, replaced, notes, judged = store.transact(write)
    store.come_to_rest()
    reported = [f"{reject.locator}: {reject.reason}" for reject in rejects]
    joined = sum(label.episode_id is not None for label in labels)
    return LabelReport(
        labels=len(labels), joined=joined, judged=judged, refused=reported, replaced=replaced, notes=notes, unanswered=lines.unanswered
    )


def _wrong(labels: list[Label], games: _KnownGames, known: Answers) -> Iterator[tuple[int, BadInputError]]:
    """The places of labels that the Pandera schemas refuse, each with the first reason: a wrong value, no such turn, agent, answer."""
    import polars as pl

    if not labels:
        return
    frame = pl.DataFrame(to_arrow({"labels": labels})["labels"])
    found = [*faults({"labels": frame}, games.frames(labels)), *refused("labels", _with_answers(frame, known), _of_rubric())]
    reported: set[int] = set()
    for fault in found:
        for place in fault.rows["row"]:
            if place not in reported:
                reported.add(place)
                one = fault._replace(rows=fault.rows.filter(pl.col("row") == place))
                yield place, BadInputError(f"{one.reason}; {_possible(fault.column, labels[place], games, known)}")


def _possible(column: str, label: Label, games: _KnownGames, known: Answers) -> str:
    """What the column of a wrong label may be."""
    game, questions = games.by_id.get(label.episode_id or ""), known.get(label.rubric, {})
    answers = questions.get(label.question, {})
    if column == "turn" and game is not None:
        return f"the game {game.episode_id} has turns 1 to {game.turns}"
    if column == "agent" and game is not None:
        return f"the game {game.episode_id} has {', '.join(game.agents)}"
    if column == "question":
        return f"{label.rubric} has {', '.join(questions)}"
    if column == "score":
        return f"{excerpt(label.answer, 40)} has {answers.get(plain_answer(label.answer))}: correct one of them"
    return f"give one of {', '.join(sorted(answers))}" if answers else "correct it"


def _with_answers(labels: pl.DataFrame, known: Answers) -> pl.DataFrame:
    """Labels with what their rubric, where it is known, has for their question: `possible` answers, and the `number` of the one given."""
    import polars as pl

    rows = [(rubric, question, [*answers, "na"]) for rubric, questions in known.items() for question, answers in questions.items()]
    possible = pl.DataFrame(rows, {"rubric": pl.String, "question": pl.String, "possible": pl.List(pl.String)}, orient="row")
    texts = labels.with_columns(pl.col("rubric", "question", "answer").cast(pl.String))
    given = [
        (rubric in known, plain_answer(answer).split("|"), known.get(rubric, {}).get(question, {}).get(plain_answer(answer)))
        for rubric, question, answer in texts.select("rubric", "question", "answer").iter_rows()
    ]
    found = pl.DataFrame(given, {"is_known": pl.Boolean, "given": pl.List(pl.String), "number": pl.Float64}, orient="row")
    return pl.concat([texts.join(possible, on=["rubric", "question"], how="left", maintain_order="left"), found], how="horizontal")


@cache
def _of_rubric() -> pa_polars.DataFrameSchema:
    """The Pandera schema of labels with what their rubric has. N/A passes everywhere: in planted truth, it is what is not determined."""
    import pandera.polars as pa_polars
    import polars as pl

    def must(column: str, error: str, holds: pl.Expr) -> pa_polars.Check:
        return pa_polars.Check(lambda data: data.lazyframe.select(holds), name=column, error=error, n_failure_cases=1)

    return pa_polars.DataFrameSchema(
        checks=[
            must("question", "must be a question of its rubric", ~pl.col("is_known") | pl.col("possible").is_not_null()),
            must("answer", "must be an answer of its question", pl.col("given").list.set_difference("possible").list.len() == 0),
            must("score", "must be the score of its answer", (pl.col("score") - pl.col("number")).abs() < _EQUAL),
        ]
    )


_EQUAL: Final = 1e-6
"""Scores that files round differ by less."""


def _unknown_rubrics(labels: list[Label], known: Answers | None) -> Iterator[str]:
    for rubric, count in sorted(Counter(label.rubric for label in labels if known is not None and label.rubric not in known).items()):
        hint = near(rubric, known or (), "name its folder with --rubrics to have questions and answers checked")
        yield f"{count} labels of a rubric that is not known, {excerpt(rubric, 60)}, are stored unchecked{hint}"


def _contradictions(connection: duckdb.DuckDBPyConnection, source: str) -> Iterator[str]:
    """Labels of annotators of this source that differ in another one."""
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
        if not isinstance(record, BadInputError) and "possible" in record and not record.get("answer", "x").strip():
            unanswered += 1
            continue
        try:
            line = form.line(_whole(record, form.columns), numbering)
            _refuse_second(line, f"{counted} {number}", seen)
            lines.append((number, line))
        except BadInputError as error:
            refused.append((number, error))
    return _Lines(lines, refused, form.planted, unanswered, counted)


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


def _label(
    line: LabelLine, game: _Known | None, questions: Mapping[str, Mapping[str, float | None]], source: str, imported_at: datetime
) -> Label:
    answers = questions.get(line.question, {})
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
        score=line.score if line.is_stated else answers.get(plain_answer(line.answer), line.score),
        imported_at=imported_at,
        sampling_probability=line.sampling_probability,
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
    """The games of a store, to be found by what a label states of them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.by_id: dict[str, _Known] = {}
        self._by_task: dict[tuple[str, str], list[_Known]] = {}
        for game, task_id in _games(connection):
            self.by_id[game.episode_id] = game
            self._by_task.setdefault((_name(game.model), task_id), []).append(game)

    def frames(self, labels: list[Label]) -> dict[str, pl.DataFrame]:
        """The games, turns and agents that labels may refer to."""
        import polars as pl

        games = sorted({label.episode_id for label in labels if label.episode_id is not None})
        frames = {}
        for name in ("episodes", "turns", "agents"):
            key = table(name).key
            query = f"SELECT {', '.join(key)} FROM {name} WHERE episode_id IN (SELECT unnest(?::VARCHAR[]))"
            frames[name] = pl.DataFrame(self._connection.execute(query, [games]).fetchall(), list(key), orient="row")
        return frames

    def find(self, reference: GameReference, folder: str) -> _Known | None:
        """The one game that is meant, of several the one in the labels' folder; None if there is none.

        Raises:
            BadInputError: several fit.
        """
        if reference.episode_id is not None:
            return self.by_id.get(reference.episode_id)
        if reference.model is None or reference.task_id is None:
            return None
        fitting = [
            game
            for game in self._by_task.get((_name(reference.model), reference.task_id), [])
            if reference.builder in {None, game.builder} and reference.seed in {None, game.seed}
        ]
        if len(fitting) > 1:
            fitting = [game for game in fitting if game.folder == folder] or fitting
        if len(fitting) > 1:
            named = ", ".join(game.episode_id for game in fitting[:3])
            raise BadInputError(
                f"{reference.model}, {reference.task_id} fits {len(fitting)} games ({named}, ...): give episode_id, or the run and builder"
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


LONGEST_NOTE: Final = 4_000
LONGEST_NAME: Final = 60
"""Characters."""


def add_note(store: Store, episode_id: str, turn: int, *, author: str, text: str) -> Note:
    """Write a note about a turn, in one short transaction.

    Args:
        store: where.
        episode_id: the game.
        turn: from 1.
        author: who writes.
        text: what; blanks around it go.

    Raises:
        UsageError: author or text is empty or too long, or the store has no such turn.
        StoreError: the store cannot be written.
    """
    note = Note(token_hex(8), episode_id, turn, author.strip(), text.strip(), datetime.now(UTC).replace(tzinfo=None))
    if not note.author or not note.text:
        raise UsageError("a note needs a text and its author's name")
    if len(note.author) > LONGEST_NAME or len(note.text) > LONGEST_NOTE:
        raise UsageError(f"a name has at most {LONGEST_NAME} characters, a note {LONGEST_NOTE}: shorten it")
    batch = to_arrow({"notes": [note]})
    check(batch)

    def write(transaction: Transaction) -> None:
        if not transaction.execute("SELECT 1 FROM turns WHERE episode_id = ? AND turn = ?", [episode_id, turn]).fetchall():
            raise UsageError(f"the store has no turn {turn} of {episode_id} any more")
        transaction.insert(batch)

    store.transact(write)
    return note


def remove_note(store: Store, note_id: str) -> None:
    """Take a note out of the store; nothing happens where it is gone already.

    Raises:
        StoreError: the store cannot be written.
    """
    store.transact(lambda transaction: transaction.delete("notes", "note_id = ?", [note_id]))
