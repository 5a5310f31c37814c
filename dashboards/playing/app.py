"""The pages for people who play."""

from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from flask import Flask, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dashboards.playing.tables import Tables
from dashboards.requests import Access, answer_faults, guard
from games.experiments.family import games
from games.players.setup import PERSON, SCRIPT
from schemas.common.errors import CotraceError
from schemas.families import title_of

LOOK: Final = "/look/"
"""Where the files lie; they hold nothing of any game."""

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".woff2": "font/woff2"}
_SHARED: Final = frozenset({"base.css", "parts.css", "boards.css", "theme.js", "inter-latin.woff2"})
"""Out of the dashboard's own files."""
_OWN: Final = frozenset({"play.css", "opening.js", "seat.js"})


@cache
def document(name: str) -> str:
    """A page, whole."""
    return files(__package__).joinpath("web", f"{name}.html").read_text(encoding="utf-8")


def look(name: str) -> Response | None:
    """A file that the pages load; None: they load none of that name."""
    if name not in _SHARED | _OWN:
        return None
    return Response(_content(name), mimetype=next(kind for ending, kind in _TYPES.items() if name.endswith(ending)))


@cache
def _content(name: str) -> bytes:
    place = files(__package__).joinpath("web") if name in _OWN else files("dashboards").joinpath("assets")
    return place.joinpath(name).read_bytes()


_LONGEST_ANSWER: Final = 20_000
_SEAT: Final = "/seat/"


class _Opening(BaseModel):
    model_config = ConfigDict(extra="forbid")

    game: str
    kind: str | None = None
    players: dict[str, str]
    number: int = Field(default=1, ge=0, le=2**31)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    number: int
    text: str = Field(max_length=_LONGEST_ANSWER)


class _Survey(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answers: dict[str, str] = Field(max_length=100)


def create_play_app(tables: Tables, *, access: Access) -> Flask:
    """The server's app.

    Args:
        tables: where people sit.
        access: who may open a table; seats have secrets of their own.
    """
    app = Flask("cotrace-play", static_folder=None)
    guard(app, access, free=(_SEAT, LOOK))
    answer_faults(app)
    _add_opening(app, tables)
    _add_seats(app, tables)
    return app


def _add_opening(app: Flask, tables: Tables) -> None:
    @app.get("/")
    def opening() -> str:
        return document("opening")

    @app.get(f"{LOOK}<name>")
    def shared(name: str) -> tuple[Response | str, HTTPStatus]:
        found = look(name)
        return (found, HTTPStatus.OK) if found else ("There is no such file.\n", HTTPStatus.NOT_FOUND)

    @app.get("/games")
    def offered() -> Response:
        return jsonify([_offer(name, kind, tables) for name, game in games().items() for kind in game.SHORT.offered])

    @app.post("/open")
    def begin() -> tuple[Response, HTTPStatus]:
        try:
            asked = _Opening.model_validate_json(request.get_data())
            seats = tables.open(asked.game, asked.players, asked.number, asked.kind, client=request.remote_addr or "")
        except ValidationError as error:
            return _refused(str(error.errors()[0]["msg"]))
        except CotraceError as error:
            return _refused(str(error))
        return jsonify([{"agent": seat.agent, "href": f"{_SEAT}{seat.token}"} for seat in seats]), HTTPStatus.OK


def _add_seats(app: Flask, tables: Tables) -> None:
    @app.get(f"{_SEAT}<token>")
    def seat(token: str) -> tuple[str, HTTPStatus]:
        return (document("seat"), HTTPStatus.OK) if tables.state(token) else ("There is no such role.\n", HTTPStatus.NOT_FOUND)

    @app.get(f"{_SEAT}<token>/state")
    def state(token: str) -> tuple[Response, HTTPStatus]:
        found = tables.state(token)
        return (jsonify(found), HTTPStatus.OK) if found else (jsonify(None), HTTPStatus.NOT_FOUND)

    @app.post(f"{_SEAT}<token>/say")
    def say(token: str) -> tuple[Response, HTTPStatus]:
        try:
            answer = _Answer.model_validate_json(request.get_data())
        except ValidationError as error:
            return _refused(str(error.errors()[0]["msg"]))
        heard = tables.say(token, answer.number, answer.text)
        return jsonify(heard), HTTPStatus.OK if heard else HTTPStatus.CONFLICT

    @app.post(f"{_SEAT}<token>/survey")
    def answered(token: str) -> tuple[Response, HTTPStatus]:
        try:
            kept = tables.survey(token, _Survey.model_validate_json(request.get_data()).answers)
        except (ValidationError, CotraceError) as error:
            return _refused(str(error))
        return jsonify(kept), HTTPStatus.OK if kept else HTTPStatus.CONFLICT


def _refused(why: str) -> tuple[Response, HTTPStatus]:
    return jsonify({"error": why}), HTTPStatus.BAD_REQUEST


def _offer(name: str, kind: str, tables: Tables) -> dict[str, object]:
    game = games()[name]
    known = game.player_setup(game.SHORT.one(1, kind))
    seats = {
        agent: [PERSON, *(f"{SCRIPT}{script}" for script in known.scripts.get(role, ())), *tables.partners]
        for agent, role in known.roles.items()
    }
    return {"game": name, "kind": kind, "title": title_of(name), "seats": seats}
