"""Which unit a person labels next: a random sample, or first those on which judges disagree. Nobody's answers are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analytics.agreement.answers import BY_DISAGREEMENT
from judges.evidence.labelling import Task, tasks
from judges.evidence.transcript import read_games
from judges.rubric.model import ANY_BENCHMARK, Rubric, UnitKind

if TYPE_CHECKING:
    from dashboards.reader import Reader

__all__ = ["LABELLED_HERE", "ORDERS", "LabelProgress", "next_task", "progress"]

ORDERS: dict[str, tuple[str, str]] = {
    "random": ("in random order", "dashboard"),
    "disagreement": ("where judges disagree first", BY_DISAGREEMENT),
}
"""Order -> (in words, `labels.source` of labels given in it)."""

_AT_ONCE = 50

_GAMES = "episode_id IN (SELECT episode_id FROM games WHERE {filters} AND ($any OR list_contains($benchmarks, benchmark)))"
_JUDGED = f"LEFT JOIN agents USING (episode_id, agent) WHERE (len($roles) = 0 OR list_contains($roles, role)) AND {_GAMES}"
_SAID = "SELECT episode_id, turn, agent, seq::VARCHAR AS part, channel FROM utterances"
_DONE = """
SELECT episode_id, turn, agent, 'action' || row_number() OVER (PARTITION BY episode_id, turn ORDER BY seq) AS part, NULL AS channel
FROM actions
"""
_PART = "SELECT episode_id, concat_ws('/', episode_id, turn, agent, part) AS unit_id"

_UNITS: dict[UnitKind, str] = {
    "episode": f"SELECT episode_id, episode_id AS unit_id FROM episodes WHERE {_GAMES}",
    "turn": f"SELECT episode_id, concat_ws('/', episode_id, turn) AS unit_id FROM turns WHERE {_GAMES}",
    "agent_turn": f"""
        SELECT DISTINCT episode_id, concat_ws('/', episode_id, turn, agent) AS unit_id FROM ({_SAID} UNION ALL {_DONE}) {_JUDGED}
        """,
    "utterance": f"{_PART} FROM ({_SAID}) {_JUDGED} AND channel = 'public'",
    "action": f"{_PART} FROM ({_DONE}) {_JUDGED}",
    "event": f"{_PART} FROM ({_SAID} UNION ALL {_DONE}) {_JUDGED}",
}
"""Kind of unit -> its units, named as `judges.evidence.units` names them; pairs of games and rows of queries are labelled by file."""

LABELLED_HERE: frozenset[UnitKind] = frozenset(_UNITS)
"""Kinds of unit that the page can show."""

_QUEUE = """
WITH units AS ({units}),

done AS (
    SELECT unit_key AS unit_id, list(DISTINCT question) AS questions FROM labels
    WHERE rubric = $rubric AND annotator = $annotator AND (source = 'dashboard' OR starts_with(source, 'dashboard:'))
    GROUP BY unit_key
),

split AS (
    SELECT unit_id, count(*) AS questions FROM (
        SELECT unit_id, question FROM verdicts_latest WHERE rubric = $rubric AND answer IS NOT NULL
        GROUP BY unit_id, question HAVING count(DISTINCT answer) > 1
    )
    GROUP BY unit_id
)

SELECT episode_id, unit_id, coalesce(done.questions, []) AS done
FROM units LEFT JOIN done USING (unit_id) LEFT JOIN split USING (unit_id)
WHERE NOT list_has_all(coalesce(done.questions, []), $questions)
ORDER BY CASE WHEN $disagreement THEN coalesce(split.questions, 0) ELSE 0 END DESC, hash(unit_id || $rubric), unit_id
LIMIT $limit OFFSET $offset
"""


class LabelProgress(NamedTuple):
    """How far a person is with a rubric."""

    labelled: int
    """Units with at least one answer."""
    units: int


def progress(read: Reader, rubric: Rubric, annotator: str) -> LabelProgress:
    """Units this person has labelled, and all units of the rubric under the filters."""
    row = read.rows(
        f"""
        SELECT count(*) AS units, count(*) FILTER (unit_id IN (
            SELECT unit_key FROM labels WHERE rubric = $rubric AND annotator = $annotator
                AND (source = 'dashboard' OR starts_with(source, 'dashboard:')))) AS labelled
        FROM ({_UNITS[rubric.unit]})
        """,
        {**_about(rubric), "rubric": rubric.name, "annotator": annotator},
    ).row(0, named=True)
    return LabelProgress(row["labelled"], row["units"])


def next_task(read: Reader, rubric: Rubric, annotator: str, *, order: str, skip: int) -> Task | None:
    """The first task that this person has not answered yet; None if there is none left.

    Args:
        read: the store, under the filters of the page.
        rubric: whose questions.
        annotator: the person; the random order is the same for all, so that two people label the same units.
        order: a key of `ORDERS`.
        skip: units to pass over.
    """
    asked = {
        **_about(rubric),
        "rubric": rubric.name,
        "annotator": annotator,
        "questions": list(rubric.questions),
        "disagreement": order == "disagreement",
        "limit": _AT_ONCE,
    }
    offset = 0
    while True:
        waiting = read.rows(_QUEUE.replace("{units}", _UNITS[rubric.unit]), {**asked, "offset": offset}).rows()
        for episode_id, unit_id, done in waiting:
            (game,) = read_games(read.connection, [episode_id]).values()
            open_tasks = [task for task in tasks(rubric, game, unit_id) if not {q.id for q in task.group.questions} <= set(done)]
            if open_tasks and not skip:
                return open_tasks[0]
            skip -= bool(open_tasks)
        if len(waiting) < _AT_ONCE:
            return None
        offset += _AT_ONCE


def _about(rubric: Rubric) -> dict[str, object]:
    roles = {} if rubric.unit in {"episode", "turn"} else {"roles": list(rubric.roles)}
    return {"benchmarks": list(rubric.benchmarks), "any": ANY_BENCHMARK in rubric.benchmarks, **roles}
