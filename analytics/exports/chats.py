"""Games as chats for fine-tuning: what an agent received and answered, one line per call, or pairs of a better and a worse answer.

The lines have the fields that trainers take (`messages`; `prompt`, `chosen`, `rejected`), in JSON Lines by split: a folder that the library
`datasets` loads. A puzzle is in one split only, whoever plays it and under whatever name: the split depends on the goal.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import orjson

from analytics.query import condition, query
from games.continuations import exchanges
from ingest.cotrace_log.logged_game import logged_game
from schemas.common.errors import BadInputError, UsageError
from schemas.game import Header, ReplyEntry, Turn
from schemas.store.store import Store

Keep = Literal["all", "successful", "lossless"]
SPLITS: Final = ("train", "validation", "test")

_THOUGHT: Final = re.compile(r"<think>.*?</think>\s*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What goes out."""

    where: str = "true"
    """SQL condition on episodes."""
    roles: Sequence[str] = ()
    """Of these alone; empty: of all."""
    keep: Keep = "all"
    """successful: of games that reached their goal; lossless: of turns that cost nothing by the benchmark's main measure."""
    reasoning: bool = True
    """Whether thoughts stay in the answers."""
    pairs: bool = False
    """Pairs of answers to the same prompt whose turns differ in cost, in place of chats."""
    shares: Sequence[float] = (0.8, 0.1, 0.1)
    """Of puzzles, for train, validation and test."""


@dataclass(slots=True)
class Chats:
    """What went out."""

    lines: Counter[str] = field(default_factory=Counter)
    """By split."""
    games: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Why games could not be made chats of -> how many."""


class _Call(NamedTuple):
    split: str
    prompt: list[dict[str, str]]
    answer: str
    acted: bool
    """Whether the turn's action is the agent's."""
    facts: dict[str, Any]


def export_chats(store: Store, folder: Path, wanted: Wanted = Wanted()) -> Chats:
    """Write `<split>.jsonl` into a folder; splits without a line get no file.

    Raises:
        UsageError: the condition is none, or the shares do not add up to 1.
        OSError: a file cannot be written.
    """
    if len(wanted.shares) != len(SPLITS) or min(wanted.shares) < 0 or abs(sum(wanted.shares) - 1) > 1e-9:  # noqa: PLR2004 - rounding
        raise UsageError(f"splits {', '.join(map(str, wanted.shares))}: give three shares of {', '.join(SPLITS)} that add up to 1")
    chats = Chats()
    calls = _calls(store, wanted, chats)
    written: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for split, line in _pairs(calls) if wanted.pairs else _chats(calls):
        written[split].append(line)
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        (folder / f"{split}.jsonl").unlink(missing_ok=True)
        if written[split]:
            (folder / f"{split}.jsonl").write_bytes(
                b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in written[split])
            )
            chats.lines[split] = len(written[split])
    return chats


def _chats(calls: Iterator[_Call]) -> Iterator[tuple[str, dict[str, Any]]]:
    for call in calls:
        yield call.split, {"messages": [*call.prompt, _assistant(call.answer)], **call.facts}


def _pairs(calls: Iterator[_Call]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cheapest answer to a prompt, with each of the dearer ones."""
    by_prompt: defaultdict[bytes, dict[str, _Call]] = defaultdict(dict)
    for call in calls:
        if call.acted and call.facts["cost"] is not None:
            answers = by_prompt[orjson.dumps([call.facts["benchmark"], call.prompt])]
            known = answers.get(call.answer)
            if known is None or call.facts["cost"] < known.facts["cost"]:
                answers[call.answer] = call
    for answers in by_prompt.values():
        best, *others = sorted(answers.values(), key=lambda call: call.facts["cost"])
        for worse in others:
            if worse.facts["cost"] > best.facts["cost"]:
                yield best.split, _pair(best, worse)


def _pair(best: _Call, worse: _Call) -> dict[str, Any]:
    same = {name: best.facts[name] for name in ("benchmark", "task_id", "turn", "role")}
    sides = {
        f"{side}_{name}": call.facts[name] for side, call in (("chosen", best), ("rejected", worse)) for name in ("episode_id", "cost")
    }
    return {"prompt": best.prompt, "chosen": [_assistant(best.answer)], "rejected": [_assistant(worse.answer)], **same, **sides}


def _assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


# -- out of the store -----------------------------------------------------------------------------


def _calls(store: Store, wanted: Wanted, chats: Chats) -> Iterator[_Call]:
    only = "AND success" if wanted.keep == "successful" else ""
    games = query(
        store,
        "SELECT episode_id, benchmark, task_id, success, score, goal, (origin->>'$.turn')::bigint AS since FROM episodes "
        f"WHERE ({condition(wanted.where)}) {only} ORDER BY benchmark, task_id, episode_id",
    ).to_dicts()
    costs: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    for episode, turn, cost in query(store, "SELECT episode_id, turn, cost FROM turn_costs").iter_rows():
        costs[episode][turn] = cost
    for game in games:
        try:
            _, header, turns = logged_game(store, game["episode_id"])
            found = list(_of_game({**game, "costs": costs[game["episode_id"]]}, header, turns, wanted))
        except (UsageError, BadInputError) as error:
            chats.left_out[str(error)] += 1
            continue
        chats.games += 1
        yield from found


def _of_game(game: Mapping[str, Any], header: Header, turns: Sequence[Turn], wanted: Wanted) -> Iterator[_Call]:
    models = {agent.agent: agent.model or agent.persona for agent in header.agents}
    acting = {(turn.turn, action.agent) for turn in turns for action in turn.actions}
    split = _split(game, wanted.shares)
    for seen, reply in chain.from_iterable(exchanges(header, turns)):
        cost = game["costs"].get(seen.turn)
        unwanted = (wanted.roles and seen.role not in wanted.roles) or seen.turn < (game["since"] or 0) or reply.error is not None
        if unwanted or (wanted.keep == "lossless" and (cost is None or cost > 0)):
            continue
        facts = {name: game[name] for name in ("benchmark", "episode_id", "task_id", "success", "score")}
        who = {"turn": seen.turn, "agent": seen.agent, "role": seen.role, "model": models.get(seen.agent), "cost": cost}
        prompt = [{"role": message["role"], "content": message["content"]} for message in seen.messages]
        yield _Call(split, prompt, _answer(reply, wanted), (seen.turn, seen.agent) in acting, {**facts, **who})


def _answer(reply: ReplyEntry, wanted: Wanted) -> str:
    if not wanted.reasoning:
        return _THOUGHT.sub("", reply.text)
    thought = f"<think>\n{reply.reasoning}\n</think>\n\n" if reply.reasoning else ""
    return thought + reply.text


def _split(game: Mapping[str, Any], shares: Sequence[float]) -> str:
    """The split of a puzzle: always the same, and the same for every game with this goal."""
    puzzle = f"{game['benchmark']}:{game['goal'] or game['task_id']}"
    place = int.from_bytes(hashlib.blake2b(puzzle.encode(), digest_size=8).digest()) / 2**64
    if place < shares[0]:
        return SPLITS[0]
    return SPLITS[1] if place < shares[0] + shares[1] else SPLITS[2]
