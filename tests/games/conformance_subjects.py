"""The public environments, as the conformance checks see them. A new one declares itself at the end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from games.asympuzl import game as asympuzl
from games.asympuzl.puzzle import generate as generate_asympuzl
from games.craft import game as craft
from games.craft.targets import Structure, generate_structures
from games.einstein import game as einstein
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.engine.table import table_json
from games.einstein.game import refusal
from tests.games.avalon.conformance_avalon import AVALON
from tests.games.conformance import LoggedStep, ReadBack, Ruling, Subject
from tests.games.conformance_collab import COORDINATION
from tests.games.conformance_overcooked import OVERCOOKED
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest as AsymPuzlRequest
from tests.ingest.asympuzl.asympuzl_logs import play as play_asympuzl
from tests.scripted import CraftRequest, EinsteinRequest
from tests.scripted import play as play_craft
from tests.scripted import play as play_einstein

NONSENSE = ("", "???", "<ACTION>fly</ACTION>", '{"message": 3}', "PLACE:gs:(9,9):0:CONFIRM:x", "REMOVE:(0,0):5")


# -- CRAFT --------------------------------------------------------------------------------------------------------------------------------


def _craft_structure(seed: int) -> Structure:
    (structure,) = generate_structures(1, seed)
    return structure


def _craft_answer(environment: Any, rng: random.Random) -> str:
    """Directors say anything; the builder takes a candidate, or writes what comes to its mind."""
    agent = environment.next_agent
    listed = environment.state().listed
    if agent != "builder":
        return f"<think>{rng.random()}</think><message>something {rng.random()}</message>"
    if not listed or rng.random() < 0.4:
        return rng.choice((*NONSENSE, "CLARIFY: which one?", "PLACE:rs:(1,1):0:CONFIRM:I place it"))
    move = rng.choice(listed)
    if move.action == "remove":
        return f"REMOVE:{move.position}:{move.layer}:CONFIRM:gone"
    span = f":SPAN:{move.span_to}" if move.span_to else ""
    return f"PLACE:{move.block}:{move.position}:{move.layer}{span}:CONFIRM:there"


def _craft_verdicts(record: Any) -> Sequence[Ruling]:
    if record is None:
        return ()
    if record.outcome is None:
        return (Ruling(None, None),)
    error = record.outcome.error
    return (Ruling(record.outcome.accepted, error and error.message),)


def _craft_log(folder: Path, seed: int) -> Path:
    request = CraftRequest(out=folder, personas=("mixed",), builders=("sloppy",), structures=1, seed=seed, turns=8, processes=1)
    return play_craft(request).paths[0]


def _craft_read(lines: Sequence[bytes]) -> ReadBack:
    """The builder's raw lines, behind whatever the directors said: their words do not touch the board."""
    header, *turns = map(orjson.loads, lines)
    condition = header["run"]["condition"]
    settings = craft.GameSettings(max_turns=condition["max_turns"], oracle=condition["use_oracle"], num_oracle=condition["num_oracle"])
    structure = _craft_structure(header["seed"])
    assert structure.structure_id == header["task"]["id"]
    steps = [LoggedStep(["", "", "", turn["actions"][0]["raw"]], turn["state_after"]["stacks"]) for turn in turns if "turn" in turn]
    return ReadBack(craft.Game(structure, settings, seed=header["seed"]), steps)


# -- Einstein -----------------------------------------------------------------------------------------------------------------------------


def _einstein_answer(environment: Any, rng: random.Random) -> str:
    """An expected action, a move at random, or nonsense."""
    sensible = environment.state().expected
    drawn = rng.random()
    if sensible and drawn < 0.5:
        return f"<THINK>so</THINK><ACTION>{rng.choice(sensible).text}</ACTION>"
    if drawn < 0.8:
        source, target = rng.choices(("player1_bin", "player2_bin", "commonbin", "top_left_bin", "bottom_right_bin"), k=2)
        return f"<ACTION>move block{rng.randrange(6)} from {source} to {target}</ACTION>"
    return rng.choice((*NONSENSE, "<ACTION>pass</ACTION>", "<ACTION>ask block1</ACTION>"))


def _einstein_log(folder: Path, seed: int) -> Path:
    return play_einstein(EinsteinRequest(out=folder, personas=("mixed",), partners=("mixed",), games=1, seed=seed)).paths[0]


def _einstein_read(lines: Sequence[bytes]) -> ReadBack:
    header, *turns = map(orjson.loads, lines)
    game = einstein.Game(parse_game_id(header["task"]["id"]), einstein.GameSettings.of_log(header["run"]["condition"]))
    return ReadBack(game, [LoggedStep([turn["actions"][0]["raw"]], turn["state_after"]) for turn in turns if "turn" in turn])


def _einstein_state(environment: Any) -> Any:
    return table_json(environment.puzzle, environment.state().table)


# -- AsymPuzl -----------------------------------------------------------------------------------------------------------------------------


def _asympuzl_answer(environment: Any, rng: random.Random) -> str:
    """Actions on any position, some of which there are not, with shapes of the puzzle or others."""
    entries = [*environment.puzzle.truth, *environment.puzzle.clues("B")]
    actions = [
        {"replace": rng.randint(0, 7), "by": {"shape": rng.choice(entries).shape, "color": rng.choice((entries[0].color, "mauve"))}}
        for _ in range(rng.randint(0, 3))
    ]
    written = orjson.dumps({"message": f"hello {rng.random()}", "actions": actions}).decode()
    return rng.choice((written, written, f"Thinking.\n{written}", rng.choice(NONSENSE)))


def _asympuzl_verdicts(made: Any) -> Sequence[Ruling]:
    return [Ruling(applied.valid, applied.request.fault) for applied in made.applied]


def _asympuzl_log(folder: Path, seed: int) -> Path:
    return play_asympuzl(AsymPuzlRequest(out=folder, seeds=(seed,), sizes=(4,))).paths[0]


def _asympuzl_read(lines: Sequence[bytes]) -> ReadBack:
    header, *others = map(orjson.loads, lines)
    settings = asympuzl.GameSettings(mode=header["feedback_mode"], history_length=header["history_length"], max_turns=header["max_turns"])
    game = asympuzl.Game(generate_asympuzl(size=header["size"], seed=header["seed"]), settings)
    turns = [line for line in others if line["type"] == "turn"]
    hypotheses: dict[str, Any] = {"A": header["clues_a"], "B": header["clues_b"]}
    steps = []
    for turn in turns:
        hypotheses = hypotheses | {turn["agent"]: turn["hypothesis_after"]}
        steps.append(LoggedStep([turn["raw_output"]], hypotheses))
    return ReadBack(game, steps)


def _asympuzl_state(environment: Any) -> Any:
    hypotheses = environment.state().hypotheses
    return {agent: [entry._asdict() for entry in hypotheses[agent]] for agent in ("A", "B")}


SUBJECTS = [
    Subject(
        name="craft",
        begin=lambda seed: craft.Game(_craft_structure(seed), craft.GameSettings(max_turns=6), seed=seed),
        answer=_craft_answer,
        verdicts=_craft_verdicts,
        write_log=_craft_log,
        read_log=_craft_read,
        logged_state=lambda environment: environment.state().board.structure_json(ghosts=True),
    ),
    Subject(
        name="einstein",
        begin=lambda seed: einstein.Game.drawn(seed=seed, num_objects=4 + seed % 3),
        answer=_einstein_answer,
        verdicts=lambda step: [Ruling(step.outcome.accepted, refusal(step))],
        write_log=_einstein_log,
        read_log=_einstein_read,
        logged_state=_einstein_state,
    ),
    Subject(
        name="asympuzl",
        begin=lambda seed: asympuzl.Game.drawn(size=4, seed=seed),
        answer=_asympuzl_answer,
        verdicts=_asympuzl_verdicts,
        write_log=_asympuzl_log,
        read_log=_asympuzl_read,
        logged_state=_asympuzl_state,
    ),
    OVERCOOKED,
    *COORDINATION,
    AVALON,
]
