"""What `cotrace judge` and `cotrace claims` share: having a model read texts before anything is made of its claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cotrace.options.models import endpoints_of, show_prompt, takes, tell_models
from cotrace.options.shared import requested, say, spent, tokens
from schemas.common.errors import UsageError
from schemas.common.text import in_shell
from schemas.store.store import Store

if TYPE_CHECKING:
    from judges.claims.job import CollectedReading, ReadingReport
    from judges.claims.texts import ReadingRequest
    from judges.evidence.transcript import Reader
    from judges.rubric import Rubric


_LIMITS = ("where", "max_cost", "prices", "cache")


def ask_reader(
    reader: Reader,
    store: Store,
    options: dict[str, Any],
    *,
    prompt: Path | None,
    dry_run: bool,
    batch: bool = False,
    rubrics: Sequence[Rubric] = (),
) -> int:
    """Have the reader's model read what it has not read yet; nothing where none reads, or `recorded/NAME`. 1 if it left texts unread.

    Args:
        reader: as the user named it.
        store: where the games are and the claims go.
        options: of the command: settings of the model, limits and selection.
        prompt: a file with a prompt of the user's own; None: as it is built in.
        dry_run: only tell what would be asked and what it would cost.
        batch: only submit a batch of what is to be read.
        rubrics: whose checks will look at the claims: their benchmarks' texts are read, earlier turns too; empty: every selected text.
    """
    if reader.model is None or reader.model.startswith("recorded/"):
        return 0
    from cotrace.progress import progress_bar
    from judges.claims.job import read_texts
    from judges.claims.texts import ReadingRequest, benchmarks_of, plan_reading, prompt_in

    (first, *others), concurrency = endpoints_of(reader.model, options)
    tell_models([first], options["prices"], options["max_cost"])
    limits = {name: options[name] for name in _LIMITS}
    request = ReadingRequest(
        settings=first,
        more_endpoints=tuple(others),
        prompt=prompt_in(prompt),
        benchmarks=benchmarks_of(rubrics),
        earlier=bool(rubrics),
        concurrency=concurrency,
        **limits,
    )
    if dry_run or (first.is_slow and not batch):
        plan = plan_reading(request, store)
        say(f"reading by {reader.model}: {plan.texts} texts, {plan.calls} calls to make, {plan.read_before} texts read before;")
        say(f"  {takes(plan, first)}{'; --where selects fewer, and Ctrl-C keeps what is finished' if first.is_slow else ''}")
        if dry_run:
            show_prompt(plan.example)
            return 0
    if batch:
        return _submit(reader, request, store)
    with progress_bar(f"reading by {reader.model}") as show:
        report = read_texts(request, store, show)
    return _tell(reader, report)


def read_elsewhere(
    reader: Reader, store: Store, options: dict[str, Any], *, prompt: Path | None, record: Path | None, replies: Path | None
) -> int:
    """Write what a model that runs elsewhere is to be asked, or store its replies; 1 if a reply cannot be used.

    Raises:
        UsageError: no model reads, both are asked for, or a file cannot be read or written.
    """
    from judges.claims.job import record_requests, take_replies
    from judges.claims.texts import ReadingRequest, prompt_in
    from providers.provider import ModelSettings

    if reader.model is None:
        raise UsageError(f"--record and --replies are for models that read: give --reader llm:provider/model, not {reader.name}")
    request = ReadingRequest(settings=ModelSettings(model=reader.model), where=options["where"], prompt=prompt_in(prompt))
    if record is not None and replies is not None:
        raise UsageError("--record writes requests, --replies takes their replies: give one of the two")
    if record is not None:
        store.check()
        say(f"{record_requests(request, store, record)} requests for {reader.model} in {record}")
        say(f'next: write {{"id": ..., "reply": {{...}}}} for each line, then: cotrace claims --reader {reader.name} --replies FILE')
        return 0
    return 0 if replies is None else _tell(reader, take_replies(request, store, replies))


def refuse_batch_of_rules(reader: Reader, *, batch: bool) -> None:
    """Only models read in batches.

    Raises:
        UsageError: a batch is asked for, and no model reads.
    """
    if batch and reader.model is None:
        raise UsageError(f"--batch is for models that read: {reader.name} answers at once, leave it out")


def _submit(reader: Reader, request: ReadingRequest, store: Store) -> int:
    from judges.claims.job import submit_reading

    sent = submit_reading(request, store)
    left_out = f", {sent.left_out} left out by --max-cost" if sent.left_out else ""
    say(
        f"reading by {reader.model}: {sent.calls} calls in batch {sent.batch_id or '(none)'} for {sent.texts} texts, "
        f"{sent.read_before} of them read before{left_out}; get the readings with: cotrace claims --collect --store {in_shell(store.path)}"
    )
    return 0


def tell_collected(store: Store) -> list[CollectedReading]:
    """Store what batches of texts have brought, and tell of each."""
    from judges.claims.job import collect_readings

    found = collect_readings(store)
    for one in found:
        say(
            f"reading by {one.reader}, batch {one.batch_id or '(never reached the provider)'}: {one.status}, "
            f"{one.done} of {one.calls} calls done; {one.read} texts read, {one.failed} calls failed"
        )
    return found


def _tell(reader: Reader, report: ReadingReport) -> int:
    say(f"read by {reader.model}: {report.read} of {report.texts} texts, {report.claims} claims; {report.read_before} were read before")
    if report.requests:
        say(f"  {requested(report.requests, report.timed_out)}, {tokens(report.tokens_in, report.tokens_out)}, {spent(report.cost)}")
    if report.failed:
        say(f"  {report.failed} texts without a usable answer, first: {report.first_error}; start again to ask for them once more")
    if report.not_asked:
        say(f"  {report.not_asked} texts not read: --max-cost would be exceeded, or --replies has no reading of them")
    return int(report.failed > 0 or report.not_asked > 0)
