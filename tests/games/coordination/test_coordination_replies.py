"""What a reply is taken for: a listed action that it names exactly, or nothing; what the harness chose is no move of the player."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cotrace
from analytics.findings import findings
from analytics.query import query
from games.coordination.courses.agent import CoordinationGame, GameSetup
from games.coordination.players import named_action
from games.coordination.setup import course_of, header_of
from games.players.course import Reply
from games.players.player import Observation
from judges.attribution.job import attribute_games
from schemas.game import LogWriter, ReplyEntry, Turn
from schemas.store.store import Store
from tests.games.coordination.test_coordination_seats import asked, begun, words
from tests.ingest.coordination.coordination_logs import PlayRequest, play
from tests.masters import held_open

HANABI = (
    "A. Discard My Card 0.",
    "F. Play My Card 0.",
    "I. Play My Card 3.",
    "P. Reveal Bob's rank 4 cards.",
    "Q. Reveal Bob's rank 5 cards.",
)
CAPTURE = ("A Stay in current room", "B. Move to room 2.", "C Press button in room 9")
ESCAPE = ("move to room 8", "move to room 10", "wait")


@pytest.mark.parametrize(
    ("listed", "reply", "named"),
    [
        (HANABI, "Explanation: safe.\nAction: I. Play My Card 3.", HANABI[2]),
        (HANABI, "Action: play my card 3", HANABI[2]),
        (HANABI, "**Action:** `I) Play My Card 3`", HANABI[2]),
        (HANABI, "Action:\nQ. Reveal Bob’s rank 5 cards", HANABI[4]),
        (HANABI, "<think>Action: A. Discard My Card 0.</think>Action: F. Play My Card 0.", HANABI[1]),
        (HANABI, "F. Play My Card 0", HANABI[1]),
        (CAPTURE, "Analysis: I wait. Action: A. Stay in current room", CAPTURE[0]),
        (CAPTURE, "Action: press button in room 9.", CAPTURE[2]),
        (ESCAPE, "Action: Wait.", ESCAPE[2]),
        (HANABI, "Action: Play card 3", None),
        (HANABI, "Action: Hint rank 5", None),
        (HANABI, "Action: rank 5", None),
        (HANABI, "Action: I", None),
        (HANABI, "Action: A. Play My Card 0.", None),
        (HANABI, "Action: F. Play My Card 0. or A. Discard My Card 0.", None),
        (HANABI, "Action: F. Play My Card 0.\nOn second thought\nAction: A. Discard My Card 0.", None),
        (HANABI, "<think>Action: A. Discard My Card 0.", None),
        (HANABI, "Why not?", None),
        (HANABI, "", None),
        (CAPTURE, "Action: C", None),
        (ESCAPE, "Action: move to room 1", None),
        (ESCAPE, "Action: do not wait", None),
    ],
)
def test_a_reply_names_a_listed_action_exactly_or_none(listed: tuple[str, ...], reply: str, named: str | None) -> None:
    """Case, marks and a missing letter do not matter; similar words, letters alone and contradictions name nothing."""
    assert named_action(reply, listed) == named


def scripted(game: GameSetup, path: Path, reply: Callable[[Observation], str], most: int = 40) -> Path:
    """Play a game by what a function replies, into a log with these replies."""
    course, replies, turns = course_of(game), list[ReplyEntry](), 0
    with LogWriter(path, header_of(game)) as log:
        step = next(course)
        try:
            while turns < most:
                if isinstance(step, Turn):
                    log.turn(replace(step, replies=tuple(replies)))
                    replies, turns = [], turns + 1
                    step = course.send(())
                    continue
                said = [reply(each) for each in step]
                replies += [ReplyEntry(agent=each.agent, purpose=each.purpose, text=text) for each, text in zip(step, said, strict=True)]
                step = course.send(tuple(map(Reply, said)))
        except StopIteration as ended:
            log.end(ended.value)
    return path


PLAIN: Mapping[str, Any] = {"theory_of_mind": False, "verification": False}


def test_a_player_is_asked_again_until_it_names_an_action() -> None:
    """It sees its reply, the list and the form; the action is then the one that it names, never the most similar one."""
    said = iter(["Action: Play card 3", "Action: Hint rank 5", "Action: D. Play My Card 3."])
    seen, (turn, *_) = asked(begun("hanabi", **PLAIN), 4, lambda _: next(said, "Action: A. Play My Card 0."))
    assert [each.agent for each in seen] == ["Bob", "Bob", "Bob", "Alice"]
    again = seen[1].messages[-1]["content"]
    assert "D. Play My Card 3." in again
    assert again.rstrip().endswith("Action: Reveal Carol's rank 8 cards.")
    assert "Action: Play card 3" in words(seen[1])
    assert (turn.actions[0].verb, turn.actions[0].arguments["card"]) == ("play", 3)
    assert [each.superseded for each in turn.utterances] == [True, True, False]


def test_the_published_harness_is_a_condition_and_takes_the_most_similar_action() -> None:
    """As the released code: one question, a stated rank becomes a discard or another hint."""
    seen, (turn, *_) = asked(begun("hanabi", **PLAIN, harness="published"), 2, lambda _: "Action: Play card 3")
    assert [each.agent for each in seen] == ["Bob", "Alice"]
    assert begun("hanabi", harness="published").condition["harness"] == "published"
    assert begun("hanabi").condition["harness"] == "strict"
    assert begun("hanabi").episode != begun("hanabi", harness="published").episode
    assert turn.turn == 1


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Games of all kinds by players who never name a listed action, or only when asked again; of both harnesses."""
    home = tmp_path_factory.mktemp("replies")
    names: tuple[tuple[CoordinationGame, str], ...] = (
        ("hanabi", ""),
        ("collab_capture", "closed_closed"),
        ("collab_escape", "published"),
        ("overcooked", "cramped_room"),
    )
    for game, variant in names:
        scripted(begun(game, variant, **PLAIN), home / f"{game}-never.jsonl", lambda _: "Why not?", 8)
        scripted(begun(game, variant, **PLAIN, harness="published"), home / f"{game}-published.jsonl", lambda _: "Action: xyzzy", 8)
        last: dict[str, int] = {}

        def second(each: Observation, last: dict[str, int] = last) -> str:
            known = last.get(each.agent) == each.turn
            last[each.agent] = each.turn
            return f"Action: {each.options[-1]}" if known else "Action: perhaps"

        scripted(begun(game, variant, **PLAIN, memory=True), home / f"{game}-second.jsonl", second, 8)
    opened = cotrace.open(home / "store.duckdb")
    assert opened.ingest(home).rejected == []
    for rubric in ("coordination_joint_planning", "coordination_environment"):
        opened.judge(rubric, judge="engine")
    store = Store(home / "store.duckdb")
    attribute_games(store)
    yield from held_open(store)


def test_how_each_reply_was_read_is_stored(store: Store) -> None:
    """A closed set; what the harness chose has no category of a move, whether good or bad."""
    reads = query(
        store,
        """SELECT level, regexp_extract(file, '-(\\w+)\\.', 1) AS kind, list(DISTINCT category) AS reads
        FROM failures JOIN episodes USING (episode_id) WHERE taxonomy = 'coordination_read' GROUP BY ALL""",
    )
    found = {(level, kind): set(found) for level, kind, found in reads.rows()}
    for level in ("collab_capture", "collab_escape", "overcooked"):
        assert found[level, "never"] == {"default"}
        assert found[level, "published"] == {"guessed"}
        assert found[level, "second"] == {"asked_again"}
    assert found["hanabi", "never"] == {"random"}
    assert found["hanabi", "published"] == {"guessed"}
    assert found["hanabi", "second"] == {"asked_again"}
    called = query(
        store,
        """SELECT count(*) FROM failures JOIN episodes USING (episode_id)
        WHERE taxonomy NOT LIKE 'coordination_%' AND file NOT LIKE '%-second%'""",
    ).item()
    assert called == 0
    replies = query(store, "SELECT DISTINCT regexp_extract(file, '-(\\w+)\\.', 1), evidence FROM failures JOIN episodes USING (episode_id)")
    words = {"never": "Why not?", "published": "xyzzy", "second": "perhaps"}
    assert all(words[kind] in evidence for kind, evidence in replies.rows() if evidence and "reply" in evidence)
    assert query(store, "SELECT count(*) FROM log_disagreements").item() == 0


def test_no_verdict_is_about_an_action_of_the_harness(store: Store) -> None:
    """Undecided, with the reply as reason; the moves that were named in the end are judged."""
    rows = query(
        store,
        """SELECT regexp_extract(file, '-(\\w+)\\.', 1) AS kind, status, count(*) AS n
        FROM verdicts JOIN episodes USING (episode_id)
        WHERE question IN ('JP2', 'JP3', 'EC2') AND answer IS DISTINCT FROM 'na' GROUP BY ALL""",
    )
    counts = {(kind, status): n for kind, status, n in rows.rows()}
    assert ("never", "answered") not in counts
    assert ("published", "answered") not in counts
    assert counts["second", "answered"] > 0


def test_costs_of_such_actions_are_charged_to_the_format(store: Store) -> None:
    """Of an unreadable reply to its player's form; of a reply that the published harness misread to the harness. Never to judgement."""
    rows = query(
        store,
        """SELECT regexp_extract(file, '-(\\w+)\\.', 1) AS kind, link, agent IS NULL AS nobody, sum(attributions.cost) AS cost
        FROM attributions JOIN episodes USING (episode_id) WHERE attributions.cost > 0 GROUP BY ALL""",
    )
    links = {(kind, link, nobody) for kind, link, nobody, _ in rows.rows()}
    assert ("never", "format", False) in links
    assert ("published", "harness", True) in links
    assert not any(link in {"acted_wrong", "idle", "not_said", "said_unclear"} for kind, link, _ in links if kind != "second")
    total = "SELECT episode_id, turn, round(sum(cost), 6) FROM {} WHERE cost > 0 GROUP BY ALL ORDER BY ALL"
    assert query(store, total.format("attributions")).rows() == query(store, total.format("turn_costs")).rows()


def test_every_game_has_a_turn_cap_and_says_its_score_rule(store: Store) -> None:
    """The cap stands in the header; a Hanabi player is told the score that the game counts, as its condition has it."""
    assert query(store, "SELECT count(*) FROM episodes WHERE max_turns IS NULL AND file NOT LIKE '%hanabi-published%'").item() == 0
    (strict, *_), _ = asked(begun("hanabi"), 1, lambda _: "")
    (published, *_), _ = asked(begun("hanabi", harness="published"), 1, lambda _: "")
    assert "when all lives are lost, with one point for each card on the stacks" in words(strict)
    assert "when all lives are lost, with 0 points" in words(published)


@pytest.mark.long
def test_games_whose_measure_is_the_score_have_no_success_and_are_counted_by_game(tmp_path: Path) -> None:
    """Hanabi ended alive, a soup delivered: no goal was reached. No game is counted among those with answers to CoordinationQA."""
    for name, policy, variants in (("hanabi", "cautious", ()), ("overcooked", "greedy", ("cramped_room",)), ("collab_capture", "bfs", ())):
        play(PlayRequest(game=name, out=tmp_path / "logs", policies=(policy,), variants=variants, seeds=(1,), ticks=80))  # type: ignore[arg-type]
    opened = cotrace.open(tmp_path / "store.duckdb")
    assert opened.ingest(tmp_path / "logs").rejected == []
    store = Store(tmp_path / "store.duckdb")
    games = query(
        store, "SELECT level, count(success) AS told, count(score) AS scored, max(score) AS most FROM games GROUP BY ALL ORDER BY ALL"
    )
    assert games.filter(level="collab_capture").row(0) == ("collab_capture", 4, 4, 1.0)
    for level in ("hanabi", "overcooked"):
        ((told, scored, most),) = games.filter(level=level).select("told", "scored", "most").rows()
        assert (told, scored) == (0, 1)
        assert most > 1
    said = [found.sentence for found in findings(store) if found.topic == "who"]
    assert not any("CoordinationQA" in one for one in said)
    counted = {one.partition(" (")[0].partition(" game")[0] for one in said}
    assert counted == {"LLM-Coordination, CollabCapture, 4", "LLM-Coordination, Hanabi, 1", "LLM-Coordination, Overcooked-AI, 1"}


@pytest.mark.parametrize(
    ("game", "variant"), [("hanabi", ""), ("collab_capture", "open_open"), ("collab_escape", "published"), ("overcooked", "cramped_room")]
)
def test_the_form_of_the_reply_is_said_last(game: CoordinationGame, variant: str) -> None:
    """After the state and the list of actions; as published it stands with the rules."""
    (first, *_), _ = asked(begun(game, variant, **PLAIN), 1, lambda _: "")
    (published, *_), _ = asked(begun(game, variant, **PLAIN, harness="published"), 1, lambda _: "")
    assert "Action:" in first.messages[-1]["content"].splitlines()[-1]
    assert first.options[-1] in first.messages[-1]["content"]
    assert "Action:" not in published.messages[-1]["content"]


def test_a_verifier_is_asked_about_conventions_only_where_it_is_given_them() -> None:
    """As published it is asked in any case."""

    def verifier(**switches: Any) -> str:
        seen, _ = asked(begun("hanabi", theory_of_mind=False, **switches), 2, lambda each: f"Action: {each.options[0]}")
        return words(seen[1])

    assert "convention" not in verifier().lower()
    with_them = verifier(conventions=True)
    assert "conventions and safety" in with_them
    assert "your oldest card at the left" in with_them
    assert "conventions and safety" in verifier(harness="published")
