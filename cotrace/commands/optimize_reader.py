"""`cotrace optimize-reader`: a better prompt for a model that reads, by one of DSPy's optimisers, judged on held-out authors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cotrace.options.models import show_prompt, tell_models
from cotrace.options.shared import say, spent, store_option
from cotrace.search import in_figures, search_of, search_options, searched, upper_cost
from schemas.common.errors import UsageError
from schemas.common.packages import needed
from schemas.common.text import in_shell
from schemas.store.store import Store

if TYPE_CHECKING:
    from judges.optimization.optimizers import SearchEstimate
    from judges.optimization.search import ReaderOptimization


@click.command()
@click.option("--benchmark", default="craft", show_default=True, help="Whose texts are read.")
@click.option("--model", required=True, help="The model that reads, provider/model, such as openai/gpt-4o-mini.")
@click.option("--prompt", type=click.Path(path_type=Path), help="File with the prompt to start from [default: the one that is built in].")
@click.option(
    "--held-out", default=0.3, show_default=True, type=click.FloatRange(0.05, 0.9), help="Share of the authors reserved for the final test."
)
@click.option("--texts", default=40, show_default=True, type=click.IntRange(min=2), help="Most texts of one author.")
@click.option("--where", help="SQL condition over episodes and turns.")
@search_options
@click.option(
    "--out", type=click.Path(path_type=Path), help="The new prompt [default: <benchmark>_reader_<optimizer>.yaml]; never replaced."
)
@store_option
def command(out: Path | None, store: Store, *, dry_run: bool, **options: Any) -> int:
    """Look for instructions and examples with which a model understands texts better, and test them on held-out authors.

    Texts whose authors say what they claim (scripted players, annotated logs) are the measure; examples in the prompt are of scripted
    players' texts only. The result is a file for `cotrace claims --prompt FILE` and `cotrace judge --judge engine --reader llm:... --prompt
    FILE`. Start the same command again after an interruption: no answer is paid twice. Exit code 1 if the budget ran out.

    \b
    Example:
      cotrace optimize-reader --model openai/gpt-4o-mini --max-cost 5 --dry-run
      cotrace optimize-reader --model openai/gpt-4o-mini --optimizer bootstrap --out my_prompt.yaml
    """
    from analytics.readers import conclusion, reading_gain
    from judges.optimization.search import counted, expected, optimize_reader, write_prompt

    needed("dspy", "cotrace optimize-reader")
    store.check()
    path = out or Path(f"{options['benchmark']}_reader_{options['optimizer']}.yaml")
    if path.exists():
        raise UsageError(f"--out {path} exists already, and a prompt is never replaced: choose another name")
    request = _request(store, options)
    tell_models((request.asked, request.writer), options["prices"], options["max_cost"])
    plan = expected(request)
    _tell_plan(request, plan)
    if dry_run:
        show_prompt(plan.example)
        return 0
    found = searched(f"reader of {request.benchmark} by {request.optimizer}", sum(plan.calls), partial(optimize_reader, request))
    if found is None:
        return 1
    usage = found.usage
    say(
        f"  {usage.asked} calls, {usage.from_cache} of them answered from disk, {usage.failed} failed; "
        f"{usage.requests} requests, {spent(usage.cost)}"
    )
    if found.chosen is None or found.after is None:
        say(
            f"no gain: none of {found.tried} candidates read the validation part better than the prompt as it is "
            f"(score {found.validation_before:.3f}); no file is written"
        )
        return 0
    from judges.claims.texts import PromptFile
    from judges.optimization.program import agreement

    held_out = request.parts.held_out
    before, after = counted(held_out, found.before), counted(held_out, found.after)
    gain = reading_gain([case.episode_id for case in held_out], before, after, agreement)
    sentence = conclusion(gain, sorted({case.author for case in held_out}))
    rates = (("precision", gain.precision), ("recall", gain.recall))
    figures = [f"{name} {in_figures(before)} -> {in_figures(after)}" for name, (before, after) in rates]
    optimizer = f"{request.optimizer}, seed {request.seed}, {request.candidates} candidates"
    made = f"Made by `cotrace optimize-reader` for {request.asked.model} ({optimizer}). What came of it on held-out authors:"
    prompt = PromptFile(benchmark=request.benchmark, instructions=found.chosen.instructions, examples=list(found.chosen.examples))
    write_prompt(path, prompt, [made, *figures, sentence])
    for line in (*(f"  held-out {figure}" for figure in figures), sentence):
        say(line)
    command = f"cotrace claims --reader {in_shell(f'llm:{request.asked.model}')} --prompt {in_shell(path)}"
    say(f"wrote {path}: read it before you ask with it ({command})")
    return 0


def _request(store: Store, options: Mapping[str, Any]) -> ReaderOptimization:
    from judges.claims.readers import family_reading
    from judges.claims.texts import prompt_in
    from judges.optimization.cases import reader_cases, split_by_author
    from judges.optimization.search import ReaderOptimization

    benchmark, seed = options["benchmark"], options["seed"]
    prompt = prompt_in(options["prompt"])
    cases = reader_cases(store, benchmark, per_author=options["texts"], seed=seed, where=options["where"])
    return ReaderOptimization(
        benchmark=benchmark,
        instructions=prompt.instructions.get(benchmark, family_reading(benchmark).prompt["instructions"]),
        parts=split_by_author(cases, held_out=options["held_out"], seed=seed),
        **search_of(options, store),
    )


def _tell_plan(request: ReaderOptimization, plan: SearchEstimate) -> None:
    say(f"reader of {request.benchmark} by {request.optimizer}, model {request.asked.model}")
    for name, part in zip(("training", "validation", "held-out"), request.parts, strict=True):
        games, authors = len({case.episode_id for case in part}), ", ".join(sorted({case.author for case in part}))
        say(f"  {name} part: {len(part)} texts of {games} games, by {authors}")
    say(
        f"  at most {plan.calls.judge} calls of the model that reads and {plan.calls.writer} of the model that writes, re-asks apart; "
        f"about {plan.tokens_in} + {plan.tokens_out} tokens, {upper_cost(plan.cost)}"
    )
