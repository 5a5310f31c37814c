"""`cotrace play coordqa`."""

from pathlib import Path
from typing import Any

import click

from cotrace.options.models import asking, asking_options, concurrency_option, fit, tell_models
from cotrace.options.players import RenamedOption, refuse_contradictions
from cotrace.options.shared import Number, say, spent, tokens, writing_to
from schemas.common.text import in_shell
from schemas.common.wording import number

_AT_ONCE = 8


@click.command()
@click.argument("questions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", help="provider/model, such as openai/gpt-4o-mini.")
@click.option(
    "--player",
    "--seat",
    "seat",
    cls=RenamedOption,
    metavar="respondent=PLAYER",
    help="In place of --model: who answers: provider/model, script:first, script:random, script:graded_N (N % by the key) or human.",
)
@click.option("--as", "named", default="", help="Name of who answers in the log: a person's, or a team's in its games.")
@click.option("--base-url", help="Server of the provider's kind, else OpenAI's, such as http://localhost:8000/v1.")
@click.option("--key-env", "key_variable", help="Environment variable with the key.")
@click.option("--take", type=click.IntRange(min=1), help="Only the first so many questions, to try it.")
@click.option("--trials", default=3, show_default=True, type=click.IntRange(min=1), help="How often each question is asked.")
@asking_options(temperature=0.6, max_tokens=1500, typed=False)
@click.option("--max-cost", type=Number(min=0), help="USD that all answers may cost, those of earlier starts included.")
@concurrency_option(_AT_ONCE)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder for the answers.")
def command(
    questions: Path, model: str | None, seat: str | None, named: str, take: int | None, trials: int, out: Path, **options: Any
) -> int:
    """Ask a model, a script or a person the questions of CoordinationQA, from the published question file (which cotrace does not ship).

    Each answer is kept as it comes; start the same command again after an interruption and only what is missing is asked.
    Exit code 1 if some requests came to nothing, or the budget ended.

    \b
    Example:
      cotrace play coordqa single_turn_trials.csv --model openai/gpt-4o-mini --base-url http://localhost:8000/v1 --out answers/
    """
    from cotrace.progress import progress_bar
    from games.coordination.qa.ask import RESPONDENT, SCRIPTS, AskRequest, ask_questions
    from games.players.setup import PlayerSetup, is_model
    from providers.provider import ModelSettings
    from schemas.common.errors import UsageError

    if (model is None) == (seat is None):
        raise UsageError("no respondent: give either --model provider/model or --player respondent=PLAYER, one of both")
    asked = seat or f"{RESPONDENT}={model}"
    player = PlayerSetup({RESPONDENT: RESPONDENT}, SCRIPTS).taken([asked])[RESPONDENT]
    where = {name: options[name] for name in ("base_url", "key_variable")}
    money = {name: options[name] for name in ("prices", "max_cost")}
    settings = ModelSettings(model=player if is_model(player) else "", **where, **asking(options))
    concurrency: int | None = options["concurrency"]
    at_once = concurrency or _AT_ONCE
    if is_model(player):
        [settings], at_once = fit([settings], concurrency, _AT_ONCE, typed=False)
        refuse_contradictions([settings], **money)
        tell_models([settings], **money)
    request = AskRequest(
        questions=questions,
        out=out,
        respondent=player,
        named=named,
        settings=settings,
        take=take,
        trials=trials,
        concurrency=at_once,
        **money,
    )
    with writing_to(out), progress_bar("asking") as show:
        report = ask_questions(request, show)
    say(f"{report.asked} questions asked, {report.stored} were answered before, {report.failed} came to nothing; answers in {report.path}")
    if is_model(player) and report.asked:
        say(f"  {tokens(report.tokens_in, report.tokens_out)}, {spent(report.cost)}")
    if report.answered:
        share = number(report.right / report.answered)
        say(f"  accuracy {share}: {report.right} of {report.answered} right by the published rule; {report.unread} name no option")
    if report.unasked:
        say(f"{report.unasked} questions wait: the budget is spent; start again with a higher --max-cost")
    say(f"next: cotrace ingest {in_shell(out)}")
    return 1 if report.failed or report.unasked else 0
