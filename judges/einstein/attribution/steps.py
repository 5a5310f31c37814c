"""A logged Einstein game played again: what each player knew, what a careful one would do, and what each action is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share, parse_action
from games.einstein.engine.bins import COMMON, DESTINATIONS, REACH, Bin
from games.einstein.engine.items import Item
from games.einstein.engine.modes import ALLOWED, Modes
from games.einstein.engine.puzzle import parse_game_id
from games.einstein.engine.rules import RULES
from games.einstein.engine.step import Outcome, Setting, advance
from games.einstein.engine.table import Table, items_of, start_table
from games.einstein.game import AGENTS, PlayerView
from games.einstein.players.mind import Mind
from games.einstein.text.prompts import HistoryEntry
from games.einstein.value.search import Search
from judges.einstein.steps import item_text
from judges.evidence.transcript import ActionView, Transcript
from schemas.errors import CotraceError

__all__ = ["Played", "played_steps"]


@dataclass(frozen=True)
class Played:
    """A step with what its player could see."""

    turn: int
    setting: Setting
    table: Table
    action: Action | None
    outcome: Outcome
    mind: Mind
    search: Search
    turned_down: Sequence[Action] = ()
    """What else had been sampled; the verifier chose `action`."""

    @property
    def agent(self) -> str:
        """Who acted."""
        return AGENTS[self.table.player]

    @property
    def answers(self) -> Sequence[Item]:
        """What answers the question just asked: none where the player may not reply, or its partner not ask (then nothing was asked)."""
        mind = self.mind
        return mind.answers if mind.verbs.reply and ALLOWED[mind.seen.partner_mode].ask else ()

    @cached_property
    def careful(self) -> Sequence[Action]:
        """What a careful player would choose from: answers, else known objects to place or pass on, else news, questions, guesses."""
        mind = self.mind
        reply = [Share(item) for item in self.answers]
        tell = [Share(item) for item in mind.news] if mind.verbs.share else []
        can_ask = mind.verbs.ask and mind.partner_replies
        ask = [Ask(block) for block in mind.unknown if block not in mind.own_asks] if can_ask else []
        levels: tuple[Sequence[Action], ...] = (reply, mind.useful_moves, tell, ask, self._guesses())
        return next((level for level in levels if level), (Pass(),))

    def steps_left(self, action: Action | None) -> int:
        """The fewest steps to the goal after an action in the place of the logged one."""
        return self.search.steps(advance(self.setting, self.table, action).table)

    def _guesses(self) -> list[Action]:
        mind = self.mind
        tried = {(move.block, move.target) for move in mind.own_failures}
        unknown = [block for block in mind.in_hand if block not in mind.goals]
        ideas = [(block, target) for block in unknown for target in sorted(mind.own_bins) if (block, target) not in tried]
        ideas += [(block, COMMON) for block in unknown if mind.seen.positions[block] == mind.start_bin and not ideas]
        return [Move(block, mind.seen.positions[block], target) for block, target in ideas]


def played_steps(game: Transcript) -> Iterator[Played]:
    """Play a game again, action by action, as far as it can be.

    Raises:
        CotraceError: the log does not say what is played.
    """
    modes = game.details.get("modes")
    if not isinstance(modes, list) or len(modes) != len(AGENTS):
        raise CotraceError("the log does not say in which action spaces the players act")
    played_by = game.details.get("rules", "sane" if game.details.get("scripted") else "published")
    rules = RULES["sane" if played_by == "sane" else "published"]
    setting = Setting(parse_game_id(game.task_id), cast("Modes", tuple(modes)), rules)
    search, table = Search(setting, planner=False), start_table(setting.puzzle)
    history: list[HistoryEntry] = []
    placed: tuple[dict[int, Bin], dict[int, Bin]] = {}, {}
    for turn in game.turns:
        action = _action(turn.actions[0]) if turn.actions else None
        placed[table.player].update({block: place for block, place in enumerate(table.positions) if place in DESTINATIONS})
        mind = Mind(_observation(setting, table, tuple(history)), dict(placed[table.player]))
        outcome = advance(setting, table, action)
        yield Played(turn.turn, setting, table, action, outcome, mind, search, _turned_down(game, turn.turn, action))
        history.append(HistoryEntry(table.player, action, outcome.history_ok))
        table = outcome.table


def _turned_down(game: Transcript, turn: int, done: Action | None) -> Sequence[Action]:
    sampled = game.details.get("sampled_actions", {}).get(str(turn), ())
    return [action for text in sampled if text and (action := parse_action(text)) is not None and action != done]


def _action(logged: ActionView) -> Action | None:
    given = logged.arguments
    texts = {
        "move": f"move {given.get('block')} from {given.get('from')} to {given.get('to')}",
        "ask": f"ask {given.get('block')}",
        "share": f"share {item_text(logged)}",
        "pass": "pass",
    }
    return parse_action(texts[logged.verb]) if logged.verb in texts else None


def _observation(setting: Setting, table: Table, history: tuple[HistoryEntry, ...]) -> PlayerView:
    me = table.player
    return PlayerView(
        agent=AGENTS[me],
        player=me,
        step=table.step,
        mode=setting.modes[me],
        partner_mode=setting.modes[1 - me],
        num_objects=setting.puzzle.num_objects,
        items=tuple(items_of(setting.puzzle, table, me)),
        positions=table.positions,
        reach=REACH[me],
        history=history,
        system="",
        user="",
    )
