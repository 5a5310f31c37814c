"""The command line: help, exit codes, one-line errors, data on stdout and everything else on stderr."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import click
import polars as pl
import pytest

import cotrace
from analytics.reports import grouped, report
from cotrace.cli import COMMANDS, cli
from cotrace.commands.report import tell_all
from cotrace.options.shared import StoreParameter
from dashboards.page_file import document
from schemas.families import FAMILIES
from schemas.store.store import Store
from tests.command_line import called
from tests.judges.judged_games import store_of
from tests.played import played_store
from tests.servers.stub_server import stub_server


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Nine played games with verdicts of the engine."""
    return played_store(tmp_path_factory.mktemp("cli"))


def commands(path: tuple[str, ...] = (), command: click.Command = cli) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every verb with its path, groups included."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands((*path, name), inner)


@pytest.mark.parametrize(("path", "command"), [pytest.param(p, c, id=" ".join(p) or "cotrace") for p, c in commands()])
def test_every_command_has_help_an_example_and_explained_options(path: tuple[str, ...], command: click.Command) -> None:
    """`--help` says what the command does, shows a call of it, and explains each option."""
    assert command.help
    called = [word for word in path if word != "EXPERIMENT.yaml"]
    assert " ".join(["cotrace", *called]) in command.help.split("Example:")[1]
    unexplained = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert unexplained == []


@pytest.mark.parametrize("command", [pytest.param(c, id=" ".join(p)) for p, c in commands() if isinstance(c, click.Group)])
def test_no_line_about_a_command_breaks_off(command: click.Group) -> None:
    """In a terminal of usual width each is told in whole."""
    with click.Context(command, terminal_width=80) as context:
        assert [line for line in command.get_help(context).splitlines() if line.endswith("...") and "Usage:" not in line] == []


@pytest.mark.parametrize(("path", "command"), [pytest.param(p, c, id=" ".join(p)) for p, c in commands()])
def test_every_store_may_be_a_lake(path: tuple[str, ...], command: click.Command) -> None:
    """`--store lake:FOLDER` goes wherever `--store` does, as `cotrace lake --help` says."""
    stores = [option for option in command.params if "--store" in option.opts]
    assert all(isinstance(option.type, StoreParameter) for option in stores), path


@pytest.mark.parametrize(("path", "command"), [pytest.param(p, c, id=" ".join(p)) for p, c in commands()])
def test_what_asks_a_model_takes_a_server_a_key_and_a_budget(path: tuple[str, ...], command: click.Command) -> None:
    """Neighbours have the same options. An experiment's key stands in its file; people at a table ask models one move at a time."""
    options = {name for option in command.params for name in option.opts}
    if "--temperature" in options:
        assert {"--base-url", "--key-env", "--max-cost", "--prices", "--max-tokens", "--reasoning-effort"} <= options, path


def test_help_does_not_pay_for_heavy_libraries() -> None:
    """`cotrace --help` imports neither the store's engine nor frames, pages or models."""
    heavy = ["duckdb", "polars", "pandera", "plotly", "dash", "instructor", "openai", "dspy", "sklearn", "scipy", "pyarrow", "rich"]
    code = (
        "import sys\nfrom cotrace.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert all(name in done.stdout for verbs in COMMANDS.values() for name in verbs)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param(["nonsense"], "No such command 'nonsense'", id="unknown command"),
        pytest.param(["report", "nothing"], "no report 'nothing'", id="unknown report"),
        pytest.param(["sql", "drop table turns"], "read-only", id="sql that writes"),
        pytest.param(["sql", "select sucess from games"], "sucess", id="sql with a wrong column"),
        pytest.param(["sql", "select * from read_csv('/etc/passwd')"], "disabled", id="sql that reads another file"),
        pytest.param(["ingest", "/no/such/place"], "no file or folder /no/such/place", id="missing path"),
        pytest.param(["judge", "--rubric", "spatial_grounding"], "say who judges", id="nobody judges"),
        pytest.param(["judge", "--rubric", "spatial", "--judge", "engine"], "there is no rubric spatial", id="unknown rubric"),
        pytest.param(
            ["judge", "--rubric", "spatial_grounding", "--judge", "engine", "--where", "nocolumn = 1"], "nocolumn", id="wrong where"
        ),
        pytest.param(["judge", "--rubric", "spatial_grounding", "--model", "gpt"], "provider/model", id="model without provider"),
        pytest.param(
            ["play", "craft", "--player", "all=script:nobody", "--out", "never"],
            "no script of that name for a director",
            id="unknown persona",
        ),
        pytest.param(["report", "leaderboard", "--format", "tabel"], "Did you mean 'table'?", id="mistyped choice"),
        pytest.param(["play", "craft", "--start", "full", "--out", "never"], "firstLayer", id="unknown start board"),
        pytest.param(["rubric", "new", "Not A Name"], "small letters", id="bad rubric name"),
        pytest.param(["rubric", "new", "r" * 300], "r.yaml: File name too long", id="rubric name that no file has"),
        pytest.param(["judge", "--rubric", "r" * 300, "--judge", "engine"], "File name too long", id="rubric that no file can hold"),
        pytest.param(["sql", "select 1", "--store", "s" * 300], "s: File name too long", id="store that no file can hold"),
        *(
            pytest.param(["ingest", ".", "--store", name], f"--store {name}: a store is a DuckDB file on this machine, or lake:", id=name)
            for name in (":memory:", "md:games", "s3://games/x", "sqlite:x.db")
        ),
        pytest.param(["ingest", ".", "--store", "lake:s3://"], "--store lake:s3://: write lake:FOLDER or lake:s3://", id="no bucket"),
        pytest.param(["sql", "select 1", "--store", "log.jsonl"], "log.jsonl is not a DuckDB file: name a store", id="a log for a store"),
        pytest.param(
            ["ingest", ".", "--store", "lake:."], "is not a lake, and holds other files, such as log.jsonl: name", id="a folder of logs"
        ),
        pytest.param(
            ["report", "compare", "--benchmark", "carft"], "benchmark carft: the store has no such games: did you mean", id="slip"
        ),
        pytest.param(["report", "all", "--format", "html", "--where", "turn = 1"], "so no --where fits all of them", id="where of all"),
        pytest.param(
            ["report", "spirals", "--format", "html", "--rows", "3"], "--rows and --wide choose what a table", id="rows of a page"
        ),
        pytest.param(["dash", "--page", "/failure?by=level"], "there is no page /failure: did you mean /failures?", id="unknown page"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(arguments: list[str], complaint: str, store: Store, tmp_path: Path) -> None:
    """What, why, the mend, on one line of stderr; no traceback, nothing on stdout."""
    (tmp_path / "log.jsonl").write_text('{"cotrace_log": 1}\n', encoding="utf-8")
    done = called(*arguments, store=store, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "option"),
    [(("rubric", "new", "mine"), "--dir"), (("demo", "--no-serve"), "--dir"), (("export",), "--to")],
    ids=lambda found: found if isinstance(found, str) else found[0],
)
def test_a_folder_that_cannot_be_written_is_named_with_its_option(
    arguments: tuple[str, ...], option: str, store: Store, tmp_path: Path
) -> None:
    """Whichever command it is; here a file stands where the folder above should be."""
    (tmp_path / "file").touch()
    done = called(*arguments, option, "file/x", store=store if "export" in arguments else None, cwd=tmp_path)
    assert done.returncode == 2
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith(f"cotrace: {option} file/x: file/x")
    assert line.endswith("cannot be used (Not a directory); choose a folder that can be written")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--max-cost", "nan"),
        ("--max-cost", "-1"),
        ("--max-cost", "inf"),
        ("--temperature", "nan"),
        ("--timeout", "0"),
        ("--max-tokens", "0"),
        ("--requests-per-minute", "0"),
        ("--tokens-per-minute", "nan"),
    ],
)
def test_a_number_that_bounds_nothing_is_refused(option: str, value: str, store: Store) -> None:
    """No limit is switched off by a number that compares with nothing, and none is passed on to fail somewhere else."""
    done = called("judge", "--rubric", "mast", "--model", "local/fake", "--base-url", "http://127.0.0.1:9/v1", option, value, store=store)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert option in done.stderr


@pytest.mark.parametrize("more", [["--rubric", "mast"], ["--batch"], ["--judge", "engine"], ["--dry-run"]])
def test_collect_goes_alone(more: list[str], store: Store) -> None:
    """What it would ignore is refused."""
    done = called("judge", "--collect", *more, store=store)

    assert (done.returncode, "nothing but --store" in done.stderr) == (2, True)


def test_a_job_without_units_says_what_there_is_and_exits_1(store: Store) -> None:
    """Benchmarks and roles of the store, so that a misspelt one is seen."""
    done = called("judge", "--rubric", "knowledge_sharing", "--judge", "engine", store=store)

    assert done.returncode == 1
    assert "nothing to judge: the rubric is for einstein with roles player; games in" in done.stderr
    assert "craft (roles builder, director)" in done.stderr


def test_a_budget_that_a_server_breaks_is_said_to_be_exceeded(tmp_path: Path) -> None:
    """A call that is billed at more than --max-tokens cannot be foreseen; that it was is not hidden."""
    store, prices = store_of(tmp_path / "s.duckdb", turns=6), tmp_path / "prices.yaml"
    prices.write_text("local/*: {input: 1, output: 1}\n")
    with stub_server("--bills", "100", "1000000") as url:
        model = ["--model", "local/fake", "--base-url", url, "--prices", str(prices)]
        done = called("judge", "--rubric", "pragmatic_sufficiency", *model, "--max-cost", "0.5", "--concurrency", "1", store=store)

    assert done.returncode == 1
    assert "--max-cost 0.5 was exceeded by 0.5001 USD" in done.stderr
    assert "stopped before" not in done.stderr


def rounded(text: str) -> str:
    """Numbers to nine digits: the last ones depend on the order in which threads add up."""
    return re.sub(r"(\.\d{9})\d+", r"\1", text)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["leaderboard", "agreement"])
def test_a_condition_with_a_comment_cannot_swallow_what_follows(name: str, store: Store) -> None:
    """The comment ends with its line; the order stays."""
    plain = called("report", name, "--format", "csv", "--where", "true", store=store)
    commented = called("report", name, "--format", "csv", "--where", "true -- all", store=store)
    broken = called("report", name, "--format", "csv", "--where", "true) --", store=store)

    assert (commented.returncode, rounded(commented.stdout)) == (0, rounded(plain.stdout))
    assert broken.returncode == 2


def test_missing_store_names_the_command_that_makes_one(tmp_path: Path) -> None:
    """Reading a store that is not there says how to get it."""
    done = called("report", "leaderboard", store=tmp_path / "none.duckdb")
    assert done.returncode == 2
    assert "cotrace ingest" in done.stderr


def test_ingest_play_and_report_work_together(tmp_path: Path) -> None:
    """The first minutes of a user: play, ingest twice, look."""
    store = tmp_path / "s.duckdb"
    assert called("play", "craft", "--games", "2", "--turns", "6", "--out", "logs", cwd=tmp_path).returncode == 0

    first = called("ingest", "logs", store=store, cwd=tmp_path)
    second = called("ingest", "logs", store=store, cwd=tmp_path)

    assert first.returncode == 0
    assert "2 files: 2 read" in first.stderr
    assert "2 unchanged" in second.stderr
    assert called("sql", "select count(*) as n from turns", "--format", "csv", store=store).stdout == "n\n12\n"


def test_ingest_of_a_missing_path_reads_the_others_and_exits_1(tmp_path: Path) -> None:
    """A slip in one path costs that path alone, and says so on one line."""
    called("play", "craft", "--games", "1", "--turns", "3", "--out", "logs", cwd=tmp_path)

    done = called("ingest", "nowhere", "logs", store=tmp_path / "s.duckdb", cwd=tmp_path)

    assert done.returncode == 1
    assert "1 read" in done.stderr
    assert [line for line in done.stderr.splitlines() if "nowhere" in line] == [
        f"  missing: no file or folder {tmp_path / 'nowhere'}: check the path, the others were read"
    ]
    assert "Traceback" not in done.stderr


def test_ingest_of_a_bad_file_keeps_the_good_ones_and_exits_1(tmp_path: Path) -> None:
    """A damaged log beside a good one: the good one is read, the other named with its reason."""
    called("play", "craft", "--games", "1", "--turns", "3", "--out", "logs", cwd=tmp_path)
    (tmp_path / "logs" / "bad.json").write_text('{"experiment_info": {}, "games": [', encoding="utf-8")

    done = called("ingest", "logs", store=tmp_path / "s.duckdb", cwd=tmp_path)

    assert done.returncode == 1
    assert "1 read" in done.stderr
    assert "bad.json" in done.stderr
    assert "cotrace report rejects" in done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["leaderboard", "failures", "remove-gap", "spirals", "missed", "judges", "outcomes", "cost"])
def test_report_gives_the_same_rows_in_every_form(name: str, store: Store) -> None:
    """Table, CSV and JSON agree on the number of rows, and data alone is on stdout."""
    as_json = json.loads(called("report", name, "--format", "json", store=store).stdout)
    as_csv = called("report", name, "--format", "csv", store=store)
    as_table = called("report", name, store=store)

    assert f"{len(as_json)} rows" in as_csv.stderr
    assert f"{len(as_json)} rows" in as_table.stderr
    assert as_csv.stdout.startswith(",".join(as_json[0]) if as_json else "")


def test_the_report_of_everything_is_cut_and_says_so(tmp_path: Path) -> None:
    """Of a report with more than a hundred rows the first hundred stand in the page of all, and how many there are."""
    rows = pl.DataFrame({"team": [f"t{number}" for number in range(3666)]})
    store = cotrace.open(tmp_path / "s.duckdb")
    assert "(3 rows)" in document(Store(store.path), {"compare": rows.head(3)})
    assert "(1 row)" in document(Store(store.path), {"compare": rows.head(1)})
    together, alone = (document(Store(store.path), tables) for tables in ({"compare": rows, "other": rows.head(3)}, {"compare": rows}))
    assert together.count("<tbody><tr>") == 2
    assert together.count("<td>t") == 103
    assert "The first 100 of 3,666 rows, in the report's order; cotrace report compare --format csv has all." in unescape(together)
    assert alone.count("<td>t") == 2000


def test_the_report_of_everything_is_in_groups_with_one_note_of_few_tasks(tmp_path: Path) -> None:
    """The groups of `cotrace report list`, in their order; the note was repeated by every report."""
    few = pl.DataFrame({"benchmark": ["craft"], "tasks": [2], "n": [2], "score_mean": [0.5], "score_low": [0.1], "score_high": [0.9]})
    store = cotrace.open(tmp_path / "s.duckdb")
    page = document(Store(store.path), {"spirals": few, "leaderboard": few, "judges": few})
    headings = re.findall(r"<h2 class='group'>([^<]+)<", page)
    assert headings == [heading for heading in grouped() if heading in headings]
    assert len(headings) >= 2
    assert page.count("Intervals that rest on few tasks are in ") == 1
    assert page.count("fewer than 10 tasks") == 1


@pytest.mark.parametrize("most", [pytest.param(None, marks=pytest.mark.long), 2])
def test_the_report_of_everything_fits_a_terminal(most: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under their headings the reports that have rows; tables, and how much is left out, where rows are wanted; one note of few games."""
    few = pl.DataFrame(
        {"benchmark": ["craft"] * 3, "team": ["a", "b", "c"], "games": [2] * 3, "score_low": [0.1] * 3, "score_high": [0.9] * 3}
    )
    tables = {"spirals": few, "leaderboard": few, "judges": few.clear()}
    tell_all(Store(cotrace.open(tmp_path / "s.duckdb").path), tables, most, has_tables=most is not None)
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert [line for line in lines if line in grouped()] == [
        heading for heading, names in grouped().items() if {*names} & {"spirals", "leaderboard"}
    ]
    assert told.out.count("3 rows") == 2
    assert ("2 of 3 rows: cotrace report spirals" in told.out) == (most is not None)
    assert len([line for line in lines if line.startswith("craft ")]) == (0 if most is None else 4)
    assert told.err.count("rest on few tasks or games are in leaderboard, spirals;") == 1
    assert "without rows: judges;" in told.err


def test_the_report_of_everything_is_one_page_that_loads_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of reports of which one has no rows; that all of them can be on it is one of the long tests."""
    names = ("failures", "einstein", "remove-gap", "spirals")
    monkeypatch.setattr("analytics.reports.all_reports", lambda store: {name: report(store, name) for name in names})
    done = called("report", "all", "--format", "html", store=store)
    assert (done.returncode, "one self-contained page with 4 reports" in done.stderr) == (0, True), done.stderr
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?([^\"' >]+)", done.stdout) == []
    sections = [section.partition("</h2>")[0] for section in done.stdout.split("<h2>")[1:]]
    assert {"failures", "remove-gap", "spirals"} <= {*sections}
    assert "einstein" not in sections
    assert done.stdout.count("plotly-graph-div") >= 3


@pytest.mark.long
def test_the_report_of_everything_has_every_family_and_loads_nothing(tmp_path: Path) -> None:
    """One page with figures and tables; each family that `cotrace play` plays has rows of its own there, beside the leaderboard."""
    store = played_store(tmp_path)
    called("play", "einstein", "--games", "1", "--out", "more/einstein", cwd=tmp_path)
    called("play", "asympuzl", "--games", "1", "--size", "3", "--out", "more/asympuzl", cwd=tmp_path)
    called("play", "overcooked", "--task", "boiled_egg", "--out", "more/overcooked", cwd=tmp_path)
    called("play", "coordination", "collab_capture", "--player", "all=script:greedy", "--out", "more/coordination", cwd=tmp_path)
    called("ingest", "more", store=store, cwd=tmp_path)
    Store.settle(store)

    page = called("report", "all", "--format", "html", store=store).stdout

    outside = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?([^\"' >]+)", page)
    assert outside == []
    assert page.count("<section") >= 8
    assert page.count("plotly-graph-div") >= 4
    sections = {section.partition("</h2>")[0]: section for section in page.split("<h2>")[1:]}
    assert {known.name for known in FAMILIES} - {"craft", "avalon"} <= sections.keys()  # these two have reports by subject
    filled = {name for name, section in sections.items() if "<tbody><tr>" in section}
    assert {"remove-gap", "einstein", "asympuzl", "overcooked", "coordination"} <= filled


def test_export_writes_every_table_as_parquet(store: Store, tmp_path: Path) -> None:
    """One folder a table; the rows read back."""
    done = called("export", "--to", str(tmp_path / "out"), store=store)
    assert done.returncode == 0
    assert (tmp_path / "out" / "turns" / "part-0.parquet").stat().st_size > 0


def test_claims_reads_what_it_can_and_names_the_rest(tmp_path: Path) -> None:
    """A bad line is named by number and costs only itself."""
    board: dict[str, list[str]] = {f"({i},{j})": [] for i in range(3) for j in range(3)}
    good = {"id": "a", "speaker": "D1", "utterance": "Place a small red block in my bottom left corner.", "board_before": board}
    file = tmp_path / "u.jsonl"
    file.write_text(json.dumps(good) + "\nnot json\n" + json.dumps({**good, "id": "b", "speaker": "D9"}) + "\n", encoding="utf-8")

    done = called("claims", str(file))

    assert done.returncode == 1
    (found,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert found["claims"][0] == {"verb": "place", "color": "r", "size": "s", "cells": ["(0,0)"], "layer": 0, "first": True}
    assert "line 2" in done.stderr
    assert "line 3" in done.stderr


def test_new_rubric_passes_its_own_check(tmp_path: Path) -> None:
    """`rubric new` writes a file that `rubric check` accepts, and leaves an existing one alone."""
    assert called("rubric", "new", "mine", cwd=tmp_path).returncode == 0
    assert called("rubric", "check", "mine.yaml", cwd=tmp_path).returncode == 0
    assert called("rubric", "new", "mine", cwd=tmp_path).returncode == 2


def test_sql_answers_while_a_writer_works_in_between(store: Store) -> None:
    """A reader waits its turn while another process holds the store for a moment, then answers."""
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import duckdb, time; c = duckdb.connect({str(store.path)!r}); print('held', flush=True); time.sleep(1.5)"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    began = time.monotonic()
    done = called("sql", "select 1 as one", "--format", "csv", store=store)
    holder.wait()
    holder.stdout.close()

    assert done.stdout == "one\n1\n"
    assert time.monotonic() - began > 0.5


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("sql", "SELECT 'é ★' AS x"), "é ★"),
        (("sql", "SELECT 'é ★' AS x", "--format", "json"), "é ★"),
        (("report", "leaderboard", "--where", "model = 'é'"), "benchmark"),
        (("rubric", "show", "mind_modeling"), "name: mind_modeling"),
    ],
)
def test_a_terminal_without_utf_8_is_no_fault(store: Store, arguments: tuple[str, ...], shown: str) -> None:
    """Letters that it does not have are replaced; what goes into a file is whole."""
    command = [sys.executable, "-c", "from cotrace.cli import main; main()", *arguments]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii", "COTRACE_STORE": str(store.path)}
    done = subprocess.run(command, capture_output=True, env=os.environ | locale, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout.decode()


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("output_format", ["table", "csv", "json"])
def test_a_full_disk_is_told(store: Store, output_format: str, unbuffered: str) -> None:
    """Whatever Python's buffering: what was written to less than its end must not look done."""
    command = [sys.executable, "-c", "from cotrace.cli import main; main()", "sql", "FROM range(50000)", "--format", output_format]
    environment = os.environ | {"COTRACE_STORE": str(store.path), "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, timeout=120, check=False, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("cotrace: cannot be written: no space left on device")


_ON_A_FULL_DISK = """
mount -t tmpfs -o size=$1 tmpfs disk && cp "$2" disk/s.duckdb && shift 2 || exit 77
cat /dev/zero > disk/fill 2> /dev/null
"$@"
"""


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs util-linux")
@pytest.mark.parametrize(
    "command", [("judge", "--rubric", "spatial_grounding", "--judge", "engine"), ("attribute",)], ids=lambda found: found[0]
)
def test_a_store_on_a_full_disk_is_named(store: Store, tmp_path: Path, command: tuple[str, ...]) -> None:
    """A disk of its own, which is as small as it can be; where no process may mount one there is nothing to see."""
    (tmp_path / "disk").mkdir()
    size = str(store.path.stat().st_size + (1 << 15))
    own = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _ON_A_FULL_DISK, "sh", size, str(store.path))
    cotrace = (sys.executable, "-c", "from cotrace.cli import main; main()", *command, "--store", "disk/s.duckdb")
    done = subprocess.run([*own, *cotrace], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no disk of its own here: {done.stderr.strip()}")
    full = "cotrace: store disk/s.duckdb cannot be written (No space left on device): free some space and try again\n"
    assert (done.returncode, done.stderr) == (2, full)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_told_once(store: Store) -> None:
    """A line that still waits to be written is no second fault when the program ends."""
    command = [sys.executable, "-c", "from cotrace.cli import main; main()", "sql", "SELECT 1", "--store", str(store.path)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=120, check=False, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "no space left" in done.stderr


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("output_format", ["parquet", "table", "csv", "json"])
def test_who_reads_may_have_enough(store: Store, output_format: str) -> None:
    """As with `| head -1`: the rest is not written, and that is no fault."""
    command = [sys.executable, "-c", "from cotrace.cli import main; main()", "sql", "FROM range(200000)", "--format", output_format]
    with subprocess.Popen([*command, "--store", str(store.path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        told = process.stderr.read().decode()
    assert (process.returncode, told) == (0, "")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "command", ["--help", "report list", "report leaderboard", "formats", "sql FROM+episodes", "rubric list", "doctor", "nothing"]
)
def test_a_closed_pipe_is_no_fault_of_any_command(store: Store, command: str) -> None:
    """Whether Python or click meets it, in the middle or at the end; wrong use stays wrong use."""
    arguments = [argument.replace("+", " ") for argument in command.split()]
    program = [sys.executable, "-c", "from cotrace.cli import main; main()", *arguments]
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "COTRACE_STORE": str(store.path)}
    done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, cwd=store.path.parent, env=environment, timeout=120, check=False)
    os.close(writing)
    wrong = command == "nothing"
    assert (done.returncode, done.stderr.count(b"\n")) == ((2, 1) if wrong else (0, 0)), done.stderr


def test_wrong_use_stays_wrong_use_where_nobody_reads_the_line() -> None:
    """As with `2>&1 | head -0`."""
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, "-c", "from cotrace.cli import main; main()", "nothing"]
    done = subprocess.run(program, stdout=writing, stderr=writing, timeout=120, check=False)
    os.close(writing)
    assert done.returncode == 2


def test_a_pipe_of_somebody_else_that_breaks_is_told() -> None:
    """Only where nobody reads what is printed does a command end without a word."""
    program = "from cotrace import cli\ncli.cli.main = lambda **_: (_ for _ in ()).throw(BrokenPipeError(32, 'Broken pipe'))"
    done = subprocess.run([sys.executable, "-c", f"{program}\ncli.main()"], capture_output=True, timeout=120, check=False, text=True)
    assert done.returncode == 2
    assert "Broken pipe" in done.stderr


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("closed", [">&- 2>&-", ">&-", "2>&-"])
def test_streams_may_be_closed(closed: str, store: Store) -> None:
    """As a daemon leaves them: the command does its work, and nobody reads what it says."""
    program = f"'{sys.executable}' -c 'from cotrace.cli import main; main()' sql 'SELECT 1' --store '{store.path}' {closed}"
    done = subprocess.run(["sh", "-c", program], capture_output=True, timeout=120, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


def test_help_fits_a_narrow_terminal() -> None:
    """No line of any command's help is longer than 80 columns, and an example that is broken stays one command for a shell."""

    def told(command: click.Command, above: click.Context | None, name: str) -> Iterator[str]:
        with command.context_class(command, info_name=name, parent=above, terminal_width=80) as context:
            yield command.get_help(context)
            group = command if isinstance(command, click.Group) else click.Group()
            for below in group.list_commands(context):
                found = group.get_command(context, below)
                assert found is not None
                yield from told(found, context, below)

    pages = list(told(cli, None, "cotrace"))
    assert len(pages) > 20
    assert [line for page in pages for line in page.splitlines() if len(line) > 80] == []
    example = re.search(r"cotrace judge --rubric pragmatic_sufficiency .*?--max-cost 2", " ".join(pages), re.DOTALL)
    assert example is not None
    assert shlex.split(example[0])[-2:] == ["--max-cost", "2"]
    assert "" not in shlex.split(example[0])


def test_a_command_called_by_a_program_with_a_server_leaves_the_program_alone() -> None:
    """Only threads that the command itself has started make it exit at once."""
    text = (
        "import threading\n"
        "from cotrace.cli import main\n"
        "threading.Thread(target=threading.Event().wait, name='waitress-0', daemon=True).start()\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    print('goes on')\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "goes on"
