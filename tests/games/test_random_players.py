"""Players who draw well-formed answers by lot, in every family and seat: games end, are played again from their logs, nothing is lost."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path
from typing import Any

import pytest

from analytics.query import query
from games.experiments.family import Match, Task, game_of
from games.overcooked.engine.own_kitchen import read_kitchen
from games.overcooked.engine.tasks import task_of
from games.players.player import Form, Observation, PlayerReply
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from judges.rubric_files.load import find, names
from judges.runs.job import JudgeRequest
from judges.runs.runner import run
from schemas.store.store import Store
from tests.games.filled_forms import written
from tests.servers.seats.overcooked import KITCHEN

WORDS = ("Please help.", "Put it on the left.", "I do not know; what do you see?")
STRANGE = (
    "9" * 5_000,
    "1e999",
    "-1",
    "\ud83d",
    "\0",
    "null",
    "[]",
    "{}",
    '"',
    "2.5",
    "\N{ARABIC-INDIC DIGIT ONE}",
    "\r\n",
    "</message>",
    "[EMPTY]",
)
GAMES: dict[tuple[str, str], dict[str, Any]] = {
    ("craft", ""): {"turns": 4},
    ("einstein", ""): {"step_limit": 12},
    ("asympuzl", ""): {"turns": 4},
    ("overcooked", ""): {"horizon": 14},
    ("overcooked", "own"): {"horizon": 14, "rules": "paper"},
    ("overcooked", "silent"): {"horizon": 14, "rounds": 0},
    ("coordination", "hanabi"): {},
    ("coordination", "overcooked"): {"ticks": 20},
    ("coordination", "collab_capture"): {},
    ("coordination", "collab_escape"): {},
}


class ByLot:
    """Whatever the grammar reads."""

    name = "openai/by-lot"

    def __init__(self, family: str, seed: str) -> None:
        self._family, self._rng = family, random.Random(seed)

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """Fill in one of the forms that a person would be offered."""
        assert episode
        return PlayerReply(self._text(self._rng.choice(game_of(self._family).forms(seen))))

    def _text(self, form: Form) -> str:
        filled: dict[str, Any] = {}
        for slot in form.slots:
            if slot.pieces:
                filled[slot.name] = [self._text(self._rng.choice(slot.pieces)) for _ in range(self._rng.randrange(4))]
            else:
                filled[slot.name] = self._rng.choice([*slot.choices] or WORDS)
        return written(form, filled)


class Careless(ByLot):
    """The same, with a word or two exchanged for what no rule expects, or nothing at all."""

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        """A form, and a slip of the pen."""
        text = (await super().reply(seen, episode=episode)).text
        if self._rng.random() < 0.2:
            return PlayerReply("")
        for _ in range(self._rng.randrange(3)):
            words = [found.span() for found in re.finditer(r"\w+", text)]
            first, last = self._rng.choice(words) if words else (0, 0)
            text = f"{text[:first]}{self._rng.choice(STRANGE)}{text[last:]}"
        return PlayerReply(text)


def played(family: str, kind: str, switches: dict[str, Any], folder: Path, player: type[ByLot]) -> None:
    """Two games of a family into logs."""
    game = game_of(family)
    for seed in (1, 2):
        asked = game.SHORT.one(seed, "" if kind in ("own", "silent") else kind)

        known = game.player_setup(asked)
        (task, *_) = game.tasks(asked, folder)
        if kind == "own":
            task = Task("own", task_of("pesto_toast", read_kitchen(KITCHEN)), 0)
        taken = dict.fromkeys(known.roles, ByLot.name)
        name = f"{family}{kind}{seed}"
        job = game.job(Match(task, game.Condition(**switches), taken, seed, folder, run="lots", episode=name))
        asyncio.run(_play(job.play, {agent: player(family, f"{name}{agent}") for agent in known.roles}))


async def _play(play: Any, players: Any) -> None:
    await play(players)


@pytest.fixture(scope="module", params=[ByLot, pytest.param(Careless, marks=pytest.mark.long)])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """All of them."""
    home = tmp_path_factory.mktemp("lots")
    for (family, kind), switches in GAMES.items():
        played(family, kind, switches, home, request.param)
    filled = Store(home / "s.duckdb")
    report = ingest_paths([home], filled, workers=1)
    assert (report.rejected, report.episodes) == ([], 2 * len(GAMES))
    return filled


def test_every_game_ends_and_says_what_its_rules_say(store: Store) -> None:
    """None is cut, and no log differs from what its replies give when they are played again."""
    assert query(store, "SELECT benchmark, task_id FROM games WHERE ending <> 'ended' OR stop_reason IS NULL").rows() == []
    assert query(store, "SELECT * FROM log_disagreements").to_dicts() == []


def test_what_was_drawn_was_carried_out_or_refused(store: Store) -> None:
    """In every family the rules took some of it, so that games are no rows of passes."""
    found = query(store, "SELECT benchmark FROM actions JOIN episodes USING (episode_id) WHERE accepted GROUP BY 1 ORDER BY 1")
    assert found["benchmark"].to_list() == ["asympuzl", "coordination", "craft", "einstein", "overcooked"]
    assert query(store, "SELECT count(*) AS n FROM actions WHERE accepted = false")["n"].item() > 0


@pytest.mark.long
def test_the_engine_judges_whatever_was_said(store: Store) -> None:
    """Every rubric with checks, and what every turn cost: nothing that a player can say stops them."""
    for name in names():
        rubric = find(name)
        if any(question.engine for question in rubric.questions.values()):
            assert run(JudgeRequest(rubric=rubric), store).status == "finished"
    assert attribute_games(store).games > 0
