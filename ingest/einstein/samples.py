"""The sampled answers among which a verifier chose."""

from __future__ import annotations

from collections.abc import Sequence

from games.einstein.engine.actions import parse_answer
from games.einstein.replay import Samples

__all__ = ["sampled_actions"]


def sampled_actions(steps: Sequence[Samples]) -> dict[str, object]:
    """`sampled_actions` of `episodes.details`: turn -> action of every sample, null where none can be read; only of turns with several."""
    found = {str(number): [_text(text) for text in samples.texts] for number, samples in enumerate(steps, 1) if len(samples.texts) > 1}
    return {"sampled_actions": found} if found else {}


def _text(answer: str) -> str | None:
    action = parse_answer(answer).action
    return action.text if action else None
