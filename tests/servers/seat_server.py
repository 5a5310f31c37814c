"""A local server that takes seats at CRAFT and Einstein Puzzles.

It gets a prompt and nothing else, and answers what a script would say in that situation.
`python -m tests.servers.seat_server MODE` prints its port. MODE: `script`, `slow`, `garbage`, `refusal`, `empty`, or `flaky`, where
some first attempts fail.
`GET /stats` counts requests and different prompts.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from typing import Any, get_args

from aiohttp import web

from games.craft.engine.blocks import Director
from games.craft.engine.board import Board
from games.craft.engine.move import Move
from games.craft.engine.views import View, ViewedBlock
from games.craft.players import plain
from games.craft.text.observations import BuilderObservation, DirectorObservation
from games.einstein.engine.actions import Pass, Share, parse_answer
from games.einstein.engine.bins import REACH
from games.einstein.game import AGENTS, Observation
from games.einstein.seated import script_answer
from games.einstein.text.prompts import FAILED, HistoryEntry, read_system_prompt, read_user_prompt

DIRECTORS: tuple[Director, ...] = get_args(Director)
NO_MESSAGES = "(no director has said anything)"


def view(rows: dict[str, list[dict[str, Any]]]) -> View:
    """A view out of the JSON of a prompt."""
    return tuple(tuple(ViewedBlock(block["color"], block["size"]) for block in rows[f"row_{layer}"]) for layer in range(3))


def after(text: str, heading: str) -> str:
    """The paragraph below a heading."""
    return text.split(heading + "\n", 1)[1].split("\n\n", 1)[0]


def answer(messages: list[dict[str, str]]) -> str:
    """What the script says to what the prompt holds."""
    system, text = messages[0]["content"], messages[1]["content"]
    if "Player" in text.split("\n")[1]:
        return einstein_answer(system, text)
    speaker = re.search(r"You are (D[123]), a director", system)
    if speaker:
        (director,) = (name for name in DIRECTORS if name == speaker[1])
        walls = json.loads(after(text, "The board now, all three walls:"))
        return plain.director(
            DirectorObservation(
                director=director,
                turn=0,
                target_view=view(json.loads(after(text, "Your target:"))),
                board_views={name: view(walls[name]) for name in DIRECTORS},
                history=(),
            )
        )
    stacks = json.loads(after(text, "The board now, each stack from the bottom up:").splitlines()[0])
    said = after(text, "What the directors say this turn:")
    listed = tuple(candidate(line) for line in text.splitlines() if re.match(r"(PLACE \w\w at|REMOVE from) ", line))
    return plain.builder(BuilderObservation(0, Board.from_json(stacks, {}), "" if said == NO_MESSAGES else said, listed))


def einstein_answer(system: str, text: str) -> str:
    """What the sensible player says to what the prompt holds."""
    mode, _ = read_system_prompt(system)
    shown = read_user_prompt(text)
    places: dict[int, Any] = {int(block.removeprefix("block")): name for name, blocks in shown.bins.items() for block in blocks}
    seen = Observation(
        agent=AGENTS[shown.player],
        player=shown.player,
        step=len(shown.history),
        mode=mode,
        partner_mode=mode,
        num_objects=len(places),
        items=tuple(item(line) for line in shown.items),
        positions=tuple(places[block] for block in sorted(places)),
        reach=REACH[shown.player],
        history=tuple(entry(line, shown.player) for line in shown.history),
        system=system,
        user=text,
    )
    return script_answer("sensible", seen)


def item(line: str) -> Any:
    """A piece of knowledge out of its line."""
    action = parse_answer(f"<ACTION>share {line}</ACTION>").action
    assert isinstance(action, Share), line
    return action.item


def entry(line: str, reader: int) -> HistoryEntry:
    """A step out of its history line."""
    who, _, what = line.partition(": ")
    player: Any = reader if who == "You" else 1 - reader
    done = what.removesuffix(FAILED)
    action = Pass() if done == "pass the turn" else parse_answer(f"<ACTION>{done}</ACTION>").action
    return HistoryEntry(player, action, not what.endswith(FAILED))


def candidate(line: str) -> Move:
    """A listed move out of its line."""
    found = re.fullmatch(r"(?:PLACE (\w\w) at|REMOVE from) (\S+) layer (\d)(?: spanning to (\S+))?", line)
    assert found
    return Move("place" if found[1] else "remove", found[1], found[2], int(found[3]), found[4])


def main() -> None:
    """Serve until killed."""
    mode = sys.argv[1]
    attempts: Counter[str] = Counter()

    async def chat(request: web.Request) -> web.Response:
        body = await request.json()
        prompt = json.dumps(body["messages"])
        attempts[prompt] += 1
        if mode == "flaky" and attempts[prompt] == 1 and attempts.total() % 3 == 0:
            return web.json_response({"error": {"message": "try again"}}, status=500)
        if mode == "slow":
            await asyncio.sleep(0.05)
        texts = {"garbage": "\u2603 <mess age> PLACE::::", "refusal": "I cannot help with that.", "empty": ""}
        message = {"role": "assistant", "content": texts[mode] if mode in texts else answer(body["messages"])}
        return web.json_response(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )

    async def stats(_: web.Request) -> web.Response:
        return web.json_response({"requests": attempts.total(), "prompts": len(attempts)})

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/stats", stats)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        sockets = site._server.sockets  # type: ignore[union-attr]
        print(sockets[0].getsockname()[1], flush=True)  # noqa: T201 - the test reads it
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
