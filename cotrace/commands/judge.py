"""`cotrace judge`: verdicts on every turn, by a model or by the engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from cotrace.commands.attribute import ask_decisive
from cotrace.model_readers import ask_reader, tell_collected
from cotrace.next_steps import after_judging
from cotrace.options.models import endpoints_of, model_options, named, show_prompt, takes, tell_models
from cotrace.options.shared import on_option, requested, say, spent, store_option, tokens
from schemas.common.errors import UsageError
from schemas.common.text import in_shell
from schemas.store.store import Store

if TYPE_CHECKING:
    from judges.evidence.transcript import Reader
    from judges.rubric import Rubric
    from judges.runs.job import JudgeReport, JudgeRequest

_ROLES: Final = 8
"""Of a benchmark, that are named where nothing is judged."""


@click.command()
@click.option("--rubric", "rubrics", multiple=True, help="Rubric's name or file; repeat for several.")
@click.option("--judge", type=click.Choice(["engine"]), help="The deterministic judge: answers what it can prove.")
@click.option("--model", "models", multiple=True, help="provider/model, such as openai/gpt-4o-mini; repeat for a panel of several.")
@click.option("--variant", help="Change the visible evidence as the rubric's variant of that name states (`cotrace rubric show NAME`).")
@click.option("--repeats", type=click.IntRange(min=1), help="How often each unit is asked; by default as the rubric states.")
@click.option("--where", "where", help="SQL condition over episodes and turns, such as \"model = 'gpt-4o' AND turn <= 5\".")
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own.")
@click.option("--dry-run", is_flag=True, help="Only say what would be asked and what it would cost, and show one full prompt.")
@click.option(
    "--batch", is_flag=True, help="Submit as the provider's batch (cheaper, within a day) and come back; get the answers with --collect."
)
@click.option("--collect", is_flag=True, help="Store the answers of batches that are done; goes alone.")
@click.option(
    "--reader",
    "reader_name",
    default="rules",
    show_default=True,
    help="Who reads texts for the engine: rules, planted, llm:<model> (with the rules) or llm-only:<model>.",
)
@click.option("--prompt", type=click.Path(path_type=Path), help="File with a prompt of your own for the model that reads (docs/claims.md).")
@click.option("--logprobs", is_flag=True, help="Store how probable each answer was to the model, where its server reports it.")
@model_options
@on_option
@store_option
def command(
    rubrics: tuple[str, ...],
    judge: str | None,
    folders: tuple[Path, ...],
    variant: str | None,
    reader_name: str,
    prompt: Path | None,
    store: Store,
    *,
    dry_run: bool,
    batch: bool,
    collect: bool,
    **options: Any,
) -> int:
    """Have a judge answer a rubric's questions about every turn.

    Start the same command again after an interruption: only what was not answered is asked. Exit code 1 if some calls failed, or
    there was nothing to judge.

    \b
    Example:
      cotrace judge --rubric pragmatic_sufficiency --model openai/gpt-4o-mini --base-url http://localhost:8000/v1 --max-cost 2
      cotrace judge --rubric spatial_grounding --judge engine
      cotrace judge --rubric decisive_error --variant search --model openai/gpt-4o-mini --where "benchmark = 'whoandwhen'"
      cotrace judge --rubric mind_modeling --judge engine --reader llm:openai/gpt-4o-mini --max-cost 2
      cotrace judge --rubric mast --model openai/gpt-4o-mini --model anthropic/claude-3-5-haiku-latest --repeats 3 --cache answers/
    """
    from judges.attribution.decisive import RUBRIC
    from judges.evidence.transcript import reader_named
    from judges.rubric_files.load import find

    if collect:
        if rubrics or judge or options["models"] or batch or dry_run:
            raise UsageError("--collect stores the answers of all batches that are done: give it nothing but --store")
        return _collect(store)
    _refuse_gaps(rubrics, judge, options["models"])
    store.check()
    if RUBRIC in rubrics:
        return _ask_decisive(store, rubrics, judge, variant, options | {"batch": batch, "dry_run": dry_run})
    reader = reader_named(reader_name)
    _refuse_mixtures(judge, reader, batch=batch)
    asked = [find(name, folders).with_variant(variant) for name in rubrics]
    code = ask_reader(reader, store, options, prompt=prompt, dry_run=dry_run, batch=batch, rubrics=asked)
    if batch and judge is not None:  # the engine judges when the readings are there
        return code
    requests = [_request(rubric, model, options | {"reader": reader}) for rubric in asked for model in options["models"] or (None,)]
    tell_models((request.settings for request in requests if request.settings), options["prices"], options["max_cost"])
    if dry_run:
        for request in requests:
            _tell_plan(request, store)
        return 0
    if batch:
        for request in requests:
            _submit(request, store)
        return 0
    return max(code, judge_all(requests, store))


def _ask_decisive(store: Store, rubrics: tuple[str, ...], judge: str | None, variant: str | None, options: dict[str, Any]) -> int:
    """The rubric whose answers are an agent and a turn is asked by its manners; its engine is `cotrace attribute`."""
    from judges.attribution.asking import MANNERS
    from judges.attribution.decisive import RUBRIC

    if len(rubrics) > 1:
        raise UsageError(f"--rubric {RUBRIC} goes alone: ask the others in a command of their own")
    if judge is not None:
        raise UsageError(f"--rubric {RUBRIC} --judge engine: the engine attributes costs with `cotrace attribute`")
    unfit = [f"--{name.replace('_', '-')}" for name in ("batch", "dry_run", "repeats", "logprobs") if options[name]]
    if unfit:
        raise UsageError(f"--rubric {RUBRIC} asks one question after another: leave out {', '.join(unfit)}")
    manner = variant or next(iter(MANNERS))
    where = options["where"] or "true"
    return max(ask_decisive(store, where, model, manner, options) for model in options["models"])


def _refuse_gaps(rubrics: tuple[str, ...], judge: str | None, models: tuple[str, ...]) -> None:
    if not rubrics:
        raise UsageError("say what to ask: --rubric NAME, one of `cotrace rubric list`")
    if (judge is None) == (not models):
        raise UsageError("say who judges: --judge engine, or --model provider/model (one of the two)")


def _refuse_mixtures(judge: str | None, reader: Reader, *, batch: bool) -> None:
    """Before anything is asked, options that belong to the other kind of judge."""
    if judge is None and reader.name != "rules":
        raise UsageError("--reader is for --judge engine: leave it out")
    if judge is not None and batch and reader.model is None:
        raise UsageError("--batch is for models that judge or read: the engine answers at once, leave it out")


def judge_all(requests: list[JudgeRequest], store: Store) -> int:
    """Run the jobs one after the other, tell what came of each and what to do next; the code is that of `judge_each`."""
    from analytics.installation import ensure_installed

    code = judge_each(requests, store)
    ensure_installed(store)
    fitting = after_judging(store)
    if fitting is not None:
        say(fitting)
    return code


def judge_each(requests: list[JudgeRequest], store: Store) -> int:
    """Run the jobs, the engine's at once, tell what came of each; 1 if a call failed, the budget ran out or nothing was selected."""
    from judges.runs.runner import together

    return max((_judged(jobs, store) for jobs in together(requests)), default=0)


def _judged(requests: list[JudgeRequest], store: Store) -> int:
    from cotrace.progress import progress_bar
    from judges.runs.runner import run_together

    code = 0
    with progress_bar(f"{', '.join(request.rubric.name for request in requests)} by {requests[0].judge}") as show:
        reports = run_together(requests, store, lambda now: show(now.done, now.total))
    for request, report in zip(requests, reports, strict=True):
        _tell(request, report, len(requests))
        if report.units == 0:
            _tell_why_nothing(request, store)
        code = max(code, int(report.failed > 0 or report.status == "stopped_by_budget" or report.units == 0))
    return code


def _submit(request: JudgeRequest, store: Store) -> None:
    from judges.runs.judge_batch import submit

    sent = submit(request, store)
    left_out = f", {sent.left_out} left out by --max-cost" if sent.left_out else ""
    say(
        f"{request.rubric.name} by {request.judge}: {sent.calls} calls in batch {sent.batch_id or '(none)'}, "
        f"{sent.skipped} with nothing to judge{left_out}; get the answers with: cotrace judge --collect --store {in_shell(store.path)}"
    )


def _collect(store: Store) -> int:
    from analytics.installation import ensure_installed
    from judges.runs.judge_batch import collect

    store.check()
    read, found = tell_collected(store), collect(store)
    for one in found:
        say(
            f"{one.rubric} by {one.judge}, batch {one.batch_id or '(never reached the provider)'}: {one.status}, "
            f"{one.done} of {one.calls} calls done; stored {one.answered} answered, {one.failed} failed"
        )
    if read:
        say("start cotrace judge --judge engine again with the same --reader: what was read is judged, and nothing is asked twice")
    if not found and not read:
        say("no batch is waiting: submit one with cotrace judge --rubric NAME --model provider/model --batch")
    ensure_installed(store)
    return int(any(one.failed for one in found) or any(one.failed for one in read))


def _request(rubric: Rubric, model: str | None, options: dict[str, Any]) -> JudgeRequest:
    from judges.runs.job import JudgeRequest

    job = {key: options[key] for key in ("repeats", "where", "max_cost", "prices")}
    if model is None:
        return JudgeRequest(rubric=rubric, reader=options["reader"], **job)
    (first, *others), concurrency = endpoints_of(named(model), options, len(rubric.questions))
    return JudgeRequest(rubric=rubric, settings=first, more_endpoints=tuple(others), cache=options["cache"], concurrency=concurrency, **job)


def _tell(request: JudgeRequest, report: JudgeReport, at_once: int) -> None:
    rubric, judge = request.rubric, request.judge
    taken = f"{report.seconds:.1f} s" + (f" for {at_once} rubrics" if at_once > 1 else "")
    variant = f" (variant {rubric.variant})" if rubric.variant else ""
    say(f"{rubric.name}{variant} by {judge}: {report.units} units, {report.status}, {taken}")
    say(f"  verdicts: {report.answered} answered, {report.undecided} undecided, {report.failed} failed, {report.skipped} skipped")
    if report.answered_before or report.recovered:
        say(f"  answered before: {report.answered_before} calls; {report.recovered} recovered from an interrupted run")
    if report.from_cache:
        say(f"  answered out of the cache: {report.from_cache} calls")
    if report.requests:
        say(f"  {requested(report.requests, report.timed_out)}, {tokens(report.tokens_in, report.tokens_out)}, {spent(report.cost)}")
    if report.first_error:
        say(f"  first failure: {report.first_error}; all: cotrace sql \"SELECT unit_id, reason FROM verdicts WHERE status = 'failed'\"")
    if request.max_cost is not None and report.cost is not None and report.cost > request.max_cost:
        say(f"  --max-cost {request.max_cost:g} was exceeded by {report.cost - request.max_cost:.4f} USD:")
        say("  the server billed more tokens for a call than its prompt and --max-tokens let foresee")
    elif report.status == "stopped_by_budget":
        say("  stopped before --max-cost would be exceeded")
    if report.status == "stopped_by_budget":
        say("  not everything was asked: start again with a higher --max-cost to go on")
    if report.skipped and not (report.answered or report.undecided or report.failed or report.answered_before):
        say(f"  every unit was skipped: `about: {rubric.about}` is empty in all of them")


def _some(roles: list[str | None]) -> str:
    """The first roles; conversations can have hundreds."""
    named = [role for role in roles if role]
    more = f", ... {len(named) - _ROLES} more" if len(named) > _ROLES else ""
    return ", ".join(named[:_ROLES]) + more or "none"


def _tell_why_nothing(request: JudgeRequest, store: Store) -> None:
    """Which benchmarks and roles there are: what a rubric names and no game has is mostly misspelt."""
    from analytics.query import query

    there = query(
        store,
        "SELECT benchmark, list(DISTINCT role ORDER BY role) AS roles FROM episodes LEFT JOIN agents USING (episode_id) "
        "GROUP BY benchmark ORDER BY benchmark",
    ).rows()
    found = "; ".join(f"{benchmark} (roles {_some(roles)})" for benchmark, roles in there) or "none"
    rubric, where = request.rubric, f" and --where {request.where}" if request.where else ""
    roles = f" with roles {', '.join(rubric.roles)}" if rubric.roles else ""
    say(f"  nothing to judge: the rubric is for {', '.join(rubric.benchmarks)}{roles}{where}; games in {store.path}: {found}")


def _tell_plan(request: JudgeRequest, store: Store) -> None:
    from judges.evidence.units import INSTEAD
    from judges.runs.job import plan

    planned = plan(request, store)
    say(
        f"{request.rubric.name} by {request.judge}: {planned.units} units, {planned.calls} calls to make, "
        f"{planned.answered_before} answered before, "
        f"{planned.skipped} with nothing to judge, {planned.settled} settled by the log; "
        f"{takes(planned, request.settings)}"
    )
    for piece, units in planned.later.items():
        say(
            f"  warning: {piece} shows what comes after the judged {request.rubric.unit} in {units} of {planned.looked_at} units: {INSTEAD}"
        )
    show_prompt(planned.example)
