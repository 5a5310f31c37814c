"""Reads the logs of Avalon games that the published code of multi-round agents writes: JSON, one game a file, or all games of a session.

Format: docs/avalon.md. A game becomes a game of cotrace's own log, and is read as one. Which games were played with memory only their
folders say. `all_games.json` repeats the games next to it without the players' reflections, so it is read only where they are absent.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from games.avalon.rules import SIZES, Beliefs, side
from games.avalon.setup import header_of_game, view_of
from games.avalon.table import Message, Table
from ingest.cotrace_log import adapter as own
from ingest.reading.adapter_types import FileKind, Place, Reading, validated
from ingest.reading.text import loads
from schemas.common.errors import BadInputError
from schemas.game import ActionEntry, End, Turn, end_line, header_line, turn_line

FORMAT: Final = "avalon"
VERSION: Final = 1

KINDS: Final = (FileKind("what the players of Avalon games remember: the games have it too", (rb'"player_memories"', rb'"reflections"')),)

KEYS: Final = (
    frozenset({"game_id", "players", "missions"}),
    frozenset({"total_games", "games"}),
)
MARKS: Final = (re.compile(rb'"special_knowledge"'), re.compile(rb'"missions"'))

_GAME: Final = re.compile(rb'"game_id"\s*:\s*"avalon_')
_MARKS: Final = (rb'"special_knowledge"', rb'"mission_team_sizes"', rb'"is_good"')
_SESSION: Final = re.compile(rb'"games"\s*:\s*\[\s*\{\s*"game_id"\s*:\s*"avalon_')
_STAMP: Final = re.compile(r"avalon_(\d{8}_\d{6})$")
_SUBFOLDER: Final = re.compile(r"\d+p|low|medium|high")
_GAMES_FOLDER: Final = "individual_games"


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Config(_Part):
    model: str | None = None
    reasoning_effort: str | None = None
    mission_team_sizes: list[int] | None = None
    num_messages_per_player: int | None = None
    num_players: int | None = None


class _Player(_Part):
    name: str
    role: str | None = None
    is_good: bool | None = None
    special_knowledge: list[str] | None = None


class _Message(_Part):
    player: str
    content: str | None = None
    thinking_time: float | None = None
    reasoning_content: str | None = None


class _Vote(_Part):
    player: str
    vote: str | None = None
    comment: str | None = None
    thinking_time: float | None = None
    reasoning_content: str | None = None


class _Proposal(_Part):
    leader: str
    team_members: list[str]
    reasoning: str | None = None
    thinking_time: float | None = None
    reasoning_content: str | None = None
    votes: list[_Vote] = []
    vote_result: str | None = None


class _Card(_Part):
    player: str
    action: str


class _Mission(_Part):
    mission_number: int | None = None
    discussion: list[_Message] = []
    proposals: list[_Proposal] = []
    final_team_index: int | None = None
    quest_actions: list[_Card] = []
    mission_result: str | None = None
    fail_count: int | None = None


class _Assassination(_Part):
    assassin: str
    evil_discussion: list[_Message] = []
    guess: str | None = None
    reasoning: str | None = None
    correct: bool | None = None
    thinking_time: float | None = None
    reasoning_content: str | None = None


class _Reflection(_Part):
    player_name: str
    game_number: int | None = None
    role_played: str | None = None
    game_result: str | None = None
    self_assessment: str | None = None
    player_observations: dict[str, str] = {}
    thinking_time: float | None = None


class _Game(_Part):
    game_id: str
    config: _Config = _Config()
    players: list[_Player]
    missions: list[_Mission]
    winner: str | None = None
    assassin_phase: _Assassination | None = None
    post_game_reflections: list[_Reflection] = []


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is a log of Avalon games."""
    is_object = head.lstrip()[:1] == b"{"
    return is_object and (_SESSION.search(head) or _GAME.search(head)) is not None and sum(mark in head for mark in _MARKS) > 1


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is not JSON, or its game cannot be used.
    """
    document = loads(data)
    games = document.get("games") if isinstance(document, Mapping) else None
    if games is None:
        return _read(document, place)
    if not isinstance(games, list):
        raise BadInputError("`games` is not a list: write a list of games", locator="games")
    path = Path(place.path)
    if any(next(folder.glob("game_*.json"), None) is not None for folder in (path.parent / _GAMES_FOLDER, path.parent)):
        return Reading(note="the same games are in files of their own, with the players' notes")
    found = Reading()
    for index, game in enumerate(games):
        where = f"games[{index}]"
        found.take(where, lambda game=game, where=where: _read(game, place, where))  # type: ignore[misc]
    return found


def _read(document: Any, place: Place, where: str = "") -> Reading:
    game = validated(_Game, document, where, "the game is lost")
    path = f"{place.path}/{game.game_id}" if where else place.path
    log = _Log(game, place)
    reading = own.read(log.lines(), replace(place, path=path))
    reading.messages = sum(bool(row[6]) for row in reading.rows["utterances"])
    return reading


class _Log:
    """A game, written as cotrace's own log."""

    def __init__(self, game: _Game, place: Place) -> None:
        self.game = game
        self.names = [player.name for player in game.players]
        if len(set(self.names)) < len(self.names) or not self.names:
            raise BadInputError("give players, each with a name of its own", locator="players")
        self.folders = PurePath(place.path).parts[:-1]
        positions = {name: position for position, name in enumerate(self.names)}
        shown = [
            None
            if player.special_knowledge is None
            else frozenset(positions[name] for name in player.special_knowledge if name in positions)
            for player in game.players
        ]
        self.beliefs = Beliefs(tuple(player.role for player in game.players), tuple(shown))
        sizes = game.config.mission_team_sizes or SIZES.get(len(self.names), ())
        self.table = Table(self.names, self.beliefs, sizes)

    def lines(self) -> bytes:
        """Header, turns and, where somebody has won, the end."""
        turns = list(self._turns())
        end = self._end(len(turns))
        return b"".join([header_line(self._header()), *map(turn_line, turns), *([] if end is None else [end_line(end)])])

    def _memory(self) -> bool | None:
        """Whether the players remembered earlier games: their notes or their folders say it; None where neither does."""
        if self.game.post_game_reflections:
            return True
        for folder in reversed(self.folders):
            if folder.startswith(("1_cross_game", "2_tournaments", "4_reasoning")) or folder == _GAMES_FOLDER:
                return True
            if folder.startswith("3_individual_games"):
                return False
        return None

    def _header(self) -> Any:
        game, config = self.game, self.game.config
        stamp = _STAMP.search(game.game_id)
        details = {name: value for part in (game, config) for name, value in (part.model_extra or {}).items()}
        if game.config.num_players is not None and game.config.num_players != len(self.names):
            details["num_players"] = game.config.num_players
        folders = [folder for folder in self.folders if folder != _GAMES_FOLDER]
        shown = folders[-2:] if folders and _SUBFOLDER.fullmatch(folders[-1]) else folders[-1:]
        header = header_of_game(
            self.table,
            models=dict.fromkeys(self.names, config.model),
            run="/".join(shown) or FORMAT,
            condition={
                "players": len(self.names),
                "reasoning": config.reasoning_effort,
                "memory": self._memory(),
                "messages": config.num_messages_per_player,
                "sizes": list(self.table.sizes),
            },
            task=game.game_id,
        )
        views = {player.name: view_of(player.role, side(player.role) or _side(player), player.special_knowledge) for player in game.players}
        return replace(
            header,
            agents=[replace(agent, private_view=views[agent.agent]) for agent in header.agents],
            started_at=_time(stamp.group(1)) if stamp else "",
            details={"game_id": game.game_id, **({"unknown_fields": details} if details else {})},
        )

    def _turns(self) -> Iterator[Turn]:
        for index, mission in enumerate(self.game.missions):
            try:
                yield from self._mission(mission, last=index == len(self.game.missions) - 1)
            except BadInputError as error:
                raise BadInputError(error.reason, locator=f"missions[{index}]{error.locator}") from error
        phase = self.game.assassin_phase
        if phase is not None:
            guess = _action(phase.assassin, "guess", phase, guess=phase.guess)
            reason = Message(phase.assassin, phase.reasoning or "", phase.reasoning_content or "")
            yield self.table.assassinate(
                self._messages(phase.evil_discussion),
                reason,
                phase.guess,
                logged=phase.correct,
                actions=[guess],
                metrics=_times(phase.evil_discussion),
            )
        if self.game.post_game_reflections:
            actions, messages, times = [], [], {}
            for noted in self.game.post_game_reflections:
                facts = {"game_number": noted.game_number, "role_played": noted.role_played, "game_result": noted.game_result}
                actions.append(_action(noted.player_name, "reflect", noted, **facts))
                messages.append(Message(noted.player_name, noted.self_assessment or ""))
                actions += [
                    ActionEntry(agent=noted.player_name, verb="remember", arguments={"about": about}, raw=text)
                    for about, text in noted.player_observations.items()
                ]
                times[f"thinking_s.{noted.player_name}"] = noted.thinking_time or 0.0
            yield self.table.reflect(messages, actions=actions, metrics=times)

    def _mission(self, mission: _Mission, *, last: bool) -> Iterator[Turn]:
        table = self.table
        if mission.discussion or not mission.proposals:
            yield table.discuss(self._messages(mission.discussion), _times(mission.discussion))
        elif table.stage == "discussion":
            table.stage = "proposal"
        for number, proposal in enumerate(mission.proposals):
            votes = {vote.player: vote.vote for vote in proposal.votes}
            comments = [Message(vote.player, vote.comment or "", vote.reasoning_content or "") for vote in proposal.votes]
            team = _action(proposal.leader, "propose", proposal, team=proposal.team_members, mission=table.mission, proposal=number)
            yield table.propose(
                Message(proposal.leader, proposal.reasoning or "", proposal.reasoning_content or ""),
                proposal.team_members,
                votes,
                comments=comments,
                actions=[team, *(_action(vote.player, "vote", vote, vote=vote.vote) for vote in proposal.votes)],
                logged=proposal.vote_result,
            )
        if mission.quest_actions or mission.mission_result is not None or mission.fail_count is not None:
            cards = {card.player: card.action for card in mission.quest_actions}
            yield table.quest(
                cards,
                fails=mission.fail_count,
                logged=mission.mission_result,
                actions=[_action(card.player, "quest", card, card=card.action) for card in mission.quest_actions],
            )
        elif not last:
            raise BadInputError("has no result, but a mission follows it: correct it where the log is written", locator=".mission_result")

    def _end(self, turns: int) -> End | None:
        if self.game.winner is None:
            return None
        good = self.game.winner == "good"
        return End(success=good, score=float(good), stop_reason=self.table.won_by, turns_taken=turns)

    def _messages(self, messages: Sequence[_Message]) -> list[Message]:
        self.table.team([message.player for message in messages])
        return [Message(message.player, message.content or "", message.reasoning_content or "") for message in messages]


def _action(agent: str, verb: str, part: Any, **arguments: Any) -> ActionEntry:
    """What a player did, with how long it thought."""
    time = getattr(part, "thinking_time", None)
    return ActionEntry(agent=agent, verb=verb, arguments=arguments | ({} if time is None else {"thinking_s": time}), accepted=True)


def _times(messages: Sequence[_Message]) -> dict[str, float]:
    found: dict[str, float] = {}
    for message in messages:
        if message.thinking_time is not None:
            key = f"thinking_s.{message.player}"
            found[key] = found.get(key, 0.0) + message.thinking_time
    return found


def _side(player: _Player) -> str | None:
    return None if player.is_good is None else "good" if player.is_good else "evil"


def _time(stamp: str) -> str:
    try:
        return datetime.strptime(stamp, "%Y%m%d_%H%M%S").isoformat()  # noqa: DTZ007 - logs hold local times without zone
    except ValueError:
        return ""
