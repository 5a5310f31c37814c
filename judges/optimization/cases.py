"""Labelled units, and texts whose claims are known, as cases: what is shown, what was answered, and the parts that they are split into.

Units are split by game into training, validation and held-out part; texts so that the authors of the held-out part wrote none of the
others. A rubric that is optimised asks a judge about cases as `cotrace judge` would.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

from ingest.labels.files import PLANTED_PREFIX
from judges.claims.extraction import Example
from judges.claims.readers import read_by
from judges.claims.reading import FamilyReading, Read, ReadClaim
from judges.claims.texts import PromptParts, Text, question_of, texts
from judges.evidence.frame import Frame
from judges.evidence.prompt import Prompt, PromptMaker, attempts
from judges.evidence.selection import selected_units
from judges.evidence.transcript import PLANTED, first_found, reader_named
from judges.rubric import Given, Rubric, joined
from schemas.claims import written
from schemas.common.errors import UsageError
from schemas.store.store import Store

Part = Literal["training", "validation", "held_out"]
PARTS: Final[tuple[Part, ...]] = ("training", "validation", "held_out")

_PLANTED: Final = PLANTED_PREFIX.removesuffix(":")
"""`labels.source` of truth that games carry; that of a file begins with `PLANTED_PREFIX`."""
_TRUTH_CAN_BE_NA: Final = frozenset({"PS6"})
"""Elsewhere N/A as planted truth states that the truth is not determined (docs/labels.md)."""

_FEWEST_GAMES: Final = 2
_FEWEST_UNITS: Final = 5
_FEWEST_ANSWERS: Final = 2
"""Of each question in each part."""

_LABELS: Final = """
SELECT
    question,
    CASE
        WHEN episode_id IS NULL OR starts_with(unit_key, episode_id) THEN unit_key ELSE concat_ws('/', episode_id, turn, agent)
    END AS unit,
    episode_id,
    replace(lower(answer), '/', '') AS answer,
    source
FROM labels
WHERE rubric = $rubric AND episode_id IS NOT NULL AND NOT starts_with(annotator, 'llm:')
    AND CASE $labels
        WHEN 'people' THEN NOT (source = $planted OR starts_with(source, $planted || ':'))
        WHEN 'truth' THEN source = $planted OR starts_with(source, $planted || ':')
        ELSE source = $labels
    END
-- one person's answer that came by two ways, such as a page and its export, is one answer
QUALIFY row_number() OVER (PARTITION BY question, unit, annotator ORDER BY source) = 1
ORDER BY ALL
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A labelled unit, as one call asks about it."""

    number: int
    """From 1, over all cases of a rubric; states nothing about the game."""
    episode_id: str
    prompt: Prompt
    labels: Mapping[str, Mapping[str, int]]
    """Question of the call's group -> answer -> how often it was given."""

    def unanimous(self) -> dict[str, str]:
        """Question -> the answer that all labels give; questions on which labels differ are left out."""
        return {question: next(iter(given)) for question, given in self.labels.items() if len(given) == 1}


CaseT = TypeVar("CaseT")


class Split(NamedTuple, Generic[CaseT]):
    """The cases of each part; no game is in two of them, and no author of texts of the held-out part is in another."""

    training: list[CaseT]
    validation: list[CaseT]
    held_out: list[CaseT]


CaseSplit = Split[Case]


def split_as_asked(parts: CaseSplit, rubric: Rubric) -> CaseSplit:
    """The cases as a rubric asks that has some of the questions only; cases without labels of these are left out."""
    groups = [group.shows for group in rubric.groups()]
    questions = rubric.questions.keys()
    return Split(*([found for case in part if (found := _restricted(case, groups, questions)) is not None] for part in parts))


def _restricted(case: Case, groups: Sequence[tuple[str, ...]], questions: Collection[str]) -> Case | None:
    labels = {question: given for question, given in case.labels.items() if question in questions}
    return replace(case, prompt=case.prompt._replace(group=groups.index(tuple(case.prompt.shown))), labels=labels) if labels else None


def cases_of(store: Store, rubric: Rubric, labels: str) -> list[Case]:
    """The rubric's cases by `people`, `truth` (planted) or a label source, in the store's order; units with nothing to judge are none.

    Raises:
        StoreError: the store cannot be read.
        UsageError: there are no such labels about games of the store.
    """
    with store.reading():  # one opening for all queries before the first unit
        given, games = _labels(store, rubric, labels)
        found = first_found(selected_units(store, rubric, dict.fromkeys(sorted(games))))
    maker = PromptMaker(rubric)
    cases: list[Case] = []
    for unit in found:
        for prompt in maker.prompts(unit) if unit.unit_id in given else ():
            of_unit, questions = given[unit.unit_id], maker.groups[prompt.group].questions
            answered = {question.id: dict(of_unit[question.id]) for question in questions if question.id in of_unit}
            if prompt.applies and answered:
                cases.append(Case(number=len(cases) + 1, episode_id=unit.episode_id, prompt=prompt, labels=answered))
    return cases


def _labels(store: Store, rubric: Rubric, labels: str) -> tuple[dict[str, dict[str, Counter[str]]], set[str]]:
    """Unit -> question -> answer -> how often; and the games. Answers that the question does not allow are left out."""
    with store.reading() as connection:
        rows = connection.execute(_LABELS, {"rubric": rubric.name, "labels": labels, "planted": _PLANTED}).fetchall()
        known = connection.execute(
            "SELECT DISTINCT source FROM labels WHERE rubric = ? AND episode_id IS NOT NULL ORDER BY source", [rubric.name]
        ).fetchall()
    if not rows:
        there = ", ".join(source for (source,) in known) or "none"
        raise UsageError(
            f"--labels {labels}: no labels of rubric {rubric.name} about games of {store.path}; label sources there: {there}; "
            "bring some with cotrace labels import, or label on the dashboard"
        )
    plain = {question.id: {_plain(answer): answer for answer in question.answers} for question in rubric.questions.values()}
    found: dict[str, dict[str, Counter[str]]] = {}
    games: set[str] = set()
    for question, unit, episode_id, message, source in rows:
        answer = _answer(rubric, plain.get(question, {}), message)
        if answer is not None and not (_is_truth(source) and message == "na" and question not in _TRUTH_CAN_BE_NA):
            found.setdefault(unit, {}).setdefault(question, Counter())[answer] += 1
            games.add(episode_id)
    return found, games


def _answer(rubric: Rubric, plain: Mapping[str, str], reply: str) -> str | None:
    if rubric.choice == "one":
        return plain.get(reply)
    return joined(reply.split("|"), list(rubric.answers)) if plain and rubric.allows(reply) else None


def _plain(answer: str) -> str:
    return answer.lower().replace("/", "")


def _is_truth(source: str) -> bool:
    return source == _PLANTED or source.startswith(PLANTED_PREFIX)


def split(cases: Sequence[Case], *, held_out: float, seed: int) -> CaseSplit:
    """The cases by part: that share of the games is held out, the others are halved. The same seed gives the same split."""
    games = sorted({case.episode_id for case in cases}, key=lambda game: _dealt(seed, game))
    retained = len(games) - round(held_out * len(games))
    place = {game: 2 if index >= retained else int(index >= retained // 2) for index, game in enumerate(games)}
    return Split(*([case for case in cases if place[case.episode_id] == part] for part in range(len(PARTS))))


def optimizable(rubric: Rubric, parts: CaseSplit, asked: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The questions that the labels suffice for, and for the others why they do not.

    Raises:
        UsageError: a question that was asked for does not exist or has too few labels, or none has enough.
    """
    ids = list(rubric.questions)
    for name in asked:
        if name not in ids:
            raise UsageError(f"--question {name}: rubric {rubric.name} has {', '.join(ids)}")
    why_not = {question: why for question in asked or ids if (why := _too_few(parts, question)) is not None}
    fit = [question for question in asked or ids if question not in why_not]
    if not fit or (asked and why_not):
        first = next(iter(why_not))
        more = "" if len(why_not) == 1 else f" (and {len(why_not) - 1} more)"
        raise UsageError(
            f"too few labels to optimise {rubric.name}: {first}: {why_not[first]}{more}; label more games, or try another --seed"
        )
    return fit, why_not


def _too_few(parts: CaseSplit, question: str) -> str | None:
    for name, part in zip(PARTS, parts, strict=True):
        of_question = [case for case in part if question in case.labels]
        games = len({case.episode_id for case in of_question})
        answers = {answer for case in of_question for answer in case.labels[question]}
        if games < _FEWEST_GAMES or len(of_question) < _FEWEST_UNITS:
            return (
                f"the {name.replace('_', '-')} part has {len(of_question)} labelled units of {games} games, "
                f"at least {_FEWEST_UNITS} of {_FEWEST_GAMES} are needed"
            )
        if len(answers) < _FEWEST_ANSWERS:
            return f"the {name.replace('_', '-')} part has one answer only ({next(iter(answers))})"
    return None


Answers = dict[str, Given] | None
"""Question -> answer; None: no usable reply came."""


_FEWEST_AUTHORS = 2
_FEWEST_TEXTS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class ReaderCase:
    """A text with the claims that its author knows it to make."""

    number: int
    """From 1, over all cases; states nothing about the game."""
    family: FamilyReading
    episode_id: str
    author: str
    frame: Frame
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
        claims = [{**written(claimed.claim), "words": _words(claimed, self.text)} for claimed in self.meant.claims]
        return Example(frame=self.frame, text=self.text, claims=claims)


def _words(claimed: ReadClaim[Any], text: str) -> str:
    """The words of a claim as they are in the text: all of it where the author gives none."""
    words = str(getattr(claimed.claim, "words", ""))
    if words and words in text:
        return words
    return text[claimed.start : claimed.end] if claimed.start is not None else text


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
        UsageError: the condition is not SQL, or there are no such texts.
    """
    planted, plain = reader_named(PLANTED), PromptParts()
    found: dict[str, dict[str, tuple[Text, Read[Any]]]] = {}
    for text in texts(store, where, planted, benchmarks=[benchmark]):
        meant = read_by(text.game, text.turn, text.message, planted)
        if meant is not None:
            found.setdefault(text.author, {}).setdefault(question_of(text, plain).key, (text, meant))
    chosen = [(author, key) for author in sorted(found) for key in sorted(found[author], key=lambda key: _dealt(seed, key))[:per_author]]
    retained = [found[author][key] for author, key in chosen]
    if not retained:
        raise UsageError(
            f"no text of {benchmark} in {store.path} has claims by its author: play games with scripted players, or bring a log "
            "that states what its texts claim (docs/claims.md)"
        )
    return [
        ReaderCase(
            number=number,
            family=text.family,
            episode_id=text.game.episode_id,
            author=text.author,
            frame=text.family.frame(text.game, text.turn, text.message),
            text=text.message.text,
            meant=meant,
            own=text.persona is not None,
        )
        for number, (text, meant) in enumerate(retained, start=1)
    ]


def split_by_author(cases: Sequence[ReaderCase], *, held_out: float, seed: int) -> Split[ReaderCase]:
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
    retained = len(authors) - min(max(1, round(held_out * len(authors))), len(authors) - 1)
    apart = [case for case in cases if case.author in authors[retained:]]
    theirs = {case.episode_id for case in apart}
    others = [case for case in cases if case.author in authors[:retained] and case.episode_id not in theirs]
    games = sorted({case.episode_id for case in others}, key=lambda game: _dealt(seed, game))
    training = set(games[: len(games) // 2])
    parts = Split(
        [case for case in others if case.episode_id in training], [case for case in others if case.episode_id not in training], apart
    )
    for name, part in zip(("training", "validation", "held-out"), parts, strict=True):
        if len(part) < _FEWEST_TEXTS:
            raise UsageError(
                f"the {name} part has {len(part)} texts, at least {_FEWEST_TEXTS} are needed: bring more games, in which held-out authors "
                f"({', '.join(authors[retained:])}) do not play with the others, or try another --seed"
            )
    return parts


def _dealt(seed: int, name: str) -> bytes:
    return hashlib.blake2b(f"{seed} {name}".encode()).digest()
