"""Bad input: one clear line each, everything else still ingested, nothing lost silently."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.files import recognition
from ingest.files.run import ingest_paths
from schemas.common.errors import StoreError, UsageError
from schemas.store.store import SCHEMA_VERSION, Store
from tests.ingest.craft.craft_logs import published, write
from tests.small_disk import on_a_small_disk


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "test.duckdb", lock_wait_s=0.2)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with one good log; each test puts something bad beside it."""
    write(tmp_path / "logs" / "good.json", published())
    return tmp_path / "logs"


def counts(store: Store) -> tuple[int, int]:
    """Episodes and rejects in the store."""
    with store.reading() as connection:
        found = connection.execute("SELECT (SELECT count(*) FROM episodes), (SELECT count(*) FROM rejects)").fetchone()
    assert found is not None
    return found


def good_text() -> str:
    return json.dumps(published(), indent=2)


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "cut.json": (good_text()[:5000].encode(), "breaks off"),
    "cut_in_the_first_key.json": (b'{\n  "experime', "the JSON breaks off at character 13"),
    "empty.json": (b"", "empty"),
    "blank.json": (b" \n" * 1000, "nothing but blanks"),
    "null.json": (b"null", "no log format"),
    "latin1.json": (good_text().replace("words 1a", "caf\u00e9").replace("\\u00e9", "\u00e9").encode("latin-1"), "not UTF-8"),
    "half_utf16.json": (good_text().encode("utf-16")[:-1], "utf-16"),
    "garbage_behind.json": (good_text().encode() + b"}}", "damaged"),
    "nul_bytes.json": (good_text().encode()[:3000] + b"\0" * 3000, "damaged"),
    "deep.json": (b'{"experiment_info": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested deeper"),
    "number_too_long.json": (b'{"experiment_info": {"run": ' + b"1" * 6000 + b'}, "games": []}', "digits"),
    "other_kind.json": (
        b'{"name": "package", "version": "1.0.0"}',
        "no log format that cotrace knows (`cotrace formats`): rows of your own",
    ),
    "no_games.json": (b'{"experiment_info": {"run": 3}}', "no list `games`"),
    "games_is_a_number.json": (b'{"experiment_info": {"run": 3}, "games": 7}', "no list `games`"),
    "no_models.json": (json.dumps(published(models=None)).encode(), "valid dictionary"),
    "run_in_quotes.json": (json.dumps(published(run="3")).encode(), "valid integer"),
    "run_beyond_64_bits.json": (json.dumps(published(run=10**30)).encode(), "less than"),
    "tower_of_four.json": (json.dumps(published()).replace('"(1,1)": []', '"(1,1)": ["gs", "gs", "gs", "gs"]', 1).encode(), "at most 3"),
    "cut_own_log.jsonl": (b'{"cotrace_log":1,"benchmark":"craft","epis', "breaks off"),
    "newer_own_log.jsonl": (b'{"cotrace_log":99}\n', "upgrade cotrace"),
}


def test_bad_files_are_rejected_with_a_reason_each_and_the_good_one_goes_in(store: Store, logs: Path) -> None:
    """The report and the table `rejects` name each file and its reason in one printable line."""
    for name, (content, _) in BAD_FILES.items():
        (logs / name).write_bytes(content)
    report = ingest_paths([logs], store)
    assert (report.found, report.ingested, report.refused) == (len(BAD_FILES) + 1, 1, len(BAD_FILES))
    assert counts(store) == (1, len(BAD_FILES))
    assert sorted(reject.path for reject in report.rejected) == sorted(str(logs / name) for name in BAD_FILES)
    for reject in report.rejected:
        assert BAD_FILES[Path(reject.path).name][1] in reject.reason
        assert (reject.reason + reject.locator).isprintable()


GOOD_VARIANTS: dict[str, Callable[[], bytes]] = {
    "byte_order_mark": lambda: b"\xef\xbb\xbf" + good_text().encode(),
    "utf16": lambda: good_text().encode("utf-16"),
    "utf16_without_mark": lambda: good_text().encode("utf-16-le"),
    "utf32": lambda: good_text().encode("utf-32"),
    "nan_and_infinity": lambda: good_text().replace("Infinity", "[NaN, -Infinity, Infinity]").encode(),
    "half_surrogate_pair": lambda: good_text().replace("thoughts of D1", r"thoughts \ud83d of D1").encode(),
    "nul_character_in_text": lambda: good_text().replace("thoughts of D1", r"thoughts \u0000 of D1").encode(),
    "other_name": lambda: good_text().encode(),
    "extra_fields_nested_300_deep": lambda: json.dumps(published(extra=json.loads("[" * 300 + "]" * 300))).encode(),
    "null_for_optional_fields": lambda: json.dumps(published(timestamp=None, run=None, max_turns=None, num_oracle=5)).encode(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GOOD_VARIANTS)
def test_odd_but_whole_file_is_read(store: Store, tmp_path: Path, name: str) -> None:
    """Encodings that can be told, tokens that Python writes, and names that say nothing do not keep a game out."""
    path = tmp_path / "strange name.dat"
    path.write_bytes(GOOD_VARIANTS[name]())
    report = ingest_paths([path], store)
    assert report.rejected == []
    assert (report.episodes, report.turns) == (1, 5)


def test_every_single_missing_field_is_read_or_rejected(store: Store, tmp_path: Path) -> None:
    """Take any one field out of a log: the game goes in, whole or in part, or a reject says what is missing."""
    folder = tmp_path / "logs"
    places: list[tuple[str, ...]] = [
        *((key,) for key in ("experiment_info", "games")),
        *(("experiment_info", key) for key in published()["experiment_info"]),
        *(("games", "0", key) for key in published()["games"][0]),
        *(("games", "0", "turns", "0", key) for key in published()["games"][0]["turns"][0]),
    ]
    for number, place in enumerate(places):
        log: Any = published()
        inner = log
        for step in place[:-1]:
            inner = inner[int(step)] if isinstance(inner, list) else inner[step]
        del inner[place[-1]]
        write(folder / f"{number}.json", log)
    report = ingest_paths([folder], store)
    with store.reading() as connection:
        taken = {name for (name,) in connection.execute("SELECT file FROM episodes").fetchall()}
        explained = {name for (name,) in connection.execute("SELECT file FROM sources JOIN rejects USING (source_id)").fetchall()}
    assert taken | explained | {Path(path).name for path, _ in report.duplicates} == {f"{number}.json" for number in range(len(places))}
    assert not any("please report" in reject.reason for reject in report.rejected)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("value", [None, True, 7, -1, 1.5, "text", [], {}, [[]], {"a": {"b": []}}, 10**40, float("nan"), "\u0000\x1b[31m"])
def test_any_value_anywhere_is_read_or_rejected(store: Store, tmp_path: Path, value: object) -> None:
    """Put a value of any type in the place of any field: no crash, no `please report`, no silent loss."""
    folder = tmp_path / "logs"
    names = set()
    for key in published()["games"][0]["turns"][1]:
        log = published()
        log["games"][0]["turns"][1][key] = value
        names.add(write(folder / f"turn_{key}.json", log).name)
    for key in published()["games"][0]:
        log = published()
        log["games"][0][key] = value
        names.add(write(folder / f"game_{key}.json", log).name)
    report = ingest_paths([folder], store)
    assert [reject.reason for reject in report.rejected if "please report" in reject.reason] == []
    with store.reading() as connection:
        taken = {name for (name,) in connection.execute("SELECT file FROM episodes").fetchall()}
        explained = {name for (name,) in connection.execute("SELECT file FROM sources JOIN rejects USING (source_id)").fetchall()}
    assert taken | explained | {Path(path).name for path, _ in report.duplicates} == names


def test_game_written_twice_counts_once_and_is_said(store: Store, tmp_path: Path) -> None:
    """A writer that appends the same game again must not double the researcher's n."""
    log = published()
    log["games"].append(log["games"][0])
    report = ingest_paths([write(tmp_path / "twice.json", log)], store)
    assert [(reject.locator, "counted once" in reject.reason) for reject in report.rejected] == [("games[1]", True)]
    assert counts(store) == (1, 1)


def test_game_without_its_turns_is_lost_with_a_reason(store: Store, tmp_path: Path) -> None:
    """A game whose field `turns` is missing is not a game of no turns, which would drag the means down."""
    log = published()
    del log["games"][0]["turns"]
    report = ingest_paths([write(tmp_path / "no_turns.json", log)], store)
    assert ["turns is missing" in reject.reason for reject in report.rejected] == [True]
    assert counts(store) == (0, 1)


@pytest.mark.long
def test_huge_file_of_blanks_is_rejected_quickly(store: Store, logs: Path) -> None:
    """200 MB that only look like a log from outside."""
    with (logs / "huge.json").open("wb") as file:
        for _ in range(200):
            file.write(b" " * (1 << 20))
    report = ingest_paths([logs], store)
    assert (report.ingested, report.refused) == (1, 1)
    assert "blanks" in report.rejected[0].reason


@pytest.mark.long
def test_huge_file_with_one_huge_text_is_read_or_rejected(store: Store, logs: Path) -> None:
    """A log of 200 MB: its one enormous field is not one that is stored, the game is."""
    log = published()
    log["games"][0]["turns"][0]["builder_prompt"] = "HERE"
    (logs / "huge.json").write_bytes(json.dumps(log).encode().replace(b"HERE", b"x" * (200 << 20)))
    report = ingest_paths([logs], store)
    assert (report.ingested, report.rejected) == (2, [])


def test_larger_than_the_limit_is_rejected_unread(store: Store, logs: Path) -> None:
    """A sparse file of 2 GB that begins like a log costs neither memory nor time."""
    with (logs / "sparse.json").open("wb") as file:
        file.write(good_text()[:1000].encode())
        file.truncate(recognition.MOST_BYTES + 1)
    report = ingest_paths([logs], store, workers=1)
    assert report.ingested == 1
    assert "split the file" in report.rejected[0].reason


def test_files_beside_the_logs_are_counted_not_rejected(store: Store, logs: Path) -> None:
    """Summaries, pictures, structure files and hidden folders are listed as what they are."""
    (logs / "game.md").write_text("# summary")
    (logs / "game.csv").write_text("a,b\n1,2\n")
    (logs / "empty").write_bytes(b"")
    (logs / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (logs / "structures.json").write_text('[{"id": "s", "complexity": "simple", "structure": {}, "spans": {}}]')
    (logs / ".hidden").mkdir()
    (logs / ".hidden" / "game.json").write_text("{")
    report = ingest_paths([logs], store)
    assert report.is_clean
    assert {Path(path).name: reason for path, reason in report.others} == {
        ".hidden": "a hidden folder, not searched: name it to have it searched",
        "empty": "empty: the game was not written, copy the file again",
        "game.csv": "not a game log",
        "game.md": "not a game log",
        "image.png": "not a game log",
        "structures.json": "not a game log: a file of CRAFT target structures",
    }


def test_named_file_of_another_format_is_a_reject(store: Store, tmp_path: Path) -> None:
    """Who names a file means it as a log."""
    path = tmp_path / "notes.md"
    path.write_text("# notes")
    report = ingest_paths([path], store)
    assert [(reject.path, reject.reason) for reject in report.rejected] == [(str(path), "not a game log")]
    assert counts(store) == (0, 1)


def test_missing_path_does_not_stop_the_others(store: Store, logs: Path, tmp_path: Path) -> None:
    """What is there is read; what is not is told, a path below a file too, and leaves nothing in the store."""
    missing = [tmp_path / "nowhere", logs / "good.json" / "inside"]
    report = ingest_paths([missing[0], logs, missing[1]], store)
    assert (report.missing, report.ingested, report.is_clean) == ([str(path) for path in missing], 1, False)
    assert counts(store) == (1, 0)


def test_missing_paths_alone_are_wrong_use(store: Store, tmp_path: Path) -> None:
    """Where no path exists, nothing is written."""
    with pytest.raises(UsageError, match=r"no file or folder .*nowhere"):
        ingest_paths([tmp_path / "nowhere"], store)
    assert not store.exists()


def test_unknown_format_is_wrong_use(store: Store, logs: Path) -> None:
    """The message names the formats there are."""
    with pytest.raises(UsageError, match="give one of cotrace, asympuzl"):
        ingest_paths([logs], store, log_format="chess")


def test_folder_loop_ends(store: Store, logs: Path) -> None:
    """A link to a folder above is followed once."""
    (logs / "inner").mkdir()
    (logs / "inner" / "up").symlink_to(logs)
    report = ingest_paths([logs], store)
    assert (report.found, report.ingested) == (1, 1)
    assert report.others == [(str(logs / "inner" / "up"), "a folder that was already searched")]


def test_links_that_stay_in_the_folder_are_followed(store: Store, logs: Path) -> None:
    """To a folder and to a file of it."""
    write(logs / "runs" / "more.json", published(run=9))
    (logs / "latest").symlink_to(logs / "runs")
    (logs / "one.json").symlink_to("runs/more.json")
    report = ingest_paths([logs], store)
    assert (report.ingested, report.rejected) == (2, [])


def test_links_that_lead_out_of_the_folder_are_not_followed(store: Store, tmp_path: Path, logs: Path) -> None:
    """A folder that somebody passed on cannot have other files of this machine read; who wants them names the link."""
    write(tmp_path / "elsewhere" / "more.json", published(run=9))
    write(tmp_path / "logs_too" / "more.json", published(run=8))
    for name, target in {
        "p.jsonl": "/etc/passwd",
        "folder": "../elsewhere",
        "beside": "../logs_too/more.json",
        "e.csv": "/proc/self/environ",
        "zero.jsonl": "/dev/zero",
        "root": "/",
    }.items():
        (logs / name).symlink_to(target)
    report = ingest_paths([logs], store)
    assert report.ingested == 1
    assert {(Path(reject.path).name, reject.reason) for reject in report.rejected} == {
        (name, "a link that leads out of the folder, not followed: name the link itself to have it read")
        for name in ("p.jsonl", "folder", "beside", "e.csv", "zero.jsonl", "root")
    }
    assert ingest_paths([logs / "folder"], store).ingested == 1


def test_link_to_nowhere_and_pipe(store: Store, logs: Path) -> None:
    """A broken link could be a lost log; a pipe is none and must not block."""
    (logs / "broken.json").symlink_to(logs / "gone.json")
    os.mkfifo(logs / "pipe.json")
    report = ingest_paths([logs], store)
    assert [(Path(reject.path).name, reject.reason) for reject in report.rejected] == [
        ("broken.json", "a link that leads nowhere: fix or remove it")
    ]
    assert [Path(path).name for path, _ in report.others] == ["pipe.json"]


def test_a_named_file_in_a_closed_folder_is_rejected(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even whether it is a folder can be asked then. Tests can run as root, so the refusal is played."""
    secret = write(logs / "secret.json", published(run=4))
    asked = Path.stat

    def refusing(path: Path, **options: Any) -> Any:
        if path == secret:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return asked(path, **options)

    monkeypatch.setattr(Path, "stat", refusing)
    report = ingest_paths([secret], store)
    assert report.rejected[0].reason == "cannot be read (Permission denied): make it readable (chmod u+r)"


def test_unreadable_file_is_rejected_and_later_read(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No permission is a reject; once there is, the reject makes way for the game. Tests can run as root, so the refusal is played."""
    secret = write(logs / "secret.json", published(run=4))
    opened = Path.open

    def refusing(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == secret:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refusing)
        report = ingest_paths([logs], store)
        assert report.rejected[0].reason == "cannot be read (Permission denied): make it readable (chmod u+r)"
        assert counts(store) == (1, 1)
        again = ingest_paths([logs], store)
        assert (again.unchanged, len(again.rejected)) == (2, 1)
    ingest_paths([logs], store)
    assert counts(store) == (2, 0)


def test_text_of_logs_cannot_steer_the_terminal(store: Store, tmp_path: Path) -> None:
    """Names, locators, reasons and excerpts are printable whatever a log or a folder holds."""
    log = published()
    log["games"][0]["turns"][0]["progress_data"] = {"metrics": {"\x1b[2J\n": "\x1b]0;owned\x07"}}
    folder = tmp_path / "a\nb\x1b[31m"
    report = ingest_paths([write(folder / "x.json", log)], store)
    (reject,) = report.rejected
    with store.reading() as connection:
        stored = connection.execute(
            "SELECT path, locator, reason, excerpt FROM rejects UNION ALL SELECT path, file, '', '' FROM sources"
        ).fetchall()
    assert all(text.isprintable() for row in stored for text in row)
    assert (reject.path + reject.locator + reject.reason).isprintable()


def test_paths_that_print_alike_stay_apart(store: Store, tmp_path: Path) -> None:
    """Two names that differ only in control characters are two files."""
    write(tmp_path / "logs" / "a\x01.json", published(run=1))
    write(tmp_path / "logs" / "a\x02.json", published(run=2))
    assert ingest_paths([tmp_path / "logs"], store).ingested == 2
    assert ingest_paths([tmp_path / "logs"], store).unchanged == 2


def test_locked_store(store: Store, logs: Path) -> None:
    """The message names the store, says that somebody holds it, and what to do."""
    store.create()
    code = f"import duckdb, sys; c = duckdb.connect({str(store.path)!r}); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="held by another process"):
            ingest_paths([logs], store)
        holder.communicate("")


def test_store_of_a_newer_version(store: Store, logs: Path) -> None:
    """A store that a later cotrace wrote is left alone."""
    store.create()
    with store.writing() as connection:
        connection.execute("UPDATE store_info SET value = ? WHERE name = 'schema_version'", [str(SCHEMA_VERSION + 1)])
    with pytest.raises(StoreError, match="upgrade cotrace"):
        ingest_paths([logs], store)


def test_read_only_store(store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says so. Tests can run as root, so the file system's answer is played."""
    store.create()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # noqa: ARG005
    with pytest.raises(StoreError, match="read-only"):
        ingest_paths([logs], store)


def test_forced_format_reads_what_content_does_not_tell(store: Store, tmp_path: Path) -> None:
    """A named file is read in the format that the user gives; the reason is then that adapter's own."""
    path = tmp_path / "odd.json"
    path.write_text('{"games": []}')
    assert "no log format" in ingest_paths([path], store).rejected[0].reason
    forced = ingest_paths([path], store, log_format="craft")
    assert forced.rejected[0].locator == "experiment_info"


def test_a_full_disk_leaves_no_beginning_of_a_store(logs: Path, tmp_path: Path) -> None:
    """It would be taken for a damaged store when there is room again."""
    disk = tmp_path / "disk"
    ingest = "from cotrace.cli import main; main()"
    script = '"$1" -c "$2" ingest "$3" --store "$4/s.duckdb"; echo "$?" $(ls -A "$4")'
    done = on_a_small_disk(disk, 8192, "sh", "-c", script, "sh", sys.executable, ingest, str(logs), str(disk))
    told = f"cotrace: store {disk / 's.duckdb'} cannot be written (No space left on device): free some space and try again"
    assert (done.stdout.split(), done.stderr.splitlines()) == (["2"], [told])
