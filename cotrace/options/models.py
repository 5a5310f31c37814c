"""Options of commands that ask a model: where it is, how it answers, and what it may take; and what is told of models before they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from cotrace.options.shared import Number, say
from cotrace.terminal import echo
from schemas.common.errors import UsageError
from schemas.common.wording import seconds

if TYPE_CHECKING:
    from judges.claims.texts import ReadingPlan
    from judges.runs.job import RunPlan
    from providers.provider import ModelSettings
    from schemas.chat.messages import Message

F = TypeVar("F", bound=Callable[..., Any])

_EFFORTS: Final = ("none", "minimal", "low", "medium", "high")
_MODES: Final = ("tools", "json", "json_schema")
_FIELDS: Final = ("max_tokens", "reasoning_effort", "mode", "timeout_s", "request_fields", "headers")
_LIMITS: Final = ("logprobs", "requests_per_minute", "tokens_per_minute")
AT_ONCE: Final = 32
"""Calls under way, where the server's slots are not known."""
_NO_PROBABILITIES: Final = frozenset({"anthropic", "bedrock", "mistral"})
"""Protocols that have none."""


class _Temperature(Number):
    """A number or `none`, as fields of `ModelSettings`."""

    name = "number|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, dict):  # the default
            return value
        return {"temperature": None if value == "none" else super().convert(value, param, ctx)}


class _Pair(click.ParamType[tuple[str, Any]]):
    """NAME=VALUE, as a pair; a field's value is JSON where it reads as such."""

    name = "name=value"

    def __init__(self, *, json: bool) -> None:
        self._json = json

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        import orjson

        from schemas.common.text import use_secret

        name, equals, text = value.partition("=")
        if not name.strip() or not equals:
            self.fail(f"{value!r} is not NAME=VALUE, such as {'seed=7' if self._json else 'X-Team=judges'}", param, ctx)
        if not self._json:
            use_secret(text)
            return name.strip(), text
        try:
            return name.strip(), orjson.loads(text)
        except orjson.JSONDecodeError:
            return name.strip(), text


def asking_options(*, temperature: float, max_tokens: int, typed: bool = True) -> Callable[[F], F]:
    """Add the options of how a model answers, with those defaults; `typed` if replies fill in a form."""
    mode = click.option("--mode", type=click.Choice(_MODES), show_default="as suits the provider", help="How typed answers are asked for.")
    options = (
        click.option(
            "--temperature",
            type=_Temperature(min=0),
            default={"usual_temperature": temperature},
            show_default=f"{temperature:g}, and none for models that reason",
            help="Sampling temperature, or none to send none.",
        ),
        click.option(
            "--max-tokens", default=max_tokens, show_default=True, type=click.IntRange(min=1), help="Longest reply, reasoning apart."
        ),
        click.option(
            "--reasoning-effort",
            type=click.Choice(_EFFORTS),
            show_default="as the model does by itself",
            help="How much the model may reason before it answers.",
        ),
        *([mode] if typed else []),
        click.option(
            "--timeout",
            "timeout_s",
            type=Number(min=0, min_open=True),
            show_default="by the server's speed after `cotrace doctor --model`; else 120, at a server of your own 600",
            help="Seconds before a request is given up; a wait in the server's queue counts.",
        ),
        click.option(
            "--request-field",
            "request_fields",
            multiple=True,
            type=_Pair(json=True),
            help="NAME=VALUE, one more field of each request, such as seed=7; repeat for more.",
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            type=_Pair(json=False),
            help="NAME=VALUE, one more header of requests; repeat for more.",
        ),
        click.option("--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Price file of your own (YAML)."),
    )

    return with_options(*options)


def with_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """All options as one, in their order."""
    return lambda command: reduce(lambda done, option: option(done), reversed(options), command)


def concurrency_option(usual: int, what: str = "Calls") -> Callable[[F], F]:
    """`--concurrency`; None: all slots of the servers, or the usual number where they are not known."""
    default = f"the server's slots, where it states them; else {usual}"
    return click.option("--concurrency", type=click.IntRange(min=1), show_default=default, help=f"{what} under way at once.")


model_options: Final = with_options(
    click.option("--base-url", "base_urls", multiple=True, help="Server of the provider's kind, else OpenAI's; repeat to share calls out."),
    click.option("--key-env", "key_variables", multiple=True, help="Environment variable with a key; repeat for several keys."),
    click.option("--cache", type=click.Path(path_type=Path), help="File or folder of answers by content: what is in it is not paid again."),
    concurrency_option(AT_ONCE),
    click.option(
        "--requests-per-minute",
        type=Number(min=0, min_open=True),
        help="Never send more requests a minute than this, to each server and key.",
    ),
    click.option(
        "--tokens-per-minute", type=Number(min=0, min_open=True), help="Never use more tokens a minute than this, at each server and key."
    ),
    asking_options(temperature=0.0, max_tokens=1500),
    click.option("--max-cost", type=Number(min=0), help="USD that may be spent; the run stops cleanly before it would be more."),
)


def asking(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say, as fields of `ModelSettings`."""
    fields = {name: options[name] for name in _FIELDS if name in options}
    return {**options["temperature"], **{name: value for name, value in fields.items() if (name, value) != ("timeout_s", None)}}


def named(model: str, option: str = "--model") -> str:
    """A model as people name it: provider/model.

    Raises:
        UsageError: it names no provider.
    """
    if "/" not in model:
        raise UsageError(f"{option} {model}: write provider/model, such as openai/{model}")
    return model


def endpoints_of(model: str, options: Mapping[str, Any], questions: int | None = None) -> tuple[tuple[ModelSettings, ...], int]:
    """The model once for each server and key, asked as all options say and its profile knows, and how many calls are under way at once.

    Args:
        model: provider/model.
        options: of the command.
        questions: of one call, where a rubric is asked.

    Raises:
        UsageError: several servers and keys, but not equally many.
    """
    from providers.provider import ModelSettings, endpoints

    limits = {name: options[name] for name in _LIMITS if name in options}
    found = endpoints(ModelSettings(model=model, **asking(options), **limits), options["base_urls"], options["key_variables"])
    return fit(found, options["concurrency"], AT_ONCE, questions=questions)


def fit(
    models: Sequence[ModelSettings], concurrency: int | None, usual: int, *, questions: int | None = None, typed: bool = True
) -> tuple[tuple[ModelSettings, ...], int]:
    """The settings with what is known of their servers, and how many calls are under way at once; an option that was given counts.

    Args:
        models: the same model, once for each server and key.
        concurrency: as given; None: it was not.
        usual: calls at once where a server's slots are not known.
        questions: of one call, where a rubric is asked.
        typed: whether replies fill in forms.
    """
    from providers.profile import fitted

    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    return fitted(models, given if typed else given | {"mode"}, concurrency=concurrency, usual=usual, questions=questions)


def tell_models(models: Iterable[ModelSettings], prices: Path | None, max_cost: float | None) -> None:
    """Before anything costs: say which price each model has, and which name may be mistyped.

    Raises:
        UsageError: there is no such provider, or a price file is malformed.
    """
    from providers.prices import price_line, similar_models
    from providers.provider import is_at_own_server, provider_of

    for settings in dict.fromkeys(models):
        protocol, line = provider_of(settings).protocol, price_line(settings, prices)
        names_are_own = settings.base_url is not None or protocol == "azure"
        if (line is None and not names_are_own) or (line is not None and line.is_guess):
            similar = [] if names_are_own else similar_models(settings.model)
            meant = f"; did you mean {' or '.join(similar)}?" if similar else ""
            say(f"warning: {settings.model} is on no price list: its name may be wrong{meant}")
        if line is not None and (max_cost is not None or line.is_guess):
            say(f"{settings.model}: {line.price.input:g} USD a million tokens in, {line.price.output:g} out ({line.line})")
        if line is None and max_cost is not None and is_at_own_server(settings):
            say(f"warning: {settings.model} has no price at {settings.base_url}: --max-cost counts what replies state; --prices gives one")
        if settings.logprobs and protocol in _NO_PROBABILITIES:
            say(f"warning: {settings.provider}/ reports no token probabilities: --logprobs changes nothing")


def takes(plan: RunPlan | ReadingPlan, settings: ModelSettings | None) -> str:
    """What a plan takes: tokens, money where there is a price, and time where `cotrace doctor` has measured the model's server."""
    from providers.profile import read

    cost = "no price known" if plan.cost is None else f"about {plan.cost:.4f} USD"
    profile = read(settings) if settings is not None else None
    found = None if profile is None else profile.run_s(plan.calls, plan.tokens_in, plan.tokens_out)
    lasts = "" if found is None else f", about {seconds(found)} at the speeds that cotrace doctor has measured"
    return f"about {plan.tokens_in} + {plan.tokens_out} tokens, {cost}{lasts}"


def show_prompt(messages: Sequence[Message]) -> None:
    """Print what a model would be sent."""
    for message in messages:
        echo(f"--- {message['role']}\n{message['content']}")
