"""What people are offered to write is read by the grammar of the game, whatever they choose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from games.asympuzl.answer import parse_answer as asympuzl_answer
from games.asympuzl.puzzle import generate
from games.avalon.game import read_answer
from games.coordination.players import ground
from games.craft.text.replies import ParsedMove, parse_director
from games.craft.text.replies import parse_answer as craft_answer
from games.einstein.engine.actions import parse_answer as einstein_answer
from games.experiments.family import Match, game_of
from games.overcooked.engine.layout import kitchen
from games.overcooked.engine.validator import refusal
from games.overcooked.engine.world import start_world
from games.overcooked.text.replies import fields_of, requests_in
from games.players.player import Form, Observation, PlayerReply, ScriptPlayer
from tests.games.filled_forms import written

_MOST = 30
"""Observations of a game that are looked at."""


class _EnoughError(Exception):
    """So many observations do."""


class _Watcher:
    """A script that remembers what it was shown."""

    def __init__(self, player: ScriptPlayer, seen: list[Observation]) -> None:
        self.name, self._player, self._seen = player.name, player, seen

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:
        self._seen.append(seen)
        if len(self._seen) > _MOST:
            raise _EnoughError
        return await self._player.reply(seen, episode=episode)


def observations(family: str, kind: str, folder: Path) -> list[Observation]:
    """What the seats of a game are shown."""
    game = game_of(family)
    asked = game.SHORT.one(5, kind)
    known = game.player_setup(asked)
    (task, *_) = game.tasks(asked, folder)
    scripts = {agent: next(iter(known.scripts[role])) for agent, role in known.roles.items()}
    taken = {agent: f"script:{script}" for agent, script in scripts.items()}
    job = game.job(Match(task, game.Condition(), taken, 5, folder, run="forms", episode="g"))
    seen: list[Observation] = []
    players = {a: _Watcher(ScriptPlayer(scripts[a], known.scripts[role][scripts[a]]), seen) for a, role in known.roles.items()}
    with suppress(_EnoughError):
        asyncio.run(_play(job.play, players))
    return seen


async def _play(play: Callable[[Any], Any], players: Any) -> None:
    await play(players)


def texts(form: Form, most: int = 20) -> Iterator[str]:
    """The form filled in with everything that can be chosen; free text is two words."""
    choices = [
        [[text] for piece in slot.pieces for text in texts(piece, 4)] if slot.pieces else list(slot.choices) or ["some words"]
        for slot in form.slots
    ]
    for _, values in zip(range(most), product(*choices), strict=False):
        yield written(form, dict(zip([slot.name for slot in form.slots], values, strict=True)))


def _reads_craft(seen: Observation, text: str) -> bool:
    if seen.role == "director":
        return parse_director(text).message == "some words"
    return isinstance(craft_answer(text), ParsedMove) or text == "CLARIFY:some words"


def _reads_asympuzl(_: Observation, text: str) -> bool:
    answer = asympuzl_answer(text, generate(size=5, seed=5).vocabulary)
    return (
        answer.parse_strict
        and answer.message == "some words"
        and all(r.fault in (None, "unknown_color", "unknown_shape") for r in answer.requests)
    )


def _reads_overcooked(seen: Observation, text: str) -> bool:
    fields = fields_of(text, seen.agent)
    plan = fields.plan.partition(":")[2].strip()
    if requests_in(plan):
        return plan.count("request(") == 1
    agent = 0 if seen.agent == "Chef" else 1
    return "check your plan" not in (refusal(start_world(kitchen(), "boiled_egg"), agent, plan) or "")


def _reads_coordination(seen: Observation, text: str) -> bool:
    if seen.purpose != "generate":
        return True
    return text == f"Action: {ground(text, seen.options)}"


@pytest.mark.parametrize(
    ("family", "kind", "reads"),
    [
        ("craft", "", _reads_craft),
        ("einstein", "", lambda _, text: einstein_answer(text).action is not None),
        ("asympuzl", "", _reads_asympuzl),
        ("avalon", "", lambda seen, text: read_answer(seen.purpose, text, seen.data.names).value is not None),
        ("overcooked", "", _reads_overcooked),
        ("coordination", "hanabi", _reads_coordination),
        ("coordination", "overcooked", _reads_coordination),
        ("coordination", "collab_capture", _reads_coordination),
        ("coordination", "collab_escape", _reads_coordination),
    ],
)
def test_every_form_is_read_by_the_grammar(family: str, kind: str, reads: Callable[[Observation, str], bool], tmp_path: Path) -> None:
    """In every situation of a game, every choice."""
    seen = observations(family, kind, tmp_path)
    assert len({one.agent for one in seen}) >= 2
    checked = 0
    for one in seen:
        forms = game_of(family).forms(one)
        assert forms
        for form in forms:
            for text in texts(form):
                assert reads(one, text), (one.agent, one.purpose, form.title, text)
                checked += 1
    assert checked > 8
