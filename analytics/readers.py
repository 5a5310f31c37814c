"""How well readers of texts do: the report `readers`, and whether a new prompt reads better than the old one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from analytics.report_columns import framed
from analytics.statistics.intervals import Estimate, Floats, share_interval
from analytics.statistics.shifts import Shift, paired_shift
from judges.claims.readers import TEXT, Count
from schemas.common import wording
from schemas.store.store import Store

if TYPE_CHECKING:
    from judges.claims.texts import Text
    from judges.evidence.transcript import Reader

_SURE: Final = 0.05
_SEVERAL: Final = 2


class ReadingGain(NamedTuple):
    """Precision and recall of the fields of claims before and after, and the difference of the score that was climbed."""

    texts: int
    games: int
    precision: tuple[Estimate | None, Estimate | None]
    """Before and after; right of given."""
    recall: tuple[Estimate | None, Estimate | None]
    """Right of meant."""
    difference: Shift
    """Mean over texts of the score after minus before."""


def reading_gain(
    games: Sequence[str], before: Sequence[Sequence[Count]], after: Sequence[Sequence[Count]], score: Callable[[Iterable[Count]], float]
) -> ReadingGain:
    """Compare two readings of the same texts.

    Args:
        games: of each text.
        before: what the old prompt's reading of each text got right.
        after: the new prompt's.
        score: of one text's counts, 0 to 1.
    """
    names, places = np.unique(np.array(games), return_inverse=True)
    apart = np.array([score(new) - score(old) for old, new in zip(before, after, strict=True)])
    sums, sizes = _by_game(apart, places), _by_game(np.ones(len(games)), places)
    given, meant, right = zip(*(_sums(found, places) for found in (before, after)), strict=True)
    precision = (_share(right[0], given[0]), _share(right[1], given[1]))
    recall = (_share(right[0], meant[0]), _share(right[1], meant[1]))
    return ReadingGain(len(games), len(names), precision, recall, paired_shift(sums, sizes))


def _by_game(values: Any, places: Any) -> Floats:
    return np.bincount(places, weights=values).astype(float)


def _sums(found: Sequence[Sequence[Count]], places: Any) -> list[Floats]:
    """Values given, meant and right by game."""
    claims = [[one for one in text if one.kind != TEXT] for text in found]
    columns = ([sum(getattr(one, name) for one in text) for text in claims] for name in ("given", "meant", "right"))
    return [_by_game(column, places) for column in columns]


def _share(right: Floats, of: Floats) -> Estimate | None:
    some = of > 0
    if some.sum() < _SEVERAL:
        return None
    ends = share_interval(right[some], of[some])
    return Estimate(float(right.sum() / of.sum()), float(ends.low), float(ends.high))


def conclusion(found: ReadingGain, authors: Sequence[str]) -> str:
    """What follows, and no more: one sentence."""
    shift = found.difference
    interval = "" if shift.low is None or shift.high is None else f" ({shift.low:+.3f} to {shift.high:+.3f})"
    change = f"by {shift.difference:+.3f}{interval} on {found.texts} texts of {found.games} games by {', '.join(authors)}"
    if shift.p is not None and shift.p <= _SURE and shift.low is not None and shift.low > 0:
        return f"gain: the score rises {change}, authors that it was not made from"
    if shift.p is not None and shift.p <= _SURE and shift.high is not None and shift.high < 0:
        return f"worse: the score changes {change}; keep the prompt as it was"
    chance = "too few games for a test" if shift.p is None else wording.p_is(shift.p)
    return f"no gain shown: the score changes {change}, which may be chance ({chance}); keep the prompt as it was, or bring more games"


ALL: Final = "ALL"
"""Author of the rows that pool all."""

_KEY: Final = ("reader", "benchmark", "author", "kind", "field")


class _Scored(NamedTuple):
    """A count of one text."""

    reader: str
    benchmark: str
    author: str
    kind: str
    field: str
    game: str
    given: int
    meant: int
    right: int


def readers_report(store: Store) -> pl.DataFrame:
    """One row for each field of each kind of claim, by reader and author, on the texts whose authors say what they claim.

    These are the texts of scripted players, and of logs that bring claims along (`claims` of an utterance in cotrace's own log,
    docs/claims.md). `rules` read them now; of models the table `claims` counts (`cotrace claims --reader llm:...` has them
    read), and each model together with the rules (`both:llm:...`).

    Columns: `report_columns.csv`.

    Raises:
        StoreError: the store cannot be read.
    """
    schema = dict.fromkeys(_Scored._fields[:6], pl.String()) | dict.fromkeys(_Scored._fields[6:], pl.Int64())
    scored = pl.DataFrame(list(_scored(store)), schema=schema, orient="row")
    pooled = scored.with_columns(author=pl.lit(ALL))
    groups = chain(pooled.group_by(_KEY, maintain_order=True), scored.group_by(_KEY, maintain_order=True))
    rows = [dict(zip(_KEY, key, strict=True)) | _rates(part) for key, part in groups]
    return framed("readers", rows).sort(
        pl.col("reader"), pl.col("benchmark"), pl.col("author") != ALL, pl.col("author"), maintain_order=True
    )


def _rates(part: pl.DataFrame) -> dict[str, Any]:
    games = part.group_by("game", maintain_order=True).agg(pl.col("given", "meant", "right").sum())
    given, meant, right = (games[name].to_numpy().astype(float) for name in ("given", "meant", "right"))
    counted = {name: int(games[name].sum()) for name in ("given", "meant", "right")} | {"texts": part.height, "games": games.height}
    return counted | _report_share("precision", right, given) | _report_share("recall", right, meant)


def _report_share(name: str, right: Any, of: Any) -> dict[str, float | None]:
    from analytics.statistics.intervals import share_interval

    some = of > 0
    value = float(right.sum() / of.sum()) if some.any() else None
    ends = share_interval(right[some], of[some]) if some.sum() > 1 else None
    low, high = (None, None) if ends is None else (float(ends.low), float(ends.high))
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _scored(store: Store) -> Iterator[_Scored]:
    from judges.evidence.transcript import BY_RULES

    meant = dict(_meant(store))
    for reader in (BY_RULES, *_models(store)) if meant else ():
        yield from _by_reader(store, reader, meant)


def _meant(store: Store) -> Iterator[tuple[tuple[str, int, int], Any]]:
    """Place of a text -> the claims that its author recorded."""
    from judges.claims.readers import read_by
    from judges.claims.texts import texts
    from judges.evidence.transcript import PLANTED, reader_named

    planted = reader_named(PLANTED)
    for text in texts(store, None, planted):
        read = read_by(text.game, text.turn, text.message, planted)
        if read is not None:
            yield _key(text), read


def _models(store: Store) -> Iterator[Reader]:
    """The models that have read texts, each alone and with the rules."""
    from judges.evidence.transcript import reader_named

    with store.reading() as connection:
        names = connection.execute("SELECT DISTINCT reader FROM claims WHERE starts_with(reader, 'llm:') ORDER BY reader").fetchall()
    for (name,) in names:
        yield from (reader_named(f"llm-only:{name.removeprefix('llm:')}"), reader_named(name))


def _by_reader(store: Store, reader: Reader, meant: dict[tuple[str, int, int], Any]) -> Iterator[_Scored]:
    from judges.claims.readers import counts, first_counts, read_by
    from judges.claims.texts import texts

    for text in texts(store, None, reader):
        read = read_by(text.game, text.turn, text.message, reader) if _key(text) in meant else None
        if read is not None:
            place = (reader.name, text.game.benchmark, text.author)
            of_text = chain(counts(read, meant[_key(text)]), first_counts(read, meant[_key(text)]))
            yield from (_Scored(*place, one.kind, one.field, text.game.episode_id, *one[2:]) for one in of_text)


def _key(text: Text) -> tuple[str, int, int]:
    return text.game.episode_id, text.turn, text.message.seq
