"""Every public environment keeps the same rules, and the checks of those rules can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.common.errors import UsageError
from tests.games.conformance import CONFORMANCE_CHECKS, ConformanceError, ReadBack, Ruling, Subject
from tests.games.conformance_subjects import SUBJECTS

SEEDS = (1, 2, 3)
CRAFT, EINSTEIN, *_ = SUBJECTS


@pytest.mark.parametrize("check", CONFORMANCE_CHECKS)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_environment_conforms(subject: Subject, check: str, tmp_path: Path) -> None:
    """Each check, on games of several seeds; skipped where the subject says why it cannot take it."""
    if check in subject.lacks:
        pytest.skip(f"{subject.name}: {subject.lacks[check]}")
    if subject.name == "coordination_hanabi":
        pytest.importorskip("pyspiel", reason="Hanabi is refereed by the optional OpenSpiel")
    for seed in SEEDS:
        CONFORMANCE_CHECKS[check](subject, seed, tmp_path / str(seed))


@pytest.mark.parametrize(
    ("name", "allowed", "unlisted"),
    [
        ("coordination_overcooked", "stay", "fly"),
        ("coordination_capture", "Action: Stay in current room", "move to room 8"),
        ("coordination_escape", "Action: wait", "move to room 8"),
    ],
)
def test_a_turn_with_an_unlisted_action_changes_nothing(name: str, allowed: str, unlisted: str) -> None:
    """Whoever of the two wants what the rules do not list; both are asked anew."""
    (subject,) = (subject for subject in SUBJECTS if subject.name == name)
    for answers in ((allowed, unlisted), (unlisted, allowed)):
        game = subject.begin(1)
        before = game.state()
        verdicts = [subject.verdicts(game.act(game.next_agent, answer)) for answer in answers]
        assert [verdict.accepted for made in verdicts for verdict in made] == [False]
        assert game.state() == before


@pytest.mark.parametrize("lacks", [{"turns_are_kept": " "}, {"log_is_nice": "no time"}])
def test_what_an_environment_lacks_needs_a_check_and_a_reason(lacks: dict[str, str]) -> None:
    """Nobody is let off silently."""
    with pytest.raises(UsageError, match="give a check"):
        replace(EINSTEIN, lacks=lacks)


class Lax:
    """An environment that takes calls it should refuse."""

    def __init__(self, environment: Any) -> None:
        self.inner = environment

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def act(self, agent: Any, answer: Any) -> Any:
        """Give nothing where a refusal is due."""
        return None if self.inner.done or agent != self.inner.next_agent else self.inner.act(agent, answer)


def unlike(subject: Subject) -> Subject:
    """A subject whose games come out of a hat."""
    seeds = iter(range(100))
    return replace(subject, begin=lambda _: subject.begin(next(seeds)))


def without_first_answer(subject: Subject) -> Subject:
    def read(lines: Any) -> ReadBack:
        game = subject.read_log(lines)
        return ReadBack(game.environment, [step._replace(answers=["", *step.answers][: len(step.answers)]) for step in game.steps])

    return replace(subject, read_log=read)


def backwards(subject: Subject) -> Subject:
    """A reader that tells a part of a log otherwise than the whole."""

    def read(lines: Any) -> ReadBack:
        game = subject.read_log(lines)
        return ReadBack(game.environment, list(game.steps)[::-1])

    return replace(subject, read_log=read)


BROKEN: dict[str, tuple[str, Callable[[Subject], Subject], str]] = {
    "another game each time": ("same_seed_same_game", unlike, "two games that differ"),
    "the same game for every seed": ("other_seed_other_game", lambda s: replace(s, begin=lambda _: s.begin(1)), "give the same game"),
    "acts out of turn": ("turns_are_kept", lambda s: replace(s, begin=lambda seed: Lax(s.begin(seed))), "could act"),
    "refuses without reason": ("steps_are_judged", lambda s: replace(s, verdicts=lambda _: [Ruling(False, None)]), "reason None"),  # noqa: FBT003
    "accepts with a reason": ("steps_are_judged", lambda s: replace(s, verdicts=lambda _: [Ruling(True, "no")]), "reason 'no'"),  # noqa: FBT003
    "log of other answers": ("log_replays", without_first_answer, "does not replay to the state"),
    "no steps in the log": ("log_replays", lambda s: replace(s, read_log=lambda lines: s.read_log(lines[:1])), "holds no step"),
    "cut log tells another story": ("cut_log_is_prefix", backwards, "are not its beginning"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_checks_find_what_is_broken(name: str, tmp_path: Path) -> None:
    """Each check refuses an environment that breaks its rule."""
    check, spoil, message = BROKEN[name]
    with pytest.raises(ConformanceError, match=message):
        CONFORMANCE_CHECKS[check](spoil(EINSTEIN), 2, tmp_path)


def test_a_game_without_end_is_refused(tmp_path: Path) -> None:
    """A game that goes on for ever would hang whoever plays it."""

    class Endless(Lax):
        done = False
        next_agent = "D1"

        def act(self, agent: Any, answer: Any) -> Any:  # noqa: ARG002
            return None

    endless = replace(CRAFT, begin=lambda seed: Endless(CRAFT.begin(seed)), answer=lambda *_: "")
    with pytest.raises(ConformanceError, match="no end"):
        CONFORMANCE_CHECKS["same_seed_same_game"](endless, 1, tmp_path)
