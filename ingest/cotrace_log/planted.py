"""What the authors of scripted games know: planted labels, and the claims of their texts.

They are most of the rows of such a game, and few of them differ, so they are given in groups of columns (`schemas.batches.Coded`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Final, TypeVar

from ingest.cotrace_log.kept import PlannedClaim, claims_in
from schemas.batches import Coded, Group
from schemas.claims import text_hash
from schemas.game import Turn

__all__ = ["PLANTED", "planted_claims", "planted_labels"]

PLANTED: Final = "planted"
"""`labels.source` of the truth that scripted players write into their logs, and `claims.reader` of what they know their texts to claim."""

_SCORES: Final = {"Yes": 1.0, "No": 0.0}

_CLAIM_ALWAYS: Final = ("episode_id", "reader", "words", "start_char", "end_char", "certain", "reason", "prompt_hash")
_CLAIM_TEXT: Final = ("turn", "seq", "agent", "text_hash")
_CLAIM_SAID: Final = ("kind", "claim")

_LABEL_ALWAYS: Final = ("source", "episode_id", "imported_at")
_LABEL_UNIT: Final = ("annotator", "unit_key", "turn", "agent")
_AGENT: Final = attrgetter("agent")
_SAID: Final = attrgetter("rubric", "question", "answer", "basis", "planted")
_Key = TypeVar("_Key")

_LABEL_SAID: Final = ("rubric", "question", "answer", "score", "basis", "planted")


def planted_claims(episode: str, turns: Sequence[Turn]) -> Coded:
    """What the authors of the texts know them to claim: first the row that says so, then a row a claim."""
    texts: list[tuple[object, ...]] = []
    said = _numbering(PlannedClaim)
    of_text: list[int] = []
    of_said: list[int] = []
    numbers: list[int] = []
    for turn in turns:
        for seq, utterance in enumerate(turn.utterances, start=1):
            claims = claims_in(utterance.claims)
            if claims is None:
                continue
            of_said += map(said.__getitem__, claims)
            of_text += [len(texts)] * len(claims)
            numbers += range(len(claims))
            texts.append((turn.turn, seq, utterance.agent, text_hash(utterance.text)))
    always = (episode, PLANTED, None, None, None, True, None, None)
    return Coded(
        (
            Group(_CLAIM_ALWAYS, [always], [0] * len(of_said)),
            Group(_CLAIM_TEXT, texts, of_text),
            Group(("number",), [(number,) for number in range(max(numbers, default=-1) + 1)], numbers),
            Group(_CLAIM_SAID, list(said), of_said),
        )
    )


def planted_labels(episode: str, turns: Sequence[Turn], personas: Mapping[str, str | None], model: str) -> Coded:
    """Answers that the authors know to be true; ``personas``: who plays each agent, ``model``: who is evaluated."""
    units = _numbering(tuple[int, str | None])
    said = _numbering(tuple[str, ...])
    of_unit: list[int] = []
    of_said: list[int] = []
    for turn in turns:
        of_unit += map(units.__getitem__, zip(repeat(turn.turn), map(_AGENT, turn.labels)))
        of_said += map(said.__getitem__, map(_SAID, turn.labels))
    answers = [(rubric, question, answer, _SCORES.get(answer), basis, planted) for rubric, question, answer, basis, planted in said]
    return Coded(
        (
            Group(_LABEL_ALWAYS, [(PLANTED, episode, None)], [0] * len(of_said)),
            Group(_LABEL_UNIT, [_unit(episode, turn, agent, personas, model) for turn, agent in units], of_unit),
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
