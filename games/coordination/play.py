"""Plays scripted games of LLM-Coordination and writes their logs, one file a game."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from games.coordination.capture.rules import SCENARIOS
from games.coordination.escape.rules import PUBLISHED
from games.coordination.escape.rules import SCENARIOS as ESCAPES
from games.coordination.hanabi import policies as hanabi
from games.coordination.hanabi.rules import DECK
from games.coordination.kitchen import policies as kitchen
from games.coordination.kitchen.layouts import LAYOUTS
from games.coordination.kitchen.rules import TICKS
from games.coordination.matches import capture, escape
from games.coordination.matches.hanabi import play_hanabi
from games.coordination.matches.kitchen import play_kitchen
from games.coordination.players import PLAYERS, Player
from games.coordination.step_log import is_complete, write_steps
from games.players.onset import script_of
from games.players.running import RunReport, report_of
from games.playing import DEFAULT_START, OnProgress, check_seeds
from schemas.errors import UsageError
from schemas.text import near

__all__ = ["FAULTLESS_POLICIES", "GAMES", "POLICIES", "VARIANTS", "CoordinationGame", "PlayRequest", "checked", "play", "read_decks"]

CoordinationGame = Literal["hanabi", "overcooked", "collab_capture", "collab_escape"]

GAMES: Final[tuple[CoordinationGame, ...]] = get_args(CoordinationGame)

POLICIES: Final[Mapping[CoordinationGame, tuple[str, ...]]] = {
    "hanabi": tuple(hanabi.POLICIES),
    "overcooked": tuple(kitchen.POLICIES),
    "collab_capture": tuple(capture.POLICIES),
    "collab_escape": tuple(escape.POLICIES),
}
"""Game -> its scripted players."""

FAULTLESS_POLICIES: Final[Mapping[CoordinationGame, str]] = {
    "hanabi": hanabi.FAULTLESS,
    "collab_capture": capture.FAULTLESS,
    "collab_escape": escape.FAULTLESS,
}
"""Game -> who plays as well as it can; before turn 5, `policy@5` plays so, too."""


VARIANTS: Final[Mapping[CoordinationGame, tuple[str, ...]]] = {
    "hanabi": (),
    "overcooked": tuple(LAYOUTS),
    "collab_capture": SCENARIOS,
    "collab_escape": tuple(ESCAPES),
}
"""Game -> its layouts or scenarios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """What to play of one game: every policy with every partner, on every variant and seed."""

    game: CoordinationGame
    out: Path
    """Folder for ``<game>/<episode>.jsonl``."""

    policies: tuple[str, ...] = ()
    """Alice's; empty: all there are."""

    partners: tuple[str, ...] | None = None
    """Bob's; None: each policy plays with itself."""

    variants: tuple[str, ...] = ()
    """Layouts of the kitchen, scenarios of the capture or of the escape; empty: all, of the escape the published one. Hanabi has none."""

    seeds: tuple[int, ...] = (1, 2, 3)
    ticks: int = TICKS
    """Length of a kitchen game."""

    decks: Mapping[int, Sequence[str]] | None = None
    """Hanabi: seed -> order of the deck, such as `read_decks` gives; None: shuffled by the seed."""

    started_at: datetime = DEFAULT_START
    """Of games with seats; the step logs of scripted ones have no times."""


class _Game(NamedTuple):
    name: str
    steps: Callable[[], Iterator[Mapping[str, Any]]]


def play(request: PlayRequest, on_progress: OnProgress | None = None) -> RunReport:
    """Play what is not there yet. The same request gives the same bytes, interrupted or not.

    Args:
        request: what to play.
        on_progress: called with the games finished and the games in all.

    Raises:
        UsageError: a name is unknown, or a number out of range.
        OSError: a log cannot be written.
    """
    games = list(_games(checked(request)))
    paths = [request.out / request.game / f"{game.name}.jsonl" for game in games]
    return report_of(paths, len(games), map(_play_game, paths, games), on_progress)


def _play_game(path: Path, game: _Game) -> int | None:
    """Play a game; give its turns, or None if its log is there."""
    return None if is_complete(path) else write_steps(path, game.steps())


def read_decks(path: Path) -> dict[int, tuple[str, ...]]:
    """Orders of decks from a CSV with the columns seed, deal_index, card.

    Raises:
        UsageError: it lacks a column, or a deck is not the 50 cards.
        OSError: it cannot be read.
    """
    decks: dict[int, dict[int, str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                decks.setdefault(int(row["seed"]), {})[int(row["deal_index"])] = row["card"]
            except (KeyError, ValueError) as error:
                raise UsageError(f"{path}: no decks in it ({error}): it needs the columns seed, deal_index and card") from error
    found = {seed: tuple(cards[place] for place in sorted(cards)) for seed, cards in decks.items()}
    for seed, deck in found.items():
        if sorted(deck) != sorted(DECK):
            raise UsageError(f"{path}: the deck of seed {seed} is not the 50 cards of Hanabi")
    return found


def checked(request: PlayRequest) -> PlayRequest:
    """The request with all its defaults.

    Raises:
        UsageError: something in it does not exist.
    """
    if request.game not in GAMES:
        raise UsageError(f"no game {request.game!r}{near(request.game, GAMES)}")
    known = VARIANTS[request.game]
    named = (*request.policies, *(request.partners or ()))
    _known("policy", [script_of(name) if request.game in FAULTLESS_POLICIES else name for name in named], POLICIES[request.game])
    _known("variant", request.variants, known)
    check_seeds(request.seeds)
    if request.ticks < 1 or not request.seeds:
        raise UsageError("coordination: give at least one tick and one seed")
    if request.game == "hanabi":
        _known("deck of seed", tuple(map(str, request.seeds)), tuple(map(str, request.decks or request.seeds)))
    return replace(
        request,
        policies=request.policies or POLICIES[request.game],
        variants=request.variants or known[: 1 if request.game == "collab_escape" else None],
    )


def _known(what: str, named: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in named if name not in known]
    if unknown:
        raise UsageError(f"no {what} {unknown[0]!r}{near(unknown[0], known)}")


def _games(request: PlayRequest) -> Iterator[_Game]:
    for alice in request.policies:
        for bob in request.partners or (alice,):
            pair = alice if alice == bob else f"{alice}_{bob}"
            for variant in request.variants or ("",):
                for seed in request.seeds:
                    shown = "" if variant == PUBLISHED else variant
                    name = "_".join(filter(None, (pair, shown, f"s{seed}")))
                    yield _Game(name, _player(request, name, (alice, bob), variant, seed))


def _player(request: PlayRequest, name: str, pair: tuple[str, str], variant: str, seed: int) -> Callable[[], Iterator[Mapping[str, Any]]]:
    policies: dict[Player, str] = dict(zip(PLAYERS, pair, strict=True))
    players: Mapping[CoordinationGame, Callable[[], Iterator[Mapping[str, Any]]]] = {
        "hanabi": lambda: play_hanabi(name, policies, seed, (request.decks or {}).get(seed)),
        "overcooked": lambda: play_kitchen(name, policies, variant, seed=seed, ticks=request.ticks),
        "collab_capture": lambda: capture.play_capture(name, policies, variant, seed=seed),
        "collab_escape": lambda: escape.play_escape(name, policies, variant, seed=seed),
    }
    return players[request.game]
