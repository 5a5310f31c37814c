"""Batches in the manner of OpenAI: what stub servers share that have them."""

from __future__ import annotations

from typing import Any

import orjson
from aiohttp import web


class BatchServer:
    """Takes files and batches; a batch is answered at once, and said to be in progress when first asked about."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}

    def batched(self, line: Any) -> dict[str, Any]:
        """The line of the file of replies to a line of the file of requests."""
        raise NotImplementedError

    async def upload(self, request: web.Request) -> web.Response:
        """POST /v1/files."""
        form = await request.post()
        uploaded: Any = form["file"]
        name = f"file-{len(self.files)}"
        self.files[name] = uploaded.file.read()
        return web.json_response({"id": name, "object": "file", "bytes": 0, "created_at": 0, "filename": "x", "purpose": "batch"})

    async def content(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/files/{id}/content."""
        return web.Response(body=self.files[request.match_info["id"]])

    async def submit(self, request: web.Request) -> web.Response:
        """POST /v1/batches."""
        body = orjson.loads(await request.read())
        replies = [self.batched(orjson.loads(line)) for line in self.files[body["input_file_id"]].splitlines()]
        name = f"batch-{len(self.batches)}"
        self.files[f"{name}-out"] = b"\n".join(orjson.dumps(reply) for reply in replies)
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "created_at": 0,
            "completion_window": "24h",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "status": "in_progress",
            "request_counts": {"total": len(replies), "completed": 0, "failed": 0},
            "metadata": body.get("metadata"),
        }
        return web.json_response(self.batches[name])

    async def batch(self, request: web.Request) -> web.Response:
        """GET /v1/batches/{id}: done from the second look on."""
        found = self.batches[request.match_info["id"]]
        told = dict(found)
        total = found["request_counts"]["total"]
        found.update(
            status="completed",
            output_file_id=f"{found['id']}-out",
            request_counts={"total": total, "completed": total, "failed": 0},
        )
        return web.json_response(told)

    async def all_batches(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's signature
        """GET /v1/batches."""
        return web.json_response({"object": "list", "data": list(self.batches.values()), "has_more": False})

    def add_routes(self, app: web.Application) -> None:
        """Let an application answer by this."""
        app.router.add_post("/v1/files", self.upload)
        app.router.add_get("/v1/files/{id}/content", self.content)
        app.router.add_post("/v1/batches", self.submit)
        app.router.add_get("/v1/batches", self.all_batches)
        app.router.add_get("/v1/batches/{id}", self.batch)
