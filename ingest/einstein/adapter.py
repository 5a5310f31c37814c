"""Reads the dialogs that the published Einstein code writes: one JSON object a file, one file a game.

Format: docs/einstein.md. Mode and prompt kind stand in the prompts, everything else follows by replay from the game id. What only the
runner knew (verifier, model, names of players) comes from a `manifest.csv` next to the logs, and is null without one. The other files of a
run's folder (`all_metrics.json`, `summary.json`, `result.txt`, `eval_game_ids.json`) hold nothing that the dialogs have not.
"""

from __future__ import annotations

import csv
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Final, cast

from games.einstein.dialog import Dialog, Disagreement, disagreements, read_dialog, sound_part
from games.einstein.engine.actions import answer_reading, parse_answer
from games.einstein.engine.table import STEP_LIMIT, goal_json, private_view_json, table_json
from games.einstein.game import AGENTS, NO_VERIFIER, action_entry, stop_reason, utterances_of
from games.einstein.replay import VERIFIERS, Step, Verifier, replay, verify
from ingest.cotrace_log.adapter import action_rows
from ingest.einstein.measures import progress, replay_rows, sampled_actions, success_by_rules
from ingest.reading.adapter_types import FileKind, Place, Reading, episode_id, run_id
from ingest.reading.text import dumps, loads
from schemas.common.errors import BadInputError, UsageError
from schemas.common.text import excerpt
from schemas.records import Action, Agent, Episode, Json, LogDisagreement, Run, Turn, Utterance

KINDS: Final = (
    FileKind("metrics of a run of Einstein games", (rb"\A\s*\[", b'"file_id"', b'"pkl_path"', b'"step_count"')),
    FileKind("the summary of a run of Einstein games", (b'"total_files"', b'"successful_files"', b'"success_rate"')),
    FileKind("a list of Einstein game ids", (rb'\A\s*\[\s*"(?:[^"]*/)?[456]_[02]+_[0-3]+_[0-5]+_[0-2]+[^"]*"\s*[\],]',)),
)


_NAME: Final = "manifest.csv"
_DIALOG_FOLDER: Final = "json"
_MOST_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One run's row."""

    verifier: str | None = None
    """``none``, ``affordance``, ``communication`` or ``reasoning``; None if it is not known."""
    step_limit: int | None = None
    model: str | None = None
    players: tuple[str | None, str | None] = (None, None)
    """Names of the two players (`policy_p1`, `policy_p2`)."""
    row: Mapping[str, str] = field(default_factory=dict)
    """The row as written; empty if there is none."""


def run_name(path: str) -> str:
    """The run that a dialog file belongs to: its folder, or the one above if that is called ``json``."""
    folder = PurePath(path).parent
    return folder.parent.name if folder.name == _DIALOG_FOLDER else folder.name


def manifest_of(path: str) -> Manifest:
    """What a manifest states of the run that a dialog file belongs to; nothing known where there is no manifest.

    Raises:
        BadInputError: the nearest manifest cannot be read, or has an impossible value in the run's row.
    """
    name, found = run_name(path), manifest_file(Path(path))
    return Manifest() if found is None else _typed(_manifest_rows(str(found), found.stat().st_mtime_ns).get(name, {}), name)


def manifest_file(path: Path) -> Path | None:
    """The manifest that a dialog file is read with: the nearest; None where there is none."""
    return next((found for folder in list(path.parents)[:3] if (found := folder / _NAME).is_file()), None)


@lru_cache(maxsize=16)
def _manifest_rows(path: str, _changed_ns: int) -> Mapping[str, Mapping[str, str]]:
    """Run -> its row."""
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            raise BadInputError("too large for a manifest", locator=_NAME)
        with Path(path).open(newline="", encoding="utf-8-sig") as lines:
            return dict(_named(csv.DictReader(lines)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInputError(f"cannot be read ({excerpt(str(error))}): write it again as CSV in UTF-8", locator=_NAME) from error


def _named(rows: csv.DictReader[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    if "run" not in (rows.fieldnames or ()):
        raise BadInputError("has no column `run`: add it, one row a run folder", locator=_NAME)
    for row in rows:
        yield row["run"], {name: value for name, value in row.items() if isinstance(name, str) and isinstance(value, str)}


def _typed(row: Mapping[str, str], run: str) -> Manifest:
    where = f"{_NAME}, run {excerpt(run)}"
    verifier = row.get("verifier", "").removesuffix("_verifier") or None
    if verifier not in (None, NO_VERIFIER, *VERIFIERS):
        known = ", ".join((NO_VERIFIER, *VERIFIERS))
        raise BadInputError(f"verifier {excerpt(repr(verifier))} is none of {known}", locator=where)
    limit = row.get("step_limit", "")
    if limit and not (limit.isascii() and limit.isdecimal() and 0 < len(limit) <= 6 and int(limit) > 0):  # noqa: PLR2004 - no game is longer
        raise BadInputError(f"step_limit {excerpt(repr(limit))} is not a count", locator=where)
    return Manifest(
        verifier=verifier,
        step_limit=int(limit) if limit else None,
        model=row.get("model") or None,
        players=(row.get("policy_p1") or None, row.get("policy_p2") or None),
        row=row,
    )


FORMAT: Final = "einstein"
VERSION: Final = 2
PATH_PARTS: Final = 2

UNKNOWN_MODEL: Final = "unknown"
"""`episodes.model` where no manifest names the model."""

_MARKS: Final = tuple(map(re.compile, (rb'"pkl_path"\s*:', rb'"dialog"\s*:', rb'"file_id"\s*:')))
_MIN_MARKS: Final = 2
_GAME_FACTS: Final = (
    "num_objects",
    "step_count",
    "terminated",
    "truncated",
    "success",
    "partial_success_rate",
    "num_obj",
    "total_used_trials",
    "avg_used_trials",
    "total_sum_err",
    "avg_sum_err",
    "avg_corrected",
)


@dataclass(frozen=True, slots=True)
class _Game:
    """A file, decoded and replayed as far as it can be."""

    episode: str
    run: str
    dialog: Dialog
    steps: list[Step]
    manifest: Manifest
    lost: BadInputError | None
    """Why the steps behind the last one could not be used."""
    step_count: int
    """Steps in the file, lost ones included."""

    @property
    def success(self) -> bool | None:
        """Solved, by replay; None if neither the rules nor the file end the game with the last step that was replayed."""
        found, logged = success_by_rules(self.steps), self.dialog.logged
        has_end = isinstance(logged.get("success"), bool) and logged.get("step_count", self.step_count) == len(self.steps)
        return self.steps[-1].outcome.success if found is None and self.lost is None and has_end else found


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is a published Einstein dialog."""
    return head.lstrip()[:1] == b"{" and sum(mark.search(head) is not None for mark in _MARKS) >= _MIN_MARKS


def companions(path: Path) -> tuple[Path, ...]:
    """The manifest that a dialog is read with; one that cannot be opened costs no game, so it is none."""
    found = manifest_file(path)
    return () if found is None or not os.access(found, os.R_OK) else (found,)


def read(data: bytes, place: Place) -> Reading:
    """Read a file.

    Raises:
        BadInputError: it is not JSON, not laid out as a dialog, or its first step cannot be read.
    """
    document = loads(data)
    rejects: list[BadInputError] = []
    try:
        manifest = manifest_of(place.path)
    except BadInputError as error:
        manifest = Manifest()
        rejects.append(BadInputError(f"{error.reason}; the game is stored without what the manifest knows", locator=error.locator))
    started = time.perf_counter()
    sound, lost = sound_part(document) if isinstance(document, Mapping) else (document, None)
    if lost is not None and not sound["dialog"]:
        raise BadInputError(f"{lost.reason}; the game is lost", locator=lost.locator, excerpt=lost.excerpt)
    dialog = read_dialog(sound, step_limit=manifest.step_limit or STEP_LIMIT)
    steps, fault = _steps(dialog, manifest)
    game = _Game(
        episode=episode_id("einstein", place.path),
        run=run_name(place.path),
        dialog=dialog,
        steps=steps,
        manifest=manifest,
        lost=fault or lost,
        step_count=len(document["dialog"]),
    )
    rows = replay_rows(game.dialog.setting, game.steps, game.episode, ended=game.success is not None)
    rows["log_disagreements"] = [
        LogDisagreement(game.episode, None if step is None else step + 1, field, dumps(logged), dumps(due))
        for step, field, logged, due in _differences(game)
    ]
    replay_s = time.perf_counter() - started
    if game.lost:
        missing = game.step_count - len(game.steps)
        reason = f"{game.lost.reason}; the game is stored up to the step before, {missing} of {game.step_count} steps are lost"
        rejects.append(BadInputError(reason, locator=game.lost.locator, excerpt=game.lost.excerpt))
    return Reading(_rows(game, rows, place), [game.episode], len(game.steps), rejects, replay_s)


# -- decoding and replay ------------------------------------------------------------------------------------------------------------------


def _steps(dialog: Dialog, manifest: Manifest) -> tuple[list[Step], BadInputError | None]:
    """Replay; the executed answers follow from the logged costs, and from the verifier where there are none."""
    has_costs = all(samples.costs is not None for samples in dialog.samples)
    steps: list[Step] = []
    try:
        for step in replay(dialog.setting, dialog.samples, None if has_costs else _verifier(manifest)):
            steps.append(step)  # noqa: PERF402 - those before a fault are stored
    except (BadInputError, UsageError) as error:
        fault = BadInputError(str(error), locator=f"dialog[{len(steps)}]")
        if not steps:
            raise fault from error
        return steps, fault
    return steps, None


def _verifier(manifest: Manifest) -> Verifier | None:
    return None if manifest.verifier in (None, NO_VERIFIER) else cast("Verifier", manifest.verifier)


# -- where log, manifest and replay differ ------------------------------------------------------------------------------------------------


def _differences(game: _Game) -> Iterator[Disagreement]:
    whole = game.lost is None
    dialog = game.dialog if whole else read_dialog({**game.dialog.logged, "dialog": game.dialog.logged["dialog"][: len(game.steps)]})
    yield from (found for found in disagreements(dialog, game.steps) if whole or found.step is not None)
    row, modes = game.manifest.row, game.dialog.modes
    found = {"action_mode": modes[0] if modes[0] == modes[1] else "+".join(modes)}
    if game.dialog.reasoning is not None:
        found["use_cot"] = str(int(game.dialog.reasoning))
    for name, value in found.items():
        if row.get(name, value) != value:
            yield Disagreement(None, f"manifest.{name}", row[name], value)
    verifier = _verifier(game.manifest)
    if verifier is not None:
        yield from _cost_differences(game, verifier)


def _cost_differences(game: _Game, verifier: Verifier) -> Iterator[Disagreement]:
    """Logged costs against the rules of the verifier that the manifest names."""
    for step, samples in zip(game.steps, game.dialog.samples, strict=False):
        if samples.costs is None:
            continue
        actions = [parse_answer(text).action for text in samples.texts]
        try:
            costs = verify(verifier, game.dialog.setting, step.before, actions).costs
        except UsageError:
            yield Disagreement(None, "manifest.verifier", verifier, None)
            return
        if costs != samples.costs:
            yield Disagreement(step.number, f"actions_err.{verifier}", list(samples.costs), list(costs))


# -- rows ---------------------------------------------------------------------------------------------------------------------------------


def _rows(game: _Game, derived: dict[str, list[tuple[object, ...]]], place: Place) -> dict[str, list[tuple[object, ...]]]:
    modes = game.dialog.modes
    reasons = {"0": False, "1": True}.get(game.manifest.row.get("use_cot", ""))
    condition = {
        "action_mode": modes[0] if modes[0] == modes[1] else None,
        "modes": list(modes),
        "reasoning": (reasons if game.dialog.reasoning is None else game.dialog.reasoning),
        "verifier": game.manifest.verifier,
        "samples_per_step": max(len(samples.texts) for samples in game.dialog.samples),
        "rules": "published",
        "step_limit": game.dialog.step_limit,
    }
    run = Run(run_id("einstein", game.run, _team(game), condition), "einstein", game.run, Json(dumps(condition)), None)
    return {
        **derived,
        "runs": [run],
        "episodes": [_episode(game, run, place)],
        "agents": list(_agents(game)),
        "turns": [_turn(game, step) for step in game.steps],
        "utterances": [row for step in game.steps for row in _utterances(game, step)],
        "actions": [row for number, step in enumerate(game.steps) for row in _actions(game, number, step)],
    }


def _team(game: _Game) -> dict[str, str]:
    return dict.fromkeys(AGENTS, game.manifest.model) if game.manifest.model else {}


def _episode(game: _Game, run: Run, place: Place) -> Episode:
    puzzle, last = game.dialog.puzzle, game.steps[-1]
    return Episode(
        episode_id=game.episode,
        run_id=run.run_id,
        source_id=place.source_id,
        benchmark="einstein",
        task_id=puzzle.game_id,
        level=f"{puzzle.num_objects} objects",
        model=game.manifest.model or UNKNOWN_MODEL,
        team=Json(dumps(_team(game))),
        seed=None,
        max_turns=game.dialog.step_limit,
        turns_taken=len(game.steps),
        success=game.success,
        score=None if game.success is None else progress(game.dialog.setting, last),
        stop_reason=stop_reason(last),
        error=None,
        goal=Json(dumps(goal_json(puzzle))),
        details=Json(dumps(_details(game))),
        file=place.file,
        started_at=None,
    )


def _details(game: _Game) -> dict[str, object]:
    """What else log and manifest say; ``steps_lost`` and ``unknown_fields`` only where there are any."""
    logged = game.dialog.logged
    details: dict[str, object] = {
        "file_id": game.dialog.file_id,
        "pkl_path": logged["pkl_path"],
        "modes": list(game.dialog.modes),
        **{name: logged[name] for name in _GAME_FACTS if name in logged},
    }
    details |= sampled_actions(game.dialog.samples)
    if game.manifest.row:
        details["manifest"] = dict(game.manifest.row)
    if game.lost is not None:
        details["steps_lost"] = game.step_count - len(game.steps)
    unknown = [excerpt(name) for name in logged if name not in (*_GAME_FACTS, "file_id", "pkl_path", "dialog")]
    if unknown:
        details["unknown_fields"] = unknown
    return details


def _agents(game: _Game) -> Iterator[Agent]:
    for player, agent in enumerate(AGENTS):
        view = Json(dumps(private_view_json(game.dialog.puzzle, 0 if player == 0 else 1)))
        yield Agent(game.episode, agent, "player", game.manifest.model, game.manifest.players[player], view, None, "derived")


def _turn(game: _Game, step: Step) -> Turn:
    puzzle = game.dialog.puzzle
    return Turn(
        episode_id=game.episode,
        turn=step.number + 1,
        state_before=Json(dumps(table_json(puzzle, step.before))),
        state_after=Json(dumps(table_json(puzzle, step.outcome.table))),
        oracle_available=False,
        progress=progress(game.dialog.setting, step),
        goal_reached=step.outcome.terminated,
    )


def _utterances(game: _Game, step: Step) -> Iterator[Utterance]:
    for seq, uttered in enumerate(utterances_of(AGENTS[step.before.player], step), start=1):
        yield Utterance(game.episode, step.number + 1, seq, uttered.agent, uttered.channel, list(uttered.audience or ()), uttered.text)


def _actions(game: _Game, number: int, step: Step) -> Iterator[Action]:
    raw = game.dialog.samples[number].texts[step.choice.executed if step.choice else 0]
    reading = answer_reading(raw)
    done = replace(action_entry(AGENTS[step.before.player], step, raw), read=reading.read, used=reading.used)
    return action_rows(game.episode, number + 1, [done])
