"""Tables 2, 3, 6, 7, 8 and Figures 4, 5, 16, 17 of CRAFT's paper, computed once more from the published logs by other code.

Games are read from their JSON and answers from the rows that judges store; no view and no function of the project takes part.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from hashlib import md5
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from analytics.papers import paper_table
from analytics.query import query
from schemas.store import batches
from schemas.store.store import Store
from tests.analytics.test_views_judges import job, verdict
from tests.masters import published_store

CELLS = [f"({row},{column})" for row in range(3) for column in range(3)]
RUBRICS = {"SG": ("spatial_grounding", 7), "MM": ("mind_modeling", 8), "PS": ("pragmatic_sufficiency", 6)}
OF_RUBRIC = {rubric: short for short, (rubric, _) in RUBRICS.items()}
JUDGES = {"llm:a": 2, "llm:b": 1}
"""Judge -> runs."""
PERSONAS = ("clear", "vague", "over-remover", "redundant")
LOGS = [f"engine_games/{name}_scripted-builder/craft_structure_00{number}_3.json" for name in PERSONAS for number in (1, 2)]
FOLDERS = ["craft_results", "engine_games/edge_scripted-builder"]
OPEN = {"qwen-7b"}
FRONTIER = {"gpt-4o-mini"}


class Turn(NamedTuple):
    """What the tables count of a turn; None where the log has no move, or lists no candidate."""

    team: str
    number: int
    attempted: bool | None
    oracle: bool | None
    followed: bool
    """All of the move is that of a candidate, whether or not the engine took it."""


class Given(NamedTuple):
    """An answer of a judge."""

    judge: str
    repeat: int
    episode: str
    turn: int
    agent: str | None
    rubric: str
    question: str
    answer: str
    score: float | None


class Played(NamedTuple):
    """A game that was set up."""

    path: Path
    team: str
    record: dict[str, Any]
    turns: list[Turn]


def games_of(folder: Path) -> Iterator[Played]:
    for path in [folder / log for log in LOGS] + [file for name in FOLDERS for file in sorted((folder / name).rglob("*.json"))]:
        log = json.loads(path.read_text())
        info = log["experiment_info"]
        place = f"{path.parts[-4]}/" if path.parts[-4] in {"api", "local"} else ""
        condition = f"{place}{'oracle' + str(info['num_oracle']) if info['use_oracle'] else 'no_oracle'}"
        condition += "_tools" if info["builder_tool_use"] else "_no_tools"
        if info["partial_completion"] != "empty":
            condition += f"_{info['partial_completion']}"
        standard = condition.endswith("oracle5_no_tools")
        team = (info["models"]["director"] + ("" if standard else f" ({condition})")).lower()
        record = log["games"][0]
        yield Played(path, team, record, list(turns_of(team, record)))


def turns_of(team: str, game: dict[str, Any]) -> Iterator[Turn]:
    for turn in game.get("turns", []):
        move, listed = turn.get("move_attempted"), turn.get("oracle_moves") or []
        parts = ("action", "position", "layer", "block", "span_to")
        same = any(all(one.get(part) == move.get(part) for part in parts) for one in listed) if move else False
        yield Turn(
            team,
            turn["turn_number"],
            None if move is None else move["action"] == "remove",
            any(one["action"] == "remove" for one in listed) if move and listed else None,
            same,
        )


def progress_of(game: dict[str, Any]) -> float:
    """Mean of intersection over union, right blocks at their places, and right cells."""
    last, target = game["turns"][-1], game["target_structure"]
    board = last.get("progress_data", {}).get("structure_snapshot", last["structure_before"])
    pairs = [(board.get(cell, []), target.get(cell, [])) for cell in CELLS]
    union = sum(len(set(here) | set(there)) for here, there in pairs)
    iou = sum(len(set(here) & set(there)) for here, there in pairs) / union
    right = sum(one == other for here, there in pairs for one, other in zip(here, there, strict=False))
    return fmean([iou, right / sum(len(there) for _, there in pairs), fmean(set(here) == set(there) for here, there in pairs)])


def gap_of(turns: list[Turn]) -> float | None:
    attempted, oracle = ([one for one in (getattr(turn, name) for turn in turns) if one is not None] for name in ("attempted", "oracle"))
    return fmean(attempted) - fmean(oracle) if attempted and oracle else None


def given_of(store: Store) -> list[Given]:
    rows = query(
        store, "SELECT judge, repeat, episode_id, turn, agent, rubric, question, answer, score FROM verdicts WHERE status = 'answered'"
    )
    return [Given(*row) for row in rows.iter_rows()]


def value_of(given: Given) -> float | None:
    """As the paper reads it: neither yes nor no is a half; in PS only unclear is, and the rest is missing."""
    if given.score is None and given.rubric == "pragmatic_sufficiency" and given.answer.lower() != "unclear":
        return None
    return 0.5 if given.score is None else given.score


def scores_of(given: Iterable[Given], team_of: dict[str, str]) -> dict[tuple[str, str, str], list[float]]:
    """(judge, team, rubric or question) -> its mean in each run: of a rubric the mean of its questions' means."""
    answers: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for one in given:
        if (value := value_of(one)) is not None and one.rubric in OF_RUBRIC:
            answers[one.judge, team_of[one.episode], one.question, one.repeat].append(value)
    runs: dict[tuple[str, str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (judge, team, question, repeat), values in answers.items():
        for name in (question, question[:2]):
            runs[judge, team, name][repeat].append(fmean(values))
    return {key: [fmean(values) for values in by_run.values()] for key, by_run in runs.items()}


def mode_of(answers: dict[str, list[Given]]) -> str:
    """The first part of the pragmatic speaker that fails, of a director's turn; undecided where what is not known could change it."""
    means = {}
    for question, given in answers.items():
        values = [0.5 if one.score is None else one.score for one in given if one.answer != "na"]
        means[question] = fmean(values) if values else None

    def fails(question: str) -> list[bool]:
        return [False, True] if means[question] in {None, 0.5} else [(means[question] or 0) < 0.5]

    others = [mean for question, mean in means.items() if mean is not None and question.startswith("MM") and question != "MM4"]
    vague = [sum(others) < len(others) / 2] if others else [False, True]
    names = ("limited_search", "inefficient_inference", "flawed_pragmatics", "none")
    found = {names[[*parts, True].index(True)] for parts in product(fails("SG1"), fails("MM4"), vague)}
    return found.pop() if len(found) == 1 else "undecided"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Store:
    """Published games, and answers of two judges, one of whom ran twice: drawn, since the tables are about arithmetic."""
    found = published_store(shared, tmp_path_factory.mktemp("recomputed"), *(f"craft/{log}" for log in LOGS + FOLDERS))
    units = query(
        found,
        "SELECT DISTINCT episode_id, turn, agent FROM utterances INNER JOIN episodes USING (episode_id) WHERE agent <> 'Builder' "
        "AND task_id IN ('structure_001', 'structure_002') ORDER BY ALL",
    ).rows()
    jobs, verdicts = [], []
    for judge, repeats in JUDGES.items():
        for short, (rubric, questions) in RUBRICS.items():
            jobs.append(job(f"{judge}-{rubric}", judge=judge)._replace(rubric=rubric))
            for episode, turn, agent in dict.fromkeys((*unit[:2], None if short == "PS" else unit[2]) for unit in units):
                for question in (f"{short}{number + 1}" for number in range(questions)):
                    for repeat in range(1, repeats + 1):
                        drawn = md5(f"{judge}{episode}{turn}{agent}{question}{repeat}".encode(), usedforsecurity=False).digest()[0]
                        answer = ("yes", "yes", "no", "no", "unclear", "na")[drawn % 6]
                        one = verdict(jobs[-1], (episode, turn), answer, repeat=repeat)
                        one = one._replace(rubric=rubric, question=question, agent=agent, unit_id=f"{episode}/{turn}/{agent}")
                        verdicts.append(one._replace(score={"yes": 1.0, "no": 0.0}.get(answer)))
    with found.writing() as connection:
        batches.insert(connection, batches.to_arrow({"judge_runs": jobs, "verdicts": verdicts}))
    return found


@pytest.fixture(scope="module")
def games(shared: Path) -> list[Played]:
    return list(games_of(shared / "data/craft"))


@pytest.fixture(scope="module")
def team_of(store: Store, games: list[Played]) -> dict[str, str]:
    """Episode -> its team."""
    names = dict(query(store, "SELECT path, episode_id FROM episodes INNER JOIN sources USING (source_id)").rows())
    return {names[str(game.path)]: game.team for game in games}


@pytest.fixture(scope="module")
def features(games: list[Played], store: Store, team_of: dict[str, str]) -> dict[tuple[str, str], dict[str, float]]:
    """(feature, judge) -> team -> its mean."""
    lists: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for game in games:
        if game.turns:
            lists["progress", ""][game.team].append(progress_of(game.record))
        for said in (one for turn in game.record.get("turns", []) for one in turn.get("director_responses", {}).values()):
            lists["message length", ""][game.team].append(len(said["public_message"].split()))
        if (gap := gap_of(game.turns)) is not None:
            lists["remove gap", ""][game.team].append(gap)
    for (judge, team, name), runs in scores_of(given_of(store), team_of).items():
        lists[name, judge][team] = runs
    return {key: {team: fmean(values) for team, values in of_team.items()} for key, of_team in lists.items()}


def cells_of(store: Store, item: str) -> dict[tuple[str, str], dict[str, Any]]:
    rows = paper_table(store, "craft", *item.split()).cells.to_dicts()
    return {(row["row"].lower(), row["column"]): row for row in rows if row["value"] is not None}


def values_of(store: Store, item: str) -> dict[tuple[str, str], float]:
    return {key: cell["value"] for key, cell in cells_of(store, item).items()}


def paired(*features: dict[str, float]) -> list[list[float]]:
    teams = sorted(set.intersection(*({*one} for one in features)))
    return [[one[team] for team in teams] for one in features]


@pytest.mark.shared
def test_archetypes_are_counted_with_totals(store: Store, games: list[Played]) -> None:
    """Table 3."""
    counts: Counter[tuple[str, str]] = Counter()
    for game in games:
        for director in ("D1", "D2", "D3"):
            if persona := game.record.get(f"{director} Archetype"):
                counts.update((row, column) for row in (persona.lower(), "total") for column in (director, "all directors"))
    assert values_of(store, "table 3") == counts


@pytest.mark.shared
def test_remove_rates_gaps_and_their_correlations_are_those_of_the_logs(store: Store, games: list[Played]) -> None:
    """Table 8."""
    lists: dict[tuple[str, str], list[float]] = defaultdict(list)
    for game in games:
        for row in (game.team, "overall"):
            lists[row, "oracle remove rate"] += [turn.oracle for turn in game.turns if turn.oracle is not None]
            lists[row, "attempted remove rate"] += [turn.attempted for turn in game.turns if turn.attempted is not None]
            lists[row, "gap"] += [gap for gap in [gap_of(game.turns)] if gap is not None]
    expected = {key: fmean(values) for key, values in lists.items() if values}
    listed = [
        (turn.followed, int(turn.attempted or 0), int(turn.oracle)) for game in games for turn in game.turns if turn.oracle is not None
    ]
    followed, attempted, oracle = np.array(listed).T
    row = "turn-level spearman with full adherence"
    expected[row, "attempted remove rate"] = stats.spearmanr(attempted, followed).statistic
    expected[row, "gap"] = stats.spearmanr(attempted - oracle, followed).statistic
    assert values_of(store, "table 8") == pytest.approx(expected, abs=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize(("figure", "group"), [("5", None), ("16", OPEN), ("17", FRONTIER)])
def test_curves_of_removals_are_those_of_the_logs(store: Store, games: list[Played], figure: str, group: set[str] | None) -> None:
    curves: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for turn in (turn for game in games if group is None or game.team in group for turn in game.turns):
        for name, value in (("oracle", turn.oracle), ("attempted", turn.attempted)):
            if value is not None:
                curves[turn.team, f"turn {turn.number:02d} {name}"].append(value)
    assert values_of(store, f"figure {figure}") == pytest.approx({key: fmean(values) for key, values in curves.items()}, abs=1e-9)


@pytest.mark.shared
def test_means_of_teams_and_groups_are_those_of_each_judge(
    store: Store, team_of: dict[str, str], features: dict[tuple[str, str], dict[str, float]]
) -> None:
    """Table 6; printed numbers stand beside every judge's."""
    found = cells_of(store, "table 6")
    for (judge, team, name), runs in scores_of(given_of(store), team_of).items():
        if name in RUBRICS:
            cell = found[team, f"{name} ({judge})"]
            assert cell["value"] == pytest.approx(fmean(runs), abs=1e-9)
            assert cell["sem"] == (pytest.approx(np.std(runs, ddof=1) / len(runs) ** 0.5) if len(runs) > 1 else None)
    assert {team: found[team, "progress"]["value"] for team in features["progress", ""]} == pytest.approx(features["progress", ""])
    assert found["frontier avg", "SG (llm:b)"]["value"] == found["gpt-4o-mini", "SG (llm:b)"]["value"]
    assert found["gpt-4o-mini", "SG (llm:b)"]["paper"] == found["gpt-4o-mini", "SG (llm:a)"]["paper"] == 0.741


@pytest.mark.shared
def test_features_go_with_progress_as_each_judge_has_them(store: Store, features: dict[tuple[str, str], dict[str, float]]) -> None:
    """Table 7; the length of messages is that of directors' alone."""
    found = cells_of(store, "table 7")
    for (name, judge), of_team in features.items():
        if name in {"remove gap", "message length", "MM", "MM1", "MM5", "MM6", "MM7", "SG", "SG3", "SG5"}:
            x, y = paired(of_team, features["progress", ""])
            suffix = f" ({judge})" if judge else ""
            cell, rho = found[name.lower(), f"Pearson r{suffix}"], found[name.lower(), f"Spearman rho{suffix}"]
            assert (cell["value"], cell["n"]) == (pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9), len(x))
            ties = np.round(x, 12), np.round(y, 12)  # equal means that were added up in another order
            assert rho["value"] == pytest.approx(stats.spearmanr(*ties).statistic, abs=1e-9)
            assert None not in (cell["paper"], rho["paper"])


@pytest.mark.shared
@pytest.mark.sampled(1)
@pytest.mark.parametrize("judge", JUDGES)
def test_mediation_is_that_of_least_squares(store: Store, features: dict[tuple[str, str], dict[str, float]], judge: str) -> None:
    """Table 7's R2, partial r and paths, of standardised values."""
    parts = paired(features["MM5", judge], features["remove gap", ""], features["progress", ""])
    x, m, y = (stats.zscore(np.array(part)) for part in parts)

    def fitted(of: Any, *on: Any) -> tuple[Any, Any]:
        paths = np.linalg.lstsq(np.column_stack(on), of, rcond=None)[0]
        return paths, of - np.column_stack(on) @ paths

    (direct, after), left = fitted(y, x, m)
    (before,), apart = fitted(m, x)
    chain = "mm5 -> remove gap -> progress"
    expected = {
        ("mm5", "R2"): 1 - fitted(y, x)[1].var(),
        ("remove gap", "R2"): 1 - fitted(y, m)[1].var(),
        ("mm5 + remove gap", "R2"): 1 - left.var(),
        ("mm5 + remove gap", "R2 added by MM5"): fitted(y, m)[1].var() - left.var(),
        ("mm5 | remove gap", "partial r"): stats.pearsonr(fitted(x, m)[1], fitted(y, m)[1]).statistic,
        (chain, "path to the mediator"): before,
        (chain, "path from the mediator"): after,
        (chain, "indirect"): before * after,
        (chain, "direct"): direct,
    }
    found = cells_of(store, "table 7")
    for (row, column), value in expected.items():
        assert found[row, f"{column} ({judge})"]["value"] == pytest.approx(value, abs=1e-9)
    indirect = found[chain, f"indirect ({judge})"]
    assert len(apart) == indirect["n"]
    assert indirect["low"] < indirect["value"] < indirect["high"]


@pytest.mark.shared
def test_judges_means_by_outcome_and_group_are_those_of_the_answers(store: Store, games: list[Played], team_of: dict[str, str]) -> None:
    """Figure 4."""
    by_path = dict(zip(team_of, games, strict=True))
    means: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in given_of(store):
        game = by_path[one.episode]
        turn = game.turns[one.turn - 1]
        if (value := value_of(one)) is not None and turn.oracle is not None:
            kind = "followed" if turn.followed else "not_followed"
            groups = [name for name, members in (("open-weight", OPEN), ("frontier", FRONTIER)) if game.team in members]
            for column in (kind, *(f"{group}, {kind}" for group in groups)):
                means[f"{one.judge}: {one.question}".lower(), column].append(value)
    figure = cells_of(store, "figure 4")
    for key, values in means.items():
        assert (figure[key]["value"], figure[key]["n"]) == (pytest.approx(fmean(values), abs=1e-9), len(values))
    assert any(column == "frontier, followed" for _, column in means)


@pytest.mark.shared
def test_failures_of_directors_are_those_of_the_truth_table(store: Store) -> None:
    """Table 2's cases and the profile: every director turn by its own judge's answers."""
    answers: dict[tuple[str, str, int, str], dict[str, list[Given]]] = defaultdict(lambda: defaultdict(list))
    for one in given_of(store):
        if one.agent is not None:
            answers[one.judge, one.episode, one.turn, one.agent][one.question].append(one)
    rows = query(store, "SELECT judge, episode_id, turn, agent, mode FROM bps_failures").rows()
    assert len(rows) == len(answers)
    for judge, episode, turn, agent, mode in rows:
        assert mode == mode_of(answers[judge, episode, turn, agent]), (judge, episode, turn, agent)
