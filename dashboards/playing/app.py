"""The server of tables: a page that opens a game, and a page for each seat. Nothing of a store can be reached through it.

A seat's address holds a secret of its own; who has it needs nothing else, and gets nothing else.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from flask import Flask, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dashboards.access import Access, guard
from dashboards.playing.pages import OPENING, SEAT
from dashboards.playing.tables import Tables
from dashboards.requests import answer_faults
from games.experiments.family import games
from games.players.seats import PERSON, SCRIPT
from schemas.errors import CotraceError
from schemas.families import title_of

__all__ = ["create_play_app"]

_LONGEST_ANSWER: Final = 20_000
_SEAT: Final = "/seat/"


class _Opening(BaseModel):
    model_config = ConfigDict(extra="forbid")

    game: str
    players: dict[str, str]
    number: int = Field(default=1, ge=0, le=2**31)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    number: int
    text: str = Field(max_length=_LONGEST_ANSWER)


def create_play_app(tables: Tables, *, access: Access) -> Flask:
    """The server's app.

    Args:
        tables: where people sit.
        access: who may open a table; seats have secrets of their own.
    """
    app = Flask("cotrace-play", static_folder=None)
    guard(app, access, free=(_SEAT,))
    answer_faults(app)

    @app.get("/")
    def opening() -> str:
        return OPENING

    @app.get("/games")
    def offered() -> Response:
        return jsonify([_offer(name, tables) for name in games()])

    @app.post("/open")
    def begin() -> tuple[Response, HTTPStatus]:
        try:
            asked = _Opening.model_validate_json(request.get_data())
            seats = tables.open(asked.game, asked.players, asked.number)
        except ValidationError as error:
            return _refused(str(error.errors()[0]["msg"]))
        except CotraceError as error:
            return _refused(str(error))
        return jsonify([{"agent": seat.agent, "href": f"{_SEAT}{seat.token}"} for seat in seats]), HTTPStatus.OK

    @app.get(f"{_SEAT}<token>")
    def seat(token: str) -> tuple[str, HTTPStatus]:
        return (SEAT, HTTPStatus.OK) if tables.state(token) else ("There is no such seat.\n", HTTPStatus.NOT_FOUND)

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

    return app


def _refused(why: str) -> tuple[Response, HTTPStatus]:
    return jsonify({"error": why}), HTTPStatus.BAD_REQUEST


def _offer(name: str, tables: Tables) -> dict[str, object]:
    game = games()[name]
    known = game.seats(game.one_game(1))
    seats = {
        agent: [PERSON, *(f"{SCRIPT}{script}" for script in known.scripts.get(role, ())), *tables.partners]
        for agent, role in known.roles.items()
    }
    return {"game": name, "title": title_of(name), "seats": seats}
