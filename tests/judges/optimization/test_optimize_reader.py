"""`cotrace optimize-reader`: finds a better prompt where there is one, and judges it on authors that it was not made from."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from cotrace.cli import cli
from ingest.files.run import ingest_paths
from judges.claims.texts import prompt_in
from judges.optimization.cases import reader_cases, split_by_author
from judges.optimization.search import ReaderOptimization, expected
from providers.provider import ModelSettings
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.scripted import CraftRequest as PlayRequest
from tests.scripted import play
from tests.servers.simulated_reader import SimulatedReader, simulated_reader

PERSONAS = ("clear", "vague", "over_remover", "redundant")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games of four authors, who play apart."""
    folder = tmp_path_factory.mktemp("games")
    play(PlayRequest(out=folder / "logs", personas=PERSONAS, builders=("sloppy",), structures=2, seed=5, turns=3, processes=1))
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    return store


def optimize(store: Store, url: str, folder: Path, *options: str) -> Result:
    arguments = ["optimize-reader", "--store", str(store.path), "--model", "local/reader", "--base-url", url, "--candidates", "2"]
    arguments += ["--texts", "8", "--cache", str(folder / "answers"), "--out", str(folder / "better.yaml")]
    (folder / "answers").mkdir(exist_ok=True)
    return CliRunner().invoke(cli, [*arguments, *options], catch_exceptions=False, standalone_mode=False)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("optimizer", "learns_from"), [("bootstrap", "Its claims:"), ("gepa", "Mind the layers")])
def test_a_better_prompt_is_found_and_judged_on_other_authors(store: Store, tmp_path: Path, optimizer: str, learns_from: str) -> None:
    """From a model that errs in half of its claims to one that does not; what is written is what `cotrace claims --prompt` takes."""
    reader = SimulatedReader(store=store.path, mistakes=0.5, learns_from=learns_from, proposals=["Mind the layers."])
    with simulated_reader(reader) as url:
        done = optimize(store, url, tmp_path, "--optimizer", optimizer)
        assert done.return_value == 0, done.output
        again = optimize(store, url, tmp_path, "--optimizer", optimizer, "--out", str(tmp_path / "again.yaml"))
    path = tmp_path / "better.yaml"
    told = path.read_text()
    assert "score rises by +" in done.output or "the score changes by +" in done.output
    assert "# precision 0." in told
    assert "-> 1.000" in told
    assert (tmp_path / "again.yaml").read_text() == told
    assert "0 requests" in again.output  # nothing is paid twice
    parts = prompt_in(path)
    assert bool(parts.examples["craft"]) == (optimizer == "bootstrap")
    assert ("Mind the layers" in parts.instructions["craft"]) == (optimizer == "gepa")
    assert yaml.safe_load(told)["benchmark"] == "craft"


@pytest.mark.long
def test_a_model_that_ignores_its_prompt_gains_nothing(store: Store, tmp_path: Path) -> None:
    """No file is written for a difference that there is not; an existing file is never replaced; a dry run asks nothing."""
    with simulated_reader(SimulatedReader(store=store.path, mistakes=0.3)) as url:
        done = optimize(store, url, tmp_path, "--optimizer", "bootstrap")
        assert "no gain: none of" in done.output
        assert not (tmp_path / "better.yaml").exists()
        (tmp_path / "better.yaml").touch()
        with pytest.raises(UsageError, match="never replaced"):
            optimize(store, url, tmp_path)
    planned = optimize(store, "http://127.0.0.1:9", tmp_path, "--dry-run", "--out", str(tmp_path / "x.yaml"))
    assert "held-out part: " in planned.output
    assert "calls of the model that reads" in planned.output


def test_held_out_authors_are_in_no_other_part(store: Store) -> None:
    """Nor their games; only texts of scripted players may be examples; too few authors are refused."""
    cases = reader_cases(store, "craft", per_author=8, seed=1)
    parts = split_by_author(cases, held_out=0.3, seed=1)
    seen, apart = ({case.author for case in part} for part in ([*parts.training, *parts.validation], parts.held_out))
    assert seen | apart == set(PERSONAS)
    assert not seen & apart
    games = [{case.episode_id for case in part} for part in parts]
    assert not any(one & other for one in games for other in games if one is not other)
    assert all(case.own and sum(other.author == case.author for other in cases) <= 8 for case in cases)
    example = parts.training[0].example()
    assert all(claim["words"] in example.text for claim in example.claims)
    with pytest.raises(UsageError, match="all texts are by clear"):
        split_by_author([case for case in cases if case.author == "clear"], held_out=0.3, seed=1)
    with pytest.raises(UsageError, match="no text of einstein"):
        reader_cases(store, "einstein", per_author=8, seed=1)


def test_a_text_that_is_no_own_is_no_example(store: Store) -> None:
    """Annotated texts of models are a measure, and stand in no prompt."""
    from dataclasses import replace

    from judges.optimization.program import Program, ReaderPrompt, ReaderTask

    own, foreign = reader_cases(store, "craft", per_author=1, seed=1)[:2]
    cases = {1: replace(own, number=1), 2: replace(foreign, number=2, own=False)}
    task = ReaderTask(ReaderPrompt("Read."))
    program = Program(task, None, cases)  # type: ignore[arg-type]  # nothing is asked
    program.asked.demos = [task.example(case) for case in cases.values()]
    assert [example.text for example in program.asked.candidate().examples] == [own.text]


def test_the_cost_is_told_beforehand(store: Store, tmp_path: Path) -> None:
    """What is asked stays below what was told."""
    parts = split_by_author(reader_cases(store, "craft", per_author=8, seed=0), held_out=0.3, seed=0)
    settings = ModelSettings(model="openai/gpt-4o-mini")
    request = ReaderOptimization(
        benchmark="craft", instructions="Read.", parts=parts, optimizer="bootstrap", asked=settings, writer=settings,
        candidates=2, demonstrations=3, seed=0, cache=tmp_path,
    )  # fmt: skip
    plan = expected(request)
    assert plan.cost is not None
    assert plan.cost > 0
    assert plan.calls.judge >= 2 * len(parts.held_out) + len(parts.validation)
