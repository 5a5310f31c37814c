"""People at tables: a seat's browser gets what its role may see and nothing else, and the game goes on with what they answer."""

from __future__ import annotations

import json
import re
import threading
import time
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from analytics.query import query
from dashboards.playing import tables
from dashboards.playing.app import create_play_app
from dashboards.playing.tables import Tables
from dashboards.requests import LOCAL, Access
from games.experiments.family import games
from games.players.running import RunTerms
from ingest.files.run import ingest_paths
from providers.provider import ModelSettings
from schemas.store.store import Store
from tests.command_line import called
from tests.games.seats import seat_server, stats


def client(out: Path, *, access: Access = LOCAL, partners: tuple[str, ...] = (), terms: RunTerms | None = None) -> FlaskClient:
    """A browser of this machine."""
    places = Tables(out, partners, terms or RunTerms(settings=ModelSettings(model="")))
    return create_play_app(places, access=access).test_client()


def asked_at(address: str) -> ModelSettings:
    """How models at that server are asked."""
    return ModelSettings(model="", base_url=f"{address}/v1")


def opened(browser: FlaskClient, game: str, players: dict[str, str], kind: str = "") -> dict[str, str]:
    """Agent -> address of its seat."""
    reply = browser.post("/open", data=json.dumps({"game": game, "kind": kind or None, "players": players, "number": 5}))
    assert reply.status_code == 200, reply.get_data(as_text=True)
    return {seat["agent"]: seat["href"] for seat in reply.get_json()}


def waited(browser: FlaskClient, href: str) -> dict[str, Any]:
    """What the seat is told once it is asked, or the game is over."""
    for _ in range(600):
        state: dict[str, Any] = browser.get(f"{href}/state").get_json()
        if state["asked"] or state["ended"] or state["error"]:
            return state
        time.sleep(0.02)
    raise AssertionError("nobody asks")


def log_of(out: Path) -> list[dict[str, Any]]:
    (path,) = out.rglob("*.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


ALL_HUMAN = {
    "craft": {"all": "human"},
    "einstein": {"all": "human"},
    "asympuzl": {"all": "human"},
    "overcooked": {"all": "human"},
    "coordination/collab_escape": {"all": "human"},
    "coordination/collab_capture": {"all": "human"},
    "coordination/hanabi": {"all": "human"},
    "coordination/overcooked": {"all": "human"},
}
"""Family, or family and kind -> people in all seats."""

PRIVATE = {
    "director": "<think>{canary}</think><message>A small red block, please.</message>",
    "builder": "CLARIFY:Where?",
    "alice": '{canary} {{"message": "hello", "actions": []}}',
    "bob": '{canary} {{"message": "hello", "actions": []}}',
    "chef": "Chef analysis: {canary}\nChef plan: wait(1); request('wait(2)')\nChef say: [NOTHING]",
    "assistant": "Assistant analysis: {canary}\nAssistant plan: wait(1)\nAssistant say: [NOTHING]",
}
"""Role -> an answer in whose private part something stands."""


def answer_of(told: dict[str, Any]) -> str:
    """An answer with a canary where nobody else may read it."""
    canary, asked = f"canary-of-{told['agent']}", told["asked"]
    if "<ACTION>" in asked["forms"][0]["text"]:
        return f"<THINK>{canary}</THINK><ACTION>pass</ACTION>"
    return str(PRIVATE.get(told["role"], "{canary}\n" + asked["forms"][0]["text"])).format(canary=canary)


@pytest.mark.parametrize("name", ALL_HUMAN)
def test_nothing_that_only_another_seat_knows_reaches_a_browser(name: str, tmp_path: Path) -> None:
    """All bytes that each of the browsers at one table gets: no thought, no view of the goal and no clue of another seat."""
    browser = client(tmp_path)
    family, _, kind = name.partition("/")
    seats = opened(browser, family, ALL_HUMAN[name], kind)
    heard = {agent: browser.get(href).get_data(as_text=True) for agent, href in seats.items()}
    answered = dict.fromkeys(seats, 0)
    deadline = time.monotonic() + 30
    while min(answered.values()) < 3 and time.monotonic() < deadline:
        for agent, href in seats.items():
            reply = browser.get(f"{href}/state")
            told = reply.get_json()
            heard[agent] += json.dumps(told, ensure_ascii=False)
            if told["asked"]:
                said = {"number": told["asked"]["number"], "text": answer_of(told)}
                answered[agent] += browser.post(f"{href}/say", json=said).status_code == 200
    assert min(answered.values()) >= 3 or name == "craft"  # three directors are drawn by chance
    views = {agent["agent"]: secrets(agent) for agent in log_of(tmp_path)[0]["agents"]}
    for agent, text in heard.items():
        for other in set(seats) - {agent}:
            assert f"canary-of-{other}" not in text
            assert [secret for secret in views[other] if secret not in views[agent] and secret in text] == [], (
                f"{agent} was told what {other} knows"
            )
        assert all(secret in text for secret in views[agent])


def secrets(agent: dict[str, Any]) -> list[str]:
    """What an agent of a log alone knows, as its page shows it."""
    view = agent["private_view"] or {}
    if agent["role"] == "director":
        return [json.dumps(json.dumps(view))[1:-1]]
    if agent["role"] == "bob":
        return [" ".join(filter(None, (entry["shape"], entry["color"]))) + "<" for entry in view["clues"]]
    return list(view.get("items", [])) + [line for line in view.get("recipe", "").splitlines()[1:] if line.strip()][:3]


def test_a_player_of_hanabi_is_drawn_everything_but_its_own_cards(tmp_path: Path) -> None:
    """Question marks lie in the own hand, the partner's cards are open."""
    browser = client(tmp_path)
    seats = opened(browser, "coordination", {"alice": "script:cautious", "bob": "human"}, "hanabi")
    picture = waited(browser, seats["Bob"])["asked"]["picture"]
    own = re.findall(r"title=\"Bob's card \d\"[^>]*>(.*?)<", unescape(picture))
    others = re.findall(r"title=\"Alice's card \d\"[^>]*>(.*?)<", unescape(picture))
    assert own == ["?"] * 5
    assert len(others) == 5
    assert all(re.fullmatch("[RYGWB][1-5]", card) for card in others)


def test_a_game_is_played_to_its_end_and_is_a_log_like_any_other(tmp_path: Path) -> None:
    """A person with a script; the log has what was written, and is read without a disagreement."""
    browser = client(tmp_path)
    seats = opened(browser, "asympuzl", {"A": "human", "B": "script:sharing"})
    while (state := waited(browser, seats["A"]))["asked"]:
        asked = state["asked"]
        assert state["role"] == "alice"
        answer = {"number": asked["number"], "text": f"answer {asked['number']}"}
        assert browser.post(f"{seats['A']}/say", json=answer).get_json() is True
        assert browser.post(f"{seats['A']}/say", json=answer).status_code == 409
    header, *turns, end = log_of(tmp_path)
    assert state["ended"] == {name: end["end"][name] for name in ("success", "score", "stop_reason", "turns_taken")}
    assert [turn["replies"][0]["text"] for turn in turns] == [f"answer {number}" for number in range(1, len(turns) + 1)]
    assert header["team"] == {"alice": "human", "bob": "script:sharing"}
    store = Store(tmp_path / "s.duckdb")
    assert ingest_paths([tmp_path], store, workers=1).episodes == 1
    assert query(store, "SELECT * FROM log_disagreements").is_empty()


def test_every_family_can_be_sat_down_to(tmp_path: Path) -> None:
    """What is offered can be opened, and the person is asked with rules and situation."""
    browser = client(tmp_path)
    offers = browser.get("/games").get_json()
    assert {offer["game"] for offer in offers} == set(games())
    for offer in offers:
        first, *others = offer["seats"]
        others_play = {seat: next(player for player in offer["seats"][seat] if player.startswith("script:")) for seat in others}
        seats = opened(browser, offer["game"], {first: "human"} | others_play, offer["kind"])
        state = waited(browser, seats[first])
        assert state["asked"], state
        assert len(state["asked"]["messages"]) >= 2
        assert state["asked"]["forms"]
        assert "<div" in state["asked"]["picture"]


def test_a_model_may_sit_there_if_it_was_named(tmp_path: Path) -> None:
    """Models cost money: none that the server was not started with."""
    with seat_server("script") as address:
        browser = client(tmp_path, partners=("openai/stub",), terms=RunTerms(settings=asked_at(address)))
        seats = opened(browser, "einstein", {"player1": "openai/stub", "player2": "human"})
        assert waited(browser, seats["Player2"])["asked"]["turn"] == 2
        refused = browser.post("/open", data=json.dumps({"game": "einstein", "players": {"player1": "openai/gpt-4o", "player2": "human"}}))
    assert refused.status_code == 400
    assert "--partner" in refused.get_json()["error"]


def test_a_game_whose_models_may_cost_no_more_says_so(tmp_path: Path) -> None:
    """The person does not wait for a partner that will never answer."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai/stub: {input: 1, output: 1}\n")
    with seat_server("script") as address:
        terms = RunTerms(settings=asked_at(address), max_cost=1e-9, prices=prices)
        browser = client(tmp_path / "out", partners=("openai/stub",), terms=terms)
        seats = opened(browser, "einstein", {"player1": "openai/stub", "player2": "human"})
        assert "may cost" in waited(browser, seats["Player2"])["error"]


def test_a_game_that_runs_out_of_budget_is_stored_and_can_go_on(tmp_path: Path) -> None:
    """Up to the turn at which it ended; the next command has no complaint, and plays on from there."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai/stub: {input: 0, output: 1000000}\n")
    out, store = tmp_path / "out", Store(tmp_path / "s.duckdb")
    with seat_server("script") as address:
        terms = RunTerms(settings=asked_at(address), max_cost=asked_at(address).limit + 60, prices=prices)
        browser = client(out, partners=("openai/stub",), terms=terms)
        seat = opened(browser, "einstein", {"player1": "openai/stub", "player2": "human"})["Player2"]
        while not (state := waited(browser, seat))["error"]:
            browser.post(f"{seat}/say", data=json.dumps({"number": state["asked"]["number"], "text": "I do not know."}))
            time.sleep(0.01)
    assert "cotrace replay" in state["error"]
    report = ingest_paths([out], store, workers=1)
    assert (report.episodes, report.rejected) == (1, [])
    episode, turns, ending = query(store, "SELECT episode_id, turns_taken, ending FROM games").row(0)
    assert (turns > 1, ending) == (True, "cut")
    more = ("--player", "player1=script:forgetful", "--player", "player2=script:forgetful", "--out", str(tmp_path / "more"))
    done = called("replay", episode, "--turn", str(turns), *more, "--store", str(store.path))
    assert done.returncode == 0, done.stderr


def test_two_hundred_tables_at_once_are_one_hundred(tmp_path: Path) -> None:
    """The others are refused in one line, and those who play are still answered."""
    browser = client(tmp_path)
    body = {"game": "einstein", "players": {"player1": "human", "player2": "human"}}
    replies = [browser.post("/open", json=body) for _ in range(200)]
    assert [reply.status_code for reply in replies] == [200] * 100 + [400] * 100
    assert "there are 100 games under way, which is the limit" in replies[-1].get_json()["error"]
    began = time.monotonic()
    assert waited(browser, replies[50].get_json()[0]["href"])["asked"]
    assert time.monotonic() - began < 5


def test_what_models_may_cost_is_for_all_games_together(tmp_path: Path) -> None:
    """A second game has what the first one left."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai/stub: {input: 0, output: 1000000}\n")  # one USD a token of the reply
    with seat_server("script") as address:
        terms = RunTerms(settings=asked_at(address), max_cost=asked_at(address).limit + 1, prices=prices)
        browser = client(tmp_path / "out", partners=("openai/stub",), terms=terms)
        first, second = (opened(browser, "einstein", {"player1": "openai/stub", "player2": "human"}) for _ in range(2))
        assert waited(browser, first["Player2"])["asked"]
        assert "may cost" in waited(browser, second["Player2"])["error"]


def test_models_ask_nothing_until_a_person_comes_and_one_client_has_few_of_them(tmp_path: Path) -> None:
    """Who may open tables cannot have models play alone, nor begin a hundred games with them."""
    with seat_server("steady") as address:
        before = stats(address)["requests"]
        browser = client(tmp_path, partners=("openai/stub",), terms=RunTerms(settings=asked_at(address)))
        alone = browser.post("/open", json={"game": "asympuzl", "players": {"all": "openai/stub"}})
        assert (alone.status_code, "needs a person" in alone.get_json()["error"]) == (400, True)
        asked = {"game": "asympuzl", "players": {"A": "openai/stub", "B": "human"}}
        replies = [browser.post("/open", json=asked) for _ in range(8)]
        assert [reply.status_code for reply in replies] == [200] * 4 + [400] * 4
        assert "limit" in replies[-1].get_json()["error"]
        assert browser.post("/open", json=asked, environ_base={"REMOTE_ADDR": "127.0.0.2"}).status_code == 200
        assert stats(address)["requests"] == before
        assert waited(browser, replies[0].get_json()[0]["href"])["asked"]
        assert stats(address)["requests"] == before + 1


def test_games_that_have_ended_or_were_left_give_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server goes on for as many games as people play; the game of people who look at it stays."""
    monkeypatch.setattr(tables, "_MOST_TABLES", 3)
    browser = client(tmp_path)
    people = {"player1": "human", "player2": "human"}
    before = {*threading.enumerate()}
    for _ in range(7):
        opened(browser, "asympuzl", {"A": "script:sharing", "B": "script:sharing"})
        for thread in {*threading.enumerate()} - before:
            thread.join(20)
    left, mine, other = (opened(browser, "einstein", people)["Player1"] for _ in range(3))
    assert waited(browser, left)["asked"]
    full = browser.post("/open", json={"game": "einstein", "players": people})
    assert (full.status_code, "limit" in full.get_json()["error"]) == (400, True)
    monkeypatch.setattr(tables, "_AWAY_S", 0.2)
    time.sleep(0.3)
    for href in (mine, other):
        assert waited(browser, href)["asked"]
    opened(browser, "einstein", people)
    deadline = time.monotonic() + 20
    while not (ended := browser.get(f"{left}/state").get_json())["error"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert "another game needed its place" in ended["error"]
    assert browser.get(f"{mine}/state").get_json()["asked"]


def test_a_seat_with_letters_that_no_secret_has_is_not_there(tmp_path: Path) -> None:
    """Whatever the address: 404 or 409, no fault of the server."""
    browser = client(tmp_path)
    opened(browser, "asympuzl", {"A": "human", "B": "human"})
    for name in ("%C3%A9", "é", "%F0%9F%98%80", "%ff%fe", "%00"):
        assert browser.get(f"/seat/{name}").status_code == 404
        assert browser.get(f"/seat/{name}/state").status_code == 404
        assert browser.post(f"/seat/{name}/say", json={"number": 1, "text": "x"}).status_code == 409
        assert browser.post(f"/seat/{name}/survey", json={"answers": {}}).status_code == 409


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-cost", "3"], "--max-cost is for tables: add --play"),
        (["--play", "--partner", "openai/gpt-4o", "--max-cost", "0.0001"], "one reply can cost"),
        (["--play", "--partner", "gpt-4o"], "write provider/model"),
    ],
)
def test_what_partners_may_cost_is_checked_before_anybody_sits_down(arguments: list[str], message: str) -> None:
    """In one line, with the mend."""
    ended = called("dash", *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"game": "chess", "players": {}}, "no game"),
        ({"game": "craft", "players": {"all": "script:nobody"}}, "no script"),
        ({"game": "craft", "players": {"boss": "human"}}, "no such role"),
        ({"game": "craft"}, "required"),
        ({"game": "craft", "players": {}, "out": "x"}, "not permitted"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(body: dict[str, Any], message: str, tmp_path: Path) -> None:
    """And nothing is played."""
    reply = client(tmp_path).post("/open", json=body)
    assert reply.status_code == 400
    assert message in reply.get_json()["error"]
    assert not list(tmp_path.iterdir())


def test_whoever_has_a_seats_link_has_that_seat_and_nothing_else(tmp_path: Path) -> None:
    """On a network: the opener needs the token, the seat only its own secret; no page of the dashboard is there."""
    browser = client(tmp_path, access=Access("t" * 20, any_host=True))
    assert browser.get("/").status_code == 401
    assert browser.post("/open", json={"game": "craft", "players": {"all": "human"}}).status_code == 401
    assert browser.get("/?token=" + "t" * 20).status_code == 303
    seats = opened(browser, "einstein", {"player1": "human", "player2": "script:sensible"})
    browser.delete_cookie(Access("t" * 20).cookie)
    assert browser.get("/games").status_code == 401
    assert browser.get(f"{seats['Player1']}/state").status_code == 200
    assert browser.get(seats["Player1"]).status_code == 200
    for nothing in ("/seat/wrong", "/seat/wrong/state", "/leaderboard", "/_dash-layout"):
        assert browser.get(nothing).status_code in {401, 404}
    assert browser.get("/look/seat.js").status_code == 200
    assert browser.get("/look/tables.py").status_code == 404
    assert browser.post("/seat/wrong/say", json={"number": 1, "text": "x"}).status_code == 409
    foreign = {"Origin": "http://elsewhere.example"}
    assert browser.post(f"{seats['Player1']}/say", json={"number": 1, "text": "x"}, headers=foreign).status_code == 403
