"""CoordinationQA: the question file, both ways of reading answers, chance, and the scores of the published logs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from games.coordination.players import similarity
from games.coordination.qa.questions import (
    PLACEHOLDER,
    QUESTION_FILE,
    AnswerKind,
    QaQuestion,
    chance,
    chance_upstream,
    extract,
    load_questions,
    parse_questions,
    read_answer,
)
from ingest.files.run import ingest_paths
from ingest.reading.adapter_types import episode_id
from schemas.common.errors import BadInputError
from schemas.store.store import Store
from tests.masters import held_open, published_store

OPTIONS = "Which room?\nAvailable Actions:\nA. Move to room 1.\nB. Move to room 10.\n  \nC. Stay."


def _row(question: str = OPTIONS, key: str = "C") -> dict[str, str]:
    cells = {"Game": "CollabGames", "Game Description": "A killer walks about."}
    for kind in ("EC", "TOM", "JP"):
        cells |= {f"{kind} Question": question, f"{kind} Answer": "", f"{kind} Answer Ordinal": key, f"{kind} Directive": "Answer."}
    return cells


def _file(folder: Path, rows: list[dict[str, str]]) -> Path:
    path = folder / QUESTION_FILE
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def question(tmp_path: Path) -> QaQuestion:
    """A question with three options and a line of two blanks among them."""
    return load_questions(_file(tmp_path, [_row()]))[0]


@pytest.mark.parametrize(
    ("response", "kind", "letter"),
    [
        ("Explanation: so.\nAction: B. Move to room 10.", "letter", "B"),
        ("Action: B", "bare_letter", "B"),
        ("Action: (B)", "bare_letter", "B"),
        ("b", "bare_letter", "B"),
        ("**Final Answer:** **B**", "bare_letter", "B"),
        ('{"reason": "it is near", "answer": "B"}', "bare_letter", "B"),
        ('{"answer": "B", "reason": "it is near"}', "bare_letter", "B"),
        ('{"Final Answer": "B. Move to \\u0072oom 10", "answer_is_sure": false}', "letter", "B"),
        ('{"answer": "", "reason": "B is near"}', "no_answer", None),
        ('I thought of {"answer": "B", "reason": "near"}.\nFinal answer: C. Stay.', "letter", "C"),
        ("action: c. stay", "letter", "C"),
        ("action: c. move to room 1", "text", "A"),
        ("answer: i. e. none of them", "no_answer", None),
        ("Answer\uff1aB\uff0e Move to room 10", "letter", "B"),
        ("Action: A. or not?\nThinking again.\nFinal answer: C. Stay.", "letter", "C"),
        ("A. weak\nB. strong\nTherefore the best choice is B. Move to room 10.", "letter", "B"),
        ("Action: move to room 10", "text", "B"),
        ("Action: move to room 1", "text", "A"),
        ("Action: Move to room 7", "no_answer", None),
        ("Answer: A, C", "several", None),
        ("Answer: Q", "not_an_option", "Q"),
        ("I'm sorry, but I can't help with that.", "refusal", None),
        ("Explanation: the killer is near, so we sho", "truncated", None),
        ("Explanation: so.\nAction: Move to ro", "truncated", None),
        ("Explanation: weighing.\n- A. Move to room 1", "truncated", None),
        ("", "failed_call", None),
        (None, "failed_call", None),
        (PLACEHOLDER, "failed_call", None),
    ],
)
def test_careful_reading_names_an_option_or_says_why_not(
    question: QaQuestion, response: str | None, kind: AnswerKind, letter: str | None
) -> None:
    """Bare letters, markup and full-width signs are read; room 1 is not room 10; nothing is guessed."""
    found = read_answer(question, response)
    assert (found.kind, found.letter) == (kind, letter)


def test_published_scoring_guesses_and_slips(question: QaQuestion) -> None:
    """By its rules: a letter with a dot wins anywhere, a bare letter is matched to texts, and the blank line shifts later letters."""
    assert extract(question, "Plan A. Then C.").letter == "A"
    assert extract(question, "Action: stay").letter == "D"
    assert extract(question, "I refuse").way == "fuzzy"
    assert extract(question, None).letter == "2"


def test_similarity_of_hand_worked_pairs() -> None:
    """Equal texts apart from signs and order give 100 or 95; an empty one gives 0."""
    assert similarity("Stay!", "stay") == 100
    assert similarity("room to move", "move to room") == 95
    assert similarity("", "stay") == 0


def test_chance_counts_lines_that_are_no_options(question: QaQuestion) -> None:
    """One of three options is right; the published random model draws among five lines."""
    assert chance(question) == pytest.approx(1 / 3)
    assert chance_upstream(question) == pytest.approx(1 / 5)


def test_a_question_without_options_is_refused(tmp_path: Path) -> None:
    """A file that cannot be scored says which question is at fault."""
    with pytest.raises(BadInputError, match="EC 0 has no options"):
        parse_questions(_file(tmp_path, [_row("No list here")]).read_bytes())


def test_a_row_that_was_cut_lacks_no_more_than_its_end(tmp_path: Path) -> None:
    """Its last columns, here the game and its description, are as good as empty."""
    cells = list(_row().items())
    whole = _file(tmp_path, [dict(cells[2:] + cells[:2])]).read_text(encoding="utf-8")
    questions = parse_questions(whole.removesuffix(",CollabGames,A killer walks about.\n").encode())
    assert {(question.game, question.description) for question in questions} == {("", "")}


def test_question_file_as_published(shared: Path) -> None:
    """Games, options, keys and corrected keys are those of the reference list."""
    questions = {(q.scenario, q.type): q for q in load_questions(shared / "data" / "coordination" / QUESTION_FILE)}
    with (shared / "reference" / "coordination_qa_key.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(questions) == len(rows) == 198
    for row in rows:
        found = next(question for key, question in questions.items() if key == (int(row["scenario"]), row["type"]))
        letters = "".join(option.letter for option in found.options)
        assert (found.game, found.game_upstream, letters, found.key) == (
            row["game_paper"],
            row["game_upstream"],
            row["letters"],
            row["key"],
        )
        corrected = {f"{found.options[index].letter}" for index in found.correct_options}
        assert corrected == {letter.split("#")[0] for letter in row["key_corrected"].split(",")}, found.name
        assert len(found.lines) == int(row["n_lines_upstream_random"])


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.long)])
def test_published_letters_of_every_response(shared: Path, every: int) -> None:
    """The published scoring takes the recorded letter out of each of 5,346 responses; in small, of each ninth."""
    questions = {(q.scenario, q.type): q for q in load_questions(shared / "data" / "coordination" / QUESTION_FILE)}
    checked = 0
    for line in (shared / "data" / "coordination" / "coordqa" / "coordqa_trials.jsonl").read_text(encoding="utf-8").splitlines()[::every]:
        answer = json.loads(line)
        assert extract(questions[answer["scenario"], answer["type"]], answer["response"]).letter == answer["extracted"]
        checked += 1
    assert checked == 5346 // every


@pytest.fixture(scope="module")
def store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The published answers, from both kinds of log."""
    yield from held_open(published_store(shared, tmp_path_factory.mktemp("coordqa"), "coordination/coordqa"))


def test_scores_equal_the_reference(store: Store, shared: Path) -> None:
    """Every number about CoordinationQA, with its standard error and count; trials that are logged twice count once."""
    rows = query(store, "select * from coordination_scores").to_dicts()
    found = {(row["item"], row["group"], row["metric"]): row for row in rows}
    with (shared / "reference" / "coordination_expected.csv").open(newline="", encoding="utf-8") as file:
        expected = [row for row in csv.DictReader(file) if row["section"] == "coordqa"]
    assert len(found) == len(expected) == 366
    for row in expected:
        got = found[row["item"], row["group"], row["metric"]]
        assert got["value"] == pytest.approx(float(row["value"]), abs=1e-12)
        assert got["stderr"] == (pytest.approx(float(row["stderr"]), abs=1e-12) if row["stderr"] else None)
        assert got["n"] == row["n"]


def test_careful_reading_loses_no_bare_letter(store: Store) -> None:
    """A respondent that knows every answer gets what the key allows, however it writes the letter."""
    sql = (
        "select respondent, type, accuracy_read from coordqa_accuracy where game = 'all' and respondent in ('bare_letter', 'cot_no_marker')"
    )
    rows = query(store, sql).to_dicts()
    assert len(rows) == 6
    assert all(row["accuracy_read"] == 1 for row in rows)


def test_refusals_and_cut_off_texts_are_told_apart(store: Store) -> None:
    """Nobody who refuses or breaks off is credited with an answer."""
    sql = "select respondent, read_kind, count(*) as n from coordqa_answers where respondent in ('refusal', 'truncated') group by all"
    counts = {(row["respondent"], row["read_kind"]): row["n"] for row in query(store, sql).to_dicts()}
    assert counts["refusal", "refusal"] == 594
    assert sum(n for (respondent, kind), n in counts.items() if respondent == "truncated" and kind in {"truncated", "no_answer"}) == 594


def test_answers_without_questions_are_rejected(tmp_path: Path) -> None:
    """A log that lies alone says what it lacks."""
    (tmp_path / "all_openai_model0.json").write_text('{"EC_ANSWERS": ["A."], "TOM_ANSWERS": [], "JP_ANSWERS": []}', encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    reasons = query(store, "select reason from rejects")["reason"].to_list()
    assert reasons == [f"answers without questions: put {QUESTION_FILE} of the benchmark next to the log or in a folder above"]


def test_a_log_under_way_gives_the_answers_that_are_there(tmp_path: Path) -> None:
    """Respondent and trial come from the file's name; equal answers in another trial are no duplicate."""
    _file(tmp_path, [_row(), _row()])
    for trial in (0, 1):
        text = json.dumps({"EC_ANSWERS": ["C. Stay.", None], "TOM_ANSWERS": ["A."], "JP_ANSWERS": ["Answer: C."]})
        (tmp_path / f"all_mistral_some-model-7b{trial}.json").write_text(text, encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    rows = query(store, "select model, seed, task_id, success, stop_reason from episodes order by seed, task_id").rows()
    assert rows[:4] == [
        ("some-model-7b", 0, "EC 0", True, "letter"),
        ("some-model-7b", 0, "EC 1", False, "failed_call"),
        ("some-model-7b", 0, "JP 0", True, "bare_letter"),
        ("some-model-7b", 0, "TOM 0", False, "bare_letter"),
    ]
    assert len(rows) == 8
    split = query(store, "select category from failures where taxonomy = 'coordqa_joint_planning'")["category"].to_list()
    assert split == ["correct", "correct"]


def test_ids_of_published_answers_do_not_depend_on_the_types_of_question_there_are(tmp_path: Path) -> None:
    """Verdicts and labels name an answer by its id, in stores of older versions too: three types had numbers when these were made."""
    _file(tmp_path, [_row(), _row()])
    log = tmp_path / "all_mistral_some-model-7b0.json"
    log.write_text(json.dumps({f"{kind}_ANSWERS": ["A.", "B."] for kind in ("EC", "TOM", "JP")}), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    found = query(store, "select task_id, episode_id, path from episodes inner join sources using (source_id)").rows()
    names = [f"{kind} {scenario}" for scenario in (0, 1) for kind in ("EC", "TOM", "JP")]
    assert {task: name for task, name, _ in found} == {
        name: episode_id("coordination", found[0][2], place) for place, name in enumerate(names)
    }


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    """Lines with one answer each: a cut one and one about a question that does not exist become rejects."""
    _file(tmp_path, [_row()])
    good = {"respondent": "r", "trial": 0, "scenario": 0, "type": "EC", "response": "C."}
    lines = [json.dumps(good), json.dumps(good | {"scenario": 9}), json.dumps(good)[:40]]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    assert query(store, "select count(*) as n from episodes").item() == 1
    assert query(store, "select locator from rejects order by 1")["locator"].to_list() == ["line 2", "line 3"]


def test_an_answer_in_two_files_counts_once(tmp_path: Path) -> None:
    """Question, respondent and trial are an answer's identity: how a failed call is written does not make it another one."""
    _file(tmp_path, [_row(), _row()])
    native = {"EC_ANSWERS": ["Action: C. Stay.", PLACEHOLDER], "TOM_ANSWERS": ["Action: C. Stay."], "JP_ANSWERS": [PLACEHOLDER]}
    (tmp_path / "all_openai_some-model0.json").write_text(json.dumps(native), encoding="utf-8")
    retold = [("EC", 0, "Action: C. Stay."), ("EC", 1, None), ("TOM", 0, "Action: C. Stay."), ("JP", 0, "Action: A. Move to room 1.")]
    lines = [{"respondent": "some-model", "trial": 0, "type": kind, "scenario": at, "response": text} for kind, at, text in retold]
    lines.append({"respondent": "some-model", "trial": 1, "type": "EC", "scenario": 0, "response": "Action: C. Stay."})
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    ensure_installed(store)
    assert query(store, "select count(*) from episodes").item() == 9
    answers = query(store, "select type, scenario, trial, read_kind from coordqa_answers order by all").rows()
    assert answers == [
        ("EC", 0, 0, "letter"),
        ("EC", 0, 1, "letter"),
        ("EC", 1, 0, "failed_call"),
        ("JP", 0, 0, "letter"),
        ("TOM", 0, 0, "letter"),
    ]
    scores = "select n from coordination_scores where item = 'some-model' and \"group\" = 'paper:CollabEscape' and metric = 'accuracy_TOM'"
    assert query(store, scores).to_series().to_list() == ["1x1"]
    assert query(store, "select games, n, successes, turns from leaderboard").rows() == [(5, 5, 3, 5)]
    assert query(store, "select games, n, successes from families").rows() == [(5, 5, 3)]
    assert query(store, "select count(*) from failure_turns where taxonomy = 'coordqa_answer'").item() == 5


def test_answers_without_a_trial_are_the_same_where_all_are(tmp_path: Path) -> None:
    """Where no log says which trial it was, two files are one trial if every response is the same, failed calls written in either way."""
    _file(tmp_path, [_row(), _row()])
    for name, failed in (("one", None), ("same", PLACEHOLDER), ("other", "Action: B.")):
        lines = [{"respondent": "r", "type": "EC", "scenario": at, "response": text} for at, text in enumerate(("Action: C.", failed))]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    store = Store(tmp_path / "s.duckdb")
    ingest_paths([tmp_path], store)
    ensure_installed(store)
    assert query(store, "select scenario, count(*) from coordqa_answers group by all order by all").rows() == [(0, 2), (1, 2)]


def test_repeating_trials_makes_no_interval_of_the_families_narrower(tmp_path: Path) -> None:
    """Answers to one question are one cluster: four equal trials say as much as one; a trial told in two files counts once."""
    _file(tmp_path, [_row() for _ in range(8)])
    right, wrong = "Action: C.", "Action: A."
    answers = {
        kind: [right if (scenario + place) % 3 else wrong for scenario in range(8)] for place, kind in enumerate(("EC", "TOM", "JP"))
    }
    text = json.dumps({f"{kind}_ANSWERS": found for kind, found in answers.items()})
    lines = [
        {"respondent": "some-model", "trial": 0, "scenario": scenario, "type": kind, "response": response}
        for kind, found in answers.items()
        for scenario, response in enumerate(found)
    ]

    def family(store: Store) -> dict[str, float]:
        ensure_installed(store)
        return query(store, "select n, score_mean, score_low, score_high, success_low, success_high from families").to_dicts()[0]

    found = []
    for trials in (1, 4):
        store = Store(tmp_path / f"s{trials}.duckdb")
        for trial in range(trials):
            (tmp_path / f"all_openai_some-model{trial}.json").write_text(text, encoding="utf-8")
        ingest_paths([tmp_path], store)
        found.append(family(store))
    one, four = found
    values = [float(answer == right) for found in answers.values() for answer in found]
    mean = sum(values) / len(values)
    half = 2.068657610 * (sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5  # t of 23 degrees
    assert (one["n"], four["n"]) == (24, 96)
    assert [one["score_low"], one["score_high"]] == pytest.approx([mean - half, mean + half], abs=0.05)  # but bent towards the middle
    assert [four["score_low"], four["score_high"]] == pytest.approx([one["score_low"], one["score_high"]], abs=0.002)
    assert four["success_high"] - four["success_low"] > 0.9 * (one["success_high"] - one["success_low"])
    (tmp_path / "again.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    ingest_paths([tmp_path], store)
    assert family(store)["n"] == 96
