"""How a rubric that is optimised asks a judge about cases: as `cotrace judge` would."""

from __future__ import annotations

from pydantic import BaseModel

from judges.evidence.prompt import PromptMaker
from judges.optimization.cases import Case
from judges.optimization.dispatcher import Dispatcher
from judges.rubric import Given, Rubric, answer_model, given
from providers.asker import Request

Answers = dict[str, Given] | None
"""Question -> answer; None: no usable reply came."""
RubricDispatcher = Dispatcher[Rubric, Case, dict[str, Given]]


class RubricManner:
    """See `judges.optimization.dispatcher.Manner`."""

    def __init__(self, rubric: Rubric) -> None:
        self._groups = rubric.groups()
        self._forms = [answer_model(group) for group in self._groups]
        self._makers: dict[str, PromptMaker] = {}

    def name(self, prompt: Rubric) -> str:
        """Its hash."""
        return prompt.hash

    def number(self, case: Case) -> int:
        """Its number."""
        return case.number

    def request(self, prompt: Rubric, case: Case) -> Request:
        """The call of the case's group of questions."""
        if prompt.hash not in self._makers:
            self._makers[prompt.hash] = PromptMaker(prompt)
        messages = self._makers[prompt.hash].messages(case.prompt)
        return Request(messages=messages, form=self._forms[case.prompt.group], episode_id=case.episode_id)

    def told(self, case: Case, filled: BaseModel) -> dict[str, Given]:
        """Question -> answer."""
        return {one.question: one for one in given(self._groups[case.prompt.group], filled)}
