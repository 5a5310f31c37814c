"""One optimisation: what there is on the held-out part, candidates on the validation part, the chosen one on the held-out part.

Of a rubric it leaves a new rubric file, with where it comes from; how often a rubric's successors were tested is counted in the store's
folder. Of a reader's prompt, whose held-out part is by authors of its own, it leaves a prompt file.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import orjson
import yaml

from judges.claims.extraction import messages_for
from judges.claims.readers import Count, counts
from judges.claims.reading import Read
from judges.claims.texts import PromptFile
from judges.evidence.prompt import PromptMaker
from judges.optimization.cases import Answers, Case, CaseSplit, ReaderCase, Split
from judges.optimization.dispatcher import Conditions, Dispatcher, Halted, Priced, dispatching
from judges.optimization.optimizers import LONGER_INSTRUCTIONS, OPTIMIZERS, Calls, Search, SearchEstimate, SearchTerms
from judges.rubric import Given, Rubric
from judges.rubric_files.load import check, shipped
from providers.asker import Usage
from providers.faults import HopelessError
from providers.prices import TokenEstimate, refuse_unpriced
from schemas.chat.messages import Message
from schemas.common.errors import StoreError, UsageError

if TYPE_CHECKING:
    from judges.optimization.program import ReaderMetric, ReaderPrompt, ReaderTask, RubricTask, TrainingMetric

_TOKENS_AN_ANSWER: Final = 45
"""A reason of one sentence and an answer, as `cotrace judge --dry-run` has it."""
_TOKENS_A_READING: Final = 180
_CASES_IN_A_TEXT: Final = 10
"""Cases that the writer is shown at a time."""
_FEWEST_CANDIDATES: Final = 2
_MOST_FAILED: Final = 0.2
"""Share of the calls."""

PromptT = TypeVar("PromptT")
AnswerT = TypeVar("AnswerT")

OnCall = Callable[[int], None]
"""Called after each call with how many there were that had not been answered before."""
Agreement = Callable[[Sequence[Case], Sequence[Answers]], float]
"""How well the judge's answers agree with the labels of the cases, the higher the better."""


class _Lengths(NamedTuple):
    """How long calls are."""

    prompts: Iterable[list[Message]]
    """As things are: of the training part first."""
    case: float
    """Characters that a training case shows, on average."""
    demonstration: float
    """Characters that a demonstration takes in a prompt."""
    answer: int
    """Tokens of an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Optimization(SearchTerms):
    """One optimisation of a rubric; `asked` is the judge."""

    rubric: Rubric
    """With the questions that are optimised, and no others (`narrowed`)."""
    parts: CaseSplit
    """Cases as this rubric asks them (`split_as_asked`)."""
    balanced: bool
    """Whether errors are weighted so that chance is taken out; see `program.TrainingMetric`."""
    agreement: Agreement
    """Chooses among the candidates on the validation part."""

    def lengths(self) -> _Lengths:
        """How long calls are as the rubric is."""
        maker = PromptMaker(self.rubric)
        evidence = [len(case.prompt.evidence()) for case in self.parts.training]
        mean = sum(evidence) / len(evidence)
        prompts = (maker.messages(case.prompt) for part in self.parts for case in part)
        return _Lengths(prompts, mean, mean, _TOKENS_AN_ANSWER * len(self.rubric.questions))


@dataclass(frozen=True, kw_only=True, slots=True)
class ReaderOptimization(SearchTerms):
    """One optimisation of a prompt; `asked` is the model that reads."""

    benchmark: str
    instructions: str
    """As they are: the family's, or those of a prompt file."""
    parts: Split[ReaderCase]

    def lengths(self) -> _Lengths:
        """How long calls are with the prompt as it is."""
        prompts = (
            messages_for(self.instructions, case.frame, case.text, form=case.family.prompt["form"]) for part in self.parts for case in part
        )
        mean = sum(len(case.text) + len(case.frame) for case in self.parts.training) / len(self.parts.training)
        return _Lengths(prompts, mean, 2 * mean, _TOKENS_A_READING)


class Improved(NamedTuple, Generic[PromptT, AnswerT]):
    """What came of a run."""

    chosen: PromptT | None
    """The rubric or prompt that was better than what there is on the validation part; None: no candidate was."""
    before: list[AnswerT | None]
    """To each held-out case, asked as things are; None where no usable reply came."""
    after: list[AnswerT | None] | None
    """To each held-out case, asked as chosen; None where nothing is."""
    validation_before: float
    """Agreement; of readings the F measure, see `program.agreement`."""
    validation_after: float
    """Of what is chosen; as before, if none was better."""
    tried: int
    """Candidates that were asked about the whole validation part, what there is not counted."""
    usage: Usage


OptimizationResult = Improved[Rubric, dict[str, Given]]


def narrowed(rubric: Rubric, questions: Sequence[str]) -> Rubric:
    """The rubric with these questions only, and no answer that none of them can get."""
    retained = {name: question for name, question in rubric.questions.items() if name in questions}
    reachable = {answer for question in retained.values() for answer in question.answers}
    answers = {answer: score for answer, score in rubric.answers.items() if answer in reachable}
    return rubric.changed(questions=retained, answers=answers)


def expected(request: Optimization | ReaderOptimization) -> SearchEstimate:
    """What the run would ask at most, without asking anything.

    Raises:
        UsageError: a price file is malformed.
    """
    optimizer, parts, lengths = OPTIMIZERS[request.optimizer], request.parts, request.lengths()
    search = optimizer.calls(request.sizes(parts.training, parts.validation))
    calls = Calls(search.judge + 2 * len(parts.held_out), search.writer)
    prompts = list(lengths.prompts)
    longest = max(sum(len(message["content"]) for message in one) for one in prompts)
    read = longest + request.demonstrations * lengths.demonstration + (LONGER_INSTRUCTIONS if optimizer.writes else 0)
    written_from = _CASES_IN_A_TEXT * lengths.case + LONGER_INSTRUCTIONS
    tokens = TokenEstimate()
    asked_in, writer_in = tokens.tokens(round(calls.judge * read)), tokens.tokens(round(calls.writer * written_from))
    asked_out, writer_out = calls.judge * lengths.answer, calls.writer * request.writer.limit
    asked, writer = request.priced()
    return SearchEstimate(
        calls=calls,
        tokens_in=round(asked_in + writer_in),
        tokens_out=asked_out + writer_out,
        cost=asked.cost(asked_in, asked_out) + writer.cost(writer_in, writer_out) if asked and writer else None,
        example=prompts[0],
    )


def optimize(request: Optimization, on_call: OnCall | None = None) -> OptimizationResult:
    """Look for a better rubric.

    Raises:
        BudgetStopError: the budget is spent; start again with a higher one.
        HopelessError: no request can succeed, or too many do not.
        StoreError: the file of answers cannot be used.
        UsageError: a budget without prices, too few candidates, or a model that cannot be reached as it is named.
    """
    from judges.optimization.program import RubricTask, TrainingMetric

    cases = {case.number: case for case in (*request.parts.training, *request.parts.validation)}
    metric = TrainingMetric(cases, request.parts.training, balanced=request.balanced)
    return _improved(request, RubricTask(request.rubric), metric, request.agreement, on_call)


def optimize_reader(request: ReaderOptimization, on_call: OnCall | None = None) -> Improved[ReaderPrompt, Read[Any]]:
    """Look for a better prompt; see `optimize`."""
    from judges.optimization.program import ReaderMetric, ReaderPrompt, ReaderTask, agreement

    def agreed(cases: Sequence[ReaderCase], readings: Sequence[Read[Any] | None]) -> float:
        return agreement(count for one in counted(cases, readings) for count in one)

    cases = {case.number: case for case in (*request.parts.training, *request.parts.validation)}
    task = ReaderTask(ReaderPrompt(request.instructions))
    return _improved(request, task, ReaderMetric(cases), agreed, on_call)


def counted(cases: Sequence[ReaderCase], readings: Sequence[Read[Any] | None]) -> list[list[Count]]:
    """What was read of each text, counted; of a text without a usable reply nothing was."""
    return [list(counts(read or Read(()), case.meant)) for case, read in zip(cases, readings, strict=True)]


def _improved(
    request: Optimization | ReaderOptimization,
    task: RubricTask | ReaderTask,
    metric: TrainingMetric | ReaderMetric,
    agreement: Callable[[Sequence[Any], Sequence[Any]], float],
    on_call: OnCall | None,
) -> Improved[Any, Any]:
    if request.candidates < _FEWEST_CANDIDATES:
        raise UsageError(f"--candidates {request.candidates}: try at least {_FEWEST_CANDIDATES}")
    asked, writer = (Priced(*pair) for pair in zip((request.asked, request.writer), request.priced(), strict=True))
    for one in (asked, writer):
        refuse_unpriced(one.settings, one.price, request.max_cost)
    parts, plain = request.parts, task.plain
    try:
        with dispatching(task, asked, writer, Conditions(request.cache, request.max_cost, request.concurrency, on_call)) as dispatcher:
            ledger, usage = dispatcher.ledger, dispatcher.usage
            first = [*parts.held_out, *parts.validation]
            dispatcher.answer_all(plain, first)
            if usage.failed > _MOST_FAILED * len(first):  # agreement would measure the server, and no search could fix that
                who, what = task.asked_about
                raise HopelessError(
                    f"the {who} gave no usable answer to {usage.failed} of {len(first)} {what}; first failure: {usage.first_error}; "
                    "fix that, then start the same command again"
                )
            _search(request, task, metric, dispatcher)
            scores = {
                found: agreement(parts.validation, [ledger[found][case.number] for case in parts.validation])
                for found in dispatcher.asked_with
                if all(case.number in ledger[found] for case in parts.validation)
            }
            best = max(scores, key=lambda found: scores[found])  # of equals the first: what there is comes before all others
            chosen = None if best == plain.hash else dispatcher.asked_with[best]
            if chosen is not None:
                dispatcher.answer_all(chosen, parts.held_out)
    except Halted as halted:
        raise halted.why from None
    return Improved(
        chosen=chosen,
        before=[ledger[plain.hash][case.number] for case in parts.held_out],
        after=None if chosen is None else [ledger[best][case.number] for case in parts.held_out],
        validation_before=scores[plain.hash],
        validation_after=scores[best],
        tried=len(scores) - 1,
        usage=usage,
    )


def _search(request: Optimization | ReaderOptimization, task: Any, metric: TrainingMetric | ReaderMetric, dispatcher: Dispatcher) -> None:
    from judges.optimization.program import Program, writer_lm

    training, validation = request.parts.training, request.parts.validation
    learned_from = [case for case in training if task.is_safe(case)]
    if not learned_from:
        raise UsageError(task.nothing_to_learn)
    OPTIMIZERS[request.optimizer].run_quietly(
        Search(
            sizes=request.sizes(training, validation),
            seed=request.seed,
            threads=request.concurrency,
            program=Program(task, dispatcher, metric.cases),
            metric=metric,
            training=[task.example(case) for case in learned_from],
            validation=[task.example(case) for case in validation],
            writer=writer_lm(dispatcher, request.writer),
            advice=task.advice,
        )
    )


_FILE = "optimize_tests.jsonl"


def place_of_test(folder: Path, rubric: str, tested: str, at: datetime) -> int:
    """Note that a new rubric is tested, and say the how manieth it is of those made from this one, from 1.

    The same new rubric, tested again after an interruption, retains its place: it gives the same answer.

    Args:
        folder: where the store's journals lie; a line is added to a file in it.
        rubric: name of the rubric that it was made from.
        tested: hash of the new rubric's content.
        at: now.
    """
    path = folder / _FILE
    lines = path.read_bytes().splitlines() if path.exists() else []
    made = [line["tested"] for line in map(orjson.loads, filter(None, lines)) if line["rubric"] == rubric]
    if tested in made:
        return made.index(tested) + 1
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(orjson.dumps({"rubric": rubric, "tested": tested, "at": at.isoformat(timespec="seconds")}) + b"\n")
    return len(made) + 1


_HEAD = """\
# Made by `cotrace optimize` from the rubric {parent}; how, and what came of it on held-out games, is under `provenance`.
# Read instructions and demonstrations before you use it: a model wrote or chose them.
"""


def refuse_if_taken(path: Path) -> None:
    """Say at the start what would only be noticed at the end.

    Raises:
        UsageError: the file exists, its folder does not, or its name cannot be a rubric's.
    """
    if path.exists():
        raise UsageError(f"--out {path} exists already, and a rubric is never replaced: choose another name")
    if path.suffix != ".yaml" or not path.stem.isidentifier() or path.stem != path.stem.lower() or path.stem.startswith("_"):
        raise UsageError(f"--out {path}: a rubric file is called by small letters, digits and _, and ends in .yaml")
    if shipped(path.stem) is not None:
        raise UsageError(f"--out {path}: {path.stem} is a rubric that is there already: choose another name")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}: make it first")


def write_new_rubric(path: Path, rubric: Rubric, parent: str, provenance: Mapping[str, Any]) -> None:
    """Write the rubric under the name of the file; it passes `cotrace rubric check`.

    Raises:
        StoreError: the file cannot be written.
        UsageError: it exists meanwhile, or the rubric contradicts itself.
    """
    content = rubric.model_dump(exclude_defaults=True) | {"name": path.stem, "version": 1, "provenance": dict(provenance)}
    text = _HEAD.format(parent=parent) + yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=140)
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / path.name
        trial.write_text(text, encoding="utf-8")
        problems = check(trial)
    if problems:
        raise UsageError(f"the rubric that was found is not sound ({problems[0].message}): nothing was written")
    _write(path, text, f"{path} exists meanwhile, and a rubric is never replaced: start again with another --out; nothing is paid again")


def _write(path: Path, text: str, if_taken: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(if_taken) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}; start again with another --out; nothing is paid again") from error


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)


def write_prompt(path: Path, prompt: PromptFile, where_from: Sequence[str]) -> None:
    """Write a prompt as `--prompt` takes it, with where it comes from as comments; a file that exists is not replaced.

    Raises:
        StoreError: the file cannot be written.
        UsageError: it exists.
    """
    head = "".join(f"# {line}\n" for line in where_from)
    content = prompt.model_dump(mode="json") | {"instructions": inspect.cleandoc(prompt.instructions)}
    text = head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=140)
    _write(path, text, f"--out {path} exists already, and a prompt is never replaced: choose another name")
