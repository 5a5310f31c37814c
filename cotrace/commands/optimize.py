"""`cotrace optimize`: a better rubric by example, whether it is one, and where it comes from (docs/optimize.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cotrace.options.models import show_prompt, tell_models
from cotrace.options.shared import requested, say, spent, store_option, tokens
from cotrace.search import in_figures, search_of, search_options, searched, upper_cost
from schemas.common import wording
from schemas.common.packages import needed
from schemas.common.text import in_shell
from schemas.store.store import Store

if TYPE_CHECKING:
    from analytics.judging.optimization_gain import Gain, Judged
    from analytics.statistics.intervals import Estimate
    from judges.optimization.cases import Answers, Case
    from judges.optimization.optimizers import SearchEstimate
    from judges.optimization.search import Optimization, OptimizationResult
    from judges.rubric import Rubric


@dataclass(frozen=True)
class HeldOutTest:
    """What the new rubric was tested on, and what came of it."""

    labels: str
    metric: str
    gains: Sequence[Gain]
    conclusion: str
    place: int
    """Which test of this parent on this store it was, from 1."""


def provenance(parent: Rubric, request: Optimization, found: OptimizationResult, test: HeldOutTest) -> dict[str, Any]:
    """The key `provenance` of the new file; its keys are explained in docs/optimize.md."""
    from judges.optimization.cases import PARTS
    from judges.optimization.optimizers import OPTIMIZERS
    from providers.asker import now

    optimizer = OPTIMIZERS[request.optimizer]
    packages = sorted({"cotrace", "dspy", optimizer.package})
    given = sum(number for part in request.parts for case in part for answers in case.labels.values() for number in answers.values())
    return {
        "parent": {"name": parent.name, "version": parent.version, "hash": parent.hash},
        "questions": list(request.rubric.questions),
        "optimizer": request.optimizer,
        "seed": request.seed,
        "candidates": {"asked_for": request.candidates, "tried": found.tried, "most_demonstrations": request.demonstrations},
        "judge": {"model": request.asked.model, **request.asked.answering()},
        "writer": {"model": request.writer.model, **request.writer.answering()} if optimizer.writes else None,
        "labels": {"source": test.labels, "given": given},
        "metric": test.metric,
        "split": {
            name: {"units": len(part), "games": sorted({case.episode_id for case in part})}
            for name, part in zip(PARTS, request.parts, strict=True)
        },
        "validation": {"before": _rounded(found.validation_before), "after": _rounded(found.validation_after)},
        "held_out": {gain.question: _gain(gain) for gain in test.gains},
        "test": test.place,
        "conclusion": test.conclusion,
        "calls": found.usage.asked,
        "answered_from_disk": found.usage.from_cache,
        "failed": found.usage.failed,
        "tokens": [found.usage.tokens_in, found.usage.tokens_out],
        "cost_usd": None if found.usage.cost is None else _rounded(found.usage.cost),
        "versions": {package: version(package) for package in packages},
        "made_at": f"{now().isoformat(timespec='seconds')}Z",
    }


def _gain(gain: Gain) -> Mapping[str, Any]:
    return {
        "units": gain.units,
        "games": gain.games,
        "before": _estimate(gain.before),
        "after": _estimate(gain.after),
        "difference": _estimate(gain.difference),
        "p": None if gain.p is None else _rounded(gain.p),
    }


def _estimate(found: Estimate | None) -> list[float] | None:
    """Value, lower and upper end."""
    return None if found is None else [_rounded(found.value), _rounded(found.low), _rounded(found.high)]


def _rounded(number: float) -> float:
    return round(number, 4)


_FEW_GAMES = 10
"""Below this even a large difference between two rubrics can be chance."""


@click.command()
@click.argument("rubric_name", metavar="RUBRIC")
@click.option("--labels", required=True, help="What counts as right: people, truth (planted), or a label source's name.")
@click.option("--model", required=True, help="The judge, provider/model, such as openai/gpt-4o-mini.")
@click.option(
    "--question", "questions", multiple=True, help="Optimise this question only; repeat for several [default: all with enough labels]."
)
@click.option(
    "--metric",
    default="kappa",
    show_default=True,
    type=click.Choice(["kappa", "alpha", "ac1", "accuracy"]),
    help="Agreement with the labels, averaged over the questions.",
)
@click.option(
    "--held-out", default=0.3, show_default=True, type=click.FloatRange(0.05, 0.9), help="Share of the games reserved for the final test."
)
@search_options
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own.")
@click.option("--out", type=click.Path(path_type=Path), help="The new rubric file [default: <rubric>_<optimizer>.yaml]; never replaced.")
@store_option
def command(rubric_name: str, folders: tuple[Path, ...], out: Path | None, store: Store, *, dry_run: bool, **options: Any) -> int:
    """Look for instructions and demonstrations that bring a model judge closer to labels, and test them on held-out games.

    The result is a new rubric file; the old one stays. Start the same command again after an interruption: no answer is paid twice.
    Exit code 1 if the budget ran out.

    \b
    Example:
      cotrace optimize acknowledges_conflict --rubrics my_rubrics --labels people --model openai/gpt-4o-mini --max-cost 5 --dry-run
      cotrace optimize pragmatic_sufficiency --labels truth --model openai/gpt-4o-mini --optimizer bootstrap --question PS4
    """
    from analytics.judging.optimization_gain import conclusion, gains
    from judges.optimization.search import expected, optimize, place_of_test, refuse_if_taken, write_new_rubric
    from judges.rubric_files.load import find
    from providers.asker import now

    needed("dspy", "cotrace optimize")
    store.check()
    parent = find(rubric_name, folders)
    path = out or Path(f"{parent.name}_{options['optimizer']}.yaml")
    refuse_if_taken(path)
    request, metric = _request(parent, store, options), options["metric"]
    tell_models((request.asked, request.writer), options["prices"], options["max_cost"])
    plan = expected(request)
    _tell_plan(request, plan)
    if dry_run:
        show_prompt(plan.example)
        return 0
    found = searched(f"{parent.name} by {request.optimizer}", sum(plan.calls), partial(optimize, request))
    if found is None:
        return 1
    _tell_usage(found)
    if found.chosen is None or found.after is None:
        say(
            f"no gain: none of {found.tried} candidates agreed better on the validation part than {parent.name} as it is "
            f"({metric} {found.validation_before:.3f}); no file is written"
        )
        return 0
    held_out = request.parts.held_out
    gained = gains(metric, _judged(held_out, found.before), _judged(held_out, found.after), _possible(request.rubric))
    _tell_gains(metric, gained)
    place = place_of_test(store.journals, parent.name, found.chosen.hash, now())
    sentence = conclusion(metric, gained, place)
    test = HeldOutTest(options["labels"], metric, gained, sentence, place)
    write_new_rubric(path, found.chosen, parent.name, provenance(parent, request, found, test))
    say(sentence)
    say(f"wrote {path}: read it before you ask with it (cotrace judge --rubric {in_shell(path)}); {parent.name} stays as it is")
    return 0


def _request(parent: Rubric, store: Store, options: Mapping[str, Any]) -> Optimization:
    from analytics.judging.optimization_gain import METRICS, mean_agreement
    from judges.optimization.cases import cases_of, optimizable, split, split_as_asked
    from judges.optimization.search import Optimization, narrowed

    parts = split(cases_of(store, parent, options["labels"]), held_out=options["held_out"], seed=options["seed"])
    questions, left_out = optimizable(parent, parts, options["questions"])
    for question, why in left_out.items():
        say(f"left out, {question}: {why}")
    rubric = narrowed(parent, questions)
    possible = _possible(rubric)

    def agreement(cases: Sequence[Case], given: Sequence[Answers]) -> float:
        return mean_agreement(options["metric"], _judged(cases, given), possible)

    return Optimization(
        rubric=rubric,
        parts=split_as_asked(parts, rubric),
        balanced=METRICS[options["metric"]].corrects_for_answers,
        agreement=agreement,
        **search_of(options, store),
    )


def _possible(rubric: Rubric) -> dict[str, Sequence[str]]:
    """The answers of each question; of a choice of several they are too many, and those in use count."""
    return {name: question.answers for name, question in rubric.questions.items()} if rubric.choice == "one" else {}


def _judged(cases: Sequence[Case], given: Sequence[Answers]) -> list[Judged]:
    from analytics.judging.optimization_gain import Judged

    return [
        Judged(case.episode_id, case.labels, {question: given.answer for question, given in (answers or {}).items()})
        for case, answers in zip(cases, given, strict=True)
    ]


def _tell_plan(request: Optimization, plan: SearchEstimate) -> None:
    from judges.optimization.cases import PARTS

    questions = ", ".join(request.rubric.questions)
    say(f"{request.rubric.name} ({questions}) by {request.optimizer}, judge {request.asked.model}")
    for name, part in zip(PARTS, request.parts, strict=True):
        say(f"  {name.replace('_', '-')} part: {len(part)} units of {_games(part)} games")
    say(
        f"  at most {plan.calls.judge} calls of the judge and {plan.calls.writer} of the model that writes, re-asks apart; "
        f"about {plan.tokens_in} + {plan.tokens_out} tokens, {upper_cost(plan.cost)}"
    )
    if _games(request.parts.held_out) < _FEW_GAMES:
        say(f"  fewer than {_FEW_GAMES} held-out games: only a large gain can be shown")


def _games(cases: Sequence[Case]) -> int:
    return len({case.episode_id for case in cases})


def _tell_usage(found: OptimizationResult) -> None:
    usage = found.usage
    sent = requested(usage.requests, usage.timed_out)
    say(
        f"  {usage.asked} calls, {usage.from_cache} of them answered from disk, {usage.failed} failed; {sent}, "
        f"{tokens(usage.tokens_in, usage.tokens_out)}, {spent(usage.cost)}"
    )
    if usage.first_error:
        say(f"  first failure: {usage.first_error}")


def _tell_gains(metric: str, found: Sequence[Gain]) -> None:
    for gain in found:
        chance = "" if gain.p is None else f", {wording.p_is(gain.p)}"
        say(
            f"  {gain.question}, {gain.units} held-out units of {gain.games} games: {metric} "
            f"{in_figures(gain.before)} -> {in_figures(gain.after)}, difference {in_figures(gain.difference)}{chance}"
        )
