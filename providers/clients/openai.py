"""OpenAI's client, for OpenAI, for most other providers and local servers, and for Azure; and LiteLLM, whose replies have the same form.

https://platform.openai.com/docs/api-reference/chat. Others add fields of their own, which are read where they come: reasoning as
`reasoning_content` (DeepSeek, vLLM) or `reasoning` (Groq, OpenRouter, Ollama), content as a list of parts (Mistral).
"""

import asyncio
import json
import logging
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeGuard

import instructor
import openai
from instructor import AsyncInstructor, Provider
from instructor import Mode as TheirMode
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from providers.clients.client import HOOKS, Client, Gated, given, unlisted
from providers.faults import TimedOut, classify
from providers.forms import ChatRequest, Form
from providers.provider import ModelSettings, address_of, is_at_own_server, key_in, key_of, provider_of
from providers.wire import Turn
from schemas.chat.messages import (
    Completion,
    ErrorCameError,
    Message,
    Tokens,
    ToolCall,
    UnreadableError,
    counted,
    probabilities_in,
    text_or_none,
)
from schemas.common.errors import CotraceError, UsageError
from schemas.common.packages import needed
from schemas.common.text import excerpt, replace_lone_surrogates, use_secret

_NEWER_LIMIT: Final = frozenset({"openai", "azure_openai"})
"""Providers that know the newer name of the limit."""
OTHER_LIMIT: Final = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the longest reply: what a model refuses under the one, it takes under the other."""
_AZURE_VERSION: Final = "2024-12-01-preview"
_FAILED: Final = "error"
"""Why a reply stopped, where the server behind a gateway has failed."""
_OF_CALLS: Final = frozenset({"id", "type", "function", "index", "name", "arguments"})
_OF_THOUGHTS: Final = re.compile(r"reason|think|thought|signature|extra_content|provider_specific")
"""Names under which servers send thoughts and their signatures."""
_MOST_COST: Final = 1e15
_TICKS_A_DOLLAR: Final = 1e10
"""https://docs.x.ai/developers/cost-tracking"""
_PLAIN: Final = {"max_retries": 0, "num_retries": 0, "_skip_mcp_handler": True}
"""Of LiteLLM: retries are ours; without the last, a request with tools loads the package mcp, which LiteLLM does not bring."""
_SECRET: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "KEY_ID")
"""How variables with secrets end."""
_MAY_LEAVE_OUT: Final = "_may_leave_out"
"""Whether the server lets a reply leave out fields that the form does not require; where OpenAI is strict, it does not."""
_AS_IT_IS: Final = ("messages", "tools", "tool_choice", "response_format")


def by_schema(form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Have the server hold the reply to the form's schema."""
    strict = not (kwargs.get(_MAY_LEAVE_OUT) and form.may_leave_out)
    content = form.closed_schema if strict else form.schema
    schema = {"name": form.tool.name, "description": form.model.__doc__ or "", "schema": content, "strict": strict}
    return {**kwargs, "response_format": {"type": "json_schema", "json_schema": schema}}


def by_words(_form: Form, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Have the server see that the reply is JSON; the form is in the messages."""
    return {**kwargs, "response_format": {"type": "json_object"}}


def _last(kwargs: dict[str, Any]) -> dict[str, Any]:
    """What is long goes into the body as it is: the client walks through all other arguments, part by part."""
    as_it_is = {name: kwargs[name] for name in _AS_IT_IS if name in kwargs}
    rest = {name: value for name, value in kwargs.items() if name not in as_it_is and name != _MAY_LEAVE_OUT}
    return {**rest, "messages": [], "extra_body": {**kwargs.get("extra_body", {}), **as_it_is}}


def body_of(request: ChatRequest, settings: ModelSettings) -> dict[str, Any]:
    """A whole request, as a line of a batch."""
    found = Connected.ways[request.mode].written(request.form, request_of(request, settings))
    more = found.pop("extra_body")
    return {**found, **more, **dict(settings.request_fields)}


class Connected(Client):
    """Chat completions."""

    ways: ClassVar = {
        "tools": Gated(Provider.OPENAI, TheirMode.TOOLS, None, _last),
        "json_schema": Gated(Provider.OPENAI, TheirMode.JSON_SCHEMA, by_schema, _last),
        "json": Gated(Provider.OPENAI, TheirMode.JSON, by_words, _last),
    }

    def __init__(self, settings: ModelSettings, turn: Turn) -> None:
        super().__init__(settings, turn)
        first = provider_of(settings).mode or ("tools" if settings.base_url is None else "json_schema")  # many servers force no tool
        self.modes = (first, *(mode for mode in self.ways if mode != first))
        is_litellm = provider_of(settings).protocol == "litellm"
        self._sdk = None if is_litellm else _sdk(settings, http_client=self._http)
        self._litellm = _litellm(settings, turn) if is_litellm else None

    def _patched(self, mode: TheirMode) -> AsyncInstructor:
        if self._sdk is not None:
            return instructor.from_openai(self._sdk, mode=mode, hooks=HOOKS)
        made: Any = instructor.from_litellm
        client: AsyncInstructor = made(self._litellm, mode=mode, async_client=True, hooks=HOOKS)
        return client

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments of `create`."""
        found = request_of(request, self._settings)
        if self._sdk is None:
            return found | {"api_base": self._settings.base_url} if self._settings.base_url else found
        more = dict(self._settings.request_fields)
        return found | {"extra_body": more} if more else found


def _sdk(settings: ModelSettings, **more: Any) -> openai.AsyncOpenAI:
    provider, base = provider_of(settings), address_of(settings)
    if base is None:
        raise UsageError(f"--model {settings.model} needs an address: set {provider.url_variable}, or give it with --base-url")
    more |= {"max_retries": 0, "default_headers": dict(settings.headers)}
    is_azure, base, key = provider.protocol == "azure", base.rstrip("/"), key_of(settings)
    if is_azure and not base.endswith("/v1"):
        version = os.environ.get("OPENAI_API_VERSION", _AZURE_VERSION)
        return openai.AsyncAzureOpenAI(azure_endpoint=base, api_version=version, api_key=key, **more)
    if is_azure:  # the newer address, without versions; the key is in a header of its own all the same
        more["default_headers"] = {"api-key": key, **more["default_headers"]}
    return openai.AsyncOpenAI(base_url=base, api_key=key, **more)


def _litellm(settings: ModelSettings, turn: Turn) -> Callable[..., Any]:
    """LiteLLM as a library, for models that only it reaches: litellm/PROVIDER/MODEL.

    Raises:
        UsageError: litellm is not installed.
    """
    needed("litellm", "litellm/")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch its price list from the network when imported
    import litellm

    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="Item '.*' on TypedDict class")  # of its own types
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    for name, value in os.environ.items():  # which of them it sends, LiteLLM decides
        if name.upper().endswith(_SECRET):
            use_secret(value)
    key = {"api_key": key_in(settings.key_variable)} if settings.key_variable else {}
    more = {"extra_headers": dict(settings.headers)} if settings.headers else {}
    ask: Any = litellm.acompletion

    async def completion(**kwargs: Any) -> Any:
        async with turn():
            try:
                async with asyncio.timeout(settings.timeout_s):
                    body = kwargs.pop("extra_body", {})
                    return await ask(**{**kwargs, **body, **dict(settings.request_fields), **key, **more, **_PLAIN})
            except TimeoutError as error:
                raise TimedOut.after(settings.timeout_s) from error
            except CotraceError:
                raise
            except Exception as error:  # whatever LiteLLM throws
                raise classify(error) from error

    return completion


def request_of(request: ChatRequest, settings: ModelSettings, limit: str | None = None) -> dict[str, Any]:
    """The request, without the form; the longest reply under that name, or else under the one that the model may take."""
    newer = settings.reasons or (settings.provider in _NEWER_LIMIT and settings.base_url is None)
    limit = limit or ("max_completion_tokens" if newer else "max_tokens")
    functions = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in request.tools]
    found = {
        "model": settings.model_name,
        "messages": [_written(message) for message in request.with_wish],
        OTHER_LIMIT[limit] if limit in request.refused else limit: request.limit,
        "temperature": settings.sampling_temperature,
        "top_p": settings.top_p,
        "reasoning_effort": settings.reasoning_effort,
        "logprobs": settings.logprobs or None,
        "tools": [{"type": "function", "function": function} for function in functions] or None,
        _MAY_LEAVE_OUT: is_at_own_server(settings) or None,
    }
    return given(found, request.refused - OTHER_LIMIT.keys())


def _written(message: Message) -> dict[str, Any]:
    if message.get("echo") is not None:
        return {"role": message["role"], **message["echo"]}
    found: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if calls := message.get("tool_calls"):
        functions = [(call.id, {"name": call.name, "arguments": call.arguments}) for call in calls]
        found["tool_calls"] = [{"id": call_id, "type": "function", "function": function} for call_id, function in functions]
    if "tool_call_id" in message:
        found["tool_call_id"] = message["tool_call_id"]
    return found


def response_in(body: bytes) -> ChatCompletion | str:
    """The body of a response, whatever it is, as OpenAI's client hands it over, for `completion_of`; its text if it is no object."""
    try:
        content = replace_lone_surrogates(json.loads(body))
    except (ValueError, RecursionError):
        content = None
    return ChatCompletion.construct(**content) if isinstance(content, dict) else body.decode("utf-8", "replace")


def completion_of(response: Any) -> Completion:
    """The first choice of a reply.

    Raises:
        ErrorCameError: an error came in its place, as gateways send it when the server behind them fails.
        UnreadableError: it is not a reply.
    """
    if not isinstance(response, BaseModel):
        raise UnreadableError(f"the reply is not a chat completion: {excerpt(str(response))}")
    reply: dict[str, Any] = response.model_dump(exclude_unset=True, warnings=False)
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    if error := reply.get("error") or choice.get("error"):
        raise ErrorCameError(error)
    if choice.get("finish_reason") == _FAILED:
        raise ErrorCameError("the server behind it failed")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnreadableError(f"the reply is not a chat completion: it has no choices with a message, but {excerpt(str(reply))}")
    found = message.get("tool_calls")
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]  # the older name, which gateways still send
    text, thoughts, refusal = _parts(message.get("content"))
    usage = reply.get("usage")
    return Completion(
        text=text,
        finish_reason=text_or_none(choice.get("finish_reason")),
        tokens=_tokens(usage),
        reasoning=thoughts or text_or_none(message.get("reasoning_content")) or text_or_none(message.get("reasoning")) or "",
        tool_calls=tuple(map(_called, calls)),
        refusal=text_or_none(message.get("refusal")) or refusal,
        probabilities=probabilities_in(choice.get("logprobs"), "content", "logprob"),
        echo=_echo(message, calls),
        served_model=text_or_none(reply.get("model")),
        cost=_cost(usage),
        unlisted=unlisted(usage, "total_tokens", "prompt_tokens", "completion_tokens"),
    )


def _echo(message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What belongs to calls of tools besides text and arguments, thoughts and signatures above all: servers that send it want it back."""
    more = {name: value for name, value in message.items() if _OF_THOUGHTS.search(name) and value not in (None, "", [])}
    signed = any({*call, *(call["function"] if isinstance(call.get("function"), dict) else ())} - _OF_CALLS for call in calls)
    if not calls or not (more or signed or isinstance(message.get("content"), list)):
        return None
    plain = [{name: value for name, value in call.items() if name != "index"} for call in calls]
    return {"content": message.get("content"), "tool_calls": plain, **more}


def _called(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"] if isinstance(call.get("function"), dict) else {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(str(call.get("id") or ""), str(function.get("name") or ""), arguments)


def _parts(content: Any) -> tuple[str, str, str | None]:
    """Text, reasoning and refusal of a message's content: a text, parts of several types, or JSON that the server has read already."""
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False), "", None
    if not isinstance(content, list):
        return text_or_none(content) or "", "", None
    parts = [part if isinstance(part, dict) else {"type": "text", "text": part} for part in content]
    text = "".join(text_or_none(part.get("text")) or "" for part in parts if part.get("type") in {"text", "output_text"})
    thoughts = "".join(_parts(part.get("thinking"))[0] for part in parts if part.get("type") == "thinking")
    return text, thoughts, "".join(text_or_none(part.get("refusal")) or "" for part in parts if part.get("type") == "refusal") or None


def _tokens(usage: Any) -> Tokens:
    """Tokens as billed. Some servers count reasoning in addition to `completion_tokens`, which their own total shows."""
    cached = counted(usage, "prompt_tokens_details", "cached_tokens") or counted(usage, "prompt_cache_hit_tokens")
    prompt, total = counted(usage, "prompt_tokens"), counted(usage, "total_tokens")
    written = counted(usage, "completion_tokens")
    reasoning = counted(usage, "completion_tokens_details", "reasoning_tokens") or counted(usage, "reasoning_tokens")
    if reasoning > written:  # a part is never more than the whole
        written += reasoning
    return Tokens(input=prompt, output=max(written, total - prompt if prompt else 0), cached=cached, reasoning=reasoning)


def _cost(usage: Any) -> float | None:
    """What the server has billed, in USD: as a number, as parts with their sum, or in xAI's ticks."""
    if not isinstance(usage, dict):
        return None
    ticks, cost = usage.get("cost_in_usd_ticks"), usage.get("cost")
    if _is_amount(ticks):
        return float(ticks) / _TICKS_A_DOLLAR
    amount = cost.get("total_cost") if isinstance(cost, dict) else cost
    if not _is_amount(amount):
        return None
    details = usage.get("cost_details")
    behind = details.get("upstream_inference_cost") if usage.get("is_byok") is True and isinstance(details, dict) else None
    return float(amount) + (float(behind) if _is_amount(behind) else 0.0)  # with a key of one's own, the gateway's fee comes on top


def _is_amount(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_COST
