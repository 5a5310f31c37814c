"""Hanabi games of LLM-Coordination: what a logged game becomes, turn by turn, with the rules replayed."""

from collections.abc import Sequence
from typing import Final

from msgspec import to_builtins
from msgspec.structs import astuple

from games.coordination import hanabi as rules
from games.coordination.players import PLAYERS, Player, read_of
from ingest.coordination import game
from ingest.coordination.records import HanabiStep, MoveRecord, TableRecord
from ingest.reading.adapter_types import Difference
from schemas.common.errors import BadInputError

_VERBS: Final[dict[str, rules.Verb]] = {"PLAY": "play", "DISCARD": "discard", "REVEAL_COLOR": "reveal_color", "REVEAL_RANK": "reveal_rank"}


def hanabi_game(steps: Sequence[HanabiStep]) -> game.GameParts:
    """A game from its turns.

    Raises:
        BadInputError: a logged move is against the rules.
    """
    turns = [_turn(step, _clued(earlier)) for earlier, step in zip((None, *steps[:-1]), steps, strict=True)]
    last = steps[-1]
    after = _state(last.state_after, last)
    for turn, values in zip(turns, game.hanabi_values([*(_state(step.state_before, step) for step in steps), after]), strict=True):
        turn.values = values
    turns[-1].differences = [*turns[-1].differences, *_end_differences(steps, after)]
    policies = {step.player: step.policy for step in reversed(steps)}
    return game.GameParts(
        game="hanabi",
        task_id="hanabi" if last.seed is None else f"hanabi seed {last.seed}",
        condition={"game": "hanabi"},
        policies={player: policies.get(player) for player in PLAYERS},
        styles={step.player: step.style for step in reversed(steps)},
        seed=last.seed,
        score=float(after.stacked),
        stop_reason=_stop_reason(after) if last.terminal else None,
        metrics=_metrics(steps, after),
        turns=turns,
        goal={"score": rules.MAX_SCORE},
    )


def _end_differences(steps: Sequence[HanabiStep], after: rules.HanabiState) -> list[Difference]:
    """Whether the last turn ends the game: no life, all stacks, or both have moved since the last card was drawn."""
    emptied = [step.state_before.deck_size for step in steps[-2:]] == [0, 0]
    over = after.lives == 0 or after.stacked == rules.MAX_SCORE or emptied
    return [] if steps[-1].terminal == over else [Difference("terminal", repr(steps[-1].terminal), repr(over))]


def _metrics(steps: Sequence[HanabiStep], after: rules.HanabiState) -> dict[str, float]:
    engine_score = 0 if after.lives == 0 else after.stacked
    meant = [step for step in steps if step.intended_action is not None]
    slips: dict[str, float] = {"grounding_mismatches": sum(not _as_intended(step) for step in meant)} if meant else {}
    return slips | {
        "score": after.stacked,
        "engine_score_upstream": engine_score,
        "bombed": after.lives == 0,
        "bombed_upstream": engine_score == 0,
        "turns": len(steps),
        "life_tokens_left": after.lives,
        "verification_rejections": sum(step.n_rejections for step in steps),
        "hints": sum(step.engine_move.type.startswith("REVEAL") for step in steps),
        "misplays": sum(bool(step.effect.life_lost) for step in steps),
        "discards": sum(step.engine_move.type == "DISCARD" for step in steps),
    }


def _as_intended(step: HanabiStep) -> bool:
    return (step.intended_action or "").lower() == step.selected_action.lower()


def _clued(step: HanabiStep | None) -> tuple[int, ...]:
    """Cards of the partner about which a turn gave new information."""
    return () if step is None else rules.newly_named(_state(step.state_before, step), step.seat, _move(step.engine_move))


def _stop_reason(after: rules.HanabiState) -> str:
    if after.lives == 0:
        return "out_of_lives"
    return "complete" if after.stacked == rules.MAX_SCORE else "out_of_cards"


def _turn(step: HanabiStep, clued: Sequence[int]) -> game.TurnParts:
    before, after, move = _state(step.state_before, step), _state(step.state_after, step), _move(step.engine_move)
    if not rules.is_legal(before, step.seat, move):
        raise BadInputError(f"the move {step.selected_action!r} of turn {step.turn} is against the rules: the game is left out")
    drawn = _drawn(before, after, step)
    replayed, effect = rules.apply(before, step.seat, move, drawn)
    is_short = drawn is None and after.deck == before.deck and rules.draws(before, move, replayed)
    undrawn = [Difference("state.deck", str(after.deck), str(before.deck - 1))] if is_short else []
    category, evidence = rules.move_category(before, step.seat, move, clued)
    misplay = ("misplay", f"{effect.card} does not fit its stack: a life is lost") if effect.life_lost else None
    reply = next((call.text for call in reversed(step.calls) if call.stage == "generator"), "")
    last = max((place for place, call in enumerate(step.calls) if call.stage == "generator"), default=-1)
    return game.TurnParts(
        before=game.state_text(to_builtins(step.state_before) | {"player": step.player}),
        after=game.state_text(to_builtins(step.state_after)),
        progress=after.stacked / rules.MAX_SCORE,
        goal_reached=after.stacked == rules.MAX_SCORE,
        replies=[
            game.PrivateReply(step.player, call.text, call.stage == "generator" and place < last) for place, call in enumerate(step.calls)
        ],
        acts=[game.act((step.player, move.verb), _arguments(move, step), step.intended_action, misplay)],
        categories=game.own_moves(
            [
                game.Category(step.player, "hanabi_move", category, evidence),
                *game.grounding(step.player, step.intended_action, step.selected_action, slip=not _as_intended(step)),
                *game.reading(step.player, step.read or read_of(reply, step.selected_action, at_random=True), reply, step.slips),
            ]
        ),
        injected={step.player: step.injected},
        differences=[*_differences(step, (replayed, after), effect), *undrawn, *_listed_differences(step, before)],
        metrics={"hanabi_score": after.stacked, "hanabi_lives": after.lives, "hanabi_tokens": after.tokens},
    )


def _arguments(move: rules.Move, step: HanabiStep) -> dict[str, object]:
    if move.value is None:
        return {"card": move.card, "was": step.effect.card, "text": step.selected_action}
    touched = step.effect.touched_cards
    return {"value": move.value, "touched": None if touched is None else tuple(touched), "text": step.selected_action}


def _move(record: MoveRecord) -> rules.Move:
    value = record.color if record.type == "REVEAL_COLOR" else str(record.rank) if record.type == "REVEAL_RANK" else None
    return rules.Move(_VERBS[record.type], record.card_index, value)


def _state(record: TableRecord, step: HanabiStep) -> rules.HanabiState:
    """The table by seats: seat 0 is who starts."""
    first: Player = step.player if step.seat == 0 else "Bob" if step.player == "Alice" else "Alice"
    seats = (first, next(player for player in PLAYERS if player != first))
    if set(record.hands) != set(PLAYERS) or set(record.knowledge) != set(PLAYERS):
        raise BadInputError(f"turn {step.turn} does not have both players' hands and knowledge: the game is left out")
    for player in PLAYERS:
        if len(record.hands[player]) != len(record.knowledge[player]):
            counts = f"{len(record.hands[player])} cards and knowledge of {len(record.knowledge[player])}"
            raise BadInputError(f"turn {step.turn} gives {player} {counts}: the game is left out")
    known = [tuple(rules.Known(*astuple(known)) for known in record.knowledge[player]) for player in seats]
    return rules.HanabiState(
        hands=(tuple(record.hands[seats[0]]), tuple(record.hands[seats[1]])),
        knowledge=(known[0], known[1]),
        fireworks={str(color): rank for color, rank in record.fireworks.items()},
        discards=tuple(record.discard_pile),
        tokens=record.information_tokens,
        lives=record.life_tokens,
        deck=record.deck_size,
    )


def _drawn(before: rules.HanabiState, after: rules.HanabiState, step: HanabiStep) -> str | None:
    """The card that the player took up after the move."""
    if before.deck <= after.deck:
        return None
    if not after.hands[step.seat]:
        raise BadInputError(f"turn {step.turn} takes a card from the deck and leaves {step.player} none: the game is left out")
    return after.hands[step.seat][-1]


def _listed_differences(step: HanabiStep, before: rules.HanabiState) -> Sequence[Difference]:
    """The moves that the player was offered, where the log has them; logs differ in the case of letters."""
    due = [text.lower() for text in rules.listed(rules.legal_moves(before, step.seat), step.player)]
    return game.differences({"legal_actions": ([text.lower() for text in step.legal_actions] or due, due)})


def _differences(step: HanabiStep, states: tuple[rules.HanabiState, rules.HanabiState], effect: rules.Effect) -> Sequence[Difference]:
    replayed, logged = states
    parts = ("hands", "knowledge", "fireworks", "discards", "tokens", "lives", "deck")
    pairs: dict[str, tuple[object, object]] = {f"state.{name}": (getattr(logged, name), getattr(replayed, name)) for name in parts}
    pairs |= {
        "effect.card": (step.effect.card, effect.card),
        "effect.scored": (bool(step.effect.scored), effect.scored),
        "effect.life_lost": (bool(step.effect.life_lost), effect.life_lost),
        "effect.information_token_gained": (bool(step.effect.information_token_gained), effect.token_gained),
        "effect.touched_cards": (tuple(step.effect.touched_cards or ()), effect.touched),
        "effect.newly_revealed": (tuple(step.effect.newly_revealed or ()), effect.newly_revealed),
    }
    return game.differences(pairs)
