"""How far the engine judge and attribution of CRAFT are right on messages that language models wrote.

Two keys, neither made by cotrace, both on published or recorded games that lie beside the project (`shared/data/craft`):

* *verdicts*: two blind raters answered the rubrics' questions about turns of published games. A verdict counts as right if it is the
  answer that both gave; turns on which they differ count in no column. Coverage is the share of those questions that the engine answers.
  They answered version 1 of the rubrics, so the engine is asked that version.
* *attribution*: a strong model's readings of the messages of games in which a language model was every player. A fault of a director
  is false if that reading shows that the message had what the fault says it lacked, or that it asked for something else; it is right
  if the reading shows the fault; it cannot be checked if the reading is missing or left a part of the message open.

Intervals are 95 % Wilson intervals over answers; answers about one game are not independent, so true intervals are wider.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from analytics.installation import ensure_installed
from analytics.query import query
from analytics.statistics.intervals import wilson
from games.craft.claims import TYPES, Request
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.claims.extraction import form_of, read_reply
from judges.claims.reading import Read
from judges.rubric_files.reading import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from research.pages import put
from schemas.store import Store

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "craft"
_RUBRICS: Final = ("spatial_grounding", "mind_modeling", "pragmatic_sufficiency")
_ASKED: Final = "version_1"
"""Variant of the rubrics that the raters answered."""

_TEXT: Final = re.compile(r"\[BEGIN text \w+\]\nIt says:\n(.*)\n\[END text", re.DOTALL)
_PUBLIC: Final = "a public message of director "
_ENOUGH: Final = 10
"""Answers of a question from which on its precision says something."""

Key = Literal["right", "false", "not checkable"]
Readings = Mapping[tuple[str, str], Read[Any]]
"""(director, text of a public message) -> how a strong model read it."""


class Rated(NamedTuple):
    """A question about a turn, with what both raters and the engine answered."""

    question: str
    both: str
    """The raters' common answer."""
    engine: str | None
    """None: undecided."""


class Fault(NamedTuple):
    """A fault that attribution put down to a director."""

    turn: int
    agent: str
    link: str
    cost: float
    evidence: str
    key: Key


# -- verdicts -----------------------------------------------------------------------------------------------


def rated_verdicts(games: Path, ratings: Path, folder: Path) -> list[Rated]:
    """Judge logged games by the engine and lay its answers beside those of two raters.

    Args:
        games: folder of CRAFT logs.
        ratings: CSV with file (relative to `games`), turn, agent (empty: the group), rubric, question, rater_a, rater_b.
        folder: for a store.
    """
    store = Store(folder / "verdicts.duckdb")
    ingest_paths([games], store)
    ensure_installed(store)
    for name in _RUBRICS:
        run(JudgeRequest(rubric=find(name).with_variant(_ASKED)), store)
    rows = query(
        store,
        "SELECT path, turn, agent, question, answer FROM verdicts INNER JOIN episodes USING (episode_id) "
        "INNER JOIN sources USING (source_id) WHERE judge = 'engine'",
    ).rows()
    given = {(str(Path(path).resolve()), turn, agent or "", question): answer for path, turn, agent, question, answer in rows}
    with ratings.open(encoding="utf-8") as lines:
        return [
            Rated(
                row["question"],
                row["rater_a"],
                given.get((str((games / row["file"]).resolve()), int(row["turn"]), row["agent"], row["question"])),
            )
            for row in csv.DictReader(lines)
            if row["rater_a"] == row["rater_b"]
        ]


def _verdict_lines(rated: Sequence[Rated]) -> Iterator[str]:
    heads = ("question", "both agree", "answered", "coverage", "right", "precision", "95 % interval")
    rows = [_verdict_row(name, [one for one in rated if one.question == name]) for name in sorted({one.question for one in rated})]
    yield from _aligned([heads, *rows, _verdict_row("all", rated)])
    low = [row for row in rows if int(row[2]) >= _ENOUGH and float(row[5]) < 0.9]
    yield f"Questions with {_ENOUGH} or more answers and a precision below .90: {', '.join(row[0] for row in low) or 'none'}."
    wrong = Counter((one.question, one.engine, one.both) for one in rated if one.engine not in (None, one.both))
    yield "Wrong: " + ("; ".join(f"{q} {own} for {both} ({n})" for (q, own, both), n in wrong.most_common()) or "none") + "."


def _verdict_row(name: str, rated: Sequence[Rated]) -> tuple[str, ...]:
    answered = [one for one in rated if one.engine is not None]
    right = sum(one.engine == one.both for one in answered)
    return (name, str(len(rated)), str(len(answered)), f"{len(answered) / len(rated):.2f}", str(right), *_share(right, len(answered)))


# -- attribution --------------------------------------------------------------------------------------------


def readings_of(path: Path) -> Readings:
    """A strong model's readings of public messages, one JSON object a line: `user` is what it was shown, `reading` what it answered."""
    form, found = form_of(TYPES), {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        shown, said = record["user"], _TEXT.search(record["user"])
        if _PUBLIC in shown and said is not None:
            text = "\n".join(one.removeprefix("|").removeprefix(" ") for one in said[1].split("\n"))
            director = shown.partition(_PUBLIC)[2][:2]
            found[director, _plain(text)] = read_reply(form.model_validate(record["reading"]), text, TYPES)
    return found


def _plain(text: str) -> str:
    return " ".join(text.split())


def faults(games: Path, readings: Readings, folder: Path) -> tuple[list[Fault], Mapping[str, float]]:
    """Attribute logged games; gives the faults of directors, each held against the readings, and what was lost, by role or status."""
    store = Store(folder / "faults.duckdb")
    ingest_paths([games], store)
    ensure_installed(store)
    attribute_games(store)
    said: dict[tuple[str, int, str], list[str]] = {}
    for episode, turn, agent, text in query(
        store, "SELECT episode_id, turn, agent, text FROM utterances WHERE channel = 'public' ORDER BY ALL"
    ).rows():
        said.setdefault((episode, turn, agent), []).append(text)
    rows = query(store, "SELECT episode_id, turn, agent, link, cost, evidence FROM attributions ORDER BY ALL").rows()
    found = [
        Fault(turn, agent, link, cost, evidence, fault_by(link, evidence, agent, said.get((episode, turn, agent), ()), readings))
        for episode, turn, agent, link, cost, evidence in rows
        if agent is not None and agent.startswith("D")
    ]
    lost: Counter[str] = Counter()
    sql = "SELECT CASE WHEN status = 'answered' THEN coalesce(role, 'no agent') ELSE status END, sum(cost) FROM attributed_costs GROUP BY 1"
    lost.update(dict(query(store, sql).rows()))
    return found, lost


def fault_by(link: str, evidence: str, director: str, texts: Iterable[str], readings: Readings) -> Key:
    """Hold a fault against the readings of the messages that its director sent in that turn."""
    if "says nothing" in evidence:
        return "right"  # the log has no message
    reads = [readings.get((director, _plain(text))) for text in texts]
    if not reads or None in reads:
        return "not checkable"
    asked = [told.claim for read in reads if read for told in read.told if isinstance(told.claim, Request)]
    is_open = any(read.unread for read in reads if read)
    if link == "not_said":
        return "false" if asked else "not checkable" if is_open else "right"
    if link == "said_wrong":
        return "right" if any(_request(str(request)) == _request(evidence) for request in asked) else "false"
    lacking = re.search(r": ([\w ]+) left open", evidence)
    names = lacking[1].split(" and ") if lacking else []
    if any(all(_has(request, name) for name in names) for request in asked):
        return "false"
    return "not checkable" if is_open else "right"


def _request(written: str) -> str:
    """Verb, block and cells of a request as evidence has them; the layer may be left out of either."""
    return re.split(r", (?:no )?layer", written)[0]


def _has(request: Request, name: str) -> bool:
    known = {"place": bool(request.cells), "colour": request.color is not None, "size": request.size is not None}
    return known.get(name, request.one_block)


def _fault_lines(found: Sequence[Fault], lost: Mapping[str, float]) -> Iterator[str]:
    heads = ("failure point", "faults of directors", "right", "false", "not checkable", "right of checkable", "95 % interval")
    rows = [_fault_row(link, [one for one in found if one.link == link]) for link in sorted({one.link for one in found})]
    yield from _aligned([heads, *rows, _fault_row("all", found)])
    yield from (f"False: turn {one.turn}, {one.agent}, {one.link}, cost {one.cost:.3f}" for one in found if one.key == "false")
    total = sum(lost.values())
    shares = (f"{who} {part / total:.0%}" for who, part in sorted(lost.items(), key=lambda pair: -pair[1]))
    yield f"Lost in these games: {total:.3f} of progress; {', '.join(shares) if total else 'nothing'}."


def _fault_row(name: str, found: Sequence[Fault]) -> tuple[str, ...]:
    keys = Counter(one.key for one in found)
    known = keys["right"] + keys["false"]
    counts = (len(found), keys["right"], keys["false"], keys["not checkable"])
    return (name, *map(str, counts), *_share(keys["right"], known))


# -- printing -----------------------------------------------------------------------------------------------


def _share(part: int, whole: int) -> tuple[str, str]:
    ends = wilson(part, whole)
    return ("-", "-") if ends is None else (f"{part / whole:.3f}", f"{ends.low:.2f} to {ends.high:.2f}")


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield from ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def main(arguments: Sequence[str]) -> int:
    """Print both tables, each with its key, or write them into the page."""
    if not DATA.exists():
        raise SystemExit(f"{DATA} is missing: this measurement needs the published games and their ratings.")
    return put("real", lines(), arguments)


def lines() -> Iterator[str]:
    """Both tables, line by line, each after its key."""
    with tempfile.TemporaryDirectory() as folder:
        rated = rated_verdicts(DATA / "craft_results", DATA / "real_verdicts" / "verdicts.csv", Path(folder))
        found, lost = faults(DATA / "llm_games", readings_of(DATA / "readings" / "readings.jsonl"), Path(folder))
    yield f"Verdicts on messages of models. Key: the answer that both blind raters gave ({len(rated)} questions).\n"
    yield from _verdict_lines(rated)
    yield "\nFaults attributed to directors in games of a language model. Key: a strong model's readings of the messages.\n"
    yield from _fault_lines(found, lost)
