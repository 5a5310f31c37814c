"""Scripted games: replayed exactly, with the planted faults found by rule and by the engine judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.experiments.plan import play
from games.overcooked.engine.tasks import task_of
from games.overcooked.engine.world import Rules
from games.overcooked.game import Game
from games.overcooked.players.scripts import POLICIES
from games.overcooked.text.prompts import PlayerPrompt, Query, prompt_for
from ingest.files.run import ingest_paths
from judges.evidence.transcript import load
from judges.overcooked.checks import CHECKS
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.games.overcooked.driven import timestep, timesteps
from tests.ingest.overcooked.overcooked_logs import play_order
from tests.masters import held_open

ORDERS = ("boiled_egg", "mashed_potato_and_pea_patty")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("overcooked_play")
    play("overcooked", folder / "logs", players=[f"all=script:{policy}" for policy in POLICIES], task=list(ORDERS))
    filled = Store(folder / "played.duckdb")
    ingest_paths([folder / "logs"], filled, workers=1)
    ensure_installed(filled)
    yield from held_open(filled)


def test_every_game_replays_exactly(store: Store) -> None:
    """Pictures, recorded actions and points of all games; nothing is rejected."""
    assert query(store, "select count(*) from episodes").item() == len(ORDERS) * len(POLICIES)
    assert query(store, "from log_disagreements").is_empty()
    assert query(store, "from rejects").is_empty()


def test_the_good_team_is_perfect(store: Store) -> None:
    """It takes the published optimal time, and every request and answer is right; against all references its score is 1."""
    found = query(
        store,
        "select task_id, turns_taken, episodes.success, f.value as fair, c.initiate_collaboration, c.respond_collaboration from episodes "
        "inner join episode_metrics as f on episodes.episode_id = f.episode_id and f.metric = 'overcooked.pc_all_references' "
        "inner join overcooked_games as c on episodes.file = c.file where model = 'optimal'",
    )
    for task, steps, success, fair, initiated, responded in found.rows():
        assert steps == task_of(task).time_optimal + 1 - (task == "boiled_egg")
        assert (success, initiated, responded) == (True, 1.0, 1.0)
        assert fair == pytest.approx(1.0)


def test_every_planted_fault_is_named(store: Store) -> None:
    """The rule's category of each request and answer is what its player meant, and each kind of fault occurs."""
    found = query(
        store,
        "select l.answer, f.category from labels as l inner join failures as f on l.episode_id = f.episode_id and l.turn = f.turn "
        "and l.agent = f.agent and l.rubric = f.taxonomy",
    )
    assert len(found) == query(store, "select count(*) from labels where rubric <> 'planted_fault'").item()
    assert found.filter(found["answer"] != found["category"]).is_empty()
    planted = set(query(store, "select distinct question || ' ' || answer from labels").to_series())
    faults = ("premature", "repetitive", "irrelevant", "infeasible", "wrong_parameter", "missing_step")
    assert {f"IC1 {fault}" for fault in faults} <= planted
    assert {f"RC1 {fault}" for fault in ("wrong_parameter", "missing_step", "infeasible", "refused", "followed_wrong_request")} <= planted


def test_the_engine_judge_agrees(store: Store) -> None:
    """What the checks read out of the stored conversation is what was planted."""
    ids = query(store, "select episode_id from episodes order by episode_id").to_series().to_list()
    games = {game.episode_id: game for game in load(store, ids)}
    rows = query(store, "select episode_id, turn, agent, question, answer from labels where rubric <> 'planted_fault'").rows()
    wrong = [
        (agent, question, answer)
        for episode, turn, agent, question, answer in rows
        if CHECKS[f"overcooked.{question}"](games[episode], turn, agent).answer != answer
    ]
    assert wrong == []


def test_the_turns_of_a_planted_fault_are_told(store: Store) -> None:
    """Each faulty team marks the turns in which its fault shows, the good one none."""
    shown = dict(
        query(
            store,
            "select model, count(distinct turn) from episodes left join labels on labels.episode_id = episodes.episode_id "
            "and rubric = 'planted_fault' and planted = answer group by all",
        ).rows()
    )
    assert shown.pop("optimal") == 0
    assert min(shown.values()) > 0


def test_a_turn_without_conversation_is_not_judged(store: Store) -> None:
    """The silent Chef asks for nothing: not applicable, for either agent."""
    (episode,) = query(store, "select episode_id from episodes where model = 'silent' and task_id = 'boiled_egg'").to_series()
    (game,) = load(store, [episode])
    answers = {check(game, turn.turn, agent).answer for turn in game.turns for check in CHECKS.values() for agent in game.agents}
    assert answers == {"na"}


def test_the_sane_rules_record_fillings_rightly() -> None:
    """Without the engine's defects the Chef's last actions at the oven carry their own name."""
    *_, log = play_order("mashed_potato_and_pea_patty", "optimal", rules="sane")
    assert [entry["action"] for entry in log["total_action_list"][0]][-2:] == ["fill_dish_with_food(oven0)", "deliver_soup()"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"players": ["all=script:optimum"]}, "no script of that name for a chef: did you mean optimal"),
        ({"task": ["soup"]}, "no overcooked order 'soup'"),
        ({"level": [7]}, "no overcooked level 7"),
        ({"turns": 0}, "turns is 0: input should be greater than or equal to 1"),
    ],
)
def test_wrong_requests(tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    """Each is told in one line before anything is played."""
    with pytest.raises(UsageError, match=message):
        play("overcooked", tmp_path / "logs", **asked)
    assert not (tmp_path / "logs").exists()


def test_a_language_model_plays_from_its_prompt_alone() -> None:
    """The Chef's prompt has the recipe, the Assistant's has not; a refused action is asked about once more, then waited away."""
    prompts: list[PlayerPrompt] = []

    def complete(prompt: PlayerPrompt) -> str:
        prompts.append(prompt)
        role = "Chef" if "You are the Chef." in prompt.user else "Assistant"
        return f"{role} analysis: go\n{role} plan: deliver_soup()\n{role} say: [NOTHING]"

    class Prompted:
        def answer(self, query: Query) -> str:
            return complete(prompt_for(query))

    game = Game("boiled_egg", horizon=1)
    entry = timestep(game, (Prompted(), Prompted()))
    chef, again, *_ = [prompt.user for prompt in prompts if "You are the Chef." in prompt.user]
    assistant = next(prompt.user for prompt in prompts if "You are the Assistant." in prompt.user)
    assert "Put egg into the pot0" in chef
    assert "Put egg" not in assistant
    assert "Your hand is empty" in again
    assert entry["actions"] == ["wait(1)", "wait(1)"]
    assert [errors["validator_error"]["error_num"] for errors in entry["statistical_data"]["error"]] == [1, 1]
    assert game.over


class _Fixed:
    """A player that reads its outputs off a list, the last one again and again."""

    def __init__(self, *outputs: str) -> None:
        self._outputs = list(outputs)

    def answer(self, query: Query) -> str:  # noqa: ARG002 - whatever is asked
        return self._outputs.pop(0) if len(self._outputs) > 1 else self._outputs[0]


def said(role: str, plan: str, say: str = "[NOTHING]") -> str:
    return f"{role} analysis: a\n{role} plan: {plan}\n{role} say: {say}"


IDLE = said("Assistant", "wait(1)")


def entries(chef: tuple[str, ...], assistant: tuple[str, ...], steps: int, rules: Rules = "published") -> list[dict[str, Any]]:
    game = Game("boiled_egg", horizon=steps, rules=rules)
    return list(timesteps(game, (_Fixed(*chef), _Fixed(*assistant))))


@pytest.mark.parametrize(
    ("rules", "in_force"),
    [("published", ["pickup(egg,ingredient_dispenser)"]), ("sane", ["wait(2)", "pickup(egg,ingredient_dispenser)"])],
)
def test_a_wait_before_other_items(rules: Rules, in_force: list[str]) -> None:
    """As published it is dropped; the sane rules wait first."""
    plan = said("Assistant", "wait(2);pickup(egg,ingredient_dispenser)")
    found = entries((said("Chef", "wait(1)"),), (plan,), 3, rules)
    assert list(dict.fromkeys(entry["actions"][1] for entry in found)) == in_force


def test_a_numbered_action_is_carried_out() -> None:
    """Published logs have `1. wait(4)` in force: numbering does no harm, but to the two actions that must be written exactly."""
    found = entries((said("Chef", "1. wait(3)"),), (said("Assistant", "1. pickup(egg, ingredient_dispenser)"),), 3)
    assert [entry["actions"] for entry in found] == [["1. wait(3)", "1. pickup(egg, ingredient_dispenser)"]] * 3
    assert sum(errors["validator_error"]["error_num"] for entry in found for errors in entry["statistical_data"]["error"]) == 0


def test_an_action_behind_a_request_stays_in_the_queue() -> None:
    """The queue receives all items but the first, so that the action is scheduled once more (section 5.3)."""
    plan = said("Assistant", "request('cook(pot0)');pickup(egg,ingredient_dispenser)")
    (entry,) = entries((said("Chef", "wait(1)"),), (plan,), 1)
    assert entry["content"]["action_list"][1] == ["pickup(egg,ingredient_dispenser)", "pickup(egg,ingredient_dispenser)"]


def test_a_blank_behind_a_request_makes_an_action_invalid() -> None:
    """` place_obj_on_counter()` is not the action's exact text; reached otherwise the blank does no harm."""
    (entry,) = entries((said("Chef", "request('x()'); deliver_soup()"), said("Chef", "wait(1)")), (IDLE,), 1)
    assert "please check your plan" in entry["statistical_data"]["error"][0]["validator_error"]["error_message"][0]


@pytest.mark.parametrize(("rules", "messages"), [("published", 3), ("sane", 5)])
def test_the_letters_end_inside_a_word(rules: Rules, messages: int) -> None:
    """The word friend ends a conversation as published; the sane rules go on until the opener repeats itself."""
    chef = (said("Chef", "wait(1)", "Hello"), said("Chef", "wait(1)", "My friend"), said("Chef", "wait(1)", "My friend"))
    (entry,) = entries(chef, (said("Assistant", "wait(1)", "One"), said("Assistant", "wait(1)", "Two"), IDLE), 1, rules)
    assert len(entry["content"]["content"][0]) == messages
    assert entry["statistical_data"]["communication"][0]["call"] == 1


@pytest.mark.parametrize(
    ("output", "retries"),
    [("Chef analysis: a\nChef plan: first: wait(1)\nChef say: [NOTHING]", 1), ("Chef analysis: a\nChef say: [NOTHING]", 2)],
)
def test_a_plan_that_stays_missing_is_waited_away(output: str, retries: int) -> None:
    """One retry for a malformed plan; two where its label is absent too. Failed ones count as corrections."""
    (entry,) = entries((output,), (IDLE,), 1)
    statistics = entry["statistical_data"]
    assert statistics["error"][0]["format_error"]["error_num"] == retries
    assert statistics["error_correction"][0]["format_correction"]["correction_num"] == retries
    assert (entry["actions"][0], entry["content"]["content"][0][0]["plan"]) == ("wait(1)", "")
