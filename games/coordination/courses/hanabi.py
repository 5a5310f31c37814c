"""Hanabi played by models, scripts and people.

Each scripted player decides from what it may know, gives a reason, and may do one thing wrong on purpose.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

from games.coordination import hanabi as rules
from games.coordination.courses.agent import Decided, GameSetup, Situation, Table, decide, rules_of, voices
from games.coordination.players import Injected, Player, graded, ground, partner_of
from games.players.course import Course
from games.players.player import texts_of
from schemas.game import ActionEntry, End, Turn

_ACTIONS = "Available Legal Actions:"


def course(at: GameSetup, table: Table) -> Course:
    """Play a game; ``table.steps`` fills with its turns as the step log has them."""
    played, steps = rules.HanabiTable(at.deck or rules.deck_of_seed(at.seed)), table.steps
    done: dict[Player, list[str]] = {"Alice": [], "Bob": []}
    while not played.is_over and len(steps) < at.turns:
        player_index, before = played.player_index, played.state
        table.state = before
        player, moves = rules.PLAYERS_IN_ORDER[player_index], rules.legal_moves(before, player_index)
        actions = rules.listed(moves, player)
        turn = len(steps) + 1
        decided = yield from decide(_situation(at, (before, player_index), actions, done, turn), at.switches)
        move = moves[actions.index(decided.action)]
        effect = played.play(move)
        done[player].append(rules.action_text(move, player))
        misplay = f"{effect.card} does not fit its stack: a life is lost" if effect.life_lost else None
        details = (
            {"card": move.card, "was": effect.card} if move.value is None else {"value": move.value, "touched": effect.touched or None}
        )
        steps.append(_step(at, played, (before, player_index, move), decided, actions) | {"effect": rules.shown_effect(effect)})
        stacked = played.state.stacked
        yield Turn(
            turn=turn,
            state_before=rules.shown_table(before) | {"player": player},
            state_after=rules.shown_table(played.state),
            utterances=list(voices(player, decided)),
            actions=[
                ActionEntry(
                    agent=player,
                    verb=move.verb,
                    arguments=details | {"text": decided.action},
                    raw=decided.response,
                    accepted=misplay is None,
                    error_code=misplay and "misplay",
                    error_text=misplay,
                    read=decided.kind,
                )
            ],
            goal_reached=stacked == rules.MAX_SCORE,
            progress=stacked / rules.MAX_SCORE,
        )
    after = played.state
    reason = (
        "out_of_lives"
        if not after.lives
        else "complete"
        if after.stacked == rules.MAX_SCORE
        else "out_of_cards"
        if played.is_over
        else "turn_limit"
    )
    return End(score=float(after.stacked), stop_reason=reason, turns_taken=len(steps))


def _situation(
    at: GameSetup, seen: tuple[rules.HanabiState, int], actions: Sequence[str], done: dict[Player, list[str]], turn: int
) -> Situation:
    state, player_index = seen
    player: Player = rules.PLAYERS_IN_ORDER[player_index]
    partner = partner_of(player)
    text = rules.observation(state, player, player_index, ()).partition(_ACTIONS)[0]
    history = f"My Action History: {', '.join(done[player])}\n" if at.switches.memory and done[player] else ""
    rng = Random(f"hanabi-marker:{at.seed}:{turn}")
    texts = texts_of(__package__)["games"]["hanabi"]
    return Situation(
        game="hanabi",
        player=player,
        turn=turn,
        rules=rules_of("hanabi", player, partner, without_lives=texts["without_lives"][at.switches.harness]),
        state=f"{text}{history}{_next_cards(state)}",
        actions=actions,
        layout=texts["layout"],
        partner_did=done[partner][-1] if done[partner] else None,
        interprets=bool(done[partner]),
        ground=lambda reply, left: ground(reply, left, contained=False),
        otherwise=lambda left: rng.choice(list(left)),
        at_random=True,
        scene=lambda: _scene(state, player),
    )


def _scene(state: rules.HanabiState, player: Player) -> dict[str, Any]:
    """The table for a player, who does not see its own cards."""
    shown = rules.shown_table(state)
    return shown | {"hands": shown["hands"] | {player: [None] * len(shown["hands"][player])}}


def _next_cards(state: rules.HanabiState) -> str:
    """What fits next, since models miscount."""
    open_stacks = [color for color in rules.COLORS if state.fireworks[color] < rules.MAX_SCORE // len(rules.COLORS)]
    cards = ", ".join(f"{rules.COLOR_NAMES[color]} {state.fireworks[color] + 1}" for color in open_stacks)
    full = ", ".join(rules.COLOR_NAMES[color] for color in rules.COLORS if color not in open_stacks)
    return f"The next playable cards: {cards or 'none'}." + (f" Complete stacks: {full}." if full else "")


def _step(
    at: GameSetup, table: rules.HanabiTable, moved: tuple[rules.HanabiState, int, rules.Move], decided: Decided, actions: Sequence[str]
) -> dict[str, Any]:
    before, player_index, move = moved
    player = rules.PLAYERS_IN_ORDER[player_index]
    return {
        "schema": "hanabi_step/1",
        "game": "hanabi",
        "episode": at.episode,
        "seed": at.seed,
        "turn": table.turns,
        "player": player,
        "seat": player_index,
        "policy": at.taken[player],
        "state_before": rules.shown_table(before),
        "legal_actions": actions,
        "calls": [{"stage": stage, "text": reply.text} for stage, reply in decided.replies],
        **decided.reading,
        "n_generator_calls": sum(stage == "generator" for stage, _ in decided.replies),
        "n_rejections": decided.rejections,
        "selected_action": decided.action,
        "engine_move": rules.shown_move(move),
        "state_after": rules.shown_table(table.state),
        "terminal": table.is_over,
        "fireworks_sum": table.state.stacked,
        "engine_score": table.engine_score,
    }


FAULTLESS: Final = "careful"
"""Who plays before the turn from which `policy@turn` falls into its fault."""

Policy = Callable[[rules.HanabiState, int, Player, Random], tuple[rules.Move, str, tuple[Injected, ...]]]
"""(table, own index, own name, random numbers) -> move, reason, what was done wrong on purpose. A policy does not look at its own cards."""

_FAULT_RATE: Final = 0.3


def _sure_play(state: rules.HanabiState, player_index: int) -> tuple[rules.Move, str, tuple[Injected, ...]] | None:
    for place in range(len(state.hands[player_index])):
        if rules.is_known_playable(state, player_index, place):
            return rules.Move("play", card=place), f"Whatever my card {place} can still be fits a stack, so playing it is safe.", ()
    return None


def _hint_giver(state: rules.HanabiState, player_index: int, player: Player, rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    """Plays what is sure, hints what the partner can play, else discards."""
    for place, known in enumerate(state.knowledge[player_index]):
        if rules.is_safe_play(state, known):
            return rules.Move("play", card=place), f"Every card that my card {place} can be fits a stack, so playing it is safe.", ()
    return _helpful_clue(state, player_index, player) or _discard(state, player_index, rng)


def _cautious(state: rules.HanabiState, player_index: int, player: Player, rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    """Plays only what is known to be playable, by hints and by counting; never plays to get rid of a card or on a guess."""
    if found := _sure_play(state, player_index) or _helpful_clue(state, player_index, player):
        return found
    moves = [move for move in rules.legal_moves(state, player_index) if move.verb != "play"]
    if state.tokens == rules.TOKENS:
        new = [move for move in moves if rules.newly_named(state, player_index, move)]
        return rng.choice(new or moves), "Nothing is known to be playable and no token is missing, so I give a clue.", ()
    return _discard(state, player_index, rng)


def _careful(state: rules.HanabiState, player_index: int, player: Player, rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    """As the cautious one, but tells of a last copy that the partner would discard next, and discards what is least likely to be one."""
    if found := _sure_play(state, player_index) or _warning(state, player_index, player) or _helpful_clue(state, player_index, player):
        return found
    if state.tokens == rules.TOKENS:
        hints = [move for move in rules.legal_moves(state, player_index) if move.value]
        new = [move for move in hints if rules.newly_named(state, player_index, move)]
        return rng.choice(new or hints), "Nothing is known to be playable and no token is missing, so I give a clue.", ()
    place = _least_needed(state, player_index)
    return (
        rules.Move("discard", card=place),
        f"There is nothing sure to play and no clue that helps, so I discard card {place} for a token.",
        (),
    )


def _warning(state: rules.HanabiState, player_index: int, player: Player) -> tuple[rules.Move, str, tuple[Injected, ...]] | None:
    """A hint that prevents the partner from discarding a last copy."""
    known = state.knowledge[1 - player_index]
    if not state.tokens or any(rules.is_safe_play(state, card) for card in known):
        return None
    place = _next_discarded(state, 1 - player_index)
    card = state.hands[1 - player_index][place]
    move = rules.Move("reveal_color", value=card[0]) if known[place].rank_hinted else rules.Move("reveal_rank", value=card[1])
    if not state.is_last(card) or known[place].is_hinted(move.verb):
        return None
    return move, f"{partner_of(player)}'s card {place} is {_name(card)}, the last copy, and would be discarded next.", ()


def _next_discarded(state: rules.HanabiState, player_index: int) -> int:
    """The card that a player discards by custom: one that is not needed any more, else the oldest without a hint."""
    sure = [place for place, known in enumerate(state.knowledge[player_index]) if rules.is_safe_discard(state, known)]
    unhinted = [place for place, known in enumerate(state.knowledge[player_index]) if not (known.color_hinted or known.rank_hinted)]
    return (sure or unhinted or [0])[0]


def _least_needed(state: rules.HanabiState, player_index: int) -> int:
    """The own card that is least likely to be a last copy, by hints and counting; of several alike one without a hint, the oldest."""

    def need(place: int) -> tuple[float, bool, bool]:
        cards, known = rules.possible_cards(state, player_index, place), state.knowledge[player_index][place]
        last = sum(state.is_last(card) for card in cards) / len(cards)
        return last, not rules.is_safe_discard(state, known), known.color_hinted or known.rank_hinted

    return min(range(len(state.hands[player_index])), key=need)


def _helpful_clue(state: rules.HanabiState, player_index: int, player: Player) -> tuple[rules.Move, str, tuple[Injected, ...]] | None:
    partner, hand, known = partner_of(player), state.hands[1 - player_index], state.knowledge[1 - player_index]
    for place, card in enumerate(hand if state.tokens else ()):
        if not state.fits(card) or rules.is_safe_play(state, known[place]):
            continue
        move = rules.Move("reveal_color", value=card[0]) if known[place].rank_hinted else rules.Move("reveal_rank", value=card[1])
        if not known[place].is_hinted(move.verb):
            return move, f"{partner}'s card {place} is {_name(card)}, which is next on its stack, and {partner} does not know it yet.", ()
    return None


def _discard(state: rules.HanabiState, player_index: int, rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    if state.tokens == rules.TOKENS:
        clues = [move for move in rules.legal_moves(state, player_index) if move.value and rules.newly_named(state, player_index, move)]
        moves = clues or [move for move in rules.legal_moves(state, player_index) if move.value] or [rules.Move("play", card=0)]
        return rng.choice(moves), "Nothing can be played for sure and no token is missing, so I tell something new.", ()
    place = _next_discarded(state, player_index)
    return (
        rules.Move("discard", card=place),
        f"There is nothing sure to play and no clue that helps, so I discard card {place} for a token.",
        (),
    )


def _sloppy(state: rules.HanabiState, player_index: int, player: Player, rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    """A hint giver that sometimes names another card than it means, or repeats a clue."""
    move, reason, _ = _hint_giver(state, player_index, player, rng)
    stale = [clue for clue in rules.legal_moves(state, player_index) if clue.value and not rules.newly_named(state, player_index, clue)]
    if stale and rng.random() < _FAULT_RATE:
        return rng.choice(stale), "This clue helps my partner to know the cards.", ("redundant_clue",)
    hand = state.hands[1 - player_index]
    if move.value and rng.random() < _FAULT_RATE:
        place = rules.touched(state, player_index, move)[0]
        wrong = next((card for card in ("R5", "Y5", "G1", "W2") if card != hand[place]), "B5")
        return move, f"{partner_of(player)}'s card {place} is {_name(wrong)}, which is next on its stack.", ("misgrounded_card",)
    return move, reason, ()


def _bomber(state: rules.HanabiState, player_index: int, _player: Player, _rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    """Plays its first card, known or not."""
    sure = rules.is_known_playable(state, player_index, 0)
    return rules.Move("play", card=0), "I take a chance and play my first card.", () if sure else ("unsafe_play",)


def _random(state: rules.HanabiState, player_index: int, _player: Player, rng: Random) -> tuple[rules.Move, str, tuple[Injected, ...]]:
    return rng.choice(rules.legal_moves(state, player_index)), "Any action is fine.", ()


def _name(card: str) -> str:
    return f"{rules.COLOR_NAMES[card[0]]} {card[1]}"


POLICIES: Final[Mapping[str, Policy]] = {
    "hint_giver": _hint_giver,
    "cautious": _cautious,
    "sloppy": _sloppy,
    "bomber": _bomber,
    "random": _random,
    FAULTLESS: _careful,
    **graded(_careful, _random),
}
