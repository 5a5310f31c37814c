"""`cotrace probe-states`: questions about states of games, whose answers the engine knows."""

from pathlib import Path

import click

from cotrace.options.shared import COUNT, say, store_option, writing_to
from schemas.common.text import in_shell
from schemas.store.store import Store


@click.command()
@click.argument("family")
@click.option("--states", default=40, show_default=True, type=COUNT, help="How many states are asked about.")
@click.option("--where", default="true", show_default=True, help="SQL condition on `episodes`: whose states.")
@click.option("--seed", default=1, show_default=True, type=int, help="Which states, cells, options and their order.")
@click.option(
    "--out", default=Path("probes"), show_default=True, type=click.Path(file_okay=False, path_type=Path), help="Folder of the file."
)
@store_option
def command(family: str, states: int, where: str, seed: int, out: Path, store: Store) -> int:
    """Make a benchmark file of questions about states of a family's games, with the engine's key.

    Kinds: EC, what is on the board; TOM, what a partner knows or can do; JP, which joint action is best; NR, what should be requested
    next. The file has the form of CoordinationQA's: `cotrace play coordqa` asks models, scripts or people, and their answers are read and
    scored by the same rules (docs/probes.md). For overcooked these are the paper's experiments A to C, which need no games.

    \b
    Example:
      cotrace probe-states craft --states 40 --out probes
      cotrace play coordqa probes/single_turn_trials.csv --model openai/gpt-4o-mini --out probes/answers
    """
    from analytics.probe_skill import scenes
    from games.coordination.qa.questions import QUESTION_FILE
    from games.probes import KINDS, probed_game, question_file, scenarios

    probed_game(family)
    found = scenarios(family, scenes(store, family, where, seed) if store.path.exists() else (), states, seed)
    path = out / QUESTION_FILE
    text = question_file(found, seed)
    with writing_to(out):
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    kinds = [kind for kind in KINDS if f"{kind} Question" in text.partition("\n")[0]]
    say(f"{len(found)} states, {len(found) * len(kinds)} questions ({', '.join(f'{kind}: {KINDS[kind]}' for kind in kinds)}); {path}")
    say(f"next: cotrace play coordqa {in_shell(path)} --player respondent=script:random --out {in_shell(out / 'answers')}")
    return 0
