"""A local server that takes seats at every game.

It gets a prompt and nothing else, and answers what a script would say in that situation (`tests.servers.seats`).
`python -m tests.servers.seat_server` prints its port. How it answers stands in front of the path, as in `/script/v1`: `script`, `slow`,
`garbage`, `refusal`, `empty`, `cut` (at its token limit), `parrot` and `parrot-line` (the last paragraph or line of the prompt), `steady`
(the same words after 50 ms), `thinking` (a draft in tags, then what a script would say), or `flaky`, where some first attempts fail.
`GET /<mode>/stats` counts requests and different prompts.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict

from aiohttp import web

from tests.servers.seats import answer

SAID = {
    "steady": "<think>It is empty.</think><message>Please put a small red block there.</message>",
    "garbage": "\u2603 <mess age> PLACE::::",
    "refusal": "I cannot help with that.",
    "empty": "",
    "cut": "<THINK>First I look at what",
}
"""Mode -> the same words to everybody."""
PARROTS = {"parrot": "\n\n", "parrot-line": "\n"}
"""Mode -> what is before the part of the prompt that comes back."""
DRAFT = """<think>
A draft: <message>a draft</message> <ACTION>pass</ACTION> {"message": "a draft", "actions": []} CLARIFY:a draft
Action: A. Action: wait
Chef plan: wait(1)
Chef say: a draft
Assistant plan: wait(1)
Assistant say: a draft
Verification: Not Okay
</think>

"""
"""What models that reason weigh before they answer, in the forms of all games."""


def main() -> None:
    """Serve until killed."""
    asked: dict[str, Counter[str]] = defaultdict(Counter)

    async def chat(request: web.Request) -> web.Response:
        body = await request.json()
        mode = request.match_info["mode"]
        attempts = asked[mode]
        prompt = json.dumps(body["messages"])
        attempts[prompt] += 1
        if mode == "flaky" and attempts[prompt] == 1 and attempts.total() % 3 == 0:
            return web.json_response({"error": {"message": "try again"}}, status=500)
        if mode in ("slow", "steady"):
            await asyncio.sleep(0.05)
        try:
            if mode in PARROTS:
                said = body["messages"][-1]["content"].rstrip().rpartition(PARROTS[mode])[2]
            else:
                said = SAID[mode] if mode in SAID else answer(body["messages"])
            said = DRAFT + said if mode == "thinking" else said
        except LookupError as error:
            return web.json_response({"error": {"message": str(error)}}, status=401)
        message: dict[str, object] = {"role": "assistant", "content": said}
        if body.get("tools") and said.startswith("SIMULATE:"):
            function = {"name": "simulate_move", "arguments": said.removeprefix("SIMULATE:").strip()}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call{attempts.total()}", "type": "function", "function": function}],
            }
        return web.json_response(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "length" if mode == "cut" else "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )

    async def stats(request: web.Request) -> web.Response:
        attempts = asked[request.match_info["mode"]]
        return web.json_response({"requests": attempts.total(), "prompts": len(attempts)})

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/{mode}/v1/chat/completions", chat)
        app.router.add_get("/{mode}/stats", stats)
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
