"""A logged Einstein game played again: what each player knew, what a careful one would do, and what each action is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from games.einstein.engine.actions import Action, Ask, Move, Pass, Share, parse_action
from games.einstein.engine.puzzle import ALLOWED, COMMON, DESTINATIONS, REACH, Bin, Grounding, Item, Modes, infer_goals, parse_game_id
from games.einstein.engine.table import RULES, Outcome, Setting, Table, advance, items_of, start_table
from games.einstein.game import AGENTS, PlayerView
from games.einstein.players.mind import Mind
from games.einstein.prompts import HistoryEntry
from games.einstein.value import Search
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
    refused: Mapping[int, frozenset[Bin]]
    """Object -> corner bins that refused it before, for both players to see."""

    turned_down: Sequence[Action] = ()
    """What else had been sampled; the verifier chose `action`."""

    lost: str = ""
    """Why the harness lost the answer: its call failed, or its reply was cut; empty: it did not."""

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
        """What a careful player would choose from: answers, else known objects to place or pass on, else news or questions.

        Else nothing shows what is better: any guess that nothing contradicts, or a pass.
        """
        mind = self.mind
        reply = [Share(item) for item in self.answers]
        tell = [Share(item) for item in mind.news] if mind.verbs.share else []
        can_ask = mind.verbs.ask and mind.partner_replies
        ask = [Ask(block) for block in mind.unknown if block not in mind.own_asks] if can_ask else []
        levels: tuple[Sequence[Action], ...] = (reply, mind.useful_moves, [*tell, *ask])
        return next((level for level in levels if level), (Pass(), *self._guesses()))

    def steps_left(self, action: Action | None) -> int | None:
        """The fewest steps to the goal after an action in the place of the logged one; None: out of reach."""
        return self.search.steps(advance(self.setting, self.table, action).table)

    def possible(self, block: int) -> frozenset[Bin]:
        """Corner bins into which an object may belong by what the player has and what bins refused before."""
        known = [*self.mind.seen.items, *(Grounding(placed, goal) for placed, goal in self.mind.placed.items())]
        found = ((goal, infer_goals([*known, Grounding(block, goal)])) for goal in DESTINATIONS if self.mind.goals.get(block, goal) == goal)
        return frozenset(goal for goal, all_goals in found if not any(bin_ in self.refused.get(b, ()) for b, bin_ in all_goals.items()))

    def _guesses(self) -> list[Action]:
        mind = self.mind
        ideas = [
            (block, target)
            for block in mind.in_hand
            if block not in mind.goals
            for target in (*sorted(mind.own_bins & self.possible(block)), COMMON)
        ]
        places = mind.seen.positions
        return [Move(block, places[block], target) for block, target in ideas if target != places[block]]


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
    refused: dict[int, frozenset[Bin]] = {}
    lost = game.details.get("lost_replies", {})
    placed: tuple[dict[int, Bin], dict[int, Bin]] = {}, {}
    for turn in game.turns:
        action = _action(turn.actions[0]) if turn.actions else None
        placed[table.player].update({block: place for block, place in enumerate(table.positions) if place in DESTINATIONS})
        mind = Mind(_observation(setting, table, tuple(history)), dict(placed[table.player]))
        outcome = advance(setting, table, action)
        agent = AGENTS[table.player]
        why = "" if action else str(lost.get(str(turn.turn), {}).get(agent, ""))
        yield Played(turn.turn, setting, table, action, outcome, mind, search, dict(refused), _turned_down(game, turn.turn, action), why)
        if isinstance(action, Move) and _is_refused_by_its_bin(action, table, outcome):
            refused[action.block] = refused.get(action.block, frozenset()) | {action.target}
        history.append(HistoryEntry(table.player, action, outcome.history_ok))
        table = outcome.table


def _is_refused_by_its_bin(move: Move, table: Table, outcome: Outcome) -> bool:
    """Whether nothing but the bin it was to go to can have been wrong with a move, as both players see."""
    in_reach = move.block < len(table.positions) and {move.source, move.target} <= set(REACH[table.player])
    tried = in_reach and table.positions[move.block] == move.source and move.source not in DESTINATIONS and move.target in DESTINATIONS
    return tried and not outcome.state_changed


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
