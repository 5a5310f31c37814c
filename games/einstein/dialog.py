"""The published log of one game, ``dialog_<file_id>.json``: decoded, replayed, and compared with its own fields.

Such a file holds prompts and answers, little else: mode and prompt kind stand in the system message, everything else follows by
replay from the game id. The verifier cannot be found; which answer was executed can, from the logged costs (formats/einstein.md
sections 6, 11 and 12).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from games.einstein.engine.puzzle import ActionMode, Modes, Player, Puzzle, parse_game_id
from games.einstein.engine.table import RULES, STEP_LIMIT, Setting, bin_contents, items_of
from games.einstein.measures import game_metrics
from games.einstein.prompts import HistoryEntry, PromptLines, history_line, read_system_prompt, read_user_prompt
from games.einstein.replay import Samples, Step
from schemas.common.errors import BadInputError

P = TypeVar("P")


class _Entry(NamedTuple):
    """One step of the file."""

    player: Player
    mode: ActionMode
    reasoning: bool | None
    shown: PromptLines
    samples: Samples
    logged: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialog:
    """A file, decoded."""

    file_id: str
    puzzle: Puzzle
    modes: Modes
    reasoning: bool | None
    """Whether answers with reasoning were asked for; None if the prompts do not tell, or differ."""
    samples: tuple[Samples, ...]
    """Per step the answers."""
    shown: tuple[PromptLines, ...]
    """Per step what the user message showed."""
    logged: Mapping[str, Any]
    """The file as it is."""
    step_limit: int
    """Not in the file; the published scripts play 30."""

    @property
    def setting(self) -> Setting:
        """What to replay it by: the rules that published logs were made with."""
        return Setting(self.puzzle, self.modes, RULES["published"], self.step_limit)


class Disagreement(NamedTuple):
    """A place where file and replay differ."""

    step: int | None
    """From 0; None where the whole game is meant."""
    field: str
    logged: object
    recomputed: object


def read_dialog(log: object, *, step_limit: int = STEP_LIMIT) -> Dialog:
    """Decode the content of a dialog file.

    A player that made no step is taken to have its partner's mode.

    Raises:
        BadInputError: a part is missing or of the wrong kind; ``locator`` is the place.
    """
    if not isinstance(log, Mapping):
        raise BadInputError("a dialog file must hold a JSON object", excerpt=repr(log)[:200])
    puzzle = parse_game_id(_text(log, "pkl_path", ""), locator="pkl_path")
    steps = _list(log, "dialog", "")
    if not steps:
        raise BadInputError("a dialog without steps tells neither mode nor prompt kind", locator="dialog")
    entries = [_entry(entry, f"dialog[{number}]") for number, entry in enumerate(steps)]
    by_player = {entry.player: entry.mode for entry in entries}
    return Dialog(
        file_id=_text(log, "file_id", ""),
        puzzle=puzzle,
        modes=(by_player.get(0, entries[0].mode), by_player.get(1, entries[0].mode)),
        reasoning=entries[0].reasoning if len({entry.reasoning for entry in entries}) == 1 else None,
        samples=tuple(entry.samples for entry in entries),
        shown=tuple(entry.shown for entry in entries),
        logged=log,
        step_limit=step_limit,
    )


def sound_part(log: Mapping[str, Any]) -> tuple[Mapping[str, Any], BadInputError | None]:
    """Cut the content of a dialog file before its first step that cannot be decoded, and say why it cannot; None: all can."""
    steps = log.get("dialog")
    if not isinstance(steps, list):
        return log, None
    for number, entry in enumerate(steps):
        try:
            _entry(entry, f"dialog[{number}]")
        except BadInputError as error:
            return {**log, "dialog": steps[:number]}, error
    return log, None


def disagreements(dialog: Dialog, steps: Sequence[Step]) -> Iterator[Disagreement]:
    """Yield every place where the file differs from its replay (the checks of section 12). Sound files give none."""
    for number, (entry, shown, step) in enumerate(zip(dialog.logged["dialog"], dialog.shown, steps, strict=True)):
        logged = {**entry, "items": shown.items, "bins": shown.bins, "history": shown.history}
        yield from _differences(number, logged, _step_again(dialog.puzzle, step, steps[:number]))
    found = game_metrics(dialog.puzzle, dialog.modes, steps)
    names = ("num_objects", "step_count", "terminated", "truncated", "success")
    again: dict[str, object] = {name: getattr(found, name) for name in names}
    again |= {"num_obj": found.num_objects, "partial_success_rate": found.correct_objects}
    verified = ("total_used_trials", "total_sum_err", "avg_used_trials", "avg_sum_err", "avg_corrected")
    again |= {name: getattr(found, name) for name in verified if getattr(found, name) is not None}
    yield from _differences(None, dialog.logged, again)


def _differences(step: int | None, logged: Mapping[str, Any], recomputed: Mapping[str, object]) -> Iterator[Disagreement]:
    """Compare what both have."""
    for field, value in recomputed.items():
        if field in logged and logged[field] != value:
            yield Disagreement(step, field, logged[field], value)


def _step_again(puzzle: Puzzle, step: Step, past: Sequence[Step]) -> dict[str, object]:
    player, choice = step.before.player, step.choice
    history = (HistoryEntry(old.before.player, old.answer.action, old.outcome.history_ok) for old in past)
    again: dict[str, object] = {
        "player": player,
        "items": tuple(item.text for item in items_of(puzzle, step.before, player)),
        "bins": bin_contents(step.before),
        "history": tuple(history_line(entry, player, clear=False) for entry in history),
        "step": step.number,
    }
    if choice is not None:
        again |= {
            "used_trials": choice.used_trials,
            "sum_err": choice.sum_err,
            "actions_err": list(choice.costs),
            "corrected": choice.corrected,
        }
    return again


# -- decoding ------------------------------------------------------------------------------------


def _entry(entry: object, where: str) -> _Entry:
    if not isinstance(entry, Mapping):
        raise BadInputError("a step must be a JSON object", locator=where, excerpt=repr(entry)[:200])
    messages = _list(entry, "dialog", where)
    contents = {str(message.get("role")): message.get("content") for message in messages if isinstance(message, Mapping)}
    mode, reasoning = read_system_prompt(_text(contents, "system", f"{where}.dialog"))
    shown = read_user_prompt(_text(contents, "user", f"{where}.dialog"), locator=f"{where}.dialog.user")
    player = entry.get("player")
    if player not in (0, 1):
        raise BadInputError(f"player must be 0 or 1, not {player!r}", locator=f"{where}.player")
    return _Entry(0 if player == 0 else 1, mode, reasoning, shown, _samples(entry, where), entry)


def _samples(entry: Mapping[Any, Any], where: str) -> Samples:
    response = entry.get("response")
    texts = [response] if isinstance(response, str) else response
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadInputError("response must be a text or a list of texts", locator=f"{where}.response", excerpt=repr(response)[:200])
    if "actions_err" not in entry:
        return Samples(tuple(texts))
    costs = _list(entry, "actions_err", where)
    if len(costs) != len(texts) or not all(isinstance(cost, int) for cost in costs):
        raise BadInputError("actions_err must hold one whole number per answer", locator=f"{where}.actions_err", excerpt=repr(costs)[:200])
    return Samples(tuple(texts), tuple(costs))


def _part(source: Mapping[Any, Any], key: str, where: str, kind: type[P], what: str) -> P:
    value = source.get(key)
    if not isinstance(value, kind):
        message = f"{key} must be a {what}, not {type(value).__name__}"
        raise BadInputError(message, locator=f"{where}.{key}".lstrip("."), excerpt=repr(value)[:200])
    return value


def _text(source: Mapping[Any, Any], key: str, where: str) -> str:
    return _part(source, key, where, str, "text")


def _list(source: Mapping[Any, Any], key: str, where: str) -> list[Any]:
    return _part(source, key, where, list, "list")
