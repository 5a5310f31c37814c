"""Models, scripts and people in the kitchen: prompts hold what a role needs, errors are handled by the rule set, logs are played again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from analytics.query import query
from games.overcooked.engine.tasks import recipe_text
from games.overcooked.game import Game
from games.overcooked.setup import GameSetup, Switches, course_of
from games.overcooked.text.prompts import AGENT_RULES, AgentRules, PlayerPrompt, Query, prompt_for
from games.players.course import Reply
from schemas.common.errors import UsageError
from schemas.game import Turn
from tests.games.seats import ingested, play, seat_server, turns, whatever_it_says

ORDERS = ("--task", "boiled_corn_slices", "--task", "sliced_pumpkin_and_chickpea_stew")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (["all=openai/stub"], ("--rules", "published")),
        (["Chef=script:plain", "Assistant=openai/stub"], ("--rules", "paper")),
        (["Chef=openai/stub", "Assistant=script:plain"], ("--rules", "paper", "--memory", "none", "--rounds", "1", "--recipe", "steps:2")),
    ],
)
def test_a_game_over_http_is_the_game_of_the_script_itself(seats: list[str], options: tuple[str, ...], tmp_path: Path) -> None:
    """The server knows the prompt alone, in both rule sets and each role; the order is delivered."""
    assert play("overcooked", tmp_path / "script", ["all=script:plain"], *ORDERS, *options).returncode == 0
    with seat_server("script") as address:
        done = play("overcooked", tmp_path / "logs", seats, *ORDERS, *options, "--base-url", f"{address}/v1")
    assert done.returncode == 0, done.stderr
    played = turns(tmp_path / "logs")
    assert played == turns(tmp_path / "script")
    assert [game[-1]["end"]["success"] for game in played] == [True, True]
    store = ingested(tmp_path)
    found = query(
        store,
        "SELECT within_limit, round(pc, 6) AS pc, initiate_collaboration AS ic, validator_errors_agent_0 AS errors FROM overcooked_games",
    ).rows()
    assert found == [(1, 1.0, 1.0, 0)] * 2


@pytest.mark.long
@pytest.mark.parametrize("mode", ["garbage", "refusal", "empty", "flaky"])
def test_games_end_and_are_played_again_whatever_the_model_says(mode: str, tmp_path: Path) -> None:
    """What cannot be read is asked for again, then waited away; every call is in `calls`."""
    options = ("--task", "boiled_egg", "--turns", "3", "--rules", "paper" if mode == "refusal" else "published")
    store = whatever_it_says("overcooked", tmp_path, mode, *options)
    asked = query(store, "SELECT count(*) AS n FROM calls")["n"].item()
    errors = query(store, "SELECT format_errors_agent_0 + format_errors_agent_1 AS n FROM overcooked_games")["n"].item()
    if mode != "flaky":
        retries = 3 if mode == "refusal" else 2
        assert (asked, errors) == (6 * (1 + retries), 6 * retries)
    assert query(store, "SELECT DISTINCT task_id FROM episodes")["task_id"].to_list() == ["boiled_egg"]


def answered(role: str, plan: str, say: str = "[NOTHING]") -> str:
    return f"{role} analysis: so\n{role} plan: {plan}\n{role} say: {say}"


def first_turn(game: Game, replies: Sequence[str]) -> list[Query]:
    """The queries of the first timestep, answered one by one; whoever is asked beyond that waits."""
    asked: list[Query] = []
    waiting = iter(replies)
    timestep = game.timestep()
    try:
        asked.append(next(timestep))
        while True:
            role = ("Chef", "Assistant")[asked[-1].agent]
            asked.append(timestep.send(next(waiting, answered(role, "wait(1)"))))
    except StopIteration:
        return asked


def test_errors_are_handled_until_the_action_is_valid_or_the_limit() -> None:
    """As published one correction, as in the paper as many as the limit allows, and then the lesson of it."""
    wrong = answered("Chef", "deliver_soup()")
    published = first_turn(Game("boiled_egg", horizon=9), [wrong, wrong, wrong])
    assert [query.kind for query in published if query.agent == 0] == ["turn", "validator"]
    game = Game("boiled_egg", horizon=9, rules="sane", agents=AGENT_RULES["paper"])
    lesson = "Rethink: With an empty hand nothing is delivered. And more."
    asked = first_turn(game, [wrong, wrong, wrong, answered("Chef", "wait(1)"), lesson])
    assert [query.kind for query in asked if query.agent == 0] == ["turn", "validator", "validator", "validator", "reflect"]
    assert [query.kind for query in first_turn(Game("boiled_egg", horizon=9, agents=AgentRules(corrections=0)), [wrong])] == [
        "turn",
        "turn",
    ]
    seen = next(query for query in first_turn(game, []) if query.agent == 0)
    assert "\n1. With an empty hand nothing is delivered.\n" in seen.text
    assert "And more" not in seen.text


def test_conversations_end_after_their_rounds_and_carry_what_was_said() -> None:
    """The talk so far is in the text of whoever is asked; with no rounds nobody is heard."""
    says = [answered(role, "wait(1)", f"word {word}") for role, word in zip(("Chef", "Assistant") * 4, "abcdefgh", strict=True)]
    for rounds, expected in ((0, ["turn"]), (1, ["turn", "answer", "closing"]), (2, ["turn", "answer", "closing", "answer", "closing"])):
        asked = first_turn(Game("boiled_egg", horizon=9, agents=AgentRules(rounds=rounds, ends_on_tag=True)), says[: 1 + 2 * rounds])
        assert [query.kind for query in asked if query.kind != "turn" or query.agent == 0] == expected
    assert "Chef say history turn 1 : word a\nAssistant say history turn 2 : word b\nChef say history turn 3 : word c" in asked[3].text


def test_memory_is_what_the_switch_says() -> None:
    """The last four of many, all, or none."""
    for memory, count in (("last", 4), ("all", 7), ("none", 0)):
        game = Game("boiled_egg", horizon=99, agents=AgentRules(memory=memory))  # type: ignore[arg-type]
        for step in range(7):
            game.recorded[1].append({"timestamp": step, "action": f"pickup(egg{step}, counter)"})
        seen = next(query for query in first_turn(game, []) if query.agent == 1)
        assert seen.text.count("'timestamp'") == count


def prompts(order: str) -> dict[str, PlayerPrompt]:
    game = Game(order, horizon=5)
    return {("Chef", "Assistant")[asked.agent]: prompt_for(asked) for asked in first_turn(game, [])}


def test_a_prompt_holds_what_a_role_needs_and_nothing_that_only_the_partner_knows() -> None:
    """The recipe is the Chef's alone, as are the Assistant's actions to be requested; plans and thoughts of the partner stay away."""
    found = prompts("baked_pumpkin_soup")
    both = ("three fields", "[NOTHING]", "[END]", "Overcooked", "request('action(...)')", "wait(n)", "Scene 0:", "Order:baked_pumpkin_soup")
    for role, prompt in found.items():
        for needed in (*both, f"You are the {role}.", f"{role} analysis:", f"{role} plan:", f"{role} say:", "at most one thing"):
            assert needed in prompt.user, needed
    assert "Put pumpkin into the chopping_board0" in found["Chef"].user
    assert "bake(oven0)" in found["Chef"].user
    assert "cut(chopping_board0)" not in found["Chef"].user
    assert "that you can request" in found["Chef"].user
    assert "You have no recipe" in found["Assistant"].user
    for secret in ("Put pumpkin", "baked pumpkin slices", "bake(oven0)", "deliver_soup", "that you can request"):
        assert secret not in found["Assistant"].user, secret
    game = Game("boiled_egg", horizon=9)
    asked = first_turn(game, ["Chef analysis: canary-thought\nChef plan: request('canary(x)'); wait(1)\nChef say: canary-say"])
    partner = next(query for query in asked if query.agent == 1)
    shown = prompt_for(partner)
    assert "canary-say" in shown.user
    assert "canary-thought" not in shown.user + shown.system
    assert "canary(x)" not in shown.user + shown.system


@pytest.mark.parametrize("kind", ["format", "validator", "reflect"])
def test_a_second_query_says_what_was_wrong(kind: str) -> None:
    """The part that is missing and the output itself, or the refused action with its reason; a correction may not talk."""
    replies = {
        "format": ["Chef say: hello"],
        "validator": [answered("Chef", "deliver_soup()")],
        "reflect": [answered("Chef", "deliver_soup()"), answered("Chef", "wait(1)")],
    }
    game = Game("boiled_egg", horizon=9, rules="sane", agents=AGENT_RULES["paper"])
    asked = next(query for query in first_turn(game, replies[kind]) if query.kind == kind)
    user = prompt_for(asked).user
    needed = {
        "format": ["analysis and plan are missing", "Chef say: hello"],
        "validator": ["Your action deliver_soup() raised an error", "nobody hears you", "Chef say: [NOTHING]"],
        "reflect": ["What worked in the end: wait(1)", "Rethink:", "50 words"],
    }
    assert all(text in user for text in needed[kind])
    assert ("[END]" in user) == (kind == "format")


def test_the_recipe_can_be_told_action_by_action() -> None:
    """Experiments B and C of the paper: five steps in place of the cut, rotated to begin with any of them."""
    plain, steps, third = (recipe_text("boiled_corn_slices", variant=name).splitlines()[3:] for name in ("plain", "steps", "steps:3"))
    assert len(steps) == len(plain) + 4
    assert [line[3:] for line in third[:5]] == [line[3:] for line in (*steps[2:5], *steps[:2])]
    assert steps[5][3:] == plain[1][3:] == third[5][3:]
    for order, variant in (("boiled_egg", "steps"), ("boiled_corn_slices", "steps:6"), ("boiled_corn_slices", "odd")):
        with pytest.raises(UsageError, match="recipe"):
            recipe_text(order, variant=variant)


def test_what_a_model_thinks_apart_is_private() -> None:
    """Reasoning beside the text is an utterance for its author alone."""
    game = GameSetup(
        order="boiled_egg",
        taken={"Chef": "m", "Assistant": "m"},
        rules="published",
        horizon=1,
        switches=Switches(),
        seed=1,
        started_at=datetime(2026, 1, 1),  # noqa: DTZ001 - logs hold local times
    )
    course = course_of(game)
    step = next(course)
    while not isinstance(step, Turn):
        role = step[0].agent
        step = course.send((Reply(answered(role, "wait(1)"), "apart"),))
    private = [(said.agent, list(said.audience or ())) for said in step.utterances if said.text == "apart"]
    assert private == [("Chef", ["Chef"]), ("Assistant", ["Assistant"])]
