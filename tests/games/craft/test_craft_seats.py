"""Models, scripts and people at CRAFT's table: what a prompt holds, what it must not, and games that end whatever a server does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path

import pytest

from analytics.query import query
from games.craft.engine.board import COLORS, DIRECTORS, Board, Director
from games.craft.engine.rules import accepts
from games.craft.game import Game, GameSettings, Rules
from games.craft.setup import ROLES, SCRIPTS, GameSetup, course_of
from games.craft.targets import StructureRules, generate_structures
from games.craft.text.prompts import ARCHETYPES, archetypes, builder_messages, director_messages
from games.craft.text.replies import NO_MESSAGE, ParsedMove, Unreadable, parse_line, read_answer, read_director
from games.players.course import Reply
from games.players.player import Observation, written_out
from games.players.setup import PlayerSetup
from ingest.files.run import ingest_paths
from schemas.chat.messages import NO_TOKENS, Completion, ToolCall
from schemas.common.errors import UsageError
from schemas.game import Turn
from schemas.store.store import Store
from tests.games.seats import KEY, command_of, ingested, play, seat_server, stats, turns

TARGETS = ("--games", "2")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "seats", [["all=openai/stub"], ["directors=openai/stub", "builder=script:plain"], ["directors=script:plain", "builder=openai/stub"]]
)
@pytest.mark.parametrize("switch", ["--oracle", "--no-oracle"])
def test_a_game_over_http_is_the_game_of_the_script_itself(seats: list[str], switch: str, tmp_path: Path) -> None:
    """The server knows the prompt alone: it holds all that a role needs, and reading the reply loses nothing."""
    options = ("--turns", "12", "--reachable", switch)
    assert play("craft", tmp_path / "script", ["all=script:plain"], *TARGETS, *options).returncode == 0
    with seat_server("script") as address:
        done = play("craft", tmp_path / "model", seats, *TARGETS, "--base-url", f"{address}/v1", *options)
    assert done.returncode == 0, done.stderr
    assert turns(tmp_path / "model") == turns(tmp_path / "script")
    played = turns(tmp_path / "script")
    assert len(played) == 2
    assert f"2 games with {sum(len(game) - 1 for game in played)} turns played" in done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["garbage", "refusal", "empty", "flaky"])
def test_games_end_and_replay_whatever_the_model_says(mode: str, tmp_path: Path) -> None:
    """Every call is on record in the log and in `calls`; the replay finds no difference."""
    with seat_server(mode) as address:
        play("craft", tmp_path / "logs", ["all=openai/stub"], *TARGETS, "--base-url", f"{address}/v1", "--turns", "4")
    store = Store(tmp_path / "s.duckdb")
    report = ingest_paths([tmp_path / "logs"], store, workers=1)
    assert (report.episodes, report.rejected) == (2, [])
    assert query(store, "SELECT * FROM log_disagreements").is_empty()
    found = query(store, "SELECT count(*) AS calls, count(DISTINCT agent) AS agents, sum(tokens_out) AS tokens FROM calls").to_dicts()[0]
    assert found["calls"] == 2 * 4 * 4
    assert found["tokens"] >= 10 * found["calls"]
    assert query(store, "SELECT DISTINCT turns_taken FROM episodes")["turns_taken"].to_list() == [4]


@pytest.mark.long
def test_a_killed_run_pays_for_no_reply_twice_and_ends_as_it_would_have(tmp_path: Path) -> None:
    """Kill -9 in the middle; the second start asks only for what had not arrived."""
    options = ("--turns", "12", "--reachable")
    assert play("craft", tmp_path / "script", ["all=script:plain"], *TARGETS, *options).returncode == 0
    out = tmp_path / "model"
    with seat_server("slow") as address:
        before = stats(address)["requests"]  # of other tests in this process
        base = ["--base-url", f"{address}/v1", *options]
        command = command_of("craft", out, ["all=openai/stub"], *TARGETS, *base)
        with subprocess.Popen(command, env=os.environ | {"OPENAI_API_KEY": "x"}, stderr=subprocess.DEVNULL) as process:
            while stats(address)["requests"] < before + 60:  # more than can be under way at once
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
        done = play("craft", out, ["all=openai/stub"], *TARGETS, *base)
        assert done.returncode == 0, done.stderr
        requests = stats(address)["requests"] - before
    assert "used again" in done.stderr
    assert requests <= sum(len(turn["utterances"]) for game in turns(out) for turn in game if "turn" in turn)  # thoughts and messages
    assert turns(out) == turns(tmp_path / "script")


def test_prompts_hold_what_they_must_and_nothing_that_others_know() -> None:
    """Canaries: no view of another director, no candidate and no target in a prompt that must not have it."""
    (structure,) = generate_structures(1, 5, StructureRules())
    game = Game(structure, GameSettings(max_turns=5), seed=1)
    for director in DIRECTORS:
        seen = game.observe_director(director)
        for archetype in ARCHETYPES:
            system, user = director_messages(seen, archetype)
            assert "three directors" in system["content"]
            assert f"You are {director}." in user["content"]
            for needed in ("<think>", "<message>", "35 words", archetype, "row_0", "bottom, middle", "The conversation so far"):
                assert needed in user["content"], needed
            assert "Verified moves" not in user["content"]
            others = [game.observe_director(other).target_view for other in DIRECTORS if other != director]
            text = user["content"].split("The board now")[1]
            for other in others:
                rows = {f"row_{layer}": [{"color": block.color, "size": block.size} for block in row] for layer, row in enumerate(other)}
                assert json.dumps(rows) not in text
    system, user = builder_messages(game.observe_builder(), oracle=True)
    assert ("Verified moves" in user["content"], "must choose exactly one" in system["content"]) == (True, True)
    assert "target" not in json.dumps(game.observe_builder().discussion)
    plain = builder_messages(Game(structure, GameSettings(oracle=False), seed=1).observe_builder(), oracle=False)
    assert "Verified moves" not in plain[1]["content"]
    for needed in ("PLACE:", "REMOVE:", "CLARIFY:", "span_to", "(1,1)", "D3: (0,2) (1,2) (2,2)"):
        assert needed in user["content"]


def asked_in_turn(speakers: tuple[Director, ...], rules: Rules) -> list[list[Observation]]:
    """What is asked in a first turn in which these directors speak, step by step."""
    (structure,) = generate_structures(1, 5, StructureRules())
    game = GameSetup(
        structure=structure,
        characters=archetypes(0, 1),
        settings=GameSettings(max_turns=1, rules=rules),
        taken=dict.fromkeys(ROLES, "m"),
        seed=1,
        started_at=datetime(2026, 1, 1),  # noqa: DTZ001 - logs hold local times
    )
    course, steps, number = course_of(game, [speakers]), list[list[Observation]](), 0
    step = next(course)
    while not isinstance(step, Turn):
        steps.append([*step])
        answers = []
        for seen in step:
            number += 1
            answers.append(Reply("OK" if seen.agent == "Builder" else f"<think>t</think><message>message {number}</message>"))
        step = course.send(tuple(answers))
    return steps


def test_a_director_who_is_drawn_again_knows_what_it_said() -> None:
    """It is asked after its first reply, is shown that and nothing of the others; the builder reads all in the order of the draw."""
    first, second, (builder,) = asked_in_turn(("D2", "D1", "D2"), "sane")
    assert [[seen.agent for seen in step] for step in (first, second)] == [["D2", "D1"], ["D2"]]
    before, again = (step[0].messages[1]["content"] for step in (first, second))
    assert "message 1" in again
    assert "message 2" not in again
    assert "You have spoken in this turn already" not in before
    assert "D2: message 1\nD1: message 2\nD2: message 3" in builder.messages[1]["content"]


def test_the_published_rules_say_nothing_of_it_and_drop_the_earlier_message() -> None:
    """All are asked at once with the same prompt, and the builder reads the last message of each."""
    first, (builder,) = asked_in_turn(("D2", "D1", "D2"), "published")
    assert [seen.agent for seen in first] == ["D2", "D1", "D2"]
    assert first[0].messages == first[2].messages
    assert "message 1" not in builder.messages[1]["content"]
    assert "D1: message 2\nD2: message 3" in builder.messages[1]["content"]
    assert "PLACE:block:position:layer" in builder.messages[1]["content"]


@pytest.mark.parametrize("simulations", [0, 2])
def test_no_line_of_a_prompt_is_a_possible_answer_and_the_form_comes_last(simulations: int) -> None:
    """Copied, an example is refused by the engine, and is no message about a block of the game; nothing asks for what is not shown."""
    (structure,) = generate_structures(1, 5, StructureRules())
    game = Game(structure, GameSettings(), seed=1)
    chats = {kind: builder_messages(game.observe_builder(), oracle=kind, simulations=simulations) for kind in (True, False)}
    for _, user in chats.values():
        lines = [line for line in user["content"].splitlines() if line.startswith(("PLACE:", "REMOVE:", "CLARIFY:"))]
        assert len(lines) == 4
        assert all(isinstance(read_answer(line), Unreadable) for line in lines)
        moves = [parse_line(line) for line in lines[:3]]
        assert all(isinstance(answer, ParsedMove) and not accepts(Board(), answer.move) for answer in moves)
        assert all(line in user["content"].split("\n\n")[-1] for line in lines)
        assert "failed before" not in user["content"]
        assert ("Do first what two or more directors agree on" in user["content"]) != ("listed moves" in user["content"])
    director = director_messages(game.observe_director("D1"), "cautious")[1]["content"]
    form = director.split("\n\n")[-1]
    assert read_director(form).message == NO_MESSAGE
    assert not any(color in form for color in COLORS.values())


@pytest.mark.parametrize(
    ("seats", "message"),
    [
        (["directrs=script:plain"], "did you mean directors"),
        (["directors=script:plain"], "no one plays Builder"),
        (["all=script:plain", "builder=human"], "played by script:plain already"),
        (["all=script:nobody"], "there are plain"),
        (["all=gpt-4o"], "provider/model"),
        (["all"], "ROLE=PLAYER"),
    ],
)
def test_wrong_seats_are_one_line(seats: list[str], message: str) -> None:
    """What is wrong, and what would be right."""
    with pytest.raises(UsageError, match=message):
        PlayerSetup(ROLES, SCRIPTS).taken(seats)


def test_a_model_without_key_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a game begins."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delitem(KEY, "OPENAI_API_KEY")
    done = play("craft", tmp_path, ["all=openai/gpt-4o"], "--games", "1")
    assert (done.returncode, len(done.stderr.strip().splitlines()), "OPENAI_API_KEY" in done.stderr) == (2, 1, True)


def test_limits_that_no_reply_could_keep_are_one_line(tmp_path: Path) -> None:
    """Before a game begins, as in an experiment: a budget below the price of one reply, and one for a model without a price."""
    for model, told in (("openai/gpt-4o", "max_cost 1e-06 USD contradicts max_tokens 2000"), ("openai/unheard-of", "needs a price")):
        done = play("craft", tmp_path / "logs", [f"all={model}"], "--games", "1", "--max-cost", "0.000001")
        assert (done.returncode, done.stderr.count("\n"), told in done.stderr) == (2, 1, True), done.stderr
    assert not (tmp_path / "logs").exists()


def test_a_person_takes_a_seat_in_the_terminal(tmp_path: Path) -> None:
    """The person sees the builder's situation and answers a line; the game goes on with it."""
    command = command_of("craft", tmp_path, ["directors=script:plain", "builder=human"], "--games", "1", "--turns", "2")
    said = "CLARIFY:Where?\n\nPLACE:gs:(0,0):0:CONFIRM:a try\n\n"
    done = subprocess.run(command, input=said, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (game,) = turns(tmp_path)
    assert [turn["actions"][0]["verb"] for turn in game if "turn" in turn] == ["clarify", "place"]
    assert "What the directors say this turn" in done.stdout + done.stderr


@pytest.mark.long
def test_the_builder_tries_moves_before_it_decides(tmp_path: Path) -> None:
    """Over HTTP as by the script itself; each trial is a call and a reply, the line alone is the move."""
    options = ("--simulations", "2", "--no-oracle", "--reachable", "--turns", "6", "--speakers", "2", "--history", "4")
    seats = ["directors=script:plain", "builder=script:simulating"]
    assert play("craft", tmp_path / "script", seats, *TARGETS, *options).returncode == 0
    with seat_server("script") as address:
        done = play(
            "craft", tmp_path / "logs", ["directors=script:plain", "builder=openai/stub"], *TARGETS, *options, "--base-url", f"{address}/v1"
        )
    assert done.returncode == 0, done.stderr
    assert turns(tmp_path / "logs") == turns(tmp_path / "script")
    store = ingested(tmp_path)
    first = turns(tmp_path / "logs")[0][0]
    builder = [reply["text"] for reply in first["replies"] if reply["agent"] == "Builder"]
    assert [text.startswith("SIMULATE:") for text in builder] == [True, False]
    assert first["actions"][0]["raw"] == builder[-1]
    assert len([said for said in first["utterances"] if said["channel"] == "public"]) == 3  # two directors, and the builder
    assert query(store, "SELECT DISTINCT condition ->> 'builder_tool_use' AS tool FROM runs")["tool"].to_list() == ["true"]
    calls = query(store, "SELECT count(*) AS n FROM calls")["n"].item()
    assert calls == sum(reply["agent"] == "Builder" for game in turns(tmp_path / "logs") for turn in game[:-1] for reply in turn["replies"])


def test_a_model_calls_the_simulation_as_a_tool_of_its_protocol(tmp_path: Path) -> None:
    """The game is that of the script with its lines, turn by turn; replies stand in the log in the game's grammar, and it is read again."""
    options = ("--simulations", "2", "--no-oracle", "--reachable", "--turns", "3")
    seats = ["directors=script:plain", "builder=script:simulating"]
    assert play("craft", tmp_path / "script", seats, *TARGETS, *options).returncode == 0
    with seat_server("script") as address:
        models = ["directors=script:plain", "builder=openai/stub", "--provider-tool"]
        done = play("craft", tmp_path / "logs", models[:2], *TARGETS, *options, models[2], "--base-url", f"{address}/v1")
    assert done.returncode == 0, done.stderr
    assert turns(tmp_path / "logs") == turns(tmp_path / "script")
    store = ingested(tmp_path)
    assert query(store, "SELECT DISTINCT condition ->> 'provider_tool' AS tool FROM runs")["tool"].to_list() == ["true"]
    reasons = query(store, "SELECT step, finish_reason, count(*) FROM calls GROUP BY ALL ORDER BY ALL").rows()
    assert {step for step, *_ in reasons} == {"act", "simulated"}


def test_what_a_model_with_tools_is_sent() -> None:
    """No word of lines to write, the tool while calls are left, each result for its call; an answer with too many calls is forgotten."""
    call = ToolCall("c1", "simulate_move", '{"move": {"action": "place", "block": "rs", "position": "(0,0)", "layer": 0}}')
    asked = builder_asked(["SIMULATE: " + call.arguments, "CLARIFY:so"], provider_tool=True)
    first, second = (seen.tool for seen in asked)
    assert first is not None
    assert second is not None
    assert "SIMULATE" not in "".join(message["content"] for message in first.messages)
    assert [tool.name for tool in first.tools] == ["simulate_move"]
    reply = Completion("", "tool_calls", NO_TOKENS, tool_calls=(call,))
    assert written_out(reply, first) == "SIMULATE: " + call.arguments
    *_, said, result = second.chat({"SIMULATE: " + call.arguments: reply})
    assert said["tool_calls"] == (call,)
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert json.loads(result["content"].splitlines()[0])["ok"] is True
    assert second.chat({})[-1]["role"] == "user"
    (_, dropped) = builder_asked(["\n".join(["SIMULATE: " + call.arguments] * 4), "CLARIFY:so"], provider_tool=True)
    assert dropped.tool is not None
    assert dropped.tool.tools == ()
    assert [message["role"] for message in dropped.tool.chat({})] == ["system", "user", "user"]


def builder_asked(answers: list[str], simulations: int = 3, *, provider_tool: bool = False) -> list[Observation]:
    """What the builder is asked in a first turn, and nothing after it."""
    (structure,) = generate_structures(1, 5, StructureRules())
    settings = GameSettings(oracle=False, max_turns=1, simulations=simulations, provider_tool=provider_tool)
    game = GameSetup(
        structure=structure,
        characters=archetypes(0, 1),
        settings=settings,
        taken=dict.fromkeys(ROLES, "m"),
        seed=1,
        started_at=datetime(2026, 1, 1),  # noqa: DTZ001 - logs hold local times
    )
    course, asked, waiting = course_of(game), list[Observation](), iter(answers)
    step = next(course)
    while not isinstance(step, Turn):
        asked += [seen for seen in step if seen.agent == "Builder"]
        step = course.send(tuple(Reply(next(waiting) if seen.agent == "Builder" else "<message>hm</message>") for seen in step))
    return asked


def test_trials_are_answered_counted_and_begin_with_the_real_board() -> None:
    """What is possible gets its progress, what is not its error and hint; too many calls are dropped; then the line is due."""
    fits = 'SIMULATE: {"action": "place", "block": "rs", "position": "(0,0)", "layer": 0}'
    wrong = 'SIMULATE: {"move": {"action": "place", "block": "rs", "position": "(0,0)", "layer": 2}}'
    asked = builder_asked([f"{fits}\n{wrong}", f"{fits}", "CLARIFY:so"])
    assert ["SIMULATE" in message["content"] for message in asked[0].messages] == [False, True]
    first, second = (seen.messages[-1]["content"].splitlines() for seen in asked[1:])
    results = [json.loads(line) for line in (first[0], first[1], second[0])]
    assert [result["ok"] for result in results] == [True, False, True]
    assert results[0] == results[2]
    assert "expected 0" in results[1]["error"]
    assert set(results[0]) == {"ok", "blocks_correct", "blocks_total", "overall_progress", "correctness"}
    assert ("1 calls left" in first[-1], "no calls left" in second[-1]) == (True, True)
    (_, dropped) = builder_asked(["\n".join([fits] * 4), "CLARIFY:so"])
    assert "none was carried out" in dropped.messages[-1]["content"]
    assert "overall_progress" not in dropped.messages[-1]["content"]
    (_, broken) = builder_asked(["SIMULATE: {broken", "CLARIFY:so"])
    assert json.loads(broken.messages[-1]["content"].splitlines()[0])["ok"] is False
    (alone,) = builder_asked([fits], simulations=0)
    assert "SIMULATE" not in "".join(message["content"] for message in alone.messages)
