"""Correction spirals of Einstein games: planted in real games, found by the view, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.engine.table import table_json
from games.einstein.game import AGENTS, Game, GameSettings, action_arguments, is_undo, refusal, refusal_text
from games.einstein.setup import GameSetup, header_of
from ingest.files.run import ingest_paths
from schemas.game import ActionEntry, End, LogWriter, Turn
from schemas.store.store import Store
from tests.masters import held_open
from tests.places import DOCS
from tests.scripted import EinsteinRequest as PlayRequest
from tests.scripted import play

GAME = "4_0202_3012_0000_102"
"""block0 and block2 start at Player1 and belong bottom right and bottom left; block1 and block3 at Player2, top left and top right."""

P1_PLACES_0 = "move block0 from player1_bin to bottom_right_bin"
P1_TAKES_0 = "move block0 from bottom_right_bin to commonbin"
P1_RETURNS_0 = "move block0 from commonbin to bottom_right_bin"
P1_WRONG = "move block2 from player1_bin to bottom_right_bin"
P1_WRONG_TOO = "move block0 from player1_bin to bottom_left_bin"
P2_PLACES_1 = "move block1 from player2_bin to top_left_bin"
P2_TAKES_1 = "move block1 from top_left_bin to commonbin"
P2_PARKS_BACK = "move block1 from commonbin to player2_bin"
P2_WRONG = "move block3 from player2_bin to top_left_bin"
P2_WRONG_TOO = "move block1 from player2_bin to top_right_bin"

Spiral = tuple[str, int, int]


def write(log: Path, actions: list[str], rules: str = "sane", seed: int = 1) -> None:
    """Play these actions in turn."""
    settings = GameSettings(modes=("none", "none"), reasoning=False, rules="sane" if rules == "sane" else "published")
    game = Game(parse_game_id(GAME), settings)
    started = datetime(2026, 1, 1)  # noqa: DTZ001 - logs hold local times without zone
    header = header_of(
        GameSetup(puzzle=game.puzzle, settings=settings, taken={"Player1": "one", "Player2": "two"}, seed=seed, started_at=started)
    )
    with LogWriter(log, header) as writer:
        for number, action in enumerate(actions, start=1):
            raw = f"<ACTION>{action}</ACTION>"
            agent = AGENTS[(number - 1) % 2]
            step = game.act(agent, raw)
            code = refusal(step)
            done = ActionEntry(
                agent=agent,
                verb=action.split()[0],
                arguments=action_arguments(step.answer.action, ""),
                raw=raw,
                accepted=step.outcome.accepted,
                error_code=code,
                error_text=refusal_text(code),
                undoes=is_undo(step),
            )
            writer.turn(
                Turn(
                    turn=number,
                    at=started.isoformat(),
                    state_before=table_json(game.puzzle, step.before),
                    utterances=(),
                    oracle=None,
                    oracle_followed=None,
                    actions=[done],
                    state_after=table_json(game.puzzle, step.outcome.table),
                    goal_reached=step.outcome.terminated,
                )
            )
        correct = game.state().table.correct(game.puzzle) / 4
        writer.end(End(success=game.state().success, score=correct, stop_reason=str(game.stop_reason), turns_taken=len(actions)))


CASES: dict[str, tuple[list[str], list[Spiral]]] = {
    "a refused move again, nothing changed between": ([P1_WRONG, "pass", P1_WRONG], [("repeated_failure", 1, 3), ("stall", 1, 3)]),
    "a refused move again after a change": ([P1_WRONG, P2_PLACES_1, P1_WRONG], []),
    "two refused moves that differ": ([P1_WRONG, P2_PLACES_1, P1_WRONG_TOO, "pass"], []),
    "out of the bin and back": (
        [P1_PLACES_0, P2_PLACES_1, P1_TAKES_0, "pass", P1_RETURNS_0],
        [("undo_loop", 3, 5)],
    ),
    "out of the bin and not back": ([P1_PLACES_0, P2_PLACES_1, P1_TAKES_0, "pass"], []),
    "both players undo in a row": ([P1_PLACES_0, P2_PLACES_1, P1_TAKES_0, P2_TAKES_1], [("over_removal", 3, 4)]),
    "undoing that is refused counts": (
        [P1_PLACES_0, P2_PLACES_1, "pass", P2_TAKES_1, P1_TAKES_0, P2_PARKS_BACK],
        [("over_removal", 4, 6)],
    ),
    "one undoing turn alone": ([P1_PLACES_0, P2_PLACES_1, P1_TAKES_0, "pass"], []),
    "two undoing turns with another between": ([P1_PLACES_0, P2_PLACES_1, P1_TAKES_0, "pass", "pass", P2_TAKES_1], []),
    "three turns without a change": ([P1_WRONG, P2_WRONG, "pass"], [("stall", 1, 3)]),
    "two turns without a change": ([P1_WRONG, P2_WRONG, P1_PLACES_0, P2_WRONG_TOO, "pass"], []),
    "straight to the goal": (
        [P1_PLACES_0, P2_PLACES_1, "move block2 from player1_bin to bottom_left_bin", "move block3 from player2_bin to top_right_bin"],
        [],
    ),
}


UNDOING = [
    *(P1_PLACES_0, P2_PLACES_1, P1_TAKES_0, P2_TAKES_1, P1_RETURNS_0, P2_PARKS_BACK, P1_PLACES_0, P2_TAKES_1),
    *("move block0 from bottom_right_bin to bottom_left_bin", P2_WRONG),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A game of each case, and three more, distinguished by their files."""
    folder = tmp_path_factory.mktemp("planted")
    for seed, (name, (actions, _)) in enumerate(CASES.items()):  # of two logs that are alike one would be a copy
        write(folder / "logs" / f"{name}.jsonl", actions, seed=seed)
    write(folder / "logs" / "published.jsonl", ["pass"] * 3, "published")
    write(folder / "logs" / "sane.jsonl", ["pass"] * 3)
    write(folder / "logs" / "undoing.jsonl", UNDOING)
    store = Store(folder / "test.duckdb")
    report = ingest_paths([folder / "logs"], store, workers=1)
    assert (report.rejected, report.episodes) == ([], len(CASES) + 3)
    ensure_installed(store)
    assert query(store, "from log_disagreements").is_empty()
    yield from held_open(store)


@pytest.fixture(scope="module")
def found(store: Store) -> dict[str, list[Spiral]]:
    """Name of a game's file -> what the view finds: kind, first turn, last turn."""
    games: dict[str, list[Spiral]] = {Path(file).stem: [] for (file,) in query(store, "select file from episodes").rows()}
    sql = "select file, kind, start_turn, end_turn from correction_spirals join episodes using (episode_id) order by all"
    for file, *spiral in query(store, sql).rows():
        games[Path(file).stem].append(tuple(spiral))
    return games


@pytest.mark.parametrize("name", CASES)
def test_planted_stretch(name: str, found: dict[str, list[Spiral]]) -> None:
    """Exactly the planted spirals are found, turn by turn."""
    assert found[name] == CASES[name][1]


def test_refused_passes_repeat_by_the_published_rules(found: dict[str, list[Spiral]]) -> None:
    """There a pass is an action that fails; by the sane rules it is none that could be tried again."""
    assert found["published"] == [("repeated_failure", 1, 3), ("stall", 1, 3)]
    assert found["sane"] == [("stall", 1, 3)]


def kinds(folder: Path, persona: str) -> dict[str, int]:
    """How many spirals of each kind a pair of scripted players makes in six games."""
    play(PlayRequest(out=folder / "logs", personas=(persona,), partners=(persona,), games=6, seed=4))
    store = Store(folder / "test.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    return dict(query(store, "select kind, count(*) from correction_spirals group by all").rows())


@pytest.mark.long  # each kind is planted in `make test`, too
def test_personas_make_the_spirals_that_they_are_made_for(tmp_path: Path) -> None:
    """Whoever repeats, takes back or idles is found out; sensible players have none of these spirals."""
    assert kinds(tmp_path / "stubborn", "stubborn").get("repeated_failure", 0) > 0
    undoer = kinds(tmp_path / "undoer", "undoer")
    assert undoer.get("undo_loop", 0) > 0
    assert undoer.get("over_removal", 0) > 0
    assert kinds(tmp_path / "idler", "idler").get("stall", 0) > 0
    assert kinds(tmp_path / "sensible", "sensible") == {}


def test_the_page_on_spirals_says_what_the_adapter_does(store: Store) -> None:
    """Its row for Einstein: out of a corner bin or from the common bin to a start bin, carried out or not, and nothing else."""
    page = (DOCS / "dev" / "benchmark_rules.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith("| einstein |")]
    assert "out of the corner bin it lies in, or from the common bin to a start bin" in row
    assert "carried out or not" in row
    sql = "select turn from actions join episodes using (episode_id) where undoes and file like '%undoing.jsonl' order by turn"
    undoing = query(store, sql)
    assert undoing["turn"].to_list() == [3, 4, 6, 9]
