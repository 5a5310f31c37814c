"""Targets: files, the generator, and what can be reached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from games.craft.engine.board import CELLS, HIDDEN_CELLS, NEIGHBORS, Board, is_large
from games.craft.targets import (
    COMPLEXITIES,
    Complexity,
    Structure,
    StructureRules,
    ceiling,
    complexity_of,
    forbidden_dominoes,
    generate_structures,
    load_structures,
    structure_facts,
)
from schemas.common.errors import BadInputError
from tests.places import ROOT

SOME = list(generate_structures(200, seed=1))


def test_wall_cells_are_full_and_hidden_cells_vary() -> None:
    """Seven stacks of three; the two others take every height from 0 to 2."""
    for structure in SOME:
        assert {structure.target.height(cell) for cell in CELLS if cell not in HIDDEN_CELLS} == {3}
    heights = Counter(tuple(structure.target.height(cell) for cell in HIDDEN_CELLS) for structure in SOME)
    assert len(heights) == 9


def test_every_large_block_has_its_record_and_two_neighbouring_halves() -> None:
    """Spans and stacks tell the same story."""
    for structure in SOME:
        target = structure.target
        halves = [
            (layer, cell) for cell, stack in zip(CELLS, target.stacks, strict=True) for layer, code in enumerate(stack) if is_large(code)
        ]
        recorded = [(layer, cell) for layer, spans in target.spans for span in spans for cell in span]
        assert sorted(halves) == sorted(recorded)
        for layer, spans in target.spans:
            for first, second in spans:
                assert second in NEIGHBORS[first]
                assert target.stack(first)[layer] == target.stack(second)[layer]


def test_domino_counts_are_those_of_the_published_distribution() -> None:
    """The 20 published targets have 4 to 10 large blocks, mean 6.55; 200 draws lie close to that."""
    counts = [structure_facts(structure).n_dominoes for structure in SOME]
    assert sum(counts) / len(counts) == pytest.approx(6.55, abs=0.6)


def test_the_published_distribution_has_unreachable_targets_and_repeated_layers() -> None:
    """Both faults are there by default, so that they can be studied."""
    assert any(forbidden_dominoes(structure.target) for structure in SOME)
    assert any(_repeats(structure.target) for structure in SOME)


def test_reachable_targets_can_be_completed_by_verified_moves() -> None:
    """Candidates alone lead to a progress of 1."""
    for structure in generate_structures(60, seed=2, rules=StructureRules(reachable=True)):
        assert forbidden_dominoes(structure.target) == ()
        assert ceiling(structure.target).metrics.overall_progress == 1


def test_no_forbidden_large_block_means_completable() -> None:
    """The two ways to tell whether a target can be completed agree."""
    for structure in SOME[:60]:
        facts = structure_facts(structure)
        assert facts.completable == (facts.n_forbidden_dominoes == 0)
        assert facts.completable == (facts.ceiling_overall_progress == 1)


def test_distinct_layers_never_repeat_a_block() -> None:
    """No stack holds the same code twice in a row."""
    rules = StructureRules(distinct_layers=True)
    assert not any(_repeats(structure.target) for structure in generate_structures(60, seed=3, rules=rules))


@pytest.mark.parametrize("tier", COMPLEXITIES)
def test_a_tier_can_be_asked_for(tier: Complexity) -> None:
    """All targets are of the tier, by their own count of blocks."""
    for structure in generate_structures(20, seed=4, rules=StructureRules(complexity=tier)):
        assert structure.complexity == tier == complexity_of(structure.target.blocks_total())


def test_tiers_split_where_the_published_ones_do() -> None:
    """Up to 22 simple, 23 and 24 medium, 25 complex."""
    assert [complexity_of(blocks) for blocks in range(21, 26)] == ["simple", "simple", "medium", "medium", "complex"]


def test_a_structure_depends_on_seed_and_number_alone() -> None:
    """Asking for more targets does not change the first ones; another seed does."""
    assert list(generate_structures(5, seed=1)) == SOME[:5]
    assert next(generate_structures(1, seed=9)).target != SOME[0].target


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_generator_is_the_same_in_every_process(hash_seed: str) -> None:
    """Unlike the published generator it does not depend on the order of a set of strings."""
    code = "import json; from games.craft import targets; "
    code += "print(json.dumps([s.to_json() for s in targets.generate_structures(5, seed=1)]))"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True, check=True, text=True
    ).stdout
    assert [Structure.from_json(entry) for entry in json.loads(printed)] == SOME[:5]


def test_structure_files_are_read_back(tmp_path: Path) -> None:
    """What to_json writes, load_structures reads."""
    path = tmp_path / "structures.json"
    path.write_text(json.dumps([structure.to_json() for structure in SOME[:3]]))
    assert load_structures(path) == tuple(SOME[:3])


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("{", "is not JSON"),
        ("{}", "holds no list of structures"),
        ('[{"id": "structure_001"}]', r"\[0\] is not a structure \(KeyError: 'complexity'\)"),
        ("[7]", r"\[0\] is not a structure \(TypeError"),
        ('[{"id": "s", "complexity": "simple", "structure": [], "spans": {}}]', r"\[0\] is not a structure \(AttributeError"),
    ],
)
def test_files_that_hold_no_structures_say_so(tmp_path: Path, content: str, match: str) -> None:
    """One line with what, where and why."""
    path = tmp_path / "structures.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=match):
        load_structures(path)


def _repeats(target: Board) -> bool:
    return any(below == above for stack in target.stacks for below, above in pairwise(stack))


def test_published_files_load(shared: Path) -> None:
    """Both datasets, with the tiers the paper gives for the first."""
    tiers: Counter[Any] = Counter(structure.complexity for structure in load_structures(shared / "data/craft/structures_dataset_20.json"))
    assert tiers == {"simple": 7, "medium": 8, "complex": 5}
    assert len(load_structures(shared / "data/craft/structures_dataset_v2.json")) == 100
