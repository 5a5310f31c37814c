"""How each provider's protocol puts a request, a reply and an error; strict where the providers are strict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.servers.dialects.anthropic import Anthropic
from tests.servers.dialects.bedrock import Bedrock
from tests.servers.dialects.dialect import Asked, BadRequestError, Billed, Dialect, Said
from tests.servers.dialects.google import Google
from tests.servers.dialects.openai import OpenAI, completion, form_of, tool_call

__all__ = ["DIALECTS", "Asked", "BadRequestError", "Billed", "Dialect", "OpenAI", "Said", "completion", "form_of", "tool_call"]

DIALECTS: Final[Mapping[str, Dialect]] = {
    "/v1/chat/completions": OpenAI(),
    "/openai/deployments/{model}/chat/completions": OpenAI(),
    "/v1/messages": Anthropic(),
    "/v1beta/models/{model}:generateContent": Google(),
    "/model/{model}/converse": Bedrock(),
}
"""Path -> what is spoken there."""
