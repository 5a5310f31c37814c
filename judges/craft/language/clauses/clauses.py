"""Items to clauses: one predicate each, with the blocks and places that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judges.craft.language.clauses.groups import ARGUMENTS, Group, groups_of
from judges.craft.language.clauses.predicates import ACTS, PREDICATES, merge_predicates
from judges.craft.language.words.items import PLACES, Stretch, has_block
from judges.craft.language.words.vocabulary import word_set

__all__ = ["Clause", "clauses_of"]

_WITH_SUBJECT = frozenset({"should", "state", "confirm", "wrong", "empty", "go_away", "belong", "need"})
_CONNECTORS = word_set("clauses", "connectors")
_SEEING = frozenset({"see", "sees", "notice", "noticed", "seeing", "spot", "observed", "noticing", "find", "notice that", "see that"})
_MODIFIERS = word_set("clauses", "modifiers")


@dataclass
class Clause:
    """One predicate with its subject, its groups and the small words that steer it."""

    predicate: Stretch | None
    subject: list[Stretch]
    body: list[Stretch]
    marks: frozenset[str]
    """Steering words of the clause: ``first then not cond if before purpose instead question ask``."""

    personal: bool
    """Whether a person (I, we, you) is the subject, so that nothing else can be."""

    sentence: int
    passive: bool = False
    contrast: bool = False
    """Begins with but, which, where or and, and so speaks about what was said just before."""

    @property
    def kind(self) -> str:
        """Kind of the predicate, empty without one."""
        return self.predicate.kind if self.predicate else ""

    @property
    def denied(self) -> bool:
        """Whether the predicate is negated."""
        return bool(self.marks & {"not", "needless"})

    @property
    def start(self) -> int:
        """Offset of the first item."""
        return min(item.start for item in self._items)

    @property
    def end(self) -> int:
        """Offset behind the last item that is not a mark."""
        return max(item.end for item in self._items if item.kind != "comma" or len(self._items) == 1)

    @property
    def _items(self) -> list[Stretch]:
        own = [self.predicate] if self.predicate else []
        return [*self.subject, *own, *self.body]

    def groups(self) -> list[Group]:
        """The clause's groups behind the predicate."""
        replacing = self.predicate is not None and self.predicate.value in ("replace", "move", "cap")
        return groups_of(self.body, follow_roles=replacing)

    def subject_groups(self) -> list[Group]:
        """The groups before the predicate."""
        return groups_of(self.subject, follow_roles=False)


def clauses_of(items: Sequence[Stretch], sentence: int) -> list[Clause]:
    """Split one sentence's items at its predicates."""
    question = bool(items) and items[-1].value == "?"
    merged = merge_predicates([item for item in items if item.kind != "end"])
    at = [index for index, item in enumerate(merged) if item.kind in PREDICATES]
    if not at:
        return [_clause(None, [], merged, sentence, question=question)] if merged else []
    clauses: list[Clause] = []
    before = merged[: at[0]]
    cut = _bare_end(before, merged[at[0]])
    if cut:
        clauses.append(_clause(None, [], before[:cut], sentence, question=question))
        before = before[cut:]
    for number, index in enumerate(at):
        stop = at[number + 1] if number + 1 < len(at) else len(merged)
        span = merged[index + 1 : stop]
        cut = len(span) if stop == len(merged) else _split(span, merged[stop], merged[index])
        more = _more_begin(span[:cut], merged[index])
        clauses.append(_clause(merged[index], before, span[:more], sentence, question=question))
        if more < cut:
            clauses.append(_clause(None, [], span[more:cut], sentence, question=question))
        before = span[cut:]
    return clauses


def _bare_end(before: Sequence[Stretch], predicate: Stretch) -> int:
    """Give the length of a request without a verb that a ``but`` or ``once`` parts from the first predicate, 0 without one."""
    commas = [index for index, item in enumerate(before) if item.value in (",", ";")]
    if predicate.kind == "empty" and commas and all(item.kind in PLACES | {"prep", "comma"} for item in before[commas[-1] :]):
        listed = before[: commas[-1]]
        return commas[-1] if has_block(listed) and any(item.kind in PLACES for item in listed) else 0
    for index, item in enumerate(before):
        blocks = [other for other in before[:index] if other.kind == "block" and other.color and not other.definite]
        if item.kind in ("but", "cond") and blocks and any(other.kind in PLACES for other in before[:index]):
            return index
        if item.kind in ("subject", "if", "where", "cond"):
            return 0
    return 0


def _clause(predicate: Stretch | None, before: list[Stretch], body: list[Stretch], sentence: int, *, question: bool) -> Clause:
    own_begin = max((index + 1 for index, item in enumerate(before) if item.kind in ("comma", "but")), default=0)
    own = before[own_begin:]  # what stands before the last comma steers another clause
    marks = {item.kind for item in own if item.kind in _MODIFIERS} | {item.kind for item in before if item.kind == "first"}
    marks |= {item.kind for item in body if item.kind in ("first", "instead")}
    if question:
        marks.add("question")
    if predicate is None:
        begin = next((index for index, item in enumerate(body) if item.kind in ARGUMENTS), len(body))
        marks |= {item.kind for index, item in enumerate(body) if item.kind in _MODIFIERS and (index < begin or item.kind != "not")}
    connected = any(item.kind in ("but", "where", "and") for item in before)
    return Clause(
        predicate=predicate,
        subject=[item for item in before[_subject_begin(before) :] if item.kind != "not"],
        body=body,
        marks=frozenset(marks),
        personal=any(item.kind == "subject" for item in before),
        sentence=sentence,
        passive=predicate is not None and predicate.kind == "act_ed" and predicate.number == 1,
        contrast=connected,
    )


def _more_begin(span: Sequence[Stretch], predicate: Stretch) -> int:
    """Give the index from which a request without a verb follows a remark: ``the left is empty; small red``."""
    if predicate.kind in ("confirm", "empty", "wrong"):
        for index, item in enumerate(span):
            block = next((other for other in span[index:] if other.kind == "block"), None)
            if item.value in (";", ":") and block is not None and block.color and not block.definite and not has_block(span[:index]):
                return index
    return len(span)


def _subject_begin(before: Sequence[Stretch]) -> int:
    """Give the index behind what a ``but`` sets aside: ``not sure about the right, but the left needs ...``."""
    for index in range(len(before) - 1, -1, -1):
        if before[index].kind == "but" or before[index].value == ";":
            aside, own = before[:index], before[index + 1 :]
            ruled_out = before[index].kind == "but" or any(item.kind == "not" for item in aside)
            names = any(item.kind in PLACES for item in own) and not any(item.kind == "not" for item in own)
            return index + 1 if ruled_out and names and not has_block(aside) else 0
    return 0


def _split(span: Sequence[Stretch], predicate: Stretch, previous: Stretch) -> int:
    """Give the index from which the items between two predicates belong to the second one."""
    if _speaks_of_all(span, predicate, previous):
        return 0
    if _ends_relative(span):
        return len(span) - 1
    for index in range(len(span) - 1, -1, -1):
        if span[index].kind in ("subject", "not", "needless", "first"):
            return _split_before(span, index, predicate, previous)
        if _separates(span, index, predicate):
            return index
    return 0 if predicate.number == 1 and not has_block(span) else len(span)


def _separates(span: Sequence[Stretch], index: int, predicate: Stretch) -> bool:
    kind = span[index].kind
    if kind == "and":
        return _opens_clause(span, index, predicate)
    tail = span[index + 1 :]
    return kind in _CONNECTORS | {"ask"} and not (kind == "comma" and tail and _continues_list(span[:index], tail, predicate))


def _speaks_of_all(span: Sequence[Stretch], predicate: Stretch, previous: Stretch) -> bool:
    """Whether all between is the subject of the second verb: ``I notice that X is Y``, ``I need the left cell to be green``."""
    if any(item.kind in ("comma", "but", "where", "subject", "because") for item in span) or (span and span[-1].kind == "and"):
        return False
    noticed = previous.kind == "state" and previous.value in _SEEING and predicate.kind in _WITH_SUBJECT
    return noticed or (previous.kind == "need" and predicate.kind == "should")


def _ends_relative(span: Sequence[Stretch]) -> bool:
    """Tell the ``that`` of ``the blocks that should be ...``."""
    return len(span) > 1 and span[-1].value == "that" and span[-2].kind in ARGUMENTS - {"pron"}


def _opens_clause(span: Sequence[Stretch], index: int, predicate: Stretch) -> bool:
    """Tell the ``and`` between two clauses from the one between two places of one block."""
    tail = span[index + 1 :]
    arguments = [item for item in tail if item.kind in ARGUMENTS]
    if not arguments or tail[0].kind == "prep":
        return True
    if predicate.kind not in _WITH_SUBJECT or predicate.number == 1:
        return False
    between_places = index > 0 and span[index - 1].kind in PLACES and tail[0].kind in PLACES
    earlier = [at for at in range(index) if span[at].kind in ("comma", "but")]
    return not (between_places and earlier and not has_block(span[earlier[-1] :]))


def _split_before(span: Sequence[Stretch], index: int, predicate: Stretch, previous: Stretch) -> int:
    """Step back over a fronted place: ``..., in the middle I need``."""
    cut = _split(span[:index], predicate, previous)
    return cut if cut < index and span[cut].kind in _CONNECTORS | {"and", "first", "subject", "not", "if"} else index


def _continues_list(before: Sequence[Stretch], tail: Sequence[Stretch], predicate: Stretch) -> bool:
    """Tell ``left, middle`` of a place from the begin of a new clause."""
    return (
        predicate.kind in ACTS
        and predicate.number != 1
        and not any(item.kind == "prep" for item in tail[:1])
        and bool(before)
        and not has_block(tail)
        and tail[-1].kind not in ("subject", "then", "first", "and", "not")
    )
