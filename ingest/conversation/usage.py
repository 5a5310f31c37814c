"""What a message tells of the request to a model from which it came: the model, its tokens and cost, in the words of any dialect."""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

Raw = Mapping[str, Any]

_AROUND: Final = ("message", "response", "extra", "response_metadata", "raw_data", "data", "kwargs")
"""Keys of objects in or around a message that may hold the facts."""
_USAGES: Final = ("usage", "usage_metadata", "usageMetadata", "models_usage", "token_usage", "metrics", "llm_metrics")
_IN: Final = ("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "prompt_token_count", "input")
_OUT: Final = ("completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "candidates_token_count", "output")
_CACHED: Final = ("cached_tokens", "cache_read_input_tokens", "cached_input_tokens", "cachedContentTokenCount")
_APART: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic counts these apart from `input_tokens`."""
_COSTS: Final = ("cost_usd", "cost", "costUSD", "response_cost")
_MODELS: Final = ("model", "model_name", "modelVersion", "model_id", "modelId")
_REASONS: Final = ("stop_reason", "finish_reason", "finishReason")
_MOST_TOKENS: Final = 10**12


UNKNOWN_MODEL: Final = "unknown"


class ModelCall(NamedTuple):
    """The request to a model from which a message comes, as the log tells it; None, of any of these: the log does not say."""

    model: str
    asked_at: datetime | None = None
    served_model: str | None = None
    """Which one the log states has replied."""
    prompt: Any = None
    """What the model was sent, as far as the log has it: it is hashed, not stored."""
    finish_reason: str | None = None
    tokens_in: int | None = None
    """Cached ones included."""
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    latency_s: float | None = None
    cost: float | None = None
    """USD."""
    attempts: int = 1
    error: str | None = None


def inner_message(raw: Any) -> Raw:
    """The message in the object that a session file writes around it; the object itself where there is none."""
    inner = raw.get("message") if isinstance(raw, Mapping) else None
    return inner if isinstance(inner, Mapping) else raw if isinstance(raw, Mapping) else {}


def usage_of(raw: Any) -> ModelCall | None:
    """What a message tells; None where it counts no tokens."""
    holders = list(_holders(raw, 2))
    counted = [one[key] for one in holders for key in _USAGES if isinstance(one.get(key), Mapping)]
    counted = [inner if isinstance(inner := one.get("data"), Mapping) else one for one in counted]  # AG2 wraps what its classes hold
    counts = next((one for one in counted if _count(one, _IN) is not None or _count(one, _OUT) is not None), None)
    if counts is None:
        return None
    tokens_in = _count(counts, _IN)
    apart = sum(_count(counts, (key,)) or 0 for key in _APART) if "prompt_tokens" not in counts else 0
    details = [counts, *(one for key in ("prompt_tokens_details", "input_tokens_details") if isinstance(one := counts.get(key), Mapping))]
    return ModelCall(
        model=_text(holders, _MODELS) or UNKNOWN_MODEL,
        tokens_in=None if tokens_in is None else tokens_in + apart,
        tokens_out=_count(counts, _OUT),
        tokens_cached=next((found for one in details if (found := _count(one, _CACHED)) is not None), None),
        cost=next((money for one in [counts, *holders] if (money := _money(one)) is not None), None),
        finish_reason=_text(holders, _REASONS),
    )


def _holders(raw: Any, depth: int) -> Iterator[Raw]:
    if isinstance(raw, Mapping):
        yield raw
        for key in _AROUND if depth else ():
            yield from _holders(raw.get(key), depth - 1)


def _count(holder: Raw, keys: tuple[str, ...]) -> int | None:
    counts = (holder[key] for key in keys if isinstance(holder.get(key), int | float) and not isinstance(holder[key], bool))
    found: float | None = next(counts, None)
    return int(found) if found is not None and math.isfinite(found) and 0 <= found <= _MOST_TOKENS else None


def _money(holder: Raw) -> float | None:
    found: float | None = next((holder[key] for key in _COSTS if isinstance(holder.get(key), int | float)), None)
    return float(found) if found is not None and 0 <= found <= _MOST_TOKENS else None


def _text(holders: list[Raw], keys: tuple[str, ...]) -> str | None:
    return next((found for one in holders for key in keys if isinstance(found := one.get(key), str) and found), None)
