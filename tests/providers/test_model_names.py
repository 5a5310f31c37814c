"""What is known of models by their names."""

from __future__ import annotations

import pytest

from providers.provider import ModelSettings

REASONING = (
    "openai/o1",
    "openai/o3-mini",
    "openai/gpt-5-mini",
    "openai/gpt-5.1",
    "openrouter/openai/gpt-oss-120b",
    "anthropic/claude-opus-4-7",
    "openrouter/anthropic/claude-opus-4.7",
    "anthropic/claude-sonnet-5",
    "anthropic/claude-haiku-5-20270101",
    "bedrock/us.anthropic.claude-opus-5-v1:0",
    "openrouter/anthropic/claude-3.7-sonnet:thinking",
    "google/gemini-2.5-pro",
    "google/gemini-3-pro-preview",
    "deepseek/deepseek-reasoner",
    "xai/grok-4-fast-reasoning",
    "openrouter/qwen/qwen3-235b-a22b-thinking-2507",
)
PLAIN = (
    "openai/gpt-4o-mini",
    "openai/gpt-4.1",
    "openai/gpt-5-chat-latest",
    "anthropic/claude-3-5-haiku-20241022",
    "anthropic/claude-haiku-4-5",
    "anthropic/claude-3-5-sonnet-20240620",
    "anthropic/claude-3-7-sonnet-20250219",
    "anthropic/claude-3-7-sonnet-latest",
    "anthropic/claude-opus-4-20250514",
    "anthropic/claude-opus-4-1-20250805",
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-haiku-4-5-20251001",
    "bedrock/anthropic.claude-3-5-haiku-20241022-v1:0",
    "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "openrouter/anthropic/claude-3.5-haiku",
    "google/gemini-1.5-flash",
    "google/gemini-2.0-flash",
    "deepseek/deepseek-chat",
    "xai/grok-4-fast-non-reasoning",
    "openrouter/qwen/qwen3-235b-a22b-instruct-2507",
)
ADAPTIVE = {"anthropic/claude-opus-4-6", "anthropic/claude-opus-4-7", "anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-5"}
BUDGETED = {"anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-5-20251101", "anthropic/claude-3-7-sonnet-20250219"}


@pytest.mark.parametrize("model", [*REASONING, *PLAIN])
def test_only_models_that_reason_get_no_temperature(model: str) -> None:
    """A version of an older model that ends in 5 to 9 is no newer model; what is asked for explicitly always counts."""
    reasons = model in REASONING
    settings = ModelSettings(model=model)
    assert (settings.reasons, settings.sampling_temperature) == (reasons, None if reasons else 0.0)
    assert ModelSettings(model=model, reasoning_effort="low").sampling_temperature is None
    assert ModelSettings(model=model, reasoning_effort="none").sampling_temperature == 0.0


@pytest.mark.parametrize("model", sorted(ADAPTIVE | BUDGETED))
def test_only_newer_models_of_anthropic_decide_how_long_they_reason(model: str) -> None:
    """Older ones refuse that request: they are given a number of tokens."""
    assert ModelSettings(model=model).is_one_that("adaptive") is (model in ADAPTIVE)
