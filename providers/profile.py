"""What one server can do for one model: context, slots, speed and ways of asking, and the settings that follow.

`cotrace doctor --model NAME --base-url URL` measures it and stores it; commands that ask the same model at the same address use it. Of a
server without a profile only what it states for nothing is known (`stated`). A profile holds no key and no text.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from providers.faults import Fault
from providers.provider import Mode, ModelSettings, address_of, is_at_own_server, key_of
from schemas.common.errors import CotraceError, UsageError

RESERVE: Final = 256
"""Tokens of the context that are left to the server's own frame around messages and schema."""
_TOKENS_A_QUESTION: Final = 60
_TOKENS_BESIDES: Final = 160
"""Small models took 20 to 45 tokens for an answer and its reason; a reply that is cut is asked for once more at twice the limit."""
_SLACK: Final = 2.0
"""A request is given up after so many times what the longest prompt and the longest reply take."""
_SHORTEST_TIMEOUT_S: Final = 120.0
OWN_SERVER_TIMEOUT_S: Final = 600.0
"""For a server of the user's own without a profile: a reply of 1,500 tokens at 10 tokens/s takes 150 s, after its prompt."""
_PREFERRED: Final[tuple[Mode, ...]] = ("json_schema", "tools", "json")
"""A server that holds replies to the schema leaves the model nothing to get wrong in the form."""
_ANSWERS_WITHIN_S: Final = 3.0
_MOST_BYTES: Final = 2**20


class Profile(BaseModel):
    """One model at one address. What is None is not known."""

    model_config = ConfigDict(frozen=True)

    model: str
    """provider/model, as on the command line."""
    base_url: str
    measured_at: datetime | None = None
    """UTC; None: only what the server states."""
    server: str | None = None
    """llama.cpp, vLLM, Ollama or another name."""
    models: list[str] = []
    """Names of models that the server lists."""
    context: int | None = Field(default=None, ge=1)
    """Tokens of one call, prompt and reply together."""
    slots: int | None = Field(default=None, ge=1)
    """Calls that the server works on at once; others wait in its queue."""
    prompt_speed: float | None = Field(default=None, gt=0)
    """Tokens/s of a prompt that no cache holds, of a call alone."""
    reply_speed: float | None = Field(default=None, gt=0)
    """Tokens/s of a reply, of each call while all slots are in use."""
    modes: list[Mode] = []
    """Ways of asking for a form that brought one filled in."""
    logprobs: bool | None = None
    """Whether replies in the mode that is used come with the probabilities of their tokens."""

    @property
    def mode(self) -> Mode | None:
        """The way of asking that commands use."""
        return next((mode for mode in _PREFERRED if mode in self.modes), None)

    def reply_limit(self, questions: int) -> int:
        """Tokens that are enough for the answers to so many questions, at most half of the context."""
        wanted = _TOKENS_BESIDES + _TOKENS_A_QUESTION * questions
        return wanted if self.context is None else min(wanted, self.context // 2)

    def largest_prompt(self, reply: int) -> int | None:
        """Tokens of the largest prompt that leaves room for a reply of so many."""
        return None if self.context is None else max(0, self.context - reply - RESERVE)

    def seconds(self, prompt: float, reply: float) -> float | None:
        """What a call of so many tokens takes while all slots are in use: they share the speed at which prompts are read."""
        if self.prompt_speed is None or self.reply_speed is None:
            return None
        return prompt * (self.slots or 1) / self.prompt_speed + reply / self.reply_speed

    def run_s(self, calls: int, tokens_in: float, tokens_out: float) -> float | None:
        """Seconds of so many calls with so many tokens together, all slots in use and prompts out of no cache; None if not known."""
        each = self.seconds(tokens_in / max(1, calls), tokens_out / max(1, calls))
        return None if each is None else each * calls / (self.slots or 1)

    def timeout_s(self, reply: int, concurrency: int) -> float | None:
        """After how many seconds a request can be given up, the wait in the server's own queue included."""
        longest = self.seconds(self.largest_prompt(reply) or 4 * reply, reply)
        if longest is None:
            return None
        return float(ceil(max(_SHORTEST_TIMEOUT_S, _SLACK * longest * ceil(concurrency / (self.slots or concurrency)))))

    def fit(self, settings: ModelSettings, given: Collection[str], concurrency: int, questions: int | None = None) -> ModelSettings:
        """The settings with what the profile knows, where the user has not given it.

        Args:
            settings: of this model at this address.
            given: names of fields that the user has set.
            concurrency: calls under way at once.
            questions: of one call, where a rubric is asked; None: the longest reply stays.
        """
        found: dict[str, Any] = {"context": self.context, "reply_speed": self.reply_speed}
        if "mode" not in given and self.mode is not None:
            found["mode"] = self.mode
        if "max_tokens" not in given and questions is not None and self.measured_at is not None:
            found["max_tokens"] = self.reply_limit(questions)
        if "timeout_s" not in given:
            limit = replace(settings, **found).limit
            found["timeout_s"] = self.timeout_s(limit, concurrency) or max(settings.timeout_s, OWN_SERVER_TIMEOUT_S)
        return replace(settings, **found)


def path_of(model: str, base_url: str) -> Path:
    """The file of a model at an address, in COTRACE_CONFIG or in `cotrace` of the user's folder for settings."""
    usual = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "cotrace"
    key = hashlib.blake2b(f"{model} {base_url}".encode(), digest_size=6).hexdigest()
    return Path(os.environ.get("COTRACE_CONFIG") or usual) / "servers" / f"{re.sub(r'[^A-Za-z0-9.]+', '-', model)}-{key}.json"


def write(profile: Profile) -> Path:
    """Store a profile in place of an earlier one; gives the file.

    Raises:
        UsageError: the folder cannot be written.
    """
    path = path_of(profile.model, profile.base_url)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(profile.model_dump_json(indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): name another folder in COTRACE_CONFIG") from error
    return path


def read(settings: ModelSettings) -> Profile | None:
    """The profile that is stored of a model at its address; None if there is none, or none that can be read."""
    address = address_of(settings)
    if address is None:
        return None
    try:
        return Profile.model_validate_json(path_of(settings.model, address.rstrip("/")).read_bytes())
    except (OSError, ValidationError):
        return None


def fitted(
    models: Sequence[ModelSettings], given: Collection[str], *, concurrency: int | None, usual: int, questions: int | None = None
) -> tuple[tuple[ModelSettings, ...], int]:
    """Settings with what is known of their servers, and how many calls are to be under way at once.

    Args:
        models: the same model at one or several servers.
        given: names of fields that the user has set; they stay.
        concurrency: as the user has set it; None: all slots of all servers.
        usual: calls at once where a server's slots are not known.
        questions: as `Profile.fit` takes it.
    """
    found = [read(one) or (stated(one) if is_at_own_server(one) else None) for one in models]
    slots = [one.slots if one and one.slots else 0 for one in found]
    at_once = concurrency or (sum(slots) if all(slots) else 0) or usual
    each = ceil(at_once / max(1, len(models)))
    pairs = zip(models, found, strict=True)
    return tuple(one if profile is None else profile.fit(one, given, each, questions) for one, profile in pairs), at_once


def stated(settings: ModelSettings) -> Profile:
    """What the server states for nothing; only its address if it cannot be reached or states nothing.

    llama.cpp has `/props` and `/slots`, vLLM the field `max_model_len` in `/v1/models`, Ollama `/api/ps`.

    Raises:
        UsageError: the model's name or address is none, or its key is missing.
    """
    from providers.asker import run_to_end

    return run_to_end(_stated(settings))


async def _stated(settings: ModelSettings) -> Profile:
    from providers.wire import WRONG_ADDRESS, http_client

    base = (address_of(settings) or "").rstrip("/")
    root, headers = base.removesuffix("/v1"), {"Authorization": f"Bearer {key_of(settings)}"}
    async with http_client(nullcontext, _ANSWERS_WITHIN_S, _MOST_BYTES) as client:

        async def got(url: str) -> Mapping[str, Any]:
            """The JSON object at an address, or an array under the name `list`; empty if there is none."""
            try:
                content = (await client.get(url, headers=headers)).json()
            except (Fault, CotraceError, WRONG_ADDRESS, ValueError):
                return {}
            return {"list": content} if isinstance(content, list) else content if isinstance(content, dict) else {}

        models = _objects((await got(f"{base}/models")).get("data"))
        found = _llama_cpp(await got(f"{root}/props"), await got(f"{root}/slots")) or _vllm(models, settings.model_name)
        found = found or _ollama((await got(f"{root}/api/ps")).get("models"), settings.model_name)
    names = [str(model.get("id")) for model in models if model.get("id")]
    return Profile(model=settings.model, base_url=base, models=names, **found)


def _llama_cpp(props: Mapping[str, Any], listed: Mapping[str, Any]) -> dict[str, Any]:
    generation, slots = props.get("default_generation_settings"), _objects(listed.get("list"))
    of_call = generation if isinstance(generation, dict) else slots[0] if slots else {}
    if "n_ctx" not in of_call:
        return {}
    return {"server": "llama.cpp", "context": _count(of_call["n_ctx"]), "slots": _count(props.get("total_slots")) or len(slots) or None}


def _vllm(models: Iterable[Mapping[str, Any]], name: str) -> dict[str, Any]:
    mine = next((model for model in models if model.get("id") == name), {})
    context = _count(mine.get("max_model_len"))
    return {"server": str(mine.get("owned_by") or "vLLM"), "context": context} if context else {}


def _ollama(listed: object, name: str) -> dict[str, Any]:
    """What is loaded now has the length that it was loaded with; otherwise the model's own is an upper bound, which is no fact."""
    for model in _objects(listed):
        if name in (model.get("name"), model.get("model"), str(model.get("name")).removesuffix(":latest")):
            return {"server": "Ollama", "context": _count(model.get("context_length"))}
    return {"server": "Ollama"} if isinstance(listed, list) else {}


def _objects(listed: object) -> list[Mapping[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None
