"""How texts of CRAFT are read: the claims that directors make, by rules or by a model, and what checks may use of the model's."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple, cast

from games.craft.claims import TYPES, CraftClaim, Layer, Named, Relation, Remark, Request, Stance, View, compatible
from games.craft.engine.board import CELLS, COLORS, DIRECTORS, MAX_HEIGHT, SIZES, WALLS, Board, Cell, Director
from games.craft.text.replies import FAILED_CALL_MESSAGE, NO_MESSAGE, NO_THINKING
from judges.claims.reading import SENTENCE, FamilyReading, Read, ReadClaim, Unread
from judges.craft.language.typed import read_text
from judges.evidence.frame import Frame, in_frame
from judges.evidence.transcript import Transcript, UtteranceView
from schemas.common.packages import packaged_yaml

_DOMINO: Final = 2
_UNPLACED: Final = "which place is meant by another block is not clear"
_ADJACENT: Final = frozenset({"beside", "left_of", "right_of"})
_KINDS: Final = (Request, Remark, Named)
_NAMED: Final = re.compile(r"\b(D[123])\b(?!['\u2019]s)")
_OWN: Final = re.compile(r"\b(?:my|mine|our|ours)\b", re.IGNORECASE)
_THERE: Final = frozenset({"stands", "confirm", "keep"})
_SIDES: Final = frozenset({"left", "right", "middle", "corner", "centre", "center"})
_OF_THE_GAME: Final = re.compile(
    rf"\b(?:{'|'.join(COLORS.values())})\b|\(\s*[0-2]\s*,\s*[0-2]\s*\)|\b(?:{'|'.join(sorted(_SIDES))})\b", re.IGNORECASE
)
"""Words that no part of a text has that claims nothing: a part with one of them which no claim quotes was not understood."""


class Standing(NamedTuple):
    """A block and where it is."""

    code: str
    """Colour and size letter; the size may be missing of a block that is asked for."""
    cells: tuple[Cell, ...]
    """Both of a large one, if known."""
    layer: int

    def __str__(self) -> str:
        known = self.code[:1] in COLORS and self.code[1:] in SIZES
        block = f"{SIZES[self.code[1:]]} {COLORS[self.code[:1]]}" if known else "some block"
        return f"{block} {'+'.join(self.cells)} layer {self.layer}"


class _Spot(NamedTuple):
    """A place as far as a relation gives it."""

    cells: tuple[Cell, ...] = ()
    layer: int | None = None
    stated: bool = True
    """Whether the text gives it; not if it speaks of a block where the board has none, and all blocks that it can mean lead here."""


def board_of(state: Mapping[str, Any]) -> Board:
    """A state's board, nine canonical cells."""
    stacks = state.get("stacks", {})
    return Board.from_json({cell: stacks.get(cell, ()) for cell in CELLS}, state.get("spans"))


def blocks_of(board: Board) -> Iterator[Standing]:
    """Give each block of a board once; a large one whose other half is recorded outside the grid by the cell that is inside."""
    for cell in CELLS:
        for layer, code in enumerate(board.stack(cell)):
            partner = board.partner(cell, layer) if code[1:] == "l" else None
            if partner not in CELLS:
                yield Standing(code, (cell,), layer)
            elif CELLS.index(cell) < CELLS.index(partner):
                yield Standing(code, (cell, partner), layer)


def resolved(read: Read[CraftClaim], text: str, speaker: Director, board: Board) -> Read[CraftClaim]:
    """Work out what a model's reading leaves to the program."""
    reported = [one for each in read.claims for one in _counted(_understood(each, read.unread))]
    reported = _placed(reported, speaker, board)
    unread = [*read.unread, *_unquoted(read, text)]
    unread += [
        Unread(one.claim.words, _UNPLACED, (Named,), one.start, one.end)
        for one in reported
        if one.certain and isinstance(one.claim, Request | Remark) and one.claim.place_open
    ]
    unread += [
        Unread(one.claim.words, one.doubt or "", (Named, *([Request] if isinstance(one.claim, Request) else [])), one.start, one.end)
        for one in reported
        if not one.certain and isinstance(one.claim, Request | Remark)
    ]
    named, final = [*_named(read.claims, reported)], [*reported]
    for index, one in enumerate(reported):
        doubt = _unsure(one, reported, board)
        if doubt is not None and isinstance(one.claim, Request):
            final[index] = one._replace(doubt=doubt)
            unread.append(Unread(one.claim.words, doubt, (Request,), one.start, one.end, one.claim.when != "now"))
    final = [one for one in final if not (isinstance(one.claim, Request) and one.claim.retracted)]
    final += named
    final += _views(reported, text)
    asks = any(isinstance(one.claim, Request) and one.certain for one in final)
    unread += [
        Unread(one.claim.words, "asks for what another director asked for", (Request, Named), one.start, one.end)
        for one in reported
        if isinstance(one.claim, Stance) and one.claim.asks and not asks
    ]
    return Read(tuple(final), tuple(unread), read.vouched)


def _understood(claimed: ReadClaim[CraftClaim], unread: Iterable[Unread]) -> ReadClaim[CraftClaim]:
    """Doubt a claim about a block if a part of its words was not understood."""
    if not claimed.certain or not isinstance(claimed.claim, Request | Remark) or claimed.start is None or claimed.end is None:
        return claimed
    start, end = claimed.start, claimed.end
    inside = (one for one in unread if one.start is not None and one.end is not None and one.start < end and start < one.end)
    part = next(inside, None)
    return claimed if part is None else claimed._replace(doubt=f'"{part.words}" was not understood ({part.why})')


def _unsure(claimed: ReadClaim[CraftClaim], all_claimed: Iterable[ReadClaim[CraftClaim]], board: Board) -> str | None:
    """Why a request that was understood may ask for nothing now: a condition, or the text states that the block is there, and it is."""
    claim = claimed.claim
    if not isinstance(claim, Request) or not claimed.certain or claim.retracted:
        return None
    if claim.condition is not None:
        return f'only on a condition: "{claim.condition}"'
    if claim.verb != "place" or not claim.cells or claim.color is None:
        return None
    layers = range(MAX_HEIGHT) if claim.layer is None else [claim.layer]
    stacks = [board.stack(cell) for cell in claim.cells]
    if not any(all(layer < len(stack) and stack[layer].startswith(claim.block or claim.color) for stack in stacks) for layer in layers):
        return None
    there = (one.claim for one in all_claimed if one.certain and isinstance(one.claim, Remark) and one.claim.verb in _THERE)
    reply = next((remark for remark in there if compatible(claim, remark, ignoring=("verb",))), None)
    return None if reply is None else f"the text also states: {reply}"


def _counted(claimed: ReadClaim[CraftClaim]) -> Iterator[ReadClaim[CraftClaim]]:
    """Make a claim about several small blocks one claim for each; a request is doubtful where number and cells do not fit."""
    claim = claimed.claim
    if not isinstance(claim, Request | Remark) or claim.count == 1 or (isinstance(claim, Remark) and not claim.cells):
        yield claimed
    elif claim.size != "l" and len(claim.cells) == claim.count:
        yield from (claimed._replace(claim=replace(claim, cells=(cell,), count=1)) for cell in claim.cells)
    else:
        yield claimed if not claimed.certain else claimed._replace(doubt=f"{claim.count} blocks, and {len(claim.cells) or 'no'} cells")


# -- places -------------------------------------------------------------------------------------------


def _placed(reported: Sequence[ReadClaim[CraftClaim]], speaker: Director, board: Board) -> list[ReadClaim[CraftClaim]]:
    """Place blocks by other blocks; by those that the same text asks for, too, as soon as these have a place."""
    found, waiting = list(reported), [index for index, one in enumerate(reported) if _relations(one)]
    progress = True
    while waiting and progress:
        progress = False
        for index in list(waiting):
            asked = [_asked(one.claim, board) for other, one in enumerate(found) if other != index and other not in waiting and one.certain]
            spot = _spot(cast("Request | Remark", found[index].claim), [one for one in asked if one is not None], speaker, board)
            if spot is not None:
                found[index] = found[index]._replace(claim=_at(cast("Request | Remark", found[index].claim), spot))
                waiting.remove(index)
                progress = True
    for index in waiting:
        one, claim = found[index], cast("Request | Remark", found[index].claim)
        # whether the text gives all cells itself, so that a block next to them that cannot be found changes nothing
        if one.certain and claim.cells and (not (claim.one_block and {relation.how for relation in claim.relations} <= _ADJACENT)):
            found[index] = one._replace(doubt=_UNPLACED)
    return [_removal(one, speaker, board) for one in found]


def _relations(claimed: ReadClaim[CraftClaim]) -> tuple[Relation, ...]:
    return claimed.claim.relations if isinstance(claimed.claim, Request | Remark) else ()


def _asked(claim: CraftClaim, board: Board) -> Standing | None:
    if not isinstance(claim, Request) or claim.color is None or not claim.cells or claim.retracted:
        return None
    layer = max(map(board.height, claim.cells)) if claim.layer is None else claim.layer
    return Standing(claim.color + (claim.size or ""), claim.cells, layer)


def _at(claim: Request | Remark, spot: _Spot) -> Request | Remark:
    layer = claim.layer if spot.layer is None else spot.layer
    placed = replace(claim, cells=spot.cells or claim.cells, layer=cast("Layer | None", layer), relations=())
    return placed if spot.stated or isinstance(placed, Remark) else replace(placed, stated=False)


def _spot(claim: Request | Remark, asked: Sequence[Standing], speaker: Director, board: Board) -> _Spot | None:
    """Where all relations of a claim put it; None if that is several places, or none."""
    # whose wall words mean: that of another director if they say what it needs ("D3 needs a green one next to it"), else the speaker's
    named = [name for name in DIRECTORS if name in _NAMED.findall(claim.words)]
    spots, wall = [_Spot(claim.cells, claim.layer)], (named[0] if len(named) == 1 and not _OWN.search(claim.words) else speaker)
    for relation in claim.relations:
        options = list(_options(claim, relation, asked, wall, board))
        spots = [joined for one, other in product(spots, options) if (joined := _joined(one, other)) is not None]
    return spots[0] if len({(frozenset(one.cells), one.layer) for one in spots}) == 1 else None


def _joined(one: _Spot, other: _Spot) -> _Spot | None:
    """Two descriptions of one place; None if they contradict each other. Of a large block one may give a cell, the other both."""
    if None not in (one.layer, other.layer) and one.layer != other.layer:
        return None
    layer = other.layer if one.layer is None else one.layer
    few, many = sorted((one.cells, other.cells), key=len)
    return _Spot(many, layer, one.stated and other.stated) if set(few) <= set(many) else None


def _options(claim: Request | Remark, relation: Relation, asked: Sequence[Standing], speaker: Director, board: Board) -> Iterator[_Spot]:
    alternatives = _others(claim, relation, asked, speaker, board)
    for others in alternatives:
        yield from (spot._replace(stated=len(alternatives) == 1) for spot in _spots(claim, relation, others, speaker, board))


def _spots(claim: Request | Remark, relation: Relation, others: Sequence[Standing], speaker: Director, board: Board) -> Iterator[_Spot]:
    layers = {other.layer for other in others}
    if len(layers) != 1:
        return
    layer = layers.pop()
    cells = tuple(dict.fromkeys(cell for other in others for cell in other.cells))
    match relation.how:
        case "same_layer":
            yield _Spot((), layer)
        case "same_cells":
            yield _Spot(cells)
        case "on" | "covering" | "under":
            to = layer + (-1 if relation.how == "under" else 1)
            if to in range(MAX_HEIGHT):
                yield from (_Spot(part, to) for part in _parts(claim, cells, speaker))
        case _:
            yield from (_Spot(part, layer) for part in _neighbours(claim, relation, _Spot(cells, layer), speaker, board))


def _parts(claim: Request | Remark, cells: tuple[Cell, ...], speaker: Director) -> Iterator[tuple[Cell, ...]]:
    """What a block covers of cells under or over it: both or the one that the claim names, else all if it fits."""
    if claim.cells:
        if not set(cells).isdisjoint(claim.cells) and (claim.size == "l" or set(claim.cells) <= set(cells)):
            yield claim.cells
        return
    own = tuple(cell for cell in cells if cell in WALLS[speaker]) or cells
    if claim.size == "l":
        yield own[:_DOMINO]  # of a smaller block below, one end of the large one
    else:
        yield from ((cell,) for cell in own)


def _neighbours(claim: Request | Remark, relation: Relation, other: _Spot, speaker: Director, board: Board) -> Iterator[tuple[Cell, ...]]:
    """Cells next to a block on the speaker's wall; of two sides the one where the block could go."""
    wall = WALLS[speaker]
    at = [wall.index(cell) for cell in other.cells if cell in wall]
    if not at:
        return
    width = _DOMINO if claim.size == "l" else 1
    before, after = tuple(wall[max(min(at) - width, 0) : min(at)]), tuple(wall[max(at) + 1 : max(at) + 1 + width])
    sides = {"left_of": [before], "right_of": [after]}.get(relation.how, [before, after])
    whole = [side for side in sides if len(side) == width]
    named = [side for side in whole if set(claim.cells) <= set(side)]
    free = [side for side in named if all(board.height(cell) == other.layer for cell in side)]
    yield from free if len(free) == 1 else named


def _others(
    claim: Request | Remark, relation: Relation, asked: Sequence[Standing], speaker: Director, board: Board
) -> Sequence[Sequence[Standing]]:
    """The blocks that a relation may speak of, each time exactly as many as it names; empty if that is not settled.

    A text may see a block in a place where the board has none, and the board has such a block elsewhere: it may mean either.
    """
    standing = [block for block in blocks_of(board) if _fits(relation, block, speaker)]
    wanted = [block for block in asked if _fits(relation, block, speaker)]
    pools = (wanted, standing) if relation.asked else (standing, wanted)
    pool: Sequence[Standing] = next((pool for pool in pools if len(pool) >= relation.count), ())
    if not pool and relation.cells and relation.layer is not None:
        reported = [Standing("", relation.cells, relation.layer)] * relation.count  # the text itself states where it is
        anywhere = replace(relation, cells=(), layer=None)
        if relation.asked or not any(_fits(anywhere, block, speaker) for block in blocks_of(board)):
            return [reported]
        elsewhere = _others(claim, anywhere, asked, speaker, board)
        return [reported, *elsewhere] if elsewhere else ()
    uses = relation.how in ("on", "covering")
    narrowings: Sequence[Callable[[Standing], bool]] = (
        lambda block: not set(block.cells).isdisjoint(WALLS[speaker]),
        lambda block: not uses or not claim.cells or not set(block.cells).isdisjoint(claim.cells),
        lambda block: not uses or all(board.height(cell) <= block.layer + 1 for cell in block.cells),
    )
    for narrowing in narrowings:
        if len(pool) > relation.count:
            fewer = [block for block in pool if narrowing(block)]
            pool = fewer if len(fewer) >= relation.count else pool
    return [pool] if len(pool) == relation.count else ()


def _fits(relation: Relation, block: Standing, speaker: Director) -> bool:
    """Whether a block is as a relation states; of a large one whose other cell is off the speaker's wall the end looks small."""
    looks = "s" if len(set(block.cells) & set(WALLS[speaker])) == 1 else block.code[1:]
    cells, named = set(block.cells), set(relation.cells)
    return (
        relation.color in (None, block.code[:1])
        and (relation.size in (None, block.code[1:], looks) or not block.code[1:])
        and relation.layer in (None, block.layer)
        and (named <= cells or cells <= named)
    )


def _removal(claimed: ReadClaim[CraftClaim], speaker: Director, board: Board) -> ReadClaim[CraftClaim]:
    """Give a removal without a place the block that it can mean, if the board has only one."""
    claim = claimed.claim
    if not isinstance(claim, Request) or claim.verb != "remove" or claim.cells or claim.color is None or not claimed.certain:
        return claimed
    means = Relation(how="same_cells", color=claim.color, size=claim.size, layer=claim.layer)
    [others] = _others(claim, means, (), speaker, board) or [()]
    if len(others) != 1:
        return claimed
    return claimed._replace(claim=replace(claim, cells=others[0].cells, layer=cast("Layer", others[0].layer), stated=False))


# -- what follows from the words ----------------------------------------------------------------------------


def _named(written: Iterable[ReadClaim[CraftClaim]], placed: Iterable[ReadClaim[CraftClaim]]) -> Iterator[ReadClaim[CraftClaim]]:
    seen = {one.claim.cell for one in placed if isinstance(one.claim, Named)}
    for one in (*placed, *written):
        if isinstance(one.claim, Request | Remark | View) and one.certain:
            relations = () if isinstance(one.claim, View) else one.claim.relations
            for cell in (*one.claim.cells, *(cell for relation in relations for cell in relation.cells)):
                if cell not in seen:
                    seen.add(cell)
                    yield ReadClaim(Named(cell=cell, words=one.claim.words), one.start, one.end)


def _views(reported: Iterable[ReadClaim[CraftClaim]], text: str) -> Iterator[ReadClaim[CraftClaim]]:
    """Who sees blocks by the claims about them, and that a text has "my" where nothing else is stated."""
    found = [one for one in reported if isinstance(one.claim, Request | Remark) and one.claim.seen_by is not None]
    for one in found:
        claim = cast("Request | Remark", one.claim)
        if claim.seen_by is not None:
            yield ReadClaim(View(seen_by=claim.seen_by, cells=claim.cells, words=claim.words), one.start, one.end)
    own = _OWN.search(text)
    if own is not None and not found and not any(isinstance(one.claim, View) for one in reported):
        yield ReadClaim(View(seen_by="seat", words=own[0]), own.start(), own.end())


def _unquoted(read: Read[CraftClaim], text: str) -> Iterator[Unread]:
    """Words of the game that no claim and no stretch that was not understood quotes, unless they repeat what a claim states.

    A reader writes down each block once, so a second mention is quoted by no claim: claims speak of each colour and cell in it.
    """
    places = [*((one.start, one.end) for one in read.claims), *((one.start, one.end) for one in read.unread)]
    quoted = [(start, end) for start, end in places if start is not None and end is not None]
    known = frozenset(_spoken_of(one.claim for one in read.claims if one.certain))
    for sentence in SENTENCE.finditer(text):
        words = [word for word in _OF_THE_GAME.finditer(text, *sentence.span()) if not _covers(quoted, *word.span())]
        named = {"".join(word[0].split()).casefold() for word in words} - _SIDES
        is_read = any(start < sentence.end() and sentence.start() < end for start, end in quoted)
        if words and not (named <= known if named else is_read):
            yield Unread(sentence[0].strip(), "no claim quotes these words", _KINDS, *sentence.span())


def _covers(quoted: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    return any(begin <= start and end <= stop for begin, stop in quoted)


def _spoken_of(claims: Iterable[CraftClaim]) -> Iterator[str]:
    for claim in claims:
        blocks = (claim, *claim.relations) if isinstance(claim, Request | Remark) else ()
        yield from (COLORS[block.color] for block in blocks if block.color is not None)
        yield from (cell for block in blocks for cell in block.cells)
        if isinstance(claim, Request) and claim.old_color is not None:
            yield COLORS[claim.old_color]
        if isinstance(claim, Named):
            yield claim.cell
        if isinstance(claim, View):
            yield from claim.cells


_FAILED_THOUGHT: Final = "Error in generation:"
_PROMPT: Final = packaged_yaml(__package__, "reading.yaml")
_SIDE_NAMES: Final = ("left", "middle", "right")

_REFERS: Final = frozenset(str(_PROMPT["refers"]).split())
"""Words that may speak of a block on the board."""

_WORD: Final = re.compile(r"[a-z]+")


def reads(message: UtteranceView) -> bool:
    """Whether a text is one that makes claims: a director's, and not one that the log itself wrote where nothing came."""
    if message.agent not in WALLS:
        return False
    text = message.text.replace("</message>", "").strip()
    if message.channel == "private":
        return text not in ("", NO_THINKING) and not text.startswith(_FAILED_THOUGHT)
    return text not in ("", NO_MESSAGE, FAILED_CALL_MESSAGE)


def _read_message(game: Transcript, turn: int, message: UtteranceView) -> Read[CraftClaim]:
    """Read a director's text by rules, before the board of its turn."""
    stacks: dict[str, Any] = game.turn(turn).state_before.get("stacks", {})
    return read_of_rules(message.text, message.agent, tuple(tuple(stacks.get(cell, ())) for cell in CELLS))


@lru_cache(maxsize=4096)
def read_of_rules(text: str, speaker: str, stacks: tuple[tuple[str, ...], ...]) -> Read[CraftClaim]:
    """What the rules read in a director's text, before a board as the stacks of `CELLS`.

    Cached: every rubric, every probe, attribution and pages ask for the same messages.
    """
    return read_text(text.replace("</message>", " " * len("</message>")), speaker, dict(zip(CELLS, stacks, strict=True)))


def _resolve(read: Read[CraftClaim], game: Transcript, turn: int, message: UtteranceView) -> Read[CraftClaim]:
    """Work out what a model's reading leaves to the program: places given by other blocks, and what follows from the words."""
    speaker = next(name for name in DIRECTORS if name == message.agent)
    return resolved(read, message.text, speaker, board_of(game.turn(turn).state_before))


def _frame(game: Transcript, turn: int, message: UtteranceView) -> Frame:
    """What a director's words refer to: the walls, and the board where the text may speak of what is on it."""
    kind = "a public message" if message.channel == "public" else "private reasoning"
    walls = Frame.own("; ".join(f"{name}: {_in_order(cells)}" for name, cells in WALLS.items()))
    shown = Frame(_PROMPT["frame"], kind=kind, speaker=in_frame(message.agent), walls=walls)
    if _REFERS.isdisjoint(_WORD.findall(message.text.casefold())):
        return shown
    blocks = "; ".join(map(str, blocks_of(board_of(game.turn(turn).state_before))))  # words of our own tables, whatever the log states
    return Frame("{}\n\n{}", shown, Frame(_PROMPT["board"], blocks=Frame.own(blocks or "none, it is empty")))


def _in_order(cells: tuple[str, ...]) -> str:
    return ", ".join(f"{side} {cell}" for side, cell in zip(_SIDE_NAMES, cells, strict=True))


_WEAK: Final = frozenset({("view", "seen_by", "seat"), ("stance", "attitude", "named"), ("remark", "verb", None)})
READING: Final = FamilyReading(types=TYPES, prompt=_PROMPT, reads=reads, frame=_frame, read=_read_message, resolve=_resolve, weak=_WEAK)
