"""`cotrace demo`: the main job, on games that cotrace plays itself."""

from __future__ import annotations

from pathlib import Path

import click

from cotrace.commands.options import say
from schemas.extras import needed
from schemas.store import Store

__all__ = ["command"]

_PERSONAS = ("clear", "span_omitting", "redundant", "vague", "layer_confused", "over_remover")
_BUILDERS = ("literal",)
_RUBRICS = ("spatial_grounding", "mind_modeling", "pragmatic_sufficiency")
_REPORTS = {
    "leaderboard": """
        SELECT model, n, round(score_mean, 3) AS score, round(score_sem, 3) AS sem, round(ceiling_share_mean, 3) AS of_ceiling,
            successes, failed || ' of ' || attempted AS refused, followed || ' of ' || oracle_turns AS followed
        FROM leaderboard ORDER BY score_mean DESC
        """,
    "failure breakdown (repaired taxonomy), turns": """
        PIVOT (SELECT model, category FROM failure_turns WHERE taxonomy = 'craft_repaired') ON category USING count(*) ORDER BY model
        """,
    "remove gap": """
        SELECT model, games, round(attempted_rate, 3) AS attempted, round(oracle_rate, 3) AS oracle, round(gap, 3) AS gap,
            round(gap_low, 3) AS low, round(gap_high, 3) AS high
        FROM remove_gap_models WHERE is_default ORDER BY gap DESC
        """,
    "correction spirals": """
        SELECT model, kind, count(*) AS spirals, sum(turns_wasted)::BIGINT AS turns_wasted
        FROM correction_spirals GROUP BY ALL ORDER BY ALL
        """,
    "engine judge against the planted truth": """
        SELECT rubric, sum(pairs)::BIGINT AS labelled, sum(n)::BIGINT AS decided, sum(agreed)::BIGINT AS agreed,
            round(sum(agreed) / sum(n), 4) AS precision
        FROM agreement WHERE kind = 'label_judge' GROUP BY ALL ORDER BY ALL
        """,
}
"""Title -> query; the full reports are those of `cotrace report`."""


@click.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Where logs and store go.",
)
@click.option("--structures", default=6, show_default=True, type=click.IntRange(min=1), help="Targets for each persona.")
@click.option("--serve/--no-serve", default=True, show_default=True, help="Whether to end with the dashboard.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the dashboard.")
@click.option("--port", default=8050, show_default=True, type=click.IntRange(0, 65535), help="Port of the dashboard.")
def command(folder: Path, structures: int, host: str, port: int, *, serve: bool) -> int:
    """Play games of several personas, read them, judge them with the engine, print the reports, then serve the dashboard.

    \b
    Example:
      cotrace demo --no-serve
    """
    from analytics.query import query
    from cotrace.commands.dash import announce
    from cotrace.commands.ingest import tell
    from cotrace.commands.judge import judge_all
    from cotrace.output import emit
    from games.craft.play import PlayRequest, play
    from games.craft.targets.generator import StructureRules
    from ingest.files.run import ingest_paths
    from judges.rubric.files import find
    from judges.runs.job import JudgeRequest

    if serve:
        needed("dash", "the dashboard at the end (or --no-serve)")
    logs, store = folder / "logs", Store(folder / "cotrace.duckdb")
    say(f"1. Games of {len(_PERSONAS)} scripted personas, each with a planted way to fail")
    played = play(
        PlayRequest(out=logs, personas=_PERSONAS, builders=_BUILDERS, structures=structures, rules=StructureRules(reachable=True))
    )
    say(f"{played.played} games played, {played.kept} were there already; logs in {logs}")
    say("2. Logs into the store")
    report = ingest_paths([logs], store)
    tell(report, store)
    say("3. Verdicts of the engine judge")
    code = judge_all([JudgeRequest(rubric=find(name)) for name in _RUBRICS], store)
    say("4. Reports")
    for title, sql in _REPORTS.items():
        click.echo(f"\n{title}")
        emit(query(store, sql), "table")
    if serve:
        from dashboards.server import Place
        from dashboards.server import serve as serve_pages

        say("5. Dashboard")
        serve_pages(store, Place(host, port), on_ready=lambda link: announce(store, link))
    else:
        say(f"5. Look at it: cotrace dash --store {store.path}")
    return code if report.is_clean else 1
