"""Prints how well the engine judge does, as Markdown tables for the docs.

    python -m research engine --games FOLDER... --voices FILE... --utterances FOLDER --messages FILE...

`--games`: folders of CRAFT logs; published logs have a `labels.csv` beside them, cotrace's own logs bring their labels along. One table
for each folder: question, labelled rows, coverage, precision. `--voices`: files of wordings (author -> symbols, as in
games/craft/players/wording.yaml) with which the scripted players speak: one row an author, one a question. `--utterances`: a folder with
`utterances.jsonl` and `claims.jsonl`: precision and recall of each field of the first instruction. `--messages`: files of one JSON object a
line, as those two joined, with the name of an `author`: one row an author. Everything goes the way a user's logs go: ingest, store, checks.
"""

import argparse
import csv
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import yaml

from analytics.statistics.intervals import share_interval
from games.craft.players import speech
from games.craft.players import speech as grammar
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from judges.craft.checks import CHECKS
from judges.craft.language import claims_of
from judges.evidence.transcript import RULES, Transcript, load, reader_named
from research.engine_score import ANSWERS, Judged, QuestionScore, score_decisions, total
from schemas.store.store import Store

Label = tuple[str, int, str | None, str, str]
"""Episode, turn, director (None: the group), question, answer."""

TEAMS = ("clear", "vague", "over_remover", "redundant+conflicting+mixed")
ENOUGH, LOW = 20, 0.95
"""Decisions of a question below which its precision says nothing, and the precision below which it is named."""
_GROUP = "GROUP"
FIELDS = ("verb", "color", "size", "cells", "layer")
ClaimRecord = Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m research engine", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=Path, nargs="*", default=[], metavar="FOLDER", help="folders of labelled CRAFT logs")
    parser.add_argument("--voices", type=Path, nargs="*", default=[], metavar="FILE", help="wordings by author, as YAML")
    parser.add_argument("--utterances", type=Path, metavar="FOLDER", help="folder with utterances.jsonl and claims.jsonl")
    parser.add_argument("--messages", type=Path, nargs="*", default=[], metavar="FILE", help="messages with author and claims, one a line")
    parser.add_argument("--reader", default=RULES, help="rules, or planted for what scripted players know they said")
    parser.add_argument("--wrong", action="store_true", help="list decisions that differ from the label, too")
    options = parser.parse_args(arguments)
    for folder in options.games:
        judged = list(decisions(folder, options.reader))
        print(f"### {folder.name}\n\n{games_table(score_decisions(row for row, _ in judged))}\n")
        if options.wrong:
            print("\n".join(f"- {where}" for row, where in judged if _is_wrong(row)) + "\n")
    for path in options.voices:
        voices = {name: list(spoken(rules, reader=options.reader)) for name, rules in yaml.safe_load(path.read_text("utf-8")).items()}
        every = games_table(score_decisions(row for found in voices.values() for row, _ in found))
        print(f"### {path.stem}\n\n{voices_table(voices)}\n\n{every}\n")
        if options.wrong:
            print("\n".join(f"- {name}: {where}" for name, found in voices.items() for row, where in found if _is_wrong(row)) + "\n")
    if options.utterances:
        print(f"### {options.utterances.name}\n\n{claims_table(options.utterances)}")
    for path in options.messages:
        print(f"### {path.stem}\n\n{authors_table(path)}\n")
    return 0


def decisions(folder: Path, reader: str = RULES) -> Iterator[tuple[Judged, str]]:
    """Ingest a folder into a store of its own and decide every labelled question; gives each with its place and reason."""
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "measure.duckdb")
        ingest_paths([folder], store)
        labels = _labels(folder, store)
        for game in load(store, sorted({label[0] for label in labels}), reader_named(reader)):
            yield from _decided(game, [label for label in labels if label[0] == game.episode_id])


def judged_store(store: Store, reader: str = RULES) -> Iterator[Judged]:
    """Decide every question that scripted players have labelled in a store."""
    labels = _planted_labels(store)
    for game in load(store, sorted({label[0] for label in labels}), reader_named(reader)):
        yield from (row for row, _ in _decided(game, [label for label in labels if label[0] == game.episode_id]))


def spoken(rules: Mapping[str, list[str]], structures: int = 2, reader: str = RULES) -> Iterator[tuple[Judged, str]]:
    """Let the scripted players speak with an author's wording, and decide every labelled question of the games."""
    own = yaml.safe_load(Path(grammar.__file__).with_name("wording.yaml").read_text("utf-8"))
    words = grammar.Grammar(own | dict(rules))
    with tempfile.TemporaryDirectory() as scratch, mock.patch.object(speech, "wording", return_value=words):
        players = [*(f"directors=script:{team}" for team in TEAMS), "builder=script:sloppy"]
        play("craft", Path(scratch), players=players, games=structures, seeds=[5], turns=10)
        yield from decisions(Path(scratch), reader)


def voices_table(voices: Mapping[str, list[tuple[Judged, str]]]) -> str:
    """One row an author: coverage, precision, and the questions of lower precision than 0.95 that were decided often enough to tell."""
    rows = ["| voice | labelled | coverage | precision | questions below 0.95 |", "|---|---|---|---|---|"]
    for name, found in voices.items():
        scores = score_decisions(row for row, _ in found)
        whole = total(scores)
        low = [score.question for score in scores.values() if score.decided >= ENOUGH and (score.precision or 0) < LOW]
        rows.append(f"| {name} | {whole.labelled} | {share(whole.coverage)} | {share(whole.precision)} | {', '.join(low)} |")
    return "\n".join(rows)


def games_table(scores: Mapping[str, QuestionScore]) -> str:
    """One row a question: how its labels are spread, how many were decided, how many of those rightly."""
    rows = ["| question | yes | no | N/A | decided | decided no | coverage | precision |", "|---|---|---|---|---|---|---|---|"]
    for score in (*scores.values(), total(scores)):
        counts = (score.labelled_yes, score.labelled_no, score.labelled_na, score.decided, score.decided_no)
        cells = (score.question, *map(str, counts), share(score.coverage), share(score.precision))
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def claims_table(folder: Path) -> str:
    """One row a field of the first instruction, over the annotations that are not ambiguous; then all claims; then one row an author."""
    texts = {record["id"]: record for record in _lines(folder / "utterances.jsonl")}
    annotated = [record for record in _lines(folder / "claims.jsonl") if not record["ambiguous"]]
    pairs = [(claims_of(texts[record["id"]])["claims"], record["claims"]) for record in annotated]
    rows = ["| field | given | annotated | precision | recall |", "|---|---|---|---|---|"]
    for name, score in score_first(pairs).items():
        rows.append(f"| {name} | {score.given} | {score.annotated} | {share(score.precision)} | {share(score.recall)} |")
    every = score_all(pairs)
    rows.append(f"| whole claims | {every.given} | {every.annotated} | {share(every.precision)} | {share(every.recall)} |")
    told = [(texts[record["id"]], claims_of(texts[record["id"]])["claims"], record["claims"]) for record in annotated]
    return "\n".join([*rows, "", *_by_model(told)])


def _by_model(told: list[tuple[Any, Any, Any]]) -> Iterator[str]:
    """One row a model that wrote, then all: fields of the first instruction, with 95 % intervals over games."""
    yield "| author | messages | games | precision | recall |"
    yield "|---|---|---|---|---|"
    for author in (*sorted({text["model"] for text, _, _ in told}), "all"):
        games: dict[str, list[tuple[Any, Any]]] = {}
        for text, given, annotated in told:
            if author in (text["model"], "all"):
                games.setdefault(f"{text['model']} {text['structure_id']}", []).append((given, annotated))
        counts = [[sum(getattr(one, name) for one in score_first(pairs).values()) for name in _COUNTS] for pairs in games.values()]
        right, given, annotated = np.array(counts, float).T
        cells = (str(sum(map(len, games.values()))), str(len(games)), _with_interval(right, given), _with_interval(right, annotated))
        yield f"| {author} | {' | '.join(cells)} |"


_COUNTS = ("right", "given", "annotated")


def _with_interval(right: Any, of: Any) -> str:
    some = of > 0
    if not some.any():
        return ""
    value = f"{right.sum() / of.sum():.3f}"
    if some.sum() == 1:
        return value
    ends = share_interval(right[some], of[some])
    return f"{value} ({ends.low:.3f} to {ends.high:.3f})"


def authors_table(path: Path) -> str:
    """One row an author, then all: precision and recall of the fields, and the texts without a request from which one was read."""
    pairs = [(record["author"], claims_of(record)["claims"], record["claims"]) for record in _lines(path)]
    rows = [f"| author | messages | {' | '.join(FIELDS)} | asked in vain |", "|---" * (len(FIELDS) + 3) + "|"]
    for author in (*sorted({author for author, _, _ in pairs}), "all"):
        own = [(given, annotated) for name, given, annotated in pairs if author in (name, "all")]
        scores = score_first(own)
        silent = [given for given, annotated in own if not any(claim["first"] for claim in annotated)]
        vain = sum(any(claim["first"] for claim in given) for given in silent)
        cells = [f"{share(scores[name].precision)} / {share(scores[name].recall)}" for name in FIELDS]
        rows.append(f"| {author} | {len(own)} | {' | '.join(cells)} | {vain} of {len(silent)} |")
    return "\n".join(rows)


def _decided(game: Transcript, labels: list[Label]) -> Iterator[tuple[Judged, str]]:
    for _, turn, director, question, truth in labels:
        decision = CHECKS[f"craft.{question}"](game, turn, director)
        where = f"{game.task_id} turn {turn} {director or 'group'} {question}: label {truth}, engine {decision.answer}: {decision.reason}"
        yield Judged(question, truth, decision.answer), where


def _labels(folder: Path, store: Store) -> list[Label]:
    path = folder / "labels.csv"
    return _published_labels(path, store) if path.exists() else _planted_labels(store)


def _published_labels(path: Path, store: Store) -> list[Label]:
    with store.reading() as connection:
        episodes = dict(connection.execute("SELECT task_id, episode_id FROM episodes").fetchall())
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return [
        (
            episodes[row["structure_id"]],
            int(row["turn"]),
            None if row["director"] == _GROUP else row["director"],
            row["question"],
            ANSWERS[row["truth"]],
        )
        for row in rows
    ]


def _planted_labels(store: Store) -> list[Label]:
    query = "SELECT episode_id, turn, agent, question, answer FROM labels WHERE source = 'planted' ORDER BY ALL"
    with store.reading() as connection:
        rows = connection.execute(query).fetchall()
    return [(episode, turn, agent, question, ANSWERS[answer]) for episode, turn, agent, question, answer in rows]


def _is_wrong(row: Judged) -> bool:
    counts = row.truth != "na" or row.question == "PS6"
    return counts and row.answer not in (None, row.truth)


def share(value: float | None) -> str:
    """Three digits; empty for none."""
    return "" if value is None else f"{value:.3f}"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# -- predicted against annotated claims ---------------------------------------------------------------------


@dataclass(frozen=True)
class FieldScore:
    """Counts of one field and the two rates made of them."""

    right: int
    """Fields that were given and equal the annotation."""

    given: int
    """Fields that were given (not null)."""

    annotated: int
    """Annotated fields (not null)."""

    @property
    def precision(self) -> float | None:
        """Share of the given fields that are right, 0 to 1; None if none was given."""
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        """Share of the annotated fields that were given rightly, 0 to 1; None if none was annotated."""
        return self.right / self.annotated if self.annotated else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 0 to 1; None without anything to count."""
        return 2 * self.right / (self.given + self.annotated) if self.given + self.annotated else None


def score_first(pairs: Iterable[tuple[Sequence[ClaimRecord], Sequence[ClaimRecord]]]) -> dict[str, FieldScore]:
    """Score the first instruction of each text, field by field; a pair is (predicted claims, annotated claims)."""
    counts = {name: [0, 0, 0] for name in FIELDS}
    for predicted, annotated in pairs:
        ours, theirs = _first(predicted), _first(annotated)
        for name in FIELDS:
            given, expected = _value(ours, name), _value(theirs, name)
            counts[name][0] += given is not None and given == expected
            counts[name][1] += given is not None
            counts[name][2] += expected is not None
    return {name: FieldScore(*numbers) for name, numbers in counts.items()}


def score_all(pairs: Iterable[tuple[Sequence[ClaimRecord], Sequence[ClaimRecord]]]) -> FieldScore:
    """Score whole claims: a predicted claim is right if all five fields equal those of an annotated claim not used yet."""
    right = given = expected = 0
    for predicted, annotated in pairs:
        left = [_key(claim) for claim in annotated]
        expected += len(left)
        given += len(predicted)
        for claim in predicted:
            if _key(claim) in left:
                left.remove(_key(claim))
                right += 1
    return FieldScore(right, given, expected)


def _first(claims: Sequence[ClaimRecord]) -> ClaimRecord | None:
    return next((claim for claim in claims if claim.get("first")), None)


def _value(claim: ClaimRecord | None, name: str) -> object:
    value = claim.get(name) if claim is not None else None
    return tuple(sorted(value)) if name == "cells" and value else value


def _key(claim: ClaimRecord) -> tuple[object, ...]:
    return tuple(_value(claim, name) for name in FIELDS)
