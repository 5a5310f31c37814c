"""One canary for every exit: a store whose texts are hostile, from every format, drawn on every page, in every report, export and prompt.

The canary holds what each exit could stumble over: format strings of Python, templates of Plotly, HTML, Markdown, SQL, paths, escapes of
terminals, changes of direction, NUL, formulas, and a key that the environment holds. It stands in every text of every log, of files of
labels, in free keys, and in notes (`tests.fuzz.canaries`). `cotrace/terminal.py`, `dashboards/parts.py`, `schemas/common/text.py` and
`judges/evidence/frame.py` are the exits; ruff's `banned-api`, the type `schemas/common/text.py` and `tools/format_strings.py`
refuse others.
"""

from __future__ import annotations

import copy
import csv
import html
import io
import json
import logging
import pickle
import re
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from click.testing import CliRunner
from dash import Dash

from analytics.installation import ensure_installed, materialize
from analytics.query import query
from analytics.reports import report, report_names
from cotrace.cli import cli
from cotrace.commands.export import exported
from cotrace.output import emit
from cotrace.store import Episode
from cotrace.terminal import LogLines
from dashboards.address import Address
from dashboards.app import create_app
from dashboards.boards import drawing_of
from dashboards.page_file import page_file
from dashboards.pages import pages
from dashboards.parts import Fragment, Html
from ingest.files.run import ingest_paths
from ingest.foreign.chat_lines import MappedChat
from ingest.labels.load import add_note, import_labels
from judges.attribution.job import attribute_games
from judges.claims.extraction import messages_for
from judges.evidence.frame import Entry, Frame, chat, fenced
from judges.evidence.prompt import PromptMaker
from judges.evidence.selection import selected_units
from judges.evidence.units import select
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run as judge
from schemas.common.text import use_secrets_of_environment
from schemas.store.store import Store
from schemas.tables import TABLES
from tests.fuzz.canaries import MARK, SECRET, UNKNOWN_KEYS, canary, is_taken, planted, published_logs, small_logs
from tests.fuzz.foreign import shared_others
from tests.masters import held_open


def own_log(game: int) -> bytes:
    """A log in cotrace's own format in which every text, every key that is free, and every name is a canary."""
    one, two = canary("agent"), canary("agent")
    header = {
        "cotrace_log": 1, "benchmark": "negotiation" if game else canary("benchmark"), "episode": canary("episode"),
        "run": {"name": canary("run"), "condition": {canary("key"): canary("value"), "layout": canary("layout")}},
        "task": {"id": canary("task"), "level": canary("level"), "goal": {canary("goal"): canary("goal")}},
        "team": {canary("role"): canary("model")},
        "agents": [
            {"agent": one, "role": canary("role"), "model": canary("model"), "persona": canary("persona"),
             "private_view": {canary("view"): canary("view")}, "view_kind": canary("kind")},
            {"agent": two, "role": canary("role"), "model": canary("model"), "persona": None, "private_view": None, "view_kind": None},
        ],
        "model": canary("model"), "seed": game, "max_turns": 5, "started_at": "2026-01-01T00:00:00", "details": {canary("d"): canary("d")},
    }  # fmt: skip
    turns = [
        {
            "turn": turn, "at": f"2026-01-01T00:0{turn}:00", "state_before": {canary("s"): canary("s")},
            "state_after": {canary("s"): canary("s")},
            "utterances": [
                {"agent": one, "channel": "private", "audience": [one], "text": canary("thought"), "superseded": False},
                {"agent": one, "channel": "public", "audience": [one, two], "text": canary("message"), "superseded": False},
            ],
            "oracle": [{"verb": canary("verb"), "arguments": {canary("a"): canary("a")}}], "oracle_followed": False,
            "actions": [
                {"agent": two, "verb": canary("verb"), "arguments": {canary("a"): canary("a")}, "raw": canary("raw"),
                 "accepted": turn % 2 == 0, "error_code": canary("code"), "error_text": canary("error")}
            ],
            "goal_reached": False, "error": canary("error") if turn == 3 else None, "progress": 0.2 * turn,
            "failures": [{"taxonomy": canary("t"), "category": canary("c"), "agent": one, "evidence": canary("e")}],
            "metrics": {canary("metric"): 1.0},
            "replies": [{"agent": one, "purpose": canary("p"), "text": canary("r"), "reasoning": canary("r"), "error": canary("e")}],
            "labels": [
                {"rubric": canary("r"), "question": canary("q"), "agent": one, "answer": canary("a"), "basis": canary("b"),
                 "planted": canary("p")}
            ],
        }
        for turn in range(1, 5)
    ]  # fmt: skip
    end = {
        "success": game == 1,
        "score": 0.3,
        "stop_reason": canary("s"),
        "turns_taken": 4,
        "error": canary("e"),
        "metrics": {},
        "survey": [],
    }
    return "".join(f"{json.dumps(line)}\n" for line in (header, *turns, {"end": end})).encode()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of such logs and labels of every format, judged, attributed, with notes; the environment holds the secret that is in all."""
    folder = tmp_path_factory.mktemp("hostile")
    store = Store(folder / "s.duckdb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOMEBODYS_API_KEY", SECRET)
        write_logs(folder)
        reports = [ingest_paths([folder / "logs"], store, workers=1)]
        reports += [
            ingest_paths([mapped / "logs"], store, workers=1, log_format=MappedChat.of(mapped / "map.yaml"))
            for mapped in sorted((folder / "mapped").iterdir())
        ]
        refused = [reject for report in reports for reject in report.rejected if not reject.reason.startswith(UNKNOWN_KEYS)]
        assert refused == [], CLOSED_ANEW
        assert sum(report.episodes for report in reports) > 35, CLOSED_ANEW
        for file in sorted((folder / "labels").rglob("*.*")):
            imported = import_labels(file, store)
            assert imported.labels > 0, CLOSED_ANEW
        ensure_installed(store)
        for name in ("spatial_grounding", "pragmatic_sufficiency"):
            judge(JudgeRequest(rubric=find(name)), store)
        attribute_games(store)
        with store.writing() as connection:
            connection.execute("UPDATE verdicts SET reason = reason || ? WHERE reason IS NOT NULL", [canary("reason").replace(SECRET, "")])
        for (episode,) in query(store, "SELECT min(episode_id) FROM episodes GROUP BY benchmark").rows():
            add_note(store, episode, 1, author=canary("author")[:60], text=canary("note"))
        materialize(store)  # many pages and reports read it
        yield store


CLOSED_ANEW = (
    "a reader no longer takes any text in some field: if that is meant, write the closed fields anew (python -m tests.fuzz.canaries)"
)


def write_logs(folder: Path) -> None:
    """Write planted logs: `logs`, `mapped/N/logs` beside `mapped/N/map.yaml`, and `labels`."""
    for game in range(2):
        (folder / "logs").mkdir(exist_ok=True)
        (folder / "logs" / f"{game}<img src=x onerror=alert(0)>.jsonl").write_bytes(own_log(game))
    mappings: dict[str, Path] = {}
    of_inspect = [specimen for specimen in shared_others() if specimen.name == "inspect, published JSON"]
    for number, specimen in enumerate([*small_logs(run_inspect=False), *of_inspect]):
        if specimen.read_as == "labels":
            target = folder / "labels"
        elif specimen.mapping:
            target = mappings.setdefault(specimen.mapping, folder / "mapped" / str(len(mappings)))
            target.mkdir(parents=True, exist_ok=True)
            (target / "map.yaml").write_text(specimen.mapping, encoding="utf-8")
            target /= "logs"
        else:
            target = folder / "logs"
        specimen.write(target / str(number), planted(specimen))


STEERING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal, or turns the text behind it."""


class Elements(HTMLParser):
    """What a browser would make of a document: its elements, and attributes that would run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.planted: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at an element."""
        given = dict(attrs)
        runs = [name for name in given if name.startswith("on") and MARK not in name]
        if given.get("src") == "x" or runs or (given.get("href") or "").strip().lower().startswith("javascript:"):
            self.planted.append(f"{tag} {attrs}")


def games(store: Store) -> Iterator[str]:
    """A game for each way in which games are drawn: one of each family, one of all others."""
    rows = query(store, "SELECT benchmark, min(episode_id) FROM episodes GROUP BY ALL ORDER BY ALL DESC").rows()
    yield from {type(drawing_of(benchmark)): episode for benchmark, episode in rows}.values()


def addresses(store: Store) -> Iterator[str]:
    """Every page, those of a game for one of each family, and those that filter by what a log says."""
    for page in pages():
        if page.PATH not in {"/game", "/labelling", "/sql"}:
            yield page.PATH
    yield from boards(store)
    yield from filtered(store)


def boards(store: Store) -> Iterator[str]:
    for episode in games(store):
        yield Address("/game", {"episode": (episode,)}).to()


def filtered(store: Store) -> Iterator[str]:
    """Pages that filter by names in a log."""
    model, condition = query(store, "SELECT model, condition FROM games WHERE contains(model, 'cnry') LIMIT 1").row(0)
    yield Address("/failures", {"model": (model,)}).to()
    yield Address("/", {"condition": (condition,)}).to()
    yield Address("/search", {"q": (MARK,)}).to()
    yield Address("/sql", {"query": ("SELECT * FROM utterances LIMIT 20",), "name": (canary("name").replace(SECRET, ""),)}).to()


FILED: Final = frozenset({"/why", "/game"})
"""Of the pages as files, those that differ in how they are made: figures and long tables, boards and texts."""
SENT: Final = frozenset({"/why", "/judges", "/notes"})
"""Of the pages in a browser that show no one game and filter nothing, those that differ in how they are sent: figures, tables, notes."""
WHOLE: Final = pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["few", "all"])


def once_each(store: Store, paths: frozenset[str]) -> list[str]:
    """An address of each of these pages."""
    found = {address.partition("?")[0]: address for address in addresses(store)}
    return [found[path] for path in sorted(paths)]


def strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a JSON value with the key it is under; names of parts and addresses, which are not shown, are left out."""
    if isinstance(value, str):
        yield key, value
    for name, inner in value.items() if isinstance(value, dict) else ((key, entry) for entry in value) if isinstance(value, list) else ():
        yield from strings(inner, name) if name not in {"id", "href"} else ()


def components(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    """The properties of the components in a JSON value whose id is of a type."""
    if isinstance(value, list):
        for entry in value:
            yield from components(entry, kind)
    if isinstance(value, dict):
        if isinstance(value.get("id"), dict) and value["id"].get("type") == kind:
            yield value
        for inner in value.values():
            yield from components(inner, kind)


Given = tuple[str | dict[str, str], str, Any]
"""An input of a callback: id of the component, property, value."""


def called(app: Dash, *given: Given) -> Any:
    """What the callback answers that the first of these triggers, called as a browser does."""

    def id_text(place: str | dict[str, str], *, any_of: bool = False) -> str:
        shown = place if isinstance(place, str) else {name: ["MATCH"] if any_of and name != "type" else at for name, at in place.items()}
        return shown if isinstance(shown, str) else json.dumps(shown, sort_keys=True, separators=(",", ":"))

    (trigger, prop, _), *_ = given
    output, spec = next(
        (key, spec)
        for key, spec in app.callback_map.items()
        if (spec["inputs"][0]["id"], spec["inputs"][0]["property"]) == (id_text(trigger, any_of=True), prop)
    )

    def place_of(written: str) -> Any:
        return json.loads(written) | {name: at for name, at in trigger.items() if name != "type"} if isinstance(trigger, dict) else written

    places = [one.rpartition(".") for one in output.removeprefix("..").removesuffix("..").split("...")]
    outputs = [{"id": place_of(place), "property": name} for place, _, name in places]
    entries = [{"id": place, "property": name, "value": value} for place, name, value in given]
    inputs = len(spec["inputs"])
    body = {
        "output": output,
        "outputs": outputs if len(outputs) > 1 else outputs[0],
        "inputs": entries[:inputs],
        "state": entries[inputs:],
        "changedPropIds": [f"{id_text(trigger)}.{prop}"],
    }
    sent = app.server.test_client().post("/_dash-update-component", json=body)
    assert sent.status_code in {HTTPStatus.OK, HTTPStatus.NO_CONTENT}, (output, sent.text[-2000:])
    return sent.json if sent.status_code == HTTPStatus.OK else {}


def sent_to_browser(app: Dash, address: str) -> Iterator[Any]:
    """A page as Dash sends it: its frame, then the parts that are drawn later, and the rows of its tables."""
    path, mark, search = address.partition("?")
    shown: tuple[Given, ...] = (("address", "pathname", path), ("address", "search", mark + search))
    yield (page := called(app, *shown, ("redraw", "data", None)))
    drawn = [page]
    later = {(asked["id"]["name"], type(drawing_of(asked["id"]["part"]))): asked for asked in components(page, "ask")}
    for asked in later.values():  # of benchmarks that are drawn alike, one
        drawn.append(
            called(app, (asked["id"], "data", asked["data"]), (asked["id"] | {"type": "later"}, "id", asked["id"] | {"type": "later"}))
        )
        yield drawn[-1]
    for table in [one for part in drawn for one in components(part, "grid")]:
        yield called(app, (table["id"], "getRowsRequest", {"startRow": 0, "endRow": 20}), (table["id"], "id", table["id"]), *shown)


@pytest.fixture
def held(hostile: Store) -> Iterator[Store]:
    """The store, for tests that read it very often and write nothing."""
    yield from held_open(hostile)


@WHOLE
def test_what_callbacks_send_to_a_browser_steers_nothing(held: Store, *, whole: bool) -> None:
    """Titles, components, figures and rows of tables, as Dash sends them."""
    app = create_app(held)
    rows = 0
    for address in addresses(held) if whole else (*once_each(held, SENT), *boards(held), *filtered(held)):
        for part in sent_to_browser(app, address):
            found = list(strings(part))
            assert [(key, text) for key, text in found if STEERING.search(text) or SECRET in text] == [], address
            assert [text for key, text in found if key == "html" and Elements(text).planted] == [], address
            assert [text for key, text in found if key in {"hovertemplate", "texttemplate"} and MARK in text] == [], address
            rows += "rowData" in json.dumps(part)
    assert rows > (5 if whole else 2)


def test_what_people_write_on_pages_steers_nothing(hostile: Store) -> None:
    """Notes are saved or refused, and labels given back, by callbacks of their own."""
    app = create_app(hostile)
    episode = query(hostile, "SELECT min(episode_id) FROM episodes WHERE benchmark = 'craft'").item()
    at = Address("/game", {"episode": (episode,), "turn": ("1",)}).to()
    answers = [
        called(app, ("note-save", "n_clicks", 1), ("note-text", "value", text), ("note-author", "value", canary()[:20]),
               ("address", "search", at[at.index("?") :]))
        for text in (canary("note"), canary("note") * 100)
    ]  # fmt: skip
    labelling = Address("/labelling", {"annotator": (canary()[:40],)}).to()
    answers.append(called(app, ("label-export", "n_clicks", 1), ("address", "search", labelling[labelling.index("?") :])))
    assert [text for answer in answers for _, text in strings(answer) if STEERING.search(text)] == []
    assert query(hostile, "SELECT count(*) FROM notes WHERE episode_id = $episode", {"episode": episode}).item() == 2


@WHOLE
def test_pages_as_files_have_hostile_texts_as_texts(hostile: Store, *, whole: bool) -> None:
    """None fails, none runs anything, no text steers a figure, no character steers a terminal."""
    for address in addresses(hostile) if whole else once_each(hostile, FILED):
        path, _, search = address.partition("?")
        text = page_file(hostile, Address.parse(path, search), raises=True)
        assert Elements(text).planted == [], address
        assert STEERING.findall(text) == [], address
        assert SECRET not in text, address
        templates = re.findall(r'"(?:hover|text)template":\s*"((?:[^"\\]|\\.)*)"', text)
        assert [one for one in templates if MARK in one] == [], address


def test_a_secret_of_the_environment_reaches_no_table(hostile: Store) -> None:
    """It stands in every text of every log, and what names its variable is not filled in."""
    with hostile.reading() as connection:
        for table in TABLES:
            found = connection.execute(f"SELECT count(*) FROM {table.name} AS t WHERE contains(t::VARCHAR, ?)", [SECRET[:12]]).fetchone()
            assert found == (0,), table.name
        struck = connection.execute("SELECT count(*) FROM utterances WHERE contains(text, '[secret removed]')").fetchone()
    assert struck is not None
    assert struck[0] > 20


FEW = {
    "contradictions", "costly-turns", "decisive-turns", "disagreements", "experiments", "failures", "families", "flagged", "notes",
    "overview", "readers", "receipts", "rejects",
}  # fmt: skip
"""Reports with texts of every kind: names, answers, evidence, kinds of failure, claims, notes, places of logs."""


@pytest.mark.parametrize("names", [FEW, pytest.param({*report_names()} - FEW, marks=pytest.mark.long)], ids=["few", "others"])
def test_every_report_prints_hostile_texts_as_texts(names: set[str], held: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing that a terminal or a spreadsheet would run."""
    marked = set()
    for name in sorted(names):
        rows = report(held, name)
        marked |= {name} if MARK in rows.write_json() else set()
        for form in ("table", "csv"):
            emit(rows, form)
            printed = capsys.readouterr().out
            assert STEERING.findall(printed) == [], (name, form)
        cells = [cell for row in csv.reader(io.StringIO(printed)) for cell in row]
        assert [cell for cell in cells if cell.lstrip(" \t").startswith("=")] == [], name
    assert marked >= names & FEW


def test_ingest_names_hostile_places_without_steering_a_terminal(tmp_path: Path) -> None:
    """A rejected part's place, and a file's name, are texts of others too."""
    escape = "\x1b]0;pwn\x07\x9b31m\u202e"
    rows = [{"transcript_id": f"{escape}{MARK}", "source_type": "eval_log", "messages": "no list"}]
    (tmp_path / "logs").mkdir()
    pl.DataFrame(rows).write_parquet(tmp_path / "logs" / "t.parquet")
    (tmp_path / "logs" / f"{escape}.json").write_text('{"a": 1}')
    done = CliRunner().invoke(cli, ["ingest", str(tmp_path / "logs"), "--list", "--workers", "1", "--store", str(tmp_path / "s.duckdb")])
    assert MARK in done.output
    assert done.output.count("pwn") == 2
    assert STEERING.findall(done.output) == []


def test_commands_print_hostile_texts_as_texts(hostile: Store) -> None:
    """To a pipe, in every form; JSON has them whole all the same."""
    for line in (
        "claims --format csv", "claims --format json", "labels export", "doctor", "judge --rubric mast --model openai/m --dry-run",
        "sql 'FROM episodes' --format json", "sql 'FROM utterances' --format csv", "sql 'FROM agents'",
    ):  # fmt: skip
        done = CliRunner().invoke(cli, [*shlex.split(line), "--store", str(hostile.path)])
        assert done.exit_code == 0, (line, done.output[-300:])
        assert STEERING.findall(done.output) == [], line
        if line.startswith("sql") and line.endswith("json"):
            whole = query(hostile, "FROM episodes").sort("episode_id")["task_id"].to_list()
            assert sorted(row["task_id"] for row in json.loads(done.stdout)) == sorted(whole)


@pytest.mark.parametrize("form", ["inspect", *(pytest.param(form, marks=pytest.mark.long) for form in ("otlp", "dataset", "parquet"))])
def test_exports_have_hostile_texts_as_data(form: str, hostile: Store, tmp_path: Path) -> None:
    """No file is named by a log or lies elsewhere, nothing is run by who reads the card, and the texts are in it whole."""
    written = [path for path, _ in exported(hostile, tmp_path / "out", form, views=form == "parquet")]
    assert written
    assert [path for path in tmp_path.rglob("*") if MARK in path.name or STEERING.search(path.name)] == []
    assert all(path.resolve().is_relative_to(tmp_path / "out") for path in written)
    if form == "dataset":
        card = (tmp_path / "out" / "README.md").read_text()
        assert STEERING.findall(card) == []
        assert MARK in card
        assert re.findall(r"(?<!\\)<(?!model>)|(?<!\\)\]\(", card) == []
    if form == "otlp":
        assert all(json.loads(line) for line in written[0].read_text().splitlines())


def test_exits_take_no_plain_text(tmp_path: Path) -> None:
    """Mypy refuses each of these lines, for strict mode reports an `ignore` that is not needed; where it sees `Any`, the exit refuses."""
    text = canary()
    with pytest.raises(TypeError, match="not escaped: Html was asked for, str was given"):
        Fragment(text)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not escaped"):
        Fragment(f"<b>{Html('{}', text)}</b>")  # type: ignore[arg-type]  # what is joined as text has lost its kind
    with pytest.raises(TypeError, match="not escaped"):
        Fragment(Frame("{} wrote:", text))  # type: ignore[arg-type]  # each exit has its own kind
    with pytest.raises(TypeError, match="not escaped: Frame was asked for"):
        fenced("history", [Entry(f"{text} wrote:", "")], "1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not escaped"):
        chat(Frame("Judge."), text)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not escaped"):
        messages_for("", text, text)  # type: ignore[arg-type]
    store = Store(tmp_path / "s.duckdb")
    store.create()
    with pytest.raises(TypeError, match="the store takes what `to_arrow` or `checked` has made"):
        store.transact(lambda transaction: transaction.insert({"labels": None}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the store takes"):
        store.transact(lambda transaction: transaction.insert_columns({"labels": []}))  # type: ignore[arg-type]


def test_escaped_text_stays_escaped() -> None:
    """What is put into it is escaped once, braces of a text are no fields, and a pickled one comes back as it was."""
    shown = Html("<b title='{}'>{}</b>{rest}", "'x' {0.__class__}", "<i>", rest=Html("<br>"))
    assert shown == "<b title='&#x27;x&#x27; {0.__class__}'>&lt;i&gt;</b><br>"
    assert pickle.loads(pickle.dumps(shown)) == copy.deepcopy(shown) == shown  # noqa: S301
    assert Html.joined(", ", ["<", Html("<br>")]) == "&lt;, <br>"
    assert shown.replaced(re.compile("title"), lambda _: "<").startswith("<b &lt;=")
    assert type(shown.replaced(re.compile("b"), lambda _: "<")) is Html


def test_a_table_on_a_terminal_has_hostile_texts_as_texts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Headings are no markup, and neither they nor cells steer the terminal or hold a secret, narrow or wide."""
    monkeypatch.setattr("cotrace.tables.is_terminal", lambda: True)
    monkeypatch.setenv("SOMEBODYS_API_KEY", SECRET)
    use_secrets_of_environment()
    for width in ("300", "60"):
        monkeypatch.setenv("COLUMNS", width)
        for heading in ("[bold]x[/nothing]", f"\x1b[31m{SECRET}"):
            emit(pl.DataFrame({heading: [canary()[:30], SECRET], "b": [1, 2]}), "table")
            printed = capsys.readouterr().out
            assert STEERING.findall(printed) == []
            assert SECRET not in printed.replace("\n", "")
            assert "\x1b[31m" not in printed


def test_log_lines_do_not_steer_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that somebody asks the dashboard for is logged where it fails."""
    monkeypatch.setenv("SOMEBODYS_API_KEY", SECRET)
    use_secrets_of_environment()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%s failed", (f"/{canary()}",), None)
    LogLines().handle(record)
    printed = capsys.readouterr().err
    assert MARK in printed
    assert STEERING.findall(printed) == []
    assert SECRET not in printed


@pytest.mark.long
def test_the_page_of_all_reports_has_hostile_texts_as_texts(hostile: Store) -> None:
    """As it is sent to others."""
    done = CliRunner().invoke(cli, ["report", "all", "--format", "html", "--store", str(hostile.path)])
    assert done.exit_code == 0, done.exception
    assert Elements(done.stdout).planted == []
    assert MARK in html.unescape(done.stdout)


def test_games_and_tables_in_a_notebook_have_hostile_texts_as_texts(hostile: Store) -> None:
    """As HTML, and as a terminal's Python prints them."""
    for episode in games(hostile):
        game = Episode(hostile, episode)
        verdicts = game.verdicts()
        for shown in (game._repr_html_(), verdicts._repr_html_()):
            assert Elements(shown).planted == []
            assert STEERING.findall(shown) == []
        assert STEERING.findall(f"{game!r}{verdicts!r}") == []


def test_no_prompt_has_a_hostile_text_outside_its_quotes(hostile: Store) -> None:
    """Of rubrics for any game and for a family: what is not quoted is ours, names and keys included."""
    for name in ("mast", "spatial_grounding"):
        rubric = find(name)
        maker, seen = PromptMaker(rubric), 0
        for unit in selected_units(hostile, rubric, select(hostile, rubric, None)):
            for prompt in maker.prompts(unit):
                lines = [line for message in maker.messages(prompt) for line in message["content"].split("\n")]
                assert [line for line in lines if MARK in line and not line.startswith("| ")] == []
                seen += any(MARK in line for line in lines)
                assert not any(MARK in line for line in lines) or prompt.flagged()
        assert seen > 5


@pytest.mark.long
def test_published_logs_are_taken_with_hostile_texts() -> None:
    """In all fields but the closed ones, of formats of which no small log is made here too, and what Inspect itself writes."""
    of_inspect = [specimen for specimen in small_logs() if specimen.family == "inspect"]
    assert [specimen.name for specimen in (*published_logs(), *of_inspect) if not is_taken(specimen, planted(specimen))] == []


def test_a_claim_of_another_program_is_a_text_that_was_not_understood(hostile: Store) -> None:
    """Logs may state claims of kinds that no family has: they end no report, and count as read in part."""
    found = query(hostile, "SELECT count(*) FROM claims WHERE contains(kind, 'cnry')").item()
    assert found > 0
    assert report(hostile, "readers").height > 0
