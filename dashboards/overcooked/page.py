"""Collab-Overcooked: success and progress by level, initiating and responding, what goes wrong and where in the task."""

from __future__ import annotations

from typing import Final

from dashboards.charts import Chart, Choice, FamilyPage, Links, Number, Table
from dashboards.figures import Axis
from dashboards.grid import GridColumn

PATH = "/overcooked"
TITLE = "Collab-Overcooked"
IN_MENU = True
BENCHMARK = "overcooked"
ORDER = 82
FILTERS = ("condition", "model", "level")

_LEVELS = """
    WITH numbers AS (
        SELECT
            episode_id,
            max(value) FILTER (metric = 'overcooked.pc') AS pc,
            max(value) FILTER (metric = 'overcooked.pc_all_references') AS pc_fair,
            max(value) FILTER (metric = 'overcooked.n_communications') AS communications,
            max(value) FILTER (metric = 'overcooked.n_initiate_ok') AS initiated,
            max(value) FILTER (metric = 'overcooked.n_respond_ok') AS responded,
            max(value) FILTER (metric = 'overcooked.initiate_collaboration') AS ic,
            max(value) FILTER (metric = 'overcooked.respond_collaboration') AS rc
        FROM episode_metrics WHERE starts_with(metric, 'overcooked.') GROUP BY episode_id
    )
    SELECT
        model, level, count(*) AS n_games, count(*) FILTER (success) AS wins,
        wins / n_games AS sr, wilson_low(wins, n_games) AS sr_low, wilson_high(wins, n_games) AS sr_high,
        avg(numbers.pc) AS pc,
        clustered_low(sum(numbers.pc), n_games, n_games, sum(numbers.pc ** 2), sum(numbers.pc), n_games) AS pc_low,
        clustered_high(sum(numbers.pc), n_games, n_games, sum(numbers.pc ** 2), sum(numbers.pc), n_games) AS pc_high,
        avg(pc_fair) AS pc_fair_mean,
        count(*) FILTER (communications > 0) AS talked,
        sum(communications)::BIGINT AS conversations, sum(initiated)::BIGINT AS initiated_n, sum(responded)::BIGINT AS responded_n,
        initiated_n / nullif(conversations, 0) AS ic,
        clustered_low(initiated_n, nullif(conversations, 0), talked,
            sum(initiated ** 2), sum(initiated * communications), sum(communications ** 2)) AS ic_low,
        clustered_high(initiated_n, nullif(conversations, 0), talked,
            sum(initiated ** 2), sum(initiated * communications), sum(communications ** 2)) AS ic_high,
        responded_n / nullif(conversations, 0) AS rc,
        clustered_low(responded_n, nullif(conversations, 0), talked,
            sum(responded ** 2), sum(responded * communications), sum(communications ** 2)) AS rc_low,
        clustered_high(responded_n, nullif(conversations, 0), talked,
            sum(responded ** 2), sum(responded * communications), sum(communications ** 2)) AS rc_high,
        avg(numbers.ic) AS ic_paper, avg(numbers.rc) AS rc_paper
    FROM games INNER JOIN numbers USING (episode_id)
    WHERE {filters} AND benchmark = 'overcooked' AND ending = 'ended' GROUP BY model, level ORDER BY model, level
"""
_TALKS = "FROM overcooked_collaborations WHERE {filters} AND opener = 'Chef'"
_CONFUSION = f"""
    WITH talks AS (SELECT initiate_ok, respond_ok {_TALKS}), whole AS (SELECT count(*) AS n FROM talks)
    SELECT
        if(asked, 'request right', 'request wrong') AS y, if(answered, 'answer right', 'answer wrong') AS x,
        count(initiate_ok) AS value,
        format('{{}} of {{}} ({{:.0f}} %)', value, any_value(n), 100 * value / any_value(n)) AS text, text AS hover
    FROM whole CROSS JOIN (VALUES (false), (true)) AS a(asked) CROSS JOIN (VALUES (true), (false)) AS b(answered)
    LEFT JOIN talks ON initiate_ok = asked AND respond_ok = answered WHERE n > 0
    GROUP BY asked, answered ORDER BY asked, answered DESC
"""
_MIX = f"""
    SELECT
        'quarter ' || position AS line, {{talk}} AS series, count(*) AS n, n / sum(n) OVER (PARTITION BY position) AS value
    {_TALKS} AND {{talk}} IS NOT NULL GROUP BY position, {{talk}} ORDER BY position, {{talk}}
"""
_DECLINE = "SELECT * FROM overcooked_decline WHERE {filters} ORDER BY model, condition, capability, scale"
_GAMES: Final = Links(keys={"model": "model", "level": "level"})
_MEASURES: Final = {
    "sr": "delivered in time",
    "pc": "progress completeness",
    "ic": "right requests",
    "rc": "right answers",
}

PAGE: Final = FamilyPage(
    title=TITLE,
    benchmark=BENCHMARK,
    lead="A Chef with the recipe and an Assistant at the ingredients cook one order over three shared counters.",
    numbers_sql=f"""
        SELECT
            coalesce(sum(n_games), 0)::BIGINT AS games, sum(wins)::BIGINT AS wins, sum(wins) / sum(n_games) AS rate,
            sum(conversations)::BIGINT AS talks,
            sum(initiated_n)::BIGINT AS asked, sum(initiated_n) / nullif(sum(conversations), 0) AS asking,
            sum(responded_n)::BIGINT AS answered, sum(responded_n) / nullif(sum(conversations), 0) AS answering
        FROM ({_LEVELS})
    """,
    numbers=(
        Number(label="delivered in time", column="rate", kind="share", detail="{wins} of {games} games"),
        Number(label="right requests", column="asking", kind="share", detail="{asked} of {talks} conversations"),
        Number(label="right answers", column="answering", kind="share", detail="{answered} of {talks}"),
    ),
    charts=(
        Chart(
            name="overcooked-levels",
            title="By level",
            kind="dots",
            sql=f"""
                SELECT *, 'level ' || level AS line, model AS series,
                    {{measure}} AS value, {{measure}}_low AS low, {{measure}}_high AS high, n_games AS n
                FROM ({_LEVELS}) ORDER BY level, model
            """,
            axis=Axis(title="{measure}", is_share=True),
            x="level",
            choices=(Choice(key="measure", label="Measure", options=_MEASURES),),
            links=_GAMES,
            hint="Delivered in time: within 1.5 times the published optimal time; 95 % Wilson intervals. Progress: mean trajectory score "
            "of both agents against the published references, which leave legal orders out (the table has it against all). Right "
            "requests and answers: of all conversations that the Chef opened, as the published code counts; intervals over games.",
            table=Table(
                title="In numbers",
                sql=_LEVELS,
                links=_GAMES,
                columns={
                    "model": GridColumn(heading="Team"),
                    "level": GridColumn(heading="Level"),
                    "sr": GridColumn(heading="Delivered in time", kind="share", part="wins", whole="n_games"),
                    "pc": GridColumn(heading="PC", kind="share", low="pc_low", high="pc_high"),
                    "pc_fair_mean": GridColumn(heading="PC, all references", kind="share"),
                    "conversations": GridColumn(heading="Conversations", kind="count"),
                    "ic": GridColumn(heading="Right requests, code", kind="share"),
                    "ic_paper": GridColumn(heading="Right requests, paper", kind="share"),
                    "rc": GridColumn(heading="Right answers, code", kind="share"),
                    "rc_paper": GridColumn(heading="Right answers, paper", kind="share"),
                },
            ),
        ),
        Chart(
            name="overcooked-talk",
            title="Requests and answers",
            kind="heat",
            sql=_CONFUSION,
            hint="Conversations that the Chef opened.",
            is_wide=False,
        ),
        Chart(
            name="overcooked-faults",
            title="What goes wrong, by quarter of the task",
            kind="bars",
            sql=_MIX,
            axis=Axis(title="share of conversations"),
            choices=(
                Choice(key="talk", label="Show", options={"initiating": "requests by position", "responding": "answers by position"}),
            ),
            n_of="conversation",
            links=Links(keys={}),
            hint="Quarters of the task by the progress before the conversation; the numbers are conversations.",
            is_wide=False,
        ),
        Chart(
            name="overcooked-decline",
            title="Decline",
            kind="table",
            sql=_DECLINE,
            filter_on=("condition", "model"),
            hint="Change of the share that goes right over the whole task (course) or with each level; below zero is a decline. "
            "Small groups swing widely: read the counts first.",
            table=Table(
                title="Decline of every team",
                links=_GAMES,
                columns={
                    "model": GridColumn(heading="Team"),
                    "capability": GridColumn(heading="Capability", kind="name"),
                    "scale": GridColumn(heading="Over", kind="name"),
                    "n": GridColumn(heading="Conversations", kind="count"),
                    "rate": GridColumn(heading="Right", kind="share"),
                    "n_first": GridColumn(heading="First", kind="count"),
                    "rate_first": GridColumn(heading="Right", kind="share"),
                    "n_last": GridColumn(heading="Last", kind="count"),
                    "rate_last": GridColumn(heading="Right", kind="share"),
                    "slope": GridColumn(heading="Slope", kind="score"),
                },
            ),
        ),
    ),
)
content = PAGE.content
TABLES = PAGE.tables
FIGURES = PAGE.figures
