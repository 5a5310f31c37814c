"""Reads rubric files, names the line of each mistake and how to fix it, and lists the answers of all known rubrics.

A file with mistakes of form is repaired as far as it takes to look for the others: all mistakes are reported in one pass.
"""

import copy
import difflib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from pydantic import ValidationError
from yaml.reader import ReaderError

from ingest.labels.files import plain_answer
from ingest.labels.load import Answers
from judges.rubric import NONE_CHOSEN, Demonstration, Question, RightAnswer, Rubric, ShownEntry, UnitKind, Variant
from judges.rubric_files.mistakes import contradictions
from schemas.common.errors import UsageError
from schemas.common.packages import packaged_text, rubric_folders
from schemas.common.text import in_shell, near, quoted
from schemas.common.yaml_lines import YamlLines, read_with_lines
from schemas.families import families, family, modules
from schemas.store.store import Store

_STAND_INS: Final[dict[str, Any]] = {
    "name": "unnamed",
    "version": 1,
    "unit": "turn",
    "benchmarks": ["any"],
    "shows": ["public_messages"],
    "answers": {"yes": 1, "no": 0},
    "instructions": "...",
    "questions": {"Q1": {"ask": "..."}},
    "ask": "...",
    "why": "...",
}
"""What takes the place of a key that is missing or holds nothing usable."""

_HANG_TOGETHER: Final[dict[str, frozenset[str]]] = {
    "answers": frozenset({"answers", "examples", "demonstrations"}),
    "shows": frozenset({"shows", "about", "instructions", "ask", "na_when", "also_shows", "variants", "demonstrations"}),
    "unit": frozenset({"unit", "unit_sql", "engine"}),
    "benchmarks": frozenset({"benchmarks", "engine", "roles"}),
    "questions": frozenset({"questions", "answers"}),
    "na_when": frozenset({"answers"}),
}
"""Key that was repaired -> keys about which nothing can be stated then."""

_PASSES: Final = 3
"""A repaired part can show a mistake below it."""


def repaired(data: Any, errors: Iterable[Any]) -> tuple[Rubric, list[tuple[Any, ...]]] | None:
    """The content with stand-ins, and the places that were repaired; None where nothing is left to look at."""
    if not isinstance(data, dict):
        return None
    data = copy.deepcopy(data)
    places: list[tuple[Any, ...]] = []
    for _ in range(_PASSES):
        for error in errors:
            place = tuple(part for part in error["loc"] if part != "[key]")
            places.append(place)
            _repair(data, place)
        try:
            return Rubric.model_validate(data), places
        except ValidationError as error:
            errors = error.errors()
    return None


def hangs_on(where: Sequence[Any], places: Sequence[Sequence[Any]]) -> bool:
    """Whether what is stated of a place could come from a stand-in."""
    for place in places:
        if tuple(where[: len(place)]) == tuple(place) or tuple(place[: len(where)]) == tuple(where):
            return True
        parts = place if len(place) == 1 else (place[-1],) if place[0] == "questions" else (place[0], place[-1])
        if any(set(where) & _HANG_TOGETHER.get(str(part), frozenset()) for part in parts):
            return True
    return False


def _repair(data: Any, place: Sequence[Any]) -> None:
    """Put the stand-in there, or take the entry out."""
    holder = data
    for part in place[:-1]:
        if not isinstance(holder, dict | list) or (isinstance(holder, dict) and part not in holder):
            return
        holder = holder[part]
    key = place[-1] if place else None
    if isinstance(holder, dict):
        if key in _STAND_INS:
            holder[key] = copy.deepcopy(_STAND_INS[key])
        else:
            holder.pop(key, None)
    elif isinstance(holder, list) and isinstance(key, int) and key < len(holder):
        holder[key] = "..."


_FOR_ALL_GAMES = Path(__file__).parents[1] / "rubrics"

_LONGEST_GIVEN = 60
"""Characters of a wrong value that a message shows."""


class Problem(NamedTuple):
    """A mistake in a rubric file."""

    path: Path
    line: int
    """From 1."""
    message: str
    """What is wrong, and the fix."""

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.message}"


def names(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """Rubric name (the file's stem) -> file, in the given folders, among those of installed packages, and among the built-in ones.

    A name that two files have is left out (`clashes`).

    Raises:
        UsageError: a folder does not exist, or a package's entry point is broken.
    """
    return {name: paths[0] for name, paths in _files(folders).items() if len(paths) == 1}


def clashes(folders: Sequence[Path] = ()) -> list[str]:
    """What is to be stated of each name that two or more files have: `names` leaves it out, since no one knows which is meant.

    Raises:
        UsageError: as `names`.
    """
    return [_clash(name, paths) for name, paths in _files(folders).items() if len(paths) > 1]


def shipped(name: str) -> Path | None:
    """The file of that name among the rubrics that come with cotrace, or with an installed package; None if there is none."""
    return next(iter(_files(()).get(name, [])), None)


def of_engine(benchmark: str) -> list[Rubric]:
    """The rubrics of a family that the engine judge answers, for who tells of them and judges none."""
    found = [load(path, to_judge=False) for path in names().values()]
    return [rubric for rubric in found if benchmark in rubric.benchmarks and any(question.engine for question in rubric.questions.values())]


def _files(folders: Sequence[Path]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for folder in dict.fromkeys(place.resolve() for place in (*folders, *rubric_folders(), _FOR_ALL_GAMES, *_of_families())):
        if not folder.is_dir():
            raise UsageError(f"no folder {folder}: --rubrics names a folder with rubric files (*.yaml)")
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, []).append(path)
    return found


def _of_families() -> list[Path]:
    return [Path(place) for _, package in modules("judges", "rubrics") for place in package.__path__]


def _clash(name: str, paths: Sequence[Path]) -> str:
    return f"{len(paths)} rubrics are called {name}: {' and '.join(map(str, paths))}; rename one of them"


def find(name: str, folders: Sequence[Path] = (), *, to_judge: bool = True) -> Rubric:
    """The rubric of that name, or in that file when the name ends in .yaml; `folders` have further rubrics, `to_judge` is as in `load`.

    Raises:
        UsageError: there is none, there are two (names both), or its file has mistakes.
    """
    if name.endswith((".yaml", ".yml")):
        return load(Path(name), to_judge=to_judge)
    known = _files(folders)
    if name not in known:
        if Path(f"{name}.yaml").is_file():
            raise UsageError(f"there is no rubric {name}, but a file {name}.yaml: name the file, or its folder with --rubrics")
        raise UsageError(f"there is no rubric {name}{near(name, sorted(known))}")
    if len(known[name]) > 1:
        raise UsageError(_clash(name, known[name]))
    return load(known[name][0], to_judge=to_judge)


def load(path: Path, *, to_judge: bool = True) -> Rubric:
    """The rubric in the file.

    Args:
        path: the file.
        to_judge: whether its parts fit one another as well; False where its answers alone are asked for: what can be shown to a judge
            is informed by the code of every benchmark, whose import takes longer than a report does.

    Raises:
        UsageError: the file cannot be read or has mistakes; shows the first one and how many there are.
    """
    try:
        state = path.stat()
        rubric, problems = _read_once(path, path.absolute(), to_judge, state.st_mtime_ns, state.st_size)
    except OSError:  # reading states why
        rubric, problems, _ = _read(path, to_judge=to_judge)
    if rubric is None or problems:
        more = f" (and {len(problems) - 1} more: cotrace rubric check {in_shell(path)})" if len(problems) > 1 else ""
        raise UsageError(f"rubric {problems[0]}{more}")
    return rubric


@lru_cache(maxsize=256)
def _read_once(path: Path, _place: Path, to_judge: bool, _changed_at: int, _size: int) -> tuple[Rubric | None, list[Problem]]:  # noqa: FBT001
    """A file that has not changed is not read again: the rubrics of a family are looked through again and again.

    Its place counts too: in another working folder the same relative path is another file.
    """
    return _read(path, to_judge=to_judge)[:2]


_SELECTING: Final = ("unit", "unit_sql", "benchmarks", "roles")
"""Keys that say what is judged; where they are in order, a store can tell whether there is anything."""


def check(path: Path, store: Store | None = None) -> list[Problem]:
    """Every mistake in the file, by line; also whether its engine checks exist, its name is free, and, in a store, `unit_sql` works."""
    from judges.checks import all_checks

    rubric, problems, guessed = _read(path)
    if rubric is None:
        return problems
    known = all_checks()
    _, lines = read_with_lines(path.read_text("utf-8"))
    if store is not None and not any(
        problem.line == lines.of((key,)) or hangs_on((key,), guessed) for problem in problems for key in _SELECTING
    ):
        problems += _on_store(path, lines, rubric, store)
    for question_id, question in rubric.questions.items():
        if question.engine is not None and question.engine not in known:
            where = ("questions", question_id, "engine")
            problems.append(
                Problem(path, lines.of(where), f"there is no engine check {question.engine}{near(question.engine, known)}, or leave it out")
            )
    taken = shipped(rubric.name)
    if taken is not None and taken != path.resolve():
        problems.append(
            Problem(path, lines.of(("name",)), f"{rubric.name} is a rubric that is there already ({taken}): choose another name")
        )
    return sorted(problems, key=lambda problem: problem.line)


def warnings_of(path: Path) -> list[Problem]:
    """What is not a mistake, but can mislead: pieces of evidence that can show what comes after the judged unit, by line."""
    from judges.evidence.units import INSTEAD, possibly_later

    rubric, problems, _ = _read(path)
    if rubric is None or problems:
        return []
    _, lines = read_with_lines(path.read_text("utf-8"))
    return [
        Problem(path, lines.of(("shows",)), f"{name} can show what comes after the judged {rubric.unit}: {INSTEAD}")
        for name in possibly_later(rubric)
    ]


def _read(path: Path, *, to_judge: bool = True) -> tuple[Rubric | None, list[Problem], list[tuple[Any, ...]]]:
    """The rubric, repaired where it can be; its mistakes, by line; and the places that stand-ins were put in."""
    try:
        data, lines = read_with_lines(path.read_text("utf-8"))
    except OSError as error:
        return None, [Problem(path, 1, f"cannot be read: {error.strerror}")], []
    except UnicodeDecodeError as error:
        return None, [Problem(path, 1, f"is not UTF-8 (byte {error.start}): save it as UTF-8")], []
    except RecursionError:
        return None, [Problem(path, 1, "is nested too deeply, or refers to itself: a rubric needs five levels or so")], []
    except (yaml.YAMLError, ValueError) as error:  # a date or number that cannot be is a ValueError
        return None, [_not_yaml(path, error)], []
    problems = [Problem(path, line, message) for line, message in lines.mistakes]
    places: list[tuple[Any, ...]] = []
    try:
        rubric = Rubric.model_validate(data)
    except ValidationError as error:
        problems += [Problem(path, lines.of(e["loc"]), _explained(e)) for e in error.errors()]
        rest = repaired(data, error.errors())
        if rest is None:
            return None, sorted(problems, key=lambda problem: problem.line), []
        rubric, places = rest
    found = contradictions(path, rubric) if to_judge else ()
    problems += [Problem(path, lines.of(where), message) for where, message in found if not hangs_on(where, places)]
    return rubric, sorted(problems, key=lambda problem: problem.line), places


def _on_store(path: Path, lines: YamlLines, rubric: Rubric, store: Store) -> list[Problem]:
    """What a store states to it: its query, and whether there is anything to judge."""
    from judges.evidence.selection import selected_units
    from judges.evidence.units import select

    try:
        first = next(selected_units(store, rubric, select(store, rubric, None)), None)
    except UsageError as error:
        return [Problem(path, lines.of(("unit_sql",) if rubric.unit_sql else ("unit",)), str(error))]
    if first is None:
        return [Problem(path, lines.of(("benchmarks",)), f"{store.path} has nothing to judge: no unit of {', '.join(rubric.benchmarks)}")]
    return []


def _not_yaml(path: Path, error: Exception) -> Problem:
    if isinstance(error, yaml.MarkedYAMLError):
        return Problem(path, error.problem_mark.line + 1 if error.problem_mark else 1, f"is not YAML: {error.problem}")
    if isinstance(error, ReaderError):
        line = path.read_text("utf-8").count("\n", 0, error.position) + 1
        return Problem(path, line, f"is not YAML: there is a control character (code {error.character}): delete it")
    return Problem(path, 1, f"is not YAML: {' '.join(str(error).split())}")


def _explained(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"] if part != "[key]") or "the file"
    kind, given = error["type"], error.get("input")
    if kind == "extra_forbidden":
        known = [name for part in (Rubric, Question, Variant, Demonstration, ShownEntry, RightAnswer) for name in part.model_fields]
        return f"unknown key {where}{near(str(error['loc'][-1]), known)}"
    if kind == "missing":
        return f"{where} is missing: add it"
    if not error["loc"]:
        return f"the file is {quoted(given, _LONGEST_GIVEN)}, not a mapping of keys to values: start from `cotrace rubric new NAME`"
    return f"{where} is {quoted(given, _LONGEST_GIVEN)}: {_as_of_yaml(error['msg'])}"


def _as_of_yaml(message: str) -> str:
    """YAML has lists, which are read as tuples."""
    return message[0].lower() + message[1:].replace("tuple", "list")


def known_answers(folders: Sequence[Path] = ()) -> Answers:
    """Of the rubrics in the given folders, of installed packages and of cotrace itself.

    Raises:
        UsageError: a folder does not exist, or a rubric in one has mistakes.
    """
    rubrics = (find(name, folders) for name in names(folders))
    return {rubric.name: _of_questions(rubric) for rubric in rubrics}


def _of_questions(rubric: Rubric) -> dict[str, dict[str, float | None]]:
    none_chosen = [NONE_CHOSEN] if rubric.choice == "several" else []
    return {
        question.id: {plain_answer(answer): rubric.score(answer) for answer in [*question.answers, *none_chosen]}
        for question in rubric.questions.values()
    }


_TEMPLATE, _DRAFT = (packaged_text(__package__, name) for name in ("template.yaml", "draft.yaml"))
_UNIT_SQL = """\
unit_sql: |                     # a row is a unit; a column for each piece in shows
  SELECT episode_id || '/' || turn AS unit_id, episode_id, turn, 'TODO' AS record FROM turns
"""


class _Shape(NamedTuple):
    """What a judge of a kind of unit sees at the least."""

    about: str | None
    shows: tuple[str, ...]


_SHAPES: Final[dict[UnitKind, _Shape]] = {
    "utterance": _Shape("utterance", ("judged_agent", "said_before", "utterance")),
    "agent_turn": _Shape("public_message", ("judged_agent", "said_before", "public_message")),
    "turn": _Shape("public_messages", ("history", "public_messages")),
    "episode": _Shape("dialogue", ("dialogue",)),
    "window": _Shape("conversation_window", ("conversation_window",)),
    "action": _Shape("action", ("history", "action", "action_outcome")),
    "event": _Shape(None, ("history", "public_messages")),
    "pair": _Shape(None, ("first_dialogue", "second_dialogue")),
    "row": _Shape(None, ("record",)),
}


def template(name: str) -> str:
    """A rubric file of that name to start from.

    Raises:
        UsageError: the name is not a plain word.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(f"rubric name {name!r}: use small letters, digits and _, beginning with a letter, such as acknowledges_conflict")
    return _TEMPLATE.format(name=name, written=_written(name))


def draft(name: str, unit: UnitKind, benchmark: str) -> str:
    """A rubric file for a unit and a benchmark, with what only its author knows marked TODO: `check` refuses it until that is written.

    Raises:
        UsageError: the name is not a plain word, or there is no such benchmark.
    """
    template(name)
    roles = _roles(benchmark)
    shape = _SHAPES[unit]
    return _DRAFT.format(
        name=name,
        written=_written(name),
        unit=unit,
        benchmark=benchmark,
        roles=f"# roles: [{', '.join(roles)}]         # whose turns are judged; all, if it is left out\n" if roles else "",
        about=f"about: {shape.about}\n" if shape.about else "",
        shows=", ".join(shape.shows),
        unit_sql=_UNIT_SQL if unit == "row" else "",
    )


def _written(name: str) -> str:
    return name if yaml.safe_load(name) == name else f'"{name}"'  # on, yes, null: words that YAML takes for something else


def _roles(benchmark: str) -> tuple[str, ...]:
    found = family(benchmark)
    if found is not None:
        return found.roles
    near = difflib.get_close_matches(benchmark, [known.name for known in families()], n=1)
    if near:
        raise UsageError(f"no benchmark {benchmark}: did you mean {near[0]}? (`any` is for all games)")
    return ()
