"""What of a text was understood: clause by clause, whether every word has a meaning and all of it went into the claims.

The reader takes from a clause what it knows and passes over the rest, so that odd wordings are read at all. Here its work is looked at
again, from the words alone: do the words of asking, taking away, praising and denying agree with the claim? Is every colour, size, place
and layer of the clause found again in a claim? A claim that passes is *certain*. A clause of which nothing is left over is *understood*.

A whole mention is a stretch that names one block, its place and its layer, whatever verb ties them together.

What such a stretch wants follows from its words of polarity (need, blank, wrong, praise; denied or not) and from the board: a block
that is not there cannot be remarked, one that is there is not asked for. Where the two do not settle it, nothing is claimed.
"""

from collections.abc import Sequence
from dataclasses import replace

from judges.craft.language.clause_words import AGAINST, ASKS, TAKES, ClauseWords, open_in
from judges.craft.language.lexer import Lexed, lexed
from judges.craft.language.places import WALLS, Board, Scene, height
from judges.craft.language.vocabulary import Claim, Stretch, Token, UnreadClause, Verb

_UNSETTLED = frozenset(("void", "act.move", "act.pass", "act.keep", "repair", "act.replace", "instead", "all", "condition", "act.fix"))
"""Cues of which it is not known what they make of a block."""

_RELATIVE = frozenset(("on_top", "below", "next_to", "left_of", "right_of", "between", "rest", "whole", "last", "top_of", "depth", "shared",
                       "cells", "middle_side", "same_layer", "listing", "except", "where"))  # fmt: skip
"""Items by which a place is something else than it is called."""

_ORDERS = frozenset(("act.place", "act.cap"))
_PAIR = 2


def mentioned(clause: ClauseWords, board: Board, clause_numbers: frozenset[int]) -> Claim | None:
    """Give the claim that a stretch of words makes if it is one whole mention, and its words and the board agree on the verb."""
    if len(clause.blocks) != 1 or any(item.kind in _RELATIVE for item in clause.items) or clause.cues & _UNSETTLED or clause.throws:
        return None
    block, cells = clause.blocks[0], _cells(clause)
    layers = {item.number or 0 for item in clause.items if item.kind == "layer"}
    if any(item.kind == "block" and item.noun and not item.color and item.start < block.start for item in clause.items):
        return None  # "remove the block, it is in the way of the red one"
    if not block.color or block.number not in (None, 1) or len(layers) != 1 or not cells:
        return None
    if len(cells) != (_PAIR if block.size == "l" else 1) or not _adjoining(cells):
        return None
    layer = layers.pop()
    is_there = all(layer < height(board, cell) and board[cell][layer][0] == block.color for cell in cells)
    verb = _verb(clause, block, is_there=is_there)
    if verb is None:
        return None
    spots = [item for item in clause.items if item.kind in ("block", "cell", "side", "layer")]
    return Claim(verb=verb, color=block.color, size=block.size, cells=cells, layer=layer, clause_numbers=clause_numbers,  # type: ignore[arg-type]
                 start=min(item.start for item in spots), end=max(item.end for item in spots),
                 origins=dict.fromkeys(("color", *(("size",) if block.size else ()), "cells", "layer"), "stated"))  # fmt: skip


def _cells(clause: ClauseWords) -> tuple[str, ...]:
    """The cells named by coordinates, else by sides of the speaker's wall."""
    named = {item.value for item in clause.items if item.kind == "cell"}
    if named:
        return tuple(sorted(named))
    if any(item.kind == "director" for item in clause.items):
        return ()
    sides = {item.number for item in clause.items if item.kind == "side" and item.number is not None}
    return tuple(sorted(WALLS[clause.speaker][side] for side in sides))


def _adjoining(cells: Sequence[str]) -> bool:
    return len(cells) == 1 or any(set(cells) in ({wall[0], wall[1]}, {wall[1], wall[2]}) for wall in WALLS.values())


def _verb(clause: ClauseWords, block: Stretch, *, is_there: bool) -> Verb | None:
    parts = clause.parts
    here = next(number for number, (begin, end) in enumerate(clause.bounds) if begin <= block.start < end)
    if any(part == {"denial"} or ("denial" in part and part & _ORDERS) for part in parts) or (
        clause.is_ambiguous and not any("leave" in part for part in parts)
    ):
        return None
    if clause.is_ambiguous:
        parts = [part - _ORDERS for part in parts]  # "get it out of there"
    asked = any(part & ASKS and not part & {"denial", "act.remove", "leave"} for part in parts)
    lacking = any(_tells_lack(part) for part in parts[here:])
    unwanted = any(
        part & TAKES or (part & {"denial", "empty"} and "yet" not in part and part & ASKS and not part & _ORDERS) for part in parts
    )
    praised = any("praise" in part and "denial" not in part for part in parts)
    ordered = any(part & {"act.remove", "leave"} and "denial" not in part for part in parts)
    denied = "denial" in parts[here] and not _tells_lack(parts[here])
    if unwanted:
        placing = any(part & _ORDERS for part in parts) or (asked and not denied)
        return "remove" if (ordered or is_there) and not (placing or praised or lacking) else None
    if praised and not asked:
        return "confirm" if is_there and not denied and not lacking else None
    if is_there or denied or praised:
        return None
    return "place" if asked or lacking else None


def _tells_lack(part: frozenset[str]) -> bool:
    """Whether a part states that the place is blank: ``the board has nothing there``, ``not there yet``."""
    reported = "empty" in part or ("denial" in part and bool(part & {"board", "there", "yet", "done"}))
    return reported and not part & ASKS


_DOMINO = 2
_REACH = 2
"""Sentences before and behind the one with the block that may go on about it."""

_TAKING_BACK = frozenset(("void", "act.pass", "repair", "act.replace", "instead"))
"""Cues of taking back or turning what another sentence states."""

_OF_PLACES = frozenset(("relation", "several", "another player's place"))
"""What may leave a place open without asking for a step."""

_SIDE_LETTERS = frozenset("lmcr")


def second_pass(
    claims: Sequence[Claim],
    sentences: Sequence[Sequence[Token]],
    reported: Sequence[Lexed],
    remarks: Sequence[tuple[int, int]],
    scene: Scene,
) -> tuple[tuple[Claim, ...], tuple[UnreadClause, ...]]:
    """Give the claims, each certain or not, and the clauses that were not understood."""
    cells = frozenset(cell for claim in claims for cell in claim.cells or ())
    layers = frozenset(claim.layer for claim in claims)
    blocks = {item.color for items, _ in reported for item in items if item.kind == "block" and item.color}
    sole = claims[0] if len(claims) == 1 and len(blocks) == 1 else None
    clauses = []
    for number, (words, (items, unknown)) in enumerate(zip(sentences, reported, strict=True)):
        own = [span for span in remarks if span[0] < words[-1].end and words[0].start < span[1]]
        here = [claim for claim in claims if number in claim.clause_numbers]
        clauses.append(ClauseWords(words, items, unknown, here, scene.speaker, own, cells, layers, sole))
    claims = [claim for claim in claims if not _is_support(claim, clauses)]
    judged = tuple(replace(claim, doubt=_doubt(claim, clauses, scene.board)) for claim in claims)
    judged, clauses = _with_mentions(judged, clauses, scene.board)
    judged, ordered = _with_orders(judged, clauses, scene.board)
    open_ = {
        number: why for number, clause in enumerate(clauses) if (why := open_in(clause, _blocks_named(clauses[: number + 1]), scene.board))
    }
    judged = tuple(
        replace(claim, doubt=claim.doubt or next((open_[number] for number in sorted(claim.clause_numbers) if number in open_), ""))
        for claim in judged
    )
    doubts = {number: claim.doubt for claim in judged if claim.doubt for number in claim.clause_numbers}
    gone = {number for claim in judged if claim.verb == "remove" and claim.certain for number in claim.clause_numbers}
    unread = [
        _unread(clause, doubts.get(number, ""), open_.get(number, ""))
        for number, clause in enumerate(clauses)
        if number in open_ or not (number in ordered or (clause.repeats_removal and gone & set(range(number - _REACH, number))))
    ]
    return judged, tuple(clause for clause in unread if clause is not None)


def _blocks_named(clauses: Sequence[ClauseWords]) -> int:
    """Different blocks by colour of the last clause that names any."""
    last = next((clause for clause in reversed(clauses) if any(block.color for block in clause.blocks)), None)
    return 0 if last is None else len({block.color for block in last.blocks if block.color})


def _with_mentions(claims: tuple[Claim, ...], clauses: list[ClauseWords], board: Board) -> tuple[tuple[Claim, ...], list[ClauseWords]]:
    """Let whole mentions take the place of what was read of their sentences without certainty."""
    if any(clause.cues & _TAKING_BACK for clause in clauses):
        return claims, clauses
    for number, clause in enumerate(clauses):
        own = [claim for claim in claims if number in claim.clause_numbers]
        if not clause.blocks or (own and all(claim.certain for claim in own) and not clause.left_over):
            continue
        stretch, clause_numbers = _stretch(clauses, number)
        mention = mentioned(stretch, board, clause_numbers)
        if mention is None or any(not claim.clause_numbers <= clause_numbers for claim in own):
            continue
        retained = [claim for claim in claims if not claim.clause_numbers & clause_numbers]
        claims = tuple(sorted((*retained, mention), key=lambda claim: claim.start))
        clauses = [replace(clause, claims=[mention]) if at in clause_numbers else clause for at, clause in enumerate(clauses)]
    return _with_first(claims), clauses


def _with_orders(claims: tuple[Claim, ...], clauses: Sequence[ClauseWords], board: Board) -> tuple[tuple[Claim, ...], frozenset[int]]:
    """Make a request of a block that one sentence describes and the next orders.

    So "At my left end I see a small red. Put that there." is one request. Gives the claims, and the numbers of the sentences that order.
    """
    ordered = set()
    for number in range(1, len(clauses)):
        reported = [claim for claim in claims if number - 1 in claim.clause_numbers]
        if len(reported) != 1 or not clauses[number].is_bare_order:
            continue
        claim, before = reported[0], clauses[number - 1]
        described = claim.verb == "other" and claim.color is not None and not _is_there(claim, board)
        if (
            described
            and claim.clause_numbers == {number - 1}
            and not before.left_over
            and not before.unknown
            and "denial" not in before.cues
        ):
            claims = tuple(
                replace(one, verb="place", doubt="", clause_numbers=one.clause_numbers | {number}) if one is claim else one
                for one in claims
            )
            ordered.add(number)
    return (_with_first(claims), frozenset(ordered)) if ordered else (claims, frozenset())


def _with_first(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """Let the first instruction be carried out first where the one that was to be is not an instruction any more."""
    lead = next((claim for claim in claims if claim.is_instruction), None)
    if lead is None or any(claim.first for claim in claims):
        return claims
    return tuple(replace(claim, first=True) if claim is lead else claim for claim in claims)


def _stretch(clauses: Sequence[ClauseWords], number: int) -> tuple[ClauseWords, frozenset[int]]:
    """A sentence with those before it that say where, and those behind it that go on about its block."""
    begin, end = number, number + 1
    while not _is_located(clauses[begin:end]) and begin > max(0, number - _REACH) and _is_open(clauses[begin - 1]):
        begin -= 1
    while end < min(len(clauses), number + 1 + _REACH) and _is_open(clauses[end]) and clauses[end].goes_on:
        end += 1
    parts = clauses[begin:end]
    own = clauses[number]
    words, items, remarks = ([one for part in parts for one in getattr(part, name)] for name in ("words", "items", "remarks"))
    return ClauseWords(words, items, lexed(words).unknown, [], own.speaker, remarks, own.cells, own.layers), frozenset(range(begin, end))


def _is_located(clauses: Sequence[ClauseWords]) -> bool:
    kinds = {item.kind for clause in clauses for item in clause.items}
    return "layer" in kinds and not kinds.isdisjoint(("cell", "side"))


def _is_open(clause: ClauseWords) -> bool:
    return not (clause.blocks or clause.claims)


def _unread(clause: ClauseWords, doubt: str, is_open: str) -> UnreadClause | None:
    if is_open:
        start, end = clause.words[0].start, clause.words[-1].end
        settled = is_open.partition(":")[0] in _OF_PLACES and clause.states
        return UnreadClause(
            start=start, end=end, why=is_open, may_ask=True, may_name=not clause.is_talk, may_judge=clause.may_judge, states=settled
        )
    unknown = "" if clause.only_lists else ", ".join(token.word for token in clause.unknown)
    why = ("" if clause.is_filled and not clause.left_over and not doubt else unknown) or clause.left_over or doubt
    if not why or (clause.is_about_support and not unknown):
        return _unjudged(clause, unknown)
    return UnreadClause(
        start=clause.words[0].start,
        end=clause.words[-1].end,
        why=why,
        may_ask=not clause.is_talk,
        may_name=not clause.is_talk and (bool(unknown) or clause.left_over == "a place" or clause.names_by_words),
        may_judge=bool(unknown) and (clause.may_judge or not clause.is_talk),
        states=clause.states,
    )


def _unjudged(clause: ClauseWords, unknown: str) -> UnreadClause | None:
    """A clause that holds nothing of blocks and places beyond its claims, yet may say who sees a place."""
    if not unknown or not clause.may_judge:
        return None
    return UnreadClause(start=clause.words[0].start, end=clause.words[-1].end, why=unknown, may_ask=False, may_name=False, may_judge=True)


def _is_support(claim: Claim, clauses: Sequence[ClauseWords]) -> bool:
    """Whether a claim takes the block below what is asked for to be asked for itself, or ``the next one`` for a block that is seen."""
    if claim.verb == "other" and claim.origins.get("color") == "carried":
        return not claim.cells
    own = [clauses[number] for number in claim.clause_numbers]
    return claim.origins.get("cells") != "stated" and all(c.is_about_support and not c.cues & {"act.place", "act.remove"} for c in own)


def _doubt(claim: Claim, clauses: Sequence[ClauseWords], board: Board) -> str:
    """Give why the words do not bear a claim out; empty if they do."""
    cells = len(claim.cells or ())
    if (cells > _DOMINO and claim.color is not None) or (claim.size == "s" and cells > 1):
        return "more cells than the block has"
    own = [clauses[number] for number in sorted(claim.clause_numbers)]
    others = [clause for clause in clauses if clause not in own]
    doubts = (_clause_doubt(clause, claim) for clause in own)
    return next((doubt for doubt in doubts if doubt), "") or _verb_doubt(claim, own, others, is_there=_is_there(claim, board))


def _clause_doubt(clause: ClauseWords, claim: Claim) -> str:
    against = clause.cues_nearby & AGAINST[claim.verb]
    verbs = {other.verb for other in clause.claims}
    doubts = (
        (bool(against), f"words of {', '.join(sorted(against))} next to it"),
        (bool(clause.left_over), f"{clause.left_over} is left over"),
        (clause.is_strange_to(claim), "another director's side is spoken of"),
        (any(token.word in _SIDE_LETTERS for token in clause.unknown), "a letter that may stand for a place or a size"),
        (clause.puts_into, "what it points at is not known"),
        (claim.verb == "replace" and claim.color is None, "what is to be put there is not stated"),
        ({"place", "remove"} <= verbs and any(other.color is None for other in clause.claims), "both placing and taking away"),
        (bool(clause.unknown) and "resolved" in claim.origins.values(), "a place in relation to another, next to unknown words"),
        (_is_doubtful_word(clause, claim), "an unknown word next to the block or the layer"),
    )
    return next((doubt for holds, doubt in doubts if holds), "")


def _is_doubtful_word(clause: ClauseWords, claim: Claim) -> bool:
    """Whether a word without a meaning is right before a block or a layer, where it may change what is meant."""
    begins = {item.start for item in clause.items if item.kind in ("block", "layer", "side", "cells")}
    after = {one.start: other.start for one, other in zip(clause.words, clause.words[1:], strict=False)}
    before_item = [token for token in clause.unknown if after.get(token.start) in begins]
    return bool(before_item) and not (clause.cues & (ASKS | TAKES) and claim.size and claim.layer is not None)


def _verb_doubt(claim: Claim, clauses: Sequence[ClauseWords], others: Sequence[ClauseWords], *, is_there: bool) -> str:
    cues = frozenset().union(*(clause.cues for clause in clauses))
    if claim.verb == "place":
        return next(
            (doubt for clause in clauses if clause.blocks and (doubt := _asking_doubt(clause, claim, clauses, others, is_there=is_there))),
            "",
        )
    if claim.verb == "remove":
        unclear = any(clause.is_new for clause in clauses) or any(clause.is_ambiguous for clause in clauses)
        named = [clause for clause in clauses if any(block.color for block in clause.blocks)]
        if not cues & TAKES or not all(clause.cues & TAKES or _is_taken_up(clause, clauses) for clause in named):
            return "no word of taking away"
        return "" if is_there or not unclear else "no such block is there to be taken away"
    if claim.verb in ("keep", "confirm", "other") and claim.color is not None:
        if not is_there:
            return "no such block is there"  # nor to be left: "only this keeps my wall from matching: ..."
        remarked = cues & {"praise", "board", "done"} and not any(clause.is_new for clause in clauses)
        return "" if remarked or claim.verb == "keep" else "asked for or only remarked?"
    return ""


def _is_taken_up(clause: ClauseWords, clauses: Sequence[ClauseWords]) -> bool:
    """Whether a clause that names no block itself states what is to become of the one that another clause names."""
    return any(other is not clause and other.cues & TAKES and not any(block.color for block in other.blocks) for other in clauses)


def _asking_doubt(clause: ClauseWords, claim: Claim, own: Sequence[ClauseWords], others: Sequence[ClauseWords], *, is_there: bool) -> str:
    """Give why a clause may not ask for the block it names: it does by a word, or by naming block and place and nothing else."""
    if clause.is_ambiguous and (is_there or not clause.is_new):
        return "its verb puts down as well as throws away"
    if is_there and "act.place" not in clause.cues and (clause.cues & {"praise", "see", "board"} or not clause.cues & ASKS):
        return "such a block is there"
    if clause.cues & {"act.place", "act.cap", "wish"}:
        denied = "denial" in clause.cues and ("target" not in clause.cues or any({"denial", "block"} <= part for part in clause.parts))
        return "denied" if denied else ""
    if "target" in clause.cues:
        return _conflicting(clause, "praise", "board", "denial", "done")
    return _conflicting(clause, "praise", "board", "denial", "see", "done", "asking") or _bare_doubt(
        clause, claim, own, others, is_there=is_there
    )


def _conflicting(clause: ClauseWords, *cues: str) -> str:
    found = clause.cues & set(cues)
    return f"words of {', '.join(sorted(found))} next to it" if found else ""


def _bare_doubt(clause: ClauseWords, claim: Claim, own: Sequence[ClauseWords], others: Sequence[ClauseWords], *, is_there: bool) -> str:
    """Give why a block without any word of asking may not be asked for."""
    if is_there or not (claim.origins.get("cells") == "stated" or any(other.is_bare_place for other in own)):
        return "no word of asking, and " + ("such a block is there" if is_there else "no place of its own")
    if clause.unknown or clause.throws or clause.words[-1].word == "?":
        return "no word of asking, and unknown words or a question"
    return "a word of taking away or of denial is elsewhere" if any(other.cues & (TAKES | {"denial"}) for other in others) else ""


def _is_there(claim: Claim, board: Board) -> bool:
    if not claim.cells or claim.color is None:
        return False
    layers = range(3) if claim.layer is None else [claim.layer]
    return all(any(at < height(board, cell) and board[cell][at][0] == claim.color for at in layers) for cell in claim.cells)
