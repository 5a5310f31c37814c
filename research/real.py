"""How far the engine judge and attribution of CRAFT are right on messages that language models wrote.

Four keys, none made by cotrace, all on published or recorded games that lie beside the project (`shared/data/craft`):

* *verdicts*: two blind raters answered the rubrics' questions about turns of published games. A verdict counts as right if it is the
  answer that both gave; turns on which they differ count in no column. Coverage is the share of those questions that the engine answers.
  They answered version 1 of the rubrics, so the engine is asked that version.
* *attribution*: a strong model's readings of the messages of games in which a language model was every player. A fault of a director
  is false if that reading shows that the message had what the fault says it lacked, or that it asked for something else; it is right
  if the reading shows the fault; it cannot be checked if the reading is missing or left a part of the message open.
* *attribution, published games*: one rater, a language model, was shown each fault of a director with its evidence, the message, the
  board and the director's target, and said whether the fault is real (`research/rated_faults.csv`). What it left open, or was not shown,
  cannot be checked.
* *attribution, single turns*: blind annotations of messages of 14 models, and a blind rater (`research/real_turns.py`).

Three readers are compared: the rules, a strong model alone, and rules and model together (what `--reader llm:...` gives). The model's
readings were recorded once (`tests/judges/craft/real_readings.jsonl`): it saw the prompts of `cotrace claims --record`, and neither boards
after a move nor targets, ratings or other texts.

Intervals are 95 % Wilson intervals over answers; answers about one game are not independent, so true intervals are wider.
"""

import csv
import hashlib
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
from judges.claims.extraction import form_of, messages_for, read_reply, rows_of
from judges.claims.job import filled_form
from judges.claims.reading import Read
from judges.claims.texts import put as put_claims
from judges.claims.texts import texts
from judges.evidence.frame import Frame
from judges.evidence.transcript import BY_RULES, Reader, reader_named
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from research.pages import put
from research.real_turns import holds, is_found, take_annotations, write_turns
from schemas.records import Claim
from schemas.store.store import Store

DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "craft"
RECORDED: Final = Path(__file__).resolve().parents[1] / "tests" / "judges" / "craft" / "real_readings.jsonl"
READERS: Final[Mapping[str, Reader]] = {
    "rules": BY_RULES,
    "model": reader_named("llm-only:recorded/strong"),
    "both": reader_named("llm:recorded/strong"),
}
FAULTS_RATED: Final = Path(__file__).with_name("rated_faults.csv")
TURNS_RATED: Final = FAULTS_RATED.with_name("rated_turns.csv")
_RUBRICS: Final = ("spatial_grounding", "mind_modeling", "pragmatic_sufficiency")
_ASKED: Final = "version_1"
"""Variant of the rubrics that the raters answered."""

_TEXT: Final = re.compile(r"\[BEGIN text \w+\]\nIt says:\n(.*)\n\[END text", re.DOTALL)
_FRAME: Final = re.compile(r"(?:a public message|private reasoning) of director D\d")
_BOARD: Final = re.compile(r"^The board before this turn.*", re.MULTILINE)
_PUBLIC: Final = "a public message of director "
_LOW: Final = 0.93
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


# -- recorded readings --------------------------------------------------------------------------------------


def reading_key(asked: str) -> tuple[str, str]:
    """What a reading is found by, and the text that was read.

    Args:
        asked: what a model was shown: the speaker, the board where the text may speak of it, and the text.
    """
    kind, quoted, board = _FRAME.search(asked), _TEXT.search(asked), _BOARD.search(asked)
    if kind is None or quoted is None:
        raise ValueError(f"no text of a director in {asked[:80]!r}")
    text = "\n".join(line.removeprefix("|").removeprefix(" ") for line in quoted[1].split("\n"))
    shown = "\0".join((kind[0], _plain(text), "" if board is None else board[0]))
    return hashlib.blake2b(shown.encode(), digest_size=9).hexdigest(), text


def recorded(path: Path) -> Mapping[str, Any]:
    """Recorded readings by key: of the present form (words as offsets into the text), or of the one before (with what was shown)."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["text"] if "text" in line else reading_key(line["user"])[0]: line.get("reading", line) for line in lines}


def take_recorded(store: Store, readings: Mapping[str, Any], reader: str = "llm:recorded/strong") -> int:
    """Store recorded readings as a model's; gives the number of texts that they read."""
    rows: list[Claim] = []
    read = 0
    for text in texts(store):
        frame = text.family.frame(text.game, text.turn, text.message)
        key, said = reading_key(messages_for("", frame, text.message.text)[1]["content"])
        reading = readings.get(key) or readings.get(reading_key(messages_for("", Frame.own(_BOARD.sub("", frame)), said)[1]["content"])[0])
        if reading is not None:
            read += 1
            filled = filled_form(_with_words(reading, said), form_of(text.family.types, text.family.prompt["form"]))
            rows += rows_of(read_reply(filled, said, text.family.types), text.place, reader, key)
    put_claims(store, reader, rows)
    return read


def _with_words(value: Any, text: str) -> Any:
    """A reading with the words themselves where it has offsets."""
    if isinstance(value, list):
        return [_with_words(one, text) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: ("" if one is None else text[slice(*one)])
        if name in ("words", "condition") and not isinstance(one, str)
        else _with_words(one, text)
        for name, one in value.items()
    }


# -- verdicts -----------------------------------------------------------------------------------------------


def rated_verdicts(games: Path, ratings: Path, folder: Path, reader: Reader = BY_RULES, readings: Path = RECORDED) -> list[Rated]:
    """Judge logged games by the engine and lay its answers beside those of two raters.

    Args:
        games: folder of CRAFT logs.
        ratings: CSV with file (relative to `games`), turn, agent (empty: the group), rubric, question, rater_a, rater_b.
        folder: for a store.
        reader: who reads the texts.
        readings: what a model has read.
    """
    store = _store_of(games, folder / "verdicts.duckdb", reader, readings)
    for name in _RUBRICS:
        run(JudgeRequest(rubric=find(name).with_variant(_ASKED), reader=reader), store)
    rows = query(
        store,
        "SELECT path, turn, agent, question, answer FROM verdicts INNER JOIN episodes USING (episode_id) "
        "INNER JOIN sources USING (source_id) WHERE judge = $judge",
        {"judge": reader.judge},
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


def _store_of(games: Path, path: Path, reader: Reader, readings: Path) -> Store:
    """A store of games with the recorded readings; the same file serves all readers."""
    store = Store(path)
    if not path.exists():
        ingest_paths([games], store)
        ensure_installed(store)
    if reader.model is not None:
        take_recorded(store, recorded(readings))
    return store


def _verdict_lines(by_reader: Mapping[str, Sequence[Rated]]) -> Iterator[str]:
    heads = ("question", "both agree", *(f"{name}: {what}" for name in by_reader for what in ("coverage", "right", "precision")))
    names = sorted({one.question for rated in by_reader.values() for one in rated})
    yield from _aligned([heads, *(_verdict_row(name, by_reader) for name in names), _verdict_row("all", by_reader)])
    for reader, rated in by_reader.items():
        answered = [one for one in rated if one.engine is not None]
        right = sum(one.engine == one.both for one in answered)
        low = [name for name in names if _is_low([one for one in answered if one.question == name])]
        wrong = Counter((one.question, one.engine, one.both) for one in answered if one.engine != one.both)
        yield (
            f"{reader}: coverage {len(answered) / len(rated):.3f}, precision {' ('.join(_share(right, len(answered)))}); questions with "
            f"{_ENOUGH} or more answers and a precision below {_LOW}: {', '.join(low) or 'none'}; wrong: "
            f"{'; '.join(f'{q} {own} for {both} ({n})' for (q, own, both), n in wrong.most_common()) or 'none'}"
        )


def _is_low(answered: Sequence[Rated]) -> bool:
    return len(answered) >= _ENOUGH and sum(one.engine == one.both for one in answered) / len(answered) < _LOW


def _verdict_row(name: str, by_reader: Mapping[str, Sequence[Rated]]) -> tuple[str, ...]:
    cells: list[str] = []
    for rated in by_reader.values():
        of_question = [one for one in rated if name in (one.question, "all")]
        answered = [one for one in of_question if one.engine is not None]
        right = sum(one.engine == one.both for one in answered)
        cells += [f"{len(answered) / len(of_question):.2f}", f"{right} of {len(answered)}", _share(right, len(answered))[0]]
    return (name, str(len(of_question)), *cells)


# -- attribution --------------------------------------------------------------------------------------------


def readings_of(path: Path) -> Readings:
    """A strong model's readings of public messages, one JSON object a line: `user` is what it was shown, `reading` what it answered."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        shown, quoted = record["user"], _TEXT.search(record["user"])
        if _PUBLIC in shown and quoted is not None:
            text = "\n".join(one.removeprefix("|").removeprefix(" ") for one in quoted[1].split("\n"))
            director = shown.partition(_PUBLIC)[2][:2]
            found[director, _plain(text)] = read_reply(filled_form(record["reading"], form_of(TYPES)), text, TYPES)
    return found


def _plain(text: str) -> str:
    return " ".join(text.split())


def faults(games: Path, readings: Readings, folder: Path, reader: Reader = BY_RULES) -> tuple[list[Fault], Mapping[str, float]]:
    """Attribute logged games; gives the faults of directors, each held against the readings, and what was lost, by role or status."""
    store = _store_of(games, folder / "faults.duckdb", reader, RECORDED)
    attribute_games(store, reader=reader)
    sent: dict[tuple[str, int, str], list[str]] = {}
    for episode, turn, agent, text in query(
        store, "SELECT episode_id, turn, agent, text FROM utterances WHERE channel = 'public' ORDER BY ALL"
    ).rows():
        sent.setdefault((episode, turn, agent), []).append(text)
    found = [
        Fault(turn, agent, link, cost, evidence, fault_by(link, evidence, agent, sent.get((episode, turn, agent), ()), readings))
        for episode, _, turn, agent, link, cost, evidence in _of_directors(store)
    ]
    lost: Counter[str] = Counter()
    sql = "SELECT CASE WHEN status = 'answered' THEN coalesce(role, 'no agent') ELSE status END, sum(cost) FROM attributed_costs GROUP BY 1"
    lost.update(dict(query(store, sql).rows()))
    return found, lost


def rated_faults(games: Path, ratings: Path, folder: Path, reader: Reader = BY_RULES) -> list[Fault]:
    """Attribute published games; gives the faults of directors, each as a rater found it.

    Args:
        games: folder of CRAFT logs.
        ratings: CSV with file (relative to `games`), turn, agent, link, right (yes, no, unclear), reason.
        folder: for a store.
        reader: who reads the texts.
    """
    store = _store_of(games, folder / "rated_faults.duckdb", reader, RECORDED)
    attribute_games(store, reader=reader)
    with ratings.open(encoding="utf-8") as lines:
        rated = {(row["file"], int(row["turn"]), row["agent"], row["link"]): row["right"] for row in csv.DictReader(lines)}
    keys: Mapping[str | None, Key] = {"yes": "right", "no": "false"}
    return [
        Fault(turn, agent, link, cost, evidence, keys.get(rated.get((_below(path, games), turn, agent, link)), "not checkable"))
        for _, path, turn, agent, link, cost, evidence in _of_directors(store)
    ]


def annotated_faults(data: Path, folder: Path, ratings: Path) -> dict[str, list[Fault]]:
    """Attribute single turns of many models' games; gives the faults of directors by reader (`rules`, `annotations`).

    Those by rules are held against the annotations, those by annotations against a blind rater.

    Args:
        data: CRAFT's folder of the shared data.
        folder: for the turns and a store.
        ratings: CSV with turn, agent and found (failure points joined by `+`, `none` or `open`).
    """
    turns = folder / "turns"
    turns.mkdir()
    annotated = write_turns(data, turns)
    store = _store_of(turns, folder / "turns.duckdb", BY_RULES, RECORDED)
    attribute_games(store)
    by_rules = _of_directors(store)
    reader = reader_named("llm-only:annotated/by-hand")
    take_annotations(store, annotated, "llm:annotated/by-hand")
    attribute_games(store, reader=reader)
    with ratings.open(encoding="utf-8") as lines:
        found = {(row["turn"], row["agent"]): row["found"] for row in csv.DictReader(lines)}
    keys: Mapping[bool | None, Key] = {True: "right", False: "false", None: "not checkable"}
    return {
        "rules": [
            Fault(turn, agent, link, cost, evidence, keys[holds(link, evidence, annotated.get((Path(path).name, turn, agent)))])
            for _, path, turn, agent, link, cost, evidence in by_rules
        ],
        "annotations": [
            Fault(turn, agent, link, cost, evidence, keys[is_found(link, found.get((Path(path).stem, agent)))])
            for _, path, turn, agent, link, cost, evidence in _of_directors(store)
        ],
    }


def _below(path: str, folder: Path) -> str:
    return Path(path).resolve().relative_to(folder.resolve()).as_posix()


def _of_directors(store: Store) -> list[tuple[Any, ...]]:
    """Game, file, turn, agent, failure point, cost and evidence of each fault of a director."""
    return query(
        store,
        "SELECT episode_id, path, turn, agent, link, cost, evidence FROM attributions INNER JOIN episodes USING (episode_id) "
        "INNER JOIN sources USING (source_id) WHERE agent LIKE 'D%' ORDER BY ALL",
    ).rows()


def fault_by(link: str, evidence: str, director: str, texts: Iterable[str], readings: Readings) -> Key:
    """Hold a fault against the readings of the messages that its director sent in that turn."""
    if "says nothing" in evidence:
        return "right"  # the log has no message
    reads = [readings.get((director, _plain(text))) for text in texts]
    if not reads or None in reads:
        return "not checkable"
    asked = [told.claim for read in reads if read for told in read.claims if isinstance(told.claim, Request)]
    is_open = any(read.unread for read in reads if read)
    if link == "not_said":
        return "false" if asked else "not checkable" if is_open else "right"
    if link == "wrong_instruction":
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


def _fault_lines(found: Sequence[Fault]) -> Iterator[str]:
    heads = ("failure point", "faults of directors", "right", "false", "not checkable", "right of checkable", "95 % interval")
    rows = [_fault_row(link, [one for one in found if one.link == link]) for link in sorted({one.link for one in found})]
    yield from _aligned([heads, *rows, _fault_row("all", found)])
    yield from (f"False: turn {one.turn}, {one.agent}, {one.link}, cost {one.cost:.3f}" for one in sorted(found) if one.key == "false")


def _lost_line(lost: Mapping[str, float]) -> str:
    total = sum(lost.values())
    shares = (f"{who} {part / total:.0%}" for who, part in sorted(lost.items(), key=lambda pair: (-pair[1], pair[0])))
    return f"Lost in these games: {total:.3f} of progress; {', '.join(shares) if total else 'nothing'}."


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
    """Print all tables, each with its key, or write them into the page."""
    if not DATA.exists():
        raise SystemExit(f"{DATA} is missing: this measurement needs the published games and their ratings.")
    return put("real", lines(), arguments)


def lines() -> Iterator[str]:
    """All tables, line by line, each after its key."""
    with tempfile.TemporaryDirectory() as folder:
        ratings, keys = DATA / "real_verdicts" / "verdicts.csv", readings_of(DATA / "readings" / "readings.jsonl")
        rated = {name: rated_verdicts(DATA / "craft_results", ratings, Path(folder), reader) for name, reader in READERS.items()}
        found = {name: faults(DATA / "llm_games", keys, Path(folder), reader) for name, reader in READERS.items()}
        blamed = {name: rated_faults(DATA / "craft_results", FAULTS_RATED, Path(folder), reader) for name, reader in READERS.items()}
        single = annotated_faults(DATA, Path(folder), TURNS_RATED)
    yield f"Verdicts on messages of models. Key: the answer that both blind raters gave ({len(rated['rules'])} questions).\n"
    yield from _verdict_lines(rated)
    yield "\nFaults attributed to directors in games of a language model. Key: a strong model's readings of the messages."
    for name, (of_reader, lost) in found.items():
        yield f"\n{name}"
        yield from _fault_lines(of_reader)
        yield _lost_line(lost)
    yield "\nFaults attributed to directors in published games. Key: one rater who saw evidence, message, board and target."
    for name, faults_found in blamed.items():
        yield f"\n{name}"
        yield from _fault_lines(faults_found)
    yield "\nFaults attributed to directors in single turns of 14 models. Keys: blind annotations (rules), a blind rater (annotations)."
    for name, faults_found in single.items():
        yield f"\n{name}"
        yield from _fault_lines(faults_found)
