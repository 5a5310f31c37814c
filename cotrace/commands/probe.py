"""`cotrace probe`: does a judge's answer change when it should not, and does it when it should?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cotrace.commands.judge import judge_all
from cotrace.options.models import AT_ONCE, asking, asking_options, concurrency_option, fit, named, tell_models
from cotrace.options.shared import Number, say, store_option
from cotrace.terminal import echo
from schemas.common.errors import UsageError
from schemas.store.store import Store


@click.command()
@click.argument("rubric_name", metavar="RUBRIC")
@click.option("--kind", "kinds", multiple=True, required=True, help="How units are perturbed; repeat for several; `list` lists them.")
@click.option("--judge", type=click.Choice(["engine"]), help="Probe the deterministic judge.")
@click.option("--model", help="Probe this provider/model.")
@click.option("--base-url", help="Server of the provider's kind, else OpenAI's, such as http://localhost:8000/v1.")
@click.option("--key-env", "key_variable", help="Environment variable with the key.")
@click.option(
    "--repeats", type=click.IntRange(min=1), help="How often each unit is asked; from 2 on, chance is distinguished from being swayed."
)
@click.option("--where", "where", help="SQL condition over episodes and turns: which units are probed.")
@concurrency_option(AT_ONCE)
@click.option("--max-cost", type=Number(min=0), help="USD that may be spent on each kind, and on the plain answers.")
@asking_options(temperature=0.0, max_tokens=1500)
@click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own.")
@click.option("--dry-run", is_flag=True, help="Only say how many calls it takes and what they cost.")
@store_option
def command(rubric_name: str, kinds: tuple[str, ...], folders: tuple[Path, ...], store: Store, *, dry_run: bool, **options: Any) -> int:
    """Judge units as they are and perturbed by rule; `cotrace report probes` compares the answers.

    What was answered before is not asked again. `--kind variant=NAME` compares with a variant of the rubric with other visible evidence.

    \b
    Example:
      cotrace probe spatial_grounding --kind layer --kind polite --judge engine && cotrace report probes
    """
    from judges.evidence.perturbations import as_probe
    from judges.evidence.perturbations import kinds as known_kinds
    from judges.rubric_files.load import find
    from judges.runs.job import JudgeRequest, plan
    from providers.provider import ModelSettings

    if "list" in kinds:
        for name, kind in known_kinds().items():
            echo(f"{name}: {kind.doc} (the right answer: {kind.expects})")
        echo("variant=NAME: the rubric's variant of that name, such as published (the right answer: same)")
        return 0
    judge, model, base_url, key_variable = (options.pop(name) for name in ("judge", "model", "base_url", "key_variable"))
    if (judge is None) == (model is None):
        raise UsageError("say who is probed: --judge engine, or --model provider/model (one of the two)")
    store.check()
    plain = find(rubric_name, folders)
    probed = [plain.with_variant(kind.removeprefix(_VARIANT)) if kind.startswith(_VARIANT) else as_probe(plain, kind) for kind in kinds]
    job = {name: options[name] for name in ("repeats", "where", "max_cost", "prices")}
    settings = None
    if model is not None:
        plainly = ModelSettings(model=named(model), base_url=base_url, key_variable=key_variable, **asking(options))
        [settings], job["concurrency"] = fit([plainly], options["concurrency"], AT_ONCE, questions=len(plain.questions))
    request = JudgeRequest(rubric=plain, settings=settings, **job)
    tell_models([settings] if settings else [], options["prices"], options["max_cost"])
    requests = [replace(request, rubric=rubric) for rubric in (plain, *probed)]
    if not dry_run:
        code = judge_all(requests, store)
        say("compare: cotrace report probes")
        return code
    for one in requests:
        planned = plan(one, store)
        cost = "no price known" if planned.cost is None else f"about {planned.cost:.4f} USD"
        say(f"{one.rubric.variant or 'plain'}: {planned.units} units, {planned.calls} calls to make, {cost}")
    return 0


_VARIANT = "variant="
