"""A corpus of recorded replies, of every kind that language models have given: each is read as it must be, wherever it arrives.

A file of `recorded_replies` has the replies that a server gives one after the other (the last one again and again), whose they are
(`of`: judge, reader, attribution, or a game), and what is right. A new kind of reply is a new file. The replies of small models, and those
of public reports, are replayed where they are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import pytest
from aiohttp import web
from pydantic import ValidationError

from analytics.query import query
from ingest.files.run import ingest_paths
from judges.attribution.asking import AskingRequest, ask_games
from judges.claims.extraction import form_of as claims_form
from judges.claims.extraction import messages_for
from judges.claims.job import ReadingReport, read_texts
from judges.claims.readers import family_reading
from judges.claims.texts import ReadingRequest
from judges.evidence.frame import Frame
from judges.rubric import Rubric
from judges.rubric_files.load import find, load
from judges.runs.runner import run
from providers.provider import ModelSettings
from schemas.store.store import Store
from tests.games.seats import ingested, play
from tests.judges.judged_games import ask_model, mark, store_of
from tests.masters import beginning_without_views
from tests.places import SHARED
from tests.providers.test_forms import replying
from tests.servers.dialects import completion, form_of
from tests.servers.serving import application, json_reply, served

HERE: Final = Path(__file__).parent
RECORDED: Final = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(HERE.glob("recorded_replies/*.json"))}
CONVERSATION: Final = [
    ("Planner", "Coder, please count the rows of the table."),
    ("Planner", "It is in the folder of the job."),
    ("Coder", "I open the file of last year and count its rows."),
    ("Planner", "Thank you, that is our answer."),
]
ECHO: Final = "repeats an example of the prompt"
TEXT: Final = "I need a small red block, left end, bottom layer."
"""What readers read."""
GAMES: Final = {
    "craft": ("--games", "1", "--turns", "1"),
    "einstein": ("--games", "1"),
    "asympuzl": ("--size", "3", "--games", "1", "--turns", "1"),
    "overcooked": ("--task", "boiled_egg", "--turns", "1"),
    "coordination hanabi": ("--turns", "1"),
}
"""Game -> a short one."""


def names_of(of: str) -> list[str]:
    """The recorded replies of one kind of asking."""
    return [name for name, case in RECORDED.items() if case["of"] == of]


def bodies(replies: Sequence[Any]) -> list[dict[str, Any]]:
    """What the server gives: the text alone, a message with how it ended, or a whole body."""
    return [reply if isinstance(reply, dict) and "choices" in reply else _body(reply) for reply in replies]


def _body(reply: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(reply, str):
        return completion({"role": "assistant", "content": reply})
    message = {name: value for name, value in reply.items() if name not in ("finish_reason", "logprobs")}
    found = completion({"role": "assistant", **message}, reply["finish_reason"])
    found["choices"][0]["logprobs"] = reply.get("logprobs")
    return found


def read_in(store: Store, model: str = "openai/stub") -> list[str]:
    """How the replies of a model were read."""
    return [read for (read,) in query(store, "SELECT DISTINCT read FROM calls WHERE model = $m ORDER BY 1", {"m": model}).rows()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A game of one turn, about which every case asks a model of its own; one message of it is that of the readers."""
    with beginning_without_views():
        return store_of(tmp_path_factory.mktemp("game") / "s.duckdb", turns=1, texts={mark("public", "D1", 1): TEXT})


# -- judges -----------------------------------------------------------------------------------------------


def judged(store: Store, model: str, replies: Sequence[Any], rubric: Rubric, **options: Any) -> tuple[list[dict[str, Any]], int]:
    """A model's verdicts on the turn, and how many requests they took."""
    with replying(*bodies(replies)) as (url, asked):
        run(replace(ask_model(url, model=model, **options), rubric=rubric), store)
    shown = "SELECT question, answer, status, reason, probability, rule FROM verdicts WHERE judge = $judge ORDER BY question"
    return list(query(store, shown, {"judge": f"llm:{model}"}).iter_rows(named=True)), len(asked)


class Judged(NamedTuple):
    """What became of one case."""

    verdicts: list[dict[str, Any]]
    read: set[str]
    requests: int


def judged_at_once(folder: Path, rubric: Rubric, cases: Mapping[str, Sequence[Any]], **options: Any) -> dict[str, Judged]:
    """What became of the replies of each case, in one run: each case is about a game of its own, by whose only message it is known."""
    names = list(cases)
    store = store_of(folder / "s.duckdb", games=len(names), turns=1)
    messages = [(f"{TEXT} ({name})", f"game-{number}", mark("public", "D1", 1)) for number, name in enumerate(names)]
    with store.writing() as connection:
        connection.executemany("UPDATE utterances SET text = ? WHERE episode_id = ? AND text = ?", messages)
    asked = Counter[str]()

    async def answer(request: web.Request) -> web.Response:
        body = await request.text()
        (name,) = (name for name in names if f"({name})" in body)
        replies = bodies(cases[name])
        asked[name] += 1
        return json_reply(replies[min(asked[name], len(replies)) - 1])

    app = application()
    app.router.add_post("/v1/chat/completions", answer)
    with served(app) as url:
        run(replace(ask_model(url, **options), rubric=rubric), store)
    shown = "SELECT episode_id, question, answer, status, reason, probability, rule FROM verdicts ORDER BY question"
    verdicts = list(query(store, shown).iter_rows(named=True))
    read = query(store, "SELECT DISTINCT episode_id, read FROM calls").rows()
    return {
        name: Judged([one for one in verdicts if one["episode_id"] == game], {how for of, how in read if of == game}, asked[name])
        for name, (_, game, _) in zip(names, messages, strict=True)
    }


def reasons_shown(rubric: Rubric) -> list[str]:
    """What a prompt holds that might be given back as a reason."""
    return [text for question in rubric.questions.values() for text in (question.ask, *question.examples.values())]


@pytest.fixture(scope="module")
def judgments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """Of every recorded reply of a judge, and of one `part-N` for each text that cannot be a reason."""
    rubric, parts = load(HERE / "recorded.yaml"), dict[str, list[Any]]()
    for number, text in enumerate(reasons_shown(rubric)):
        filled = {name: {"reason": "D1 asks for a red block.", "answer": "no"} for name in rubric.questions}
        filled["Q2"]["reason"] = text
        parts[f"part-{number}"] = [json.dumps(filled)]
    found = dict[str, Judged]()
    with beginning_without_views():
        for options in ({}, {"mode": "tools"}, {"logprobs": True}):
            cases = {name: RECORDED[name]["replies"] for name in names_of("judge") if RECORDED[name].get("options", {}) == options}
            found |= judged_at_once(tmp_path_factory.mktemp("judged"), rubric, cases if options else cases | parts, **options)
    return found


@pytest.mark.parametrize("name", names_of("judge"))
def test_a_judges_reply(name: str, judgments: dict[str, Judged]) -> None:
    """It becomes the right verdicts, or failed ones with the reason."""
    right, (found, read, requests) = RECORDED[name]["right"], judgments[name]
    assert {one["question"]: one["answer"] for one in found} == right["answers"]
    assert {one["status"] for one in found} == {"failed" if None in right["answers"].values() else "answered"}
    assert all(right.get("why_not", "") in one["reason"] for one in found), found
    assert read == {right["read"]}
    assert requests == right.get("requests", requests)
    if "probability" in right:
        assert [one["probability"] for one in found] == pytest.approx([right["probability"]] * len(found), abs=0.01)


def test_no_example_or_question_is_a_reason(judgments: dict[str, Judged]) -> None:
    """Whichever it is of a prompt's, and whatever the other reasons are."""
    for number, text in enumerate(reasons_shown(load(HERE / "recorded.yaml"))):
        assert {one["answer"] for one in judgments[f"part-{number}"].verdicts} == {None}, text


def test_prompts_end_with_a_form_that_is_no_answer(store: Store) -> None:
    """Of judges, readers and attribution, in every family; what is the same for all units comes first."""
    rubric = load(HERE / "recorded.yaml")
    with replying(*bodies(["{}"])) as (url, asked):
        run(replace(ask_model(url, model="local/prompts"), rubric=rubric), store)
    with replying(*bodies(["{}"])) as (url, asked_of_games):
        ask_games(AskingRequest(settings=ModelSettings(model="local/prompts", base_url=url), manner="search"), store)
    for body in (asked[0], asked_of_games[0]):
        system, user = (message["content"] for message in body["messages"][:2])
        form = json.loads(user[user.rindex("\n{") :])
        name, schema = form_of(body)
        assert form.keys() == schema["properties"].keys(), name
        assert "<<" not in system.replace("<<example: ", "")
        assert "<<" in json.dumps(form)
    for benchmark in ("craft", "asympuzl", "einstein", "overcooked", "any other"):
        family = family_reading(benchmark)
        example = json.JSONDecoder().raw_decode(family.prompt["form"], family.prompt["form"].index("{"))[0]
        with pytest.raises(ValidationError, match=ECHO):
            claims_form(family.types, family.prompt["form"]).model_validate(example)
        asked_last = messages_for(family.prompt["instructions"], Frame(), "", form=family.prompt["form"])[-1]["content"]
        assert asked_last.endswith(family.prompt["form"].strip())


# -- readers ----------------------------------------------------------------------------------------------


def reading(store: Store, model: str, replies: Sequence[Any]) -> tuple[ReadingReport, list[dict[str, Any]]]:
    """What came of a model's reading, and what it is sure that the readers' message claims."""
    with replying(*bodies(replies)) as (url, _):
        report = read_texts(ReadingRequest(settings=ModelSettings(model=model, base_url=url)), store)
    shown = "SELECT claim FROM claims WHERE reader = $reader AND kind NOT IN ('read', 'unread') AND certain AND text_hash = md5($text)"
    return report, [orjson.loads(claim) for (claim,) in query(store, shown, {"reader": f"llm:{model}", "text": TEXT}).rows()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", names_of("reader"))
def test_a_readers_reply(name: str, store: Store) -> None:
    """It becomes claims, or none at all."""
    case, model = RECORDED[name], f"local/{name}"
    right = case["right"]
    report, claims = reading(store, model, case["replies"])
    assert read_in(store, model) == [right["read"]]
    if "why_not" in right:
        assert (report.read, claims) == (0, [])
        assert right["why_not"] in (report.first_error or "")
    else:
        assert report.failed == 0
        assert [{name: claim.get(name) for name in wanted} for claim, wanted in zip(claims, right["claims"], strict=True)] == right[
            "claims"
        ]


# -- attribution by models ----------------------------------------------------------------------------------


def conversation(folder: Path, turns: Sequence[tuple[str, str]]) -> Store:
    """A store with one conversation that failed."""
    (folder / "logs").mkdir()
    labels = {"mistake_agent": turns[0][0], "mistake_step": "0", "mistake_reason": ""}
    history = [{"content": text, "name": name, "role": "user"} for name, text in turns]
    found = {"is_correct": False, "question": "?", "question_ID": "q", "ground_truth": "2", "history": history, **labels}
    (folder / "logs" / "1.json").write_bytes(orjson.dumps(found))
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    return store


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A conversation, about which every case asks a model of its own."""
    with beginning_without_views():
        return conversation(tmp_path_factory.mktemp("talk"), CONVERSATION)


def decisive(store: Store, model: str, replies: Sequence[Any]) -> dict[str, Any]:
    """What a model holds for the decisive error: agent, step, status, reason, and whether that agent spoke."""
    with replying(*bodies(replies)) as (url, _):
        ask_games(AskingRequest(settings=ModelSettings(model=model, base_url=url), manner="all_at_once"), store)
    shown = "SELECT question, answer, status, reason, agent_spoke FROM verdicts WHERE judge = $judge"
    rows = {one["question"]: one for one in query(store, shown, {"judge": f"llm:{model}"}).iter_rows(named=True)}
    return {**rows["agent"], "agent": rows["agent"]["answer"], "step": rows["step"]["answer"]}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", names_of("attribution"))
def test_a_reply_that_names_the_decisive_error(name: str, talk: Store) -> None:
    """Agent and turn are those of the reply, or there is no verdict."""
    case, model = RECORDED[name], f"local/{name}"
    right, found = case["right"], decisive(talk, model, case["replies"])
    assert read_in(talk, model) == [right["read"]]
    assert (found["agent"], found["step"]) == (right.get("agent"), right.get("step"))
    assert found["status"] == ("failed" if "why_not" in right else "answered")
    assert right.get("why_not", "") in found["reason"]
    assert found["agent_spoke"] == right.get("spoke", found["agent_spoke"])


# -- players ----------------------------------------------------------------------------------------------


def played(folder: Path, game: str, players: Sequence[str], replies: Sequence[Any]) -> tuple[list[str], int]:
    """How the replies of a short game were read, and how many actions were carried out that came of a reply which cannot be read."""
    family, _, before = game.partition(" ")
    with replying(*bodies(replies)) as (url, _):
        seats = [player.replace("MODEL", "openai/stub") for player in players]
        play(family, folder / "logs", seats, *GAMES[game], "--base-url", url, "--max-tokens", "70", before=before)
    store = ingested(folder)
    return read_in(store), query(store, "SELECT count(*) FROM actions WHERE accepted AND read IN ('unreadable', 'cut')").item()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [name for game in GAMES for name in names_of(game)])
def test_a_players_reply(name: str, tmp_path: Path) -> None:
    """It is a move, a question or a message of its author, or nothing is done."""
    case = RECORDED[name]
    assert played(tmp_path, case["of"], case.get("players", ["all=MODEL"]), case["replies"]) == (case["right"]["read"], 0)


# -- replies recorded elsewhere -----------------------------------------------------------------------------

MODELS: Final[Mapping[str, tuple[str, Any]]] = {
    "judge_json_wrong_shape": ("judge", ECHO),
    "judge_tools_name_arguments_fence_flips_yes_no": ("judge", {"T1": "yes"}),
    "judge_tools_prose_cut_then_parrot": ("judge", ""),
    "tool_choice_required": ("judge", "longest length"),
    "reason_yes_answer_no": ("judge", "and the answer is"),
    "logprobs_fence_lost": ("judge", {"T1": "yes"}),
    "reader_runaway_400": ("reader", "longest length"),
    "craft_builder_copies_grammar_05": ("craft", ["directors=script:plain", "builder=MODEL"]),
    "craft_builder_copies_grammar_15": ("craft", ["directors=script:plain", "builder=MODEL"]),
    "asympuzl_smollm_no_json": ("asympuzl", ["all=MODEL"]),
    "hanabi_why_not_misplay": ("coordination hanabi", ["all=MODEL"]),
    "overcooked_echoes_input": ("overcooked", ["all=MODEL"]),
    "decisive_agent_contradicts_turn": ("attribution", None),
}
"""File of the replies of small models -> whose they are, and what is right: answers, or why there are none; of games, who plays."""
FEW: Final = ("judge_json_wrong_shape", "tool_choice_required", "hanabi_why_not_misplay")
"""Of the kinds of the others a recorded one is read above."""
_QUESTION: Final = re.compile(
    r"^(\w+): (.+)\n(?:It does not apply when (.+)\.\n)?Possible answers, each with an example:\n((?:- .+\n?)+)", re.MULTILINE
)


@cache
def models(name: str) -> list[dict[str, Any]]:
    """The requests and replies of a file."""
    path = SHARED / "cases/models" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    found = orjson.loads(path.read_bytes())
    return found if isinstance(found, list) else [found]


def rubric_of(prompt: str) -> Rubric:
    """The questions of a recorded prompt, asked about a turn."""
    questions = {
        name: {"ask": ask, "na_when": na or None, "examples": dict(re.findall(r'- "(\w+)": (.+)', examples))}
        for name, ask, na, examples in _QUESTION.findall(prompt)
    }
    facts = {"name": "recorded", "version": 1, "unit": "turn", "benchmarks": ["craft"], "shows": ["public_messages"]}
    scale = {"yes": 1.0, "no": 0.0, "unclear": 0.5, "na": None}
    return Rubric.model_validate({**facts, "answers": scale, "instructions": "Judge the messages.", "questions": questions})


@pytest.mark.shared
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in MODELS])
def test_replies_of_small_models(name: str, store: Store, tmp_path: Path) -> None:
    """As the model gave them, one try after the other."""
    of, right = MODELS[name]
    recorded = models(name)
    asked, replies = recorded[0]["req"], [one["resp"] for one in recorded]
    if of == "judge":
        rubric = rubric_of(asked["messages"][0]["content"])
        found, _ = judged(store, f"local/{name}", replies, rubric, **({"mode": "tools"} if "tools" in asked else {}))
        answers = right if isinstance(right, dict) else dict.fromkeys(rubric.questions)
        assert {one["question"]: one["answer"] for one in found} == answers
        assert isinstance(right, dict) or all(right in one["reason"] for one in found), found
    elif of == "reader":
        report, claims = reading(store, f"local/{name}", replies)
        assert (report.read, claims) == (0, [])
        assert right in (report.first_error or "")
    elif of == "attribution":
        for number, one in enumerate(recorded):
            (folder := tmp_path / str(number)).mkdir()
            log = re.findall(r"^turn \d+, (\S+) said:\n((?:\| .*\n?)*)", one["req"]["messages"][1]["content"], re.MULTILINE)
            given = json.loads(one["resp"]["choices"][0]["message"]["content"])
            talk = conversation(folder, [(agent, text.replace("| ", "")) for agent, text in log])
            found_error = decisive(talk, "local/stub", [one["resp"]])
            assert (found_error["agent"], found_error["step"]) == (given["agent"], str(given["turn"]))
    else:
        for number, reply in enumerate(replies):
            (folder := tmp_path / str(number)).mkdir()
            read, wrong = played(folder, of, right, [reply])
            assert (set(read) <= {"unreadable", "cut"}, wrong) == (True, 0), reply


REPORTS: Final = {
    "01-draft-in-thoughts/a-reasoning_content": None,
    "01-draft-in-thoughts/b-harmony": None,
    "01-draft-in-thoughts/f-stop": None,
    "02-contradicting-tool-calls/a-differ": None,
    "02-contradicting-tool-calls/b-empty-first": "no",
    "03-wrapped-forms/a-tagged": "yes",
    "03-wrapped-forms/b-bare": "yes",
    "03-wrapped-forms/e-twice": "yes",
}
"""Reply of a public report -> the answer to each question; None: there is none."""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """Of every reply of a public report that is here."""
    paths = {name: SHARED / "cases/replies" / f"{name}.reply.json" for name in REPORTS}
    cases = {name: [orjson.loads(path.read_bytes())] for name, path in paths.items() if path.exists()}
    if not cases:
        return {}
    with beginning_without_views():
        return judged_at_once(tmp_path_factory.mktemp("reports"), find("pragmatic_sufficiency").with_variant("version_1"), cases)


@pytest.mark.shared
@pytest.mark.parametrize("name", REPORTS)
def test_replies_of_public_reports(name: str, reported: dict[str, Judged]) -> None:
    """A whole answer costs one request, and what is none becomes no verdict."""
    if name not in reported:
        pytest.skip(f"{name} is not here")
    found, _, requests = reported[name]
    assert {one["answer"] for one in found if one["rule"] is None} == {REPORTS[name]}
    assert REPORTS[name] is None or requests == 1
