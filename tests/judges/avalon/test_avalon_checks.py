"""Engine checks and attribution of Avalon, on games of scripts whose words and votes are known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analytics.query import query
from games.avalon.rules import Beliefs, Quest, mask, sees
from games.experiments.plan import play
from ingest.files.run import ingest_paths
from judges.attribution.findings import Lost
from judges.avalon.attribution import attribute
from judges.avalon.checks import CHECKS
from judges.avalon.statements import Statement, statements
from judges.evidence.transcript import Transcript, load
from tests.masters import begun, held_open

NAMES = ("Alice", "Bob", "Eve")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Transcript]]]:
    """Script -> games in which all players are that script."""
    folder = tmp_path_factory.mktemp("avalon")
    for script in ("open", "lying", "trusting"):
        play("avalon", folder / "logs", players=[f"all=script:{script}"], games=4, seeds=[0])
    store = begun(folder / "s.duckdb")
    ingest_paths([folder / "logs"], store, workers=1)
    for _ in held_open(store):
        found = list(load(store, query(store, "select episode_id from episodes order by file")["episode_id"].to_list()))
        yield {script: [game for game in found if game.model == f"script:{script}"] for script in ("open", "lying", "trusting")}


def answers(game: Transcript, check: str, role: str) -> set[str | None]:
    """What a check says of the first message of each player with that role (or side)."""
    views = {name: agent.private_view or {} for name, agent in game.agents.items()}
    return {CHECKS[check](game, 1, name).answer for name, view in views.items() if role in (view["role"], view["side"])}


def test_merlin_who_names_evil_is_exposed_and_right(games: dict[str, list[Transcript]]) -> None:
    """Nothing that Merlin says is a lie or too much; others are not Merlin."""
    for game in games["open"]:
        assert answers(game, "avalon.exposes_merlin", "merlin") == {"yes"}
        assert answers(game, "avalon.exposes_merlin", "evil") == {"na"}
        assert answers(game, "avalon.accusation_right", "merlin") == {"yes"}
        assert "yes" not in answers(game, "avalon.own_lie", "merlin") | answers(game, "avalon.overclaims", "merlin")


def test_evil_who_calls_a_good_player_evil_lies(games: dict[str, list[Transcript]]) -> None:
    """The speaker knows better, and no one can be certain of it."""
    for game in games["lying"]:
        assert answers(game, "avalon.own_lie", "evil") == {"yes"}
        assert answers(game, "avalon.overclaims", "evil") == {"yes"}
        assert answers(game, "avalon.accusation_right", "evil") == {"no"}


def test_a_text_that_is_not_plain_is_undecided(games: dict[str, list[Transcript]]) -> None:
    """`Mission 1 failed: somebody of ... is evil` names players and states no side; the result in it is true."""
    game, turn = next(
        (game, turn.turn)
        for game in games["trusting"]
        for turn in game.turns
        if turn.state_before["stage"] == "discussion" and "fail" in {mission["result"] for mission in turn.state_before["missions"]}
    )
    found = {CHECKS["avalon.own_lie"](game, turn, name).answer for name in game.agents}
    assert found == {None}


def test_who_approves_what_is_proven_bad_is_at_fault(games: dict[str, list[Transcript]]) -> None:
    """And no one else: every finding against a player is a proven one."""
    proven = [finding for game in games["trusting"] for finding in attribute(game, {}).findings]
    assert proven == []  # without costs nothing is found
    for game in games["trusting"]:
        lost = {turn.turn: Lost(0.5, 0.4, 0.1) for turn in game.turns}
        for finding in attribute(game, lost).findings:
            if finding.agent is not None:
                placed = game.turn(finding.turn).state_after["on_table"]
                verdict = placed["verdicts"][finding.agent]
                assert (verdict["bad"], finding.link) == (True, "acted_wrong") or verdict["clean"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Eve is evil.", [("side", "Eve", "evil")]),
        ("Alice and Eve are evil. Bob is good.", [("side", "Alice", "evil"), ("side", "Eve", "evil"), ("side", "Bob", "good")]),
        ("I am Merlin.", [("role", "Bob", "merlin")]),
        ("I know I'm good, so trust me.", [("side", "Bob", "good")]),
        ("I'm good with Eve.", []),
        ("Eve is not evil. Is Eve evil? If Eve is evil, we lose. Maybe Eve is evil.", []),
        ("I am convinced Eve is evil.", []),
        ("Eve is evil enough to try that.", []),
    ],
)
def test_plain_statements_alone_are_read(text: str, found: list[tuple[str, str, str]]) -> None:
    """Hedged, negated, quoted and conditional ones are not."""
    read: list[Statement] = list(statements(text, "Bob", NAMES))
    assert sorted((one.kind, one.subject, one.value) for one in read) == sorted(found)


def test_what_each_role_can_prove_follows_from_sight_and_fails() -> None:
    """Worked by hand: five players, Alice Merlin, Diana the assassin, Eve evil; a quest of Bob and Diana fails once."""
    roles = ("merlin", "good", "good", "assassin", "evil")
    beliefs = Beliefs(roles, tuple(sees(roles, place) for place in range(5)))
    quests = [Quest(mask((1, 3)), 1)]
    merlin, good = (beliefs.verdict(place, quests, mask((2, 3)), 2) for place in (0, 1))
    assert merlin is not None
    assert good is not None
    assert (merlin.bad, merlin.basis, merlin.worlds) == (True, "sight", 1)
    assert (good.bad, good.basis, good.worlds, good.bad_worlds) == (
        True,
        "record",
        3,
        3,
    )  # Diana, and one of three others
