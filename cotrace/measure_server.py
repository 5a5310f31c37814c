"""Measures what one server can do for one model, with some eight small calls: `cotrace doctor --model NAME --base-url URL`."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, Field

from providers.asker import Asker, JobTerms, Reply, Request, now
from providers.faults import HopelessError
from providers.profile import Profile, stated
from providers.provider import Mode, ModelSettings
from schemas.chat.messages import Message

_MODES: Final[tuple[Mode, ...]] = ("json_schema", "tools", "json")
_WORDS: Final = 50
"""Longest reply of the call that measures how fast replies are written, in tokens."""
_FORM_TOKENS: Final = 200
_MOST_AT_ONCE: Final = 8
_LONG_PROMPT: Final = "\n".join(
    f'turn {turn}: {who} says: "place the small {colour} block at ({turn % 3},{turn % 2}), layer {turn % 3}"'
    for turn in range(1, 25)
    for who, colour in (("D1", "red"), ("D2", "blue"))
)


_PROBES: Final = (
    ('D1 says: "place the small red block at (0,0), layer 1"', ("yes", "no")),
    ('D2 says: "the green one goes on top of yours, the blue one stays"', ("no", "yes")),
)
"""Texts, and whether each mentions a red and a green block."""


class _Finding(BaseModel):
    """A reason and an answer, as in a judge's form."""

    reason: str = Field(description="A short sentence, not the answer alone: what in the text decides it.")
    answer: Literal["yes", "no"]


class _Colours(BaseModel):
    """What the text says of colours."""

    red: _Finding = Field(description="Does the text mention a red block?")
    green: _Finding = Field(description="Does the text mention a green block?")


class Tried(NamedTuple):
    """What came of one way of asking."""

    mode: Mode
    failed: str | None
    """Why no form was filled in; None: one was."""
    is_right: bool = False
    """Whether its answers are right, as even a small model should have them."""


class Measured(NamedTuple):
    """A profile, and what came of each way of asking."""

    profile: Profile
    tried: list[Tried]
    seconds: float


async def measure(settings: ModelSettings, tell: Callable[[str], None]) -> Measured:
    """Ask a server what it states, then some eight small calls: speed alone and with all slots in use, each way of asking, probabilities.

    Args:
        settings: the model at its address; its timeout holds for each call.
        tell: is told before each step what comes.

    Raises:
        HopelessError: the server cannot be reached, or turns every request down.
        UsageError: the model's name or address is none, or its key is missing.
    """
    began = time.monotonic()
    tell("how fast it reads a prompt")
    prompt_speed = await _prompt_speed(settings)
    tell("what the server states")  # only now: while it loads its model, it states nothing
    profile = (await asyncio.to_thread(stated, settings)).model_copy(update={"prompt_speed": prompt_speed})
    at_once = min(profile.slots or 1, _MOST_AT_ONCE)
    tell(f"how fast it writes, {at_once} calls at once")
    profile = profile.model_copy(update={"reply_speed": await _reply_speed(settings, at_once)})
    tried = []
    for mode in _MODES:
        tell(f"whether it fills in a form: {mode}")
        tried.append(await _try(replace(settings, mode=mode, max_tokens=_FORM_TOKENS, reasks=1)))
    profile = profile.model_copy(update={"modes": [one.mode for one in tried if one.failed is None], "measured_at": now()})
    tell("whether it gives the probabilities of its tokens")
    logprobs = await _gives_probabilities(replace(settings, mode=profile.mode or "json_schema", max_tokens=_FORM_TOKENS, reasks=0))
    return Measured(profile.model_copy(update={"logprobs": logprobs}), tried, time.monotonic() - began)


async def _ask(settings: ModelSettings, text: str, *, form: type[BaseModel] | None = None, times: int = 1) -> list[Reply]:
    """The same question so many times at once."""
    messages = [Message(role="user", content=text)]
    async with Asker([settings], terms=JobTerms(concurrency=times)) as asker:
        return await asyncio.gather(*(asker.ask(Request(messages=messages, form=form, purpose="doctor")) for _ in range(times)))


async def _prompt_speed(settings: ModelSettings) -> float | None:
    """Tokens/s of a prompt that no cache holds; None where the server counts no tokens.

    Raises:
        HopelessError: no reply comes at all.
    """
    text = f"{secrets.token_hex(4)}\n{_LONG_PROMPT}\nAnswer with one word: ready."
    [reply] = await _ask(replace(settings, max_tokens=1, reasks=0, tries=2), text)
    if reply.completion is None:
        raise HopelessError(f"no reply came: {reply.call.error}")
    tokens, seconds = reply.completion.tokens.input, reply.call.latency_s
    return tokens / seconds if tokens and seconds else None


async def _reply_speed(settings: ModelSettings, at_once: int) -> float | None:
    text = "Count in words from one to one hundred, with commas and nothing else: one, two, three,"
    replies = await _ask(replace(settings, max_tokens=_WORDS, reasks=0, tries=2), text, times=at_once)
    speeds = [
        reply.completion.tokens.output / reply.call.latency_s
        for reply in replies
        if reply.completion is not None and reply.completion.tokens.output and reply.call.latency_s
    ]
    return sum(speeds) / len(speeds) if speeds else None


async def _try(settings: ModelSettings) -> Tried:
    """One way of asking, with two small forms as judges have them; it works if both are filled in, each asked once more at most."""
    assert settings.mode is not None
    right = True
    for text, due in _PROBES:
        try:
            [reply] = await _ask(settings, _asked_of(text), form=_Colours)
        except HopelessError as error:
            return Tried(settings.mode, str(error))
        filled = reply.filled
        if not isinstance(filled, _Colours):
            return Tried(settings.mode, reply.call.error or "no usable reply")
        right = right and (filled.red.answer, filled.green.answer) == due
    return Tried(settings.mode, None, is_right=right)


def _asked_of(text: str) -> str:
    return f"{text}\n\nAnswer each question about this text with a reason of one short sentence, then yes or no."


async def _gives_probabilities(settings: ModelSettings) -> bool | None:
    """None where the request was refused or brought nothing."""
    try:
        [reply] = await _ask(replace(settings, logprobs=True), _asked_of(_PROBES[0][0]), form=_Colours)
    except HopelessError:
        return None
    return bool(reply.completion.probabilities) if reply.completion is not None else None
