"""AsymPuzl: success by feedback mode and size, success by turn, where and when positions are written."""

from __future__ import annotations

from typing import Final

from dashboards.charts import Chart, Choice, FamilyPage, Links, Number, Table
from dashboards.figures import Axis
from dashboards.grid import GridColumn
from games.asympuzl.game import FEEDBACK_MODES, PAPER_NAMES

PATH = "/asympuzl"
TITLE = "AsymPuzl"
IN_MENU = True
BENCHMARK = "asympuzl"
ORDER = 80

_WORDS: Final = " ".join(f"WHEN '{mode}' THEN '{PAPER_NAMES[mode]}'" for mode in FEEDBACK_MODES)
_MODE: Final = f"CASE feedback_mode {_WORDS} END"
_PLACE: Final = f"list_position({list(FEEDBACK_MODES)}, feedback_mode)"
_CONFIGURATIONS = """
    SELECT
        model, size, feedback_mode, tokenizer,
        count(*) AS games,
        count(*) FILTER (solved) AS wins,
        wins / games AS success_rate,
        wilson_low(wins, games) AS low,
        wilson_high(wins, games) AS high,
        avg(writes_per_position_a) AS writes_a,
        avg(writes_per_position_b) AS writes_b,
        sum(overcorrections)::BIGINT AS overcorrections,
        sum(repeated_messages)::BIGINT AS repeated,
        sum(no_json)::BIGINT AS no_json,
        sum(answers)::BIGINT AS answers
    FROM asympuzl_games WHERE {filters} AND complete GROUP BY model, size, feedback_mode, tokenizer
    ORDER BY model, size, feedback_mode, tokenizer
"""
_TOKENS = """
    SELECT
        model, size, feedback_mode, tokenizer,
        avg(output_tokens) FILTER (agent = 'A') AS output_a,
        avg(output_tokens) FILTER (agent = 'B') AS output_b,
        avg(message_tokens) FILTER (agent = 'A') / output_a AS share_a,
        avg(message_tokens) FILTER (agent = 'B') / output_b AS share_b
    FROM asympuzl_turns
    WHERE {filters} AND episode_id IN (SELECT episode_id FROM asympuzl_games WHERE complete)
    GROUP BY model, size, feedback_mode, tokenizer
"""
_TABLE = f"""
    SELECT configurations.*, used.* EXCLUDE (model, size, feedback_mode, tokenizer) FROM ({_CONFIGURATIONS}) AS configurations
    LEFT JOIN ({_TOKENS}) AS used
        ON configurations.model = used.model AND configurations.size = used.size AND configurations.feedback_mode = used.feedback_mode
        AND configurations.tokenizer IS NOT DISTINCT FROM used.tokenizer
    ORDER BY configurations.model, configurations.size, configurations.feedback_mode
"""
_SIZED = "SELECT * FROM asympuzl_games WHERE {filters} AND complete AND size::VARCHAR = $size"
_BY_TURN = f"""
    WITH finished AS ({_SIZED}),
    longest AS (SELECT unnest(range(1, max(coalesce(max_turns, turns)) + 1)) AS x FROM finished)
    SELECT
        model AS series, {_MODE} AS dash, x,
        count(*) AS games,
        count(*) FILTER (solved AND solved_turn <= x) AS wins,
        wins / games AS value,
        format('{{}} of {{}} [{{:.0f}} %, {{:.0f}} %]', wins, games, 100 * wilson_low(wins, games), 100 * wilson_high(wins, games)) AS hover
    FROM finished CROSS JOIN longest GROUP BY model, feedback_mode, x ORDER BY model, {_PLACE}, x
"""
_WRITES = f"""
    WITH finished AS ({_SIZED}),
    longest AS (SELECT max(turns) AS turns, any_value(size) AS size, count(*) AS games FROM finished HAVING count(*) > 0)
    SELECT
        CASE agents.agent WHEN 'A' THEN 'A (Alice)' ELSE 'B (Bob)' END AS panel, x, y,
        coalesce(sum(writes), 0) / any_value(games) AS value,
        '' AS text,
        format('{{:.2f}} a game; {{}} actions took earlier work back', value, coalesce(sum(undoing_actions), 0)::BIGINT) AS hover
    FROM longest
    CROSS JOIN (SELECT unnest(['A', 'B']) AS agent) AS agents
    CROSS JOIN range(1, longest.turns + 1) AS turns(x)
    CROSS JOIN range(1, longest.size + 1) AS positions(y)
    LEFT JOIN (SELECT * FROM asympuzl_positions SEMI JOIN finished USING (episode_id)) AS placed
        ON placed.agent = agents.agent AND placed.turn = x AND placed.position = y
    GROUP BY agents.agent, x, y ORDER BY agents.agent, x, y
"""
_SIZE: Final = Choice(
    key="size", label="Positions", options="SELECT DISTINCT size FROM asympuzl_games WHERE {filters} AND complete ORDER BY size"
)
_GAMES: Final = Links(keys={"model": "model", "level": "size"})

PAGE: Final = FamilyPage(
    title=TITLE,
    benchmark=BENCHMARK,
    lead="Two agents with different clues complete one puzzle; each keeps a hypothesis of its own.",
    numbers_sql=f"""
        SELECT
            sum(games)::BIGINT AS games, sum(wins)::BIGINT AS wins, sum(wins) / sum(games) AS rate,
            sum(overcorrections)::BIGINT AS overcorrections,
            sum(answers)::BIGINT AS answers, sum(repeated)::BIGINT AS repeated, sum(repeated) / nullif(sum(answers), 0) AS repeated_share,
            sum(no_json)::BIGINT AS no_json, sum(no_json) / nullif(sum(answers), 0) AS no_json_share,
            (SELECT count(*) FROM asympuzl_games WHERE {{filters}} AND NOT complete) AS cut
        FROM ({_CONFIGURATIONS})
    """,
    numbers=(
        Number(label="games solved", column="rate", kind="share", detail="{wins} of {games}, {cut} without an end left out"),
        Number(label="right entries made wrong", column="overcorrections", kind="count", detail="in {answers} answers"),
        Number(label="repeated messages", column="repeated_share", kind="share", detail="{repeated} of {answers}"),
        Number(label="answers without JSON", column="no_json_share", kind="share", detail="{no_json} of {answers}"),
    ),
    charts=(
        Chart(
            name="asympuzl-success",
            title="Success by feedback mode and size",
            kind="dots",
            sql=f"""
                SELECT *, {_MODE} AS line, model || ', ' || size || ' positions' AS series, success_rate AS value, games AS n
                FROM ({_CONFIGURATIONS}) ORDER BY {_PLACE}, model, size
            """,
            axis=Axis(title="solved", is_share=True),
            hint="Share of games solved within the limit, with 95 % Wilson intervals. With 30 games an interval is about 34 points "
            "wide at 50 %: smaller differences are no effects. Click a point to see its games.",
            links=_GAMES,
            table=Table(
                name="asympuzl-configurations",
                title="Configurations",
                sql=_TABLE,
                columns={
                    "model": GridColumn(heading="Team"),
                    "size": GridColumn(heading="Positions", kind="count"),
                    "feedback_mode": GridColumn(heading="Feedback", kind="name"),
                    "success_rate": GridColumn(heading="Solved", kind="share", part="wins", whole="games"),
                    "low": GridColumn(heading="95 % from", kind="share"),
                    "high": GridColumn(heading="to", kind="share"),
                    "writes_a": GridColumn(heading="Actions/position A", kind="number"),
                    "writes_b": GridColumn(heading="B", kind="number"),
                    "overcorrections": GridColumn(heading="Right made wrong", kind="count"),
                    "repeated": GridColumn(heading="Repeated messages", kind="count"),
                    "output_a": GridColumn(heading="Output tokens A", kind="number"),
                    "output_b": GridColumn(heading="B", kind="number"),
                    "share_a": GridColumn(heading="Message share A", kind="share"),
                    "share_b": GridColumn(heading="B", kind="share"),
                    "tokenizer": GridColumn(heading="Tokenizer"),
                },
                links=_GAMES,
            ),
        ),
        Chart(
            name="asympuzl-by-turn",
            title="Success by turn",
            kind="steps",
            sql=_BY_TURN,
            axis=Axis(title="solved so far", is_share=True),
            x="turn",
            choices=(_SIZE,),
            hint="Puzzles with {size} positions: share of all games solved in at most that many turns. With full sharing it takes 2.",
            is_wide=False,
        ),
        Chart(
            name="asympuzl-writes",
            title="Actions per position",
            kind="heat",
            sql=_WRITES,
            axis=Axis(title="actions a game"),
            x="turn",
            y="position",
            choices=(_SIZE,),
            hint="Puzzles with {size} positions: valid actions on a position in a turn, mean over all games.",
            is_wide=False,
        ),
    ),
)
content = PAGE.content
TABLES = PAGE.tables
FIGURES = PAGE.figures
