"""What can be wrong with a rubric file whose keys and types are right: where its parts contradict each other."""

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from judges.rubric import ANY_BENCHMARK, Demonstration, Question, Rubric, loosely
from schemas.common.text import near
from schemas.common.yaml_lines import NodePath
from schemas.families import families
from schemas.store.read_only_sql import query_mistake

_PLACEHOLDER: Final = re.compile(r"\{([a-z][a-z_]*)\}")
_TODO: Final = "TODO"
_MISSPELT: Final = 0.8
"""How alike two words are, 0 to 1, of which one is taken for the other misspelt."""
_NOT_IN_SEVERAL: Final = re.compile(r"\||^none$")


def contradictions(path: Path, rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    """Every contradiction: where it is, what is wrong, and the fix."""
    if rubric.name != path.stem:
        yield ("name",), f"the rubric is called {rubric.name} but its file {path.name}: make them the same"
    if rubric.about is not None and rubric.about not in rubric.shows:
        yield ("about",), f"`about` names {rubric.about}, which `shows` does not list: a judge cannot judge what it may not see"
    yield from _bad_scope(rubric)
    yield from _bad_unit(rubric)
    yield from _bad_answers(rubric)
    yield from _bad_pieces(rubric)
    yield from _bad_variants(rubric)
    yield from _bad_wordings(rubric)
    yield from _bad_placeholders(rubric)
    yield from _drafted(rubric)
    for question_id, question in rubric.questions.items():
        yield from _bad_question(rubric, question_id, question)
    for index, case in enumerate(rubric.demonstrations):
        yield from _bad_demonstration(rubric, ("demonstrations", index), case)


def _drafted(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    """What `cotrace rubric new --unit` leaves to be written."""
    texts: list[tuple[NodePath, str]] = [(("source",), rubric.source), (("instructions",), rubric.instructions)]
    texts.append((("unit_sql",), rubric.unit_sql or ""))
    for name, question in rubric.questions.items():
        texts += [(("questions", name, "ask"), question.ask), (("questions", name, "na_when"), question.na_when or "")]
        texts += [(("questions", name, "examples", answer), text) for answer, text in question.examples.items()]
    for where, text in texts:
        if _TODO in text:
            yield where, f"a draft: write {where[-1]} in place of {_TODO}"


def _bad_scope(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    """Benchmarks and roles that no game has: the rubric would judge nothing, or less than is meant."""
    known = [family.name for family in families()]
    roles = [role for family in families() for role in family.roles]
    # a log of one's own may have any name and any role, so only what looks misspelt is one
    for index, name in enumerate(rubric.benchmarks):
        meant = difflib.get_close_matches(name, [*known, ANY_BENCHMARK], n=1, cutoff=_MISSPELT)
        if meant and name not in (*known, ANY_BENCHMARK):
            yield ("benchmarks", index), f"there is no benchmark {name}: did you mean {meant[0]}?"
    for index, role in enumerate(rubric.roles):
        meant = difflib.get_close_matches(role, roles, n=1, cutoff=_MISSPELT)
        if meant and role not in roles:
            yield ("roles", index), f"{role} is not a role of these games: did you mean {meant[0]}?"
    for name, question in rubric.questions.items():
        home = (question.engine or "").partition(".")[0]
        if home in known and home not in rubric.benchmarks and ANY_BENCHMARK not in rubric.benchmarks:
            yield (
                ("questions", name, "engine"),
                f"the engine check {question.engine} is for {home}, and the rubric for {', '.join(rubric.benchmarks)}: leave it out",
            )


def _bad_unit(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    if rubric.unit == "row" and rubric.unit_sql is None:
        yield ("unit",), "unit row needs `unit_sql`: a query with the columns unit_id, episode_id, and one column for each piece in `shows`"
    if rubric.unit != "row" and rubric.unit_sql is not None:
        yield ("unit_sql",), f"unit_sql goes with `unit: row`, not with {rubric.unit}: change the unit, or delete unit_sql"
    if rubric.unit_sql is not None:
        mistake = query_mistake(rubric.unit_sql)
        if mistake is not None:
            yield ("unit_sql",), f"unit_sql does not work: {mistake}"
    if rubric.unit == "pair":
        for name, question in rubric.questions.items():
            if question.engine is not None:
                yield ("questions", name, "engine"), "engine checks look at one game, not at a pair: delete engine"


def _bad_answers(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    read_as: dict[str, str] = {}
    for answer in rubric.answers:
        plain = loosely(answer)
        if not plain:
            yield ("answers", answer), "an answer is empty: call it something, such as na"
        elif plain in read_as:
            yield (
                ("answers", answer),
                f'"{answer}" and "{read_as[plain]}" cannot be distinguished when a model writes them in its own way: use different words',
            )
        read_as.setdefault(plain, answer)
    scores = [score for score in rubric.answers.values() if score is not None]
    if scores and len(set(scores)) == 1:
        yield ("answers",), f"every answer that has a score has the score {scores[0]:g}, so no mean can tell anything: give different ones"
    reachable = {answer for question in rubric.questions.values() for answer in question.answers}
    for answer, score in rubric.answers.items():
        if answer not in reachable:
            yield (
                ("answers", answer),
                f'no question can get the answer "{answer}": say in a question\'s na_when when it applies, or delete it',
            )
        if rubric.choice == "several" and score is not None:
            yield ("answers", answer), f'"{answer}" has a score, but several answers at once have none: write "{answer}": null'
        if rubric.choice == "several" and _NOT_IN_SEVERAL.search(answer):
            yield ("answers", answer), f'"{answer}" is how a choice of several is written (a|b, none): call the answer something else'


def _bad_placeholders(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    """A text that speaks of a piece in braces, but it is not a visible evidence: the judge would be asked about what it cannot see."""
    yield from _unfilled(rubric, ("instructions",), rubric.instructions, rubric.shows)
    for name, question in rubric.questions.items():
        shown = [*rubric.shows, *question.also_shows]
        yield from _unfilled(rubric, ("questions", name, "ask"), question.ask, shown)
        yield from _unfilled(rubric, ("questions", name, "na_when"), question.na_when or "", shown)


def _unfilled(rubric: Rubric, where: NodePath, text: str, shown: Sequence[str]) -> Iterator[tuple[NodePath, str]]:
    from judges.evidence.pieces import piece, pieces

    for name in dict.fromkeys(_PLACEHOLDER.findall(text)):
        if name not in rubric.shows if rubric.unit == "row" else piece(name, rubric.benchmarks) is None:
            yield where, f"{{{name}}} names no piece of evidence{near(name, rubric.shows if rubric.unit == 'row' else [*pieces()])}"
        elif name not in shown:
            yield where, f"{{{name}}} is mentioned, but `shows` hides it from the judge: list it there, or take it out of the text"


def _bad_pieces(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    lists: list[tuple[NodePath, Sequence[str]]] = [(("shows",), rubric.shows)]
    lists += [(("questions", name, "also_shows"), question.also_shows) for name, question in rubric.questions.items()]
    lists += [(("variants", name, "shows_add"), variant.shows_add) for name, variant in rubric.variants.items()]
    lists += [
        (("variants", name, "questions", question_id, "also_shows"), question.also_shows)
        for name, variant in rubric.variants.items()
        for question_id, question in variant.questions.items()
    ]
    for where, pieces in lists:
        for index, name in enumerate(pieces):
            if name in pieces[:index]:
                yield (*where, index), f"{name} is listed twice: delete one"
            elif rubric.unit != "row":  # the pieces of a row are the columns of its query, which are looked at when that runs
                yield from (((*where, index), message) for message in _bad_piece(rubric, name))


def _bad_variants(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    for variant_name, variant in rubric.variants.items():
        for index, name in enumerate(variant.shows_remove):
            if name not in rubric.shows:
                yield ("variants", variant_name, "shows_remove", index), f"{name} is not in `shows`, so it cannot be removed"
            elif name == rubric.about and name not in variant.shows_add:
                yield ("variants", variant_name, "shows_remove", index), f"{name} is what is judged (`about`), so it cannot be removed"
        for index, name in enumerate(variant.shows_add):
            if name in rubric.shows and name not in variant.shows_remove:
                yield ("variants", variant_name, "shows_add", index), f"{name} is in `shows` already: delete it here"


def _bad_wordings(rubric: Rubric) -> Iterator[tuple[NodePath, str]]:
    """Variants that ask in other words: about the same questions, each with all that a question needs."""
    for name, variant in rubric.variants.items():
        if variant.wording is not None and variant.wording not in rubric.variants:
            yield ("variants", name, "wording"), f"there is no variant {variant.wording}{near(variant.wording, list(rubric.variants))}"
        for index, question in enumerate(variant.other_meaning):
            if question not in rubric.questions:
                yield ("variants", name, "other_meaning", index), f"there is no question {question}{near(question, list(rubric.questions))}"
        for question in variant.questions:
            if question not in rubric.questions:
                yield ("variants", name, "questions", question), f"there is no question {question}{near(question, list(rubric.questions))}"
        reported = rubric.with_variant(name).questions if variant.questions else {}
        for question in variant.questions:
            for where, mistake in _bad_question(rubric, question, reported[question]):
                yield ("variants", name, *where), mistake


def _bad_piece(rubric: Rubric, name: str) -> Iterator[str]:
    from judges.evidence.pieces import piece, pieces

    shown = piece(name, rubric.benchmarks)
    if shown is None:
        yield f"there is no piece of evidence {name}{near(name, pieces())}"
        return
    if rubric.unit not in shown.units:
        yield f"{name} cannot be shown for unit {rubric.unit}: it goes with {', '.join(shown.units)}"
    if shown.benchmarks and not set(rubric.benchmarks) <= set(shown.benchmarks):
        yield f"{name} exists only for {', '.join(shown.benchmarks)}: the rubric is for {', '.join(rubric.benchmarks)}"


def _bad_question(rubric: Rubric, question_id: str, question: Question) -> Iterator[tuple[NodePath, str]]:
    where: NodePath = ("questions", question_id)
    for answer in question.answers:
        if answer not in question.examples:
            yield (*where, "examples"), f'{question_id} has no example for the answer "{answer}": add one'
    for answer in question.examples:
        if answer not in rubric.answers:
            yield (*where, "examples", answer), f'"{answer}" is not one of the rubric\'s answers ({", ".join(rubric.answers)})'
        elif answer not in question.answers:
            yield (*where, "examples", answer), f'{question_id} cannot be answered "{answer}": say in na_when when it does not apply'
    yield from _bad_conditions(rubric, where, question)
    if question.na_when is not None and not rubric.na_answers():
        yield (*where, "na_when"), "no answer means 'does not apply': add `na: null` to `answers`, or delete na_when"


def _bad_conditions(rubric: Rubric, where: NodePath, question: Question) -> Iterator[tuple[NodePath, str]]:
    from judges.evidence.pieces import CONDITIONS

    if question.na_if and question.na_when is None:
        yield (*where, "na_if"), "na_if states when the log shows that na_when holds: add na_when, which the judge reads, or delete na_if"
    for index, name in enumerate(question.na_if):
        if name not in CONDITIONS:
            yield (*where, "na_if", index), f"there is no condition {name}{near(name, CONDITIONS)}"
        elif rubric.unit not in CONDITIONS[name].units:
            units = ", ".join(CONDITIONS[name].units)
            yield (*where, "na_if", index), f"{name} cannot hold of unit {rubric.unit}: it goes with {units}"


def _bad_demonstration(rubric: Rubric, where: NodePath, case: Demonstration) -> Iterator[tuple[NodePath, str]]:
    """Demonstrations stand before every case, so they keep to the visible evidence and to the answers like everything else."""
    inside = {*rubric.shows, *(piece for question in rubric.questions.values() for piece in question.also_shows)}
    for piece in case.shown:
        if piece not in inside:
            yield (
                (*where, "shown", piece),
                f"the demonstration shows {piece}, which `shows` hides from the judge: list it there, or delete it",
            )
    for name, given in case.answers.items():
        if name not in rubric.questions:
            yield (*where, "answers", name), f"the demonstration answers {name}{near(name, list(rubric.questions))}"
        elif not rubric.allows(given.answer, rubric.questions[name]):
            can_be = ", ".join(rubric.questions[name].answers)
            yield (*where, "answers", name), f'{name} cannot be answered "{given.answer}": it can be {can_be}'
