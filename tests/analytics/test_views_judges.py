"""Judge scores, agreement and cost, on verdicts that can be counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from analytics.query import query
from analytics.statistics.intervals import clustered_sem
from dashboards.address import Address
from dashboards.page_file import page_file
from schemas.records import Json, JudgeRun, Label, Verdict
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.given import Given
from tests.analytics.little_games import Candidate, Game, Move, Step, store_with
from tests.masters import held_open

STARTED = datetime(2026, 1, 1)  # noqa: DTZ001 - stored without a zone
SCORES = {"yes": 1.0, "no": 0.0, "unclear": 0.5, "na": None}
GAMES = [
    Game(
        [
            Step('"B"', (Move("place"),), followed=True),
            Step('"C"', (Move("place"),), followed=False),
            Step('"C"', (Move("clarify", accepted=None),)),
        ],
        name=name,
        start='"A"',
    )
    for name in ("g1", "g2", "g3")
]


def job(
    name: str,
    *,
    judge: str = "engine",
    hours: int = 0,
    variant: str | None = None,
    cost: float | None = None,
    status: str = "finished",
) -> JudgeRun:
    start = STARTED + timedelta(hours=hours)
    end = start + timedelta(seconds=30) if status == "finished" else None
    model = None if judge == "engine" else judge.removeprefix("llm:")
    return JudgeRun(name, "ps", "h", variant, judge, model, Json("{}"), start, end, 2, 3, 100, 10, cost, status)


def verdict(
    run: JudgeRun, unit: tuple[str, int | None], answer: str | None, *, repeat: int = 1, status: str = "answered", wording: str = "h"
) -> Verdict:
    episode, turn = unit
    return Verdict(
        judge_run_id=run.judge_run_id,
        rubric="ps",
        rubric_hash=wording,
        variant=run.variant,
        question="PS1",
        unit_id=f"{episode}/{turn}",
        unit_hash="u",
        episode_id=episode,
        turn=turn,
        agent=None,
        judge=run.judge,
        repeat=repeat,
        answer=answer,
        score=SCORES.get(answer or ""),
        reason=None,
        status=status,
    )


def label(unit: tuple[str, int | None], answer: str, annotator: str = "p") -> Label:
    episode, turn = unit
    return Label("people", annotator, "ps", "PS1", f"{episode}/{turn}", episode, turn, None, answer, None)


def judged(folder: Path, runs: Sequence[JudgeRun], verdicts: Sequence[Verdict], labels: Sequence[Label] = ()) -> Store:
    store = store_with(folder, GAMES)
    with store.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": runs, "verdicts": verdicts, "labels": labels}))
    return store


GIVEN = Given()
Rows = Callable[[str, str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """What all tests of this file were given."""
    yield from held_open(GIVEN.store_in(tmp_path_factory.mktemp("given"), GAMES))


@pytest.fixture
def rows(store: Store, request: pytest.FixtureRequest) -> Rows:
    """Columns and view -> its rows about the test's own answers, in the order of the columns."""
    own = {"rubric": request.function.__name__}
    return lambda columns, view: query(store, f"select {columns} from {view} where rubric = $rubric order by all", own).rows()


# --- which verdicts count ---------------------------------------------------------------------------------------------------------------

OLD, NEW = job("z-old"), job("a-new", hours=1)


@GIVEN([OLD, NEW], [verdict(OLD, ("g1", 1), "no"), verdict(OLD, ("g1", 2), "no"), verdict(NEW, ("g1", 1), "yes")])
def test_the_latest_job_counts(rows: Rows) -> None:
    """A second job replaces the answers it gave, and leaves the others."""
    assert rows("turn, answer", "verdicts_latest") == [(1, "yes"), (2, "no")]


@GIVEN([OLD, NEW], [verdict(OLD, ("g1", 1), "no"), verdict(NEW, ("g1", 1), None, status="failed")])
def test_a_later_failure_counts_too(rows: Rows) -> None:
    """The latest word on a unit may be that no reply came."""
    assert rows("status", "verdicts_latest") == [("failed",)]


PLAIN, OPENED, OTHER = job("a"), job("b", hours=1, variant="published"), job("c", hours=2, judge="llm:x/y")
UNIT = ("g1", 1)


@GIVEN(
    [PLAIN, OPENED, OTHER],
    [verdict(PLAIN, UNIT, "no"), verdict(PLAIN, UNIT, "no", repeat=2), verdict(OPENED, UNIT, "no"), verdict(OTHER, UNIT, "no")],
)
def test_judges_variants_and_repeats_stand_side_by_side(rows: Rows) -> None:
    """None of them replaces another."""
    assert len(rows("*", "verdicts_latest")) == 4


ONE = job("a")


@GIVEN(
    [ONE], [verdict(ONE, ("gone", 1), "no"), verdict(ONE, ("g1", 4), "no"), verdict(ONE, ("g1", 3), "no"), verdict(ONE, ("g1", None), "no")]
)
def test_verdicts_on_what_is_gone_do_not_count(rows: Rows) -> None:
    """Neither on a game that was taken out, nor on a turn that a replaced log no longer has."""
    assert rows("turn", "verdicts_latest") == [(3,), (None,)]


# --- scores -----------------------------------------------------------------------------------------------------------------------------


@GIVEN(
    [ONE],
    [
        verdict(ONE, ("g1", 1), "yes"),
        verdict(ONE, ("g1", 2), "unclear"),
        verdict(ONE, ("g1", 3), "na"),
        verdict(ONE, ("g2", 1), None, status="undecided"),
        verdict(ONE, ("g2", 2), None, status="failed"),
        verdict(ONE, ("g2", 3), None, status="skipped"),
        verdict(ONE, ("g3", 1), "no"),
    ],
)
def test_scores_stand_beside_every_count(rows: Rows) -> None:
    """N/A, undecided, failed and skipped are counted apart and in no mean."""
    columns = "verdicts, units, scored, categorised, na, undecided, failed, skipped, score_mean, episodes, wordings"
    assert rows(columns, "judge_scores_models") == [(7, 7, 3, 0, 1, 1, 1, 1, 0.5, 2, 1)]


KINDS, SCORED = job("a"), job("b", judge="llm:x/y")


@GIVEN(
    [KINDS, SCORED],
    [
        verdict(KINDS, ("g1", 1), "wrong_layer", wording="kinds"),
        verdict(KINDS, ("g1", 2), "correct", wording="kinds"),
        verdict(KINDS, ("g1", 3), "N/A", wording="kinds"),
        verdict(SCORED, ("g1", 1), "yes", wording="scores"),
        verdict(SCORED, ("g1", 2), "not_this_time", wording="scores"),
    ],
)
def test_a_category_is_no_na(rows: Rows) -> None:
    """Categories have no number either, but the question did apply; N/A is what is spelt so, or has no number beside answers that have."""
    assert rows("scored, verdicts, categorised, na", "judge_scores_models") == [(0, 3, 2, 1), (1, 2, 0, 1)]


@GIVEN([ONE], [verdict(ONE, ("g1", turn), answer) for turn, answer in {1: "yes", 2: "no", 3: "unclear", None: "yes"}.items()])
def test_scores_are_split_by_what_became_of_the_turn(rows: Rows) -> None:
    """Turn 1 was followed, turn 2 was not, turn 3 was a question; whole games stand apart."""
    assert rows("outcome, score_mean", "judge_scores") == [("clarify", 0.5), ("episode", 1.0), ("followed", 1.0), ("not_followed", 0.0)]


CLUSTERED = {("g1", 1): "yes", ("g1", 2): "yes", ("g2", 1): "no", ("g2", 2): "yes", ("g2", 3): "no", ("g3", 1): "unclear"}


@GIVEN([ONE], [verdict(ONE, unit, answer) for unit, answer in CLUSTERED.items()])
def test_the_error_is_clustered_by_game(rows: Rows) -> None:
    """Answers about one game are not independent: the error is the sandwich over games, here checked against its Python twin."""
    (found,) = rows("score_mean, score_sem", "judge_scores_models")
    scores = [1.0, 1.0, 0.0, 1.0, 0.0, 0.5]
    assert found == pytest.approx((3.5 / 6, clustered_sem(scores, [episode for episode, _ in CLUSTERED])))


MODEL = job("a", judge="llm:x/y")


@GIVEN(
    [MODEL],
    [
        *(verdict(MODEL, ("g1", 1), "yes", repeat=number) for number in range(1, 5)),
        *(verdict(MODEL, unit, "no") for unit in (("g1", 2), ("g2", 1), ("g3", 1))),
    ],
)
def test_a_unit_that_was_asked_oftener_weighs_no_more(rows: Rows) -> None:
    """Four times yes about one unit, once no about three: a quarter, not four sevenths."""
    (found,) = rows("score_mean, scored, scored_units, units, score_low, score_high", "judge_scores_models")
    assert found[:4] == (0.25, 7, 4, 4)
    low, high = found[4:]
    assert 0 <= low < 0.25 < high <= 1


@GIVEN([ONE], [verdict(ONE, (name, 1), "yes", wording=wording) for name, wording in (("g1", "old"), ("g2", "new"), ("g3", "new"))])
def test_mixed_wordings_are_shown(rows: Rows) -> None:
    """Answers to two versions of a rubric in one mean are counted as such."""
    assert rows("wordings", "judge_scores_models") == [(2,)]


# --- agreement --------------------------------------------------------------------------------------------------------------------------

UNITS = [(episode, turn) for episode in ("g1", "g2", "g3") for turn in (1, 2, 3)]
TRUTH = ["Yes", "Yes", "No", "N/A", "No", "Yes", "No", "Yes", "No"]
FOUND = ["yes", "no", "no", "na", "no", "yes", "yes", "yes", "unclear"]
ANSWERED = [verdict(ONE, unit, answer) for unit, answer in zip(UNITS, FOUND, strict=True)]
LABELLED = [label(unit, answer) for unit, answer in zip(UNITS, TRUTH, strict=True)]


@GIVEN([ONE], ANSWERED, LABELLED)
def test_agreement_with_labels_is_cohens_kappa(rows: Rows) -> None:
    """As sklearn computes it, over all answers; upper case and the slash of N/A do not matter."""
    (found,) = rows("kind, rater_a, rater_b, n, agreed, agreement, kappa", "agreement")
    kappa = cohen_kappa_score([answer.lower().replace("/", "") for answer in TRUTH], FOUND)
    assert found[:5] == ("label_judge", "people", "engine", 9, 6)
    assert found[5:] == pytest.approx((6 / 9, kappa))


@GIVEN([ONE], ANSWERED, LABELLED)
def test_confusion_counts_every_pair(rows: Rows) -> None:
    """What was labelled against what was answered."""
    assert rows("answer_a, answer_b, n", "agreement_confusion") == [
        ("na", "na", 1),
        ("no", "no", 2),
        ("no", "unclear", 1),
        ("no", "yes", 1),
        ("yes", "no", 1),
        ("yes", "yes", 3),
    ]


@GIVEN(
    [ONE],
    [
        verdict(ONE, UNITS[0], "yes"),
        verdict(ONE, UNITS[1], None, status="undecided"),
        verdict(ONE, UNITS[2], None, status="failed"),
        verdict(ONE, UNITS[3], None, status="skipped"),
    ],
    [label(unit, "Yes") for unit in UNITS[:5]],
)
def test_what_was_not_answered_is_counted_and_in_no_rate(rows: Rows) -> None:
    """Five labels: one answer, one undecided, one failed, one skipped, one never asked."""
    columns = "pairs, n, undecided, failed, skipped, coverage, agreement, kappa"
    assert rows(columns, "agreement") == [(4, 1, 1, 1, 1, 0.25, 1.0, None)]


@GIVEN(
    [ONE],
    [verdict(ONE, UNITS[0], "yes"), verdict(ONE, UNITS[0], "no", repeat=2)],
    [label(UNITS[0], "Yes", "p"), label(UNITS[0], "Yes", "q")],
)
def test_every_annotator_meets_every_repeat(rows: Rows) -> None:
    """Two people and two repeats on one unit are four pairs, and the judge meets itself once."""
    assert rows("kind, n, agreed", "agreement") == [("label_judge", 4, 2), ("self", 1, 0)]


ENGINE, X, X_OPENED = job("a"), job("b", judge="llm:x/y"), job("c", judge="llm:x/y", variant="published")


@GIVEN([ENGINE, X, X_OPENED], [verdict(ENGINE, UNITS[0], "yes"), verdict(X, UNITS[0], "yes"), verdict(X_OPENED, UNITS[0], "no")])
def test_two_judges_and_two_variants_are_compared_once(rows: Rows) -> None:
    """Engine with model, model with its other variant, engine with that: three rows, none of them twice."""
    assert rows("kind, rater_a, variant_a, rater_b, variant_b, agreed", "agreement") == [
        ("judge_judge", "engine", None, "llm:x/y", "published", 0),
        ("judge_judge", "engine", None, "llm:x/y", None, 1),
        ("judge_judge", "llm:x/y", None, "llm:x/y", "published", 0),
    ]


# --- cost -------------------------------------------------------------------------------------------------------------------------------


def test_cost_sums_priced_jobs_only(tmp_path: Path) -> None:
    """A job without a price is counted but not taken for free: the sum is a lower bound, and report and pages say so."""
    runs = [
        job("a", judge="llm:x/y", cost=0.5),
        job("b", judge="llm:x/y", cost=0.25, status="interrupted"),
        job("c", judge="llm:x/y"),
    ]
    store = judged(tmp_path, runs, [])
    columns = "runs, unfinished, units, calls, tokens_in, tokens_out, runs_priced, calls_unpriced, cost_usd, cost_per_unit_usd, wall_s"
    assert query(store, f"select {columns} from cost").rows() == [(3, 1, 6, 9, 300, 30, 2, 3, 0.75, 0.1875, 60.0)]
    page = page_file(store, Address("/runs"), raises=True)
    assert "at least $0.75" in page
    assert "3 calls of unknown cost" in page


def test_tokens_that_a_job_did_not_count_are_not_none(tmp_path: Path) -> None:
    """A sum over jobs or calls of which some counted no tokens is unknown, as `cost` has it."""
    store = judged(tmp_path, [job("a", judge="llm:x/y"), job("b", judge="llm:x/y")._replace(tokens_in=None)], [])
    asked = "select 'judge' as purpose, tokens_in, tokens_out from cost"
    assert (
        query(store, f"{asked} union all by name select purpose, tokens_in, tokens_out from spending").rows() == [("judge", None, 20)] * 2
    )


def test_candidates_that_are_not_listed_do_not_make_an_outcome(tmp_path: Path) -> None:
    """A turn whose candidates only the replay knows is no_oracle."""
    game = Game([Step('"B"', (Move("place"),), (Candidate("place", listed=False),))], start='"A"')
    assert query(store_with(tmp_path, [game]), "select outcome from outcomes").item() == "no_oracle"
