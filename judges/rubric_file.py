"""Reads rubric files, and says in which line what is wrong and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judges.rubric import BUILT_IN, Question, Rubric, UnitKind, Variant
from judges.yaml_lines import NodePath, read_with_lines
from schemas.errors import UsageError

__all__ = ["Problem", "check", "find", "load", "names"]


class Problem(NamedTuple):
    """A mistake in a rubric file."""

    path: Path
    line: int
    """From 1."""
    message: str
    """What is wrong, and the mend."""

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.message}"


_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _QuestionFile(_Strict):
    ask: _Text
    na_when: _Text | None = None
    examples: dict[str, _Text] = {}
    engine: _Text | None = None
    also_shows: list[str] = []


class _VariantFile(_Strict):
    why: _Text
    shows_add: list[str] = []
    shows_remove: list[str] = []


class _RubricFile(_Strict):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, Field(ge=1)]
    source: str = ""
    unit: UnitKind
    benchmarks: Annotated[list[str], Field(min_length=1)]
    roles: list[str] = []
    about: str | None = None
    shows: Annotated[list[str], Field(min_length=1)]
    answers: Annotated[dict[str, Annotated[float, Field(ge=0, le=1, strict=False)] | None], Field(min_length=2)]
    repeats: Annotated[int, Field(ge=1)] = 1
    instructions: _Text
    questions: Annotated[dict[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")], _QuestionFile], Field(min_length=1)]
    variants: dict[str, _VariantFile] = {}


def names(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """Rubric name (the file's stem) -> file, in the given folders and among the built-in ones.

    Raises:
        UsageError: a folder does not exist, or two files have the same name; names both.
    """
    found: dict[str, Path] = {}
    for folder in (*folders, BUILT_IN):
        if not folder.is_dir():
            raise UsageError(f"no folder {folder}: --rubrics names a folder with rubric files (*.yaml)")
        for path in sorted(folder.glob("*.yaml")):
            if path.stem in found:
                raise UsageError(f"two rubrics are called {path.stem}: {found[path.stem]} and {path}; rename one of them")
            found[path.stem] = path
    return found


def find(name: str, folders: Sequence[Path] = ()) -> Rubric:
    """The rubric of that name, or in that file when the name ends in .yaml.

    Raises:
        UsageError: there is none, or its file has mistakes.
    """
    if name.endswith((".yaml", ".yml")):
        return load(Path(name))
    known = names(folders)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"
        raise UsageError(f"there is no rubric {name}: {hint}")
    return load(known[name])


def load(path: Path) -> Rubric:
    """The rubric in the file.

    Raises:
        UsageError: the file cannot be read or has mistakes; shows the first one and how many there are.
    """
    content, problems = _read(path)
    if content is None or problems:
        more = f" (and {len(problems) - 1} more: cotrace rubric check {path})" if len(problems) > 1 else ""
        raise UsageError(f"rubric {problems[0]}{more}")
    return _rubric(content)


def check(path: Path) -> list[Problem]:
    """Every mistake in the file, by line; empty if there is none. Also looks whether the engine checks named there exist."""
    from judges.checks import all_checks

    content, problems = _read(path)
    if content is None:
        return problems
    known = all_checks()
    _, lines = read_with_lines(path.read_text("utf-8"))
    for question_id, question in content.questions.items():
        if question.engine is not None and question.engine not in known:
            where = ("questions", question_id, "engine")
            problems.append(
                Problem(
                    path, lines.of(where), f"there is no engine check {question.engine}{_near(question.engine, known)}, or leave it out"
                )
            )
    return sorted(problems, key=lambda problem: problem.line)


def _read(path: Path) -> tuple[_RubricFile | None, list[Problem]]:
    try:
        data, lines = read_with_lines(path.read_text("utf-8"))
    except OSError as error:
        return None, [Problem(path, 1, f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError as error:
        return None, [Problem(path, 1, f"is not UTF-8 (byte {error.start}): save it as UTF-8")]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return None, [Problem(path, line, f"is not YAML: {error.problem}")]
    problems = [Problem(path, line, message) for line, message in lines.mistakes]
    try:
        content = _RubricFile.model_validate(data)
    except ValidationError as error:
        if not lines.mistakes:  # a mistaken key spoils what stands below it: one message is enough
            problems += [Problem(path, lines.of(e["loc"]), _explained(e)) for e in error.errors()]
        return None, sorted(problems, key=lambda problem: problem.line)
    problems += [Problem(path, lines.of(where), message) for where, message in _contradictions(path, content)]
    return content, sorted(problems, key=lambda problem: problem.line)


def _explained(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"] if part != "[key]") or "the file"
    kind, given = error["type"], error.get("input")
    if kind == "extra_forbidden":
        fields = {**_RubricFile.model_fields, **_QuestionFile.model_fields, **_VariantFile.model_fields}
        return f"unknown key {where}{_near(str(error['loc'][-1]), fields)}"
    if kind == "missing":
        return f"{where} is missing: add it"
    return f"{where} is {given!r}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _near(word: str, known: Mapping[str, object] | Sequence[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f": did you mean {near[0]}?" if near else f": known are {', '.join(sorted(known))}"


def _contradictions(path: Path, content: _RubricFile) -> Iterator[tuple[NodePath, str]]:
    if content.name != path.stem:
        yield ("name",), f"the rubric is called {content.name} but its file {path.name}: make them the same"
    if content.about is not None and content.about not in content.shows:
        yield ("about",), f"`about` names {content.about}, which `shows` does not list: a judge cannot judge what it may not see"
    yield from _bad_pieces(content)
    for question_id, question in content.questions.items():
        yield from _bad_question(content, question_id, question)


def _bad_pieces(content: _RubricFile) -> Iterator[tuple[NodePath, str]]:
    from judges.shows import PIECES

    lists: list[tuple[NodePath, list[str]]] = [(("shows",), content.shows)]
    lists += [(("questions", name, "also_shows"), question.also_shows) for name, question in content.questions.items()]
    lists += [(("variants", name, "shows_add"), variant.shows_add) for name, variant in content.variants.items()]
    for where, pieces in lists:
        for index, name in enumerate(pieces):
            if name not in PIECES:
                yield (*where, index), f"there is no piece of evidence {name}{_near(name, PIECES)}"
                continue
            piece = PIECES[name]
            if content.unit not in piece.units:
                yield (*where, index), f"{name} cannot be shown for unit {content.unit}: it goes with {', '.join(piece.units)}"
            if piece.benchmarks and not set(content.benchmarks) <= set(piece.benchmarks):
                yield (
                    (*where, index),
                    f"{name} exists only for {', '.join(piece.benchmarks)}: the rubric is for {', '.join(content.benchmarks)}",
                )
            if name in pieces[:index]:
                yield (*where, index), f"{name} is listed twice: delete one"
    for variant_name, variant in content.variants.items():
        for index, name in enumerate(variant.shows_remove):
            if name not in content.shows:
                yield ("variants", variant_name, "shows_remove", index), f"{name} is not in `shows`, so it cannot be removed"


def _bad_question(content: _RubricFile, question_id: str, question: _QuestionFile) -> Iterator[tuple[NodePath, str]]:
    where: NodePath = ("questions", question_id)
    possible = _possible(content, question)
    for answer in possible:
        if answer not in question.examples:
            yield (*where, "examples"), f'{question_id} has no example for the answer "{answer}": add one'
    for answer in question.examples:
        if answer not in content.answers:
            yield (*where, "examples", answer), f'"{answer}" is not one of the rubric\'s answers ({", ".join(content.answers)})'
        elif answer not in possible:
            yield (*where, "examples", answer), f'{question_id} cannot be answered "{answer}": say in na_when when it does not apply'
    if question.na_when is not None and not any(score is None for score in content.answers.values()):
        yield (*where, "na_when"), "no answer stands for 'does not apply': add `na: null` to `answers`, or delete na_when"


def _possible(content: _RubricFile, question: _QuestionFile) -> tuple[str, ...]:
    scored = tuple(answer for answer, score in content.answers.items() if score is not None)
    if question.na_when is None and scored:
        return scored
    return tuple(content.answers)


def _rubric(content: _RubricFile) -> Rubric:
    return Rubric(
        name=content.name,
        version=content.version,
        source=content.source,
        unit=content.unit,
        benchmarks=tuple(content.benchmarks),
        roles=tuple(content.roles),
        about=content.about,
        shows=tuple(content.shows),
        answers=content.answers,
        repeats=content.repeats,
        instructions=content.instructions,
        questions=tuple(
            Question(
                id=question_id,
                ask=question.ask,
                na_when=question.na_when,
                examples=question.examples,
                engine=question.engine,
                also_shows=tuple(question.also_shows),
                answers=_possible(content, question),
            )
            for question_id, question in content.questions.items()
        ),
        variants=tuple(
            Variant(name=name, why=v.why, shows_add=tuple(v.shows_add), shows_remove=tuple(v.shows_remove))
            for name, v in content.variants.items()
        ),
    )
