"""Games of a store in a notebook: each shows itself as HTML, turn by turn."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from analytics.query import query
from cotrace.rows import Rows
from schemas.families import title_of
from schemas.store import Store
from schemas.text import printable

if TYPE_CHECKING:
    from judges.evidence.transcript import Transcript, TurnView

_MOST_TURNS = 40
"""Turns that a notebook shows of a game; the object has all."""


class Episode:
    """A game: its facts at once, its turns when they are asked for."""

    def __init__(self, store: Store, episode_id: str) -> None:
        self._store = store
        self.episode_id = episode_id

    @cached_property
    def game(self) -> Transcript:
        """The whole game as typed objects.

        Raises:
            StoreError: the store cannot be read.
        """
        from judges.evidence.transcript import load

        (game,) = load(self._store, [self.episode_id])
        return game

    def verdicts(self) -> Rows:
        """What judges said of it."""
        return Rows(
            query(
                self._store,
                "SELECT turn, agent, rubric, question, judge, answer, status, reason FROM verdicts WHERE episode_id = $episode "
                "ORDER BY turn, agent, rubric, question, judge, repeat",
                {"episode": self.episode_id},
            )
        )

    def __repr__(self) -> str:
        game = self.game
        return f"<{title_of(game.benchmark)} game {self.episode_id}: {game.task_id}, {game.model}, {len(game.turns)} turns>"

    def _repr_html_(self) -> str:
        """Facts, then a row a turn: what was said and thought, what was tried, the state, and what judges say."""
        game = self.game
        said = _by_turn(self.verdicts())
        rows = "".join(_turn_row(game, turn, said.get(turn.turn, [])) for turn in game.turns[:_MOST_TURNS])
        more = f"<p>The first {_MOST_TURNS} of {len(game.turns)} turns.</p>" if len(game.turns) > _MOST_TURNS else ""
        return (
            f"<h4>{_text(title_of(game.benchmark))}: {_text(game.task_id)}, {_text(game.model)}</h4>{_drawn_goal(game)}"
            "<table><thead><tr><th>turn</th><th>said</th><th>tried</th><th>state</th><th>verdicts</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>{more}"
        )


class Episodes(Sequence[Episode]):
    """The games of a store, or of one benchmark, in the order of their ids."""

    def __init__(self, store: Store, benchmark: str | None) -> None:
        rows = query(
            store, "SELECT episode_id FROM episodes WHERE $benchmark IS NULL OR benchmark = $benchmark ORDER BY 1", {"benchmark": benchmark}
        )
        self._store = store
        self._ids: list[str] = rows["episode_id"].to_list()

    @overload
    def __getitem__(self, index: int) -> Episode: ...

    @overload
    def __getitem__(self, index: slice) -> list[Episode]: ...

    def __getitem__(self, index: int | slice) -> Episode | list[Episode]:
        if isinstance(index, slice):
            return [Episode(self._store, episode_id) for episode_id in self._ids[index]]
        return Episode(self._store, self._ids[index])

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Episode]:
        return (Episode(self._store, episode_id) for episode_id in self._ids)

    def __repr__(self) -> str:
        return f"<{len(self)} games>"


def _by_turn(verdicts: Rows) -> dict[int | None, list[str]]:
    found: dict[int | None, list[str]] = {}
    for turn, agent, _, question, judge, answer, status, reason in verdicts:
        who = f" {agent}" if agent else ""
        found.setdefault(turn, []).append(f"{question}{who} ({judge}): {answer if status == 'answered' else status}. {reason or ''}")
    return found


def _turn_row(game: Transcript, turn: TurnView, verdicts: list[str]) -> str:
    said = "<br>".join(
        f"<b>{_text(u.agent)}</b> {'<i>thinks</i> ' if u.channel == 'private' else ''}{_text(u.text)}" for u in turn.utterances
    )
    tried = "<br>".join(f"{_text(a.agent)}: {_text(_action(game, a.verb, a.arguments))}{_outcome(a.accepted)}" for a in turn.actions)
    judged = "<br>".join(_text(line) for line in verdicts)
    state = _text(json.dumps(turn.state_after, ensure_ascii=False)) if turn.state_after else ""
    return f"<tr><td>{turn.turn}</td><td>{said}</td><td>{tried}</td><td><code>{state}</code></td><td>{judged}</td></tr>"


def _action(game: Transcript, verb: str, arguments: object) -> str:
    from dashboards.boards import drawing_of

    return drawing_of(game.benchmark).action(verb, arguments if isinstance(arguments, dict) else {})


def _outcome(accepted: bool | None) -> str:  # noqa: FBT001 - a column's value
    return " (refused)" if accepted is False else ""


def _drawn_goal(game: Transcript) -> str:
    return f"<p>Goal: <code>{_text(json.dumps(game.goal, ensure_ascii=False))}</code></p>" if game.goal else ""


def _text(value: str) -> str:
    return html.escape(printable(value))
