"""`cotrace replay --effect`: arms differ in one agent's part of a turn, effects are paired by random numbers, Shapley effects add up."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.losses.effects import Arm, Effect, arms, disagreements, effects_of, effects_report
from games.asympuzl.experiment import play_planted
from ingest.files.run import ingest_paths
from schemas.store.store import Store
from tests.command_line import called
from tests.masters import held_open


def run(*words: str) -> tuple[int, str, str]:
    """Call `cotrace` in this process."""
    done = called(*words)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of AsymPuzl, each with one faulty player."""
    folder = tmp_path_factory.mktemp("effects")
    play_planted(folder / "logs", 4, 4)
    store = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    ensure_installed(store)
    yield from held_open(store)


def test_the_planted_player_has_the_effect_and_its_sign(planted: Store, tmp_path: Path) -> None:
    """Faultless players are their own ideals; the faulty one's faultless turn is a gain, and it is the one that is blamed."""
    from analytics.losses.accuracy import planted_faults

    code, out, _ = run("replay", "--effect", "--repeats", "3", "--store", str(planted.path), "--out", str(tmp_path))
    assert code == 0
    assert "blamed_is_largest" in out
    with (tmp_path / "effects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    faulty = {episode: fault.agent for episode, (_, fault) in planted_faults(planted).items()}
    gains = [row for row in rows if float(row["effect"]) > 0]
    assert gains
    assert all(row["agent"] == faulty[row["episode_id"]] and float(row["price"]) > 0 for row in gains)
    assert all(float(row["effect"]) == 0 for row in rows if row["agent"] != faulty[row["episode_id"]])
    assert all(float(row["back"]) == float(row["effect"]) for row in gains)  # scripts that draw nothing lose again what they lost


def test_texts_are_replaced_for_players_that_read_them(planted: Store, tmp_path: Path) -> None:
    """Silence costs the partner what it needed to hear, and the joint effects of both add up to what both together make."""
    words = ("--player", "all=script:sharing", "--instead", "silent", "--turn", "1", "--repeats", "2", "--shapley")
    out = ("--store", str(planted.path), "--out", str(tmp_path))
    code, _, err = run("replay", "--effect", "--where", "seed = (SELECT min(seed) FROM episodes)", *words, *out)
    assert code == 0, err
    with (tmp_path / "effects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["agent"] for row in rows} == {"A", "B"}
    assert all(float(row["effect"]) <= 0 for row in rows)
    assert min(float(row["effect"]) for row in rows) < 0
    assert {row["instead"] for row in rows} == {"silent"}


def test_other_personas_can_be_seated_in_both_arms(tmp_path: Path) -> None:
    """It was refused: replacing them was taken for a change of texts, which they do not read."""
    logs, store = str(tmp_path / "logs"), ("--store", str(tmp_path / "s.duckdb"))
    team = ("--player", "directors=script:vague", "--player", "builder=script:literal")
    assert run("play", "craft", *team, "--games", "1", "--turns", "3", "--out", logs)[0] == 0
    assert run("ingest", logs, *store)[0] == 0
    words = ("--player", "directors=script:redundant", "--player", "builder=script:literal", "--repeats", "2")
    code, _, err = run("replay", "--effect", *words, *store, "--out", str(tmp_path))
    assert (code, "left out" in err) == (0, False), err
    with (tmp_path / "effects.csv").open(newline="") as file:
        assert {row["instead"] for row in csv.DictReader(file)} == {"(as a faultless script plays it)"}
    replay = ("replay", "--effect", "--turns", "1", "--turn", "2", *store, "--out")
    texts = ("--player", "all=script:plain")
    for players, script, replaced in [((), "clear", "D"), ((), "sloppy", "B"), (texts, "simulating", "B")]:
        code, _, err = run(*replay, str(tmp_path / script), *players, "--instead", script)  # was refused: not every role has the script
        assert code == 0, err
        with (tmp_path / script / "effects.csv").open(newline="") as file:
            assert {(row["agent"][0], row["instead"]) for row in csv.DictReader(file)} == {(replaced, script)}
    code, _, err = run(*replay, str(tmp_path), "--instead", "nosuch")
    assert code == 2
    assert "--instead nosuch: no script of that name can play here (director: clear, vague" in err


def test_scripts_that_remember_take_over_a_game_of_others(planted: Store, tmp_path: Path) -> None:
    """Up to the turn the replies are those of the log."""
    shutil.copyfile(planted.path, tmp_path / "s.duckdb")
    words = ("--turn", "2", "--player", "all=script:sharing@2", "--store", str(tmp_path / "s.duckdb"), "--out", str(tmp_path))
    with planted.reading() as connection:
        (episode,) = connection.execute("SELECT min(episode_id) FROM episodes WHERE turns_taken > 2").fetchall()[0]
    code, out, err = run("replay", episode, *words)
    assert code == 0, err
    assert "happened" in out


def test_arms_and_effects_by_hand() -> None:
    """D1 and D2 are asked together, then B. B's own effect is against what B did, the directors' with B answering anew."""
    steps = (("D1", "D2"), ("B",))
    assert arms(steps, joint=False) == [
        Arm(frozenset(), 1),
        Arm(frozenset({"D1"}), 1),
        Arm(frozenset({"D2"}), 1),
        Arm(frozenset(), 2),
        Arm(frozenset({"B"}), 2),
    ]
    worth = {"D1": 1.0, "D2": 0.0, "B": 2.0}
    lost = {}
    for arm in arms(steps, joint=True):
        together = 4.0 if {"D1", "B"} <= arm.replaced else 0.0  # joint: neither gains it alone
        lost[arm] = [10 - sum(worth[agent] for agent in arm.replaced) - together + noise for noise in (0.0, 5.0, -3.0)]
    found = effects_of(steps, lost)
    assert [found[agent].effect for agent in ("D1", "D2", "B")] == pytest.approx([1, 0, 2])
    assert [found[agent].shapley for agent in ("D1", "D2", "B")] == pytest.approx([3, 0, 4])
    assert found["D1"].low == found["D1"].high == 1  # paired: the noise is the same in both arms
    noisy = effects_of((("A",),), {Arm(frozenset(), 1): [1.0, 2.0, 3.0], Arm(frozenset({"A"}), 1): [0.0, 0.0, 0.0]})["A"]
    assert noisy.low == pytest.approx(2 - 4.302653 / 3**0.5)


def test_the_report_tells_where_price_and_effect_disagree() -> None:
    """Shares are of turns with an effect, or of blamed agents."""

    def one(game: str, agent: str, price: float, effect: float) -> Effect:
        link = "misread" if price else None
        return Effect("craft", game, 1, agent, link, price, "", 3, 1.0, effect, effect, effect, None, None, None)

    found = [
        one("a", "D1", 1, 2),
        one("a", "B", 0, 0),
        one("b", "D1", 1, 0),
        one("b", "B", 0, 1),
        one("c", "D1", 1, -1),
        one("c", "B", 0, 0),
    ]
    row = effects_report(found).filter(link="ALL").to_dicts()[0]
    assert (row["turns"], row["with_effect"]) == (3, 3)
    assert row["blamed_is_largest"] == pytest.approx(1 / 3)
    assert (row["no_effect"], row["harm"], row["unblamed_gain"]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert len(list(disagreements(found))) == 2


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--say", "A=x"), "leave out --say"),
        (("--mend", "3"), "leave out --mend"),
        (("--instead", "silent"), "no turn can be played again"),
        (("--where", "task_id = 'none'"), "no turn can be played again"),
        (("--turn", "99"), "--turn 99: the game has turns 1 to"),
        (("nosuch",), "no game nosuch"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: tuple[str, ...], shown: str, planted: Store, tmp_path: Path) -> None:
    code, _, err = run("replay", "--effect", *words, "--store", str(planted.path), "--out", str(tmp_path))
    assert code == 2
    assert shown in err
    assert len(err.splitlines()) == 1
