"""Tables at which people sit: a game runs in a thread of its own, and asks the browsers of its seats."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from dashboards.boards import drawing_of
from dashboards.markup import to_html
from dashboards.playing.survey import keep, questions
from games.experiments.family import Match, game_of
from games.players.forms import Form
from games.players.player import Observation, PlayerReply
from games.players.running import Job, RunTerms, Seating, run_games
from games.players.seats import PERSON, is_model, seated, team_name
from schemas.errors import CotraceError, UsageError
from schemas.families import title_of
from schemas.text import near

__all__ = ["Seat", "Tables"]

_MOST_TABLES = 100
_OUT_OF_BUDGET = "the game ends here: its models have used up what they may cost"


class Seat:
    """A person's seat: what it is asked now, and the way in for the answer."""

    name = PERSON

    def __init__(self, agent: str, role: str, game: str) -> None:
        self.token = secrets.token_urlsafe(24)
        self.agent, self.role, self.game = agent, role, game
        self._asked: Observation | None = None
        self._shown: dict[str, Any] | None = None
        self._answer: asyncio.Future[str] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._one_by_one = asyncio.Lock()

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:  # noqa: ARG002 - the same face for all players
        """Wait for the answer of the browser; who is asked several things at once is asked them one after the other."""
        shown = self._told(seen)
        async with self._one_by_one:
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[str] = loop.create_future()
            with self._lock:
                self._loop, self._asked, self._shown, self._answer = loop, seen, shown, answer
            return PlayerReply(await answer)

    def say(self, number: int, text: str) -> bool:
        """Answer the question of that number; False: it is not asked any more."""
        with self._lock:
            if self._answer is None or self._asked is None or self._asked.place != number or self._loop is None:
                return False
            answer, self._answer, self._asked, self._shown = self._answer, None, None, None
            self._loop.call_soon_threadsafe(answer.set_result, text)
            return True

    def shown(self) -> dict[str, Any]:
        """All that the browser is told."""
        with self._lock:
            return {"agent": self.agent, "role": self.role, "title": title_of(self.game), "asked": self._shown}

    def _told(self, seen: Observation) -> dict[str, Any]:
        """An observation as a page takes it; nothing in it comes from anywhere else."""
        return {
            "number": seen.place,
            "turn": seen.turn,
            "messages": [{"role": message["role"], "content": message["content"]} for message in seen.messages],
            "picture": to_html(drawing_of(self.game).seat(seen)),
            "forms": [_form(form) for form in game_of(self.game).forms(seen)],
        }


def _form(form: Form) -> dict[str, Any]:
    slots = [{**slot._asdict(), "pieces": [_form(piece) for piece in slot.pieces]} for slot in form.slots]
    return {"title": form.title, "text": form.text, "slots": slots}


@dataclass(slots=True)
class _Running:
    job: Job
    seats: list[Seat]
    thread: threading.Thread
    error: str | None = None


@dataclass(slots=True)
class Tables:
    """All tables of a server.

    Args:
        out: folder for the logs.
        partners: models that may take seats.
        terms: how models are asked.
    """

    out: Path
    partners: Sequence[str]
    terms: RunTerms
    _running: list[_Running] = field(default_factory=list)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def open(self, game_name: str, players: Mapping[str, str], number: int, kind: str | None = None) -> list[Seat]:
        """Begin a game; gives the seats of people.

        Args:
            game_name: the family's name.
            players: seat -> player.
            number: of the game.
            kind: which of the family's games; None: its first.

        Raises:
            UsageError: there is no such game, seat or player.
        """
        if len(self._running) >= _MOST_TABLES:
            raise UsageError(f"there are {_MOST_TABLES} tables already: start the server anew")
        game = game_of(game_name)
        kind = game.KINDS[0] if kind is None else kind
        if kind not in game.KINDS:
            raise UsageError(f"{game_name} has no game {kind!r}{near(kind, game.KINDS)}")
        asked = game.one_game(number, kind)
        known = game.seats(asked)
        names = {role: tuple(scripts) for role, scripts in known.scripts.items()}
        taken = seated([f"{seat}={player}" for seat, player in players.items()], known.roles, names, said="")
        for player in taken.values():
            if is_model(player) and player not in self.partners:
                raise UsageError(f"{player} may not play here: name it with --partner when the server is started")
        seats = [Seat(agent, role, game_name) for agent, role in known.roles.items() if taken[agent] == PERSON]
        (task, *_) = game.tasks(asked, self.out)
        episode = f"table_{secrets.token_hex(4)}/{team_name(taken)}/{task.name}_{number}"
        match = Match(task, game.Condition(), taken, number, self.out / f"{episode}.jsonl", "people", episode, {})
        people = {seat.agent: seat for seat in seats}
        table = Seating(
            scripts=known.scripts, seats=known.roles, terms=self.terms, journal=(self.out / episode).parents[1] / ".journal", people=people
        )
        running = _Running(game.job(match), seats, threading.Thread())
        running.thread = threading.Thread(target=_play, args=(running, table), daemon=True, name=episode)
        self._running.append(running)
        running.thread.start()
        return seats

    def state(self, token: str) -> dict[str, Any] | None:
        """What the browser of a seat is told; None: there is no such seat."""
        for running in self._running:
            for seat in running.seats:
                if secrets.compare_digest(seat.token, token):
                    ended = None if running.thread.is_alive() else _end(running.job.path)
                    return {**seat.shown(), "error": running.error, "ended": ended, "survey": list(questions()) if ended else []}
        return None

    def survey(self, token: str, answers: Mapping[str, str]) -> bool:
        """Keep what a player says of its partner in the log of the game; False: there is no such seat, or its game is not over.

        Raises:
            UsageError: there is no such question or answer.
        """
        for running in self._running:
            for seat in running.seats:
                if secrets.compare_digest(seat.token, token) and not running.thread.is_alive() and _end(running.job.path):
                    with self._writing:
                        keep(running.job.path, seat.agent, answers)
                    return True
        return False

    def say(self, token: str, number: int, text: str) -> bool:
        """Answer for a seat; False: there is no such seat, or it is not asked that."""
        seats = (seat for running in self._running for seat in running.seats if secrets.compare_digest(seat.token, token))
        return any(seat.say(number, text) for seat in seats)


def _play(running: _Running, table: Seating) -> None:
    try:
        report = run_games([running.job], table)
    except (CotraceError, OSError) as error:
        running.error = str(error)
    else:
        running.error = _OUT_OF_BUDGET if report.stopped else None


def _end(path: Path) -> dict[str, Any] | None:
    """How a game ended, by its log."""
    if not path.exists():
        return None
    last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")[2]
    end: dict[str, Any] = orjson.loads(last).get("end") or {}
    return {name: end.get(name) for name in ("success", "score", "stop_reason", "turns_taken")} if end else None
