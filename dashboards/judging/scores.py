"""What judges decided: scores and shares of answers, and what the sections of the page share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dashboards.address import GAME
from dashboards.figures import NO_LOOKS, Axis, Dot, Looks, dot_plot
from dashboards.grid import Grid, TableRows, columns_of, few, fold
from dashboards.parts import Part, card, figure, html, link_choices, note
from dashboards.reader import Reader, team_names
from judges.rubric_files.load import find, names
from schemas.common import wording
from schemas.common.text import printable, where_option
from schemas.common.wording import in_words

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import polars as pl

    from dashboards.address import Address
    from judges.rubric import Question

WHOLE_STORE = "Over all games of the store: the filters above do not narrow this section."


class Section(NamedTuple):
    """A section of the page: one way to look at a rubric."""

    name: str
    """In the address."""
    title: str
    content: Callable[[Reader, str], Part]
    """Draws it for a rubric."""
    tables: tuple[Grid, ...]


def words_of(rows: pl.DataFrame, *leave_out: str) -> pl.Series:
    """The column `words`: the advice without what it is about and without numbers that stand in columns of their own.

    Args:
        rows: with the column advice: `what it is about: words`.
        leave_out: regular expressions; what the words begin with is cut if it matches one of them.
    """
    import polars as pl

    told = (advice.partition(": ")[2] for advice in rows["advice"])
    return pl.Series("words", [re.sub(f"^(?:{'|'.join(leave_out)})", "", text) if leave_out else text for text in told], dtype=pl.String)


def command_about(report: str, rubric: str) -> str:
    """The command of a report's rows about a rubric."""
    return f"cotrace report {report} {where_option('rubric', rubric)}"


def chosen(asked: str, known: Sequence[str]) -> str:
    """What the address asks for, if there is such a thing, else the first."""
    return asked if asked in known else known[0]


def choices(address: Address, label: str, key: str, known: Mapping[str, str], now: str) -> Part:
    """Links that set one key of the address.

    Args:
        address: of this page.
        label: what is chosen.
        key: of the address.
        known: value -> its text.
        now: the chosen value.
    """
    return link_choices(label, [(text, address.to(**{key: value}), value == now) for value, text in known.items()])


def nothing_yet(text: str, *commands: str) -> Part:
    """What a section says before there is anything to show, with the commands that change that."""
    return note(text, html.Pre("\n".join(commands)) if commands else None)


def dots(rows: pl.DataFrame, axis: Axis, *, n_of: str = "units", looks: Looks = NO_LOOKS) -> go.Figure:
    """A line for each place, a dot for each of its series, with intervals.

    Args:
        rows: at: the line, shown in words; series: what gets a colour of its own; value, low, high: the estimate, null where there is none.
            If they are there, link: where a click leads; hollow: rings in the colour of the series before; n: how many it rests on.
        axis: what is measured.
        n_of: what `n` counts.
        looks: of series that are teams.
    """
    drawn = [
        Dot(
            line=in_words(printable(str(row["at"]))),
            series=printable(str(row["series"])),
            value=row["value"],
            low=row["low"],
            high=row["high"],
            link=row.get("link") or "",
            is_hollow=bool(row.get("hollow")),
            n=row.get("n"),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(drawn, axis, n_of=n_of, looks=looks)


_WHOLE: Final = {"episode": "whole game"}
_TEAMS: Final = 24
_LONG: Final = 74
"""Characters of a question that stand beside its dots."""

_JUDGES = """
    SELECT judge, coalesce(variant, '') AS variant, count(*) AS jobs FROM judge_runs
    WHERE rubric = $rubric AND (variant IS NULL OR NOT starts_with(variant, 'probe:')) GROUP BY ALL ORDER BY ALL
"""
_ABOUT = "rubric = $rubric AND judge = $judge AND coalesce(variant, '') = $variant"
_KINDS = """
    SELECT count(score) > 0 AS has_scores,
        count(*) FILTER (status = 'answered' AND score IS NULL AND lower(answer) NOT IN ('na', 'n/a')) > 0 AS has_categories
    FROM verdicts WHERE rubric = $rubric AND judge = $judge AND coalesce(variant, '') = $variant
        AND episode_id IN (SELECT episode_id FROM games WHERE {filters})
"""
_MEANS = "outcome, scored, episodes, score_mean, score_low, score_high"
_BY_QUESTION = f"SELECT question, {_MEANS} FROM judged_questions({{filters}}) WHERE {_ABOUT} AND scored > 0 ORDER BY question, outcome"
_BY_TEAM = f"""
    SELECT benchmark, model, condition, team, {_MEANS} FROM judge_scores_by(true, chosen := {{filters}}, per := 'team')
    WHERE {_ABOUT} AND question = $question AND scored > 0 ORDER BY model, condition, outcome
"""
_CATEGORIES = f"""
    FROM answer_shares({{filters}}) WHERE {_ABOUT} AND NOT has_score AND lower(answer) NOT IN ('na', 'n/a')
    ORDER BY question, n DESC, answer
"""


def _scores_section(read: Reader, rubric: str) -> Part:
    """Scores of the rubric by one judge: `?judge=...&variant=...`; `?question=` for its teams."""
    address = read.address
    judges = read.rows(_JUDGES, {"rubric": rubric})
    if judges.is_empty():
        return note("Nobody has judged this rubric but for probes.")
    judge, variant = _asked(read, judges)
    shown = {name: name or "as written" for name in judges.filter(judges["judge"] == judge)["variant"]}
    known = {name: name for name in judges["judge"].unique(maintain_order=True)}
    chooser = [
        choices(address, "Judge", "judge", known, judge) if len(known) > 1 else None,
        choices(address, "Visible evidence", "variant", shown, variant) if len(shown) > 1 else None,
    ]
    asked = {"rubric": rubric, "judge": judge, "variant": variant}
    has_scores, has_categories = read.rows(_KINDS, asked).row(0)
    ways = ["question", "team"] * has_scores + ["category"] * has_categories
    if not ways:
        return html.Div([*chooser, note("No answer under these filters."), fold(read, COUNTS, rubric, is_open=True)])
    questions = _questions(read, rubric)
    by = chosen("team" if address.one("question") else address.one("by"), ways)
    draw = {
        "question": lambda: _scores_card(read, read.rows(_BY_QUESTION, asked), questions, judge),
        "team": lambda: _teams_card(read, questions, asked),
        "category": lambda: card(
            "Categories given",
            figure("judge-categories", categories_figure(read.rows(_CATEGORIES, asked)), label="share of each category"),
            hint=f"Share of {judge}'s answers, with 95 % intervals over games; an answer can name several.",
        ),
    }
    cards = [draw[way]() for way in (ways if read.is_whole else [by])]
    links = link_choices("By", [(way, address.to(by=way, question=None), way == by) for way in ways]) if len(ways) > 1 else None
    counts = card("Counts", fold(read, COUNTS, rubric), hint="Scored, not applicable, undecided and failed of every team and outcome.")
    return html.Div([*chooser, links, *cards, counts])


def _asked(read: Reader, judges: pl.DataFrame) -> tuple[str, str]:
    judge = chosen(read.address.one("judge"), judges["judge"].unique(maintain_order=True).to_list())
    return judge, chosen(read.address.one("variant"), judges.filter(judges["judge"] == judge)["variant"].to_list())


def _questions(read: Reader, rubric: str) -> Mapping[str, Question]:
    """The rubric's questions by id; empty where its file is not here."""
    if rubric not in names(read.rubric_folders):
        return {}
    return find(rubric, read.rubric_folders).questions


def _scores_card(read: Reader, rows: pl.DataFrame, questions: Mapping[str, Question], judge: str) -> Part:
    return card(
        "By question",
        figure("judge-scores", by_question(read, rows, questions), label="mean score by question and outcome of the turn"),
        few(rows, "judges"),
        lead=_worst(rows, questions),
        hint=f"Mean over units of {judge}'s scored answers, with 95 % intervals over games. Undecided and failed ones count as neither "
        "yes nor no. Click a dot for its teams.",
    )


def _worst(rows: pl.DataFrame, questions: Mapping[str, Question]) -> str:
    """The question that is met least often, or whose fault is found most often, in a sentence."""
    import polars as pl

    faults = [name for name, question in questions.items() if question.fault]
    mean, is_fault = (pl.col("score_mean") * pl.col("scored")).sum() / pl.col("scored").sum(), pl.col("question").is_in(faults)
    whole = rows.group_by("question").agg(mean=mean, n=pl.col("scored").sum())
    worst = whole.sort(pl.when(is_fault).then(1 - pl.col("mean")).otherwise("mean"), "question").row(0, named=True)
    name = worst["question"]
    way = "Highest, and a fault" if name in faults else "Lowest"
    asked = f": “{questions[name].ask.strip()}”" if name in questions else ""
    return f"{way}: {wording.in_words(name)}, {wording.score(worst['mean'])} over {wording.count(worst['n'])} answers{asked}"


def by_question(read: Reader, rows: pl.DataFrame, questions: Mapping[str, Question]) -> go.Figure:
    """A line a question, a dot for each outcome of the turn (or for whole games) that was judged."""
    dots = [
        Dot(
            line=wording.in_words(row["question"]),
            detail=_short(questions[row["question"]].ask) if row["question"] in questions else "",
            value=row["score_mean"],
            low=row["score_low"],
            high=row["score_high"],
            n=row["episodes"],
            series=_WHOLE.get(row["outcome"], row["outcome"]),
            told=f"{wording.count(row['scored'])} scored answers",
            link=read.address.to(question=row["question"]),
        )
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(dots, Axis(title="mean score"))


def categories_figure(rows: pl.DataFrame) -> go.Figure:
    """A line a category (and question, where there are several), a dot for its share of the answers."""
    dots = [
        Dot(
            line=f"{wording.in_words(row['answer'])}\0{row['question']}",
            detail=row["question"] if rows["question"].n_unique() > 1 else "",
            value=row["share"],
            low=row["share_low"],
            high=row["share_high"],
            n=row["games"],
            told=f"{wording.count(row['n'])} answers",
        )
        for row in rows.iter_rows(named=True)
    ]
    return dot_plot(dots, Axis(title="share of answers", is_share=True))


def _teams_card(read: Reader, questions: Mapping[str, Question], asked: Mapping[str, object]) -> Part:
    ids = read.rows(_BY_QUESTION, asked)["question"].unique(maintain_order=True).to_list()
    question = chosen(read.address.one("question"), ids)
    found = read.rows(_BY_TEAM, {**asked, "question": question})
    return card(
        "By team",
        choices(read.address, "Question", "question", {name: name for name in ids}, question),
        figure("judge-teams", by_team(read, found), label=f"mean score of {question} by team"),
        few(found, "judges"),
        hint=questions[question].ask if question in questions else "",
    )


def by_team(read: Reader, rows: pl.DataFrame) -> go.Figure:
    """A line a team, a dot for each outcome; teams with most answers first."""
    import polars as pl

    keys = ["benchmark", "model", "condition", "team"]
    most = (
        rows.group_by(keys).agg(pl.col("scored").sum()).sort(["scored", *keys], descending=[True, False, False, False, False]).head(_TEAMS)
    )
    teams = list(most.iter_rows(named=True))
    called = {tuple(row[key] for key in keys): name for row, name in zip(teams, team_names(read, teams), strict=True)}
    dots: list[Dot] = []
    for row in sorted(rows.iter_rows(named=True), key=lambda row: list(called).index(_key(row, keys)) if _key(row, keys) in called else 0):
        name = called.get(_key(row, keys))
        if name is not None:
            link = read.address.narrowed(GAME, benchmark=row["benchmark"], model=row["model"], condition=row["condition"])
            series = _WHOLE.get(row["outcome"], row["outcome"])
            told = f"{wording.count(row['scored'])} scored answers"
            dots.append(
                Dot(
                    line=name.key,
                    detail=name.detail,
                    value=row["score_mean"],
                    low=row["score_low"],
                    high=row["score_high"],
                    n=row["episodes"],
                    series=series,
                    told=told,
                    link=link,
                )
            )
    return dot_plot(dots, Axis(title="mean score"))


def _key(row: Mapping[str, Any], keys: list[str]) -> tuple[Any, ...]:
    return tuple(row[key] for key in keys)


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[:_LONG].rsplit(" ", 1)[0] + " …"


def report_figure(read: Reader) -> go.Figure | None:
    """Every question of the rubric with most verdicts, by the judge with most; None without scored verdicts."""
    most = read.rows(
        """
        SELECT rubric, judge, coalesce(variant, '') AS variant FROM verdicts_latest WHERE score IS NOT NULL
        GROUP BY ALL ORDER BY count(*) DESC, rubric, judge, variant LIMIT 1
        """
    )
    if most.is_empty():
        return None
    asked = most.row(0, named=True)
    return by_question(read, read.rows(_BY_QUESTION, asked), _questions(read, asked["rubric"]))


def _counts(read: Reader, rubric: str) -> TableRows:
    judge, variant = _asked(read, read.rows(_JUDGES, {"rubric": rubric}))
    return TableRows(
        sql="""
            FROM judge_scores_by(true, chosen := {filters})
            WHERE rubric = $rubric AND judge = $judge AND coalesce(variant, '') = $variant
            ORDER BY question, model, condition, outcome
        """,
        parameters={"rubric": rubric, "judge": judge, "variant": variant},
        columns=columns_of("scores", "counts"),
        link=lambda row: read.address.narrowed(GAME, benchmark=row["benchmark"], model=row["model"], condition=row["condition"]),
    )


COUNTS: Final = Grid("judge-scores", _counts, "Counts of every team")
SCORES: Final = Section("scores", "Scores", _scores_section, (COUNTS,))
