"""Plain words between cooks: what asks for something, what does not, and what was not understood; and what the rules of the loop drop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import cotrace
from analytics.query import query
from games.overcooked.engine.world import Rules
from games.overcooked.setup import GameSetup, Kitchen, Switches, course_of, header_of
from games.overcooked.text.prompts import AGENT_RULES
from games.overcooked.text.replies import heard
from games.players.course import Reply
from games.players.player import Observation
from games.players.setup import DEFAULT_START
from schemas.game import LogWriter, ReplyEntry, Turn
from schemas.store.store import Store
from tests.masters import held_open

CHEF, HELPER = 0, 1


@pytest.mark.parametrize(
    ("say", "responder", "offered", "actions"),
    [
        ("it's on the counter, pick it up", CHEF, "egg", ["pickup(egg,counter)"]),
        (
            "The tofu is on the counter now, you can grab it right away. Is there anything else you need?",
            CHEF,
            "",
            ["pickup(tofu,counter)"],
        ),
        ("it's ready, deliver", CHEF, "", ["deliver_soup()"]),
        (
            "Chef, the boiled_egg is ready in the pot, pick it up and serve it! [END]",
            CHEF,
            "",
            ["pickup(boiled_egg,pot0)", "deliver_soup()"],
        ),
        ("Could you bring me an onion?", HELPER, "", ["pickup(onion,ingredient_dispenser)", "place_obj_on_counter()"]),
        ("I need a carrot.", HELPER, "", ["pickup(carrot,ingredient_dispenser)", "place_obj_on_counter()"]),
        ("Now fetch a dish and put it on the counter, please.", HELPER, "", ["pickup(dish,dish_dispenser)", "place_obj_on_counter()"]),
        (
            "Please pickup(egg, ingredient_dispenser) and then place_obj_on_counter(). [END]",
            HELPER,
            "",
            ["pickup(egg,ingredient_dispenser)", "place_obj_on_counter()"],
        ),
        ("Take the potato and cut it.", HELPER, "", ["pickup(potato,ingredient_dispenser)", "cut(chopping_board0)"]),
        ("Great, thank you! [END]", CHEF, "", []),
        ("Sure, I'll get a tofu and leave it on the counter for you. [END]", CHEF, "", []),
        ("I don't need anything else, I will bake and serve it now.", HELPER, "", []),
        ("What should I do next?", CHEF, "", []),
        ("[NOTHING]", CHEF, "", []),
    ],
)
def test_a_message_in_plain_words_is_understood(say: str, responder: int, offered: str, actions: list[str]) -> None:
    """Whole: every clause, so that what it does not ask for is known as well."""
    found = heard(say, responder, offered)
    assert (list(found.actions), found.unread) == (actions, ())


@pytest.mark.parametrize(
    "say",
    [
        "If the pot is free, cook the egg.",
        "Do not pick it up yet.",
        "Do not pickup(egg, counter)",
        "Pick it up when the timer rings",
        "I put the egg on the counter and pick it up",
        "Pick it up.",
        "The usual, like last time!",
        "Never deliver that",
        "Did you put the egg on the counter?",
        "Have you put it on the counter? Please do it.",
        "Now an egg, please.",
        "An egg would be great.",
        "I need an egg and a dish on the counter.",
        "Please bring an egg, then another egg.",
        "I will wait for you to bring the egg.",
        "You put the egg on the counter, thanks!",
        "Hold off on the dish.",
    ],
)
def test_what_is_not_understood_is_known(say: str) -> None:
    """Conditions, negations, unknown words, an "it" that nothing names: no conclusion may rest on such a message."""
    assert heard(say, CHEF).unread


def game_of(order: str, rules: Rules, name: str) -> GameSetup:
    return GameSetup(
        order=order,
        taken={"Chef": "m", "Assistant": "m"},
        rules=rules,
        horizon=24,
        switches=Switches(name=name, agents=AGENT_RULES[name]),
        seed=1,
        started_at=DEFAULT_START,
    )


def played(game: GameSetup, path: Path, reply: Callable[[Observation], str]) -> None:
    """Play a game by what a function replies, into a log with these replies."""
    course, replies = course_of(game, Kitchen.of(game)), list[ReplyEntry]()
    with LogWriter(path, header_of(game)) as log:
        step = next(course)
        try:
            while True:
                if isinstance(step, Turn):
                    log.turn(replace(step, replies=tuple(replies)))
                    replies = []
                    step = course.send(())
                    continue
                texts = [reply(each) for each in step]
                replies += [ReplyEntry(agent=each.agent, purpose=each.purpose, text=text) for each, text in zip(step, texts, strict=True)]
                step = course.send(tuple(map(Reply, texts)))
        except StopIteration as ended:
            log.end(ended.value)


def form(role: str, plan: str, say: str = "[NOTHING]") -> str:
    return f"{role} analysis: as it stands\n{role} plan: {plan}\n{role} say: {say}"


EGG = "pickup(egg, ingredient_dispenser); place_obj_on_counter()"
COOK = "pickup(egg, counter); put_obj_in_utensil(pot0); cook(pot0)"


def cooks(words: str) -> Callable[[Observation], str]:
    """The Chef asks in plain words, its plan begins with a wait; the Assistant fetches, and then says some words once."""
    once = {"asked": False, "told": False}

    def reply(seen: Observation) -> str:
        if seen.agent == "Chef":
            if not once["asked"]:
                once["asked"] = True
                return form("Chef", "wait(1)", "Please bring me an egg.")
            return form(
                "Chef", f"wait(3); {COOK}" if seen.purpose != "answer" else COOK, "[END]" if seen.purpose == "closing" else "[NOTHING]"
            )
        if seen.purpose == "answer":
            return form("Assistant", EGG, "On it! [END]")
        if (
            seen.purpose == "turn"
            and not once["told"]
            and "place_obj_on_counter" in seen.messages[-1]["content"].rpartition("<input>")[2].partition("Lessons")[0]
        ):
            once["told"] = True
            return form("Assistant", "wait(5)", words)
        return form("Assistant", "wait(5)", "[END]" if seen.purpose == "closing" else "[NOTHING]")

    return reply


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = tmp_path_factory.mktemp("spoken")
    words = {
        "request": "It's on the counter, pick it up!",
        "report": "The egg is on the counter.",
        "riddle": "Once upon a counter lay an egg...",
    }
    for name, text in words.items():
        played(game_of("boiled_egg", "published", "published"), home / f"{name}.jsonl", cooks(text))
    opened = cotrace.open(home / "store.duckdb")
    assert opened.ingest(home).rejected == []
    opened.judge("overcooked_initiating", judge="engine")
    opened.judge("overcooked_responding", judge="engine")
    yield from held_open(Store(home / "store.duckdb"))


def test_a_request_in_plain_words_is_a_request(store: Store) -> None:
    """Right by what was asked for, "no request" only of a message understood whole, else undecided."""
    rows = query(
        store,
        "SELECT regexp_extract(file, '(\\w+)\\.jsonl', 1) AS name, agent, answer, status FROM verdicts "
        "INNER JOIN episodes USING (episode_id) WHERE question = 'IC1' AND status <> 'skipped'",
    )
    found = {(name, agent): (answer, status) for name, agent, answer, status in rows.rows()}
    assert {found[name, "Chef"] for name in ("request", "report", "riddle")} == {("correct", "answered")}
    assert found["request", "Assistant"] == ("correct", "answered")
    assert found["report", "Assistant"] == ("no_request", "answered")
    assert found["riddle", "Assistant"] == (None, "undecided")
    failures = query(
        store,
        "SELECT regexp_extract(file, '(\\w+)\\.jsonl', 1) AS name, taxonomy, category FROM failures INNER JOIN episodes USING (episode_id) "
        "WHERE agent = 'Assistant' AND (taxonomy LIKE '%initiating' OR taxonomy LIKE '%paper' OR taxonomy LIKE '%read')",
    )
    assert set(failures.rows()) == {
        ("request", "overcooked_initiating", "correct"),
        ("request", "overcooked_paper", "correct"),
        ("report", "overcooked_initiating", "no_request"),
        ("report", "overcooked_paper", "irrelevant"),
        ("riddle", "overcooked_read", "not_understood"),
    }


def test_a_wait_that_the_rules_drop_is_no_failure_of_the_agent(store: Store) -> None:
    """The action behind it is tried at once and refused: that is counted apart, and not among the team's refused actions."""
    rows = query(
        store,
        "SELECT DISTINCT taxonomy, category, evidence LIKE '%wait(3)%' AS named FROM failures "
        "WHERE agent = 'Chef' AND category LIKE '%wait%'",
    )
    assert rows.rows() == [("overcooked_harness", "dropped_wait", True)]
    assert query(store, "SELECT count(*) FROM failures WHERE category = 'V_NO_COUNTER_ITEM'").item() == 0
    assert query(store, "SELECT count(*) FROM actions WHERE error_code = 'V_NO_COUNTER_ITEM'").item() > 0
    assert query(store, "SELECT DISTINCT failed FROM leaderboard").rows() == [(0,)]


@pytest.mark.long
def test_a_plan_that_is_not_carried_out_is_recorded(tmp_path: Path) -> None:
    """By the paper's rules the first plan of a conversation counts; the fuller one is dropped, which is the harness's."""
    count = {"Assistant": 0, "Chef": 0}

    def reply(seen: Observation) -> str:
        if seen.agent == "Chef":
            count["Chef"] += 1
            ends = "[END]" if count["Chef"] > 2 else "And then?"
            return form(
                "Chef", "wait(1)", "Please bring me an egg." if count["Chef"] == 1 else ends if seen.purpose == "closing" else "[NOTHING]"
            )
        count["Assistant"] += seen.purpose == "answer"
        if seen.purpose == "answer":
            return form(
                "Assistant", "pickup(egg, ingredient_dispenser)" if count["Assistant"] == 1 else EGG, f"On it, {count['Assistant']}"
            )
        return form("Assistant", "wait(1)")

    played(game_of("boiled_egg", "sane", "paper"), tmp_path / "game.jsonl", reply)
    opened = cotrace.open(tmp_path / "store.duckdb")
    assert opened.ingest(tmp_path).rejected == []
    rows = query(
        Store(tmp_path / "store.duckdb"), "SELECT turn, agent, category, evidence FROM failures WHERE taxonomy = 'overcooked_harness'"
    )
    ((turn, agent, category, evidence),) = rows.rows()
    assert (turn, agent, category) == (1, "Assistant", "dropped_plan")
    assert "place_obj_on_counter()" in evidence


@pytest.mark.parametrize("rules", ["published", "sane"])
def test_prompts_say_how_products_are_called_what_takes_time_and_what_is_dropped(rules: Rules) -> None:
    """To both agents, the form of the answer last; the published prompt leaves all that out and ends with the state."""
    name = "published" if rules == "published" else "paper"
    full = first_prompts(replace_prompt(game_of("boiled_egg", rules, name), "full"))
    published = first_prompts(replace_prompt(game_of("boiled_egg", rules, name), "published"))
    for role, text in full.items():
        assert "_slices on chopping_board0" in text
        assert "becomes mashed_" in text
        assert "becomes boiled_egg" not in text
        assert "as many timesteps as its way" in text
        assert ("is dropped" in text) == (rules == "published")
        assert f"{role} say:" in text.rpartition("Scene ")[2].strip().splitlines()[-1]
    for text in published.values():
        assert "becomes" not in text
        assert "is dropped" not in text
        assert "say:" not in text.rpartition("Scene ")[2]


def replace_prompt(game: GameSetup, prompt: str) -> GameSetup:
    changed = replace(game, switches=replace(game.switches, prompt=prompt))  # type: ignore[arg-type]
    assert changed.condition["prompt"] == prompt
    return changed


def first_prompts(game: GameSetup) -> dict[str, str]:
    """What each agent is sent when it is first asked."""
    course, found = course_of(game), dict[str, str]()
    step = next(course)
    while len(found) < 2:
        assert not isinstance(step, Turn)
        (seen,) = step
        found.setdefault(seen.agent, seen.messages[-1]["content"])
        step = course.send((Reply(form(seen.agent, "wait(1)")),))
    return found
