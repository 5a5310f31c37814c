"""What stands between cotrace and a server: keys as files hold them, addresses as people write them, proxies, certificates."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import orjson
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from providers.asker import Request
from providers.faults import HopelessError
from schemas.common.errors import UsageError
from tests.judges.judged_games import counted
from tests.providers.test_asker import ask_all, numbered_prompt, settings
from tests.servers.dialects import completion
from tests.servers.serving import application, json_reply, served
from tests.servers.stub_server import stub_server

FAR = "http://models.example:8000/v1"
CLOSED = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@contextmanager
def proxy(status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """A proxy that answers itself; gives its host with the port, and what is asked of it."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(str(request.url))
        body = orjson.dumps(completion({"role": "assistant", "content": "by proxy"}))
        return web.Response(body=body, status=status, content_type="application/json")

    app = application()
    app.router.add_route("*", "/{path:.*}", answer)
    with served(app) as url:
        yield url.removeprefix("http://").removesuffix("/v1"), asked


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\t"])
def test_a_key_may_end_as_files_end(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No header could hold the line end; it is no part of the key."""
    monkeypatch.setenv("MY_KEY", f"sk-1{end}")
    with stub_server() as url:
        (reply,) = ask_all(settings(url, key_variable="MY_KEY"), [Request(messages=numbered_prompt(1))])
        sent = counted(url)["last_requests"][-1]["headers"]

    assert reply.answered
    assert sent["authorization"] == "Bearer sk-1"


def test_a_key_that_no_header_holds_is_told_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named, the key is not shown."""
    monkeypatch.setenv("MY_KEY", "sk-1\nsk-2")
    with pytest.raises(UsageError, match="MY_KEY holds a line end") as told:
        ask_all(settings(FAR, key_variable="MY_KEY"), [Request(messages=numbered_prompt(1))])
    assert "sk-" not in str(told.value)


def test_an_address_may_stand_in_blanks() -> None:
    """As it does when it is copied."""
    with stub_server() as url:
        (reply,) = ask_all(settings(f" {url}/\n"), [Request(messages=numbered_prompt(1))])
    assert reply.answered


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://user:secret@127.0.0.1:8000/v1", "holds a name or a password"),
        ("http://127.0.0.1:8000/v1?api-version=1", r"ends in \? or #"),
        ("http://127.0.0.1:8000/v1#top", r"ends in \? or #"),
    ],
)
def test_an_address_to_which_no_path_can_be_added_is_refused(url: str, told: str) -> None:
    """In one line, before anything is sent; a password is not shown."""
    with pytest.raises(UsageError, match=f"--base-url .*{told}") as error:
        ask_all(settings(url), [Request(messages=numbered_prompt(1))])
    assert "secret" not in str(error.value)


def test_the_variable_with_the_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has given --base-url."""
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "KEY")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL localhost:8000/v1 is no address"):
        ask_all(settings("", model="openai/gpt-4o"), [Request(messages=numbered_prompt(1))])


@pytest.mark.parametrize(("name", "before"), [("HTTP_PROXY", "http://"), ("http_proxy", ""), ("ALL_PROXY", "http://"), ("all_proxy", "")])
def test_proxies_are_named_as_other_programs_name_them(name: str, before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a scheme or without, for one protocol or for all."""
    with proxy() as (address, asked):
        monkeypatch.setenv(name, before + address)
        (reply,) = ask_all(settings(FAR), [Request(messages=numbered_prompt(1))])

    assert (reply.text, asked) == ("by proxy", [f"{FAR}/chat/completions"])


def test_a_host_with_its_port_needs_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_PROXY may name a host, or a host and a port."""
    monkeypatch.setenv("http_proxy", f"http://{CLOSED}")
    with stub_server() as url:
        monkeypatch.setenv("no_proxy", url.removeprefix("http://").removesuffix("/v1"))
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])
    assert reply.answered


@pytest.mark.parametrize("named", ["socks5://127.0.0.1:9", "::::"])
def test_a_proxy_that_cannot_be_used_is_told(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SOCKS proxy was spoken to in HTTP."""
    monkeypatch.setenv("http_proxy", named)
    with pytest.raises(UsageError, match=r"names a proxy for http that cannot be used .* add models\.example to NO_PROXY"):
        ask_all(settings(FAR), [Request(messages=numbered_prompt(1))])


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is not at fault."""
    monkeypatch.setenv("http_proxy", f"http://{CLOSED}")
    with pytest.raises(HopelessError, match=f"connection refused by the proxy {CLOSED}"):
        ask_all(settings(FAR), [Request(messages=numbered_prompt(1))])


def test_a_proxy_that_wants_a_password_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would say the same to every call."""
    with proxy(407) as (address, _):
        monkeypatch.setenv("http_proxy", address)
        with pytest.raises(HopelessError, match="the proxy wants a name and a password"):
            ask_all(settings(FAR), [Request(messages=numbered_prompt(1))])


def signed_by_itself(folder: Path) -> Path:
    """A certificate for this machine with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a server of one's own")])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=1)
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "server.pem"
    path.write_bytes(key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def test_a_certificate_that_nobody_vouches_for_is_told_with_its_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, since no second try finds another; with the file that is named, all is well."""
    certificate, asked = signed_by_itself(tmp_path), []
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return json_reply(completion({"role": "assistant", "content": "in private"}))

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app, context) as url:
        with pytest.raises(HopelessError, match=r"not trusted, self-signed certificate: .* SSL_CERT_FILE"):
            ask_all(settings(url), [Request(messages=numbered_prompt(1))])
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])

    assert (reply.text, len(asked)) == ("in private", 1)
