"""Games of LLM-Coordination in cotrace's own log: played again from their replies, and measured as the step logs are."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import orjson

from games.coordination.setup import course_of, game_of, header_of, table_of
from ingest.coordination.adapter import read
from ingest.cotrace_log.derivation import Derived, derived, played_again
from ingest.reading.adapter_types import Place
from schemas.game import End, Header, Turn

_TABLES: Final = ("episode_metrics", "turn_metrics", "turn_values", "failures", "log_disagreements")
"""What the rules give; the rest is taken from the log."""


_SCORED: Final = frozenset(("hanabi", "overcooked"))
"""Games whose measure is the score alone; older logs call an end with a life left, or with a soup, a success."""


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Play a game again; see `ingest.cotrace_log.derivation.Derivation`."""
    game = game_of(header)
    table = table_of(header, [turn.state_before for turn in turns])
    again = played_again(course_of(game, table), turns)
    rebuilt = header_of(game)
    if not turns:
        return derived((header, turns, end), rebuilt, again, episode, {})
    steps = map(_with_intent, table.steps) if header.details.get("scripted") else table.steps
    lines = b"".join(orjson.dumps(step, option=orjson.OPT_APPEND_NEWLINE) for step in islice(steps, len(turns)))
    found = read(lines, Place(path=episode, file=episode, source_id=""))
    rows = {table: [(episode, *row[1:]) for row in found.rows[table]] for table in _TABLES}
    measured: Any = found.rows["episodes"][0]
    if end is not None and game.game in _SCORED:
        end = replace(end, success=None)
    details = {"game": game.game, "fingerprint": orjson.loads(measured.details)["fingerprint"]}
    return replace(derived((header, turns, end), rebuilt, again, episode, rows), details=details)


def _with_intent(step: dict[str, Any]) -> dict[str, Any]:
    """A step of scripts, with what was meant, as the published logs of scripts have it: their replies mean what they name."""
    if step["game"] == "hanabi":
        return step | ({"intended_action": step["selected_action"]} if step["read"] == "exact" else {})
    group, done = ("actions", "selected") if step["game"] == "overcooked" else ("players", "executed")
    return step | {group: [who | ({"intended": who[done]} if who.get("read") == "exact" else {}) for who in step[group]]}
