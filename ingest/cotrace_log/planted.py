"""What the authors of scripted games know: planted labels, and the claims of their texts.

They are most of the rows of such a game, and few of them differ, so they are given in groups of columns (`schemas.batches.Coded`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeVar

from ingest.cotrace_log.kept import PlannedClaim, claims_in
from schemas.batches import Coded, Group
from schemas.claims import text_hash
from schemas.game import PlantedLabel, Turn

__all__ = ["PLANTED", "planted_claims", "planted_labels"]

PLANTED: Final = "planted"
"""`labels.source` of the truth that scripted players write into their logs, and `claims.reader` of what they know their texts to claim."""

_SCORES: Final = {"yes": 1.0, "no": 0.0}

_CLAIM_ALWAYS: Final = ("episode_id", "reader", "words", "start_char", "end_char", "certain", "reason", "prompt_hash")
_CLAIM_TEXT: Final = ("turn", "seq", "agent", "text_hash")
_CLAIM_SAID: Final = ("kind", "claim")

_LABEL_ALWAYS: Final = ("source", "episode_id", "imported_at")
_LABEL_UNIT: Final = ("annotator", "unit_key", "turn", "agent")
_Key = TypeVar("_Key", bound=Hashable)

_LABEL_SAID: Final = ("rubric", "question", "answer", "score", "basis", "planted")


def planted_claims(episode: str, turns: Sequence[Turn]) -> Coded:
    """What the authors of the texts know them to claim: first the row that says so, then a row a claim."""
    import numpy as np

    texts: list[tuple[object, ...]] = []
    told: list[tuple[PlannedClaim, ...]] = []
    for turn in turns:
        for seq, utterance in enumerate(turn.utterances, start=1):
            claims = claims_in(utterance.claims)
            if claims is not None:
                texts.append((turn.turn, seq, utterance.agent, text_hash(utterance.text)))
                told.append(claims)
    said = _numbering(PlannedClaim)
    of_said = list(map(said.__getitem__, chain.from_iterable(told)))
    counts = np.fromiter(map(len, told), np.int32, len(told))
    numbers = np.arange(len(of_said)) - np.repeat(counts.cumsum() - counts, counts)
    always = (episode, PLANTED, None, None, None, True, None, None)
    return Coded(
        (
            Group(_CLAIM_ALWAYS, [always], np.zeros_like(numbers)),
            Group(_CLAIM_TEXT, texts, np.repeat(np.arange(len(texts)), counts)),
            Group(("number",), [(number,) for number in range(max(map(len, told), default=0))], numbers),
            Group(_CLAIM_SAID, list(said), of_said),
        )
    )


def planted_labels(episode: str, turns: Sequence[Turn], personas: Mapping[str, str | None], model: str) -> Coded:
    """Answers that the authors know to be true; ``personas``: who plays each agent, ``model``: who is evaluated."""
    import numpy as np

    said = _numbering(PlantedLabel)
    of_said = list(map(said.__getitem__, chain.from_iterable(turn.labels for turn in turns)))
    agents = list(dict.fromkeys(label.agent for label in said))
    of_agent = np.array([agents.index(label.agent) for label in said], np.int32)
    of_turn = np.repeat(np.arange(len(turns)), [len(turn.labels) for turn in turns])
    units = [_unit(episode, turn.turn, agent, personas, model) for turn in turns for agent in agents]
    answers = [(each.rubric, each.question, each.answer, _SCORES.get(each.answer.lower()), each.basis, each.planted) for each in said]
    return Coded(
        (
            Group(_LABEL_ALWAYS, [(PLANTED, episode, None)], np.zeros_like(of_turn)),
            Group(_LABEL_UNIT, units, of_turn * len(agents) + of_agent[of_said]),
            Group(_LABEL_SAID, answers, of_said),
        )
    )


def _numbering(_: type[_Key]) -> defaultdict[_Key, int]:
    """Numbers its keys from 0, in the order in which they are first asked for."""
    numbers: defaultdict[_Key, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _unit(episode: str, turn: int, agent: str | None, personas: Mapping[str, str | None], model: str) -> tuple[object, ...]:
    """What was labelled: a turn of the team, or of an agent, who is then the annotated one."""
    if agent is None:
        return model, f"{episode}/{turn}", turn, None
    return personas.get(agent) or model, f"{episode}/{turn}/{agent}", turn, agent
