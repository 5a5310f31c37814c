"""`cotrace demo`: the main job, on games that cotrace plays itself."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cotrace.options.shared import say, writing_to
from cotrace.terminal import echo
from schemas.common.errors import UsageError
from schemas.common.packages import needed
from schemas.common.text import in_shell, printable
from schemas.common.wording import counted
from schemas.families import title_of
from schemas.store.store import Store

_REAL = Path(__file__).parents[1] / "demo_games"
"""Games that small language models played; its README says how."""
_BUILDER = "literal"
_RUBRICS = {"craft": ("spatial_grounding", "mind_modeling", "pragmatic_sufficiency"), "avalon": ("avalon_honesty", "avalon_minds")}
"""Family -> the rubrics that the engine answers here."""
_BY_MODEL = "pragmatic_sufficiency"
_JUDGED = """
(episode_id, turn) IN (
    SELECT turns.episode_id, turns.turn
    FROM turns
    LEFT JOIN (
        SELECT episode_id, turn, bool_or(lower(answer) = 'no') AS fails FROM labels WHERE rubric = '{rubric}' GROUP BY ALL
    ) AS planted USING (episode_id, turn)
    ORDER BY fails IS NULL, row_number() OVER (PARTITION BY fails ORDER BY turn, episode_id), fails
    LIMIT {judged}
)
"""
"""First turns, in turns one that fails as it was planted and one that does not: of turns that are all alike nothing could be seen. Turns of
which it is not known come last."""
_AGREEMENT = """
WITH answers AS (
    SELECT mine.question, mine.answer AS mine, engine.answer AS engine, replace(lower(labels.answer), '/', '') AS planted
    FROM verdicts AS mine
    LEFT JOIN verdicts AS engine
        ON engine.unit_id = mine.unit_id AND engine.rubric = mine.rubric AND engine.question = mine.question
        AND engine.judge = 'engine' AND engine.status = 'answered'
    LEFT JOIN labels
        ON labels.episode_id = mine.episode_id AND labels.turn = mine.turn AND labels.rubric = mine.rubric
        AND labels.question = mine.question
    WHERE mine.judge = $judge AND mine.rubric = $rubric AND mine.status = 'answered'
), compared AS (SELECT *, mode(engine) OVER (PARTITION BY question) AS usual FROM answers)
SELECT
    count(*) AS answered,
    count(engine) AS with_engine,
    count(*) FILTER (WHERE engine = mine) AS as_engine,
    count(*) FILTER (WHERE engine = usual) AS as_usual,
    count(planted) AS labelled,
    count(*) FILTER (WHERE planted = mine) AS as_planted
FROM compared
"""
_TOOK = """
SELECT sum(latency_s)
FROM calls INNER JOIN judge_runs ON calls.run = judge_runs.judge_run_id
WHERE judge_runs.judge = $judge AND judge_runs.rubric = $rubric
"""
"""Seconds of all calls, those of earlier starts and those without a verdict included."""
_PLANTED = {
    "clear": "asks for what is missing next",
    "span_omitting": "leaves out the second cell of large blocks",
    "redundant": "asks for what is done already",
    "vague": "names no place",
    "layer_confused": "says another layer than it means",
    "over_remover": "demands removals of what is right",
}
"""Persona -> how it fails, as it was planted."""


@click.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Where logs and store go.",
)
@click.option(
    "--logs",
    "published",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Published logs of CRAFT, Avalon or any others, in place of games that cotrace plays; may be given again.",
)
@click.option("--games", default=10, show_default=True, type=click.IntRange(min=1), help="Games of each persona.")
@click.option("--structures", type=click.IntRange(min=1), hidden=True, help="The former name of --games.")
@click.option("--model", help="provider/model that judges some turns beside the engine, such as openai/qwen with --base-url.")
@click.option("--base-url", help="Its server, such as http://localhost:8080/v1.")
@click.option("--key-env", "key_variable", help="Environment variable with its key.")
@click.option("--judged", default=12, show_default=True, type=click.IntRange(min=1), help="Turns that the model judges, one call each.")
@click.option("--serve/--no-serve", default=True, show_default=True, help="Whether to end with the dashboard.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the dashboard.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(0, 65535), help="Port of the dashboard.")
def command(
    folder: Path,
    published: tuple[Path, ...],
    games: int,
    structures: int | None,
    model: str | None,
    base_url: str | None,
    key_variable: str | None,
    judged: int,
    host: str,
    port: int,
    *,
    serve: bool,
) -> int:
    """Play games of several personas, read them, judge and attribute them with the engine, report the findings, then serve the dashboard.

    Beside them are games of small real models that come with cotrace.

    With --logs, the games are those of published logs: the dashboard opens with each team's score next to how it worked.

    With --model, a language model judges some of the turns, too: how far it agrees with the engine and with what was planted, and what
    it took.

    \b
    Example:
      cotrace demo --no-serve
      cotrace demo --logs craft_results/ --logs avalon/
      cotrace demo --model openai/qwen --base-url http://localhost:8080/v1 --no-serve
    """
    if model is None and (base_url or key_variable):
        raise UsageError("--base-url and --key-env describe a model: name it with --model")
    if serve:
        needed("dash", "the dashboard at the end (or --no-serve)")
    if structures is not None:
        say("--structures is now --games (the old name works until the next release)")
        games = structures
    logs, store = list(published) or [folder / "logs"], Store(folder / "cotrace.duckdb")
    real = [] if published else sorted(_REAL.glob("*/*.jsonl.gz"), reverse=True)
    listed = ", ".join(printable(str(path)) for path in logs)
    started = time.monotonic()
    if not published:
        say("\nDo you have published logs? cotrace demo --logs DIR opens the same page on logs of CRAFT, Avalon and others.")
        with _step("1. What is played: teams build block structures; the directors of each have one of six planted ways to talk"):
            for persona, fails in _PLANTED.items():
                say(f"   {persona}: {fails}")
            _play(folder / "logs", games)
        say("   Also games of small real models, which come with cotrace:")
        for family in dict.fromkeys(path.parent.name for path in real):
            of_team = Counter(path.name.rpartition("-")[0] for path in real if path.parent.name == family)
            of_each = ", ".join(f"{name} ({counted(number, 'game')})" for name, number in of_team.items())
            say(f"   {title_of(family)}: {of_each}")
    else:
        say(f"\n1. Nothing is played: the games are those of {listed}")
        with writing_to(folder, "--dir"):
            folder.mkdir(parents=True, exist_ok=True)
    with _step("2. Logs into one store"):
        is_clean = _ingest([*logs, *real], store)
    with _step("3. Every turn judged by the engine, which replays the board and answers only what it can prove"):
        code = _judge(store)
    if model is not None:
        with _step(f"   {model} judges up to {judged} of these turns, without knowing what the engine says"):
            code = max(code, _judge_by_model(store, model, base_url, key_variable, judged))
    with _step("4. The regret of each turn, attributed to an agent's failure point: seeing, saying, understanding or acting"):
        _attribute(store)
    with _step("5. What was found"):
        from analytics.findings import findings
        from cotrace.output import tell_findings

        tell_findings(findings(store), store)
        echo()
    say(f"{time.monotonic() - started:.0f} s in all; the store is {store.path}, the logs are in {listed}")
    say(f"everything on one page: cotrace report all --format html --store {in_shell(store.path)} > report.html")
    if serve:
        from cotrace.commands.dash import announce
        from dashboards.server import ServedAt
        from dashboards.server import serve as serve_pages

        say("6. Dashboard")
        serve_pages(store, ServedAt(host, port), on_ready=lambda link: announce(store, link))
    else:
        say(f"6. Look at it: cotrace dash --store {in_shell(store.path)}")
    return code if is_clean else 1


@contextmanager
def _step(title: str) -> Iterator[None]:
    """A heading, and how long the step took."""
    say(f"\n{title}")
    started = time.monotonic()
    yield
    say(f"   {time.monotonic() - started:.1f} s")


def _play(logs: Path, games: int) -> None:
    from cotrace.progress import playing_bar
    from games.experiments.plan import play

    players = [*(f"directors=script:{persona}" for persona in _PLANTED), f"builder=script:{_BUILDER}"]
    with writing_to(logs.parent, "--dir"), playing_bar() as show:
        played = play("craft", logs, players=players, games=games, reachable=True, on_progress=show)
    kept = f", {played.stored} were there already" if played.stored else ""
    say(f"   {played.played} games of CRAFT on {games} targets played{kept}; the planted faults are stored as labels")


def _ingest(logs: list[Path], store: Store) -> bool:
    from cotrace.commands.ingest import tell_parts
    from cotrace.progress import progress_bar
    from ingest.files.run import ingest_paths

    with progress_bar("reading logs") as show:
        report = ingest_paths(logs, store, on_progress=lambda p: show(p.files_done, p.files_total))
    tell_parts(report, store)
    return report.is_clean


def _judge(store: Store) -> int:
    from analytics.installation import ensure_installed
    from cotrace.commands.judge import judge_each
    from judges.rubric_files.load import find
    from judges.runs.job import JudgeRequest

    with store.reading() as connection:
        families = {family for (family,) in connection.execute("SELECT DISTINCT benchmark FROM episodes").fetchall()}
    code = judge_each(
        [JudgeRequest(rubric=find(name)) for family, names in _RUBRICS.items() if family in families for name in names], store
    )
    ensure_installed(store)
    return code


def _judge_by_model(store: Store, model: str, base_url: str | None, key_variable: str | None, judged: int) -> int:
    """Have a model judge first turns, and say how far it agrees with the engine and what it took."""
    from analytics.query import query
    from cotrace.commands.judge import judge_each
    from cotrace.options.models import AT_ONCE, fit, named, tell_models
    from judges.rubric_files.load import find
    from judges.runs.job import JudgeRequest
    from providers.provider import ModelSettings

    rubric = find(_BY_MODEL)
    settings = ModelSettings(model=named(model), base_url=base_url, key_variable=key_variable)
    [settings], concurrency = fit([settings], None, AT_ONCE, questions=len(rubric.questions))
    tell_models([settings], None, None)
    where = _JUDGED.format(rubric=_BY_MODEL, judged=judged)
    code = judge_each([JudgeRequest(rubric=rubric, settings=settings, where=where, concurrency=concurrency)], store)
    judge = {"judge": f"llm:{model}", "rubric": _BY_MODEL}
    [(answered, both, same, usual, labelled, as_planted)] = query(store, _AGREEMENT, judge).rows()
    if answered:
        say(
            f"   agrees with the engine on {same} of {both} answers that both gave, and with what was planted on {as_planted} of "
            f"{labelled}; the same answer to a question every time would agree with the engine on {usual}"
        )
        took = query(store, _TOOK, judge).item()
        each = "" if took is None else f"{took / answered:.1f} s of a call a verdict, with up to {concurrency} calls at once; "
        say(f"   {each}cotrace report agreement --store {in_shell(store.path)}")
    return code


def _attribute(store: Store) -> None:
    from cotrace.progress import progress_bar
    from judges.attribution.job import attribute_games

    with progress_bar("attributing") as show:
        report = attribute_games(store, on_progress=show)
    say(f"   {report.games} games attributed: {report.findings} findings, {report.requests} requests compared with what was done")
