"""The report attribution-accuracy: engine, rules of thumb and models against people's labels and planted faults."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import yaml
from click.testing import CliRunner, Result
from pydantic import BaseModel

from analytics.losses.accuracy import accuracy_report, truths
from analytics.query import query
from cotrace.cli import cli
from games.einstein.experiment import play_planted
from judges.attribution import asking
from judges.attribution.asking import MANNERS, Ask, AskingRequest, agents_of, ask_games
from judges.attribution.thumb import RULES, Guess
from judges.evidence.transcript import load
from providers.faults import HopelessError
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.common.errors import UsageError
from schemas.store.store import Store
from tests.analytics.little_games import Game, Move, Step, store_with
from tests.judges.attribution.test_craft_attribution import attributed
from tests.providers.test_forms import replying
from tests.servers.dialects import completion, tool_call
from tests.servers.suspicious_server import suspicious_model

MESSAGES = [
    ("human", "How many moons has Mars?"),
    ("Planner", "Coder, please look the number of moons up and print it."),
    ("Coder", "I will load the table of planets and print the row of Mars as a whole."),
    ("Terminal", "exitcode: 1 (execution failed)\nFileNotFoundError: planets.csv"),
    ("Planner", "That is wrong: the file does not exist. Use the number you know."),
    ("Coder", "I will load the table of planets and print the row of Mars as a whole."),
]


@pytest.fixture(scope="module")
def who(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One labelled conversation: the Coder's first message is the decisive error."""
    folder = tmp_path_factory.mktemp("who")
    found = {
        "is_correct": False,
        "question": "How many moons has Mars?",
        "question_ID": "q1",
        "ground_truth": "2",
        "history": [{"content": text, "name": name, "role": "user"} for name, text in MESSAGES],
        "mistake_agent": "Coder",
        "mistake_step": "2",
        "mistake_reason": "no such file",
    }
    (folder / "logs").mkdir()
    (folder / "logs" / "1.json").write_bytes(orjson.dumps(found))
    return attributed(folder / "logs", folder)


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """A model that holds whoever will load the table responsible."""
    with suspicious_model("I will load the table") as url:
        yield url


def test_each_rule_of_thumb(who: Store) -> None:
    (game,) = load(who, [one.episode_id for one in truths(who)])
    assert {name: rule(game) for name, rule in RULES.items()} == {
        "last": Guess("Coder", 6),
        "first": Guess("Planner", 2),
        "longest": Guess("Coder", 3),
        "busiest": Guess("Planner", 2),
        "first_refused": Guess("Coder", 3),
        "first_correction": Guess("Terminal", 4),
        "first_contradiction": None,
        "first_repeated": Guess("Coder", 6),
    }


def test_the_first_contradiction(tmp_path: Path) -> None:
    cases = [
        (("The row of Mars has 2 moons in it.", "I see: the row of Mars has 3 moons in it."), None),  # another sentence
        (("Fine. The row of Mars has 2 moons in it.", "Thanks! The row of Mars has 3 moons in it."), 2),
        (("The file of the planets does exist here.", "The file of the planets does not exist here."), 2),
        (("The row of Mars has 2 moons in it.", "The row of Mars has 2 moons in it."), None),
        (("Step 1 is done by us all.\nStep 2 is done by us all.", "Fine."), None),  # one message does not contradict itself
    ]
    labels = {"mistake_agent": "Coder", "mistake_step": "1", "mistake_reason": ""}
    (tmp_path / "logs").mkdir()
    for number, (texts, _) in enumerate(cases):
        history = [{"content": text, "name": name, "role": "user"} for name, text in zip(("Planner", "Coder"), texts, strict=True)]
        found = {"is_correct": False, "question": "?", "question_ID": f"q{number}", "ground_truth": "2", "history": history, **labels}
        (tmp_path / "logs" / f"{number}.json").write_bytes(orjson.dumps(found))
    store = attributed(tmp_path / "logs", tmp_path)
    games = load(store, query(store, "select episode_id from episodes order by file")["episode_id"].to_list())
    told = {game.episode_id: RULES["first_contradiction"](game) for game in games}
    ordered = [told[episode] for (episode,) in query(store, "select episode_id from episodes order by file").rows()]
    assert ordered == [None if turn is None else Guess("Coder", turn) for _, turn in cases]


def test_shares_of_right_agents_and_steps(who: Store) -> None:
    rows = {row["judge"]: row for row in accuracy_report(who).filter(length="all").iter_rows(named=True)}
    assert (rows["rule: first_refused"]["agent"], rows["rule: first_refused"]["step"]) == (1.0, 1.0)
    assert (rows["rule: last"]["agent"], rows["rule: last"]["step"], rows["rule: last"]["within_3"]) == (1.0, 0.0, 1.0)
    assert rows["chance"]["agent"] == pytest.approx(1 / 3)
    assert rows["chance"]["step"] == pytest.approx(1 / 5)
    assert "engine" not in rows  # nothing tells what a turn of a conversation cost


def test_games_with_a_planted_fault(tmp_path: Path) -> None:
    play_planted(tmp_path / "logs", 15, seed=9)
    store = attributed(tmp_path / "logs", tmp_path)
    known = truths(store)
    assert {one.source for one in known} == {"planted"}
    rows = accuracy_report(store).filter(length="all").rows_by_key("judge", named=True, unique=True)
    assert rows["engine"]["games"] == len(known)
    assert rows["engine"]["agent"] == rows["engine"]["answered"] > rows["chance"]["agent"]
    assert rows["engine"]["agent_low"] < rows["engine"]["agent"] <= rows["engine"]["agent_high"]


@pytest.mark.long
@pytest.mark.shared
def test_rules_of_thumb_on_labelled_runs(shared: Path, tmp_path: Path) -> None:
    """Numbers of the shared half of Who&When, checked by hand for two rules: how little they reach is what judges have to beat."""
    store = attributed(shared / "data/whoandwhen", tmp_path)
    rows = accuracy_report(store).filter(length="all").rows_by_key("judge", named=True, unique=True)
    assert rows["rule: last"]["games"] == 92
    assert rows["rule: longest"]["agent"] == pytest.approx(43 / 92)
    assert rows["rule: last"]["step"] == pytest.approx(5 / 92)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("manner", list(MANNERS))
def test_a_model_is_asked_in_each_manner(who: Store, model_url: str, manner: str) -> None:
    """A model that knows the error names agent and turn in every manner; what it quotes wrongly does not count."""
    settings = ModelSettings(model="openai/suspicious", base_url=model_url)
    report = ask_games(AskingRequest(settings=settings, manner=manner), who)
    assert (report.games, report.answered, report.failed) == (1, 1, 0)
    rows = query(
        who, "select question, answer from verdicts where rubric = 'decisive_error' and variant = $manner", {"manner": manner}
    ).rows()
    assert dict(rows) == {"agent": "Coder", "step": "3"}
    told = accuracy_report(who).filter(length="all", judge=f"llm:openai/suspicious ({manner.replace('_', ' ')})").row(0, named=True)
    assert (told["agent"], told["step"], told["games"]) == (1.0, 1.0, 1)


@pytest.mark.long
def test_the_rubric_is_one_of_the_others(who: Store, model_url: str) -> None:
    """Listed, shown, asked by `cotrace judge` and scored by `cotrace report`, manner by manner."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, standalone_mode=False)

    assert "decisive_error" in run("rubric", "list").output
    assert set(yaml.safe_load(run("rubric", "show", "decisive_error").stdout)["variants"]) == {*MANNERS}
    store, model = ("--store", str(who.path)), ("--model", "openai/suspicious", "--base-url", model_url)
    judged = run("judge", "--rubric", "decisive_error", "--variant", "halving", *model, *store)
    assert (judged.exception, "1 game: 1 answered" in judged.output) == (None, True)
    assert f"next: cotrace report attribution-accuracy --store {who.path}" in judged.output
    assert "llm:openai/suspicious (halving)" in run("report", "attribution-accuracy", "--format", "csv", *store).output
    refused = run("judge", "--rubric", "decisive_error", "--judge", "engine", *store)
    assert "cotrace attribute" in str(refused.exception)
    refused = run("judge", "--rubric", "decisive_error", "--batch", *model, *store)
    assert "leave out --batch" in str(refused.exception)


@pytest.mark.long
def test_a_model_that_names_nothing_leaves_a_game_undecided(who: Store) -> None:
    with suspicious_model("words that nobody says") as url:
        settings = ModelSettings(model="openai/trusting", base_url=url)
        report = ask_games(AskingRequest(settings=settings, manner="step_by_step"), who)
    assert (report.games, report.answered, report.failed, report.undecided, report.not_asked) == (1, 0, 0, 1, 0)
    rows = query(who, "select answer, reason, status from verdicts where judge = 'llm:openai/trusting'").rows()
    assert rows == [(None, "no turn was named", "undecided")] * 2


@pytest.mark.long
def test_asking_again_replaces_what_was_said(who: Store, model_url: str) -> None:
    settings = ModelSettings(model="openai/suspicious", base_url=model_url)
    for _ in range(2):
        ask_games(AskingRequest(settings=settings, manner="all_at_once"), who)
    assert query(who, "select count(*) from verdicts where variant = 'all_at_once'").item() == 2
    with pytest.raises(UsageError, match="choose one of all_at_once"):
        ask_games(AskingRequest(settings=settings, manner="by dice"), who)


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six games of several turns."""
    folder = tmp_path_factory.mktemp("six")
    play_planted(folder / "logs", 6, seed=9)
    return attributed(folder / "logs", folder).path


@pytest.fixture
def games(tmp_path: Path, six: Path) -> Store:
    """A copy of them."""
    return Store(shutil.copy(six, tmp_path / "games.duckdb"))


STATE = (
    "select (select count(*) from calls), (select count(distinct call_id) from calls), "
    "(select count(*) from verdicts where rubric = 'decisive_error')"
)


def test_a_budget_that_ends_leaves_the_other_games_without_a_verdict(games: Store, tmp_path: Path) -> None:
    """With a higher one only they are asked about: what was paid is kept."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("local/*: {input: 1, output: 1}\n")
    with suspicious_model("words that nobody says") as url:
        settings = ModelSettings(model="local/suspicious", base_url=url, max_tokens=100)
        request = AskingRequest(settings=settings, manner="halving", concurrency=1, prices=prices)
        few = ask_games(replace(request, max_cost=0.006), games)
        assert 0 < few.requests <= 5
        assert few.games < 6
        assert (few.failed, few.games + few.not_asked) == (0, 6)
        assert query(games, "select distinct status from judge_runs where rubric = 'decisive_error'").item() == "stopped_by_budget"
        assert query(games, STATE).row(0) == (few.requests, few.requests, 2 * few.games)
        rest = ask_games(replace(request, max_cost=1), games)
        assert (rest.games, rest.not_asked) == (6, 0)
        again = ask_games(request, games)
    assert few.requests + rest.requests == again.requests


def test_calls_of_a_start_that_broke_off_are_stored_once(games: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were stored before it, and those that were not."""
    monkeypatch.setattr(asking, "_GAMES_AT_ONCE", 2)
    request = AskingRequest(settings=ModelSettings(model="local/suspicious"), manner="all_at_once", concurrency=1)
    with suspicious_model("nothing", 5) as url, pytest.raises(HopelessError):
        ask_games(replace(request, settings=replace(request.settings, base_url=url)), games)
    assert query(games, STATE).row(0) in {(4, 4, 8), (5, 5, 8)}  # the fifth is stored now or, out of the journal, by the next start
    with suspicious_model("nothing") as url:
        rest = ask_games(replace(request, settings=replace(request.settings, base_url=url)), games)
    assert (rest.games, rest.requests) == (6, 1)
    assert query(games, STATE).row(0) == (6, 6, 12)
    runs = query(games, "select status from judge_runs where rubric = 'decisive_error' order by started_at")["status"].to_list()
    assert runs == ["interrupted", "finished"]


def test_models_see_no_views_goals_or_names_of_scripts(tmp_path: Path) -> None:
    """Nothing that gives the planted fault away reaches a prompt."""
    play_planted(tmp_path / "logs", 1, seed=2)
    store = attributed(tmp_path / "logs", tmp_path)
    shown: list[str] = []

    async def put(messages: list[Message], form: type[BaseModel]) -> BaseModel | None:  # noqa: ARG001 - what a manner needs
        shown.extend(str(message["content"]) for message in messages)
        return None

    (game,) = load(
        store, [one.episode_id for one in truths(store)] or query(store, "select episode_id from episodes")["episode_id"].to_list()
    )
    for manner in MANNERS.values():
        assert asyncio.run(manner(game, Ask(put, agents_of(game)))) is None
    text = "\n".join(shown)
    (script,) = (agent.persona.partition("@")[0] for agent in game.agents.values() if agent.persona and agent.persona != "sensible")
    assert "turn 1, Player1" in text
    assert script not in text
    assert "infers" not in text


@pytest.mark.parametrize(
    ("agent", "turn", "stored"),
    [
        pytest.param("Coder", 3, ("Coder", "3", True), marks=pytest.mark.long),
        ("planner ", 3, ("Planner", "3", False)),
        ("Coder", 99, ("Coder", None, None)),
    ],
)
def test_the_agent_that_a_model_names_is_stored(who: Store, agent: str, turn: int, stored: tuple[str, str | None, bool | None]) -> None:
    """Also where that agent is silent in the turn it names, which a column says; a verdict names the call that it comes from."""
    with replying(completion(tool_call({"reason": "so it is", "agent": agent, "turn": turn}))) as (url, _):
        ask_games(AskingRequest(settings=ModelSettings(model="openai/namer", base_url=url), manner="all_at_once"), who)
    rows = query(
        who,
        "select question, answer, verdicts.status, agent_spoke, json_extract_string(reply, 'agent') "
        "from verdicts join calls using (call_id) where judge = 'llm:openai/namer' order by question",
    ).rows()
    name, step, spoke = stored
    assert rows == [
        ("agent", name, "answered", spoke, agent),
        ("step", step, "answered" if step else "undecided", spoke, agent),
    ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("manner", ["all_at_once", "step_by_step", "search"])
def test_an_agent_that_is_not_in_the_game_is_no_answer(who: Store, manner: str) -> None:
    """The form has the names; a model that gives another is asked again, then the verdict is a failed one that says so."""
    reply = {"reason": "so it is", "agent": "The whole team", "turn": 3, "decisive": True}
    suspect = {"agent": "The whole team", "turn": 3, "words": "I will load the table"}
    with replying(completion(tool_call({**reply, "suspects": [suspect]}))) as (url, asked):
        ask_games(AskingRequest(settings=ModelSettings(model="openai/stranger", base_url=url), manner=manner), who)
    rows = query(
        who,
        "select answer, status, contains(reason, 'Planner') from verdicts where judge = 'llm:openai/stranger' and variant = $manner",
        {"manner": manner},
    ).rows()
    assert rows == [(None, "failed", True)] * 2
    assert len(asked) > 1
    assert "<<one of: Coder, Planner, Terminal, human>>" in asked[0]["messages"][1]["content"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("manner", MANNERS)
def test_a_verdict_names_the_call_that_it_comes_from(who: Store, model_url: str, manner: str) -> None:
    """Of several, the one that settled it."""
    ask_games(AskingRequest(settings=ModelSettings(model="openai/settled", base_url=model_url), manner=manner), who)
    rows = query(
        who,
        "select calls.episode_id = verdicts.episode_id, reply from verdicts join calls using (call_id) "
        "where judge = 'llm:openai/settled' and variant = $manner",
        {"manner": manner},
    ).rows()
    assert [same for same, _ in rows] == [True, True]
    assert all("so it seems" in reply for _, reply in rows)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("manner", MANNERS)
def test_a_log_without_agents_is_undecided_and_ends_no_run(manner: str, tmp_path: Path) -> None:
    """No agent can be named: no model is asked, and the games around it go on."""
    store = store_with(tmp_path, [Game([Step('"1"', (Move("place"),))], name="empty")])
    with store.writing() as connection:
        for table in ("utterances", "actions", "agents"):
            connection.execute(f"DELETE FROM {table}")
    with replying(completion({"role": "assistant", "content": "{}"})) as (url, asked):
        report = ask_games(AskingRequest(settings=ModelSettings(model="local/none", base_url=url), manner=manner), store)
    assert (report.undecided, len(asked)) == (1, 0)
    assert set(query(store, "SELECT reason FROM verdicts")["reason"]) == {"the log has no agent"}
