"""Tables: in a terminal of 80 columns nothing is lost or folded to letters, in a pipe no cell is cut, and a screen of rows is shown."""

from __future__ import annotations

import io

import polars as pl
import pytest

from analytics.reports import GROUPS, SOURCES, described, grouped, report_names
from analytics.views import VIEWS
from cotrace.output import SCREEN, chosen, emit, tell
from schemas.common.errors import UsageError

NAMES = ("benchmark", "team_name", "condition", "turns_inside", "turns_outside", "cost_inside", "low", "high", "p_holm")
ROWS = pl.DataFrame(
    [("craft", "director clear, builder scripted", "oracle5", 42, 344, 0.0312, 0.012, 0.05, 0.0000002)] * 60, schema=NAMES, orient="row"
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output goes to a terminal of 80 columns."""
    for place in ("cotrace.tables.is_terminal", "cotrace.output.is_terminal"):
        monkeypatch.setattr(place, lambda: True)
    for name, value in {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("terminal")
def test_a_table_fits_80_columns_with_every_column_readable(capsys: pytest.CaptureFixture[str]) -> None:
    """Headings are broken between words, an interval stands in the cell of its number, a probability as in print; a screen of rows."""
    columns = chosen(ROWS, None, NAMES, wide=False)
    assert columns == ["benchmark", "team_name", "condition", "turns_inside", "turns_outside", "cost_inside", "p_holm"]
    printed = emit(ROWS, "table", columns=columns, most=SCREEN)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert printed < 60
    assert out.count("344") == printed
    for text in ("craft", "oracle5", "outside", ".031 [.012, .050]", "< .0001"):
        assert text in out


@pytest.mark.usefixtures("terminal")
def test_rows_that_do_not_fit_stand_as_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    """A line a column; all rows only if asked for."""
    wide = pl.DataFrame([{f"a_number_{index}": float(index) for index in range(20)}] * 9)
    assert emit(wide, "table", most=SCREEN) < 9
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "a number 19" in out
    assert emit(wide, "table") == 9


HOSTILE = pl.DataFrame({"text": ["\x1b]0;title\x07\x9b31mred\u202e"]})


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.usefixtures("terminal")
def test_nothing_from_a_log_steers_a_terminal(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever it is printed as: a line stays a line, and the rest can be printed."""
    emit(HOSTILE, form)
    out = capsys.readouterr().out
    assert "red" in out
    assert all(line.isprintable() for line in out.splitlines())


def test_a_program_gets_what_the_log_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """All of it as JSON, which escapes control characters; CSV cannot: U+FFFD is in their place, and every letter is there."""
    emit(HOSTILE, "json")
    assert pl.read_json(io.BytesIO(capsys.readouterr().out.encode())).rows() == HOSTILE.rows()
    emit(HOSTILE, "csv")
    assert pl.read_csv(io.BytesIO(capsys.readouterr().out.encode())).rows() == [("\ufffd]0;title\ufffd\ufffd31mred\ufffd",)]


def test_a_pipe_gets_every_letter(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a row, however long; texts of several lines stay one line."""
    long = "word " * 60 + "\nend"
    assert emit(pl.DataFrame({"text": [long, "short"], "n": [1, 2]}), "table", most=SCREEN) == 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "word " * 60 in lines[2]
    assert lines[2].endswith("end  1")


@pytest.mark.usefixtures("terminal")
def test_sentences_are_folded_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    """No word is cut in two."""
    tell("extraordinarily " * 20, indent="  ")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert {word for line in lines for word in line.split()} == {"extraordinarily"}


def test_a_column_that_is_mistyped_is_guessed() -> None:
    """One line."""
    with pytest.raises(UsageError, match="no column 'condtion': did you mean condition"):
        chosen(ROWS, "condtion", NAMES, wide=False)


def test_every_report_says_what_it_is() -> None:
    """`cotrace report list`."""
    assert [name for name in report_names() if len(described(name)) < 20] == []


def test_every_report_is_listed_once_with_what_it_needs() -> None:
    """`cotrace report list` has five groups, and says where each needed thing comes from. Views of a family list its reports themselves."""
    listed = [name for reports in grouped().values() for name in reports]
    assert (sorted(listed), len(GROUPS)) == (sorted(report_names()), 5)
    own = {spec.report[0] for spec in VIEWS if spec.report and spec.listed}
    assert [name for name in listed if (name in own) == any(name in reports for reports in GROUPS.values())] == []
    needs = {one.needs for reports in grouped().values() for one in reports.values()} - {""}
    assert [text for text in needs if not any(word in text for word in SOURCES)] == []


def test_colours_wanted_by_the_environment_make_no_terminal_of_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As hosted workflows set it: every row is a line all the same, and no sentence is folded."""
    for name, value in {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    emit(ROWS, "table")
    tell("word " * 30)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 2 + ROWS.height + 1  # heading, rule, rows, sentence
    assert "\x1b" not in "".join(out)


def test_a_pipe_gets_a_screen_of_rows_or_all_that_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """`cotrace report judges | less` had 378 rows of 24 columns; an interval has columns of its own there."""
    rows = pl.DataFrame({"team": [f"t{number}" for number in range(100)], "score": 0.5, "score_low": 0.4, "score_high": 0.6, "more": 1})
    columns = chosen(rows, None, ["team", "score"], wide=False)
    assert columns == ["team", "score", "score_low", "score_high"]
    assert chosen(rows, None, ["team", "score"], wide=True) == rows.columns
    for most, printed in ((SCREEN, 40), (None, 100), (60, 60)):
        assert emit(rows, "table", columns=columns, most=most) == printed
        assert len(set(capsys.readouterr().out.splitlines())) == printed + 2
    assert emit(rows, "csv", columns=columns, most=SCREEN) == 100
