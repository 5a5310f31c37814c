"""The intake receipt: what a file of conversations holds (`ingest.walk`), against what was stored of it.

A value counts as stored if any row of the file holds it; a message or call that a list repeats, as often as rows repeat it, unless its id
tells that it is the same one. Words are compared by lines: a message of several parts is stored as one text.
"""

import zipfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ingest.reading.adapter_types import Reading
from ingest.reading.text import number
from ingest.walk import ABOUT, PROSE_WORDS, Raw, Walk, as_often_as_one_list_has_it, canonical, documents, merged_texts, object_in
from schemas.common.errors import BadInputError
from schemas.common.text import excerpt
from schemas.records import Action, Agent, Call, Episode, EpisodeMetric, Json, Receipt, TurnMetric, Utterance

KINDS: Final = ("messages", "words", "tool_calls", "results", "scores", "tokens")

_LISTED: Final = 12
_SEARCHED: Final = 300
"""So many texts that no stored line equals are looked for inside of lines."""


def receipts(data: bytes, reading: Reading, source_id: str, path: str, left_out: Collection[str] = ()) -> list[Receipt]:
    """The receipt of a file of conversations: a row for each of `KINDS`, and one for its keys; none where the file cannot be walked.

    Args:
        data: the file.
        reading: what was read of it.
        source_id: of the file.
        path: of the file.
        left_out: keys whose values repeat what other keys have, in another form.
    """
    raw = Raw()
    try:
        for index, document in enumerate(documents(data)):
            within = ("document", index) if isinstance(document, list) else "rows"
            Walk(raw, left_out, document if isinstance(document, Mapping) else {}).value(document, "", within, None, in_words=False)
    except (BadInputError, RecursionError, zipfile.BadZipFile, ImportError, NotImplementedError):
        return []
    stored = _Stored(reading)
    messages = as_often_as_one_list_has_it(raw.lists.values())
    called: Counter[tuple[str, str]] = Counter()
    for listed in raw.lists.values():
        called |= Counter(call[:2] for call in {call if call.id else id(call): call for one in listed for call in one.calls}.values())
    results = [one for one in messages if one.is_result and one.texts]
    texts = [text for one in messages for text in one.texts]
    lost = [text for text in texts if not stored.has(text[1])]
    is_lost = {text for _, text in lost}
    no_calls = Counter({call: count for call, count in called.items() if not stored.has_call(*call)})
    whole = [
        one for one in messages if not any(call[:2] in no_calls for call in one.calls) and not any(text in is_lost for _, text in one.texts)
    ]
    merged = merged_texts(Counter(tuple(one.texts) for one in whole if one.texts), stored.times)
    lost += [text for one in merged for text in one]
    lost_calls = [*no_calls.elements(), *merged_texts(called, stored.times_called)]
    stored_scores = sum((raw.scores & stored.scores).values())
    keys = Counter({path: 0 for path, _ in raw.prose})
    unread = Counter(path for path, text in raw.prose if not stored.has(text, as_fact=True))
    unread.update(path for path, _ in lost)
    keys.update(unread)
    words = sum(len(text.split()) for _, text in texts)
    tokens = max((list(one.values()) for one in raw.tokens.values()), key=sum, default=[])
    is_detail = bool(tokens) and all(stored.scores[float(count)] for count in tokens)

    def row(kind: str, counted: int | None, held: int | None, missing: Sequence[str] = ()) -> Receipt:
        return Receipt(source_id, path, kind, counted, held, [excerpt(one, 80) for one in list(dict.fromkeys(missing))[:_LISTED]])

    return [
        row("messages", len(messages), len(whole) - len(merged)),
        row("words", words, words - sum(len(text.split()) for _, text in lost), [f"{path}: {text}" for path, text in lost]),
        row("tool_calls", called.total(), called.total() - len(lost_calls), [f"{name} {arguments}" for name, arguments in lost_calls]),
        row("results", len(results), sum(not any(text in is_lost for _, text in one.texts) for one in results)),
        row("scores", raw.scores.total() or None, stored_scores if raw.scores else None),
        row("tokens", sum(tokens) if raw.tokens else None, sum(tokens) if stored.tokens is None and is_detail else stored.tokens),
        row("keys", len(keys), len(keys) - len(unread), [f"{path} ({count})" for path, count in unread.most_common(_LISTED)]),
    ]


def family_receipts(data: bytes, reading: Reading, source_id: str, path: str) -> list[Receipt]:
    """The receipt of a published log of a family, which has messages in places of its own: a row for messages, words and keys.

    Texts of a key are messages if more than half of them are stored as such, word for word; of a list of tries one is enough. So a
    message is missed as long as the reader takes most of them from its key; a key that it never reads is listed. Names, moves and marks
    such as `[NOTHING]` are not counted: they have one word, or two.

    Args:
        data: the file.
        reading: what was read of it.
        source_id: of the file.
        path: of the file.
    """
    names = {row.agent for row in reading.rows["agents"] if isinstance(row, Agent)}
    texts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    try:
        for document in documents(data):
            _texts_of_keys(document, "", names, texts)
    except (BadInputError, RecursionError):
        return []
    held: Counter[str] = Counter()
    for row in (*reading.rows["utterances"], *reading.rows["actions"]):
        said = row.text if isinstance(row, Utterance) else row.raw if isinstance(row, Action) else None
        held.update([said.strip()] if said else [])
    alone = {key: Counter(one for one, *_ in found) for key, found in texts.items() if not key.endswith("|")}
    of_messages = {key for key, found in alone.items() if 2 * (found & held).total() > found.total()}
    of_messages |= {
        key
        for key, found in texts.items()
        if key not in alone
        and f"{key[:-1]}[]" not in of_messages
        and 2 * sum(not held.keys().isdisjoint(one) for one in found) > len(found)
    }
    counted: dict[tuple[str, ...], tuple[int, str]] = {}
    for key in of_messages:
        for tries, count in Counter(texts[key]).items():
            counted[tries] = min((count, key), counted.get(tries, (count, key)))  # other keys repeat the history
    lost = [
        (key, tries[0])
        for tries, (count, key) in counted.items()
        for _ in range(count - (held[tries[0]] if key in alone else count * (not held.keys().isdisjoint(tries))))
    ]
    stored = _Stored(replace(reading, rows=defaultdict(list, {name: rows for name, rows in reading.rows.items() if name != "turns"})))
    others = {key: found for key, found in alone.items() if key not in of_messages}
    unread = +Counter({key: sum(not stored.has(one, as_fact=True) for one in found.elements()) for key, found in others.items()})
    messages, words = sum(count for count, _ in counted.values()), sum(len(one[0].split()) * count for one, (count, _) in counted.items())
    gone = sum(len(text.split()) for _, text in lost)
    rows: list[tuple[str, int | None, int | None, list[str]]] = [
        ("messages", messages or None, messages - len(lost) if messages else None, []),
        ("words", words or None, words - gone if words else None, [f"{key}: {text}" for key, text in lost]),
        ("keys", len(alone), len(alone) - len(unread), [f"{key} ({count})" for key, count in unread.most_common(_LISTED)]),
    ]
    return [Receipt(source_id, path, *row[:3], [excerpt(one, 80) for one in row[3][:_LISTED]]) for row in rows]


def _texts_of_keys(value: Any, key: str, names: Collection[str], texts: dict[str, list[tuple[str, ...]]]) -> None:
    """Key, with * for an agent or a number -> its texts, each alone, and with | at its end the tries of each list of texts."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _texts_of_keys(inner, f"{key}.{'*' if name in names or str(name).isdecimal() else name}".lstrip("."), names, texts)
    elif isinstance(value, list):
        tries = [one.strip() for one in value if isinstance(one, str) and one.strip()]
        if len(tries) > 1 and any(len(one.split()) >= PROSE_WORDS for one in tries):
            texts[f"{key}|"].append(tuple(tries))
        for inner in value:
            _texts_of_keys(inner, f"{key}[]", names, texts)
    elif isinstance(value, str) and len(value.split()) >= PROSE_WORDS:
        texts[key].append((value.strip(),))


def losses(rows: Sequence[Receipt]) -> Iterator[BadInputError]:
    """What a receipt shows to be lost. Logs repeat scores and tokens as means and totals: there a loss is that nothing was stored."""
    lost = [
        row
        for row in rows
        if row.counted
        and row.kind != "keys"
        and ((row.stored or 0) < row.counted if row.kind not in {"scores", "tokens"} else not row.stored and row.stored != row.counted)
    ]
    if lost:
        counts = ", ".join(f"{(row.stored or 0):,} of {row.counted:,} {row.kind.replace('_', ' ')}" for row in lost)
        missing = next((row.missing for row in lost if row.missing), [])
        first = f"; the first that is missing: {missing[0]}" if missing else ""
        yield BadInputError(
            f"not all was stored: {counts}{first}; name the keys in a mapping (cotrace ingest --guess FILE), or report it",
            locator="receipt",
        )


class _Stored:
    """What the rows of a file hold."""

    def __init__(self, reading: Reading) -> None:
        self.scores: Counter[float] = Counter()
        self._calls: dict[str, Counter[str]] = defaultdict(Counter)
        self._said: Counter[str] = Counter()
        self._lines: set[str] = set()
        self._facts: set[str] = set()
        self._searched = 0
        self._tokens: list[int] = []
        has_calls = bool(reading.rows.get("calls"))
        for row in (row for rows in reading.rows.values() for row in rows):
            said = row._replace(details=Json("{}")) if isinstance(row, Episode) else row  # facts of a game are no messages
            for value in said:
                self._take(value, self._lines)
            self._count(row, has_calls=has_calls)
        self.tokens = sum(self._tokens) if self._tokens else None
        self._all: str | None = None

    def _count(self, row: object, *, has_calls: bool) -> None:
        if isinstance(row, Action):
            self._calls[row.verb][canonical(row.raw if row.arguments == "{}" and row.raw else row.arguments)] += 1
        elif isinstance(row, Utterance):
            self._said[row.text] += 1
            self._tokens += [] if has_calls or row.tokens is None else [row.tokens]
        elif isinstance(row, EpisodeMetric | TurnMetric):
            self.scores[float(row.value)] += 1
        elif isinstance(row, Episode):
            self._take(row.details, self._facts)
            self.scores.update(float(value) for value in (row.score, row.success) if value is not None)
            self._take_numbers(str(row.details))
        elif isinstance(row, Call):
            self._tokens += [count for count in (row.tokens_in, row.tokens_out) if count is not None]

    def _take(self, value: Any, lines: set[str]) -> None:
        if isinstance(value, str):
            lines.update(map(str.strip, value.split("\n")))
            inner = object_in(value)
            if inner is not None:
                self._take(inner, lines)
        elif isinstance(value, Mapping):
            for one in value.values():
                self._take(one, lines)
        elif isinstance(value, list | tuple):
            for one in value:
                self._take(one, lines)

    def _take_numbers(self, value: Any) -> None:
        value = object_in(value) if isinstance(value, str) else value
        if isinstance(value, Mapping | list):
            for one in value.values() if isinstance(value, Mapping) else value:
                self._take_numbers(one)
        elif (found := number(value)) is not None:
            self.scores[found] += 1

    def has(self, text: str, *, as_fact: bool = False) -> bool:
        """Whether rows hold every line of a text, or every text of what is JSON; `as_fact`: among the facts of a game, too."""
        lines = {line.strip() for line in text.split("\n")} - {""}
        if lines <= self._lines or (as_fact and lines <= self._facts):
            return True
        inner = object_in(text)
        if inner is not None and all(self.has(one, as_fact=as_fact) for one in _texts(inner)):
            return True
        self._searched += 1
        if self._searched > _SEARCHED or len(text.split()) < PROSE_WORDS:  # "yes" is a part of some other message, most likely
            return False
        if self._all is None:
            self._all = "\n".join(self._lines)
        return all(line in self._all for line in lines)

    def times(self, texts: tuple[tuple[str, str], ...]) -> int:
        """How many stored messages hold every line of some texts, which have paths."""
        lines = {line.strip() for _, text in texts for line in text.split("\n")}
        return sum(count for said, count in self._said.items() if lines <= set(map(str.strip, said.split("\n"))))

    def times_called(self, call: tuple[str, str]) -> int:
        """How many actions have this name and these arguments."""
        return self._calls[call[0]][call[1]]

    def has_call(self, name: str, arguments: str) -> bool:
        """Whether there is an action of this name with these arguments.

        A call that ends a game may be logged as the message that it hands in (Inspect's `submit`).
        """
        if arguments in self._calls.get(name, ()) or (not name and any(arguments in known for known in self._calls.values())):
            return True
        texts = list(_texts(object_in(arguments))) if name in self._calls else []
        return bool(texts) and all(map(self.has, texts))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key not in ABOUT:
                yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
