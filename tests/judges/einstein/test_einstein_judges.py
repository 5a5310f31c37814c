"""Rubrics of Einstein puzzles: the engine's answers against planted truth, hand-worked steps, and what a judge may see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.einstein.claims import Belongs
from games.einstein.game import GameSettings
from games.einstein.players.personas import PERSONAS
from ingest.files.run import ingest_paths
from judges.checks import find as find_check
from judges.einstein.reading import read_thoughts
from judges.evidence.prompt import PromptMaker
from judges.evidence.transcript import ActionView, AgentView, Transcript, TurnView, UtteranceView, load
from judges.evidence.units import units
from judges.rubric_files.load import check, find, names
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from tests.masters import held_open
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

RUBRICS = {"knowledge_sharing": ["KS1", "KS2", "KS3"], "rule_understanding": ["RU1", "RU2"]}
OTHER_CONDITIONS = (
    GameSettings(modes=("seek", "none")),
    GameSettings(modes=("none", "none"), rules="published", reasoning=False),
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of every persona, and some under other conditions, judged by the engine."""
    folder = tmp_path_factory.mktemp("judged")
    play(PlayRequest(out=folder / "logs", personas=tuple(PERSONAS), partners=("mixed",), games=1, num_objects=(5,)))
    play(PlayRequest(out=folder / "logs", personas=("mixed",), partners=("mixed",), games=1, conditions=OTHER_CONDITIONS))
    store = Store(folder / "test.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    for name in RUBRICS:
        run(JudgeRequest(rubric=find(name)), store)
    ensure_installed(store)
    yield from held_open(store)


def pairs(store: Store) -> dict[str, Counter[tuple[str, str | None]]]:
    """Question -> how often each planted answer met each answer of the engine."""
    found: dict[str, Counter[tuple[str, str | None]]] = {}
    for question, planted, answered, count in query(
        store, "select question, answer_a, answer_b, count(*) from answer_pairs where kind = 'label_judge' group by all"
    ).rows():
        found.setdefault(question, Counter())[planted, answered] = count
    return found


@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_are_sound(name: str) -> None:
    """They have no mistakes, and every question names its engine check."""
    rubric = find(name)
    assert check(names()[name]) == []
    assert [(question.id, question.engine) for question in rubric.questions.values()] == [(q, f"einstein.{q}") for q in RUBRICS[name]]


def test_the_engine_never_contradicts_planted_truth(judged: Store) -> None:
    """Every decided answer is right; sharing and moving are always decided; all answers occur."""
    for question, found in pairs(judged).items():
        assert {planted for planted, answered in found if answered not in (planted, None)} == set(), question
        assert {planted for planted, _ in found} == {"yes", "no", "na"}
        if question != "RU1":
            assert None not in {answered for _, answered in found}


def test_most_thoughts_are_read(judged: Store) -> None:
    """Of thoughts that claim something, right or wrong, nearly all are decided."""
    found = pairs(judged)["RU1"]
    for planted in ("yes", "no"):
        assert found[planted, planted] > 0.9 * sum(count for (truth, _), count in found.items() if truth == planted)


def test_every_step_is_a_unit_with_or_without_words(judged: Store) -> None:
    """A move without thoughts is judged as well."""
    steps, units_judged = (query(judged, sql).item() for sql in ("select count(*) from turns", "select max(units) from judge_runs"))
    assert steps == units_judged


def test_agreement_of_rule_and_judge_is_a_query(judged: Store) -> None:
    """Planted labels meet the engine in the view `agreement`."""
    found = query(judged, "select distinct rubric from agreement where kind = 'label_judge' order by 1")
    assert found.to_series().to_list() == sorted(RUBRICS)


# -- steps worked by hand -----------------------------------------------------------------------------------------------------------------

ITEMS = ["(block0, in, top_left_bin)", "(block0, block1, same, row)"]
INFERS = {"block0": "top_left_bin", "block1": "top_right_bin"}


def item(first: str, second: str, kind: str) -> dict[str, Any]:
    return {"blocks": [first, second], "same": kind}


def turn(number: int, agent: str, verb: str, arguments: dict[str, Any], *, accepted: bool = True, thought: str | None = None) -> TurnView:
    knowledge = {name: {"items": ITEMS, "infers": INFERS} for name in ("Player1", "Player2")}
    said = (UtteranceView(1, agent, "private", (agent,), thought, superseded=False),) if thought is not None else ()
    action = ActionView(agent, verb, arguments, accepted, None, None)
    bins = {"top_left_bin": ["block0"], "commonbin": ["block1"]}
    return TurnView(number, {"bins": bins, "knowledge": knowledge}, {}, said, (action,), (), None, None, None, goal_reached=False)


def game(*turns: TurnView, modes: object = ("provide_seek", "provide_seek")) -> Transcript:
    details = {} if modes is None else {"modes": list(modes)}  # type: ignore[call-overload]
    agents = {name: AgentView(name, "player", None, None, None) for name in ("Player1", "Player2")}
    return Transcript("e", "einstein", "g", "m", {}, None, details, agents, turns)


ASK = turn(1, "Player1", "ask", {"block": "block1"})
SHARE = turn(2, "Player2", "share", item("block0", "block1", "row"))
CASES = {
    "new": (game(ASK, SHARE), "KS1", "yes"),
    "shared before by the partner": (
        game(turn(1, "Player1", "share", item("block0", "block1", "row")), SHARE),
        "KS1",
        "no",
    ),
    "offered before, but refused": (
        game(turn(1, "Player1", "share", item("block0", "block1", "row"), accepted=False), SHARE),
        "KS1",
        "yes",
    ),
    "no share is not new": (game(ASK, turn(2, "Player2", "pass", {})), "KS1", "na"),
    "held": (game(ASK, SHARE), "KS2", "yes"),
    "the grounding is held": (game(ASK, turn(2, "Player2", "share", {"block": "block0", "in": "top_left_bin"})), "KS2", "yes"),
    "only inferred": (game(ASK, turn(2, "Player2", "share", {"block": "block1", "in": "top_right_bin"})), "KS2", "no"),
    "answers": (game(ASK, SHARE), "KS3", "yes"),
    "answers with what is not held": (game(ASK, turn(2, "Player2", "share", item("block1", "block2", "row"))), "KS3", "no"),
    "answers about another object": (game(ASK, turn(2, "Player2", "share", {"block": "block0", "in": "top_left_bin"})), "KS3", "no"),
    "does not answer": (game(ASK, turn(2, "Player2", "pass", {})), "KS3", "no"),
    "nothing asked": (game(turn(1, "Player1", "pass", {}), SHARE), "KS3", "na"),
    "asked where asking does not exist": (game(ASK, SHARE, modes=("none", "none")), "KS3", "na"),
    "asked who knows in which space": (game(ASK, SHARE, modes=None), "KS3", None),
    "into its bin": (
        game(ASK, turn(2, "Player2", "move", {"block": "block1", "from": "commonbin", "to": "top_right_bin"})),
        "RU2",
        "yes",
    ),
    "parked": (game(ASK, turn(2, "Player2", "move", {"block": "block1", "from": "top_left_bin", "to": "commonbin"})), "RU2", "no"),
    "unknown object": (game(ASK, turn(2, "Player2", "move", {"block": "block2", "from": "commonbin", "to": "top_left_bin"})), "RU2", "na"),
    "right thought": (game(ASK, turn(2, "Player2", "pass", {}, thought="So block1 should be in the top-right bin.")), "RU1", "yes"),
    "wrong thought": (game(ASK, turn(2, "Player2", "pass", {}, thought="block1 belongs to the bottom left bin. Hm.")), "RU1", "no"),
    "needless doubt": (game(ASK, turn(2, "Player2", "pass", {}, thought="I don't know where block1 belongs.")), "RU1", "no"),
    "rightful doubt": (game(ASK, turn(2, "Player2", "pass", {}, thought="I don't know where block3 belongs.")), "RU1", "yes"),
    "unreadable": (game(ASK, turn(2, "Player2", "pass", {}, thought="block1 is somewhere at the top.")), "RU1", None),
    "wrong beside unreadable": (
        game(ASK, turn(2, "Player2", "pass", {}, thought="block1 is somewhere at the top; block0 goes to the top right bin.")),
        "RU1",
        "no",
    ),
    "seen where it is": (
        game(ASK, turn(2, "Player2", "pass", {}, thought="block0 is in the top left bin, so block1 goes to the top right bin.")),
        "RU1",
        "yes",
    ),
    "said to lie where it does not": (
        game(ASK, turn(2, "Player2", "pass", {}, thought="block0 is in the top right bin, and block1 goes to the top right bin.")),
        "RU1",
        None,
    ),
    "only a plan": (game(ASK, turn(2, "Player2", "pass", {}, thought="I will put block1 into the bottom left bin.")), "RU1", "na"),
    "nothing claimed": (game(ASK, turn(2, "Player2", "pass", {}, thought="I wait.")), "RU1", "na"),
    "no thoughts": (game(ASK, turn(2, "Player2", "pass", {})), "RU1", "na"),
}


@pytest.mark.parametrize("name", CASES)
def test_step_worked_by_hand(name: str) -> None:
    """Player2's answer on turn 2."""
    played, question, answer = CASES[name]
    assert find_check(f"einstein.{question}")(played, 2, "Player2").answer == answer


def test_player_1_moves_a_top_object_to_the_common_bin() -> None:
    """The goal is out of reach, so the common bin is right and the goal is not."""
    for target, answer in (("commonbin", "yes"), ("top_right_bin", "no")):
        played = game(turn(1, "Player1", "move", {"block": "block1", "from": "player1_bin", "to": target}))
        assert find_check("einstein.RU2")(played, 1, "Player1").answer == answer


@pytest.mark.parametrize(
    ("text", "claims", "is_whole"),
    [
        ("Block 2 must go to the Upper Left bin.", [Belongs(block="block2", goal="top_left_bin")], True),
        ("The goal of block_1 is bottom_right_bin", [Belongs(block="block1", goal="bottom_right_bin")], True),
        ("I can't tell where block4 goes; I ask.", [Belongs(block="block4", goal=None)], True),
        ("block1 may belong to the top left bin.", [], False),
        ("block1 does not belong to the top left bin.", [], False),
        ("If block1 belongs to the top left bin, fine.", [], False),
        ("Suppose block1 goes to top_left_bin. Then block2 belongs to bottom_left_bin.", [], False),
        ("Option A: block1 goes to the top left bin. Option B: it stays.", [], False),
        ("Without the relation, block3 is unknown.", [], False),
        ("Let me test whether block1 belongs to the top left bin.", [], False),
        ("Must block1 be in the top left bin, so block1 should go to top_left_bin?", [], False),
        ("block1 should go to the top left bin. No wait, it is the other row.", [], False),
        ("I thought block1 goes to top_left_bin.", [], False),
        ("So block1 goes to the opposite row of top_left_bin.", [], False),
        ("My partner can't know where block1 goes.", [], False),
        ("Player2 cannot infer block3 yet.", [], False),
        ("block3 was unknown before.", [], False),
        ("block1 belongs to the top left or the top right bin.", [], False),
        ("block1 is somewhere at the top.", [], False),
        ("That makes it the top left bin.", [], False),
        ("Seen from my side of the table that is the bottom left bin.", [], False),
        ("The bottom left bin is on my partner's side.", [], True),
        ("I think block1 and block2 belong to the top left bin.", [], False),
        ("I do not know about block1 and block2.", [], False),
        ("I move block1 from the top left bin to the common bin.", [], True),
        ("block1 goes to the same row as block0, so I share that.", [], True),
        ("My partner asked about block3. I cannot reach the top left bin.", [], True),
        ("block1 is still in the common bin, and block2 is in the player1's bin.", [], True),
        (
            "I know that block0 is in the top-left bin, and block1 is in the row of block0. So block1 should go to the top-right bin.",
            [Belongs(block="block1", goal="top_right_bin")],
            True,
        ),
        ("My partner believes block1 belongs to the top left bin.", [], False),
        ("Nothing to do here.", [], True),
    ],
)
def test_only_plain_sentences_are_read(text: str, claims: list[Belongs], *, is_whole: bool) -> None:
    """What hedges, denies, compares or reports is left unread, and said to be."""
    found = read_thoughts(text)
    belongs = [replace(told.claim, words="") for told in found.claims if isinstance(told.claim, Belongs)]
    assert (belongs, not found.unread) == (claims, is_whole)
    assert all(told.claim.words in text for told in found.claims)


# -- visible evidence ----------------------------------------------------------------------------------------------------------------------


def shown(store: Store, name: str, variant: str | None = None) -> list[dict[str, str]]:
    """Every prompt of a rubric over a few games: piece -> its text."""
    ids = query(store, "select episode_id from episodes order by 1 limit 6").to_series().to_list()
    rubric = find(name).with_variant(variant)
    maker = PromptMaker(rubric)
    prompts = [prompt for played in load(store, ids) for unit in units(rubric, played, None) for prompt in maker.prompts(unit)]
    return [{piece: " ".join(head + text for head, text in entries) for piece, entries in prompt.shown.items()} for prompt in prompts]


def test_judges_of_sharing_see_neither_thoughts_nor_places_nor_outcomes(judged: Store) -> None:
    """Only the chosen action, items, earlier shares and the question; the variant adds the engine's answer."""
    for prompt in shown(judged, "knowledge_sharing"):
        assert list(prompt) == ["judged_agent", "held_items", "shares_so_far", "question_before", "chosen_action"]
        text = json.dumps(prompt)
        assert "player1_bin:" not in text
        assert "accepted" not in text
        assert "refused" not in text
    assert any("refused" in prompt["step_outcome"] for prompt in shown(judged, "knowledge_sharing", "outcome"))


def test_judges_of_rules_work_out_for_themselves_what_follows(judged: Store) -> None:
    """No goal stands in a prompt but those that items or placed objects give away; who judges the move does not see the thoughts."""
    prompts = shown(judged, "rule_understanding")
    assert {tuple(prompt)[3:] for prompt in prompts} == {("private_reasoning",), ("reachable_bins", "chosen_action")}
    assert all("follow" not in json.dumps(prompt) for prompt in prompts if "private_reasoning" not in prompt)
    assert all("follow" in prompt["inferences"] for prompt in shown(judged, "rule_understanding", "inferences"))


def test_nothing_of_the_goal_or_the_partner_reaches_a_judge(judged: Store) -> None:
    """A canary in goal, partner's knowledge, outcomes, persona, model and, for sharing, thoughts turns up in no prompt."""
    (played,) = load(judged, query(judged, "select episode_id from episodes order by 1 limit 1").to_series().to_list())
    canary = "zqcanaryqz"
    agents = {name: AgentView(name, "player", canary, {"items": [canary]}, None) for name in played.agents}
    details = {**played.details, "x": canary}
    for name in RUBRICS:
        rubric = find(name)
        turns = tuple(_spoil(view, canary, hide_thoughts=name == "knowledge_sharing") for view in played.turns)
        spoiled = Transcript("e", "einstein", canary, canary, {"x": canary}, {"bins": canary}, details, agents, turns)
        for unit in units(rubric, spoiled, None):
            for prompt in PromptMaker(rubric).prompts(unit):
                assert canary not in prompt.evidence()


def _spoil(view: TurnView, canary: str, *, hide_thoughts: bool) -> TurnView:
    """Plant the canary in all that no judge of this step may see."""
    (acting,) = {action.agent for action in view.actions}
    knowledge = {
        name: (known if name == acting else {"items": [canary], "infers": {canary: canary}})
        for name, known in view.state_before["knowledge"].items()
    }
    actions = tuple(ActionView(a.agent, a.verb, a.arguments, a.accepted, canary, canary) for a in view.actions)
    state = {"bins": view.state_before["bins"], "knowledge": knowledge}
    said = tuple(UtteranceView(u.seq, u.agent, u.channel, u.audience, canary, superseded=False) for u in view.utterances)
    return TurnView(view.turn, state, {"bins": canary}, said if hide_thoughts else view.utterances, actions, (), None, None, canary, None)
