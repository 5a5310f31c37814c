"""How models are asked, as part of a run's condition: what changes an answer is a switch like those of the game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from games.players.setup import is_model
from providers.provider import ModelSettings
from schemas.game import Header


def with_sampling(header: Header, taken: Mapping[str, str], of: Callable[[str], ModelSettings]) -> Header:
    """The header with the settings of its models in its condition: `temperature`, `max_tokens`, `top_p`, `reasoning_effort`, where set.

    A setting in which the models of a game differ is a text, `model=value` for each of them. Games without models stay as they are.
    """
    asked = {model: of(model).answering() for model in sorted(set(taken.values())) if is_model(model)}
    if not asked:
        return header
    names = dict.fromkeys(name for settings in asked.values() for name in settings)
    sampling = {name: _joined({model: settings.get(name) for model, settings in asked.items()}) for name in names}
    condition = {**header.run.get("condition", {}), **sampling}
    return replace(header, run={**header.run, "condition": condition})


def _joined(values: Mapping[str, object]) -> Any:
    first, *others = values.values()
    if all(value == first for value in others):
        return first
    return "; ".join(f"{model}={'none' if value is None else value}" for model, value in values.items())
