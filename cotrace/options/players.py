"""The options that set the players of `cotrace play`, the same in every game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from cotrace.options.models import AT_ONCE, asking, asking_options, concurrency_option, fit, tell_models, with_options
from cotrace.options.shared import Number, on_option
from schemas.common.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from games.players.running import RunTerms
    from providers.provider import ModelSettings


class RenamedOption(click.Option):
    """An option with an older name at its end, which works until the next release and is not in the help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Without the older name."""
        shown = copy(self)
        shown.opts = self.opts[:-1]
        return click.Option.get_help_record(shown, ctx)


player_options: Final = with_options(
    click.option(
        "--player",
        "--seat",
        "seats",
        cls=RenamedOption,
        multiple=True,
        metavar="ROLE=PLAYER",
        help="Who plays: provider/model, script:NAME or human; a role in the plural means all its agents, `all` every agent.",
    ),
    click.option("--base-url", help="Server for the models, of the provider's kind, else OpenAI's."),
    click.option("--key-env", "key_variable", help="Environment variable with the models' key."),
    asking_options(temperature=0.7, max_tokens=2000, typed=False),
    click.option("--max-cost", type=Number(min=0), help="USD that the models may cost."),
    concurrency_option(AT_ONCE, "Games"),
    on_option,
)


def terms_of(options: Mapping[str, Any]) -> RunTerms:
    """The terms that the options of players set; reports what is to be known of the models."""
    from games.players.running import RunTerms
    from providers.provider import ModelSettings

    settings = ModelSettings(model="", base_url=options["base_url"], key_variable=options["key_variable"], **asking(options))
    named = {player for _, _, player in (seat.partition("=") for seat in click.get_current_context().params["seats"]) if "/" in player}
    fitting = {model: fit([replace(settings, model=model)], options["concurrency"], AT_ONCE, typed=False) for model in sorted(named)}
    models = {model: found for model, ([found], _) in fitting.items()}
    refuse_contradictions(models.values(), options["prices"], options["max_cost"])
    tell_models(models.values(), options["prices"], options["max_cost"])
    return RunTerms(
        settings=settings,
        models=models,
        calls={model: at_once for model, ([found], at_once) in fitting.items() if found.context is not None},
        prices=options["prices"],
        concurrency=options["concurrency"] or min((at_once for _, at_once in fitting.values()), default=AT_ONCE),
        max_cost=options["max_cost"],
        after_game=_ask_people,
    )


def refuse_contradictions(models: Iterable[ModelSettings], prices: Path | None, max_cost: float | None) -> None:
    """Refuse limits that no call could keep.

    Raises:
        UsageError: a model has no price under a budget, or one reply could exceed it.
    """
    from games.players.running import contradiction

    for settings in models:
        wrong = contradiction(settings, max_cost, prices)
        if wrong is not None:
            raise UsageError(wrong.message)


def _ask_people(log: Path, agents: Sequence[str], show: Callable[[str], None], read_line: Callable[[], str]) -> None:
    """Ask each person who played at this terminal about its partner, and store the answers in the game's log; the end of the input ends it.

    Raises:
        OSError: the log cannot be written.
    """
    from dashboards.playing.tables import keep, questions

    show(f"\nThe game is over. {len(questions())} questions about your partner; an empty line leaves one out.")
    for agent in agents:
        answers: dict[str, str] = {}
        for question in questions():
            choices = question["answers"]
            numbered = ", ".join(f"{number} {answer.replace('_', ' ')}" for number, answer in enumerate(choices, start=1))
            show(f"\n{agent}: {question['ask']}\n{numbered}")
            try:
                while written := read_line().strip().lower():
                    chosen = [
                        answer
                        for number, answer in enumerate(choices, start=1)
                        if written in (str(number), answer, answer.replace("_", " "))
                    ]
                    if chosen:
                        answers[question["id"]] = chosen[0]
                        break
                    show(f"{written!r} is not an answer: write a number from 1 to {len(choices)}, or an empty line")
            except EOFError:
                break
        if answers:
            keep(log, agent, answers)
