"""Rubric files: the ones that come with cotrace are sound, and every mistake a person makes is found in its line with its mend."""

from __future__ import annotations

import os
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from judges.checks import all_checks
from judges.rubric_files.load import check, clashes, find, load, names, template
from schemas.common.errors import UsageError
from schemas.common.packages import points as entry_points_of

GOOD = """\
name: mine
version: 1
unit: turn
benchmarks: [craft]
shows: [public_messages]
answers: {"yes": 1, "no": 0, na: null}
instructions: Judge the messages.
questions:
  Q1:
    ask: Do they name a place?
    na_when: nobody spoke
    engine: craft.PS1
    examples:
      "yes": the left corner
      "no": somewhere
      na: silence
"""


def file_with(tmp_path: Path, old: str, new: str) -> Path:
    """The good rubric with one change."""
    assert old in GOOD
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("name", "prefix", "number"), [("spatial_grounding", "SG", 7), ("mind_modeling", "MM", 8), ("pragmatic_sufficiency", "PS", 6)]
)
def test_rubrics_that_come_with_cotrace_are_sound(name: str, prefix: str, number: int) -> None:
    """They have no mistakes, all questions of the paper, each with its engine check, and a variant that opens the published leaks."""
    rubric = find(name)

    assert check(names()[name]) == []
    assert list(rubric.questions) == [f"{prefix}{n}" for n in range(1, number + 1)]
    assert [(q.engine or "").partition("_")[0] for q in rubric.questions.values()] == [f"craft.{name}" for name in rubric.questions]
    assert list(rubric.variants) == ["version_1", "published"]


@pytest.mark.parametrize(
    ("name", "before", "published"),
    [
        ("spatial_grounding", "5a6c78eb7dc1bd9d", "7a2e0daf9c6281e3"),
        ("mind_modeling", "aaf479e801295cd2", "dd26c6e9eabd8d34"),
        ("pragmatic_sufficiency", "f744c24c703db8be", "3c089ddc5a4d52cc"),
    ],
)
def test_what_was_asked_in_version_1_can_be_asked_again(name: str, before: str, published: str) -> None:
    """The variant has the hash that verdicts of version 1 carry, and so has the published one: stored answers keep their meaning."""
    rubric = find(name)
    old = rubric.with_variant("version_1")
    assert (rubric.version, old.version, old.hash) == (2, 1, before)
    assert rubric.with_variant("published").hash == published
    assert rubric.hash != before
    assert [q.engine for q in old.questions.values()] == [f"craft.{question}" for question in rubric.questions]
    other = [question for question in rubric.questions if rubric.questions[question].engine != old.questions[question].engine]
    assert set(other) <= set(rubric.variants["version_1"].other_meaning)


def test_a_variant_in_other_words_is_checked_like_the_rubric(tmp_path: Path) -> None:
    """A wording, a question and an answer that do not exist are one line each, at their place."""
    words = (
        "variants:\n  v:\n    why: x\n    wording: w\n    other_meaning: [Q9]\n"
        "    questions:\n      Q1: {ask: y, examples: {maybe: z}}\n      Q7: {ask: y}\ninstructions:"
    )
    told = "\n".join(str(problem) for problem in check(file_with(tmp_path, "instructions:", words)))
    assert "there is no variant w" in told
    assert "there is no question Q9" in told
    assert "there is no question Q7" in told
    assert '"maybe" is not one of the rubric\'s answers' in told


def test_a_good_file_is_read_as_written(tmp_path: Path) -> None:
    """Answers keep their order and scores, and a question's possible answers include N/A only if it says when."""
    rubric = load(file_with(tmp_path, "na_when: nobody spoke\n", "na_when: nobody spoke\n"))

    assert dict(rubric.answers) == {"yes": 1.0, "no": 0.0, "na": None}
    assert next(iter(rubric.questions.values())).answers == ("yes", "no", "na")
    assert rubric.repeats == 1


MISTAKES = [
    pytest.param('"yes": 1', "yes: 1", 6, 'write "yes"', id="bare yes in answers"),
    pytest.param('      "no": somewhere', "      no: somewhere", 15, 'write "no"', id="bare no in examples"),
    pytest.param("[public_messages]", "[public_message]", 5, "goes with utterance, agent_turn", id="piece of another unit"),
    pytest.param("[public_messages]", "[public_mesages]", 5, "did you mean public_messages?", id="unknown piece"),
    pytest.param("[public_messages]", "[public_messages, public_messages]", 5, "listed twice", id="piece twice"),
    pytest.param("      na: silence\n", "", 13, 'no example for the answer "na"', id="missing example"),
    pytest.param("na: silence", "maybe: silence", 16, "not one of the rubric's answers", id="example for an unknown answer"),
    pytest.param("    na_when: nobody spoke\n", "", 15, 'cannot be answered "na"', id="unreachable answer"),
    pytest.param(
        "na_when: nobody spoke", "na_when: nobody spoke\n    na_if: [no_candidat]", 12, "did you mean no_candidate?", id="no condition"
    ),
    pytest.param(
        "na_when: nobody spoke", "na_when: nobody spoke\n    na_if: [no_clue]", 12, "goes with utterance", id="condition of another unit"
    ),
    pytest.param(", na: null}", "}", 11, "add `na: null`", id="na_when without an answer for it"),
    pytest.param('"no": 0', '"no": 2', 6, "less than or equal to 1", id="score out of range"),
    pytest.param("unit: turn", "unit: move", 3, "'event', 'pair' or 'row'", id="unknown unit"),
    pytest.param("version: 1\n", "", 1, "version is missing", id="missing key"),
    pytest.param("version: 1", "versoin: 1", 2, "did you mean version?", id="misspelt key"),
    pytest.param("craft.PS1", "craft.PS9", 12, "there is no engine check craft.PS9", id="unknown engine check"),
    pytest.param("name: mine", "name: yours", 1, "make them the same", id="name and file differ"),
    pytest.param("instructions:", "about: history\ninstructions:", 7, "may not see", id="judged piece not shown"),
    pytest.param("    ask: Do", "    ask: Is it?\n    ask: Do", 11, "ask is given twice", id="key twice"),
    pytest.param("    ask: Do they", "    ask: [Do they", 10, "is not YAML", id="no YAML"),
    pytest.param("[craft]", "[craft, einstein]\nroles: [director]\nabout: public_messages", None, None, id="fine for another benchmark"),
    pytest.param("[public_messages]", "[public_messages, state_before]\nroles: []", None, None, id="benchmark piece where it exists"),
    pytest.param("na_when: nobody spoke\n    ", "", 6, 'no question can get the answer "na"', id="answer of no question"),
    pytest.param("Judge the messages", "Judge by {history}", 7, "`shows` hides it from the judge", id="text speaks of a walled piece"),
    pytest.param("name a place", "name {histroy}", 10, "did you mean history?", id="text speaks of no piece"),
    pytest.param("Judge the", "Judge the {public_messages}", None, None, id="text speaks of a shown piece"),
    pytest.param("unit: turn", "unit: row", 3, "needs `unit_sql`", id="row without a query"),
    pytest.param("unit: turn", "unit: turn\nunit_sql: select 1", 4, "goes with `unit: row`", id="query without row"),
    pytest.param("instructions:", "choice: several\ninstructions:", 6, '"yes" has a score', id="several answers with a score"),
    pytest.param("[craft]", "[crafft]", 4, "did you mean craft?", id="unknown benchmark"),
    pytest.param("[craft]", "[any]", None, None, id="any benchmark"),
    pytest.param("shows:", "roles: [directr]\nshows:", 5, "did you mean director?", id="misspelt role"),
    pytest.param("shows:", "roles: [umpire]\nshows:", None, None, id="role of a log of one's own"),
    pytest.param("craft.PS1", "einstein.KS1", 12, "is for einstein, and the rubric for craft", id="engine check of another benchmark"),
    pytest.param("craft.PS1", "failures.craft_repaired", None, None, id="engine check of no benchmark"),
    pytest.param("unit: turn", "unit: row\nunit_sql: SELEC nothing", 4, "syntax error", id="query that is no SQL"),
    pytest.param("unit: turn", "unit: row\nunit_sql: DROP TABLE turns", 4, "one SELECT", id="query that is no SELECT"),
    pytest.param('"no": 0', '"no": 1', 6, "has the score 1", id="all scores equal"),
    pytest.param("version: 1\n", "version: 1\nrepeats: 1000000\n", 3, "less than or equal to 100", id="too many repeats"),
    pytest.param(
        "instructions:",
        "about: public_messages\nvariants: {v: {why: x, shows_remove: [public_messages]}}\ninstructions:",
        8,
        "is what is judged",
        id="variant without what is judged",
    ),
    pytest.param(
        "instructions:", "variants: {v: {why: x, shows_add: [public_messages]}}\ninstructions:", 7, "already", id="variant adds nothing"
    ),
    pytest.param('{"yes": 1, "no": 0', '{"yes": 1, "Yes": 1, "no": 0', 6, '"Yes" and "yes" cannot be distinguished', id="answers by case"),
    pytest.param('{"yes": 1, "no": 0', '{"yes": 1, too loud: 1, too_loud: 0', 6, "cannot be distinguished", id="answers by joint"),
    pytest.param('"no": 0', '"no": 0, "": 1', 6, "an answer is empty", id="empty answer"),
    pytest.param(
        "unit: turn\nbenchmarks: [craft]\nshows: [public_messages]",
        "unit: pair\nbenchmarks: [any]\nshows: [first_dialogue]",
        12,
        "not at a pair",
        id="engine check for a pair",
    ),
    pytest.param(
        "[craft]\nshows: [public_messages]", "[einstein]\nshows: [state_before]", 5, "exists only for craft", id="piece elsewhere"
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), MISTAKES)
def test_a_mistake_is_found_in_its_line_with_its_mend(tmp_path: Path, old: str, new: str, line: int | None, message: str | None) -> None:
    """`check` names the line and says what would be right; two harmless changes are not complained about."""
    problems = check(file_with(tmp_path, old, new))

    found = [(problem.line, problem.message) for problem in problems]
    if line is None or message is None:
        assert found == []
    else:
        assert [at for at, text in found if message in text] == [line], found


def test_all_mistakes_are_listed_in_order_and_loading_names_the_first(tmp_path: Path) -> None:
    """One look at the list is enough to mend a file."""
    path = file_with(tmp_path, "name: mine\nversion: 1", "name: yours\nversion: 0\ncolour: red")

    assert [problem.line for problem in check(path)] == [1, 2, 3]
    with pytest.raises(UsageError, match=r"line 1: the rubric is called yours.*\(and 2 more: cotrace rubric check"):
        load(path)


def test_a_key_that_is_no_word_hides_no_other_mistake(tmp_path: Path) -> None:
    """YAML reads yes as true: that is told, and so is what else is wrong."""
    path = file_with(tmp_path, 'answers: {"yes": 1, "no": 0, na: null}', "answers: {yes: 1, no: 0, na: null}")
    path.write_text(path.read_text().replace("unit: turn", "unit: turnn").replace("    ask:", "    aks:"))

    assert [(problem.line, problem.message.partition(":")[0]) for problem in check(path)] == [
        (3, "unit is 'turnn'"),
        (6, "yes without quotes is a boolean in YAML 1.1, not a word"),
        (6, "no without quotes is a boolean in YAML 1.1, not a word"),
        (9, "questions.Q1.ask is missing"),
        (10, "unknown key questions.Q1.aks"),
    ]


def test_a_file_that_is_not_there_and_a_name_that_is_misspelt_are_named(tmp_path: Path) -> None:
    """Both say what would be right."""
    with pytest.raises(UsageError, match="did you mean mind_modeling"):
        find("mind_modelling")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        find(str(tmp_path / "none.yaml"))
    with pytest.raises(UsageError, match="no folder"):
        find("mine", [tmp_path / "none"])


def test_rubrics_of_the_users_own_folder_are_found_and_may_not_hide_ours(tmp_path: Path) -> None:
    """A name taken twice is an error that names both files."""
    file_with(tmp_path, "version: 1", "version: 7")
    assert find("mine", [tmp_path]).version == 7

    (tmp_path / "mind_modeling.yaml").write_text(GOOD.replace("mine", "mind_modeling"))
    with pytest.raises(UsageError, match=r"2 rubrics are called mind_modeling: .*mind_modeling\.yaml and .*mind_modeling\.yaml"):
        find("mind_modeling", [tmp_path])
    assert find("mine", [tmp_path]).version == 7
    assert "mind_modeling" not in names([tmp_path])
    assert len(clashes([tmp_path])) == 1
    assert [problem.line for problem in check(tmp_path / "mind_modeling.yaml")] == [1]
    assert find("mine", [tmp_path, tmp_path]).version == 7


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (GOOD.replace("Judge the", "Judge \x07 the"), 7, "control character"),
        (GOOD + "provenance: " + "[" * 1_000, 1, "nested too deeply"),
        (GOOD + "provenance: {made: 2026-99-99}", 1, "month must be"),
        (GOOD + "provenance: &a [*a]", 17, "refers to itself"),
        (GOOD + "provenance: 1\n--- {}", 18, "not YAML"),
    ],
)
def test_whatever_is_in_a_file_is_told_in_one_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    """Also what the reader of YAML stumbles over in ways of its own."""
    path = tmp_path / "mine.yaml"
    path.write_text(text)

    (problem,) = check(path)

    assert (problem.line, message in problem.message) == (line, True), problem


@pytest.mark.parametrize("name", ["yes", "on", "null", "true", "mine"])
def test_a_new_rubric_may_be_called_by_any_word(tmp_path: Path, name: str) -> None:
    """Also by one that YAML takes for something else."""
    path = tmp_path / f"{name}.yaml"
    path.write_text(template(name))

    assert check(path) == []
    assert load(path).name == name


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("instructions:", "repeats: 5\ninstructions:", True),
        ("instructions:", "source: me\ninstructions:", True),
        ("    ask:", "    fault: true\n    ask:", True),
        ("name a place", "name a spot", False),
        ("silence", "no word", False),
        ('"yes": 1', '"yes": 0.9', False),
        ("[public_messages]", "[public_messages, oracle_actions]", False),
    ],
)
def test_the_hash_changes_with_everything_that_could_change_an_answer(tmp_path: Path, old: str, new: str, *, same: bool) -> None:
    """Repeats and source cannot; wording, examples, scores and visible evidence can."""
    before = load(file_with(tmp_path, "name: mine", "name: mine")).hash

    assert (load(file_with(tmp_path, old, new)).hash == before) is same


def test_a_variant_changes_the_hash_and_an_unknown_one_is_refused() -> None:
    """Verdicts of a variant cannot be taken for those of the default."""
    rubric = find("mind_modeling")

    assert rubric.with_variant("published").hash != rubric.hash
    with pytest.raises(UsageError, match="no variant leaky: it declares version_1, published"):
        rubric.with_variant("leaky")


@pytest.mark.parametrize("text", ["just a sentence " * 100, "- a\n- list\n" * 200])
def test_a_file_that_is_no_mapping_is_named_in_one_short_line(tmp_path: Path, text: str) -> None:
    """The message shows the beginning of what stands there, not all of it, and says where to start."""
    path = tmp_path / "mine.yaml"
    path.write_text(text)

    (problem,) = check(path)

    assert "rubric new" in problem.message
    assert len(problem.message) < 200


def test_installed_packages_offer_rubrics_and_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are found through entry points; a name taken twice is an error that names both places; a broken package is named."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "mine.yaml").write_text(GOOD.replace("craft.PS1", "theirs.ok"))
    (folder / "checks.py").write_text("CHECKS = {'theirs.ok': lambda game, turn, agent: ('yes', 'theirs')}\n")
    points = tmp_path / "theirs-1.dist-info"
    points.mkdir()
    (points / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (points / "entry_points.txt").write_text("[cotrace.rubrics]\nt = theirs\n[cotrace.checks]\nt = theirs.checks\n")
    monkeypatch.syspath_prepend(tmp_path)  # type: ignore[no-untyped-call, unused-ignore]
    all_checks.cache_clear()
    entry_points_of.cache_clear()
    try:
        assert next(iter(find("mine").questions.values())).engine == "theirs.ok"
        assert check(folder / "mine.yaml") == []
        (points / "entry_points.txt").write_text("[cotrace.checks]\nt = theirs.checks\nu = theirs.checks\n")
        all_checks.cache_clear()
        entry_points_of.cache_clear()
        with pytest.raises(UsageError, match=r"theirs\.ok is in entry point cotrace\.checks t of theirs and in .*checks u of theirs"):
            all_checks()
        (points / "entry_points.txt").write_text("[cotrace.rubrics]\nt = theirs.gone\n")
        entry_points_of.cache_clear()
        with pytest.raises(UsageError, match=r"entry point cotrace\.rubrics t of theirs cannot be imported"):
            names()
    finally:
        all_checks.cache_clear()
        entry_points_of.cache_clear()


def test_a_file_of_that_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--rubric mine` beside mine.yaml: what is there, and how it is named."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").touch()
    with pytest.raises(UsageError, match=r"no rubric mine, but a file mine\.yaml: name the file, or its folder with --rubrics"):
        find("mine")


def test_a_rubric_loads_the_code_of_its_own_benchmark_alone() -> None:
    """And its answers none: reports ask for their numbers alone. What judges of other benchmarks can be shown is not imported."""
    code = (
        "import sys; from analytics.agreement.answers import numbers_of_answers; print(numbers_of_answers('spatial_grounding'));"
        "print([name for name in sys.modules if name == 'judges.evidence.pieces' or name.startswith('games.')]);"
        "from judges.rubric_files.load import find; find('spatial_grounding');"
        "print({name.split('.')[1] for name in sys.modules if name.startswith('games.') or name.endswith('.pieces')})"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()

    assert told[:2] == ["{'yes': 1.0, 'no': 0.0, 'unclear': 0.5, 'na': None}", "[]"]
    assert literal_eval(told[2]) == {"craft", "evidence", "players"}


def test_a_rubric_that_is_not_to_judge_still_has_to_have_the_form_of_one(tmp_path: Path) -> None:
    """Only what its parts say about one another is left to whoever judges by it."""
    contradicted = file_with(tmp_path, "shows: [public_messages]", "shows: [public_mesages]")

    assert load(contradicted, to_judge=False).answers == {"yes": 1.0, "no": 0.0, "na": None}
    with pytest.raises(UsageError, match="there is no piece of evidence public_mesages"):
        load(contradicted)
    with pytest.raises(UsageError, match="answers"):
        load(file_with(tmp_path, 'answers: {"yes": 1, "no": 0, na: null}', "answers: 5"), to_judge=False)


def test_the_same_relative_path_in_another_working_folder_is_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if both files are of the same size and age."""
    found = []
    for name, instruction in (("one", "Judge the messages."), ("two", "Judge the answers..")):
        (folder := tmp_path / name).mkdir()
        file = file_with(folder, "Judge the messages.", instruction)
        os.utime(file, ns=(1, 1))
        monkeypatch.chdir(folder)
        found.append(load(Path(file.name)).instructions)
    assert found == ["Judge the messages.", "Judge the answers.."]
