"""A local server that takes seats at every game.

It gets a prompt and nothing else, and answers what a script would say in that situation (`tests.servers.seats`).
`python -m tests.servers.seat_server MODE` prints its port. MODE: `script`, `slow`, `garbage`, `refusal`, `empty`, or `flaky`, where
some first attempts fail.
`GET /stats` counts requests and different prompts.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

from aiohttp import web

from tests.servers.seats import answer


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
