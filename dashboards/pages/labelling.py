"""Labelling: a person answers a rubric's questions, shown what a judge is shown and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dash
from dash import ALL, Dash, Input, Output, State, dcc, html
from pydantic import BaseModel

from analytics.exports.games import exported
from analytics.query import as_csv
from dashboards.address import Address
from dashboards.label_queue import LABELLED_HERE, ORDERS, next_task, progress
from dashboards.parts import Part, card, data, link_choices, note
from dashboards.reader import Reader, reader
from dashboards.requests import checked, saved
from ingest.labels.load import add_labels
from judges.evidence.labelling import Answer, Task, annotator_name, labels_of, tasks
from judges.evidence.shows import pieces
from judges.evidence.text import clean
from judges.evidence.transcript import read_games
from judges.rubric.model import ANY_BENCHMARK, Question, Rubric
from judges.rubric_files.reading import find, names
from schemas.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from schemas.store import Store

__all__ = ["IN_MENU", "ORDER", "PATH", "TITLE", "content", "register"]

PATH = "/labelling"
TITLE = "Labelling"
IN_MENU = True
ORDER = 60

_ANSWER = "label-answer"


class _Asked(BaseModel):
    """What the page keeps of the task that it shows."""

    rubric: str
    unit: str
    group: int


def _usual(read: Reader, known: Sequence[str]) -> Rubric:
    """A rubric that judges have used here, else one for games that are here, else the first there is."""
    judged = set(read.rows("SELECT DISTINCT rubric FROM judge_runs", filter_on=())["rubric"])
    played = set(read.rows("SELECT DISTINCT benchmark FROM episodes", filter_on=())["benchmark"])
    for name in sorted(known, key=lambda name: name not in judged):
        rubric = find(name, read.rubric_folders)
        if rubric.unit in LABELLED_HERE and not {*played, ANY_BENCHMARK}.isdisjoint(rubric.benchmarks):
            return rubric
    return find(known[0], read.rubric_folders)


def content(read: Reader) -> Part:
    """The next unit to label: `?rubric=...&annotator=...&order=random|disagreement&skip=...`."""
    address = read.address
    known = sorted(names(read.rubric_folders))
    rubric = find(asked, read.rubric_folders) if (asked := address.one("rubric")) in known else _usual(read, known)
    order = address.one("order") if address.one("order") in ORDERS else "random"
    choices = html.Div(
        [
            link_choices("Rubric", [(name.replace("_", " "), address.to(rubric=name, skip=None), name == rubric.name) for name in known]),
            link_choices("Order", [(ORDERS[name][0], address.to(order=name, skip=None), name == order) for name in ORDERS]),
        ]
    )
    head = [html.H1("Labelling"), choices]
    if rubric.unit not in LABELLED_HERE:
        return html.Div(
            [*head, note(f"{rubric.name} judges a {rubric.unit}, which this page cannot show: label in a file (docs/labels.md).")]
        )
    annotator = address.one("annotator")
    if not annotator:
        return html.Div([*head, _who()])
    annotator = annotator_name(annotator)
    done = progress(read, rubric, annotator)
    told = f"{annotator} has labelled {done.labelled} of {done.units} units. What you see is what the judge is shown; its answers are not."
    skip = address.number("skip", 0)
    task = next_task(read, rubric, annotator, order=order, skip=skip)
    export = html.Button("Export my labels (CSV)", id="label-export", className="choice")
    foot = [html.Div([export, dcc.Download(id="label-download")], className="choices")]
    if task is None:
        done_note = note("No unit is left under these filters.", dcc.Link("Show skipped ones again", href=address.to(skip=None)))
        return html.Div([*head, html.P(told, className="lead"), done_note, *foot])
    return html.Div([*head, html.P(told, className="lead"), *_task(rubric, task, address.to(skip=skip + 1)), *foot])


def _who() -> Part:
    return card(
        "Who labels?",
        html.Div(
            [
                dcc.Input(id="label-name", type="text", placeholder="your name", maxLength=60, debounce=False),
                html.Button("Start", id="label-start", className="choice"),
            ],
            className="choices",
        ),
        hint="Your answers are stored under this name; with the same name you go on where you stopped. Random order gives a sample that "
        "rates can be corrected with. Where judges disagree first finds their faults sooner, but is no random sample.",
    )


def _task(rubric: Rubric, task: Task, skip: str) -> list[Part]:
    evidence = [
        html.Div([html.H3(pieces()[name].doc), *([_entry(*entry) for entry in entries] or [html.P("nothing", className="hint")])])
        for name, entries in task.shown.items()
    ]
    return [
        html.Div(
            [
                card("What the judge is shown", *evidence),
                card(
                    "Questions",
                    *(_question(question, several=task.group.several) for question in task.group.questions),
                    html.Div(
                        [
                            html.Button("Save and go on", id="label-save", className="choice chosen", **data(writes="")),
                            dcc.Link("Skip", href=skip, className="choice"),
                        ],
                        className="choices",
                    ),
                    html.P(id="label-problem", className="hint"),
                    dcc.Store(id="label-task", data={"rubric": rubric.name, "unit": task.unit.unit_id, "group": task.number}),
                    hint=rubric.instructions,
                ),
            ],
            className="columns",
        )
    ]


def _entry(head: str, text: str) -> Part:
    return html.Div([html.Div(head, className="who"), html.Div(clean(text), className="text")], className="speech")


def _question(question: Question, *, several: bool) -> Part:
    options = [{"label": f" {answer} – {question.examples[answer]}", "value": answer} for answer in question.answers]
    na = [html.P(f"It does not apply when {question.na_when}.", className="hint")] if question.na_when else []
    form = dcc.Checklist if several else dcc.RadioItems
    asked = html.Legend(f"{question.id}: {question.ask}")
    return html.Fieldset([asked, *na, form(options, id={"type": _ANSWER, "question": question.id})], className="question")


def register(app: Dash, store: Store, rubric_folders: Sequence[Path]) -> None:
    """Make the page's buttons work: start, save, export."""

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Input("label-start", "n_clicks"),
        State("label-name", "value"),
        State("address", "pathname"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    @checked
    def start(clicks: int | None, name: str | None, path: str | None, search: str | None) -> Any:
        return Address.parse(path, search).to(annotator=name) if clicks and name and name.strip() else dash.no_update

    @app.callback(
        Output("address", "href", allow_duplicate=True),
        Output("label-problem", "children"),
        Input("label-save", "n_clicks"),
        State({"type": _ANSWER, "question": ALL}, "value"),
        State({"type": _ANSWER, "question": ALL}, "id"),
        State("label-task", "data"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    @checked
    def save(clicks: int | None, values: list[Answer], ids: list[dict[str, str]], asked: _Asked, search: str | None) -> tuple[Any, str]:
        if not clicks:
            return dash.no_update, ""
        address = Address.parse(PATH, search)
        answers = {entry.get("question", ""): value for entry, value in zip(ids, values, strict=False)}
        if problem := saved(lambda: _save(store, rubric_folders, address, asked, answers)):
            return dash.no_update, problem
        return address.to(saved=address.number("saved", 0) + 1), ""  # another address, so that the next unit is drawn

    @app.callback(
        Output("label-download", "data"),
        Input("label-export", "n_clicks"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    @checked
    def export(clicks: int | None, search: str | None) -> Any:
        if not clicks:
            return dash.no_update
        name = annotator_name(Address.parse(PATH, search).one("annotator"))
        return {"content": as_csv(exported(store, annotator=name)), "filename": "labels.csv", "type": "text/csv"}


def _save(store: Store, folders: Sequence[Path], address: Address, asked: _Asked, answers: dict[str, Answer]) -> None:
    """Store the answers to a task, in one short transaction.

    Raises:
        UsageError: a question is not answered, or the unit or the rubric is gone.
        StoreError: the store cannot be written.
    """
    name = asked.rubric
    if name not in names(folders):  # a browser may send anything: a path must not be followed
        raise UsageError("there is no such rubric any more: choose another")
    rubric = find(name, folders)
    unit_id = asked.unit
    with reader(store, address) as read:
        games = read_games(read.connection, [unit_id.partition("/")[0]])
    found = [task for game in games.values() for task in tasks(rubric, game, unit_id) if task.number == asked.group]
    if not found:
        raise UsageError(f"{unit_id} is not in the store any more: skip it")
    source = ORDERS.get(address.one("order"), ORDERS["random"])[1]
    add_labels(store, labels_of(rubric, found[0], answers, annotator=address.one("annotator"), source=source))
