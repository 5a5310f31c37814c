"""Tables at which people play, alone or with models."""

import asyncio
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson

from dashboards.boards import drawing_of
from dashboards.parts import to_html
from games.experiments.family import Match, game_of
from games.players.player import Form, Observation, PlayerReply
from games.players.running import Job, RunSetup, RunTerms, run_games
from games.players.setup import PERSON, is_model, team_name
from judges.rubric_files.load import find
from providers.prices import Budget
from schemas.common.errors import CotraceError, UsageError
from schemas.common.text import near
from schemas.families import title_of
from schemas.game import SurveyEntry

RUBRIC: Final = "partner_survey"


def questions() -> Sequence[Mapping[str, Any]]:
    """The questions and what can be answered, as the page shows them."""
    rubric = find(RUBRIC, ())
    return [{"id": question.id, "ask": question.ask, "answers": list(question.answers)} for question in rubric.questions.values()]


def keep(path: Path, agent: str, answers: Mapping[str, str]) -> None:
    """Put a player's answers into the last line of its game's log, in place of those that it gave before.

    Raises:
        UsageError: there is no such question or answer.
        OSError: the log cannot be written.
    """
    rubric = find(RUBRIC, ())
    known = {question.id: question.answers for question in rubric.questions.values()}
    for question, answer in answers.items():
        if answer not in known.get(question, ()):
            raise UsageError(f"{question}: {answer!r} is no answer of the questionnaire")
    head, mark, last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
    line = orjson.loads(last)
    others = [entry for entry in line["end"].get("survey", ()) if entry["agent"] != agent]
    own = [
        SurveyEntry(rubric=RUBRIC, question=question, agent=agent, answer=answer, score=rubric.score(answer))
        for question, answer in answers.items()
    ]
    line["end"]["survey"] = [*others, *own]
    written = path.with_suffix(".survey")
    written.write_bytes(head + mark + orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    written.replace(path)


_MOST_TABLES = 100
"""Games under way at once."""
_MOST_WITH_MODELS = 4
"""Those of them with models, opened by one client."""
_MOST_ENDED = 400
"""Ended games whose pages still answer."""
_REQUESTS_A_MINUTE = 120.0
"""To the models of one game."""
_AWAY_S = 1800.0
"""A game whose players have not looked at it for so long gives its place to another, in seconds."""
_OUT_OF_BUDGET = (
    "the game ends here: the models of this server have used up what they may cost (--max-cost). "
    "It is stored up to this turn, and whoever runs the server can let it go on: cotrace ingest, then cotrace replay"
)
_LEFT = f"this game was ended: no player looked at it for {_AWAY_S / 60:.0f} minutes, and another game needed its place"


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
        self._is_ended = False

    async def reply(self, seen: Observation, *, episode: str) -> PlayerReply:  # noqa: ARG002 - the same face for all players
        """Wait for the answer of the browser; who is asked several things at once is asked them one after the other."""
        shown = self._told(seen)
        async with self._one_by_one:
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[str] = loop.create_future()
            with self._lock:
                self._loop, self._asked, self._shown, self._answer = loop, seen, shown, answer
                if self._is_ended:
                    answer.set_exception(CotraceError(_LEFT))
            return PlayerReply(await answer)

    def say(self, number: int, text: str) -> bool:
        """Answer the question of that number; False: it is not asked any more."""
        with self._lock:
            if self._answer is None or self._asked is None or self._asked.place != number or self._loop is None:
                return False
            answer, self._answer, self._asked, self._shown = self._answer, None, None, None
            self._loop.call_soon_threadsafe(answer.set_result, text)
            return True

    def end(self) -> None:
        """Let the game fail as soon as it asks this player, or now where it waits for the answer."""
        with self._lock:
            self._is_ended = True
            if self._answer is not None and self._loop is not None:
                self._loop.call_soon_threadsafe(self._answer.set_exception, CotraceError(_LEFT))
                self._answer = self._asked = self._shown = None

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
    model_client: str | None
    """Who opened it, of a game with models; None: there are none."""
    seen_at: float = field(default_factory=time.monotonic)
    """When a player last looked at it."""
    error: str | None = None

    @property
    def is_over(self) -> bool:
        return self.thread.ident is not None and not self.thread.is_alive()


@dataclass(slots=True)
class Tables:
    """All tables of a server. Games with models have a person among their players, and begin when the first one comes.

    Args:
        out: folder for the logs.
        partners: models that may take seats.
        terms: how models are asked; `max_cost` is for all games together.
    """

    out: Path
    partners: Sequence[str]
    terms: RunTerms
    _running: list[_Running] = field(default_factory=list)
    _changing: threading.Lock = field(default_factory=threading.Lock)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        paced = replace(self.terms.settings, requests_per_minute=self.terms.settings.requests_per_minute or _REQUESTS_A_MINUTE)
        self.terms = replace(self.terms, settings=paced, budget=Budget(self.terms.max_cost))

    def open(self, game_name: str, players: Mapping[str, str], number: int, kind: str | None = None, *, client: str = "") -> list[Seat]:
        """Begin a game; gives the seats of people.

        Args:
            game_name: the family's name.
            players: seat -> player.
            number: of the game.
            kind: which of the family's games; None: its first.
            client: who asks for it: one client has a small number of games with models at once.

        Raises:
            UsageError: there is no such game, seat or player, there are too many games, or models would play without a person.
        """
        game = game_of(game_name)
        offered = game.SHORT.offered
        kind = offered[0] if kind is None else kind
        if kind not in offered:
            raise UsageError(f"{game_name} has no game {kind!r}{near(kind, offered)}")
        asked = game.SHORT.one(number, kind)
        known = game.player_setup(asked)
        taken = known.taken([f"{seat}={player}" for seat, player in players.items()], source="")
        for player in taken.values():
            if is_model(player) and player not in self.partners:
                raise UsageError(f"{player} may not play here: name it with --partner when the server is started")
        has_models = any(map(is_model, taken.values()))
        seats = [Seat(agent, role, game_name) for agent, role in known.roles.items() if taken[agent] == PERSON]
        if has_models and not seats:
            raise UsageError("a game with a model needs a person among its players: `cotrace play` has models play alone")
        (task, *_) = game.tasks(asked, self.out)
        episode = f"table_{secrets.token_hex(4)}/{team_name(taken)}/{task.name}_{number}"
        match = Match(task, game.Condition(), taken, number, self.out, known.is_cast(taken), "people", episode)
        people = {seat.agent: seat for seat in seats}
        table = RunSetup(
            scripts=known.scripts, roles=known.roles, terms=self.terms, journal=(self.out / episode).parents[1] / ".journal", people=people
        )
        running = _Running(game.job(match), seats, threading.Thread(), client if has_models else None)
        running.thread = threading.Thread(target=_play, args=(running, table), daemon=True, name=episode)
        with self._changing:
            self._make_room(running)
            self._running.append(running)
            if not has_models:
                running.thread.start()
        return seats

    def _make_room(self, coming: _Running) -> None:
        """Forget old games, and end those that their players have left, where the one that comes needs a place.

        Raises:
            UsageError: there is none.
        """
        ended = [game for game in self._running if game.is_over]
        for game in ended[: max(0, len(ended) - _MOST_ENDED)]:
            self._running.remove(game)
        under_way = [game for game in self._running if not game.is_over]
        mine = [game for game in under_way if coming.model_client is not None and game.model_client == coming.model_client]
        for games, most, which in ((under_way, _MOST_TABLES, "games"), (mine, _MOST_WITH_MODELS, "games with models that you opened")):
            if len(games) < most:
                continue
            oldest = min((game for game in games if game.seats), key=lambda game: game.seen_at, default=None)
            if oldest is None or time.monotonic() - oldest.seen_at < _AWAY_S:
                raise UsageError(f"there are {most} {which} under way, which is the limit: open one when another has ended")
            if oldest.thread.ident is None:
                self._running.remove(oldest)
            for seat in oldest.seats:
                seat.end()

    def _at(self, token: str) -> tuple[_Running, Seat] | None:
        """The seat with that secret and its game."""
        with self._changing:
            games = list(self._running)
        given = token.encode("utf-8", "replace")
        found = ((game, seat) for game in games for seat in game.seats if secrets.compare_digest(seat.token.encode(), given))
        return next(found, None)

    def state(self, token: str) -> dict[str, Any] | None:
        """What the browser of a seat is told; None: there is no such role."""
        found = self._at(token)
        if found is None:
            return None
        running, seat = found
        running.seen_at = time.monotonic()
        with self._changing:
            if running.thread.ident is None:
                running.thread.start()
        ended = _end(running.job.path) if running.is_over else None
        return {**seat.shown(), "error": running.error, "ended": ended, "survey": list(questions()) if ended else []}

    def survey(self, token: str, answers: Mapping[str, str]) -> bool:
        """Keep what a player says of its partner in the log of the game; False: there is no such role, or its game is not over.

        Raises:
            UsageError: there is no such question or answer.
        """
        found = self._at(token)
        if found is None or not found[0].is_over or not _end(found[0].job.path):
            return False
        with self._writing:
            keep(found[0].job.path, found[1].agent, answers)
        return True

    def say(self, token: str, number: int, text: str) -> bool:
        """Answer for a seat; False: there is no such role, or it is not asked that."""
        found = self._at(token)
        return found is not None and found[1].say(number, text)


def _play(running: _Running, table: RunSetup) -> None:
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
