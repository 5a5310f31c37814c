"""Scripted players at the table: each remembers what it saw, decides and speaks; two of them play a game.

The true answers to the rubrics' questions about a step come from construction and from the engine, never from reading the text.
"""

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, Literal, NamedTuple, cast

from games.einstein.claims import Belongs, Corner
from games.einstein.engine.actions import Action, Move, Pass, Share, write_answer
from games.einstein.engine.puzzle import DESTINATIONS, Bin, mentions, optimum_mode
from games.einstein.engine.table import Setting, bits
from games.einstein.game import AGENTS, Game, PlayerView
from games.einstein.measures import plan
from games.einstein.players.mind import Intent, Mind, StatedThought
from games.einstein.players.personas import FAULTLESS, PERSONAS, PLANNER
from games.einstein.players.speech import thoughts, traced
from games.einstein.replay import Step
from games.players.player import Observation
from games.players.setup import onset_of, unmended
from schemas.claims import written
from schemas.game import PlantedLabel, Turn, UtteranceEntry


class ScriptedAnswer(NamedTuple):
    """An answer, and what its author meant by it."""

    text: str
    intent: Intent


class ScriptedPlayer:
    """One player of one game."""

    def __init__(self, persona: str, rng: random.Random, *, plan: tuple[Action, ...] = ()) -> None:
        """A player. ``plan``: the actions of the game from its first step on, for the persona that follows one.

        Raises:
            UsageError: no such persona.
        """
        self._onset = onset_of(persona, PERSONAS, "einstein persona")
        self.persona = persona
        self._rng = rng
        self._plan = plan if persona == PLANNER else ()
        self._placed: dict[int, Bin] = {}

    def answers(self, seen: PlayerView, *, samples: int, reasoning: bool) -> list[ScriptedAnswer]:
        """Give ``samples`` answers, each decided anew."""
        self._placed |= {block: place for block, place in enumerate(seen.positions) if place in DESTINATIONS}
        mind = Mind(seen, dict(self._placed))
        return [self._answer(mind, reasoning=reasoning) for _ in range(samples)]

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        self._rng.seed(seed)

    def _answer(self, mind: Mind, *, reasoning: bool) -> ScriptedAnswer:
        intent = self._planned(mind) or PERSONAS[self._onset.at(mind.seen.step + 1, FAULTLESS)].decide(mind, self._rng)
        return ScriptedAnswer(write_answer(intent.action_text, thoughts(intent, self._rng) if reasoning else None), intent)

    def _planned(self, mind: Mind) -> Intent | None:
        seen = mind.seen
        done = tuple(entry.action for entry in seen.history)
        if seen.step >= len(self._plan) or done != self._plan[: seen.step]:
            return None
        return traced(mind, self._plan[seen.step], self._rng)


TruthAnswer = Literal["Yes", "No", "N/A"]


def truths(setting: Setting, step: Step, intent: Intent, *, reasoning: bool) -> list[PlantedLabel]:
    """Answer every question about a step.

    ``knowledge_sharing``: KS1 the shared item was not shared before; KS2 the player holds it; KS3 the step answers the partner's question.
    ``rule_understanding``: RU1 what the thoughts claim follows from what the player knows; RU2 the move agrees with what follows from it.
    """
    share = step.answer.action if isinstance(step.answer.action, Share) else None
    claims = intent.claims if reasoning else ()
    answers: Mapping[tuple[str, str], tuple[TruthAnswer, str]] = {
        ("knowledge_sharing", "KS1"): (_yes_no(share and "redundant_sharing" not in step.labels), "items shared so far"),
        ("knowledge_sharing", "KS2"): (_yes_no(share and "share_not_owned" not in step.ext_labels), "the player's items"),
        ("knowledge_sharing", "KS3"): (_answers_question(setting, step), "the step before"),
        ("rule_understanding", "RU1"): (_claims_follow(setting, step, claims), "intended claims, closure of the player's items"),
        ("rule_understanding", "RU2"): (_move_follows(step), "closure of the player's items"),
    }
    agent = AGENTS[step.before.player]
    return [PlantedLabel(*names, agent, answer, basis, intent.habit) for names, (answer, basis) in answers.items()]


def _yes_no(holds: object) -> TruthAnswer:
    if holds is None:
        return "N/A"
    return "Yes" if holds else "No"


def _answers_question(setting: Setting, step: Step) -> TruthAnswer:
    asked = step.before.asked(setting.modes)
    if asked is None:
        return "N/A"
    action = step.answer.action
    if not isinstance(action, Share) or "share_not_owned" in step.ext_labels:
        return "No"
    return _yes_no(mentions(action.item, asked))


def _claims_follow(setting: Setting, step: Step, claims: tuple[StatedThought, ...]) -> TruthAnswer:
    if not claims:
        return "N/A"
    known = set(bits(step.outcome.options.known))
    goals = setting.puzzle.goals
    return _yes_no(all(claim.goal == (goals[claim.block] if claim.block in known else None) for claim in claims))


def _move_follows(step: Step) -> TruthAnswer:
    action = step.answer.action
    if not isinstance(action, Move) or not step.outcome.options.known >> action.block & 1:
        return "N/A"
    return _yes_no("wrong_rule" not in step.labels)


CASTS: Final[Mapping[str, Collection[str]]] = {"player": PERSONAS}
"""Role -> scripts that remember."""


class ScriptedTeam:
    """Player1 and Player2. Puzzle, team and seed fix all that they say."""

    stores_replies = False

    def __init__(self, game: Game, players: Mapping[str, str], seed: int, solution: tuple[Action, ...] | None = None) -> None:
        """The players of a game: agent -> persona; planners follow the solution from the first step on, None: a shortest one."""
        names = [players[agent] for agent in AGENTS]
        if solution is None:
            solution = _shortest(game) if PLANNER in names else ()
        rng = random.Random(f"einstein-match:{game.puzzle.game_id}:{unmended('_'.join(names))}:{seed}")
        self._game = game
        self._players = {agent: ScriptedPlayer(players[agent], rng, plan=solution) for agent in AGENTS}
        self._answers: list[ScriptedAnswer] = []

    def answer(self, seen: Observation) -> str:
        """One of a step's answers; all of them are made when the first is asked for."""
        settings = self._game.settings
        if seen.sample == 1:
            count = 1 if settings.verifier is None else settings.samples
            player = self._players[AGENTS[seen.data.player]]
            self._answers = player.answers(seen.data, samples=count, reasoning=settings.reasoning)
        return self._answers[seen.sample - 1].text

    def redraw(self, seed: str) -> None:
        """Draw from other random numbers from now on."""
        for player in self._players.values():
            player.redraw(seed)

    def known(self, turn: Turn) -> Turn:
        """The step with its labels, and the claims of its thoughts."""
        step, reasoning = self._game.steps[-1], self._game.settings.reasoning
        intent = self._answers[step.choice.executed if step.choice else 0].intent
        labels = truths(self._game.setting, step, intent, reasoning=reasoning)
        return replace(turn, utterances=[_with_claims(utterance, intent) for utterance in turn.utterances], labels=labels)


def _shortest(game: Game) -> tuple[Action, ...]:
    """A shortest solution from the first step on: Player1 passes if Player2 is to begin."""
    best = plan(game.puzzle, optimum_mode(game.settings.modes))
    return best.actions if best.first_player == 0 else (Pass(), *best.actions)


def _with_claims(utterance: UtteranceEntry, intent: Intent) -> UtteranceEntry:
    """What a scripted player's thoughts claim is known from its intent, whatever the wording."""
    if utterance.channel != "private":
        return utterance
    vouched = {"kind": "read", "kinds": ["belongs"]}
    claims = [written(Belongs(block=f"block{one.block}", goal=cast("Corner | None", one.goal))) for one in intent.claims]
    return replace(utterance, claims=[vouched, *claims])
