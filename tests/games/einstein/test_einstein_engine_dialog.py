"""Published game logs: read whole, compared with their replay, refused where they are broken."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games.einstein.dialog import disagreements, read_dialog
from schemas.common.errors import BadInputError
from tests.games.einstein.einstein_data import published_games, replay_dialog

pytestmark = pytest.mark.shared

Log = dict[str, Any]


@pytest.fixture(scope="module")
def logs(shared: Path) -> dict[str, Log]:
    """One raw and one verified game."""
    found = {"raw" if game.verifier is None else "verified": game.log for game in published_games(shared) if len(game.steps) > 8}
    assert set(found) == {"raw", "verified"}
    return found


def test_published_files_agree_with_their_replay(shared: Path) -> None:
    """Prompts, costs, totals and ends: no file says anything else than its replay, with and without the verifier's name."""
    for game in published_games(shared):
        assert list(disagreements(game.dialog, game.steps)) == []
        assert replay_dialog(game.dialog) == game.steps


def test_mode_and_prompt_kind_are_read_from_the_prompts(shared: Path) -> None:
    """What the manifest says of a run stands in every file of it."""
    for game in published_games(shared):
        mode = game.manifest["action_mode"]
        assert (game.dialog.modes, game.dialog.reasoning) == ((mode, mode), game.manifest["use_cot"] == "1")


def change_total(log: Log) -> None:
    log["partial_success_rate"] += 1


def change_flag(log: Log) -> None:
    log["success"] = not log["success"]


def change_position(log: Log) -> None:
    message = log["dialog"][2]["dialog"][1]
    message["content"] = message["content"].replace("commonbin: [", "commonbin: [block9, ")


def change_history(log: Log) -> None:
    message = log["dialog"][2]["dialog"][1]
    message["content"] = message["content"].replace("\nPartner: ", "\nYou: ")


def change_item(log: Log) -> None:
    message = log["dialog"][2]["dialog"][1]
    message["content"] = message["content"].replace("(block0, in, ", "(block1, in, ")


def change_player(log: Log) -> None:
    log["dialog"][2]["player"] = 1 - log["dialog"][2]["player"]


@pytest.mark.parametrize(
    ("change", "step", "field"),
    [
        (change_total, None, "partial_success_rate"),
        (change_flag, None, "success"),
        (change_position, 2, "bins"),
        (change_history, 2, "history"),
        (change_item, 2, "items"),
        (change_player, 2, "player"),
    ],
)
def test_a_changed_file_is_noticed(logs: dict[str, Log], change: Callable[[Log], None], step: int | None, field: str) -> None:
    """Each check finds its own kind of damage, and only that."""
    log = copy.deepcopy(logs["raw"])
    change(log)
    dialog = read_dialog(log)

    found = list(disagreements(dialog, replay_dialog(dialog)))

    assert [(where.step, where.field) for where in found] == [(step, field)]


def test_changed_costs_are_noticed_when_the_verifier_is_known(shared: Path) -> None:
    """A cost that the verifier would not give differs from its replay."""
    game = next(game for game in published_games(shared) if game.verifier == "reasoning")
    log = copy.deepcopy(game.log)
    log["dialog"][0]["actions_err"][0] += 1
    dialog = read_dialog(log)

    found = [(where.step, where.field) for where in disagreements(dialog, replay_dialog(dialog, "reasoning"))]

    assert found == [(0, "actions_err")]


def test_a_cut_dialog_replays_to_a_prefix(logs: dict[str, Log]) -> None:
    """The steps that are there are the beginning; the totals then disagree."""
    whole = read_dialog(logs["raw"])
    cut = read_dialog(logs["raw"] | {"dialog": logs["raw"]["dialog"][:5]})

    steps = replay_dialog(cut)

    assert steps == replay_dialog(whole)[:5]
    assert "step_count" in {where.field for where in disagreements(cut, steps)}


def without(key: str) -> Callable[[Log], None]:
    def remove(log: Log) -> None:
        del log[key]

    return remove


def id_is_cut(log: Log) -> None:
    log["pkl_path"] = "6_200220_210233"


def empty_dialog(log: Log) -> None:
    log["dialog"] = []


def response_is_a_number(log: Log) -> None:
    log["dialog"][1]["response"] = 3


def player_is_two(log: Log) -> None:
    log["dialog"][1]["player"] = 2


def no_user_message(log: Log) -> None:
    log["dialog"][1]["dialog"] = log["dialog"][1]["dialog"][:1]


def a_bin_is_missing(log: Log) -> None:
    message = log["dialog"][1]["dialog"][1]
    message["content"] = message["content"].replace("commonbin: [", "common: [")


def too_few_costs(log: Log) -> None:
    log["dialog"][1]["actions_err"] = [0]


def step_is_a_text(log: Log) -> None:
    log["dialog"][1] = "step"


@pytest.mark.parametrize(
    ("damage", "locator"),
    [
        (without("pkl_path"), "pkl_path"),
        (id_is_cut, "pkl_path"),
        (without("dialog"), "dialog"),
        (empty_dialog, "dialog"),
        (response_is_a_number, "dialog[1].response"),
        (player_is_two, "dialog[1].player"),
        (no_user_message, "dialog[1].dialog.user"),
        (a_bin_is_missing, "dialog[1].dialog.user"),
        (too_few_costs, "dialog[1].actions_err"),
        (step_is_a_text, "dialog[1]"),
    ],
)
def test_broken_files_are_refused_with_the_place(logs: dict[str, Log], damage: Callable[[Log], None], locator: str) -> None:
    """The error says where; nothing is guessed."""
    log = copy.deepcopy(logs["verified"])
    damage(log)
    with pytest.raises(BadInputError) as refused:
        read_dialog(log)

    assert locator == refused.value.locator


@pytest.mark.parametrize("content", [None, [], "text", 3])
def test_other_json_is_refused(content: object) -> None:
    """A dialog file holds an object."""
    with pytest.raises(BadInputError, match="JSON object"):
        read_dialog(content)


def test_steps_after_the_end_are_refused(shared: Path) -> None:
    """A solved game has no further step."""
    game = next(game for game in published_games(shared) if game.steps[-1].outcome.terminated)
    log = game.log | {"dialog": [*game.log["dialog"], game.log["dialog"][-1]]}
    with pytest.raises(BadInputError, match="after the end"):
        replay_dialog(read_dialog(log))


def test_answers_without_costs_need_the_verifier(logs: dict[str, Log]) -> None:
    """Without costs nothing tells which answer was executed, unless the verifier is known."""
    log = copy.deepcopy(logs["verified"])
    for entry in log["dialog"]:
        del entry["actions_err"]
    with pytest.raises(BadInputError, match="neither their costs nor the verifier"):
        replay_dialog(read_dialog(log))
