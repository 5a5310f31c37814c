"""The failures of CRAFT's bounded pragmatic speaker follow their truth table, and what an unknown part leaves open stays undecided."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from analytics.papers import paper_table
from analytics.query import query
from schemas.records import Label, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, board, store_with
from tests.analytics.test_views_judges import job, verdict

SCORES = {"yes": 1.0, "no": 0.0, "unclear": 0.5}
ANSWERS = ("yes", "no", None)
CASES = list(product(ANSWERS, repeat=3))
"""SG1, MM4, and MM1 as the only question of the rest that applies; None: undecided."""
JOBS = {"spatial_grounding": job("sg"), "mind_modeling": job("mm"), "pragmatic_sufficiency": job("ps")}


def answered(unit: tuple[str, int], agent: str | None, rubric: str, question: str, answer: str | None) -> Verdict:
    plain = verdict(JOBS[rubric], unit, answer, status="undecided" if answer is None else "answered")
    return plain._replace(
        rubric=rubric,
        question=question,
        agent=agent,
        score=SCORES.get(answer or ""),
        unit_id=f"{unit}/{agent}/{question}",
        reason='"so it is" was not understood' if question == "MM4" else "no rule settles it",
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A turn for each case, with candidates; the builder follows none of them in odd turns."""
    full = [board(c00=["gs"]), board(c00=["gs", "bs"])]
    steps = [Step(full[turn % 2], (Move("place"),), followed=turn % 2 == 0) for turn in range(1, len(CASES) + 1)]
    made = store_with(tmp_path_factory.mktemp("bps"), [Game(steps, "g", benchmark="craft", max_turns=40, model="GPT-4o")])
    rows: list[Verdict] = []
    for turn, (sg1, mm4, mm1) in enumerate(CASES, start=1):
        rows += [
            answered(("g", turn), "D1", "spatial_grounding", "SG1", sg1),
            answered(("g", turn), "D1", "mind_modeling", "MM4", mm4),
            answered(("g", turn), "D1", "mind_modeling", "MM1", mm1),
            answered(("g", turn), "D1", "mind_modeling", "MM7", "na"),
            answered(("g", turn), None, "pragmatic_sufficiency", "PS3", ("yes", "no", None)[turn % 3]),
        ]
    people = [
        Label("people", "p", rubric, question, f"g/1/{question}", "g", 1, "D1", answer, SCORES[answer])
        for rubric, question, answer in (("spatial_grounding", "SG1", "no"), ("mind_modeling", "MM4", "yes"))
    ]
    checked = batches.to_arrow({"judge_runs": list(JOBS.values()), "verdicts": rows, "labels": people})
    with made.writing() as connection:
        batches.insert(connection, checked)
    return made


def possible(case: tuple[str | None, ...]) -> set[str]:
    """Every way to fill in the unknown parts, through the truth table."""
    found = set()
    for grounded, transferred, modelled in product(*((answer,) if answer else ("yes", "no") for answer in case)):
        if grounded == "no":
            found.add("limited_search")
        elif transferred == "no":
            found.add("inefficient_inference")
        else:
            found.add("none" if modelled == "yes" else "flawed_pragmatics")
    return found


def test_modes_are_those_that_every_filling_in_of_the_unknown_gives(store: Store) -> None:
    rows = query(store, "SELECT turn, possible, mode FROM bps_failures WHERE judge = 'engine' ORDER BY turn").rows()
    assert len(rows) == len(CASES)
    for (_, found, mode), case in zip(rows, CASES, strict=True):
        wanted = possible(case)
        assert set(found) == wanted, case
        assert mode == (next(iter(wanted)) if len(wanted) == 1 else "undecided"), case


def test_an_undecided_turn_states_whether_a_text_was_not_understood(store: Store) -> None:
    """Only where the question that is left open leaves the turn open: here only MM4 is open because of a text."""
    found = query(store, "SELECT turn, not_understood FROM bps_failures WHERE judge = 'engine' ORDER BY turn").rows()
    wanted = [len(possible(case)) > 1 and case[1] is None for case in CASES]
    assert [flag for _, flag in found] == wanted
    counts = query(store, "SELECT DISTINCT undecided, not_understood FROM bps_profiles WHERE unit = 'director turn' AND judge = 'engine'")
    assert counts.rows() == [(sum(len(possible(case)) > 1 for case in CASES), sum(wanted))]


def test_people_s_labels_count_as_a_judge_s_answers(store: Store) -> None:
    assert query(store, "SELECT judge, mode FROM bps_failures WHERE judge <> 'engine'").rows() == [("label: p", "limited_search")]


def test_a_communication_failure_is_an_action_that_was_there_and_not_taken(store: Store) -> None:
    """Its cause is the messages' if they did not suffice, the builder's if they did, and nobody's to tell where that is open."""
    rows = query(store, "SELECT turn, communication_failure, cause FROM bps_turns ORDER BY turn").rows()
    for turn, failed, cause in rows:
        assert failed == (turn % 2 == 1)
        assert cause == (("builder", "messages", "undecided")[turn % 3] if failed else "followed"), turn


def test_profiles_add_up_and_their_bounds_hold_every_filling_in(store: Store) -> None:
    """Shares are of decided turns; least and most are of all."""
    rows = query(store, "SELECT * FROM bps_profiles WHERE judge = 'engine'").to_dicts()
    assert {row["model_group"] for row in rows} == {"frontier"}
    for unit in ("director turn", "turn"):
        assert sum(row["share"] for row in rows if row["unit"] == unit) == pytest.approx(1)
    for row in rows:
        if row["unit"] == "director turn":
            could_be = [row["mode"] in possible(case) for case in CASES]
            is_it = [possible(case) == {row["mode"]} for case in CASES]
            assert (row["least"], row["most"]) == (pytest.approx(np.mean(is_it)), pytest.approx(np.mean(could_be)))


def test_what_unique_perspective_adds_to_the_remove_gap_is_that_of_regressions(tmp_path: Path) -> None:
    """Table 7 over six models: R2, what is added, and the paths, against ordinary least squares."""
    rng = np.random.default_rng(5)
    games, rows = [], []
    for model in range(6):
        moves = [Move("remove" if rng.random() < model / 8 + 0.1 else "place") for _ in range(12)]
        steps = [Step(board(), (move,), followed=move.verb == "place") for move in moves]
        name = f"g{model}"
        progress = (("craft.overall_progress", float(rng.random())),)
        games.append(Game(steps, name, benchmark="craft", model=f"m{model}", condition="oracle5_no_tools", metrics=progress))
        rows += [answered((name, turn), "D1", "mind_modeling", "MM5", "yes" if rng.random() < 0.5 else "no") for turn in range(1, 13)]
    made = store_with(tmp_path, games)
    with made.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": [JOBS["mind_modeling"]], "verdicts": rows}))
    points = query(
        made,
        "SELECT overall_progress, remove_gap_any, (SELECT avg(score) FROM verdicts WHERE verdicts.episode_id = facts.episode_id) "
        "FROM craft_game_facts AS facts ORDER BY model",
    ).to_numpy()
    y, gap, mm5 = ((column - column.mean()) / column.std() for column in points.T)
    both = LinearRegression().fit(np.column_stack([mm5, gap]), y)
    r2 = both.score(np.column_stack([mm5, gap]), y)
    r2_gap, a = LinearRegression().fit(gap[:, None], y).score(gap[:, None], y), LinearRegression().fit(mm5[:, None], gap).coef_[0]
    cells = {
        (cell["row"], cell["column"].removesuffix(" (engine)")): cell for cell in paper_table(made, "craft", "table", "7").cells.to_dicts()
    }
    path = "MM5 -> remove gap -> progress"
    wanted = {
        ("MM5 + remove gap", "R2"): r2,
        ("MM5 + remove gap", "R2 added by MM5"): r2 - r2_gap,
        (path, "direct"): both.coef_[0],
        (path, "indirect"): a * both.coef_[1],
        ("MM5 | remove gap", "partial r"): np.sign(both.coef_[0]) * ((r2 - r2_gap) / (1 - r2_gap)) ** 0.5,
    }
    for key, value in wanted.items():
        assert cells[key]["value"] == pytest.approx(value), key
    assert cells["MM5 | remove gap", "partial r"]["low"] < cells["MM5 | remove gap", "partial r"]["value"]
