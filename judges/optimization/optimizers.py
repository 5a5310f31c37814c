"""DSPy's optimisers, each with the most that it can ask; what a search costs, how it asks and how it chooses."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from providers.prices import Price, price_of
from providers.provider import ModelSettings
from schemas.chat.messages import Message

LONGER_INSTRUCTIONS: Final = 4_000
"""Characters by which proposed instructions are taken to be longer than those there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchTerms:
    """How a search goes about it, whatever it looks for."""

    optimizer: str
    """A key of `OPTIMIZERS`."""
    asked: ModelSettings
    """The model that is to answer better."""
    writer: ModelSettings
    """The model that writes instructions; not used by all optimisers."""
    candidates: int
    demonstrations: int
    seed: int
    cache: Path
    """File or folder of answers by content: what is in it is not paid again."""
    max_cost: float | None = None
    """USD that this run may spend; None: no limit."""
    prices: Path | None = None
    """A price file of the user's own, looked at before the built-in one."""
    concurrency: int = 16
    """Calls under way at once."""

    def sizes(self, training: Sequence[object], validation: Sequence[object]) -> Sizes:
        """How much there is to work with."""
        return Sizes(len(training), len(validation), self.candidates, self.demonstrations)

    def priced(self) -> tuple[Price | None, Price | None]:
        """What the asked model costs, and the writer; the same where no instructions are written.

        Raises:
            UsageError: a price file is malformed.
        """
        asked = price_of(self.asked, self.prices)
        return asked, price_of(self.writer, self.prices) if OPTIMIZERS[self.optimizer].writes else asked


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEstimate:
    """The most that a run asks, if no call has to be repeated and nothing is on disk."""

    calls: Calls
    tokens_in: int
    tokens_out: int
    cost: float | None
    """USD; None if a model has no price."""
    example: list[Message]
    """The first prompt in full."""


_MINIBATCH: Final = 6
"""Cases that GEPA reflects on at a time."""
_SUMMARY_BATCH: Final = 10
_MOST_SUMMARIES: Final = 10
"""DSPy's: MIPRO describes the training part in batches, at most so many, and then sums up."""
_FALLBACK: Final = 2
"""DSPy asks a second time, in another form, where it cannot read the writer's reply."""


class Sizes(NamedTuple):
    """How much there is to work with."""

    training: int
    """Cases."""
    validation: int
    """Cases."""
    candidates: int
    """Texts, or sets of demonstrations, to try."""
    demonstrations: int
    """Most in one prompt."""


class Calls(NamedTuple):
    """The most that a search asks, re-asks apart."""

    judge: int
    writer: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """What an optimiser works with."""

    program: Any
    metric: Any
    """What optimisers climb, 0 to 1, in DSPy's signature (`judges.optimization.program`)."""
    training: list[Any]
    validation: list[Any]
    sizes: Sizes
    writer: Any
    """The language model that writes instructions, DSPy's kind."""
    seed: int
    threads: int
    advice: str
    """What a model that writes instructions receives about those who will read them."""


class Optimizer(NamedTuple):
    """One of DSPy's."""

    run: Callable[[Search], None]
    """Tries candidates; each is on the dispatcher's ledger."""
    calls: Callable[[Sizes], Calls]
    writes: bool
    """Whether it needs a model that writes instructions."""
    package: str
    """The distribution that decides what it does, besides dspy."""
    demonstrations: int
    """Most in one prompt, unless the user decides otherwise."""

    def run_quietly(self, search: Search) -> None:
        """Run it without its prints and logs."""
        import dspy

        aside = io.StringIO()
        logging_was_on = dspy.utils.logging_utils.DSPY_LOGGING_STREAM.enabled
        dspy.disable_logging()
        try:
            with redirect_stdout(aside), redirect_stderr(aside), dspy.context(lm=search.writer, adapter=dspy.ChatAdapter()):
                self.run(search)
        finally:
            if logging_was_on:
                dspy.enable_logging()


def _bootstrap(search: Search) -> None:
    """Demonstrations out of the training part, with the judge's reason where it is right (Khattab et al. 2023, arXiv 2310.03714)."""
    import random

    from dspy.teleprompt import BootstrapFewShotWithRandomSearch

    dealt = random.Random(search.seed).sample(search.training, len(search.training))  # DSPy has fixed seeds of its own
    optimizer = BootstrapFewShotWithRandomSearch(
        metric=search.metric,
        metric_threshold=1.0,
        max_bootstrapped_demos=search.sizes.demonstrations,
        max_labeled_demos=search.sizes.demonstrations,
        num_candidate_programs=search.sizes.candidates,
        num_threads=search.threads,
    )
    optimizer.compile(search.program, trainset=dealt, valset=search.validation)


def _bootstrap_calls(sizes: Sizes) -> Calls:
    """Without demonstrations, with labelled ones, and with each bootstrapped set."""
    return Calls((sizes.candidates + 3) * sizes.validation + (sizes.candidates + 1) * sizes.training, 0)


def _mipro(search: Search) -> None:
    """Instructions from a description of the data, and demonstrations, chosen together (Opsahl-Ong et al. 2024, arXiv 2406.11695)."""
    from dspy.teleprompt import MIPROv2

    optimizer = MIPROv2(
        metric=search.metric,
        metric_threshold=1.0,
        prompt_model=search.writer,
        task_model=search.writer,
        max_bootstrapped_demos=search.sizes.demonstrations,
        max_labeled_demos=search.sizes.demonstrations,
        auto=None,
        num_candidates=search.sizes.candidates,
        num_threads=search.threads,
        seed=search.seed + 1,  # 0 would be taken for none
        track_stats=False,
    )
    optimizer.compile(
        search.program,
        trainset=search.training,
        valset=search.validation,
        num_trials=_mipro_trials(search.sizes),
        minibatch=False,
        view_data_batch_size=_SUMMARY_BATCH,
        program_aware_proposer=False,  # it would describe our source code, not the game
    )


def _mipro_trials(sizes: Sizes) -> int:
    """DSPy's own rule: max(2 * variables * log2(candidates), 1.5 * candidates)."""
    variables = 1 if sizes.demonstrations == 0 else 2
    return int(max(2 * variables * math.log2(sizes.candidates), 1.5 * sizes.candidates))


def _mipro_calls(sizes: Sizes) -> Calls:
    summaries = min(_MOST_SUMMARIES, math.ceil(sizes.training / _SUMMARY_BATCH)) + 1
    judge = (_mipro_trials(sizes) + 1) * sizes.validation + sizes.candidates * sizes.training
    return Calls(judge, _FALLBACK * (summaries + sizes.candidates))


def _gepa(search: Search) -> None:
    """Instructions that reflect on mistakes, retained where they are best for some case (Agrawal et al. 2025, arXiv 2507.19457)."""
    import dspy
    from dspy.teleprompt.gepa.instruction_proposal import InstructionProposer

    propose = InstructionProposer(adapter=dspy.ChatAdapter(), additional_instructions=search.advice)

    def proposed(candidate: dict[str, str], reflective_dataset: Mapping[str, Any], components_to_update: list[str]) -> dict[str, str]:
        try:
            return propose(candidate, reflective_dataset, components_to_update)  # type: ignore[no-any-return]
        except (ValueError, dspy.utils.exceptions.AdapterParseError):  # a reply that cannot be read costs one try, not the run
            return {name: candidate[name] for name in components_to_update}

    optimizer = dspy.GEPA(
        metric=search.metric.with_feedback,
        max_metric_calls=search.sizes.validation + search.sizes.candidates * _gepa_round(search.sizes),
        reflection_minibatch_size=min(_MINIBATCH, len(search.training)),
        reflection_lm=search.writer,
        instruction_proposer=proposed,
        num_threads=search.threads,
        seed=search.seed,
        use_merge=False,  # there is one text, so there is nothing to merge
    )
    optimizer.compile(search.program, trainset=search.training, valset=search.validation)


def _gepa_round(sizes: Sizes) -> int:
    """A minibatch with the old text, with the new one, and if that is better the validation part."""
    return 2 * min(_MINIBATCH, sizes.training) + sizes.validation


def _gepa_calls(sizes: Sizes) -> Calls:
    """It ends with the round in which it reaches its limit; at worst each round is a minibatch twice and a text for nothing."""
    judge = sizes.candidates * _gepa_round(sizes)
    texts = math.ceil(judge / (2 * min(_MINIBATCH, sizes.training))) + 1
    return Calls(sizes.validation + judge + _gepa_round(sizes), _FALLBACK * texts)


OPTIMIZERS: Final[Mapping[str, Optimizer]] = {
    "mipro": Optimizer(_mipro, _mipro_calls, writes=True, package="optuna", demonstrations=2),
    "gepa": Optimizer(_gepa, _gepa_calls, writes=True, package="gepa", demonstrations=0),
    "bootstrap": Optimizer(_bootstrap, _bootstrap_calls, writes=False, package="dspy", demonstrations=3),
}
"""Name on the command line -> optimiser."""
