"""What `cotrace optimize` and `cotrace optimize-reader` share: who is asked, how much is tried, what it may take, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from cotrace.options.models import asking, asking_options, concurrency_option, fit, named, with_options
from cotrace.options.shared import Number, say
from schemas.store.store import Store

if TYPE_CHECKING:
    from analytics.statistics.intervals import Estimate
    from providers.provider import ModelSettings


Found = TypeVar("Found")


def searched(title: str, calls: int, search: Callable[[Callable[[int], None]], Found]) -> Found | None:
    """What the search finds, under a progress bar; None where the budget ends it, which is told.

    Args:
        title: of the bar.
        calls: the most calls the search can make.
        search: gets what is to be told how many calls are done.
    """
    from cotrace.progress import progress_bar
    from judges.optimization.dispatcher import BudgetStopError

    try:
        with progress_bar(title) as show:
            return search(lambda asked: show(asked, calls))
    except BudgetStopError as stop:
        say(f"{stop}; answers are stored: start again with a higher --max-cost to go on, nothing is paid twice")
        return None


def upper_cost(cost: float | None) -> str:
    """The most a search costs, in words."""
    return "no price known" if cost is None else f"at most about {cost:.4f} USD"


def in_figures(number: Estimate | None) -> str:
    """A value with its 95 % interval."""
    return "not defined" if number is None else f"{number.value:.3f} ({number.low:.3f} to {number.high:.3f})"


F = TypeVar("F", bound=Callable[..., Any])

_AT_ONCE = 16
_LONGEST_TEXT = 4_000
"""Tokens of a reply of the model that writes instructions."""

search_options: Final = with_options(
    click.option("--base-url", help="Server of the provider's kind, else OpenAI's, such as http://localhost:8000/v1."),
    click.option("--key-env", "key_variable", help="Environment variable with the key."),
    click.option(
        "--optimizer", default="gepa", show_default=True, type=click.Choice(["mipro", "gepa", "bootstrap"]), help="DSPy's optimiser."
    ),
    click.option("--reflection-model", help="provider/model that writes instructions [default: the same]."),
    click.option("--reflection-base-url", help="Its server [default: the same, if the model is]."),
    click.option(
        "--candidates", default=6, show_default=True, type=click.IntRange(min=2), help="Texts, or sets of demonstrations, to try."
    ),
    click.option("--demonstrations", type=click.IntRange(min=0), help="Most labelled cases in one prompt [default: by optimiser]."),
    click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the split and of the optimiser."),
    concurrency_option(_AT_ONCE),
    asking_options(temperature=0.0, max_tokens=1500),
    click.option("--max-cost", type=Number(min=0), help="USD that may be spent; the run stops cleanly before it would be more."),
    click.option("--cache", type=click.Path(path_type=Path), help="File or folder of answers by content [default: beside the store]."),
    click.option("--dry-run", is_flag=True, help="Only say what would be asked and what it would cost at most, and show one full prompt."),
)


def _asked_model(options: Mapping[str, Any]) -> tuple[ModelSettings, int]:
    """The model that is to get better, and how many calls are under way at once."""
    from providers.provider import ModelSettings

    plainly = ModelSettings(
        model=named(options["model"]),
        base_url=options["base_url"],
        key_variable=options["key_variable"],
        **asking(options),
    )
    [settings], concurrency = fit([plainly], options["concurrency"], _AT_ONCE)
    return settings, concurrency


def _writer_of(asked: ModelSettings, options: Mapping[str, Any]) -> ModelSettings:
    """The model that writes. Texts are to differ from try to try, so it is asked warmly."""
    model = named(options["reflection_model"] or asked.model, "--reflection-model")
    base_url = options["reflection_base_url"] or (asked.base_url if model == asked.model else None)
    key_variable = asked.key_variable if model == asked.model else None
    warm = replace(asked, usual_temperature=1.0, temperature=None if asked.temperature is None else "default", max_tokens=_LONGEST_TEXT)
    is_same = (model, base_url) == (asked.model, asked.base_url)
    return replace(warm, model=model, base_url=base_url, key_variable=key_variable, context=asked.context if is_same else None)


def search_of(options: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """The fields that `Optimization` and `ReaderOptimization` share; answers are stored next to the store unless the user names a place."""
    from judges.optimization.optimizers import OPTIMIZERS
    from schemas.store.journal import made

    asked, concurrency = _asked_model(options)
    given = options["demonstrations"]
    return {
        **{name: options[name] for name in ("optimizer", "candidates", "seed", "max_cost", "prices")},
        "asked": asked,
        "writer": _writer_of(asked, options),
        "demonstrations": OPTIMIZERS[options["optimizer"]].demonstrations if given is None else given,
        "cache": options["cache"] or made(store.journals),
        "concurrency": concurrency,
    }
