"""A reader of somebody's own: one bad row costs no other and has its place, and what was refused is tried again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingest.conversation.rows import Conversation, LoggedMessage, reading_of
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.text import loads
from tests.ingest.asked import ingested, written


@dataclass(frozen=True)
class Diary:
    """A reader as somebody writes it on the first day: no row is looked at twice."""

    text_key: str = "text"
    FORMAT: str = "diary"
    VERSION: int = 1
    PATH_PARTS: int = 0

    def sniff(self, head: bytes) -> bool:
        """By its first key."""
        return head.startswith(b'{"diary"')

    def read(self, data: bytes, place: Place) -> Reading:
        """A game a line."""
        reading = Reading()
        for number, line in enumerate(data.splitlines(), start=1):
            if line:
                reading.add(self.game(loads(line), place, number))
        return reading

    def game(self, row: dict[str, Any], place: Place, number: int) -> Reading:
        """One game."""
        said = [LoggedMessage(agent="ann", text=row["lines"][0][self.text_key])]
        return reading_of(Conversation(benchmark="diary", run="r", task=str(number), messages=said), place, number)


GOOD = {"diary": 1, "lines": [{"text": "Dear"}]}
BAD = [{"diary": 2, "lines": [{"word": "Oh"}]}, {"diary": 3, "lines": []}, {"diary": 4, "lines": 7}]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bad", BAD)
def test_a_row_on_which_a_reader_fails_costs_no_other(tmp_path: Path, bad: dict[str, Any]) -> None:
    """In the middle, twice, and at the end; each is named by its line."""
    path = written(tmp_path / "d.jsonl", GOOD, bad, GOOD, GOOD, bad)
    found = ingested(tmp_path, path, reader=Diary())
    assert found.rows("SELECT task_id FROM episodes ORDER BY 1") == [("1",), ("3",), ("4",)]
    assert sorted(reason.split(":")[0] for reason in found.refused) == ["line 2", "line 5"]


def test_a_first_row_that_is_bad_and_a_document_of_one_are_refused_with_what_failed(tmp_path: Path) -> None:
    """A missing key by its name."""
    found = ingested(tmp_path, written(tmp_path / "d.jsonl", BAD[0], GOOD), reader=Diary())
    assert found.rows("SELECT task_id FROM episodes") == [("2",)]
    assert ["the key 'text' is missing" in reason for reason in found.refused] == [True]
    (tmp_path / "one").mkdir()
    (reason,) = ingested(tmp_path / "one", written(tmp_path / "one" / "d.jsonl", BAD[0]), reader=Diary()).refused
    assert reason.startswith("line 1: this format's reader fails here (the key 'text' is missing)")


def test_games_that_a_reader_takes_one_by_one_are_guarded_by_it(tmp_path: Path) -> None:
    """`Reading.take`, for documents that are not of lines."""

    class Book(Diary):
        def read(self, data: bytes, place: Place) -> Reading:
            reading = Reading()
            for number, row in enumerate(loads(data)["games"]):
                reading.take(f"games[{number}]", partial(self.game, row, place, number))
            return reading

    path = tmp_path / "d.json"
    path.write_text(json.dumps({"diary": 1, "games": [GOOD, BAD[0], GOOD]}, indent=1))
    found = ingested(tmp_path, path, reader=Book())
    assert found.report.episodes == 2
    assert [reason.split(":")[0] for reason in found.refused] == ["games[1]"]


def test_what_was_refused_is_tried_again_with_the_same_bytes_and_the_same_version(tmp_path: Path) -> None:
    """A reader that was mended reads it; one that was not leaves all as it is."""
    path = written(tmp_path / "d.jsonl", GOOD, {"diary": 2, "lines": [{"text": "Oh", "word": "Oh"}]}, BAD[0])
    first = ingested(tmp_path, path, reader=Diary())
    again = ingested(tmp_path, path, reader=Diary())
    assert (first.report.episodes, again.report.unchanged, again.refused) == (2, 1, first.refused)

    class Mended(Diary):
        def game(self, row: dict[str, Any], place: Place, number: int) -> Reading:
            return super().game({"lines": [{"text": next(iter(row["lines"][0].values()))}]}, place, number)

    mended = ingested(tmp_path, path, reader=Mended())
    assert (mended.report.replaced, mended.report.episodes, mended.refused) == (1, 3, [])
    assert ingested(tmp_path, path, reader=Mended()).report.unchanged == 1
