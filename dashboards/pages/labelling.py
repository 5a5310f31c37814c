"""Labelling: people label the units that judges judged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import dash
from dash import ALL, Dash, Input, Output, State, dcc
from pydantic import BaseModel

from analytics.agreement.answers import BY_DISAGREEMENT
from analytics.estimates.needed import labels_needed_report
from analytics.exports.games import exported
from analytics.query import as_csv
from dashboards.address import Address
from dashboards.parts import Part, card, data, html, link_choices, note
from dashboards.reader import Reader, computed, reader
from dashboards.requests import checked, saved
from ingest.labels.load import add_labels
from judges.evidence.frame import clean
from judges.evidence.labelling import Answer, Task, annotator_name, labels_of, tasks
from judges.evidence.pieces import doc
from judges.evidence.transcript import read_games
from judges.evidence.units import units
from judges.rubric import ANY_BENCHMARK, Question, Rubric, UnitKind
from judges.rubric_files.load import find, names
from schemas.common.errors import UsageError
from schemas.common.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from dashboards.reader import Reader
    from schemas.store.store import Store

ORDERS: dict[str, tuple[str, str]] = {
    "random": ("in random order", "dashboard"),
    "disagreement": ("where judges disagree first", BY_DISAGREEMENT),
}
"""Order -> (in words, `labels.source` of labels given in it)."""

_AT_ONCE = 50
_MOST_GAMES = 100
"""Games whose windows are computed for a visit of the page: their number is not in the store."""

_GAMES = "episode_id IN (SELECT episode_id FROM games WHERE {filters} AND ($any OR list_contains($benchmarks, benchmark)))"
_IS_TOOL = "agent = 'tool' OR coalesce(role, '') = 'tool'"
_JUDGED = f"""
LEFT JOIN agents USING (episode_id, agent)
WHERE CASE WHEN len($roles) = 0 THEN NOT ({_IS_TOOL}) ELSE list_contains($roles, role) END AND {_GAMES}
"""
_SAID = "SELECT episode_id, turn, agent, seq::VARCHAR AS part, channel FROM utterances"
_DONE = """
SELECT episode_id, turn, agent, 'action' || row_number() OVER (PARTITION BY episode_id, turn ORDER BY seq) AS part, NULL AS channel
FROM actions
"""
_PART = "SELECT episode_id, concat_ws('/', episode_id, turn, agent, part) AS unit_id"

_UNITS: dict[UnitKind, str] = {
    "episode": f"SELECT episode_id, episode_id AS unit_id FROM episodes WHERE {_GAMES}",
    "turn": f"""
        SELECT episode_id, concat_ws('/', episode_id, turn) AS unit_id FROM turns ANTI JOIN (
            SELECT episode_id, turn FROM ({_SAID} UNION ALL {_DONE}) LEFT JOIN agents USING (episode_id, agent)
            WHERE episode_id IN (SELECT episode_id FROM agents WHERE {_IS_TOOL}) GROUP BY ALL HAVING bool_and({_IS_TOOL})
        ) USING (episode_id, turn) WHERE {_GAMES}
        """,
    "agent_turn": f"""
        SELECT DISTINCT episode_id, concat_ws('/', episode_id, turn, agent) AS unit_id FROM ({_SAID} UNION ALL {_DONE}) {_JUDGED}
        """,
    "utterance": f"{_PART} FROM ({_SAID}) {_JUDGED} AND channel = 'public'",
    "action": f"{_PART} FROM ({_DONE}) {_JUDGED}",
    "event": f"{_PART} FROM ({_SAID} UNION ALL {_DONE}) {_JUDGED}",
    "window": "SELECT unnest($of) AS episode_id, unnest($windows) AS unit_id",
}
"""Kind of unit -> its units, named as `judges.evidence.units` names them; pairs of games and rows of queries are labelled by file."""

LABELLED_HERE: frozenset[UnitKind] = frozenset(_UNITS)
"""Kinds of unit that the page can show."""

_QUEUE = """
WITH units AS ({units}),

done AS (
    SELECT unit_key AS unit_id, list(DISTINCT question) AS questions FROM labels
    WHERE rubric = $rubric AND annotator = $annotator AND (source = 'dashboard' OR starts_with(source, 'dashboard:'))
    GROUP BY unit_key
),

split AS (
    SELECT unit_id, count(*) AS questions FROM (
        SELECT unit_id, question FROM verdicts_latest WHERE rubric = $rubric AND answer IS NOT NULL
        GROUP BY unit_id, question HAVING count(DISTINCT answer) > 1
    )
    GROUP BY unit_id
)

SELECT episode_id, unit_id, coalesce(done.questions, []) AS done
FROM units LEFT JOIN done USING (unit_id) LEFT JOIN split USING (unit_id)
WHERE NOT list_has_all(coalesce(done.questions, []), $questions)
ORDER BY CASE WHEN $disagreement THEN coalesce(split.questions, 0) ELSE 0 END DESC, hash(unit_id || $rubric), unit_id
LIMIT $limit OFFSET $offset
"""


class LabelProgress(NamedTuple):
    """How far a person is with a rubric."""

    labelled: int
    """Units with at least one answer."""
    units: int


def progress(read: Reader, rubric: Rubric, annotator: str) -> LabelProgress:
    """Units this person has labelled, and all units of the rubric under the filters."""
    row = read.rows(
        f"""
        SELECT count(*) AS units, count(*) FILTER (unit_id IN (
            SELECT unit_key FROM labels WHERE rubric = $rubric AND annotator = $annotator
                AND (source = 'dashboard' OR starts_with(source, 'dashboard:')))) AS labelled
        FROM ({_UNITS[rubric.unit]})
        """,
        {**_about(read, rubric), "rubric": rubric.name, "annotator": annotator},
    ).row(0, named=True)
    return LabelProgress(row["labelled"], row["units"])


def next_task(read: Reader, rubric: Rubric, annotator: str, *, order: str, skip: int) -> Task | None:
    """The first task that this person has not answered yet; None if there is none left.

    Args:
        read: the store, under the filters of the page.
        rubric: whose questions.
        annotator: the person; the random order is the same for all, so that two people label the same units.
        order: a key of `ORDERS`.
        skip: units to pass over.
    """
    asked = {
        **_about(read, rubric),
        "rubric": rubric.name,
        "annotator": annotator,
        "questions": list(rubric.questions),
        "disagreement": order == "disagreement",
        "limit": _AT_ONCE,
    }
    offset = 0
    while True:
        waiting = read.rows(_QUEUE.replace("{units}", _UNITS[rubric.unit]), {**asked, "offset": offset}).rows()
        for episode_id, unit_id, done in waiting:
            (game,) = read_games(read.connection, [episode_id]).values()
            open_tasks = [task for task in tasks(rubric, game, unit_id) if not {q.id for q in task.group.questions} <= set(done)]
            if open_tasks and not skip:
                return open_tasks[0]
            skip -= bool(open_tasks)
        if len(waiting) < _AT_ONCE:
            return None
        offset += _AT_ONCE


def _about(read: Reader, rubric: Rubric) -> dict[str, object]:
    roles = {} if rubric.unit in {"episode", "turn", "window"} else {"roles": list(rubric.roles)}
    about: dict[str, object] = {"benchmarks": list(rubric.benchmarks), "any": ANY_BENCHMARK in rubric.benchmarks, **roles}
    if rubric.unit != "window":
        return about
    chosen = f"SELECT episode_id FROM episodes WHERE {_GAMES} ORDER BY hash(episode_id || $rubric), episode_id LIMIT {_MOST_GAMES}"
    games = read_games(read.connection, read.rows(chosen, {**about, "rubric": rubric.name})["episode_id"].to_list())
    windows = [unit for game in games.values() for unit in units(rubric, game, None)]
    return {"of": [unit.episode_id for unit in windows], "windows": [unit.unit_id for unit in windows]}


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
    progressed = f"{annotator} has labelled {done.labelled} of {done.units} units. You see what the judge is shown, but not its answers."
    progressed += f" Windows are listed for {_MOST_GAMES} games at most." if rubric.unit == "window" else ""
    progressed += _width(read, rubric)
    skip = address.number("skip", 0)
    task = next_task(read, rubric, annotator, order=order, skip=skip)
    export = html.Button("Export my labels (CSV)", id="label-export", className="choice")
    foot = [html.Div([export, dcc.Download(id="label-download")], className="choices")]
    if task is None:
        done_note = note("No unit is left under these filters.", html.A("Show skipped ones again", href=address.to(skip=None)))
        return html.Div([*head, html.P(progressed, className="lead"), done_note, *foot])
    return html.Div([*head, html.P(progressed, className="lead"), *_task(rubric, task, address.to(skip=skip + 1)), *foot])


def _width(read: Reader, rubric: Rubric) -> str:
    """How well labels and a judge know the rates so far, and when to stop; empty where no judge has answered."""
    rows = computed(read.store, labels_needed_report, rubric=rubric.name).drop_nulls("half_width")
    if rows.is_empty():
        return ""
    widest = rows.sort("half_width", "advice").row(-1, named=True)
    about = f"{widest['question']} by {widest['judge']}" + (f" on games of {widest['model']}" if widest["model"] else "")
    return f" The least sure of {counted(len(rows), 'rate')} is known to plus or minus {widest['half_width']:.2f} so far: {about}." + (
        " You may stop: all are known to plus or minus 0.10." if rows["may_stop"].all() else ""
    )


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
        html.Div(
            [
                html.H3(doc(name, rubric.window_tokens, rubric.benchmarks)),
                *([_entry(*entry) for entry in entries] or [html.P("nothing", className="hint")]),
            ]
        )
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
                            html.A("Skip", href=skip, className="choice"),
                        ],
                        className="choices",
                    ),
                    html.P(id="label-problem", className="hint"),
                    dcc.Store(id="label-task", data={"rubric": rubric.name, "unit": task.unit.unit_id, "group": task.number}),
                    hint=re.sub(r"{(\w+)}", lambda name: f'"{doc(name[1], rubric.window_tokens, rubric.benchmarks)}"', rubric.instructions),
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
