"""Every provider that is known by name, against a server that speaks its protocol: text, forms, tools, reasoning, tokens, faults."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import pytest

from providers.asker import Asker, Reply, Request
from providers.faults import HopelessError
from providers.prices import Price
from providers.provider import PROVIDERS, ModelSettings
from schemas.chat.messages import Message
from schemas.common.errors import UsageError
from tests.judges.judged_games import counted
from tests.providers.test_asker import LOOK, Sheet, numbered_prompt
from tests.servers.stub_server import stub_server


class Case(NamedTuple):
    """A model of a provider."""

    model: str
    base: str
    """What follows the server's address in --base-url."""
    path: str
    """Where requests have to arrive."""
    key: str
    """Environment variable."""
    header: str
    """In which the key has to arrive, as the provider wants it."""


CASES = {
    case.model.partition("/")[0]: case
    for case in (
        Case("openai/gpt-4o-mini", "/v1", "/v1/chat/completions", "OPENAI_API_KEY", "Authorization: Bearer KEY"),
        Case("anthropic/claude-haiku-4-5", "", "/v1/messages", "ANTHROPIC_API_KEY", "x-api-key: KEY"),
        Case("google/gemini-1.5-flash", "", "/v1beta/models/gemini-1.5-flash:generateContent", "GOOGLE_API_KEY", "x-goog-api-key: KEY"),
        Case("mistral/mistral-small-2501", "/v1", "/v1/chat/completions", "MISTRAL_API_KEY", "Authorization: Bearer KEY"),
        Case("groq/llama-3.3-70b-versatile", "/v1", "/v1/chat/completions", "GROQ_API_KEY", "Authorization: Bearer KEY"),
        Case("ollama/llama3.2", "/v1", "/v1/chat/completions", "OPENAI_API_KEY", "Authorization: Bearer none"),
        Case(
            "azure_openai/my-model",
            "",
            "/openai/deployments/my-model/chat/completions?api-version=2024-12-01-preview",
            "AZURE_OPENAI_API_KEY",
            "api-key: KEY",
        ),
        Case(
            "bedrock/anthropic.claude-3-5-haiku-20241022-v1:0",
            "",
            "/model/anthropic.claude-3-5-haiku-20241022-v1%3A0/converse",
            "AWS_BEARER_TOKEN_BEDROCK",
            "Authorization: Bearer KEY",
        ),
        Case("litellm/openai/gpt-4o-mini", "/v1", "/v1/chat/completions", "OPENAI_API_KEY", "Authorization: Bearer KEY"),
        Case("house/our-model", "/v1", "/v1/chat/completions", "OPENAI_API_KEY", "Authorization: Bearer KEY"),
    )
}
WIRED = [name for name in CASES if name != "litellm"]
"""Those that are spoken to directly."""


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Each provider in turn, its key in the environment."""
    found = CASES[request.param]
    monkeypatch.setenv(found.key, "KEY")
    return found


def _see_package(model: str) -> None:
    """Skip where an extra is not installed."""
    known = PROVIDERS.get(model.partition("/")[0])
    if known is not None and known.package is not None:
        pytest.importorskip(known.package)


def at(url: str, case: Case, **changes: Any) -> ModelSettings:
    """The provider's model at the stub server."""
    _see_package(case.model)
    given: dict[str, Any] = {"model": case.model, "base_url": url.removesuffix("/v1") + case.base, "timeout_s": 20.0, "tries": 3}
    return ModelSettings(**(given | changes))


def asked(settings: ModelSettings, requests: Sequence[Request], price: Price | None = None) -> list[Reply]:
    """The replies in order, one after the other."""

    async def ask() -> list[Reply]:
        async with Asker([settings], price) as asker:
            return [await asker.ask(request) for request in requests]

    return asyncio.run(ask())


def test_text_arrives_with_its_tokens(case: Case) -> None:
    """At the provider's path, with its key where it wants it; cached and reasoning tokens are told apart and priced apart."""
    price = Price(10, 100, cached=1, reasoning=50)
    with stub_server("--bills", "1000", "100", "400", "60") as url:
        (reply,) = asked(at(url, case), [Request(messages=numbered_prompt(1))], price)
        sent = counted(url)["last_requests"][-1]

    call = reply.call
    assert (reply.text, call.finish_reason, call.status) == ("Action: C", "stop", "answered"), call.error
    assert (call.tokens_in, call.tokens_out, call.tokens_cached) == (1000, 100, 400)
    if case.model.startswith("bedrock/"):  # counts no reasoning, and names no model
        assert (call.tokens_reasoning, call.served_model) == (0, None)
    else:
        assert call.served_model == "fake-2026-01-01"
        assert call.tokens_reasoning == 60
        assert call.cost == pytest.approx((600 * 10 + 400 * 1 + 40 * 100 + 60 * 50) / 1e6)
    assert sent["path"] == case.path
    name, _, value = case.header.partition(": ")
    assert sent["headers"][name.lower()] == value


@pytest.mark.sampled(10)
@pytest.mark.parametrize("mode", [None, "tools", "json", "json_schema"])
def test_forms_are_filled_in_in_every_mode(case: Case, mode: Literal["tools", "json", "json_schema"] | None) -> None:
    """As a tool, as JSON, or as JSON that the server holds to the schema; the server turns down what the provider would."""
    with stub_server() as url:
        (reply,) = asked(at(url, case, mode=mode), [Request(messages=numbered_prompt(1), form=Sheet)])

    assert isinstance(reply.filled, Sheet), reply.call.error
    assert reply.call.attempts == 1


def test_tools_are_called_and_answered(case: Case) -> None:
    """The chat goes on with call and result, in the provider's own form."""
    with stub_server() as url:

        async def talk() -> tuple[Reply, Reply]:
            async with Asker([at(url, case)]) as asker:
                first = await asker.ask(Request(messages=numbered_prompt(1), tools=[LOOK]))
                assert first.completion is not None, first.call.error
                (call,) = first.completion.tool_calls
                result: Message = {"role": "tool", "content": "nothing there", "tool_call_id": call.id}
                return first, await asker.ask(Request(messages=[*numbered_prompt(1), first.completion.message(), result], tools=[LOOK]))

        first, second = asyncio.run(talk())

    assert first.completion is not None
    assert [(call.name, call.arguments) for call in first.completion.tool_calls] == [("look", "{}")]
    assert first.call.finish_reason == "tool_calls"
    assert second.text == "Action: C", second.call.error


PASSING = ["429", "429-after", "500", "529", "hang", "cut", "empty", "html", "null", "no-choices"]
STAYING = {
    "wrong-keys": "Q1: Field required",
    "missing": "Q1: Field required",
    "not-allowed": "Q1.answer: Input should be 'yes' or 'no'",
    "broken-json": "Invalid JSON",
    "too-long": "max_tokens",
    "refusal": "refused: ",
}


PASSES = [(name, fault) for name in ("anthropic", "google", "bedrock") for fault in PASSING]
PASSES += [("litellm", fault) for fault in ("429", "500", "hang")]  # what LiteLLM makes of broken bodies is its own


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("name", "fault"), PASSES)
def test_the_same_faults_pass_in_every_protocol(name: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more request, and the answer."""
    monkeypatch.setenv(CASES[name].key, "KEY")
    with stub_server("--fault", fault) as url:
        (reply,) = asked(at(url, CASES[name], timeout_s=1.0), [Request(messages=numbered_prompt(1), form=Sheet)])

    assert (reply.answered, reply.call.attempts) == (True, 2), reply.call.error


@pytest.mark.parametrize("name", ["anthropic", "google", "bedrock"])
@pytest.mark.parametrize("fault", STAYING)
def test_the_same_faults_are_told_in_every_protocol(name: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same reasons, after as many requests."""
    monkeypatch.setenv(CASES[name].key, "KEY")
    with stub_server("--fault", f"{fault}:1:99") as url:
        (reply,) = asked(at(url, CASES[name]), [Request(messages=numbered_prompt(1), form=Sheet)])

    assert STAYING[fault] in (reply.call.error or "")
    assert reply.call.attempts == {"refusal": 1, "too-long": 2}.get(fault, 3)  # a cut reply is asked for once more, with more room


@pytest.mark.parametrize("effort", [None, "low"])
def test_a_reask_asks_for_the_form_as_the_request_does(effort: Literal["low"] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic's models call a tool, unless they reason."""
    monkeypatch.setenv(CASES["anthropic"].key, "KEY")
    with stub_server("--fault", "wrong-keys") as url:
        (reply,) = asked(
            at(url, CASES["anthropic"], model="anthropic/claude-3-opus-latest", reasoning_effort=effort),
            [Request(messages=numbered_prompt(1), form=Sheet)],
        )
        sent = counted(url)["last_bodies"][-1]
    assert (reply.answered, reply.call.attempts) == (True, 2)
    assert ("Call the tool" in str(sent["messages"][-1])) is ("tools" in sent) is (effort is None)


HOPELESS = [(name, "401", "refuses the API key") for name in WIRED]
HOPELESS += [(name, "quota", "no money left") for name in WIRED if name not in {"google", "bedrock"}]  # which say no such thing


@pytest.mark.parametrize(("name", "fault", "message"), HOPELESS)
def test_what_no_request_can_survive_is_one_error(name: str, fault: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words of every provider."""
    monkeypatch.setenv(CASES[name].key, "KEY")
    with stub_server("--fault", f"{fault}:1:99") as url, pytest.raises(HopelessError, match=message):
        asked(at(url, CASES[name]), [Request(messages=numbered_prompt(1))])


REASONING = {
    "openai": "openai/o3",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "anthropic, adaptive": "anthropic/claude-opus-4-7",
    "google": "google/gemini-2.5-pro",
    "google, levels": "google/gemini-3-pro",
    "bedrock": "bedrock/anthropic.claude-sonnet-4-5",
}


@pytest.mark.parametrize("name", REASONING)
@pytest.mark.parametrize("form", [None, Sheet])
def test_models_that_reason_are_asked_as_they_want(name: str, form: type[Sheet] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No temperature, room beside the reply, thoughts apart from text; the stub turns down what the provider would."""
    case = CASES[name.partition(",")[0]]._replace(model=REASONING[name])
    monkeypatch.setenv(case.key, "KEY")
    mode = "json" if name == "bedrock" else None
    with stub_server() as url:
        settings = at(url, case, reasoning_effort="low", max_tokens=500, mode=mode)
        (reply,) = asked(settings, [Request(messages=numbered_prompt(1), form=form)])
        body = counted(url)["last_bodies"][-1]

    assert reply.answered, reply.call.error
    assert reply.call.reasoning == "It seems clear."
    assert "temperature" not in str(body)
    assert "2548" in str(body)


@pytest.mark.parametrize("name", ["anthropic", "google", "bedrock"])
def test_signed_thoughts_go_back_with_the_call_that_they_led_to(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word for word, as the providers demand."""
    case = CASES[name]._replace(model=REASONING[name])
    monkeypatch.setenv(case.key, "KEY")
    with stub_server() as url:

        async def talk() -> Reply:
            async with Asker([at(url, case, reasoning_effort="low")]) as asker:
                first = await asker.ask(Request(messages=numbered_prompt(1), tools=[LOOK]))
                assert first.completion is not None, first.call.error
                result: Message = {"role": "tool", "content": "nothing", "tool_call_id": first.completion.tool_calls[0].id}
                return await asker.ask(Request(messages=[*numbered_prompt(1), first.completion.message(), result], tools=[LOOK]))

        assert asyncio.run(talk()).text == "Action: C"
        assert "c2lnbmVk" in str(counted(url)["last_bodies"][-1])


def test_what_a_model_does_not_take_is_learned_once(caplog: pytest.LogCaptureFixture) -> None:
    """A temperature that was asked for is sent, refused, and not sent again; a line says so."""
    with stub_server() as url:
        settings = at(url, CASES["openai"], model="openai/o3", temperature=0.7)
        replies = asked(settings, [Request(messages=numbered_prompt(number)) for number in (1, 2)])
        sent = counted(url)["last_bodies"]
    assert [reply.call.attempts for reply in replies] == [2, 1]
    assert ["temperature" in body for body in sent] == [True, False, False]
    assert "openai/o3 does not take temperature" in caplog.text


@pytest.mark.parametrize("name", ["openai", "google"])
def test_probabilities_of_tokens_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they were asked for and came."""
    monkeypatch.setenv(CASES[name].key, "KEY")
    with stub_server() as url:
        (reply,) = asked(at(url, CASES[name], logprobs=True), [Request(messages=numbered_prompt(1))])

    assert reply.completion is not None
    assert "".join(token for token, _ in reply.completion.probabilities) == "Action: C"
    assert {logprob for _, logprob in reply.completion.probabilities} == {-0.25}


def test_a_request_to_bedrock_is_signed_where_there_is_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the credentials of the environment."""
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    with stub_server() as url:
        (reply,) = asked(at(url, CASES["bedrock"]), [Request(messages=numbered_prompt(1))])
        headers = counted(url)["last_requests"][-1]["headers"]

    assert reply.answered, reply.call.error
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in headers["authorization"]


@pytest.mark.parametrize("name", ["openai", "anthropic", "google", "mistral", "groq", "azure_openai", "ollama", "bedrock"])
def test_the_address_may_stand_in_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the providers' own clients have it."""
    case = CASES[name]
    monkeypatch.setenv(case.key, "KEY")
    with stub_server() as url:
        settings = at(url, case)
        monkeypatch.setenv(str(PROVIDERS[name].url_variable), str(settings.base_url))
        (reply,) = asked(ModelSettings(model=case.model), [Request(messages=numbered_prompt(1))])

    assert reply.text == "Action: C", reply.call.error


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("gpt-4o", "names no provider: write provider/model"),
        ("opnai/gpt-4o", "there is no provider opnai; did you mean openai?"),
        ("nobody/x", "there is no provider nobody; known are openai, anthropic, google"),
        *((f"{name}/x", f"set {known.keys[0]}") for name, known in PROVIDERS.items() if known.keys and known.base_url),
        ("azure_openai/x", "set AZURE_OPENAI_ENDPOINT, or give it with --base-url"),
        ("bedrock/x", "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID"),
    ],
)
def test_what_is_missing_is_said(model: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Before anything is asked."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", *(key for provider in PROVIDERS.values() for key in provider.keys)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    _see_package(model)
    with pytest.raises(UsageError) as caught:
        Asker([ModelSettings(model=model)])
    assert message in str(caught.value)


PACKAGES = [
    ("litellm/x/y", "litellm", "litellm"),
    ("bedrock/x", "aiobotocore", "bedrock"),
    ("anthropic/x", "anthropic", "anthropic"),
    ("google/x", "google.genai", "google"),
    ("mistral/x", "mistralai", "mistral"),
]


@pytest.mark.parametrize(("model", "package", "extra"), PACKAGES)
def test_a_missing_package_names_the_extra_that_brings_it(model: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that can be pasted."""
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    monkeypatch.setattr("schemas.common.packages.find_spec", lambda name: None if name == package else object())
    with pytest.raises(UsageError, match=rf'needs the package {package.partition(".")[0]}: pip install "cotrace\[{extra}\]"'):
        Asker([ModelSettings(model=model)])
