"""A server that repeats the request's key: it reaches no verdict, no call, no journal, no terminal and no traceback."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import web

from analytics.query import query
from judges.runs.runner import run as judge
from providers.asker import Request
from providers.faults import HopelessError
from schemas.common.text import use_secrets_of_environment, without_secrets
from schemas.store.store import Store
from tests.command_line import called
from tests.judges.judged_games import ask_model, store_of
from tests.providers.test_asker import ask_all, numbered_prompt, settings
from tests.servers.serving import application, served

KEY = "sk/canary+0001=AAAA<BBBB&CCCC"

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: f"context too long for Bearer {key}",
    "cut off": lambda key: f"no account for {key[:20]}",
    "percent-encoded": lambda key: f"GET /v1?key={quote(key, safe='')}",
    "percent-encoded in small letters": lambda key: f"GET /v1?key={quote(key, safe='').lower()}",
    "JSON in JSON": lambda key: json.dumps({"authorization": key}).replace("<", "\\u003c").replace("&", "\\u0026").replace("+", "\\u002B"),
    "slashes escaped": lambda key: key.replace("/", "\\/"),
    "base64": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "base64 for addresses": lambda key: base64.urlsafe_b64encode(f"me:{key}".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal in capitals": lambda key: key.encode().hex().upper(),
    "over two lines": lambda key: f"{key[:10]}\n    {key[10:]}",
    "base64 over two lines": lambda key: base64.encodebytes(b"x" * 50 + key.encode()).decode(),
    "every letter percent-encoded": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "percent-encoded twice": lambda key: quote(quote(key, safe=""), safe=""),
    "every letter as in JSON": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "a page": lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    "in capitals": str.upper,
    "its end": lambda key: f"no account for ...{key[len(key) // 2 :]}",
}
"""How servers repeat a header."""


def traces(text: str) -> list[str]:
    """What of the key can be read in a text."""
    pieces = [
        KEY[:12],
        KEY[-12:],
        quote(KEY[:12], safe=""),
        KEY[:9].encode().hex(),
        *(base64.b64encode(KEY[n : n + 9].encode()).decode() for n in range(3)),
    ]
    return [piece for piece in pieces if piece.lower() in text.lower()]


@contextmanager
def echoing(status: int, form: Callable[[str], str]) -> Iterator[str]:
    """A server that answers with that status and the key of the request, in that form."""

    async def answer(request: web.Request) -> web.Response:
        text = form(request.headers["Authorization"].removeprefix("Bearer "))
        if status == 302:
            return web.Response(status=307, headers={"Location": f"http://elsewhere.example/?key={quote(text)}"})
        if status == 200:
            message = {"role": "assistant", "content": text, "reasoning_content": text, "refusal": None}
            choices = [{"index": 0, "finish_reason": text, "message": message}]
            return web.json_response({"model": text, "choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 9}})
        return web.json_response({"error": {"message": text}}, status=status)

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        yield url


def content(store: Store) -> str:
    """Every byte of the store and its journals, and its verdicts and calls as text."""
    files = [store.path, *(path for path in store.journals.rglob("*") if path.is_file())]
    rows = [str(query(store, f"FROM {table}").to_dicts()) for table in ("verdicts", "calls")]
    return "".join([*(path.read_bytes().decode("latin-1") for path in files), *rows])


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_the_key_comes_back(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in an error nor in a reply: what came says that something was removed."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for status in (422, 200):
        with echoing(status, FORMS[form]) as url:
            (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])
        assert traces(str(reply)) == []
        assert "secret removed" in str(reply)


@pytest.mark.parametrize("status", [422, 200])
def test_neither_an_error_nor_a_reply_brings_the_key_into_the_store(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor into a journal."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    store = store_of(tmp_path / "s.duckdb", turns=2)
    with echoing(status, FORMS["as it is"]) as url:
        judge(ask_model(url), store)
    found = content(store)
    assert traces(found) == []
    assert "secret removed" in found


@pytest.mark.parametrize("status", [400, 401, 302])
def test_the_terminal_shows_no_key(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the line, and not in the traceback that --debug asks for."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    store = store_of(tmp_path / "s.duckdb", turns=6)
    options = ("--rubric", "pragmatic_sufficiency", "--model", "openai/any", "--mode", "json")
    with echoing(status, FORMS["as it is"]) as url:
        done = called("--debug", "judge", *options, "--base-url", url, store=store)
    assert done.returncode == 2
    assert "secret removed" in done.stderr
    assert "Traceback" in done.stderr
    assert traces(done.stdout + done.stderr + content(store)) == []


def test_a_placeholder_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of one's own take any key: its letters stay in what a model writes."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with echoing(200, lambda _: "There is none.") as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])
    assert reply.text == "There is none."


def test_a_short_key_is_removed_where_it_is_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of one's own have short keys, too; in other words its letters stay."""
    monkeypatch.setenv("OPENAI_API_KEY", "abc12")
    with echoing(422, lambda key: f"Authorization: Bearer {key}, api_key='{key}'; layer abc12") as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])
    assert (reply.call.error or "").count("abc12") == 1
    assert "layer abc12" in (reply.call.error or "")


def test_a_proxy_that_repeats_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name and password of a proxy are part of its address in the environment."""
    password = "proxy-canary-0001"  # noqa: S105 - planted

    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=407, text=f"not {request.headers['Proxy-Authorization']} {password}")

    app = application()
    app.router.add_route("*", "/{path:.*}", refuse)
    with served(app) as url:
        for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", url.removesuffix("/v1").replace("http://", f"http://me:{password}@"))
        with pytest.raises(HopelessError) as raised:
            ask_all(settings("http://model.invalid/v1"), [Request(messages=numbered_prompt(1))])
    assert "secret removed" in str(raised.value)
    assert password not in str(raised.value)
    assert base64.b64encode(f"me:{password}".encode()).decode()[:12] not in str(raised.value)


def test_secrets_of_the_environment_are_known_by_their_variables_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, a token or a password; no path, no sentence, no short word, and nothing under another name."""
    held = {
        "OWN_API_KEY": "a1b2c3d4e5f6g7h8i9", "own_token": "tok-0123456789abcdef", "DB_PASSWORD": "correct-horse-battery",
        "X_ACCESS_KEY_ID": "AKIA0123456789XYZ",
    }  # fmt: skip
    others = {
        "TOKEN_FILE_TOKEN": "/run/secrets/token-file",
        "MAX_TOKENS": "1234567890123456789",
        "A_TOKEN": "short-word",
        "B_SECRET": "ask the one who knows",
    }
    for name, value in (held | others).items():
        monkeypatch.setenv(name, f"{value}\n" if name == "OWN_API_KEY" else value)
    use_secrets_of_environment()
    column = [f"said {value} aloud" for value in held.values()] + [None, ["x", f"Bearer {held['own_token']}"]]
    assert without_secrets(column) == ["said [secret removed] aloud"] * 4 + [None, ["x", "Bearer [secret removed]"]]
    assert without_secrets(kept := [*others.values()]) is kept
