"""Forms as models fill them in that were not made to: among prose, thoughts and other objects, or where the server puts their words."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from providers.asker import Request
from providers.forms import Form, parse_reply
from tests.providers.test_asker import Verdict, ask_all, said, settings
from tests.servers.dialects import completion
from tests.servers.serving import application, json_reply, served

YES = '{"reason": "so it is", "answer": "yes"}'
NO = '{"reason": "a first thought", "answer": "no"}'


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{YES}\n```",
        f"<think>Perhaps {NO}, or {{none}}.</think>\n{YES}",
        f"Perhaps {NO}.\n</think>\n\n{YES}",
        f"The set {{a, b}} counts.\n{YES}\nNot {{c}}.",
        f"{YES}\n\n{YES}",
        '{"reason": "so it is", "answer": "yes", "note": "</think>"}',
        YES.replace("so it", "so\nit"),
        YES.replace("so it", "so\\ud83d it"),
    ],
)
def test_the_object_is_found_whatever_stands_around_it(text: str) -> None:
    """A whole answer is not paid twice."""
    filled = Form(Verdict).read(text)
    assert isinstance(filled, Verdict)
    assert filled.answer == "yes"
    assert parse_reply(Verdict, text) == filled  # what a killed run has left is read as it would have been


@pytest.mark.parametrize("text", [f"{NO}\n{YES}", f'{{"nothing": {YES}}}', "{" * 100_000, '{"a":' * 50_000, NO[:-1], ""])
def test_what_says_nothing_or_two_things_is_asked_for_again(text: str) -> None:
    """Which of two that differ is meant, nobody knows."""

    async def answer(_: web.Request) -> web.Response:
        return json_reply(completion({"role": "assistant", "content": text}))

    with served(routed(answer)) as url:
        (reply,) = ask_all(settings(url), [Request(messages=said(1), form=Verdict)])
    assert (reply.filled, reply.call.attempts) == (None, 3)


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": YES},
        {"content": "", "reasoning": f"I see.\n{YES}"},
        {"content": YES, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "Verdict", "arguments": ""}}]},
    ],
)
def test_a_form_is_read_wherever_the_server_puts_it(message: dict[str, Any]) -> None:
    """Servers that cut thoughts off by tags that a model did not write leave nothing of the answer."""

    async def answer(_: web.Request) -> web.Response:
        return json_reply(completion({"role": "assistant", **message}))

    with served(routed(answer)) as url:
        form, text = ask_all(settings(url), [Request(messages=said(1), form=Verdict), Request(messages=said(1))])

    assert isinstance(form.filled, Verdict), form.call.error
    assert (form.filled.answer, form.call.attempts) == ("yes", 1)
    assert parse_reply(Verdict, form.call.reply or "") == form.filled
    assert text.text == (message["content"] or "")  # thoughts of players stay private


def routed(answer: Any) -> web.Application:
    """A server that answers so."""
    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    return app
