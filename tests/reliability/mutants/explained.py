"""Mutants that no test can notice, and why: they compute the same, or only other code that does not exist could bring them to light."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.reliability.mutants.changes import Mutant

__all__ = ["EXPLAINED", "why_it_survives"]

_LATER: Final = "the search does more than it needs, and finds the same"

EXPLAINED: Final[Mapping[tuple[str, str, str], str]] = {
    ("schemas/batches.py", "return False", "returns None"): "whoever asks takes no answer for a no",
    ("providers/journal.py", "return False", "returns None"): "whoever asks takes no answer for a no",
    ("schemas/batches.py", "return True", "True -> False"): "what Arrow does not vouch for goes through Pandera, which says the same",
    (
        "schemas/batches.py",
        'return bool(least <= found["min"].as_py() and found["max"].as_py() <= most)',
        "LtE -> Lt",
    ): "what Arrow does not vouch for goes through Pandera, which says the same",
    ("schemas/tables.py", "return []", "returns None"): "Pandera takes no checks for none",
    ("providers/journal.py", "if whole < len(content):", "Lt -> LtE"): "cutting a file to the length that it has changes nothing",
    (
        "games/craft/engine/checks.py",
        'return {"span_to": move.span_to} if board.height(_span_to(move)) >= MAX_HEIGHT else None',
        "returns None",
    ): "L7 cannot be reached behind P3 and L6; a test says so",
    (
        "games/einstein/engine/puzzle.py",
        'name = written.rsplit("/", 1)[-1].split(".", 1)[0]',
        "1 -> 2",
    ): "the first and the last part are the same, however often the text is split",
    (
        "providers/journal.py",
        'self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")',
        "1 -> 2",
    ): "one wait for the disk is begun when the one before has ended, so a second thread has nothing to do",
    (
        "providers/journal_folder.py",
        'lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)',
        "420 -> 421",
    ): "whether others may execute an empty file to lock on",
    (
        "providers/journal.py",
        "self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)",
        "420 -> 421",
    ): "whether others may execute a file of JSON lines",
    (
        "games/overcooked/engine/workflow.py",
        'yield WorkUnit(name, agent, (f"pickup({item},counter)", put), (f"pass {item}",), utensil, None, product, -1)',
        "1 -> 2",
    ): "of what a unit does to the counters only the sign counts",
    ("ingest/files/writer.py", "_BATCH_ROWS: Final = 1_000_000", "1000000 -> 1000001"): "a transaction of one row more",
    ("ingest/files/writer.py", "self._waiting_rows = self._waiting_bytes = 0", "0 -> 1"): "a transaction of one row and one byte less",
    (
        "analytics/judging/answer_rates.sql",
        "coalesce(counted.n_squared, 0)::double as n_squared,",
        "0 -> 1",
    ): "of an answer that was never given all of the variance is assumed, whatever was seen",
    (
        "analytics/common/failure_breakdown.sql",
        "coalesce(counts.turns_squared, 0) as turns_squared,",
        "0 -> 1",
    ): "of a category that never occurred all of the variance is assumed, whatever was seen",
    (
        "analytics/common/failure_breakdown.sql",
        "coalesce(counts.turns_by_sizes, 0) as turns_by_sizes",
        "0 -> 1",
    ): "of a category that never occurred all of the variance is assumed, whatever was seen",
    (
        "analytics/common/intervals.sql",
        "case when n > 0 then least(1.0, (k + 1.920729410347062 + 1.959963984540054 * sqrt(k * (n - k) / n + 0.960364705173531))",
        "1.0 -> 2",
    ): "a bound for rounding: where k is n the end is 1, and below it less",
    (
        "analytics/common/game_spirals.sql",
        "max(steps.progress) filter (steps.turn = started.end_turn) as progress_end",
        "max -> min",
    ): "a game has one row of a turn",
    (
        "analytics/common/game_spirals.sql",
        "where steps.changed and first_left.left_turn < steps.turn",
        "< -> <=",
    ): "a turn that leaves a state and changes something does not end in that state",
    (
        "games/einstein/engine/generator.py",
        'starts = tuple(digits for digits in _strings("02", num_objects) if abs(2 * digits.count("0") - num_objects) <= num_objects % 2)',
        "2 -> 3",
    ): "puzzles have 4, 5 or 6 objects, of which the difference can only be even, odd, even; the other 2 of the line is noticed",
    (
        "analytics/statistics/regressions.py",
        "groups = int(clusters.max()) + 1 if len(clusters) else 0",
        "0 -> 1",
    ): "no game and a single one have no interval alike",
    (
        "analytics/statistics/shifts.py",
        "moved = differences[np.abs(differences) > _NOTHING]",
        "Gt -> GtE",
    ): "a bound for rounding, met by nothing exactly",
    (
        "judges/runs/recorder.py",
        "if self._outcomes or self._calls:",
        "or -> and",
    ): "what waits alone is saved with the next, at the end at the latest; the journal has it",
    ("games/einstein/engine/table.py", "before = -1", "1 -> 2"): "any number below 0 is no set of objects",
    ("analytics/statistics/shifts.py", "if abs(difference) <= _NOTHING:", "LtE -> Lt"): "a bound for rounding, met by nothing exactly",
    (
        "analytics/statistics/partial_correlations.py",
        "found: Floats = np.where(steady, np.nan, np.clip(together / np.sqrt(np.where(steady, 1, spread)), -1, 1))",
        "1 -> 2",
    ): "what a steady column is divided by is replaced by no number",
    (
        "games/coordination/value/capture.py",
        "states = [_State(*key) for key in product(ROOMS, ROOMS, ROOMS, range(1 << len(_DOORS)))]",
        "1 -> 2",
    ): "states with a third door, to which nothing leads",
    (
        "games/coordination/value/escape.py",
        'near = [player for player in PLAYERS if move.rooms[player] in ROOMS[move.rooms["Adversary"]]] if keeps and mark.seen else []',
        "In -> NotIn",
    ): "of two players just one is near where just one is not",
    (
        "games/coordination/value/escape_tables.py",
        "return plans, draws[: action + 1], after[:draw]",
        "1 -> 2",
    ): "one entry more, which no plan names",
    ("games/overcooked/value/left.py", "return False", "returns None"): "whoever asks takes no answer for a no",
    ("games/craft/value/stacks.py", "return False", "returns None"): "whoever asks takes no answer for a no",
    ("games/craft/value/search.py", "if aims[budget] < np.inf:", "Lt -> LtE"): _LATER,
    ("games/craft/value/stacks.py", "layer = max(height_of(max(stack, other_stack)) - 1, 0)", "max -> min"): _LATER,
    (
        "games/craft/value/stacks.py",
        "is_top = min(stack, other_stack) >> layer * STACK_BITS == 0 and not block & (1 << layer * STACK_BITS) - 1",
        "1 -> 2",
    ): "blocks of two stacks differ in two bits, of which this leaves out one; or the search does more than it needs",
    (
        "games/craft/value/stacks.py",
        "elif (link == FREE and begun < 0) or (link == TO_PREVIOUS and begun == cell - 1 and half == block):",
        "1 -> 2",
    ): _LATER,
    (
        "games/craft/value/reach.py",
        "return Board(board.stacks, board.spans) if board.ghosts else board",
        "condition turned round",
    ): "ghost cells are no part of what is searched: such a board is searched once more",
    ("judges/craft/attribution/wishes.py", 'return ""', "returns None"): "no reason is a no, however it is written",
    (
        "judges/attribution/findings.py",
        "yield from (Finding(turn, cause.agent, cause.link, 0.0, cause.evidence) for cause in causes if cause.gain <= NOTHING)",
        "LtE -> Lt",
    ): "a bound for rounding, met by nothing exactly",
    ("judges/attribution/job.py", "_GAMES_A_TRANSACTION: Final = 200", "200 -> 201"): "a transaction of one game more",
}
"""File, its line, the change -> why."""


def why_it_survives(root: Path, one: Mutant) -> str | None:
    """The reason; None if there is none, so that a test is missing."""
    line = (root / one.path).read_text("utf-8").splitlines()[one.line - 1].strip()
    if one.change == "True -> False" and "strict=True" in line:
        return "a guard: nothing gives it lists of different lengths"
    if one.change == "max -> min" and "filter (measure = " in line:
        return "a turn has one row of a measure"
    return EXPLAINED.get((one.path, line, one.change))
