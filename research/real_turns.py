"""Turns of many models' games, each as a game of one turn, so that faults of directors can be counted beyond a handful of whole games.

`shared/data/craft/real_utterances` has messages that 14 models wrote as directors, with the board before the builder's move and that move;
whole games are not there. Independent annotators wrote down what 165 of the messages ask for, without knowing of cotrace: these
annotations are the key. A fault is right if the annotation has what the fault claims:

* `wrong_instruction`: the request, by verb, cells and block (that board or view contradict it is arithmetic);
* `not_said`: nothing that is asked for;
* `said_unclear`: a message that is not specific.

With the annotations as a reader, attribution alone is measured, without the reading. Its key is `research/rated_turns.csv`: 64 messages,
half of them with a fault and half without, rated by a language model that saw wall, board, view and message, and not which had a fault.
A fault is right if the rater found that very fault.

A text without an annotation, or one that its annotators call ambiguous, cannot be checked. The same text by the same director of the same
game counts as annotated wherever it is repeated. A move that was refused is not known: a question takes its place.
Directors were shown targets in small blocks, those of D2 and D3 mirrored.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from analytics.query import query
from games.craft.claims import TYPES
from games.craft.engine.board import CELLS, DIRECTORS, NEIGHBORS, Board, all_views, views_json
from games.craft.engine.rules import Move, execute
from judges.claims.extraction import rows_of
from judges.claims.reading import Read, ReadClaim
from judges.claims.texts import put, texts
from schemas.claims import read_claim
from schemas.records import Claim
from schemas.store.store import Store

_COLORS: Final = {"g": "green", "b": "blue", "r": "red", "y": "yellow", "o": "orange"}
_CHANGES: Final = frozenset({"place", "remove", "replace"})
_ASKS: Final = _CHANGES | {"keep"}
_PER_TURN: Final = itemgetter("model", "structure_id", "turn")
_PER_TEXT: Final = itemgetter("model", "structure_id", "speaker", "utterance")

Annotated = Mapping[tuple[str, int, str], Mapping[str, Any]]
"""(file, turn, director) -> what the annotators found in the message."""


def write_turns(data: Path, folder: Path) -> Annotated:
    """Write the turns as logs of one turn; gives the annotations of their messages.

    Args:
        data: folder with `real_utterances` and `structures_dataset_20.json`.
        folder: that the logs go to.
    """
    structures = {one["id"]: one for one in json.loads((data / "structures_dataset_20.json").read_text(encoding="utf-8"))}
    messages = _lines(data / "real_utterances" / "utterances.jsonl")
    by_id = {one["id"]: one for one in messages}
    known = {_PER_TEXT(by_id[one["id"]]): one for one in _lines(data / "real_utterances" / "claims.jsonl")}
    found: dict[tuple[str, int, str], Mapping[str, Any]] = {}
    for (model, structure, turn), group in groupby(sorted(messages, key=_PER_TURN), _PER_TURN):
        sent = list(group)
        name = f"{model}_{structure}_{turn:02}.jsonl"
        log = _log(sent, structures[structure])
        (folder / name).write_text("\n".join(map(json.dumps, log)) + "\n", encoding="utf-8")
        found |= {(name, 1, one["speaker"]): known[_PER_TEXT(one)] for one in sent if _PER_TEXT(one) in known}
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _log(sent: Sequence[Mapping[str, Any]], structure: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Header, turn and end, as cotrace writes its own logs."""
    first = sent[0]
    before = _board(first["board_before"], structure["spans"])
    everybody = [*DIRECTORS, "Builder"]
    views = views_json(all_views(Board.from_json(structure["structure"], structure["spans"]), "flat_mirrored"))
    agents = [
        {"agent": agent, "role": "director" if agent in views else "builder", "model": None, "persona": None,
         "private_view": views.get(agent), "view_kind": "flat_mirrored" if agent in views else None}
        for agent in everybody
    ]  # fmt: skip
    yield {
        "cotrace_log": 1, "benchmark": "craft", "episode": first["id"], "agents": agents, "model": first["model"], "seed": 1,
        "max_turns": 20,
        "run": {"name": "turns", "condition": {}},
        "started_at": "2026-01-01T00:00:00", "details": {}, "team": {"director": first["model"]},
        "task": {"id": first["structure_id"], "goal": {"stacks": structure["structure"], "spans": structure["spans"]}},
    }  # fmt: skip
    move = first["move"]
    arguments = {name: move[name] for name in ("block", "position", "layer", "span_to")} if move else {"question": "Which one?"}
    verb, after = (move["verb"], _after(before, move["verb"], arguments)) if move else ("clarify", before)
    yield {
        "turn": 1, "at": "2026-01-01T00:00:30", "state_before": _state(before), "state_after": _state(after), "goal_reached": False,
        "utterances": [
            {"agent": one["speaker"], "channel": "public", "audience": everybody, "text": one["utterance"], "superseded": False}
            for one in sent
        ],
        "actions": [
            {"agent": "Builder", "verb": verb, "arguments": arguments, "raw": None, "accepted": True if move else None,
             "error_code": None, "error_text": None, "undoes": verb == "remove"}
        ],
    }  # fmt: skip
    yield {"end": {"success": None, "score": None, "stop_reason": None, "turns_taken": 1, "error": None, "metrics": {}, "survey": []}}


def _board(stacks: Mapping[str, Sequence[str]], target: Mapping[str, Sequence[Sequence[str]]]) -> Board:
    """A board that the source writes without its spans: large halves are paired, as in the target where that fits."""
    spans = {}
    for layer in range(3):
        halves = {cell: stacks[cell][layer] for cell in CELLS if len(stacks.get(cell, ())) > layer and stacks[cell][layer][1:] == "l"}
        spans[str(layer)] = next(_pairings(halves, [{*pair} for pair in target.get(str(layer), ())]), [])
    return Board.from_json({cell: stacks.get(cell, ()) for cell in CELLS}, spans)


def _pairings(halves: Mapping[str, str], wanted: Sequence[set[str]]) -> Iterator[list[list[str]]]:
    if not halves:
        yield []
        return
    cell, *others = halves
    fitting = [other for other in others if other in NEIGHBORS[cell] and halves[other] == halves[cell]]
    for other in sorted(fitting, key=lambda other: {cell, other} not in wanted):
        left = {name: code for name, code in halves.items() if name not in {cell, other}}
        yield from ([[cell, other], *rest] for rest in _pairings(left, wanted))


def _after(board: Board, verb: str, arguments: Mapping[str, Any]) -> Board:
    return execute(board, Move.from_log({"action": verb, **arguments})).board


def _state(board: Board) -> dict[str, Any]:
    return {"stacks": {cell: list(board.stack(cell)) for cell in CELLS}, "spans": board.spans_json()}


def take_annotations(store: Store, annotated: Annotated, reader: str) -> None:
    """Store the annotations as a model's readings; those that are called ambiguous are left out."""
    files = dict(query(store, "SELECT episode_id, path FROM episodes INNER JOIN sources USING (source_id)").rows())
    rows: list[Claim] = []
    for text in texts(store):
        found = annotated.get((Path(files[text.game.episode_id]).name, text.turn, text.message.agent))
        if found is not None and not found["ambiguous"]:
            words = text.message.text  # the annotators have looked at all of it
            claims: list[ReadClaim[Any]] = [
                ReadClaim(read_claim(TYPES, _claim(one), words), 0, len(words), None) for one in found["claims"]
            ]
            rows += rows_of(Read[Any](tuple(claims), ()), text.place, reader)
    put(store, reader, rows)


def _claim(annotated: Mapping[str, Any]) -> dict[str, Any]:
    asks = annotated["verb"] in _CHANGES
    about = {name: annotated[name] for name in ("color", "size", "cells", "layer") if annotated[name] is not None}
    count = len(about.get("cells", ())) if about.get("size") == "s" else 1
    return {"kind": "request" if asks else "remark", "verb": annotated["verb"] if asks else "other", "count": count or 1, **about}


def is_found(link: str, found: str | None) -> bool | None:
    """Whether a rater found a fault; None if the message was not rated, or the rater left it open."""
    return None if found in {None, "open"} else link in str(found).split("+")


def holds(link: str, evidence: str, annotated: Mapping[str, Any] | None) -> bool | None:
    """Whether an annotation has what a fault claims; None if that is not known."""
    if annotated is None or annotated["ambiguous"]:
        return None
    asked = [claim for claim in annotated["claims"] if claim["verb"] in _ASKS]
    if link == "not_said":
        return not asked
    if link == "said_unclear":
        return bool(annotated["specific"] == "no")
    head = evidence.partition(' ("')[0]
    cells = {*re.findall(r"\(\d,\d\)", head)}
    return any(_is_request(claim, head, cells) for claim in asked)


def _is_request(claim: Mapping[str, Any], head: str, cells: set[str]) -> bool:
    sizes = {"s": "small", "l": "large"}
    words = [_COLORS.get(claim["color"]), sizes.get(claim["size"])]
    named = {word for word in (*_COLORS.values(), *sizes.values()) if re.search(rf"\b{word}\b", head)}
    return head.startswith(claim["verb"]) and cells <= {*(claim["cells"] or ())} and named <= {word for word in words if word}
