"""Questions about states: keys are the engine's, files are deterministic, and what asks and scores CoordinationQA asks and scores them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.probe_skill import probe_skill
from analytics.query import query
from games.asympuzl import probes as asympuzl
from games.avalon import probes as avalon
from games.avalon.rules import EVIL, LINEUPS, sees
from games.coordination import probes as coordination
from games.coordination.qa.ask import AskRequest, ask_questions
from games.coordination.qa.questions import QUESTION_FILE, QaQuestion, extract, load_questions, parse_questions
from games.craft import probes as craft
from games.craft.engine.board import DIRECTORS, EMPTY_BOARD, Board, wall_cells
from games.craft.setup import state_json
from games.craft.targets import generate_structures
from games.craft.value.search import best_progress
from games.einstein import probes as einstein
from games.einstein.engine.puzzle import COMMON, REACH
from games.probes import Scene, question_file, scenarios
from ingest.files.run import ingest_paths
from schemas.common.errors import UsageError
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.little_games import Game, Step, rows_of, store_with
from tests.command_line import called
from tests.places import DOCS
from tests.servers.stub_server import stub_server


def parsed(text: str) -> tuple[QaQuestion, ...]:
    return parse_questions(text.encode())


def right(question: QaQuestion) -> set[str]:
    return {question.options[place].text for place in question.correct_options}


def boards(seed: int = 7) -> list[Scene]:
    """Three empty boards and the same with one right block."""
    found = []
    for structure in generate_structures(3, seed):
        goal = state_json(structure.target)
        cell, block = next((cell, stack[0]) for cell, stack in goal["stacks"].items() if stack and stack[0].endswith("s"))
        begun = EMPTY_BOARD.with_stack(cell, (block,))
        found += [Scene("simple", goal, state_json(board), 1, 6) for board in (EMPTY_BOARD, begun)]
    return found


def test_keys_of_craft_are_the_engine_s() -> None:
    """Moves by the highest progress within reach, what a director can know by its wall, tops by the board."""
    scenes = boards()
    questions = parsed(question_file(scenarios("craft", scenes, 6, 3), 3))
    assert len(questions) >= 8
    for question in questions:
        letters = [option.letter for option in question.options]
        assert letters == [chr(ord("A") + place) for place in range(len(letters))]
        assert 0 < len(question.correct_options) < len(letters)
        if question.type == "TOM":
            director = next(name for name in DIRECTORS if name in question.text.partition("?")[0])
            assert {any(cell in option for cell in wall_cells(director)) for option in right(question)} == {True}
            wrong = {option.text for option in question.options} - right(question)
            assert {any(cell in option for cell in wall_cells(director)) for option in wrong} == {False}
        if question.type == "EC":
            cell = question.text.partition("?")[0][-5:]
            stack = json.loads(question.description.partition("to top: ")[2].partition("\n")[0])[cell]
            assert right(question) == {stack[-1] if stack else "no block"}


def test_the_best_move_of_craft_leaves_most_within_reach() -> None:
    """Against the value of the board that each option gives."""
    (scene, *_) = boards()
    target = Board.from_json(scene.goal["stacks"], scene.goal["spans"])
    found = craft.scenario(scene, random.Random(1))
    assert found is not None

    def worth(option: str) -> float:
        _, block, _, cell, _, _, *partner = option.split()
        after = EMPTY_BOARD.with_stack(cell, (block,))
        if partner:
            after = after.with_stack(partner[1], (block,)).with_layer_spans(0, ((cell, partner[1]),))
        return best_progress(after, target, 5)

    best = {round(worth(option), 9) for option in found.probes["JP"].right}
    assert len(best) == 1
    assert max(worth(option) for option in found.probes["JP"].wrong) < min(best)


def test_experiments_a_to_c_ask_for_the_next_of_five_actions() -> None:
    """Their recipes differ as the paper says, their keys do not."""
    text = question_file(scenarios("overcooked", (), 0, 1), 1)
    questions = parsed(text)
    assert len(questions) == 75 * 4
    due = {question.scenario: right(question) for question in questions if question.type == "NR"}
    assert due == {place: due[place % 25] for place in due}
    assert {next(iter(due[k * 5])).split()[0] for k in range(5)} == {"Pick", "Put", "Cut", "Place"}
    rotated = [question for question in questions if question.type == "NR" and question.game_upstream == "Overcooked C3"]
    assert all("1. Cut" in question.description for question in rotated)
    assert text == question_file(scenarios("overcooked", (), 0, 1), 1) != question_file(scenarios("overcooked", (), 0, 2), 2)


def test_capture_and_hanabi_by_hand() -> None:
    """Next to the thief a player catches it; a card is known by the hints alone."""
    state = {"rooms": {"Alice": 1, "Bob": 5, "Thief": 6}, "doors": {"1-2": True, "3-4": True}}
    found = coordination.scenario(Scene("collab_capture", {}, state, 2, 29), random.Random(0))
    assert found is not None
    assert not set(found.probes["JP"].right) & set(found.probes["JP"].wrong)
    assert coordination.scenario(Scene("overcooked", {}, {}, 1, None), random.Random(0)) is None


def test_what_players_of_avalon_can_prove_is_what_holds_in_every_deal() -> None:
    """Against all deals of the roles that fit what the player was shown and the missions."""
    names, dealt = ("Ann", "Ben", "Cid", "Dot", "Eva"), LINEUPS[5]
    done = [{"mission": 1, "team": ["Ben", "Eva"], "fails": 1}, {"mission": 2, "team": ["Ann", "Ben", "Dot"], "fails": 0}]
    scene = Scene("5 players", {"roles": dict(zip(names, dealt, strict=True))}, {"missions": done}, 9, None)
    asked = {}
    for seed in range(8):
        found = avalon.scenario(scene, random.Random(seed))
        assert found is not None
        who = next(name for name in names if name in found.probes["TOM"].text)
        asked[who] = found
        me, hidden = names.index(who), {place for place, role in enumerate(dealt) if role in EVIL}
        deals = [
            one for one in permutations(dealt)
            if one[me] == dealt[me] and sees(one, me) == sees(dealt, me) and (one[1] in EVIL or one[4] in EVIL)
        ]  # fmt: skip
        evil = [{names[place] for place, role in enumerate(one) if role in EVIL} for one in deals]
        assert {names[place] for place in hidden} in evil
        proven = {f"{name} is {'evil' if name in evil[0] else 'good'}" for name in names if len({name in one for one in evil}) == 1}
        assert set(found.probes["TOM"].right) == {fact for fact in proven if not fact.startswith(who)}
        risk = {", ".join(team): sum(bool(one & set(team)) for one in evil) for team in combinations(names, 2)}
        assert set(found.probes["JP"].right) == {team for team, count in risk.items() if count == min(risk.values())}
        suspected = {name: sum(name in one for one in evil) for name in names if name != who}
        assert set(found.probes["NR"].right) == {name for name, count in suspected.items() if count == max(suspected.values())}
    assert len(asked) == 3
    assert avalon.scenario(scene._replace(state={"missions": []}), random.Random(0)) is None


def test_moves_of_einstein_are_on_a_shortest_way() -> None:
    """Against all ways that two players have who know everything."""
    belongs = {"block0": "top_left_bin", "block1": "bottom_right_bin", "block2": "bottom_left_bin"}
    placed = {"block0": "player1_bin", "block1": "player2_bin", "block2": COMMON}
    knowledge = {"Player1": {"items": ["(block1, in, bottom_right_bin)"], "infers": {"block1": "bottom_right_bin"}}}
    knowledge["Player2"] = {"items": ["(block0, in, top_left_bin)"], "infers": {"block0": "top_left_bin"}}

    def bins(of: dict[str, str]) -> dict[str, list[str]]:
        return {place: [block for block in of if of[block] == place] for place in {*REACH[0], *REACH[1]}}

    def steps(places: tuple[str, ...], mover: int) -> int:
        layer, count = {(places, mover)}, 0
        while not any(now == tuple(belongs.values()) for now, _ in layer):
            layer = {
                ((*now[:at], target, *now[at + 1 :]), 1 - who)
                for now, who in layer
                for at, goal in enumerate(belongs.values())
                for target in {COMMON, goal, now[at]} & {*REACH[who], now[at]}
                if now[at] in REACH[who] or target == now[at]
            }
            count += 1
        return count

    scene = Scene("3 objects", {"bins": bins(belongs)}, {"bins": bins(placed), "knowledge": knowledge}, 1, None)
    for seed in range(4):
        found = einstein.scenario(scene, random.Random(seed))
        assert found is not None
        mover = int(found.probes["JP"].text.startswith("Player2"))
        worth = {}
        for option in [*found.probes["JP"].right, *found.probes["JP"].wrong]:
            _, block, _, source, _, target = option.split()
            assert source == placed[block]
            if target in (COMMON, belongs[block]):
                worth[option] = steps(tuple({**placed, block: target}.values()), 1 - mover)
        assert set(found.probes["JP"].right) == {option for option, count in worth.items() if count == min(worth.values())}
        partner = "Player2" if "ask Player2" in found.probes["NR"].text else "Player1"
        assert found.probes["NR"].right == [{"Player1": "block1", "Player2": "block0"}[partner]]


def test_questions_about_asympuzl_and_escape_by_hand() -> None:
    """Who lacks what; with both generators repaired, and the killer far away, the way out is through room 7."""
    truth = [{"shape": "cone", "color": "red"}, {"shape": "cube", "color": "blue"}]
    state = {"A": [truth[0], {"shape": "cube", "color": None}], "B": truth}
    found = asympuzl.scenario(Scene("2", {"truth": truth}, state, 1, 9), random.Random(0))
    assert found is not None
    assert [list(found.probes[kind].right) for kind in ("JP", "NR")] == [["position 2: cube, blue"], ["the color of the cube"]]
    assert found.probes["TOM"].right == ["the color of the cone", "the color of the cube"]
    rooms = {"Alice": 6, "Bob": 9, "Adversary": 2}
    away = coordination.scenario(Scene("collab_escape", {}, {"rooms": rooms, "generators": {"1": 2, "6": 2}}, 5, None), random.Random(0))
    assert away is not None
    assert {option.partition(";")[0] for option in away.probes["JP"].right} == {"Alice: move to room 7"}
    assert set(away.probes["TOM"].right) == {"room 1", "room 3"}
    both = {"Alice": 1, "Bob": 3, "Adversary": 2}
    assert (
        coordination.scenario(Scene("collab_escape", {}, {"rooms": both, "generators": {"1": 0, "6": 0}}, 1, None), random.Random(0))
        is None
    )


def test_a_model_is_asked_about_states_and_scored(tmp_path: Path) -> None:
    """Through the command, from a server: its accuracy is the share of questions whose key has its letter."""
    folder, blank = tmp_path / "answers", [{**entry, "color": None} for entry in _TRUTH]
    written = ([_TRUTH[0], blank[1]], [blank[0], _TRUTH[1]])
    scenes = [Scene("2", {"truth": _TRUTH}, {"A": entries, "B": _TRUTH}, 1, 9) for entries in written]
    path = tmp_path / QUESTION_FILE
    path.write_text(question_file(scenarios("asympuzl", scenes, 2, 1), 1), encoding="utf-8")
    with stub_server("--says", "I think so.\nAnswer: A") as url:
        done = called("play", "coordqa", str(path), "--model", "openai/little", "--base-url", url, "--trials", "1", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([folder], store, workers=1)
    ensure_installed(store)
    asked = query(store, "SELECT count(*) AS n, avg(correct_read::INT) AS share FROM coordqa_answers").to_dicts()[0]
    questions = load_questions(path)
    assert asked == {"n": len(questions), "share": pytest.approx(sum(correct(one, "A") for one in questions) / len(questions))}


_TRUTH = [{"shape": "cone", "color": "red"}, {"shape": "cube", "color": "blue"}]


def test_who_has_seen_the_published_questions_shows_a_gap(tmp_path: Path) -> None:
    """Planted: one respondent knows the published answers by heart and guesses on fresh states, one is equally good at both."""
    for name, game, seed in (("published", "Hanabi", 7), ("fresh", "Hanabi states", 8)):
        folder = tmp_path / "answers" / name
        folder.mkdir(parents=True)
        text = question_file(scenarios("craft", boards(seed), 6, 3), 3)
        (folder / QUESTION_FILE).write_text(text.replace("CRAFT,", f"{game},"), encoding="utf-8")
        asked = load_questions(folder / QUESTION_FILE)
        for who in ("heart", "able"):
            rows = lines(who, asked, len(asked) if (who, name) == ("heart", "published") else 3)
            (folder / f"{who}.jsonl").write_text("".join(rows), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path / "answers"], store, workers=1)
    ensure_installed(store)
    (shown,) = re.findall(r"```sql\n(.*?)```", (DOCS / "probes.md").read_text("utf-8"), re.DOTALL)
    gaps = {row["respondent"]: row for row in query(store, shown).to_dicts()}
    given = sum(len(file.read_text("utf-8").splitlines()) for file in (tmp_path / "answers").rglob("*.jsonl"))
    assert query(store, "SELECT count(*) FROM coordqa_answers").item() == given  # also where both files ask the same
    assert gaps["heart"]["low"] > 0
    assert abs(gaps["able"]["gap"]) < gaps["heart"]["gap"] / 2
    assert gaps["able"]["low"] < 0 < gaps["able"]["high"]


def test_answers_are_asked_scored_and_held_against_play(tmp_path: Path) -> None:
    """Five respondents of known skill, and games that the more skilled of them win: the correlation is 1."""
    questions = tmp_path / QUESTION_FILE
    questions.write_text(question_file(scenarios("craft", boards(), 6, 3), 3), encoding="utf-8")
    asked = load_questions(questions)
    report = ask_questions(AskRequest(questions=questions, out=tmp_path / "a", respondent="script:first", trials=1))
    assert (report.asked, report.unread) == (len(asked), 0)
    assert report.right == sum(correct(question, "A") for question in asked)
    skills = ("m0", "m1", "m2", "m3", "m4")
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / QUESTION_FILE).write_bytes(questions.read_bytes())
    for place, name in enumerate(skills):
        (folder / f"{name}.jsonl").write_text("".join(lines(name, asked, place)), encoding="utf-8")
    store = store_with(tmp_path, [])
    games = [Game([Step("{}")], f"g{name}", benchmark="craft", model=name, score=place / 10) for place, name in enumerate(skills)]
    with store.writing() as connection:
        for game in games:
            batches.insert(connection, batches.to_arrow(rows_of(game)))
    ingest_paths([folder], store, workers=1)
    rows = probe_skill(store).filter(type="EC").to_dicts()
    assert [(row["game"], row["benchmark"], row["teams"]) for row in rows] == [("CRAFT", "craft", 5)]
    assert rows[0]["spearman"] == pytest.approx(1)
    assert rows[0]["low"] > 0
    assert query(store, "SELECT DISTINCT type FROM coordqa_accuracy ORDER BY type")["type"].to_list() == ["EC", "JP", "NR", "TOM"]


@pytest.mark.long
def test_too_few_teams_are_said_and_members_count_for_their_team(tmp_path: Path) -> None:
    """Graded respondents answer as their skill says, under a name of one's own; a pair has the mean of its two; three teams are too few."""
    questions, answers = tmp_path / QUESTION_FILE, tmp_path / "answers"
    questions.write_text(question_file(scenarios("craft", boards(), 6, 3), 3), encoding="utf-8")
    shares = []
    for name, skill in (("Anna", 0), ("Ben", 50), ("Cid", 100), ("Dot", 100)):
        request = AskRequest(questions=questions, out=answers, respondent=f"script:graded_{skill}", named=name, trials=2)
        report = ask_questions(request)
        shares.append(report.right / report.answered)
    assert shares[0] < shares[1] < shares[2] == shares[3] == 1
    store = store_with(tmp_path, [])
    ingest_paths([answers], store, workers=1)
    for place, team in enumerate(("x/Anna", "ben+cid", "nobody", "cid+nobody")):
        with store.writing() as connection:
            batches.insert(connection, batches.to_arrow(rows_of(Game([Step("{}")], team, benchmark="craft", model=team, score=place / 4))))
    (row,) = probe_skill(store).filter(type="all").to_dicts()
    assert (row["teams"], row["pearson"], row["score"]) == (2, None, 1 / 8)
    assert row["accuracy"] == pytest.approx((shares[0] + (shares[1] + 1) / 2) / 2)
    assert "too few teams, 2 of the 4" in row["advice"]
    assert row["advice"].endswith("only asked: dot; only played: cid+nobody, nobody")


def correct(question: QaQuestion, letter: str) -> bool:
    return extract(question, f"Answer: {letter}.").letter in question.keyed_letters


def lines(name: str, asked: Sequence[QaQuestion], skill: int) -> list[str]:
    """The first so many scenarios are answered rightly."""
    written = []
    for question in asked:
        is_right = question.scenario < skill
        letter = next(one.letter for place, one in enumerate(question.options) if (place in question.correct_options) == is_right)
        line = {"respondent": name, "trial": 0, "scenario": question.scenario, "game": question.game_upstream, "type": question.type}
        written.append(json.dumps({**line, "response": f"Answer: {letter}", "api_error": False}) + "\n")
    return written


def test_a_family_without_questions_is_named() -> None:
    with pytest.raises(UsageError, match="no questions are known about states of mast"):
        scenarios("mast", (), 1, 1)
    with pytest.raises(UsageError, match="no state gives questions"):
        question_file([], 1)
