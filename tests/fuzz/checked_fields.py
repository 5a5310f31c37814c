"""Writes docs/dev/checked_fields.md: every field of every log is changed in turn, and what nothing shows is listed with the reason.

`python -m tests.fuzz.checked_fields` prints the page, `--write` writes it. Exit code 1: a change that nothing shows has no reason in
`unseen_changes.yaml`, or a log is damaged by it in a way that cotrace calls its own fault.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from tests.fuzz.changes import changes_of
from tests.fuzz.documents import read_document
from tests.fuzz.ingested import OUTCOMES, Outcome, outcomes_of
from tests.fuzz.specimens import Specimen, all_specimens
from tests.places import DOCS

_PAGE: Final = DOCS / "dev" / "checked_fields.md"
_OCCURRENCES: Final = 3
_PARTS: Final = ("log", "field", "change")
_SHOWN: Final[tuple[Outcome, ...]] = ("rejected", "difference")
_INTRODUCTION: Final = f"""# What a changed log shows

<!-- Made by `python -m tests.fuzz.checked_fields --write`. Do not edit. -->

One sound log of every format and family, own and published, is changed in one value at a time: every field, in {_OCCURRENCES} of its
places (the first, the last, one between), to another value that stands elsewhere in the log, to one that cannot be (a negative count, a
share above 1, a garbled text), or away. Each changed log is ingested into a store. What a row in `rejects` or `log_disagreements` shows is
counted; what nothing shows is listed, with the reason: nothing else in the log, and no rule of the game, says otherwise.

| becomes | meaning |
|---|---|
"""


class Seen(NamedTuple):
    """What became of one kind of change of one field, over its places."""

    field: str
    kind: str
    outcomes: Mapping[Outcome, int]

    @property
    def unseen(self) -> int:
        """In how many places nothing shows it."""
        return sum(number for outcome, number in self.outcomes.items() if outcome not in _SHOWN)


class Reason(NamedTuple):
    """Why changes cannot be shown."""

    log: re.Pattern[str]
    field: re.Pattern[str]
    change: re.Pattern[str]
    why: str

    def fits(self, log: str, seen: Seen) -> bool:
        """Whether it is about this change."""
        return all(pattern.fullmatch(text) for pattern, text in ((self.log, log), (self.field, seen.field), (self.change, seen.kind)))


def changed(specimen: Specimen, occurrences: int = _OCCURRENCES) -> list[Seen]:
    """Change every field of a log, and ingest."""
    document = read_document(specimen.data)
    changes = list(changes_of(document, occurrences))
    with tempfile.TemporaryDirectory() as folder:
        sound, *outcomes = outcomes_of(specimen, [document.to_bytes(), *(change.data for change in changes)], Path(folder))
    assert sound == "unread", f"{specimen.name} is not sound"
    counts: dict[tuple[str, str], Counter[Outcome]] = defaultdict(Counter)
    for change, outcome in zip(changes, outcomes, strict=True):
        counts[change.field, change.kind][outcome] += 1
    return [Seen(field, kind, dict(outcomes)) for (field, kind), outcomes in counts.items()]


def reason(log: str, seen: Seen) -> str | None:
    """Why nothing can show a change; None if nobody has said."""
    return next((known.why for known in _reasons() if known.fits(log, seen)), None)


def unexplained(log: str, found: Sequence[Seen]) -> list[str]:
    """Changes that nothing shows and no reason excuses."""
    return [f"{log}: {seen.field}: {seen.kind} ({dict(seen.outcomes)})" for seen in found if seen.unseen and reason(log, seen) is None]


def _reasons() -> list[Reason]:
    entries = yaml.safe_load(Path(__file__).with_name("unseen_changes.yaml").read_text(encoding="utf-8"))
    return [Reason(**{part: re.compile(entry.get(part, ".*")) for part in _PARTS}, why=str(entry["why"]).strip()) for entry in entries]


def _section(log: str, found: Sequence[Seen]) -> Iterator[str]:
    total: Counter[Outcome] = Counter()
    for seen in found:
        total.update(seen.outcomes)
    shown = sum(total[outcome] for outcome in _SHOWN)
    yield f"## {log}"
    yield ""
    counts = ", ".join(f"{number} {outcome}" for outcome in OUTCOMES if (number := total[outcome]))
    fields, share = len({seen.field for seen in found}), 100 * shown / total.total()
    yield f"{fields} fields, {total.total()} changes, {shown} shown ({share:.0f} %): {counts}."
    yield ""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for seen in found:
        if seen.unseen:
            places = "" if seen.unseen == sum(seen.outcomes.values()) else f" ({seen.unseen} of {sum(seen.outcomes.values())} places)"
            rows[seen.field, reason(log, seen) or "**no reason**"].append(f"{seen.kind}{places}")
    if rows:
        yield from ("| field | change that nothing shows | why |", "|---|---|---|")
        yield from (f"| `{field}` | {', '.join(kinds)} | {why} |" for (field, why), kinds in rows.items())
        yield ""


def main() -> int:
    """Print or write the page; 1 if something is unexplained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/dev/checked_fields.md")
    parser.add_argument("--only", default="", help="only logs whose name contains this")
    arguments = parser.parse_args()
    lines = [_INTRODUCTION.rstrip(), *(f"| {outcome} | {meaning} |" for outcome, meaning in OUTCOMES.items()), ""]
    faults: list[str] = []
    for specimen in all_specimens():
        if arguments.only in specimen.name:
            found = changed(specimen)
            lines += _section(specimen.name, found)
            faults += unexplained(specimen.name, found)
    text = "\n".join(lines).rstrip() + "\n"
    if arguments.write:
        _PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    for fault in faults:
        sys.stderr.write(f"nothing shows it, and unseen_changes.yaml does not say why: {fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
