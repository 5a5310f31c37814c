"""The Python interface: a store, everything that the command line does with one, its rows, and its games as a notebook shows them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from analytics.installation import ensure_installed, materialize
from analytics.query import query
from schemas.common.errors import UsageError
from schemas.common.packages import needed
from schemas.common.text import near, printable
from schemas.families import title_of
from schemas.store.store import DEFAULT_STORE, Store
from schemas.store.stores import store_at

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from ingest.files.writer import Report
    from ingest.labels.load import LabelReport
    from judges.attribution.job import AttributionReport
    from judges.evidence.transcript import Transcript, TurnView
    from judges.runs.job import JudgeReport


class Rows:
    """The rows of a query or a report; iterating gives them as tuples."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._frame.columns

    def pl(self) -> pl.DataFrame:
        """As a polars frame."""
        return self._frame

    def df(self) -> Any:
        """As a pandas frame.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise UsageError("pandas is not installed: pip install pandas, or use .pl() for a polars frame") from error
        return pd.DataFrame(self._frame.to_dict(as_series=False))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """As a list of tuples."""
        return self._frame.rows()

    def dicts(self) -> list[dict[str, Any]]:
        """As a list of dictionaries."""
        return self._frame.to_dicts()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._frame.iter_rows()

    def __len__(self) -> int:
        return len(self._frame)

    def __repr__(self) -> str:
        return repr(self._frame)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        shown: str = self._frame._repr_html_()
        return shown


_MOST_TURNS = 40
"""Turns that a notebook shows of a game; the object has all."""


class Episode:
    """A game: its facts at once, its turns when they are asked for."""

    def __init__(self, store: Store, episode_id: str) -> None:
        self._store = store
        self.episode_id = episode_id

    @cached_property
    def game(self) -> Transcript:
        """The whole game as typed objects.

        Raises:
            StoreError: the store cannot be read.
        """
        from judges.evidence.transcript import load

        (game,) = load(self._store, [self.episode_id])
        return game

    def verdicts(self) -> Rows:
        """What judges answered about it."""
        return Rows(
            query(
                self._store,
                "SELECT turn, agent, rubric, question, judge, answer, status, reason FROM verdicts WHERE episode_id = $episode "
                "ORDER BY turn, agent, rubric, question, judge, repeat",
                {"episode": self.episode_id},
            )
        )

    def __repr__(self) -> str:
        game = self.game
        return printable(f"<{title_of(game.benchmark)} game {self.episode_id}: {game.task_id}, {game.model}, {len(game.turns)} turns>")

    def _repr_html_(self) -> str:
        """Facts, then a row a turn: what was said and thought, what was tried, the state, and what judges say."""
        game = self.game
        verdicts = _by_turn(self.verdicts())
        rows = "".join(_turn_row(game, turn, verdicts.get(turn.turn, [])) for turn in game.turns[:_MOST_TURNS])
        goal = f"<p>Goal: <code>{_text(json.dumps(game.goal, ensure_ascii=False))}</code></p>" if game.goal else ""
        more = f"<p>The first {_MOST_TURNS} of {len(game.turns)} turns.</p>" if len(game.turns) > _MOST_TURNS else ""
        return (
            f"<h4>{_text(title_of(game.benchmark))}: {_text(game.task_id)}, {_text(game.model)}</h4>{goal}"
            "<table><thead><tr><th>turn</th><th>messages</th><th>tried</th><th>state</th><th>verdicts</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{more}"
        )


class Episodes(Sequence[Episode]):
    """The games of a store, or of one benchmark, in the order of their ids."""

    def __init__(self, store: Store, benchmark: str | None) -> None:
        rows = query(
            store, "SELECT episode_id FROM episodes WHERE $benchmark IS NULL OR benchmark = $benchmark ORDER BY 1", {"benchmark": benchmark}
        )
        self._store = store
        self._ids: list[str] = rows["episode_id"].to_list()

    @overload
    def __getitem__(self, index: int) -> Episode: ...

    @overload
    def __getitem__(self, index: slice) -> list[Episode]: ...

    def __getitem__(self, index: int | slice) -> Episode | list[Episode]:
        if isinstance(index, slice):
            return [Episode(self._store, episode_id) for episode_id in self._ids[index]]
        return Episode(self._store, self._ids[index])

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Episode]:
        return (Episode(self._store, episode_id) for episode_id in self._ids)

    def __repr__(self) -> str:
        return f"<{len(self)} games>"


def _by_turn(verdicts: Rows) -> dict[int | None, list[str]]:
    found: dict[int | None, list[str]] = {}
    for turn, agent, _, question, judge, answer, status, reason in verdicts:
        who = f" {agent}" if agent else ""
        found.setdefault(turn, []).append(f"{question}{who} ({judge}): {answer if status == 'answered' else status}. {reason or ''}")
    return found


def _turn_row(game: Transcript, turn: TurnView, verdicts: list[str]) -> str:
    messages = "<br>".join(
        f"<b>{_text(u.agent)}</b> {'<i>thinks</i> ' if u.channel == 'private' else ''}{_text(u.text)}" for u in turn.utterances
    )
    acts = ((a, " (refused)" if a.accepted is False else "") for a in turn.actions)
    tried = "<br>".join(f"{_text(a.agent)}: {_text(_action(game, a.verb, a.arguments))}{refused}" for a, refused in acts)
    judged = "<br>".join(_text(line) for line in verdicts)
    state = _text(json.dumps(turn.state_after, ensure_ascii=False)) if turn.state_after else ""
    return f"<tr><td>{turn.turn}</td><td>{messages}</td><td>{tried}</td><td><code>{state}</code></td><td>{judged}</td></tr>"


def _action(game: Transcript, verb: str, arguments: object) -> str:
    from dashboards.boards import drawing_of

    return drawing_of(game.benchmark).action(verb, arguments if isinstance(arguments, dict) else {})


def _text(value: str) -> str:
    return html.escape(printable(value))


_AT_ONCE = 32
"""Calls under way, where the server's slots are not known."""

Paths = str | Path | Sequence[str | Path]


def open_store(path: str | Path = DEFAULT_STORE) -> OpenStore:
    """Open a store; it is made where there is none, views included.

    Raises:
        StoreError: the file is no store, of a newer version, damaged, or held by another process.
    """
    store = store_at(path)
    if not store.exists():
        store.create()
    ensure_installed(store)
    return OpenStore(store)


class OpenStore:
    """A store in a program or a notebook. It keeps no connection: others can read and write in between."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def path(self) -> Path:
        """The store's file."""
        return self._store.path

    def ingest(
        self, paths: Paths, *, log_format: str | None = None, mapping: str | Path | None = None, workers: int | None = None
    ) -> Report:
        """Read logs; the same as `cotrace ingest`.

        Args:
            paths: files or folders.
            log_format: the only format to read; None: each file tells.
            mapping: file that says which column of chat lines is what (docs/formats/chat_lines.md).
            workers: processes that read; None: one for each core.

        Returns:
            What went in (`.episodes`, `.turns`), what was refused (`.rejected`) and what was left alone (`.left_alone`).

        Raises:
            UsageError: none of the paths exists, or there is no such format.
        """
        from ingest.files.run import ingest_paths
        from ingest.foreign.chat_lines import reader_for

        reader = reader_for(log_format, None if mapping is None else Path(mapping))
        named = [paths] if isinstance(paths, str | Path) else paths
        report = ingest_paths([Path(path) for path in named], self._store, log_format=reader, workers=workers)
        ensure_installed(self._store)
        if report.episodes:
            materialize(self._store)
        return report

    def judge(
        self,
        rubric: str | Path,
        *,
        judge: str | None = None,
        model: str | None = None,
        base_url: str | None = None,
        repeats: int | None = None,
        where: str | None = None,
        max_cost: float | None = None,
        concurrency: int | None = None,
        variant: str | None = None,
        rubrics: Sequence[str | Path] = (),
        reader: str = "rules",
        **settings: Any,
    ) -> JudgeReport:
        """Have a rubric's questions answered; the same as `cotrace judge`, in a running event loop too.

        Args:
            rubric: name of a rubric, or its file.
            judge: `engine`; None: the model.
            model: provider/model.
            base_url: address of an OpenAI-compatible server.
            repeats: how often each unit is asked; None: as the rubric says.
            where: SQL condition over episodes and turns.
            max_cost: USD that may be spent.
            concurrency: calls under way at once; None: the server's slots, where they are known, else 32.
            variant: a variant of the rubric.
            rubrics: folders with rubrics of your own.
            reader: who reads texts for the engine: `rules`, `planted`, `llm:<model>` (with the rules), `llm-only:<model>`.
            settings: `temperature`, `max_tokens`, `timeout_s`, ... as in `providers.provider.ModelSettings`.

        Raises:
            UsageError: there is no such rubric or model, or both or neither of judge and model are given.
        """
        from judges.claims.job import read_texts
        from judges.claims.texts import ReadingRequest, benchmarks_of
        from judges.evidence.transcript import reader_named
        from judges.rubric_files.load import find
        from judges.runs.job import JudgeRequest
        from judges.runs.runner import run
        from providers.asker import outside_event_loop
        from providers.profile import fitted
        from providers.provider import ModelSettings

        if (judge is None) == (model is None) or judge not in (None, "engine"):
            raise UsageError('say who judges: judge="engine", or model="provider/model" (one of the two)')
        reads, asked = reader_named(reader), find(str(rubric), tuple(Path(folder) for folder in rubrics)).with_variant(variant)
        limits: Any = {"where": where, "max_cost": max_cost}
        plainly = [ModelSettings(model=name, base_url=base_url, **settings) for name in (model or reads.model,) if name is not None]
        questions = None if model is None else len(asked.questions)
        models, at_once = fitted(plainly, settings, concurrency=concurrency, usual=_AT_ONCE, questions=questions)
        if judge is not None and models:
            reading = ReadingRequest(settings=models[0], benchmarks=benchmarks_of([asked]), earlier=True, concurrency=at_once, **limits)
            outside_event_loop(lambda: read_texts(reading, self._store))
        request = JudgeRequest(
            rubric=asked,
            reader=reads,
            settings=None if model is None else models[0],
            concurrency=at_once,
            repeats=repeats,
            **limits,
        )
        report = outside_event_loop(lambda: run(request, self._store))
        ensure_installed(self._store)
        return report

    def attribute(self, *, where: str = "true") -> AttributionReport:
        """Put what each turn cost down to an agent and a broken link; the same as `cotrace attribute`.

        Args:
            where: one SQL condition on `episodes`.

        Raises:
            UsageError: the condition is none.
        """
        from judges.attribution.job import attribute_games

        report = attribute_games(self._store, where)
        ensure_installed(self._store)
        return report

    def sql(self, statement: str, **parameters: object) -> Rows:
        """The rows of one query that reads; `$name` in it stands for a parameter.

        Raises:
            UsageError: the SQL is wrong, or no query that reads.
        """
        return Rows(query(self._store, statement, parameters or None))

    def report(self, name: str, *, where: str = "true", **options: Any) -> Rows:
        """The rows of a named report, with all columns; the same as `cotrace report`.

        Raises:
            UsageError: there is no such report, or the condition is no condition on its columns.
        """
        from analytics.reports import report

        return Rows(report(self._store, name, where, **options))

    def agreement(self, *, where: str = "true", na_score: float | None = None) -> Rows:
        """How far judges agree with people, planted truth, the engine and one another."""
        return self.report("agreement", where=where, **({} if na_score is None else {"na_score": na_score}))

    def compare(self, metric: str = "score", *, benchmark: str | None = None, where: str = "true") -> Rows:
        """Which team is ahead of which, by how much, on the tasks they share (docs/compare.md).

        Args:
            metric: `score`, `success`, `remove_gap`, `spirals`, `tokens`, any metric of `episode_metrics`, `judge:<rubric>.<question>`.
            benchmark: only this one.
            where: one SQL condition on the report's columns.

        Raises:
            UsageError: the store has no such metric.
        """
        return self.report("compare", where=where, metric=metric, **({} if benchmark is None else {"benchmark": benchmark}))

    def plot(self, name: str, **filters: str | Sequence[str]) -> go.Figure:
        """The figure of the page that shows a report: `overview`, `turns`, `failures`, `spirals`, ...

        `write_image("figure.pdf")` of it makes a file for a paper: .pdf, .svg or .png, by kaleido (pip install "cotrace[notebook]"), which
        needs an installed Chrome or Chromium. `overview` and `turns` have their caption, with n and methods, below them.

        Args:
            name: the report.
            filters: as in a page's address: `benchmark`, `model`, `condition`, ..., one value or several.

        Raises:
            UsageError: no page draws that report, there is no such filter, or no data under it.
        """
        needed("plotly", "store.plot")
        from dashboards.address import FILTERS, Address
        from dashboards.pages import pages
        from dashboards.reader import reader

        drawn = {key: (page.PATH, draw) for page in pages() for key, draw in getattr(page, "FIGURES", {}).items()}
        if name not in drawn:
            raise UsageError(f"no figure {name!r}{near(name, sorted(drawn))}")
        unknown = [key for key in filters if key not in FILTERS]
        if unknown:
            raise UsageError(f"no filter {unknown[0]!r}{near(unknown[0], FILTERS)}")
        values = {key: (value,) if isinstance(value, str) else tuple(value) for key, value in filters.items()}
        path, draw = drawn[name]
        with reader(self._store, Address(path, values)) as read:
            figure: go.Figure | None = draw(read)
        if figure is None:
            raise UsageError(f"nothing to draw for {name!r}: the store has no such games{' under these filters' if filters else ''}")
        return figure

    def labels(self, file: str | Path, *, rubrics: Sequence[str | Path] = ()) -> LabelReport:
        """Read people's answers from CSV or JSON Lines; the same as `cotrace labels import`.

        Raises:
            UsageError: the file is none.
        """
        from ingest.labels.load import import_labels
        from judges.rubric_files.load import known_answers

        report = import_labels(Path(file), self._store, known_answers(tuple(Path(folder) for folder in rubrics)))
        ensure_installed(self._store)
        return report

    def episodes(self, benchmark: str | None = None) -> Episodes:
        """The games, or those of one benchmark; each shows itself in a notebook."""
        return Episodes(self._store, benchmark)

    def export(self, folder: str | Path, form: str = "parquet", *, where: str = "true", views: bool = False) -> list[Path]:
        """Write the store for other programs; gives the files. The same as `cotrace export`.

        Args:
            folder: made where there is none.
            form: `parquet` (each table), `inspect` (logs, verdicts as scores), `dataset` (card and Parquet), `otlp` (spans).
            where: SQL condition on episodes; not for `parquet`.
            views: `parquet`: every view too.

        Raises:
            UsageError: there is no such form, what it needs is not installed, or the condition is none.
        """
        from cotrace.commands.export import exported

        return [path for path, _ in exported(self._store, Path(folder), form, where, views=views)]

    def __repr__(self) -> str:
        games, verdicts = self.sql("SELECT (SELECT count(*) FROM episodes), (SELECT count(*) FROM verdicts)").fetchall()[0]
        return f"<cotrace store {self.path}: {games} games, {verdicts} verdicts>"
