"""Models that only LiteLLM reaches: it is called as a library, and replies in the words of OpenAI."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import Any, Final

import msgspec

from providers.catalogue import key_in
from providers.completion import Completion, ErrorCameError, UnreadableError
from providers.faults import Fault, classify, of_error
from providers.protocols.openai_chat import ChatReply, OpenAIChat, completion_of
from providers.protocols.protocol import Sheet
from providers.provider import ModelSettings
from schemas.errors import CotraceError
from schemas.extras import needed
from schemas.secrets import strike, use_secret

__all__ = ["LiteLlmEndpoint"]

_PLAIN: Final = {"max_retries": 0, "num_retries": 0, "_skip_mcp_handler": True}
"""Retries are ours; without the last, a request with tools loads the package mcp, which LiteLLM does not bring."""
_SECRET: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "KEY_ID")
"""How variables with secrets end."""


class LiteLlmEndpoint:
    """A model by LiteLLM's name: litellm/PROVIDER/MODEL.

    Raises:
        UsageError: litellm is not installed.
    """

    def __init__(self, settings: ModelSettings) -> None:
        needed("litellm", "litellm/")
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch its price list from the network when imported
        import litellm

        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
        litellm.suppress_debug_info = True
        litellm.drop_params = True
        for name, value in os.environ.items():  # which of them it sends, LiteLLM decides
            if name.upper().endswith(_SECRET):
                use_secret(value)
        self._ask: Any = litellm.acompletion
        self._settings = settings
        self._protocol = OpenAIChat()

    async def send(self, sheet: Sheet) -> Completion:
        """One request. The one place where whatever LiteLLM throws becomes a fault."""
        settings = self._settings
        body = dict(self._protocol.body(sheet, settings))
        if settings.base_url is not None:
            body |= {"api_base": settings.base_url}
        if settings.key_variable is not None:
            body |= {"api_key": key_in(settings.key_variable)}
        try:
            async with asyncio.timeout(settings.timeout_s):
                reply = await self._ask(**body, **_PLAIN)
        except TimeoutError as error:
            raise Fault(f"no complete reply within {settings.timeout_s:g} s", status=None, retry_after_s=None, again=True) from error
        except CotraceError:
            raise
        except Exception as error:
            raise classify(error) from error
        try:
            body = json.loads(strike(json.dumps(reply.model_dump(), default=str)))
            return completion_of(msgspec.convert(body, ChatReply))
        except ErrorCameError as came:
            raise of_error(came.error) from came
        except (msgspec.ValidationError, UnreadableError) as error:
            raise Fault("the reply is no chat completion", status=None, retry_after_s=None, again=True, came=True) from error

    async def close(self) -> None:
        """LiteLLM closes its own connections."""
