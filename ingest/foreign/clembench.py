"""Reads clembench's `interactions.json`: a round is a turn, an event a message with its addressee; scores from `scores.json` next to it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ingest.conversation.messages import keys_with_content, text_of
from ingest.conversation.rows import Conversation, LoggedMessage, ToolUse, numbers, reading_of
from ingest.reading.adapter_types import FileKind, Place, Reading, begins
from ingest.reading.text import loads, number, read_time
from schemas.common.errors import BadInputError

FORMAT: Final = "clembench"
VERSION: Final = 5

BENCHMARK: Final = "clembench"
KINDS: Final = (
    FileKind("requests to models next to a clembench log", (rb'"manipulated_prompt_obj"',)),
    FileKind("how a run of clembench went", (rb'\A\s*\{\s*"(?:clem_version|timestamp)"\s*:', rb'"(?:benchmark_start|player_models)"')),
    FileKind("mark of a clembench game that ended", (rb'\A\s*\{\s*"timestamp"\s*:\s*"[^"]+"\s*(?:,\s*"error"\s*:\s*"[^}]*)?\}\s*\Z',)),
    FileKind("experiment of a clembench game", (b'"game_name"', b'"player_models"', rb'\A(?!(?s:.*)"(?:players|turns)"\s*:)')),
    FileKind("scores next to a clembench log", (rb'"(?:turn|round) scores"', rb'"episode scores"')),
    FileKind(
        "instance of a clembench game",
        (rb'\A\s*\{\s*"game_id"\s*:\s*\d+\s*[,}]', rb'\A(?!(?s:.*)"(?:players|rounds|turns|messages|speaker|sender|author|role)"\s*:)'),
    ),
)

MARKS: Final = (
    re.compile(rb'"players"\s*:\s*\{'),
    re.compile(rb'"(?:turns|rounds)"\s*:\s*\[\s*[\[\]]'),
    re.compile(rb'"(?:GM|Player[ _]1|from)"\s*:'),
)
"""Players by name, rounds that are lists of events, and a game master: other games have players and rounds too."""
_SPOKEN: Final = frozenset({"send message", "get message"})
_REPEAT: Final = re.compile(r"/(?:epoch|episode)_(\d{5})/")
"""Folder of a repetition, from clembench 3 on; earlier ones number the instances."""
_PARTS_OF_PATH: Final = 4
"""game / experiment / episode / interactions.json."""


KEYS: Final = (frozenset({"players", "turns"}), frozenset({"players", "rounds"}))
"""Of a document whose beginning does not say what it is."""


sniff: Final = begins(rb'\A\s*\{\s*"(?:meta|players)"\s*:\s*\{', *(mark.pattern for mark in MARKS))


def companions(path: Path) -> tuple[Path, ...]:
    """The scores of the episode, once there are any."""
    scores = path.with_name("scores.json")
    return (scores,) if scores.is_file() else ()


def read(data: bytes, place: Place) -> Reading:
    """Read an episode.

    Raises:
        BadInputError: it is none, or it has no messages.
    """
    raw = loads(data)
    players, rounds = (raw.get("players"), raw.get("turns", raw.get("rounds"))) if isinstance(raw, dict) else (None, None)
    if not isinstance(players, dict) or not isinstance(rounds, list):
        raise BadInputError("no object with players and turns: not an episode of clembench, or damaged")
    messages = list(_messages(rounds))
    if not messages:
        raise BadInputError("turns is empty: it has no messages", locator=".turns")
    meta = raw["meta"] if isinstance(raw.get("meta"), dict) else {}
    scored = _scores(place)
    scores = _object(scored, "episode scores") | {name: raw[name] for name in ("Aborted", "Success", "Lose", "Main Score") if name in raw}
    found = {name: number(value) for name, value in scores.items()}
    ended = [name for name in ("Success", "Lose", "Aborted") if found.get(name) == 1]
    folders = Path(place.path).parts[-_PARTS_OF_PATH:-1]
    repeat = _REPEAT.search(place.path) if meta.get("game_id") is not None else None
    players = _as_they_speak(players, messages)
    return reading_of(
        Conversation(
            benchmark=BENCHMARK,
            run=str(meta.get("game_name") or _game(players) or folders[0]),
            task=str(meta.get("game_id", folders[-1] if folders else place.file)),
            level=str(meta["experiment_name"]) if meta.get("experiment_name") else (folders[-2] if len(folders) > 1 else None),
            messages=messages,
            roles={name: role for name, player in players.items() if (role := _role(player)) is not None},
            models={name: model for name, player in players.items() if (model := _model(name, player)) is not None},
            attempt=None if repeat is None else int(repeat[1]),
            success=ended == ["Success"] if ended else None,
            score=found.get("Main Score"),
            metrics=numbers(scores),
            turn_metrics=_turn_metrics(_object(scored, "turn scores") or _object(scored, "round scores")),
            stop_reason=ended[0].lower() if ended else None,
            started_at=messages[0].at,
            details={"meta": meta, "players": players, "scores": scores},
        ),
        place,
    )


def _messages(rounds: list[Any]) -> Iterator[LoggedMessage]:
    for index, events in enumerate(rounds):
        for place, event in enumerate(events if isinstance(events, list) else [events]):
            where = f".turns[{index}][{place}]"
            if not isinstance(event, Mapping) or not isinstance(event.get("from"), str):
                raise BadInputError("an event does not say from whom it is: the log is damaged", locator=where)
            action = event["action"] if isinstance(event.get("action"), Mapping) else {"content": event.get("action")}
            speaker, to = event["from"], event["to"] if isinstance(event.get("to"), str) else None
            kind = str(action.get("type") or "note")
            spoken = kind in _SPOKEN
            note = ToolUse(name=kind, arguments={key: value for key, value in action.items() if key not in {"type", "content", "image"}})
            shown = action.get("image") or []
            images = "".join(f"\n[image: {one}]" for one in (shown if isinstance(shown, list) else [shown]))
            text = text_of(action.get("content")) + images
            yield LoggedMessage(
                agent=speaker,
                text=text,
                unread=[] if text or not spoken else keys_with_content(action),
                turn=index + 1,
                private=not spoken and to in {None, speaker},
                audience=list(dict.fromkeys([speaker, *([] if to is None else [to])])),
                tools=() if spoken else [note],
                at=read_time(event.get("timestamp")),
            )


def _scores(place: Place) -> dict[str, Any]:
    """What `scores.json` next to it holds: `turn scores` (later `round scores`) and `episode scores`."""
    for path in companions(Path(place.path)):
        try:
            read_scores = loads(path.read_bytes())
        except (OSError, BadInputError) as error:
            raise BadInputError(f"{path.name} next to it cannot be read ({error}): fix or remove it") from error
        return dict(read_scores) if isinstance(read_scores, dict) else {}
    return {}


def _object(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = holder.get(name)
    return dict(found) if isinstance(found, dict) else {}


def _turn_metrics(scores: Mapping[str, Any]) -> dict[int, dict[str, float]]:
    """Turn, from 1 -> its scores; files count from 0 for the most part."""
    found = {int(turn): numbers(named) for turn, named in scores.items() if turn.isdecimal() and isinstance(named, Mapping)}
    shift = 1 if 0 in found else 0
    return {turn + shift: named for turn, named in found.items()}


def _as_they_speak(players: Mapping[str, Any], messages: Sequence[LoggedMessage]) -> dict[str, Any]:
    """The players under the names by which events know them: `Player_1` of some versions is `Player 1` there."""
    named = {name.replace("_", " ").casefold(): name for one in messages for name in (one.agent, *(one.audience or ()))}
    return {named.get(name.replace("_", " ").casefold(), name): player for name, player in players.items()}


def _game(players: Mapping[str, Any]) -> str | None:
    """Older logs name the game with its master: `Game master for taboo`."""
    master = players.get("GM")
    return master.rpartition(" for ")[2] if isinstance(master, str) and " for " in master else None


def _role(player: Any) -> str | None:
    """`WordGuesser, gpt-4`, or an object."""
    if isinstance(player, Mapping):
        named = player.get("game_role") or player.get("class_name")
        return None if named is None else str(named)
    return player.rpartition(", ")[0] or None if isinstance(player, str) else None


def _model(name: str, player: Any) -> str | None:
    if isinstance(player, Mapping):
        named = player.get("model_name") or player.get("model")
        return None if named in (None, "programmatic") else str(named)
    return player.rpartition(", ")[2] if isinstance(player, str) and name != "GM" else None
