"""Writes the figures of docs/dev/engine_judge.md: the engine judge by reader, voice and question, and the effect of a reader's errors.

    python -m research engine_figures [--voices FILE...]

Plays games with the scripted players' own words and with the voices of each file (author -> symbols, as in
games/craft/players/wording.yaml; a pilcrow in a wording is a line break), has them read and judged the way a user's logs are, and holds the
verdicts against the players' plans. The part of errors plays a model of known quality (tests/servers/simulated_reader.py) behind a real
server.
"""

import argparse
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import yaml

from analytics.readers import ALL, readers_report
from games.craft.players import speech
from games.craft.players import speech as grammar
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from judges.claims.job import read_texts
from judges.claims.texts import ReadingRequest
from judges.evidence.transcript import PLANTED, RULES
from providers.provider import ModelSettings
from research.engine import ENOUGH, LOW, TEAMS, judged_store, share
from research.engine_score import Judged, QuestionScore, score_decisions, total
from schemas.store.store import Store
from tests.servers.simulated_reader import SimulatedReader, simulated_reader

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "docs" / "dev" / "engine_judge.md"
CHART = ROOT / "docs" / "dev" / "engine_reading.svg"
BORDERS = ("<!-- Figures: made by `python -m research engine_figures`. Do not edit. -->", "<!-- End of the figures. -->")
ERRORS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
_LEFT, _TOP, _WIDTH, _HEIGHT = 56, 20, 300, 220
_COLORS = {"model": "#b8432f", "both": "#2f6db8"}
_PANELS = ("precision", "coverage")
_LINE_BREAK = re.compile(r"[ \t]*¶\s*")


class Scores(NamedTuple):
    """By question, and all."""

    questions: Mapping[str, QuestionScore]
    all: QuestionScore


def main(arguments: Sequence[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m research engine_figures", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--voices", type=Path, nargs="*", default=[], metavar="FILE", help="wordings by author, as YAML")
    options = parser.parse_args(arguments)
    os.environ.setdefault("OPENAI_API_KEY", "none")
    parts = [own_games(), *(voices(path) for path in options.voices), errors()]
    text = DOC.read_text("utf-8")
    before, _, rest = text.partition(BORDERS[0])
    after = rest.partition(BORDERS[1])[2]
    figures = "\n".join(parts)
    DOC.write_text(f"{before}{BORDERS[0]}\n\n{figures}\n{BORDERS[1]}{after}", "utf-8")
    return 0


def own_games() -> str:
    """The scripted players in their own words: how good the proving is by itself, and with the rules' reading."""
    with games(None, structures=5, turns=12) as store:
        found = {reader: scored(judged_store(store, reader)) for reader in (PLANTED, RULES)}
    return "### Own games, own words\n\n" + _by_question(found)


def voices(path: Path) -> str:
    """Other authors' words: one row a voice and reader, then one a question."""
    rows: dict[str, list[Judged]] = {PLANTED: [], RULES: []}
    lines = ["| voice | reader | labelled | coverage | precision | questions below 0.95 |", "|---|---|---|---|---|---|"]
    for author, rules in yaml.safe_load(path.read_text("utf-8")).items():
        with games(rules, structures=2, turns=12) as store:
            for reader in rows:
                own = list(judged_store(store, reader))
                rows[reader] += own
                lines.append(_voice_row(author, reader, scored(own)))
    lines += [_voice_row("**all**", reader, scored(every)) for reader, every in rows.items()]
    by_question = _by_question({reader: scored(every) for reader, every in rows.items()})
    return f"### Voices: {path.stem}\n\n" + "\n".join(lines) + f"\n\n{by_question}"


def errors() -> str:
    """A model that errs at a known rate, alone and with the rules."""
    header = (
        "| claims mistaken and left out, each | claims: precision | recall | reader | verdicts: coverage | precision | lowest question |"
    )
    lines, points = [header, "|---" * 7 + "|"], []
    with games(None, structures=3, turns=10) as store:
        for rate in ERRORS:
            name = f"openai/errs-{round(100 * rate):02d}"
            with simulated_reader(SimulatedReader(store=store.path, mistakes=rate, misses=rate)) as url:
                read_texts(ReadingRequest(settings=ModelSettings(model=name, base_url=url)), store)
            read = _whole_requests(store, f"llm-only:{name}")
            for kind, reader in (("model", f"llm-only:{name}"), ("both", f"llm:{name}")):
                found = scored(judged_store(store, reader))
                lowest = min((one.precision or 0 for one in found.questions.values() if one.decided >= ENOUGH), default=None)
                cells = (f"{rate:.2f}", *map(share, read), kind, share(found.all.coverage), share(found.all.precision), share(lowest))
                lines.append(f"| {' | '.join(cells)} |")
                points.append(Point(kind, read[0] or 0, found.all.coverage or 0, found.all.precision or 0))
    CHART.write_text(chart(points), "utf-8")
    return f"### What a reader's errors do\n\n![Verdicts against reading]({CHART.name})\n\n" + "\n".join(lines) + "\n"


class games:  # noqa: N801 - read as a function: `with games(...) as store`
    """A store of games in some author's words, for as long as the block lasts."""

    def __init__(self, rules: Mapping[str, Sequence[str]] | None, *, structures: int, turns: int) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._rules, self._size = rules, (structures, turns)

    def __enter__(self) -> Store:
        path = Path(self._folder.name)
        structures, turns = self._size
        players = [*(f"directors=script:{team}" for team in TEAMS), "builder=script:sloppy"]
        with mock.patch.object(speech, "wording", return_value=_words(self._rules or {})):
            play("craft", path / "logs", players=players, games=structures, seeds=[11], turns=turns)
        store = Store(path / "games.duckdb")
        ingest_paths([path / "logs"], store)
        return store

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


class _Author(grammar.Grammar):
    """Words whose line breaks are marked."""

    def sentence(self, *args: Any, **kwargs: Any) -> str:
        text = _LINE_BREAK.sub("\n", super().sentence(*args, **kwargs))
        return re.sub(r"\n+", "\n", text).strip()


def _words(rules: Mapping[str, Sequence[str]]) -> grammar.Grammar:
    own = yaml.safe_load(Path(grammar.__file__).with_name("wording.yaml").read_text("utf-8"))
    return _Author(own | dict(rules))


def scored(rows: Iterator[Judged] | Sequence[Judged]) -> Scores:
    """Count decisions against labels."""
    questions = score_decisions(rows)
    return Scores(questions, total(questions))


def _whole_requests(store: Store, reader: str) -> tuple[float | None, float | None]:
    rows = readers_report(store).to_dicts()
    row = next(r for r in rows if (r["reader"], r["author"], r["kind"], r["field"]) == (reader, ALL, "request", "(whole)"))
    return row["precision"], row["recall"]


def _by_question(found: Mapping[str, Scores]) -> str:
    heads = " | ".join(f"{reader}: coverage | precision" for reader in found)
    lines = [f"| question | yes | no | {heads} |", "|---" * (3 + 2 * len(found)) + "|"]
    one = next(iter(found.values()))
    for name in (*one.questions, "all"):
        scores = [scores.all if name == "all" else scores.questions[name] for scores in found.values()]
        shares = [share(value) for score in scores for value in (score.coverage, score.precision)]
        lines.append(f"| {name} | {scores[0].labelled_yes} | {scores[0].labelled_no} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def _voice_row(author: str, reader: str, scores: Scores) -> str:
    low = [one.question for one in scores.questions.values() if one.decided >= ENOUGH and (one.precision or 0) < LOW]
    whole = scores.all
    return f"| {author} | {reader} | {whole.labelled} | {share(whole.coverage)} | {share(whole.precision)} | {', '.join(low)} |"


# -- the chart: how good verdicts are against how good the reading is, as SVG -------------------------------


class Point(NamedTuple):
    """What came of one reader."""

    kind: str
    reading: float
    """Share of the reader's requests that are right in every field, 0 to 1."""
    coverage: float
    precision: float


def chart(points: Sequence[Point]) -> str:
    """Two panels side by side: precision and coverage of verdicts, by the precision of whole claims."""
    least = min(point.reading for point in points)
    body = "\n".join(line for number, name in enumerate(_PANELS) for line in _panel(points, name, least, number * (_WIDTH + 80)))
    width, height = 2 * _WIDTH + 150, _HEIGHT + 80
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


def _panel(points: Sequence[Point], name: str, least: float, shift: int) -> Iterator[str]:
    low = min(0.5, *(getattr(point, name) for point in points))
    left, bottom = _LEFT + shift, _TOP + _HEIGHT
    yield f'<path d="M{left} {_TOP}V{bottom}H{left + _WIDTH}" fill="none" stroke="#444"/>'
    for step in range(6):
        share = low + (1 - low) * step / 5
        y = bottom - _HEIGHT * step / 5
        yield f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{share:.2f}</text>'
        yield f'<path d="M{left} {y:.0f}h{_WIDTH}" stroke="#ddd"/>'
        x = left + _WIDTH * step / 5
        yield f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{least + (1 - least) * step / 5:.2f}</text>'
    yield f'<text x="{left + _WIDTH / 2}" y="{bottom + 36}" text-anchor="middle">requests read right in every field (precision)</text>'
    yield f'<text x="{left}" y="{_TOP - 7}">{name} of verdicts</text>'
    for place, (kind, color) in enumerate(_COLORS.items()):
        own = sorted((p.reading, getattr(p, name)) for p in points if p.kind == kind)
        spots = [(left + _WIDTH * (x - least) / (1 - least or 1), bottom - _HEIGHT * (y - low) / (1 - low or 1)) for x, y in own]
        yield f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in spots)}" fill="none" stroke="{color}" stroke-width="2"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in spots)
        words = {"model": "the model alone", "both": "the model and the rules"}[kind]
        yield f'<text x="{left + 165}" y="{bottom - 24 + 14 * place}" fill="{color}">{words}</text>'
