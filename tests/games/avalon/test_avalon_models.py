"""Language models as players of Avalon, behind a server that speaks OpenAI's protocol: good replies, and bad ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from analytics.query import query
from games.avalon.game import Game, read_answer
from games.experiments.plan import play
from games.players.running import RunTerms
from judges.attribution.job import attribute_games
from providers.provider import ModelSettings
from tests.games.seats import ingested
from tests.servers.serving import application, json_reply, served

HEADS = {"TEAM": 0, "VOTE": 1, "CARD": 2, "GUESS": 3}
BAD = "I would rather not say.", "VOTE: maybe", "CARD: perhaps", "GUESS: Zoe"
"""By place of the head: no line, and no word of the form."""


def form_of(asked: str) -> str | None:
    """The head of the line that a prompt asks for; None of a message."""
    found = re.search(r"begins with (TEAM|VOTE|CARD|GUESS) and a colon", asked)
    return None if found is None else found[1]


def good(head: str | None, asked: str, names: list[str]) -> str:
    """What a cooperative model writes, thoughts and decoration around it."""
    size = re.search(r"Propose a team of (\d)", asked)
    lines = {"TEAM": ", ".join(names[: int(size[1]) if size else 2]), "VOTE": "**approve**", "CARD": "fail", "GUESS": names[0]}
    return "I would like to hear more." if head is None else f"It is early.\n{head}: {lines[head]}"


@pytest.fixture
def server() -> Iterator[tuple[str, Counter[str | None]]]:
    """Its address, and what was asked for; `/bad` answers in no form."""
    asked: Counter[str | None] = Counter()

    async def chat(request: web.Request) -> web.Response:
        body = await request.json()
        system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
        head = form_of(user)
        asked[head] += 1
        names = system.partition("hidden roles: ")[2].partition(".")[0].split(", ")
        text = BAD[HEADS[head]] if head and body["model"] == "bad" else good(head, user, names)
        usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
        message = {"role": "assistant", "content": text}
        return json_reply({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": usage,
                           "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})  # fmt: skip

    app = application()
    app.router.add_post("/v1/chat/completions", chat)
    with served(app) as url:
        yield url, asked


def logged(folder: Path, url: str, model: str) -> list[dict[str, object]]:
    """The turns of a game in which one model has all players."""
    terms = RunTerms(settings=ModelSettings(model="", base_url=url))
    report = play("avalon", folder, players=[f"all=openai/{model}"], games=1, seeds=[3], size=5, terms=terms)
    return [line for line in map(orjson.loads, report.paths[0].read_bytes().splitlines()) if "turn" in line]


def test_a_model_plays_a_whole_game(server: tuple[str, Counter[str | None]], tmp_path: Path) -> None:
    """All its lines are read, as asked for, and its words before them are reason, comment or message."""
    url, asked = server
    turns = logged(tmp_path, url, "good")
    actions = [action for turn in turns for action in turn["actions"]]  # type: ignore[attr-defined]
    assert {"TEAM", "VOTE", "CARD", None} <= set(asked)
    assert [action for action in actions if action.get("accepted") is False] == []
    assert {action["read"] for action in actions if action["raw"] is None} == {None}  # cards of good players, who are not asked
    votes = [action for action in actions if action["verb"] == "vote"]
    assert votes
    assert {action["arguments"]["vote"] for action in votes} == {"approve"}
    texts = {utterance["text"] for turn in turns for utterance in turn["utterances"]}  # type: ignore[attr-defined]
    assert {"I would like to hear more.", "It is early."} <= texts
    assert turns[-1]["state_after"]["won_by"] is not None  # type: ignore[index]


def test_replies_in_no_form_are_marked_and_the_game_goes_on_by_the_stated_defaults(
    server: tuple[str, Counter[str | None]], tmp_path: Path
) -> None:
    """A team is the leader and the next ones, a vote counts as reject, a card as success: so five proposals, and good missions."""
    turns = logged(tmp_path, server[0], "bad")
    actions = [action for turn in turns for action in turn["actions"]]  # type: ignore[attr-defined]
    formed = [
        action for action in actions if action["verb"] in ("propose", "vote", "quest", "guess") and action["raw"]
    ]  # good players: no card
    assert {action["error_code"] for action in formed} == {"unreadable"}
    last = turns[-1]["state_after"]
    assert {mission["result"] for mission in last["missions"]} == {"success"}  # type: ignore[index]
    assert {mission["rejected"] for mission in last["missions"]} == {4}  # type: ignore[index]


def test_what_replaces_an_unread_reply_is_not_an_act_of_its_player(server: tuple[str, Counter[str | None]], tmp_path: Path) -> None:
    """Failures have `unreadable_reply`, losses are attributed to the form, and a team that the rules chose is not the leader's."""
    logged(tmp_path / "logs", server[0], "bad")
    store = ingested(tmp_path)
    attribute_games(store)
    assert {*query(store, "SELECT category FROM failures WHERE agent IS NOT NULL")["category"]} == {"unreadable_reply"}
    assert {*query(store, "SELECT link FROM attributions WHERE agent IS NOT NULL")["link"]} == {"format"}
    placed = query(store, "SELECT DISTINCT substituted, proven_mistake FROM avalon_proposals")
    assert placed.rows() == [(1, 0)]
    assert query(store, "SELECT * FROM avalon_trust").is_empty()
    counted = "SELECT good_votes, evil_votes, good_votes_on_proven_bad, guess_right FROM avalon_games"
    assert query(store, counted).rows() == [(0, 0, 0, None)]
    assert query(store, "SELECT value FROM episode_metrics WHERE metric = 'avalon.guess_right'").is_empty()
    kept_evil_away = """SELECT count(*) FROM attributions JOIN avalon_proposals USING (episode_id, turn)
        WHERE result = 'rejected' AND team_evil > 0 AND evidence LIKE 'its vote%'"""
    assert query(store, kept_evil_away).item() == 0  # such a rejection costs nothing


def test_a_message_that_repeats_the_question_is_not_sent() -> None:
    """The others do not get it, and it is stored as unreadable."""
    game = Game.drawn(size=5, seed=3)
    while game.purpose == "discuss":
        agent = str(game.next_agent)
        question = game.observe(agent).user.splitlines()[-1]
        assert read_answer("discuss", question, game.agents, question).reading.read == "unreadable"
        turns = game.act(agent, question).turns
    assert [turn.utterances for turn in turns] == [[]]
    assert not any(message.text for message in game.observe(str(game.next_agent)).messages)


@pytest.mark.parametrize(
    ("purpose", "line", "value", "words"),
    [
        ("vote", "VOTE: approve, since Bob has been fair so far", "approve", "since Bob has been fair so far"),
        ("vote", "VOTE: **Reject** (Bob again)", "reject", "Bob again"),
        ("vote", "VOTE: approve or reject", None, ""),
        ("vote", "Reject? Not me.", None, ""),
        ("quest", "CARD: success, for I will not fail", None, ""),
        ("guess", "GUESS: Bob, who knew too much", "Bob", "who knew too much"),
        ("guess", "GUESS: Bob or Alice", None, ""),
    ],
)
def test_a_reason_may_follow_the_word(purpose: str, line: str, value: str | None, words: str) -> None:
    """The first word of the line counts if no other possible answer is in it; the reason is the comment."""
    found = read_answer(purpose, line, ("Alice", "Bob", "Eve"))
    assert (found.value, found.reading.read) == (value, "unreadable" if value is None else "repaired")
    assert found.words == (line if value is None else words)
