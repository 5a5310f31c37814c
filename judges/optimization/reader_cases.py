"""Texts whose claims are known as cases of a reader's prompt; split so that the authors of the held-out part wrote none of the others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.claims.extraction import Example
from judges.claims.readers import read_by
from judges.claims.reading import Read, Told
from judges.claims.texts import PromptParts, Room, Text, question, texts
from judges.evidence.injection import attempts
from judges.evidence.reader import PLANTED, reader_named
from schemas.claims import written
from schemas.errors import UsageError
from schemas.store import Store

_FEWEST_AUTHORS = 2
_FEWEST_TEXTS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class ReaderCase:
    """A text with the claims that its author knows it to make."""

    number: int
    """From 1, over all cases; says nothing about the game."""
    room: Room
    episode_id: str
    author: str
    frame: str
    text: str
    meant: Read[Any]
    own: bool
    """Whether a scripted player of ours wrote it: only such a text may be an example in a prompt."""

    @property
    def speaks_to_readers(self) -> bool:
        """Whether it tries to speak to whoever reads it: then nothing is learned from it."""
        return bool(attempts(self.text))

    def example(self) -> Example:
        """As a prompt shows it."""
        claims = [{**written(told.claim), "words": _words(told, self.text)} for told in self.meant.told]
        return Example(frame=self.frame, text=self.text, claims=claims)


def _words(told: Told[Any], text: str) -> str:
    """The words that a claim stands on, as they stand in the text: all of it where the author has not said."""
    words = str(getattr(told.claim, "words", ""))
    if words and words in text:
        return words
    return text[told.start : told.end] if told.start is not None else text


class ReaderCaseSplit(NamedTuple):
    """The cases of each part; no author of the held-out part is in another, and no game is in two."""

    training: list[ReaderCase]
    validation: list[ReaderCase]
    held_out: list[ReaderCase]


def reader_cases(store: Store, benchmark: str, *, per_author: int, seed: int, where: str | None = None) -> list[ReaderCase]:
    """Texts of a benchmark whose authors say what they claim: different ones, at most so many an author.

    Args:
        store: with games whose texts have claims by `planted` (docs/claims.md).
        benchmark: whose texts.
        per_author: most texts of one author.
        seed: of the choice among them.
        where: SQL condition over `episodes` and `turns`; None: all.

    Raises:
        StoreError: the store cannot be read.
        UsageError: the condition is no SQL, or there are no such texts.
    """
    planted, plain = reader_named(PLANTED), PromptParts()
    found: dict[str, dict[str, tuple[Text, Read[Any]]]] = {}
    for text in texts(store, where, planted, benchmarks=[benchmark]):
        meant = read_by(text.game, text.turn, text.said, planted)
        if meant is not None:
            found.setdefault(text.author, {}).setdefault(question(text, plain).key, (text, meant))
    kept = [one for author in sorted(found) for one in _some(found[author], per_author, seed)]
    if not kept:
        raise UsageError(
            f"no text of {benchmark} in {store.path} has claims by its author: play games with scripted players, or bring a log that says "
            "what its texts claim (docs/claims.md)"
        )
    return [_case(number, text, meant) for number, (text, meant) in enumerate(kept, start=1)]


def _some(found: dict[str, tuple[Text, Read[Any]]], most: int, seed: int) -> list[tuple[Text, Read[Any]]]:
    return [found[key] for key in sorted(found, key=lambda key: _dealt(seed, key))[:most]]


def _case(number: int, text: Text, meant: Read[Any]) -> ReaderCase:
    return ReaderCase(
        number=number,
        room=text.room,
        episode_id=text.game.episode_id,
        author=text.author,
        frame=text.room.frame(text.game, text.turn, text.said),
        text=text.said.text,
        meant=meant,
        own=text.persona is not None,
    )


def split_by_author(cases: Sequence[ReaderCase], *, held_out: float, seed: int) -> ReaderCaseSplit:
    """Some authors are held out; the games of the others are halved. The same seed gives the same split.

    Args:
        cases: of one benchmark.
        held_out: share of the authors, 0 to 1, ends excluded; at least one author, and not all.
        seed: of the order in which authors and games are dealt.

    Raises:
        UsageError: too few authors, games or texts.
    """
    authors = sorted({case.author for case in cases}, key=lambda author: _dealt(seed, author))
    if len(authors) < _FEWEST_AUTHORS:
        raise UsageError(f"all texts are by {authors[0]}: a prompt is judged on authors that it was not made from; bring texts of another")
    kept = len(authors) - min(max(1, round(held_out * len(authors))), len(authors) - 1)
    apart = [case for case in cases if case.author in authors[kept:]]
    theirs = {case.episode_id for case in apart}
    others = [case for case in cases if case.author in authors[:kept] and case.episode_id not in theirs]
    games = sorted({case.episode_id for case in others}, key=lambda game: _dealt(seed, game))
    training = set(games[: len(games) // 2])
    parts = ReaderCaseSplit(
        [case for case in others if case.episode_id in training], [case for case in others if case.episode_id not in training], apart
    )
    for name, part in zip(("training", "validation", "held-out"), parts, strict=True):
        if len(part) < _FEWEST_TEXTS:
            raise UsageError(
                f"the {name} part has {len(part)} texts, at least {_FEWEST_TEXTS} are needed: bring more games, in which held-out authors "
                f"({', '.join(authors[kept:])}) do not play with the others, or try another --seed"
            )
    return parts


def _dealt(seed: int, name: str) -> bytes:
    return hashlib.blake2b(f"{seed} {name}".encode()).digest()
