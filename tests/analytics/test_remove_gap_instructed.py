"""The remove gap of what directors ask for rests on the very readings on which verdicts and attribution rest."""

from __future__ import annotations

from collections import defaultdict

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.craft.claims import Request
from ingest.files.run import ingest_paths
from judges.claims.readers import reading_of
from judges.claims.reading import Open, all_whole
from judges.claims.texts import stored_claims
from judges.evidence.transcript import load, reader_named
from schemas.store.store import Store
from tests.scripted import CraftRequest, play

READERS = ("rules", "planted")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Games of teams that ask clearly, vaguely, and for too many removals, read by rules and by their authors."""
    folder = tmp_path_factory.mktemp("instructed")
    personas = ("clear", "vague", "over_remover")
    play(CraftRequest(out=folder / "logs", personas=personas, builders=("literal",), structures=2, turns=8, seed=5, processes=1))
    made = Store(folder / "s.duckdb")
    ingest_paths([folder / "logs"], made, workers=1)
    ensure_installed(made)
    return made


def by_hand(store: Store, name: str) -> dict[str, tuple[int, int, int, float | None]]:
    """Team -> turns, silent turns, unread turns, rate, out of what checks and attribution ask of a reader."""
    candidates = {
        (episode, turn) for episode, turn in query(store, "SELECT episode_id, turn FROM craft_removals WHERE n_oracle > 0").rows()
    }
    shares: dict[str, list[float | str | None]] = defaultdict(list)
    ids = [episode for (episode,) in query(store, "SELECT episode_id FROM episodes").rows()]
    for game in load(store, ids, reader_named(name)):
        for turn in game.turns:
            said = [one for one in turn.received() if one.agent.startswith("D")]
            if (game.episode_id, turn.turn) not in candidates:
                continue
            asked = all_whole([reading_of(game, turn.turn, one) for one in said], Request)
            if isinstance(asked, Open):
                shares[game.model].append("unread")
                continue
            now = [one for one in asked if one.when == "now" and not one.retracted and one.condition is None]
            shares[game.model].append(sum(one.verb != "place" for one in now) / len(now) if now else None)
    told = {}
    for team, found in shares.items():
        rates = [one for one in found if isinstance(one, float)]
        told[team] = (len(rates), found.count(None), found.count("unread"), sum(rates) / len(rates) if rates else None)
    return told


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", READERS)
def test_it_rests_on_the_readings_of_judges(store: Store, name: str) -> None:
    """What a check finds in the messages of a turn is what the view counts, turns that are not understood included."""
    stored_claims(store, reader_named(name), None)
    shown = "SELECT model, turns, silent_turns, unread_turns, instructed_rate FROM remove_gap_instructed WHERE reader = $reader"
    found = {row[0]: row[1:] for row in query(store, shown, {"reader": name}).rows()}
    wanted = by_hand(store, name)
    assert found.keys() == wanted.keys()
    for team, numbers in wanted.items():
        assert found[team][:3] == numbers[:3], team
        assert found[team][3] == pytest.approx(numbers[3]), team


def test_a_team_that_asks_for_too_many_removals_is_seen(store: Store) -> None:
    """By its authors' own claims; the interval holds the gap, and no claims are no rows."""
    stored_claims(store, reader_named("planted"), None)
    shown = "SELECT model, gap, gap_low, gap_high, instructed_rate - oracle_rate FROM remove_gap_instructed WHERE reader = 'planted'"
    rows = {row[0]: row[1:] for row in query(store, shown).rows()}
    assert rows["over_remover"][0] > 0.2 > rows["clear"][0]
    for gap, low, high, difference in rows.values():
        assert low <= gap <= high
        assert gap == pytest.approx(difference)
    assert query(store, "SELECT count(*) FROM remove_gap_instructed WHERE reader NOT IN ('planted', 'rules')").item() == 0


def test_a_text_that_has_changed_is_not_read(store: Store) -> None:
    """Claims about the words of before do not count: the turn is unread."""
    stored_claims(store, reader_named("planted"), None)
    shown = "SELECT sum(unread_turns), sum(turns) FROM remove_gap_instructed WHERE reader = 'planted'"
    before = query(store, shown).row(0)
    turn = "SELECT episode_id, turn FROM craft_removals WHERE n_oracle > 0 ORDER BY ALL LIMIT 1"
    ((episode, number),) = query(store, turn).rows()
    with store.writing() as connection:
        connection.execute(
            "UPDATE utterances SET text = text || '!' WHERE episode_id = ? AND turn = ? AND channel = 'public' AND agent = 'D1'",
            [episode, number],
        )
    after = query(store, shown).row(0)
    assert (after[0] - before[0], before[1] - after[1]) == (1, 1)
