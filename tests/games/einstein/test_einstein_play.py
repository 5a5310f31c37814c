"""Scripted Einstein games: their habits show in the taxonomy, their logs are whole, replayable and reproducible."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import orjson
import pytest

from games.einstein.engine.actions import parse_answer
from games.einstein.engine.puzzle import ACTION_MODES, COMMON, ActionMode, Grounding, generate, infer_goals, parse_game_id
from games.einstein.engine.table import table_json
from games.einstein.game import AGENTS, Game, GameSettings
from games.einstein.labels import CATEGORIES, EXTENSIONS
from games.einstein.measures import GameMetrics, game_metrics
from games.einstein.players.personas import PERSONAS
from games.einstein.players.team import ScriptedTeam
from games.einstein.replay import Samples, replay
from games.einstein.setup import GameSetup, course_of
from games.players.course import played_by
from schemas.common.errors import BadInputError, UsageError
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

CONDITIONS = (
    GameSettings(),
    GameSettings(modes=("seek", "seek"), verifier="reasoning"),
    GameSettings(modes=("none", "none"), reasoning=False, rules="published"),
    GameSettings(modes=("provide", "provide_seek"), verifier="communication", samples=2),
)

Line = dict[str, Any]


def lines(path: Path) -> list[Line]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def request(out: Path, **changes: Any) -> PlayRequest:
    return changed(PlayRequest(out=out, personas=("mixed",), partners=("mixed",), games=3, conditions=CONDITIONS), **changes)


def measured(persona: str, mode: ActionMode, *, games: int = 6) -> list[GameMetrics]:
    found = []
    for puzzle in generate(count=games, seed=21):
        settings = GameSettings(modes=(mode, mode))
        game = Game(puzzle, settings)
        players: dict[str, str] = dict.fromkeys(AGENTS, persona)
        asked = GameSetup(puzzle=puzzle, settings=settings, taken=players, seed=4, cast=True)
        for _ in played_by(course_of(asked, game), ScriptedTeam(game, players, 4)):
            pass
        found.append(game_metrics(puzzle, game.settings.modes, game.steps))
    return found


@pytest.mark.long
def test_every_category_occurs_somewhere() -> None:
    """The personas together show the whole taxonomy, the additional labels included."""
    found: Counter[str] = Counter()
    for persona in PERSONAS:
        for mode in ACTION_MODES:
            for game in measured(persona, mode, games=3):
                found += game.labels + game.ext_labels

    assert {category.key for category in CATEGORIES} | set(EXTENSIONS) | {"no_error"} == set(found)


@pytest.mark.parametrize(
    ("persona", "mode", "label"),
    [
        ("misspeller", "provide_seek", "format_following"),
        ("forgetful", "provide_seek", "object_not_in_source_bin"),
        ("grabber", "provide_seek", "source_bin_not_reachable"),
        ("grabber", "none", "dest_bin_not_reachable"),
        ("dawdler", "none", "same_source_dest"),
        ("parrot", "provide", "redundant_sharing"),
        ("dodger", "seek", "no_share_after_seek"),
        ("rambler", "seek", "wrong_share_after_seek"),
        ("inquirer", "seek", "seek_known_object"),
        ("misreader", "provide", "wrong_rule"),
        ("mirrorer", "none", "wrong_rule"),
        ("gambler", "none", "wrong_guess"),
        ("inventor", "provide_seek", "share_not_owned"),
        ("latecomer", "provide", "obsolete_share"),
        ("interrupter", "none", "out_of_mode"),
        ("dreamer", "none", "unknown_object"),
        ("stubborn", "none", "repeated_refused_move"),
    ],
)
def test_a_habit_shows_more_often_than_in_sensible_play(persona: str, mode: ActionMode, label: str) -> None:
    """Each persona falls into its own category, per step, more often than a sensible player does."""

    def share_of(games: list[GameMetrics]) -> float:
        return sum(game.labels[label] + game.ext_labels[label] for game in games) / sum(game.step_count for game in games)

    assert share_of(measured(persona, mode)) > share_of(measured("sensible", mode))


@pytest.mark.parametrize("mode", ACTION_MODES)
def test_the_planner_persona_needs_the_optimum_and_the_rest_not_less(mode: ActionMode) -> None:
    """Plans of Player2 cost one pass in front; a sensible pair solves all games; erring pairs take longer or fail."""
    planned, sensible, mixed = (measured(persona, mode) for persona in ("planner", "sensible", "mixed"))

    for game in planned:
        assert game.step_count == game.optimal_steps + (game.optimal_first_player == 2)
    assert all(game.success for game in sensible)
    assert sum(game.step_count for game in planned) < sum(game.step_count for game in sensible) < sum(game.step_count for game in mixed)


def test_sensible_players_err_only_where_they_cannot_know() -> None:
    """A guess can be wrong, a question can be without an answer; nothing else goes wrong."""
    found: Counter[str] = Counter()
    for mode in ACTION_MODES:
        for game in measured("sensible", mode):
            found += game.labels + game.ext_labels

    allowed = {"no_error", "wrong_guess", "lucky_guess", "no_share_after_seek", "unanswerable_seek"}
    assert set(found) <= allowed


def test_personas_plant_correction_spirals(tmp_path: Path) -> None:
    """Repeated failures, undo loops, undoing twice in a row and stalls are there to be found; sensible pairs undo and stall nowhere."""

    def turns_of(persona: str) -> list[list[Line]]:
        asked = request(tmp_path, personas=(persona,), partners=(persona,), games=9, conditions=(GameSettings(),))
        return [lines(path)[1:-1] for path in play(asked).paths]

    def longest_stall(turns: list[Line]) -> int:
        changes = "".join("." if turn["state_before"] == turn["state_after"] else "x" for turn in turns)
        return max(map(len, changes.split("x")))

    def repeats(turns: list[Line]) -> bool:
        moves = [(t["actions"][0]["arguments"], t["state_before"]) for t in turns if not t["actions"][0]["accepted"]]
        return any(move in moves[:number] for number, move in enumerate(moves))

    def returns(turns: list[Line]) -> bool:
        changed = [turn["state_after"] for turn in turns if turn["state_before"] != turn["state_after"]]
        return any(state in changed[:number] for number, state in enumerate(changed))

    def undoes(turns: list[Line]) -> str:
        return "".join("u" if turn["actions"][0]["undoes"] else "." for turn in turns)

    assert any(repeats(turns) for turns in turns_of("stubborn"))
    assert any(returns(turns) for turns in turns_of("undoer"))
    assert any("uu" in undoes(turns) for turns in turns_of("undoer"))
    assert any(longest_stall(turns) >= 3 for turns in turns_of("idler"))
    for turns in turns_of("sensible"):
        assert "u" not in undoes(turns)
        assert longest_stall(turns) < 3
        assert not returns(turns)


def test_same_request_same_bytes(tmp_path: Path) -> None:
    """Logs depend on the request alone."""
    one, two = (play(request(tmp_path / name)) for name in ("one", "two"))

    assert [path.read_bytes() for path in one.paths] == [path.read_bytes() for path in two.paths]
    assert one.played == len(CONDITIONS) * 3


def test_whole_logs_are_kept_and_cut_ones_played_again(tmp_path: Path) -> None:
    """A second start only plays what is missing, and gives the same bytes."""
    first = play(request(tmp_path))
    whole = first.paths[1].read_bytes()
    first.paths[1].write_bytes(whole[: len(whole) // 2])

    second = play(request(tmp_path))

    assert (second.played, second.stored) == (1, len(first.paths) - 1)
    assert first.paths[1].read_bytes() == whole


def test_a_log_of_another_game_is_not_overwritten(tmp_path: Path) -> None:
    """What stands there may be somebody's data."""
    path = play(request(tmp_path)).paths[0]
    path.write_text("mine\n", encoding="utf-8")
    with pytest.raises(UsageError, match="holds another game"):
        play(request(tmp_path))
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_logs_replay_to_the_same_states(tmp_path: Path) -> None:
    """Answers and id alone give every state, verdict of the engine and end that the log holds."""
    for path in play(request(tmp_path)).paths:
        header, *turns, end = lines(path)
        settings = GameSettings.of_log(header["run"]["condition"])
        game = Game(parse_game_id(header["task"]["id"]), settings)
        samples = [Samples(tuple(turn["samples"]["texts"]) if turn["samples"] else (turn["actions"][0]["raw"],)) for turn in turns]
        steps = list(replay(game.setting, samples, settings.verifier))

        assert [turn["turn"] for turn in turns] == list(range(1, len(steps) + 1))
        assert [turn["state_before"] for turn in turns] == [table_json(game.puzzle, step.before) for step in steps]
        assert [turn["state_after"] for turn in turns] == [table_json(game.puzzle, step.outcome.table) for step in steps]
        assert [turn["actions"][0]["accepted"] for turn in turns] == [step.outcome.accepted for step in steps]
        assert [tuple(turn["samples"]["costs"]) for turn in turns if turn["samples"]] == [s.choice.costs for s in steps if s.choice]
        assert end["end"]["success"] == steps[-1].outcome.success
        assert end["end"]["turns_taken"] == len(steps)


def test_a_cut_log_replays_to_a_prefix(tmp_path: Path) -> None:
    """Whatever whole lines are there are the beginning of the same game."""
    path = play(request(tmp_path, conditions=(GameSettings(),), games=1)).paths[0]
    header, *turns, _ = lines(path)
    setting = Game(parse_game_id(header["task"]["id"]), GameSettings.of_log(header["run"]["condition"])).setting
    samples = [Samples((turn["actions"][0]["raw"],)) for turn in turns]

    whole = list(replay(setting, samples))

    for cut in range(len(samples)):
        assert list(replay(setting, samples[:cut])) == whole[:cut]


@pytest.mark.parametrize("part", ["modes", "verifier", "rules", "samples_per_step", "step_limit", "reasoning"])
def test_a_condition_with_an_impossible_part_is_refused(tmp_path: Path, part: str) -> None:
    """Settings are read back strictly, whatever is wrong with a part."""
    condition = lines(play(request(tmp_path, games=1)).paths[0])[0]["run"]["condition"]
    assert GameSettings.of_log(condition) == CONDITIONS[0].model_copy(update={"samples": 1})
    impossible: tuple[object, ...] = ("nonsense", [], -1)
    for wrong in impossible:
        with pytest.raises(BadInputError, match=part):
            GameSettings.of_log(condition | {part: wrong})


def test_refusals_have_a_reason_and_acceptances_none(tmp_path: Path) -> None:
    """Every refused step carries a code."""
    for path in play(request(tmp_path)).paths:
        for turn in lines(path)[1:-1]:
            (action,) = turn["actions"]
            assert (action["error_code"] is None) == action["accepted"] == (action["error_text"] is None)


def test_audiences_keep_thoughts_private(tmp_path: Path) -> None:
    """Thoughts are for their author; shares and asks for both."""
    for path in play(request(tmp_path)).paths:
        for turn in lines(path)[1:-1]:
            for said in turn["utterances"]:
                assert said["audience"] == ([said["agent"]] if said["channel"] == "private" else ["Player1", "Player2"])


def test_planted_answers_agree_with_an_independent_reading(tmp_path: Path) -> None:
    """Sharing and moving questions, recomputed from the logged items, positions and raw answers with the general closure."""
    seen: Counter[tuple[str, str]] = Counter()
    for path in play(request(tmp_path, conditions=(GameSettings(),), personas=("mixed", "inventor", "rambler"), games=6)).paths:
        header, *turns, _ = lines(path)
        goals = {block: name for name, blocks in header["task"]["goal"]["bins"].items() for block in blocks}
        shared: list[str] = []
        asked = None
        for turn in turns:
            (action,), answers = turn["actions"], {label["question"]: label["answer"] for label in turn["labels"]}
            items = turn["state_before"]["knowledge"][action["agent"]]["items"]
            text = parse_answer(action["raw"]).action_text
            item = written_item(action)
            wanted = {"KS1": "N/A", "KS2": "N/A", "KS3": "N/A" if asked is None else "No"}
            if item is not None:
                wanted = {"KS1": yes(item not in shared), "KS2": yes(item in items), "KS3": "N/A"}
                if asked is not None:
                    wanted["KS3"] = yes(asked in item and item in items)
            assert wanted == {question: answers[question] for question in wanted}, (path, turn["turn"], text)
            assert answers["RU2"] == move_follows(action, turn["state_before"], goals)
            seen.update(answers.items())
            if item is not None and action["accepted"]:
                shared.append(item)
            asked = action["arguments"]["block"] if action["verb"] == "ask" else None

    assert {(question, answer) for question in ("KS1", "KS2", "KS3", "RU1", "RU2") for answer in ("Yes", "No", "N/A")} == set(seen)


def yes(holds: object) -> str:
    return "Yes" if holds else "No"


def written_item(action: Line) -> str | None:
    if action["verb"] != "share":
        return None
    given = action["arguments"]
    if "in" in given:
        return f"({given['block']}, in, {given['in']})"
    return f"({given['blocks'][0]}, {given['blocks'][1]}, same, {given['same']})"


def move_follows(action: Line, state: Line, goals: dict[str, str]) -> str:
    if action["verb"] != "move" or action["arguments"]["block"] not in state["knowledge"][action["agent"]]["infers"]:
        return "N/A"
    goal = goals[action["arguments"]["block"]]
    own = goal.startswith("bottom" if action["agent"] == "Player1" else "top")
    return yes(action["arguments"]["to"] == (goal if own else COMMON))


def test_logged_inferences_follow_from_logged_items_and_places(tmp_path: Path) -> None:
    """What a state says a player infers is the closure of its items and of the objects placed so far."""
    for path in play(request(tmp_path, conditions=(GameSettings(),))).paths:
        header, *turns, _ = lines(path)
        game = Game(parse_game_id(header["task"]["id"]))
        placed: dict[int, Any] = {}
        for turn in turns:
            state = turn["state_before"]
            placed |= {int(b[5:]): name for name, blocks in state["bins"].items() if name.startswith(("top", "bottom")) for b in blocks}
            for agent, knowledge in state["knowledge"].items():
                items = [item for item in game.puzzle.items if item.text in knowledge["items"]]
                known = infer_goals([*items, *(Grounding(block, name) for block, name in placed.items())])
                assert {f"block{block}": name for block, name in known.items()} == knowledge["infers"], (path, agent)


def test_unknown_persona_names_the_known_ones(tmp_path: Path) -> None:
    """The message is the mend."""
    with pytest.raises(UsageError, match="misspeller"):
        play(request(tmp_path, personas=("nobody",)))
