"""Probes: units perturbed by rule, so that it is known which answers should change."""

from __future__ import annotations

import difflib
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from analytics.installation import ensure_installed
from analytics.judging.probes import probe_report
from analytics.query import query
from cotrace.cli import cli
from judges.craft.perturbations import DEFECTS_OF
from judges.evidence.perturbations import ATTACKS, as_probe
from judges.evidence.prompt import PromptMaker
from judges.evidence.selection import selected_units
from judges.evidence.units import Unit, select
from judges.rubric_files.load import find
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.judges.judged_games import ask_model
from tests.played import played_store
from tests.servers.simulated_judge import Bias, SimulatedJudge, simulated_judge

COIN = {"yes": {"yes": 0.5, "no": 0.5}, "no": {"yes": 0.5, "no": 0.5}}
RIGHT = {"yes": {"yes": 1.0}, "no": {"no": 1.0}}


def test_perturbing_in_general_loads_no_family() -> None:
    """What a family adds is found by its name when it is asked for: another family brings its own, and none costs the others."""
    code = "import sys, judges.evidence.perturbations; print([name for name in sys.modules if name.endswith('.craft')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games of three personas, judged by the engine as they are."""
    made = played_store(tmp_path_factory.mktemp("probes"))
    run(JudgeRequest(rubric=find("mind_modeling")), made)
    return made


def told_anew(store: Store, rubric: str, kind: str) -> list[tuple[Unit, Unit]]:
    """Each unit that the probe changes, as it is and perturbed."""
    plain = find(rubric)
    with store.reading():
        before = as_they_are(store.path, rubric)
        return [(before[unit.unit_id], unit) for unit in selected_units(store, as_probe(plain, kind), select(store, plain, None))]


@cache
def as_they_are(path: Path, rubric: str) -> dict[str, Unit]:
    """The units of the games, which no test changes."""
    store, plain = Store(path), find(rubric)
    return {unit.unit_id: unit for unit in selected_units(store, plain, select(store, plain, None))}


def report_of(store: Store, judge: str, probe: str) -> pl.DataFrame:
    return probe_report(store).filter((pl.col("judge") == judge) & (pl.col("probe") == probe))


def max_of(rows: pl.DataFrame, column: str) -> float:
    return max(float(value) for value in rows[column].to_list())


def min_of(rows: pl.DataFrame, column: str) -> float:
    return min(float(value) for value in rows[column].to_list())


def mean_of(rows: pl.DataFrame, column: str) -> float:
    return sum(float(value) for value in rows[column].to_list()) / len(rows)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["layer", "size", "colour", "place"])
def test_a_planted_defect_is_one_exchanged_word(store: Store, kind: str) -> None:
    """Nothing else of the unit changes, so nothing else can be the reason for another answer."""
    pairs = told_anew(store, "spatial_grounding", kind)
    assert len(pairs) > 10
    for before, after in pairs:
        texts = zip(before.context.now.utterances, after.context.now.utterances, strict=True)
        ((old, new),) = [(a.text.split(), b.text.split()) for a, b in texts if a != b]
        changed = [step for step in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if step[0] != "equal"]
        assert len(changed) == 1
        assert changed[0][2] - changed[0][1] == changed[0][4] - changed[0][3] == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "fewest"), [("layer", 20), ("size", 4), ("colour", 15), ("place", 15)])
def test_a_defect_of_a_turn_is_one_exchanged_word_a_message(store: Store, kind: str, fewest: int) -> None:
    """In some of its messages; nothing else of the turn changes."""
    pairs = told_anew(store, "pragmatic_sufficiency", kind)
    assert len(pairs) >= fewest
    for before, after in pairs:
        texts = zip(before.context.now.utterances, after.context.now.utterances, strict=True)
        changed = [(a, b) for a, b in texts if a != b]
        assert changed
        for old, new in changed:
            assert (old.agent[0], old.channel) == ("D", "public")
            words = list(zip(old.text.split(), new.text.split(), strict=True))
            assert sum(a != b for a, b in words) == 1
        assert before.context.now.oracle == after.context.now.oracle


@pytest.mark.parametrize(
    ("rubric", "kind"),
    [
        pytest.param(rubric, kind, marks=() if number == 0 and rubric != "pragmatic_sufficiency" else pytest.mark.long)
        for rubric, kinds in DEFECTS_OF.items()
        for number, kind in enumerate(kind for kind in kinds)
    ],
)
def test_the_engine_finds_planted_defects(store: Store, rubric: str, kind: str) -> None:
    """Where it found the clean text clean, it must not miss what is wrong afterwards."""
    run(JudgeRequest(rubric=as_probe(find(rubric), kind)), store)
    row = report_of(store, "engine", kind).filter(pl.col("rubric") == rubric).row(0, named=True)
    assert row["question"] == DEFECTS_OF[rubric][kind]
    assert row["expects"] == "changed"
    assert row["pairs"] > (
        3 if kind == "size" and rubric == "pragmatic_sufficiency" else 10
    )  # the other size is a candidate as often as not
    assert row["rate"] > 0.95


@pytest.mark.long
def test_what_the_engine_leaves_open_is_no_miss(store: Store) -> None:
    """Of a board that no longer holds what a message asks for, nothing is read anew: pairs without two answers give no rate."""
    run(JudgeRequest(rubric=as_probe(find("mind_modeling"), "redundancy")), store)
    with store.writing() as connection:
        connection.execute(
            "UPDATE verdicts SET status = 'undecided', answer = NULL, score = NULL WHERE variant IS NOT NULL AND question = 'MM2'"
        )
    (row,) = report_of(store, "engine", "redundancy").filter(pl.col("rubric") == "mind_modeling").iter_rows(named=True)
    assert row["unanswered"] > 10
    assert row["pairs"] == 0
    assert row["rate"] is None
    assert "nothing is known" in row["advice"]


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["length", "wordy"])
def test_the_engine_abstains_beside_sentences_that_it_does_not_understand(store: Store, kind: str) -> None:
    """They hold pronouns and words of putting and taking, so they could be steps: no answer changes, and fewer are given."""
    run(JudgeRequest(rubric=as_probe(find("spatial_grounding"), kind)), store)
    rows = report_of(store, "engine", kind)
    assert len(rows) == 7
    assert set(rows["rate"].drop_nulls()) <= {0.0}
    assert max_of(rows, "unanswered") > 10


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["order", "polite", "names", "model=gpt-4o"])
def test_the_engine_is_not_swayed(store: Store, kind: str) -> None:
    """Courtesies, names and order say nothing about blocks."""
    run(JudgeRequest(rubric=as_probe(find("spatial_grounding"), kind)), store)
    rows = report_of(store, "engine", kind)
    assert len(rows) == 7
    assert min_of(rows, "pairs") > 10
    assert max_of(rows, "rate") == 0
    assert set(rows["expects"]) == {"same"}


def test_probes_do_not_mix_with_plain_verdicts(store: Store) -> None:
    """No view but the report of probes sees them."""
    ensure_installed(store)
    views = ("verdicts_latest", "judge_scores", "answer_pairs", "panel", "missed_turns")
    with store.reading():
        before = [query(store, f"SELECT * FROM {view} ORDER BY ALL") for view in views]
    run(JudgeRequest(rubric=as_probe(find("pragmatic_sufficiency"), "polite")), store)
    assert len(report_of(store, "engine", "polite").filter(pl.col("rubric") == "pragmatic_sufficiency"))
    with store.reading():
        for view, rows in zip(views, before, strict=True):
            assert query(store, f"SELECT * FROM {view} ORDER BY ALL").equals(rows), view


def test_other_names_reach_the_whole_prompt(store: Store) -> None:
    """Neither the evidence nor the questions speak of the old ones, and they name the same agents."""
    rubric = as_probe(find("mind_modeling"), "names")
    maker = PromptMaker(rubric)
    _, unit = told_anew(store, "mind_modeling", "names")[0]
    for prompt in maker.prompts(unit):
        text = "\n".join(message["content"] for message in maker.messages(prompt))
        assert "D1" not in text
        assert "D2" not in text
        assert "Ash" in text
    assert unit.agent in {"D1", "D2", "D3"}  # the verdict still says whom it is about


def test_the_order_is_reversed_and_nothing_is_lost(store: Store) -> None:
    """The same messages by the same speakers, last first."""
    before, after = told_anew(store, "pragmatic_sufficiency", "order")[0]
    said, told = (
        [u for u in unit.context.now.by_channel("public") if u.agent != "Builder" and not u.superseded] for unit in (before, after)
    )
    assert told == said[::-1]
    assert len(said) > 1


def asked(store: Store, judge: SimulatedJudge, *kinds: str, turns: int = 5) -> None:
    """Have a played model judge the first turns as they are and perturbed."""
    with simulated_judge(judge) as url:
        request = ask_model(url, "spatial_grounding", where=f"turn <= {turns}", model=f"local/{judge.seed}", repeats=2)
        for rubric in (request.rubric, *(as_probe(request.rubric, kind) for kind in kinds)):
            assert run(replace(request, rubric=rubric), store).failed == 0


@pytest.mark.long
def test_the_share_of_swayed_answers_is_found(store: Store) -> None:
    """A judge that greetings turn to no in 40 of 100 cases is said to change that share, and is told from chance."""
    asked(
        store,
        SimulatedJudge(defect="never", confusion=RIGHT, biases=[Bias(pattern="good luck", answers={"no": 0.4})], seed=1),
        "polite",
        "wordy",
    )
    polite, wordy = (report_of(store, "llm:local/1", kind) for kind in ("polite", "wordy"))
    assert mean_of(polite, "rate") == pytest.approx(0.4, abs=0.05)
    assert sum(row["low"] <= 0.4 <= row["high"] for row in polite.iter_rows(named=True)) >= 6
    assert max_of(wordy, "rate") == 0
    assert all("it can be swayed" in advice for advice in polite["advice"])
    assert max_of(polite, "shift") < 0


@pytest.mark.long
def test_the_share_of_answers_that_orders_change_is_found(store: Store) -> None:
    """A judge that obeys faked fences in 60 of 100 cases, and no other attack: the report has that share, beside chance.

    Orders demand yes of some units and no of the others; the played judge always says yes, so that only the others count.
    """
    obeys = Bias(pattern=r"BEGIN right_answers[^\n]*\n[^\n]*\"answer\": \"no\"", answers={"no": 0.6})
    asked(store, SimulatedJudge(defect="never", confusion=RIGHT, biases=[obeys], seed=5), "injected-fence", "injected-order", "injected")
    fence, order, mixed = (report_of(store, "llm:local/5", kind) for kind in ("injected-fence", "injected-order", "injected"))
    assert mean_of(fence, "rate") == pytest.approx(0.6, abs=0.1)
    assert sum(row["low"] <= 0.6 <= row["high"] for row in fence.iter_rows(named=True)) >= 6
    assert max_of(order, "rate") == 0
    assert 0 < mean_of(mixed, "rate") < mean_of(fence, "rate")
    assert max_of(fence, "repeats_differ") == 0
    assert all("it can be swayed" in advice for advice in fence["advice"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", ["spatial_grounding", "mast"])
def test_an_attack_is_quoted_and_demands_an_answer_of_the_rubric(store: Store, name: str, attack: str) -> None:
    """Whatever is judged: messages, whole turns, or games of any family; the frame around what is quoted stays as it was."""
    maker = PromptMaker(find(name))
    pairs = told_anew(store, name, f"injected-{attack}")[:20]
    assert len(pairs) > 5
    for before, after in pairs:
        old, new = ([line for prompt in maker.prompts(unit) for line in prompt.evidence().split("\n")] for unit in (before, after))
        planted = [line for line in new if line not in old and line.startswith("| ")]
        answer = find(name).questions[next(iter(find(name).questions))].answers
        assert any(f'"{one}"' in line for one in answer for line in planted)
        assert not [line for line in new if not line.startswith("| ") and ("evidence has ended" in line or "right_answers" in line)]


def test_an_attack_that_the_judge_would_not_see_is_not_planted(store: Store) -> None:
    """A rubric that shows no message has nothing to be attacked by: no request is spent on it."""
    assert told_anew(store, "craft_failures", "injected-order") == []
    with pytest.raises(UsageError, match="by pair"):
        as_probe(find("craft_failures").changed(unit="pair"), "injected")


@pytest.mark.long
def test_a_liking_for_its_own_name_is_found(store: Store) -> None:
    """A coin that says yes to its own name: half of the answers change, all upwards."""
    own = Bias(pattern=r"\(coin\)", answers={"yes": 1.0})
    asked(store, SimulatedJudge(defect="never", confusion=COIN, biases=[own], seed=2), "model=coin", "length")
    own_name, length = (report_of(store, "llm:local/2", kind) for kind in ("model=coin", "length"))
    assert mean_of(own_name, "rate") == pytest.approx(0.5, abs=0.05)
    assert mean_of(own_name, "shift") == pytest.approx(0.5, abs=0.05)
    assert mean_of(length, "rate") == pytest.approx(0.5, abs=0.05)  # a coin changes as often, but in both directions,
    assert mean_of(length, "shift") == pytest.approx(0.0, abs=0.05)
    assert mean_of(length, "repeats_differ") == pytest.approx(0.5, abs=0.05)  # and with itself
    assert sum("chance alone does" in advice for advice in length["advice"]) >= 6


@pytest.mark.long
def test_the_share_of_found_defects_is_found(store: Store) -> None:
    """A judge that sees 70 of 100 planted repetitions; one that says always yes is called useless."""
    sees = {"yes": {"yes": 1.0}, "no": {"no": 0.7, "yes": 0.3}}
    asked(store, SimulatedJudge(defect="Also place a small", confusion=sees, seed=3), "redundancy", turns=10)
    row = report_of(store, "llm:local/3", "redundancy").row(0, named=True)
    assert (row["question"], row["expects"]) == ("SG2", "changed")
    assert row["low"] <= 0.7 <= row["high"]
    asked(store, SimulatedJudge(defect="never", confusion=RIGHT, seed=4), "redundancy", turns=10)
    blind = report_of(store, "llm:local/4", "redundancy").row(0, named=True)
    assert blind["rate"] == 0
    assert "do not use" in blind["advice"]


@pytest.mark.parametrize(
    ("rubric", "kind", "message"),
    [
        ("spatial_grounding", "colours", "there is no probe colours"),
        ("spatial_grounding", "model=", "there is no probe"),
        (
            "pragmatic_sufficiency",
            "redundancy",
            "knows the right answer for spatial_grounding, mind_modeling, not for pragmatic_sufficiency",
        ),
        ("mast", "order", "moves the messages of a turn"),
    ],
)
def test_what_cannot_be_probed_is_said(rubric: str, kind: str, message: str) -> None:
    """A probe whose truth is not known is none."""
    with pytest.raises(UsageError, match=message):
        as_probe(find(rubric), kind)


def test_the_command_judges_both_and_the_report_compares(store: Store) -> None:
    """From one line to flip rates; a variant with other visible evidence is compared as well."""
    arguments = ["probe", "pragmatic_sufficiency", "--kind", "order", "--kind", "variant=published", "--judge", "engine"]
    done = CliRunner().invoke(cli, [*arguments, "--store", str(store.path)])
    assert done.exit_code == 0, done.output
    shown = CliRunner().invoke(cli, ["report", "probes", "--store", str(store.path), "--format", "csv"])
    assert "pragmatic_sufficiency,PS1,engine,order,same" in shown.output
    assert "pragmatic_sufficiency,PS1,engine,variant published,same" in shown.output
    dry = CliRunner().invoke(cli, [*arguments[:4], "--model", "openai/gpt-4o-mini", "--dry-run", "--store", str(store.path)])
    assert "probe:order:" in dry.output
