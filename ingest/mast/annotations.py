"""MAST's annotations as labels of the rubric `mast`.

Published files name a mode by its number in the final taxonomy, or, in the rounds before it was final, by words whose numbers differ: there
the words count. What fits no mode of the final taxonomy is kept as a label of a rubric named after its round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ingest.reading.json_text import dumps
from schemas.records import Label

__all__ = ["labels"]

_MODES: Final = {
    "1.1": ("disobeys_task", "disobey task|task specification"),
    "1.2": ("disobeys_role", "disobey role|role specification"),
    "1.3": ("repeats_steps", "step repetition|repeat"),
    "1.4": ("loses_history", "loss of conversation|conversation history"),
    "1.5": ("unaware_of_end", "unaware of|termination condition|stopping condition"),
    "2.1": ("resets_conversation", "conversation reset"),
    "2.2": ("does_not_ask", "clarification"),
    "2.3": ("derails", "derail"),
    "2.4": ("withholds_information", "withh"),
    "2.5": ("ignores_others", "ignored other|ignor"),
    "2.6": ("acts_against_reasoning", "reasoning.action|action.reasoning"),
    "3.1": ("ends_early", "premature termination"),
    "3.2": ("no_verification", "(?:no|incomplete|lack of|weak|without).*verification"),
    "3.3": ("wrong_verification", "incorrect verification|wrong verification"),
}
"""Number in the final taxonomy -> question of the rubric, and words of its name."""

_ANSWERS: Final[Mapping[bool, tuple[str, float]]] = {True: ("yes", 0.0), False: ("no", 1.0)}
_RUBRIC: Final = "mast"


class _Mode(NamedTuple):
    rubric: str
    question: str


def labels(row: Mapping[str, Any], source: str, episode: str) -> Iterator[Label]:
    """The labels of one trace."""
    for mode, annotator, present in _found(row):
        if present is not None:
            answer, score = _ANSWERS[present]
            scored = score if mode.rubric == _RUBRIC else None
            yield Label(source, annotator, mode.rubric, mode.question, episode, episode, None, None, answer, scored)


def _found(row: Mapping[str, Any]) -> Iterator[tuple[_Mode, str, bool | None]]:
    published = row.get("mast_annotation")
    for name, present in published.items() if isinstance(published, Mapping) else ():
        yield _mode(str(name), None), "mast", _present(present)
    people = row.get("annotations")
    for entry in people if isinstance(people, list) else ():
        if isinstance(entry, Mapping):
            mode = _mode(str(entry.get("failure mode") or entry.get("failure_mode") or dumps(entry)), str(row.get("round") or ""))
            for key, present in entry.items():
                if str(key).startswith("annotator"):
                    yield mode, str(key), _present(present)


def _present(value: Any) -> bool | None:
    if isinstance(value, bool | int | float):
        return bool(value)
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}.get(str(value).lower())


def _mode(name: str, round_: str | None) -> _Mode:
    """By its words; by its number where it has no words."""
    words = re.sub(r"^\s*(?:FM-)?[\d.]+\s*", "", name).strip()
    numbered = re.match(r"\s*(?:FM-)?(\d\.\d)", name)
    if words:
        found = next((question for question, pattern in _MODES.values() if re.search(pattern, words, re.IGNORECASE)), None)
    else:
        found = _MODES[numbered[1]][0] if numbered and numbered[1] in _MODES else None
    if found is not None:
        return _Mode(_RUBRIC, found)
    return _Mode(f"{_RUBRIC}_{re.sub(r'[^a-z0-9]+', '_', (round_ or 'other').lower())}", name)
