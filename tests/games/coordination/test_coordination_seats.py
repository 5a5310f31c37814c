"""Models, scripts and people at the tables of LLM-Coordination: prompts hold what a player needs, the agent's parts are switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from analytics.query import query
from games.coordination.courses.agent import PUBLISHED, CoordinationGame, GameSetup, Switches
from games.coordination.setup import course_of
from games.players.course import Reply
from games.players.player import Observation
from schemas.game import Turn
from tests.games.seats import ingested, play, seat_server, turns, whatever_it_says, without_memory

GAMES: dict[CoordinationGame, tuple[str, str, tuple[str, ...]]] = {
    "hanabi": ("hanabi", "cautious", ("--seed", "2")),
    "collab_capture": ("collab_capture", "button", ("--seed", "1")),
    "collab_escape": ("collab_escape", "fixer", ("--seed", "3", "--task", "published", "--task", "apart")),
    "overcooked": (
        "overcooked",
        "greedy",
        ("--seed", "1", "--turns", "40", "--task", "forced_coordination", "--task", "coordination_ring"),
    ),
}
"""Game -> its name, the script that the server plays, and what is played."""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("game", "seats", "switches"),
    [
        ("hanabi", ["all=openai/stub"], ("--no-verification",)),
        ("hanabi", ["Alice=openai/stub", "Bob=script:cautious"], ("--no-theory-of-mind", "--conventions", "--verification-limit", "1")),
        ("collab_capture", ["all=openai/stub"], ("--theory-of-mind", "--memory")),
        ("collab_capture", ["Alice=script:button", "Bob=openai/stub"], ()),
        ("collab_escape", ["all=openai/stub"], ("--no-explanation",)),
        ("collab_escape", ["Alice=openai/stub", "Bob=script:fixer"], ("--no-theory-of-mind", "--no-memory", "--verification")),
        ("overcooked", ["all=openai/stub"], ("--partner-information", "--explanation")),
        ("overcooked", ["Alice=script:greedy", "Bob=openai/stub"], ("--theory-of-mind",)),
    ],
)
def test_a_game_over_http_is_the_game_of_the_script_itself(
    game: CoordinationGame, seats: list[str], switches: tuple[str, ...], tmp_path: Path
) -> None:
    """The server knows the prompt alone; every game, either seat, parts of the agent on and off."""
    name, script, options = GAMES[game]
    with without_memory("coordination"):
        assert play("coordination", tmp_path / "script", [f"all=script:{script}"], *options, *switches, before=name).returncode == 0
    with seat_server("script") as address:
        done = play("coordination", tmp_path / "logs", seats, *options, *switches, "--base-url", f"{address}/v1", before=name)
    assert done.returncode == 0, done.stderr
    played = turns(tmp_path / "logs")
    assert played == turns(tmp_path / "script")
    assert all(len(each) > 2 for each in played)
    store = ingested(tmp_path)
    assert set(query(store, "SELECT DISTINCT level FROM episodes")["level"]) == {game}
    replies = sum(len(line["replies"]) for each in played for line in each if "turn" in line)
    assert query(store, "SELECT count(*) AS n FROM calls")["n"].item() == (
        replies if seats == ["all=openai/stub"] else _of_model(played, seats)
    )


def _of_model(played: Sequence[Sequence[dict[str, object]]], seats: Sequence[str]) -> int:
    (agent,) = (seat.partition("=")[0] for seat in seats if "stub" in seat)
    return sum(reply["agent"] == agent for each in played for line in each for reply in line.get("replies", ()))  # type: ignore[attr-defined]


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "game"),
    [*(("garbage", game) for game in GAMES), ("refusal", "collab_escape"), ("empty", "overcooked"), ("flaky", "collab_capture")],
)
def test_games_end_and_are_played_again_whatever_the_model_says(mode: str, game: CoordinationGame, tmp_path: Path) -> None:
    """Whoever names no action is asked again, and then the game goes on; a verifier that never approves is heard so often."""
    name, _, options = GAMES[game]
    options = (*options, "--turns", "4") if game == "overcooked" else options
    store = whatever_it_says("coordination", tmp_path, mode, *options, before=name)
    assert query(store, "SELECT count(*) AS n FROM calls WHERE agent IN ('Alice', 'Bob')")["n"].item() > 0


def begun(game: CoordinationGame, variant: str = "", **switches: object) -> GameSetup:
    return GameSetup(
        game=game,
        variant=variant,
        taken={"Alice": "m", "Bob": "m"},
        switches=PUBLISHED[game].model_copy(update=switches),
        seed=1,
        turns=30,
    )


def asked(game: GameSetup, count: int, reply: Callable[[Observation], str]) -> tuple[list[Observation], list[Turn]]:
    """The first questions of a game, and the turns that their answers gave."""
    course, seen, played = course_of(game), list[Observation](), list[Turn]()
    step = next(course)
    with suppress(StopIteration):
        while len(seen) < count:
            if isinstance(step, Turn):
                played.append(step)
                step = course.send(())
            else:
                seen += step
                step = course.send(tuple(Reply(reply(each)) for each in step))
    return seen, played


def words(seen: Observation) -> str:
    return "\n".join(message["content"] for message in seen.messages)


def test_a_choice_that_the_verifier_rejects_is_made_again_up_to_the_limit() -> None:
    """It gets the verdict and a list without what it chose; one rejected earlier is listed again; rejected ones are superseded."""
    said = {"tom": "x", "verify": "canary-verdict. Verification: Not Okay"}
    seen, (turn, *_) = asked(begun("hanabi", verification_limit=2), 6, lambda each: said.get(each.purpose, f"Action: {each.options[0]}"))
    assert [each.purpose for each in seen[:6]] == ["generate", "verify", "generate", "verify", "generate", "tom"]
    again = words(seen[2]).rpartition("not appropriate")[2]
    assert "canary-verdict" in again
    assert "A. Play My Card 0." not in again
    assert "A. Play My Card 0." in words(seen[4]).rpartition("not appropriate")[2]
    assert "canary-verdict" not in words(seen[3])
    assert [(said.text[:6], said.superseded) for said in turn.utterances if said.text.startswith("Action")] == [("Action", True)] * 2 + [
        ("Action", False)
    ]
    said["verify"] = "Verification: okay"
    approved, _ = asked(begun("hanabi", verification_limit=2), 3, lambda each: said.get(each.purpose, f"Action: {each.options[0]}"))
    assert [each.purpose for each in approved] == ["generate", "verify", "tom"]


def test_theory_of_mind_is_a_step_of_its_own_and_its_reply_stands_before_the_actions() -> None:
    """Not in Hanabi's first turn; the verifier does not see it; without the step the partner's last action stands there."""
    said = {"tom": "canary-interpretation", "generate": "Action: B. Play My Card 1.", "verify": "Verification: Okay"}
    seen, _ = asked(begun("hanabi"), 5, lambda each: said[each.purpose])
    assert [each.purpose for each in seen] == ["generate", "verify", "tom", "generate", "verify"]
    assert "Play My Card 1." in words(seen[2])
    _, found, after = words(seen[3]).partition("canary-interpretation")
    assert found
    assert "Available Legal Actions" in after
    assert "canary-interpretation" not in words(seen[4])
    without, _ = asked(begun("hanabi", theory_of_mind=False, verification=False), 2, lambda each: said[each.purpose])
    assert [each.purpose for each in without] == ["generate", "generate"]
    assert "Your partner's last action: Play My Card 1." in words(without[1])


@pytest.mark.parametrize(
    ("game", "variant", "needed"),
    [
        (
            "hanabi",
            "",
            (
                "eight",
                "three",
                "when all lives are lost, with one point for each card",
                "Current Stacks",
                "could be",
                "next playable cards",
                "Remaining Lives",
                "discard pile",
            ),
        ),
        (
            "overcooked",
            "forced_coordination",
            ("three onions", "s0 is empty", "c0 contains 0 out of 3 onions", "is inaccessible", "d0 is 2 units"),
        ),
        (
            "collab_capture",
            "closed_open",
            (
                "Room 5 is next to rooms 4, 6 and 7",
                "button in room 8",
                "room 1 and room 2 is closed",
                "Stay in",
                "thief is caught in the same room",
                "act at the same time",
            ),
        ),
        ("collab_escape", "apart", ("two turns of repair", "gate is in room 7", "I am in room 3", "killer is in room 5", "fix generator")),
    ],
)
def test_prompts_hold_what_a_player_needs(game: CoordinationGame, variant: str, needed: tuple[str, ...]) -> None:
    """Rules, state, list of actions, form of the answer; who one is and who the partner is; conventions, reasons and memory by switch."""
    (first, *_), _ = asked(begun(game, variant, theory_of_mind=False, conventions=False), 1, lambda _: "")
    text, partner = words(first), {"Alice": "Bob", "Bob": "Alice"}[first.agent]
    for part in (*needed, f"You are {first.agent}", partner, "Action:", "Got it!"):
        assert part in text, part
    told, _ = asked(
        begun(game, variant, theory_of_mind=False, verification=False, conventions=True, explanation=True, memory=True),
        9,
        lambda _: "Action: wait",
    )
    plain, _ = asked(
        begun(game, variant, theory_of_mind=False, verification=False, conventions=False, explanation=False, memory=False),
        9,
        lambda _: "Action: wait",
    )
    longest, shortest = (max(len(words(each)) for each in seen) for seen in (told, plain))
    assert longest > shortest
    assert any("My last actions" in words(each) or "My Action History" in words(each) for each in told)
    assert not any("My last actions" in words(each) or "My Action History" in words(each) for each in plain)


def test_nobody_sees_what_only_the_other_knows() -> None:
    """Canaries: own cards, the partner's choice of this turn, its thoughts and its private history, the seed and the deck."""
    private = "canary-thought"
    seen, played = asked(begun("hanabi"), 40, lambda each: f"{private} {each.agent}\nAction: A.\nVerification: Okay")
    mine = [each for each in seen if each.purpose == "generate"]
    for each, turn in zip(mine, played, strict=False):
        own = turn.state_before["hands"][each.agent]
        shown = words(each).partition("I can see")[2].partition("Knowledge")[0]
        assert shown.count("[Card") == len(turn.state_before["hands"]["Bob" if each.agent == "Alice" else "Alice"])
        assert "Deck Size" in words(each)
        assert not any(f"My Card {place} is" in words(each) for place in range(len(own)))
    for game, variant in (("collab_capture", "open_open"), ("collab_escape", "published")):
        switched = begun(game, variant, theory_of_mind=False)  # type: ignore[arg-type]
        both, _ = asked(switched, 2, lambda each: f"{private} {each.agent}\nAction: {each.options[0]}")
        assert [each.agent for each in both] == ["Alice", "Bob"]
        assert private not in words(both[1])
    cooks, _ = asked(begun("overcooked", "cramped_room"), 4, lambda each: f"{private} {each.agent}\nAction: pick up onion from o0.")
    assert all(private not in words(each) and "Bob is holding" not in words(each) for each in cooks)


def test_every_part_of_the_agent_is_in_the_condition() -> None:
    """So that an ablation is a GROUP BY."""
    assert set(begun("hanabi").condition) >= set(Switches().logged()) | {"game"}
    assert begun("overcooked", "cramped_room").condition["layout"] == "cramped_room"
    assert begun("hanabi").episode != begun("hanabi", theory_of_mind=False).episode
