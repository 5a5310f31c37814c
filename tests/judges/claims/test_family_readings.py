"""Every family whose players talk has claims of its own; any other game has what its sentences do."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import orjson
import pytest
from pydantic import ValidationError

import cotrace
from games.asympuzl.facts import Fact, Question
from games.einstein.claims import Belongs
from games.overcooked.text.replies import Asked, Planned, Reported
from ingest.files.run import ingest_paths
from judges.asympuzl.checks import history_of
from judges.claims import generic
from judges.claims.extraction import form_of, read_of, rows_of
from judges.claims.readers import family_reading
from judges.claims.texts import texts
from judges.evidence.transcript import PLANTED, ClaimView, Transcript, UtteranceView, load, reader_named
from schemas.store.store import Store
from tests.ingest.asympuzl.asympuzl_logs import PlayRequest as AsympuzlRequest
from tests.ingest.asympuzl.asympuzl_logs import play as play_asympuzl
from tests.scripted import EinsteinRequest
from tests.scripted import play as play_einstein


def game(benchmark: str, **facts: Any) -> Transcript:
    """A game as far as readings look at it."""
    empty: dict[str, Any] = {name: {} for name in ("team", "goal", "details", "agents")}
    return Transcript(episode_id="g", benchmark=benchmark, task_id="t", model="m", turns=(), **(empty | facts))


def claims(benchmark: str, agent: str, channel: str, text: str, **facts: Any) -> list[Any]:
    """What the family's rules read, without the words."""
    said = UtteranceView(1, agent, channel, (), text, superseded=False)
    return [replace(told.claim, words="") for told in family_reading(benchmark).read(game(benchmark, **facts), 1, said).claims]


PUZZLE = {"truth": [{"shape": "circle", "color": "red"}, {"shape": "star", "color": "blue"}]}
CASES: dict[str, tuple[list[Any], list[Any]]] = {
    "asympuzl, order and question": (
        claims("asympuzl", "A", "public", "Position 1 is the circle, position 2 is the star. What are the colors?", goal=PUZZLE),
        [Fact(position=1, shape="circle"), Fact(position=2, shape="star"), Question(about="colors")],
    ),
    "asympuzl, a condition states nothing": (claims("asympuzl", "B", "public", "If the circle is red, say so.", goal=PUZZLE), []),
    "einstein": (
        claims("einstein", "Player1", "private", "So block1 should go to the top-right bin. I can't tell where block4 goes."),
        [Belongs(block="block1", goal="top_right_bin"), Belongs(block="block4", goal=None)],
    ),
    "einstein, a bin that is only reached": (
        claims("einstein", "Player1", "private", "block1 is in the common bin and the bottom-left bin is on my side of the table."),
        [],
    ),
    "overcooked, a plan": (
        claims("overcooked", "Chef", "private", "Chef plan: request('pickup(egg, ingredient_dispenser)'); cook(pot0)"),
        [Asked(action="pickup(egg,ingredient_dispenser)"), Planned(action="cook(pot0)")],
    ),
    "overcooked, an answer": (claims("overcooked", "Assistant", "public", "Sure, I will do that."), [Reported(stance="agrees")]),
    "any other game": (
        claims("negotiation", "a", "public", "Please give me two. I do not have more. Okay, deal. The price is 3."),
        [generic.Said(act=act) for act in ("asks", "denies", "acknowledges", "states")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rules_of_each_family_read_plain_sentences(name: str) -> None:
    """One small case a kind."""
    found, wanted = CASES[name]
    assert found == wanted


def test_a_request_in_free_words_is_not_read_as_silence() -> None:
    """What rules read of a cook's message is asked for, and what they cannot read stays open."""
    said = UtteranceView(1, "Chef", "public", (), "If the pot is free, you know what I like.", superseded=False)
    assert [Asked in clause.may_hold for clause in family_reading("overcooked").read(game("overcooked"), 1, said).unread] == [True, True]
    assert claims("overcooked", "Chef", "public", "Please bring me the egg.") == [
        Asked(action="pickup(egg,ingredient_dispenser)"),
        Asked(action="place_obj_on_counter()"),
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games of two families."""
    folder = tmp_path_factory.mktemp("games")
    play_einstein(EinsteinRequest(out=folder / "e", personas=("misreader",), games=2))
    play_asympuzl(AsympuzlRequest(out=folder / "a", personas=("sharing", "ignoring"), sizes=(3,), seeds=(1, 2)))
    made = Store(folder / "s.duckdb")
    ingest_paths([folder / "e", folder / "a"], made, workers=1)
    return made


def test_einstein_thoughts_are_proved_alike_by_rules_and_by_their_authors(store: Store) -> None:
    """RU1 asks what thoughts claim: the players' plans and the rules agree on it."""
    for reader in ("rules", PLANTED):
        cotrace.open(store.path).judge("rule_understanding", judge="engine", reader=reader)
    rows = cotrace.open(store.path).sql(
        "SELECT a.answer, b.answer FROM verdicts a JOIN verdicts b USING (unit_id, question) "
        "WHERE a.judge = 'engine' AND b.judge = 'engine:planted' AND question = 'RU1'"
    )
    pairs = [tuple(row) for row in rows]
    assert len(pairs) > 10
    assert {one for one, other in pairs if one != other} == set()
    assert {one for one, _ in pairs} >= {"yes", "no"}


def test_asympuzl_rules_take_facts_whoever_read_them(store: Store) -> None:
    """The rules' own claims, stored under another reader's name, give the very labels that the rules' reading of the text gives."""
    with store.reading() as connection:
        ids = [row[0] for row in connection.execute("SELECT episode_id FROM episodes WHERE benchmark = 'asympuzl'").fetchall()]
    model = reader_named("llm:openai/stub")
    read: dict[tuple[str, int, int], tuple[ClaimView, ...]] = {}
    for text in texts(store, "benchmark = 'asympuzl'"):
        rows = rows_of(text.family.read(text.game, text.turn, text.message), text.place, model.name)
        read[text.game.episode_id, text.turn, text.message.seq] = tuple(
            ClaimView(row.kind, orjson.loads(row.claim), row.words, None, None, row.certain, row.reason) for row in rows
        )
    checked = 0
    for played in load(store, ids):
        other = replace(
            played,
            reader=model.name,
            claims={(turn, seq): views for (game_id, turn, seq), views in read.items() if game_id == played.episode_id},
        )
        for turn in played.turns:
            for agent in ("A", "B"):
                assert history_of(other).labels(turn.turn, agent) == history_of(played).labels(turn.turn, agent)
                checked += 1
    assert checked > 10
    assert read_of((), (Fact,)) is None


@pytest.mark.parametrize("benchmark", ["asympuzl", "craft", "einstein", "overcooked"])
def test_a_reading_that_copies_a_part_of_the_prompts_example_is_refused(benchmark: str) -> None:
    """Small models put it where they are to say what they did not understand; words of their own pass."""
    family: Any = family_reading(benchmark)
    form = form_of(family.types, family.prompt["form"])
    example = max(re.findall(r'"([^"]*)"', family.prompt["form"]), key=len).split()

    def reading(words: str) -> dict[str, Any]:
        return {"claims": [], "not_understood": [{"words": words, "why": "no such words"}]}

    for part in (example, example[:-3], example[2:-1]):
        with pytest.raises(ValidationError, match="repeats an example"):
            form.model_validate(reading(" ".join(part)))
    form.model_validate(reading("the thing over there, which I cannot make out from where I sit"))
